//! `git hydrate diff`: what would change in each environment, before anything is pushed.

mod promotion;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::clone::{self, Clone};
use super::screen::Screen;
use super::{NO_APPLICATION, Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::owners::heads;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::preview::{Against, MergeBase, Preview};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{ObjectId, Refs};
use crate::show::Progress;
use crate::show::changes::{Changes, Detail, Form, html, json, markdown, text};

pub(super) use promotion::{followed, staging_of};

/// Show what would change in each environment.
///
/// Hydrates a dry commit in memory and compares the manifests with those on the environment branches of the remote,
/// object by object and field by field. No ref is written.
///
/// A commit that is behind its dry branch is compared at the merge base, so that only its own changes are shown.
///
/// Image changes and dangers are listed first. Dangers are sorted by severity: data loss, outage, security, refused, the rest;
/// each with what happens in the cluster, whether Argo CD prunes, and what to do. An Application that goes or has another name
/// says what becomes of its objects. A new environment is shown by what differs from the one that it is most like. Changes of checksums, chart labels,
/// generated names and the dry commit's id count as noise. The values of Secrets are hidden. What a frozen branch holds back is
/// shown as such.
///
/// Exit code: 0 when nothing would change, 1 when something would or fails to render, 2 after an error.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SCHEMA)]
pub(super) struct Arguments {
    /// The dry commit.
    #[arg(default_value = "HEAD")]
    rev: String,
    /// Use the working tree, including edits and unignored untracked files.
    #[arg(long, conflicts_with = "rev")]
    worktree: bool,
    /// Show the working tree, and again after each save, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["rev", "form"])]
    watch: bool,
    /// Compare with the manifests of this dry commit, or with this hydrated commit or environment branch.
    #[arg(long, value_name = "REF")]
    against: Option<String>,
    /// Show what a promotion brings: what --to would be of the dry commit that this environment branch shows. What the two
    /// differ in by their own files is left out.
    #[arg(long, value_name = "BRANCH", requires = "to", conflicts_with_all = ["rev", "worktree", "watch", "against", "branch"])]
    from: Option<String>,
    /// The environment branch that is promoted to; both by their names, or the last parts of those.
    #[arg(long, value_name = "BRANCH", requires = "from")]
    to: Option<String>,
    /// Show what other versions of the tools would change, at the tips of the dry branches: `helm=4.3.1`, `kustomize=5.7.1`,
    /// `jsonnet=0.21.0` or all of an Argo CD, `argocd=3.5`; `GLOB:argocd=3.5` for the branches of a glob of the setting `tools`.
    #[arg(long, value_name = "TOOL=VERSION", value_delimiter = ',', conflicts_with_all = ["rev", "worktree", "watch", "against", "from"])]
    tools: Vec<String>,
    /// Show which Applications and objects change, without their fields.
    #[arg(long, group = "form")]
    stat: bool,
    /// Print Markdown for a pull request, cut to --limit.
    #[arg(long, group = "form")]
    markdown: bool,
    /// How many bytes of Markdown a comment may have.
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, requires = "markdown")]
    limit: usize,
    /// The address of the page of --html, for a link in the Markdown.
    #[arg(long, value_name = "URL", requires = "markdown")]
    link: Option<String>,
    /// Write a self-contained HTML page, and print what --stat prints.
    #[arg(long, group = "form", value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also show changes that are noise.
    #[arg(long)]
    noise: bool,
    /// Show the values of Secrets.
    #[arg(long)]
    secrets: bool,
    #[command(flatten)]
    clone: clone::Arguments,
}

/// What `--json` prints.
const SCHEMA: &str = "\
JSON:
  format                    1; another number when a field changes its meaning
  commonChanges             what changes alike in at least three objects: what, objects, environments (how many)
  mergeBase                 the commit that was compared with when the dry branch has commits that the dry commit
                            lacks: commit, branch, behind (how many)
  environments              by branch:
    branch, syncBranch      the branch that is written; the one that is deployed
    dryBranch, drySha       the dry branch and commit
    dryShaBefore            the dry commit that the branch is hydrated from now
    against                 the hydrated commit that was compared
    applicationCount        Applications that write to the branch
    summary                 added, changed, removed, moved, noise: objects; renamed: those of the removed that come under
                            another name; restarts: workloads; images; dangers: their number
    objects                 the objects that a push would count: added, changed, removed; paths: the same by path;
                            gone: those that are not there any more: group, kind, namespace, name, path, renamedTo
    dangers                 the worst first, equal ones together: severity (data-loss, outage, security, refused, other),
                            kind, message, pruning (automatic, manual, confirmed, cascade, off, orphaned, left,
                            unknown), advice, objects
    held                    what the setting `hold` keeps of it: application, at, reason, until
    frozen                  why it stays as it is for a time: reason, until; all that changes is held back until then
    mistakes                why it fails to render: severity, message, span, application, hint
    behind                  paths that stay at an earlier dry commit: path, drySha, application, paused, pausedAt
                            (path, line, column, width); parent: the Application that stays and has it, of one that
                            the dry commit has no more
    failures                what is wrong with those of them that are not paused
    notCompared             what a dry commit does not hydrate, so that it is neither new nor gone: application, path (both
                            missing for all of the branch), drySha, before (whether that commit is the one that was
                            compared with), cause; earlierDrySha: the last dry commit before it that hydrated it
    like                    what a new environment is most like: branch; word: the words of both names; applications:
                            those that differ, as below; lacks: Applications that it has and the new one has not
    applications            those that change: name, path, change (added, removed, changed), movedFrom, renamedFrom,
                            unreadable: why what is on the branch cannot be compared; handedOver: where its objects go;
                            effect: what Argo CD does about an Application that goes or has another name
      objects               also the Application itself, where more of it changes than its manifests; apiVersion,
                            kind, namespace, name, oldName, movedFrom (an Application), change, noise,
                            restarts
        images              container, old, new
        dangers             severity, kind, message, pruning, advice
        differences         path, old, new, noise; or path, movedFrom, movedTo for an item of a list
  inputs                    charts, bases and files from elsewhere that change: kind, url, name, old, new (versions),
                            files (how many differ: templates, values, crds, files), defaults (how many values of
                            values.yaml differ), usedBy
  problems, warnings        what concerns no environment branch that is known";

pub(super) fn run(arguments: &Arguments, json_wanted: bool) -> anyhow::Result<Outcome> {
    if arguments.watch && json_wanted {
        bail!(WrongUse("`--watch` is for people; it prints no JSON".to_owned()));
    }
    let clone = Clone::open(&arguments.clone)?;
    if arguments.watch {
        return watch(arguments, &clone);
    }
    let changes = changes(arguments, &clone)?;
    if let Some(file) = &arguments.html {
        std::fs::write(file, html(&changes)).with_context(|| format!("writing {}", file.display()))?;
    }
    if json_wanted {
        output::print_document(&json(&changes))?;
    } else if arguments.markdown {
        let link = arguments.link.as_deref().filter(|link| !link.is_empty());
        output::print(markdown(&changes, arguments.limit, link))?;
    } else if changes.environments.is_empty() && changes.problems.is_empty() {
        output::print(NO_APPLICATION)?;
    } else {
        let detail = match arguments.stat || arguments.html.is_some() {
            true => Detail::Objects,
            false => Detail::Fields { with_noise: arguments.noise },
        };
        let screen = Screen::new(Some(&clone.repository));
        let form = Form { paint: screen.paint(), wraps: screen.is_terminal() };
        screen.show(&text(&changes, detail, form))?;
        if arguments.clone.branch.is_none() && arguments.tools.is_empty() && arguments.from.is_none() {
            tell_of_others(&clone, &arguments.rev, &changes)?;
        }
    }
    Ok(if changes.is_empty() { Outcome::Done } else { Outcome::Found })
}

/// Says which dry branches the commit was not taken for the tip of, where there is more than one and none was named.
fn tell_of_others(clone: &Clone, rev: &str, changes: &Changes) -> anyhow::Result<()> {
    if clone.dry_branch_named(rev)?.is_some() {
        return Ok(());
    }
    let shown = changes.environments.iter().map(|environment| environment.branch.dry_branch.as_str());
    let shown: BTreeSet<&str> = shown.collect();
    let all = heads::dry_branches(&clone.repository, &clone.place)?;
    let others: Vec<&str> = all.iter().map(BranchName::as_str).filter(|branch| !shown.contains(branch)).collect();
    if let ([shown], [_, ..]) = (&shown.into_iter().collect::<Vec<_>>()[..], &others[..]) {
        let others = others.join("`, `");
        output::warn(&format!("note: this is what the tip of `{shown}` gives; of `{others}`: --branch NAME"));
    }
    Ok(())
}

fn changes(arguments: &Arguments, clone: &Clone) -> anyhow::Result<Changes> {
    if !arguments.tools.is_empty() {
        return Ok(Changes::new(with_tools(clone, &arguments.tools)?, arguments.secrets));
    }
    if let (Some(from), Some(to)) = (&arguments.from, &arguments.to) {
        return Ok(Changes::new(promotion::preview(clone, (from, to))?, arguments.secrets));
    }
    let is_worktree = arguments.worktree || arguments.watch;
    let dry = Dry::of(clone, (&arguments.rev, is_worktree), "git hydrate diff")?;
    let preview = match &arguments.against {
        Some(rev) => {
            let id = clone.commit(rev)?;
            dry.preview(clone, &|_| Against::Commit(id))?
        }
        None => dry.preview(clone, &dry.against_branches(clone)?)?,
    };
    Ok(Changes::new(preview, arguments.secrets))
}

/// What the dry branches would give with other versions of the tools.
fn with_tools(clone: &Clone, words: &[String]) -> anyhow::Result<Preview> {
    let repository = clone.with_tools(words)?;
    let renderers = Renderers::from_config(&repository, &super::machine()?)?;
    let progress = Progress::new();
    let setup = Setup::new(&repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
    let setup = Setup { observer: &progress, ..setup };
    clone.explain(progress.during(|| preview::preview(&setup, &Against::Branches)))
}

/// How often the working tree is looked at.
const WATCH_EVERY: Duration = Duration::from_millis(500);

/// Shows what would change, and again when the working tree is another one.
fn watch(arguments: &Arguments, clone: &Clone) -> anyhow::Result<Outcome> {
    let screen = Screen::new(Some(&clone.repository));
    let detail = Detail::Fields { with_noise: arguments.noise };
    let form = Form { paint: screen.paint(), wraps: screen.is_terminal() };
    let mut shown = None;
    loop {
        let now = super::snapshot_of(&clone.repository, "git hydrate diff")?;
        if shown != Some(now) {
            let shows = text(&changes(arguments, clone)?, detail, form);
            if !screen.show_next(&format!("{shows}\nwaiting for the next save; Ctrl-C ends\n"))? {
                return Ok(Outcome::Done);
            }
            shown = Some(now);
        }
        std::thread::sleep(WATCH_EVERY);
    }
}

/// The dry commit that a command looks at.
pub(super) struct Dry {
    /// How it was named; none of what was not committed yet.
    rev: Option<String>,
    tip: ObjectId,
    /// The commit by which it is known where it left its dry branch: what was not committed yet is on top of HEAD.
    parting: ObjectId,
}

impl Dry {
    /// A revision, or the working tree; `command` is who asks.
    pub(super) fn of(clone: &Clone, (rev, worktree): (&str, bool), command: &str) -> anyhow::Result<Self> {
        if worktree {
            let tip = super::snapshot_of(&clone.repository, command)?;
            return Ok(Self { rev: None, tip, parting: clone.commit("HEAD").unwrap_or(tip) });
        }
        let tip = super::dry_commit_of(&clone.repository, rev, command)?;
        Ok(Self { rev: Some(rev.to_owned()), tip, parting: tip })
    }

    /// The environment branches of the remote; where the commit lacks some of its dry branch, the commit where they parted.
    pub(super) fn against_branches(&self, clone: &Clone) -> anyhow::Result<impl Fn(&BranchName) -> Against> {
        let refs = clone.repository.refs()?;
        Ok(move |branch: &BranchName| {
            self.merge_base(clone, &refs, branch).map_or(Against::Branches, Against::MergeBase)
        })
    }

    fn merge_base(&self, clone: &Clone, refs: &Refs, branch: &BranchName) -> Option<MergeBase> {
        let upstream = clone.place.tip(refs, branch)?;
        MergeBase::of(&clone.repository, self.parting, (branch, upstream))
    }

    /// What hydrating it as the tip of a dry branch would change.
    ///
    /// A branch from which nothing is hydrated, such as one for a pull request, is taken for one that will be merged into
    /// one that is.
    pub(super) fn preview(&self, clone: &Clone, against: &dyn Fn(&BranchName) -> Against) -> anyhow::Result<Preview> {
        let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
        let progress = Progress::new();
        let setup = |branch| clone.setup(Wake::Commit { branch, tip: self.tip }, &renderers, &progress);
        // What was not committed yet is no commit that is hydrated.
        let shown = if self.tip == self.parting { preview::preview_commits } else { preview::preview };
        let preview = |branch: BranchName| {
            let against = against(&branch);
            progress.during(|| shown(&setup(branch), &against))
        };
        let (branch, main) = clone.dry_branches_to_try(self.rev.as_deref())?;
        let found = clone.explain(preview(branch))?;
        match main.filter(|_| found.environments.is_empty() && found.problems.is_empty()) {
            Some(main) => clone.explain(preview(main)),
            None => Ok(found),
        }
    }
}
