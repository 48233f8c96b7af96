//! What the Applications of a dry tree need from elsewhere, and whether bringing it here changes anything else.

mod live;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::View;
use sha2::{Digest, Sha256};

use super::check::{Judged, Tree, judged};
use crate::argo::{self, Application, Environment, Helm, Profile, Referenced, Standing, Tool};
use crate::manifest;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::setup::Observer;
use crate::render::needs::{Content, Found, Need, Scan, Source};
use crate::render::{Renderers, directory_of, note_named};
use inputs::{self, KeptInputs, Kind, Wanted};
use live::{Known, Reads};

/// What a dry tree needs from elsewhere.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// Each need, and who has it.
    pub found: Found,
    /// Whether some Applications are not known, so that nothing is known to be needless.
    pub is_partial: bool,
    /// Whether no Application is hydrated, and no rule asks for any.
    pub lacks_rules: bool,
    /// Where tools that know nothing of inputs would take them for something of their own.
    pub warnings: Vec<Diagnostic>,
}

/// What each Application renders to.
pub(crate) type Outputs = BTreeMap<(String, Span), Rendering>;

/// What one Application renders to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// A digest of it; none when it does not render, or was not asked for.
    pub digest: Option<String>,
    /// The names of what makes the Application, from the inside out.
    pub makers: Vec<String>,
}

/// Finds what the Applications of a tree need from elsewhere. Only Applications that make others are rendered.
///
/// Errors: the repository or the lock file cannot be read.
pub(crate) fn inputs(tree: &Tree<'_>, renderers: &Renderers) -> Result<Inputs, HydrateError> {
    inputs_of(&judged(tree, renderers)?, tree)
}

/// Finds what Applications that are known already need from elsewhere.
pub(crate) fn inputs_of(judged: &Judged, tree: &Tree<'_>) -> Result<Inputs, HydrateError> {
    let Judged { policy, discovered, verdict, .. } = judged;
    let view = View::new(tree.files);
    let kept = KeptInputs::read(&view)?;
    let names = discovered.applications.iter().map(|application| application.name.as_str());
    let known = Known {
        places: kept.lock().into_iter().flat_map(|lock| lock.entries().flat_map(|entry| lock.places(entry))).collect(),
        inputs: policy.plain.inputs(),
        repo_urls: &policy.settings.repo_urls,
        hydrated: names.collect(),
    };
    let mut scan = Scan::new(&view, kept);
    let mut warnings = Vec::new();
    let profile = render_context(&policy.settings, tree.files, &tree.dry_commit).profile;
    let mut is_partial = !discovered.broken.is_empty() || !discovered.unanswered.is_empty();
    for (standing, application) in verdict.standings.iter().zip(&discovered.applications) {
        add_referenced(&mut scan, application, (profile, &tree.dry_commit));
        for part in application.parts() {
            let source = argo::source(&view, &part, profile);
            if *standing != Standing::Hydrated {
                is_partial |= source.is_err();
            }
            let source = source.ok();
            add(&mut scan, &part, source.as_ref(), (profile, &tree.dry_commit));
            let reads = source.as_ref().and_then(|source| reads(&source.tool));
            let (name, span) = (application.name.as_str(), &part.places.dry_path);
            warnings.extend(reads.and_then(|reads| known.application(name, reads, &part.dry.path, span.clone())));
        }
    }
    let url = policy.settings.repo_urls.first().map_or("", String::as_str);
    for root in &policy.settings.roots {
        let Some(root) = root.application(url, "HEAD", &policy.plain) else { continue };
        let source = argo::source(&view, &root, profile).ok();
        add(&mut scan, &root, source.as_ref(), (profile, &tree.dry_commit));
    }
    warnings.extend(live::warnings(&view, &known));
    let lacks_rules = policy.settings.rules.is_empty() && discovered.applications.is_empty();
    Ok(Inputs { found: scan.finish(), is_partial, lacks_rules, warnings })
}

/// What one Application needs from elsewhere, as it is in a tree.
pub(crate) fn needs_of(
    application: &Application,
    view: &View<'_>,
    profile: Profile,
    dry_commit: &str,
) -> Result<Vec<Need>, inputs::Unusable> {
    let mut scan = Scan::new(view, KeptInputs::read(view)?);
    add_referenced(&mut scan, application, (profile, dry_commit));
    for part in application.parts() {
        let source = argo::source(view, &part, profile).ok();
        add(&mut scan, &part, source.as_ref(), (profile, dry_commit));
    }
    Ok(scan.finish().needs.into_keys().collect())
}

/// Everything of a tree that a render of an Application may look at, as far as its document and its kustomizations name it: also
/// what a render that ends early has not come to.
pub(crate) fn named_by(
    application: &Application,
    view: &View<'_>,
    profile: Profile,
    dry_commit: &str,
) -> dry_files::view::Reads {
    let note = || {
        // What cannot be read is a mistake of its own.
        let _ = needs_of(application, view, profile, dry_commit);
        let kustomizations: BTreeSet<RepoPath> = view
            .reads()
            .keys()
            .filter(|(path, _)| argo::is_kustomization(path))
            .map(|(path, _)| path.clone())
            .collect();
        let mut directories: BTreeSet<RepoPath> = kustomizations.iter().filter_map(RepoPath::parent).collect();
        let environment = Environment::new(profile, application, dry_commit);
        for part in application.parts() {
            directories.extend(part.dry.input.is_none().then(|| part.dry.path.clone()));
            let source = argo::source(view, &part, profile).ok();
            let substituted = source.and_then(|source| environment.substitute(&source).ok());
            let helm = match substituted.map(|substituted| substituted.source.tool) {
                Some(Tool::Helm(helm)) => Some(helm),
                Some(_) => None,
                // What is fetched later may be a chart.
                None => part.dry.options.helm.clone().map(|helm| with_variables(helm, &environment)),
            };
            if let Some(helm) = helm {
                note_named(view, &part, &helm);
            }
        }
        for directory in directories {
            let _ = view.content_id(&directory);
        }
    };
    view.with_reads(note).1
}

fn with_variables(mut helm: Helm, environment: &Environment) -> Helm {
    let parameters = helm.file_parameters.iter_mut().map(|parameter| &mut parameter.path);
    for text in helm.value_files.iter_mut().chain(parameters) {
        *text = environment.file(text);
    }
    helm
}

/// What a record may have for a need; none where that can be another thing tomorrow.
pub(crate) fn wanted(need: Need) -> Option<Wanted> {
    let wanted = match need {
        Need::Chart(key, _) => Wanted::whole(key),
        Need::Directory(key, directory) | Need::Either(_, key, directory) => Wanted { key, directory },
        Need::File(_) => return None,
    };
    wanted.key.is_pinned().then_some(wanted)
}

fn add_referenced(scan: &mut Scan<'_>, application: &Application, (profile, dry_commit): (Profile, &str)) {
    let environment = Environment::new(profile, application, dry_commit);
    for (source, span) in referenced(application, &environment) {
        scan.add(application.name.as_str(), &source, &span);
    }
}

/// What the source of an Application of one source needs from elsewhere. The tool is not known of what is not here yet.
fn needed(application: &Application, tool: Option<&Tool>) -> Option<Source> {
    let path = application.dry.path.clone();
    let content = match tool {
        Some(Tool::Kustomize(options)) => Content::Kustomization(options.components.clone()),
        Some(Tool::Helm(_)) => Content::Chart,
        Some(Tool::Directory(_) | Tool::Plugin(_)) | None => Content::Plain,
    };
    if let Some(key) = &application.dry.input {
        let root = application.dry.root.clone();
        return Some(match path.strip_prefix(&root).filter(|_| key.kind == Kind::Git) {
            Some(directory) => Source::From((key.clone(), root), directory, content),
            None => Source::ChartFrom(key.clone(), root),
        });
    }
    match content {
        Content::Chart => Some(Source::Chart(path)),
        Content::Kustomization(components) => Some(Source::Kustomization(path, components)),
        Content::Plain => None,
    }
}

/// The directories of other repositories whose files an Application names by `$name/…`.
fn referenced(application: &Application, environment: &Environment) -> Vec<(Source, Span)> {
    let mut found = Vec::new();
    for source in &*application.sources {
        let Some(helm) = &source.dry.options.helm else { continue };
        let parameters = helm.file_parameters.iter().map(|parameter| &parameter.path);
        for text in helm.value_files.iter().chain(parameters) {
            let referenced = application.referenced(&environment.file(text), &source.dry_path);
            let Some(Ok(Referenced { root, path, input: Some(key) })) = referenced else { continue };
            if let Some(directory) = directory_of(&path).strip_prefix(&root) {
                found.push((Source::From((key, root), directory, Content::Plain), source.dry_path.clone()));
            }
        }
    }
    found
}

/// Adds what the source of an Application of one source needs; `source` is `None` where it is not here yet.
fn add(
    scan: &mut Scan<'_>,
    application: &Application,
    source: Option<&argo::Source>,
    (profile, dry_commit): (Profile, &str),
) {
    let name = application.name.as_str();
    if let Some(needed) = needed(application, source.map(|source| &source.tool)) {
        scan.add(name, &needed, &application.places.dry_path);
    }
    let Some(source) = source.filter(|source| matches!(source.tool, Tool::Helm(_))) else { return };
    // As they are when the Application is rendered.
    let substituted = Environment::new(profile, application, dry_commit).substitute(source).ok();
    let Some(Tool::Helm(helm)) = substituted.map(|substituted| substituted.source.tool) else { return };
    let files = helm.value_files.iter().map(|file| ("valueFiles", file));
    let parameters = helm.file_parameters.iter().map(|parameter| ("fileParameters", &parameter.path));
    let numbered = (0..).zip(files).chain((0..).zip(parameters));
    for (index, (field, url)) in numbered.filter(|(_, (_, text))| kustomize_build::is_url(text)) {
        let index: usize = index;
        scan.add_file(name, url, source.span(&["helm", field, &index.to_string()]));
    }
}

/// How Argo CD would read the directory of a source.
fn reads(tool: &Tool) -> Option<Reads> {
    match tool {
        Tool::Directory(options) if options.recurse => Some(Reads::AllBelow),
        Tool::Helm(_) => Some(Reads::Chart),
        Tool::Directory(_) | Tool::Kustomize(_) | Tool::Plugin(_) => None,
    }
}

/// Renders the Applications of a tree that are asked for by name and place; of the others it is only known that they are there.
pub(crate) fn outputs(
    tree: &Tree<'_>,
    renderers: &Renderers,
    is_asked: &dyn Fn(&(String, Span)) -> bool,
    observer: &dyn Observer,
) -> Result<Outputs, HydrateError> {
    let Judged { policy, discovered, verdict, .. } = judged(tree, renderers)?;
    let standings = verdict.standings.iter().zip(&discovered.applications);
    let hydrated = standings.filter(|(standing, _)| **standing == Standing::Hydrated);
    let hydrated: Vec<&Application> = hydrated.map(|(_, application)| &**application).collect();
    let place = |application: &Application| (application.name.to_string(), application.places.name.clone());
    let asked: Vec<&Application> =
        hydrated.iter().copied().filter(|application| is_asked(&place(application))).collect();
    let context = render_context(&policy.settings, tree.files, &tree.dry_commit);
    observer.rendering("", asked.len());
    let results = renderers.render(&asked, &context, &|done| observer.rendered(done));
    let digest = |rendered: crate::render::Rendered| {
        data_encoding::HEXLOWER.encode(&Sha256::digest(manifest::encode(&rendered.manifests)))
    };
    let digests: BTreeMap<(String, Span), String> = asked
        .iter()
        .zip(results)
        .filter_map(|(application, result)| Some((place(application), digest(result.ok()?))))
        .collect();
    let mut renderings = Vec::new();
    for application in hydrated {
        let place = place(application);
        let makers = application.maker.iter().flat_map(|maker| [&maker.by].into_iter().chain(&maker.above));
        let makers = makers.map(|by| by.name().to_owned()).collect();
        let digest = digests.get(&place).cloned();
        renderings.push((place, Rendering { digest, makers }));
    }
    Ok(renderings.into_iter().collect())
}
