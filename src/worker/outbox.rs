//! Other repositories as destinations: what was hydrated for them is pushed there.
//!
//! Hydration makes their branches as `refs/hydrate/out/NAME/BRANCH` of the dry repository, in the transaction of all else. They
//! are pushed after the lock of the repository was given back ([`deliver_all`]), each destination by itself and within a time
//! limit: one that is away holds back no other, and nothing that was hydrated depends on it. What is to be pushed is what
//! differs from the refs that are there ([`there`]), and a push moves only what is still as it was seen. A file ([`known`]) says
//! what was delivered last, so that a push of something else does not ask each destination again.
//!
//! Never: a push that forces a branch, or a URL that is not of the settings or of the git configuration of this machine.

mod access;
mod known;
mod many;
mod notes;
mod reach;
mod taken_in;
mod there;
mod wanted;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::deliver::{NOT_ATOMIC, complaint, push_args};
use super::moves::RefMove;
use crate::application::{BranchName, DestinationName, without_credentials};
use crate::diag::more::listed;
use crate::diag::{printable, shell_word};
use crate::git::{self, Expected, Location, Lock, ObjectBuffer, ObjectId, RefEdit, Repository, update_refs};
use crate::hydrate;
use crate::metadata::NOTES_REF;

use access::{Access, Failure};
use known::Known;
use there::{There, Way};
use wanted::Wanted;

pub(crate) use known::{Standing, forget, standings};
pub(crate) use reach::{Reach, reach};
pub(super) use taken_in::take_in;

/// How often a push is tried again after somebody else moved something there.
const TRIES: u32 = 5;

/// How long pushing to one destination may take, unless `hydrate.deliverTimeLimit` says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What became of one destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    /// Its name.
    pub destination: String,
    /// Its URL, as the settings have it.
    pub url: String,
    /// The branches that were pushed, by their names there.
    pub delivered: Vec<String>,
    /// The branches that are not there as they were hydrated, and why.
    pub undelivered: Vec<Undelivered>,
}

/// Branches of a destination that were not pushed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Undelivered {
    /// Their names there.
    pub branches: Vec<String>,
    /// Why.
    pub why: Trouble,
    /// The same in words.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

/// Why a branch was not pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trouble {
    /// The destination cannot be reached, or read.
    Away,
    /// It does not take the push.
    Refused,
    /// It has commits that hydration did not make.
    Diverged,
}

impl Trouble {
    /// It, in a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Trouble::Away => "away",
            Trouble::Refused => "refused",
            Trouble::Diverged => "diverged",
        }
    }
}

impl Delivery {
    /// Whether everything is there now.
    pub(crate) fn is_done(&self) -> bool {
        self.undelivered.is_empty()
    }

    /// What was pushed, in a line; or what would be.
    pub(crate) fn pushed(&self, is_rehearsal: bool) -> Option<String> {
        let what = if is_rehearsal { "would push to" } else { "pushed to" };
        let pushed = || format!("{what} `{}`: {}", self.destination, named(&self.delivered));
        (!self.delivered.is_empty()).then(pushed)
    }

    /// A warning for each reason why something was not pushed, and what to do.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = (String, &str)> {
        self.undelivered.iter().map(|undelivered| {
            let Undelivered { branches, reason, hint, .. } = undelivered;
            let text = format!("not pushed to `{}` ({}): {}: {reason}", self.destination, self.url, named(branches));
            (printable(&text).to_string(), hint.as_str())
        })
    }
}

/// Which destinations are asked what they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Those that are to have something new, and are not known to hang.
    Changed,
    /// All.
    All,
    /// All, and nothing is pushed.
    Rehearse,
}

/// Pushes to all destinations, at the same time, what they do not have. To be called after the lock of the repository was given
/// back. `now` is the time, in seconds since 1970.
///
/// What one could not be given is in its answer; the next call tries again, unless it is known to hang ([`known`]). Errors: the
/// repository or its settings cannot be read.
pub(crate) fn deliver_all(repository: &Repository, ask: Ask, now: i64) -> Result<Vec<Delivery>, git::Error> {
    let destinations: Vec<(DestinationName, String)> = hydrate::destinations(repository)?;
    if destinations.is_empty() {
        return Ok(Vec::new());
    }
    let limit = time_limit(repository);
    let found: Vec<Result<Option<Delivery>, git::Error>> = std::thread::scope(|scope| {
        let deliver = |(name, url): &'_ (DestinationName, String)| {
            let (name, url) = (name.clone(), url.clone());
            scope.spawn(move || Outgoing::open(repository, name, url, limit, (ask, now))?.deliver())
        };
        let threads: Vec<_> = destinations.iter().map(deliver).collect();
        threads.into_iter().map(|thread| thread.join().expect("a delivery does not panic")).collect()
    });
    found.into_iter().filter_map(Result::transpose).collect()
}

/// How long pushing to one destination may take here.
fn time_limit(repository: &Repository) -> Duration {
    let limit = repository.config_number("hydrate.deliverTimeLimit").and_then(|value| u64::try_from(value).ok());
    limit.map_or(TIME_LIMIT, Duration::from_secs)
}

/// One destination, and until when pushing there may take.
struct Outgoing {
    /// Opened for this destination: what others write meanwhile is seen.
    repository: Repository,
    name: DestinationName,
    url: String,
    access: Access,
    ask: Ask,
    now: i64,
    started: Instant,
    until: Instant,
    /// What the last delivery left.
    known: Known,
    /// Why branches are pushed without notes: what is there in their place cannot be built on.
    no_notes: RefCell<Option<String>>,
}

impl Outgoing {
    fn open(
        repository: &Repository,
        name: DestinationName,
        url: String,
        limit: Duration,
        (ask, now): (Ask, i64),
    ) -> Result<Self, git::Error> {
        let access = Access::of(repository, &name, &url);
        let started = Instant::now();
        Ok(Self {
            repository: reopened(repository)?,
            name,
            url,
            access,
            ask,
            now,
            started,
            until: started + limit,
            known: Known::default(),
            no_notes: RefCell::default(),
        })
    }

    /// None when there is nothing to say: no branch is for it, or it has everything already.
    fn deliver(mut self) -> Result<Option<Delivery>, git::Error> {
        if Wanted::read(&self.repository, &self.name)?.branches.is_empty() {
            return Ok(None);
        }
        let path = known::directory(&self.repository)?.join(format!("{}.lock", self.name));
        let until = self.until;
        let Some(_lock) = Lock::acquire(&path, self.repository.shared(), |_| Instant::now() < until)? else {
            // The process that has it says what becomes of it.
            return Ok(None);
        };
        self.known = Known::read(&self.repository, &self.name);
        let mut delivered = BTreeMap::new();
        for left in (0..TRIES).rev() {
            if left == 0 {
                self.no_notes.get_mut().get_or_insert_with(|| format!("`{NOTES_REF}` cannot be moved there"));
            }
            self.repository = reopened(&self.repository)?;
            let wanted = Wanted::read(&self.repository, &self.name)?;
            if self.ask == Ask::Changed && delivered.is_empty() {
                if self.known.has_all(&self.url, &wanted) {
                    return Ok(None);
                }
                if let Some(seconds) = self.known.hangs_for(&self.url, self.now) {
                    return Ok(Some(self.not_asked(&wanted, seconds)));
                }
            }
            match self.bring(&wanted, &mut delivered)? {
                Some(undelivered) => return self.conclude(&wanted, delivered, undelivered).map(Some),
                None => continue,
            }
        }
        let wanted = Wanted::read(&self.repository, &self.name)?;
        let failure = Failure::Refused("others were faster each time".to_owned());
        let left = self.not_brought(wanted.names(), &failure);
        self.conclude(&wanted, delivered, vec![left]).map(Some)
    }

    /// Brings what is not there. Answers what could not be brought; none when somebody else moved something meanwhile.
    fn bring(
        &self,
        wanted: &Wanted,
        delivered: &mut BTreeMap<String, ObjectId>,
    ) -> Result<Option<Vec<Undelivered>>, git::Error> {
        let there = match There::read(self) {
            Ok(there) => there,
            Err(failure) => return Ok(Some(vec![self.not_brought(wanted.names(), &failure)])),
        };
        let mut left = Vec::new();
        let mut moves = Vec::new();
        for (branch, want) in &wanted.branches {
            let full = format!("refs/heads/{branch}");
            match there.way(&full, want, &self.repository) {
                Way::None => {}
                Way::Forward(old) => moves.push((branch.clone(), RefMove { name: full, old, new: want.tip })),
                Way::Theirs(_) if self.ask == Ask::Rehearse => {}
                Way::Theirs(theirs) => {
                    if let Err(failure) = self.follow(branch, want.tip, theirs) {
                        left.push(self.not_brought(vec![branch.clone()], &failure));
                    }
                }
                Way::Diverged(theirs) => left.push(self.diverged(branch, theirs)),
            }
        }
        if self.ask == Ask::Rehearse {
            delivered.extend(moves.into_iter().map(|(branch, it)| (branch, it.new)));
            return Ok(Some(left));
        }
        let is_left = |branch: &str| left.iter().any(|undelivered| undelivered.branches.iter().any(|it| it == branch));
        let there_then: Vec<&str> = wanted.branches.keys().map(String::as_str).filter(|name| !is_left(name)).collect();
        let Some(failed) = self.push(wanted, &there, &moves, &there_then)? else { return Ok(None) };
        let has_failed = |branch: &String| failed.iter().any(|undelivered| undelivered.branches.contains(branch));
        delivered
            .extend(moves.iter().filter(|(branch, _)| !has_failed(branch)).map(|(name, it)| (name.clone(), it.new)));
        left.extend(failed);
        left.extend(self.no_notes.borrow().as_deref().map(|why| self.not_noted(why)));
        Ok(Some(left))
    }

    /// Pushes branches with the notes of `noted`, at most so many branches at a time as the admin says. What is not taken
    /// together is tried alone: one that is refused holds back no other.
    fn push(
        &self,
        wanted: &Wanted,
        there: &There,
        moves: &[(String, RefMove)],
        noted: &[&str],
    ) -> Result<Option<Vec<Undelivered>>, git::Error> {
        let (mut failed, mut old_notes): (Vec<Undelivered>, _) = (Vec::new(), there.get(NOTES_REF));
        let size = self.access.refs_per_push.unwrap_or(usize::MAX).min(moves.len()).max(1);
        let mut pushes: Vec<&[(String, RefMove)]> = moves.chunks(size).collect();
        if pushes.is_empty() {
            // Notes may have to be brought all the same.
            pushes.push(&[]);
        }
        let last = pushes.len() - 1;
        for (number, part) in pushes.into_iter().enumerate() {
            let names: Vec<&str> = part.iter().map(|(name, _)| name.as_str()).collect();
            let noted: &[&str] = if number == last { noted } else { &names };
            let refused = match self.push_noted(wanted, part, noted, &mut old_notes)? {
                Ok(()) => continue,
                Err(refused) if refused.is_outdated => return Ok(None),
                Err(refused) => refused,
            };
            if let Failure::Away(_) = &refused.failure {
                failed.push(self.not_brought(names.into_iter().map(str::to_owned).collect(), &refused.failure));
                break;
            }
            let mut taken: Vec<&str> = noted.iter().copied().filter(|name| !names.contains(name)).collect();
            let mut ones: Vec<&(String, RefMove)> = part.iter().collect();
            // When branches are tried one by one, those that were not refused last have the time first.
            ones.sort_by_key(|(name, _)| self.known.has_refused(name));
            for one in ones {
                let one_of = std::slice::from_ref(one);
                let alone = if part.len() == 1 { Err(refused.clone()) } else { self.push_refs(one_of, None)? };
                match alone {
                    Ok(()) => taken.push(&one.0),
                    Err(refused) if refused.is_outdated => return Ok(None),
                    Err(refused) => failed.push(self.not_brought(vec![one.0.clone()], &refused.failure)),
                }
            }
            match self.push_noted(wanted, &[], &taken, &mut old_notes)? {
                Err(refused) if refused.is_outdated => return Ok(None),
                Err(refused) if failed.is_empty() => {
                    failed.push(self.not_brought(taken.into_iter().map(str::to_owned).collect(), &refused.failure));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(Some(merged(failed)))
    }

    /// One push of these branches and of the notes of others.
    fn push_noted(
        &self,
        wanted: &Wanted,
        moves: &[(String, RefMove)],
        noted: &[&str],
        old_notes: &mut Option<ObjectId>,
    ) -> Result<Result<(), Refused>, git::Error> {
        let notes =
            if self.no_notes.borrow().is_some() { Ok(None) } else { self.notes(wanted, moves, noted, *old_notes)? };
        let notes = match notes {
            Ok(notes) => notes,
            Err(Failure::Refused(why)) => {
                self.no_notes.replace(Some(why));
                None
            }
            Err(failure) => return Ok(Err(Refused { failure, is_outdated: false })),
        };
        let new_notes = notes.as_ref().map(|it| it.new);
        let pushed = self.push_refs(moves, notes)?;
        if pushed.is_ok() {
            *old_notes = new_notes.or(*old_notes);
            self.keep_notes(new_notes);
        }
        Ok(pushed)
    }

    fn push_refs(
        &self,
        moves: &[(String, RefMove)],
        notes: Option<RefMove>,
    ) -> Result<Result<(), Refused>, git::Error> {
        let moves: Vec<RefMove> = moves.iter().map(|(_, it)| it.clone()).chain(notes).collect();
        if moves.is_empty() {
            return Ok(Ok(()));
        }
        let pushed = match moves.len() {
            ..many::COUNT_MIN => self.access.run(&self.repository, self.until, |command| {
                push_args(command, &[], &moves, moves.len() > 1, &self.access.url);
            }),
            _ => many::push(&self.access, &self.repository, self.until, &moves)?,
        };
        let output = match pushed {
            Ok(output) => output,
            Err(failure) => return Ok(Err(Refused { failure, is_outdated: false })),
        };
        if output.status.success() {
            return Ok(Ok(()));
        }
        let (said, report) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        if said.contains(NOT_ATOMIC) {
            let reason = "it cannot move several branches at once".to_owned();
            return Ok(Err(Refused { failure: Failure::Refused(reason), is_outdated: false }));
        }
        // Without a line for a ref, nothing was asked of them.
        let is_refused = report.lines().any(|line| line.starts_with("!\t"));
        let outdated = ["(stale info)", "(fetch first)", "(non-fast-forward)", "but expected", "cannot lock ref"];
        let is_outdated = is_refused && outdated.iter().any(|words| report.contains(words) || said.contains(words));
        let why = access::short(&complaint(&output));
        let failure = if is_refused { Failure::Refused(why) } else { Failure::Away(why) };
        Ok(Err(Refused { failure, is_outdated }))
    }

    /// The notes with those of what is there after `moves`; none when they are there already.
    fn notes(
        &self,
        wanted: &Wanted,
        moves: &[(String, RefMove)],
        noted: &[&str],
        old: Option<ObjectId>,
    ) -> Result<Result<Option<RefMove>, Failure>, git::Error> {
        let buffer = ObjectBuffer::new(&self.repository);
        if let Some(old) = old.filter(|old| buffer.commit(*old).is_err()) {
            if let Err(failure) = self.fetch(NOTES_REF) {
                return Ok(Err(failure));
            }
            let repository = reopened(&self.repository)?;
            return Ok(theirs(notes::moved(wanted, moves, noted, Some(old), &ObjectBuffer::new(&repository))));
        }
        Ok(theirs(notes::moved(wanted, moves, noted, old, &buffer)))
    }

    /// Has a ref of this repository lead to the notes there, so that the next ones build on them without fetching.
    fn keep_notes(&self, notes: Option<ObjectId>) {
        let name = self.name.notes();
        let old = self.repository.refs().map(|refs| refs.get(&name));
        if let (Some(new), Ok(old)) = (notes, old) {
            let edit = RefEdit { name, new: Some(new), expected: Expected::from(old) };
            // Without it they are fetched, some day.
            drop(update_refs(&self.repository, &[edit], "hydrate: pushed to a destination"));
        }
    }

    /// Fetches what a ref there leads to, into no ref of this repository.
    fn fetch(&self, name: &str) -> Result<(), Failure> {
        let output = self.access.fetch(&self.repository, self.until, |command| {
            command.args(["--", &self.access.url, name]);
        })?;
        if output.status.success() { Ok(()) } else { Err(Failure::Away(access::short(&complaint(&output)))) }
    }

    /// Takes a branch as it is there: one that a promoter writes.
    fn follow(&self, branch: &str, ours: ObjectId, theirs: ObjectId) -> Result<(), Failure> {
        if !self.repository.has(theirs) {
            self.fetch(&format!("refs/heads/{branch}"))?;
        }
        let name = format!("{}{branch}", self.name.refs());
        let edit = RefEdit { name, new: Some(theirs), expected: Expected::Is(ours) };
        // Where somebody else moved it, the next delivery looks again.
        drop(update_refs(&self.repository, &[edit], "hydrate: promoted at the destination"));
        Ok(())
    }

    fn not_brought(&self, branches: Vec<String>, failure: &Failure) -> Undelivered {
        let again = match self.is_of_worker() {
            true => "the next `git hydrate push` tries again",
            false => "the next push, or `git hydrate catch-up` on the server, tries again",
        };
        let (why, reason, hint) = match failure {
            Failure::Away(reason) => (Trouble::Away, reason, again.to_owned()),
            Failure::Refused(reason) => (Trouble::Refused, reason, format!("have it accept the push; {again}")),
        };
        Undelivered { branches, why, reason: reason.clone(), hint }
    }

    /// Whether a worker pushes, in whose clone the branches of destinations have no lasting place.
    fn is_of_worker(&self) -> bool {
        self.repository.place().is_some()
    }

    /// That a destination is not asked, since it hung when it was.
    fn not_asked(&self, wanted: &Wanted, seconds: i64) -> Delivery {
        let branches = wanted.branches.iter().filter(|(name, want)| !self.known.has(name, want));
        let undelivered = Undelivered {
            branches: branches.map(|(name, _)| name.clone()).collect(),
            why: Trouble::Away,
            reason: format!("it did not answer in time, and is not asked again for {seconds} s"),
            hint: "to ask it now, on the server: git hydrate catch-up".to_owned(),
        };
        let (destination, url) = (self.name.to_string(), without_credentials(&self.url));
        Delivery { destination, url, delivered: Vec::new(), undelivered: vec![undelivered] }
    }

    /// That branches were pushed and notes were not.
    fn not_noted(&self, why: &str) -> Undelivered {
        let url = shell_word(&without_credentials(&self.access.url));
        let hint = format!(
            "to have them made anew, remove what is there: git push {url} --delete {NOTES_REF}; a promoter takes a branch \
             without its note for one that is not hydrated yet"
        );
        Undelivered { branches: vec![NOTES_REF.to_owned()], why: Trouble::Refused, reason: why.to_owned(), hint }
    }

    fn diverged(&self, branch: &str, theirs: ObjectId) -> Undelivered {
        let short = |id: ObjectId| id.to_string().get(..7).unwrap_or_default().to_owned();
        let url = shell_word(&without_credentials(&self.access.url));
        let (ours, there) = (format!("{}{branch}", self.name.refs()), format!("refs/heads/{branch}"));
        let refspec = |from: &str, to: &str| shell_word(&format!("+{from}:{to}"));
        let another = "if another repository is hydrated to it, name another `targetBranch` in one of them";
        let hint = match self.is_of_worker() {
            true => format!("{another}; else, to have it made anew: git push {url} --delete {}", shell_word(branch)),
            false => format!(
                "{another}; else, on the server, to go on from what is there: git fetch {url} {} && git hydrate adopt {}; to lose \
                 what is there: git push {url} {}",
                refspec(&there, &ours),
                shell_word(&format!("{}:{branch}", self.name)),
                refspec(&ours, &there)
            ),
        };
        let reason = format!("it has {} there, which hydration did not make", short(theirs));
        Undelivered { branches: vec![branch.to_owned()], why: Trouble::Diverged, reason, hint }
    }

    fn conclude(
        self,
        wanted: &Wanted,
        delivered: BTreeMap<String, ObjectId>,
        undelivered: Vec<Undelivered>,
    ) -> Result<Delivery, git::Error> {
        if self.ask != Ask::Rehearse {
            let took = self.started.elapsed();
            let known = Known::after(&self.url, wanted, &undelivered).hanging(&self.known, took, self.now);
            known.write(&self.repository, &self.name)?;
        }
        let (destination, url) = (self.name.to_string(), without_credentials(&self.url));
        Ok(Delivery { destination, url, delivered: delivered.into_keys().collect(), undelivered })
    }
}

/// Notes that are there and cannot be read are a matter of the destination.
fn theirs(moved: Result<Option<RefMove>, git::Error>) -> Result<Option<RefMove>, Failure> {
    moved.map_err(|error| Failure::Refused(format!("`{NOTES_REF}` there cannot be built on: {}", error.chain())))
}

/// Some branches by name.
fn named(branches: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    listed(branches, SHOWN_MAX)
}

/// A push that was not taken.
#[derive(Debug, Clone)]
struct Refused {
    failure: Failure,
    /// Whether somebody else moved one of the refs.
    is_outdated: bool,
}

/// Those with one reason together.
fn merged(all: Vec<Undelivered>) -> Vec<Undelivered> {
    let mut merged: Vec<Undelivered> = Vec::new();
    for one in all {
        match merged.iter_mut().find(|known| (known.why, &known.reason) == (one.why, &one.reason)) {
            Some(known) => known.branches.extend(one.branches),
            None => merged.push(one),
        }
    }
    merged
}

/// The repository as it is now, in the same place.
fn reopened(repository: &Repository) -> Result<Repository, git::Error> {
    let opened = Repository::open(repository.git_dir(), Location::Hook)?;
    Ok(match repository.place() {
        Some(place) => opened.within(place),
        None => opened,
    })
}

/// The branch of a destination by its name there.
fn branch_of(name: &DestinationName, branch: &str) -> Option<BranchName> {
    Some(BranchName::new(branch).ok()?.at(name))
}
