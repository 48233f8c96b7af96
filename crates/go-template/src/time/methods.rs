//! The methods of times, durations, months and weekdays that templates may call.

use std::sync::{Arc, LazyLock};

use go_std::time::{DAY, YEAR_ONE};

use super::super::error::Failure;
use super::super::function::{Function, Functions, Int, Param, Type};
use super::super::operand::Operand;
use super::super::print::sprint_one;
use super::super::text::Text;
use super::super::value::{IntType, Methods, Value};
use super::location::{Location, location};
use super::{Time, Zone, duration_string, round_duration};

pub(crate) const TIME_METHODS: Methods = Methods::of(time_methods);
pub(crate) const DURATION_METHODS: Methods = Methods::of(duration_methods);
/// Months and weekdays know only their names.
pub(crate) const NAME_METHODS: Methods = Methods::of(name_methods);

impl Param for Time {
    const TYPE: Type = Type::Time;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        match args.next().map(Operand::into_value) {
            Some(Value::Time(time)) => (*time).clone(),
            other => unreachable!("{other:?} was checked against time.Time"),
        }
    }
}

/// `time.Duration`, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Duration(i64);

impl Param for Duration {
    const TYPE: Type = Type::Duration;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        match args.next().map(Operand::into_value) {
            Some(Value::Int(_, nanoseconds)) => Duration(nanoseconds),
            other => unreachable!("{other:?} was checked against time.Duration"),
        }
    }
}

impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Value::Int(IntType::Duration, duration.0)
    }
}

fn time_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(time_table);
    &TABLE
}

fn time_table() -> Functions {
    let int = |value: u8| Int(value.into());
    let mut table = Functions::new();
    table
        .add("Format", |time: Time, layout: Text| time.format(&layout.to_str()))
        .add("String", |time: Time| time.to_string())
        .add("Unix", |time: Time| time.seconds())
        .add("UnixMilli", |time: Time| time.unix_in(1_000))
        .add("UnixMicro", |time: Time| time.unix_in(1_000_000))
        .add("UnixNano", |time: Time| time.unix_in(1_000_000_000))
        .add("Year", |time: Time| Int(time.civil().year))
        .add("Month", |time: Time| Value::Int(IntType::Month, time.civil().month.into()))
        .add("Day", move |time: Time| int(time.civil().day))
        .add("Hour", move |time: Time| int(time.civil().hour))
        .add("Minute", move |time: Time| int(time.civil().minute))
        .add("Second", move |time: Time| int(time.civil().second))
        .add("Nanosecond", |time: Time| Int(time.nanoseconds().into()))
        .add("Weekday", |time: Time| Value::Int(IntType::Weekday, time.civil().weekday.into()))
        .add("YearDay", |time: Time| Int(time.civil().year_day.into()))
        .add("UTC", |time: Time| time.with_zone(Zone::Utc))
        .add("Local", |time: Time| time.with_zone(Zone::Local))
        .add("IsZero", |time: Time| time.is_same_instant(&Time::zero()))
        .add("Equal", |time: Time, other: Time| time.is_same_instant(&other))
        .add("Before", |time: Time, other: Time| time.since(&other) < 0)
        .add("After", |time: Time, other: Time| time.since(&other) > 0)
        .add("Compare", |time: Time, other: Time| Int(time.since(&other).signum()))
        .add("Add", |time: Time, duration: Duration| time.plus(duration.0))
        .add("Sub", |time: Time, other: Time| Duration(time.since(&other)))
        .add("AddDate", add_date)
        .add("GoString", |time: Time| time.go_string())
        .add("Location", |time: Time| location(time.zone().clone()))
        .add("In", shown_in)
        .add("IsDST", |time: Time| time.is_dst())
        .add("Round", |time: Time, multiple: Duration| time.rounded(multiple.0, false))
        .add("Truncate", |time: Time, multiple: Duration| time.rounded(multiple.0, true));
    add_encoders(&mut table);
    add_uncallable(&mut table);
    table
}

/// What writes a time as bytes, alone or behind others.
fn add_encoders(table: &mut Functions) {
    type Bytes = Option<Arc<[u8]>>;
    let behind =
        |before: Bytes, bytes: &[u8]| Value::Bytes([before.as_deref().unwrap_or_default(), bytes].concat().into());
    table
        .add("AppendFormat", move |time: Time, before: Bytes, layout: Text| {
            behind(before, &Text::from(time.format(&layout.to_str())))
        })
        .add("AppendText", move |time: Time, before: Bytes| {
            strict(&time, "Time.AppendText").map(|text| behind(before, text.as_bytes()))
        })
        .add("AppendBinary", move |time: Time, before: Bytes| binary(&time).map(|bytes| behind(before, &bytes)))
        .add("MarshalBinary", move |time: Time| binary(&time).map(|bytes| behind(None, &bytes)))
        .add("GobEncode", move |time: Time| binary(&time).map(|bytes| behind(None, &bytes)))
        .add("MarshalText", move |time: Time| {
            strict(&time, "Time.MarshalText").map(|text| behind(None, text.as_bytes()))
        })
        .add("MarshalJSON", move |time: Time| {
            strict(&time, "Time.MarshalJSON").map(|text| behind(None, format!("\"{text}\"").as_bytes()))
        });
}

/// Methods whose results templates can't take.
fn add_uncallable(table: &mut Functions) {
    let nothing = |_: Time| Value::Nil;
    for (name, why) in [
        ("Clock", "function Clock has 3 return values; should be 1 or 2"),
        ("Date", "function Date has 3 return values; should be 1 or 2"),
        ("ISOWeek", "invalid function signature for ISOWeek: second return value should be error; is int"),
        ("Zone", "invalid function signature for Zone: second return value should be error; is int"),
        ("ZoneBounds", "invalid function signature for ZoneBounds: second return value should be error; is time.Time"),
    ] {
        table.insert(Function::uncallable(name, nothing, why));
    }
}

fn shown_in(time: Time, location: Location) -> Result<Time, Failure> {
    match location.zone() {
        Some(Some(zone)) => Ok(time.with_zone(zone)),
        Some(None) => Err(Failure::message("a copy of a time's location is not supported; use the location itself")),
        None => Err(Failure::message("time: missing Location in call to Time.In")),
    }
}

/// By RFC 3339, with nanoseconds; `what` is the method in the message for a time that it has no form for.
fn strict(time: &Time, what: &str) -> Result<String, Failure> {
    let civil = time.civil();
    let wrong = if !(0..10_000).contains(&civil.year) {
        "year outside of range [0,9999]"
    } else if civil.offset.unsigned_abs() >= DAY as u32 {
        "timezone hour outside of range [0,23]"
    } else {
        return Ok(time.format("2006-01-02T15:04:05.999999999Z07:00"));
    };
    Err(Failure::message(format!("{what}: {wrong}")))
}

/// As `MarshalBinary` writes it: a version, the seconds since the year 1, nanoseconds, the offset in minutes.
fn binary(time: &Time) -> Result<Vec<u8>, Failure> {
    let offset = time.civil().offset;
    let (minutes, seconds) = (offset / 60, offset % 60);
    // Minus one minute is how UTC is written.
    let minutes = match (time.zone(), i16::try_from(minutes)) {
        (Zone::Utc, _) => -1,
        (_, Ok(minutes)) if minutes != -1 => minutes,
        _ => return Err(Failure::message("Time.MarshalBinary: unexpected zone offset")),
    };
    let mut bytes = vec![if seconds == 0 { 1 } else { 2 }];
    bytes.extend((time.seconds().wrapping_sub(YEAR_ONE)).to_be_bytes());
    bytes.extend(time.nanoseconds().to_be_bytes());
    bytes.extend(minutes.to_be_bytes());
    if seconds != 0 {
        bytes.push(seconds as i8 as u8);
    }
    Ok(bytes)
}

fn add_date(time: Time, years: Int, months: Int, days: Int) -> Result<Time, Failure> {
    let far = || Failure::message("time: the date is too far away");
    time.plus_date(years.0, months.0, days.0).ok_or_else(far)
}

fn duration_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(duration_table);
    &TABLE
}

fn duration_table() -> Functions {
    let mut table = Functions::new();
    table
        .add("String", |duration: Duration| duration_string(duration.0))
        .add("Hours", |duration: Duration| duration.0 as f64 / 3.6e12)
        .add("Minutes", |duration: Duration| duration.0 as f64 / 6e10)
        .add("Seconds", |duration: Duration| duration.0 as f64 / 1e9)
        .add("Milliseconds", |duration: Duration| duration.0 / 1_000_000)
        .add("Microseconds", |duration: Duration| duration.0 / 1_000)
        .add("Nanoseconds", |duration: Duration| duration.0)
        .add("Abs", |duration: Duration| Duration(duration.0.saturating_abs()))
        .add("Round", |duration: Duration, multiple: Duration| Duration(round_duration(duration.0, multiple.0)))
        .add("Truncate", |duration: Duration, multiple: Duration| {
            Duration(if multiple.0 <= 0 { duration.0 } else { duration.0 - duration.0 % multiple.0 })
        });
    table
}

fn name_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(name_table);
    &TABLE
}

fn name_table() -> Functions {
    let mut table = Functions::new();
    table.add("String", |value: Value| sprint_one(&value, usize::MAX).map(Text::from).map_err(Failure::from));
    table
}
