//! What files and templates say of a dry commit and of a destination path.

use crate::argo::{AppName, BranchName, Profile};
use crate::repo::ObjectId;

use super::dry::DryCommit;
use super::json::{Fields, Json};
use super::reference::Reference;
use super::{ENGINE_REVISION, Time, url};
use crate::versions::Tools;

/// The values of a README template: each name, and what it is. All are always there, empty ones too.
///
/// In the profile `proposal`, `hydrator.metadata` of the destination path has the same under the same names.
pub(super) const README_VALUES: &[(&str, &str)] = &[
    ("repoURL", "the repository of the dry commit"),
    ("drySha", "the full id of the dry commit"),
    ("commands", "a list: the commands that render the same with the official tools"),
    ("repoName", "the name of the directory that `git clone` makes for repoURL"),
    ("dryShortSHA", "the first 7 digits of drySha"),
    ("dryBranch", "the branch of the dry commit"),
    ("applications", "a list: each with metadata.name and metadata.namespace"),
    ("commitAuthor", "`Name <email>` of the dry commit's author"),
    ("commitMessage", "the first line of the dry commit's message"),
    ("commitTime", "when the dry commit was committed: `2024-03-27 10:32:04 UTC`"),
    (
        "tools",
        "what renders the same: helm and kustomize, the version of each that the commands run, and engine, the revision \
         of git-hydrate's own engine",
    ),
];

/// The values of a commit message template: each name, and what it is. All are always there, empty ones too.
pub(super) const COMMIT_MESSAGE_VALUES: &[(&str, &str)] = &[
    ("branch", "the branch that the commit is made on"),
    ("dryBranch", "the branch of the dry commit"),
    ("dryShortSHA", "the first 7 digits of metadata.drySha"),
    (
        "metadata",
        "of the dry commit: repoURL, drySha, author, date, subject, body and the list references, each with \
         commit.author, date, subject, body, sha and repoUrl",
    ),
];

/// The dry commit that is hydrated, and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The repository, as Applications know it.
    pub repo_url: &'a str,
    /// The dry branch.
    pub branch: &'a BranchName,
    /// The dry commit.
    pub commit: &'a DryCommit,
}

/// What is written into one destination path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathContent<'a> {
    /// The Applications that are rendered into it, each with its namespace; one, unless another hydrator calls us.
    pub applications: &'a [(&'a AppName, Option<&'a AppName>)],
    /// The commands that render the same with the official tools.
    pub commands: &'a [String],
    /// As which versions it was rendered.
    pub tools: Tools,
    /// Whether hydration rendered it, and not another renderer of which nothing is known but its commands.
    pub is_ours: bool,
    /// Whether a promotion strategy promotes this very path on its own, and so reads its `hydrator.metadata`.
    pub is_active_path: bool,
}

/// The entries of a JSON object in their order.
type Entries = Vec<(&'static str, Json)>;

/// How many of the values of a README are what Argo CD writes into a destination path.
const ARGOCD_KEYS: usize = 3;

/// The values of a README template, in the order of [`README_VALUES`].
pub(super) fn readme(content: &PathContent<'_>, origin: &Origin<'_>) -> Entries {
    let applications = content.applications.iter().map(|(name, namespace)| application(name, *namespace));
    vec![
        ("repoURL", Json::text(origin.repo_url)),
        ("drySha", Json::text(origin.commit.id.to_string())),
        ("commands", Json::List(content.commands.iter().map(Json::text).collect())),
        ("repoName", Json::text(url::repository_name(origin.repo_url))),
        ("dryShortSHA", Json::text(short(origin.commit.id))),
        ("dryBranch", Json::text(origin.branch.as_str())),
        ("applications", Json::List(applications.collect())),
        ("commitAuthor", Json::text(&origin.commit.author)),
        ("commitMessage", Json::text(&origin.commit.subject)),
        ("commitTime", Json::text(origin.commit.date.readable())),
        ("tools", Json::Object(versions(content))),
    ]
}

fn application(name: &AppName, namespace: Option<&AppName>) -> Json {
    let namespace = namespace.map(AppName::as_str).unwrap_or_default();
    let metadata = vec![("name", Json::text(name.as_str())), ("namespace", Json::text(namespace))];
    Json::Object(vec![("metadata", Json::Object(metadata))])
}

/// The versions of what made a path; those of tools that its commands do not run are empty.
fn versions(content: &PathContent<'_>) -> Entries {
    let is_run = |tool: &str| content.is_ours && content.commands.iter().any(|command| runs(command, tool));
    let version = |is_known: bool, version: &str| Json::text(if is_known { version } else { "" });
    vec![
        ("helm", version(is_run("helm"), content.tools.helm.as_str())),
        ("kustomize", version(is_run("kustomize"), content.tools.kustomize.as_str())),
        ("engine", version(content.is_ours, &ENGINE_REVISION.to_string())),
    ]
}

/// Whether a command, as hydration records it, runs the tool; `kustomize build --enable-helm` runs Helm too.
fn runs(command: &str, tool: &str) -> bool {
    let inner =
        command.strip_prefix("(cd ").and_then(|rest| rest.split_once(" && ")).map_or(command, |(_, inner)| inner);
    let mut words = inner.split(' ');
    match (words.next(), tool) {
        (Some("kustomize"), "helm") => words.any(|word| word == "--enable-helm"),
        (Some(first), tool) => first == tool,
        (None, _) => false,
    }
}

/// The tools that the commands of a path run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolsRun {
    pub helm: bool,
    pub kustomize: bool,
}

impl ToolsRun {
    /// Whether none is run: plain manifests, Jsonnet or a plugin.
    pub(crate) fn is_nothing(self) -> bool {
        !self.helm && !self.kustomize
    }
}

/// The tools that the commands in a `hydrator.metadata` of a path run; none where it cannot be read.
pub(crate) fn tools_run_by(text: &[u8]) -> Option<ToolsRun> {
    let fields = Fields::parse(text).ok()?;
    let commands = fields.get("commands").and_then(|list| list.as_array()).cloned().unwrap_or_default();
    let is_run = |tool: &str| commands.iter().filter_map(|command| command.as_str()).any(|command| runs(command, tool));
    Some(ToolsRun { helm: is_run("helm"), kustomize: is_run("kustomize") })
}

/// `hydrator.metadata` of a destination path. Empty values are still there.
pub(super) fn path_metadata(content: &PathContent<'_>, origin: &Origin<'_>, profile: Profile) -> Entries {
    let mut entries = readme(content, origin);
    let mut of_proposal = entries.split_off(ARGOCD_KEYS);
    if content.is_active_path {
        let known = |key| entries.iter().any(|(known, _)| *known == key);
        let more: Entries = commit_metadata(origin, profile).into_iter().filter(|(key, _)| !known(*key)).collect();
        entries.extend(more);
    }
    match profile {
        Profile::Proposal => entries.append(&mut of_proposal),
        Profile::Argocd => {}
    }
    entries
}

/// `hydrator.metadata` of a whole branch, or of what is promoted on its own. Empty values are still there.
pub(super) fn commit_metadata(origin: &Origin<'_>, profile: Profile) -> Entries {
    let references: Vec<Reference> = origin.commit.references.iter().filter_map(Reference::strict).collect();
    let addresses = match profile {
        Profile::Proposal => Addresses::Plain,
        Profile::Argocd => Addresses::Rfc5322,
    };
    of_commit(origin, references.iter(), addresses, profile)
}

/// What Argo CD's own templates of a commit message see as `metadata`. Empty values are still there.
pub(super) fn argocd_metadata(origin: &Origin<'_>) -> Entries {
    of_commit(origin, origin.commit.references.iter(), Addresses::Rfc5322, Profile::Argocd)
}

/// How the author of a reference is written.
#[derive(Debug, Clone, Copy)]
enum Addresses {
    /// `Name <email>`
    Plain,
    /// With quotes and encoded words, as Go prints an address.
    Rfc5322,
}

/// The values of a commit message template. It credits every author: what promoters don't take stays out of files only.
pub(super) fn message(origin: &Origin<'_>, branch: &BranchName, profile: Profile) -> Entries {
    let metadata = of_commit(origin, origin.commit.references.iter(), Addresses::Plain, profile);
    vec![
        ("branch", Json::text(branch.as_str())),
        ("dryBranch", Json::text(origin.branch.as_str())),
        ("dryShortSHA", Json::text(short(origin.commit.id))),
        ("metadata", Json::Object(metadata)),
    ]
}

/// Reference: argo-cd 3.6 util/hydrator/hydrator.go `HydratorCommitMetadata`, in its order.
fn of_commit<'a>(
    origin: &Origin<'_>,
    references: impl Iterator<Item = &'a Reference>,
    addresses: Addresses,
    profile: Profile,
) -> Entries {
    let (subject, body) = match profile {
        Profile::Proposal => (&origin.commit.subject, &origin.commit.body),
        Profile::Argocd => (&origin.commit.argocd.subject, &origin.commit.argocd.body),
    };
    let references = references.map(|reference| referenced(reference, addresses));
    vec![
        ("repoURL", Json::text(origin.repo_url)),
        ("drySha", Json::text(origin.commit.id.to_string())),
        ("author", Json::text(&origin.commit.author)),
        ("date", Json::text(origin.commit.shown_date.rfc3339())),
        ("subject", Json::text(subject)),
        ("body", Json::text(body)),
        ("references", Json::List(references.collect())),
    ]
}

fn referenced(reference: &Reference, addresses: Addresses) -> Json {
    let author = match (&reference.author, addresses) {
        (Some(author), Addresses::Plain) => author.plain(),
        (Some(author), Addresses::Rfc5322) => author.rfc5322(),
        (None, _) => String::new(),
    };
    let commit = vec![
        ("author", Json::text(author)),
        ("date", Json::text(reference.date.map(Time::rfc3339).unwrap_or_default())),
        ("subject", Json::text(&reference.subject)),
        ("body", Json::text(&reference.body)),
        ("sha", Json::text(&reference.commit)),
        ("repoUrl", Json::text(&reference.repo_url)),
    ];
    Json::Object(vec![("commit", Json::Object(commit))])
}

/// The first 7 digits of an id.
fn short(id: ObjectId) -> String {
    id.to_string().chars().take(7).collect()
}
