//! Which paths of an environment branch hydrated manifests may have.

use dry_files::diag::is_unprintable;
use dry_files::path::RepoPath;

use super::AppName;
use super::mistake::Mistake;

/// How long a path may be, and each name in it, in bytes: what every file system that a branch is checked out on takes.
const PATH_BYTES_MAX: usize = 1024;
const NAME_BYTES_MAX: usize = 255;

/// What git reads by itself wherever it is in a tree.
const GIT_NAMES: [&str; 5] = [".git", ".gitmodules", ".gitattributes", ".gitignore", ".mailmap"];

/// The file of all branches' roots.
const METADATA: &str = "hydrator.metadata";

/// Where GitHub, Gitea and Forgejo look for workflows, which they run with rights on the repository when a branch gets them.
const WORKFLOWS: [&str; 3] = [".github", ".gitea", ".forgejo"];

/// Checks a `syncSource.path`. `name` is the Application's, to suggest a folder.
pub(super) fn sync_path(text: &str, name: Option<&AppName>) -> Result<RepoPath, Mistake> {
    if let Some(character) = text.chars().find(|&c| is_unprintable(c) || c == '\\') {
        return Err(Mistake::SyncPathCharacter { text: text.to_owned(), character });
    }
    let path = RepoPath::clean(text).map_err(|reason| Mistake::SyncPath { text: text.to_owned(), reason })?;
    if path.is_root() {
        return Err(Mistake::SyncRoot { name: name.cloned() });
    }
    if let Some(component) = path.components().find(|component| is_gits(component)) {
        return Err(Mistake::SyncPathGit { text: text.to_owned(), component: component.to_owned() });
    }
    if path.components().next().is_some_and(|first| first.eq_ignore_ascii_case(METADATA)) {
        return Err(Mistake::SyncPathFile { text: text.to_owned(), file: METADATA });
    }
    let (first, rest) = path.as_str().split_once('/').unwrap_or((path.as_str(), ""));
    let second = rest.split('/').next().unwrap_or_default();
    let directory = WORKFLOWS.into_iter().find(|directory| first.eq_ignore_ascii_case(directory));
    if let Some(directory) = directory.filter(|_| second.eq_ignore_ascii_case("workflows")) {
        return Err(Mistake::SyncPathWorkflows { text: text.to_owned(), directory });
    }
    let longest_name = path.components().map(str::len).max().unwrap_or_default();
    for (what, len, max) in [
        ("the path of the hydrated manifests", path.as_str().len(), PATH_BYTES_MAX),
        ("a folder in the path of the hydrated manifests", longest_name, NAME_BYTES_MAX),
    ] {
        if len > max {
            return Err(Mistake::SyncPathLong { what, len, max });
        }
    }
    Ok(path)
}

/// Whether a file system may take the name for one of git's own: case, what HFS+ ignores, what NTFS cuts off, and the
/// short names of NTFS.
///
/// Reference: git 2.47 path.c `is_ntfs_dotgit` and `is_ntfs_dot_generic`, utf8.c `is_hfs_dot_generic`.
fn is_gits(component: &str) -> bool {
    let ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = component.chars().filter(|c| !ignored(c)).flat_map(char::to_lowercase).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let short = name.split_once('~').is_some_and(|(stem, number)| {
        stem.starts_with("gi") && stem.len() <= 6 && number.starts_with(|c: char| c.is_ascii_digit())
    });
    short || GIT_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::path::PathError;

    #[test]
    fn paths_of_manifests() {
        let name = AppName::new("web").expect("good");
        let long = format!("a/{}", "b".repeat(256));
        let deep = "a/".repeat(600);
        let text = str::to_owned;
        let git =
            |path: &str, component: &str| Err(Mistake::SyncPathGit { text: text(path), component: text(component) });
        let rows: &[(&str, Result<&str, Mistake>)] = &[
            ("web", Ok("web")),
            ("./west//web/", Ok("west/web")),
            ("a/../web", Ok("web")),
            ("größe/web.v2", Ok("größe/web.v2")),
            (".github", Ok(".github")),
            ("workflows/.github", Ok("workflows/.github")),
            (
                ".github/Workflows/x",
                Err(Mistake::SyncPathWorkflows { text: text(".github/Workflows/x"), directory: ".github" }),
            ),
            (
                ".gitea/workflows",
                Err(Mistake::SyncPathWorkflows { text: text(".gitea/workflows"), directory: ".gitea" }),
            ),
            ("git", Ok("git")),
            ("a/hydrator.metadata", Ok("a/hydrator.metadata")),
            ("", Err(Mistake::SyncRoot { name: Some(name.clone()) })),
            (".", Err(Mistake::SyncRoot { name: Some(name.clone()) })),
            ("a/..", Err(Mistake::SyncRoot { name: Some(name.clone()) })),
            ("..", Err(Mistake::SyncPath { text: text(".."), reason: PathError::Escapes })),
            ("a/../../b", Err(Mistake::SyncPath { text: text("a/../../b"), reason: PathError::Escapes })),
            ("/web", Err(Mistake::SyncPath { text: text("/web"), reason: PathError::Absolute })),
            ("a\0", Err(Mistake::SyncPathCharacter { text: text("a\0"), character: '\0' })),
            ("a\nb", Err(Mistake::SyncPathCharacter { text: text("a\nb"), character: '\n' })),
            ("a\\b", Err(Mistake::SyncPathCharacter { text: text("a\\b"), character: '\\' })),
            (".git", git(".git", ".git")),
            ("a/.git/hooks", git("a/.git/hooks", ".git")),
            (".GIT", git(".GIT", ".GIT")),
            (".git. .", git(".git. .", ".git. .")),
            (".git::$INDEX_ALLOCATION", git(".git::$INDEX_ALLOCATION", ".git::$INDEX_ALLOCATION")),
            ("GIT~1", git("GIT~1", "GIT~1")),
            (".g\u{200c}it", git(".g\u{200c}it", ".g\u{200c}it")),
            (".gitmodules", git(".gitmodules", ".gitmodules")),
            ("gitmod~1", git("gitmod~1", "gitmod~1")),
            ("gi7eba~1", git("gi7eba~1", "gi7eba~1")),
            ("a/.gitattributes", git("a/.gitattributes", ".gitattributes")),
            ("Hydrator.metadata", Err(Mistake::SyncPathFile { text: text("Hydrator.metadata"), file: METADATA })),
            (
                &long,
                Err(Mistake::SyncPathLong {
                    what: "a folder in the path of the hydrated manifests",
                    len: 256,
                    max: 255,
                }),
            ),
            (&deep, Err(Mistake::SyncPathLong { what: "the path of the hydrated manifests", len: 1199, max: 1024 })),
        ];
        for (path, expected) in rows {
            let found = sync_path(path, Some(&name));
            assert_eq!(found.as_ref().map(RepoPath::as_str), expected.as_ref().copied(), "{path:?}");
        }
    }
}
