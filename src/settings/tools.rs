//! The setting `tools` in its file: the exact versions are written beside the Argo CD that has them.

use super::{SETTINGS_FILE, Settings, SettingsError, SettingsFiles, edit, reader};
use crate::argo::ToolSettings;
use crate::versions::Tools;

/// The key in the settings.
const KEY: &str = "tools";

/// The settings with what words such as `helm=4.3.1` or `environments/prod:argocd=3.4` say of the tools.
///
/// Errors: what is wrong with a word, or settings that cannot be read or changed.
pub(crate) fn with_words(files: &SettingsFiles, words: &[String]) -> Result<SettingsFiles, SettingsError> {
    let tools = Settings::read(files)?.tools;
    let tools = words.iter().try_fold(tools, |tools, word| tools.with(word)).map_err(SettingsError::Wrong)?;
    written(files, &tools.resolved())
}

/// The settings with exact versions beside each Argo CD: those that it has, where another one was named `before`.
///
/// Errors: settings that cannot be changed.
pub(crate) fn resolved(before: &SettingsFiles, files: SettingsFiles) -> Result<SettingsFiles, SettingsError> {
    let Ok(settings) = Settings::read(&files) else { return Ok(files) };
    let before = Settings::read(before).map(|settings| settings.tools).unwrap_or_default();
    let tools = settings.tools.without_those_of(&before).resolved();
    if tools == settings.tools { Ok(files) } else { written(&files, &tools) }
}

/// New settings, with the newest tools, by which Applications may name tags, ranges and commits.
///
/// Errors: none that is expected.
pub(crate) fn newest() -> Result<SettingsFiles, SettingsError> {
    let mut files = written(&SettingsFiles::new(), &ToolSettings::exact(Tools::newest()))?;
    if let Some(text) = files.get_mut(SETTINGS_FILE) {
        text.extend_from_slice(b"revisions: true\n");
    }
    Ok(files)
}

fn written(files: &SettingsFiles, tools: &ToolSettings) -> Result<SettingsFiles, SettingsError> {
    // JSON is YAML, and keeps the order of the globs.
    let json = serde_json::to_string(tools).map_err(|error| SettingsError::Wrong(error.to_string()))?;
    let text = String::from_utf8_lossy(files.get(SETTINGS_FILE).map(Vec::as_slice).unwrap_or_default()).into_owned();
    let text = edit::set(&text, KEY, Some(reader::read(&json)?))?;
    let mut files = files.clone();
    files.insert(SETTINGS_FILE.to_owned(), text.into_bytes());
    Ok(files)
}
