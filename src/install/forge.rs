//! What is known of the forges that host repositories.

use std::collections::BTreeSet;

use crate::argo::{BranchName, without_credentials};
use crate::hydrate::{Access, naming_promoter};
use crate::repo::Repository;

use super::is_executable;

/// The script of Gitea and Forgejo for post-receive, from the git directory on.
///
/// Reference: Gitea 1.25 modules/gitrepo/hooks.go `createDelegateHooks`.
pub(crate) const GITEA: &str = "hooks/post-receive.d/gitea";

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

/// Whether a platform hosts the repository that learns of branches from hooks of its own.
pub(crate) fn has_platform(repository: &Repository) -> bool {
    let is_off = repository.config_bool("hydrate.tell") == Some(false);
    let is_told = repository.config("hydrate.tell").is_some_and(|command| !command.is_empty());
    !is_off && (is_told || is_executable(&repository.common_dir().join(GITEA)))
}

/// That the guard keeps everybody from promoting to one of the branches `deployed` that Applications stage for, and the commands, begun by `git`, that let an
/// account do so; none where every such branch has a promoter.
pub(super) fn without_promoter(
    access: &Access,
    deployed: &BTreeSet<BranchName>,
    git: &str,
) -> Option<(String, String)> {
    let is_closed = |branch: &&BranchName| branch.destination().is_none() && access.is_closed(branch);
    let closed: Vec<&BranchName> = deployed.iter().filter(is_closed).collect();
    let branch = closed.first()?;
    let what = match access.promoters.is_empty() {
        true => "Applications have a staging branch (hydrateTo), and no account may promote".to_owned(),
        false => format!("Applications have a staging branch (hydrateTo), and no account may promote to {branch}"),
    };
    Some((what, naming_promoter(access, &closed, git)))
}

/// A repository whose fetch writes over every ref.
#[derive(Debug, thiserror::Error)]
#[error(
    "this is a mirror of {url}: each fetch takes away what is hydrated here\nhint: install where {url} is pushed to, and name a \
     repository of this host for its hydrated branches in the setting `destinations`"
)]
pub(crate) struct Mirror {
    /// The remote.
    pub remote: String,
    url: String,
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
