//! The suffix of names of generated objects.

use go_yaml::{Mapping, Value};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::session::Session;
use crate::text;
use crate::tree::{Kind, NodeId, Tree};

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
/// The name is not part of it: Kustomize looks for it under a key that no object has.
fn hash(tree: &mut Tree, root: NodeId) -> Result<String> {
    let kind = resource::kind(tree, root).to_owned();
    let (fields, optional): (&[&str], &str) = match kind.as_str() {
        "ConfigMap" => (&["data"], "binaryData"),
        "Secret" => (&["type", "data"], "stringData"),
        other => {
            return Err(Error::unsupported(
                format!("a name suffix hash for an object of kind {other}"),
                format!("remove the annotation `{}` from it", annotation::NEEDS_HASH),
            ));
        }
    };
    let mut content = Mapping::new();
    content.insert("kind".to_owned(), kind.as_str().into());
    content.insert("name".to_owned(), "".into());
    for field in fields {
        content.insert((*field).to_owned(), field_value(tree, root, field)?);
    }
    let value = field_value(tree, root, optional)?;
    if matches!(value, Value::Mapping(_)) {
        content.insert(optional.to_owned(), value);
    }
    let digest = Sha256::digest(text::to_json(&Value::Mapping(content)));
    let hex: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    Ok(hex.chars().map(without_words).collect())
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
