//! The refs of a remote in a place of their own, where they can be worked on as in the repository itself.

mod partial;

use std::collections::BTreeSet;
use std::path::Path;

use super::Error;
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::failures::FAILURES_REF;
use crate::repo::{self, Expected, Git, Location, ObjectId, RefEdit, Refs, Repository, taken_for, update_refs};
use crate::settings::{KEPT_SETTINGS, SETTINGS_REF};

/// Where the copies of remotes are. Nothing that a user fetches or pushes goes there.
const COPIES: &str = "refs/hydrate-push/";

/// The refs of a remote as they were at one moment, with all that they lead to.
pub(super) struct Copy {
    /// The clone, of which only the copy is seen.
    pub repository: Repository,
    /// The remote.
    pub remote: String,
    place: String,
    /// What the remote has, without what is in the way.
    pub there: Refs,
    /// Refs of the remote beside which git cannot have one that hydration writes: one is a directory of the other.
    pub in_the_way: BTreeSet<String>,
    /// Refs of the remote that git takes for others when somebody pushes those by name.
    pub taken_for_others: BTreeSet<String>,
}

impl Copy {
    /// Fetches from a remote of `clone`: branches, notes and what is below `refs/hydrate/`, whatever the copy had before.
    /// A shallow clone gets the whole history of these.
    ///
    /// Errors: the remote cannot be read, or is shallow itself.
    pub(super) fn fetch(clone: &Repository, remote: &str) -> Result<Self, Error> {
        let place = format!("{COPIES}{remote}/");
        clear_locks(clone, &place);
        let git = clone.git();
        let Listing { head, mut in_the_way, taken_for_others } = listed(&git, remote)?;
        fetch(clone, &git, remote, &place)?;
        point_head(&git, &place, head.as_deref())?;
        if !cut_off(clone, &git, &place)?.is_empty() {
            return Err(Error::Shallow(remote.to_owned()));
        }
        let repository = Repository::open(clone.git_dir(), Location::Hook)?.within(&place);
        in_the_way.extend(take_out_of_the_way(&repository, "hydrate: push")?);
        let there = repository.refs()?;
        let remote = remote.to_owned();
        let mut copy = Self { repository, remote, place, there, in_the_way, taken_for_others };
        if copy.repository.is_partial() {
            partial::complete(&copy)?;
            copy.repository = copy.open()?;
        }
        Ok(copy)
    }

    /// The copy, read anew.
    pub(super) fn open(&self) -> Result<Repository, repo::Error> {
        Ok(Repository::open(self.repository.git_dir(), Location::Hook)?.within(&self.place))
    }

    /// Sets the settings of the copy.
    pub(super) fn use_settings(&self, settings: Option<ObjectId>) -> Result<(), repo::Error> {
        let old = self.repository.refs()?.get(SETTINGS_REF);
        if old == settings {
            return Ok(());
        }
        let edit = RefEdit { name: SETTINGS_REF.to_owned(), new: settings, expected: Expected::from(old) };
        update_refs(&self.repository, &[edit], "hydrate: push")
            .map_err(|error| repo::Error::new("setting the settings of this run", error))
    }
}

/// Takes away what a git left that was killed while it fetched: no one else writes there, and we have the lock of the clone.
fn clear_locks(clone: &Repository, place: &str) {
    fn clear(dir: &Path) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => clear(&path),
                // Should it fail, git says so in a moment: it finds the lock.
                Ok(_) if path.extension().is_some_and(|end| end == "lock") => drop(std::fs::remove_file(&path)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    clear(&clone.common_dir().join(place));
}

/// What is asked of a remote beside what is fetched.
struct Listing {
    /// The branch that its `HEAD` names.
    head: Option<String>,
    /// Refs above those that hydration writes, which no fetch of these brings.
    in_the_way: BTreeSet<String>,
    taken_for_others: BTreeSet<String>,
}

fn listed(git: &Git, remote: &str) -> Result<Listing, repo::Error> {
    // A pattern matches the end of a name: the last one those that end with the full name of another.
    let listing =
        git.output(&["ls-remote", "--symref", "--", remote, "HEAD", "refs/hydrate", "refs/notes", "*/refs/*"])?;
    let listing = String::from_utf8_lossy(&listing);
    let target = listing.lines().find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
    let names = || listing.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name);
    let above = names().filter(|name| ["refs/hydrate", "refs/notes"].contains(name)).map(str::to_owned);
    let taken_for_others = names().filter(|name| !taken_for(name).is_empty()).map(str::to_owned);
    Ok(Listing {
        head: target.map(str::to_owned),
        in_the_way: above.collect(),
        taken_for_others: taken_for_others.collect(),
    })
}

/// The refs of hydration, below each of which git can have none.
const ALONE: [&str; 4] = [RECORDS_REF, FAILURES_REF, SETTINGS_REF, NOTES_REF];

/// The ref of hydration, or the first part of the names of several, that git cannot have beside a ref of this name.
pub(crate) fn of_hydration(name: &str) -> Option<&'static str> {
    let is_in_the_way = |ours: &&str| name.strip_prefix(ours).is_some_and(|rest| rest.starts_with('/'));
    let kept = Some(KEPT_SETTINGS).filter(|kept| name == kept.trim_end_matches('/'));
    ALONE.into_iter().find(is_in_the_way).or(kept)
}

/// Refspecs that leave out of a fetch what is in the way of hydration's refs, however many refs that are.
pub(crate) fn not_in_the_way() -> Vec<String> {
    let kept = KEPT_SETTINGS.trim_end_matches('/').to_owned();
    ALONE.iter().map(|ours| format!("{ours}/*")).chain([kept]).map(|name| format!("^{name}")).collect()
}

/// Takes refs out of a repository that keep hydration from having its own there. Answers which. `reason` is for reflogs.
pub(crate) fn take_out_of_the_way(copy: &Repository, reason: &str) -> Result<BTreeSet<String>, repo::Error> {
    let refs = copy.refs()?;
    let found: Vec<(&str, ObjectId)> = refs.iter().filter(|(name, _)| of_hydration(name).is_some()).collect();
    let edit =
        |(name, id): &(&str, ObjectId)| RefEdit { name: (*name).to_owned(), new: None, expected: Expected::Is(*id) };
    let edits: Vec<RefEdit> = found.iter().map(edit).collect();
    if !edits.is_empty() {
        update_refs(copy, &edits, reason)
            .map_err(|error| repo::Error::new("taking refs out of the way of hydration's", error))?;
    }
    Ok(found.into_iter().map(|(name, _)| name.to_owned()).collect())
}

/// Globs, since an exact refspec makes every fetch fail while the remote has no such ref.
fn fetch(clone: &Repository, git: &Git, remote: &str, place: &str) -> Result<(), repo::Error> {
    let refspec = |from: &str| format!("+{from}*:{place}{}*", from.strip_prefix("refs/").unwrap_or(from));
    let refspecs = ["refs/heads/", "refs/tags/", "refs/hydrate/", NOTES_REF].map(refspec);
    let mut args =
        vec!["fetch", "--quiet", "--no-tags", "--prune", "--no-prune-tags", "--refmap=", "--no-write-fetch-head"];
    args.push("--recurse-submodules=no");
    if clone.is_shallow() {
        args.push("--unshallow");
    }
    args.extend(["--", remote]);
    args.extend(refspecs.iter().map(String::as_str));
    git.output(&args).map(drop)
}

fn point_head(git: &Git, place: &str, head: Option<&str>) -> Result<(), repo::Error> {
    let name = format!("{place}HEAD");
    match head {
        Some(branch) => git.output(&["symbolic-ref", &name, &format!("{place}heads/{branch}")]).map(drop),
        None => {
            // There may be none.
            drop(git.output(&["symbolic-ref", "--delete", &name]));
            Ok(())
        }
    }
}

/// Where the history of the copy is cut off: the remote has no more either.
fn cut_off(clone: &Repository, git: &Git, place: &str) -> Result<Vec<String>, repo::Error> {
    let mut found = Vec::new();
    for commit in clone.boundaries() {
        let args = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", &commit, place];
        if !git.output(&args)?.is_empty() {
            found.push(commit);
        }
    }
    Ok(found)
}
