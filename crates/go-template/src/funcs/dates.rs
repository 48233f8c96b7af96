//! Dates and durations. The local zone is UTC.

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::Functions;
use super::super::text::Text;
use super::super::time::{Time, Zone, duration_string, parse, parse_duration, round_duration};
use super::super::value::{IntType, Value};

const HTML: &str = "2006-01-02";
const SECOND: i64 = 1_000_000_000;

pub(super) fn add(table: &mut Functions) {
    table
        .add("now", |call: &mut Call<'_>| call.now().map(time_of))
        .add("ago", ago)
        .add("date", |call: &mut Call<'_>, layout: Text, date: Value| date_in_zone(call, &layout, &date, "Local"))
        .add("htmlDate", |call: &mut Call<'_>, date: Value| date_in_zone(call, &HTML.into(), &date, "Local"))
        .add("htmlDateInZone", |call: &mut Call<'_>, date: Value, zone: Text| {
            date_in_zone(call, &HTML.into(), &date, &zone.to_str())
        })
        .add("duration", duration)
        .add("durationRound", duration_round)
        .add("toDate", |layout: Text, text: Text| parse(&layout.to_str(), &text).unwrap_or_else(|_| Time::zero()))
        .add("mustToDate", |layout: Text, text: Text| parse(&layout.to_str(), &text).map_err(Failure::message))
        .add("unixEpoch", |date: Time| date.seconds().to_string());
    for name in ["dateInZone", "date_in_zone"] {
        table.add(name, |call: &mut Call<'_>, layout: Text, date: Value, zone: Text| {
            date_in_zone(call, &layout, &date, &zone.to_str())
        });
    }
    for name in ["dateModify", "date_modify"] {
        table.add(name, date_modify);
    }
    for name in ["mustDateModify", "must_date_modify"] {
        table.add(name, must_date_modify);
    }
}

/// A wrong duration changes nothing.
fn date_modify(shift: Text, date: Time) -> Time {
    match parse_duration(&shift.to_str()) {
        Ok(nanoseconds) => date.plus(nanoseconds),
        Err(_) => date,
    }
}

fn must_date_modify(shift: Text, date: Time) -> Result<Time, Failure> {
    let nanoseconds = parse_duration(&shift.to_str()).map_err(Failure::message)?;
    Ok(date.plus(nanoseconds))
}

fn time_of(now: jiff::Timestamp) -> Time {
    // The parts of a time before 1970 are both negative there.
    let nanoseconds = now.subsec_nanosecond();
    let (seconds, nanoseconds) = match u32::try_from(nanoseconds) {
        Ok(nanoseconds) => (now.as_second(), nanoseconds),
        Err(_) => (now.as_second() - 1, (nanoseconds + SECOND as i32) as u32),
    };
    Time::unix(seconds, nanoseconds).with_zone(Zone::Local)
}

/// Anything but a time or an integer means now.
fn date_in_zone(call: &mut Call<'_>, layout: &Text, date: &Value, zone: &str) -> Result<Text, Failure> {
    let time = match date {
        Value::Time(time) => (**time).clone(),
        Value::Int(IntType::Int | IntType::Int64, seconds) => Time::unix(*seconds, 0),
        _ => time_of(call.now()?),
    };
    let time = time.with_zone(Zone::named(zone).unwrap_or(Zone::Utc));
    Ok(time.format(&layout.to_str()).into())
}

fn ago(call: &mut Call<'_>, date: Value) -> Result<String, Failure> {
    let now = time_of(call.now()?);
    let since = match &date {
        Value::Time(time) => now.since(time),
        Value::Int(IntType::Int | IntType::Int64, seconds) => now.since(&Time::unix(*seconds, 0)),
        _ => 0,
    };
    Ok(duration_string(round_duration(since, SECOND)))
}

fn duration(seconds: Value) -> String {
    let seconds = match seconds {
        Value::String(text) => go_std::strconv::atoi_clamped(&text),
        Value::Int(IntType::Int64, seconds) => seconds,
        _ => 0,
    };
    duration_string(seconds.wrapping_mul(SECOND))
}

fn duration_round(call: &mut Call<'_>, duration: Value) -> Result<String, Failure> {
    let nanoseconds = match duration {
        Value::String(text) => parse_duration(&text.to_str()).unwrap_or_default(),
        Value::Int(IntType::Int64, nanoseconds) => nanoseconds,
        Value::Time(time) => time_of(call.now()?).since(&time),
        _ => 0,
    };
    let seconds = nanoseconds.unsigned_abs();
    const HOUR: u64 = 3600 * SECOND as u64;
    let units = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (SECOND as u64, "s"),
    ];
    let found = units.iter().find(|(unit, _)| seconds > *unit);
    Ok(found.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", seconds / unit)))
}
