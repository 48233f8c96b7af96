//! Applications that render objects of others of their branch: each goes to a branch of its own.
//!
//! Argo CD deploys both, and warns (`SharedResourceWarning`). On one branch neither would be hydrated, and the others would wait.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use dry_files::diag::printable;

use super::second::is_of_set;
use super::units::{Attempt, findings};
use super::{Draft, Judged};
use crate::argo::{Application, Rule};
use crate::manifest::Key;
use crate::owners::error::HydrateError;
use crate::render;
use crate::settings::{SettingsError, Value};

/// How many Applications may be led away: more of them are no exception.
const APART_MAX: usize = 8;

/// An Application, and what it renders.
type Objects<'a> = (&'a Application, Vec<Key>);

/// Proposes rules before the others for the Applications without which no two of a branch render one object; answers whether it did.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, attempts: &[Attempt<'_>]) -> Result<bool, HydrateError> {
    if !draft.is_proposed("rules") {
        return Ok(false);
    }
    let findings = findings(judged);
    let mut branches: BTreeMap<&str, Vec<Objects<'_>>> = BTreeMap::new();
    for Attempt { index, application, result } in attempts {
        let Ok(rendered) = result else { continue };
        if application.rule.is_some() && !findings.get(index).is_some_and(|finding| finding.is_error()) {
            let objects = render::objects(application, &rendered.manifests);
            branches.entry(application.environment_branch().as_str()).or_default().push((application, objects));
        }
    }
    let apart: Vec<(&str, &Application)> = branches
        .into_iter()
        .flat_map(|(branch, applications)| apart(applications).into_iter().map(move |one| (branch, one)))
        .collect();
    if apart.is_empty() || apart.len() > APART_MAX {
        return Ok(false);
    }
    let wrong = |why: String| SettingsError::Wrong(format!("rules: {why}"));
    let mut rules = Vec::new();
    for (branch, application) in &apart {
        let rule = Rule::of_all(&format!("{branch}-{}", application.name), "{{ name }}").map_err(wrong)?;
        let rule = rule.of([application.name.to_string()], None);
        let set = application.maker.as_ref().filter(|_| is_of_set(application)).map(|maker| maker.by.name());
        rules.push(set.map_or_else(|| rule.clone(), |set| rule.expanding(set)));
    }
    rules.extend(draft.settings()?.rules);
    let names = listed(apart.iter().map(|(_, one)| format!("`{}`", printable(one.name.as_str()))), APART_MAX);
    let why = format!("where plain Applications go; apart from others that render the same objects, as now: {names}");
    draft.set("rules", Value::of(&rules)?, why)?;
    Ok(true)
}

/// The Applications of a branch that go, one that has objects in common with most others first, until no two have any.
fn apart(mut applications: Vec<Objects<'_>>) -> Vec<&Application> {
    let mut apart = Vec::new();
    loop {
        let mut owners: BTreeMap<(String, &Key), BTreeSet<usize>> = BTreeMap::new();
        for (index, (application, keys)) in applications.iter().enumerate() {
            let Some(cluster) = application.object_cluster() else { continue };
            keys.iter().for_each(|key| {
                owners.entry((cluster.to_string(), key)).or_default().insert(index);
            });
        }
        let mut beside: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for of_one in owners.values().filter(|of_one| of_one.len() > 1) {
            of_one.iter().for_each(|index| beside.entry(*index).or_default().extend(of_one));
        }
        // A rule for one that a set makes leaves the set without a copy, so that what it makes is copied: others go first.
        let first = |index: &usize| !is_of_set(applications[*index].0);
        let most = beside.iter().max_by_key(|(index, others)| (first(index), others.len(), **index));
        let Some(most) = most.map(|(index, _)| *index) else { return apart };
        apart.push(applications.remove(most).0);
    }
}
