//! What is said of random values that anybody can compute.

use std::collections::BTreeMap;

use super::place::Place;
use crate::argo::{Application, BranchName, Drawn, DrawnPaths};
use crate::settings::Settings;
use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

/// How many objects a warning names.
const NAMED_MAX: usize = 20;

/// The command to run, where the settings are those of a server, or those that a job is given.
fn remedy(place: &Place) -> &'static str {
    match place.believes_records() {
        true => "on the server: git hydrate config set seeds new",
        false => {
            "in a work tree of the branch with the job's settings, or in their directory: git hydrate config set seeds new \
             --settings . and commit what that writes"
        }
    }
}

/// That an Application may not have random values.
pub(crate) fn refused(application: &Application, place: &Place) -> Diagnostic {
    let text = format!(
        "`{}` has random values for the first time, and anybody could compute them: there is no seed",
        application.name
    );
    Diagnostic::error(text).at(application.places.dry_path.clone()).hint(remedy(place))
}

/// That the random values of an Application were secret, and would not be any more.
pub(crate) fn seed_is_missing(application: &Application, place: &Place) -> Diagnostic {
    let text = format!(
        "`{}` drew its random values from a seed when its branch was hydrated last, and these settings have no seed: anybody \
         could compute the new values",
        application.name
    );
    let hint = match place.believes_records() {
        true => remedy(place),
        false => {
            "bring the seed along: on the server, git hydrate config export --with-seed DIR, and give DIR to the job as its settings"
        }
    };
    Diagnostic::error(text).at(application.places.dry_path.clone()).hint(hint)
}

/// Warns of the objects whose random values anybody can compute; none where there are none.
pub(crate) fn warning(
    all: &BTreeMap<BranchName, DrawnPaths>,
    settings: &Settings,
    place: &Place,
) -> Option<Diagnostic> {
    let mut named = Vec::new();
    for (branch, drawn) in all {
        for drawn in drawn.values().filter(|drawn| settings.seeds.is_public(&drawn.identity)) {
            named.extend(objects(drawn).into_iter().map(|object| format!("{object} ({branch})")));
        }
    }
    if named.is_empty() {
        return None;
    }
    let why = if settings.seeds.is_set() { "they do not draw from the seed" } else { "there is no seed" };
    let (what, named) = (if named.len() == 1 { "1 object" } else { "objects" }, listed(&named, NAMED_MAX));
    let text = format!("anybody can compute the random values of {what}, since {why}: {named}");
    Some(Diagnostic::warning(text).hint(remedy(place)))
}

/// What shows the random values of an Application.
pub(crate) fn objects(drawn: &Drawn) -> Vec<String> {
    match drawn.objects.is_empty() {
        true => vec![format!("something of `{}`", drawn.identity.application())],
        false => drawn.objects.clone(),
    }
}
