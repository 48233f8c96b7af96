//! Changes for a pull request: what matters at the top, fields in sections to open, cut to the size of a comment.

mod escape;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dry_files::diag::more::line_of_more;
use dry_files::diag::printable;

use super::alike::{Alike, CommonChange, Entry};
use super::all_dangers::{DangerOfAll, shown};
use super::overview::{all, but_for, held_back, overall};
use super::repeats::{Here, Repeats};
use super::{Changes, EnvironmentDiff, Overview, room};
use crate::diff::{Change, Severity};
use crate::preview::is_production;
use crate::show::causes::causes;
use escape::{clipped, code, escaped, fenced, html};

/// How many environments, images, dangers and mistakes are shown; the rest is counted.
const SHOWN_MAX: usize = 30;

/// How many changes that several objects share are shown.
const COMMON_MAX: usize = 5;

/// What is kept free for the end: the sections to close, and what is said of what was cut.
const END_BYTES: usize = 400;

/// How short what is shown of an Application may become where others need room too.
const BLOCK_BYTES_MIN: usize = 1000;

/// What a comment starts with, so that the next run finds the one to replace.
const MARKER: &str = "<!-- git-hydrate diff -->\n";

/// The changes as GitHub's Markdown, in at most `limit` bytes: first fields are left out, of those environments and Applications
/// that have more than their share; where that is not enough, all but a line for each environment. `link` leads to the page.
pub(crate) fn markdown(changes: &Changes, limit: usize, link: Option<&str>) -> String {
    let start = [MARKER.to_owned(), link.map_or(String::new(), linked)].concat();
    // Where there is little room, what changes comes first.
    let start = if start.len() <= limit / 2 { start } else { String::new() };
    let limit = limit - start.len();
    let page = whole(changes, limit);
    start + &if page.len() <= limit { page } else { lines(changes, limit) }
}

fn linked(url: &str) -> String {
    format!("[The whole preview]({})\n\n", url.chars().map(percent_encoded).collect::<String>())
}

/// A character as it can be in a link, encoded where Markdown would take it for its own.
fn percent_encoded(c: char) -> String {
    match c {
        c if c.is_ascii_graphic() && !"()<>[]\\\"`".contains(c) => c.to_string(),
        c => c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    }
}

/// What is said when there is no room for more than lines.
const CUT: &str = "_Cut: `git hydrate diff` shows all._\n";

/// A line for all of it and one for each environment, as many as there is room for.
fn lines(changes: &Changes, limit: usize) -> String {
    let first = overall(changes).map(|line| format!("{}.\n\n", escaped(&line)));
    let environments = changes.environments.iter().map(environment_line);
    let mut text = String::new();
    let room = |text: &str| limit.saturating_sub(text.len() + CUT.len() + 1);
    for line in first.into_iter().chain(environments) {
        if line.len() > room(&text) {
            break;
        }
        text += &line;
    }
    let start = if text.is_empty() { "" } else { "\n" };
    let end = if text.len() + start.len() + CUT.len() <= limit { [start, CUT].concat() } else { String::new() };
    text + &end
}

fn environment_line(environment: &EnvironmentDiff) -> String {
    let overview = Overview::of(environment);
    let counts = match environment.renders() {
        true if environment.is_unknown() => "cannot be compared".to_owned(),
        true if environment.applications.is_empty() => "no change".to_owned(),
        true => {
            Some(overview.counts()).filter(|counts| !counts.is_empty()).unwrap_or("no object differs in git".to_owned())
        }
        false => "fails, so it stays as it is".to_owned(),
    };
    // However little room there is, no severe one is left out.
    let dangers = match overview.dangers_text() {
        dangers if dangers.is_empty() => dangers,
        dangers => format!("; **{dangers}**"),
    };
    let held_back = held_back(environment).map_or(String::new(), |held_back| format!("**{}**: ", escaped(&held_back)));
    format!("- {}: {held_back}{counts}{dangers}\n", code(environment.branch.branch.as_str()))
}

fn whole(changes: &Changes, limit: usize) -> String {
    let mut text = head(changes, limit);
    let mut page = Page { repeats: Repeats::default() };
    let shown = changes.environments.iter().filter(|environment| !environment.applications.is_empty());
    let sections: Vec<Section> = shown.map(|environment| page.environment(environment)).collect();
    let room = limit.saturating_sub(END_BYTES + text.len());
    let share = room::share(sections.iter().map(Section::len), room);
    let mut cut = 0;
    for section in sections {
        cut += section.add_to(&mut text, share);
    }
    if cut > 0 {
        let applications = if cut == 1 { "1 Application" } else { &format!("{cut} Applications") };
        let _ = writeln!(text, "\n_Cut: the fields of {applications} are not shown; `git hydrate diff` shows them._");
    }
    text
}

/// What is shown of one environment.
struct Section {
    start: String,
    /// Blocks of Applications that change alike, each with how many they are.
    blocks: Vec<(String, usize)>,
}

impl Section {
    const END: &str = "\n</details>\n";

    fn len(&self) -> usize {
        self.start.len() + Self::END.len() + self.blocks.iter().map(|(block, _)| block.len()).sum::<usize>()
    }

    /// Adds what there is room for, and says how many Applications there is none for.
    fn add_to(self, text: &mut String, room: usize) -> usize {
        let Some(mut room) = room.checked_sub(self.start.len() + Self::END.len()) else {
            return self.blocks.iter().map(|(_, applications)| applications).sum();
        };
        let share = room::share(self.blocks.iter().map(|(block, _)| block.len()), room).max(BLOCK_BYTES_MIN);
        let mut cut = 0;
        *text += &self.start;
        for (block, applications) in self.blocks {
            let may_have = share.min(room);
            let shown = match block.len() {
                len if len <= may_have => Some(block),
                len if len > BLOCK_BYTES_MIN => room::shortened(&block, may_have),
                _ => None,
            };
            match shown {
                Some(block) => {
                    room -= block.len();
                    *text += &block;
                }
                None => cut += applications,
            }
        }
        *text += Self::END;
        cut
    }
}

/// What fits a reader's first look.
fn head(changes: &Changes, limit: usize) -> String {
    let base = changes.merge_base.as_ref();
    let mut text = base.map_or(String::new(), |base| format!("_{}_\n\n", escaped(&base.to_string())));
    if let Some(line) = overall(changes) {
        let _ = writeln!(text, "{}.\n", escaped(&line));
    }
    text += "| environment | Applications | changed | added | removed | noise | restarts | dangers |\n";
    text += "|---|---|---:|---:|---:|---:|---:|---:|\n";
    let mut images = BTreeMap::<String, Vec<&str>>::new();
    for (index, environment) in changes.environments.iter().enumerate() {
        let branch = environment.branch.branch.as_str();
        let overview = Overview::of(environment);
        for (image, _) in &overview.images {
            images.entry(image.clone()).or_default().push(branch);
        }
        if index >= SHOWN_MAX {
            continue;
        }
        let row = match environment.applications.len() {
            _ if !environment.renders() => "**fails, so it stays as it is** | | | | | |".to_owned(),
            _ if environment.is_unknown() => "**cannot be compared** | | | | | |".to_owned(),
            0 => "no change | | | | | |".to_owned(),
            count => format!(
                "{count} of {} | {} | {} | {} | {} | {} | {}",
                all(environment),
                overview.changed,
                overview.added,
                overview.removed,
                overview.noise,
                overview.restarts,
                overview.danger_count(),
            ),
        };
        let held_back =
            held_back(environment).map_or(String::new(), |held_back| format!("**{}**: ", escaped(&held_back)));
        let _ = writeln!(text, "| {} | {held_back}{row} |", code(branch));
    }
    more(&mut text, changes.environments.len(), "environments");
    text += &not_compared(changes);
    if !changes.inputs.is_empty() {
        text += "\n**Inputs from elsewhere**\n\n";
        for input in changes.inputs.iter().take(SHOWN_MAX) {
            let _ = writeln!(text, "- {}", code(&input.to_string()));
        }
        more(&mut text, changes.inputs.len(), "inputs");
    }
    text += &dangers(changes, limit);
    let common = CommonChange::all(changes);
    if changes.environments.len() > 1 && !common.is_empty() {
        text += "\n**In many objects**\n\n";
        for change in common.iter().take(COMMON_MAX) {
            let _ = writeln!(text, "- {} in {}", code(&change.what), change.where_text());
        }
    }
    if !images.is_empty() {
        text += "\n**Images**\n\n";
        for (image, branches) in images.iter().take(SHOWN_MAX) {
            let branches: Vec<String> = branches.iter().take(SHOWN_MAX).map(|branch| code(branch)).collect();
            let _ = writeln!(text, "- {} in {}", code(image), branches.join(", "));
        }
        more(&mut text, images.len(), "images");
    }
    let diagnostics = causes(changes.diagnostics());
    if !diagnostics.is_empty() {
        let all: Vec<String> =
            diagnostics.iter().take(SHOWN_MAX).map(|diagnostic| clipped(&diagnostic.to_string())).collect();
        text += "\n";
        text += &fenced("text", &all.join("\n"));
        more(&mut text, diagnostics.len(), "of this kind");
    }
    text
}

/// Which part of the comment the texts of dangers may fill; where they need more, each kind is counted, and none left out.
const DANGERS_PART: usize = 2;

/// The dangers, production's first, then the worst; those of several environments once. Only ones that are not severe may be
/// left out.
fn dangers(changes: &Changes, limit: usize) -> String {
    let all = DangerOfAll::all(changes);
    if all.is_empty() {
        return String::new();
    }
    let full = danger_lines(&all);
    if full.len() <= limit / DANGERS_PART {
        return full;
    }
    let mut counts: Vec<((bool, Severity, &str), usize)> = Vec::new();
    for DangerOfAll { group, branches } in &all {
        let is_elsewhere = !branches.iter().any(|branch| is_production(branch));
        let key = (is_elsewhere, group.danger.severity, group.danger.kind());
        match counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((key, 1)),
        }
    }
    let has_production = counts.iter().any(|((is_elsewhere, ..), _)| !is_elsewhere);
    let mut text = "\n**Dangers**\n\n".to_owned();
    for ((is_elsewhere, severity, kind), count) in counts {
        let times = if count == 1 { "once" } else { &format!("{count} times") };
        let place = match (has_production, is_elsewhere) {
            (true, false) => " in production",
            (true, true) => " elsewhere",
            (false, _) => "",
        };
        let _ = writeln!(text, "- {} **{severity}**: `{kind}` {times}{place}", sign(severity));
    }
    text
}

/// A colour for each severity, where a comment has no other.
fn sign(severity: Severity) -> &'static str {
    match severity {
        Severity::DataLoss => "\u{1f534}",
        Severity::Outage => "\u{1f7e0}",
        Severity::Security => "\u{1f7e3}",
        Severity::Refused => "\u{1f7e1}",
        Severity::Other => "\u{26aa}",
    }
}

fn danger_lines(all: &[DangerOfAll<'_>]) -> String {
    let mut text = "\n**Dangers**\n\n".to_owned();
    let (shown, others) = shown(all, SHOWN_MAX);
    for (DangerOfAll { group, branches }, advice) in shown {
        let (danger, subject, members) = (group.danger, group.subject(), group.members());
        let branches: Vec<String> = branches.iter().map(|branch| code(branch)).collect();
        let what = escaped(&danger.to_string());
        let severity = danger.severity;
        let _ = writeln!(
            text,
            "- {} **{severity}** {}: {}{}: {what}",
            sign(severity),
            branches.join(", "),
            code(&subject),
            group.each()
        );
        let advice = advice.map(|advice| escaped(&advice));
        let lines: Vec<String> =
            [Some(escaped(&members)), advice].into_iter().flatten().filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() {
            let _ = writeln!(text, "  <br>{}", lines.join(": "));
        }
    }
    more(&mut text, others, "dangers");
    text
}

fn more(text: &mut String, count: usize, what: &str) {
    if let Some(more) = line_of_more(count, SHOWN_MAX, format_args!(" {what}")) {
        let _ = writeln!(text, "\n{more}");
    }
}

/// What a dry commit does not hydrate, a line each.
fn not_compared(changes: &Changes) -> String {
    let environments = changes.environments.iter();
    let all: Vec<_> = environments.flat_map(|one| one.branch.not_compared.iter().map(move |not| (one, not))).collect();
    let mut text = if all.is_empty() { String::new() } else { "\n**Not compared**\n\n".to_owned() };
    for (environment, one) in all.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "- {}: {}", code(environment.branch.branch.as_str()), escaped(&one.to_string()));
    }
    more(&mut text, all.len(), "that cannot be compared");
    text
}

struct Page<'a> {
    repeats: Repeats<'a>,
}

impl<'a> Page<'a> {
    fn environment(&mut self, environment: &'a EnvironmentDiff) -> Section {
        let counts = Overview::of(environment).counts();
        let counts = if counts.is_empty() { "nothing that matters".to_owned() } else { counts };
        let name = html(&printable(environment.branch.branch.as_str()));
        let held_back =
            held_back(environment).map_or(String::new(), |held_back| format!("{}: ", html(&printable(&held_back))));
        let mut start = format!("\n<details><summary><b>{name}</b>: {held_back}{counts}</summary>\n");
        if let Some(before) = self.repeats.environment_before(environment, false) {
            let words = escaped(&but_for(&before.words));
            let before = code(before.branch);
            let _ = writeln!(start, "\nThe same objects change in the same way as in {before}{words}.");
            return Section { start, blocks: Vec::new() };
        }
        let applications = environment.like.as_ref().map_or(&environment.applications, |like| &like.applications);
        if let Some(like) = &environment.like {
            let words = escaped(&but_for(&like.words));
            let _ = writeln!(start, "\nLike {}{words}, except for what follows.", code(like.branch.as_str()));
        }
        let blocks = Alike::all(applications, false)
            .iter()
            .map(|alike| (self.alike(alike, environment), alike.applications.len()))
            .collect();
        Section { start, blocks }
    }

    fn alike(&mut self, alike: &Alike<'a>, environment: &'a EnvironmentDiff) -> String {
        let Some(application) = alike.applications.first().copied() else { return String::new() };
        if alike.applications.len() > 1 {
            let lines: Vec<String> =
                alike.entries.iter().map(|entry| self.entry(entry, (environment, application))).collect();
            return format!("\n{}\n\n{}", code(&alike.titles()), fenced("diff", &lines.join("\n")));
        }
        let what = match application.what() {
            what if what.is_empty() => what,
            what => format!(", {}", escaped(&what)),
        };
        let maker = application.origin().map_or(String::new(), |origin| format!(", {}", escaped(&origin)));
        let mut text =
            format!("\n{} in {}{what}{maker}\n\n", code(application.title()), code(application.path.as_str()));
        let entries = alike.entries.iter();
        let lines: Vec<String> = entries.map(|entry| self.entry(entry, (environment, application))).collect();
        let notes = application.notes();
        for note in &notes {
            let _ = writeln!(text, "{}.\n", escaped(note));
        }
        if lines.is_empty() && !notes.is_empty() {
            return text;
        }
        if lines.is_empty() {
            text += "Nothing that matters.\n";
        } else {
            text += &fenced("diff", &lines.join("\n"));
        }
        text
    }

    /// Lines that GitHub colours as those of a patch.
    fn entry(&mut self, entry: &Entry<'a>, here: Here<'a>) -> String {
        let Some(object) = entry.objects.first().copied() else { return String::new() };
        let (sign, what) = match object.change {
            Change::Added => ("+", "new"),
            Change::Removed => ("-", "removed"),
            Change::Changed if object.restarts => ("@@", entry.restarts_text()),
            Change::Changed => ("@@", ""),
        };
        let name = printable(&entry.names());
        let mut text = match sign {
            "@@" => format!("@@ {name} @@ {what}").trim_end().to_owned(),
            sign => format!("{sign} {name}: {what}"),
        };
        if let Some(source) = here.0.source(object) {
            let _ = write!(text, "\n  moved from {}", printable(source));
        }
        let rows = &entry.rows;
        if object.change == Change::Removed {
            return text;
        }
        if let Some(before) = self.repeats.before(object, rows, here) {
            let _ = write!(text, "\n  the same as in {}", printable(before));
            return text;
        }
        for row in rows {
            let line = format!("{} {:indent$}{}", row.mark.sign(), "", printable(&row.text), indent = row.indent);
            let _ = write!(text, "\n{}", line.trim_end());
        }
        text
    }
}
