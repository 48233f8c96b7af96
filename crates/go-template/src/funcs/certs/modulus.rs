//! Whether a number is probably prime: Miller and Rabin's test for numbers of a fixed size.
//!
//! Nearly all of the time that a key takes goes into squares modulo its candidates, so these are written for speed. Nothing
//! here hides its timing.

/// An odd number of `N` limbs, the lowest first, whose highest bit is set.
pub(super) struct Modulus<const N: usize> {
    limbs: [u64; N],
    /// What its lowest limb is to be multiplied by for -1, modulo 2^64.
    negative_inverse: u64,
}

impl<const N: usize> Modulus<N> {
    /// `None` when the number is even or too small.
    pub(super) fn new(limbs: [u64; N]) -> Option<Self> {
        let (low, high) = (*limbs.first()?, *limbs.last()?);
        let is_fit = low % 2 == 1 && high >> 63 == 1;
        // Newton's iteration: each step doubles the bits that are right, from 3 on.
        let inverse = (0..5).fold(low, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(inverse))));
        is_fit.then_some(Modulus { limbs, negative_inverse: inverse.wrapping_neg() })
    }

    /// Whether Miller and Rabin's test takes the number for a prime with a base, which is 2 or more.
    pub(super) fn is_strong_probable_prime(&self, base: u32) -> bool {
        let one = self.one();
        let minus_one = difference(&self.limbs, &one).0;
        let twos = self.bits().skip(1).take_while(|bit| !bit).count() + 1;
        let mut power = one;
        // The number less one has the bits of the number, but for the lowest.
        for bit in self.bits().skip(twos).collect::<Vec<_>>().into_iter().rev() {
            power = self.square(&power);
            if bit {
                power = self.times(&power, base);
            }
        }
        if power == one || power == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            power = self.square(&power);
            power == minus_one
        })
    }

    /// From the lowest on.
    fn bits(&self) -> impl Iterator<Item = bool> {
        self.limbs.iter().flat_map(|limb| (0..64).map(move |bit| limb >> bit & 1 == 1))
    }

    /// 1 in Montgomery's form: 2^(64 N), which is less than twice the number.
    fn one(&self) -> [u64; N] {
        difference(&[0; N], &self.limbs).0
    }

    fn sum(&self, one: &[u64; N], other: &[u64; N]) -> [u64; N] {
        let mut sum = [0; N];
        let mut carry = false;
        for ((sum, one), other) in sum.iter_mut().zip(one).zip(other) {
            let (part, first) = one.overflowing_add(*other);
            let (part, second) = part.overflowing_add(u64::from(carry));
            (*sum, carry) = (part, first | second);
        }
        self.reduced(&sum, u64::from(carry))
    }

    /// A product with a small number, by doubling and adding.
    fn times(&self, number: &[u64; N], factor: u32) -> [u64; N] {
        let below_highest = (0..factor.ilog2()).rev();
        below_highest.fold(*number, |product, bit| {
            let doubled = self.sum(&product, &product);
            if factor >> bit & 1 == 1 { self.sum(&doubled, number) } else { doubled }
        })
    }

    /// A number less than twice the modulus, with what overflows in `high`.
    #[inline(always)]
    fn reduced(&self, number: &[u64; N], high: u64) -> [u64; N] {
        let (less, is_negative) = difference(number, &self.limbs);
        // Without a branch, which nothing could predict.
        let keep = u64::from(is_negative && high == 0).wrapping_neg();
        let mut reduced = less;
        reduced.iter_mut().zip(number).for_each(|(reduced, number)| *reduced = (*reduced & !keep) | (number & keep));
        reduced
    }

    /// A square in Montgomery's form.
    ///
    /// Reference: Koç, Acar and Kaliski, Analyzing and Comparing Montgomery Multiplication Algorithms, 1996: separated operand
    /// scanning.
    fn square(&self, number: &[u64; N]) -> [u64; N] {
        let mut wide = [[0; N]; 2];
        let limbs = wide.as_flattened_mut();
        whole_square(number, limbs);
        let mut overflow = 0;
        for row in 0..N {
            let Some((low, [above, ..])) = limbs.get_mut(row..).and_then(<[u64]>::split_first_chunk_mut::<N>) else {
                break;
            };
            let factor = low.first().map_or(0, |lowest| lowest.wrapping_mul(self.negative_inverse));
            let mut carry = 0;
            for (low, limb) in low.iter_mut().zip(&self.limbs) {
                (*low, carry) = multiply_add(factor, *limb, *low, carry);
            }
            (*above, overflow) = halves(u128::from(*above) + u128::from(carry) + u128::from(overflow));
        }
        self.reduced(&wide[1], overflow)
    }
}

/// A square in twice as many limbs, all 0 before.
fn whole_square<const N: usize>(number: &[u64; N], square: &mut [u64]) {
    // Each row by its number, so that the length of its loop is a constant: a fifth of the time.
    macro_rules! rows {
        ($($row:literal)*) => { $(products_of_row::<N, $row>(number, square);)* };
    }
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    let (mut shifted, mut carry) = (0, 0);
    for (pair, limb) in square.chunks_exact_mut(2).zip(number) {
        let [low, high] = pair else { continue };
        let (twice_low, twice_high) = (*low << 1 | shifted, *high << 1 | *low >> 63);
        shifted = *high >> 63;
        let rest;
        (*low, rest) = multiply_add(*limb, *limb, twice_low, carry);
        (*high, carry) = halves(u128::from(rest) + u128::from(twice_high));
    }
}

/// Adds the products of a limb with those above it.
#[inline(always)]
fn products_of_row<const N: usize, const ROW: usize>(number: &[u64; N], square: &mut [u64]) {
    let Some((limb, above)) = number.get(ROW..).and_then(<[u64]>::split_first) else { return };
    let Some(square) = square.get_mut(2 * ROW + 1..=ROW + N) else { return };
    let Some((last, square)) = square.split_last_mut() else { return };
    let mut carry = 0;
    for (square, above) in square.iter_mut().zip(above) {
        (*square, carry) = multiply_add(*limb, *above, *square, carry);
    }
    *last = carry;
}

/// `one - other`, and whether it is negative.
#[inline(always)]
fn difference<const N: usize>(one: &[u64; N], other: &[u64; N]) -> ([u64; N], bool) {
    let mut difference = [0; N];
    let mut borrow = false;
    for ((difference, one), other) in difference.iter_mut().zip(one).zip(other) {
        let (part, first) = one.overflowing_sub(*other);
        let (part, second) = part.overflowing_sub(u64::from(borrow));
        (*difference, borrow) = (part, first | second);
    }
    (difference, borrow)
}

/// `one * other + first + second`, which never overflows: the lower half, then the upper.
#[inline(always)]
fn multiply_add(one: u64, other: u64, first: u64, second: u64) -> (u64, u64) {
    let (low, high) = halves(u128::from(one) * u128::from(other) + u128::from(first));
    let (low, carry) = low.overflowing_add(second);
    (low, high + u64::from(carry))
}

/// The lower half and the upper.
#[inline(always)]
fn halves(number: u128) -> (u64, u64) {
    (number as u64, (number >> 64) as u64)
}
