use std::collections::{BTreeMap, HashMap};

use super::alike::Likeness;
use super::{ApplicationDiff, EnvironmentDiff, Row};
use crate::diff::ObjectDiff;

/// From how many lines on a change is not shown again elsewhere.
const LINES_MIN: usize = 7;

/// Where a change is.
pub(super) type Here<'a> = (&'a EnvironmentDiff, &'a ApplicationDiff);

/// Long changes that were shown already: most releases change all environments in the same way.
#[derive(Default)]
pub(super) struct Repeats<'a> {
    shown: HashMap<(&'a str, Vec<Row>), Here<'a>>,
    environments: BTreeMap<Likeness<'a>, &'a str>,
}

impl<'a> Repeats<'a> {
    /// The environment where the same objects changed in the same way and were shown; else this one counts as shown.
    pub fn environment_before(&mut self, environment: &'a EnvironmentDiff, with_noise: bool) -> Option<&'a str> {
        let likeness = Likeness::of(environment, with_noise).filter(|likeness| likeness.lines() >= LINES_MIN)?;
        let branch = environment.branch.branch.as_str();
        let first = *self.environments.entry(likeness).or_insert(branch);
        (first != branch).then_some(first)
    }

    /// The environment, or the Application of the same one, where an object of the same kind changed in the same way and
    /// was shown; else this one counts as shown.
    pub fn before(&mut self, object: &'a ObjectDiff, rows: &[Row], here: Here<'a>) -> Option<&'a str> {
        if rows.len() < LINES_MIN {
            return None;
        }
        let (environment, application) =
            *self.shown.entry((object.object.kind.as_str(), rows.to_vec())).or_insert(here);
        let is_here = environment.branch.branch == here.0.branch.branch;
        match (is_here, application.path == here.1.path) {
            (true, true) => None,
            (true, false) => Some(application.title()),
            (false, _) => Some(environment.branch.branch.as_str()),
        }
    }
}
