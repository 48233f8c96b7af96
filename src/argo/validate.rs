//! The rules over all Applications of a dry commit.
//!
//! Pure: what is known of the repository and its settings is handed in. Two Applications of one name are no conflict: a
//! repository can have those of several clusters. What they write must differ, and that is checked.
#![expect(clippy::indexing_slicing, reason = "indexes are those of the Applications that are judged")]

mod revisions;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::ContentId;
use sha2::{Digest, Sha256};

use super::conflict::Conflict;
use super::near;
use super::repository::{self, Evidence};
use super::rules;
use super::search::Patterns;
use super::url::RepoUrl;
use super::{Application, BranchName};
use crate::manifest::OWN_CLUSTER;
use revisions::{Revision, followed, revision};

/// What the rules need to know of the repository and its settings.
pub struct Context<'a> {
    /// The branch whose tree has the Applications.
    pub dry_branch: &'a BranchName,
    /// The branch that `HEAD` names, if it names one.
    pub head_branch: Option<&'a BranchName>,
    /// All branches that are hydrated from.
    pub dry_branches: &'a BTreeSet<BranchName>,
    /// All branches that exist.
    pub branches: &'a BTreeSet<BranchName>,
    /// The setting `repoURL`: all URLs of this repository. Empty: not set.
    pub repo_urls: &'a [String],
    /// The setting of the branches that may be written; no pattern allows all.
    pub allowed: &'a Patterns,
    /// The setting `applicationsTo`: the branch that copies of Applications are written to, and nothing else.
    pub copies: Option<&'a BranchName>,
    /// Whether there is a directory in the dry tree, for the inference of `repoURL`.
    pub is_directory: &'a dyn Fn(&RepoPath) -> bool,
    /// The setting `revisions`: whether an Application may name a tag, a range of versions or a commit.
    pub follows: bool,
    /// Whether there is a tag of this name.
    pub is_tag: &'a dyn Fn(&str) -> bool,
    /// Whether several promotion strategies share a branch, by the setting `activePaths`.
    pub is_shared: &'a dyn Fn(&BranchName) -> bool,
}

impl Context<'_> {
    /// An id of all that [`validate`] can learn here about Applications with these revisions and destinations, but for
    /// settings and directories: equal ids, equal verdicts.
    pub fn fingerprint(&self, revisions: &BTreeSet<String>, destinations: &BTreeSet<String>) -> ContentId {
        let mut hash = Sha256::new();
        let head = self.head_branch.map_or("", BranchName::as_str);
        for text in [self.dry_branch.as_str(), head] {
            hash.update(text);
            hash.update([0]);
        }
        for name in revisions {
            hash.update(name);
            hash.update([0, u8::from(self.branches.contains(name.as_str())), u8::from((self.is_tag)(name))]);
        }
        // What one destination is to another changes only with the Applications.
        let others: Vec<_> = self.branches.iter().filter(|branch| !destinations.contains(branch.as_str())).collect();
        for name in destinations {
            let near = BranchName::read(name).is_ok_and(|name| others.iter().any(|other| name.conflicts_with(other)));
            hash.update(name);
            hash.update([0, u8::from(self.dry_branches.contains(name.as_str())), u8::from(near)]);
        }
        ContentId::new(&hash.finalize())
    }
}

/// What the rules say of the Applications.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// For each Application, in the order they were given.
    pub standings: Vec<Standing>,
    /// What is wrong, in the order of files and lines.
    pub findings: Vec<Finding>,
    /// The environment branches whose Applications name a tag, a range or a commit, each with that.
    pub revisions: BTreeMap<BranchName, String>,
}

/// Whether an Application is hydrated from the dry branch in whose tree it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It is.
    Hydrated,
    /// Its `targetRevision` is another branch, which has an Application of its own in its tree.
    OtherBranch,
    /// Its `targetRevision` is a tag, a commit or a version range, or nothing that is known here.
    Pinned,
    /// Its `repoURL` is another repository, or it is not known which this one is.
    OtherRepository,
}

/// Something wrong, and which Applications it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Indexes into the Applications that were given, in ascending order: if it is an error, none of their environment
    /// branches moves.
    pub applications: Vec<usize>,
    /// What is wrong.
    pub diagnostic: Diagnostic,
    /// Whether it is wrong with the branch that they write, and so with all Applications of it.
    pub is_of_branch: bool,
    /// Whether the finding keeps the Applications from the branches that they wrote before, although that was not
    /// decided: what they have there stays.
    pub is_kept_off: bool,
}

/// Judges all Applications of the tree of a dry branch, each already right in itself.
pub fn validate(applications: &[Arc<Application>], context: &Context<'_>) -> Verdict {
    let mut rules = Rules { applications, context, found: Vec::new() };
    let standings = rules.standings();
    let mut hydrated: Vec<usize> = (0..applications.len()).filter(|&i| standings[i] == Standing::Hydrated).collect();
    hydrated.sort_by_key(|&index| (&applications[index].file, applications[index].index));
    rules.names(&hydrated);
    rules.same_names(&hydrated);
    rules.branches(&hydrated);
    rules.near_branches(&hydrated);
    rules.branch_directories(&hydrated);
    rules.staging(&hydrated);
    rules.paths(&hydrated);
    rules.revisions(&hydrated);
    let place = |span: &Span| (span.path.clone(), span.line, span.column);
    rules.found.sort_by_key(|(_, _, span)| place(span));
    let followed = hydrated.iter().filter_map(|index| {
        let application = &applications[*index];
        Some((application.environment_branch().clone(), followed(application, context)?.to_owned()))
    });
    let revisions = followed.collect();
    let findings = rules.found.into_iter().map(|found| Finding::of(found, applications)).collect();
    Verdict { standings, findings, revisions }
}

/// The indexes of Applications, what is wrong with them, and where.
type Found = (Vec<usize>, Conflict, Span);

impl Finding {
    fn of((mut about, conflict, span): Found, applications: &[Arc<Application>]) -> Self {
        let mut last_first = about.iter().rev().map(|index| &applications[*index]);
        let made = last_first.find(|application| application.has_place(&span));
        about.sort_unstable();
        let (is_of_branch, is_kept_off) = (conflict.is_of_branch(), conflict.is_kept_off());
        let diagnostic = conflict.at(span);
        let rule = made.and_then(|made| made.rule).filter(|_| diagnostic.is_error());
        let diagnostic = rule.map_or(diagnostic.clone(), |rule| rules::by_rule(diagnostic, rule));
        let diagnostic = made.map_or(diagnostic.clone(), |made| made.tells(diagnostic));
        Self { applications: about, diagnostic, is_of_branch, is_kept_off }
    }
}

/// The URL of the repository whose tree has these Applications, when enough of them prove it to be kept for good.
pub(crate) fn proven_repository<'a>(applications: &'a [Arc<Application>], context: &Context<'_>) -> Option<&'a str> {
    match weigh(applications, context) {
        Evidence::Proven(one) => Some(&one.dry.repo_url),
        Evidence::Plausible(_) | Evidence::Missing(_) | Evidence::Disagreeing(..) | Evidence::Nothing => None,
    }
}

fn weigh<'a>(applications: &'a [Arc<Application>], context: &Context<'_>) -> Evidence<'a> {
    let is_here = |application: &Application| {
        matches!(revision(&application.dry.target_revision, context), Revision::Branch { here: true })
    };
    repository::evidence(applications, is_here, context.is_directory)
}

/// One pass of all rules.
struct Rules<'a> {
    applications: &'a [Arc<Application>],
    context: &'a Context<'a>,
    found: Vec<Found>,
}

impl<'a> Rules<'a> {
    fn add(&mut self, applications: impl Into<Vec<usize>>, conflict: Conflict, span: &Span) {
        self.found.push((applications.into(), conflict, span.clone()));
    }

    /// Which Applications are hydrated, with a word on those that are not, except for other branches': after a
    /// branch was made, its tree has them all.
    fn standings(&mut self) -> Vec<Standing> {
        let ours = self.repository();
        let applications = self.applications;
        let mut standings = Vec::with_capacity(applications.len());
        let mut missing: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, application) in applications.iter().enumerate() {
            standings.push(match self.elsewhere(application, &ours) {
                _ if !application.has_own_source() => self.without_revision(index, &ours),
                None => self.revision(index, &mut missing),
                Some(other) => {
                    // Where nothing tells which repository this is, that is said once.
                    if let Some(known) = ours.first() {
                        let written = self.context.repo_urls.first().cloned();
                        let (url, known) = (other.to_owned(), written.unwrap_or_else(|| known.to_string()));
                        let is_by_rule = application.rule.is_some();
                        let conflict = Conflict::OtherRepository { url, known, is_by_rule };
                        self.add([index], conflict, &application.places.repo_url);
                    }
                    Standing::OtherRepository
                }
            });
        }
        for (branch, indexes) in missing {
            let Some(first) = indexes.first().map(|index| &applications[*index]) else { continue };
            let conflict = Conflict::NoSuchBranch {
                branch: branch.to_owned(),
                count: indexes.len(),
                dry_branch: self.context.dry_branch.clone(),
            };
            self.add(indexes, conflict, &first.places.target_revision);
        }
        standings
    }

    /// The first URL of its sources that are no inputs which is not one of ours.
    fn elsewhere<'s>(&self, application: &'s Application, ours: &BTreeSet<RepoUrl>) -> Option<&'s str> {
        let urls = application.all_sources().filter(|source| source.input.is_none()).map(|source| &source.repo_url);
        let is_ours = |url: &&String| ours.iter().any(|ours| ours.is_same(&RepoUrl::new(url)));
        urls.into_iter().find(|url| !is_ours(url)).map(String::as_str)
    }

    /// An Application whose sources are all from elsewhere names no branch: it is taken from the default one.
    fn without_revision(&mut self, index: usize, ours: &BTreeSet<RepoUrl>) -> Standing {
        if ours.is_empty() {
            let at = &self.applications[index].places.repo_url;
            self.add([index], Conflict::RepositoryUnknown, at);
            return Standing::OtherRepository;
        }
        let is_head = self.context.head_branch == Some(self.context.dry_branch);
        if is_head { Standing::Hydrated } else { Standing::OtherBranch }
    }

    /// The URLs of this repository; none when that is not known, which is reported.
    fn repository(&mut self) -> BTreeSet<RepoUrl> {
        let set: BTreeSet<RepoUrl> = self.context.repo_urls.iter().map(|url| RepoUrl::new(url)).collect();
        if !set.is_empty() {
            return set;
        }
        let applications = self.applications;
        let all: Vec<usize> = (0..applications.len()).collect();
        match weigh(applications, self.context) {
            Evidence::Proven(one) | Evidence::Plausible(one) => [RepoUrl::new(&one.dry.repo_url)].into(),
            Evidence::Nothing => BTreeSet::new(),
            Evidence::Missing(one) => {
                let conflict =
                    Conflict::RepositoryUnproven { url: one.dry.repo_url.clone(), path: one.dry.path.clone() };
                self.add(all, conflict, &one.places.dry_path);
                BTreeSet::new()
            }
            Evidence::Disagreeing(first, second) => {
                let conflict = Conflict::RepositoryUnclear {
                    url: second.dry.repo_url.clone(),
                    other: first.dry.repo_url.clone(),
                    at: first.places.repo_url.clone(),
                };
                self.add(all, conflict, &second.places.repo_url);
                BTreeSet::new()
            }
        }
    }

    /// Whether an Application is hydrated from this dry branch. Those of a branch that does not exist go into `missing`.
    fn revision(&mut self, index: usize, missing: &mut BTreeMap<&'a str, Vec<usize>>) -> Standing {
        let application: &'a Application = &self.applications[index];
        // All sources that are here must be of this branch.
        for source in application.all_sources().filter(|source| source.input.is_none()) {
            let text = &source.target_revision;
            match revision(text, self.context) {
                Revision::Branch { here: true } => {}
                Revision::Branch { here: false } => return Standing::OtherBranch,
                Revision::NoBranch | Revision::Pinned(_) if self.context.follows => {
                    // What is on no branch is taken from the default one.
                    let is_head = self.context.head_branch == Some(self.context.dry_branch);
                    return if is_head { Standing::Hydrated } else { Standing::OtherBranch };
                }
                Revision::NoBranch => {
                    missing.entry(text).or_default().push(index);
                    return Standing::Pinned;
                }
                Revision::Pinned(kind) => {
                    let dry_branch = self.context.dry_branch.clone();
                    let conflict = Conflict::Pinned { revision: text.clone(), kind, dry_branch };
                    self.add([index], conflict, &application.places.target_revision);
                    return Standing::Pinned;
                }
            }
        }
        Standing::Hydrated
    }

    /// An Application that something makes is the only one of its name in its namespace: a cluster has one, and what makes it
    /// takes it over. Those that are in files may be for different clusters. One without a namespace may be in any.
    fn names(&mut self, hydrated: &[usize]) {
        let mut by_name: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for &index in hydrated {
            by_name.entry(&self.applications[index].name).or_default().push(index);
        }
        let all = self.applications;
        let may_be_one = |a: usize, b: usize| {
            let (one, other) = (&all[a], &all[b]);
            let (a, b) = (&one.namespace, &other.namespace);
            one.instance == other.instance && (a.is_none() || b.is_none() || a == b)
        };
        for of_name in by_name.into_values().filter(|of_name| of_name.len() > 1) {
            let made = of_name.iter().rev().copied().filter(|index| all[*index].maker.is_some());
            let pairs = made.filter_map(|made| {
                let other = of_name.iter().copied().find(|other| *other != made && may_be_one(made, *other))?;
                Some((made, other))
            });
            let Some((made, other)) = pairs.into_iter().next() else { continue };
            let Some(maker) = &all[made].maker else { continue };
            let same: Vec<usize> = of_name.into_iter().filter(|index| may_be_one(made, *index)).collect();
            let (name, at) = (all[made].name.clone(), all[other].places.name.clone());
            let conflict = Conflict::MadeTwice { name, by: maker.by.clone(), at };
            self.add(same, conflict, &all[made].places.name);
        }
    }

    /// Applications of one name in files, where one Argo CD would have both: they write to one environment, or to clusters
    /// that an Argo CD elsewhere knows by name. All of them are reported at once.
    fn same_names(&mut self, hydrated: &[usize]) {
        let all = self.applications;
        let mut by_name: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for &index in hydrated.iter().filter(|index| all[**index].maker.is_none()) {
            let Application { instance, namespace, name, .. } = &*all[index];
            by_name.entry((instance, namespace, name)).or_default().push(index);
        }
        by_name.retain(|_, of_name| is_of_one_argo_cd(of_name.iter().map(|index| &*all[*index])));
        let Some([first, second, ..]) = by_name.values().next().map(Vec::as_slice) else { return };
        let (at, span) = (all[*first].places.name.clone(), all[*second].places.name.clone());
        let names = by_name.keys().map(|(_, _, name)| (*name).clone()).collect();
        let indexes: Vec<usize> = by_name.into_values().flatten().collect();
        self.add(indexes, Conflict::SameName { names, at }, &span);
    }

    /// Branches that do not exist yet and have nearly the name of one that does.
    fn near_branches(&mut self, hydrated: &[usize]) {
        let all = self.applications;
        let mut new: BTreeMap<&BranchName, (&Span, Vec<usize>)> = BTreeMap::new();
        for &index in hydrated {
            let sync = (&all[index].sync_branch, &all[index].places.sync_branch);
            for (branch, span) in staging_of(&all[index]).into_iter().chain([sync]) {
                if !self.context.branches.contains(branch) {
                    new.entry(branch).or_insert((span, Vec::new())).1.push(index);
                }
            }
        }
        for (branch, (span, indexes)) in new {
            let others = self.context.branches.iter().filter(|other| !self.context.dry_branches.contains(*other));
            let mut others = others.filter(|other| other.destination() == branch.destination());
            if let Some(near) = others.find(|other| near::is_near_branch(branch.as_str(), other.as_str())) {
                self.add(indexes, Conflict::NearBranch { branch: branch.clone(), near: near.clone() }, span);
            }
        }
    }

    /// Branches that an Application must not write, each by itself.
    fn branches(&mut self, hydrated: &[usize]) {
        for &index in hydrated {
            let application = &self.applications[index];
            let places = &application.places;
            let written = [Some((&application.sync_branch, &places.sync_branch)), staging_of(application)];
            for (branch, span) in written.into_iter().flatten() {
                if self.context.dry_branches.contains(branch) || branch == self.context.dry_branch {
                    self.add([index], Conflict::DestinationIsDry { branch: branch.clone() }, span);
                }
            }
        }
        self.forbidden_branches(hydrated);
    }

    /// Branches that the settings do not allow, each once.
    fn forbidden_branches(&mut self, hydrated: &[usize]) {
        let mut forbidden: BTreeMap<&BranchName, (&Span, Vec<usize>)> = BTreeMap::new();
        for &index in hydrated {
            let application = &self.applications[index];
            // A sync branch is written too, when it does not exist yet.
            let sync = (&application.sync_branch, &application.places.sync_branch);
            for (branch, span) in staging_of(application).into_iter().chain([sync]) {
                if !self.context.allowed.matches(branch.as_str()) || self.copies_at(branch).is_some() {
                    forbidden.entry(branch).or_insert_with(|| (span, Vec::new())).1.push(index);
                }
            }
        }
        for (branch, (span, applications)) in forbidden {
            let conflict = match self.copies_at(branch) {
                Some(copies) => Conflict::DestinationOfCopies { branch: branch.clone(), copies: copies.clone() },
                None => Conflict::DestinationForbidden { branch: branch.clone() },
            };
            self.add(applications, conflict, span);
        }
    }

    /// The branch of copies, when `branch` is it, or is not there yet and cannot be made beside it.
    fn copies_at(&self, branch: &BranchName) -> Option<&BranchName> {
        let is_in_the_way =
            |copies: &BranchName| branch.conflicts_with(copies) && !self.context.branches.contains(branch);
        self.context.copies.filter(|copies| *copies == branch || is_in_the_way(copies))
    }

    /// A branch can't be the directory of another one, new or existing. Of two, the one that exists is right.
    fn branch_directories(&mut self, hydrated: &[usize]) {
        let mut users: BTreeMap<&BranchName, (&Span, BTreeSet<usize>)> = BTreeMap::new();
        for &index in hydrated {
            let application = &self.applications[index];
            let sync = Some((&application.sync_branch, &application.places.sync_branch));
            for (branch, span) in [sync, staging_of(application)].into_iter().flatten() {
                users.entry(branch).or_insert_with(|| (span, BTreeSet::new())).1.insert(index);
            }
        }
        let exists = |branch: &BranchName| self.context.branches.contains(branch);
        // A directory of several that exist is reported once.
        let mut reported: BTreeSet<BranchName> = BTreeSet::new();
        for (branch, (span, indexes)) in &users {
            for directory in directories(branch) {
                if let Some((at, others)) = users.get(&&directory).filter(|_| exists(branch)) {
                    if reported.insert(directory.clone()) {
                        let at_other = Some((*span).clone());
                        let conflict = Conflict::BranchDirectory {
                            branch: directory.clone(),
                            other: (*branch).clone(),
                            at: at_other,
                        };
                        self.add(others.iter().copied().collect::<Vec<_>>(), conflict, at);
                    }
                } else if let Some((at, others)) = users.get(&&directory).filter(|_| !exists(&directory)) {
                    let all: Vec<usize> = indexes.union(others).copied().collect();
                    let conflict = Conflict::BranchDirectory {
                        branch: (*branch).clone(),
                        other: directory.clone(),
                        at: Some((*at).clone()),
                    };
                    self.add(all, conflict, span);
                } else if exists(&directory) {
                    let at = users.get(&&directory).map(|(at, _)| (*at).clone());
                    let conflict = Conflict::BranchDirectory { branch: (*branch).clone(), other: directory, at };
                    self.add(indexes.iter().copied().collect::<Vec<_>>(), conflict, span);
                }
            }
            let below = format!("{branch}/");
            let from = (Bound::Included(below.as_str()), Bound::Unbounded);
            let inner = self.context.branches.range::<str, _>(from).next();
            if let Some(inner) = inner.filter(|inner| inner.as_str().starts_with(&below))
                && !users.contains_key(inner)
            {
                let conflict = Conflict::BranchDirectory { branch: (*branch).clone(), other: inner.clone(), at: None };
                self.add(indexes.iter().copied().collect::<Vec<_>>(), conflict, span);
            }
        }
    }

    /// One staging branch is for one sync branch, and a sync branch that is staged for is neither written directly nor, unless
    /// it is shared by path, staged for on another branch.
    fn staging(&mut self, hydrated: &[usize]) {
        let mut first: BTreeMap<&BranchName, usize> = BTreeMap::new();
        let mut staged: BTreeMap<&BranchName, usize> = BTreeMap::new();
        for &index in hydrated {
            let application = &self.applications[index];
            if application.environment_branch() != &application.sync_branch {
                staged.entry(&application.sync_branch).or_insert(index);
            }
        }
        for &index in hydrated {
            let application = &self.applications[index];
            let branch = application.environment_branch();
            let other = *first.entry(branch).or_insert(index);
            let earlier = &self.applications[other];
            if earlier.sync_branch != application.sync_branch {
                let conflict = Conflict::SyncBranchesDiffer {
                    branch: branch.clone(),
                    sync: application.sync_branch.clone(),
                    other: earlier.sync_branch.clone(),
                    at: earlier.places.sync_branch.clone(),
                };
                self.add([other, index], conflict, &application.places.sync_branch);
            } else if let Some(&other) = staged.get(branch) {
                let stager = &self.applications[other];
                let conflict = Conflict::SyncBranchWritten {
                    branch: branch.clone(),
                    staging: stager.environment_branch().clone(),
                    at: stager.places.environment_branch().clone(),
                };
                self.add([index, other], conflict, application.places.environment_branch());
            }
        }
    }

    /// No two Applications write one directory of a branch, nor one inside of the other's.
    fn paths(&mut self, hydrated: &[usize]) {
        let mut taken: BTreeMap<&BranchName, BTreeMap<RepoPath, usize>> = BTreeMap::new();
        let mut folded: BTreeMap<(&BranchName, String), usize> = BTreeMap::new();
        for &index in hydrated {
            let application = &self.applications[index];
            let (branch, path) = (application.environment_branch(), &application.sync_path);
            let span = &application.places.sync_path;
            let taken = taken.entry(branch).or_default();
            let around = std::iter::successors(Some(path.clone()), RepoPath::parent)
                .find_map(|outer| taken.get(&outer).map(|other| (outer.clone(), *other)));
            if let Some((outer, other)) = around {
                let owner = &self.applications[other];
                let (name, at) = (owner.name.clone(), owner.places.sync_path.clone());
                let (path, branch) = (path.clone(), branch.clone());
                let conflict = if outer == path {
                    Conflict::PathTaken { path, branch, other: name, at }
                } else {
                    Conflict::PathInside { path, branch, outer, other: name, at }
                };
                self.add([other, index], conflict, span);
            }
            let below = format!("{path}/");
            let from = (Bound::Included(below.as_str()), Bound::Unbounded);
            // Of many inside of one, only the first is reported: the outer one is to be moved.
            let inner = taken.range::<str, _>(from).next().filter(|(inner, _)| inner.as_str().starts_with(&below));
            if let Some((inner, &other)) = inner {
                let owner = &self.applications[other];
                let conflict = Conflict::PathAround {
                    path: path.clone(),
                    branch: branch.clone(),
                    inner: inner.clone(),
                    other: owner.name.clone(),
                    at: owner.places.sync_path.clone(),
                };
                self.add([other, index], conflict, span);
            }
            taken.entry(path.clone()).or_insert(index);
            let other = *folded.entry((branch, path.as_str().to_lowercase())).or_insert(index);
            let owner = &self.applications[other];
            if owner.sync_path != *path {
                let conflict = Conflict::PathCase {
                    path: path.clone(),
                    branch: branch.clone(),
                    other: owner.sync_path.clone(),
                    name: owner.name.clone(),
                    at: owner.places.sync_path.clone(),
                };
                self.add([other, index], conflict, span);
            }
        }
    }
}

/// Whether two of the Applications are for one Argo CD, as far as they tell: they have one environment, or one of them is
/// for a cluster other than the one that its Argo CD runs in.
fn is_of_one_argo_cd<'a>(applications: impl ExactSizeIterator<Item = &'a Application>) -> bool {
    let count = applications.len();
    let (mut environments, mut is_remote) = (BTreeSet::new(), false);
    for application in applications {
        environments.insert(&application.sync_branch);
        let cluster = application.destination_cluster.as_deref();
        is_remote |= cluster.is_some_and(|cluster| cluster != OWN_CLUSTER);
    }
    count > 1 && (is_remote || environments.len() < count)
}

fn staging_of(application: &Application) -> Option<(&BranchName, &Span)> {
    application.hydrate_to.as_ref().zip(application.places.hydrate_to.as_ref())
}

/// All names that a branch needs as directories, from the outermost in.
fn directories(branch: &BranchName) -> Vec<BranchName> {
    let slashes = branch.as_str().match_indices('/');
    slashes.filter_map(|(at, _)| BranchName::read(branch.as_str().get(..at)?).ok()).collect()
}

#[cfg(test)]
mod tests;
