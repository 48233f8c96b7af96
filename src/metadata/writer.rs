//! The files of a hydrated commit and its message.

use std::collections::BTreeMap;

use crate::application::{AppName, BranchName, Profile};
use crate::diag::Diagnostic;
use crate::git::{ObjectId, Signature};
use crate::manifest::{self, Manifest};

use super::dry::DryCommit;
use super::json::Json;
use super::message::{self, Trailers};
use super::reference::Reference;
use super::settings::Settings;
use super::template::Template;
use super::{ENGINE_REVISION, Time, url};

/// The settings file that holds the template of the README in each destination path.
pub const README_TEMPLATE: &str = "README.md.j2";
/// The settings file that holds the template of the commit message.
pub const COMMIT_MESSAGE_TEMPLATE: &str = "commit-message.j2";

/// The README of the Manifest Hydrator proposal; what it prints is the proposal's sample.
pub const PROPOSAL_README: &str = include_str!("templates/proposal-README.md.j2");
/// The README of Argo CD's own hydrator, 3.6.
pub const ARGOCD_README: &str = include_str!("templates/argocd-README.md.j2");
/// The commit message of Argo CD's own hydrator, 3.6, in both profiles. Our trailers are added to any message.
pub const DEFAULT_COMMIT_MESSAGE: &str = include_str!("templates/commit-message.j2");

/// The values of a README template: each name, and what it holds. All are always there, empty ones too.
///
/// In the profile `proposal`, `hydrator.metadata` of the destination path holds the same under the same names.
pub const README_VALUES: &[(&str, &str)] = &[
    ("repoURL", "the repository of the dry commit"),
    ("drySha", "the full id of the dry commit"),
    ("commands", "a list: the commands that render the same with the official tools"),
    ("repoName", "the directory that `git clone` makes of repoURL"),
    ("dryShortSHA", "the first 7 digits of drySha"),
    ("dryBranch", "the branch of the dry commit"),
    ("applications", "a list: each with metadata.name and metadata.namespace"),
    ("commitAuthor", "`Name <email>` of the dry commit's author"),
    ("commitMessage", "the first line of the dry commit's message"),
    ("commitTime", "when the dry commit was committed: `2024-03-27 10:32:04 UTC`"),
];

/// The values of a commit message template: each name, and what it holds. All are always there, empty ones too.
pub const COMMIT_MESSAGE_VALUES: &[(&str, &str)] = &[
    ("branch", "the branch that the commit is made on"),
    ("dryBranch", "the branch of the dry commit"),
    ("dryShortSHA", "the first 7 digits of metadata.drySha"),
    (
        "metadata",
        "of the dry commit: repoURL, drySha, author, date, subject, body and the list references, each with commit.author, \
         date, subject, body, sha and repoUrl",
    ),
];

/// The files of one directory, by name. All are plain files.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The dry commit that is hydrated, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The repository, as Applications know it.
    pub repo_url: &'a str,
    /// The dry branch.
    pub branch: &'a BranchName,
    /// The dry commit.
    pub commit: &'a DryCommit,
}

/// What is written into one destination path.
#[derive(Debug, Clone, Copy)]
pub struct PathContent<'a> {
    /// The Applications that are rendered into it, each with its namespace; one, unless another hydrator calls us.
    pub applications: &'a [(&'a AppName, Option<&'a AppName>)],
    /// `manifest.yaml`, as [`Writer::manifest`] makes it.
    pub manifest: &'a [u8],
    /// The commands that render the same with the official tools.
    pub commands: &'a [String],
    /// Whether a promotion strategy promotes this very path on its own, and so reads its `hydrator.metadata`.
    pub is_active_path: bool,
}

/// Makes every byte of hydrated commits under one choice of settings.
#[derive(Debug)]
pub struct Writer {
    settings: Settings,
    readme: Template,
    message: Template,
}

impl Writer {
    /// Compiles the templates of the settings. An error is a mistake in one of them.
    pub fn new(settings: Settings) -> Result<Self, Diagnostic> {
        let default = match settings.profile {
            Profile::Proposal => PROPOSAL_README,
            Profile::Argocd => ARGOCD_README,
        };
        Ok(Self {
            readme: Template::new(README_TEMPLATE, settings.readme_template.as_deref().unwrap_or(default))?,
            message: Template::new(
                COMMIT_MESSAGE_TEMPLATE,
                settings.commit_message_template.as_deref().unwrap_or(DEFAULT_COMMIT_MESSAGE),
            )?,
            settings,
        })
    }

    /// `manifest.yaml` for the objects of one destination path, given in the order of its renderer.
    ///
    /// `proposal` sorts them. `argocd` keeps their order and does to each what setting and removing Argo CD's tracking
    /// id does.
    pub fn manifest(&self, mut manifests: Vec<Manifest>) -> Vec<u8> {
        match self.settings.profile {
            Profile::Proposal => manifest::sort(&mut manifests),
            Profile::Argocd => manifests.iter_mut().for_each(Manifest::remove_tracking),
        }
        manifest::encode(&manifests)
    }

    /// The files of one destination path: `manifest.yaml`, `README.md`, `hydrator.metadata`.
    ///
    /// Fails only by the README template of the settings.
    pub fn files_for_path(&self, content: &PathContent<'_>, origin: &Origin<'_>) -> Result<Files, Diagnostic> {
        let values = Json::Object(readme_values(content, origin));
        let readme = self.readme.render(&values).map_err(|error| with_names(error, README_VALUES))?;
        let metadata = self.path_metadata(content, origin).without_empty().pretty();
        Ok(files([
            ("manifest.yaml", content.manifest.to_vec()),
            ("README.md", readme.into_bytes()),
            ("hydrator.metadata", metadata),
        ]))
    }

    /// The files at the root of a branch that is promoted as a whole: `hydrator.metadata`, `.gitattributes`.
    pub fn files_for_root(&self, origin: &Origin<'_>) -> Files {
        let mut files = self.files_for_active_path(origin);
        files.insert(".gitattributes".to_owned(), GITATTRIBUTES.to_vec());
        files
    }

    /// The files at an active path that is no destination path itself: `hydrator.metadata`.
    ///
    /// Nothing at the root goes with it: two strategies would meet there at each merge.
    pub fn files_for_active_path(&self, origin: &Origin<'_>) -> Files {
        let metadata = Json::Object(self.commit_metadata(origin)).without_empty().pretty();
        files([("hydrator.metadata", metadata)])
    }

    /// The message of a hydrated commit on `branch`, with our trailers at its end.
    ///
    /// Fails only by the commit message template of the settings.
    pub fn commit_message(
        &self,
        origin: &Origin<'_>,
        branch: &BranchName,
        settings_commit: Option<ObjectId>,
    ) -> Result<String, Diagnostic> {
        let values = Json::Object(message_values(origin, branch));
        let text = self.message.render(&values).map_err(|error| with_names(error, COMMIT_MESSAGE_VALUES))?;
        let text = message::clean(&text);
        if text.is_empty() {
            let error = format!("the template {COMMIT_MESSAGE_TEMPLATE} of the settings: it makes an empty message");
            return Err(
                Diagnostic::error(error).hint("`{{ dryShortSHA }}: {{ metadata.subject }}` is what Argo CD has")
            );
        }
        Ok(message::with_trailers(&text, &trailers(origin, branch, settings_commit)))
    }

    /// The message of the empty commit that a missing sync branch starts with.
    pub fn initial_message(
        &self,
        origin: &Origin<'_>,
        branch: &BranchName,
        settings_commit: Option<ObjectId>,
    ) -> String {
        let text = format!("Initial commit for {}\n", branch.as_str());
        message::with_trailers(&text, &trailers(origin, branch, settings_commit))
    }

    /// The author and committer of a hydrated commit, with its date: see [`commit_date`].
    pub fn signature(&self, dry_date: Time, parent: Option<&Signature>) -> Signature {
        let time = commit_date(dry_date, parent.map(Time::of));
        Signature {
            name: self.settings.identity.name().to_owned(),
            email: self.settings.identity.email().to_owned(),
            seconds: time.seconds(),
            offset: i32::from(time.offset_minutes()) * 60,
        }
    }

    fn path_metadata(&self, content: &PathContent<'_>, origin: &Origin<'_>) -> Json {
        let values = readme_values(content, origin);
        let own = match self.settings.profile {
            Profile::Proposal => values,
            Profile::Argocd => values.into_iter().take(3).collect(),
        };
        if !content.is_active_path {
            return Json::Object(own);
        }
        let mut all = self.commit_metadata(origin);
        for (key, value) in own {
            match all.iter().position(|(found, _)| *found == key) {
                Some(_) => {}
                None => all.push((key, value)),
            }
        }
        Json::Object(all)
    }

    /// Reference: argo-cd 3.6 util/hydrator/hydrator.go `HydratorCommitMetadata`, in its order.
    fn commit_metadata(&self, origin: &Origin<'_>) -> Vec<(&'static str, Json)> {
        let references = origin.commit.references.iter().filter(|reference| reference.is_strict());
        metadata_values(origin, references, self.settings.profile)
    }
}

/// The date of a hydrated commit: the dry commit's, on its clock, but never before the parent's.
///
/// Promoters take the newest hydrated commit by this date, so that it may not go backwards on a branch.
pub fn commit_date(dry: Time, parent: Option<Time>) -> Time {
    let seconds = parent.map_or(dry.seconds(), |parent| parent.seconds().max(dry.seconds()));
    Time::new(seconds, dry.offset_minutes())
}

/// Reference: argo-cd 3.6 commitserver/commit/hydratorhelper.go, without a final newline as there.
const GITATTRIBUTES: &[u8] = b"**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true";

fn files<const N: usize>(files: [(&str, Vec<u8>); N]) -> Files {
    files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect()
}

fn with_names(error: Diagnostic, values: &[(&str, &str)]) -> Diagnostic {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    error.hint(format!("it can use {}", names.join(", ")))
}

fn trailers(origin: &Origin<'_>, branch: &BranchName, settings_commit: Option<ObjectId>) -> Trailers {
    Trailers {
        branch: branch.clone(),
        dry_commit: origin.commit.id,
        dry_branch: origin.branch.clone(),
        settings_commit,
        engine: ENGINE_REVISION,
    }
}

/// The first three are all that Argo CD writes into a destination path.
fn readme_values(content: &PathContent<'_>, origin: &Origin<'_>) -> Vec<(&'static str, Json)> {
    let application = |&(name, namespace): &(&AppName, Option<&AppName>)| {
        let namespace = namespace.map(AppName::as_str).unwrap_or_default();
        let metadata = vec![("name", Json::text(name.as_str())), ("namespace", Json::text(namespace))];
        Json::Object(vec![("metadata", Json::Object(metadata))])
    };
    vec![
        ("repoURL", Json::text(origin.repo_url)),
        ("drySha", Json::text(origin.commit.id.to_string())),
        ("commands", Json::List(content.commands.iter().map(Json::text).collect())),
        ("repoName", Json::text(url::repository_name(origin.repo_url))),
        ("dryShortSHA", Json::text(short(origin.commit.id))),
        ("dryBranch", Json::text(origin.branch.as_str())),
        ("applications", Json::List(content.applications.iter().map(application).collect())),
        ("commitAuthor", Json::text(&origin.commit.author)),
        ("commitMessage", Json::text(&origin.commit.subject)),
        ("commitTime", Json::text(origin.commit.date.readable())),
    ]
}

/// A message credits every author; what promoters don't take stays out of files only.
fn message_values(origin: &Origin<'_>, branch: &BranchName) -> Vec<(&'static str, Json)> {
    let metadata = metadata_values(origin, origin.commit.references.iter(), Profile::Proposal);
    vec![
        ("branch", Json::text(branch.as_str())),
        ("dryBranch", Json::text(origin.branch.as_str())),
        ("dryShortSHA", Json::text(short(origin.commit.id))),
        ("metadata", Json::Object(metadata)),
    ]
}

fn metadata_values<'a>(
    origin: &Origin<'_>,
    references: impl Iterator<Item = &'a Reference>,
    profile: Profile,
) -> Vec<(&'static str, Json)> {
    let reference = |reference: &Reference| {
        let author = reference.author.as_ref().map(|author| match profile {
            Profile::Proposal => author.plain(),
            Profile::Argocd => author.rfc5322(),
        });
        let commit = vec![
            ("author", Json::text(author.unwrap_or_default())),
            ("date", Json::text(reference.date.map(Time::rfc3339).unwrap_or_default())),
            ("subject", Json::text(&reference.subject)),
            ("body", Json::text(&reference.body)),
            ("sha", Json::text(&reference.commit)),
            ("repoUrl", Json::text(&reference.repo_url)),
        ];
        Json::Object(vec![("commit", Json::Object(commit))])
    };
    vec![
        ("repoURL", Json::text(origin.repo_url)),
        ("drySha", Json::text(origin.commit.id.to_string())),
        ("author", Json::text(&origin.commit.author)),
        ("date", Json::text(origin.commit.date.rfc3339())),
        ("subject", Json::text(&origin.commit.subject)),
        ("body", Json::text(&origin.commit.body)),
        ("references", Json::List(references.map(reference).collect())),
    ]
}

/// The first 7 digits of an id.
fn short(id: ObjectId) -> String {
    id.to_string().chars().take(7).collect()
}

#[cfg(test)]
mod tests;
