//! What changed between two lists of manifests: object by object and field by field, as a person would tell it.
//!
//! [`compare`] pairs the objects of two `manifest.yaml`, and finds for each pair the places that differ ([`Difference`]),
//! what it means for those who run it ([`Danger`], [`ImageChange`], Pods that restart), and what of it is only the echo
//! of another change ([`Noise`]). How that is shown is left to the edge.
//!
//! | in the manifests | shown as |
//! |---|---|
//! | an item of a list is elsewhere | moved, not removed and added |
//! | an item with a name of its own has other fields | those fields |
//! | a ConfigMap of Kustomize has another hash in its name | one object that changed; its users as noise |
//! | a checksum, a chart's label, the dry commit's id | noise |
//! | a value of a Secret | that it changed, not what it is, unless asked for |
//!
//! Never: a difference of the manifests that is not shown, be it as noise.

mod align;
mod danger;
mod image;
mod judge;
pub(crate) mod live;
mod model;
mod noise;
mod pair;
mod path;
mod renamed;
mod restart;
mod scope;
mod secret;
mod syncs;
mod value;
mod words;

use std::collections::BTreeSet;

use go_yaml::Value;

use crate::manifest::{Manifest, encrypted};
use crate::repo::shares::in_shares;
pub(crate) use align::{Line, lines};
pub(crate) use danger::{
    Danger, Pruning, Remade, Severity, application_remade, application_removed, is_said_of_application,
    is_same_cluster, outlives,
};
pub(crate) use image::{Image, ImageChange};
pub(crate) use model::{Beside, OfProject};
pub(crate) use noise::Noise;
pub(crate) use path::{FieldPath, Step};
pub(crate) use secret::{HIDDEN, is_secret};
pub(crate) use syncs::Syncs;
pub(crate) use value::{Difference, Leaf, Place};
pub(crate) use words::Words;

/// How to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    /// The ids of the dry commits before and after: where a manifest contains them, their change means nothing.
    pub dry_commits: Option<(String, String)>,
    /// Whether the values of Secrets are shown.
    pub reveal_secrets: bool,
    /// What becomes of objects that are no longer there.
    pub pruning: Pruning,
    /// The namespace of objects that name none, if that is known.
    pub namespace: Option<String>,
    /// The namespace before the change of objects that name none, where that was another one of one cluster.
    pub namespace_before: Option<String>,
    /// Whether the objects are those of another Application than before, which `pruning` is about.
    pub handed_over: bool,
    /// Whether the Application goes with its objects.
    pub goes: bool,
    /// Whether the last object of both sides is the Application itself, and the others what it renders.
    pub has_application: bool,
    /// How its syncs apply objects.
    pub syncs: Syncs,
    /// Objects that the API server refuses, by their names after the change.
    pub refused: BTreeSet<ObjectName>,
}

impl Options {
    /// The namespaces before and after of objects that name none.
    fn namespaces(&self) -> [Option<&str>; 2] {
        let after = self.namespace.as_deref();
        [self.namespace_before.as_deref().or(after), after]
    }
}

/// One object that is not the same before and after.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObjectDiff {
    /// Which object, by its name after the change, if it is there then.
    pub object: ObjectName,
    /// What became of it.
    pub change: Change,
    /// Its name before, when only the hash of its content in it changed.
    pub old_name: Option<String>,
    /// The places that differ. All of the object for one that is added or removed.
    pub difference: Difference,
    /// Container images that changed; of objects that were there before and after only.
    pub images: Vec<ImageChange>,
    /// What may do harm.
    pub dangers: Vec<Danger>,
    /// Whether its Pods are replaced: the template that they are made from changed.
    pub restarts: bool,
    /// The destination path that it comes from, by its number among those that were compared, when that is another one.
    pub moved_from: Option<usize>,
    /// Whether it is in another namespace than before, so that the cluster has a new one.
    pub is_recreated: bool,
    /// Whether it stays in the cluster when its Application is deleted there, by what the object says itself.
    pub outlives: bool,
    /// Whether SOPS encrypted values of it, as it is after the change.
    pub is_encrypted: bool,
}

impl ObjectDiff {
    /// Whether no field changed and it is where it was: it is listed for what may do harm.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.change == Change::Changed
            && self.moved_from.is_none()
            && self.old_name.is_none()
            && self.difference == Difference::Mapping(Vec::new())
    }

    /// Whether only generated fields changed, so that the object needs no look.
    pub(crate) fn is_noise(&self) -> bool {
        let is_moved = self.moved_from.is_some();
        self.change == Change::Changed && !is_moved && self.difference.is_noise() && self.dangers.is_empty()
    }

    /// Makes dangers of what an API server refuses the object for, in place of what rules say of that. Nothing else comes of an
    /// object that is refused: no Pod of it restarts.
    pub(crate) fn set_refused(&mut self, texts: &[String]) {
        self.dangers.retain(|danger| danger.severity == Severity::Refused && !is_of_invalid(danger));
        self.dangers.extend(danger::refused(texts, self.is_encrypted));
        self.dangers.sort();
        self.restarts = false;
    }
}

fn is_of_invalid(danger: &Danger) -> bool {
    danger.severity == Severity::Refused && matches!(danger.kind(), "invalid" | "unmatchedSelector")
}

/// What an object is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectName {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// The namespace as written, empty when there is none.
    pub namespace: String,
    /// The name, or the beginning of it that the API server completes (`generateName`) with `*`.
    pub name: String,
}

impl ObjectName {
    /// That of a manifest.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let name = match manifest.name() {
            "" => {
                let generate = manifest.object().at(&["metadata", "generateName"]).and_then(Value::as_str);
                format!("{}*", generate.unwrap_or_default())
            }
            name => name.to_owned(),
        };
        Self {
            api_version: manifest.api_version().to_owned(),
            kind: manifest.kind().to_owned(),
            namespace: manifest.namespace().to_owned(),
            name,
        }
    }

    /// Whether it is an Application of Argo CD.
    pub(crate) fn is_application(&self) -> bool {
        self.kind == "Application" && self.api_version.starts_with("argoproj.io/")
    }

    /// `shop/web`; `shop` without a namespace.
    pub(crate) fn place(&self) -> String {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.namespace, self.name)
    }
}

/// `Deployment shop/web`; `Namespace shop`.
impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.place())
    }
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its fields changed.
    Changed,
}

/// The objects of one destination path before and after.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    /// Those before.
    pub old: Vec<Manifest>,
    /// Those after.
    pub new: Vec<Manifest>,
    /// How to compare them.
    pub options: Options,
}

/// How many of the objects of one Application go while others that are much the same come under other names; and of how many of these no danger
/// says so.
pub(crate) fn renamed(objects: &[ObjectDiff]) -> [usize; 2] {
    renamed::count(objects)
}

/// The objects that differ, by namespace, name and kind.
pub(crate) fn compare(old: &[Manifest], new: &[Manifest], options: &Options) -> Vec<ObjectDiff> {
    let sides = Sides { old: old.to_vec(), new: new.to_vec(), options: options.clone() };
    compare_all(std::slice::from_ref(&sides), &Beside::default()).pop().unwrap_or_default()
}

/// The objects that differ, for all destination paths of a branch, in their order. An object that goes from one path
/// and comes in another has moved, and is listed where it comes. `beside` are the objects of the paths that do not change.
pub(crate) fn compare_all(paths: &[Sides], beside: &Beside) -> Vec<Vec<ObjectDiff>> {
    let scopes = scope::Scopes::new(paths.iter().flat_map(|path| path.old.iter().chain(&path.new)), beside);
    let paired = paths.iter().map(|path| pair::pairs(&path.old, &path.new, path.options.namespaces(), &scopes));
    let mut pairs: Vec<Vec<pair::Pair<'_>>> = paired.collect();
    pair::across(&mut pairs, |path| paths.get(path)?.options.namespace.as_deref(), &scopes);
    let place = |object: &ObjectName| [object.namespace.clone(), object.name.clone(), object.kind.clone()];
    let selected = noise::Selected::new(paths);
    let judged = judge::judged(paths, &pairs, beside);
    let judged: Vec<_> = paths.iter().zip(&pairs).zip(judged).collect();
    in_shares(&judged, |((path, pairs), judged)| {
        let echoes = noise::Echoes::new(pairs, path.options.dry_commits.as_ref(), &selected);
        let of_pair = |(pair, judged)| object(pair, judged, (&echoes, &scopes), &path.options);
        let mut objects: Vec<ObjectDiff> = pairs.iter().zip(judged).filter_map(of_pair).collect();
        objects.sort_by_cached_key(|diff| (place(&diff.object), diff.change));
        objects
    })
}

fn object(
    pair: &pair::Pair<'_>,
    judge::Judged { dangers, restarts, .. }: &judge::Judged,
    (echoes, scopes): (&noise::Echoes<'_>, &scope::Scopes<'_>),
    options: &Options,
) -> Option<ObjectDiff> {
    let whole = |manifest: &Manifest| Some(manifest.object().clone());
    let (object, change, mut difference) = match (pair.old, pair.new) {
        (Some(old), Some(new)) => {
            let is_shown = pair.moved_from.is_some() || !dangers.is_empty();
            let unchanged = is_shown.then(|| Difference::Mapping(Vec::new()));
            let mut difference = value::difference(old.object(), new.object(), echoes).or(unchanged)?;
            hush_namespace(&mut difference, || scopes.of(new) == scope::Scope::Cluster);
            (ObjectName::of(new), Change::Changed, difference)
        }
        (Some(old), None) => {
            let leaf = Leaf { old: whole(old), new: None, noise: None };
            (ObjectName::of(old), Change::Removed, Difference::Leaf(leaf))
        }
        (None, Some(new)) => {
            let leaf = Leaf { old: None, new: whole(new), noise: None };
            (ObjectName::of(new), Change::Added, Difference::Leaf(leaf))
        }
        (None, None) => return None,
    };
    if !options.reveal_secrets {
        secret::hide(pair.old, pair.new, &mut difference);
    }
    let old_name = pair.old.map(Manifest::name).filter(|name| change == Change::Changed && *name != object.name);
    Some(ObjectDiff {
        old_name: old_name.filter(|name| !name.is_empty()).map(str::to_owned),
        images: image::changes(pair.old, pair.new),
        restarts: *restarts,
        dangers: dangers.clone(),
        moved_from: pair.moved_from,
        is_recreated: pair.is_recreated,
        outlives: pair.old.is_some_and(outlives),
        is_encrypted: pair.new.is_some_and(encrypted::is_sops_object),
        object,
        change,
        difference,
    })
}

/// Makes noise of another `metadata.namespace` of an object that is of the whole cluster.
///
/// Reference: argo-cd 3.4 controller/state.go `DeduplicateTargetObjects`: it is taken away.
fn hush_namespace(difference: &mut Difference, is_of_cluster: impl Fn() -> bool) {
    let Difference::Mapping(fields) = difference else { return };
    let Some((_, Difference::Mapping(metadata))) = fields.iter_mut().find(|(key, _)| key == "metadata") else { return };
    let namespace = metadata.iter_mut().find(|(key, _)| key == "namespace");
    if let Some((_, Difference::Leaf(leaf))) = namespace.filter(|_| is_of_cluster()) {
        leaf.noise = Some(Noise::Namespace);
    }
}

#[cfg(test)]
mod tests;
