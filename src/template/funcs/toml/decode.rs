//! Reading TOML. The way tables are found and redefinitions refused is BurntSushi's, its texts too: templates see them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::list::{List, ListType};
use super::super::super::map::{Entries, Map, MapType};
use super::super::super::number::{NumberError, parse_float, parse_int};
use super::super::super::text::{Text, decode as decode_rune, push_char, to_str};
use super::super::super::time::{Zone, parse as parse_time};
use super::super::super::value::Value;
use super::{LOCAL_DATE, LOCAL_DATETIME, LOCAL_TIME};

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
pub(in crate::template::funcs) fn decode(text: &[u8]) -> Result<Map, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let message = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(format!("toml: line 1: {message}"));
    }
    let mut decoder = Decoder {
        text,
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
    decoder.document().map_err(|problem| {
        let last = decoder.last_key();
        let key = if last.is_empty() { String::new() } else { format!(" (last key {})", crate::yaml::quote(&last)) };
        format!("toml: line {}{key}: {}", problem.line, problem.message)
    })?;
    Ok(map_of(decoder.root))
}

fn map_of(table: Table) -> Map {
    let entries: Entries = table
        .into_iter()
        .map(|(key, node)| {
            let value = match node {
                Node::Value(value) => value,
                Node::Table(table) => map_of(table).into(),
                Node::Tables(tables) => {
                    List::of(&ListType::MAPS, tables.into_iter().map(|table| map_of(table).into()).collect()).into()
                }
            };
            (key, value)
        })
        .collect();
    Map::of(&MapType::ANY, entries)
}

#[derive(Debug)]
struct Problem {
    line: u32,
    message: String,
}

type Read<T> = Result<T, Problem>;

struct Decoder<'t> {
    text: &'t [u8],
    at: usize,
    /// 1-based.
    line: u32,
    is_at_end: bool,
    depth: u32,
    /// The table that is being filled.
    context: Path,
    /// The key whose value is being read; empty between keys.
    key: Text,
    /// Where that key stands.
    key_line: u32,
    root: Table,
    /// Keys that hold an array.
    arrays: BTreeSet<Path>,
    /// Tables that are there only because a longer key named them.
    implicit: BTreeSet<Path>,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// As `%q` shows a character.
fn shown(c: Option<char>) -> String {
    let mut out = vec![b'\''];
    let c = c.unwrap_or('\0');
    super::super::super::quote::escape_char(&mut out, c, b'\'', super::super::super::quote::Escape::NonPrintable);
    out.push(b'\'');
    to_str(&out).into_owned()
}

/// As `%c` in quotes shows it.
fn plain(c: Option<char>) -> String {
    c.map_or_else(|| "end of file".to_owned(), |c| format!("'{c}'"))
}

fn joined(path: &[Text]) -> String {
    let part = |part: &Text| {
        let text = part.to_str();
        if !text.is_empty() && text.chars().all(is_bare) {
            return text.into_owned();
        }
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
        format!("\"{escaped}\"")
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

impl<'t> Decoder<'t> {
    fn last_key(&self) -> String {
        match (self.context.is_empty(), self.key.is_empty()) {
            (_, true) => joined(&self.context),
            (true, false) => self.key.to_str().into_owned(),
            (false, false) => format!("{}.{}", joined(&self.context), self.key.to_str()),
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character, which stays; control characters and wrong bytes are errors.
    fn peek(&self) -> Read<Option<char>> {
        let Some(rune) = decode_rune(self.rest()) else { return Ok(None) };
        let line = self.line + u32::from(rune.char == '\n');
        if rune.wrong {
            let byte = self.rest().first().copied().unwrap_or_default();
            return Err(Problem { line, message: format!("invalid UTF-8 byte: 0x{byte:02x}") });
        }
        let is_lone_return = rune.char == '\r' && self.rest().get(1) != Some(&b'\n');
        if is_lone_return || rune.char.is_ascii_control() && !matches!(rune.char, '\t' | '\n' | '\r') {
            let code = u32::from(rune.char);
            let message = format!("TOML files cannot contain control characters: '0x{code:02x}'");
            return Err(Problem { line, message });
        }
        Ok(Some(rune.char))
    }

    fn next(&mut self) -> Read<Option<char>> {
        let c = self.peek()?;
        match c {
            Some(c) => {
                self.at += c.len_utf8();
                self.line += u32::from(c == '\n');
            }
            None => self.is_at_end = true,
        }
        Ok(c)
    }

    fn accept(&mut self, wanted: char) -> Read<bool> {
        let is_there = self.peek()? == Some(wanted);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) -> Read<()> {
        while self.peek()?.is_some_and(&is_skipped) {
            self.next()?;
        }
        Ok(())
    }

    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        let is_behind_break = self.is_at_end && self.at > 0 && self.text.get(self.at - 1) == Some(&b'\n');
        Err(Problem { line: self.line - u32::from(is_behind_break), message: message.into() })
    }

    /// The error that belongs to the line which was just left, when it was.
    fn error_before<T>(&self, c: Option<char>, message: String) -> Read<T> {
        match c {
            Some('\n') => Err(Problem { line: self.line - 1, message }),
            _ => self.error(message),
        }
    }

    fn error_at_key<T>(&self, message: String) -> Read<T> {
        Err(Problem { line: self.key_line, message })
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

    /// `a.b = value`; an inline table also collects what it holds, for when it stands in an array.
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

    /// Puts a value of an inline table at its path.
    fn put(&self, hash: &mut Table, path: &[Text], key: Text, value: Value) -> Read<()> {
        let mut table = hash;
        for part in path {
            match table.entry(part.clone()).or_insert_with(|| Node::Table(Table::new())) {
                Node::Table(inner) => table = inner,
                Node::Value(_) | Node::Tables(_) => {
                    return self.error_at_key(format!("{} is not a table", crate::yaml::quote(&joined(&self.context))));
                }
            }
        }
        table.insert(key, Node::Value(value));
        Ok(())
    }

    fn value(&mut self, is_in_array: bool) -> Read<Value> {
        self.skip(is_blank)?;
        let start = self.at;
        let c = self.peek()?;
        match c {
            Some('0'..='9') => return self.number_or_date(),
            Some('t' | 'f') => {}
            Some('[') => {
                self.next()?;
                return self.array();
            }
            Some('{') => {
                self.next()?;
                return self.inline_table(is_in_array);
            }
            Some('"') => {
                self.next()?;
                let text = if self.rest().starts_with(b"\"\"") { self.multiline_string()? } else { self.string()? };
                return Ok(text.into());
            }
            Some('\'') => {
                self.next()?;
                let text = if self.rest().starts_with(b"''") { self.multiline_raw()? } else { self.raw_string()? };
                return Ok(text.into());
            }
            Some('i' | 'n') => {
                for word in ["inf", "nan"] {
                    if self.rest().starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return self.float(word.as_bytes());
                    }
                }
            }
            Some('-' | '+') => return self.signed_number(),
            _ => {
                self.next()?;
                return match c {
                    Some('.') => self.error("floats must start with a digit, not '.'"),
                    None => self.error("unexpected EOF; expected value"),
                    Some(letter) if super::super::super::unicode::is_letter(letter) => {
                        self.at = start;
                        self.word()
                    }
                    c => self.error_before(c, format!("expected value but found {} instead", shown(c))),
                };
            }
        }
        self.word()
    }

    fn word(&mut self) -> Read<Value> {
        let start = self.at;
        self.skip(super::super::super::unicode::is_letter)?;
        match self.text.get(start..self.at).unwrap_or_default() {
            b"true" => Ok(Value::Bool(true)),
            b"false" => Ok(Value::Bool(false)),
            other => {
                let found = crate::yaml::quote(&to_str(other));
                self.error(format!("expected value but found {found} instead"))
            }
        }
    }

    fn deeper(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { self.error("arrays and inline tables nest too deep") } else { Ok(()) }
    }

    fn path_of_key(&self) -> Path {
        let mut path = self.context.clone();
        if !self.key.is_empty() {
            path.push(self.key.clone());
        }
        path
    }

    fn array(&mut self) -> Read<Value> {
        self.deeper()?;
        self.arrays.insert(self.path_of_key());
        let mut items = Vec::new();
        loop {
            self.between_items()?;
            if self.peek()? == Some(',') {
                self.next()?;
                return self.error("unexpected comma");
            }
            if self.accept(']')? {
                break;
            }
            items.push(self.value(true)?);
            self.between_items()?;
            match self.next()? {
                Some(',') => {}
                Some(']') => break,
                other => {
                    let found = plain(other);
                    return self.error(format!("expected a comma (',') or array terminator (']'), but got {found}"));
                }
            }
        }
        self.depth -= 1;
        Ok(List::new(items).into())
    }

    /// Blanks, line breaks and comments.
    fn between_items(&mut self) -> Read<()> {
        loop {
            self.skip(|c| is_blank(c) || is_break(c))?;
            if self.peek()? != Some('#') {
                return Ok(());
            }
            self.comment()?;
        }
    }

    fn inline_table(&mut self, is_in_array: bool) -> Read<Value> {
        self.deeper()?;
        let (outer_context, outer_key) = (self.context.clone(), self.key.clone());
        let mut path = self.context.clone();
        path.push(std::mem::take(&mut self.key));
        self.implicit.insert(path.clone());
        self.add_context(&path, is_in_array)?;
        let mut hash = Some(Table::new());
        loop {
            self.between_items()?;
            match self.peek()? {
                Some(',') => {
                    self.next()?;
                    return self.error("unexpected comma");
                }
                Some('}') => {
                    self.next()?;
                    break;
                }
                _ => {}
            }
            self.context = path.clone();
            self.key_value(&mut hash)?;
            self.between_items()?;
            match self.next()? {
                Some(',') => {}
                Some('}') => break,
                other => {
                    return self.error(format!(
                        "expected a comma or an inline table terminator '}}', but got {} instead",
                        plain(other)
                    ));
                }
            }
        }
        self.context = outer_context;
        self.key = outer_key;
        self.depth -= 1;
        Ok(map_of(hash.unwrap_or_default()).into())
    }

    fn string(&mut self) -> Read<Text> {
        let mut out = Vec::new();
        loop {
            match self.next()? {
                None => return self.error("unexpected EOF; expected '\"'"),
                Some(c) if is_break(c) => {
                    return Err(Problem { line: self.line - 1, message: "strings cannot contain newlines".to_owned() });
                }
                Some('"') => return Ok(out.into()),
                Some('\\') => self.escape(&mut out)?,
                Some(c) => push_char(&mut out, c),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Read<()> {
        let start = self.at;
        let c = self.next()?;
        let short = match c {
            Some('b') => Some(8),
            Some('t') => Some(b'\t'),
            Some('n') => Some(b'\n'),
            Some('f') => Some(12),
            Some('r') => Some(b'\r'),
            Some('e') => Some(27),
            Some('"') => Some(b'"'),
            Some('\\') => Some(b'\\'),
            _ => None,
        };
        if let Some(short) = short {
            out.push(short);
            return Ok(());
        }
        let digits = match c {
            Some(blank @ (' ' | '\t')) => return self.error(format!("invalid escape: '\\{blank}'")),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(other) => return self.error(format!("invalid escape in string '\\{other}'")),
            None => return self.error("invalid escape in string '\\\0'"),
        };
        for _ in 0..digits {
            let digit = self.next()?;
            if !digit.is_some_and(|digit| digit.is_ascii_hexdigit()) {
                let (count, letter) = match digits {
                    2 => ("two", 'x'),
                    4 => ("four", 'u'),
                    _ => ("eight", 'U'),
                };
                let found = crate::yaml::quote(&to_str(self.text.get(start - 1..self.at).unwrap_or_default()));
                return self
                    .error(format!("expected {count} hexadecimal digits after '\\{letter}', but got {found} instead"));
            }
        }
        let hex = to_str(self.text.get(start + 1..self.at).unwrap_or_default()).into_owned();
        match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
            Some(c) => {
                push_char(out, c);
                Ok(())
            }
            None => self.error(format!("Escaped character '\\u{hex}' is not valid UTF-8.")),
        }
    }

    fn raw_string(&mut self) -> Read<Text> {
        let start = self.at;
        loop {
            match self.next()? {
                None => return self.error("unexpected EOF; expected \"'\""),
                Some(c) if is_break(c) => {
                    return Err(Problem { line: self.line - 1, message: "strings cannot contain newlines".to_owned() });
                }
                Some('\'') => return Ok(self.text.get(start..self.at - 1).unwrap_or_default().into()),
                Some(_) => {}
            }
        }
    }

    /// A line break right behind the opening quotes doesn't count.
    fn skip_first_break(&mut self) -> Read<()> {
        if self.rest().starts_with(b"\r\n") {
            self.next()?;
        }
        self.accept('\n').map(drop)
    }

    /// How many quotes follow each other here; up to two may stand before the three that close.
    fn quotes(&self, mark: u8) -> usize {
        self.rest().iter().take_while(|byte| **byte == mark).count()
    }

    fn multiline_string(&mut self) -> Read<Text> {
        self.at += 2;
        self.skip_first_break()?;
        let mut out = Vec::new();
        loop {
            let quotes = self.quotes(b'"');
            if quotes >= 6 {
                self.at += 5;
                return self.error("unexpected '\"\"\"\"\"\"'");
            }
            if quotes >= 3 {
                out.resize(out.len() + quotes - 3, b'"');
                self.at += quotes;
                return Ok(out.into());
            }
            match self.next()? {
                None => return self.error("unexpected EOF; expected '\"\"\"'"),
                Some('\\') => {
                    // A line that ends in a backslash goes on at the next text.
                    let blanks = self.rest().iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
                    if self.rest().iter().take(blanks).any(|byte| *byte == b'\n') {
                        self.skip(|c| is_blank(c) || is_break(c))?;
                    } else {
                        self.escape(&mut out)?;
                    }
                }
                Some(c) => push_char(&mut out, c),
            }
        }
    }

    fn multiline_raw(&mut self) -> Read<Text> {
        self.at += 2;
        self.skip_first_break()?;
        let start = self.at;
        loop {
            let quotes = self.quotes(b'\'');
            if quotes >= 6 {
                self.at += 5;
                return self.error("unexpected \"''''''\"");
            }
            if quotes >= 3 {
                self.at += quotes;
                return Ok(self.text.get(start..self.at - 3).unwrap_or_default().into());
            }
            if self.next()?.is_none() {
                return self.error("unexpected EOF; expected \"'''\"");
            }
        }
    }

    fn signed_number(&mut self) -> Read<Value> {
        let start = self.at;
        self.next()?;
        let c = self.next()?;
        let current = |decoder: &Self| to_str(decoder.text.get(start..decoder.at).unwrap_or_default()).into_owned();
        match c {
            Some(first @ ('i' | 'n')) => {
                let rest = if first == 'i' { ['n', 'f'] } else { ['a', 'n'] };
                for wanted in rest {
                    if self.peek()? != Some(wanted) {
                        self.next()?;
                        let found = current(self);
                        return self.error(format!("invalid float: '{found}'"));
                    }
                    self.next()?;
                }
                let text = self.text.get(start..self.at).unwrap_or_default();
                self.float(text)
            }
            Some('.') => self.error("floats must start with a digit, not '.'"),
            Some(digit) if digit.is_ascii_digit() => {
                if let (Some(base @ ('b' | 'o' | 'x')), '0') = (self.peek()?, digit) {
                    let sign = current(self);
                    return self.error(format!("cannot use sign with non-decimal numbers: '{sign}{base}'"));
                }
                self.decimal(start)
            }
            other => self.error(format!("expected a digit but got {}", shown(other))),
        }
    }

    /// The rest of a decimal integer or float that began at `start`.
    fn decimal(&mut self, start: usize) -> Read<Value> {
        self.skip(|c| c.is_ascii_digit() || c == '_')?;
        let is_float = matches!(self.peek()?, Some('.' | 'e' | 'E'));
        if is_float {
            self.skip(|c| c.is_ascii_digit() || "_.-+eE".contains(c))?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if is_float { self.float(text) } else { self.integer(text) }
    }

    fn number_or_date(&mut self) -> Read<Value> {
        let start = self.at;
        if let [b'0', base @ (b'b' | b'o' | b'x'), rest @ ..] = self.rest() {
            let (name, radix) = match base {
                b'b' => ("a binary", 2),
                b'o' => ("an octal", 8),
                _ => ("a hexadecimal", 16),
            };
            self.at += 2;
            if !rest.first().is_some_and(|digit| char::from(*digit).is_digit(radix)) {
                let found = self.peek()?.unwrap_or('\0');
                return self.error(format!("not {name} number: '0{}{found}'", char::from(*base)));
            }
            self.skip(|c| c.is_digit(radix) || c == '_')?;
            return self.integer(self.text.get(start..self.at).unwrap_or_default());
        }
        self.skip(|c| c.is_ascii_digit())?;
        if !matches!(self.peek()?, Some('-' | ':')) {
            return self.decimal(start);
        }
        self.skip(|c| c.is_ascii_digit() || "-:Tt .Zz+".contains(c))?;
        let text = to_str(self.text.get(start..self.at).unwrap_or_default()).trim().to_owned();
        self.date(&text)
    }

    fn integer(&self, text: &[u8]) -> Read<Value> {
        let shown = crate::yaml::quote(&to_str(text));
        if !underscores_are_good(text) {
            return self.error(format!("Invalid integer {shown}: underscores must be surrounded by digits"));
        }
        if has_leading_zero(text) {
            return self.error(format!("Invalid integer {shown}: cannot have leading zeroes"));
        }
        match parse_int(text) {
            Ok(value) => Ok(Value::int64(value)),
            Err(NumberError::Range | NumberError::Syntax) => {
                self.error(format!("{} is out of range for int64", to_str(text)))
            }
        }
    }

    fn float(&self, text: &[u8]) -> Read<Value> {
        let shown = crate::yaml::quote(&to_str(text));
        let mut parts =
            text.split(|byte| matches!(byte, b'.' | b'e' | b'E')).filter(|part| !part.is_empty()).peekable();
        let has_zero = parts.peek().is_some_and(|first| has_leading_zero(first));
        if !parts.all(underscores_are_good) {
            return self.error(format!("Invalid float {shown}: underscores must be surrounded by digits"));
        }
        if has_zero {
            return self.error(format!("Invalid float {shown}: cannot have leading zeroes"));
        }
        let is_point_good = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'.')
            .all(|(at, _)| text.get(at + 1).is_some_and(u8::is_ascii_digit));
        if !is_point_good {
            return self.error(format!("Invalid float {shown}: '.' must be followed by one or more digits"));
        }
        let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'_').collect();
        match digits.as_slice() {
            b"+nan" => return Ok(Value::Float(f64::NAN)),
            b"-nan" => return Ok(Value::Float(-f64::NAN)),
            _ => {}
        }
        match parse_float(&digits) {
            Ok(value) => Ok(Value::Float(value)),
            Err(NumberError::Range) => self.error(format!("{} is out of range for float64", to_str(text))),
            Err(NumberError::Syntax) => self.error(format!("Invalid float value: {shown}")),
        }
    }

    fn date(&self, text: &str) -> Read<Value> {
        let text = text.replace('z', "Z").replace(['t', ' '], "T");
        let layouts = [
            ("2006-01-02T15:04:05.999999999Z07:00", ""),
            ("2006-01-02T15:04:05.999999999", LOCAL_DATETIME),
            ("2006-01-02", LOCAL_DATE),
            ("15:04:05.999999999", LOCAL_TIME),
            ("2006-01-02T15:04Z07:00", ""),
            ("2006-01-02T15:04", LOCAL_DATETIME),
            ("15:04", LOCAL_TIME),
        ];
        let found =
            layouts.iter().find_map(|(layout, zone)| Some((parse_time(layout, text.as_bytes()).ok()?, layout, zone)));
        match found {
            Some((time, layout, zone)) if has_all_digits(&text, layout) => {
                let time = if zone.is_empty() { time } else { time.with_zone(Zone::Fixed(0, (*zone).to_owned())) };
                Ok(time.into())
            }
            _ => self.error(format!("invalid datetime: {}", crate::yaml::quote(&text))),
        }
    }

    /// Goes to the table at a path, making it and those above it where they are missing.
    fn add_context(&mut self, path: &[Text], is_array: bool) -> Read<()> {
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        let mut table = &mut self.root;
        for (index, part) in parents.iter().enumerate() {
            let so_far = path.get(..=index).unwrap_or_default();
            if !table.contains_key(part) {
                self.implicit.insert(so_far.to_vec());
                table.insert(part.clone(), Node::Table(Table::new()));
            }
            match table.get_mut(part) {
                Some(Node::Table(inner)) => table = inner,
                Some(Node::Tables(list)) => match list.last_mut() {
                    Some(inner) => table = inner,
                    None => return Ok(()),
                },
                Some(Node::Value(_)) | None => {
                    let message = format!("Key '{}' was already created as a hash.", joined(so_far));
                    return Err(Problem { line: self.key_line, message });
                }
            }
        }
        if is_array {
            match table.entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new())) {
                Node::Tables(list) => list.push(Table::new()),
                Node::Table(_) | Node::Value(_) => {
                    self.context = parents.to_vec();
                    let path = joined(path);
                    return self
                        .error_at_key(format!("Key '{path}' was already created and cannot be used as an array."));
                }
            }
            self.context = path.to_vec();
            return Ok(());
        }
        self.context = parents.to_vec();
        self.set_value(last, Node::Table(Table::new()))?;
        self.context.push(last.clone());
        Ok(())
    }

    /// Sets a key of the table at work, unless it is there already for more than a longer key's sake.
    fn set_value(&mut self, key: &Text, node: Node) -> Read<()> {
        let mut path = self.context.clone();
        path.push(key.clone());
        let defined = |line: u32, path: &[Text]| {
            Err(Problem { line, message: format!("Key '{}' has already been defined.", joined(path)) })
        };
        let line = self.key_line;
        let mut table = &mut self.root;
        for (index, part) in self.context.iter().enumerate() {
            match table.get_mut(part) {
                Some(Node::Table(inner)) => table = inner,
                Some(Node::Tables(list)) => match list.last_mut() {
                    Some(inner) => table = inner,
                    None => return Ok(()),
                },
                Some(Node::Value(_)) | None => return defined(line, path.get(..=index).unwrap_or_default()),
            }
        }
        if table.contains_key(key) {
            let is_implicit = self.implicit.remove(&path);
            if !is_implicit {
                return defined(line, &path);
            }
            if self.arrays.contains(&path) {
                table.insert(key.clone(), node);
            }
            return Ok(());
        }
        table.insert(key.clone(), node);
        Ok(())
    }
}

fn has_leading_zero(text: &[u8]) -> bool {
    match text {
        [b'0', next, ..] => !matches!(next, b'b' | b'o' | b'x'),
        [b'-' | b'+', b'0', _, ..] => true,
        _ => false,
    }
}

fn underscores_are_good(text: &[u8]) -> bool {
    if matches!(text, b"nan" | b"+nan" | b"-nan" | b"inf" | b"+inf" | b"-inf") {
        return true;
    }
    let mut is_behind_digit = false;
    for byte in text {
        if *byte == b'_' && !is_behind_digit {
            return false;
        }
        is_behind_digit = byte.is_ascii_hexdigit();
    }
    is_behind_digit
}

/// Whether every mark of the layout stands where it should: no digit is left out.
fn has_all_digits(text: &str, layout: &str) -> bool {
    layout
        .bytes()
        .zip(text.bytes())
        .take_while(|(mark, _)| !matches!(mark, b'.' | b'Z'))
        .all(|(mark, byte)| mark.is_ascii_digit() || mark == byte)
}
