//! Configuration that is read once: Pods keep the old value until they are replaced.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Around, Danger, Severity};
use crate::diff::model::pods::replicas;
use crate::diff::model::{How, Placed, Thing, Use, word};
use crate::diff::restart::restarts;
use crate::manifest::Manifest;

/// Workloads that run on, each until its template changes.
const RUNNING: [&str; 6] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Rollout", "Pod"];

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// Workloads that read data which changed as environment variables or single files, and that this change does not restart.
///
/// Reference: kubernetes docs/concepts/configuration/configmap, "Mounted ConfigMaps are updated automatically".
pub(super) fn config<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let kind = config_kind(new)?;
    let (changed, gone) = (changed_keys(old, new), gone_keys(old, new));
    if changed.is_empty() || old.name() != new.name() {
        return None;
    }
    let namespace = around.after(new).namespace.to_owned();
    let users = around.model.after.users(&Thing { kind, namespace, name: new.name().to_owned() });
    let reads_once = |one: &Use| {
        let is_changed = |key: &String| changed.contains(key) && !gone.contains(key);
        matches!(one.how, How::Environment | How::SubPath) && one.key.as_ref().is_none_or(is_changed)
    };
    let is_stale = |user: Placed<'_>| stays(user, around) && !is_reloaded(user.manifest, new);
    let stale = users.iter().filter(|(user, one)| reads_once(one) && is_stale(*user));
    let names: BTreeSet<String> = stale.map(|(user, _)| name(user)).collect();
    (!names.is_empty()).then(|| {
        let (reads, its, it) = if names.len() == 1 { ("reads", "its", "it") } else { ("read", "their", "them") };
        let text = format!(
            "{} {reads} it when {its} containers start, and nothing restarts {it}: {its} Pods keep the old value until they are replaced",
            listed(&names, NAMED_MAX)
        );
        let advice = "put a checksum of it into the annotations of the Pod template, or give it a generated name";
        Danger::said(Severity::Other, "staleConfig", text, advice)
    })
}

fn name(of: &Placed<'_>) -> String {
    format!("{} {}", of.manifest.kind(), of.manifest.name())
}

/// What a manifest is, of what containers read.
fn config_kind(manifest: &Manifest) -> Option<&'static str> {
    let kind = ["ConfigMap", "Secret"].into_iter().find(|kind| *kind == manifest.kind());
    kind.filter(|_| manifest.home_group().is_empty())
}

/// Whether a workload was there and runs on with the Pods that it has.
fn stays(user: Placed<'_>, around: &Around<'_>) -> bool {
    let before = around.model.before.find(user);
    RUNNING.contains(&user.manifest.kind())
        && before.is_some_and(|before| !restarts(Some(before.manifest), Some(user.manifest)))
        && replicas(user.manifest) != Some(0)
}

/// Whether a controller restarts a workload when this ConfigMap or Secret of it changes.
///
/// Reference: stakater/Reloader README.md and docs/How-it-works.md: `auto` for all that it reads, or for those of one kind;
/// `reload` for those that are named, each name an expression; `search` for those with the annotation `match`. wave-k8s/wave README.md.
fn is_reloaded(workload: &Manifest, config: &Manifest) -> bool {
    let places = [&["metadata", "annotations"][..], &["spec", "template", "metadata", "annotations"]];
    let annotation = |key: &str| {
        let mut all = places.iter().filter_map(|path| workload.object().at(path)?.as_mapping());
        all.find_map(|annotations| annotations.get(key)?.as_str()).unwrap_or_default()
    };
    let of_config = |key: &str| word(config.object(), &["metadata", "annotations", key]) == "true";
    let kind = config.kind().to_lowercase();
    let names = |list: &str| list.split(',').any(|name| may_name(name.trim(), config.name()));
    let is_set = |key: &str| annotation(key) == "true";
    let is_left_out = names(annotation(&format!("{kind}s.exclude.reloader.stakater.com/reload")))
        || of_config("reloader.stakater.com/ignore");
    let is_auto = is_set("reloader.stakater.com/auto") || is_set(&format!("{kind}.reloader.stakater.com/auto"));
    let is_matched = is_set("reloader.stakater.com/search") && of_config("reloader.stakater.com/match");
    let is_named = names(annotation(&format!("{kind}.reloader.stakater.com/reload")));
    (is_auto || is_matched || is_named) && !is_left_out || is_set("wave.pusher.com/update-on-config-change")
}

/// Whether a name, which may be an expression that is not read here, is the one of an object.
fn may_name(pattern: &str, name: &str) -> bool {
    pattern == name || pattern.contains(['*', '[', '+', '(', '|', '\\'])
}

/// The keys whose values are other ones, or are gone.
fn changed_keys(old: &Manifest, new: &Manifest) -> BTreeSet<String> {
    let (old, new) = (entries(old), entries(new));
    let differs = |(key, value): &(&String, &String)| new.get(*key) != Some(*value);
    let came = new.keys().filter(|key| !old.contains_key(*key));
    old.iter().filter(differs).map(|(key, _)| key).chain(came).cloned().collect()
}

/// The keys that are gone.
fn gone_keys(old: &Manifest, new: &Manifest) -> BTreeSet<String> {
    let (old, new) = (entries(old), entries(new));
    old.into_keys().filter(|key| !new.contains_key(key)).collect()
}

/// What a container reads, by key; the values of `data` of a Secret and of `binaryData` as they are encoded.
fn entries(config: &Manifest) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    for field in ["data", "binaryData", "stringData"] {
        for (key, value) in config.object().get(field).and_then(Value::as_mapping).into_iter().flatten() {
            let text = word(value, &[]);
            let is_plain = field == "stringData";
            let value = if is_plain { data_encoding::BASE64.encode(text.as_bytes()) } else { text.to_owned() };
            entries.insert(key.clone(), value);
        }
    }
    entries
}
