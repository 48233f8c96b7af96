//! Nodes to values: tags, merge keys, aliases, keys to strings.
//!
//! Reference: go-yaml v2.4.3 and v3.0.4 decode.go; sigs.k8s.io/yaml v1.6.0 yaml.go, `convertToJSONableObject`;
//! kyaml 0.21.1 yaml/rnode.go, `MarshalJSON`.

use std::collections::{BTreeMap, HashMap};

use go_std::strconv::{format_shortest, format_shortest_32, quote};

use super::error::Error;
use super::json::lossy;
use super::node::{Data, Node, Style};
use super::quote::go_syntax;
use super::resolve::{self, Dialect, Plain};
use super::tag::Tag;
use super::value::{Mapping, Value};
use super::{Limits, Mark, timestamp};
use unsupported::{GoKey, Keys, Numbers, Unsupported};

mod unsupported;

type Result<T> = std::result::Result<T, Error>;

/// What one document means as JSON.
pub(super) fn to_value(root: &Node, dialect: Dialect, limits: &Limits) -> Result<Value> {
    let mut converter = Converter {
        dialect,
        limits,
        targets: targets(root),
        open: Vec::new(),
        depth: 0,
        decoded: 0,
        aliased: 0,
        aliased_bytes: 0,
        is_key: false,
        unsupported: Unsupported::default(),
        mistakes: Vec::new(),
    };
    let value = converter.node(root)?;
    let Some((_, mark)) = converter.mistakes.first() else {
        return match converter.described()? {
            Some(error) => Err(error),
            None => Ok(value),
        };
    };
    let mark = *mark;
    let lines: Vec<String> = converter.mistakes.into_iter().map(|(line, _)| format!("\n  {line}")).collect();
    Err(Error::yaml(format!("unmarshal errors:{}", lines.concat()), Some(mark)))
}

struct Converter<'a> {
    dialect: Dialect,
    limits: &'a Limits,
    /// What each alias refers to.
    targets: HashMap<*const Node, &'a Node>,
    /// The aliases that are being replaced.
    open: Vec<*const Node>,
    depth: u32,
    /// Nodes so far, and how many of them by way of aliases; those of aliases count each time.
    decoded: usize,
    aliased: usize,
    /// The size of the scalars among those of aliases.
    aliased_bytes: usize,
    /// Whether the node at hand is a key, or inside of one.
    is_key: bool,
    /// What JSON can't have, reported if all else is right.
    unsupported: Unsupported<'a>,
    /// What go-yaml collects and reports at the end.
    mistakes: Vec<(String, Mark)>,
}

/// Each pair of equal keys is a mistake of its own: more than these are not reported.
const MISTAKES_MAX: usize = 100;

/// What each alias below `root` refers to: the last node before it with that anchor. Nodes are known by their place
/// in memory.
fn targets(root: &Node) -> HashMap<*const Node, &Node> {
    fn visit<'a>(
        node: &'a Node,
        anchors: &mut HashMap<&'a str, &'a Node>,
        targets: &mut HashMap<*const Node, &'a Node>,
    ) {
        if let Some(name) = &node.anchor {
            anchors.insert(name, node);
        }
        match &node.data {
            Data::Scalar(_) => {}
            Data::Alias(name) => {
                if let Some(target) = anchors.get(name.as_str()) {
                    targets.insert(node, target);
                }
            }
            Data::Sequence(items) => items.iter().for_each(|item| visit(item, anchors, targets)),
            Data::Mapping(entries) => {
                for (key, value) in entries {
                    visit(key, anchors, targets);
                    visit(value, anchors, targets);
                }
            }
        }
    }
    let mut targets = HashMap::new();
    visit(root, &mut HashMap::new(), &mut targets);
    targets
}

impl<'a> Converter<'a> {
    fn node(&mut self, node: &'a Node) -> Result<Value> {
        self.count(node.mark)?;
        match &node.data {
            Data::Alias(name) => self.alias(name, node),
            Data::Scalar(text) => {
                if !self.open.is_empty() {
                    self.aliased_bytes = self.aliased_bytes.saturating_add(text.len());
                }
                if self.aliased_bytes > self.limits.bytes {
                    return Err(Error::aliases_too_long(node.mark, self.limits.bytes));
                }
                self.scalar(node, text)
            }
            Data::Sequence(items) => {
                self.enter(node.mark)?;
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.node(item)?);
                }
                self.depth -= 1;
                Ok(Value::Sequence(values))
            }
            Data::Mapping(entries) => {
                self.enter(node.mark)?;
                let mapping = match self.dialect {
                    Dialect::V2 => self.mapping_v2(entries),
                    Dialect::V3 => self.mapping_v3(entries),
                }?;
                self.depth -= 1;
                Ok(Value::Mapping(mapping))
            }
        }
    }

    /// A key, which unlike a value may be a float that JSON lacks: it becomes text.
    fn key(&mut self, key: &'a Node) -> Result<Value> {
        self.is_key = true;
        let value = self.node(key);
        self.is_key = false;
        value
    }

    fn enter(&mut self, mark: Mark) -> Result<()> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Error::too_deep(mark));
        }
        Ok(())
    }

    fn count(&mut self, mark: Mark) -> Result<()> {
        self.decoded += 1;
        self.aliased += usize::from(!self.open.is_empty());
        if self.aliased > 100 && self.decoded > 1000 && self.aliased as f64 / self.decoded as f64 > self.alias_share() {
            return Err(Error::yaml("document contains excessive aliasing", Some(mark)));
        }
        if self.decoded > self.limits.nodes {
            return Err(Error::too_many_nodes(mark));
        }
        Ok(())
    }

    /// How much of a document may come from aliases: less, the larger it is.
    fn alias_share(&self) -> f64 {
        const LOW: f64 = 400_000.0;
        const HIGH: f64 = 4_000_000.0;
        let decoded = (self.decoded as f64).clamp(LOW, HIGH);
        0.99 - 0.89 * ((decoded - LOW) / (HIGH - LOW))
    }

    fn alias(&mut self, name: &str, node: &'a Node) -> Result<Value> {
        let place = std::ptr::from_ref(node);
        let Some(target) = self.targets.get(&place).copied() else {
            return Err(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(node.mark)));
        };
        if self.open.contains(&place) {
            return Err(Error::yaml(format!("anchor '{name}' value contains itself"), Some(node.mark)));
        }
        self.open.push(place);
        let value = self.node(target)?;
        self.open.pop();
        Ok(value)
    }

    /// The node itself, or what it refers to.
    fn target(&self, node: &'a Node) -> &'a Node {
        self.targets.get(&std::ptr::from_ref(node)).copied().unwrap_or(node)
    }

    fn scalar(&mut self, node: &Node, text: &str) -> Result<Value> {
        let plain = match &node.tag {
            Some(tag) if node.tagged => match self.tagged(tag, text, node)? {
                Ok(plain) => plain,
                Err(value) => return Ok(value),
            },
            _ if node.is_text() => Plain::Str,
            _ => resolve::plain(text, self.dialect),
        };
        Ok(match plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(value),
            Plain::Int(value) => Value::Int(value),
            Plain::Uint(value) => Value::Uint(value),
            Plain::Float(value) if value.is_finite() || self.is_key => Value::Float(value),
            Plain::Float(value) => {
                let message = format!("json: unsupported value: {}", format_shortest(value));
                self.unsupported.number(message, node.mark);
                // Never comes out, but may be shown by another error.
                Value::Float(value)
            }
            Plain::Timestamp if self.dialect == Dialect::V3 => {
                match timestamp::parse(text).and_then(|time| time.to_json()) {
                    Some(json) => Value::String(json),
                    None => {
                        let message = "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: timezone \
                                   hour outside of range [0,23]";
                        self.unsupported.number(message, node.mark);
                        Value::Null
                    }
                }
            }
            Plain::Timestamp | Plain::Str => Value::String(text.to_owned()),
        })
    }

    /// What `text` is under a tag that is written out: a kind to read it as, or the value itself.
    fn tagged(&self, tag: &Tag, text: &str, node: &Node) -> Result<std::result::Result<Plain, Value>> {
        match tag {
            Tag::Str => return Ok(Ok(Plain::Str)),
            Tag::Binary => return self.binary(text, node).map(Err),
            Tag::Merge | Tag::Seq | Tag::Map | Tag::Other(_) => return Ok(Ok(Plain::Str)),
            Tag::Null | Tag::Bool | Tag::Int | Tag::Float | Tag::Timestamp => {}
        }
        let plain = resolve::resolve(text, self.dialect, *tag == Tag::Timestamp);
        match (plain, plain.tag()) {
            (plain, found) if found == *tag => Ok(Ok(plain)),
            (Plain::Int(value), _) if *tag == Tag::Float => Ok(Ok(Plain::Float(value as f64))),
            (_, found) => Err(Error::yaml(format!("cannot decode {found} `{text}` as a {tag}"), Some(node.mark))),
        }
    }

    fn binary(&self, text: &str, node: &Node) -> Result<Value> {
        // Go's decoder skips line breaks.
        let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        match data_encoding::BASE64.decode(text.as_bytes()) {
            Ok(bytes) => Ok(Value::String(lossy(&bytes).into_owned())),
            Err(_) => Err(Error::yaml("!!binary value contains invalid base64 data", Some(node.mark))),
        }
    }

    /// Later entries replace earlier ones, merged ones included; what JSON can't have counts only in those that are left.
    fn mapping_v2(&mut self, entries: &'a [(Node, Node)]) -> Result<Mapping> {
        let mut mapping = Mapping::new();
        let before = std::mem::take(&mut self.unsupported);
        let mut keys: BTreeMap<GoKey<'a>, Keys<'a>> = BTreeMap::new();
        let mut numbers: BTreeMap<String, Numbers> = BTreeMap::new();
        let mut zero: Option<String> = None;
        for (place, (key, value)) in entries.iter().enumerate() {
            if is_merge(key) {
                for (merged, inner) in self.merged(value)?.into_iter().rev() {
                    keys.retain(|key, _| !matches!(key, GoKey::Text(key) if merged.contains_key(key.as_ref())));
                    numbers.retain(|name, _| !merged.contains_key(name));
                    mapping.extend(merged);
                    inner.extend(&mut keys, &mut numbers);
                }
                continue;
            }
            let name = self.key(key)?;
            if let Value::Sequence(_) | Value::Mapping(_) = name {
                return Err(Error::yaml(format!("invalid map key: {}", self.shown(key)?), Some(key.mark)));
            }
            let decoded = self.node(value)?;
            let inner = std::mem::take(&mut self.unsupported);
            let go_key = GoKey::new(&name, self.target(key), place);
            let is_zero = matches!(name, Value::Float(number) if number == 0.0);
            let (name, own) = match name {
                Value::String(name) => (Some(name), None),
                Value::Int(number) => (Some(number.to_string()), None),
                Value::Float(number) => (Some(float_key(number as f32)), None),
                Value::Bool(value) => (Some(value.to_string()), None),
                Value::Null => (None, Some(Keys::Here { kind: "%!s(<nil>)", key, value })),
                Value::Uint(_) => (None, Some(Keys::Here { kind: "uint64", key, value })),
                // Refused above.
                Value::Sequence(_) | Value::Mapping(_) => continue,
            };
            match own.or(inner.keys) {
                Some(unsupported) => drop(keys.insert(go_key, unsupported)),
                None => drop(keys.remove(&go_key)),
            }
            let Some(name) = name else { continue };
            // The two zeros are one key to Go, by the name of the last.
            if is_zero && let Some(former) = zero.replace(name.clone()) {
                mapping.remove(&former);
                numbers.remove(&former);
            }
            match inner.numbers {
                Some(unsupported) => drop(numbers.insert(name.clone(), unsupported)),
                None => drop(numbers.remove(&name)),
            }
            mapping.insert(name, decoded);
        }
        self.unsupported = before.or(keys, numbers);
        Ok(mapping)
    }

    /// Duplicate keys are mistakes; entries of the mapping itself go before those that are merged.
    fn mapping_v3(&mut self, entries: &'a [(Node, Node)]) -> Result<Mapping> {
        if !self.are_unique(entries) {
            return Ok(Mapping::new());
        }
        let top = self.depth == 1;
        let mut mapping = Mapping::new();
        let mut merge = None;
        for (key, value) in entries {
            if is_merge(key) {
                merge = Some(value);
                continue;
            }
            let name = self.key(key)?;
            if let Value::Sequence(_) | Value::Mapping(_) = name {
                return Err(Error::yaml(format!("invalid map key: {}", go_syntax(&name)), Some(key.mark)));
            }
            let value = self.node(value)?;
            let key = self.target(key);
            let name = match (name, key.as_str()) {
                (Value::String(name), _) if matches!(key.resolved_tag(Dialect::V3), Tag::Str | Tag::Merge) => name,
                // kyaml reads the outermost mapping into strings.
                (Value::Null, _) if top => continue,
                (_, Some(text)) if top => text.to_owned(),
                _ => {
                    let message = "json: unsupported type: map[interface {}]interface {}";
                    self.unsupported.number(message, key.mark);
                    continue;
                }
            };
            mapping.insert(name, value);
        }
        if let Some(value) = merge {
            for (merged, inner) in self.merged(value)? {
                self.unsupported.numbers = self.unsupported.numbers.take().or(inner.numbers);
                for (name, value) in merged {
                    mapping.entry(name).or_insert(value);
                }
            }
        }
        Ok(mapping)
    }

    /// Notes each key that occurs twice. All lists and all mappings count as the same key, as in go-yaml.
    fn are_unique(&mut self, entries: &[(Node, Node)]) -> bool {
        let mut lines: HashMap<(u8, &str), Vec<Mark>> = HashMap::with_capacity(entries.len());
        for (key, _) in entries {
            lines.entry(kind_and_value(key)).or_default().push(key.mark);
        }
        if lines.len() == entries.len() {
            return true;
        }
        for (key, _) in entries {
            let name = kind_and_value(key);
            let later = lines.get(&name).into_iter().flatten().filter(|mark| mark.offset > key.mark.offset);
            for mark in later {
                if self.mistakes.len() == MISTAKES_MAX {
                    return false;
                }
                let (line, first, name) = (mark.line, key.mark.line, quote(name.1));
                let message = format!("line {line}: mapping key {name} already defined at line {first}");
                self.mistakes.push((message, *mark));
            }
        }
        false
    }

    /// The mappings that a merge key names, the strongest first, and what JSON can't have of each.
    fn merged(&mut self, node: &'a Node) -> Result<Vec<(Mapping, Unsupported<'a>)>> {
        let nodes = match &node.data {
            Data::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut found = Vec::new();
        for node in nodes {
            if !matches!(self.target(node).data, Data::Mapping(_)) {
                let message = "map merge requires map or sequence of maps as the value";
                return Err(Error::yaml(message, Some(node.mark)));
            }
            if let Value::Mapping(mapping) = self.node(node)? {
                found.push((mapping, std::mem::take(&mut self.unsupported)));
            }
        }
        Ok(found)
    }
}

/// What go-yaml compares of two keys: the kind of the node, and its `Value`, which lists and mappings lack.
fn kind_and_value(key: &Node) -> (u8, &str) {
    match &key.data {
        Data::Scalar(text) => (0, text.as_str()),
        Data::Alias(name) => (1, name.as_str()),
        Data::Sequence(_) => (2, ""),
        Data::Mapping(_) => (3, ""),
    }
}

fn is_merge(key: &Node) -> bool {
    let Data::Scalar(text) = &key.data else { return false };
    text == "<<"
        && match &key.tag {
            Some(Tag::Merge) => true,
            Some(Tag::Other(tag)) if &**tag == "!" => true,
            _ => !key.tagged && key.style == Style::Plain && key.tag != Some(Tag::Str),
        }
}

/// A float as a key.
fn float_key(number: f32) -> String {
    match number {
        number if number.is_nan() => ".nan".to_owned(),
        f32::INFINITY => ".inf".to_owned(),
        f32::NEG_INFINITY => "-.inf".to_owned(),
        number => format_shortest_32(number),
    }
}
