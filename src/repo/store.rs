//! Puts new objects on disk the way git does: written aside, flushed if the settings ask for it, given its mode, and
//! renamed into place.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use dry_files::regular;

use super::deflate::Deflate;
use super::pack::{self, Object, Pack};
use super::{Doing as _, Error, Fsync, ObjectId, ObjectKind, Quarantine, Repository, Shared};

/// How many objects git would write loose, and not flush by default.
const LOOSE_MAX: usize = 40;

/// Holds a new pack's `.keep` file, so that no repack drops it before a ref points at it.
#[derive(Debug)]
pub struct KeptPack {
    keep: Option<PathBuf>,
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        if let Some(path) = &self.keep {
            // A keep file that stays costs some disk space and nothing else.
            let _ = fs::remove_file(path);
        }
    }
}

struct Store {
    objects: PathBuf,
    fsync: Fsync,
    shared: Shared,
}

/// Writes objects as one pack. Never as loose ones: nothing keeps a `git gc --prune=now` in another process from taking
/// those before a ref points at them, and none that are in a pack too may become loose later, for a `git prune-packed`
/// in another process trusts the pack that it has seen. So few that git would write them loose are flushed when loose objects are to be.
pub(super) fn write(repository: &Repository, objects: Vec<Object>) -> Result<KeptPack, Error> {
    repository.check_writable()?;
    if objects.is_empty() {
        return Ok(KeptPack { keep: None });
    }
    let store = Store::new(repository, repository.objects_dir());
    let flush = store.flushes(objects.len());
    let pack = pack::encode(objects, repository.null_id().kind())?;
    let kept = store.keep(pack.id)?;
    store.write_pack(&pack, flush)?;
    Ok(kept)
}

/// Writes objects that no ref will ever point at, each into a file of its own: git's next prune takes them.
pub(super) fn write_loose(repository: &Repository, objects: &[Object]) -> Result<(), Error> {
    repository.check_writable()?;
    let store = Store::new(repository, repository.objects_dir());
    let mut deflate = Deflate::new();
    objects.iter().try_for_each(|(id, kind, content)| store.write_loose(&mut deflate, *id, *kind, &content.read()?))
}

/// What the `.keep` file says of a pack that a run uses.
const KEPT: &[u8] = b"hydrate\n";

/// What the one says of a pack that went in with a push, for the run after it.
const KEPT_FOR_PUSH: &[u8] = b"hydrate pre-receive\n";

/// The `.keep` files of packs that went in with a push: of one that goes on, or that git refused after its pre-receive
/// hook; with `others`, those of runs too, which go on or were killed.
fn kept_for_pushes(repository: &Repository, others: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository.objects_dir().join("pack")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_kept_for_push(path, others)).collect()
}

fn is_kept_for_push(path: &Path, others: bool) -> bool {
    // A repository has many packs: no other file is opened.
    path.extension().is_some_and(|extension| extension == "keep")
        && regular::read(path, KEPT_FOR_PUSH.len() as u64)
            .is_ok_and(|text| text == KEPT_FOR_PUSH || (others && text == KEPT))
}

/// No run keeps a pack for so long, in seconds.
const KEPT_SECONDS_MAX: u64 = 60 * 60;

/// Lets go of the packs that pushes brought in, those of pushes that go on too: a run that needs one keeps it for itself, and
/// makes it again where it is gone. Where `now` is known (in seconds since 1970), also of those that a run kept which was killed
/// long ago. The next gc takes what no ref reaches.
fn let_go(repository: &Repository, now: Option<i64>) {
    let mut gone = kept_for_pushes(repository, false);
    if let Some(now) = now.and_then(|now| u64::try_from(now).ok()) {
        let until = UNIX_EPOCH + Duration::from_secs(now.saturating_sub(KEPT_SECONDS_MAX));
        let is_old =
            |path: &PathBuf| fs::symlink_metadata(path).and_then(|file| file.modified()).is_ok_and(|at| at < until);
        gone.extend(kept_for_pushes(repository, true).into_iter().filter(is_old));
    }
    for path in gone {
        // One that stays costs disk space and nothing else.
        drop(fs::remove_file(path));
    }
}

/// Writes objects as one pack beside those of a push that is not accepted yet, to share their fate; answers its id. The
/// `.keep` file goes in with it, and stays until [`keep_pack`] or [`let_go`].
pub(super) fn write_quarantined(
    repository: &Repository,
    quarantine: &Quarantine,
    objects: Vec<Object>,
) -> Result<ObjectId, Error> {
    let store = Store::new(repository, quarantine.objects.clone());
    let flush = store.flushes(objects.len());
    let pack = pack::encode(objects, repository.null_id().kind())?;
    store.place_keep(pack.id, KEPT_FOR_PUSH)?;
    store.write_pack(&pack, flush)?;
    Ok(pack.id)
}

/// Protects a pack that is there already, as [`write()`] does; none when it is not there.
fn keep_pack(repository: &Repository, id: ObjectId) -> Result<Option<KeptPack>, Error> {
    repository.check_writable()?;
    let store = Store::new(repository, repository.objects_dir());
    let kept = store.keep(id)?;
    let is_there = ["pack", "idx"].into_iter().all(|extension| store.pack_file(id, extension).is_file());
    Ok(is_there.then_some(kept))
}

impl Repository {
    /// Protects a pack that is there already from a repack until the guard is dropped; none when it is not there.
    pub fn keep_pack(&self, id: ObjectId) -> Result<Option<KeptPack>, Error> {
        keep_pack(self, id)
    }

    /// Lets go of the packs that [`super::ObjectBuffer::flush_quarantined`] left with pushes that git refused later; where `now`
    /// is known, in seconds since 1970, also of those that killed runs kept. The caller holds the lock of the repository.
    pub fn let_go_of_packs(&self, now: Option<i64>) {
        let_go(self, now);
    }

    /// The `.keep` files that hydration left, or is about to take away.
    pub fn kept_packs(&self) -> Vec<PathBuf> {
        kept_for_pushes(self, true)
    }
}

impl Store {
    fn new(repository: &Repository, objects: PathBuf) -> Self {
        Self { objects, fsync: repository.fsync(), shared: repository.shared() }
    }

    fn write_loose(&self, deflate: &mut Deflate, id: ObjectId, kind: ObjectKind, content: &[u8]) -> Result<(), Error> {
        let hex = id.to_string();
        let dir = self.objects.join(&hex[..2]);
        let path = dir.join(&hex[2..]);
        if path.is_file() {
            return Ok(());
        }
        make_dir(&dir, self.shared)?;
        let mut bytes = Vec::new();
        deflate.append(&[format!("{kind} {}\0", content.len()).as_bytes(), content].concat(), &mut bytes)?;
        self.place(&dir, &path, self.fsync.loose_objects, |file| written(&path, file.write_all(&bytes)))
    }

    /// Whether a pack of so many objects must reach the disk before it counts.
    fn flushes(&self, objects: usize) -> bool {
        if objects < LOOSE_MAX { self.fsync.loose_objects } else { self.fsync.packs }
    }

    fn pack_file(&self, id: ObjectId, extension: &str) -> PathBuf {
        self.objects.join("pack").join(format!("pack-{id}.{extension}"))
    }

    fn keep(&self, id: ObjectId) -> Result<KeptPack, Error> {
        self.place_keep(id, KEPT).map(|keep| KeptPack { keep: Some(keep) })
    }

    fn place_keep(&self, id: ObjectId, why: &[u8]) -> Result<PathBuf, Error> {
        let dir = self.objects.join("pack");
        make_dir(&dir, self.shared)?;
        let keep = self.pack_file(id, "keep");
        self.place(&dir, &keep, false, |file| written(&keep, file.write_all(why)))?;
        Ok(keep)
    }

    /// The pack before its index: a pack without one is not there for git.
    fn write_pack(&self, pack: &Pack, flush: bool) -> Result<(), Error> {
        let dir = self.objects.join("pack");
        make_dir(&dir, self.shared)?;
        let [path, index] = ["pack", "idx"].map(|extension| self.pack_file(pack.id, extension));
        self.place(&dir, &path, flush, |file| {
            pack::each_piece(&pack.pack, |bytes| file.write_all(bytes)).doing(|| writing(&path))
        })?;
        self.place(&dir, &index, flush, |file| written(&index, file.write_all(&pack.index)))?;
        if flush {
            let synced = File::open(&dir).and_then(|dir| dir.sync_all());
            synced.doing(|| format!("flushing {}", dir.display()))?;
        }
        Ok(())
    }

    fn place(
        &self,
        dir: &Path,
        path: &Path,
        sync: bool,
        write: impl FnOnce(&mut File) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut builder = tempfile::Builder::new();
        let read_only = Permissions::from_mode(0o444);
        let file = builder.prefix("tmp_obj_").permissions(read_only).tempfile_in(dir);
        let mut file = file.doing(|| writing(path))?;
        write(file.as_file_mut())?;
        written(path, self.shared.give(file.as_file()))?;
        if sync {
            written(path, file.as_file().sync_all())?;
        }
        written(path, file.persist(path).map(drop).map_err(|error| error.error))
    }
}

fn writing(path: &Path) -> String {
    format!("writing {}", path.display())
}

fn written(path: &Path, result: std::io::Result<()>) -> Result<(), Error> {
    result.doing(|| writing(path))
}

/// Makes a directory for all who may use the repository, unless it is there.
pub(super) fn make_dir(dir: &Path, shared: Shared) -> Result<(), Error> {
    match fs::create_dir(dir) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error).doing(|| format!("making {}", dir.display())),
    }
    if shared != Shared::Umask {
        let mode = fs::metadata(dir).doing(|| format!("making {}", dir.display()))?.permissions().mode();
        let mode = shared.directory_mode(mode & 0o7777);
        fs::set_permissions(dir, Permissions::from_mode(mode)).doing(|| format!("making {}", dir.display()))?;
    }
    Ok(())
}
