//! Where the transformers look: the built-in field specs, and what `configurations` and `crds` add.

mod crds;
mod defaults;

use std::sync::{Arc, LazyLock};

use dry_files::path::RepoPath;
use dry_files::view::Blob;

use super::decode::{self, Mode, record};
use super::error::Result;
use super::field_spec::{self, FieldSpec};
use super::id::{Gvk, OwnedGvk};
use super::place;
use super::text;
use super::version::{Difference, Switches};

pub(crate) use crds::of_crds;

/// The resources that are meant by a name, and the fields with such names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameReference {
    pub gvk: OwnedGvk,
    pub referrers: Vec<FieldSpec>,
}

/// The fields that each transformer changes (kustomize `TransformerConfig`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Config {
    pub name_prefix: Vec<FieldSpec>,
    pub name_suffix: Vec<FieldSpec>,
    pub namespace: Vec<FieldSpec>,
    pub common_labels: Vec<FieldSpec>,
    pub labels: Vec<FieldSpec>,
    pub template_labels: Vec<FieldSpec>,
    pub common_annotations: Vec<FieldSpec>,
    pub name_reference: Vec<NameReference>,
    pub var_reference: Vec<FieldSpec>,
    pub images: Vec<FieldSpec>,
    pub replicas: Vec<FieldSpec>,
}

record! {
    /// A field spec as it is written.
    WrittenSpec: "FieldSpec" {
        group: String = "group" ["Gvk"],
        version: String = "version" ["Gvk"],
        kind: String = "kind" ["Gvk"],
        path: String = "path",
        create: bool = "create",
    }
}

impl WrittenSpec {
    pub(crate) fn spec(self) -> FieldSpec {
        FieldSpec::new(OwnedGvk { group: self.group, version: self.version, kind: self.kind }, self.path, self.create)
    }
}

record! {
    WrittenReference: "NameBackReferences" {
        group: String = "group" ["Gvk"],
        version: String = "version" ["Gvk"],
        kind: String = "kind" ["Gvk"],
        referrers: Option<Vec<WrittenSpec>> = "fieldSpecs",
    }
}

record! {
    WrittenConfig: "TransformerConfig" {
        name_prefix: Option<Vec<WrittenSpec>> = "namePrefix",
        name_suffix: Option<Vec<WrittenSpec>> = "nameSuffix",
        namespace: Option<Vec<WrittenSpec>> = "namespace",
        common_labels: Option<Vec<WrittenSpec>> = "commonLabels",
        labels: Option<Vec<WrittenSpec>> = "labels",
        template_labels: Option<Vec<WrittenSpec>> = "templateLabels",
        common_annotations: Option<Vec<WrittenSpec>> = "commonAnnotations",
        name_reference: Option<Vec<WrittenReference>> = "nameReference",
        var_reference: Option<Vec<WrittenSpec>> = "varReference",
        images: Option<Vec<WrittenSpec>> = "images",
        replicas: Option<Vec<WrittenSpec>> = "replicas",
    }
}

impl From<WrittenReference> for NameReference {
    fn from(written: WrittenReference) -> Self {
        let gvk = OwnedGvk { group: written.group, version: written.version, kind: written.kind };
        Self { gvk, referrers: specs(written.referrers) }
    }
}

/// The specs of a list as it is written.
pub(crate) fn specs(written: Option<Vec<WrittenSpec>>) -> Vec<FieldSpec> {
    written.unwrap_or_default().into_iter().map(WrittenSpec::spec).collect()
}

impl Config {
    /// The built-in configuration of a version of Kustomize, one and the same for all its builds.
    pub(crate) fn builtin(switches: Switches) -> Arc<Config> {
        static LAST: LazyLock<Arc<Config>> = LazyLock::new(|| Config::sorted(defaults::config()));
        static WITHOUT_VOLUMES: LazyLock<Arc<Config>> =
            LazyLock::new(|| Config::sorted(defaults::without_volume_images(defaults::config())));
        static WITHOUT_POLICIES: LazyLock<Arc<Config>> = LazyLock::new(|| {
            Config::sorted(defaults::without_policy_names(defaults::without_volume_images(defaults::config())))
        });
        match (switches.has(Difference::PolicyNames), switches.has(Difference::VolumeImages)) {
            (true, true) => LAST.clone(),
            (true, false) => WITHOUT_VOLUMES.clone(),
            (false, _) => WITHOUT_POLICIES.clone(),
        }
    }

    fn sorted(mut config: Config) -> Arc<Config> {
        config.sort();
        Arc::new(config)
    }

    /// Reads a file that `configurations` names.
    pub(crate) fn parse(content: &[u8]) -> Result<Self> {
        let value = text::unmarshal_strict(content)?;
        let written: WrittenConfig = decode::decode(&value, Mode::Strict)
            .map_err(|error| error.prefix("error unmarshaling JSON: while decoding JSON"))?;

        let mut config = Config {
            name_prefix: specs(written.name_prefix),
            name_suffix: specs(written.name_suffix),
            namespace: specs(written.namespace),
            common_labels: specs(written.common_labels),
            labels: specs(written.labels),
            template_labels: specs(written.template_labels),
            common_annotations: specs(written.common_annotations),
            name_reference: written.name_reference.unwrap_or_default().into_iter().map(NameReference::from).collect(),
            var_reference: specs(written.var_reference),
            images: specs(written.images),
            replicas: specs(written.replicas),
        };
        config.sort();
        Ok(config)
    }

    /// Each list with its name, in the order in which they are merged.
    fn lists(&mut self) -> [(&'static str, &mut Vec<FieldSpec>); 10] {
        [
            ("NamePrefix", &mut self.name_prefix),
            ("NameSuffix", &mut self.name_suffix),
            ("NameSpace", &mut self.namespace),
            ("CommonAnnotations", &mut self.common_annotations),
            ("CommonLabels", &mut self.common_labels),
            ("Labels", &mut self.labels),
            ("TemplateLabels", &mut self.template_labels),
            ("VarReference", &mut self.var_reference),
            ("Images", &mut self.images),
            ("Replicas", &mut self.replicas),
        ]
    }

    /// This configuration with another one added.
    pub(crate) fn merge(&self, other: &Config) -> Result<Config> {
        let (mut merged, mut other) = (self.clone(), other.clone());
        for ((name, list), (_, incoming)) in merged.lists().into_iter().zip(other.lists()) {
            field_spec::merge_all(list, incoming)
                .map_err(|error| error.prefix(format!("failed to merge {name} fieldSpec")))?;
        }
        for reference in other.name_reference {
            merged.merge_reference(reference)?;
        }
        merged.sort();
        Ok(merged)
    }

    fn merge_reference(&mut self, incoming: NameReference) -> Result<()> {
        let mut found = false;
        for reference in self.name_reference.iter_mut().filter(|reference| reference.gvk == incoming.gvk) {
            found = true;
            field_spec::merge_all(&mut reference.referrers, &incoming.referrers)
                .map_err(|error| error.prefix("failed to merge NameReference fieldSpec"))?;
        }
        if !found {
            self.name_reference.push(incoming);
        }
        Ok(())
    }

    fn sort(&mut self) {
        for (_, list) in self.lists() {
            list.sort_by_cached_key(|spec| sort_key(spec.gvk.borrow()));
        }
        self.name_reference.sort_by_cached_key(|reference| sort_key(reference.gvk.borrow()));
    }
}

/// The kinds that come first, in the order in which a cluster needs them.
pub(crate) const ORDER_FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// The kinds that come last.
pub(crate) const ORDER_LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

fn sort_key(gvk: Gvk<'_>) -> (i32, String) {
    let at = |list: &[&str]| list.iter().position(|kind| *kind == gvk.kind).and_then(|at| i32::try_from(at).ok());
    let rank = match (at(&ORDER_FIRST), at(&ORDER_LAST)) {
        (Some(first), _) => first - 22,
        (None, Some(last)) => last + 1,
        (None, None) => 0,
    };
    let or = |text, none| if str::is_empty(text) { none } else { text };
    (rank, format!("{}_{}_{}", or(gvk.group, "~G"), or(gvk.version, "~V"), or(gvk.kind, "~K")))
}

/// The configuration of one kustomization: the built-in one and the files that it names.
pub(crate) fn of_files(
    files: impl Iterator<Item = Result<(RepoPath, Blob)>>,
    switches: Switches,
) -> Result<Arc<Config>> {
    let mut added: Option<Config> = None;
    for (index, file) in files.enumerate() {
        let (path, blob) = file.map_err(|error| error.inside(index))?;
        let config = Config::parse(&blob.data).map_err(|error| place::locate(error, &path, &blob.data))?;
        added = Some(added.unwrap_or_default().merge(&config)?);
    }
    match added {
        None => Ok(Config::builtin(switches)),
        Some(added) => Ok(Arc::new(Config::builtin(switches).merge(&added)?)),
    }
}

/// Adds a configuration to one that has been gathered so far.
///
/// Adding to nothing is no plain copy: the entries are sorted by then, and a general one is left out behind a special one
/// for the same field. So `namePrefix` for one kind in a file of `configurations` takes the prefix from all others.
/// The built-in configuration, which most kustomizations have on all levels, is not changed by itself.
pub(crate) fn merge(into: &mut Option<Arc<Config>>, added: &Arc<Config>, switches: Switches) -> Result<()> {
    let builtin = Arc::ptr_eq(added, &Config::builtin(switches));
    let merged = match into {
        None if builtin => added.clone(),
        Some(config) if builtin && Arc::ptr_eq(config, added) => return Ok(()),
        None => Arc::new(Config::default().merge(added)?),
        Some(config) => Arc::new(config.merge(added)?),
    };
    *into = Some(merged);
    Ok(())
}

/// A spec of kind and path alone.
fn spec(kind: &str, path: impl Into<String>, create: bool) -> FieldSpec {
    FieldSpec::new(OwnedGvk::new("", "", kind), path, create)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Kustomize;

    /// What [`merge`] relies on.
    #[test]
    fn the_builtin_configuration_is_not_changed_by_itself() {
        for builtin in Kustomize::ALL.map(|version| Config::builtin(Switches::of(version))) {
            assert_eq!(Config::default().merge(&builtin).as_ref(), Ok(&*builtin));
            assert_eq!(builtin.merge(&builtin).as_ref(), Ok(&*builtin));
        }
    }
}
