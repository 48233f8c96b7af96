//! Objects that a kustomization makes: ConfigMaps and Secrets, and the objects of charts.

pub(crate) mod helm;
mod sources;

use std::collections::BTreeMap;

use data_encoding::BASE64;
use go_yaml::Tag;

use super::error::{Error, Result};
use super::kustomization::{GeneratorArgs, GeneratorOptions};
use super::loader::Loader;
use super::read;
use super::resource::{self, StringMap, annotation};
use super::resources::Behavior;
use super::session::Session;
use super::tree::{Kind, Node, NodeId, SetOptions, Style, Tree};

/// What a generator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generated {
    ConfigMap,
    Secret,
}

/// Makes a ConfigMap or a Secret, with notes of what to do with it.
pub(crate) fn generate(
    session: &mut Session<'_>,
    loader: &Loader,
    what: Generated,
    args: &GeneratorArgs,
) -> Result<NodeId> {
    let kind = match what {
        Generated::ConfigMap => "ConfigMap",
        Generated::Secret => "Secret",
    };
    let root = read::new_object(&mut session.tree, "v1", kind);
    if args.name.is_empty() {
        return Err(Error::new("a configmap must have a name"));
    }
    set_string(&mut session.tree, root, &["metadata"], "name", &args.name)?;
    if !args.namespace.is_empty() {
        set_string(&mut session.tree, root, &["metadata"], "namespace", &args.namespace)?;
    }
    if what == Generated::Secret {
        let secret_type = if args.secret_type.is_empty() { "Opaque" } else { &args.secret_type };
        set_string(&mut session.tree, root, &[], "type", secret_type)?;
    }
    session.tree.check()?;
    let data =
        sources::load(session.view, &session.tree, loader, args).map_err(|error| error.prefix("loading KV pairs"))?;
    let mut known: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (key, value) in data {
        if known.contains_key(&key) {
            return Err(Error::new(format!("configmap {} illegally repeats the key `{key}`", args.name)));
        }
        known.insert(key, value);
    }
    let tree = &mut session.tree;
    match what {
        Generated::ConfigMap => {
            for (key, value) in known {
                match String::from_utf8(value) {
                    Ok(text) => set_data(tree, root, "data", &key, text)?,
                    Err(error) => {
                        tree.fits(base64_bytes(error.as_bytes()))?;
                        set_data(tree, root, "binaryData", &key, base64(error.as_bytes()))?;
                    }
                }
            }
        }
        Generated::Secret => {
            tree.lookup_create(root, Kind::Mapping, &["data"])?;
            for (key, value) in known {
                tree.fits(base64_bytes(&value))?;
                set_data(tree, root, "data", &key, base64(&value))?;
            }
        }
    }
    let options = args.options.as_deref();
    if let Some(options) = options {
        apply_options(tree, root, options)?;
    }
    if !options.is_some_and(|options| options.disable_name_suffix_hash) {
        resource::enable(tree, root, annotation::NEEDS_HASH)?;
    }
    let mut annotations = resource::annotations(tree, root);
    annotations.insert(annotation::BEHAVIOR.to_owned(), Behavior::from_text(&args.behavior).text().to_owned());
    resource::set_annotations(tree, root, &annotations)?;
    Ok(root)
}

fn set_string(tree: &mut Tree, root: NodeId, parents: &[&str], name: &str, value: &str) -> Result<()> {
    let Some(map) = tree.lookup_create(root, Kind::Mapping, parents)? else { return Ok(()) };
    let value = tree.add(Node::string(value));
    tree.set_field(map, name, Some(value), SetOptions::default())?;
    Ok(())
}

fn set_data(tree: &mut Tree, root: NodeId, field: &str, key: &str, text: String) -> Result<()> {
    let Some(map) = tree.lookup_create(root, Kind::Mapping, &[field])? else { return Ok(()) };
    let value = tree.add(Node::string(text));
    tree.set_field(map, key, Some(value), SetOptions::default())?;
    Ok(())
}

/// Adds entries to `data` or `binaryData`, in the order of their keys.
pub(crate) fn load_data(tree: &mut Tree, root: NodeId, data: &StringMap, field: &str) -> Result<()> {
    data.iter().try_for_each(|(key, value)| set_data(tree, root, field, key, value.clone()))
}

/// In lines of 70 characters, each with its line break, unless it is shorter than one.
fn base64(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = BASE64.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    lines
}

/// How long that is.
fn base64_bytes(bytes: &[u8]) -> usize {
    bytes.len() / 3 * 4 + bytes.len() / 50 + 5
}

fn apply_options(tree: &mut Tree, root: NodeId, options: &GeneratorOptions) -> Result<()> {
    for (key, value) in options.labels.iter().flatten() {
        resource::set_label(tree, root, key, value)?;
    }
    for (key, value) in options.annotations.iter().flatten() {
        resource::set_annotation(tree, root, key, value)?;
    }
    if options.immutable {
        let value = tree.add(Node::scalar("true").tagged(Tag::Bool).styled(Style::PLAIN));
        tree.set_field(root, "immutable", Some(value), SetOptions::default())?;
    }
    Ok(())
}

/// The options of one generator with those of all generators, which fill the gaps.
pub(crate) fn merge_options(
    own: Option<Box<GeneratorOptions>>,
    global: Option<&GeneratorOptions>,
) -> Option<Box<GeneratorOptions>> {
    let Some(global) = global else { return own };
    let mut merged = own.unwrap_or_default();
    for (map, theirs) in [(&mut merged.labels, &global.labels), (&mut merged.annotations, &global.annotations)] {
        for (key, value) in theirs.iter().flatten() {
            map.get_or_insert_default().entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    merged.disable_name_suffix_hash |= global.disable_name_suffix_hash;
    merged.immutable |= global.immutable;
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_lines() {
        assert_eq!(base64(b"abc"), "YWJj");
        // 69 characters can't be: base64 comes in fours. 68 stay on one line, 72 do not.
        assert!(!base64(&[0; 51]).contains('\n'));
        let text = base64(&[0; 54]);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(text.ends_with('\n'));
    }
}
