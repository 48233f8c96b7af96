//! How deep `settings.yaml` may be: the parser that reads it takes time by the square of its depth before it refuses it, so
//! it never gets a deep one.

use super::SettingsError;
use crate::yaml::{self, Limits};

/// Collections inside each other.
const DEPTH_MAX: u32 = 100;

/// How many brackets a text may open that our own parser cannot read, and tells no depth of.
const BRACKETS_MAX: usize = 1000;

/// Errors: the text is too deep, with its place.
pub(super) fn check_depth(text: &str) -> Result<(), SettingsError> {
    let limits = Limits { depth: DEPTH_MAX, ..Limits::default() };
    let Err(error) = yaml::parse(text.as_bytes(), &limits) else { return Ok(()) };
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if !error.is_too_deep() && brackets <= BRACKETS_MAX {
        return Ok(());
    }
    let (line, column) = (error.line() as usize, error.column() as usize);
    Err(SettingsError::At { line, column, what: error.message().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{SETTINGS_FILE, Settings, SettingsFiles, edit};

    #[test]
    fn deep_settings_are_refused_before_they_are_parsed() {
        let rows = [
            "[".repeat(300_000),
            format!("a: {}", "{b: ".repeat(100_000)),
            "- ".repeat(300_000),
            format!("a: [\n]]\n{}", "[".repeat(300_000)),
        ];
        for text in rows {
            let files = SettingsFiles::from([(SETTINGS_FILE.to_owned(), text.clone().into_bytes())]);
            assert!(matches!(Settings::read(&files), Err(SettingsError::At { .. })), "{}", &text[..20]);
            assert!(edit::get(&text, "profile").is_err(), "{}", &text[..20]);
        }
        let usual = format!("branches: [{}]\n", "'[ab]*', ".repeat(5000));
        assert!(Settings::read(&SettingsFiles::from([(SETTINGS_FILE.to_owned(), usual.into_bytes())])).is_ok());
    }
}
