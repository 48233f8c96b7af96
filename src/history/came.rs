//! What came of the commits of one push, whichever process hydrated them.
//!
//! A run hydrates what it finds, and its report says which dry commit each part is about ([`Whose`](crate::hydrate::whose)): a pusher
//! gets the parts about his commits. What an earlier run did for him is [looked up](past): hydrated commits name their dry
//! commits, and failures are recorded, and what else it said is [kept](unread). What is about the commits of others he does not read.

mod past;
mod unread;

use std::cell::OnceCell;

use past::Past;
pub(crate) use unread::Heard;

use crate::hydrate::gate::RefUpdate;
use crate::hydrate::report::{Aside, BranchReport, HydratedCommit, Outcome, Report};
use crate::hydrate::whose::{About, DryPoint, Judged, Whose};
use crate::repo::{Error, ObjectId, Repository, object_id};
use crate::settings::SETTINGS_REF;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// Who pushed, and the run that came after it.
pub(crate) struct Pusher<'p> {
    /// What the push moved, symbolic refs resolved.
    updates: &'p [RefUpdate],
    report: &'p Report,
    repository: &'p Repository,
    past: OnceCell<Past>,
}

impl<'p> Pusher<'p> {
    /// A push that moved `updates`, symbolic refs resolved, and after which a run reported `report`.
    pub(crate) fn new(updates: &'p [RefUpdate], report: &'p Report, repository: &'p Repository) -> Self {
        Self { updates, report, repository, past: OnceCell::new() }
    }

    /// What the pusher is shown. A hook that runs without a push shows everything.
    ///
    /// Errors: the repository.
    pub(crate) fn told(&self) -> Result<Report, Error> {
        let report = self.report;
        if self.updates.is_empty() {
            return Ok(report.clone());
        }
        let mut branches = Vec::new();
        for branch in &report.branches {
            let his = self.of_branch(branch)?;
            let may_read = self.may_read(&branch.dry_branch);
            branches.extend(his.map(|his| if may_read { his } else { his.unquoted() }));
        }
        let [problems, warnings, notes] =
            [0, 1, 2].map(|list| move |place: usize| self.whose().about[list].get(&place));
        let is_news = |warning: &Diagnostic| {
            !warning.is_pinned() || warning.span.as_ref().is_none_or(|span| self.touches(&span.path))
        };
        let is_open = |branch: &BranchReport| !self.is_reached(branch);
        Ok(Report {
            left_alone: Vec::new(),
            unfinished: report.unfinished && branches.iter().any(is_open),
            branches,
            problems: self.his_diagnostics(&report.problems, problems),
            warnings: self.his_diagnostics(&report.warnings, warnings).into_iter().filter(is_news).collect(),
            notes: self.his(&report.notes, notes, |_| None).map(|(_, note)| note.clone()).collect(),
            whose: Whose::default(),
            started: Vec::new(),
            refusals: Vec::new(),
        })
    }

    /// Whether everything that the run judged is his.
    pub(crate) fn is_all_his(&self) -> bool {
        self.whose().judged.iter().all(|judged| self.owns(&judged.dry))
    }

    fn whose(&self) -> &'p Whose {
        &self.report.whose
    }

    /// Those of `all` that the pusher is shown, each with what it is about.
    fn his<'a, T>(
        &self,
        all: &'a [T],
        about: impl Fn(usize) -> Option<&'a About>,
        diagnostic: impl Fn(&T) -> Option<&Diagnostic>,
    ) -> impl Iterator<Item = (Option<&'a About>, &'a T)> {
        let all = all.iter().enumerate().map(move |(place, one)| (about(place), one));
        all.filter(move |(about, one)| self.is_told(*about, diagnostic(one)))
    }

    /// The diagnostics that are told to the pusher. Those that are about other dry branches than he pushes quote
    /// nothing.
    fn his_diagnostics<'a>(
        &self,
        all: &'a [Diagnostic],
        about: impl Fn(usize) -> Option<&'a About>,
    ) -> Vec<Diagnostic> {
        let quoted = |(about, one): (Option<&About>, &Diagnostic)| match self.may_read_of(about) {
            true => one.clone(),
            false => one.clone().unquoted(),
        };
        self.his(all, about, |one| Some(one)).map(quoted).collect()
    }

    /// Whether he may read all that something is about: it is of dry branches that he pushes. Who pushes the settings decides what is
    /// hydrated, and where to.
    fn may_read_of(&self, about: Option<&About>) -> bool {
        match about {
            Some(About::Dry(dry) | About::Made(dry)) => self.may_read(&dry.dry_branch),
            Some(About::Branches(branches)) => branches.iter().all(|branch| self.may_read(branch)),
            Some(About::Push | About::Together) | None => self.whose().heads.keys().all(|branch| self.may_read(branch)),
        }
    }

    fn may_read(&self, dry_branch: &str) -> bool {
        self.update_of(dry_branch).is_some() || self.pushes(SETTINGS_REF)
    }

    fn is_told(&self, about: Option<&About>, diagnostic: Option<&Diagnostic>) -> bool {
        match about {
            Some(About::Push) => true,
            Some(About::Branches(branches)) => branches.iter().any(|branch| self.update_of(branch).is_some()),
            Some(About::Together) => self.is_concerned() && self.is_all_his(),
            Some(About::Made(dry)) => self.owns(dry) || self.puts_beside(dry) || self.moves_tag_of(&dry.dry_branch),
            Some(About::Dry(dry)) => self.owns(dry) || diagnostic.is_some_and(|found| self.has_it_too(dry, found)),
            None => self.is_concerned(),
        }
    }

    /// Whether anything is hydrated for what was pushed: for a dry branch, the settings, or a branch that hydration writes.
    fn is_concerned(&self) -> bool {
        let is_written = |branch: &str| self.report.branches.iter().any(|report| report.branch == branch);
        let is_known = |branch: &str| is_written(branch) || self.whose().heads.contains_key(branch);
        let mut branches =
            self.updates.iter().filter_map(|update| Some((update.name.strip_prefix("refs/heads/")?, update.new)));
        let is_asking = |(branch, new): (&str, Option<ObjectId>)| new.is_none() || is_known(branch);
        let is_followed = |branch: &BranchReport| self.moves_tag(branch);
        branches.any(is_asking) || self.pushes(SETTINGS_REF) || self.report.branches.iter().any(is_followed)
    }

    /// Whether he pushed or deleted the tag that leads to what a branch shows, or led there.
    fn moves_tag(&self, branch: &BranchReport) -> bool {
        branch.revision.as_ref().is_some_and(|named| self.pushes(&format!("refs/tags/{}", named.resolved)))
    }

    /// Whether he pushed what a branch follows that shows a tag, a range or a commit: its Applications, the tag, the settings, or
    /// something beside which hydration made it again.
    fn asks_for(&self, branch: &BranchReport) -> bool {
        let is_asked = self.update_of(&branch.dry_branch).is_some() || self.pushes(SETTINGS_REF);
        is_asked || self.moves_tag(branch) || self.pushes(&format!("refs/heads/{}", branch.branch))
    }

    /// Whether a branch of a dry branch went where he put a tag.
    fn moves_tag_of(&self, dry_branch: &str) -> bool {
        self.report.branches.iter().any(|branch| branch.dry_branch == dry_branch && self.moves_tag(branch))
    }

    /// What the push made of a dry branch.
    fn update_of(&self, dry_branch: &str) -> Option<(&RefUpdate, ObjectId)> {
        let mut updates = self.updates.iter();
        let update = updates.find(|update| update.name.strip_prefix("refs/heads/") == Some(dry_branch))?;
        Some((update, update.new?))
    }

    /// Whether the result of a dry commit is his: he pushed the commit, or he pushed settings for which the tip is
    /// looked at anew.
    fn owns(&self, dry: &DryPoint) -> bool {
        let is_there = || self.whose().heads.get(&dry.dry_branch) == Some(&dry.dry_sha);
        self.brings(dry) || (self.pushes(SETTINGS_REF) && is_there() && !self.whose().is_news(&dry.dry_branch))
    }

    /// Whether he pushed a dry commit.
    fn brings(&self, dry: &DryPoint) -> bool {
        let is_pushed = |(update, new)| self.is_pushed(update, new, &dry.dry_sha);
        self.update_of(&dry.dry_branch).is_some_and(is_pushed)
    }

    /// Whether he brought what `branch` shows of a dry commit: he pushed that, or something beside which hydration made it again.
    pub(crate) fn brought(&self, branch: &str, dry: &DryPoint) -> bool {
        let followed = self.report.branches.iter().find(|report| report.branch == branch && report.revision.is_some());
        if let Some(followed) = followed {
            return self.asks_for(followed);
        }
        self.owns(dry) || (self.pushes(&format!("refs/heads/{branch}")) && self.puts_beside(dry))
    }

    /// Whether he put something on a branch of which hydration made the same dry commit again.
    fn puts_beside(&self, dry: &DryPoint) -> bool {
        let is_there = self.whose().heads.get(&dry.dry_branch) == Some(&dry.dry_sha);
        let mut branches = self.report.branches.iter().filter(|branch| branch.dry_branch == dry.dry_branch);
        let is_put = |branch: &BranchReport| self.pushes(&format!("refs/heads/{}", branch.branch));
        is_there && !self.whose().is_news(&dry.dry_branch) && branches.any(is_put)
    }

    fn pushes(&self, name: &str) -> bool {
        self.updates.iter().any(|update| update.name == name)
    }

    /// Whether a commit came to a branch with an update that made `new` of it.
    fn is_pushed(&self, update: &RefUpdate, new: ObjectId, commit: &str) -> bool {
        let Some(commit) = object_id(commit) else { return false };
        let was_there = |old| self.repository.is_ancestor(commit, old);
        commit == new || (self.repository.is_ancestor(commit, new) && !update.old.is_some_and(was_there))
    }

    /// Whether what was found at a later commit of a dry branch is in a file that the pushed one has too.
    fn has_it_too(&self, later: &DryPoint, found: &Diagnostic) -> bool {
        let (Some((_, new)), Some(later)) = (self.update_of(&later.dry_branch), object_id(&later.dry_sha)) else {
            return false;
        };
        let Some(span) = &found.span else { return false };
        let entry = |commit| self.entry(commit, &span.path).ok().flatten();
        self.repository.is_ancestor(new, later) && entry(new).is_some() && entry(new) == entry(later)
    }

    fn entry(&self, commit: ObjectId, path: &RepoPath) -> Result<Option<ObjectId>, Error> {
        let entry = self.repository.entry(self.repository.commit(commit)?.tree, path.as_str())?;
        Ok(entry.map(|(_, id)| id))
    }

    /// Whether the push changes a file; a change of settings may change what any file means.
    fn touches(&self, path: &RepoPath) -> bool {
        self.pushes(SETTINGS_REF) || self.updates.iter().any(|update| self.changes(update, path))
    }

    fn changes(&self, update: &RefUpdate, path: &RepoPath) -> bool {
        match (update.old, update.new) {
            (Some(old), Some(new)) => match (self.entry(old, path), self.entry(new, path)) {
                (Ok(old), Ok(new)) => old != new,
                _ => true,
            },
            (None, Some(new)) => self.entry(new, path).is_ok_and(|entry| entry.is_some()),
            (_, None) => false,
        }
    }

    fn of_branch(&self, branch: &BranchReport) -> Result<Option<BranchReport>, Error> {
        if branch.revision.is_some() {
            return Ok(self.asks_for(branch).then(|| branch.clone()));
        }
        if let Some((update, new)) = self.update_of(&branch.dry_branch) {
            return self.of_commits(branch, update, new).and_then(|his| self.counted(his, branch)).map(Some);
        }
        let is_pushed = self.pushes(SETTINGS_REF) || self.pushes(&format!("refs/heads/{}", branch.branch));
        // Copies follow all dry branches.
        let is_copies = self.whose().copies.as_ref() == Some(&branch.branch);
        let is_told = match is_copies {
            true => self.is_concerned() && self.is_all_his() && branch.outcome != Outcome::Unchanged,
            false => is_pushed && !self.whose().is_news(&branch.dry_branch),
        };
        Ok(is_told.then(|| branch.clone()))
    }

    /// With the objects that differ by his commits alone, where the run made others too, or another run made them.
    fn counted(&self, his: BranchReport, branch: &BranchReport) -> Result<BranchReport, Error> {
        let is_whole = his.commits == branch.commits && branch.objects.is_some();
        let objects = match (his.commits.first(), his.commits.last()) {
            _ if is_whole => return Ok(his),
            (Some(first), Some(last)) => Some(self.past()?.changed_objects(first, last)?),
            (None, _) | (_, None) => None,
        };
        Ok(BranchReport { objects, ..his })
    }

    /// What came of the commits of an update of its dry branch.
    fn of_commits(&self, branch: &BranchReport, update: &RefUpdate, new: ObjectId) -> Result<BranchReport, Error> {
        let (his, pushed) = (self.only_his(branch, update, new), new.to_string());
        let is_tip = branch.dry_sha == pushed;
        let judged = self.whose().judged(&branch.branch, &branch.dry_branch, &pushed);
        match (judged, &branch.outcome) {
            (_, Outcome::Frozen(_)) => Ok(his),
            // It is not written at all, or stays for what an earlier commit did.
            (None, Outcome::Failed { .. }) if is_tip => Ok(his),
            (Some(Judged { failure: None, .. }), _) => {
                let outcome = if his.commits.is_empty() { Outcome::Unchanged } else { Outcome::Moved };
                let his = BranchReport { outcome, ..his };
                if is_tip { Ok(his) } else { self.with_left(his) }
            }
            (Some(Judged { failure: Some(_), .. }), Outcome::Failed { .. }) if is_tip => Ok(self.as_news(his)),
            (Some(Judged { failure: Some(diagnostics), .. }), _) => Ok(self.failed(his, diagnostics.clone())),
            (None, _) => self.looked_up(his, branch, update, new),
        }
    }

    /// The report of a branch with his own commits alone.
    fn only_his(&self, branch: &BranchReport, update: &RefUpdate, new: ObjectId) -> BranchReport {
        let is_his = |dry_sha: &str| self.is_pushed(update, new, dry_sha);
        let dry_sha = new.to_string();
        let (before, from): (Vec<&HydratedCommit>, Vec<_>) =
            branch.commits.iter().partition(|commit| !is_his(&commit.dry_sha));
        let first = branch.commits.iter().position(|commit| is_his(&commit.dry_sha)).unwrap_or(before.len());
        let old = first.checked_sub(1).and_then(|last| branch.commits.get(last)).map(|commit| commit.id.clone());
        let is_tip = branch.dry_sha == dry_sha;
        let whole = BranchReport { commits: Vec::new(), skipped: Vec::new(), ..branch.clone() };
        BranchReport {
            old: old.filter(|_| !from.is_empty()).or(whole.old),
            new: from.last().map(|last| last.id.clone()).or(whole.new),
            commits: from.into_iter().cloned().collect(),
            skipped: branch.skipped.iter().filter(|skipped| is_his(&skipped.dry_sha)).cloned().collect(),
            behind: if is_tip { whole.behind } else { Vec::new() },
            mistakes: if is_tip { whole.mistakes } else { Vec::new() },
            dry_sha,
            ..whole
        }
    }

    /// The report of a failure that an earlier run told others of, as news.
    fn as_news(&self, mut his: BranchReport) -> BranchReport {
        let known = self.whose().known.get(&his.dry_branch);
        if let Outcome::Failed { dry_sha, recorded, .. } = &mut his.outcome {
            *recorded &= !known.is_some_and(|known| known.contains(dry_sha));
        }
        his
    }

    /// The dry commit failed, and maybe a later one did not.
    fn failed(&self, his: BranchReport, diagnostics: Vec<Diagnostic>) -> BranchReport {
        let later = self.shown_later(&his).map(Aside::PassedBy);
        let dry_sha = his.dry_sha.clone();
        let outcome = Outcome::Failed { dry_sha, diagnostics, recorded: false, unnamed: false };
        BranchReport { outcome, aside: later, ..his }
    }

    /// What a branch shows that contains the pushed commit, and is not that one.
    fn shown_later(&self, his: &BranchReport) -> Option<String> {
        let shown = self.whose().shown(&his.branch, &his.dry_branch)?;
        (shown != his.dry_sha && self.is_reached(his)).then(|| shown.to_owned())
    }

    /// Whether a branch shows the pushed commit, or one that contains it.
    fn is_reached(&self, his: &BranchReport) -> bool {
        let shown = self.whose().shown(&his.branch, &his.dry_branch).and_then(object_id);
        object_id(&his.dry_sha)
            .zip(shown)
            .is_some_and(|(new, shown)| new == shown || self.repository.is_ancestor(new, shown))
    }

    /// What an earlier run made of commits that this one found done, or did not come to.
    fn looked_up(
        &self,
        his: BranchReport,
        branch: &BranchReport,
        update: &RefUpdate,
        new: ObjectId,
    ) -> Result<BranchReport, Error> {
        if !his.commits.is_empty() {
            return Ok(his);
        }
        let is_his = |dry: ObjectId| self.is_pushed(update, new, &dry.to_string());
        let is_older = |dry: ObjectId| self.repository.is_ancestor(dry, new);
        let is_rewind = update.old.is_some_and(|old| self.repository.is_ancestor(new, old));
        let made = self.past()?.made(branch, &is_his, &is_older, is_rewind)?;
        if let Some(last) = made.commits.last() {
            let (old, new) = (made.old, Some(last.id.clone()));
            let (outcome, aside) = (Outcome::Moved, Some(Aside::ByAnotherPush));
            return self.with_left(BranchReport { old, new, commits: made.commits, outcome, aside, ..his });
        }
        if let Some(failure) = self.past()?.failure(&his)?.filter(|failure| failure.behind.is_empty()) {
            return Ok(self.failed(his, failure.diagnostics));
        }
        let tip = object_id(&branch.dry_sha);
        let aside = if !tip.is_some_and(|tip| tip == new || self.repository.is_ancestor(new, tip)) {
            Some(Aside::Replaced(branch.dry_sha.clone()))
        } else if !self.is_reached(&his) {
            Some(Aside::Waiting)
        } else {
            let is_judged = self.whose().judges_every && made.has_older;
            let shown = self.shown_later(&his);
            let later = branch.commits.first().map(|commit| commit.dry_sha.clone());
            made.later.filter(|_| !is_judged).or(later).or(shown.filter(|_| made.is_lost)).map(Aside::ContainedIn)
        };
        let mistakes = match (&branch.outcome, &aside) {
            (Outcome::Failed { diagnostics, .. }, Some(Aside::Waiting)) => {
                let tip = DryPoint::new(&branch.dry_branch, &branch.dry_sha);
                diagnostics.iter().filter(|one| self.has_it_too(&tip, one)).cloned().collect()
            }
            _ => his.mistakes.clone(),
        };
        self.with_left(BranchReport { outcome: Outcome::Unchanged, aside, mistakes, ..his })
    }

    /// Adds what the pushed commit left behind, where that is recorded.
    fn with_left(&self, his: BranchReport) -> Result<BranchReport, Error> {
        let left = self.past()?.failure(&his)?.filter(|failure| !failure.behind.is_empty());
        let Some(left) = left.filter(|_| his.mistakes.is_empty()) else { return Ok(his) };
        let behind = self.past()?.behind(&his, &left.behind)?;
        Ok(BranchReport { behind, mistakes: left.diagnostics, ..his })
    }

    fn past(&self) -> Result<&Past, Error> {
        if let Some(past) = self.past.get() {
            return Ok(past);
        }
        let past = Past::open(self.repository)?;
        Ok(self.past.get_or_init(|| past))
    }
}
