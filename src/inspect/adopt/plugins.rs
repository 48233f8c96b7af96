//! Plugins that do not run here, and the rule that leaves alone what they render.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, printable};

use super::units::plugin;
use super::{AdoptedApplication, Cause, Draft, Judged};
use crate::argo::Rule;
use crate::owners::error::HydrateError;
use crate::settings::{SettingsError, Value};

/// Proposes a rule before all others for the plugins by which nothing renders, where Applications of their branches would wait for
/// what they render: whether a plugin fails does not follow from the dry commit, so the setting `onFailure` lets nothing go on.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(
    draft: &mut Draft,
    applications: &mut [AdoptedApplication],
    judged: &Judged,
) -> Result<(), HydrateError> {
    let rules = draft.settings()?.rules;
    if rules.is_empty() {
        return Ok(());
    }
    // Rules are for plain Applications.
    let plain = judged.discovered.applications.iter().filter(|application| application.rule.is_some());
    let of_plugins: Vec<(&str, &str, Option<&str>)> = plain
        .filter_map(|one| Some((plugin(one)?, one.name.as_str(), one.namespace.as_ref().map(|name| name.as_str()))))
        .collect();
    let adopted = |name: &str, namespace: Option<&str>| {
        applications.iter().position(|one| one.name == name && one.namespace.as_deref() == namespace)
    };
    let found: Vec<(&str, usize)> =
        of_plugins.iter().filter_map(|(plugin, name, namespace)| Some((*plugin, adopted(name, *namespace)?))).collect();
    let works: BTreeSet<&str> =
        found.iter().filter(|(_, index)| applications[*index].hydrates).map(|(plugin, _)| *plugin).collect();
    let waits = |branch: Option<&str>| applications.iter().any(|one| one.hydrates && one.branch.as_deref() == branch);
    let fails: BTreeSet<&str> = found
        .iter()
        .filter(|(plugin, index)| {
            let one = &applications[*index];
            one.holds_branch && !works.contains(plugin) && waits(one.branch.as_deref())
        })
        .map(|(plugin, _)| *plugin)
        .collect();
    if fails.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = fails.iter().map(|name| (*name).to_owned()).collect();
    let wrong = |why: String| SettingsError::Wrong(format!("rules: {why}"));
    let rule = Rule::leaving_plugins(&names).map_err(wrong)?;
    let all: Vec<Rule> = [rule].into_iter().chain(rules).collect();
    let why = match draft.is_proposed("rules") {
        true => "where plain Applications go; those of plugins that no command is set for are left alone",
        false => "Applications of plugins that no command is set for are left alone: else others wait for them",
    };
    draft.set("rules", Value::of(&all)?, why.to_owned())?;
    for (plugin, index) in found.iter().filter(|(plugin, _)| fails.contains(plugin)) {
        let text =
            format!("the plugin `{}` does not run here, and the proposed rule leaves it alone", printable(plugin));
        let hint = format!(
            "to have it hydrated: set `hydrate-plugin.{}.command` here and on the server, and take the rule away",
            printable(plugin)
        );
        let one = &mut applications[*index];
        one.cause = Some(Cause::NoRule);
        one.holds_branch = false;
        let place = one.mistakes.first().and_then(|mistake| mistake.span.clone());
        let left = Diagnostic::warning(text).hint(hint);
        one.mistakes = vec![Diagnostic { span: place, ..left }];
    }
    Ok(())
}
