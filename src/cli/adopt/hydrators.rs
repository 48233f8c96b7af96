//! `--write-source-hydrator`: the files of plain Applications, edited.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::printable;

use super::super::check::Site;
use super::super::screen::Screen;
use super::super::{Outcome, WrongUse, output};
use crate::argo::write_source_hydrator;
use crate::diff::{Line, lines};
use crate::inspect::{HydratorFile, Hydrators};

/// A file of the working tree, before and after.
struct Edited<'h> {
    of: &'h HydratorFile,
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Edits the files, or shows with which differences.
pub(super) fn run(site: &Site, found: &Hydrators, is_dry_run: bool, json: bool) -> anyhow::Result<Outcome> {
    if found.needs_rules {
        bail!(WrongUse(
            "--write-source-hydrator needs to know where plain Applications go\nhint: give a --branch-pattern, or set rules: \
             git hydrate config edit"
                .to_owned()
        ));
    }
    let top = site.repository().and_then(|repository| repository.worktree()).context("there is no working tree")?;
    let edited = found.files.iter().map(|file| Edited::read(&top, file)).collect::<anyhow::Result<Vec<_>>>()?;
    if !is_dry_run {
        edited.iter().try_for_each(Edited::write)?;
    }
    if json {
        output::print_json(
            &serde_json::json!({ "written": !is_dry_run, "files": found.files, "refused": found.refused }),
        )?;
    } else {
        let diff = if is_dry_run { edited.iter().map(Edited::diff).collect() } else { String::new() };
        Screen::new(site.repository()).show(&(diff + &summary(found, is_dry_run)))?;
    }
    Ok(if found.refused.is_empty() { Outcome::Done } else { Outcome::Found })
}

impl<'h> Edited<'h> {
    /// The file as it is in the working tree, which may have other line ends than git has.
    fn read(top: &Path, of: &'h HydratorFile) -> anyhow::Result<Self> {
        let path = top.join(of.file.as_str());
        let reading = || format!("reading {}", path.display());
        let real = path.canonicalize().with_context(reading)?;
        if real != top.canonicalize().with_context(reading)?.join(of.file.as_str()) {
            bail!("{}: reached through a symbolic link, which is not followed", of.file);
        }
        let before = fs::read(&path).with_context(reading)?;
        let after = match before[..] == of.before[..] {
            true => of.after.clone(),
            false => {
                write_source_hydrator(&before, &of.edits).map_err(|reason| anyhow::anyhow!("{}: {reason}", of.file))?
            }
        };
        Ok(Self { of, path, before, after })
    }

    fn write(&self) -> anyhow::Result<()> {
        replace(&self.path, &self.after).with_context(|| format!("writing {}", self.path.display()))
    }

    fn diff(&self) -> String {
        let [before, after] = [&self.before, &self.after].map(|bytes| String::from_utf8_lossy(bytes));
        let file = printable(self.of.file.as_str());
        format!("--- a/{file}\n+++ b/{file}\n{}", unified(&lines(&before, &after)))
    }
}

/// Replaces a file as a whole; it keeps its mode.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mode = fs::metadata(path)?.permissions().mode();
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(content)?;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(mode))?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// Lines as `diff -u` shows them.
fn unified(lines: &[Line<'_>]) -> String {
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let old_count = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Added(_))).count();
    let new_count = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Removed(_))).count();
    // A text that ends with a line break has nothing behind it.
    let lines = match lines.split_last() {
        Some((Line::Same(""), rest)) => rest,
        _ => lines,
    };
    let changes: Vec<usize> = lines.iter().enumerate().filter(|(_, line)| is_change(line)).map(|(at, _)| at).collect();
    let mut text = String::new();
    let hunks = changes.chunk_by(|before, next| next - before <= 2 * AROUND);
    for hunk in hunks {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let (from, to) = (first.saturating_sub(AROUND), (last + AROUND + 1).min(lines.len()));
        let (before, shown) = (lines.get(..from).unwrap_or_default(), lines.get(from..to).unwrap_or_default());
        let old_range = format!("{},{}", old_count(before) + 1, old_count(shown));
        let new_range = format!("{},{}", new_count(before) + 1, new_count(shown));
        let _ = writeln!(text, "@@ -{old_range} +{new_range} @@");
        for line in shown {
            let (mark, line) = match line {
                Line::Same(line) => (' ', line),
                Line::Removed(line) => ('-', line),
                Line::Added(line) => ('+', line),
            };
            let _ = writeln!(text, "{mark}{}", printable(line.strip_suffix('\r').unwrap_or(line)));
        }
    }
    text
}

fn summary(found: &Hydrators, is_dry_run: bool) -> String {
    let mut text = String::new();
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    if !found.refused.is_empty() {
        let _ = writeln!(text, "{} not edited", counted(found.refused.len(), "Application"));
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for refused in &found.refused {
        let name = format!("{} ({}:{})", printable(&refused.name), printable(&refused.file), refused.line);
        match reasons.iter_mut().find(|(reason, _)| *reason == refused.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&refused.reason, vec![name])),
        }
    }
    for (reason, names) in &reasons {
        let _ = writeln!(text, "  {}", printable(reason.lines().next().unwrap_or_default()));
        names.iter().for_each(|name| text += &format!("      {name}\n"));
    }
    let applications = found.files.iter().map(|file| file.applications.len()).sum();
    let what = match is_dry_run {
        true => "would get `spec.sourceHydrator`; nothing was written",
        false => "got `spec.sourceHydrator`",
    };
    let _ = writeln!(text, "{} of {} {what}", counted(applications, "Application"), counted(found.files.len(), "file"));
    if !is_dry_run && applications > 0 {
        let next = [
            ("git diff", "what was edited"),
            ("git hydrate adopt", "what hydrates, and what is left"),
            ("git hydrate diff --worktree", "what each branch would get"),
        ];
        text += "\nnext\n";
        next.iter().for_each(|(line, why)| text += &format!("  {line:27}  {why}\n"));
    }
    text
}
