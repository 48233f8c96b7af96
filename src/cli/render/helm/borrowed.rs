//! Flags of `helm template` that are not needed here, so that a line that was pasted works or says why not.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::super::super::WrongUse;

/// What follows a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A value, as in `--timeout 5m`.
    Value,
    /// A value behind `=`, or nothing, as in `--wait` and `--wait=watcher`.
    Maybe,
}

/// What Helm's output has of it.
#[derive(Clone, Copy)]
enum Effect {
    /// Nothing, for a chart on disk.
    None,
    /// What is not done here, and what to do instead.
    Refused(&'static str),
    /// As [`Effect::Refused`], for one value.
    RefusedAs(&'static str, &'static str),
}

use Effect::{None as Without, Refused, RefusedAs};
use Takes::{Maybe, Nothing, Value};

const CLUSTER: &str = "it asks a cluster, and a render asks none";

/// Every flag of `helm template` from 3.17 to 4.3 that [`super::Flags`] lacks, by name.
///
/// Reference: pkg/cmd/template.go, pkg/cmd/install.go, pkg/cli/environment.go of Helm. A chart that is on disk is never looked for
/// in a repository (pkg/action/install.go `LocateChart`), so what is said of one has no effect.
const FLAGS: &[(&str, Option<char>, Takes, Effect)] = &[
    ("atomic", None, Nothing, Without),
    ("burst-limit", None, Value, Without),
    ("ca-file", None, Value, Without),
    ("cert-file", None, Value, Without),
    ("color", None, Value, Without),
    ("colour", None, Value, Without),
    ("content-cache", None, Value, Without),
    ("create-namespace", None, Nothing, Without),
    ("dependency-update", None, Nothing, Refused("charts of other places are not fetched here: git hydrate vendor")),
    ("description", None, Value, Without),
    ("devel", None, Nothing, Without),
    ("disable-openapi-validation", None, Nothing, Without),
    ("dry-run", None, Maybe, RefusedAs("server", CLUSTER)),
    ("enable-dns", None, Nothing, Refused("it asks a name server, which answers otherwise another time")),
    ("force", None, Nothing, Without),
    ("force-conflicts", None, Nothing, Without),
    ("force-replace", None, Nothing, Without),
    ("generate-name", Some('g'), Nothing, Refused("the name would be made of the time: give one")),
    ("hide-notes", None, Nothing, Without),
    ("insecure-skip-tls-verify", None, Nothing, Without),
    ("key-file", None, Value, Without),
    ("keyring", None, Value, Without),
    ("kube-apiserver", None, Value, Without),
    ("kube-as-group", None, Value, Without),
    ("kube-as-user", None, Value, Without),
    ("kube-ca-file", None, Value, Without),
    ("kube-context", None, Value, Without),
    ("kube-insecure-skip-tls-verify", None, Nothing, Without),
    ("kube-tls-server-name", None, Value, Without),
    ("kube-token", None, Value, Without),
    ("kubeconfig", None, Value, Without),
    ("labels", Some('l'), Value, Without),
    (
        "output-dir",
        None,
        Value,
        Refused("all is printed, each manifest behind `# Source:`; one alone: --show-only TEMPLATE"),
    ),
    ("pass-credentials", None, Nothing, Without),
    ("password", None, Value, Without),
    ("plain-http", None, Nothing, Without),
    ("post-renderer", None, Value, Refused("it is a program, and a chart is rendered without any")),
    ("post-renderer-args", None, Value, Refused("it is for a program, and a chart is rendered without any")),
    ("qps", None, Value, Without),
    ("registry-config", None, Value, Without),
    ("release-name", None, Nothing, Without),
    ("render-subchart-notes", None, Nothing, Without),
    ("replace", None, Nothing, Without),
    ("repo", None, Value, Refused("charts of other places are not fetched here: git hydrate vendor")),
    ("repository-cache", None, Value, Without),
    ("repository-config", None, Value, Without),
    ("rollback-on-failure", None, Nothing, Without),
    ("server-side", None, Maybe, Without),
    ("take-ownership", None, Nothing, Without),
    ("timeout", None, Value, Without),
    ("username", None, Value, Without),
    ("validate", None, Nothing, Refused(CLUSTER)),
    ("verify", None, Nothing, Refused("signatures are of packages, and `vendor` keeps digests of what it fetches")),
    ("version", None, Value, Without),
    ("wait", None, Maybe, Without),
    ("wait-for-jobs", None, Nothing, Without),
];

/// The command with these flags, which its help leaves out.
pub(super) fn with(command: Command) -> Command {
    command.args(FLAGS.iter().map(|(name, short, takes, _)| {
        let arg = Arg::new(*name).long(*name).hide(true).action(ArgAction::Append);
        let arg = if let Some(short) = short { arg.short(*short) } else { arg };
        match takes {
            Nothing => arg.num_args(0).default_missing_value(""),
            Value => arg.num_args(1).allow_hyphen_values(true),
            Maybe => arg.num_args(0..=1).require_equals(true).default_missing_value(""),
        }
    }))
}

/// Errors: why one of those that were given cannot be had here.
pub(super) fn check(given: &ArgMatches) -> Result<(), WrongUse> {
    for (name, _, _, effect) in FLAGS {
        let mut values = given.get_many::<String>(name).into_iter().flatten();
        let refused = match effect {
            Without => None,
            Refused(why) => values.next().map(|_| (String::new(), why)),
            RefusedAs(value, why) => values.find(|given| given == value).map(|value| (format!("={value}"), why)),
        };
        if let Some((value, why)) = refused {
            return Err(WrongUse(format!("`--{name}{value}` cannot be had: {why}")));
        }
    }
    Ok(())
}
