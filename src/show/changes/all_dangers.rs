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
