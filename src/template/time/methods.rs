//! The methods of times, durations, months and weekdays that templates may call.

use std::sync::LazyLock;

use super::super::error::Failure;
use super::super::function::{Functions, Int, Methods, Param, Type};
use super::super::operand::Operand;
use super::super::print::sprint_one;
use super::super::text::Text;
use super::super::value::{IntType, Value};
use super::{Civil, DAY, Time, Zone, duration_string, round_duration, seconds_of_civil};

pub(in crate::template) const TIME_METHODS: Methods = Methods::of(time_methods);
pub(in crate::template) const DURATION_METHODS: Methods = Methods::of(duration_methods);
/// Months and weekdays know only their names.
pub(in crate::template) const NAME_METHODS: Methods = Methods::of(name_methods);

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
    static TABLE: LazyLock<Functions> = LazyLock::new(|| {
        let int = |value: u8| Int(value.into());
        let mut table = Functions::new();
        table
            .add("Format", |time: Time, layout: Text| time.format(&layout.to_str()))
            .add("String", |time: Time| time.to_string())
            .add("Unix", |time: Time| time.seconds)
            .add("UnixMilli", |time: Time| unix(&time, 1_000))
            .add("UnixMicro", |time: Time| unix(&time, 1_000_000))
            .add("UnixNano", |time: Time| unix(&time, 1_000_000_000))
            .add("Year", |time: Time| Int(time.civil().year))
            .add("Month", |time: Time| Value::Int(IntType::Month, time.civil().month.into()))
            .add("Day", move |time: Time| int(time.civil().day))
            .add("Hour", move |time: Time| int(time.civil().hour))
            .add("Minute", move |time: Time| int(time.civil().minute))
            .add("Second", move |time: Time| int(time.civil().second))
            .add("Nanosecond", |time: Time| Int(time.nanoseconds.into()))
            .add("Weekday", |time: Time| Value::Int(IntType::Weekday, time.civil().weekday.into()))
            .add("YearDay", |time: Time| Int(time.civil().year_day.into()))
            .add("UTC", |time: Time| time.with_zone(Zone::Utc))
            .add("Local", |time: Time| time.with_zone(Zone::Utc))
            .add("IsZero", |time: Time| time.is_same_instant(&Time::zero()))
            .add("Equal", |time: Time, other: Time| time.is_same_instant(&other))
            .add("Before", |time: Time, other: Time| time.since(&other) < 0)
            .add("After", |time: Time, other: Time| time.since(&other) > 0)
            .add("Compare", |time: Time, other: Time| Int(time.since(&other).signum()))
            .add("Add", |time: Time, duration: Duration| time.plus(duration.0))
            .add("Sub", |time: Time, other: Time| Duration(time.since(&other)))
            .add("AddDate", add_date);
        table
    });
    &TABLE
}

fn unix(time: &Time, per_second: i64) -> i64 {
    let below = i64::from(time.nanoseconds) / (1_000_000_000 / per_second);
    time.seconds.wrapping_mul(per_second).wrapping_add(below)
}

/// Years, months and days on the calendar, days beyond the end of a month running on into the next.
fn add_date(time: Time, years: Int, months: Int, days: Int) -> Result<Time, Failure> {
    let Civil { year, month, day, hour, minute, second, offset, .. } = time.civil();
    let is_far = |count: i64| count.unsigned_abs() > 1_000_000_000;
    if is_far(years.0) || is_far(months.0) || is_far(days.0) {
        return Err(Failure::message("time: the date is too far away"));
    }
    let month = i64::from(month) - 1 + months.0;
    let (year, month) = (year + years.0 + month.div_euclid(12), month.rem_euclid(12) as u8 + 1);
    let second_of_day = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    let local = seconds_of_civil(year, month, 1, second_of_day) + (i64::from(day) - 1 + days.0) * DAY;
    Ok(Time { seconds: local - i64::from(offset), ..time })
}

fn duration_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(|| {
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
    });
    &TABLE
}

fn name_methods() -> &'static Functions {
    static TABLE: LazyLock<Functions> = LazyLock::new(|| {
        let mut table = Functions::new();
        table.add("String", |value: Value| sprint_one(&value, usize::MAX).map(Text::from).map_err(Failure::from));
        table
    });
    &TABLE
}
