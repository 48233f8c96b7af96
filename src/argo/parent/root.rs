//! Roots: Applications that live in the cluster only, and render others.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::super::document::document;
use super::super::located;
use super::super::rules::RuleSet;
use super::super::{AppName, Application, Places};

/// One root of the setting `roots`: its name, the directory of its sources, and how they are rendered.
///
/// `name` and `path`; `namespace`, which it deploys to; `instance`, the Argo CD that has what it renders; and the options that a
/// `drySource` has: `helm`, `kustomize`,
/// `directory`, `plugin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Map<String, serde_json::Value>", into = "serde_json::Map<String, serde_json::Value>")]
pub struct Root {
    /// Its name.
    pub name: AppName,
    /// The Argo CD that has what it renders, where there are several.
    pub instance: Option<AppName>,
    /// As it is written.
    fields: serde_json::Map<String, serde_json::Value>,
}

impl From<Root> for serde_json::Map<String, serde_json::Value> {
    fn from(root: Root) -> Self {
        root.fields
    }
}

impl TryFrom<serde_json::Map<String, serde_json::Value>> for Root {
    type Error = String;

    fn try_from(fields: serde_json::Map<String, serde_json::Value>) -> Result<Self, String> {
        let Some(name) = fields.get("name").and_then(serde_json::Value::as_str) else {
            return Err("a root has no `name`".to_owned());
        };
        let wrong = |what: String| format!("the root `{name}`: {what}");
        let name = AppName::new(name).map_err(|error| wrong(format!("`name` is not valid: {error}")))?;
        let text = |key: &str| fields.get(key).map(|value| value.as_str());
        match text("path") {
            Some(Some(_)) => {}
            Some(None) => return Err(wrong("`path` must be a string".to_owned())),
            None => return Err(wrong("`path` is missing".to_owned())),
        }
        if text("namespace") == Some(None) {
            return Err(wrong("`namespace` must be a string".to_owned()));
        }
        let instance = match text("instance") {
            Some(Some(text)) => {
                Some(AppName::of_instance(text).map_err(|error| wrong(format!("`instance` is not valid: {error}")))?)
            }
            Some(None) => return Err(wrong("`instance` must be a string".to_owned())),
            None => None,
        };
        if let Some(key) = ["repoURL", "targetRevision"].into_iter().find(|key| fields.contains_key(*key)) {
            return Err(wrong(format!("`{key}` cannot be set: a root is rendered from the dry commit itself")));
        }
        let root = Self { name, instance, fields: fields.clone() };
        root.document("https://example.com", "HEAD", &RuleSet::default()).map(|_| root).map_err(wrong)
    }
}

/// The settings are not written as this text is, so its lines are no places.
fn without_lines(mut application: Application) -> Application {
    let Places { name, repo_url, target_revision, dry_path, sync_branch, sync_path, hydrate_to, paused, destination } =
        &mut application.places;
    let all = [name, repo_url, target_revision, dry_path, sync_branch, sync_path]
        .into_iter()
        .chain(hydrate_to)
        .chain(paused)
        .chain(destination);
    all.for_each(|span| *span = Span::file(span.path.clone()));
    application
}

impl Root {
    /// The Application that it is, from this repository and branch.
    pub fn application(&self, repo_url: &str, revision: &str, rules: &RuleSet) -> Option<Application> {
        self.document(repo_url, revision, rules).ok()
    }

    fn document(&self, repo_url: &str, revision: &str, rules: &RuleSet) -> Result<Application, String> {
        let mut dry = self.fields.clone();
        let namespace = dry.remove("namespace");
        dry.remove("name");
        dry.remove("instance");
        dry.insert("repoURL".to_owned(), repo_url.into());
        dry.insert("targetRevision".to_owned(), revision.into());
        let object = serde_json::json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": self.name.as_str()},
            "spec": {
                "destination": {"namespace": namespace},
                "sourceHydrator": {
                    "drySource": dry,
                    "syncSource": {"targetBranch": "root", "path": self.name.as_str()},
                },
            },
        });
        let file = RepoPath::new("settings.yaml").expect("a plain name");
        let fields = located::parse(&file, object.to_string().as_bytes()).map_err(|wrong| wrong.message)?;
        let Some(field) = fields.first() else { return Err("it is empty".to_owned()) };
        let document = document(field, 0, false, None, rules);
        match (document.diagnostics.into_iter().next(), document.application) {
            (None, Some(application)) => Ok(without_lines((*application).clone())),
            (Some(wrong), _) => Err(wrong.message),
            (None, None) => Err("it is not an Application".to_owned()),
        }
    }
}
