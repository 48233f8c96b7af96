use std::collections::{BTreeMap, BTreeSet};

use crate::application::{AppName, BranchName};
use crate::diag::Diagnostic;
use crate::path::RepoPath;

/// The trailer of a dry commit that allows a large removal from one branch.
pub const ALLOW_TRAILER: &str = "Hydrate-Allow-Removal";

/// Who writes to a path of an environment branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// The path.
    pub path: RepoPath,
    /// The Application's name and namespace.
    pub application: (Option<AppName>, AppName),
    /// The file that holds the Application.
    pub file: RepoPath,
}

/// A path that nobody writes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The path.
    pub path: RepoPath,
    /// Who wrote it.
    pub application: AppName,
}

/// Why nothing may be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemovalMistake {
    /// No Application writes to the branch any more.
    #[error("this commit would empty `{branch}`, which {count} Applications write")]
    Empties {
        /// The environment branch.
        branch: BranchName,
        /// How many Applications it has.
        count: usize,
    },
    /// More than slips of the pen explain.
    #[error("this commit would remove {removed} of the {count} Applications on `{branch}`")]
    TooMany {
        /// The environment branch.
        branch: BranchName,
        /// How many would go.
        removed: usize,
        /// How many there are.
        count: usize,
    },
}

impl RemovalMistake {
    /// The report for the pusher, with the names of some that would go.
    pub fn diagnostic(&self, removals: &[Removal]) -> Diagnostic {
        let (RemovalMistake::Empties { branch, .. } | RemovalMistake::TooMany { branch, .. }) = self;
        let mut names: Vec<&str> = removals.iter().map(|removal| removal.path.as_str()).take(5).collect();
        if removals.len() > names.len() {
            names.push("…");
        }
        let hint = format!(
            "if that is meant, push a commit whose message ends with the line `{ALLOW_TRAILER}: {branch}` ({})",
            names.join(", ")
        );
        Diagnostic::error(self.to_string()).hint(hint)
    }
}

/// The paths that were written at the last hydrated dry commit and are written by nobody now.
///
/// `before` and `now` are the destinations of one branch at the two dry commits; that both were read is the proof that
/// an Application really left. In the order of paths. One that only moves to another path leaves its old one without
/// counting as removed. The limit is reached by a `share` of all (1 = all of them), but never by fewer than `at_least`.
///
/// Errors: emptying the branch, or reaching the limit, unless `allowed`.
pub fn removals(
    branch: &BranchName,
    before: &BTreeSet<Destination>,
    now: &BTreeSet<Destination>,
    (share, at_least): (f64, usize),
    allowed: bool,
) -> Result<Vec<Removal>, (RemovalMistake, Vec<Removal>)> {
    let written: BTreeSet<&RepoPath> = now.iter().map(|destination| &destination.path).collect();
    let alive: BTreeSet<_> = now.iter().map(|destination| &destination.application).collect();
    let gone = before.iter().filter(|destination| !written.contains(&destination.path));
    let by_path: BTreeMap<&RepoPath, &Destination> = gone.map(|destination| (&destination.path, destination)).collect();
    let removal = |destination: &&Destination| Removal {
        path: destination.path.clone(),
        application: destination.application.1.clone(),
    };
    let removals: Vec<Removal> = by_path.values().map(removal).collect();
    let left = by_path.values().filter(|destination| !alive.contains(&destination.application)).count();
    let (count, branch) = (before.len(), branch.clone());
    let mistake = if allowed || removals.is_empty() {
        return Ok(removals);
    } else if now.is_empty() {
        RemovalMistake::Empties { branch, count }
    } else if left >= at_least && left as f64 >= share * count as f64 {
        RemovalMistake::TooMany { branch, removed: left, count }
    } else {
        return Ok(removals);
    };
    Err((mistake, removals))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `app` or `app@path`.
    fn destinations(list: &[&str]) -> BTreeSet<Destination> {
        let destination = |text: &&str| {
            let (app, path) = text.split_once('@').unwrap_or((text, text));
            Destination {
                path: RepoPath::new(path).expect("plain"),
                application: (None, AppName::new(app).expect("a name")),
                file: RepoPath::new("apps.yaml").expect("plain"),
            }
        };
        list.iter().map(destination).collect()
    }

    #[test]
    fn what_leaves_is_removed_within_the_limit() {
        type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], bool, Result<&'a [&'a str], &'a str>);
        let rows: &[Row<'_>] = &[
            ("nothing leaves", &["a", "b"], &["a", "b", "c"], false, Ok(&[])),
            ("one of three", &["a", "b", "c"], &["a", "c"], false, Ok(&["b"])),
            ("two of four are few", &["a", "b", "c", "d"], &["a", "b"], false, Ok(&["c", "d"])),
            ("half of six", &["a", "b", "c", "d", "e", "f"], &["a", "b", "c"], false, Err("remove 3 of the 6")),
            ("half of six, allowed", &["a", "b", "c", "d", "e", "f"], &["a", "b", "c"], true, Ok(&["d", "e", "f"])),
            ("the last one", &["a"], &[], false, Err("empty")),
            ("the last one, allowed", &["a"], &[], true, Ok(&["a"])),
            ("moves", &["a@1", "b@2", "c@3"], &["a@4", "b@5", "c@6"], false, Ok(&["1", "2", "3"])),
            ("another takes the path over", &["a@x", "b"], &["c@x", "b"], false, Ok(&[])),
        ];
        let branch = BranchName::new("environments/dev").expect("a name");
        for (name, before, now, allowed, expected) in rows {
            let result = removals(&branch, &destinations(before), &destinations(now), (0.5, 3), *allowed);
            match (result, expected) {
                (Ok(removals), Ok(expected)) => {
                    let paths: Vec<_> = removals.iter().map(|removal| removal.path.as_str()).collect();
                    assert_eq!(paths, *expected, "{name}");
                }
                (Err((mistake, _)), Err(expected)) => {
                    assert!(mistake.to_string().contains(expected), "{name}: {mistake}")
                }
                (result, _) => panic!("{name}: {result:?}"),
            }
        }
    }
}
