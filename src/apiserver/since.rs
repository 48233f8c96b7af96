//! What is new in what a server says of objects, beside what it would have said before a change.

use std::collections::{BTreeMap, HashSet};

use kube_validate::{Finding, Judge, stored};

use super::{Answer, SaidWhere, Server};
use crate::diff::ObjectName;
use crate::manifest::Manifest;

impl Server<'_> {
    /// Leaves out what is said of objects that are as they were, and marks what would have been said of those that changed, by the
    /// CRDs that there were (`judges`: then, now). Warnings of the latter are left out too: each is reported once.
    pub(crate) fn since(
        &self,
        mut answers: Vec<Answer>,
        (old, new): (&[Manifest], &[Manifest]),
        [then, now]: [&Judge; 2],
    ) -> Vec<Answer> {
        let [old, new] = [old, new].map(by_name);
        answers.retain_mut(|answer| {
            let name = without_version(&answer.object);
            let Some(before) = old.get(&name).copied() else { return true };
            let Some(after) = new.get(&name).copied().filter(|after| *after != before) else { return false };
            let findings = |answer: Option<Answer>| answer.into_iter().flat_map(|answer| answer.findings);
            let known: Vec<Finding> = findings(self.answer(then, before)).map(|said| said.finding).collect();
            // What was refused is not there, so what comes is new.
            let is_there = !known.iter().any(Finding::is_refusal);
            // A create would be refused; what it replaces is as good as not written.
            let update = stored_over(before, after);
            if is_there || update.is_some() {
                let over = Some(before).filter(|_| is_there);
                answer.findings = findings(self.answer_over(now, over, update.as_ref().unwrap_or(after))).collect();
            }
            let known: HashSet<SaidWhere> = known.iter().map(SaidWhere::of).collect();
            for said in &mut answer.findings {
                said.was_before = known.contains(&SaidWhere::of(&said.finding));
            }
            answer.findings.retain(|said| !said.was_before || said.finding.is_refusal());
            true
        });
        answers
    }
}

/// An object as the API server stores it in place of another one, where that is not as it is written.
fn stored_over(old: &Manifest, new: &Manifest) -> Option<Manifest> {
    Manifest::new(stored(old.object(), new.object())?).ok()
}

/// Objects by their names, the first of each.
fn by_name(manifests: &[Manifest]) -> BTreeMap<ObjectName, &Manifest> {
    manifests.iter().rev().map(|manifest| (without_version(&ObjectName::of(manifest)), manifest)).collect()
}

/// The name of an object, whatever the version of its group.
fn without_version(object: &ObjectName) -> ObjectName {
    let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
    ObjectName { api_version: group.to_owned(), ..object.clone() }
}
