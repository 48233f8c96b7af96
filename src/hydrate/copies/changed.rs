//! The copies that differ from those of the last run, by what the dry branches changed since.
//!
//! A copy is another one only with the document of its Application, or where the path of its Application came or went on the
//! sync branch. One that comes has a name that no other copy has. Where that does not show all of it, all copies are made again
//! ([`wanted`](mod@super::wanted)).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::Value;

use super::branch::Copy;
use super::known::copied_from;
use super::wanted::{directory_of, directory_of_set};
use crate::argo::set::ARGOCD_NAMESPACE;
use crate::argo::{self, Application};
use crate::hydrate::plan::since::Since;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known;
use crate::manifest::Manifest;
use crate::metadata::{Followed, read_copy_metadata};
use crate::owners::copier::Copies;
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::DryHead;
use crate::repo::{Mode, ObjectId, object_id};

/// The copies of one Application that differ: empty when none does; none when this is unknown.
type Differs = Option<Vec<(RepoPath, Copy)>>;

const NOTHING: Differs = Some(Vec::new());

/// The copies that differ, by their directories; none when all are to be made again. `tree` is that of the copies.
pub(super) fn changed(
    run: &mut Run<'_>,
    known: &known::CopyBranch,
    tree: ObjectId,
    (followed, heads): (&[Followed], &[DryHead]),
) -> Result<Option<BTreeMap<RepoPath, Copy>>, Stopped> {
    if !are_followed_alike(run, known, followed, heads) {
        return Ok(None);
    }
    let namespace = run.found.policy.settings.argocd_namespace.clone().unwrap_or_else(|| ARGOCD_NAMESPACE.to_owned());
    let mut changed = BTreeMap::new();
    for head in heads {
        let Some(since) = run.since.remove(&head.branch) else { continue };
        let objects = HashMap::new();
        let mut look = Look { run, known, tree, since: &since, followed, namespace: &namespace, head, objects };
        let found = look.all()?;
        run.since.insert(head.branch.clone(), since);
        let Some(found) = found else { return Ok(None) };
        for (dir, copy) in found {
            // Two of one name.
            if changed.insert(dir, copy).is_some() {
                return Ok(None);
            }
        }
    }
    Ok(Some(changed))
}

/// Whether the branches are those of the last run, and each shows what it showed then, or the tip of its dry branch in place of
/// the dry commit that is known.
fn are_followed_alike(run: &Run<'_>, known: &known::CopyBranch, followed: &[Followed], heads: &[DryHead]) -> bool {
    if followed.len() != known.followed.len() {
        return false;
    }
    for (one, before) in followed.iter().zip(&known.followed) {
        let now = copied_from(one);
        if now == *before {
            continue;
        }
        let (Some((branch, dry)), Some((dry_branch, was))) = (&one.dry, &before.dry) else { return false };
        let is_tip = heads.iter().any(|head| head.branch == *branch && head.tip == *dry);
        let since = run.since.get(branch).filter(|since| !since.is_more);
        let is_known = since.is_some_and(|since| Some(since.base) == object_id(was));
        if now.branch != before.branch || branch.as_str() != dry_branch || !is_known || !is_tip {
            return false;
        }
    }
    true
}

struct Look<'l, 'a> {
    run: &'l mut Run<'a>,
    known: &'l known::CopyBranch,
    /// The tree of copies.
    tree: ObjectId,
    /// What its dry branch changed.
    since: &'l Since,
    followed: &'l [Followed],
    /// The namespace of what names none.
    namespace: &'l str,
    head: &'l DryHead,
    /// The Applications of files.
    objects: HashMap<RepoPath, Vec<Value>>,
}

impl Look<'_, '_> {
    fn all(&mut self) -> Result<Option<Vec<(RepoPath, Copy)>>, Stopped> {
        let mut changed = Vec::new();
        for (application, is_document) in self.since.applications() {
            match self.application(application, is_document)? {
                Some(differs) => changed.extend(differs),
                None => return Ok(None),
            }
        }
        Ok(Some(changed))
    }

    fn application(&mut self, application: &Arc<Application>, is_document: bool) -> Result<Differs, Stopped> {
        let branch = application.environment_branch();
        let Some(one) = self.followed.iter().find(|one| one.branch == *branch) else { return Ok(NOTHING) };
        // It stays behind.
        if self.known.followed.contains(&copied_from(one)) {
            return Ok(NOTHING);
        }
        let (sync, path) = (&application.sync_branch, &application.sync_path);
        let Some(tip) = self.followed.iter().find(|one| one.branch == *sync) else { return Ok(NOTHING) };
        let is_staged = sync != branch;
        let found = &self.run.found;
        let deployed = found.tree_of(found.buffer.commit(tip.commit)?.tree);
        let manifest = path.child(MANIFEST).ok().map(|manifest| deployed.entry(&manifest)).transpose()?.flatten();
        let is_deployed = matches!(manifest, Some((Mode::File | Mode::Executable, _)));
        if is_staged {
            let made = found.tree_of(found.buffer.commit(one.commit)?.tree);
            if application.maker.is_some() {
                return Ok(None);
            }
            // The sync branch is where it was.
            if !is_deployed {
                return Ok(NOTHING);
            }
            if deployed.entry(path)? != made.entry(path)? {
                let dir = directory_of(application, self.namespace);
                let is_known = dir.is_some_and(|dir| self.known.earlier.iter().any(|earlier| *earlier == dir.as_str()));
                return Ok(if is_known { NOTHING } else { None });
            }
        }
        if !is_deployed {
            return Ok(None);
        }
        if !is_document && !is_staged {
            return self.is_copied(application).map(|is_copied| if is_copied { NOTHING } else { None });
        }
        self.document(application)
    }

    /// Whether an Application that is deployed has a copy, or needs none.
    fn is_copied(&self, application: &Application) -> Result<bool, Stopped> {
        if application.is_of_application() {
            return Ok(true);
        }
        let rules = &self.run.found.policy.plain;
        let maker = application.maker.as_ref().filter(|maker| !rules.expands(maker.by.name()));
        let set = maker.and_then(|_| directory_of_set(application, self.namespace));
        let Some(dir) = set.or_else(|| directory_of(application, self.namespace)) else { return Ok(true) };
        Ok(self.run.found.tree_of(self.tree).entry(&dir)?.is_some())
    }

    /// The copy by the document as it is now, where that differs.
    fn document(&mut self, application: &Arc<Application>) -> Result<Differs, Stopped> {
        let Some(dir) = directory_of(application, self.namespace) else { return Ok(None) };
        let is_earlier = self.known.earlier.iter().any(|earlier| *earlier == dir.as_str());
        let Some(object) = self.written(application)?.filter(|_| application.maker.is_none() && !is_earlier) else {
            return Ok(None);
        };
        let found = &self.run.found;
        let copies = Copies::of(found, &self.head.branch);
        let copy = application.copy(object, &copies.copier()).and_then(|copy| Manifest::new(copy).ok());
        let Some(manifest) = copy.map(|copy| found.policy.writer.manifest(vec![copy])) else { return Ok(None) };
        let leads_to = vec![(application.sync_branch.clone(), application.sync_path.clone())];
        let tree = found.tree_of(self.tree);
        let (Ok(file), Ok(metadata)) = (dir.child(MANIFEST), dir.child(METADATA)) else { return Ok(None) };
        let is_known = match tree.file(&metadata)? {
            Some(text) => read_copy_metadata(&text) == leads_to,
            // One that a hydrated Application renders as well is in the manifests of that one.
            None => self.since.is_new(application) && !self.known.are_rendered && tree.entry(&dir)?.is_none(),
        };
        if !is_known {
            return Ok(None);
        }
        Ok(match tree.has(&file, Mode::File, &manifest)? {
            true => NOTHING,
            false => Some(vec![(dir, Copy { manifest, leads_to })]),
        })
    }

    /// An Application as its file has it.
    fn written(&mut self, application: &Application) -> Result<Option<Value>, Stopped> {
        if !self.objects.contains_key(&application.file) {
            let tree = self.run.found.setup.repository.commit(self.head.tip)?.tree;
            let files = self.run.files(tree);
            let Ok(blob) = View::new(&*files).read(&application.file) else { return Ok(None) };
            let objects = argo::objects(&application.file, &blob.data, &self.run.found.policy.plain);
            self.objects = HashMap::from([(application.file.clone(), objects)]);
        }
        Ok(self.objects.get(&application.file).and_then(|objects| objects.get(application.index)).cloned())
    }
}
