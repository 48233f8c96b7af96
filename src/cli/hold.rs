//! `git hydrate rollback`, `hold` and `resume`: what the setting `hold` says, set by name, and shown before it is set.
//!
//! On the server they hydrate at once. In a clone they push the settings, and the server's hook does the rest.

mod apply;
mod promoted;
mod target;

use anyhow::bail;
use dry_files::diag::printable;

use super::clone::{self, Clone};
use super::{Outcome, WrongUse, check_owner, machine};
use crate::argo::BranchName;
use crate::hydrate::rollback::is_active;
use crate::owners::policy;
use crate::owners::setup::Wake;
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId};
use crate::settings::{Hold, Holds, SettingsFiles};
use crate::show::Progress;
use apply::Change;

/// Bring a branch back to an earlier commit, and keep it there.
///
/// Copies the files that the branch had, in one commit on top, so nothing that runs is deleted. The branch stays as it is, whatever
/// is pushed, until `git hydrate resume`. What would change is shown first.
///
/// An active branch that GitOps Promoter writes is restored as Promoter does it: by its own kind of commit and note. Promoter holds
/// the promotion then, and ends that.
///
/// Runs on the server, or in a clone whose user may push the settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate rollback prod --reason 'payments fail'       one hydrated commit back
git hydrate rollback environments/prod --to '~3' …       three of them
git hydrate rollback prod --to '2 hours ago' …           what it showed then, by the dates of dry commits
git hydrate rollback prod --to v1.4.0 …                  what it showed of that dry commit
git hydrate rollback prod --application web …            web alone; the others go on")]
pub(super) struct RollbackArguments {
    /// The environment branch, or the last part of its name.
    branch: String,
    /// Where to: a hydrated commit of the branch, a dry commit, `~N` hydrated commits back, or a time such as '2 hours ago'.
    #[arg(long, value_name = "COMMIT|~N|TIME", default_value = "~1", allow_hyphen_values = true)]
    to: String,
    /// Of an active branch that is promoted by directory: the directory.
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<String>,
    /// Lets it take any number of objects from clusters, whatever the setting `removalLimit` says.
    #[arg(long)]
    allow_removal: bool,
    #[command(flatten)]
    held: Held,
}

/// Keep a branch, or single Applications of it, as it is.
///
/// It stays so, whatever is pushed, until `git hydrate resume`. Each push, `status` and `diff` say why.
///
/// Runs on the server, or in a clone whose user may push the settings.
#[derive(Debug, clap::Args)]
pub(super) struct HoldArguments {
    /// The environment branch, or the last part of its name.
    branch: String,
    #[command(flatten)]
    held: Held,
}

/// What is said of a hold.
#[derive(Debug, clap::Args)]
struct Held {
    /// Only this Application, `NAME` or `NAMESPACE/NAME`; may be given more than once.
    #[arg(long, value_name = "NAME")]
    application: Vec<String>,
    /// Why, in one line: whoever pushes reads it.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// When somebody should end it; each push warns from then on.
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    #[command(flatten)]
    way: Way,
}

/// Let a branch go on that was held or rolled back.
///
/// Shows what that changes first. All files are compared with those that there should be, and one commit brings the newest dry
/// commit.
#[derive(Debug, clap::Args)]
pub(super) struct ResumeArguments {
    /// The environment branch, or the last part of its name.
    branch: String,
    /// Only this Application; the others that are held stay so.
    #[arg(long, value_name = "NAME")]
    application: Vec<String>,
    #[command(flatten)]
    way: Way,
}

/// How a change is made.
#[derive(Debug, clap::Args)]
struct Way {
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short = 'y')]
    yes: bool,
    /// In a clone: the remote with the environment branches; by default the one that this branch tracks.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
}

pub(super) fn rollback(arguments: &RollbackArguments, json: bool) -> anyhow::Result<Outcome> {
    let site = Site::open(&arguments.branch, &arguments.held.way)?;
    if site.is_active()? {
        return promoted::rollback(&site, arguments, json);
    }
    if arguments.path.is_some() {
        bail!(WrongUse(format!("`{}` is not promoted: leave --path out", site.branch)));
    }
    let at = target::find(&site.clone, &site.branch, site.tip()?, &arguments.to)?;
    let what = format!("roll {} back to {}", site.branch, at.to_hex_with_len(7));
    hold_at(site, &arguments.held, (at, arguments.allow_removal), &what, json)
}

pub(super) fn hold(arguments: &HoldArguments, json: bool) -> anyhow::Result<Outcome> {
    let site = Site::open(&arguments.branch, &arguments.held.way)?;
    let at = target::shown(&site.clone, &site.branch, site.tip()?)?;
    let what = format!("hold {}", site.branch);
    hold_at(site, &arguments.held, (at, false), &what, json)
}

fn hold_at(
    site: Site,
    held: &Held,
    (at, allow_removal): (ObjectId, bool),
    what: &str,
    json: bool,
) -> anyhow::Result<Outcome> {
    let (reason, until) = (held.reason.clone(), held.until.clone());
    let hold = Hold { at, reason, applications: held.application.clone(), until, allow_removal };
    let mut holds = site.holds.clone();
    holds.set(site.branch.clone(), Some(hold));
    let message = format!("{what}: {}", held.reason);
    Change { site: &site, holds, message, is_held: true }.make(&held.way, json)
}

pub(super) fn resume(arguments: &ResumeArguments, json: bool) -> anyhow::Result<Outcome> {
    let site = Site::open(&arguments.branch, &arguments.way)?;
    let Some(hold) = site.holds.of_branch(&site.branch) else {
        let held: Vec<&str> = site.holds.iter().map(|(branch, _)| branch.as_str()).collect();
        let others = if held.is_empty() { "nothing is".to_owned() } else { format!("held: {}", held.join(", ")) };
        bail!(WrongUse(format!("nothing of `{}` is held; {others}", site.branch)));
    };
    let mut rest = hold.clone();
    if let Some(unknown) = arguments.application.iter().find(|name| !rest.applications.contains(name)) {
        let held = if rest.is_whole() { "the whole branch".to_owned() } else { rest.applications.join(", ") };
        bail!(WrongUse(format!("`{}` is not held alone on `{}`; held: {held}", printable(unknown), site.branch)));
    }
    rest.applications.retain(|name| !arguments.application.contains(name));
    let is_over = arguments.application.is_empty() || rest.is_whole();
    let mut holds = site.holds.clone();
    holds.set(site.branch.clone(), (!is_over).then_some(rest));
    let message = format!("resume {}", site.branch);
    Change { site: &site, holds, message, is_held: false }.make(&arguments.way, json)
}

/// Where a change is made.
struct Site {
    clone: Clone,
    branch: BranchName,
    /// The settings that there are.
    files: SettingsFiles,
    holds: Holds,
}

impl Site {
    fn open(branch: &str, way: &Way) -> anyhow::Result<Self> {
        let arguments = way.remote.clone().map_or_else(clone::Arguments::default, clone::Arguments::of_remote);
        let clone = Clone::open(&arguments)?;
        if clone.remote().is_none() {
            check_owner(&clone.repository, "…")?;
        }
        let branch = target::branch(&clone, branch)?;
        let (refs, buffer) = (clone.repository.refs()?, ObjectBuffer::new(&clone.repository));
        let (_, files) = policy::settings_files(&refs, &buffer)?;
        let holds = Holds::read(&files)?;
        Ok(Self { clone, branch, files, holds })
    }

    /// Whether a promoter writes the branch.
    fn is_active(&self) -> anyhow::Result<bool> {
        let renderers = Renderers::from_config(&self.clone.repository, &machine()?)?;
        let progress = Progress::new();
        Ok(is_active(&self.clone.setup(Wake::Everything, &renderers, &progress), &self.branch)?)
    }

    fn tip(&self) -> anyhow::Result<ObjectId> {
        match self.clone.place.tip(&self.clone.repository.refs()?, &self.branch) {
            Some(tip) => Ok(tip),
            None => bail!(WrongUse(format!("`{}` does not exist", self.branch))),
        }
    }
}
