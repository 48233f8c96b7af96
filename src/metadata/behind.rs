//! The destination paths that a hydrated commit leaves at an earlier dry commit than its others.

use dry_files::path::RepoPath;

use super::json::{Fields, Json, full_id};
use crate::repo::ObjectId;

/// A destination path that a hydrated commit leaves as it was, because its Application failed or is paused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Behind {
    /// The path.
    pub path: RepoPath,
    /// The last dry commit with a hydrated commit that did not leave the path as it was; none when nothing was hydrated
    /// into it yet.
    pub dry_commit: Option<ObjectId>,
}

/// The key of the list in the `hydrator.metadata` at the root of a branch.
pub(super) const KEY: &str = "behind";

/// The list as it is written: an object for each path, without `drySha` where no dry commit is known.
pub(super) fn written(behind: &[Behind]) -> Json {
    let one = |behind: &Behind| {
        let dry_commit = behind.dry_commit.map(|id| id.to_string()).unwrap_or_default();
        Json::Object(vec![("path", Json::text(behind.path.as_str())), ("drySha", Json::text(dry_commit))])
    };
    Json::List(behind.iter().map(one).collect())
}

/// The list as it is read, in the order of paths. What is no path is left out.
pub(super) fn read(fields: &Fields) -> Vec<Behind> {
    let list = fields.get(KEY).and_then(|list| list.as_array());
    let mut behind: Vec<Behind> = list.into_iter().flatten().filter_map(read_one).collect();
    behind.sort_unstable();
    behind.dedup_by(|a, b| a.path == b.path);
    behind
}

fn read_one(value: &serde_json::Value) -> Option<Behind> {
    let fields = Fields::of(value)?;
    let path = RepoPath::new(fields.text("path").ok()?).ok().filter(|path| !path.is_root())?;
    Some(Behind { path, dry_commit: full_id(fields.text("drySha").ok()?) })
}
