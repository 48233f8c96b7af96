//! Backups that nothing makes any more, since what asked for them is removed.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, Thing, number, word};
use crate::manifest::Manifest;

/// How many schedules are named.
const NAMED_MAX: usize = 4;

/// What a backup is of.
enum Of {
    /// An object of this kind in its namespace, which a field names.
    Named(&'static str, &'static [&'static str]),
    /// What a list of names says; all of its sort where that is empty.
    Listed(&'static [&'static str]),
    /// All of its namespace.
    Namespace,
}

/// Kinds that ask for backups: group, kind, and what they are of.
///
/// Reference: cloudnative-pg docs, backup; volsync.readthedocs.io usage; velero.io docs/main/api-types/schedule; longhorn.io
/// docs/snapshots-and-backups/scheduling-backups-and-snapshots; k8up.io docs, schedules.
const BACKUPS: [(&str, &str, Of); 5] = [
    ("postgresql.cnpg.io", "ScheduledBackup", Of::Named("Cluster", &["spec", "cluster", "name"])),
    ("volsync.backube", "ReplicationSource", Of::Named("PersistentVolumeClaim", &["spec", "sourcePVC"])),
    ("velero.io", "Schedule", Of::Listed(&["spec", "template", "includedNamespaces"])),
    ("longhorn.io", "RecurringJob", Of::Listed(&["spec", "groups"])),
    ("k8up.io", "Schedule", Of::Namespace),
];

fn row(object: &Manifest) -> Option<&'static Of> {
    let is_it = |(group, kind, _): &&(&str, &str, Of)| (object.home_group(), object.kind()) == (*group, *kind);
    BACKUPS.iter().find(is_it).map(|(.., of)| of)
}

/// What asks for backups of something that stays, and goes while nothing else asks for them.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let of = row(old)?;
    let placed = around.before(old);
    let pruning = around.pruning.of(old);
    let after = &around.model.after;
    let is_same = |other: &&Placed<'a>| {
        (other.manifest.home_group(), other.manifest.kind()) == (old.home_group(), old.kind())
            && other.namespace == placed.namespace
            && asks(other.manifest)
            && of.covers(other.manifest, old)
    };
    let is_over =
        asks(old) && pruning.removes() && !of.goes_too(placed, around) && !after.all().iter().any(|one| is_same(&one));
    is_over.then(|| {
        let what = match of {
            Of::Named(kind, path) => format!("{kind} {}", word(old.object(), path)),
            Of::Listed(_) | Of::Namespace => "what it was for".to_owned(),
        };
        let text = format!("removed: no backups of {what} are made any more");
        Danger::said(Severity::Other, "removed", text, "check that something else makes backups").pruned(pruning)
    })
}

/// Namespaces of which a schedule makes no backups any more.
///
/// Reference: velero.io docs/main/api-types/schedule: no `includedNamespaces`, or `*`, are all; `excludedNamespaces` are left out.
pub(super) fn left_out<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_schedule = |object: &Manifest| (object.home_group(), object.kind()) == ("velero.io", "Schedule");
    if !is_schedule(old) || !is_schedule(new) {
        return None;
    }
    let list = |schedule: &'a Manifest, key| -> BTreeSet<&'a str> {
        let all = items(schedule.object(), &["spec", "template", key]).iter();
        all.filter_map(Value::as_str).collect()
    };
    let has = |schedule: &'a Manifest, name: &str| {
        let [included, excluded] = ["includedNamespaces", "excludedNamespaces"].map(|key| list(schedule, key));
        let is_in = included.is_empty() || included.contains("*") || included.contains(name);
        is_in && !excluded.contains(name)
    };
    let is_all = |schedule: &'a Manifest| {
        let included = list(schedule, "includedNamespaces");
        included.is_empty() || included.contains("*")
    };
    let others = around.model.after.all().iter().map(|one| one.manifest).filter(|one| is_schedule(one) && asks(one));
    let others: Vec<&Manifest> = others.filter(|one| one.name() != new.name()).collect();
    let named: BTreeSet<&str> = &list(old, "includedNamespaces") | &list(new, "excludedNamespaces");
    let is_lost =
        |name: &&str| *name != "*" && has(old, name) && !has(new, name) && !others.iter().any(|other| has(other, name));
    let mut lost: BTreeSet<String> =
        named.into_iter().filter(is_lost).map(|name| format!("namespace {name}")).collect();
    if is_all(old) && !is_all(new) && !others.iter().any(|other| is_all(other)) {
        lost = BTreeSet::from(["namespaces that it does not name".to_owned()]);
    }
    (!lost.is_empty()).then(|| {
        let text = format!("no backups of {} are made any more", listed(lost, NAMED_MAX));
        Danger::said(Severity::Other, "unsaved", text, "check that something else makes backups")
    })
}

fn is_location(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("velero.io", "BackupStorageLocation")
}

/// Backups without the volumes that they had.
///
/// Reference: velero.io docs/main/api-types/schedule, `snapshotVolumes`, `defaultVolumesToFsBackup`.
pub(super) fn volumeless(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("velero.io", "Schedule");
    let flag = |schedule: &Manifest, key| schedule.object().at(&["spec", "template", key]).and_then(Value::as_bool);
    let has = |schedule: &Manifest| {
        flag(schedule, "snapshotVolumes") != Some(false) || flag(schedule, "defaultVolumesToFsBackup") == Some(true)
    };
    (is_it && has(old) && !has(new)).then(|| {
        let text = "`snapshotVolumes: false`: what is in volumes is in none of the backups".to_owned();
        Danger::said(Severity::Other, "unsaved", text, "check that something else makes backups of the volumes")
    })
}

/// A place of backups that takes none any more.
///
/// Reference: velero.io docs/main/disaster-case: read-only mode "prevents backup objects from being created or deleted".
pub(super) fn unwritable(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_read_only = |object: &Manifest| word(object.object(), &["spec", "accessMode"]) == "ReadOnly";
    (is_location(new) && is_read_only(new) && !is_read_only(old)).then(|| {
        let text = "`accessMode: ReadOnly`: no backups are made in it, and none that are over are deleted".to_owned();
        Danger::said(Severity::Other, "unsaved", text, "keep it so only while something is restored")
    })
}

/// A place of backups that goes while schedules that stay make theirs in it.
///
/// Reference: velero.io docs/main/api-types/backupstoragelocation: backups that name none are in the one that is the default.
pub(super) fn placeless<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let place = around.before(old);
    let is_default = |object: &Manifest| {
        object.object().at(&["spec", "default"]).and_then(Value::as_bool) == Some(true) || object.name() == "default"
    };
    let is_beside = |one: &&Placed<'a>| one.namespace == place.namespace;
    let after = || around.model.after.all().iter().filter(is_beside).map(|one| one.manifest);
    let has_default = after().any(|one| is_location(one) && is_default(one));
    let uses = |schedule: &Manifest| match word(schedule.object(), &["spec", "template", "storageLocation"]) {
        "" => is_default(old) && !has_default,
        name => name == old.name(),
    };
    let schedules = after().filter(|one| (one.home_group(), one.kind()) == ("velero.io", "Schedule"));
    let names: BTreeSet<String> =
        schedules.filter(|one| uses(one)).map(|one| format!("Schedule {}", one.name())).collect();
    let pruning = around.pruning.of(old);
    (is_location(old) && pruning.removes() && !names.is_empty()).then(|| {
        let makes = if names.len() == 1 { "makes" } else { "make" };
        let text = format!("removed: {} {makes} no backups without it", listed(names, NAMED_MAX));
        Danger::said(Severity::Other, "unsaved", text, "keep it until nothing makes backups in it").pruned(pruning)
    })
}

/// Whether backups are made for an object as it is.
fn asks(object: &Manifest) -> bool {
    let is_off = ["suspend", "paused"]
        .iter()
        .any(|key| object.object().at(&["spec", key]).and_then(Value::as_bool) == Some(true));
    let is_backup = match object.kind() {
        "RecurringJob" => word(object.object(), &["spec", "task"]).starts_with("backup"),
        _ => true,
    };
    is_backup && !is_off
}

impl Of {
    /// Whether what one asks for has all of the other.
    fn covers(&self, one: &Manifest, other: &Manifest) -> bool {
        match self {
            Of::Named(_, path) => word(one.object(), path) == word(other.object(), path),
            Of::Namespace => true,
            Of::Listed(path) => {
                let [one, other] = [one, other].map(|object| items(object.object(), path));
                let is_all = |names: &[Value]| names.is_empty() || names.iter().any(|name| name.as_str() == Some("*"));
                is_all(one) || !is_all(other) && other.iter().all(|name| one.contains(name))
            }
        }
    }

    /// Whether what the backups are of is removed with them.
    fn goes_too(&self, old: Placed<'_>, around: &Around<'_>) -> bool {
        let Of::Named(kind, path) = self else { return false };
        let name = word(old.manifest.object(), path);
        let is_there = |side: &Side<'_>| {
            let claim =
                Thing { kind: "PersistentVolumeClaim", namespace: old.namespace.to_owned(), name: name.to_owned() };
            *kind == claim.kind && side.provides(&claim)
                || side
                    .all()
                    .iter()
                    .any(|one| (one.manifest.kind(), one.manifest.name(), one.namespace) == (kind, name, old.namespace))
        };
        is_there(&around.model.before) && !is_there(&around.model.after)
    }
}

/// A PostgreSQL cluster that makes no backups any more, nor has a plugin that does.
///
/// Reference: cloudnative-pg docs, backup (`spec.backup` is where they go to), "Backup and recovery with plugins".
pub(super) fn dropped(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_cluster = (new.home_group(), new.kind()) == ("postgresql.cnpg.io", "Cluster");
    let is_there = |object: &Manifest, path: &[&str]| object.object().at(path).is_some_and(|value| !value.is_null());
    let has = |object: &Manifest, field| is_there(object, &["spec", "backup", field]);
    let has_place = |object: &Manifest| has(object, "barmanObjectStore") || has(object, "volumeSnapshot");
    let has_plugin = !items(new.object(), &["spec", "plugins"]).is_empty();
    let is_whole = !is_there(new, &["spec", "backup"]);
    let is_lost = match is_whole {
        true => is_there(old, &["spec", "backup"]),
        false => has_place(old) && !has_place(new),
    };
    (is_cluster && is_lost && !has_plugin).then(|| {
        let field = if is_whole { "backup" } else { "backup.barmanObjectStore" };
        let text = format!("`{field}` removed: no backups are made any more, nor is its log archived");
        Danger::said(Severity::Other, "unsaved", text, "keep it until something else makes backups")
    })
}

/// A PostgreSQL cluster whose instances may all be evicted at once.
///
/// Reference: cloudnative-pg docs, kubernetes_upgrade, "PodDisruptionBudget": `enablePDB: false` removes both budgets.
pub(super) fn unbudgeted(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_cluster = (new.home_group(), new.kind()) == ("postgresql.cnpg.io", "Cluster");
    let is_off = |object: &Manifest| object.object().at(&["spec", "enablePDB"]).and_then(Value::as_bool) == Some(false);
    // The only instance of one could never be evicted otherwise.
    let is_one = number(new.object(), &["spec", "instances"]) == Some(1);
    (is_cluster && is_off(new) && !is_off(old) && !is_one).then(|| {
        let text = "`enablePDB: false`: all its instances may go down at once when nodes are drained".to_owned();
        Danger::said(Severity::Outage, "unprotected", text, "keep it on but while a node is drained that must be")
    })
}
