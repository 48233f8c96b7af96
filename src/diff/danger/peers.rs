//! Whether a rule of a NetworkPolicy lets through more than the rule that it takes the place of.
//!
//! A rule grants each of its peers each of its ports. One that is new beside the others is meant; one that has all that another
//! had, and more, is that other one, widened.

use std::net::IpAddr;

use go_yaml::{Mapping, Value};

use super::items;
use crate::diff::model::{number, word};

/// How many grants are looked at in one policy: none that was written by hand has as many.
const GRANTS_MAX: usize = 1_000;

/// One peer and one port; everyone or every port where there is none.
struct Grant<'r> {
    peer: Option<&'r Value>,
    port: Option<&'r Value>,
}

/// Whether some grant has all of one that there was, and is had by none that there was. `peers` is `from` or `to`.
///
/// Reference: kubernetes docs/concepts/services-networking/network-policies, "Behavior of `to` and `from` selectors".
pub(super) fn widened(old: &[Value], new: &[Value], peers: &str) -> bool {
    let (before, after) = (grants(old, peers), grants(new, peers));
    old != new
        && after
            .iter()
            .any(|grant| before.iter().any(|was| grant.covers(was)) && !before.iter().any(|was| was.covers(grant)))
}

fn grants<'r>(rules: &'r [Value], peers: &str) -> Vec<Grant<'r>> {
    let all = rules.iter().flat_map(|rule| {
        let [peers, ports] = [peers, "ports"].map(|key| each(items(rule, &[key])));
        peers.into_iter().flat_map(move |peer| ports.clone().into_iter().map(move |port| Grant { peer, port }))
    });
    all.take(GRANTS_MAX).collect()
}

/// Each item, or none of them for all.
fn each(items: &[Value]) -> Vec<Option<&Value>> {
    if items.is_empty() { vec![None] } else { items.iter().map(Some).collect() }
}

impl Grant<'_> {
    fn covers(&self, other: &Grant<'_>) -> bool {
        let by = |one: Option<&Value>, other: Option<&Value>, covers: fn(&Value, &Value) -> bool| match (one, other) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(one), Some(other)) => covers(one, other),
        };
        by(self.peer, other.peer, peer_covers) && by(self.port, other.port, port_covers)
    }
}

fn port_covers(one: &Value, other: &Value) -> bool {
    let protocol = |port: &Value| match word(port, &["protocol"]) {
        "" => "TCP".to_owned(),
        protocol => protocol.to_owned(),
    };
    let range = |port: &Value| {
        let first = number(port, &["port"])?;
        Some((first, number(port, &["endPort"]).unwrap_or(first)))
    };
    let is_within = || match (range(one), range(other)) {
        (Some(one), Some(other)) => one.0 <= other.0 && other.1 <= one.1,
        _ => one.get("port") == other.get("port"),
    };
    protocol(one) == protocol(other) && (one.get("port").is_none() || is_within())
}

fn peer_covers(one: &Value, other: &Value) -> bool {
    if let (Some(one), Some(other)) = (one.get("ipBlock"), other.get("ipBlock")) {
        return block_covers(one, other).unwrap_or(false);
    }
    let selector = |peer: &'_ Value, key: &str| peer.get(key).filter(|selector| !selector.is_null()).cloned();
    let [namespaces, of_other] = [one, other].map(|peer| selector(peer, "namespaceSelector"));
    let covers_namespaces = match (&namespaces, &of_other) {
        (None, None) => true,
        (None, Some(_)) => false,
        // All namespaces include the own one.
        (Some(one), None) => selector_covers(one, &Value::Mapping(Mapping::new())),
        (Some(one), Some(other)) => selector_covers(one, other),
    };
    let everything = || Value::Mapping(Mapping::new());
    let [pods, of_other] = [one, other].map(|peer| selector(peer, "podSelector").unwrap_or_else(everything));
    one.get("ipBlock").is_none()
        && other.get("ipBlock").is_none()
        && covers_namespaces
        && selector_covers(&pods, &of_other)
}

/// Whether all that a selector asks for is asked for by another one too.
fn selector_covers(one: &Value, other: &Value) -> bool {
    let labels =
        |selector: &'_ Value| selector.get("matchLabels").and_then(Value::as_mapping).cloned().unwrap_or_default();
    let (of_one, of_other) = (labels(one), labels(other));
    let expressions = items(other, &["matchExpressions"]);
    of_one.iter().all(|(key, value)| of_other.get(key) == Some(value))
        && items(one, &["matchExpressions"]).iter().all(|expression| expressions.contains(expression))
}

/// Whether a block of addresses has all of another one; none where one of them is not a block.
fn block_covers(one: &Value, other: &Value) -> Option<bool> {
    let (outer, inner) = (Block::parse(word(one, &["cidr"]))?, Block::parse(word(other, &["cidr"]))?);
    let blocks = |block: &Value| -> Vec<Block> {
        items(block, &["except"]).iter().filter_map(|text| Block::parse(text.as_str()?)).collect()
    };
    let excepted = blocks(other);
    let is_without = |except: &Block| {
        excepted.iter().any(|of_other| of_other.has(except)) || !inner.has(except) && !except.has(&inner)
    };
    Some(outer.has(&inner) && blocks(one).iter().all(is_without))
}

/// A range of addresses: its first bits, and how many there are.
struct Block {
    bits: u128,
    length: u32,
    is_v6: bool,
}

impl Block {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.trim().split_once('/')?;
        let length = length.parse::<u32>().ok()?;
        let (bits, is_v6) = match address.parse::<IpAddr>().ok()? {
            IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, false),
            IpAddr::V6(address) => (u128::from(address), true),
        };
        (length <= if is_v6 { 128 } else { 32 }).then_some(Self { bits, length, is_v6 })
    }

    fn has(&self, other: &Self) -> bool {
        let mask = u128::MAX.checked_shl(128 - self.length).unwrap_or(0);
        self.is_v6 == other.is_v6 && self.length <= other.length && (self.bits & mask) == (other.bits & mask)
    }
}

#[cfg(test)]
mod tests {
    use go_yaml::{Limits, sigs};

    use super::*;

    #[test]
    fn a_rule_that_has_all_of_another_and_more_is_wider() {
        let shop = "namespaceSelector: {matchLabels: {name: shop}}";
        let front = "podSelector: {matchLabels: {app: front}}";
        let rule = |from: &str| format!("{{from: [{from}], ports: [{{port: 8080}}]}}");
        let both = rule(&format!("{{{shop}, {front}}}"));
        let ip = |block: &str| rule(&format!("{{ipBlock: {{{block}}}}}"));
        let rows = [
            (both.clone(), rule(&format!("{{{shop}}}, {{{front}}}")), true),
            (both.clone(), rule(&format!("{{{shop}}}")), true),
            (both.clone(), format!("{{from: [{{{shop}, {front}}}]}}"), true),
            (both.clone(), format!("{{from: [{{{shop}, {front}}}], ports: [{{port: 8000, endPort: 9000}}]}}"), true),
            (both.clone(), format!("{{from: [{{{shop}, {front}}}], ports: [{{port: 8080, protocol: TCP}}]}}"), false),
            (both.clone(), format!("{both}, {}", rule("{podSelector: {matchLabels: {app: other}}}")), false),
            (rule(&format!("{{{shop}}}")), both, false),
            (ip("cidr: 10.1.0.0/16"), ip("cidr: 10.0.0.0/8"), true),
            (ip("cidr: 10.0.0.0/8"), ip("cidr: 10.1.0.0/16"), false),
            (ip("cidr: 10.0.0.0/8, except: [10.1.0.0/16]"), ip("cidr: 10.0.0.0/8"), true),
            (
                ip("cidr: 10.0.0.0/8, except: [10.1.0.0/16]"),
                ip("cidr: 10.0.0.0/8, except: [10.1.0.0/16, 10.2.0.0/16]"),
                false,
            ),
            (ip("cidr: '2001:db8:1::/48'"), ip("cidr: '2001:db8::/32'"), true),
            (ip("cidr: 10.0.0.0/8"), ip("cidr: 11.0.0.0/8"), false),
        ];
        let rules =
            |text: &str| sigs::unmarshal(format!("rules: [{text}]").as_bytes(), &Limits::default()).expect("YAML");
        for (old, new, expected) in rows {
            let (was, now) = (rules(&old), rules(&new));
            assert_eq!(widened(items(&was, &["rules"]), items(&now, &["rules"]), "from"), expected, "{old} → {new}");
        }
    }
}
