//! What a push may take of this machine.

use super::Doctor;
use crate::render::{Renderers, in_seconds};

/// Less than this is what a process needs to render anything at all, in bytes.
const APPLICATION_MEMORY_MIN: u64 = 64 << 20;

impl Doctor<'_> {
    /// Whether the limits of a run that are set are numbers, and leave room to work.
    pub(super) fn limits(&mut self, renderers: &Renderers) {
        let dir = self.repository.common_dir().display().to_string();
        let keys = [
            ("hydrate.runMemory", "4g"),
            ("hydrate.applicationMemory", "1g"),
            ("hydrate.runTimeLimit", "3600"),
            ("hydrate.commitTimeLimit", "1800"),
            ("hydrate.renderTimeLimit", "120"),
        ];
        let of_seconds = ["hydrate.commitTimeLimit", "hydrate.renderTimeLimit"];
        if keys.iter().all(|(key, _)| self.repository.config(key).is_none()) {
            return;
        }
        // These are judged with all keys that have a number of seconds.
        for (key, example) in keys.into_iter().filter(|(key, _)| !of_seconds.contains(key)) {
            let Some(value) = self.repository.config(key) else { continue };
            if self.repository.config_number(key).is_none_or(|number| number < 0) {
                let what = format!("{key} is `{value}`, which is not a number: the default is used");
                self.bad(what, format!("git -C '{dir}' config {key} {example}"));
            }
        }
        let limits = renderers.limits();
        if limits.commit_time >= limits.run_time {
            let (commit, run) = (limits.commit_time.as_secs(), limits.run_time.as_secs());
            let what = format!(
                "hydrate.commitTimeLimit ({commit} s) is not less than hydrate.runTimeLimit ({run} s): one dry commit may take \
                 the time of all dry branches of a run"
            );
            self.advise(what, format!("git -C '{dir}' config hydrate.commitTimeLimit {}", (run / 2).max(1)));
        }
        let (run, application) = (limits.run_memory, limits.application_memory);
        if (1..APPLICATION_MEMORY_MIN).contains(&application) {
            let what = format!("hydrate.applicationMemory is {application} bytes, too little to render anything");
            self.bad(what, format!("git -C '{dir}' config hydrate.applicationMemory 1g"));
        } else if run > 0 && application > run {
            let what =
                format!("hydrate.applicationMemory ({application} bytes) is more than hydrate.runMemory ({run} bytes)");
            self.advise(what, format!("git -C '{dir}' config hydrate.applicationMemory {run}"));
        } else if limits.time > limits.run_time / 2 {
            let (one, run) = (in_seconds(limits.time), limits.run_time.as_secs());
            let what = format!(
                "hydrate.renderTimeLimit ({one} s) is more than half of hydrate.runTimeLimit ({run} s): after a render that \
                 does not stop, there is no time for the others"
            );
            self.advise(what, format!("git -C '{dir}' config hydrate.renderTimeLimit {}", run / 4));
        } else {
            let time = limits.run_time.as_secs();
            let bytes =
                |bytes: u64| if bytes == 0 { "unlimited memory".to_owned() } else { format!("{} MiB", bytes >> 20) };
            self.good(format!("a push may take {} and {time} s, one Application {}", bytes(run), bytes(application)));
        }
    }
}
