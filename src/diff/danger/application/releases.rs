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
        // Without a chart, the release says nothing.
        let is_chart = [before, after].iter().any(|one| one.at(&["helm"]).is_some() || one.at(&["chart"]).is_some());
        let [from, to] = [release(old, before), release(new, after)];
        (is_chart && is_same_chart && from != to && !from.is_empty() && !to.is_empty()).then_some((from, to))
    })?;
    let text =
        format!("release {from} → {to}: objects that are named after the release come anew, and those of before go");
    Some(Danger::said(Severity::Outage, "releaseRenamed", text, "keep the name: `helm.releaseName` sets it"))
}

/// A chart that gets any version of a range from now on.
///
/// Reference: argo-cd docs/user-guide/tracking_strategies, "Helm": `*`, `1.*`, `>=1.0.0 <2.0.0` are the newest version that fits.
pub(super) fn floating(old: &Value, new: &Value) -> Option<Danger> {
    let charts = |application: &'_ Value| -> Vec<(String, String)> {
        let all = sources(application).into_iter().filter(|source| !word(source, &["chart"]).is_empty());
        all.map(|source| ["chart", "targetRevision"].map(|key| word(source, &[key]).to_owned()).into()).collect()
    };
    let was = charts(old);
    let is_new = |(chart, range): &&(String, String)| {
        let floated = |(of, before): &(String, String)| of == chart && is_range(before);
        is_range(range) && !was.iter().any(floated)
    };
    let (chart, range) = charts(new).into_iter().find(|one| is_new(&one))?;
    let text =
        format!("chart {chart} has the version `{range}`: which one is deployed is decided whenever Argo CD looks");
    Some(Danger::said(Severity::Other, "floatingChart", text, "name one version of the chart"))
}

/// A source that was a version and is a branch from now on.
///
/// Reference: argo-cd docs/user-guide/best_practices, "Ensuring Manifests At Git Revisions Are Truly Immutable".
pub(super) fn unpinned(old: &Value, new: &Value) -> Option<Danger> {
    let of = |source: &Value, key: &str| word(source, &[key]).to_owned();
    let is_branch = |text: &str| matches!(text, "" | "HEAD" | "main" | "master" | "trunk" | "develop");
    let is_version = |text: &str| {
        let plain = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        let is_commit = text.len() == 40 && text.chars().all(|c| c.is_ascii_hexdigit());
        is_commit
            || plain.contains('.')
                && plain.split('.').take(2).all(|part| part.chars().next().is_some_and(|c| c.is_ascii_digit()))
    };
    let (before, after) = (sources(old), sources(new));
    let is_it = |(was, now): &(&&Value, &&Value)| {
        let is_same = of(was, "repoURL") == of(now, "repoURL") && of(now, "chart").is_empty();
        is_same && is_version(&of(was, "targetRevision")) && is_branch(&of(now, "targetRevision"))
    };
    let (was, now) = before.iter().zip(&after).find(is_it)?;
    let to = of(now, "targetRevision");
    let text = format!(
        "`targetRevision` {} → {}: whatever is pushed there is deployed",
        of(was, "targetRevision"),
        if to.is_empty() { "HEAD" } else { &to }
    );
    Some(Danger::said(Severity::Other, "floatingChart", text, "keep a tag or a commit"))
}

/// Whether a version of a chart is one of several.
pub(in crate::diff::danger) fn is_range(version: &str) -> bool {
    let is_sign = |c: char| matches!(c, '*' | '^' | '~' | '<' | '>' | '|' | ',' | ' ');
    let plain = version.trim().split(['-', '+']).next().unwrap_or_default();
    !version.contains("{{")
        && (version.trim().contains(is_sign) || plain.split('.').any(|part| matches!(part, "x" | "X")))
}

fn sources(application: &Value) -> Vec<&Value> {
    let one = application.at(&["spec", "source"]);
    one.into_iter().chain(items(application, &["spec", "sources"])).collect()
}

/// The release of a chart.
fn release<'a>(application: &'a Value, source: &'a Value) -> &'a str {
    match word(source, &["helm", "releaseName"]) {
        "" => word(application, &["metadata", "name"]),
        name => name,
    }
}
