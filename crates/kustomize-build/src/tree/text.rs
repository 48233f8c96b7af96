//! Between text, values and the nodes of a build.

use go_yaml::{self as yaml, Data, Dialect, Limits, Mapping, Plain, Sequences, Tag, Value};

use super::super::error::{Error, Result, Step};
use super::{DEPTH_MAX, Kind, Node, NodeId, Style, Tree, check_depth};

/// The limits of every text that is read.
pub(crate) fn limits() -> Limits {
    Limits { depth: DEPTH_MAX as u32, ..Limits::default() }
}

pub(crate) fn error(error: &yaml::Error) -> Error {
    Error::new(error.to_string())
}

/// Turns a fault of the text that is read into an error with its place.
fn misread(fault: &yaml::Error) -> Error {
    match fault.mark() {
        Some(mark) => error(fault).inside(Step::Line(mark.line, mark.column)),
        None => error(fault),
    }
}

/// The first document of a YAML or JSON text, read as `sigs.k8s.io/yaml` does (`YAMLToJSON`).
pub(crate) fn value(text: &[u8]) -> Result<Value> {
    yaml::sigs::yaml_to_json(text, &limits()).map_err(|fault| misread(&fault))
}

/// The first document of a text, read as `sigs.k8s.io/yaml` does with `Unmarshal`, with the words that it puts before
/// an error.
pub(crate) fn unmarshal(text: &[u8]) -> Result<Value> {
    yaml::sigs::unmarshal(text, &limits()).map_err(|fault| misread(&fault))
}

/// The first document of a text, read as `sigs.k8s.io/yaml` does with `UnmarshalStrict`, which takes no key twice.
pub(crate) fn unmarshal_strict(text: &[u8]) -> Result<Value> {
    let value = unmarshal(text)?;
    let node = yaml::parse_first(text, &limits()).map_err(|fault| misread(&fault))?;
    match node.as_ref().and_then(duplicate_key) {
        None => Ok(value),
        Some(key) => Err(Error::new(format!(
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line {}: key {} already set in map",
            key.mark.line,
            yaml::quote(key.as_str().unwrap_or_default())
        ))
        .inside(Step::Line(key.mark.line, key.mark.column))),
    }
}

fn duplicate_key(node: &yaml::Node) -> Option<&yaml::Node> {
    match &node.data {
        Data::Scalar(_) | Data::Alias(_) => None,
        Data::Sequence(items) => items.iter().find_map(duplicate_key),
        Data::Mapping(entries) => {
            let mut seen = std::collections::HashSet::new();
            entries.iter().find_map(|(key, value)| {
                let again = key.as_str().is_some_and(|text| !seen.insert(text));
                if again { Some(key) } else { duplicate_key(value) }
            })
        }
    }
}

/// The value of a JSON text.
pub(crate) fn json(text: &str) -> Result<Value> {
    json_bytes(text.as_bytes())
}

/// The value of a JSON text that may not be UTF-8.
pub(crate) fn json_bytes(text: &[u8]) -> Result<Value> {
    yaml::json::decode(text, &limits()).map_err(|fault| misread(&fault))
}

/// A value as Go's `json.Marshal` writes it.
pub(crate) fn to_json(value: &Value) -> String {
    yaml::json::encode(value, yaml::json::Options { escape_html: true, indent: None })
}

/// Whether YAML 1.1 reads a text as anything but a string: `on`, and `a: b` or `# c` too. What it cannot read is a string.
///
/// Reference: kustomize kyaml/yaml/compatibility.go `IsValueNonString`.
pub(crate) fn is_yaml_1_1_non_string(text: &str) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    if is_bare_word(text) {
        return !matches!(yaml::plain(text, Dialect::V2), Plain::Str | Plain::Timestamp);
    }
    match yaml::parse_first(text.as_bytes(), &limits()) {
        Ok(Some(node)) => node.to_value(Dialect::V2, &limits()).is_ok_and(|value| !matches!(value, Value::String(_))),
        Ok(None) => true,
        Err(_) => false,
    }
}

/// A document's nodes in the tree. Aliases stay aliases.
pub(crate) fn add_document(tree: &mut Tree, root: yaml::Node) -> Result<NodeId> {
    let mut anchors = std::collections::HashMap::new();
    add(tree, root, &mut anchors, 0)
}

type Anchors = std::collections::HashMap<Box<str>, NodeId>;

fn add(tree: &mut Tree, node: yaml::Node, anchors: &mut Anchors, depth: usize) -> Result<NodeId> {
    check_depth(depth)?;
    let mut kept = Node {
        kind: Kind::Scalar,
        tag: node.tag,
        style: Style { form: node.style, tagged: node.tagged },
        value: String::new(),
        content: Vec::new(),
        comments: node.comments,
        anchor: node.anchor,
        line: node.mark.line,
        column: node.mark.column,
    };
    match node.data {
        Data::Scalar(text) => kept.value = text,
        Data::Sequence(items) => {
            kept.kind = Kind::Sequence;
            kept.content.reserve_exact(items.len());
            for item in items {
                kept.content.push(add(tree, item, anchors, depth + 1)?);
            }
        }
        Data::Mapping(entries) => {
            kept.kind = Kind::Mapping;
            kept.content.reserve_exact(2 * entries.len());
            for (key, value) in entries {
                kept.content.push(add(tree, key, anchors, depth + 1)?);
                kept.content.push(add(tree, value, anchors, depth + 1)?);
            }
        }
        Data::Alias(name) => {
            kept.kind = Kind::Alias;
            kept.tag = None;
            kept.content.extend(anchors.get(name.as_str()));
            kept.value = name;
        }
    }
    let anchor = kept.anchor.clone();
    let id = tree.add(kept);
    if let Some(anchor) = anchor {
        anchors.insert(anchor, id);
    }
    Ok(id)
}

/// Reads the first document of a text that is in a scalar (go-yaml `Unmarshal` into a node).
pub(crate) fn parse_into(tree: &mut Tree, text: &str) -> Result<NodeId> {
    match yaml::parse_first(text.as_bytes(), &limits()).map_err(|fault| error(&fault))? {
        Some(node) => add_document(tree, node),
        None => Ok(tree.add(Node::new(Kind::None))),
    }
}

/// What is read of a node once it is written: the same, but each node with its place in that text.
pub(crate) fn written_and_read(tree: &mut Tree, id: NodeId) -> Result<NodeId> {
    let text = of(tree, id)?;
    parse_into(tree, &text)
}

/// The node as kyaml's own text: indented by 2, lists at the column of their key, comments kept, a line break at the end.
pub(crate) fn of(tree: &Tree, id: NodeId) -> Result<String> {
    let node = tree.node(id);
    let bare = node.kind == Kind::Scalar && node.style == Style::PLAIN && node.comments.is_empty();
    if bare
        && is_bare_word(&node.value)
        && (node.tag != Some(Tag::Str) || yaml::plain(&node.value, Dialect::V3) == Plain::Str)
    {
        return Ok(format!("{}\n", node.value));
    }
    Ok(yaml::emit_node(&to_yaml(tree, id, 0)?, Sequences::Compact))
}

/// Whether a text is written without quotes.
fn is_bare_word(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

fn to_yaml(tree: &Tree, id: NodeId, depth: usize) -> Result<yaml::Node> {
    check_depth(depth)?;
    let node = tree.node(id);
    let data = match node.kind {
        Kind::None => Data::Scalar("null".to_owned()),
        Kind::Scalar => Data::Scalar(node.value.clone()),
        Kind::Alias => Data::Alias(node.value.clone()),
        Kind::Sequence => {
            Data::Sequence(node.content.iter().map(|item| to_yaml(tree, *item, depth + 1)).collect::<Result<_>>()?)
        }
        Kind::Mapping => {
            let entries = tree
                .pairs(id)
                .map(|(key, value)| Ok((to_yaml(tree, key, depth + 1)?, to_yaml(tree, value, depth + 1)?)));
            Data::Mapping(entries.collect::<Result<_>>()?)
        }
    };
    let mut written = yaml::Node::null();
    written.tag.clone_from(&node.tag);
    written.tagged = node.style.tagged;
    written.style = node.style.form;
    written.anchor.clone_from(&node.anchor);
    written.comments = node.comments.clone();
    written.data = data;
    Ok(written)
}

/// What a resource means: the result of writing it as kyaml's text and reading that again (kyaml `MarshalJSON`).
///
/// Nearly all nodes mean what their tags and texts say; for a resource with any other, the text is really made.
pub(crate) fn to_value(tree: &Tree, id: NodeId) -> Result<Value> {
    if tree.kind(id) == Kind::None {
        return Ok(Value::Null);
    }
    match direct(tree, id, 0, false) {
        Some(value) if !gets_another_line(tree, id) => Ok(value),
        _ => through_text(tree, id),
    }
}

/// Whether a text may get a line break more when it is written: it ends with an empty line, and a comment may be behind.
///
/// go-yaml sets a foot comment apart from what is before it by an empty line, which `|+` then takes for its own. It is a
/// fault, but what Kustomize prints and Argo CD deploys.
fn gets_another_line(tree: &Tree, id: NodeId) -> bool {
    let keeps_lines = |node: &Node| node.kind == Kind::Scalar && (node.value == "\n" || node.value.ends_with("\n\n"));
    any(tree, id, &keeps_lines) && any(tree, id, &|node| !node.comments.is_empty())
}

/// Whether a node, or one inside it, is so.
fn any(tree: &Tree, id: NodeId, is_so: &impl Fn(&Node) -> bool) -> bool {
    let node = tree.node(id);
    is_so(node) || node.content.iter().any(|child| any(tree, *child, is_so))
}

/// What a node means without being written first (kyaml `Map`).
pub(crate) fn decode(tree: &Tree, id: NodeId) -> Result<Value> {
    to_yaml(tree, id, 0)?.to_value(Dialect::V3, &limits()).map_err(|fault| error(&fault))
}

fn through_text(tree: &Tree, id: NodeId) -> Result<Value> {
    let text = of(tree, id)?;
    let mut documents = yaml::decode(text.as_bytes(), Dialect::V3, &limits()).map_err(|fault| error(&fault))?;
    Ok(documents.drain(..).next().unwrap_or_default())
}

/// None when only the text can tell. `in_flow`: somewhere inside of `[…]` or `{…}`.
fn direct(tree: &Tree, id: NodeId, depth: usize, in_flow: bool) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    let node = tree.node(id);
    if node.style.tagged {
        return None;
    }
    let in_flow = in_flow || node.style.form == yaml::Style::Flow;
    match node.kind {
        Kind::None | Kind::Alias => None,
        Kind::Scalar => scalar(node, in_flow),
        Kind::Sequence if matches!(node.tag, None | Some(Tag::Seq)) => {
            let items = node.content.iter().map(|item| direct(tree, *item, depth + 1, in_flow));
            items.collect::<Option<_>>().map(Value::Sequence)
        }
        Kind::Mapping if matches!(node.tag, None | Some(Tag::Map)) => {
            let mut mapping = Mapping::new();
            for (key, value) in tree.pairs(id) {
                let Value::String(key) = direct(tree, key, depth + 1, true)? else { return None };
                if mapping.insert(key, direct(tree, value, depth + 1, in_flow)?).is_some() {
                    return None;
                }
            }
            Some(Value::Mapping(mapping))
        }
        Kind::Sequence | Kind::Mapping => None,
    }
}

fn scalar(node: &Node, in_flow: bool) -> Option<Value> {
    use yaml::Style::{DoubleQuoted, Flow, Folded, Literal, Plain as Bare, SingleQuoted};
    let text = node.value.as_str();
    let lines = text.contains('\n');
    let quoted = match node.style.form {
        DoubleQuoted => true,
        // Block scalars that start with a blank, and folded lines, may not read back as they are.
        SingleQuoted | Folded if lines => return None,
        Literal | Folded if text.starts_with([' ', '\t', '\n']) => return None,
        Bare | Flow if lines && text.starts_with([' ', '\t', '\n']) => return None,
        SingleQuoted | Folded | Literal => true,
        Bare | Flow => lines,
    };
    if !text.is_ascii() && text.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{FEFF}']) {
        return None;
    }
    let string = || Some(Value::String(text.to_owned()));
    let plain = match &node.tag {
        Some(Tag::Str) => return string(),
        None if quoted => return string(),
        // A plain empty text inside of a flow collection is written with quotes.
        None if text.is_empty() => return if in_flow { string() } else { Some(Value::Null) },
        None => yaml::plain(text, Dialect::V3),
        Some(tag) => {
            let plain = yaml::plain(text, Dialect::V3);
            if plain.tag() != *tag {
                return None;
            }
            if quoted || (text.is_empty() && in_flow) {
                return string();
            }
            plain
        }
    };
    match plain {
        Plain::Null => Some(Value::Null),
        Plain::Bool(truth) => Some(Value::Bool(truth)),
        Plain::Int(number) => Some(Value::Int(number)),
        Plain::Uint(number) => Some(Value::Uint(number)),
        Plain::Float(number) if number.is_finite() => Some(Value::Float(number)),
        Plain::Str => string(),
        Plain::Float(_) | Plain::Timestamp => None,
    }
}

/// The nodes of a value that went through Go's JSON: all numbers are floats (kyaml `UnmarshalJSON`).
pub(crate) fn from_json(tree: &mut Tree, value: &Value) -> NodeId {
    let node = match value {
        Value::Null => Node::scalar("null").tagged(Tag::Null),
        Value::Bool(truth) => Node::scalar(truth.to_string()).tagged(Tag::Bool),
        Value::Int(number) => number_node(*number as f64),
        Value::Uint(number) => number_node(*number as f64),
        Value::Float(number) => number_node(*number),
        Value::String(text) => Node { style: string_style(text), ..Node::string(text.as_str()) },
        Value::Sequence(items) => {
            let content = items.iter().map(|item| from_json(tree, item)).collect();
            Node { content, ..Node::new(Kind::Sequence).tagged(Tag::Seq).styled(empty_style(items.is_empty())) }
        }
        Value::Mapping(entries) => {
            let mut content = Vec::with_capacity(2 * entries.len());
            for (key, value) in entries {
                let key = tree.add(Node { style: string_style(key), ..Node::string(key.as_str()) });
                content.extend([key, from_json(tree, value)]);
            }
            Node { content, ..Node::new(Kind::Mapping).tagged(Tag::Map).styled(empty_style(entries.is_empty())) }
        }
    };
    tree.add(node)
}

/// Empty collections are written `[]` and `{}`.
fn empty_style(empty: bool) -> Style {
    if empty { Style { form: yaml::Style::Flow, tagged: false } } else { Style::PLAIN }
}

fn number_node(number: f64) -> Node {
    let text = yaml::format_float(number);
    let tag = yaml::plain(&text, Dialect::V3).tag();
    Node::scalar(text).tagged(tag)
}

/// How go-yaml v3 writes a string that has no style yet.
pub(crate) fn string_style(text: &str) -> Style {
    if is_bare_word(text) && !is_yaml_1_1_non_string(text) && yaml::plain(text, Dialect::V3) == Plain::Str {
        return Style::PLAIN;
    }
    let written = yaml::emit_v3(&Value::String(text.to_owned()), Sequences::Compact);
    match written.as_bytes().first() {
        Some(b'"') => Style::DOUBLE,
        Some(b'\'') => Style::SINGLE,
        Some(b'|') => Style::LITERAL,
        _ => Style::PLAIN,
    }
}
