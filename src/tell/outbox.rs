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
mod notes;
mod push;
mod reach;
mod report;
mod taken_in;
mod there;
mod wanted;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dry_files::diag::shell_word;

use super::worker::deliver::complaint;
use super::worker::moves::RefMove;
use crate::argo::{BranchName, DestinationName, without_credentials};
use crate::metadata::NOTES_REF;
use crate::owners::policy;
use crate::repo::{self, Expected, Location, Lock, ObjectBuffer, ObjectId, RefEdit, Repository, update_refs};
use access::{Access, Failure};
use known::Known;
use there::{There, Way};
use wanted::Wanted;

pub(crate) use report::{Delivery, Trouble, Undelivered};

pub(crate) use known::{Standing, forget, standings};
pub(crate) use reach::{Reach, reach};
pub(super) use taken_in::take_in;

/// How often a push is tried again after somebody else moved something there.
const TRIES: u32 = 5;

/// How long pushing to one destination may take, unless `hydrate.deliverTimeLimit` says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

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
pub(crate) fn deliver_all(repository: &Repository, ask: Ask, now: i64) -> Result<Vec<Delivery>, repo::Error> {
    let destinations: Vec<(DestinationName, String)> = policy::destinations(repository)?;
    if destinations.is_empty() {
        return Ok(Vec::new());
    }
    let limit = time_limit(repository);
    let found: Vec<Result<Option<Delivery>, repo::Error>> = std::thread::scope(|scope| {
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
    /// The branches that were tried alone, in this order.
    tried_alone: RefCell<Vec<String>>,
}

impl Outgoing {
    fn open(
        repository: &Repository,
        name: DestinationName,
        url: String,
        limit: Duration,
        (ask, now): (Ask, i64),
    ) -> Result<Self, repo::Error> {
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
            tried_alone: RefCell::default(),
        })
    }

    /// None when there is nothing to say: no branch is for it, or it has everything already.
    fn deliver(mut self) -> Result<Option<Delivery>, repo::Error> {
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
    ) -> Result<Option<Vec<Undelivered>>, repo::Error> {
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
                Way::Forward(old) => match there.in_the_way(&full) {
                    Some(other) => left.push(self.blocked(branch, other)),
                    None => moves.push((branch.clone(), RefMove { name: full, old, new: want.tip })),
                },
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

    /// The notes of the destination with the notes of the commits that are there after `moves`; none when they are
    /// there already.
    fn notes(
        &self,
        wanted: &Wanted,
        moves: &[(String, RefMove)],
        noted: &[&str],
        old: Option<ObjectId>,
    ) -> Result<Result<Option<RefMove>, Failure>, repo::Error> {
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

    /// Takes over a branch as the destination has it, when a promoter writes it.
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

    /// That a branch cannot be made beside another ref.
    fn blocked(&self, branch: &str, other: &str) -> Undelivered {
        let url = shell_word(&without_credentials(&self.access.url));
        let reason = format!("it has `{other}`, beside which git cannot make `refs/heads/{branch}`");
        let hint = format!("if it is not needed there: git push {url} --delete {}", shell_word(other));
        Undelivered { branches: vec![branch.to_owned()], why: Trouble::Refused, reason, hint }
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
    ) -> Result<Delivery, repo::Error> {
        if self.ask != Ask::Rehearse {
            let took = self.started.elapsed();
            let known = Known::after(&self.url, wanted, &undelivered)
                .in_turn(&self.known, &self.tried_alone.borrow())
                .hanging(&self.known, took, self.now);
            known.write(&self.repository, &self.name)?;
        }
        let (destination, url) = (self.name.to_string(), without_credentials(&self.url));
        Ok(Delivery { destination, url, delivered: delivered.into_keys().collect(), undelivered })
    }
}

/// Notes that are there and cannot be read are a matter of the destination.
fn theirs(moved: Result<Option<RefMove>, repo::Error>) -> Result<Option<RefMove>, Failure> {
    moved.map_err(|error| Failure::Refused(format!("`{NOTES_REF}` there cannot be built on: {}", error.chain())))
}

/// A push that was not taken.
#[derive(Debug, Clone)]
struct Refused {
    failure: Failure,
    /// Whether somebody else moved one of the refs.
    is_outdated: bool,
}

/// The repository as it is now, in the same place.
fn reopened(repository: &Repository) -> Result<Repository, repo::Error> {
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
