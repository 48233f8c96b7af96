//! What the cluster lets in: webhooks, policies, levels of Pod security.

mod checks;
mod matching;
mod narrowed;
mod own;
mod webhooks;

use go_yaml::Value;

use super::{Around, Danger, Severity, items, mesh, pod_security};
use crate::diff::model::{Placed, word};
use crate::manifest::Manifest;
use go_std::glob::Glob;

pub(super) use narrowed::narrowed;
pub(super) use own::anew as asked_anew;
pub(super) use webhooks::gone as webhooks_gone;

/// How many are named.
const NAMED_MAX: usize = 4;

/// Gates that let less in than before.
pub(super) fn raised<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = webhooks::changed(old, new);
    found.extend(own::asked(old, new, around));
    found.extend(own::untrusted(old, new, around));
    found.extend(webhooks::gone(old, Some(new), around));
    found.extend(policy(old, new));
    found.extend(pod_security::raised(old, new, around));
    found
}

/// Policies that refuse or only report: group, field, the word by which they refuse, and whether they do without the field.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/validate; open-policy-agent.github.io/gatekeeper docs/violations;
/// kubernetes docs/reference/access-authn-authz/validating-admission-policy.
const POLICIES: [(&str, &[&str], &str, bool); 4] = [
    ("kyverno.io", &["spec", "validationFailureAction"], "enforce", false),
    ("policies.kyverno.io", &["spec", "validationActions"], "deny", true),
    ("constraints.gatekeeper.sh", &["spec", "enforcementAction"], "deny", true),
    ("admissionregistration.k8s.io", &["spec", "validationActions"], "deny", false),
];

/// A policy that refuses from now on what it only reported, or the other way round.
fn policy(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (_, path, word, default) = POLICIES.iter().find(|(group, ..)| *group == new.home_group())?;
    let refuses = |manifest: &Manifest| refuses(manifest, path, word, *default);
    let says = [old, new].iter().any(|manifest| manifest.object().at(path).is_some() || has_own_actions(manifest));
    let field = path.last().unwrap_or(&"");
    match (refuses(old), refuses(new)) {
        (false, true) if says => {
            let text = format!("`{field}` refuses from now on what violates it; before, it only reported that");
            Some(Danger::said(Severity::Other, "gate", text, "look at what it has reported first"))
        }
        (true, false) if says => {
            let text = format!("`{field}` only reports from now on what violates it; before, it refused that");
            Some(Danger::said(Severity::Security, "ungated", text, "keep it refusing what must not run"))
        }
        _ => None,
    }
}

/// A policy that refused, and goes while no other of its kind comes.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let of_api = || narrowed::unbound(old, around).then_some("what violates it is let in");
    let what = guarded(old).or_else(of_api).filter(|_| pruning.removes())?;
    let is_same = |other: &Manifest| (other.home_group(), other.kind()) == (old.home_group(), old.kind());
    let comes = |other: &Placed<'_>| around.model.before.find(*other).is_none() && guarded(other.manifest).is_some();
    let mut others = around.model.after.all().iter();
    let is_replaced = others.any(|other| is_same(other.manifest) && comes(other));
    let is_policy_alone = old.kind() == "ValidatingAdmissionPolicy";
    let is_said_still = (!is_policy_alone && is_doubled(old, around)) || mesh::is_strict_still(old, around);
    (!is_replaced && !is_said_still).then(|| {
        let advice = "keep it refusing what must not run";
        Danger::said(Severity::Security, "ungated", format!("removed: {what}"), advice).pruned(pruning)
    })
}

/// Whether another object of its kind says just what one that goes said.
pub(super) fn is_doubled<'a>(old: &'a Manifest, around: &Around<'a>) -> bool {
    let namespace = around.before(old).namespace;
    let is_like = |other: &Placed<'_>| {
        let of = other.manifest;
        (of.home_group(), of.kind(), other.namespace) == (old.home_group(), old.kind(), namespace)
            && of.name() != old.name()
            && of.object().get("spec") == old.object().get("spec")
    };
    around.model.after.all().iter().any(is_like)
}

/// What is let in without a policy.
fn guarded(policy: &Manifest) -> Option<&'static str> {
    if (policy.home_group(), policy.kind()) == ("security.istio.io", "PeerAuthentication") {
        let is_strict = word(policy.object(), &["spec", "mtls", "mode"]) == "STRICT";
        return is_strict.then_some("connections in plain text are taken, from anyone");
    }
    let (group, path, word, default) = POLICIES.iter().find(|(group, ..)| *group == policy.home_group())?;
    // Other kinds of the newer group change or make objects, or are exceptions.
    if *group == "policies.kyverno.io" && !policy.kind().ends_with("ValidatingPolicy") {
        return None;
    }
    refuses(policy, path, word, *default).then_some("what violates it is let in")
}

/// What each rule of Kyverno says for itself, in place of its policy.
fn own_actions(policy: &Manifest) -> impl Iterator<Item = Option<&Value>> {
    let rules = if policy.home_group() == "kyverno.io" { items(policy.object(), &["spec", "rules"]) } else { &[] };
    rules.iter().filter(|rule| rule.get("validate").is_some()).map(|rule| rule.at(&["validate", "failureAction"]))
}

fn has_own_actions(policy: &Manifest) -> bool {
    own_actions(policy).any(|own| own.is_some())
}

/// Reference: kyverno.io docs/policy-types/cluster-policy/validate, "Failure Action": that of a rule goes before that of its policy.
fn refuses(policy: &Manifest, path: &[&str], word: &str, default: bool) -> bool {
    let of_policy = policy.object().at(path);
    match has_own_actions(policy) {
        true => own_actions(policy).any(|own| is_refusal(own.or(of_policy), word, default)),
        false => is_refusal(of_policy, word, default),
    }
}

fn is_refusal(action: Option<&Value>, word: &str, default: bool) -> bool {
    match action {
        Some(Value::String(action)) => action.eq_ignore_ascii_case(word),
        Some(Value::Sequence(actions)) => {
            actions.iter().filter_map(Value::as_str).any(|action| action.eq_ignore_ascii_case(word))
        }
        _ => default,
    }
}

/// Whether a pattern with `*` and `?` is for a text, which may be a pattern itself.
fn wildcard(pattern: &str, text: &str) -> bool {
    let is_glob = || Glob::without_separator(pattern).is_ok_and(|glob| glob.describes(text));
    pattern == text || pattern == "*" || pattern.contains(['*', '?']) && is_glob()
}
