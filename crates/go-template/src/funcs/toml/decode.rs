//! Reading TOML. The way tables are found and redefinitions refused is BurntSushi's, its texts too: templates see them.

mod cursor;
mod number;
mod string;
mod tables;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::list::{List, ListType};
use super::super::super::map::{Entries, Map, MapType};
use super::super::super::text::Text;
use super::super::super::value::Value;
use super::TomlVersion;
use cursor::{is_bare, is_blank, is_break, shown};

/// Arrays and inline tables inside each other.
const DEPTH_MAX: u32 = 200;

type Path = Vec<Text>;

/// A table that may still grow.
type Table = BTreeMap<Text, Node>;

#[derive(Debug)]
enum Node {
    Value(Value),
    Table(Table),
    /// `[[…]]`
    Tables(Vec<Table>),
}

/// Reads a document; the error is BurntSushi's text.
pub(in crate::funcs) fn decode(text: &[u8], version: TomlVersion) -> Result<Map, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let message = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(format!("toml: line 1: {message}"));
    }
    let mut decoder = Decoder {
        text,
        version,
        at: 0,
        line: 1,
        is_at_end: false,
        depth: 0,
        context: Vec::new(),
        key: Text::default(),
        key_line: 0,
        root: Table::new(),
        arrays: BTreeSet::new(),
        implicit: BTreeSet::new(),
    };
    match decoder.document() {
        Ok(()) => Ok(map_of(decoder.root)),
        Err(problem) => Err(decoder.message(&problem)),
    }
}

fn map_of(table: Table) -> Map {
    let entries: Entries = table.into_iter().map(|(key, node)| (key, node.into())).collect();
    Map::of(&MapType::ANY, entries)
}

impl From<Node> for Value {
    fn from(node: Node) -> Self {
        match node {
            Node::Value(value) => value,
            Node::Table(table) => map_of(table).into(),
            Node::Tables(tables) => {
                let tables = tables.into_iter().map(|table| map_of(table).into()).collect();
                // The library begins with room for four.
                List::appended_to(&ListType::MAPS, tables, 4).into()
            }
        }
    }
}

#[derive(Debug)]
struct Problem {
    line: u32,
    message: String,
}

type Read<T> = Result<T, Problem>;

struct Decoder<'t> {
    text: &'t [u8],
    version: TomlVersion,
    at: usize,
    /// 1-based.
    line: u32,
    is_at_end: bool,
    depth: u32,
    /// The table that is being filled.
    context: Path,
    /// The key whose value is being read; empty between keys.
    key: Text,
    /// Where that key is.
    key_line: u32,
    root: Table,
    /// Keys whose value is an array.
    arrays: BTreeSet<Path>,
    /// Tables that are there only because a longer key named them.
    implicit: BTreeSet<Path>,
}

fn joined(path: &[Text]) -> String {
    path.iter().map(maybe_quoted).collect::<Vec<_>>().join(".")
}

/// A part of a key as BurntSushi's `Key.maybeQuoted` shows it.
fn maybe_quoted(part: &Text) -> String {
    let text = part.to_str();
    if !text.is_empty() && text.chars().all(is_bare) {
        return text.into_owned();
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

impl Decoder<'_> {
    fn message(&self, problem: &Problem) -> String {
        let last = self.last_key();
        let key = if last.is_empty() { String::new() } else { format!(" (last key {})", go_yaml::quote(&last)) };
        format!("toml: line {}{key}: {}", problem.line, problem.message)
    }

    fn last_key(&self) -> String {
        match (self.context.is_empty(), self.key.is_empty()) {
            (_, true) => joined(&self.context),
            (true, false) => self.key.to_str().into_owned(),
            (false, false) => format!("{}.{}", joined(&self.context), self.key.to_str()),
        }
    }

    fn document(&mut self) -> Read<()> {
        loop {
            self.skip(|c| is_blank(c) || is_break(c))?;
            match self.peek()? {
                None => return Ok(()),
                Some('#') => self.comment()?,
                Some('[') => {
                    self.next()?;
                    self.table()?;
                    self.end_of_line()?;
                }
                Some(_) => {
                    self.key_value(&mut None)?;
                    self.key = Text::default();
                    self.end_of_line()?;
                }
            }
        }
    }

    fn comment(&mut self) -> Read<()> {
        self.skip(|c| !is_break(c))
    }

    fn end_of_line(&mut self) -> Read<()> {
        self.skip(is_blank)?;
        match self.peek()? {
            Some('#') => self.comment(),
            None => Ok(()),
            Some(c) if is_break(c) => Ok(()),
            other => {
                self.next()?;
                let found = shown(other);
                self.error(format!(
                    "expected a top-level item to end with a newline, comment, or EOF, but got {found} instead"
                ))
            }
        }
    }

    /// `[a.b]` or `[[a.b]]`
    fn table(&mut self) -> Read<()> {
        let is_array = self.accept('[')?;
        let mut path = Path::new();
        self.key_line = 0;
        loop {
            self.skip(is_blank)?;
            match self.peek()? {
                None | Some(']') => {
                    self.note_end()?;
                    return self.error("unexpected end of table name (table names cannot be empty)");
                }
                Some('.') => return self.error("unexpected table separator (table names cannot be empty)"),
                Some(_) => {}
            }
            let part = self.key_part()?;
            if path.is_empty() {
                self.key_line = self.line;
            }
            path.push(part);
            self.skip(is_blank)?;
            match self.next()? {
                Some('.') => {}
                Some(']') => break,
                other => {
                    return self
                        .error(format!("expected '.' or ']' to end table name, but got {} instead", shown(other)));
                }
            }
        }
        if is_array {
            let other = self.next()?;
            if other != Some(']') {
                let found = shown(other);
                return self.error(format!("expected end of table array name delimiter ']', but got {found} instead"));
            }
        }
        self.add_context(&path, is_array)
    }

    /// Marks the end as seen, when it is there.
    fn note_end(&mut self) -> Read<()> {
        if self.peek()?.is_none() {
            self.next()?;
        }
        Ok(())
    }

    fn key_part(&mut self) -> Read<Text> {
        match self.peek()? {
            Some('"') => {
                self.next()?;
                self.string()
            }
            Some('\'') => {
                self.next()?;
                self.raw_string()
            }
            _ => {
                let start = self.at;
                self.skip(is_bare)?;
                Ok(Text::from(self.text.get(start..self.at).unwrap_or_default()))
            }
        }
    }

    /// `a.b = value`; an inline table also collects its contents, for when it is in an array.
    fn key_value(&mut self, hash: &mut Option<Table>) -> Read<()> {
        self.skip(is_blank)?;
        match self.peek()? {
            None | Some('=') => {
                self.note_end()?;
                return self.error("unexpected '=': key name appears blank");
            }
            Some('.') => return self.error("unexpected '.': keys cannot start with a '.'"),
            Some(_) => {}
        }
        let mut path = Path::new();
        loop {
            self.skip(is_blank)?;
            match self.peek()? {
                None | Some('=') => {
                    self.note_end()?;
                    return self.error("unexpected '='");
                }
                Some('.') => return self.error("unexpected '.'"),
                Some(_) => {}
            }
            let part = self.key_part()?;
            if path.is_empty() {
                self.key_line = self.line;
            }
            path.push(part);
            self.skip(is_blank)?;
            match self.next()? {
                Some('.') => {}
                Some('=') => break,
                None => return self.error("unexpected EOF; expected key separator '='"),
                other => {
                    let message = format!("expected '.' or '=', but got {} instead", shown(other));
                    return self.error_before(other, message);
                }
            }
        }
        let key = path.pop().unwrap_or_default();
        let outer = self.context.clone();
        self.key = key.clone();
        for part in &path {
            let mut longer = self.context.clone();
            longer.push(part.clone());
            self.implicit.insert(longer.clone());
            self.add_context(&longer, false)?;
        }
        let value = self.value(false)?;
        self.set_value(&key, Node::Value(value.clone()))?;
        if let Some(hash) = hash {
            self.put(hash, &path, key, value)?;
        }
        self.context = outer;
        Ok(())
    }
}
