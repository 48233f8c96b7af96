//! Parsed documents as [`Field`]s: the values that Kubernetes sees, each with the place where it was written.
//!
//! What a value is, is decided by [`go_yaml`] alone, as go-yaml v2 does (merges, duplicate keys, kinds of scalars).
//! Places are looked up beside it: where one is unknown, that of the mapping or list around it is used.

use std::collections::HashMap;
use std::sync::Arc;

use super::cost::{LIMITS, VALUES_MAX, extra};
use super::field::{Content, Entry, Extent, Field, Place, Text};
use super::mistake::Mistake;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_yaml::{self as yaml, Data, Dialect, Node, Style, Tag, Value};

/// How many merges may lead to one place, and how many entries are looked at for all places of a file: with hostile
/// merges, places get less exact, never slow.
const MERGES_MAX: u32 = 8;
const STEPS_MAX: usize = 4 * VALUES_MAX;

/// The documents of a file, empty ones left out.
pub(super) fn parse(path: &RepoPath, bytes: &[u8]) -> Result<Vec<Field>, Diagnostic> {
    Ok(parse_within(path, bytes, &|_| true)?.unwrap_or_default())
}

/// The documents of a file, empty ones left out, if `may_take` takes what the file [costs](extra) beside its size. None
/// if it does not: then no alias was written out.
pub(super) fn parse_within(
    path: &RepoPath,
    bytes: &[u8],
    may_take: &dyn Fn(u64) -> bool,
) -> Result<Option<Vec<Field>>, Diagnostic> {
    let file = Arc::new(Text::new(path.clone(), yaml::lossy(bytes).into_owned()));
    let nodes = yaml::parse(bytes, &LIMITS).map_err(|error| unreadable(&file, &error))?;
    let Some(extra) = extra(bytes, &nodes) else { return Err(too_large(path)) };
    if !may_take(extra) {
        return Ok(None);
    }
    let (mut values_left, mut steps_left) = (VALUES_MAX, STEPS_MAX);
    let mut fields = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let value = node.to_value(Dialect::V2, &LIMITS).map_err(|error| unreadable(&file, &error))?;
        if value.is_null() {
            continue;
        }
        let mut anchors = HashMap::new();
        collect_anchors(node, &mut anchors);
        let mut places = Places { file: &file, anchors, values_left, steps_left };
        let root = places.place(node);
        match places.field(value, Some(node), &root) {
            Some(field) => fields.push(field),
            None => return Err(too_large(path)),
        }
        (values_left, steps_left) = (places.values_left, places.steps_left);
    }
    Ok(Some(fields))
}

/// No alias of such a file is written out.
fn too_large(path: &RepoPath) -> Diagnostic {
    let mistake = format!("the file has more than {VALUES_MAX} values, its aliases written out, or very long ones");
    Mistake::Syntax(mistake).at(Span::file(path.clone()))
}

fn unreadable(file: &Arc<Text>, error: &yaml::Error) -> Diagnostic {
    let mistake = Mistake::Syntax(format!("the file cannot be read: {}", error.message()));
    mistake.at(match error.mark() {
        Some(mark) => place(file, mark, Extent::Start).span(),
        None => Span::file(file.path.clone()),
    })
}

/// Where the values of one document are.
struct Places<'a> {
    file: &'a Arc<Text>,
    anchors: HashMap<&'a str, &'a Node>,
    values_left: usize,
    steps_left: usize,
}

/// The entry of a mapping that made the value of a key.
#[derive(Clone, Copy)]
struct Origin<'a> {
    key: &'a Node,
    value: &'a Node,
    twice: bool,
}

impl<'a> Places<'a> {
    /// The value with its places: those of `node`, else `around`. None when there are too many values.
    fn field(&mut self, value: Value, node: Option<&'a Node>, around: &Place) -> Option<Field> {
        self.values_left = self.values_left.checked_sub(1)?;
        let place = node.map_or_else(|| around.clone(), |node| self.place(node));
        let node = node.map(|node| self.target(node));
        let content = match value {
            Value::Sequence(items) => {
                let nodes = node.and_then(Node::as_sequence).unwrap_or_default();
                let items = items.into_iter().enumerate();
                Content::List(items.map(|(at, item)| self.field(item, nodes.get(at), &place)).collect::<Option<_>>()?)
            }
            Value::Mapping(mapping) => {
                let origins = node.map(|node| self.origins(node, 0)).unwrap_or_default();
                let mut entries = Vec::with_capacity(mapping.len());
                for (key, value) in mapping {
                    let origin = origins.get(key.as_str());
                    let key_place = origin.map_or_else(|| place.clone(), |origin| self.place(origin.key));
                    let field = self.field(value, origin.map(|origin| origin.value), &key_place)?;
                    entries.push(Entry { key, key_place, field, twice: origin.is_some_and(|origin| origin.twice) });
                }
                Content::Mapping(entries)
            }
            scalar => Content::Scalar(scalar),
        };
        Some(Field { place, content })
    }

    /// The entries of a mapping by key, those of merged mappings below its own. Keys that are no strings are left out.
    fn origins(&mut self, node: &'a Node, merges: u32) -> HashMap<&'a str, Origin<'a>> {
        let mut origins = HashMap::new();
        let Some(entries) = node.as_mapping().filter(|_| self.steps_left > 0) else { return origins };
        for (_, value) in entries.iter().filter(|(key, _)| key.tag == Some(Tag::Merge)) {
            let value = self.target(value);
            let merged = value.as_sequence().unwrap_or(std::slice::from_ref(value));
            for mapping in merged.iter().take_while(|_| merges < MERGES_MAX) {
                for (key, origin) in self.origins(self.target(mapping), merges + 1) {
                    origins.entry(key).or_insert(Origin { twice: false, ..origin });
                }
            }
        }
        let merged = origins.len();
        let mut own = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            if let Some(text) = key.as_str() {
                let twice = own.contains_key(text);
                own.insert(text, Origin { key, value, twice });
            }
        }
        self.steps_left = self.steps_left.saturating_sub(entries.len() + merged + 1);
        origins.extend(own);
        origins
    }

    /// The node that an alias refers to; any other node is itself.
    fn target(&self, node: &'a Node) -> &'a Node {
        match &node.data {
            Data::Alias(name) => self.anchors.get(name.as_str()).copied().unwrap_or(node),
            Data::Scalar(_) | Data::Sequence(_) | Data::Mapping(_) => node,
        }
    }

    fn place(&self, node: &Node) -> Place {
        let rest = self.file.text.get(node.mark.offset..).unwrap_or_default();
        let extent = match (&node.data, node.style) {
            (Data::Scalar(_), Style::SingleQuoted) if rest.starts_with('\'') => Extent::SingleQuoted,
            (Data::Scalar(_), Style::DoubleQuoted) if rest.starts_with('"') => Extent::DoubleQuoted,
            (Data::Scalar(text), Style::Plain) if rest.starts_with(text.as_str()) => Extent::bytes(text.len()),
            (Data::Alias(name), _) => Extent::bytes(name.len() + 1),
            // Lists, mappings, blocks of text, and what has a tag or an anchor in front.
            _ => Extent::Start,
        };
        place(self.file, node.mark, extent)
    }
}

fn place(file: &Arc<Text>, mark: yaml::Mark, extent: Extent) -> Place {
    Place { file: file.clone(), line: mark.line, column: mark.column, offset: mark.offset, extent }
}

/// All anchors of a document. One that is set again has its last place.
fn collect_anchors<'a>(node: &'a Node, anchors: &mut HashMap<&'a str, &'a Node>) {
    if let Some(name) = &node.anchor {
        anchors.insert(name, node);
    }
    match &node.data {
        Data::Sequence(items) => items.iter().for_each(|item| collect_anchors(item, anchors)),
        Data::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            collect_anchors(key, anchors);
            collect_anchors(value, anchors);
        }),
        Data::Scalar(_) | Data::Alias(_) => {}
    }
}
