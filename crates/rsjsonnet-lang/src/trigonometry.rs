//! Trigonometry as Go's `math` computes it: the polynomials of the Cephes library.
//!
//! From 2^29 on, Go reduces an angle in another way; there the C library answers.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The value of a polynomial, its coefficients from that of the highest power.
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    coefficients
        .into_iter()
        .reduce(|sum, coefficient| sum * x + coefficient)
        .unwrap()
}

const FAR: f64 = (1u64 << 29) as f64;

/// The eighth of the circle in which an angle lies, an even one, and the angle from there.
fn reduce(x: f64) -> (u64, f64) {
    let mut octant = (x * (4.0 / PI)) as u64;
    octant += octant & 1;
    let y = octant as f64;
    let z = ((x - y * 7.85398125648498535156e-1) - y * 3.77489470793079817668e-8)
        - y * 2.69515142907905952645e-15;
    (octant & 7, z)
}

fn sine(z: f64) -> f64 {
    let zz = z * z;
    let coefficients = [
        1.58962301576546568060e-10,
        -2.50507477628578072866e-8,
        2.75573136213857245213e-6,
        -1.98412698295895385996e-4,
        8.33333333332211858878e-3,
        -1.66666666666666307295e-1,
    ];
    z + z * zz * polynomial(zz, coefficients)
}

fn cosine(z: f64) -> f64 {
    let zz = z * z;
    let coefficients = [
        -1.13585365213876817300e-11,
        2.08757008419747316778e-9,
        -2.75573141792967388112e-7,
        2.48015872888517045348e-5,
        -1.38888888888730564116e-3,
        4.16666666666665929218e-2,
    ];
    1.0 - 0.5 * zz + zz * zz * polynomial(zz, coefficients)
}

pub(crate) fn sin(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x.abs() >= FAR {
        return x.sin();
    }
    let (octant, z) = reduce(x.abs());
    let y = if matches!(octant, 2 | 6) {
        cosine(z)
    } else {
        sine(z)
    };
    if x.is_sign_negative() != (octant > 3) {
        -y
    } else {
        y
    }
}

pub(crate) fn cos(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= FAR {
        return x.cos();
    }
    let (octant, z) = reduce(x.abs());
    let y = if matches!(octant, 2 | 6) {
        sine(z)
    } else {
        cosine(z)
    };
    if matches!(octant, 2 | 4) { -y } else { y }
}

pub(crate) fn tan(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x.abs() >= FAR {
        return x.tan();
    }
    let (octant, z) = reduce(x.abs());
    let zz = z * z;
    let mut y = z;
    if zz > 1e-14 {
        let above = [
            -1.30936939181383734205e4,
            1.15351664838587416140e6,
            -1.79565251976484877988e7,
        ];
        let below = [
            1.0,
            1.36812963470692954678e4,
            -1.32089234440210967447e6,
            2.50083801823357915839e7,
            -5.38695755929454629881e7,
        ];
        y = z + z * (zz * polynomial(zz, above) / polynomial(zz, below));
    }
    if octant & 2 == 2 {
        y = -1.0 / y;
    }
    if x < 0.0 { -y } else { y }
}

/// The arc tangent of an angle from 0 to 0.66.
fn small_atan(x: f64) -> f64 {
    let above = [
        -8.750608600031904122785e-01,
        -1.615753718733365076637e+01,
        -7.500855792314704667340e+01,
        -1.228866684490136173410e+02,
        -6.485021904942025371773e+01,
    ];
    let below = [
        1.0,
        2.485846490142306297962e+01,
        1.650270098316988542046e+02,
        4.328810604912902668951e+02,
        4.853903996359136964868e+02,
        1.945506571482613964425e+02,
    ];
    let z = x * x;
    let z = z * polynomial(z, above) / polynomial(z, below);
    x * z + x
}

fn positive_atan(x: f64) -> f64 {
    let rest = 6.123233995736765886130e-17;
    if x <= 0.66 {
        small_atan(x)
    } else if x > 2.41421356237309504880 {
        FRAC_PI_2 - small_atan(1.0 / x) + rest
    } else {
        FRAC_PI_4 + small_atan((x - 1.0) / (x + 1.0)) + 0.5 * rest
    }
}

pub(crate) fn atan(x: f64) -> f64 {
    if x == 0.0 {
        x
    } else if x > 0.0 {
        positive_atan(x)
    } else {
        -positive_atan(-x)
    }
}

pub(crate) fn asin(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() || x.abs() > 1.0 {
        return x.asin();
    }
    let side = (1.0 - x * x).sqrt();
    let angle = if x.abs() > 0.7 {
        FRAC_PI_2 - positive_atan(side / x.abs())
    } else {
        positive_atan(x.abs() / side)
    };
    angle.copysign(x)
}

pub(crate) fn acos(x: f64) -> f64 {
    FRAC_PI_2 - asin(x)
}

pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    if y == 0.0 || x == 0.0 || !x.is_finite() || !y.is_finite() {
        return y.atan2(x);
    }
    let angle = atan(y / x);
    if x > 0.0 {
        angle
    } else if angle <= 0.0 {
        angle + PI
    } else {
        angle - PI
    }
}

pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    let (long, short) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if long == 0.0 || !long.is_finite() {
        return long;
    }
    let ratio = short / long;
    long * (1.0 + ratio * ratio).sqrt()
}
