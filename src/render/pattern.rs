//! Patterns of paths in the repository.

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};
use go_std::doublestar::PathPattern;

use super::failure::Failure;

/// How many directories a pattern may look into.
const DIRS_MAX: usize = 10_000;

/// Whether a path is meant as a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The files or the directories that a pattern describes.
///
/// Those of a directory before those of its subdirectories, each in the order of their names' bytes. Links are followed.
///
/// Reference: doublestar v4 `FilepathGlob`.
pub(super) fn expand(view: &View<'_>, pattern: &RepoPath, wanted: Kind, span: Span) -> Result<Vec<RepoPath>, Failure> {
    let matcher = PathPattern::new(pattern.as_str()).map_err(|_| {
        Failure::mistake(Diagnostic::error(format!("`{pattern}` is not a valid pattern")).at(span.clone()))
    })?;
    let mut top = RepoPath::root();
    let components: Vec<&str> = pattern.components().collect();
    let literal = |component: &&str| !component.contains(['*', '?', '[', '{', '}', '\\']);
    let fixed: Vec<&str> = components.iter().copied().take_while(literal).collect();
    for component in fixed.iter().take(components.len().saturating_sub(1)) {
        top = top.resolve(component).unwrap_or(top);
    }
    let open_ended = components.iter().any(|component| component.contains("**") || component.contains(['{', '}']));
    let depth = if open_ended { usize::MAX } else { components.len().saturating_sub(top.components().count()) };
    let mut walk = Walk { view, pattern: matcher, wanted, span, dirs: 0, found: Vec::new(), entered: Vec::new() };
    if walk.kind(&top)? == Some(Kind::Directory) {
        walk.dir(&top, depth)?;
    }
    Ok(walk.found)
}

struct Walk<'a> {
    view: &'a View<'a>,
    pattern: PathPattern,
    wanted: Kind,
    span: Span,
    dirs: usize,
    found: Vec<RepoPath>,
    /// The real paths of the directories that we are in: one that leads back to itself is not entered again.
    entered: Vec<RepoPath>,
}

impl Walk<'_> {
    fn dir(&mut self, dir: &RepoPath, depth: usize) -> Result<(), Failure> {
        self.dirs += 1;
        if self.dirs > DIRS_MAX {
            let text = format!("the pattern looks into more than {DIRS_MAX} directories");
            return Err(Failure::mistake(Diagnostic::error(text).at(self.span.clone())));
        }
        let real = self.view.real_path(dir).map_err(|error| self.unreadable(error))?;
        if depth == 0 || self.entered.contains(&real) {
            return Ok(());
        }
        self.entered.push(real);
        let entries = self.view.list(dir).map_err(|error| self.unreadable(error))?;
        let mut below = Vec::new();
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            let matches = self.pattern.matches(path.components());
            let kind = match entry.kind {
                Kind::Link => match self.view.kind(&path) {
                    // A link that leads nowhere good concerns only who names it.
                    Err(error) if !matches && !matches!(error, ViewError::Backend { .. }) => None,
                    other => other.map_err(|error| self.unreadable(error))?,
                },
                kind => Some(kind),
            };
            if matches && kind == Some(self.wanted) {
                self.found.push(path.clone());
            }
            if kind == Some(Kind::Directory) {
                below.push(path);
            }
        }
        for path in below {
            self.dir(&path, depth - 1)?;
        }
        self.entered.pop();
        Ok(())
    }

    fn kind(&self, path: &RepoPath) -> Result<Option<Kind>, Failure> {
        self.view.kind(path).map_err(|error| self.unreadable(error))
    }

    fn unreadable(&self, error: ViewError) -> Failure {
        Failure::unreadable(error, self.span.clone())
    }
}
