//! `git hydrate adopt`: what a repository needs to be hydrated as it is; on a server, branches that are handed over.

mod compare;
mod hand_over;
mod hydrators;
mod report;

use std::path::PathBuf;

use anyhow::bail;
use dry_files::diag::{shell_path, shell_word};
use dry_files::path::RepoPath;

use super::check::Site;
use super::clone::{self, Clone, is_server, most_named};
use super::screen::Screen;
use super::{Outcome, WrongUse, config, output, vendor};
use crate::argo::{BranchName, Rule};
use crate::inspect;
use crate::inspect::{Adoption, Asked, Tree};
use crate::render::Renderers;
use crate::show::Progress;

use report::settings_written;
pub(super) use report::{Ask, report};

/// Where an Application goes on its branch when nothing else is asked for.
const NAME_PATTERN: &str = "{{ name }}";

/// Find what a repository needs to be hydrated as it is; on a server, hand branches over to hydration.
///
/// In a clone: looks at the working tree, renders every Argo CD Application in it, in files, of ApplicationSets and of
/// other Applications, and proposes the settings with which they hydrate without being edited. Tells how many hydrate,
/// which do not and why, and what to run next; run again, it tells how far you are. Where plain Applications go you
/// say with --branch-pattern: without it, patterns that fit are shown. Nothing is written without --write, and then
/// only the settings, which you push when you like them; files are edited with --write-source-hydrator only. Needs no
/// cluster. Where there is a remote, what it has now is fetched first; --offline takes what was fetched last.
///
/// On a server: hydration never writes to a branch that it did not make: one written by Argo CD's hydrator, by a person
/// or by another server. This adds branches that it may continue to the setting `adopt`, and hydrates them. Files on
/// them that no Application makes stay as they are and are listed. A branch whose commits get the same ids when they
/// are made again, as after a move that lost `refs/hydrate/branches`, is recorded as hydrated and needs no setting.
/// Without a branch, lists the branches that could be handed over.
///
/// With --compare, what would be hydrated is compared with what runs, before anything is led to the branches. It is
/// refused while an ApplicationSet that is to go owns live Applications among the files.
///
/// Exit code: 0 when everything hydrates (or is the same), 1 when something does not (or is not), 2 after an error.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("branch", most_named))]
#[command(after_help = "\
in a clone
  git hydrate adopt                                                        what would hydrate, and patterns that fit
  git hydrate adopt --branch-pattern 'environments/{{ labels.env }}'         which Application would go where
  git hydrate adopt --branch-pattern 'environments/{{ labels.env }}' --write writes the settings
  git hydrate adopt --write --vendor                                         and brings and commits what is needed from elsewhere
  git hydrate adopt --write-source-hydrator --dry-run                      what editing the files would change
  git hydrate adopt --compare ../live                                      what runs, beside what would be hydrated
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
    /// On a server: take over branches although the settings that they were hydrated with are lost, or although they are of Argo CD's
    /// hydrator and the profile is another one.
    #[arg(long)]
    yes: bool,
    /// The branch of each plain Application: a template as in the setting `rules`. May be given more than once: a further one is for
    /// those that the ones before have no branch for.
    #[arg(long, value_name = "TEMPLATE")]
    branch_pattern: Vec<String>,
    /// The directory of each plain Application on its branch: a template as in the setting `rules`.
    #[arg(long, value_name = "TEMPLATE", default_value = NAME_PATTERN, requires = "branch_pattern")]
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
    /// Bring what is needed from elsewhere, too, as `git hydrate vendor --keep-going` does, and commit it.
    #[arg(long, requires = "write")]
    vendor: bool,
    /// Compare what would be hydrated with what runs: files that `kubectl get -o yaml` (or `-o json`) or `argocd app manifests`
    /// wrote. What only the API server adds does not count.
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["write", "write_source_hydrator"])]
    compare: Option<PathBuf>,
    /// Edit the files of plain Applications: `sourceHydrator` in place of `source`, leading where the rules or the patterns
    /// lead. All else in the files stays as it is; what cannot be edited is listed with the reason.
    #[arg(long, conflicts_with = "write")]
    write_source_hydrator: bool,
    /// Show the edits as a diff, and write nothing.
    #[arg(long, requires = "write_source_hydrator", conflicts_with = "write")]
    dry_run: bool,
    #[command(flatten)]
    clone: clone::Arguments,
}

impl Arguments {
    /// Whether it is asked for what only a clone does.
    fn is_of_clone(&self) -> bool {
        let Self { branch_pattern, repo_url, root, write, write_source_hydrator, compare, .. } = self;
        let is_edit = *write || *write_source_hydrator || compare.is_some();
        !branch_pattern.is_empty() || !repo_url.is_empty() || !root.is_empty() || is_edit
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

/// What was asked for beside the branch pattern, to be typed again.
fn options(arguments: &Arguments) -> String {
    let path_pattern = Some(&arguments.path_pattern).filter(|pattern| *pattern != NAME_PATTERN);
    let path_pattern = path_pattern.map(|pattern| format!(" --path-pattern {}", shell_word(pattern)));
    let repo_urls = arguments.repo_url.iter().map(|url| format!(" --repo-url {}", shell_word(url)));
    let roots = arguments.root.iter().map(|root| format!(" --root {}", shell_path(root)));
    let branch = arguments.clone.branch.as_ref().map(|branch| format!(" --branch {}", shell_word(branch)));
    path_pattern.into_iter().chain(repo_urls).chain(roots).chain(branch).collect()
}

fn propose(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let branch = arguments.clone.branch.as_deref().map(BranchName::new).transpose();
    let branch = branch.map_err(|error| WrongUse(format!("--branch: {error}")))?;
    let clone = Clone::open(&arguments.clone)?;
    let asked = Asked {
        rules: rules(arguments)?,
        repo_urls: arguments.repo_url.clone(),
        remote_url: clone.remote_url(),
        roots: roots(&arguments.root)?,
    };
    let next = Ask {
        patterns: arguments.branch_pattern.clone(),
        options: options(arguments),
        remote: clone.remote().map(str::to_owned),
        branch: clone.dry_branch().ok(),
        branches: clone.branches()?,
        has_settings: clone.has_settings()?,
    };
    let site = Site::of_worktree(clone, "git hydrate adopt")?;
    let progress = Progress::new();
    if arguments.write_source_hydrator {
        let found =
            site.with_tree(branch, |tree, renderers| inspect::source_hydrators(tree, renderers, &asked, &progress));
        progress.clear();
        return hydrators::run(&site, &found?, arguments.dry_run, json);
    }
    if let Some(what) = &arguments.compare {
        let running = compare::read(what)?;
        let compare = |tree: &Tree<'_>, renderers: &Renderers| {
            inspect::compare_running(tree, renderers, &asked, &progress, running)
        };
        let found = site.with_tree(branch, compare);
        progress.clear();
        return compare::show(&site, &found?, json);
    }
    let adoption = site.with_tree(branch, |tree, renderers| inspect::adopt(tree, renderers, &asked, &progress));
    progress.clear();
    let mut adoption = adoption?;
    let written = arguments.write && write(&site, &mut adoption)?;
    if arguments.vendor && !adoption.inputs.is_empty() {
        if !json {
            output::print(settings_written(&adoption, written))?;
        }
        vendor::run(&vendor::Arguments::to_commit(arguments.clone.branch.clone()), false)?;
        let rest = Arguments { branch_pattern: Vec::new(), write: false, vendor: false, ..arguments.clone() };
        return propose(&rest, json);
    }
    if json {
        output::print_json(&serde_json::json!({ "written": written, "adoption": adoption }))?;
    } else {
        let screen = Screen::new(site.repository());
        screen.show(&report(&adoption, &next, written))?;
    }
    Ok(if adoption.is_success() { Outcome::Done } else { Outcome::Found })
}

/// The rules that are asked for.
fn rules(arguments: &Arguments) -> anyhow::Result<Vec<Rule>> {
    let rule = |branch: &String| {
        let rule = Rule::of_all(branch, &arguments.path_pattern);
        rule.map_err(|error| WrongUse(format!("--branch-pattern, --path-pattern: {error}")).into())
    };
    arguments.branch_pattern.iter().map(rule).collect()
}

fn roots(given: &[PathBuf]) -> anyhow::Result<Vec<RepoPath>> {
    let path = |path: &PathBuf| {
        let text = path.to_string_lossy();
        RepoPath::clean(&text).map_err(|error| WrongUse(format!("--root {text}: {error}")).into())
    };
    given.iter().map(path).collect()
}

/// Writes the settings that are proposed, with a seed where random functions are allowed by them; answers whether they are new.
fn write(site: &Site, adoption: &mut Adoption) -> anyhow::Result<bool> {
    let Some(repository) = site.repository() else { return Ok(false) };
    if adoption.needs_rules {
        bail!(WrongUse(
            "--write needs to know where plain Applications go\nhint: give a --branch-pattern, or set rules: git \
             hydrate config edit"
                .to_owned()
        ));
    }
    super::check_owner(repository, "adopt …")?;
    if adoption.settings.iter().any(|setting| setting.key == "nondeterministic") {
        config::add_seed(&mut adoption.files)?;
    }
    let keys: Vec<&str> = adoption.settings.iter().map(|setting| setting.key).collect();
    config::write(repository, &adoption.files, &format!("settings: adopt this repository ({})", keys.join(", ")))
}
