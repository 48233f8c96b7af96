//! What was not to be had a moment ago: no push waits for it again at once.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use crate::repo::Repository;
use dry_files::diag::one_line;
use dry_files::regular;
use inputs::Wanted;
use serde::{Deserialize, Serialize};

/// How long nothing is asked for again, in seconds.
const SECONDS: i64 = 60;

/// How large the file may be, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// How long a reason may be, in characters.
const REASON_MAX: usize = 500;

/// What was not to be had, and why.
#[derive(Debug, Default)]
pub(super) struct Missed(BTreeMap<Wanted, Why>);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Why {
    /// When, in seconds since 1970.
    at: i64,
    reason: String,
}

impl Missed {
    /// What was noted in the minute before `now`. A file that cannot be read has nothing.
    pub(super) fn read(repository: &Repository, now: i64) -> Self {
        let text = regular::read(&file(repository), BYTES_MAX).unwrap_or_default();
        let all: Vec<(Wanted, Why)> = serde_json::from_slice(&text).unwrap_or_default();
        let is_fresh = |why: &Why| (0..SECONDS).contains(&now.saturating_sub(why.at));
        Self(all.into_iter().filter(|(_, why)| is_fresh(why)).collect())
    }

    pub(super) fn add(&mut self, wanted: Wanted, reason: String, now: i64) {
        let reason = one_line(&reason).chars().take(REASON_MAX).collect();
        self.0.insert(wanted, Why { at: now, reason });
    }

    pub(super) fn why(&self, wanted: &Wanted) -> Option<String> {
        self.0.get(wanted).map(|why| why.reason.clone())
    }

    /// Leaves it for the runs of the next minute. Without it they only ask again.
    pub(super) fn write(&self, repository: &Repository) {
        let path = file(repository);
        if self.0.is_empty() {
            drop(std::fs::remove_file(path));
            return;
        }
        let all: Vec<(&Wanted, &Why)> = self.0.iter().collect();
        let text = serde_json::to_vec(&all).unwrap_or_default();
        let written = tempfile::NamedTempFile::new_in(repository.common_dir());
        let written = written.and_then(|mut file| file.write_all(&text).map(|()| file));
        if let Ok(new) = written {
            drop(new.persist(path));
        }
    }
}

fn file(repository: &Repository) -> PathBuf {
    repository.common_dir().join("hydrate.missed")
}
