//! Floats as text.

/// Digits and where the decimal point is among them: `0.d1d2d3… · 10^point`. Zero is the digit 0 and the point behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// ASCII, at least one; neither the first nor the last is a zero but for zero itself.
    pub digits: Vec<u8>,
    /// How many of the digits come before the point.
    pub point: i32,
}

impl Decimal {
    /// The fewest digits that read back to the same magnitude; of several such, the closest. `value` must be finite.
    ///
    /// `ryu` breaks ties as Go does; the standard library does not.
    pub fn shortest(value: f64) -> Self {
        if value == 0.0 {
            return Self { digits: vec![b'0'], point: 1 };
        }
        decimal_of(ryu::Buffer::new().format_finite(value.abs()))
    }
}

/// `FormatFloat(value, 'g', -1, 64)`, which `%v` and go-yaml write: `0.5`, `100000`, `1e+06`, `1.2345675e+06`, `1e-05`, `+Inf`.
pub fn format_shortest(value: f64) -> String {
    format_float(value, b'g', None)
}

/// `FormatFloat(float64(value), 'g', -1, 32)`
pub fn format_shortest_32(value: f32) -> String {
    if !value.is_finite() || value == 0.0 {
        return format_shortest(f64::from(value));
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let decimal = decimal_of(ryu::Buffer::new().format_finite(value.abs()));
    let digits = decimal.digits.len();
    format!("{sign}{}", in_general(&decimal, b'g', 6, digits))
}

/// Formats as `verb` (`e E f g G b x X`) says; without a precision as short as reads back to the same number.
pub fn format_float(value: f64, verb: u8, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return if sign.is_empty() { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let text = match verb {
        b'b' => binary(magnitude),
        b'x' => hexadecimal(magnitude, precision),
        b'X' => hexadecimal(magnitude, precision).to_ascii_uppercase(),
        b'f' => match precision {
            Some(precision) => fixed(magnitude, precision),
            None => plain(&Decimal::shortest(magnitude)),
        },
        b'e' | b'E' => match precision {
            Some(precision) => exponential(&rounded(magnitude, precision + 1), precision, verb),
            None => {
                let decimal = Decimal::shortest(magnitude);
                exponential(&decimal, decimal.digits.len().saturating_sub(1), verb)
            }
        },
        _ => general(magnitude, verb, precision),
    };
    format!("{sign}{text}")
}

fn general(magnitude: f64, verb: u8, precision: Option<usize>) -> String {
    let (decimal, threshold, places) = match precision {
        None => {
            let decimal = Decimal::shortest(magnitude);
            let places = decimal.digits.len();
            // 21 is for `%e` against `%f` where no precision is set: an integer of six digits stays plain.
            (decimal, 6, places)
        }
        Some(precision) => {
            let precision = precision.max(1);
            let decimal = rounded(magnitude, precision);
            let count = decimal.digits.len();
            let is_whole = precision > count && count as i32 >= decimal.point;
            let threshold = if is_whole { count } else { precision };
            (decimal, threshold, precision.min(count))
        }
    };
    in_general(&decimal, verb, threshold, places)
}

/// With an exponent where it is below -4 or reaches the threshold.
fn in_general(decimal: &Decimal, verb: u8, threshold: usize, places: usize) -> String {
    let exponent = decimal.point - 1;
    if exponent < -4 || exponent >= threshold as i32 {
        let verb = if verb == b'G' { b'E' } else { b'e' };
        exponential(decimal, places.saturating_sub(1), verb)
    } else {
        plain(decimal)
    }
}

/// `count` significant digits, trailing zeros cut off.
fn rounded(magnitude: f64, count: usize) -> Decimal {
    if magnitude == 0.0 {
        return Decimal { digits: vec![b'0'], point: 1 };
    }
    decimal_of(&format!("{magnitude:.places$e}", places = (count - 1).min(PLACES_MAX)))
}

/// More places than any number has digits; `format!` takes no large ones.
const PLACES_MAX: usize = 1100;

fn fixed(magnitude: f64, places: usize) -> String {
    let mut out = format!("{magnitude:.shown$}", shown = places.min(PLACES_MAX));
    out.extend(std::iter::repeat_n('0', places.saturating_sub(PLACES_MAX)));
    out
}

/// Reads `12.5`, `1.25e1` and the like; never zero.
fn decimal_of(text: &str) -> Decimal {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..leading);
    let trailing = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    digits.truncate(digits.len() - trailing);
    Decimal { digits, point: whole.len() as i32 - leading as i32 + exponent }
}

/// `d.ddde±dd` with `places` digits behind the point.
fn exponential(decimal: &Decimal, places: usize, verb: u8) -> String {
    let mut digits = decimal.digits.iter().map(|digit| char::from(*digit)).chain(std::iter::repeat('0'));
    let mut out = String::new();
    out.extend(digits.next());
    if places > 0 {
        out.push('.');
        out.extend(digits.take(places));
    }
    let exponent = if decimal.digits == b"0" { 0 } else { decimal.point - 1 };
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(&format!("{}{sign}{:02}", char::from(verb), exponent.unsigned_abs()));
    out
}

/// All digits, with as many places as they need.
fn plain(decimal: &Decimal) -> String {
    let point = decimal.point;
    let digit = |index: i32| {
        usize::try_from(index).ok().and_then(|index| decimal.digits.get(index)).map_or('0', |digit| char::from(*digit))
    };
    let mut out: String = (0..point.max(0)).map(digit).collect();
    if out.is_empty() {
        out.push('0');
    }
    let end = decimal.digits.len() as i32;
    if end > point {
        out.push('.');
        out.extend((point..end).map(digit));
    }
    out
}

/// Mantissa and exponent as they are stored, denormals included.
fn parts(magnitude: f64) -> (u64, i32) {
    let bits = magnitude.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 & 0x7ff {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

/// `mantissap±exponent`
fn binary(magnitude: f64) -> String {
    let (mantissa, exponent) = parts(magnitude);
    format!("{mantissa}p{exponent:+}")
}

/// `0x1.hhhp±dd`
fn hexadecimal(magnitude: f64, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(magnitude);
    // One bit, the leading one, before 60 bits of fraction.
    let shift = mantissa.leading_zeros() as i32 - 3;
    if mantissa == 0 {
        exponent = 0;
    } else {
        mantissa <<= shift;
        exponent += 60 - shift;
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let drop = 60 - 4 * precision as u32;
        let rest = mantissa & ((1 << drop) - 1);
        let half = 1u64 << (drop - 1);
        mantissa >>= drop;
        mantissa += u64::from(rest > half || rest == half && mantissa & 1 == 1);
        mantissa <<= drop;
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let fraction = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(precision) => fraction.chars().chain(std::iter::repeat('0')).take(precision).collect(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("0x{}{point}{fraction}p{sign}{:02}", mantissa >> 60, exponent.unsigned_abs())
}
