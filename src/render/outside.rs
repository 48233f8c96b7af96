//! What the official tools would fetch, or hand on to git and Helm as an option: for them it is the path of what is kept.
//!
//! The official Kustomize starts `git fetch` and `helm pull` with words of the tree: inside of the confinement, but nothing
//! there needs to see them. So it builds a tree in which each remote base and file is the path of what the lock file lists,
//! and a tree with words that begin with `-` is refused before any tool runs. Charts are compared with the lock file as our
//! own engines compare them.
//!
//! Reference: kustomize 5.8.1 api/internal/git/cloner.go `ClonerUsingGitExec`,
//! api/internal/builtins/HelmChartInflationGenerator.go `pullCommand`, api/types/helmchartargs.go `AsHelmArgs`.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Value};

use super::failure::Failure;
use crate::render::needs::{Mention, Need, Place, Scan, Source, Step, What, git_key, walk};
use inputs::{self, KeptInputs, Key, Unusable};

/// The directory beside a kustomization for the files that it names by a URL: Kustomize reads no file outside.
const FILES: &str = ".hydrate-files";

/// What is another file for a tool than in the dry tree.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Replaced {
    /// The content of files.
    pub contents: BTreeMap<RepoPath, String>,
    /// Further names of files: the new one, and the one that is there.
    pub names: BTreeMap<RepoPath, RepoPath>,
}

impl Replaced {
    /// Whether it is all as in the dry tree.
    pub(super) fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.names.is_empty()
    }
}

/// What the official Kustomize is to see of the kustomization of `dir`; `edited` is the content that is used in place of its
/// file.
///
/// Errors: something that is not kept or not as the lock file says, or a text that a tool would read as an option. What
/// cannot be read is passed over: the build says what is wrong with it.
pub(super) fn replaced(
    view: &View<'_>,
    dir: &RepoPath,
    edited: Option<(&RepoPath, &str)>,
) -> Result<Replaced, Failure> {
    let none = || Span::file(dir.clone());
    let kept = KeptInputs::read(view).map_err(|error| failure(&error, none()))?;
    let walked = walk(view, &kept, (dir, None), &[], edited);
    let mut all = Replacing { view, kept, edits: BTreeMap::new(), replaced: Replaced::default() };
    let mut mistakes = Vec::new();
    if walked.is_cut {
        mistakes.push(Diagnostic::error("the kustomization leads to too many files").at(none()));
    }
    for mention in &walked.mentions {
        match all.mention(mention) {
            Ok(()) => {}
            Err(Failure::Mistakes(found)) => mistakes.extend(found),
            Err(world) => return Err(world),
        }
    }
    if !mistakes.is_empty() {
        return Err(Failure::Mistakes(mistakes));
    }
    all.finish(edited)
}

/// A chart that is kept where Helm does not look for it.
#[derive(Debug)]
pub(super) struct Placed {
    /// Where Helm looks for it.
    pub at: RepoPath,
    /// Where it is.
    pub kept: RepoPath,
}

/// The dependencies of a chart that are kept elsewhere. An error unless those in its `charts/` are those that the lock file says.
pub(super) fn charts(view: &View<'_>, chart: &RepoPath) -> Result<Vec<Placed>, Failure> {
    let none = || Span::file(chart.clone());
    let kept = || KeptInputs::read(view).map_err(|error| failure(&error, none()));
    let mut scan = Scan::new(view, kept()?);
    scan.add("", &Source::Chart(chart.clone()), &none());
    let (found, kept) = (scan.finish(), kept()?);
    let charts = chart.child("charts").ok();
    if let Some(charts) = &charts {
        kept.are_alone(charts).map_err(|error| failure(&error, none()))?;
    }
    let mut placed = Vec::new();
    for (need, uses) in &found.needs {
        let place = || uses.first().map_or_else(none, |used| used.span.clone());
        let Need::Chart(key, at) = need else { continue };
        kept.judge(at, key).map_err(|error| failure(&error, place()))?;
        let is_own = at.parent() == charts;
        if is_own && view.kind(at).ok().flatten().is_some() {
            continue;
        }
        let elsewhere = kept.chart(key).map_err(|error| failure(&error, place()))?;
        // Of another repository, nothing has a place in `charts/`.
        let below = || charts.as_ref()?.child(at.file_name()?).ok();
        let at = if is_own { Some(at.clone()) } else { below().filter(|_| elsewhere.as_ref() == Some(at)) };
        placed.extend(at.zip(elsewhere).map(|(at, kept)| Placed { at, kept }));
    }
    Ok(placed)
}

fn failure(error: &Unusable, place: Span) -> Failure {
    match error.world() {
        Some(world) => Failure::unreadable(world.clone(), place),
        None => {
            let mistake = error.diagnostic();
            Failure::mistake(if mistake.span.is_some() { mistake } else { mistake.at(place) })
        }
    }
}

struct Replacing<'v> {
    view: &'v View<'v>,
    kept: KeptInputs<'v>,
    /// What texts of files become.
    edits: BTreeMap<RepoPath, Vec<(Place, String)>>,
    replaced: Replaced,
}

impl Replacing<'_> {
    fn mention(&mut self, mention: &Mention) -> Result<(), Failure> {
        let Mention { span, what, .. } = mention;
        let wrong =
            |error: &dyn std::fmt::Display| Failure::mistake(Diagnostic::error(error.to_string()).at(span.clone()));
        match what {
            What::Word(text) => Err(word(text, span)),
            What::File(url) => self.file(mention, &Key::file(url).map_err(|error| wrong(&error))?),
            What::Base { text, remote, or_file } => {
                if let Some(file) = Key::file(text).ok().filter(|file| *or_file && self.kept.lists(file)) {
                    return self.file(mention, &file);
                }
                let key = git_key(remote).map_err(|error| wrong(&error))?;
                let directory = RepoPath::clean(&remote.directory).map_err(|error| wrong(&error))?;
                let (path, _) = self.kept.directory(&key, &directory).map_err(|error| failure(&error, span.clone()))?;
                self.replace(mention, path.relative_to(&mention.dir))
            }
            What::Directory(directory) => match &mention.repository {
                Some((key, _)) => {
                    let kept = self.kept.directory(key, directory);
                    kept.map(drop).map_err(|error| failure(&error, span.clone()))
                }
                None => Ok(()),
            },
            What::Chart { repo, at, .. } if repo.is_empty() => self.chart(at),
            What::Chart { name, version, repo, at } => {
                let key = Key::chart(repo, name, version);
                if self.view.kind(at).ok().flatten() != Some(Kind::Directory) {
                    let elsewhere = key.map(|key| self.kept.chart(&key)).unwrap_or(Ok(None));
                    return match elsewhere.map_err(|error| failure(&error, span.clone()))? {
                        Some(kept) => self.directory(at, &kept, span),
                        None => {
                            let text = format!("helm chart '{name}' of '{repo}' is not in this repository");
                            Err(Failure::mistake(Diagnostic::error(text).at(span.clone()).hint(inputs::VENDOR)))
                        }
                    };
                }
                let Ok(key) = key else { return Ok(()) };
                self.kept.judge(at, &key).map_err(|error| failure(&error, span.clone()))?;
                self.chart(at)
            }
        }
    }

    /// A chart of the tree, with the dependencies that are kept elsewhere.
    fn chart(&mut self, at: &RepoPath) -> Result<(), Failure> {
        let span = Span::file(at.clone());
        charts(self.view, at)?.iter().try_for_each(|Placed { at, kept }| self.directory(at, kept, &span))
    }

    /// The files of a directory get further names.
    fn directory(&mut self, at: &RepoPath, kept: &RepoPath, span: &Span) -> Result<(), Failure> {
        let files = inputs::files(self.view, kept).map_err(|error| Failure::unreadable(error, span.clone()))?;
        let named = files.into_iter().map(|file| (at.join(&file.path), kept.join(&file.path)));
        self.replaced.names.extend(named);
        Ok(())
    }

    /// A file gets a second name beside the kustomization.
    fn file(&mut self, mention: &Mention, key: &Key) -> Result<(), Failure> {
        let span = || mention.span.clone();
        let kept = self.kept.find(key).map_err(|error| failure(&error, span()))?;
        let dir = self.kept.lock().map(|lock| lock.dir().path().clone()).unwrap_or_default();
        let below = kept.strip_prefix(&dir).unwrap_or_default();
        let name = format!("{FILES}/{below}");
        let Ok(path) = mention.dir.resolve(&name) else { return Ok(()) };
        self.replaced.names.insert(path, kept);
        self.replace(mention, name)
    }

    fn replace(&mut self, mention: &Mention, path: String) -> Result<(), Failure> {
        let Some(place) = &mention.place else {
            let text = "this is named in a text of a kustomization, where the official Kustomize would fetch it";
            let mistake = Diagnostic::error(text).at(mention.span.clone());
            return Err(Failure::mistake(
                mistake.hint("put the text into a file and name that, or render it without `renderer: exec`"),
            ));
        };
        self.edits.entry(mention.file.clone()).or_default().push((place.clone(), path));
        Ok(())
    }

    fn finish(mut self, edited: Option<(&RepoPath, &str)>) -> Result<Replaced, Failure> {
        for (file, edits) in std::mem::take(&mut self.edits) {
            let unreadable = |error| Failure::unreadable(error, Span::file(file.clone()));
            let text = match edited.filter(|(edited, _)| **edited == file) {
                Some((_, text)) => text.to_owned(),
                None => String::from_utf8_lossy(&self.view.read(&file).map_err(unreadable)?.data).into_owned(),
            };
            let documents = yaml::decode(text.as_bytes(), yaml::Dialect::V2, &yaml::Limits::default());
            let mut documents = documents
                .map_err(|error| Failure::mistake(Diagnostic::error(error.to_string()).at(Span::file(file.clone()))))?;
            refuse_origins(&documents, &file)?;
            for (place, path) in edits {
                if let Some(text) = documents.get_mut(place.document).and_then(|document| at(document, &place.steps)) {
                    *text = Value::from(format!("{}{path}", place.before));
                }
            }
            let json = |document: &Value| yaml::json::encode(document, yaml::json::Options::default());
            let content = documents.iter().map(json).collect::<Vec<_>>().join("\n---\n");
            self.replaced.contents.insert(file, content + "\n");
        }
        Ok(self.replaced)
    }
}

/// With these the official tool writes where things are, which is another place here.
fn refuse_origins(documents: &[Value], file: &RepoPath) -> Result<(), Failure> {
    if !documents.iter().any(asks_for_origins) {
        return Ok(());
    }
    let text = "`buildMetadata` asks for the origins of resources, which `renderer: exec` cannot tell of what is kept";
    Err(Failure::mistake(Diagnostic::error(text).at(Span::file(file.clone()))))
}

fn asks_for_origins(kustomization: &Value) -> bool {
    let options = kustomization.get("buildMetadata").and_then(Value::as_sequence).unwrap_or_default();
    options.iter().any(|option| option.as_str() != Some("managedByLabel"))
}

fn at<'v>(document: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    let mut value = document;
    for step in steps {
        value = match (value, step) {
            (Value::Mapping(entries), Step::Key(key)) => entries.get_mut(key)?,
            (Value::Sequence(items), Step::Index(index)) => items.get_mut(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

fn word(text: &str, span: &Span) -> Failure {
    let mistake = match text.starts_with('-') {
        true => format!("`{text}` begins with `-`: a tool would read it as an option"),
        false => format!("{text:?} has a control character"),
    };
    let hint = "write a name or path without it; a path can begin with `./`";
    Failure::mistake(Diagnostic::error(mistake).at(span.clone()).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    #[test]
    fn no_tool_sees_what_is_elsewhere_or_looks_like_an_option() {
        let rows = [
            ("what is here", "resources: [a.yaml, ../base, './-odd']\npatches: [{path: a.yaml}]\n", ""),
            ("a local file of an odd name", "resources: [github.com/a/b]\n", ""),
            ("a ref", "resources:\n- https://example.com/a//b?ref=--upload-pack=x\n", "k/kustomization.yaml:2:3"),
            (
                "a ref of ssh",
                "bases: ['git@example.com:a/b.git?ref=-x']\n",
                "is not a valid name of a branch, tag or commit",
            ),
            (
                "an alias",
                "a: &a ['git@example.com:a/b.git?ref=-x']\nresources: *a\n",
                "is not a valid name of a branch",
            ),
            ("a merge", "a: &a {resources: [-x]}\n<<: *a\n", "`-x` begins with `-`"),
            ("behind what is no YAML", "resources: [-x]\n---\na: [\n", "`-x` begins with `-`"),
            ("a component", "components: ['github.com/c/d?ref=v1']\n", "is not in this repository"),
            ("a file", "crds: ['HTTPS://example.com/crd.yaml']\n", "is not in this repository"),
            ("a patch", "patches: [{path: 'https://example.com/p.yaml'}]\n", "is not in this repository"),
            ("an option", "resources: [-x]\n", "`-x` begins with `-`"),
            ("a chart", "helmCharts: [{name: --post-renderer=x, releaseName: a}]\n", "begins with `-`"),
            ("a version", "helmCharts:\n- {name: c, version: -x}\n", "k/kustomization.yaml:2:22"),
            ("a release", "HelmCharts: [{name: c, releaseName: '-x'}]\n", "begins with `-`"),
            ("an API version", "helmCharts: [{name: c, apiVersions: [\"a\\nb\"]}]\n", "control character"),
            ("values", "helmCharts: [{name: c, valuesInline: {a: -x, b: \"c\\nd\"}}]\n", ""),
            ("another kustomization", "resources: [../outside]\n", "outside/kustomization.yaml:1:13"),
            ("a generator", "generators: [generator.yaml]\n", "k/generator.yaml:3:7"),
            ("an inline one", "generators:\n- |\n  kind: HelmChartInflationGenerator\n  name: -x\n", "begins with `-`"),
            ("a transformer", "transformers: ['git::https://example.com/a/b']\n", "is not in this repository"),
            ("a loop", "resources: [../k]\n", ""),
            ("nothing that can be read", "resources: [\n", ""),
        ];
        for (name, text, expected) in rows {
            let files = MemoryFiles::new()
                .file("k/kustomization.yaml", text)
                .file("k/a.yaml", "kind: A\n")
                .file("k/github.com/a/b", "kind: A\n")
                .file("k/generator.yaml", "kind: A\n---\nname: -x\nkind: HelmChartInflationGenerator\n")
                .file("base/kustomization.yaml", "resources: []\n")
                .file("outside/kustomization.yaml", "resources: ['https://example.com/a']\n");
            let dir = RepoPath::new("k").expect("plain");
            let found = match replaced(&View::new(&files), &dir, None) {
                Ok(found) if found.is_empty() => String::new(),
                Ok(found) => format!("{found:?}"),
                Err(Failure::Mistakes(mistakes)) => mistakes.iter().map(ToString::to_string).collect(),
                Err(other) => panic!("{name}: {other}"),
            };
            let is_right = if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
            assert!(is_right, "{name}: {found}");
        }
    }
}
