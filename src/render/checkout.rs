//! Files of a dry commit on disk, for programs that cannot read from git.
//!
//! Three shapes. [`Checkout::part`] writes only what is asked for, links replaced by what they lead to: for Helm, which
//! follows links and says what it reads. [`Checkout::whole`] writes the whole tree with its links: for Kustomize and
//! plugins, whose reads are unknown before. [`Checkout::replaced`] is that with some files in place of others, for a
//! Kustomize that would fetch what they name. All are made at most once a run, are shared by all programs, and are nothing
//! that a confined program can write to.
//!
//! Never: a link that leads out of the tree, a submodule's files, a Git LFS pointer instead of its content. In the whole tree
//! a dangling link is in their place, so that who needs them fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Blob, ContentId, Files, Kind, Unreadable, View, ViewError};
use tempfile::TempDir;

use super::failure::{Error, Failure};
use super::outside::{Placed, Replaced};
use dry_files::scratch::Scratch;

/// How many files and directories one checkout may have.
const ENTRIES_MAX: usize = 500_000;

/// How much one checkout may have on disk, in bytes. Files of the same content count once.
const BYTES_MAX: u64 = 4 << 30;

/// Directories inside each other.
const DEPTH_MAX: usize = 256;

/// The directory of the whole tree.
const WHOLE: &str = "tree";

/// That of the tree with other files.
const REPLACED: &str = "replaced";

/// What the names of our own files begin with, which are there for a moment only.
const OURS: &str = ".git-hydrate-";

/// The files of one dry commit on disk. Removed when it is dropped.
pub(super) struct Checkout<'a> {
    files: &'a dyn Files,
    dir: Scratch,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    whole: bool,
    /// The parts, each with the links in it, whose targets belong to what was read.
    parts: BTreeMap<RepoPath, Vec<RepoPath>>,
    entries: usize,
    contents: Contents,
    /// Why the whole tree cannot be written; none where that was not tried, or is not of the tree.
    too_much: Option<String>,
    /// Whether the tree with other files is there, and which those are.
    is_repeated: bool,
    replaced: BTreeSet<RepoPath>,
}

/// The contents that are on disk.
#[derive(Default)]
struct Contents {
    places: HashMap<ContentId, PathBuf>,
    bytes: u64,
}

impl Contents {
    /// Writes a file: as a further name of one with this content, where there is one. Nothing writes to either.
    fn write(&mut self, place: &Path, blob: &Blob) -> Result<(), Error> {
        // A file system may take no more names of one file.
        if self.places.get(&blob.id).is_some_and(|known| fs::hard_link(known, place).is_ok()) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(blob.data.len() as u64);
        if self.bytes > BYTES_MAX {
            return Err(Error::Limit(format!("a checkout of more than {} GiB", BYTES_MAX >> 30)));
        }
        write(place, &blob.data)?;
        self.places.insert(blob.id, place.to_owned());
        Ok(())
    }
}

impl<'a> Checkout<'a> {
    /// An empty one in `dir`.
    pub(super) fn new(files: &'a dyn Files, dir: Scratch) -> Self {
        Self { files, dir, written: Mutex::default() }
    }

    /// Where all of it is, so that it can be taken out of messages.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A text of a program, with paths as they are in the repository.
    pub(super) fn in_repository(&self, text: &str) -> String {
        let dir = self.dir.path().to_string_lossy();
        let mut text = text.replace(&format!("{dir}/parts/"), "");
        for top in [WHOLE, REPLACED] {
            text = text.replace(&format!("{dir}/{top}/"), "").replace(&format!("{dir}/{top}"), ".");
        }
        text.replace(&*dir, ".")
    }

    /// Where a part is once it is written.
    pub(super) fn place(&self, path: &RepoPath) -> PathBuf {
        on_disk(&self.dir.path().join("parts"), path)
    }

    /// A file, or a directory with all below it, and where it is. `view` notes it as read.
    pub(super) fn part(&self, view: &View<'_>, path: &RepoPath) -> Result<PathBuf, Failure> {
        let top = self.dir.path().join("parts");
        let place = self.place(path);
        let unreadable = |error| Failure::unreadable(error, Span::file(path.clone()));
        view.content_id(path).map_err(unreadable)?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(links) = written.parts.get(path) {
            // No one has read them through this view yet.
            for link in links {
                view.content_id(link).map_err(unreadable)?;
            }
            return Ok(place);
        }
        make_dir(place.parent().unwrap_or(&top))?;
        let Written { parts, entries, contents, .. } = &mut *written;
        let mut part = Part { view, top: &top, links: Vec::new(), entered: Vec::new(), entries, contents };
        part.write(path)?;
        parts.insert(path.clone(), part.links);
        Ok(place)
    }

    /// The root of the whole tree. `view` notes all of it as read.
    pub(super) fn whole(&self, view: &View<'_>) -> Result<PathBuf, Failure> {
        let root = RepoPath::root();
        view.content_id(&root).map_err(|error| Failure::unreadable(error, Span::file(root.clone())))?;
        let top = self.dir.path().join(WHOLE);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if !written.whole {
            if let Some(why) = &written.too_much {
                return Err(Error::Limit(why.clone()).into());
            }
            make_dir(&top)?;
            // Not the view of one Application: what is read here is in the id of the root.
            let whole = View::new(self.files).until(view.stop().clone());
            let done = self.write_tree(&whole, &root, &top, (&mut 0, &mut written.contents), 0);
            if let Err(Failure::World(Error::Limit(why))) = &done {
                written.too_much = Some(why.clone());
            }
            done?;
            written.whole = true;
        }
        Ok(top)
    }

    /// The root of the whole tree in which some files are others. They are a function of the tree: who asks for one
    /// asks for the same content.
    pub(super) fn replaced(&self, view: &View<'_>, replaced: &Replaced) -> Result<PathBuf, Failure> {
        let whole = self.whole(view)?;
        let top = self.dir.path().join(REPLACED);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if !written.is_repeated {
            make_dir(&top)?;
            link_all(&whole, &top, 0)?;
            written.is_repeated = true;
        }
        for (path, content) in &replaced.contents {
            if written.replaced.insert(path.clone()) {
                put(&on_disk(&top, path), &|place| Ok(write(place, content.as_bytes())?))?;
            }
        }
        for (path, kept) in &replaced.names {
            if written.replaced.insert(path.clone()) {
                let from = on_disk(&whole, kept);
                let link = |place: &Path| {
                    fs::hard_link(&from, place).map_err(io_error(format!("writing {}", place.display())))
                };
                put(&on_disk(&top, path), &|place| Ok(link(place)?))?;
            }
        }
        Ok(top)
    }

    /// A directory of a whole tree under another name beside it, with one file of it replaced. Paths from there to anywhere
    /// else lead to the same files. Removed when it is dropped.
    pub(super) fn copy_with(
        &self,
        top: &Path,
        dir: &RepoPath,
        file: &RepoPath,
        content: &str,
    ) -> Result<Copy, Failure> {
        let from = on_disk(top, dir);
        let parent = from.parent().unwrap_or(self.dir.path());
        let made = tempfile::Builder::new().prefix(OURS).tempdir_in(parent);
        let copy = made.map_err(io_error(format!("creating a directory in {}", parent.display())))?;
        link_all(&from, copy.path(), 0)?;
        let name = file.file_name().unwrap_or_default();
        let place = copy.path().join(name);
        fs::remove_file(&place).map_err(io_error(format!("removing {}", place.display())))?;
        fs::write(&place, content).map_err(io_error(format!("writing {}", place.display())))?;
        Ok(Copy { dir: copy })
    }

    /// A chart in a directory of its own, with charts in its `charts/` that are kept elsewhere. Removed when it is dropped.
    ///
    /// Errors: its `.helmignore` leaves out files of them, which it would not do if they were packaged.
    pub(super) fn with_charts(&self, view: &View<'_>, chart: &RepoPath, charts: &[Placed]) -> Result<Copy, Failure> {
        let from = self.part(view, chart)?;
        let copy = self.copy("chart-")?;
        link_all(&from, copy.path(), 0)?;
        for Placed { at, kept } in charts {
            let files =
                inputs::files(view, kept).map_err(|error| Failure::unreadable(error, Span::file(kept.clone())))?;
            let files: Vec<RepoPath> = files.iter().map(|file| at.join(&file.path)).collect();
            if let Ok(Some(hidden)) = helm_template::hidden(view, chart, &files) {
                let text =
                    format!("the .helmignore of `{chart}` hides {hidden}, which Helm renders of a packaged dependency");
                let mistake = Diagnostic::error(text).at(Span::file(chart.clone()));
                let hint = "change the rule so that it leaves out charts/";
                return Err(Failure::mistake(mistake.hint(hint)));
            }
            let (from, below) = (self.part(view, kept)?, at.strip_prefix(chart).unwrap_or_default());
            let to = on_disk(copy.path(), &below);
            make_dir(&to)?;
            link_all(&from, &to, 0)?;
        }
        Ok(copy)
    }

    fn copy(&self, prefix: &str) -> Result<Copy, Failure> {
        let top = self.dir.path();
        let made = tempfile::Builder::new().prefix(prefix).tempdir_in(top);
        Ok(Copy { dir: made.map_err(io_error(format!("creating a directory in {}", top.display())))? })
    }

    /// A directory of its own with these files, links followed, and these directories, each at its path, and nothing else:
    /// what other Applications read is not in it. `view` notes the files as read. Removed when it is dropped.
    pub(super) fn only(
        &self,
        view: &View<'_>,
        files: &BTreeSet<RepoPath>,
        dirs: &BTreeSet<RepoPath>,
    ) -> Result<Copy, Failure> {
        let copy = self.copy("only-")?;
        for dir in dirs {
            make_dir(&on_disk(copy.path(), dir))?;
        }
        for file in files {
            let (from, to) = (self.part(view, file)?, on_disk(copy.path(), file));
            make_dir(to.parent().unwrap_or(copy.path()))?;
            fs::hard_link(&from, &to).map_err(io_error(format!("writing {}", to.display())))?;
        }
        Ok(copy)
    }

    fn write_tree(
        &self,
        view: &View<'_>,
        dir: &RepoPath,
        place: &Path,
        (entries, contents): (&mut usize, &mut Contents),
        depth: usize,
    ) -> Result<(), Failure> {
        view.go_on(dir).map_err(|error| Failure::unreadable(error, Span::file(dir.clone())))?;
        let unreadable = |error: ViewError| Failure::unreadable(error, Span::file(dir.clone()));
        let listed = view.list(dir).map_err(unreadable)?;
        *entries += listed.len();
        check(*entries, depth)?;
        for entry in listed.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            let place = place.join(&entry.name);
            match entry.kind {
                Kind::Directory => {
                    make_dir(&place)?;
                    self.write_tree(view, &path, &place, (entries, contents), depth + 1)?;
                }
                Kind::File => match view.read(&path) {
                    Ok(blob) => contents.write(&place, &blob)?,
                    Err(error @ ViewError::Backend { .. }) => return Err(unreadable(error)),
                    Err(error) => link(&format!("not here, {error}"), &place)?,
                },
                Kind::Link => {
                    let target = self.files.read(&path, entry.id);
                    let target = match target {
                        Err(Unreadable::NoFile(_)) => "not here, no link".as_bytes().into(),
                        read => read.map_err(|reason| unreadable(ViewError::of(&path, reason)))?,
                    };
                    // Asked of the view, since links on the way can lead further up than the text of this one says.
                    let leads_inside = matches!(view.kind(&path), Ok(Some(_)));
                    let inside = std::str::from_utf8(&target).ok().filter(|_| leads_inside);
                    link(inside.unwrap_or("not here, a broken link, or one that leads out of the repository"), &place)?;
                }
                Kind::Submodule => make_dir(&place)?,
            }
        }
        Ok(())
    }
}

/// A private directory with files of a checkout.
pub(super) struct Copy {
    dir: TempDir,
}

impl Copy {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// One part that is being written, links followed.
struct Part<'a> {
    view: &'a View<'a>,
    top: &'a Path,
    links: Vec<RepoPath>,
    /// The real paths of the directories that we are in.
    entered: Vec<RepoPath>,
    entries: &'a mut usize,
    contents: &'a mut Contents,
}

impl Part<'_> {
    fn write(&mut self, path: &RepoPath) -> Result<(), Failure> {
        let unreadable = |error| Failure::unreadable(error, Span::file(path.clone()));
        *self.entries += 1;
        check(*self.entries, self.entered.len())?;
        let place = on_disk(self.top, path);
        match self.view.kind(path).map_err(unreadable)? {
            Some(Kind::File) => Ok(self.contents.write(&place, &self.view.read(path).map_err(unreadable)?)?),
            Some(Kind::Directory) => {
                let real = self.view.real_path(path).map_err(unreadable)?;
                if self.entered.contains(&real) {
                    return Err(unreadable(ViewError::LinkLoop(path.clone())));
                }
                self.entered.push(real);
                make_dir(&place)?;
                for entry in self.view.list(path).map_err(unreadable)?.iter() {
                    let Ok(child) = path.child(&entry.name) else { continue };
                    if entry.kind == Kind::Link {
                        self.links.push(child.clone());
                    }
                    self.write(&child)?;
                }
                self.entered.pop();
                Ok(())
            }
            Some(Kind::Submodule) => Err(unreadable(ViewError::Submodule(path.clone()))),
            Some(Kind::Link) | None => Err(unreadable(ViewError::Missing(path.clone()))),
        }
    }
}

fn check(entries: usize, depth: usize) -> Result<(), Failure> {
    if entries > ENTRIES_MAX {
        return Err(Error::Limit(format!("a checkout of more than {ENTRIES_MAX} files and directories")).into());
    }
    if depth > DEPTH_MAX {
        return Err(Error::Limit(format!("a checkout with directories more than {DEPTH_MAX} deep")).into());
    }
    Ok(())
}

fn on_disk(top: &Path, path: &RepoPath) -> PathBuf {
    path.components().fold(top.to_owned(), |place, name| place.join(name))
}

/// Repeats a directory: its files as further names of the same files, which must not be written to.
fn link_all(from: &Path, to: &Path, depth: usize) -> Result<(), Failure> {
    check(0, depth)?;
    let reading = || io_error(format!("reading {}", from.display()));
    for entry in fs::read_dir(from).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(reading())?;
        // Another Application's.
        if entry.file_name().to_string_lossy().starts_with(OURS) {
            continue;
        }
        if kind.is_dir() {
            make_dir(&to)?;
            link_all(&from, &to, depth + 1)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&from).map_err(reading())?;
            symlink(target, &to).map_err(io_error(format!("writing {}", to.display())))?;
        } else {
            fs::hard_link(&from, &to).map_err(io_error(format!("writing {}", to.display())))?;
        }
    }
    Ok(())
}

/// Puts a file where another one may be, atomically: another process may read it.
fn put(place: &Path, make: &dyn Fn(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let parent = place.parent().unwrap_or(place);
    make_dir(parent)?;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent.join(format!("{OURS}{name}"));
    // What a run that failed has left.
    drop(fs::remove_file(&temporary));
    make(&temporary)?;
    Ok(fs::rename(&temporary, place).map_err(io_error(format!("writing {}", place.display())))?)
}

fn make_dir(place: &Path) -> Result<(), Error> {
    fs::create_dir_all(place).map_err(io_error(format!("making {}", place.display())))
}

fn write(place: &Path, data: &[u8]) -> Result<(), Error> {
    fs::write(place, data).map_err(io_error(format!("writing {}", place.display())))
}

fn link(target: &str, place: &Path) -> Result<(), Error> {
    symlink(target, place).map_err(io_error(format!("writing {}", place.display())))
}

pub(super) fn io_error(doing: String) -> impl FnOnce(io::Error) -> Error {
    move |source| match source.kind() {
        // A large push may cause it: only what needs a checkout fails.
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Limit(format!("a checkout: {doing}: {source}")),
        _ => Error::Io { doing, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn scratch() -> Scratch {
        dry_files::scratch::scratch_dir("test", &[&std::env::temp_dir()]).expect("a directory")
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .file("chart/Chart.yaml", "name: c\n")
            .file("shared/values.yaml", "a: 1\n")
            .file("shared/more/x.txt", "x")
            .link("chart/values.yaml", "../shared/values.yaml")
            .link("chart/more", "../shared/more")
            .link("out", "/etc/passwd")
            .link("up", "../x")
            .link("loop/a", ".")
            .file("lfs.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
    }

    #[test]
    fn a_part_is_what_was_asked_for_with_links_followed() {
        let files = files();
        let checkout = Checkout::new(&files, scratch());
        for _ in 0..2 {
            let view = View::new(&files);
            let chart = checkout.part(&view, &path("chart")).expect("readable");
            assert_eq!(fs::read_to_string(chart.join("values.yaml")).expect("written"), "a: 1\n");
            assert_eq!(fs::read_to_string(chart.join("more/x.txt")).expect("written"), "x");
            assert!(fs::symlink_metadata(chart.join("more")).expect("there").is_dir());
            let reads = view.reads();
            let read: Vec<_> = reads.keys().map(|(path, _)| path.as_str()).collect();
            for expected in ["chart", "chart/values.yaml", "shared/values.yaml", "shared/more"] {
                assert!(read.contains(&expected), "{expected} is not in {read:?}");
            }
        }
        assert!(!checkout.dir().join("parts/shared").exists());
        let view = View::new(&files);
        for (name, expected) in [
            ("out", "out: the symbolic link to `/etc/passwd` leads out of the repository"),
            ("loop", "loop/a: too many levels of symbolic links"),
            ("lfs.bin", "lfs.bin: is a Git LFS pointer, whose content is not in this repository"),
        ] {
            match checkout.part(&view, &path(name)) {
                Err(Failure::Mistakes(mistakes)) => assert_eq!(mistakes[0].message, expected),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_whole_tree_keeps_links_inside_and_nothing_that_leads_out() {
        let files = files();
        let checkout = Checkout::new(&files, scratch());
        let top = checkout.whole(&View::new(&files)).expect("written");
        assert_eq!(fs::read_link(top.join("chart/more")).expect("a link"), Path::new("../shared/more"));
        assert_eq!(fs::read_to_string(top.join("chart/values.yaml")).expect("leads inside"), "a: 1\n");
        for name in ["out", "up", "lfs.bin"] {
            assert!(fs::symlink_metadata(top.join(name)).expect("there").is_symlink(), "{name}");
            assert!(!top.join(name).exists(), "{name}");
        }
        let copy = checkout.copy_with(&top, &path("chart"), &path("chart/Chart.yaml"), "other").expect("copied");
        assert_eq!(fs::read_to_string(copy.path().join("Chart.yaml")).expect("there"), "other");
        assert_eq!(fs::read_to_string(top.join("chart/Chart.yaml")).expect("there"), "name: c\n");
        assert_eq!(fs::read_to_string(copy.path().join("../shared/values.yaml")).expect("there"), "a: 1\n");
        assert_eq!(fs::read_to_string(copy.path().join("more/x.txt")).expect("there"), "x");
    }
}
