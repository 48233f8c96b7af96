//! P-256, only to find the public key that belongs to a private one.

use num_bigint::BigUint;

use super::super::super::effects::Random;
use super::der::{self, OBJECT_ID, OCTET_STRING, SEQUENCE};

/// `prime256v1`
const P256: [u8; 8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];

/// A point of the curve; none is the one at infinity.
type Point = Option<(BigUint, BigUint)>;

struct Curve {
    prime: BigUint,
    order: BigUint,
    base: (BigUint, BigUint),
}

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).unwrap_or_default()
}

impl Curve {
    fn p256() -> Self {
        Curve {
            prime: number("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
            order: number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
            base: (
                number("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
                number("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
            ),
        }
    }

    fn minus(&self, one: &BigUint, two: &BigUint) -> BigUint {
        (one + &self.prime - two) % &self.prime
    }

    fn add(&self, one: &Point, two: &Point) -> Point {
        let ((x1, y1), (x2, y2)) = match (one, two) {
            (None, other) | (other, None) => return other.clone(),
            (Some(one), Some(two)) => (one, two),
        };
        let slope = if x1 != x2 {
            self.minus(y2, y1) * self.minus(x2, x1).modinv(&self.prime)?
        } else if y1 == y2 {
            // The curve's first coefficient is -3.
            let three = BigUint::from(3u32);
            self.minus(&(x1 * x1 * &three % &self.prime), &three) * (y1 * 2u32).modinv(&self.prime)?
        } else {
            return None;
        };
        let slope = slope % &self.prime;
        let x = self.minus(&(&slope * &slope % &self.prime), &((x1 + x2) % &self.prime));
        let y = self.minus(&(&slope * self.minus(x1, &x) % &self.prime), y1);
        Some((x, y))
    }

    fn times(&self, factor: &BigUint) -> Point {
        let base = Some(self.base.clone());
        (0..factor.bits()).rev().fold(None, |point, bit| {
            let doubled = self.add(&point, &point);
            if factor.bit(bit) { self.add(&doubled, &base) } else { doubled }
        })
    }
}

fn padded(number: &BigUint) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; 32usize.saturating_sub(bytes.len())], bytes].concat()
}

/// A new key as `EC PRIVATE KEY`.
pub(super) fn generate(random: &mut Random) -> Vec<u8> {
    let curve = Curve::p256();
    loop {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        let private = BigUint::from_bytes_be(&bytes);
        if private >= curve.order {
            continue;
        }
        if let Some((x, y)) = curve.times(&private) {
            return encode(&private, &x, &y);
        }
    }
}

fn encode(private: &BigUint, x: &BigUint, y: &BigUint) -> Vec<u8> {
    let public = [vec![4], padded(x), padded(y)].concat();
    der::group(
        SEQUENCE,
        &[
            der::integer(&BigUint::from(1u32)),
            der::element(OCTET_STRING, &padded(private)),
            der::group(0xa0, &[der::element(OBJECT_ID, &P256)]),
            der::group(0xa1, &[der::bits(&public)]),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_are_those_of_the_curve() {
        // NIST's point multiplication example for P-256, k = 112233445566778899
        let (x, y) = Curve::p256().times(&BigUint::from(112_233_445_566_778_899u64)).expect("a point");
        assert_eq!(x, number("339150844ec15234807fe862a86be77977dbfb3ae3d96f4c22795513aeaab82f"));
        assert_eq!(y, number("b1c14ddfdc8ec1b2583f51e85a5eb3a155840f2034730e9b5ada38b674336a21"));
    }
}
