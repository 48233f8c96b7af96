//! Levels of Pod security that namespaces enforce, and Pods that they refuse.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;

use super::privilege::{LEVELS, complies, level};
use super::{Around, Danger, Severity};
use crate::manifest::Manifest;

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// A level of Pod security that is above what runs in the namespace.
///
/// Reference: kubernetes docs/concepts/security/pod-security-admission, pod-security-standards.
pub(super) fn raised(old: &Manifest, new: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let (before, after) = (level(old)?, level(new)?);
    if new.kind() != "Namespace" || after <= before {
        return None;
    }
    let workloads: Vec<_> = around.model.after.workloads(new.name()).collect();
    let refused = workloads.iter().filter(|workload| !complies(workload.manifest, after));
    let refused: BTreeSet<String> =
        refused.map(|workload| format!("{} {}", workload.manifest.kind(), workload.manifest.name())).collect();
    let level = LEVELS.get(after).unwrap_or(&"");
    let advice = "set the label `pod-security.kubernetes.io/warn` first, and change what it warns of";
    let (severity, text) = match (workloads.is_empty(), refused.is_empty()) {
        (false, true) => return None,
        (true, _) => (
            Severity::Other,
            format!("Pod security level {level}: Pods that need more are refused when they are made anew"),
        ),
        (false, false) => {
            let names = listed(refused, NAMED_MAX);
            (
                Severity::Outage,
                format!("Pod security level {level} refuses the Pods of {names} when they are made anew"),
            )
        }
    };
    Some(Danger::said(severity, "gate", text, advice))
}

/// Pods that the level of their namespace refuses from now on.
///
/// Reference: kubernetes docs/concepts/security/pod-security-admission: the object of a workload is taken, its Pods are not.
pub(super) fn refused<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let placed = around.after(new);
    let mut namespaces = around.model.after.listed("Namespace");
    let namespace = namespaces.find(|one| one.manifest.name() == placed.namespace)?;
    let was = around.model.before.find(namespace).and_then(|was| level(was.manifest));
    // Of a level that is raised it is said of the namespace.
    let level = level(namespace.manifest).filter(|level| was.is_none_or(|was| was >= *level))?;
    let is_new = !complies(new, level) && old.is_none_or(|old| complies(old, level));
    is_new.then(|| {
        let name = LEVELS.get(level).unwrap_or(&"");
        let text =
            format!("Pod security level {name} of namespace {} refuses its Pods: none are made", placed.namespace);
        let advice = "keep its Pods within the level of the namespace";
        Danger::said(Severity::Outage, "gate", text, advice)
    })
}
