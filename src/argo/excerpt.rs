//! A document of a template or of a plain file, and where the fields of what was rendered from it seem to be in it.

use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use go_yaml::Value;
use serde::{Deserialize, Serialize};

use super::field::{Content, Entry, Extent, Field, Place, Text};

/// Part of a text file: one document between lines of `---`.
///
/// It may be the template of what was rendered, so we do not read it as YAML: fields are found by their keys and by how far lines
/// are indented. A field that is not found has the place of the one around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredExcerpt", into = "StoredExcerpt")]
pub(crate) struct Excerpt {
    /// Its line of the file that the text begins with, 1-based.
    pub line: u32,
    /// The file and the text, which thousands of Applications may share.
    text: Arc<Text>,
}

/// An excerpt as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredExcerpt {
    path: RepoPath,
    line: u32,
    text: String,
}

impl From<StoredExcerpt> for Excerpt {
    fn from(StoredExcerpt { path, line, text }: StoredExcerpt) -> Self {
        Self::new(path, line, text)
    }
}

impl From<Excerpt> for StoredExcerpt {
    fn from(Excerpt { line, text }: Excerpt) -> Self {
        Self { path: text.path.clone(), line, text: text.text.clone() }
    }
}

/// Bytes of the text.
#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
}

/// A key that was found: itself, and what belongs to it.
struct Found {
    key: usize,
    value: Region,
}

/// The text while places in it are looked up.
struct Lookup<'e> {
    excerpt: &'e Excerpt,
}

impl Excerpt {
    /// The text of a file that begins with this line.
    pub(crate) fn new(path: RepoPath, line: u32, text: String) -> Self {
        Self { line, text: Arc::new(Text::new(path, text)) }
    }

    /// The file.
    pub(crate) fn path(&self) -> &RepoPath {
        &self.text.path
    }

    /// How long the text is.
    pub(crate) fn text_bytes(&self) -> usize {
        self.text().len()
    }

    /// Drops the text: only the file and the line are reported.
    pub(crate) fn without_text(&self) -> Self {
        Self::new(self.path().clone(), self.line, String::new())
    }

    /// Takes the length of the text off `bytes_left`, and drops the text when too little is left.
    pub(super) fn within(self, bytes_left: &mut usize) -> Self {
        match bytes_left.checked_sub(self.text_bytes()) {
            Some(left) => {
                *bytes_left = left;
                self
            }
            None => self.without_text(),
        }
    }

    fn text(&self) -> &str {
        &self.text.text
    }

    /// A value with the places where its fields seem to be.
    pub(super) fn field(&self, value: &Value) -> Field {
        let lookup = self.lookup();
        let all = Region { start: 0, end: self.text_bytes() };
        lookup.field(value, all, &lookup.place(self.first_line(), 0))
    }

    /// Where a field seems to be.
    pub(crate) fn place(&self, path: &[&str]) -> Span {
        let lookup = self.lookup();
        let mut region = Region { start: 0, end: self.text_bytes() };
        let mut place = lookup.place(self.first_line(), 0);
        for key in path {
            let Some(found) = lookup.find(key, region) else { break };
            place = lookup.value_place(&found);
            region = found.value;
        }
        place.span()
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { excerpt: self }
    }

    /// The first line that says something.
    fn first_line(&self) -> usize {
        self.text_bytes() - self.text().trim_start().len()
    }
}

impl Lookup<'_> {
    fn field(&self, value: &Value, region: Region, place: &Place) -> Field {
        let content = match value {
            Value::Mapping(entries) => {
                Content::Mapping(entries.iter().map(|(key, value)| self.entry(key, value, region, place)).collect())
            }
            Value::Sequence(items) => Content::List(items.iter().map(|item| Field::everywhere(item, place)).collect()),
            scalar => Content::Scalar(scalar.clone()),
        };
        Field { place: place.clone(), content }
    }

    /// An entry of the mapping at `place`, with its places as far as they are found in `region`.
    fn entry(&self, key: &str, value: &Value, region: Region, place: &Place) -> Entry {
        let (key_place, field) = match &self.find(key, region) {
            Some(found) => (self.place(found.key, key.len()), self.field(value, found.value, &self.value_place(found))),
            None => (place.clone(), Field::everywhere(value, place)),
        };
        Entry { key: key.to_owned(), key_place, field, twice: false }
    }

    /// The key in a block of lines that is indented least, else in braces.
    fn find(&self, key: &str, region: Region) -> Option<Found> {
        let text = self.excerpt.text();
        let within = text.get(region.start..region.end)?;
        let mut best: Option<(usize, usize)> = None;
        let mut offset = region.start;
        for line in within.split_inclusive('\n') {
            let start = content_start(line);
            if begins_with_key(line.get(start..).unwrap_or_default(), key) {
                let at = offset + start;
                let indent = at - line_start(text, at);
                if best.is_none_or(|(least, _)| indent < least) {
                    best = Some((indent, at));
                }
            }
            offset += line.len();
        }
        if let Some((indent, at)) = best {
            let value = after_colon(text, at)?;
            return Some(Found {
                key: at,
                value: Region { start: value, end: block_end(text, at, indent, region.end) },
            });
        }
        let matches = within.match_indices(key).map(|(at, _)| region.start + at);
        let mut flow = matches.filter(|at| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            before.is_some_and(|c| matches!(c, '{' | ',' | ' ')) && begins_with_key(&text[*at..], key)
        });
        let at = flow.next()?;
        let value = after_colon(text, at)?;
        let end = text.get(value..).and_then(|rest| rest.find('\n')).map_or(text.len(), |len| value + len);
        Some(Found { key: at, value: Region { start: value, end: end.min(region.end).max(value) } })
    }

    /// That of the value behind a key when it is in the same line, else that of the key.
    fn value_place(&self, found: &Found) -> Place {
        let rest = self.excerpt.text().get(found.value.start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let value = line.trim_start();
        let len = if value.starts_with("{{") || !value.starts_with(['{', '[']) {
            let stop = |c: &(usize, char)| c.1 == ',' || (c.1 == '}' && !value.starts_with("{{"));
            value.char_indices().find(stop).map_or(value.trim_end().len(), |(at, _)| at)
        } else {
            1
        };
        match value.is_empty() || value.starts_with('#') {
            true => self.place(found.key, 1),
            false => self.place(found.value.start + (line.len() - value.len()), len.max(1)),
        }
    }

    fn place(&self, offset: usize, len: usize) -> Place {
        let text = self.excerpt.text();
        let before = text.get(..offset).unwrap_or_default();
        let lines = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place {
            file: self.excerpt.text.clone(),
            line: self.excerpt.line.saturating_add(lines),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            offset,
            extent: if len == 0 { Extent::Start } else { Extent::bytes(len) },
        }
    }
}

/// Where a line says something, behind the dashes of list items.
fn content_start(line: &str) -> usize {
    let mut start = line.len() - line.trim_start().len();
    while let Some(rest) = line.get(start..).and_then(|rest| rest.strip_prefix("- ")) {
        start += 2 + rest.len() - rest.trim_start().len();
    }
    start
}

fn begins_with_key(text: &str, key: &str) -> bool {
    let is_colon = |rest: &str| rest.starts_with(": ") || rest.starts_with(":\n") || rest.trim_end() == ":";
    text.strip_prefix(key).is_some_and(is_colon)
}

fn after_colon(text: &str, at: usize) -> Option<usize> {
    text.get(at..)?.find(':').map(|colon| at + colon + 1)
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// Where the lines end that are indented further than the key at `at`; those with template actions alone do not count.
fn block_end(text: &str, at: usize, indent: usize, max: usize) -> usize {
    let mut offset = at;
    for (number, line) in text.get(at..max).unwrap_or_default().split_inclusive('\n').enumerate() {
        let rest = line.trim_start();
        let is_content = !rest.is_empty() && !rest.starts_with("{{") && !rest.starts_with('#');
        if number > 0 && is_content && line.len() - rest.len() <= indent {
            return offset;
        }
        offset += line.len();
    }
    max
}

/// The place that a span shows, for a value that is nowhere else.
pub(super) fn place_of(span: &Span) -> Place {
    let line = span.text.clone().unwrap_or_default();
    let column = (span.column as usize).saturating_sub(1);
    let offset = line.char_indices().nth(column).map_or(0, |(at, _)| at);
    let shown = line.get(offset..).unwrap_or_default();
    let len: usize = shown.chars().take(span.width as usize).map(char::len_utf8).sum();
    Place {
        file: Arc::new(Text::new(span.path.clone(), line)),
        line: span.line,
        column: span.column,
        offset,
        extent: Extent::bytes(len),
    }
}
