//! Lists: each function makes a new one.

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Functions, Int, Rest};
use super::super::list::{List, ListType};
use super::super::text::Text;
use super::super::value::Value;
use super::common::{deep_equal, int_of, is_empty, items, nil_list, text_of, texts_of};

pub(super) fn add(table: &mut Functions) {
    for name in ["list", "tuple"] {
        table.add(name, |args: Rest<Value>| List::new(args.0));
    }
    for name in ["append", "push", "mustAppend", "mustPush"] {
        table.add(name, push);
    }
    for name in ["prepend", "mustPrepend"] {
        table.add(name, prepend);
    }
    for name in ["first", "mustFirst"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            items(call, &list, "Cannot find first on type").map(|list| list.first().cloned().unwrap_or_default())
        });
    }
    for name in ["last", "mustLast"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            items(call, &list, "Cannot find last on type").map(|list| list.last().cloned().unwrap_or_default())
        });
    }
    for name in ["rest", "mustRest"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            let list = items(call, &list, "Cannot find rest on type")?;
            Ok::<_, Failure>(list.split_first().map_or_else(nil_list, |(_, rest)| List::new(rest.to_vec()).into()))
        });
    }
    for name in ["initial", "mustInitial"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            let list = items(call, &list, "Cannot find initial on type")?;
            Ok::<_, Failure>(list.split_last().map_or_else(nil_list, |(_, rest)| List::new(rest.to_vec()).into()))
        });
    }
    for name in ["reverse", "mustReverse"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            items(call, &list, "Cannot find reverse on type")
                .map(|list| List::new(list.iter().rev().cloned().collect()))
        });
    }
    for name in ["compact", "mustCompact"] {
        table.add(name, |call: &mut Call<'_>, list: Value| {
            let list = items(call, &list, "Cannot compact on type")?;
            Ok::<_, Failure>(list.iter().filter(|item| !is_empty(item)).cloned().collect::<List>())
        });
    }
    for name in ["uniq", "mustUniq"] {
        table.add(name, uniq);
    }
    for name in ["without", "mustWithout"] {
        table.add(name, without);
    }
    for name in ["has", "mustHas"] {
        table.add(name, has);
    }
    for name in ["slice", "mustSlice"] {
        table.add(name, slice);
    }
    for name in ["chunk", "mustChunk"] {
        table.add(name, chunk);
    }
    table
        .add("concat", concat)
        .add("sortAlpha", sort_alpha)
        .add("toStrings", to_strings)
        .add("until", until)
        .add("untilStep", |call: &mut Call<'_>, start: Int, stop: Int, step: Int| {
            until_step(call, start.0, stop.0, step.0).map(int_list)
        })
        .add("seq", seq);
}

fn push(call: &mut Call<'_>, list: Value, item: Value) -> Result<List, Failure> {
    let list = items(call, &list, "Cannot push on type")?;
    call.reserve(list.len().saturating_mul(2 * size_of::<Value>()))?;
    let mut all = list.to_vec();
    all.push(item);
    // It is appended to a copy without room.
    Ok(List::appended_to(&ListType::ANY, all, list.len()))
}

fn prepend(call: &mut Call<'_>, list: Value, item: Value) -> Result<List, Failure> {
    let list = items(call, &list, "Cannot prepend on type")?;
    call.reserve(list.len().saturating_mul(2 * size_of::<Value>()))?;
    let mut all = vec![item];
    all.extend_from_slice(&list);
    // All of the list is appended at once.
    let capacity = ListType::ANY.element.layout().grown(1, all.len());
    Ok(List::with_capacity(&ListType::ANY, all, capacity))
}

fn has(call: &mut Call<'_>, item: Value, list: Value) -> Result<bool, Failure> {
    if matches!(list, Value::Nil) {
        return Ok(false);
    }
    let list = items(call, &list, "Cannot find has on type")?;
    contains(call, &list, &item)
}

fn to_strings(call: &mut Call<'_>, value: Value) -> Result<List, Failure> {
    match value {
        Value::List(list) if list.ty().name == ListType::STRINGS.name => Ok(list),
        value => {
            let room = value.as_list().map_or(0, |list| list.len());
            Ok(with_room(texts_of(call, &value)?, room))
        }
    }
}

/// Texts of a list of so many values, some of which may have been nil.
fn with_room(texts: Vec<Text>, room: usize) -> List {
    List::with_capacity(&ListType::STRINGS, texts.into_iter().map(Value::from).collect(), room)
}

fn contains(call: &mut Call<'_>, list: &[Value], item: &Value) -> Result<bool, Failure> {
    for one in list {
        if deep_equal(call, item, one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_>, list: Value) -> Result<List, Failure> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items(call, &list, "Cannot find uniq on type")?.iter() {
        if !contains(call, &kept, item)? {
            kept.push(item.clone());
        }
    }
    Ok(List::appended(&ListType::ANY, kept))
}

fn without(call: &mut Call<'_>, list: Value, omit: Rest<Value>) -> Result<List, Failure> {
    let mut kept = Vec::new();
    for item in items(call, &list, "Cannot find without on type")?.iter() {
        if !contains(call, &omit.0, item)? {
            kept.push(item.clone());
        }
    }
    Ok(List::appended(&ListType::ANY, kept))
}

fn slice(call: &mut Call<'_>, list: Value, indexes: Rest<Value>) -> Result<Value, Failure> {
    let all = items(call, &list, "list should be type of slice or array but")?;
    if all.is_empty() {
        return Ok(Value::Nil);
    }
    let start = indexes.0.first().map_or(0, int_of);
    let end = indexes.0.get(1).map_or(all.len() as i64, int_of);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    if let Value::Bytes(bytes) = &list {
        return range.and_then(|(start, end)| bytes_between(bytes, start, end)).ok_or_else(out_of_bounds);
    }
    call.reserve(all.capacity().saturating_mul(size_of::<Value>()))?;
    let part = range.and_then(|(start, end)| all.slice(start, end)).ok_or_else(out_of_bounds)?;
    Ok(part.into())
}

fn out_of_bounds() -> Failure {
    Failure::message("reflect.Value.Slice: slice index out of bounds")
}

/// A part of the content of a file, which is the only thing that is bytes. Behind it is room up to where Go's `ReadFile`
/// looked for more.
fn bytes_between(bytes: &[u8], start: usize, end: usize) -> Option<Value> {
    let mut all = bytes.to_vec();
    if end > all.len() {
        let capacity = READ_MIN.max(bytes.len() + 1);
        all.resize(end.min(capacity), 0);
    }
    all.get(start..end).map(|part| Value::Bytes(part.into()))
}

/// How much Go's `ReadFile` asks for at least.
const READ_MIN: usize = 512;

fn chunk(call: &mut Call<'_>, size: Int, list: Value) -> Result<List, Failure> {
    let list = items(call, &list, "Cannot chunk type")?;
    let Some(size) = usize::try_from(size.0).ok().filter(|size| *size > 0) else {
        return chunk_backwards(&list, size.0.unsigned_abs());
    };
    let count = list.len().div_ceil(size);
    call.charge_bytes((list.len() + 2 * count).saturating_mul(size_of::<Value>()))?;
    let chunks = list.chunks(size).map(|chunk| Value::List(List::new(chunk.to_vec()))).collect();
    Ok(List::of(&ListType::LISTS, chunks))
}

/// What Go makes of a size below one: one chunk fewer than there were with a positive size, less than none as a rule.
///
/// Reference: sprig 3.3.0 list.go `mustChunk`, which computes with floats: `-0.5` is rounded down.
fn chunk_backwards(list: &[Value], size: u64) -> Result<List, Failure> {
    let steps = (list.len() as u64).checked_sub(1);
    let chunks = match (steps, list) {
        (Some(0), [item]) if size > 1 => vec![Value::List(List::new(vec![item.clone()]))],
        (Some(steps), _) if (1..=size).contains(&steps) => Vec::new(),
        _ => return Err(Failure::message("runtime error: makeslice: len out of range")),
    };
    Ok(List::of(&ListType::LISTS, chunks))
}

fn concat(call: &mut Call<'_>, lists: Rest<Value>) -> Result<Value, Failure> {
    let mut all = Vec::new();
    for list in &lists.0 {
        if let Value::List(list) = list {
            call.charge_bytes(list.len().saturating_mul(size_of::<Value>()))?;
        }
        match list {
            Value::List(list) => all.extend_from_slice(list),
            Value::Bytes(_) => all.extend_from_slice(&items(call, list, "")?),
            Value::Nil => return Err(Failure::message(super::common::NIL_DEREFERENCE)),
            other => {
                return Err(Failure::message(format!("Cannot concat type {} as list", other.kind().name())));
            }
        }
    }
    Ok(if all.is_empty() { nil_list() } else { List::appended(&ListType::ANY, all).into() })
}

/// A list of strings is sorted in place: who has it elsewhere sees it sorted, too.
fn sort_alpha(call: &mut Call<'_>, value: Value) -> Result<List, Failure> {
    let mut texts = match &value {
        Value::List(list) if list.ty().name == ListType::STRINGS.name && list.is_sorted() => return Ok(list.clone()),
        Value::List(_) | Value::Bytes(_) => texts_of(call, &value)?,
        other => vec![text_of(call, other)?],
    };
    // Comparing goes through the texts, as often as there are rounds of sorting.
    let length = texts.iter().map(|text| text.len()).fold(0, usize::saturating_add);
    let rounds = texts.len().checked_ilog2().unwrap_or_default() as usize + 1;
    call.charge(texts.len().saturating_mul(rounds) + length.saturating_mul(rounds) / 64)?;
    texts.sort();
    match value {
        Value::List(list) if list.ty().name == ListType::STRINGS.name => {
            list.sort_in_place(texts.into_iter().map(Value::from).collect());
            Ok(list)
        }
        value => Ok(with_room(texts, value.as_list().map_or(0, |list| list.len()))),
    }
}

fn int_list(numbers: Vec<i64>) -> List {
    List::appended(&ListType::INTS, numbers.into_iter().map(Value::int).collect())
}

fn until(call: &mut Call<'_>, count: Int) -> Result<List, Failure> {
    until_step(call, 0, count.0, if count.0 < 0 { -1 } else { 1 }).map(int_list)
}

fn until_step(call: &mut Call<'_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Failure> {
    let (distance, is_empty) = (stop.abs_diff(start), if stop < start { step >= 0 } else { step <= 0 });
    if is_empty {
        return Ok(Vec::new());
    }
    let count = distance.div_ceil(step.unsigned_abs());
    call.charge_bytes(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Value>()))?;
    call.charge(usize::try_from(count).unwrap_or(usize::MAX) / 4)?;
    Ok((0..count as i64).map(|index| start.wrapping_add(index.wrapping_mul(step))).collect())
}

/// The numbers of a range, both ends included, as one text.
fn seq(call: &mut Call<'_>, args: Rest<Int>) -> Result<String, Failure> {
    let args: Vec<i64> = args.0.iter().map(|arg| arg.0).collect();
    let numbers = match args[..] {
        [end] => {
            let step = if end < 1 { -1 } else { 1 };
            until_step(call, 1, end.wrapping_add(step), step)?
        }
        [start, end] => {
            let step = if end < start { -1 } else { 1 };
            until_step(call, start, end.wrapping_add(step), step)?
        }
        [start, step, end] => {
            if end < start && step > 0 {
                return Ok(String::new());
            }
            until_step(call, start, end.wrapping_add(if end < start { -1 } else { 1 }), step)?
        }
        _ => return Ok(String::new()),
    };
    call.charge_bytes(numbers.len().saturating_mul(super::common::TEXT_BYTES))?;
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Ok(texts.join(" "))
}
