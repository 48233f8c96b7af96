use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::diag::{Diagnostic, printable, shown};
use crate::hydrate::{BranchReport, Outcome, Report};
use crate::path::RepoPath;

/// How many diagnostics and removed paths are shown in full; the rest is counted.
const SHOWN_MAX: usize = 20;

/// How many Applications are named with a mistake that they share.
const NAMES_MAX: usize = 4;

/// How commit ids are cut for people.
const SHORT: usize = 7;

/// What the reader of a summary can do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// The pusher, to whom git shows it behind `remote: `.
    Pusher,
    /// Somebody at a terminal.
    Terminal,
}

/// The summary of a run: a line an environment branch, then what is wrong, each mistake once.
pub fn summary(report: &Report, wording: Wording) -> String {
    let mut text = String::new();
    let width = report.branches.iter().map(|branch| branch.branch.len()).max().unwrap_or_default();
    for branch in &report.branches {
        let _ = writeln!(text, "{:width$}  {}", printable(&branch.branch), outcome(branch));
        for skipped in &branch.skipped {
            let current = matches!(&branch.outcome, Outcome::Failed { dry_sha, .. } if *dry_sha == skipped.dry_sha);
            if !current {
                let message = shown(&skipped.message);
                let _ = writeln!(text, "  {} skipped: {message}", short(&skipped.dry_sha));
            }
        }
        removed(branch, &mut text);
    }
    let failed = report.branches.iter().filter_map(|branch| match &branch.outcome {
        Outcome::Failed { diagnostics, .. } => Some(diagnostics),
        Outcome::Moved | Outcome::Unchanged => None,
    });
    text.push_str(&diagnostics(failed.flatten().chain(&report.problems).chain(&report.warnings)));
    if report.unfinished {
        let _ =
            writeln!(text, "hint: older commits are still being hydrated; `git hydrate status` shows how far it is");
    }
    let moved = report.branches.iter().any(|branch| branch.outcome == Outcome::Moved);
    if moved && wording == Wording::Pusher {
        let _ = writeln!(text, "hint: run `git fetch` to see the new commits");
    }
    text
}

/// What is wrong or odd, each once, errors first; beyond a screen or two the rest is counted.
pub fn diagnostics<'a>(all: impl Iterator<Item = &'a Diagnostic>) -> String {
    let mut text = String::new();
    let found = merged(all);
    for diagnostic in found.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "{diagnostic}");
    }
    if found.len() > SHOWN_MAX {
        let _ = writeln!(text, "… and {} more: `git hydrate status` has them all", found.len() - SHOWN_MAX);
    }
    text
}

/// Each mistake once, with all the Applications that failed by it; errors first.
pub(super) fn merged<'a>(all: impl Iterator<Item = &'a Diagnostic>) -> Vec<Diagnostic> {
    let mut found: Vec<(Diagnostic, Vec<String>)> = Vec::new();
    for diagnostic in all {
        let alone = Diagnostic { application: None, ..diagnostic.clone() };
        let index = found.iter().position(|(known, _)| *known == alone).unwrap_or_else(|| {
            found.push((alone, Vec::new()));
            found.len() - 1
        });
        let applications = &mut found[index].1;
        applications.extend(diagnostic.application.clone().filter(|name| !applications.contains(name)));
    }
    let with_applications = |(diagnostic, applications): (Diagnostic, Vec<String>)| match &applications[..] {
        [] => diagnostic,
        names if names.len() <= NAMES_MAX => diagnostic.of(names.join(", ")),
        names => diagnostic.of(format!("{} and {} more", names[..NAMES_MAX].join(", "), names.len() - NAMES_MAX)),
    };
    let mut merged: Vec<Diagnostic> = found.into_iter().map(with_applications).collect();
    merged.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
    merged
}

fn outcome(branch: &BranchReport) -> String {
    let dry = short(&branch.dry_sha);
    match &branch.outcome {
        Outcome::Moved => {
            let old = branch.old.as_deref().map_or("new", short);
            let new = branch.new.as_deref().map_or("", short);
            let changed = branch.commits.iter().flat_map(|commit| &commit.changed).collect::<BTreeSet<_>>().len();
            let removed: usize = branch.commits.iter().map(|commit| commit.removed.len()).sum();
            let commits = match branch.commits.len() {
                0 | 1 => String::new(),
                count => format!(" in {count} commits"),
            };
            let removed = if removed == 0 { String::new() } else { format!(", {removed} removed") };
            format!("{old} -> {new}  {changed} of {} manifests changed{removed}{commits}", branch.applications)
        }
        Outcome::Unchanged => format!("unchanged by {dry}"),
        Outcome::Failed { dry_sha, recorded, .. } => {
            let kept =
                branch.new.as_deref().map_or_else(|| "not made".to_owned(), |tip| format!("stays at {}", short(tip)));
            let before = if *recorded { ", as before" } else { "" };
            format!("{kept}: {} failed{before}", short(dry_sha))
        }
    }
}

fn removed(branch: &BranchReport, text: &mut String) {
    let removed: Vec<&RepoPath> = branch.commits.iter().flat_map(|commit| &commit.removed).collect();
    for path in removed.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "  removed {}", shown(path.as_str()));
    }
    if removed.len() > SHOWN_MAX {
        let _ = writeln!(text, "  … and {} more", removed.len() - SHOWN_MAX);
    }
}

pub(super) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_that_many_share_is_told_once() {
        let mistakes: Vec<Diagnostic> =
            (0..6).map(|n| Diagnostic::error("no such file").of(format!("app-{n}"))).collect();
        let warning = Diagnostic::warning("odd");
        let merged = merged([&warning].into_iter().chain(&mistakes).chain([&mistakes[0]]));
        let text: Vec<String> = merged.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            ["error: no such file\n  = application: app-0, app-1, app-2, app-3 and 2 more", "warning: odd"]
        );
    }
}
