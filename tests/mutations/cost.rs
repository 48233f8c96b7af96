//! A search for inputs that cost much: what took the most time, or the most memory, for its length is mutated further.
//!
//! `COSTS="SEED COUNT [TARGET]"`, or `tests/long/costs`, searches longer, beginning with the dearest inputs that were found
//! before, prints the dearest of each target, and keeps the twenty dearest in `tests/cases/dear`. The default is a short run.
#![expect(unsafe_code, reason = "a clock of the processor, from libc")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::inputs::{TARGETS, Target};
use super::memory;
use super::{Random, mutated};

/// How many inputs of a target are kept to go on from.
const KEPT: usize = 20;

/// Where the dearest inputs that were ever found stand, a folder for each target and what it was searched for.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/dear");

/// What an input counts for beside its bytes, so that short ones do not win by being short.
const BYTES_MIN: usize = 512;

/// How long one input may take on a processor, in seconds, also without optimisation.
const SECONDS_MAX: f64 = 10.0;

/// How long this thread was on a processor, in seconds.
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a plain system call with a pointer to memory of ours.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(code, 0, "{}", std::io::Error::last_os_error());
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// How often an input is run: the shortest time counts.
const REPEATS: usize = 3;

/// How much memory one input may take, in bytes.
const MEMORY_MAX: usize = 512 << 20;

/// What the search looks for.
#[derive(Debug, Clone, Copy)]
enum Cost {
    Time,
    Memory,
}

/// An input and what it took.
#[derive(Clone)]
struct Dear {
    bytes: Vec<u8>,
    seconds: f64,
    memory: usize,
}

impl Dear {
    fn of(target: &Target, bytes: Vec<u8>) -> Self {
        let start = cpu();
        let (result, memory) = memory::peak(|| catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))));
        let mut seconds = cpu() - start;
        let what = || format!("{}: {:?}", target.name, String::from_utf8_lossy(&bytes));
        assert!(result.is_ok(), "panics: {}", what());
        // A machine at work is slow now and then.
        for _ in 1..REPEATS {
            let start = cpu();
            (target.run)(&bytes);
            seconds = seconds.min(cpu() - start);
        }
        assert!(seconds < SECONDS_MAX, "takes {seconds:.1} s: {}", what());
        assert!(memory < MEMORY_MAX, "takes {} MiB: {}", memory >> 20, what());
        Self { bytes, seconds, memory }
    }

    fn rate(&self, cost: Cost) -> f64 {
        let spent = match cost {
            Cost::Time => self.seconds,
            Cost::Memory => self.memory as f64,
        };
        spent / (self.bytes.len() + BYTES_MIN) as f64
    }
}

impl Cost {
    fn name(self) -> &'static str {
        match self {
            Cost::Time => "time",
            Cost::Memory => "memory",
        }
    }
}

/// The folder of the dearest inputs of a target.
fn folder(target: &Target, cost: Cost) -> PathBuf {
    Path::new(CASES).join(target.name).join(cost.name())
}

/// The dearest inputs that were found before.
fn found_before(target: &Target, cost: Cost) -> Vec<Vec<u8>> {
    let Ok(files) = fs::read_dir(folder(target, cost)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

fn keep(target: &Target, cost: Cost, dearest: &[Dear]) {
    let folder = folder(target, cost);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("made");
    for (number, dear) in (1..).zip(dearest) {
        fs::write(folder.join(format!("{number:02}")), &dear.bytes).expect("written");
    }
}

fn search(target: &Target, cost: Cost, seed: u64, count: u64, is_told: bool) {
    let seeds = target.seeds.iter().map(|seed| seed.as_bytes().to_vec());
    let before = if is_told { found_before(target, cost) } else { Vec::new() };
    let mut kept: Vec<Dear> = seeds.chain(before).map(|bytes| Dear::of(target, bytes)).collect();
    for number in 0..count {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(number));
        let from = kept[random.below(kept.len() as u64) as usize].bytes.clone();
        kept.push(Dear::of(target, mutated(target, from, &mut random)));
        kept.sort_by(|one, two| two.rate(cost).total_cmp(&one.rate(cost)));
        kept.dedup_by(|one, two| one.bytes == two.bytes);
        kept.truncate(KEPT);
    }
    if is_told {
        keep(target, cost, &kept);
    }
    if let Some(Dear { bytes, seconds, memory }) = kept.first().filter(|_| is_told) {
        let text = String::from_utf8_lossy(bytes);
        let (milliseconds, kib) = (seconds * 1e3, memory >> 10);
        println!("{:14} {milliseconds:8.2} ms {kib:8} KiB, {} bytes: {text:?}", target.name, bytes.len());
    }
}

#[test]
fn no_small_input_takes_long_or_much_memory() {
    let given = std::env::var("COSTS").ok();
    let mut words = given.as_deref().unwrap_or("1 20").split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse().ok()).expect("SEED COUNT");
    let (seed, count) = (number(), number());
    let wanted = words.next();
    let is_long = given.is_some();
    for target in TARGETS.iter().filter(|target| wanted.is_none_or(|wanted| target.name == wanted)) {
        on_a_large_stack(move || {
            search(target, Cost::Time, seed, count / 2, is_long);
            search(target, Cost::Memory, seed, count / 2, is_long);
        });
    }
}

#[test]
fn what_was_once_the_dearest_is_within_bounds() {
    let mut count = 0;
    for target in TARGETS {
        for cost in [Cost::Time, Cost::Memory] {
            for bytes in found_before(target, cost) {
                count += 1;
                on_a_large_stack(move || drop(Dear::of(target, bytes)));
            }
        }
    }
    assert!(count >= 2 * TARGETS.len(), "only {count} inputs are kept");
}

fn on_a_large_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work).expect("starts");
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    });
}
