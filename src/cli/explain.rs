//! `git hydrate explain`: from a hydrated object or line back to where it comes from.

mod held_back;

use std::fmt::Write as _;

use anyhow::bail;
use dry_files::diag::more::line_of_more;
use dry_files::diag::printable;
use dry_files::path::RepoPath;

use super::clone::{self, Clone};
use super::screen::Screen;
use super::{Outcome, WrongUse, output};
use crate::history;
use crate::history::{
    Candidate, DryOrigin, ExplainError, Explanation, Extent, KindName, Line, Object, SourceLine, Subject,
};
use crate::render::Renderers;
use crate::show::{Paint, Style};
use held_back::held_back;

/// Trace a hydrated object or line back to its Application, its dry files and the dry commit that last changed it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
git hydrate explain environments/prod:web/manifest.yaml:28   one line, and since when it is so
git hydrate explain environments/prod:web                    the manifest of a destination path
git hydrate explain deployment/web environments/prod         an object, by its kind and name
git hydrate explain deployment/web/spec.replicas             a field of it, and the line of the values that sets it
git hydrate explain deploy/web -n shop                       … in a namespace, on whichever branch has it")]
pub(super) struct Arguments {
    /// BRANCH:PATH, BRANCH:PATH:LINE, KIND/NAME as kubectl takes them, or KIND/NAME/FIELD.
    what: String,
    /// For KIND/NAME: the environment branch, or a hydrated commit; every branch unless given.
    rev: Option<String>,
    /// For KIND/NAME: its namespace.
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    clone: clone::Arguments,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open(&arguments.clone)?;
    let subject = match place(&clone, &arguments.what)? {
        Some(subject) => {
            if arguments.rev.is_some() || arguments.namespace.is_some() {
                bail!(WrongUse(format!("`{}` already names a branch: REV is for KIND/NAME only", arguments.what)));
            }
            subject
        }
        None => object(&clone, arguments)?,
    };
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
    let explanation = history::explain(&clone.repository, &renderers, &subject).map_err(with_known_paths)?;
    clone.warn_of_deleted([explanation.branch.as_str()].into_iter(), arguments.clone.offline)?;
    let explained = Explained { held_back: held_back(&clone, &renderers, &explanation), explanation };
    if json {
        output::print_json(&explained)?;
    } else {
        let screen = Screen::new(Some(&clone.repository));
        screen.show(&text(&explained, screen.paint()))?;
    }
    Ok(Outcome::Done)
}

/// Where something comes from, and why it may not be what the dry branch says now.
#[derive(serde::Serialize)]
struct Explained {
    #[serde(flatten)]
    explanation: Explanation,
    /// What keeps it as it is: that the branch is frozen or behind, that the Application is paused, held or behind.
    #[serde(rename = "heldBack", skip_serializing_if = "Vec::is_empty")]
    held_back: Vec<String>,
}

/// What `BRANCH:PATH[:LINE]` means; `None` when it is the name of an object instead.
fn place(clone: &Clone, what: &str) -> anyhow::Result<Option<Subject>> {
    let Some((branch, rest)) = clone.elsewhere_in(what)?.or(what.split_once(':')) else { return Ok(None) };
    let line = match clone.line(branch) {
        Ok(line) => line,
        // Names of objects may have colons, but no slashes behind them.
        Err(_) if branch.contains('/') && !rest.contains(['/', ':']) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (path, number) = match rest.rsplit_once(':').map(|(path, number)| (path, number.parse::<u32>())) {
        Some((path, Ok(number))) => (path, Some(number)),
        _ => (rest, None),
    };
    let wrong = |error| WrongUse(format!("`{path}` is not a path in a branch: {error}"));
    let path = RepoPath::clean(path).map_err(wrong)?;
    Ok(Some(Subject { line, path, number, extent: Extent::Line }))
}

/// The object that `KIND/NAME` means.
fn object(clone: &Clone, arguments: &Arguments) -> anyhow::Result<Subject> {
    let Some((kind, name)) = arguments.what.split_once('/') else {
        bail!(WrongUse(format!("`{}` is neither BRANCH:PATH nor KIND/NAME", arguments.what)));
    };
    let lines = match &arguments.rev {
        Some(rev) => vec![clone.line(rev)?],
        None => history::lines(&clone.repository, &clone.place)?,
    };
    let (name, field) = match name.split_once('/') {
        Some((name, field)) => (name, Some(field)),
        None => (name, None),
    };
    let wanted = KindName::new(kind);
    let is_named = |object: &Object| wanted.matches(object) && object.name == name;
    let mut found = history::objects(&clone.repository, &lines, &is_named)?;
    if found.is_empty() {
        // As its generator names it, without the hash.
        let is_generated = |object: &Object| wanted.matches(object) && object.stem() == Some(name);
        found = history::objects(&clone.repository, &lines, &is_generated)?;
    }
    if let Some(namespace) = &arguments.namespace {
        // Manifests may leave the namespace to the Application.
        let written = found.iter().any(|candidate| candidate.object.namespace == *namespace);
        found.retain(|candidate| candidate.object.namespace == if written { namespace.as_str() } else { "" });
    }
    match &found[..] {
        [one] => {
            let number = field.map(|field| line_of_field(clone, one, field)).transpose()?;
            Ok(Subject {
                line: one.line.clone(),
                path: one.path.clone(),
                number: Some(number.unwrap_or(one.number)),
                extent: field.map_or(Extent::Object, |field| Extent::Field(field.to_owned())),
            })
        }
        [] => bail!(missing(clone, arguments, &lines, &wanted, name)?),
        several => bail!(WrongUse(format!("`{}` matches several objects:{}", arguments.what, list(several)))),
    }
}

/// The line of a field of an object.
fn line_of_field(clone: &Clone, one: &Candidate, field: &str) -> anyhow::Result<u32> {
    let mut known = match history::line_of_field(&clone.repository, one, field)? {
        Ok(line) => return Ok(line),
        Err(known) => known,
    };
    // A path that ends with what was asked for is what was meant, however long it is.
    let is_end = |known: &str| known == field || known.ends_with(&format!(".{field}"));
    known.sort_by(|a, b| {
        let alike = strsim::jaro_winkler(b, field).total_cmp(&strsim::jaro_winkler(a, field));
        is_end(b).cmp(&is_end(a)).then(alike)
    });
    let mut text = format!("{} has no field `{field}`", one.object);
    for field in known.iter().take(FIELDS_MAX) {
        let _ = write!(text, "\n  {field}");
    }
    let way = format_args!(": git hydrate explain {}:{}:LINE", one.line.name, one.path);
    if let Some(more) = line_of_more(known.len(), FIELDS_MAX, way) {
        let _ = write!(text, "\n  {more}");
    }
    bail!(text)
}

/// How many fields of an object are listed, those first that are most like what was asked for.
const FIELDS_MAX: usize = 5;

/// How many places are listed.
const LISTED_MAX: usize = 20;

/// One place a line, as it can be asked for.
fn list(candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for Candidate { line, path, number, object } in candidates.iter().take(LISTED_MAX) {
        let _ = write!(text, "\n  {}:{path}:{number}  {object}", line.name);
    }
    if let Some(more) = line_of_more(candidates.len(), LISTED_MAX, "") {
        let _ = write!(text, "\n  {more}");
    }
    text
}

/// What to say of an object that is nowhere, with what was meant perhaps.
fn missing(
    clone: &Clone,
    arguments: &Arguments,
    lines: &[Line],
    kind: &KindName,
    name: &str,
) -> anyhow::Result<String> {
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    if names.is_empty() {
        return Ok("no branch is hydrated yet".to_owned());
    }
    let is_close = |object: &Object| {
        object.name == name || (kind.matches(object) && strsim::jaro_winkler(&object.name, name) > CLOSE_MIN)
    };
    let close = history::objects(&clone.repository, lines, &is_close)?;
    let of = arguments.namespace.as_ref().map(|namespace| format!(" in `{namespace}`")).unwrap_or_default();
    let close =
        if close.is_empty() { elsewhere(clone, lines, kind, name)? } else { format!("; there are{}", list(&close)) };
    Ok(format!("there is no `{}`{of} on {}{close}", arguments.what, names.join(", ")))
}

/// The places of an object on other branches than those that were asked for: it may have gone there.
fn elsewhere(clone: &Clone, lines: &[Line], kind: &KindName, name: &str) -> anyhow::Result<String> {
    let mut others = history::lines(&clone.repository, &clone.place)?;
    others.retain(|other| lines.iter().all(|line| line.name != other.name));
    let found =
        history::objects(&clone.repository, &others, &|object: &Object| kind.matches(object) && object.name == name)?;
    Ok(if found.is_empty() { String::new() } else { format!("; elsewhere there are{}", list(&found)) })
}

/// How like the name of an object must be to count as what was meant.
const CLOSE_MIN: f64 = 0.85;

fn with_known_paths(error: ExplainError) -> anyhow::Error {
    let known = match &error {
        ExplainError::NoFile { known, .. } => known.clone(),
        ExplainError::NoLine { .. } | ExplainError::Failed(_) => Vec::new(),
    };
    let error = anyhow::Error::from(error);
    if known.is_empty() {
        return error;
    }
    let mut text = format!("{error}; it has");
    for path in known.iter().take(LISTED_MAX) {
        let _ = write!(text, "\n  {path}");
    }
    if let Some(more) = line_of_more(known.len(), LISTED_MAX, "") {
        let _ = write!(text, "\n  {more}");
    }
    anyhow::anyhow!(text)
}

fn text(Explained { explanation, held_back }: &Explained, paint: Paint) -> String {
    let Explanation { branch, path, line, object, field, origin, changed } = explanation;
    let place = match line {
        Some(line) => format!("{path}:{line}"),
        None => path.clone(),
    };
    let mut text = String::new();
    let title = object.as_ref().map_or_else(|| place.clone(), ToString::to_string);
    let _ = writeln!(text, "{}", paint.by(Style::Heading, &printable(&title)));
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:11}  {}", printable(value));
    };
    row("branch", branch);
    if object.is_some() {
        row("at", &place);
    }
    if let Some(field) = field {
        row("field", field);
    }
    if let Some(origin) = origin {
        of_origin(origin, &mut row);
    } else {
        row("Application", "unknown");
    }
    match changed.dry.as_ref().or(changed.made_by_others.as_ref()) {
        Some(commit) => {
            row("changed by", format!("{} {}", short(&commit.sha), commit.subject).trim_end());
            if !commit.author.is_empty() {
                row("", &format!("{}, {}", commit.author, super::log::date(&commit.date)));
            }
        }
        None => row("changed by", &changed.subject),
    }
    for file in &changed.files {
        match changed.places.iter().find(|place| place.path == *file) {
            Some(place) => row("", &format!("{file}:{}", place.line)),
            None => row("", file),
        }
    }
    match changed.made_by_others {
        Some(_) => row("", "not made by hydration: no dry file says so"),
        None => row("hydrated as", short(&changed.id)),
    }
    for (index, line) in held_back.iter().enumerate() {
        row(if index == 0 { "held back" } else { "" }, line);
    }
    text
}

fn of_origin(origin: &DryOrigin, row: &mut dyn FnMut(&str, &str)) {
    row("Application", &format!("{}  {}:{}", origin.application, origin.file, origin.line));
    if let Some(maker) = &origin.made_by {
        row("made by", maker);
    }
    if let Some(rule) = origin.rule {
        row("hydrated by", &format!("rule {rule}"));
    }
    let kind = origin.source_type.map(|kind| format!("{kind}  ")).unwrap_or_default();
    row("source", &format!("{kind}{}", origin.source_path));
    if let Some(template) = &origin.template {
        row("template", template);
    }
    for (index, SourceLine { path, line, field }) in origin.set_in.iter().enumerate() {
        row(if index == 0 { "set in" } else { "" }, &format!("{path}:{line}  {field}"));
    }
    let reads: Vec<&String> = origin.reads.iter().filter(|read| origin.template.as_ref() != Some(*read)).collect();
    for (index, read) in reads.iter().take(READS_MAX).enumerate() {
        row(if index == 0 { "made from" } else { "" }, read);
    }
    if let Some(more) = line_of_more(reads.len(), READS_MAX, ", with --json") {
        row("", &more);
    }
    if let Some(problem) = &origin.problem {
        row("made from", &format!("cannot be determined here: {problem}"));
    }
}

/// How many files are listed for people.
const READS_MAX: usize = 12;

fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}
