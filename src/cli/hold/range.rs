//! A branch that stays because the tag which it shows is gone from its range: an admin lets it go back to a lower one.

use anyhow::bail;
use dry_files::diag::shell_word;

use super::super::diff::followed;
use super::super::{Outcome, WrongUse, catch_up, machine, output};
use super::apply::{confirmed, show};
use super::{Site, Way};
use crate::history::RevisionKind;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::show::changes::{Changes, json};
use crate::show::{Progress, Wording, summary};

/// Lets a branch go back to the highest tag that is there, if its range is what keeps it. None where it is not.
pub(super) fn resume(site: &Site, way: &Way, is_json: bool) -> anyhow::Result<Option<Outcome>> {
    let (clone, branch) = (&site.clone, &site.branch);
    if clone.remote().is_some() {
        return Ok(None);
    }
    let renderers = Renderers::from_config(&clone.repository, &machine()?)?;
    let progress = Progress::new();
    let setup = Setup::new(&clone.repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
    let setup = Setup { observer: &progress, resumed: Some(branch), ..setup };
    let Some(to) = crate::hydrate::resumes_to(&setup, branch)? else { return Ok(None) };
    let preview = progress.during(|| preview::preview_held(&setup, branch))?;
    let Some(preview) = preview else { return Ok(None) };
    let changes = Changes::new(preview, false);
    if !is_json {
        output::print(format!("{branch}: to {to}\n"))?;
    }
    show(site, &changes, is_json)?;
    if way.dry_run {
        if is_json {
            output::print_document(&json(&changes))?;
        }
        return Ok(Some(Outcome::Found));
    }
    if !way.yes && !confirmed(&format!("{branch} goes back to {to}"))? {
        output::print("nothing was changed\n")?;
        return Ok(Some(Outcome::Found));
    }
    let report = catch_up::resumed(&clone.repository, branch)?;
    match is_json {
        true => output::print_json(&serde_json::json!({ "changed": true, "report": report }))?,
        false => output::print(summary(&report, Wording::Terminal))?,
    }
    Ok(Some(if report.is_success() { Outcome::Done } else { Outcome::Found }))
}

/// Says where a branch that follows a range is let go back, which a clone cannot do.
pub(super) fn refuse_in_clone(site: &Site) -> anyhow::Result<()> {
    let branch = &site.branch;
    let follows = if site.clone.remote().is_some() { followed(&site.clone, branch)? } else { None };
    if !follows.is_some_and(|follows| follows.kind == RevisionKind::Range) {
        return Ok(());
    }
    let word = shell_word(branch.as_str());
    bail!(WrongUse(format!(
        "nothing of `{branch}` is held\nhint: where the tag that it shows is gone from its range, the server lets it go back: git \
         hydrate resume {word}; or a job: git hydrate push --resume {word}"
    )))
}
