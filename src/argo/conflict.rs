//! What can be wrong with Applications that are right each by itself: a value for each conflict, its text in one place.

use dry_files::diag::{Diagnostic, Lasting, Span, clipped, shell_word};
use dry_files::path::RepoPath;

use super::mistake::one_line;
use super::{AppName, BranchName, By};

/// How an Application gets in the way of others, of the repository or of its settings. `at` is where the other one
/// says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Conflict {
    #[error("`{path}` on `{branch}` is already written by `{other}`")]
    PathTaken { path: RepoPath, branch: BranchName, other: AppName, at: Span },
    #[error("`{path}` on `{branch}` is inside `{outer}`, which `{other}` writes")]
    PathInside { path: RepoPath, branch: BranchName, outer: RepoPath, other: AppName, at: Span },
    #[error("`{path}` on `{branch}` contains `{inner}`, which `{other}` writes")]
    PathAround { path: RepoPath, branch: BranchName, inner: RepoPath, other: AppName, at: Span },
    #[error("`{path}` on `{branch}` differs from the `{other}` of `{name}` only in case")]
    PathCase { path: RepoPath, branch: BranchName, other: RepoPath, name: AppName, at: Span },
    #[error("`{name}` is made by {by}, and there is another Application of that name")]
    MadeTwice { name: AppName, by: By, at: Span },
    #[error("`{branch}` is a dry branch: hydration would overwrite its own source")]
    DestinationIsDry { branch: BranchName },
    #[error("the settings do not allow hydration to `{branch}`")]
    DestinationForbidden { branch: BranchName },
    #[error("`{branch}` cannot be hydrated to: copies of Applications go to `{copies}`")]
    DestinationOfCopies { branch: BranchName, copies: BranchName },
    #[error("`{branch}` does not exist yet, and is nearly the name of `{near}`")]
    NearBranch { branch: BranchName, near: BranchName },
    #[error("{}", match names.as_slice() {
        [name] => format!("more than one Application has the name `{name}`"),
        names => format!("{} names are those of more than one Application: {}", names.len(), listed(names)),
    })]
    SameName { names: Vec<AppName>, at: Span },
    #[error("`{branch}` and `{other}` cannot both be branches: one would be a directory of the other")]
    BranchDirectory { branch: BranchName, other: BranchName, at: Option<Span> },
    #[error("`{branch}` is the staging branch of `{sync}` here, but of `{other}` elsewhere")]
    SyncBranchesDiffer { branch: BranchName, sync: BranchName, other: BranchName, at: Span },
    #[error("`{branch}` is hydrated directly here, but promoted from `{staging}` elsewhere")]
    SyncBranchWritten { branch: BranchName, staging: BranchName, at: Span },
    #[error("`{}` names another repository: this Application is not hydrated here",
        if *is_by_rule { "repoURL" } else { "drySource.repoURL" })]
    OtherRepository { url: String, known: String, is_by_rule: bool },
    #[error("the URL of this repository is not set, and Applications name several: `{url}` here, `{other}` elsewhere")]
    RepositoryUnclear { url: String, other: String, at: Span },
    #[error("the URL of this repository is not set, and no Application names it")]
    RepositoryUnknown,
    #[error("`{path}` does not exist, so it cannot be determined whether `{url}` is this repository")]
    RepositoryUnproven { url: String, path: RepoPath },
    #[error("`{revision}` is {kind}: pinned, not hydrated on push")]
    Pinned { revision: String, kind: &'static str, dry_branch: BranchName },
    #[error("the Applications of `{branch}` name `{revision}` here, but `{other}` elsewhere")]
    RevisionsDiffer { branch: BranchName, revision: String, other: String, at: Span },
    #[error("no branch and no tag is named `{revision}`: `{branch}` stays as it is")]
    NoSuchRevision { branch: BranchName, revision: String, near: Option<String> },
    #[error(
        "`{revision}` is the `targetRevision` of one source, and another source of this repository has another one"
    )]
    RevisionsOfSources { revision: String },
    #[error("`{revision}` is not a branch, and `{branch}` is promoted: a promoter waits there for each dry commit")]
    RevisionPromoted { revision: String, branch: BranchName },
    #[error("`{branch}` is named by {} and does not exist here, so nothing is hydrated for {}", applications(*count), them(*count))]
    NoSuchBranch { branch: String, count: usize, dry_branch: BranchName },
}

/// The mistake of an Application that names a dry branch as its destination, at the place where it does.
pub(crate) fn destination_is_dry(branch: &BranchName, at: &Span) -> Diagnostic {
    Conflict::DestinationIsDry { branch: branch.clone() }.at(at.clone())
}

/// The warning that so many Applications, of which the first says so at `at`, name a branch that does not exist, and not the dry
/// branch that does.
pub(crate) fn no_such_branch(branch: &BranchName, count: usize, dry_branch: &BranchName, at: &Span) -> Diagnostic {
    let conflict = Conflict::NoSuchBranch { branch: branch.to_string(), count, dry_branch: dry_branch.clone() };
    conflict.at(at.clone())
}

impl Conflict {
    /// The whole report of it.
    pub(super) fn at(self, span: Span) -> Diagnostic {
        let message = one_line(&self.to_string());
        let mut diagnostic = if self.is_error() { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        diagnostic.label = clipped(self.label().unwrap_or_default());
        diagnostic.hint = self.hint().map(clipped);
        match &self {
            Conflict::NearBranch { near, .. } => diagnostic.near = Some(near.to_string().into()),
            Conflict::Pinned { .. } => diagnostic.lasting = Some(Lasting::Pinned),
            _ => {}
        }
        diagnostic.at(span)
    }

    /// Whether it stops the environment branch.
    pub(super) fn is_error(&self) -> bool {
        !matches!(
            self,
            Conflict::OtherRepository { .. }
                | Conflict::Pinned { .. }
                | Conflict::NoSuchBranch { .. }
                | Conflict::NearBranch { .. }
                | Conflict::SameName { .. }
                | Conflict::PathCase { .. }
        )
    }

    /// Whether an Application with it is where it was before until it is corrected: a branch or repository that is not this
    /// one is a slip more often than a decision.
    pub(super) fn is_kept_off(&self) -> bool {
        self.is_error() || matches!(self, Conflict::OtherRepository { .. } | Conflict::NoSuchBranch { .. })
    }

    /// Whether it is one of the branch that is written, or of the repository: none of single Applications.
    pub(super) fn is_of_branch(&self) -> bool {
        match self {
            Conflict::PathTaken { .. }
            | Conflict::PathInside { .. }
            | Conflict::PathAround { .. }
            | Conflict::PathCase { .. }
            | Conflict::MadeTwice { .. }
            | Conflict::SameName { .. }
            | Conflict::NearBranch { .. }
            | Conflict::OtherRepository { .. }
            | Conflict::Pinned { .. }
            | Conflict::RevisionsOfSources { .. }
            | Conflict::NoSuchBranch { .. } => false,
            Conflict::DestinationIsDry { .. }
            | Conflict::DestinationForbidden { .. }
            | Conflict::DestinationOfCopies { .. }
            | Conflict::BranchDirectory { .. }
            | Conflict::SyncBranchesDiffer { .. }
            | Conflict::SyncBranchWritten { .. }
            | Conflict::RevisionsDiffer { .. }
            | Conflict::NoSuchRevision { .. }
            | Conflict::RevisionPromoted { .. }
            | Conflict::RepositoryUnclear { .. }
            | Conflict::RepositoryUnknown
            | Conflict::RepositoryUnproven { .. } => true,
        }
    }

    /// The word on the place.
    fn label(&self) -> Option<String> {
        match self {
            Conflict::PathTaken { at, .. } => Some(format!("also set at {}", line(at))),
            Conflict::PathInside { at, .. }
            | Conflict::PathAround { at, .. }
            | Conflict::PathCase { at, .. }
            | Conflict::MadeTwice { at, .. }
            | Conflict::SameName { at, .. }
            | Conflict::SyncBranchesDiffer { at, .. }
            | Conflict::SyncBranchWritten { at, .. }
            | Conflict::RevisionsDiffer { at, .. }
            | Conflict::RepositoryUnclear { at, .. }
            | Conflict::BranchDirectory { at: Some(at), .. } => Some(format!("the other one is at {}", line(at))),
            _ => None,
        }
    }

    /// How to mend it.
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Conflict::PathTaken { .. } | Conflict::PathInside { .. } | Conflict::PathAround { .. } => {
                "give each Application of a branch a folder of its own".to_owned()
            }
            Conflict::MadeTwice { .. } => "give each Application of a namespace a name of its own".to_owned(),
            Conflict::SameName { .. } => {
                "Argo CD keeps one Application of a name: give each its own, unless each environment has its own Argo CD"
                    .to_owned()
            }
            Conflict::NearBranch { near, .. } => format!("did you mean `{near}`?"),
            Conflict::PathCase { .. } => "a clone on macOS or Windows can hold only one of them".to_owned(),
            Conflict::DestinationIsDry { .. } => "write to a branch of its own, such as `environments/dev`".to_owned(),
            Conflict::DestinationForbidden { branch } => {
                let branch = shell_word(branch.as_str());
                format!("correct the branch, or allow it on the server: git hydrate config add branches {branch}")
            }
            Conflict::DestinationOfCopies { .. } => {
                "write to another branch, or choose another one for the copies: git hydrate config set applicationsTo BRANCH"
                    .to_owned()
            }
            Conflict::BranchDirectory { .. } => "rename one of them".to_owned(),
            Conflict::SyncBranchesDiffer { .. } => "give each sync branch a staging branch of its own".to_owned(),
            Conflict::SyncBranchWritten { .. } => {
                "use `hydrateTo` for all Applications of a branch, or for none".to_owned()
            }
            Conflict::OtherRepository { url, known, .. } => {
                let (url, known) = (pasted(url), pasted(known));
                format!("this one is {known}; if both are one, on the server: git hydrate config add repoURL {url}")
            }
            Conflict::RepositoryUnproven { url, .. } => {
                let url = pasted(url);
                format!("correct the path; or set the URL, on the server: git hydrate config set repoURL {url}")
            }
            Conflict::RepositoryUnknown => "set it, on the server: git hydrate config set repoURL URL".to_owned(),
            Conflict::RepositoryUnclear { url, .. } => {
                let url = pasted(url);
                format!("set the right one on the server: git hydrate config set repoURL {url}")
            }
            Conflict::NoSuchBranch { branch, dry_branch, .. } => format!(
                "use `targetRevision: {dry_branch}`, or `HEAD` for the first of the dry branches; if `{branch}` was deleted, push it \
                 again: `{dry_branch}` may lack what it had"
            ),
            Conflict::Pinned { dry_branch, .. } => {
                format!(
                    "to hydrate it on each push: `targetRevision: {dry_branch}`; to follow tags, ranges and commits, on the \
                     server: git hydrate config set revisions true"
                )
            }
            Conflict::RevisionsDiffer { .. } => {
                "a branch shows one dry commit: name one revision, or write to a branch for each".to_owned()
            }
            Conflict::NoSuchRevision { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Conflict::NoSuchRevision { near: None, .. } => "push the branch or the tag, or correct `targetRevision`".to_owned(),
            Conflict::RevisionsOfSources { .. } => {
                "use one `targetRevision` for all sources of this repository".to_owned()
            }
            Conflict::RevisionPromoted { .. } => {
                "name the dry branch and let the promoter promote, or write to a branch without `hydrateTo` and `activePaths`"
                    .to_owned()
            }
        };
        Some(hint)
    }
}

/// How many names are listed.
const NAMES_MAX: usize = 5;

fn listed(names: &[AppName]) -> String {
    let mut listed: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMES_MAX {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

fn applications(count: usize) -> String {
    if count == 1 { "1 Application".to_owned() } else { format!("{count} Applications") }
}

fn them(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

/// A place as one word of a sentence: file and line.
fn line(span: &Span) -> String {
    Span { column: 0, ..span.clone() }.to_string()
}

/// A pushed URL in a line that someone will paste into a shell: as it is, or not at all.
fn pasted(url: &str) -> &str {
    if shell_word(url) == url && !url.starts_with('-') { url } else { "URL" }
}
