//! One Application document: its fields read and checked, every mistake at once.

use std::cell::RefCell;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;

use super::decode;
use super::deployed::Deployed;
use super::destinations::Destinations;
use super::field::{Entry, Field, Place};
use super::maker::Maker;
use super::mistake::{Mistake, Mistakes};
use super::object::Object;
use super::pause::paused_at;
use super::plain;
use super::repo_url::checked_url;
use super::rules::{Placement, RuleSet};
use super::sync_path::sync_path;
use super::sync_policy::SyncPolicy;
use super::url::RepoUrl;
use super::{AppName, Application, BranchName, DestinationName, DrySource, PlacedSource, Places};
use crate::manifest::as_known;

/// What a document says that is an Application with `spec.sourceHydrator`, or one that a rule hydrates, right or wrong.
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
    /// The rule that hydrates it, from 1; none with `spec.sourceHydrator`.
    pub rule: Option<usize>,
}

impl Document {
    /// Notes what makes the Application, also in what is wrong with it.
    pub(super) fn made_by(&mut self, maker: Maker, rules: &RuleSet) {
        for diagnostic in &mut self.diagnostics {
            *diagnostic = diagnostic.clone().made_by(&maker);
        }
        if let Some(application) = &mut self.application {
            let application = Arc::make_mut(application);
            application.file = maker.file.clone();
            let of_root = || rules.instance_of([&maker.by].into_iter().chain(&maker.above));
            application.instance = application.instance.take().or_else(of_root);
            application.maker = Some(Arc::new(maker));
        }
    }
}

/// A checked value and where it is.
pub(super) type Placed<'a, T> = Option<(T, &'a Place)>;

/// Reads an Application. `index` is its number in the file; one `of_list` has its `apiVersion` from there; `placement` is what
/// a rule says of one without `spec.sourceHydrator`; `rules` know the other repositories that it may lead to, and as which
/// versions it is rendered.
pub(super) fn document(
    field: &Field,
    index: usize,
    of_list: bool,
    placement: Option<&Placement>,
    rules: &RuleSet,
) -> Document {
    let rule = placement.map(|placement| placement.rule);
    let mut document =
        Document { index, name: None, environment_branch: None, application: None, diagnostics: Vec::new(), rule };
    let mistakes = RefCell::new(Mistakes::knowing(rules.known_fields()));
    let root = Object::new(field, "", &field.place, &mistakes);
    if let Some(root) = root.as_ref().filter(|root| !of_list || root.entry("apiVersion").is_some()) {
        api_version(root);
    }
    let application = root.and_then(|root| application(&root, &field.place, (placement, rules), &mut document));
    let application = application.map(|application| with_whole_document(application, field));
    let mistakes = mistakes.into_inner();
    document.application = application.filter(|_| !mistakes.is_error()).map(Arc::new);
    document.diagnostics = mistakes.into_diagnostics();
    document
}

/// The Application with what is read of its document as a whole.
fn with_whole_document(application: Application, field: &Field) -> Application {
    let document = application.rule.map(|_| field.id());
    let deployed = Deployed::read(field);
    Application { sync_policy: SyncPolicy::read(field), deployed, document, ..application }
}

fn api_version(root: &Object<'_>) {
    if let Some((text, place)) = root.required_text("apiVersion")
        && text != "argoproj.io/v1alpha1"
    {
        root.add(Mistake::ApiVersion(text), place);
    }
}

/// Where an Application is hydrated from, and where to. For each field that is `None`, a mistake was noted.
struct Hydration<'a> {
    source: Option<PlacedSource>,
    several: Vec<PlacedSource>,
    sync_branch: Placed<'a, BranchName>,
    sync_path: Placed<'a, RepoPath>,
    hydrate_to: Placed<'a, BranchName>,
    is_staged: bool,
    instance: Option<AppName>,
}

/// Reads everything before it gives up on anything. None only after a mistake was noted.
fn application(
    root: &Object<'_>,
    place: &Place,
    (placement, rules): (Option<&Placement>, &RuleSet),
    document: &mut Document,
) -> Option<Application> {
    let metadata = root.required_object("metadata");
    let name = metadata.as_ref().and_then(|metadata| metadata.required_name("name"));
    let name = name.and_then(|(text, place)| app_name(root, text, place, "an Application"));
    let namespace = metadata.as_ref().and_then(|metadata| metadata.entry("namespace"));
    let namespace = namespace.and_then(|entry| {
        let text = root.as_text(&entry.field, "metadata.namespace".to_owned()).filter(|text| !text.is_empty())?;
        app_name(root, text, &entry.field.place, "a namespace")
    });
    let paused = metadata.as_ref().and_then(paused_at);

    let spec = root.required_object("spec")?;
    let destinations = rules.destinations();
    let hydration = match placement {
        None => by_document(root, &spec, name.as_ref(), destinations)?,
        Some(placement) => by_rule(&spec, name.as_ref(), place, (placement, destinations)),
    };
    let Hydration { mut source, mut several, sync_branch, sync_path, hydrate_to, is_staged, instance } = hydration;
    source.iter_mut().chain(&mut several).for_each(|source| rules.know_kustomize(&mut source.dry));
    let environment = if is_staged { &hydrate_to } else { &sync_branch };
    document.environment_branch = environment.as_ref().map(|(branch, _)| branch.clone());
    document.name = name.as_ref().map(|(name, _)| name.clone());
    let ((name, name_place), (sync_branch, sync_branch_place), (sync_path, sync_path_place)) =
        (name?, sync_branch?, sync_path?);
    let PlacedSource { dry, repo_url, target_revision, dry_path } = source?;
    let tools = rules.tools().of(hydrate_to.as_ref().map_or(&sync_branch, |(branch, _)| branch), &sync_branch);
    let destination = spec.object("destination");
    if let Some(destination) = &destination {
        destination.near_misses(&["server", "name", "namespace"]);
    }
    let text_of = |field: &'static str| destination.as_ref().and_then(|destination| destination.text(field));
    Some(Application {
        name,
        namespace: namespace.map(|(namespace, _)| namespace),
        instance,
        project: spec.text("project").unwrap_or_else(|| "default".to_owned()),
        destination_cluster: text_of("server").or_else(|| text_of("name")).map(|cluster| as_known(&cluster)),
        destination_namespace: text_of("namespace"),
        dry,
        sources: several.into(),
        rule: placement.map(|placement| placement.rule),
        document: None,
        sync_branch,
        sync_path,
        file: place.file.path.clone(),
        maker: None,
        cluster: None,
        tools,
        index: document.index,
        sync_policy: SyncPolicy::default(),
        deployed: Deployed::default(),
        paused: paused.is_some(),
        places: Places {
            name: name_place.span(),
            repo_url,
            target_revision,
            dry_path,
            sync_branch: sync_branch_place.span(),
            sync_path: sync_path_place.span(),
            hydrate_to: hydrate_to.as_ref().map(|(_, place)| place.span()),
            paused: paused.map(|place| place.span().unquoted()),
            destination: spec.entry("destination").map(|entry| entry.key_place.span().unquoted()),
        },
        hydrate_to: hydrate_to.map(|(branch, _)| branch),
    })
}

/// What `spec.sourceHydrator` says. None only after a mistake was noted.
fn by_document<'a>(
    root: &Object<'a>,
    spec: &Object<'a>,
    name: Option<&(AppName, &'a Place)>,
    destinations: &Destinations,
) -> Option<Hydration<'a>> {
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
    spec.near_misses(&["sourceHydrator"]);
    let hydrator = spec.required_object("sourceHydrator")?;
    let dry_entry = hydrator.required("drySource");
    let dry = dry_entry.and_then(|entry| dry_source(root, &hydrator, entry));
    let sync = hydrator.required("syncSource").and_then(|entry| hydrator.object_called(entry, "syncSource"));
    // Where it goes is not known: any place would be a wrong one.
    let is_lost = sync.as_ref().is_some_and(|sync| sync.is_misspelt("repoURL"));
    let sync_branch = sync.as_ref().and_then(branch).filter(|_| !is_lost);
    let sync_path = sync.as_ref().and_then(|sync| checked_sync_path(sync, name.map(|(name, _)| name)));
    let destination = sync.as_ref().and_then(|sync| sync_repository(sync, dry.as_ref(), destinations));
    if let Some(sync) = sync {
        sync.finish();
    }
    let staging = hydrator.entry("hydrateTo");
    let hydrate_to = staging.and_then(|entry| staging_branch(&hydrator, entry));
    hydrator.finish();
    let there = |(branch, place)| (at(branch, destination), place);
    let (sync_branch, hydrate_to) = (sync_branch.map(there), hydrate_to.map(there));
    let several = Vec::new();
    let is_staged = staging.is_some() || hydrator.is_misspelt("hydrateTo");
    Some(Hydration { source: dry, several, sync_branch, sync_path, hydrate_to, is_staged, instance: None })
}

/// The branch of `hydrateTo`.
fn staging_branch<'a>(hydrator: &Object<'a>, entry: &'a Entry) -> Placed<'a, BranchName> {
    let hydrate_to = hydrator.object_called(entry, "hydrateTo")?;
    let branch = branch(&hydrate_to);
    hydrate_to.finish();
    branch
}

/// What a rule says. What is wrong with it is reported at the name of the Application.
fn by_rule<'a>(
    spec: &Object<'a>,
    name: Option<&(AppName, &'a Place)>,
    around: &'a Place,
    (placement, destinations): (&Placement, &Destinations),
) -> Hydration<'a> {
    let place = name.map_or(around, |(_, place)| *place);
    let destination = placement.repo_url.as_ref().and_then(|url| destinations.of_url(url));
    let by_rule = ByRule { spec, placement, destination, place };
    for (field, reason) in &placement.wrong {
        by_rule.report(field, reason.clone());
    }
    let sync_branch = by_rule.branch("branch", &placement.branch);
    let staging = placement.hydrate_to.as_ref();
    let hydrate_to = staging.and_then(|text| by_rule.branch("hydrateTo", text));
    let sync_path = by_rule.sync_path(name.map(|(name, _)| name));
    let instance = by_rule.instance();
    let (source, several) = match plain::sources(spec, placement) {
        Some(sources) => (Some(sources.anchor), sources.several),
        None => (None, Vec::new()),
    };
    Hydration { source, several, sync_branch, sync_path, hydrate_to, is_staged: staging.is_some(), instance }
}

/// What a rule says of one Application, while it is checked.
struct ByRule<'o, 'a> {
    spec: &'o Object<'a>,
    placement: &'o Placement,
    destination: Option<&'o DestinationName>,
    /// The name of the Application.
    place: &'a Place,
}

impl<'a> ByRule<'_, 'a> {
    fn report(&self, field: &'static str, reason: String) {
        let Placement { rule, is_proposed, .. } = *self.placement;
        self.spec.add(Mistake::OfRule { rule, is_proposed, field, reason }, self.place);
    }

    /// Whether the template of a field was rendered.
    fn is_rendered(&self, field: &str) -> bool {
        !self.placement.wrong.iter().any(|(failed, _)| *failed == field)
    }

    /// The branch that the template of `field` was rendered to.
    fn branch(&self, field: &'static str, text: &str) -> Placed<'a, BranchName> {
        if !self.is_rendered(field) {
            return None;
        }
        match BranchName::new(text) {
            Ok(branch) => Some((at(branch, self.destination), self.place)),
            Err(reason) => {
                self.report(field, Mistake::Branch { text: text.to_owned(), reason }.to_string());
                None
            }
        }
    }

    /// The Argo CD that has the Application; none where the template gives nothing.
    fn instance(&self) -> Option<AppName> {
        let text = self.placement.instance.as_deref().filter(|text| !text.is_empty())?;
        match AppName::of_instance(text) {
            Ok(name) => Some(name),
            Err(reason) => {
                self.report("instance", format!("`{text}` is not a valid name: {reason}"));
                None
            }
        }
    }

    fn sync_path(&self, name: Option<&AppName>) -> Placed<'a, RepoPath> {
        if !self.is_rendered("path") {
            return None;
        }
        match sync_path(&self.placement.path, name) {
            Ok(path) => Some((path, self.place)),
            Err(mistake) => {
                self.report("path", mistake.to_string());
                None
            }
        }
    }
}

/// The drySource. None only after a mistake was noted.
fn dry_source(root: &Object<'_>, hydrator: &Object<'_>, entry: &Entry) -> Option<PlacedSource> {
    let dry = hydrator.object_called(entry, "drySource")?;
    let repo_url = dry.required_name("repoURL").and_then(|(text, place)| checked_url(root, text, place));
    let target_revision = dry.required_text("targetRevision");
    let path = dry.required_text("path").and_then(|(text, place)| dry_path(root, text, place));
    let options = decode::options(&dry);
    dry.finish();
    let ((repo_url, url_place), (target_revision, revision_place), (path, path_text, path_place)) =
        (repo_url?, target_revision?, path?);
    let fields = Arc::new(entry.field.clone());
    let (input, root, reference, renders) = (None, RepoPath::root(), None, true);
    let dry =
        DrySource { repo_url, target_revision, path, path_text, options, input, root, reference, renders, fields };
    let [repo_url, target_revision, dry_path]: [Span; 3] = [url_place, revision_place, path_place].map(Place::span);
    Some(PlacedSource { dry, repo_url, target_revision, dry_path })
}

fn dry_path<'a>(root: &Object<'_>, text: String, place: &'a Place) -> Option<(RepoPath, String, &'a Place)> {
    match RepoPath::clean(&text) {
        Ok(path) => Some((path, text, place)),
        Err(reason) => {
            root.add(Mistake::DryPath { text, reason }, place);
            None
        }
    }
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

/// A branch of the other repository, if there is one.
fn at(branch: BranchName, destination: Option<&DestinationName>) -> BranchName {
    destination.map_or(branch.clone(), |destination| branch.at(destination))
}

/// The other repository that manifests go to; none for the one that the dry sources are from, and after a mistake was noted.
fn sync_repository<'d>(
    sync: &Object<'_>,
    dry: Option<&PlacedSource>,
    destinations: &'d Destinations,
) -> Option<&'d DestinationName> {
    let entry = sync.entry("repoURL")?;
    let url = sync.as_text(&entry.field, sync.called("repoURL")).filter(|url| !url.is_empty())?;
    let PlacedSource { dry, .. } = dry?;
    if RepoUrl::new(&dry.repo_url).is_same(&RepoUrl::new(&url)) {
        return None;
    }
    let destination = destinations.of_url(&url);
    if destination.is_none() {
        sync.add(Mistake::SyncRepository { url }, &entry.field.place);
    }
    destination
}
