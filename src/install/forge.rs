//! What is known of the forges that host repositories.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;

use crate::argo::{BranchName, without_credentials};
use crate::hydrate::{Access, naming_branches, naming_promoter};
use crate::repo::Repository;

pub(crate) use crate::owners::platform::{GITEA, has_platform};

/// The variable of Gitea and Forgejo that names who pushes.
///
/// Reference: Gitea 1.26 modules/repository/env.go `EnvPusherName`.
pub(crate) const GITEA_PUSHER: &str = "GITEA_PUSHER_NAME";

/// The key in git's configuration that names the user of Gitea or Forgejo in whose name it is told of what no push brought.
pub(crate) const FORGE_PUSHER: &str = "hydrate.forgePusher";

/// The id and the name in a value `ID:NAME` of [`FORGE_PUSHER`].
pub(crate) fn forge_pusher(value: &str) -> Option<(&str, &str)> {
    let (id, name) = value.split_once(':')?;
    // Gitea knows no user 0.
    let is_id = id.bytes().all(|byte| byte.is_ascii_digit()) && id.parse::<u64>().is_ok_and(|id| id > 0);
    (is_id && !name.is_empty()).then_some((id, name))
}

/// How many branches are named.
const NAMED_MAX: usize = 8;

/// That the guard keeps everybody from promoting to some of the branches `deployed` that Applications stage for, and all commands, begun by
/// `git` and ended by `install`, that let an account do so; none where every such branch has a promoter. `promoted` has the staging branches
/// too, into which GitOps Promoter merges what conflicts, so it needs more: who promotes by hand needs no right there.
pub(super) fn without_promoter(
    access: &Access,
    (deployed, promoted): (&BTreeSet<BranchName>, &BTreeSet<BranchName>),
    (git, install): (&str, &str),
) -> Vec<(String, String)> {
    let is_closed = |branch: &&BranchName| branch.destination().is_none() && access.is_closed(branch);
    let closed: Vec<&BranchName> = deployed.iter().filter(is_closed).collect();
    if closed.is_empty() {
        return Vec::new();
    }
    let what = "Applications have a staging branch (hydrateTo), and no account may promote";
    let what = match access.promoters.is_empty() {
        true => what.to_owned(),
        false => format!("{what} to {}", listed(&closed, NAMED_MAX)),
    };
    let staging: Vec<&BranchName> = promoted.difference(deployed).filter(is_closed).collect();
    let staging = naming_branches(access, &staging, git);
    let by_hand = (what, format!("{} && {install}", naming_promoter(access, &closed, git)));
    let by_promoter = (!staging.is_empty()).then(|| {
        let what = "GitOps Promoter merges into staging branches too, where branches conflict";
        (what.to_owned(), format!("{} && {install}", staging.join(" && ")))
    });
    [by_hand].into_iter().chain(by_promoter).collect()
}

/// A repository whose fetch writes over every ref.
#[derive(Debug, thiserror::Error)]
#[error("this is a mirror of {url}: each fetch takes away what is hydrated here\nhint: {}", elsewhere(url))]
pub(crate) struct Mirror {
    /// The remote.
    pub remote: String,
    /// Where it is pushed to, without credentials.
    pub url: String,
}

/// What to do where a repository is a mirror of `url`.
pub(crate) fn elsewhere(url: &str) -> String {
    format!(
        "install where {url} is pushed to, and name a repository of this host for its hydrated branches in the setting `destinations`"
    )
}

/// What is deleted and renamed by the pages of a platform, for which it runs no hook, and what an admin does there.
pub(super) fn unguarded_pages(branches: &BTreeSet<BranchName>) -> (&'static str, String) {
    let what = "a branch that is deleted or renamed in the web interface runs no hook: protect hydrated branches there";
    // A rule for a folder holds for the branches to come, too.
    let here = branches.iter().filter(|branch| branch.destination().is_none()).map(BranchName::as_str);
    let rules: BTreeSet<String> = here
        .map(|branch| {
            branch.split_once('/').map_or_else(|| format!("`{branch}`"), |(folder, _)| format!("`{folder}/**`"))
        })
        .collect();
    let rules = match rules.is_empty() {
        true => "`environments/**`".to_owned(),
        false => listed(rules, NAMED_MAX),
    };
    let how = "with pushes disabled, or restricted to the account that promotes: hydration goes on";
    (what, format!("Settings, Branches, a rule for {rules} {how}"))
}

/// The remote that a repository is a mirror of, as `git clone --mirror` and the pull mirrors of platforms set it; none where it is no
/// mirror, or pushes to one.
pub(crate) fn mirror(repository: &Repository) -> Option<Mirror> {
    let fetches_all = |remote: &String| {
        let key = format!("remote.{remote}.fetch");
        repository.config_list(&key).iter().any(|refspec| refspec == "+refs/*:refs/*")
    };
    let remote = repository.remotes().into_iter().find(fetches_all)?;
    let url = repository.config(&format!("remote.{remote}.url")).unwrap_or_else(|| remote.clone());
    Some(Mirror { url: without_credentials(&url), remote })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_an_id_and_a_name() {
        assert_eq!(forge_pusher("7:hydration"), Some(("7", "hydration")));
        for wrong in ["", "hydration", "0:nobody", "-1:x", "+1:x", "7:", ":x"] {
            assert_eq!(forge_pusher(wrong), None, "{wrong}");
        }
    }
}
