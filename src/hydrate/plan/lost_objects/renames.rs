//! Files that are gone, and new ones beside them with most of their text and a name that is nearly one of files that are read.
//!
//! A folder is listed once, and a new file is read once, whatever is gone there. What has the very content or nearly the name of
//! a file that is gone is that file, and not another one. All other comparisons have a limit: what was not compared may be
//! anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::text::{Lines, text};
use crate::argo::near;
use crate::hydrate::plan::moved_files::MovedFiles;
use crate::render::directory::EXTENSIONS;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Kind, View};

/// How much text is read and compared, in bytes.
const COMPARED_BYTES_MAX: usize = 128 << 20;

/// What a file that is gone became.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Renamed {
    /// This file.
    To(RepoPath),
    /// This file or another one beside it, or none: there is too much to compare.
    Maybe(RepoPath),
}

/// The folders that were looked at.
#[derive(Default)]
pub(crate) struct Renames {
    found: BTreeMap<RepoPath, Option<Renamed>>,
    folders: BTreeMap<RepoPath, Folder>,
    lines: HashMap<ContentId, Option<Lines>>,
    compared_bytes: usize,
    moved: Option<Rc<MovedFiles>>,
}

/// A folder of the new tree.
#[derive(Default)]
struct Folder {
    entries: Arc<[Entry]>,
    /// The files that are new, by name.
    new: Vec<New>,
    /// The names of the files that are gone.
    gone: BTreeSet<String>,
    /// Where among the new files the very content of one that is gone is, by the name of that.
    same: BTreeMap<String, usize>,
}

/// A new file.
struct New {
    name: String,
    id: ContentId,
    is_nearly_read: bool,
    /// Whether it is known which file it was.
    is_known: bool,
}

impl Renames {
    /// What has the name of a file now, links not followed.
    pub(crate) fn kind_of(&mut self, file: &RepoPath, views: (&View<'_>, &View<'_>)) -> Option<Kind> {
        let entries = &self.folder(file, views).entries;
        let at = entries.binary_search_by(|entry| entry.name.as_str().cmp(file.file_name().unwrap_or_default()));
        entries.get(at.ok()?).map(|entry| entry.kind)
    }

    /// What became of a file that had this text and is gone.
    pub(crate) fn of(&mut self, file: &RepoPath, before: &str, views: (&View<'_>, &View<'_>)) -> Option<Renamed> {
        if let Some(found) = self.found.get(file) {
            return found.clone();
        }
        let found = self.find(file, before, views);
        self.found.insert(file.clone(), found.clone());
        found
    }

    fn find(&mut self, file: &RepoPath, before: &str, (old, new): (&View<'_>, &View<'_>)) -> Option<Renamed> {
        let former = file.file_name().unwrap_or_default();
        let folder = self.folder(file, (old, new));
        if let Some(same) = folder.same.get(former).and_then(|at| folder.new.get(*at)) {
            let path = beside(file, &same.name)?;
            // The answer holds as long as that has this content.
            new.content_id(&path).ok()?;
            return Some(Renamed::To(path));
        }
        let (like, others) = (folder.much_like(former), folder.nearly_read(former));
        let lines = Lines::of(before);
        for (at, is_like) in like.into_iter().map(|at| (at, true)).chain(others.into_iter().map(|at| (at, false))) {
            let Some((name, id)) = self.folder(file, (old, new)).new.get(at).map(|new| (new.name.clone(), new.id))
            else {
                continue;
            };
            let path = beside(file, &name)?;
            match self.is_mostly_in((before, &lines), (&path, id), new) {
                None => return Some(Renamed::Maybe(path)),
                Some(false) => {}
                Some(true) => {
                    if is_like {
                        self.folder(file, (old, new)).know(at);
                    }
                    return Some(Renamed::To(path));
                }
            }
        }
        None
    }

    /// What became of a file that had this text and is gone: a new file of another directory, for which there is a `reason`. It has
    /// the very content, or nearly the name and most of the text.
    pub(crate) fn moved<R>(
        &mut self,
        (file, before): (&RepoPath, &str),
        views: (&View<'_>, &View<'_>),
        reason: impl Fn(&RepoPath) -> Option<R>,
    ) -> Option<(RepoPath, R)> {
        let moved = self.moves(views);
        let former = file.file_name().unwrap_or_default();
        let is_like = |path: &RepoPath| {
            let name = path.file_name().unwrap_or_default();
            name == former || is_much_like(name, former) || stem(name) == stem(former)
        };
        let may_be = |path: &&RepoPath| !says_left_out(path);
        let same = moved.same_as(file).filter(may_be).find_map(|path| Some((path.clone(), reason(path)?)));
        if same.is_some() {
            return same;
        }
        let lines = Lines::of(before);
        let like = moved.came.iter().filter(|(path, _)| is_like(path) && may_be(path));
        let like: Vec<(RepoPath, ContentId)> = like.map(|(path, id)| (path.clone(), *id)).collect();
        like.into_iter().find_map(|(path, id)| {
            let reason = reason(&path)?;
            (self.is_mostly_in((before, &lines), (&path, id), views.1) == Some(true)).then_some((path, reason))
        })
    }

    /// The files that one of the trees has and the other does not.
    pub(crate) fn moves(&mut self, (old, new): (&View<'_>, &View<'_>)) -> Rc<MovedFiles> {
        self.moved.get_or_insert_with(|| Rc::new(MovedFiles::between(old.files(), new.files()))).clone()
    }

    fn folder(&mut self, file: &RepoPath, views: (&View<'_>, &View<'_>)) -> &mut Folder {
        let dir = file.parent().unwrap_or_default();
        self.folders.entry(dir).or_insert_with_key(|dir| Folder::read(dir, views).unwrap_or_default())
    }

    /// Whether most of a text is in a new file; none when that would be too much to compare.
    fn is_mostly_in(
        &mut self,
        (before, lines): (&str, &Lines),
        (path, id): (&RepoPath, ContentId),
        new: &View<'_>,
    ) -> Option<bool> {
        let size = match self.lines.contains_key(&id) {
            true => 0,
            false => new.files().size(path, id).map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX)),
        };
        let compared = self.compared_bytes.saturating_add(before.len()).saturating_add(size);
        if compared > COMPARED_BYTES_MAX {
            return None;
        }
        self.compared_bytes = compared;
        let there = self.lines.entry(id).or_insert_with(|| text(new, path).map(|text| Lines::of(&text)));
        Some(there.as_ref().is_some_and(|there| lines.are_mostly_in(there)))
    }
}

impl Folder {
    fn read(dir: &RepoPath, (old, new): (&View<'_>, &View<'_>)) -> Option<Self> {
        let mut folder = Self { entries: new.list(dir).ok()?, ..Self::default() };
        let before = old.list(dir).unwrap_or_default();
        let was_file = |name: &str| {
            let entry =
                before.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok().and_then(|at| before.get(at));
            let is_link = || dir.child(name).is_ok_and(|path| matches!(old.kind(&path), Ok(Some(Kind::File))));
            entry.is_some_and(|entry| entry.kind == Kind::File || (entry.kind == Kind::Link && is_link()))
        };
        for entry in folder.entries.iter().filter(|entry| entry.kind == Kind::File && !was_file(&entry.name)) {
            let is_nearly_read = is_nearly_read(&entry.name);
            folder.new.push(New { name: entry.name.clone(), id: entry.id, is_nearly_read, is_known: false });
        }
        let is_there = |name: &str| folder.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).is_ok();
        let is_gone = |name: &str| is_read(name) && was_file(name) && !is_there(name);
        let gone = before.iter().filter(|entry| is_gone(&entry.name));
        let gone: Vec<(String, ContentId)> = gone.map(|entry| (entry.name.clone(), entry.id)).collect();
        folder.gone = gone.iter().map(|(name, _)| name.clone()).collect();
        folder.pair(&gone);
        Some(folder)
    }

    /// Finds the very content of the files that are gone: first in a file with nearly the name, then in any with a name that is
    /// nearly read.
    fn pair(&mut self, gone: &[(String, ContentId)]) {
        for (former, id) in gone {
            let like = self.much_like(former).into_iter().find(|at| self.new.get(*at).is_some_and(|new| new.id == *id));
            self.note_same(former, like);
        }
        let mut by_content: HashMap<ContentId, Vec<usize>> = HashMap::new();
        // The first is taken first.
        for (at, new) in self.new.iter().enumerate().rev().filter(|(_, new)| new.is_nearly_read && !new.is_known) {
            by_content.entry(new.id).or_default().push(at);
        }
        for (former, id) in
            gone.iter().filter(|(former, _)| !self.same.contains_key(former)).cloned().collect::<Vec<_>>()
        {
            let same = by_content.get_mut(&id).and_then(Vec::pop);
            self.note_same(&former, same);
        }
    }

    fn note_same(&mut self, former: &str, at: Option<usize>) {
        let Some(at) = at else { return };
        self.know(at);
        self.same.insert(former.to_owned(), at);
    }

    /// The new files with nearly the name of `former`, which no other file is known to be.
    fn much_like(&self, former: &str) -> Vec<usize> {
        let from = |name: &str| self.new.partition_point(|new| new.name.as_str() < name);
        let bare = stem(former);
        let with_more = format!("{bare}.");
        let named = |at: &usize, name: &str| self.new.get(*at).is_some_and(|new| new.name.starts_with(name));
        let begins = (from(&with_more)..self.new.len()).take_while(|at| named(at, &with_more));
        let is_like =
            |at: &usize| self.new.get(*at).is_some_and(|new| !new.is_known && is_much_like(&new.name, former));
        [from(bare)].into_iter().chain(begins).filter(is_like).collect()
    }

    /// The new files with a name that is nearly one that is read, which no other file is known to be, nor is by its name.
    fn nearly_read(&self, former: &str) -> Vec<usize> {
        let is_of_another = |name: &str| {
            let stems = name.match_indices('.').map(|(at, _)| &name[..at]);
            let mut others =
                stems.flat_map(|stem| EXTENSIONS.iter().map(move |extension| format!("{stem}.{extension}")));
            others.any(|other| other != former && self.gone.contains(&other))
        };
        let new = self.new.iter().enumerate();
        let may_be = new.filter(|(_, new)| new.is_nearly_read && !new.is_known && !is_of_another(&new.name));
        may_be.map(|(at, _)| at).collect()
    }

    fn know(&mut self, at: usize) {
        if let Some(new) = self.new.get_mut(at) {
            new.is_known = true;
        }
    }
}

fn beside(file: &RepoPath, name: &str) -> Option<RepoPath> {
    file.parent().unwrap_or_default().child(name).ok()
}

/// What is put behind the name of a file to say that it is not to be read.
const LEFT_OUT: [&str; 5] = ["disabled", "off", "skip", "ignore", "ignored"];

/// What directories are called whose files are not to be read.
const LEFT_OUT_DIRECTORIES: [&str; 8] =
    ["archive", "archived", "attic", "deleted", "deprecated", "removed", "retired", "unused"];

/// Whether a path says that the file is not to be read, by the name of the file or by that of a directory.
pub(crate) fn says_left_out(path: &RepoPath) -> bool {
    let is_said = |name: &str| {
        let word = last_word(name);
        LEFT_OUT.contains(&word) || LEFT_OUT_DIRECTORIES.contains(&word)
    };
    let name = path.file_name().unwrap_or_default();
    is_left_out(name) || is_said(name) || path.parent().is_some_and(|dir| dir.components().any(is_said))
}

/// Whether the name of a file says that it is not to be read.
pub(super) fn is_left_out(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| LEFT_OUT.contains(&last_word(extension)))
}

/// Whether the name of a file is nearly that of one which is read.
fn is_nearly_read(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, extension)) if EXTENSIONS.contains(&extension) => false,
        Some((stem, extension)) => {
            let was_read = stem.rsplit_once('.').is_some_and(|(_, before)| EXTENSIONS.contains(&before));
            (was_read && !LEFT_OUT.contains(&extension)) || near(extension, &EXTENSIONS).is_some()
        }
        None => EXTENSIONS.iter().any(|extension| name.ends_with(extension)),
    }
}

/// The name of a file without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Whether the name of a file is that of a former one without its extension, with another one that is not read, such as `a.bak`, or
/// with more behind it, such as `a.yaml,v`.
fn is_much_like(name: &str, former: &str) -> bool {
    let rest = name.strip_prefix(stem(former)).filter(|_| stem(former) != former);
    let extension = rest.and_then(|rest| rest.strip_prefix('.')).filter(|extension| !extension.contains('.'));
    let is_other = extension.is_some_and(|extension| !LEFT_OUT.contains(&last_word(extension)) && !is_read(name));
    let is_bare = rest == Some("") || is_other;
    let more = name.strip_prefix(former).filter(|more| !more.starts_with(char::is_alphanumeric));
    let word = more.map(|more| more.trim_start_matches(|c: char| !c.is_alphanumeric()));
    is_bare || word.is_some_and(|word| !LEFT_OUT.contains(&word) && !is_read(name))
}

/// What follows the last character that is neither a letter nor a digit: `off` of `yaml-off`.
fn last_word(extension: &str) -> &str {
    extension.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or(extension)
}

/// Whether a name has an extension of files that are read.
pub(super) fn is_read(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn text(name: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: b\n")
    }

    fn files(files: &[(&str, &str)]) -> MemoryFiles {
        files.iter().fold(MemoryFiles::new(), |all, (path, name)| all.file(path, text(name)))
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn what_became_of_files() {
        type Row = (&'static str, &'static [(&'static str, &'static str)], [Option<&'static str>; 2]);
        // Of `d/a.yaml` with `a` and `d/b.yaml` with `b`.
        let rows: &[Row] = &[
            ("both are gone", &[("d/c.yaml", "a")], [None, None]),
            ("one has the content and nearly the name of another", &[("d/b.yam", "b")], [None, Some("d/b.yam")]),
            ("one has nearly the name of another", &[("d/b.yml.bak", "c")], [None, Some("d/b.yml.bak")]),
            ("with another extension", &[("d/a.bak", "a"), ("d/b.orig", "c")], [Some("d/a.bak"), Some("d/b.orig")]),
            ("left out on purpose", &[("d/a.disabled", "a"), ("d/b.yaml.off", "b")], [None, None]),
            (
                "each is the one with its content",
                &[("d/x.yam", "b"), ("d/y.yam", "a")],
                [Some("d/y.yam"), Some("d/x.yam")],
            ),
            ("each is the one with its name", &[("d/a.yaml,v", "x"), ("d/b", "y")], [Some("d/a.yaml,v"), Some("d/b")]),
            ("one that is known is none else", &[("d/a.yam", "a")], [Some("d/a.yam"), None]),
            ("in another folder", &[("e/a.yam", "a")], [None, None]),
        ];
        for (name, now, expected) in rows {
            let (old, new) = (files(&[("d/a.yaml", "a"), ("d/b.yaml", "b"), ("e/x.yaml", "x")]), files(now));
            let views = (&View::new(&old), &View::new(&new));
            let mut renames = Renames::default();
            for _ in 0..2 {
                let found = ["a", "b"].map(|of| renames.of(&path(&format!("d/{of}.yaml")), &text(of), views));
                assert_eq!(found, expected.map(|to| to.map(|to| Renamed::To(path(to)))), "{name}");
            }
        }
    }

    #[test]
    fn what_is_too_much_to_compare_may_be_anything() {
        let (old, new) = (files(&[("d/a.yaml", "a"), ("d/b.yaml", "b")]), files(&[("d/b.yam", "b"), ("d/c.yam", "x")]));
        let views = (&View::new(&old), &View::new(&new));
        let mut renames = Renames { compared_bytes: COMPARED_BYTES_MAX, ..Renames::default() };
        assert_eq!(renames.of(&path("d/b.yaml"), &text("b"), views), Some(Renamed::To(path("d/b.yam"))));
        assert_eq!(renames.of(&path("d/a.yaml"), &text("a"), views), Some(Renamed::Maybe(path("d/c.yam"))));
    }
}
