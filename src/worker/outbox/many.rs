//! Pushes of many branches.
//!
//! git compares each ref that it is given by name with each ref that is there, one after the other: 4,000 of them take 17 s of
//! processor, of 10,000 two minutes. A pattern is looked up. So a repository of their own, which borrows the objects, has the
//! refs as they are to be, and is pushed by a pattern: 0.4 s, beside what the receiver takes to write them. No ref is forced, so
//! what somebody moved there meanwhile is refused as it is with an expected value.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Output;
use std::time::Instant;

use super::access::{Access, Failure};
use crate::git::{self, Repository};
use crate::metadata::NOTES_REF;
use crate::worker::moves::RefMove;

/// Of how many refs on a push goes this way.
pub(super) const COUNT_MIN: usize = 200;

const PUSH: [&str; 7] =
    ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--atomic", "--"];

/// Pushes, all or nothing.
///
/// Errors: the repository of the refs cannot be made.
pub(super) fn push(
    access: &Access,
    repository: &Repository,
    until: Instant,
    moves: &[RefMove],
) -> Result<Result<Output, Failure>, git::Error> {
    let doing = |error| git::Error::new("making a repository of the refs to push", error);
    let directory = tempfile::tempdir().map_err(doing)?;
    make(directory.path(), repository, moves).map_err(doing)?;
    // Credentials and proxies may be in the configuration of the repository.
    let config = format!("include.path={}", repository.common_dir().join("config").display());
    let mut refspecs = vec!["refs/heads/*:refs/heads/*".to_owned()];
    if moves.iter().any(|it| it.name == NOTES_REF) {
        refspecs.push(format!("{NOTES_REF}:{NOTES_REF}"));
    }
    // Of several `--git-dir` the last one counts.
    Ok(access.run(repository, until, |command| {
        command.arg("--git-dir").arg(directory.path()).args(["-c", &config]);
        command.args(PUSH).arg(&access.url).args(&refspecs);
    }))
}

fn make(directory: &Path, repository: &Repository, moves: &[RefMove]) -> io::Result<()> {
    let format = match moves.first().map(|it| it.new.to_string().len()) {
        Some(64) => "\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n",
        _ => "\trepositoryformatversion = 0\n\tbare = true\n",
    };
    fs::write(directory.join("config"), format!("[core]\n{format}"))?;
    fs::write(directory.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::create_dir(directory.join("refs"))?;
    fs::create_dir_all(directory.join("objects/info"))?;
    let objects = fs::canonicalize(repository.common_dir().join("objects"))?;
    fs::write(directory.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
    let mut refs = String::new();
    for RefMove { name, new, .. } in moves {
        // Writing to a text never fails.
        let _ = writeln!(refs, "{new} {name}");
    }
    fs::write(directory.join("packed-refs"), refs)
}
