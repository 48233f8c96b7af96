//! `namespace`.

use std::collections::HashMap;

use go_yaml::Tag;

use super::Setter;
use crate::error::{Error, Result};
use crate::field_spec::{self, Creation, FieldSpec};
use crate::id::OwnedGvk;
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::session::Session;
use crate::text;
use crate::tree::{Kind, NodeId, Tree};

/// Which subjects of role bindings get the namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RoleBindingSubjects {
    /// The one that is named `default`.
    #[default]
    DefaultOnly,
    AllServiceAccounts,
    None,
}

impl RoleBindingSubjects {
    pub(crate) fn from_text(text: &str) -> Result<Self> {
        match text {
            "" | "defaultOnly" => Ok(Self::DefaultOnly),
            "allServiceAccounts" => Ok(Self::AllServiceAccounts),
            "none" => Ok(Self::None),
            other => Err(Error::new(format!(
                "invalid value {other:?} for setRoleBindingSubjects: must be one of \"defaultOnly\", \"none\" or \
                 \"allServiceAccounts\""
            ))),
        }
    }
}

/// Puts all resources into a namespace.
#[derive(Debug)]
pub(crate) struct Namespace {
    pub namespace: String,
    pub specs: Vec<FieldSpec>,
    /// Leave a namespace that is set already.
    pub unset_only: bool,
    pub subjects: RoleBindingSubjects,
}

impl Namespace {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        if self.namespace.is_empty() {
            return Ok(());
        }
        let Session { tree, schema, .. } = session;
        let key = |tree: &Tree, root| resource::current_id(tree, schema, root).key();
        let mut ids: HashMap<String, usize> = HashMap::new();
        for root in resources.roots() {
            *ids.entry(key(tree, root)).or_insert(0) += 1;
        }
        for root in resources.roots() {
            let generated = resource::annotation_of(tree, root, annotation::HELM_GENERATED) == Some("true");
            if generated || tree.node(root).is_nil_or_empty() {
                continue;
            }
            let old = key(tree, root);
            resource::store_previous_id(tree, schema, root)?;
            let cluster_scoped = schema.is_cluster_scoped(resource::gvk(tree, root));
            self.apply(tree, root, cluster_scoped)?;
            let new = key(tree, root);
            if let Some(count) = ids.get_mut(&old) {
                *count -= 1;
            }
            let count = ids.entry(new.clone()).or_insert(0);
            *count += 1;
            if *count != 1 {
                let same = resources.roots().into_iter().filter(|other| key(tree, *other) == new);
                let same: Vec<String> = same
                    .map(|root| {
                        text::to_value(tree, root).map_or_else(|error| error.to_string(), |value| text::to_json(&value))
                    })
                    .collect();
                return Err(Error::new(format!("namespace transformation produces ID conflict: [{}]", same.join(" ")))
                    .hint("two objects of one kind and name would be in the same namespace: rename one of them"));
            }
            tree.check()?;
        }
        Ok(())
    }

    /// Sets the namespace in one resource (kustomize `namespace.Filter`).
    pub(crate) fn apply(&self, tree: &mut Tree, root: NodeId, cluster_scoped: bool) -> Result<()> {
        let creation = Creation { kind: Kind::Scalar, tag: None };
        if !cluster_scoped {
            let spec = FieldSpec::new(OwnedGvk::default(), "metadata/namespace", true);
            field_spec::apply(tree, root, &spec, Some(&creation), &mut |tree, node| self.set(tree, node))?;
        }
        let binding = matches!(resource::kind(tree, root), "RoleBinding" | "ClusterRoleBinding");
        if binding {
            self.set_subjects(tree, root)?;
        }
        let core = resource::api_version(tree, root) == "v1";
        let creation = Creation { kind: Kind::Scalar, tag: Some(Tag::Str) };
        for spec in &self.specs {
            let of_bindings = matches!(spec.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
            let skipped = spec.path == "metadata/namespace"
                || (spec.path == "metadata/name" && !core)
                || (binding && of_bindings && spec.path == "subjects/namespace");
            if skipped {
                continue;
            }
            field_spec::apply(tree, root, spec, Some(&creation), &mut |tree, node| self.set(tree, node))
                .map_err(not_set)?;
        }
        Ok(())
    }

    fn set(&self, tree: &mut Tree, node: NodeId) -> Result<()> {
        if self.unset_only && has_value(tree, node) {
            return Ok(());
        }
        Setter::new(tree, "", &self.namespace, Some(Tag::Str)).set(tree, node)
    }

    fn set_subjects(&self, tree: &mut Tree, root: NodeId) -> Result<()> {
        let (field, wanted) = match self.subjects {
            RoleBindingSubjects::None => return Ok(()),
            RoleBindingSubjects::DefaultOnly => ("name", "default"),
            RoleBindingSubjects::AllServiceAccounts => ("kind", "ServiceAccount"),
        };
        let Some(subjects) = tree.lookup(root, &["subjects"])? else { return Ok(()) };
        let context = "setting namespace on (cluster)role binding subjects";
        for subject in tree.items(subjects).map_err(|error| error.prefix(context))? {
            self.set_subject(tree, subject, field, wanted).map_err(|error| error.prefix(context))?;
        }
        Ok(())
    }

    fn set_subject(&self, tree: &mut Tree, subject: NodeId, field: &str, wanted: &str) -> Result<()> {
        let context = format!("looking up {field} on (cluster)role binding subject");
        let Some(value) = tree.lookup(subject, &[field]).map_err(|error| error.prefix(&context))? else {
            return Ok(());
        };
        tree.expect(value, Kind::Scalar).map_err(|error| error.prefix(&context))?;
        if tree.node(value).is_null() || tree.text(value) != wanted {
            return Ok(());
        }
        match tree.lookup_create(subject, Kind::Scalar, &["namespace"])? {
            Some(namespace) => self.set(tree, namespace),
            None => Ok(()),
        }
    }
}

fn not_set(error: Error) -> Error {
    match error.is_not_scalar() {
        true => error.prefix("namespace field specs must target scalar nodes"),
        false => error.prefix("namespace transformation failed"),
    }
}

fn has_value(tree: &Tree, node: NodeId) -> bool {
    let node = tree.node(node);
    !node.is_nil_or_empty() && node.kind == Kind::Scalar && !node.value.is_empty()
}
