//! Domains that stand for many hosts.

/// Whether a host is of a domain that begins with a dot.
pub(super) fn covers(domain: &str, is_deep: bool, host: &str) -> bool {
    let label = host.strip_suffix(domain).filter(|label| !domain.is_empty() && !label.is_empty());
    label.is_some_and(|label| is_deep || !label.contains('.'))
}

/// Whether a host as a listener, or a rule of an Ingress, has it is for another one: nothing and `*` are for all.
pub(in crate::diff) fn is_for(pattern: &str, is_deep: bool, host: &str) -> bool {
    pattern.trim_start_matches('*').is_empty()
        || pattern == host
        || pattern.strip_prefix('*').is_some_and(|domain| covers(domain, is_deep, host))
}
