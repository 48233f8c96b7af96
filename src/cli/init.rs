//! `git hydrate init`: a small working example to begin with.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::{Outcome, WrongUse, output};
use crate::argo::{Patterns, RuleSet, without_credentials};
use crate::discover::Discovery;
use crate::owners::heads;
use crate::repo::Repository;
use crate::repo::TreeFiles;

/// Write a small working example: one application in two environments.
///
/// Existing files are never overwritten.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write a Helm chart with values for each environment, instead of a Kustomize base with overlays.
    #[arg(long)]
    chart: bool,
}

/// A file of the example: its path and its text.
type Example = (&'static str, &'static str);

macro_rules! example {
    ($dir:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("init/", $dir, "/", $path)))),*]
    };
}

const KUSTOMIZE: &[Example] = example!("kustomize":
    "applications/dev.yaml",
    "applications/prod.yaml",
    "hello/base/deployment.yaml",
    "hello/base/kustomization.yaml",
    "hello/base/service.yaml",
    "hello/dev/kustomization.yaml",
    "hello/prod/kustomization.yaml",
);

const CHART: &[Example] = example!("chart":
    "applications/dev.yaml",
    "applications/prod.yaml",
    "hello/Chart.yaml",
    "hello/templates/deployment.yaml",
    "hello/templates/service.yaml",
    "hello/values-dev.yaml",
    "hello/values-prod.yaml",
    "hello/values.yaml",
);

/// What is in the examples for the URL and the dry branch of the repository.
const PLACEHOLDERS: [&str; 2] = ["REPO_URL", "DRY_BRANCH"];

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None).context("to create a repository here: git init")?;
    let Some(top) = repository.worktree() else {
        bail!(WrongUse("a bare repository has no working tree; run this in a clone of it".to_owned()));
    };
    let files = if arguments.chart { CHART } else { KUSTOMIZE };
    let there: Vec<&str> =
        files.iter().map(|(path, _)| *path).filter(|path| top.join(path).symlink_metadata().is_ok()).collect();
    if !there.is_empty() {
        bail!(WrongUse(format!("nothing was written: these files exist already: {}", there.join(", "))));
    }
    let count = applications(&repository)?;
    if count > 0 {
        let who = if count == 1 { "an Application".to_owned() } else { format!("{count} Applications") };
        bail!(WrongUse(format!(
            "nothing was written: this repository has {who} already\nhint: `git hydrate adopt` tells how to hydrate them"
        )));
    }
    let remote_url = url(&repository);
    if remote_url.is_none() {
        output::warn(&NO_REMOTE);
    }
    let values = [remote_url.unwrap_or_else(|| EXAMPLE_URL.to_owned()), branch(&repository)?];
    for (path, text) in files {
        let mut text = (*text).to_owned();
        for (name, value) in PLACEHOLDERS.iter().zip(&values) {
            text = text.replace(name, value);
        }
        let path = top.join(path);
        create(&path, &text).with_context(|| format!("writing {}", path.display()))?;
    }
    let written: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    if json {
        output::print_json(&serde_json::json!({ "written": written }))?;
        return Ok(Outcome::Done);
    }
    let list: String = written.iter().map(|path| format!("wrote  {path}\n")).collect();
    output::print(list + NEXT)?;
    Ok(Outcome::Done)
}

/// Writes a file that must not exist yet, and the directories above it.
fn create(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

const NEXT: &str = "
next
  git hydrate diff --worktree                       what each environment would get
  git add . && git commit -m 'Run hello in two environments'
  git push                                          hydrates it, if the server does so

`git hydrate` makes the same commits in this clone, below refs/remotes/hydrate/, with any server or none.
";

/// What is written where there is no remote.
const EXAMPLE_URL: &str = "https://git.example.com/hello.git";

const NO_REMOTE: &str = "warning: this clone has no remote, so `repoURL` in applications/*.yaml is an example: write the URL there \
                         that Argo CD clones this repository by, before the first push";

/// How many Applications are counted at most.
const APPLICATIONS_MAX: usize = 100_000;

/// How many Applications the working tree has.
fn applications(repository: &Repository) -> anyhow::Result<usize> {
    let tree = repository.commit(repository.snapshot()?)?.tree;
    let files = TreeFiles::new(repository, tree);
    let found = Discovery::default().discover(&files, &Patterns::default(), &RuleSet::default(), APPLICATIONS_MAX);
    Ok(found.map_or(0, |found| found.documents))
}

/// The URL of the remote, in the quotes that it needs; none without a remote.
fn url(repository: &Repository) -> Option<String> {
    let remote = heads::dry_remote(repository);
    let url = remote.and_then(|remote| repository.config(&format!("remote.{remote}.url")))?;
    // What a clone logs in with is not for those who read the repository.
    let url = without_credentials(&url);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@+%".contains(c);
    let is_plain = url.chars().all(plain) && url.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    Some(if is_plain { url } else { go_yaml::json::encode_string(&url, false) })
}

fn branch(repository: &Repository) -> anyhow::Result<String> {
    let refs = repository.refs()?;
    Ok(go_yaml::json::encode_string(refs.head_branch().unwrap_or("main"), false).trim_matches('"').to_owned())
}
