//! `patchesJson6902`.

use go_std::json::UnmarshalTypeError;
use go_yaml::Value;

use crate::error::{Error, Result};
use crate::json_patch::JsonPatch;
use crate::kustomization::Patch;
use crate::loader::Loader;
use crate::resource::{self, StringMap, annotation};
use crate::resources::Resources;
use crate::selector::Selector;
use crate::session::Session;
use crate::text;
use crate::tree::{NodeId, Tree};

/// One entry of `patchesJson6902`.
#[derive(Debug)]
pub(crate) struct JsonPatches {
    patch: JsonPatch,
    target: Selector,
}

impl JsonPatches {
    /// Reads a patch: `patch.patch` is the text of its operations.
    pub(crate) fn configure(session: &mut Session<'_>, loader: &Loader, patch: &Patch) -> Result<Self> {
        let target = patch.target.as_deref().filter(|target| !target.name.is_empty());
        let Some(target) = target else { return Err(Error::new("must specify the target name")) };
        let operations = match (patch.path.as_str(), patch.patch.as_str()) {
            ("", "") => return Err(Error::new("empty file path and empty jsonOp")),
            ("", operations) => operations.to_owned(),
            (path, "") => {
                let blob = loader.load(session.view, path).map_err(|error| error.inside("path"))?;
                if blob.data.is_empty() {
                    return Err(Error::new(format!("patch file '{path}' empty seems to be empty")));
                }
                String::from_utf8_lossy(&blob.data).into_owned()
            }
            _ => return Err(Error::new("must specify a file path or jsonOp, not both")),
        };
        let field = if patch.path.is_empty() { "patch" } else { "path" };
        let json = if operations.starts_with('[') {
            operations
        } else {
            text::to_json(&text::value(operations.as_bytes()).map_err(|error| error.inside(field))?)
        };
        let decoded =
            JsonPatch::parse_json(&json).map_err(|error| error.prefix(format!("decoding {json}")).inside(field))?;
        if decoded.is_empty() {
            return Err(Error::new(format!("patch appears to be empty; file={}, JsonOp={json}", patch.path)));
        }
        Ok(Self { patch: decoded, target: Selector::from(target) })
    }

    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        for root in resources.select(&session.tree, &session.schema, &self.target)? {
            let tree = &mut session.tree;
            let internal = internal_annotations(tree, root);
            apply(tree, root, &self.patch)?;
            restore(tree, root, internal)?;
            tree.check()?;
        }
        Ok(())
    }
}

/// Applies the JSON patch of an entry of `patches` to a resource.
pub(super) fn apply_of_patches(tree: &mut Tree, root: NodeId, patch: &JsonPatch) -> Result<()> {
    let internal = internal_annotations(tree, root);
    apply(tree, root, patch)?;
    // Kustomize looks at no error here, so an annotation with an empty key loses all annotations. It is a fault, but what
    // Argo CD deploys.
    let _ = restore(tree, root, internal);
    tree.check()
}

/// Kustomize's own annotations, which survive a JSON patch.
fn internal_annotations(tree: &Tree, root: NodeId) -> StringMap {
    let mut internal = resource::annotations(tree, root);
    internal.retain(|key, _| annotation::is_internal(key));
    internal
}

fn restore(tree: &mut Tree, root: NodeId, internal: StringMap) -> Result<()> {
    let mut annotations = resource::annotations(tree, root);
    annotations.extend(internal);
    resource::set_annotations(tree, root, &annotations)
}

fn apply(tree: &mut Tree, root: NodeId, patch: &JsonPatch) -> Result<()> {
    let needs_hash = resource::is_enabled(tree, root, annotation::NEEDS_HASH);
    let mut document = text::to_value(tree, root)?;
    patch.apply(&mut document, &|work| tree.work(work))?;
    if !matches!(document, Value::Mapping(_)) {
        return Err(Error::new(UnmarshalTypeError::of_value("array", "map[string]interface {}").to_string()));
    }
    let patched = text::from_json(tree, &document);
    // Kustomize writes the document and reads it again, and the hash of some kinds sees the places of what it reads.
    let patched = if needs_hash { text::written_and_read(tree, patched)? } else { patched };
    tree.assign(root, patched);
    Ok(())
}
