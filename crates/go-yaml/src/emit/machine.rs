//! Events to text: layout, and where comments go.
//!
//! A state machine with its own stack. Events need no queue here, for a collection says when it starts whether it is
//! empty, which is all that libyaml looks ahead for.

mod flow;
mod scalar;
mod write;

use super::super::Dialect;
use super::super::node::Style;
use super::Sequences;
use scalar::Analysis;

pub(super) struct Event<'e, 'a> {
    pub kind: Kind<'e>,
    /// The anchor; of an alias, the name of the anchor it refers to.
    pub anchor: &'e str,
    /// In its long form (`tag:yaml.org,2002:str`); empty if it is not written.
    pub tag: &'e str,
    pub head: &'a str,
    pub line: &'a str,
    pub foot: &'a str,
    /// The foot of the entry before this one.
    pub tail: &'a str,
}

#[derive(Clone, Copy)]
pub(super) enum Kind<'e> {
    DocumentStart,
    DocumentEnd,
    Alias,
    Scalar { value: &'e str, style: Style },
    SequenceStart { flow: bool, empty: bool },
    SequenceEnd,
    MappingStart { flow: bool, empty: bool },
    MappingEnd,
}

impl<'e, 'a> Event<'e, 'a> {
    pub(super) fn new(kind: Kind<'e>) -> Self {
        Self { kind, anchor: "", tag: "", head: "", line: "", foot: "", tail: "" }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    DocumentStart { first: bool },
    DocumentContent,
    DocumentEnd,
    FlowSequenceItem { first: bool, trail: bool },
    FlowMappingKey { first: bool, trail: bool },
    FlowMappingValue { simple: bool },
    BlockSequenceItem { first: bool },
    BlockMappingKey { first: bool },
    BlockMappingValue { simple: bool },
}

/// What a node is to the node around it.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    mapping: bool,
    simple_key: bool,
}

/// A tag as it is written: a handle and the rest, or the whole in `!<…>`.
#[derive(Debug, Clone, Copy, Default)]
struct TagParts<'e> {
    handle: &'static str,
    suffix: &'e str,
}

impl TagParts<'_> {
    fn len(self) -> usize {
        self.handle.len() + self.suffix.len()
    }
}

/// Steps of indentation.
const INDENT: i32 = 2;

/// A scalar that has to be on one line with its key may be this long, in bytes.
const SIMPLE_KEY_MAX: usize = 128;

pub(super) struct Emitter<'a> {
    text: String,
    dialect: Dialect,
    sequences: Sequences,
    state: State,
    states: Vec<State>,
    indent: i32,
    indents: Vec<i32>,
    flow_level: usize,
    context: Context,
    /// Of the scalar at hand.
    analysis: Analysis,
    column: usize,
    /// The last character was a blank, or the line has just begun.
    whitespace: bool,
    /// There is nothing but indentation in the line so far.
    indention: bool,
    /// A foot was written at this indentation, so an empty line has to follow before what comes there; else -1.
    foot_indent: i32,
    head: &'a str,
    line: &'a str,
    foot: &'a str,
    tail: &'a str,
    key_line: &'a str,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(dialect: Dialect, sequences: Sequences) -> Self {
        Self {
            text: String::new(),
            dialect,
            sequences,
            state: State::DocumentStart { first: true },
            states: Vec::new(),
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            context: Context::default(),
            analysis: Analysis::default(),
            column: 0,
            whitespace: true,
            indention: true,
            foot_indent: -1,
            head: "",
            line: "",
            foot: "",
            tail: "",
            key_line: "",
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn emit(&mut self, event: &Event<'_, 'a>) {
        if let Kind::Scalar { value, .. } = event.kind {
            self.analysis = Analysis::of(value, self.dialect);
        }
        for (kept, new) in [
            (&mut self.head, event.head),
            (&mut self.line, event.line),
            (&mut self.foot, event.foot),
            (&mut self.tail, event.tail),
        ] {
            if !new.is_empty() {
                *kept = new;
            }
        }
        match self.state {
            State::DocumentStart { first } => self.document_start(first),
            State::DocumentContent => self.document_content(event),
            State::DocumentEnd => self.document_end(),
            State::FlowSequenceItem { first, trail } => self.flow_sequence_item(event, first, trail),
            State::FlowMappingKey { first, trail } => self.flow_mapping_key(event, first, trail),
            State::FlowMappingValue { simple } => self.flow_mapping_value(event, simple),
            State::BlockSequenceItem { first } => self.block_sequence_item(event, first),
            State::BlockMappingKey { first } => self.block_mapping_key(event, first),
            State::BlockMappingValue { simple } => self.block_mapping_value(event, simple),
        }
    }

    // Documents

    fn document_start(&mut self, first: bool) {
        if !first {
            self.write_indent();
            self.write_indicator("---", true, false, false);
            self.write_indent();
        }
        if !self.head.is_empty() {
            self.write_head_comment();
            self.put_break();
        }
        self.state = State::DocumentContent;
    }

    fn document_content(&mut self, event: &Event<'_, 'a>) {
        self.states.push(State::DocumentEnd);
        self.write_head_comment();
        self.node(event, Context::default());
        self.write_line_comment();
        self.write_foot_comment();
    }

    fn document_end(&mut self) {
        self.foot_indent = 0;
        self.write_foot_comment();
        self.foot_indent = -1;
        self.write_indent();
        self.state = State::DocumentStart { first: false };
    }

    // Block collections

    fn block_sequence_item(&mut self, event: &Event<'_, 'a>, first: bool) {
        if first {
            match self.dialect {
                Dialect::V2 => {
                    let indentless = self.context.mapping && !self.indention;
                    self.increase_indent(false, indentless, false);
                }
                Dialect::V3 => {
                    let compact = self.sequences == Sequences::Compact
                        && self.context.mapping
                        && (self.column == 0 || !self.indention);
                    self.increase_indent(false, false, compact);
                }
            }
        }
        if matches!(event.kind, Kind::SequenceEnd) {
            self.decrease_indent();
            self.pop_state();
            return;
        }
        self.write_head_comment();
        self.write_indent();
        self.write_indicator("-", true, false, true);
        self.states.push(State::BlockSequenceItem { first: false });
        self.node(event, Context::default());
        self.write_line_comment();
        self.write_foot_comment();
    }

    fn block_mapping_key(&mut self, event: &Event<'_, 'a>, first: bool) {
        if first {
            self.increase_indent(false, false, false);
        }
        self.write_head_comment();
        if matches!(event.kind, Kind::MappingEnd) {
            self.decrease_indent();
            self.pop_state();
            return;
        }
        self.write_indent();
        if !self.line.is_empty() {
            // It goes behind the value, if that is on the same line.
            self.key_line = std::mem::take(&mut self.line);
        }
        let simple = self.is_simple_key(event);
        if !simple {
            self.write_indicator("?", true, false, true);
        }
        self.states.push(State::BlockMappingValue { simple });
        self.node(event, Context { mapping: true, simple_key: simple });
    }

    fn block_mapping_value(&mut self, event: &Event<'_, 'a>, simple: bool) {
        if simple {
            self.write_indicator(":", false, false, false);
        } else {
            self.write_indent();
            self.write_indicator(":", true, false, true);
        }
        if !self.key_line.is_empty() {
            match event.kind {
                Kind::Scalar { .. } if self.line.is_empty() => self.line = std::mem::take(&mut self.key_line),
                Kind::MappingStart { flow: false, .. } | Kind::SequenceStart { flow: false, .. } => {
                    std::mem::swap(&mut self.line, &mut self.key_line);
                    self.write_line_comment();
                    std::mem::swap(&mut self.line, &mut self.key_line);
                }
                _ => {}
            }
        }
        self.states.push(State::BlockMappingKey { first: false });
        self.node(event, Context { mapping: true, simple_key: false });
        self.write_line_comment();
        self.write_foot_comment();
    }

    // Nodes

    fn node(&mut self, event: &Event<'_, 'a>, context: Context) {
        self.context = context;
        let tag = tag_parts(event.tag);
        if !event.anchor.is_empty() {
            let sigil = if matches!(event.kind, Kind::Alias) { "*" } else { "&" };
            self.write_indicator(sigil, true, false, false);
            self.write_all(event.anchor);
            self.whitespace = false;
            self.indention = false;
        }
        match event.kind {
            Kind::Scalar { value, style } => {
                let style = self.select_style(value, style);
                self.write_tag(tag);
                self.increase_indent(true, false, false);
                self.write_scalar(value, style);
                self.decrease_indent();
                self.pop_state();
            }
            Kind::SequenceStart { flow, empty } => {
                self.write_tag(tag);
                self.state = if self.flow_level > 0 || flow || empty {
                    State::FlowSequenceItem { first: true, trail: false }
                } else {
                    State::BlockSequenceItem { first: true }
                };
            }
            Kind::MappingStart { flow, empty } => {
                self.write_tag(tag);
                self.state = if self.flow_level > 0 || flow || empty {
                    State::FlowMappingKey { first: true, trail: false }
                } else {
                    State::BlockMappingKey { first: true }
                };
            }
            // An end or a document in the place of a node can't come from the callers, who walk a tree.
            Kind::Alias | Kind::SequenceEnd | Kind::MappingEnd | Kind::DocumentStart | Kind::DocumentEnd => {
                self.pop_state();
            }
        }
    }

    /// How a scalar is written that should be written in `style`.
    fn select_style(&self, value: &str, mut style: Style) -> Style {
        let analysis = self.analysis;
        let flow = self.flow_level > 0;
        if self.context.simple_key && analysis.multiline {
            style = Style::DoubleQuoted;
        }
        if style == Style::Plain {
            let allowed = if flow { analysis.flow_plain } else { analysis.block_plain };
            let empty = value.is_empty() && (flow || self.context.simple_key);
            if !allowed || empty {
                style = Style::SingleQuoted;
            }
        }
        if style == Style::SingleQuoted && !analysis.single_quoted {
            style = Style::DoubleQuoted;
        }
        let block = matches!(style, Style::Literal | Style::Folded);
        if block && (!analysis.block || flow || self.context.simple_key) {
            style = Style::DoubleQuoted;
        }
        style
    }

    fn write_scalar(&mut self, value: &str, style: Style) {
        let breaks = !self.context.simple_key;
        match style {
            Style::Plain | Style::Flow => self.write_plain(value, breaks),
            Style::SingleQuoted => self.write_single_quoted(value, breaks),
            Style::DoubleQuoted => self.write_double_quoted(value, breaks),
            Style::Literal => self.write_literal(value),
            Style::Folded => self.write_folded(value),
        }
    }

    /// Whether the key fits on a line with its `:`.
    fn is_simple_key(&self, event: &Event<'_, 'a>) -> bool {
        let tag = tag_parts(event.tag).len();
        let length = match event.kind {
            Kind::Alias => event.anchor.len(),
            Kind::Scalar { .. } if self.analysis.multiline => return false,
            Kind::Scalar { value, .. } => event.anchor.len() + tag + value.len(),
            Kind::SequenceStart { empty, .. } | Kind::MappingStart { empty, .. } if empty => event.anchor.len() + tag,
            _ => return false,
        };
        length <= SIMPLE_KEY_MAX
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::DocumentEnd);
    }
}

fn tag_parts(tag: &str) -> TagParts<'_> {
    const LONG: &str = "tag:yaml.org,2002:";
    if let Some(suffix) = tag.strip_prefix('!') {
        return TagParts { handle: "!", suffix };
    }
    match tag.strip_prefix(LONG) {
        Some(suffix) => TagParts { handle: "!!", suffix },
        None => TagParts { handle: "", suffix: tag },
    }
}
