//! `git hydrate adopt`: what a repository needs to be hydrated as it is; on a server, branches that are handed over.

mod hand_over;
mod report;

use std::path::PathBuf;

use anyhow::bail;

use super::check::Site;
use super::clone::{self, Clone, is_server};
use super::screen::Screen;
use super::{Outcome, WrongUse, config, output};
use crate::application::{BranchName, Rule};
use crate::hydrate::{self, Adoption, Asked};
use crate::path::RepoPath;
use crate::report::Progress;

pub(super) use report::{Ask, report};

/// Find what a repository needs to be hydrated as it is; on a server, hand branches over to hydration.
///
/// In a clone: looks at the working tree, renders every Argo CD Application in it, in files, of ApplicationSets and of
/// other Applications, and proposes the settings with which they hydrate without being edited. Tells how many hydrate,
/// which do not and why, and what to run next; run again, it tells how far you are. Where plain Applications go you
/// say with --branch-pattern: without it, patterns that fit are shown. Nothing is written without --write, and then
/// only the settings, which you push when you like them. Needs no cluster, no server and no network.
///
/// On a server: hydration never writes to a branch that it did not make: one written by Argo CD's hydrator, by a person
/// or by another server. This adds branches that it may continue to the setting `adopt`, and hydrates them. Files on
/// them that no Application makes stay as they are and are listed. A branch whose commits get the same ids when they
/// are made again, as after a move that lost `refs/hydrate/branches`, is recorded as hydrated and needs no setting.
/// Without a branch, lists the branches that could be handed over.
///
/// Exit code: 0 when everything hydrates, 1 when something does not, 2 after an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
in a clone
  git hydrate adopt                                                        what would hydrate, and patterns that fit
  git hydrate adopt --branch-pattern 'environments/{{ labels.env }}'         which Application would go where
  git hydrate adopt --branch-pattern 'environments/{{ labels.env }}' --write writes the settings
on a server
  git hydrate adopt                       branches that hydration did not make
  git hydrate adopt environments/prod     hands one over")]
pub(super) struct Arguments {
    /// On a server: the branches to take over.
    #[arg(value_name = "BRANCH")]
    branches: Vec<String>,
    /// On a server: take over all branches that Applications name and that hydration did not make, as after an import.
    #[arg(long, conflicts_with = "branches")]
    all: bool,
    /// The branch of each plain Application: a template as in the setting `rules`.
    #[arg(long, value_name = "TEMPLATE")]
    branch_pattern: Option<String>,
    /// The directory of each plain Application on its branch: a template as in the setting `rules`.
    #[arg(long, value_name = "TEMPLATE", default_value = "{{ name }}", requires = "branch_pattern")]
    path_pattern: String,
    /// A URL by which Applications know this repository; by default found. May be given more than once.
    #[arg(long, value_name = "URL")]
    repo_url: Vec<String>,
    /// A directory that an Application of the cluster renders, which no file here holds; by default found. May be given
    /// more than once.
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Write the settings.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    clone: clone::Arguments,
}

impl Arguments {
    /// Whether it is asked for what only a clone does.
    fn is_of_clone(&self) -> bool {
        let Self { branch_pattern, repo_url, root, write, .. } = self;
        branch_pattern.is_some() || !repo_url.is_empty() || !root.is_empty() || *write
    }
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let hands_over = arguments.all || !arguments.branches.is_empty();
    match (is_server(&super::repository(None)?), hands_over) {
        (true, _) if arguments.is_of_clone() => {
            let hint = "in a clone, this proposes settings; here, `git hydrate adopt` lists branches to hand over";
            Err(WrongUse(format!("this is a server's repository\nhint: {hint}")).into())
        }
        (true, _) => hand_over::run(arguments, json),
        (false, true) => {
            let hint = "in a clone, someone who may push settings runs: git hydrate config add adopt BRANCH";
            Err(WrongUse(format!("branches are handed over on the server\nhint: {hint}")).into())
        }
        (false, false) => propose(arguments, json),
    }
}

fn propose(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let branch = arguments.clone.branch.as_deref().map(BranchName::new).transpose();
    let branch = branch.map_err(|error| WrongUse(format!("--branch: {error}")))?;
    let clone = Clone::open(&arguments.clone)?;
    let asked = Asked {
        rule: rule(arguments)?,
        repo_urls: arguments.repo_url.clone(),
        remote_url: clone.remote_url(),
        roots: roots(&arguments.root)?,
        renders_unnamed: false,
    };
    let next = Ask { rule: arguments.branch_pattern.clone(), remote: clone.remote().map(str::to_owned) };
    let site = Site::of_worktree(clone, "git hydrate adopt")?;
    let progress = Progress::new();
    let adoption = site.with_tree(branch, |tree, renderers| hydrate::adopt(tree, renderers, &asked, &progress));
    progress.clear();
    let adoption = adoption?;
    let written = arguments.write && write(&site, &adoption)?;
    if json {
        output::print_json(&serde_json::json!({ "written": written, "adoption": adoption }))?;
    } else {
        let screen = Screen::new(site.repository());
        screen.show(&report(&adoption, &next, written))?;
    }
    Ok(if adoption.is_success() { Outcome::Done } else { Outcome::Found })
}

/// The rule that is asked for.
fn rule(arguments: &Arguments) -> anyhow::Result<Option<Rule>> {
    let Some(branch) = &arguments.branch_pattern else { return Ok(None) };
    let rule = Rule::of_all(branch, &arguments.path_pattern);
    Ok(Some(rule.map_err(|error| WrongUse(format!("--branch-pattern, --path-pattern: {error}")))?))
}

fn roots(given: &[PathBuf]) -> anyhow::Result<Vec<RepoPath>> {
    let path = |path: &PathBuf| {
        let text = path.to_string_lossy();
        RepoPath::clean(&text).map_err(|error| WrongUse(format!("--root {text}: {error}")).into())
    };
    given.iter().map(path).collect()
}

/// Writes the settings that are proposed; answers whether they are new.
fn write(site: &Site, adoption: &Adoption) -> anyhow::Result<bool> {
    let Some(repository) = site.repository() else { return Ok(false) };
    if adoption.needs_rules {
        bail!(WrongUse(
            "--write needs to know where plain Applications go\nhint: give a --branch-pattern, or set rules: git \
             hydrate config edit"
                .to_owned()
        ));
    }
    super::check_owner(repository, "adopt …")?;
    let keys: Vec<&str> = adoption.settings.iter().map(|setting| setting.key).collect();
    config::write(repository, &adoption.files, &format!("settings: adopt this repository ({})", keys.join(", ")))
}
