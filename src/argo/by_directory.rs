//! Branches that promotion strategies promote by directory (`activePath`), as Applications name them: `<active>-next/<directory>`.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, shell_word};

use super::{Application, BranchName};

/// The directory of `active` that is promoted from a staging branch alone, by its name.
pub(crate) fn directory_promoted_from<'s>(staging: &'s BranchName, active: &BranchName) -> Option<&'s str> {
    staging.as_str().strip_prefix(active.as_str())?.strip_prefix("-next/")
}

/// The directories of active branches that Applications stage on branches of their own, by active branch.
fn promoted_by_directory<'a>(
    applications: impl Iterator<Item = &'a Application>,
) -> BTreeMap<BranchName, BTreeSet<String>> {
    let mut found: BTreeMap<BranchName, BTreeSet<String>> = BTreeMap::new();
    for application in applications {
        let active = &application.sync_branch;
        if let Some(directory) = directory_promoted_from(application.environment_branch(), active) {
            found.entry(active.clone()).or_default().insert(directory.to_owned());
        }
    }
    found
}

/// Warnings of branches that Applications have promoted by directory, and that the setting `activePaths` does not name.
pub(crate) fn unnamed_active_paths<'a>(
    applications: impl Iterator<Item = &'a Application>,
    is_named: impl Fn(&BranchName) -> bool,
) -> Vec<Diagnostic> {
    let promoted = promoted_by_directory(applications);
    promoted
        .iter()
        .filter(|(active, _)| !is_named(active))
        .map(|(active, paths)| lacks_active_paths(active, paths))
        .collect()
}

/// That the setting `activePaths` does not name a branch that is promoted by directory.
fn lacks_active_paths(active: &BranchName, directories: &BTreeSet<String>) -> Diagnostic {
    let paths = directories.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let first = directories.iter().next().map(String::as_str).unwrap_or_default();
    let text = format!(
        "`{active}` is promoted by directory, and the setting `activePaths` does not say so: the metadata in {first} lacks \
         author, date and subject, and promotions of two directories conflict at the root"
    );
    let (key, value) = (shell_word(&format!("activePaths.{active}")), shell_word(&format!("[{paths}]")));
    Diagnostic::warning(text).hint(format!("on the server: git hydrate config set {key} {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_all_directories() {
        let active = BranchName::new("environments/dev").expect("a name");
        let directories = ["web", "api"].map(str::to_owned).into();
        let hint = lacks_active_paths(&active, &directories).hint.expect("a hint");
        assert_eq!(hint, "on the server: git hydrate config set activePaths.environments/dev '[api, web]'");
    }
}
