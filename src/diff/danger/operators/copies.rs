//! Copies of data that an operator no longer waits for, or no longer has.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// How many parts are named.
const NAMED_MAX: usize = 4;

/// Writes that count before another copy has them, halves that both go on, and parts that go.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let found = [asynchronous(old, new), partitioned(old, new), removed(old, new), closer(old, new), alone(old, new)];
    found.into_iter().flatten().collect()
}

/// Reference: cloudnative-pg docs/src/replication.md, "Synchronous Replication"; access.crunchydata.com PostgresCluster,
/// `patroni.dynamicConfiguration.synchronous_mode`; postgres-operator.readthedocs.io `synchronous_mode`.
fn asynchronous(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_on = |object: &Manifest, path: &[&str]| object.object().at(path).and_then(Value::as_bool) == Some(true);
    let waits = |object: &Manifest| match (object.home_group(), object.kind()) {
        ("postgresql.cnpg.io", "Cluster") => {
            number(object.object(), &["spec", "minSyncReplicas"]).unwrap_or(0) > 0
                || number(object.object(), &["spec", "postgresql", "synchronous", "number"]).unwrap_or(0) > 0
        }
        ("postgres-operator.crunchydata.com", "PostgresCluster") => {
            is_on(object, &["spec", "patroni", "dynamicConfiguration", "synchronous_mode"])
        }
        ("acid.zalan.do", "postgresql") => is_on(object, &["spec", "patroni", "synchronous_mode"]),
        _ => false,
    };
    (waits(old) && !waits(new)).then(|| {
        let text =
            "writes no longer wait for another copy: when the primary fails, the last of them are lost".to_owned();
        let advice = "keep one copy that is written before a write counts";
        Danger::said(Severity::Other, "fewerCopies", text, advice)
    })
}

/// Reference: rabbitmq.com docs, partitions, "Which Mode to Pick"; rabbitmq/cluster-operator internal/resource/configmap.go:
/// `pause_minority` by default.
fn partitioned(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("rabbitmq.com", "RabbitmqCluster");
    let mode = |object: &Manifest| -> String {
        let config = word(object.object(), &["spec", "rabbitmq", "additionalConfig"]);
        let mut lines = config.lines().filter_map(|line| line.split_once('='));
        let found = lines.find(|(key, _)| key.trim() == "cluster_partition_handling");
        found.map_or_else(|| "pause_minority".to_owned(), |(_, mode)| mode.trim().to_owned())
    };
    (is_it && mode(old) != "ignore" && mode(new) == "ignore").then(|| {
        let text =
            "`cluster_partition_handling = ignore`: when nodes do not reach each other, both halves go on, and differ"
                .to_owned();
        Danger::said(Severity::Other, "fewerCopies", text, "keep `pause_minority`")
    })
}

/// Parts of a data centre that may fail at once, the smallest first.
///
/// Reference: rook.io docs, ceph-block-pool-crd, `failureDomain`: `host` by default.
const DOMAINS: [&str; 9] = ["osd", "host", "chassis", "rack", "row", "pdu", "room", "datacenter", "zone"];

/// Copies that may be closer to each other than before.
fn closer(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = new.home_group() == "ceph.rook.io"
        && matches!(new.kind(), "CephBlockPool" | "CephFilesystem" | "CephObjectStore");
    let domain = |object: &'_ Manifest| match word(object.object(), &["spec", "failureDomain"]) {
        "" => "host".to_owned(),
        domain => domain.to_owned(),
    };
    let place = |object: &Manifest| DOMAINS.iter().position(|one| *one == domain(object));
    (is_it && place(new)? < place(old)?).then(|| {
        let text = format!("`failureDomain` {} → {}: one that fails may have all copies", domain(old), domain(new));
        Danger::said(Severity::Other, "fewerCopies", text, "keep copies apart")
    })
}

/// Databases whose nodes do not copy each other any more.
///
/// Reference: mariadb-operator/mariadb-operator docs/galera.md, replication.md.
fn alone(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("k8s.mariadb.com", "MariaDB");
    let is_on = |object: &Manifest| {
        let flag = |key| object.object().at(&["spec", key, "enabled"]).and_then(Value::as_bool) == Some(true);
        flag("galera") || flag("replication")
    };
    (is_it && is_on(old) && !is_on(new)).then(|| {
        let text = "nodes no longer copy each other: each has data of its own".to_owned();
        Danger::said(Severity::Outage, "fewerCopies", text, "keep one way by which they copy each other")
    })
}

/// Parts of a cluster by their names, which go while none comes.
///
/// Reference: elastic.co docs, cloud-on-k8s, "Nodes orchestration": data are moved from nodes before these are removed, where there is
/// room.
fn removed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let path: &[&str] = match (new.home_group(), new.kind()) {
        ("elasticsearch.k8s.elastic.co", "Elasticsearch") => &["spec", "nodeSets"],
        _ => return None,
    };
    let names = |object: &'_ Manifest| -> BTreeSet<String> {
        items(object.object(), path).iter().map(|one| word(one, &["name"]).to_owned()).collect()
    };
    let (was, now) = (names(old), names(new));
    let gone: Vec<&String> = was.difference(&now).collect();
    let comes = now.difference(&was).next().is_some();
    (!gone.is_empty() && !comes).then(|| {
        let text =
            format!("`nodeSets`: {} removed: its data are moved to the other nodes before", listed(gone, NAMED_MAX));
        Danger::said(Severity::Other, "fewerCopies", text, "check that those that stay have room for all the data")
    })
}
