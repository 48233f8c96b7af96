//! `git hydrate help [COMMAND]`: what `--help` prints.

use anyhow::bail;

use super::{Arguments as CommandLine, Outcome, WrongUse, output};
use clap::CommandFactory as _;

/// Print the help of a command, or of all.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The command; all of them unless given.
    command: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut line = CommandLine::command();
    line.build();
    let command = match &arguments.command {
        None => &mut line,
        Some(name) => {
            let known: Vec<String> = line.get_subcommands().map(|known| known.get_name().to_owned()).collect();
            let close = |known: &&String| strsim::jaro_winkler(known, name) > 0.8;
            let Some(command) = line.find_subcommand_mut(name) else {
                let close = known.iter().find(close).map(|name| format!("; did you mean `{name}`?"));
                bail!(WrongUse(format!("`{name}` is not a git hydrate command{}", close.unwrap_or_default())));
            };
            command
        }
    };
    output::print(command.render_long_help().to_string())?;
    Ok(Outcome::Done)
}
