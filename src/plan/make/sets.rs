//! What ApplicationSets make.

use std::sync::Arc;

use super::super::Discovered;
use super::{Expansion, Expansions, FoundSet, Refused, Site};
use crate::application::parent::Makes;
use crate::application::set::{Limits, Sources};
use crate::diag::Diagnostic;
use crate::template;
use crate::view::{Reads, Stop, View};

/// What all sets of a tree may use up together.
pub(super) const LIMITS: Limits = Limits {
    applications: usize::MAX,
    params: 500_000,
    bytes: 512 << 20,
    template: template::Limits { steps: 100_000_000, bytes: 64 << 20, depth: 10_000 },
};

impl Expansions {
    /// What one set makes of a tree. `left` is what all sets have left.
    pub(super) fn of_set(
        &mut self,
        found: &FoundSet,
        discovered: &Discovered,
        site: &Site<'_>,
        left: &Limits,
    ) -> Arc<Expansion> {
        let key = (found.file.0.clone(), found.file.1, found.ordinal);
        let view = View::new(site.files);
        let holds = |expansion: &Expansion| {
            expansion.clusters.as_ref().is_none_or(|clusters| *clusters == discovered.clusters)
                && fits(&expansion.used, left)
                && view.confirms(&expansion.reads).unwrap_or(false)
        };
        if let Some(known) = self.known(&key, holds) {
            return known;
        }
        let expansion = Arc::new(expanded(found, discovered, site, left));
        self.keep(key, &expansion);
        expansion
    }
}

pub(super) fn expanded(found: &FoundSet, discovered: &Discovered, site: &Site<'_>, left: &Limits) -> Expansion {
    let by = found.set.by();
    let of_set = Limits::default();
    let mut limits = Limits {
        applications: of_set.applications,
        params: of_set.params.min(left.params),
        bytes: of_set.bytes.min(left.bytes),
        template: template::Limits { steps: of_set.template.steps.min(left.template.steps), ..of_set.template },
    };
    let before = limits;
    let (mut made, mut reads, mut used_clusters) = (None, Reads::new(), false);
    let mut work = |stop: Stop| {
        let view = View::new(site.files).until(stop);
        let sources = Sources::new(&view, site.home()).in_namespace(&site.makers.argocd_namespace).of_part(site.only);
        let sources = sources.with_recorded_files(site.makers.parameters.clone()).with_clusters(site.clusters.clone());
        made = Some(found.set.expand_within(&sources, &mut limits));
        used_clusters = sources.used_clusters();
        reads = view.reads();
    };
    let in_time = site.renders.within_time(&by, &mut work);
    let refused = |diagnostic: Diagnostic, is_limit| {
        let what = format!("{by} makes no Applications: {}", diagnostic.message);
        Refused { diagnostic: Diagnostic { message: what, ..diagnostic }, is_limit }
    };
    let repeats = in_time.is_ok();
    let made = match (in_time, made) {
        (Err(limit), _) => Err(refused(Diagnostic::error(limit).at(found.set.span()), true)),
        (Ok(()), None) => Err(refused(Diagnostic::error("it was not expanded").at(found.set.span()), true)),
        (Ok(()), Some(Err(diagnostic))) => Err(refused(diagnostic, false)),
        (Ok(()), Some(Ok(expanded))) => {
            let documents = found.set.documents(&expanded);
            Ok(Makes { documents, sets: Vec::new(), warnings: expanded.warnings })
        }
    };
    Expansion {
        made,
        reads: Arc::new(reads),
        repeats,
        clusters: used_clusters.then(|| discovered.clusters.clone()),
        used: Limits {
            applications: 0,
            params: before.params - limits.params,
            bytes: before.bytes - limits.bytes,
            template: template::Limits { steps: before.template.steps - limits.template.steps, ..before.template },
        },
    }
}

fn fits(used: &Limits, left: &Limits) -> bool {
    used.params <= left.params && used.bytes <= left.bytes && used.template.steps <= left.template.steps
}

pub(super) fn take_off(left: &mut Limits, used: &Limits) {
    left.params = left.params.saturating_sub(used.params);
    left.bytes = left.bytes.saturating_sub(used.bytes);
    left.template.steps = left.template.steps.saturating_sub(used.template.steps);
}
