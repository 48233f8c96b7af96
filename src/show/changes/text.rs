//! Changes for a terminal of 80 columns.

use std::fmt::Write as _;

use dry_files::diag::more::line_of_more;
use dry_files::diag::printable;

use super::alike::{Alike, CommonChange, Entry};
use super::all_dangers::{DangerOfAll, shown};
use super::overview::{but_for, overall, state};
use super::repeats::{Here, Repeats};
use super::{ApplicationDiff, Changes, EnvironmentDiff, LikeEnvironment, Mark, Overview, Row, noise_text};
use crate::diff::{Change, Severity};
use crate::hydrate::BehindPath;
use crate::preview::NotCompared;
use crate::show::causes::causes;
use crate::show::{GONE_MAX, Paint, Style, wrap};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
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
pub(crate) struct Form {
    /// The colours.
    pub paint: Paint,
    /// Whether long lines are broken: a person looks at a terminal, and no program reads a pipe.
    pub wraps: bool,
}

/// How many images, and dangers that are not severe, of an environment are named; the rest is counted.
const NAMED_MAX: usize = 12;

/// How many changes that several objects share are named before the environments.
const COMMON_MAX: usize = 5;

/// The heading of what a freeze holds back.
const HELD_BACK: &str = "held back, and deployed when that ends:";

/// How many diagnostics are shown.
const DIAGNOSTICS_MAX: usize = 50;

/// What changes in each environment; what is wrong, each mistake once, at the end.
pub(crate) fn text(changes: &Changes, detail: Detail, form: Form) -> String {
    let paint = form.paint;
    let mut page =
        Text { text: String::new(), paint, form, detail, repeats: Repeats::default(), has_dangers_on_top: false };
    let width = changes.environments.iter().map(|environment| environment.branch.branch.as_str().len()).max();
    if let Some(base) = &changes.merge_base {
        let line = page.wrapped(&base.to_string(), "  ");
        let _ = writeln!(page.text, "{}", paint.by(Style::Warning, &line));
    }
    page.overall(changes);
    page.inputs(changes);
    let (same, changed): (Vec<_>, Vec<_>) =
        changes.environments.iter().partition(|one| one.is_same() && one.branch.frozen.is_none());
    for environment in changed {
        page.environment(environment, width.unwrap_or_default());
    }
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|environment| environment.branch.branch.as_str()).collect();
        let line = page.wrapped(&format!("no change in {}", names.join(", ")), "  ");
        let _ = writeln!(page.text, "{}", paint.by(Style::Dim, &line));
        for branch in same.iter().map(|environment| &environment.branch) {
            let behind = branch.behind.iter().filter(|path| path.held.is_none()).map(ToString::to_string);
            let held = branch.held.iter().map(ToString::to_string);
            page.held(behind.chain(held).map(|stays| format!("of {}, {stays}", branch.branch)).collect());
        }
    }
    let diagnostics = causes(changes.diagnostics());
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
    if let Some(more) = line_of_more(diagnostics.len(), DIAGNOSTICS_MAX, "; --json shows them all") {
        let _ = writeln!(page.text, "{more}");
    }
    page.text
}

/// The worse, the louder; the word says it too.
fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::DataLoss => Style::Error,
        Severity::Outage => Style::Removed,
        Severity::Security => Style::Branch,
        Severity::Refused => Style::Warning,
        Severity::Other => Style::Changed,
    }
}

struct Text<'a> {
    text: String,
    paint: Paint,
    form: Form,
    detail: Detail,
    repeats: Repeats<'a>,
    /// Whether the dangers of all environments were shown.
    has_dangers_on_top: bool,
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
        let dangers = DangerOfAll::all(changes);
        if !dangers.is_empty() {
            self.has_dangers_on_top = true;
            let _ = writeln!(self.text, "{}", self.paint.by(Style::Heading, "dangers"));
            self.dangers(&dangers);
        }
        self.text.push('\n');
    }

    /// One line for each Application that stays as it is.
    fn held(&mut self, held: Vec<String>) {
        for line in held.iter().take(NAMED_MAX) {
            let line = self.wrapped(line, "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Warning, &line));
        }
        self.more(held.len(), "Applications that stay");
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
        if let Some(more) = line_of_more(changes.inputs.len(), NAMED_MAX, "") {
            let _ = writeln!(self.text, "  {more}");
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
        let with_noise = self.detail == (Detail::Fields { with_noise: true });
        let before = match self.detail {
            Detail::Environments => None,
            Detail::Objects | Detail::Fields { .. } => self.repeats.environment_before(environment, with_noise),
        };
        if let Some(before) = before.as_ref().filter(|before| before.is_all) {
            let more = [overview.restarts_text(), overview.renamed_text(), overview.dangers_text()];
            let more: String = more.iter().filter(|more| !more.is_empty()).map(|more| format!("; {more}")).collect();
            let line = format!("as {}{}: {state}{more}", before.branch, but_for(&before.words));
            let _ = writeln!(self.text, "{name:width$}  {}", self.paint.by(style, &self.wrapped(&line, "    ")));
            return;
        }
        let _ = writeln!(self.text, "{name:width$}  {}", self.paint.by(style, &self.wrapped(&state, "    ")));
        let of_paths: Vec<&NotCompared> = branch.not_compared.iter().filter(|one| one.path.is_some()).collect();
        for one in of_paths.iter().take(NAMED_MAX) {
            let line = self.wrapped(&one.to_string(), "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Error, &line));
        }
        self.more(of_paths.len(), "Applications that cannot be compared");
        let is_named = |path: &&BehindPath| of_paths.iter().any(|one| one.path.as_ref() == Some(&path.path));
        let behind: Vec<&BehindPath> =
            branch.behind.iter().filter(|path| !environment.is_unknown() && !is_named(path)).collect();
        for behind in behind.iter().take(NAMED_MAX) {
            let style = if behind.paused { Style::Warning } else { Style::Error };
            let line = self.wrapped(&behind.to_string(), "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(style, &line));
        }
        self.more(behind.len(), "paths behind");
        self.held(branch.held.iter().filter(|held| !held.is_among(&branch.behind)).map(ToString::to_string).collect());
        for (image, count) in overview.images.iter().take(NAMED_MAX) {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            let image = printable(&format!("{image}{times}"));
            let _ = writeln!(self.text, "  {} {image}", self.paint.by(Style::Changed, "image"));
        }
        self.more(overview.images.len(), "images");
        if overview.restarts > 0 {
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Changed, &overview.restarts_text()));
        }
        if overview.renamed_untold > 0 {
            let them = if overview.renamed_untold == 1 { "it" } else { "them" };
            let renamed = format!("{}: the cluster makes {them} anew", overview.renamed_text());
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Changed, &renamed));
        }
        if self.has_dangers_on_top {
            let dangers = overview.dangers_text();
            if !dangers.is_empty() {
                let _ = writeln!(self.text, "  {} (above)", self.paint.by(Style::Warning, &dangers));
            }
        } else {
            let own = overview.dangers.into_iter().map(|group| DangerOfAll { group, branches: Vec::new() });
            self.dangers(&own.collect::<Vec<_>>());
        }
        if overview.noise > 0 {
            let objects =
                if overview.noise == 1 { "1 object differs" } else { &format!("{} objects differ", overview.noise) };
            let noise = format!("{objects} only in generated fields: {}", noise_text(&overview.noise_kinds));
            let noise = self.wrapped(&noise, "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Dim, &noise));
        }
        if self.detail == Detail::Environments {
            self.gone(environment);
            return;
        }
        if branch.frozen.is_some() && !environment.applications.is_empty() {
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Warning, HELD_BACK));
        }
        if let Some(before) = before {
            let same =
                format!("the same objects change in the same way as in {}{}", before.branch, but_for(&before.words));
            let same = self.wrapped(&same, "    ");
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Dim, &same));
        } else if let Some(like) = &environment.like {
            self.like(like, environment);
        } else {
            self.applications(&environment.applications, environment);
        }
        if !environment.applications.is_empty() {
            self.text.push('\n');
        }
    }

    /// The objects that go, where no others are named.
    fn gone(&mut self, environment: &EnvironmentDiff) {
        let gone = &environment.counted;
        for object in gone.gone.iter().take(GONE_MAX) {
            let _ = writeln!(self.text, "  {}", self.paint.by(Style::Removed, &printable(&object.to_string())));
        }
        if let Some(more) = line_of_more(gone.gone_count(), GONE_MAX, ": git hydrate diff --stat") {
            let _ = writeln!(self.text, "  {more}");
        }
    }

    /// How a new environment differs from the environment that it is like.
    fn like(&mut self, like: &'a LikeEnvironment, environment: &'a EnvironmentDiff) {
        if !like.others.is_empty() {
            let names: Vec<&str> = like.others.iter().map(|name| name.as_str()).collect();
            let line = self.wrapped(&format!("{} has also {}", like.branch, names.join(", ")), "    ");
            let _ = writeln!(self.text, "  {line}");
        }
        let line = match like.applications.len() {
            0 => format!("nothing differs from {}", like.branch),
            1 => format!("1 Application differs from {}:", like.branch),
            count => format!("{count} Applications differ from {}:", like.branch),
        };
        let line = self.wrapped(&line, "    ");
        let _ = writeln!(self.text, "  {}", self.paint.by(Style::Dim, &line));
        self.applications(&like.applications, environment);
    }

    /// The worst first; only those that are not severe may be left out.
    fn dangers(&mut self, dangers: &[DangerOfAll<'_>]) {
        let (shown, others) = shown(dangers, NAMED_MAX);
        for (DangerOfAll { group, branches }, advice) in shown {
            let severity = group.danger.severity;
            let style = style_of(severity);
            let place = if branches.is_empty() { String::new() } else { format!("{}: ", branches.join(", ")) };
            let what = self.wrapped(&format!("{place}{}{}: {}", group.subject(), group.each(), group.danger), "    ");
            let _ = writeln!(self.text, "  {} {what}", self.paint.by(style, &severity.to_string()));
            if self.detail == Detail::Environments {
                continue;
            }
            for line in [Some(group.members()), advice].into_iter().flatten().filter(|line| !line.is_empty()) {
                let line = self.wrapped(&line, "    ");
                let _ = writeln!(self.text, "    {}", self.paint.by(Style::Dim, &line));
            }
        }
        self.more(others, "dangers");
    }

    /// Printable text, in lines of a terminal if it goes to one.
    fn wrapped(&self, text: &str, indent: &str) -> String {
        let text = printable(text);
        if self.form.wraps { wrap(&text, indent) } else { text }
    }

    fn more(&mut self, count: usize, what: &str) {
        if let Some(more) = line_of_more(count, NAMED_MAX, format_args!(" {what}")) {
            let _ = writeln!(self.text, "  {more}");
        }
    }

    fn applications(&mut self, applications: &'a [ApplicationDiff], environment: &'a EnvironmentDiff) {
        let with_noise = matches!(self.detail, Detail::Fields { with_noise: true });
        for alike in Alike::all(applications, with_noise) {
            match alike.applications[..] {
                [application] => self.application(application),
                _ => {
                    let titles = self.wrapped(&alike.titles(), "    ");
                    let _ = writeln!(self.text, "\n  {}", self.paint.by(Style::Heading, &titles));
                }
            }
            let first = alike.applications.first();
            for (entry, application) in alike.entries.iter().zip(first.into_iter().cycle()) {
                self.entry(entry, (environment, application));
            }
        }
    }

    fn application(&mut self, application: &'a ApplicationDiff) {
        let what = printable(&application.what());
        let title = printable(application.title());
        let line =
            format!("{}  {}  {what}", self.paint.by(Style::Heading, &title), printable(application.path.as_str()));
        let _ = writeln!(self.text, "\n  {}", line.trim_end());
        if let Some(origin) = application.origin() {
            let origin = self.wrapped(&origin, "    ");
            let _ = writeln!(self.text, "    {origin}");
        }
        for note in application.notes() {
            let note = self.wrapped(&note, "    ");
            let _ = writeln!(self.text, "    {note}");
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
