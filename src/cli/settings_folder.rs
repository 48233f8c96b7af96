//! A directory of settings, as `git hydrate config export` writes it.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use dry_files::regular;

use crate::settings::{FILE_BYTES_MAX, SettingsFiles as Files};

/// The settings in a directory.
pub(super) fn read(directory: &Path) -> anyhow::Result<Files> {
    let reading = || format!("reading {}", directory.display());
    let mut files = Files::new();
    for entry in fs::read_dir(directory).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        // The directory may be a work tree of the branch that has the settings.
        if entry.file_name() == ".git" {
            continue;
        }
        let content = regular::read_linked(&entry.path(), FILE_BYTES_MAX)
            .with_context(|| format!("reading {}", entry.path().display()))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), content);
    }
    Ok(files)
}
