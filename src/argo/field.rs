//! A JSON value whose every part knows where it was written, so that what is found wrong can be pointed at even
//! after override files were merged in.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use dry_files::diag::{Span, secret};
use dry_files::path::RepoPath;
use dry_files::view::ContentId;
use go_yaml::{Size, Value};

/// A file that was parsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub path: RepoPath,
    pub text: String,
    /// Where Secrets are in it; found out once.
    secrets: OnceLock<Vec<Range<usize>>>,
}

impl Text {
    pub(super) fn new(path: RepoPath, text: String) -> Self {
        Self { path, text, secrets: OnceLock::new() }
    }

    fn is_secret_at(&self, offset: usize) -> bool {
        let secrets = self.secrets.get_or_init(|| secret::documents(&self.text));
        secrets.iter().any(|document| document.contains(&offset))
    }
}

/// Where a value or a key is: 1-based line and column, offset in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub file: Arc<Text>,
    pub line: u32,
    pub column: u32,
    pub offset: usize,
    pub extent: Extent,
}

/// How much of the text from its place on belongs to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// More than can be underlined: only its first character is.
    Start,
    /// This many bytes.
    Bytes(u32),
    /// Up to the closing `'`.
    SingleQuoted,
    /// Up to the closing `"`.
    DoubleQuoted,
}

impl Extent {
    pub(super) fn bytes(len: usize) -> Self {
        u32::try_from(len).map_or(Extent::Start, Extent::Bytes)
    }
}

/// What ends a line for YAML.
const LINE_ENDS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// How much of a line is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 200;

impl Place {
    /// The start of a file of which nothing is quoted.
    pub(super) fn at_start_of(file: &RepoPath) -> Self {
        let file = Arc::new(Text::new(file.clone(), String::new()));
        Self { file, line: 1, column: 1, offset: 0, extent: Extent::Start }
    }

    /// The place with its line; a line too long to be read is left out.
    ///
    /// Looks only near the place: a file may be one line.
    pub(super) fn span(&self) -> Span {
        let (before, after) = self.file.text.split_at_checked(self.offset).unwrap_or_default();
        let start = before.char_indices().rev().nth(QUOTE_CHARS_MAX).map_or(0, |(at, _)| at);
        let end = after.char_indices().nth(QUOTE_CHARS_MAX + 1).map_or(after.len(), |(at, _)| at);
        let (before, after) = (before.get(start..).unwrap_or_default(), after.get(..end).unwrap_or_default());
        let before = before.rsplit(LINE_ENDS).next().unwrap_or_default();
        let after = after.split(LINE_ENDS).next().unwrap_or_default();
        let mut span = Span::at(self.file.path.clone(), self.line, self.column);
        span.width = u32::try_from(self.width(after)).unwrap_or(u32::MAX).max(1);
        span.quoting_line(&format!("{before}{after}"), self.file.is_secret_at(self.offset))
    }

    /// The place of a line, 1-based, of a text that is written as a block here; of any other value its own.
    pub(super) fn span_of_line(&self, line: u32) -> Span {
        let written = self.file.text.get(self.offset..).unwrap_or_default();
        if line == 0 || !written.starts_with(['|', '>']) {
            return self.span();
        }
        let span = Span { line: self.line + line, ..Span::file(self.file.path.clone()) }.quoting(&self.file.text);
        if self.file.is_secret_at(self.offset) { span.unquoted() } else { span }
    }

    /// How many characters of `line`, which starts here, belong to the value.
    fn width(&self, line: &str) -> usize {
        match self.extent {
            Extent::Start => 1,
            Extent::Bytes(len) => line.get(..len as usize).unwrap_or(line).chars().count(),
            Extent::SingleQuoted => quoted(line, '\'', None),
            Extent::DoubleQuoted => quoted(line, '"', Some('\\')),
        }
    }
}

/// The width of a text in quotes, as far as it is on `line`. Without an escape, a doubled quote does not end it.
fn quoted(line: &str, quote: char, escape: Option<char>) -> usize {
    let mut chars = line.chars().enumerate().skip(1).peekable();
    while let Some((index, c)) = chars.next() {
        let doubled = escape.is_none() && c == quote && chars.peek().is_some_and(|(_, next)| *next == quote);
        if Some(c) == escape || doubled {
            chars.next();
        } else if c == quote {
            return index + 1;
        }
    }
    line.trim_end().chars().count()
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub place: Place,
    pub content: Content,
}

/// The value of a [`Field`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// Neither a list nor a mapping.
    Scalar(Value),
    /// A list.
    List(Vec<Field>),
    /// A mapping, in the order of the document; each key once.
    Mapping(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub field: Field,
    /// Whether the document has the key more than once; the last one counts.
    pub twice: bool,
}

impl Field {
    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// The entry `key` of a mapping; one that is `null` is no entry.
    pub(super) fn get(&self, key: &str) -> Option<&Field> {
        match &self.content {
            Content::Mapping(entries) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| &entry.field).filter(|field| !field.is_null())
            }
            Content::Scalar(_) | Content::List(_) => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(value) => value.as_str(),
            Content::List(_) | Content::Mapping(_) => None,
        }
    }

    /// A value of which every part has one place.
    pub(super) fn everywhere(value: &Value, place: &Place) -> Self {
        let content = match value {
            Value::Sequence(items) => Content::List(items.iter().map(|item| Self::everywhere(item, place)).collect()),
            Value::Mapping(entries) => Content::Mapping(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let field = Self::everywhere(value, place);
                        Entry { key: key.clone(), key_place: place.clone(), field, twice: false }
                    })
                    .collect(),
            ),
            scalar => Content::Scalar(scalar.clone()),
        };
        Self { place: place.clone(), content }
    }

    /// The place of what is reached through `path`, keys and indexes; where that ends early, of the last part of it.
    pub(super) fn find(&self, path: &[&str]) -> &Place {
        let Some((step, rest)) = path.split_first() else { return &self.place };
        let next = match &self.content {
            Content::Mapping(_) => self.get(step),
            Content::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
            Content::Scalar(_) => None,
        };
        next.map_or(&self.place, |next| next.find(rest))
    }

    /// The value without its places.
    pub(super) fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Value::Sequence(items.iter().map(Field::to_value).collect()),
            Content::Mapping(entries) => {
                Value::Mapping(entries.iter().map(|entry| (entry.key.clone(), entry.field.to_value())).collect())
            }
        }
    }

    /// How large the value is.
    pub(super) fn size(&self) -> Size {
        let mut size = Size { values: 1, text: 0 };
        match &self.content {
            Content::Scalar(value) => return value.size(),
            Content::List(items) => items.iter().for_each(|item| size.add(item.size())),
            Content::Mapping(entries) => {
                for entry in entries {
                    size.text += entry.key.len() as u64;
                    size.add(entry.field.size());
                }
            }
        }
        size
    }

    /// An id of the value, whatever the order of its keys.
    pub(super) fn id(&self) -> ContentId {
        let mut hash = Sha256::new();
        self.sorted().hash_into(&mut hash);
        ContentId::new(&hash.finalize())
    }

    fn sorted(&self) -> Self {
        let content = match &self.content {
            Content::Scalar(value) => Content::Scalar(value.clone()),
            Content::List(items) => Content::List(items.iter().map(Field::sorted).collect()),
            Content::Mapping(entries) => {
                let sorted = |entry: &Entry| Entry { field: entry.field.sorted(), ..entry.clone() };
                let mut entries: Vec<Entry> = entries.iter().map(sorted).collect();
                entries.sort_by(|one, other| one.key.cmp(&other.key));
                Content::Mapping(entries)
            }
        };
        Self { content, place: self.place.clone() }
    }

    /// Adds the value to a hash, places left out: different values, different bytes.
    pub(super) fn hash_into(&self, hash: &mut Sha256) {
        let text = |hash: &mut Sha256, text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        match &self.content {
            Content::Scalar(Value::String(string)) => {
                hash.update(b"s");
                text(hash, string);
            }
            Content::Scalar(value) => {
                hash.update(b"v");
                text(hash, &format!("{value:?}"));
            }
            Content::List(items) => {
                hash.update(b"l");
                hash.update(items.len().to_le_bytes());
                items.iter().for_each(|item| item.hash_into(hash));
            }
            Content::Mapping(entries) => {
                hash.update(b"m");
                hash.update(entries.len().to_le_bytes());
                for entry in entries {
                    text(hash, &entry.key);
                    entry.field.hash_into(hash);
                }
            }
        }
    }

    /// What the value is, as an error names it.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(Value::Null) => "nothing",
            Content::Scalar(Value::Bool(_)) => "a boolean",
            Content::Scalar(Value::Int(_) | Value::Uint(_) | Value::Float(_)) => "a number",
            Content::Scalar(Value::String(_)) => "a text",
            Content::List(_) | Content::Scalar(Value::Sequence(_)) => "a list",
            Content::Mapping(_) | Content::Scalar(Value::Mapping(_)) => "a mapping",
        }
    }

    /// Merges `patch` in: mappings entry by entry, `null` takes an entry away, anything else replaces what is there.
    ///
    /// Reference: RFC 7386. Argo CD's merge can't take away and mixes the elements of lists; ours does as the RFC says.
    pub(super) fn merge(&mut self, patch: &Field) {
        let Content::Mapping(changes) = &patch.content else {
            *self = patch.clone();
            return;
        };
        if !matches!(self.content, Content::Mapping(_)) {
            *self = Field { place: patch.place.clone(), content: Content::Mapping(Vec::new()) };
        }
        let Content::Mapping(entries) = &mut self.content else { return };
        for change in changes {
            let index = entries.iter().position(|entry| entry.key == change.key);
            match (index, change.field.is_null()) {
                (Some(index), true) => {
                    entries.remove(index);
                }
                (Some(index), false) => {
                    if let Some(entry) = entries.get_mut(index) {
                        entry.field.merge(&change.field);
                    }
                }
                (None, true) => {}
                (None, false) => {
                    let mut entry = change.clone();
                    entry.field.drop_nulls();
                    entries.push(entry);
                }
            }
        }
    }

    /// Takes away all entries of mappings that are `null`, those inside of lists excepted.
    fn drop_nulls(&mut self) {
        if let Content::Mapping(entries) = &mut self.content {
            entries.retain(|entry| !entry.field.is_null());
            entries.iter_mut().for_each(|entry| entry.field.drop_nulls());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argo::located;
    use go_yaml::json::{self, Options};

    fn field(text: &str) -> Field {
        let path = RepoPath::new("a.json").expect("plain");
        located::parse(&path, text.as_bytes()).expect("good").pop().expect("one document")
    }

    /// The examples of RFC 7386, appendix A.
    #[test]
    fn merges_follow_the_rfc() {
        let rows = [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
            (r#"[1,2]"#, r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ];
        for (target, patch, expected) in rows {
            let mut merged = field(target);
            merged.merge(&field(patch));
            let options = Options { escape_html: false, indent: None };
            assert_eq!(json::encode(&merged.to_value(), options), expected, "{target} {patch}");
        }
    }
}
