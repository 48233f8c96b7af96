//! `Chart.lock`: which versions `helm dependency update` chose, and for which `Chart.yaml`.

use data_encoding::HEXLOWER;
use go_yaml::{Value, json};
use sha2::{Digest, Sha256};

/// What a `Chart.lock` or `requirements.lock` says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChartLock {
    /// Name, repository and version of each dependency.
    pub dependencies: Vec<(String, String, String)>,
    digest: String,
}

/// `Chart.yaml` has changed since the lock file was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lock file ({lock}) is out of sync with the dependencies file ({file})")]
pub struct StaleLock {
    /// The lock file.
    pub lock: &'static str,
    /// The file that it was made from.
    pub file: &'static str,
}

impl ChartLock {
    /// Reads a lock file; of what is no mapping nothing.
    pub fn of(value: &Value) -> Self {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let items = value.get("dependencies").and_then(Value::as_sequence).unwrap_or_default();
        let dependency = |item: &Value| (text(item, "name"), text(item, "repository"), text(item, "version"));
        Self { dependencies: items.iter().map(dependency).collect(), digest: text(value, "digest") }
    }

    /// An error unless it was written for these dependencies of a `Chart.yaml`.
    ///
    /// Reference: helm 4.2.3 internal/resolver/resolver.go `HashReq`, `HashV2Req`.
    pub fn check(&self, requested: &[Value], is_v1: bool) -> Result<(), StaleLock> {
        let (lock, file) = match is_v1 {
            true => ("requirements.lock", "requirements.yaml"),
            false => ("Chart.lock", "Chart.yaml"),
        };
        let requested = list(requested.iter().map(fields));
        let locked = list(self.dependencies.iter().map(locked_fields));
        let fits = |json: String| self.digest == format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(json)));
        if fits(format!("[{requested},{locked}]")) || (is_v1 && fits(format!("{{\"dependencies\":{requested}}}"))) {
            return Ok(());
        }
        Err(StaleLock { lock, file })
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// What Go writes of a dependency of a lock file.
fn locked_fields((name, repository, version): &(String, String, String)) -> String {
    let entries = [("name", name), ("repository", repository), ("version", version)];
    fields(&Value::Mapping(entries.map(|(key, text)| (key.to_owned(), Value::String(text.clone()))).into()))
}

/// What Go writes of a dependency: its fields in their order, `<`, `>` and `&` escaped, those left out that are empty and
/// may be.
///
/// Reference: helm 4.2.3 pkg/chart/v2/dependency.go `Dependency`.
fn fields(dependency: &Value) -> String {
    const FIELDS: [(&str, bool); 8] = [
        ("name", true),
        ("version", false),
        ("repository", true),
        ("condition", false),
        ("tags", false),
        ("enabled", false),
        ("import-values", false),
        ("alias", false),
    ];
    let written = FIELDS.into_iter().filter_map(|(name, always)| field(dependency, name, always));
    format!("{{{}}}", written.collect::<Vec<_>>().join(","))
}

fn field(dependency: &Value, name: &str, always: bool) -> Option<String> {
    let options = json::Options { escape_html: true, indent: None };
    let value = dependency.get(name).map(|value| json::encode(value, options));
    let is_empty = value.as_deref().is_none_or(|value| matches!(value, "null" | "false" | "\"\"" | "[]"));
    match (is_empty, always) {
        (false, _) => Some(format!("\"{name}\":{}", value.unwrap_or_default())),
        (true, true) => Some(format!("\"{name}\":\"\"")),
        (true, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        go_yaml::sigs::unmarshal(text.as_bytes(), &go_yaml::Limits::default()).expect("YAML")
    }

    /// Written by `helm dependency update` 4.2.3.
    const LOCK: &str = "\
dependencies:
- name: web
  repository: http://127.0.0.1:18999
  version: 1.2.3
digest: sha256:a0d4e0d771783c0a1663056e29313ae965d2ca0f626e66c1714538bdee786a86
generated: \"2026-11-23T03:09:03.922280232Z\"
";

    #[test]
    fn a_lock_file_fits_the_dependencies_that_it_was_made_for() {
        let rows = [
            ("as it was", "condition: web.enabled", true),
            ("another condition", "condition: web.on", false),
            ("a tag", "condition: web.enabled\n  tags: [a]", false),
        ];
        for (name, condition, fits) in rows {
            let text = format!(
                "- name: web\n  version: '>=1.2.0 <2'\n  repository: http://127.0.0.1:18999\n  {condition}\n  alias: front\n"
            );
            let requested = value(&text);
            let lock = ChartLock::of(&value(LOCK));
            let checked = lock.check(requested.as_sequence().expect("a list"), false);
            assert_eq!(checked.is_ok(), fits, "{name}");
        }
    }
}
