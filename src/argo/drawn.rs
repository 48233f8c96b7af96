//! The identities for which Applications draw random values, and which objects have some.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AppName, Application, BranchName};
use dry_files::path::RepoPath;

/// What tells the random values of an Application from those of others: `NAMESPACE/NAME/BRANCH`, with the environment
/// branch that it was on when it drew first. The namespace may be empty. Where that is not its alone, `~DRY_BRANCH` follows,
/// and `~NUMBER` from the second of a dry branch on: no name of a branch has a `~`.
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
        let (namespace, name, rest) = parts(text)?;
        let mut rest = rest.splitn(3, '~');
        let is_namespace = namespace.is_empty() || AppName::new(namespace).is_ok();
        let is_branch = rest.next().is_some_and(|branch| BranchName::read(branch).is_ok());
        let is_dry_branch = rest.next().is_none_or(|branch| BranchName::new(branch).is_ok());
        let is_number = rest.next().is_none_or(is_number);
        let is_whole = is_namespace && AppName::new(name).is_ok() && is_branch && is_dry_branch && is_number;
        is_whole.then(|| Self(text.to_owned()))
    }

    /// The `number`th, from 1 on, of those that no other dry branch gives, for an Application that draws there for the first time.
    pub(crate) fn own_of(&self, dry_branch: &BranchName, number: usize) -> Self {
        let plain = self.plain();
        match number {
            ..=1 => Self(format!("{plain}~{dry_branch}")),
            _ => Self(format!("{plain}~{dry_branch}~{number}")),
        }
    }

    /// The dry branch whose own it is; none for that of a name alone.
    pub(crate) fn dry_branch(&self) -> Option<&str> {
        self.0.split('~').nth(1)
    }

    /// `NAMESPACE/NAME/BRANCH`, whatever follows.
    pub(crate) fn plain(&self) -> &str {
        self.0.split('~').next().unwrap_or_default()
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

fn is_number(text: &str) -> bool {
    text.parse().is_ok_and(|number: usize| number > 1 && number.to_string() == text)
}

fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (namespace, rest) = text.split_once('/')?;
    let (name, branch) = rest.split_once('/')?;
    Some((namespace, name, branch))
}

/// The identities of Applications of a dry branch that are not what they would be if these drew for the first time now and were
/// alone, by what they would be then.
pub(crate) type SeedIdentities = BTreeMap<SeedIdentity, SeedIdentity>;

/// An identity, and the dry branch of the Application that has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldIdentity {
    /// The dry branch.
    pub dry_branch: BranchName,
    /// What the Application draws for.
    pub identity: SeedIdentity,
}

/// The [`SeedIdentities`] of each dry branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeldIdentities(BTreeMap<BranchName, SeedIdentities>);

impl HeldIdentities {
    /// Those of a dry branch.
    pub(crate) fn of(&self, dry_branch: &BranchName) -> SeedIdentities {
        self.0.get(dry_branch).cloned().unwrap_or_default()
    }

    /// Notes what an Application on `branch` draws for.
    pub(crate) fn note(&mut self, held: HeldIdentity, branch: &BranchName) {
        let HeldIdentity { dry_branch, identity } = held;
        let here = identity.on(branch);
        let own = self.0.entry(dry_branch).or_default();
        match here == identity {
            true => drop(own.remove(&here)),
            false => drop(own.insert(here, identity)),
        }
    }

    /// These identities after a dry branch got another name.
    pub(crate) fn renamed(mut self, before: &BranchName, now: &BranchName) -> Self {
        let moved = self.0.remove(before).unwrap_or_default();
        self.0.entry(now.clone()).or_default().extend(moved);
        self
    }

    /// Each of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = HeldIdentity> {
        self.0.iter().flat_map(|(dry_branch, own)| own.values().map(|identity| held(dry_branch, identity)))
    }
}

fn held(dry_branch: &BranchName, identity: &SeedIdentity) -> HeldIdentity {
    HeldIdentity { dry_branch: dry_branch.clone(), identity: identity.clone() }
}

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
            ("/web/eu:prod~release/1", Some(("/web/environments/dev", "web"))),
            ("argocd/web/prod~main~2", Some(("argocd/web/environments/dev", "argocd/web"))),
            ("argocd/web/prod~", None),
            ("argocd/web/prod~main~1", None),
            ("argocd/web/prod~main~02", None),
            ("argocd/web/prod~main~2~3", None),
            ("argocd/web/prod~eu:main", None),
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
