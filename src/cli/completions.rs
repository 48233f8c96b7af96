//! `git hydrate completions`: what a shell offers after `git hydrate`.

use clap_complete::Shell;

use super::{Outcome, command_line, output};

/// Print the completions of a shell.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    let mut command = command_line();
    match arguments.shell {
        Shell::Bash => {
            clap_complete::generate(Shell::Bash, &mut command.bin_name(BASH_NAME), BASH_NAME, &mut text);
            text.extend_from_slice(NAMES.as_bytes());
            text.extend_from_slice(BASH_GLUE.as_bytes());
        }
        Shell::Zsh => {
            clap_complete::generate(Shell::Zsh, &mut command, "git-hydrate", &mut text);
            text = with_names(&String::from_utf8_lossy(&text)).into_bytes();
        }
        Shell::Fish => {
            clap_complete::generate(Shell::Fish, &mut command, "git-hydrate", &mut text);
            text.extend_from_slice(FISH_GLUE.as_bytes());
        }
        shell => clap_complete::generate(shell, &mut command, "git-hydrate", &mut text),
    }
    output::print_content(&text)?;
    Ok(Outcome::Done)
}

/// What the generated script of bash believes the program to be called: with a dash in it the labels of the
/// subcommands would not match (clap_complete 4.6).
const BASH_NAME: &str = "__git_hydrate";

/// What the repository has, as a function for bash and zsh.
const NAMES: &str = include_str!("completions/names.sh");

/// Hands over what git's own completion asks for, and what `git-hydrate` itself is asked for.
const BASH_GLUE: &str = include_str!("completions/bash.sh");

const ZSH_GLUE: &str = include_str!("completions/zsh.sh");

const FISH_GLUE: &str = include_str!("completions/fish.fish");

/// The values in the script of zsh that are names of the repository: how the value is described, and what it is.
const ZSH_VALUES: [(&str, &str); 9] = [
    (":BRANCH:", "branches"),
    ("'*--environment=[", "branches"),
    ("'::range -- ", "branches"),
    (":REV:", "revisions"),
    (":REF:", "revisions"),
    ("'::rev -- The dry commit", "revisions"),
    ("'::what -- A dry commit", "revisions"),
    ("'*--application=[", "applications"),
    ("':what -- The name of an Application", "applications"),
];

/// The script of zsh with the functions that know the names of the repository.
fn with_names(script: &str) -> String {
    let lines: Vec<String> = script.lines().map(with_names_of_value).collect();
    let (first, rest) = lines.split_first().map_or((String::new(), &[][..]), |(first, rest)| (first.clone(), rest));
    format!("{first}\n{NAMES}{ZSH_GLUE}{}\n", rest.join("\n"))
}

/// A line of it, which calls the function of the value that it describes.
fn with_names_of_value(line: &str) -> String {
    match ZSH_VALUES.iter().find(|(description, _)| line.contains(description)) {
        Some((_, what)) => line.replace(":_default'", &format!(":__git_hydrate_{what}'")),
        None => line.to_owned(),
    }
}
