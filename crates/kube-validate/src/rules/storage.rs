//! Volumes, claims and their classes.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go `ValidateVolumes`, `ValidatePersistentVolumeSpec`.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::fields::{at, get, has, items, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;
use crate::quantity::Quantity;

/// Fields that are no source.
const NO_SOURCES: &[&str] = &[
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "name",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

fn sources(volume: &Mapping) -> Vec<&str> {
    let is_source = |(key, value): &(&String, &Value)| !value.is_null() && !NO_SOURCES.contains(&key.as_str());
    volume.iter().filter(is_source).map(|(key, _)| key.as_str()).collect()
}

pub(super) fn volume(_: &Context<'_>, volume: &Mapping, out: &mut Findings) {
    for source in sources(volume).iter().skip(1) {
        out.refuse(&format!(".{source}"), "volume-source", Reason::Forbidden, "must not be set beside another source");
    }
    if let Some(path) = map(volume, "hostPath").map(|source| text(source, "path"))
        && path.split('/').any(|part| part == "..")
    {
        out.invalid(".hostPath.path", "path", "must not contain `..`");
    }
    if let Some(ephemeral) = map(volume, "ephemeral") {
        out.within(".ephemeral.volumeClaimTemplate", |out| {
            let Some(template) = map(ephemeral, "volumeClaimTemplate") else { return out.required("", "must be set") };
            if let Some(metadata) = map(template, "metadata") {
                out.within(".metadata", |out| super::metadata::labels_and_annotations(metadata, out));
            }
        });
    }
    if let Some(path) = map(volume, "nfs").map(|source| text(source, "path")).filter(|path| !path.is_empty())
        && !path.starts_with('/')
    {
        out.invalid(".nfs.path", "path", "must begin with `/`");
    }
    let limit = map(volume, "emptyDir").and_then(|source| get(source, "sizeLimit")).and_then(Quantity::of);
    if limit.is_some_and(Quantity::is_negative) {
        out.invalid(".emptyDir.sizeLimit", "range", "must not be negative");
    }
    if let Some(projected) = map(volume, "projected") {
        out.within(".projected", |out| files(projected, out));
        for (index, source) in items(projected, "sources") {
            let sources: Vec<&String> =
                source.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key).collect();
            for key in sources.iter().skip(1) {
                let at = format!(".projected.sources[{index}].{key}");
                out.refuse(&at, "volume-source", Reason::Forbidden, "must not be set beside another source");
            }
        }
    }
}

/// Files that two sources of a volume give.
fn files(projected: &Mapping, out: &mut Findings) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, source) in items(projected, "sources") {
        for from in ["secret", "configMap", "downwardAPI"] {
            for (at, file) in map(source, from).into_iter().flat_map(|source| items(source, "items")) {
                let path = text(file, "path");
                if !path.is_empty() && seen.contains(&path) {
                    let at = format!(".sources[{index}].{from}.items[{at}].path");
                    out.invalid(&at, "duplicate", format!("is {}, which is there already", shown(path)));
                }
                seen.push(path);
            }
        }
    }
}

/// Files of a volume.
pub(super) fn file(_: &Context<'_>, item: &Mapping, out: &mut Findings) {
    let path = text(item, "path");
    if !path.is_empty() {
        name_of("path", names::file_path, path, ".path", out);
    }
}

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

fn access_modes(spec: &Mapping, out: &mut Findings) {
    let modes = list(spec, "accessModes");
    if modes.is_empty() {
        out.required(".accessModes", "must be set");
    }
    for (index, mode) in modes.iter().enumerate() {
        let mode = mode.as_str().unwrap_or_default();
        if !ACCESS_MODES.contains(&mode) {
            out.within(format_args!(".accessModes[{index}]"), |out| crate::walk::not_one_of(ACCESS_MODES, mode, out));
        }
    }
    if modes.len() > 1 && modes.iter().any(|mode| mode.as_str() == Some("ReadWriteOncePod")) {
        out.refuse(".accessModes", "access-modes", Reason::Forbidden, "must not have ReadWriteOncePod beside another");
    }
}

/// What a claim asks for.
pub(super) fn claim(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    access_modes(spec, out);
    super::resources::claim(spec, out);
    if let (Some(source), Some(reference)) = (map(spec, "dataSource"), map(spec, "dataSourceRef"))
        && ["apiGroup", "kind", "name"].iter().any(|field| text(source, field) != text(reference, field))
    {
        out.invalid(".dataSource", "data-source", "must be the object that `dataSourceRef` is");
    }
    let Some(source) = map(spec, "dataSource").or_else(|| map(spec, "dataSourceRef")) else { return };
    if text(source, "apiGroup").is_empty() && text(source, "kind") != "PersistentVolumeClaim" {
        out.invalid(".dataSource", "data-source", "must have an `apiGroup`, unless it is a PersistentVolumeClaim");
    }
}

/// A claim of which a StatefulSet makes one for each Pod.
pub(super) fn claim_template(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    for (index, claim) in items(spec, "volumeClaimTemplates") {
        out.within(format_args!(".volumeClaimTemplates[{index}]"), |out| {
            if !has(claim, "spec") {
                out.required(".spec", "must be set");
            }
            let empty = Mapping::new();
            let metadata = map(claim, "metadata").unwrap_or(&empty);
            super::metadata::labels_and_annotations(metadata, &mut *out);
        });
    }
}

pub(super) fn persistent_volume(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    access_modes(spec, out);
    match map(spec, "capacity").filter(|capacity| !capacity.is_empty()) {
        None => out.required(".capacity", "must be set"),
        Some(capacity) => {
            if !capacity.contains_key("storage") || capacity.len() > 1 {
                out.refuse(".capacity", "enum", Reason::NotSupported, "must have `storage` alone");
            }
            for (name, amount) in capacity.iter().filter_map(|(name, value)| Some((name, Quantity::of(value)?))) {
                if amount.is_negative() || amount.is_zero() {
                    out.invalid(&format!(".capacity[{name}]"), "range", "must be greater than 0");
                }
            }
        }
    }
    let sources = sources(spec);
    if sources.is_empty() {
        out.required("", "must have a source such as `csi` or `nfs`");
    }
    for source in sources.iter().skip(1) {
        out.refuse(&format!(".{source}"), "volume-source", Reason::Forbidden, "must not be set beside another source");
    }
    for (field, kind) in [("nfs", "path"), ("local", "path"), ("hostPath", "path")] {
        let Some(source) = map(spec, field) else { continue };
        let path = text(source, kind);
        if field == "nfs" && !path.starts_with('/') {
            out.invalid(&format!(".{field}.path"), "path", format!("is {}, and must begin with `/`", shown(path)));
        }
        if path.split('/').any(|part| part == "..") {
            out.invalid(&format!(".{field}.path"), "path", "must not contain `..`");
        }
    }
    if map(spec, "hostPath").is_some_and(|source| text(source, "path").trim_end_matches('/').is_empty())
        && text(spec, "persistentVolumeReclaimPolicy") == "Recycle"
    {
        out.refuse(".persistentVolumeReclaimPolicy", "forbidden", Reason::Forbidden, "must not be Recycle for `/`");
    }
    if has(spec, "local") && at(spec, &["nodeAffinity", "required"]).is_none() {
        out.required(".nodeAffinity", "must be set for a local volume");
    }
}

pub(super) fn storage_class(_: &Context<'_>, class: &Mapping, out: &mut Findings) {
    let provisioner = text(class, "provisioner");
    if !provisioner.is_empty() {
        name_of("name", names::annotation, provisioner, ".provisioner", out);
    }
    for (index, topology) in items(class, "allowedTopologies") {
        for (at, each) in items(topology, "matchLabelExpressions") {
            if list(each, "values").is_empty() {
                let at = format!(".allowedTopologies[{index}].matchLabelExpressions[{at}].values");
                out.required(&at, "must be set");
            }
        }
    }
    if map(class, "parameters").is_some_and(|parameters| parameters.contains_key("")) {
        out.invalid(".parameters", "name", "must not have an empty key");
    }
}
