//! What left a dry tree, with proof and within a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dry_files::diag::{Diagnostic, Lasting, shell_word};
use dry_files::path::RepoPath;

use crate::argo::{AppName, BranchName, By, Keeps, is_near_branch};

/// The trailer of a dry commit that allows a large removal from one branch.
pub(super) const ALLOW_TRAILER: &str = "Hydrate-Allow-Removal";

/// Who writes to a path of an environment branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Destination {
    /// The path.
    pub path: RepoPath,
    /// The Application's name and namespace.
    pub application: (Option<AppName>, AppName),
    /// The file that contains the Application, or its maker.
    pub file: RepoPath,
    /// What makes the Application, if something does, and what a cluster keeps of what that makes no more.
    pub maker: Option<(By, Keeps)>,
}

/// A path that no Application writes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Removal {
    /// The path.
    pub path: RepoPath,
    /// Who wrote it.
    pub application: AppName,
}

impl From<&Destination> for Removal {
    fn from(gone: &Destination) -> Self {
        Self { path: gone.path.clone(), application: gone.application.1.clone() }
    }
}

/// Why nothing may be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RemovalMistake {
    /// No Application writes to the branch any more.
    #[error("this commit would empty `{branch}`, which {}", match count {
        1 => "1 Application writes".to_owned(),
        count => format!("{count} Applications write"),
    })]
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
    /// An Application is made no more, or written elsewhere, and the cluster keeps what it has.
    #[error(
        "this commit would remove `{path}` from `{branch}`, but clusters keep `{application}`: {by} has `applicationsSync: {policy}`"
    )]
    Kept {
        /// The environment branch.
        branch: BranchName,
        /// Where the Application wrote.
        path: RepoPath,
        /// The Application.
        application: AppName,
        /// What made it.
        by: By,
        /// The policy, as the set writes it.
        policy: &'static str,
    },
    /// An Application is still there and renders to nothing.
    #[error("this commit would remove {} that `{path}` has on `{branch}`", match count {
        1 => "the only object".to_owned(),
        count => format!("all {count} objects"),
    })]
    EmptiesPath {
        /// The environment branch.
        branch: BranchName,
        /// Where the Application writes.
        path: RepoPath,
        /// How many objects it has there.
        count: usize,
    },
    /// Applications are still there and render to far less.
    #[error("this commit would remove {removed} of the {count} objects on `{branch}`")]
    TooManyObjects {
        /// The environment branch.
        branch: BranchName,
        /// How many would go.
        removed: usize,
        /// How many there are.
        count: usize,
    },
}

impl RemovalMistake {
    /// The report for the pusher, with the names of some paths that would go or lose objects.
    pub(crate) fn diagnostic(&self, paths: &[&RepoPath], why: &Why) -> Diagnostic {
        let (RemovalMistake::Empties { branch, .. }
        | RemovalMistake::Kept { branch, .. }
        | RemovalMistake::TooMany { branch, .. }
        | RemovalMistake::EmptiesPath { branch, .. }
        | RemovalMistake::TooManyObjects { branch, .. }) = self;
        let mut names: Vec<&str> = paths.iter().map(|path| path.as_str()).take(5).collect();
        if paths.len() > names.len() {
            names.push("…");
        }
        let names = names.join(", ");
        if let Some(misspelt) = why.misspelt(branch) {
            let hint = format!(
                "did you mean `{branch}`? What left it is on `{misspelt}` now (paths: {names}); the commit that corrects it ends \
                 with the line `{ALLOW_TRAILER}: {misspelt}`, since it empties that branch"
            );
            let near = Some(branch.as_str().into());
            return Diagnostic { near, lasting: self.lasting(), ..Diagnostic::error(self.to_string()).hint(hint) };
        }
        let mut hint = format!(
            "{why}if this is intended, push a commit whose message ends with the line `{ALLOW_TRAILER}: {branch}` \
             (paths: {names})"
        );
        if let RemovalMistake::Empties { .. } = self {
            let name = shell_word(&branch.ref_name());
            hint.push_str(&format!(
                "; if nothing deploys the branch, delete it on the server: git update-ref -d {name}; git hydrate catch-up; then in clones: \
                 git fetch --prune"
            ));
        }
        Diagnostic { lasting: self.lasting(), ..Diagnostic::error(self.to_string()).hint(hint) }
    }

    fn lasting(&self) -> Option<Lasting> {
        matches!(self, RemovalMistake::Empties { .. }).then_some(Lasting::Unnamed)
    }
}

/// Why Applications left a branch, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// Whether the settings have changed which Applications are hydrated.
    pub by_settings: bool,
    /// The branches that Applications which left name now.
    pub now_on: BTreeSet<BranchName>,
    /// Whether the branch that they left is younger than one of these: its name was the mistake.
    pub is_corrected: bool,
}

impl Why {
    /// The branch that is probably the one that they left, with another name by mistake.
    fn misspelt(&self, left: &BranchName) -> Option<&BranchName> {
        let near = self.now_on.iter().find(|branch| is_near_branch(branch.as_str(), left.as_str()));
        near.filter(|_| !self.is_corrected)
    }
}

/// What a hint begins with; nothing where nothing is known.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by_settings {
            f.write_str("the settings have changed which Applications are hydrated: see `git hydrate config`; ")?;
        }
        match self.now_on.first() {
            Some(branch) => write!(f, "what left it is on `{branch}` now; "),
            None => Ok(()),
        }
    }
}

/// The paths that were written at the last hydrated dry commit and that no Application writes now.
///
/// `before` and `now` are the destinations of one branch at the two dry commits; that both were read is the proof that
/// an Application really left. In the order of paths. One that only moves to another path leaves its old one without
/// counting as removed. The limit is reached by a `share` of all (1 = all of them), but never by fewer than `at_least`.
/// `others` more destinations are the same at both, and of other Applications than these.
///
/// Errors: emptying the branch, or reaching the limit, unless `allowed`.
pub(crate) fn removals(
    branch: &BranchName,
    before: &BTreeSet<Destination>,
    now: &BTreeSet<Destination>,
    others: usize,
    (share, at_least): (f64, usize),
    allowed: bool,
) -> Result<Vec<Removal>, (RemovalMistake, Vec<Removal>)> {
    let written: BTreeSet<&RepoPath> = now.iter().map(|destination| &destination.path).collect();
    let alive: BTreeSet<_> = now.iter().map(|destination| &destination.application).collect();
    let gone = before.iter().filter(|destination| !written.contains(&destination.path));
    let by_path: BTreeMap<&RepoPath, &Destination> = gone.map(|destination| (&destination.path, destination)).collect();
    let removals: Vec<Removal> = by_path.values().copied().map(Removal::from).collect();
    let left = by_path.values().filter(|destination| !alive.contains(&destination.application)).count();
    let (count, branch) = (before.len() + others, branch.clone());
    let mistake = if allowed || removals.is_empty() {
        return Ok(removals);
    } else if let Some(kept) = by_path.values().find_map(|gone| kept(&branch, gone, now)) {
        kept
    } else if now.is_empty() && others == 0 {
        RemovalMistake::Empties { branch, count }
    } else if left >= at_least && left as f64 >= share * count as f64 {
        RemovalMistake::TooMany { branch, removed: left, count }
    } else {
        return Ok(removals);
    };
    Err((mistake, removals))
}

/// Why the path of an Application may not go, although it is no longer written: its objects would be pruned in a cluster that
/// keeps the Application as it is.
fn kept(branch: &BranchName, gone: &Destination, now: &BTreeSet<Destination>) -> Option<RemovalMistake> {
    let alive = now.iter().find(|destination| destination.application == gone.application);
    let makers = [gone.maker.as_ref(), alive.and_then(|alive| alive.maker.as_ref())].into_iter().flatten();
    let (by, keeps) = makers.max_by_key(|(_, keeps)| *keeps)?;
    let is_kept = match keeps {
        Keeps::Nothing => false,
        Keeps::Gone => alive.is_none(),
        Keeps::All => true,
    };
    let policy = keeps.policy().filter(|_| is_kept)?;
    let (path, application) = (gone.path.clone(), gone.application.1.clone());
    Some(RemovalMistake::Kept { branch: branch.clone(), path, application, by: by.clone(), policy })
}
/// How many objects there are of each kind.
pub(crate) type Objects = BTreeMap<String, usize>;

/// How many objects an Application that stays has in its path, before a dry commit and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The path.
    pub path: RepoPath,
    /// The objects that were there.
    pub before: Objects,
    /// The objects that will be there.
    pub now: Objects,
}

impl Counts {
    fn count_before(&self) -> usize {
        self.before.values().sum()
    }

    fn is_empty_now(&self) -> bool {
        self.now.is_empty()
    }

    fn loses(&self) -> bool {
        self.before.iter().any(|(kind, count)| self.now.get(kind).is_none_or(|now| now < count))
    }
}

/// What Applications that stay lose of their objects on one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Losses {
    counts: Vec<Counts>,
    replaced: Vec<Counts>,
    lost: usize,
}

impl Losses {
    /// What is lost by these counts: what some lose and no other gains of the same kind, since objects move between
    /// Applications, and names change with what they are generated from. None when that is nothing, or less than anybody would ask about: no Application loses its last object, and fewer than
    /// `at_least` go.
    ///
    /// `replaced` are paths that leave while others are new: an Application with another name and another path.
    pub(crate) fn new(counts: Vec<Counts>, replaced: Vec<Counts>, at_least: usize) -> Option<Self> {
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for count in counts.iter().chain(&replaced) {
            for (kind, before) in &count.before {
                kinds.entry(kind).or_default().0 += before;
            }
            for (kind, now) in &count.now {
                kinds.entry(kind).or_default().1 += now;
            }
        }
        let lost = kinds.values().map(|(before, now)| before.saturating_sub(*now)).sum();
        let losses = Self { counts, replaced, lost };
        (lost > 0 && (lost >= at_least.max(1) || losses.emptied().is_some())).then_some(losses)
    }

    fn emptied(&self) -> Option<&Counts> {
        let by_nothing = self.counts.iter().any(|it| it.before.is_empty() && it.is_empty_now());
        let replaced = self.replaced.iter().filter(|it| by_nothing && !it.before.is_empty());
        self.counts.iter().filter(|it| !it.before.is_empty() && it.is_empty_now()).chain(replaced).next()
    }

    /// The paths that lose objects, those that lose all of them first.
    pub(crate) fn paths(&self) -> Vec<&RepoPath> {
        let mut losing: Vec<&Counts> = self.counts.iter().chain(&self.replaced).filter(|it| it.loses()).collect();
        losing.sort_by_key(|it| !it.is_empty_now());
        losing.into_iter().map(|it| &it.path).collect()
    }

    /// Why the losses are too many for a branch that has `count` objects; none when they are within the limit.
    ///
    /// It is reached by an Application that loses its last object, and by a `share` of all objects, but never by fewer than
    /// `at_least`.
    pub(crate) fn mistake(
        &self,
        branch: &BranchName,
        count: usize,
        (share, at_least): (f64, usize),
    ) -> Option<RemovalMistake> {
        let branch = branch.clone();
        if let Some(counts) = self.emptied() {
            let (path, count) = (counts.path.clone(), counts.count_before());
            return Some(RemovalMistake::EmptiesPath { branch, path, count });
        }
        let is_many = self.lost >= at_least && self.lost as f64 >= share * count as f64;
        is_many.then_some(RemovalMistake::TooManyObjects { branch, removed: self.lost, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_renders_to_far_less_needs_a_word() {
        type Row<'a> = (&'a str, &'a [(usize, usize)], usize, Option<&'a str>);
        let rows: &[Row<'_>] = &[
            ("nothing changes in number", &[(20, 20)], 20, None),
            ("more", &[(0, 20), (1, 2)], 21, None),
            ("a few", &[(12, 3)], 12, None),
            ("half of many", &[(20, 10)], 20, Some("remove 10 of the 20 objects on `environments/dev`")),
            ("less than half", &[(21, 11)], 21, None),
            ("half of two", &[(30, 24), (30, 6)], 60, Some("remove 30 of the 60 objects")),
            ("few of the branch", &[(20, 10)], 100, None),
            ("the last one", &[(1, 0)], 100, Some("the only object that `app-0` has on `environments/dev`")),
            ("all of one", &[(9, 9), (4, 0)], 100, Some("all 4 objects that `app-1` has on")),
            ("objects that move", &[(20, 0), (0, 20)], 20, None),
            ("objects of which some move", &[(20, 0), (0, 19)], 20, Some("all 20 objects that `app-0`")),
            ("still nothing", &[(0, 0)], 5, None),
        ];
        let branch = BranchName::new("environments/dev").expect("a name");
        for (name, counts, count, expected) in rows {
            let path = |n: usize| RepoPath::new(&format!("app-{n}")).expect("plain");
            let objects = |count: usize| Objects::from_iter((count > 0).then(|| ("ConfigMap".to_owned(), count)));
            let counts = counts.iter().enumerate().map(|(n, &(before, now))| Counts {
                path: path(n),
                before: objects(before),
                now: objects(now),
            });
            let losses = Losses::new(counts.collect(), Vec::new(), 10);
            let found = losses.and_then(|losses| losses.mistake(&branch, *count, (0.5, 10)));
            match (found, expected) {
                (None, None) => {}
                (Some(found), Some(expected)) => assert!(found.to_string().contains(expected), "{name}: {found}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn what_is_replaced_by_objects_of_other_kinds_is_lost() {
        let objects =
            |list: &[(&str, usize)]| list.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect::<Objects>();
        let path = RepoPath::new("web").expect("plain");
        let branch = BranchName::new("environments/dev").expect("a name");
        let counts = Counts {
            path,
            before: objects(&[("PersistentVolumeClaim", 12), ("ConfigMap", 4)]),
            now: objects(&[("ConfigMap", 16)]),
        };
        let losses = Losses::new(vec![counts], Vec::new(), 10).expect("much is lost");
        let mistake = losses.mistake(&branch, 16, (0.5, 10)).expect("more than half");
        assert!(mistake.to_string().contains("remove 12 of the 16 objects"), "{mistake}");
    }

    /// `app` or `app@path`.
    fn destinations(list: &[&str]) -> BTreeSet<Destination> {
        let destination = |text: &&str| {
            let (app, path) = text.split_once('@').unwrap_or((text, text));
            Destination {
                path: RepoPath::new(path).expect("plain"),
                application: (None, AppName::new(app).expect("a name")),
                file: RepoPath::new("apps.yaml").expect("plain"),
                maker: None,
            }
        };
        list.iter().map(destination).collect()
    }

    #[test]
    fn what_clusters_keep_is_not_removed() {
        let by = By::ApplicationSet { namespace: None, name: "shop".to_owned() };
        let made = |list: &[&str], keeps| -> BTreeSet<Destination> {
            let all = destinations(list).into_iter();
            all.map(|one| Destination { maker: Some((by.clone(), keeps)), ..one }).collect()
        };
        let rows = [
            ("deleted there too", Keeps::Nothing, &["a", "b"], &["a"], Ok(1)),
            ("moved there too", Keeps::Gone, &["a@1", "b"], &["a@2"], Err("applicationsSync: create-update")),
            ("kept", Keeps::Gone, &["a", "b"], &["a"], Err("keep `b`")),
            ("updated", Keeps::Gone, &["a@1", "a@2"], &["a@2"], Ok(1)),
            ("not even updated", Keeps::All, &["a@1", "a@2"], &["a@2"], Err("applicationsSync: create-only")),
        ];
        let branch = BranchName::new("environments/dev").expect("a name");
        for (name, keeps, before, now, expected) in rows {
            let (before, now) = (made(before, keeps), made(now, keeps));
            let result = removals(&branch, &before, &now, 0, (0.5, 3), false);
            match (result, expected) {
                (Ok(removals), Ok(count)) => assert_eq!(removals.len(), count, "{name}"),
                (Err((mistake, _)), Err(expected)) => {
                    assert!(mistake.to_string().contains(expected), "{name}: {mistake}")
                }
                (result, _) => panic!("{name}: {result:?}"),
            }
            assert!(removals(&branch, &before, &now, 0, (0.5, 3), true).is_ok(), "{name}");
        }
    }

    #[test]
    fn others_that_stay_count() {
        let branch = BranchName::new("environments/dev").expect("a name");
        let gone = destinations(&["a", "b", "c"]);
        let removed = |others| removals(&branch, &gone, &BTreeSet::new(), others, (0.5, 3), false);
        assert_eq!(removed(4).map(|removals| removals.len()), Ok(3));
        for (others, expected) in [(0, "empty"), (3, "remove 3 of the 6")] {
            let (mistake, _) = removed(others).expect_err("too many");
            assert!(mistake.to_string().contains(expected), "{mistake}");
        }
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
            let result = removals(&branch, &destinations(before), &destinations(now), 0, (0.5, 3), *allowed);
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
