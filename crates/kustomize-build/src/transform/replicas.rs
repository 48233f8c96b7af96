//! `replicas`.

use go_yaml::Tag;

use super::Setter;
use crate::error::{Error, Result};
use crate::field_spec::{self, Creation, FieldSpec};
use crate::resources::Resources;
use crate::session::Session;
use crate::tree::{Kind, NodeId};

/// Sets the number of replicas of the resources that have, or had, a name.
#[derive(Debug)]
pub(crate) struct Replicas {
    pub name: String,
    pub count: i64,
    pub specs: Vec<FieldSpec>,
}

impl Replicas {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        let Session { tree, schema, .. } = session;
        let creation = Creation { kind: Kind::Scalar, tag: Some(Tag::Int) };
        let roots = resources.roots();
        let mut found = false;
        for spec in &self.specs {
            let meant = resources.by_any_id(tree, schema, &self.name, |id| spec.applies_to(id.gvk));
            let meant: Vec<NodeId> = meant.into_iter().filter_map(|index| roots.get(index).copied()).collect();
            found |= !meant.is_empty();
            for root in meant {
                field_spec::apply(tree, root, spec, Some(&creation), &mut |tree, node| {
                    Setter::new(tree, "", &self.count.to_string(), Some(Tag::Int)).set(tree, node)
                })?;
            }
        }
        if found {
            return Ok(());
        }
        let kinds: Vec<String> = self.specs.iter().map(|spec| spec.gvk.borrow().to_string()).collect();
        Err(Error::new(format!(
            "resource with name {} does not match a config with the following GVK [{}]",
            self.name,
            kinds.join(" ")
        )))
    }
}
