//! The command line: arguments as types, one file a subcommand, each a thin wrapper over an operation.
//!
//! A subcommand answers what its exit code shall say, as an [`Outcome`], and prints what it found itself. Whatever it
//! hands up as an error is printed here, in the form of git's own messages.

mod adopt;
mod apps;
mod catch_up;
mod check;
mod clone;
mod clusters;
mod commit;
mod completions;
mod config;
mod deleted;
mod diff;
mod doctor;
mod doubted;
mod entropy;
mod every;
mod explain;
mod help;
mod hold;
mod hook;
mod hydrate;
mod in_the_way;
mod init;
mod inputs;
mod install;
mod log;
mod machine;
mod man;
mod output;
mod plan;
mod platform;
mod push;
mod remote_helper;
mod render;
mod screen;
mod settings_folder;
mod status;
mod tell;
mod unpushed;
mod vendor;
mod verify;

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::render::Isolation;
use crate::render::process::wall::{self, Ended};
use crate::repo::{self, Location, ObjectId, Repository};

use machine::machine;

/// Renders Argo CD Applications into environment branches, inside the git server and on your machine.
#[derive(Debug, Default, Parser)]
#[command(name = "git-hydrate", bin_name = "git hydrate", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_value_name = "COMMAND")]
#[command(override_usage = "git hydrate [OPTIONS] [REV]\n       git hydrate [--json] <COMMAND> …")]
#[command(after_help = "\
Pages of the documentation, without a network: git hydrate help PAGE, where PAGE is user, admin,
hosts, migrate, tour, messages, reference, differences, security or architecture.")]
struct Arguments {
    /// Print JSON, for programs.
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    hydrate: hydrate::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

// The help of each command is the documentation of its arguments: the first paragraph for `-h`, all of it for `--help`.
#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Check(check::Arguments),
    Apps(apps::Arguments),
    Clusters(clusters::Arguments),
    Diff(diff::Arguments),
    Plan(plan::Arguments),
    Render(render::Arguments),
    Status(status::Arguments),
    Log(log::Arguments),
    Explain(explain::Arguments),
    Verify(verify::Arguments),
    Vendor(vendor::Arguments),
    Inputs(inputs::Arguments),
    CatchUp(catch_up::Arguments),
    Rollback(hold::RollbackArguments),
    Hold(hold::HoldArguments),
    Resume(hold::ResumeArguments),
    Push(push::Arguments),
    Adopt(adopt::Arguments),
    Config(config::Arguments),
    Install(install::Arguments),
    Uninstall(install::UninstallArguments),
    Doctor(doctor::Arguments),
    Commit(commit::Arguments),
    Tell(tell::Arguments),
    Hook(hook::Arguments),
    #[command(hide = true)]
    RemoteHelper(remote_helper::Arguments),
    Help(help::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// What to say of a commit that hydrates nothing.
const NO_APPLICATION: &str = "\
no Application of this commit is hydrated from this branch
hint: `git hydrate check` lists the Applications; --branch NAME treats the commit as the tip of another dry branch;
      `git hydrate init` writes a small example
";

/// What to say where no environment branch is.
const NO_BRANCH: &str = "\
there is no environment branch here
hint: a push to a server that hydrates makes them; `git fetch` fetches them; `git hydrate check` lists the
      Applications that name them, and `git hydrate init` writes a small example
";

/// What to say where no environment branch is, in a repository without a remote, such as that of a server.
const NO_BRANCH_ON_SERVER: &str = "\
there is no environment branch here
hint: a push makes them once this repository hydrates: `git hydrate doctor` tells whether it does; `git hydrate check`
      lists the Applications that name them
";

/// What the exit code says of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing to complain of: 0.
    Done,
    /// Differences, mistakes, or something left to do: 1.
    Found,
}

/// The command was asked for what it cannot do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WrongUse(String);

/// Runs the command that this process's arguments name.
///
/// The exit code is 0 when it is done or all is the same, 1 when it found differences or failures, 2 after an error or
/// wrong use. A hook's is 0 or 1, as git expects. `pages` are those of the documentation, by name.
pub(crate) fn run(pages: &[(&str, &str)]) -> ExitCode {
    let arguments = match hook::Arguments::of_server(std::env::args_os()) {
        Some(hook) => Arguments { command: Some(Command::Hook(hook)), ..Arguments::default() },
        None => match parse(std::env::args_os()) {
            Ok(arguments) => arguments,
            Err(error) => return usage(&error),
        },
    };
    let is_hook = matches!(arguments.command, Some(Command::Hook(_)));
    // Only a path that git itself was not given is to be found out.
    if ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"].iter().all(|name| std::env::var_os(name).is_none()) {
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        repo::system_config(&search_path).into_iter().for_each(repo::use_system_config);
    }
    if let Some(given) = std::env::var_os("GIT_CONFIG_PARAMETERS") {
        repo::use_config_parameters(&given.to_string_lossy());
    }
    match wall::isolation(std::env::var_os(wall::VARIABLE).as_deref()) {
        Isolation::Alone if renders(&arguments) => return supervised(&arguments),
        Isolation::Alone | Isolation::Together => {}
        Isolation::Apart => output::warn(&RETRIED),
    }
    match command(arguments, pages) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(error) => {
            output::complain(&format!("{error:#}"));
            ExitCode::from(if is_hook { 1 } else { 2 })
        }
    }
}

/// What to say before each Application is rendered in its own process.
const RETRIED: &str = "note: git-hydrate crashed or reached the limits of a run; trying again with each Application in its \
                       own process";

/// Whether a command renders Applications, so that it runs in a child process, which may die. pre-receive and the remote
/// helper find out as they go, when there is something to render.
fn renders(arguments: &Arguments) -> bool {
    match &arguments.command {
        None => true,
        Some(Command::Hook(arguments)) => arguments.renders(),
        Some(
            Command::Check(_)
            | Command::Diff(_)
            | Command::Plan(_)
            | Command::Render(_)
            | Command::Explain(_)
            | Command::Verify(_)
            | Command::CatchUp(_)
            | Command::Rollback(_)
            | Command::Hold(_)
            | Command::Resume(_)
            | Command::Push(_)
            | Command::Adopt(_)
            | Command::Config(_)
            | Command::Apps(_)
            | Command::Status(_)
            | Command::Vendor(_)
            | Command::Inputs(_)
            | Command::Doctor(_),
        ) => true,
        Some(
            Command::Init(_)
            | Command::Clusters(_)
            | Command::Log(_)
            | Command::Install(_)
            | Command::Uninstall(_)
            | Command::Commit(_)
            | Command::Tell(_)
            | Command::RemoteHelper(_)
            | Command::Help(_)
            | Command::Completions(_)
            | Command::Man(_),
        ) => false,
    }
}

/// Runs the same command in a process that may die.
fn supervised(arguments: &Arguments) -> ExitCode {
    let hook = match &arguments.command {
        Some(Command::Hook(hook)) => Some(hook),
        _ => None,
    };
    let input = hook.map(|_| crate::tell::hook::input(std::io::stdin().lock()));
    let program = std::env::current_exe();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match program.and_then(|program| wall::supervise(&program, &words, input.as_deref())) {
        Ok(Ended::Exit(code)) => ExitCode::from(code),
        Ok(Ended::Signal(signal)) if wall::is_wanted(signal) => ExitCode::from(128 + signal as u8),
        Ok(Ended::Signal(signal)) => died(hook, &wall::died(signal)),
        Err(error) => died(hook, &format!("starting git-hydrate: {error}")),
    }
}

/// Says that there is no result. A push is never stopped because of that.
fn died(hook: Option<&hook::Arguments>, why: &str) -> ExitCode {
    output::complain(why);
    ExitCode::from(match hook {
        Some(hook) if hook.lets_go() => 0,
        Some(_) => 1,
        None => 2,
    })
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

fn command(arguments: Arguments, pages: &[(&str, &str)]) -> anyhow::Result<Outcome> {
    let json = arguments.json;
    match arguments.command {
        Some(Command::Init(arguments)) => init::run(&arguments, json),
        Some(Command::Check(arguments)) => check::run(&arguments, json),
        Some(Command::Help(_) | Command::Hook(_) | Command::RemoteHelper(_)) if json => Err(no_json()),
        Some(Command::Completions(_) | Command::Man(_) | Command::Clusters(_)) if json => Err(no_json()),
        Some(Command::Apps(arguments)) => apps::run(&arguments, json),
        Some(Command::Clusters(arguments)) => clusters::run(&arguments),
        Some(Command::Help(arguments)) => help::run(&arguments, pages),
        Some(Command::Diff(arguments)) => diff::run(&arguments, json),
        Some(Command::Plan(arguments)) => plan::run(&arguments, json),
        Some(Command::Config(arguments)) => config::run(&arguments, json),
        Some(Command::Install(arguments)) => install::install(&arguments, json),
        Some(Command::Uninstall(arguments)) => install::uninstall(&arguments, json),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments, json),
        Some(Command::Render(arguments)) => render::run(&arguments, json),
        Some(Command::Status(arguments)) => status::run(&arguments, json),
        Some(Command::Log(arguments)) => log::run(&arguments, json),
        Some(Command::Explain(arguments)) => explain::run(&arguments, json),
        Some(Command::Verify(arguments)) => verify::run(&arguments, json),
        Some(Command::Vendor(arguments)) => vendor::run(&arguments, json),
        Some(Command::Inputs(arguments)) => inputs::run(&arguments, json),
        Some(Command::CatchUp(arguments)) => catch_up::run(&arguments, json),
        Some(Command::Rollback(arguments)) => hold::rollback(&arguments, json),
        Some(Command::Hold(arguments)) => hold::hold(&arguments, json),
        Some(Command::Resume(arguments)) => hold::resume(&arguments, json),
        Some(Command::Push(arguments)) => push::run(&arguments, json),
        Some(Command::Adopt(arguments)) => adopt::run(&arguments, json),
        Some(Command::Commit(arguments)) => commit::run(&arguments, json),
        Some(Command::Tell(arguments)) => tell::run(&arguments, json),
        Some(Command::Hook(arguments)) => hook::run(&arguments),
        Some(Command::RemoteHelper(arguments)) => remote_helper::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Man(arguments)) => man::run(&arguments),
        None => hydrate::run(&arguments.hydrate, json),
    }
}

fn no_json() -> anyhow::Error {
    WrongUse("this command prints text: it has no `--json`".to_owned()).into()
}

/// The command whose name is close to a word that is not one.
fn close_command(word: &str) -> Option<String> {
    let command = Arguments::command();
    close_name(command.get_subcommands().filter(|known| !known.is_hide_set()).map(clap::Command::get_name), word)
}

/// The one of these names that a word was probably meant to be.
fn close_name<'n>(names: impl Iterator<Item = &'n str>, word: &str) -> Option<String> {
    let likeness = |name: &&str| strsim::damerau_levenshtein(name, word);
    let closest = names.min_by_key(likeness).filter(|name| likeness(name) <= 2 && likeness(name) * 2 < name.len());
    closest.filter(|name| *name != word).map(str::to_owned)
}

/// What to say of a word that names no command, since a freeze is a setting.
const FREEZING: &str = "\
hint: a freeze is a setting: git hydrate config set frozen.BRANCH '{reason: TEXT}'
hint: to keep a branch at what it has now: git hydrate hold BRANCH --reason TEXT";

/// See [`FREEZING`].
const THAWING: &str = "hint: a freeze is a setting: git hydrate config unset frozen.BRANCH";

/// Prints what clap has to say: help and version on standard output, mistakes on standard error.
fn usage(error: &clap::Error) -> ExitCode {
    // The reader of our help may go away: that is no failure.
    drop(error.print());
    let words: Vec<String> = std::env::args().skip(1).collect();
    if error.kind() == ErrorKind::MissingRequiredArgument
        && words.first().is_some_and(|word| word == "install")
        && words.iter().any(|word| word == "--all" || word.starts_with("--all="))
    {
        output::warn(&"hint: every repository of a server: git hydrate install --server --all DIR");
    }
    let word = words.into_iter().find(|argument| !argument.starts_with('-'));
    let word = word.filter(|_| error.kind() == ErrorKind::UnknownArgument);
    if let Some(word) = word.as_deref().filter(|word| ["freeze", "unfreeze", "thaw"].contains(word)) {
        let said = if word == "freeze" { FREEZING } else { THAWING };
        output::warn(&said);
    } else if let Some(command) = word.and_then(|word| close_command(&word)) {
        output::warn(&format!("hint: did you mean `git hydrate {command}`?"));
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

/// The repository that the user means: the one at `path` or around it, the one that `GIT_DIR` names where it is set,
/// else the one around the current directory.
fn repository(path: Option<&Path>) -> anyhow::Result<Repository> {
    let named = std::env::var_os("GIT_DIR").filter(|_| path.is_none());
    Ok(match named {
        // As git does: a repository that is named is trusted.
        Some(git_dir) => Repository::open(Path::new(&git_dir), Location::Hook)?,
        None => match path {
            Some(path) => Repository::open(path, Location::Named)?,
            None => Repository::open(Path::new("."), Location::Discover)?,
        },
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
    let (path, quoted) = (top.display(), dry_files::diag::shell_path(top));
    anyhow::bail!("{path} belongs to user {owner}; as that user: sudo -u '#{owner}' git -C {quoted} hydrate {command}")
}

/// The commit that the user named.
fn commit_of(repository: &Repository, rev: &str) -> anyhow::Result<ObjectId> {
    let branch = branch_before_tag(repository, rev)?;
    match repository.rev_parse(branch.as_deref().unwrap_or(rev)) {
        Ok(commit) => Ok(commit),
        // There is no commit yet.
        Err(error) if rev == "HEAD" => {
            let here = if repository.worktree().is_none() { "in a clone of it, " } else { "" };
            Err(WrongUse(format!("{error}\nhint: {here}`git hydrate init` writes a small example")).into())
        }
        Err(error) => Err(WrongUse(error.to_string()).into()),
    }
}

/// The revision with the full name of a branch, where git would take a tag that is named like it: those who may push a tag
/// decides nothing by that. Says so.
fn branch_before_tag(repository: &Repository, rev: &str) -> anyhow::Result<Option<String>> {
    let end = ["~", "^", ":", "@{"].iter().filter_map(|mark| rev.find(mark)).min().unwrap_or(rev.len());
    let (name, rest) = rev.split_at(end);
    let refs = repository.refs()?;
    if refs.get(&format!("refs/tags/{name}")).is_none() {
        return Ok(None);
    }
    let full = ["refs/heads/", "refs/remotes/"].map(|prefix| format!("{prefix}{name}"));
    let Some(full) = full.into_iter().find(|full| refs.get(full).is_some()) else { return Ok(None) };
    let shown = dry_files::diag::printable(name);
    eprintln!("warning: `{shown}` is a branch and a tag; the branch is used: for the tag, write refs/tags/{shown}");
    Ok(Some(full + rest))
}

/// The commit that `rev` names, where a dry commit is wanted: a commit that hydration made has no Applications, so
/// `command` would say that all of them left.
fn dry_commit_of(repository: &Repository, rev: &str, command: &str) -> anyhow::Result<ObjectId> {
    let id = commit_of(repository, rev)?;
    let Some(made) = crate::owners::standing::hydrated_commit(repository, id)? else { return Ok(id) };
    let text = format!("`{rev}` is a hydrated commit of `{}`, not a dry commit", made.branch);
    let dry = made.dry_commit.to_string();
    let dry = dry.get(..7).unwrap_or_default();
    bail!(WrongUse(match repository.has(made.dry_commit) {
        true => format!("{text}\nhint: it was made from {dry} of `{}`: {command} {dry}", made.dry_branch),
        false => format!("{text}\nhint: name a commit of the dry branch `{}`", made.dry_branch),
    }))
}

/// The working tree as a commit, where a dry one is wanted.
fn snapshot_of(repository: &Repository, command: &str) -> anyhow::Result<ObjectId> {
    // Before the first commit there is nothing to ask.
    if repository.rev_parse("HEAD").is_ok() {
        dry_commit_of(repository, "HEAD", command)?;
    }
    Ok(repository.snapshot()?)
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
    fn what_a_server_calls_is_read_as_any_command() {
        let line = |args: &[&str]| ["git-hydrate"].iter().chain(args).map(OsString::from).collect::<Vec<_>>();
        for name in ["pre-receive", "post-receive"] {
            let parsed = parse(line(&["hook", name])).expect("a command").command;
            let Some(Command::Hook(hook)) = parsed else { panic!("{parsed:?}") };
            let read = hook::Arguments::of_server(line(&["hook", name]));
            assert_eq!(format!("{read:?}"), format!("{:?}", Some(hook)));
        }
        let others: [&[&str]; 5] = [
            &[],
            &["hook"],
            &["hook", "pre-push"],
            &["hook", "post-receive", "--help"],
            &["--json", "hook", "pre-receive"],
        ];
        for args in others {
            assert!(hook::Arguments::of_server(line(args)).is_none(), "{args:?}");
        }
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
