//! Settings that a clone changed and did not push yet: no fetch takes them away.
//!
//! `refs/hydrate/*` follows the remote by force, here and in what `install --client` sets. So a change is remembered under
//! a ref that is not fetched by default, until the settings of the remote contain it.

use dry_files::diag::shell_word;

use crate::repo::{Expected, ObjectId, RefEdit, Refs, Repository, update_refs};
use crate::settings::{SETTINGS_REF, UNPUSHED_REF};

/// Brings settings back that a fetch from `remote` replaced before they were pushed, and answers what to tell the user of
/// them; forgets those that the remote has.
pub(super) fn keep(repository: &Repository, remote: &str) -> anyhow::Result<Option<String>> {
    let refs = repository.refs()?;
    let Some(ours) = refs.get(UNPUSHED_REF) else { return Ok(None) };
    let Some(there) = refs.get(SETTINGS_REF).filter(|there| *there != ours) else { return Ok(None) };
    if repository.is_ancestor(ours, there) {
        set(repository, UNPUSHED_REF, ours, None)?;
        return Ok(None);
    }
    set(repository, SETTINGS_REF, there, Some(ours))?;
    let remote = shell_word(remote);
    let text = match repository.is_ancestor(there, ours) {
        true => format!(
            "warning: the settings of this clone are not pushed yet\n\
             hint: to have the server use them: git push {remote} {SETTINGS_REF}"
        ),
        false => "warning: the settings were changed in this clone and on the server; those of this clone are used\n\
                  hint: to put those of this clone on top of the server's: git hydrate config rebase"
            .to_owned(),
    };
    Ok(Some(format!(
        "{text}\nhint: to take those of the server: git update-ref -d {UNPUSHED_REF} && \
         git fetch {remote} +{SETTINGS_REF}:{SETTINGS_REF}"
    )))
}

/// The settings of this clone, where they are not pushed.
pub(super) fn settings(repository: &Repository) -> anyhow::Result<Option<ObjectId>> {
    let refs = repository.refs()?;
    Ok(refs.get(UNPUSHED_REF).filter(|ours| refs.get(SETTINGS_REF) == Some(*ours)))
}

/// Puts the settings back that were there `before`: what was changed since did not get to the server.
pub(super) fn restore(repository: &Repository, before: &Refs) -> anyhow::Result<()> {
    let now = repository.refs()?;
    let changed = [SETTINGS_REF, UNPUSHED_REF].into_iter().filter(|name| now.get(name) != before.get(name));
    let edits: Vec<RefEdit> = changed
        .map(|name| {
            let (name, new, expected) = (name.to_owned(), before.get(name), Expected::from(now.get(name)));
            RefEdit { name, new, expected }
        })
        .collect();
    Ok(update_refs(repository, &edits, "hydrate: the server refused the settings")?)
}

fn set(repository: &Repository, name: &str, old: ObjectId, new: Option<ObjectId>) -> anyhow::Result<()> {
    let edit = RefEdit { name: name.to_owned(), new, expected: Expected::from(Some(old)) };
    Ok(update_refs(repository, &[edit], "hydrate: keep settings that are not pushed")?)
}
