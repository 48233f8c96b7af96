//! What a hydration would change, made ready to be shown: on a terminal, in a pull request, on a page, to programs.

mod alike;
mod dangers;
mod html;
mod json;
mod markdown;
mod overview;
mod repeats;
mod rows;
mod schema;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::application::AppName;
use crate::diag::Diagnostic;
use crate::diff::{self, Change, ObjectDiff, Options, Pruning, Sides, compare_all};
use crate::hydrate::{InputChange, MergeBase, Preview, PreviewedBranch, PreviewedPath};
use crate::manifest::{self, Manifest, Source};
use crate::path::RepoPath;

pub use alike::CommonChange;
pub use dangers::DangerGroup;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use overview::Overview;
pub use rows::{Mark, Row, rows};
pub use text::{Detail, Form, text};

/// What a hydration would change in each environment.
#[derive(Debug)]
pub struct Changes {
    /// The environment branches, by name, those of production last.
    pub environments: Vec<EnvironmentDiff>,
    /// What is wrong with the dry commit and concerns no environment branch that is known.
    pub problems: Vec<Diagnostic>,
    /// What is odd in it.
    pub warnings: Vec<Diagnostic>,
    /// What becomes of the inputs that the dry tree keeps.
    pub inputs: Vec<InputChange>,
    /// The commit that was compared with, when the dry commit is behind its dry branch.
    pub merge_base: Option<MergeBase>,
}

/// What would become of one environment branch.
#[derive(Debug)]
pub struct EnvironmentDiff {
    /// The branch, the dry commits and what is wrong; its `paths` were taken out.
    pub branch: PreviewedBranch,
    /// The Applications whose manifests would change, by path.
    pub applications: Vec<ApplicationDiff>,
}

/// What would become of the manifests of one destination path.
#[derive(Debug)]
pub struct ApplicationDiff {
    /// The path; where it was, for one that goes.
    pub path: RepoPath,
    /// The Application that writes to it, or wrote to it, if that is known.
    pub name: Option<AppName>,
    /// What makes, or made, the Application, and from what; none for one that is in a file.
    pub made_by: Option<String>,
    /// The rule that hydrates it, from 1; none with `spec.sourceHydrator`.
    pub rule: Option<usize>,
    /// What becomes of the path.
    pub change: Change,
    /// Where the Application wrote to before, if that was elsewhere.
    pub moved_from: Option<RepoPath>,
    /// The objects that differ, by namespace, name and kind. None when only the way they are written does.
    pub objects: Vec<ObjectDiff>,
    /// Where objects of it go, and what Argo CD does about it.
    pub handed_over: Option<String>,
    /// Why the objects cannot be compared: what is on the branch is not a list of objects.
    pub unreadable: Option<String>,
}

impl Changes {
    /// Compares the manifests of a preview.
    pub fn new(preview: Preview, reveal_secrets: bool) -> Self {
        let environments = preview.environments.into_iter().map(|mut branch: PreviewedBranch| {
            let dry_commits = branch.dry_sha_before.clone().map(|before| (before, branch.dry_sha.clone()));
            let options = Options { dry_commits, reveal_secrets, ..Options::default() };
            let applications = applications(paired(std::mem::take(&mut branch.paths)), &options);
            EnvironmentDiff { applications, branch }
        });
        let mut environments: Vec<EnvironmentDiff> = environments.collect();
        environments.sort_by_cached_key(|environment| is_production(environment.branch.branch.as_str()));
        let Preview { problems, warnings, inputs, merge_base, .. } = preview;
        Self { environments, problems, warnings, inputs, merge_base }
    }

    /// Whether no environment would change and nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.environments.iter().all(EnvironmentDiff::is_same) && self.problems.is_empty()
    }

    /// Everything that is wrong or odd, as often as it was found.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let branches = self.environments.iter().map(|environment| &environment.branch);
        let mistakes = branches.flat_map(|branch| branch.mistakes.iter().chain(&branch.failures));
        mistakes.chain(&self.problems).chain(&self.warnings)
    }
}

impl EnvironmentDiff {
    /// Whether it hydrates.
    pub fn renders(&self) -> bool {
        self.branch.mistakes.is_empty()
    }

    /// Whether it hydrates, and with all of its Applications that are not paused.
    pub fn is_whole(&self) -> bool {
        self.renders() && self.branch.failures.is_empty() && self.branch.behind.iter().all(|behind| behind.paused)
    }

    /// Whether it hydrates as a whole and nothing of it would change.
    pub fn is_same(&self) -> bool {
        self.applications.is_empty() && self.is_whole()
    }

    /// The Application that an object comes from, when that is another one.
    pub fn source(&self, object: &ObjectDiff) -> Option<&str> {
        self.applications.get(object.moved_from?).map(ApplicationDiff::title)
    }

    /// The objects that differ, of all Applications.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectDiff> {
        self.applications.iter().flat_map(|application| &application.objects)
    }
}

impl ApplicationDiff {
    /// What it is called: its name, else its path.
    pub fn title(&self) -> &str {
        self.name.as_ref().map_or(self.path.as_str(), AppName::as_str)
    }

    /// What makes it and the rule that hydrates it, where that may be why it comes, goes or moves.
    pub fn origin(&self) -> Option<String> {
        let comes_or_goes = self.change != Change::Changed || self.moved_from.is_some();
        let maker = self.made_by.as_ref().map(|maker| format!("made by {maker}"));
        let rule = self.rule.map(|rule| format!("by rule {rule}"));
        let parts: Vec<String> = maker.into_iter().chain(rule).filter(|_| comes_or_goes).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Whether a branch is called after production: a part of its name is, as in `environments/prod-eu`.
fn is_production(branch: &str) -> bool {
    let mut words = branch.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| ["prod", "production", "prd", "live"].iter().any(|name| word.eq_ignore_ascii_case(name)))
}

/// The paths, and where the Application of each was before: one that goes and one that comes are one that moved, when
/// they belong to the same Application.
fn paired(paths: Vec<PreviewedPath>) -> Vec<(PreviewedPath, Option<RepoPath>)> {
    let (mut gone, mut rest): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.new.is_none());
    let mut paired = Vec::new();
    for mut path in rest.drain(..) {
        let moved = (path.old.is_none() && path.application.is_some())
            .then(|| gone.iter().position(|gone| gone.application == path.application))
            .flatten()
            .map(|index| gone.remove(index));
        let moved_from = moved.map(|gone| {
            path.old = gone.old;
            gone.path
        });
        paired.push((path, moved_from));
    }
    paired.extend(gone.into_iter().map(|path| (path, None)));
    paired.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
    paired
}

fn applications(paths: Vec<(PreviewedPath, Option<RepoPath>)>, options: &Options) -> Vec<ApplicationDiff> {
    let (sides, unreadable): (Vec<Sides>, Vec<Option<String>>) =
        paths.iter().map(|(path, _)| sides(path, options)).unzip();
    let objects = compare_all(&sides);
    let rest = paths.into_iter().zip(objects).zip(unreadable);
    let mut applications: Vec<ApplicationDiff> = rest
        .map(|(((path, moved_from), objects), unreadable)| ApplicationDiff {
            change: match (&path.old, &path.new) {
                (None, _) => Change::Added,
                (_, None) => Change::Removed,
                _ => Change::Changed,
            },
            path: path.path,
            name: path.application,
            made_by: path.made_by,
            rule: path.rule,
            moved_from,
            objects,
            unreadable,
            handed_over: None,
        })
        .collect();
    let pruning: Vec<Pruning> = sides.iter().map(|sides| sides.options.pruning).collect();
    for (number, text) in handed_over(&applications, &pruning) {
        if let Some(application) = applications.get_mut(number) {
            application.handed_over = Some(text);
        }
    }
    applications
}

/// The objects of a path; none, and why, where they cannot be read.
fn sides(path: &PreviewedPath, options: &Options) -> (Sides, Option<String>) {
    let read = |text: &Option<Vec<u8>>| -> Result<Vec<Manifest>, String> {
        let Some(text) = text else { return Ok(Vec::new()) };
        manifest::read(text, Source::Output("the environment branch")).map_err(|error| error.diagnostic.message)
    };
    let options = Options { pruning: path.pruning, namespace: path.namespace.clone(), ..options.clone() };
    match read(&path.old).and_then(|old| Ok((old, read(&path.new)?))) {
        Ok((old, new)) => (Sides { old, new, options }, None),
        Err(why) => (Sides { old: Vec::new(), new: Vec::new(), options }, Some(why)),
    }
}

/// Where the objects of an Application go, and what Argo CD does about it, by the number of the Application.
///
/// Reference: argo-cd 3.4 docs/user-guide/resource_tracking.md: an object is that Application's which applied it last.
fn handed_over(applications: &[ApplicationDiff], pruning: &[Pruning]) -> BTreeMap<usize, String> {
    let mut to: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for application in applications {
        for from in application.objects.iter().filter_map(|object| object.moved_from) {
            to.entry(from).or_default().insert(application.title());
        }
    }
    let text = |(from, to): (usize, BTreeSet<&str>)| {
        let to = to.into_iter().collect::<Vec<_>>().join(", ");
        let title = applications.get(from).map_or("", ApplicationDiff::title);
        let what = match pruning.get(from) {
            Some(Pruning::Cascade) => {
                format!("Argo CD deletes what {to} has not applied by the time that {title} is deleted")
            }
            Some(Pruning::Automatic) => {
                format!("what {title} prunes before {to} applies it is deleted and created again")
            }
            _ => format!("{to} takes them over with its next sync"),
        };
        (from, format!("objects move to {to}: {what}"))
    };
    to.into_iter().map(text).collect()
}

/// The kinds of noise in a difference, each with how often it is there.
fn noise_in<'a>(differences: impl Iterator<Item = &'a diff::Difference>) -> Vec<(diff::Noise, usize)> {
    let mut found = Vec::new();
    for difference in differences {
        difference.visit(&mut |_, place| {
            if let diff::Place::Leaf(diff::Leaf { noise: Some(noise), .. }) = place {
                found.push(*noise);
            }
        });
    }
    let kinds: BTreeSet<_> = found.iter().copied().collect();
    kinds.into_iter().map(|kind| (kind, found.iter().filter(|noise| **noise == kind).count())).collect()
}

/// `chart labels (4), checksums (1)`.
fn noise_text(noise: &[(diff::Noise, usize)]) -> String {
    noise.iter().map(|(kind, count)| format!("{kind} ({count})")).collect::<Vec<_>>().join(", ")
}
