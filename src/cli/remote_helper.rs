//! `git-remote-hydrate`, which git runs for `hydrate::<url>`.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::{Outcome, WrongUse};
use crate::remote::{self, Address, GUARD};
use crate::render::process::wall::{self, Ended};

/// Serve a fetch from `hydrate::<url>`; git calls this by the name git-remote-hydrate.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The remote, or its address when it has no name.
    remote: String,
    /// The address.
    url: Option<String>,
    /// What git asked for; nothing has been asked yet when it is left out.
    #[arg(long, hide = true)]
    request: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if std::env::var_os(GUARD).is_some() {
        bail!(WrongUse("the address of a dry repository cannot itself begin with hydrate::".to_owned()));
    }
    let url = arguments.url.as_deref().unwrap_or(&arguments.remote);
    let address = Address::new(url).map_err(|error| WrongUse(error.to_string()))?;
    let machine = super::machine()?;
    match &arguments.request {
        Some(request) => remote::serve(request, &address, clone_dir().as_deref(), &caches()?, &machine)?,
        None => match remote::listen(&arguments.remote, &address, &machine)? {
            None | Some(Ended::Exit(0)) => {}
            // It has said why.
            Some(Ended::Exit(_)) => return Ok(Outcome::Found),
            Some(Ended::Signal(signal)) if wall::is_wanted(signal) => return Ok(Outcome::Found),
            Some(Ended::Signal(signal)) => bail!(wall::died(signal)),
        },
    }
    Ok(Outcome::Done)
}

/// The git directory of who asks, as git tells its helpers; none of a `git ls-remote` outside of any.
fn clone_dir() -> Option<PathBuf> {
    std::env::var_os("GIT_DIR").map(PathBuf::from)
}

/// Where caches are, as the XDG base directories have it.
fn caches() -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.context("finding a place for the cache: neither HOME nor XDG_CACHE_HOME is set")?;
    Ok(cache.join("git-hydrate").join("remotes"))
}
