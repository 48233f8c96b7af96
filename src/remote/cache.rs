//! The local copy of a remote whose branches are hydrated here.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::dialogue::Request;
use super::upstream::Upstream;
use super::{Address, Error, GUARD};
use crate::argo::OUT;
use crate::hydrate::Report;
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::heads::hydrated_branches;
use crate::repo::{
    self, Expected, Git, Location, Lock, ObjectBuffer, ObjectId, RefEdit, Refs, Repository, Shared, TransactionError,
    update_refs,
};
use crate::settings::SETTINGS_REF;
use crate::show::{Console, Waiting};

/// Where the branches of upstream are, as they are there.
pub(super) const DRY: &str = "refs/dry/";

/// What hydration starts from: upstream's branches, and of those that we continued already our own.
pub(super) const BASES: &str = "refs/base/";

/// What is served: the hydrated branches.
const SERVED: &str = "refs/heads/";

/// The notes of upstream, as they are there.
const DRY_NOTES: &str = "refs/dry-notes/";

/// The records of upstream, as they are there.
const DRY_RECORDS: &str = "refs/dry-records/";

/// What upstream has below `refs/hydrate/` to take settings from, as it is there.
const DRY_SETTINGS: &str = "refs/dry-settings/";

/// What [`DRY_SETTINGS`] is for.
const HYDRATE: &str = "refs/hydrate/";

/// The copy of one dry repository with what was hydrated of it, for one process at a time.
pub(super) struct Cache {
    repository: Repository,
    head: Option<String>,
    /// The ref of upstream whose settings count, where one is named.
    settings_ref: Option<String>,
    _lock: Lock,
}

impl Cache {
    /// Asks upstream how it is, then opens its cache below `dir`, or makes one like it.
    pub(super) fn open(
        address: &Address,
        settings_ref: Option<String>,
        dir: &Path,
        console: &mut Console,
    ) -> Result<Self, Error> {
        let upstream = Upstream::ask(address)?;
        let io = |error: std::io::Error| repo::Error::new(format!("making {}", dir.display()), error);
        // What is private upstream stays private here.
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
        let path = dir.join(format!("{}.git", address.cache_name(settings_ref.as_deref())));
        let mut waiting = Waiting::new(console, format!("waiting for another fetch of {}", address.shown()));
        let lock = Lock::acquire(&path.with_extension("lock"), Shared::Umask, |waited| {
            waiting.report(waited);
            true
        })?;
        let lock = lock.expect("the wait has no end");
        let repository = open_or_make(&path, upstream.object_format)?;
        Ok(Self { repository, head: upstream.head, settings_ref, _lock: lock })
    }

    /// The repository.
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Whether it is named whose settings count.
    pub(super) fn has_named_settings(&self) -> bool {
        self.settings_ref.is_some()
    }

    /// Brings the cache up to upstream, and [`BASES`] to what hydration has to start from.
    pub(super) fn fetch(&self, address: &Address, request: &Request) -> Result<(), Error> {
        let before = self.repository.refs()?;
        let mut command = self.command();
        command.args(["fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--update-shallow"]);
        command.arg(if request.progress { "--progress" } else { "--no-progress" });
        command.args([
            "--",
            address.url(),
            &format!("+{SERVED}*:{DRY}*"),
            "+refs/tags/*:refs/tags/*",
            &format!("+{SETTINGS_REF}*:{DRY_SETTINGS}config*"),
            &format!("+{OUT}*:{OUT}*"),
        ]);
        if let Some(below) = self.settings_ref.as_ref().and_then(|name| name.strip_prefix(HYDRATE)) {
            command.arg(format!("+{HYDRATE}{below}*:{DRY_SETTINGS}{below}*"));
        }
        command.arg(format!("+{NOTES_REF}*:{DRY_NOTES}hydrator.metadata*"));
        command.arg(format!("+{RECORDS_REF}*:{DRY_RECORDS}branches*"));
        let status = command.status().map_err(|error| repo::Error::new("starting git", error))?;
        if !status.success() {
            return Err(Error::Unreachable(address.shown()));
        }
        if self.repository.is_shallow() {
            // The next fetch shall see whether that has changed.
            drop(std::fs::remove_dir_all(self.repository.common_dir()));
            return Err(Error::Shallow(address.shown()));
        }
        self.take_up(&before, address)
    }

    fn take_up(&self, before: &Refs, address: &Address) -> Result<(), Error> {
        let after = self.repository.refs()?;
        let settings = self.settings(&after, address)?;
        let bases = bases(before, &after, &self.repository);
        let records = after.get(&format!("{DRY_RECORDS}branches"));
        let served = hydrated_branches(&bases, records, &ObjectBuffer::new(&self.repository));
        let (mut gone, mut edits) = (Vec::new(), Vec::new());
        for (prefix, wanted) in [(BASES, &bases), (SERVED, &served)] {
            for (branch, old) in after.below(prefix).filter(|(branch, _)| *branch != "HEAD") {
                if !wanted.contains_key(branch) {
                    gone.push(RefEdit { name: format!("{prefix}{branch}"), new: None, expected: Expected::Is(old) });
                }
            }
            for (branch, new) in wanted {
                edits.extend(edit(format!("{prefix}{branch}"), *new, &after));
            }
        }
        for (theirs, ours) in
            [(format!("{DRY_NOTES}hydrator.metadata"), NOTES_REF), (format!("{DRY_RECORDS}branches"), RECORDS_REF)]
        {
            if let Some(tip) = after.get(&theirs).filter(|tip| before.get(&theirs) != Some(*tip)) {
                edits.extend(edit(ours.to_owned(), tip, &after));
            }
        }
        // What an older version copied here, and nothing may be beside.
        for (name, old) in after.below(&format!("{SETTINGS_REF}/")) {
            gone.push(RefEdit { name: format!("{SETTINGS_REF}/{name}"), new: None, expected: Expected::Is(old) });
        }
        match (settings, after.get(SETTINGS_REF)) {
            (Some(settings), _) => edits.extend(edit(SETTINGS_REF.to_owned(), settings, &after)),
            (None, Some(old)) => {
                gone.push(RefEdit { name: SETTINGS_REF.to_owned(), new: None, expected: Expected::Is(old) });
            }
            (None, None) => {}
        }
        // What goes must be gone before something else takes a part of its name.
        for edits in [gone, edits] {
            match update_refs(&self.repository, &edits, "hydrate: fetch") {
                Ok(()) => {}
                Err(TransactionError::Failed(error)) => return Err(error.into()),
                Err(raced @ TransactionError::Raced(_)) => {
                    return Err(repo::Error::new("moving refs of the cache", raced).into());
                }
            }
        }
        if let Some(head) = &self.head {
            self.link(&format!("{BASES}HEAD"), &format!("{BASES}{head}"))?;
        }
        Ok(())
    }

    /// The settings that count; none where upstream has none and no place for them is set.
    fn settings(&self, refs: &Refs, address: &Address) -> Result<Option<ObjectId>, Error> {
        let Some(name) = &self.settings_ref else { return Ok(refs.get(&format!("{DRY_SETTINGS}config"))) };
        // As upstream has the branch, whatever was hydrated onto it here.
        let copy = match name.strip_prefix(HYDRATE) {
            Some(below) => format!("{DRY_SETTINGS}{below}"),
            None => format!("{DRY}{}", name.strip_prefix(SERVED).unwrap_or(name)),
        };
        match refs.get(&copy) {
            Some(id) => Ok(Some(id)),
            None => Err(Error::NoSettings { url: address.shown(), name: name.clone() }),
        }
    }

    /// Has a clone check out the first environment branch of upstream's `HEAD`, else the first one of all. False when
    /// there is none.
    pub(super) fn choose_head(&self, report: &Report) -> Result<bool, Error> {
        let refs = self.repository.refs()?;
        let of_head = report.branches.iter().find(|branch| {
            let is_of_head = self.head.as_ref().is_none_or(|head| branch.dry_branch == *head);
            is_of_head && refs.branch(&branch.branch).is_some()
        });
        let of_head = of_head.map(|branch| branch.branch.as_str());
        let Some(head) = of_head.or_else(|| refs.below(SERVED).next().map(|(branch, _)| branch)) else {
            return Ok(false);
        };
        if refs.head_branch() != Some(head) {
            self.link("HEAD", &format!("{SERVED}{head}"))?;
        }
        Ok(true)
    }

    fn link(&self, name: &str, target: &str) -> Result<(), repo::Error> {
        self.repository.git().output(&["symbolic-ref", name, target]).map(drop)
    }

    /// The service that git asked for, on our standard input and output.
    pub(super) fn upload_pack(&self) -> Command {
        let mut command = self.repository.git().command();
        let settings =
            ["hideRefs=refs/", "hideRefs=!refs/heads/", &format!("hideRefs=!{NOTES_REF}"), "allowFilter=true"]
                .map(|setting| format!("uploadpack.{setting}"));
        for setting in &settings {
            command.arg("-c").arg(setting);
        }
        command.arg("upload-pack").arg(self.repository.common_dir());
        // git speaks this protocol with a helper that connects, but does not hand it on in the environment.
        command.env("GIT_PROTOCOL", "version=2").stdin(Stdio::inherit());
        command
    }

    /// A git whose words go to standard error: standard output is the protocol's.
    fn command(&self) -> Command {
        let mut command = self.repository.git().command();
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from)).env(GUARD, "1");
        command
    }
}

fn edit(name: String, new: ObjectId, refs: &Refs) -> Option<RefEdit> {
    let expected = Expected::from(refs.get(&name));
    (expected != Expected::Is(new)).then_some(RefEdit { name, new: Some(new), expected })
}

/// What each branch starts from, by name: ours where it continues upstream's, or where upstream never had any.
fn bases(before: &Refs, after: &Refs, repository: &Repository) -> BTreeMap<String, ObjectId> {
    let mut bases: BTreeMap<String, ObjectId> =
        after.below(DRY).map(|(branch, tip)| (branch.to_owned(), tip)).collect();
    for (branch, ours) in before.below(SERVED) {
        let continues = match bases.get(branch) {
            Some(theirs) => *theirs == ours || repository.is_ancestor(*theirs, ours),
            None => before.get(&format!("{DRY}{branch}")).is_none(),
        };
        if continues {
            bases.insert(branch.to_owned(), ours);
        }
    }
    bases
}

fn open_or_make(path: &PathBuf, object_format: &str) -> Result<Repository, repo::Error> {
    if path.join("HEAD").exists() {
        let repository = Repository::open(path, Location::Hook)?;
        let is_sha256 = repository.null_id().as_bytes().len() == 32;
        if is_sha256 == (object_format == "sha256") {
            return Ok(repository);
        }
        // Upstream was made anew.
        drop(repository);
        let removed = std::fs::remove_dir_all(path);
        removed.map_err(|error| repo::Error::new(format!("removing {}", path.display()), error))?;
    }
    let format = format!("--object-format={object_format}");
    Git::new(path).output(&["init", "--quiet", "--bare", "--template=", &format])?;
    Repository::open(path, Location::Hook)
}
