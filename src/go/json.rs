//! Go's `encoding/json`, as far as it is about text alone.

use super::strconv::format_float;

/// A float as Go writes it: `1000000`, `1e+21`, `1e-7`. None for an infinity or NaN.
///
/// Reference: Go 1.26 encoding/json/encode.go `floatEncoder`.
pub fn format_number(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 || (1e-6..1e21).contains(&value.abs()) {
        return Some(format_float(value, b'f', None));
    }
    // As ES6 has it: `e-09` is `e-9`.
    Some(format_float(value, b'e', None).replace("e-0", "e-"))
}
