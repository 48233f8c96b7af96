//! Fetching from a host where anyone may have made a ref that keeps git from having one of hydration's beside it.
//!
//! `refs/hydrate/config/x` is enough: `refs/hydrate/config` cannot be made, and the fetch fails. It says nothing that counts, so
//! what is asked goes on without it.

use crate::repo::{self, Repository};
use crate::tell::worker;
use dry_files::diag::{Diagnostic, shell_word};

/// What reflogs say of refs that were in the way.
const REASON: &str = "hydrate: fetch";

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
) -> Result<Option<Diagnostic>, repo::Error> {
    // As a `git fetch` brought it.
    worker::take_out_of_the_way(repository, REASON)?;
    let args = [options, &["--", remote], refspecs].concat();
    let fetched = repository.git().output(&args);
    let there: Vec<String> = match fetched {
        // Where nothing was beside it, it came along.
        Ok(_) => worker::take_out_of_the_way(repository, REASON)?.into_iter().collect(),
        Err(error) => {
            let there = at_remote(repository, remote).unwrap_or_default();
            if there.is_empty() {
                return Err(error);
            }
            let without = worker::not_in_the_way();
            let without: Vec<&str> = without.iter().map(String::as_str).collect();
            repository.git().output(&[&args[..], &without].concat())?;
            there
        }
    };
    warning(repository, remote, &there)
}

fn warning(repository: &Repository, remote: &str, there: &[String]) -> Result<Option<Diagnostic>, repo::Error> {
    let Some((first, ours)) = there.first().and_then(|first| Some((first, worker::of_hydration(first)?))) else {
        return Ok(None);
    };
    let refs = repository.refs()?;
    let is_kept = refs.get(ours).is_some() || refs.below(ours).next().is_some();
    let what = if is_kept { "what was fetched of that before counts" } else { "none counts" };
    let named = there.iter().take(NAMED_MAX).map(|name| shell_word(name).to_string()).collect::<Vec<_>>().join(" ");
    let hint = format!("git push {} --delete {named}", shell_word(remote));
    let text = format!("{remote} has `{first}`, beside which git cannot have `{ours}`: {what}");
    Ok(Some(Diagnostic::warning(text).hint(hint)))
}

fn at_remote(repository: &Repository, remote: &str) -> Result<Vec<String>, repo::Error> {
    let listing = repository.git().output(&["ls-remote", "--", remote, "refs/hydrate/*", "refs/notes/*"])?;
    let listing = String::from_utf8_lossy(&listing);
    let names = listing.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name);
    Ok(names.filter(|name| worker::of_hydration(name).is_some()).map(str::to_owned).collect())
}
