//! What Argo CD's ConfigMap `argocd-cm` sets for its own hydrator and for Kustomize, as settings.

use std::collections::BTreeMap;

use go_yaml::{self as yaml, Limits, sigs};

use super::value::{Mapping, Value};
use super::{BuildOptions, SETTINGS_FILE, SettingsError, SettingsFiles, edit};
use crate::metadata::{COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, README_GO_TEMPLATE, README_TEMPLATE};

/// The keys with templates: each with the file that it becomes, and the one whose place that takes.
const TEMPLATES: [(&str, &str, &str); 2] = [
    ("sourceHydrator.commitMessageTemplate", COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE),
    ("sourceHydrator.readmeMessageTemplate", README_GO_TEMPLATE, README_TEMPLATE),
];

/// The keys of the author of hydrated commits, each with Argo CD's default.
const AUTHOR: [(&str, &str, &str); 2] =
    [("commit.author.name", "name", "Argo CD"), ("commit.author.email", "email", "argo-cd@example.com")];

/// The key of the options of `kustomize build`, which is the one of the setting, too.
pub(crate) const BUILD_OPTIONS: &str = "kustomize.buildOptions";

/// The files of the settings with what the ConfigMap says: the two templates and the author of its hydrator, and the options of
/// Kustomize. An empty value is Argo CD's default, as there; its other keys say nothing of what is hydrated here.
///
/// Errors: it is no ConfigMap, or has none of these keys.
pub(crate) fn import(files: &SettingsFiles, config_map: &str) -> Result<SettingsFiles, SettingsError> {
    let wrong = |reason: String| SettingsError::NotArgocdCm(reason);
    let config_map = sigs::yaml_to_json(config_map.as_bytes(), &Limits::default());
    let config_map = config_map.map_err(|error| wrong(error.to_string()))?;
    let kind = config_map.get("kind").and_then(yaml::Value::as_str).unwrap_or_default();
    if kind != "ConfigMap" {
        return Err(wrong(format!("expected a ConfigMap, found kind `{kind}`")));
    }
    let data = texts_of(config_map.get("data")).map_err(|what| wrong(format!("data{what}")))?;
    let value = |key: &str| data.get(key).copied().filter(|value| !value.is_empty());
    let mut new = files.clone();
    let mut found = false;
    for (key, file, instead_of) in TEMPLATES {
        if let Some(template) = value(key) {
            new.insert(file.to_owned(), template.as_bytes().to_vec());
            new.remove(instead_of);
            found = true;
        }
    }
    if AUTHOR.iter().any(|(key, ..)| value(key).is_some()) {
        let author = AUTHOR.iter().map(|(key, name, default)| (*name, value(key).unwrap_or(default).into()));
        let text = files.get(SETTINGS_FILE).cloned().unwrap_or_default();
        let text = String::from_utf8(text).map_err(|_| SettingsError::NotUtf8(SETTINGS_FILE.to_owned()))?;
        let author = Value::from(author.collect::<Mapping>());
        new.insert(SETTINGS_FILE.to_owned(), edit::set(&text, "author", Some(author))?.into_bytes());
        found = true;
    }
    if let Some(options) = value(BUILD_OPTIONS) {
        let text = new.get(SETTINGS_FILE).cloned().unwrap_or_default();
        let text = String::from_utf8(text).map_err(|_| SettingsError::NotUtf8(SETTINGS_FILE.to_owned()))?;
        BuildOptions::try_from(options.to_owned()).map_err(wrong)?;
        new.insert(SETTINGS_FILE.to_owned(), edit::set(&text, BUILD_OPTIONS, Some(options.into()))?.into_bytes());
        found = true;
    }
    let keys =
        || TEMPLATES.iter().chain(&AUTHOR).map(|(key, ..)| *key).chain([BUILD_OPTIONS]).collect::<Vec<_>>().join(", ");
    if found { Ok(new) } else { Err(wrong(format!("it sets none of {}", keys()))) }
}

/// The texts of a mapping by key. Errors: it has something else; its path and what it must be.
fn texts_of(data: Option<&yaml::Value>) -> Result<BTreeMap<&str, &str>, String> {
    let data = match data {
        None | Some(yaml::Value::Null) => return Ok(BTreeMap::new()),
        Some(data) => data.as_mapping().ok_or(": must be a mapping")?,
    };
    let mut texts = BTreeMap::new();
    for (key, value) in data {
        texts.insert(key.as_str(), value.as_str().ok_or_else(|| format!(".{key}: must be a string"))?);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &SettingsFiles) -> Vec<&str> {
        files.keys().map(String::as_str).collect()
    }

    #[test]
    fn templates_and_author() {
        let before = SettingsFiles::from([("commit-message.j2".to_owned(), b"x".to_vec())]);
        let new = import(
            &before,
            "kind: ConfigMap\ndata:\n  commit.author.name: Robot\n  sourceHydrator.commitMessageTemplate: '{{ .metadata.drySha }}'\n  url: x\n",
        );
        let new = new.expect("a ConfigMap");
        assert_eq!(names(&new), ["commit-message.tmpl", "settings.yaml"]);
        assert_eq!(new["settings.yaml"], b"author:\n  name: Robot\n  email: argo-cd@example.com\n");
        assert_eq!(new["commit-message.tmpl"], b"{{ .metadata.drySha }}");
    }

    #[test]
    fn options_of_kustomize() {
        let before = SettingsFiles::from([("settings.yaml".to_owned(), b"history: tip\n".to_vec())]);
        let import =
            |options: &str| import(&before, &format!("kind: ConfigMap\ndata:\n  kustomize.buildOptions: {options}\n"));
        let new = import("--enable-helm --load-restrictor LoadRestrictionsNone").expect("a ConfigMap");
        let expected =
            "history: tip\nkustomize:\n  buildOptions: --enable-helm --load-restrictor LoadRestrictionsNone\n";
        assert_eq!(String::from_utf8_lossy(&new["settings.yaml"]), expected);
        let error = import("--output x").expect_err("no option for all").to_string();
        assert!(error.contains("`--output` is not supported"), "{error}");
    }

    #[test]
    fn what_has_nothing_to_say_is_refused() {
        let rows = [
            ("kind: Secret\n", "expected a ConfigMap, found kind `Secret`"),
            ("kind: ConfigMap\ndata: {url: x}\n", "it sets none of sourceHydrator.commitMessageTemplate, "),
            ("kind: ConfigMap\ndata: {commit.author.name: ''}\n", "it sets none of"),
            ("kind: ConfigMap\ndata: []\n", "data: "),
        ];
        for (text, expected) in rows {
            let error = import(&SettingsFiles::new(), text).expect_err(text).to_string();
            assert!(error.starts_with("argocd-cm: ") && error.contains(expected), "{text}: {error}");
        }
    }
}
