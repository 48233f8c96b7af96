//! What several subjects share: Sprig's conversions to text and numbers, emptiness, deep equality.

use go_std::strconv::{parse_float, parse_int};

use super::super::call::Call;
use super::super::error::{Failure, Limit};
use super::super::limits::VALUE_DEPTH_MAX;
use super::super::list::{List, ListType};
use super::super::print::sprint_one;
use super::super::text::Text;
use super::super::value::{IntType, Value};

/// What Go says when a nil is taken apart.
pub(super) const NIL_DEREFERENCE: &str = "runtime error: invalid memory address or nil pointer dereference";

/// Sprig's `strval`: strings and bytes as they are, everything else as it prints.
pub(super) fn text_of(call: &mut Call<'_>, value: &Value) -> Result<Text, Failure> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => Text::from(std::sync::Arc::clone(bytes)),
        other => printed(call, other)?.into(),
    })
}

/// What a value prints, taken from the budget.
pub(super) fn printed(call: &mut Call<'_>, value: &Value) -> Result<Vec<u8>, Failure> {
    let text = sprint_one(value, call.bytes_left())?;
    call.charge_bytes(text.len())?;
    charge_printed(call, text.len())?;
    Ok(text)
}

/// Takes the steps that printing or encoding so much costs, which goes value by value.
pub(super) fn charge_printed(call: &mut Call<'_>, bytes: usize) -> Result<(), Failure> {
    call.charge(bytes / 4)
}

/// What the text of an item takes of the budget beside its bytes.
pub(super) const TEXT_BYTES: usize = 64;

/// Sprig's `strslice`: the texts of a list without its nils, or of the one value.
pub(super) fn texts_of(call: &mut Call<'_>, value: &Value) -> Result<Vec<Text>, Failure> {
    match value {
        Value::Nil => Ok(Vec::new()),
        Value::List(list) => {
            call.charge_bytes(list.len().saturating_mul(size_of::<Text>()))?;
            list.iter().filter(|item| !matches!(item, Value::Nil)).map(|item| text_of(call, item)).collect()
        }
        Value::Bytes(bytes) => {
            call.charge_bytes(bytes.len().saturating_mul(TEXT_BYTES))?;
            Ok(bytes.iter().map(|byte| Text::from(byte.to_string())).collect())
        }
        other => Ok(vec![text_of(call, other)?]),
    }
}

/// Sprig's `empty`: what `if` takes for false. No struct or pointer is.
pub(super) fn is_empty(value: &Value) -> bool {
    !value.is_true()
}

/// `cast.ToInt64`: 0 for what is not a number.
pub(super) fn int_of(value: &Value) -> i64 {
    match value {
        Value::Int(IntType::Duration, _) => 0,
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => *number as i64,
        Value::Float(number) => truncate(*number),
        Value::Bool(truth) => i64::from(*truth),
        Value::String(text) => parse_int(without_zero_places(text)).unwrap_or(0),
        Value::Nil | Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Time(_) | Value::Struct(_) => 0,
    }
}

/// Go's conversion of a `float64` to an `int64`, on amd64: what doesn't fit becomes the smallest one.
pub(super) fn truncate(number: f64) -> i64 {
    if (-9223372036854775808.0..9223372036854775808.0).contains(&number) { number as i64 } else { i64::MIN }
}

/// `1.00` without `.00`.
fn without_zero_places(text: &[u8]) -> &[u8] {
    let zeros = text.iter().rev().take_while(|byte| **byte == b'0').count();
    match text.len().checked_sub(zeros + 1) {
        Some(point) if zeros > 0 && text.get(point) == Some(&b'.') => text.get(..point).unwrap_or(text),
        _ => text,
    }
}

/// `cast.ToFloat64`: 0 for what is not a number.
pub(super) fn float_of(value: &Value) -> f64 {
    match value {
        Value::Int(IntType::Duration, _) => 0.0,
        Value::Int(_, number) => *number as f64,
        Value::Uint(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => parse_float(text).unwrap_or(0.0),
        Value::Nil | Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Time(_) | Value::Struct(_) => 0.0,
    }
}

/// The items of a list, of whatever type; what else there is fails with `message` and its kind.
pub(super) fn items(call: &mut Call<'_>, value: &Value, message: &str) -> Result<List, Failure> {
    match value {
        Value::List(list) => Ok(list.clone()),
        Value::Bytes(bytes) => {
            call.charge_bytes(bytes.len().saturating_mul(size_of::<Value>()))?;
            Ok(bytes.iter().map(|byte| Value::byte(*byte)).collect())
        }
        Value::Nil => Err(Failure::message(NIL_DEREFERENCE)),
        other => Err(Failure::message(format!("{message} {}", other.kind().name()))),
    }
}

/// `reflect.DeepEqual`: same types and same contents, all the way down. Takes a step for each pair, and more for long texts.
pub(super) fn deep_equal(call: &mut Call<'_>, one: &Value, two: &Value) -> Result<bool, Failure> {
    equal_at(call, one, two, 0)
}

fn same_bytes(call: &mut Call<'_>, one: &[u8], two: &[u8]) -> Result<bool, Failure> {
    if one.len() != two.len() {
        return Ok(false);
    }
    call.charge(one.len() / 64)?;
    Ok(one == two)
}

fn equal_at(call: &mut Call<'_>, one: &Value, two: &Value, depth: u32) -> Result<bool, Failure> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
    }
    call.charge(1)?;
    Ok(match (one, two) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(two)) => one == two,
        (Value::Int(ty, one), Value::Int(other, two)) => ty == other && one == two,
        (Value::Uint(ty, one), Value::Uint(other, two)) => ty == other && one == two,
        (Value::Float(one), Value::Float(two)) => one == two,
        (Value::String(one), Value::String(two)) => same_bytes(call, one, two)?,
        (Value::Bytes(one), Value::Bytes(two)) => same_bytes(call, one, two)?,
        (Value::List(one), Value::List(two)) => {
            if one.ty().name != two.ty().name || one.is_nil() != two.is_nil() || one.len() != two.len() {
                return Ok(false);
            }
            if one.is_same(two) {
                return Ok(true);
            }
            for (one, two) in one.iter().zip(two.iter()) {
                if !equal_at(call, one, two, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(one), Value::Map(two)) => {
            if one.ty().name != two.ty().name || one.is_nil() != two.is_nil() || one.len() != two.len() {
                return Ok(false);
            }
            if one.is_same(two) {
                return Ok(true);
            }
            let two = two.entries();
            for (key, one) in one.entries().iter() {
                match two.get(key) {
                    Some(two) if equal_at(call, one, two, depth + 1)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Time(one), Value::Time(two)) => one.is_alike(two),
        (Value::Struct(one), Value::Struct(two)) => {
            if one.type_name() != two.type_name() {
                return Ok(false);
            }
            for ((_, one), (_, two)) in one.fields().zip(two.fields()) {
                if !equal_at(call, &one, &two, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => false,
    })
}

/// A result of type `[]interface {}` that is nil.
pub(super) fn nil_list() -> Value {
    Value::List(List::nil(&ListType::ANY))
}
