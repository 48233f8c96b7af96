//! What Pods may do on their node.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::mounts::{Source, mounts};
use super::{Danger, Severity, What, items};
use crate::diff::model::pods::{containers, spec};
use crate::manifest::Manifest;

/// Capabilities that the baseline allows to be added.
///
/// Reference: kubernetes docs/concepts/security/pod-security-standards, baseline.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// How many containers are named.
const NAMED_MAX: usize = 4;

/// Levels of Pod security, the weakest first.
pub(super) const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// What Pods may do that they could not before: all that the baseline of the Pod security standards forbids; of Pods that
/// were there before also to run as root, where that was forbidden.
pub(super) fn gained(old: Option<&Manifest>, new: &Manifest) -> Option<Danger> {
    let before: BTreeSet<String> = old.map(rights).unwrap_or_default();
    let alone = |of: &Manifest, other: &Manifest| names(of).difference(&names(other)).cloned().collect::<BTreeSet<_>>();
    let (gone, come) = old.map(|old| (alone(old, new), alone(new, old))).unwrap_or_default();
    let before: BTreeSet<String> = before.iter().map(|right| without_container(right, &gone)).collect();
    let had = |right: &String| {
        old.is_some_and(|old| before.contains(&without_container(right, &come)) || has_host_path(old, new, right))
    };
    let mut gains: Vec<String> = rights(new).into_iter().filter(|right| !had(right)).collect();
    if let Some(old) = old {
        gains.extend(lowered(old, new));
        gains.extend(root(old, new));
    }
    (!gains.is_empty()).then(|| Danger::new(Severity::Security, What::Privileged { gains }))
}

/// A right of a container that only one of two has under its name: there it may have another one, and the Pod is the boundary.
fn without_container(right: &str, alone: &BTreeSet<String>) -> String {
    let named = alone.iter().find(|name| right.contains(name.as_str()));
    named.map_or_else(|| right.to_owned(), |name| right.replace(name.as_str(), "`*`"))
}

/// The names of containers, as rights have them.
fn names(object: &Manifest) -> BTreeSet<String> {
    spec(object).into_iter().flat_map(containers).map(|(name, _)| format!("`{name}`")).collect()
}

/// How rights to files of the host begin.
const HOST_PATH: &str = "files of the host (hostPath ";

/// Whether a right is to files of the host that the Pods had before, and no more of them than to read where they could only read.
fn has_host_path(old: &Manifest, new: &Manifest, right: &str) -> bool {
    let Some(path) = right.strip_prefix(HOST_PATH).and_then(|rest| rest.strip_suffix(')')) else { return false };
    let is_below = |of: &str| {
        let of = of.trim_end_matches('/');
        path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let writes = |object: &Manifest, is_it: &dyn Fn(&str) -> bool| -> Option<bool> {
        let all = mounts(object).into_iter().filter_map(|mount| match mount.source {
            Source::Host(path) if is_it(path) => Some(!mount.is_read_only),
            _ => None,
        });
        all.reduce(|one, other| one || other)
    };
    let before = writes(old, &is_below);
    before.is_some_and(|wrote| wrote || writes(new, &|one: &str| one == path) != Some(true))
}

/// What the baseline forbids and the Pods of an object ask for.
fn rights(manifest: &Manifest) -> BTreeSet<String> {
    let Some(spec) = spec(manifest) else { return BTreeSet::new() };
    let is_set = |value: &Value, path: &[&str]| value.at(path).and_then(Value::as_bool) == Some(true);
    let mut rights = BTreeSet::new();
    let host = [("hostNetwork", "network"), ("hostPID", "processes"), ("hostIPC", "shared memory")];
    rights.extend(
        host.iter()
            .filter(|(key, _)| is_set(spec, &[key]))
            .map(|(key, what)| format!("the {what} of the host ({key})")),
    );
    for volume in items(spec, &["volumes"]) {
        let path = volume.at(&["hostPath", "path"]).and_then(Value::as_str);
        rights.extend(path.map(|path| format!("{HOST_PATH}{path})")));
    }
    for sysctl in items(spec, &["securityContext", "sysctls"]) {
        let name = sysctl.get("name").and_then(Value::as_str).unwrap_or_default();
        if !is_safe_sysctl(name) {
            rights.insert(format!("the kernel parameter {name}"));
        }
    }
    rights.extend(contexts(spec, "all containers"));
    for (name, container) in containers(spec) {
        rights.extend(contexts(container, &format!("`{name}`")));
        let context = |path: &[&str]| is_set(container, &[&["securityContext"], path].concat());
        if context(&["privileged"]) {
            rights.insert(format!("all rights on the host (privileged `{name}`)"));
        }
        for capability in items(container, &["securityContext", "capabilities", "add"]) {
            let capability = capability.as_str().unwrap_or_default().trim_start_matches("CAP_");
            if !capability.is_empty() && !CAPABILITIES.contains(&capability) {
                rights.insert(format!("the capability {capability} (`{name}`)"));
            }
        }
        for port in items(container, &["ports"]) {
            if let Some(Value::Int(port @ 1..)) = port.get("hostPort") {
                rights.insert(format!("the port {port} of the host (`{name}`)"));
            }
        }
    }
    rights
}

/// What a security context switches off, of a Pod or a container.
fn contexts(of: &Value, whose: &str) -> Vec<String> {
    let text = |path: &[&str]| of.at(path).and_then(Value::as_str).unwrap_or_default();
    let rows = [
        (text(&["securityContext", "seccompProfile", "type"]) == "Unconfined", "no seccomp profile"),
        (text(&["securityContext", "appArmorProfile", "type"]) == "Unconfined", "no AppArmor profile"),
        (text(&["securityContext", "procMount"]) == "Unmasked", "all of /proc"),
        (
            of.at(&["securityContext", "windowsOptions", "hostProcess"]).and_then(Value::as_bool) == Some(true),
            "a process of the host",
        ),
    ];
    rows.iter().filter(|(is_so, _)| *is_so).map(|(_, what)| format!("{what} ({whose})")).collect()
}

/// Reference: kubernetes docs/concepts/security/pod-security-standards, baseline, "Sysctls".
fn is_safe_sysctl(name: &str) -> bool {
    let safe = [
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ];
    name.is_empty() || safe.contains(&name)
}

/// How the right to run as root begins.
const OF_ROOT: &str = "the rights of root";

/// Where it was forbidden to run as root, or to get more rights than the process had, and is no longer.
fn root(old: &Manifest, new: &Manifest) -> Vec<String> {
    let (Some(old), Some(new)) = (spec(old), spec(new)) else { return Vec::new() };
    let mut gains = root_of(old, new, "all containers");
    gains.extend(undecided(old, new));
    for (name, container) in containers(new) {
        if let Some((_, before)) = containers(old).find(|(before, _)| *before == name) {
            let of_root = |gain: &String| gain.starts_with(OF_ROOT) && is_root_forbidden(new, container);
            gains.extend(root_of(before, container, &format!("`{name}`")).into_iter().filter(|gain| !of_root(gain)));
            gains.extend(undropped(before, container, name));
            let has = |pods: &Value, one: &Value| has_profile(one).or_else(|| has_profile(pods)) == Some(true);
            let is_said = has_profile(container) == Some(false) || has_profile(new) == Some(false);
            if has(old, before) && !has(new, container) && !is_said {
                gains.push(format!("the system calls that a profile kept from it (seccompProfile of `{name}`)"));
            }
        }
    }
    gains
}

/// Capabilities that a container dropped, and has now.
///
/// Reference: kubernetes docs/concepts/security/pod-security-standards, restricted, "Capabilities": without `drop: [ALL]` a container
/// has those that its runtime gives by default.
fn undropped(old: &Value, new: &Value, name: &str) -> Option<String> {
    let listed = |of: &Value| -> BTreeSet<String> {
        let all = items(of, &["securityContext", "capabilities", "drop"]).iter().filter_map(Value::as_str);
        all.map(|one| one.trim_start_matches("CAP_").to_ascii_uppercase()).collect()
    };
    let (was, now) = (listed(old), listed(new));
    let is_privileged = new.at(&["securityContext", "privileged"]).and_then(Value::as_bool) == Some(true);
    if now.contains("ALL") || is_privileged {
        return None;
    }
    if was.contains("ALL") {
        return Some(format!("the capabilities that a runtime gives by default (capabilities.drop of `{name}`)"));
    }
    let gone = was.difference(&now).next()?;
    Some(format!("the capability {gone} (capabilities.drop of `{name}`)"))
}

/// Whether a seccomp profile keeps system calls from a Pod or a container, where it says.
///
/// Reference: kubernetes docs/tutorials/security/seccomp: without one, a container runs unconfined by default.
fn has_profile(of: &Value) -> Option<bool> {
    let profile = of.at(&["securityContext", "seccompProfile", "type"]).and_then(Value::as_str)?;
    Some(matches!(profile, "RuntimeDefault" | "Localhost"))
}

/// The containers that were to run as another user than root, and whose images decide now.
///
/// Reference: kubernetes docs/tasks/configure-pod-container/security-context: what a container says goes before its Pod's.
fn undecided(old: &Value, new: &Value) -> Vec<String> {
    let flag = |of: &Value| of.at(&["securityContext", "runAsNonRoot"]).and_then(Value::as_bool);
    let decided = |pod: &Value, container: &Value| flag(container).or_else(|| flag(pod));
    let was = |name: &str| containers(old).find(|(before, _)| *before == name).and_then(|(_, one)| decided(old, one));
    let left = containers(new).filter(|(name, one)| was(name) == Some(true) && decided(new, one).is_none());
    left.map(|(name, _)| format!("to run as root where their image does (runAsNonRoot of `{name}`)")).collect()
}

/// Containers that are to run as root and must not, so that they do not start.
///
/// Reference: kubernetes 1.34 pkg/kubelet/kuberuntime/security_context_others.go `verifyRunAsNonRoot`.
pub(super) fn contradicts(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (before, after) = (spec(old)?, spec(new)?);
    let was = |name: &str| {
        containers(before).find(|(one, _)| *one == name).is_some_and(|(_, one)| is_root_forbidden(before, one))
    };
    let names: BTreeSet<String> = containers(after)
        .filter(|(name, container)| is_root_forbidden(after, container) && !was(name))
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    (!names.is_empty()).then(|| {
        let starts = if names.len() == 1 { "does not start" } else { "do not start" };
        let text = format!("{} {starts}: `runAsNonRoot: true` with `runAsUser: 0`", listed(names, NAMED_MAX));
        Danger::said(Severity::Outage, "rootForbidden", text, "keep one of them: another user, or root")
    })
}

/// What a container says goes before what its Pod does.
fn is_root_forbidden(pods: &Value, container: &Value) -> bool {
    let field = |key| {
        let of = |one: &Value| one.at(&["securityContext", key]).filter(|value| !value.is_null()).cloned();
        of(container).or_else(|| of(pods))
    };
    field("runAsNonRoot") == Some(Value::Bool(true)) && field("runAsUser") == Some(Value::Int(0))
}

/// The rights that the security context of a Pod, or of one container, gains.
fn root_of(old: &Value, new: &Value, whose: &str) -> Vec<String> {
    let flag = |of: &Value, key| of.at(&["securityContext", key]).and_then(Value::as_bool);
    let is_root = |of: &Value| of.at(&["securityContext", "runAsUser"]) == Some(&Value::Int(0));
    let mut gains = Vec::new();
    if flag(old, "runAsNonRoot") == Some(true) && flag(new, "runAsNonRoot") == Some(false)
        || !is_root(old) && is_root(new) && flag(new, "runAsNonRoot") != Some(true)
    {
        gains.push(format!("{OF_ROOT} ({whose})"));
    }
    if flag(old, "allowPrivilegeEscalation") == Some(false) && flag(new, "allowPrivilegeEscalation") != Some(false) {
        gains.push(format!("more rights than their parent process (allowPrivilegeEscalation of {whose})"));
    }
    gains
}

fn lowered(old: &Manifest, new: &Manifest) -> Option<String> {
    let is_namespace = new.kind() == "Namespace" && new.home_group().is_empty();
    let (before, after) = (level(old)?, level(new)?);
    let lowered = is_namespace && after < before;
    lowered.then(|| format!("the rights of Pod security level {} instead of {}", LEVELS[after], LEVELS[before]))
}

/// The number in [`LEVELS`] of the level that a namespace enforces.
///
/// Reference: kubernetes docs/concepts/security/pod-security-admission: no label is the weakest level.
pub(super) fn level(namespace: &Manifest) -> Option<usize> {
    let label = ["metadata", "labels", "pod-security.kubernetes.io/enforce"];
    let label = namespace.object().at(&label).and_then(Value::as_str).unwrap_or("privileged");
    LEVELS.iter().position(|level| *level == label)
}

/// Whether the Pods of a workload comply with a level, by its number in [`LEVELS`].
///
/// Reference: kubernetes docs/concepts/security/pod-security-standards, baseline and restricted.
pub(super) fn complies(workload: &Manifest, level: usize) -> bool {
    let Some(pods) = spec(workload) else { return true };
    level == 0 || rights(workload).is_empty() && (level == 1 || is_restricted(pods))
}

fn is_restricted(pods: &Value) -> bool {
    let is_set = |of: &Value, path: &[&str], wanted: &Value| of.at(path) == Some(wanted);
    let of_pod = |path: &[&str], wanted: &Value| is_set(pods, path, wanted);
    let is_right = |container: &Value| {
        let either = |path: &[&str], wanted: &Value| match container.at(path) {
            Some(value) => value == wanted,
            None => of_pod(path, wanted),
        };
        let has_profile = |of: &Value| {
            let profile = of.at(&["securityContext", "seccompProfile", "type"]).and_then(Value::as_str);
            matches!(profile, Some("RuntimeDefault" | "Localhost"))
        };
        let drops = items(container, &["securityContext", "capabilities", "drop"]);
        let adds = items(container, &["securityContext", "capabilities", "add"]);
        either(&["securityContext", "runAsNonRoot"], &Value::Bool(true))
            && is_set(container, &["securityContext", "allowPrivilegeEscalation"], &Value::Bool(false))
            && drops.iter().any(|one| one.as_str() == Some("ALL"))
            && adds.iter().all(|one| one.as_str() == Some("NET_BIND_SERVICE"))
            && (has_profile(container) || has_profile(pods))
    };
    containers(pods).all(|(_, container)| is_right(container))
}
