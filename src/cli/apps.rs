//! `git hydrate apps`: every Application of a dry commit, where it comes from and where it goes.

use std::fmt::Write as _;

use anyhow::bail;
use dry_files::diag::{Diagnostic, printable};
use go_yaml as yaml;

use super::check::Site;
use super::clone::{self, Clone};
use super::screen::Screen;
use super::{Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::inspect;
use crate::inspect::{Listed, ListedApplication};
use crate::manifest::{self, Manifest};
use crate::owners::settings_named;

/// List the Applications of a dry commit, where they come from and where they go.
///
/// Includes those that ApplicationSets and other Applications make, with what made them, and the reason why one is
/// not hydrated. Only Applications that may make others are rendered. Exit code: 0, or 1 when some cannot be
/// determined.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A dry commit, or a directory of files; HEAD unless given.
    #[arg(value_name = "REV|DIR")]
    what: Option<String>,
    /// Use the working tree, including edits and unignored untracked files.
    #[arg(long, conflicts_with = "what")]
    worktree: bool,
    /// Only those that the ApplicationSet or Application of this name makes, directly or indirectly.
    #[arg(long, value_name = "NAME")]
    made_by: Option<String>,
    /// Print the Application of this name as it is written, or as it is made.
    #[arg(long, value_name = "NAME", conflicts_with = "made_by")]
    show: Option<String>,
    #[command(flatten)]
    clone: clone::Arguments,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let branch = arguments.clone.branch.as_deref().map(BranchName::new).transpose();
    let branch = branch.map_err(|error| WrongUse(format!("--branch: {error}")))?;
    let site = Site::of(arguments.what.as_deref(), arguments.worktree, &arguments.clone, "git hydrate apps")?;
    if let Some(name) = &arguments.show {
        let shown =
            |site: &Site| site.with_tree(branch.clone(), |tree, renderers| inspect::show(tree, renderers, name));
        let mut found = shown(&site)?;
        for other in site.by_settings_of_branches(found.is_empty())? {
            if !found.is_empty() {
                break;
            }
            found = shown(&other)?;
        }
        return show(name, &found, json);
    }
    let mut listed = site.with_tree(branch.clone(), inspect::list)?;
    let mut is_more = false;
    for other in site.by_settings_of_branches(listed.applications.is_empty())? {
        is_more |= listed.add(other.with_tree(branch.clone(), inspect::list)?);
    }
    if is_more {
        output::warn(&settings_named::warning_of_more());
    }
    if let Some(name) = &arguments.made_by {
        if !listed.makers.contains(name) {
            bail!("there is no ApplicationSet or Application `{name}`; to see all Applications: git hydrate apps");
        }
        let is_its = |one: &ListedApplication| one.made_by.as_ref().is_some_and(|maker| maker.is_below(name));
        listed.applications.retain(is_its);
    }
    if json {
        output::print_json(&listed)?;
    } else {
        let is_gone = site.repository().is_some() && is_gone(&listed.dry_branch, &arguments.clone)?;
        Screen::new(site.repository()).show(&text(&listed, is_gone))?;
    }
    let is_known = !listed.problems.iter().any(Diagnostic::is_error);
    Ok(if is_known { Outcome::Done } else { Outcome::Found })
}

fn show(name: &str, found: &[Manifest], json: bool) -> anyhow::Result<Outcome> {
    match json {
        true => {
            let options = yaml::json::Options { escape_html: false, indent: None };
            let object = |object: &Manifest| serde_json::from_str(&yaml::json::encode(object.object(), options));
            let objects = found.iter().map(object).collect::<Result<Vec<serde_json::Value>, _>>()?;
            output::print_json_list("applications", &objects)?;
        }
        false if found.is_empty() => bail!("there is no Application `{name}`; to see all: git hydrate apps"),
        false => output::print_content(manifest::encode(found))?,
    }
    Ok(if found.is_empty() { Outcome::Found } else { Outcome::Done })
}

/// Whether a dry branch is not where its pushes are hydrated, as far as that has branches at all.
fn is_gone(dry_branch: &str, arguments: &clone::Arguments) -> anyhow::Result<bool> {
    let clone = Clone::offline(arguments)?;
    let clone = if arguments.offline { clone } else { clone.without_deleted()? };
    let (refs, Ok(branch)) = (clone.repository.refs()?, BranchName::new(dry_branch)) else { return Ok(false) };
    Ok(clone.place.tip(&refs, &branch).is_none() && clone.place.branches(&refs).next().is_some())
}

fn text(listed: &Listed, is_gone: bool) -> String {
    let mut text = String::new();
    let mut branch = None;
    for application in &listed.applications {
        let ListedApplication { name, file, line, source, revision, path, origin, hydrated, reason, .. } = application;
        if branch != Some(&application.branch) {
            branch = Some(&application.branch);
            let _ = writeln!(text, "{}", printable(&application.branch));
        }
        let at = revision.as_ref().map(|revision| format!(" at {revision}")).unwrap_or_default();
        let source = format!("{source}{at}");
        let _ = writeln!(text, "  {}  {} -> {}", printable(name), printable(&source), printable(path));
        let origin = origin.as_ref().map_or(String::new(), |origin| format!(", {origin}"));
        let _ = writeln!(text, "    {}", printable(&format!("{file}:{line}{origin}")));
        match (hydrated, reason) {
            (false, None) => text += "    not hydrated\n",
            (false, Some(reason)) => {
                let _ = writeln!(text, "    not hydrated: {}", printable(reason));
            }
            (true, Some(reason)) => {
                let _ = writeln!(text, "    {}", printable(reason));
            }
            (true, None) => {}
        }
    }
    for problem in &listed.problems {
        let _ = writeln!(text, "{problem}");
    }
    let is_hydrated = |application: &&ListedApplication| application.hydrated && application.reason.is_none();
    let hydrated = listed.applications.iter().filter(is_hydrated).count();
    let (all, dry_branch) = (listed.applications.len(), printable(&listed.dry_branch));
    let _ = match is_gone {
        false => writeln!(
            text,
            "{hydrated} of {all} Applications hydrate from {dry_branch}, if they render: git hydrate check"
        ),
        true => writeln!(
            text,
            "{hydrated} of {all} Applications hydrate from {dry_branch}, which does not exist: none is now"
        ),
    };
    text
}
