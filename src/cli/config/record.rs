//! Settings as commits of `refs/hydrate/config`.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};

use super::super::output;
use super::server_of;
use crate::owners::policy::{check_settings, readable_files, settings_files};
use crate::repo::{
    Expected, Mode, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, Signature, TransactionError, TreeEdit,
    update_refs,
};
use crate::settings::{SETTINGS_REF, SettingsFiles as Files, UNPUSHED_REF};
use dry_files::diag::printable;

pub(super) fn read(repository: &Repository) -> anyhow::Result<Files> {
    let buffer = ObjectBuffer::new(repository);
    Ok(settings_files(&repository.refs()?, &buffer)?.1)
}

/// The settings as they are, to be corrected: hydration may not be able to work with them. Warns of a file that the next
/// change leaves out.
pub(super) fn read_to_correct(repository: &Repository) -> anyhow::Result<Files> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let commit = refs.get(SETTINGS_REF).map(|commit| buffer.commit(commit)).transpose()?;
    let (files, left_out) = readable_files(commit.map(|commit| commit.tree), &buffer)?;
    if let Some(why) = left_out {
        let hint = "the next change with `git hydrate config` leaves it out";
        output::warn(&format!("warning: {SETTINGS_REF}: {}\nhint: {hint}", printable(&why.to_string())));
    }
    Ok(files)
}

/// Commits the settings, when they are right and differ from those there are; answers whether they do.
pub(in super::super) fn write(repository: &Repository, files: &Files, message: &str) -> anyhow::Result<bool> {
    check_settings(files)?;
    let buffer = ObjectBuffer::new(repository);
    let old = repository.refs()?.get(SETTINGS_REF);
    let tree = tree_of(&buffer, files)?;
    let unchanged = old.map(|old| buffer.commit(old)).transpose()?.map_or(buffer.empty_tree_id(), |commit| commit.tree);
    if tree == unchanged {
        return Ok(false);
    }
    let commit = NewCommit {
        tree,
        parents: old.into_iter().collect(),
        author: identity(repository, "GIT_AUTHOR_IDENT")?,
        committer: identity(repository, "GIT_COMMITTER_IDENT")?,
        message: format!("{}\n", message.trim_end()),
    };
    let new = buffer.write_commit(&commit)?;
    let _kept = buffer.flush()?;
    move_ref(repository, new, old, message)?;
    if server_of(repository)?.is_some() {
        let known = repository.refs()?.get(UNPUSHED_REF);
        let edit = RefEdit { name: UNPUSHED_REF.to_owned(), new: Some(new), expected: Expected::from(known) };
        update_refs(repository, &[edit], message.lines().next().unwrap_or_default())?;
    }
    Ok(true)
}

pub(super) fn tree_of(buffer: &ObjectBuffer<'_>, files: &Files) -> anyhow::Result<ObjectId> {
    let mut edits = BTreeMap::new();
    for (name, content) in files.iter().filter(|(_, content)| !content.is_empty()) {
        edits.insert(name.clone(), TreeEdit::Put(Mode::File, buffer.write_blob(content)?));
    }
    Ok(buffer.edit_tree(buffer.empty_tree_id(), &edits)?)
}

fn move_ref(repository: &Repository, new: ObjectId, old: Option<ObjectId>, message: &str) -> anyhow::Result<()> {
    let edit = RefEdit { name: SETTINGS_REF.to_owned(), new: Some(new), expected: Expected::from(old) };
    let subject = message.lines().next().unwrap_or_default();
    match update_refs(repository, &[edit], subject) {
        Err(TransactionError::Raced(_)) => {
            bail!("the settings were changed meanwhile: review them and try again")
        }
        result => Ok(result?),
    }
}

/// Who git says the user is.
pub(in super::super) fn identity(repository: &Repository, variable: &str) -> anyhow::Result<Signature> {
    let git = repository.git();
    let answer = match git.output(&["var", variable]) {
        // The account of a server often has no name of its own.
        Err(_) if server_of(repository)?.is_none() => {
            git.output(&["-c", "user.name=git-hydrate", "-c", "user.email=git-hydrate@localhost", "var", variable])
        }
        answer => answer,
    }
    .context("who you are is unknown; to say it: git config user.name NAME; git config user.email ADDRESS")?;
    let answer = String::from_utf8_lossy(&answer).trim_end().to_owned();
    signature(&answer).with_context(|| format!("git var {variable}: {answer}"))
}

/// Reads `Name <email> seconds +hhmm`.
fn signature(text: &str) -> Option<Signature> {
    let (name, rest) = text.split_once(" <")?;
    let (email, time) = rest.rsplit_once("> ")?;
    let (seconds, zone) = time.split_once(' ')?;
    let zone: i32 = zone.parse().ok()?;
    let offset = (zone / 100 * 60 + zone % 100) * 60;
    Some(Signature { name: name.to_owned(), email: email.to_owned(), seconds: seconds.parse().ok()?, offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_as_git_prints_them() {
        for text in ["Some Body <some@example.com> 1700000000 -0330", "A <B> <a@example.com> 0 +0000"] {
            assert_eq!(signature(text).expect(text).to_string(), text);
        }
        assert_eq!(signature("nobody"), None);
    }
}
