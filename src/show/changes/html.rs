//! Changes as one page for a browser: navigation, search, one column or two, light or dark.
//!
//! The page is self-contained. All that it shows comes from files that anyone may have pushed, so the template
//! escapes every value, and a content security policy lets nothing run but our own script, by its digest. Without any
//! script all of it can be read; only search and the keys are missing then.

mod model;
mod runs;

use std::collections::HashMap;

use dry_files::diag::more::listed;
use dry_files::diag::printable;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment as Templates, UndefinedBehavior};
use sha2::{Digest as _, Sha256};

use super::alike::{Alike as Together, CommonChange, Entry};
use super::all_dangers::DangerOfAll;
use super::overview::{but_for, overall, state};
use super::repeats::{Before, Repeats};
use super::{ApplicationDiff, Changes, DangerGroup, EnvironmentDiff, LikeEnvironment, Overview, noise_text, rows};
use crate::argo::AppName;
use crate::diff::{self, Change, ObjectDiff, ObjectName};
use crate::show::causes::causes;
use crate::show::screened;
use crate::show::text::short;
use model::{Alike, Application, Danger, Environment, Image, Like, Member, Mistake, Object, Page, Tag};
use runs::runs;

const TEMPLATE: &str = include_str!("page/page.html.j2");
const APPLICATION: &str = include_str!("page/application.html.j2");
const DANGER: &str = include_str!("page/danger.html.j2");
const OBJECT: &str = include_str!("page/object.html.j2");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// From how many lines on a new object is shown closed.
const FOLDED_MIN: usize = 200;

/// How many Applications are named that another environment has and a new one lacks.
const OTHERS_MAX: usize = 12;

/// How many changes that several objects share are named at the top.
const COMMON_MAX: usize = 10;

/// The page.
pub(crate) fn html(changes: &Changes) -> String {
    let mut templates = Templates::empty();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.add_filter("length", minijinja::filters::length);
    templates.add_filter("safe", minijinja::filters::safe);
    let diagnostics = causes(changes.diagnostics());
    let diagnostics = diagnostics.iter();
    let page = Page {
        title: title(changes),
        merge_base: changes.merge_base.as_ref().map(|base| printable(&base.to_string())).unwrap_or_default(),
        style: STYLE,
        style_hash: hash(STYLE),
        script: SCRIPT,
        script_hash: hash(SCRIPT),
        diagnostics: diagnostics
            .map(|one| Mistake { severity: one.severity().to_string(), text: one.to_string() })
            .collect(),
        inputs: changes.inputs.iter().map(|input| printable(&input.to_string())).collect(),
        overall: overall(changes).unwrap_or_default(),
        common: common(changes),
        dangers: dangers(changes),
        environments: environments(&changes.environments),
        footer: format!("Made by git-hydrate {}.", env!("CARGO_PKG_VERSION")),
    };
    for (name, text) in [("application", APPLICATION), ("danger", DANGER), ("object", OBJECT)] {
        templates.add_template(name, text).expect("the template can be parsed");
    }
    screened(&templates.render_str(TEMPLATE, Serde(&page)).expect("the template fits its values"))
}

fn common(changes: &Changes) -> Vec<[String; 2]> {
    let all = CommonChange::all(changes);
    all.iter().take(COMMON_MAX).map(|change| [printable(&change.what), change.where_text()]).collect()
}

/// How a content security policy names an inline text.
fn hash(text: &str) -> String {
    format!("sha256-{}", data_encoding::BASE64.encode(&Sha256::digest(text)))
}

fn title(changes: &Changes) -> String {
    match changes.environments.first() {
        Some(first) => {
            format!("What {} at {} changes", printable(first.branch.dry_branch.as_str()), short(&first.branch.dry_sha))
        }
        None => "What changes".to_owned(),
    }
}

/// What a link leads to: the same for the same names, however many others there are on the page.
///
/// Letters, digits, `-`, `.` and `/` stay, anything else becomes its code, so two names never have the same.
fn anchor(parts: &[&str]) -> String {
    let mut anchor = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            anchor.push(':');
        }
        for c in part.chars() {
            match c {
                c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/') => anchor.push(c),
                c => anchor += &format!("_{:x}_", u32::from(c)),
            }
        }
    }
    anchor
}

/// All dangers, production's first; none where one environment changes, which has them at its top.
fn dangers(changes: &Changes) -> Vec<Danger> {
    if overall(changes).is_none() {
        return Vec::new();
    }
    let ids: HashMap<*const ObjectName, String> = changes
        .environments
        .iter()
        .flat_map(|environment| ids(&Together::all(&environment.applications, false), environment))
        .collect();
    let all = DangerOfAll::all(changes).into_iter();
    let all = all.map(|one| Danger { branches: printable(&one.branches.join(", ")), ..danger(&one.group, &ids) });
    advised_once(all.collect())
}

/// With what is to be done about several once, behind the last of them.
fn advised_once(mut dangers: Vec<Danger>) -> Vec<Danger> {
    let next: Vec<String> = dangers.iter().skip(1).map(|one| one.advice.clone()).collect();
    for (one, next) in dangers.iter_mut().zip(next) {
        if one.advice == next {
            one.advice.clear();
        }
    }
    dangers
}

/// Those that change as an earlier one are shown once.
fn environments(all: &[EnvironmentDiff]) -> Vec<Environment> {
    let mut repeats = Repeats::default();
    all.iter().map(|one| environment(one, repeats.environment_before(one, true))).collect()
}

fn environment(environment: &EnvironmentDiff, before: Option<Before<'_>>) -> Environment {
    let overview = Overview::of(environment);
    let branch = &environment.branch;
    let id = anchor(&["branch", branch.branch.as_str()]);
    let now = short(&branch.dry_sha);
    let groups = Together::all(&environment.applications, false);
    let applications = groups.iter().map(|group| of_group(group, environment)).collect();
    let ids = ids(&groups, environment);
    Environment {
        branch: printable(branch.branch.as_str()),
        state: match environment.applications.is_empty() {
            _ if !environment.is_whole() => "failed",
            true => "same",
            false => "changed",
        },
        summary: state(environment, &overview),
        restarts: overview.restarts_text(),
        alike: before.map(|before| alike(&before, &overview)),
        like: environment.like.as_ref().map(|one| like(one, environment)),
        dry_commits: branch.dry_sha_before.as_deref().map(|old| format!("{} → {now}", short(old))).unwrap_or_default(),
        dangers: advised_once(overview.dangers.iter().map(|group| danger(group, &ids)).collect()),
        danger_count: overview.danger_count(),
        worst: overview.dangers.first().map(|group| group.danger.severity.as_str()).unwrap_or_default(),
        images: overview.images.iter().map(|(what, count)| Image { what: printable(what), count: *count }).collect(),
        applications,
        id,
    }
}

fn alike(before: &Before<'_>, overview: &Overview<'_>) -> Alike {
    Alike {
        id: anchor(&["branch", before.branch]),
        branch: printable(before.branch),
        words: printable(&but_for(&before.words)),
        is_all: before.is_all,
        more: overview.dangers_text(),
    }
}

/// What differs in a new environment. Its own objects are further down, so these have no ids, and no dangers: nothing changes.
fn like(like: &LikeEnvironment, environment: &EnvironmentDiff) -> Like {
    Like {
        id: anchor(&["branch", like.branch.as_str()]),
        branch: printable(like.branch.as_str()),
        others: others(&like.others),
        applications: like.applications.iter().map(|one| differing(one, environment)).collect(),
    }
}

fn differing(one: &ApplicationDiff, environment: &EnvironmentDiff) -> Application {
    let id = anchor(&["like", environment.branch.branch.as_str(), one.path.as_str()]);
    let objects = one.objects.iter().filter(|one| !one.is_noise());
    let shown = |one: &ObjectDiff| Object { restarts: false, dangers: Vec::new(), ..object(one) };
    let objects = objects.map(shown).collect();
    Application { danger_count: 0, objects, noise: Vec::new(), ..application(id, one, environment) }
}

fn others(names: &[AppName]) -> String {
    listed(names.iter().map(|name| printable(name.as_str())), OTHERS_MAX)
}

/// Where the objects of an environment are on the page. Two may have one name, so an object is known by where its name is
/// kept. Those of Applications that change alike are where the first of them is.
fn ids(groups: &[Together<'_>], environment: &EnvironmentDiff) -> HashMap<*const ObjectName, String> {
    let mut ids = HashMap::new();
    for group in groups {
        for application in &group.applications {
            let of_application = application_id(environment, application);
            ids.extend(application.goes.iter().map(|(object, _)| (std::ptr::from_ref(object), of_application.clone())));
            let objects = application.objects.iter().zip(object_ids(&of_application, application));
            ids.extend(objects.map(|(object, id)| (std::ptr::from_ref(&object.object), id)));
        }
        for entry in group.entries.iter().filter(|_| group.applications.len() > 1) {
            let first = entry.objects.first().and_then(|first| ids.get(&std::ptr::from_ref(&first.object))).cloned();
            let objects = entry.objects.iter().map(|object| std::ptr::from_ref(&object.object));
            ids.extend(objects.zip(std::iter::repeat(first.unwrap_or_default())));
        }
    }
    ids
}

/// Applications that change alike are one.
fn of_group(group: &Together<'_>, environment: &EnvironmentDiff) -> Application {
    let Some(first) = group.applications.first() else { return Application::default() };
    let id = application_id(environment, first);
    if group.applications.len() == 1 {
        return application(id, first, environment);
    }
    let ids: HashMap<*const ObjectName, String> =
        first.objects.iter().map(|one| std::ptr::from_ref(&one.object)).zip(object_ids(&id, first)).collect();
    let noise = group.applications.iter().flat_map(|one| &one.objects).filter(|one| one.is_noise() && !one.restarts);
    let overview = Overview::new(group.applications.iter().copied());
    Application {
        title: printable(&group.titles()),
        danger_count: overview.danger_count(),
        noise_text: noise_summary(noise.clone().count(), &overview),
        objects: group.entries.iter().map(|entry| of_entry(entry, &ids)).collect(),
        noise: noise.map(object).collect(),
        id,
        ..Application::default()
    }
}

/// The objects of several Applications that change alike.
fn of_entry(entry: &Entry<'_>, ids: &HashMap<*const ObjectName, String>) -> Object {
    let Some(first) = entry.objects.first().copied() else { return Object::default() };
    let id = ids.get(&std::ptr::from_ref(&first.object)).filter(|_| !first.dangers.is_empty());
    Object {
        id: id.cloned().unwrap_or_default(),
        kind: String::new(),
        name: printable(&entry.names()),
        restarts: first.restarts,
        runs: runs(entry.rows.clone()),
        ..object(first)
    }
}

/// `2 objects differ only in generated fields: checksums (2)`
fn noise_summary(count: usize, overview: &Overview<'_>) -> String {
    let differ = if count == 1 { "1 object differs" } else { &format!("{count} objects differ") };
    format!("{differ} only in generated fields: {}", noise_text(&overview.noise_kinds))
}

fn application_id(environment: &EnvironmentDiff, application: &ApplicationDiff) -> String {
    anchor(&["branch", environment.branch.branch.as_str(), application.path.as_str()])
}

/// The ids of its objects. A name that several have is numbered.
fn object_ids(of_application: &str, application: &ApplicationDiff) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut ids = Vec::with_capacity(application.objects.len());
    for object in &application.objects {
        let ObjectName { api_version, kind, namespace, name } = &object.object;
        let id = format!("{of_application}:{}", anchor(&[api_version, kind, namespace, name]));
        let count = seen.entry(id.clone()).or_default();
        *count += 1;
        ids.push(if *count == 1 { id } else { format!("{id}:{count}") });
    }
    ids
}

fn danger(group: &DangerGroup<'_>, ids: &HashMap<*const ObjectName, String>) -> Danger {
    let id = |object: &ObjectName| ids.get(&std::ptr::from_ref(object)).cloned().unwrap_or_default();
    let members = group.objects.iter().filter(|_| group.objects.len() > 1);
    Danger {
        branches: String::new(),
        id: group.objects.first().map(|object| id(object)).unwrap_or_default(),
        severity: group.danger.severity.as_str(),
        label: group.danger.severity.to_string(),
        subject: printable(&format!("{}{}", group.subject(), group.each())),
        what: printable(&group.danger.to_string()),
        members: members.map(|object| Member { id: id(object), name: printable(&object.place()) }).collect(),
        advice: printable(&group.advice()),
    }
}

fn application(id: String, application: &ApplicationDiff, environment: &EnvironmentDiff) -> Application {
    let named = application.objects.iter().zip(object_ids(&id, application));
    let (noise, objects): (Vec<_>, Vec<_>) = named.partition(|(object, _)| object.is_noise() && !object.restarts);
    let shown = |(one, id)| object_with_id(one, id, environment);
    let overview = Overview::new([application]);
    Application {
        title: printable(application.title()),
        path: printable(application.path.as_str()),
        what: printable(&application.what()),
        origin: application.origin().as_deref().map(printable).unwrap_or_default(),
        notes: application.notes().iter().map(|note| printable(note)).collect(),
        danger_count: overview.danger_count(),
        noise_text: noise_summary(noise.len(), &overview),
        objects: objects.into_iter().map(shown).collect(),
        noise: noise.into_iter().map(shown).collect(),
        id,
    }
}

/// An object that a danger leads to by its id, if it has one.
fn object_with_id(of: &ObjectDiff, id: String, environment: &EnvironmentDiff) -> Object {
    let id = if of.dangers.is_empty() { String::new() } else { id };
    Object { id, source: environment.source(of).map(printable), ..object(of) }
}

fn object(object: &ObjectDiff) -> Object {
    let runs = runs(rows(object, object.is_noise()));
    let lines: usize = runs.iter().map(|run| run.rows.len()).sum();
    let name = object.object.to_string();
    let name = name.strip_prefix(&object.object.kind).unwrap_or(&name).trim_start();
    let (change, sign) = match object.change {
        Change::Added => ("added", "+"),
        Change::Removed => ("removed", "−"),
        Change::Changed => ("changed", "~"),
    };
    Object {
        id: String::new(),
        change,
        sign,
        kind: printable(&object.object.kind),
        name: printable(name),
        old_name: object.old_name.as_deref().map(printable),
        source: None,
        restarts: object.restarts,
        dangers: object.dangers.iter().map(tag).collect(),
        folded: object.change == Change::Removed || lines >= FOLDED_MIN,
        runs,
    }
}

fn tag(danger: &diff::Danger) -> Tag {
    Tag { severity: danger.severity.as_str(), what: printable(&danger.to_string()) }
}
