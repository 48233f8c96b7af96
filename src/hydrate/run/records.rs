//! Notes and failures when somebody else, or a power failure, made garbage of their refs: hydration goes on without.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, chain};
use crate::git::{Error, ObjectId, Refs};

/// Which of the refs that keep records cannot be used in this run, and why. They are left as they are.
#[derive(Debug, Default)]
pub(super) struct Records {
    faults: BTreeMap<&'static str, String>,
}

impl Records {
    /// What a ref holds; none when it cannot be read.
    pub fn read<T>(
        &mut self,
        name: &'static str,
        refs: &Refs,
        read: impl FnOnce(Option<ObjectId>) -> Result<T, Error>,
    ) -> Option<T> {
        if refs.is_broken(name) {
            self.faults.insert(name, "git cannot read it".to_owned());
            return None;
        }
        read(refs.get(name)).map_err(|error| self.give_up(name, &error)).ok()
    }

    /// Leaves a ref alone from here on.
    pub fn give_up(&mut self, name: &'static str, why: &Error) {
        self.faults.insert(name, chain(why));
    }

    /// Whether a ref can be used.
    pub fn holds(&self, name: &str) -> bool {
        !self.faults.contains_key(name)
    }

    /// What to tell of it.
    pub fn faults(&self) -> impl Iterator<Item = Diagnostic> {
        self.faults.iter().map(|(name, why)| {
            let what = format!("`{name}` stays as it is, without what this push would add: {why}");
            Diagnostic::warning(what).hint("`git hydrate doctor` on the server explains how to fix it")
        })
    }
}
