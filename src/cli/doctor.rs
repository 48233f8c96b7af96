//! `git hydrate doctor`: tests an installation.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::clone::is_server;
use super::every::Every;
use super::{Outcome, output};
use crate::git::Repository;
use crate::hook;
use crate::hydrate::{self, RefNames, Setup, Wake};
use crate::install::{Doctor, Finding, Health, Installer, Surroundings, repositories};
use crate::render::Renderers;
use crate::wall;

/// Test an installation, and explain how to fix problems.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The repository, a server's or a clone; the current one unless given.
    repository: Option<PathBuf>,
    /// Treat the repository as a server's, as a bare one is anyway.
    #[arg(long)]
    server: bool,
    /// Test every bare repository below a directory whose hooks run git-hydrate, and show what is not good.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["repository", "remote"])]
    all: Option<PathBuf>,
    /// The remote of a clone that is the server's repository.
    #[arg(long, value_name = "REMOTE", default_value = "origin", conflicts_with = "server")]
    remote: String,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if let Some(dir) = &arguments.all {
        return all(dir, json);
    }
    let repository = super::repository(arguments.repository.as_deref())?;
    let server = arguments.server || is_server(&repository);
    let findings = findings(&repository, (!server).then_some(&arguments.remote))?;
    if json {
        output::print_json_list("findings", &findings)?;
    } else {
        output::print(text(&findings))?;
    }
    Ok(if findings.iter().any(is_bad) { Outcome::Found } else { Outcome::Done })
}

/// Tests every repository below a directory that hydrates.
fn all(dir: &Path, json: bool) -> anyhow::Result<Outcome> {
    let mut results = Vec::new();
    for path in repositories(dir).with_context(|| format!("reading {}", dir.display()))? {
        match of_server(&path).transpose() {
            Some(findings) => results.push((path, findings)),
            None => continue,
        }
    }
    let found = Every::new(results, "findings");
    found.print(json, |findings| {
        let shown: Vec<Finding> = findings.iter().filter(|it| it.health != Health::Good).cloned().collect();
        if shown.is_empty() { "good\n".to_owned() } else { text(&shown) }
    })?;
    found.outcome(found.lists().flatten().any(is_bad))
}

/// What is found in the repository of a server; none where nothing of ours is installed.
fn of_server(path: &Path) -> anyhow::Result<Option<Vec<Finding>>> {
    let repository = super::repository(Some(path))?;
    match Installer::new(&repository)?.is_server()? {
        true => findings(&repository, None).map(Some),
        false => Ok(None),
    }
}

fn is_bad(finding: &Finding) -> bool {
    finding.health == Health::Bad
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { health, what, remedy } in findings {
        text.push_str(&format!("{health:8} {what}\n"));
        text.extend(remedy.iter().map(|remedy| format!("{:8} {remedy}\n", "")));
    }
    text
}

/// What is found in a clone of `remote`, else in the repository of a server.
fn findings(repository: &Repository, remote: Option<&String>) -> anyhow::Result<Vec<Finding>> {
    let around = Surroundings {
        now: SystemTime::now(),
        user: rustix::process::geteuid().as_raw(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        names_system_config: ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]
            .iter()
            .any(|name| std::env::var_os(name).is_some()),
        version: super::Arguments::command().render_version().trim().to_owned(),
        untold: hook::untold(repository),
    };
    let doctor = Doctor::new(repository, &around)?;
    if let Some(remote) = remote {
        return Ok(doctor.client(remote)?);
    }
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = Setup::new(repository, RefNames::server(), Wake::Pushed(Vec::new()), &renderers, wall::now());
    // What keeps it from being read is in the survey too.
    let statuses = hydrate::status(&setup).unwrap_or_default();
    let problems = hydrate::problems(&setup).unwrap_or_default();
    let access = hook::access(repository)?;
    let survey = hydrate::check_settings_ref(&setup).and_then(|()| hydrate::survey(&setup));
    Ok(doctor.server(survey, (&statuses, &problems), &access, &renderers)?)
}
