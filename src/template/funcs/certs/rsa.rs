//! RSA keys out of a stream of bytes, and signatures with them.
//!
//! The search for primes is ours, so that the same stream gives the same key in every version of every library. Nothing here
//! hides its timing: keys are made where their owner renders, from a seed.

use std::sync::LazyLock;
use std::thread;

use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, Uint};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use super::super::super::effects::Random;
use super::der::{self, INTEGER, OBJECT_ID, OCTET_STRING, Reader, SEQUENCE};

/// A private key.
pub(super) struct Key {
    modulus: BigUint,
    exponent: BigUint,
    private: BigUint,
    primes: [BigUint; 2],
    /// Whether the primes are known to be primes.
    is_made_here: bool,
}

/// `rsaEncryption`
const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// `sha256WithRSAEncryption`
const SHA256_RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
/// What stands before a SHA-256 in a signature.
const DIGEST_INFO: [u8; 19] =
    [0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20];

/// An algorithm without parameters.
fn algorithm(id: &[u8]) -> Vec<u8> {
    der::group(SEQUENCE, &[der::element(OBJECT_ID, id), der::element(0x05, &[])])
}

/// The algorithm of signatures.
pub(super) fn signature_algorithm() -> Vec<u8> {
    algorithm(&SHA256_RSA)
}

impl Key {
    /// Makes a key of so many bits.
    pub fn generate(random: &mut Random, bits: u32) -> Self {
        let bits = random.key_bits(bits);
        let exponent = BigUint::from(65_537u32);
        let one = BigUint::from(1u32);
        loop {
            let [p, q] = primes(random, bits / 2, &exponent);
            let modulus = &p * &q;
            let totient = (&p - &one) * (&q - &one);
            if p == q || modulus.bits() != u64::from(bits) {
                continue;
            }
            if let Some(private) = exponent.modinv(&totient) {
                return Key { modulus, exponent, private, primes: [p, q], is_made_here: true };
            }
        }
    }

    /// As PKCS #1 has it: `RSA PRIVATE KEY`.
    pub fn to_pkcs1(&self) -> Vec<u8> {
        let one = BigUint::from(1u32);
        let [p, q] = &self.primes;
        let inverse = q.modinv(p).unwrap_or_default();
        let numbers = [
            &BigUint::default(),
            &self.modulus,
            &self.exponent,
            &self.private,
            p,
            q,
            &(&self.private % (p - &one)),
            &(&self.private % (q - &one)),
            &inverse,
        ];
        der::group(SEQUENCE, &numbers.map(der::integer))
    }

    /// Reads `RSA PRIVATE KEY`.
    pub fn from_pkcs1(bytes: &[u8]) -> Option<Self> {
        let mut key = Reader(Reader(bytes).expect(SEQUENCE)?.content);
        key.integer()?;
        let mut next = || key.integer();
        let (modulus, exponent, private) = (next()?, next()?, next()?);
        let primes = [next()?, next()?];
        let one = BigUint::from(1u32);
        let is_key = primes.iter().all(|prime| *prime > one)
            && &primes[0] * &primes[1] == modulus
            && (8..=16_384).contains(&modulus.bits());
        is_key.then_some(Key { modulus, exponent, private, primes, is_made_here: false })
    }

    /// Reads `PRIVATE KEY`, PKCS #8, when it holds an RSA key.
    pub fn from_pkcs8(bytes: &[u8]) -> Option<Self> {
        let mut key = Reader(Reader(bytes).expect(SEQUENCE)?.content);
        key.expect(INTEGER)?;
        let algorithm = key.expect(SEQUENCE)?;
        let id = Reader(algorithm.content).expect(OBJECT_ID)?;
        let inner = key.expect(OCTET_STRING)?;
        Self::from_pkcs1(inner.content).filter(|_| id.content == RSA)
    }

    /// The public key with its algorithm, and the bits that are hashed to identify it.
    pub fn public(&self) -> (Vec<u8>, Vec<u8>) {
        let key = der::group(SEQUENCE, &[der::integer(&self.modulus), der::integer(&self.exponent)]);
        (der::group(SEQUENCE, &[algorithm(&RSA), der::bits(&key)]), key)
    }

    /// PKCS #1 v1.5 over SHA-256; `None` when the key is too short for it.
    pub fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let length = self.modulus.bits().div_ceil(8) as usize;
        let hash = Sha256::digest(message);
        let padding = length.checked_sub(3 + DIGEST_INFO.len() + hash.len()).filter(|padding| *padding >= 8)?;
        let block = [&[0, 1], vec![0xff; padding].as_slice(), &[0], &DIGEST_INFO, &hash].concat();
        let signature = self.decrypt(&BigUint::from_bytes_be(&block)).to_bytes_be();
        let mut out = vec![0; length.saturating_sub(signature.len())];
        out.extend_from_slice(&signature);
        Some(out)
    }

    /// The private power of a number.
    ///
    /// Reference: RFC 8017, 5.1.2; modulo each prime, which takes a quarter of the time, where these are known to be right.
    fn decrypt(&self, number: &BigUint) -> BigUint {
        let ([p, q], one) = (&self.primes, BigUint::from(1u32));
        let Some(inverse) = q.modinv(p).filter(|_| self.is_made_here) else {
            return number.modpow(&self.private, &self.modulus);
        };
        let of = |prime: &BigUint| number.modpow(&(&self.private % (prime - &one)), prime);
        let (of_p, of_q) = (of(p), of(q));
        let difference = (&of_p + p - &of_q % p) % p;
        of_q + q * (difference * inverse % p)
    }
}

/// Odd primes that candidates are tried against before the costly test, in groups whose product fits 64 bits.
static SMALL_PRIMES: LazyLock<Vec<(u64, Vec<u32>)>> = LazyLock::new(|| {
    let mut groups: Vec<(u64, Vec<u32>)> = Vec::new();
    for prime in small_primes().into_iter().skip(1) {
        let last = groups.last_mut().and_then(|group| Some((group.0.checked_mul(u64::from(prime))?, group)));
        match last {
            Some((product, group)) => {
                group.0 = product;
                group.1.push(prime);
            }
            None => groups.push((u64::from(prime), vec![prime])),
        }
    }
    groups
});

/// All primes below 2^16.
fn small_primes() -> Vec<u32> {
    const END: usize = 1 << 16;
    let mut is_composite = vec![false; END];
    let mut primes = Vec::new();
    for number in 2..END {
        if is_composite.get(number) == Some(&false) {
            primes.push(number as u32);
            for multiple in (number * number..END).step_by(number) {
                if let Some(is_composite) = is_composite.get_mut(multiple) {
                    *is_composite = true;
                }
            }
        }
    }
    primes
}

/// Two primes of exactly so many bits, the two highest set, that go with the exponent: the second one follows the first in
/// the stream.
fn primes(random: &mut Random, bits: u32, exponent: &BigUint) -> [BigUint; 2] {
    let mut ahead = random.clone();
    let starts = [start(&mut ahead, bits), start(&mut ahead, bits)];
    let find = |start: &BigUint| prime_from(start, bits, exponent);
    let [first, second] = &starts;
    // The second search rarely needs to know how the first one ended. Without a thread for it, it comes later.
    let found = thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, || find(second));
        let first = find(first);
        let second = other.map_or_else(|_| find(second), |other| other.join().unwrap_or_default());
        first.zip(second)
    });
    match found {
        Some((first, second)) => {
            *random = ahead;
            [first, second]
        }
        None => [prime(random, bits, exponent), prime(random, bits, exponent)],
    }
}

/// The next prime of a stream.
fn prime(random: &mut Random, bits: u32, exponent: &BigUint) -> BigUint {
    loop {
        let start = start(random, bits);
        if let Some(prime) = prime_from(&start, bits, exponent) {
            return prime;
        }
    }
}

/// An odd number of so many bits, the two highest set.
fn start(random: &mut Random, bits: u32) -> BigUint {
    let mut bytes = vec![0; bits as usize / 8];
    random.fill(&mut bytes);
    if let [first, .., last] = bytes.as_mut_slice() {
        *first |= 0xc0;
        *last |= 1;
    }
    BigUint::from_bytes_be(&bytes)
}

/// How many odd numbers are looked at from a start on.
const CANDIDATES: usize = 1 << 13;

/// The first prime from an odd number upwards, as far as the bits and a search go.
fn prime_from(start: &BigUint, bits: u32, exponent: &BigUint) -> Option<BigUint> {
    let mut is_composite = vec![false; CANDIDATES];
    for (product, group) in SMALL_PRIMES.iter() {
        let rest = (start % *product).iter_u64_digits().next().unwrap_or(0);
        for &prime in group {
            let rest = (rest % u64::from(prime)) as u32;
            // The distance to the first multiple; it is even, since the start is odd.
            let first = (prime - rest) % prime;
            let first = if first.is_multiple_of(2) { first } else { first + prime };
            for is_composite in is_composite.iter_mut().skip(first as usize / 2).step_by(prime as usize) {
                *is_composite = true;
            }
        }
    }
    let one = BigUint::from(1u32);
    let candidates = is_composite.iter().enumerate().filter(|(_, is_composite)| !**is_composite);
    let candidates = candidates.map(|(index, _)| start + 2 * index as u64);
    let mut candidates = candidates.take_while(|candidate| candidate.bits() == u64::from(bits));
    candidates.find(|candidate| is_prime(candidate) && (candidate - &one) % exponent != BigUint::default())
}

/// The bases of the test: for random numbers of this size fewer would do.
///
/// Reference: FIPS 186-5, B.3, which asks for 5 rounds at 1024 bits.
const BASES: [u32; 6] = [2, 3, 5, 7, 11, 13];

/// Miller and Rabin's test with the first primes as bases.
fn is_prime(number: &BigUint) -> bool {
    match number.bits() {
        256 => is_prime_of::<{ 256 / Uint::<1>::BITS as usize }>(number),
        1024 => is_prime_of::<{ 1024 / Uint::<1>::BITS as usize }>(number),
        2048 => is_prime_of::<{ 2048 / Uint::<1>::BITS as usize }>(number),
        _ => is_prime_of_any_size(number),
    }
}

/// The test for a number of this many limbs.
fn is_prime_of<const LIMBS: usize>(number: &BigUint) -> bool {
    let number = Uint::<LIMBS>::from_be_slice(&number.to_bytes_be());
    let Some(odd) = Odd::new(number).into_option() else { return false };
    let params = FixedMontyParams::new_vartime(odd);
    let last = number.wrapping_sub(&Uint::ONE);
    let twos = last.trailing_zeros_vartime();
    let exponent = last.shr_vartime(twos);
    let one = FixedMontyForm::one(&params);
    let minus_one = one.neg();
    BASES.into_iter().all(|base| {
        let mut power = FixedMontyForm::new(&Uint::from_u32(base), &params).pow_vartime(&exponent);
        if power == one || power == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            power = power.square();
            power == minus_one
        })
    })
}

fn is_prime_of_any_size(number: &BigUint) -> bool {
    let one = BigUint::from(1u32);
    let last = number - &one;
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    BASES.into_iter().all(|base| {
        let mut power = BigUint::from(base).modpow(&odd, number);
        if power == one || power == last {
            return true;
        }
        (1..twos).any(|_| {
            power = &power * &power % number;
            power == last
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::effects::Random;

    /// The search as it was written first, number by number: what decides which keys a seed gives.
    fn prime_plainly(random: &mut Random, bits: u32) -> BigUint {
        let one = BigUint::from(1u32);
        loop {
            let start = start(random, bits);
            for step in (0u64..1 << 14).step_by(2) {
                let candidate = &start + step;
                if candidate.bits() != u64::from(bits) {
                    break;
                }
                let divides = |prime: u32| (&candidate % prime) == BigUint::default();
                let is_tried = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].into_iter().any(divides);
                if !is_tried
                    && is_prime_of_any_size(&candidate)
                    && (&candidate - &one) % 65_537u32 != BigUint::default()
                {
                    return candidate;
                }
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_primes_however_they_are_found() {
        let exponent = BigUint::from(65_537u32);
        for (bits, seeds) in [(256, 20u8), (1024, 1), (128, 20)] {
            for seed in 0..seeds {
                let (mut one, mut other) = (Random::new([seed; 32]), Random::new([seed; 32]));
                let expected = [prime_plainly(&mut one, bits), prime_plainly(&mut one, bits)];
                assert_eq!(primes(&mut other, bits, &exponent), expected, "{bits} bits, seed {seed}");
                assert_eq!(one.byte(), other.byte(), "the stream goes on behind them");
            }
        }
    }

    #[test]
    fn signatures_are_the_same_by_both_ways() {
        let key = Key::generate(&mut Random::new([3; 32]), 1024);
        let read = Key::from_pkcs1(&key.to_pkcs1()).expect("a key");
        assert!(key.is_made_here && !read.is_made_here);
        for message in [&b"a"[..], b"", &[7; 999]] {
            assert_eq!(key.sign(message), read.sign(message));
        }
    }
}
