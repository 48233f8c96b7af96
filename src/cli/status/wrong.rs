//! What is wrong, below the branches: the newest state of each, and each cause once.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};

use super::row::short;
use crate::history::BranchStatus;
use crate::show::{Cause, Paint, Style, causes, counted};
use dry_files::diag::{Diagnostic, printable};

/// How many causes are shown unless all are asked for.
const SHOWN_MAX: usize = 20;

/// What was shown so far.
pub(super) struct Wrong {
    /// The causes, with the branch that each is shown under.
    shown: HashMap<Diagnostic, String>,
    count: usize,
    shown_max: usize,
    /// The settings of this clone, where they are not pushed: what is recorded was judged by others.
    unpushed: Option<String>,
}

impl Wrong {
    /// Nothing yet; up to all causes, or so many that they can be read. `unpushed` are the settings of this clone that are not pushed.
    pub(super) fn new(is_all: bool, unpushed: Option<String>) -> Self {
        Self { shown: HashMap::new(), count: 0, shown_max: if is_all { usize::MAX } else { SHOWN_MAX }, unpushed }
    }

    /// The dry commits of a branch that failed as its newest one did, and why. Causes of branches above are not repeated.
    pub(super) fn of_branch(&mut self, status: &BranchStatus, paint: Paint) -> String {
        let Some(newest) = status.failures.last() else { return String::new() };
        let alike = status.failures.iter().filter(|failure| failure.diagnostics == newest.diagnostics);
        let commits: Vec<&str> = alike.map(|failure| failure.dry_sha.as_str()).collect();
        let (mut known, mut text) = (HashMap::<String, usize>::new(), String::new());
        let mut is_new = false;
        for cause in causes(newest.diagnostics.iter()) {
            match self.shown.get(&cause.kind()) {
                Some(branch) if *branch != status.branch => *known.entry(branch.clone()).or_default() += 1,
                _ => {
                    is_new = true;
                    self.show(&cause, &status.branch, "  ", &mut text);
                }
            }
        }
        let mut known: Vec<(String, usize)> = known.into_iter().collect();
        known.sort();
        let branches: Vec<String> = known.iter().map(|(branch, _)| printable(branch)).collect();
        let failed = match &commits[..] {
            [only] => format!("dry commit {} failed", short(only)),
            several => format!("{} failed", counted(several).replacen("commits", "dry commits", 1)),
        };
        let failed = match is_new || branches.is_empty() {
            true => failed,
            false => format!("{failed}, as {} did", branches.join(" and ")),
        };
        let is_of_server = self.unpushed.is_some() && newest.settings != self.unpushed;
        let by = if is_of_server { " by the settings of the server; those of this clone are not pushed" } else { "" };
        let failed = failed + by;
        for (branch, count) in known.iter().filter(|_| is_new) {
            let _ = writeln!(text, "  … and {count} more that {} has too", printable(branch));
        }
        format!("  {}\n{text}", paint.by(Style::Error, &failed))
    }

    /// The limits of this machine that keep a branch back.
    pub(super) fn of_limits(&mut self, status: &BranchStatus, paint: Paint) -> String {
        if status.limits.is_empty() {
            return String::new();
        }
        let mut text = format!("  {}\n", paint.by(Style::Error, "held on this server"));
        for cause in causes(status.limits.iter()) {
            if !self.shown.contains_key(&cause.kind()) {
                self.show(&cause, &status.branch, "  ", &mut text);
            }
        }
        text
    }

    /// What is wrong and is not about one branch.
    pub(super) fn of_none(&mut self, problems: &[Diagnostic]) -> String {
        let mut text = String::new();
        for cause in causes(problems.iter()) {
            if !self.shown.contains_key(&cause.kind()) {
                self.show(&cause, "", "", &mut text);
            }
        }
        text
    }

    /// How many were left out.
    pub(super) fn rest(&self) -> String {
        match self.count.checked_sub(self.shown_max) {
            None | Some(0) => String::new(),
            Some(more) => format!("… and {more} more: git hydrate status --all\n"),
        }
    }

    fn show(&mut self, cause: &Cause, branch: &str, indent: &str, text: &mut String) {
        self.shown.insert(cause.kind(), branch.to_owned());
        self.count += 1;
        if self.count <= self.shown_max {
            indented(cause, indent, text);
        }
    }
}

fn indented(what: &impl Display, indent: &str, text: &mut String) {
    for line in what.to_string().lines() {
        let _ = writeln!(text, "{indent}{line}");
    }
}
