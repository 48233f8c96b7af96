//! What changes alike: fields in several objects, objects of an Application, environments.

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::{Value, json};

use super::dangers::plural;
use super::overview::image_text;
use super::{ApplicationDiff, Changes, Mark, Row, rows};
use crate::diff::{Change, FieldPath, Leaf, ObjectDiff, Place, Step};

/// From how many objects on a change of a field is shown once for all.
const OBJECTS_MIN: usize = 3;

/// How many objects that change alike are named; the rest is counted.
const NAMED_MAX: usize = 30;

/// How long a value may be to be shown with others.
const VALUE_MAX: usize = 60;

/// A field, or an image, that changes in the same way in several objects.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct CommonChange {
    /// `for: 10m → 15m`
    pub what: String,
    /// How many objects.
    pub objects: usize,
    /// How many environments they are in.
    pub environments: usize,
}

impl CommonChange {
    /// Those of at least three objects, the most frequent first.
    pub(crate) fn all(changes: &Changes) -> Vec<Self> {
        let mut found: BTreeMap<String, (usize, BTreeSet<usize>)> = BTreeMap::new();
        for (number, environment) in changes.environments.iter().enumerate() {
            for object in environment.objects().filter(|object| object.change == Change::Changed) {
                for what in changed_fields(object) {
                    let (objects, environments) = found.entry(what).or_default();
                    *objects += 1;
                    environments.insert(number);
                }
            }
        }
        let common = found.into_iter().filter(|(_, (objects, _))| *objects >= OBJECTS_MIN);
        let mut common: Vec<Self> = common
            .map(|(what, (objects, environments))| Self { what, objects, environments: environments.len() })
            .collect();
        common.sort_by(|a, b| b.objects.cmp(&a.objects).then_with(|| a.what.cmp(&b.what)));
        common
    }

    /// `25 objects in 3 environments`
    pub(crate) fn where_text(&self) -> String {
        let environments = if self.environments == 1 { "environment" } else { "environments" };
        format!("{} objects in {} {environments}", self.objects, self.environments)
    }
}

/// The changes of an object that others may have too, each once.
fn changed_fields(object: &ObjectDiff) -> BTreeSet<String> {
    let mut fields: BTreeSet<String> =
        object.images.iter().map(|image| format!("image: {}", image_text(image))).collect();
    object.difference.visit(&mut |path, place| fields.extend(changed_field(path, place)));
    fields
}

/// `for: 10m → 15m`; `None` for an image, which is counted by itself, and where the value is not shown.
fn changed_field(path: &FieldPath, place: Place<'_>) -> Option<String> {
    match (path.steps().last()?, place) {
        (Step::Key(field), Place::Leaf(leaf)) if field != "image" => Some(format!("{field}: {}", change_of(leaf)?)),
        _ => None,
    }
}

/// `10m → 15m`; none for what is hidden, long, noise or no scalar.
fn change_of(leaf: &Leaf) -> Option<String> {
    if leaf.noise.is_some() || leaf.old == leaf.new {
        return None;
    }
    let [old, new] = [leaf.old.as_ref().map(short), leaf.new.as_ref().map(short)];
    match (old, new) {
        (Some(old), Some(new)) => Some(format!("{} → {}", old?, new?)),
        (None, Some(new)) => Some(format!("added {}", new?)),
        (Some(old), None) => Some(format!("removed {}", old?)),
        (None, None) => None,
    }
}

/// A short scalar in a line.
fn short(value: &Value) -> Option<String> {
    let text = match value {
        Value::Mapping(_) | Value::Sequence(_) => return None,
        Value::String(text) if !text.is_empty() => text.clone(),
        value => json::encode(value, json::Options::default()),
    };
    (text.chars().count() <= VALUE_MAX && !text.contains('\n')).then_some(text)
}

/// Objects of an Application that change in the same way.
pub(super) struct Entry<'a> {
    /// The objects: at least one.
    pub objects: Vec<&'a ObjectDiff>,
    /// What changes in each of them.
    pub rows: Vec<Row>,
    /// Whether they are of several Applications, which are named beside them.
    pub is_of_many: bool,
}

impl<'a> Entry<'a> {
    /// The objects that are shown, in their order; those that change alike together.
    pub(super) fn all(application: &'a ApplicationDiff, with_noise: bool) -> Vec<Self> {
        let mut entries: Vec<Self> = Vec::new();
        let mut known: BTreeMap<(bool, Vec<Row>), usize> = BTreeMap::new();
        let is_shown = |object: &&ObjectDiff| with_noise || object.restarts || !object.is_noise();
        let shown = application.objects.iter().filter(is_shown).filter(|object| !object.is_unchanged());
        for object in shown {
            let rows = rows(object, with_noise);
            let may_join = object.change == Change::Changed && object.old_name.is_none() && object.moved_from.is_none();
            if !may_join || rows.is_empty() {
                entries.push(Self { objects: vec![object], rows, is_of_many: false });
                continue;
            }
            let key = (object.restarts, rows.clone());
            match known.get(&key).and_then(|index| entries.get_mut(*index)) {
                Some(entry) => entry.objects.push(object),
                None => {
                    known.insert(key, entries.len());
                    entries.push(Self { objects: vec![object], rows, is_of_many: false });
                }
            }
        }
        joined(entries)
    }

    /// What it has in common with entries of other objects, whichever items of lists they change; none for one that is shown
    /// apart.
    fn common(&self) -> Option<(&'a str, bool, Vec<Row>)> {
        let first = self.objects.first()?;
        let joins = |object: &&ObjectDiff| {
            let is_in_place = object.old_name.is_none() && object.moved_from.is_none();
            object.change == Change::Changed && is_in_place && object.object.kind == first.object.kind
        };
        let has_item = self.rows.iter().any(|row| row.mark == Mark::Place && row.text.contains('['));
        let rows = || self.rows.iter().map(without_items).collect();
        (has_item && self.objects.iter().all(joins)).then(|| (first.object.kind.as_str(), first.restarts, rows()))
    }

    /// What becomes of the Pods.
    pub(super) fn restarts_text(&self) -> &'static str {
        if self.objects.len() == 1 { "restarts its Pods" } else { "restart their Pods" }
    }

    /// `Deployment shop/web`; `3 Deployments shop/api, shop/jobs, shop/web`; `2 objects: Service shop/web, Ingress shop/web`.
    pub(super) fn names(&self) -> String {
        match &self.objects[..] {
            [object] => object.object.to_string(),
            objects if self.is_of_many => counted(objects),
            objects => {
                let kind = objects.first().map_or("", |object| object.object.kind.as_str());
                let is_of_one = objects.iter().all(|object| object.object.kind == kind);
                let named = objects.iter().take(NAMED_MAX).map(|object| &object.object);
                let mut names: Vec<String> =
                    named.map(|name| if is_of_one { name.place() } else { name.to_string() }).collect();
                let kinds = if is_of_one { plural(kind) } else { "objects:".to_owned() };
                let more = objects.len().saturating_sub(NAMED_MAX);
                names.extend((more > 0).then(|| format!("and {more} more")));
                format!("{} {kinds} {}", objects.len(), names.join(", "))
            }
        }
    }
}

/// `1200 Deployments`; `1200 Deployments, 1200 Services`.
fn counted(objects: &[&ObjectDiff]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects {
        *kinds.entry(&object.object.kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| format!("{count} {}", plural(kind))).collect::<Vec<_>>().join(", ")
}

/// From how many Applications on those that change alike are shown once.
const APPLICATIONS_MIN: usize = 3;

/// Applications of an environment, each with one object for each entry, that change in the same way.
pub(super) struct Alike<'a> {
    /// The Applications: at least one.
    pub applications: Vec<&'a ApplicationDiff>,
    /// What changes in them; the objects of all of them together.
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Alike<'a> {
    /// All that change, in the order of the first of each.
    pub(super) fn all(applications: &'a [ApplicationDiff], with_noise: bool) -> Vec<Self> {
        let entries: Vec<Vec<Entry<'a>>> = applications.iter().map(|one| Entry::all(one, with_noise)).collect();
        let keys: Vec<Option<AlikeKey<'a>>> =
            applications.iter().zip(&entries).map(|(one, entries)| key(one, entries)).collect();
        let mut counts: BTreeMap<AlikeKey<'a>, usize> = BTreeMap::new();
        for key in keys.iter().flatten() {
            *counts.entry(key.clone()).or_default() += 1;
        }
        let mut all: Vec<Self> = Vec::new();
        let mut known: BTreeMap<_, usize> = BTreeMap::new();
        for ((application, entries), key) in applications.iter().zip(entries).zip(keys) {
            let many = key.filter(|key| counts.get(key).is_some_and(|count| *count >= APPLICATIONS_MIN));
            let index = many.as_ref().and_then(|key| known.get(key)).copied();
            match index.and_then(|index| all.get_mut(index)) {
                Some(first) => {
                    first.applications.push(application);
                    let of_all = many.into_iter().flatten();
                    for ((entry, more), (.., rows)) in first.entries.iter_mut().zip(entries).zip(of_all) {
                        if entry.rows != more.rows {
                            entry.rows = rows;
                        }
                        entry.objects.extend(more.objects);
                        entry.is_of_many = true;
                    }
                }
                None => {
                    known.extend(many.map(|key| (key, all.len())));
                    all.push(Self { applications: vec![application], entries });
                }
            }
        }
        all
    }

    /// `web`; `api, shop, web`
    pub(super) fn titles(&self) -> String {
        let names: Vec<&str> = self.applications.iter().take(NAMED_MAX).map(|one| one.title()).collect();
        match self.applications.len().saturating_sub(NAMED_MAX) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }
}

/// What an Application has in common with others that change alike; none where more is said of it than what changes in an object
/// for each entry.
fn key<'a>(application: &ApplicationDiff, entries: &[Entry<'a>]) -> Option<AlikeKey<'a>> {
    let is_plain = application.change == Change::Changed && application.is_in_place();
    if !is_plain || entries.is_empty() || !application.notes().is_empty() {
        return None;
    }
    let mut key = Vec::new();
    for entry in entries {
        let is_plain = |object: &&ObjectDiff| {
            object.change == Change::Changed && object.old_name.is_none() && object.moved_from.is_none()
        };
        if !entry.objects.iter().all(is_plain) {
            return None;
        }
        let kinds = entry.objects.iter().map(|object| object.object.kind.as_str()).collect();
        let restarts = entry.objects.iter().any(|object| object.restarts);
        key.push((kinds, restarts, entry.rows.iter().map(|row| without_names(row, application)).collect()));
    }
    Some(key)
}

/// A line with `…` in place of the Application's name, and of the names of items.
fn without_names(row: &Row, application: &ApplicationDiff) -> Row {
    let row = without_items(row);
    let name = application.title();
    if name.len() < NAME_MIN || !row.text.contains(name) {
        return row;
    }
    let mut text = String::new();
    let mut rest = row.text.as_str();
    while let Some((before, after)) = rest.split_once(name) {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_part = is_word(before.chars().next_back()) || is_word(after.chars().next());
        text += before;
        text += if is_part { name } else { "…" };
        rest = after;
    }
    text += rest;
    Row { text, ..row }
}

/// How short a name may be to be left out of a line: a shorter one may be anything.
const NAME_MIN: usize = 3;

/// What an Application has in common with others: for each entry the kinds of its objects, whether they restart, what changes.
type AlikeKey<'a> = Vec<(Vec<&'a str>, bool, Vec<Row>)>;

/// Joins the entries that change the same field of other items of lists in at least three objects of a kind.
fn joined(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    let commons: Vec<_> = entries.iter().map(Entry::common).collect();
    for (common, entry) in commons.iter().zip(&entries) {
        *counts.entry(common.clone()).or_default() += entry.objects.len();
    }
    let mut joined: Vec<Entry<'_>> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for (common, entry) in commons.into_iter().zip(entries) {
        let many = common.filter(|common| counts.get(&Some(common.clone())).is_some_and(|count| *count >= OBJECTS_MIN));
        let Some(common) = many else {
            joined.push(entry);
            continue;
        };
        match known.get(&common).and_then(|index| joined.get_mut(*index)) {
            Some(first) => {
                if first.rows != entry.rows {
                    first.rows.clone_from(&common.2);
                }
                first.objects.extend(entry.objects);
            }
            None => {
                known.insert(common, joined.len());
                joined.push(entry);
            }
        }
    }
    joined
}

/// A line with `[…]` for each item of a list in a path.
fn without_items(row: &Row) -> Row {
    if row.mark != Mark::Place {
        return row.clone();
    }
    let mut parts = row.text.split('[');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "[…]";
        text += part.split_once(']').map_or("", |(_, rest)| rest);
    }
    Row { text, ..row.clone() }
}
