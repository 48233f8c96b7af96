//! The setting `roots`: charts and kustomizations of Applications that no Application of the tree names.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span, shell_word};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};

use super::super::apps::object;
use super::super::check::{Judged, Tree, judged_by};
use super::units::attempt;
use super::unnamed::{self, Source, Sources, made_up};
use super::{Asked, Draft};
use crate::argo::parent::Reach;
use crate::argo::{AppName, Application};
use crate::manifest::Manifest;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::render::Renderers;
use crate::settings::{Mapping, Value};

/// The kind, the namespace and the name of an Application or of a set.
type Name = (String, String, String);

/// Adds the roots that are asked for, and those that make what no file contains; judges the tree again when there are any.
/// Answers with those that cannot be roots together.
pub(super) fn propose(
    draft: &mut Draft,
    judged: Judged,
    asked: &Asked,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<(Judged, Vec<Diagnostic>), HydrateError> {
    let known = draft.settings()?.roots;
    let asked: Vec<Root> = asked.roots.iter().map(|path| Root { path: path.clone(), values: None, made: 0 }).collect();
    let Candidates { roots, notes, url } = match asked.is_empty() && known.is_empty() {
        true => found(&judged, tree, renderers)?,
        false => Candidates { roots: asked, ..Candidates::default() },
    };
    if roots.is_empty() {
        return Ok((judged, notes));
    }
    let made: usize = roots.iter().map(|root| root.made).sum();
    let mut taken: BTreeSet<String> = known.iter().map(|root| root.name.to_string()).collect();
    let mut list = Value::of(&known)?.as_list().unwrap_or_default().to_vec();
    list.extend(roots.iter().map(|root| root.setting(name(&root.path, &mut taken)).into()));
    let why = match made {
        0 => "asked for".to_owned(),
        1 => "makes 1 Application or ApplicationSet that no file holds".to_owned(),
        count => format!("make {count} Applications and ApplicationSets that no file holds"),
    };
    draft.set("roots", list.into(), why)?;
    if let Some(url) = url.filter(|_| draft.settings().is_ok_and(|settings| settings.repo_urls.is_empty())) {
        draft.set("repoURL", vec![url].into(), "named by what a root makes".to_owned())?;
    }
    Ok((judged_by(draft.policy()?, tree, renderers)?, notes))
}

/// A root.
struct Root {
    path: RepoPath,
    /// The file of values beside the chart that it is rendered with, where it is not with the default values alone.
    values: Option<String>,
    /// How many objects it makes.
    made: usize,
}

impl Root {
    /// How the setting `roots` has it.
    fn setting(&self, name: String) -> Mapping {
        let mut root = Mapping::default();
        root.insert("name", name.into());
        root.insert("path", shown(&self.path).into());
        root.insert("namespace", "argocd".into());
        if let Some(values) = &self.values {
            let mut helm = Mapping::default();
            helm.insert("valueFiles", vec![values.clone()].into());
            root.insert("helm", helm.into());
        }
        root
    }
}

/// A chart or a kustomization, with a file of values or without, and what it makes.
struct Attempted {
    path: RepoPath,
    values: Option<String>,
    names: BTreeSet<Name>,
}

/// How many files of values of one chart are tried.
const VALUE_FILES_MAX: usize = 64;

/// What may be roots.
#[derive(Default)]
struct Candidates {
    roots: Vec<Root>,
    /// Warnings of makers that make what another candidate makes.
    notes: Vec<Diagnostic>,
    /// A URL of this repository that what they make names.
    url: Option<String>,
}

/// The charts and kustomizations that make what no file contains.
fn found(judged: &Judged, tree: &Tree<'_>, renderers: &Renderers) -> Result<Candidates, HydrateError> {
    let view = View::new(tree.files);
    let mut url = None;
    let mut below: BTreeSet<RepoPath> = BTreeSet::new();
    let sources = unnamed::sources(judged, tree)?;
    let mut reach = Reach::new(true, judged.policy.plain.inputs());
    let applications = made_up(sources.iter().map(|(path, source)| (path, *source, None)));
    let may_make = applications.iter().filter(|one| reach.may_make(one, tree.files));
    let variants = variants(may_make.map(|one| &one.dry.path), &sources, &view);
    let applications = made_up(variants.iter().map(|(path, source, values)| (*path, *source, values.as_deref())));
    let parents: Vec<&Application> = applications.iter().map(|one| &**one).collect();
    let context = render_context(&judged.policy.settings, tree.files, &tree.dry_commit);
    let results = attempt(&parents, &context, renderers, &|_| {})?;
    let written = written(judged, tree);
    let mut makers: Vec<Attempted> = Vec::new();
    let mut placeholders = Vec::new();
    let mut failed: BTreeMap<&RepoPath, Diagnostic> = BTreeMap::new();
    let mut rendering: BTreeSet<&RepoPath> = BTreeSet::new();
    for ((parent, (path, _, values)), result) in parents.iter().zip(&variants).zip(results) {
        let rendered = match result {
            Ok(rendered) => rendered,
            Err(mistakes) => {
                if let Some(mistake) = mistakes.first() {
                    failed.entry(path).or_insert_with(|| of_failed(path, mistake));
                }
                continue;
            }
        };
        rendering.insert(*path);
        let made: Vec<&Manifest> = rendered.manifests.iter().filter(|object| is_of_argo(object)).collect();
        let is_new = |object: &&&Manifest| written.get(&name_of(object)) != Some(&spec(object));
        if made.iter().filter(is_new).count() == 0 {
            continue;
        }
        if let Some(text) = made.iter().find_map(|object| placeholder(object)) {
            placeholders.push((parent.dry.path.clone(), of_placeholder(&parent.dry.path, text)));
            continue;
        }
        url = url.or_else(|| made.iter().find_map(|object| own_url(object, &view)));
        below.extend(made.iter().flat_map(|object| directories(object)).filter(|path| *path != parent.dry.path));
        let names: BTreeSet<Name> = made.iter().map(|object| name_of(object)).collect();
        makers.push(Attempted { path: parent.dry.path.clone(), values: values.clone(), names });
    }
    placeholders.retain(|(path, _)| makers.iter().all(|maker| maker.path != *path));
    let mut seen = BTreeSet::new();
    let placeholders = placeholders.into_iter().filter(|(path, _)| seen.insert(path.clone())).map(|(_, note)| note);
    // What an Application of another one renders is not a root.
    makers.retain(|maker| !below.contains(&maker.path));
    failed.retain(|path, _| !rendering.contains(path) && !below.contains(*path));
    let (roots, notes) = chosen(makers);
    Ok(Candidates { roots, notes: placeholders.chain(notes).chain(failed.into_values()).collect(), url })
}

/// Each of the directories as it is, and charts with each file of values beside them too.
fn variants<'s>(
    paths: impl Iterator<Item = &'s RepoPath>,
    sources: &Sources,
    view: &View<'_>,
) -> Vec<(&'s RepoPath, Source, Option<String>)> {
    let mut variants = Vec::new();
    for path in paths {
        let source = sources.get(path).copied().unwrap_or(Source::Chart);
        variants.push((path, source, None));
        let Some(entries) = view.list(path).ok().filter(|_| source == Source::Chart) else { continue };
        let beside = entries.iter().filter(|entry| entry.kind == Kind::File && is_values(&entry.name));
        let below = path.child(VALUES_DIRECTORY).ok().and_then(|path| view.list(&path).ok()).unwrap_or_default();
        let below = below.iter().filter(|entry| entry.kind == Kind::File && is_yaml(&entry.name));
        let files = beside.map(|entry| entry.name.clone());
        let files = files.chain(below.map(|entry| format!("{VALUES_DIRECTORY}/{}", entry.name)));
        variants.extend(files.take(VALUE_FILES_MAX).map(|values| (path, source, Some(values))));
    }
    variants
}

/// Where charts have their files of values, if not beside `Chart.yaml`.
const VALUES_DIRECTORY: &str = "values";

/// Whether a file beside a chart has values, by its name; that of the default values is read anyway.
fn is_values(name: &str) -> bool {
    is_yaml(name) && name != "values.yaml" && name.to_ascii_lowercase().contains("values")
}

fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml"].iter().any(|end| name.ends_with(end))
}

/// Chooses roots of which no two make Applications of one name; of each chart, the file of values with the most
/// Applications goes first.
fn chosen(mut makers: Vec<Attempted>) -> (Vec<Root>, Vec<Diagnostic>) {
    makers.sort_by_key(|maker| (maker.path.clone(), std::cmp::Reverse(maker.names.len()), maker.values.clone()));
    let mut roots: Vec<Attempted> = Vec::new();
    let mut notes = Vec::new();
    let mut others: BTreeMap<RepoPath, Vec<Attempted>> = BTreeMap::new();
    for maker in makers {
        match roots.iter().find(|root| !root.names.is_disjoint(&maker.names)) {
            Some(root) if root.path == maker.path => others.entry(maker.path.clone()).or_default().push(maker),
            Some(root) if maker.values.is_none() => notes.push(not_both(&maker.path, &root.path)),
            Some(_) => {}
            None => roots.push(maker),
        }
    }
    for root in &roots {
        let others = others.remove(&root.path).unwrap_or_default();
        notes.extend(others.iter().find(|other| other.values.is_some()).map(|other| one_of_values(root, other)));
    }
    let root = |Attempted { path, values, names }| Root { path, values, made: names.len() };
    (roots.into_iter().map(root).collect(), notes)
}

/// A chart makes Applications with several files of values, or with one and without.
fn one_of_values(root: &Attempted, other: &Attempted) -> Diagnostic {
    let path = shown(&root.path);
    let with = match &root.values {
        Some(values) => format!("with `{values}`"),
        None => "with its default values".to_owned(),
    };
    let values = other.values.clone();
    let text = format!(
        "`{path}` makes Applications of the same names with other values, as those of `{}`: it is taken {with}, which make most",
        values.as_deref().unwrap_or("values.yaml")
    );
    let of_other = Root { path: root.path.clone(), values, made: 0 };
    let setting = of_other.setting(name(&root.path, &mut BTreeSet::new()));
    let setting = Value::from(vec![setting]);
    let setting = serde_json::to_string(&setting).unwrap_or_default();
    let hint = format!(
        "the Application of the cluster has them; to take others: git hydrate config set roots {}",
        shell_word(&setting)
    );
    Diagnostic::warning(text).at(Span::file(RepoPath::new(&path).unwrap_or_default())).hint(hint)
}

/// The directories that an Application names as its sources.
fn directories(object: &Manifest) -> Vec<RepoPath> {
    let spec = object.object().get("spec");
    let source = spec.and_then(|spec| spec.get("source"));
    let sources = spec.and_then(|spec| spec.get("sources")?.as_sequence()).unwrap_or_default();
    let paths = source.into_iter().chain(sources).filter_map(|source| source.get("path")?.as_str());
    paths.filter_map(|path| RepoPath::clean(path).ok()).collect()
}

/// The URL that the source of an Application names, when its directory is here.
fn own_url(object: &Manifest, view: &View<'_>) -> Option<String> {
    let source = object.object().at(&["spec", "source"])?;
    let path = RepoPath::clean(source.get("path")?.as_str()?).ok().filter(|path| !path.is_root())?;
    let is_here = matches!(view.kind(&path), Ok(Some(Kind::Directory)));
    source.get("repoURL")?.as_str().filter(|_| is_here).map(str::to_owned)
}

/// The text that an Application has in place of a repository's URL, as where the values of a chart are to be filled in.
fn placeholder(object: &Manifest) -> Option<&str> {
    let spec = object.object().get("spec").filter(|_| object.kind() == "Application")?;
    let sources = spec.get("sources").and_then(|sources| sources.as_sequence()).unwrap_or_default();
    let urls = spec.get("source").into_iter().chain(sources).filter_map(|source| source.get("repoURL")?.as_str());
    urls.into_iter().find(|url| !url.is_empty() && !url.contains(['/', ':', '.']))
}

fn of_placeholder(path: &RepoPath, placeholder: &str) -> Diagnostic {
    let path = shown(path);
    let text =
        format!("`{path}` makes Applications of `{placeholder}`, which is no URL, so it is not taken for a root");
    let hint = format!(
        "list it in the setting `roots` with the values that the cluster has, or take it as it is: --root {}",
        shell_word(&path)
    );
    Diagnostic::warning(text).at(Span::file(RepoPath::new(&path).unwrap_or_default())).hint(hint)
}

/// What may make Applications and cannot be asked for them.
fn of_failed(path: &RepoPath, mistake: &Diagnostic) -> Diagnostic {
    let message = mistake.message.lines().next().unwrap_or_default();
    let text = format!("`{}` may make Applications, and does not render: {message}", shown(path));
    let hint =
        "if the cluster has an Application of it, list it in the setting `roots` with the values that the cluster has";
    let note = Diagnostic::warning(text).hint(hint);
    match &mistake.span {
        Some(span) => note.at(span.clone()),
        None => note,
    }
}

fn shown(path: &RepoPath) -> String {
    if path.is_root() { ".".to_owned() } else { path.to_string() }
}

fn not_both(path: &RepoPath, other: &RepoPath) -> Diagnostic {
    let (path, other) = (shown(path), shown(other));
    let text = format!("`{path}` makes Applications of the same names as `{other}`: only one of them can be a root");
    let hint = format!("`{other}` is taken; to take the other one: --root {}", shell_word(&path));
    Diagnostic::warning(text).at(Span::file(RepoPath::new(&path).unwrap_or_default())).hint(hint)
}

/// What files contain.
fn written(judged: &Judged, tree: &Tree<'_>) -> BTreeMap<Name, Option<go_yaml::Value>> {
    let view = View::new(tree.files);
    let discovered = &judged.discovered;
    let objects = discovered.applications.iter().filter_map(|application| object(application, &view));
    let sets = discovered.sets.iter().filter_map(|found| found.set.object());
    objects.chain(sets).map(|object| (name_of(&object), spec(&object))).collect()
}

fn is_of_argo(object: &Manifest) -> bool {
    object.group() == "argoproj.io" && matches!(object.kind(), "Application" | "ApplicationSet")
}

fn name_of(object: &Manifest) -> Name {
    (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned())
}

fn spec(object: &Manifest) -> Option<go_yaml::Value> {
    object.object().get("spec").cloned()
}

/// A name that no other root has.
fn name(path: &RepoPath, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = path.file_name().unwrap_or("root").chars().map(plain).collect();
    let text = Some(text.trim_matches('-').to_owned()).filter(|text| AppName::new(text).is_ok());
    let text = text.unwrap_or_else(|| "root".to_owned());
    let mut name = text.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{text}-{number}");
        number += 1;
    }
    name
}
