//! Names, labels, annotations, owners and finalizers.
//!
//! Reference: apimachinery 0.36 pkg/api/validation/objectmeta.go.

use go_yaml::{Mapping, Value};

use super::names::name_rule;
use super::{Context, key_of, name_of};
use crate::fields::{is_true, items, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

/// All keys and values of annotations together, in bytes.
const ANNOTATIONS_MAX: usize = 256 << 10;
const STANDARD_FINALIZERS: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];
/// Groups whose objects may have finalizers without a domain.
const PLAIN_FINALIZERS: &[&str] = &["apiextensions.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io"];

/// What must hold of the metadata of an object as a whole, of a kind of Kubernetes or of a custom one.
pub(crate) fn metadata(context: &Context<'_>, is_custom: bool, out: &mut Findings) {
    let empty = Mapping::new();
    let metadata = map(context.root, "metadata").unwrap_or(&empty);
    out.within(".metadata", |out| {
        name(context, metadata, is_custom, out);
        labels_and_annotations(metadata, out);
        owners(metadata, out);
        let is_strict = !is_custom && !PLAIN_FINALIZERS.contains(&context.group);
        for (index, finalizer) in list(metadata, "finalizers").iter().enumerate() {
            let finalizer = finalizer.as_str().unwrap_or_default();
            let at = format!(".finalizers[{index}]");
            name_of("finalizer", names::qualified, finalizer, &at, out);
            if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
                if is_strict {
                    out.invalid(&at, "finalizer", format!("is {}: must have a domain before a `/`", shown(finalizer)));
                } else {
                    let text = format!("{} has no domain, so that another writer may use it too", shown(finalizer));
                    out.warn(&at, "finalizer-without-domain", text);
                }
            }
        }
    });
}

fn name(context: &Context<'_>, metadata: &Mapping, is_custom: bool, out: &mut Findings) {
    let (name, generate) = (text(metadata, "name"), text(metadata, "generateName"));
    let (rule, is_wrong) =
        if is_custom { ("name", names::subdomain as fn(&str) -> names::Wrong) } else { name_rule(context) };
    if name.is_empty() {
        if generate.is_empty() {
            out.required(".name", "must be set, or `generateName`");
        }
    } else {
        name_of(rule, is_wrong, name, ".name", out);
    }
    if !generate.is_empty() {
        name_of(rule, is_wrong, &generated(generate), ".generateName", out);
    }
}

/// A name as one is made of `generateName`, which may end with `-`.
pub(crate) fn generated(prefix: &str) -> String {
    let most = 58;
    let cut = prefix.char_indices().nth(most).map_or(prefix, |(end, _)| prefix.get(..end).unwrap_or(prefix));
    format!("{cut}xxxxx")
}

/// What holds of an object and of a template of Pods.
pub(crate) fn labels_and_annotations(metadata: &Mapping, out: &mut Findings) {
    if let Some(labels) = map(metadata, "labels") {
        for (key, value) in labels {
            key_of("label-key", names::qualified, key, ".labels", out);
            name_of(
                "label-value",
                names::label_value,
                value.as_str().unwrap_or_default(),
                format_args!(".labels[{key}]"),
                out,
            );
        }
    }
    if let Some(annotations) = map(metadata, "annotations") {
        for key in annotations.keys() {
            key_of("annotation-key", names::annotation, key, ".annotations", out);
        }
        let size = |(key, value): (&String, &Value)| key.len() + value.as_str().unwrap_or_default().len();
        if annotations.iter().map(size).sum::<usize>() > ANNOTATIONS_MAX {
            out.invalid(".annotations", "annotations-size", "must have no more than 256 KiB in all");
        }
    }
}

fn owners(metadata: &Mapping, out: &mut Findings) {
    let mut has_controller = false;
    for (index, owner) in items(metadata, "ownerReferences") {
        out.within(format_args!(".ownerReferences[{index}]"), |out| {
            let version = text(owner, "apiVersion");
            if version.ends_with('/') || version.split('/').count() > 2 {
                out.invalid(".apiVersion", "owner", "must be a group and a version");
            }
            if version == "v1" && text(owner, "kind") == "Event" {
                out.invalid("", "owner", "must not be an Event");
            }
            if is_true(owner, "controller") {
                if has_controller {
                    out.refuse(".controller", "owner", Reason::Invalid, "must be true for one owner at most");
                }
                has_controller = true;
            }
        });
    }
}
