//! Renders that no one sees, made to find out what depends on the calls that are refused: these draw from sources of
//! chance that are always the same ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use go_template::{Calls, RefusedCall, Site, Trace};
use go_yaml::{self as yaml, Dialect, Limits, Mapping, Value};

use super::chart::Chart;
use super::error::Error;
use super::options::{Draw, Options};
use super::output::{self, RenderedFile};
use super::{Files, files};

/// The first source of chance, which the others are compared with.
pub(super) const FIRST: u8 = 0;
/// The other ones.
pub(super) const OTHERS: [u8; 2] = [1, 2];

/// How many steps templates may take in all that is tried with one chart, more or less.
const STEPS_MAX: u64 = 100_000_000;

/// How many renders of so many steps may be tried.
pub(super) fn affordable(steps: u64) -> usize {
    usize::try_from(STEPS_MAX / steps.max(1)).unwrap_or(usize::MAX)
}

/// A chart with what it is rendered with.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The chart.
    pub chart: &'a Arc<Chart>,
    /// The user's values.
    pub values: &'a Mapping,
    /// All else.
    pub options: &'a Options,
}

impl Subject<'_> {
    /// The files that are printed when all refused calls draw from one source.
    pub(super) fn files(&self, number: u8) -> Result<Files, Error> {
        self.printed(&Draw { calls: Calls::All, number, sketch: false }, None)
    }

    /// The files that are printed when all refused calls draw from one source, good only to tell what depends on what:
    /// keys in them are quick to make and weak.
    pub(super) fn sketch(&self, number: u8) -> Result<Files, Error> {
        self.printed(&Draw { calls: Calls::All, number, sketch: true }, None)
    }

    /// Whether what is printed depends on any of some calls. `plain` is the sketch with the first source.
    pub(super) fn depends_on(&self, calls: &[&RefusedCall], plain: &Files) -> bool {
        let sites: BTreeSet<Site> = calls.iter().map(|call| call.site).collect();
        let draw = |number| Draw { calls: Calls::At(sites.clone()), number, sketch: true };
        // Most calls show in the file that makes them: what comes behind it need not be executed then.
        let file = calls.first().and_then(|call| call.places.first()).filter(|_| !self.options.leaves_something_out());
        let start = file.map(|place| self.printed(&draw(OTHERS[0]), Some(&place.template)));
        let shows = start.is_some_and(|start| start.is_ok_and(|start| !plain.rendered.starts_with(&start.rendered)));
        let is_other = |files: &Files| !self.prints_alike(files, plain);
        if shows {
            return true;
        }
        let others = OTHERS.map(|number| self.printed(&draw(number), None));
        let mut seen = vec![&plain.trace];
        seen.extend(others.iter().flatten().map(|files| &files.trace));
        others.iter().any(|other| other.as_ref().map_or(true, is_other)) || Trace::loses_chance(&seen)
    }

    /// Whether two renders print the same, as far as it counts.
    pub(super) fn prints_alike(&self, one: &Files, other: &Files) -> bool {
        if one.rendered == other.rendered {
            return true;
        }
        if !self.options.leaves_something_out() {
            return false;
        }
        let (Ok(one), Ok(other)) = (self.text(&one.rendered), self.text(&other.rendered)) else { return false };
        one == other || (self.options.only_objects && are_same_objects(&one, &other))
    }

    /// What is printed of some files.
    pub(super) fn text(&self, rendered: &[RenderedFile]) -> Result<String, Error> {
        let documents = output::documents(rendered.to_vec(), self.options, &mut Vec::new())?;
        Ok(output::print(documents, self.options)?.0)
    }

    fn printed(&self, draw: &Draw, until: Option<&str>) -> Result<Files, Error> {
        let effects = self.options.effects.probe(draw);
        let mut files = files(self.chart, self.values, self.options, effects, until, &mut Vec::new())?;
        files.rendered.retain(|file| output::is_printed(&file.name));
        Ok(files)
    }
}

fn are_same_objects(one: &str, other: &str) -> bool {
    let (one, other) = (objects(one), objects(other));
    one.is_some() && one == other
}

/// The values of the documents of a text; none when it is not YAML.
fn objects(text: &str) -> Option<Vec<Value>> {
    let mut values = yaml::decode(text.as_bytes(), Dialect::V2, &Limits::default()).ok()?;
    values.retain(|value| *value != Value::Null);
    Some(values)
}
