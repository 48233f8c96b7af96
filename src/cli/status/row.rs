//! How a branch is, in words.

use dry_files::diag::{printable, shell_word};

use crate::argo::ref_of;
use crate::history::{BranchState, BranchStatus, Followed, Promotion, Restorable};

/// How a branch of hydration is, beside its dry branch.
pub(in crate::cli) fn state(status: &BranchStatus, is_of_platform: bool) -> String {
    match status.behind {
        _ if status.is_left => format!("{} is not a dry branch any more", printable(&status.dry_branch)),
        _ if status.has_leftovers() => "left as it is: no Application names it any more".to_owned(),
        Some(0) if status.is_given_up() && status.is_current() => {
            "up to date: no Application names it any more".to_owned()
        }
        _ if status.recorded_tip.is_some() => {
            let recorded = status.recorded_tip.as_deref().map(short).unwrap_or_default();
            format!(
                "moved back to {}, or hydration was killed before it moved on: it is recorded at {recorded}",
                short(&status.tip)
            )
        }
        Some(_) if status.follows.is_some() && status.state == BranchState::Hydrated => followed(status),
        Some(0) if fails_again(status) => "hydrated with earlier settings".to_owned(),
        Some(0) if status.tools.is_some() => "hydrated with other tools".to_owned(),
        Some(0) => UP_TO_DATE.to_owned() + &exceptions(status),
        Some(1) => "1 dry commit behind".to_owned(),
        Some(count) => format!("{count} dry commits behind"),
        None if status.state == BranchState::Missing => missing(status, is_of_platform),
        None if status.state == BranchState::NotMade => "not made yet".to_owned(),
        None if status.dry_tip.is_none() => "its dry branch does not exist".to_owned(),
        None if status.dry_sha.is_none() => "nothing is hydrated from it yet".to_owned(),
        None => "its dry branch was rewound".to_owned(),
    }
}

/// How a branch is whose Applications follow a tag, a range or a commit.
fn followed(status: &BranchStatus) -> String {
    let Some(follows) = &status.follows else { return String::new() };
    if follows.problem.is_some() {
        return format!("stays: {} leads to nothing now", printable(&follows.revision));
    }
    match &follows.ahead {
        Some(ahead) if follows.shown.as_ref() == Some(&ahead.resolved) => {
            format!("behind: {} is at {} now", ahead.resolved, short(&ahead.dry_sha))
        }
        Some(ahead) if follows.shown.is_none() => format!("behind: {} is not hydrated yet", ahead.resolved),
        Some(ahead) => format!("behind: {} is there", ahead.resolved),
        None if fails_again(status) => "hydrated with earlier settings".to_owned(),
        None if status.tools.is_some() => "hydrated with other tools".to_owned(),
        None if status.behind == Some(0) => {
            UP_TO_DATE.to_owned() + &exceptions(status) + &not_followed(status, follows)
        }
        None => "behind: its Applications changed".to_owned(),
    }
}

/// `, main is 2 dry commits ahead, v1.5.0 is newer`: what there is that the branch does not follow.
fn not_followed(status: &BranchStatus, follows: &Followed) -> String {
    let dry = match follows.dry_commits_ahead {
        None | Some(0) => String::new(),
        Some(1) => format!(", {} is 1 dry commit ahead", status.dry_branch),
        Some(count) => format!(", {} is {count} dry commits ahead", status.dry_branch),
    };
    let tag = follows.newer_tag.as_ref().map(|tag| format!(", {tag} is newer"));
    printable(&(dry + &tag.unwrap_or_default()))
}

/// What a branch is that shows the tip of its dry branch.
pub(in crate::cli) const UP_TO_DATE: &str = "up to date";

/// ` but for 2 of 30 Applications`, each of which is listed below.
fn exceptions(status: &BranchStatus) -> String {
    let (behind, all) = (status.paths_behind.len(), status.applications);
    match behind {
        0 => String::new(),
        _ if behind > all => format!(" but for {behind} paths"),
        _ => format!(" but for {behind} of {all} Application{}", if all == 1 { "" } else { "s" }),
    }
}

/// That a branch is missing, what was there, and what brings it back.
fn missing(status: &BranchStatus, is_of_platform: bool) -> String {
    let name = shell_word(&ref_of(&status.branch));
    let again = match is_of_platform {
        true => format!(" && git hydrate tell --again {}", shell_word(&status.branch)),
        false => String::new(),
    };
    let (was, command) = match &status.restorable {
        Some(Restorable { tip, is_start: true, .. }) => {
            return format!(
                "missing: push the commit that was deployed from a clone; if nothing was promoted yet, on the server: git \
                 update-ref {name} {tip}{again}"
            );
        }
        Some(Restorable { tip, is_start: false, is_promoted }) => {
            (format!(": {}", left_at(short(tip), *is_promoted)), format!("git update-ref {name} {tip}{again}"))
        }
        None => (String::new(), "git hydrate catch-up".to_owned()),
    };
    match status.is_named || status.dry_tip.is_none() {
        true => format!("missing{was}; to restore it, on the server: {command}"),
        false => format!(
            "missing{was}, and no Application names it: git hydrate catch-up on the server forgets it; to restore it: {command}"
        ),
    }
}

/// Where a branch was that is gone: what a promoter writes is known as of the last push.
fn left_at(tip: &str, is_promoted: bool) -> String {
    match is_promoted {
        true => format!("when a push last came in it ended with {tip}"),
        false => format!("hydration left it at {tip}"),
    }
}

/// What was promoted to a sync branch.
pub(in crate::cli) fn promoted(status: &BranchStatus) -> String {
    let restored = |staging: &Promotion| staging.restored_to.as_deref().map(|to| format!("restored to {}", short(to)));
    let names: Vec<String> = match &status.promoted_from[..] {
        [one] => vec![one.branch.clone()],
        several => several.iter().map(|one| one.branch.clone() + &in_brackets(restored(one))).collect(),
    };
    let from = names.join(", ");
    match &status.promoted_from[..] {
        [one] if one.restored_to.is_some() => {
            format!("{} of before; {from} waits{}", restored(one).unwrap_or_default(), ahead(one.ahead))
        }
        [] if status.dry_sha.is_none() => "nothing is promoted to it yet".to_owned(),
        [] => "written by a promoter".to_owned(),
        _ if status.dry_sha.is_none() && status.is_empty => format!("nothing is promoted from {from} yet"),
        _ if status.dry_sha.is_none() => format!("not as it was promoted from {from}"),
        [one] => format!("promoted from {from}{}", ahead(one.ahead)),
        _ => format!("promoted from {from}"),
    }
}

/// `, which is 2 dry commits ahead`; nothing where it is not ahead.
fn ahead(count: Option<usize>) -> String {
    match count {
        None | Some(0) => String::new(),
        Some(1) => ", which is 1 dry commit ahead".to_owned(),
        Some(count) => format!(", which is {count} dry commits ahead"),
    }
}

fn in_brackets(what: Option<String>) -> String {
    what.map_or_else(String::new, |what| format!(" ({what})"))
}

/// Whether the dry commit that a branch shows failed when the settings changed.
fn fails_again(status: &BranchStatus) -> bool {
    let failed = |dry_sha: &str| status.dry_sha.as_deref() == Some(dry_sha);
    status.paths_behind.is_empty() && status.failures.iter().any(|failure| failed(&failure.dry_sha))
}

/// The beginning of an id.
pub(super) fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}
