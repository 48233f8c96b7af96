//! What a run moved, put into the queue in the names of those whose dry commits it hydrated.

use super::Error;
use super::attendance::Attendant;
use super::books::Books;
use super::caller::Caller;
use super::moves::{Piece, pieces};
use super::queue::{Part, State};
use crate::history::Pusher;
use crate::hydrate::{DryPoint, RefUpdate, Report};
use crate::render::process::wall;
use crate::repo::{Refs, Repository};

/// A run, and the process that it is of.
pub(super) struct Run<'a> {
    /// How many commits of a branch are one move.
    pub commits_max: usize,
    /// The process.
    pub hook: &'a str,
    pub caller: Option<&'a Caller>,
    pub updates: &'a [RefUpdate],
    /// How long the hook of an unknown pusher is waited for, in seconds; none where the process runs for all that is left.
    pub patience: Option<i64>,
    pub report: &'a Report,
}

/// Whose a piece is: the process that is to tell it, if it lives, and in which name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner<'a> {
    hook: Option<&'a str>,
    caller: Option<&'a Caller>,
}

impl Run<'_> {
    /// Puts what was moved since the refs were `before` into the queue, and takes from it what is this process's.
    pub(super) fn queue(&self, repository: &Repository, before: &Refs, others: &[Attendant]) -> Result<(), Error> {
        let mut books = Books::open(repository)?;
        // One that was deleted is new when it comes again.
        books.known.retain(|name| before.get(name).is_some());
        let refs = repository.refs()?;
        books.queue.retain(|part| part.state != State::Waiting || refs.get(&part.name).is_some());
        let this = Pusher::new(self.updates, self.report, repository);
        let is_own = |part: &Part| part.dry.as_ref().is_some_and(|dry| brought(&this, &part.name, dry));
        books.queue.claim(self.hook, self.caller, is_own);
        let position = |name: &str| books.queue.position(name).or_else(|| books.known.get(name));
        let found = pieces(repository, before, self.report, position)?;
        let others: Vec<(Pusher<'_>, &Attendant)> =
            others.iter().map(|other| (Pusher::new(&other.updates, self.report, repository), other)).collect();
        for (piece, owner) in self.joined(found, |piece| self.owner(piece, &this, &others)) {
            books.queue.push(self.part(piece, owner));
        }
        books.close(repository)
    }

    fn owner<'o>(
        &'o self,
        piece: &Piece,
        this: &Pusher<'_>,
        others: &[(Pusher<'_>, &'o Attendant)],
    ) -> Option<Owner<'o>> {
        let own = Owner { hook: Some(self.hook), caller: self.caller };
        let is_its = |pusher: &Pusher<'_>| piece.dry.as_ref().is_some_and(|dry| brought(pusher, &piece.name, dry));
        if is_its(this) {
            return Some(own);
        }
        let other = others.iter().find(|(pusher, _)| is_its(pusher)).map(|(_, other)| Owner {
            hook: other.is_alive.then_some(other.name.as_str()),
            caller: other.caller.as_ref(),
        });
        other.or_else(|| self.patience.is_none().then_some(own))
    }

    /// Pieces of one owner on the way of a branch, as few as the platform takes.
    fn joined<'o>(
        &self,
        pieces: Vec<Piece>,
        owner: impl Fn(&Piece) -> Option<Owner<'o>>,
    ) -> Vec<(Piece, Option<Owner<'o>>)> {
        let mut joined: Vec<(Piece, Option<Owner<'o>>)> = Vec::new();
        for piece in pieces {
            let its = owner(&piece);
            match joined.last_mut() {
                Some((last, of)) if *of == its && self.is_one(last, &piece, its.is_some()) => {
                    (last.new, last.commits, last.dry) = (piece.new, last.commits + 1, piece.dry);
                }
                _ => joined.push((piece, its)),
            }
        }
        joined
    }

    /// Whether two pieces of one owner, or without any, may be one. A hook that comes later may claim one of those without any.
    fn is_one(&self, last: &Piece, next: &Piece, is_owned: bool) -> bool {
        let is_of_one = last.name == next.name && last.is_earlier == next.is_earlier;
        is_of_one && last.commits < self.commits_max && (is_owned || last.dry == next.dry)
    }

    fn part(&self, piece: Piece, owner: Option<Owner<'_>>) -> Part {
        let patience = self.patience.filter(|_| owner.is_none() && !piece.is_earlier && piece.dry.is_some());
        Part {
            number: 0,
            name: piece.name,
            old: piece.old.map(|id| id.to_string()),
            new: piece.new.to_string(),
            dry: piece.dry,
            caller: owner.and_then(|owner| owner.caller.cloned()),
            hook: owner.and_then(|owner| owner.hook.map(str::to_owned)),
            until: patience.map_or(0, |patience| wall::now().saturating_add(patience)),
            tries: 0,
            state: State::Waiting,
        }
    }
}

/// Whether a pusher brought what a branch shows of a dry commit.
fn brought(pusher: &Pusher<'_>, name: &str, dry: &DryPoint) -> bool {
    pusher.brought(name.strip_prefix("refs/heads/").unwrap_or(name), dry)
}
