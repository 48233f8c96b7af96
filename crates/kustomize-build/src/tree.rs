//! The nodes of all documents of one build.
//!
//! Kustomize works on go-yaml's nodes by pointer, and its output shows it: a label that one transformer adds to three
//! places of a resource is one node, so a later patch of one place changes all three. So nodes live in one [`Tree`]
//! and are named by [`NodeId`]; two mappings may contain the same one. Nothing is freed before the build ends.
//!
//! The operations carry kyaml's names (`Lookup`, `FieldSetter`, `FieldClearer`, …) and its rules for null: a node tagged
//! null passes every check of its kind, has no fields, and is never descended into.
//!
//! Limits: the number of nodes ([`Tree::check`]) and the depth of what is copied.
#![expect(clippy::indexing_slicing, reason = "ids are made with what they name")]

mod keys;
pub(crate) mod text;

use std::cell::{Cell, RefCell};

use dry_files::view::Stop;
use go_yaml::{self as yaml, Comments, Tag};

use super::error::{Error, Result};
use super::version::Switches;
use keys::Keys;

/// The name of one node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: what is left where a resource was deleted.
    None,
    Scalar,
    Sequence,
    /// Keys and values in turn.
    Mapping,
    /// Another node, the only one of its content. Only in documents inside of strings: elsewhere aliases are expanded.
    Alias,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::None => "",
            Kind::Scalar => "ScalarNode",
            Kind::Sequence => "SequenceNode",
            Kind::Mapping => "MappingNode",
            Kind::Alias => "AliasNode",
        }
    }
}

/// How a node is written: quotes or layout, and whether its tag is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub form: yaml::Style,
    pub tagged: bool,
}

impl Style {
    pub(crate) const PLAIN: Style = Style { form: yaml::Style::Plain, tagged: false };
    pub(crate) const DOUBLE: Style = Style { form: yaml::Style::DoubleQuoted, tagged: false };
    pub(crate) const SINGLE: Style = Style { form: yaml::Style::SingleQuoted, tagged: false };
    pub(crate) const LITERAL: Style = Style { form: yaml::Style::Literal, tagged: false };
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub kind: Kind,
    /// None on nodes that a transformer made: a scalar's meaning then follows from its text.
    pub tag: Option<Tag>,
    pub style: Style,
    /// The text of a scalar; the name of an alias.
    pub value: String,
    pub content: Vec<NodeId>,
    /// They can carry the schema of a field, and stay in documents inside of strings.
    pub comments: Comments,
    pub anchor: Option<Box<str>>,
    /// 1-based; 0 for nodes that were not read from a text.
    pub line: u32,
    /// 1-based, in characters; 0 as for the line.
    pub column: u32,
}

impl Node {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            tag: None,
            style: Style::PLAIN,
            value: String::new(),
            content: Vec::new(),
            comments: Comments::default(),
            anchor: None,
            line: 0,
            column: 0,
        }
    }

    /// A scalar without a tag (kyaml `NewScalarRNode`).
    pub(crate) fn scalar(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::new(Kind::Scalar) }
    }

    /// A string, in literal style when it has line breaks (kyaml `NewStringRNode`).
    pub(crate) fn string(value: impl Into<String>) -> Self {
        let value = value.into();
        let style = if value.contains('\n') { Style::LITERAL } else { Style::PLAIN };
        Self { tag: Some(Tag::Str), style, ..Self::scalar(value) }
    }

    pub(crate) fn tagged(self, tag: Tag) -> Self {
        Self { tag: Some(tag), ..self }
    }

    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    pub(crate) fn placed(self, line: u32, column: u32) -> Self {
        Self { line, column, ..self }
    }

    fn is_zero(&self) -> bool {
        self.kind == Kind::None && self.tag.is_none() && self.value.is_empty()
    }

    pub(crate) fn is_null(&self) -> bool {
        self.tag == Some(Tag::Null)
    }

    pub(crate) fn is_nil_or_empty(&self) -> bool {
        let empty = matches!(self.kind, Kind::Mapping | Kind::Sequence) && self.content.is_empty();
        self.is_null() || empty || self.is_zero()
    }

    /// A scalar that is a string, or whose tag is open.
    pub(crate) fn is_string(&self) -> bool {
        self.kind == Kind::Scalar && matches!(self.tag, Some(Tag::Str) | None)
    }
}

/// How [`Tree::set_field`] writes what is no plain replacement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SetOptions {
    /// Write a null instead of removing the field.
    pub keep_null: bool,
    /// The style of the key, where it has to be added.
    pub key_style: Style,
}

/// What one build may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many YAML nodes it may have, which bounds its memory.
    pub nodes: usize,
    /// How many bytes of text these may be given in all, for a few can become many times over.
    pub bytes: usize,
}

impl Default for Limits {
    /// The nodes take about 400 MB.
    fn default() -> Self {
        Self { nodes: 3_000_000, bytes: 192 << 20 }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// What the Kustomize does that is built as.
    pub switches: Switches,
    limits: Limits,
    nodes: Vec<Node>,
    /// How much text nodes were ever given.
    text_bytes: usize,
    /// How much was looked at: an entry of a mapping, an item of a list, a resource that may be meant.
    work: Cell<u64>,
    /// At how much of it the clock is looked at.
    next_look: Cell<u64>,
    stop: Stop,
    /// Where the keys of large mappings are.
    keys: RefCell<Keys>,
}

/// How much work passes between two looks at the clock: some milliseconds.
const WORK_PER_LOOK: u64 = 1 << 16;

/// How deep a document may be: far above what Kubernetes accepts, and safe for every recursion over nodes.
pub(crate) const DEPTH_MAX: usize = 256;

impl Tree {
    /// An empty one that may grow so far, and that fails once it has to stop.
    pub(crate) fn new(mut limits: Limits, stop: Stop, switches: Switches) -> Self {
        limits.nodes = limits.nodes.min(u32::MAX as usize / 2);
        Self { switches, limits, stop, ..Self::default() }
    }

    /// Notes work that makes nothing, before it is done: how many entries, items or resources are looked at.
    pub(crate) fn spend(&self, work: usize) {
        self.work.set(self.work.get().saturating_add(work as u64));
    }

    /// Notes work as [`Self::spend`] does; an error once the build has to stop.
    pub(crate) fn work(&self, work: usize) -> Result<()> {
        self.spend(work);
        self.go_on()
    }

    /// An error once the build has to stop. The clock is looked at after some work only.
    fn go_on(&self) -> Result<()> {
        if self.work.get() < self.next_look.get() {
            return Ok(());
        }
        if self.stop.is_set() {
            return Err(Error::out_of_time());
        }
        self.next_look.set(self.work.get().saturating_add(WORK_PER_LOOK));
        Ok(())
    }

    /// An error when so much more text would be more than a build may keep: asked before it is copied.
    pub(crate) fn fits(&self, bytes: usize) -> Result<()> {
        if self.text_bytes.saturating_add(bytes) > self.limits.bytes { Err(self.too_much_text()) } else { Ok(()) }
    }

    fn too_much_text(&self) -> Error {
        Error::unsupported(
            format!("one kustomization makes more than {} bytes of text", self.limits.bytes),
            "split the kustomization, or have an admin raise the setting limits.kustomizationBytes",
        )
    }

    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        // A build is checked against its limit long before ids could run out.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.text_bytes += node.value.len();
        self.nodes.push(node);
        id
    }

    /// An error once there are more nodes, or more text, than a build may keep.
    pub(crate) fn check(&self) -> Result<()> {
        let Limits { nodes, bytes } = self.limits;
        self.go_on()?;
        if self.text_bytes > bytes {
            return Err(self.too_much_text());
        }
        if self.nodes.len() > nodes {
            return Err(Error::unsupported(
                format!("one kustomization makes more than {nodes} YAML nodes"),
                "split the kustomization, or have an admin raise the setting limits.kustomizationNodes",
            ));
        }
        Ok(())
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.keys.get_mut().forget(id);
        &mut self.nodes[id.0 as usize]
    }

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.node(id).kind
    }

    pub(crate) fn text(&self, id: NodeId) -> &str {
        &self.node(id).value
    }

    /// Gives a node another text.
    pub(crate) fn set_text(&mut self, id: NodeId, text: String) {
        self.text_bytes += text.len();
        self.node_mut(id).value = text;
    }

    pub(crate) fn content(&self, id: NodeId) -> &[NodeId] {
        &self.node(id).content
    }

    /// Keys and values of a mapping (or of any other content, taken in pairs).
    pub(crate) fn pairs(&self, id: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.content(id).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// Makes `id` what `source` is: its children become shared (kyaml `SetYNode`).
    pub(crate) fn assign(&mut self, id: NodeId, source: NodeId) {
        if id != source {
            self.text_bytes += self.text(source).len();
            *self.node_mut(id) = self.node(source).clone();
        }
    }

    /// A copy that shares nothing (kyaml `CopyYNode`).
    pub(crate) fn copy(&mut self, id: NodeId) -> Result<NodeId> {
        self.check()?;
        self.copy_at(id, 0)
    }

    fn copy_at(&mut self, id: NodeId, depth: usize) -> Result<NodeId> {
        check_depth(depth)?;
        self.work(1)?;
        if self.nodes.len() > self.limits.nodes || self.text_bytes > self.limits.bytes {
            self.check()?;
        }
        let mut node = self.node(id).clone();
        if node.kind != Kind::Alias {
            for child in &mut node.content {
                *child = self.copy_at(*child, depth + 1)?;
            }
        }
        Ok(self.add(node))
    }

    /// An error unless the node has this kind or is null (kyaml `ErrorIfInvalid`).
    pub(crate) fn expect(&self, id: NodeId, kind: Kind) -> Result<()> {
        let node = self.node(id);
        if node.is_null() || node.kind == kind {
            return Ok(());
        }
        let contents = text::of(self, id).map_or_else(|_| String::new(), |text| format!(": node contents:\n{text}"));
        let text = format!("wrong node kind: expected {} but got {}{contents}", kind.name(), node.kind.name());
        Err(if kind == Kind::Scalar { Error::not_scalar(text) } else { Error::new(text) })
    }

    /// The first entry of a mapping whose key has this text. None when the node is no mapping (kyaml `Field`).
    pub(crate) fn entry(&self, id: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
        if self.kind(id) != Kind::Mapping {
            return None;
        }
        let at = self.position(id, name)?;
        self.pair(id, at)
    }

    /// A pair by its number.
    pub(crate) fn pair(&self, id: NodeId, at: usize) -> Option<(NodeId, NodeId)> {
        let content = self.content(id);
        Some((*content.get(2 * at)?, *content.get(2 * at + 1)?))
    }

    /// The number of the first pair whose key has this text, whatever the node is.
    pub(crate) fn position(&self, id: NodeId, name: &str) -> Option<usize> {
        let content = self.content(id);
        let count = content.len() / 2;
        if count >= keys::COUNT_MIN
            && let Some(known) = self.keys.borrow_mut().find(id, content, name, |key| self.text(key))
        {
            self.spend(1);
            return known;
        }
        let at = self.pairs(id).position(|(key, _)| self.text(key) == name);
        self.spend(1 + at.unwrap_or(count));
        at
    }

    /// The value of the entry [`Tree::entry`].
    pub(crate) fn value_of(&self, id: NodeId, name: &str) -> Option<NodeId> {
        self.entry(id, name).map(|(_, value)| value)
    }

    /// The value of a field. None for a null node and for a missing field; an error for any other kind (kyaml `Get`).
    ///
    /// The empty name means the node itself, which must be a scalar, and is found when it is empty: kyaml's `FieldMatcher`
    /// then compares it with the text that it looks for, of which there is none.
    pub(crate) fn get(&self, id: NodeId, name: &str) -> Result<Option<NodeId>> {
        self.go_on()?;
        if self.node(id).is_null() {
            return Ok(None);
        }
        if name.is_empty() {
            self.expect(id, Kind::Scalar)?;
            return Ok(self.text(id).is_empty().then_some(id));
        }
        self.expect(id, Kind::Mapping)?;
        Ok(self.value_of(id, name))
    }

    /// The items of a sequence, none for null (kyaml `Elements`).
    pub(crate) fn items(&self, id: NodeId) -> Result<Vec<NodeId>> {
        self.expect(id, Kind::Sequence)?;
        self.work(self.content(id).len())?;
        Ok(self.content(id).to_vec())
    }

    /// Sets a field and gives its node; none when it was cleared (kyaml `FieldSetter` with a name).
    ///
    /// An existing node keeps its identity and style and takes the rest. A missing field gets `value` itself: the
    /// caller that sets one value in several places shares it between them, as Kustomize does. The empty name means the
    /// node itself, so it is an error for a mapping: kyaml cannot set a field with an empty key.
    pub(crate) fn set_field(
        &mut self,
        id: NodeId,
        name: &str,
        value: Option<NodeId>,
        options: SetOptions,
    ) -> Result<Option<NodeId>> {
        if let Some(value) = value.filter(|_| name.is_empty()) {
            return self.set_scalar(id, value).map(|()| Some(id));
        }
        let Some(value) = value.filter(|value| !self.node(*value).is_null() || options.keep_null) else {
            return self.clear(id, name).map(|_| None);
        };
        self.check()?;
        self.quote_for_yaml_1_1(value);
        if let Some(field) = self.get(id, name)? {
            self.node_mut(value).style = self.node(field).style;
            self.assign(field, value);
            return Ok(Some(field));
        }
        let key = self.add(Node::scalar(name).styled(options.key_style));
        let content = &mut self.nodes[id.0 as usize].content;
        self.keys.get_mut().added(id, content.len() / 2, name);
        content.extend([key, value]);
        Ok(Some(value))
    }

    /// Replaces a scalar in place and keeps its style (kyaml `FieldSetter` without a name).
    pub(crate) fn set_scalar(&mut self, id: NodeId, value: NodeId) -> Result<()> {
        self.check()?;
        self.quote_for_yaml_1_1(value);
        self.expect(id, Kind::Scalar)?;
        if !self.node(value).is_null() {
            self.node_mut(value).style = self.node(id).style;
            self.assign(id, value);
        }
        Ok(())
    }

    /// Quotes a plain string that YAML 1.1 would read as something else.
    fn quote_for_yaml_1_1(&mut self, value: NodeId) {
        let node = self.node_mut(value);
        if node.is_string() && node.style == Style::PLAIN && text::is_yaml_1_1_non_string(&node.value) {
            node.style = Style::DOUBLE;
        }
    }

    /// Removes the first entry of that name and gives its value (kyaml `FieldClearer`).
    pub(crate) fn clear(&mut self, id: NodeId, name: &str) -> Result<Option<NodeId>> {
        self.expect(id, Kind::Mapping)?;
        let Some(index) = self.position(id, name) else { return Ok(None) };
        let removed = self.node_mut(id).content.drain(2 * index..2 * index + 2).next_back();
        Ok(removed)
    }

    /// Removes the first entry of that name whose value has no content (kyaml `FieldClearer` with `IfEmpty`).
    pub(crate) fn clear_if_empty(&mut self, id: NodeId, name: &str) -> Result<()> {
        self.expect(id, Kind::Mapping)?;
        let empty = self.pairs(id).position(|(key, value)| self.text(key) == name && self.content(value).is_empty());
        if let Some(index) = empty {
            self.node_mut(id).content.drain(2 * index..2 * index + 2);
        }
        Ok(())
    }

    /// Adds an item at the end of a sequence (kyaml `Append`).
    pub(crate) fn append(&mut self, id: NodeId, item: NodeId) -> Result<()> {
        self.expect(id, Kind::Sequence)?;
        self.node_mut(id).content.push(item);
        Ok(())
    }
}

/// An error for what is nested deeper than [`DEPTH_MAX`].
pub(crate) fn check_depth(depth: usize) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(Error::unsupported(
            format!("YAML is nested more than {DEPTH_MAX} levels deep"),
            "Kubernetes objects are never this deep: check the file for a mistake",
        ));
    }
    Ok(())
}
