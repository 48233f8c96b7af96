//! Text into objects: what a tool printed, or a file of plain manifests.

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::Stop;
use go_yaml::{self as yaml, Dialect, Limits, Mapping, Value};

use super::{Manifest, NotAManifest};

/// Where a text of objects comes from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A file of the dry commit.
    File(&'a RepoPath),
    /// What a tool printed; its name, for messages.
    Output(&'a str),
}

/// A text that is not only Kubernetes objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong, and where.
    pub diagnostic: Diagnostic,
    /// How many objects come before that place.
    pub read_before: usize,
}

impl From<Unreadable> for Diagnostic {
    fn from(unreadable: Unreadable) -> Self {
        unreadable.diagnostic
    }
}

/// Reads the objects of a text, in its order.
///
/// YAML documents between lines of `---`, or JSON objects one after another. Empty documents, those of `null` and comments
/// are skipped; lists are replaced by their items. Comments, anchors, the order of keys and the style of values are lost;
/// scalars mean what YAML 1.1 says, so that `yes` is a boolean, and of duplicate keys the last one wins.
///
/// # Errors
///
/// The text is not YAML or JSON, a document or an item is not an object or has no `kind`, or text comes after a `---`.
///
/// Reference: argo-cd 3.6 gitops-engine/pkg/utils/kube/kube.go `SplitYAML`, reposerver/repository/repository.go, and
/// apimachinery 0.36. Where we differ: only kinds that end in `List` are lists, and at any depth; what follows
/// `...` is an error and not dropped.
pub fn read(text: &[u8], source: Source<'_>) -> Result<Vec<Manifest>, Unreadable> {
    read_until(text, source, &Stop::default())
}

/// Reads as [`read`] does, for a render that may have to give up: once `stop` is set, what it answers counts for
/// nothing.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_until(text: &[u8], source: Source<'_>, stop: &Stop) -> Result<Vec<Manifest>, Unreadable> {
    let mut manifests = Vec::new();
    match read_into(&mut manifests, text, stop) {
        Ok(()) => Ok(manifests),
        Err(mistake) => Err(Unreadable { diagnostic: mistake.diagnose(text, source), read_before: manifests.len() }),
    }
}

fn read_into(manifests: &mut Vec<Manifest>, text: &[u8], stop: &Stop) -> Result<(), Mistake> {
    if let Some(values) = json_values(text) {
        return values.into_iter().try_for_each(|(line, value)| expand(manifests, value, line));
    }
    let mut limits = Limits::default();
    for document in documents(text).take_while(|_| !stop.is_set()) {
        let Document { line, text } = document?;
        for value in yaml::decode(text, Dialect::V2, &limits).map_err(|error| Mistake::yaml(line, &error))? {
            limits.nodes = limits.nodes.saturating_sub(nodes(&value));
            expand(manifests, value, line + blank_lines(text))?;
        }
    }
    Ok(())
}

/// One YAML document of a text.
struct Document<'a> {
    /// The line that it starts in, 1-based.
    line: u32,
    text: &'a [u8],
}

/// The documents between lines of `---`, which may have a comment behind it.
///
/// Reference: apimachinery 0.36 util/yaml/decoder.go `YAMLReader.Read`.
struct Documents<'a> {
    /// The text behind the last document; none after the last one or a mistake.
    rest: Option<&'a [u8]>,
    /// The line in which the rest starts, 1-based.
    line: u32,
}

fn documents(text: &[u8]) -> Documents<'_> {
    Documents { rest: Some(text), line: 1 }
}

impl<'a> Iterator for Documents<'a> {
    type Item = Result<Document<'a>, Mistake>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest.take()?;
        let line = self.line;
        let mut end = 0;
        for part in text.split_inclusive(|&b| b == b'\n') {
            self.line += 1;
            if let Some(behind) = part.strip_prefix(b"---") {
                let behind = behind.trim_ascii();
                if !behind.is_empty() && !behind.starts_with(b"#") {
                    return Some(Err(Mistake::separator(self.line - 1)));
                }
                let (document, after) = text.split_at(end);
                self.rest = after.get(part.len()..);
                return Some(Ok(Document { line, text: document }));
            }
            end += part.len();
        }
        Some(Ok(Document { line, text }))
    }
}

/// The YAML documents of a text, each with the line that it starts in, up to what [`read`] cannot tell apart.
pub(crate) fn parts(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    documents(text).map_while(|document| document.ok().map(|document| (document.line, document.text)))
}

/// The lines of blanks and comments that a document starts with.
fn blank_lines(text: &[u8]) -> u32 {
    let is_blank = |line: &&[u8]| line.trim_ascii().is_empty() || line.trim_ascii_start().starts_with(b"#");
    u32::try_from(text.split(|&b| b == b'\n').take_while(is_blank).count()).unwrap_or(0)
}

/// JSON objects one after another, each with its line; none when the text is something else, such as YAML's `{a: b}`.
fn json_values(text: &[u8]) -> Option<Vec<(u32, Value)>> {
    if !text.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let mut limits = Limits::default();
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    let (mut start, mut line) = (0, 1);
    while let Some(value) = stream.next() {
        value.ok()?;
        let end = stream.byte_offset();
        let object = text.get(start..end)?;
        let blanks = object.len() - object.trim_ascii_start().len();
        let value = yaml::json::decode(object, &limits).ok()?;
        limits.nodes = limits.nodes.saturating_sub(nodes(&value));
        values.push((line + lines(object.get(..blanks)?), value));
        line += lines(object);
        start = end;
    }
    Some(values)
}

fn lines(text: &[u8]) -> u32 {
    u32::try_from(text.iter().filter(|&&b| b == b'\n').count()).unwrap_or(0)
}

fn nodes(value: &Value) -> usize {
    match value {
        Value::Sequence(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Value::Mapping(mapping) => 1 + mapping.values().map(nodes).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::String(_) => 1,
    }
}

/// Adds the object, or the items of a list in its place. Recurses as deep as the value.
///
/// Reference: apimachinery 0.36 unstructured `IsList`, which takes any kind with `items` for a list.
fn expand(manifests: &mut Vec<Manifest>, value: Value, line: u32) -> Result<(), Mistake> {
    match value {
        Value::Null => Ok(()),
        Value::Mapping(mut object) if is_list(&object) => match object.remove("items") {
            Some(Value::Sequence(items)) => items.into_iter().try_for_each(|item| expand_item(manifests, item, line)),
            _ => Ok(()),
        },
        value => {
            manifests.push(Manifest::new(value).map_err(|reason| Mistake::object(line, reason))?);
            Ok(())
        }
    }
}

/// Adds the objects of an item of a list, which must not be null.
fn expand_item(manifests: &mut Vec<Manifest>, item: Value, line: u32) -> Result<(), Mistake> {
    match item {
        Value::Null => Err(Mistake { message: NULL_ITEM.to_owned(), ..Mistake::object(line, NotAManifest::NoKind) }),
        item => expand(manifests, item, line),
    }
}

/// What is wrong with an item that is nothing.
pub(crate) const NULL_ITEM: &str = "an item of a list is `null`, which is not an object";

fn is_list(object: &Mapping) -> bool {
    let is_kind = object.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    let empty = !object.contains_key("spec") && !object.contains_key("status");
    is_kind && object.get("items").is_some_and(|items| items.as_sequence().is_some() || (items.is_null() && empty))
}

/// What is wrong at a place of a text.
struct Mistake {
    line: u32,
    /// 0 when only the line is known.
    column: u32,
    message: String,
    hint: Option<&'static str>,
}

impl Mistake {
    /// `line` is the one that the document starts in.
    fn yaml(line: u32, error: &yaml::Error) -> Self {
        let message = format!("not valid YAML: {}", error.message());
        Self { line: line + error.line().saturating_sub(1), column: error.column(), message, hint: None }
    }

    fn separator(line: u32) -> Self {
        let hint = Some("put the content of the next document on its own line");
        Self { line, column: 4, message: "text after the document separator `---`".to_owned(), hint }
    }

    fn object(line: u32, reason: NotAManifest) -> Self {
        Self { line, column: 0, message: reason.to_string(), hint: None }
    }

    fn diagnose(self, text: &[u8], source: Source<'_>) -> Diagnostic {
        let text = String::from_utf8_lossy(text);
        let diagnostic = match source {
            Source::File(path) => {
                let span = Span { width: u32::from(self.column > 0), ..Span::at(path.clone(), self.line, self.column) };
                Diagnostic::error(self.message).at(span.quoting(&text))
            }
            Source::Output(tool) => {
                let index = usize::try_from(self.line).unwrap_or(0).saturating_sub(1);
                let quote = text.lines().nth(index).map(|line| format!("\n{line}")).unwrap_or_default();
                Diagnostic::error(format!("{} in line {} of the output of {tool}{quote}", self.message, self.line))
            }
        };
        match self.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_file(text: &str) -> Result<Vec<Manifest>, Unreadable> {
        read(text.as_bytes(), Source::File(&RepoPath::new("apps/a.yaml").expect("plain")))
    }

    #[test]
    fn objects_of_a_text() {
        // (rule, text, kind and name of each)
        let rows: &[(&str, &str, &[&str])] = &[
            ("nothing", "", &[]),
            ("comments only", "# a\n---\n# b\n---\n\n", &[]),
            ("null", "null\n---\n~\n---\nkind: Pod", &["Pod "]),
            ("in order", "kind: Pod\n---\nkind: Job\n---\nkind: Pod\n", &["Pod ", "Job ", "Pod "]),
            (
                "separators with blanks and comments",
                "---  \nkind: Pod\n--- # next\nkind: Job\n---\r\nkind: A\n",
                &["Pod ", "Job ", "A "],
            ),
            ("no separator inside of a line", "kind: Pod\nmetadata: {name: a---b}\n", &["Pod a---b"]),
            ("a list", "kind: List\nitems:\n- kind: Pod\n- kind: Job\n", &["Pod ", "Job "]),
            ("a list of a kind", "kind: ConfigMapList\nitems: [{kind: ConfigMap}]\n", &["ConfigMap "]),
            (
                "a list in a list",
                "kind: List\nitems: [{kind: List, items: [{kind: Pod}]}, {kind: Job}]\n",
                &["Pod ", "Job "],
            ),
            ("an empty list", "kind: List\nitems: []\n---\nkind: List\nitems: null\n", &[]),
            ("no list", "kind: List\nitems: null\nspec: {}\n---\nkind: List\n", &["List ", "List "]),
            ("items of another kind", "kind: Menu\nitems: [{kind: Pod}]\n", &["Menu "]),
            ("JSON", r#"{"kind":"Pod","metadata":{"name":"a"}}"#, &["Pod a"]),
            (
                "JSON one after another",
                "{\"kind\":\"Pod\"}{\"kind\":\"Job\"}\n\n {\"kind\":\"A\"}\n",
                &["Pod ", "Job ", "A "],
            ),
            ("YAML that looks like JSON", "{kind: Pod}\n---\n{\"kind\": \"Job\"}\n", &["Pod ", "Job "]),
            ("JSON with separators", "{\"kind\":\"Pod\"}\n---\n{\"kind\":\"Job\"}\n", &["Pod ", "Job "]),
            ("the last of duplicate keys", "kind: Pod\nkind: Job\n", &["Job "]),
            ("anchors and merges", "a: &a {name: b}\nkind: Pod\nmetadata:\n  <<: *a\n", &["Pod b"]),
            ("a byte order mark", "\u{feff}kind: Pod\n", &["Pod "]),
        ];
        for (rule, text, expected) in rows {
            let found = read_file(text).map(|manifests| {
                manifests.iter().map(|manifest| format!("{} {}", manifest.kind(), manifest.name())).collect::<Vec<_>>()
            });
            assert_eq!(
                found.as_deref(),
                Ok(expected.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>().as_slice()),
                "{rule}"
            );
        }
    }

    #[test]
    fn scalars_mean_what_yaml_1_1_says() {
        let text = "kind: Pod\na: [yes, off, 0777, 0x1F, 1_000, 1.0, 1e3, 12:30:45, 2001-01-01, '1']\n";
        let expected = "a:\n  - true\n  - false\n  - 511\n  - 31\n  - 1000\n  - 1\n  - 1000\n  - \"12:30:45\"\n  - \"2001-01-01\"\n  \
                        - \"1\"\nkind: Pod\n";
        let manifests = read_file(text).expect("objects");
        assert_eq!(String::from_utf8(super::super::encode(&manifests)).as_deref(), Ok(expected));
    }

    #[test]
    fn mistakes_have_their_place() {
        // (rule, text, message, line:column, objects before)
        let rows = [
            ("no kind", "kind: Pod\n---\n# a\n\nname: b\n", "`kind` is missing", "5:0", 1),
            ("no object", "- a\n", "a Kubernetes object must be a mapping, not a list", "1:0", 0),
            (
                "an item that is nothing",
                "kind: List\nitems:\n- kind: Pod\n-\n",
                "an item of a list is `null`, which is not an object",
                "1:0",
                1,
            ),
            ("an item without a kind", "kind: List\nitems:\n- kind: Pod\n- a: b\n", "`kind` is missing", "1:0", 1),
            (
                "an item that is no object",
                "kind: List\nitems: [a]\n",
                "a Kubernetes object must be a mapping, not a string",
                "1:0",
                0,
            ),
            (
                "text behind a separator",
                "kind: Pod\n---kind: Job\n",
                "text after the document separator `---`",
                "2:4",
                0,
            ),
            (
                "no YAML",
                "kind: Pod\n---\nkind: Job\na: [\n",
                "not valid YAML: did not find expected node content",
                "5:1",
                1,
            ),
            ("JSON without a kind", "{\"kind\":\"Pod\"}\n\n{\"a\":1}", "`kind` is missing", "3:0", 1),
        ];
        for (rule, text, message, place, read_before) in rows {
            let unreadable = read_file(text).expect_err(rule);
            let span = unreadable.diagnostic.span.expect("a place");
            let found = (unreadable.diagnostic.message.as_str(), format!("{}:{}", span.line, span.column));
            assert_eq!(found, (message, place.to_owned()), "{rule}");
            assert_eq!(unreadable.read_before, read_before, "{rule}");
        }
        let unreadable = read(b"kind: Pod\n---\nname: a\n", Source::Output("helm template")).expect_err("no kind");
        assert_eq!(
            Diagnostic::from(unreadable).to_string(),
            "error: `kind` is missing in line 3 of the output of helm template\n  name: a"
        );
    }

    #[test]
    fn aliases_are_bounded_over_the_whole_text() {
        let list = |item: &str, length| format!("[{}]", vec![item; length].join(","));
        let bomb = format!("kind: Pod\na: &a {}\nb: {}\n---\n", list("0", 1000), list("*a", 90));
        assert!(read_file(&bomb).is_ok());
        let unreadable = read_file(&bomb.repeat(50)).expect_err("too many values");
        assert!((20..50).contains(&unreadable.read_before), "{}", unreadable.read_before);
    }
}
