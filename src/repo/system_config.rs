//! Where git keeps the configuration of the whole machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Has every repository that this process opens read `path` as the configuration of the machine.
pub(crate) fn use_system_config(path: PathBuf) {
    // The first one named counts: there is one machine.
    drop(NAMED.set(path));
}

/// The configuration of the machine that was named.
pub(super) fn named() -> Option<&'static Path> {
    NAMED.get().map(PathBuf::as_path)
}

/// The configuration of the machine that belongs to the first git on `search_path`, when that has one of its own: a git
/// whose prefix is not `/usr` keeps it below that prefix. No git is started.
///
/// Reference: git 2.47 Makefile `sysconfdir`, `ETC_GITCONFIG`.
pub(crate) fn system_config(search_path: &OsStr) -> Option<PathBuf> {
    let git = std::env::split_paths(search_path).map(|dir| dir.join("git")).find(|path| path.is_file())?;
    let git = git.canonicalize().ok()?;
    let dir = git.parent()?;
    // In a hook, the directory of git's own programs comes first.
    let exec_dirs = ["libexec/git-core", "lib/git-core"];
    let prefix = match exec_dirs.iter().any(|end| dir.ends_with(end)) {
        true => dir.ancestors().nth(2)?,
        false if dir.ends_with("bin") => dir.parent()?,
        false => return None,
    };
    let path = prefix.join("etc/gitconfig");
    (prefix != Path::new("/usr") && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_a_git_outside_of_usr_is_found() {
        let top = tempfile::tempdir().expect("a directory");
        let top = top.path().canonicalize().expect("there");
        let write = |path: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, "").expect("written");
        };
        for path in ["local/bin/git", "local/libexec/git-core/git", "local/etc/gitconfig", "bare/bin/git", "odd/git"] {
            write(path);
        }
        let rows = [
            ("local/bin", Some("local/etc/gitconfig")),
            ("local/libexec/git-core", Some("local/etc/gitconfig")),
            ("bare/bin", None),
            ("odd", None),
            ("none", None),
        ];
        for (dir, expected) in rows {
            assert_eq!(system_config(top.join(dir).as_os_str()), expected.map(|path| top.join(path)), "{dir}");
        }
    }
}
