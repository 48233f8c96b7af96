//! What renders a file of an environment branch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, Seen, View};
use serde::Serialize;

use super::{ExplainError, Object, Subject};
use crate::argo::{self, Application, SourceType};
use crate::diff::FieldPath;
use crate::diff::ObjectName;
use crate::discover::Discovery;
use crate::metadata::{NOTES_REF, read_note};
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::place::Place;
use crate::owners::policy::{Policy, render_context};
use crate::owners::recorded::dry_tree;
use crate::owners::seed_identities::claimed;
use crate::owners::standing::{provenance, shown_by};
use crate::render::places;
use crate::render::trial::used::{self, used};
use crate::render::trial::{self, SourceLine, Trial};
use crate::render::{self, Failure, Renderers};
use crate::repo::TreeFiles;
use crate::repo::{Notes, ObjectBuffer};
use crate::settings::SETTINGS_REF;

/// What renders a file of an environment branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DryOrigin {
    /// The dry commit that was looked at.
    pub dry_sha: String,
    /// The Application.
    pub application: String,
    /// The file that contains it, or what makes it.
    pub file: String,
    /// Where in it.
    pub line: u32,
    /// What makes it, and from what; none for one that is itself in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The rule of the settings that hydrates it, from 1; none with `spec.sourceHydrator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// Which engine renders it; none when that cannot be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_type: Option<SourceType>,
    /// The directory that is rendered.
    pub source_path: String,
    /// The template of the chart that makes the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The files and directories of the dry tree whose content was read, the Application's own file aside; of a chart those that
    /// what it renders to, or the object, depends on.
    pub reads: Vec<String>,
    /// The lines of dry files that the field is taken from, in the order of files and lines; empty when none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_in: Vec<SourceLine>,
    /// Why it cannot be rendered here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What renders a file, as of the dry commit that the branch shows.
pub(super) fn origin(
    buffer: &ObjectBuffer<'_>,
    renderers: &Renderers,
    subject: &Subject,
    path: &RepoPath,
    (object, field): (Option<&Object>, Option<&FieldPath>),
) -> Result<Option<DryOrigin>, ExplainError> {
    let repository = buffer.repository();
    let refs = repository.refs()?;
    let tip = buffer.commit(subject.line.tip)?;
    let dir = path.parent().unwrap_or_default();
    let trailers = shown_by(&tip, &format!("{dir}/{METADATA}"), buffer)?;
    let settings = trailers.as_ref().and_then(|trailers| trailers.settings_commit).filter(|id| repository.has(*id));
    let policy = Policy::at(settings.or(refs.get(SETTINGS_REF)), buffer)?;
    let root = provenance(buffer, tip.tree, METADATA)?;
    let behind = root.into_iter().flat_map(|root| root.behind).find(|behind| path.starts_with(&behind.path));
    let recorded = provenance(buffer, tip.tree, &format!("{dir}/{METADATA}"))?.and_then(|found| found.dry_commit);
    let notes = refs.get(NOTES_REF).map(|tip| buffer.commit(tip)).transpose()?;
    let mut notes = Notes::open(notes.map(|commit| commit.tree), buffer)?;
    let note = notes.get(tip.id, buffer)?.and_then(|note| read_note(&note));
    let noted = note.as_ref().map(|note| note.dry_commit);
    let by_trailer = trailers.as_ref().map(|trailers| trailers.dry_commit);
    // A path that is behind shows an earlier dry commit than its branch.
    let own = behind.and_then(|behind| behind.dry_commit);
    let dry = [own, noted, recorded, by_trailer].into_iter().flatten().find(|dry| repository.has(*dry));
    let Some(dry) = dry else { return Ok(None) };
    let tree = dry_tree(repository, &Place::server(), policy.plain.inputs(), dry)?;
    let files = TreeFiles::new(repository, tree);
    let id = dry.to_string();
    // Where a tag led to the sources, the Applications are those of the dry branch.
    let of_note = note.filter(|note| note.dry_commit == dry).and_then(|note| note.defined.map(|defined| defined.at));
    let of_trailers = trailers.as_ref().filter(|made| made.dry_commit == dry).map(|made| made.definition());
    let definition = of_note.or(of_trailers).filter(|at| repository.has(*at)).unwrap_or(dry);
    let defined = dry_tree(repository, &Place::server(), policy.plain.inputs(), definition)?;
    let defined = TreeFiles::new(repository, defined);
    let at = definition.to_string();
    let discovered = policy.discover(&mut Discovery::default(), &defined, None, None, &policy.making(renderers, &at));
    let discovered = discovered.map_err(HydrateError::tree(definition))?;
    if let Some(why) = discovered.unsearched() {
        return Err(HydrateError::Unsearched(why.clone()).into());
    }
    let branches = [Some(subject.line.name.as_str()), trailers.as_ref().map(|trailers| trailers.branch.as_str())];
    let writes = |application: &&Arc<Application>| {
        let named = [application.environment_branch(), &application.sync_branch];
        named.iter().any(|branch| branches.contains(&Some(branch.as_str()))) && path.starts_with(&application.sync_path)
    };
    let application = discovered.applications.iter().filter(writes).max_by_key(|found| found.sync_path.as_str().len());
    let Some(application) = application else { return Ok(None) };
    let identities = trailers.as_ref().map(|trailers| claimed(trailers).of(&trailers.dry_branch)).unwrap_or_default();
    let context = render::Context { identities: &identities, ..render_context(&policy.settings, &files, &id) };
    let source = argo::source(&View::new(&files), application, context.profile).ok();
    let source_type = source.map(|source| source.tool.source_type());
    let rendered = renderers.render(&[application], &context, &|_| ()).pop();
    let (manifests, reads, problem) = match rendered {
        Some(Ok(rendered)) => (rendered.manifests, rendered.reads, None),
        Some(Err(Failure::Mistakes(mistakes))) => {
            (Vec::new(), BTreeMap::new(), mistakes.into_iter().next().map(|mistake| mistake.message))
        }
        Some(Err(Failure::World(error))) => (Vec::new(), BTreeMap::new(), Some(error.to_string())),
        None => (Vec::new(), BTreeMap::new(), None),
    };
    let set_in = match (object, field) {
        // Each try would start the program.
        (Some(object), Some(field)) if source_type != Some(SourceType::Plugin) => {
            let object = &object.name();
            let trial = Trial { renderers, application, context: &context, object, field };
            let own = trial::set_in_application(&trial, &manifests);
            let found = if own.is_empty() { trial::set_in(&trial, &manifests, &reads) } else { own };
            let manifest = manifests.iter().find(|manifest| ObjectName::of(manifest) == *object);
            let said = |manifest| places::said_in(&View::new(&files), &reads, manifest, field);
            let patched = found.is_empty().then(|| manifest.and_then(said)).flatten();
            found.into_iter().chain(patched).collect()
        }
        _ => Vec::new(),
    };
    let view = View::new(&files);
    let is_submodule = |path: &RepoPath| matches!(view.kind(path), Ok(Some(Kind::Submodule)));
    let contents = reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_))).map(|((path, _), _)| path);
    let reads: BTreeSet<RepoPath> = contents.filter(|path| !is_submodule(path)).cloned().collect();
    let reads = match source_type {
        Some(SourceType::Helm) if problem.is_none() => {
            let object = object.map(Object::name);
            let (object, manifests) = (object.as_ref(), &manifests[..]);
            used(&used::Trial { renderers, application, context: &context, object, manifests }, &reads)
        }
        _ => reads,
    };
    let template = match object {
        Some(object) if source_type == Some(SourceType::Helm) => template(renderers, application, &context, object),
        _ => None,
    };
    Ok(Some(DryOrigin {
        dry_sha: dry.to_string(),
        application: application.name.to_string(),
        file: application.places.name.path.to_string(),
        line: application.places.name.line,
        made_by: application.maker.as_ref().map(ToString::to_string),
        rule: application.rule,
        source_type,
        source_path: application.dry.path.to_string(),
        template: template.map(|template| template.to_string()),
        reads: reads.into_iter().filter(|path| *path != application.file).map(|path| path.to_string()).collect(),
        set_in,
        problem,
    }))
}

/// The template of a chart that makes an object.
fn template(
    renderers: &Renderers,
    application: &Application,
    context: &render::Context<'_>,
    object: &Object,
) -> Option<RepoPath> {
    let made = renderers.origins(application, context).ok()?;
    made.into_iter().find(|(manifest, _)| Object::from(manifest) == *object).and_then(|(_, template)| template)
}
