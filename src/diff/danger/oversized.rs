//! Objects that are too large for the annotation in which a sync keeps what it applied.

use go_yaml::json;

use super::{Around, Danger, Severity, has_sync_option};
use crate::manifest::Manifest;

/// How many bytes the annotations of an object may have together.
///
/// Reference: kubernetes 1.36 apimachinery pkg/api/validation/objectmeta.go `TotalAnnotationSizeLimitB`.
const BYTES_MAX: usize = 256 << 10;

/// An object that does not fit, where what was there before did.
///
/// Reference: argo-cd 3.4 docs/user-guide/sync-options.md, "Server-Side Apply", "Replace Resource Instead Of Applying Changes":
/// neither keeps `kubectl.kubernetes.io/last-applied-configuration`.
pub(super) fn oversized<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_annotated = around.syncs.annotates || has_sync_option(new, "ServerSideApply=false");
    let is_plain = !["ServerSideApply=true", "Replace=true"].iter().any(|option| has_sync_option(new, option));
    if !is_annotated || !is_plain || old == Some(new) {
        return None;
    }
    let bytes = |object: &Manifest| json::encode(object.object(), json::Options::default()).len();
    let size = bytes(new);
    (size > BYTES_MAX && old.is_none_or(|old| bytes(old) <= BYTES_MAX)).then(|| {
        let text = format!(
            "its {size} bytes of JSON do not fit into the annotation of what was applied last ({BYTES_MAX}): the API server refuses it, so the sync fails"
        );
        Danger::said(Severity::Refused, "oversized", text, "set the sync option `ServerSideApply=true` on it")
    })
}
