//! Parses RE2 syntax as Go has it, into what it means.

use std::fmt;

use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use super::super::text::to_str;
use super::class;

/// An expression that was parsed.
pub(super) struct Parsed {
    pub hir: Hir,
    /// The names of the groups, the whole match first.
    pub names: Vec<Option<Box<str>>>,
}

/// Why a text is no expression, with the part that is wrong.
#[derive(Debug)]
pub(super) struct SyntaxError {
    what: &'static str,
    part: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.what, self.part)
    }
}

type Result<T> = std::result::Result<T, SyntaxError>;

fn error<T>(what: &'static str, part: &[u8]) -> Result<T> {
    Err(SyntaxError { what, part: to_str(part).into_owned() })
}

const BAD_RANGE: &str = "invalid character class range";
const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_COUNT: &str = "invalid repeat count";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const BAD_NAME: &str = "invalid named capture";

/// How often something may be repeated, all counts inside each other multiplied.
const COUNT_MAX: u32 = 1000;
/// How deep groups may nest; Go allows 1000.
const DEPTH_MAX: usize = 250;

/// What `(?…)` switches.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    folds_case: bool,
    is_multi_line: bool,
    dot_is_all: bool,
    is_lazy: bool,
}

/// A piece of a concatenation, and how often the counts inside repeat its inmost part.
struct Piece {
    hir: Hir,
    count: u32,
}

/// A group that is still open; the first is the whole expression.
#[derive(Default)]
struct Group {
    /// Its number, when it captures. Names are not the engine's business: Go lets groups share one.
    capture: Option<u32>,
    /// What was before it, and is again behind it.
    outer_flags: Flags,
    alternatives: Vec<Piece>,
    pieces: Vec<Piece>,
}

impl Group {
    fn end_alternative(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        let count = pieces.iter().map(|piece| piece.count).max().unwrap_or(1);
        let hir = Hir::concat(pieces.into_iter().map(|piece| piece.hir).collect());
        self.alternatives.push(Piece { hir, count });
    }

    fn end(mut self) -> Piece {
        self.end_alternative();
        let count = self.alternatives.iter().map(|piece| piece.count).max().unwrap_or(1);
        let hir = Hir::alternation(self.alternatives.into_iter().map(|piece| piece.hir).collect());
        let hir = match self.capture {
            Some(index) => Hir::capture(Capture { index, name: None, sub: Box::new(hir) }),
            None => hir,
        };
        Piece { hir, count }
    }
}

struct Parser<'p> {
    whole: &'p [u8],
    rest: &'p [u8],
    flags: Flags,
    open: Vec<Group>,
    names: Vec<Option<Box<str>>>,
}

/// Parses an expression.
pub(super) fn parse(pattern: &[u8]) -> Result<Parsed> {
    let mut parser = Parser {
        whole: pattern,
        rest: pattern,
        flags: Flags::default(),
        open: vec![Group::default()],
        names: vec![None],
    };
    parser.expression()?;
    match (parser.open.pop(), parser.open.is_empty()) {
        (Some(group), true) => {
            let hir = Hir::capture(Capture { index: 0, name: None, sub: Box::new(group.end().hir) });
            Ok(Parsed { hir, names: parser.names })
        }
        _ => error("missing closing )", pattern),
    }
}

/// A range of characters to be repeated.
#[derive(Clone, Copy)]
struct Count {
    min: u32,
    max: Option<u32>,
}

/// The part of `before` up to where `after`, which is its end, begins.
fn up_to<'p>(before: &'p [u8], after: &[u8]) -> &'p [u8] {
    before.get(..before.len() - after.len()).unwrap_or(before)
}

/// At the end there is a U+FFFD of no width, as in Go.
fn next_char(text: &[u8]) -> Result<(char, &[u8])> {
    match super::super::text::decode(text) {
        Some(rune) if rune.wrong => error("invalid UTF-8", text),
        Some(rune) => Ok((rune.char, text.get(rune.width..).unwrap_or_default())),
        None => Ok((char::REPLACEMENT_CHARACTER, text)),
    }
}

impl<'p> Parser<'p> {
    fn expression(&mut self) -> Result<()> {
        // The repetition just read, which must not be repeated itself.
        let mut last_repeat: Option<&'p [u8]> = None;
        while let Some(first) = self.rest.first() {
            let before = self.rest;
            let mut repeat = None;
            match first {
                b'(' => self.open_group()?,
                b'|' => {
                    self.top().end_alternative();
                    self.advance(1);
                }
                b')' => self.close_group()?,
                b'^' => self.look(if self.flags.is_multi_line { Look::StartLF } else { Look::Start }, 1),
                b'$' => self.look(if self.flags.is_multi_line { Look::EndLF } else { Look::End }, 1),
                b'.' => {
                    self.push_class(class::any(self.flags.dot_is_all));
                    self.advance(1);
                }
                b'[' => self.bracket()?,
                b'*' | b'+' | b'?' => {
                    let count = match first {
                        b'*' => Count { min: 0, max: None },
                        b'+' => Count { min: 1, max: None },
                        _ => Count { min: 0, max: Some(1) },
                    };
                    self.advance(1);
                    self.repeat(before, count, last_repeat)?;
                    repeat = Some(before);
                }
                b'{' => match counts(self.rest) {
                    Some((count, after)) => {
                        self.rest = after;
                        let is_good = count.min <= COUNT_MAX
                            && count.max.is_none_or(|max| (count.min..=COUNT_MAX).contains(&max));
                        if !is_good {
                            return error(BAD_COUNT, up_to(before, after));
                        }
                        self.repeat(before, count, last_repeat)?;
                        repeat = Some(before);
                    }
                    None => {
                        self.literal('{');
                        self.advance(1);
                    }
                },
                b'\\' => self.backslash()?,
                _ => {
                    let (c, after) = next_char(self.rest)?;
                    self.literal(c);
                    self.rest = after;
                }
            }
            last_repeat = repeat;
        }
        Ok(())
    }

    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn top(&mut self) -> &mut Group {
        self.open.last_mut().expect("the whole expression is closed only at the end")
    }

    fn push(&mut self, hir: Hir) {
        self.top().pieces.push(Piece { hir, count: 1 });
    }

    fn look(&mut self, look: Look, width: usize) {
        self.push(Hir::look(look));
        self.advance(width);
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    fn literal(&mut self, c: char) {
        if self.flags.folds_case {
            self.push_class(class::folded(class::of(&[(c, c)])));
        } else {
            self.push(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()));
        }
    }

    fn repeat(&mut self, before: &'p [u8], count: Count, last_repeat: Option<&'p [u8]>) -> Result<()> {
        let mut is_greedy = !self.flags.is_lazy;
        if self.rest.first() == Some(&b'?') {
            self.advance(1);
            is_greedy = !is_greedy;
        }
        if let Some(last) = last_repeat {
            return error("invalid nested repetition operator", up_to(last, self.rest));
        }
        let operator = up_to(before, self.rest);
        let Some(piece) = self.top().pieces.pop() else {
            return error("missing argument to repetition operator", operator);
        };
        let times = count.max.unwrap_or(count.min).max(count.min);
        let is_counted = operator.starts_with(b"{");
        let total = match times {
            _ if !is_counted => piece.count,
            0 if count.max == Some(0) => 1,
            times => times.max(1).saturating_mul(piece.count),
        };
        if is_counted && times >= 2 && total > COUNT_MAX {
            return error(BAD_COUNT, operator);
        }
        let repetition = Repetition { min: count.min, max: count.max, greedy: is_greedy, sub: Box::new(piece.hir) };
        self.top().pieces.push(Piece { hir: Hir::repetition(repetition), count: total });
        Ok(())
    }

    fn open_group(&mut self) -> Result<()> {
        if self.open.len() > DEPTH_MAX {
            return error("expression nests too deeply", self.whole);
        }
        let name = if self.rest.starts_with(b"(?") {
            match self.perl_group()? {
                Some(name) => Some(name),
                None => return Ok(()),
            }
        } else {
            self.advance(1);
            None
        };
        self.names.push(name);
        let capture = Some((self.names.len() - 1) as u32);
        self.open.push(Group { capture, outer_flags: self.flags, ..Group::default() });
        Ok(())
    }

    fn close_group(&mut self) -> Result<()> {
        if self.open.len() < 2 {
            return error("unexpected )", self.whole);
        }
        if let Some(group) = self.open.pop() {
            self.flags = group.outer_flags;
            self.top().pieces.push(group.end());
        }
        self.advance(1);
        Ok(())
    }

    /// The name of `(?P<name>` or `(?<name>`; what `(?flags)` and `(?flags:` ask for is done here.
    fn perl_group(&mut self) -> Result<Option<Box<str>>> {
        let start = self.rest;
        let name_at = match start {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        if let Some(name_at) = name_at {
            let Some(end) = start.iter().position(|byte| *byte == b'>') else {
                std::str::from_utf8(start).or_else(|_| error("invalid UTF-8", start))?;
                return error(BAD_NAME, start);
            };
            let name = start.get(name_at..end).unwrap_or_default();
            let text = std::str::from_utf8(name).or_else(|_| error("invalid UTF-8", name))?;
            let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            if !is_name {
                return error(BAD_NAME, start.get(..=end).unwrap_or(start));
            }
            self.advance(end + 1);
            return Ok(Some(text.into()));
        }
        self.advance(2);
        let (mut flags, mut is_on, mut has_seen) = (self.flags, true, false);
        while !self.rest.is_empty() {
            let (c, after) = next_char(self.rest)?;
            self.rest = after;
            match c {
                'i' => flags.folds_case = is_on,
                'm' => flags.is_multi_line = is_on,
                's' => flags.dot_is_all = is_on,
                'U' => flags.is_lazy = is_on,
                '-' if is_on => {
                    (is_on, has_seen) = (false, false);
                    continue;
                }
                ':' | ')' if is_on || has_seen => {
                    let before = std::mem::replace(&mut self.flags, flags);
                    if c == ':' {
                        // The group itself has the new flags, what follows it the old ones.
                        self.open.push(Group { outer_flags: before, ..Group::default() });
                    }
                    return Ok(None);
                }
                _ => break,
            }
            has_seen = true;
        }
        error(BAD_PERL, up_to(start, self.rest))
    }

    fn backslash(&mut self) -> Result<()> {
        match self.rest.get(1) {
            Some(b'A') => self.look(Look::Start, 2),
            Some(b'z') => self.look(Look::End, 2),
            Some(b'b') => self.look(Look::WordAscii, 2),
            Some(b'B') => self.look(Look::WordAsciiNegate, 2),
            Some(b'C') => return error(BAD_ESCAPE, self.rest.get(..2).unwrap_or_default()),
            Some(b'Q') => {
                self.advance(2);
                let end = self.rest.windows(2).position(|pair| pair == b"\\E");
                let quoted = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
                let mut left = quoted;
                while !left.is_empty() {
                    let (c, after) = next_char(left)?;
                    self.literal(c);
                    left = after;
                }
                self.advance(quoted.len() + 2);
            }
            _ => match self.class_escape()? {
                Some(class) => self.push_class(class),
                None => {
                    let c = self.escape()?;
                    self.literal(c);
                }
            },
        }
        Ok(())
    }

    /// `\d`, `\pL` and their like, with other cases when those don't count.
    fn class_escape(&mut self) -> Result<Option<ClassUnicode>> {
        let Some(letter) = self.rest.get(1).filter(|_| self.rest.starts_with(b"\\")) else { return Ok(None) };
        let mut is_negated = letter.is_ascii_uppercase();
        let mut found = if let Some(class) = class::perl(letter.to_ascii_lowercase()) {
            self.advance(2);
            class
        } else if matches!(letter, b'p' | b'P') {
            let start = self.rest;
            let (first, after) = next_char(self.rest.get(2..).unwrap_or_default())?;
            let (name, after) = match (first, start.iter().position(|byte| *byte == b'}')) {
                ('{', None) => return error(BAD_RANGE, start),
                ('{', Some(end)) => (start.get(3..end), start.get(end + 1..).unwrap_or_default()),
                _ => (start.get(2..start.len() - after.len()), after),
            };
            self.rest = after;
            let name = name.unwrap_or_default();
            let name = std::str::from_utf8(name).or_else(|_| error("invalid UTF-8", name))?;
            is_negated ^= name.starts_with('^');
            match class::unicode(name.strip_prefix('^').unwrap_or(name)) {
                Some(class) => class,
                None => return error(BAD_RANGE, up_to(start, after)),
            }
        } else {
            return Ok(None);
        };
        if self.flags.folds_case {
            found = class::folded(found);
        }
        if is_negated {
            found.negate();
        }
        Ok(Some(found))
    }

    /// An escape that stands for one character.
    fn escape(&mut self) -> Result<char> {
        let start = self.rest;
        self.advance(1);
        if self.rest.is_empty() {
            return error("trailing backslash at end of expression", b"");
        }
        let (c, after) = next_char(self.rest)?;
        self.rest = after;
        let octal = |digit: Option<&u8>| {
            digit.filter(|digit| matches!(digit, b'0'..=b'7')).map(|digit| u32::from(digit - b'0'))
        };
        match c {
            'a' => return Ok('\x07'),
            'f' => return Ok('\x0c'),
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'v' => return Ok('\x0b'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c),
            '0'..='7' if c == '0' || octal(self.rest.first()).is_some() => {
                let mut code = c as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = octal(self.rest.first()) else { break };
                    code = code * 8 + digit;
                    self.advance(1);
                }
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            'x' if !self.rest.is_empty() => {
                if let Some(c) = self.hex_escape()? {
                    return Ok(c);
                }
            }
            _ => {}
        }
        error(BAD_ESCAPE, up_to(start, self.rest))
    }

    /// What follows `\x`: two digits, or any number of them in braces.
    fn hex_escape(&mut self) -> Result<Option<char>> {
        let (first, after) = next_char(self.rest)?;
        self.rest = after;
        if first != '{' {
            let (second, after) = next_char(self.rest)?;
            self.rest = after;
            let code = first.to_digit(16).zip(second.to_digit(16)).map(|(first, second)| first * 16 + second);
            return Ok(code.and_then(char::from_u32));
        }
        let (mut code, mut count) = (0u32, 0);
        while !self.rest.is_empty() {
            let (c, after) = next_char(self.rest)?;
            self.rest = after;
            if c == '}' {
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                return Ok((count > 0).then_some(c));
            }
            let Some(digit) = c.to_digit(16) else { return Ok(None) };
            code = code * 16 + digit;
            count += 1;
            if code > char::MAX as u32 {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// `[…]`
    fn bracket(&mut self) -> Result<()> {
        let start = self.rest;
        self.advance(1);
        let is_negated = self.rest.starts_with(b"^");
        self.advance(usize::from(is_negated));
        let mut all = ClassUnicode::empty();
        let mut is_first = true;
        while is_first || self.rest.first() != Some(&b']') {
            is_first = false;
            let part = if let Some(class) = self.posix_class()? {
                class
            } else if let Some(class) = self.class_escape()? {
                class
            } else {
                self.class_range(start)?
            };
            all.union(&part);
        }
        self.advance(1);
        if is_negated {
            all.negate();
        }
        self.push_class(all);
        Ok(())
    }

    /// `[:name:]` inside of brackets.
    fn posix_class(&mut self) -> Result<Option<ClassUnicode>> {
        let Some(inner) = self.rest.strip_prefix(b"[:").filter(|inner| !inner.is_empty()) else { return Ok(None) };
        let Some(end) = inner.windows(2).position(|pair| pair == b":]") else { return Ok(None) };
        let whole = self.rest.get(..end + 4).unwrap_or(self.rest);
        let name = to_str(inner.get(..end).unwrap_or_default());
        let Some(mut found) = class::posix(name.strip_prefix('^').unwrap_or(&name)) else {
            return error(BAD_RANGE, whole);
        };
        if self.flags.folds_case {
            found = class::folded(found);
        }
        if name.starts_with('^') {
            found.negate();
        }
        self.advance(whole.len());
        Ok(Some(found))
    }

    /// One character, or two with `-` between.
    fn class_range(&mut self, bracket: &'p [u8]) -> Result<ClassUnicode> {
        let start = self.rest;
        let low = self.class_char(bracket)?;
        let mut high = low;
        if matches!(self.rest, [b'-', next, ..] if *next != b']') {
            self.advance(1);
            high = self.class_char(bracket)?;
            if high < low {
                return error(BAD_RANGE, up_to(start, self.rest));
            }
        }
        let class = ClassUnicode::new([ClassUnicodeRange::new(low, high)]);
        Ok(if self.flags.folds_case { class::folded(class) } else { class })
    }

    fn class_char(&mut self, bracket: &'p [u8]) -> Result<char> {
        match self.rest.first() {
            None => error("missing closing ]", bracket),
            Some(b'\\') => self.escape(),
            Some(_) => {
                let (c, after) = next_char(self.rest)?;
                self.rest = after;
                Ok(c)
            }
        }
    }
}

/// `{n}`, `{n,}` or `{n,m}`, and what follows; numbers too large to count stay too large.
fn counts(text: &[u8]) -> Option<(Count, &[u8])> {
    let (min, rest) = number(text.strip_prefix(b"{")?)?;
    let (max, rest) = match rest.strip_prefix(b",") {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with(b"}") => (None, rest),
        Some(rest) => {
            let (max, rest) = number(rest)?;
            (Some(max), rest)
        }
    };
    Some((Count { min, max }, rest.strip_prefix(b"}")?))
}

/// A decimal number without leading zeros.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with(b"0") {
        return None;
    }
    Some((to_str(digits).parse().unwrap_or(u32::MAX), rest))
}
