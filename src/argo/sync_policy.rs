//! What Argo CD does in the cluster with what is no longer in git. It changes no manifest: previews show it.

use go_yaml::Value;

use super::field::Field;

/// What becomes of objects that an Application has no longer, and of all its objects when it goes itself.
///
/// Reference: argo-cd 3.4 docs/user-guide/auto_sync.md, sync-options.md, app_deletion.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncPolicy {
    /// Whether each sync prunes: `spec.syncPolicy.automated.prune`.
    pub prunes: bool,
    /// The sync option `Prune` of all its objects.
    pub prune: Removal,
    /// The sync option `Delete` of all its objects.
    pub delete: Removal,
    /// Whether its objects are deleted with it: the finalizer `resources-finalizer.argocd.argoproj.io`.
    pub cascades: bool,
    /// Whether it has any finalizer.
    pub has_finalizer: bool,
}

/// What a sync option says of the removal of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Removal {
    /// Nothing, or that they go.
    #[default]
    Allowed,
    /// It has to be confirmed.
    Confirmed,
    /// They stay.
    Forbidden,
}

impl Removal {
    /// What the last option of this name says.
    fn by_option(name: &str, options: &[Value]) -> Self {
        let mut named = options.iter().filter_map(Value::as_str).filter_map(|option| option.trim().strip_prefix(name));
        match named.next_back() {
            Some("=false") => Self::Forbidden,
            Some("=confirm") => Self::Confirmed,
            _ => Self::Allowed,
        }
    }
}

const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

impl SyncPolicy {
    /// That of an Application. Never fails: what it is not made of says nothing.
    pub(super) fn read(application: &Field) -> Self {
        let value =
            |keys: [&str; 2]| application.get(keys[0]).and_then(|field| field.get(keys[1])).map(Field::to_value);
        let policy = value(["spec", "syncPolicy"]).unwrap_or(Value::Null);
        let automated = |key| policy.at(&["automated", key]).and_then(Value::as_bool);
        let options = policy.get("syncOptions").and_then(Value::as_sequence).unwrap_or_default();

        let finalizers = value(["metadata", "finalizers"]);
        let finalizers = finalizers.as_ref().and_then(Value::as_sequence).unwrap_or_default();
        // With a propagation policy: `…/background`.
        let is_ours =
            |name: &str| name.strip_prefix(FINALIZER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        Self {
            prunes: automated("prune") == Some(true) && automated("enabled") != Some(false),
            prune: Removal::by_option("Prune", options),
            delete: Removal::by_option("Delete", options),
            cascades: finalizers.iter().filter_map(Value::as_str).any(is_ours),
            has_finalizer: !finalizers.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argo::read;
    use dry_files::path::RepoPath;

    fn policy(finalizers: &str, policy: &str) -> SyncPolicy {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a, finalizers: {finalizers}}}\nspec:\n  \
             syncPolicy: {policy}\n  sourceHydrator:\n    drySource: {{repoURL: 'https://a/b', path: a, targetRevision: main}}\n    \
             syncSource: {{targetBranch: e, path: a}}\n"
        );
        let file = read(&RepoPath::new("a.yaml").expect("a path"), text.as_bytes());
        file.applications().next().expect("an Application").sync_policy
    }

    #[test]
    fn what_becomes_of_objects() {
        let (none, prunes) = (SyncPolicy::default(), SyncPolicy { prunes: true, ..SyncPolicy::default() });
        let cascades = SyncPolicy { cascades: true, has_finalizer: true, ..none };
        let rows = [
            ("[]", "{}", none),
            ("[]", "{automated: {prune: true}}", prunes),
            ("[]", "{automated: {prune: true, enabled: false}}", none),
            ("[]", "{automated: {selfHeal: true}}", none),
            ("[]", "text", none),
            ("[]", "{syncOptions: [PruneLast=true, Prune=false]}", SyncPolicy { prune: Removal::Forbidden, ..none }),
            ("[]", "{syncOptions: [Delete=confirm]}", SyncPolicy { delete: Removal::Confirmed, ..none }),
            ("[resources-finalizer.argocd.argoproj.io]", "{}", cascades),
            ("[resources-finalizer.argocd.argoproj.io/background]", "{}", cascades),
            ("[post-delete-finalizer.argocd.argoproj.io]", "{}", SyncPolicy { has_finalizer: true, ..none }),
        ];
        for (finalizers, text, expected) in rows {
            assert_eq!(policy(finalizers, text), expected, "{finalizers} {text}");
        }
    }
}
