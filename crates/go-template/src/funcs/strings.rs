//! Cutting, searching, replacing and joining strings. Lengths and positions count bytes.

use std::collections::HashSet;

use go_std::unicode::is_space;

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Functions, Int, Rest};
use super::super::list::List;
use super::super::map::{Entries, Map, MapType};
use super::super::text::{Text, decode, decode_last, runes};
use super::super::value::Value;
use super::common::{TEXT_BYTES, printed, text_of, texts_of};

pub(super) fn add(table: &mut Functions) {
    table
        .add("trim", |text: Text| Text::from(trim(&text, is_space)))
        .add("trimPrefix", |prefix: Text, text: Text| text.strip_prefix(&*prefix).map(Text::from).unwrap_or(text))
        .add("trimSuffix", |suffix: Text, text: Text| text.strip_suffix(&*suffix).map(Text::from).unwrap_or(text))
        .add("contains", |part: Text, text: Text| find(&text, &part).is_some())
        .add("hasPrefix", |prefix: Text, text: Text| text.starts_with(&prefix))
        .add("hasSuffix", |suffix: Text, text: Text| text.ends_with(&suffix))
        .add("replace", replace)
        .add("repeat", |call: &mut Call<'_>, count: Int, text: Text| repeat(call, count, &text))
        .add("indent", |call: &mut Call<'_>, width: Int, text: Text| indent(call, width, &text, ""))
        .add("nindent", |call: &mut Call<'_>, width: Int, text: Text| indent(call, width, &text, "\n"))
        .add("trunc", trunc)
        .add("substr", substr)
        .add("plural", |one: Text, many: Text, count: Int| if count.0 == 1 { one } else { many })
        .add("quote", quote)
        .add("squote", squote)
        .add("cat", cat)
        .add("toString", |call: &mut Call<'_>, value: Value| text_of(call, &value))
        .add("join", |call: &mut Call<'_>, separator: Text, list: Value| {
            let texts = texts_of(call, &list)?;
            join(call, &separator, &texts)
        })
        .add("split", |call: &mut Call<'_>, separator: Text, text: Text| {
            let parts = split(call, &text, &separator, None)?;
            split_map(call, parts)
        })
        .add("splitn", splitn)
        .add("splitList", |call: &mut Call<'_>, separator: Text, text: Text| {
            split(call, &text, &separator, None).map(List::strings)
        });
    for name in ["trimAll", "trimall"] {
        table.add(name, |set: Text, text: Text| {
            let set: HashSet<char> = runes(&set).map(|(_, rune)| rune.char).collect();
            Text::from(trim(&text, |c| set.contains(&c)))
        });
    }
}

/// The offset of the first occurrence.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    memchr::memmem::find(text, part)
}

fn trim(text: &[u8], is_cut: impl Fn(char) -> bool) -> &[u8] {
    let mut text = text;
    while let Some(rune) = decode(text).filter(|rune| is_cut(rune.char)) {
        text = text.get(rune.width..).unwrap_or_default();
    }
    while let Some(rune) = decode_last(text).filter(|rune| is_cut(rune.char)) {
        text = text.get(..text.len() - rune.width).unwrap_or_default();
    }
    text
}

/// The parts between separators, at most `count`; without a separator the characters.
fn split(call: &mut Call<'_>, text: &[u8], separator: &[u8], count: Option<usize>) -> Result<Vec<Text>, Failure> {
    let all = match separator {
        [] => text.len(),
        separator => memchr::memmem::find_iter(text, separator).count() + 1,
    };
    call.charge_bytes(all.min(count.unwrap_or(usize::MAX)).saturating_mul(TEXT_BYTES))?;
    let mut parts = Vec::new();
    let mut rest = text;
    let has_room = |parts: &Vec<Text>| count.is_none_or(|count| parts.len() + 1 < count);
    if separator.is_empty() {
        while let Some(rune) = decode(rest).filter(|_| has_room(&parts)) {
            let (part, after) = rest.split_at(rune.width);
            parts.push(part.into());
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(rest.into());
        }
        return Ok(parts);
    }
    while let Some(at) = find(rest, separator).filter(|_| has_room(&parts)) {
        let (part, after) = rest.split_at(at);
        parts.push(part.into());
        rest = after.get(separator.len()..).unwrap_or_default();
    }
    parts.push(rest.into());
    Ok(parts)
}

/// With a negative count all parts, as Go's `SplitN` has it.
fn splitn(call: &mut Call<'_>, separator: Text, count: Int, text: Text) -> Result<Map, Failure> {
    let parts = match usize::try_from(count.0) {
        Ok(0) => Vec::new(),
        Ok(count) => split(call, &text, &separator, Some(count))?,
        Err(_) => split(call, &text, &separator, None)?,
    };
    split_map(call, parts)
}

/// A map `_0`, `_1`, … of the parts.
fn split_map(call: &mut Call<'_>, parts: Vec<Text>) -> Result<Map, Failure> {
    call.charge_bytes(parts.len().saturating_mul(2 * TEXT_BYTES))?;
    let entries: Entries =
        parts.into_iter().enumerate().map(|(index, part)| (format!("_{index}").into(), part.into())).collect();
    Ok(Map::of(&MapType::STRINGS, entries))
}

fn join(call: &mut Call<'_>, separator: &[u8], texts: &[Text]) -> Result<Text, Failure> {
    let length = texts.iter().map(|text| text.len()).fold(0, usize::saturating_add);
    call.charge_bytes(length.saturating_add(separator.len().saturating_mul(texts.len())))?;
    let mut out = Vec::with_capacity(length);
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(text);
    }
    Ok(out.into())
}

/// Without something to look for, the replacement goes before each character and at the end.
fn replace(call: &mut Call<'_>, old: Text, new: Text, text: Text) -> Result<Text, Failure> {
    let count = if old.is_empty() { text.len() } else { memchr::memmem::find_iter(&text, &*old).count() };
    call.charge(count / 4)?;
    call.reserve(count.saturating_mul(size_of::<usize>()))?;
    let places: Vec<usize> = if old.is_empty() {
        runes(&text).map(|(offset, _)| offset).chain([text.len()]).collect()
    } else {
        memchr::memmem::find_iter(&text, &*old).collect()
    };
    if places.is_empty() {
        return Ok(text);
    }
    call.charge_bytes(text.len().saturating_add(new.len().saturating_mul(places.len())))?;
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for place in places {
        out.extend_from_slice(text.get(done..place).unwrap_or_default());
        out.extend_from_slice(&new);
        done = place + old.len();
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    Ok(out.into())
}

fn repeat(call: &mut Call<'_>, count: Int, text: &[u8]) -> Result<Text, Failure> {
    let count = usize::try_from(count.0).map_err(|_| Failure::message("strings: negative Repeat count"))?;
    call.charge_bytes(count.saturating_mul(text.len()))?;
    Ok(text.repeat(count).into())
}

/// Blanks before each line, empty ones too.
fn indent(call: &mut Call<'_>, width: Int, text: &[u8], before: &str) -> Result<Text, Failure> {
    let pad = repeat(call, width, b" ")?;
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    call.charge_bytes(text.len().saturating_add(pad.len().saturating_mul(lines)))?;
    call.charge(lines)?;
    let mut out = Vec::with_capacity(text.len() + pad.len() * lines + before.len());
    out.extend_from_slice(before.as_bytes());
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&pad);
        out.extend_from_slice(line);
    }
    Ok(out.into())
}

/// The first bytes, or for a negative count the last ones.
fn trunc(count: Int, text: Text) -> Text {
    let length = usize::try_from(count.0.unsigned_abs()).unwrap_or(usize::MAX);
    if length >= text.len() {
        return text;
    }
    let part = if count.0 < 0 { text.get(text.len() - length..) } else { text.get(..length) };
    part.map_or_else(|| text.clone(), Text::from)
}

fn substr(start: Int, end: Int, text: Text) -> Result<Text, Failure> {
    let length = text.len();
    let bounds = |detail: String| Failure::message(format!("runtime error: slice bounds out of range [{detail}"));
    if start.0 < 0 {
        let Ok(end) = usize::try_from(end.0) else { return Err(bounds(format!(":{}]", end.0))) };
        let part = text.get(..end).ok_or_else(|| bounds(format!(":{end}] with length {length}")))?;
        return Ok(part.into());
    }
    let end = usize::try_from(end.0).ok().filter(|end| *end <= length).unwrap_or(length);
    let part = usize::try_from(start.0).ok().and_then(|start| text.get(start..end));
    part.map(Text::from).ok_or_else(|| bounds(format!("{}:{end}]", start.0)))
}

/// `%q` of each argument that is not nil.
fn quote(call: &mut Call<'_>, args: Rest<Value>) -> Result<Text, Failure> {
    let mut texts = Vec::with_capacity(args.0.len());
    for arg in args.0.iter().filter(|arg| !matches!(arg, Value::Nil)) {
        let text = text_of(call, arg)?;
        // A byte becomes four at most.
        call.reserve(text.len().saturating_mul(4))?;
        let quoted = Text::from(go_std::strconv::quote_bytes(&text));
        call.charge_bytes(quoted.len())?;
        texts.push(quoted);
    }
    join(call, b" ", &texts)
}

/// What each argument that is not nil prints, between single quotes.
fn squote(call: &mut Call<'_>, args: Rest<Value>) -> Result<Text, Failure> {
    let mut texts = Vec::with_capacity(args.0.len());
    for arg in args.0.iter().filter(|arg| !matches!(arg, Value::Nil)) {
        let shown = printed(call, arg)?;
        texts.push(Text::from([b"'", shown.as_slice(), b"'"].concat()));
    }
    join(call, b" ", &texts)
}

/// What the arguments that are not nil print, with blanks between.
fn cat(call: &mut Call<'_>, args: Rest<Value>) -> Result<Text, Failure> {
    let mut texts = Vec::with_capacity(args.0.len());
    for arg in args.0.iter().filter(|arg| !matches!(arg, Value::Nil)) {
        texts.push(Text::from(printed(call, arg)?));
    }
    join(call, b" ", &texts)
}
