//! `git hydrate rollback --dry`: the dry commit that takes an environment back, made on a branch of its own.

use anyhow::{Context as _, bail};
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, printable, shell_word};

use super::super::diff::{followed, staging_of};
use super::super::{Outcome, WrongUse, config, machine, output};
use super::apply::show;
use super::target::{self, Target};
use super::{RollbackArguments, Site};
use crate::argo::BranchName;
use crate::history::{Followed, RevisionKind};
use crate::metadata::{DryCommit, REMOVAL_TRAILER, Trailers, back_to};
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::owners::heads::DryHead;
use crate::owners::setup::Wake;
use crate::preview::{NoWay, Preview, TakenBack, Touched, Wanted, take_back};
use crate::render::Renderers;
use crate::repo::{Expected, ObjectBuffer, ObjectId, RefEdit, update_refs};
use crate::settings::Hold;
use crate::show::Progress;
use crate::show::changes::{Changes, json};

/// What the reflog of the new branch says.
const REFLOG: &str = "hydrate: rollback --dry";

/// How many names a line lists.
const NAMED_MAX: usize = 10;

/// Where a dry branch takes an environment back to.
struct Point {
    /// The hydrated commit.
    at: ObjectId,
    /// The dry commit that it was made from.
    then: DryCommit,
    /// The dry branch, and its tip at the remote.
    head: DryHead,
}

pub(super) fn rollback(site: &Site, arguments: &RollbackArguments, is_json: bool) -> anyhow::Result<Outcome> {
    let Some(remote) = site.clone.remote() else {
        bail!(WrongUse("--dry makes a commit that is pushed like any other: run it in a clone".to_owned()));
    };
    if arguments.path.is_some() || arguments.held.until.is_some() {
        bail!(WrongUse("--dry holds and promotes nothing: leave --path and --until out".to_owned()));
    }
    let point = point(site, arguments)?;
    let target = Target::of(&site.clone, &site.branch, point.at)?;
    let (back, preview) = found(site, arguments, &point)?;
    let changes = Changes::new(preview, false);
    if !is_json {
        output::print(format!("{}: to {target}\n", site.branch))?;
    }
    let name = branch_name(&site.branch, &arguments.held.application, point.at);
    let is_kept_back = !back.mistakes.is_empty() || (!back.others.is_empty() && !arguments.shared);
    let is_made = !is_kept_back && !arguments.held.way.dry_run;
    if is_made {
        make(site, &back, &point.head, &name)?;
    }
    let said = Said { to: &target, back: &back, made: is_made.then_some(name.as_str()), is_kept_back };
    let is_proven = back.is_proven();
    if is_json {
        said.print_json(&changes)?;
    } else {
        show(site, &changes, false)?;
        said.print(site, &point, remote)?;
    }
    Ok(if is_made && is_proven { Outcome::Done } else { Outcome::Found })
}

/// Where it goes: as said; else to where it is held; else before the last change.
fn point(site: &Site, arguments: &RollbackArguments) -> anyhow::Result<Point> {
    let (clone, branch, names) = (&site.clone, &site.branch, &arguments.held.application);
    let tip = site.tip()?;
    if site.is_active()? {
        let mut hints = String::new();
        for staging in staging_of(clone, branch)? {
            hints.push_str(&format!("\nhint: git hydrate rollback {} --dry …", shell_word(staging.as_str())));
        }
        bail!(WrongUse(format!("`{branch}` is promoted: name the branch that is hydrated{hints}")));
    }
    let (refs, buffer) = (clone.repository.refs()?, ObjectBuffer::new(&clone.repository));
    let is_held = |hold: &&Hold| {
        hold.is_whole() || (!names.is_empty() && names.iter().all(|name| hold.applications.contains(name)))
    };
    let held = site.holds.of_branch(branch).iter().find(is_held).map(|hold| hold.at);
    let at = match (&arguments.to, held) {
        (Some(text), _) => Some(target::find(clone, branch, tip, text)?),
        (None, Some(held)) => Some(held),
        (None, None) => target::before_change(clone, (branch, tip), names)?,
    };
    let log = format!("git hydrate log {}", shell_word(branch.as_str()));
    let Some(at) = at else {
        let why = format!("there is nothing to go back to: no earlier commit of `{branch}` has other objects");
        bail!(WrongUse(format!("{why}\nhint: {log} shows the commits")))
    };
    let Some(made) = Trailers::read(&buffer.commit(at)?.message) else {
        bail!(WrongUse(format!("{} was not hydrated\nhint: {log} shows the commits", at.to_hex_with_len(7))))
    };
    if let Some(follows) = followed(clone, branch)? {
        return Err(of_tag((branch, names), &follows, &made));
    }
    let records = refs.get(RECORDS_REF).map(|tip| BranchRecords::read(tip, &buffer)).transpose()?.unwrap_or_default();
    if let Some(record) = records.get(branch).filter(|record| !record.others.is_empty()) {
        let all = listed(record.others.keys().chain([&record.dry_branch]), NAMED_MAX);
        bail!(WrongUse(format!(
            "`{branch}` is hydrated from several dry branches: {all}\nhint: git revert on one of them"
        )));
    }
    let Some(tip) = clone.place.tip(&refs, &made.dry_branch) else {
        bail!(WrongUse(format!("the dry branch `{}` is not there any more", made.dry_branch)))
    };
    let Ok(then) = buffer.commit(made.dry_commit) else {
        let id = made.dry_commit.to_hex_with_len(7);
        bail!(WrongUse(format!(
            "the dry commit {id} is not here\nhint: git fetch --unshallow, if the clone is shallow"
        )))
    };
    Ok(Point { at, then: DryCommit::new(&then), head: DryHead { branch: made.dry_branch, tip } })
}

/// That no commit of the dry branch takes a branch back whose Applications name a tag, a range or a commit.
fn of_tag((branch, names): (&BranchName, &[String]), follows: &Followed, made: &Trailers) -> anyhow::Error {
    let (then, word) = (made.dry_commit.to_hex_with_len(7), shell_word(branch.as_str()));
    let revision = printable(&follows.revision);
    let (what, hint) = match follows.kind {
        // The tag takes the others along.
        RevisionKind::Tag if !names.is_empty() => {
            ("the tag", format!("git hydrate rollback {word}{} --reason …", super::options(names)))
        }
        RevisionKind::Tag => {
            let tag = shell_word(follows.revision.strip_prefix("refs/tags/").unwrap_or(&follows.revision));
            ("the tag", format!("git tag -f {tag} {then} && git push -f origin refs/tags/{tag}"))
        }
        RevisionKind::Range => {
            ("the range", format!("push a tag with a higher version at {then}; or git hydrate rollback {word}"))
        }
        RevisionKind::Commit => {
            ("the commit", format!("write {} as `targetRevision` of its Applications", made.dry_commit))
        }
    };
    let text = format!("`{branch}` shows {what} `{revision}`, so no commit of `{}` takes it back", made.dry_branch);
    WrongUse(format!("{text}\nhint: {hint}")).into()
}

/// Finds the commit, and says why there is none.
fn found(site: &Site, arguments: &RollbackArguments, point: &Point) -> anyhow::Result<(TakenBack, Preview)> {
    let (clone, held) = (&site.clone, &arguments.held);
    let renderers = Renderers::from_config(&clone.repository, &machine()?)?;
    let progress = Progress::new();
    let wake = Wake::Commit { branch: point.head.branch.clone(), tip: point.head.tip };
    let setup = clone.setup(wake, &renderers, &progress);
    let who = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map(|name| config::identity(&clone.repository, name));
    let [author, committer] = who;
    let wanted = Wanted {
        branch: &site.branch,
        at: point.at,
        then: point.then.id,
        head: point.head.clone(),
        applications: &held.application,
        message: message(site, arguments, point),
        who: [author?, committer?],
    };
    match clone.explain(progress.during(|| take_back(&setup, &wanted)))? {
        Ok(back) => Ok(back),
        Err(why) => Err(no_way(site, point, why)),
    }
}

/// What the commit says.
fn message(site: &Site, arguments: &RollbackArguments, point: &Point) -> String {
    let Point { at, then, .. } = point;
    let of = super::of(&arguments.held.application);
    let short = then.id.to_hex_with_len(7);
    let mut text = format!(
        "Roll {of}{} back to {short}\n\n{}\n\nThe files that it is rendered from are those of {short} ({}),\nof which it showed {}.\n",
        site.branch,
        arguments.held.reason,
        then.subject,
        at.to_hex_with_len(7)
    );
    text.push_str(&format!("\n{}", back_to(*at, &arguments.held.application)));
    if arguments.allow_removal {
        text.push_str(&format!("{REMOVAL_TRAILER}: {}\n", site.branch));
    }
    text
}

fn no_way(site: &Site, point: &Point, why: NoWay) -> anyhow::Error {
    let branch = &site.branch;
    let (then, dry) = (point.then.id.to_hex_with_len(7), &point.head.branch);
    let hint = match &why {
        NoWay::Same => {
            format!("`{dry}` needs no commit for that; git hydrate status says whether `{branch}` is held or behind")
        }
        NoWay::NoFile => "git log -p refs/hydrate/config shows how the settings changed".to_owned(),
        NoWay::Gone(_) => "to bring one back: --application NAME".to_owned(),
        NoWay::Came(_) => format!("remove its document on `{dry}`"),
        NoWay::Unread => format!("git hydrate apps {then}"),
        NoWay::Unknown(_) => format!("git hydrate apps {then} lists them"),
        NoWay::Mistaken(_, mistakes) => first(mistakes).unwrap_or_default(),
    };
    WrongUse(format!("`{branch}` does not go back to {then} by a commit of `{dry}`: {why}\nhint: {hint}")).into()
}

fn first(mistakes: &[Diagnostic]) -> Option<String> {
    mistakes.iter().find(|mistake| mistake.is_error()).map(|mistake| mistake.message.clone())
}

/// `rollback-prod-1a2b3c4`, or `rollback-prod-web-1a2b3c4` of an Application alone.
fn branch_name(branch: &BranchName, applications: &[String], at: ObjectId) -> String {
    let alone = applications.iter().map(String::as_str);
    let names = [branch.as_str()].into_iter().chain(alone).filter_map(|name| name.rsplit('/').next());
    format!("rollback-{}-{}", names.collect::<Vec<_>>().join("-"), at.to_hex_with_len(7))
}

/// Writes the commit, and a branch that points at it.
fn make(site: &Site, back: &TakenBack, head: &DryHead, name: &str) -> anyhow::Result<()> {
    let repository = &site.clone.repository;
    let full = format!("refs/heads/{name}");
    if repository.refs()?.get(&full).is_some() {
        bail!(WrongUse(format!("the branch `{name}` exists already\nhint: git branch -D {}", shell_word(name))));
    }
    let buffer = ObjectBuffer::new(repository);
    back.write(repository.commit(head.tip)?.tree, &buffer)?;
    let _kept = buffer.flush()?;
    let edit = RefEdit { name: full, new: Some(back.id), expected: Expected::Absent };
    update_refs(repository, &[edit], REFLOG).with_context(|| format!("making the branch `{name}`"))
}

/// What is said of it.
struct Said<'s> {
    to: &'s Target,
    back: &'s TakenBack,
    /// The branch that was made.
    made: Option<&'s str>,
    /// Whether it was not made, since it changes more, or the branch does not take it.
    is_kept_back: bool,
}

impl Said<'_> {
    fn print(&self, site: &Site, point: &Point, remote: &str) -> anyhow::Result<()> {
        let (back, branch, dry) = (self.back, &site.branch, &point.head.branch);
        let [at, then] = [point.at, point.then.id].map(|id| id.to_hex_with_len(7).to_string());
        let files: String = back.files().map(|file| format!("  {}\n", printable(file))).collect();
        output::print(format!("files of {dry} as they were at {then}:\n{files}"))?;
        for (names, what) in [(&back.came, "came since, and stay"), (&back.gone, "are gone since, and stay gone")] {
            if !names.is_empty() {
                output::print(format!("{what}: {}\n", listed(names, NAMED_MAX)))?;
            }
        }
        if !back.differing.is_empty() {
            let names = listed(back.differing.values(), NAMED_MAX);
            output::print(format!("rendered, these do not have the manifests of {at}: {names}\n"))?;
        }
        if !back.others.is_empty() {
            let others: String = back.others.iter().take(NAMED_MAX).map(other).collect();
            let more = match back.others.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!("  {more} more\n"),
            };
            output::print(format!("this changes as well:\n{others}{more}"))?;
        } else if back.differing.is_empty() && back.mistakes.is_empty() {
            let but = match &back.gone[..] {
                [] => String::new(),
                gone => format!(" but for {}", listed(gone, NAMED_MAX)),
            };
            output::print(format!("rendered, {branch} has the manifests of {at}{but}, and nothing else changes\n"))?;
        }
        if !back.gone.is_empty() {
            let named: String =
                back.gone.iter().map(|one| format!(" --application {}", shell_word(one.as_str()))).collect();
            let word = shell_word(branch.as_str());
            output::print(format!(
                "hint: to bring back what is gone, too: git hydrate rollback {word} --dry --to {at}{named} --reason …\n"
            ))?;
        }
        back.mistakes.iter().for_each(output::warn);
        if self.is_kept_back {
            let hint = if back.mistakes.is_empty() { "\nhint: --shared takes back what else changes, too" } else { "" };
            output::warn(&format!("nothing was made{hint}"));
        }
        let Some(name) = self.made else { return Ok(()) };
        let push = format!("git push {} {}:{}", shell_word(remote), shell_word(name), shell_word(dry.as_str()));
        let made = format!("the branch {name} has the commit {}\n", back.id.to_hex_with_len(7));
        output::print(format!("{made}hint: to deploy it: {push}\n"))?;
        if !site.holds.of_branch(branch).is_empty() {
            output::print(format!(
                "hint: {branch} stays held until git hydrate resume {}\n",
                shell_word(branch.as_str())
            ))?;
        }
        Ok(())
    }

    fn print_json(&self, changes: &Changes) -> anyhow::Result<()> {
        let back = self.back;
        let names = |names: &[crate::argo::AppName]| names.iter().map(ToString::to_string).collect();
        output::print_document(&Document {
            changes: json(changes),
            to: self.to,
            commit: self.made.map(|_| back.id.to_string()),
            branch: self.made,
            files: back.files().collect(),
            proven: back.is_proven(),
            differing: back.differing.values().map(ToString::to_string).collect(),
            mistakes: &back.mistakes,
            others: &back.others,
            came: names(&back.came),
            gone: names(&back.gone),
        })
    }
}

/// `  environments/dev: web-dev (charts/web/values.yaml)`
fn other(touched: &Touched) -> String {
    let files = match &touched.files[..] {
        [] => String::new(),
        files => format!(" ({})", listed(files.iter().map(|file| printable(file)), NAMED_MAX)),
    };
    match &touched.application {
        Some(name) => format!("  {}: {}{files}\n", touched.branch, printable(name)),
        None => format!("  {}: does not hydrate any more\n", touched.branch),
    }
}

/// What is said to programs.
#[derive(serde::Serialize)]
struct Document<'d, T> {
    #[serde(flatten)]
    changes: T,
    to: &'d Target,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'d str>,
    files: Vec<&'d str>,
    proven: bool,
    differing: Vec<String>,
    mistakes: &'d [Diagnostic],
    others: &'d [Touched],
    came: Vec<String>,
    gone: Vec<String>,
}
