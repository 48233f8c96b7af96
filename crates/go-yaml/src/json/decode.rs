//! Reading JSON.

use go_std::json::UnmarshalTypeError;
use go_std::strconv::{Escape, escape_char};
use go_std::utf8::to_str;

use super::super::error::Error;
use super::super::value::{Mapping, Value};
use super::super::{Limits, Mark};
use super::lossy;

/// Reads one JSON value; of duplicate keys the last one wins.
///
/// Numbers without a point or exponent are integers where they fit, all others floats (so is `-0`). What is not UTF-8,
/// and half of a surrogate pair, becomes U+FFFD.
///
/// # Errors
///
/// In Go's words: `invalid character 'a' looking for beginning of value`, `unexpected end of JSON input`; for a number
/// that no float can have; and when a limit is passed.
///
/// Reference: Go 1.26 encoding/json scanner.go and decode.go, `Unmarshal` into an interface.
pub fn decode(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    let Decoded { value, out_of_range } = decode_all(text, limits)?;
    out_of_range.map_or(Ok(value), Err)
}

/// What [`decode_all`] read.
#[derive(Debug)]
pub struct Decoded {
    /// The value, with null in place of each number that no float can have.
    pub value: Value,
    /// The error for the first of these.
    pub out_of_range: Option<Error>,
}

/// As [`decode`], but a number that no float can have leaves the rest of the value as it is: Go notes the first such
/// error and reads on.
///
/// # Errors
///
/// As [`decode`], but for such numbers.
pub fn decode_all(text: &[u8], limits: &Limits) -> Result<Decoded, Error> {
    let mut decoder = Decoder::new(text, limits)?;
    let value = decoder.value()?;
    decoder.skip_blanks();
    if decoder.at < text.len() {
        return Err(decoder.unexpected("after top-level value"));
    }
    Ok(Decoded { value, out_of_range: decoder.out_of_range })
}

/// Reads the JSON value that a text starts with, and says where it ends: whatever follows may follow, as for Go's `Decoder`.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_first(text: &[u8], limits: &Limits) -> Result<(Value, usize), Error> {
    let mut decoder = Decoder::new(text, limits)?;
    let value = decoder.value()?;
    decoder.out_of_range.map_or(Ok((value, decoder.at)), Err)
}
struct Decoder<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
    nodes_left: usize,
    limits: &'a Limits,
    out_of_range: Option<Error>,
}

impl<'a> Decoder<'a> {
    /// At the value.
    fn new(text: &'a [u8], limits: &'a Limits) -> Result<Self, Error> {
        if text.len() > limits.bytes {
            return Err(Error::too_long(text.len(), limits.bytes));
        }
        let mut decoder = Self { text, at: 0, depth: 0, nodes_left: limits.nodes, limits, out_of_range: None };
        decoder.skip_blanks();
        Ok(decoder)
    }

    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn mark(&self) -> Mark {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let column = before.iter().skip(start).filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Mark { line: number(line), column: number(column), offset: self.at }
    }

    /// The error for the current character, or for the end of the text where a blank may follow.
    fn unexpected(&self, context: &str) -> Error {
        match self.byte() {
            Some(byte) => self.invalid(byte, context),
            None => Error::bare("unexpected end of JSON input", Some(self.mark())),
        }
    }

    /// The error for the current character of a literal, a number or an escape. At the end of the text Go looks what a
    /// blank would do there, and names that.
    fn unexpected_within(&self, context: &str) -> Error {
        self.invalid(self.byte().unwrap_or(b' '), context)
    }

    fn invalid(&self, byte: u8, context: &str) -> Error {
        let mut character = Vec::new();
        // Go takes the byte for a character.
        escape_char(&mut character, char::from(byte), b'\'', Escape::NonPrintable);
        Error::bare(format!("invalid character '{}' {context}", to_str(&character)), Some(self.mark()))
    }

    fn value(&mut self) -> Result<Value, Error> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(|| Error::too_many_nodes(self.mark()))?;
        match self.byte() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Error>) -> Result<Value, Error> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Error::bare("exceeded max depth", Some(self.mark())));
        }
        self.at += 1;
        self.skip_blanks();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Error> {
        let mut mapping = Mapping::new();
        if self.byte() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Mapping(mapping));
        }
        loop {
            self.skip_blanks();
            if self.byte() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if self.byte() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            self.skip_blanks();
            let value = self.value()?;
            mapping.insert(key, value);
            self.skip_blanks();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
        self.at += 1;
        Ok(Value::Mapping(mapping))
    }

    fn array(&mut self) -> Result<Value, Error> {
        let mut items = Vec::new();
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(Value::Sequence(items));
        }
        loop {
            self.skip_blanks();
            items.push(self.value()?);
            self.skip_blanks();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.unexpected("after array element")),
            }
        }
        self.at += 1;
        Ok(Value::Sequence(items))
    }

    fn literal(&mut self, literal: &str, value: Value) -> Result<Value, Error> {
        for expected in literal.bytes() {
            if self.byte() != Some(expected) {
                let expected = char::from(expected);
                return Err(self.unexpected_within(&format!("in literal {literal} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Error> {
        let from = self.at;
        let negative = self.byte() == Some(b'-');
        self.at += usize::from(negative);
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return Err(self.unexpected_within("in numeric literal")),
        }
        let mut integer = true;
        if self.byte() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = self.text.get(from..self.at).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        if integer && text != "-0" {
            if let Ok(value) = text.parse() {
                return Ok(Value::Int(value));
            }
            if let Ok(value) = text.parse() {
                return Ok(Value::Uint(value));
            }
        }
        match text.parse() {
            Ok(value) if f64::is_finite(value) => Ok(Value::Float(value)),
            _ => {
                let wrong = UnmarshalTypeError::of_value(format!("number {text}"), "float64");
                let error = Error::bare(wrong.to_string(), Some(self.mark()));
                self.out_of_range.get_or_insert(error);
                Ok(Value::Null)
            }
        }
    }

    fn digits(&mut self, context: &str) -> Result<(), Error> {
        if !self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected_within(context));
        }
        self.skip_digits();
        Ok(())
    }

    fn skip_digits(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let mut text = String::new();
        let mut from = self.at;
        loop {
            match self.byte() {
                Some(byte @ (b'"' | b'\\')) => {
                    text.push_str(&lossy(self.text.get(from..self.at).unwrap_or_default()));
                    self.at += 1;
                    if byte == b'"' {
                        return Ok(text);
                    }
                    text.push(self.escape()?);
                    from = self.at;
                }
                Some(0x00..=0x1F) | None => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let c = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0C',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.unexpected_within("in string escape code")),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode_escape(&mut self) -> Result<char, Error> {
        let first = self.hexadecimal()?;
        if (0xD800..0xDC00).contains(&first) && self.text.get(self.at..self.at + 2) == Some(b"\\u") {
            let back = self.at;
            self.at += 1;
            let second = self.hexadecimal()?;
            if (0xDC00..0xE000).contains(&second) {
                let pair = 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
                return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // Not a pair: the second escape is a character of its own.
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads `u` and four digits.
    fn hexadecimal(&mut self) -> Result<u32, Error> {
        let mut value = 0;
        for _ in 0..4 {
            self.at += 1;
            let Some(digit) = self.byte().and_then(|byte| char::from(byte).to_digit(16)) else {
                return Err(self.unexpected_within("in \\u hexadecimal character escape"));
            };
            value = value << 4 | digit;
        }
        self.at += 1;
        Ok(value)
    }
}
