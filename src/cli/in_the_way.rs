//! Fetching from a host where anyone may have made a ref that keeps git from having one of hydration's beside it.
//!
//! `refs/hydrate/config/x` is enough: `refs/hydrate/config` cannot be made, and the fetch fails. It says nothing that counts, so
//! what is asked goes on without it.

use crate::git::{self, Expected, RefEdit, Repository, update_refs};
use crate::worker;
use dry_files::diag::{Diagnostic, shell_word};

/// How many refs are named.
const NAMED_MAX: usize = 3;

/// Fetches these refspecs without what is in the way of hydration's refs, here or at the remote. Answers a warning of what the
/// remote has of that.
///
/// Errors: the fetch, for another reason.
pub(super) fn fetch(
    repository: &Repository,
    remote: &str,
    (options, refspecs): (&[&str], &[&str]),
) -> Result<Option<Diagnostic>, git::Error> {
    // As a `git fetch` brought it.
    remove(repository)?;
    let args = [options, &["--", remote], refspecs].concat();
    let fetched = repository.git().output(&args);
    let there = match fetched {
        // Where nothing was beside it, it came along.
        Ok(_) => remove(repository)?,
        Err(error) => {
            let there = at_remote(repository, remote).unwrap_or_default();
            if there.is_empty() {
                return Err(error);
            }
            let without: Vec<String> = there.iter().map(|name| format!("^{name}")).collect();
            let without: Vec<&str> = without.iter().map(String::as_str).collect();
            repository.git().output(&[&args[..], &without].concat())?;
            there
        }
    };
    Ok(warning(remote, &there))
}

fn warning(remote: &str, there: &[String]) -> Option<Diagnostic> {
    let first = there.first()?;
    let what = format!(
        "{remote} has `{first}`, beside which git cannot have `{}`: what was fetched of that before counts",
        worker::of_hydration(first)?
    );
    let named = there.iter().take(NAMED_MAX).map(|name| shell_word(name).to_string()).collect::<Vec<_>>().join(" ");
    let hint = format!("git push {} --delete {named}", shell_word(remote));
    Some(Diagnostic::warning(what).hint(hint))
}

/// Takes out of a clone what is in the way. Answers which.
fn remove(repository: &Repository) -> Result<Vec<String>, git::Error> {
    let refs = repository.refs()?;
    let here = refs.iter().filter(|(name, _)| worker::of_hydration(name).is_some());
    let edit = |(name, id): (&str, _)| RefEdit { name: name.to_owned(), new: None, expected: Expected::Is(id) };
    let edits: Vec<RefEdit> = here.map(edit).collect();
    if !edits.is_empty() {
        update_refs(repository, &edits, "hydrate: fetch")
            .map_err(|error| git::Error::new("taking refs out of the way of hydration's", error))?;
    }
    Ok(edits.into_iter().map(|edit| edit.name).collect())
}

fn at_remote(repository: &Repository, remote: &str) -> Result<Vec<String>, git::Error> {
    let listing = repository.git().output(&["ls-remote", "--", remote, "refs/hydrate/*", "refs/notes/*"])?;
    let listing = String::from_utf8_lossy(&listing);
    let names = listing.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name);
    Ok(names.filter(|name| worker::of_hydration(name).is_some()).map(str::to_owned).collect())
}
