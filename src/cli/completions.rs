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
            text.extend_from_slice(BASH_GLUE.as_bytes());
        }
        shell => clap_complete::generate(shell, &mut command, "git-hydrate", &mut text),
    }
    output::print_content(&text)?;
    Ok(Outcome::Done)
}

/// What the generated script of bash believes the program to be called: with a dash in it the labels of the
/// subcommands would not match (clap_complete 4.6).
const BASH_NAME: &str = "__git_hydrate";

/// Hands over what git's own completion asks for, and what `git-hydrate` itself is asked for.
const BASH_GLUE: &str = r#"
# git's completion calls this with `words` and `cword` set; an alias may stand in place of `hydrate`.
_git_hydrate() {
    local first=${__git_cmd_idx:-1}
    local COMP_WORDS=(__git_hydrate "${words[@]:first+1}") COMP_CWORD=$((cword - first))
    ___git_hydrate __git_hydrate "$cur" "$prev"
}

__git_hydrate_alone() {
    COMP_WORDS[0]=__git_hydrate
    ___git_hydrate __git_hydrate "$2" "$3"
}
complete -F __git_hydrate_alone -o bashdefault -o default git-hydrate
"#;
