//! `namePrefix` and `nameSuffix`.

use go_yaml::Tag;

use super::set_text;
use crate::error::Result;
use crate::field_spec::{self, Creation, FieldSpec};
use crate::id::Gvk;
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::session::Session;
use crate::tree::{Kind, NodeId, Tree};

/// On which side of a name something is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Affix {
    Prefix,
    Suffix,
}

/// Puts a text before or behind the names of resources.
#[derive(Debug)]
pub(crate) struct NameAffix {
    pub side: Affix,
    pub text: String,
    pub specs: Vec<FieldSpec>,
}

/// Kinds whose names have a meaning of their own.
fn is_fixed(gvk: Gvk<'_>) -> bool {
    matches!(gvk.kind, "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}

impl NameAffix {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        let Session { tree, schema, .. } = session;
        let creation = Creation { kind: Kind::Scalar, tag: Some(Tag::Str) };
        let note = match self.side {
            Affix::Prefix => annotation::PREFIXES,
            Affix::Suffix => annotation::SUFFIXES,
        };
        for root in resources.roots() {
            let id = resource::original_id(tree, schema, root);
            if is_fixed(id.gvk) {
                continue;
            }
            let meant: Vec<&FieldSpec> = self.specs.iter().filter(|spec| spec.applies_to(id.gvk)).collect();
            for spec in meant {
                // Noted even if a later spec changes nothing: name references compare these notes.
                if spec.path == "metadata/name" {
                    resource::append_csv(tree, root, note, &self.text)?;
                    if !self.text.is_empty() {
                        resource::store_previous_id(tree, schema, root)?;
                    }
                }
                field_spec::apply(tree, root, spec, Some(&creation), &mut |tree, node| self.add_to(tree, node))?;
            }
        }
        Ok(())
    }

    fn add_to(&self, tree: &mut Tree, name: NodeId) -> Result<()> {
        let text = match self.side {
            Affix::Prefix => format!("{}{}", self.text, tree.text(name)),
            Affix::Suffix => format!("{}{}", tree.text(name), self.text),
        };
        set_text(tree, name, &text)
    }
}
