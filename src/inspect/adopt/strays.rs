//! The setting `applications`: leaves out files whose Applications get in the way of others of their names, and that no Argo CD sees.
//!
//! What a cluster printed of an Application is not where it comes from. A fixture is below a directory of tests, and no Application
//! of the tree renders it. And of two definitions of one name that cannot both be hydrated, one that an app of apps renders is
//! deployed.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Seen, View};
use go_yaml::{self as yaml, Limits, Node};
use kustomize_build::FILE_NAMES;

use super::super::apps::object;
use super::super::check::{Judged, Tree};
use super::second::is_of_set;
use super::units::findings;
use super::{Draft, hydrated, walk};
use crate::argo::parent::Parent;
use crate::argo::{AppName, Application};
use crate::discover::Expanded;
use crate::owners::error::HydrateError;

/// Directories of tests, by their names.
const TESTS: [&str; 6] = ["test", "tests", "testdata", "fixture", "fixtures", "__tests__"];

/// The key of the setting.
const APPLICATIONS: &str = "applications";

/// Why a file is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// What a cluster printed.
    Export,
    /// Below a directory of tests.
    Fixture,
    /// Another definition of the same name is what an app of apps renders.
    NotReached,
}

/// Proposes to leave such files out; answers with what is left out, a note for each reason.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, tree: &Tree<'_>) -> Result<Vec<Diagnostic>, HydrateError> {
    if draft.is_set(APPLICATIONS)? {
        return Ok(Vec::new());
    }
    let found = Files::of(judged, tree);
    let left = found.left();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let globs: BTreeMap<RepoPath, Why> =
        left.iter().map(|(file, why)| (found.widened(file, *why, &left), *why)).collect();
    let values: Vec<String> = globs.keys().map(|glob| format!("!/{}", escaped(glob.as_str()))).collect();
    draft.set(APPLICATIONS, values.into(), "all files but those that no Argo CD sees".to_owned())?;
    Ok([Why::Export, Why::Fixture, Why::NotReached]
        .into_iter()
        .filter_map(|why| found.note(why, &left, &globs))
        .collect())
}

/// A name as a pattern that means nothing else.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|letter| "*?[]{}\\!".contains(letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// What is known of the files with Applications.
struct Files<'a> {
    /// The Applications that are written in each.
    written: BTreeMap<&'a RepoPath, Vec<Written<'a>>>,
    /// The files with documents that cannot be used.
    unusable: BTreeSet<&'a RepoPath>,
    /// Those that an app of apps renders from another file.
    reached: BTreeSet<&'a RepoPath>,
    /// Those that a kustomization names, whether an Application renders that or not.
    named: BTreeSet<RepoPath>,
}

type Name<'a> = (Option<&'a AppName>, &'a AppName);

/// An Application of a file, or one that a set of it makes.
struct Written<'a> {
    name: Name<'a>,
    is_export: bool,
    is_parent: bool,
    /// Whether it cannot be hydrated beside others.
    is_in_the_way: bool,
}

impl<'a> Files<'a> {
    fn of(judged: &'a Judged, tree: &Tree<'_>) -> Self {
        let view = View::new(tree.files);
        let discovered = &judged.discovered;
        let wrong = findings(judged);
        let all: Vec<(usize, &Application)> = hydrated(judged);
        let mut counts: BTreeMap<Name<'a>, usize> = BTreeMap::new();
        all.iter().for_each(|(_, one)| *counts.entry(name(one)).or_default() += 1);
        let parents: BTreeSet<(RepoPath, usize)> =
            discovered.expanded.iter().map(|expanded| (expanded.file.clone(), expanded.ordinal)).collect();
        let mut makers: BTreeSet<(RepoPath, usize)> = BTreeSet::new();
        let mut written: BTreeMap<&RepoPath, Vec<Written<'_>>> = BTreeMap::new();
        for (index, one) in all {
            let parent = Parent::of(one);
            let parent = (parent.file.clone(), parent.ordinal());
            let is_parent = parents.contains(&parent);
            makers.extend(is_parent.then_some(parent));
            if one.maker.is_some() && !is_of_set(one) {
                continue;
            }
            let is_double = counts.get(&name(one)).is_some_and(|count| *count > 1);
            written.entry(&one.file).or_default().push(Written {
                name: name(one),
                is_export: is_double && one.maker.is_none() && is_export(one, &view),
                is_parent,
                is_in_the_way: is_double && wrong.get(&index).is_some_and(|finding| finding.is_error()),
            });
        }
        // What a set reads is what its generators look at: that deploys nothing.
        let sets: BTreeSet<RepoPath> = discovered.sets.iter().map(|found| found.set.file()).collect();
        let renders = |expanded: &&Expanded| {
            makers.contains(&(expanded.file.clone(), expanded.ordinal)) || !sets.contains(&expanded.file)
        };
        let mut reached = BTreeSet::new();
        for expanded in discovered.expanded.iter().filter(renders) {
            let contents = expanded.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
            reached.extend(contents.map(|((path, _), _)| path).filter(|path| **path != expanded.file));
        }
        let places = discovered.unusable.iter().filter_map(|document| document.mistakes.first()?.span.as_ref());
        Self { written, unusable: places.map(|span| &span.path).collect(), reached, named: named(judged, &view) }
    }

    /// The files that are left out.
    fn left(&self) -> BTreeMap<&'a RepoPath, Why> {
        let is_reached = |file: &RepoPath| self.reached.contains(file) || self.named.contains(file);
        let has_reached = self.written.keys().any(|file| is_reached(file));
        let is_deployed = |one: &Written<'_>| {
            self.written
                .iter()
                .any(|(file, others)| self.reached.contains(*file) && others.iter().any(|other| other.name == one.name))
        };
        let mut left = BTreeMap::new();
        for (file, all) in self.written.iter().filter(|(file, _)| !is_reached(file)) {
            if all.iter().any(|one| one.is_parent) {
                continue;
            }
            if all.iter().all(|one| one.is_export) {
                left.insert(*file, Why::Export);
            } else if has_reached && tests(file).is_some() && all.iter().any(|one| one.is_in_the_way) {
                left.insert(*file, Why::Fixture);
            } else if all.iter().all(|one| one.is_in_the_way && is_deployed(one)) {
                left.insert(*file, Why::NotReached);
            }
        }
        let no_other = self.unusable.iter().filter(|file| !self.written.contains_key(**file));
        let fixtures = no_other.filter(|file| has_reached && !is_reached(file) && tests(file).is_some());
        left.extend(fixtures.map(|file| (*file, Why::Fixture)));
        left
    }

    /// The directory of a file that is left out, where no file stays in it: for a fixture the directory of tests.
    fn widened(&self, file: &RepoPath, why: Why, left: &BTreeMap<&RepoPath, Why>) -> RepoPath {
        let dir = match why {
            Why::Export => file.parent(),
            Why::Fixture => tests(file),
            Why::NotReached => None,
        };
        let stays = |dir: &RepoPath| {
            let mut files = self.written.keys().chain(&self.unusable).copied();
            files.any(|file| file.starts_with(dir) && !left.contains_key(file))
        };
        dir.filter(|dir| !dir.is_root() && !stays(dir)).unwrap_or_else(|| file.clone())
    }

    /// What is left out for a reason.
    fn note(&self, why: Why, left: &BTreeMap<&RepoPath, Why>, globs: &BTreeMap<RepoPath, Why>) -> Option<Diagnostic> {
        let files: Vec<_> = left.iter().filter(|(_, of)| **of == why).map(|(file, _)| *file).collect();
        let first = files.first()?;
        let count: usize = files.iter().map(|file| self.written.get(file).map_or(0, Vec::len)).sum();
        let places: Vec<String> = globs
            .iter()
            .filter(|(_, of)| **of == why)
            .map(|(glob, _)| format!("`{glob}`"))
            .take(PLACES_NAMED)
            .collect();
        let places = places.join(", ");
        let applications = match count {
            1 => "1 Application is".to_owned(),
            count => format!("{count} Applications are"),
        };
        let text = match why {
            Why::Export => format!(
                "{applications} left out in {places}: a cluster printed them (`metadata.uid`, `status`), and their names are \
                 those of others"
            ),
            Why::Fixture => format!(
                "{applications} left out in {places}: they are below a directory of tests, no Application and no kustomization \
                 names these files, and they cannot be hydrated as they are"
            ),
            Why::NotReached => format!(
                "{applications} left out in {places}: an app of apps renders another file with Applications of the same names, \
                 and none renders these"
            ),
        };
        let hint = "to have them hydrated, too: git hydrate config unset applications";
        Some(Diagnostic::warning(text).at(Span::file((*first).clone())).hint(hint))
    }
}

/// How many places a note names.
const PLACES_NAMED: usize = 4;

fn name(application: &Application) -> Name<'_> {
    (application.namespace.as_ref(), &application.name)
}

/// The files that kustomizations of the tree name as resources, those of tests left out.
fn named(judged: &Judged, view: &View<'_>) -> BTreeSet<RepoPath> {
    let mut named = BTreeSet::new();
    for file in walk::files(view, judged.policy.plain.inputs(), |name| FILE_NAMES.contains(&name)) {
        let (Ok(blob), Some(dir), None) = (view.read(&file), file.parent(), tests(&file)) else { continue };
        let documents = yaml::parse(&blob.data, &Limits::default()).unwrap_or_default();
        let resources = documents.first().and_then(|document| document.get("resources")?.as_sequence());
        let items = resources.unwrap_or_default().iter().filter_map(Node::as_str);
        named.extend(items.filter_map(|item| dir.resolve(item).ok()));
    }
    named
}

/// Whether a cluster printed the document.
fn is_export(application: &Application, view: &View<'_>) -> bool {
    let Some(object) = object(application, view) else { return false };
    let text = |field: &str| object.object().at(&["metadata", field]).and_then(|value| value.as_str());
    text("uid").is_some() && text("resourceVersion").is_some() && object.object().get("status").is_some()
}

/// The outermost directory of tests that a file is in.
fn tests(file: &RepoPath) -> Option<RepoPath> {
    let mut dir = RepoPath::root();
    for name in file.parent()?.components() {
        dir = dir.child(name).ok()?;
        if TESTS.contains(&name) {
            return Some(dir);
        }
    }
    None
}
