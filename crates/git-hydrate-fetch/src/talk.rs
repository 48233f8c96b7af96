//! The one way out and the answers to questions.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use inputs::InputFile;
use inputs::wire::{self, FromFetcher};

/// A name and a password.
pub(crate) type Credential = (String, String);

/// Says one thing after the other, whichever thread has it to say.
#[derive(Default)]
pub(crate) struct Talk {
    out: Mutex<()>,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    last: u32,
    is_closed: bool,
    waiting: HashMap<u32, Sender<Option<Credential>>>,
}

impl Talk {
    /// Says something, with the files that it announces.
    pub(crate) fn say(&self, message: &FromFetcher, files: &[InputFile]) -> io::Result<()> {
        let _turn = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        wire::write(&mut out, message)?;
        files.iter().try_for_each(|file| out.write_all(&file.data))?;
        out.flush()
    }

    /// Asks for the credential of a host, and waits.
    pub(crate) fn ask(&self, host: &str) -> Option<Credential> {
        let (give, take) = mpsc::channel();
        let ask = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.is_closed {
                return None;
            }
            asked.last += 1;
            let ask = asked.last;
            asked.waiting.insert(ask, give);
            ask
        };
        self.say(&FromFetcher::Ask { ask, host: host.to_owned() }, &[]).ok()?;
        take.recv().ok().flatten()
    }

    /// Hands an answer to the caller.
    pub(crate) fn answer(&self, ask: u32, found: Option<Credential>) {
        let waiting = self.asked.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&ask);
        if let Some(waiting) = waiting {
            // It may have given up.
            let _ = waiting.send(found);
        }
    }

    /// There will be no more answers.
    pub(crate) fn close(&self) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_closed = true;
        asked.waiting.clear();
    }
}
