//! Events to nodes.
//!
//! Reference: go-yaml v3.0.4 decode.go, `parser`: it also moves the feet of mappings to the keys they belong to.

use std::collections::HashSet;

use super::Limits;
use super::error::{Error, Fault};
use super::input;
use super::node::{Data, Node, Style, Tag};
use super::parse::{Event, EventKind, Parser};
use super::resolve::{self, Dialect};

/// Reads documents one after the other.
pub(super) struct Composer<'a> {
    parser: Parser<'a>,
    ahead: Option<Event<'a>>,
    dialect: Dialect,
    /// The anchors of the document so far.
    anchors: HashSet<Box<str>>,
    depth_left: u32,
    nodes_left: usize,
}

pub(super) enum Stop {
    Fault(Box<Fault>),
    Error(Error),
}

impl From<Box<Fault>> for Stop {
    fn from(fault: Box<Fault>) -> Self {
        Stop::Fault(fault)
    }
}

type Result<T> = std::result::Result<T, Stop>;

/// Reads up to `documents` documents of `text`.
pub(super) fn compose(
    text: &[u8],
    dialect: Dialect,
    limits: &Limits,
    documents: usize,
) -> std::result::Result<Vec<Node>, Error> {
    if text.len() > limits.bytes {
        return Err(Error::too_long(text.len(), limits.bytes));
    }
    let mut input = input::decode(text);
    let mut composer = Composer {
        parser: Parser::new(&mut input, dialect),
        ahead: None,
        dialect,
        anchors: HashSet::new(),
        depth_left: limits.depth,
        nodes_left: limits.nodes,
    };
    let mut found = Vec::new();
    while found.len() < documents {
        match composer.document() {
            Ok(Some(node)) => found.push(node),
            Ok(None) => break,
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Fault(fault)) => return Err(fault.into_error(dialect)),
        }
    }
    Ok(found)
}

impl<'a> Composer<'a> {
    fn next(&mut self) -> Result<Event<'a>> {
        match self.ahead.take() {
            Some(event) => Ok(event),
            None => Ok(self.parser.next()?),
        }
    }

    fn document(&mut self) -> Result<Option<Node>> {
        let start = self.next()?;
        if start.kind != EventKind::DocumentStart {
            return Ok(None);
        }
        // go-yaml v3 keeps them; an alias to another document is a mistake.
        self.anchors.clear();
        let first = self.next()?;
        let mut root = self.node(first)?;
        let end = self.next()?;
        root.comments.set_document_head(start.comments.head());
        root.comments.set_document_foot(end.comments.foot());
        Ok(Some(root))
    }

    fn node(&mut self, event: Event<'a>) -> Result<Node> {
        let mark = event.mark;
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(|| Stop::Error(Error::too_many_nodes(mark)))?;
        let tag = written_tag(&event.tag, self.dialect);
        let mut node = Node {
            tagged: tag.is_some(),
            tag,
            style: Style::Plain,
            anchor: event.anchor.map(Box::from),
            mark,
            comments: event.comments,
            data: Data::Alias(String::new()),
        };
        match event.kind {
            EventKind::Alias(name) => {
                if !self.anchors.contains(name) {
                    return Err(Stop::Error(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(mark))));
                }
                node.data = Data::Alias(name.to_owned());
                return Ok(node);
            }
            EventKind::Scalar { value, style } => {
                node.style = style;
                if !node.tagged {
                    node.tag = Some(self.scalar_tag(&value, style));
                }
                node.data = Data::Scalar(value.into_owned());
                self.keep_anchor(&node);
            }
            EventKind::SequenceStart { flow } => {
                node.tag.get_or_insert(Tag::Seq);
                self.open(&mut node, flow)?;
                self.sequence(&mut node)?;
                self.depth_left += 1;
            }
            EventKind::MappingStart { flow } => {
                node.tag.get_or_insert(Tag::Map);
                self.open(&mut node, flow)?;
                self.mapping(&mut node, flow)?;
                self.depth_left += 1;
            }
            EventKind::StreamEnd
            | EventKind::DocumentStart
            | EventKind::DocumentEnd
            | EventKind::SequenceEnd
            | EventKind::MappingEnd => {
                return Err(Stop::Error(Error::yaml("did not find expected node content", Some(mark))));
            }
        }
        Ok(node)
    }

    fn scalar_tag(&self, text: &str, style: Style) -> Tag {
        match style {
            Style::Plain if text == "<<" => Tag::Merge,
            Style::Plain => resolve::plain(text, self.dialect).tag(),
            _ => Tag::Str,
        }
    }

    fn keep_anchor(&mut self, node: &Node) {
        if let Some(name) = &node.anchor {
            self.anchors.insert(name.clone());
        }
    }

    fn open(&mut self, node: &mut Node, flow: bool) -> Result<()> {
        if flow {
            node.style = Style::Flow;
        }
        // Before its content: an alias may name the collection that it stands in.
        self.keep_anchor(node);
        let mark = node.mark;
        self.depth_left = self.depth_left.checked_sub(1).ok_or_else(|| Stop::Error(Error::too_deep(mark)))?;
        Ok(())
    }

    fn sequence(&mut self, node: &mut Node) -> Result<()> {
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if event.kind == EventKind::SequenceEnd {
                node.comments.set_line(event.comments.line());
                node.comments.set_foot(event.comments.foot());
                break;
            }
            items.push(self.node(event)?);
        }
        node.data = Data::Sequence(items);
        Ok(())
    }

    fn mapping(&mut self, node: &mut Node, flow: bool) -> Result<()> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        loop {
            let event = self.next()?;
            if event.kind == EventKind::MappingEnd {
                node.comments.set_line(event.comments.line());
                match entries.last_mut() {
                    Some((last, _)) if !flow && !event.comments.foot().is_empty() => {
                        last.comments.set_foot(event.comments.foot());
                    }
                    _ => node.comments.set_foot(event.comments.foot()),
                }
                break;
            }
            let mut key = self.node(event)?;
            if !flow
                && !key.comments.foot().is_empty()
                && let Some((before, _)) = entries.last_mut()
            {
                // Below the value before, and seen only when the next key was read.
                before.comments.set_foot(key.comments.foot());
                key.comments.set_foot("");
            }
            let event = self.next()?;
            let mut value = self.node(event)?;
            if key.comments.foot().is_empty() && !value.comments.foot().is_empty() {
                key.comments.set_foot(value.comments.foot());
                value.comments.set_foot("");
            }
            entries.push((key, value));
        }
        node.data = Data::Mapping(entries);
        Ok(())
    }
}

/// The tag that is written out, if any; v3 takes `!` for none.
fn written_tag(tag: &str, dialect: Dialect) -> Option<Tag> {
    match (tag, dialect) {
        ("", _) | ("!", Dialect::V3) => None,
        (tag, _) => Some(Tag::new(tag)),
    }
}
