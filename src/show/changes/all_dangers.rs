//! The dangers of all environments, production's first.

use std::collections::BTreeMap;

use super::{Changes, DangerGroup, Overview};
use crate::diff::Danger;
use crate::preview::is_production;

/// A danger of all environments: what it is, whose, and where it is the same.
#[derive(Debug)]
pub(super) struct DangerOfAll<'a> {
    /// The danger and its objects, in the first of the environments.
    pub group: DangerGroup<'a>,
    /// The branches, production's first.
    pub branches: Vec<&'a str>,
}

/// The dangers that are shown, each with what is to be done where it is the last of those that follow one another with that advice; and
/// how many may be left out. Only those that are not severe are: `max` of them are shown.
pub(super) fn shown<'d, 'a>(
    all: &'d [DangerOfAll<'a>],
    max: usize,
) -> (Vec<(&'d DangerOfAll<'a>, Option<String>)>, usize) {
    let is_severe = |one: &DangerOfAll<'_>| one.group.danger.severity.is_severe();
    let (mut shown, mut others) = (Vec::new(), 0);
    for one in all {
        others += usize::from(!is_severe(one));
        if is_severe(one) || others <= max {
            shown.push((one, Some(one.group.advice())));
        }
    }
    let next: Vec<Option<String>> = shown.iter().skip(1).map(|(_, advice)| advice.clone()).collect();
    for ((_, advice), next) in shown.iter_mut().zip(next) {
        advice.take_if(|advice| Some(&*advice) == next.as_ref());
    }
    (shown, others)
}

impl<'a> DangerOfAll<'a> {
    /// Those of all environments: production's first, then the worst first.
    pub(super) fn all(changes: &'a Changes) -> Vec<Self> {
        let (production, others): (Vec<_>, Vec<_>) =
            changes.environments.iter().partition(|environment| is_production(environment.branch.branch.as_str()));
        let mut found: Vec<Self> = Vec::new();
        let mut known: BTreeMap<(&Danger, String, String), usize> = BTreeMap::new();
        for environments in [production, others] {
            let start = found.len();
            for environment in environments {
                let branch = environment.branch.branch.as_str();
                for group in Overview::of(environment).dangers {
                    let key = (group.danger, group.subject(), group.members());
                    let index = known.get(&key).copied();
                    match index.and_then(|index| found.get_mut(index)) {
                        Some(same) => same.branches.push(branch),
                        None => {
                            known.insert(key, found.len());
                            found.push(Self { group, branches: vec![branch] });
                        }
                    }
                }
            }
            if let Some(new) = found.get_mut(start..) {
                new.sort_by(|a, b| a.group.danger.cmp(b.group.danger));
            }
            // The order changed.
            let keys = found.iter().enumerate().skip(start);
            known
                .extend(keys.map(|(index, one)| ((one.group.danger, one.group.subject(), one.group.members()), index)));
        }
        found
    }
}
