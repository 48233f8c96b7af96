//! What makes a refused call needless, found out by trying: a hint shows only what was tried and helped.

use std::collections::BTreeSet;

use go_template::{RefusedCall, Site};

use super::Files;
use super::options::Options;
use super::probe::{FIRST, Subject, affordable};
use super::setting::Setting;

/// How many cures of one call are named.
const NAMED_MAX: usize = 2;
/// How many settings are tried for one call when one helps.
const TRIES_ENOUGH: usize = 3;
/// How many are tried for one chart.
const TRIES_MAX: usize = 100;
/// How many times the steps of the plain render a try may take.
const STEPS_TIMES: u64 = 4;

/// Tries of a chart with other values.
pub(super) struct Trials<'a> {
    subject: Subject<'a>,
    /// The sites of all refused calls, as far as they are known.
    sites: Option<BTreeSet<Site>>,
    left: usize,
    steps_max: u64,
}

impl<'a> Trials<'a> {
    /// None made yet. `plain` is the chart as it is, if there is a sketch of it.
    pub(super) fn new(subject: Subject<'a>, plain: Option<&Files>) -> Self {
        let sites = plain.map(|plain| plain.probed.iter().map(|call| call.site).collect());
        let left = plain.map_or(TRIES_MAX, |plain| affordable(plain.steps).min(TRIES_MAX));
        let steps_max = plain.map_or(u64::MAX, |plain| plain.steps.saturating_mul(STEPS_TIMES));
        Self { subject, sites, left, steps_max }
    }

    /// What makes some calls needless, in the order of the settings.
    pub(super) fn cures(&mut self, calls: &[&RefusedCall], settings: &[Setting]) -> Vec<String> {
        let mut options = self.subject.options.clone();
        options.limits.steps = options.limits.steps.min(self.steps_max);
        let mut found = Vec::new();
        for (setting, number) in settings.iter().zip(0..) {
            if found.len() == NAMED_MAX || (number >= TRIES_ENOUGH && !found.is_empty()) {
                break;
            }
            if let Some(values) = setting.apply(self.subject.values)
                && self.helps(Subject { values: &values, options: &options, ..self.subject }, calls)
            {
                found.push(setting.to_string());
            }
        }
        if found.is_empty() && !options.skip_tests {
            let options = Options { skip_tests: true, ..options };
            if self.helps(Subject { options: &options, ..self.subject }, calls) {
                found.push("skip its tests (`skipTests`, `--skip-tests`)".to_owned());
            }
        }
        found
    }

    /// Whether a chart renders that way, and prints nothing that comes from the calls.
    ///
    /// Nor from calls that were not met before: what only lets another one take its place is not a cure.
    fn helps(&mut self, subject: Subject<'_>, calls: &[&RefusedCall]) -> bool {
        if self.left == 0 || subject.options.stop.is_set() {
            return false;
        }
        self.left -= 1;
        let Ok(plain) = subject.sketch(FIRST) else { return false };
        let is_new = |site: &Site| self.sites.as_ref().is_some_and(|sites| !sites.contains(site));
        let is_meant = |call: &&RefusedCall| calls.iter().any(|other| other.site == call.site) || is_new(&call.site);
        let met: Vec<&RefusedCall> = plain.probed.iter().filter(is_meant).collect();
        (met.is_empty() || !subject.depends_on(&met, &plain)) && subject.text(&plain.rendered).is_ok()
    }
}
