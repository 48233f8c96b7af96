//! Branches that others made, handed over to hydration.

use anyhow::bail;
use dry_files::diag::printable;

use super::super::{Outcome, WrongUse, catch_up, check_owner, config, machine, output};
use super::Arguments;
use crate::argo::BranchName;
use crate::history;
use crate::history::ForeignBranch;
use crate::hydrate;
use crate::owners::branch_records::hydrated_below;
use crate::owners::files::METADATA;
use crate::owners::place::Place;
use crate::owners::policy::Policy;
use crate::owners::setup::{Setup, Wake};
use crate::owners::standing::provenance;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{ObjectBuffer, ObjectId, Repository};
use crate::settings::{ProfileName, SETTINGS_REF};
use crate::show::{Wording, summary};

/// Lists the branches that can be handed over, or hands over those that are chosen.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::super::repository(None)?;
    let renderers = Renderers::from_config(&repository, &machine()?)?.without_run_limit();
    let setup = Setup::new(&repository, Place::server(), Wake::Everything, &renderers, wall::now());
    let foreign = history::foreign(&setup)?;
    if arguments.branches.is_empty() && !arguments.all {
        return list(&setup, &foreign, json);
    }
    let chosen = if arguments.all { foreign.iter().collect() } else { named(&setup, &arguments.branches, &foreign)? };
    check_owner(&repository, "adopt …")?;
    if chosen.is_empty() {
        match json {
            true => output::print_json(&hydrate::Report::default())?,
            false => output::print("nothing to hand over\n")?,
        }
        return Ok(Outcome::Done);
    }
    if !arguments.yes {
        refuse_without_settings(&repository, &chosen)?;
        refuse_without_profile(&repository, &chosen)?;
    }
    hand_over(&setup, &chosen, json)?;
    let report = catch_up::all(&repository)?;
    if json {
        output::print_json(&report)?;
    } else {
        output::print(summary(&report, Wording::Terminal))?;
    }
    Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
}

/// Refuses branches that name settings which this repository does not have: they would be hydrated with others at once.
fn refuse_without_settings(repository: &Repository, branches: &[&ForeignBranch]) -> anyhow::Result<()> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let there = refs.get(SETTINGS_REF);
    let is_had = |id: &ObjectId| there.is_some_and(|there| repository.is_ancestor(*id, there));
    for branch in branches {
        let named = hydrated_below(branch.tip, &buffer).filter(|(_, trailers)| trailers.branch == branch.name);
        if let Some(id) = named.and_then(|(_, trailers)| trailers.settings_commit).filter(|id| !is_had(id)) {
            let name = printable(branch.name.as_str());
            bail!(
                "`{name}` was hydrated with settings that are lost here ({id}), and would be hydrated at once with those of now: other \
                 tools, and nothing frozen or held\nhint: restore them first, as git hydrate doctor says; to hand it over all the \
                 same: --yes"
            );
        }
    }
    Ok(())
}

/// Refuses branches of Argo CD's hydrator where another profile is set: objects that have the name of a release would get other names.
fn refuse_without_profile(repository: &Repository, branches: &[&ForeignBranch]) -> anyhow::Result<()> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    if Policy::read(&refs, &buffer)?.settings.profile == ProfileName::Argocd {
        return Ok(());
    }
    for ForeignBranch { name, tip, .. } in branches {
        let is_ours = hydrated_below(*tip, &buffer).is_some();
        if !is_ours && provenance(&buffer, buffer.commit(*tip)?.tree, METADATA)?.is_some() {
            let name = printable(name.as_str());
            bail!(
                "`{name}` has the metadata of Argo CD's hydrator, and would be hydrated at once by another profile: objects of a chart \
                 that sets no release name would get other names\nhint: first, to keep what is there: git hydrate config set profile \
                 argocd; to hand it over all the same: --yes"
            );
        }
    }
    Ok(())
}

/// Those of the branches that were asked for.
fn named<'f>(
    setup: &Setup<'_>,
    branches: &[String],
    foreign: &'f [ForeignBranch],
) -> anyhow::Result<Vec<&'f ForeignBranch>> {
    let mut named = Vec::new();
    for branch in branches {
        let name =
            BranchName::read(branch).map_err(|error| WrongUse(format!("not a branch name: `{branch}`: {error}")))?;
        let Some(found) = foreign.iter().find(|found| found.name == name) else {
            bail!(WrongUse(format!("`{branch}` cannot be handed over: {}", why_not(setup, &name)?)));
        };
        named.push(found);
    }
    Ok(named)
}

/// Why a branch cannot be handed over.
fn why_not(setup: &Setup<'_>, branch: &BranchName) -> anyhow::Result<&'static str> {
    if setup.place.tip(&setup.repository.refs()?, branch).is_none() {
        return Ok("it does not exist");
    }
    Ok(match hydrate::survey(setup)?.branches.contains(branch) {
        true => "it is hydrated already",
        false => "no Application names it as its branch",
    })
}

/// Records the branches that hydration made, as equal ids show, and names the others in the setting `adopt`.
fn hand_over(setup: &Setup<'_>, branches: &[&ForeignBranch], json: bool) -> anyhow::Result<()> {
    let _lock = hydrate::lock(setup.repository, |_| true)?;
    let (mut recorded, mut adopted) = (Vec::new(), Vec::new());
    for branch in branches {
        let found = history::recompute(setup, branch)?;
        if !json {
            output::print(format!("{}  {}\n", printable(branch.name.as_str()), describe(&found)))?;
        }
        match found {
            Ok(_) => recorded.push((&branch.name, branch.tip)),
            Err(_) => adopted.push(branch.name.clone()),
        }
    }
    hydrate::record_branches(setup.repository, &recorded)?;
    if !adopted.is_empty() {
        config::adopt(setup.repository, &adopted)?;
    }
    Ok(())
}

fn describe(recomputed: &Result<usize, String>) -> String {
    match recomputed {
        Ok(1) => "made by hydration: its commit has the same id when made again".to_owned(),
        Ok(commits) => format!("made by hydration: its {commits} commits have the same ids when made again"),
        Err(why) => format!("not made by hydration here: {}", printable(why)),
    }
}

fn list(setup: &Setup<'_>, foreign: &[ForeignBranch], json: bool) -> anyhow::Result<Outcome> {
    let found = foreign.iter().map(|branch| Ok((branch, history::recompute(setup, branch)?)));
    let found = found.collect::<anyhow::Result<Vec<_>>>()?;
    if json {
        let mut branches = Vec::new();
        for (branch, recomputed) in &found {
            branches.push(serde_json::json!({
                "branch": branch.name.as_str(),
                "filesNoApplicationMakes": branch.files,
                "madeByHydration": recomputed.is_ok(),
                "difference": recomputed.as_ref().err(),
            }));
        }
        output::print_json_list("branches", &branches)?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for (branch, recomputed) in &found {
        text.push_str(&format!("{}  {}\n", printable(branch.name.as_str()), describe(recomputed)));
        text.extend(branch.files.iter().map(|file| format!("  {}\n", printable(file))));
    }
    let problems = if found.is_empty() { history::problems(setup)? } else { Vec::new() };
    if !problems.is_empty() {
        text.extend(problems.iter().map(|problem| format!("{problem}\n")));
        output::print(text)?;
        return Ok(Outcome::Found);
    }
    if found.is_empty() {
        text.push_str("no branch to hand over: hydration made every branch that Applications name and that exists\n");
    } else {
        text.push_str("hint: to hand one over: git hydrate adopt BRANCH; all of them: git hydrate adopt --all\n");
    }
    output::print(text)?;
    Ok(Outcome::Done)
}
