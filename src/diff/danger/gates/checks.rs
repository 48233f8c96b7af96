//! What a policy checks of an object: patterns that take more, conditions that deny less, images that are verified no more.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::super::items;
use super::super::quantity::quantity;
use super::wildcard;
use crate::diff::model::{number, word};

/// What a rule of Kyverno checks less of than before, in words.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/validate, "Patterns", "Anchors", "Deny Rules", "Pod Security"; verify-images.
pub(super) fn less(was: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let part = |rule: &Value, path: &[&str]| rule.at(path).filter(|value| !value.is_null()).cloned();
    let both = |path: &[&str]| part(was, path).zip(part(now, path));
    let is_wider = both(&["validate", "pattern"]).is_some_and(|(was, now)| pattern_takes_more(&was, &now))
        || alternatives(was, now)
        || each_takes_more(was, now);
    if is_wider {
        found.push("`pattern` of rule `{rule}` lets more through".to_owned());
    }
    if both(&["validate", "deny"]).is_some_and(|(was, now)| denies_less(&was, &now)) {
        found.push("`deny` of rule `{rule}` refuses less".to_owned());
    }
    if both(&["validate", "podSecurity"]).is_some_and(|(was, now)| is_less_secure(&was, &now)) {
        found.push("`podSecurity` of rule `{rule}` asks for less".to_owned());
    }
    if let Some((was, now)) = both(&["validate", "cel"])
        && expressions_check_less(&was, &now, "expressions")
    {
        found.push("`cel.expressions` of rule `{rule}` check less".to_owned());
    }
    // Each of a list is a rule of its own.
    let lists = both(&["validate", "foreach"]);
    let each = lists.iter().flat_map(|(was, now)| {
        let [was, now] = [was, now].map(|one| one.as_sequence().unwrap_or_default());
        was.iter().zip(now).filter(move |_| was.len() == now.len())
    });
    for (was, now) in each {
        let rule = |one: &Value| Value::Mapping(Mapping::from([("validate".to_owned(), one.clone())]));
        found.extend(less(&rule(was), &rule(now)));
    }
    if both(&["verifyImages"]).is_some() {
        found.extend(verifies_less(items(was, &["verifyImages"]), items(now, &["verifyImages"])));
    }
    found
}

/// Patterns of which one has to fit, and one comes beside those that there were.
fn alternatives(was: &Value, now: &Value) -> bool {
    let all = |rule: &Value| -> Vec<Value> {
        let one = rule.at(&["validate", "pattern"]).into_iter();
        one.chain(items(rule, &["validate", "anyPattern"])).cloned().collect()
    };
    let (before, after) = (all(was), all(now));
    let are_kept = before.iter().all(|one| after.contains(one));
    !before.is_empty() && are_kept && after.len() > before.len()
}

/// One of several patterns that takes more than before, while the others are what they were.
fn each_takes_more(was: &Value, now: &Value) -> bool {
    let all = |rule: &'_ Value| items(rule, &["validate", "anyPattern"]).to_vec();
    let (before, after) = (all(was), all(now));
    before.len() == after.len() && before.iter().zip(&after).any(|(was, now)| pattern_takes_more(was, now))
}

/// A key of a pattern without its anchor, and that: `(`, `=`, `X`, `^`, `<`, `+`, or nothing.
fn anchor(key: &str) -> (&str, &str) {
    match key.strip_suffix(')').and_then(|key| key.split_once('(')) {
        Some((anchor, name)) => (name, if anchor.is_empty() { "(" } else { anchor }),
        None => (key, ""),
    }
}

/// Whether a pattern takes more than another one did, as far as that is plain.
fn pattern_takes_more(was: &Value, now: &Value) -> bool {
    match (was, now) {
        (Value::Mapping(was), Value::Mapping(now)) => keys_take_more(was, now),
        (Value::Sequence(was), Value::Sequence(now)) if was.len() == now.len() => {
            was.iter().zip(now).any(|(was, now)| pattern_takes_more(was, now))
        }
        (Value::Sequence(was), Value::Sequence(now)) => !was.is_empty() && now.is_empty(),
        (Value::Mapping(_) | Value::Sequence(_), now) => now.as_str() == Some("*"),
        (Value::String(was), Value::String(now)) => text_takes_more(was, now),
        (Value::Bool(was), Value::String(now)) => text_takes_more(&was.to_string(), now),
        (Value::Int(was), Value::String(now)) => text_takes_more(&was.to_string(), now),
        _ => false,
    }
}

fn keys_take_more(was: &Mapping, now: &Mapping) -> bool {
    let find = |all: &Mapping, name: &str| -> Option<(String, Value)> {
        let found = all.iter().find(|(key, _)| anchor(key).0 == name)?;
        Some((anchor(found.0).1.to_owned(), found.1.clone()))
    };
    let is_condition = |anchor: &str| matches!(anchor, "(" | "<");
    let comes = now.keys().map(|key| anchor(key)).any(|(name, sort)| is_condition(sort) && find(was, name).is_none());
    comes
        || was.iter().any(|(key, was)| {
            let (name, sort) = anchor(key);
            // What decides whether the rest is asked for is not compared.
            if is_condition(sort) || sort == "+" {
                return false;
            }
            match find(now, name) {
                None => true,
                Some((now_sort, now)) if now_sort == sort => pattern_takes_more(was, &now),
                Some((now_sort, _)) => sort.is_empty() && now_sort == "=",
            }
        })
}

/// Whether one of the texts that a pattern takes, with `|` between them, is more than before, and none is less.
fn text_takes_more(was: &str, now: &str) -> bool {
    let parts = |text: &str| -> Vec<String> { text.split('|').map(|part| part.trim().to_owned()).collect() };
    let (was, now) = (parts(was), parts(now));
    let is_plain = |part: &String| !part.starts_with(['!', '<', '>']) && !part.contains('&') && !part.contains("{{");
    if let ([was], [now]) = (&was[..], &now[..])
        && let (Some((sign, from)), Some((other, to))) = (bound(was), bound(now))
    {
        return sign == other && if sign == '<' { to > from } else { to < from };
    }
    let takes = |pattern: &String, text: &String| pattern == text || wildcard(pattern, text);
    let covers = |some: &[String], other: &[String]| other.iter().all(|one| some.iter().any(|part| takes(part, one)));
    was.iter().chain(&now).all(is_plain) && covers(&now, &was) && !covers(&was, &now)
}

/// A bound of a pattern, and on which side of it a value has to be: `<=3600`.
fn bound(text: &str) -> Option<(char, f64)> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '<' | '>'))?;
    let rest = text.trim_start_matches(['<', '>', '=']).trim();
    Some((sign, quantity(&Value::from(rest))?))
}

/// Whether conditions for which a rule denies are met in fewer cases than before.
fn denies_less(was: &Value, now: &Value) -> bool {
    // A rule that denies without any condition denies always.
    if was.get("conditions").is_none_or(Value::is_null) {
        return now.get("conditions").is_some_and(|value| !value.is_null());
    }
    let list = |deny: &'_ Value, key: &str| items(deny, &["conditions", key]).to_vec();
    let [any, any_now] = [was, now].map(|deny| list(deny, "any"));
    let [all, all_now] = [was, now].map(|deny| list(deny, "all"));
    let is_part =
        |part: &[Value], whole: &[Value]| part.len() < whole.len() && part.iter().all(|one| whole.contains(one));
    let never = |any: &[Value], all: &[Value]| !any.is_empty() && any.iter().all(is_never) || all.iter().any(is_never);
    if never(&any_now, &all_now) && !never(&any, &all) {
        return true;
    }
    let is_less = |was: &[Value], now: &[Value]| {
        was.len() == now.len() && was.iter().zip(now).any(|(was, now)| condition_is_less(was, now))
    };
    if is_part(&any_now, &any) && !any_now.is_empty() && all == all_now || is_part(&all, &all_now) && any == any_now {
        return true;
    }
    is_less(&any, &any_now) && all == all_now || is_less(&all, &all_now) && any == any_now
}

/// A condition of constants that do not fit.
fn is_never(condition: &Value) -> bool {
    let is_constant = |value: &Value| match value {
        Value::String(text) => !text.contains("{{"),
        Value::Sequence(_) | Value::Mapping(_) | Value::Null => false,
        _ => true,
    };
    let [key, value] = ["key", "value"].map(|name| condition.get(name).cloned().unwrap_or_default());
    let is_equal = key == value || key.as_str().zip(value.as_str()).is_some_and(|(key, value)| wildcard(value, key));
    is_constant(&key)
        && is_constant(&value)
        && match word(condition, &["operator"]) {
            "Equals" | "Equal" => !is_equal,
            "NotEquals" | "NotEqual" => is_equal,
            _ => false,
        }
}

/// Whether one condition is met in fewer cases: a list that has less, or more of what is let through, or a bound.
fn condition_is_less(was: &Value, now: &Value) -> bool {
    let operator = word(now, &["operator"]);
    if was.get("key") != now.get("key") || word(was, &["operator"]) != operator {
        return false;
    }
    let values = |condition: &Value| -> BTreeSet<String> {
        match condition.get("value") {
            Some(Value::Sequence(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(one)) => BTreeSet::from([one.clone()]),
            _ => BTreeSet::new(),
        }
    };
    let (before, after) = (values(was), values(now));
    let more = |some: &BTreeSet<String>, of: &BTreeSet<String>| {
        let has = |one: &String| some.iter().any(|pattern| wildcard(pattern, one));
        !of.is_empty() && of.iter().all(has) && !some.iter().all(|one| of.iter().any(|pattern| wildcard(pattern, one)))
    };
    let amount = |condition: &Value| condition.get("value").and_then(quantity);
    let (from, to) = (amount(was), amount(now));
    match operator {
        "AnyIn" | "In" | "AllIn" => more(&before, &after),
        "AnyNotIn" | "NotIn" | "AllNotIn" => more(&after, &before),
        "GreaterThan" | "GreaterThanOrEquals" => from.zip(to).is_some_and(|(from, to)| to > from),
        "LessThan" | "LessThanOrEquals" => from.zip(to).is_some_and(|(from, to)| to < from),
        _ => false,
    }
}

/// Reference: kyverno.io docs/policy-types/cluster-policy/validate, "Pod Security": `level`, `exclude`.
fn is_less_secure(was: &Value, now: &Value) -> bool {
    let level = |one: &Value| match word(one, &["level"]) {
        "privileged" => 0,
        "baseline" => 1,
        _ => 2,
    };
    let excluded = |one: &'_ Value| items(one, &["exclude"]).to_vec();
    let had = excluded(was);
    level(now) < level(was) || level(now) == level(was) && excluded(now).iter().any(|one| !had.contains(one))
}

/// Whether expressions of CEL check less: one is `true`, or has `|| …` behind it.
pub(super) fn expressions_check_less(was: &Value, now: &Value, list: &str) -> bool {
    let all = |value: &Value| -> Vec<String> {
        items(value, &[list]).iter().map(|one| word(one, &["expression"]).trim().to_owned()).collect()
    };
    let (before, after) = (all(was), all(now));
    let is_constant = |one: &String| one == "true" || one == "1 == 1";
    let is_less = |was: &String, now: &String| {
        was != now
            && (is_constant(now)
                || bounds_take_more(was, now)
                || now.starts_with(&format!("{was} || "))
                || now.ends_with(&format!(" || {was}")))
    };
    let goes = after.len() < before.len() && after.iter().all(|one| before.contains(one));
    goes || before.len() == after.len() && before.iter().zip(&after).any(|(was, now)| is_less(was, now))
}

/// Whether two expressions are the same but for bounds, of which one is wider: `x <= 5` and `x <= 50`.
fn bounds_take_more(was: &str, now: &str) -> bool {
    // What is turned round, or depends on something else, is not compared.
    if [was, now].iter().any(|text| text.contains("!(") || text.contains('?')) {
        return false;
    }
    let (before, after) = (parts(was), parts(now));
    let texts =
        |parts: &[(String, Option<f64>)]| -> Vec<String> { parts.iter().map(|(text, _)| text.clone()).collect() };
    if texts(&before) != texts(&after) {
        return false;
    }
    let mut wider = false;
    for ((text, from), (_, to)) in before.iter().zip(&after) {
        let (Some(from), Some(to)) = (from, to) else { continue };
        let sign = text.trim_end();
        let is_wider = match () {
            () if sign.ends_with("<=") || sign.ends_with('<') => to > from,
            () if sign.ends_with(">=") || sign.ends_with('>') => to < from,
            () => false,
        };
        wider |= is_wider;
        if !is_wider && to != from {
            return false;
        }
    }
    wider
}

/// A text cut at its numbers: what is before each, and it.
fn parts(text: &str) -> Vec<(String, Option<f64>)> {
    let mut found = Vec::new();
    let mut before = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"');
        let is_part = before.chars().next_back().is_some_and(is_word);
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        match number.parse() {
            Ok(number) if first.is_ascii_digit() && !is_part => {
                found.push((std::mem::take(&mut before), Some(number)));
                rest = after;
            }
            _ => {
                before.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    found.push((before, None));
    found
}

/// Images that are verified no more, or by nothing.
///
/// Reference: kyverno.io docs/policy-types/cluster-policy/verify-images: `required` and `verifyDigest` are true by default.
fn verifies_less(was: &[Value], now: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let texts = |one: &Value, key: &str| -> Vec<String> {
        items(one, &[key]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let covered = |all: &[String], one: &String| all.iter().any(|pattern| wildcard(pattern, one));
    let referenced: Vec<String> = now.iter().flat_map(|one| texts(one, "imageReferences")).collect();
    let mut before = was.iter().flat_map(|one| texts(one, "imageReferences"));
    if before.any(|one| !covered(&referenced, &one)) {
        found.push("`imageReferences` of rule `{rule}` are for fewer images".to_owned());
    }
    let skipped: Vec<String> = was.iter().flat_map(|one| texts(one, "skipImageReferences")).collect();
    if now.iter().flat_map(|one| texts(one, "skipImageReferences")).any(|one| !covered(&skipped, &one)) {
        found.push("`skipImageReferences` of rule `{rule}` leave out more images".to_owned());
    }
    for (was, now) in was.iter().zip(now).filter(|_| was.len() == now.len()) {
        for list in ["attestors", "attestations"] {
            let [before, after] = [was, now].map(|one| items(one, &[list]).len());
            if before > 0 && after < before {
                found.push(format!("`{list}` of rule `{{rule}}` removed: fewer signatures are asked for"));
            }
            // Without a count, all of the entries have to have signed.
            let needed =
                |one: &Value| number(one, &["count"]).or_else(|| i64::try_from(items(one, &["entries"]).len()).ok());
            let sum = |one: &Value| items(one, &[list]).iter().filter_map(needed).sum::<i64>();
            if before == after && sum(now) < sum(was) && sum(now) > 0 {
                found.push(format!("`{list}` of rule `{{rule}}` ask for fewer signatures"));
            }
        }
        if signers_take_more(was.get("attestors"), now.get("attestors")) {
            found.push("`attestors` of rule `{rule}` take signatures of more".to_owned());
        }
        for key in ["required", "verifyDigest"] {
            let is_off = |one: &Value| one.get(key).and_then(Value::as_bool) == Some(false);
            if is_off(now) && !is_off(was) {
                found.push(format!("`{key}: false` of rule `{{rule}}`: images are not verified by it any more"));
            }
        }
    }
    found
}

/// Whether who may sign is written as a pattern that takes more, at the places of before.
fn signers_take_more(was: Option<&Value>, now: Option<&Value>) -> bool {
    match (was, now) {
        (Some(Value::Mapping(was)), Some(Value::Mapping(now))) => was.iter().any(|(key, was)| {
            let is_name = matches!(key.as_str(), "subject" | "issuer");
            match (was, now.get(key)) {
                (Value::String(was), Some(Value::String(now))) if is_name => text_takes_more(was, now),
                (Value::String(_), None) => is_name,
                (was, now) => signers_take_more(Some(was), now),
            }
        }),
        (Some(Value::Sequence(was)), Some(Value::Sequence(now))) if was.len() == now.len() => {
            was.iter().zip(now).any(|(was, now)| signers_take_more(Some(was), Some(now)))
        }
        _ => false,
    }
}

/// Lists of parameters of Gatekeeper's constraints by their names: what they let through, and what they ask for or refuse.
///
/// Reference: open-policy-agent.github.io/gatekeeper-library: `repos` are starts of images; `allowed…`, `exempt…`; `disallowed…`,
/// `forbidden…`, `required…`, and `labels` that have to be there.
pub(super) fn parameters_check_less(was: &Value, now: &Value) -> Vec<String> {
    let (Some(before), Some(after)) = (was.as_mapping(), now.as_mapping()) else { return Vec::new() };
    let mut found = Vec::new();
    for (key, after) in after {
        let lets = key == "repos" || key.starts_with("allowed");
        let Some(Value::Sequence(was)) = before.get(key).filter(|_| lets) else { continue };
        let covers = |one: &Value, other: &Value| {
            one == other
                || one.as_str().zip(other.as_str()).is_some_and(|(one, other)| {
                    if key == "repos" { other.starts_with(one) } else { wildcard(one, other) }
                })
        };
        let mut comes = after.as_sequence().unwrap_or_default().iter();
        if !was.is_empty() && comes.any(|one| !was.iter().any(|had| covers(had, one))) {
            found.push(format!("`parameters.{key}` let more through"));
        }
    }
    for (key, before) in before {
        let asks =
            key == "labels" || ["disallowed", "forbidden", "required"].iter().any(|start| key.starts_with(start));
        let Some(Value::Sequence(was)) = Some(before).filter(|_| asks) else { continue };
        let is_same = |one: &Value, other: &Value| match word(one, &["key"]) {
            "" => one == other,
            name => name == word(other, &["key"]),
        };
        let now = after.get(key).and_then(Value::as_sequence).unwrap_or_default();
        if was.iter().any(|one| !now.iter().any(|other| is_same(one, other)))
            && now.iter().all(|one| was.iter().any(|had| is_same(had, one)))
        {
            found.push(format!("`parameters.{key}` ask for less"));
        }
    }
    found
}
