//! Applications that did not render, and what becomes of a branch with one.
//!
//! A failure is a function of what its render looked at, as a result is: where all of that is the same, so is the failure.
//! So none is rendered again while [`FailedRender::reads`] are confirmed, within a run and, by the cache, from run to run.
//! That holds for the limits of this machine too: a render that was cut off looked at these files in this order before
//! the limit was reached, and looks at the same ones again. Only a faster machine, or one with less to do, would get
//! further, so somebody may ask for another try. What found no room beside others is tried again by every run: what fitted is in
//! the repository then, and takes no room any more.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::argo::{Application, BranchName};
use crate::known::{self, Basis, Encoded, Record};
use crate::manifest::Key;
use crate::owners::error::HydrateError;
use crate::render::{self, Turn, Unrendered};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Reads, View};
use inputs::Wanted;

pub(crate) use crate::known::FailureKind;

/// What a pusher can do about a limit of the server.
const LIMIT_HINT: &str = "change what it renders, or have an admin raise the limit; \
                          `git hydrate catch-up --retry` on the server tries it again as it is";

/// What becomes of what had no time.
const TURN_HINT: &str = "it was not begun, so the next push that changes a file begins with it; \
                         `git hydrate catch-up --retry` on the server does so at once";

/// What a pusher can do about what found no room.
const ROOM_HINT: &str =
    "the next push has room for as much again, beside what fitted now; or have an admin raise the limit";

/// One Application that did not render.
#[derive(Debug, Clone)]
pub(crate) struct FailedRender {
    /// Why it did not.
    pub kind: FailureKind,
    /// What to say of it.
    pub diagnostics: Vec<Diagnostic>,
    /// What its render looked at, the file with its document included.
    pub reads: Reads,
    /// Whether it fails again where `reads` are confirmed.
    pub repeats: bool,
    /// Whether it follows from the dry commit and the settings alone.
    pub follows: bool,
    /// The inputs that it waits for.
    pub waits: Vec<Wanted>,
    /// Whether it was begun, and the time for all Applications was over then.
    pub was_late: bool,
}

impl FailedRender {
    /// What became of rendering `application`; `view` shows the files that it was read from. Errors: the world failed.
    pub(crate) fn new(application: &Application, failed: Unrendered, view: &View<'_>) -> Result<Self, HydrateError> {
        let Unrendered { failure, mut reads, mut repeats, follows } = failed;
        let name = &application.name;
        let was_begun = !reads.is_empty();
        let (kind, diagnostics) = match failure {
            render::Failure::Mistakes(mistakes) => (
                FailureKind::Mistakes,
                mistakes.into_iter().map(|mistake| application.tells(mistake.of(name.as_str()))).collect(),
            ),
            render::Failure::World(error) if error.is_limit() => {
                let (kind, hint) = match error {
                    render::Error::NoRoom { .. } => (FailureKind::NoRoom, ROOM_HINT),
                    _ if error.is_limit_of_commit() => {
                        (FailureKind::LimitOfCommit, if was_begun { LIMIT_HINT } else { TURN_HINT })
                    }
                    _ => (FailureKind::Limit, LIMIT_HINT),
                };
                let limit = error.of_limit(application).of(name.as_str()).hint(hint);
                (kind, vec![application.tells(limit)])
            }
            render::Failure::World(render::Error::Cancelled) => {
                let text = format!("`{name}` was not rendered: no time was left");
                let mistake = Diagnostic::error(text).at(application.places.name.clone());
                (FailureKind::CutOff, vec![application.tells(mistake)])
            }
            render::Failure::World(error) => return Err(error.into()),
        };
        // What is said of it names lines of this file.
        let file = View::new(view.files());
        match file.content_id(&application.file) {
            Ok(_) => reads.extend(file.reads()),
            Err(_) => repeats = false,
        }
        let was_late = was_begun && kind == FailureKind::LimitOfCommit;
        Ok(Self { kind, diagnostics, reads, repeats, follows, waits: Vec::new(), was_late })
    }

    /// One that renders, but without objects that its branch has; `reads` is what that render and the search for them looked at,
    /// and `view` shows the files that it was read from.
    pub(crate) fn of_lost_objects(
        application: &Application,
        mistakes: Vec<Diagnostic>,
        mut reads: Reads,
        view: &View<'_>,
    ) -> Self {
        let name = application.name.as_str();
        let diagnostics = mistakes.into_iter().map(|mistake| application.tells(mistake.of(name))).collect();
        let file = View::new(view.files());
        let repeats = file.content_id(&application.file).is_ok();
        reads.extend(file.reads());
        let (waits, was_late) = (Vec::new(), false);
        Self { kind: FailureKind::LostObjects, diagnostics, reads, repeats, follows: true, waits, was_late }
    }

    /// An Application that renders without objects that its branch has, when no time was left to find out why.
    pub(crate) fn undecided(application: &Application, lost: &[Key], branch: &BranchName) -> Self {
        let text = format!(
            "`{}` renders without {} objects of `{branch}`, and why was not found out",
            application.name,
            lost.len()
        );
        let hint = format!(
            "if this is intended, push a commit whose message ends with the line `Hydrate-Allow-Removal: {branch}`"
        );
        let mistake = application.tells(Diagnostic::error(text).at(application.places.name.clone()).hint(hint));
        let (kind, diagnostics) = (FailureKind::CutOff, vec![mistake]);
        let (reads, waits) = (Reads::new(), Vec::new());
        Self { kind, diagnostics, reads, repeats: false, follows: false, waits, was_late: false }
    }

    /// One of an earlier dry commit, when nothing that it looked at changed since.
    pub(crate) fn unchanged(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            kind: FailureKind::Mistakes,
            diagnostics,
            reads: Reads::new(),
            repeats: true,
            follows: true,
            waits: Vec::new(),
            was_late: false,
        }
    }

    /// What the cache keeps of the failure; none when it need not happen again, and was not a limit of several Applications
    /// together.
    pub(crate) fn record(&self, application: &Application) -> Option<Encoded> {
        if !self.repeats && !matches!(self.kind, FailureKind::LimitOfCommit | FailureKind::NoRoom) {
            return None;
        }
        let (diagnostics, waits) = (self.diagnostics.clone(), self.waits.clone());
        let failure = known::Failure { kind: self.kind, diagnostics, waits };
        let record = Record { failure: Some(failure), ..Record::of(application, self.reads.clone()) };
        Some(record.encode())
    }

    /// What the cache knows of an Application that did not render, when it would not render here either.
    pub(crate) fn recall(record: Record, view: &View<'_>) -> Option<Self> {
        let is_repeated =
            |kind| !matches!(kind, FailureKind::LimitOfCommit | FailureKind::NoRoom | FailureKind::LostObjects);
        let failure = record.failure.filter(|failure| is_repeated(failure.kind))?;
        let known::Failure { kind, diagnostics, waits } = failure;
        // Of those that do not follow from the dry commit, only limits are kept.
        let follows = kind == FailureKind::Mistakes;
        let failed = Self { kind, diagnostics, reads: record.reads, repeats: true, follows, waits, was_late: false };
        failed.recurs(view).then_some(failed)
    }

    /// When an Application is begun of which an earlier run had this record.
    pub(crate) fn turn(record: &Record, application: &Application) -> Turn {
        let was_begun = record.reads.keys().any(|(path, _)| *path != application.file);
        match record.failure.as_ref().map(|failure| failure.kind) {
            Some(FailureKind::LimitOfCommit) if was_begun => Turn::Late,
            Some(FailureKind::LimitOfCommit) => Turn::Waiting,
            Some(_) | None => Turn::Usual,
        }
    }

    /// Takes it for one that waits for inputs: nothing is said of the dry commit, as by a limit of this machine.
    pub(crate) fn waiting(self, waits: Vec<Wanted>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { kind: FailureKind::Limit, diagnostics, follows: false, waits, ..self }
    }

    /// Whether it says something of the dry commit, and would be found anywhere.
    pub(crate) fn is_of_dry_commit(&self) -> bool {
        self.follows && matches!(self.kind, FailureKind::Mistakes | FailureKind::LostObjects)
    }

    /// Whether it rendered, and found no room.
    pub(crate) fn found_no_room(&self) -> bool {
        self.kind == FailureKind::NoRoom
    }

    /// Whether rendering again, in the tree of `view`, would fail in the same way.
    fn recurs(&self, view: &View<'_>) -> bool {
        self.repeats && view.confirms(&self.reads).unwrap_or(false)
    }
}

/// The failures of one run, also of a try that is begun again.
#[derive(Debug, Default)]
pub(crate) struct FailedRenders(RefCell<HashMap<(RepoPath, usize, ContentId), Vec<FailedRender>>>);

impl FailedRenders {
    /// The failure of an Application, if it would happen again in the tree of `view`.
    pub(crate) fn find(&self, application: &Application, view: &View<'_>) -> Option<FailedRender> {
        self.0.borrow().get(&identity(application))?.iter().find(|failed| failed.recurs(view)).cloned()
    }

    /// Keeps a failure for the next dry commit.
    pub(crate) fn add(&self, application: &Application, failed: &FailedRender) {
        if failed.repeats {
            self.0.borrow_mut().entry(identity(application)).or_default().push(failed.clone());
        }
    }
}

fn identity(application: &Application) -> (RepoPath, usize, ContentId) {
    (application.file.clone(), application.index, application.fingerprint())
}

/// What the failures of these Applications follow from beside them.
pub(crate) fn basis_of(renders: &[FailedRender]) -> Basis {
    match renders.iter().any(|render| render.kind == FailureKind::LostObjects) {
        true => Basis::Objects,
        false => Basis::Nothing,
    }
}

/// Why a branch gets nothing of a dry commit, although nothing is wrong with its Applications before they are rendered.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailedBranch {
    /// What is wrong with the dry commit: of each Application that does not render, or of objects that two render.
    pub mistakes: Vec<Diagnostic>,
    /// The limits of this machine that were reached, and what no time was left for.
    pub limits: Vec<Diagnostic>,
    /// The Applications that failed; none of them when the failure is that of an earlier dry commit.
    pub renders: Vec<FailedRender>,
    /// Whether it is the failure of an earlier dry commit, and nothing changed since that it rests on.
    pub carried: bool,
    /// What it follows from beside the Applications that failed.
    pub basis: Basis,
    /// Whether the time for all Applications of the commit was over.
    pub of_commit: bool,
    /// Whether one of them was being rendered then.
    pub was_late: bool,
    /// Whether one of them found no room, which the next run has.
    pub no_room: bool,
    /// The inputs that its Applications wait for.
    pub waits: Vec<Wanted>,
}

impl FailedBranch {
    /// That of a branch of which these Applications failed; none when there are none.
    pub(crate) fn of(renders: Vec<FailedRender>) -> Option<Self> {
        if renders.is_empty() {
            return None;
        }
        let mut failed = Self { basis: basis_of(&renders), ..Self::default() };
        for render in &renders {
            match render.kind {
                FailureKind::Mistakes | FailureKind::LostObjects => {
                    failed.mistakes.extend(render.diagnostics.iter().cloned());
                }
                FailureKind::Limit | FailureKind::LimitOfCommit | FailureKind::NoRoom | FailureKind::CutOff => {
                    failed.limits.extend(render.diagnostics.iter().cloned());
                }
            }
        }
        failed.waits = renders.iter().flat_map(|render| render.waits.iter().cloned()).collect();
        failed.of_commit = renders.iter().any(|render| render.kind == FailureKind::LimitOfCommit);
        failed.was_late = renders.iter().any(|render| render.was_late);
        failed.no_room = renders.iter().any(FailedRender::found_no_room);
        failed.renders = renders;
        Some(failed)
    }

    /// The failure that the cache knows of a branch.
    pub(crate) fn carried(stuck: &known::Stuck) -> Self {
        let known::Stuck { mistakes, limits, basis, of_commit, was_late, no_room, waits, .. } = stuck;
        Self {
            mistakes: mistakes.clone(),
            limits: limits.clone(),
            renders: Vec::new(),
            carried: true,
            basis: *basis,
            of_commit: *of_commit,
            was_late: *was_late,
            no_room: *no_room,
            waits: waits.clone(),
        }
    }

    /// Everything that is to be said of it, what the dry commit can change first.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.mistakes.iter().chain(&self.limits).cloned().collect()
    }

    /// Whether somebody had no time to wait for all of its Applications.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.renders.iter().any(|render| render.kind == FailureKind::CutOff)
    }
}
