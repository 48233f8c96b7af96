//! The tools that a branch is rendered with: another version of any other tool changes nothing there.

use std::fmt;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use serde::Serialize;

use crate::hydrate::survey::Named;
use crate::metadata::tools_run_by;
use crate::owners::files::METADATA;
use crate::owners::snapshot::Snapshot;
use crate::repo::{self, Mode, ObjectId, TreeFiles};
use crate::versions::Tools;

/// The tools of a branch that shall have others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct OtherTools {
    /// Those that it was brought up to date with last.
    pub hydrated: Tools,
    /// Those that the settings ask for.
    pub wanted: Tools,
    /// Those that render it.
    #[serde(skip)]
    used: Used,
}

/// Whether each tool renders something of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used {
    helm: bool,
    kustomize: bool,
    jsonnet: bool,
}

impl OtherTools {
    /// The versions that differ, of the tools that render what `tip`, the commit of a branch, has of the Applications `named`; none
    /// where nothing of it is rendered with a tool that differs. The files are those of the dry commit `dry`.
    ///
    /// Errors: the repository.
    pub(super) fn of(
        (hydrated, wanted): (Tools, Tools),
        (tip, dry): (ObjectId, Option<ObjectId>),
        named: &Named,
        found: &Snapshot<'_>,
    ) -> Result<Option<Self>, repo::Error> {
        if hydrated == wanted {
            return Ok(None);
        }
        let other = Self { hydrated, wanted, used: used(tip, dry, named, found)? };
        Ok((!other.pairs().is_empty()).then_some(other))
    }

    /// What differs: the tool with its two versions.
    fn pairs(&self) -> Vec<(String, String)> {
        let (old, new, used) = (&self.hydrated, &self.wanted, self.used);
        let rows = [
            (used.helm, format!("Helm {}", old.helm), format!("Helm {}", new.helm)),
            (used.kustomize, format!("Kustomize {}", old.kustomize), format!("Kustomize {}", new.kustomize)),
            (used.jsonnet, format!("Jsonnet {}", old.jsonnet), format!("Jsonnet {}", new.jsonnet)),
        ];
        rows.into_iter().filter(|(is_used, old, new)| *is_used && old != new).map(|(_, old, new)| (old, new)).collect()
    }
}

/// `rendered as Helm 4.2.3, the settings ask for Helm 4.3.1`
impl fmt::Display for OtherTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (old, new): (Vec<String>, Vec<String>) = self.pairs().into_iter().unzip();
        write!(f, "rendered as {}, the settings ask for {}", old.join(", "), new.join(", "))
    }
}

/// What rendered a path says the metadata of the path, but for Jsonnet, which needs no command.
fn used(tip: ObjectId, dry: Option<ObjectId>, named: &Named, found: &Snapshot<'_>) -> Result<Used, repo::Error> {
    let tree = found.buffer.commit(tip)?.tree;
    let mut used = Used { helm: false, kustomize: false, jsonnet: false };
    let mut has_plain = false;
    for path in named.applications.keys() {
        let file = match path.is_root() {
            true => METADATA.to_owned(),
            false => format!("{path}/{METADATA}"),
        };
        let Some((Mode::File | Mode::Executable, blob)) = found.buffer.entry(tree, &file)? else { continue };
        // One that cannot be read may be of any tool.
        let Some(run) = tools_run_by(&found.buffer.blob(blob)?) else {
            return Ok(Used { helm: true, kustomize: true, jsonnet: true });
        };
        used.helm |= run.helm;
        used.kustomize |= run.kustomize;
        has_plain |= run.is_nothing();
    }
    used.jsonnet = has_plain && has_jsonnet(dry, found)?;
    Ok(used)
}

/// Whether a dry commit has a file of Jsonnet; one that is not here may have.
fn has_jsonnet(dry: Option<ObjectId>, found: &Snapshot<'_>) -> Result<bool, repo::Error> {
    let repository = found.setup.repository;
    let Some(dry) = dry.filter(|dry| repository.has(*dry)) else { return Ok(true) };
    let files = TreeFiles::new(repository, found.dry_tree(dry)?);
    let view = View::new(&files);
    let mut dirs = vec![RepoPath::root()];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = view.list(&dir) else { return Ok(true) };
        for entry in entries.iter() {
            match entry.kind {
                Kind::File | Kind::Link if entry.name.ends_with(".jsonnet") => return Ok(true),
                // What a link leads to is somewhere else in the tree.
                Kind::File | Kind::Link | Kind::Submodule => {}
                Kind::Directory => dirs.extend(RepoPath::new(&entry.name).ok().map(|name| dir.join(&name))),
            }
        }
    }
    Ok(false)
}
