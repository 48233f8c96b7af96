//! Changes that were shown before: one line in place of all.

use std::collections::HashMap;

use super::likeness::Likeness;
use super::{ApplicationDiff, EnvironmentDiff, Row};
use crate::diff::{ObjectDiff, Words};

/// From how many lines on a change is not shown again elsewhere.
const LINES_MIN: usize = 7;

/// Where a change is.
pub(super) type Here<'a> = (&'a EnvironmentDiff, &'a ApplicationDiff);

/// Long changes that were shown already: most releases change all environments in the same way.
#[derive(Default)]
pub(super) struct Repeats<'a> {
    shown: HashMap<(&'a str, Vec<Row>), Here<'a>>,
    environments: Vec<(Likeness, &'a str)>,
}

/// An environment that changes as an earlier one.
pub(super) struct Before<'a> {
    /// The branch of the earlier one.
    pub branch: &'a str,
    /// The word of its name, and the one in its place here; none where no line has it.
    pub words: Option<Words>,
    /// Whether what may do harm is the same too, and everything else that is said.
    pub is_all: bool,
}

impl<'a> Repeats<'a> {
    /// The environment where the same objects changed in the same way and were shown; else this one counts as shown.
    pub(super) fn environment_before(
        &mut self,
        environment: &'a EnvironmentDiff,
        with_noise: bool,
    ) -> Option<Before<'a>> {
        let likeness = Likeness::of(environment, with_noise)?;
        let branch = environment.branch.branch.as_str();
        for (earlier, other) in self.environments.iter().filter(|(earlier, _)| earlier.is_as_long_as(&likeness)) {
            if earlier.changes_as(&likeness) {
                return Some(Before { branch: other, words: None, is_all: *earlier == likeness });
            }
            let Some(words) = Words::between(other, branch) else { continue };
            let renamed = earlier.renamed(&words);
            if renamed.changes_as(&likeness) {
                return Some(Before { branch: other, words: Some(words), is_all: renamed == likeness });
            }
        }
        self.environments.push((likeness, branch));
        None
    }

    /// The environment, or the Application of the same one, where an object of the same kind changed in the same way and
    /// was shown; else this one counts as shown.
    pub(super) fn before(&mut self, object: &'a ObjectDiff, rows: &[Row], here: Here<'a>) -> Option<&'a str> {
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
