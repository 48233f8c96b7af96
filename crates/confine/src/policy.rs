//! What a confined program may do, and how that travels to the confining process: as its arguments.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// One part of the confinement, which a kernel can or cannot enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restriction {
    /// Only the directories that were named can be read or written (Landlock, Linux 5.13).
    Files,
    /// No socket can be made (seccomp).
    Network,
    /// No system call that is not on a list: no tracing, mounting, new namespaces, leaving the process group; modes, owners
    /// and times of files stay (seccomp).
    Calls,
}

impl Restriction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Files, Self::Network, Self::Calls];

    /// The word for it between the two processes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Network => "network",
            Self::Calls => "calls",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|restriction| restriction.word() == word)
    }
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "access to files (Landlock)",
            Self::Network => "access to the network (seccomp)",
            Self::Calls => "dangerous system calls (seccomp)",
        })
    }
}

/// How much a program may use. For every limit but the time, 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// From start to end.
    pub time: Duration,
    /// What it may print to standard output. Of standard error, which only feeds messages, 64 KiB are kept.
    pub output_bytes_max: u64,
    /// The address space of each of its processes.
    pub memory_bytes_max: u64,
    /// The size of each file that it writes.
    pub file_bytes_max: u64,
    /// What it may have in its scratch directory at a time, in bytes on disk.
    pub scratch_bytes_max: u64,
    /// How many processes and threads it may add to those of our user. It does not apply to the superuser.
    pub tasks_max: u64,
}

impl Default for Limits {
    /// 90 seconds as in Argo CD, 128 MiB of output, 4 GiB of memory, 256 MiB a file, 1 GiB of files, 1024 processes and threads.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(90),
            output_bytes_max: 128 << 20,
            memory_bytes_max: 4 << 30,
            file_bytes_max: 256 << 20,
            scratch_bytes_max: 1 << 30,
            tasks_max: 1024,
        }
    }
}

/// What the confining process gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    /// The process that must be alive for the program to be.
    pub parent: u32,
    /// Files and directories that it may read and execute, beside those of the system.
    pub readable: Vec<PathBuf>,
    /// Directories below which it may do anything.
    pub writable: Vec<PathBuf>,
    /// Without these the program must not start.
    pub required: Vec<Restriction>,
    /// What it may use.
    pub limits: Limits,
}

impl Policy {
    /// The arguments before `--`.
    pub(super) fn to_args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        let mut add = |flag: &str, value: &OsStr| args.extend([flag.into(), value.to_owned()]);
        add("--parent", self.parent.to_string().as_ref());
        self.readable.iter().for_each(|path| add("--read", path.as_ref()));
        self.writable.iter().for_each(|path| add("--write", path.as_ref()));
        self.required.iter().for_each(|restriction| add("--require", restriction.word().as_ref()));
        add("--memory", self.limits.memory_bytes_max.to_string().as_ref());
        add("--file-size", self.limits.file_bytes_max.to_string().as_ref());
        add("--tasks", self.limits.tasks_max.to_string().as_ref());
        args
    }

    /// Reads what [`Policy::to_args`] wrote, up to `--` or the end. Time, output and all files together are not
    /// the child's to keep: 0.
    pub(super) fn from_args(args: &mut dyn Iterator<Item = OsString>) -> Result<Self, String> {
        let mut policy = Self {
            parent: 0,
            readable: Vec::new(),
            writable: Vec::new(),
            required: Vec::new(),
            limits: Limits {
                time: Duration::ZERO,
                output_bytes_max: 0,
                memory_bytes_max: 0,
                file_bytes_max: 0,
                scratch_bytes_max: 0,
                tasks_max: 0,
            },
        };
        while let Some(flag) = args.next().filter(|flag| flag != "--") {
            let flag = flag.to_string_lossy();
            let value = args.next().ok_or_else(|| format!("{flag} has no value"))?;
            let wrong = || format!("{flag} cannot be {}", value.to_string_lossy());
            let number = || value.to_str().and_then(|text| text.parse::<u64>().ok()).ok_or_else(wrong);
            match &*flag {
                "--parent" => policy.parent = u32::try_from(number()?).map_err(|_| wrong())?,
                "--read" => policy.readable.push(value.into()),
                "--write" => policy.writable.push(value.into()),
                "--require" => {
                    let word = value.to_str().and_then(Restriction::from_word);
                    policy.required.push(word.ok_or_else(wrong)?);
                }
                "--memory" => policy.limits.memory_bytes_max = number()?,
                "--file-size" => policy.limits.file_bytes_max = number()?,
                "--tasks" => policy.limits.tasks_max = number()?,
                other => return Err(format!("unknown flag {other}")),
            }
        }
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_survives_its_arguments() {
        let policy = Policy {
            parent: 4711,
            readable: vec!["/usr/bin/helm".into(), "/tmp/a b".into()],
            writable: vec!["/tmp/scratch".into()],
            required: Restriction::ALL.to_vec(),
            limits: Limits::default(),
        };
        let mut args = policy.to_args();
        args.extend(["--".into(), "helm".into()]);
        let mut args = args.into_iter();
        let read = Policy::from_args(&mut args).expect("well formed");
        let mut expected = policy;
        expected.limits.output_bytes_max = 0;
        expected.limits.scratch_bytes_max = 0;
        expected.limits.time = Duration::ZERO;
        assert_eq!(read, expected);
        assert_eq!(args.collect::<Vec<_>>(), ["helm"]);
    }

    #[test]
    fn wrong_arguments_are_named() {
        let rows: &[(&[&str], &str)] = &[
            (&["--colour", "red"], "unknown flag --colour"),
            (&["--parent"], "--parent has no value"),
            (&["--parent", "x"], "--parent cannot be x"),
            (&["--require", "luck"], "--require cannot be luck"),
        ];
        for (args, expected) in rows {
            let error = Policy::from_args(&mut args.iter().map(OsString::from)).expect_err(expected);
            assert_eq!(error, *expected);
        }
    }
}
