//! `patchesStrategicMerge`.

use crate::error::{Error, Result};
use crate::loader::Loader;
use crate::merge::{self, NewItems};
use crate::read::{self, Source};
use crate::resource::{self, annotation};
use crate::resources::{Resources, copy_metadata};
use crate::session::Session;
use crate::tree::{Kind, Node, NodeId};

/// All of `patchesStrategicMerge`.
#[derive(Debug)]
pub(crate) struct StrategicMergePatches(Vec<NodeId>);

impl StrategicMergePatches {
    /// Reads the patches. Each path may also be the text of a patch.
    pub(crate) fn configure(
        session: &mut Session<'_>,
        loader: &Loader,
        paths: &[String],
        inline: &str,
    ) -> Result<Self> {
        if paths.is_empty() && inline.is_empty() {
            return Err(Error::new("empty file path and empty patch content"));
        }
        let mut patches = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            match read::resources(&mut session.tree, path.as_bytes(), Source::INLINE) {
                Ok(found) => patches.extend(found),
                Err(error) if error.is_final() => return Err(error.inside(index)),
                Err(not_inline) => {
                    let opened = loader.open(session.view, path);
                    let (file, blob) =
                        opened.map_err(|error| error.of_path_or_text(path, &not_inline).inside(index))?;
                    let found = read::resources(&mut session.tree, &blob.data, Source { file: Some(&file) });
                    patches.extend(found.map_err(|error| in_file(error, path))?);
                }
            }
        }
        if !inline.is_empty() {
            patches.extend(read::resources(&mut session.tree, inline.as_bytes(), Source::INLINE)?);
        }
        if patches.is_empty() {
            let files = paths.join(" ");
            return Err(Error::new(format!("patch appears to be empty; files=[{files}], Patch={inline}")));
        }
        Ok(Self(patches))
    }

    pub(super) fn run(&self, session: &mut Session<'_>, resources: &mut Resources) -> Result<()> {
        for patch in &self.0 {
            let id = resource::original_id(&session.tree, &session.schema, *patch);
            let index = resources.by_id(&session.tree, &session.schema, &id)?;
            let target = resources.roots().get(index).copied();
            apply_to_all(session, resources, &target.into_iter().collect::<Vec<_>>(), *patch)?;
        }
        Ok(())
    }
}

/// Says in which file the YAML is malformed, as Kustomize does.
pub(super) fn in_file(error: Error, path: &str) -> Error {
    if error.is_malformed_yaml() { error.map_message(|message| format!("{message} in File: {path}")) } else { error }
}

/// Applies a copy of the patch to each target; what is deleted leaves the list (kustomize `ResMap.ApplySmPatch`).
pub(super) fn apply_to_all(
    session: &mut Session<'_>,
    resources: &mut Resources,
    targets: &[NodeId],
    patch: NodeId,
) -> Result<()> {
    let patch_kind = resource::kind(&session.tree, patch).to_owned();
    for target in targets {
        let tree = &mut session.tree;
        let copy = tree.copy(patch)?;
        copy_metadata(tree, copy, patch)?;
        let api_version = resource::gvk(tree, *target).api_version();
        resource::set_text(tree, copy, &["kind"], &patch_kind)?;
        resource::set_text(tree, copy, &["apiVersion"], &api_version)?;
        apply_to(session, *target, copy)?;
    }
    let tree = &session.tree;
    let deleted = targets.iter().any(|target| tree.node(*target).is_nil_or_empty());
    let renames = [annotation::ALLOW_NAME_CHANGE, annotation::ALLOW_KIND_CHANGE];
    if resources.are_single() && !deleted && !renames.iter().any(|key| resource::is_enabled(tree, patch, key)) {
        // Names, kinds and namespaces are what they were.
        return Ok(());
    }
    let mut kept = resources.take();
    kept.retain(|resource| !tree.node(resource.root).is_nil_or_empty());
    resources.rebuild(tree, &session.schema, kept)?;
    resources.note_single();
    Ok(())
}

/// Applies a patch, whose nodes become part of the target (kustomize `Resource.ApplySmPatch`).
///
/// Name and kind stay, unless the patch may change them; the namespace stays always. A deleted target is left empty.
pub(super) fn apply_to(session: &mut Session<'_>, target: NodeId, patch: NodeId) -> Result<()> {
    let Session { tree, schema, .. } = session;
    let (name, namespace, kind) = (
        resource::name(tree, target).to_owned(),
        resource::namespace(tree, target).to_owned(),
        resource::kind(tree, target).to_owned(),
    );
    let name_change = resource::is_enabled(tree, patch, annotation::ALLOW_NAME_CHANGE);
    let kind_change = resource::is_enabled(tree, patch, annotation::ALLOW_KIND_CHANGE);
    if name_change || kind_change {
        resource::store_previous_id(tree, schema, target)?;
    }
    if !merge::merge(tree, schema, patch, target, NewItems::First)? {
        *tree.node_mut(target) = Node::new(Kind::None);
    }
    if tree.node(target).is_nil_or_empty() {
        return Ok(());
    }
    if !kind_change {
        resource::set_text(tree, target, &["kind"], &kind)?;
    }
    if !name_change {
        resource::set_name(tree, target, &name)?;
    }
    resource::set_namespace(tree, target, &namespace)?;
    tree.check()
}
