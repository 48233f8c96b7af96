//! What the first run finds out and writes down as a setting, so that no later push decides it anew.

use dry_files::diag::Diagnostic;

use super::state::Run;
use super::stopped::Stopped;
use crate::argo::BranchName;
use crate::owners::dry_branches::{self, Found};
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::heads::DryHead;
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::settings::SettingsError;

/// Makes settings of what was found, when the first thing is hydrated: the dry branches, the URL of this repository as
/// soon as it is proven, and whether Applications that others make are hydrated.
pub(crate) fn learn(run: &mut Run<'_>, heads: &[DryHead]) -> Result<(), Stopped> {
    let knows_url = has_url(&run.found) || is_known_well(run, heads);
    if run.found.has_dry_branches && knows_url && !is_to_make(&run.found) {
        return Ok(());
    }
    let url = if knows_url { None } else { proven_url(run, heads)? };
    let mut is_hydrated = !run.found.records.is_empty();
    for head in heads {
        if is_hydrated {
            break;
        }
        is_hydrated = run.tree(head.tip, head, heads)?.hydrated().next().is_some();
    }
    if is_hydrated { set(run, url) } else { Ok(()) }
}

/// Makes settings as [`learn`] does, also when nothing is hydrated yet.
pub(crate) fn learn_whatever_is_hydrated(run: &mut Run<'_>, heads: &[DryHead]) -> Result<(), Stopped> {
    let url = proven_url(run, heads)?;
    if run.found.has_dry_branches && url.is_none() { Ok(()) } else { set(run, url) }
}

/// Whether Applications that others make are hydrated from the start, and no setting says so yet.
fn is_to_make(found: &Snapshot<'_>) -> bool {
    found.policy.settings.made_applications.is_none() && found.is_new
}

fn has_url(found: &Snapshot<'_>) -> bool {
    !found.policy.settings.repo_urls.is_empty()
}

/// Whether the cache knows the default dry branch, so that nothing about its Applications needs to be found out.
fn is_known_well(run: &Run<'_>, heads: &[DryHead]) -> bool {
    let Some(head) = default_head(&run.found, heads) else { return true };
    run.memory.recall(head, &run.found).is_some_and(|state| run.memory.is_start(&state, head, heads, &run.found))
}

fn default_head<'h>(found: &Snapshot<'_>, heads: &'h [DryHead]) -> Option<&'h DryHead> {
    let default = found.default_branch()?;
    heads.iter().find(|head| head.branch == *default)
}

/// The URL of this repository, where no setting has it: the one that all our own metadata name, else the one that the
/// Applications of the default dry branch prove.
fn proven_url(run: &mut Run<'_>, heads: &[DryHead]) -> Result<Option<String>, Stopped> {
    let found = &run.found;
    if has_url(found) {
        return Ok(None);
    }
    let mut recorded: Vec<String> = Vec::new();
    for (_, record) in found.records.iter().filter(|(_, record)| !record.initial) {
        let Ok(tip) = found.buffer.commit(record.tip) else { continue };
        let url = provenance(&found.buffer, tip.tree, METADATA)?.map(|provenance| provenance.repo_url);
        recorded.extend(url.filter(|url| !url.is_empty()));
    }
    recorded.sort_unstable();
    recorded.dedup();
    if let [only] = &recorded[..] {
        return Ok(Some(only.clone()));
    }
    let Some(head) = default_head(found, heads) else { return Ok(None) };
    Ok(run.tree(head.tip, head, heads)?.proven_url.clone())
}

/// Makes a commit of settings with what was found out, and goes on with it.
fn set(run: &mut Run<'_>, url: Option<String>) -> Result<(), Stopped> {
    let Run { found, trees, report, .. } = run;
    let mut keys: Vec<(&str, Found)> = Vec::new();
    if !found.has_dry_branches {
        keys.push(("dryBranches", Found::Names(found.dry_branches.iter().map(BranchName::to_string).collect())));
    }
    if is_to_make(found) {
        keys.push(("madeApplications", Found::Yes));
    }
    keys.extend(url.map(|url| ("repoURL", Found::Names(vec![url]))));
    if keys.is_empty() {
        return Ok(());
    }
    // That what is made is hydrated is nothing that anyone would want to change.
    let is_noted = |(_, value): &&(&str, Found)| *value != Found::Yes;
    match dry_branches::settings_with(&keys, &found.refs, &found.buffer) {
        Ok(settings) => {
            found.policy = Policy::at(Some(settings), &found.buffer)?;
            (found.has_dry_branches, run.ledger.learnt) = (true, Some(settings));
            // Without hooks, settings are pushed by a clone.
            let on_server = if found.setup.place.are_guarded() { ", on the server" } else { "" };
            let note = |(key, value): &(_, _)| {
                let word = if *key == "dryBranches" { "BRANCH" } else { "URL" };
                format!("{key} is now set to {value}; to change it{on_server}: git hydrate config set {key} {word}")
            };
            // What a clone foresees is set where it is pushed to.
            if found.setup.place.is_in_place() {
                report.notes.extend(keys.iter().filter(is_noted).map(note));
            }
        }
        Err(HydrateError::Settings(SettingsError::NotEditable)) => {
            // The next run would not know, so this one does not begin with it.
            found.policy.makes = found.policy.settings.made_applications;
            for (key, value) in keys.iter().filter(is_noted) {
                let text =
                    format!("{key} is not set, and settings.yaml is written so that it cannot be set to {value}");
                let hint = "add it on the server: git hydrate config edit";
                report.warnings.push(Diagnostic::warning(text).hint(hint));
            }
        }
        Err(error) => return Err(error.into()),
    }
    // What they say of Applications rests on the settings.
    trees.clear();
    Ok(())
}
