//! Excerpts of CRDs, which the cache keeps: with them a push of a custom resource reads no CRD.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::known::{Cache, Encoder};
use crate::manifest::Manifest;
use crate::metadata::ENGINE_REVISION;
use crate::repo::ObjectId;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Kind};

/// So many are left by a run, with so many bytes.
const EXCERPTS_MAX: usize = 256;
const BYTES_MAX: usize = 8 << 20;

/// Versions of kinds of one API group, as `v1/Widget`.
pub(crate) type Kinds = BTreeSet<String>;

/// The excerpts that a run made, by their names.
#[derive(Debug, Default)]
pub(crate) struct Excerpts {
    texts: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

impl Excerpts {
    /// The excerpt of a name, of this run or an earlier one.
    pub(crate) fn get(&self, name: &str, cache: Option<&Cache>) -> Option<Vec<u8>> {
        self.texts.get(name).cloned().or_else(|| cache?.load_excerpt(name))
    }

    /// Adds one to what is left for other runs, unless it is not sure to be made again as it is.
    pub(crate) fn add(&mut self, name: String, text: Vec<u8>, is_lasting: bool) {
        if is_lasting && self.texts.len() < EXCERPTS_MAX && self.bytes + text.len() <= BYTES_MAX {
            self.bytes += text.len();
            self.texts.insert(name, text);
        }
    }

    /// Leaves them for other runs.
    pub(crate) fn write(self, cache: &Cache) {
        // Without them they are made again.
        drop(cache.save_excerpts(&self.texts));
    }
}

/// Names what the CRDs of a group are made of: files and directories of the dry tree, and manifests.
pub(crate) fn id_of(named: &[(&RepoPath, Kind, ContentId)], manifests: &[ObjectId], group: &str) -> String {
    let mut facts = Encoder::default();
    facts.text(env!("CARGO_PKG_VERSION"));
    facts.number(u64::from(ENGINE_REVISION));
    facts.list(named.iter(), |facts, (path, kind, id)| {
        facts.text(path.as_str());
        facts.number(*kind as u64);
        facts.bytes(id.as_bytes());
    });
    facts.list(manifests.iter(), |facts, id| facts.bytes(id.as_bytes()));
    facts.text(group);
    hashed(&facts.0)
}

/// The name of the excerpt of a kind, `v1/Widget`, from what `id` names.
pub(crate) fn name_of(id: &str, kind: &str) -> String {
    hashed(format!("{id} {kind}").as_bytes())
}

fn hashed(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The kinds of objects of a group, in their versions.
pub(crate) fn kinds<'m>(manifests: impl Iterator<Item = &'m Manifest>, group: &str) -> Kinds {
    let of_group = manifests.filter(|manifest| manifest.group() == group);
    let version = |manifest: &'m Manifest| manifest.api_version().rsplit_once('/').map_or("", |(_, version)| version);
    of_group.map(|manifest| format!("{}/{}", version(manifest), manifest.kind())).collect()
}
