//! Changes for a terminal of 80 columns.

use std::fmt::Write as _;

use super::alike::{CommonChange, Entry};
use super::overview::{overall, state};
use super::repeats::{Here, Repeats};
use super::{ApplicationDiff, Changes, DangerGroup, EnvironmentDiff, Mark, Overview, Row, noise_text};
use crate::diag::printable;
use crate::diff::Change;
use crate::report::text::merged;
use crate::report::{Paint, Style, wrap};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A few lines for each environment that changes.
    Environments,
    /// The Applications and objects that change.
    Objects,
    /// The fields that change.
    Fields {
        /// Those that are noise too.
        with_noise: bool,
    },
}

/// Where the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The colours.
    pub paint: Paint,
    /// Whether long lines are broken: a person looks at a terminal, and no program reads a pipe.
    pub wraps: bool,
}

/// How many images, and dangers that are not severe, of an environment are named; the rest is counted.
const NAMED_MAX: usize = 12;

/// How many changes that several objects share are named before the environments.
const COMMON_MAX: usize = 5;

/// How many diagnostics are shown.
const DIAGNOSTICS_MAX: usize = 50;

/// What changes in each environment; what is wrong, each mistake once, at the end.
pub fn text(changes: &Changes, detail: Detail, form: Form) -> String {
    let paint = form.paint;
    let mut page = Text { text: String::new(), paint, form, detail, repeats: Repeats::default() };
    let width = changes.environments.iter().map(|environment| environment.branch.branch.as_str().len()).max();
    let brief = detail == Detail::Environments;
    if let Some(base) = &changes.merge_base {
        let line = page.wrapped(&base.to_string(), "  ");
        let _ = writeln!(page.text, "{}", paint.by(Style::Warning, &line));
    }
    page.overall(changes);
    page.inputs(changes);
    let (same, changed): (Vec<_>, Vec<_>) =
        changes.environments.iter().partition(|one| brief && one.is_same() && one.branch.frozen.is_none());
    for environment in changed {
        page.environment(environment, width.unwrap_or_default());
    }
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|environment| environment.branch.branch.as_str()).collect();
        let line = page.wrapped(&format!("no change in {}", names.join(", ")), "  ");
        let _ = writeln!(page.text, "{}", paint.by(Style::Dim, &line));
    }
    let diagnostics = merged(changes.diagnostics());
    for diagnostic in diagnostics.iter().take(DIAGNOSTICS_MAX) {
        let text = diagnostic.to_string();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let style = if diagnostic.is_error() { Style::Error } else { Style::Warning };
        let (severity, message) = first.split_once(':').unwrap_or((first, ""));
        let _ = writeln!(page.text, "{}:{message}", paint.by(style, severity));
        if !rest.is_empty() {
            let _ = writeln!(page.text, "{rest}");
        }
    }
    if diagnostics.len() > DIAGNOSTICS_MAX {
        let _ = writeln!(page.text, "… and {} more; --json shows them all", diagnostics.len() - DIAGNOSTICS_MAX);
    }
    page.text
}

struct Text<'a> {
    text: String,
    paint: Paint,
    form: Form,
    detail: Detail,
    repeats: Repeats<'a>,
}

impl<'a> Text<'a> {
    /// What matters before any environment is looked at.
    fn overall(&mut self, changes: &Changes) {
        let Some(line) = overall(changes) else { return };
        let line = self.wrapped(&line, "  ");
        let _ = writeln!(self.text, "{}", self.paint.by(Style::Heading, &line));
        for common in CommonChange::all(changes).iter().take(COMMON_MAX) {
            let what = self.wrapped(&format!("{} in {}", common.what, common.where_text()), "    ");
            let _ = writeln!(self.text, "  {what}");
        }
        self.text.push('\n');
    }

    /// One line for each input, however many of its files differ.
    fn inputs(&mut self, changes: &Changes) {
        if changes.inputs.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "{}", self.paint.by(Style::Heading, "inputs from elsewhere"));
        for input in changes.inputs.iter().take(NAMED_MAX) {
            let input = self.wrapped(&input.to_string(), "    ");
            let _ = writeln!(self.text, "  {input}");
        }
        if changes.inputs.len() > NAMED_MAX {
            let _ = writeln!(self.text, "  … and {} more", changes.inputs.len() - NAMED_MAX);
        }
    }

    fn environment(&mut self, environment: &'a EnvironmentDiff, width: usize) {
        let branch = &environment.branch;
        let overview = Overview::of(environment);
        let style = match environment.applications.is_empty() {
            _ if branch.frozen.is_some() => Style::Warning,
            _ if !environment.is_whole() => Style::Error,
            true => Style::Dim,
            false => Style::Changed,
        };
        let state = state(environment, &overview);
        let name = self.paint.by(Style::Branch, branch.branch.as_str());
        let _ = writeln!(self.text, "{name:width$}  {}", self.paint.by(style, &wrap(&printable(&state), "    ")));
        for behind in branch.behind.iter().take(NAMED_MAX) {
            let style = if behind.paused { Style::Warning } else { Style::Error };
            let line = self.wrapped(&behind.to_string(), "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(style, &line));
        }
        self.more(branch.behind.len(), "paths behind");
        for (image, count) in overview.images.iter().take(NAMED_MAX) {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            let image = printable(&format!("{image}{times}"));
            let _ = writeln!(self.text, "  {} {image}", self.paint.by(Style::Changed, "image"));
        }
        self.more(overview.images.len(), "images");
        if overview.restarts > 0 {
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Changed, &overview.restarts_text()));
        }
        self.dangers(&overview.dangers);
        if overview.noise > 0 {
            let objects =
                if overview.noise == 1 { "1 object differs" } else { &format!("{} objects differ", overview.noise) };
            let noise = format!("{objects} only in generated fields: {}", noise_text(&overview.noise_kinds));
            let noise = self.wrapped(&noise, "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Dim, &noise));
        }
        if self.detail == Detail::Environments {
            return;
        }
        let with_noise = self.detail == (Detail::Fields { with_noise: true });
        if let (Detail::Fields { .. }, Some(before)) =
            (self.detail, self.repeats.environment_before(environment, with_noise))
        {
            let same = self.wrapped(&format!("the same objects change in the same way as in {before}"), "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Dim, &same));
        } else {
            for application in &environment.applications {
                self.application(application, environment);
            }
        }
        if !environment.applications.is_empty() {
            self.text.push('\n');
        }
    }

    /// The worst first; only those that are not severe may be left out.
    fn dangers(&mut self, dangers: &[DangerGroup<'_>]) {
        let (severe, others): (Vec<_>, Vec<_>) = dangers.iter().partition(|group| group.danger.severity.is_severe());
        for group in severe.into_iter().chain(others.iter().copied().take(NAMED_MAX)) {
            let severity = group.danger.severity;
            let style = if severity.is_severe() { Style::Error } else { Style::Warning };
            let what = self.wrapped(&format!("{}: {}", group.subject(), group.danger), "    ");
            let _ = writeln!(self.text, "  {} {what}", self.paint.by(style, &severity.to_string()));
            if self.detail == Detail::Environments {
                continue;
            }
            for line in [group.members(), group.advice()].iter().filter(|line| !line.is_empty()) {
                let line = self.wrapped(line, "    ");
                let _ = writeln!(self.text, "    {}", self.paint.by(Style::Dim, &line));
            }
        }
        self.more(others.len(), "dangers");
    }

    /// Printable text, in lines of a terminal if it goes to one.
    fn wrapped(&self, text: &str, indent: &str) -> String {
        let text = printable(text);
        if self.form.wraps { wrap(&text, indent) } else { text }
    }

    fn more(&mut self, count: usize, what: &str) {
        if count > NAMED_MAX {
            let _ = writeln!(self.text, "  … and {} more {what}", count - NAMED_MAX);
        }
    }

    fn application(&mut self, application: &'a ApplicationDiff, environment: &'a EnvironmentDiff) {
        let what = match (application.change, &application.moved_from) {
            (Change::Added, _) => "new".to_owned(),
            (Change::Removed, _) => "removed".to_owned(),
            (Change::Changed, Some(from)) => format!("moved from {from}"),
            (Change::Changed, None) => String::new(),
        };
        let title = printable(application.title());
        let line =
            format!("{}  {}  {what}", self.paint.by(Style::Heading, &title), printable(application.path.as_str()));
        let _ = writeln!(self.text, "\n  {}", line.trim_end());
        if let Some(origin) = application.origin() {
            let origin = self.wrapped(&origin, "    ");
            let _ = writeln!(self.text, "    {origin}");
        }
        if let Some(why) = &application.unreadable {
            let what = self.wrapped(&format!("what is on the branch cannot be compared: {why}"), "    ");
            let _ = writeln!(self.text, "    {what}");
        } else if let Some(what) = &application.handed_over {
            let what = self.wrapped(what, "    ");
            let _ = writeln!(self.text, "    {what}");
        } else if application.objects.is_empty() && application.moved_from.is_none() {
            let _ = writeln!(self.text, "    the same objects, written differently");
        }
        let with_noise = matches!(self.detail, Detail::Fields { with_noise: true });
        for entry in Entry::all(application, with_noise) {
            self.entry(&entry, (environment, application));
        }
    }

    fn entry(&mut self, entry: &Entry<'a>, here: Here<'a>) {
        let Some(object) = entry.objects.first().copied() else { return };
        let (style, sign) = match object.change {
            Change::Added => (Style::Added, "+"),
            Change::Removed => (Style::Removed, "-"),
            Change::Changed => (Style::Changed, "~"),
        };
        let names = self.wrapped(&entry.names(), "        ");
        let mut line = format!("{} {names}", self.paint.by(style, sign));
        if let Some(old) = &object.old_name {
            line += &format!("  was {}", printable(old));
        }
        if let Some(source) = here.0.source(object) {
            line += &format!("  moved from {}", printable(source));
        }
        if object.restarts {
            line += &format!("  {}", self.paint.by(Style::Changed, entry.restarts_text()));
        }
        if !matches!(self.detail, Detail::Fields { .. }) {
            let _ = writeln!(self.text, "    {line}");
            return;
        }
        let rows = &entry.rows;
        if object.change == Change::Removed {
            let lines = format!("{} lines", rows.len());
            let _ = writeln!(self.text, "    {line}  {}", self.paint.by(Style::Dim, &lines));
            return;
        }
        if let Some(before) = self.repeats.before(object, rows, here) {
            let same = printable(&format!("the same as in {before}"));
            let _ = writeln!(self.text, "    {line}  {}", self.paint.by(Style::Dim, &same));
            return;
        }
        let _ = writeln!(self.text, "    {line}");
        for row in rows {
            self.row(row);
        }
    }

    fn row(&mut self, row: &Row) {
        let style = match row.mark {
            Mark::Removed => Style::Removed,
            Mark::Added => Style::Added,
            Mark::Moved => Style::Changed,
            Mark::Place | Mark::Folded => Style::Dim,
            Mark::Same => {
                let _ = writeln!(self.text, "        {:indent$}{}", "", printable(&row.text), indent = row.indent);
                return;
            }
        };
        let sign = if row.mark == Mark::Folded { '…' } else { row.mark.sign() };
        let line = format!("{sign} {:indent$}{}", "", printable(&row.text), indent = row.indent);
        let _ = writeln!(self.text, "      {}", self.paint.by(style, line.trim_end()));
    }
}
