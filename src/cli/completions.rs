//! `git hydrate completions`: what a shell offers after `git hydrate`.

use clap_complete::Shell;

use super::{Outcome, command_line, output};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_line(), "git-hydrate", &mut text);
    output::print(&text)?;
    Ok(Outcome::Done)
}
