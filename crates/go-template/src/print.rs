//! Go's `fmt`: printing values, and `printf` with all its verbs, flags and complaints.

mod format;
mod number;
mod text;

use super::error::Limit;
use super::limits::VALUE_DEPTH_MAX;
use super::structure::Struct;
use super::text::{Text, push_char};
use super::time;
use super::value::{IntType, Value};

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

/// What is between `%` and the verb.
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

/// Widths and precisions above this are not numbers to Go.
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
                let fields = super::time::fields(time);
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
            self.value(&value, verb, depth + 1)?;
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
