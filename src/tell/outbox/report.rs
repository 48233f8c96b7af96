//! What came of a delivery, and in which words.

use dry_files::diag::more::listed;
use dry_files::diag::printable;
use serde::Serialize;

/// What became of one destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    /// Its name.
    pub destination: String,
    /// Its URL, as the settings have it.
    pub url: String,
    /// The branches that were pushed, by their names there.
    pub delivered: Vec<String>,
    /// The branches that are not there as they were hydrated, and why.
    pub undelivered: Vec<Undelivered>,
}

/// Branches of a destination that were not pushed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Undelivered {
    /// Their names there.
    pub branches: Vec<String>,
    /// Why.
    pub why: Trouble,
    /// Why, in words.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

/// Why a branch was not pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trouble {
    /// The destination cannot be reached, or read.
    Away,
    /// It does not take the push.
    Refused,
    /// It has commits that hydration did not make.
    Diverged,
}

impl Trouble {
    /// It, in a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Trouble::Away => "away",
            Trouble::Refused => "refused",
            Trouble::Diverged => "diverged",
        }
    }
}

impl Delivery {
    /// Whether everything is there now.
    pub(crate) fn is_done(&self) -> bool {
        self.undelivered.is_empty()
    }

    /// What was pushed, in a line; or what would be.
    pub(crate) fn pushed(&self, is_rehearsal: bool) -> Option<String> {
        let what = if is_rehearsal { "would push to" } else { "pushed to" };
        let pushed = || format!("{what} `{}`: {}", self.destination, named(&self.delivered));
        (!self.delivered.is_empty()).then(pushed)
    }

    /// A warning for each reason why something was not pushed, and what to do.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = (String, &str)> {
        self.undelivered.iter().map(|undelivered| (self.warning(undelivered), undelivered.hint.as_str()))
    }

    fn warning(&self, Undelivered { branches, reason, .. }: &Undelivered) -> String {
        let text = format!("not pushed to `{}` ({}): {}: {reason}", self.destination, self.url, named(branches));
        printable(&text).to_string()
    }
}

/// Some branches by name.
fn named(branches: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    listed(branches, SHOWN_MAX)
}

/// Those with one reason together.
pub(super) fn merged(all: Vec<Undelivered>) -> Vec<Undelivered> {
    let mut merged: Vec<Undelivered> = Vec::new();
    for one in all {
        match merged.iter_mut().find(|known| (known.why, &known.reason) == (one.why, &one.reason)) {
            Some(known) => known.branches.extend(one.branches),
            None => merged.push(one),
        }
    }
    merged
}
