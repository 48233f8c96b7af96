//! Pushing: each ref only if it is still what was fetched, and all of a push or none where the remote can do that.

use std::process::Output;

use super::copy::Copy;
use super::moves::RefMove;
use super::{Error, Orders, TRIES_WITHOUT_RACE};
use crate::repo::{self, Expected, Location, RefEdit, Refs, Repository, update_refs};
use dry_files::diag::printable;

/// What git says where a remote cannot move several refs at once.
///
/// Reference: git 2.47 send-pack.c `send_pack`.
pub(in crate::tell) const NOT_ATOMIC: &str = "does not support --atomic push";

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

/// Pushes what moved. Answers what was not taken.
///
/// Errors: git cannot be run.
pub(super) fn deliver(copy: &Copy, orders: &Orders, moves: &[RefMove]) -> Result<Option<Refused>, Error> {
    let mut output = push(copy, orders, moves, true)?;
    if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains(NOT_ATOMIC) {
        // A branch shows what is hydrated; the rest of a push that ends half way is made up for.
        let (branches, kept): (Vec<RefMove>, Vec<RefMove>) = moves.iter().cloned().partition(RefMove::is_branch);
        output = push(copy, orders, if branches.is_empty() { &kept } else { &branches }, false)?;
        if output.status.success() && !branches.is_empty() && !kept.is_empty() {
            output = push(copy, orders, &kept, false)?;
        }
    }
    Ok((!output.status.success()).then(|| Refused { moves: moves.to_vec(), why: complaint(&output) }))
}

/// Where the refs of a push are meanwhile, in the clone: a pattern names them at the remote, since git guesses what is meant by
/// the full name of one ([`repo::taken_for`]).
const PUSHED: &str = "refs/hydrate-pushing/";

fn push(copy: &Copy, orders: &Orders, moves: &[RefMove], is_atomic: bool) -> Result<Output, repo::Error> {
    let clone = Repository::open(copy.repository.git_dir(), Location::Hook)?;
    put(&clone, &[])?;
    put(&clone, moves)?;
    let output = push_put(copy, orders, moves, is_atomic);
    put(&clone, &[])?;
    output
}

/// Has each ref that is to be pushed, and no other, be below [`PUSHED`].
fn put(clone: &Repository, moves: &[RefMove]) -> Result<(), repo::Error> {
    let refs = clone.refs()?;
    let gone = |(name, id)| RefEdit { name: format!("{PUSHED}{name}"), new: None, expected: Expected::Is(id) };
    let mut edits: Vec<RefEdit> = refs.below(PUSHED).map(gone).collect();
    edits.extend(moves.iter().map(|it| {
        let name = format!("{PUSHED}{}", it.name.strip_prefix("refs/").unwrap_or(&it.name));
        RefEdit { name, new: Some(it.new), expected: Expected::Absent }
    }));
    if edits.is_empty() {
        return Ok(());
    }
    update_refs(clone, &edits, "hydrate: push").map_err(|error| repo::Error::new("naming what is to be pushed", error))
}

/// Pushes what was put, each ref only from what it is expected to be there.
fn push_put(copy: &Copy, orders: &Orders, moves: &[RefMove], is_atomic: bool) -> Result<Output, repo::Error> {
    let mut command = copy.repository.git().command();
    command.args(["push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]);
    command.args(is_atomic.then_some("--atomic"));
    command.args(orders.push_options.iter().map(|option| format!("--push-option={option}")));
    for RefMove { name, old, .. } in moves {
        let old = old.map(|old| old.to_string()).unwrap_or_default();
        command.arg(format!("--force-with-lease={name}:{old}"));
    }
    command.arg("--").arg(&copy.remote).arg(format!("{PUSHED}*:refs/*"));
    command.output().map_err(|error| repo::Error::new("starting git", error))
}

/// What git says: of each ref that was not taken, then what the remote said.
pub(in crate::tell) fn complaint(output: &Output) -> String {
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
