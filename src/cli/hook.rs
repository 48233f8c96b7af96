//! `git hydrate hook NAME`: what the shims in `hooks/` call.

use std::path::PathBuf;

use super::Outcome;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The hook that git runs.
    name: Name,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Before a push is taken: refuse what must not go in.
    PreReceive,
    /// After a push: hydrate what is not hydrated yet.
    PostReceive,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let git_dir = std::env::var_os("GIT_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let success = match arguments.name {
        Name::PreReceive => crate::hook::pre_receive(&git_dir, std::io::stdin().lock(), &super::machine()?),
        Name::PostReceive => crate::hook::post_receive(&git_dir, std::io::stdin().lock(), &super::machine()?),
    };
    Ok(if success { Outcome::Done } else { Outcome::Found })
}
