//! Regular expressions in templates.

use go_std::regexp::{GROUPS_COST_MAX, Regex, Work, quote_meta};
use go_std::strconv::{can_backquote, quote_bytes};

use super::super::call::Call;
use super::super::error::{Failure, Limit};
use super::super::function::{Functions, Int};
use super::super::list::{List, ListType};
use super::super::text::Text;
use super::super::value::Value;
use super::common::TEXT_BYTES;

pub(super) fn add(table: &mut Functions) {
    table
        .add("regexMatch", regex_match)
        .add("mustRegexMatch", |call: &mut Call<'_>, pattern: Text, text: Text| {
            let regex = compile(call, &pattern, Errors::Returned)?;
            is_match(call, &regex, &text)
        })
        .add("regexQuoteMeta", |text: Text| Text::from(quote_meta(&text)));
    for (name, errors) in [("regexFind", Errors::Panics), ("mustRegexFind", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text| {
            let regex = compile(call, &pattern, errors)?;
            find(call, &regex, &text)
        });
    }
    for (name, errors) in [("regexFindAll", Errors::Panics), ("mustRegexFindAll", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text, count: Int| {
            let regex = compile(call, &pattern, errors)?;
            find_all(call, &regex, &text, count)
        });
    }
    for (name, errors) in [("regexSplit", Errors::Panics), ("mustRegexSplit", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text, count: Int| {
            let regex = compile(call, &pattern, errors)?;
            split(call, &regex, &text, count, pattern.is_empty())
        });
    }
    let replacing = [
        ("regexReplaceAll", Errors::Panics, false),
        ("mustRegexReplaceAll", Errors::Returned, false),
        ("regexReplaceAllLiteral", Errors::Panics, true),
        ("mustRegexReplaceAllLiteral", Errors::Returned, true),
    ];
    for (name, errors, is_literal) in replacing {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text, replacement: Text| {
            let regex = compile(call, &pattern, errors)?;
            replace_all(call, &regex, text, &replacement, is_literal)
        });
    }
}

/// False for a wrong expression.
fn regex_match(call: &mut Call<'_>, pattern: Text, text: Text) -> Result<bool, Failure> {
    match call.regex(&pattern)? {
        Ok(regex) => is_match(call, &regex, &text),
        Err(_) => Ok(false),
    }
}

fn find(call: &mut Call<'_>, regex: &Regex, text: &Text) -> Result<Text, Failure> {
    prepare(call, text)?;
    Ok(Text::from(regex.find(text, |steps| call.charge(steps))?.unwrap_or_default()))
}

/// A negative count is no limit.
fn find_all(call: &mut Call<'_>, regex: &Regex, text: &Text, count: Int) -> Result<List, Failure> {
    let count = usize::try_from(count.0).unwrap_or(usize::MAX);
    prepare(call, text)?;
    let found = regex.find_all(text, count, |work| take(call, work))?;
    // Go's regexp begins with room for ten.
    Ok(if found.is_empty() { List::nil(&ListType::STRINGS) } else { texts(found, 10) })
}

/// Go's `Split`, which is nil for a count of 0 and cuts everywhere for a negative one; an empty expression has a rule of
/// its own there.
fn split(call: &mut Call<'_>, regex: &Regex, text: &Text, count: Int, is_empty: bool) -> Result<List, Failure> {
    if count.0 == 0 {
        return Ok(List::nil(&ListType::STRINGS));
    }
    let count = usize::try_from(count.0).unwrap_or(usize::MAX);
    prepare(call, text)?;
    let parts = regex.split(text, count, is_empty, |work| take(call, work))?;
    let cuts = parts.len().saturating_sub(1);
    Ok(texts(parts, cuts))
}

fn replace_all(
    call: &mut Call<'_>,
    regex: &Regex,
    text: Text,
    replacement: &Text,
    is_literal: bool,
) -> Result<Text, Failure> {
    prepare(call, &text)?;
    let max = call.bytes_left();
    let replaced = regex.replace_all(&text, replacement, is_literal, max, |work| take(call, work))?;
    Ok(replaced.map_or(text, Text::from))
}

/// Texts that were appended to a list with so much room.
fn texts(parts: Vec<&[u8]>, room: usize) -> List {
    let parts = parts.into_iter().map(|part| Value::from(Text::from(part))).collect();
    List::appended_to(&ListType::STRINGS, parts, room)
}

/// How a function fails on a bad expression: Go's `MustCompile` panics, with more words.
#[derive(Clone, Copy)]
enum Errors {
    Panics,
    Returned,
}

impl Errors {
    fn failure(self, pattern: &Text, message: String) -> Failure {
        match self {
            Errors::Returned => Failure::message(message),
            Errors::Panics => Failure::message(format!("regexp: Compile({}): {message}", quoted(pattern))),
        }
    }
}

fn compile(call: &mut Call<'_>, pattern: &Text, errors: Errors) -> Result<Regex, Failure> {
    call.regex(pattern)?.map_err(|message| errors.failure(pattern, message))
}

/// As regexp's own `quote` shows an expression.
fn quoted(pattern: &Text) -> String {
    if can_backquote(pattern) {
        return format!("`{}`", pattern.to_str());
    }
    super::super::text::to_str(&quote_bytes(pattern)).into_owned()
}

/// Before a search: a text that is not UTF-8 is copied for it.
fn prepare(call: &mut Call<'_>, text: &Text) -> Result<(), Failure> {
    call.reserve(Regex::haystack_bytes(text))
}

/// Takes what a search does next.
fn take(call: &mut Call<'_>, work: Work) -> Result<(), Failure> {
    match work {
        Work::Steps(_) => {}
        Work::Match => call.charge_bytes(TEXT_BYTES)?,
        // The result itself is taken when it is there.
        Work::Output(bytes) => call.reserve(bytes)?,
        Work::Groups { states, .. } if states > GROUPS_COST_MAX => return Err(Limit::Regex.into()),
        Work::Groups { bytes, .. } => call.reserve(bytes)?,
    }
    call.charge(work.steps())
}

fn is_match(call: &mut Call<'_>, regex: &Regex, text: &Text) -> Result<bool, Failure> {
    prepare(call, text)?;
    regex.is_match(text, |steps| call.charge(steps))
}
