//! Expands an ApplicationSet within the limits of one render: in this process, or in one of its own.

pub(super) mod asked;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dry_files::view::{Stop, View};

use super::failure::{RENDER_TIME_LIMIT, RUN_TIME_LIMIT, in_seconds};
use super::machine::Isolation;
use super::process::apart;
use super::process::late::Subject;
use super::{Commit, Context, Error, Renderers};
use crate::argo::set::{Answer, ApplicationSet};

pub(crate) use asked::{Set, Unexpanded};

impl Renderers {
    /// What a set makes. Errors: a limit of this machine.
    pub fn expand(&self, asked: &Set<'_>, context: &Context<'_>) -> Result<Answer, Unexpanded> {
        match self.isolation {
            // It begins within our limit, and with a stack.
            Isolation::Apart => match self.late.reads(&self.subject_of_set(asked, context)) {
                Some(reads) => {
                    let error = self.set_too_slow(asked.set, self.time_of_set().1);
                    Err(Unexpanded::new(error, reads.clone()))
                }
                None => self.with_stacks(1, || apart::expand(&Commit::new(self, context), asked)),
            },
            Isolation::Together => self.with_stacks(1, || self.expand_here(asked, context)),
            Isolation::Alone => self.expand_here(asked, context),
        }
    }

    /// Expands a set in this process.
    pub(super) fn expand_here(&self, asked: &Set<'_>, context: &Context<'_>) -> Result<Answer, Unexpanded> {
        let (time, setting) = self.time_of_set();
        let over = Arc::new(AtomicBool::new(false));
        let flags = [over.clone(), self.cancel.clone()];
        let view =
            View::new(context.files).until(Stop::when(move || flags.iter().any(|flag| flag.load(Ordering::Relaxed))));
        let watch = self.watch.get_or_init(|| self.start_watch());
        let subject =
            (self.isolation == Isolation::Together).then(|| (self.subject_of_set(asked, context), view.shared_reads()));
        let answer = watch.within_of(subject, time, &over, || self.answer(asked, &view));
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Unexpanded::new(Error::Cancelled, answer.reads));
        }
        match over.load(Ordering::Relaxed) {
            false => Ok(answer),
            true => Err(Unexpanded::new(self.set_too_slow(asked.set, setting), answer.reads)),
        }
    }

    fn subject_of_set(&self, asked: &Set<'_>, context: &Context<'_>) -> Subject {
        let name = format!("{} {} {}", asked.file, asked.ordinal, asked.set.by());
        Subject { root: context.files.root(), name, time: self.limits.time }
    }

    fn answer(&self, asked: &Set<'_>, view: &View<'_>) -> Answer {
        #[cfg(debug_assertions)]
        super::rehearsal::rehearse(asked.set.name().and_then(|name| self.rehearsed.get(name)));
        asked.question.answer(asked.set, view, asked.clusters)
    }

    /// How long a set may take, and the limit that says so.
    pub(super) fn time_of_set(&self) -> (Duration, &'static str) {
        let left = self.time_left();
        if left < self.limits.time { (left, RUN_TIME_LIMIT) } else { (self.limits.time, RENDER_TIME_LIMIT) }
    }

    /// What to say of a set that reached it.
    pub(super) fn set_too_slow(&self, set: &ApplicationSet, setting: &'static str) -> Error {
        let by = set.by();
        let what = match setting {
            RUN_TIME_LIMIT => {
                let seconds = in_seconds(self.limits.run_time);
                format!("one run takes more than {seconds} seconds, and {by} was not expanded")
            }
            _ => format!("{by} takes more than {} seconds to expand", in_seconds(self.limits.time)),
        };
        Error::TooMuch { what, setting }
    }
}
