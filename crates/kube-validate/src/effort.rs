//! What judging may take, so that no object keeps a server from its work.

use std::cell::Cell;
use std::rc::Rc;

/// What one object may take.
const OBJECT_MAX: u64 = 4_000_000;
/// What judges take together where nothing else is set.
const IN_ALL: u64 = 8_000_000;

/// Steps that judges may take together, each of some 50 nanoseconds: a value that is looked at, or a few bytes of a text.
///
/// What goes beyond them is not judged, and said so. The count depends on objects and CRDs alone, never on the machine.
#[derive(Debug, Clone)]
pub struct Effort(Rc<Cell<u64>>);

impl Default for Effort {
    fn default() -> Self {
        Self::steps(IN_ALL)
    }
}

impl Effort {
    /// So many steps.
    pub fn steps(steps: u64) -> Self {
        Self(Rc::new(Cell::new(steps)))
    }

    /// What an object may take now.
    pub(crate) fn of_object(&self) -> u64 {
        self.0.get().min(OBJECT_MAX)
    }

    pub(crate) fn spend(&self, steps: u64) {
        self.0.set(self.0.get().saturating_sub(steps));
    }
}

/// The steps of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    1 + text.len() as u64 / 16
}
