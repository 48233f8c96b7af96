//! Sets of Applications whose Applications are not rendered here: what changes of all that they make.

use go_yaml::Value;

use super::{Around, Danger, Severity, deployed, items};

/// How deep generators are in others: Argo CD takes two.
const DEPTH_MAX: usize = 4;

/// What the template says of each Application, and for which clusters there are some.
pub(super) fn changed(old: &Value, new: &Value, around: &Around<'_>) -> Vec<Danger> {
    let template = |set: &'_ Value| set.at(&["spec", "template"]).cloned().unwrap_or_default();
    let templates = [template(old), template(new)];
    let mut dangers = deployed((&templates[0], &templates[1]), around);
    // A template names no destination: what is between braces is another one for each.
    let is_template = |danger: &Danger| danger.to_string().contains("{{");
    dangers.retain(|danger| !is_template(danger));
    let [before, after] = [selectors(old), selectors(new)];
    if !before.is_empty() && !after.is_empty() && before != after {
        let text = match keeps(new) {
            true => "chooses its clusters by other labels: each cluster that has them gets an Application",
            false => {
                "chooses its clusters by other labels: each cluster that has them gets an Application, and those of others go with \
                 all that they deploy"
            }
        };
        let advice = "check which clusters have them: `argocd cluster list -o yaml`";
        dangers.push(Danger::said(Severity::Other, "clustersChosen", text.to_owned(), advice));
    }
    dangers
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
