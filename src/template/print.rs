//! Go's `fmt`: printing values, and `printf` with all its verbs, flags and complaints.

use super::error::Limit;
use super::float::format_float;
use super::limits::VALUE_DEPTH_MAX;
use super::quote::{Escape, escape_char, quote_with};
use super::structure::Struct;
use super::text::{Text, decode, push_char, runes};
use super::time;
use super::value::{IntType, Value};
use crate::yaml::is_print;

/// `fmt.Sprint` of one value: what an action prints, what `toString` gives. At most `max` bytes.
pub(super) fn sprint_one(value: &Value, max: usize) -> Result<Vec<u8>, Limit> {
    let mut printer = Printer::new(max);
    printer.arg(value, 'v')?;
    Ok(printer.out)
}

/// `fmt.Sprint`: a blank between two operands neither of which is a string.
pub(super) fn sprint(args: &[Value], max: usize) -> Result<Vec<u8>, Limit> {
    let mut printer = Printer::new(max);
    let mut was_string = true;
    for (index, arg) in args.iter().enumerate() {
        let is_string = matches!(arg, Value::String(_));
        if index > 0 && !is_string && !was_string {
            printer.out.push(b' ');
        }
        printer.arg(arg, 'v')?;
        was_string = is_string;
    }
    Ok(printer.out)
}

/// `fmt.Sprintln`: blanks between all operands, a line break at the end.
pub(super) fn sprintln(args: &[Value], max: usize) -> Result<Vec<u8>, Limit> {
    let mut printer = Printer::new(max);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            printer.out.push(b' ');
        }
        printer.arg(arg, 'v')?;
    }
    printer.out.push(b'\n');
    Ok(printer.out)
}

/// What `printf` makes of one value by a format such as `%v`; at most a MiB of it.
pub fn printed(format: &str, value: &Value) -> String {
    let printed = sprintf(format.as_bytes(), std::slice::from_ref(value), 1 << 20);
    printed.map_or_else(|limit| limit.to_string(), |text| super::text::to_str(&text).into_owned())
}

/// `fmt.Sprintf`
pub(super) fn sprintf(format: &[u8], args: &[Value], max: usize) -> Result<Vec<u8>, Limit> {
    let mut printer = Printer::new(max);
    printer.format(format, args)?;
    Ok(printer.out)
}

/// What stands between `%` and the verb.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    width: Option<usize>,
    precision: Option<usize>,
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v`, which is not the `+` of numbers.
    plus_v: bool,
    /// `%#v`, which is not the `#` of numbers.
    sharp_v: bool,
}

/// The address that pointers print: in Go it differs from run to run.
const ADDRESS: u64 = 0xc000000000;

/// Widths and precisions above this are no numbers to Go.
const NUMBER_MAX: usize = 1_000_000;

const LOWER: [u8; 17] = *b"0123456789abcdefx";
const UPPER: [u8; 17] = *b"0123456789ABCDEFX";

struct Printer {
    out: Vec<u8>,
    max: usize,
    flags: Flags,
    /// While a wrong verb is reported `String` methods are not called.
    is_reporting: bool,
    depth: u32,
}

impl Printer {
    fn new(max: usize) -> Self {
        Printer { out: Vec::new(), max, flags: Flags::default(), is_reporting: false, depth: 0 }
    }

    fn arg(&mut self, value: &Value, verb: char) -> Result<(), Limit> {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.pad(b"<nil>"),
            (Value::Nil, _) => return self.bad_verb(None, verb),
            (_, 'T') => {
                let name = self.truncated(value.type_name().as_bytes()).to_vec();
                self.pad(&name);
            }
            (_, 'p') => return self.pointer(value, verb),
            _ => return self.value(value, verb, 0),
        }
        self.check()
    }

    /// One value, at `depth` below the argument; methods are tried first.
    fn value(&mut self, value: &Value, verb: char, depth: u32) -> Result<(), Limit> {
        self.check()?;
        if !self.is_reporting
            && let Some(done) = self.methods(value, verb)
        {
            return done;
        }
        self.depth += 1;
        if self.depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX));
        }
        self.plain_value(value, verb, depth)?;
        self.depth -= 1;
        self.check()
    }

    /// `String` and `GoString`; `None` when the value has none for this verb.
    fn methods(&mut self, value: &Value, verb: char) -> Option<Result<(), Limit>> {
        let has_methods = matches!(value, Value::Time(_) | Value::Struct(_))
            || matches!(value, Value::Int(IntType::Duration | IntType::Month | IntType::Weekday, _))
            || verb == 'w' && matches!(value, Value::List(_) | Value::Map(_));
        if !has_methods {
            return None;
        }
        if verb == 'w' {
            return Some(self.bad_verb(Some(value), verb));
        }
        if self.flags.sharp_v {
            let Value::Time(time) = value else { return None };
            let text = self.truncated(time.go_string().as_bytes()).to_vec();
            self.pad(&text);
            return Some(Ok(()));
        }
        if !matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') {
            return None;
        }
        let text = string_method(value)?;
        Some(self.string(&text, verb, value))
    }

    fn plain_value(&mut self, value: &Value, verb: char, depth: u32) -> Result<(), Limit> {
        match value {
            Value::Nil if depth == 0 => self.out.extend_from_slice(b"<invalid reflect.Value>"),
            Value::Nil => self.out.extend_from_slice(if self.flags.sharp_v { b"interface {}(nil)" } else { b"<nil>" }),
            Value::Bool(truth) => match verb {
                't' | 'v' => self.pad(if *truth { b"true" } else { b"false" }),
                _ => return self.bad_verb(Some(value), verb),
            },
            Value::Int(_, number) => return self.integer(*number as u64, true, verb, value),
            Value::Uint(_, number) => return self.integer(*number, false, verb, value),
            Value::Float(number) => return self.float_verb(*number, verb, value),
            Value::String(text) => return self.string(text, verb, value),
            Value::Bytes(bytes) => return self.bytes(bytes, verb, value, depth),
            Value::List(list) => {
                self.open(value.type_name(), b"[");
                if self.flags.sharp_v && list.is_nil() {
                    self.out.extend_from_slice(b"(nil)");
                    return Ok(());
                }
                self.open_items(b"");
                for (index, item) in list.iter().enumerate() {
                    self.separate(index);
                    self.value(item, verb, depth + 1)?;
                }
                self.out.push(if self.flags.sharp_v { b'}' } else { b']' });
            }
            Value::Map(map) => {
                self.open(value.type_name(), b"map[");
                if self.flags.sharp_v && map.is_nil() {
                    self.out.extend_from_slice(b"(nil)");
                    return Ok(());
                }
                self.open_items(b"");
                for (index, (key, item)) in map.entries().iter().enumerate() {
                    self.separate(index);
                    self.value(&Value::String(key.clone()), verb, depth + 1)?;
                    self.out.push(b':');
                    self.value(item, verb, depth + 1)?;
                }
                self.out.push(if self.flags.sharp_v { b'}' } else { b']' });
            }
            Value::Time(time) => {
                let fields = time.fields();
                self.open(value.type_name(), b"");
                self.out.push(b'{');
                for (index, (name, field)) in fields.iter().enumerate() {
                    self.separate(index);
                    self.field_name(name);
                    self.value(field, verb, depth + 1)?;
                }
                self.out.push(b'}');
            }
            Value::Struct(fields) => {
                if fields.ty().pointer.is_some() {
                    if depth > 0 {
                        return self.pointer(value, verb);
                    }
                    self.out.push(b'&');
                }
                self.fields(fields, verb, depth + 1)?;
            }
        }
        Ok(())
    }

    fn fields(&mut self, fields: &Struct, verb: char, depth: u32) -> Result<(), Limit> {
        self.open(fields.ty().name, b"");
        self.out.push(b'{');
        for (index, (field, value)) in fields.fields().enumerate() {
            self.separate(index);
            self.field_name(field.name);
            self.value(value, verb, depth + 1)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn field_name(&mut self, name: &str) {
        if self.flags.plus_v || self.flags.sharp_v {
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b':');
        }
    }

    /// The type in `%#v`, else what opens the container.
    fn open(&mut self, type_name: &str, plain: &[u8]) {
        self.out.extend_from_slice(if self.flags.sharp_v { type_name.as_bytes() } else { plain });
    }

    fn open_items(&mut self, plain: &[u8]) {
        self.out.extend_from_slice(if self.flags.sharp_v { b"{" } else { plain });
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.extend_from_slice(if self.flags.sharp_v { b", " } else { b" " });
        }
    }

    fn check(&self) -> Result<(), Limit> {
        if self.out.len() > self.max { Err(Limit::Bytes(self.max as u64)) } else { Ok(()) }
    }

    /// `%!d(string=a)`
    fn bad_verb(&mut self, value: Option<&Value>, verb: char) -> Result<(), Limit> {
        self.out.extend_from_slice(b"%!");
        push_char(&mut self.out, verb);
        self.out.push(b'(');
        match value {
            None | Some(Value::Nil) => self.out.extend_from_slice(b"<nil>"),
            Some(value) => {
                self.out.extend_from_slice(value.type_name().as_bytes());
                self.out.push(b'=');
                let was_reporting = std::mem::replace(&mut self.is_reporting, true);
                self.value(value, 'v', 0)?;
                self.is_reporting = was_reporting;
            }
        }
        self.out.push(b')');
        self.check()
    }

    fn pointer(&mut self, value: &Value, verb: char) -> Result<(), Limit> {
        let is_pointer = match value {
            Value::Struct(value) => value.ty().pointer.is_some(),
            Value::List(_) | Value::Map(_) | Value::Bytes(_) => true,
            _ => false,
        };
        if !is_pointer {
            return self.bad_verb(Some(value), verb);
        }
        let address = if value.is_nil() { 0 } else { ADDRESS };
        match verb {
            'v' if self.flags.sharp_v => {
                self.out.extend_from_slice(format!("({})(", value.type_name()).as_bytes());
                self.hex_number(address, true);
                self.out.push(b')');
            }
            'v' | 'p' => self.hex_number(address, !self.flags.sharp),
            'b' | 'o' | 'd' | 'x' | 'X' => return self.integer(address, false, verb, value),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    fn hex_number(&mut self, number: u64, with_prefix: bool) {
        let sharp = std::mem::replace(&mut self.flags.sharp, with_prefix);
        self.base(number, 16, false, 'v', &LOWER);
        self.flags.sharp = sharp;
    }

    fn pad(&mut self, text: &[u8]) {
        let width = self.flags.width.unwrap_or(0).saturating_sub(runes(text).count());
        if self.flags.minus {
            self.out.extend_from_slice(text);
            self.padding(width);
        } else {
            self.padding(width);
            self.out.extend_from_slice(text);
        }
    }

    fn padding(&mut self, width: usize) {
        let fill = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.out.resize(self.out.len() + width, fill);
    }

    fn pad_with_blanks(&mut self, text: &[u8]) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(text);
        self.flags.zero = zero;
    }

    /// Cut to the precision, in characters.
    fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else { return text };
        let end = runes(text).nth(precision).map_or(text.len(), |(offset, _)| offset);
        text.get(..end).unwrap_or(text)
    }

    fn string(&mut self, text: &[u8], verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v => self.quoted(text),
            'v' | 's' => {
                let text = self.truncated(text).to_vec();
                self.pad(&text);
            }
            'x' => self.hex(text, &LOWER),
            'X' => self.hex(text, &UPPER),
            'q' => self.quoted(text),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], verb: char, value: &Value, depth: u32) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v => {
                // Only an argument itself has the short name of the type.
                self.out.extend_from_slice(if depth == 0 { b"[]byte" } else { b"[]uint8" });
                self.out.push(b'{');
                for (index, byte) in bytes.iter().enumerate() {
                    self.separate(index);
                    self.hex_number(u64::from(*byte), true);
                }
                self.out.push(b'}');
            }
            's' | 'x' | 'X' | 'q' => return self.string(bytes, verb, value),
            _ => {
                self.out.push(b'[');
                for (index, byte) in bytes.iter().enumerate() {
                    self.separate(index);
                    self.integer(u64::from(*byte), false, verb, &Value::byte(*byte))?;
                    self.check()?;
                }
                self.out.push(b']');
            }
        }
        Ok(())
    }

    fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text).to_vec();
        if self.flags.sharp && can_backquote(&text) {
            let mut quoted = vec![b'`'];
            quoted.extend_from_slice(&text);
            quoted.push(b'`');
            self.pad(&quoted);
            return;
        }
        let escape = if self.flags.plus { Escape::NonAscii } else { Escape::NonPrintable };
        let quoted = quote_with(&text, b'"', escape);
        self.pad(&quoted);
    }

    fn hex(&mut self, text: &[u8], digits: &[u8; 17]) {
        let text = text.get(..self.flags.precision.unwrap_or(text.len())).unwrap_or(text);
        let mut out = Vec::with_capacity(text.len() * 2);
        for (index, byte) in text.iter().enumerate() {
            if index > 0 && self.flags.space {
                out.push(b' ');
            }
            if self.flags.sharp && (index == 0 || self.flags.space) {
                out.extend([b'0', digits[16]]);
            }
            out.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
        self.pad(&out);
    }

    fn integer(&mut self, number: u64, is_signed: bool, verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v && !is_signed => self.hex_number(number, true),
            'v' | 'd' => self.base(number, 10, is_signed, verb, &LOWER),
            'b' => self.base(number, 2, is_signed, verb, &LOWER),
            'o' | 'O' => self.base(number, 8, is_signed, verb, &LOWER),
            'x' => self.base(number, 16, is_signed, verb, &LOWER),
            'X' => self.base(number, 16, is_signed, verb, &UPPER),
            'c' => {
                let mut out = Vec::new();
                push_char(&mut out, char_of(number));
                self.pad(&out);
            }
            'q' => {
                let escape = if self.flags.plus { Escape::NonAscii } else { Escape::NonPrintable };
                let mut out = vec![b'\''];
                escape_char(&mut out, char_of(number), b'\'', escape);
                out.push(b'\'');
                self.pad(&out);
            }
            'U' => self.unicode(number),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    fn base(&mut self, number: u64, base: u64, is_signed: bool, verb: char, digits: &[u8; 17]) {
        let is_negative = is_signed && (number as i64) < 0;
        let mut rest = if is_negative { (number as i64).unsigned_abs() } else { number };
        let flags = self.flags;
        let sign = match (is_negative, flags.plus, flags.space) {
            (true, ..) => Some(b'-'),
            (_, true, _) => Some(b'+'),
            (.., true) => Some(b' '),
            _ => None,
        };
        let count = match (flags.precision, flags.width) {
            (Some(0), _) if rest == 0 => {
                let zero = std::mem::replace(&mut self.flags.zero, false);
                self.padding(flags.width.unwrap_or(0));
                self.flags.zero = zero;
                return;
            }
            (Some(precision), _) => precision,
            (None, Some(width)) if flags.zero && !flags.minus => width.saturating_sub(usize::from(sign.is_some())),
            _ => 0,
        };
        // Written from the end.
        let mut out = Vec::new();
        loop {
            out.push(digits[(rest % base) as usize]);
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        while out.len() < count {
            out.push(b'0');
        }
        if flags.sharp {
            match base {
                2 => out.extend(*b"b0"),
                8 if out.last() != Some(&b'0') => out.push(b'0'),
                16 => out.extend([digits[16], b'0']),
                _ => {}
            }
        }
        if verb == 'O' {
            out.extend(*b"o0");
        }
        out.extend(sign);
        out.reverse();
        self.pad_with_blanks(&out);
    }

    fn unicode(&mut self, number: u64) {
        let digits = format!("{number:X}");
        let zeros = self.flags.precision.unwrap_or(0).max(4).saturating_sub(digits.len());
        let mut out = format!("U+{}{digits}", "0".repeat(zeros)).into_bytes();
        if self.flags.sharp
            && let Some(c) = u32::try_from(number).ok().and_then(char::from_u32)
            && is_print(c)
        {
            out.extend_from_slice(format!(" '{c}'").as_bytes());
        }
        self.pad_with_blanks(&out);
    }

    fn float_verb(&mut self, number: f64, verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' => self.float(number, b'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.float(number, verb as u8, None),
            'f' | 'e' | 'E' => self.float(number, verb as u8, Some(6)),
            'F' => self.float(number, b'f', Some(6)),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    fn float(&mut self, number: f64, verb: u8, precision: Option<usize>) {
        let flags = self.flags;
        let precision = flags.precision.or(precision);
        let text = format_float(number, verb, precision);
        let (mut sign, digits) = match text.as_bytes() {
            [sign @ (b'-' | b'+'), digits @ ..] => (*sign, digits.to_vec()),
            digits => (b'+', digits.to_vec()),
        };
        if flags.space && sign == b'+' && !flags.plus {
            sign = b' ';
        }
        let with_sign = |digits: &[u8]| [&[sign], digits].concat();
        if !number.is_finite() {
            let hides_sign = number.is_nan() && !flags.space && !flags.plus;
            let text = if hides_sign { digits } else { with_sign(&digits) };
            self.pad_with_blanks(&text);
            return;
        }
        let digits = if flags.sharp && verb != b'b' { with_point(&digits, verb, precision) } else { digits };
        if !flags.plus && sign == b'+' {
            self.pad(&digits);
        } else if flags.zero && !flags.minus && flags.width.is_some_and(|width| width > digits.len() + 1) {
            self.out.push(sign);
            self.padding(flags.width.unwrap_or(0) - digits.len() - 1);
            self.out.extend_from_slice(&digits);
        } else {
            self.pad(&with_sign(&digits));
        }
    }

    fn format(&mut self, format: &[u8], args: &[Value]) -> Result<(), Limit> {
        let mut state = Format { format, at: 0, args, next: 0, is_reordered: false, is_good: true };
        while let Some(found) = state.rest().iter().position(|byte| *byte == b'%') {
            self.out.extend_from_slice(state.rest().get(..found).unwrap_or_default());
            state.at += found + 1;
            self.directive(&mut state)?;
            self.check()?;
        }
        self.out.extend_from_slice(state.rest());
        if !state.is_reordered && state.next < args.len() {
            self.flags = Flags::default();
            self.out.extend_from_slice(b"%!(EXTRA ");
            for (index, arg) in args.iter().skip(state.next).enumerate() {
                if index > 0 {
                    self.out.extend_from_slice(b", ");
                }
                self.out.extend_from_slice(arg.type_name().as_bytes());
                if !matches!(arg, Value::Nil) {
                    self.out.push(b'=');
                    self.arg(arg, 'v')?;
                }
            }
            self.out.push(b')');
        }
        self.check()
    }

    /// What follows a `%`.
    fn directive(&mut self, state: &mut Format<'_>) -> Result<(), Limit> {
        self.flags = Flags::default();
        state.is_good = true;
        while let Some(byte) = state.peek() {
            match byte {
                b'#' => self.flags.sharp = true,
                b'0' => self.flags.zero = true,
                b'+' => self.flags.plus = true,
                b'-' => self.flags.minus = true,
                b' ' => self.flags.space = true,
                _ => break,
            }
            state.at += 1;
        }
        let mut is_indexed = state.index();
        if state.peek() == Some(b'*') {
            state.at += 1;
            match state.int_arg() {
                Some(width) => {
                    self.flags.width = Some(width.unsigned_abs() as usize);
                    if width < 0 {
                        self.flags.minus = true;
                        self.flags.zero = false;
                    }
                }
                None => self.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            is_indexed = false;
        } else {
            self.flags.width = state.number();
            state.is_good &= !(is_indexed && self.flags.width.is_some());
        }
        if state.peek() == Some(b'.') && state.at + 1 < state.format.len() {
            state.at += 1;
            state.is_good &= !is_indexed;
            is_indexed = state.index();
            if state.peek() == Some(b'*') {
                state.at += 1;
                self.flags.precision = state.int_arg().and_then(|precision| usize::try_from(precision).ok());
                if self.flags.precision.is_none() {
                    self.out.extend_from_slice(b"%!(BADPREC)");
                }
                is_indexed = false;
            } else {
                self.flags.precision = Some(state.number().unwrap_or(0));
            }
        }
        if !is_indexed {
            state.index();
        }
        let Some(rune) = decode(state.rest()) else {
            self.out.extend_from_slice(b"%!(NOVERB)");
            return Ok(());
        };
        state.at += rune.width;
        let verb = rune.char;
        let problem = match (verb, state.args.get(state.next)) {
            ('%', _) => {
                self.out.push(b'%');
                return Ok(());
            }
            _ if !state.is_good => "(BADINDEX)",
            (_, None) => "(MISSING)",
            (_, Some(arg)) => {
                state.next += 1;
                if matches!(verb, 'v' | 'w') {
                    self.flags.sharp_v = std::mem::replace(&mut self.flags.sharp, false);
                    self.flags.plus_v = std::mem::replace(&mut self.flags.plus, false);
                }
                return self.arg(arg, verb);
            }
        };
        self.out.extend_from_slice(b"%!");
        push_char(&mut self.out, verb);
        self.out.extend_from_slice(problem.as_bytes());
        Ok(())
    }
}

/// Where in a format string and among its arguments `printf` stands.
struct Format<'a> {
    format: &'a [u8],
    at: usize,
    args: &'a [Value],
    next: usize,
    is_reordered: bool,
    is_good: bool,
}

impl<'a> Format<'a> {
    fn rest(&self) -> &'a [u8] {
        self.format.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// A decimal number; one that is too long swallows the rest of the format.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if number.is_some_and(|number| number > NUMBER_MAX) {
                self.at = self.format.len();
                return None;
            }
            number = Some(number.unwrap_or(0) * 10 + usize::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// `[3]`, counted from 1; whether one stood here and could be read.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.is_reordered = true;
        let rest = self.rest();
        let end = rest.iter().position(|byte| *byte == b']').filter(|_| rest.len() >= 3);
        let Some(end) = end else {
            self.at += 1;
            self.is_good = false;
            return false;
        };
        let inner = rest.get(1..end).unwrap_or_default();
        self.at += end + 1;
        let mut digits = Format { format: inner, at: 0, args: &[], next: 0, is_reordered: false, is_good: true };
        let number = digits.number().filter(|_| digits.at == inner.len() && !inner.is_empty());
        match number {
            Some(number) if (1..=self.args.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            number => {
                self.is_good = false;
                number.is_some()
            }
        }
    }

    /// The argument of `*`.
    fn int_arg(&mut self) -> Option<i64> {
        let arg = self.args.get(self.next)?;
        self.next += 1;
        let number = match arg {
            Value::Int(_, number) => *number,
            Value::Uint(_, number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (number.unsigned_abs() <= NUMBER_MAX as u64).then_some(number)
    }
}

/// What a value's `String` method returns, if it has one where it is held now.
fn string_method(value: &Value) -> Option<Text> {
    match value {
        Value::Int(IntType::Duration, nanoseconds) => Some(time::duration_string(*nanoseconds).into()),
        Value::Int(IntType::Month, month) => Some(time::month_string(*month).into()),
        Value::Int(IntType::Weekday, day) => Some(time::weekday_string(*day).into()),
        Value::Time(time) => Some(time.to_string().into()),
        Value::Struct(value) => {
            let stringer = value.ty().string?;
            (!stringer.on_pointer || value.ty().pointer.is_some()).then(|| (stringer.run)(value))
        }
        _ => None,
    }
}

fn char_of(number: u64) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether a text can stand between back quotes: one line, all of it printable.
pub(super) fn can_backquote(text: &[u8]) -> bool {
    runes(text).all(|(_, rune)| {
        !rune.wrong
            && match rune.char {
                '\u{feff}' | '`' | '\u{7f}' => false,
                '\t' => true,
                c => c >= ' ',
            }
    })
}

/// `%#g` and the like: a decimal point always, and the zeros that make up the precision.
fn with_point(digits: &[u8], verb: u8, precision: Option<usize>) -> Vec<u8> {
    let mut missing = match verb {
        b'g' | b'G' | b'x' => precision.map_or(6, |precision| precision as i64),
        _ => 0,
    };
    let is_tail = |byte: &u8| match byte {
        b'p' | b'P' => true,
        b'e' | b'E' => !matches!(verb, b'x' | b'X'),
        _ => false,
    };
    let at = digits.iter().position(is_tail).unwrap_or(digits.len());
    let (number, tail) = digits.split_at(at);
    let mut out = number.to_vec();
    missing -= number.iter().filter(|byte| **byte != b'.').skip_while(|byte| **byte == b'0').count() as i64;
    if !number.contains(&b'.') {
        if number == b"0" {
            missing -= 1;
        }
        out.push(b'.');
    }
    out.extend((0..missing.max(0)).map(|_| b'0'));
    out.extend_from_slice(tail);
    out
}
