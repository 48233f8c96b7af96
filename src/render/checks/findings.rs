//! What a check that finds something prints: SARIF 2.1.0, or lines that name a file.

use std::collections::BTreeMap;

use serde_json::Value;

/// How many findings of one check are said.
const SHOWN_MAX: usize = 20;

/// How much of a line is said, in characters.
const LINE_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub message: String,
}

impl Finding {
    /// One that names no file.
    pub(super) fn of(message: impl Into<String>) -> Self {
        Self { file: None, line: None, message: message.into() }
    }
}

/// The findings, in the order of the output. Of lines, those count that name a file, if any does; without any output there is one
/// finding.
pub(super) fn read(stdout: &[u8], stderr: &[u8], files: &BTreeMap<String, Vec<u8>>) -> Vec<Finding> {
    let [text, complaints] = [stdout, stderr].map(String::from_utf8_lossy);
    let mut found = sarif(&text, files).unwrap_or_else(|| lines(&text, files));
    if found.is_empty() {
        found = lines(&complaints, files);
    }
    if found.is_empty() {
        found.push(Finding::of("it ends with an error, and says nothing"));
    }
    let more = found.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        found.truncate(SHOWN_MAX);
        found.push(Finding::of(format!("and {more} more")));
    }
    found
}

/// The results of a SARIF log; none where the text is none.
fn sarif(text: &str, files: &BTreeMap<String, Vec<u8>>) -> Option<Vec<Finding>> {
    let log: Value = serde_json::from_str(text).ok()?;
    let runs = log.get("runs")?.as_array()?;
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
    let finding = |result: &Value| {
        let place = result.pointer("/locations/0/physicalLocation");
        let uri = place.and_then(|place| place.pointer("/artifactLocation/uri")?.as_str());
        let line = place.and_then(|place| place.pointer("/region/startLine")?.as_u64());
        let message = result.pointer("/message/text").and_then(Value::as_str).unwrap_or("it finds something");
        Finding {
            file: uri.and_then(|uri| files.keys().find(|file| ends_with(uri, file)).cloned()),
            line: line.and_then(|line| u32::try_from(line).ok()),
            message: clipped(message),
        }
    };
    Some(results.map(finding).collect())
}

fn ends_with(uri: &str, file: &str) -> bool {
    uri.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn lines(text: &str, files: &BTreeMap<String, Vec<u8>>) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let named: Vec<Finding> = lines.iter().filter_map(|line| named(line, files)).collect();
    match named.is_empty() {
        true => lines.into_iter().map(|line| Finding::of(clipped(line))).collect(),
        false => named,
    }
}

/// What a line says that names a file, as `FILE:LINE: MESSAGE` or anywhere.
fn named(line: &str, files: &BTreeMap<String, Vec<u8>>) -> Option<Finding> {
    let file = files.keys().filter(|file| line.contains(file.as_str())).max_by_key(|file| file.len())?;
    let (before, after) = line.split_once(file.as_str())?;
    let (number, rest) = place(after);
    let is_place = matches!(before.trim(), "" | "./") && (number.is_some() || after.starts_with(':'));
    let message = if is_place { rest.trim_start_matches(':').trim() } else { line };
    Some(Finding { file: Some(file.clone()), line: number, message: clipped(message) })
}

/// The line of `:LINE` or `:LINE:COLUMN` at the beginning, and what comes after it.
fn place(text: &str) -> (Option<u32>, &str) {
    let number = |text: &str| -> Option<(u32, usize)> {
        let digits = text.strip_prefix(':')?;
        let len = digits.find(|end: char| !end.is_ascii_digit()).unwrap_or(digits.len());
        Some((digits.get(..len)?.parse().ok()?, len + 1))
    };
    let Some((line, len)) = number(text) else { return (None, text) };
    let rest = &text[len..];
    match number(rest) {
        Some((_, column)) => (Some(line), &rest[column..]),
        None => (Some(line), rest),
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(LINE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROD: &str = "environments/prod/web/manifest.yaml";

    fn files() -> BTreeMap<String, Vec<u8>> {
        ["environments/dev/web/manifest.yaml", PROD].map(|name| (name.to_owned(), Vec::new())).into()
    }

    fn at(file: &str, line: Option<u32>, message: &str) -> Finding {
        Finding { file: Some(file.to_owned()), line, message: message.to_owned() }
    }

    #[test]
    fn lines_are_read_as_tools_write_them() {
        let rows = [
            ("environments/prod/web/manifest.yaml:3:5: no owner", at(PROD, Some(3), "no owner")),
            ("./environments/prod/web/manifest.yaml:12: no owner\n\n1 error", at(PROD, Some(12), "no owner")),
            // conftest 0.56
            (
                "FAIL - environments/prod/web/manifest.yaml - main - must not run as root\n\n1 test, 0 passed",
                at(PROD, None, "FAIL - environments/prod/web/manifest.yaml - main - must not run as root"),
            ),
            // kubeconform 0.6
            (
                "environments/prod/web/manifest.yaml - Deployment web is invalid: problem validating schema",
                at(
                    PROD,
                    None,
                    "environments/prod/web/manifest.yaml - Deployment web is invalid: problem validating schema",
                ),
            ),
            ("nothing with a name\n", Finding::of("nothing with a name")),
            ("", Finding::of("complaint")),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text.as_bytes(), b"complaint\n", &files()), [expected], "{text}");
        }
        assert_eq!(read(b"", b"", &files()), [Finding::of("it ends with an error, and says nothing")]);
    }

    #[test]
    fn sarif_leads_to_files_and_lines() {
        let text = format!(
            "{{\"runs\": [{{\"results\": [{{\"message\": {{\"text\": \"no probe\"}}, \"locations\": [{{\"physicalLocation\": \
             {{\"artifactLocation\": {{\"uri\": \"file:///tmp/x/{PROD}\"}}, \"region\": {{\"startLine\": 7}}}}}}]}}]}}]}}"
        );
        assert_eq!(read(text.as_bytes(), b"", &files()), [at(PROD, Some(7), "no probe")]);
        // No log of SARIF, so lines.
        assert_eq!(read(b"{\"a\": 1}", b"", &files()), [Finding::of("{\"a\": 1}")]);
    }

    #[test]
    fn many_findings_are_counted() {
        let text: String = (0..25).map(|line| format!("{PROD}:{line}: wrong\n")).collect();
        let found = read(text.as_bytes(), b"", &files());
        assert_eq!(found.len(), SHOWN_MAX + 1);
        assert_eq!(found.last(), Some(&Finding::of("and 5 more")));
    }
}
