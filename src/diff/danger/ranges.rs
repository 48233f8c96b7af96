//! Ranges of addresses.

use std::net::IpAddr;

/// A range: whether it is of IPv6, its first and its last address.
type Range = (bool, u128, u128);

/// Ranges inside of companies' own networks.
const PRIVATE: [&str; 6] =
    ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7"];

fn range(text: &str) -> Option<Range> {
    let (address, length) = match text.trim().split_once('/') {
        Some((address, length)) => (address, Some(length.parse::<u32>().ok()?)),
        None => (text.trim(), None),
    };
    let (is_v6, bits, all) = match address.parse().ok()? {
        IpAddr::V4(address) => (false, u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (true, u128::from(address), 128),
    };
    let free = all - length.filter(|length| *length <= all).or(length.is_none().then_some(all))?;
    let mask = 1_u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    Some((is_v6, bits & !mask, bits | mask))
}

/// Whether ranges have, all together, each address of one. Not where one is not a range.
pub(super) fn cover<'t>(all: impl IntoIterator<Item = &'t str>, one: &str) -> bool {
    let Some((is_v6, first, last)) = range(one) else { return false };
    let mut all: Vec<Range> = all.into_iter().filter_map(range).filter(|range| range.0 == is_v6).collect();
    all.sort_unstable();
    let mut next = first;
    for (_, start, end) in all {
        if start > next {
            return false;
        }
        if end >= last {
            return true;
        }
        next = next.max(end + 1);
    }
    false
}

/// Whether ranges have every address.
pub(super) fn are_all<'t>(all: impl IntoIterator<Item = &'t str> + Clone) -> bool {
    cover(all.clone(), "0.0.0.0/0") || cover(all, "::/0")
}

/// The ranges that let in addresses from outside, or make a range that there was wider.
pub(super) fn widened<'t>(was: &[&'t str], now: &[&'t str]) -> Vec<&'t str> {
    let is_wider = |one: &&&str| !cover(was.iter().copied(), one) && range(one).is_some();
    let is_seen = |one: &&&str| !cover(PRIVATE, one) || was.iter().any(|was| cover([**one], was));
    now.iter().filter(is_wider).filter(is_seen).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::{are_all, widened};

    #[test]
    fn ranges_together() {
        assert!(are_all(["0.0.0.0/1", "128.0.0.0/1"]) && are_all(["10.0.0.0/8", "::/0"]) && are_all(["0.0.0.0/0"]));
        assert!(!are_all(["0.0.0.0/1", "128.0.0.0/2"]) && !are_all(["0.0.0.0"]) && !are_all(["0.0.0.0/33"]));
        let rows: [(&[&str], &[&str], &[&str]); 6] = [
            (&["10.0.0.0/8"], &["10.0.0.0/9", "10.128.0.0/9"], &[]),
            (&["10.0.0.0/9", "10.128.0.0/9"], &["10.0.0.0/8"], &[]),
            (&["10.0.0.0/16"], &["10.0.0.0/8"], &["10.0.0.0/8"]),
            (&["10.0.0.0/8"], &["10.0.0.0/8", "192.168.0.0/16"], &[]),
            (&["10.0.0.0/8"], &["10.0.0.0/8", "198.51.100.7"], &["198.51.100.7"]),
            (&["10.0.0.0/8"], &["pl-1234"], &[]),
        ];
        for (was, now, expected) in rows {
            assert_eq!(widened(was, now), expected, "{was:?} {now:?}");
        }
    }
}
