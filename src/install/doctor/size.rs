//! How much room hydration takes, and whether `git gc` keeps up with it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::Doctor;
use crate::argo::BranchName;
use crate::history::BranchStatus;
use crate::metadata::NOTES_REF;
use crate::owners::unsearched;
use dry_files::diag::shell_path;

/// How many packs git lets gather before `git gc --auto` joins them: its default for gc.autoPackLimit.
const PACKS_MAX: i64 = 50;

/// No push takes so long from its pre-receive hook to its end.
const KEPT_AGE: Duration = Duration::from_secs(60 * 60);

impl Doctor<'_> {
    /// Tells the size of hydrated history, of notes and of records, and how many packs came since the last gc.
    pub(super) fn sizes(&mut self, branches: &[BranchStatus]) {
        let Ok(refs) = self.repository.refs() else { return };
        let of = |name: &str| BranchName::new(name).ok().and_then(|name| Some(refs.get(&name.ref_name())?.to_string()));
        let tips: Vec<String> = branches.iter().filter_map(|status| of(&status.branch)).collect();
        let dry: Vec<String> = branches.iter().filter_map(|status| of(&status.dry_branch)).collect();
        let records: Vec<String> = refs.below("refs/hydrate/").map(|(_, id)| id.to_string()).collect();
        let notes: Vec<String> = refs.get(NOTES_REF).map(|id| id.to_string()).into_iter().collect();
        let sizes = [self.disk_usage(&tips, &dry), self.disk_usage(&notes, &[]), self.disk_usage(&records, &[])];
        if let ([Some(history), Some(notes), Some(records)], false) = (sizes, tips.is_empty()) {
            let sizes = [history, notes, records].map(size);
            self.good(format!("hydrated history takes {}, notes {}, records {}", sizes[0], sizes[1], sizes[2]));
        }
        for branch in unsearched::forgotten_branches(self.repository) {
            let remedy = "fewer Applications in one dry branch make its pushes cheap again";
            self.advise(unsearched::forgotten(&branch), remedy);
        }
        let packs = self.packs();
        let limit = self.repository.config_number("gc.autoPackLimit").unwrap_or(PACKS_MAX);
        // The largest is the one that gc made.
        let since = packs.saturating_sub(1);
        let what = format!("{since} pack{} since the last gc", if since == 1 { "" } else { "s" });
        match i64::try_from(packs).is_ok_and(|packs| packs > limit.max(1)) {
            true => self.advise(what, format!("{} gc", self.git_command())),
            false => self.good(what),
        }
    }

    /// Packs that no gc may join or take away: those of killed runs, and of pushes that git refused after their
    /// pre-receive hook.
    pub(super) fn kept_packs(&mut self) {
        let is_old = |path: &PathBuf| {
            let written = fs::symlink_metadata(path).and_then(|file| file.modified());
            written.is_ok_and(|written| self.around.now.duration_since(written).is_ok_and(|age| age > KEPT_AGE))
        };
        let old: Vec<PathBuf> = self.repository.kept_packs().into_iter().filter(is_old).collect();
        let Some(first) = old.first() else { return };
        let what = match old.len() {
            1 => format!("a `.keep` file of hydration was left: {}", first.display()),
            count => format!("{count} `.keep` files of hydration were left, such as {}", first.display()),
        };
        let files: Vec<String> = old.iter().map(|path| shell_path(path)).collect();
        self.advise(what, format!("if no push is running: rm {}", files.join(" ")));
    }

    /// What the objects that lead from `tips`, and not from `others`, take on the disk, in bytes.
    fn disk_usage(&self, tips: &[String], others: &[String]) -> Option<u64> {
        if tips.is_empty() {
            return Some(0);
        }
        let mut args = ["rev-list", "--disk-usage", "--objects"].map(str::to_owned).to_vec();
        args.extend(tips.iter().cloned());
        args.push("--not".to_owned());
        args.extend(others.iter().cloned());
        let answer = self.repository.git().output(&args).ok()?;
        String::from_utf8_lossy(&answer).trim().parse().ok()
    }

    fn packs(&self) -> usize {
        let files = fs::read_dir(self.repository.common_dir().join("objects/pack")).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|extension| extension == "pack")).count()
    }
}

/// A number of bytes as people read it.
pub(super) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = bytes * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < units.len() {
        tenths /= 1024;
        unit += 1;
    }
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{}.{} {}", tenths / 10, tenths % 10, units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_git_tells_them() {
        let rows =
            [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (5 << 40, "5.0 TiB")];
        for (bytes, expected) in rows {
            assert_eq!(size(bytes), expected);
        }
    }
}
