//! Which file that git runs calls us, where it is not one of ours.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;
use super::hook::Hook;
use super::place::{content, hooks_dir};
use crate::owners::platform::is_executable;
use crate::repo::Repository;

/// The file that calls us as `hook`; of several, one that is executable.
pub(super) fn calling(hook: &Hook, repository: &Repository) -> Result<Option<PathBuf>, Error> {
    let mut found = None;
    for file in candidates(hook, repository)? {
        if content(&file)?.is_some_and(|text| calls(&text, hook)) && (found.is_none() || is_executable(&file)) {
            found = Some(file);
        }
    }
    Ok(found)
}

/// The files that may run as `hook`: the one that git runs, and what that one runs in its turn, such as all files of a
/// directory beside it (Gitea, Debian's run-parts) or all whose names begin with its own (gitolite's driver).
fn candidates(hook: &Hook, repository: &Repository) -> Result<Vec<PathBuf>, Error> {
    let dir = hooks_dir(hook, repository)?;
    let several = format!("{}.d", hook.name);
    let custom = repository.common_dir().join("custom_hooks");
    let mut found = vec![dir.join(hook.name), custom.join(hook.name)];
    found.extend(files_of(&custom.join(&several)));
    let driver = dir.join(hook.name);
    let Some(text) = content(&driver)?.filter(|_| is_executable(&driver)) else { return Ok(found) };
    let text = String::from_utf8_lossy(&text);
    let lines: String = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let all = ["$0.*", &format!("{}.*", hook.name)].iter().any(|pattern| lines.contains(pattern));
    for file in files_of(&dir).filter(|file| *file != driver) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let runs = lines.split(|end: char| end.is_whitespace() || "\"'/;&|)".contains(end)).any(|word| word == name);
        if runs || all && name.starts_with(&format!("{}.", hook.name)) {
            found.push(file);
        }
    }
    if lines.contains(".d") {
        found.extend(files_of(&dir.join(several)));
    }
    Ok(found)
}

/// The files in a directory, by name; none when it cannot be read.
fn files_of(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut files: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files.into_iter()
}

/// Whether a script runs us as this hook and not as another.
pub(super) fn calls(script: &[u8], hook: &Hook) -> bool {
    let text = String::from_utf8_lossy(script);
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.any(|line| {
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '\'', ';'])).collect();
        words.windows(3).any(|words| words[0].ends_with("hydrate") && words[1..] == ["hook", hook.name])
    })
}
