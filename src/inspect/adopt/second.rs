//! Further patterns: where Applications go for which the pattern before has no value, as an app of apps without the label has none.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;
use dry_files::view::View;

use super::super::apps::object;
use super::super::check::{Tree, judged_by};
use super::{Asked, Draft};
use crate::argo::{Application, By, Rule};
use crate::owners::error::HydrateError;
use crate::render::Renderers;
use crate::settings::Value;

/// Proposes a rule before the others for the Applications that each further pattern is for, by their names; answers whether it did.
///
/// Errors: the world failed, or settings that cannot be used.
pub(super) fn propose(
    draft: &mut Draft,
    asked: &Asked,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<bool, HydrateError> {
    let [first, others @ ..] = &asked.rules[..] else { return Ok(false) };
    if others.is_empty() || !draft.is_proposed("rules") {
        return Ok(false);
    }
    let judged = judged_by(draft.policy_of_all()?, tree, renderers)?;
    let view = View::new(tree.files);
    // Those that the first pattern leads somewhere, and those of each further one, with their files.
    let mut led: BTreeSet<String> = BTreeSet::new();
    let mut files_of_led: BTreeSet<RepoPath> = BTreeSet::new();
    let mut named: Vec<BTreeSet<Named>> = vec![BTreeSet::new(); others.len()];
    let plain = judged.discovered.applications.iter().filter(|application| application.rule.is_some());
    for application in plain {
        let Some(object) = object(application, &view) else { continue };
        let object = object.into_object();
        let leads = |rule: &Rule| rule.branch_of(&object, &application.file).is_some();
        let (name, file) = (application.name.to_string(), application.file.clone());
        if leads(first) {
            led.insert(name);
            files_of_led.insert(file);
        } else if let Some(number) = others.iter().position(leads) {
            named[number].insert(Named { name, file, is_of_set: is_of_set(application) });
        }
    }
    let mut rules = Vec::new();
    for (rule, named) in others.iter().zip(named) {
        // A rule for the file of a set is known to be for the set as well, which one for names may be or not.
        let (of_files, named): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|named| named.is_of_set && !files_of_led.contains(&named.file));
        let files: BTreeSet<RepoPath> = of_files.into_iter().map(|named| named.file).collect();
        rules.extend(files.iter().map(|file| rule.of([], Some(file))));
        let named = named.into_iter().filter(|named| !files.contains(&named.file));
        // A name that another one has, too, is meant in its file alone.
        let (shared, own): (Vec<_>, Vec<_>) = named.partition(|named| led.contains(&named.name));
        rules.extend(shared.into_iter().map(|named| rule.of([named.name], Some(&named.file))));
        let own: BTreeSet<String> = own.into_iter().map(|named| named.name).collect();
        rules.extend((!own.is_empty()).then(|| rule.of(own, None)));
    }
    if rules.is_empty() {
        return Ok(false);
    }
    rules.push(first.clone());
    draft.set("rules", Value::of(&rules)?, "where plain Applications go".to_owned())?;
    Ok(true)
}

/// An Application that is led by a further pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    name: String,
    file: RepoPath,
    is_of_set: bool,
}

pub(super) fn is_of_set(application: &Application) -> bool {
    application.maker.as_ref().is_some_and(|maker| matches!(maker.by, By::ApplicationSet { .. }))
}
