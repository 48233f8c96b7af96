//! The setting `roots`: charts and kustomizations of Applications that no Application of the tree names.

use std::collections::{BTreeMap, BTreeSet};

use super::super::apps::object;
use super::super::check::{Judged, Tree, judged_by};
use super::units::attempt;
use super::unnamed::{self, made_up};
use super::{Asked, Draft};
use crate::application::parent::Reach;
use crate::application::{AppName, Application};
use crate::diag::{Diagnostic, Span, shell_word};
use crate::hydrate::error::HydrateError;
use crate::hydrate::rules::render_context;
use crate::manifest::Manifest;
use crate::path::RepoPath;
use crate::render::Renderers;
use crate::view::{Kind, View};

/// The kind, the namespace and the name of an Application or of a set.
type Name = (String, String, String);

/// Adds the roots that are asked for, and those that make what no file holds; judges the tree again when there are any.
/// Answers with those that cannot be roots together.
pub(super) fn propose(
    draft: &mut Draft,
    judged: Judged,
    asked: &Asked,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<(Judged, Vec<Diagnostic>), HydrateError> {
    let known = draft.settings()?.roots;
    let asked: Vec<(RepoPath, usize)> = asked.roots.iter().map(|root| (root.clone(), 0)).collect();
    let Candidates { roots, notes, url } = match asked.is_empty() && known.is_empty() {
        true => found(&judged, tree, renderers)?,
        false => Candidates { roots: asked, ..Candidates::default() },
    };
    if roots.is_empty() {
        return Ok((judged, notes));
    }
    let made: usize = roots.iter().map(|(_, made)| made).sum();
    let mut taken: BTreeSet<String> = known.iter().map(|root| root.name.to_string()).collect();
    let mut list = serde_yaml::to_value(&known).ok().and_then(|list| list.as_sequence().cloned()).unwrap_or_default();
    for (path, _) in &roots {
        let mut root = serde_yaml::Mapping::new();
        root.insert("name".into(), name(path, &mut taken).into());
        root.insert("path".into(), if path.is_root() { ".".into() } else { path.as_str().into() });
        root.insert("namespace".into(), "argocd".into());
        list.push(root.into());
    }
    let why = match made {
        0 => "asked for".to_owned(),
        1 => "makes 1 Application or ApplicationSet that no file holds".to_owned(),
        count => format!("make {count} Applications and ApplicationSets that no file holds"),
    };
    draft.set("roots", list.into(), why)?;
    if let Some(url) = url.filter(|_| draft.settings().is_ok_and(|settings| settings.repo_urls.is_empty())) {
        draft.set("repoURL", vec![url].into(), "named by what a root makes".to_owned())?;
    }
    Ok((judged_by(draft.rules()?, tree, renderers)?, notes))
}

/// What may be roots.
#[derive(Default)]
struct Candidates {
    /// Each with how many objects it makes.
    roots: Vec<(RepoPath, usize)>,
    /// Those that make what others of them make.
    notes: Vec<Diagnostic>,
    /// A URL of this repository that what they make names.
    url: Option<String>,
}

/// The charts and kustomizations that make what no file holds.
fn found(judged: &Judged, tree: &Tree<'_>, renderers: &Renderers) -> Result<Candidates, HydrateError> {
    let view = View::new(tree.files);
    let mut url = None;
    let mut below: BTreeSet<RepoPath> = BTreeSet::new();
    let (sources, _) = unnamed::sources(judged, tree)?;
    let applications = made_up(&sources);
    let mut reach = Reach::new(true, judged.rules.plain.inputs());
    let parents: Vec<&Application> =
        applications.iter().map(|one| &**one).filter(|one| reach.may_make(one, tree.files)).collect();
    let context = render_context(&judged.rules.settings, tree.files, &tree.dry_commit);
    let results = attempt(&parents, &context, renderers, &|_| {})?;
    let written = written(judged, tree);
    let mut makers: Vec<(RepoPath, BTreeSet<Name>)> = Vec::new();
    let mut roots: Vec<(RepoPath, BTreeSet<Name>)> = Vec::new();
    let mut notes = Vec::new();
    for (parent, result) in parents.iter().zip(results) {
        let Ok(rendered) = result else { continue };
        let made: Vec<&Manifest> = rendered.manifests.iter().filter(|object| is_of_argo(object)).collect();
        let is_new = |object: &&&Manifest| written.get(&name_of(object)) != Some(&spec(object));
        if made.iter().filter(is_new).count() == 0 {
            continue;
        }
        if let Some(text) = made.iter().find_map(|object| placeholder(object)) {
            notes.push(of_placeholder(&parent.dry.path, text));
            continue;
        }
        url = url.or_else(|| made.iter().find_map(|object| own_url(object, &view)));
        below.extend(made.iter().flat_map(|object| directories(object)).filter(|path| *path != parent.dry.path));
        let names: BTreeSet<Name> = made.iter().map(|object| name_of(object)).collect();
        let path = parent.dry.path.clone();
        makers.push((path, names));
    }
    // What an Application of another one renders is not a root.
    for (path, names) in makers.into_iter().filter(|(path, _)| !below.contains(path)) {
        match roots.iter().find(|(_, others)| !others.is_disjoint(&names)) {
            Some((other, _)) => notes.push(not_both(&path, other)),
            None => roots.push((path, names)),
        }
    }
    Ok(Candidates { roots: roots.into_iter().map(|(path, names)| (path, names.len())).collect(), notes, url })
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

fn shown(path: &RepoPath) -> String {
    if path.is_root() { ".".to_owned() } else { path.to_string() }
}

fn not_both(path: &RepoPath, other: &RepoPath) -> Diagnostic {
    let (path, other) = (shown(path), shown(other));
    let text = format!("`{path}` makes Applications of the same names as `{other}`: only one of them can be a root");
    let hint = format!("`{other}` is taken; to take the other one: --root {}", shell_word(&path));
    Diagnostic::warning(text).at(Span::file(RepoPath::new(&path).unwrap_or_default())).hint(hint)
}

/// What files hold.
fn written(judged: &Judged, tree: &Tree<'_>) -> BTreeMap<Name, Option<crate::yaml::Value>> {
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

fn spec(object: &Manifest) -> Option<crate::yaml::Value> {
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
