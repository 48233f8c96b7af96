//! What ApplicationSets make.

use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::view::View;
use go_template as template;

use super::super::Discovered;
use super::{Answered, Expansion, Expansions, FoundSet, Refused, Site};
use crate::argo::parent::Makes;
use crate::argo::set::{Answer, Limits, Question};

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
        if let Some(known) = self.known(&key, |expansion| would_repeat(expansion, discovered, &view, left)) {
            return known;
        }
        let expansion = Arc::new(expanded(found, discovered, site, left));
        self.keep(key, &expansion, discovered);
        expansion
    }
}

/// Whether expanding a set again would give the same.
fn would_repeat(expansion: &Expansion, discovered: &Discovered, view: &View<'_>, left: &Limits) -> bool {
    expansion.clusters.as_ref().is_none_or(|clusters| *clusters == discovered.clusters)
        && fits(&expansion.used, left)
        && view.confirms(&expansion.reads).unwrap_or(false)
}

pub(super) fn expanded(found: &FoundSet, discovered: &Discovered, site: &Site<'_>, left: &Limits) -> Expansion {
    let question = question(discovered, site, left);
    let Answered { answer, reads, repeats } = site.renders.expand(found, &question, site.clusters, site.files);
    let by = found.set.by();
    let refused = |diagnostic: Diagnostic, is_limit| {
        let what = format!("{by} makes no Applications: {}", diagnostic.message);
        Refused { diagnostic: Diagnostic { message: what, ..diagnostic }, is_limit }
    };
    let (made, rest, used_clusters) = match answer {
        // It is not known whether it asked for clusters.
        Err(limit) => (Err(refused(Diagnostic::error(limit).at(found.set.span()), true)), question.limits, true),
        Ok(Answer { made: Err(diagnostic), left, used_clusters, .. }) => {
            (Err(refused(diagnostic, false)), left, used_clusters)
        }
        Ok(Answer { made: Ok(expanded), left, used_clusters, .. }) => {
            // What is not known to be a generator may be one that is misspelt, and then what it made is not gone.
            let unknown = || expanded.warnings.first().map(Diagnostic::as_error);
            let made = match found.set.nameless().or_else(unknown) {
                Some(wrong) => Err(refused(wrong, false)),
                None => {
                    let (documents, rules) = found.set.documents(&expanded, &site.makers.rules);
                    Ok(Makes { documents, rules, ..Makes::default() })
                }
            };
            (made, left, used_clusters)
        }
    };
    let cost = made.as_ref().map_or(0, Makes::cost);
    Expansion {
        made,
        reads: Arc::new(reads),
        repeats,
        clusters: used_clusters.then(|| discovered.clusters.clone()),
        used: used(&question.limits, &rest),
        cost,
    }
}

/// What one set is asked of a tree. `left` is what all sets have left.
fn question(discovered: &Discovered, site: &Site<'_>, left: &Limits) -> Question {
    let of_set = Limits::default();
    Question {
        home: site.home(),
        argocd_namespace: site.makers.argocd_namespace.clone(),
        recorded_files: site.makers.parameters.clone(),
        inputs: site.makers.rules.inputs().clone(),
        secrets: discovered.clusters.iter().map(|(path, _)| path.clone()).collect(),
        lists: site.makers.clusters.clone(),
        only: site.only.cloned(),
        limits: Limits {
            applications: of_set.applications,
            params: of_set.params.min(left.params),
            bytes: of_set.bytes.min(left.bytes),
            template: template::Limits { steps: of_set.template.steps.min(left.template.steps), ..of_set.template },
        },
    }
}

/// What was used up between `before` and `rest`, of all but Applications.
fn used(before: &Limits, rest: &Limits) -> Limits {
    Limits {
        applications: 0,
        params: before.params.saturating_sub(rest.params),
        bytes: before.bytes.saturating_sub(rest.bytes),
        template: template::Limits {
            steps: before.template.steps.saturating_sub(rest.template.steps),
            ..before.template
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
