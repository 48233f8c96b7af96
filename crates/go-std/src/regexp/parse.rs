//! Parses RE2 syntax as Go has it, into what it means.

mod brackets;
mod escape;
mod group;
mod repeat;

use std::fmt;

use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, Look};

use super::super::utf8::{decode, to_str};
use super::class;
use repeat::{BAD_COUNT, COUNT_MAX, Count, counts};

/// An expression that was parsed.
pub(super) struct Parsed {
    pub hir: Hir,
    /// The names of the groups, the whole match first.
    pub names: Vec<Option<Box<str>>>,
}

/// Why a text is not an expression, with the part that is wrong.
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

impl SyntaxError {
    /// Whether Go might take the text.
    pub(super) fn is_of_size(&self) -> bool {
        self.what == TOO_LARGE
    }
}

type Result<T> = std::result::Result<T, SyntaxError>;

fn error<T>(what: &'static str, part: &[u8]) -> Result<T> {
    Err(SyntaxError { what, part: to_str(part).into_owned() })
}

const BAD_RANGE: &str = "invalid character class range";
const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const TOO_LARGE: &str = "expression too large";
const BAD_NAME: &str = "invalid named capture";

/// How many nodes may be inside each other.
const HEIGHT_MAX: u32 = 1000;

/// How many ranges of characters all classes may have, and how many characters may be folded for them: more than fit into a
/// program.
const CHARACTERS_MAX: usize = 2_000_000;

/// What `(?…)` switches.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    folds_case: bool,
    is_multi_line: bool,
    dot_is_all: bool,
    is_lazy: bool,
}

/// A piece of a concatenation.
struct Piece {
    hir: Hir,
    /// How often the counts inside repeat its inmost part.
    count: u32,
    /// How many of Go's nodes are inside each other.
    height: u32,
    sort: Sort,
}

/// Of which sort Go's node for a piece is, as far as neighbours merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Literal,
    Concatenation,
    Alternation,
    Other,
}

/// How high a node over some pieces is: those of its own sort are merged into it.
fn height_over(pieces: &[Piece], sort: Sort) -> u32 {
    let height = |piece: &Piece| if piece.sort == sort { piece.height } else { piece.height.saturating_add(1) };
    pieces.iter().map(height).max().unwrap_or(1)
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
        let (height, sort) = match pieces.as_slice() {
            [only] => (only.height, only.sort),
            pieces if pieces.iter().all(|piece| piece.sort == Sort::Literal) => (1, Sort::Literal),
            pieces => (height_over(pieces, Sort::Concatenation), Sort::Concatenation),
        };
        let hir = Hir::concat(pieces.into_iter().map(|piece| piece.hir).collect());
        self.alternatives.push(Piece { hir, count, height, sort });
    }

    fn end(mut self) -> Piece {
        self.end_alternative();
        let count = self.alternatives.iter().map(|piece| piece.count).max().unwrap_or(1);
        let (mut height, mut sort) = match self.alternatives.as_slice() {
            [only] => (only.height, only.sort),
            alternatives => (height_over(alternatives, Sort::Alternation), Sort::Alternation),
        };
        if self.capture.is_some() {
            (height, sort) = (height.saturating_add(1), Sort::Other);
        }
        let hir = Hir::alternation(self.alternatives.into_iter().map(|piece| piece.hir).collect());
        let hir = match self.capture {
            Some(index) => Hir::capture(Capture { index, name: None, sub: Box::new(hir) }),
            None => hir,
        };
        Piece { hir, count, height, sort }
    }
}

struct Parser<'p> {
    whole: &'p [u8],
    rest: &'p [u8],
    flags: Flags,
    open: Vec<Group>,
    names: Vec<Option<Box<str>>>,
    /// How much of [`CHARACTERS_MAX`] is used.
    characters: usize,
}

/// Parses an expression.
pub(super) fn parse(pattern: &[u8]) -> Result<Parsed> {
    let mut parser = Parser {
        whole: pattern,
        rest: pattern,
        flags: Flags::default(),
        open: vec![Group::default()],
        names: vec![None],
        characters: 0,
    };
    parser.expression()?;
    match (parser.open.pop(), parser.open.is_empty()) {
        (Some(group), true) => {
            let piece = group.end();
            if piece.height > HEIGHT_MAX {
                return error("expression nests too deeply", pattern);
            }
            let hir = Hir::capture(Capture { index: 0, name: None, sub: Box::new(piece.hir) });
            Ok(Parsed { hir, names: parser.names })
        }
        _ => error("missing closing )", pattern),
    }
}

/// The part of `before` up to where `after`, which is its end, begins.
fn up_to<'p>(before: &'p [u8], after: &[u8]) -> &'p [u8] {
    before.get(..before.len() - after.len()).unwrap_or(before)
}

/// At the end there is a U+FFFD of no width, as in Go.
fn next_char(text: &[u8]) -> Result<(char, &[u8])> {
    match decode(text) {
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
                        self.literal('{')?;
                        self.advance(1);
                    }
                },
                b'\\' => self.backslash()?,
                _ => {
                    let (c, after) = next_char(self.rest)?;
                    self.literal(c)?;
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
        self.top().pieces.push(Piece { hir, count: 1, height: 1, sort: Sort::Other });
    }

    /// Puts a piece over others where they were.
    fn push_over(&mut self, piece: Piece) -> Result<()> {
        if piece.height > HEIGHT_MAX {
            return error("expression nests too deeply", self.whole);
        }
        self.top().pieces.push(piece);
        Ok(())
    }

    fn look(&mut self, look: Look, width: usize) {
        self.push(Hir::look(look));
        self.advance(width);
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    fn literal(&mut self, c: char) -> Result<()> {
        let hir = if self.flags.folds_case {
            Hir::class(Class::Unicode(self.folded(class::of(&[(c, c)]))?))
        } else {
            Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
        };
        self.top().pieces.push(Piece { hir, count: 1, height: 1, sort: Sort::Literal });
        Ok(())
    }

    /// A class as the flags want it.
    fn folded(&mut self, class: ClassUnicode) -> Result<ClassUnicode> {
        let (class, characters) = if self.flags.folds_case { class::folded(class) } else { (class, 0) };
        self.characters += class.ranges().len() + characters;
        if self.characters > CHARACTERS_MAX { error(TOO_LARGE, self.whole) } else { Ok(class) }
    }
}
