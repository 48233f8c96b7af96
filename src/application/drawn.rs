//! What tells the random values of an Application from those of others, and which of its objects have some.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AppName, Application, BranchName};
use dry_files::path::RepoPath;

/// What tells the random values of an Application from those of others: `NAMESPACE/NAME/BRANCH`, with the environment
/// branch that it was on when it drew first. The namespace may be empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeedIdentity(String);

impl SeedIdentity {
    /// That of an Application which draws on its branch for the first time.
    pub(crate) fn of(application: &Application) -> Self {
        let namespace = application.namespace.as_ref().map_or("", AppName::as_str);
        Self(format!("{namespace}/{}/{}", application.name, application.environment_branch()))
    }

    /// Reads what [`SeedIdentity::as_str`] gave; none for another text.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (namespace, name, branch) = parts(text)?;
        let is_namespace = namespace.is_empty() || AppName::new(namespace).is_ok();
        (is_namespace && AppName::new(name).is_ok() && BranchName::read(branch).is_ok()).then(|| Self(text.to_owned()))
    }

    /// That of an Application of the same name which draws on `branch` for the first time.
    pub(crate) fn on(&self, branch: &BranchName) -> Self {
        let (namespace, name, _) = parts(&self.0).unwrap_or_default();
        Self(format!("{namespace}/{name}/{branch}"))
    }

    /// The text of it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The Application, as `NAMESPACE/NAME`, or its name alone where it has no namespace.
    pub(crate) fn application(&self) -> &str {
        let (namespace, name, _) = parts(&self.0).unwrap_or_default();
        let start = if namespace.is_empty() { 1 } else { 0 };
        self.0.get(start..namespace.len() + 1 + name.len()).unwrap_or_default()
    }
}

impl fmt::Display for SeedIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (namespace, rest) = text.split_once('/')?;
    let (name, branch) = rest.split_once('/')?;
    Some((namespace, name, branch))
}

/// The identities of Applications that moved since they drew first, by what they would be if they drew for the first time
/// now.
pub(crate) type SeedIdentities = BTreeMap<SeedIdentity, SeedIdentity>;

/// That an Application has random values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// What they are drawn for.
    pub identity: SeedIdentity,
    /// Its objects that have some, as `KIND NAMESPACE/NAME`: Secrets first. Empty when that is not known.
    pub objects: Vec<String>,
}

/// The random values of a branch, by the path of the Application that has them.
pub(crate) type DrawnPaths = BTreeMap<RepoPath, Drawn>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_and_moved() {
        let dev = BranchName::new("environments/dev").expect("a name");
        let rows = [
            ("argocd/web/environments/prod", Some(("argocd/web/environments/dev", "argocd/web"))),
            ("/web/prod", Some(("/web/environments/dev", "web"))),
            ("/web/eu:prod", Some(("/web/environments/dev", "web"))),
            ("web", None),
            ("argocd/web", None),
            ("argocd//prod", None),
            ("argocd/web/", None),
            ("Argo/web/prod", None),
            ("argocd/web/a b", None),
            ("argocd/web/a\nHydrate-Engine: 9", None),
        ];
        for (text, expected) in rows {
            let found = SeedIdentity::read(text);
            let found = found.as_ref().map(|found| (found.on(&dev).0, found.application().to_owned()));
            assert_eq!(found, expected.map(|(moved, name)| (moved.to_owned(), name.to_owned())), "{text:?}");
        }
    }
}
