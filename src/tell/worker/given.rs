//! Which settings count: those that the job names. What a remote has in `refs/hydrate/config` may be anyone's.

use super::copy::Copy;
use super::{Error, Orders};
use crate::hydrate;
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::dry_branches;
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::policy;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId, Repository};
use crate::settings::{HOLD_FILE, SETTINGS_REF, Settings, SettingsFiles};

/// Which settings count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// None but those that hydration finds out by itself.
    FoundOut,
    /// These files.
    Folder(SettingsFiles),
    /// Those in this ref of the remote: the short name of a branch, or the full name of a ref.
    Ref(String),
}

/// The commit of the settings that count; none when hydration is to find out what it needs.
pub(super) fn decide(copy: &Copy, orders: &Orders, renderers: &Renderers) -> Result<Option<ObjectId>, Error> {
    let there = copy.there.get(SETTINGS_REF);
    let world = (renderers, orders.now);
    match &orders.settings {
        Given::Ref(name) => of_ref(copy, name).map(Some),
        Given::FoundOut => match there {
            None => Ok(None),
            // Nothing that anyone may write takes a branch back.
            Some(there) if !holds(copy, there)? && is_what_is_found_out(copy, there, None, world)? => Ok(Some(there)),
            Some(_) => Err(Error::UnnamedSettings(copy.remote.clone())),
        },
        Given::Folder(files) => {
            let alone = dry_branches::keep_settings(&copy.repository, files, None)?;
            match there {
                Some(there) if is_what_is_found_out(copy, there, Some(alone), world)? => {
                    holding(copy, there, files).map(Some)
                }
                // Commits of branches name the settings before: they stay.
                Some(there) if copy.repository.commit(there).is_ok() => {
                    Ok(Some(dry_branches::keep_settings(&copy.repository, files, Some(there))?))
                }
                Some(_) | None => Ok(Some(alone)),
            }
        }
    }
}

/// Whether settings hold a branch, or say so in a way that cannot be read.
fn holds(copy: &Copy, settings: ObjectId) -> Result<bool, Error> {
    let (_, files) = policy::files_of(Some(settings), &ObjectBuffer::new(&copy.repository))?;
    Ok(files.contains_key(HOLD_FILE))
}

/// The settings `there`, with what `files` hold: that does not change the settings that commits name.
fn holding(copy: &Copy, there: ObjectId, files: &SettingsFiles) -> Result<ObjectId, Error> {
    let (_, known) = policy::files_of(Some(there), &ObjectBuffer::new(&copy.repository))?;
    let held = files.get(HOLD_FILE);
    if known.get(HOLD_FILE) == held {
        return Ok(there);
    }
    let mut wanted = known;
    match held {
        Some(held) => drop(wanted.insert(HOLD_FILE.to_owned(), held.clone())),
        None => drop(wanted.remove(HOLD_FILE)),
    }
    Ok(dry_branches::keep_settings(&copy.repository, &wanted, Some(there))?)
}

/// The branch that settings are taken from, by its full name; none when they come from elsewhere.
pub(super) fn branch(settings: &Given) -> Option<String> {
    match settings {
        Given::Ref(name) => Some(full(name)).filter(|name| name.starts_with("refs/heads/")),
        Given::FoundOut | Given::Folder(_) => None,
    }
}

fn full(name: &str) -> String {
    if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") }
}

fn of_ref(copy: &Copy, name: &str) -> Result<ObjectId, Error> {
    let full = full(name);
    let missing = || Error::NoSettings { remote: copy.remote.clone(), name: full.clone() };
    copy.there.get(&full).ok_or_else(missing)
}

/// Whether settings are what the settings `base` become when the first hydration adds what it finds out, or a part of that.
/// Then no one else wrote them, or the difference cannot be seen.
fn is_what_is_found_out(
    copy: &Copy,
    there: ObjectId,
    base: Option<ObjectId>,
    (renderers, now): (&Renderers, i64),
) -> Result<bool, Error> {
    let Some(mut there) = read(&copy.repository, there) else { return Ok(false) };
    let fresh = copy.fresh(base)?;
    let setup = Setup::new(&fresh, Place::server(), Wake::Everything, renderers, now);
    let expected = match hydrate::first_settings(&setup) {
        Ok(settings) => settings,
        Err(error @ HydrateError::Git(_)) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    if there.dry_branches.is_empty() {
        there.dry_branches.clone_from(&expected.dry_branches);
    }
    if there.repo_urls.is_empty() {
        there.repo_urls.clone_from(&expected.repo_urls);
    }
    there.made_applications = there.made_applications.or(expected.made_applications);
    Ok(there == expected)
}

fn read(repository: &Repository, commit: ObjectId) -> Option<Settings> {
    let buffer = ObjectBuffer::new(repository);
    let (_, files) = policy::files_of(Some(commit), &buffer).ok()?;
    Settings::read(&files).ok()
}

impl Copy {
    /// The repository before anything was hydrated in it, with these settings. It can be read only.
    fn fresh(&self, settings: Option<ObjectId>) -> Result<Repository, Error> {
        let gone = [(NOTES_REF.to_owned(), None), (RECORDS_REF.to_owned(), None), (SETTINGS_REF.to_owned(), settings)];
        Ok(self.open()?.after(gone))
    }
}
