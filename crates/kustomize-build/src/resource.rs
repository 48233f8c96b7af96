//! One Kubernetes object, and what Kustomize notes on it while it builds.
//!
//! The notes are annotations on the object itself, as in Kustomize: patches and selectors see them, and a patch that
//! replaces all annotations loses them (so a generated ConfigMap then gets no hash). They are removed at the end.

use std::collections::BTreeMap;

use super::error::{Error, Result};
use super::id::{Gvk, ResId};
use super::schema::Schema;
use super::tree::{Kind, Node, NodeId, SetOptions, Style, Tree};

/// The annotations that Kustomize keeps for itself.
pub(crate) mod annotation {
    pub(crate) const PREVIOUS_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
    pub(crate) const PREVIOUS_NAMES: &str = "internal.config.kubernetes.io/previousNames";
    pub(crate) const PREVIOUS_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
    pub(crate) const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
    pub(crate) const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
    pub(crate) const REF_BY: &str = "internal.config.kubernetes.io/refBy";
    pub(crate) const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
    pub(crate) const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";
    pub(crate) const ALLOW_NAME_CHANGE: &str = "internal.config.kubernetes.io/allowNameChange";
    pub(crate) const ALLOW_KIND_CHANGE: &str = "internal.config.kubernetes.io/allowKindChange";
    pub(crate) const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";
    pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
    pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
    pub(crate) const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

    pub(crate) const ENABLED: &str = "enabled";

    /// Those that are gone from the output.
    pub(crate) const BUILD: [&str; 19] = [
        PREVIOUS_KINDS,
        PREVIOUS_NAMES,
        PREFIXES,
        SUFFIXES,
        PREVIOUS_NAMESPACES,
        ALLOW_NAME_CHANGE,
        ALLOW_KIND_CHANGE,
        REF_BY,
        BEHAVIOR,
        NEEDS_HASH,
        "internal.config.kubernetes.io/path",
        "internal.config.kubernetes.io/index",
        "internal.config.kubernetes.io/seqindent",
        "internal.config.kubernetes.io/id",
        "internal.config.kubernetes.io/annotations-migration-resource-id",
        "config.kubernetes.io/path",
        "config.kubernetes.io/index",
        "config.k8s.io/id",
        HELM_GENERATED,
    ];

    /// Whether a JSON patch cannot remove it.
    pub(crate) fn is_internal(key: &str) -> bool {
        key.starts_with("internal.config.kubernetes.io/")
            || ["config.kubernetes.io/path", "config.kubernetes.io/index", "config.k8s.io/id"].contains(&key)
    }
}

pub(crate) type StringMap = BTreeMap<String, String>;

fn child(tree: &Tree, id: NodeId, name: &str) -> Option<NodeId> {
    let at = tree.position(id, name)?;
    tree.pair(id, at).map(|(_, value)| value)
}

pub(crate) fn kind(tree: &Tree, root: NodeId) -> &str {
    child(tree, root, "kind").map_or("", |node| tree.text(node))
}

pub(crate) fn api_version(tree: &Tree, root: NodeId) -> &str {
    child(tree, root, "apiVersion").map_or("", |node| tree.text(node))
}

fn metadata(tree: &Tree, root: NodeId) -> Option<NodeId> {
    child(tree, root, "metadata").filter(|node| !tree.node(*node).is_nil_or_empty())
}

fn metadata_text<'t>(tree: &'t Tree, root: NodeId, name: &str) -> &'t str {
    metadata(tree, root)
        .and_then(|metadata| child(tree, metadata, name))
        .filter(|node| !tree.node(*node).is_nil_or_empty())
        .map_or("", |node| tree.text(node))
}

pub(crate) fn name(tree: &Tree, root: NodeId) -> &str {
    metadata_text(tree, root, "name")
}

pub(crate) fn namespace(tree: &Tree, root: NodeId) -> &str {
    metadata_text(tree, root, "namespace")
}

pub(crate) fn gvk(tree: &Tree, root: NodeId) -> Gvk<'_> {
    Gvk::new(api_version(tree, root), kind(tree, root))
}

/// The id that the object has now.
pub(crate) fn current_id<'t>(tree: &'t Tree, schema: &Schema, root: NodeId) -> ResId<'t> {
    ResId::new(gvk(tree, root), name(tree, root), namespace(tree, root), schema)
}

/// The ids that the object had before it was renamed, oldest first.
pub(crate) fn previous_ids(tree: &Tree, root: NodeId) -> Vec<ResId<'_>> {
    let Some(names) = annotation_of(tree, root, annotation::PREVIOUS_NAMES) else { return Vec::new() };
    let namespaces = annotation_of(tree, root, annotation::PREVIOUS_NAMESPACES).unwrap_or("");
    let kinds = annotation_of(tree, root, annotation::PREVIOUS_KINDS).unwrap_or("");
    let api_version = api_version(tree, root);
    let ids = names.split(',').zip(namespaces.split(',')).zip(kinds.split(','));
    ids.map(|((name, namespace), kind)| ResId::unscoped(Gvk::new(api_version, kind), name, namespace)).collect()
}

/// Whether one of its earlier ids has this name.
pub(crate) fn had_name(tree: &Tree, root: NodeId, name: &str) -> bool {
    annotation_of(tree, root, annotation::PREVIOUS_NAMES).is_some_and(|names| names.split(',').any(|had| had == name))
}

/// The id that the object was read with.
pub(crate) fn original_id<'t>(tree: &'t Tree, schema: &Schema, root: NodeId) -> ResId<'t> {
    let first = annotation_of(tree, root, annotation::PREVIOUS_NAMES).is_some();
    let first = first.then(|| previous_ids(tree, root).into_iter().next()).flatten();
    first.unwrap_or_else(|| current_id(tree, schema, root))
}

/// The id it has now, without regard to scope, and all earlier ones (kustomize `MakeResIds`).
pub(crate) fn all_ids(tree: &Tree, root: NodeId) -> Vec<ResId<'_>> {
    let current = ResId::unscoped(gvk(tree, root), name(tree, root), namespace(tree, root));
    [current].into_iter().chain(previous_ids(tree, root)).collect()
}

/// An error when the notes of earlier ids do not fit together: they are lists joined by commas.
pub(crate) fn check_previous_ids(tree: &Tree, root: NodeId) -> Result<()> {
    let count = |key| annotation_of(tree, root, key).map_or(1, |text| text.split(',').count());
    let names = count(annotation::PREVIOUS_NAMES);
    let has_names = annotation_of(tree, root, annotation::PREVIOUS_NAMES).is_some();
    if has_names && (names != count(annotation::PREVIOUS_NAMESPACES) || names != count(annotation::PREVIOUS_KINDS)) {
        return Err(Error::new(
            "number of previous names, number of previous namespaces, number of previous kinds not equal",
        ));
    }
    Ok(())
}

/// Notes the id that the object has now, before it is changed.
pub(crate) fn store_previous_id(tree: &mut Tree, schema: &Schema, root: NodeId) -> Result<()> {
    let id = current_id(tree, schema, root);
    let (namespace, name, kind) = (id.effective_namespace().to_owned(), id.name.to_owned(), id.gvk.kind.to_owned());
    append_csv(tree, root, annotation::PREVIOUS_NAMES, &name)?;
    append_csv(tree, root, annotation::PREVIOUS_NAMESPACES, &namespace)?;
    append_csv(tree, root, annotation::PREVIOUS_KINDS, &kind)?;
    check_previous_ids(tree, root)
}

/// Adds an entry to a list in an annotation; empty ones are left out.
pub(crate) fn append_csv(tree: &mut Tree, root: NodeId, key: &str, value: &str) -> Result<()> {
    if value.is_empty() {
        return Ok(());
    }
    let joined = match annotation_of(tree, root, key) {
        Some(old) => format!("{old},{value}"),
        None => value.to_owned(),
    };
    set_annotation(tree, root, key, &joined)
}

/// The entries of a list in an annotation.
pub(crate) fn csv<'t>(tree: &'t Tree, root: NodeId, key: &str) -> Vec<&'t str> {
    annotation_of(tree, root, key).map_or_else(Vec::new, |text| text.split(',').collect())
}

/// The text of one annotation, whatever its type.
pub(crate) fn annotation_of<'t>(tree: &'t Tree, root: NodeId, key: &str) -> Option<&'t str> {
    let annotations = metadata(tree, root).and_then(|metadata| child(tree, metadata, "annotations"))?;
    child(tree, annotations, key).map(|node| tree.text(node))
}

pub(crate) fn is_enabled(tree: &Tree, root: NodeId, key: &str) -> bool {
    annotation_of(tree, root, key) == Some(annotation::ENABLED)
}

pub(crate) fn enable(tree: &mut Tree, root: NodeId, key: &str) -> Result<()> {
    let mut annotations = annotations(tree, root);
    annotations.insert(key.to_owned(), annotation::ENABLED.to_owned());
    set_annotations(tree, root, &annotations)
}

pub(crate) fn annotations(tree: &Tree, root: NodeId) -> StringMap {
    metadata_map(tree, root, "annotations")
}

pub(crate) fn labels(tree: &Tree, root: NodeId) -> StringMap {
    metadata_map(tree, root, "labels")
}

fn metadata_map(tree: &Tree, root: NodeId, field: &str) -> StringMap {
    let Some(map) = metadata(tree, root).and_then(|metadata| child(tree, metadata, field)) else {
        return StringMap::new();
    };
    tree.pairs(map).map(|(key, value)| (tree.text(key).to_owned(), tree.text(value).to_owned())).collect()
}

/// Replaces all annotations by strings; removes the field when there are none.
///
/// An empty key is an error, which leaves an empty field behind (kyaml `setMapInMetadata`).
pub(crate) fn set_annotations(tree: &mut Tree, root: NodeId, map: &StringMap) -> Result<()> {
    set_metadata_map(tree, root, "annotations", map)
}

/// Replaces all labels by strings; removes the field when there are none.
pub(crate) fn set_labels(tree: &mut Tree, root: NodeId, map: &StringMap) -> Result<()> {
    set_metadata_map(tree, root, "labels", map)
}

fn set_metadata_map(tree: &mut Tree, root: NodeId, field: &str, map: &StringMap) -> Result<()> {
    let Some(metadata) = tree.lookup_create(root, Kind::Mapping, &["metadata"])? else { return Ok(()) };
    tree.clear(metadata, field)?;
    if map.is_empty() {
        return Ok(());
    }
    let Some(target) = tree.lookup_create(metadata, Kind::Mapping, &[field])? else { return Ok(()) };
    if map.contains_key("") {
        return Err(Error::new(format!("metadata.{field} has an empty key")).hint("give the key a name, or remove it"));
    }
    for (key, value) in map {
        let value = tree.add(Node::string(value.as_str()));
        tree.set_field(target, key, Some(value), SetOptions::default())?;
    }
    Ok(())
}

/// Sets one annotation and leaves the others as they are (kyaml `SetAnnotation`).
pub(crate) fn set_annotation(tree: &mut Tree, root: NodeId, key: &str, value: &str) -> Result<()> {
    if let Some(metadata) = tree.lookup(root, &["metadata"])? {
        tree.clear_if_empty(metadata, "annotations")?;
    }
    tree.clear_if_empty(root, "metadata")?;
    set_metadata_entry(tree, root, "annotations", key, value)
}

/// Sets one label and leaves the others as they are (kyaml `SetLabel`).
pub(crate) fn set_label(tree: &mut Tree, root: NodeId, key: &str, value: &str) -> Result<()> {
    set_metadata_entry(tree, root, "labels", key, value)
}

fn set_metadata_entry(tree: &mut Tree, root: NodeId, field: &str, key: &str, value: &str) -> Result<()> {
    let Some(map) = tree.lookup_create(root, Kind::Mapping, &["metadata", field])? else { return Ok(()) };
    let value = tree.add(Node::string(value).styled(Style::SINGLE));
    tree.set_field(map, key, Some(value), SetOptions::default())?;
    Ok(())
}

/// Sets a field to a scalar without a tag, as kyaml's setters of kind, name and namespace do.
pub(crate) fn set_text(tree: &mut Tree, root: NodeId, path: &[&str], value: &str) -> Result<()> {
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    let Some(map) = tree.lookup_create(root, Kind::Mapping, parents)? else { return Ok(()) };
    let value = tree.add(Node::scalar(value));
    tree.set_field(map, last, Some(value), SetOptions::default())?;
    Ok(())
}

pub(crate) fn set_name(tree: &mut Tree, root: NodeId, name: &str) -> Result<()> {
    set_text(tree, root, &["metadata", "name"], name)
}

/// Sets the namespace, or removes the field when it is empty.
pub(crate) fn set_namespace(tree: &mut Tree, root: NodeId, namespace: &str) -> Result<()> {
    if !namespace.is_empty() {
        return set_text(tree, root, &["metadata", "namespace"], namespace);
    }
    if let Some(metadata) = tree.lookup(root, &["metadata"])? {
        tree.clear(metadata, "namespace")?;
    }
    Ok(())
}

/// Whether Kustomize takes it for an object: it has a kind and, unless the kind ends with `List`, a name.
pub(crate) fn check_metadata(tree: &Tree, root: NodeId) -> Result<()> {
    let node = tree.node(root);
    if node.is_null() {
        return Err(missing("kind", tree, root));
    }
    let kind = field_text(tree, root, "kind");
    if kind.is_empty() {
        if field_text(tree, root, "apiVersion").is_empty() && metadata(tree, root).is_none() {
            return Err(Error::new("missing Resource metadata"));
        }
        return Err(missing("kind", tree, root));
    }
    if !kind.ends_with("List") && name(tree, root).is_empty() {
        return Err(missing("metadata.name", tree, root));
    }
    Ok(())
}

/// The text of a field that is not empty; nothing of what is no mapping.
fn field_text<'t>(tree: &'t Tree, root: NodeId, name: &str) -> &'t str {
    tree.value_of(root, name).filter(|node| !tree.node(*node).is_nil_or_empty()).map_or("", |node| tree.text(node))
}

fn missing(what: &str, tree: &Tree, root: NodeId) -> Error {
    let map = |map: StringMap| {
        let entries: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        format!("map[{}]", entries.join(" "))
    };
    let (kind, api_version) = (field_text(tree, root, "kind"), field_text(tree, root, "apiVersion"));
    let (name, namespace) = (name(tree, root), namespace(tree, root));
    let (labels, annotations) = (map(labels(tree, root)), map(annotations(tree, root)));
    Error::new(format!(
        "missing {what} in object {{{{{api_version} {kind}}} {{{{{name} {namespace}}} {labels} {annotations}}}}}"
    ))
}
