//! Events to nodes.
//!
//! Reference: go-yaml v3.0.4 decode.go, `parser`: it also moves the feet of mappings to the keys they belong to.

use std::collections::HashSet;

use super::comments::Comments;
use super::error::{Error, Fault};
use super::input;
use super::node::{Data, Node, Style};
use super::parse::{Event, EventKind, Parser};
use super::resolve::{self, Dialect};
use super::tag::Tag;
use super::{Limits, Mark};

/// Reads documents one after the other.
struct Composer<'a> {
    parser: Parser<'a>,
    dialect: Dialect,
    limits: &'a Limits,
    /// The anchors of the document so far.
    anchors: HashSet<&'a str>,
    nodes: usize,
}

enum Stop {
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
    let mut composer =
        Composer { parser: Parser::new(&mut input, dialect), dialect, limits, anchors: HashSet::new(), nodes: 0 };
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
        Ok(self.parser.next()?)
    }

    fn document(&mut self) -> Result<Option<Node>> {
        let start = self.next()?;
        if start.kind != EventKind::DocumentStart {
            return Ok(None);
        }
        // go-yaml v3 keeps them; an alias to another document is a mistake.
        self.anchors.clear();
        let mut root = self.root()?;
        let end = self.next()?;
        root.comments.set_document_head(start.comments.head());
        root.comments.set_document_foot(end.comments.foot());
        Ok(Some(root))
    }

    fn root(&mut self) -> Result<Node> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let event = self.next()?;
            let mark = event.mark;
            let complete = match event.kind {
                EventKind::Alias(_) | EventKind::Scalar { .. } => self.node(event)?,
                EventKind::SequenceStart { .. } => {
                    open.push(Open { node: self.node(event)?, content: Content::Sequence(Vec::new()) });
                    self.check_depth(&open, mark)?;
                    continue;
                }
                EventKind::MappingStart { .. } => {
                    let content = Content::Mapping { entries: Vec::new(), key: None };
                    open.push(Open { node: self.node(event)?, content });
                    self.check_depth(&open, mark)?;
                    continue;
                }
                EventKind::SequenceEnd | EventKind::MappingEnd => match open.pop() {
                    Some(collection) => collection.close(&event.comments),
                    None => return Err(unexpected(mark)),
                },
                EventKind::StreamEnd | EventKind::DocumentStart | EventKind::DocumentEnd => {
                    return Err(unexpected(mark));
                }
            };
            match open.last_mut() {
                None => return Ok(complete),
                Some(collection) => collection.add(complete),
            }
        }
    }

    fn check_depth(&self, open: &[Open], mark: Mark) -> Result<()> {
        if open.len() > self.limits.depth as usize {
            return Err(Stop::Error(Error::too_deep(mark)));
        }
        Ok(())
    }

    /// The node that `event` starts, a collection still empty.
    fn node(&mut self, event: Event<'a>) -> Result<Node> {
        let mark = event.mark;
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            return Err(Stop::Error(Error::too_many_nodes(mark)));
        }
        let written = written_tag(&event.tag, self.dialect);
        let tagged = written.is_some();
        let (implied, style, data) = match event.kind {
            EventKind::Alias(name) => {
                if !self.anchors.contains(name) {
                    return Err(Stop::Error(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(mark))));
                }
                (None, Style::Plain, Data::Alias(name.to_owned()))
            }
            EventKind::Scalar { value, style } => {
                let tag = if tagged { None } else { Some(self.scalar_tag(&value, style)) };
                (tag, style, Data::Scalar(value.into_owned()))
            }
            EventKind::SequenceStart { flow } => (Some(Tag::Seq), collection_style(flow), Data::Sequence(Vec::new())),
            EventKind::MappingStart { flow } => (Some(Tag::Map), collection_style(flow), Data::Mapping(Vec::new())),
            EventKind::StreamEnd
            | EventKind::DocumentStart
            | EventKind::DocumentEnd
            | EventKind::SequenceEnd
            | EventKind::MappingEnd => return Err(unexpected(mark)),
        };
        // Before the content of a collection: an alias may name the collection that it is in.
        if let Some(name) = event.anchor {
            self.anchors.insert(name);
        }
        let anchor = event.anchor.map(Box::from);
        Ok(Node { tag: written.or(implied), tagged, style, anchor, mark, comments: event.comments, data })
    }

    fn scalar_tag(&self, text: &str, style: Style) -> Tag {
        match style {
            Style::Plain if text == "<<" => Tag::Merge,
            Style::Plain => resolve::plain(text, self.dialect).tag(),
            _ => Tag::Str,
        }
    }
}

/// A collection that is being read.
struct Open {
    node: Node,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<(Node, Node)>, key: Option<Node> },
}

impl Open {
    fn add(&mut self, mut node: Node) {
        let block = self.node.style != Style::Flow;
        match &mut self.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping { entries, key: key @ None } => {
                if block
                    && !node.comments.foot().is_empty()
                    && let Some((before, _)) = entries.last_mut()
                {
                    // Below the value before, and seen only when this key was read.
                    before.comments.set_foot(node.comments.foot());
                    node.comments.set_foot("");
                }
                *key = Some(node);
            }
            Content::Mapping { entries, key } => {
                if let Some(mut key) = key.take() {
                    if key.comments.foot().is_empty() && !node.comments.foot().is_empty() {
                        key.comments.set_foot(node.comments.foot());
                        node.comments.set_foot("");
                    }
                    entries.push((key, node));
                }
            }
        }
    }

    /// `comments` are those of the end.
    fn close(mut self, comments: &Comments) -> Node {
        let block = self.node.style != Style::Flow;
        self.node.comments.set_line(comments.line());
        self.node.data = match self.content {
            Content::Sequence(items) => {
                self.node.comments.set_foot(comments.foot());
                Data::Sequence(items)
            }
            Content::Mapping { mut entries, .. } => {
                match entries.last_mut() {
                    Some((last, _)) if block && !comments.foot().is_empty() => last.comments.set_foot(comments.foot()),
                    _ => self.node.comments.set_foot(comments.foot()),
                }
                Data::Mapping(entries)
            }
        };
        self.node
    }
}

fn collection_style(flow: bool) -> Style {
    if flow { Style::Flow } else { Style::Plain }
}

/// The parser gives an end for each start, and a node for each document.
fn unexpected(mark: Mark) -> Stop {
    Stop::Error(Error::yaml("did not find expected node content", Some(mark)))
}

/// The tag that is written out, if any; v3 takes `!` for none.
fn written_tag(tag: &str, dialect: Dialect) -> Option<Tag> {
    match (tag, dialect) {
        ("", _) | ("!", Dialect::V3) => None,
        (tag, _) => Some(Tag::new(tag)),
    }
}
