//! Arithmetic. Integer functions convert each operand to `int64`; those for floats compute with exact decimals.

use std::cmp::Ordering;

use go_std::strconv;
use num_bigint::{BigInt, Sign};

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Functions, Int, Rest};
use super::super::text::Text;
use super::super::value::Value;
use super::common::{float_of, int_of, printed};

pub(super) fn add(table: &mut Functions) {
    table
        .add("atoi", |text: Text| Int(strconv::atoi_clamped(&text)))
        .add("int", |value: Value| Int(int_of(&value)))
        .add("int64", |value: Value| int_of(&value))
        .add("float64", |value: Value| float_of(&value))
        .add("toDecimal", |call: &mut Call<'_>, value: Value| Ok::<_, Failure>(octal(&printed(call, &value)?)))
        .add("add1", |value: Value| int_of(&value).wrapping_add(1))
        .add("add", |values: Rest<Value>| values.0.iter().fold(0i64, |sum, value| sum.wrapping_add(int_of(value))))
        .add("sub", |one: Value, two: Value| int_of(&one).wrapping_sub(int_of(&two)))
        .add("mul", |first: Value, rest: Rest<Value>| {
            rest.0.iter().fold(int_of(&first), |product, value| product.wrapping_mul(int_of(value)))
        })
        .add("div", |one: Value, two: Value| divisor(&two).map(|divisor| int_of(&one).wrapping_div(divisor)))
        .add("mod", |one: Value, two: Value| divisor(&two).map(|divisor| int_of(&one).wrapping_rem(divisor)))
        .add("min", |first: Value, rest: Rest<Value>| {
            rest.0.iter().map(int_of).fold(int_of(&first), |least, value| least.min(value))
        })
        .add("floor", |value: Value| float_of(&value).floor())
        .add("ceil", |value: Value| float_of(&value).ceil())
        .add("round", round)
        .add("maxf", |first: Value, rest: Rest<Value>| {
            rest.0.iter().map(float_of).fold(float_of(&first), |one, two| extreme(one, two, Ordering::Greater))
        })
        .add("minf", |first: Value, rest: Rest<Value>| {
            rest.0.iter().map(float_of).fold(float_of(&first), |one, two| extreme(one, two, Ordering::Less))
        })
        .add("add1f", |call: &mut Call<'_>, value: Value| decimals(call, &value, &[Value::int(1)], Decimal::plus))
        .add("addf", |call: &mut Call<'_>, values: Rest<Value>| {
            decimals(call, &Value::Float(0.0), &values.0, Decimal::plus)
        })
        .add("subf", |call: &mut Call<'_>, first: Value, rest: Rest<Value>| {
            decimals(call, &first, &rest.0, |one, two| one.plus(&Decimal { value: -&two.value, ..two.clone() }))
        })
        .add("mulf", |call: &mut Call<'_>, first: Value, rest: Rest<Value>| {
            decimals(call, &first, &rest.0, Decimal::times)
        })
        .add("divf", |call: &mut Call<'_>, first: Value, rest: Rest<Value>| {
            decimals(call, &first, &rest.0, Decimal::over)
        });
    for name in ["max", "biggest"] {
        table.add(name, |first: Value, rest: Rest<Value>| {
            rest.0.iter().map(int_of).fold(int_of(&first), |most, value| most.max(value))
        });
    }
}

fn divisor(value: &Value) -> Result<i64, Failure> {
    match int_of(value) {
        0 => Err(Failure::message("runtime error: integer divide by zero")),
        divisor => Ok(divisor),
    }
}

/// A signed octal number; 0 for anything else.
fn octal(text: &[u8]) -> i64 {
    let text = super::super::text::to_str(text);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    if digits.starts_with(['-', '+']) {
        return 0;
    }
    i64::from_str_radix(&text, 8).unwrap_or(0)
}

/// Halves go up, at `places` behind the point; `round_on` is where "half" begins.
fn round(value: Value, places: Int, round_on: Rest<f64>) -> f64 {
    let round_on = round_on.0.first().copied().unwrap_or(0.5);
    let power = power_of_ten(places.0);
    let shifted = power * float_of(&value);
    let fraction = if shifted.is_infinite() { f64::NAN } else { shifted.fract() };
    let rounded = if fraction >= round_on { shifted.ceil() } else { shifted.floor() };
    rounded / power
}

fn power_of_ten(exponent: i64) -> f64 {
    let power: f64 = format!("1e{}", exponent.unsigned_abs().min(400)).parse().unwrap_or(f64::INFINITY);
    if exponent < 0 { 1.0 / power } else { power }
}

/// Go's `math.Max` and `math.Min`: NaN wins over all but the infinity that is looked for.
fn extreme(one: f64, two: f64, wanted: Ordering) -> f64 {
    let end = if wanted == Ordering::Greater { f64::INFINITY } else { f64::NEG_INFINITY };
    if one == end || two == end {
        return end;
    }
    if one.is_nan() || two.is_nan() {
        return f64::NAN;
    }
    if one.total_cmp(&two) == wanted { one } else { two }
}

/// `value · 10^exponent`
#[derive(Debug, Clone)]
struct Decimal {
    value: BigInt,
    exponent: i64,
}

/// Places behind the point that a division computes.
const DIVISION_PLACES: i64 = 16;

fn decimals(
    call: &mut Call<'_>,
    first: &Value,
    rest: &[Value],
    step: impl Fn(&Decimal, &Decimal) -> Result<Decimal, Failure>,
) -> Result<f64, Failure> {
    let mut total = Decimal::of(float_of(first))?;
    for value in rest {
        // A product has as many digits as its factors together.
        call.charge(1 + total.value.bits() as usize / 64)?;
        total = step(&total, &Decimal::of(float_of(value))?)?;
    }
    Ok(total.to_float())
}

impl Decimal {
    fn of(value: f64) -> Result<Self, Failure> {
        if !value.is_finite() {
            let shown = go_yaml::format_float(value);
            return Err(Failure::message(format!("Cannot create a Decimal from {shown}")));
        }
        let shortest = strconv::Decimal::shortest(value);
        let digits = BigInt::parse_bytes(&shortest.digits, 10).unwrap_or_default();
        let exponent = i64::from(shortest.point) - shortest.digits.len() as i64;
        Ok(Self { value: if value.is_sign_negative() { -digits } else { digits }, exponent })
    }

    fn scaled_to(&self, exponent: i64) -> BigInt {
        &self.value * ten_to(self.exponent - exponent)
    }

    fn plus(&self, other: &Self) -> Result<Self, Failure> {
        let exponent = self.exponent.min(other.exponent);
        Ok(Self { value: self.scaled_to(exponent) + other.scaled_to(exponent), exponent })
    }

    fn times(&self, other: &Self) -> Result<Self, Failure> {
        Ok(Self { value: &self.value * &other.value, exponent: self.exponent + other.exponent })
    }

    /// To sixteen places, halves away from zero.
    fn over(&self, other: &Self) -> Result<Self, Failure> {
        if other.value.sign() == Sign::NoSign {
            return Err(Failure::message("decimal division by 0"));
        }
        let shift = self.exponent - other.exponent + DIVISION_PLACES;
        let dividend = &self.value * ten_to(shift);
        let divisor = &other.value * ten_to(-shift);
        let quotient = &dividend / &divisor;
        let rest = &dividend - &quotient * &divisor;
        let is_half = (rest.magnitude() * 2u8) >= *divisor.magnitude();
        let away = if dividend.sign() == divisor.sign() { 1 } else { -1 };
        Ok(Self { value: quotient + if is_half { away } else { 0 }, exponent: -DIVISION_PLACES })
    }

    /// The nearest float.
    fn to_float(&self) -> f64 {
        format!("{}e{}", self.value, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

/// A power of ten; 1 for negative exponents.
fn ten_to(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_numbers_are_gos() {
        // Go 1.26: strconv.ParseInt(text, 8, 64), 0 on error
        for (text, expected) in [("0777", 511), ("777", 511), ("-17", -15), ("+17", 15), ("+-1", 0), ("8", 0), ("", 0)]
        {
            assert_eq!(octal(text.as_bytes()), expected, "{text}");
        }
    }
}
