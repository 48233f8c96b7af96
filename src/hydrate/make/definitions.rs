//! CRDs by which objects of a branch are judged: those that its Applications render, and those of the setting `crds`.

use std::collections::{BTreeMap, HashMap};

use crate::apiserver::Server;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::Rendered;
use crate::manifest::Key;
use crate::owners::error::HydrateError;
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectId, TreeFiles};
use kube_validate::{Crds, Effort, Judge};

/// The manifests of Applications of a branch, beside those that are planned, that define kinds of an API group.
pub(crate) type KnownDefinitions<'k> = &'k dyn Fn(&BranchName, &str) -> Vec<ObjectId>;

/// What judges by the CRDs that there are now, and by those that there were where they were others.
struct Judges {
    now: Judge,
    then: Option<Judge>,
}

/// The Applications that define kinds of an API group, with their manifests.
type Planned<'d> = BTreeMap<&'d str, Vec<(&'d Application, ObjectId)>>;

/// Finds the CRDs of each group once.
pub(crate) struct Definitions<'d> {
    rendered: &'d Rendered,
    found: &'d Snapshot<'d>,
    known: KnownDefinitions<'d>,
    /// The manifests of planned Applications by the branch and the group of kinds that they define.
    planned: BTreeMap<&'d BranchName, Planned<'d>>,
    /// By branch, version and group, that of before and that of after; none where there are no CRDs of the group.
    judges: HashMap<(BranchName, String, String), Option<Judges>>,
    /// What all judges of a dry commit may take together.
    pub effort: Effort,
}

impl<'d> Definitions<'d> {
    pub(crate) fn new(rendered: &'d Rendered, found: &'d Snapshot<'d>, known: KnownDefinitions<'d>) -> Self {
        let mut planned: BTreeMap<_, Planned<'_>> = BTreeMap::new();
        for (branch, hydration) in rendered.hydrations() {
            for (application, output) in hydration.outputs() {
                for group in output.objects.iter().filter_map(Key::defined_group) {
                    let of_branch = planned.entry(branch).or_default();
                    of_branch.entry(group).or_default().push((application, output.manifest));
                }
            }
        }
        Self { rendered, found, known, planned, judges: HashMap::new(), effort: Effort::default() }
    }

    /// The planned Applications of a branch that define kinds of a group, with their manifests.
    pub(crate) fn planned(&self, branch: &BranchName, group: &str) -> &[(&'d Application, ObjectId)] {
        self.planned.get(branch).and_then(|planned| planned.get(group)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the judges of a group are known, so that nothing has to be found for them.
    pub(crate) fn is_known(&self, server: &Server<'_>, branch: &BranchName, group: &str) -> bool {
        self.judges.contains_key(&(branch.clone(), server.name(), group.to_owned()))
    }

    /// What judges objects of an API group on a branch, then and now; none where nothing is known to define its kinds. `earlier` are
    /// the manifests before of planned Applications that define other kinds of it now, or define them otherwise.
    ///
    /// Errors: the repository cannot be read.
    pub(crate) fn judges(
        &mut self,
        server: &Server<'_>,
        branch: &BranchName,
        group: &str,
        earlier: &[ObjectId],
    ) -> Result<Option<[&Judge; 2]>, HydrateError> {
        let key = (branch.clone(), server.name(), group.to_owned());
        if !self.judges.contains_key(&key) {
            let mut texts = self.texts(branch, group)?;
            let judge = |texts: Vec<Vec<u8>>| {
                let mut crds = Crds::new();
                texts.into_iter().for_each(|text| crds.add(text));
                server.judge(crds).with(&self.effort)
            };
            let now = (!texts.is_empty()).then(|| judge(texts.clone()));
            // Those that come last count.
            for id in earlier {
                texts.push(self.found.buffer.blob(*id)?);
            }
            let judges = now.map(|now| Judges { now, then: (!earlier.is_empty()).then(|| judge(texts)) });
            self.judges.insert(key.clone(), judges);
        }
        let judges = self.judges.get(&key).and_then(Option::as_ref);
        Ok(judges.map(|judges| [judges.then.as_ref().unwrap_or(&judges.now), &judges.now]))
    }

    fn texts(&self, branch: &BranchName, group: &str) -> Result<Vec<Vec<u8>>, HydrateError> {
        let repository = self.found.setup.repository;
        let files = TreeFiles::new(repository, self.rendered.tree);
        // On a branch they may be newer, so they come last, and count.
        let mut texts = self.found.policy.crds(&files, group);
        let planned = self.planned(branch, group).iter().map(|(_, manifest)| *manifest);
        for id in (self.known)(branch, group).into_iter().chain(planned) {
            texts.push(self.found.buffer.blob(id)?);
        }
        Ok(texts)
    }
}
