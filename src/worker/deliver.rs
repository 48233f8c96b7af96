//! Pushing: each ref only if it is still what was fetched, and all of a push or none where the remote can do that.

use std::process::{Command, Output};

use dry_files::diag::printable;

use super::copy::Copy;
use super::moves::{RefMove, in_pushes};
use super::{Error, Orders, TRIES_WITHOUT_RACE};
use crate::git::{self, Refs};

/// What git says where a remote cannot move several refs at once.
///
/// Reference: git 2.47 send-pack.c `send_pack`.
pub(super) const NOT_ATOMIC: &str = "does not support --atomic push";

/// How many lines of what git says of a push that failed are shown.
const COMPLAINT_LINES_MAX: usize = 20;

/// A push that was not taken.
pub(super) struct Refused {
    moves: Vec<RefMove>,
    /// What git says of it.
    pub why: String,
}

impl Refused {
    /// Whether somebody else moved one of the refs, as the remote is now.
    pub(super) fn is_outdated(&self, there: &Refs) -> bool {
        self.moves.iter().any(|it| there.get(&it.name) != it.old)
    }

    /// How often the same may fail again with nothing moved: a hook or a rule that says no will say it again, but what a
    /// server of ours refuses it may be hydrating itself.
    pub(super) fn patience(&self) -> u32 {
        if self.why.contains("declined") { 1 } else { TRIES_WITHOUT_RACE }
    }
}

/// Pushes, in as many pushes as were asked for. Answers which was not taken; those before it were.
///
/// Errors: git cannot be run.
pub(super) fn deliver(copy: &Copy, orders: &Orders, moves: &[RefMove]) -> Result<Option<Refused>, Error> {
    let limits = (orders.refs_per_push, orders.commits_per_push);
    let mut is_atomic = true;
    for moves in in_pushes(moves, limits, &copy.repository)? {
        let mut output = push(copy, orders, &moves, is_atomic)?;
        if is_atomic && !output.status.success() && String::from_utf8_lossy(&output.stderr).contains(NOT_ATOMIC) {
            is_atomic = false;
            // A branch shows what is hydrated; the rest of a push that ends half way is made up for.
            let (branches, kept): (Vec<RefMove>, Vec<RefMove>) = moves.iter().cloned().partition(RefMove::is_branch);
            output = push(copy, orders, if branches.is_empty() { &kept } else { &branches }, is_atomic)?;
            if output.status.success() && !branches.is_empty() && !kept.is_empty() {
                output = push(copy, orders, &kept, is_atomic)?;
            }
        }
        if !output.status.success() {
            return Ok(Some(Refused { moves, why: complaint(&output) }));
        }
    }
    Ok(None)
}

fn push(copy: &Copy, orders: &Orders, moves: &[RefMove], is_atomic: bool) -> Result<Output, git::Error> {
    let mut command: Command = copy.repository.git().command();
    push_args(&mut command, &orders.push_options, moves, is_atomic, &copy.remote);
    command.output().map_err(|error| git::Error::new("starting git", error))
}

/// A push of these refs to `remote`, each only from what it is expected to be there.
pub(super) fn push_args(
    command: &mut Command,
    push_options: &[String],
    moves: &[RefMove],
    is_atomic: bool,
    remote: &str,
) {
    command.args(["push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]);
    if is_atomic {
        command.arg("--atomic");
    }
    command.args(push_options.iter().map(|option| format!("--push-option={option}")));
    for RefMove { name, old, .. } in moves {
        let old = old.map(|old| old.to_string()).unwrap_or_default();
        command.arg(format!("--force-with-lease={name}:{old}"));
    }
    command.arg("--").arg(remote);
    command.args(moves.iter().map(|RefMove { name, new, .. }| format!("{new}:{name}")));
}

/// What git says: of each ref that was not taken, then what the remote said.
pub(super) fn complaint(output: &Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let refs = stdout.lines().filter_map(|line| line.strip_prefix("!\t")).map(refused_ref);
    let words = stderr.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("hint:"));
    let lines = refs.chain(words.map(|line| format!("  {line}"))).map(|line| printable(&line).to_string());
    lines.take(COMPLAINT_LINES_MAX).collect::<Vec<_>>().join("\n")
}

/// A ref that was not taken, and why, of a line that git reports it in.
fn refused_ref(line: &str) -> String {
    let (refspec, reason) = line.split_once('\t').unwrap_or((line, ""));
    let name = refspec.split_once(':').map_or(refspec, |(_, name)| name);
    format!("  {name} {reason}")
}
