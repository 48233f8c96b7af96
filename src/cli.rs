//! The command line: arguments as types, one file a subcommand, each a thin wrapper over an operation.
//!
//! A subcommand answers what its exit code shall say, as an [`Outcome`], and prints what it found itself. Whatever it
//! hands up as an error is printed here, in the form of git's own messages.

mod adopt;
mod catch_up;
mod check;
mod clone;
mod commit;
mod completions;
mod config;
mod diff;
mod doctor;
mod explain;
mod help;
mod hook;
mod hydrate;
mod init;
mod install;
mod log;
mod man;
mod output;
mod remote_helper;
mod render;
mod screen;
mod status;
mod verify;

use std::ffi::OsString;
use std::num::NonZero;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::git::{self, Location, ObjectId, Repository};
use crate::render::Machine;

/// Renders Argo CD Applications into environment branches, inside the git server and on your machine.
#[derive(Debug, Parser)]
#[command(name = "git-hydrate", bin_name = "git hydrate", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_value_name = "COMMAND")]
#[command(override_usage = "git hydrate [OPTIONS] [REV]\n       git hydrate [--json] <COMMAND> …")]
struct Arguments {
    /// Print JSON, for programs.
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    hydrate: hydrate::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a small working example to begin with.
    Init(init::Arguments),
    /// Find everything that is wrong with the Applications of a dry tree.
    Check(check::Arguments),
    /// Show what would change in each environment.
    Diff(diff::Arguments),
    /// Print manifests: of an Application, or of a kustomization or directory on disk.
    Render(render::Arguments),
    /// Show how each environment branch stands, and what failed.
    Status(status::Arguments),
    /// Show hydrated history with the dry commits behind it.
    Log(log::Arguments),
    /// Lead from a hydrated object or line to its Application, its dry files and the dry commit that last changed it.
    Explain(explain::Arguments),
    /// Make hydrated commits again and compare their ids with what is there.
    Verify(verify::Arguments),
    /// Hydrate what a crash, an import or a new setting left behind.
    CatchUp(catch_up::Arguments),
    /// Hand branches over to hydration that it did not make.
    Adopt(adopt::Arguments),
    /// Show or change the settings of the repository.
    Config(config::Arguments),
    /// Have a server hydrate what is pushed, or a clone fetch what it needs.
    Install(install::Arguments),
    /// Take away what was installed; the hooks that were there before come back.
    Uninstall(install::UninstallArguments),
    /// Test an installation, and tell how to mend what is wrong with it.
    Doctor(doctor::Arguments),
    /// Commit manifests that another renderer made: a CommitManifests request as JSON on standard input.
    Commit(commit::Arguments),
    /// Run as a hook of git; the installed scripts call this.
    Hook(hook::Arguments),
    /// Serve a fetch from `hydrate::<url>`; git calls this by the name git-remote-hydrate.
    #[command(hide = true)]
    RemoteHelper(remote_helper::Arguments),
    /// Print what `--help` prints, of a command or of all.
    Help(help::Arguments),
    /// Print the completions of a shell.
    Completions(completions::Arguments),
    /// Print the manual page, or write all pages into a directory.
    Man(man::Arguments),
}

/// What to say of a commit that hydrates nothing.
const NO_APPLICATION: &str = "\
no Application of this commit is hydrated
hint: `git hydrate check` tells which there are; `git hydrate init` writes a small example to begin with
";

/// What to say where no environment branch is.
const NO_BRANCH: &str = "\
no branch is hydrated yet
hint: `git hydrate init` writes a small example to begin with
";

/// What the exit code says of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing to complain of: 0.
    Done,
    /// Differences, mistakes, or something left to do: 1.
    Found,
}

/// The command was asked for what it cannot do: exit code 2, as for arguments that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WrongUse(String);

/// Runs the command that this process's arguments name.
///
/// The exit code is 0 when it is done, 1 when it found differences or failed, 2 when it was used wrongly.
pub fn run() -> ExitCode {
    let arguments = match parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match command(arguments) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(error) => {
            output::complain(&format!("{error:#}"));
            ExitCode::from(if error.is::<WrongUse>() { 2 } else { 1 })
        }
    }
}

/// Arguments that belong to `git hydrate [REV]` go with no other command; clap's own rule for that would take the name
/// of a command behind `--json` for a revision.
fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(args)?;
    if let Some(name) = matches.subcommand_name() {
        let given = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let mine = command.get_arguments().filter(|arg| !arg.is_global_set()).find(given);
        if let Some(arg) = mine.map(ToString::to_string) {
            let text = format!("`{arg}` cannot be given together with the command `{name}`");
            return Err(command.error(ErrorKind::ArgumentConflict, text));
        }
    }
    Arguments::from_arg_matches(&matches)
}

fn command(arguments: Arguments) -> anyhow::Result<Outcome> {
    let json = arguments.json;
    match arguments.command {
        Some(Command::Init(arguments)) => init::run(&arguments, json),
        Some(Command::Check(arguments)) => check::run(&arguments, json),
        Some(Command::Help(arguments)) => help::run(&arguments),
        Some(Command::Diff(arguments)) => diff::run(&arguments, json),
        Some(Command::Config(arguments)) => config::run(&arguments, json),
        Some(Command::Install(arguments)) => install::install(&arguments, json),
        Some(Command::Uninstall(arguments)) => install::uninstall(&arguments, json),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments, json),
        Some(Command::Render(arguments)) => render::run(&arguments),
        Some(Command::Status(arguments)) => status::run(&arguments, json),
        Some(Command::Log(arguments)) => log::run(&arguments, json),
        Some(Command::Explain(arguments)) => explain::run(&arguments, json),
        Some(Command::Verify(arguments)) => verify::run(&arguments, json),
        Some(Command::CatchUp(arguments)) => catch_up::run(&arguments, json),
        Some(Command::Adopt(arguments)) => adopt::run(&arguments, json),
        Some(Command::Commit(arguments)) => commit::run(&arguments, json),
        Some(Command::Hook(arguments)) => hook::run(&arguments),
        Some(Command::RemoteHelper(arguments)) => remote_helper::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Man(arguments)) => man::run(&arguments),
        None => hydrate::run(&arguments.hydrate, json),
    }
}

/// Prints what clap has to say: help and version on standard output, mistakes on standard error.
fn usage(error: &clap::Error) -> ExitCode {
    // The reader of our help may go away: that is no failure.
    drop(error.print());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

/// The repository that the user means: the one at `path` or around it, the one that `GIT_DIR` names when git was told,
/// else the one around the current directory.
fn repository(path: Option<&Path>) -> anyhow::Result<Repository> {
    let named = std::env::var_os("GIT_DIR").filter(|_| path.is_none());
    Ok(match named {
        // As git does: whoever names a repository trusts it.
        Some(git_dir) => Repository::open(Path::new(&git_dir), Location::Hook)?,
        None => Repository::open(path.unwrap_or(Path::new(".")), Location::Discover)?,
    })
}

/// An error unless what this user writes here can be changed by the pushes that follow: those arrive as the owner of the
/// repository. `command` is how this one is run again.
fn check_owner(repository: &Repository, command: &str) -> anyhow::Result<()> {
    let top = repository.common_dir();
    let owner = top.metadata().with_context(|| format!("reading {}", top.display()))?.uid();
    if owner == rustix::process::geteuid().as_raw() || repository.config("core.sharedRepository").is_some() {
        return Ok(());
    }
    let (path, quoted) = (top.display(), crate::diag::shell_path(top));
    anyhow::bail!("{path} belongs to user {owner}; as that user: sudo -u '#{owner}' git -C {quoted} hydrate {command}")
}

/// The commit that the user named.
fn commit_of(repository: &Repository, rev: &str) -> anyhow::Result<ObjectId> {
    let unknown = |error: git::Error| match rev {
        // Nobody names `HEAD` who did not mean the last commit, so there is none.
        "HEAD" => WrongUse(format!("{error}\nhint: `git hydrate init` writes a small example to begin with")),
        _ => WrongUse(error.to_string()),
    };
    Ok(repository.rev_parse(rev).map_err(unknown)?)
}

/// This machine, for what renders on it.
fn machine() -> anyhow::Result<Machine> {
    Ok(Machine {
        program: std::env::current_exe().context("finding this program")?,
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        temp_dir: std::env::temp_dir(),
        cores: std::thread::available_parallelism().map_or(1, NonZero::get),
    })
}

/// The whole command line under the name of its program, for manual pages and completions.
fn command_line() -> clap::Command {
    Arguments::command().name("git-hydrate").bin_name("git-hydrate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_revision_is_told_from_a_command() {
        let rows: [(&[&str], Result<bool, ErrorKind>); 7] = [
            (&[], Ok(false)),
            (&["main"], Ok(false)),
            (&["--json", "status"], Ok(true)),
            (&["status", "--json"], Ok(true)),
            (&["main", "status"], Err(ErrorKind::ArgumentConflict)),
            (&["--offline", "status"], Err(ErrorKind::ArgumentConflict)),
            (&["--no-such-option"], Err(ErrorKind::UnknownArgument)),
        ];
        for (args, expected) in rows {
            let line = ["git-hydrate"].iter().chain(args).map(OsString::from);
            let is_command = parse(line).map(|arguments| arguments.command.is_some());
            assert_eq!(is_command.map_err(|error| error.kind()), expected, "{args:?}");
        }
    }
}
