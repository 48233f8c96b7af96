//! The system calls of a confined program: a list of what is allowed.
//!
//! Each call is answered in one of five ways, which [`table`] and [`conditions`] say: it is done; it is refused with
//! `EPERM`, as is every call that neither knows; success is said and nothing is done (modes, owners, times); it is not
//! supported (`EOPNOTSUPP`); it does not exist (`ENOSYS`), so that the C library takes an older call. A call by the
//! interface of another architecture (32 bits) kills the process, and the numbers of x32 are in no list.
//!
//! What Landlock sees (files that are opened, made, renamed, removed; since Linux 6.12 signals) is left to it. What it does
//! not see is closed here: sockets, also local ones, since those of a container engine or of an agent are doors out;
//! modes, times and attributes of files; other processes; namespaces and mounts; the kernel.
#![cfg(target_os = "linux")]

mod conditions;
mod table;

use std::collections::BTreeMap;

use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule};

use table::{
    ABSENT, ALLOWED, ALLOWED_HERE, NETWORK, PRETENDED, PRETENDED_HERE, UNKNOWN_BELOW, UNKNOWN_FROM, UNSUPPORTED,
};

/// The rules of calls by their numbers; a call without a rule is meant whatever its arguments are.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Restricts this process and all that it starts to the calls that are allowed, with those of the network only with
/// `network`. False when the kernel or the architecture has no seccomp.
pub(super) fn restrict(network: bool) -> Result<bool, BackendError> {
    let Some(filters) = filters(network)? else { return Ok(false) };
    Ok(filters.iter().all(|filter| seccompiler::apply_filter(filter).is_ok()))
}

/// The filters, in the order in which they are installed. The first one refuses all that is not allowed; where another one
/// has an answer too, the kernel gives that of the last.
///
/// Reference: seccomp(2), "first-seen action value of highest precedence"; filters run in reverse order.
fn filters(network: bool) -> Result<Option<Vec<BpfProgram>>, BackendError> {
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return Ok(None) };
    let answer = |errno: i32| SeccompAction::Errno(errno.unsigned_abs());
    let refused = SeccompFilter::new(allowed(network)?, answer(libc::EPERM), SeccompAction::Allow, architecture)?;
    let mut filters = vec![refused.try_into()?];
    let absent = ABSENT.iter().copied().chain(UNKNOWN_FROM..UNKNOWN_BELOW);
    let rows = [
        (pretended()?, 0),
        (always(UNSUPPORTED.iter().copied()), libc::EOPNOTSUPP),
        (always(absent), libc::ENOSYS),
        (BTreeMap::from([conditions::no_request()?]), libc::ENOTTY),
    ];
    for (rules, errno) in rows {
        filters.push(SeccompFilter::new(rules, SeccompAction::Allow, answer(errno), architecture)?.try_into()?);
    }
    Ok(Some(filters))
}

fn always(calls: impl Iterator<Item = i64>) -> Rules {
    calls.map(|call| (call, Vec::new())).collect()
}

fn allowed(network: bool) -> Result<Rules, BackendError> {
    let mut rules = conditions::allowed()?;
    let network = if network { NETWORK } else { &[] };
    rules.extend(always([ALLOWED, ALLOWED_HERE, network].concat().into_iter()));
    Ok(rules)
}

fn pretended() -> Result<Rules, BackendError> {
    let mut rules = conditions::pretended()?;
    rules.extend(always([PRETENDED, PRETENDED_HERE].concat().into_iter()));
    Ok(rules)
}

#[cfg(test)]
mod tests;
