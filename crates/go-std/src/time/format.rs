//! Layouts: times written as the reference time `Mon Jan 2 15:04:05 MST 2006` is.

use super::{Civil, MONTHS, Time, WEEKDAYS};

/// An element of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    LongMonth,
    Month,
    NumberMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    BlankDay,
    ZeroDay,
    BlankYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    ZoneName,
    Offset(Offset),
    /// So many digits, all of them written or without trailing zeros; the mark before them.
    Fraction {
        digits: usize,
        is_trimmed: bool,
        mark: char,
    },
}

/// How an offset from UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offset {
    /// Zero is `Z`.
    pub is_iso: bool,
    pub has_colons: bool,
    pub parts: Parts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    Hours,
    Minutes,
    Seconds,
}

const OFFSETS: [(&str, Parts, bool); 5] = [
    ("070000", Parts::Seconds, false),
    ("07:00:00", Parts::Seconds, true),
    ("0700", Parts::Minutes, false),
    ("07:00", Parts::Minutes, true),
    ("07", Parts::Hours, false),
];

/// The first element of a layout with what is before and behind it.
pub(super) fn next_element(layout: &str) -> Option<(&str, Element, &str)> {
    for (at, c) in layout.char_indices() {
        let Some((element, length)) = element_at(layout.get(at..)?, c) else { continue };
        // `_2006` is a blank line and a year, not a padded day.
        let at = if c == '_' && element == Element::LongYear { at + 1 } else { at };
        return Some((layout.get(..at)?, element, layout.get(at + length..)?));
    }
    None
}

fn element_at(rest: &str, first: char) -> Option<(Element, usize)> {
    let starts = |text: &str| rest.starts_with(text);
    let is_word =
        |length: usize| !rest.get(length..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let found = match first {
        'J' if starts("January") => (Element::LongMonth, 7),
        'J' if starts("Jan") && is_word(3) => (Element::Month, 3),
        'M' if starts("Monday") => (Element::LongWeekday, 6),
        'M' if starts("Mon") && is_word(3) => (Element::Weekday, 3),
        'M' if starts("MST") => (Element::ZoneName, 3),
        '0' => match rest.as_bytes().get(1)? {
            b'1' => (Element::ZeroMonth, 2),
            b'2' => (Element::ZeroDay, 2),
            b'3' => (Element::ZeroHour12, 2),
            b'4' => (Element::ZeroMinute, 2),
            b'5' => (Element::ZeroSecond, 2),
            b'6' => (Element::Year, 2),
            b'0' if starts("002") => (Element::ZeroYearDay, 3),
            _ => return None,
        },
        '1' if starts("15") => (Element::Hour, 2),
        '1' => (Element::NumberMonth, 1),
        '2' if starts("2006") => (Element::LongYear, 4),
        '2' => (Element::Day, 1),
        '_' if starts("_2006") => (Element::LongYear, 4),
        '_' if starts("_2") => (Element::BlankDay, 2),
        '_' if starts("__2") => (Element::BlankYearDay, 3),
        '3' => (Element::Hour12, 1),
        '4' => (Element::Minute, 1),
        '5' => (Element::Second, 1),
        'P' if starts("PM") => (Element::UpperPm, 2),
        'p' if starts("pm") => (Element::LowerPm, 2),
        '-' | 'Z' => {
            let (text, parts, has_colons) = OFFSETS.iter().find(|(text, ..)| rest[1..].starts_with(text))?;
            (Element::Offset(Offset { is_iso: first == 'Z', has_colons: *has_colons, parts: *parts }), 1 + text.len())
        }
        '.' | ',' => {
            let digit = *rest.as_bytes().get(1).filter(|digit| matches!(digit, b'0' | b'9'))?;
            let digits = rest[1..].bytes().take_while(|byte| *byte == digit).count();
            if rest.as_bytes().get(1 + digits).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            (Element::Fraction { digits, is_trimmed: digit == b'9', mark: first }, 1 + digits)
        }
        _ => return None,
    };
    Some(found)
}

impl Time {
    /// The time as a layout shows it; what is not an element of a layout stays as it is.
    pub fn format(&self, layout: &str) -> String {
        let civil = self.civil();
        let mut out = String::new();
        let mut rest = layout;
        while let Some((before, element, after)) = next_element(rest) {
            out.push_str(before);
            write(&mut out, element, &civil);
            rest = after;
        }
        out + rest
    }
}

fn write(out: &mut String, element: Element, civil: &Civil) {
    let month = MONTHS.get(usize::from(civil.month).wrapping_sub(1)).copied().unwrap_or_default();
    let weekday = WEEKDAYS.get(usize::from(civil.weekday)).copied().unwrap_or_default();
    let hour12 = if civil.hour.is_multiple_of(12) { 12 } else { civil.hour % 12 };
    let text = match element {
        Element::LongMonth => month.to_owned(),
        Element::Month => month.chars().take(3).collect(),
        Element::NumberMonth => civil.month.to_string(),
        Element::ZeroMonth => format!("{:02}", civil.month),
        Element::LongWeekday => weekday.to_owned(),
        Element::Weekday => weekday.chars().take(3).collect(),
        Element::Day => civil.day.to_string(),
        Element::BlankDay => format!("{:2}", civil.day),
        Element::ZeroDay => format!("{:02}", civil.day),
        Element::BlankYearDay => format!("{:3}", civil.year_day),
        Element::ZeroYearDay => format!("{:03}", civil.year_day),
        Element::Hour => format!("{:02}", civil.hour),
        Element::Hour12 => hour12.to_string(),
        Element::ZeroHour12 => format!("{hour12:02}"),
        Element::Minute => civil.minute.to_string(),
        Element::ZeroMinute => format!("{:02}", civil.minute),
        Element::Second => civil.second.to_string(),
        Element::ZeroSecond => format!("{:02}", civil.second),
        Element::LongYear if civil.year < 0 => format!("-{:04}", -civil.year),
        Element::LongYear => format!("{:04}", civil.year),
        Element::Year => format!("{:02}", civil.year.unsigned_abs() % 100),
        Element::UpperPm => if civil.hour >= 12 { "PM" } else { "AM" }.to_owned(),
        Element::LowerPm => if civil.hour >= 12 { "pm" } else { "am" }.to_owned(),
        Element::ZoneName if !civil.zone.is_empty() => civil.zone.clone(),
        Element::ZoneName => offset(civil.offset, Parts::Minutes, false),
        Element::Offset(Offset { is_iso: true, .. }) if civil.offset == 0 => "Z".to_owned(),
        Element::Offset(Offset { has_colons, parts, .. }) => offset(civil.offset, parts, has_colons),
        Element::Fraction { digits, is_trimmed, mark } => fraction(civil.nanosecond, digits, is_trimmed, mark),
    };
    out.push_str(&text);
}

fn offset(seconds: i32, parts: Parts, has_colons: bool) -> String {
    let sign = if seconds / 60 < 0 { '-' } else { '+' };
    let minutes = (seconds / 60).abs();
    let colon = if has_colons { ":" } else { "" };
    let mut out = format!("{sign}{:02}", minutes / 60);
    if parts != Parts::Hours {
        out.push_str(&format!("{colon}{:02}", minutes % 60));
    }
    if parts == Parts::Seconds {
        out.push_str(&format!("{colon}{:02}", (seconds % 60).abs()));
    }
    out
}

fn fraction(nanosecond: u32, digits: usize, is_trimmed: bool, mark: char) -> String {
    let all = format!("{nanosecond:09}");
    let shown: String = all.chars().take(digits).collect();
    let shown = if is_trimmed { shown.trim_end_matches('0') } else { &shown };
    if shown.is_empty() { String::new() } else { format!("{mark}{shown}") }
}
