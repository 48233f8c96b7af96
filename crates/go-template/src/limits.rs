//! How much a render may take.

use super::error::{Failure, Limit};

/// What one render may use up, over all templates that it executes.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// Nodes executed, iterations, and for work inside functions a step for every few dozen bytes.
    pub steps: u64,
    /// Bytes of text and of values made, in total; what was thrown away counts too.
    pub bytes: u64,
    /// Templates, calls and control structures inside each other.
    pub depth: u32,
}

/// How deep a value may contain others before printing, encoding or copying it fails: a map may contain itself.
pub(super) const VALUE_DEPTH_MAX: u32 = 500;

impl Default for Limits {
    /// Generous for charts: the largest public ones take some hundred thousand steps and a few megabytes. Several of them
    /// render at once, and all of their bytes may be held at once.
    fn default() -> Self {
        Self { steps: 200_000_000, bytes: 128 << 20, depth: 20_000 }
    }
}

/// How many steps pass between two looks at the clock.
const STEPS_PER_LOOK: u64 = 1 << 16;

/// What is left of the limits.
pub(super) struct Budget {
    limits: Limits,
    steps: u64,
    bytes: u64,
    next_look: u64,
    is_time_up: Option<Box<dyn Fn() -> bool>>,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, steps: 0, bytes: 0, next_look: STEPS_PER_LOOK, is_time_up: None }
    }

    pub(super) fn set_deadline(&mut self, is_time_up: Box<dyn Fn() -> bool>) {
        self.is_time_up = Some(is_time_up);
    }

    pub(super) fn bytes_left(&self) -> usize {
        usize::try_from(self.limits.bytes.saturating_sub(self.bytes)).unwrap_or(usize::MAX)
    }

    pub(super) fn steps_taken(&self) -> u64 {
        self.steps
    }

    pub(super) fn depth_max(&self) -> u32 {
        self.limits.depth
    }

    /// Takes steps; looks at the clock now and then.
    pub(super) fn steps(&mut self, count: u64) -> Result<(), Failure> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > self.limits.steps {
            return Err(Limit::Steps(self.limits.steps).into());
        }
        if self.steps >= self.next_look {
            self.next_look = self.steps.saturating_add(STEPS_PER_LOOK);
            if self.is_time_up.as_ref().is_some_and(|is_time_up| is_time_up()) {
                return Err(Limit::Time.into());
            }
        }
        Ok(())
    }

    /// Fails when so many bytes are not left: what is made on the way to a result and thrown away is not taken, but has to fit.
    pub(super) fn reserve(&self, count: usize) -> Result<(), Failure> {
        if count > self.bytes_left() { Err(Limit::Bytes(self.limits.bytes).into()) } else { Ok(()) }
    }

    /// Takes bytes, and the steps that making them costs.
    pub(super) fn bytes(&mut self, count: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(count as u64);
        if self.bytes > self.limits.bytes {
            return Err(Limit::Bytes(self.limits.bytes).into());
        }
        self.steps(count as u64 / 64)
    }
}
