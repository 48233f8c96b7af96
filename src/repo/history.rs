//! Walks over commits: revisions, parents and common ancestors.

use std::collections::HashSet;

use super::{Commit, Error, ObjectId, ObjectKind, Repository, object_id};

/// A branch with so many commits has a name of its own.
const YOUNG_MAX: usize = 10;

impl Repository {
    /// Whether a branch with the tip `own` is new beside one with the tip `other`: it has few commits, and the first of them is newer.
    pub(crate) fn is_younger(&self, own: ObjectId, other: ObjectId) -> Result<bool, Error> {
        let Some(own) = self.birth(own)? else { return Ok(false) };
        Ok(self.birth(other)?.is_none_or(|other| own > other))
    }

    /// When the first commit of a branch was made; none where it has [`YOUNG_MAX`] commits or more, or is not here.
    fn birth(&self, tip: ObjectId) -> Result<Option<i64>, Error> {
        let mut next = self.has(tip).then_some(tip);
        for _ in 1..YOUNG_MAX {
            let Some(commit) = next else { return Ok(None) };
            next = self.first_parent(commit)?;
            if next.is_none() {
                return Ok(Some(self.commit(commit)?.committer.seconds));
            }
        }
        Ok(None)
    }

    /// The commits after `from` up to `to`, oldest first, first parents only.
    ///
    /// None when `from` is not met within `limit` commits: the branch was rewound, or its history is cut off.
    pub fn first_parents(&self, from: ObjectId, to: ObjectId, limit: usize) -> Result<Option<Vec<ObjectId>>, Error> {
        let mut found = Vec::new();
        let mut here = to;
        while here != from {
            if found.len() == limit {
                return Ok(None);
            }
            found.push(here);
            match self.first_parent(here)? {
                Some(parent) => here = parent,
                None => return Ok(None),
            }
        }
        found.reverse();
        Ok(Some(found))
    }

    /// Whether the history is cut off somewhere.
    pub fn is_shallow(&self) -> bool {
        !self.boundaries().is_empty()
    }

    /// The commits after which the history is cut off, by their ids.
    pub fn boundaries(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.common_dir().join("shallow")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The first parent of a commit; none for a root, or where a shallow history ends.
    pub fn first_parent(&self, id: ObjectId) -> Result<Option<ObjectId>, Error> {
        if let Some(commit) = self.long_commit(id) {
            return Ok(commit.parents.into_iter().next().filter(|parent| self.has(*parent)));
        }
        let (kind, content) = self.object(id)?;
        if kind != ObjectKind::Commit {
            return Err(Error::message(format!("reading commit {id}: it is a {kind}")));
        }
        Ok(Commit::first_parent(&content).filter(|parent| self.has(*parent)))
    }

    /// The commit that `id` is, or that the tag `id` leads to; none when it is something else.
    pub fn peel_to_commit(&self, id: ObjectId) -> Result<Option<ObjectId>, Error> {
        if self.long_commit(id).is_some() {
            return Ok(Some(id));
        }
        let (mut here, mut object) = (id, self.object(id)?);
        loop {
            match object {
                (ObjectKind::Commit, _) => return Ok(Some(here)),
                (ObjectKind::Tag, content) => {
                    let target = gix::objs::TagRefIter::from_bytes(&content, here.kind()).target_id().ok();
                    let Some((id, target)) = target.and_then(|id| Some((id, self.object(id).ok()?))) else {
                        return Ok(None);
                    };
                    (here, object) = (id, target);
                }
                (ObjectKind::Tree | ObjectKind::Blob, _) => return Ok(None),
            }
        }
    }

    /// The commit that a revision names, as `git rev-parse` would find it.
    pub fn rev_parse(&self, revision: &str) -> Result<ObjectId, Error> {
        // The library does not read these refs.
        if self.uses_reftable() {
            let commit = format!("{revision}^{{commit}}");
            let found = self.git().output(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
            let id = found.ok().and_then(|text| object_id(std::str::from_utf8(&text).ok()?.trim_end()));
            return match id {
                Some(id) => Ok(id),
                None if revision == "HEAD" => Err(Error::message("there is no commit on the current branch yet")),
                None => Err(not_a_commit(revision)),
            };
        }
        let found = self.with(|repository| find(repository, revision))?;
        found.and_then(|id| self.peel_to_commit(id).ok()?).ok_or_else(|| not_a_commit(revision))
    }

    /// Whether two commits have a common ancestor.
    pub fn are_related(&self, a: ObjectId, b: ObjectId) -> bool {
        let base = self.with(|repository| repository.merge_base(a, b).map(|base| base.is_some()).ok());
        // The library reads no commit that lacks what git itself does without, such as an author.
        base.unwrap_or_else(|| !self.ancestors(a).is_disjoint(&self.ancestors(b)))
    }

    /// Whether `ancestor` can be reached from `descendant`, or is the same commit.
    pub fn is_ancestor(&self, ancestor: ObjectId, descendant: ObjectId) -> bool {
        let base = self.with(|repository| {
            let base = repository.merge_base(ancestor, descendant);
            base.map(|base| base.is_some_and(|base| base.detach() == ancestor)).ok()
        });
        base.unwrap_or_else(|| self.has(ancestor) && self.ancestors(descendant).contains(&ancestor))
    }

    /// Whether one of `tips` is a commit, or has it in its history. All of them are walked at once, and each commit once.
    pub fn is_reachable(&self, id: ObjectId, tips: impl Iterator<Item = ObjectId>) -> bool {
        let mut seen = HashSet::new();
        let tips: Vec<ObjectId> = tips.filter(|tip| seen.insert(*tip)).collect();
        if tips.contains(&id) {
            return true;
        }
        let walked = self.with(|repository| {
            let mut walk = repository.rev_walk(tips.iter().copied()).all().ok()?;
            walk.try_fold(false, |found, commit| Some(found || commit.ok()?.id == id))
        });
        walked.unwrap_or_else(|| tips.iter().any(|tip| self.is_ancestor(id, *tip)))
    }

    /// The best common ancestor of two commits; none when they have none, or it cannot be read.
    pub fn merge_base(&self, a: ObjectId, b: ObjectId) -> Option<ObjectId> {
        self.with(|repository| repository.merge_base(a, b).ok().flatten().map(|base| base.detach()))
    }

    /// How many commits `of` can reach and `from` cannot; none when that cannot be read.
    pub fn count_beyond(&self, from: ObjectId, of: ObjectId) -> Option<usize> {
        self.with(|repository| {
            let walk = repository.rev_walk([of]).with_hidden([from]).all().ok()?;
            walk.map(|commit| commit.ok()).try_fold(0, |count, commit| commit.map(|_| count + 1))
        })
    }

    /// A commit and all that it can reach here.
    fn ancestors(&self, of: ObjectId) -> HashSet<ObjectId> {
        let mut found = HashSet::new();
        let mut open = vec![of];
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(self.commit(id).map(|commit| commit.parents).unwrap_or_default());
            }
        }
        found
    }
}

/// The object that a revision names. An error when it is `HEAD`, and the current branch has no commit yet.
fn find(repository: &gix::Repository, revision: &str) -> Result<Option<ObjectId>, Error> {
    let head = repository.head().ok().filter(|head| head.is_unborn() && revision == "HEAD");
    if let Some(branch) = head.as_ref().and_then(|head| head.referent_name()) {
        let branch = branch.shorten();
        return Err(Error::message(format!("there is no commit on `{branch}` yet")));
    }
    Ok(repository.rev_parse_single(revision).ok().map(|id| id.detach()))
}

/// The library's own words are about its grammar, and say nothing more.
fn not_a_commit(revision: &str) -> Error {
    Error::message(format!("not a commit: `{revision}`"))
}
