//! Changes for programs. What a field means is described in `git hydrate diff --help`.

use serde::Serialize;
use serde_json::Value as Json;

use super::{ApplicationDiff, Changes, CommonChange, EnvironmentDiff, LikeEnvironment, Overview};
use crate::diff::{self, Change, ObjectDiff, Place};
use crate::hydrate::{BehindPath, Frozen, HeldAlone};
use crate::manifest::ChangedObjects;
use crate::preview::{InputChange, MergeBase, NotCompared};
use dry_files::diag::Diagnostic;
use go_yaml::Value;

/// Raised when a field changes its meaning or goes; not when one comes.
const FORMAT: u32 = 1;

/// The changes as a value that is ready to be written as JSON.
pub(crate) fn json(changes: &Changes) -> impl Serialize {
    Document {
        format: FORMAT,
        merge_base: changes.merge_base.as_ref(),
        common_changes: CommonChange::all(changes),
        environments: changes.environments.iter().map(environment).collect(),
        problems: &changes.problems,
        warnings: &changes.warnings,
        inputs: &changes.inputs,
    }
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    #[serde(rename = "mergeBase", skip_serializing_if = "Option::is_none")]
    merge_base: Option<&'a MergeBase>,
    #[serde(rename = "commonChanges")]
    common_changes: Vec<CommonChange>,
    environments: Vec<Environment<'a>>,
    problems: &'a [Diagnostic],
    warnings: &'a [Diagnostic],
    inputs: &'a [InputChange],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Environment<'a> {
    branch: &'a str,
    sync_branch: &'a str,
    dry_branch: &'a str,
    dry_sha: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_sha_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
    application_count: usize,
    summary: Summary,
    objects: &'a ChangedObjects,
    #[serde(skip_serializing_if = "Option::is_none")]
    frozen: Option<&'a Frozen>,
    dangers: Vec<DangerGroup<'a>>,
    mistakes: &'a [Diagnostic],
    #[serde(skip_serializing_if = "is_empty")]
    behind: &'a [BehindPath],
    #[serde(skip_serializing_if = "is_empty")]
    held: &'a [HeldAlone],
    #[serde(skip_serializing_if = "is_empty")]
    failures: &'a [Diagnostic],
    #[serde(skip_serializing_if = "is_empty")]
    not_compared: &'a [NotCompared],
    applications: Vec<Application<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<Like<'a>>,
}

#[derive(Serialize)]
struct Like<'a> {
    branch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<[&'a str; 2]>,
    applications: Vec<Application<'a>>,
    lacks: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    added: usize,
    changed: usize,
    removed: usize,
    moved: usize,
    renamed: usize,
    noise: usize,
    restarts: usize,
    images: Vec<String>,
    dangers: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Application<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<usize>,
    path: &'a str,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_over: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    danger: Option<Danger>,
    objects: Vec<Object<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Object<'a> {
    api_version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    change: &'static str,
    noise: bool,
    restarts: bool,
    images: Vec<Image<'a>>,
    dangers: Vec<Danger>,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Image<'a> {
    container: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a str>,
}

#[derive(Serialize)]
struct Danger {
    severity: &'static str,
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruning: Option<&'static str>,
    advice: &'static str,
}

/// The dangers that are equal, and whose they are.
#[derive(Serialize)]
struct DangerGroup<'a> {
    #[serde(flatten)]
    danger: Danger,
    objects: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<String>,
}

fn is_empty<T>(list: &&[T]) -> bool {
    list.is_empty()
}

fn environment(environment: &EnvironmentDiff) -> Environment<'_> {
    let branch = &environment.branch;
    let overview = Overview::of(environment);
    Environment {
        branch: branch.branch.as_str(),
        sync_branch: branch.sync_branch.as_str(),
        dry_branch: &branch.dry_branch,
        dry_sha: &branch.dry_sha,
        dry_sha_before: branch.dry_sha_before.as_deref(),
        against: branch.against.map(|id| id.to_string()),
        application_count: branch.applications,
        dangers: overview.dangers.iter().map(danger_group).collect(),
        summary: Summary {
            added: overview.added,
            changed: overview.changed,
            removed: overview.removed,
            moved: overview.moved,
            renamed: overview.renamed,
            noise: overview.noise,
            restarts: overview.restarts,
            dangers: overview.danger_count(),
            images: overview.images.into_iter().map(|(image, _)| image).collect(),
        },
        objects: &environment.counted,
        mistakes: &branch.mistakes,
        frozen: branch.frozen.as_ref(),
        behind: &branch.behind,
        held: &branch.held,
        failures: &branch.failures,
        not_compared: &branch.not_compared,
        applications: environment.applications.iter().map(|one| application(one, environment)).collect(),
        like: environment.like.as_ref().map(|one| like(one, environment)),
    }
}

fn like<'a>(like: &'a LikeEnvironment, environment: &'a EnvironmentDiff) -> Like<'a> {
    Like {
        branch: like.branch.as_str(),
        word: like.words.as_ref().map(|words| [words.from.as_str(), words.to.as_str()]),
        applications: like.applications.iter().map(|one| application(one, environment)).collect(),
        lacks: like.others.iter().map(|name| name.as_str()).collect(),
    }
}

fn application<'a>(application: &'a ApplicationDiff, environment: &'a EnvironmentDiff) -> Application<'a> {
    Application {
        name: application.name.as_ref().map(|name| name.as_str()),
        made_by: application.made_by.as_deref(),
        rule: application.rule,
        path: application.path.as_str(),
        change: change(application.change),
        moved_from: application.moved_from.as_deref(),
        renamed_from: application.renamed_from.as_ref().map(|name| name.as_str()),
        effect: application.effect.as_deref(),
        unreadable: application.unreadable.as_deref(),
        handed_over: application.handed_over.as_deref(),
        danger: application.goes.as_ref().map(|(_, one)| danger(one)),
        objects: application.objects.iter().map(|one| object(one, environment)).collect(),
    }
}

fn object<'a>(object: &'a ObjectDiff, environment: &'a EnvironmentDiff) -> Object<'a> {
    let mut differences = Vec::new();
    object.difference.visit(&mut |path, place| differences.push(difference(path.to_string(), place)));
    let images = object.images.iter();
    Object {
        api_version: &object.object.api_version,
        kind: &object.object.kind,
        namespace: &object.object.namespace,
        name: &object.object.name,
        old_name: object.old_name.as_deref(),
        moved_from: environment.source(object),
        change: change(object.change),
        noise: object.is_noise(),
        restarts: object.restarts,
        images: images
            .map(|image| Image { container: &image.container, old: image.old.as_deref(), new: image.new.as_deref() })
            .collect(),
        dangers: object.dangers.iter().map(danger).collect(),
        differences,
    }
}

fn danger(danger: &diff::Danger) -> Danger {
    Danger {
        severity: danger.severity.as_str(),
        kind: danger.kind(),
        message: danger.to_string(),
        pruning: danger.pruning.map(diff::Pruning::as_str),
        advice: danger.advice(),
    }
}

fn danger_group<'a>(group: &super::DangerGroup<'a>) -> DangerGroup<'a> {
    let named =
        |object: &&'a diff::ObjectName| Named { kind: &object.kind, namespace: &object.namespace, name: &object.name };
    DangerGroup { danger: danger(group.danger), objects: group.objects.iter().map(named).collect() }
}

fn difference(path: String, place: Place<'_>) -> Difference {
    match place {
        Place::Leaf(leaf) => Difference {
            path,
            old: leaf.old.as_ref().map(to_json),
            new: leaf.new.as_ref().map(to_json),
            moved_from: None,
            moved_to: None,
            noise: leaf.noise.map(|noise| noise.to_string()),
        },
        Place::Moved(from, to) => {
            Difference { path, old: None, new: None, moved_from: Some(from), moved_to: Some(to), noise: None }
        }
    }
}

fn change(change: Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed => "changed",
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Uint(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::String(value) => Json::from(value.as_str()),
        Value::Sequence(items) => items.iter().map(to_json).collect(),
        Value::Mapping(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect())
        }
    }
}
