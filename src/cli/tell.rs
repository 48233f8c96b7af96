//! `git hydrate tell`: notifies the platform that hosts the repository.

use super::{Outcome, output};
use crate::hydrate;
use crate::tell::forge;

/// Notify the platform of hydrated branches again
///
/// After each push, Gitea, Forgejo or the command of `hydrate.tell` is notified of the branches that hydration moved. This does it
/// for what was left: by a process that was killed, by a platform that did not answer. Each push is notified of in the name of
/// its pusher. Runs on the server, in the bare repository.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Notify anew of all hydrated branches, or of those that are named, as if the platform knew nothing of them
    ///
    /// For a branch that was brought back on the server (`git update-ref`), and after the platform's own data were restored.
    #[arg(long, value_name = "BRANCH", num_args = 0..)]
    again: Option<Vec<String>>,
    /// Print nothing.
    #[arg(long, short)]
    quiet: bool,
}

/// What is answered where no platform is known.
const NO_PLATFORM: &str = "no platform is notified: hydrate.tell is false, or it names no command and no script of Gitea or Forgejo was found\n";

#[derive(serde::Serialize)]
struct Notified {
    /// The branches of which the platform was to be notified anew.
    branches: Vec<String>,
}

/// Notifies of what was left, or anew.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    super::check_owner(&repository, "tell")?;
    let branches = match &arguments.again {
        Some(branches) => {
            let _lock = hydrate::lock(&repository, |_| true)?;
            forge::tell_again(&repository, branches).map_err(anyhow::Error::msg)?
        }
        None => Vec::new(),
    };
    // The process that a push starts prints nothing: no one reads it.
    if let Err(why) = forge::tell_left(&repository, !arguments.quiet) {
        if !arguments.quiet {
            output::warn(&format!("warning: {why}"));
        }
        return Ok(Outcome::Found);
    }
    let unknown = forge::branches_unknown(&repository);
    let is_known = forge::is_known(&repository);
    match (json, arguments.quiet) {
        (false, false) if !is_known => output::print(NO_PLATFORM)?,
        (true, _) => output::print_json(&Notified { branches })?,
        (false, false) if unknown.is_empty() => output::print("the platform knows all hydrated branches\n")?,
        (false, false) => {
            let names: Vec<&str> = unknown.iter().filter_map(|name| name.strip_prefix("refs/heads/")).collect();
            let text = format!("the platform was not notified of {}: no user is known in whose name", names.join(", "));
            output::print(format!(
                "{text}\nhint: git config hydrate.forgePusher ID:NAME names one; else the next push does it\n"
            ))?;
        }
        (false, true) => {}
    }
    Ok(if unknown.is_empty() { Outcome::Done } else { Outcome::Found })
}
