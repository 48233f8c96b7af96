//! Writes `spec.sourceHydrator` in place of `spec.source` into the text of a file.
//!
//! Only the lines of the source change: it becomes the `drySource`, with what such a one needs and a source need not have,
//! and `syncSource` comes behind it. All else stays as it is, byte for byte: comments, line ends, styles, anchors. What
//! was written is read again, and has to mean just that.

use std::ops::Range;

use go_yaml::{self as yaml, Data, Dialect, Extents, Limits, Mapping, Mark, Node, Style, Value};

/// Where one plain Application of a file is hydrated to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HydratorEdit {
    /// The line and the column of its name.
    pub name: (u32, u32),
    /// `syncSource.targetBranch`
    pub branch: String,
    /// `syncSource.path`
    pub path: String,
    /// `hydrateTo.targetBranch`
    pub hydrate_to: Option<String>,
    /// `drySource.helm.releaseName`, for a source without one.
    pub release_name: Option<String>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The limits of a file with Applications.
const LIMITS: Limits = Limits { bytes: 16 << 20, depth: 100, nodes: 500_000 };

/// The text of a file with all of the edits.
///
/// Errors: why one of them cannot be made.
pub(crate) fn write_source_hydrator(bytes: &[u8], edits: &[HydratorEdit]) -> Result<Vec<u8>, String> {
    let (mark, rest) = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => (&b""[..], bytes),
    };
    let text = std::str::from_utf8(rest).map_err(|_| "the file is not UTF-8".to_owned())?;
    let file = File::read(text)?;
    let mut splices = Vec::new();
    let mut expected = values(text)?;
    for edit in edits {
        let (object, place) = file.object(edit).ok_or("its document is not found at its place")?;
        let value = at_path(&mut expected, &place).ok_or("its document is not found at its place")?;
        let meaning = value.at(&["spec", "source"]).cloned().unwrap_or_default();
        let source = file.source(object, meaning)?;
        splices.extend(source.splices(edit)?);
        hydrated(value, &source, edit).ok_or("its `source` is not where it is read from")?;
    }
    let written = spliced(text, splices).ok_or("two edits overlap")?;
    let found = values(&written).map_err(|_| "the edited file could not be read")?;
    if found != expected {
        return Err("the edit would change more than this Application: the file uses its `source` elsewhere".to_owned());
    }
    Ok([mark, written.as_bytes()].concat())
}

/// Each document of a text as it means to Kubernetes.
fn values(text: &str) -> Result<Vec<Value>, String> {
    yaml::decode(text.as_bytes(), Dialect::V2, &LIMITS).map_err(|error| format!("the file cannot be read: {error}"))
}

/// A text, and its documents.
struct File<'t> {
    text: &'t str,
    documents: Vec<Node>,
    extents: Extents,
}

/// The number of a document, and of the items of lists that lead to an object in it.
type ObjectPath = (usize, Vec<usize>);

impl<'t> File<'t> {
    fn read(text: &'t str) -> Result<Self, String> {
        let unreadable = |error: yaml::Error| format!("the file cannot be read: {error}");
        let documents = yaml::parse(text.as_bytes(), &LIMITS).map_err(unreadable)?;
        Ok(Self { text, documents, extents: Extents::of(text, &LIMITS).map_err(unreadable)? })
    }

    /// The object whose name is at the place of the edit.
    fn object(&self, edit: &HydratorEdit) -> Option<(&Node, ObjectPath)> {
        for (number, document) in self.documents.iter().enumerate() {
            let mut path = Vec::new();
            if let Some(found) = object_in(document, edit.name, &mut path) {
                return Some((found, (number, path)));
            }
        }
        None
    }

    /// Where the source of an Application is in the text.
    fn source<'s>(&'s self, object: &'s Node, meaning: Value) -> Result<Source<'s>, String> {
        let spec = object.get("spec").ok_or("its `spec` comes from elsewhere by a merge key")?;
        let Data::Mapping(entries) = &spec.data else {
            return Err("its `spec` is an alias".to_owned());
        };
        let entry = entries.iter().find(|(key, _)| key.as_str() == Some("source"));
        let (key, value) = entry.ok_or("its `source` comes from elsewhere by a merge key")?;
        let at = key.mark.offset;
        let word = ["source", "\"source\"", "'source'"].into_iter();
        let word = word
            .filter(|word| self.text.get(at..).is_some_and(|rest| rest.starts_with(word)))
            .max_by_key(|word| word.len());
        let word = word.ok_or("its key `source` has an anchor or a tag")?;
        let behind = self.text.get(at + word.len()..).unwrap_or_default();
        if !behind.trim_start_matches([' ', '\t']).starts_with(':') {
            return Err("its key `source` is not on the line of its `:`".to_owned());
        }
        let end = self.extents.end(value.mark.offset).ok_or("the end of its `source` is not found")?;
        let end = self.text.get(..end).map_or(end, |text| text.trim_end().len());
        let is_flow = spec.style == Style::Flow;
        let spec_column = object_column(object, "spec");
        Ok(Source { file: self.text, key: at, word, key_mark: key.mark, value, meaning, end, is_flow, spec_column })
    }
}

/// The column of a key of an object, from 1.
fn object_column(object: &Node, key: &str) -> Option<u32> {
    let entries = object.as_mapping()?;
    entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(name, _)| name.mark.column)
}

fn object_in<'n>(node: &'n Node, name: (u32, u32), path: &mut Vec<usize>) -> Option<&'n Node> {
    let mark = node.at(&["metadata", "name"]).map(|name| name.mark);
    if mark.is_some_and(|mark| (mark.line, mark.column) == name) {
        return Some(node);
    }
    for (index, item) in node.get("items").and_then(Node::as_sequence).unwrap_or_default().iter().enumerate() {
        path.push(index);
        if let Some(found) = object_in(item, name, path) {
            return Some(found);
        }
        path.pop();
    }
    None
}

fn at_path<'v>(documents: &'v mut [Value], (number, items): &ObjectPath) -> Option<&'v mut Value> {
    let mut value = documents.get_mut(*number)?;
    for index in items {
        let Value::Mapping(entries) = value else { return None };
        let Some(Value::Sequence(items)) = entries.get_mut("items") else { return None };
        value = items.get_mut(*index)?;
    }
    Some(value)
}

/// What the document has to mean once it is written.
fn hydrated(object: &mut Value, source: &Source<'_>, edit: &HydratorEdit) -> Option<()> {
    let Value::Mapping(object) = object else { return None };
    let Some(Value::Mapping(spec)) = object.get_mut("spec") else { return None };
    let Some(Value::Mapping(mut dry)) = spec.remove("source") else { return None };
    for (key, value) in source.missing() {
        dry.insert(key.to_owned(), Value::from(value));
    }
    if let Some(name) = &edit.release_name {
        let Value::Mapping(helm) = dry.entry("helm".to_owned()).or_insert_with(|| Mapping::new().into()) else {
            return None;
        };
        helm.insert("releaseName".to_owned(), Value::from(name.as_str()));
    }
    let one = |key: &str, value: &str| Mapping::from([(key.to_owned(), Value::from(value))]);
    let mut sync = one("targetBranch", &edit.branch);
    sync.insert("path".to_owned(), Value::from(edit.path.as_str()));
    let mut hydrator = Mapping::from([("drySource".to_owned(), dry.into()), ("syncSource".to_owned(), sync.into())]);
    if let Some(branch) = &edit.hydrate_to {
        hydrator.insert("hydrateTo".to_owned(), one("targetBranch", branch).into());
    }
    spec.insert("sourceHydrator".to_owned(), hydrator.into());
    Some(())
}

/// A part of a text that is replaced.
#[derive(Debug)]
struct Splice {
    at: Range<usize>,
    by: String,
}

fn spliced(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    splices.sort_by_key(|splice| splice.at.start);
    let mut written = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for Splice { at, by } in splices {
        written += text.get(from..at.start)?;
        written += &by;
        from = at.end;
    }
    written += text.get(from..)?;
    Some(written)
}

/// The source of one Application in a text.
struct Source<'f> {
    file: &'f str,
    /// Where its key starts.
    key: usize,
    /// The key as it is written.
    word: &'static str,
    key_mark: Mark,
    value: &'f Node,
    /// What it means, what merge keys bring in included.
    meaning: Value,
    /// Behind the last character of the value.
    end: usize,
    /// Whether the specification is in braces.
    is_flow: bool,
    spec_column: Option<u32>,
}

/// What a key and a value of the new lines look like.
#[derive(Clone, Copy)]
struct Quotes(bool);

impl Quotes {
    fn key(self, key: &str) -> String {
        if self.0 { format!("\"{key}\"") } else { key.to_owned() }
    }

    fn text(self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(is_word)
            && Node::scalar(text).resolved_tag(Dialect::V2) == yaml::Tag::Str
            && Node::scalar(text).resolved_tag(Dialect::V3) == yaml::Tag::Str;
        if is_plain && !self.0 { text.to_owned() } else { yaml::json::encode_string(text, false) }
    }

    fn pair(self, key: &str, value: &str) -> String {
        format!("{}: {}", self.key(key), self.text(value))
    }
}

impl<'f> Source<'f> {
    /// What a `drySource` has to have and this source has not.
    fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let is_missing = |key: &str| self.meaning.get(key).is_none();
        [("targetRevision", "HEAD"), ("path", ".")].into_iter().filter(|(key, _)| is_missing(key)).collect()
    }

    fn quotes(&self) -> Quotes {
        Quotes(self.word.starts_with('"'))
    }

    /// What is before the key on its line.
    fn before(&self) -> &'f str {
        let text = self.file.get(..self.key).unwrap_or_default();
        text.rsplit('\n').next().unwrap_or_default()
    }

    /// The line break of the file.
    fn line_end(&self) -> &'static str {
        let first = self.file.find('\n').and_then(|at| self.file.get(..at)).unwrap_or_default();
        if first.ends_with('\r') { "\r\n" } else { "\n" }
    }

    /// By how much what is below a key is indented: as the source in its specification.
    fn step(&self) -> usize {
        let (spec, source) = (self.spec_column.unwrap_or_default() as usize, self.key_mark.column as usize);
        match source.saturating_sub(spec) {
            step @ 1..=8 => step,
            _ => 2,
        }
    }

    fn splices(&self, edit: &HydratorEdit) -> Result<Vec<Splice>, String> {
        let Data::Mapping(entries) = &self.value.data else {
            return Err("its `source` is an alias of what is elsewhere in the file".to_owned());
        };
        let first = entries.first().map(|(key, _)| key.mark).ok_or("its `source` is empty")?;
        let starts_line = self.before().chars().all(|c| c == ' ' || c == '\t');
        if !starts_line {
            return match self.is_flow {
                true => self.within_line(edit, first),
                false => Err("its key `source` does not start a line".to_owned()),
            };
        }
        let mut splices = self.shifted();
        let (indent, step, line_end) = (self.before(), " ".repeat(self.step()), self.line_end());
        let quotes = self.quotes();
        let open = self.open();
        let head =
            format!("{}:{open}{line_end}{indent}{step}{}", quotes.key("sourceHydrator"), quotes.key("drySource"));
        splices.push(Splice { at: self.key..self.key + self.word.len(), by: head });
        splices.extend(self.additions(edit, first)?);
        let sync_source = [quotes.pair("targetBranch", &edit.branch), quotes.pair("path", &edit.path)];
        let mut tail = self.block("syncSource", &sync_source);
        if let Some(branch) = &edit.hydrate_to {
            tail += &self.block("hydrateTo", &[quotes.pair("targetBranch", branch)]);
        }
        if self.is_flow {
            tail += &format!("{line_end}{indent}}}");
        }
        let at = self.tail();
        splices.push(Splice { at: at..at, by: tail });
        Ok(splices)
    }

    /// What is behind the `:` of a key with a mapping.
    fn open(&self) -> &'static str {
        if self.is_flow { " {" } else { "" }
    }

    /// A mapping behind the source, on lines of its own.
    fn block(&self, key: &str, pairs: &[String]) -> String {
        let (indent, step, line_end) = (self.before(), " ".repeat(self.step()), self.line_end());
        let comma = if self.is_flow { "," } else { "" };
        let mut text = format!("{comma}{line_end}{indent}{step}{}:{}", self.quotes().key(key), self.open());
        let pairs: Vec<String> = pairs.iter().map(|pair| format!("{line_end}{indent}{step}{step}{pair}")).collect();
        text += &pairs.join(comma);
        if self.is_flow {
            text += &format!("{line_end}{indent}{step}}}");
        }
        text
    }

    /// Where what comes behind the source goes: in braces behind its value, else behind its last line and the comments that
    /// are as deep as it.
    fn tail(&self) -> usize {
        if self.is_flow {
            return self.end;
        }
        let (mut tail, mut next) = self.line_ends(self.end);
        while next < self.file.len() {
            let (line_end, after) = self.line_ends(next);
            let line = self.file.get(next..line_end).unwrap_or_default();
            let text = line.trim_start_matches(' ');
            let is_deeper = line.len() - text.len() > self.before().len();
            match (text.is_empty(), text.starts_with('#') && is_deeper) {
                (true, _) => {}
                (false, true) => tail = line_end,
                (false, false) => break,
            }
            next = after;
        }
        tail
    }

    /// Where the line that `at` is in ends, without its line break and with it.
    fn line_ends(&self, at: usize) -> (usize, usize) {
        let rest = self.file.get(at..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        (at + line.strip_suffix('\r').unwrap_or(line).len(), at + line.len() + 1)
    }

    /// The lines below the key, one step deeper.
    fn shifted(&self) -> Vec<Splice> {
        let body = self.file.get(self.key..self.tail().max(self.end)).unwrap_or_default();
        let starts = body.match_indices('\n').map(|(at, _)| self.key + at + 1);
        let is_filled = |at: &usize| {
            let rest = self.file.get(*at..).unwrap_or_default();
            *at < self.tail().max(self.end) && !rest.starts_with(['\n', '\r'])
        };
        starts.filter(is_filled).map(|at| Splice { at: at..at, by: " ".repeat(self.step()) }).collect()
    }

    /// What the `drySource` needs beside what the source has.
    fn additions(&self, edit: &HydratorEdit, first: Mark) -> Result<Vec<Splice>, String> {
        let mut splices = Vec::new();
        let quotes = self.quotes();
        let mut pairs: Vec<String> = self.missing().iter().map(|(key, value)| quotes.pair(key, value)).collect();
        if let Some(name) = &edit.release_name {
            let pair = quotes.pair("releaseName", name);
            match self.value.get("helm").map(|helm| &helm.data) {
                None if self.meaning.get("helm").is_some() => {
                    return Err(
                        "its `helm` comes from elsewhere by a merge key: give it a `releaseName` first".to_owned()
                    );
                }
                None => pairs.push(format!("{}: {{{pair}}}", quotes.key("helm"))),
                Some(Data::Mapping(entries)) if !entries.is_empty() => {
                    let helm = self.value.get("helm").map(|helm| helm.style == Style::Flow);
                    let at = entries.first().map_or(first, |(key, _)| key.mark);
                    splices.push(self.before_key(at, &pair, helm == Some(true)));
                }
                Some(_) => return Err("its `helm` is empty or an alias: give it a `releaseName` first".to_owned()),
            }
        }
        let is_flow = self.value.style == Style::Flow;
        splices.extend(pairs.iter().map(|pair| self.before_key(first, pair, is_flow)));
        Ok(splices)
    }

    /// A pair of its own before a key.
    fn before_key(&self, key: Mark, pair: &str, is_flow: bool) -> Splice {
        let text = self.file.get(..key.offset).unwrap_or_default();
        let before = text.rsplit('\n').next().unwrap_or_default();
        let is_alone = before.chars().all(|c| c == ' ' || c == '\t');
        let comma = if is_flow { "," } else { "" };
        let by = match is_alone {
            true => format!("{pair}{comma}{}{before}{}", self.line_end(), " ".repeat(self.step())),
            false => format!("{pair}{comma} "),
        };
        Splice { at: key.offset..key.offset, by }
    }

    /// All of it where it is, as in JSON on one line.
    fn within_line(&self, edit: &HydratorEdit, first: Mark) -> Result<Vec<Splice>, String> {
        let quotes = self.quotes();
        let head = format!("{}: {{{}", quotes.key("sourceHydrator"), quotes.key("drySource"));
        let pairs = [quotes.pair("targetBranch", &edit.branch), quotes.pair("path", &edit.path)].join(", ");
        let mut tail = format!(", {}: {{{pairs}}}", quotes.key("syncSource"));
        if let Some(branch) = &edit.hydrate_to {
            tail += &format!(", {}: {{{}}}", quotes.key("hydrateTo"), quotes.pair("targetBranch", branch));
        }
        tail.push('}');
        let mut splices = vec![Splice { at: self.key..self.key + self.word.len(), by: head }];
        splices.extend(self.additions(edit, first)?);
        splices.push(Splice { at: self.end..self.end, by: tail });
        Ok(splices)
    }
}

#[cfg(test)]
mod tests;
