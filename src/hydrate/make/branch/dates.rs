//! The date that metadata says of a dry commit.
//!
//! Promoters compare it between environments: an environment waits until the one before it has a commit that is not older. So it
//! never goes back on a branch, whatever clock a dry commit was made by, and however the dry branch was rewound. It is that of the
//! newest of the dry commits since the one that the branch shows, so that all environments say the same of one commit.

use super::{Branch, TipMetadata};
use crate::metadata::{DryCommit, Time};
use crate::owners::files::METADATA;
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::repo::{Error, ObjectBuffer, ObjectId};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// How far ahead of the time of a run a dry commit may be dated, in seconds: a day, as strict mode allows.
const SECONDS_AHEAD_MAX: i64 = 24 * 60 * 60;

/// How many dry commits are looked at.
const COMMITS_MAX: usize = 1000;

impl Branch {
    /// The dry commit with the date that the metadata in `dir` says of it.
    ///
    /// Errors: the repository.
    pub(super) fn dated(
        &self,
        dry: &DryCommit,
        dir: &RepoPath,
        (policy, buffer): (&Policy, &ObjectBuffer<'_>),
    ) -> Result<DryCommit, Error> {
        let writer = &policy.writer;
        if writer.is_as_argocd() || !writer.has_ordered_dates() {
            return Ok(dry.clone());
        }
        let last = self.last_metadata(dir, buffer)?;
        let mut date = dry.date;
        let since = match last.dry_commit.filter(|before| buffer.repository().has(*before)) {
            Some(before) => since(before, dry.id, buffer)?,
            None => Vec::new(),
        };
        for other in since.into_iter().chain(last.date) {
            date = if other.seconds() > date.seconds() { other } else { date };
        }
        Ok(dry.shown_at(date))
    }

    /// A warning where the metadata goes back in time, since Argo CD's does.
    ///
    /// Errors: the repository.
    pub(crate) fn date_goes_back(&self, dry: &DryCommit, found: &Snapshot<'_>) -> Result<Option<Diagnostic>, Error> {
        if !found.policy.writer.is_as_argocd() {
            return Ok(None);
        }
        let Some(before) = self.last_metadata(&RepoPath::root(), &found.buffer)?.date else { return Ok(None) };
        let warning = || {
            let (name, date, before) = (&self.name, dry.date.rfc3339(), before.rfc3339());
            let text =
                format!("`{name}`: the date of this dry commit, {date}, is before {before}, which the branch shows");
            let hint = "a promoter holds later environments back until a newer dry commit comes: commit again with today's date";
            Diagnostic::warning(text).hint(hint)
        };
        Ok((before.seconds() > dry.date.seconds()).then(warning))
    }

    /// A warning where the metadata of the branch would say a date that is more than a day ahead of the time of the run: a clock
    /// was wrong, and no later commit shows another date before that day.
    ///
    /// Errors: the repository.
    pub(crate) fn date_is_ahead(&self, dry: &DryCommit, found: &Snapshot<'_>) -> Result<Option<Diagnostic>, Error> {
        let Some(now) = found.setup.now else { return Ok(None) };
        let shown = self.dated(dry, &RepoPath::root(), (&found.policy, &found.buffer))?.shown_date;
        if shown.seconds().saturating_sub(now) <= SECONDS_AHEAD_MAX {
            return Ok(None);
        }
        let whose =
            if shown.seconds() == dry.date.seconds() { "of this dry commit" } else { "of an earlier dry commit" };
        let text =
            format!("`{}` shows the date {whose}, {}, which is more than a day ahead", self.name, shown.rfc3339());
        let hint = "a promoter takes all commits until that day for equally old; set the clock that made it; \
                    `git config hydrate.strict touched` on the server refuses such commits";
        Ok(Some(Diagnostic::warning(text).hint(hint)))
    }

    /// What the branch shows in a directory, as its newest commit says, whoever made that.
    fn last_metadata(&self, dir: &RepoPath, buffer: &ObjectBuffer<'_>) -> Result<TipMetadata, Error> {
        let Some(tip) = &self.tip else { return Ok(TipMetadata::default()) };
        let path = if dir.is_root() { METADATA.to_owned() } else { format!("{dir}/{METADATA}") };
        let found = provenance(buffer, self.made_below.unwrap_or(tip.tree), &path)?;
        Ok(found.map(TipMetadata::from).unwrap_or_default())
    }
}

/// The dates of the dry commits after `before`, up to `dry`; none where they do not follow each other.
fn since(before: ObjectId, dry: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Vec<Time>, Error> {
    let line = buffer.repository().first_parents(before, dry, COMMITS_MAX)?.unwrap_or_default();
    line.into_iter().map(|id| Ok(DryCommit::new(&buffer.commit(id)?).date)).collect()
}
