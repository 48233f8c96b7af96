//! `git hydrate log [BRANCH]`: hydrated history with the dry commits behind it.

use std::fmt::Write as _;

use anyhow::bail;

use super::clone::{self, Clone};
use super::screen::Screen;
use super::{NO_BRANCH, Outcome, WrongUse, output};
use crate::diag::printable;
use crate::hydrate::{self, Entry, History, Line, ObjectCounts, PathChange, Selection};
use crate::path::RepoPath;
use crate::report::{Paint, Style};

/// Show hydrated history with the dry commits behind it.
///
/// Each commit is shown with its dry commit and with what it changed: destination paths, their Applications, and the
/// number of objects. A dry commit that failed to hydrate is listed where it failed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate log                                every environment branch, the newest commit first
git hydrate log environments/prod -n 3         the last three commits of one
git hydrate log hydrate/environments/dev       what `git hydrate` made in this clone
git hydrate log --application web-prod         what changed for one Application
git hydrate log environments/prod -- web       what changed at or below a path of the branch")]
pub(super) struct Arguments {
    /// An environment branch, a hydrated commit with all below it, or FROM..TO; every branch unless given.
    range: Option<String>,
    /// Show at most this many commits.
    #[arg(short = 'n', long, value_name = "NUMBER")]
    max_count: Option<usize>,
    /// Only commits that change what is rendered from this Application; may be given more than once.
    #[arg(long, value_name = "NAME")]
    application: Vec<String>,
    /// Show one line per commit.
    #[arg(long)]
    oneline: bool,
    /// Only commits that change manifests at or below these paths of the branch.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    clone: clone::Arguments,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let path = |text: &String| {
        RepoPath::clean(text).map_err(|error| WrongUse(format!("`{text}` is not a path in a branch: {error}")))
    };
    let paths = arguments.paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
    let selection = Selection { applications: arguments.application.clone(), paths };
    let clone = Clone::open(&arguments.clone)?;
    let lines = match &arguments.range {
        Some(range) => vec![line_of(&clone, range)?],
        None => hydrate::lines(&clone.repository, &clone.refs)?,
    };
    if lines.is_empty() && !json {
        output::print(NO_BRANCH)?;
    }
    let several = lines.len() > 1;
    let history = History::open(&clone.repository, &clone.refs, lines, selection)?;
    let entries = history.take(arguments.max_count.unwrap_or(usize::MAX));
    if json {
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        output::print_json_list("commits", &entries)?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(Some(&clone.repository));
    let paint = screen.paint();
    let parts = entries.enumerate().map(|(index, entry)| {
        let entry = entry?;
        Ok(match arguments.oneline {
            true => line(&entry, several, paint),
            false if index > 0 => format!("\n{}", block(&entry, several, paint)),
            false => block(&entry, several, paint),
        })
    });
    screen.show_all(parts)?;
    Ok(Outcome::Done)
}

/// What the user asks for; a line without any hydrated commit is a mistake.
fn line_of(clone: &Clone, range: &str) -> anyhow::Result<Line> {
    let line = clone.line(range)?;
    if hydrate::is_hydrated(&clone.repository, line.tip)? {
        return Ok(line);
    }
    let known = hydrate::lines(&clone.repository, &clone.refs)?;
    let names: Vec<&str> = known.iter().map(|line| line.name.as_str()).collect();
    let known =
        if names.is_empty() { String::new() } else { format!("; the hydrated branches are {}", names.join(", ")) };
    bail!(WrongUse(format!("there is no hydrated commit in `{range}`{known}")))
}

fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}

/// `430bb3b environments/prod 23bd49b Scale production (1 changed)`.
fn line(entry: &Entry, several: bool, paint: Paint) -> String {
    let mut text = head(entry, several, paint);
    match &entry.dry {
        Some(dry) => {
            let _ = write!(text, " {} {}", paint.by(Style::Id, short(&dry.sha)), printable(&dry.subject));
        }
        None => {
            let _ = write!(text, " {}", printable(&entry.subject));
        }
    }
    let mut sum = ObjectCounts::default();
    for counts in entry.changed.iter().filter_map(|path| path.objects) {
        sum.added += counts.added;
        sum.removed += counts.removed;
        sum.changed += counts.changed;
    }
    if sum != ObjectCounts::default() {
        let _ = write!(text, " ({})", count(sum));
    }
    text + "\n"
}

fn block(entry: &Entry, several: bool, paint: Paint) -> String {
    let mut text = head(entry, several, paint) + "\n";
    match &entry.dry {
        Some(dry) => {
            let _ = writeln!(text, "  {} {}", paint.by(Style::Id, short(&dry.sha)), printable(&dry.subject));
            if !dry.author.is_empty() {
                let _ = writeln!(text, "  {}, {}", printable(&dry.author), date(&dry.date));
            }
        }
        None => {
            let _ = writeln!(text, "  {}\n  {}", printable(&entry.subject), date(&entry.date));
        }
    }
    for change in &entry.changed {
        let _ = writeln!(text, "    {}", path(change));
    }
    for skipped in &entry.skipped {
        let (sha, subject) = (short(&skipped.dry.sha), printable(&skipped.dry.subject));
        let _ = writeln!(text, "    {} {sha} {subject}", paint.by(Style::Warning, "not hydrated:"));
        if let Some(message) = &skipped.message {
            let _ = writeln!(text, "      {}", printable(message));
        }
    }
    for diagnostic in &entry.failures {
        for line in diagnostic.to_string().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn head(entry: &Entry, several: bool, paint: Paint) -> String {
    let id = match &entry.id {
        Some(id) => paint.by(Style::Id, short(id)),
        None => paint.by(Style::Error, "failed"),
    };
    if several { format!("{id:7} {}", paint.by(Style::Branch, &printable(&entry.branch))) } else { id.to_string() }
}

/// `2023-11-14 22:15:20 +02:00` of RFC 3339.
pub(super) fn date(rfc3339: &str) -> String {
    let (day, time) = rfc3339.split_once('T').unwrap_or((rfc3339, ""));
    let (time, zone) = time.split_at(time.len().min(8));
    format!("{day} {time} {}", if zone == "Z" { "UTC" } else { zone }).trim_end().to_owned()
}

fn path(change: &PathChange) -> String {
    let applications: Vec<String> = change.applications.iter().map(|name| printable(name)).collect();
    let of = if applications.is_empty() { String::new() } else { format!(" ({})", applications.join(", ")) };
    let counts = change.objects.map_or_else(|| "cannot be read".to_owned(), count);
    format!("{}{of}: {counts}", printable(&change.path))
}

fn count(counts: ObjectCounts) -> String {
    let parts = [(counts.added, "added"), (counts.changed, "changed"), (counts.removed, "removed")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { "the same objects".to_owned() } else { parts.join(", ") }
}
