//! `git hydrate clusters import`: the clusters that Argo CD knows, as a file of the dry tree.

use std::collections::BTreeMap;
use std::io::Read as _;

use anyhow::{Context as _, bail};

use super::{Outcome, WrongUse, output};
use crate::application::set::{ApplicationSet, Versions, import};
use crate::hydrate::application_sets;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print the list of clusters that the Secrets on standard input tell of.
    ///
    /// Of each Secret, the name, the server, the project and the labels go into the list, and of its annotations those that an
    /// ApplicationSet of the dry tree asks for. Credentials are never read. Commit the list, and name it by the setting
    /// `clusters`.
    #[command(after_help = "\
kubectl get secret -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml | git hydrate clusters import > clusters.yaml
(kubectl version; kubectl api-versions) > prod.txt
… | git hydrate clusters import --versions prod=prod.txt > clusters.yaml")]
    Import {
        /// What `kubectl version` and `kubectl api-versions` print of a cluster. May be given more than once.
        #[arg(long, value_name = "CLUSTER=FILE")]
        versions: Vec<String>,
        /// The commit whose ApplicationSets say which annotations are needed.
        #[arg(long, value_name = "REV", default_value = "HEAD")]
        rev: String,
    },
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Action::Import { versions, rev } = &arguments.action;
    let mut known = BTreeMap::new();
    for given in versions {
        let Some((name, file)) = given.split_once('=') else {
            bail!(WrongUse(format!("--versions takes CLUSTER=FILE, not `{given}`")));
        };
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
        let read = Versions::read(&text);
        if read == Versions::default() {
            bail!(WrongUse(format!("{file}: neither `kubectl version` nor `kubectl api-versions` prints such a text")));
        }
        known.insert(name.to_owned(), read);
    }
    let repository = super::repository(None)?;
    let commit = super::commit_of(&repository, rev)?;
    let sets = application_sets(&repository, commit)?;
    let sets: Vec<&ApplicationSet> = sets.iter().map(|set| &**set).collect();
    let mut secrets = Vec::new();
    std::io::stdin().lock().read_to_end(&mut secrets).context("reading standard input")?;
    match import(&secrets, &sets, &known) {
        Ok(list) => output::print_content(list)?,
        Err(reason) => bail!(reason),
    }
    Ok(Outcome::Done)
}
