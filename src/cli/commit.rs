//! `git hydrate commit`: commit manifests that another renderer made.

use std::io::Read as _;

use anyhow::Context as _;

use super::{Outcome, WrongUse, output};
use crate::hydrate::{self, CommitRequest};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::show::{Wording, summary};
use crate::tell::forge::Teller;

/// How large a request may be: what Argo CD's own commit server takes.
const REQUEST_BYTES_MAX: u64 = 100 << 20;

/// Commit manifests that another renderer made: a CommitManifests request as JSON on standard input.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

/// Reads the proposal's `CommitManifests` request as JSON from standard input and commits to this repository.
pub(super) fn run(_arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    std::io::stdin().lock().take(REQUEST_BYTES_MAX + 1).read_to_end(&mut text).context("reading standard input")?;
    if text.len() as u64 > REQUEST_BYTES_MAX {
        return Err(WrongUse(format!("the request has more than {REQUEST_BYTES_MAX} bytes")).into());
    }
    let request: CommitRequest =
        serde_json::from_slice(&text).map_err(|error| WrongUse(format!("the request on standard input: {error}")))?;
    let repository = super::repository(None)?;
    super::check_owner(&repository, "commit")?;
    let renderers = Renderers::from_config(&repository, &super::machine()?)?;
    let mut teller = Teller::of_admin(&repository);
    let lock = hydrate::lock(&repository, |_| true)?;
    let before = repository.refs()?;
    let made = hydrate::commit(&repository, &renderers, &request, wall::now())?;
    let queued = made.as_ref().map_or(Ok(()), |report| teller.queue(&repository, &before, report));
    drop(lock);
    if let Err(why) = queued.and_then(|()| teller.tell_all(&repository)) {
        output::warn(&format!("warning: {why}"));
    }
    match made {
        Ok(report) => {
            if json {
                output::print_json(&report)?;
            } else {
                output::print(summary(&report, Wording::Terminal))?;
            }
            Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
        }
        Err(mistakes) if json => {
            output::print_json_list("mistakes", &mistakes)?;
            Ok(Outcome::Found)
        }
        Err(mistakes) => {
            let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            output::print(mistakes.join("\n") + "\n")?;
            Ok(Outcome::Found)
        }
    }
}
