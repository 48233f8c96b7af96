//! What is known of destinations without asking them: what was delivered last, and what could not be.
//!
//! `hydrate/out/NAME.json` in the git directory. Where it is lost, a destination is asked once more than needed.
//!
//! One that took long and was away all the same is not asked again for ten times as long, twice that after each further time, and
//! ten minutes at most: a push must not wait for it each time. One that says at once that it is away costs nothing.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dry_files::regular;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::wanted::{Want, Wanted};
use super::{Trouble, Undelivered};
use crate::argo::{BranchName, DestinationName, without_credentials};
use crate::metadata::NOTES_REF;
use crate::owners::policy;
use crate::repo::{self, Repository};

/// How long an answer may take that a push waits for each time.
const QUICK: Duration = Duration::from_secs(1);

/// For how many seconds a destination is not asked, at most.
const NOT_ASKED_MAX: i64 = 600;

/// How large the file may be.
const BYTES_MAX: u64 = 16 << 20;

/// What was delivered, and what could not be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Known {
    url: String,
    /// The branches that were there as they were hydrated, by name: the id of the tip and of its note.
    delivered: BTreeMap<String, String>,
    /// Why others were not.
    trouble: BTreeMap<String, (Trouble, String)>,
    /// Those that were not taken together with others, by whose turn to be tried alone is first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alone: Vec<String>,
    /// How often in a row it hung.
    #[serde(skip_serializing_if = "is_zero")]
    hung: u32,
    /// Until when pushes do not ask it, in seconds since 1970.
    #[serde(skip_serializing_if = "is_zero")]
    not_asked_until: i64,
}

/// Whether a number is zero, which the file leaves out.
fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// How a branch of another repository is there, as far as the last delivery knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Standing {
    /// The branch, as `DESTINATION:BRANCH`.
    pub branch: String,
    /// The URL of its repository.
    pub url: String,
    /// Whether the destination has the branch as it was hydrated.
    pub is_delivered: bool,
    /// Why it is not, if the last delivery failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Trouble>,
    /// Why it is not, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Known {
    /// What the last delivery left; nothing where that cannot be read.
    pub(super) fn read(repository: &Repository, name: &DestinationName) -> Self {
        let path = repository.common_dir().join("hydrate").join("out").join(format!("{name}.json"));
        let text = regular::read(&path, BYTES_MAX).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// After a delivery that left this.
    pub(super) fn after(url: &str, wanted: &Wanted, undelivered: &[Undelivered]) -> Self {
        let left = undelivered.iter().flat_map(|one| one.branches.iter().map(move |name| (name, one)));
        let trouble: BTreeMap<String, (Trouble, String)> =
            left.map(|(name, one)| (name.clone(), (one.why, one.reason.clone()))).collect();
        // Without notes, nothing is there as it was hydrated.
        let is_noted = !trouble.contains_key(NOTES_REF);
        let there = wanted.branches.iter().filter(|(name, _)| is_noted && !trouble.contains_key(*name));
        let delivered = there.map(|(name, want)| (name.clone(), mark(want))).collect();
        Self { url: url.to_owned(), delivered, trouble, ..Self::default() }
    }

    /// Says whose turn it is after a delivery that tried branches alone, in this order: who was tried is last.
    pub(super) fn in_turn(mut self, before: &Self, tried: &[String]) -> Self {
        let is_left = |name: &&String| self.trouble.contains_key(*name);
        let waiting = before.alone.iter().filter(|name| !tried.contains(name));
        self.alone = waiting.chain(tried).filter(is_left).cloned().collect();
        self
    }

    /// Says what is to be remembered of a delivery that `took` so long and ended `now`.
    pub(super) fn hanging(mut self, before: &Self, took: Duration, now: i64) -> Self {
        let is_away = self.trouble.values().any(|(why, _)| *why == Trouble::Away);
        if is_away && took >= QUICK {
            self.hung = if before.url == self.url { before.hung.saturating_add(1) } else { 1 };
            let seconds = i64::try_from(took.as_secs()).unwrap_or(NOT_ASKED_MAX).saturating_mul(10);
            let seconds = seconds.saturating_mul(1 << (self.hung - 1).min(10));
            self.not_asked_until = now.saturating_add(seconds.min(NOT_ASKED_MAX));
        }
        self
    }

    /// For how many seconds yet a destination is not asked by pushes.
    pub(super) fn hangs_for(&self, url: &str, now: i64) -> Option<i64> {
        let seconds = self.not_asked_until.saturating_sub(now);
        // More than is ever written is the work of a clock that was set.
        (self.url == url && (1..=NOT_ASKED_MAX).contains(&seconds)).then_some(seconds)
    }

    /// Whether a destination has everything.
    pub(super) fn has_all(&self, url: &str, wanted: &Wanted) -> bool {
        self.url == url && wanted.branches.iter().all(|(name, want)| self.has(name, want))
    }

    /// Whose turn a branch is among those that were not taken together with others; none for one that is not among them.
    pub(super) fn turn(&self, name: &str) -> Option<usize> {
        self.alone.iter().position(|one| one == name)
    }

    /// Whether a branch is there as it was hydrated.
    pub(super) fn has(&self, name: &str, want: &Want) -> bool {
        self.delivered.get(name).is_some_and(|known| *known == mark(want))
    }

    /// Writes it, in one step.
    pub(super) fn write(&self, repository: &Repository, name: &DestinationName) -> Result<(), repo::Error> {
        let path = directory(repository)?.join(format!("{name}.json"));
        let written = self.write_to(&path, repository);
        written.map_err(|error| repo::Error::new(format!("writing hydrate/out/{name}.json"), error))
    }

    fn write_to(&self, path: &Path, repository: &Repository) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        repository.shared().give(file.as_file())?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// What a branch was delivered as.
fn mark(want: &Want) -> String {
    let note = want.note.as_ref().map(|note| data_encoding::HEXLOWER.encode(&Sha256::digest(note)));
    // What a promoter does there is not known here before it is asked for.
    let tip = if want.is_promoted { "promoted".to_owned() } else { want.tip.to_string() };
    format!("{tip} {}", note.unwrap_or_default())
}

/// The directory of the files and locks.
pub(super) fn directory(repository: &Repository) -> Result<PathBuf, repo::Error> {
    let path = repository.common_dir().join("hydrate").join("out");
    for directory in [path.parent().unwrap_or(&path), &path] {
        make_directory(directory, repository)
            .map_err(|error| repo::Error::new(format!("making {}", path.display()), error))?;
    }
    Ok(path)
}

fn make_directory(path: &Path, repository: &Repository) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path)?;
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    fs::set_permissions(path, Permissions::from_mode(repository.shared().directory_mode(mode)))
}

/// How the branches of other repositories are there, as far as the last delivery knows. Nothing is asked of them.
///
/// Errors: the repository or its settings cannot be read.
pub(crate) fn standings(repository: &Repository) -> Result<Vec<Standing>, repo::Error> {
    let mut found = Vec::new();
    for (name, url) in policy::destinations(repository)? {
        let (wanted, known) = (Wanted::read(repository, &name)?, Known::read(repository, &name));
        for (branch, want) in &wanted.branches {
            let Some(full) = super::branch_of(&name, branch) else { continue };
            let is_delivered = known.url == url && known.has(branch, want);
            let trouble = known.trouble.get(branch).or_else(|| known.trouble.get(NOTES_REF));
            let trouble = trouble.filter(|_| !is_delivered).cloned();
            let (why, reason) = trouble.map_or((None, None), |(why, reason)| (Some(why), Some(reason)));
            found.push(Standing {
                branch: BranchName::to_string(&full),
                url: without_credentials(&url),
                is_delivered,
                why,
                reason,
            });
        }
    }
    Ok(found)
}

/// Forgets what is known of all destinations; answers whether there was anything.
pub(crate) fn forget(repository: &Repository) -> io::Result<bool> {
    match fs::remove_dir_all(repository.common_dir().join("hydrate").join("out")) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_tried_alone_is_last() {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let left = |text: &str| Known {
            trouble: names(text).into_iter().map(|name| (name, (Trouble::Away, String::new()))).collect(),
            ..Known::default()
        };
        let mut known = Known::default();
        for (tried, trouble, expected) in [
            ("a b", "a b c", "a b"),
            ("c", "a b c", "a b c"),
            ("a", "a b c", "b c a"),
            ("b", "a c", "c a"),
            ("", "a", "a"),
        ] {
            known = left(trouble).in_turn(&known, &names(tried));
            assert_eq!(known.alone, names(expected), "{tried}");
        }
        assert_eq!((known.turn("a"), known.turn("b")), (Some(0), None));
    }

    #[test]
    fn a_destination_that_hangs_is_asked_less_and_less() {
        let away = || Known {
            url: "u".to_owned(),
            trouble: BTreeMap::from([("b".to_owned(), (Trouble::Away, String::new()))]),
            ..Known::default()
        };
        let mut known = Known::default();
        let mut waits = Vec::new();
        for _ in 0..5 {
            known = away().hanging(&known, Duration::from_secs(6), 1000);
            waits.push(known.hangs_for("u", 1000).expect("it waits"));
        }
        assert_eq!(waits, [60, 120, 240, 480, 600]);
        assert_eq!((known.hangs_for("u", 1599), known.hangs_for("u", 1600)), (Some(1), None));
        assert_eq!((known.hangs_for("other", 1000), known.hangs_for("u", -5000)), (None, None));
        let quick = away().hanging(&known, Duration::from_millis(999), 1000);
        assert_eq!((quick.hung, quick.hangs_for("u", 1000)), (0, None));
        let refused = Known::default().hanging(&known, Duration::from_secs(60), 1000);
        assert_eq!(refused.hangs_for("", 1000), None);
    }
}
