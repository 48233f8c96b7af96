//! The report of a run, as text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::causes::causes;
use crate::argo::ref_of;
use crate::hydrate::{Aside, BranchReport, Outcome, Report, Skipped};
use dry_files::diag::more::{line_of_more, listed};
use dry_files::diag::{Diagnostic, one_line, printable, shell_word, shown};
use dry_files::path::RepoPath;

/// How many branches that do not change are named; the rest is counted.
const UNCHANGED_MAX: usize = 8;

/// How many diagnostics, and of a branch how many removed paths and skipped commits, are shown; the rest is counted.
const SHOWN_MAX: usize = 20;

/// How many objects of a branch that are gone are named; the rest is counted.
pub(crate) const GONE_MAX: usize = 10;

/// How many environment branches are shown; the rest is counted.
const BRANCHES_MAX: usize = 100;

/// After how many bytes no further branch or diagnostic is shown.
const BYTES_MAX: usize = 16 << 10;

/// How commit ids are cut for people.
const SHORT: usize = 7;

/// What the reader of a summary can do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// The pusher, to whom git shows it behind `remote: `.
    Pusher,
    /// Somebody at a terminal.
    Terminal,
}

/// The summary of a run: a line an environment branch, and one for all that did not change, then what is wrong, each mistake
/// once. Of very many branches those that failed come first.
pub(crate) fn summary(report: &Report, wording: Wording) -> String {
    let mut text = String::new();
    let is_same = |branch: &&BranchReport| {
        let is_plain = branch.skipped.is_empty() && branch.behind.is_empty() && branch.aside.is_none();
        let is_plain = is_plain && branch.revision.is_none();
        branch.outcome == Outcome::Unchanged && is_plain
    };
    // A run that has nothing else to say repeats what an earlier one said.
    let repeats = report.branches.iter().all(BranchReport::is_unnamed);
    let is_shown = |branch: &&BranchReport| repeats || !branch.is_unnamed();
    let (mut same, mut branches): (Vec<&BranchReport>, Vec<_>) =
        report.branches.iter().filter(is_shown).partition(is_same);
    if same.len() == 1 {
        same.clear();
        branches = report.branches.iter().filter(is_shown).collect();
    }
    if branches.len() > BRANCHES_MAX {
        branches.sort_by_key(|branch| !matches!(branch.outcome, Outcome::Failed { .. }));
    }
    let width = branches.iter().take(BRANCHES_MAX).map(|branch| branch.branch.len()).max().unwrap_or_default();
    for (index, branch) in branches.iter().enumerate() {
        if index == BRANCHES_MAX || text.len() > BYTES_MAX {
            let more = line_of_more(branches.len(), index, " branches: `git hydrate status` shows them all");
            let _ = writeln!(text, "{}", more.unwrap_or_default());
            break;
        }
        let _ = writeln!(text, "{:width$}  {}", printable(&branch.branch), outcome(branch));
        behind(branch, &mut text);
        skipped(branch, &mut text);
        removed(branch, &mut text);
        gone(branch, &mut text);
        renamed(branch, &mut text);
        given_up(branch, &mut text);
    }
    unchanged(&same, &mut text);
    let failed = report.branches.iter().filter(is_shown).flat_map(|branch| failures(&branch.outcome));
    let left = report.branches.iter().flat_map(|branch| &branch.mistakes);
    text.push_str(&diagnostics(failed.chain(left).chain(&report.problems).chain(&report.warnings)));
    for note in &report.notes {
        let _ = writeln!(text, "note: {}", shown(note));
    }
    if report.unfinished {
        let _ = writeln!(text, "hint: older commits are still being hydrated; `git hydrate status` shows the progress");
    }
    let is_moved = |branch: &BranchReport| branch.outcome == Outcome::Moved || !branch.commits.is_empty();
    if report.branches.iter().any(is_moved) && wording == Wording::Pusher {
        let _ = writeln!(text, "hint: run `git fetch` to see the new commits");
    }
    text
}

/// By what a branch failed.
fn failures(outcome: &Outcome) -> &[Diagnostic] {
    match outcome {
        Outcome::Failed { diagnostics, .. } => diagnostics,
        Outcome::Moved | Outcome::Unchanged | Outcome::Frozen(_) => &[],
    }
}

/// What is wrong or odd, each once, errors first; beyond a screen or two the rest is counted.
pub(crate) fn diagnostics<'a>(all: impl Iterator<Item = &'a Diagnostic>) -> String {
    let mut text = String::new();
    let found = causes(all);
    for (index, cause) in found.iter().enumerate() {
        if index == SHOWN_MAX || text.len() > BYTES_MAX {
            let more = line_of_more(found.len(), index, ": `git hydrate check` in a clone shows them all");
            let _ = writeln!(text, "{}", more.unwrap_or_default());
            break;
        }
        let _ = writeln!(text, "{cause}");
    }
    text
}

/// A line for all branches that their dry commit does not change.
fn unchanged(same: &[&BranchReport], text: &mut String) {
    for (index, branch) in same.iter().enumerate() {
        if same[..index].iter().any(|before| before.dry_sha == branch.dry_sha) {
            continue;
        }
        let of_commit = same.iter().filter(|other| other.dry_sha == branch.dry_sha);
        let names: Vec<_> = of_commit.map(|branch| printable(&branch.branch)).collect();
        let _ = writeln!(text, "unchanged by {}: {}", short(&branch.dry_sha), listed(&names, UNCHANGED_MAX));
    }
}

fn outcome(branch: &BranchReport) -> String {
    let dry = short(&branch.dry_sha);
    match &branch.aside {
        None => own_outcome(branch),
        Some(Aside::ByAnotherPush) => format!("{}, by another push", own_outcome(branch)),
        Some(Aside::PassedBy(later)) => format!("{dry} failed; hydrated from {}, which came later", short(later)),
        Some(Aside::ContainedIn(later)) => format!("hydrated from {}, which contains {dry}", short(later)),
        Some(Aside::Replaced(other)) => {
            format!("{}: {} went on to {}, without {dry}", stays(branch), printable(&branch.dry_branch), short(other))
        }
        Some(Aside::Waiting) => format!("{}, not hydrated from {dry} yet", stays(branch)),
    }
}

fn own_outcome(branch: &BranchReport) -> String {
    let dry = short(&branch.dry_sha);
    let tag = branch.revision.as_ref().map(|named| format!(", {}", printable(&named.to_string())));
    match &branch.outcome {
        Outcome::Moved => moved(branch) + &tag.unwrap_or_default(),
        Outcome::Unchanged => match &branch.revision {
            Some(named) => format!("unchanged by {}", printable(&named.to_string())),
            None => format!("unchanged by {dry}"),
        },
        Outcome::Frozen(frozen) => {
            let where_it_is = if branch.commits.is_empty() { stays(branch) } else { moved(branch) };
            format!("{where_it_is}, {}", shown(&frozen.to_string()))
        }
        Outcome::Failed { dry_sha, recorded, .. } => {
            // The commits before the one that failed may have moved it.
            let kept = match branch.commits.is_empty() {
                true => stays(branch),
                false => format!("{}, and stays there", moved(branch)),
            };
            let before = if *recorded { ", as before" } else { "" };
            format!("{kept}: {} failed{before}", short(dry_sha))
        }
    }
}

/// `1a2b3c4 -> 5d6e7f8  1 of 2 manifests changed: 1 object changed`
fn moved(branch: &BranchReport) -> String {
    let old = branch.old.as_deref().map_or("new", short);
    let new = branch.new.as_deref().map_or("", short);
    let changed = branch.commits.iter().flat_map(|commit| &commit.changed).collect::<BTreeSet<_>>().len();
    let removed = match removed_paths(branch).len() {
        0 => String::new(),
        removed => format!(", {removed} removed"),
    };
    let commits = match branch.commits.len() {
        0 | 1 => String::new(),
        count => format!(" in {count} commits"),
    };
    let objects = match &branch.objects {
        Some(objects) if !objects.counts.is_zero() => format!(": {}", objects.counts),
        _ => String::new(),
    };
    // Those that changed before the last commit may be gone after it.
    let of = match branch.applications {
        count if count < changed => String::new(),
        count => format!(" of {count}"),
    };
    format!("{old} -> {new}  {changed}{of} manifests changed{removed}{commits}{objects}")
}

/// The paths that are gone after the last commit.
fn removed_paths(branch: &BranchReport) -> BTreeSet<&RepoPath> {
    let mut gone = BTreeSet::new();
    for commit in &branch.commits {
        for path in &commit.changed {
            gone.remove(path);
        }
        gone.extend(&commit.removed);
    }
    gone
}

fn stays(branch: &BranchReport) -> String {
    branch.new.as_deref().map_or_else(|| "not made".to_owned(), |tip| format!("stays at {}", short(tip)))
}

/// That the last Application of a branch left it, and how it is deleted.
fn given_up(branch: &BranchReport, text: &mut String) {
    if branch.outcome == Outcome::Moved && branch.applications == 0 && !removed_paths(branch).is_empty() {
        let name = shell_word(&ref_of(&branch.branch));
        let _ = writeln!(
            text,
            "  no Application names it any more; to delete it, if nothing deploys it, on the server: git update-ref -d {name}"
        );
    }
}

/// A line for each path that stays at an earlier dry commit.
fn behind(branch: &BranchReport, text: &mut String) {
    for behind in branch.behind.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "  {}", shown(&behind.to_string()));
    }
    more(branch.behind.len(), text);
}

fn skipped(branch: &BranchReport, text: &mut String) {
    let is_current = |dry: &str| matches!(&branch.outcome, Outcome::Failed { dry_sha, .. } if dry_sha == dry);
    let mut skipped: Vec<(Vec<&str>, &str)> = Vec::new();
    for Skipped { dry_sha, message } in branch.skipped.iter().filter(|skipped| !is_current(&skipped.dry_sha)) {
        match skipped.iter_mut().find(|(_, known)| known == message) {
            Some((commits, _)) => commits.push(dry_sha),
            None => skipped.push((vec![dry_sha], message)),
        }
    }
    for (commits, message) in skipped.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "  {} skipped: {}", counted(commits), shown(&one_line(message)));
    }
    more(skipped.len(), text);
}

/// A commit by its id, and many by their number.
pub(crate) fn counted(commits: &[&str]) -> String {
    match commits {
        [only] => short(only).to_owned(),
        [first, .., last] => format!("{} commits from {} to {}", commits.len(), short(first), short(last)),
        [] => "no commit".to_owned(),
    }
}

fn removed(branch: &BranchReport, text: &mut String) {
    let removed = removed_paths(branch);
    for path in removed.iter().take(SHOWN_MAX) {
        let objects = branch.objects.as_ref().and_then(|objects| objects.paths.get(*path));
        let objects = match objects.map_or(0, |counts| counts.removed) {
            0 => "",
            1 => " with 1 object",
            count => &format!(" with {count} objects"),
        };
        let _ = writeln!(text, "  removed {}{objects}", shown(path.as_str()));
    }
    more(removed.len(), text);
}

/// A line for each object that is not there any more under its name, and how to see them all.
fn gone(branch: &BranchReport, text: &mut String) {
    let Some(objects) = &branch.objects else { return };
    for object in objects.gone.iter().take(GONE_MAX) {
        let _ = writeln!(text, "  {}", shown(&object.to_string()));
    }
    let command = format_args!(": git hydrate log -p {}", shell_word(&branch.branch)).to_string();
    if let Some(more) = line_of_more(objects.gone_count(), GONE_MAX, shown(&command)) {
        let _ = writeln!(text, "  {more}");
    }
}

/// A line for each Application that has another name than before.
fn renamed(branch: &BranchReport, text: &mut String) {
    let renamed = branch.objects.iter().flat_map(|objects| &objects.applications);
    for one in renamed.clone().take(SHOWN_MAX) {
        let _ = writeln!(text, "  {}", shown(&one.to_string()));
    }
    more(renamed.count(), text);
}

/// Counts what was left out of `count`.
fn more(count: usize, text: &mut String) {
    if let Some(more) = line_of_more(count, SHOWN_MAX, "") {
        let _ = writeln!(text, "  {more}");
    }
}

pub(super) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_branches_some_are_shown_and_those_that_failed_first() {
        let branch = |number: usize| {
            let failed = Outcome::Failed {
                dry_sha: "1".repeat(40),
                diagnostics: vec![Diagnostic::error(format!("mistake {number} {}", "x".repeat(1_000)))],
                recorded: false,
                unnamed: false,
            };
            BranchReport {
                branch: format!("environments/e{number:03}"),
                dry_branch: "main".to_owned(),
                dry_sha: "1".repeat(40),
                revision: None,
                old: None,
                new: None,
                applications: 1,
                commits: Vec::new(),
                objects: None,
                skipped: Vec::new(),
                behind: Vec::new(),
                mistakes: Vec::new(),
                aside: None,
                outcome: if number >= 280 { failed } else { Outcome::Moved },
            }
        };
        let report = Report { branches: (0..300).map(branch).collect(), ..Report::default() };
        let text = summary(&report, Wording::Terminal);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "environments/e280  not made: 1111111 failed");
        assert_eq!(lines[20], "environments/e000  new ->   0 of 1 manifests changed");
        assert_eq!(lines[100], "… and 200 more branches: `git hydrate status` shows them all");
        assert!(lines[101].starts_with("error: mistake 280 xxx"), "{}", lines[101]);
        assert_eq!(lines.last(), Some(&"… and 3 more: `git hydrate check` in a clone shows them all"));
    }
}
