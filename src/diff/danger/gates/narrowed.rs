//! Policies that hold for less than before: what they match, what they leave out, and exceptions from them.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::super::{Around, Danger, Severity, items};
use super::checks;
use super::matching::{Matching, narrower_rules, narrower_selector};
use super::{POLICIES, is_refusal, refuses, wildcard};
use crate::diff::model::{Placed, word};
use crate::manifest::Manifest;

const ADVICE: &str = "keep it refusing what must not run";

fn ungated(text: String) -> Danger {
    Danger::said(Severity::Security, "ungated", text, ADVICE)
}

/// What a policy that refuses no longer does, and what is excepted from one.
pub(in crate::diff::danger) fn narrowed<'a>(
    old: Option<&'a Manifest>,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Vec<Danger> {
    if new.kind() == "PolicyException" {
        return exception(old, new, around).into_iter().collect();
    }
    let Some(old) = old else { return Vec::new() };
    let mut found = of_kind(old, new, around);
    found.extend(let_in(old, new, around));
    found
}

/// What a policy that cannot be asked, or is not asked, lets in.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/policy-settings, `failurePolicy`, `admission`; kubernetes
/// docs/reference/access-authn-authz/validating-admission-policy, "Failure Policy": for expressions that fail.
fn let_in<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_gate = match (new.home_group(), new.kind()) {
        ("kyverno.io", "ClusterPolicy" | "Policy") => {
            let refuses = |policy: &Manifest| {
                items(policy.object(), &["spec", "rules"]).iter().any(|one| rule_refuses(policy, one))
            };
            refuses(old) && refuses(new)
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => is_bound(new, around),
        _ => false,
    };
    let fails_open = |policy: &Manifest| {
        let plain = word(policy.object(), &["spec", "failurePolicy"]);
        plain == "Ignore" || word(policy.object(), &["spec", "webhookConfiguration", "failurePolicy"]) == "Ignore"
    };
    let is_off = |policy: &Manifest| policy.object().at(&["spec", "admission"]).and_then(Value::as_bool) == Some(false);
    let text = match () {
        () if !is_gate => return None,
        () if is_off(new) && !is_off(old) => "`admission: false`: it refuses nothing any more, and only reports",
        () if fails_open(new) && !fails_open(old) => "`failurePolicy: Ignore`: what cannot be judged is let in",
        () => return None,
    };
    Some(ungated(text.to_owned()))
}

fn of_kind<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    match (new.home_group(), new.kind()) {
        ("kyverno.io", "ClusterPolicy" | "Policy") => rules(old, new, around),
        ("policies.kyverno.io", kind) if kind.ends_with("ValidatingPolicy") && do_refuse(old, new) => {
            constrained(old, new, "matchConstraints")
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") if do_refuse(old, new) => {
            let mut found = constrained(old, new, "matchResources");
            found.extend(rebound(old, new, around));
            found
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") if is_bound(new, around) => {
            constrained(old, new, "matchConstraints")
        }
        ("constraints.gatekeeper.sh", _) if do_refuse(old, new) => constraint(old, new),
        ("config.gatekeeper.sh", "Config") => exempted(old, new),
        _ => Vec::new(),
    }
}

/// Whether a policy refuses what violates it, before and after.
fn do_refuse(old: &Manifest, new: &Manifest) -> bool {
    let Some((_, path, word, default)) = POLICIES.iter().find(|(group, ..)| *group == new.home_group()) else {
        return false;
    };
    [old, new].iter().all(|policy| refuses(policy, path, word, *default))
}

/// Whether a policy of the API server refuses by one of the bindings that are known, or may by others.
///
/// Reference: kubernetes docs/reference/access-authn-authz/validating-admission-policy: without a binding, a policy has no effect.
fn is_bound(policy: &Manifest, around: &Around<'_>) -> bool {
    let is_binding = |one: &&Placed<'_>| {
        one.manifest.kind() == "ValidatingAdmissionPolicyBinding"
            && word(one.manifest.object(), &["spec", "policyName"]) == policy.name()
    };
    let mut bindings = around.model.after.all().iter().filter(is_binding).peekable();
    let denies = |one: Placed<'_>| is_refusal(one.manifest.object().at(&["spec", "validationActions"]), "deny", false);
    bindings.peek().is_none() || bindings.any(|one| denies(*one))
}

/// A binding that is for another policy, so that the one of before refuses nothing, which stays.
fn rebound(old: &Manifest, new: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let name = |binding: &'_ Manifest| word(binding.object(), &["spec", "policyName"]).to_owned();
    let (was, now) = (name(old), name(new));
    let after = around.model.after.all();
    let stays =
        after.iter().any(|one| one.manifest.kind() == "ValidatingAdmissionPolicy" && one.manifest.name() == was);
    let is_bound = after.iter().any(|one| one.manifest.kind() == new.kind() && name(one.manifest) == was);
    (was != now && stays && !is_bound).then(|| {
        ungated(format!("is for policy {now}, and nothing binds {was} any more: what violates that is let in"))
    })
}

/// A policy of the API server that goes while a binding by which it refuses stays.
pub(super) fn unbound(old: &Manifest, around: &Around<'_>) -> bool {
    let is_binding = |one: &&Placed<'_>| {
        one.manifest.kind() == "ValidatingAdmissionPolicyBinding"
            && word(one.manifest.object(), &["spec", "policyName"]) == old.name()
            && is_refusal(one.manifest.object().at(&["spec", "validationActions"]), "deny", false)
    };
    let is_it = (old.home_group(), old.kind()) == ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy");
    is_it && around.model.after.all().iter().any(|one| is_binding(&one))
}

/// Whether a rule of Kyverno refuses what violates it.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/validate, "Failure Action"; verify-images, `failureAction`.
fn rule_refuses(policy: &Manifest, rule: &Value) -> bool {
    let of_policy = policy.object().at(&["spec", "validationFailureAction"]);
    let of_images = items(rule, &["verifyImages"]).iter().find_map(|one| one.get("failureAction"));
    let own = rule.at(&["validate", "failureAction"]).or(of_images);
    let is_gate = ["validate", "verifyImages"].iter().any(|key| rule.get(key).is_some_and(|part| !part.is_null()));
    is_gate && is_refusal(own.or(of_policy), "enforce", false)
}

/// Rules of a policy of Kyverno that leave out more, match less, or go.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/match-exclude: `any` is for what one of its filters is for, `all` for what
/// each is for; what is excluded is not validated.
fn rules(old: &Manifest, new: &Manifest, around: &Around<'_>) -> Vec<Danger> {
    let all = |policy: &'_ Manifest| -> Vec<Value> { items(policy.object(), &["spec", "rules"]).to_vec() };
    let (before, after) = (all(old), all(new));
    let is_named = |rules: &[Value], name: &str| rules.iter().any(|rule| word(rule, &["name"]) == name);
    let comes = after.iter().any(|rule| !is_named(&before, word(rule, &["name"])) && rule_refuses(new, rule));
    let mut found: Vec<Danger> = overridden(old, new).into_iter().collect();
    for was in before.iter().filter(|rule| rule_refuses(old, rule)) {
        let name = word(was, &["name"]);
        let Some(now) = after.iter().find(|rule| word(rule, &["name"]) == name) else {
            if !comes && !after.is_empty() && !is_elsewhere(was, new, around) {
                found.push(ungated(format!("rule `{name}` removed: what violates it is let in")));
            }
            continue;
        };
        if !rule_refuses(new, now) {
            continue;
        }
        let matching = |rule: &Value, key: &str| rule.get(key).map(Matching::new).unwrap_or_default();
        if !matching(was, "exclude").covers(&matching(now, "exclude")) {
            found.push(ungated(format!("`exclude` of rule `{name}` leaves out more: that may violate it")));
        }
        let has = |rule: &Value, key: &str| rule.get(key).is_some_and(|part| !part.is_null());
        for key in ["preconditions", "celPreconditions"] {
            if has(now, key) && !has(was, key) {
                found.push(ungated(format!("`{key}` of rule `{name}` leave out some: that may violate it")));
            }
        }
        if !matching(now, "match").covers(&matching(was, "match")) {
            found.push(ungated(format!("`match` of rule `{name}` is for less: what it leaves out may violate it")));
        }
        let less = checks::less(was, now).into_iter();
        found.extend(less.map(|text| ungated(text.replace("{rule}", name))));
    }
    found
}

/// Whether another policy of the kind has a rule that refuses the same.
fn is_elsewhere(rule: &Value, policy: &Manifest, around: &Around<'_>) -> bool {
    let parts = ["match", "exclude", "preconditions", "celPreconditions", "validate", "verifyImages"];
    let is_same = |other: &Value| parts.iter().all(|part| other.get(part) == rule.get(part));
    let others = around.model.after.all().iter().map(|one| one.manifest).filter(|one| {
        (one.home_group(), one.kind(), one.namespace()) == (policy.home_group(), policy.kind(), policy.namespace())
            && one.name() != policy.name()
    });
    let refuses = |one: &Manifest| {
        items(one.object(), &["spec", "rules"]).iter().any(|rule| is_same(rule) && rule_refuses(one, rule))
    };
    others.into_iter().any(refuses)
}

/// Namespaces for which a policy only reports from now on.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/validate, "Failure Action Overrides".
fn overridden(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let reported = |policy: &Manifest| -> Vec<String> {
        let of_rules = items(policy.object(), &["spec", "rules"]).iter();
        let of_rules = of_rules.flat_map(|rule| items(rule, &["validate", "failureActionOverrides"]));
        let all = items(policy.object(), &["spec", "validationFailureActionOverrides"]).iter().chain(of_rules);
        let audits = all.filter(|one| word(one, &["action"]).eq_ignore_ascii_case("audit"));
        let names = audits.flat_map(|one| items(one, &["namespaces"])).filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let refuses =
        |policy: &Manifest| items(policy.object(), &["spec", "rules"]).iter().any(|one| rule_refuses(policy, one));
    let was = reported(old);
    let comes = reported(new).into_iter().find(|one| !was.iter().any(|pattern| wildcard(pattern, one)));
    let name = comes.filter(|_| refuses(old) && refuses(new))?;
    Some(ungated(format!("in namespace {name} it only reports from now on what violates it")))
}

/// Constraints of the API server's own policies, and of those that are like them.
///
/// Reference: kubernetes API `MatchResources`: `excludeResourceRules` go before `resourceRules`; an empty selector, or none, is for all.
fn constrained(old: &Manifest, new: &Manifest, field: &str) -> Vec<Danger> {
    let [was, now] = [old, new].map(|policy| policy.object().at(&["spec", field]).cloned().unwrap_or_default());
    let mut lost: Vec<String> = Vec::new();
    let rules = |matching: &Value, key: &str| items(matching, &[key]).to_vec();
    let excluded = "excludeResourceRules";
    if narrower_rules(&rules(&now, excluded), &rules(&was, excluded)) {
        lost.push(format!("`{field}.{excluded}` leave out more"));
    }
    let (before, after) = (rules(&was, "resourceRules"), rules(&now, "resourceRules"));
    if !after.is_empty() && (before.is_empty() || narrower_rules(&before, &after)) {
        lost.push(format!("`{field}.resourceRules` are for less"));
    }
    for key in ["namespaceSelector", "objectSelector"] {
        if narrower_selector(was.get(key), now.get(key)) {
            lost.push(format!("`{field}.{key}` is for less"));
        }
    }
    let expressions = |policy: &Manifest, list: &str| -> BTreeSet<String> {
        let all = items(policy.object(), &["spec", list]).iter();
        all.map(|one| word(one, &["expression"]).trim().to_owned()).collect()
    };
    let [before, after] = [old, new].map(|policy| expressions(policy, "matchConditions"));
    if before.is_subset(&after) && before != after {
        lost.push("`matchConditions` leave out more".to_owned());
    }
    let [before, after] = [old, new].map(|policy| expressions(policy, "validations"));
    if after.is_subset(&before) && before != after {
        lost.push("`validations` check less".to_owned());
    } else {
        let spec = |policy: &Manifest| policy.object().get("spec").cloned().unwrap_or_default();
        let is_less = checks::expressions_check_less(&spec(old), &spec(new), "validations");
        lost.extend(is_less.then(|| "`validations` check less".to_owned()));
    }
    lost.into_iter().map(|what| ungated(format!("{what}: that may violate it"))).collect()
}

/// Reference: open-policy-agent.github.io/gatekeeper docs/howto, "The match field": all of its parts have to fit;
/// `excludedNamespaces` takes `*` at the start or the end. `exemptImages` is a parameter of gatekeeper-library.
fn constraint(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let [was, now] = [old, new].map(|one| one.object().at(&["spec", "match"]).cloned().unwrap_or_default());
    let texts = |value: &Value, path: &[&str]| -> Vec<String> {
        items(value, path).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut lost: Vec<&str> = Vec::new();
    let grows = |before: &[String], after: &[String]| {
        after.iter().any(|one| !before.iter().any(|pattern| wildcard(pattern, one)))
    };
    let (before, after) = (texts(&was, &["excludedNamespaces"]), texts(&now, &["excludedNamespaces"]));
    if grows(&before, &after) {
        lost.push("`excludedNamespaces` leave out more");
    }
    let (before, after) = (texts(&was, &["namespaces"]), texts(&now, &["namespaces"]));
    if !after.is_empty() && (before.is_empty() || grows(&after, &before)) {
        lost.push("`namespaces` are fewer");
    }
    let (before, after) = (items(&was, &["kinds"]), items(&now, &["kinds"]));
    if !after.is_empty() && (before.is_empty() || narrower_rules(before, after)) {
        lost.push("`kinds` are fewer");
    }
    for (key, text) in
        [("labelSelector", "`labelSelector` is for less"), ("namespaceSelector", "`namespaceSelector` is for less")]
    {
        lost.extend(narrower_selector(was.get(key), now.get(key)).then_some(text));
    }
    let exempt = |one: &Manifest| texts(one.object(), &["spec", "parameters", "exemptImages"]);
    if grows(&exempt(old), &exempt(new)) {
        lost.push("`exemptImages` leave out more");
    }
    let parameters = |one: &Manifest| one.object().at(&["spec", "parameters"]).cloned().unwrap_or_default();
    let less = checks::parameters_check_less(&parameters(old), &parameters(new)).into_iter();
    let less = less.map(|what| ungated(format!("{what}: what it refused of that is let in")));
    lost.into_iter().map(|what| ungated(format!("{what}: that may violate it"))).chain(less).collect()
}

/// Namespaces that Gatekeeper leaves out of all policies.
///
/// Reference: open-policy-agent.github.io/gatekeeper docs/exempt-namespaces: processes `*` and `webhook`.
fn exempted(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let all = |config: &Manifest| -> Vec<String> {
        let matches = items(config.object(), &["spec", "match"]).iter();
        let admits = |one: &&Value| {
            items(one, &["processes"]).iter().any(|process| matches!(process.as_str(), Some("*" | "webhook")))
        };
        let names = matches.filter(admits).flat_map(|one| items(one, &["excludedNamespaces"]));
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let was = all(old);
    let comes = all(new).into_iter().find(|one| !was.iter().any(|pattern| wildcard(pattern, one)));
    comes.map(|name| ungated(format!("no policy is for namespace {name} any more"))).into_iter().collect()
}

/// An exception from policies, that is new or for more than before.
///
/// Reference: kyverno.io docs/exceptions: what it matches bypasses the rules that it names; policies.kyverno.io has `policyRefs` in
/// place of these, and `matchConditions`.
fn exception<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (before, after) = (old.map(excepted).unwrap_or_default(), excepted(new));
    let is_gate = |(policy, _): &&(String, String)| guards(policy, new, around);
    let had = |(policy, rule): &(String, String)| {
        before.iter().any(|(of, was)| wildcard(of, policy) && (was.is_empty() || wildcard(was, rule)))
    };
    let matching = |one: &Manifest| one.object().at(&["spec", "match"]).map(Matching::new).unwrap_or_default();
    let is_wider = |old: &Manifest| {
        let conditions = |one: &'_ Manifest| -> [Option<Value>; 2] {
            ["conditions", "matchConditions"].map(|key| one.object().at(&["spec", key]).cloned())
        };
        let is_plain = |one: &Manifest| one.home_group() == "kyverno.io";
        let lost = conditions(old).iter().zip(&conditions(new)).any(|(was, now)| was.is_some() && was != now);
        lost || is_plain(new) && !matching(old).covers(&matching(new))
    };
    let is_wider = old.is_some_and(is_wider);
    let named: BTreeSet<String> = after
        .iter()
        .filter(|one| (is_wider || !had(one)) && is_gate(one))
        .map(|(policy, rule)| match rule.as_str() {
            "" => format!("policy {policy}"),
            rule => format!("rule `{rule}` of policy {policy}"),
        })
        .collect();
    (!named.is_empty()).then(|| {
        let what = dry_files::diag::more::listed(named, super::NAMED_MAX);
        let matched = if is_wider { "what it matches more" } else { "what it matches" };
        let text = format!("{matched} may violate {what}");
        Danger::said(Severity::Security, "ungated", text, "check that nothing else is excepted than what has to be")
    })
}

/// The policies from which something is excepted, each with a rule; nothing for all of its rules.
fn excepted(exception: &Manifest) -> Vec<(String, String)> {
    let object = exception.object();
    let mut found = Vec::new();
    for one in items(object, &["spec", "exceptions"]) {
        let policy = word(one, &["policyName"]);
        let rules = items(one, &["ruleNames"]).iter().filter_map(Value::as_str);
        found.extend(rules.map(|rule| (policy.to_owned(), rule.to_owned())));
    }
    for one in items(object, &["spec", "policyRefs"]) {
        found.push((word(one, &["name"]).to_owned(), String::new()));
    }
    found
}

/// Whether a policy refuses what violates it, or may: one that is not known does, one that comes with the exception took nothing away.
fn guards<'a>(policy: &str, exception: &'a Manifest, around: &Around<'a>) -> bool {
    let name = policy.rsplit('/').next().unwrap_or(policy);
    let is_it = |one: &&Placed<'_>| {
        one.manifest.home_group() == exception.home_group()
            && one.manifest.kind().ends_with("Policy")
            && one.manifest.name() == name
    };
    let known = around.model.after.all().iter().find(is_it);
    known.is_none_or(|one| {
        let policy = one.manifest;
        let gates = POLICIES.iter().find(|(group, ..)| *group == policy.home_group());
        let refuses_it = gates.is_some_and(|(_, path, word, default)| refuses(policy, path, word, *default));
        refuses_it && around.model.before.find(*one).is_some()
    })
}
