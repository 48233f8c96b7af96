//! When the Applications of a project may be synced.

use go_std::glob::Glob;
use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::{Application, word};
use crate::manifest::Manifest;

/// Windows of an AppProject by which its Applications are synced at fewer times.
///
/// Reference: argo-cd 3.4 docs/user-guide/sync_windows.md: without allow windows, syncs are allowed at all times; an active deny window
/// goes before them.
pub(super) fn narrowed(old: &Manifest, new: &Manifest, around: &Around<'_>) -> Vec<Danger> {
    if (new.home_group(), new.kind()) != ("argoproj.io", "AppProject") {
        return Vec::new();
    }
    let windows = |project: &'_ Manifest| items(project.object(), &["spec", "syncWindows"]).to_vec();
    let (was, now) = (windows(old), windows(new));
    let all = around.model.after.of_project(new.name());
    let is_for_some = |window: &&Value| all.is_empty() || all.iter().any(|one| is_for(window, one));
    let allows = |all: &[Value]| all.iter().any(|window| word(window, &["kind"]) == "allow");
    let is_known = |window: &&Value| was.iter().any(|one| when(one) == when(window));
    let comes = now.iter().filter(|window| !is_known(window)).filter(is_for_some);
    let danger = |window: &Value| {
        let place = format!("`{}` on for {}", word(window, &["schedule"]), word(window, &["duration"]));
        let by_hand = match window.get("manualSync").and_then(Value::as_bool) {
            Some(true) => ", but by hand",
            _ => "",
        };
        let text = match word(window, &["kind"]) {
            "deny" => format!("a window denies syncs from {place}{by_hand}"),
            "allow" if !allows(&was) => format!("nothing is synced outside of the window from {place}{by_hand}"),
            _ => return None,
        };
        let advice = "check that what is pushed then may wait";
        Some(Danger::said(Severity::Other, "syncWindow", text, advice))
    };
    comes.filter_map(danger).collect()
}

/// What a window is for, and when: all of it but who may sync by hand.
fn when(window: &Value) -> Option<Value> {
    let mut fields = window.as_mapping()?.clone();
    fields.remove("manualSync");
    fields.remove("description");
    Some(Value::Mapping(fields))
}

fn is_for(window: &Value, one: &Application) -> bool {
    let has = |list: &str, texts: &[&str]| {
        let patterns = items(window, &[list]).iter().filter_map(Value::as_str);
        let mut globs = patterns.filter_map(|pattern| Glob::without_separator(pattern).ok());
        globs.any(|glob| texts.iter().any(|text| !text.is_empty() && glob.matches(text)))
    };
    has("applications", &[&one.name])
        || has("namespaces", &[&one.to_namespace])
        || has("clusters", &[&one.server, &one.cluster])
}
