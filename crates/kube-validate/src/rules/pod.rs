//! Pods, wherever they are.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go `ValidatePodSpec`.

use go_yaml::{Mapping, Value};

use super::Context;
use crate::fields::{at, get, has, int, is_true, items, list, map, text};
use crate::finding::{Findings, Reason, shown};

/// What concerns several parts of a Pod at once.
pub(super) fn spec(context: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    let volumes = volume_names(context, pod);
    let mut seen: Vec<&str> = Vec::new();
    for (field, is_init) in [("containers", false), ("initContainers", true)] {
        for (index, container) in items(pod, field) {
            out.within(format_args!(".{field}[{index}]"), |out| {
                let name = text(container, "name");
                if !name.is_empty() && seen.contains(&name) {
                    out.refuse(".name", "duplicate", Reason::Duplicate, format!("{} is there already", shown(name)));
                }
                seen.push(name);
                mounts(container, &volumes, out);
                host_ports(pod, container, out);
                sleep(pod, container, out);
                restart(container, is_init, out);
                windows(pod, container, out);
            });
        }
    }
    if context.kind != "Pod" && !list(pod, "ephemeralContainers").is_empty() {
        out.refuse(".ephemeralContainers", "forbidden", Reason::Forbidden, "must not be in a template");
    }
    windows_pod(pod, out);
    shared(pod, out);
    dns(pod, out);
    resource_claims(pod, out);
}

/// The names that a mount may have; claims of a StatefulSet are volumes too.
fn volume_names<'p>(context: &Context<'p>, pod: &'p Mapping) -> Vec<(&'p str, bool)> {
    let named = |(_, volume): (usize, &'p Mapping)| {
        (
            text(volume, "name"),
            is_block(map(volume, "ephemeral").and_then(|claim| at(claim, &["volumeClaimTemplate", "spec"]))),
        )
    };
    let mut names: Vec<_> = items(pod, "volumes").map(named).collect();
    if context.kind == "StatefulSet"
        && let Some(spec) = map(context.root, "spec")
    {
        names.extend(items(spec, "volumeClaimTemplates").map(|(_, claim)| {
            (
                map(claim, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default(),
                is_block(map(claim, "spec")),
            )
        }));
    }
    names
}

fn is_block(claim: Option<&Mapping>) -> bool {
    claim.is_some_and(|claim| text(claim, "volumeMode") == "Block")
}

fn mounts(container: &Mapping, volumes: &[(&str, bool)], out: &mut Findings) {
    let mut paths: Vec<&str> = Vec::new();
    for (index, mount) in items(container, "volumeMounts") {
        out.within(format_args!(".volumeMounts[{index}]"), |out| {
            let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
            if !volumes.iter().any(|(volume, _)| *volume == name && !name.is_empty()) {
                out.refuse(
                    ".name",
                    "mount-without-volume",
                    Reason::NotFound,
                    format!("no volume is named {}", shown(name)),
                );
            }
            if !path.is_empty() && paths.contains(&path) {
                out.invalid(".mountPath", "duplicate-mount", format!("{} is mounted already", shown(path)));
            }
            paths.push(path);
            if !text(mount, "subPath").is_empty() && !text(mount, "subPathExpr").is_empty() {
                out.invalid(".subPathExpr", "one-of", "must not be set beside `subPath`");
            }
        });
    }
    for (index, device) in items(container, "volumeDevices") {
        let name = text(device, "name");
        if !volumes.iter().any(|(volume, _)| *volume == name) {
            let at = format!(".volumeDevices[{index}].name");
            out.refuse(&at, "mount-without-volume", Reason::NotFound, format!("no volume is named {}", shown(name)));
        }
    }
}

fn host_ports(pod: &Mapping, container: &Mapping, out: &mut Findings) {
    if !is_true(pod, "hostNetwork") {
        return;
    }
    for (index, port) in items(container, "ports") {
        if let (Some(host), Some(inner)) = (int(port, "hostPort"), int(port, "containerPort"))
            && host != 0
            && host != inner
        {
            out.invalid(
                &format!(".ports[{index}].hostPort"),
                "host-port",
                "must be `containerPort` where `hostNetwork` is true",
            );
        }
    }
}

fn sleep(pod: &Mapping, container: &Mapping, out: &mut Findings) {
    let grace = int(pod, "terminationGracePeriodSeconds").unwrap_or(30);
    for hook in ["preStop", "postStart"] {
        let Some(seconds) = at(container, &["lifecycle", hook, "sleep"]).and_then(|sleep| int(sleep, "seconds")) else {
            continue;
        };
        if seconds < 0 || seconds > grace {
            let text =
                format!("is {seconds}, and must be between 0 and `terminationGracePeriodSeconds`, which is {grace}");
            out.invalid(&format!(".lifecycle.{hook}.sleep"), "sleep", text);
        }
    }
}

/// Probes and hooks of a container that runs to its end before the others begin.
fn restart(container: &Mapping, is_init: bool, out: &mut Findings) {
    if !is_init || text(container, "restartPolicy") == "Always" {
        return;
    }
    for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
        if has(container, field) {
            let text = "must not be set for an init container whose `restartPolicy` is not Always";
            out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, text);
        }
    }
}

const NOT_IN_WINDOWS: &[&str] = &[
    "allowPrivilegeEscalation",
    "appArmorProfile",
    "capabilities",
    "privileged",
    "procMount",
    "readOnlyRootFilesystem",
    "runAsGroup",
    "runAsUser",
    "seLinuxOptions",
    "seccompProfile",
];
const NOT_IN_WINDOWS_PODS: &[&str] = &[
    "appArmorProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "runAsGroup",
    "runAsUser",
    "seLinuxOptions",
    "seccompProfile",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "sysctls",
];

fn os(pod: &Mapping) -> &str {
    map(pod, "os").map(|os| text(os, "name")).unwrap_or_default()
}

fn windows(pod: &Mapping, container: &Mapping, out: &mut Findings) {
    if let Some(security) = map(container, "securityContext") {
        os_fields(os(pod), security, NOT_IN_WINDOWS, out);
    }
}

fn os_fields(os: &str, security: &Mapping, not_in_windows: &[&str], out: &mut Findings) {
    let forbidden = match os {
        "windows" => not_in_windows,
        "linux" => &["windowsOptions"],
        _ => return,
    };
    for field in crate::fields::set(security, forbidden) {
        let at = format!(".securityContext.{field}");
        out.refuse(&at, "forbidden", Reason::Forbidden, format!("must not be set for a Pod of {os}"));
    }
}

fn windows_pod(pod: &Mapping, out: &mut Findings) {
    if let Some(security) = map(pod, "securityContext") {
        os_fields(os(pod), security, NOT_IN_WINDOWS_PODS, out);
    }
    if os(pod) != "windows" {
        return;
    }
    for field in ["hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"] {
        if has(pod, field) && (is_true(pod, field) || field == "hostUsers") {
            out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, "must not be set for a Pod of windows");
        }
    }
}

fn shared(pod: &Mapping, out: &mut Findings) {
    if is_true(pod, "shareProcessNamespace") && is_true(pod, "hostPID") {
        out.invalid(".shareProcessNamespace", "one-of", "must not be true beside `hostPID`");
    }
    if get(pod, "hostUsers").and_then(Value::as_bool) == Some(false) {
        for field in ["hostPID", "hostIPC"] {
            if is_true(pod, field) {
                out.refuse(
                    &format!(".{field}"),
                    "forbidden",
                    Reason::Forbidden,
                    "must not be true where `hostUsers` is false",
                );
            }
        }
    }
}

fn dns(pod: &Mapping, out: &mut Findings) {
    let config = map(pod, "dnsConfig");
    if text(pod, "dnsPolicy") == "None" && config.is_none_or(|config| list(config, "nameservers").is_empty()) {
        out.required(".dnsConfig.nameservers", "must be set where `dnsPolicy` is None");
    }
    if let Some(config) = config {
        if list(config, "nameservers").len() > 3 {
            out.invalid(".dnsConfig.nameservers", "too-many", "must be no more than 3");
        }
        if list(config, "searches").len() > 32 {
            out.invalid(".dnsConfig.searches", "too-many", "must be no more than 32");
        }
    }
}

fn resource_claims(pod: &Mapping, out: &mut Findings) {
    let claims: Vec<&str> = items(pod, "resourceClaims").map(|(_, claim)| text(claim, "name")).collect();
    for field in ["containers", "initContainers"] {
        for (index, container) in items(pod, field) {
            let Some(resources) = map(container, "resources") else { continue };
            for (at, claim) in items(resources, "claims") {
                let name = text(claim, "name");
                if !claims.contains(&name) {
                    let at = format!(".{field}[{index}].resources.claims[{at}].name");
                    out.refuse(&at, "claim", Reason::NotFound, format!("no claim is named {}", shown(name)));
                }
            }
        }
    }
}
