//! Whether Applications that come, go or move fit beside all others of a dry tree, of which only the state knows.
//!
//! The rules are those of [`validate`] and [`discover::removals`]. Those that come are judged together as they are; beside the
//! others it is enough to look for their names, and at their paths on the branches. Where anything is found there, or is not
//! plain, a look at everything judges.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;

use super::touched::Touched;
use crate::argo::{Application, BranchName, Keeps, Standing, validate};
use crate::discover::{self, Destination, Removal};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::stopped::Stopped;
use crate::known::{self, About, Record, State};
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::DryHead;
use crate::owners::snapshot::Snapshot;
use crate::repo::publish::HydratedTree;

/// What becomes of one branch.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// What an Application wrote and no one writes any more.
    pub removals: Vec<Removal>,
    /// How many Applications write to it then.
    pub applications: usize,
}

/// What is known beside the Applications that are touched.
pub(crate) struct Joining<'j> {
    pub state: &'j State,
    pub touched: &'j Touched,
    pub found: &'j Snapshot<'j>,
    pub head: &'j DryHead,
    pub heads: &'j [DryHead],
    pub branches: &'j BTreeMap<BranchName, Branch>,
    /// The branches of which the dry commit says that much may be removed.
    pub allowed: BTreeSet<String>,
}

impl Joining<'_> {
    /// What becomes of each branch to which Applications come or from which they go. Errors: not all is plain.
    pub(crate) fn judge(&self) -> Result<BTreeMap<BranchName, Joined>, Stopped> {
        let Touched { gone, .. } = self.touched;
        let coming: Vec<&Application> = self.touched.coming().map(|application| &**application).collect();
        if coming.is_empty() && gone.is_empty() {
            return Ok(BTreeMap::new());
        }
        let names = coming.iter().map(|application| application.environment_branch());
        let names: BTreeSet<&BranchName> = names.chain(gone.values().map(|record| &record.branch)).collect();
        let is_fine = self.is_plain() && self.is_sound() && self.all_are_of_their_branches(&coming);
        if !is_fine
            || self.one_makes_nothing_now()?
            || !self.names_are_free(&coming)?
            || !self.paths_are_free(&coming)?
        {
            return Err(Stopped::Unknown);
        }
        names.into_iter().map(|name| Ok((name.clone(), self.joined(name, &coming)?))).collect()
    }

    /// Whether nothing is odd in the dry tree, and nothing in the settings makes more of an Application than where it is
    /// written.
    fn is_plain(&self) -> bool {
        let State { head, .. } = self.state;
        let settings = &self.found.policy.settings;
        let fits = head.applications.max(head.documents) <= settings.limits.applications;
        // What is odd may be about one that goes.
        let is_apart = |diagnostic: &dry_files::diag::Diagnostic| {
            diagnostic.unknown_field.is_some() && diagnostic.made_by.is_none() && self.touched.gone.is_empty()
        };
        fits && !head.is_open
            && head.warnings.iter().all(is_apart)
            && settings.active_paths.is_empty()
            && !settings.repo_urls.is_empty()
    }

    /// Whether those that come are right beside one another.
    fn is_sound(&self) -> bool {
        let coming: Vec<_> = self.touched.coming().cloned().collect();
        let verdict = self
            .found
            .with_context(&self.found.policy, self.head, self.heads, &|_| false, |context| validate(&coming, context));
        verdict.findings.is_empty() && verdict.standings.iter().all(|standing| *standing == Standing::Hydrated)
    }

    fn known(&self, name: &BranchName) -> Option<&known::Branch> {
        self.state.head.branches.iter().flatten().find(|branch| branch.name == name.as_str())
    }

    /// Whether those that come write to branches as others do that are there.
    fn all_are_of_their_branches(&self, coming: &[&Application]) -> bool {
        coming.iter().all(|application| self.is_of_its_branch(application))
    }

    fn is_of_its_branch(&self, application: &Application) -> bool {
        let Some(known) = self.known(application.environment_branch()) else { return false };
        known.has_one_url
            && known.repo_url == application.dry.repo_url
            && known.sync == application.sync_branch.as_str()
            && self.state.head.revisions.contains(application.revision_name())
    }

    /// Whether a record is of an Application that stays where it is.
    fn stays(&self, record: &Record) -> bool {
        !self.touched.gone.contains_key(&(record.file.clone(), record.index))
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

    /// Whether no Application gets the name of another one, where something makes one of them or both write to one branch.
    fn names_are_free(&self, coming: &[&Application]) -> Result<bool, Stopped> {
        for application in coming {
            let named = self.state.named(&application.name)?;
            if named.iter().any(|record| takes_name(record, application) && self.stays(record)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether nothing is on the branches at the paths of those that come, in them or around them, but what goes.
    fn paths_are_free(&self, coming: &[&Application]) -> Result<bool, Stopped> {
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

    fn joined(&self, name: &BranchName, coming: &[&Application]) -> Result<Joined, Stopped> {
        let count = self.known(name).ok_or(Stopped::Unknown)?.applications;
        let coming: Vec<&&Application> =
            coming.iter().filter(|application| application.environment_branch() == name).collect();
        let gone: Vec<&Record> = self.touched.gone.values().filter(|record| record.branch == *name).collect();
        let applications = (count + coming.len()).checked_sub(gone.len()).ok_or(Stopped::Unknown)?;
        let is_kept = |one: &&&Application| one.maker.as_ref().is_some_and(|maker| maker.keeps != Keeps::Nothing);
        let one_is_kept = gone.iter().any(|record| record.is_kept) || coming.iter().any(is_kept);
        if applications == 0 || (one_is_kept && !gone.is_empty()) {
            return Err(Stopped::Unknown);
        }
        let mut before: BTreeSet<Destination> = gone.iter().map(|record| destination(record)).collect();
        let mut now: BTreeSet<Destination> = coming.iter().map(|application| destination_of(application)).collect();
        for record in &gone {
            for other in self.state.named(&record.name)? {
                if other.branch == *name && self.stays(&other) {
                    before.insert(destination(&other));
                    now.insert(destination(&other));
                }
            }
        }
        let others = count.checked_sub(before.len()).ok_or(Stopped::Unknown)?;
        let limit = self.found.policy.settings.removal_limit;
        let allowed = self.allowed.contains(name.as_str());
        let removals = discover::removals(name, &before, &now, others, (limit.share, limit.at_least), allowed);
        Ok(Joined { removals: removals.map_err(|_| Stopped::Unknown)?, applications })
    }
}

fn destination(record: &Record) -> Destination {
    Destination {
        path: record.sync_path.clone(),
        application: (record.namespace.clone(), record.name.clone()),
        file: record.file.clone(),
        maker: None,
    }
}

fn destination_of(application: &Application) -> Destination {
    Destination {
        path: application.sync_path.clone(),
        application: (application.namespace.clone(), application.name.clone()),
        file: application.file.clone(),
        maker: None,
    }
}

/// Whether a record has the name of an Application in a way that may not be: both write to one branch, or something made one
/// of them.
fn takes_name(record: &Record, application: &Application) -> bool {
    let is_made = application.maker.is_some() || record.about != About::Written;
    let is_beside = record.namespace == application.namespace && record.branch == *application.environment_branch();
    // What names no namespace may be in any.
    let may_be_one = match (&application.namespace, &record.namespace) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    };
    is_beside || (is_made && may_be_one)
}
