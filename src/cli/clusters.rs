//! `git hydrate clusters import`: the clusters that Argo CD knows, as a file of the dry tree.

use std::collections::BTreeMap;
use std::io::Read as _;

use anyhow::{Context as _, bail};

use super::{Outcome, WrongUse, output};
use crate::argo::set::{ApplicationSet, Versions, import};
use crate::inspect::application_sets;

/// Import what Argo CD knows about clusters into the dry tree.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print a list of clusters from the Secrets on standard input.
    ///
    /// The list has the name, server, project and labels of each, and the annotations that an ApplicationSet of the dry tree
    /// uses. Credentials are never read. Commit the list, and name the file in the setting `clusters`.
    #[command(after_help = "\
kubectl get secret -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml | git hydrate clusters import > clusters.yaml
(kubectl version; kubectl api-versions; kubectl api-resources --no-headers | awk '{print $(NF-2) \"/\" $NF}') > prod.txt
… | git hydrate clusters import --versions prod=prod.txt > clusters.yaml")]
    Import {
        /// For a cluster, the output of `kubectl version` and `kubectl api-versions`, and a line `VERSION/KIND` for each kind. May be
        /// given more than once.
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
            bail!(WrongUse(format!("{file}: not the output of `kubectl version` or `kubectl api-versions`")));
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
