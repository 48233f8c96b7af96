//! Helm's own functions for durations: `mustToDuration`, `durationSeconds` and the rest.
//!
//! Reference: helm 4.3.1 pkg/engine/funcs.go. Case `helm-versions/functions-durations`.

use go_std::strconv::parse_float;
use go_std::time::{parse_duration, round_duration, truncate_duration};

use super::super::error::Failure;
use super::super::function::Functions;
use super::super::value::{IntType, Value};

/// In nanoseconds.
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

pub(super) fn add(table: &mut Functions) {
    table
        .add("mustToDuration", |value: Value| duration_of(&value).map(duration).map_err(Failure::message))
        .add("durationSeconds", |value: Value| in_units(&value, SECOND))
        .add("durationMinutes", |value: Value| in_units(&value, MINUTE))
        .add("durationHours", |value: Value| in_units(&value, HOUR))
        .add("durationDays", |value: Value| in_units(&value, HOUR) / 24.0)
        .add("durationWeeks", |value: Value| in_units(&value, HOUR) / 24.0 / 7.0)
        .add("durationMilliseconds", |value: Value| Value::int64(or_zero(&value) / (SECOND / 1000)))
        .add("durationMicroseconds", |value: Value| Value::int64(or_zero(&value) / 1000))
        .add("durationNanoseconds", |value: Value| Value::int64(or_zero(&value)))
        .add("durationRoundTo", |value: Value, unit: Value| to_multiple(&value, &unit, round_duration))
        .add("durationTruncateTo", |value: Value, unit: Value| to_multiple(&value, &unit, truncate_duration));
}

fn duration(nanoseconds: i64) -> Value {
    Value::Int(IntType::Duration, nanoseconds)
}

fn or_zero(value: &Value) -> i64 {
    duration_of(value).unwrap_or_default()
}

/// As Go's methods of a duration count: whole units, then the rest as a fraction.
#[expect(clippy::cast_precision_loss, reason = "as in Go")]
fn in_units(value: &Value, unit: i64) -> f64 {
    let nanoseconds = or_zero(value);
    (nanoseconds / unit) as f64 + (nanoseconds % unit) as f64 / unit as f64
}

/// A wrong duration is none at all, a wrong unit changes nothing.
fn to_multiple(value: &Value, unit: &Value, round: impl Fn(i64, i64) -> i64) -> Value {
    let Ok(nanoseconds) = duration_of(value) else { return duration(0) };
    duration(duration_of(unit).map_or(nanoseconds, |unit| round(nanoseconds, unit)))
}

/// A duration, a text with one, or seconds: nanoseconds.
fn duration_of(value: &Value) -> Result<i64, String> {
    match value {
        Value::Int(IntType::Duration, nanoseconds) => Ok(*nanoseconds),
        Value::String(text) => {
            let shown = text.to_str();
            let trimmed = shown.trim();
            if trimmed.is_empty() {
                return Err("empty duration".to_owned());
            }
            match (parse_duration(trimmed), parse_float(trimmed.as_bytes())) {
                (Ok(nanoseconds), _) => Ok(nanoseconds),
                (Err(_), Ok(seconds)) => of_float(seconds),
                (Err(_), Err(_)) => Err(format!("could not parse duration {}", go_yaml::quote(&shown))),
            }
        }
        Value::Nil => Err("invalid duration".to_owned()),
        Value::Int(_, seconds) => {
            seconds.checked_mul(SECOND).ok_or_else(|| format!("duration seconds overflow: {seconds}"))
        }
        Value::Uint(_, seconds) => i64::try_from(*seconds)
            .ok()
            .and_then(|seconds| seconds.checked_mul(SECOND))
            .ok_or_else(|| format!("duration seconds overflow: {seconds}")),
        Value::Float(seconds) => of_float(*seconds),
        other => Err(format!("unsupported duration type {}", other.type_name())),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as in Go")]
fn of_float(seconds: f64) -> Result<i64, String> {
    let shown = go_yaml::format_float(seconds);
    if !seconds.is_finite() {
        return Err(format!("invalid duration seconds: {shown}"));
    }
    if seconds.abs() > i64::MAX as f64 / SECOND as f64 {
        return Err(format!("duration seconds overflow: {shown}"));
    }
    Ok((seconds * SECOND as f64) as i64)
}
