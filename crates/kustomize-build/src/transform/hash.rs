//! The suffix of names of generated objects.

use go_yaml::{Mapping, Style as Form, Tag, Value};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::session::Session;
use crate::text;
use crate::tree::{Kind, NodeId, Style, Tree, check_depth};

/// Adds a hash of their content to the names of the generated objects that want one.
pub(crate) fn add_hashes(session: &mut Session<'_>, resources: &Resources) -> Result<()> {
    let Session { tree, schema, .. } = session;
    for root in resources.roots() {
        if resource::is_enabled(tree, root, annotation::NEEDS_HASH) {
            let hash = hash(tree, root)?;
            resource::store_previous_id(tree, schema, root)?;
            let name = format!("{}-{hash}", resource::name(tree, root));
            resource::set_name(tree, root, &name)?;
        }
    }
    Ok(())
}

/// Ten characters of the SHA-256 of the object's content, without those that could spell words.
///
/// Reference: kustomize api/hasher/hasher.go.
fn hash(tree: &mut Tree, root: NodeId) -> Result<String> {
    let content = match resource::kind(tree, root) {
        "ConfigMap" => text::to_json(&Value::Mapping(data(tree, root, "ConfigMap", &["data"], "binaryData")?)),
        "Secret" => text::to_json(&Value::Mapping(data(tree, root, "Secret", &["type", "data"], "stringData")?)),
        _ => {
            let mut nodes = String::new();
            write_node(tree, root, &mut nodes, 0)?;
            nodes
        }
    };
    let digest = Sha256::digest(content);
    let hex: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    Ok(hex.chars().map(without_words).collect())
}

/// The content of a ConfigMap or a Secret.
///
/// The name is not part of it: Kustomize looks for it under a key that no object has.
fn data(tree: &mut Tree, root: NodeId, kind: &str, fields: &[&str], optional: &str) -> Result<Mapping> {
    let mut content = Mapping::new();
    content.insert("kind".to_owned(), kind.into());
    content.insert("name".to_owned(), "".into());
    for field in fields {
        content.insert((*field).to_owned(), field_value(tree, root, field)?);
    }
    let value = field_value(tree, root, optional)?;
    if matches!(value, Value::Mapping(_)) {
        content.insert(optional.to_owned(), value);
    }
    Ok(content)
}

/// What the hash of any other kind is made of: the nodes themselves, as Go's `json.Marshal` writes go-yaml's `Node`.
///
/// So it depends on quotes, comments and places. A transformer that renames the kind of a generated object comes here.
fn write_node(tree: &Tree, id: NodeId, out: &mut String, depth: usize) -> Result<()> {
    check_depth(depth)?;
    let node = tree.node(id);
    tree.work(1)?;
    tree.fits(out.len())?;
    let quoted = |text: &str| text::to_json(&text.into());
    let (comments, tag) = (&node.comments, node.tag.as_ref().map_or("", Tag::as_str));
    // The line of a document is counted in the whole file here, but that of its first key, which is the same one, is not.
    let first = node.content.first().filter(|_| depth == 0 && node.line > 0);
    let line = first.map_or(node.line, |key| tree.node(*key).line);
    out.push_str(&format!(
        r#"{{"Kind":{},"Style":{},"Tag":{},"Value":{},"Anchor":{},"Alias":null,"Content":"#,
        kind_number(node.kind),
        style_number(node.style),
        quoted(tag),
        quoted(&node.value),
        quoted(node.anchor.as_deref().unwrap_or_default()),
    ));
    for (index, child) in node.content.iter().enumerate() {
        out.push(if index == 0 { '[' } else { ',' });
        write_node(tree, *child, out, depth + 1)?;
    }
    out.push_str(if node.content.is_empty() { "null" } else { "]" });
    out.push_str(&format!(
        r#","HeadComment":{},"LineComment":{},"FootComment":{},"Line":{line},"Column":{}}}"#,
        quoted(comments.head()),
        quoted(comments.line()),
        quoted(comments.foot()),
        node.column
    ));
    Ok(())
}

/// The constant of go-yaml.
fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::None => 0,
        Kind::Sequence => 2,
        Kind::Mapping => 4,
        Kind::Scalar => 8,
        Kind::Alias => 16,
    }
}

/// The constants of go-yaml, added.
fn style_number(style: Style) -> u8 {
    let form = match style.form {
        Form::Plain => 0,
        Form::DoubleQuoted => 2,
        Form::SingleQuoted => 4,
        Form::Literal => 8,
        Form::Folded => 16,
        Form::Flow => 32,
    };
    form + u8::from(style.tagged)
}

/// The digits that could spell words are replaced.
fn without_words(digit: char) -> char {
    match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    }
}

fn field_value(tree: &mut Tree, root: NodeId, field: &str) -> Result<Value> {
    let Some(node) = tree.lookup(root, &[field])? else { return Ok("".into()) };
    if tree.kind(node) == Kind::Scalar {
        return Ok(tree.text(node).into());
    }
    // Numbers pass through Go's float64 on the way.
    Ok(match text::to_value(tree, node)? {
        Value::Mapping(mapping) => {
            Value::Mapping(mapping.into_iter().map(|(key, value)| (key, floats(value))).collect())
        }
        _ => Value::Null,
    })
}

fn floats(value: Value) -> Value {
    match value {
        Value::Int(number) => Value::Float(number as f64),
        Value::Uint(number) => Value::Float(number as f64),
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(floats).collect()),
        Value::Mapping(mapping) => {
            Value::Mapping(mapping.into_iter().map(|(key, value)| (key, floats(value))).collect())
        }
        other => other,
    }
}
