//! What the Applications of a dry tree need from elsewhere, and whether bringing it here changes anything else.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::check::{Judged, Tree, judged};
use crate::application::{self, Application, Standing, Tool};
use crate::diag::{Diagnostic, Span};
use crate::hydrate::rules::render_context;
use crate::hydrate::{HydrateError, Observer};
use crate::inputs::{DIR, Found, Kept, Scan, Source};
use crate::manifest;
use crate::path::RepoPath;
use crate::render::Renderers;
use crate::view::View;

/// What a dry tree needs from elsewhere.
#[derive(Debug)]
pub struct Inputs {
    /// Each need, and who has it.
    pub found: Found,
    /// How many Applications were looked at.
    pub applications: usize,
    /// Whether some Applications are not known, so that nothing is known to be needless.
    pub is_partial: bool,
    /// Where tools that know nothing of inputs would take them for something of their own.
    pub warnings: Vec<Diagnostic>,
}

/// What an Application renders to: a digest, none when it fails to render.
pub type Outputs = BTreeMap<(String, Span), Option<String>>;

/// Finds what the Applications of a tree need from elsewhere. Only Applications that make others are rendered.
///
/// Errors: the repository or the lock file cannot be read.
pub fn inputs(tree: &Tree<'_>, renderers: &Renderers) -> Result<Inputs, HydrateError> {
    let Judged { rules, discovered, verdict, .. } = judged(tree, renderers)?;
    let view = View::new(tree.files);
    let kept = Kept::read(&view)?;
    let mut scan = Scan::new(&view, kept);
    let mut warnings = Vec::new();
    let profile = render_context(&rules.settings, tree.files, &tree.dry_commit).profile;
    let mut count = 0;
    let mut is_partial = !discovered.broken.is_empty() || !discovered.unanswered.is_empty();
    for (standing, application) in verdict.standings.iter().zip(&discovered.applications) {
        if *standing != Standing::Hydrated {
            is_partial |= application::source(&view, application, profile).is_err();
        }
        let Ok(source) = application::source(&view, application, profile) else { continue };
        count += 1;
        let name = application.name.as_str();
        match &source.tool {
            Tool::Helm(_) => scan.add(name, &Source::Chart(source.path.clone())),
            Tool::Kustomize(options) => {
                scan.add(name, &Source::Kustomization(source.path.clone(), options.components.clone()));
            }
            Tool::Directory(_) | Tool::Plugin(_) => {}
        }
        warnings.extend(live_source(application, &source.tool));
    }
    let files: BTreeSet<RepoPath> = discovered.sets.iter().map(|set| set.file.0.clone()).collect();
    warnings.extend(files.iter().filter_map(|file| live_set(&view, file)));
    Ok(Inputs { found: scan.finish(), applications: count, is_partial, warnings })
}

/// What Argo CD would do with inputs that are below the source of an Application.
fn live_source(application: &Application, tool: &Tool) -> Option<Diagnostic> {
    if !application.dry.path.is_root() {
        return None;
    }
    let what = match tool {
        Tool::Directory(options) if options.recurse => "reads all directories of the repository",
        Tool::Helm(_) => "has a chart at the root of the repository, whose files are all others",
        Tool::Directory(_) | Tool::Kustomize(_) | Tool::Plugin(_) => return None,
    };
    let text = format!("`{}` {what}: where Argo CD renders it itself, that includes {DIR}", application.name);
    let hint = "give the Application a directory of its own";
    Some(Diagnostic::warning(text).at(application.places.dry_path.clone()).hint(hint))
}

/// A generator that finds files at any depth. Ours do not look there.
fn live_set(view: &View<'_>, file: &RepoPath) -> Option<Diagnostic> {
    let text = String::from_utf8_lossy(&view.read(file).ok()?.data).into_owned();
    let (line, number) = text.lines().zip(1..).find(|(line, _)| line.contains("**/") && line.contains("path:"))?;
    let column = u32::try_from(line.find("**/")? + 1).ok()?;
    let warning = format!("Argo CD's own ApplicationSet controller finds files of {DIR} with this pattern too");
    let span = Span::at(file.clone(), number, column).quoting(&text);
    Some(Diagnostic::warning(warning).at(span).hint("begin the pattern with the directory that is meant"))
}

/// Renders all Applications of a tree.
pub fn outputs(tree: &Tree<'_>, renderers: &Renderers, observer: &dyn Observer) -> Result<Outputs, HydrateError> {
    let Judged { rules, discovered, verdict, .. } = judged(tree, renderers)?;
    let standings = verdict.standings.iter().zip(&discovered.applications);
    let hydrated = standings.filter(|(standing, _)| **standing == Standing::Hydrated);
    let hydrated: Vec<&Application> = hydrated.map(|(_, application)| &**application).collect();
    let context = render_context(&rules.settings, tree.files, &tree.dry_commit);
    observer.rendering("", hydrated.len());
    let results = renderers.render(&hydrated, &context, &|done| observer.rendered(done));
    let output = |(application, result): (&&Application, Result<crate::render::Rendered, _>)| {
        let digest = |rendered: crate::render::Rendered| {
            data_encoding::HEXLOWER.encode(&Sha256::digest(manifest::encode(&rendered.manifests)))
        };
        let place = (application.name.to_string(), application.places.name.clone());
        (place, result.ok().map(digest))
    };
    Ok(hydrated.iter().zip(results).map(output).collect())
}
