//! Charts that ask for the capabilities of a cluster of which nothing is known: what runs there may differ from what is
//! rendered here.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Seen, View};

use super::super::check::Tree;
use super::units::Attempt;
use crate::argo::{Application, Options};

/// How many lines are shown, and how many Applications of each are named.
const LINES_MAX: usize = 20;
const NAMED_MAX: usize = 4;

/// What a line of a template asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capability {
    /// `.Capabilities.APIVersions`
    ApiVersions,
    /// `.Capabilities.KubeVersion`
    KubeVersion,
}

/// The lines of charts that ask for what is not known of a cluster, each with the Applications that render them.
pub(super) fn notes(attempts: &[Attempt<'_>], tree: &Tree<'_>) -> Vec<Diagnostic> {
    let view = View::new(tree.files);
    let mut asking: BTreeMap<RepoPath, Vec<(u32, u32, Capability)>> = BTreeMap::new();
    let mut lines: BTreeMap<(RepoPath, u32, u32), BTreeSet<&str>> = BTreeMap::new();
    for Attempt { application, result, .. } in attempts.iter().filter(|attempt| attempt.application.rule.is_some()) {
        let Ok(rendered) = result else { continue };
        let unknown = unknown(application);
        if unknown.is_empty() {
            continue;
        }
        let contents = rendered.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_)));
        for path in contents.map(|((path, _), _)| path).filter(|path| is_template(path)) {
            let found = asking.entry(path.clone()).or_insert_with(|| asked(path, &view));
            for (line, column, _) in found.iter().filter(|(.., capability)| unknown.contains(capability)) {
                lines.entry((path.clone(), *line, *column)).or_default().insert(application.name.as_str());
            }
        }
    }
    let count = lines.len();
    let mut notes: Vec<Diagnostic> = lines.into_iter().take(LINES_MAX).map(|(at, names)| note(at, &names)).collect();
    if count > LINES_MAX {
        let text = format!("{} more lines of charts ask for capabilities of clusters", count - LINES_MAX);
        notes.push(Diagnostic::warning(text));
    }
    notes
}

fn note((path, line, column): (RepoPath, u32, u32), names: &BTreeSet<&str>) -> Diagnostic {
    let named = listed(names, NAMED_MAX);
    let text =
        format!("the chart asks for `.Capabilities` of a cluster that is not known, so what runs may differ: {named}");
    let hint = "name the versions that the cluster serves: in a file of the setting `clusters`, or in `helm.kubeVersion` and \
                `helm.apiVersions` of the Application";
    Diagnostic::warning(text).hint(hint).at(Span::at(path, line, column))
}

/// What is not known of the cluster of an Application.
fn unknown(application: &Application) -> Vec<Capability> {
    let mut unknown = Vec::new();
    let is_set = |of: &dyn Fn(&Options) -> bool| application.all_sources().any(|source| of(&source.options));
    let helm = |options: &Options| {
        options.helm.as_ref().map(|helm| (helm.kube_version.is_some(), !helm.api_versions.is_empty()))
    };
    if application.api_versions().is_empty() && !is_set(&|options| helm(options).is_some_and(|(_, apis)| apis)) {
        unknown.push(Capability::ApiVersions);
    }
    if application.kube_version().is_none() && !is_set(&|options| helm(options).is_some_and(|(version, _)| version)) {
        unknown.push(Capability::KubeVersion);
    }
    unknown
}

fn is_template(path: &RepoPath) -> bool {
    path.components().any(|name| name == "templates")
}

/// The lines of a template that ask for capabilities, with their columns.
fn asked(path: &RepoPath, view: &View<'_>) -> Vec<(u32, u32, Capability)> {
    let Ok(blob) = view.read(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(&blob.data);
    let mut asked = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((at, rest)) = line.split_once(".Capabilities.") else { continue };
        let capability = match rest {
            rest if rest.starts_with("APIVersions") => Capability::ApiVersions,
            rest if rest.starts_with("KubeVersion") => Capability::KubeVersion,
            _ => continue,
        };
        let column = u32::try_from(at.chars().count()).unwrap_or(u32::MAX).saturating_add(1);
        asked.push((number, column, capability));
    }
    asked
}
