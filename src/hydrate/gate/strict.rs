//! Whether a push hydrates, found before git takes it: the hydration is made in memory, for the refs that it would leave.

mod touched;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Refusal, Severity};

use super::foreseen;
use crate::argo::BranchName;
use crate::hydrate::failed_render::{FailedBranch, FailureKind};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::memory::Attempt;
use crate::hydrate::plan::skipped::LeftBehind;
use crate::hydrate::report::Outcome;
use crate::hydrate::run::planned;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::hydrate::whose::About;
use crate::metadata::Source;
use crate::owners::error::HydrateError;
use crate::owners::heads::BACKLOG_MAX;
use crate::owners::revisions::Follows;
use crate::owners::setup::{Setup, Wake};
use crate::repo::{ObjectId, Quarantine, object_id};
use crate::settings::SETTINGS_REF;
use inputs::Wanted;
use touched::{Formers, formers};

/// What a push is refused for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// What the push breaks, or touches while it is broken.
    Touched,
    /// Whatever does not hydrate.
    All,
}

/// A push that is not accepted yet.
pub(crate) struct Push<'a> {
    /// The repository as it is. Its wake-up is that of `after`.
    pub before: &'a Setup<'a>,
    /// The repository as it would be, with [`Wake::Pushed`].
    pub after: &'a Setup<'a>,
    /// For what the push is refused.
    pub strictness: Strictness,
    /// The time, in seconds since 1970, after which no commit of it may be dated.
    pub latest: i64,
    /// Where its objects are.
    pub quarantine: Option<&'a Quarantine>,
}

/// How many seconds a day has.
pub(crate) const DAY: i64 = 86_400;

/// What is found of a push before it goes in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Judgement {
    /// Why the push is refused. Nothing else matters when there is a reason.
    pub refusals: Vec<Diagnostic>,
    /// What decides nothing, and the pusher shall know: Applications that the push leaves as they are, and of which a
    /// limit of this machine keeps us from telling whether they render.
    pub warnings: Vec<Diagnostic>,
    /// What could not be judged in the time there was.
    pub undecided: Vec<Diagnostic>,
    /// Those of `warnings` that are of Applications which the push changes, and that may render later without another push: no check
    /// has seen what they render to.
    pub unseen: Vec<Diagnostic>,
    /// Inputs that may be fetched, each for a dry branch, and were not tried: without them it is not known what renders.
    pub wanted: BTreeSet<(Wanted, BranchName)>,
}

/// Judges each Application of a push by itself: what is known to be wrong counts although others could not be judged. When
/// nothing is wrong and all is judged, what was made is ready for [`super::fulfil`]; not while a branch is frozen.
///
/// Errors: the world failed, and nothing is known.
pub(crate) fn judge(push: &Push<'_>) -> Result<Judgement, HydrateError> {
    let Wake::Pushed(pushed) = &push.after.wake else { return Ok(Judgement::default()) };
    let urgent_since = trees_before(push.before, pushed)?;
    // A branch that is frozen is hydrated from this one day, so it counts as if it were not.
    let (place, wake) = (push.after.place.clone(), push.after.wake.clone());
    let after = Setup { place, wake, now: None, ..*push.after };
    let made = planned(Attempt { urgent_since, ..Attempt::default() }, |attempt| hydrated(&after, attempt))?;
    let dry_branches = made.found.every_dry_branch();
    let fed = made.branches.values().map(|branch| branch.dry_branch.as_str());
    let dry: BTreeSet<&str> = dry_branches.iter().map(BranchName::as_str).chain(fed).collect();
    let pushed: BTreeSet<String> = pushed.iter().filter(|branch| dry.contains(branch.as_str())).cloned().collect();
    let tagged = tagged(push, &made)?;
    if pushed.is_empty() && tagged.is_empty() {
        return Ok(Judgement::default());
    }
    let mut made = made;
    let formers = match push.strictness {
        Strictness::All => Formers::new(),
        Strictness::Touched => formers(&mut made, &pushed)?,
    };
    let judge = Judge { push, made: &made, pushed, tagged, formers, before: None, found: Judgement::default() };
    // The run after the push goes by other branches then.
    let by_settings = judge.settings_differ()?;
    let mut judgement = judge.judgement()?;
    judgement.wanted.clone_from(&made.wanted);
    let frozen = &made.found.policy.settings.frozen;
    let is_frozen = push.after.now.is_some_and(|now| frozen.in_force(now).next().is_some());
    let is_frozen = is_frozen || !made.found.holds.is_empty();
    // What is fetched first is hydrated after the push.
    let is_frozen = is_frozen || !made.wanted.is_empty() || by_settings;
    let is_whole = !is_frozen && judgement.undecided.is_empty() && !made.memory.is_cut_off && !made.report.unfinished;
    if judgement.refusals.is_empty()
        && is_whole
        && let Some(quarantine) = push.quarantine
    {
        made.count_objects().map_err(Stopped::into_error)?;
        let moves = made.moves().map_err(Stopped::into_error)?;
        made.note_changes();
        let mut report = made.take_report();
        let Run { found, memory, .. } = made;
        // Should the push not go in for another reason, the next run finds that this is not so.
        report.warnings.extend(memory.write());
        foreseen::hand_over(quarantine, &found.buffer, &found.refs, &moves.0, report)?;
    }
    Ok(judgement)
}

fn hydrated<'a>(setup: &'a Setup<'a>, attempt: &Attempt) -> Result<Run<'a>, Stopped> {
    let mut run = Run::new(setup)?.recalling(attempt);
    run.hydrate()?;
    Ok(run)
}

/// The branches whose Applications name a tag, or a range, that the push leads elsewhere or nowhere.
fn tagged(push: &Push<'_>, made: &Run<'_>) -> Result<BTreeSet<BranchName>, HydrateError> {
    let (old, new) = (push.before.repository.refs()?, push.after.repository.refs()?);
    let is_moved = |source: &Source| {
        let tag = format!("refs/tags/{}", source.resolved);
        old.get(&tag) != new.get(&tag)
    };
    let is_led = |branch: &&Branch| match &branch.follows {
        Follows::Branch => false,
        Follows::Source(source) => is_moved(source),
        Follows::Nothing(_) => branch.source.as_ref().is_some_and(is_moved),
    };
    Ok(made.branches.values().filter(is_led).map(|branch| branch.name.clone()).collect())
}

/// The trees that the pushed branches had.
fn trees_before(before: &Setup<'_>, pushed: &[String]) -> Result<Vec<ObjectId>, HydrateError> {
    let refs = before.repository.refs()?;
    let tree = |tip| before.repository.commit(tip).map(|commit| commit.tree);
    // Where one cannot be read, nothing is known to be urgent.
    Ok(pushed.iter().filter_map(|branch| refs.branch(branch)).filter_map(|tip| tree(tip).ok()).collect())
}

/// Whether it is a mistake here: a field that is nearly another one is a warning elsewhere, and so is a new Application without
/// objects.
fn is_wrong(diagnostic: &Diagnostic) -> bool {
    diagnostic.is_error() || diagnostic.is_near_miss() || diagnostic.is_refused_strictly
}

struct Judge<'a> {
    push: &'a Push<'a>,
    made: &'a Run<'a>,
    /// The dry branches among the pushed ones.
    pushed: BTreeSet<String>,
    /// The branches that a tag of the push leads elsewhere, or nowhere.
    tagged: BTreeSet<BranchName>,
    /// What fed the branches that fail.
    formers: Formers,
    /// What was wrong before the push, once it is known.
    before: Option<Vec<Diagnostic>>,
    found: Judgement,
}

/// What a failure that stood before the push has to do with it.
enum Verdict {
    /// The push made it, or touches what it rests on.
    Theirs,
    /// The failure is as it was before the push.
    AsBefore,
    /// No time was left to find out.
    Unknown,
}

impl<'a> Judge<'a> {
    fn judgement(mut self) -> Result<Judgement, HydrateError> {
        self.found.refusals = self.late()?;
        let made = self.made;
        for branch in made.branches.values() {
            if self.tagged.contains(&branch.name) {
                self.by_tag(branch);
                continue;
            }
            if !self.pushed.contains(branch.dry_branch.as_str()) {
                continue;
            }
            match (branch.failed_at(branch.dry_tip), branch.failure()) {
                (Some(failed), _) => self.by_renders(branch, failed)?,
                (None, Some(Outcome::Failed { diagnostics, dry_sha, unnamed: false, .. }))
                    if object_id(dry_sha) == Some(branch.dry_tip) =>
                {
                    self.by_diagnostics(Some(branch), diagnostics)?;
                }
                (None, _) => {}
            }
            if let Some(left) = branch.left_at(branch.dry_tip) {
                self.by_left(branch, left)?;
            }
        }
        if self.pushed.is_empty() {
            return Ok(self.found);
        }
        let [of_problems, of_warnings, _] = &made.report.whose.about;
        self.by_diagnostics(None, &self.of_pushed(&made.report.problems, of_problems)?)?;
        // Of the warnings, those decide that are mistakes here.
        self.by_diagnostics(None, &self.of_pushed(&made.report.warnings, of_warnings)?)?;
        if made.report.unfinished {
            let text = "there are more commits than there is time for";
            self.found.undecided.push(Diagnostic::error(text));
        }
        Ok(self.found)
    }

    /// The diagnostics of `all` that concern this push: those of other dry branches alone do not. A diagnostic about
    /// all dry branches quotes nothing.
    fn of_pushed(&self, all: &[Diagnostic], about: &BTreeMap<usize, About>) -> Result<Vec<Diagnostic>, HydrateError> {
        if self.settings_differ()? {
            return Ok(all.to_vec());
        }
        let is_pushed = |branch: &str| self.pushed.contains(branch);
        let pushes_all = self.made.found.heads().iter().all(|head| is_pushed(head.branch.as_str()));
        let told = |(place, one): (usize, &Diagnostic)| {
            let is_told = match about.get(&place) {
                Some(About::Dry(dry) | About::Made(dry)) => is_pushed(&dry.dry_branch),
                Some(About::Branches(branches)) => branches.iter().any(|branch| is_pushed(branch)),
                Some(About::Push | About::Together) | None if pushes_all => true,
                Some(About::Push | About::Together) | None => return Some(one.clone().unquoted()),
            };
            is_told.then(|| one.clone())
        };
        Ok(all.iter().enumerate().filter_map(told).collect())
    }

    /// A branch that goes where a tag of the push leads: whatever fails there is of the push.
    fn by_tag(&mut self, branch: &'a Branch) {
        let Some(failed) = branch.failed() else {
            if let Some(Outcome::Failed { diagnostics, .. }) = branch.failure() {
                self.found.refusals.extend(diagnostics.iter().filter(|one| is_wrong(one)).map(Diagnostic::as_error));
            }
            return;
        };
        for render in &failed.renders {
            let diagnostics = render.diagnostics.iter();
            match render.kind {
                FailureKind::CutOff => self.found.undecided.extend(diagnostics.cloned()),
                FailureKind::Limit | FailureKind::LimitOfCommit | FailureKind::NoRoom if !render.waits.is_empty() => {
                    self.found.unseen.extend(diagnostics.clone().cloned());
                    self.found.warnings.extend(diagnostics.map(|limit| as_warned(limit, false)));
                }
                FailureKind::Limit | FailureKind::LimitOfCommit | FailureKind::NoRoom => {
                    self.found.refusals.extend(diagnostics.map(|limit| as_warned(limit, true)));
                }
                FailureKind::Mistakes | FailureKind::LostObjects => {
                    self.found.refusals.extend(diagnostics.cloned());
                }
            }
        }
        if failed.renders.is_empty() {
            let limits = failed.limits.iter().map(|limit| as_warned(limit, true));
            self.found.refusals.extend(failed.mistakes.iter().cloned().chain(limits));
        }
    }

    /// A branch of which Applications do not render, each by itself.
    fn by_renders(&mut self, branch: &'a Branch, failed: &'a FailedBranch) -> Result<(), HydrateError> {
        let all = self.push.strictness == Strictness::All;
        if failed.carried {
            // Since it failed before, nothing changed that it rests on. What is fetched after the push is no fault of it.
            for limit in &failed.limits {
                let refused = all && limit.refusal != Some(Refusal::Awaited);
                let found = if refused { &mut self.found.refusals } else { &mut self.found.warnings };
                found.push(as_warned(limit, refused));
            }
            self.found.refusals.extend(failed.mistakes.iter().filter(|_| all).cloned());
            return Ok(());
        }
        for render in &failed.renders {
            let diagnostics = render.diagnostics.iter();
            match render.kind {
                FailureKind::CutOff => self.found.undecided.extend(diagnostics.cloned()),
                FailureKind::Limit | FailureKind::LimitOfCommit | FailureKind::NoRoom => {
                    // What is fetched after the push is not its fault.
                    let waits = !render.waits.is_empty();
                    let is_theirs = all || self.touches(branch, render)?;
                    let refused = !waits && is_theirs;
                    // What was never begun has read nothing yet.
                    let may_be_theirs = render.kind == FailureKind::LimitOfCommit && !is_theirs;
                    if waits && is_theirs || may_be_theirs && self.touches_names(branch, render)? {
                        self.found.unseen.extend(diagnostics.clone().cloned());
                    }
                    let found = if refused { &mut self.found.refusals } else { &mut self.found.warnings };
                    found.extend(diagnostics.map(|limit| as_warned(limit, refused)));
                }
                FailureKind::Mistakes | FailureKind::LostObjects => {
                    if all || self.touches(branch, render)? {
                        self.found.refusals.extend(diagnostics.cloned());
                    } else if self.settings_differ()? {
                        self.by_diagnostics(Some(branch), &render.diagnostics)?;
                    }
                }
            }
        }
        // Objects that two Applications render, and what makes Applications of the branch and cannot be answered.
        if failed.renders.is_empty() {
            self.by_diagnostics(Some(branch), &failed.mistakes)?;
            self.by_limits(branch, &failed.limits)?;
        }
        Ok(())
    }

    /// Limits that keep from knowing which Applications a branch has.
    fn by_limits(&mut self, branch: &Branch, limits: &[Diagnostic]) -> Result<(), HydrateError> {
        for limit in limits {
            let verdict = match self.push.strictness {
                Strictness::All => Verdict::Theirs,
                Strictness::Touched => self.verdict(Some(branch), limit)?,
            };
            match verdict {
                Verdict::Theirs => self.found.refusals.push(as_warned(limit, true)),
                Verdict::AsBefore => self.found.warnings.push(as_warned(limit, false)),
                Verdict::Unknown => self.found.undecided.push(limit.clone()),
            }
        }
        Ok(())
    }

    /// A branch that goes on without Applications that failed, each by itself.
    fn by_left(&mut self, branch: &'a Branch, left: &'a LeftBehind) -> Result<(), HydrateError> {
        for render in &left.renders {
            if self.push.strictness == Strictness::All || self.touches(branch, render)? {
                self.found.refusals.extend(render.diagnostics.iter().cloned());
            } else if self.settings_differ()? {
                self.by_diagnostics(Some(branch), &render.diagnostics)?;
            }
        }
        self.by_diagnostics(Some(branch), &left.mistakes)
    }

    /// What is wrong although no render failed.
    fn by_diagnostics(&mut self, branch: Option<&Branch>, diagnostics: &[Diagnostic]) -> Result<(), HydrateError> {
        for diagnostic in diagnostics.iter().filter(|diagnostic| is_wrong(diagnostic)) {
            let verdict = match self.push.strictness {
                Strictness::All => Verdict::Theirs,
                Strictness::Touched => self.verdict(branch, diagnostic)?,
            };
            match verdict {
                Verdict::Theirs => self.found.refusals.push(diagnostic.as_error()),
                Verdict::AsBefore => {}
                Verdict::Unknown => self.found.undecided.push(diagnostic.clone()),
            }
        }
        Ok(())
    }

    fn settings_differ(&self) -> Result<bool, HydrateError> {
        let settings = |setup: &Setup<'_>| setup.repository.refs().map(|refs| refs.get(SETTINGS_REF));
        Ok(settings(self.push.before)? != settings(self.push.after)?)
    }

    /// Commits that are dated so far ahead that a clock must be wrong: hydrated commits take their dates over.
    fn late(&self) -> Result<Vec<Diagnostic>, HydrateError> {
        let repository = self.push.after.repository;
        let (old, new) = (self.push.before.repository.refs()?, repository.refs()?);
        let mut late = Vec::new();
        for branch in &self.pushed {
            let Some(tip) = new.branch(branch) else { continue };
            let line = match old.branch(branch) {
                Some(old) => repository.first_parents(old, tip, BACKLOG_MAX)?.unwrap_or_else(|| vec![tip]),
                None => vec![tip],
            };
            for id in line {
                let ahead = repository.commit(id)?.committer.seconds.saturating_sub(self.push.latest);
                if ahead > 0 {
                    let text = format!("{} on `{branch}` is dated more than a day ahead", id.to_hex_with_len(7));
                    let hint = "set your clock, then: git commit --amend --no-edit, or git rebase --ignore-date";
                    late.push(Diagnostic::error(text).hint(hint));
                }
            }
        }
        let tagged = self.made.branches.values().filter(|branch| self.tagged.contains(&branch.name));
        let sources: BTreeSet<&Source> = tagged.filter_map(|branch| branch.follows.source()).collect();
        for source in sources {
            if repository.commit(source.commit)?.committer.seconds > self.push.latest {
                let text = format!("{} is dated more than a day ahead", source.name());
                late.push(Diagnostic::error(text).hint("set your clock, commit again, and put the tag there"));
            }
        }
        Ok(late)
    }

    /// Whether the push made something wrong, or touches what was wrong before in the same way.
    fn verdict(&mut self, branch: Option<&Branch>, diagnostic: &Diagnostic) -> Result<Verdict, HydrateError> {
        if self.is_touched(branch, diagnostic)? {
            return Ok(Verdict::Theirs);
        }
        // What changed since the last run was all that was looked at, and this does not follow from it.
        if self.made.as_before.contains(diagnostic) {
            return Ok(Verdict::AsBefore);
        }
        // Of renders that were cut off, it is not known what they would have read.
        if (self.push.after.out_of_time)() {
            return Ok(Verdict::Unknown);
        }
        if self.before.is_none() {
            self.before = Some(self.wrong_before()?);
        }
        let diagnostic = diagnostic.clone().unquoted();
        let known = self.before.as_ref().is_some_and(|before| before.contains(&diagnostic));
        Ok(match known {
            true => Verdict::AsBefore,
            false if (self.push.after.out_of_time)() => Verdict::Unknown,
            false => Verdict::Theirs,
        })
    }

    /// Everything that is wrong without the push, without quotes. What is recorded is not rendered for it.
    fn wrong_before(&self) -> Result<Vec<Diagnostic>, HydrateError> {
        let (place, wake) = (self.push.before.place.clone(), self.push.before.wake.clone());
        // What the settings held until now was not deployed, whatever is wrong with it.
        let now = if self.settings_differ()? { self.push.before.now } else { None };
        let before = Setup { place, wake, now, ..*self.push.before };
        let mut made = Run::new(&before)?.recalling(&Attempt::default());
        made.hydrate_tips().map_err(Stopped::into_error)?;
        let mut wrong = made.report.problems;
        wrong.extend(made.report.warnings);
        for branch in made.branches.values() {
            if let Some(Outcome::Failed { diagnostics, .. }) = branch.failure() {
                wrong.extend(diagnostics.iter().cloned());
            }
            wrong.extend(branch.left.diagnostics());
        }
        Ok(wrong.into_iter().map(Diagnostic::unquoted).collect())
    }
}

/// A limit as it is reported to a pusher: `refused` when the push does not go in by it.
fn as_warned(limit: &Diagnostic, refused: bool) -> Diagnostic {
    let limit = limit.clone();
    match refused {
        true => limit.hint("make it cheaper to render, or have an admin raise the limit"),
        false => Diagnostic { severity: Severity::Warning, ..limit },
    }
}
