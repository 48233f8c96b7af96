//! Who pushes, who may promote, and how an admin lets an account do so: what is set already is left out, and whom to name is for
//! the admin to say.

use dry_files::diag::{printable, shell_word};

use crate::argo::{BranchName, Patterns};

/// How many accounts are named.
const SHOWN_MAX: usize = 3;

/// Who pushes, and who may.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    /// Who pushes, as far as the server knows.
    pub pusher: Option<String>,
    /// The variable that names who pushes: the one that is set up, or the platform's own.
    pub variable: Option<String>,
    /// Whether it is set up.
    pub is_variable_set: bool,
    /// Who may add commits to hydrated branches.
    pub promoters: Vec<String>,
    /// The hydrated branches that promoters may add commits to.
    pub promoted: Patterns,
    /// Who may push the settings.
    pub settings_pushers: Vec<String>,
}

impl Access {
    pub(super) fn is_one_of(&self, names: &[String]) -> bool {
        self.pusher.as_ref().is_some_and(|pusher| !pusher.is_empty() && names.contains(pusher))
    }

    /// Whether the pusher may push settings.
    pub(crate) fn may_set(&self) -> bool {
        self.is_one_of(&self.settings_pushers)
    }

    /// Whether all pushes to hydrated branches are refused.
    pub(crate) fn is_closed(&self, branch: &BranchName) -> bool {
        self.promoters.is_empty() || !self.promoted.matches(branch.as_str())
    }
}

/// The commands that let an account add commits to `branches`, each begun by `git`: the variable with the names of pushers, the
/// account, and the branches. All that are missing are named, since one alone has no effect.
pub(crate) fn naming_promoter(access: &Access, branches: &[&BranchName], git: &str) -> String {
    let mut commands: Vec<String> = naming_variable(access, git).into_iter().collect();
    if access.promoters.is_empty() {
        commands.push(format!("{git} config --add hydrate.promoter NAME"));
    }
    commands.extend(naming_branches(access, branches, git));
    commands.join(" && ")
}

/// The commands that name branches as those to which promoters may add; none for one that is named.
pub(crate) fn naming_branches(access: &Access, branches: &[&BranchName], git: &str) -> Vec<String> {
    branches.iter().filter_map(|branch| naming_branch(access, branch, git)).collect()
}

/// What makes git show a branch to who pushes, once an account may push there.
pub(crate) const SHOWING: &str = "git hydrate install --server";

/// The command for the variable with the names of pushers; none where it is set.
pub(super) fn naming_variable(access: &Access, git: &str) -> Option<String> {
    let variable = shell_word(access.variable.as_deref().unwrap_or("VARIABLE"));
    (!access.is_variable_set).then(|| format!("{git} config hydrate.pusherVariable {variable}"))
}

/// The command for a branch; none where it is named. Without any branch, accounts could promote to all.
fn naming_branch(access: &Access, branch: &BranchName, git: &str) -> Option<String> {
    let is_named = !access.promoted.is_empty() && access.promoted.matches(branch.as_str());
    (!is_named).then(|| format!("{git} config --add hydrate.promoted {}", shell_word(branch.as_str())))
}

/// That the variable which names pushers is not set, so that this push has no name; none where it is set.
pub(super) fn nameless(access: &Access) -> Option<String> {
    let variable = access.variable.as_deref().filter(|_| access.is_variable_set && access.pusher.is_none())?;
    Some(format!("this push has no name: {} is not set for it", printable(variable)))
}

/// Who promotes to `branch`, and what an admin does for another account or for this one.
pub(super) fn who_promotes(access: &Access, branch: &BranchName) -> String {
    let on_server = "an admin runs on the server";
    if access.promoters.is_empty() {
        let commands = naming_promoter(access, &[branch], "git");
        return format!(
            "no account may promote yet; to name that of the promoter, {on_server}: {commands} && {SHOWING}"
        );
    }
    let names: Vec<String> = access.promoters.iter().take(SHOWN_MAX).map(|name| printable(name).to_string()).collect();
    let more = if access.promoters.len() > SHOWN_MAX { ", …" } else { "" };
    let names = names.join(", ") + more;
    match (naming_branch(access, branch, "git"), naming_variable(access, "git")) {
        (Some(command), _) if access.is_closed(branch) => {
            format!(
                "no account may promote to it ({names} may to other branches); to have them do so, {on_server}: {command} && {SHOWING}"
            )
        }
        (_, Some(command)) => format!("{names} may, once the server knows who pushes; {on_server}: {command}"),
        _ => match nameless(access) {
            Some(nameless) => format!("{names} may, but {nameless}"),
            None => {
                format!("{names} may; to name another account, {on_server}: git config --add hydrate.promoter NAME")
            }
        },
    }
}
