//! The files of a hydrated commit and its message.

use std::collections::BTreeMap;

use crate::argo::{AppName, BranchName, HeldIdentity, Profile};
use crate::manifest::{self, Manifest};
use crate::repo::{ObjectId, Signature};
use crate::versions::Tools;
use dry_files::diag::Diagnostic;

use super::behind::{self, Behind};
use super::copied::{self, Followed};
use super::dry::DryCommit;
use super::json::Json;
use super::message::{self, Trailers};
use super::settings::Settings;
use super::template::Template;
use super::values::{self, COMMIT_MESSAGE_VALUES, Origin, PathContent, README_VALUES};
use super::{ENGINE_REVISION, Time, values_of_argocd};

/// The settings file with the template of the README in each destination path.
pub(crate) const README_TEMPLATE: &str = "README.md.j2";
/// The settings file with the template of the README in the language of Argo CD's own templates:
/// `sourceHydrator.readmeMessageTemplate` in `argocd-cm`.
pub(crate) const README_GO_TEMPLATE: &str = "README.tmpl";
/// The settings file with the template of the commit message.
pub(crate) const COMMIT_MESSAGE_TEMPLATE: &str = "commit-message.j2";
/// The settings file with the template of the commit message in the language of Argo CD's own templates:
/// `sourceHydrator.commitMessageTemplate` in `argocd-cm`.
pub(crate) const COMMIT_MESSAGE_GO_TEMPLATE: &str = "commit-message.tmpl";

/// The README of the Manifest Hydrator proposal; what it prints is the proposal's sample.
pub(crate) const PROPOSAL_README: &str = include_str!("templates/proposal-README.md.j2");
/// The README of Argo CD's own hydrator, 3.6.
pub(super) const ARGOCD_README: &str = include_str!("templates/argocd-README.md.j2");
/// The commit message of Argo CD's own hydrator, 3.6, in both profiles. Our trailers are added to any message.
pub(crate) const DEFAULT_COMMIT_MESSAGE: &str = include_str!("templates/commit-message.j2");
/// What makes of the values of Argo CD's templates the same README as [`ARGOCD_README`].
pub(crate) const GO_README: &str = include_str!("templates/README.tmpl");
/// What makes of the values of Argo CD's templates its commit message.
pub(crate) const DEFAULT_GO_COMMIT_MESSAGE: &str = include_str!("templates/commit-message.tmpl");

/// The files of one directory, by name. All are plain files.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Makes every byte of hydrated commits under one choice of settings.
#[derive(Debug)]
pub(crate) struct Writer {
    settings: Settings,
    readme: Template,
    message: Template,
    /// The revision of the engine whose dates are written.
    revision: u32,
}

/// The first revision for which dates never go back on a branch, and no two commits of one have one date.
const ORDERED_DATES_SINCE: u32 = 5;

impl Writer {
    /// Compiles the templates of the settings. An error is a mistake in one of them.
    pub(crate) fn new(settings: Settings) -> Result<Self, Diagnostic> {
        let default = match settings.profile {
            Profile::Proposal => PROPOSAL_README,
            Profile::Argocd => ARGOCD_README,
        };
        let readme = match &settings.readme_template {
            Some(file) => Template::new(file.name, &file.text)?,
            None => Template::of_ours(README_TEMPLATE, default),
        };
        let message = match &settings.commit_message_template {
            Some(file) => Template::new(file.name, &file.text)?,
            None => Template::of_ours(COMMIT_MESSAGE_TEMPLATE, DEFAULT_COMMIT_MESSAGE),
        };
        Ok(Self { readme, message, settings, revision: ENGINE_REVISION })
    }

    /// Dates commits as an engine of this revision does, to make one of its commits again.
    pub(crate) fn date_as(&mut self, revision: u32) {
        self.revision = revision;
    }

    /// Whether it writes as engines do since dates are in order, or as those before.
    pub(crate) fn has_ordered_dates(&self) -> bool {
        self.revision >= ORDERED_DATES_SINCE
    }

    /// Whether its bytes are those of Argo CD's own hydrator.
    pub(crate) fn is_as_argocd(&self) -> bool {
        self.settings.profile == Profile::Argocd
    }

    /// Whether the templates of the settings make something of a commit in which every value is set: a template that
    /// compiles may name a value that does not exist.
    pub(crate) fn check(&self) -> Result<(), Diagnostic> {
        let commit = DryCommit::sample();
        let (name, branch) = (AppName::new("web"), BranchName::new("main"));
        let (Ok(name), Ok(branch)) = (name, branch) else { return Ok(()) };
        let origin = Origin { repo_url: "https://git.example.com/team/config.git", branch: &branch, commit: &commit };
        let commands = ["helm template web .".to_owned()];
        let content = PathContent {
            applications: &[(&name, Some(&name))],
            commands: &commands,
            tools: Tools::default(),
            is_ours: true,
            is_active_path: false,
        };
        self.files_for_path(&content, &origin)?;
        self.commit_message(&origin, &branch, None, Stated::default())?;
        Ok(())
    }

    /// `manifest.yaml` for the objects of one destination path, given in the order of its renderer.
    ///
    /// `proposal` sorts them. `argocd` keeps their order and does to each what setting and removing Argo CD's tracking
    /// id does.
    pub(crate) fn manifest(&self, mut manifests: Vec<Manifest>) -> Vec<u8> {
        match self.settings.profile {
            Profile::Proposal => manifest::sort(&mut manifests),
            Profile::Argocd => manifests.iter_mut().for_each(Manifest::remove_tracking),
        }
        manifest::encode(&manifests)
    }

    /// The files of one destination path beside its `manifest.yaml`: `README.md`, `hydrator.metadata`.
    ///
    /// Fails only by the README template of the settings.
    pub(crate) fn files_for_path(&self, content: &PathContent<'_>, origin: &Origin<'_>) -> Result<Files, Diagnostic> {
        let jinja = || Json::Object(values::readme(content, origin));
        let readme = self.readme.render(jinja, || values_of_argocd::readme(content, origin));
        let readme = readme.map_err(|error| with_names(error, &self.readme, README_VALUES, GO_README_VALUES))?;
        let metadata = values::path_metadata(content, origin, self.settings.profile);
        Ok(files([
            ("README.md", readme.into_bytes()),
            ("hydrator.metadata", Json::Object(metadata).without_empty().pretty()),
        ]))
    }

    /// The files at the root of a branch that is promoted as a whole: `hydrator.metadata`, `.gitattributes`.
    ///
    /// `behind` are the paths that do not show the dry commit. Both profiles list them, though Argo CD's own hydrator knows
    /// no such list: who reads the file passes over keys that it does not know.
    pub(crate) fn files_for_root(&self, origin: &Origin<'_>, behind: &[Behind]) -> Files {
        let mut files = self.files_for_active_path(origin);
        if !behind.is_empty() {
            let mut metadata = values::commit_metadata(origin, self.settings.profile);
            metadata.push((behind::KEY, behind::written(behind)));
            files.insert("hydrator.metadata".to_owned(), Json::Object(metadata).without_empty().pretty());
        }
        files.insert(".gitattributes".to_owned(), GITATTRIBUTES.to_vec());
        files
    }

    /// The files at the root of a branch of copies, which follow these commits and lead there, by their directories:
    /// `hydrator.metadata`, `.gitattributes`, `README.md`; without the last where none of them comes, goes or leads elsewhere.
    pub(crate) fn files_for_copies(
        &self,
        origin: &Origin<'_>,
        followed: &[Followed],
        readme: Option<Vec<u8>>,
    ) -> Files {
        let mut metadata = values::commit_metadata(origin, self.settings.profile);
        metadata.push((copied::FOLLOWED, copied::written(followed)));
        let mut files = files([
            ("hydrator.metadata", Json::Object(metadata).without_empty().pretty()),
            (".gitattributes", GITATTRIBUTES.to_vec()),
        ]);
        files.extend(readme.map(|readme| ("README.md".to_owned(), readme)));
        files
    }

    /// The files at an active path that is no destination path itself: `hydrator.metadata`.
    ///
    /// Nothing at the root goes with it: two strategies would meet there at each merge.
    pub(crate) fn files_for_active_path(&self, origin: &Origin<'_>) -> Files {
        let metadata = values::commit_metadata(origin, self.settings.profile);
        files([("hydrator.metadata", Json::Object(metadata).without_empty().pretty())])
    }

    /// The message of a hydrated commit on `branch`, with our trailers at its end.
    ///
    /// Fails only by the commit message template of the settings.
    pub(crate) fn commit_message(
        &self,
        origin: &Origin<'_>,
        branch: &BranchName,
        settings_commit: Option<ObjectId>,
        stated: Stated,
    ) -> Result<String, Diagnostic> {
        let jinja = || Json::Object(values::message(origin, branch, self.settings.profile));
        let text = self.message.render(jinja, || values_of_argocd::message(origin));
        let text =
            text.map_err(|error| with_names(error, &self.message, COMMIT_MESSAGE_VALUES, GO_COMMIT_MESSAGE_VALUES))?;
        let text = message::clean(&text);
        if text.is_empty() {
            let file = self.settings.commit_message_template.as_ref().map_or(COMMIT_MESSAGE_TEMPLATE, |file| file.name);
            let error = format!("the template {file} of the settings: its message is empty");
            return Err(Diagnostic::error(error).hint(match &self.message {
                Template::Jinja(_) => "the default of Argo CD is `{{ dryShortSHA }}: {{ metadata.subject }}`",
                Template::Go(_) => {
                    "the default of Argo CD is `{{ .metadata.drySha | trunc 7 }}: {{ \
                .metadata.subject }}`"
                }
            }));
        }
        let Stated { identities, inputs, held } = stated;
        let trailers = Trailers { identities, inputs, held, ..trailers(origin, branch, settings_commit) };
        Ok(message::with_trailers(&text, &trailers))
    }

    /// The message of the empty commit that a missing sync branch starts with.
    pub(crate) fn initial_message(
        &self,
        origin: &Origin<'_>,
        branch: &BranchName,
        settings_commit: Option<ObjectId>,
    ) -> String {
        let text = format!("Initial commit for {}\n", branch.as_str());
        message::with_trailers(&text, &trailers(origin, branch, settings_commit))
    }

    /// The author and committer of a hydrated commit, with its date: see [`commit_date`].
    pub(crate) fn signature(&self, dry_date: Time, parent: Option<&Signature>) -> Signature {
        let step = i64::from(self.has_ordered_dates());
        let time = commit_date(dry_date, parent.map(Time::of), step);
        Signature {
            name: self.settings.identity.name().to_owned(),
            email: self.settings.identity.email().to_owned(),
            seconds: time.seconds(),
            offset: i32::from(time.offset_minutes()) * 60,
        }
    }
}

/// The date of a hydrated commit: the dry commit's, on its clock, but at least `step` seconds after the parent's.
///
/// Promoters take the newest hydrated commit by this date, so that it may not go backwards on a branch, nor be that of another
/// commit.
pub(super) fn commit_date(dry: Time, parent: Option<Time>, step: i64) -> Time {
    let seconds = parent.map_or(dry.seconds(), |parent| parent.seconds().saturating_add(step).max(dry.seconds()));
    Time::new(seconds, dry.offset_minutes())
}

/// Reference: argo-cd 3.6 commitserver/commit/hydratorhelper.go, without a final newline as there.
const GITATTRIBUTES: &[u8] = b"**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true";

fn files<const N: usize>(files: [(&str, Vec<u8>); N]) -> Files {
    files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect()
}

/// What a template can use, for a hint.
const GO_README_VALUES: &str = ".RepoURL, .DrySHA and .Commands";
const GO_COMMIT_MESSAGE_VALUES: &str = ".metadata with repoURL, drySha, author, date, subject, body and references";

fn with_names(error: Diagnostic, template: &Template, values: &[(&str, &str)], of_go: &str) -> Diagnostic {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    match template {
        Template::Jinja(_) => error.hint(format!("it can use {}", names.join(", "))),
        Template::Go(_) => error.hint(format!("it can use {of_go}")),
    }
}

/// What only some commits say of themselves: see [`Trailers`].
#[derive(Debug, Default)]
pub(crate) struct Stated {
    pub identities: Vec<HeldIdentity>,
    pub inputs: Option<ObjectId>,
    pub held: Vec<String>,
}

/// The trailers that every commit has.
pub(super) fn trailers(origin: &Origin<'_>, branch: &BranchName, settings_commit: Option<ObjectId>) -> Trailers {
    Trailers {
        branch: branch.clone(),
        dry_commit: origin.commit.id,
        defined: origin.commit.defined.clone(),
        dry_branch: origin.branch.clone(),
        settings_commit,
        identities: Vec::new(),
        inputs: None,
        rollback: None,
        held: Vec::new(),
        copied: Vec::new(),
        engine: ENGINE_REVISION,
    }
}

#[cfg(test)]
mod tests;
