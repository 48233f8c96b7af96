//! What would be hydrated beside what runs: the proof before anything is led to the branches.
//!
//! What runs is files of objects, as `kubectl get -o yaml` or `argocd app manifests` print them. Each object is given to
//! the Application that made it: by the tracking id of Argo CD, by the name of its file, by the label of Argo CD, else by
//! being rendered. What an Application renders has no namespace where its destination says it.

mod owners;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::Diagnostic;
use dry_files::view::View;
use go_yaml::Value;
use serde::Serialize;

use super::adopt::{Asked, drafted};
use super::apps::object;
use super::check::Tree;
use crate::argo::Application;
use crate::diff::live::{Addition, Cluster, settle};
use crate::diff::{ObjectDiff, Options, compare};
use crate::manifest::{Key, Manifest};
use crate::owners::error::HydrateError;
use crate::owners::setup::Observer;
use crate::render::Renderers;

pub(crate) use owners::SetOwner;

/// An object that runs.
#[derive(Debug)]
pub(crate) struct Running {
    /// The name of its file, without directories and without its ending.
    pub file: String,
    /// The object.
    pub manifest: Manifest,
}

/// What came of the comparison.
#[derive(Debug, Default)]
pub(crate) struct RunningComparison {
    /// The Applications that hydrate, by name.
    pub applications: Vec<ComparedApplication>,
    /// Applications that some object is tracked by and that hydrate from nowhere here.
    pub elsewhere: BTreeMap<String, usize>,
    /// How many objects belong to no Application.
    pub others: usize,
    /// The kinds that Applications with objects in the files render and no object of the files has.
    pub missing_kinds: BTreeSet<String>,
    /// Live Applications that a set would take along which is to go. With any, nothing was compared.
    pub owned: Vec<SetOwner>,
}

/// One Application.
#[derive(Debug)]
pub(crate) struct ComparedApplication {
    /// Its name, with its namespace where another one has the same name.
    pub name: String,
    /// The branch and the directory that it would go to, where that is known.
    pub place: Option<(String, String)>,
    /// What was found.
    pub result: RunningResult,
}

/// How what runs differs from what would be hydrated.
#[derive(Debug)]
pub(crate) enum RunningResult {
    /// None of its objects is in the files, whether it renders or not.
    NotRunning,
    /// It runs and does not render, and why.
    Fails(Diagnostic),
    /// Its objects were compared.
    Compared {
        /// How many objects are on both sides.
        objects: usize,
        /// Hooks that it renders: they do not stay.
        hooks: usize,
        /// What only the cluster added.
        additions: BTreeMap<Addition, usize>,
        /// What differs: what runs is old, what is rendered is new.
        differences: Vec<ObjectDiff>,
    },
}

impl RunningResult {
    fn is_same(&self) -> bool {
        match self {
            Self::NotRunning => true,
            Self::Fails(_) => false,
            Self::Compared { differences, .. } => differences.is_empty(),
        }
    }
}

impl RunningComparison {
    /// Whether everything that was compared is the same.
    pub(crate) fn is_same(&self) -> bool {
        self.applications.iter().all(|one| one.result.is_same())
    }

    /// How many Applications were compared.
    pub(crate) fn compared(&self) -> usize {
        self.applications.iter().filter(|one| matches!(one.result, RunningResult::Compared { .. })).count()
    }
}

/// How results are counted in JSON.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningCounts {
    /// Compared, and the same.
    pub same: usize,
    /// Compared, and not the same.
    pub different: usize,
    /// Not in the files.
    pub not_running: usize,
    /// Not rendered.
    pub failing: usize,
}

impl RunningComparison {
    /// How many Applications there are of each result.
    pub(crate) fn counts(&self) -> RunningCounts {
        let mut counts = RunningCounts::default();
        for application in &self.applications {
            *match &application.result {
                RunningResult::NotRunning => &mut counts.not_running,
                RunningResult::Fails(_) => &mut counts.failing,
                RunningResult::Compared { differences, .. } if differences.is_empty() => &mut counts.same,
                RunningResult::Compared { .. } => &mut counts.different,
            } += 1;
        }
        counts
    }
}

/// Renders the Applications of a tree by the settings that there are and those that `adopt` proposes, and compares.
///
/// Nothing is written. Errors: the world failed, or settings that cannot be used.
pub(crate) fn compare_running(
    tree: &Tree<'_>,
    renderers: &Renderers,
    asked: &Asked,
    observer: &dyn Observer,
    running: Vec<Running>,
) -> Result<RunningComparison, HydrateError> {
    let (mut draft, judged, _) = drafted(tree, renderers, asked)?;
    let owned = owners::of_sets(&running, &judged);
    if !owned.is_empty() {
        return Ok(RunningComparison { owned, ..RunningComparison::default() });
    }
    let attempts = super::adopt::rendered(&mut draft, &judged, (tree, renderers), observer)?;
    let nowhere = draft.rules_count() + 1;
    let view = View::new(tree.files);
    let mut sides: Vec<Side<'_>> =
        attempts.iter().map(|(one, result)| Side::new(one, result.as_ref(), &view)).collect();
    let mut found = RunningComparison::default();
    let names = Names::of(&sides);
    let schemas = schemas(&sides, &running);
    let kinds: BTreeSet<String> = running.iter().map(|object| object.manifest.kind().to_owned()).collect();
    for object in running {
        match names.owner(&object) {
            Owner::Sides(of) => of.iter().for_each(|side| {
                sides.get_mut(*side).into_iter().for_each(|side| side.running.push(object.manifest.clone()))
            }),
            Owner::Elsewhere(name) => *found.elsewhere.entry(name).or_default() += 1,
            Owner::Other => found.others += 1,
        }
    }
    let compared = sides.iter().filter(|side| !side.running.is_empty());
    let rendered = compared.filter_map(|side| side.rendered.as_ref().ok()).flatten();
    found.missing_kinds =
        rendered.map(|manifest| manifest.kind().to_owned()).filter(|kind| !kinds.contains(kind)).collect();
    let counted = |name: &str| sides.iter().filter(|side| side.application.name.as_str() == name).count();
    let mut applications = Vec::with_capacity(sides.len());
    for side in &sides {
        let Application { name, namespace, sync_branch, sync_path, rule, .. } = side.application;
        let namespace = namespace.as_ref().filter(|_| counted(name.as_str()) > 1);
        let is_known = *rule != Some(nowhere);
        applications.push(ComparedApplication {
            name: namespace.map_or_else(|| name.to_string(), |namespace| format!("{namespace}/{name}")),
            place: is_known.then(|| (sync_branch.to_string(), sync_path.to_string())),
            result: side.result(&schemas),
        });
    }
    applications.sort_by(|a, b| (&a.name, &a.place).cmp(&(&b.name, &b.place)));
    Ok(RunningComparison { applications, ..found })
}

/// What an Application renders, and what runs of it.
struct Side<'a> {
    application: &'a Application,
    /// What it renders, but for hooks.
    rendered: Result<Vec<Manifest>, &'a Diagnostic>,
    hooks: usize,
    /// Whether the API server merges what Argo CD applies, so that nothing shows what was applied last.
    server_applies: bool,
    running: Vec<Manifest>,
}

/// The schemas of custom resources, by group, kind and version.
type Schemas = BTreeMap<(String, String, String), Value>;

impl<'a> Side<'a> {
    fn new(application: &'a Application, result: Result<&Vec<Manifest>, &'a Diagnostic>, view: &View<'_>) -> Self {
        let document = object(application, view);
        let options =
            document.as_ref().and_then(|document| document.object().at(&["spec", "syncPolicy", "syncOptions"]));
        let options = options.and_then(Value::as_sequence).unwrap_or_default();
        let server_applies = options.iter().any(|option| option.as_str() == Some(SERVER_SIDE_APPLY));
        let (hooks, rendered) = match result {
            Ok(manifests) => {
                let (hooks, rest): (Vec<_>, Vec<_>) = manifests.iter().cloned().partition(is_hook);
                (hooks.len(), Ok(rest))
            }
            Err(mistake) => (0, Err(mistake)),
        };
        Self { application, rendered, hooks, server_applies, running: Vec::new() }
    }

    fn namespace(&self) -> &str {
        self.application.destination_namespace.as_deref().unwrap_or_default()
    }

    /// What the API server knows an object that it renders by: with the namespace of the destination, and without any.
    fn keys(&self, manifest: &Manifest) -> Vec<Key> {
        let Some(key) = manifest.key() else { return Vec::new() };
        match key.namespace.is_empty() {
            true => vec![Key { namespace: self.namespace().to_owned(), ..key.clone() }, key],
            false => vec![Key { namespace: String::new(), ..key.clone() }, key],
        }
    }

    fn result(&self, schemas: &Schemas) -> RunningResult {
        if self.running.is_empty() {
            return RunningResult::NotRunning;
        }
        let rendered = match &self.rendered {
            Ok(rendered) => rendered,
            Err(mistake) => return RunningResult::Fails((*mistake).clone()),
        };
        let mut waiting: BTreeMap<Key, usize> = BTreeMap::new();
        for (index, manifest) in rendered.iter().enumerate() {
            // Of two with one name, Argo CD takes the last.
            waiting.extend(self.keys(manifest).into_iter().map(|key| (key, index)));
        }
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let mut additions: BTreeMap<Addition, usize> = BTreeMap::new();
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for live in &self.running {
            let ours =
                live.key().and_then(|key| waiting.get(&key)).and_then(|index| Some((*index, rendered.get(*index)?)));
            let Some((index, ours)) = ours else {
                // A hook does not stay, and its leftovers are nothing to compare.
                if !is_made_by_another(live) && !is_hook(live) {
                    old.push(live.clone());
                }
                continue;
            };
            if !taken.insert(index) {
                continue;
            }
            let settled = settle(live, ours, &self.cluster(ours, schemas));
            settled
                .additions
                .into_iter()
                .for_each(|(addition, count)| *additions.entry(addition).or_default() += count);
            old.push(settled.running);
            new.push(settled.rendered);
        }
        let later: BTreeSet<usize> = rendered
            .iter()
            .enumerate()
            .filter(|(index, manifest)| {
                self.keys(manifest).iter().any(|key| waiting.get(key).is_some_and(|last| last != index))
            })
            .map(|(index, _)| index)
            .collect();
        let alone = rendered.iter().enumerate().filter(|(index, _)| !taken.contains(index) && !later.contains(index));
        new.extend(alone.map(|(_, manifest)| manifest.clone()));
        let options = Options { namespace: Some(self.namespace().to_owned()), ..Options::default() };
        let differences = compare(&old, &new, &options);
        let differences = differences.into_iter().filter(|one| !one.is_unchanged()).collect();
        RunningResult::Compared { objects: taken.len(), hooks: self.hooks, additions, differences }
    }

    fn cluster<'s>(&'s self, manifest: &Manifest, schemas: &'s Schemas) -> Cluster<'s> {
        let version = manifest.api_version().rsplit('/').next().unwrap_or_default();
        let key = (manifest.group().to_owned(), manifest.kind().to_owned(), version.to_owned());
        Cluster {
            application: self.application.name.as_str(),
            trusts_last_applied: !self.server_applies && !server_applies(manifest),
            schema: schemas.get(&key),
        }
    }
}

fn annotation<'m>(manifest: &'m Manifest, key: &str) -> Option<&'m str> {
    manifest.object().at(&["metadata", "annotations", key]).and_then(Value::as_str)
}

/// Whether Argo CD runs it and does not keep it.
fn is_hook(manifest: &Manifest) -> bool {
    let is_named =
        |key: &str, stays: &[&str]| annotation(manifest, key).is_some_and(|text| !stays.contains(&text.trim()));
    is_named("argocd.argoproj.io/hook", &["Skip"]) || is_named("helm.sh/hook", &["crd-install"])
}

const SERVER_SIDE_APPLY: &str = "ServerSideApply=true";

fn server_applies(manifest: &Manifest) -> bool {
    let options = annotation(manifest, "argocd.argoproj.io/sync-options").unwrap_or_default();
    options.split(',').any(|option| option.trim() == SERVER_SIDE_APPLY)
}

/// Kinds that controllers make, with the labels of what they make them for.
const MADE_KINDS: [&str; 6] =
    ["Endpoints", "EndpointSlice", "PersistentVolumeClaim", "Event", "ControllerRevision", "Lease"];

/// Whether a controller made it of another object.
fn is_made_by_another(manifest: &Manifest) -> bool {
    let owners = manifest.object().at(&["metadata", "ownerReferences"]).and_then(Value::as_sequence);
    owners.is_some_and(|owners| !owners.is_empty()) || MADE_KINDS.contains(&manifest.kind())
}

/// The schemas of the definitions among what is rendered and what runs.
fn schemas(sides: &[Side<'_>], running: &[Running]) -> Schemas {
    let rendered = sides.iter().filter_map(|side| side.rendered.as_ref().ok()).flatten();
    let live = running.iter().map(|running| &running.manifest);
    let definitions = live.chain(rendered).filter(|manifest| manifest.kind() == "CustomResourceDefinition");
    let mut schemas = Schemas::new();
    for definition in definitions {
        let spec = |keys: &[&str]| definition.object().get("spec")?.at(keys);
        let text = |keys: &[&str]| spec(keys).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (group, kind) = (text(&["group"]), text(&["names", "kind"]));
        for version in spec(&["versions"]).and_then(Value::as_sequence).unwrap_or_default() {
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(schema) = version.at(&["schema", "openAPIV3Schema"]) {
                schemas.insert((group.clone(), kind.clone(), name), schema.clone());
            }
        }
    }
    schemas
}

/// By what Applications are found.
struct Names {
    /// By name, and by `NAMESPACE_NAME`, as Argo CD writes the names of those in other namespaces than its own.
    by_name: BTreeMap<String, Vec<usize>>,
    /// By what they render.
    by_key: BTreeMap<Key, Vec<usize>>,
}

/// Whose an object is.
enum Owner {
    /// Those of these numbers: several only render it all the same.
    Sides(Vec<usize>),
    /// One that is not here.
    Elsewhere(String),
    /// Of no Application that is known.
    Other,
}

const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
const INSTANCES: [&str; 2] = ["app.kubernetes.io/instance", "argocd.argoproj.io/instance"];

impl Names {
    fn of(sides: &[Side<'_>]) -> Self {
        let (mut by_name, mut by_key): (BTreeMap<_, Vec<usize>>, BTreeMap<_, Vec<usize>>) = Default::default();
        for (index, side) in sides.iter().enumerate() {
            let Application { name, namespace, .. } = side.application;
            by_name.entry(name.to_string()).or_default().push(index);
            if let Some(namespace) = namespace {
                by_name.entry(format!("{namespace}_{name}")).or_default().push(index);
            }
            let keys: BTreeSet<Key> = side.rendered.iter().flatten().flat_map(|manifest| side.keys(manifest)).collect();
            keys.into_iter().for_each(|key| by_key.entry(key).or_default().push(index));
        }
        Self { by_name, by_key }
    }

    fn owner(&self, object: &Running) -> Owner {
        let manifest = &object.manifest;
        if let Some(name) = tracked(manifest) {
            return match self.named(name, manifest) {
                Some(side) => Owner::Sides(vec![side]),
                None => Owner::Elsewhere(name.to_owned()),
            };
        }
        if let Some(side) = self.named(&object.file, manifest) {
            return Owner::Sides(vec![side]);
        }
        let label = |key: &&str| manifest.object().at(&["metadata", "labels", key]).and_then(Value::as_str);
        if let Some(side) = INSTANCES.iter().find_map(label).and_then(|name| self.named(name, manifest)) {
            return Owner::Sides(vec![side]);
        }
        match manifest.key().and_then(|key| self.by_key.get(&key)).map(Vec::as_slice) {
            Some(sides) => Owner::Sides(sides.to_vec()),
            None => Owner::Other,
        }
    }

    /// The Application of a name; of several, the one that renders the object.
    fn named(&self, name: &str, manifest: &Manifest) -> Option<usize> {
        match self.by_name.get(name)?.as_slice() {
            [side] => Some(*side),
            several => {
                let rendering = self.by_key.get(&manifest.key()?)?;
                let mut both = several.iter().filter(|side| rendering.contains(side));
                both.next().copied().filter(|_| both.next().is_none())
            }
        }
    }
}

/// The name of the Application in the tracking id of an object, when that id is its own and was not copied with it.
///
/// Reference: argo-cd `37ee0097` util/argo/resource_tracking.go `ParseAppInstanceValue`: `APP:GROUP/KIND:NAMESPACE/NAME`.
fn tracked(manifest: &Manifest) -> Option<&str> {
    let id = annotation(manifest, TRACKING_ID)?;
    let mut parts = id.rsplitn(3, ':');
    let (object, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_own = kind == format!("{}/{}", manifest.group(), manifest.kind())
        && object.rsplit('/').next() == Some(manifest.name());
    Some(name).filter(|_| is_own)
}
