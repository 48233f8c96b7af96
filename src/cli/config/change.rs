//! Changes of single keys: `git hydrate config set`, `add` and `unset`.

use anyhow::{anyhow, bail};

use super::super::WrongUse;
use super::{checked, seeds};
use crate::settings::{FILES, SECRET_FILES, SETTINGS_FILE, SettingsFiles as Files, Value, edit, reader, unknown_key};

/// Sets a key to what the words may mean there: a list where a word is one in YAML, else a text, a list of texts, or YAML,
/// whichever is allowed first.
pub(super) fn set(files: &Files, key: &str, words: &[String]) -> anyhow::Result<Files> {
    key_of_yaml(key)?;
    let list = Value::from(words.to_vec());
    let meanings = match words {
        [word] => {
            let yaml = reader::read(word).unwrap_or_else(|_| word.as_str().into());
            // No URL and no branch is written like a list.
            if yaml.as_list().is_some() { vec![yaml] } else { vec![word.as_str().into(), list, yaml] }
        }
        _ => vec![list],
    };
    let mut refused = None;
    for meaning in meanings {
        let new = with_key(files, key, Some(meaning))?;
        match checked(&new) {
            Ok(()) => return Ok(new),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("there is at least one meaning"))
}

pub(super) fn add(files: &Files, key: &str, value: &str) -> anyhow::Result<Files> {
    let mut list = list(files, key)?;
    if list.iter().any(|there| there.as_str() == Some(value)) {
        return Ok(files.clone());
    }
    list.push(value.into());
    with_key(files, key, Some(list.into()))
}

pub(super) fn take(files: &Files, key: &str, value: &str) -> anyhow::Result<Files> {
    let mut list = list(files, key)?;
    let before = list.len();
    list.retain(|there| there.as_str() != Some(value));
    if list.len() == before {
        bail!("`{value}` is not in `{key}`");
    }
    with_key(files, key, (!list.is_empty()).then(|| list.into()))
}

pub(super) fn unset(files: &Files, key: &str) -> anyhow::Result<Files> {
    if SECRET_FILES.contains(&key) || key == seeds::KEY {
        let hint = "old settings keep it: git hydrate config set seeds rotate draws from another one";
        bail!("a seed is not taken away\nhint: {hint}");
    }
    let mut new = files.clone();
    if new.remove(key).is_some() {
        return Ok(new);
    }
    if edit::get(&yaml(files)?, key)?.is_none() {
        match unknown_key(key) {
            Some(unknown) => bail!(WrongUse(unknown)),
            None => bail!("`{key}` is not set"),
        }
    }
    with_key(files, key, None)
}

/// The values of a key that is a list; a single value is a list of one.
pub(super) fn list(files: &Files, key: &str) -> anyhow::Result<Vec<Value>> {
    key_of_yaml(key)?;
    Ok(match edit::get(&yaml(files)?, key)? {
        None => Vec::new(),
        Some(value) => value.as_list().map_or_else(|| vec![value.clone()], <[Value]>::to_vec),
    })
}

fn with_key(files: &Files, key: &str, value: Option<Value>) -> anyhow::Result<Files> {
    let mut new = files.clone();
    let text = edit::set(&yaml(files)?, key, value).map_err(|error| anyhow!(error.without_place()))?;
    new.insert(SETTINGS_FILE.to_owned(), text.into_bytes());
    Ok(new)
}

fn key_of_yaml(key: &str) -> anyhow::Result<()> {
    if SECRET_FILES.contains(&key) {
        bail!(WrongUse("a seed is made, not given: git hydrate config set seeds new".to_owned()));
    }
    if FILES.contains(&key) {
        bail!(WrongUse(format!("{key} is a file: git hydrate config edit {key}")));
    }
    Ok(())
}

/// What `settings.yaml` says, as one mapping of keys.
pub(super) fn yaml(files: &Files) -> anyhow::Result<String> {
    const HINT: &str = "\nhint: git hydrate config edit, or import, replaces it";
    let content = files.get(SETTINGS_FILE).cloned().unwrap_or_default();
    let text = String::from_utf8(content).map_err(|_| anyhow!("settings.yaml is not UTF-8{HINT}"))?;
    match edit::read(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(anyhow!("no key of it can be changed: {error}{HINT}")),
    }
}
