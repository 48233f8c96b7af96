//! Patterns of paths in the repository.

use super::failure::Failure;
use crate::diag::{Diagnostic, Span};
use crate::glob::path_match::{BadPattern, Pattern};
use crate::path::RepoPath;
use crate::view::{Kind, View, ViewError};

/// How many directories a pattern may look into.
const DIRS_MAX: usize = 10_000;

/// How many patterns the braces of one may stand for.
const ALTERNATIVES_MAX: usize = 256;

/// Whether a path is meant as a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// A pattern of whole paths: each component as in Go's `filepath.Match`, but `**` stands for any number of them; `[!a]` is
/// `[^a]`, and `{a,b}` are alternatives.
struct PathPattern(Vec<Vec<Component>>);

enum Component {
    Any,
    One(Pattern),
}

impl PathPattern {
    fn new(text: &str) -> Result<Self, BadPattern> {
        let component = |text: &str| match text {
            "**" => Ok(Component::Any),
            text => Pattern::new(&text.replace("[!", "[^")).map(Component::One),
        };
        let patterns = alternatives(text)?.into_iter().map(|text| text.split('/').map(component).collect());
        patterns.collect::<Result<_, _>>().map(Self)
    }

    fn matches(&self, path: &RepoPath) -> bool {
        let names: Vec<&str> = path.components().collect();
        self.0.iter().any(|components| {
            // Whether the components so far describe this many of the names.
            let mut ends: Vec<bool> = std::iter::once(true).chain(names.iter().map(|_| false)).collect();
            for component in components {
                match component {
                    Component::Any => {
                        let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
                        ends.iter_mut().skip(first).for_each(|end| *end = true);
                    }
                    Component::One(pattern) => {
                        let fits = ends.iter().zip(&names).map(|(end, name)| *end && pattern.matches(name));
                        ends = std::iter::once(false).chain(fits.collect::<Vec<_>>()).collect();
                    }
                }
            }
            ends.last() == Some(&true)
        })
    }
}

/// The patterns without braces that a pattern stands for.
fn alternatives(text: &str) -> Result<Vec<String>, BadPattern> {
    let mut done = Vec::new();
    let mut todo = vec![text.to_owned()];
    while let Some(text) = todo.pop() {
        let Some(Braces { before, inside, after }) = Braces::first(&text)? else {
            done.push(text);
            continue;
        };
        todo.extend(inside.iter().rev().map(|inside| format!("{before}{inside}{after}")));
        if todo.len() + done.len() > ALTERNATIVES_MAX {
            return Err(BadPattern);
        }
    }
    Ok(done)
}

/// What stands before, in and after braces; what is inside, at its commas.
struct Braces<'a> {
    before: &'a str,
    inside: Vec<&'a str>,
    after: &'a str,
}

impl<'a> Braces<'a> {
    /// The first braces of a text; braces in them stay.
    fn first(text: &'a str) -> Result<Option<Self>, BadPattern> {
        let (mut depth, mut escaped) = (0_usize, false);
        let (mut open, mut part) = (0, 0);
        let mut inside = Vec::new();
        for (at, c) in text.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => {
                    depth += 1;
                    if depth == 1 {
                        (open, part) = (at, at + 1);
                    }
                }
                ',' if depth == 1 => {
                    inside.extend(text.get(part..at));
                    part = at + 1;
                }
                '}' if depth == 1 => {
                    inside.extend(text.get(part..at));
                    let (before, after) = (text.get(..open), text.get(at + 1..));
                    return Ok(before.zip(after).map(|(before, after)| Self { before, inside, after }));
                }
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > 0 { Err(BadPattern) } else { Ok(None) }
    }
}

/// The files or the directories that a pattern describes.
///
/// Those of a directory before those of its subdirectories, each in the order of their names' bytes. Links are followed.
///
/// Reference: doublestar v4 `FilepathGlob`.
pub(super) fn expand(view: &View<'_>, pattern: &RepoPath, wanted: Kind, span: Span) -> Result<Vec<RepoPath>, Failure> {
    let matcher = PathPattern::new(pattern.as_str())
        .map_err(|_| Failure::mistake(Diagnostic::error(format!("`{pattern}` is no pattern")).at(span.clone())))?;
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
            let matches = self.pattern.matches(&path);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What doublestar v4 `Match` says.
    #[test]
    fn matching() {
        let rows = [
            ("a/*.yaml", "a/b.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("a/**/*.yaml", "a/b.yaml", true),
            ("a/**/*.yaml", "a/b/c/d.yaml", true),
            ("a/**", "a/b/c", true),
            ("**/c", "c", true),
            ("**/c", "a/b/c", true),
            ("a**", "abc", true),
            ("a**", "ab/c", false),
            ("[a-c0-9]x", "5x", true),
            ("[!a]x", "ax", false),
            ("[^a]x", "bx", true),
            ("{a,b}/x", "b/x", true),
            ("{a,b/{c,d}}/x", "b/d/x", true),
            ("a{,-prod}.yaml", "a.yaml", true),
            ("a{,-prod}.yaml", "a-prod.yaml", true),
            ("\\{a", "{a", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
        ];
        for (pattern, path, expected) in rows {
            let matcher = PathPattern::new(pattern).expect(pattern);
            assert_eq!(matcher.matches(&RepoPath::new(path).expect("plain")), expected, "{pattern:?} on {path:?}");
        }
        for pattern in ["{a", "[a", "a{b,c", &"{a,b}".repeat(9)] {
            assert!(PathPattern::new(pattern).is_err(), "{pattern:?}");
        }
    }
}
