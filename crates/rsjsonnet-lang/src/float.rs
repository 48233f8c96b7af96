use std::fmt::Write as _;

/// A number as text: `%.0f` of an integer, else `%.17g`.
pub(crate) fn push_text(x: f64, text: &mut String) {
    if x.is_infinite() {
        text.push_str(if x > 0.0 { "+Inf" } else { "-Inf" });
        return;
    }
    if x == x.floor() {
        write!(text, "{x:.0}").unwrap();
        return;
    }
    let scientific = format!("{x:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if exponent < -4 {
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        write!(text, "{mantissa}e-{:02}", -exponent).unwrap();
    } else {
        // What has a fraction is below 2^53, so it has fewer than 17 digits before the point.
        let decimals = usize::try_from(16 - exponent).unwrap_or(0);
        text.push_str(format!("{x:.decimals$}").trim_end_matches('0'));
    }
}

/// The fewest digits that read back to the same number. Half-way between two such texts it is the even one, as in Go; Rust's
/// own takes the larger.
pub(crate) fn push_shortest(x: f64, text: &mut String) {
    let scientific = format!("{x:e}");
    let decimals = match scientific.split_once('e') {
        Some((mantissa, exponent)) => {
            let digits = mantissa.bytes().filter(u8::is_ascii_digit).count() as i64;
            digits - 1 - exponent.parse::<i64>().unwrap()
        }
        None => 0,
    };
    match usize::try_from(decimals) {
        // To a number of digits that it is given, Rust rounds half to even.
        Ok(decimals) if decimals > 0 => write!(text, "{x:.decimals$}").unwrap(),
        _ => write!(text, "{x}").unwrap(),
    }
}

pub(crate) fn try_to_u8_exact(x: f64) -> Option<u8> {
    let x_int = x as u8;
    if x_int as f64 == x { Some(x_int) } else { None }
}

pub(crate) fn try_to_i32_exact(x: f64) -> Option<i32> {
    let x_int = x as i32;
    if x_int as f64 == x { Some(x_int) } else { None }
}

pub(crate) fn try_to_usize(x: f64) -> Option<usize> {
    let x = x.trunc();
    let x_int = x as usize;
    if x_int as f64 == x { Some(x_int) } else { None }
}

/// x * 2^exponent, rounded once.
fn ldexp(x: f64, exponent: i64) -> f64 {
    const STEP: i64 = 60;
    let power_of_2 = |exponent: i64| f64::from_bits(((exponent + 0x3FF) as u64) << 52);
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (fraction, own) = frexp(x);
    let exponent = exponent + i64::from(own) - 1;
    let fraction = fraction * 2.0;
    match exponent {
        1024.. => f64::INFINITY.copysign(x),
        -1022..1024 => fraction * power_of_2(exponent),
        -1080..-1022 => fraction * power_of_2(exponent + STEP) * power_of_2(-STEP),
        _ => 0f64.copysign(x),
    }
}

/// The natural logarithm as Go's `math.Log` computes it on x86: that of FreeBSD's `e_log.c`, but for subnormal numbers, of
/// which it takes the bits as they are.
pub(crate) fn log(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY || x <= 0.0 {
        return x.ln();
    }
    let (mut fraction, exponent) = if x.is_subnormal() {
        (f64::from_bits(x.to_bits() | (0x3FE << 52)), -0x3FE)
    } else {
        frexp(x)
    };
    let mut k = f64::from(exponent);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        k -= 1.0;
    }
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2
        * (6.666666666666735130e-01
            + s4 * (2.857142874366239149e-01
                + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
    let even = s4
        * (3.999999999940941908e-01
            + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
    let half_square = 0.5 * f * f;
    let (high, low) = (6.93147180369123816490e-01, 1.90821492927058770002e-10);
    k * high - ((half_square - (s * (half_square + odd + even) + k * low)) - f)
}

/// A power as Go's `math.Pow` computes it: by squaring, for the integer part of the exponent.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    let is_plain = x != 0.0 && x.is_finite() && y.is_finite() && y.abs() < 2f64.powi(63);
    if !is_plain || x == 1.0 || y == 0.0 || y == 1.0 {
        return x.powf(y);
    }
    if y == 0.5 {
        return x.sqrt();
    }
    if y == -0.5 {
        return 1.0 / x.sqrt();
    }
    let (mut whole, mut part) = (y.abs().trunc(), y.abs().fract());
    if part != 0.0 && x < 0.0 {
        return f64::NAN;
    }
    let mut result = 1.0;
    if part != 0.0 {
        if part > 0.5 {
            part -= 1.0;
            whole += 1.0;
        }
        result = (part * log(x)).exp();
    }
    let mut exponent = 0i64;
    let (mut square, square_exponent) = frexp(x);
    let mut square_exponent = i64::from(square_exponent);
    let mut bits = whole as i64;
    while bits != 0 {
        if square_exponent.abs() > 1 << 12 {
            // Far out of range already.
            exponent += square_exponent;
            break;
        }
        if bits & 1 == 1 {
            result *= square;
            exponent += square_exponent;
        }
        square *= square;
        square_exponent <<= 1;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        bits >>= 1;
    }
    if y < 0.0 {
        result = 1.0 / result;
        exponent = -exponent;
    }
    ldexp(result, exponent)
}

pub(crate) fn frexp(x: f64) -> (f64, i16) {
    let (norm, edelta) = if x.is_subnormal() {
        let scale = f64::from_bits((52 + 0x3FF) << 52); // 2^52
        (x * scale, -52)
    } else {
        (x, 0)
    };
    let raw = norm.to_bits();
    let raw_exp = (raw >> 52) & 0x7FF;
    if raw_exp == 0 {
        let mant = f64::from_bits(raw & !0x7FFF_FFFF_FFFF_FFFF);
        let exp = 0;
        (mant, exp)
    } else {
        let mant = f64::from_bits((raw & !(0x7FF << 52)) | (0x3FE << 52));
        let exp = raw_exp as i16 - 0x3FE + edelta;
        (mant, exp)
    }
}

#[cfg(test)]
mod tests {
    use super::{frexp, push_shortest, push_text};

    #[test]
    fn test_push_text() {
        for (number, expected) in [
            (0.3, "0.29999999999999999"),
            (-0.0, "-0"),
            (1e23, "99999999999999991611392"),
            (1e-7, "9.9999999999999995e-08"),
            (5e-324, "4.9406564584124654e-324"),
            (0.0001, "0.0001"),
            (123456.5, "123456.5"),
        ] {
            let mut text = String::new();
            push_text(number, &mut text);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn test_push_shortest() {
        for (number, expected) in [
            (0.3, "0.3"),
            (-0.0, "-0"),
            (1e23, "100000000000000000000000"),
            (1e-7, "0.0000001"),
            (-123456.5, "-123456.5"),
            (1777717614219496.25, "1777717614219496.2"),
            (1777717614219496.75, "1777717614219496.8"),
            (562949953421312.125, "562949953421312.1"),
        ] {
            let mut text = String::new();
            push_shortest(number, &mut text);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn test_frexp() {
        assert_eq!(frexp(0.0), (0.0, 0));
        assert_eq!(frexp(0.09375), (0.75, -3));
        assert_eq!(frexp(-0.09375), (-0.75, -3));
        assert_eq!(frexp(0.25), (0.5, -1));
        assert_eq!(frexp(-0.25), (-0.5, -1));
        assert_eq!(frexp(0.5), (0.5, 0));
        assert_eq!(frexp(-0.5), (-0.5, 0));
        assert_eq!(frexp(1.0), (0.5, 1));
        assert_eq!(frexp(-1.0), (-0.5, 1));
        assert_eq!(frexp(20.0), (0.625, 5));
        assert_eq!(frexp(-20.0), (-0.625, 5));

        // Subnormal numbers
        assert_eq!(frexp(f64::from_bits(0b01)), (0.5, -1073));
        assert_eq!(frexp(-f64::from_bits(0b01)), (-0.5, -1073));
        assert_eq!(frexp(f64::from_bits(0b10)), (0.5, -1072));
        assert_eq!(frexp(-f64::from_bits(0b10)), (-0.5, -1072));
        assert_eq!(frexp(f64::from_bits(0b11)), (0.75, -1072));
        assert_eq!(frexp(-f64::from_bits(0b11)), (-0.75, -1072));
    }
}
