//! What differs between two dry trees.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind};

use super::discovery::{DEPTH_MAX, ENTRY_BYTES, is_chart, is_of_chart};
use super::found::Found;
use super::reader::{ReadError, Reader};
use crate::argo::{self, RuleSet};

/// What differs between two dry trees, as far as it can touch an Application.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    /// Every file, link and submodule that differs, every directory that is in one of the trees only, and every one whose
    /// entries have other names or kinds: what a read can have seen otherwise. The root is one of them.
    pub paths: BTreeSet<RepoPath>,
    /// Of the directories among them those that have other directories or submodules, or are in one of the trees only.
    pub directories: BTreeSet<RepoPath>,
    /// The files that contain Applications in one of the trees, or seem to, and differ: as they were and as they are.
    pub files: Vec<(Option<argo::File>, Option<argo::File>)>,
    /// Whether one of the files may contain Secrets of clusters, in either tree.
    pub may_change_clusters: bool,
    /// The files that a changed kustomization names as patches.
    pub patches: BTreeSet<RepoPath>,
    /// The files that a changed kustomization named as patches before, and no changed one now.
    pub unpatched: BTreeSet<RepoPath>,
}

impl Changes {
    /// Compares two trees, with Applications that `rules` hydrate. Directories with one id are not opened.
    ///
    /// None when a directory became a chart or is not one any more: what is below may have Applications where there were
    /// none, or the other way round, although it did not change. Nor when directories nest too deep to be followed, or
    /// so much differs that nothing is gained.
    ///
    /// Errors: a repository that cannot be read, or a name that is no UTF-8.
    pub fn between(old: &dyn Files, new: &dyn Files, rules: &RuleSet) -> Result<Option<Self>, String> {
        let sides = [old, new];
        let readers = sides.map(|files| Reader::new(files, rules, FILES_MAX));
        let mut comparison =
            Comparison { sides, rules, readers, changes: Self::default(), path_bytes: 0, is_unclear: false };
        let roots = [Some(old.root()), Some(new.root())];
        comparison.directories(&RepoPath::root(), roots, [true, true], 0)?;
        let Comparison { mut changes, is_unclear, .. } = comparison;
        changes.unpatched = changes.unpatched.difference(&changes.patches).cloned().collect();
        Ok((!is_unclear).then_some(changes))
    }
}

/// Of two trees: the old one, then the new one.
type Sides<T> = [T; 2];

/// How long the paths of what differs may be together, with [`ENTRY_BYTES`] for each: enough for a hundred thousand.
const PATH_BYTES_MAX: usize = 16 << 20;

/// How many files with Applications may differ, and how many Applications be in them: to compare more gains nothing.
const FILES_MAX: usize = 1_000;

struct Comparison<'a> {
    sides: Sides<&'a dyn Files>,
    rules: &'a RuleSet,
    readers: Sides<Reader<'a>>,
    changes: Changes,
    path_bytes: usize,
    is_unclear: bool,
}

impl Comparison<'_> {
    /// Compares a directory that may be in one of the trees only. `searched` says where it may contain Applications.
    fn directories(
        &mut self,
        dir: &RepoPath,
        ids: Sides<Option<ContentId>>,
        searched: Sides<bool>,
        depth: usize,
    ) -> Result<(), String> {
        let mut entries: BTreeMap<String, Sides<Option<Entry>>> = BTreeMap::new();
        let mut charts = [false, false];
        let [old, new] = self.sides;
        let listed = [ids[0].map(|id| old.list(dir, id)), ids[1].map(|id| new.list(dir, id))];
        let listed = listed.map(Option::transpose);
        let [old, new] = listed;
        let listings = [old?, new?];
        for (side, listing) in listings.iter().enumerate() {
            charts[side] = listing.as_ref().is_some_and(|listing| is_chart(listing));
        }
        let empty: &[Entry] = &[];
        let [old, new] = listings.each_ref().map(|listing| listing.as_deref().unwrap_or(empty));
        for_each_difference(old, new, |name, pair| {
            entries.insert(name.to_owned(), pair.map(Option::<&Entry>::cloned));
        });
        let lists_otherwise =
            |pair: &Sides<Option<Entry>>| pair[0].as_ref().map(|e| e.kind) != pair[1].as_ref().map(|e| e.kind);
        let is_of_one = ids.iter().any(Option::is_none);
        if is_of_one || entries.values().any(lists_otherwise) {
            self.changes.paths.insert(dir.clone());
        }
        if is_of_one || entries.values().any(has_other_directories) {
            self.changes.directories.insert(dir.clone());
        }
        if ids.iter().all(Option::is_some) && charts[0] != charts[1] && searched != [false, false] {
            let parts = |entries: &[Entry]| {
                entries.iter().any(|entry| entry.kind == Kind::Directory && is_of_chart(&entry.name))
            };
            self.is_unclear |= parts(old) || parts(new);
        }
        self.path_bytes += entries.keys().map(|name| dir.as_str().len() + name.len() + ENTRY_BYTES).sum::<usize>();
        self.is_unclear |= self.path_bytes > PATH_BYTES_MAX;
        for (name, pair) in entries {
            if self.is_unclear {
                return Ok(());
            }
            let Ok(path) = dir.child(&name) else { continue };
            let directory = |entry: &Option<Entry>| entry.as_ref().filter(|e| e.kind == Kind::Directory).map(|e| e.id);
            let below = [directory(&pair[0]), directory(&pair[1])];
            if below.iter().any(Option::is_some) {
                if depth >= DEPTH_MAX {
                    self.is_unclear = true;
                    continue;
                }
                let searched = [0, 1].map(|side| {
                    searched[side] && !(charts[side] && is_of_chart(&name)) && !self.rules.inputs().keeps(dir, &name)
                });
                self.directories(&path, below, searched, depth + 1)?;
            }
            let leaf = |entry: &Option<Entry>| entry.as_ref().filter(|e| e.kind != Kind::Directory).cloned();
            let leaves = [leaf(&pair[0]), leaf(&pair[1])];
            if leaves.iter().any(Option::is_some) {
                self.leaves(&path, leaves, searched)?;
            }
        }
        Ok(())
    }

    fn leaves(&mut self, path: &RepoPath, leaves: Sides<Option<Entry>>, searched: Sides<bool>) -> Result<(), String> {
        self.changes.paths.insert(path.clone());
        let mut found = [Found::default(), Found::default()];
        for (side, leaf) in leaves.iter().enumerate() {
            if let Some(file) = leaf.as_ref().filter(|leaf| searched[side] && leaf.kind == Kind::File) {
                found[side] = match self.readers[side].read(path, file.id) {
                    Ok(found) => found,
                    Err(ReadError::Backend(reason)) => return Err(reason),
                    Err(ReadError::TooMuch(_)) => {
                        self.is_unclear = true;
                        return Ok(());
                    }
                };
            }
        }
        self.changes.may_change_clusters |= found.iter().any(|found| found.may_hold_clusters);
        let [Found { file: old, patches: unpatched, .. }, Found { file: new, patches, .. }] = found;
        if old.is_some() || new.is_some() {
            self.changes.files.push((old, new));
            self.is_unclear |= self.changes.files.len() > FILES_MAX;
        }
        self.changes.patches.extend(patches);
        self.changes.unpatched.extend(unpatched);
        Ok(())
    }
}

/// Whether a directory or submodule is in one of the trees only, or is the other of the two there.
fn has_other_directories(pair: &Sides<Option<Entry>>) -> bool {
    let [old, new] =
        pair.each_ref().map(|entry| entry.as_ref().map(|entry| entry.kind).filter(Kind::is_checkout_directory));
    old != new
}

/// The names that two listings, each in the order of names, do not have in common with one id and kind.
fn for_each_difference<'e>(
    old: &'e [Entry],
    new: &'e [Entry],
    mut found: impl FnMut(&'e str, Sides<Option<&'e Entry>>),
) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(before), Some(after)) if before.name == after.name => {
                if before != after {
                    found(&before.name, [Some(before), Some(after)]);
                }
                old.next();
                new.next();
            }
            (Some(before), after) if after.is_none_or(|after| before.name < after.name) => {
                found(&before.name, [Some(before), None]);
                old.next();
            }
            (_, Some(after)) => {
                found(&after.name, [None, Some(after)]);
                new.next();
            }
            (Some(_), None) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    const APP: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  sourceHydrator:
    drySource: {repoURL: https://example.com/dry, targetRevision: main, path: web}
    syncSource: {targetBranch: environments/dev, path: web}
";

    fn files() -> MemoryFiles {
        MemoryFiles::new().file("apps/web.yaml", APP).file("web/a.yaml", "a").file("web/templates/t.yaml", APP)
    }

    fn changes(new: MemoryFiles) -> Option<(Vec<String>, usize)> {
        let changes = Changes::between(&files(), &new, &RuleSet::default()).expect("readable")?;
        let names = changes.paths.iter().map(|path| path.as_str().to_owned()).collect();
        Some((names, changes.files.len()))
    }

    #[test]
    fn directories_that_come_and_go() {
        let rows: [(&str, MemoryFiles, &[&str]); 5] = [
            ("a file", files().file("web/b.yaml", "b"), &[]),
            ("a directory", files().file("web/b/a.yaml", "b"), &["web", "web/b"]),
            ("a directory in another", files().file("a/b/c.yaml", "b"), &["", "a", "a/b"]),
            (
                "a file in place of one",
                MemoryFiles::new().file("apps/web.yaml", APP).file("web", ""),
                &["", "web", "web/templates"],
            ),
            ("a link", files().link("web/c", "templates"), &[]),
        ];
        for (name, new, expected) in rows {
            for (old, new) in [(&files(), &new), (&new, &files())] {
                let changes = Changes::between(old, new, &RuleSet::default()).expect("readable").expect("no chart");
                let names: Vec<&str> = changes.directories.iter().map(RepoPath::as_str).collect();
                assert_eq!(names, expected, "{name}");
            }
        }
    }

    #[test]
    fn what_differs() {
        let all = |names: &[&str], files| Some((names.iter().map(|&name| name.to_owned()).collect(), files));
        let rows = [
            ("nothing", files(), all(&[], 0)),
            ("a file", files().file("web/a.yaml", "b"), all(&["web/a.yaml"], 0)),
            ("an Application", files().file("apps/web.yaml", "kind: A"), all(&["apps/web.yaml"], 1)),
            ("a new file", files().file("web/b.yaml", "b"), all(&["web", "web/b.yaml"], 0)),
            ("a link for a file", files().link("web/c.yaml", "a.yaml"), all(&["web", "web/c.yaml"], 0)),
            ("a new one", files().file("b/c/d.yaml", APP), all(&["", "b", "b/c", "b/c/d.yaml"], 1)),
            ("a chart", files().file("x/Chart.yaml", "").file("x/templates/a.yaml", APP), {
                all(&["", "x", "x/Chart.yaml", "x/templates", "x/templates/a.yaml"], 0)
            }),
            ("what was none is a chart", files().file("web/Chart.yaml", ""), None),
        ];
        for (name, new, expected) in rows {
            assert_eq!(changes(new), expected, "{name}");
        }
    }

    #[test]
    fn patches_that_come_and_go() {
        let old = files().file("web/kustomization.yaml", "patches: [{path: p.yaml}, {path: q.yaml}]");
        let new = files().file("web/kustomization.yaml", "patches: [{path: p.yaml}, {path: ../apps/web.yaml}]");
        let changes = Changes::between(&old, &new, &RuleSet::default()).expect("readable").expect("no chart");
        let names = |paths: &BTreeSet<RepoPath>| paths.iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&changes.patches), ["apps/web.yaml", "web/p.yaml"]);
        assert_eq!(names(&changes.unpatched), ["web/q.yaml"]);
    }
}
