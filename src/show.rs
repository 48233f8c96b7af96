//! What a run reports: progress, summary, diagnostics and changes, as text, JSON, Markdown or HTML.

mod causes;
pub(crate) mod changes;
mod console;
mod log;
mod paint;
mod text;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::owners::setup::Observer;

pub(crate) use causes::{Cause, causes};
pub(crate) use console::{Console, Waiting, wrap};
pub(crate) use log::{Logged, PushedRef, log, unlogged};
pub(crate) use paint::{Paint, Style, screened, screened_json};
pub(crate) use text::{GONE_MAX, Wording, counted, diagnostics, summary};

/// How long work may take before it is worth a line.
const SILENCE: Duration = Duration::from_millis(500);

/// How often a line that says how far the work is may change.
const PACE: Duration = Duration::from_millis(100);

/// Shows on a terminal how far rendering is, when it takes longer than half a second; says nothing anywhere else.
#[derive(Debug)]
pub(crate) struct Progress {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    console: Console,
    started: Instant,
    last: Option<Instant>,
    label: String,
    total: usize,
    shown: bool,
}

impl Progress {
    /// Nothing is shown yet.
    pub(crate) fn new() -> Self {
        let (console, started) = (Console::new(), Instant::now());
        let state = State { console, started, last: None, label: String::new(), total: 0, shown: false };
        Self { state: Mutex::new(state) }
    }

    /// Does some work whose progress is shown, and takes the line away again.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let result = work();
        self.clear();
        result
    }

    /// Takes the line away, when there is one.
    pub(crate) fn clear(&self) {
        if let Ok(mut state) = self.state.lock()
            && std::mem::take(&mut state.shown)
        {
            state.console.write(b"\r\x1b[K");
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Progress {
    fn rendering(&self, dry_commit: &str, total: usize) {
        if let Ok(mut state) = self.state.lock() {
            (state.label, state.total) = (dry_commit.to_owned(), total);
        }
    }

    fn rendered(&self, done: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        let now = Instant::now();
        let early = now.duration_since(state.started) < SILENCE;
        let often = state.last.is_some_and(|last| now.duration_since(last) < PACE);
        if early || often || !state.console.is_terminal() {
            return;
        }
        let line = format!("\rrendering {}: {done} of {} Applications\x1b[K", state.label, state.total);
        (state.last, state.shown) = (Some(now), true);
        state.console.write(line.as_bytes());
    }
}
