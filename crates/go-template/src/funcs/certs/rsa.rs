//! RSA keys out of a stream of bytes, and signatures with them.
//!
//! The search for primes is ours, so that the same stream gives the same key in every version of every library. Nothing here
//! hides its timing: keys are made where their owner renders, from a seed.

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use super::super::super::effects::Random;
use super::der::{self, INTEGER, OBJECT_ID, OCTET_STRING, Reader, SEQUENCE};
use super::primes::primes;

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
/// The prefix of a SHA-256 in a signature.
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
    pub(super) fn generate(random: &mut Random, bits: u32) -> Self {
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
    pub(super) fn to_pkcs1(&self) -> Vec<u8> {
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
    pub(super) fn from_pkcs1(bytes: &[u8]) -> Option<Self> {
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

    /// Reads `PRIVATE KEY`, PKCS #8, when it contains an RSA key.
    pub(super) fn from_pkcs8(bytes: &[u8]) -> Option<Self> {
        let mut key = Reader(Reader(bytes).expect(SEQUENCE)?.content);
        key.expect(INTEGER)?;
        let algorithm = key.expect(SEQUENCE)?;
        let id = Reader(algorithm.content).expect(OBJECT_ID)?;
        let inner = key.expect(OCTET_STRING)?;
        Self::from_pkcs1(inner.content).filter(|_| id.content == RSA)
    }

    /// The public key with its algorithm, and the bits that are hashed to identify it.
    pub(super) fn public(&self) -> (Vec<u8>, Vec<u8>) {
        let key = der::group(SEQUENCE, &[der::integer(&self.modulus), der::integer(&self.exponent)]);
        (der::group(SEQUENCE, &[algorithm(&RSA), der::bits(&key)]), key)
    }

    /// PKCS #1 v1.5 over SHA-256; `None` when the key is too short for it.
    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
