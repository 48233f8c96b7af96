//! The commits that are made on a branch.

use std::collections::{BTreeMap, BTreeSet};

use super::{Branch, LeftBehind};
use crate::argo::{Application, BranchName, DrawnPaths, HeldIdentities, HeldIdentity};
use crate::discover::Removal;
use crate::hydrate::make::output::PathOutput;
use crate::known::UsedInputs;
use crate::metadata::{Behind, DryCommit, Files, Origin, PathContent, Provenance, Stated};
use crate::owners::error::HydrateError;
use crate::owners::files::{ATTRIBUTES, MANIFEST, METADATA, PATH_FILES, README};
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::metadata_dir;
use crate::repo::publish::{Edits, HydratedTree};
use crate::repo::shares::in_shares;
use crate::repo::{Commit, Error, Mode, NewCommit, ObjectBuffer, ObjectId, TreeEdit, object_id};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use inputs::RECORDED;

impl Branch {
    /// Makes the hydrated commit of a dry commit, or finds that nothing changed. A path that `keeps` names stays as it
    /// is. `behind` is what the root lists as behind; none where it lists nothing and shall not. `sync` is the empty commit
    /// that another staging branch started the sync branch with in this run.
    ///
    /// Errors: the repository, or a template of the settings; within, why it cannot be made on what is there.
    #[expect(clippy::too_many_arguments, reason = "what a branch gets comes together here")]
    pub(crate) fn make(
        &self,
        found: &Snapshot<'_>,
        dry: &DryCommit,
        repo_url: &str,
        paths: &[PathOutput<'_>],
        removals: &[Removal],
        keeps: &(dyn Fn(&PathOutput<'_>) -> bool + Sync),
        behind: Option<&[Behind]>,
        inputs: &UsedInputs,
        sync: Option<ObjectId>,
    ) -> Result<Result<BranchUpdate, Diagnostic>, HydrateError> {
        let (buffer, policy) = (&found.buffer, &found.policy);
        let plain = Origin { repo_url, branch: &self.dry_branch, commit: dry };
        let dated = self.dated(dry, &RepoPath::root(), (policy, buffer))?;
        let origin = Origin { commit: &dated, ..plain };
        let mut new_sync = self.progress.new_sync.or(sync.filter(|_| self.before.sync_tip.is_none()));
        let parent = self.parent(buffer, policy, &origin, &mut new_sync)?;
        let base = parent.as_ref().map_or(buffer.empty_tree_id(), |parent| parent.tree);
        let there = There { tree: found.tree_of(base), made: self.made_below.map(|made| found.tree_of(made)) };
        let mut edits = Edits::default();
        let (mut changed, mut objects) = (Vec::new(), Some(BTreeMap::new()));
        let mut namespaces = BTreeMap::new();
        let mut touched = BTreeSet::new();
        let make = |path: &PathOutput<'_>| self.write_path(&there, (policy, buffer), &plain, path, keeps);
        for (path, written) in paths.iter().zip(in_shares(paths, make)) {
            let Some(Written { same, files }) = written? else { continue };
            if !same {
                changed.push(path.dir.clone());
                let namespace = path.application.and_then(|application| application.destination_namespace.clone());
                namespaces.extend(namespace.map(|namespace| (path.dir.clone(), namespace)));
                objects = counted(objects, path);
            }
            touched.insert(metadata_dir(&policy.settings, &self.name, path.dir));
            for (name, blob) in files {
                edits.put(buffer, path.dir, &name, blob);
            }
        }
        touched.extend(self.roots_changed_by_others(&there, paths, policy)?);
        for removal in removals {
            edits.remove(&removal.path, PATH_FILES);
            touched.insert(metadata_dir(&policy.settings, &self.name, &removal.path));
        }
        let lists_others = match behind {
            Some(behind) => self.tip_metadata(buffer)?.behind != behind,
            None => false,
        };
        if touched.is_empty() && !lists_others && self.tip.is_some() {
            let (drawn, seen, identities) = (self.drawn.clone(), self.seen.clone(), self.identities.clone());
            return Ok(Ok(BranchUpdate { new_sync, drawn, seen, identities, ..BranchUpdate::default() }));
        }
        if !policy.settings.is_shared(&self.name) {
            edits.write(
                buffer,
                &RepoPath::root(),
                &policy.writer.files_for_root(&origin, behind.unwrap_or_default()),
            )?;
        } else {
            let destination = |dir: &RepoPath| paths.iter().any(|path| path.dir == dir);
            for dir in touched.iter().filter(|dir| !destination(dir)) {
                let origin = Origin { commit: &self.dated(dry, dir, (policy, buffer))?, ..plain };
                edits.write(buffer, dir, &policy.writer.files_for_active_path(&origin))?;
            }
            self.remove_root(&there, &mut edits, found)?;
        }
        if let Some(fault) = edits.fault(&there.tree)? {
            return Ok(Err(self.malformed(&fault)));
        }
        let tree = edits.apply(buffer, base)?;
        let identities = self.identities_with(paths.iter().filter_map(|path| path.drawn));
        let named: Vec<HeldIdentity> = identities.iter().collect();
        let message = policy.writer.commit_message(
            &origin,
            &self.name,
            policy.id,
            Stated { identities: named, inputs: inputs_id(inputs, found)?, held: self.held(found) },
        );
        let message = message.map_err(HydrateError::Template)?;
        let commit = write(buffer, policy, dry, tree, parent.as_ref(), message)?;
        let removed = removals.iter().map(|removal| removal.path.clone()).collect();
        Ok(Ok(BranchUpdate {
            new_sync,
            commit: Some(commit),
            changed,
            namespaces,
            objects,
            removed,
            left: LeftBehind::default(),
            drawn: self.drawn.clone(),
            seen: self.seen.clone(),
            identities,
            inputs: UsedInputs::new(),
        }))
    }

    /// The files to write into a path; none when all of them are there already.
    fn write_path(
        &self,
        there: &There<'_>,
        (policy, buffer): (&Policy, &ObjectBuffer<'_>),
        origin: &Origin<'_>,
        path: &PathOutput<'_>,
        keeps: &(dyn Fn(&PathOutput<'_>) -> bool + Sync),
    ) -> Result<Option<Written>, HydrateError> {
        let manifest = there.tree.entry(&below(path.dir, MANIFEST))?;
        let same = manifest == Some((Mode::File, path.manifest));
        let is_ours = same && !there.is_changed_by_others(path.dir, &PATH_FILES)?;
        if is_ours && (self.is_enough(policy) || self.is_as_written(&there.tree, buffer, policy, origin, path)?) {
            return Ok(None);
        }
        if manifest.is_some() && keeps(path) {
            return Ok(None);
        }
        let mut files = vec![(MANIFEST.to_owned(), path.manifest)];
        let dated = match policy.settings.active_paths(&self.name).contains(path.dir) {
            true => self.dated(origin.commit, path.dir, (policy, buffer))?,
            false => origin.commit.clone(),
        };
        for (name, content) in self.files(policy, &Origin { commit: &dated, ..*origin }, path)? {
            files.push((name, buffer.write_blob(&content)?));
        }
        Ok(Some(Written { same, files }))
    }

    /// The directories whose files for the whole of a branch, or of an active path, others changed since we wrote them.
    fn roots_changed_by_others(
        &self,
        there: &There<'_>,
        paths: &[PathOutput<'_>],
        policy: &Policy,
    ) -> Result<Vec<RepoPath>, Error> {
        let settings = &policy.settings;
        let mut dirs: BTreeSet<RepoPath> =
            paths.iter().map(|path| metadata_dir(settings, &self.name, path.dir)).collect();
        let names: &[&str] = match settings.active_paths(&self.name) {
            [] => {
                dirs.insert(RepoPath::root());
                &[METADATA, ATTRIBUTES]
            }
            _ => &[METADATA],
        };
        let mut changed = Vec::new();
        for dir in dirs {
            if there.is_changed_by_others(&dir, names)? {
                changed.push(dir);
            }
        }
        Ok(changed)
    }

    /// The commit to build on: the tip, else that of the sync branch, which starts with an empty commit of its own.
    fn parent(
        &self,
        buffer: &ObjectBuffer<'_>,
        policy: &Policy,
        origin: &Origin<'_>,
        new_sync: &mut Option<ObjectId>,
    ) -> Result<Option<Commit>, HydrateError> {
        if self.tip.is_some() {
            return Ok(self.tip.clone());
        }
        if let Some(sync_tip) = self.before.sync_tip.or(*new_sync) {
            return Ok(Some(buffer.commit(sync_tip)?));
        }
        let commit = initial(buffer, policy, &self.sync, origin)?;
        *new_sync = Some(commit.id);
        Ok(Some(commit))
    }

    fn files(&self, policy: &Policy, origin: &Origin<'_>, path: &PathOutput<'_>) -> Result<Files, HydrateError> {
        let content = PathContent {
            applications: &path.applications,
            commands: path.commands,
            tools: policy.settings.tools.of(&self.name, &self.sync),
            is_ours: path.application.is_some(),
            is_active_path: policy.settings.active_paths(&self.name).contains(path.dir),
        };
        let files = policy.writer.files_for_path(&content, origin);
        let mut files = files.map_err(|mistake| template_error(mistake, path.application))?;
        if let Some(readme) = path.readme {
            files.insert(README.to_owned(), readme.as_bytes().to_vec());
        }
        Ok(files)
    }

    /// Whether an unchanged manifest is enough for a path to stay as it is: as in Argo CD's own hydrator, which writes what it says
    /// of an Application with the next manifest. What the settings change is written all the same.
    fn is_enough(&self, policy: &Policy) -> bool {
        policy.writer.is_as_argocd() && policy.writer.has_ordered_dates() && self.settings == policy.id
    }

    /// Takes away our files for the whole of a branch that is promoted by directory now: two strategies would meet there.
    fn remove_root(&self, there: &There<'_>, edits: &mut Edits, found: &Snapshot<'_>) -> Result<(), Error> {
        let is_ours = self.dry.is_some() && found.policy.writer.has_ordered_dates();
        let Some(metadata) = there.tree.file(&below(&RepoPath::root(), METADATA))?.filter(|_| is_ours) else {
            return Ok(());
        };
        // Without an id of a dry commit it is somebody else's file.
        if Provenance::read(&below(&RepoPath::root(), METADATA), &metadata).is_ok_and(|read| read.dry_commit.is_some())
        {
            edits.remove(&RepoPath::root(), [METADATA, ATTRIBUTES]);
        }
        Ok(())
    }

    /// Whether the files of a path whose manifest is unchanged would be the same if they were written again for the dry
    /// commit that they name: neither the settings nor the Application changed what they say. Where tags lead to dry commits, one that
    /// a tag has left need not be in every repository, and each has to make the same commit.
    fn is_as_written(
        &self,
        tree: &HydratedTree<'_>,
        buffer: &ObjectBuffer<'_>,
        policy: &Policy,
        origin: &Origin<'_>,
        path: &PathOutput<'_>,
    ) -> Result<bool, HydrateError> {
        let dir = path.dir;
        let metadata_path = below(dir, METADATA);
        let Some(text) = tree.file(&metadata_path)? else { return Ok(false) };
        let Ok(Provenance { dry_commit: Some(written_for), date, .. }) = Provenance::read(&metadata_path, &text) else {
            return Ok(false);
        };
        let Ok(written_for) = buffer.commit(written_for) else { return Ok(policy.follows) };
        let written_for = DryCommit::new(&written_for);
        // Of a path that is promoted on its own, the date may be that of a commit before.
        let shown = date.filter(|date| date.seconds() > written_for.date.seconds()).unwrap_or(written_for.date);
        let origin = Origin { commit: &written_for.shown_at(shown), ..*origin };
        for (name, content) in self.files(policy, &origin, path)? {
            if !tree.has(&below(dir, &name), Mode::File, &content)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Branch {
    /// The Applications that the commits of the branch leave as they are because of the setting `hold`.
    pub(super) fn held(&self, found: &Snapshot<'_>) -> Vec<String> {
        let counts = !found.hold(&self.name, &self.sync).is_empty();
        if counts { found.holds.alone(&self.name) } else { Vec::new() }
    }
}

/// The tree that has the files of these inputs as the record has them: nothing else is known by its id.
fn inputs_id(inputs: &UsedInputs, found: &Snapshot<'_>) -> Result<Option<ObjectId>, Error> {
    if inputs.is_empty() {
        return Ok(None);
    }
    let top = RepoPath::clean(RECORDED).unwrap_or_default();
    let mut edits = BTreeMap::new();
    for (path, blob) in inputs {
        let (Some(path), Some(blob)) = (path.strip_prefix(&top), object_id(blob)) else { continue };
        edits.insert(path.to_string(), TreeEdit::Put(Mode::File, blob));
    }
    // It can be made of the record.
    let scratch = ObjectBuffer::new(found.setup.repository);
    scratch.edit_tree(scratch.empty_tree_id(), &edits).map(Some)
}

/// Makes the empty commit that a missing sync branch starts with.
pub(crate) fn initial(
    buffer: &ObjectBuffer<'_>,
    policy: &Policy,
    sync: &BranchName,
    origin: &Origin<'_>,
) -> Result<Commit, HydrateError> {
    let message = policy.writer.initial_message(origin, sync, policy.id);
    write(buffer, policy, origin.commit, buffer.empty_tree_id(), None, message)
}

/// The counts with that of one more path; none where it is not known.
fn counted(counts: Option<BTreeMap<RepoPath, usize>>, path: &PathOutput<'_>) -> Option<BTreeMap<RepoPath, usize>> {
    let (mut counts, count) = (counts?, path.count?);
    counts.insert(path.dir.clone(), count);
    Some(counts)
}

fn template_error(mistake: Diagnostic, application: Option<&Application>) -> HydrateError {
    HydrateError::Template(match application {
        Some(application) => application.tells(mistake.of(application.name.as_str())),
        None => mistake,
    })
}

/// Writes a commit with the date of a dry commit.
pub(super) fn write(
    buffer: &ObjectBuffer<'_>,
    policy: &Policy,
    dry: &DryCommit,
    tree: ObjectId,
    parent: Option<&Commit>,
    message: String,
) -> Result<Commit, HydrateError> {
    let signature = policy.writer.signature(dry.date, parent.map(|parent| &parent.committer));
    let commit = NewCommit {
        tree,
        parents: parent.iter().map(|parent| parent.id).collect(),
        author: signature.clone(),
        committer: signature,
        message,
    };
    Ok(buffer.commit(buffer.write_commit(&commit)?)?)
}

/// What a branch becomes by a dry commit.
#[derive(Debug, Default)]
pub(crate) struct BranchUpdate {
    /// The empty commit that the sync branch starts with, when there was none.
    pub new_sync: Option<ObjectId>,
    /// The hydrated commit; none when what is on the branch is what would be made.
    pub commit: Option<Commit>,
    /// Destination paths whose manifests changed, new ones included.
    pub changed: Vec<RepoPath>,
    /// The namespace of the objects of each of them that name none, where its Application says it.
    pub namespaces: BTreeMap<RepoPath, String>,
    /// How many objects each of them has, where all were rendered now.
    pub objects: Option<BTreeMap<RepoPath, usize>>,
    /// Destination paths that were removed.
    pub removed: Vec<RepoPath>,
    /// What stayed as it was.
    pub left: LeftBehind,
    /// Which of its Applications have random values; none when that is not known.
    pub drawn: Option<DrawnPaths>,
    /// Which Applications of its dry branch have random values, where that was looked at.
    pub seen: Option<DrawnPaths>,
    /// What its Applications draw for, of each dry branch, where that is not their name there.
    pub identities: HeldIdentities,
    /// The recorded inputs that its Applications use.
    pub inputs: UsedInputs,
}

impl BranchUpdate {
    /// What is the newest commit of the branch then.
    pub(crate) fn tip<'t>(&'t self, branch: &'t Branch) -> Option<&'t Commit> {
        self.commit.as_ref().or(branch.tip.as_ref())
    }
}

/// What is on a branch.
struct There<'t> {
    tree: HydratedTree<'t>,
    /// What we made last, where others put commits on top of it since.
    made: Option<HydratedTree<'t>>,
}

impl There<'_> {
    /// Whether others changed one of these files of a directory since we wrote its metadata.
    fn is_changed_by_others(&self, dir: &RepoPath, names: &[&str]) -> Result<bool, Error> {
        let Some(made) = &self.made else { return Ok(false) };
        if made.entry(&below(dir, METADATA))?.is_none() {
            return Ok(false);
        }
        for name in names {
            let path = below(dir, name);
            if made.entry(&path)? != self.tree.entry(&path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The files of one destination path, ready to be written.
struct Written {
    /// Whether the manifest is there already.
    same: bool,
    /// Their blobs by name.
    files: Vec<(String, ObjectId)>,
}

fn below(dir: &RepoPath, name: &str) -> RepoPath {
    dir.child(name).expect("the names of our files are single components")
}
