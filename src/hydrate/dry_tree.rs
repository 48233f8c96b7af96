//! A dry commit as hydration sees it: its Applications, and what is wrong with them before anything is rendered.

mod former;
mod mistaken;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use crate::argo::parent::Parent;
use crate::argo::set::ApplicationSet;
use crate::argo::{self, AppName, Application, BranchName, By, Maker, Verdict};
use crate::discover::{Broken, Destination, Discovered, Expanded, Unanswered, Unusable};
use crate::metadata::DryCommit;
use crate::repo::ObjectId;

pub(crate) use former::{Former, destination};

pub(crate) use mistaken::Mistaken;
use mistaken::identity;
pub(crate) use trees::DryTrees;

/// A dry commit and the Applications of its tree.
#[derive(Debug)]
pub(crate) struct DryTree {
    /// The dry branch as which it was judged.
    branch: BranchName,
    /// The commit of the settings by which they were found.
    pub settings: Option<ObjectId>,
    /// What its metadata say of it.
    pub commit: DryCommit,
    /// Its tree.
    pub tree: ObjectId,
    /// The branches from which the commit's trailers allow many Applications to be removed.
    pub allowed_removals: BTreeSet<String>,
    discovered: Discovered,
    /// Whether what others make is hydrated, and the roots that may make some.
    makes: bool,
    roots: Vec<AppName>,
    verdict: Verdict,
    by_branch: BTreeMap<BranchName, OfBranch>,
    /// The URL of this repository, where no setting has it and the Applications prove it.
    pub proven_url: Option<String>,
}

/// Makers of one Application.
type Makers<'m> = Box<dyn Iterator<Item = &'m Arc<Maker>> + 'm>;

/// What is hydrated onto a branch: each branch is asked for, and only what is its own is looked at.
#[derive(Debug, Default)]
struct OfBranch {
    /// The Applications that write it.
    applications: Vec<Arc<Application>>,
    /// Those that are deployed from it and write a staging branch, by which a promoter writes it.
    promoted: Vec<Arc<Application>>,
}

impl DryTree {
    /// The Applications that are hydrated from this dry branch onto `branch`.
    pub(crate) fn applications<'t>(
        &'t self,
        branch: &BranchName,
    ) -> impl Iterator<Item = &'t Arc<Application>> + use<'t> {
        self.by_branch.get(branch).into_iter().flat_map(|of| &of.applications)
    }

    /// The dry branch.
    pub(crate) fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Whether it has no Application that asks to be hydrated, good or bad.
    pub(crate) fn is_empty(&self) -> bool {
        let Discovered { applications, mistakes, broken, misspelt, .. } = &self.discovered;
        applications.is_empty() && mistakes.is_empty() && broken.is_empty() && misspelt.is_empty()
    }

    /// Whether it certainly has no such Application as `now` has: none of the name, and what cannot be read of it is not it. What `now`
    /// cannot read either is nothing that the Application came from.
    pub(crate) fn lacks(&self, application: &Application, now: &Self) -> bool {
        let Discovered { broken, mistakes, unusable, unanswered, misspelt, .. } = &self.discovered;
        let is_its = |file: &RepoPath| *file == application.file;
        let is_broken = |file: &RepoPath| now.discovered.broken.iter().any(|one| one.file == *file);
        let file = |mistake: &'_ Diagnostic| mistake.span.as_ref().map(|span| span.path.clone());
        let is_wrong = |of: &RepoPath| now.discovered.mistakes.iter().any(|(_, one)| file(one).as_ref() == Some(of));
        let of_other = |mistake: &Diagnostic| file(mistake).is_some_and(|file| !is_its(&file) && is_wrong(&file));
        let is_named =
            |of: &Option<(Option<AppName>, AppName)>| of.as_ref().is_none_or(|(_, name)| *name == application.name);
        let is_unanswered = |by: &By| now.discovered.unanswered.iter().any(|one| one.by == *by);
        let is_made_by = |by: &By| self.makers(application).any(|maker| maker.is_below(by));
        self.discovered.unlisted.is_none()
            && self.discovered.unsearched().is_none()
            && !self.all().any(|one| identity(one) == identity(application))
            && broken.iter().all(|one| !is_its(&one.file) && is_broken(&one.file))
            && mistakes.iter().all(|(_, one)| !one.is_error() || of_other(one))
            && !unusable.iter().any(|document| document.may_be(application))
            && !misspelt.iter().any(|one| is_its(&one.file) || is_named(&one.application))
            && unanswered.iter().all(|one| is_unanswered(&one.by) && !is_made_by(&one.by))
    }

    /// Whether nothing is wrong with any Application.
    pub(crate) fn is_sound(&self) -> bool {
        let mut mistakes = self.discovered.mistakes.iter().map(|(_, mistake)| mistake);
        let mut findings = self.verdict.findings.iter().map(|finding| &finding.diagnostic);
        // A set that is not answered holds back the branches that it fed, and no others.
        let is_read = self.discovered.broken.is_empty() && self.discovered.unlisted.is_none();
        is_read && !mistakes.any(Diagnostic::is_error) && !findings.any(Diagnostic::is_error)
    }

    /// The files that something is wrong with: what is wrong follows from them, and from the Applications beside one another. None
    /// where it follows from more than that.
    pub(crate) fn wrong_files(&self) -> Option<BTreeSet<RepoPath>> {
        let Discovered { misspelt, unanswered, .. } = &self.discovered;
        let mut files = self.files_with_mistakes()?;
        files.extend(unanswered.iter().map(|unanswered| unanswered.file.clone()));
        if !files.is_empty() {
            files.extend(misspelt.iter().map(|misspelt| misspelt.file.clone()));
        }
        Some(files)
    }

    /// The files of sets that are not answered, where nothing else is wrong.
    pub(crate) fn unanswered_files(&self) -> BTreeSet<RepoPath> {
        let Discovered { misspelt, unanswered, .. } = &self.discovered;
        let wrong = self.files_with_mistakes().unwrap_or_default();
        let is_wrong = |file: &RepoPath| wrong.contains(file) || misspelt.iter().any(|misspelt| misspelt.file == *file);
        let is_set = |by: &By| matches!(by, By::ApplicationSet { .. });
        let sets = unanswered.iter().filter(|unanswered| is_set(&unanswered.by) && !unanswered.is_limit);
        let files = sets.map(|unanswered| &unanswered.file);
        files.filter(|file| !is_wrong(file)).cloned().collect()
    }

    fn files_with_mistakes(&self) -> Option<BTreeSet<RepoPath>> {
        let Discovered { broken, mistakes, unusable, unlisted, .. } = &self.discovered;
        if unlisted.is_some() || broken.iter().any(|broken| broken.is_limit || broken.file.is_root()) {
            return None;
        }
        let documents = unusable.iter().flat_map(|document| &document.mistakes);
        let all = mistakes.iter().map(|(_, mistake)| mistake).chain(documents);
        let mut files = BTreeSet::new();
        for mistake in all.filter(|mistake| mistake.is_error()) {
            files.insert(mistake.span.as_ref()?.path.clone());
        }
        files.extend(broken.iter().map(|broken| broken.file.clone()));
        for finding in self.verdict.findings.iter().filter(|finding| finding.diagnostic.is_error()) {
            let about = finding.applications.iter().filter_map(|index| self.judged(*index));
            files.extend(about.map(|(application, _)| application.file.clone()));
        }
        Some(files)
    }

    /// What Applications have for revisions, and the branches that they name to be written.
    pub(crate) fn branch_names(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let applications = &self.discovered.applications;
        let destinations = applications.iter().flat_map(|app| [&app.sync_branch, app.environment_branch()]);
        let destinations: BTreeSet<&str> = destinations.map(BranchName::as_str).collect();
        let revisions: BTreeSet<&str> = applications.iter().map(|app| app.revision_name()).collect();
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        (owned(revisions), owned(destinations))
    }

    /// How many Applications it has, those that are not hydrated and those that others make among them.
    pub(crate) fn count(&self) -> usize {
        self.discovered.applications.len()
    }

    /// How many documents of its files are Applications, whether or not they count.
    pub(crate) fn documents(&self) -> usize {
        self.discovered.documents
    }

    /// The files that kustomizations name as patches, each with the first kustomization that does.
    pub(crate) fn patches(&self) -> &BTreeMap<RepoPath, RepoPath> {
        &self.discovered.patches
    }

    /// The Applications that are hydrated from this dry branch.
    pub(crate) fn hydrated(&self) -> impl Iterator<Item = &Arc<Application>> {
        hydrated(&self.verdict, &self.discovered)
    }

    /// All Applications, those that are not hydrated among them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Application>> {
        self.discovered.applications.iter()
    }

    /// The Applications that name another branch, which exists.
    pub(crate) fn not_hydrated(&self) -> impl Iterator<Item = &Arc<Application>> {
        let standings = self.verdict.standings.iter().zip(&self.discovered.applications);
        let others = standings.filter(|(standing, _)| **standing == argo::Standing::OtherBranch);
        others.map(|(_, application)| application)
    }

    /// The Applications that name something that does not move with a push, and the warnings that say so.
    pub(crate) fn pinned(&self) -> impl Iterator<Item = (&Application, &Diagnostic)> {
        let findings = self.verdict.findings.iter().filter(|finding| !finding.is_kept_off);
        let about = findings.flat_map(|finding| finding.applications.iter().map(move |index| (index, finding)));
        about.filter_map(|(index, finding)| {
            let (application, standing) = self.judged(*index)?;
            (standing == argo::Standing::Pinned).then_some((application, &finding.diagnostic))
        })
    }

    /// What this dry branch writes to `branch`.
    pub(crate) fn destinations(&self, branch: &BranchName) -> BTreeSet<Destination> {
        self.applications(branch).map(|application| destination(application)).collect()
    }

    /// The paths on `active` that come with a staging branch, by which a promoter writes them.
    pub(crate) fn promoted<'t>(&'t self, active: &BranchName) -> impl Iterator<Item = &'t RepoPath> + use<'t> {
        let promoted = self.by_branch.get(active).into_iter().flat_map(|of| &of.promoted);
        promoted.map(|application| &application.sync_path)
    }

    /// The tag, range or commit that the Applications of `branch` name, if they name none of the dry branch.
    pub(crate) fn revision(&self, branch: &BranchName) -> Option<&str> {
        self.verdict.revisions.get(branch).map(String::as_str)
    }

    /// Whether `branch` is written by a promoter alone.
    pub(crate) fn is_active(&self, branch: &BranchName) -> bool {
        self.promoted(branch).next().is_some() && self.applications(branch).next().is_none()
    }

    /// Whether the dry commit says that much may be removed from `branch`.
    pub(crate) fn allows_removal(&self, branch: &BranchName) -> bool {
        self.allowed_removals.contains(branch.as_str())
    }

    /// The makers that are not answered.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &Unanswered> {
        self.discovered.unanswered.iter()
    }

    /// What is wrong with files of which it is not known which Applications they contain.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &Diagnostic> {
        self.discovered.broken.iter().map(|broken| &broken.diagnostic)
    }

    /// The makers that are answered neither here nor at `before`.
    pub(crate) fn unanswered_as_in<'t>(&'t self, before: &'t DryTree) -> impl Iterator<Item = &'t Unanswered> {
        let at = |by: &By| before.discovered.unanswered.iter().any(|unanswered| unanswered.by == *by);
        self.discovered.unanswered.iter().filter(move |unanswered| at(&unanswered.by))
    }

    /// Warnings of the sets that made Applications of a branch before, and make none at all now.
    pub(crate) fn emptied_sets(&self, branch: &BranchName, former: &Former) -> Vec<Diagnostic> {
        let is_of = |mut makers: Makers<'_>, by: &By| makers.any(|maker| maker.by == *by);
        let mut emptied = Vec::new();
        for found in &self.discovered.sets {
            let by = found.set.by();
            let before =
                former.applications.iter().filter(|application| is_of(former.makers(application), &by)).count();
            let is_known = !self.discovered.unanswered.iter().any(|unanswered| unanswered.by == by);
            let is_empty = is_known
                && !self.discovered.applications.iter().any(|application| is_of(self.makers(application), &by));
            if before > 0 && is_empty {
                emptied.push(found.set.emptied(branch, before));
            }
        }
        emptied
    }

    /// The Applications that made others of a branch before and were not looked into here.
    pub(crate) fn silent_parents(&self, former: &Former) -> Vec<&Application> {
        let made = former.applications.iter().flat_map(|application| former.makers(application));
        let made_by: BTreeSet<&By> = made.flat_map(|maker| maker.parents()).collect();
        if made_by.is_empty() {
            return Vec::new();
        }
        let mut silent = Vec::new();
        for application in &self.discovered.applications {
            let parent = Parent::of(application);
            let mut expanded = self.discovered.expanded.iter();
            let is_expanded = |one: &Expanded| one.file == parent.file && one.ordinal == parent.ordinal();
            if made_by.contains(&parent.by) && !expanded.any(is_expanded) {
                silent.push(&**application);
            }
        }
        silent
    }

    /// Whether it has an Application that a maker names as its parent.
    pub(crate) fn has_parent(&self, parent: &By) -> bool {
        self.discovered.applications.iter().any(|application| Parent::of(application).by == *parent)
    }

    /// What makes an Application: several may make it alike.
    pub(crate) fn makers<'t>(&'t self, application: &'t Application) -> Makers<'t> {
        let identity = application.identity();
        let others = self.discovered.other_makers.get(&identity).into_iter().flatten();
        Box::new(application.maker.iter().chain(others))
    }

    /// Whether several makers make an Application of it.
    pub(crate) fn has_shared(&self) -> bool {
        !self.discovered.other_makers.is_empty()
    }

    /// Whether an Application was rendered for what it makes.
    pub(crate) fn is_parent(&self, application: &Application) -> bool {
        let parent = Parent::of(application);
        let mut expanded = self.discovered.expanded.iter();
        expanded.any(|one| one.file == parent.file && one.ordinal == parent.ordinal())
    }

    /// The ApplicationSet in a file that makes an Application; none for another maker.
    pub(crate) fn written_set(&self, maker: &Maker) -> Option<&ApplicationSet> {
        let mut sets = self.discovered.sets.iter().filter(|found| found.file.0 == maker.file);
        sets.find(|found| found.set.by() == maker.by).map(|found| &*found.set)
    }

    /// Whether it has something that makes Applications for us, if that is on.
    pub(crate) fn has_makers(&self) -> bool {
        let Discovered { applications, sets, unanswered, .. } = &self.discovered;
        !sets.is_empty() || !unanswered.is_empty() || applications.iter().any(|application| application.maker.is_some())
    }

    /// Whether the Applications of a file or a maker are unknown, so that what fed a branch before counts.
    pub(crate) fn is_open(&self) -> bool {
        !self.discovered.broken.is_empty() || !self.discovered.unanswered.is_empty()
    }

    /// What the Applications follow from that others make, or that lists of clusters say something of.
    pub(crate) fn expanded(&self) -> &[Expanded] {
        &self.discovered.expanded
    }

    /// What is wrong with the Applications of one branch, before anything is rendered. Of those that are in each
    /// other's way, at least one is not paused.
    pub(crate) fn mistakes(&self, branch: &BranchName, former: &Former) -> Vec<Diagnostic> {
        let applications = &self.discovered.applications;
        let ours = |index: &usize| applications.get(*index).is_some_and(|app| app.environment_branch() == branch);
        let active = |index: &usize| applications.get(*index).is_some_and(|app| !app.paused);
        let findings = self
            .verdict
            .findings
            .iter()
            .filter(|finding| finding.applications.iter().any(ours) && finding.applications.iter().any(active));
        let documents = self.discovered.mistakes.iter().filter(|(of, _)| of.as_ref() == Some(branch));
        let broken = self.unread_files(former).filter(|broken| !broken.is_limit);
        let all = documents.map(|(_, mistake)| mistake).chain(broken.map(|broken| &broken.diagnostic));
        let unanswered = self.holding(former).filter(|unanswered| !unanswered.is_limit);
        let is_written = self.applications(branch).next().is_some();
        let unlisted = self.discovered.unlisted.iter().filter(|_| is_written);
        let all = all.chain(findings.map(|finding| &finding.diagnostic)).chain(unlisted);
        let all = all.chain(unanswered.map(|unanswered| &unanswered.diagnostic));
        all.filter(|diagnostic| diagnostic.is_error()).cloned().collect()
    }

    /// Whether a mistake may be about `application` of this dry commit or of an earlier one. Of a document it is about the
    /// Application that the document was, of some that are in each other's way about these, else about all.
    pub(crate) fn is_about(&self, mistake: &Diagnostic, application: &Application) -> bool {
        let Discovered { unusable, .. } = &self.discovered;
        if let Some(document) = unusable.iter().find(|document| document.mistakes.contains(mistake)) {
            return document.may_be(application);
        }
        match self.verdict.findings.iter().find(|finding| finding.diagnostic == *mistake && !finding.is_of_branch) {
            Some(finding) => {
                let about = finding.applications.iter().filter_map(|index| self.judged(*index));
                about.map(|(one, _)| identity(one)).any(|one| one == identity(application))
            }
            None => true,
        }
    }

    /// The limits of this machine that keep from knowing which Applications one branch has: they say nothing about the dry
    /// commit.
    pub(crate) fn limits(&self, former: &Former) -> Vec<Diagnostic> {
        let limits = self.holding(former).filter(|unanswered| unanswered.is_limit);
        let limits = limits.map(|unanswered| &unanswered.diagnostic);
        let broken = self.unread_files(former).filter(|broken| broken.is_limit).map(|broken| &broken.diagnostic);
        limits.chain(broken).cloned().collect()
    }

    /// The files that cannot be read and fed a branch before; the root among them when the tree is not searched.
    fn unread_files<'t>(&'t self, former: &'t Former) -> impl Iterator<Item = &'t Broken> {
        self.discovered.broken.iter().filter(|broken| former.feeds(&broken.file))
    }

    /// The makers that are not answered and fed a branch at the dry commit that it was hydrated from last.
    fn holding<'t>(&'t self, former: &'t Former) -> impl Iterator<Item = &'t Unanswered> {
        let fed = move |unanswered: &&Unanswered| former.is_fed_by(unanswered, self);
        self.discovered.unanswered.iter().filter(fed)
    }

    /// Mistakes in documents whose branch cannot be determined, in files that had Applications of this one; and those by
    /// which an Application of this branch seems to have left: near misses of `sourceHydrator`, URLs of other repositories,
    /// revisions that do not exist, destinations that are refused, settings by which nothing is made any more. What is
    /// wrong in `explained` files is known to be about others.
    pub(crate) fn unread(
        &self,
        branch: &BranchName,
        former: &Former,
        explained: &BTreeSet<RepoPath>,
    ) -> Vec<Diagnostic> {
        let fed = |mistake: &&Diagnostic| {
            let file = mistake.span.as_ref().map(|span| &span.path);
            file.is_some_and(|file| former.feeds(file) && !explained.contains(file))
        };
        let loose = self.discovered.mistakes.iter().filter(|(of, _)| of.is_none()).map(|(_, mistake)| mistake);
        let mut unread: Vec<Diagnostic> = loose.filter(|mistake| mistake.is_error()).filter(fed).cloned().collect();
        let written: BTreeSet<&RepoPath> =
            self.applications(branch).map(|application| &application.sync_path).collect();
        let gone = former.applications.iter().filter(|application| !written.contains(&application.sync_path));
        let (names, files): (BTreeSet<_>, BTreeSet<_>) =
            gone.map(|gone| ((gone.namespace.as_ref(), &gone.name), &gone.file)).unzip();
        for misspelt in &self.discovered.misspelt {
            let is_gone = match &misspelt.application {
                Some((namespace, name)) => names.contains(&(namespace.as_ref(), name)),
                None => files.contains(&misspelt.file),
            };
            if is_gone {
                unread.push(misspelt.diagnostic.as_error());
            }
        }
        let explains = |application: &Application| {
            let identity = (application.namespace.as_ref(), &application.name);
            names.contains(&identity) && !former.is_elsewhere(application, branch)
        };
        let is_here = |application: &Application, standing: argo::Standing| {
            standing == argo::Standing::Hydrated && application.environment_branch() == branch
        };
        for found in self.verdict.findings.iter().filter(|found| found.is_kept_off) {
            let mut about = found.applications.iter().filter_map(|index| self.judged(*index));
            let gone = about.find(|(application, standing)| !is_here(application, *standing) && explains(application));
            let Some((application, _)) = gone else { continue };
            let to = application.environment_branch();
            let mut mistake = found.diagnostic.as_error();
            // What is in the way is on another branch.
            if found.applications.len() > 1 && to != branch {
                mistake.message =
                    format!("`{}` moves to `{to}`, which does not take it: {}", application.name, mistake.message);
            }
            unread.push(mistake);
        }
        let gone = former.applications.iter().filter(|application| !written.contains(&application.sync_path));
        unread.extend(gone.clone().filter(|gone| self.is_not_asked(gone)).filter_map(|gone| gone.not_made()));
        // What is wrong with its document keeps the branch that it names now from taking it.
        let moved = self.discovered.unusable.iter().filter(|document| document.is_of_another(branch));
        let lost = |document: &&Unusable| {
            gone.clone().any(|application| document.may_be(application) && !explained.contains(&application.file))
        };
        unread.extend(moved.filter(lost).flat_map(|document| document.mistakes.iter().cloned()));
        unread
    }

    /// Whether an Application is gone because a setting keeps its maker, which is here, from making any.
    fn is_not_asked(&self, gone: &Application) -> bool {
        let outermost = gone.maker.as_ref().map(|maker| maker.above.last().unwrap_or(&maker.by));
        !self.makes && outermost.is_some_and(|by| self.has_maker(by))
    }

    /// Whether it has a maker, which may make nothing.
    pub(crate) fn has_maker(&self, by: &By) -> bool {
        match by {
            By::ApplicationSet { .. } => self.discovered.sets.iter().any(|found| found.set.by() == *by),
            By::Application { .. } => self.has_parent(by),
            By::Root { name } => self.roots.iter().any(|root| root.as_str() == name),
        }
    }

    /// What is wrong in files that belong to no branch that can be determined, and what is odd, whichever branch it belongs to.
    /// `fed` says whether what fed a branch when it was hydrated last is such: a file by an Application that it had, a set
    /// by one that it made. What never fed any is odd, when it is a set.
    pub(crate) fn problems(
        &self,
        is_known: impl Fn(&BranchName) -> bool,
        fed: impl Fn(&dyn Fn(&Former) -> bool) -> bool,
    ) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let is_loose = |branch: &Option<BranchName>| !branch.as_ref().is_some_and(&is_known);
        let mistakes = self.discovered.mistakes.iter();
        let loose = mistakes.filter(|(branch, mistake)| !mistake.is_error() || is_loose(branch));
        let broken = self.discovered.broken.iter();
        let broken = broken.filter(|broken| !fed(&|former| former.feeds(&broken.file)));
        let unanswered = self.discovered.unanswered.iter();
        let unanswered = unanswered.filter(|maker| !maker.is_reported);
        let unanswered = unanswered.filter(|maker| !fed(&|former| former.is_fed_by(maker, self)));
        let unanswered = unanswered.map(|set| set.diagnostic.as_warning());
        let applications = &self.discovered.applications;
        let is_of_known = |index: &usize| {
            applications.get(*index).is_some_and(|application| is_known(application.environment_branch()))
        };
        let findings = self.verdict.findings.iter();
        let findings =
            findings.filter(|found| !found.diagnostic.is_error() || !found.applications.iter().any(is_of_known));
        let all = broken.map(Broken::reported).chain(loose.map(|(_, mistake)| mistake.clone()));
        all.chain(unanswered).chain(findings.map(|finding| finding.diagnostic.clone())).partition(Diagnostic::is_error)
    }
}

fn hydrated<'d>(verdict: &'d Verdict, discovered: &'d Discovered) -> impl Iterator<Item = &'d Arc<Application>> {
    let standings = verdict.standings.iter().zip(&discovered.applications);
    let hydrated = standings.filter(|(standing, _)| **standing == argo::Standing::Hydrated);
    hydrated.map(|(_, application)| application)
}

fn by_branch<'d>(hydrated: impl Iterator<Item = &'d Arc<Application>>) -> BTreeMap<BranchName, OfBranch> {
    let mut by_branch: BTreeMap<BranchName, OfBranch> = BTreeMap::new();
    for application in hydrated {
        let written = application.environment_branch();
        by_branch.entry(written.clone()).or_default().applications.push(application.clone());
        if application.sync_branch != *written {
            by_branch.entry(application.sync_branch.clone()).or_default().promoted.push(application.clone());
        }
    }
    by_branch
}
