//! What a `targetRevision` leads to that names no branch: the refs of the repository decide, and nothing is believed because an object
//! is there.

use super::snapshot::Snapshot;
use crate::argo::{Application, BranchName, LedTo, Revision, is_short_id, near};
use crate::metadata::Source;
use crate::repo::{ObjectId, object_id};
use dry_files::diag::{Diagnostic, clipped, shell_word};

/// Where tags are.
const TAGS: &str = "refs/tags/";

/// What an environment branch shows, as the Applications of a dry tree want it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Follows {
    /// The dry branch.
    #[default]
    Branch,
    /// What a tag, a range or an id leads to.
    Source(Source),
    /// What leads nowhere: it stays as it is.
    Nothing(Diagnostic),
}

impl Follows {
    /// Where the sources are, if not in the tree of the dry branch.
    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            Self::Source(source) => Some(source),
            Self::Branch | Self::Nothing(_) => None,
        }
    }
}

impl Snapshot<'_> {
    /// What `branch` follows, whose Application `first` names `revision`, and which shows `shown` of it.
    pub(crate) fn follows(
        &self,
        branch: &BranchName,
        revision: &str,
        first: Option<&Application>,
        shown: Option<&Source>,
    ) -> Follows {
        match self.source_of(branch, revision, shown) {
            Ok(source) => Follows::Source(source),
            Err((text, hint)) => {
                let mistake = Diagnostic::error(clipped(text)).hint(clipped(hint));
                Follows::Nothing(match first {
                    Some(first) => first.tells(mistake.at(first.places.target_revision.clone())),
                    None => mistake,
                })
            }
        }
    }

    /// Whether one of these revisions of Applications of a dry branch names no branch, and may.
    pub(crate) fn follows_one_of<'r>(
        &self,
        mut revisions: impl Iterator<Item = &'r str>,
        dry_branch: &BranchName,
    ) -> bool {
        let is_branch = |text: &str| {
            let name = text.strip_prefix("refs/heads/").unwrap_or(text);
            let exists = || BranchName::new(name).is_ok_and(|name| self.tip(&name).is_some());
            text.is_empty() || text == "HEAD" || name == dry_branch.as_str() || exists()
        };
        self.policy.follows && revisions.any(|text| !is_branch(text))
    }

    /// What a revision leads to; or why it leads nowhere, and what to do.
    fn source_of(&self, branch: &BranchName, text: &str, shown: Option<&Source>) -> Result<Source, (String, String)> {
        let revision = Revision::read(text);
        let tags: Vec<&str> = self.refs.below(TAGS).map(|(tag, _)| tag).collect();
        let stays = || match shown {
            Some(shown) => format!("; `{branch}` stays at {}", shown.name()),
            None => String::new(),
        };
        match revision.among(tags.iter().copied()) {
            LedTo::Commit(id) => {
                let commit = object_id(id).filter(|id| self.leads_to(*id));
                let nowhere = || {
                    let text = format!("no branch or tag here leads to the commit {id}{}", stays());
                    (text, "push the branch or the tag that has it, or correct `targetRevision`".to_owned())
                };
                commit.map(|commit| Source { commit, resolved: id.to_owned() }).ok_or_else(nowhere)
            }
            LedTo::Tag(tag) => {
                let target = self.refs.get(&format!("{TAGS}{tag}"));
                let commit = target.and_then(|target| self.setup.repository.peel_to_commit(target).ok().flatten());
                let Some(commit) = commit else {
                    let text = format!("the tag `{tag}` leads to no commit{}", stays());
                    return Err((text, "put the tag on a commit".to_owned()));
                };
                if self.setup.resumed != Some(branch)
                    && let Some(shown) = shown.filter(|shown| revision.falls_back(&shown.resolved, tag))
                {
                    let text = format!(
                        "the tag `{}`, which `{branch}` shows, is gone, and `{tag}` is now the highest in {revision}{}",
                        shown.resolved,
                        stays()
                    );
                    let word = shell_word(branch.as_str());
                    let hint = format!(
                        "push the tag again; or, to go back to `{tag}`, on the server: git hydrate resume {word}"
                    );
                    return Err((text, hint));
                }
                Ok(Source { commit, resolved: tag.to_owned() })
            }
            LedTo::Nothing => Err(match &revision {
                Revision::Range(..) => (
                    format!("no tag is in the {revision}{}", stays()),
                    "push a tag with such a version, or correct `targetRevision`".to_owned(),
                ),
                Revision::Commit(_) | Revision::Tag(_) if is_short_id(text) => (
                    format!("no branch and no tag is named `{text}`{}", stays()),
                    "write the full id of a commit".to_owned(),
                ),
                Revision::Commit(_) | Revision::Tag(_) => (
                    format!("no branch and no tag is named `{text}`{}", stays()),
                    match self.nearly(text, &tags) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => "push the tag, or correct `targetRevision`".to_owned(),
                    },
                ),
            }),
        }
    }

    /// The dry branch or tag of nearly this name.
    fn nearly(&self, text: &str, tags: &[&str]) -> Option<String> {
        let branches = self.dry_branches.iter().map(BranchName::as_str);
        near(text, &branches.chain(tags.iter().copied()).collect::<Vec<_>>()).map(str::to_owned)
    }

    /// Whether a branch or a tag leads to a commit. What nothing leads to was pushed and taken back, or refused.
    fn leads_to(&self, commit: ObjectId) -> bool {
        if let Some(known) = self.reachable.borrow().get(&commit) {
            return *known;
        }
        let repository = self.setup.repository;
        let of_dry = self.dry_branches.iter().filter_map(|branch| self.tip(branch));
        let tags = self.refs.below(TAGS).map(|(_, id)| id);
        let branches = self.setup.place.branches(&self.refs).map(|(_, tip)| tip);
        let tips = of_dry.chain(tags).chain(branches).filter_map(|id| repository.peel_to_commit(id).ok().flatten());
        let is_there = repository.commit(commit).is_ok() && repository.is_reachable(commit, tips);
        self.reachable.borrow_mut().insert(commit, is_there);
        is_there
    }
}

impl Source {
    /// Whether `revision` can have led to it.
    pub(crate) fn is_of(&self, revision: &str) -> bool {
        let revision = Revision::read(revision);
        let is_itself = !matches!(revision, Revision::Commit(_)) || object_id(&self.resolved) == Some(self.commit);
        is_itself && revision.admits(&self.resolved)
    }

    /// Its name, for a sentence.
    pub(crate) fn name(&self) -> String {
        let id = self.commit.to_hex_with_len(7);
        match object_id(&self.resolved) {
            Some(_) => id.to_string(),
            None => format!("`{}` ({id})", self.resolved),
        }
    }
}
