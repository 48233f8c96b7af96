//! `git hydrate man`: manual pages, which `git hydrate --help` and `git help hydrate` look for.

use std::path::PathBuf;

use anyhow::Context as _;
use clap_mangen::Man;

use super::{Outcome, command_line, output};

/// Print the manual page, or write all pages into a directory.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write the pages of all commands there, instead of printing the main one.
    directory: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut command = command_line();
    command.build();
    let mut pages = vec![("git-hydrate".to_owned(), page(command.clone())?)];
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let name = format!("git-hydrate-{}", subcommand.get_name());
        pages.push((name.clone(), page(subcommand.clone().display_name(name))?));
    }
    match &arguments.directory {
        None => output::print_content(&pages.swap_remove(0).1)?,
        Some(directory) => {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
            for (name, page) in pages {
                let path = directory.join(format!("{name}.1"));
                std::fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// The page of one command, without a date: the same text in each build.
fn page(command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).date("").manual("Git Manual").render(&mut text)?;
    Ok(text)
}
