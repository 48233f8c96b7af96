//! What a clone fetches besides its branches, so that it renders as the server does.

use super::{Error, Installer, State};

/// The ref that holds the note of every environment branch.
const NOTES_REF: &str = "refs/notes/hydrator.metadata";

impl Installer<'_> {
    /// Has `git fetch` bring the settings and the notes of `remote` along, and `git log` show the notes.
    ///
    /// Globs, since a fetch fails that names a ref which the remote does not have.
    pub fn client(&mut self, remote: &str) -> Result<(), Error> {
        let key = format!("remote.{remote}.fetch");
        let namespace = NOTES_REF.rsplit_once('.').map_or(NOTES_REF, |(namespace, _)| namespace);
        let refspecs = ["+refs/hydrate/*:refs/hydrate/*".to_owned(), format!("+{namespace}.*:{namespace}.*")];
        for refspec in refspecs {
            let state = if self.config.lend(&key, &refspec)? { State::Done } else { State::Already };
            self.step(state, format!("{key} = {refspec}"));
        }
        let state = if self.config.lend("notes.displayref", NOTES_REF)? { State::Done } else { State::Already };
        self.step(state, format!("notes.displayRef = {NOTES_REF}: git log shows the notes"));
        Ok(())
    }
}
