//! CRDs by which objects of a branch are judged: those that its Applications render, and those of the setting `crds`.

use std::collections::{BTreeMap, HashMap};

use super::excerpts::{self, Excerpts, Kinds};
use crate::apiserver::Server;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::Rendered;
use crate::known::Cache;
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

/// Objects of so many kinds are judged by excerpts, by so many judges for the objects of a group. More are judged by all CRDs of their
/// group, which are read once then.
const KINDS_MAX: usize = 8;
const JUDGES_MAX: usize = 16;

/// Where the CRDs of an API group of a branch are.
struct Sources {
    /// Manifests of Applications, in the order in which they count.
    manifests: Vec<ObjectId>,
    /// The manifests before of planned Applications that define other kinds now, or define them otherwise.
    earlier: Vec<ObjectId>,
    /// Names all that has CRDs; none where nothing has.
    id: Option<String>,
    /// The CRDs, once they were read, and whether they can be read again as they are.
    read: Option<(Crds, bool)>,
    /// By version of Kubernetes and kinds, what judges by excerpts.
    excerpts: HashMap<(String, Kinds), Judge>,
    /// By version of Kubernetes, what judges by all CRDs; none where there are none.
    whole: HashMap<String, Option<Judges>>,
}

/// Finds the CRDs of each group once.
pub(crate) struct Definitions<'d> {
    rendered: &'d Rendered,
    found: &'d Snapshot<'d>,
    known: KnownDefinitions<'d>,
    cache: Option<&'d Cache>,
    /// The manifests of planned Applications by the branch and the group of kinds that they define.
    planned: BTreeMap<&'d BranchName, Planned<'d>>,
    /// By branch and group.
    sources: HashMap<(BranchName, String), Sources>,
    /// What all judges of a dry commit may take together.
    pub effort: Effort,
}

impl<'d> Definitions<'d> {
    /// `cache` has excerpts that earlier runs made.
    pub(crate) fn new(
        rendered: &'d Rendered,
        found: &'d Snapshot<'d>,
        known: KnownDefinitions<'d>,
        cache: Option<&'d Cache>,
    ) -> Self {
        let mut planned: BTreeMap<_, Planned<'_>> = BTreeMap::new();
        for (branch, hydration) in rendered.hydrations() {
            for (application, output) in hydration.outputs() {
                for group in output.objects.iter().filter_map(Key::defined_group) {
                    let of_branch = planned.entry(branch).or_default();
                    of_branch.entry(group).or_default().push((application, output.manifest));
                }
            }
        }
        Self { rendered, found, known, cache, planned, sources: HashMap::new(), effort: Effort::default() }
    }

    /// The planned Applications of a branch that define kinds of a group, with their manifests.
    pub(crate) fn planned(&self, branch: &BranchName, group: &str) -> &[(&'d Application, ObjectId)] {
        self.planned.get(branch).and_then(|planned| planned.get(group)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether there may be CRDs of a group on a branch; none where nothing was found out about it yet.
    pub(crate) fn may_be_there(&self, branch: &BranchName, group: &str) -> Option<bool> {
        self.sources.get(&(branch.clone(), group.to_owned())).map(|sources| sources.id.is_some())
    }

    /// Finds out where the CRDs of a group on a branch are, see [`Sources::earlier`]. Answers whether there may be any.
    pub(crate) fn find(&mut self, branch: &BranchName, group: &str, earlier: Vec<ObjectId>) -> bool {
        let planned = self.planned(branch, group).iter().map(|(_, manifest)| *manifest);
        let manifests: Vec<ObjectId> = (self.known)(branch, group).into_iter().chain(planned).collect();
        let files = TreeFiles::new(self.found.setup.repository, self.rendered.tree);
        let named = self.found.policy.crds_named(&files);
        let is_there = !manifests.is_empty() || !earlier.is_empty() || !named.is_empty();
        let id = is_there.then(|| excerpts::id_of(&named, &manifests, group));
        let (read, excerpts, whole) = (None, HashMap::new(), HashMap::new());
        let sources = Sources { manifests, earlier, id, read, excerpts, whole };
        self.sources.insert((branch.clone(), group.to_owned()), sources);
        is_there
    }

    /// What judges objects of these kinds of an API group on a branch, then and now; none where nothing is known to define kinds of
    /// the group, or nothing was found out about it.
    ///
    /// Errors: the repository cannot be read.
    pub(crate) fn judges(
        &mut self,
        server: &Server<'_>,
        (branch, group): (&BranchName, &str),
        kinds: Kinds,
        made: &mut Excerpts,
    ) -> Result<Option<[&Judge; 2]>, HydrateError> {
        let reader = Reader { rendered: self.rendered, found: self.found, group };
        let Some(sources) = self.sources.get_mut(&(branch.clone(), group.to_owned())) else { return Ok(None) };
        let judge = |crds: Crds| server.judge(crds).with(&self.effort);
        let key = (server.name(), kinds);
        if !sources.excerpts.contains_key(&key) && !sources.whole.contains_key(&key.0) {
            match sources.excerpts(group, &key.1, &reader, (self.cache, made))? {
                Some(crds) if crds.is_empty() => drop(sources.whole.insert(key.0.clone(), None)),
                Some(crds) => drop(sources.excerpts.insert(key.clone(), judge(crds))),
                None => {
                    let now = sources.read(&reader)?.0.clone();
                    let mut then = now.clone();
                    // Those that come last count.
                    for id in &sources.earlier {
                        then.add(self.found.buffer.blob(*id)?);
                    }
                    let then = (!sources.earlier.is_empty()).then(|| judge(then));
                    let judges = (!now.is_empty()).then(|| Judges { now: judge(now), then });
                    sources.whole.insert(key.0.clone(), judges);
                }
            }
        }
        if let Some(judge) = sources.excerpts.get(&key) {
            return Ok(Some([judge, judge]));
        }
        let judges = sources.whole.get(&key.0).and_then(Option::as_ref);
        Ok(judges.map(|judges| [judges.then.as_ref().unwrap_or(&judges.now), &judges.now]))
    }
}

impl Sources {
    /// Excerpts of the CRDs that define `kinds`, none of them where no CRD is of the group. None where all CRDs must be asked: there is
    /// no excerpt, they are others than before, or there would be too many judges.
    fn excerpts(
        &mut self,
        group: &str,
        kinds: &Kinds,
        reader: &Reader<'_>,
        (cache, made): (Option<&Cache>, &mut Excerpts),
    ) -> Result<Option<Crds>, HydrateError> {
        let Some(id) = self.id.clone() else { return Ok(Some(Crds::new())) };
        let are_many = kinds.len() > KINDS_MAX || self.excerpts.len() >= JUDGES_MAX;
        if are_many || !self.earlier.is_empty() || group.contains('/') {
            return Ok(None);
        }
        if made.get(&id, cache).is_some() {
            return Ok(Some(Crds::new()));
        }
        let mut excerpts = Crds::new();
        for kind in kinds {
            let name = excerpts::name_of(&id, kind);
            let text = match made.get(&name, cache) {
                Some(text) => text,
                None => {
                    let (crds, is_lasting) = self.read(reader)?;
                    if crds.is_empty() {
                        made.add(id, Vec::new(), *is_lasting);
                        return Ok(Some(Crds::new()));
                    }
                    let (version, kind) = kind.split_once('/').unwrap_or_default();
                    let Some(text) = crds.excerpt(group, version, kind) else { return Ok(None) };
                    made.add(name, text.clone(), *is_lasting);
                    text
                }
            };
            excerpts.add(text);
        }
        Ok(Some(excerpts))
    }

    fn read(&mut self, reader: &Reader<'_>) -> Result<&(Crds, bool), HydrateError> {
        match &mut self.read {
            Some(read) => Ok(read),
            none => Ok(none.insert(reader.read(&self.manifests)?)),
        }
    }
}

/// Reads CRDs of one API group.
struct Reader<'d> {
    rendered: &'d Rendered,
    found: &'d Snapshot<'d>,
    group: &'d str,
}

impl Reader<'_> {
    fn read(&self, manifests: &[ObjectId]) -> Result<(Crds, bool), HydrateError> {
        let files = TreeFiles::new(self.found.setup.repository, self.rendered.tree);
        // On a branch they may be newer, so they come last, and count.
        let (texts, is_lasting) = self.found.policy.crds(&files, self.group);
        let mut crds = Crds::new();
        texts.into_iter().for_each(|text| crds.add(text));
        for id in manifests {
            crds.add(self.found.buffer.blob(*id)?);
        }
        Ok((crds, is_lasting))
    }
}
