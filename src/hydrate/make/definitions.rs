//! CRDs by which objects of a branch are judged: those that its Applications render, and those of the setting `crds`.

use std::collections::{BTreeMap, HashMap};

use crate::apiserver::Server;
use crate::argo::BranchName;
use crate::hydrate::plan::Rendered;
use crate::manifest::Key;
use crate::owners::error::HydrateError;
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectId, TreeFiles};
use kube_validate::{Crds, Effort, Judge};

/// The manifests of Applications of a branch, beside those that are planned, that define kinds of an API group.
pub(crate) type KnownDefinitions<'k> = &'k dyn Fn(&BranchName, &str) -> Vec<ObjectId>;

/// Finds the CRDs of each group once.
pub(crate) struct Definitions<'d> {
    rendered: &'d Rendered,
    found: &'d Snapshot<'d>,
    known: KnownDefinitions<'d>,
    /// The manifests of planned Applications by the branch and the group of kinds that they define.
    planned: BTreeMap<(&'d BranchName, &'d str), Vec<ObjectId>>,
    /// By branch, version and group; none where there are no CRDs of the group.
    judges: HashMap<(BranchName, String, String), Option<Judge>>,
    /// What all judges of a dry commit may take together.
    pub effort: Effort,
}

impl<'d> Definitions<'d> {
    pub(crate) fn new(rendered: &'d Rendered, found: &'d Snapshot<'d>, known: KnownDefinitions<'d>) -> Self {
        let mut planned: BTreeMap<_, Vec<ObjectId>> = BTreeMap::new();
        for (branch, hydration) in rendered.hydrations() {
            for (_, output) in hydration.outputs() {
                for group in output.objects.iter().filter_map(Key::defined_group) {
                    planned.entry((branch, group)).or_default().push(output.manifest);
                }
            }
        }
        Self { rendered, found, known, planned, judges: HashMap::new(), effort: Effort::default() }
    }

    /// What judges objects of an API group on a branch; none where nothing is known to define its kinds.
    ///
    /// Errors: the repository cannot be read.
    pub(crate) fn judge(
        &mut self,
        server: &Server<'_>,
        branch: &BranchName,
        group: &str,
    ) -> Result<Option<&Judge>, HydrateError> {
        let key = (branch.clone(), server.name(), group.to_owned());
        if !self.judges.contains_key(&key) {
            let texts = self.texts(branch, group)?;
            let judge = (!texts.is_empty()).then(|| {
                let mut crds = Crds::new();
                texts.into_iter().for_each(|text| crds.add(text));
                server.judge(crds).with(&self.effort)
            });
            self.judges.insert(key.clone(), judge);
        }
        Ok(self.judges.get(&key).and_then(Option::as_ref))
    }

    fn texts(&self, branch: &BranchName, group: &str) -> Result<Vec<Vec<u8>>, HydrateError> {
        let repository = self.found.setup.repository;
        let files = TreeFiles::new(repository, self.rendered.tree);
        // On a branch they may be newer, so they come last, and count.
        let mut texts = self.found.policy.crds(&files, group);
        let planned = self.planned.get(&(branch, group)).into_iter().flatten().copied();
        for id in (self.known)(branch, group).into_iter().chain(planned) {
            texts.push(self.found.buffer.blob(id)?);
        }
        Ok(texts)
    }
}
