//! `git hydrate adopt`: branches of somebody else, handed over to hydration.

use super::{Outcome, WrongUse, catch_up, config, output};
use crate::application::BranchName;
use crate::diag::printable;
use crate::git::Repository;
use crate::hydrate::{self, RefNames, Setup, Silent, Wake};
use crate::render::Renderers;
use crate::report::{Wording, summary};

/// Let hydration take over branches that it did not make.
///
/// Hydration never writes a branch that it did not make itself: one that Argo CD's hydrator wrote, that a person made, or
/// that came from another server. This names branches that it may continue, in the setting `adopt`, and hydrates them.
/// Files on them that no Application makes stay as they are, and are listed. Without a branch, lists what could be handed
/// over. Runs on the server, in the bare repository.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The branches.
    #[arg(value_name = "BRANCH")]
    branches: Vec<String>,
    /// All branches that Applications name and that hydration did not make, as after an import of a repository.
    #[arg(long, conflicts_with = "branches")]
    all: bool,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    if config::server_of(&repository).is_some() {
        let hint = "in a clone, a pusher of settings runs: git hydrate config add adopt BRANCH";
        return Err(WrongUse(format!("branches are handed over on the server\nhint: {hint}")).into());
    }
    let foreign = foreign(&repository)?;
    if arguments.branches.is_empty() && !arguments.all {
        return list(&foreign, json);
    }
    let mut names = Vec::new();
    for branch in &arguments.branches {
        let name =
            BranchName::new(branch).map_err(|error| WrongUse(format!("not a branch name: `{branch}`: {error}")))?;
        if !foreign.iter().any(|(found, _)| *found == name) {
            let text = format!(
                "`{branch}` cannot be handed over: it does not exist, no Application names it, or it is hydrated already"
            );
            return Err(WrongUse(text).into());
        }
        names.push(name);
    }
    if arguments.all {
        names = foreign.into_iter().map(|(branch, _)| branch).collect();
    }
    super::check_owner(&repository, "adopt …")?;
    if !config::adopt(&repository, &names)? {
        match json {
            true => output::print_json(&hydrate::Report::default())?,
            false => output::print("nothing to hand over\n")?,
        }
        return Ok(Outcome::Done);
    }
    let report = catch_up::all(&repository)?;
    if json {
        output::print_json(&report)?;
    } else {
        output::print(summary(&report, Wording::Terminal))?;
    }
    Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
}

fn foreign(repository: &Repository) -> anyhow::Result<Vec<(BranchName, Vec<String>)>> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = Setup {
        repository,
        refs: RefNames::server(),
        wake: Wake::Everything,
        renderers: &renderers,
        out_of_time: &|| false,
        observer: &Silent,
    };
    Ok(hydrate::foreign(&setup)?)
}

fn list(foreign: &[(BranchName, Vec<String>)], json: bool) -> anyhow::Result<Outcome> {
    if json {
        let branch = |(branch, files): &(BranchName, Vec<String>)| serde_json::json!({"branch": branch.as_str(), "filesNoApplicationMakes": files});
        output::print_json_list("branches", &foreign.iter().map(branch).collect::<Vec<_>>())?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for (branch, files) in foreign {
        let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
        text.push_str(&format!("{}  {count} that no Application makes\n", printable(branch.as_str())));
        text.extend(files.iter().map(|file| format!("  {}\n", printable(file))));
    }
    if foreign.is_empty() {
        text.push_str("no branch to hand over: hydration made every branch that Applications name and that exists\n");
    } else {
        text.push_str("hint: to hand one over: git hydrate adopt BRANCH; all of them: git hydrate adopt --all\n");
    }
    output::print(text)?;
    Ok(Outcome::Done)
}
