//! `git hydrate doctor`: tests an installation.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::CommandFactory as _;

use super::{Outcome, output};
use crate::hook;
use crate::hydrate::{self, RefNames, Setup, Wake};
use crate::install::{Doctor, Finding, Health, Surroundings};
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
    /// The remote of a clone that is the server's repository.
    #[arg(long, value_name = "REMOTE", default_value = "origin", conflicts_with = "server")]
    remote: String,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(arguments.repository.as_deref())?;
    let around = Surroundings {
        now: SystemTime::now(),
        user: rustix::process::geteuid().as_raw(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        names_system_config: ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]
            .iter()
            .any(|name| std::env::var_os(name).is_some()),
        version: super::Arguments::command().render_version().trim().to_owned(),
    };
    let doctor = Doctor::new(&repository, &around)?;
    let server = arguments.server || repository.worktree().is_none();
    let findings = if server {
        let renderers = Renderers::from_config(&repository, &super::machine()?)?;
        let setup = Setup::new(&repository, RefNames::server(), Wake::Pushed(Vec::new()), &renderers, wall::now());
        // What keeps it from being read is in the survey too.
        let statuses = hydrate::status(&setup).unwrap_or_default();
        let problems = hydrate::problems(&setup).unwrap_or_default();
        let survey = hydrate::check_settings_ref(&setup).and_then(|()| hydrate::survey(&setup));
        doctor.server(survey, (&statuses, &problems), &hook::access(&repository)?, &renderers)?
    } else {
        doctor.client(&arguments.remote)?
    };
    if json {
        output::print_json_list("findings", &findings)?;
    } else {
        let mut text = String::new();
        for Finding { health, what, remedy } in &findings {
            text.push_str(&format!("{health:8} {what}\n"));
            text.extend(remedy.iter().map(|remedy| format!("{:8} {remedy}\n", "")));
        }
        output::print(text)?;
    }
    let bad = findings.iter().any(|finding| finding.health == Health::Bad);
    Ok(if bad { Outcome::Found } else { Outcome::Done })
}
