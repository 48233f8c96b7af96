//! The primes of an RSA key, out of a stream of bytes: the first ones from the numbers that the stream gives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::thread;

use num_bigint::BigUint;

use super::super::super::effects::Random;
use super::modulus::Modulus;

/// Two primes of exactly so many bits, the two highest set, that go with the exponent: the second one follows the first in
/// the stream.
pub(super) fn primes(random: &mut Random, bits: u32, exponent: &BigUint) -> [BigUint; 2] {
    let mut ahead = random.clone();
    let starts = [start(&mut ahead, bits), start(&mut ahead, bits)];
    // The second search rarely needs to know how the first one ended.
    let [first, second] = primes_from(&starts, bits, exponent);
    match first.zip(second) {
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
        if let [Some(prime)] = primes_from(&[start], bits, exponent) {
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

/// How many threads test candidates.
const THREADS_MAX: usize = 4;

/// For each odd number the first prime from it upwards, as far as the bits and a search go.
///
/// The threads share the candidates of all searches, since some end soon and others late.
fn primes_from<const COUNT: usize>(
    starts: &[BigUint; COUNT],
    bits: u32,
    exponent: &BigUint,
) -> [Option<BigUint>; COUNT] {
    let searches = starts.each_ref().map(|_| OnceLock::new());
    let pairs: Vec<_> = searches.iter().zip(starts).collect();
    let help = |(search, start): &(&OnceLock<Search>, &BigUint)| {
        search.get_or_init(|| Search::new(start, bits, exponent)).help();
    };
    // Each thread begins with another search.
    let work = |number: usize| pairs.iter().cycle().skip(number).take(COUNT).for_each(help);
    let others = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX) - 1;
    thread::scope(|scope| {
        // Without a thread, this one does it all.
        let _started: Vec<_> = (1..=others)
            .map_while(|number| thread::Builder::new().spawn_scoped(scope, move || work(number)).ok())
            .collect();
        work(0);
    });
    searches.map(|search| search.into_inner().and_then(|search| search.prime()))
}

/// How many odd numbers are looked at from a start on.
const CANDIDATES: usize = 1 << 13;

/// A search for the first prime among numbers without small factors.
struct Search {
    candidates: Vec<BigUint>,
    /// The first candidate that no thread has taken.
    next: AtomicUsize,
    /// The first prime that was found, if it is less than the number of candidates.
    found: AtomicUsize,
}

impl Search {
    fn new(start: &BigUint, bits: u32, exponent: &BigUint) -> Self {
        let one = BigUint::from(1u32);
        let candidates = sieve(start).into_iter().map(|distance| start + distance);
        let candidates = candidates.take_while(|candidate| candidate.bits() == u64::from(bits));
        let goes_with_exponent = |candidate: &BigUint| (candidate - &one) % exponent != BigUint::default();
        let candidates: Vec<BigUint> = candidates.filter(goes_with_exponent).collect();
        let found = AtomicUsize::new(candidates.len());
        Search { candidates, next: AtomicUsize::new(0), found }
    }

    /// Tests candidates until none is left below the first prime.
    fn help(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.found.load(Ordering::Relaxed) {
                return;
            }
            if self.candidates.get(index).is_some_and(is_prime) {
                self.found.fetch_min(index, Ordering::Relaxed);
            }
        }
    }

    /// The prime, once all threads have helped.
    fn prime(mut self) -> Option<BigUint> {
        let found = *self.found.get_mut();
        (found < self.candidates.len()).then(|| self.candidates.swap_remove(found))
    }
}

/// Odd primes that candidates are tried against before the costly test, in groups whose product fits 64 bits.
static SMALL_PRIMES: LazyLock<Vec<(u64, Vec<u32>)>> = LazyLock::new(groups_of_small_primes);

fn groups_of_small_primes() -> Vec<(u64, Vec<u32>)> {
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
}

/// All primes below 2^18: more would take longer than the tests that they save.
fn small_primes() -> Vec<u32> {
    const END: usize = 1 << 18;
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

/// The distances from a large odd number to the odd numbers from it on that no small prime divides, in ascending order.
fn sieve(start: &BigUint) -> Vec<u64> {
    let digits = start.to_u64_digits();
    let mut is_composite = vec![false; CANDIDATES];
    for (product, group) in SMALL_PRIMES.iter() {
        let divide =
            |rest: u64, digit: &u64| ((u128::from(rest) << 64 | u128::from(*digit)) % u128::from(*product)) as u64;
        let rest = digits.iter().rev().fold(0, divide);
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
    let candidates = is_composite.iter().zip((0..).step_by(2)).filter(|(is_composite, _)| !**is_composite);
    candidates.map(|(_, distance)| distance).collect()
}

/// The bases of the test: as many as random numbers of 1,024 bits need. Larger ones need fewer.
///
/// Reference: FIPS 186-5, table B.1.
const BASES: [u32; 5] = [2, 3, 5, 7, 11];

/// Miller and Rabin's test with the first primes as bases.
fn is_prime(number: &BigUint) -> bool {
    // num-bigint is optimised in each profile (Cargo.toml), and the test in here is not.
    if cfg!(debug_assertions) { is_prime_of_any_size(number) } else { is_prime_of_its_size(number) }
}

/// The test in arithmetic of a fixed size, for the sizes of a key's primes.
fn is_prime_of_its_size(number: &BigUint) -> bool {
    match number.bits() {
        256 => is_prime_of::<4>(number),
        1024 => is_prime_of::<16>(number),
        2048 => is_prime_of::<32>(number),
        _ => is_prime_of_any_size(number),
    }
}

/// The test for a number of this many limbs.
fn is_prime_of<const LIMBS: usize>(number: &BigUint) -> bool {
    let mut limbs = [0; LIMBS];
    limbs.iter_mut().zip(number.iter_u64_digits()).for_each(|(limb, digit)| *limb = digit);
    let modulus = Modulus::new(limbs);
    modulus.is_some_and(|modulus| BASES.into_iter().all(|base| modulus.is_strong_probable_prime(base)))
}

/// The test in plain arithmetic, which the other one must agree with.
fn is_prime_of_any_size(number: &BigUint) -> bool {
    let one = BigUint::from(1u32);
    let last = number - &one;
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    'bases: for base in BASES {
        let mut power = BigUint::from(base).modpow(&odd, number);
        if power == one || power == last {
            continue;
        }
        for _ in 1..twos {
            power = &power * &power % number;
            if power == last {
                continue 'bases;
            }
        }
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::Random;

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
    fn both_tests_take_the_same_numbers_for_primes() {
        for (bits, primes) in [(256u32, vec![189u32, 357, 435]), (1024, vec![105]), (2048, vec![])] {
            let end = BigUint::from(1u32) << bits;
            let last = if bits == 256 { 500 } else { 110 };
            for below in (97u32..last).step_by(2) {
                let number = &end - below;
                assert_eq!(is_prime_of_its_size(&number), primes.contains(&below), "2^{bits} - {below}");
            }
            for below in [1u32, 3, 105, 189] {
                let number = &end - below;
                assert_eq!(is_prime_of_its_size(&number), is_prime_of_any_size(&number), "2^{bits} - {below}");
            }
        }
    }
}
