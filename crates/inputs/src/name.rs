//! Which names the files of an input may have.

use dry_files::path::RepoPath;

/// How deep directories of an input may nest.
pub(super) const DEPTH_MAX: usize = 64;

/// Whether a file of an input is in more directories than are looked into.
pub fn is_deep(path: &RepoPath) -> bool {
    path.components().count() > DEPTH_MAX + 1
}

/// How long a name may be, in bytes: what the usual file systems take.
const NAME_BYTES_MAX: usize = 255;

/// Whether every file system and git take a name for what it is.
pub fn is_name(word: &str) -> bool {
    // What a terminal shows in another order, or as a line of its own, names nothing that one can read.
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\\' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    // What HFS+ does not see in a name.
    let ignored =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = word.chars().filter(|c| !ignored(*c)).collect::<String>().to_lowercase();
    // What NTFS does not see in it.
    let seen = seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    word.len() <= NAME_BYTES_MAX && !word.chars().any(is_odd) && !matches!(seen, "" | ".git" | "git~1")
}
