//! What everybody who can read a hydrated branch would read: Secrets in plain text, and keys in other objects.

use go_yaml::Value;

use super::Manifest;
use super::encrypted::is_sops_object;

/// The annotation by which an object says that it may be read.
pub(super) const ALLOWED: &str = "git-hydrate/plain-secret";

/// Something that should not be in plain text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exposed {
    /// A Secret with values.
    Secret,
    /// A value of another object that looks like a key.
    Key {
        /// Where it is: `data.token`.
        field: String,
        /// What it looks like: `a GitHub token`.
        looks_like: &'static str,
    },
}

/// What is exposed by an object; nothing of one with the annotation [`ALLOWED`], or that SOPS encrypted.
///
/// Of a Secret it counts that there is a value, unless it is a placeholder that the cluster replaces; of other objects only
/// what has the form of a key that somebody gave out, so that there are few false alarms.
pub(crate) fn exposed(manifest: &Manifest) -> Vec<Exposed> {
    let allowed = manifest.object().at(&["metadata", "annotations", ALLOWED]).and_then(Value::as_str);
    if allowed == Some("allowed") || is_sops_object(manifest) {
        return Vec::new();
    }
    if manifest.group().is_empty() && manifest.kind() == "Secret" {
        let values = ["data", "stringData"].into_iter().filter_map(|key| manifest.object().get(key)?.as_mapping());
        let mut values = values.flat_map(|values| values.values()).filter_map(Value::as_str);
        return if values.any(is_value) { vec![Exposed::Secret] } else { Vec::new() };
    }
    let mut found = Vec::new();
    search("", manifest.object(), &mut found);
    found
}

/// Whether a value of a Secret is one, and none that something in the cluster puts there.
///
/// Reference: argocd-vault-plugin docs/howitworks.md (`<path:…>`, `<key>`); vals and helm-secrets (`ref+…`).
fn is_value(text: &str) -> bool {
    let text = text.trim();
    let is_placeholder = text.starts_with('<') && text.ends_with('>');
    !text.is_empty() && !is_placeholder && !text.starts_with("ref+") && !text.starts_with("ENC[")
}

/// How a key begins, the characters that follow, how many of them there are at least, and what it is.
///
/// Reference: the formats that those who give them out document: AWS IAM identifiers, GitHub "about authentication",
/// GitLab token prefixes, Slack token types, Google API keys, Stripe API keys.
const KEYS: [(&str, Form, usize, &str); 12] = [
    ("AKIA", Form::Upper, 16, "an AWS access key"),
    ("ASIA", Form::Upper, 16, "an AWS access key"),
    ("ghp_", Form::Word, 36, "a GitHub token"),
    ("gho_", Form::Word, 36, "a GitHub token"),
    ("ghs_", Form::Word, 36, "a GitHub token"),
    ("github_pat_", Form::Word, 60, "a GitHub token"),
    ("glpat-", Form::Dashed, 20, "a GitLab token"),
    ("xoxb-", Form::Dashed, 30, "a Slack token"),
    ("xoxp-", Form::Dashed, 30, "a Slack token"),
    ("AIza", Form::Dashed, 35, "a Google API key"),
    ("sk_live_", Form::Word, 24, "a Stripe key"),
    ("rk_live_", Form::Word, 24, "a Stripe key"),
];

#[derive(Clone, Copy)]
enum Form {
    Upper,
    Word,
    Dashed,
}

impl Form {
    fn has(self, c: u8) -> bool {
        match self {
            Form::Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Form::Word => c.is_ascii_alphanumeric() || c == b'_',
            Form::Dashed => c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'),
        }
    }
}

fn search(path: &str, value: &Value, found: &mut Vec<Exposed>) {
    match value {
        Value::Mapping(fields) => {
            let dot = if path.is_empty() { "" } else { "." };
            fields.iter().for_each(|(key, value)| search(&format!("{path}{dot}{key}"), value, found));
        }
        Value::Sequence(items) => {
            items.iter().enumerate().for_each(|(index, item)| search(&format!("{path}[{index}]"), item, found));
        }
        Value::String(text) => {
            found.extend(key_in(text).map(|looks_like| Exposed::Key { field: path.to_owned(), looks_like }));
        }
        _ => {}
    }
}

/// What a text has in it that looks like a key.
pub(crate) fn key_in(text: &str) -> Option<&'static str> {
    if text.contains("PRIVATE KEY-----") && text.contains("-----BEGIN ") && text.len() > PRIVATE_KEY_MIN {
        return Some("a private key");
    }
    KEYS.iter().find(|(start, form, count, _)| has_key(text, start, *form, *count)).map(|(.., what)| *what)
}

/// A text with the lines around a private key alone is an example.
const PRIVATE_KEY_MIN: usize = 160;

fn has_key(text: &str, start: &str, form: Form, count: usize) -> bool {
    for (at, _) in text.match_indices(start) {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        let rest = text.as_bytes().get(at + start.len()..).unwrap_or_default();
        let key: Vec<u8> = rest.iter().copied().take_while(|c| form.has(*c)).collect();
        let is_exact = matches!(form, Form::Upper);
        let is_long = if is_exact { key.len() == count } else { key.len() >= count };
        if !before.is_some_and(u8::is_ascii_alphanumeric) && is_long && !is_example(&key) {
            return true;
        }
    }
    false
}

/// Whether a key is one of documentation: it says so, or repeats a character.
fn is_example(key: &[u8]) -> bool {
    let text = String::from_utf8_lossy(key).to_ascii_uppercase();
    let distinct: std::collections::BTreeSet<u8> = key.iter().copied().collect();
    text.contains("EXAMPLE") || text.contains("XXXX") || distinct.len() < 6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Source, read};

    fn found(text: &str) -> Vec<Exposed> {
        exposed(&read(text.as_bytes(), Source::Output("a test")).expect(text)[0])
    }

    #[test]
    fn secrets_in_plain_text() {
        let secret = |rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n{rest}\n");
        let rows = [
            ("stringData: {password: old}", true),
            ("data: {password: b2xk}", true),
            ("type: kubernetes.io/service-account-token", false),
            ("data: {password: ''}", false),
            ("stringData: {password: '<path:secret/data/db#password>'}", false),
            ("stringData: {password: 'ref+vault://db/password'}", false),
            ("data: {password: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: 'ENC[AES256_GCM,data:y]'}", false),
        ];
        for (rest, expected) in rows {
            assert_eq!(!found(&secret(rest)).is_empty(), expected, "{rest}");
        }
        let allowed =
            secret("data: {a: b}").replace("name: a", "name: a, annotations: {git-hydrate/plain-secret: allowed}");
        assert_eq!(found(&allowed), []);
    }

    #[test]
    fn keys_in_other_objects() {
        let config =
            |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: '{value}'}}\n");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj".repeat(3);
        let private = format!("-----BEGIN RSA PRIVATE KEY----- {body} -----END RSA PRIVATE KEY-----");
        let github = format!("token ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let rows = [
            (private.as_str(), Some("a private key")),
            ("AKIAQ3EGRZ5TLSMP4WYH", Some("an AWS access key")),
            (&github, Some("a GitHub token")),
            ("AKIAIOSFODNN7EXAMPLE", None),
            ("-----BEGIN CERTIFICATE----- MIIEvQ", None),
            ("-----BEGIN PRIVATE KEY----- ... -----END PRIVATE KEY-----", None),
            ("xAKIAQ3EGRZ5TLSMP4WYH", None),
            ("ghp_short", None),
            ("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", None),
        ];
        for (value, expected) in rows {
            let expected: Vec<Exposed> = expected
                .map(|looks_like| Exposed::Key { field: "data.x".to_owned(), looks_like })
                .into_iter()
                .collect();
            assert_eq!(found(&config(value)), expected, "{value}");
        }
    }
}
