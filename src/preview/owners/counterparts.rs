//! Which Application is which before and after, where several have one name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Identity, identity};
use crate::argo::{Application, BranchName, By};
use crate::diff::is_same_cluster;
use dry_files::path::RepoPath;

/// Where an Application is hydrated to.
type Place<'t> = (&'t BranchName, &'t RepoPath);

fn place(application: &Application) -> Place<'_> {
    (application.environment_branch(), &application.sync_path)
}

/// The Applications before and after, each with the one that it is on the other side.
///
/// Those of one name at one place are one. Of the others those of one document are, or the only ones of a branch. The only one of
/// a name may also move with its file to another branch, but not to another cluster at once: that is another Argo CD's.
#[derive(Default)]
pub(super) struct Counterparts<'t> {
    before: BTreeMap<Place<'t>, &'t Application>,
    after: BTreeMap<Place<'t>, &'t Application>,
    /// Those that sets make, where a place may have another document of the name too.
    made_before: BTreeMap<Place<'t>, &'t Application>,
    made_after: BTreeMap<Place<'t>, &'t Application>,
    /// Those that moved, by their places after and before.
    moved_to: BTreeMap<Place<'t>, &'t Application>,
    moved_from: BTreeMap<Place<'t>, &'t Application>,
}

/// The Applications of one name, before and after, that are not at the place where one was or is.
#[derive(Default)]
struct Unplaced<'t> {
    before: Vec<&'t Application>,
    after: Vec<&'t Application>,
}

impl<'t> Counterparts<'t> {
    pub(super) fn new(
        before: impl Iterator<Item = &'t Application>,
        after: impl Iterator<Item = &'t Application>,
    ) -> Self {
        let mut same = Self::default();
        for application in before {
            same.made_before.extend(is_of_set(application).then(|| (place(application), application)));
            same.before.insert(place(application), application);
        }
        for application in after {
            same.made_after.extend(is_of_set(application).then(|| (place(application), application)));
            same.after.insert(place(application), application);
        }
        let mut unplaced: BTreeMap<Identity<'t>, Unplaced<'t>> = BTreeMap::new();
        for application in same.before.values().filter(|one| !is_at(&same.after, one)) {
            unplaced.entry(identity(application)).or_default().before.push(application);
        }
        for application in same.after.values().filter(|one| !is_at(&same.before, one)) {
            if let Some(of_name) = unplaced.get_mut(&identity(application)) {
                of_name.after.push(application);
            }
        }
        unplaced.retain(|_, of_name| !of_name.after.is_empty());
        let mut placed: BTreeMap<Identity<'t>, usize> = BTreeMap::new();
        for application in same.after.values().filter(|one| is_at(&same.before, one)) {
            *placed.entry(identity(application)).or_default() += 1;
        }
        for (name, of_name) in unplaced {
            for (from, to) in of_name.moved(!placed.contains_key(&name)) {
                same.moved_to.insert(place(from), to);
                same.moved_from.insert(place(to), from);
            }
        }
        same
    }

    /// What an Application was.
    pub(super) fn before(&self, after: &Application) -> Option<&'t Application> {
        at(&self.before, after).or_else(|| self.moved_from.get(&place(after)).copied())
    }

    /// What an Application of before is.
    pub(super) fn after(&self, before: &Application) -> Option<&'t Application> {
        at(&self.after, before).or_else(|| self.moved_to.get(&place(before)).copied())
    }

    /// What an Application was as the one of a set, if it was that.
    pub(super) fn made_before(&self, after: &Application) -> Option<&'t Application> {
        let moved = || self.moved_from.get(&place(after)).copied().filter(|before| is_of_set(before));
        at(&self.made_before, after).or_else(moved)
    }

    /// What it is as the one of a set, if it is that.
    pub(super) fn made_after(&self, after: &Application) -> Option<&'t Application> {
        at(&self.made_after, after)
    }

    /// Whether an Application of either side is there after.
    pub(super) fn is_after(&self, application: &Application) -> bool {
        self.after(application).is_some()
    }
}

fn is_of_set(application: &Application) -> bool {
    application.maker.as_ref().is_some_and(|maker| matches!(maker.by, By::ApplicationSet { .. }))
}

/// The Application of a name at its place.
fn at<'t>(all: &BTreeMap<Place<'t>, &'t Application>, one: &Application) -> Option<&'t Application> {
    all.get(&place(one)).copied().filter(|other| identity(other) == identity(one))
}

fn is_at<'t>(all: &BTreeMap<Place<'t>, &'t Application>, one: &Application) -> bool {
    at(all, one).is_some()
}

impl<'t> Unplaced<'t> {
    /// Those that moved, as they were and as they are. `are_all` is whether none but these has the name.
    fn moved(mut self, are_all: bool) -> Vec<(&'t Application, &'t Application)> {
        let is_only = are_all && self.before.len() == 1 && self.after.len() == 1;
        let mut moved = self.take(|application| (&application.file, application.index));
        moved.extend(self.take(|application| application.environment_branch()));
        if let ([before], [after]) = (&self.before[..], &self.after[..])
            && is_only
            && is_same_cluster(&before.deployed.object(), &after.deployed.object())
        {
            moved.push((before, after));
        }
        moved
    }

    /// Takes those of which a key has one on each side.
    fn take<K: Ord>(&mut self, key: impl Fn(&'t Application) -> K) -> Vec<(&'t Application, &'t Application)> {
        let mut sides: BTreeMap<K, [Vec<&'t Application>; 2]> = BTreeMap::new();
        for (number, side) in [&self.before, &self.after].into_iter().enumerate() {
            for application in side {
                let sides = sides.entry(key(application)).or_default();
                sides.get_mut(number).into_iter().for_each(|side| side.push(application));
            }
        }
        let mut taken = Vec::new();
        for [before, after] in sides.values() {
            if let (&[before], &[after]) = (&before[..], &after[..]) {
                taken.push((before, after));
            }
        }
        let is_taken = |side: fn(&(&'t Application, &'t Application)) -> &'t Application| -> BTreeSet<_> {
            taken.iter().map(|both| std::ptr::from_ref(side(both))).collect()
        };
        let (before, after) = (is_taken(|both| both.0), is_taken(|both| both.1));
        self.before.retain(|one| !before.contains(&std::ptr::from_ref(*one)));
        self.after.retain(|one| !after.contains(&std::ptr::from_ref(*one)));
        taken
    }
}
