//! Whether what a render prints may come from a call that is refused, although all probes print the same.
//!
//! Probes are few, and a predicate may give the same answer for each of them: `eq (now | date "Jan") "Jul"` is false in most
//! months. So a probe notes what its calls are given and what they make of it. Where probes differ in what a call is given
//! and agree in what it makes, the chance was lost at that call, and only for some functions it is lost for good: the kind of
//! a random text is `string` whatever the text is. For all others what is printed may depend on chance.
//!
//! What is in maps and structs is not looked at: functions that take or return such a thing hand it on, and what is read
//! from it later is looked at then.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::operand::Operand;
use super::source::Site;
use super::value::Value;

/// How many calls are noted.
const CALLS_MAX: usize = 1_000_000;

/// How many items of a list are looked at.
const ITEMS_MAX: usize = 64;

/// The calls of a probe behind the first one that is refused otherwise.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// By the site, and how often it was there before.
    calls: HashMap<(Site, u32), Seen>,
    passed: HashMap<Site, u32>,
    /// The random texts, by their digests, as long in every probe as in this one.
    texts: HashSet<u64>,
    /// Texts whose start is the same in every probe, [`head`].
    headed: HashSet<u64>,
    is_full: bool,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    given: u64,
    made: u64,
}

impl Trace {
    /// Whether chance was lost between probes in a way that is not good for all chances.
    pub fn loses_chance(traces: &[&Trace]) -> bool {
        let Some((first, others)) = traces.split_first() else { return false };
        // Sites that some probe does not come to are those of branches, which are looked at by the other two.
        let sites = traces.iter().flat_map(|trace| trace.calls.keys());
        traces.iter().any(|trace| trace.is_full)
            || sites.collect::<HashSet<_>>().into_iter().any(|site| {
                let seen: Vec<&Seen> =
                    std::iter::once(first).chain(others).filter_map(|trace| trace.calls.get(site)).collect();
                let differ =
                    |of: fn(&Seen) -> u64| seen.windows(2).any(|pair| matches!(pair, [one, two] if of(one) != of(two)));
                differ(|seen| seen.given) && !differ(|seen| seen.made)
            })
    }

    /// Looks at what a call is given, unless that does not matter.
    pub(super) fn given(&self, function: &str, values: &[Operand]) -> Option<u64> {
        let is_free = match function {
            "kindOf" | "kindIs" | "typeOf" | "typeIs" | "typeIsLike" | "include" | "default" | "coalesce"
            | "ternary" => true,
            // What is given by chance here is what is given if nothing else is.
            "dig" => true,
            // Gives back what `encryptAES` was given.
            "decryptAES" => true,
            "trunc" | "hasPrefix" => self.is_within_head(values),
            "len" => values.iter().all(|value| value.value().is_none_or(|value| self.has_fixed_length(value))),
            "empty" | "not" => !values.iter().any(is_number),
            _ => false,
        };
        if is_free {
            return None;
        }
        let looks_into_lists = matches!(function, "has" | "mustHas");
        let mut hasher = DefaultHasher::new();
        for value in values {
            digest_operand(value).hash(&mut hasher);
            if let Some(Value::List(list)) = value.value().filter(|_| looks_into_lists) {
                list.iter().take(ITEMS_MAX).for_each(|item| digest(item).hash(&mut hasher));
            }
        }
        Some(hasher.finish())
    }

    /// Looks at what a call that was given `given` makes. Collections are not looked at.
    pub(super) fn made(&mut self, site: Site, given: u64, result: &Operand) {
        if let Some(made) = digest_operand(result) {
            self.note(site, Seen { given, made });
        }
    }

    /// Looks at what decides a branch. A text, a time or a list is there or is not in every probe; a number may be 0 by chance.
    pub(super) fn tested(&mut self, site: Site, value: &Operand) {
        if is_number(value)
            && let Some(given) = digest_operand(value)
        {
            self.note(site, Seen { given, made: u64::from(value.is_true()) });
        }
    }

    fn note(&mut self, site: Site, seen: Seen) {
        if self.calls.len() == CALLS_MAX {
            self.is_full = true;
            return;
        }
        let passed = self.passed.entry(site).or_default();
        self.calls.insert((site, *passed), seen);
        *passed += 1;
    }

    /// Notes a text of random characters, or what a function made of one whose result is as long for all texts of a length.
    pub(super) fn drawn(&mut self, result: &Operand) {
        match result.value() {
            Some(Value::String(text)) => {
                self.texts.extend(digest_operand(result));
                self.headed.extend(digest_operand(result).filter(|_| head(text) > 0));
            }
            Some(Value::Struct(fields)) => {
                let is_headed = |value: &Value| value.as_text().is_some_and(|text| head(text) > 0);
                let fields = fields.fields().map(|(_, value)| value);
                self.headed.extend(fields.filter(is_headed).filter_map(|value| digest(&value)));
            }
            _ => {}
        }
    }

    /// Whether no more of a text is asked for than what it always starts with.
    fn is_within_head(&self, values: &[Operand]) -> bool {
        let [first, text] = values else { return false };
        let Some(Value::String(text)) = text.value() else { return false };
        let wanted = match first.value() {
            Some(Value::Int(_, length)) => usize::try_from(*length).ok(),
            Some(Value::String(prefix)) => Some(prefix.len()),
            _ => None,
        };
        wanted.is_some_and(|wanted| wanted <= head(text))
            && digest(&Value::String(text.clone())).is_some_and(|digest| self.headed.contains(&digest))
    }

    /// Whether a function makes texts of one length of all texts of a length, and is given a random one.
    pub(super) fn keeps_length(&self, function: &str, values: &[Operand]) -> bool {
        matches!(function, "b64enc" | "b32enc" | "sha1sum" | "sha256sum" | "sha512sum" | "upper" | "lower" | "toString")
            && values.iter().all(|value| digest_operand(value).is_some_and(|digest| self.texts.contains(&digest)))
    }

    fn has_fixed_length(&self, value: &Value) -> bool {
        match value {
            Value::String(_) => digest(value).is_some_and(|digest| self.texts.contains(&digest)),
            _ => true,
        }
    }
}

/// How many bytes a key, a certificate or a password of `bcrypt` always starts with: `-----BEGIN CERTIFICATE-----`, `web:$2a$10$`.
fn head(text: &[u8]) -> usize {
    if text.starts_with(b"-----BEGIN ") {
        return memchr::memchr(b'\n', text).map_or(0, |end| end + 1);
    }
    const COST: &[u8] = b"$2a$10$";
    memchr::memmem::find(text, COST).map_or(0, |at| at + COST.len())
}

fn is_number(value: &Operand) -> bool {
    matches!(value.value(), Some(Value::Int(..) | Value::Uint(..) | Value::Float(_)))
}

fn digest_operand(operand: &Operand) -> Option<u64> {
    operand.value().map_or(Some(0), digest)
}

/// What tells a value from others; none for collections.
fn digest(value: &Value) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(value).hash(&mut hasher);
    match value {
        Value::Nil => {}
        Value::Bool(value) => value.hash(&mut hasher),
        Value::Int(_, value) => value.hash(&mut hasher),
        Value::Uint(_, value) => value.hash(&mut hasher),
        Value::Float(value) => value.to_bits().hash(&mut hasher),
        Value::String(text) => text.hash(&mut hasher),
        Value::Bytes(bytes) => bytes.hash(&mut hasher),
        Value::Time(time) => (time.seconds(), time.nanoseconds()).hash(&mut hasher),
        Value::List(_) | Value::Map(_) | Value::Struct(_) => return None,
    }
    Some(hasher.finish())
}
