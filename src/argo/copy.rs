//! Copies of hydrated Applications that any Argo CD follows: the source of a copy is what was hydrated of the Application,
//! and all else is as it was.
//!
//! An ApplicationSet is copied with its template led there, as far as its document tells where what it makes goes.

use dry_files::path::RepoPath;
use go_yaml::{Mapping, Value};

use super::destinations::Destinations;
use super::field::Field;
use super::maker::By;
use super::parent::Written;
use super::read::{Kind, kind};
use super::rendered::Parent;
use super::rules::{RuleSet, has_template, sources};
use super::set::{ApplicationSet, Home};
use super::{Application, document};

/// Where the source of a copy leads to.
struct Target {
    repo_url: String,
    branch: String,
    path: String,
}

/// What copies are made by, beside the Applications.
#[derive(Debug, Clone, Copy)]
pub struct Copier<'a> {
    /// Which plain Applications are hydrated.
    pub rules: &'a RuleSet,
    /// The setting `repoURL`: the first is that of copies whose Application has no source in this repository.
    pub repo_urls: &'a [String],
    /// This repository and the dry branch.
    pub home: &'a Home,
}

impl Application {
    /// The copy of an Application, which is `object`; none when the URL of this repository is not known.
    pub fn copy(&self, object: Value, copier: &Copier<'_>) -> Option<Value> {
        Some(repointed(object, self.target(copier)?))
    }

    /// Where a copy of it leads to: the URL of the repository, the branch there, and the path.
    pub(crate) fn copied_to(&self, copier: &Copier<'_>) -> Option<(String, String, String)> {
        let Target { repo_url, branch, path } = self.target(copier)?;
        Some((repo_url, branch, path))
    }

    fn target(&self, copier: &Copier<'_>) -> Option<Target> {
        let own = self.all_sources().find(|source| source.input.is_none()).map(|source| &source.repo_url);
        let repo_url = match self.sync_branch.destination() {
            Some(destination) => copier.rules.destinations().url(destination)?,
            None => own.or(copier.repo_urls.first())?,
        };
        Some(Target {
            repo_url: repo_url.to_owned(),
            branch: self.sync_branch.name_there().to_owned(),
            path: self.sync_path.to_string(),
        })
    }

    /// The set that makes it, when that was rendered itself.
    pub fn rendered_set(&self) -> Option<ApplicationSet> {
        self.kept_set()?.set()
    }

    /// Whether an Application that is hydrated makes it, directly or not.
    pub fn is_of_application(&self) -> bool {
        let is_application = |by: &By| matches!(by, By::Application { .. });
        self.maker.as_ref().is_some_and(|maker| maker.parents().any(is_application))
    }
}

impl Copier<'_> {
    /// The copy of an object that a hydrated Application renders; none for what is not hydrated, and for a set of which only
    /// its elements tell where what it makes goes.
    ///
    /// Rules look at the file of `written` that has the object as it is, else at that of the parent: so hydration takes it.
    pub(crate) fn of_rendered(&self, object: &Value, parent: &Application, written: &Written) -> Option<Value> {
        let parent = Parent::of(parent);
        let file = written.file_of(object).unwrap_or(&parent.file);
        let field = Field::everywhere(object, &parent.start());
        match kind(&field, None, (self.rules, file)) {
            Kind::Application(placement) => {
                let application = document::document(&field, 0, false, placement.as_ref(), self.rules).application?;
                let target = application.target(self).filter(|_| self.is_here(&application))?;
                Some(repointed(object.clone(), target))
            }
            Kind::ApplicationSet(set) if !self.rules.expands(set.name().unwrap_or_default()) => {
                set.copy_in(file, self).ok()
            }
            _ => None,
        }
    }

    fn is_here(&self, application: &Application) -> bool {
        match application.has_own_source() {
            true => self.home.is_here(&application.dry.repo_url, application.revision_name()),
            false => !self.home.is_beside_head,
        }
    }
}

impl ApplicationSet {
    /// The set with a template that leads to what is hydrated.
    ///
    /// Errors: why its document does not tell where that is.
    pub fn copy(&self, copier: &Copier<'_>) -> Result<Value, String> {
        self.copy_in(&self.file(), copier)
    }

    fn copy_in(&self, file: &RepoPath, copier: &Copier<'_>) -> Result<Value, String> {
        if self.at(&["spec", "templatePatch"]).is_some() {
            return Err("it has a `templatePatch`".to_owned());
        }
        if self.at(&["spec", "generators"]).is_some_and(has_template) {
            return Err("a generator has a template of its own".to_owned());
        }
        let template = self.at(&["spec", "template"]).ok_or("it has no template")?;
        let hydrator = template.get("spec").and_then(|spec| spec.get("sourceHydrator"));
        let target = match hydrator {
            Some(hydrator) => by_document(hydrator, copier.rules.destinations())
                .ok_or("its template does not say where it is hydrated to")?,
            None => {
                let placement = copier.rules.placement_of_set(self.root(), file)?;
                let own = sources(template).into_iter().zip(&placement.outside).find(|(_, is_outside)| !**is_outside);
                let own = own.and_then(|(source, _)| source.get("repoURL")).and_then(Field::as_str);
                let repo_url = placement.repo_url.as_deref().or(own).or(copier.repo_urls.first().map(String::as_str));
                let repo_url = repo_url.ok_or("the URL of this repository is not known")?.to_owned();
                Target { repo_url, branch: placement.branch, path: placement.path }
            }
        };
        let trims = |text: &String| text.contains("{{-") || text.contains("-}}");
        if [&target.repo_url, &target.branch, &target.path].into_iter().any(trims) {
            return Err("a value of its template trims the text around it".to_owned());
        }
        let mut set = self.root().to_value();
        repoint(&mut set, &["spec", "template"], target);
        Ok(set)
    }
}

/// Where `spec.sourceHydrator` leads to.
fn by_document(hydrator: &Field, destinations: &Destinations) -> Option<Target> {
    let text = |path: [&str; 2]| hydrator.get(path[0])?.get(path[1])?.as_str().map(str::to_owned);
    // One of this repository is written as `drySource` has it.
    let is_elsewhere = |url: &String| destinations.of_url(url).is_some();
    let elsewhere = text(["syncSource", "repoURL"]).filter(is_elsewhere);
    // Its elements decide which repository that is.
    if !destinations.is_empty() && text(["syncSource", "repoURL"]).is_some_and(|url| url.contains("{{")) {
        return None;
    }
    Some(Target {
        repo_url: elsewhere.or(text(["drySource", "repoURL"]))?,
        branch: text(["syncSource", "targetBranch"])?,
        path: text(["syncSource", "path"])?,
    })
}

/// An Application whose source is `target`.
fn repointed(mut object: Value, target: Target) -> Value {
    if let Value::Mapping(entries) = &mut object {
        // An item of a list may have them from there.
        entries.entry("apiVersion".to_owned()).or_insert_with(|| Value::from("argoproj.io/v1alpha1"));
        entries.entry("kind".to_owned()).or_insert_with(|| Value::from("Application"));
    }
    repoint(&mut object, &[], target);
    object
}

/// Replaces the sources of an Application, which is at `path`, and the files that Argo CD looks at for them.
fn repoint(object: &mut Value, path: &[&str], target: Target) {
    let Some(application) = below(object, path) else { return };
    look_at_all_of_it(application);
    let Some(Value::Mapping(spec)) = below(application, &["spec"]) else { return };
    for key in ["sources", "sourceHydrator"] {
        spec.remove(key);
    }
    let directory = Mapping::from([("recurse".to_owned(), Value::Bool(false))]);
    let source = Mapping::from([
        ("repoURL".to_owned(), Value::from(target.repo_url.as_str())),
        ("targetRevision".to_owned(), Value::from(target.branch.as_str())),
        ("path".to_owned(), Value::from(target.path.as_str())),
        ("directory".to_owned(), Value::Mapping(directory)),
    ]);
    spec.insert("source".to_owned(), Value::Mapping(source));
}

/// Leads the annotation `manifest-generate-paths` to the directory of the source.
///
/// It names paths of the dry tree. Argo CD takes a source for unchanged when no file below them differs between two commits, and
/// reads no annotation for a `syncSource` only.
///
/// Reference: Argo CD of August 2026, util/app/path/path.go `GetSourceRefreshPaths`, reposerver/repository/repository.go
/// `UpdateRevisionForPaths`.
fn look_at_all_of_it(application: &mut Value) {
    let Some(Value::Mapping(annotations)) = below(application, &["metadata", "annotations"]) else { return };
    if let Some(paths) = annotations.get_mut("argocd.argoproj.io/manifest-generate-paths") {
        *paths = Value::from(".");
    }
}

/// The value at a path.
fn below<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Mapping(entries) => entries.get_mut(*key),
        _ => None,
    })
}
