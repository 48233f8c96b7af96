//! What the dry repository advertises: its refs, asked for once.

use std::path::Path;

use super::{Address, Error, GUARD};
use crate::repo::{self, Git, object_id};

/// What the dry repository says of itself before anything is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Upstream {
    /// The branch that its `HEAD` names, if it says so.
    pub head: Option<String>,
    /// How it hashes objects: `sha1` or `sha256`.
    pub object_format: &'static str,
}

impl Upstream {
    /// Asks it. git shows on standard error what goes wrong, and asks for passwords there.
    pub(super) fn ask(address: &Address) -> Result<Self, Error> {
        // git needs no repository for this, and must not take one that it happens to be in.
        let mut command = Git::new(Path::new("/nonexistent")).command();
        command.args(["ls-remote", "--symref", "--", address.url(), "HEAD", "refs/heads/*"]).env(GUARD, "1");
        let output = command.stderr(std::process::Stdio::inherit()).output();
        let output = output.map_err(|error| repo::Error::new("starting git", error))?;
        if !output.status.success() {
            return Err(Error::Unreachable(address.shown()));
        }
        Self::read(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| Error::Empty(address.shown()))
    }

    /// Reads what `git ls-remote --symref` prints; none when there is no branch.
    fn read(listing: &str) -> Option<Self> {
        let lines = || listing.lines().filter_map(|line| line.split_once('\t'));
        let head = lines().find_map(|(target, name)| {
            let branch = target.strip_prefix("ref: refs/heads/")?;
            (name == "HEAD").then(|| branch.to_owned())
        });
        let id = lines().find_map(|(id, _)| object_id(id))?;
        let object_format = if id.as_bytes().len() == 32 { "sha256" } else { "sha1" };
        Some(Self { head, object_format })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings() {
        let sha1 = "d86631646478ef8b6d2bfc3fca33178d891f43d4";
        let sha256 = format!("{sha1}{}", "0".repeat(24));
        let rows = [
            ("nothing", String::new(), None),
            ("a link", format!("ref: refs/heads/a/b\tHEAD\n{sha1}\tHEAD\n"), Some((Some("a/b"), "sha1"))),
            ("a detached head", format!("{sha1}\tHEAD\n{sha1}\trefs/heads/main\n"), Some((None, "sha1"))),
            ("SHA-256", format!("{sha256}\trefs/heads/main\n"), Some((None, "sha256"))),
        ];
        for (name, listing, expected) in rows {
            let expected =
                expected.map(|(head, object_format)| Upstream { head: head.map(str::to_owned), object_format });
            assert_eq!(Upstream::read(&listing), expected, "{name}");
        }
    }
}
