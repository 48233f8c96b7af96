//! The settings that shape the bytes of hydrated commits: the files in the tree of `refs/hydrate/config`.
//!
//! They live in git, with history and author, and travel by fetch, so a laptop and the server render alike. Without
//! any setting everything works. Settings of one machine (paths of tools, limits, logs) are git config `hydrate.*`
//! and not here.
//!
//! | file | contains |
//! |---|---|
//! | `settings.yaml` | [`Settings`] but for the templates; unknown keys are refused |
//! | `README.md.j2` | the minijinja template of the README in each destination path |
//! | `README.tmpl` | the same as Argo CD's own Go template, in place of it |
//! | `commit-message.j2` | the minijinja template of the commit message |
//! | `commit-message.tmpl` | the same as Argo CD's own Go template, in place of it |
//! | `hold.yaml` | [`Holds`]: no change of these settings, as far as hydrated commits name them |
//! | `seed`, `seed.kept` | [`Seeds`], which are never shown |

pub(crate) mod argocd_cm;
mod build_options;
mod by_branch;
mod deserialize;
pub(crate) mod edit;
mod error;
mod field;
mod frozen;
mod hold;
mod on_failure;
mod read;
pub(crate) mod reader;
mod scalar;
mod seeds;
mod shape;
pub(crate) mod tools;
mod validate;
mod value;

use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use crate::argo::parent::Root;
use crate::argo::{BranchName, Destinations, Profile, Rule, RuleSet, ToolSettings};
use crate::metadata::{
    self, COMMIT_MESSAGE_GO_TEMPLATE, COMMIT_MESSAGE_TEMPLATE, README_GO_TEMPLATE, README_TEMPLATE, TemplateFile,
};
use field::{a_path, active_paths, branches, inputs_dir, is_default, one_branch, one_or_many, paths, written_branches};
use inputs::InputsDir;

use crate::versions::Kubernetes;

pub(crate) use build_options::{BuildOptions, KustomizeSettings};
use by_branch::ByBranch;
pub(crate) use error::SettingsError;
pub(crate) use frozen::{Freeze, Frozen, is_past};
pub(crate) use hold::{Hold, Holds, covers, is_name_of};
pub(crate) use on_failure::{Held, OnFailure};
pub(crate) use seeds::{SECRET_FILES, SEED_FILE, Seeds};
#[cfg(test)]
pub(crate) use shape::keys;
pub(crate) use shape::{is_setting, unknown_key};
pub(crate) use validate::Validate;
pub(crate) use value::{Data, Mapping, Value};

/// The ref whose tree contains the settings.
pub(crate) const SETTINGS_REF: &str = "refs/hydrate/config";

/// The last settings that a clone made, until its remote has them: no fetch by default writes there.
pub(crate) const UNPUSHED_REF: &str = "refs/hydrate-unpushed/config";

/// Below it is a ref for each commit of settings that a hydrated commit names and `refs/hydrate/config` no longer leads to. Its
/// name is the id.
pub(crate) const KEPT_SETTINGS: &str = "refs/hydrate/settings/";

/// The file with everything but the templates.
pub(crate) const SETTINGS_FILE: &str = "settings.yaml";

/// The file with what is held.
pub(crate) const HOLD_FILE: &str = "hold.yaml";

/// The names of the files that may be shown, in the order of the table above.
pub(crate) const FILES: [&str; 6] = [
    SETTINGS_FILE,
    README_TEMPLATE,
    README_GO_TEMPLATE,
    COMMIT_MESSAGE_TEMPLATE,
    COMMIT_MESSAGE_GO_TEMPLATE,
    HOLD_FILE,
];

/// Whether a folder of settings may have a file of this name.
pub(crate) fn is_settings_file(name: &str) -> bool {
    FILES.contains(&name) || SECRET_FILES.contains(&name)
}

/// How large each of them may be.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;

/// The files of a settings folder by name.
pub type SettingsFiles = BTreeMap<String, Vec<u8>>;

/// What an admin has set. Keys of `settings.yaml` are written in camel case, as in an Application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// The URLs under which Applications know this repository: `drySource.repoURL` must be one of them. Inferred from
    /// the Applications while it is empty.
    #[serde(rename = "repoURL", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub repo_urls: Vec<String>,
    /// Path globs of the files that may contain Applications; every file while it is empty.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<String>,
    /// The dry branches, the default one (`HEAD` as a `targetRevision`) first. The first hydration sets them while they
    /// are not set.
    #[serde(deserialize_with = "branches", skip_serializing_if = "Vec::is_empty")]
    pub dry_branches: Vec<BranchName>,
    /// Whether Applications that ApplicationSets make are hydrated. The first hydration of a repository sets it; not set, it
    /// is one that was hydrated before there was the setting, and they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_applications: Option<bool>,
    /// Whether the sources of an Application may be those of a tag, of the highest tag in a range, or of a commit. Not set, the
    /// repository is one from before there was the setting, and they may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revisions: Option<bool>,
    /// Files of the dry tree with lists of the clusters that Argo CD knows.
    #[serde(deserialize_with = "paths", skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<RepoPath>,
    /// Applications that live in the cluster only and render others: "app of apps".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<Root>,
    /// Which Applications without `spec.sourceHydrator` are hydrated, and where to. The first that matches decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Other repositories that hydration may write to, by name: `syncSource.repoURL` chooses among their URLs.
    #[serde(skip_serializing_if = "Destinations::is_empty")]
    pub destinations: Destinations,
    /// The branch that gets copies of all hydrated Applications, each of which leads to what was hydrated of it; none are made
    /// while it is not set.
    #[serde(deserialize_with = "one_branch", skip_serializing_if = "Option::is_none")]
    pub applications_to: Option<BranchName>,
    /// The namespace of Argo CD, where the Secrets of its clusters are; `argocd` while it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argocd_namespace: Option<String>,
    /// What is said of ApplicationSets by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub application_sets: BTreeMap<String, ApplicationSetSettings>,
    /// The directory for what `git hydrate vendor` brings here and no tool looks for at a place of its own.
    #[serde(deserialize_with = "inputs_dir", skip_serializing_if = "is_default")]
    pub vendor_directory: InputsDir,
    /// Globs of the branches that hydration may write; every branch while it is empty.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// Names of fields that other programs read: as unknown fields of an Application they are passed over without a word.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub known_fields: Vec<String>,
    /// Branches that hydration may take over although somebody else made them.
    #[serde(deserialize_with = "written_branches", skip_serializing_if = "Vec::is_empty")]
    pub adopt: Vec<BranchName>,
    /// Active branches (`syncSource.targetBranch`) that promotion strategies share, each with the directories
    /// (`activePath`) that one strategy promotes.
    #[serde(deserialize_with = "active_paths", skip_serializing_if = "BTreeMap::is_empty")]
    pub active_paths: BTreeMap<BranchName, Vec<RepoPath>>,
    /// What becomes of a branch of which an Application fails.
    #[serde(skip_serializing_if = "is_default")]
    pub on_failure: OnFailure,
    /// Branches that get no commit for a time.
    #[serde(skip_serializing_if = "Frozen::is_empty")]
    pub frozen: Frozen,
    /// Whose rules apply where the proposal and Argo CD's own hydrator differ.
    #[serde(skip_serializing_if = "is_default")]
    pub profile: ProfileName,
    /// Which dry commits get a hydrated commit.
    #[serde(skip_serializing_if = "is_default")]
    pub history: History,
    /// What renders Helm charts and kustomizations.
    #[serde(skip_serializing_if = "is_default")]
    pub renderer: RendererName,
    /// What is said of Kustomize.
    #[serde(skip_serializing_if = "is_default")]
    pub kustomize: KustomizeSettings,
    /// Who makes the hydrated commits; `git-hydrate` while it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Template functions that may run although their results differ from render to render: here they draw from
    /// [`Settings::seeds`], so that results repeat.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub nondeterministic: Vec<String>,
    /// How much one dry commit may remove without saying so.
    #[serde(skip_serializing_if = "is_default")]
    pub removal_limit: RemovalLimit,
    /// What a dry commit may take where that decides about its result.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// The versions of the tools that are rendered as, by branch, which `exec` runs and recorded commands mean.
    #[serde(skip_serializing_if = "ToolSettings::is_empty")]
    pub tools: ToolSettings,
    /// What becomes of objects that an API server would refuse, by branch. No byte of a branch depends on it, nor on the next three.
    #[serde(skip_serializing_if = "is_default")]
    pub validate: ByBranch<Validate>,
    /// The version of Kubernetes of the cluster that a branch is deployed to, where no list of clusters has it.
    #[serde(skip_serializing_if = "is_default")]
    pub kubernetes: ByBranch<Kubernetes>,
    /// Files and directories of the dry tree with CRDs of the clusters, beside those on a branch.
    #[serde(deserialize_with = "paths", skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<RepoPath>,
    /// Names of warnings of what an API server takes that are not told.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub silent_warnings: Vec<String>,
    /// What random functions draw from.
    #[serde(skip)]
    pub seeds: Seeds,
    /// `README.md.j2` or `README.tmpl`.
    #[serde(skip)]
    pub readme_template: Option<TemplateFile>,
    /// `commit-message.j2` or `commit-message.tmpl`.
    #[serde(skip)]
    pub commit_message_template: Option<TemplateFile>,
}

/// What is said of one ApplicationSet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApplicationSetSettings {
    /// The file of the dry tree with what was recorded of its generators that git cannot answer.
    #[serde(deserialize_with = "a_path")]
    pub parameters: RepoPath,
}

/// [`Profile`] as it is written in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    /// [`Profile::Proposal`]
    #[default]
    Proposal,
    /// [`Profile::Argocd`]
    Argocd,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Proposal => Profile::Proposal,
            ProfileName::Argocd => Profile::Argocd,
        }
    }
}

/// Which dry commits get a hydrated commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum History {
    /// Every commit on the first-parent line of the dry branch.
    #[default]
    Every,
    /// The tip of each push only.
    Tip,
}

/// What renders Helm charts and kustomizations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum RendererName {
    /// Our own engines, in the same process.
    #[default]
    Native,
    /// The official tools, confined.
    Exec,
}

/// A name and an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// How much one dry commit may remove from a branch without saying so in a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct RemovalLimit {
    /// The share of a branch's destination paths, from 0 to 1: more than this needs the trailer.
    pub share: f64,
    /// So many paths are never too many, whatever their share; emptying a branch needs the trailer all the same.
    pub at_least: usize,
    /// The share of a branch's objects, from 0 to 1, that Applications which stay may lose: this many need the trailer, and
    /// so does an Application that loses its last object. 1 turns both off.
    pub object_share: f64,
    /// So few objects are never too many, whatever their share: a component that is switched off takes some with it. An
    /// Application that loses its last object needs the trailer all the same.
    pub objects_at_least: usize,
}

impl Default for RemovalLimit {
    fn default() -> Self {
        Self { share: 0.5, at_least: 3, object_share: 0.5, objects_at_least: 10 }
    }
}

/// What a dry commit may take: limits that decide whether it renders, and so must be the same wherever it is hydrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// The Applications of one dry tree.
    pub applications: usize,
    /// How many environment branches one dry branch may feed, some of which are new.
    pub branches: usize,
    /// How many Applications may render one another in a row.
    pub made_depth: usize,
    /// How many Applications of one dry tree may be rendered for what they make.
    pub makers: usize,
    /// What the templates of one chart execute: nodes and iterations.
    pub template_steps: u64,
    /// What they make in total, in bytes.
    pub template_bytes: u64,
    /// The YAML nodes of one build of kustomizations.
    pub kustomization_nodes: usize,
    /// The text that it makes in total, in bytes.
    pub kustomization_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            applications: 100_000,
            branches: 1000,
            made_depth: 8,
            makers: 1000,
            template_steps: 200_000_000,
            template_bytes: 128 << 20,
            kustomization_nodes: 3_000_000,
            kustomization_bytes: 192 << 20,
        }
    }
}

impl Settings {
    /// The part that the bytes of hydrated files depend on.
    pub(crate) fn metadata(&self) -> Result<metadata::Settings, SettingsError> {
        let author = self.author.as_ref();
        let identity = metadata::Identity::new(
            author.map(|author| author.name.as_str()),
            author.map(|author| author.email.as_str()),
        );
        Ok(metadata::Settings {
            profile: self.profile.into(),
            readme_template: self.readme_template.clone(),
            commit_message_template: self.commit_message_template.clone(),
            identity: identity.map_err(|error| SettingsError::Wrong(format!("author: {error}")))?,
        })
    }

    /// Whether what is hydrated onto a branch, whose deployed branch is `sync`, from the same dry commit with either has the same
    /// bytes: they differ at most in which branches are read and written, and in what is allowed.
    pub(crate) fn makes_the_same_as(&self, other: &Self, (branch, sync): (&BranchName, &BranchName)) -> bool {
        self.tools.of(branch, sync) == other.tools.of(branch, sync) && self.of_bytes() == other.of_bytes()
    }

    /// Whether what is hydrated onto any branch with either has the same bytes.
    pub(crate) fn makes_all_the_same_as(&self, other: &Self) -> bool {
        self.tools == other.tools && self.of_bytes() == other.of_bytes()
    }

    /// What results depend on, as a text, but for the tools, which each Application has.
    pub(crate) fn basis(&self) -> String {
        let basis = Self { tools: ToolSettings::default(), ..self.without_judgement() };
        serde_json::to_string(&basis).unwrap_or_default()
    }

    /// Whether the same Applications are hydrated with either, to the same bytes. When, and how much may go at once, may differ.
    pub(crate) fn hydrates_as(&self, other: &Self) -> bool {
        self.of_result() == other.of_result()
    }

    /// The settings that decide what is hydrated; the others are unset.
    fn of_result(&self) -> Self {
        Self {
            known_fields: Vec::new(),
            adopt: Vec::new(),
            history: History::default(),
            frozen: Frozen::default(),
            removal_limit: RemovalLimit::default(),
            limits: Limits::default(),
            ..self.without_judgement()
        }
    }

    /// All but those by which objects are judged: they decide at most whether a push goes in.
    fn without_judgement(&self) -> Self {
        Self {
            validate: ByBranch::default(),
            kubernetes: ByBranch::default(),
            crds: Vec::new(),
            silent_warnings: Vec::new(),
            ..self.clone()
        }
    }

    /// The settings that decide about the bytes of all branches; the others are unset.
    fn of_bytes(&self) -> Self {
        let has_copies = self.applications_to.is_some();
        Self {
            repo_urls: Vec::new(),
            applications: Vec::new(),
            dry_branches: Vec::new(),
            made_applications: None,
            revisions: None,
            roots: Vec::new(),
            // With copies, they decide about what an Application renders that makes others.
            rules: if has_copies { self.rules.clone() } else { Vec::new() },
            // The same of the URLs that copies lead to.
            destinations: if has_copies { self.destinations.clone() } else { Destinations::default() },
            argocd_namespace: None,
            application_sets: BTreeMap::new(),
            branches: Vec::new(),
            known_fields: Vec::new(),
            adopt: Vec::new(),
            history: History::default(),
            on_failure: OnFailure::default(),
            frozen: Frozen::default(),
            removal_limit: RemovalLimit::default(),
            limits: Limits::default(),
            tools: ToolSettings::default(),
            ..self.without_judgement()
        }
    }

    /// Whether what makes Applications makes the same ones with either, and the same ones are of this repository.
    pub(crate) fn finds_as(&self, other: &Self) -> bool {
        (&self.repo_urls, &self.clusters, &self.roots) == (&other.repo_urls, &other.clusters, &other.roots)
            && self.application_sets == other.application_sets
            && self.argocd_namespace == other.argocd_namespace
    }

    /// The rules, with what they know of the repository.
    pub(crate) fn rule_set(&self) -> RuleSet {
        let rules = RuleSet::new(&self.rules, &self.repo_urls).with_inputs_in(self.vendor_directory.clone());
        let rules = rules.with_destinations(self.destinations.clone()).with_tools(self.tools.clone());
        let rules = rules.with_kustomize_plugins(self.kustomize.plugins.clone());
        let instance = |root: &Root| Some((root.name.clone(), root.instance.clone()?));
        let rules = rules.with_instances(self.roots.iter().filter_map(instance).collect());
        rules.with_known_fields(self.known_fields.clone())
    }

    /// Whether several dry branches may write `branch`, or several promotion strategies promote it: each has paths of its own.
    pub(crate) fn is_shared(&self, branch: &BranchName) -> bool {
        !self.active_paths(branch).is_empty()
    }

    /// The directories that are promoted on their own on `branch`; none on a branch that is promoted as a whole.
    ///
    /// The setting names the active branch, `env/dev`. Its proposed branches are `env/dev-next`, with all of its
    /// directories, and `env/dev-next/DIR` with that one.
    ///
    /// Reference: GitOps Promoter api/v1alpha1 `PromotionStrategy`, whose names of proposed branches are fixed.
    pub(crate) fn active_paths(&self, branch: &BranchName) -> &[RepoPath] {
        if let Some(paths) = self.active_paths.get(branch) {
            return paths;
        }
        let next = |active: &BranchName| branch.as_str().strip_prefix(active.as_str())?.strip_prefix("-next");
        let found = self.active_paths.iter().find_map(|(active, paths)| Some((next(active)?, paths)));
        let Some((rest, paths)) = found else { return &[] };
        if rest.is_empty() {
            return paths;
        }
        let dir = rest.strip_prefix('/').unwrap_or_default();
        paths.iter().find(|path| path.as_str() == dir).map_or(&[], std::slice::from_ref)
    }
}

#[cfg(test)]
mod tests;
