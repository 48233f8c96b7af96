//! Pods, wherever they are.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go `ValidatePodSpec`.

use go_yaml::{Mapping, Value};

use super::Context;
use crate::fields::{at, get, has, int, is_true, items, list, map, text};
use crate::finding::{Findings, Reason, shown};

/// What concerns several parts of a Pod at once.
pub(super) fn spec(context: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    let volumes = volumes(context, pod);
    let mut seen: Vec<&str> = Vec::new();
    for (field, is_init) in [("containers", false), ("initContainers", true)] {
        for (index, container) in items(pod, field) {
            out.within(format_args!(".{field}[{index}]"), |out| {
                let name = text(container, "name");
                if !name.is_empty() && seen.contains(&name) {
                    out.refuse(
                        ".name",
                        "duplicate",
                        Reason::Duplicate,
                        format!("is {}, which is there already", shown(name)),
                    );
                }
                seen.push(name);
                mounts(container, &volumes, out);
                devices(container, &volumes, out);
                host_ports(pod, container, out);
                sleep(context, pod, container, out);
                restart(context, container, is_init, out);
                resize(context, pod, container, out);
                windows(pod, container, out);
            });
        }
    }
    if !list(pod, "ephemeralContainers").is_empty() {
        out.refuse(".ephemeralContainers", "forbidden", Reason::Forbidden, "must be added to a Pod that runs");
    }
    if context.kind == "Pod" && !list(pod, "schedulingGates").is_empty() && !text(pod, "nodeName").is_empty() {
        out.refuse(".nodeName", "forbidden", Reason::Forbidden, "must not be set beside `schedulingGates`");
    }
    taken_ports(context, pod, out);
    windows_pod(context, pod, out);
    shared(context, pod, out);
    dns(pod, out);
    resource_claims(pod, out);
}

/// What a mount or a device may name.
struct Volume<'p> {
    name: &'p str,
    /// Whether it may be a block device.
    is_claim: bool,
}

/// The volumes of a Pod; claims of a StatefulSet are volumes too.
fn volumes<'p>(context: &Context<'p>, pod: &'p Mapping) -> Vec<Volume<'p>> {
    let volume = |(_, volume): (usize, &'p Mapping)| Volume {
        name: text(volume, "name"),
        is_claim: has(volume, "persistentVolumeClaim") || has(volume, "ephemeral"),
    };
    let claim = |(_, claim): (usize, &'p Mapping)| Volume {
        name: map(claim, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default(),
        is_claim: true,
    };
    let mut all: Vec<_> = items(pod, "volumes").map(volume).collect();
    if context.kind == "StatefulSet"
        && let Some(spec) = map(context.root, "spec")
    {
        all.extend(items(spec, "volumeClaimTemplates").map(claim));
    }
    all
}

fn no_volume(at: &str, name: &str, volumes: &[Volume<'_>], out: &mut Findings) {
    let near = crate::nearest::nearest(volumes.iter().map(|volume| volume.name), name);
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let text = format!("no volume is named {}{hint}", shown(name));
    out.refuse(at, "mount-without-volume", Reason::NotFound, text);
}

fn mounts(container: &Mapping, volumes: &[Volume<'_>], out: &mut Findings) {
    let is_privileged = map(container, "securityContext").is_some_and(|security| is_true(security, "privileged"));
    let mut paths: Vec<&str> = Vec::new();
    for (index, mount) in items(container, "volumeMounts") {
        out.within(format_args!(".volumeMounts[{index}]"), |out| {
            let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
            if !volumes.iter().any(|volume| volume.name == name && !name.is_empty()) {
                no_volume(".name", name, volumes, out);
            }
            if text(mount, "mountPropagation") == "Bidirectional" && !is_privileged {
                let text = "must not be Bidirectional, unless the container is privileged";
                out.refuse(".mountPropagation", "forbidden", Reason::Forbidden, text);
            }
            if !path.is_empty() && paths.contains(&path) {
                out.invalid(".mountPath", "duplicate-mount", format!("is {}, which is mounted already", shown(path)));
            }
            paths.push(path);
            if !text(mount, "subPath").is_empty() && !text(mount, "subPathExpr").is_empty() {
                out.invalid(".subPathExpr", "one-of", "must not be set beside `subPath`");
            }
        });
    }
}

fn devices(container: &Mapping, volumes: &[Volume<'_>], out: &mut Findings) {
    for (index, device) in items(container, "volumeDevices") {
        let (name, at) = (text(device, "name"), format!(".volumeDevices[{index}].name"));
        match volumes.iter().find(|volume| volume.name == name) {
            None => no_volume(&at, name, volumes, out),
            Some(volume) if !volume.is_claim => {
                let text = format!("is {}, and must be a volume of a PersistentVolumeClaim", shown(name));
                out.invalid(&at, "device", text);
            }
            Some(_) => {}
        }
    }
}

/// Ports of a node that two containers of a Pod want.
fn taken_ports(context: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    // In a Pod of the network of its node each port is one of the node; in a template a server looks at `hostPort` alone.
    let is_of_node = context.kind == "Pod" && is_true(pod, "hostNetwork");
    let mut seen: Vec<(&str, &str, i64)> = Vec::new();
    for (index, container) in items(pod, "containers") {
        for (at, port) in items(container, "ports") {
            let own = int(port, "hostPort").filter(|port| *port != 0);
            let Some(number) = own.or(int(port, "containerPort").filter(|_| is_of_node)) else { continue };
            let protocol = Some(text(port, "protocol")).filter(|protocol| !protocol.is_empty()).unwrap_or("TCP");
            let taken = (protocol, text(port, "hostIP"), number);
            if seen.contains(&taken) {
                let at = format!(".containers[{index}].ports[{at}].hostPort");
                let text = format!("{protocol} {number} of the node is there already");
                out.refuse(&at, "duplicate-port", Reason::Duplicate, text);
            }
            seen.push(taken);
        }
    }
}

/// What happens to a container whose resources change.
fn resize(context: &Context<'_>, pod: &Mapping, container: &Mapping, out: &mut Findings) {
    if context.minor < 33 || text(pod, "restartPolicy") != "Never" {
        return;
    }
    for (index, policy) in items(container, "resizePolicy") {
        if text(policy, "restartPolicy") == "RestartContainer" {
            let at = format!(".resizePolicy[{index}].restartPolicy");
            out.invalid(&at, "resize", "must be NotRequired where `restartPolicy` of the Pod is Never");
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

fn sleep(context: &Context<'_>, pod: &Mapping, container: &Mapping, out: &mut Findings) {
    let grace = int(pod, "terminationGracePeriodSeconds").unwrap_or(30);
    for hook in ["preStop", "postStart"] {
        let Some(seconds) = at(container, &["lifecycle", hook, "sleep"]).and_then(|sleep| int(sleep, "seconds")) else {
            continue;
        };
        let least = i64::from(context.minor < 33);
        if seconds < least || seconds > grace {
            let text = format!(
                "is {seconds}, and must be between {least} and `terminationGracePeriodSeconds`, which is {grace}"
            );
            out.invalid(&format!(".lifecycle.{hook}.sleep"), "sleep", text);
        }
    }
}

/// Probes and hooks of a container that runs to its end before the others begin.
fn restart(context: &Context<'_>, container: &Mapping, is_init: bool, out: &mut Findings) {
    if context.minor < 34 && has(container, "restartPolicy") {
        let policy = text(container, "restartPolicy");
        if !is_init {
            out.refuse(".restartPolicy", "forbidden", Reason::Forbidden, "must be set for init containers only");
        } else if policy != "Always" {
            out.within(".restartPolicy", |out| crate::walk::not_one_of(&["Always"], policy, out));
        }
    }
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

fn windows_pod(context: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    if let Some(security) = map(pod, "securityContext") {
        os_fields(os(pod), security, NOT_IN_WINDOWS_PODS, out);
    }
    if os(pod) != "windows" {
        return;
    }
    for field in ["hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"] {
        let is_set = if field == "hostUsers" { has_users(context, pod) } else { is_true(pod, field) };
        if is_set {
            out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, "must not be set for a Pod of windows");
        }
    }
}

/// Whether it says whose users the Pod has; servers do not look at it before 1.33.
fn has_users(context: &Context<'_>, pod: &Mapping) -> bool {
    context.minor >= 33 && has(pod, "hostUsers")
}

fn shared(context: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    if is_true(pod, "shareProcessNamespace") && is_true(pod, "hostPID") {
        out.invalid(".shareProcessNamespace", "one-of", "must not be true beside `hostPID`");
    }
    if has_users(context, pod) && get(pod, "hostUsers").and_then(Value::as_bool) == Some(false) {
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
                    out.refuse(
                        &at,
                        "claim",
                        Reason::NotFound,
                        format!("is {}, and no claim has this name", shown(name)),
                    );
                }
            }
        }
    }
}
