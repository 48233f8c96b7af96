//! The generator `clusters`: the clusters that Argo CD knows by Secrets.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/cluster.go.

use dry_files::diag::Refusal;
use go_template::Value as TemplateValue;
use go_yaml::Value;

use super::super::Sources;
use super::super::fault::{Fault, Result};
use super::super::functions::normalize;
use super::super::known_clusters::{Cluster, Known};
use super::super::language::Language;
use super::super::origin::{Element, Origin, Source};
use super::super::params::{self, Params};
use super::super::selector::{Kind, Selector};
use crate::manifest::{OWN_CLUSTER, OWN_CLUSTER_NAME};

/// The name and the address of the cluster that Argo CD itself runs in.
const IN_CLUSTER: (&str, &str) = (OWN_CLUSTER_NAME, OWN_CLUSTER);

/// A params set for each cluster that the selector selects, in the order of their names; then, without a selector and
/// unless a Secret represents it, the cluster that Argo CD itself runs in.
pub(super) fn params(language: &mut Language, sources: &Sources<'_>, generator: &Value) -> Result<Vec<Element>> {
    let empty = Value::Null;
    let selector = generator.get("selector").unwrap_or(&empty);
    let selector = Selector::new(selector, Kind::Objects).map_err(|fault| {
        fault.within("error converting label selector").within("error getting cluster secrets").below("selector")
    })?;
    let clusters = match sources.clusters()? {
        Known::Unknown => {
            return Err(Fault::refused(
                "only Argo CD knows the clusters: the dry tree has no cluster Secret",
                Refusal::Elsewhere,
                "list them in a file of the dry tree, which `git hydrate clusters import` writes, and name the file \
                in the setting `clusters`; or commit their Secrets without `config`",
            ));
        }
        Known::Clusters(clusters) => clusters,
    };
    let is_selected = |cluster: &&Cluster| selector.matches(|key| cluster.labels.get(key).map(String::as_str));
    let selected: Vec<&Cluster> = clusters.iter().filter(is_selected).collect();
    let has_in_cluster = selected.iter().any(|cluster| cluster.server == IN_CLUSTER.1);
    let mut all = Vec::with_capacity(selected.len() + 1);
    let append = |language: &mut Language, params: &Params, what: &str| {
        params::append_values(language, params, generator.get("values"))
            .map_err(|fault| fault.within(format!("error appending templated values for {what}")))
    };
    for cluster in selected {
        let params = of_cluster(language, cluster)?;
        append(language, &params, "cluster")?;
        all.push(Element { params, origin: Origin::of(Source::Cluster(cluster.name.clone())) });
    }
    if selector.is_empty() && !has_in_cluster {
        let params = named(IN_CLUSTER.0, IN_CLUSTER.1, "");
        append(language, &params, "local cluster")?;
        all.push(Element { params, origin: Origin::of(Source::Cluster(IN_CLUSTER.0.to_owned())) });
    }
    if generator.get("flatList").and_then(Value::as_bool) == Some(true) {
        let params = Params::new();
        params.set("clusters", params::sets(all.into_iter().map(|element| element.params).collect()));
        return Ok(vec![Element { params, origin: Origin::of(Source::Entry(Vec::new())) }]);
    }
    Ok(all)
}

fn named(name: &str, server: &str, project: &str) -> Params {
    let params = Params::new();
    params.set("name", name);
    params.set("nameNormalized", normalize(name));
    params.set("server", server);
    params.set("project", project);
    params
}

fn of_cluster(language: &mut Language, cluster: &Cluster) -> Result<Params> {
    let params = named(&cluster.name, &cluster.server, &cluster.project);
    let maps = [("annotations", &cluster.annotations), ("labels", &cluster.labels)];
    let metadata = Params::new();
    for (name, map) in maps {
        language.charge(map.iter().map(|(key, value)| 64 + key.len() + value.len()).sum())?;
        if language.is_go && !map.is_empty() {
            metadata.set(name, params::texts_by_name(map.iter().map(|(key, value)| (key.as_str(), value.as_str()))));
        }
        if !language.is_go {
            for (key, value) in map {
                params.set(format!("metadata.{name}.{key}"), value.as_str());
            }
        }
    }
    if language.is_go {
        params.set("metadata", TemplateValue::Map(metadata));
    }
    Ok(params)
}
