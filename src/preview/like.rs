//! The environment that a new one is most like: most new environments are copies.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;

use super::LikeBranch;
use crate::argo::{Application, BranchName, is_near_branch};
use crate::diff::Words;
use crate::hydrate::dry_tree::DryTrees;
use crate::hydrate::make::branch::Branch;
use crate::owners::files::MANIFEST;
use crate::repo::{Error, Mode, ObjectBuffer, ObjectId};

/// How many manifests of two branches are compared to find out how alike they are.
const COMPARED_MAX: usize = 50;

/// An environment branch as it would be.
pub(super) struct FutureBranch<'t> {
    /// Its name.
    pub name: &'t BranchName,
    /// Whether it was not hydrated before.
    pub is_new: bool,
    tree: ObjectId,
    applications: Vec<&'t Application>,
}

impl<'t> FutureBranch<'t> {
    /// A branch after the change; none where there is nothing of it.
    pub(super) fn of((name, is_new): (&'t BranchName, bool), branch: &Branch, trees: &'t DryTrees<'_>) -> Option<Self> {
        let tree = branch.tip.as_ref()?.tree;
        let applications = trees.known(branch.dry_tip)?.applications(name).map(|application| &**application);
        Some(Self { name, is_new, tree, applications: applications.collect() })
    }

    fn manifest(&self, path: &RepoPath, buffer: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
        match buffer.entry(self.tree, &format!("{path}/{MANIFEST}"))? {
            Some((Mode::File | Mode::Executable, blob)) => buffer.blob(blob).map(Some),
            _ => Ok(None),
        }
    }
}

/// The Applications of another branch that are the counterparts of a new one's.
struct Counterparts<'t> {
    of: &'t FutureBranch<'t>,
    words: Option<Words>,
    pairs: Vec<(&'t Application, &'t Application)>,
}

impl<'t> Counterparts<'t> {
    /// By name, else by path, each with the word of the environment replaced.
    fn new(new: &'t FutureBranch<'t>, other: &'t FutureBranch<'t>) -> Self {
        let words = Words::between(other.name.as_str(), new.name.as_str());
        let replaced = |text: &str| words.as_ref().map_or_else(|| text.to_owned(), |words| words.replaced(text));
        let names: BTreeMap<String, &Application> =
            other.applications.iter().map(|one| (replaced(one.name.as_str()), *one)).collect();
        let paths: BTreeMap<String, &Application> =
            other.applications.iter().map(|one| (replaced(one.sync_path.as_str()), *one)).collect();
        let counterpart = |one: &'t Application| {
            let found = names.get(one.name.as_str()).or_else(|| paths.get(one.sync_path.as_str()));
            found.map(|other| (one, *other))
        };
        let pairs = new.applications.iter().filter_map(|one| counterpart(one)).collect();
        Self { of: other, words, pairs }
    }

    /// The counterpart's manifests with the word replaced.
    fn before(&self, other: &Application, buffer: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
        let Some(text) = self.of.manifest(&other.sync_path, buffer)? else { return Ok(None) };
        Ok(Some(match (&self.words, String::from_utf8(text)) {
            (Some(words), Ok(text)) => words.replaced(&text).into_bytes(),
            (None, Ok(text)) => text.into_bytes(),
            (_, Err(error)) => error.into_bytes(),
        }))
    }

    /// How many manifests are the same.
    fn equal(&self, new: &FutureBranch<'_>, buffer: &ObjectBuffer<'_>) -> Result<usize, Error> {
        let mut equal = 0;
        for (one, other) in self.pairs.iter().take(COMPARED_MAX) {
            equal += usize::from(new.manifest(&one.sync_path, buffer)? == self.before(other, buffer)?);
        }
        Ok(equal)
    }
}

/// The branch that was probably meant, with the manifests that it has: no word of them is replaced by a slip.
fn as_it_is(
    new: &FutureBranch<'_>,
    meant: &FutureBranch<'_>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<LikeBranch>, Error> {
    let mut manifests = BTreeMap::new();
    for one in &new.applications {
        let text = meant.manifest(&one.sync_path, buffer)?;
        manifests.extend(text.map(|text| (one.sync_path.clone(), text)));
    }
    let like = LikeBranch { branch: meant.name.clone(), words: None, others: Vec::new(), manifests };
    Ok(Some(like).filter(|like| !like.manifests.is_empty()))
}

/// The branch with counterparts of at least half of the Applications of a new one: of those with the most, the one that is
/// most alike, and of these the first that is not called after production.
pub(super) fn like(
    new: &FutureBranch<'_>,
    all: &[FutureBranch<'_>],
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<LikeBranch>, Error> {
    let is_near = |other: &&FutureBranch<'_>| is_near_branch(new.name.as_str(), other.name.as_str());
    if let Some(near) = all.iter().filter(|other| !other.is_new).find(is_near) {
        return as_it_is(new, near, buffer);
    }
    let known: Vec<Counterparts<'_>> =
        all.iter().filter(|other| !other.is_new).map(|other| Counterparts::new(new, other)).collect();
    let most = known.iter().map(|one| one.pairs.len()).max().unwrap_or_default();
    if most == 0 || most * 2 < new.applications.len() {
        return Ok(None);
    }
    let mut best: Option<(usize, &Counterparts<'_>)> = None;
    let (last, first): (Vec<_>, Vec<_>) =
        known.iter().filter(|one| one.pairs.len() == most).partition(|one| is_production(one.of.name.as_str()));
    for one in first.into_iter().chain(last) {
        let equal = one.equal(new, buffer)?;
        if best.is_none_or(|(before, _)| equal > before) {
            best = Some((equal, one));
        }
    }
    let Some((_, best)) = best else { return Ok(None) };
    let mut manifests = BTreeMap::new();
    for (one, other) in &best.pairs {
        manifests.extend(best.before(other, buffer)?.map(|text| (one.sync_path.clone(), text)));
    }
    let paired: BTreeSet<&RepoPath> = best.pairs.iter().map(|(_, other)| &other.sync_path).collect();
    let others = best.of.applications.iter().filter(|other| !paired.contains(&other.sync_path));
    Ok(Some(LikeBranch {
        branch: best.of.name.clone(),
        words: best.words.clone(),
        others: others.map(|other| other.name.clone()).collect(),
        manifests,
    }))
}

/// Whether a branch is called after production: a part of its name is, as in `environments/prod-eu`.
pub(crate) fn is_production(branch: &str) -> bool {
    let mut words = branch.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| ["prod", "production", "prd", "live"].iter().any(|name| word.eq_ignore_ascii_case(name)))
}
