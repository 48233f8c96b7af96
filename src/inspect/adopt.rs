//! What a repository needs to be hydrated as it is: settings to write, inputs to bring, and what stays in the way.
//!
//! The Applications are judged and rendered with the settings that there are and those that are proposed. While no rule
//! says where plain Applications go, a rule that is never written leads each to a path of its own, so that it is known what renders.

mod apart;
mod branches;
mod build_options;
mod capabilities;
mod clusters;
mod copies;
mod draft;
mod dry_branches;
mod hydrators;
mod inputs;
mod instances;
mod on_failure;
mod patterns;
mod plain_kustomize;
mod plugins;
mod random;
mod repository;
mod roots;
mod second;
mod strays;
mod units;
mod unnamed;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, Span, printable};
use dry_files::path::RepoPath;
use serde::Serialize;

use super::check::{CheckFinding, Findings, Judged, Tree, judged_by};
use crate::argo::{Application, By, Rule as PlainRule, Standing};
use crate::manifest::Manifest;
use crate::owners::error::HydrateError;
use crate::owners::setup::Observer;
use crate::render::Renderers;
use crate::settings::SettingsFiles;
use draft::Draft;

pub(crate) use self::inputs::NeededInput;
pub(crate) use branches::OtherBranch;
pub(crate) use clusters::UnknownClusters;
pub(crate) use draft::ProposedSetting;
pub(crate) use hydrators::{HydratorFile, Hydrators, source_hydrators};
pub(crate) use patterns::BranchPattern;
pub(crate) use units::{AdoptedApplication, Cause};
pub(crate) use unnamed::Unnamed;

/// How many plugins are named.
const PLUGINS_NAMED: usize = 8;

/// What the user asks for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Rules for all plain Applications: the first, and those for what the ones before have no branch for.
    pub rules: Vec<PlainRule>,
    /// URLs by which Applications know the repository.
    pub repo_urls: Vec<String>,
    /// The URL of the clone's remote.
    pub remote_url: Option<String>,
    /// Directories that Applications of the cluster only render.
    pub roots: Vec<RepoPath>,
}

/// What was found, and what is proposed.
#[derive(Debug, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Adoption {
    /// The branch that the tree was taken for the tip of.
    pub dry_branch: String,
    /// How many Applications hydrate with the settings that there are and those that are proposed.
    pub hydrate: usize,
    /// All of them, by file, then by name.
    pub applications: Vec<AdoptedApplication>,
    /// Whether there are plain Applications, and no rule that says where they go.
    pub needs_rules: bool,
    /// The settings to write.
    pub settings: Vec<ProposedSetting>,
    /// The other dry branches that Applications name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_branches: Vec<OtherBranch>,
    /// Where plain Applications may go, best first; empty when that is known.
    pub branch_patterns: Vec<BranchPattern>,
    /// What is needed from elsewhere and is not here.
    pub inputs: Vec<NeededInput>,
    /// Clusters that something asks for and of which nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<UnknownClusters>,
    /// Why it is not known which Applications there are.
    pub unknown: Vec<Diagnostic>,
    /// What else is worth a look.
    pub notes: Vec<Diagnostic>,
    /// What is wrong or odd, as `git hydrate check` reports it.
    pub findings: Vec<CheckFinding>,
    /// What no Application names.
    #[serde(flatten)]
    pub unnamed: Unnamed,
    /// The folder of settings with what is proposed.
    #[serde(skip)]
    pub files: SettingsFiles,
}

impl Adoption {
    /// Whether everything hydrates.
    pub(crate) fn is_success(&self) -> bool {
        !self.needs_rules && self.hydrate == self.applications.len() && self.unknown.is_empty()
    }
}

/// Looks at a dry tree, and at what the repository is set to.
///
/// Nothing is written. Errors: the world failed, or settings that cannot be used.
pub(crate) fn adopt(
    tree: &Tree<'_>,
    renderers: &Renderers,
    asked: &Asked,
    observer: &dyn Observer,
) -> Result<Adoption, HydrateError> {
    let (mut draft, mut judged, notes) = drafted(tree, renderers, asked)?;
    let mut attempts = units::render(&judged, tree, renderers, observer)?;
    random::propose(&mut draft, &mut attempts, &judged, tree, renderers)?;
    if apart::propose(&mut draft, &judged, &attempts)? {
        drop(attempts);
        judged = judged_by(draft.policy()?, tree, renderers)?;
        let mut attempts = units::render(&judged, tree, renderers, observer)?;
        random::propose(&mut draft, &mut attempts, &judged, tree, renderers)?;
        return adopted(draft, &judged, &attempts, notes, (tree, renderers));
    }
    adopted(draft, &judged, &attempts, notes, (tree, renderers))
}

/// What was found of Applications that were rendered.
fn adopted(
    mut draft: Draft,
    judged: &Judged,
    attempts: &[units::Attempt<'_>],
    mut notes: Vec<Diagnostic>,
    (tree, renderers): (&Tree<'_>, &Renderers),
) -> Result<Adoption, HydrateError> {
    let needs = self::inputs::needed(judged, tree)?;
    let mut found = Findings::of(judged);
    units::note(attempts, &mut found);
    let capabilities = capabilities::notes(attempts, tree);
    let clusters = clusters::unknown(&draft, judged, tree, !capabilities.is_empty());
    notes.extend(capabilities);
    let conflicts = if draft.has_rules() { units::conflicts(judged, attempts, &mut found) } else { BTreeMap::new() };
    let known = units::Known { judged, attempts, conflicts, needs: &needs, draft: &draft };
    let mut applications = units::all(&known);
    plugins::propose(&mut draft, &mut applications, judged)?;
    on_failure::propose(&mut draft, &mut applications)?;
    copies::propose(&mut draft, &applications, tree)?;
    notes.extend(copies::notes(&draft, judged, attempts)?);
    notes.extend(parameters(judged));
    notes.extend(plugins_of_this_machine(judged));
    let is_plain = judged.discovered.applications.iter().any(|application| application.rule.is_some());
    let needs_rules = is_plain && !draft.has_rules();
    let branch_patterns = if needs_rules { patterns::all(judged, tree, attempts) } else { Vec::new() };
    let unnamed = unnamed::survey(judged, tree, &mut found)?;
    Ok(Adoption {
        dry_branch: judged.dry_branch.to_string(),
        hydrate: applications.iter().filter(|application| application.hydrates).count(),
        applications,
        needs_rules,
        other_branches: branches::of(&draft, judged, tree, renderers)?,
        branch_patterns,
        inputs: needs,
        clusters,
        unknown: unknown(judged),
        notes,
        findings: found.sorted(),
        unnamed,
        settings: draft.proposed,
        files: draft.files,
    })
}

/// The settings that are proposed before anything is rendered, the Applications that they make, and what is worth a look.
pub(crate) fn drafted(
    tree: &Tree<'_>,
    renderers: &Renderers,
    asked: &Asked,
) -> Result<(Draft, Judged, Vec<Diagnostic>), HydrateError> {
    let mut draft = Draft::of(tree, &asked.rules)?;
    repository::propose(&mut draft, asked, tree, renderers)?;
    draft.newest_tools(tree)?;
    let mut judged = judged_by(draft.policy()?, tree, renderers)?;
    let is_dry_known = !draft.settings()?.dry_branches.is_empty();
    if !is_dry_known {
        dry_branches::propose(&mut draft, &judged)?;
        // A generator of an ApplicationSet may read the dry branch by its name.
        if !judged.discovered.unanswered.is_empty() {
            judged = judged_by(draft.policy()?, tree, renderers)?;
        }
    }
    let has_options = build_options::propose(&mut draft, &judged, tree)?;
    let has_options = plain_kustomize::propose(&mut draft, &judged, tree)? || has_options;
    if clusters::propose(&mut draft, &judged, tree)? || has_options {
        judged = judged_by(draft.policy()?, tree, renderers)?;
    }
    let (mut judged, mut notes) = roots::propose(&mut draft, judged, asked, tree, renderers)?;
    if draft.is_proposed("roots") && repository::propose(&mut draft, asked, tree, renderers)? {
        judged = judged_by(draft.policy()?, tree, renderers)?;
    }
    if second::propose(&mut draft, asked, tree, renderers)? {
        judged = judged_by(draft.policy()?, tree, renderers)?;
    }
    if instances::propose(&mut draft, &judged)? {
        judged = judged_by(draft.policy()?, tree, renderers)?;
    }
    let left_out = strays::propose(&mut draft, &judged, tree)?;
    if !left_out.is_empty() {
        judged = judged_by(draft.policy()?, tree, renderers)?;
        notes.extend(left_out);
    }
    if !is_dry_known {
        dry_branches::propose(&mut draft, &judged)?;
    }
    notes.extend(dry_branches::part(&mut draft, &judged, (tree, renderers), !is_dry_known)?);
    draft.made_applications(&judged)?;
    draft.revisions(&judged)?;
    Ok((draft, judged, notes))
}

/// Applications, and what each renders.
pub(crate) type RenderedApplications<'a> = Vec<(&'a Application, Result<Vec<Manifest>, Diagnostic>)>;

/// What the Applications that are hydrated from the tree render, random functions included that they need.
pub(crate) fn rendered<'a>(
    draft: &mut Draft,
    judged: &'a Judged,
    (tree, renderers): (&Tree<'_>, &Renderers),
    observer: &dyn Observer,
) -> Result<RenderedApplications<'a>, HydrateError> {
    let mut attempts = units::render(judged, tree, renderers, observer)?;
    random::propose(draft, &mut attempts, judged, tree, renderers)?;
    Ok(attempts.into_iter().map(|attempt| (attempt.application, attempt.manifests())).collect())
}

/// The files with Applications that are parameters of sets, by set.
fn parameters(judged: &Judged) -> Vec<Diagnostic> {
    let mut sets: BTreeMap<&By, Vec<&RepoPath>> = BTreeMap::new();
    judged.discovered.parameters.iter().for_each(|(file, by)| sets.entry(by).or_default().push(file));
    let note = |(by, files): (&By, Vec<&RepoPath>)| {
        let first = files.first()?;
        let text = match files.len() {
            1 => format!("`{first}` counts as a parameter of {by}, not as an Application of its own"),
            count => format!(
                "{count} files count as parameters of {by}, not as Applications of their own, such as `{first}`"
            ),
        };
        Some(Diagnostic::warning(text).at(Span::file((*first).clone())))
    };
    sets.into_iter().filter_map(note).collect()
}

/// That this machine decides whether plugins render, where there are any.
fn plugins_of_this_machine(judged: &Judged) -> Option<Diagnostic> {
    let hydrated = hydrated(judged).into_iter().filter_map(|(_, application)| units::plugin(application));
    let names: BTreeSet<&str> = hydrated.collect();
    let listed = listed(names.iter().map(|name| format!("`{}`", printable(name))), PLUGINS_NAMED);
    let text = format!("the git config of this clone decides here whether plugins render: {listed}");
    let hint = "set `hydrate-plugin.NAME.command` in this clone as it is on the server";
    (!names.is_empty()).then(|| Diagnostic::warning(text).hint(hint))
}

/// Why some Applications are not known.
fn unknown(judged: &Judged) -> Vec<Diagnostic> {
    let discovered = &judged.discovered;
    let makers =
        discovered.unanswered.iter().filter(|maker| !maker.is_reported).map(|maker| maker.diagnostic.as_warning());
    let files = discovered.broken.iter().map(|broken| broken.reported());
    files.chain(discovered.unlisted.clone()).chain(makers).collect()
}

/// The Applications that are hydrated from the tree.
fn hydrated(judged: &Judged) -> Vec<(usize, &Application)> {
    let standings = judged.verdict.standings.iter().zip(&judged.discovered.applications).enumerate();
    standings
        .filter(|(_, (standing, _))| **standing == Standing::Hydrated)
        .map(|(index, (_, one))| (index, &**one))
        .collect()
}
