//! Variables of containers that use each other.

use go_yaml::Value;

use super::{Danger, Severity, before, items};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// Variables that use one which is defined after them, where it was before them.
///
/// Reference: kubernetes docs/tasks/inject-data-application/define-interdependent-environment-variables: only what is defined before
/// is expanded, else `$(NAME)` stays as it is.
pub(super) fn unexpanded(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(containers) {
        let was = before(Some(old), name).map(too_early).unwrap_or_default();
        for (user, used) in too_early(container).into_iter().filter(|one| !was.contains(one)) {
            let text = format!("`{user}` of `{name}` uses $({used}), which is defined after it: it is not expanded");
            found.push(Danger::said(Severity::Other, "unexpanded", text, "keep the variable before those that use it"));
        }
    }
    found
}

/// Each variable with one that it uses and that is defined later.
fn too_early(container: &Value) -> Vec<(&str, &str)> {
    let variables = items(container, &["env"]);
    let names: Vec<&str> = variables.iter().map(|variable| word(variable, &["name"])).collect();
    let mut found = Vec::new();
    for (index, variable) in variables.iter().enumerate() {
        for used in references(word(variable, &["value"])) {
            let is_before = names.iter().take(index).any(|name| *name == used);
            let is_after = names.iter().skip(index + 1).any(|name| *name == used);
            if is_after && !is_before {
                found.push((word(variable, &["name"]), used));
            }
        }
    }
    found
}

/// The names in `$(NAME)`; `$$(NAME)` is none.
fn references(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, after)) = rest.split_once("$(") {
        if let Some((name, _)) = after.split_once(')').filter(|_| !start.ends_with('$')) {
            found.push(name);
        }
        rest = after;
    }
    found
}
