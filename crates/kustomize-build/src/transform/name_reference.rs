//! References follow the names that were changed.

mod shape;

use std::collections::{HashMap, HashSet};

use go_yaml::Value;

use super::set_text;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::field_spec::{self, FieldSpec};
use crate::id::{Gvk, OwnedGvk, ResId};
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::schema::Schema;
use crate::session::Session;
use crate::text;
use crate::tree::{Kind, Node, NodeId, SetOptions, Tree};
use shape::Shape;

/// Writes the new names of resources into the fields that refer to them by old ones.
///
/// Whom a name means is decided by earlier names and types, then by namespace, then by the prefixes and suffixes that
/// both got. Where that leaves more than one, of different names, it is an error. So is a field of the wrong shape, whether
/// anything was renamed or not.
///
/// Reference: kustomize api/filters/nameref, api/internal/accumulator/namereferencetransformer.go. Kustomize also
/// notes on each resource who refers to it; nothing reads that, so it is left out.
pub(crate) fn fix_name_references(session: &mut Session<'_>, resources: &Resources, config: &Config) -> Result<()> {
    let index = Index::new(&session.tree, &session.schema, resources);
    let mut of_type: HashMap<OwnedGvk, Fields<'_>> = HashMap::new();
    for root in resources.roots() {
        let Session { tree, schema, .. } = session;
        let gvk = resource::original_id(tree, schema, root).gvk;
        let gvk = OwnedGvk::new(gvk.group, gvk.version, gvk.kind);
        let fields = of_type.entry(gvk).or_insert_with_key(|gvk| Fields::of(config, gvk.borrow()));
        if fields.list.is_empty() {
            continue;
        }
        let referrer = Referrer {
            root,
            schema,
            index: &index,
            binding_namespaces: binding_namespaces(tree, schema, root)?,
            cluster_scoped: resource::current_id(tree, schema, root).cluster_scoped,
        };
        check_identity(tree, root)?;
        if index.by_name.is_empty() && fields.shape.accepts(tree, root)? {
            continue;
        }
        for (spec, target) in &fields.list {
            let result = field_spec::apply_to_any(tree, root, spec, &mut |tree, node| {
                referrer.set(tree, node, spec, target.borrow())
            });
            result.map_err(|error| {
                let id = resource::current_id(tree, schema, root);
                error.prefix(format!("updating name reference in '{}' field of '{id}'", spec.path))
            })?;
        }
    }
    Ok(())
}

/// An error when a resource's own fields are read differently by two parts of Kustomize, which compares them.
///
/// One takes null and what is empty for a missing field, the other for its text; one keeps the slash of an `apiVersion`
/// without a group.
///
/// Reference: kustomize api/filters/nameref `confirmNodeMatchesReferrer`, kyaml `RNode.GetMeta`.
fn check_identity(tree: &Tree, root: NodeId) -> Result<()> {
    let field = |map: NodeId, name: &str| {
        tree.value_of(map, name).filter(|node| !tree.node(*node).is_nil_or_empty()).map_or("", |node| tree.text(node))
    };
    let gvk = resource::gvk(tree, root);
    let (read, known) = (field(root, "apiVersion"), gvk.api_version());
    if read != known {
        return Err(mismatch("APIVersion", read, &known));
    }
    let read = field(root, "kind");
    if read != gvk.kind {
        return Err(mismatch("Kind", read, gvk.kind));
    }
    let metadata = tree.value_of(root, "metadata").filter(|node| !tree.node(*node).is_nil_or_empty());
    let names =
        [("Name", "name", resource::name(tree, root)), ("Namespace", "namespace", resource::namespace(tree, root))];
    for (what, name, known) in names {
        let read = metadata.map_or("", |metadata| field(metadata, name));
        if read != known {
            return Err(mismatch(what, read, known));
        }
    }
    Ok(())
}

fn mismatch(what: &str, read: &str, known: &str) -> Error {
    Error::new(format!("node-referrerOriginal '{what}' mismatch '{read}' != '{known}'"))
        .hint("give each object an apiVersion, such as `v1` or `apps/v1`, and a kind")
}

/// The fields of a type that may have names.
struct Fields<'c> {
    /// Each with the type that is named.
    list: Vec<(&'c FieldSpec, &'c OwnedGvk)>,
    shape: Shape,
}

impl<'c> Fields<'c> {
    fn of(config: &'c Config, gvk: Gvk<'_>) -> Self {
        let references = config.name_reference.iter();
        let all = references.flat_map(|reference| reference.referrers.iter().map(|spec| (spec, &reference.gvk)));
        let list: Vec<_> = all.filter(|(spec, _)| spec.applies_to(gvk)).collect();
        let shape = Shape::of(list.iter().map(|(spec, _)| *spec));
        Self { list, shape }
    }
}

/// The namespaces of the service accounts that a role binding names: it may refer to what is in them.
fn binding_namespaces(tree: &Tree, schema: &Schema, root: NodeId) -> Result<HashSet<String>> {
    let mut namespaces = HashSet::new();
    if resource::kind(tree, root) != "RoleBinding" {
        return Ok(namespaces);
    }
    let Some(subjects) = tree.value_of(root, "subjects") else { return Ok(namespaces) };
    let Ok(Value::Sequence(subjects)) = text::decode(tree, subjects) else { return Ok(namespaces) };
    tree.work(subjects.len())?;
    for subject in subjects {
        let Value::Mapping(subject) = subject else {
            return Err(wrong_subject(tree, schema, root, "a subject that is not a mapping"));
        };
        match (subject.get("kind"), subject.get("namespace")) {
            (None, _) | (_, None) => {}
            (Some(Value::String(kind)), Some(namespace)) if kind == "ServiceAccount" => match namespace {
                Value::String(namespace) => {
                    namespaces.insert(namespace.clone());
                }
                _ => {
                    let id = resource::current_id(tree, schema, root);
                    return Err(Error::new(format!("Invalid Input: namespace is blank for resource \"{id}\"\n"))
                        .hint("set the namespace of the service account, or remove the field"));
                }
            },
            (Some(Value::String(_)), Some(_)) => {}
            (Some(_), Some(_)) => return Err(wrong_subject(tree, schema, root, "a subject whose kind is not a text")),
        }
    }
    Ok(namespaces)
}

/// What Kustomize crashes at.
fn wrong_subject(tree: &Tree, schema: &Schema, root: NodeId, what: &str) -> Error {
    Error::new(format!("{} has {what}", resource::current_id(tree, schema, root)))
}

/// Resources by what they were called.
struct Index {
    by_name: HashMap<String, Vec<NodeId>>,
    by_original_namespace: HashMap<String, Vec<NodeId>>,
}

impl Index {
    fn new(tree: &Tree, schema: &Schema, resources: &Resources) -> Self {
        let mut index = Self { by_name: HashMap::new(), by_original_namespace: HashMap::new() };
        for root in resources.roots() {
            for id in resource::previous_ids(tree, root) {
                let list = index.by_name.entry(id.name.to_owned()).or_default();
                if list.last() != Some(&root) {
                    list.push(root);
                }
            }
            let id = resource::original_id(tree, schema, root);
            index.by_original_namespace.entry(id.effective_namespace().to_owned()).or_default().push(root);
        }
        index
    }
}

struct Referrer<'r> {
    root: NodeId,
    schema: &'r Schema,
    index: &'r Index,
    binding_namespaces: HashSet<String>,
    cluster_scoped: bool,
}

/// When several resources are meant, whether it matters which.
#[derive(Clone, Copy)]
enum Same {
    Names,
    NamesAndNamespaces,
}

impl Same {
    /// Whether it does not matter which of the two is meant.
    fn are_same(self, tree: &Tree, one: NodeId, other: NodeId) -> bool {
        let are_namesakes = resource::name(tree, one) == resource::name(tree, other);
        match self {
            Self::Names => are_namesakes,
            Self::NamesAndNamespaces => {
                are_namesakes && resource::namespace(tree, one) == resource::namespace(tree, other)
            }
        }
    }
}

impl Referrer<'_> {
    fn set(&self, tree: &mut Tree, node: NodeId, spec: &FieldSpec, target: Gvk<'_>) -> Result<()> {
        let inner = tree.node(node);
        if inner.is_null() {
            return Ok(());
        }
        match inner.kind {
            Kind::Scalar => self.set_name(tree, node, spec, target),
            Kind::Mapping => self.set_mapping(tree, node, spec, target),
            Kind::Sequence => {
                for item in tree.content(node).to_vec() {
                    let inner = tree.node(item);
                    match inner.kind {
                        _ if inner.is_null() => {}
                        Kind::Scalar => self.set_name(tree, item, spec, target)?,
                        Kind::Mapping => self.set_mapping(tree, item, spec, target)?,
                        Kind::None | Kind::Sequence | Kind::Alias => {
                            let text = text::of(tree, item).unwrap_or_default();
                            return Err(Error::new(format!(
                                "{text} is expected to be either a string or a map of string"
                            )));
                        }
                    }
                }
                Ok(())
            }
            Kind::None | Kind::Alias => Err(Error::new("node must be a scalar, sequence or map")),
        }
    }

    fn set_name(&self, tree: &mut Tree, node: NodeId, spec: &FieldSpec, target: Gvk<'_>) -> Result<()> {
        let Some(referral) = self.select(tree, tree.text(node), None, spec, target, Same::Names)? else {
            return Ok(());
        };
        let name = resource::name(tree, referral);
        if name == tree.text(node) {
            return Ok(());
        }
        let name = name.to_owned();
        set_text(tree, node, &name)
    }

    fn set_mapping(&self, tree: &mut Tree, node: NodeId, spec: &FieldSpec, target: Gvk<'_>) -> Result<()> {
        let Some(name_node) = tree.get(node, "name")? else {
            return Err(Error::new("path config error; no 'name' field in node"));
        };
        let namespace = tree.get(node, "namespace")?.map(|namespace| tree.text(namespace));
        let old_name = tree.text(name_node);
        let Some(referral) = self.select(tree, old_name, namespace, spec, target, Same::NamesAndNamespaces)? else {
            return Ok(());
        };
        let (name, namespace) = (resource::name(tree, referral), resource::namespace(tree, referral));
        if name == old_name && namespace.is_empty() {
            return Ok(());
        }
        let fields = [("name", name.to_owned()), ("namespace", namespace.to_owned())];
        for (field, value) in fields.into_iter().filter(|(field, value)| *field == "name" || !value.is_empty()) {
            let value = tree.add(Node::scalar(value));
            tree.set_field(node, field, Some(value), SetOptions::default())?;
        }
        Ok(())
    }

    /// The resource that a name means: none when it means none of ours.
    fn select(
        &self,
        tree: &Tree,
        old_name: &str,
        namespace: Option<&str>,
        spec: &FieldSpec,
        target: Gvk<'_>,
        same: Same,
    ) -> Result<Option<NodeId>> {
        let Some(named) = self.index.by_name.get(old_name) else { return Ok(None) };
        let role = self.role_reference(tree, spec);
        let in_namespace = namespace.map(|namespace| self.namespace_test(tree, namespace));
        let mut candidates: Vec<NodeId> = Vec::new();
        for root in named {
            tree.work(4)?;
            let previous = resource::previous_ids(tree, *root);
            let was = |gvk: Gvk<'_>| previous.iter().any(|id| id.gvk.is_selected(gvk));
            let meant = self.is_reachable(tree, *root)
                && in_namespace.as_ref().is_none_or(|test| test.accepts(tree, self.schema, *root))
                && was(target)
                && role.is_none_or(was)
                && self.is_in_sight(tree, *root);
            if meant {
                candidates.push(*root);
            }
        }
        if let [only] = candidates[..] {
            return Ok(Some(only));
        }
        candidates.retain(|root| self.has_same_affixes(tree, *root, true));
        if candidates.len() > 1 {
            candidates.retain(|root| self.has_same_affixes(tree, *root, false));
        }
        let Some(first) = candidates.first().copied() else { return Ok(None) };
        if candidates.iter().all(|root| same.are_same(tree, *root, first)) {
            return Ok(Some(first));
        }
        let ids: Vec<String> =
            candidates.iter().map(|root| resource::current_id(tree, self.schema, *root).to_string()).collect();
        Err(Error::new(format!("found multiple possible referrals: {}", ids.join(", ")))
            .hint("give the resources different names, or set the namespace if the reference can have one"))
    }

    /// Whether the referrer could refer to a resource at all: it is in its namespace, or in none.
    fn is_reachable(&self, tree: &Tree, root: NodeId) -> bool {
        if self.cluster_scoped {
            return true;
        }
        let id = resource::current_id(tree, self.schema, root);
        id.cluster_scoped
            || id.same_namespace(&self.id(tree))
            || self.binding_namespaces.contains(resource::namespace(tree, root))
    }

    /// Whether the referrer sees a resource: it is in its namespace, in none, or a service account of any namespace.
    fn is_in_sight(&self, tree: &Tree, root: NodeId) -> bool {
        let id = resource::current_id(tree, self.schema, root);
        self.cluster_scoped
            || id.cluster_scoped
            || resource::kind(tree, root) == "ServiceAccount"
            || id.same_namespace(&self.id(tree))
    }

    fn id<'t>(&self, tree: &'t Tree) -> ResId<'t> {
        resource::current_id(tree, self.schema, self.root)
    }

    /// The type that a role binding's `roleRef` names, for the field that refers to it.
    fn role_reference<'t>(&self, tree: &'t Tree, spec: &FieldSpec) -> Option<Gvk<'t>> {
        if !spec.path.ends_with("roleRef/name") {
            return None;
        }
        let role = tree.value_of(self.root, "roleRef")?;
        let text = |field| tree.value_of(role, field).map(|node| tree.text(node));
        Some(Gvk { group: text("apiGroup")?, version: "", kind: text("kind")? })
    }

    /// Which candidates a reference with a namespace means.
    fn namespace_test(&self, tree: &Tree, namespace: &str) -> NamespaceTest {
        let originals = self.index.by_original_namespace.get(namespace);
        let known = namespace != crate::id::CLUSTER
            && originals.is_some_and(|roots| roots.iter().any(|root| self.is_reachable(tree, *root)));
        NamespaceTest { namespace: namespace.to_owned(), original: known }
    }

    fn has_same_affixes(&self, tree: &Tree, root: NodeId, allow_none: bool) -> bool {
        [annotation::PREFIXES, annotation::SUFFIXES].into_iter().all(|key| {
            let (theirs, own) = (resource::csv(tree, root, key), resource::csv(tree, self.root, key));
            (allow_none && (theirs.is_empty() || own.is_empty())) || same_ending(&theirs, &own)
        })
    }
}

/// Whether the shorter list is the end of the longer one. An empty list is the end of an empty one only.
fn same_ending(one: &[&str], other: &[&str]) -> bool {
    let (short, long) = if one.len() > other.len() { (other, one) } else { (one, other) };
    if short.is_empty() { long.is_empty() } else { long.ends_with(short) }
}

struct NamespaceTest {
    namespace: String,
    /// There are resources that were read in this namespace: only they are meant.
    original: bool,
}

impl NamespaceTest {
    fn accepts(&self, tree: &Tree, schema: &Schema, root: NodeId) -> bool {
        let id = if self.original {
            resource::original_id(tree, schema, root)
        } else {
            resource::current_id(tree, schema, root)
        };
        let namespace = id.effective_namespace();
        namespace == self.namespace && namespace != crate::id::CLUSTER
    }
}
