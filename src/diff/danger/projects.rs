//! AppProjects of Argo CD: the Applications that they no longer permit.
//!
//! Reference: argo-cd 3.4 pkg/apis/application/v1alpha1/types.go `IsSourcePermitted`, `IsDestinationPermitted`,
//! `IsGroupKindNamePermitted`, app_project_types.go `IsAppNamespacePermitted`; util/argo/argo.go `ValidatePermissions`.

use dry_files::diag::more::listed;
use go_std::glob::Glob;
use go_yaml::Value;

use super::{Around, Danger, Severity};
use crate::diff::model::{Application, Rendered, word};
use crate::manifest::Manifest;

/// How many Applications are named.
const NAMED_MAX: usize = 4;

/// How many entries of a project are looked at: one that has more is not judged.
const ENTRIES_MAX: usize = 500;

/// The lists of a project.
const LISTS: [&str; 7] = [
    "sourceRepos",
    "destinations",
    "sourceNamespaces",
    "clusterResourceWhitelist",
    "clusterResourceBlacklist",
    "namespaceResourceWhitelist",
    "namespaceResourceBlacklist",
];

/// Where Argo CD is, as far as nothing else is known.
const ARGO_CD: &str = "argocd";

fn is_project(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("argoproj.io", "AppProject")
}

/// Applications that a project permitted and no longer does.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if !is_project(new) {
        return None;
    }
    let (before, after) = (Project::new(old, around)?, Project::new(new, around)?);
    let of_it = around.model.after.of_project(new.name());
    let refused: Vec<String> = of_it.iter().filter_map(|one| refusal(one, &before, &after)).collect();
    let (first, stops) = match refused.len() {
        0 => return None,
        1 => ("no longer permits an Application".to_owned(), "stops syncing it"),
        count => (format!("no longer permits {count} Applications"), "stops syncing them"),
    };
    let text = format!("{first} ({}): Argo CD {stops}", listed(&refused, NAMED_MAX));
    Some(Danger::said(Severity::Outage, "notPermitted", text, "keep permitted what its Applications use"))
}

/// A project that goes while Applications are of it.
pub(super) fn removed(old: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    if !is_project(old) || !pruning.removes() {
        return None;
    }
    let of_it = around.model.after.of_project(old.name());
    let (them, whose) = match of_it.len() {
        0 => return None,
        1 => ("an Application is", "it"),
        _ => ("Applications are", "them"),
    };
    let names = listed(of_it.iter().map(|one| &one.name), NAMED_MAX);
    let text = format!("removed while {them} of it ({names}): Argo CD stops syncing {whose}");
    let advice = "keep it until no Application names it";
    Some(Danger::said(Severity::Outage, "projectRemoved", text, advice).pruned(pruning))
}

/// `web: its repository https://… `: what of an Application a project does not permit that another one does.
fn refusal(one: &Application, before: &Project, after: &Project) -> Option<String> {
    let source = one.sources.iter().find(|url| before.permits_source(url) && !after.permits_source(url));
    if let Some(url) = source {
        return Some(format!("{}: its repository {}", one.name, without_password(url)));
    }
    if before.permits_destination(one, &one.to_namespace) && !after.permits_destination(one, &one.to_namespace) {
        let cluster = if one.cluster.is_empty() { &one.server } else { &one.cluster };
        if after.has_destination(one, &one.to_namespace) {
            return Some(format!("{}: its cluster {cluster}, unless the Secret of that names the project", one.name));
        }
        return Some(format!("{}: its destination {cluster} {}", one.name, one.to_namespace).trim_end().to_owned());
    }
    let is_elsewhere = !one.namespace.is_empty() && one.namespace != before.namespace;
    if is_elsewhere && before.permits_namespace(&one.namespace) && !after.permits_namespace(&one.namespace) {
        return Some(format!("{}: its own namespace {}", one.name, one.namespace));
    }
    one.objects.iter().find_map(|object| {
        let Rendered { kind, name, .. } = object;
        match &object.namespace {
            _ if before.permits_kind(object) && !after.permits_kind(object) => {
                Some(format!("{}: its {kind} {name}", one.name))
            }
            Some(to) if before.permits_destination(one, to) && !after.permits_destination(one, to) => {
                Some(format!("{}: its {kind} {name} in namespace {to}", one.name))
            }
            _ => None,
        }
    })
}

/// A project, and where it is.
struct Project {
    namespace: String,
    sources: Vec<Pattern>,
    /// Names and URLs of clusters, and namespaces.
    destinations: Vec<[Pattern; 3]>,
    source_namespaces: Vec<Pattern>,
    /// Of objects of the cluster, and of those of namespaces: the allowed kinds, and the forbidden ones.
    kinds: [[Option<Vec<[Pattern; 3]>>; 2]; 2],
    /// The clusters that are its own, where these alone are permitted: URLs and names, as far as they are known.
    own: Option<Vec<[String; 2]>>,
}

impl Project {
    /// None where it has more entries than are looked at.
    fn new<'a>(project: &'a Manifest, around: &Around<'a>) -> Option<Self> {
        let list = |key: &str| project.object().at(&["spec", key]).and_then(Value::as_sequence);
        let all = LISTS.into_iter().filter_map(list).map(<[Value]>::len);
        if all.sum::<usize>() > ENTRIES_MAX {
            return None;
        }
        let patterns = |key: &str, has_separator: bool| -> Vec<Pattern> {
            let texts = list(key).unwrap_or_default().iter().filter_map(Value::as_str);
            texts.map(|text| Pattern::new(text, has_separator)).collect()
        };
        let of_keys = |entry: &Value, keys: [&str; 3]| keys.map(|key| Pattern::new(word(entry, &[key]), false));
        let kinds = |key: &str| {
            let entries = list(key)?.iter();
            Some(entries.map(|entry| of_keys(entry, ["group", "kind", "name"])).collect())
        };
        let is_scoped = project.object().at(&["spec", "permitOnlyProjectScopedClusters"]).and_then(Value::as_bool);
        Some(Self {
            namespace: match around.after(project).namespace {
                "" => ARGO_CD.to_owned(),
                namespace => namespace.to_owned(),
            },
            sources: patterns("sourceRepos", true),
            destinations: list("destinations")
                .unwrap_or_default()
                .iter()
                .map(|entry| of_keys(entry, ["name", "server", "namespace"]))
                .collect(),
            source_namespaces: patterns("sourceNamespaces", false),
            kinds: [
                [kinds("clusterResourceWhitelist"), kinds("clusterResourceBlacklist")],
                [kinds("namespaceResourceWhitelist"), kinds("namespaceResourceBlacklist")],
            ],
            own: (is_scoped == Some(true)).then(|| own_clusters(project, around)),
        })
    }

    fn permits_source(&self, url: &str) -> bool {
        let url = normal(url);
        let is_refused = self.sources.iter().any(|pattern| pattern.is_denied && !pattern.is(&url));
        !is_refused && self.sources.iter().any(|pattern| pattern.is(&url))
    }

    /// Whether one of its destinations is that of an Application, whosever the cluster is.
    fn has_destination(&self, one: &Application, namespace: &str) -> bool {
        let mut is_permitted = false;
        for [name, server, to] in &self.destinations {
            // What the cluster is called otherwise is not known: it may be this one.
            let is_it =
                |pattern: &Pattern, text: &str| if text.is_empty() { !pattern.is_empty } else { pattern.is(text) };
            let (by_name, by_server) = (is_it(name, &one.cluster), is_it(server, &one.server));
            let is_namespace = to.is(namespace);
            if (by_name || by_server) && is_namespace {
                is_permitted = true;
            } else if !by_name && name.is_denied
                || !by_server && server.is_denied && is_namespace
                || !is_namespace && to.is_denied && (by_server || by_name)
            {
                return false;
            }
        }
        is_permitted
    }

    fn permits_destination(&self, one: &Application, namespace: &str) -> bool {
        let is_it = |[server, name]: &[String; 2]| {
            !server.is_empty() && *server == one.server || !name.is_empty() && *name == one.cluster
        };
        let is_own = self.own.as_ref().is_none_or(|own| own.iter().any(is_it));
        is_own && self.has_destination(one, namespace)
    }

    /// Whether its Applications may be in a namespace beside that of Argo CD.
    fn permits_namespace(&self, namespace: &str) -> bool {
        namespace == self.namespace || self.source_namespaces.iter().any(|pattern| pattern.is(namespace))
    }

    fn permits_kind(&self, object: &Rendered) -> bool {
        let is_of = |[group, kind, name]: &[Pattern; 3]| {
            group.is(&object.group) && kind.is(&object.kind) && (name.is_empty || name.is(&object.name))
        };
        let [of_cluster, of_namespaces] = &self.kinds;
        // Without a list, all kinds of namespaces are allowed, and none of the cluster.
        let ([allowed, forbidden], otherwise) = match object.namespace {
            Some(_) => (of_namespaces, true),
            None => (of_cluster, false),
        };
        let is_in = |list: &Option<Vec<[Pattern; 3]>>| list.as_ref().map(|list| list.iter().any(is_of));
        is_in(allowed).unwrap_or(otherwise) && !is_in(forbidden).unwrap_or(false)
    }
}

/// The clusters whose Secret names a project.
fn own_clusters<'a>(project: &'a Manifest, around: &Around<'a>) -> Vec<[String; 2]> {
    let is_cluster = |secret: &&Manifest| {
        let label = secret.object().at(&["metadata", "labels", "argocd.argoproj.io/secret-type"]);
        secret.kind() == "Secret" && label.and_then(Value::as_str) == Some("cluster")
    };
    let field = |secret: &Manifest, key: &str| word(secret.object(), &["stringData", key]).to_owned();
    let secrets = around.model.after.all().iter().map(|placed| placed.manifest).filter(is_cluster);
    let of_it = secrets.filter(|secret| field(secret, "project") == project.name());
    of_it.map(|secret| ["server", "name"].map(|key| field(secret, key))).collect()
}

/// A pattern of a list, `!` before one that denies.
struct Pattern {
    glob: Option<Glob>,
    is_any: bool,
    is_empty: bool,
    is_denied: bool,
}

impl Pattern {
    fn new(text: &str, has_separator: bool) -> Self {
        let (is_denied, pattern) = text.strip_prefix('!').map_or((false, text), |pattern| (true, pattern));
        let glob = if has_separator { Glob::new(&normal(pattern)) } else { Glob::without_separator(pattern) };
        Self { glob: glob.ok(), is_any: pattern == "*", is_empty: pattern.is_empty(), is_denied }
    }

    /// Whether a text is as it says; for one that denies, whether it is not.
    fn is(&self, text: &str) -> bool {
        let is_it = self.is_any || self.glob.as_ref().is_some_and(|glob| glob.matches(text));
        is_it != self.is_denied
    }
}

/// A URL as Argo CD compares it.
///
/// Reference: argo-cd 3.4 util/git/git.go `NormalizeGitURL`.
pub(super) fn normal(url: &str) -> String {
    let url = url.trim().to_lowercase();
    let url = match url.split_once(':') {
        Some((host, path)) if host.contains('@') && !host.contains('/') && !path.starts_with("//") => {
            format!("ssh://{host}/{}", path.trim_start_matches('/'))
        }
        _ => url,
    };
    let url = url.trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url).to_owned()
}

/// A URL without what is before its host.
pub(super) fn without_password(url: &str) -> String {
    match url.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
        Some((scheme, Some((user, rest)))) if !user.contains('/') => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}
