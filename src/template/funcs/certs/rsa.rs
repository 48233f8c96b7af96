//! RSA keys out of a stream of bytes, and signatures with them.
//!
//! The search for primes is ours, so that the same stream gives the same key in every version of every library. Nothing here
//! hides its timing: keys are made where their owner renders, from a seed.

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
            let p = prime(random, bits / 2, &exponent);
            let q = prime(random, bits / 2, &exponent);
            let modulus = &p * &q;
            let totient = (&p - &one) * (&q - &one);
            if p == q || modulus.bits() != u64::from(bits) {
                continue;
            }
            if let Some(private) = exponent.modinv(&totient) {
                return Key { modulus, exponent, private, primes: [p, q] };
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
        is_key.then_some(Key { modulus, exponent, private, primes })
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
        let signature = BigUint::from_bytes_be(&block).modpow(&self.private, &self.modulus).to_bytes_be();
        let mut out = vec![0; length.saturating_sub(signature.len())];
        out.extend_from_slice(&signature);
        Some(out)
    }
}

/// Primes that candidates are tried against before the costly test.
fn small_primes() -> Vec<u32> {
    const END: usize = 1 << 12;
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

/// A prime of exactly so many bits, the two highest set, that goes with the exponent.
fn prime(random: &mut Random, bits: u32, exponent: &BigUint) -> BigUint {
    let small = small_primes();
    let one = BigUint::from(1u32);
    loop {
        let mut bytes = vec![0; bits as usize / 8];
        random.fill(&mut bytes);
        if let [first, .., last] = bytes.as_mut_slice() {
            *first |= 0xc0;
            *last |= 1;
        }
        let start = BigUint::from_bytes_be(&bytes);
        let rests: Vec<u64> = small.iter().map(|prime| remainder(&start, *prime)).collect();
        // From a random odd number upwards, as far as the bits go.
        for step in (0u64..1 << 14).step_by(2) {
            if rests.iter().zip(&small).any(|(rest, prime)| (rest + step) % u64::from(*prime) == 0) {
                continue;
            }
            let candidate = &start + step;
            if candidate.bits() != u64::from(bits) {
                break;
            }
            if is_prime(&candidate) && (&candidate - &one) % exponent != BigUint::default() {
                return candidate;
            }
        }
    }
}

fn remainder(number: &BigUint, divisor: u32) -> u64 {
    (number % divisor).iter_u64_digits().next().unwrap_or(0)
}

/// Rounds of the test: for random numbers of this size far fewer would do.
const ROUNDS: usize = 20;

/// Miller and Rabin's test with the first primes as bases.
fn is_prime(number: &BigUint) -> bool {
    let one = BigUint::from(1u32);
    let last = number - &one;
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    small_primes().into_iter().take(ROUNDS).all(|base| {
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
