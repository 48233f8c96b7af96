//! `ValueAddTransformer`.

use go_std::path;

use super::namespace::{Namespace, RoleBindingSubjects};
use super::set_text;
use crate::error::{Error, Result};
use crate::resource;
use crate::resources::Resources;
use crate::selector::Selector;
use crate::session::Session;
use crate::tree::{Kind, NodeId, Tree};

/// Writes one value into fields, or into the parts of file paths.
#[derive(Debug)]
pub(crate) struct ValueAdd {
    pub value: String,
    pub targets: Vec<ValueAddTarget>,
}

#[derive(Debug)]
pub(crate) struct ValueAddTarget {
    pub selector: Option<Selector>,
    pub field_path: String,
    /// 1-based place in a file path; 0 to replace the field.
    pub file_path_position: usize,
}

impl ValueAdd {
    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        for target in &self.targets {
            let roots = match &target.selector {
                Some(selector) => resources.select(&session.tree, &session.schema, selector)?,
                None => resources.roots(),
            };
            for root in roots {
                self.apply(session, root, target)?;
            }
        }
        Ok(())
    }

    fn apply(&self, session: &mut Session<'_>, root: NodeId, target: &ValueAddTarget) -> Result<()> {
        let Session { tree, schema, .. } = session;
        if target.field_path == "metadata/namespace" {
            let namespace = Namespace {
                namespace: self.value.clone(),
                specs: Vec::new(),
                unset_only: false,
                subjects: RoleBindingSubjects::default(),
            };
            let cluster_scoped = schema.is_cluster_scoped(resource::gvk(tree, root));
            return namespace.apply(tree, root, cluster_scoped);
        }
        self.set(tree, root, target)
    }

    fn set(&self, tree: &mut Tree, root: NodeId, target: &ValueAddTarget) -> Result<()> {
        let mut fields: Vec<String> = Vec::new();
        for part in target.field_path.split('/') {
            match fields.last_mut().filter(|last| last.ends_with('\\')) {
                Some(last) => {
                    last.pop();
                    last.push('/');
                    last.push_str(part);
                }
                None => fields.push(part.to_owned()),
            }
        }
        let Some(field) = tree.lookup_create(root, Kind::Scalar, &fields)? else { return Ok(()) };
        tree.expect(field, Kind::Scalar)?;
        let value = match target.file_path_position.checked_sub(1) {
            Some(position) => insert_part(tree.text(field), position, &self.value),
            None => self.value.clone(),
        };
        if value.is_empty() {
            return Err(Error::new("the value to add is empty"));
        }
        set_text(tree, field, &value)
    }
}

/// Puts a part into a file path; an absolute path stays one. Too far means the end.
fn insert_part(path: &str, position: usize, part: &str) -> String {
    if part.is_empty() {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    let joined = path::clean(&parts.join("/"));
    if absolute { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::insert_part;

    #[test]
    fn file_paths() {
        let rows = [
            ("", 0, "PEACH"),
            ("/", 0, "/PEACH"),
            ("pie", 0, "PEACH/pie"),
            ("/pie", 0, "/PEACH/pie"),
            ("raw", 1, "raw/PEACH"),
            ("/raw", 9, "/raw/PEACH"),
            ("a/nice/warm/pie", 3, "a/nice/warm/PEACH/pie"),
            ("/a/nice/warm/pie", 3, "/a/nice/warm/PEACH/pie"),
        ];
        for (path, position, expected) in rows {
            assert_eq!(insert_part(path, position, "PEACH"), expected, "{path:?} {position}");
        }
    }
}
