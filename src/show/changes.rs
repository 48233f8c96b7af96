//! What a hydration would change, made ready to be shown: on a terminal, in a pull request, on a page, to programs.

mod alike;
mod all_dangers;
mod dangers;
mod effect;
mod html;
mod json;
mod likeness;
mod markdown;
mod overview;
mod repeats;
mod room;
mod rows;
mod said_once;
mod schema;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::argo::{AppName, BranchName};
use crate::diff::{self, Beside, Change, Danger, ObjectDiff, ObjectName, Options, Pruning, Sides, Words, compare_all};
use crate::manifest::{self, ChangedObjects, Manifest, Source, Tally};
use crate::preview::{
    self, End, InputChange, LikeBranch, MergeBase, Preview, PreviewedBranch, PreviewedPath, is_production,
};
use crate::repo::shares::in_shares;
use dry_files::diag::{Diagnostic, Refusal};
use dry_files::path::RepoPath;
use go_yaml::Value;

pub(crate) use alike::CommonChange;
pub(crate) use dangers::DangerGroup;
pub(crate) use html::html;
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use overview::Overview;
pub(crate) use rows::{Mark, Row, rows};
pub(crate) use text::{Detail, Form, text};

/// What a hydration would change in each environment.
#[derive(Debug)]
pub(crate) struct Changes {
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
pub(crate) struct EnvironmentDiff {
    /// The branch, the dry commits and what is wrong; its `paths` were taken out.
    pub branch: PreviewedBranch,
    /// The Applications whose manifests would change, by path.
    pub applications: Vec<ApplicationDiff>,
    /// How many objects that are, as a push counts them.
    pub counted: ChangedObjects,
    /// What a new one is most like, and the differences.
    pub like: Option<LikeEnvironment>,
}

/// Another environment that a new one is much like.
#[derive(Debug)]
pub(crate) struct LikeEnvironment {
    /// Its branch.
    pub branch: BranchName,
    /// The word of its name, and that of the new one's in its place; both count as the same.
    pub words: Option<Words>,
    /// The Applications that differ, as if they had been changed, by path.
    pub applications: Vec<ApplicationDiff>,
    /// Its Applications that the new one lacks.
    pub others: Vec<AppName>,
}

/// What would become of the manifests of one destination path.
#[derive(Debug)]
pub(crate) struct ApplicationDiff {
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
    /// Where the Application wrote to before, if that was elsewhere: a path, and its branch if that is another one.
    pub moved_from: Option<String>,
    /// The Application that wrote to the path before, if that was another one.
    pub renamed_from: Option<AppName>,
    /// What Argo CD does about an Application that goes, or has another name.
    pub effect: Option<String>,
    /// The objects that differ, by namespace, name and kind. None when only the way they are written does.
    pub objects: Vec<ObjectDiff>,
    /// How many of its objects go while others that are much the same come under other names.
    pub renamed: usize,
    /// How many of these no danger says it of.
    pub renamed_untold: usize,
    /// Where objects of it go, and what Argo CD does about it.
    pub handed_over: Option<String>,
    /// Why the objects cannot be compared: what is on the branch is not a list of objects.
    pub unreadable: Option<String>,
    /// The Application as an object of the cluster, and what goes with it, where it goes.
    pub goes: Option<(ObjectName, Danger)>,
    /// The Application as one of the objects, where that changes: the last of those of its name.
    pub itself: Option<ObjectName>,
}

impl Changes {
    /// Compares the manifests of a preview.
    pub(crate) fn new(preview: Preview, reveal_secrets: bool) -> Self {
        let mut preview = preview;
        let counted: Vec<ChangedObjects> = preview.environments.iter().map(counted).collect();
        let from_elsewhere = moved_between(&mut preview.environments);
        let environments = std::mem::take(&mut preview.environments).into_iter().zip(counted);
        let refusals = std::mem::take(&mut preview.refusals);
        let mut environments: Vec<EnvironmentDiff> =
            environments.map(|both| EnvironmentDiff::new(both, &from_elsewhere, &refusals, reveal_secrets)).collect();
        environments.sort_by_cached_key(|environment| is_production(environment.branch.branch.as_str()));
        let Preview { problems, mut warnings, inputs, merge_base, .. } = preview;
        said_once::refusals(&mut environments, &mut warnings, &refusals);
        said_once::applications(&mut environments);
        Self { environments, problems, warnings, inputs, merge_base }
    }

    /// Whether no environment would change and nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.environments.iter().all(EnvironmentDiff::is_same) && self.problems.is_empty()
    }

    /// Everything that is wrong or odd, as often as it was found.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let branches = self.environments.iter().map(|environment| &environment.branch);
        let mistakes = branches.flat_map(|branch| branch.mistakes.iter().chain(&branch.failures));
        mistakes.chain(&self.problems).chain(&self.warnings)
    }
}

impl EnvironmentDiff {
    /// Whether it hydrates.
    pub(crate) fn renders(&self) -> bool {
        self.branch.mistakes.is_empty()
    }

    /// Whether it hydrates, and with all of its Applications that are not paused.
    pub(crate) fn is_whole(&self) -> bool {
        self.renders() && self.branch.failures.is_empty() && self.branch.behind.iter().all(|behind| behind.paused)
    }

    /// Whether nothing keeps it from hydrating but inputs that the server fetches.
    pub(crate) fn waits(&self) -> bool {
        let is_awaited = |one: &Diagnostic| one.refusal == Some(Refusal::Awaited);
        let mut all = self.branch.mistakes.iter().chain(&self.branch.failures).peekable();
        all.peek().is_some() && all.all(is_awaited)
    }

    /// Whether it hydrates as a whole and nothing of it would change.
    pub(crate) fn is_same(&self) -> bool {
        self.applications.is_empty() && self.is_whole() && self.branch.not_compared.is_empty()
    }

    /// Whether it cannot be compared at all.
    pub(crate) fn is_unknown(&self) -> bool {
        self.branch.not_compared.iter().any(|one| one.path.is_none())
    }

    /// The Application that an object comes from, when that is another one.
    pub(crate) fn source(&self, object: &ObjectDiff) -> Option<&str> {
        self.applications.get(object.moved_from?).map(ApplicationDiff::title)
    }

    /// The objects that differ, of all Applications.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &ObjectDiff> {
        self.applications.iter().flat_map(|application| &application.objects)
    }
}

impl ApplicationDiff {
    /// What it is called: its name, else its path.
    pub(crate) fn title(&self) -> &str {
        self.name.as_ref().map_or(self.path.as_str(), AppName::as_str)
    }

    /// What may do harm, with whose it is: of its objects, and of itself where it goes.
    pub(crate) fn dangers(&self) -> impl Iterator<Item = (&Danger, &ObjectName)> {
        let own = self.goes.iter().map(|(object, danger)| (danger, object));
        own.chain(self.objects.iter().flat_map(|object| object.dangers.iter().map(|danger| (danger, &object.object))))
    }

    /// Whether its set deletes it, with its objects, before they are made anew as they are.
    pub(crate) fn is_remade(&self) -> bool {
        self.goes.is_some() && self.change == Change::Changed && self.objects.is_empty()
    }

    /// Whether it has its name and place of before, or had none.
    fn is_in_place(&self) -> bool {
        self.renamed_from.is_none() && self.moved_from.is_none()
    }

    /// What becomes of it, as a word behind its name; empty when its objects change and nothing else.
    pub(crate) fn what(&self) -> String {
        let renamed = self.renamed_from.as_ref().map(|name| format!("was {name}"));
        let moved = self.moved_from.as_ref().map(|from| format!("moved from {from}"));
        match self.change {
            Change::Added => "new".to_owned(),
            Change::Removed => "removed".to_owned(),
            Change::Changed => renamed.into_iter().chain(moved).collect::<Vec<_>>().join(", "),
        }
    }

    /// What Argo CD does, and what else has to be known, before its objects.
    pub(crate) fn notes(&self) -> Vec<String> {
        if let Some(why) = &self.unreadable {
            return vec![format!("what is on the branch cannot be compared: {why}")];
        }
        let remade = self.is_remade().then(|| "what it deploys goes with it, and comes again".to_owned());
        let notes: Vec<String> = self.effect.iter().chain(&self.handed_over).cloned().chain(remade).collect();
        let is_empty = self.objects.is_empty() && notes.is_empty();
        let is_same = is_empty && self.change == Change::Changed && self.moved_from.is_none();
        if is_same { vec!["the same objects, written differently".to_owned()] } else { notes }
    }

    /// What makes it and the rule that hydrates it, where that may be why it comes, goes or moves.
    pub(crate) fn origin(&self) -> Option<String> {
        let comes_or_goes = self.change != Change::Changed || self.moved_from.is_some();
        let maker = self.made_by.as_ref().map(|maker| format!("made by {maker}"));
        let rule = self.rule.map(|rule| format!("by rule {rule}"));
        let parts: Vec<String> = maker.into_iter().chain(rule).filter(|_| comes_or_goes).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The objects of a branch that would differ.
fn counted(environment: &PreviewedBranch) -> ChangedObjects {
    let mut tally = Tally::default();
    for path in &environment.paths {
        let [old, new] = [&path.old, &path.new].map(|text| text.as_deref().unwrap_or_default());
        tally.add_within(&path.path, path.namespace.as_deref(), old, new);
    }
    tally.finish()
}

/// Has each Application that moves to another branch start there with its objects on the old branch; says where each
/// comes from.
fn moved_between(environments: &mut [PreviewedBranch]) -> BTreeMap<(BranchName, RepoPath), String> {
    let mut moves = Vec::new();
    for (number, environment) in environments.iter().enumerate() {
        for (index, path) in environment.paths.iter().enumerate().filter(|(_, path)| path.new.is_none()) {
            if let Some(End::Moves(branch, to)) = path.former.as_ref().map(|former| &former.end)
                && *branch != environment.branch
            {
                let from = format!("{} on {}", path.path, environment.branch);
                moves.push(((number, index), (branch.clone(), to.clone()), from));
            }
        }
    }
    let mut moved = BTreeMap::new();
    for ((number, index), place, from) in moves {
        let arrives = |environment: &&mut PreviewedBranch| environment.branch == place.0;
        let arriving = environments.iter().position(|environment| environment.branch == place.0);
        let is_new = |path: &&PreviewedPath| path.path == place.1 && path.old.is_none();
        let is_there = arriving.and_then(|at| environments.get(at)?.paths.iter().find(is_new)).is_some();
        let leaving = environments.get_mut(number).and_then(|environment| environment.paths.get_mut(index));
        let Some(old) = leaving.filter(|_| is_there).and_then(|path| path.old.take()) else { continue };
        let there = environments.iter_mut().find(arrives).into_iter().flat_map(|one| &mut one.paths);
        if let Some(path) = there.into_iter().find(|path| path.path == place.1) {
            path.old = Some(old);
            moved.insert(place, from);
        }
    }
    moved
}

/// The paths of a branch, each with the earlier path of its Application: a path that goes and a path that comes are one move when
/// they belong to one Application.
fn paired(paths: Vec<PreviewedPath>, branch: &BranchName) -> Vec<(PreviewedPath, Option<String>)> {
    let (mut gone, mut rest): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.new.is_none());
    let mut paired = Vec::new();
    for mut path in rest.drain(..) {
        let moves_here = |gone: &PreviewedPath| match gone.former.as_ref().map(|former| &former.end) {
            Some(End::Moves(to_branch, to)) => to_branch == branch && *to == path.path,
            _ => false,
        };
        let moved = path.old.is_none().then(|| gone.iter().position(moves_here)).flatten();
        let moved_from = moved.map(|index| gone.remove(index)).map(|gone| {
            path.old = gone.old;
            gone.path.to_string()
        });
        paired.push((path, moved_from));
    }
    paired.extend(gone.into_iter().map(|path| (path, None)));
    paired.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
    paired
}

impl EnvironmentDiff {
    /// Compares one branch; `from_elsewhere` is where paths come from that are on other branches now.
    fn new(
        (mut branch, counted): (PreviewedBranch, ChangedObjects),
        from_elsewhere: &BTreeMap<(BranchName, RepoPath), String>,
        refusals: &[preview::Refusal],
        reveal_secrets: bool,
    ) -> Self {
        let dry_commits = branch.dry_sha_before.clone().map(|before| (before, branch.dry_sha.clone()));
        let options = Options { dry_commits, reveal_secrets, ..Options::default() };
        let mut paths = paired(std::mem::take(&mut branch.paths), &branch.branch);
        for (path, moved_from) in &mut paths {
            let from = from_elsewhere.get(&(branch.branch.clone(), path.path.clone()));
            *moved_from = moved_from.take().or_else(|| from.cloned());
        }
        let like = branch.like.take().map(|like| LikeEnvironment::new(like, &paths, &options));
        let refused = said_once::refused(branch.branch.as_str(), refusals);
        let known = Known { options: &options, beside: &branch.beside, refused: &refused };
        Self { applications: applications(paths, &known), counted, like, branch }
    }
}

impl LikeEnvironment {
    /// Compares a new environment with what it is like.
    fn new(like: LikeBranch, paths: &[(PreviewedPath, Option<String>)], options: &Options) -> Self {
        let LikeBranch { branch, words, mut manifests, others } = like;
        let mut differing = Vec::new();
        let known = Known { options, beside: &Beside::default(), refused: &BTreeMap::new() };
        for (path, _) in paths {
            let old = manifests.remove(&path.path);
            if old.is_none() || old != path.new {
                let changed = PreviewedPath { old, former: None, ..path.clone() };
                differing.extend(applications(vec![(changed, None)], &known));
            }
        }
        differing.retain(|one| one.change != Change::Changed || one.objects.iter().any(|object| !object.is_noise()));
        Self { branch, words, applications: differing, others }
    }
}

/// What is known of all Applications of an environment.
struct Known<'k> {
    options: &'k Options,
    beside: &'k Beside,
    /// The objects that an API server refuses, by their paths.
    refused: &'k BTreeMap<RepoPath, BTreeSet<ObjectName>>,
}

fn applications(paths: Vec<(PreviewedPath, Option<String>)>, known: &Known<'_>) -> Vec<ApplicationDiff> {
    let (sides, unreadable): (Vec<Sides>, Vec<Option<String>>) =
        in_shares(&paths, |(path, _)| sides(path, known)).into_iter().unzip();
    let objects = compare_all(&sides, known.beside);
    let rest = paths.into_iter().zip(objects).zip(unreadable.into_iter().zip(&sides));
    let mut applications = Vec::with_capacity(sides.len());
    for (((path, moved_from), objects), (unreadable, sides)) in rest {
        let [renamed, renamed_untold] = diff::renamed(&objects);
        applications.push(ApplicationDiff {
            change: match (&path.old, &path.new) {
                (None, None) if path.remade.is_some() || path.deployed.is_some() => Change::Changed,
                (_, None) => Change::Removed,
                (None, _) => Change::Added,
                _ => Change::Changed,
            },
            effect: effect::of(&path, &objects, sides.old.len() - usize::from(path.deployed.is_some())),
            goes: goes(&path, &objects).or_else(|| remade(&path, sides)),
            itself: itself(&path, &objects, sides),
            renamed_from: path.former.filter(|_| path.new.is_some()).map(|former| former.name),
            path: path.path,
            name: path.application,
            made_by: path.made_by,
            rule: path.rule,
            moved_from,
            renamed,
            renamed_untold,
            objects,
            unreadable,
            handed_over: None,
        });
    }
    let pruning: Vec<Pruning> = sides.iter().map(|sides| sides.options.pruning).collect();
    for (number, text) in handed_over(&applications, &pruning) {
        if let Some(application) = applications.get_mut(number) {
            application.handed_over = Some(text);
        }
    }
    applications
}

/// What goes with an Application that goes: none for one that stays, moves, or whose maker keeps it.
fn goes(path: &PreviewedPath, objects: &[ObjectDiff]) -> Option<(ObjectName, Danger)> {
    let name = path.application.as_ref().filter(|_| is_going(path))?;
    let removed = objects.iter().filter(|object| object.change == Change::Removed && !object.outlives).count();
    Some((application_object(name), diff::application_removed(removed, path.pruning)?))
}

/// What goes with an Application that its set deletes before it is made anew.
fn remade(path: &PreviewedPath, sides: &Sides) -> Option<(ObjectName, Danger)> {
    let (name, set) = (path.application.as_ref()?, path.remade.as_ref()?);
    let rendered = sides.old.len() - usize::from(sides.options.has_application);
    let objects = path.old.as_ref().map(|_| sides.old.iter().take(rendered));
    Some((application_object(name), diff::application_remade(set, objects)?))
}

fn application_object(name: &AppName) -> ObjectName {
    ObjectName {
        api_version: "argoproj.io/v1alpha1".to_owned(),
        kind: "Application".to_owned(),
        namespace: String::new(),
        name: name.to_string(),
    }
}

/// The Application as one of the objects that differ, or as one that goes.
fn itself(path: &PreviewedPath, objects: &[ObjectDiff], sides: &Sides) -> Option<ObjectName> {
    let changed = sides.new.last().filter(|_| sides.options.has_application).map(ObjectName::of);
    let changed = changed.filter(|name| objects.iter().any(|object| object.object == *name));
    changed.or_else(|| {
        path.application.as_ref().filter(|_| path.new.is_none() && path.old.is_some()).map(application_object)
    })
}

/// Whether an Application goes with its path.
fn is_going(path: &PreviewedPath) -> bool {
    let end = path.former.as_ref().map(|former| &former.end);
    path.new.is_none() && !matches!(end, Some(End::Stays | End::Moves(..) | End::KeptBySet(_)))
}

/// The objects of a path; none, and why, where they cannot be read.
fn sides(path: &PreviewedPath, known: &Known<'_>) -> (Sides, Option<String>) {
    let deployed = path.deployed.as_ref().map(|deployed| deployed.each_ref().map(|object| &**object));
    let stays_in_cluster = deployed.is_none_or(|[old, new]| diff::is_same_cluster(old, new));
    let destination = |object: &Value| {
        let namespace = object.at(&["spec", "destination", "namespace"]).and_then(Value::as_str);
        namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned)
    };
    let read = |text: &Option<Vec<u8>>| -> Result<Vec<Manifest>, String> {
        let Some(text) = text else { return Ok(Vec::new()) };
        manifest::read(text, Source::Output("the environment branch")).map_err(|error| error.diagnostic.message)
    };
    let mut options = Options {
        pruning: if stays_in_cluster { path.pruning } else { Pruning::Left },
        namespace: path.namespace.clone(),
        namespace_before: deployed.filter(|_| stays_in_cluster).and_then(|[old, _]| destination(old)),
        handed_over: path.former.is_some(),
        goes: is_going(path),
        syncs: path.syncs.clone(),
        refused: known.refused.get(&path.path).cloned().unwrap_or_default(),
        ..known.options.clone()
    };
    match read(&path.old).and_then(|old| Ok((old, read(&path.new)?))) {
        Ok((mut old, mut new)) => {
            // The Application is an object of the cluster too.
            if let Some([Ok(before), Ok(after)]) = deployed.map(|both| both.map(|one| Manifest::new(one.clone()))) {
                old.push(before);
                new.push(after);
                options.has_application = true;
            }
            (Sides { old, new, options }, None)
        }
        Err(why) => (Sides { old: Vec::new(), new: Vec::new(), options }, Some(why)),
    }
}

/// Where the objects of an Application go, and what Argo CD does about it, by the number of the Application.
///
/// Reference: argo-cd 3.4 docs/user-guide/resource_tracking.md: an object is that Application's which applied it last.
fn handed_over(applications: &[ApplicationDiff], pruning: &[Pruning]) -> BTreeMap<usize, String> {
    let mut to: BTreeMap<usize, (BTreeSet<&str>, bool)> = BTreeMap::new();
    for application in applications {
        for object in &application.objects {
            let Some(from) = object.moved_from else { continue };
            let (names, are_recreated) = to.entry(from).or_insert((BTreeSet::new(), true));
            names.insert(application.title());
            *are_recreated &= object.is_recreated;
        }
    }
    let mut texts = BTreeMap::new();
    for (from, (to, are_recreated)) in to {
        let to = to.into_iter().collect::<Vec<_>>().join(", ");
        let title = applications.get(from).map_or("", ApplicationDiff::title);
        let text = match pruning.get(from) {
            _ if are_recreated => format!("objects come in another namespace with {to}"),
            Some(Pruning::Cascade) => format!(
                "objects move to {to}: Argo CD deletes what {to} has not applied by the time that {title} is deleted"
            ),
            Some(Pruning::Automatic) => {
                format!("objects move to {to}: what {title} prunes before {to} applies it is deleted and created again")
            }
            _ => format!("objects move to {to}: {to} takes them over with its next sync"),
        };
        texts.insert(from, text);
    }
    texts
}

/// The kinds of noise in a difference, each with how often it is there.
fn noise_in<'a>(differences: impl Iterator<Item = &'a diff::Difference>) -> Vec<(diff::Noise, usize)> {
    let mut found = Vec::new();
    for difference in differences {
        difference.visit(&mut |_, place| found.extend(place.noise()));
    }
    let kinds: BTreeSet<_> = found.iter().copied().collect();
    kinds.into_iter().map(|kind| (kind, found.iter().filter(|noise| **noise == kind).count())).collect()
}

/// `chart labels (4), checksums (1)`.
fn noise_text(noise: &[(diff::Noise, usize)]) -> String {
    noise.iter().map(|(kind, count)| format!("{kind} ({count})")).collect::<Vec<_>>().join(", ")
}
