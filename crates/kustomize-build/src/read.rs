//! Files into resources.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use go_yaml::{self as yaml, Value};

use super::error::{Error, Result, Step};
use super::resource;
use super::text;
use super::tree::{Kind, Node, NodeId, Tree};
use super::version::Difference;

/// Where the text is that is read, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s> {
    /// The file, when the text is all of it.
    pub file: Option<&'s RepoPath>,
}

impl Source<'_> {
    pub(crate) const INLINE: Source<'static> = Source { file: None };
}

/// Reads the objects of a file: its documents, with lists replaced by their items.
///
/// Empty documents are left out. Aliases and merge keys are expanded. What has no kind, or no name, is an error.
///
/// Reference: kustomize api/resource/factory.go `RNodesFromBytes`; kyaml kio `ByteReader`.
pub(crate) fn resources(tree: &mut Tree, content: &[u8], source: Source<'_>) -> Result<Vec<NodeId>> {
    let documents = documents(tree, content, source)?;
    let mut queue: std::collections::VecDeque<NodeId> = checked(tree, documents, source)?.into();
    let mut found = Vec::with_capacity(queue.len());
    while let Some(root) = queue.pop_front() {
        let kind = resource::kind(tree, root).to_owned();
        let is_list = kind.ends_with("List");
        let items = if is_list { tree.value_of(root, "items") } else { None };
        let Some(items) = items else {
            if !is_list || tree.switches.has(Difference::ListWithoutItems) {
                found.push(root);
            }
            continue;
        };
        match text::decode(tree, items) {
            Ok(Value::Sequence(items)) => {
                for item in items {
                    let documents = documents_of_json(tree, &item, source)?;
                    queue.extend(checked(tree, documents, source)?);
                }
            }
            Ok(Value::Null) => {}
            Ok(other) => {
                let found = match other {
                    Value::Mapping(_) => "map[string]interface {}",
                    Value::Bool(_) => "bool",
                    Value::Int(_) | Value::Uint(_) => "int",
                    Value::Float(_) => "float64",
                    Value::String(_) | Value::Null | Value::Sequence(_) => "string",
                };
                return Err(Error::new(format!("expected array in {kind}/items, but found {found}")));
            }
            Err(error) => return Err(error.prefix(format!("trouble expanding list of {kind}"))),
        }
        tree.check()?;
    }
    Ok(found)
}

/// The items of a list pass through JSON.
fn documents_of_json(tree: &mut Tree, item: &Value, source: Source<'_>) -> Result<Vec<NodeId>> {
    documents(tree, text::to_json(item).as_bytes(), Source { file: source.file })
}

fn checked(tree: &Tree, documents: Vec<NodeId>, source: Source<'_>) -> Result<Vec<NodeId>> {
    let mut kept = Vec::with_capacity(documents.len());
    for root in documents {
        if tree.node(root).is_nil_or_empty() {
            continue;
        }
        resource::check_metadata(tree, root)
            .and_then(|()| resource::check_previous_ids(tree, root))
            .map_err(|error| at(error, source, tree.node(root).line, 0))?;
        kept.push(root);
    }
    Ok(kept)
}

/// The error with its place, unless the text is no file.
fn at(error: Error, source: Source<'_>, line: u32, column: u32) -> Error {
    match source.file {
        Some(file) if line > 0 => error.at(Span::at(file.clone(), line, column)),
        Some(file) => error.at(Span::file(file.clone())),
        None if line > 0 => error.inside(Step::Line(line, column)),
        None => error,
    }
}

/// The documents of a text. A single `List` or `ResourceList` is replaced by its items.
pub(crate) fn documents(tree: &mut Tree, content: &[u8], source: Source<'_>) -> Result<Vec<NodeId>> {
    let unix;
    let content = if content.windows(2).any(|pair| pair == b"\r\n") {
        unix = without_carriage_returns(content);
        &unix
    } else {
        content
    };
    let chunks = split(content)?;
    let mut found = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        let malformed = |fault: &yaml::Error| {
            let line = fault.mark().map_or(0, |mark| mark.line + chunk.lines_before);
            at(Error::malformed(format!("MalformedYAMLError: {fault}")), source, line, fault.column())
        };
        let node = yaml::parse_first(chunk.text, &text::limits()).map_err(|fault| malformed(&fault))?;
        let Some(node) = node else { continue };
        let node = yaml::resolve_aliases(node, &text::limits()).map_err(|fault| text::error(&fault))?;
        let root = text::add_document(tree, node)?;
        if chunk.lines_before > 0 {
            tree.node_mut(root).line += chunk.lines_before;
        }
        tree.check()?;
        if tree.node(root).is_null() {
            continue;
        }
        match listed(tree, root).filter(|_| chunks.len() == 1) {
            Some(items) => found.extend(items),
            None => found.push(root),
        }
    }
    Ok(found)
}

/// The items, when the document is a list of resources.
fn listed(tree: &Tree, root: NodeId) -> Option<Vec<NodeId>> {
    if !matches!(resource::kind(tree, root), "List" | "ResourceList") || tree.kind(root) != Kind::Mapping {
        return None;
    }
    let items = tree.value_of(root, "items");
    if items.is_none() && tree.value_of(root, "functionConfig").is_none() {
        return None;
    }
    Some(items.map_or_else(Vec::new, |items| tree.content(items).to_vec()))
}

fn without_carriage_returns(content: &[u8]) -> Vec<u8> {
    let mut unix = Vec::with_capacity(content.len());
    for (index, byte) in content.iter().enumerate() {
        if *byte != b'\r' || content.get(index + 1) != Some(&b'\n') {
            unix.push(*byte);
        }
    }
    unix
}

struct Chunk<'c> {
    text: &'c [u8],
    lines_before: u32,
}

/// Cuts a text at its lines that start with `---`; a comment may be behind, anything else is an error.
fn split(content: &[u8]) -> Result<Vec<Chunk<'_>>> {
    let mut chunks = Vec::new();
    let (mut start, mut lines_before) = (0, 0);
    let mut search = 0;
    while let Some(at) = find(content, b"\n---", search) {
        let Some(length) = content.get(at + 4..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n')) else {
            break;
        };
        let line = content.get(at + 4..at + 4 + length).unwrap_or_default();
        let behind = String::from_utf8_lossy(line);
        if !behind.trim().is_empty() && !behind.trim_start().starts_with('#') {
            return Err(Error::new(format!("invalid document separator: ---{}", behind.trim_end())));
        }
        let text = content.get(start..=at).unwrap_or_default();
        chunks.push(Chunk { text, lines_before });
        lines_before += lines(text) + 1;
        start = at + 4 + length + 1;
        search = start;
    }
    chunks.push(Chunk { text: content.get(start..).unwrap_or_default(), lines_before });
    Ok(chunks)
}

fn lines(text: &[u8]) -> u32 {
    u32::try_from(text.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u32::MAX)
}

fn find(content: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    content.get(from..)?.windows(wanted.len()).position(|window| window == wanted).map(|at| at + from)
}

/// A new object of which only kind and version are set.
///
/// Its nodes are where they are in the text that Kustomize reads for it, whose first line is empty: hashes see that.
pub(crate) fn new_object(tree: &mut Tree, api_version: &str, kind: &str) -> NodeId {
    let mut content = Vec::with_capacity(4);
    for (line, key, column, value) in [(2, "apiVersion", 13, api_version), (3, "kind", 7, kind)] {
        content.push(tree.add(Node::string(key).placed(line, 1)));
        content.push(tree.add(Node::string(value).placed(line, column)));
    }
    let tag = yaml::Tag::Map;
    tree.add(Node { content, ..Node::new(Kind::Mapping).tagged(tag).placed(2, 1) })
}
