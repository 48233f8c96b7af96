//! The setting `nondeterministic`: the random and clock functions without which charts do not render.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Refusal};

use super::super::check::{Judged, Tree};
use super::Draft;
use super::units::{Attempt, attempt};
use crate::argo::Application;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::render::{Context, Rendered, Renderers};

/// Every function of charts that needs to be allowed.
const FUNCTIONS: [&str; 25] = [
    "randAlphaNum",
    "randAlpha",
    "randNumeric",
    "randAscii",
    "randBytes",
    "randInt",
    "shuffle",
    "uuidv4",
    "now",
    "ago",
    "date",
    "htmlDate",
    "htmlDateInZone",
    "dateInZone",
    "durationRound",
    "genPrivateKey",
    "genCA",
    "genCAWithKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "bcrypt",
    "htpasswd",
    "encryptAES",
];

/// Renders again, with all functions allowed, what asks for some, and proposes those that it needs.
pub(super) fn propose(
    draft: &mut Draft,
    attempts: &mut [Attempt<'_>],
    judged: &Judged,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<(), HydrateError> {
    let trial = Trial { context: &render_context(&judged.policy.settings, tree.files, &tree.dry_commit), renderers };
    let known = &judged.policy.settings.nondeterministic;
    let mut needed: BTreeMap<&str, usize> = BTreeMap::new();
    for refused in attempts.iter_mut().filter(|attempt| is_refused(attempt)) {
        let all: BTreeSet<&str> = FUNCTIONS.into_iter().chain(known.iter().map(String::as_str)).collect();
        if trial.render(refused.application, &all)?.is_err() {
            continue;
        }
        // Most charts ask for what others ask for.
        let mut least: BTreeSet<&str> = needed.keys().copied().chain(known.iter().map(String::as_str)).collect();
        if trial.render(refused.application, &least)?.is_err() {
            least = all;
        }
        for function in least.clone() {
            let fewer = least.iter().copied().filter(|other| *other != function).collect();
            if trial.render(refused.application, &fewer)?.is_ok() {
                least = fewer;
            }
        }
        refused.result = trial.render(refused.application, &least)?;
        least.iter().for_each(|function| *needed.entry(function).or_default() += 1);
    }
    needed.retain(|function, _| !known.iter().any(|known| known == function));
    if needed.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> = needed.iter().map(|(function, count)| format!("{function}: {count}")).collect();
    let all: BTreeSet<String> = known.iter().cloned().chain(needed.keys().map(|name| (*name).to_owned())).collect();
    let all: Vec<String> = all.into_iter().collect();
    draft.set("nondeterministic", all.into(), format!("Applications that need it: {}", counts.join(", ")))
}

fn is_refused(attempt: &Attempt<'_>) -> bool {
    let is_random = |mistake: &Diagnostic| mistake.refusal == Some(Refusal::Nondeterministic);
    attempt.result.as_ref().is_err_and(|mistakes| mistakes.iter().all(is_random))
}

struct Trial<'t> {
    context: &'t Context<'t>,
    renderers: &'t Renderers,
}

impl Trial<'_> {
    fn render(
        &self,
        application: &Application,
        allowed: &BTreeSet<&str>,
    ) -> Result<Result<Rendered, Vec<Diagnostic>>, HydrateError> {
        let allowed: Vec<String> = allowed.iter().map(|function| (*function).to_owned()).collect();
        let context = Context { nondeterministic: &allowed, rules: self.context.rules.clone(), ..*self.context };
        let results = attempt(&[application], &context, self.renderers, &|_| {})?;
        Ok(results.into_iter().next().unwrap_or_else(|| Err(Vec::new())))
    }
}
