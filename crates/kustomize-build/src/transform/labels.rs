//! `labels`, `commonLabels` and `commonAnnotations`.

use go_yaml::Tag;

use super::Setter;
use crate::error::Result;
use crate::field_spec::{self, Creation, FieldSpec};
use crate::resource::StringMap;
use crate::resources::Resources;
use crate::session::Session;
use crate::tree::Kind;

/// Adds labels to metadata, and to selectors and templates where the field specs say so.
#[derive(Debug)]
pub(crate) struct Labels {
    pub labels: StringMap,
    pub specs: Vec<FieldSpec>,
}

/// Adds annotations to metadata and templates.
#[derive(Debug)]
pub(crate) struct Annotations {
    pub annotations: StringMap,
    pub specs: Vec<FieldSpec>,
}

impl Labels {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        set_entries(session, resources, &self.labels, &self.specs)
    }
}

impl Annotations {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        set_entries(session, resources, &self.annotations, &self.specs)
    }
}

/// Sets each entry in every mapping that the specs lead to. The places of one resource share the value's node.
fn set_entries(
    session: &mut Session<'_>,
    resources: &Resources,
    entries: &StringMap,
    specs: &[FieldSpec],
) -> Result<()> {
    let creation = Creation { kind: Kind::Mapping, tag: Some(Tag::Map) };
    let tree = &mut session.tree;
    for root in resources.roots() {
        for (key, value) in entries {
            let setter = Setter::new(tree, key, value, Some(Tag::Str));
            field_spec::apply_all(tree, root, specs, Some(&creation), &mut |tree, node| setter.set(tree, node))?;
        }
        tree.check()?;
    }
    Ok(())
}
