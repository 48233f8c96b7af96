//! One Application document: its fields read and checked, every mistake at once.

use std::cell::RefCell;
use std::sync::Arc;

use super::decode;
use super::field::{Entry, Field, Place};
use super::made::Maker;
use super::mistake::{Mistake, Mistakes};
use super::object::Object;
use super::pause::is_paused;
use super::sync_path::sync_path;
use super::url::RepoUrl;
use super::{AppName, Application, BranchName, DrySource, Places};
use crate::diag::{Diagnostic, is_unprintable};
use crate::path::RepoPath;

/// What a document says that is an Application with `spec.sourceHydrator`, right or wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Which Application of its file it is, from 0; items of lists are counted one by one.
    pub index: usize,
    /// Its name, when that can be read.
    pub name: Option<AppName>,
    /// The branch that it would write, when that can be read: with a mistake in the document, the branch must not move.
    pub environment_branch: Option<BranchName>,
    /// The Application; none when there is an error.
    pub application: Option<Arc<Application>>,
    /// What is wrong or odd, in the order of lines.
    pub diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// Notes what makes the Application, also in what is wrong with it.
    pub(super) fn made_by(&mut self, maker: Maker) {
        for diagnostic in &mut self.diagnostics {
            *diagnostic = diagnostic.clone().made_by(&maker);
        }
        if let Some(application) = &mut self.application {
            let application = Arc::make_mut(application);
            application.file = maker.file.clone();
            application.maker = Some(Arc::new(maker));
        }
    }
}

/// A checked value and where it stands.
type Placed<'a, T> = Option<(T, &'a Place)>;

/// Reads an Application. `index` is its number in the file; one `of_list` has its `apiVersion` from there.
pub(super) fn document(field: &Field, index: usize, of_list: bool) -> Document {
    let mut document =
        Document { index, name: None, environment_branch: None, application: None, diagnostics: Vec::new() };
    let mistakes: RefCell<Mistakes> = RefCell::default();
    let root = Object::new(field, "", &field.place, &mistakes);
    let application = root.and_then(|root| {
        if !of_list || root.entry("apiVersion").is_some() {
            api_version(&root);
        }
        application(&root, &field.place, &mut document)
    });
    let mistakes = mistakes.into_inner();
    document.application = application.filter(|_| !mistakes.is_error()).map(Arc::new);
    document.diagnostics = mistakes.into_diagnostics();
    document
}

fn api_version(root: &Object<'_>) {
    if let Some((text, place)) = root.required_text("apiVersion")
        && text != "argoproj.io/v1alpha1"
    {
        root.add(Mistake::ApiVersion(text), place);
    }
}

/// Reads everything before it gives up on anything. None only after a mistake was noted.
fn application(root: &Object<'_>, place: &Place, document: &mut Document) -> Option<Application> {
    let metadata = root.required_object("metadata");
    let name = metadata.as_ref().and_then(|metadata| metadata.required_name("name"));
    let name = name.and_then(|(text, place)| app_name(root, text, place, "an Application"));
    let namespace = metadata.as_ref().and_then(|metadata| metadata.entry("namespace"));
    let namespace = namespace.and_then(|entry| {
        let text = root.as_text(&entry.field, "metadata.namespace".to_owned()).filter(|text| !text.is_empty())?;
        app_name(root, text, &entry.field.place, "a namespace")
    });
    let paused = metadata.as_ref().is_some_and(is_paused);

    let spec = root.required_object("spec")?;
    for field in ["source", "sources"] {
        if let Some(entry) = spec.entry(field) {
            root.add(Mistake::SourceToo { field }, &entry.key_place);
        }
    }
    for field in ["drySource", "syncSource", "hydrateTo"] {
        if let Some(entry) = spec.entry(field) {
            root.add(Mistake::Misplaced { field }, &entry.key_place);
        }
    }
    spec.near_misses("sourceHydrator");
    let hydrator = spec.required_object("sourceHydrator")?;
    let dry_entry = hydrator.required("drySource");
    let dry = dry_entry.and_then(|entry| dry_source(root, &hydrator, entry));
    let sync = hydrator.required("syncSource").and_then(|entry| hydrator.object_called(entry, "syncSource"));
    let sync_branch = sync.as_ref().and_then(branch);
    let suggestion = name.as_ref().map(|(name, _)| name);
    let path = sync.as_ref().and_then(|sync| checked_sync_path(sync, suggestion));
    if let Some(sync) = sync {
        sync_repository(&sync, dry.as_ref());
        sync.finish();
    }
    let staging = hydrator.entry("hydrateTo");
    let hydrate_to = staging.and_then(|entry| hydrator.object_called(entry, "hydrateTo")).and_then(|hydrate_to| {
        let branch = branch(&hydrate_to);
        hydrate_to.finish();
        branch
    });
    hydrator.finish();

    let environment = if staging.is_some() { &hydrate_to } else { &sync_branch };
    document.environment_branch = environment.as_ref().map(|(branch, _)| branch.clone());
    document.name = name.as_ref().map(|(name, _)| name.clone());
    let ((name, name_place), (sync_branch, sync_branch_place), (sync_path, sync_path_place)) =
        (name?, sync_branch?, path?);
    let (dry, dry_places) = dry?;
    let destination = spec.object("destination");
    let text_of = |field: &'static str| destination.as_ref().and_then(|destination| destination.text(field));
    Some(Application {
        name,
        namespace: namespace.map(|(namespace, _)| namespace),
        project: spec.text("project").unwrap_or_else(|| "default".to_owned()),
        destination_cluster: text_of("server").or_else(|| text_of("name")),
        destination_namespace: text_of("namespace"),
        dry,
        sync_branch,
        sync_path,
        file: place.file.path.clone(),
        maker: None,
        cluster: None,
        index: document.index,
        paused,
        places: Places {
            name: name_place.span(),
            repo_url: dry_places[0].span(),
            target_revision: dry_places[1].span(),
            dry_path: dry_places[2].span(),
            sync_branch: sync_branch_place.span(),
            sync_path: sync_path_place.span(),
            hydrate_to: hydrate_to.as_ref().map(|(_, place)| place.span()),
        },
        hydrate_to: hydrate_to.map(|(branch, _)| branch),
    })
}

/// The drySource with the places of `repoURL`, `targetRevision` and `path`.
fn dry_source<'a>(root: &Object<'a>, hydrator: &Object<'a>, entry: &'a Entry) -> Option<(DrySource, [&'a Place; 3])> {
    let dry = hydrator.object_called(entry, "drySource")?;
    let repo_url = dry.required_name("repoURL").and_then(|(text, place)| {
        // It goes into `git clone` of a README and into metadata that others read.
        let odd = text.chars().find(|&c| is_unprintable(c) || c.is_whitespace());
        match odd.or_else(|| text.starts_with('-').then_some('-')) {
            None => Some((text, place)),
            Some(character) => {
                root.add(Mistake::RepoUrl { text, character }, place);
                None
            }
        }
    });
    let target_revision = dry.required_text("targetRevision");
    let path = dry.required_text("path").and_then(|(text, place)| match RepoPath::clean(&text) {
        Ok(path) => Some((path, text, place)),
        Err(reason) => {
            root.add(Mistake::DryPath { text, reason }, place);
            None
        }
    });
    let options = decode::options(&dry);
    dry.finish();
    let ((repo_url, url_place), (target_revision, revision_place), (path, path_text, path_place)) =
        (repo_url?, target_revision?, path?);
    let fields = Arc::new(entry.field.clone());
    let source = DrySource { repo_url, target_revision, path, path_text, options, fields };
    Some((source, [url_place, revision_place, path_place]))
}

fn app_name<'a>(object: &Object<'_>, text: String, place: &'a Place, of: &'static str) -> Placed<'a, AppName> {
    match AppName::new(&text) {
        Ok(name) => Some((name, place)),
        Err(reason) => {
            object.add(Mistake::Name { text, of, reason }, place);
            None
        }
    }
}

/// The `targetBranch` of `object`.
fn branch<'a>(object: &Object<'a>) -> Placed<'a, BranchName> {
    let (text, place) = object.required_name("targetBranch")?;
    match BranchName::new(&text) {
        Ok(branch) => Some((branch, place)),
        Err(reason) => {
            object.add(Mistake::Branch { text, reason }, place);
            None
        }
    }
}

fn checked_sync_path<'a>(sync: &Object<'a>, name: Option<&AppName>) -> Placed<'a, RepoPath> {
    let (text, place) = sync.required_text("path")?;
    match sync_path(&text, name) {
        Ok(path) => Some((path, place)),
        Err(mistake) => {
            sync.add(mistake, place);
            None
        }
    }
}

/// Manifests go to the repository that the dry sources are from.
fn sync_repository(sync: &Object<'_>, dry: Option<&(DrySource, [&Place; 3])>) {
    let Some(entry) = sync.entry("repoURL") else { return };
    let Some(url) = sync.as_text(&entry.field, sync.called("repoURL")).filter(|url| !url.is_empty()) else { return };
    if let Some((dry, _)) = dry
        && !RepoUrl::new(&dry.repo_url).is_same(&RepoUrl::new(&url))
    {
        sync.add(Mistake::SyncRepository { url }, &entry.field.place);
    }
}
