//! `spec.sourceHydrator` in the files of Applications, in place of rules that hydrate them.
//!
//! What is edited is what stays the same by it: the whole tree is judged again with the edits in it. Every Application
//! of it has to go to the branch and the path where it went by the rules, and those that were edited have to render the same.
//! What would not is refused by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Overlay, View};
use serde::Serialize;

use super::super::check::{Judged, Tree, judged_by};
use super::units::attempt;
use super::{Asked, Draft, drafted};
use crate::argo::{self, Application, By, HydratorEdit, Profile, Standing, Tool, write_source_hydrator};
use crate::discover::Unusable;
use crate::manifest;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::setup::Observer;
use crate::render::Renderers;

/// What becomes of the files of plain Applications.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Hydrators {
    /// Whether it is not known where plain Applications go: nothing else is then.
    #[serde(skip)]
    pub needs_rules: bool,
    /// The files that change, by path.
    pub files: Vec<HydratorFile>,
    /// The Applications that stay under a rule, by file, line and name.
    pub refused: Vec<RefusedHydrator>,
}

/// A file that changes.
#[derive(Debug, Serialize)]
pub(crate) struct HydratorFile {
    /// The file.
    pub file: RepoPath,
    /// The Applications of it that are edited.
    pub applications: Vec<String>,
    /// The edits, for who has the file with other line ends than git.
    #[serde(skip)]
    pub edits: Vec<HydratorEdit>,
    /// The text before.
    #[serde(skip)]
    pub before: Arc<[u8]>,
    /// The text after.
    #[serde(skip)]
    pub after: Vec<u8>,
}

/// An Application that is not edited.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct RefusedHydrator {
    /// The file that contains it, or what makes it.
    pub file: String,
    /// Where in it.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// An Application that can be edited as far as its document shows.
struct Candidate<'a> {
    application: &'a Application,
    edit: HydratorEdit,
}

/// Finds what to edit, by the settings that there are and those that are proposed.
///
/// Nothing is written. Errors: the world failed, or settings that cannot be used.
pub(crate) fn source_hydrators(
    tree: &Tree<'_>,
    renderers: &Renderers,
    asked: &Asked,
    observer: &dyn Observer,
) -> Result<Hydrators, HydrateError> {
    let (draft, judged, _) = drafted(tree, renderers, asked)?;
    let is_plain = judged.discovered.applications.iter().any(|application| application.rule.is_some());
    if is_plain && !draft.has_rules() {
        return Ok(Hydrators { needs_rules: true, ..Hydrators::default() });
    }
    let mut refused = unusable(&judged);
    let candidates = candidates(&draft, &judged, tree, &mut refused)?;
    let mut work = Work { tree, renderers, draft: &draft, judged: &judged, refused, accepted: Vec::new() };
    observer.rendering("", candidates.len());
    work.by_file(&candidates)?;
    let accepted = std::mem::take(&mut work.accepted);
    work.by_tree(&accepted)?;
    let mut files = Vec::new();
    for (file, of_file) in by_file(&work.accepted) {
        let edits: Vec<HydratorEdit> = of_file.iter().map(|one| one.edit.clone()).collect();
        let before = content(tree, &file)?;
        let after = write_source_hydrator(&before, &edits).unwrap_or_else(|_| before.to_vec());
        let applications = of_file.iter().map(|one| one.application.name.to_string()).collect();
        files.push(HydratorFile { file, applications, edits, before, after });
    }
    let mut refused = work.refused;
    refused.sort();
    Ok(Hydrators { needs_rules: false, files, refused })
}

fn content(tree: &Tree<'_>, file: &RepoPath) -> Result<Arc<[u8]>, HydrateError> {
    let blob =
        View::new(tree.files).read(file).map_err(|error| HydrateError::tree(&tree.dry_commit)(error.to_string()))?;
    Ok(blob.data)
}

fn refusal(application: &Application, reason: String) -> RefusedHydrator {
    let place = &application.places.name;
    RefusedHydrator { file: place.path.to_string(), line: place.line, name: application.name.to_string(), reason }
}

/// Documents that a rule is for and that cannot be used.
fn unusable(judged: &Judged) -> Vec<RefusedHydrator> {
    judged.discovered.unusable.iter().filter_map(refused).collect()
}

fn refused(document: &Unusable) -> Option<RefusedHydrator> {
    let mistake = document.mistakes.iter().find(|mistake| mistake.is_error())?;
    let span = mistake.span.as_ref()?;
    let name = document.name.as_ref()?.to_string();
    Some(RefusedHydrator { file: span.path.to_string(), line: span.line, name, reason: mistake.message.clone() })
}

fn candidates<'a>(
    draft: &Draft,
    judged: &'a Judged,
    tree: &Tree<'_>,
    refused: &mut Vec<RefusedHydrator>,
) -> Result<Vec<Candidate<'a>>, HydrateError> {
    let profile = draft.settings()?.profile.into();
    let nowhere = draft.rules_count() + 1;
    let view = View::new(tree.files);
    let mut candidates = Vec::new();
    let standings = judged.verdict.standings.iter().zip(&judged.discovered.applications).enumerate();
    for (index, (standing, application)) in standings {
        if application.rule.is_none() {
            continue;
        }
        let mistake = judged
            .verdict
            .findings
            .iter()
            .find(|finding| finding.diagnostic.is_error() && finding.applications.contains(&index));
        let mistake = mistake.map(|finding| finding.diagnostic.message.clone());
        match why_not(application, *standing, nowhere).or(mistake) {
            Some(reason) => refused.push(refusal(application, reason)),
            None => candidates.push(Candidate { application, edit: edit(application, &view, profile) }),
        }
    }
    Ok(candidates)
}

/// Why the document of an Application cannot say where it is hydrated to.
fn why_not(application: &Application, standing: Standing, nowhere: usize) -> Option<String> {
    if let Some(maker) = &application.maker {
        let what = match maker.by {
            By::ApplicationSet { .. } => "edit the template of the set",
            By::Application { .. } | By::Root { .. } => "edit what that renders",
        };
        return Some(format!("{} makes it: {what}, or keep its rule", maker.by));
    }
    if application.rule == Some(nowhere) {
        return Some("no rule is for it".to_owned());
    }
    if !application.sources.is_empty() {
        return Some("it has `sources`, and a `drySource` is one: keep its rule".to_owned());
    }
    if let Some(input) = &application.dry.input {
        return Some(format!(
            "its source is {input}, and a `drySource` is a directory of this repository: keep its rule"
        ));
    }
    match standing {
        Standing::Hydrated => None,
        Standing::OtherBranch => Some(format!("its `targetRevision` is `{}`", application.dry.target_revision)),
        Standing::Pinned => Some(format!("`{}` is pinned", application.dry.target_revision)),
        Standing::OtherRepository => Some("its source is in another repository".to_owned()),
    }
}

fn edit(application: &Application, view: &View<'_>, profile: Profile) -> HydratorEdit {
    let is_unnamed = || {
        let tool = argo::source(view, application, Profile::Argocd).map(|source| source.tool);
        matches!(tool, Ok(Tool::Helm(helm)) if helm.release_name.is_none())
    };
    // By a rule, the release has the name of the Application, as Argo CD has it.
    let is_named = profile == Profile::Proposal && is_unnamed();
    let place = &application.places.name;
    HydratorEdit {
        name: (place.line, place.column),
        branch: application.sync_branch.to_string(),
        path: application.sync_path.to_string(),
        hydrate_to: application.hydrate_to.as_ref().map(ToString::to_string),
        release_name: is_named.then(|| application.name.to_string()),
    }
}

/// Candidates, by their files.
fn by_file<'c, 'a>(candidates: &[&'c Candidate<'a>]) -> BTreeMap<RepoPath, Vec<&'c Candidate<'a>>> {
    let mut files: BTreeMap<RepoPath, Vec<&Candidate<'_>>> = BTreeMap::new();
    for candidate in candidates {
        files.entry(candidate.application.file.clone()).or_default().push(candidate);
    }
    files
}

/// Where an Application comes from, and where it goes; of one that is not edited, all that it says too.
type Trace = (Option<String>, String, String, [String; 3], bool, Option<ContentId>);

/// The Applications of a tree. `is_edited` says of which only the destination has to stay.
fn traces(judged: &Judged, is_edited: &dyn Fn(&Application) -> bool) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    for (standing, application) in judged.verdict.standings.iter().zip(&judged.discovered.applications) {
        let hydrate_to = application.hydrate_to.as_ref().map(ToString::to_string).unwrap_or_default();
        let to = [application.sync_branch.to_string(), application.sync_path.to_string(), hydrate_to];
        let maker = application.maker.as_ref().map(ToString::to_string).unwrap_or_default();
        let namespace = application.namespace.as_ref().map(ToString::to_string);
        let document = application.document.filter(|_| !is_edited(application));
        let is_hydrated = *standing == Standing::Hydrated;
        traces.push((namespace, application.name.to_string(), maker, to, is_hydrated, document));
    }
    traces.sort();
    traces
}

/// What speaks against an edit; none when nothing does.
type Objection = Result<Option<String>, HydrateError>;

struct Work<'w, 'c, 'a> {
    tree: &'w Tree<'w>,
    renderers: &'w Renderers,
    draft: &'w Draft,
    judged: &'w Judged,
    refused: Vec<RefusedHydrator>,
    accepted: Vec<&'c Candidate<'a>>,
}

impl<'c, 'a> Work<'_, 'c, 'a> {
    /// Keeps the candidates whose files can be edited.
    fn by_file(&mut self, candidates: &'c [Candidate<'a>]) -> Result<(), HydrateError> {
        let all: Vec<&Candidate<'_>> = candidates.iter().collect();
        for (file, of_file) in by_file(&all) {
            let text = content(self.tree, &file)?;
            self.in_halves(&of_file, &|_, some| {
                let edits: Vec<HydratorEdit> = some.iter().map(|one| one.edit.clone()).collect();
                Ok(write_source_hydrator(&text, &edits).err())
            })?;
        }
        Ok(())
    }

    /// Keeps the candidates after whose edit everything goes where it went, and renders what it rendered.
    fn by_tree(&mut self, candidates: &[&'c Candidate<'a>]) -> Result<(), HydrateError> {
        if candidates.is_empty() {
            return Ok(());
        }
        self.in_halves(candidates, &|work, some| work.difference(some))
    }

    /// Accepts all of them where nothing speaks against it; else looks at each half of them by itself.
    fn in_halves(
        &mut self,
        candidates: &[&'c Candidate<'a>],
        against: &dyn Fn(&Self, &[&'c Candidate<'a>]) -> Objection,
    ) -> Result<(), HydrateError> {
        match (against(self, candidates)?, candidates) {
            (None, all) => self.accepted.extend(all),
            (Some(reason), [one]) => self.refused.push(refusal(one.application, reason)),
            (Some(_), several) => {
                let (left, right) = several.split_at(several.len() / 2);
                self.in_halves(left, against)?;
                self.in_halves(right, against)?;
            }
        }
        Ok(())
    }

    /// What would be another thing after these edits.
    fn difference(&self, candidates: &[&Candidate<'_>]) -> Result<Option<String>, HydrateError> {
        let mut contents = BTreeMap::new();
        for (file, of_file) in by_file(candidates) {
            let edits: Vec<HydratorEdit> = of_file.iter().map(|one| one.edit.clone()).collect();
            match write_source_hydrator(&content(self.tree, &file)?, &edits) {
                Ok(text) => contents.insert(file, Arc::from(text)),
                Err(reason) => return Ok(Some(reason)),
            };
        }
        let overlay = Overlay::new(self.tree.files, contents);
        let Tree { repository, dry_commit, .. } = self.tree;
        let tree = Tree {
            files: &overlay,
            repository: *repository,
            dry_branch: Some(self.judged.dry_branch.clone()),
            dry_commit: dry_commit.clone(),
        };
        let judged = judged_by(self.draft.policy()?, &tree, self.renderers)?;
        let names: BTreeSet<_> = candidates
            .iter()
            .map(|one| (&one.application.file, &one.application.name, &one.application.namespace))
            .collect();
        let is_edited =
            |one: &Application| one.maker.is_none() && names.contains(&(&one.file, &one.name, &one.namespace));
        let edited: Vec<&Application> =
            judged.discovered.applications.iter().map(|one| &**one).filter(|one| is_edited(one)).collect();
        if let Some(mistake) =
            judged.discovered.unusable.iter().flat_map(|document| &document.mistakes).find(|mistake| {
                mistake.is_error()
                    && !self.judged.discovered.unusable.iter().any(|known| known.mistakes.contains(mistake))
            })
        {
            return Ok(Some(format!("with `sourceHydrator`: {}", mistake.message)));
        }
        if edited.len() != candidates.len() || edited.iter().any(|one| one.rule.is_some()) {
            return Ok(Some("with `sourceHydrator`, it would not be found as it is now".to_owned()));
        }
        if traces(&judged, &is_edited) != traces(self.judged, &is_edited) {
            let reason = "with `sourceHydrator`, it or what is made of its file would be written elsewhere";
            return Ok(Some(reason.to_owned()));
        }
        let before: Vec<&Application> = candidates.iter().map(|one| one.application).collect();
        let is_same = self.rendered(&before, self.tree)? == self.rendered(&in_order(&before, &edited), &tree)?;
        Ok((!is_same).then(|| "with `sourceHydrator`, it would render something else".to_owned()))
    }

    /// The manifests of each Application; none for an Application that does not render.
    fn rendered(&self, applications: &[&Application], tree: &Tree<'_>) -> Result<Vec<Option<Vec<u8>>>, HydrateError> {
        let context = render_context(&self.judged.policy.settings, tree.files, &tree.dry_commit);
        let results = attempt(applications, &context, self.renderers, &|_| {})?;
        Ok(results.into_iter().map(|result| Some(manifest::encode(&result.ok()?.manifests))).collect())
    }
}

/// The edited Applications in the order of those that they were before.
fn in_order<'a>(before: &[&Application], edited: &[&'a Application]) -> Vec<&'a Application> {
    before.iter().filter_map(|one| edited.iter().find(|edited| is_of_one_name(one, edited)).copied()).collect()
}

fn is_of_one_name(one: &Application, other: &Application) -> bool {
    (&one.file, &one.name, &one.namespace) == (&other.file, &other.name, &other.namespace)
}
