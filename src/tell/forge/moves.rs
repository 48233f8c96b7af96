//! What moved of the hydrated branches, in pieces by the dry commit that each comes of.

use crate::hydrate::{DryPoint, Report};
use crate::metadata::Trailers;
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::repo::{Error, ObjectBuffer, ObjectId, Refs, Repository, object_id};

/// How many commits of a branch are looked at: of more, one piece is made.
const COMMITS_MAX: usize = 1000;

/// A piece of the way of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The full name of the branch.
    pub name: String,
    /// The commit before; none where the branch begins.
    pub old: Option<ObjectId>,
    /// The commit after.
    pub new: ObjectId,
    /// The dry commit that it comes of, as far as its commits say so.
    pub dry: Option<DryPoint>,
    /// How many commits it has.
    pub commits: usize,
    /// Whether an earlier run made it.
    pub is_earlier: bool,
}

/// The pieces that the platform is to be notified of and that are not in the queue, in order.
///
/// `before` are the refs from before this run, of which `report` is; `position` says as what the platform knows a branch, or will
/// when the queue is empty. What others pushed, the platform has seen by itself.
///
/// Errors: the repository.
pub(super) fn pieces(
    repository: &Repository,
    before: &Refs,
    report: &Report,
    position: impl Fn(&str) -> Option<ObjectId>,
) -> Result<Vec<Piece>, Error> {
    let refs = repository.refs()?;
    let buffer = ObjectBuffer::new(repository);
    let Some(records) = refs.get(RECORDS_REF) else { return Ok(Vec::new()) };
    let records = BranchRecords::read(records, &buffer)?;
    let records_before = match before.get(RECORDS_REF) {
        Some(before) => BranchRecords::read(before, &buffer).unwrap_or_default(),
        None => BranchRecords::default(),
    };
    let mut pieces = Vec::new();
    // Those of other repositories are not seen here.
    for (branch, record) in records.iter().filter(|(branch, _)| branch.destination().is_none()) {
        let name = format!("refs/heads/{branch}");
        let (tip_before, tip) = (before.get(&name), record.tip);
        let way = Way { repository, name: &name, branch: branch.as_str() };
        if refs.get(&name) != Some(tip) {
            // An active branch that was deleted and brought back: of what a promoter does there, the platform hears.
            let back = refs.get(&name).filter(|_| record.initial && position(&name).is_none());
            pieces.extend(back.map(|back| way.of_new(Vec::new(), back, true)).transpose()?.unwrap_or_default());
            continue;
        }
        let Some(tip_before) = tip_before else {
            let made = report.branches.iter().filter(|report| report.branch == branch.as_str());
            let made = made.flat_map(|report| &report.commits).filter_map(|commit| object_id(&commit.id)).collect();
            // One that was deleted and is made again comes of this run, and of no push that is still to be looked at.
            let is_again = records_before.get(branch).is_some_and(|record| record.tip == tip);
            pieces.extend(way.of_new(made, tip, is_again)?);
            continue;
        };
        if records_before.get(branch).is_some_and(|record| record.tip == tip_before) {
            let known = position(&name).filter(|known| repository.has(*known));
            pieces.extend(match known {
                Some(known) => way.between(known, tip_before, true)?,
                None => way.of_new(Vec::new(), tip_before, true)?,
            });
        }
        pieces.extend(way.between(tip_before, tip, false)?);
    }
    Ok(pieces)
}

/// The way of a branch.
struct Way<'a> {
    repository: &'a Repository,
    name: &'a str,
    branch: &'a str,
}

impl Way<'_> {
    /// The pieces from one commit to another.
    fn between(&self, old: ObjectId, new: ObjectId, is_earlier: bool) -> Result<Vec<Piece>, Error> {
        if old == new {
            return Ok(Vec::new());
        }
        let way = self.repository.first_parents(old, new, COMMITS_MAX)?;
        self.pieces(Some(old), way.unwrap_or_else(|| vec![new]), is_earlier)
    }

    /// The pieces of a branch that is new to the platform: the commits `made` of it, if they lead to its tip.
    fn of_new(&self, made: Vec<ObjectId>, tip: ObjectId, is_earlier: bool) -> Result<Vec<Piece>, Error> {
        self.pieces(None, if made.last() == Some(&tip) { made } else { vec![tip] }, is_earlier)
    }

    fn pieces(&self, old: Option<ObjectId>, way: Vec<ObjectId>, is_earlier: bool) -> Result<Vec<Piece>, Error> {
        let mut pieces: Vec<Piece> = Vec::new();
        for new in way {
            let trailers = Trailers::read(&self.repository.commit(new)?.message);
            let its = trailers.filter(|trailers| trailers.branch.as_str() == self.branch);
            let dry = its.map(|trailers| DryPoint::new(&trailers.dry_branch, trailers.dry_commit));
            let old = pieces.last().map(|last| last.new).or(old);
            pieces.push(Piece { name: self.name.to_owned(), old, new, dry, commits: 1, is_earlier });
        }
        Ok(pieces)
    }
}
