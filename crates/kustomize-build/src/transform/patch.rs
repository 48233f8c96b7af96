//! `patches`.

use go_yaml as yaml;

use super::strategic_merge::{apply_to, apply_to_all};
use crate::error::{Error, Result};
use crate::json_patch::JsonPatch;
use crate::kustomization::Patch;
use crate::loader::Loader;
use crate::place;
use crate::read::{self, Source};
use crate::resource::{self, annotation};
use crate::resources::Resources;
use crate::selector::Selector;
use crate::session::Session;
use crate::tree::NodeId;
use crate::version::Difference;

/// One entry of `patches`.
#[derive(Debug)]
pub(crate) struct Patches {
    kind: PatchKind,
    target: Option<Selector>,
    /// How errors name the patch.
    source: String,
}

#[derive(Debug)]
enum PatchKind {
    StrategicMerge(Vec<NodeId>),
    Json(JsonPatch),
}

impl Patches {
    /// Reads a patch and finds out of which sort it is. `written` is the entry as text, for errors.
    pub(crate) fn configure(
        session: &mut Session<'_>,
        loader: &Loader,
        patch: &Patch,
        written: impl Fn() -> String,
    ) -> Result<Self> {
        let inline = patch.patch.trim();
        let (content, source, file) = match (inline, patch.path.as_str()) {
            ("", "") => return Err(Error::new(format!("must specify one of patch and path in\n{}", written()))),
            (inline, "") => (inline.as_bytes().to_vec(), format!("[patch: {}]", yaml::quote(inline)), None),
            ("", path) => {
                let (file, blob) = loader.open(session.view, path).map_err(|error| {
                    error.prefix(format!("failed to get the patch file from path({path})")).inside("path")
                })?;
                (blob.data.to_vec(), format!("[path: {}]", yaml::quote(path)), Some(file))
            }
            _ => {
                return Err(Error::new(format!("patch and path can't be set at the same time\n{}", written())));
            }
        };
        let field = if file.is_some() { "path" } else { "patch" };
        let merges = read::resources(&mut session.tree, &content, Source { file: file.as_ref() });
        let json = json_patch(&content);
        let kind = match (merges, json) {
            (Err(error), _) if error.is_final() => return Err(error.inside(field)),
            (Ok(merges), Ok(json)) if is_ambiguous(session, &merges, &json) => {
                let text = format!("illegally qualifies as both an SM and JSON patch: {source}");
                return Err(Error::new(text).inside(field));
            }
            (Err(merge), Err(json)) => {
                // What starts as a list can only have been meant as a JSON patch.
                let is_list = content.starts_with(b"[") || content.starts_with(b"-") && !content.starts_with(b"---");
                let mut cause = if is_list { json } else { merge };
                if let Some(file) = &file {
                    cause = place::locate(cause, file, &content);
                }
                let error = Error::new(format!("unable to parse SM or JSON patch from {source}")).explained_by(&cause);
                return Err(error.inside(field));
            }
            (Ok(merges), json) if merges.is_empty() && !session.has(Difference::EmptyPatch) => {
                PatchKind::Json(json.unwrap_or_default())
            }
            (Ok(merges), _) => {
                for root in &merges {
                    let options = patch.options.as_deref().map(|options| options.0.clone()).unwrap_or_default();
                    if options.allow_name_change {
                        resource::enable(&mut session.tree, *root, annotation::ALLOW_NAME_CHANGE)?;
                    }
                    if options.allow_kind_change {
                        resource::enable(&mut session.tree, *root, annotation::ALLOW_KIND_CHANGE)?;
                    }
                }
                PatchKind::StrategicMerge(merges)
            }
            (Err(_), Ok(json)) => PatchKind::Json(json),
        };
        Ok(Self { kind, target: patch.target.as_deref().map(Selector::from), source })
    }

    pub(super) fn run(&self, session: &mut Session<'_>, resources: &mut Resources) -> Result<()> {
        match &self.kind {
            PatchKind::StrategicMerge(patches) if patches.is_empty() => Ok(()),
            PatchKind::StrategicMerge(patches) => self.merge(session, resources, patches),
            PatchKind::Json(patch) => {
                let Some(target) = &self.target else {
                    return Err(Error::new(format!("must specify a target for JSON patch {}", self.source))
                        .label("a JSON patch does not name what it changes")
                        .hint("add a `target` to the entry of `patches`"));
                };
                let selected = resources.select(&session.tree, &session.schema, target);
                let selected = selected.map_err(|error| error.inside("target"))?;
                note_unselected(session, &selected);
                for root in selected {
                    resource::store_previous_id(&mut session.tree, &session.schema, root)?;
                    super::json_patch::apply_of_patches(&mut session.tree, root, patch)?;
                }
                Ok(())
            }
        }
    }

    fn merge(&self, session: &mut Session<'_>, resources: &mut Resources, patches: &[NodeId]) -> Result<()> {
        if let Some(target) = &self.target {
            let [patch] = patches else {
                return Err(Error::new(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` \
                     field: {}",
                    self.source
                )));
            };
            let selected =
                resources.select(&session.tree, &session.schema, target).map_err(|error| error.inside("target"))?;
            note_unselected(session, &selected);
            return apply_to_all(session, resources, &selected, *patch);
        }
        let mut deleted = false;
        for patch in patches {
            if deleted && !session.has(Difference::DeletedPassedOver) {
                let text = format!("after a patch that deletes an object, this Kustomize panics: {}", self.source);
                return Err(
                    Error::new(text).hint("write each patch as an entry of its own, or take Kustomize 5.7.0 or newer")
                );
            }
            let id = resource::original_id(&session.tree, &session.schema, *patch);
            let index = resources
                .by_id(&session.tree, &session.schema, &id)
                .map_err(|error| error.prefix(format!("no resource matches strategic merge patch \"{id}\"")))?;
            let Some(root) = resources.roots().get(index).copied() else { continue };
            apply_to(session, root, *patch)?;
            deleted |= session.tree.node(root).is_nil_or_empty();
        }
        Ok(())
    }
}

fn note_unselected(session: &mut Session<'_>, selected: &[NodeId]) {
    if selected.is_empty() {
        let text = "the target of this patch selects no object, so nothing is changed";
        session.missed.push(Error::new(text).hint("correct its `target`, or take it away").inside("target"));
    }
}

/// Whether a patch that can be read as both has to be of one sort.
fn is_ambiguous(session: &Session<'_>, merges: &[NodeId], json: &JsonPatch) -> bool {
    !session.has(Difference::AmbiguousPatch) || !merges.is_empty() && !json.is_empty()
}

fn json_patch(content: &[u8]) -> Result<JsonPatch> {
    if content.is_empty() {
        return Err(Error::new("empty json patch operations"));
    }
    JsonPatch::parse(&String::from_utf8_lossy(content))
}
