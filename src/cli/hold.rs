//! `git hydrate rollback`, `hold` and `resume`: what the setting `hold` says, set by name, and shown before it is set.
//!
//! On the server they hydrate at once. In a clone they push the settings, and the server's hook does the rest.

mod apply;
mod dry;
mod promoted;
mod range;
mod target;
mod when;

use std::cell::RefCell;

use anyhow::bail;
use dry_files::diag::{printable, shell_word};

use super::clone::{self, Clone};
use super::{Outcome, WrongUse, check_owner, machine, output};
use crate::argo::BranchName;
use crate::discover::Discovery;
use crate::hydrate::rollback::is_active;
use crate::metadata::PROMOTIONS_REF;
use crate::owners::policy;
use crate::owners::setup::Wake;
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId};
use crate::settings::{Hold, Holds, SettingsFiles, covers};
use crate::show::Progress;
use apply::Change;

/// Bring a branch back to an earlier commit, and keep it there.
///
/// Copies the files that the branch had, in one commit on top, so nothing that runs is deleted. The branch stays as it is, whatever
/// is pushed, until `git hydrate resume`. Which commit it goes to and what would change is shown first. Applications that are held or
/// rolled back alone are so beside each other, each with its own place and reason.
///
/// An active branch that GitOps Promoter writes is restored as Promoter does it: by its own kind of commit and note. Promoter holds
/// the promotion then, and ends that.
///
/// Runs on the server, or in a clone whose user may push the settings.
///
/// With --dry the dry branch goes back in place of the environment branch: a commit on top of it gives those files their former
/// content that the environment is rendered from, as far as its manifests need them. That is rendered in memory, and compared with the
/// commit that it goes back to. Where it would change other environments or Applications, these are named with the files, and nothing is
/// made without --shared. The commit is on a new branch of the clone, to be reviewed and pushed. By default it goes to where the branch is
/// held. Exit code: 0 when the commit was made and gives just those manifests, else 1; 2 after an
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate rollback prod --reason 'payments fail'       before the last commit that changed an object
git hydrate rollback environments/prod --to '~3' …       three of them
git hydrate rollback prod --to '2 hours ago' …           what was deployed then
git hydrate rollback prod --to v1.4.0 …                  what it showed of that dry commit
git hydrate rollback prod --application web …            web alone; the others go on
git hydrate rollback prod --dry …                        by a commit of the dry branch, for review")]
pub(super) struct RollbackArguments {
    /// The environment branch, or the last part of its name.
    branch: String,
    /// Where to: a hydrated commit of the branch, a dry commit, `~N` hydrated commits back, or a time such as '2 hours ago' or
    /// 2026-11-29, which is the start of that day. A clone does not know when commits were deployed, and goes by the dates of dry
    /// commits. By default before the last commit that changed an object of the branch, or of the Applications that are named.
    #[arg(long, value_name = "COMMIT|~N|TIME", allow_hyphen_values = true)]
    to: Option<String>,
    /// Of an active branch that is promoted by directory: the directory.
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<String>,
    /// With the whole branch, bring this Application back that is gone from the dry branch; may be given more than once.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["application", "dry", "path"])]
    with: Vec<String>,
    /// Lets it take any number of objects from clusters, whatever the setting `removalLimit` says.
    #[arg(long)]
    allow_removal: bool,
    /// In a clone: make the commit of the dry branch that takes the branch back, and hold nothing.
    #[arg(long)]
    dry: bool,
    /// With --dry: also where that changes other environments or Applications.
    #[arg(long, requires = "dry")]
    shared: bool,
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
    /// Why, in one line: everyone who pushes reads it.
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
/// Shows what that changes first. After a rollback, all files are compared with those that there should be, and one commit brings
/// the newest dry commit. After `git hydrate hold` of a branch, each dry commit since then gets its own, as the setting `history` says.
/// Where the branch, or an Application that is named, does not render, nothing is changed: it stays held. What comes to it is judged as a
/// push is: where the server is in strict mode, what checks or the setting `validate` refuse keeps it held.
///
/// A branch whose Applications name a range of versions stays where it is when the tag that it shows is gone. On the server, this lets
/// it go back to the highest tag that is there.
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
    if arguments.dry {
        return dry::rollback(&site, arguments, json);
    }
    if site.is_active()? {
        return promoted::rollback(&site, arguments, json);
    }
    if arguments.path.is_some() {
        bail!(WrongUse(format!("`{}` is not promoted: leave --path out", site.branch)));
    }
    let names = &arguments.held.application;
    site.refuse_within(names)?;
    let (tip, shown) = (site.tip()?, target::shown(&site.clone, &site.branch, site.tip()?)?);
    let log = format!("git hydrate log {}", shell_word(site.branch.as_str()));
    let with = site.with(&arguments.with);
    let held = site.holds.of_branch(&site.branch).iter().find(|hold| hold.is_whole() && !arguments.with.is_empty());
    let (at, is_found) = match &arguments.to {
        None if held.is_some() => (held.map_or(shown, |hold| hold.at), true),
        Some(text) => (target::find(&site.clone, &site.branch, tip, text)?, true),
        None => match target::before_change(&site.clone, (&site.branch, tip), names)? {
            Some(at) if names.is_empty() => (site.before_holds(at), true),
            Some(at) => (at, true),
            None => (shown, false),
        },
    };
    if at == shown && is_found && with.is_empty() {
        let id = at.to_hex_with_len(7);
        bail!(WrongUse(format!("{id} is what `{}` has now\nhint: {log} shows the commits to go back to", site.branch)));
    }
    let nothing = match is_found {
        true => format!("this changes nothing: `{}` has the objects of {}", site.branch, at.to_hex_with_len(7)),
        false => format!("there is nothing to go back to: no earlier commit of `{}` has other objects", site.branch),
    };
    let nothing = format!("{nothing}\nhint: {log} shows the commits; to keep it as it is: git hydrate hold");
    let what = format!("roll {}{} back to {}", of(names), site.branch, at.to_hex_with_len(7));
    let what = if with.is_empty() { what } else { format!("{what}, with {}", with.join(", ")) };
    let removal = if arguments.allow_removal { " --allow-removal" } else { "" };
    let restored: String = with.iter().map(|name| format!(" --with {}", shell_word(name))).collect();
    let command = format!("rollback {} --to {at}{restored}{removal}", shell_word(site.branch.as_str()));
    let held = &arguments.held;
    let hold = Hold {
        at,
        reason: held.reason.clone(),
        applications: names.clone(),
        with,
        until: held.until.clone(),
        allow_removal: arguments.allow_removal,
    };
    hold_at(site, (held, hold), (&what, &command, Some(nothing)), json)
}

/// `web-prod of `, before a branch.
fn of(applications: &[String]) -> String {
    if applications.is_empty() { String::new() } else { format!("{} of ", applications.join(", ")) }
}

pub(super) fn hold(arguments: &HoldArguments, json: bool) -> anyhow::Result<Outcome> {
    let site = Site::open(&arguments.branch, &arguments.held.way)?;
    if site.is_active()? {
        return Err(site.promoted()?);
    }
    site.refuse_within(&arguments.held.application)?;
    let at = target::shown(&site.clone, &site.branch, site.tip()?)?;
    let what = format!("hold {}{}", of(&arguments.held.application), site.branch);
    let command = format!("hold {}", shell_word(site.branch.as_str()));
    let Held { application, reason, until, .. } = &arguments.held;
    let (reason, applications, until) = (reason.clone(), application.clone(), until.clone());
    let hold = Hold { at, reason, applications, with: Vec::new(), until, allow_removal: false };
    hold_at(site, (&arguments.held, hold), (&what, &command, None), json)
}

fn hold_at(
    site: Site,
    (held, hold): (&Held, Hold),
    (what, command, nothing): (&str, &str, Option<String>),
    json: bool,
) -> anyhow::Result<Outcome> {
    hold.check().map_err(WrongUse)?;
    let until = held.until.as_ref().map(|until| format!(" --until {}", shell_word(until))).unwrap_or_default();
    let (names, reason) = (options(&held.application), shell_word(&held.reason));
    let command = format!("{command}{names} --reason {reason}{until} --yes");
    let at = hold.at;
    let mut holds = site.holds.clone();
    for ended in site.holds.of_branch(&site.branch).iter().filter(|ended| hold.is_whole() && !ended.is_whole()) {
        let (names, at) = (ended.applications.join(", "), ended.at.to_hex_with_len(7));
        output::warn(&format!("warning: this takes the place of the hold of {names} at {at}: {}", ended.reason));
    }
    if let Err(Some(name)) = holds.add(site.branch.clone(), hold) {
        bail!(WrongUse(format!("`{name}` is held on `{}` by that name: name it so", site.branch)));
    }
    let message = format!("{what}: {}", held.reason);
    let question = format!("{what}, until git hydrate resume {}{}", site.branch, options(&held.application));
    let target = Some(target::Target::of(&site.clone, &site.branch, at)?);
    let names = &held.application[..];
    Change { site: &site, holds, message, question, command, target, nothing, names, is_held: true }
        .make(&held.way, json)
}

/// ` --application web-prod`, behind a branch.
fn options(applications: &[String]) -> String {
    applications.iter().map(|name| format!(" --application {}", shell_word(name))).collect()
}

pub(super) fn resume(arguments: &ResumeArguments, json: bool) -> anyhow::Result<Outcome> {
    let site = Site::open(&arguments.branch, &arguments.way)?;
    let mut rest = site.holds.of_branch(&site.branch).to_vec();
    if rest.is_empty()
        && arguments.application.is_empty()
        && let Some(outcome) = range::resume(&site, &arguments.way, json)?
    {
        return Ok(outcome);
    }
    if rest.is_empty() {
        range::refuse_in_clone(&site)?;
        let held: Vec<&str> = site.holds.iter().map(|(branch, _)| branch.as_str()).collect();
        if site.is_active()? {
            let hint = promoted::HELD_BY_PROMOTER;
            bail!(WrongUse(format!("nothing of `{}` is held here\nhint: after a rollback of it, {hint}", site.branch)));
        }
        let others = if held.is_empty() { String::new() } else { format!("; held: {}", held.join(", ")) };
        bail!(WrongUse(format!("nothing of `{}` is held{others}", site.branch)));
    }
    let all: Vec<&str> = rest.iter().flat_map(|hold| &hold.applications).map(String::as_str).collect();
    let is_named = |held: &str| arguments.application.iter().any(|name| covers(name, held));
    if let Some(unknown) = arguments.application.iter().find(|name| !all.iter().any(|held| covers(name, held))) {
        let held = if all.is_empty() { "the whole branch".to_owned() } else { all.join(", ") };
        bail!(WrongUse(format!("`{}` is not held alone on `{}`; held: {held}", printable(unknown), site.branch)));
    }
    rest.iter_mut().for_each(|hold| hold.applications.retain(|held| !is_named(held)));
    rest.retain(|hold| !arguments.application.is_empty() && !hold.is_whole());
    let mut holds = site.holds.clone();
    holds.set(site.branch.clone(), rest);
    let message = format!("resume {}{}", of(&arguments.application), site.branch);
    let (question, names) = (message.clone(), &arguments.application[..]);
    let command = format!("resume {}{} --yes", shell_word(site.branch.as_str()), options(names));
    Change { site: &site, holds, message, question, command, target: None, nothing: None, names, is_held: false }
        .make(&arguments.way, json)
}

/// Where a change is made.
struct Site {
    clone: Clone,
    branch: BranchName,
    /// The settings that there are.
    files: SettingsFiles,
    holds: Holds,
    /// What dry trees have: what is shown first is hydrated then.
    discovery: RefCell<Discovery>,
}

impl Site {
    fn open(branch: &str, way: &Way) -> anyhow::Result<Self> {
        let arguments = way.remote.clone().map_or_else(clone::Arguments::default, clone::Arguments::of_remote);
        let clone = Clone::open(&arguments)?;
        if clone.remote().is_none() {
            check_owner(&clone.repository, "…")?;
        }
        let branch = clone.environment(branch)?;
        let (refs, buffer) = (clone.repository.refs()?, ObjectBuffer::new(&clone.repository));
        let (_, files) = policy::settings_files(&refs, &buffer)?;
        let holds = Holds::read(&files)?;
        Ok(Self { clone, branch, files, holds, discovery: RefCell::default() })
    }

    /// Refuses a hold of single Applications of a branch that is held as a whole: the others would come forward.
    fn refuse_within(&self, applications: &[String]) -> anyhow::Result<()> {
        let whole = self.holds.of_branch(&self.branch).iter().find(|hold| hold.is_whole() && !applications.is_empty());
        let Some(Hold { at, reason, .. }) = whole else { return Ok(()) };
        let (branch, word) = (&self.branch, shell_word(self.branch.as_str()));
        bail!(WrongUse(format!(
            "`{branch}` is held as a whole at {}: {reason}; to hold single Applications would bring all others forward\n\
             hint: to take all of it further back: git hydrate rollback {word} --to … --reason …\n\
             hint: to let all of it go on first: git hydrate resume {word}",
            at.to_hex_with_len(7)
        )));
    }

    /// The Applications that come back with the whole branch: these, and those that came back with it already.
    fn with(&self, names: &[String]) -> Vec<String> {
        let mut with = names.to_vec();
        if !names.is_empty() {
            with.extend(self.holds.of_branch(&self.branch).iter().flat_map(|hold| hold.with.iter().cloned()));
        }
        with.sort_unstable();
        with.dedup();
        with
    }

    /// `at`, or the oldest commit before it that an Application is held at: no rollback of the branch takes that one forward.
    fn before_holds(&self, at: ObjectId) -> ObjectId {
        let held = self.holds.of_branch(&self.branch).iter().map(|hold| hold.at);
        held.fold(at, |oldest, held| if self.clone.repository.is_ancestor(held, oldest) { held } else { oldest })
    }

    /// Whether a promoter writes the branch.
    fn is_active(&self) -> anyhow::Result<bool> {
        let renderers = Renderers::from_config(&self.clone.repository, &machine()?)?;
        let progress = Progress::new();
        Ok(is_active(&self.clone.setup(Wake::Everything, &renderers, &progress), &self.branch)?)
    }

    /// Why nothing of the branch is held, which a promoter reads or writes.
    fn promoted(&self) -> anyhow::Result<anyhow::Error> {
        self.clone.fetch_promotions()?;
        let refs = self.clone.repository.refs()?;
        let has_promoter = refs.get(PROMOTIONS_REF).is_some();
        let (is_active, name) = (self.is_active()?, self.branch.as_str());
        let active = if is_active { Some(name) } else { name.strip_suffix("-next") };
        Ok(target::promoted(&self.branch, active.filter(|_| has_promoter)))
    }

    fn tip(&self) -> anyhow::Result<ObjectId> {
        match self.clone.place.tip(&self.clone.repository.refs()?, &self.branch) {
            Some(tip) => Ok(tip),
            None => bail!(WrongUse(format!("`{}` does not exist", self.branch))),
        }
    }
}
