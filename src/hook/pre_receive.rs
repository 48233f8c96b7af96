use std::io::Read;
use std::path::Path;

use super::options::access;
use super::{Options, STDIN_BYTES_MAX};
use crate::application::PatternError;
use crate::diag::{Diagnostic, chain};
use crate::git::{Error, Location, Quarantine, Repository, object_id};
use crate::hydrate::{self, HydrateError, RefNames, RefUpdate, Setup, Silent, Wake};
use crate::render::{Machine, Renderers};
use crate::report::{Console, wrap};

/// Runs as `pre-receive` in the repository at `git_dir`: answers whether git may take the push, and tells the pusher why
/// not.
///
/// `stdin` holds git's lines `<old> <new> <ref>`. Nothing is written, whatever the answer is. When it cannot be found,
/// the push is refused: an admin who does not want that switches the guard off.
pub fn pre_receive(git_dir: &Path, stdin: impl Read, machine: &Machine) -> bool {
    let mut console = Console::new();
    match run(git_dir, stdin, machine) {
        Ok(refusals) => {
            let text: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            if !text.is_empty() {
                console.print(&text.join("\n"));
            }
            refusals.is_empty()
        }
        Err(error) => {
            console
                .print(&wrap(&format!("error: nobody can tell whether this push may go in: {}", chain(&error)), "  "));
            console.print("hint: an admin finds out by `git hydrate doctor`, or lets pushes through by\n  `git config hydrate.guard false`");
            false
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum Undecided {
    #[error(transparent)]
    Hydrate(#[from] HydrateError),
    #[error("hydrate.promoted: {0}")]
    Promoted(#[from] PatternError),
    #[error("reading what is pushed")]
    Input(#[from] std::io::Error),
}

impl From<Error> for Undecided {
    fn from(error: Error) -> Self {
        Self::Hydrate(error.into())
    }
}

fn run(git_dir: &Path, stdin: impl Read, machine: &Machine) -> Result<Vec<Diagnostic>, Undecided> {
    let quarantine = Quarantine::of(|name| std::env::var_os(name));
    let repository = match &quarantine {
        Some(quarantine) => Repository::open_quarantined(git_dir, quarantine, &machine.temp_dir)?,
        None => Repository::open(git_dir, Location::Hook)?,
    };
    if !Options::read(&repository).guard {
        return Ok(Vec::new());
    }
    let updates = updates(stdin)?;
    let renderers = Renderers::from_config(&repository, machine)?;
    let setup = Setup {
        repository: &repository,
        refs: RefNames::server(),
        wake: Wake::Pushed(Vec::new()),
        renderers: &renderers,
        out_of_time: &|| false,
        observer: &Silent,
    };
    Ok(hydrate::guard(&setup, &updates, &access(&repository)?)?)
}

/// What git says would be updated.
fn updates(stdin: impl Read) -> std::io::Result<Vec<RefUpdate>> {
    let mut lines = Vec::new();
    stdin.take(STDIN_BYTES_MAX + 1).read_to_end(&mut lines)?;
    if lines.len() as u64 > STDIN_BYTES_MAX {
        return Err(std::io::Error::other("more refs than one push may hold"));
    }
    let update = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.splitn(3, ' ').skip(1);
        let (new, name) = (words.next()?, words.next()?.to_owned());
        Some(RefUpdate { name, new: object_id(new).filter(|id| !id.is_null()) })
    };
    Ok(lines.split(|byte| *byte == b'\n').filter_map(update).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ref_of_the_input_counts() {
        let (zeros, id) = ("0".repeat(40), "1".repeat(40));
        let input =
            format!("{zeros} {id} refs/heads/main\n{id} {zeros} refs/heads/a b\n{zeros} {id} refs/heads/\u{fc}");
        let found = updates(input.as_bytes()).expect("short");
        let found: Vec<_> = found.iter().map(|update| (update.name.as_str(), update.new.is_some())).collect();
        assert_eq!(found, [("refs/heads/main", true), ("refs/heads/a b", false), ("refs/heads/\u{fc}", true)]);
        let input = b"0 1 refs/heads/\xff\n";
        assert_eq!(updates(&input[..]).expect("short").len(), 1);
    }
}
