//! Regular expressions in templates.

use super::super::error::{Failure, Limit};
use super::super::exec::Call;
use super::super::function::{Functions, Int};
use super::super::list::{List, ListType};
use super::super::text::Text;
use super::common::TEXT_BYTES;
use crate::go::regexp::{COST_MAX, Regex, quote_meta};
use crate::go::strconv::{can_backquote, quote_bytes};

pub(super) fn add(table: &mut Functions) {
    table
        .add("regexMatch", |call: &mut Call<'_>, pattern: Text, text: Text| match call.regex(&pattern)? {
            Ok(regex) => is_match(call, &regex, &text),
            Err(_) => Ok(false),
        })
        .add("mustRegexMatch", |call: &mut Call<'_>, pattern: Text, text: Text| {
            let regex = compile(call, &pattern, Errors::Returned)?;
            is_match(call, &regex, &text)
        })
        .add("regexQuoteMeta", |text: Text| Text::from(quote_meta(&text)));
    for (name, errors) in [("regexFind", Errors::Panics), ("mustRegexFind", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text| {
            let regex = compile(call, &pattern, errors)?;
            prepare(call, &regex, &text)?;
            Ok::<_, Failure>(Text::from(regex.find(&text).unwrap_or_default()))
        });
    }
    for (name, errors) in [("regexFindAll", Errors::Panics), ("mustRegexFindAll", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text, count: Int| {
            let regex = compile(call, &pattern, errors)?;
            let count = usize::try_from(count.0).unwrap_or(usize::MAX);
            prepare(call, &regex, &text)?;
            let found = regex.find_all(&text, count, |left| take(call, left))?;
            Ok::<_, Failure>(if found.is_empty() { List::nil(&ListType::STRINGS) } else { texts(found) })
        });
    }
    for (name, errors) in [("regexSplit", Errors::Panics), ("mustRegexSplit", Errors::Returned)] {
        table.add(name, move |call: &mut Call<'_>, pattern: Text, text: Text, count: Int| {
            let regex = compile(call, &pattern, errors)?;
            if count.0 == 0 {
                return Ok(List::nil(&ListType::STRINGS));
            }
            let count = usize::try_from(count.0).unwrap_or(usize::MAX);
            prepare(call, &regex, &text)?;
            let parts = regex.split(&text, count, pattern.is_empty(), |left| take(call, left))?;
            Ok::<_, Failure>(texts(parts))
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
            prepare(call, &regex, &text)?;
            let max = call.bytes_left();
            let replaced = regex.replace_all(&text, &replacement, is_literal, max, |left, made| {
                if made > max {
                    call.charge_bytes(made)?;
                }
                call.charge(1 + left / SEARCH_BYTES_PER_STEP)
            })?;
            Ok::<_, Failure>(replaced.map_or(text, Text::from))
        });
    }
}

fn texts(parts: Vec<&[u8]>) -> List {
    List::strings(parts.into_iter().map(Text::from))
}

/// How a function fails on a bad expression: Go's `MustCompile` panics, with more words.
#[derive(Clone, Copy)]
enum Errors {
    Panics,
    Returned,
}

fn compile(call: &mut Call<'_>, pattern: &Text, errors: Errors) -> Result<Regex, Failure> {
    call.regex(pattern)?.map_err(|message| match errors {
        Errors::Returned => Failure::message(message),
        Errors::Panics => {
            let shown = if can_backquote(pattern) {
                format!("`{}`", pattern.to_str())
            } else {
                super::super::text::to_str(&quote_bytes(pattern)).into_owned()
            };
            Failure::message(format!("regexp: Compile({shown}): {message}"))
        }
    })
}

/// How many bytes the engine searches in the time of a step.
const SEARCH_BYTES_PER_STEP: usize = 64;

/// Takes what a search costs that has to find all of a match: where it begins, and its groups.
fn prepare(call: &mut Call<'_>, regex: &Regex, text: &Text) -> Result<(), Failure> {
    if regex.cost(text.len()) > COST_MAX {
        return Err(Limit::Regex.into());
    }
    survey(call, regex, text)
}

fn survey(call: &mut Call<'_>, regex: &Regex, text: &Text) -> Result<(), Failure> {
    call.reserve(Regex::haystack_bytes(text))?;
    regex.survey(text, |steps| call.charge(steps))
}

/// Before each search: the one before it found a match.
fn take(call: &mut Call<'_>, left: usize) -> Result<(), Failure> {
    call.charge_bytes(TEXT_BYTES)?;
    call.charge(1 + left / SEARCH_BYTES_PER_STEP)
}

fn is_match(call: &mut Call<'_>, regex: &Regex, text: &Text) -> Result<bool, Failure> {
    survey(call, regex, text)?;
    Ok(regex.is_match(text))
}
