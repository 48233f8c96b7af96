//! Go's own: logic, comparison, indexing, printing and escaping.

use std::rc::Rc;

use go_std::unicode::is_print;
use go_std::url::{Part, escape};

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Form, Function, Functions, Int, Rest};
use super::super::operand::Operand;
use super::super::print::{sprint, sprintf, sprintln};
use super::super::structure::Struct;
use super::super::text::{Text, decode};
use super::super::value::{Element, Kind, Value};
use super::common::charge_printed;

pub(super) fn add(table: &mut Functions) {
    let nothing = |_: Operand, _: Rest<Operand>| Operand::Invalid;
    table
        .insert(Function::new("and", nothing).with_form(Form::And))
        .insert(Function::new("or", nothing).with_form(Form::Or))
        .insert(Function::new("call", nothing).with_form(Form::Call))
        .add("not", |value: Operand| !value.is_true())
        .add("eq", eq)
        .add("ne", |one: Operand, two: Operand| equal(&one, &two).map(|is_equal| !is_equal))
        .add("lt", |one: Operand, two: Operand| less(&one, &two))
        .add("le", |one: Operand, two: Operand| less_or_equal(&one, &two))
        .add("gt", |one: Operand, two: Operand| less_or_equal(&one, &two).map(|is_less| !is_less))
        .add("ge", |one: Operand, two: Operand| less(&one, &two).map(|is_less| !is_less))
        .add("len", len)
        .add("index", index)
        .add("print", |call: &mut Call<'_>, args: Rest<Value>| {
            let text = sprint(&args.0, call.bytes_left())?;
            charged(call, text)
        })
        .add("println", |call: &mut Call<'_>, args: Rest<Value>| {
            let text = sprintln(&args.0, call.bytes_left())?;
            charged(call, text)
        })
        .add("printf", |call: &mut Call<'_>, format: Text, args: Rest<Value>| {
            let text = sprintf(&format, &args.0, call.bytes_left())?;
            charged(call, text)
        })
        .add("html", |call: &mut Call<'_>, args: Rest<Value>| text_of(call, args.0).map(|text| html(&text)))
        .add("js", |call: &mut Call<'_>, args: Rest<Value>| text_of(call, args.0).map(|text| js(&text)))
        .add("urlquery", |call: &mut Call<'_>, args: Rest<Value>| {
            text_of(call, args.0).map(|text| Text::from(escape(&text, Part::Query)))
        });
}

/// What was printed, once it is paid for.
fn charged(call: &mut Call<'_>, text: Vec<u8>) -> Result<Text, Failure> {
    charge_printed(call, text.len())?;
    Ok(Text::from(text))
}

/// The classes of values that compare with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Basic<'v> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    String(&'v Text),
    Other,
}

fn basic(value: Option<&Value>) -> Basic<'_> {
    match value {
        Some(Value::Bool(value)) => Basic::Bool(*value),
        Some(Value::Int(_, value)) => Basic::Int(*value),
        Some(Value::Uint(_, value)) => Basic::Uint(*value),
        Some(Value::Float(value)) => Basic::Float(*value),
        Some(Value::String(text)) => Basic::String(text),
        None
        | Some(Value::Nil | Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Time(_) | Value::Struct(_)) => {
            Basic::Other
        }
    }
}

fn eq(one: Operand, others: Rest<Operand>) -> Result<bool, Failure> {
    if others.0.is_empty() {
        return Err(Failure::message("missing argument for comparison"));
    }
    for other in &others.0 {
        if equal(&one, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn incompatible(one: &Value, two: &Value) -> Failure {
    Failure::message(format!("incompatible types for comparison: {} and {}", one.type_name(), two.type_name()))
}

fn equal(one: &Operand, two: &Operand) -> Result<bool, Failure> {
    let (one, two) = (one.value(), two.value());
    Ok(match (basic(one), basic(two)) {
        (Basic::Bool(one), Basic::Bool(two)) => one == two,
        (Basic::Int(one), Basic::Int(two)) => one == two,
        (Basic::Uint(one), Basic::Uint(two)) => one == two,
        (Basic::Float(one), Basic::Float(two)) => one == two,
        (Basic::String(one), Basic::String(two)) => one == two,
        (Basic::Int(int), Basic::Uint(uint)) | (Basic::Uint(uint), Basic::Int(int)) => u64::try_from(int) == Ok(uint),
        (Basic::Other, Basic::Other) => return equal_others(one, two),
        _ => match (one, two) {
            (Some(one), Some(two)) => return Err(incompatible(one, two)),
            _ => false,
        },
    })
}

fn equal_others(one: Option<&Value>, two: Option<&Value>) -> Result<bool, Failure> {
    let is_nil = |value: Option<&Value>| value.is_none_or(Value::is_nil);
    let (Some(first), Some(second)) = (one, two) else { return Ok(is_nil(one) && is_nil(two)) };
    let message = |format: &str, args: &[Value]| {
        let text = sprintf(format.as_bytes(), args, 1 << 20).unwrap_or_else(|limit| limit.to_string().into_bytes());
        Failure::message(super::super::text::to_str(&text))
    };
    if first.kind() != second.kind() {
        let args = [first.clone(), first.type_name().into(), second.type_name().into(), second.clone()];
        return Err(message("non-comparable types %s: %v, %s: %v", &args));
    }
    if first.is_nil() || second.is_nil() {
        return Ok(first.is_nil() && second.is_nil());
    }
    match (first, second) {
        (Value::Time(one), Value::Time(two)) => Ok(one.is_same(two)),
        (Value::Struct(one), Value::Struct(two)) if second.kind() == Kind::Pointer => Ok(is_same_pointer(one, two)),
        (Value::Struct(one), Value::Struct(two)) => {
            if one.type_name() != two.type_name() {
                return Ok(false);
            }
            for ((_, one), (_, two)) in one.fields().zip(two.fields()) {
                if !equal(&one.into(), &two.into())? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Err(message("non-comparable type %s: %v", &[second.clone(), second.type_name().into()])),
    }
}

/// Whether two pointers lead to one place.
fn is_same_pointer(one: &Rc<Struct>, two: &Rc<Struct>) -> bool {
    Rc::ptr_eq(one, two) || one.ty().is_same.is_some_and(|is_same| is_same(one, two))
}

fn less(one: &Operand, two: &Operand) -> Result<bool, Failure> {
    let (one, two) = (one.value(), two.value());
    Ok(match (basic(one), basic(two)) {
        (Basic::Other, _) | (_, Basic::Other) | (Basic::Bool(_), Basic::Bool(_)) => {
            return Err(Failure::message("invalid type for comparison"));
        }
        (Basic::Int(one), Basic::Int(two)) => one < two,
        (Basic::Uint(one), Basic::Uint(two)) => one < two,
        (Basic::Float(one), Basic::Float(two)) => one < two,
        (Basic::String(one), Basic::String(two)) => one < two,
        (Basic::Int(one), Basic::Uint(two)) => u64::try_from(one).is_ok_and(|one| one < two) || one < 0,
        (Basic::Uint(one), Basic::Int(two)) => u64::try_from(two).is_ok_and(|two| one < two),
        _ => match (one, two) {
            (Some(one), Some(two)) => return Err(incompatible(one, two)),
            _ => false,
        },
    })
}

fn less_or_equal(one: &Operand, two: &Operand) -> Result<bool, Failure> {
    Ok(less(one, two)? || equal(one, two)?)
}

fn len(item: Operand) -> Result<Int, Failure> {
    let length = match &item {
        Operand::Invalid => return Err(Failure::message("reflect: call of reflect.Value.Type on zero Value")),
        Operand::Interface(Value::Nil) | Operand::Held(_, Value::Nil) => {
            return Err(Failure::message("len of nil pointer"));
        }
        Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
            match value {
                Value::String(text) => text.len(),
                Value::Bytes(bytes) => bytes.len(),
                Value::List(list) => list.len(),
                Value::Map(map) => map.len(),
                Value::Nil
                | Value::Bool(_)
                | Value::Int(..)
                | Value::Uint(..)
                | Value::Float(_)
                | Value::Time(_)
                | Value::Struct(_) => {
                    let name = value.type_name();
                    return Err(Failure::message(format!("len of type {}", name.strip_prefix('*').unwrap_or(name))));
                }
            }
        }
    };
    Ok(Int(length as i64))
}

fn index(item: Operand, indexes: Rest<Operand>) -> Result<Operand, Failure> {
    if item.value().is_none() {
        return Err(Failure::message("index of untyped nil"));
    }
    let mut item = item;
    for index in &indexes.0 {
        let Some(value) = item.value() else { return Err(Failure::message("index of nil pointer")) };
        item = match value {
            Value::String(text) => byte_at(text, position(index, text.len())?, "string")?,
            Value::Bytes(bytes) => byte_at(bytes, position(index, bytes.len())?, "slice")?,
            Value::List(list) => {
                let at = position(index, list.len())?;
                let found = list.get(at).cloned().ok_or_else(|| out_of_range("slice"))?;
                of(list.ty().element, found)
            }
            Value::Map(map) => {
                let key = match index.value() {
                    None => return Err(Failure::message("value is nil; should be of type string")),
                    Some(Value::String(key)) => key,
                    Some(other) => {
                        let message = format!("value has type {}; should be string", other.type_name());
                        return Err(Failure::message(message));
                    }
                };
                let element = map.ty().element;
                of(element, map.get(key).unwrap_or_else(|| element.zero()))
            }
            Value::Nil
            | Value::Bool(_)
            | Value::Int(..)
            | Value::Uint(..)
            | Value::Float(_)
            | Value::Time(_)
            | Value::Struct(_) => {
                let name = value.type_name();
                let name = name.strip_prefix('*').unwrap_or(name);
                return Err(Failure::message(format!("can't index item of type {name}")));
            }
        };
    }
    Ok(item)
}

fn of(element: Element, value: Value) -> Operand {
    if element == Element::Any { Operand::Interface(value) } else { Operand::Concrete(value) }
}

fn out_of_range(what: &str) -> Failure {
    Failure::message(format!("reflect: {what} index out of range"))
}

fn byte_at(bytes: &[u8], at: usize, what: &str) -> Result<Operand, Failure> {
    let byte = bytes.get(at).ok_or_else(|| out_of_range(what))?;
    Ok(Operand::Concrete(Value::byte(*byte)))
}

/// An index, which may be the length: that is found out later, with another message.
fn position(index: &Operand, length: usize) -> Result<usize, Failure> {
    let number = match index.value() {
        None => return Err(Failure::message("cannot index slice/array with nil")),
        Some(Value::Int(_, number)) => *number,
        Some(Value::Uint(_, number)) => *number as i64,
        Some(other) => {
            return Err(Failure::message(format!("cannot index slice/array with type {}", other.type_name())));
        }
    };
    match usize::try_from(number) {
        Ok(at) if at <= length => Ok(at),
        _ => Err(Failure::message(format!("index out of range: {number}"))),
    }
}

/// The operands as one text, nil as an action prints it.
fn text_of(call: &mut Call<'_>, args: Vec<Value>) -> Result<Text, Failure> {
    if let [Value::String(text)] = args.as_slice() {
        return Ok(text.clone());
    }
    let shown = |value| if matches!(value, Value::Nil) { Value::from("<no value>") } else { value };
    let args: Vec<Value> = args.into_iter().map(shown).collect();
    let text = sprint(&args, call.bytes_left())?;
    call.charge_bytes(text.len())?;
    charge_printed(call, text.len().saturating_mul(2))?;
    // An escape may take six bytes for one.
    call.reserve(text.len().saturating_mul(6))?;
    Ok(text.into())
}

fn html(text: &[u8]) -> Text {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
    out.into()
}

fn js(text: &[u8]) -> Text {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let (Some(byte), Some(rune)) = (rest.first(), decode(rest)) {
        let (whole, after) = rest.split_at(rune.width);
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\'' => out.extend_from_slice(b"\\'"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'<' => out.extend_from_slice(b"\\u003C"),
            b'>' => out.extend_from_slice(b"\\u003E"),
            b'&' => out.extend_from_slice(b"\\u0026"),
            b'=' => out.extend_from_slice(b"\\u003D"),
            0..b' ' => out.extend_from_slice(format!("\\u00{byte:02X}").as_bytes()),
            _ if byte.is_ascii() || is_print(rune.char) => out.extend_from_slice(whole),
            _ => out.extend_from_slice(format!("\\u{:04X}", rune.char as u32).as_bytes()),
        }
        rest = after;
    }
    out.into()
}
