//! `git hydrate [REV]`: the commits that a server would make, as refs of this clone.

use super::clone::{self, Clone};
use super::{NO_APPLICATION, Outcome, output};
use crate::hydrate::{self, Setup, Wake};
use crate::render::Renderers;
use crate::report::{Progress, Wording, summary};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// The dry commit.
    #[arg(default_value = "HEAD")]
    rev: String,
    #[command(flatten)]
    clone: clone::Arguments,
}

/// Hydrates into `refs/remotes/hydrate/<branch>`, on top of what the remote has; local branches are never touched.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open(&arguments.clone)?;
    let (branch, tip) = clone.dry_commit(&arguments.rev)?;
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
    let progress = Progress::new();
    let setup = Setup {
        repository: &clone.repository,
        refs: clone.refs.clone(),
        wake: Wake::Commit { branch, tip },
        renderers: &renderers,
        out_of_time: &|| false,
        observer: &progress,
    };
    let report = hydrate::hydrate(&setup);
    progress.clear();
    let report = clone.explain(report)?;
    if json {
        output::print_json(&report)?;
    } else if report.is_empty() {
        output::print(NO_APPLICATION)?;
    } else {
        output::print(summary(&report, Wording::Terminal))?;
    }
    Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
}
