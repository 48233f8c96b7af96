//! Changes one key of `settings.yaml` and leaves every other line as it is, comments included.

use super::value::{Data, Mapping, Value};
use super::{SettingsError, reader};

/// The value of a key: `profile`, or `tools.helm` for one inside of another. A branch name after the first dot may have
/// dots of its own.
///
/// Errors: the text is not a mapping.
pub(crate) fn get(text: &str, key: &str) -> Result<Option<Value>, SettingsError> {
    let document = read(text)?;
    let (top, below) = split(key);
    let Some(value) = document.get(top) else { return Ok(None) };
    Ok(below.iter().try_fold(value, |value, key| value.get(key)).cloned())
}

/// The text with `key` set to `value`, or without it. A mapping that has nothing any more is removed with its last key.
///
/// Errors: the text is not a mapping, or is written so that its lines cannot be changed key by key.
pub(crate) fn set(text: &str, key: &str, value: Option<Value>) -> Result<String, SettingsError> {
    let mut document = read(text)?;
    let (top, below) = split(key);
    let value = put(document.get(top), top, &below, value)?;
    let mut block = String::new();
    match value {
        Some(value) => {
            document.insert(top, value.clone());
            block = Value::from(Mapping::from_iter([(top, value)])).to_yaml();
        }
        None => document.remove(top),
    }
    let (start, end) = block_of(text, top);
    let before = &text[..start];
    let break_line = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let changed = format!("{before}{break_line}{block}{}", &text[end..]);
    if read(&changed).ok().as_ref() != Some(&document) {
        return Err(SettingsError::NotEditable);
    }
    Ok(changed)
}

/// The value of the key `name` with what `below` leads to set to `value`; none when nothing is left.
fn put(old: Option<&Value>, name: &str, below: &[&str], value: Option<Value>) -> Result<Option<Value>, SettingsError> {
    let Some((next, rest)) = below.split_first() else { return Ok(value) };
    let mut map = match old.map(|old| &old.data) {
        Some(Data::Mapping(map)) => map.clone(),
        None => Mapping::default(),
        Some(_) => return Err(SettingsError::Wrong(format!("`{name}` has no keys: unset it first"))),
    };
    match put(map.get(next), next, rest, value)? {
        Some(value) => map.insert(next, value),
        None => map.remove(next),
    }
    Ok((!map.is_empty()).then(|| map.into()))
}

/// The key of the top and those below it. What is said of an ApplicationSet is below its name, which may have dots.
fn split(key: &str) -> (&str, Vec<&str>) {
    match key.split_once('.') {
        None => (key, Vec::new()),
        Some((top @ "applicationSets", below)) => {
            (top, below.rsplit_once('.').map_or(vec![below], |(name, field)| vec![name, field]))
        }
        Some((top, below)) => (top, vec![below]),
    }
}

/// The keys of a text.
///
/// Errors: it is not a mapping.
pub(crate) fn read(text: &str) -> Result<Mapping, SettingsError> {
    let document = reader::read(text)?;
    match document.data {
        Data::Mapping(mapping) => Ok(mapping),
        Data::Null => Ok(Mapping::default()),
        _ => Err(document.no_mapping()),
    }
}

/// Where the lines of a top-level key are, as byte offsets; the end of the text twice when it has none. Blank lines
/// and comments at the end belong to what follows.
fn block_of(text: &str, key: &str) -> (usize, usize) {
    let names = [format!("{key}:"), format!("'{key}':"), format!("\"{key}\":")];
    let mut block = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let next = offset + line.len();
        let content = line.trim_end();
        match &mut block {
            None if names.iter().any(|name| line.starts_with(name.as_str())) => block = Some((offset, next)),
            None => {}
            Some(_) if content.is_empty() || content.starts_with('#') => {}
            // A list may be as far left as its key.
            Some((_, end)) if line.starts_with([' ', '\t', '-']) && !content.starts_with("---") => *end = next,
            Some(_) => break,
        }
        offset = next;
    }
    block.unwrap_or((text.len(), text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_stay_as_they_are() {
        let rows = [
            ("empty", "", "profile", Some("argocd"), "profile: argocd\n"),
            ("appended", "a: 1", "profile", Some("argocd"), "a: 1\nprofile: argocd\n"),
            (
                "replaced",
                "# why\nprofile: x # here\n\n# b\nb: 2\n",
                "profile",
                Some("y"),
                "# why\nprofile: y\n\n# b\nb: 2\n",
            ),
            ("removed", "a: 1\nprofile: x\nb: 2\n", "profile", None, "a: 1\nb: 2\n"),
            ("a list", "list:\n- a\n- b\nb: 2\n", "list", Some("[c]"), "list:\n- c\nb: 2\n"),
            ("an indented list", "list:\n  # first\n  - a\nb: 2\n", "list", Some("[c]"), "list:\n- c\nb: 2\n"),
            (
                "below another",
                "tools:\n  helm: a\n",
                "tools.kustomize",
                Some("b"),
                "tools:\n  helm: a\n  kustomize: b\n",
            ),
            ("the last one below another", "tools:\n  helm: a\nb: 2\n", "tools.helm", None, "b: 2\n"),
            ("dots below", "", "activePaths.env/1.2", Some("[a]"), "activePaths:\n  env/1.2:\n  - a\n"),
            ("a key like it", "profiles: 1\n", "profile", Some("x"), "profiles: 1\nprofile: x\n"),
            ("quoted", "\"profile\": x\n", "profile", Some("y"), "profile: y\n"),
            ("nothing to remove", "a: 1\n", "profile", None, "a: 1\n"),
            ("a block of text", "text: |\n  a\n\n  b\nb: 2\n", "text", Some("c"), "text: c\nb: 2\n"),
            ("after a mark", "---\na: 1\n", "a", Some("2"), "---\na: 2\n"),
        ];
        for (name, text, key, value, expected) in rows {
            let value = value.map(|value| reader::read(value).expect("YAML"));
            assert_eq!(set(text, key, value).expect(name), expected, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        let rows = [
            ("a flow mapping", "{a: 1}\n", "a", "use: git hydrate config edit"),
            ("two documents", "a: 1\n---\nb: 2\n", "a", "settings.yaml"),
            ("a value with keys", "a: 1\n", "a.b", "`a` has no keys"),
        ];
        for (name, text, key, expected) in rows {
            let error = set(text, key, Some("x".into())).expect_err(name).to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn values_are_found() {
        let text = "tools:\n  helm: a\nactivePaths:\n  env/1.2: [x]\n";
        assert_eq!(get(text, "tools.helm").expect("YAML"), Some("a".into()));
        assert_eq!(get(text, "activePaths.env/1.2").expect("YAML"), Some(vec!["x"].into()));
        assert_eq!(get(text, "profile").expect("YAML"), None);
    }
}
