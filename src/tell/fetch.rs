//! Inputs that a server fetches by itself, where an administrator lets it.
//!
//! A run that needs some says so and ends ([`HydrateError::Lacks`]): nothing was written, and its lock is free. They are fetched
//! by `git-hydrate-fetch`, which can write nowhere here, recorded under `refs/hydrate/inputs`, and the run begins again. What is
//! not to be had keeps its branch waiting, and no other.

mod early;
pub(crate) mod fetcher;
mod login;
mod missed;
mod rules;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::owners::recorded;
use crate::owners::setup::Fetching;
use crate::render::process::wall;
use crate::repo::{Location, ObjectBuffer, Repository, Signature};
use dry_files::diag::chain;
use dry_files::path::RepoPath;
use inputs::wire::What;
use inputs::{InputFile, Kind, Recorded, Wanted};

pub(crate) use early::{Early, accept_early};
use fetcher::{Fetched, Fetchers};
use missed::Missed;
pub(crate) use rules::Rule;

/// How often what was fetched may need more.
const ROUNDS_MAX: u32 = 20;

/// What is fetched for one run of a hook or command, and what was not to be had.
pub(crate) struct Fetches {
    git_dir: PathBuf,
    rules: Vec<Rule>,
    limits: Limits,
    missed: RefCell<Missed>,
    /// What was recorded for it.
    had: RefCell<BTreeSet<Wanted>>,
    started: Cell<Option<Instant>>,
    rounds: Cell<u32>,
    bytes: Cell<u64>,
}

/// What an administrator lets one run, and the record, have.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// `hydrate.fetchTimeLimit`, in seconds: how long all fetches of a run may take. 60 unless it is set.
    time: Duration,
    /// `hydrate.fetchLimit`, in bytes: how much a run may fetch. 256 MiB unless it is set.
    bytes: u64,
    /// `hydrate.recordLimit`, in bytes: how much may be recorded in all. 4 GiB unless it is set.
    all_bytes: u64,
    /// `hydrate.allowUnconfined`.
    unconfined: bool,
}

impl Limits {
    fn read(repository: &Repository) -> Self {
        let number = |key: &str, default: u64| {
            let set = repository.config_number(key).and_then(|value| u64::try_from(value).ok());
            set.unwrap_or(default)
        };
        Self {
            time: Duration::from_secs(number("hydrate.fetchTimeLimit", 60)),
            bytes: number("hydrate.fetchLimit", 256 << 20),
            all_bytes: number("hydrate.recordLimit", 4 << 30),
            unconfined: repository.config_bool("hydrate.allowUnconfined") == Some(true),
        }
    }
}

/// What was fetched, and how it is recorded.
type Taken = (Recorded, Vec<InputFile>);

/// Says what is going on.
type Say<'s> = &'s mut dyn FnMut(&str);

impl Fetches {
    /// The rules of a server; none where it has none. `is_patient` is whether what was not to be had a moment ago is tried again.
    pub(crate) fn of(repository: &Repository, is_patient: bool) -> Option<Self> {
        let rules = rules::read(repository);
        (!rules.is_empty()).then(|| Self {
            git_dir: repository.git_dir().to_owned(),
            rules,
            limits: Limits::read(repository),
            missed: RefCell::new(if is_patient { Missed::default() } else { Missed::read(repository, wall::now()) }),
            had: RefCell::default(),
            started: Cell::default(),
            rounds: Cell::default(),
            bytes: Cell::default(),
        })
    }

    fn rule(&self, wanted: &Wanted, dry_branch: &BranchName) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.allows(&wanted.key, dry_branch))
    }

    /// Fetches and records inputs, each for a dry branch. Whatever comes of it, the run may begin again.
    ///
    /// Errors: the repository.
    pub(crate) fn fetch(&self, wanted: &BTreeSet<(Wanted, BranchName)>, say: Say<'_>) -> Result<(), HydrateError> {
        let repository = Repository::open(&self.git_dir, Location::Hook)?;
        let more = self.bring(&repository, wanted, say);
        let more = self.admitted(&repository, more)?;
        if !more.is_empty()
            && let Err(error) = recorded::record(&repository, &more, &server())
        {
            more.iter().for_each(|(one, _)| self.miss(&wanted_of(one), format!("recording it: {}", chain(&error))));
        }
        self.missed.borrow().write(&repository);
        Ok(())
    }

    /// Fetches inputs for a push that is not accepted yet, and records them with it: see [`Early`].
    ///
    /// Errors: the repository.
    pub(crate) fn fetch_early(
        &self,
        wanted: &BTreeSet<(Wanted, BranchName)>,
        (early, after): (&mut Early<'_>, &Repository),
        say: Say<'_>,
    ) -> Result<(), HydrateError> {
        let repository = Repository::open(&self.git_dir, Location::Hook)?;
        let more = self.bring(&repository, wanted, say);
        let more = self.admitted(after, more)?;
        if !more.is_empty() {
            early.record(after, &more)?;
        }
        self.missed.borrow().write(&repository);
        Ok(())
    }

    /// Fetches inputs. What is not to be had is noted.
    fn bring(&self, repository: &Repository, wanted: &BTreeSet<(Wanted, BranchName)>, say: Say<'_>) -> Vec<Taken> {
        self.rounds.set(self.rounds.get() + 1);
        let is_last = self.rounds.get() >= ROUNDS_MAX;
        let started = self.started.get().unwrap_or_else(Instant::now);
        self.started.set(Some(started));
        let mut by_rule: BTreeMap<&str, (&Rule, BTreeSet<Wanted>)> = BTreeMap::new();
        for (one, dry_branch) in wanted {
            if self.had.borrow().contains(one) {
                self.miss(one, "it was recorded, and is not found".to_owned());
            } else if is_last {
                self.miss(one, "what was fetched keeps naming more".to_owned());
            } else if let Some(rule) = self.rule(one, dry_branch) {
                by_rule.entry(&rule.name).or_insert_with(|| (rule, BTreeSet::new())).1.insert(one.clone());
            }
        }
        let mut more = Vec::new();
        for (rule, wanted) in by_rule.into_values() {
            let wanted: Vec<Wanted> = wanted.into_iter().collect();
            say(&told(&wanted));
            more.extend(self.fetched(repository, rule, &wanted, started + self.limits.time));
        }
        more
    }

    /// What came of the inputs of one rule.
    fn fetched(&self, repository: &Repository, rule: &Rule, wanted: &[Wanted], until: Instant) -> Vec<Taken> {
        let what: Vec<What> = wanted.iter().map(what).collect();
        let terms = rule.terms(until, self.limits.unconfined);
        let fetched = Fetchers::new(repository, terms).fetch(&what, &|_| ());
        let outcomes = match fetched {
            Ok(outcomes) => outcomes,
            Err(error) => {
                let is_late = Instant::now() >= until;
                let why =
                    if is_late { "no time was left (hydrate.fetchTimeLimit)".to_owned() } else { error.to_string() };
                wanted.iter().for_each(|one| self.miss(one, why.clone()));
                return Vec::new();
            }
        };
        let mut more = Vec::new();
        for (one, outcome) in wanted.iter().zip(outcomes) {
            match outcome.map_err(|failed| failed.reason).and_then(|fetched| self.taken(one, fetched)) {
                Ok(taken) => more.push(taken),
                Err(why) => self.miss(one, why),
            }
        }
        more
    }

    /// One input as it is recorded; or why it is not.
    fn taken(&self, wanted: &Wanted, fetched: Fetched) -> Result<Taken, String> {
        let Fetched { version, origin, files, .. } = fetched;
        let files = relative(wanted, files);
        let (files, _) = match wanted.key.kind {
            Kind::File => (files, Vec::new()),
            Kind::Helm | Kind::Oci | Kind::Git => inputs::without_those_of_git(files, None),
        };
        if files.is_empty() {
            return Err("it has no files".to_owned());
        }
        let is_as_asked = wanted.key.kind != Kind::Git || version == wanted.key.want;
        if !is_as_asked {
            return Err(format!("the server sent the commit {version}"));
        }
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.data.len() as u64));
        let all = self.bytes.get().saturating_add(bytes);
        if all > self.limits.bytes {
            return Err(format!("more than {} bytes were fetched at once (hydrate.fetchLimit)", self.limits.bytes));
        }
        self.bytes.set(all);
        let content = inputs::digest(&files);
        let (key, directory) = (wanted.key.clone(), wanted.directory.clone());
        Ok((Recorded { key, directory, version, origin, content, bytes, withdrawn: None }, files))
    }

    /// What of it may join the record of a repository.
    fn admitted(&self, repository: &Repository, mut more: Vec<Taken>) -> Result<Vec<Taken>, HydrateError> {
        let known = recorded::recorded(&repository.refs()?, &ObjectBuffer::new(repository))?;
        let sum = |of: &dyn Fn(&Recorded) -> bool| {
            known.iter().filter(|one| of(one)).fold(0_u64, |sum, one| sum.saturating_add(one.bytes))
        };
        let mut all = sum(&|_| true);
        let limited = self.rules.iter().filter_map(|rule| Some((rule, rule.record_limit?)));
        let mut limited: Vec<(&Rule, u64, u64)> =
            limited.map(|(rule, limit)| (rule, limit, sum(&|one| rule.is_for(&one.key)))).collect();
        more.retain(|(one, _)| {
            if let Some(gone) = known.iter().find(|gone| gone.is_withdrawn_as(one)) {
                let why = gone.withdrawn.as_deref().unwrap_or_default();
                let text = format!("it is {}, which was withdrawn from this repository: {why}", gone.key);
                self.miss(&wanted_of(one), text);
                return false;
            }
            let has_no_room = |sum: u64, limit: u64| sum.saturating_add(one.bytes) > limit;
            let full = limited.iter().find(|(rule, limit, sum)| rule.is_for(&one.key) && has_no_room(*sum, *limit));
            let full = full.map(|(rule, limit, _)| (*limit, format!("hydrate.fetch.{}.recordLimit", rule.name)));
            let of_all = (self.limits.all_bytes, "hydrate.recordLimit".to_owned());
            if let Some((limit, key)) = full.or_else(|| has_no_room(all, of_all.0).then_some(of_all)) {
                self.miss(&wanted_of(one), format!("more than {limit} bytes are recorded ({key})"));
                return false;
            }
            all += one.bytes;
            limited.iter_mut().filter(|(rule, ..)| rule.is_for(&one.key)).for_each(|(.., sum)| *sum += one.bytes);
            true
        });
        self.had.borrow_mut().extend(more.iter().map(|(one, _)| wanted_of(one)));
        Ok(more)
    }

    fn miss(&self, wanted: &Wanted, why: String) {
        self.missed.borrow_mut().add(wanted.clone(), why, wall::now());
    }
}

impl Fetching for Fetches {
    fn allows(&self, wanted: &Wanted, dry_branch: &BranchName) -> bool {
        self.rule(wanted, dry_branch).is_some()
    }

    fn missed(&self, wanted: &Wanted) -> Option<String> {
        self.missed.borrow().why(wanted)
    }
}

/// Does something until it lacks nothing that can be fetched.
pub(crate) fn until_had<T>(
    fetches: Option<&Fetches>,
    say: Say<'_>,
    mut run: impl FnMut(Option<&dyn Fetching>) -> Result<T, HydrateError>,
) -> Result<T, HydrateError> {
    loop {
        match (run(fetches.map(|fetches| fetches as &dyn Fetching)), fetches) {
            (Err(HydrateError::Lacks(wanted)), Some(fetches)) => fetches.fetch(&wanted, &mut *say)?,
            (done, _) => return done,
        }
    }
}

/// What an entry of the record was fetched for.
fn wanted_of(one: &Recorded) -> Wanted {
    Wanted { key: one.key.clone(), directory: one.directory.clone() }
}

/// Who records what was fetched.
fn server() -> Signature {
    let (name, email) = ("git-hydrate".to_owned(), "git-hydrate@localhost".to_owned());
    Signature { name, email, seconds: wall::now(), offset: 0 }
}

fn told(wanted: &[Wanted]) -> String {
    match wanted {
        [one] => format!("fetching {} …", one.key),
        _ => format!("fetching {} inputs …", wanted.len()),
    }
}

fn what(wanted: &Wanted) -> What {
    let inputs::Key { kind, url, name, want } = wanted.key.clone();
    match kind {
        Kind::Helm => What::Helm { url, name, want },
        Kind::Oci => What::Oci { url, name, want },
        Kind::Git => What::Git { url, want, directories: vec![wanted.directory.to_string()] },
        Kind::File => What::File { url },
    }
}

/// The files of a directory of a repository, as they are named in it.
fn relative(wanted: &Wanted, files: Vec<InputFile>) -> Vec<InputFile> {
    if wanted.key.kind != Kind::Git || wanted.directory == RepoPath::root() {
        return files;
    }
    let below = |file: InputFile| Some(InputFile { path: file.path.strip_prefix(&wanted.directory)?, data: file.data });
    files.into_iter().filter_map(below).collect()
}
