//! What is known of the forges that host repositories.

/// The script of Gitea and Forgejo for post-receive, from the git directory on.
///
/// Reference: Gitea 1.25 modules/gitrepo/hooks.go `createDelegateHooks`.
pub(crate) const GITEA: &str = "hooks/post-receive.d/gitea";

/// The key in git's configuration that names the user of Gitea or Forgejo in whose name it is told of what no push brought.
pub(crate) const FORGE_PUSHER: &str = "hydrate.forgePusher";

/// The id and the name in a value `ID:NAME` of [`FORGE_PUSHER`].
pub(crate) fn forge_pusher(value: &str) -> Option<(&str, &str)> {
    let (id, name) = value.split_once(':')?;
    // Gitea knows no user 0.
    let is_id = id.bytes().all(|byte| byte.is_ascii_digit()) && id.parse::<u64>().is_ok_and(|id| id > 0);
    (is_id && !name.is_empty()).then_some((id, name))
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
