//! Mistakes as people read them: a cause once, however many Applications and places it is found at.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, Severity, Span, shown};

/// How many Applications are named with a mistake that they share, and how many places.
const NAMES_MAX: usize = 3;

/// At how many places a cause has to be found for one place to be quoted and the others to be named.
const PLACES_MIN: usize = 3;

/// A mistake, with the other places where it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Cause {
    diagnostic: Diagnostic,
    also_at: Vec<Span>,
}

impl Cause {
    /// Whether it is an error.
    pub(crate) fn is_error(&self) -> bool {
        self.diagnostic.is_error()
    }

    /// How bad it is: an error, or a warning.
    pub(crate) fn severity(&self) -> Severity {
        self.diagnostic.severity
    }

    /// What is wrong, in whichever Application.
    pub(crate) fn kind(&self) -> Diagnostic {
        kind(&self.diagnostic)
    }
}

/// The diagnostic, and a line with the other places.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.diagnostic)?;
        if self.also_at.is_empty() {
            return Ok(());
        }
        write!(f, "\n  = also at: {}", shown(&listed(&self.also_at, NAMES_MAX)))
    }
}

/// Each cause once, errors first: with all the Applications that have it, and the places where it is.
pub(crate) fn causes<'a>(all: impl Iterator<Item = &'a Diagnostic>) -> Vec<Cause> {
    let mut groups: Vec<Vec<(Diagnostic, Vec<String>)>> = Vec::new();
    let mut known: HashMap<Diagnostic, usize> = HashMap::new();
    for (diagnostic, names) in found(all) {
        let index = *known.entry(kind(&diagnostic)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.push((diagnostic, names)),
            None => groups.push(vec![(diagnostic, names)]),
        }
    }
    let mut causes: Vec<Cause> = groups.into_iter().flat_map(together).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.diagnostic.severity));
    causes
}

/// A diagnostic without where and by whom.
fn kind(diagnostic: &Diagnostic) -> Diagnostic {
    Diagnostic { application: None, other_applications: None, made_by: None, span: None, ..diagnostic.as_error() }
}

/// A diagnostic with the Applications that have it, if it is known of any.
fn of(diagnostic: Diagnostic, names: &[String]) -> Diagnostic {
    if names.is_empty() { diagnostic } else { diagnostic.of(listed(names, NAMES_MAX)) }
}

/// What is found at few places is quoted at each of them.
fn together(group: Vec<(Diagnostic, Vec<String>)>) -> Vec<Cause> {
    if group.len() < PLACES_MIN {
        let alone = group.into_iter().map(|(diagnostic, names)| of(diagnostic, &names));
        return alone.map(|diagnostic| Cause { diagnostic, also_at: Vec::new() }).collect();
    }
    let mut seen = BTreeSet::new();
    let names: Vec<String> =
        group.iter().flat_map(|(_, names)| names).filter(|name| seen.insert(*name)).cloned().collect();
    let severity = group.iter().map(|(diagnostic, _)| diagnostic.severity).max();
    let mut diagnostics = group.into_iter().map(|(diagnostic, _)| diagnostic);
    let Some(first) = diagnostics.next() else { return Vec::new() };
    let also_at = diagnostics.filter_map(|diagnostic| diagnostic.span).collect();
    let first = Diagnostic { severity: severity.unwrap_or(first.severity), ..first };
    vec![Cause { diagnostic: of(first, &names), also_at }]
}

/// Each mistake once, with the names of the Applications that failed by it, as they come.
fn found<'a>(all: impl Iterator<Item = &'a Diagnostic>) -> Vec<(Diagnostic, Vec<String>)> {
    let mut found: Vec<(Diagnostic, Vec<String>)> = Vec::new();
    let mut known: HashMap<Diagnostic, (usize, HashSet<String>)> = HashMap::new();
    for diagnostic in all {
        let alone = Diagnostic { application: None, other_applications: None, made_by: None, ..diagnostic.as_error() };
        let (index, names) = match known.entry(alone) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                // Of several elements of a set that fail alike, the first one is an example.
                let made_by = diagnostic.made_by.clone();
                found.push((Diagnostic { severity: diagnostic.severity, made_by, ..entry.key().clone() }, Vec::new()));
                entry.insert((found.len() - 1, HashSet::new()))
            }
        };
        found[*index].0.severity = found[*index].0.severity.max(diagnostic.severity);
        let of = diagnostic.applications().cloned();
        found[*index].1.extend(of.filter(|name| names.insert(name.clone())));
    }
    // What a branch fails by is not repeated as a warning.
    type Said = (String, Option<Span>);
    let said = |diagnostic: &Diagnostic| -> Said { (diagnostic.message.clone(), diagnostic.span.clone()) };
    let errors: HashSet<Said> =
        found.iter().map(|(diagnostic, _)| diagnostic).filter(|it| it.is_error()).map(said).collect();
    found.retain(|(diagnostic, _)| diagnostic.is_error() || !errors.contains(&said(diagnostic)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::path::RepoPath;

    fn at(file: &str, application: &str) -> Diagnostic {
        let span = Span::at(RepoPath::new(file).expect("a path"), 3, 1);
        Diagnostic::error("the source is elsewhere").at(span).of(application).hint("move it")
    }

    fn text(all: &[Diagnostic]) -> String {
        causes(all.iter()).iter().map(|cause| format!("{cause}\n")).collect()
    }

    #[test]
    fn a_cause_at_many_places_is_told_once_with_three_names_and_a_count() {
        let all: Vec<Diagnostic> = (0..34).map(|n| at(&format!("{n:02}.yaml"), &format!("app-{n:02}"))).collect();
        let expected = "error: the source is elsewhere
  --> 00.yaml:3:1
  = application: app-00, app-01, app-02 and 31 more
  = hint: move it
  = also at: 01.yaml:3:1, 02.yaml:3:1, 03.yaml:3:1 and 30 more
";
        assert_eq!(text(&all), expected);
    }

    #[test]
    fn a_cause_at_two_places_is_quoted_at_both_and_other_causes_stay_apart() {
        let other = Diagnostic::warning("odd").of("app-00");
        let told = text(&[other, at("a.yaml", "a"), at("b.yaml", "b")]);
        assert_eq!(told.matches("error: the source is elsewhere").count(), 2, "{told}");
        assert!(told.contains("--> a.yaml:3:1") && told.contains("--> b.yaml:3:1") && !told.contains("also"), "{told}");
        assert!(told.ends_with("warning: odd\n  = application: app-00\n"), "{told}");
    }

    #[test]
    fn a_mistake_that_many_share_is_told_once() {
        let mistakes: Vec<Diagnostic> =
            (0..6).map(|n| Diagnostic::error("no such file").of(format!("app-{n}"))).collect();
        let warning = Diagnostic::warning("odd");
        let merged = causes([&warning].into_iter().chain(&mistakes).chain([&mistakes[0]]));
        let text: Vec<String> = merged.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["error: no such file\n  = application: app-0, app-1, app-2 and 3 more", "warning: odd"]);
    }
}
