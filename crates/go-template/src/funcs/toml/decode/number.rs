//! Numbers, dates and times.

use go_std::strconv::{NumberError, parse_float, parse_int};

use super::super::super::super::text::to_str;
use super::super::super::super::time::{Zone, parse as parse_time};
use super::super::super::super::value::Value;
use super::super::{LOCAL_DATE, LOCAL_DATETIME, LOCAL_TIME};
use super::cursor::shown;
use super::{Decoder, Read, TomlVersion};

impl Decoder<'_> {
    pub(super) fn signed_number(&mut self) -> Read<Value> {
        let start = self.at;
        self.next()?;
        let c = self.next()?;
        let current = |decoder: &Self| to_str(decoder.text.get(start..decoder.at).unwrap_or_default()).into_owned();
        match c {
            Some(first @ ('i' | 'n')) => {
                let rest = if first == 'i' { ['n', 'f'] } else { ['a', 'n'] };
                for wanted in rest {
                    if self.peek()? != Some(wanted) {
                        self.next()?;
                        let found = current(self);
                        return self.error(format!("invalid float: '{found}'"));
                    }
                    self.next()?;
                }
                let text = self.text.get(start..self.at).unwrap_or_default();
                self.float(text)
            }
            Some('.') => self.error("floats must start with a digit, not '.'"),
            Some(digit) if digit.is_ascii_digit() => {
                if let (Some(base @ ('b' | 'o' | 'x')), '0') = (self.peek()?, digit) {
                    let sign = current(self);
                    return self.error(format!("cannot use sign with non-decimal numbers: '{sign}{base}'"));
                }
                self.decimal(start)
            }
            other => self.error(format!("expected a digit but got {}", shown(other))),
        }
    }

    /// The rest of a decimal integer or float that began at `start`.
    pub(super) fn decimal(&mut self, start: usize) -> Read<Value> {
        self.skip(|c| c.is_ascii_digit() || c == '_')?;
        let is_float = matches!(self.peek()?, Some('.' | 'e' | 'E'));
        if is_float {
            self.skip(|c| c.is_ascii_digit() || "_.-+eE".contains(c))?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if is_float { self.float(text) } else { self.integer(text) }
    }

    pub(super) fn number_or_date(&mut self) -> Read<Value> {
        let start = self.at;
        if let [b'0', base @ (b'b' | b'o' | b'x'), rest @ ..] = self.rest() {
            let (name, radix) = match base {
                b'b' => ("a binary", 2),
                b'o' => ("an octal", 8),
                _ => ("a hexadecimal", 16),
            };
            self.at += 2;
            if !rest.first().is_some_and(|digit| char::from(*digit).is_digit(radix)) {
                let found = self.peek()?.unwrap_or('\0');
                return self.error(format!("not {name} number: '0{}{found}'", char::from(*base)));
            }
            self.skip(|c| c.is_digit(radix) || c == '_')?;
            return self.integer(self.text.get(start..self.at).unwrap_or_default());
        }
        self.skip(|c| c.is_ascii_digit())?;
        if !matches!(self.peek()?, Some('-' | ':')) {
            return self.decimal(start);
        }
        self.skip(|c| c.is_ascii_digit() || "-:Tt .Zz+".contains(c))?;
        let text = to_str(self.text.get(start..self.at).unwrap_or_default()).trim().to_owned();
        self.date(&text)
    }

    pub(super) fn integer(&self, text: &[u8]) -> Read<Value> {
        let shown = go_yaml::quote(&to_str(text));
        if !underscores_are_good(text) {
            return self.error(format!("Invalid integer {shown}: underscores must be surrounded by digits"));
        }
        if has_leading_zero(text) {
            return self.error(format!("Invalid integer {shown}: cannot have leading zeroes"));
        }
        match parse_int(text) {
            Ok(value) => Ok(Value::int64(value)),
            Err(NumberError::Range | NumberError::Syntax) => {
                self.error(format!("{} is out of range for int64", to_str(text)))
            }
        }
    }

    pub(super) fn float(&self, text: &[u8]) -> Read<Value> {
        let shown = go_yaml::quote(&to_str(text));
        let mut parts =
            text.split(|byte| matches!(byte, b'.' | b'e' | b'E')).filter(|part| !part.is_empty()).peekable();
        let has_zero = parts.peek().is_some_and(|first| has_leading_zero(first));
        if !parts.all(underscores_are_good) {
            return self.error(format!("Invalid float {shown}: underscores must be surrounded by digits"));
        }
        if has_zero {
            return self.error(format!("Invalid float {shown}: cannot have leading zeroes"));
        }
        let is_point_good = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'.')
            .all(|(at, _)| text.get(at + 1).is_some_and(u8::is_ascii_digit));
        if !is_point_good {
            return self.error(format!("Invalid float {shown}: '.' must be followed by one or more digits"));
        }
        let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'_').collect();
        match digits.as_slice() {
            b"+nan" => return Ok(Value::Float(f64::NAN)),
            b"-nan" => return Ok(Value::Float(-f64::NAN)),
            _ => {}
        }
        match parse_float(&digits) {
            Ok(value) => Ok(Value::Float(value)),
            Err(NumberError::Range) => self.error(format!("{} is out of range for float64", to_str(text))),
            Err(NumberError::Syntax) => self.error(format!("Invalid float value: {shown}")),
        }
    }

    pub(super) fn date(&self, text: &str) -> Read<Value> {
        let text = text.replace('z', "Z").replace(['t', ' '], "T");
        let layouts = [
            ("2006-01-02T15:04:05.999999999Z07:00", ""),
            ("2006-01-02T15:04:05.999999999", LOCAL_DATETIME),
            ("2006-01-02", LOCAL_DATE),
            ("15:04:05.999999999", LOCAL_TIME),
            // TOML 1.1, where seconds may be missing.
            ("2006-01-02T15:04Z07:00", ""),
            ("2006-01-02T15:04", LOCAL_DATETIME),
            ("15:04", LOCAL_TIME),
        ];
        let count = if self.version >= TomlVersion::V1_6 { layouts.len() } else { 4 };
        let found = layouts
            .iter()
            .take(count)
            .find_map(|(layout, zone)| Some((parse_time(layout, text.as_bytes()).ok()?, layout, zone)));
        match found {
            Some((time, layout, zone)) if has_all_digits(&text, layout) => {
                let time = if zone.is_empty() { time } else { time.with_zone(Zone::fixed(0, *zone)) };
                Ok(time.into())
            }
            _ => self.error(format!("invalid datetime: {}", go_yaml::quote(&text))),
        }
    }
}

pub(super) fn has_leading_zero(text: &[u8]) -> bool {
    match text {
        [b'0', next, ..] => !matches!(next, b'b' | b'o' | b'x'),
        [b'-' | b'+', b'0', _, ..] => true,
        _ => false,
    }
}

pub(super) fn underscores_are_good(text: &[u8]) -> bool {
    if matches!(text, b"nan" | b"+nan" | b"-nan" | b"inf" | b"+inf" | b"-inf") {
        return true;
    }
    let mut is_behind_digit = false;
    for byte in text {
        if *byte == b'_' && !is_behind_digit {
            return false;
        }
        is_behind_digit = byte.is_ascii_hexdigit();
    }
    is_behind_digit
}

/// Whether every mark of the layout is where it should be: no digit is left out.
pub(super) fn has_all_digits(text: &str, layout: &str) -> bool {
    layout
        .bytes()
        .zip(text.bytes())
        .take_while(|(mark, _)| !matches!(mark, b'.' | b'Z'))
        .all(|(mark, byte)| mark.is_ascii_digit() || mark == byte)
}
