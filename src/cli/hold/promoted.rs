//! `git hydrate rollback` of an active branch that GitOps Promoter writes.

use anyhow::{Context as _, bail};
use dry_files::diag::shell_word;
use dry_files::path::RepoPath;

use super::super::{Outcome, WrongUse, config, output};
use super::apply::{confirmed, show};
use super::target::NO_PROMOTER;
use super::{RollbackArguments, Site, target};
use crate::argo::BranchName;
use crate::hydrate::rollback::{Restored, Restoring, Unrestored, restore};
use crate::metadata::PROMOTIONS_REF;
use crate::owners::deployed;
use crate::owners::policy::Policy;
use crate::preview::preview_between;
use crate::repo::{Expected, ObjectBuffer, ObjectId, RefEdit, Refs, Repository, update_refs};
use crate::show::changes::{Changes, json};
use crate::tell::forge::Teller;

/// What git hears of the moved refs.
const REFLOG: &str = "hydrate: restore an active branch";

pub(super) fn rollback(site: &Site, arguments: &RollbackArguments, is_json: bool) -> anyhow::Result<Outcome> {
    let held = &arguments.held;
    if !held.application.is_empty() || !arguments.with.is_empty() || held.until.is_some() {
        let what = "an active branch is restored as a whole, until Promoter is told to go on";
        bail!(WrongUse(format!("{what}: leave --application, --with and --until out")));
    }
    let (repository, branch, tip) = (&site.clone.repository, &site.branch, site.tip()?);
    let directory = directory(site, arguments.path.as_deref())?;
    site.clone.fetch_promotions()?;
    let target = target::of_active(&site.clone, branch, (tip, directory.as_ref()), arguments.to.as_deref())?;
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    let who = config::identity(repository, "GIT_COMMITTER_IDENT")?;
    let restoring = Restoring { branch, tip, target, directory: directory.as_ref(), reason: &held.reason, who: &who };
    let restored = match restore(restoring, &refs, &buffer)? {
        Ok(restored) => restored,
        Err(why) => {
            let hint = if why == Unrestored::Unknown { format!("\nhint: {NO_PROMOTER}") } else { String::new() };
            bail!(WrongUse(format!("`{branch}` cannot be restored: {why}{hint}")))
        }
    };
    let trees = [tip, restored.commit].map(|id| buffer.commit(id).map(|commit| commit.tree));
    let [old, new] = trees;
    let preview = preview_between(branch, (tip, old?), new?, &buffer)?;
    let changes = Changes::new(preview, false);
    show(site, &changes, is_json)?;
    if held.way.dry_run {
        if is_json {
            output::print_document(&json(&changes))?;
        }
        return Ok(if changes.is_empty() { Outcome::Done } else { Outcome::Found });
    }
    let what = format!("restore {branch} to {}", target.to_hex_with_len(7));
    if !held.way.yes && !confirmed(&what)? {
        output::print("nothing was changed\n")?;
        return Ok(Outcome::Found);
    }
    let _kept = buffer.flush()?;
    match site.clone.remote() {
        Some(remote) => push(site, remote, tip, restored)?,
        None => set(repository, (branch, tip), restored, &refs)?,
    }
    match is_json {
        true => output::print_json(&serde_json::json!({ "changed": true, "commit": restored.commit.to_string() }))?,
        false => output::print(format!(
            "{branch} is restored to {} by {}\nhint: {HELD_BY_PROMOTER}\n",
            target.to_hex_with_len(7),
            restored.commit.to_hex_with_len(7)
        ))?,
    }
    Ok(Outcome::Done)
}

/// How the hold ends that Promoter keeps after a restore.
pub(super) const HELD_BY_PROMOTER: &str = "Promoter holds the promotion until you end that there: `blockEnvironment: false` on its \
    RevertActiveCommit, or without that object, as your Promoter has it; push a newer dry commit first";

/// On the server, where no hook runs: the platform is notified as of a hydrated branch.
fn set(
    repository: &Repository,
    (branch, tip): (&BranchName, ObjectId),
    restored: Restored,
    refs: &Refs,
) -> anyhow::Result<()> {
    let edit =
        |name: &str, new| RefEdit { name: name.to_owned(), new: Some(new), expected: Expected::from(refs.get(name)) };
    let name = branch.ref_name();
    let kept = deployed::follow(branch, restored.commit, refs);
    let edits = [edit(PROMOTIONS_REF, restored.notes), kept, edit(&name, restored.commit)];
    let mut teller = Teller::of_admin(repository);
    let queued = teller.queue_move(repository, &name, (tip, restored.commit));
    if let Err(error) = update_refs(repository, &edits, REFLOG) {
        teller.withdraw(repository);
        return Err(error.into());
    }
    if let Err(why) = queued.and_then(|()| teller.tell_all(repository)) {
        output::warn(&format!("warning: {why}"));
    }
    Ok(())
}

/// The directory that is promoted on its own.
fn directory(site: &Site, named: Option<&str>) -> anyhow::Result<Option<RepoPath>> {
    let policy = Policy::of(&site.files)?;
    let all = policy.settings.active_paths(&site.branch);
    let names: Vec<&str> = all.iter().map(RepoPath::as_str).collect();
    match (named, all) {
        (None, []) => Ok(None),
        (Some(_), []) => bail!(WrongUse(format!("`{}` is promoted as a whole: leave --path out", site.branch))),
        (Some(name), all) if all.iter().any(|path| path.as_str() == name) => Ok(RepoPath::new(name).ok()),
        _ => bail!(WrongUse(format!(
            "`{}` is promoted by directory: --path {}",
            site.branch,
            names.join(", or --path ")
        ))),
    }
}

/// The note first: a promoter that sees the branch has to find it.
fn push(site: &Site, remote: &str, tip: ObjectId, restored: Restored) -> anyhow::Result<()> {
    let name = site.branch.ref_name();
    let lease = format!("--force-with-lease={name}:{tip}");
    let pushes =
        [vec![format!("{}:{PROMOTIONS_REF}", restored.notes)], vec![lease, format!("{}:{name}", restored.commit)]];
    for words in pushes {
        let git = site.clone.repository.git();
        let mut command = git.command();
        let (options, refspecs): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.starts_with("--"));
        let pushed = command.args(["push", "--quiet"]).args(options).arg(remote).args(refspecs).status();
        if !pushed.context("starting git")?.success() {
            bail!("`{}` is not restored: {} does not let you push", site.branch, shell_word(remote));
        }
    }
    Ok(())
}
