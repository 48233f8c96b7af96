//! Pushes to a destination what it lacks.

use std::time::Instant;

use super::Refused;
use super::access::Failure;
use super::report::{Undelivered, merged};
use super::there::There;
use super::wanted::Wanted;
use super::{Outgoing, access};
use crate::metadata::NOTES_REF;
use crate::repo::{self, ObjectId, PushedRefs};
use crate::tell::worker::deliver::{NOT_ATOMIC, complaint};
use crate::tell::worker::moves::RefMove;

impl Outgoing {
    /// Pushes branches with the notes of `noted`. What is not taken together is tried alone: one that is refused holds back no
    /// other, and is apart from the others from then on.
    pub(super) fn push(
        &self,
        wanted: &Wanted,
        there: &There,
        moves: &[(String, RefMove)],
        noted: &[&str],
    ) -> Result<Option<Vec<Undelivered>>, repo::Error> {
        let (mut failed, mut old_notes): (Vec<Undelivered>, _) = (Vec::new(), there.get(NOTES_REF));
        let moves = self.in_turn(moves);
        let alike =
            |one: &(String, RefMove), other: &(String, RefMove)| self.is_apart(&one.0) == self.is_apart(&other.0);
        let mut pushes: Vec<&[(String, RefMove)]> = moves.chunk_by(alike).collect();
        if pushes.is_empty() {
            // Notes may have to be brought all the same.
            pushes.push(&[]);
        }
        let mut pushes = pushes.into_iter();
        while let Some(part) = pushes.next() {
            let names: Vec<&str> = part.iter().map(|(name, _)| name.as_str()).collect();
            let noted: &[&str] = if pushes.len() == 0 { noted } else { &names };
            let refused = match self.push_noted(wanted, part, noted, &mut old_notes)? {
                Ok(()) => continue,
                Err(refused) if refused.is_outdated => return Ok(None),
                Err(refused) => refused,
            };
            if let Failure::Away(_) = &refused.failure {
                let rest = part.iter().chain(pushes.flatten()).map(|(name, _)| name.clone()).collect();
                failed.push(self.not_brought(rest, &refused.failure));
                break;
            }
            let mut taken: Vec<&str> = noted.iter().copied().filter(|name| !names.contains(name)).collect();
            for one in part {
                let alone = self.push_alone(one, (part.len() == 1).then_some(&refused))?;
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

    /// Those first that no earlier delivery had to try alone, then the others by whose turn it is: a branch that takes all the
    /// time there is does not take it each time.
    fn in_turn(&self, moves: &[(String, RefMove)]) -> Vec<(String, RefMove)> {
        let mut moves = moves.to_vec();
        moves.sort_by_key(|(name, _)| self.known.turn(name));
        moves
    }

    /// Whether an earlier delivery had to try a branch alone.
    fn is_apart(&self, branch: &str) -> bool {
        self.known.turn(branch).is_some()
    }

    /// Pushes one branch, without its note; `answer` is what came of it when it was pushed already.
    fn push_alone(
        &self,
        one: &(String, RefMove),
        answer: Option<&Refused>,
    ) -> Result<Result<(), Refused>, repo::Error> {
        if Instant::now() < self.until {
            self.tried_alone.borrow_mut().push(one.0.clone());
        }
        match answer {
            Some(refused) => Ok(Err(refused.clone())),
            None => self.push_refs(std::slice::from_ref(one), None),
        }
    }

    /// One push of these branches and of the notes of others.
    fn push_noted(
        &self,
        wanted: &Wanted,
        moves: &[(String, RefMove)],
        noted: &[&str],
        old_notes: &mut Option<ObjectId>,
    ) -> Result<Result<(), Refused>, repo::Error> {
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
    ) -> Result<Result<(), Refused>, repo::Error> {
        let moves: Vec<RefMove> = moves.iter().map(|(_, it)| it.clone()).chain(notes).collect();
        if moves.is_empty() {
            return Ok(Ok(()));
        }
        // No ref is forced, so what somebody moved there meanwhile is refused.
        let refs = PushedRefs::new(&self.repository, moves.iter().map(|it| (it.name.as_str(), it.new)))?;
        let options: &[&str] = if moves.len() > 1 { &["--atomic"] } else { &[] };
        let pushed = self.access.push(&self.repository, self.until, &refs, options);
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
}
