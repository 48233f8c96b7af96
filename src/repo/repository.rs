//! A repository: opened, and asked for objects.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use dry_files::regular;
use gix::discover::upwards::Error as Upwards;
use gix::objs::{Exists as _, Find as _, FindExt as _};

use super::{
    Commit, Doing as _, Error, Fsync, Git, ObjectId, ObjectKind, Quarantine, Shared, TreeEntry, bare,
    config_parameters, system_config,
};
use dry_files::scratch;

/// Where a repository is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The path is the git directory itself, and git has checked its owner already: inside a hook.
    Hook,
    /// The path, or a directory above it, is a repository that belongs to the user.
    Discover,
    /// As [`Location::Discover`], and the user named the path: git uses a bare repository that is named, whatever
    /// `safe.bareRepository` says.
    Named,
}

/// A repository that is read by any number of threads at once.
///
/// What it read stays as it was: objects never change, and refs are read anew by [`Repository::refs`]. Each object is
/// read by its own id and checked against it: `refs/replace/*` and `info/grafts`, by which git shows other content or
/// other parents, do not count. Nor do variables of git's that lead elsewhere: `GIT_OBJECT_DIRECTORY`, `GIT_NAMESPACE`.
pub struct Repository {
    shared: gix::ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// The directory by which the objects of a push are found that is not accepted yet.
    quarantine: Option<scratch::Scratch>,
    /// Objects that only this process knows.
    remembered: RwLock<HashMap<ObjectId, (ObjectKind, Vec<u8>)>>,
    /// Commits of which reading alone takes long: they are read once.
    long_commits: RwLock<HashMap<ObjectId, Commit>>,
    /// What a push does to refs, when the repository is to be read as if it were accepted.
    pub(super) pending: Vec<(String, Option<ObjectId>)>,
    /// Refs that are read as if they pointed elsewhere, and written as they are.
    pub(super) assumed: Vec<(String, Option<ObjectId>)>,
    /// Where its refs are, when others are in the same store: in place of `refs/`.
    pub(super) place: Option<String>,
}

/// From which size on a commit is long, in bytes, and how many of those are kept. Of each at most 4 MiB are.
const LONG_BYTES: usize = 4 << 20;
const LONG_COMMITS_MAX: usize = 16;

/// How much memory a thread may use for delta bases: without any, each delta chain is resolved again.
const PACK_CACHE_BYTES: usize = 32 << 20;

/// How long a `HEAD` may be, in bytes.
const HEAD_BYTES_MAX: u64 = 4096;

impl Repository {
    /// Opens the repository at `path`.
    pub fn open(path: &Path, location: Location) -> Result<Self, Error> {
        let absolute = std::path::absolute(path).doing(|| format!("opening the repository at {}", path.display()))?;
        let repository = match location {
            Location::Hook => gix::ThreadSafeRepository::open_opts(absolute, in_place())
                .doing(|| format!("opening the repository at {}", path.display()))?,
            Location::Discover | Location::Named => discover(path, absolute, location)?,
        };
        let local = repository.to_thread_local();
        let (git_dir, common_dir) = (plain(local.git_dir()), plain(local.common_dir()));
        Ok(Self {
            shared: repository,
            idle: Mutex::default(),
            git_dir,
            common_dir,
            quarantine: None,
            remembered: RwLock::default(),
            long_commits: RwLock::default(),
            pending: Vec::new(),
            assumed: Vec::new(),
            place: None,
        })
    }

    /// Opens the repository whose git directory is at `path` with the objects of a push that git has not accepted yet.
    ///
    /// It can be read only: whatever were written would outlive a refusal, and a ref could point at an object that
    /// vanishes with it.
    pub fn open_quarantined(path: &Path, quarantine: &Quarantine, temp_dir: &Path) -> Result<Self, Error> {
        let mut repository = Self::open(path, Location::Hook)?;
        // The directory that the quarantine is in can be written for sure: git made it there.
        let spare = quarantine.objects.parent();
        let dirs: Vec<&Path> = [Some(temp_dir), Some(&*repository.common_dir), spare].into_iter().flatten().collect();
        let (scratch, store) = quarantine.store(repository.null_id().kind(), &dirs)?;
        repository.shared.objects = store;
        repository.idle = Mutex::default();
        repository.quarantine = Some(scratch);
        Ok(repository)
    }

    /// The repository as if a push had moved these refs already; none deletes one. It can be read only.
    pub fn after(mut self, pushed: impl IntoIterator<Item = (String, Option<ObjectId>)>) -> Self {
        self.pending = pushed.into_iter().collect();
        self
    }

    /// The repository where a ref is read as if it pointed to `id`, or did not exist. What is written does not depend
    /// on it.
    pub fn assuming(mut self, name: &str, id: Option<ObjectId>) -> Self {
        self.assumed.push((name.to_owned(), id));
        self
    }

    /// The repository of which this one keeps a copy: its refs are those below `place`, such as `refs/copies/a/`, which is for
    /// its `refs/`, and its `HEAD` is the symbolic ref `HEAD` there. No other ref is seen or moved.
    pub fn within(mut self, place: &str) -> Self {
        self.place = Some(place.to_owned());
        self
    }

    /// Where its refs are, in place of `refs/`, when others are in the same store.
    pub(crate) fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// An error when nothing may be written here.
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        match self.quarantine.is_none() && self.pending.is_empty() {
            true => Ok(()),
            false => Err(Error::message("nothing can be written before a push is accepted")),
        }
    }

    /// The git directory, absolute: that of the worktree when this is a linked one.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees share, absolute.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top of the worktree; none in a bare repository.
    pub fn worktree(&self) -> Option<PathBuf> {
        self.with(|repository| repository.workdir().map(Path::to_path_buf))
    }

    /// A git that works on this repository.
    pub fn git(&self) -> Git {
        Git::new(&self.common_dir)
    }

    /// The id that means "no object" here.
    pub fn null_id(&self) -> ObjectId {
        self.with(|repository| ObjectId::null(repository.object_hash()))
    }

    /// The id of the empty tree here.
    pub fn empty_tree_id(&self) -> ObjectId {
        self.with(|repository| ObjectId::empty_tree(repository.object_hash()))
    }

    /// The last value of a configuration key.
    pub fn config(&self, key: &str) -> Option<String> {
        self.with(|repository| repository.config_snapshot().string(key).map(|value| value.to_string()))
    }

    /// All values of a configuration key, in the order in which git reads them.
    pub fn config_list(&self, key: &str) -> Vec<String> {
        self.with(|repository| {
            let values = repository.config_snapshot().plumbing().strings(key);
            values.into_iter().flatten().map(|value| value.to_string()).collect()
        })
    }

    /// A configuration key that is true or false; `None` when it is not set or neither.
    pub fn config_bool(&self, key: &str) -> Option<bool> {
        self.with(|repository| repository.config_snapshot().boolean(key))
    }

    /// Whether a configuration key switches a protection on: any value does that is not false, also one that git would
    /// not take for true or false.
    pub fn config_protects(&self, key: &str) -> bool {
        self.config_bool(key).unwrap_or_else(|| self.config(key).is_some())
    }

    /// A configuration key that is a number, with `k`, `m` and `g` as git reads them.
    pub fn config_number(&self, key: &str) -> Option<i64> {
        self.with(|repository| repository.config_snapshot().integer(key))
    }

    /// The subsections of a section of the configuration, `a` of `[section "a"]`, each once, in the order of their bytes.
    pub fn config_subsections(&self, section: &str) -> BTreeSet<String> {
        self.with(|repository| subsections(repository, section))
    }

    /// The names of the remotes.
    pub fn remotes(&self) -> Vec<String> {
        self.with(|repository| repository.remote_names().iter().map(|name| name.to_string()).collect())
    }

    /// Whether a worktree of this repository has the branch checked out, so that moving it would show there as edits.
    pub fn checked_out(&self, branch: &str) -> bool {
        if self.place.is_some() {
            return false;
        }
        let linked = std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten();
        let heads = linked.map(|entry| entry.path().join("HEAD"));
        let main = self.worktree().is_some().then(|| self.common_dir.join("HEAD"));
        let head = format!("ref: refs/heads/{branch}");
        heads.chain(main).any(|path| {
            let text = regular::read_linked(&path, HEAD_BYTES_MAX);
            text.is_ok_and(|text| text.trim_ascii_end() == head.as_bytes())
        })
    }

    /// What must be flushed to disk before it counts.
    pub fn fsync(&self) -> Fsync {
        Fsync::parse(self.config("core.fsync").as_deref())
    }

    /// Who else may use the files that we write.
    pub fn shared(&self) -> Shared {
        Shared::parse(self.config("core.sharedRepository").as_deref())
    }

    /// Whether refs are kept in tables instead of files.
    pub fn uses_reftable(&self) -> bool {
        self.config("extensions.refStorage").is_some_and(|storage| storage.eq_ignore_ascii_case("reftable"))
    }

    /// Whether names of refs that differ in case only are one file.
    pub fn ignores_case(&self) -> bool {
        self.config_bool("core.ignoreCase").unwrap_or(false) && !self.uses_reftable()
    }

    /// Where new objects go.
    pub(super) fn objects_dir(&self) -> PathBuf {
        self.common_dir().join("objects")
    }

    /// Knows objects from now on that are not written.
    pub(super) fn remember(&self, objects: impl IntoIterator<Item = (ObjectId, ObjectKind, Vec<u8>)>) {
        let objects = objects.into_iter().map(|(id, kind, content)| (id, (kind, content)));
        self.remembered.write().unwrap_or_else(PoisonError::into_inner).extend(objects);
    }

    fn remembered(&self, id: ObjectId) -> Option<(ObjectKind, Vec<u8>)> {
        self.remembered.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Whether there is such an object.
    pub fn has(&self, id: ObjectId) -> bool {
        let has = |repository: &gix::Repository| repository.has_object(id).then_some(()).ok_or(());
        self.with_anew(has).is_ok()
    }

    /// Whether there is such an object, as far as that is known without a look at what others wrote meanwhile.
    pub(super) fn knows(&self, id: ObjectId) -> bool {
        self.with(|repository| {
            let mut objects = repository.objects.clone();
            objects.refresh_never();
            objects.exists(&id)
        })
    }

    /// The content of an object of any kind: what its id is the hash of, or an error.
    pub fn object(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Error> {
        if let Some(known) = self.remembered(id) {
            return Ok(known);
        }
        let (kind, content) = match self.with_anew(|repository| read(repository, id)) {
            Err(_) if self.is_partial() => self.fetched(id)?,
            found => found?,
        };
        checked(id, kind, content)
    }

    /// Whether the clone left objects at its remote, as `git clone --filter` makes it.
    pub fn is_partial(&self) -> bool {
        self.config("extensions.partialClone").is_some()
            || self
                .config_subsections("remote")
                .iter()
                .any(|remote| self.config_bool(&format!("remote.{remote}.promisor")) == Some(true))
    }

    /// An object that a partial clone has not, fetched by git itself.
    fn fetched(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Error> {
        let doing = || format!("fetching {id}, which this partial clone left at its remote");
        let ask = |args: [&str; 3]| self.git().output(&args).map_err(|error| Error::new(doing(), error));
        let name = id.to_string();
        let kind = ask(["cat-file", "-t", &name])?;
        let kind = ObjectKind::from_bytes(kind.trim_ascii_end()).map_err(|error| Error::new(doing(), error))?;
        Ok((kind, ask(["cat-file", &kind.to_string(), &name])?))
    }

    /// An object that need not be there.
    pub(super) fn find(&self, id: ObjectId) -> Result<Option<(ObjectKind, Vec<u8>)>, Error> {
        if let Some(known) = self.remembered(id) {
            return Ok(Some(known));
        }
        let found = self.with(|repository| try_read(repository, id))?;
        found.map(|(kind, content)| checked(id, kind, content)).transpose()
    }

    /// The content of a blob.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>, Error> {
        match self.object(id)? {
            (ObjectKind::Blob, content) => Ok(content),
            (kind, _) => Err(Error::message(format!("reading blob {id}: it is a {kind}"))),
        }
    }

    /// The size of an object in bytes, read from its header.
    pub fn size(&self, id: ObjectId) -> Result<u64, Error> {
        let found = self.with_anew(|repository| {
            repository.find_header(id).map(|header| header.size()).map_err(|error| reading("object", id, error))
        });
        match found {
            Err(_) if self.is_partial() => Ok(self.object(id)?.1.len() as u64),
            found => found,
        }
    }

    /// The entries of one directory, in git's order.
    pub fn tree(&self, id: ObjectId) -> Result<Vec<TreeEntry>, Error> {
        match self.object(id)? {
            (ObjectKind::Tree, content) => TreeEntry::list(id, &content),
            (kind, _) => Err(Error::message(format!("reading tree {id}: it is a {kind}"))),
        }
    }

    /// A commit.
    pub fn commit(&self, id: ObjectId) -> Result<Commit, Error> {
        if let Some(commit) = self.long_commit(id) {
            return Ok(commit);
        }
        match self.object(id)? {
            (ObjectKind::Commit, content) => {
                let commit = Commit::parse(id, &content)?;
                if content.len() > LONG_BYTES {
                    self.remember_long(&commit);
                }
                Ok(commit)
            }
            (kind, _) => Err(Error::message(format!("reading commit {id}: it is a {kind}"))),
        }
    }

    /// A long commit that was read before.
    pub(super) fn long_commit(&self, id: ObjectId) -> Option<Commit> {
        self.long_commits.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn remember_long(&self, commit: &Commit) {
        let mut known = self.long_commits.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < LONG_COMMITS_MAX {
            known.insert(commit.id, commit.clone());
        }
    }

    /// As [`Repository::with`]; what fails is tried with the packs that are there now. The library finds a few packs that
    /// others add or repack meanwhile, and has room for no more.
    fn with_anew<T, E>(&self, read: impl Fn(&gix::Repository) -> Result<T, E>) -> Result<T, E> {
        let found = self.with(&read);
        if found.is_ok() || self.quarantine.is_some() {
            return found;
        }
        let Ok(anew) = gix::open_opts(&self.git_dir, in_place()).map(prepared) else { return found };
        let found = read(&anew);
        if found.is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(anew);
        }
        found
    }

    /// Hands an idle handle of the library to `read`; there are as many as threads that read at once.
    pub(super) fn with<T>(&self, read: impl FnOnce(&gix::Repository) -> T) -> T {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let handle = idle.unwrap_or_else(|| prepared(self.shared.to_thread_local()));
        let result = read(&handle);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        result
    }
}

/// Finds the repository around a directory, which must belong to who runs this, or be one that git is to trust.
fn discover(path: &Path, absolute: PathBuf, location: Location) -> Result<gix::ThreadSafeRepository, Error> {
    let mapping = gix::sec::trust::Mapping { full: options(), reduced: options() };
    let found = match gix::ThreadSafeRepository::discover_opts(&absolute, Default::default(), mapping) {
        Ok(found) => found,
        Err(error) if is_absence(&error) => return Err(no_repository(&absolute)),
        Err(error) => return Err(Error::new(format!("opening the repository at {}", path.display()), error)),
    };
    let local = found.to_thread_local();
    let (start, git_dir) = (plain(&absolute), plain(local.git_dir()));
    if location == Location::Discover || start != git_dir {
        bare::check(&local, &start, &git_dir)?;
    }
    if local.git_dir_trust() != gix::sec::Trust::Full {
        let owner = std::fs::metadata(local.git_dir()).map_or(0, |top| top.uid());
        let top = local.workdir().unwrap_or(local.git_dir());
        let path = top.canonicalize().unwrap_or(absolute);
        return Err(Error::message(format!(
            "{} belongs to user {owner}\nhint: run this as that user: sudo -u '#{owner}' git hydrate …\n\
             hint: to read it as this user: git config --global --add safe.directory {}",
            path.display(),
            dry_files::diag::shell_path(&path)
        )));
    }
    Ok(found)
}

/// The path without symbolic links, where it leads anywhere.
fn plain(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Whether the search for a repository ended without one, rather than failed.
fn is_absence(error: &gix::Error) -> bool {
    matches!(
        error.downcast_any_ref(),
        Some(
            Upwards::NoGitRepository { .. }
                | Upwards::NoGitRepositoryWithinCeiling { .. }
                | Upwards::NoGitRepositoryWithinFs { .. }
        )
    )
}

/// In git's words, that no repository was found from `path` on.
fn no_repository(path: &Path) -> Error {
    let path = plain(path);
    Error::message(format!("not a git repository (or any of the parent directories): {}", path.display()))
}

/// How each repository is opened: without a look at `refs/replace/`, where those who can push can put another object in
/// place of any, nor at variables that would have it look.
fn options() -> gix::open::Options {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.objects = gix::sec::Permission::Deny;
    let overrides = config_parameters::given().chain(["core.useReplaceRefs=false"]);
    let options = gix::open::Options::default().permissions(permissions).config_overrides(overrides);
    match system_config::named() {
        Some(path) => options.system_config_path(path),
        None => options,
    }
}

/// How a path is opened that is the git directory itself, whatever user owns it.
fn in_place() -> gix::open::Options {
    options().open_path_as_is(true).with(gix::sec::Trust::Full)
}

/// Makes a handle of the library ready: a pack cache, no replacements, and all refs whatever `GIT_NAMESPACE` says, as
/// the git that moves ours sees them.
fn prepared(mut repository: gix::Repository) -> gix::Repository {
    repository.objects.ignore_replacements = true;
    drop(repository.clear_namespace());
    repository
        .objects
        .set_pack_cache(|| Box::new(gix::odb::pack::cache::lru::MemoryCappedHashmap::new(PACK_CACHE_BYTES)));
    repository
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

/// An object as it was read, unless it is another one than its id says.
fn subsections(repository: &gix::Repository, section: &str) -> BTreeSet<String> {
    let config = repository.config_snapshot();
    let sections = config.plumbing().sections_by_name(section).into_iter().flatten();
    sections.filter_map(|section| section.header().subsection_name().map(ToString::to_string)).collect()
}

fn read(repository: &gix::Repository, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Error> {
    let mut buffer = Vec::new();
    let kind = repository.objects.find(&id, &mut buffer).map_err(|error| reading("object", id, error))?.kind;
    Ok((kind, buffer))
}

/// Reads an object that need not be there.
fn try_read(repository: &gix::Repository, id: ObjectId) -> Result<Option<(ObjectKind, Vec<u8>)>, Error> {
    let mut buffer = Vec::new();
    let found = repository.objects.try_find(&id, &mut buffer).map_err(|error| reading("object", id, error))?;
    let kind = found.map(|data| data.kind);
    Ok(kind.map(|kind| (kind, buffer)))
}

fn checked(id: ObjectId, kind: ObjectKind, content: Vec<u8>) -> Result<(ObjectKind, Vec<u8>), Error> {
    let found = gix::objs::compute_hash(id.kind(), kind, &content).doing(|| format!("hashing {kind} {id}"))?;
    if found == id { Ok((kind, content)) } else { Err(Error::message(format!("{kind} {id} is damaged on disk"))) }
}

/// Reads 40 or 64 hexadecimal digits.
pub(crate) fn object_id(text: &str) -> Option<ObjectId> {
    ObjectId::from_hex(text.trim().as_bytes()).ok()
}

fn reading(what: &str, id: ObjectId, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(format!("reading {what} {id}"), error)
}
