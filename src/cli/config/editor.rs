//! `git hydrate config edit`: a settings file in the user's editor, with every key and its default below what is set.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, anyhow, bail};

use super::super::WrongUse;
use crate::metadata::{
    COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, DEFAULT_COMMIT_MESSAGE, DEFAULT_GO_COMMIT_MESSAGE, GO_README,
    PROPOSAL_README, README_GO_TEMPLATE, README_TEMPLATE,
};
use crate::owners::error::HydrateError;
use crate::owners::policy::check_settings;
use crate::repo::Repository;
use crate::settings::{FILES, SETTINGS_FILE, SettingsFiles as Files};
use dry_files::scratch;

/// What `settings.yaml` says to who edits it for the first time.
const NEW_SETTINGS: &str = include_str!("settings.yaml");

/// What is above the keys for who edits it again.
const NOT_SET: &str = "# Every key, with its default: copy a line without its `#`, or take the `#` away. Comments from here on are not saved.";

/// Has the user's editor change one file. What cannot be used is kept for the next try.
pub(super) fn edit_file(repository: &Repository, files: &Files, name: &str) -> anyhow::Result<Files> {
    let new = match name {
        SETTINGS_FILE => NEW_SETTINGS,
        README_TEMPLATE => PROPOSAL_README,
        README_GO_TEMPLATE => GO_README,
        COMMIT_MESSAGE_TEMPLATE => DEFAULT_COMMIT_MESSAGE,
        COMMIT_MESSAGE_GO_TEMPLATE => DEFAULT_GO_COMMIT_MESSAGE,
        _ => bail!(WrongUse(format!("`{name}` is not a settings file; the settings files are: {}", FILES.join(", ")))),
    };
    // Every key, whatever is set: below what is, and gone again unless it was used.
    let help = format!("\n{NOT_SET}\n{NEW_SETTINGS}");
    let before = match files.get(name) {
        text if name == SETTINGS_FILE => [text.map_or(&[][..], Vec::as_slice), help.as_bytes()].concat(),
        Some(text) => text.clone(),
        None => new.as_bytes().to_vec(),
    };
    let temp_dir = std::env::temp_dir();
    let directory = scratch::scratch_dir("edit", &[&temp_dir, repository.common_dir()])?;
    let path = directory.path().join(name);
    fs::write(&path, &before).with_context(|| format!("writing {}", path.display()))?;
    let editor = repository.git().output(&["var", "GIT_EDITOR"])?;
    let editor = String::from_utf8_lossy(&editor).trim_end().to_owned();
    // As git runs it: the editor may have arguments of its own.
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(&path).status();
    if !status.with_context(|| format!("starting {editor}"))?.success() {
        bail!("the editor failed: {editor}");
    }
    let after = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut edited = files.clone();
    if after == before {
        return Ok(edited);
    }
    edited.insert(name.to_owned(), after.clone());
    // With the help, so that lines are those of the file that is kept.
    if let Err(error) = check_settings(&edited) {
        let error = match error {
            HydrateError::Settings(error) => anyhow!(error),
            error => error.into(),
        };
        let kept = directory.keep().join(name);
        return Err(error.context(format!("not saved; the edited file is {}", kept.display())));
    }
    edited.insert(name.to_owned(), if name == SETTINGS_FILE { without_help(after) } else { after });
    Ok(edited)
}

/// What of an edited `settings.yaml` is the user's: all but the help that still is below [`NOT_SET`].
fn without_help(edited: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(edited.clone()) else { return edited };
    let Some((own, rest)) = text.split_once(&format!("\n{NOT_SET}\n")) else { return edited };
    let is_help = |line: &&str| line.is_empty() || NEW_SETTINGS.lines().any(|help| help == *line);
    let mut own = own.to_owned();
    for line in rest.lines().filter(|line| !is_help(line)) {
        if !own.is_empty() && !own.ends_with('\n') {
            own.push('\n');
        }
        own += line;
        own.push('\n');
    }
    own.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn of_an_edited_file_what_the_user_wrote_is_kept() {
        let help = format!("\n{NOT_SET}\n{NEW_SETTINGS}");
        let rows = [
            ("profile: argocd\n".to_owned() + &help, "profile: argocd\n"),
            (help.clone(), ""),
            (help.replace("#history: every", "history: tip"), "history: tip\n"),
            ("a: 1\n".to_owned() + &help + "# mine\nb:\n- 2\n", "a: 1\n# mine\nb:\n- 2\n"),
            ("a: 1\n".to_owned(), "a: 1\n"),
        ];
        for (edited, expected) in rows {
            assert_eq!(without_help(edited.clone().into_bytes()), expected.as_bytes(), "{edited}");
        }
    }

    #[test]
    fn the_reference_lists_every_key() {
        let reference = include_str!("../../../docs/reference.md");
        let keys = NEW_SETTINGS.lines().filter_map(|line| line.strip_prefix('#')?.split_once(": ").map(|(key, _)| key));
        for key in keys.filter(|key| key.chars().all(char::is_alphanumeric)) {
            assert!(reference.contains(&format!("\n| `{key}` | ")), "{key}");
        }
    }

    #[test]
    fn new_settings_name_every_key_and_change_nothing() {
        let read = |text: &str| Settings::read(&Files::from([(SETTINGS_FILE.to_owned(), text.as_bytes().to_vec())]));
        assert_eq!(read(NEW_SETTINGS), Ok(Settings::default()));
        let text = NEW_SETTINGS.replace("\n#", "\n");
        let set: Vec<_> = text.lines().filter(|line| !line.starts_with([' ', '#'])).collect();
        read(&set.join("\n")).expect("good settings");
        let names: Vec<_> = set.iter().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
        assert_eq!(names, crate::settings::keys().collect::<Vec<_>>());
    }

    #[test]
    fn new_settings_show_the_limits_that_hold() {
        let shown = NEW_SETTINGS.lines().find_map(|line| line.strip_prefix("#limits: ")).expect("limits");
        let shown: serde_json::Value =
            serde_json::to_value(crate::settings::reader::read(shown).expect("YAML")).expect("JSON");
        assert_eq!(shown, serde_json::to_value(crate::settings::Limits::default()).expect("JSON"));
    }
}
