//! What is known of the types of resources: their fields, merge keys and scope.
//!
//! The table in `schema/` is what Kustomize 5.8.1 has built in (Kubernetes v1.21.2), whatever newer Kubernetes versions
//! say. `openapi` of a kustomization replaces it by a file. Kustomize keeps the schema in process-wide state that is
//! filled at the first need, so the moment of that need decides whether a file replaces the table or is added to it;
//! [`Schema`] follows those rules within one build.

mod custom;
mod table;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use go_yaml::Value;

use super::error::{Error, Result};
use super::id::gvk::Gvk;

pub(crate) use custom::CustomNode;
use custom::CustomSchema;
use table::{Field, Scope, Shape, Type};

/// The version of the built-in table.
const BUILTIN_VERSION: &str = "v1.21.2";

/// The schema of one build.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    custom: Option<CustomSchema>,
    version_set: bool,
    /// The definitions were loaded since the schema was last changed.
    loaded: Cell<bool>,
    /// The table is among the loaded definitions.
    table_loaded: Cell<bool>,
    /// A scope was asked for before anything was loaded: the table is then loaded beside the file.
    table_wanted: Cell<bool>,
    /// Which of the two wins where both define a type.
    file_wins: Cell<bool>,
}

/// The schema of one node of a resource.
#[derive(Debug, Clone)]
pub(crate) enum SchemaNode {
    Type(&'static Type),
    Field(&'static Field),
    Shape(&'static Shape),
    Custom(Rc<CustomNode>),
}

impl Schema {
    /// Takes the `openapi` field of a kustomization and, where it names one, the content of its file.
    ///
    /// `top` for the kustomization that is built; those below it change nothing once a schema is set.
    pub(crate) fn set(&mut self, openapi: &BTreeMap<String, String>, file: Option<&[u8]>, top: bool) -> Result<()> {
        if (self.version_set || self.custom.is_some()) && !top {
            return Ok(());
        }
        let version = openapi.get("version");
        if let Some(file) = file {
            if version.is_some() {
                return Err(Error::new("builtin version and custom schema provided, cannot use both"));
            }
            self.custom = Some(CustomSchema::parse(file)?);
            self.version_set = true;
            self.loaded.set(false);
            return Ok(());
        }
        match version.map(String::as_str) {
            None | Some("") => Ok(()),
            Some(BUILTIN_VERSION) => {
                self.version_set = true;
                self.custom = None;
                self.loaded.set(false);
                Ok(())
            }
            Some(_) => Err(Error::new("the specified OpenAPI version is not built in")),
        }
    }

    fn load(&self) {
        if self.loaded.replace(true) {
            return;
        }
        let beside = self.table_wanted.replace(false);
        if self.custom.is_some() {
            self.file_wins.set(!beside);
            if beside {
                self.table_loaded.set(true);
            }
        } else {
            self.table_loaded.set(true);
        }
    }

    /// Whether a type is known to have no namespace. Unknown types are taken to have one.
    pub(crate) fn is_cluster_scoped(&self, gvk: Gvk<'_>) -> bool {
        match table::get().scope(gvk) {
            Some(Scope::Cluster) => return true,
            Some(Scope::Namespaced) => return false,
            None => {}
        }
        if !self.loaded.get() {
            if self.custom.is_none() {
                self.table_wanted.set(!self.table_loaded.get());
                return false;
            }
            self.load();
        }
        self.custom.as_ref().is_some_and(|custom| custom.is_cluster_scoped(gvk))
    }

    /// The schema of a resource type.
    pub(crate) fn of_resource(&self, api_version: &str, kind: &str) -> Option<SchemaNode> {
        self.load();
        let gvk = Gvk::new(api_version, kind);
        let from_file = || self.custom.as_ref()?.of_resource(gvk).map(SchemaNode::Custom);
        let from_table = || table::get().of_resource(gvk).filter(|_| self.table_loaded.get()).map(SchemaNode::Type);
        if self.file_wins.get() { from_file().or_else(from_table) } else { from_table().or_else(from_file) }
    }

    /// The definition that a `$ref` names.
    fn resolve(&self, reference: &str) -> Option<SchemaNode> {
        self.load();
        let name = reference.strip_prefix("#/definitions/")?.replace("~1", "/").replace("~0", "~");
        let from_file = || self.custom.as_ref()?.definition(&name).map(SchemaNode::Custom);
        let from_table = || table::get().definition(&name).filter(|_| self.table_loaded.get()).map(SchemaNode::Type);
        if self.file_wins.get() { from_file().or_else(from_table) } else { from_table().or_else(from_file) }
    }

    /// Follows references to a definition that is not a reference itself.
    fn resolved(&self, node: SchemaNode) -> Option<SchemaNode> {
        let mut node = node;
        // A chain of references that is longer than this is a circle.
        for _ in 0..64 {
            node = match &node {
                SchemaNode::Custom(custom) => match &custom.reference {
                    Some(reference) => self.resolve(reference)?,
                    None => return Some(node),
                },
                SchemaNode::Field(Field { shape: Shape::Ref(number), .. }) | SchemaNode::Shape(Shape::Ref(number)) => {
                    SchemaNode::Type(table::get().numbered(*number)?)
                }
                SchemaNode::Type(_) | SchemaNode::Field(_) | SchemaNode::Shape(_) => return Some(node),
            };
        }
        None
    }

    /// The schema of a field; for a map, of any of its values.
    pub(crate) fn field(&self, node: &SchemaNode, name: &str) -> Option<SchemaNode> {
        let field = match node {
            SchemaNode::Type(kind) => SchemaNode::Field(kind.field(name)?),
            SchemaNode::Field(Field { shape: Shape::Map(values), .. }) | SchemaNode::Shape(Shape::Map(values)) => {
                SchemaNode::Shape(values)
            }
            SchemaNode::Field(_) | SchemaNode::Shape(_) => return None,
            SchemaNode::Custom(custom) => SchemaNode::Custom(custom.field(name)?),
        };
        self.resolved(field)
    }

    /// The schema of the items of a list.
    pub(crate) fn elements(&self, node: &SchemaNode) -> Option<SchemaNode> {
        let items = match node {
            SchemaNode::Field(Field { shape: Shape::List(items), .. }) | SchemaNode::Shape(Shape::List(items)) => {
                SchemaNode::Shape(items)
            }
            SchemaNode::Type(_) | SchemaNode::Field(_) | SchemaNode::Shape(_) => return None,
            SchemaNode::Custom(custom) => SchemaNode::Custom(custom.items.clone()?),
        };
        self.resolved(items)
    }

    /// The keys by which the items of a list are merged: none when the list is replaced as a whole, an empty list when
    /// its items are scalars.
    pub(crate) fn merge_keys(&self, node: &SchemaNode) -> Option<Vec<String>> {
        let (strategy, keys) = match node {
            SchemaNode::Type(_) | SchemaNode::Shape(_) => return None,
            SchemaNode::Field(field) => {
                (field.strategy?, field.keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
            }
            SchemaNode::Custom(custom) => (custom.strategy.as_deref()?, custom.keys.clone()),
        };
        strategy.split(',').any(|part| part == "merge").then_some(keys)
    }

    /// The schema that a comment carries: JSON with at least one key.
    pub(crate) fn of_comment(&self, value: &Value) -> Option<SchemaNode> {
        let node = CustomNode::new(value)?;
        let node = SchemaNode::Custom(node);
        Some(self.resolved(node.clone()).unwrap_or(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version, kind, path, keys.
    type Row = (&'static str, &'static str, &'static [&'static str], Option<&'static [&'static str]>);

    #[test]
    fn merge_keys_of_the_table() {
        let schema = Schema::default();
        let rows: &[Row] = &[
            ("apps/v1", "Deployment", &["spec", "template", "spec", "containers"], Some(&["name"])),
            ("v1", "Service", &["spec", "ports"], Some(&["port", "protocol"])),
            ("v1", "Pod", &["metadata", "finalizers"], Some(&[])),
            ("v1", "Pod", &["spec", "tolerations"], None),
            ("apps/v1", "Deployment", &["spec", "template", "spec", "containers", "[]", "args"], None),
            (
                "apps/v1",
                "Deployment",
                &["spec", "template", "spec", "containers", "[]", "ports"],
                Some(&["containerPort", "protocol"]),
            ),
        ];
        for (api_version, kind, path, expected) in rows {
            let start = schema.of_resource(api_version, kind).expect("a known type");
            let node = path.iter().fold(start, |node, part| {
                let next = if *part == "[]" { schema.elements(&node) } else { schema.field(&node, part) };
                next.expect("a known field")
            });
            let keys = schema.merge_keys(&node);
            let expected = expected.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
            assert_eq!(keys, expected, "{kind} {path:?}");
        }
        assert!(schema.of_resource("example.com/v1", "Web").is_none());
    }

    #[test]
    fn scopes() {
        let schema = Schema::default();
        let rows = [
            ("v1", "Namespace", true),
            ("v1", "ConfigMap", false),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", true),
            ("example.com/v1", "Web", false),
            ("v1", "NodeProxyOptions", true),
        ];
        for (api_version, kind, expected) in rows {
            assert_eq!(schema.is_cluster_scoped(Gvk::new(api_version, kind)), expected, "{kind}");
        }
    }
}
