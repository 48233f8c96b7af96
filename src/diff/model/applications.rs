//! The Applications that an AppProject is for.

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::Value;

use super::{items, word};
use crate::manifest::{Manifest, OWN_CLUSTER, OWN_CLUSTER_NAME, Source, is_likely_of_cluster, read};

/// An Application as its project judges it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) struct Application {
    pub name: String,
    pub namespace: String,
    pub sources: Vec<String>,
    /// The URL and the name of the cluster; one of them may be empty.
    pub server: String,
    pub cluster: String,
    pub to_namespace: String,
    pub objects: Vec<Rendered>,
}

/// An object that an Application renders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) struct Rendered {
    pub group: String,
    pub kind: String,
    pub name: String,
    /// None for one of the cluster.
    pub namespace: Option<String>,
}

impl Application {
    fn of(object: &Value) -> Self {
        let field = |path: &[&str]| word(object, path).to_owned();
        let (mut server, mut cluster) =
            (field(&["spec", "destination", "server"]), field(&["spec", "destination", "name"]));
        if server.trim_end_matches('/') == OWN_CLUSTER || cluster == OWN_CLUSTER_NAME {
            (server, cluster) = (OWN_CLUSTER.to_owned(), OWN_CLUSTER_NAME.to_owned());
        }
        let one = object.at(&["spec", "source"]).into_iter();
        let dry = object.at(&["spec", "sourceHydrator", "drySource"]);
        let sources = one.chain(dry).chain(items(object, &["spec", "sources"]));
        let urls = sources.map(|source| word(source, &["repoURL"]).to_owned()).filter(|url| !url.is_empty());
        Self {
            name: field(&["metadata", "name"]),
            namespace: field(&["metadata", "namespace"]),
            sources: urls.collect(),
            server,
            cluster,
            to_namespace: field(&["spec", "destination", "namespace"]),
            objects: Vec::new(),
        }
    }
}

/// The project that an Application is of.
fn project(application: &Value) -> &str {
    match word(application, &["spec", "project"]) {
        "" => "default",
        project => project,
    }
}

/// The Applications of an environment, by their project.
#[derive(Debug, Clone, Default)]
pub(super) struct Applications {
    by_project: BTreeMap<String, Vec<Application>>,
    /// The names, each with the namespaces; empty where that is not known.
    names: BTreeMap<String, BTreeSet<String>>,
}

impl Applications {
    /// One of the dry tree, and its `manifest.yaml`.
    pub(super) fn add(&mut self, object: &Value, sources: &[String], manifest: Option<&[u8]>) {
        let mut application = Application { sources: sources.to_vec(), ..Application::of(object) };
        // What cannot be read is reported where it changes.
        for object in read(manifest.unwrap_or_default(), Source::Output("the environment branch")).unwrap_or_default() {
            let namespace = match object.namespace() {
                _ if is_likely_of_cluster(&object) => None,
                "" => Some(application.to_namespace.clone()),
                namespace => Some(namespace.to_owned()),
            };
            let [group, kind, name] = [object.group(), object.kind(), object.name()].map(str::to_owned);
            application.objects.push(Rendered { group, kind, name, namespace });
        }
        application.objects.sort();
        self.insert(project(object), application);
    }

    /// One that is an object of an environment, unless it is one of the dry tree.
    pub(super) fn add_object(&mut self, object: &Manifest) {
        if (object.home_group(), object.kind()) != ("argoproj.io", "Application") {
            return;
        }
        let one = Application::of(object.object());
        let is_any = |of: &BTreeSet<String>| one.namespace.is_empty() || of.contains("") || of.contains(&one.namespace);
        if !self.names.get(&one.name).is_some_and(is_any) {
            self.insert(project(object.object()), one);
        }
    }

    fn insert(&mut self, project: &str, application: Application) {
        self.names.entry(application.name.clone()).or_default().insert(application.namespace.clone());
        self.by_project.entry(project.to_owned()).or_default().push(application);
    }

    /// Those of a project, by name.
    pub(super) fn of(&self, project: &str) -> &[Application] {
        self.by_project.get(project).map_or(&[], Vec::as_slice)
    }

    /// Those of all projects, by project and name.
    pub(super) fn all(&self) -> Vec<&Application> {
        self.by_project.values().flatten().collect()
    }

    /// Sorts them when all are there.
    pub(super) fn sorted(mut self) -> Self {
        self.by_project.values_mut().for_each(|all| all.sort());
        self
    }
}
