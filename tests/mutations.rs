//! Inputs of strangers, mutated: a fuzzer that needs nothing but a seed, so that the same inputs are tried on each machine.
//!
//! `MUTATIONS="SEED COUNT [TARGET]"`, or `tests/long/mutations`, tries other inputs and more of them; the default is a short
//! run.

#[path = "../fuzz/inputs.rs"]
mod inputs;

mod cost;
mod git;
mod memory;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::crashes::Random;
use inputs::{TARGETS, Target};

/// Words that mean something to one parser or another.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "{{",
    "}}",
    "{%",
    "%}",
    ":",
    ",",
    "-",
    "---\n",
    "\n",
    "\t",
    "  ",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "!!",
    "|",
    ">-\n",
    "\"",
    "'",
    "\\",
    "\\u0000",
    "\u{feff}",
    "\u{1b}[",
    "#",
    "$",
    "?",
    "**",
    "..",
    "/",
    "~",
    "@",
    "null",
    "true",
    "1e999",
    "-0",
    "0x",
    ".inf",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999",
    "%!",
    "%s",
    "%*d",
    "define",
    "range",
    "include",
    "import",
    "kind",
    "metadata",
    "name",
    "spec",
    "\0",
];

/// How long an input may grow.
const BYTES_MAX: usize = 4096;

/// How long one input may take, in seconds: far more than any does.
const SECONDS_MAX: u64 = 20;

fn mutate(target: &Target, random: &mut Random) -> Vec<u8> {
    let from = target.seeds[random.below(target.seeds.len() as u64) as usize].as_bytes().to_vec();
    mutated(target, from, random)
}

/// An input with some changes.
fn mutated(target: &Target, mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let pick = |random: &mut Random| target.seeds[random.below(target.seeds.len() as u64) as usize].as_bytes();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() as u64 + 1) as usize;
        let end = (at + random.below(32) as usize).min(bytes.len());
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                let part = part.repeat(1 + random.below(8) as usize);
                bytes.splice(at..at, part);
            }
            3 => {
                let other = pick(random);
                let from = random.below(other.len() as u64) as usize;
                let to = (from + random.below(200) as usize).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {
                let word = WORDS[random.below(WORDS.len() as u64) as usize];
                bytes.splice(at..at, word.bytes());
            }
        }
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn run(target: &Target, seed: u64, count: u64) {
    for seed_bytes in target.seeds {
        (target.run)(seed_bytes.as_bytes());
    }
    let started = Instant::now();
    for number in 0..count {
        let bytes = mutate(target, &mut Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(number)));
        let once = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let what = || format!("{}, seed {seed}, input {number}: {:?}", target.name, String::from_utf8_lossy(&bytes));
        assert!(result.is_ok(), "panics: {}", what());
        assert!(once.elapsed().as_secs() < SECONDS_MAX, "takes {:?}: {}", once.elapsed(), what());
    }
    println!("{:14} {count} inputs in {} ms", target.name, started.elapsed().as_millis());
}

#[test]
fn no_input_panics_or_runs_without_end() {
    let given = std::env::var("MUTATIONS").ok();
    let mut words = given.as_deref().unwrap_or("1 40").split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse().ok()).expect("SEED COUNT");
    let (seed, count) = (number(), number());
    let wanted = words.next();
    let is_wanted = |target: &&Target| wanted.is_none_or(|wanted| target.name == wanted);
    assert!(TARGETS.iter().chain(git::TARGETS).any(|target| is_wanted(&target)), "no such target: {wanted:?}");
    // Engines recurse as deep as their limits allow; a render thread has that stack.
    let stack = 256 << 20;
    std::thread::scope(|scope| {
        let targets = TARGETS.iter().chain(git::TARGETS);
        for target in targets.filter(is_wanted) {
            let work = move || run(target, seed, count);
            let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work).expect("starts");
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
