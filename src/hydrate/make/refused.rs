//! What an API server would refuse of the objects that branches get in a run, and that they did not have so: the pusher reads it
//! before the cluster does.
//!
//! A run may hydrate several dry commits. What counts is what the last of them leaves beside what there was before the run: a
//! mistake that a later commit corrects is not reported.

use std::collections::{BTreeMap, BTreeSet};

use super::branch::Branch;
use super::checked::{Checked, counts};
use super::definitions::{Definitions, KnownDefinitions};
use super::excerpts::{self, Excerpts};
use super::ineffective::Touched;
use super::manifest_of::manifest_of;
use super::output::Output;
use crate::apiserver::{Answer, Answers, NO_NAMESPACE, One, Sentence, Server, own_crds};
use crate::argo::{self, Application, BranchName, SeedIdentities};
use crate::diff::ObjectName;
use crate::discover::Removal;
use crate::hydrate::plan::{Done, Hydration, Rendered};
use crate::hydrate::report::Refusal;
use crate::known::{Cache, Encoded};
use crate::manifest::{self, Key, Manifest, Source};
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::snapshot::Snapshot;
use crate::render;
use crate::render::places::{Places, Wanted};
use crate::repo::{ObjectId, TreeFiles};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::View;

/// What is said of all that the dry commits of one dry branch change.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// By branch and path, what is said of the manifests that a dry commit left there.
    entries: BTreeMap<(BranchName, RepoPath), Entry>,
    /// What an admin's checks are asked about.
    checked: Checked,
    /// What is looked at for what changes nothing.
    touched: Touched,
    /// Excerpts of CRDs that were made.
    excerpts: Excerpts,
    /// Where places are looked for.
    last: Option<DryPlace>,
}

/// What is said of the objects of one Application.
#[derive(Debug)]
struct Entry {
    application: Application,
    answers: Vec<Answer>,
    /// What they were rendered from.
    record: Encoded,
    /// The manifests that it is said of.
    manifest: ObjectId,
    /// Whether the branch does not get them yet, see [`Judging::add_pending`].
    is_pending: bool,
}

/// The dry commit that was rendered last.
#[derive(Debug)]
struct DryPlace {
    id: ObjectId,
    tree: ObjectId,
    identities: SeedIdentities,
}

/// Judges the objects of one dry commit.
pub(crate) struct Judging<'r> {
    found: &'r Snapshot<'r>,
    definitions: Definitions<'r>,
    refused: &'r mut Refused,
}

impl<'r> Judging<'r> {
    /// Of what was rendered; `known` finds CRDs of Applications that are not planned, `cache` has excerpts of CRDs.
    pub(crate) fn new(
        refused: &'r mut Refused,
        rendered: &'r Rendered,
        found: &'r Snapshot<'r>,
        known: KnownDefinitions<'r>,
        cache: Option<&'r Cache>,
    ) -> Self {
        let (id, tree, identities) = (rendered.dry.id, rendered.tree, rendered.identities.clone());
        refused.last = Some(DryPlace { id, tree, identities });
        Self { found, definitions: Definitions::new(rendered, found, known, cache), refused }
    }

    /// Adds what is said of the objects that a branch gets once a limit is gone or an input is here that keeps it behind: no push
    /// may come between that would be judged.
    pub(crate) fn add_pending(&mut self, branch: &Branch, hydration: &Hydration<Done>) -> Result<(), HydrateError> {
        self.add_all(branch, hydration, &hydration.removals, true)
    }

    /// Adds what is said of the objects of a branch that differ from those before the run. What an Application had where it was
    /// before it moved, as `removals` say, is not new.
    pub(crate) fn add(
        &mut self,
        branch: &Branch,
        hydration: &Hydration<Done>,
        removals: &[Removal],
    ) -> Result<(), HydrateError> {
        self.refused.touched.add(&branch.name, hydration);
        self.add_all(branch, hydration, removals, false)
    }

    fn add_all(
        &mut self,
        branch: &Branch,
        hydration: &Hydration<Done>,
        removals: &[Removal],
        is_pending: bool,
    ) -> Result<(), HydrateError> {
        // What a dry commit before this one would have given is over.
        let paths = hydration.work.iter().map(|done| &done.application.sync_path);
        for path in paths.chain(removals.iter().map(|removal| &removal.path)) {
            self.refused.forget_pending(&branch.name, path);
        }
        let is_checked = self.found.setup.renderers.has_checks();
        let is_judged = |output: &Output| is_checked || !output.answers.is_empty() || defined(output).next().is_some();
        for (application, output) in hydration.outputs().filter(|(_, output)| is_judged(output)) {
            let before = before(application, branch, removals, self.found)?;
            if before == Some(output.manifest) {
                if let Some(answers) = self.without_namespace(application, branch, output)? {
                    self.say(branch, (application, output), answers, is_pending);
                }
                continue;
            }
            if is_checked {
                if is_pending {
                    self.found.buffer.keep_blob(output.manifest);
                }
                self.refused.checked.add(&branch.name, (application, output), is_pending);
            }
            let Some(server) = Server::of(application, &self.found.policy.settings) else { continue };
            let answers = self.answers(&server, (branch, removals), output, before)?;
            if !answers.is_empty() {
                self.say(branch, (application, output), answers, is_pending);
            }
        }
        Ok(())
    }

    fn say(
        &mut self,
        branch: &Branch,
        (application, output): (&Application, &Output),
        answers: Vec<Answer>,
        is_pending: bool,
    ) {
        let (application, record) = (application.clone(), output.record.clone());
        let key = (branch.name.clone(), application.sync_path.clone());
        let entry = Entry { application, answers, record, manifest: output.manifest, is_pending };
        self.refused.entries.insert(key, entry);
    }

    /// That objects have no namespace any more, although their manifests are as they were: their Application said which before the run.
    fn without_namespace(
        &self,
        application: &Application,
        branch: &Branch,
        output: &Output,
    ) -> Result<Option<Vec<Answer>>, HydrateError> {
        let mut answers = output.answers.clone();
        answers.iter_mut().for_each(|answer| answer.findings.retain(|said| said.finding.rule == NO_NAMESPACE));
        answers.retain(|answer| !answer.findings.is_empty());
        let repository = self.found.setup.repository;
        let dry = branch.dry_before().filter(|dry| !answers.is_empty() && repository.has(*dry));
        let Some(dry) = dry else { return Ok(None) };
        let files = TreeFiles::new(repository, self.found.buffer.commit(dry)?.tree);
        let Ok(file) = View::new(&files).read(&application.file) else { return Ok(None) };
        let file = argo::read(&application.file, &file.data);
        let former = file.applications().find(|former| former.name == application.name);
        let said = former.and_then(|former| former.destination_namespace.as_deref()).unwrap_or_default();
        Ok(Some(answers).filter(|_| !said.is_empty()))
    }

    /// What is said of an Application's objects, those among them whose kinds CRDs define.
    fn answers(
        &mut self,
        server: &Server<'_>,
        (branch, removals): (&Branch, &[Removal]),
        output: &Output,
        manifest_before: Option<ObjectId>,
    ) -> Result<Vec<Answer>, HydrateError> {
        // Kinds that its own CRDs define are judged by those of before too.
        let own: BTreeSet<&str> = defined(output).collect();
        let (custom, plain): (Vec<Answer>, Vec<Answer>) =
            output.answers.iter().cloned().partition(|answer| answer.is_unknown_kind || own.contains(answer.group()));
        let groups: BTreeSet<&str> = custom.iter().map(Answer::group).chain(own.iter().copied()).collect();
        let mut texts = Texts { new: output.manifest, old: manifest_before, read: None };
        let mut found = Vec::new();
        if manifest_before.is_none() {
            found.extend(plain);
        } else if !plain.is_empty() {
            let (old, new) = texts.read(self.found)?;
            let [then, now] = [old, new].map(|side| server.judge(own_crds(side)).with(&self.definitions.effort));
            found.extend(server.since(plain, (old, new), [&then, &now]));
        }
        for group in groups {
            let is_there = match self.definitions.may_be_there(&branch.name, group) {
                Some(is_there) => is_there,
                None => {
                    let mut defined = Vec::new();
                    for (application, manifest) in self.definitions.planned(&branch.name, group) {
                        let earlier = before(application, branch, removals, self.found)?;
                        defined.extend(earlier.filter(|earlier| earlier != manifest));
                    }
                    self.definitions.find(&branch.name, group, defined)
                }
            };
            if !is_there {
                continue;
            }
            let (old, new) = texts.read(self.found)?;
            let kinds = excerpts::kinds(old.iter().chain(new), group);
            let place = (&branch.name, group);
            let judges = self.definitions.judges(server, place, kinds, &mut self.refused.excerpts)?;
            let Some(judges) = judges else { continue };
            let of_group = new.iter().filter(|manifest| manifest.group() == group);
            found.extend(server.since(server.all_answers(judges[1], of_group), (old, new), judges));
        }
        found.retain(|answer| !answer.findings.is_empty());
        Ok(found)
    }
}

/// The groups whose kinds the objects of an Application define.
fn defined(output: &Output) -> impl Iterator<Item = &str> {
    output.objects.iter().filter_map(Key::defined_group)
}

/// The manifests that a branch had of an Application before the run, or those where it was before it moved.
fn before(
    application: &Application,
    branch: &Branch,
    removals: &[Removal],
    found: &Snapshot<'_>,
) -> Result<Option<ObjectId>, HydrateError> {
    let base = branch.base().map(|tip| found.buffer.commit(tip)).transpose()?.map(|commit| commit.tree);
    let Some(tree) = base.or(found.compared.get(&branch.name).copied()) else { return Ok(None) };
    let tree = found.tree_of(tree);
    let here = manifest_of(&tree, &application.sync_path)?;
    let moved = removals.iter().find(|removal| here.is_none() && removal.application == application.name);
    Ok(here.or(moved.map(|removal| manifest_of(&tree, &removal.path)).transpose()?.flatten()))
}

impl Refused {
    /// A warning of what the dry commits write and what changes nothing.
    pub(crate) fn ineffective(
        &self,
        branches: &BTreeMap<BranchName, Branch>,
        found: &Snapshot<'_>,
    ) -> Result<Vec<Diagnostic>, HydrateError> {
        let Some(DryPlace { id, tree, .. }) = &self.last else { return Ok(Vec::new()) };
        self.touched.warnings((*id, *tree), branches, found)
    }

    /// The excerpts of CRDs that were made.
    pub(crate) fn take_excerpts(&mut self) -> Excerpts {
        std::mem::take(&mut self.excerpts)
    }

    fn forget_pending(&mut self, branch: &BranchName, path: &RepoPath) {
        let key = (branch.clone(), path.clone());
        if self.entries.get(&key).is_some_and(|entry| entry.is_pending) {
            self.entries.remove(&key);
        }
        self.checked.forget_pending(&key);
    }

    /// What is said of what `branches` have now, each with its place: for an API server, and by an admin's checks.
    pub(crate) fn warnings(
        self,
        branches: &BTreeMap<BranchName, Branch>,
        found: &Snapshot<'_>,
    ) -> Result<(Vec<Refusal>, Vec<Diagnostic>), HydrateError> {
        let Self { entries, checked, last, touched: _, excerpts: _ } = self;
        let is_asked = !entries.is_empty() || !checked.is_empty();
        let Some(DryPlace { id, tree, identities }) = last.filter(|_| is_asked) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let files = TreeFiles::new(found.setup.repository, tree);
        let mut answers = Answers::default();
        for ((branch, path), entry) in &entries {
            let pending = entry.is_pending.then_some(&entry.record);
            let counts = counts(branches.get(branch), path, (entry.manifest, pending), (&files, found))?;
            let server = Server::of(&entry.application, &found.policy.settings);
            if let Some(server) = server.filter(|_| counts) {
                answers.add(&server, &entry.application, entry.answers.clone());
            }
        }
        let id = id.to_string();
        let context = render_context(&found.policy.settings, &files, &id);
        let context = render::Context { identities: &identities, ..context };
        let mut places = Places::new(found.setup.renderers, &context);
        let checked = checked.warnings(branches, (&files, found), &mut places)?;
        let mut place = |one: &One<'_>| {
            let entry = entries.values().find(|entry| std::ptr::eq(&entry.application, one.application))?;
            let reads = entry.record.decode()?.reads;
            let (application, object, is_value) = (one.application, &one.object, one.is_of_value());
            places.find(Wanted {
                application,
                reads: &reads,
                object,
                field: &one.field(),
                is_value,
                is_unknown: one.is_of_unknown(),
            })
        };
        Ok((answers.sentences(&mut place).into_iter().map(refusal).collect(), checked))
    }
}

/// What is said, with the objects that are refused and were not so before.
fn refusal(sentence: Sentence<'_>) -> Refusal {
    let Sentence { diagnostic, what, objects, is_refusal, was_before, .. } = sentence;
    let refused = objects.into_iter().filter(|_| is_refusal && !was_before);
    let object = |(application, object): (&Application, ObjectName)| {
        (application.environment_branch().to_string(), application.sync_path.clone(), object)
    };
    Refusal { diagnostic, what, objects: refused.map(object).collect() }
}

/// The manifests of an Application before and after, read when they are asked for.
struct Texts {
    old: Option<ObjectId>,
    new: ObjectId,
    read: Option<(Vec<Manifest>, Vec<Manifest>)>,
}

impl Texts {
    fn read(&mut self, found: &Snapshot<'_>) -> Result<(&[Manifest], &[Manifest]), HydrateError> {
        if self.read.is_none() {
            let manifests = |id: ObjectId| -> Result<Vec<Manifest>, HydrateError> {
                let text = found.buffer.blob(id)?;
                // What cannot be read again is reported elsewhere.
                Ok(manifest::read(&text, Source::Output("manifest.yaml")).unwrap_or_default())
            };
            let old = self.old.map(manifests).transpose()?.unwrap_or_default();
            self.read = Some((old, manifests(self.new)?));
        }
        Ok(self.read.as_ref().map_or((&[], &[]), |(old, new)| (old, new)))
    }
}
