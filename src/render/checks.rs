//! Checks of an admin, `hydrate-check.NAME.command`: programs that judge manifests before a cluster gets them.
//!
//! Each is started once for a run, confined as plugins are, in a directory with the manifests that change: a file
//! `BRANCH/PATH/manifest.yaml` for each Application. Its exit code says whether something is wrong, its output what. No byte that is
//! hydrated depends on it.

mod findings;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use dry_files::view::Stop;

use super::Renderers;
use confine::{Call, Error, Output};
use findings::Finding;

/// A program that judges manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What the admin calls it.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Whether strict mode refuses a push for what it finds: `hydrate-check.NAME.refuse`.
    pub refuses: bool,
}

/// What a check says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// The name of the check.
    pub check: String,
    /// Whether strict mode refuses the push for it.
    pub refuses: bool,
    /// The file that it is about, by its name in the directory of the check; none where it names none.
    pub file: Option<String>,
    /// The line there, 1-based.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
}

impl Renderers {
    /// Whether an admin set any check.
    pub(crate) fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// What all checks say of these files. One that cannot run says so.
    pub(crate) fn check(&self, files: &BTreeMap<String, Vec<u8>>) -> Vec<Said> {
        self.checks.iter().flat_map(|check| self.ask(check, files)).collect()
    }

    fn ask(&self, check: &Check, files: &BTreeMap<String, Vec<u8>>) -> Vec<Said> {
        let found = match self.run_check(check, files) {
            Ok(output) if output.status.success() => Vec::new(),
            Ok(output) => findings::read(&output.stdout, &output.stderr, files),
            Err(error) => vec![Finding::of(format!("it cannot judge: {}", dry_files::diag::chain(&error)))],
        };
        let said = |Finding { file, line, message }| {
            let (check, refuses) = (check.name.clone(), check.refuses);
            Said { check, refuses, file, line, message }
        };
        found.into_iter().map(said).collect()
    }

    fn run_check(&self, check: &Check, files: &BTreeMap<String, Vec<u8>>) -> Result<Output, Error> {
        let runner = self.exec.runner();
        let scratch = runner.scratch("check")?;
        for (name, content) in files {
            let file = scratch.path().join(name);
            let made =
                fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).and_then(|()| fs::write(&file, content));
            made.map_err(|source| Error::Io { doing: format!("writing {}", file.display()), source })?;
        }
        let (first, words) = check.words.split_first().ok_or_else(|| Error::NotFound(String::new()))?;
        let cancel = self.cancel.clone();
        let stop = Stop::when(move || cancel.load(Ordering::Relaxed));
        let call = Call {
            program: &runner.find(first)?,
            args: words.iter().map(Into::into).collect(),
            dir: scratch.path(),
            readable: vec![scratch.path().to_owned()],
            writable: Vec::new(),
            ours: false,
            environment: Vec::new(),
        };
        runner.run(&call, &stop)
    }
}
