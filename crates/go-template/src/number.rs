//! Constants in templates.

use go_std::strconv::{Unit, parse_float, parse_int, parse_uint, quote_bytes, unquote_char};

use super::lex::Kind;
use super::node::Number;
use super::text::to_str;

/// A number or character constant of a template, without its place; the error is the message.
pub(super) fn constant(kind: Kind, text: &[u8]) -> Result<Number, String> {
    let number = |int, float| Number { at: 0, text: "".into(), int, float };
    let quoted = || to_str(&quote_bytes(text)).into_owned();
    if kind == Kind::CharConstant {
        let inner = text.get(1..).unwrap_or_default();
        let (unit, tail) = unquote_char(inner, b'\'').ok_or("invalid syntax")?;
        if tail != b"'" {
            return Err(format!("malformed character constant: {}", to_str(text)));
        }
        let code = match unit {
            Unit::Byte(byte) => u32::from(byte),
            Unit::Char(c) => c as u32,
        };
        return Ok(number(Some(code.into()), Some(code.into())));
    }
    if kind == Kind::Complex || text.ends_with(b"i") {
        return Err(format!("complex number {} is not supported", to_str(text)));
    }
    let uint = parse_uint(text).ok();
    let int = parse_int(text).ok();
    let whole = int.map(|int| int as f64).or(uint.map(|uint| uint as f64));
    if whole.is_some() {
        return Ok(number(int, whole));
    }
    let float = parse_float(text).map_err(|_| format!("illegal number syntax: {}", quoted()))?;
    if !text.iter().any(|byte| b".eEpP".contains(byte)) {
        return Err(format!("integer overflow: {}", quoted()));
    }
    // What is written as a float may still be passed where an integer is wanted, when it is one.
    let is_int = float.fract() == 0.0 && (-9223372036854775808.0..9223372036854775808.0).contains(&float);
    Ok(number(is_int.then_some(float as i64), Some(float)))
}
