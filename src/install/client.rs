//! What a clone fetches besides its branches, so that it renders as the server does, and what checks its pushes.

use std::path::Path;

use super::hook::CLIENT_HOOKS;
use super::{Error, Installer, State};
use crate::metadata::NOTES_REF;
use crate::owners::heads::{REMOTE, dry_remote};

/// The keys and values that a clone of `remote` needs, in git's own spelling.
///
/// Globs, since a fetch fails that names a ref which the remote does not have.
pub(super) fn fetched(remote: &str) -> [(String, String); 3] {
    let namespace = NOTES_REF.rsplit_once('.').map_or(NOTES_REF, |(namespace, _)| namespace);
    [
        (format!("remote.{remote}.fetch"), "+refs/hydrate/*:refs/hydrate/*".to_owned()),
        (format!("remote.{remote}.fetch"), format!("+{namespace}.*:{namespace}.*")),
        ("notes.displayRef".to_owned(), NOTES_REF.to_owned()),
    ]
}

impl Installer<'_> {
    /// Has `git fetch` bring the settings and the notes of `remote` along, `git log` show the notes, and the program at
    /// `binary` check what is pushed there.
    pub(crate) fn client(&mut self, remote: &str, binary: &Path) -> Result<(), Error> {
        self.hooks(CLIENT_HOOKS, binary)?;
        if dry_remote(self.repository).as_deref() != Some(remote) && self.config.set(REMOTE, remote)? {
            self.step(State::Done, format!("{REMOTE} = {remote}"));
        }
        for (key, value) in fetched(remote) {
            let state = if self.config.lend(&key, &value)? { State::Done } else { State::Already };
            self.step(state, format!("{key} = {value}"));
        }
        Ok(())
    }
}
