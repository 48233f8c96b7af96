//! Applications that come, go or move, beside all others of a dry tree, of which only the state knows.
//!
//! What is right is said by [`validate`] and [`removals`] alone, as after a look at everything. Here they get those that are touched
//! and, of the others, those that have to do with them: of the same names by the state, at their paths by the branches, and those
//! that something is wrong with already. Where that is not plain, a look at everything judges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::View;

use super::touched::Touched;
use crate::argo::parent::Parent;
use crate::argo::{self, Application, BranchName, Identity, Standing, validate};
use crate::discover::{Destination, Removal, removals};
use crate::hydrate::dry_tree::destination;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::documents::Documents;
use crate::hydrate::stopped::Stopped;
use crate::known::{self, About, Record, State};
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::DryHead;
use crate::owners::snapshot::Snapshot;
use crate::repo::TreeFiles;
use crate::repo::publish::HydratedTree;

/// How many files may be wrong for those that come to be judged beside them.
const WRONG_FILES_MAX: usize = 64;

/// What becomes of one branch.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// What an Application wrote and no one writes any more.
    pub removals: Vec<Removal>,
    /// How many Applications write to it then.
    pub applications: usize,
}

/// What is touched, and what is known beside it.
pub(crate) struct Beside<'b> {
    pub state: &'b State,
    pub touched: &'b Touched,
    pub found: &'b Snapshot<'b>,
    pub head: &'b DryHead,
    pub heads: &'b [DryHead],
    pub branches: &'b BTreeMap<BranchName, Branch>,
    /// The dry tree.
    pub files: &'b TreeFiles<'b>,
    /// The branches of which the dry commit says that much may be removed.
    pub allowed: BTreeSet<String>,
}

impl Beside<'_> {
    /// What becomes of each branch to which Applications come or from which they go. Errors: not all is plain.
    pub(crate) fn judge(&self) -> Result<BTreeMap<BranchName, Joined>, Stopped> {
        let Touched { gone, .. } = self.touched;
        let coming: Vec<Arc<Application>> = self.touched.coming().cloned().collect();
        if coming.is_empty() && gone.is_empty() {
            return Ok(BTreeMap::new());
        }
        let named = self.named(&coming)?;
        let is_apart = |one: &Arc<Application>| self.is_apart_from_left(one) && self.is_apart_from_stuck(one);
        let are_of_branches = coming.iter().all(|one| self.is_of_its_branch(one) && is_apart(one));
        let is_plain = self.is_plain() && are_of_branches && !self.one_makes_nothing_now()?;
        let is_plain = is_plain && self.are_apart(&coming, &named)?;
        let Some(mut others) = self.wrong()?.filter(|_| is_plain) else { return Err(Stopped::NotPlain) };
        let files: BTreeSet<Identity> = others.iter().map(|one| one.identity()).collect();
        others.extend(named.iter().filter(|one| !files.contains(&one.identity())).cloned());
        if !self.are_right(&coming, others) || !self.paths_are_free(&coming)? {
            return Err(Stopped::NotPlain);
        }
        let came = coming.iter().map(|application| application.environment_branch());
        let names: BTreeSet<&BranchName> = came.chain(gone.values().map(|record| &record.branch)).collect();
        let joined = names.into_iter().map(|name| Ok((name.clone(), self.joined(name, &coming, &named)?)));
        joined.collect()
    }

    /// Whether nothing is odd in the dry tree, and nothing in the settings makes more of an Application than where it is
    /// written.
    fn is_plain(&self) -> bool {
        let State { head, .. } = self.state;
        let settings = &self.found.policy.settings;
        let fits = head.applications.max(head.documents) <= settings.limits.applications;
        // What is odd may be about one that goes, or about all that one maker makes; without a place, about a branch.
        let is_apart = |diagnostic: &Diagnostic| {
            diagnostic.span.is_some() && diagnostic.made_by.is_none() && self.touched.gone.is_empty()
        };
        let coming = self.touched.coming().map(|application| &application.name);
        let mut names = coming.chain(self.touched.gone.values().map(|record| &record.name));
        fits && names.all(|name| !head.unrecorded.contains(name))
            && head.warnings.iter().all(is_apart)
            && settings.active_paths.is_empty()
            && !settings.repo_urls.is_empty()
    }

    fn known(&self, name: &BranchName) -> Option<&known::Branch> {
        self.state.head.branches.iter().flatten().find(|branch| branch.name == name.as_str())
    }

    /// Whether one that comes writes to a branch as others do that are there.
    fn is_of_its_branch(&self, application: &Application) -> bool {
        let (name, head) = (application.environment_branch(), &self.state.head);
        let sync = match (self.known(name), head.staying(name)) {
            (Some(known), _) if known.has_one_url && known.repo_url == application.dry.repo_url => &*known.sync,
            // What leaves another branch may be why this one stays, or the other one.
            (None, Some(staying)) if self.touched.gone.is_empty() => {
                let mut lacking = staying.lacking.iter();
                if lacking.any(|path| are_nested(path, &application.sync_path)) {
                    return false;
                }
                staying.sync
            }
            (Some(_), _) | (None, _) => return false,
        };
        sync == application.sync_branch.as_str() && head.revisions.contains(application.revision_name())
    }

    /// Whether the others that have the name of one make none, and are on no branch that stays where it is and to which one of
    /// that name comes: what they draw or make may be the same.
    fn are_apart(&self, coming: &[Arc<Application>], named: &[Arc<Application>]) -> Result<bool, Stopped> {
        for other in named {
            let branch = other.environment_branch();
            let mut namesakes = coming.iter().filter(|one| one.name == other.name);
            let maker = Record::index_of_maker(Parent::of(other).ordinal());
            let stays = self.state.head.staying(branch).is_some();
            if stays && namesakes.any(|one| one.environment_branch() == branch)
                || self.state.one(&other.file, maker)?.is_some()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The others that have the name of one that comes or goes.
    fn named(&self, coming: &[Arc<Application>]) -> Result<Vec<Arc<Application>>, Stopped> {
        let gone = self.touched.gone.values().map(|record| &record.name);
        let names: BTreeSet<_> = coming.iter().map(|application| &application.name).chain(gone).collect();
        let view = View::new(self.files);
        let mut documents = Documents::of(&view, &self.found.policy.plain);
        let mut named = Vec::new();
        for name in names {
            for record in self.state.named(name)?.iter().filter(|record| self.stays(record)) {
                let identity = record.identity();
                named.push(match self.touched.work.get(&identity) {
                    Some((application, _)) => application.clone(),
                    None => documents.application(record)?,
                });
            }
        }
        Ok(named)
    }

    /// Whether a record is of an Application that stays where it is.
    fn stays(&self, record: &Record) -> bool {
        record.is_of_application() && !self.touched.gone.contains_key(&record.identity())
    }

    /// The Applications of files that something is wrong with; none where these files do not tell all of them.
    fn wrong(&self) -> Result<Option<Vec<Arc<Application>>>, Stopped> {
        let files = &self.state.head.wrong_files;
        if files.len() > WRONG_FILES_MAX {
            return Ok(None);
        }
        let view = View::new(self.files);
        let mut wrong = Vec::new();
        for path in files {
            let Ok(content) = view.read(path) else { return Ok(None) };
            let file = argo::read_by(path, &content.data, &self.found.policy.plain);
            let makes =
                || Ok::<_, Stopped>(self.state.of_file(path)?.iter().any(|record| record.about != About::Written));
            if !self.state.head.unanswered.contains(path) && (!file.sets.is_empty() || makes()?) {
                return Ok(None);
            }
            wrong.extend(file.documents.iter().filter_map(|document| document.application.clone()));
        }
        Ok(Some(wrong))
    }

    /// Whether an Application that comes has another name than what stays behind on its branch, and is neither in nor around it.
    fn is_apart_from_left(&self, application: &Application) -> bool {
        let left = self.state.head.branches.iter().flatten().filter_map(|branch| branch.left.as_ref());
        let mut left = left.flat_map(|left| &left.paths);
        left.all(|left| left.application != application.name && !are_nested(&left.path, &application.sync_path))
    }

    /// Whether why other branches stay behind has nothing to do with an Application that comes.
    fn is_apart_from_stuck(&self, application: &Application) -> bool {
        let (own, sync) = (application.environment_branch().as_str(), application.sync_branch.as_str());
        let mut stuck = self.state.head.stuck.iter().filter(|stuck| stuck.of_documents);
        // One that all have left may be misspelt; what goes to another staging branch is not promoted from its own.
        stuck.all(|stuck| {
            (stuck.name == own || stuck.sync != sync) && stuck.mistakes.iter().all(|mistake| mistake.near.is_none())
        })
    }

    /// Whether nothing is to be said of those that come, beside one another and `others`, and of these what was said before.
    fn are_right(&self, coming: &[Arc<Application>], others: Vec<Arc<Application>>) -> bool {
        let judge = |all: &[Arc<Application>]| {
            let policy = &self.found.policy;
            self.found.with_context(policy, self.head, self.heads, &|_| false, |context| validate(all, context))
        };
        let before = judge(&others);
        let now = judge(&[others, coming.to_vec()].concat());
        let mut came = now.standings.iter().skip(before.standings.len());
        now.findings == before.findings && came.all(|standing| *standing == Standing::Hydrated)
    }

    /// Whether something made Applications that go, and makes none that stay: that is worth a word.
    fn one_makes_nothing_now(&self) -> Result<bool, Stopped> {
        let is_made = |record: &Record| matches!(record.about, About::Made(_));
        let files = self.touched.gone.values().filter(|record| is_made(record)).map(|record| &record.file);
        for file in files.collect::<BTreeSet<&RepoPath>>() {
            let is_coming = self.touched.coming().any(|application| application.file == *file);
            let mut records = self.state.of_file(file)?.into_iter();
            if !is_coming && !records.any(|record| is_made(&record) && self.stays(&record)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether nothing is on the branches at the paths of those that come, in them or around them, but what goes.
    fn paths_are_free(&self, coming: &[Arc<Application>]) -> Result<bool, Stopped> {
        let gone = self.touched.gone.values().map(|record| (&record.branch, &record.sync_path));
        let gone: BTreeSet<(&BranchName, &RepoPath)> = gone.collect();
        let mut trees: BTreeMap<&BranchName, HydratedTree<'_>> = BTreeMap::new();
        for application in coming {
            let (name, path) = (application.environment_branch(), &application.sync_path);
            let Some(tip) = self.branches.get(name).and_then(|branch| branch.tip.as_ref()) else { return Ok(false) };
            let tree = trees.entry(name).or_insert_with(|| self.found.tree_of(tip.tree));
            if !gone.contains(&(name, path)) && !tree.is_free(path, &[MANIFEST, METADATA])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn joined(
        &self,
        name: &BranchName,
        coming: &[Arc<Application>],
        named: &[Arc<Application>],
    ) -> Result<Joined, Stopped> {
        let staying = self.state.head.staying(name).map(|staying| staying.applications);
        let count = self.known(name).map(|known| known.applications).or(staying).ok_or(Stopped::NotPlain)?;
        let here = |all: &[Arc<Application>]| -> BTreeSet<Destination> {
            let here = all.iter().filter(|application| application.environment_branch() == name);
            here.map(|application| destination(application)).collect()
        };
        let gone = self.touched.gone.values().filter(|record| record.branch == *name);
        let went: Option<BTreeSet<Destination>> = gone.map(destination_of).collect();
        let (came, went, stay) = (here(coming), went.ok_or(Stopped::NotPlain)?, here(named));
        let applications = (count + came.len()).checked_sub(went.len()).ok_or(Stopped::Unknown)?;
        if applications == 0 {
            return Err(Stopped::NotPlain);
        }
        let (before, now) = (&went | &stay, &came | &stay);
        let others = count.checked_sub(before.len()).ok_or(Stopped::Unknown)?;
        let limit = self.found.policy.settings.removal_limit;
        let allowed = self.allowed.contains(name.as_str());
        let removals = removals(name, &before, &now, others, (limit.share, limit.at_least), allowed);
        Ok(Joined { removals: removals.map_err(|_| Stopped::NotPlain)?, applications })
    }
}

/// What the Application of a record wrote; none where clusters keep something of it, of which only its document says what.
fn destination_of(record: &Record) -> Option<Destination> {
    (!record.is_kept).then(|| Destination {
        path: record.sync_path.clone(),
        application: (record.namespace.clone(), record.name.clone()),
        file: record.file.clone(),
        maker: None,
    })
}

/// Whether two paths are one, or one is in the other, but for upper and lower case.
fn are_nested(one: &RepoPath, other: &RepoPath) -> bool {
    let (one, other) = (one.as_str().to_lowercase(), other.as_str().to_lowercase());
    let is_in =
        |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_in(&one, &other) || is_in(&other, &one)
}
