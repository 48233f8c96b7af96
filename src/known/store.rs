//! The directory of the cache: results by key, in files that may be deleted at any time.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dry_files::path::RepoPath;
use dry_files::regular;

use super::barren::Barren;
use super::codec::{Decoder, Encoder, check, checked};
use super::copies::CopyBranch;
use super::failed_makers::{BYTES_MAX as FAILED_MAKERS_BYTES_MAX, FailedMakers};
use super::record::{Encoded, Way};
use super::state::{Head, State};
use super::table::{PREFIX as TABLE, TEMPORARY, Table};
use super::unsearched::Unsearched;
use crate::repo::Shared;

/// What the names of overlays start with.
const OVERLAY: &str = "state-";

/// How many dry branches are remembered: those that were hydrated last.
const STATES_MAX: usize = 32;

/// More than this is not remembered of one dry branch, in bytes: some 80,000 Applications.
const STATE_BYTES_MAX: usize = 128 << 20;

/// More than this is not an overlay of ours, in bytes: what is heavier becomes a table.
const OVERLAY_BYTES_MAX: u64 = 2 * STATE_BYTES_MAX as u64;

/// What the names of files start with that say that too much would have to be remembered.
const TOO_LARGE: &str = "large-";

/// The name of what is known of trees that are not searched, and how large it may be, in bytes.
const UNSEARCHED: &str = "unsearched";
const UNSEARCHED_BYTES_MAX: u64 = 4 << 20;

/// The name of what is known of large files without Applications, and how large it may be, in bytes.
const BARREN: &str = "barren";
const BARREN_BYTES_MAX: u64 = 16 << 20;

/// How large a note may be, in bytes.
const NOTE_BYTES_MAX: u64 = 1024;

/// The name of what is known of makers that reached a limit.
const FAILED_MAKERS: &str = "failed-makers";

/// What the names of files about branches of copies start with, and how large one may be, in bytes.
const COPIES: &str = "copies-";
const COPIES_BYTES_MAX: u64 = 64 << 20;

/// What the names of excerpts of CRDs start with, how many are remembered, and how large one may be, in bytes.
const EXCERPT: &str = "crd-";
const EXCERPTS_MAX: usize = 1024;
const EXCERPT_BYTES_MAX: u64 = 2 << 20;

/// From when on a file that somebody began to write is taken for left behind.
const WRITING_MAX: Duration = Duration::from_secs(3600);

/// The directory of all states of a repository.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    dir: PathBuf,
    shared: Shared,
}

impl Cache {
    /// The cache in a directory that need not exist; `shared` says who else may use it.
    pub(crate) fn new(dir: PathBuf, shared: Shared) -> Self {
        Self { dir, shared }
    }

    /// What is remembered under a name; none when it is nothing, or damaged.
    pub(crate) fn load(&self, name: &str) -> Option<State> {
        State::read(&self.dir, &regular::read(&self.overlay(name), OVERLAY_BYTES_MAX).ok()?)
    }

    /// Remembers a state that was loaded and changed since; answers whether it is not too large for that.
    pub(crate) fn save(&self, name: &str, state: &State) -> io::Result<bool> {
        if !state.is_heavy() {
            self.place(&self.overlay(name), &state.overlay())?;
            return Ok(true);
        }
        let (records, marks) = state.flatten().map_err(io::Error::other)?;
        self.save_new(name, &state.head, records, marks)
    }

    /// Remembers all that is known of a dry tree; answers whether it is not too large for that. `patches` are the files that its
    /// kustomizations name as patches.
    pub(crate) fn save_all<'p>(
        &self,
        name: &str,
        head: &Head,
        records: Vec<Encoded>,
        patches: impl IntoIterator<Item = &'p RepoPath>,
    ) -> io::Result<bool> {
        self.save_new(name, head, records, patches.into_iter().map(|path| Way::Patch(path).hash()).collect())
    }

    /// What was noted under a name that is not that of a state; none when it is nothing.
    pub(crate) fn load_note(&self, name: &str) -> Option<Vec<u8>> {
        regular::read(&self.overlay(name), NOTE_BYTES_MAX).ok()
    }

    /// Notes a few bytes. They go when as many states as are kept were written since.
    pub(crate) fn save_note(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.make_dir()?;
        self.place(&self.overlay(name), bytes)
    }

    /// The dry trees that are known not to be searched.
    pub(crate) fn load_unsearched(&self) -> Unsearched {
        let bytes = regular::read(&self.dir.join(UNSEARCHED), UNSEARCHED_BYTES_MAX).ok();
        bytes.and_then(|bytes| Unsearched::read(&bytes)).unwrap_or_default()
    }

    /// Remembers them.
    pub(crate) fn save_unsearched(&self, unsearched: &Unsearched) -> io::Result<()> {
        self.make_dir()?;
        self.place(&self.dir.join(UNSEARCHED), &unsearched.written())
    }

    /// The large files of dry trees that are known to have no Applications.
    pub(crate) fn load_barren(&self) -> Barren {
        let bytes = regular::read(&self.dir.join(BARREN), BARREN_BYTES_MAX).ok();
        bytes.and_then(|bytes| Barren::read(&bytes)).unwrap_or_default()
    }

    /// Remembers them.
    pub(crate) fn save_barren(&self, barren: &Barren) -> io::Result<()> {
        self.make_dir()?;
        self.place(&self.dir.join(BARREN), &barren.written())
    }

    /// The makers that are known to fail.
    pub(crate) fn load_failed_makers(&self) -> FailedMakers {
        let bytes = regular::read(&self.dir.join(FAILED_MAKERS), FAILED_MAKERS_BYTES_MAX as u64).ok();
        bytes.and_then(|bytes| FailedMakers::read(&bytes)).unwrap_or_default()
    }

    /// Remembers them.
    pub(crate) fn save_failed_makers(&self, makers: &FailedMakers) -> io::Result<()> {
        self.make_dir()?;
        self.place(&self.dir.join(FAILED_MAKERS), &makers.written())
    }

    /// What is remembered under a name of the branch of copies; none when it is nothing, or damaged.
    pub(crate) fn load_copies(&self, name: &str) -> Option<CopyBranch> {
        let bytes = regular::read(&self.dir.join(format!("{COPIES}{name}")), COPIES_BYTES_MAX).ok();
        bytes.and_then(|bytes| CopyBranch::read(&bytes))
    }

    /// Remembers it; none forgets what was remembered.
    pub(crate) fn save_copies(&self, name: &str, copies: Option<&CopyBranch>) -> io::Result<()> {
        let path = self.dir.join(format!("{COPIES}{name}"));
        match copies {
            Some(copies) => {
                self.make_dir()?;
                self.place(&path, &copies.written())
            }
            None if path.exists() => fs::remove_file(path),
            None => Ok(()),
        }
    }

    /// The excerpt of CRDs of a name; none when there is none, or it is damaged.
    pub(crate) fn load_excerpt(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = regular::read(&self.dir.join(format!("{EXCERPT}{name}")), EXCERPT_BYTES_MAX).ok()?;
        let mut piece = Decoder(checked(&bytes)?);
        let text = (piece.bytes()? == name.as_bytes()).then(|| piece.bytes())??;
        Some(text.to_vec())
    }

    /// Remembers excerpts by their names, in place of the oldest.
    pub(crate) fn save_excerpts(&self, excerpts: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
        if excerpts.is_empty() {
            return Ok(());
        }
        self.make_dir()?;
        for (name, text) in excerpts {
            let mut piece = Encoder::default();
            piece.text(name);
            piece.bytes(text);
            let check = check(&piece.0);
            self.place(&self.dir.join(format!("{EXCERPT}{name}")), &[&piece.0[..], &check].concat())?;
        }
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.dir)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(EXCERPT) {
                kept.extend(entry.metadata().and_then(|metadata| metadata.modified()).map(|time| (time, entry.path())));
            }
        }
        kept.sort();
        kept.truncate(kept.len().saturating_sub(EXCERPTS_MAX));
        kept.into_iter().try_for_each(|(_, path)| fs::remove_file(path))
    }

    /// Notes whether what is known of a dry branch is too large to be remembered; answers whether that is news.
    pub(crate) fn note_too_large(&self, name: &str, branch: &str, is_too_large: bool) -> io::Result<bool> {
        let path = self.dir.join(format!("{TOO_LARGE}{name}"));
        match (is_too_large, path.exists()) {
            (true, false) => {
                self.make_dir()?;
                self.place(&path, branch.as_bytes())?;
                Ok(true)
            }
            (false, true) => fs::remove_file(path).map(|()| false),
            (true, true) | (false, false) => Ok(false),
        }
    }

    /// The dry branches of which too much would have to be remembered.
    pub(crate) fn too_large(&self) -> Vec<String> {
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let noted = files.filter(|file| file.file_name().to_string_lossy().starts_with(TOO_LARGE));
        let branches = noted.filter_map(|file| regular::read(&file.path(), NOTE_BYTES_MAX).ok());
        let mut branches: Vec<String> = branches.filter_map(|name| String::from_utf8(name).ok()).collect();
        branches.sort();
        branches
    }

    fn save_new(&self, name: &str, head: &Head, records: Vec<Encoded>, marks: Vec<u64>) -> io::Result<bool> {
        if records.iter().map(|record| record.bytes.len()).sum::<usize>() > STATE_BYTES_MAX {
            return Ok(false);
        }
        self.make_dir()?;
        let len = records.len();
        let table = Table::write(&self.dir, records, marks)?;
        self.share(&self.dir.join(&table))?;
        self.place(&self.overlay(name), &State::plain_overlay(head, &table, len))?;
        self.clean()?;
        Ok(true)
    }

    fn overlay(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{OVERLAY}{name}"))
    }

    fn make_dir(&self) -> io::Result<()> {
        if self.dir.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.dir)?;
        for dir in [Some(&*self.dir), self.dir.parent()].into_iter().flatten() {
            let mode = fs::metadata(dir)?.permissions().mode() & 0o7777;
            fs::set_permissions(dir, Permissions::from_mode(self.shared.directory_mode(mode)))?;
        }
        Ok(())
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.dir)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        self.share(path)
    }

    fn share(&self, path: &Path) -> io::Result<()> {
        if self.shared == Shared::Umask {
            return Ok(());
        }
        let file = regular::open(path)?;
        let mode = file.metadata()?.permissions().mode() & 0o7777;
        file.set_permissions(Permissions::from_mode(self.shared.file_mode(mode)))
    }

    /// Deletes the oldest states, and files that no state needs.
    fn clean(&self) -> io::Result<()> {
        let mut overlays = Vec::new();
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let Ok(changed) = fs::metadata(&path).and_then(|metadata| metadata.modified()) else { continue };
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with(OVERLAY) {
                overlays.push((changed, path));
            } else if name.starts_with(TABLE) || name.starts_with(TEMPORARY) {
                others.push((changed, path, name));
            }
        }
        overlays.sort();
        for (_, path) in overlays.drain(..overlays.len().saturating_sub(STATES_MAX)) {
            fs::remove_file(path)?;
        }
        let needed: Vec<String> = overlays
            .iter()
            .filter_map(|(_, path)| State::table_of(&regular::read(path, OVERLAY_BYTES_MAX).ok()?))
            .collect();
        for (changed, path, name) in others {
            let age = SystemTime::now().duration_since(changed).unwrap_or_default();
            if !needed.contains(&name) && (name.starts_with(TABLE) || age > WRITING_MAX) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}
