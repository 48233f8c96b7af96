//! Where images are in resources.

use crate::error::Result;
use crate::field_spec::{self, FieldSpec};
use crate::resource;
use crate::resources::Resources;
use crate::tree::{Kind, NodeId, Tree, check_depth};

/// Where images are in all resources, by some field specs. Changing images changes none of these places, so that those
/// who change one after the other look for them once.
#[derive(Debug)]
pub(crate) struct Places {
    pub(super) specs: Vec<FieldSpec>,
    pub(super) nodes: Vec<NodeId>,
}

impl Places {
    pub(super) fn find(tree: &mut Tree, resources: &Resources, specs: &[FieldSpec]) -> Result<Self> {
        let is_definition = |tree: &Tree, root| resource::kind(tree, root) == "CustomResourceDefinition";
        let mut places = Self { specs: specs.to_vec(), nodes: Vec::new() };
        for root in resources.roots() {
            if !is_definition(tree, root) {
                places.in_containers(tree, root, 0)?;
            }
        }
        for root in resources.roots() {
            if !is_definition(tree, root) {
                field_spec::apply_all(tree, root, specs, None, &mut |tree, node| places.add(tree, node))?;
            }
        }
        Ok(places)
    }

    fn add(&mut self, tree: &Tree, node: NodeId) -> Result<()> {
        tree.expect(node, Kind::Scalar)?;
        self.nodes.push(node);
        Ok(())
    }

    /// Every `image` of every `containers` and `initContainers`, wherever they are.
    fn in_containers(&mut self, tree: &Tree, id: NodeId, depth: usize) -> Result<()> {
        check_depth(depth)?;
        match tree.kind(id) {
            Kind::Mapping => {
                tree.work(1 + tree.content(id).len() / 2)?;
                for (key, value) in tree.pairs(id) {
                    self.in_containers(tree, value, depth + 1)?;
                    if matches!(tree.text(key), "containers" | "initContainers") && tree.kind(value) == Kind::Sequence {
                        for item in tree.items(value)? {
                            if let Some(image) = tree.get(item, "image")? {
                                tree.expect(image, Kind::Scalar)?;
                                self.nodes.push(image);
                            }
                        }
                    }
                }
            }
            Kind::Sequence => {
                for item in tree.items(id)? {
                    self.in_containers(tree, item, depth + 1)?;
                }
            }
            Kind::None | Kind::Scalar | Kind::Alias => {}
        }
        Ok(())
    }
}
