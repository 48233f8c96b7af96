//! `time.ParseInLocation`: reading times by a layout.

use super::super::strconv;
use super::format::{Element, Offset, Parts, next_element};
use super::{MONTHS, Time, WEEKDAYS, Zone, seconds_of_civil};

/// Why an element can't be read: the wrong text, or a number out of range with what it is.
enum Problem {
    Bad,
    Range(&'static str),
}

type Read<T> = Result<T, Problem>;

/// What was read so far.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<u8>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: u32,
    is_pm: bool,
    is_am: bool,
    is_utc: bool,
    offset: Option<i32>,
    zone_name: String,
}

/// Reads a time by a layout; without a zone in the text it is in UTC. The error is Go's text.
pub fn parse(layout: &str, value: &[u8]) -> Result<Time, String> {
    let mut fields = Fields::default();
    let mut text = value;
    let mut rest = layout;
    loop {
        let next = next_element(rest);
        let prefix = next.map_or(rest, |(prefix, ..)| prefix);
        skip(&mut text, prefix).map_err(|()| mismatch(layout, value, prefix, text))?;
        let Some((prefix, element, after)) = next else { break };
        let shown = rest.get(prefix.len()..rest.len() - after.len()).unwrap_or_default();
        let hold = text;
        let result = fields.read(&mut text, element, after);
        match result {
            Ok(()) => rest = after,
            Err(Problem::Bad) => return Err(mismatch(layout, value, shown, hold)),
            Err(Problem::Range(what)) => return Err(format!("parsing time {}: {what} out of range", quoted(value))),
        }
    }
    if !text.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quoted(value), quoted(text)));
    }
    fields.finish().map_err(|what| format!("parsing time {}: {what}", quoted(value)))
}

fn mismatch(layout: &str, value: &[u8], element: &str, at: &[u8]) -> String {
    format!(
        "parsing time {} as {}: cannot parse {} as {}",
        quoted(value),
        quoted(layout.as_bytes()),
        quoted(at),
        quoted(element.as_bytes())
    )
}

/// As the package quotes: everything but printable ASCII byte by byte.
pub(super) fn quoted(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' | 0x7f => out.push(char::from(*byte)),
            byte => out += &format!("\\x{byte:02x}"),
        }
    }
    out.push('"');
    out
}

/// Passes over text that is not an element; a run of blanks matches any run of blanks.
fn skip(text: &mut &[u8], prefix: &str) -> Result<(), ()> {
    let mut prefix = prefix.as_bytes();
    while let Some(first) = prefix.first() {
        if *first == b' ' {
            if text.first().is_some_and(|byte| *byte != b' ') {
                return Err(());
            }
            prefix = trim_blanks(prefix);
            *text = trim_blanks(text);
        } else {
            *text = text.strip_prefix(&[*first]).ok_or(())?;
            prefix = prefix.get(1..).unwrap_or_default();
        }
    }
    Ok(())
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(blanks..).unwrap_or_default()
}

fn take<'t>(text: &mut &'t [u8], count: usize) -> Read<&'t [u8]> {
    let (taken, rest) = text.split_at_checked(count).ok_or(Problem::Bad)?;
    *text = rest;
    Ok(taken)
}

fn digit(text: &[u8], at: usize) -> Option<i64> {
    text.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i64::from(byte - b'0'))
}

/// One or two digits; both must be there when `is_fixed`.
fn number(text: &mut &[u8], is_fixed: bool) -> Read<i64> {
    let first = digit(text, 0).ok_or(Problem::Bad)?;
    let (number, width) = match digit(text, 1) {
        Some(second) => (first * 10 + second, 2),
        None if is_fixed => return Err(Problem::Bad),
        None => (first, 1),
    };
    take(text, width)?;
    Ok(number)
}

/// A signed number that takes all of a text.
fn whole(text: &[u8]) -> Read<i64> {
    strconv::atoi(text).map_err(|_| Problem::Bad)
}

fn name(text: &mut &[u8], names: &[&str], length: Option<usize>) -> Read<usize> {
    for (index, name) in names.iter().enumerate() {
        let name = name.as_bytes();
        let name = length.and_then(|length| name.get(..length)).unwrap_or(name);
        if text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            take(text, name.len())?;
            return Ok(index);
        }
    }
    Err(Problem::Bad)
}

fn in_range(value: i64, range: std::ops::RangeInclusive<i64>, what: &'static str) -> Read<i64> {
    if range.contains(&value) { Ok(value) } else { Err(Problem::Range(what)) }
}

/// `.123` or `,123`, of `width` bytes.
fn nanoseconds(text: &mut &[u8], width: usize) -> Read<u32> {
    let taken = take(text, width)?;
    let digits = match taken {
        [b'.' | b',', digits @ ..] => digits.get(..9).unwrap_or(digits),
        _ => return Err(Problem::Bad),
    };
    let value = in_range(whole(digits)?, 0..=999_999_999, "fractional second")?;
    Ok(value as u32 * 10u32.pow(9 - digits.len() as u32))
}

fn is_fraction(text: &[u8]) -> bool {
    matches!(text, [b'.' | b',', b'0'..=b'9', ..])
}

fn fraction_width(text: &[u8]) -> usize {
    1 + text.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count()
}

impl Fields {
    fn read(&mut self, text: &mut &[u8], element: Element, after: &str) -> Read<()> {
        match element {
            Element::Year => {
                let year = whole(take(text, 2)?)?;
                self.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Element::LongYear => {
                digit(text, 0).ok_or(Problem::Bad)?;
                self.year = whole(take(text, 4)?)?;
            }
            Element::Month => self.month = Some(name(text, &MONTHS, Some(3))? as u8 + 1),
            Element::LongMonth => self.month = Some(name(text, &MONTHS, None)? as u8 + 1),
            Element::NumberMonth | Element::ZeroMonth => {
                let month = number(text, element == Element::ZeroMonth)?;
                self.month = Some(in_range(month, 1..=12, "month")? as u8);
            }
            Element::Weekday => drop(name(text, &WEEKDAYS, Some(3))?),
            Element::LongWeekday => drop(name(text, &WEEKDAYS, None)?),
            Element::Day | Element::BlankDay | Element::ZeroDay => {
                if element == Element::BlankDay {
                    *text = text.strip_prefix(b" ").unwrap_or(text);
                }
                self.day = Some(number(text, element == Element::ZeroDay)?);
            }
            Element::BlankYearDay | Element::ZeroYearDay => {
                for _ in 0..2 {
                    if element == Element::BlankYearDay {
                        *text = text.strip_prefix(b" ").unwrap_or(text);
                    }
                }
                let width = text.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
                if width == 0 || element == Element::ZeroYearDay && width != 3 {
                    return Err(Problem::Bad);
                }
                self.year_day = Some(whole(take(text, width)?)?);
            }
            Element::Hour => self.hour = in_range(number(text, false)?, 0..=23, "hour")?,
            Element::Hour12 | Element::ZeroHour12 => {
                self.hour = in_range(number(text, element == Element::ZeroHour12)?, 0..=12, "hour")?;
            }
            Element::Minute | Element::ZeroMinute => {
                self.minute = in_range(number(text, element == Element::ZeroMinute)?, 0..=59, "minute")?;
            }
            Element::Second | Element::ZeroSecond => {
                self.second = in_range(number(text, element == Element::ZeroSecond)?, 0..=59, "second")?;
                // A fraction may follow that the layout doesn't name.
                let is_named = matches!(next_element(after), Some((_, Element::Fraction { .. }, _)));
                if is_fraction(text) && !is_named {
                    self.nanosecond = nanoseconds(text, fraction_width(text))?;
                }
            }
            Element::UpperPm | Element::LowerPm => {
                let half = take(text, 2)?;
                let halves = if element == Element::UpperPm { [b"PM", b"AM"] } else { [b"pm", b"am"] };
                match halves.iter().position(|one| *one == half).ok_or(Problem::Bad)? {
                    0 => self.is_pm = true,
                    _ => self.is_am = true,
                }
            }
            Element::Offset(offset) => self.offset(text, offset)?,
            Element::ZoneName => match text.strip_prefix(b"UTC") {
                Some(rest) => {
                    self.is_utc = true;
                    *text = rest;
                }
                None => {
                    let length = zone_name(text).ok_or(Problem::Bad)?;
                    self.zone_name = String::from_utf8_lossy(take(text, length)?).into_owned();
                }
            },
            Element::Fraction { digits, is_trimmed: false, .. } => self.nanosecond = nanoseconds(text, 1 + digits)?,
            Element::Fraction { is_trimmed: true, .. } => {
                if is_fraction(text) {
                    self.nanosecond = nanoseconds(text, fraction_width(text))?;
                }
            }
        }
        Ok(())
    }

    fn offset(&mut self, text: &mut &[u8], offset: Offset) -> Read<()> {
        if offset.is_iso
            && let Some(rest) = text.strip_prefix(b"Z")
        {
            self.is_utc = true;
            *text = rest;
            return Ok(());
        }
        let parts = match offset.parts {
            Parts::Hours => 1,
            Parts::Minutes => 2,
            Parts::Seconds => 3,
        };
        let colon = usize::from(offset.has_colons);
        let taken = take(text, 1 + 2 * parts + colon * (parts - 1))?;
        let sign = taken.first();
        let mut numbers = [0i64; 3];
        for (index, number) in numbers.iter_mut().enumerate().take(parts) {
            let at = 1 + index * (2 + colon);
            if index > 0 && colon > 0 && taken.get(at - 1) != Some(&b':') {
                return Err(Problem::Bad);
            }
            *number =
                digit(taken, at).zip(digit(taken, at + 1)).map(|(ten, one)| ten * 10 + one).ok_or(Problem::Bad)?;
        }
        let [hours, minutes, seconds] = numbers;
        in_range(hours, 0..=24, "time zone offset hour")?;
        in_range(minutes, 0..=60, "time zone offset minute")?;
        in_range(seconds, 0..=60, "time zone offset second")?;
        let total = ((hours * 60 + minutes) * 60 + seconds) as i32;
        self.offset = Some(match sign {
            Some(b'+') => total,
            Some(b'-') => -total,
            _ => return Err(Problem::Bad),
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Time, &'static str> {
        if self.is_pm && self.hour < 12 {
            self.hour += 12;
        } else if self.is_am && self.hour == 12 {
            self.hour = 0;
        }
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        if let Some(year_day) = self.year_day {
            if !(1..=365 + i64::from(is_leap)).contains(&year_day) {
                return Err("day-of-year out of range");
            }
            let (month, day) = month_and_day(year_day, is_leap);
            if self.month.is_some_and(|read| read != month) {
                return Err("day-of-year does not match month");
            }
            if self.day.is_some_and(|read| read != day) {
                return Err("day-of-year does not match day");
            }
            (self.month, self.day) = (Some(month), Some(day));
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if !(1..=days_in(month, is_leap)).contains(&day) {
            return Err("day out of range");
        }
        let second_of_day = (self.hour * 60 + self.minute) * 60 + self.second;
        let seconds = seconds_of_civil(self.year, month, day as u8, second_of_day);
        let time = |offset: i32, zone| Time::unix(seconds - i64::from(offset), self.nanosecond).with_zone(zone);
        Ok(match (self.is_utc, self.offset) {
            (true, _) => time(0, Zone::Utc),
            (false, Some(0)) if matches!(self.zone_name.as_str(), "" | "UTC") => time(0, Zone::Local),
            (false, Some(offset)) => time(offset, Zone::fixed(offset, &*self.zone_name)),
            (false, None) if self.zone_name.is_empty() => time(0, Zone::Local),
            (false, None) => {
                // A name alone says nothing of the offset, but for GMT+3 and its like, whose clock is still UTC's.
                let hours = self.zone_name.strip_prefix("GMT").and_then(|hours| hours.parse::<i32>().ok());
                time(0, Zone::fixed(hours.unwrap_or(0) * 3600, &*self.zone_name))
            }
        })
    }
}

fn days_in(month: u8, is_leap: bool) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn month_and_day(year_day: i64, is_leap: bool) -> (u8, i64) {
    let mut day = year_day;
    for month in 1..12 {
        let days = days_in(month, is_leap);
        if day <= days {
            return (month, day);
        }
        day -= days;
    }
    (12, day)
}

/// How long the zone name is that a text starts with.
fn zone_name(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(rest) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_hours(rest));
    }
    if matches!(text.first(), Some(b'+' | b'-')) {
        return Some(signed_hours(text)).filter(|length| *length > 0);
    }
    match text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        5 if text.get(4) == Some(&b'T') => Some(5),
        4 if text.get(3) == Some(&b'T') || text.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}

fn signed_hours(text: &[u8]) -> usize {
    let digits = match text {
        [b'+' | b'-', rest @ ..] => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let hours = text.get(1..1 + digits).and_then(|digits| whole(digits).ok());
    if hours.is_some_and(|hours| hours <= 23) { 1 + digits } else { 0 }
}
