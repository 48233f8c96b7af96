//! What the sources of one Application render to together.
//!
//! Reference: Argo CD 3 docs/user-guide/multiple_sources.md; controller/state.go `DeduplicateTargetObjects`.

use std::collections::{BTreeMap, HashMap};

use dry_files::diag::more::and_more_in_brackets;
use dry_files::diag::{Diagnostic, Span};

use super::conflict;
use crate::argo::Application;
use crate::manifest::{Key, Manifest};

/// The objects of all sources in their order, `parts` with the place of each source. Of an object that two sources render, the
/// last one is kept, with a warning for each pair of sources.
pub(super) fn united(application: &Application, parts: Vec<(Span, Vec<Manifest>)>) -> (Vec<Manifest>, Vec<Diagnostic>) {
    let mut last: HashMap<Key, usize> = HashMap::new();
    for (source, (_, manifests)) in parts.iter().enumerate() {
        last.extend(manifests.iter().filter_map(|manifest| Some((conflict::key(manifest, application)?, source))));
    }
    let places: Vec<Span> = parts.iter().map(|(place, _)| place.clone()).collect();
    let mut kept: Vec<Manifest> = Vec::new();
    let mut replaced: BTreeMap<(usize, usize), Vec<Key>> = BTreeMap::new();
    for (source, (_, manifests)) in parts.into_iter().enumerate() {
        for manifest in manifests {
            let key = conflict::key(&manifest, application);
            let later = key.as_ref().and_then(|key| last.get(key)).copied().filter(|later| *later != source);
            match later.zip(key) {
                Some((later, key)) => replaced.entry((source, later)).or_default().push(key),
                None => kept.push(manifest),
            }
        }
    }
    let mut warnings = Vec::with_capacity(replaced.len());
    for ((source, later), keys) in replaced {
        let (Some(here), Some(there), [first, more @ ..]) = (places.get(source), places.get(later), &keys[..]) else {
            continue;
        };
        let more = and_more_in_brackets(more.len());
        let text = format!("two sources of `{}` render {first}{more}: the later one counts", application.name);
        let at = Span { column: 0, ..there.clone() };
        warnings.push(Diagnostic::warning(text).at(here.clone()).label(format!("the later one is at {at}")));
    }
    (kept, warnings)
}
