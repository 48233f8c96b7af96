//! A search for inputs that cost much: what took the most time for its length is mutated further.
//!
//! `COSTS="SEED COUNT [TARGET]"`, or `tests/long/costs`, searches longer, and prints the dearest input of each target: one that
//! is worth it becomes a case of `tests/hostile/costs.rs`. The default is a short run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::inputs::{TARGETS, Target};
use super::{Random, mutated};

/// How many inputs of a target are kept to go on from.
const KEPT: usize = 8;

/// What an input counts for beside its bytes, so that short ones do not win by being short.
const BYTES_MIN: usize = 512;

/// How long one input may take on a processor, in seconds, also without optimisation.
const SECONDS_MAX: f64 = 10.0;

/// How long this thread was on a processor, in seconds; nothing where that is not told.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

/// An input and the time that it took.
#[derive(Clone)]
struct Dear {
    bytes: Vec<u8>,
    seconds: f64,
}

impl Dear {
    fn of(target: &Target, bytes: Vec<u8>) -> Self {
        let start = cpu();
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let seconds = cpu() - start;
        let what = || format!("{}: {:?}", target.name, String::from_utf8_lossy(&bytes));
        assert!(result.is_ok(), "panics: {}", what());
        assert!(seconds < SECONDS_MAX, "takes {seconds:.1} s: {}", what());
        Self { bytes, seconds }
    }

    fn rate(&self) -> f64 {
        self.seconds / (self.bytes.len() + BYTES_MIN) as f64
    }
}

fn search(target: &Target, seed: u64, count: u64, is_told: bool) {
    let mut kept: Vec<Dear> = target.seeds.iter().map(|seed| Dear::of(target, seed.as_bytes().to_vec())).collect();
    for number in 0..count {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(number));
        let from = kept[random.below(kept.len() as u64) as usize].bytes.clone();
        kept.push(Dear::of(target, mutated(target, from, &mut random)));
        kept.sort_by(|one, two| two.rate().total_cmp(&one.rate()));
        kept.truncate(KEPT.max(1));
    }
    if let Some(first) = kept.first().filter(|_| is_told) {
        let text = String::from_utf8_lossy(&first.bytes);
        println!("{:14} {:8.2} ms, {} bytes: {:?}", target.name, first.seconds * 1e3, first.bytes.len(), text);
    }
}

#[test]
fn no_small_input_takes_long() {
    let given = std::env::var("COSTS").ok();
    let mut words = given.as_deref().unwrap_or("1 20").split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse().ok()).expect("SEED COUNT");
    let (seed, count) = (number(), number());
    let wanted = words.next();
    let is_long = given.is_some();
    for target in TARGETS.iter().filter(|target| wanted.is_none_or(|wanted| target.name == wanted)) {
        std::thread::scope(|scope| {
            let work = move || search(target, seed, count, is_long);
            let thread = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work).expect("starts");
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        });
    }
}
