//! `git hydrate inputs`: what a server fetched by itself, and how to take it back.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::clone::is_server;
use super::config::identity;
use super::{Outcome, WrongUse, output};
use crate::owners::recorded;
use crate::repo::{ObjectBuffer, Repository};
use inputs::Recorded;

/// List the charts and bases that the server fetched and keeps under refs/hydrate/inputs.
///
/// A server fetches what Applications name from elsewhere where its administrator lets it (hydrate.fetch of git config). What
/// it has fetched once it never fetches again. A clone lists what it fetched of refs/hydrate/inputs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate inputs                                          what is recorded
git hydrate inputs withdraw 'chart web 1.2.3 of https://charts.example.com' --reason 'it was replaced'")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Take an input out of the record: what needs it fails from then on.
    ///
    /// Runs on the server. Hydrated commits that rest on it stay as they are; they cannot be made again. A lock file in the dry
    /// tree may bring other files of the same name and version.
    Withdraw {
        /// The input as the list names it.
        #[arg(value_name = "INPUT")]
        input: String,
        /// Why, as it is shown where the input is needed.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// One input, as JSON shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedInput {
    kind: &'static str,
    url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    want: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    directory: String,
    content: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<String>,
}

impl From<Recorded> for ListedInput {
    fn from(one: Recorded) -> Self {
        let Recorded { key, directory, content, bytes, withdrawn, .. } = one;
        let inputs::Key { kind, url, name, want } = key;
        let (kind, directory) = (kind.word(), directory.as_str().to_owned());
        Self { kind, url, name, want, directory, content, bytes, withdrawn }
    }
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    match &arguments.action {
        None => list(&repository, json),
        Some(Action::Withdraw { input, reason }) => withdraw(&repository, input, reason),
    }
}

fn all(repository: &Repository) -> anyhow::Result<Vec<Recorded>> {
    Ok(recorded::recorded(&repository.refs()?, &ObjectBuffer::new(repository))?)
}

fn list(repository: &Repository, json: bool) -> anyhow::Result<Outcome> {
    let all = all(repository)?;
    if json {
        let listed: Vec<ListedInput> = all.into_iter().map(ListedInput::from).collect();
        output::print_json_list("inputs", &listed)?;
        return Ok(Outcome::Done);
    }
    if all.is_empty() {
        output::print("nothing is recorded\n")?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for one in &all {
        text += &named(one);
        match &one.withdrawn {
            Some(reason) => text += &format!(": withdrawn: {reason}\n"),
            None => text += &format!("  {} bytes  {}\n", one.bytes, one.content),
        }
    }
    output::print(text)?;
    Ok(Outcome::Done)
}

/// An input as it is listed; of a git repository, with the directory that was fetched.
fn named(one: &Recorded) -> String {
    match one.directory.as_str() {
        "" => one.key.to_string(),
        directory => format!("{} in {directory}", one.key),
    }
}

fn withdraw(repository: &Repository, input: &str, reason: &str) -> anyhow::Result<Outcome> {
    if !is_server(repository) {
        bail!(WrongUse("only the server's repository has a record of its own: run this there".to_owned()));
    }
    super::check_owner(repository, "inputs")?;
    let reason = dry_files::diag::one_line(reason).trim().to_owned();
    if reason.is_empty() {
        bail!(WrongUse("--reason must say why".to_owned()));
    }
    let all = all(repository)?;
    let is_meant = |one: &&Recorded| one.withdrawn.is_none() && (named(one) == input || one.key.to_string() == input);
    let which: Vec<&Recorded> = all.iter().filter(is_meant).collect();
    if which.is_empty() {
        bail!(WrongUse(format!("`{input}` is not recorded; `git hydrate inputs` lists what is")));
    }
    // What is withdrawn must not be had by another name.
    let contents: BTreeSet<String> = which.iter().map(|one| one.content.clone()).collect();
    let which: Vec<Recorded> =
        all.into_iter().filter(|one| one.withdrawn.is_none() && contents.contains(&one.content)).collect();
    let who = identity(repository, "GIT_COMMITTER_IDENT")?;
    recorded::withdraw(repository, &which, &reason, &who).context("changing refs/hydrate/inputs")?;
    let text = which.iter().map(|one| format!("withdrawn: {}\n", named(one))).collect::<String>();
    output::print(text)?;
    Ok(Outcome::Done)
}
