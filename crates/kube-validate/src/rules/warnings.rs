//! What a server lets pass and people would want to hear: the table of warnings. Each can be switched off by its name.

use go_yaml::{Mapping, Value};

use super::{Check, Context, Row, row};
use crate::fields::{get, has, int, items, list, map, text};
use crate::finding::{Findings, shown};
use crate::quantity::Quantity;
use crate::{cron, names};

/// Rows whose findings are warnings.
pub(super) const ROWS: &[Row] = &[
    row("core.v1.Container", "", Check::Whole(container)),
    row("core.v1.PodSpec", "", Check::Whole(pod)),
    row("core.v1.Volume", "", Check::Whole(volume)),
    row("core.v1.VolumeMount", "", Check::Whole(mount)),
    row("core.v1.Probe", "", Check::Whole(probe)),
    row("core.v1.ServiceSpec", "", Check::Whole(service)),
    row("apps.v1.StatefulSetSpec", "", Check::Whole(stateful_set)),
    row("apps.v1.RollingUpdateDeployment", "", Check::Whole(surge)),
    row("policy.v1.PodDisruptionBudgetSpec", "", Check::Whole(disruption_budget)),
    row("batch.v1.CronJobSpec", "", Check::Whole(cron_job)),
    row("rbac.v1.PolicyRule", "", Check::Whole(rule)),
    row("autoscaling.v2.HorizontalPodAutoscalerSpec", "", Check::Whole(autoscaler)),
    row("networking.v1.NetworkPolicySpec", "", Check::Whole(policy)),
    row("networking.v1.IngressRule", "", Check::Whole(ingress_rule)),
    row("networking.v1.Ingress", "", Check::Whole(ingress)),
    row("core.v1.Secret", "", Check::Whole(secret)),
    row("core.v1.Endpoints", "", Check::Whole(endpoints)),
];

/// The names of all warnings, each with what comes of it, in order.
pub(crate) const NAMES: &[(&str, &str)] = &[
    ("any-pod-selected", "a NetworkPolicy without a selector is in force for every Pod of its namespace"),
    ("api-deprecated", "a later Kubernetes no longer serves this version"),
    ("budget-without-bound", "the budget allows every disruption, or protects no Pod"),
    ("cron-never-runs", "the CronJob never starts a Job"),
    ("cron-short-deadline", "the controller looks every 10 seconds, so that Jobs may never start"),
    ("duplicate-env", "the last one counts, and an apply may drop the others"),
    ("duplicate-port", "a Service or probe that names the port reaches one of them only"),
    ("env-name", "a shell cannot read a variable of this name"),
    ("external-name-ignored", "it has no effect"),
    ("finalizer-without-domain", "another writer may use the finalizer too"),
    ("fractional-bytes", "a fraction of a byte is rounded up"),
    ("image-name", "the image cannot be pulled"),
    ("ingress-class-twice", "controllers differ in which of the two they read"),
    ("ingress-without-paths", "the rule leads nowhere"),
    ("mount-path", "the container may not start, or mounts at another place"),
    ("negative-grace-period", "it counts as 1"),
    ("not-judged", "what a server says of the object is not known"),
    ("probe-value", "the value counts as the default, or the probe always fails"),
    ("pull-secret", "the entry has no effect"),
    ("root-forbidden", "the container does not start"),
    ("rule-matches-nothing", "the rule gives no permission"),
    ("scale-target", "the autoscaler finds nothing to scale"),
    ("secret-type", "no program looks for a Secret of this type"),
    ("service-name-missing", "the Pods have no names of DNS"),
    ("surge-above-all", "more new Pods are allowed than there are in all"),
    ("volume-reference", "the Pod waits for something that cannot exist"),
    ("volume-without-source", "the volume is an empty directory"),
];

fn container(_: &Context<'_>, container: &Mapping, out: &mut Findings) {
    let image = text(container, "image");
    if !image.is_empty() && !is_image(image) {
        out.warn(
            ".image",
            "image-name",
            format!("is {}, which is not a name of an image: it cannot be pulled", shown(image)),
        );
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, env) in items(container, "env") {
        let name = text(env, "name");
        let at = format!(".env[{index}].name");
        if seen.contains(&name) {
            out.warn(&at, "duplicate-env", format!("is {}, which is there already: the last one counts", shown(name)));
        }
        if !name.is_empty() && names::strict_env(name).is_some() {
            out.warn(&at, "env-name", format!("is {}: a shell cannot read a variable of this name", shown(name)));
        }
        seen.push(name);
    }
    let mut ports: Vec<(i64, &str)> = Vec::new();
    for (index, port) in items(container, "ports") {
        let pair = (int(port, "containerPort").unwrap_or(0), text(port, "protocol"));
        if ports.contains(&pair) {
            out.warn(&format!(".ports[{index}]"), "duplicate-port", "is a port that is there already");
        }
        ports.push(pair);
    }
    for field in ["limits", "requests"] {
        let amounts = map(container, "resources").and_then(|resources| map(resources, field));
        for name in ["memory", "ephemeral-storage"] {
            let amount = amounts.and_then(|amounts| get(amounts, name)).and_then(Quantity::of);
            if amount.is_some_and(|amount| !amount.is_whole()) {
                out.warn(
                    &format!(".resources.{field}[{name}]"),
                    "fractional-bytes",
                    "is a fraction of a byte: `m` is a thousandth",
                );
            }
        }
    }
}

/// A registry, a path of lower case, a tag and a digest, as a container runtime reads them.
fn is_image(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    if digest.is_some_and(|digest| digest.split_once(':').is_none_or(|(_, hex)| hex.len() < 32)) {
        return false;
    }
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let (path, tag) = match name.get(last..).unwrap_or_default().find(':') {
        Some(colon) => (name.get(..last + colon).unwrap_or_default(), name.get(last + colon + 1..)),
        None => (name, None),
    };
    let is_tag =
        |tag: &str| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let mut parts = path.split('/').collect::<Vec<_>>();
    let has_host =
        parts.len() > 1 && parts.first().is_some_and(|first| first.contains(['.', ':']) || *first == "localhost");
    if has_host {
        parts.remove(0);
    }
    let is_part = |part: &&str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte))
    };
    tag.is_none_or(is_tag) && parts.iter().all(is_part)
}

fn pod(_: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    if int(pod, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        out.warn(".terminationGracePeriodSeconds", "negative-grace-period", "counts as 1");
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, secret) in items(pod, "imagePullSecrets") {
        let name = text(secret, "name");
        if name.is_empty() || seen.contains(&name) {
            out.warn(
                &format!(".imagePullSecrets[{index}].name"),
                "pull-secret",
                "is empty or there already: it has no effect",
            );
        }
        seen.push(name);
    }
    let empty = Mapping::new();
    let own = map(pod, "securityContext").unwrap_or(&empty);
    let mut names: Vec<&str> = Vec::new();
    for (index, container) in items(pod, "containers") {
        let security = map(container, "securityContext").unwrap_or(&empty);
        let user = int(security, "runAsUser").or_else(|| int(own, "runAsUser"));
        let must_not = get(security, "runAsNonRoot").or_else(|| get(own, "runAsNonRoot")).and_then(Value::as_bool);
        if user == Some(0) && must_not == Some(true) {
            let text = "is 0 where `runAsNonRoot` is true: the container does not start";
            out.warn(&format!(".containers[{index}].securityContext.runAsUser"), "root-forbidden", text);
        }
        for (at, port) in items(container, "ports") {
            let name = text(port, "name");
            if !name.is_empty() && names.contains(&name) {
                out.warn(
                    &format!(".containers[{index}].ports[{at}].name"),
                    "duplicate-port",
                    "is the name of a port already",
                );
            }
            names.push(name);
        }
    }
}

fn volume(_: &Context<'_>, volume: &Mapping, out: &mut Findings) {
    if volume.iter().filter(|(key, value)| key.as_str() != "name" && !value.is_null()).count() == 0 {
        out.warn("", "volume-without-source", "has no source: it is an empty directory");
    }
    for (field, key) in [("configMap", "name"), ("secret", "secretName"), ("persistentVolumeClaim", "claimName")] {
        let name = map(volume, field).map(|source| text(source, key)).unwrap_or_default();
        if !name.is_empty() && names::subdomain(name).is_some() {
            out.warn(
                &format!(".{field}.{key}"),
                "volume-reference",
                format!("is {}, and nothing can have this name", shown(name)),
            );
        }
    }
}

fn mount(_: &Context<'_>, mount: &Mapping, out: &mut Findings) {
    let path = text(mount, "mountPath");
    if !path.is_empty()
        && (!path.starts_with('/') && !path.contains('\\')
            || path.split('/').any(|part| part == "..")
            || path.contains(':') && !path.contains('\\'))
    {
        out.warn(
            ".mountPath",
            "mount-path",
            format!("is {}, which is not an absolute path without `..` and `:`", shown(path)),
        );
    }
}

fn probe(_: &Context<'_>, probe: &Mapping, out: &mut Findings) {
    if int(probe, "periodSeconds") == Some(0) {
        out.warn(".periodSeconds", "probe-value", "is 0, which counts as the default of 10");
    }
    let Some(http) = map(probe, "httpGet") else { return };
    let path = text(http, "path");
    if !path.is_empty() && !path.starts_with('/') {
        out.warn(".httpGet.path", "probe-value", "does not begin with `/`");
    }
    if text(http, "host").contains(char::is_whitespace) {
        out.warn(".httpGet.host", "probe-value", "has a blank: the probe always fails");
    }
}

fn service(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if !text(spec, "externalName").is_empty() && text(spec, "type") != "ExternalName" {
        out.warn(".externalName", "external-name-ignored", "has no effect where `type` is not ExternalName");
    }
}

fn stateful_set(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if text(spec, "serviceName").is_empty() {
        out.warn(".serviceName", "service-name-missing", "is not set: the Pods have no names of DNS");
    }
}

fn surge(_: &Context<'_>, update: &Mapping, out: &mut Findings) {
    if get(update, "maxSurge").and_then(Value::as_str).and_then(names::percent).is_some_and(|percent| percent > 100) {
        out.warn(".maxSurge", "surge-above-all", "is more than 100%");
    }
}

fn disruption_budget(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if !has(spec, "minAvailable") && !has(spec, "maxUnavailable") {
        out.warn("", "budget-without-bound", "has no bound: one Pod must be available");
    }
    if !has(spec, "selector") {
        out.warn(".selector", "budget-without-bound", "is not set: the budget protects no Pod");
    }
}

fn cron_job(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if cron::never_runs(text(spec, "schedule")) {
        out.warn(".schedule", "cron-never-runs", "names a day that no month has");
    }
    if int(spec, "startingDeadlineSeconds").is_some_and(|seconds| (0..10).contains(&seconds)) {
        out.warn(".startingDeadlineSeconds", "cron-short-deadline", "is less than 10: Jobs may never start");
    }
}

const VERBS: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "bind",
    "escalate",
    "impersonate",
    "use",
    "approve",
    "sign",
    "attest",
    "proxy",
    "post",
    "put",
    "head",
    "options",
    "*",
    "request-serviceaccounts-token-audience",
];

fn rule(_: &Context<'_>, rule: &Mapping, out: &mut Findings) {
    let warn = |field: &str, index: usize, value: &str, out: &mut Findings| {
        out.warn(
            &format!(".{field}[{index}]"),
            "rule-matches-nothing",
            format!("{} is none that exists: the rule gives nothing", shown(value)),
        );
    };
    let texts = |field: &'static str| {
        list(rule, field).iter().enumerate().filter_map(|(index, value)| Some((index, value.as_str()?)))
    };
    for (index, verb) in texts("verbs").filter(|(_, verb)| !VERBS.contains(verb)) {
        if crate::nearest::nearest(VERBS.iter().copied(), verb).is_some() {
            warn("verbs", index, verb, out);
        }
    }
    for (index, group) in texts("apiGroups").filter(|(_, group)| is_version(group)) {
        warn("apiGroups", index, group, out);
    }
    for (index, resource) in
        texts("resources").filter(|(_, resource)| resource.contains(|c: char| c.is_ascii_uppercase() || c == ' '))
    {
        warn("resources", index, resource, out);
    }
    for (index, name) in texts("resourceNames").filter(|(_, name)| name.contains(char::is_whitespace)) {
        warn("resourceNames", index, name, out);
    }
}

fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains('.'))
}

const SCALED: &[&str] = &["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job"];

fn autoscaler(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let Some(target) = map(spec, "scaleTargetRef") else { return };
    let (kind, version) = (text(target, "kind"), text(target, "apiVersion"));
    if !SCALED.contains(&kind) && version == "apps/v1" {
        out.warn(
            ".scaleTargetRef.kind",
            "scale-target",
            format!("{} is not a kind of apps/v1: nothing is scaled", shown(kind)),
        );
    }
    if matches!(version, "apps/v1beta1" | "apps/v1beta2" | "extensions/v1beta1") {
        out.warn(".scaleTargetRef.apiVersion", "scale-target", "is served no more: nothing is scaled");
    }
    for (index, metric) in items(spec, "metrics") {
        let name = map(metric, "resource").map(|resource| text(resource, "name")).unwrap_or_default();
        if name.contains(|c: char| c.is_ascii_uppercase()) {
            let text = format!("{} is not a resource: `cpu` and `memory` are", shown(name));
            out.warn(&format!(".metrics[{index}].resource.name"), "scale-target", text);
        }
    }
}

fn policy(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if !has(spec, "podSelector") {
        out.warn(".podSelector", "any-pod-selected", "is not set: every Pod of the namespace is meant");
    }
}

fn ingress_rule(_: &Context<'_>, rule: &Mapping, out: &mut Findings) {
    if !has(rule, "http") {
        out.warn(".http", "ingress-without-paths", "is not set: the rule leads nowhere but to the default backend");
    }
}

fn ingress(_: &Context<'_>, ingress: &Mapping, out: &mut Findings) {
    let annotation = map(ingress, "metadata")
        .and_then(|metadata| map(metadata, "annotations"))
        .is_some_and(|all| has(all, "kubernetes.io/ingress.class"));
    let class = map(ingress, "spec").is_some_and(|spec| has(spec, "ingressClassName"));
    if annotation && class {
        out.warn(
            ".metadata.annotations",
            "ingress-class-twice",
            "has kubernetes.io/ingress.class beside `ingressClassName`",
        );
    } else if annotation {
        out.warn(
            ".metadata.annotations",
            "api-deprecated",
            "has kubernetes.io/ingress.class: `ingressClassName` took its place",
        );
    }
}

const SECRET_TYPES: &[&str] = &[
    "Opaque",
    "kubernetes.io/service-account-token",
    "kubernetes.io/dockercfg",
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/basic-auth",
    "kubernetes.io/ssh-auth",
    "kubernetes.io/tls",
    "bootstrap.kubernetes.io/token",
];

fn secret(_: &Context<'_>, secret: &Mapping, out: &mut Findings) {
    let kind = text(secret, "type");
    let is_own = !kind.is_empty()
        && !SECRET_TYPES.contains(&kind)
        && (!kind.contains('/') || kind.starts_with("kubernetes.io/"));
    if is_own {
        out.warn(".type", "secret-type", format!("is {}, which is not a type that Kubernetes knows", shown(kind)));
    }
}

fn endpoints(context: &Context<'_>, _: &Mapping, out: &mut Findings) {
    if context.minor >= 33 {
        out.warn("", "api-deprecated", "v1 Endpoints is deprecated: use discovery.k8s.io/v1 EndpointSlice");
    }
}
