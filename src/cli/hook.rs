//! `git hydrate hook NAME`: what the shims in `hooks/` call.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Outcome;
use crate::tell::hook::{Patience, WAITS};

/// The variable that lets a push through unseen.
const SKIP: &str = "GIT_HYDRATE_SKIP";

/// Run as a hook of git; the installed scripts call this.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The hook that git runs.
    name: Name,
    /// The arguments that git gives the hook: for pre-push, the remote and its URL. A post-receive that we start ourselves gets `waits`.
    arguments: Vec<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Before a push is accepted: refuse what is not allowed.
    PreReceive,
    /// Before a clone pushes: show what changes, and stop the push when something fails to render.
    PrePush,
    /// After a push: hydrate what is not hydrated yet.
    PostReceive,
}

impl Arguments {
    /// What the installed scripts of a server call. Each push does so twice, and is not to wait until the whole command line
    /// is set up.
    pub(super) fn of_server(args: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = args.into_iter().skip(1);
        words.next().filter(|word| word == "hook")?;
        let name = match words.next()?.to_str()? {
            "pre-receive" => Name::PreReceive,
            "post-receive" => Name::PostReceive,
            _ => return None,
        };
        words.next().is_none().then(|| Self { name, arguments: Vec::new() })
    }

    /// Whether the hook renders whatever is pushed.
    pub(super) fn renders(&self) -> bool {
        match self.name {
            Name::PrePush | Name::PostReceive => true,
            Name::PreReceive => false,
        }
    }

    /// Whether a push goes on when the hook fails.
    pub(super) fn lets_go(&self) -> bool {
        matches!(self.name, Name::PrePush)
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let git_dir = std::env::var_os("GIT_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let success = match arguments.name {
        Name::PreReceive => crate::tell::hook::pre_receive(&git_dir, std::io::stdin().lock(), &super::machine()?),
        Name::PrePush if std::env::var_os(SKIP).is_some_and(|value| !value.is_empty() && value != "0") => true,
        Name::PrePush => {
            let mut given = arguments.arguments.iter().map(String::as_str);
            let (remote, url) = (given.next().unwrap_or_default(), given.next().unwrap_or_default());
            let repository = super::repository(None)?;
            crate::tell::hook::pre_push(repository, remote, url, std::io::stdin().lock(), &super::machine()?)
        }
        Name::PostReceive => {
            let is_successor = arguments.arguments.first().is_some_and(|word| word == WAITS);
            let patience = if is_successor { Patience::Endless } else { Patience::Limited };
            crate::tell::hook::post_receive(&git_dir, std::io::stdin().lock(), &super::machine()?, patience)
        }
    };
    Ok(if success { Outcome::Done } else { Outcome::Found })
}
