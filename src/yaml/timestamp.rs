//! Timestamps: which plain scalars are one, and how one is written as JSON.
//!
//! Reference: go-yaml v3.0.4 resolve.go, `parseTimestamp`, which leaves most to Go's `time.Parse` (Go 1.26).

use std::fmt;

/// A date and a time of day in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timestamp {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
    /// Minutes east of Greenwich.
    offset: i32,
}

/// Reads `2006-1-2`, `2006-1-2 15:4:5.9` (any number of blanks) or `2006-1-2T15:4:5.9Z` (`t`; `+07:00`).
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let mut input = Input(text.as_bytes());
    let year = input.digits(4, 4)?;
    input.expect(b'-')?;
    let month = input.digits(1, 2)?;
    input.expect(b'-')?;
    let day = input.digits(1, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(month, year) {
        return None;
    }
    let date = Timestamp { year, month, day, hour: 0, minute: 0, second: 0, nanosecond: 0, offset: 0 };
    let time = match input.0 {
        [] => date,
        [b'T' | b't', rest @ ..] => {
            input.0 = rest;
            let time = input.time(date)?;
            Timestamp { offset: input.zone()?, ..time }
        }
        [b' ', ..] => {
            input.0 = input.0.trim_ascii_start();
            input.time(date)?
        }
        _ => return None,
    };
    input.0.is_empty().then_some(time)
}

impl Timestamp {
    /// Whether RFC 3339 can say it: no zone may be a day or more away.
    pub fn is_rfc_3339(&self) -> bool {
        self.offset.abs() < 24 * 60
    }
}

/// As RFC 3339 with as many digits of the second as are needed.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, nanosecond, offset } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if *nanosecond > 0 {
            let digits = format!("{nanosecond:09}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if *offset == 0 {
            return f.write_str("Z");
        }
        let sign = if *offset < 0 { '-' } else { '+' };
        let minutes = offset.abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

fn days_in(month: u32, year: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// A number of `least` to `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if count < least {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    fn time(&mut self, date: Timestamp) -> Option<Timestamp> {
        let hour = self.digits(1, 2).filter(|hour| *hour < 24)?;
        self.expect(b':')?;
        let minute = self.digits(1, 2).filter(|minute| *minute < 60)?;
        self.expect(b':')?;
        let second = self.digits(1, 2).filter(|second| *second < 60)?;
        let mut nanosecond = 0;
        if let [b'.' | b',', rest @ ..] = self.0
            && rest.first().is_some_and(u8::is_ascii_digit)
        {
            let mut unit = 100_000_000;
            let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at(count);
            for digit in digits {
                nanosecond += u32::from(digit - b'0') * unit;
                unit /= 10;
            }
            self.0 = rest;
        }
        Some(Timestamp { hour, minute, second, nanosecond, ..date })
    }

    /// `Z`, or hours and minutes with a sign; up to 24 hours and 60 minutes, as Go allows.
    fn zone(&mut self) -> Option<i32> {
        let sign = match self.0 {
            [b'Z', rest @ ..] => {
                self.0 = rest;
                return Some(0);
            }
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.0 = self.0.get(1..)?;
        let hours = self.digits(2, 2).filter(|hours| *hours <= 24)?;
        self.expect(b':')?;
        let minutes = self.digits(2, 2).filter(|minutes| *minutes <= 60)?;
        i32::try_from(hours * 60 + minutes).ok().map(|minutes| sign * minutes)
    }
}
