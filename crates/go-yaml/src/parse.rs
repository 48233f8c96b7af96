//! Tokens to events: the grammar of YAML.
//!
//! A state machine with its own stack, as libyaml's. An event has the comments that belong to it.
//!
//! Reference: go-yaml v3.0.4 parserc.go.

mod block;
mod document;
mod flow;

use std::borrow::Cow;

use super::Dialect;
use super::comments::Comments;
use super::error::{Fault, Mark};
use super::input::Input;
use super::node::Style;
use super::scan::{Place, Position, Result, Scanner, TokenKind};

#[derive(Debug, PartialEq)]
pub(super) enum EventKind<'a> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(&'a str),
    Scalar { value: Cow<'a, str>, style: Style },
    SequenceStart { flow: bool },
    SequenceEnd,
    MappingStart { flow: bool },
    MappingEnd,
}

#[derive(Debug)]
pub(super) struct Event<'a> {
    pub kind: EventKind<'a>,
    pub mark: Mark,
    pub anchor: Option<&'a str>,
    /// As it was written, its handle replaced by the prefix; empty if there is none.
    pub tag: Cow<'a, str>,
    pub comments: Comments,
}

/// Comments that wait for their event.
#[derive(Debug, Default)]
struct Waiting {
    head: String,
    line: String,
    foot: String,
}

#[derive(Debug, Clone, Copy)]
enum State {
    DocumentStart { implicit: bool },
    DocumentContent,
    DocumentEnd,
    Node { block: bool, indentless_sequence: bool },
    BlockSequenceEntry { first: bool },
    IndentlessSequenceEntry,
    BlockMappingKey { first: bool },
    BlockMappingValue,
    FlowSequenceEntry { first: bool },
    FlowSequencePairKey,
    FlowSequencePairValue,
    FlowSequencePairEnd,
    FlowMappingKey { first: bool },
    FlowMappingValue { empty: bool },
    End,
}

pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    /// Where the collections start that are open.
    starts: Vec<Position>,
    tag_directives: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    comments: Waiting,
    /// The head of a collection that is the entry of a sequence.
    stem: Option<String>,
}

/// What is needed of a token to decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    StreamEnd,
    Directive,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    Tag,
    Scalar,
}

fn kind_of(kind: &TokenKind<'_>) -> Option<Next> {
    Some(match kind {
        TokenKind::StreamStart => return None,
        TokenKind::StreamEnd => Next::StreamEnd,
        TokenKind::VersionDirective { .. } | TokenKind::TagDirective { .. } => Next::Directive,
        TokenKind::DocumentStart => Next::DocumentStart,
        TokenKind::DocumentEnd => Next::DocumentEnd,
        TokenKind::BlockSequenceStart => Next::BlockSequenceStart,
        TokenKind::BlockMappingStart => Next::BlockMappingStart,
        TokenKind::BlockEnd => Next::BlockEnd,
        TokenKind::FlowSequenceStart => Next::FlowSequenceStart,
        TokenKind::FlowSequenceEnd => Next::FlowSequenceEnd,
        TokenKind::FlowMappingStart => Next::FlowMappingStart,
        TokenKind::FlowMappingEnd => Next::FlowMappingEnd,
        TokenKind::BlockEntry => Next::BlockEntry,
        TokenKind::FlowEntry => Next::FlowEntry,
        TokenKind::Key => Next::Key,
        TokenKind::Value => Next::Value,
        TokenKind::Alias(_) => Next::Alias,
        TokenKind::Anchor(_) => Next::Anchor,
        TokenKind::Tag { .. } => Next::Tag,
        TokenKind::Scalar { .. } => Next::Scalar,
    })
}

impl<'a> Parser<'a> {
    /// A parser of `input`, which keeps what is wrong behind the text for itself.
    pub(super) fn new(input: &'a mut Input<'_>, dialect: Dialect) -> Self {
        let fault = input.fault.take();
        Self {
            scanner: Scanner::new(&input.text, fault, dialect),
            state: State::DocumentStart { implicit: true },
            states: Vec::new(),
            starts: Vec::new(),
            tag_directives: Vec::new(),
            comments: Waiting::default(),
            stem: None,
        }
    }

    /// The next event. After the end of the stream, that again.
    pub(super) fn next(&mut self) -> Result<Event<'a>> {
        self.step().map_err(|fault| self.scanner.faulty(fault))
    }

    fn step(&mut self) -> Result<Event<'a>> {
        match self.state {
            State::DocumentStart { implicit } => self.document_start(implicit),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::Node { block, indentless_sequence } => self.node(block, indentless_sequence),
            State::BlockSequenceEntry { first } => self.block_sequence_entry(first),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingKey { first } => self.block_mapping_key(first),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceEntry { first } => self.flow_sequence_entry(first),
            State::FlowSequencePairKey => self.flow_sequence_pair_key(),
            State::FlowSequencePairValue => self.flow_sequence_pair_value(),
            State::FlowSequencePairEnd => self.flow_sequence_pair_end(),
            State::FlowMappingKey { first } => self.flow_mapping_key(first),
            State::FlowMappingValue { empty } => self.flow_mapping_value(empty),
            State::End => Ok(event(EventKind::StreamEnd, Position::default())),
        }
    }

    /// The kind and the place of the next token; gathers the comments up to it.
    fn peek(&mut self) -> Result<(Next, Position)> {
        let token = loop {
            let token = self.scanner.peek()?;
            match kind_of(&token.kind) {
                Some(kind) => break (kind, token.start),
                None => drop(self.scanner.next()?),
            }
        };
        self.gather_comments(token.1.index, token.0 != Next::BlockEnd);
        Ok(token)
    }

    /// Takes the next token, of which only its end matters.
    fn skip(&mut self) -> Result<Position> {
        self.scanner.next().map(|token| token.end)
    }

    fn gather_comments(&mut self, index: i64, heads: bool) {
        while let Some(comment) = self.scanner.take_comment(index, heads) {
            let all = match comment.place {
                Place::Head => &mut self.comments.head,
                Place::Line => &mut self.comments.line,
                Place::Foot => &mut self.comments.foot,
            };
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&comment.text);
        }
    }

    fn take_comments(&mut self) -> Comments {
        self.stem = None;
        let Waiting { head, line, foot } = std::mem::take(&mut self.comments);
        let mut comments = Comments::default();
        comments.set_head(head);
        comments.set_line(line);
        comments.set_foot(foot);
        comments
    }

    /// The head that was kept for a collection.
    fn take_stem(&mut self) -> Comments {
        let mut comments = Comments::default();
        comments.set_head(self.stem.take().unwrap_or_default());
        comments
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    fn empty_scalar(&mut self, at: Position) -> Event<'a> {
        event(EventKind::Scalar { value: Cow::Borrowed(""), style: Style::Plain }, at)
    }

    fn node(&mut self, block: bool, indentless_sequence: bool) -> Result<Event<'a>> {
        let (mut next, start) = self.peek()?;
        if next == Next::Alias {
            let token = self.scanner.next()?;
            let TokenKind::Alias(name) = token.kind else { return Err(no_content(start, start)) };
            self.pop_state();
            let comments = self.take_comments();
            return Ok(Event { comments, ..event(EventKind::Alias(name), start) });
        }
        let mut at = start;
        let mut anchor = None;
        let mut tag = None;
        loop {
            match next {
                Next::Anchor if anchor.is_none() => {
                    if let TokenKind::Anchor(name) = self.scanner.next()?.kind {
                        anchor = Some(name);
                    }
                }
                Next::Tag if tag.is_none() => {
                    if let TokenKind::Tag { handle, suffix } = self.scanner.next()?.kind {
                        tag = Some((handle, suffix, at));
                    }
                }
                _ => break,
            }
            (next, at) = self.peek()?;
        }
        let tag = match tag {
            None => Cow::Borrowed(""),
            Some((handle, suffix, tag_at)) => self.resolve_handle(handle, suffix, start, tag_at)?,
        };
        let empty_text = anchor.is_some() || !tag.is_empty();
        let event = |kind| Event { kind, mark: start.mark(), anchor, tag, comments: Comments::default() };
        match next {
            Next::BlockEntry if indentless_sequence => {
                self.state = State::IndentlessSequenceEntry;
                Ok(event(EventKind::SequenceStart { flow: false }))
            }
            Next::Scalar => {
                let mut event = event(EventKind::SequenceEnd);
                event.comments = self.take_comments();
                if let TokenKind::Scalar { value, style } = self.scanner.next()?.kind {
                    event.kind = EventKind::Scalar { value, style };
                }
                self.pop_state();
                Ok(event)
            }
            Next::FlowSequenceStart => {
                self.state = State::FlowSequenceEntry { first: true };
                let mut event = event(EventKind::SequenceStart { flow: true });
                event.comments = self.take_comments();
                Ok(event)
            }
            Next::FlowMappingStart => {
                self.state = State::FlowMappingKey { first: true };
                let mut event = event(EventKind::MappingStart { flow: true });
                event.comments = self.take_comments();
                Ok(event)
            }
            Next::BlockSequenceStart if block => {
                self.state = State::BlockSequenceEntry { first: true };
                let mut event = event(EventKind::SequenceStart { flow: false });
                event.comments = self.take_stem();
                Ok(event)
            }
            Next::BlockMappingStart if block => {
                self.state = State::BlockMappingKey { first: true };
                let mut event = event(EventKind::MappingStart { flow: false });
                event.comments = self.take_stem();
                Ok(event)
            }
            _ if empty_text => {
                self.pop_state();
                Ok(event(EventKind::Scalar { value: Cow::Borrowed(""), style: Style::Plain }))
            }
            _ => Err(no_content(start, at)),
        }
    }

    fn resolve_handle(
        &self,
        handle: &str,
        suffix: Cow<'a, str>,
        start: Position,
        tag_at: Position,
    ) -> Result<Cow<'a, str>> {
        if handle.is_empty() {
            return Ok(suffix);
        }
        match self.tag_directives.iter().find(|(known, _)| known == handle) {
            Some((_, prefix)) => Ok(Cow::Owned(format!("{prefix}{suffix}"))),
            None => Err(Fault::parser(Some(start.mark()), "found undefined tag handle", tag_at.mark())),
        }
    }
}

fn event(kind: EventKind<'_>, at: Position) -> Event<'_> {
    Event { kind, mark: at.mark(), anchor: None, tag: Cow::Borrowed(""), comments: Comments::default() }
}

fn no_content(start: Position, at: Position) -> Box<Fault> {
    Fault::parser(Some(start.mark()), "did not find expected node content", at.mark())
}
