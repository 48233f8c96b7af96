//! Where alerts go: the routes, mutes and inhibitions of Alertmanager, in its own configuration and in AlertmanagerConfigs.
//!
//! Each route of before is tried with an alert that has just the labels which lead to it: who gets that alert before and after is compared.
//!
//! Reference: prometheus.io docs/alerting/latest/configuration, `route`, `inhibit_rule`; prometheus-operator
//! Documentation/api-reference/api.md `AlertmanagerConfigSpec`.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::{Dialect, Limits, Value, decode};

use super::{Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many are named.
const NAMED_MAX: usize = 4;

/// Labels and their values.
type Labels = BTreeMap<String, String>;

/// How much a severity weighs, by its name.
const SEVERITIES: [&[&str]; 4] = [
    &["none", "info"],
    &["warning", "warn", "low"],
    &["error", "major", "high"],
    &["critical", "page", "fatal", "emergency"],
];

pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let (Some(was), Some(now)) = (config(old), config(new)) else { return Vec::new() };
    if was == now {
        return Vec::new();
    }
    if let Some(danger) = nameless(&was, &now, new) {
        return vec![danger];
    }
    let mut found: Vec<Danger> = moved(&was, &now).into_iter().collect();
    found.extend(muted(&was, &now));
    found.extend(inhibited(&was, &now));
    found
}

/// Whether routes name a receiver from now on that is not there.
pub(super) fn names_none(old: &Manifest, new: &Manifest) -> bool {
    config(old).zip(config(new)).is_some_and(|(was, now)| nameless(&was, &now, new).is_some())
}

/// The configuration that an object has; none for any other.
fn config(object: &Manifest) -> Option<Value> {
    match (object.home_group(), object.kind()) {
        ("monitoring.coreos.com", "AlertmanagerConfig") => object.object().get("spec").cloned(),
        ("", "ConfigMap" | "Secret") => {
            let text = ["data", "stringData"].iter().find_map(|field| {
                let files = object.object().get(field).and_then(Value::as_mapping)?;
                let is_it = |key: &str| matches!(key, "alertmanager.yaml" | "alertmanager.yml");
                let text = files.iter().find(|(key, _)| is_it(key)).and_then(|(_, text)| text.as_str())?;
                if object.kind() == "Secret" && *field == "data" {
                    let text = data_encoding::BASE64.decode(text.trim().as_bytes()).ok()?;
                    return String::from_utf8(text).ok();
                }
                Some(text.to_owned())
            })?;
            decode(text.as_bytes(), Dialect::V2, &Limits::default()).ok()?.into_iter().next()
        }
        _ => None,
    }
}

fn list<'v>(value: &'v Value, keys: [&str; 2]) -> &'v [Value] {
    let [own, other] = keys.map(|key| items(value, &[key]));
    if own.is_empty() { other } else { own }
}

/// The names of receivers, and whether each sends alerts somewhere.
fn receivers(config: &Value) -> BTreeMap<&str, bool> {
    let sends = |receiver: &Value| {
        let mut fields = receiver.as_mapping().into_iter().flatten();
        fields.any(|(key, value)| {
            (key.ends_with("Configs") || key.ends_with("_configs"))
                && value.as_sequence().is_some_and(|all| !all.is_empty())
        })
    };
    items(config, &["receivers"]).iter().map(|one| (word(one, &["name"]), sends(one))).collect()
}

/// Receivers that routes name and that are not there.
fn nameless(was: &Value, now: &Value, object: &Manifest) -> Option<Danger> {
    let lacking = |config: &Value| -> BTreeSet<String> {
        let known = receivers(config);
        let mut open: Vec<&Value> = config.get("route").into_iter().collect();
        let mut found = BTreeSet::new();
        while let Some(route) = open.pop() {
            let name = word(route, &["receiver"]);
            if !name.is_empty() && !known.contains_key(name) {
                found.insert(name.to_owned());
            }
            open.extend(items(route, &["routes"]));
        }
        found
    };
    let (before, gone) = (lacking(was), lacking(now));
    let comes: BTreeSet<String> = gone.difference(&before).map(|name| format!("`{name}`")).collect();
    (!comes.is_empty()).then(|| {
        let effect = match object.kind() {
            "AlertmanagerConfig" => "its operator takes none of this object, so none of its alerts is sent",
            _ => "Alertmanager does not load it: it keeps the configuration of before, and does not start with it",
        };
        let text = format!("no receiver is named {}: {effect}", listed(comes, NAMED_MAX));
        Danger::said(Severity::Outage, "alertGone", text, "check the names of receivers in the routes")
    })
}

/// Whether an alert with labels is one that matchers are for; none where that is not known.
fn meets(of: &Value, keys: [&str; 3], labels: &Labels) -> Option<bool> {
    let [matchers, equal, regex] = keys;
    let mut all = true;
    for matcher in items(of, &[matchers]) {
        let (name, operator, value) = parts(matcher)?;
        let label = labels.get(&name).map_or("", String::as_str);
        all &= match operator.as_str() {
            "=" => label == value,
            "!=" => label != value,
            "=~" => is_like(&value, label)?,
            _ => !is_like(&value, label)?,
        };
    }
    for (name, value) in of.get(equal).and_then(Value::as_mapping).into_iter().flatten() {
        all &= labels.get(name).map(String::as_str) == value.as_str();
    }
    for (name, value) in of.get(regex).and_then(Value::as_mapping).into_iter().flatten() {
        all &= is_like(value.as_str()?, labels.get(name).map_or("", String::as_str))?;
    }
    Some(all)
}

/// Name, operator and value of a matcher: a mapping, or a text such as `severity=~"a|b"`.
fn parts(matcher: &Value) -> Option<(String, String, String)> {
    let Some(text) = matcher.as_str() else {
        let operator = match word(matcher, &["matchType"]) {
            "" if matcher.get("regex").and_then(Value::as_bool) == Some(true) => "=~",
            "" => "=",
            operator => operator,
        };
        return Some((word(matcher, &["name"]).to_owned(), operator.to_owned(), word(matcher, &["value"]).to_owned()));
    };
    let text = text.trim().trim_start_matches('{').trim_end_matches('}');
    let at = text.find(['=', '!'])?;
    let (name, rest) = text.split_at_checked(at)?;
    let operator = ["=~", "!~", "!=", "="].into_iter().find(|operator| rest.starts_with(operator))?;
    let value = rest.strip_prefix(operator)?.trim().trim_matches('"');
    (!value.contains('"')).then(|| (name.trim().to_owned(), operator.to_owned(), value.to_owned()))
}

/// Whether a text is as an expression says, where that is words with `|` between them, or all.
fn is_like(expression: &str, text: &str) -> Option<bool> {
    let bare = expression.trim_start_matches('^').trim_end_matches('$').trim_start_matches('(').trim_end_matches(')');
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '|');
    match bare {
        ".*" => Some(true),
        ".+" => Some(!text.is_empty()),
        _ => bare.chars().all(is_word).then(|| bare.split('|').any(|one| one == text)),
    }
}

const OF_ROUTE: [&str; 3] = ["matchers", "match", "match_re"];

/// The labels that lead to each route, where these are all equal to something.
fn leading(config: &Value) -> BTreeSet<Labels> {
    let mut open: Vec<(&Value, Labels)> = config.get("route").map(|route| (route, Labels::new())).into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some((route, above)) = open.pop() {
        let mut labels = above;
        let mut is_known = true;
        for matcher in items(route, &["matchers"]) {
            match parts(matcher) {
                Some((name, operator, value)) if operator == "=" => drop(labels.insert(name, value)),
                // One of several is taken for all.
                Some((name, operator, value)) if operator == "=~" && is_like(&value, "").is_some() && value != ".*" => {
                    let first = value.trim_matches(['^', '$', '(', ')']).split('|').next().unwrap_or_default();
                    labels.insert(name, first.to_owned());
                }
                Some((_, operator, _)) if operator == "!=" => {}
                _ => is_known = false,
            }
        }
        for (name, value) in route.get("match").and_then(Value::as_mapping).into_iter().flatten() {
            labels.insert(name.clone(), value.as_str().unwrap_or_default().to_owned());
        }
        is_known &= route.get("match_re").is_none();
        if is_known {
            open.extend(items(route, &["routes"]).iter().map(|one| (one, labels.clone())));
            found.insert(labels);
        }
    }
    found
}

/// The routes by which an alert is sent; none where that is not known.
fn sent<'v>(route: &'v Value, labels: &Labels, receiver: &'v str, is_first: bool) -> Option<Vec<(&'v str, &'v Value)>> {
    if !is_first && !meets(route, OF_ROUTE, labels)? {
        return Some(Vec::new());
    }
    let receiver = match word(route, &["receiver"]) {
        "" => receiver,
        own => own,
    };
    let mut found = Vec::new();
    for below in items(route, &["routes"]) {
        let by = sent(below, labels, receiver, false)?;
        let stops = !by.is_empty() && below.get("continue").and_then(Value::as_bool) != Some(true);
        found.extend(by);
        if stops {
            return Some(found);
        }
    }
    Some(if found.is_empty() { vec![(receiver, route)] } else { found })
}

/// The receivers that an alert gets to and that send it somewhere.
fn reached<'v>(config: &'v Value, labels: &Labels) -> Option<BTreeSet<&'v str>> {
    let known = receivers(config);
    let by = sent(config.get("route")?, labels, "", true)?;
    Some(by.into_iter().map(|(name, _)| name).filter(|name| known.get(name) == Some(&true)).collect())
}

/// `severity=critical`
fn shown(labels: &Labels) -> String {
    let all: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if all.is_empty() { "that no other route is for".to_owned() } else { format!("with {}", all.join(", ")) }
}

/// Integrations that call somebody.
const CALLING: [&str; 5] = ["pagerduty", "opsgenie", "victorops", "pushover", "incidentio"];

fn calls(config: &Value, name: &str) -> bool {
    let receiver = items(config, &["receivers"]).iter().find(|one| word(one, &["name"]) == name);
    let fields = receiver.and_then(Value::as_mapping).into_iter().flatten();
    let mut keys = fields.map(|(key, _)| key.to_ascii_lowercase());
    keys.any(|key| CALLING.iter().any(|sort| key.starts_with(sort)))
}

/// Whether a route is for just these labels and names just this receiver.
fn has_route(config: &Value, labels: &Labels, receiver: &str) -> bool {
    let mut open: Vec<(&Value, &str, bool)> = config.get("route").map(|route| (route, "", true)).into_iter().collect();
    while let Some((route, above, is_first)) = open.pop() {
        let own = match word(route, &["receiver"]) {
            "" => above,
            own => own,
        };
        let is_for = |labels: &Labels| meets(route, OF_ROUTE, labels) == Some(true);
        let is_it = !is_first && own == receiver && is_for(labels) && !is_for(&Labels::new());
        if is_it {
            return true;
        }
        open.extend(items(route, &["routes"]).iter().map(|one| (one, own, false)));
    }
    false
}

/// Alerts that no longer get to who got them: since another route takes them first, since who was called is called no more, or since
/// a receiver gets no alerts at all. One that is called otherwise and sends to the same is the one of before; and who is new is meant.
fn moved(was: &Value, now: &Value) -> Option<Danger> {
    let integrations = |config: &Value, name: &str| -> Option<Value> {
        let mut all = items(config, &["receivers"]).iter();
        let mut found = all.find(|one| word(one, &["name"]) == name)?.as_mapping()?.clone();
        found.remove("name");
        Some(Value::Mapping(found))
    };
    for labels in leading(was) {
        let (Some(before), Some(after)) = (reached(was, &labels), reached(now, &labels)) else { continue };
        let is_same = |one: &str| {
            let wanted = integrations(was, one);
            after.iter().any(|other| integrations(now, other) == wanted)
        };
        let gone: BTreeSet<&str> = before.difference(&after).copied().filter(|one| !is_same(one)).collect();
        // That a receiver which is named still sends to no one is said of it.
        let known = receivers(now);
        if gone.is_empty() || after.is_empty() && gone.iter().any(|name| known.contains_key(name)) {
            continue;
        }
        let is_new = |name: &&str| !receivers(was).contains_key(*name);
        let is_taken = gone.iter().any(|name| has_route(now, &labels, name));
        let is_called = before.iter().any(|name| calls(was, name)) && !after.iter().any(|name| calls(now, name));
        let gets_any = |name: &str| leading(now).iter().any(|of| reached(now, of).is_none_or(|all| all.contains(name)));
        let is_idle = gone.iter().any(|name| known.contains_key(name) && !gets_any(name));
        if !is_taken && !is_called && !is_idle || !after.is_empty() && after.iter().all(is_new) {
            continue;
        }
        let to =
            if after.is_empty() { "no one gets them".to_owned() } else { format!("{} gets them", listed(after, 2)) };
        let text = format!("alerts {} no longer reach {}: {to}", shown(&labels), listed(gone, NAMED_MAX));
        return Some(Danger::said(Severity::Other, "alertGone", text, "check that who has to act on them gets them"));
    }
    None
}

/// Alerts that are held back at some times from now on.
fn muted(was: &Value, now: &Value) -> Option<Danger> {
    let keys = [["muteTimeIntervals", "mute_time_intervals"], ["activeTimeIntervals", "active_time_intervals"]];
    let times = |config: &Value, labels: &Labels| -> Option<BTreeSet<String>> {
        let by = sent(config.get("route")?, labels, "", true)?;
        let routes = by.iter().flat_map(|(_, route)| keys.iter().flat_map(|keys| list(route, *keys)));
        Some(routes.filter_map(Value::as_str).map(str::to_owned).collect())
    };
    for labels in leading(was) {
        let (Some(before), Some(after)) = (times(was, &labels), times(now, &labels)) else { continue };
        if let Some(time) = after.difference(&before).next() {
            let text = format!("alerts {} are not sent at times of `{time}`", shown(&labels));
            return Some(Danger::said(Severity::Other, "alertGone", text, "check which times these are"));
        }
    }
    None
}

/// Alerts that others keep from being sent from now on: worse ones by lesser ones, or all by any.
fn inhibited(was: &Value, now: &Value) -> Option<Danger> {
    let rules = |config: &'_ Value| list(config, ["inhibitRules", "inhibit_rules"]).to_vec();
    let before = rules(was);
    let rank = |labels: &Labels| {
        let severity = labels.get("severity").or_else(|| labels.get("priority"))?;
        SEVERITIES.iter().position(|names| names.contains(&severity.as_str()))
    };
    let side = |rule: &Value, keys: [&str; 3]| -> Labels {
        let matchers = keys.iter().flat_map(|key| items(rule, &[key])).filter_map(parts);
        let mut found: Labels =
            matchers.filter(|(_, operator, _)| operator == "=").map(|(name, _, value)| (name, value)).collect();
        for (name, value) in keys.iter().filter_map(|key| rule.get(key)?.as_mapping()).flatten() {
            found.insert(name.clone(), value.as_str().unwrap_or_default().to_owned());
        }
        found
    };
    for rule in rules(now).iter().filter(|rule| !before.contains(rule)) {
        let source = side(rule, ["sourceMatch", "source_matchers", "source_match"]);
        let target = side(rule, ["targetMatch", "target_matchers", "target_match"]);
        let is_worse = matches!((rank(&source), rank(&target)), (Some(source), Some(target)) if source < target);
        let is_any = items(rule, &["equal"]).is_empty() && source.keys().eq(target.keys()) && source == target;
        if is_worse || is_any && !target.is_empty() {
            let text = format!("alerts {} are not sent while one {} is raised", shown(&target), shown(&source));
            return Some(Danger::said(
                Severity::Other,
                "alertGone",
                text,
                "keep alerts from being held back by lesser ones",
            ));
        }
    }
    None
}
