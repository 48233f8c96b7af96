//! Errors of templates in Helm's words, with the place in the repository.

use dry_files::diag::Span;
use go_template::{Cause, Failure, Level, Limit, ParseError, Place, Refused, RefusedCall};
use go_yaml::quote;

use super::chart::File;
use super::engine::templates::Templates;
use super::error::{Error, ErrorKind};
use super::fallback;
use super::functions::SET_NAME;

/// A file that is not a template: the first part of Go's message that has a place, and the last part of all.
pub(super) fn parse_error(error: &ParseError, templates: &Templates<'_>) -> Error {
    let text = error.to_string();
    let parts: Vec<&str> = text.split(": ").collect();
    let place = parts.get(1).copied().unwrap_or_default();
    let message = parts.last().copied().unwrap_or_default();
    let found: Error = ErrorKind::Template(format!("parse error at ({place}): {message}")).into();
    match templates.get(&error.template) {
        Some(template) => found.at(span(template.file, error.line, None, 1)),
        None => found,
    }
}

/// A template that fails.
///
/// When the template engine itself failed all the way down, each template on the way gets a paragraph; when a function
/// has its own error at the end, the message is Go's, in one line.
pub(super) fn execution_error(failure: &Failure, templates: &Templates<'_>) -> Error {
    let kind = match failure.cause() {
        Cause::Refused(call) => return refused(call, templates),
        Cause::Raised(message) => {
            let place = failure.levels().next().map(|level| level.place.to_string()).unwrap_or_default();
            ErrorKind::Template(format!("execution error at ({place}): {message}"))
        }
        _ => ErrorKind::Template(paragraphs(failure).unwrap_or_else(|| failure.to_string())),
    };
    let mut error: Error = kind.into();
    if let Cause::Limit(limit @ (Limit::Steps(_) | Limit::Bytes(_))) = failure.cause() {
        let key = if matches!(limit, Limit::Steps(_)) { "templateSteps" } else { "templateBytes" };
        error = error.hint(format!("the chart is very large, or loops; to raise the limit: the setting limits.{key}"));
    }
    match innermost(failure, templates) {
        Some((file, level)) => {
            let Place { line, column, .. } = level.place;
            error.at(span(file, line, Some(column), level.node.chars().count())).label(label(failure, level))
        }
        None => error,
    }
}

/// A call that is refused, at the last place on the way to it that is in a file of the repository.
pub(super) fn refused<'c>(call: &'c RefusedCall, templates: &Templates<'_>) -> Error {
    let in_file = |place: &'c Place| Some((templates.get(&place.template)?.file, place));
    let own = call.places.last().and_then(in_file);
    let hint = hint(call, own.and_then(|(file, place)| value_in_place(call, file, place)));
    let error = Error::from(ErrorKind::Refused(Box::new(call.clone()))).hint(hint);
    match call.places.iter().rev().find_map(in_file) {
        Some((file, place)) if call.places.last() == Some(place) => {
            error.at(span(file, place.line, Some(place.column), call.node.chars().count()))
        }
        Some((file, place)) => {
            error.at(span(file, place.line, Some(place.column), 1)).label("in the text passed to `tpl` here")
        }
        None => error,
    }
}

/// The last template on the way that is a file of the repository.
fn innermost<'a, 'f>(failure: &'f Failure, templates: &Templates<'a>) -> Option<(&'a File, &'f Level)> {
    let in_file = |level: &'f Level| Some((templates.get(&level.place.template)?.file, level));
    failure.levels().filter_map(in_file).last()
}

fn label(failure: &Failure, shown: &Level) -> String {
    let is_last = failure.levels().last().is_some_and(|last| last == shown);
    let within_text = failure.levels().any(|level| &*level.place.template == SET_NAME);
    match failure.cause() {
        Cause::Raised(_) | Cause::Refused(_) => String::new(),
        cause if is_last => cause.to_string(),
        cause if within_text => format!("in the text passed to `tpl` here: {cause}"),
        _ => String::new(),
    }
}

/// A paragraph for each level; `None` when Helm does not report it so.
fn paragraphs(failure: &Failure) -> Option<String> {
    let last_words = match failure.cause() {
        Cause::Engine(message) => message,
        Cause::Function(message) if message.starts_with("template: ") => message,
        _ => return None,
    };
    if !failure.prefix().is_empty() || failure.levels().any(|level| !level.prefix.is_empty()) {
        return None;
    }
    let mut paragraphs: Vec<String> = Vec::new();
    let count = failure.levels().len();
    for (level, number) in failure.levels().zip(1..) {
        let Level { place, executing, node, calling, .. } = level;
        let mut message = String::new();
        if let Some(function) = calling {
            message = format!("error calling {function}: ");
        }
        if number == count {
            message.push_str(last_words);
        }
        // What comes behind is a paragraph of its own.
        let message = message.split(" template:").next().unwrap_or_default();
        paragraphs.push(format!(
            "{place}\n  executing {} at <{node}>:\n    {}\n",
            quote(executing),
            message.trim_end()
        ));
    }
    if matches!(failure.cause(), Cause::Function(_)) {
        paragraphs.push(format!("{last_words}\n"));
    }
    paragraphs.dedup();
    Some(paragraphs.concat().trim().to_owned())
}

/// A place in a file. `column` is 0-based, in bytes, as Go counts.
fn span(file: &File, line: u32, column: Option<u32>, width: usize) -> Span {
    let text = String::from_utf8_lossy(&file.data);
    let mut span = Span::at(file.origin.clone(), line, 0).quoting(&text);
    if let (Some(column), Some(line)) = (column, &span.text) {
        let before = line.get(..column as usize).unwrap_or(line).chars().count();
        let left = line.chars().count().saturating_sub(before).max(1);
        span.column = u32::try_from(before + 1).unwrap_or_default();
        span.width = u32::try_from(width.clamp(1, left)).unwrap_or(1);
    }
    span
}

/// The value that the template takes in place of a call, as far as the line says so.
fn value_in_place(call: &RefusedCall, file: &File, place: &Place) -> Option<String> {
    let text = String::from_utf8_lossy(&file.data);
    let line = text.lines().nth((place.line as usize).checked_sub(1)?)?;
    let from = place.column as usize;
    let at = from + line.get(from..)?.find(call.refused.function())?;
    fallback::value_in_place(line, at).map(str::to_owned)
}

/// What can be done about a call that a value may be in place of.
fn hint(call: &RefusedCall, value: Option<String>) -> String {
    let function = call.refused.function();
    let allow = match call.refused {
        Refused::Random(_) | Refused::Clock(_) => {
            format!(", or have an admin allow `{function}` by name: git hydrate config add nondeterministic {function}")
        }
        Refused::Unrepeatable(..) => String::new(),
    };
    match value {
        Some(value) => format!("set the value `{value}`, which it is the default of{allow}"),
        None => format!(
            "where the template takes a value in its place, set that one; else remove `{function}` from the template{allow}"
        ),
    }
}
