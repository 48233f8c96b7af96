//! Tests only: what work costs as its input grows. Time grows in proportion to what is worked on, up to a limit that is charged
//! before the work.
//!
//! All of it runs on one thread with a deep stack, on which whatever renders stays, since the clock is that of a thread.
//!
//! `COST_BYTES` makes inputs as much larger as that is more than [`BYTES`], and what is too much then must be refused early;
//! `COST=table` prints what was measured.

use std::sync::{Arc, Mutex, PoisonError};

use crate::stack;

/// How large the inputs of rows are, about, in bytes.
const BYTES: f64 = 100_000.0;

/// How much more time four times as much may take. In proportion it is four times; with each for each it is sixteen.
const GROWTH_MAX: f64 = 9.0;

/// What is too short to be measured, in seconds; also of larger inputs, whose memory comes from the system page by page.
const SECONDS_MIN: f64 = 0.004;
const SECONDS_MIN_LARGE: f64 = 0.02;

/// How often what grows too much is measured again.
const REPEATS_MAX: usize = 4;

/// How long work may go on without looking whether to stop, in seconds on a processor, also without optimisation.
const BLIND_MAX: f64 = 1.0;

/// Work on an input of some size, as often as it is called; answers how long it went on at most without a look at the clock,
/// where it looks at all.
pub type Work = Box<dyn Fn() -> f64>;

/// How long work went on without a look at whether to stop.
#[derive(Clone)]
pub struct Looks(Arc<Mutex<(f64, f64)>>);

impl Looks {
    /// From now on.
    pub fn begin() -> Self {
        Self(Arc::new(Mutex::new((cpu(), 0.0))))
    }

    /// A look, which says to go on.
    pub fn goes_on(&self) -> bool {
        self.longest();
        false
    }

    /// How long it went on at most until now, in seconds.
    pub fn longest(&self) -> f64 {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = cpu();
        *looks = (now, looks.1.max(now - looks.0));
        looks.1
    }
}

/// Work on inputs of any size.
#[derive(Clone, Copy)]
pub struct Row {
    /// What it is called in messages.
    pub name: &'static str,
    /// How large the smaller input is, in items of its own kind.
    pub size: usize,
    /// Whether its size counts twice, since each of one sort meets each of another.
    pub is_product: bool,
}

/// How long this thread was on a processor, in seconds.
pub fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let ns: f64 = stat.split(' ').next().and_then(|field| field.parse().ok()).expect("a number");
    ns / 1e9
}

/// How many times as large as usual inputs are.
fn scale() -> f64 {
    let bytes = std::env::var("COST_BYTES").ok().and_then(|bytes| bytes.parse::<f64>().ok());
    bytes.map_or(1.0, |bytes| (bytes / BYTES).max(1.0))
}

/// Does the work of each row on two inputs, the second four times the first.
pub fn check(rows: impl IntoIterator<Item = (Row, impl Fn(usize) -> Work)> + Send) {
    stack::on_deep_stack("cost", || check_here(rows)).expect("a thread");
}

fn check_here(rows: impl IntoIterator<Item = (Row, impl Fn(usize) -> Work)>) {
    let table = std::env::var_os("COST").is_some();
    let mut wrong = Vec::new();
    for (Row { name, size, is_product }, work) in rows {
        let (scale, more) = if is_product { (scale().sqrt(), 2) } else { (scale(), 4) };
        let size = (size as f64 * scale) as usize;
        let measure = |work: &Work| {
            let start = cpu();
            let blind = work();
            (cpu() - start, blind)
        };
        let shortest = |work: &Work| {
            let (one, two) = (measure(work), measure(work));
            if two.0 < one.0 { two } else { one }
        };
        let (first, second) = (work(size), work(more * size));
        let seconds_min = if scale > 1.0 { SECONDS_MIN_LARGE } else { SECONDS_MIN };
        let (mut small, mut large, mut blind) = (0.0, f64::INFINITY, 0.0);
        // A machine at work is slow now and then: what grows too much does so only if it does each time.
        for _ in 0..REPEATS_MAX {
            small = f64::max(small, shortest(&first).0).max(seconds_min);
            let (seconds, unseen) = shortest(&second);
            (large, blind) = (large.min(seconds), unseen);
            if large / small <= GROWTH_MAX && blind <= BLIND_MAX {
                break;
            }
        }
        let growth = large / small;
        if table {
            let (small, large, blind) = (small * 1e3, large * 1e3, blind * 1e3);
            println!("{name:44} {size:>9} {small:8.1} ms {large:8.1} ms {growth:6.1} blind {blind:8.1} ms");
        }
        if growth > GROWTH_MAX {
            wrong.push(format!("{name}: {growth:.1} times the time for four times as much"));
        }
        if blind > BLIND_MAX {
            wrong.push(format!("{name}: {blind:.1} s without a look at the clock"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
