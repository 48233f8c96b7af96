use std::fmt;

use gix::objs::CommitRef;

use super::{Doing as _, Error, ObjectId, ObjectKind, Repository};

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name, as it stands in the commit.
    pub name: String,
    /// The address, as it stands in the commit.
    pub email: String,
    /// Seconds since 1970-01-01 UTC.
    pub seconds: i64,
    /// The offset of the zone, in seconds east of UTC.
    pub offset: i32,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.unsigned_abs() / 60;
        let (hours, minutes) = (minutes / 60, minutes % 60);
        write!(f, "{} <{}> {} {sign}{hours:02}{minutes:02}", self.name, self.email, self.seconds)
    }
}

/// A commit as it is stored.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// The root directory.
    pub tree: ObjectId,
    /// The parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote the change.
    pub author: Signature,
    /// Who made the commit.
    pub committer: Signature,
    /// The message as bytes; UTF-8 unless the commit says otherwise.
    pub message: Vec<u8>,
    /// The encoding that the commit names for its message.
    pub encoding: Option<String>,
}

impl Commit {
    pub(super) fn parse(id: ObjectId, content: &[u8]) -> Result<Self, Error> {
        let commit = CommitRef::from_bytes(content, id.kind()).doing(|| format!("reading commit {id}"))?;
        let signature = |raw: &[u8]| {
            let signature = gix::actor::SignatureRef::from_bytes(raw).ok();
            let time = signature.as_ref().and_then(|signature| signature.time().ok()).unwrap_or_default();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Signature {
                name: signature.map(|signature| text(signature.name)).unwrap_or_default(),
                email: signature.map(|signature| text(signature.email)).unwrap_or_default(),
                seconds: time.seconds,
                offset: time.offset,
            }
        };
        Ok(Self {
            id,
            tree: commit.tree(),
            parents: commit.parents().collect(),
            author: signature(commit.author),
            committer: signature(commit.committer),
            message: commit.message.to_vec(),
            encoding: commit.encoding.map(|encoding| encoding.to_string()),
        })
    }
}

/// A commit that is to be written.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// The root directory.
    pub tree: ObjectId,
    /// The parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote the change.
    pub author: Signature,
    /// Who makes the commit.
    pub committer: Signature,
    /// The message; UTF-8, with its final line break.
    pub message: String,
}

impl NewCommit {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        text.push_str(&format!("author {}\ncommitter {}\n\n{}", self.author, self.committer, self.message));
        text.into_bytes()
    }
}

impl Repository {
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

    /// The first parent of a commit; none for a root, or where a shallow history ends.
    pub fn first_parent(&self, id: ObjectId) -> Result<Option<ObjectId>, Error> {
        let (kind, content) = self.object(id)?;
        if kind != ObjectKind::Commit {
            return Err(Error::message(format!("reading commit {id}: it is a {kind}")));
        }
        let parent = gix::objs::CommitRefIter::from_bytes(&content, id.kind()).parent_ids().next();
        Ok(parent.filter(|parent| self.has(*parent)))
    }
}
