//! Charts that Argo CD renders, under another release.

use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::word;

/// The first chart whose release has another name. What is rendered here shows its objects, and has no such source.
///
/// Reference: argo-cd 3.4 docs/user-guide/helm.md, "Helm Release Name": the name of the Application where it sets none.
pub(super) fn renamed(old: &Value, new: &Value) -> Option<Danger> {
    let (from, to) = sources(old).into_iter().zip(sources(new)).find_map(|(before, after)| {
        let is_one = |path: &[&str]| word(before, path) == word(after, path);
        let is_same_chart = is_one(&["repoURL"]) && is_one(&["chart"]) && is_one(&["path"]);
        let [from, to] = [release(old, before), release(new, after)];
        // The release of what makes no chart says nothing, and neither does a template by its text.
        let is_known = |name: &str| !name.is_empty() && !name.contains("{{");
        (is_same_chart && from != to && is_known(from) && is_known(to)).then_some((from, to))
    })?;
    let text =
        format!("release {from} → {to}: objects that are named after the release come anew, and those of before go");
    Some(Danger::said(Severity::Outage, "releaseRenamed", text, "keep the name: `helm.releaseName` sets it"))
}

fn sources(application: &Value) -> Vec<&Value> {
    let one = application.at(&["spec", "source"]);
    one.into_iter().chain(items(application, &["spec", "sources"])).collect()
}

/// The release of a source, if it sets one or is a chart.
fn release<'a>(application: &'a Value, source: &'a Value) -> &'a str {
    match word(source, &["helm", "releaseName"]) {
        "" if source.at(&["helm"]).is_some() || source.at(&["chart"]).is_some() => {
            word(application, &["metadata", "name"])
        }
        name => name,
    }
}
