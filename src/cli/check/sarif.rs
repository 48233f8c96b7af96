//! Findings as SARIF 2.1.0, which editors and code scanning read.

use dry_files::diag::{Severity, Span};
use serde_json::{Value, json};

use crate::inspect::{CheckFinding, Rule};

/// The whole log of one run.
///
/// Columns count characters. Paths are relative to the root of the dry tree.
pub(super) fn log(findings: &[CheckFinding]) -> Value {
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "git-hydrate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.map(rule),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(rule: Rule) -> Value {
    let name = rule.name();
    let words = name.split('-').map(|word| word[..1].to_ascii_uppercase() + &word[1..]);
    let sentence = rule.help().split_inclusive(". ").next().unwrap_or_default().trim_end();
    json!({
        "id": name,
        "name": words.collect::<String>(),
        "shortDescription": { "text": sentence },
        "help": { "text": rule.help() },
    })
}

fn result(finding: &CheckFinding) -> Value {
    let CheckFinding { rule, diagnostic, found_in } = finding;
    let mut message = diagnostic.message.clone();
    if !found_in.is_empty() {
        message += &format!("\nin: {}", found_in.join(", "));
    }
    if let Some(hint) = &diagnostic.hint {
        message += &format!("\nhint: {hint}");
    }
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    json!({
        "ruleId": rule.name(),
        "ruleIndex": Rule::ALL.iter().position(|known| known == rule),
        "level": level,
        "message": { "text": message },
        "locations": diagnostic.span.iter().map(location).collect::<Vec<_>>(),
    })
}

fn location(span: &Span) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(span.path.as_str()), "uriBaseId": "%SRCROOT%" } });
    if span.line > 0 {
        let mut region = json!({ "startLine": span.line });
        if span.column > 0 {
            region["startColumn"] = span.column.into();
            region["endColumn"] = (span.column + span.width.max(1)).into();
        }
        if let Some(text) = &span.text {
            region["snippet"] = json!({ "text": text });
        }
        place["region"] = region;
    }
    json!({ "physicalLocation": place })
}

/// A path as a relative reference: every byte that may not be in one is escaped.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_references() {
        for (path, expected) in [("apps/web.yaml", "apps/web.yaml"), ("a b/é:c", "a%20b/%C3%A9%3Ac")] {
            assert_eq!(uri(path), expected);
        }
    }
}
