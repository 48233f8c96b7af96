//! Sets of Applications whose Applications are not rendered here: what changes of all that they make.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Around, Danger, Severity, What, deployed, items};
use crate::diff::model::word;

/// How many Applications are named.
const NAMED_MAX: usize = 4;

/// How deep generators are in others: Argo CD takes two.
const DEPTH_MAX: usize = 4;

/// What the template says of each Application, and for which clusters there are some.
pub(super) fn changed(old: &Value, new: &Value, around: &Around<'_>) -> Vec<Danger> {
    let template = |set: &'_ Value| as_written(set.at(&["spec", "template"]).cloned().unwrap_or_default());
    let templates = [template(old), template(new)];
    let mut dangers = deployed((&templates[0], &templates[1]), around);
    dangers.retain_mut(|danger| may_be(&mut danger.what));
    let renamed = renamed((old, new), &templates);
    // What is named otherwise is another Application.
    dangers.retain(|danger| renamed.is_none() || danger.kind() != "releaseRenamed");
    dangers.extend(renamed.or_else(|| no_longer_made(old, new)));
    let preserves = |set: &Value| {
        set.at(&["spec", "syncPolicy", "preserveResourcesOnDeletion"]).and_then(Value::as_bool) == Some(true)
    };
    if preserves(old) && !preserves(new) {
        let text =
            "`preserveResourcesOnDeletion` removed: what its Applications deploy goes with them from now on".to_owned();
        let advice = "keep it while what is deployed shall outlive its Applications";
        dangers.push(Danger::said(Severity::Other, "deletesData", text, advice));
    }
    let [before, after] = [selectors(old), selectors(new)];
    if !before.is_empty() && !after.is_empty() && before != after {
        let comes = "each cluster that has them gets an Application";
        let text = match (is_narrower(&before, &after), is_narrower(&after, &before), keeps(new)) {
            (true, _, true) => None,
            (true, _, false) => {
                Some("chooses fewer clusters: the Applications of the others go with all that they deploy".to_owned())
            }
            (_, true, _) => Some("chooses more clusters: each of them gets an Application".to_owned()),
            (false, false, true) => Some(format!("chooses its clusters by other labels: {comes}")),
            (false, false, false) => {
                let go = "those of others go with all that they deploy";
                Some(format!("chooses its clusters by other labels: {comes}, and {go}"))
            }
        };
        let advice = "check which clusters have them: `argocd cluster list -o yaml`";
        dangers.extend(text.map(|text| Danger::said(Severity::Other, "clustersChosen", text, advice)));
    }
    dangers
}

/// A template with what is between braces written in one way: `{{ .name }}` is `{{name}}`.
fn as_written(template: Value) -> Value {
    match template {
        Value::String(text) => Value::String(placeholders(&text)),
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(as_written).collect()),
        Value::Mapping(fields) => {
            Value::Mapping(fields.into_iter().map(|(key, value)| (key, as_written(value))).collect())
        }
        scalar => scalar,
    }
}

fn placeholders(text: &str) -> String {
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, (inside, after))) =
        rest.split_once("{{").and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
    {
        let inside = inside.trim_matches('-').trim();
        written.extend([before, "{{", inside.strip_prefix('.').unwrap_or(inside), "}}"]);
        rest = after;
    }
    written + rest
}

/// What a generator by clusters gives for the name and the URL of one.
const OF_CLUSTER: [&str; 2] = ["{{name}}", "{{server}}"];

/// Whether a danger of a template may be one of what is made of it. What a template says of the cluster is another one for each.
fn may_be(what: &mut What) -> bool {
    let What::ClusterChanged { from, to, may_be_same } = what else { return true };
    *may_be_same |= from.contains("{{") || to.contains("{{");
    ![from, to].iter().all(|cluster| OF_CLUSTER.contains(&cluster.as_str()))
}

/// A template that names its Applications otherwise: the set deletes those that it made before.
///
/// Reference: argo-cd 3.4 docs/operator-manual/applicationset/Application-Deletion.md; applicationset_controller.go
/// `deleteInCluster`: Applications of the set that are not among those that it makes.
fn renamed((old, new): (&Value, &Value), templates: &[Value; 2]) -> Option<Danger> {
    let [from, to] = [&templates[0], &templates[1]].map(|template| word(template, &["metadata", "name"]));
    let is_hydrated = [old, new].iter().any(|set| set.at(&["spec", "template", "spec", "sourceHydrator"]).is_some());
    // Of lists it is known which Applications go.
    let is_known = made_of_lists(old).is_some() && made_of_lists(new).is_some();
    if from == to || from.is_empty() || to.is_empty() || is_hydrated || is_known || keeps(new) {
        return None;
    }
    let text = format!("names its Applications {to} in place of {from}: those of before go, with all that they deploy");
    let advice = "to keep what is deployed, set `preserveResourcesOnDeletion: true` in a commit before this one";
    Some(Danger::said(Severity::Outage, "applicationsRenamed", text, advice))
}

/// Whether the only selector of one side has all conditions of the only one of the other side, and more.
fn is_narrower(wide: &[Option<&Value>], narrow: &[Option<&Value>]) -> bool {
    let ([wide], [narrow]) = (wide, narrow) else { return false };
    let labels = |selector: &Option<&'_ Value>| -> Vec<(String, Value)> {
        let labels = selector.and_then(|one| one.get("matchLabels")).and_then(Value::as_mapping);
        labels.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let expressions = |selector: &Option<&'_ Value>| -> Vec<Value> {
        selector.map(|one| items(one, &["matchExpressions"]).to_vec()).unwrap_or_default()
    };
    let (some_labels, all_labels) = (labels(wide), labels(narrow));
    let (some, all) = (expressions(wide), expressions(narrow));
    some_labels.iter().all(|one| all_labels.contains(one)) && some.iter().all(|one| all.contains(one))
}

/// Applications that a set made of elements of lists, and makes of none now.
///
/// Reference: argo-cd 3.4 docs/operator-manual/applicationset/Application-Deletion.md.
fn no_longer_made(old: &Value, new: &Value) -> Option<Danger> {
    let (before, after) = (made_of_lists(old)?, made_of_lists(new)?);
    let gone: Vec<&String> = before.difference(&after).filter(|_| !keeps(new)).collect();
    let them = match gone.len() {
        0 => return None,
        1 => "the set deletes it",
        _ => "the set deletes them",
    };
    let text = format!("no longer makes {}: {them}, with all that is deployed", listed(gone, NAMED_MAX));
    let advice = "to keep what is deployed, set `preserveResourcesOnDeletion: true` in a commit before this one";
    Some(Danger::said(Severity::Outage, "noLongerMade", text, advice))
}

/// The names of the Applications that a set makes; none where other generators than lists make some, or where the names are not known.
fn made_of_lists(set: &Value) -> Option<BTreeSet<String>> {
    let template = word(set, &["spec", "template", "metadata", "name"]);
    let is_hydrated = set.at(&["spec", "template", "spec", "sourceHydrator"]).is_some();
    let mut names = BTreeSet::new();
    for generator in items(set, &["spec", "generators"]).iter().filter(|_| !is_hydrated) {
        generator.at(&["list", "elements"])?;
        for element in items(generator, &["list", "elements"]) {
            names.insert(filled(template, element)?);
        }
    }
    Some(names)
}

/// A template with the values of an element for `{{key}}` and `{{.key}}`; none where it asks for more than that.
fn filled(template: &str, element: &Value) -> Option<String> {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, behind) = after.split_once("}}")?;
        text.push_str(before);
        text.push_str(element.get(key.trim().trim_start_matches('.'))?.as_str()?);
        rest = behind;
    }
    Some(text + rest)
}

/// Whether what it no longer makes stays, or what that deployed.
fn keeps(set: &Value) -> bool {
    let policy = |key| set.at(&["spec", "syncPolicy", key]);
    let is_kept =
        ["create-update", "create-only"].map(Some).contains(&policy("applicationsSync").and_then(Value::as_str));
    is_kept || policy("preserveResourcesOnDeletion").and_then(Value::as_bool) == Some(true)
}

/// The selectors of its generators by clusters.
fn selectors(set: &Value) -> Vec<Option<&Value>> {
    let mut found = Vec::new();
    collect(items(set, &["spec", "generators"]), DEPTH_MAX, &mut found);
    found
}

fn collect<'a>(generators: &'a [Value], depth: usize, found: &mut Vec<Option<&'a Value>>) {
    for generator in generators {
        if let Some(clusters) = generator.at(&["clusters"]) {
            found.push(clusters.at(&["selector"]));
        }
        for nested in ["matrix", "merge"].iter().filter(|_| depth > 0) {
            collect(items(generator, &[nested, "generators"]), depth - 1, found);
        }
    }
}
