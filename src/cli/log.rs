//! `git hydrate log [BRANCH]`: hydrated history with the dry commits behind it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, bail};

use super::clone::{self, Clone};
use super::screen::Screen;
use super::{NO_BRANCH, Outcome, WrongUse, close_name, output};
use crate::diff::{self, Change, ObjectDiff};
use crate::history;
use crate::history::{Entry, History, Line, PathChange, Selection};
use crate::manifest::{self, Manifest, Source};
use crate::repo::{ObjectId, Repository};
use crate::show::causes;
use crate::show::changes::{Mark, rows};
use crate::show::{GONE_MAX, Paint, Style};
use dry_files::diag::more::{line_of_more, listed};
use dry_files::diag::{one_line, printable};
use dry_files::path::RepoPath;

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
git hydrate log --environment prod --since '2 weeks ago' -p   what came to production lately, with its fields
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
    /// Only commits of this environment branch, by its name or the last part of it; may be given more than once.
    #[arg(long, value_name = "NAME", conflicts_with = "range")]
    environment: Vec<String>,
    /// Only commits that came to the branch since then, in any form that `git log` takes; in a clone, which does not know when
    /// that was, only those with a later date, which is that of the dry commit.
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only commits that came until then.
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Only commits whose author has this text in name or address; of a hydrated commit that is its dry commit's.
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,
    /// Show the objects and fields that changed.
    #[arg(short = 'p', long, conflicts_with = "oneline")]
    patch: bool,
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
    if json && arguments.patch {
        bail!(WrongUse("`--patch` is for people; `--json` counts the objects".to_owned()));
    }
    let clone = Clone::open(&arguments.clone)?;
    let time = |option: &str, text: &Option<String>| -> anyhow::Result<Option<i64>> {
        text.as_ref().map(|text| seconds(&clone.repository, option, text)).transpose()
    };
    let last_part = |name: &String| name.rsplit('/').next().unwrap_or_default().to_owned();
    let selection = Selection {
        applications: arguments.application.iter().map(last_part).collect(),
        paths,
        author: arguments.author.clone(),
        since: time("since", &arguments.since)?,
        until: time("until", &arguments.until)?,
    };
    let lines = match &arguments.range {
        Some(range) => vec![line_of(&clone, range)?],
        None => lines_of(&clone, &arguments.environment)?,
    };
    if lines.is_empty() && !json {
        output::print(NO_BRANCH)?;
    }
    clone.warn_of_deleted(lines.iter().map(|line| line.name.as_str()), arguments.clone.offline)?;
    let several = lines.len() > 1;
    let (tips, names) = (lines.iter().map(|line| line.tip).collect::<Vec<_>>(), selection.applications.clone());
    let history = History::open(&clone.repository, &clone.place, lines, selection)?;
    let mut entries = history.take(arguments.max_count.unwrap_or(usize::MAX)).peekable();
    if entries.peek().is_none() && arguments.max_count != Some(0) {
        refuse_unknown(&clone, &tips, &names)?;
    }
    if json {
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        output::print_json_list("commits", &entries)?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(Some(&clone.repository));
    let layout = Layout { arguments, repository: &clone.repository, several, paint: screen.paint() };
    screen.show_all(entries.enumerate().map(|(index, entry)| layout.part(index, &entry?)))?;
    Ok(Outcome::Done)
}

/// Refuses a name that no Application of these commits has, once nothing was found of it in the commits below them either.
fn refuse_unknown(clone: &Clone, tips: &[ObjectId], names: &[String]) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    if names.is_empty() {
        return Ok(());
    }
    let others = history::lines(&clone.repository, &clone.place)?.into_iter().map(|line| line.tip);
    for tip in tips.iter().copied().chain(others).collect::<BTreeSet<_>>() {
        known.extend(history::applications_at(&clone.repository, tip)?);
    }
    let Some(unknown) = names.iter().find(|name| !known.contains(*name)) else { return Ok(()) };
    let hint = match close_name(known.iter().map(String::as_str), unknown) {
        Some(near) => format!("\nhint: did you mean `{}`?", printable(&near)),
        None if known.is_empty() => String::new(),
        None => format!("\nhint: there are {}", listed(known.iter().map(|name| printable(name)), NAMED_MAX)),
    };
    bail!(WrongUse(format!("no commit here changes an Application `{}`{hint}", printable(unknown))))
}

/// How many Applications are named.
const NAMED_MAX: usize = 10;

/// How entries are shown.
struct Layout<'a> {
    arguments: &'a Arguments,
    repository: &'a Repository,
    /// Whether there are several branches, so that each entry names its own.
    several: bool,
    paint: Paint,
}

impl Layout<'_> {
    fn part(&self, index: usize, entry: &Entry) -> anyhow::Result<String> {
        if self.arguments.oneline {
            return Ok(line(entry, self.several, self.paint));
        }
        let gap = if index > 0 { "\n" } else { "" };
        let patch = if self.arguments.patch { patch(self.repository, entry, self.paint)? } else { String::new() };
        Ok(format!("{gap}{}{patch}", block(entry, self.several, self.paint)))
    }
}

/// The environment branches of these names, or of these last parts; all of them when there are none.
fn lines_of(clone: &Clone, names: &[String]) -> anyhow::Result<Vec<Line>> {
    let known = history::lines(&clone.repository, &clone.place)?;
    let is_called = |line: &Line, name: &str| line.name == name || line.name.rsplit('/').next() == Some(name);
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|line| is_called(line, name))) {
        let all: Vec<&str> = known.iter().map(|line| line.name.as_str()).collect();
        bail!(WrongUse(format!("there is no environment branch `{unknown}`; there are {}", all.join(", "))));
    }
    let is_wanted = |line: &Line| names.is_empty() || names.iter().any(|name| is_called(line, name));
    Ok(known.into_iter().filter(is_wanted).collect())
}

/// A time as git reads it, in seconds since 1970.
fn seconds(repository: &Repository, option: &str, text: &str) -> anyhow::Result<i64> {
    let answer = repository.git().output(&["rev-parse", &format!("--{option}={text}")])?;
    let answer = String::from_utf8_lossy(&answer);
    let seconds = answer.trim().rsplit('=').next().and_then(|seconds| seconds.parse().ok());
    seconds.with_context(|| format!("`{text}` is no time that git knows"))
}

/// The objects and fields that a commit changed.
fn patch(repository: &Repository, entry: &Entry, paint: Paint) -> anyhow::Result<String> {
    let mut text = String::new();
    for change in &entry.changed {
        let read = |blob: Option<ObjectId>| -> anyhow::Result<Option<Vec<Manifest>>> {
            let Some(blob) = blob else { return Ok(Some(Vec::new())) };
            Ok(manifest::read(&repository.blob(blob)?, Source::Output(&change.path)).ok())
        };
        let (Some(old), Some(new)) = (read(change.blobs[0])?, read(change.blobs[1])?) else { continue };
        let objects = diff::compare(&old, &new, &diff::Options::default());
        if !objects.is_empty() {
            let _ = writeln!(text, "\n    {}", paint.by(Style::Heading, &printable(&change.path)));
        }
        for object in &objects {
            object_lines(&mut text, object, paint);
        }
    }
    Ok(text)
}

fn object_lines(text: &mut String, object: &ObjectDiff, paint: Paint) {
    let (sign, style) = match object.change {
        Change::Added => ("+", Style::Added),
        Change::Removed => ("-", Style::Removed),
        Change::Changed => ("~", Style::Changed),
    };
    let _ = writeln!(text, "      {} {}", paint.by(style, sign), printable(&object.object.to_string()));
    if object.change == Change::Removed {
        return;
    }
    for row in rows(object, false) {
        let style = match row.mark {
            Mark::Removed => Style::Removed,
            Mark::Added => Style::Added,
            Mark::Moved => Style::Changed,
            Mark::Place | Mark::Folded | Mark::Same => Style::Dim,
        };
        let line = format!("{} {:indent$}{}", row.mark.sign(), "", printable(&row.text), indent = row.indent);
        let _ = writeln!(text, "        {}", paint.by(style, line.trim_end()));
    }
}

/// What the user asks for; a line without any hydrated commit is a mistake.
fn line_of(clone: &Clone, range: &str) -> anyhow::Result<Line> {
    let line = clone.line(range)?;
    if history::is_hydrated(&clone.repository, line.tip)? {
        return Ok(line);
    }
    let known = history::lines(&clone.repository, &clone.place)?;
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
            let (id, tag) = (paint.by(Style::Id, short(&dry.sha)), dry.tag());
            let _ = write!(text, " {id}{} {}", printable(&tag), printable(&dry.subject));
        }
        None => {
            let _ = write!(text, " {}", printable(&entry.subject));
        }
    }
    if entry.made_by_others.is_some() {
        let _ = write!(text, ", {}", paint.by(Style::Warning, BY_OTHERS));
    }
    if let Some(rollback) = &entry.rollback {
        let _ = write!(text, ", {}", paint.by(Style::Warning, &printable(&rollback.to_string())));
    }
    if let Some(ended) = &entry.resumed {
        let _ = write!(text, ", {}", paint.by(Style::Warning, &end_of_hold(ended)));
    }
    if !entry.objects.counts.is_zero() {
        let _ = write!(text, " ({})", entry.objects.counts);
    }
    text + "\n"
}

/// Of a commit that somebody else pushed to the branch.
const BY_OTHERS: &str = "not made by hydration";

/// That what was held goes on.
fn end_of_hold(applications: &[String]) -> String {
    match applications {
        [] => "no longer held".to_owned(),
        some => printable(&format!("{} no longer held", some.join(", "))),
    }
}

fn block(entry: &Entry, several: bool, paint: Paint) -> String {
    let mut text = head(entry, several, paint) + "\n";
    if let Some(rollback) = &entry.rollback {
        let _ = writeln!(text, "  {}", paint.by(Style::Warning, &printable(&rollback.to_string())));
    }
    if let Some(ended) = &entry.resumed {
        let _ = writeln!(text, "  {}", paint.by(Style::Warning, &end_of_hold(ended)));
    }
    if entry.made_by_others.is_some() {
        let _ = writeln!(text, "  {}", paint.by(Style::Warning, BY_OTHERS));
    }
    match (&entry.dry, &entry.made_by_others) {
        (Some(dry), _) => {
            let (id, tag) = (paint.by(Style::Id, short(&dry.sha)), dry.tag());
            let _ = writeln!(text, "  {id}{} {}", printable(&tag), printable(&dry.subject));
            if !dry.author.is_empty() {
                let _ = writeln!(text, "  {}, {}", printable(&dry.author), date(&dry.date));
            }
        }
        (None, Some(own)) => {
            let (subject, author) = (printable(&own.subject), printable(&own.author));
            let _ = writeln!(text, "  {subject}\n  {author}, {}", date(&own.date));
        }
        (None, None) => {
            let _ = writeln!(text, "  {}\n  {}", printable(&entry.subject), date(&entry.date));
        }
    }
    if let Some(moved) = &entry.moved {
        let by = moved.by.as_deref().map(|name| format!(" by a push of {}", printable(name))).unwrap_or_default();
        let _ = writeln!(text, "  deployed {}{by}", date(&moved.at));
    }
    for change in &entry.changed {
        let _ = writeln!(text, "    {}", path(change));
    }
    for renamed in &entry.objects.applications {
        let _ = writeln!(text, "    {}", printable(&renamed.to_string()));
    }
    for gone in entry.objects.gone.iter().take(GONE_MAX) {
        let _ = writeln!(text, "    {}", printable(&gone.to_string()));
    }
    if let Some(more) = line_of_more(entry.objects.gone_count(), GONE_MAX, ": -p shows them") {
        let _ = writeln!(text, "    {more}");
    }
    for skipped in &entry.skipped {
        let (sha, subject) = (short(&skipped.dry.sha), printable(&skipped.dry.subject));
        let _ = writeln!(text, "    {} {sha} {subject}", paint.by(Style::Warning, "not hydrated:"));
        if let Some(message) = &skipped.message {
            let _ = writeln!(text, "      {}", printable(&one_line(message)));
        }
    }
    for cause in causes(entry.failures.iter()) {
        for line in cause.to_string().lines() {
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
    let counts = match change.objects {
        None => "cannot be read".to_owned(),
        Some(counts) if counts.is_zero() => "the same objects".to_owned(),
        Some(counts) => counts.to_string(),
    };
    format!("{}{of}: {counts}", printable(&change.path))
}
