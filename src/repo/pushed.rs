//! Pushes in which git guesses no name.
//!
//! git takes the name that a push gives a ref for the end of one. Where somebody made a tag `refs/heads/main`, the name
//! `refs/heads/main` is that of the branch and of the tag, and the push is refused; without the branch it moves the tag. It also
//! compares each name with each ref that is there: 4,000 of them take 17 s of processor, of 10,000 two minutes. Names that come
//! of a pattern are looked up as they are. So a repository of its own, which borrows the objects, has the refs as they are to
//! be, and is pushed by a pattern: 0.4 s.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Error, ObjectId, Repository};
use dry_files::diag::more::listed;
use dry_files::diag::{printable, shell_word};

/// A repository of refs that are to be pushed. It goes when it is dropped.
#[derive(Debug)]
pub(crate) struct PushedRefs {
    directory: tempfile::TempDir,
    /// The configuration of the other one: credentials, proxies and remotes may be in it.
    config: String,
}

impl PushedRefs {
    /// Pushes each ref to the one of its name.
    pub(crate) const REFSPEC: &str = "refs/*:refs/*";

    /// Has these refs, by full name, whose objects are in `repository`.
    pub(crate) fn new<'r>(
        repository: &Repository,
        refs: impl IntoIterator<Item = (&'r str, ObjectId)>,
    ) -> Result<Self, Error> {
        let doing = |error| Error::new("making a repository of the refs to push", error);
        let directory = tempfile::tempdir().map_err(doing)?;
        fill(directory.path(), repository, refs).map_err(doing)?;
        let config = format!("include.path={}", repository.common_dir().join("config").display());
        Ok(Self { directory, config })
    }

    /// Has a git that has no arguments of a command yet work on these refs.
    pub(crate) fn choose(&self, command: &mut Command) {
        // Of several `--git-dir` the last one counts.
        command.arg("--git-dir").arg(self.directory.path()).args(["-c", &self.config]);
    }
}

fn fill<'r>(
    directory: &Path,
    repository: &Repository,
    refs: impl IntoIterator<Item = (&'r str, ObjectId)>,
) -> io::Result<()> {
    let format = match repository.null_id().as_bytes().len() {
        32 => "\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n",
        _ => "\trepositoryformatversion = 0\n\tbare = true\n",
    };
    fs::write(directory.join("config"), format!("[core]\n{format}"))?;
    fs::write(directory.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::create_dir(directory.join("refs"))?;
    fs::create_dir_all(directory.join("objects/info"))?;
    let objects = fs::canonicalize(repository.common_dir().join("objects"))?;
    fs::write(directory.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
    let mut listing = String::new();
    for (name, id) in refs {
        // Writing to a text never fails.
        let _ = writeln!(listing, "{id} {name}");
    }
    fs::write(directory.join("packed-refs"), listing)
}

/// The refs that git takes the ref `there` for when somebody pushes them by their full name: most refs are taken for none.
///
/// Reference: git 2.47 refs.c `ref_rev_parse_rules`, remote.c `count_refspec_match`.
pub(crate) fn taken_for(there: &str) -> Vec<&str> {
    let of_remote = there.strip_prefix("refs/remotes/");
    let places = ["refs/", "refs/tags/", "refs/heads/"];
    let ends = places.iter().filter_map(|place| there.strip_prefix(place)).chain(of_remote);
    let ends = ends.chain(of_remote.and_then(|end| end.strip_suffix("/HEAD")));
    ends.filter(|end| end.starts_with("refs/")).collect()
}

/// How many refs one sentence names.
const NAMED_MAX: usize = 5;

/// What is said of refs of a remote that git takes for others, and the command that deletes them; none without any.
pub(crate) fn said_of_taken(remote: &str, found: &[&str]) -> Option<(String, String)> {
    let (what, names) = said_of_taken_in(remote, found)?;
    Some((what, format!("git push {} --delete {}", shell_word(remote), names.join(" "))))
}

/// What is said of refs of a repository that git takes for others, and the first of them as words of a shell; none without any.
pub(crate) fn said_of_taken_in(whose: &str, found: &[&str]) -> Option<(String, Vec<String>)> {
    let named = |names: BTreeSet<&str>| listed(names.iter().map(|name| format!("`{}`", printable(name))), NAMED_MAX);
    let others: BTreeSet<&str> = found.iter().flat_map(|there| taken_for(there)).collect();
    let what = format!(
        "{} has {}, which git takes for {} when somebody pushes that by name",
        printable(whose),
        named(found.iter().copied().collect()),
        named(others)
    );
    let words: Vec<String> = found.iter().take(NAMED_MAX).map(|name| shell_word(name)).collect();
    (!found.is_empty()).then_some((what, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_that_git_takes_for_others() {
        let rows: [(&str, &[&str]); 9] = [
            ("refs/heads/main", &[]),
            ("refs/tags/v1", &[]),
            ("refs/tags/refs", &[]),
            ("refs/heads/refs-heads/main", &[]),
            ("refs/tags/refs/heads/main", &["refs/heads/main"]),
            ("refs/heads/refs/heads/main", &["refs/heads/main"]),
            ("refs/refs/notes/n", &["refs/notes/n"]),
            ("refs/tags/refs/tags/refs/heads/main", &["refs/tags/refs/heads/main"]),
            ("refs/remotes/refs/heads/main/HEAD", &["refs/heads/main/HEAD", "refs/heads/main"]),
        ];
        for (there, expected) in rows {
            assert_eq!(taken_for(there), expected, "{there}");
        }
    }
}
