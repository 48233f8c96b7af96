//! Pools of addresses for load balancers, and Services that asked for one of them.

use std::collections::BTreeSet;
use std::net::IpAddr;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::addresses::asked;
use super::around::service_type;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Side, word};
use crate::manifest::Manifest;

/// How many Services are named.
const NAMED_MAX: usize = 4;

/// Annotations by which a Service asks for a pool.
///
/// Reference: metallb.io usage, "Requesting specific IPs".
const POOL: [&str; 2] = ["metallb.io/address-pool", "metallb.universe.tf/address-pool"];

fn is_pool(object: &Manifest) -> bool {
    matches!(
        (object.home_group(), object.kind()),
        ("metallb.io", "IPAddressPool") | ("cilium.io", "CiliumLoadBalancerIPPool")
    )
}

/// The ranges of a pool, each with its first and last address.
///
/// Reference: metallb.io apis `IPAddressPoolSpec.addresses`: a prefix, or a range with a `-`; docs.cilium.io network/lb-ipam,
/// "Pools": `blocks` with `cidr`, or `start` and `stop`.
fn ranges(pool: &Manifest) -> Vec<(u128, u128)> {
    let value = pool.object();
    let plain = items(value, &["spec", "addresses"]).iter().filter_map(Value::as_str).filter_map(range);
    let blocks = items(value, &["spec", "blocks"]).iter().chain(items(value, &["spec", "cidrs"]));
    let blocks = blocks.filter_map(|block| match (word(block, &["cidr"]), word(block, &["start"])) {
        ("", "") => None,
        ("", start) => Some((number(start)?, number(word(block, &["stop"])).or_else(|| number(start))?)),
        (prefix, _) => range(prefix),
    });
    plain.chain(blocks).collect()
}

/// An address as a number; those of IPv4 as IPv6 has them.
fn number(text: &str) -> Option<u128> {
    Some(match text.trim().parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => u128::from(address.to_ipv6_mapped()),
        IpAddr::V6(address) => u128::from(address),
    })
}

fn range(text: &str) -> Option<(u128, u128)> {
    if let Some((first, last)) = text.split_once('-') {
        return Some((number(first)?, number(last)?));
    }
    let (address, length) = text.trim().split_once('/')?;
    let bits: u32 = if address.contains(':') { 128 } else { 32 };
    let free = bits.checked_sub(length.parse().ok()?)?;
    let mask = 1_u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    let first = number(address)? & !mask;
    Some((first, first | mask))
}

fn has(pool: &Manifest, address: u128) -> bool {
    ranges(pool).iter().any(|(first, last)| (*first..=*last).contains(&address))
}

fn pools<'s>(side: &'s Side<'_>) -> impl Iterator<Item = &'s Manifest> {
    side.all().iter().map(|one| one.manifest).filter(|one| is_pool(one))
}

/// Services that asked for an address of a pool, or for it, which none has any more.
///
/// Reference: metallb/metallb controller/main.go, issue 2097: the address of a Service that no pool has is cleared.
pub(super) fn shrunk<'a>(old: &'a Manifest, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    if !is_pool(old) || new.is_none() && !pruning.removes() || old.kind() != new.map_or(old.kind(), Manifest::kind) {
        return None;
    }
    let after = &around.model.after;
    let is_lost =
        |address: &&str| number(address).is_some_and(|one| has(old, one) && !pools(after).any(|pool| has(pool, one)));
    let mut lost = BTreeSet::new();
    for service in after.listed("Service").map(|one| one.manifest).filter(|one| service_type(one) == "LoadBalancer") {
        let addresses: Vec<&str> = asked(service).into_iter().filter(is_lost).collect();
        let asks = POOL.iter().any(|key| word(service.object(), &["metadata", "annotations", key]) == old.name());
        if !addresses.is_empty() {
            lost.insert(format!("Service {} asks for {}", service.name(), listed(addresses, NAMED_MAX)));
        } else if asks && new.is_none() && !pools(after).any(|pool| pool.name() == old.name()) {
            lost.insert(format!("Service {} asks for this pool", service.name()));
        }
    }
    (!lost.is_empty()).then(|| {
        let start = if new.is_none() { "removed, and " } else { "" };
        let text = format!(
            "{start}{}, which no pool has any more: its load balancer loses its address",
            listed(lost, NAMED_MAX)
        );
        let danger = Danger::said(Severity::Outage, "elsewhere", text, "keep the addresses that Services ask for");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}
