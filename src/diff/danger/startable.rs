//! Containers that do not start, or do not end, as they are from now on: by what is known of their images and of their Pods.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::{Danger, Severity, before, items};
use crate::diff::Image;
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// What becomes of containers that was otherwise before.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let (Some(was), Some(pods)) = (spec(old), spec(new)) else { return Vec::new() };
    let mut found = Vec::new();
    found.extend(ending(was, pods));
    found.extend(untolerated(old, was, pods));
    found.extend(unlabelled(was, pods));
    for (name, container) in containers(pods) {
        let Some(before) = before(Some(old), name) else { continue };
        found.extend(rooted((was, before), (pods, container), name));
        found.extend(read_only((before, container), name));
        found.extend(flags((before, container), name));
    }
    found
}

/// A sidecar that is one no longer: what never ends keeps the others from starting.
///
/// Reference: kubernetes docs/concepts/workloads/pods/sidecar-containers: without `restartPolicy: Always`, an init container has to end.
fn ending(was: &Value, pods: &Value) -> Option<Danger> {
    let is_sidecar = |one: &Value| word(one, &["restartPolicy"]) == "Always";
    let named = |pods: &'_ Value, name: &str| {
        items(pods, &["initContainers"]).iter().find(|one| word(one, &["name"]) == name).cloned()
    };
    let all = items(was, &["initContainers"]).iter().filter(|one| is_sidecar(one));
    let name =
        all.map(|one| word(one, &["name"])).find(|name| named(pods, name).is_some_and(|one| !is_sidecar(&one)))?;
    let text = format!(
        "`{name}` has to end before the others start, and ran beside them: new Pods do not start while it runs"
    );
    Some(Danger::said(
        Severity::Outage,
        "unstarted",
        text,
        "keep `restartPolicy: Always` for what runs beside the others",
    ))
}

/// Taints that a DaemonSet tolerates by itself, that no node has since Kubernetes 1.25, or that are no taints of nodes.
const TOLERATED: [&str; 9] = [
    "CriticalAddonsOnly",
    "node-role.kubernetes.io/master",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
];

/// A DaemonSet that no longer runs on nodes with a taint.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/daemonset, "Taints and tolerations"; CHANGELOG-1.25, "kubeadm: the taint
/// `node-role.kubernetes.io/master:NoSchedule` is no longer applied".
fn untolerated(old: &Manifest, was: &Value, pods: &Value) -> Option<Danger> {
    let key = |one: &Value| match (word(one, &["key"]), word(one, &["operator"])) {
        ("", "Exists") => "*".to_owned(),
        (key, _) => key.to_owned(),
    };
    let keys = |pods: &Value| -> BTreeSet<String> { items(pods, &["tolerations"]).iter().map(key).collect() };
    let (was, now) = (keys(was), keys(pods));
    let is_needed = |key: &&String| !TOLERATED.contains(&key.as_str());
    let gone = was.iter().filter(is_needed).find(|key| !now.contains(*key) && !now.contains("*"))?;
    (old.kind() == "DaemonSet").then(|| {
        let which = if gone == "*" { "with taints".to_owned() } else { format!("with the taint {gone}") };
        let text = format!("no longer tolerates it: on nodes {which} its Pods are not made any more");
        Danger::said(Severity::Outage, "unscheduled", text, "keep the toleration where each node needs it")
    })
}

/// Labels that kubeadm does not give nodes any more. Those of K3s have it with the value `true`.
///
/// Reference: kubernetes CHANGELOG-1.24, "kubeadm: the label `node-role.kubernetes.io/master` is no longer present"; k3s pkg/server.
const GONE: [&str; 1] = ["node-role.kubernetes.io/master"];

fn unlabelled(was: &Value, pods: &Value) -> Option<Danger> {
    let asks = |pods: &Value, label: &str| pods.at(&["nodeSelector", label]).and_then(Value::as_str) == Some("");
    let label = GONE.iter().find(|label| asks(pods, label) && !asks(was, label))?;
    let text = format!(
        "`nodeSelector` asks for {label} without a value, which nodes of kubeadm do not have since Kubernetes 1.24: new Pods stay pending"
    );
    Some(Danger::said(
        Severity::Outage,
        "unscheduled",
        text,
        "keep to labels that nodes have, such as `node-role.kubernetes.io/control-plane`",
    ))
}

/// Official images that run as root where nothing says otherwise, or as a user that is a name.
///
/// Reference: the Dockerfiles of github.com/docker-library, as of 2026.
const AS_ROOT: [&str; 24] = [
    "alpine",
    "busybox",
    "caddy",
    "debian",
    "golang",
    "httpd",
    "influxdb",
    "mariadb",
    "memcached",
    "mongo",
    "mysql",
    "nextcloud",
    "nginx",
    "node",
    "openjdk",
    "php",
    "postgres",
    "python",
    "rabbitmq",
    "redis",
    "ruby",
    "traefik",
    "ubuntu",
    "wordpress",
];

/// The name of an official image.
fn official(container: &Value) -> &str {
    let name = Image::parse(word(container, &["image"])).name;
    let name = ["docker.io/", "index.docker.io/"].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name);
    let name = name.strip_prefix("library/").unwrap_or(name);
    if name.contains('/') { "" } else { name }
}

/// A container of an image that runs as root, and must not from now on.
///
/// Reference: kubernetes pkg/kubelet/kuberuntime/security_context_others.go `verifyRunAsNonRoot`.
fn rooted((old_pods, old): (&Value, &Value), (pods, new): (&Value, &Value), name: &str) -> Option<Danger> {
    let get = |pods: &Value, container: &Value, key: &str| {
        let own = container.at(&["securityContext", key]).cloned();
        own.or_else(|| pods.at(&["securityContext", key]).cloned()).filter(|value| !value.is_null())
    };
    let must_not = |pods: &Value, container: &Value| {
        get(pods, container, "runAsNonRoot").and_then(|flag| flag.as_bool()) == Some(true)
            && get(pods, container, "runAsUser").is_none()
    };
    let image = official(new);
    (AS_ROOT.contains(&image) && must_not(pods, new) && !must_not(old_pods, old)).then(|| {
        let text = format!("`{name}` must not run as root, and the image {image} names no other user by number: without `runAsUser`, it is not started");
        Danger::said(Severity::Outage, "unstarted", text, "keep a number in `runAsUser` that the image can run as")
    })
}

/// Where official images write when they start: each of the places, in any of its names.
const WRITES: [(&str, &[&[&str]]); 5] = [
    ("nginx", &[&["/var/cache/nginx"], &["/var/run", "/run"]]),
    ("httpd", &[&["/usr/local/apache2/logs"]]),
    ("postgres", &[&["/var/run/postgresql", "/run/postgresql", "/var/run", "/run"]]),
    ("mysql", &[&["/var/run/mysqld", "/run/mysqld", "/var/run", "/run"], &["/tmp"]]),
    ("mariadb", &[&["/var/run/mysqld", "/run/mysqld", "/var/run", "/run"], &["/tmp"]]),
];

/// Where these images have their configuration.
const CONFIGURED: [&str; 6] = [
    "/etc/nginx",
    "/etc/nginx/nginx.conf",
    "/usr/local/apache2/conf",
    "/usr/local/apache2/conf/httpd.conf",
    "/etc/mysql",
    "/etc/mysql/my.cnf",
];

/// A container whose image writes to its own files, and may not from now on.
fn read_only((old, container): (&Value, &Value), name: &str) -> Option<Danger> {
    let is_it =
        |one: &Value| one.at(&["securityContext", "readOnlyRootFilesystem"]).and_then(Value::as_bool) == Some(true);
    let image = official(container);
    let (_, places) = WRITES.iter().find(|(of, _)| *of == image)?;
    let mounted: BTreeSet<&str> =
        items(container, &["volumeMounts"]).iter().map(|one| word(one, &["mountPath"]).trim_end_matches('/')).collect();
    let is_mounted = |path: &str| {
        mounted
            .iter()
            .any(|mount| path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let lacks = |place: &&&[&str]| !place.iter().any(|path| is_mounted(path));
    let place = places.iter().find(lacks)?.first()?;
    // With a configuration of its own, it may write elsewhere.
    let is_configured = CONFIGURED.iter().any(|path| mounted.contains(path));
    (is_it(container) && !is_it(old) && !is_configured).then(|| {
        let text =
            format!("the files of `{name}` are read-only, and its image {image} writes to {place}: it does not start");
        Danger::said(Severity::Outage, "unstarted", text, "keep an `emptyDir` where it writes")
    })
}

/// A flag of a program: a part of its image, the flag, what it is from now on (empty for any other value), how bad that is, the word
/// for programs, and what comes of it.
type Flag = (&'static str, &'static str, &'static str, Severity, &'static str, &'static str);

/// Reference: kubernetes-sigs.github.io external-dns docs, registry/txt and flags; redis.io docs, persistence; postgresql.org docs,
/// runtime-config-wal.
const FLAGS: [Flag; 8] = [
    (
        "external-dns",
        "--txt-owner-id",
        "",
        Severity::Other,
        "elsewhere",
        "records that it made before are another's, and not changed or deleted any more",
    ),
    (
        "external-dns",
        "--txt-prefix",
        "",
        Severity::Other,
        "elsewhere",
        "records that it made before are another's, and not changed or deleted any more",
    ),
    (
        "external-dns",
        "--policy",
        "sync",
        Severity::Other,
        "deletesData",
        "records that it made, and that nothing asks for, are deleted from now on",
    ),
    (
        "external-dns",
        "--domain-filter",
        "",
        Severity::Other,
        "elsewhere",
        "names of the other domain are not kept up to date",
    ),
    (
        "redis",
        "--appendonly",
        "no",
        Severity::DataLoss,
        "unsaved",
        "what it has is not written to its volume: a restart begins with an older state, or none",
    ),
    (
        "valkey",
        "--appendonly",
        "no",
        Severity::DataLoss,
        "unsaved",
        "what it has is not written to its volume: a restart begins with an older state, or none",
    ),
    ("postgres", "fsync", "off", Severity::DataLoss, "unsaved", "a crash may leave all data broken"),
    ("postgres", "full_page_writes", "off", Severity::DataLoss, "unsaved", "a crash may leave data broken"),
];

/// Flags of well-known programs that are other ones from now on.
fn flags((old, new): (&Value, &Value), name: &str) -> Option<Danger> {
    let image = word(new, &["image"]);
    FLAGS.iter().find_map(|(of, flag, value, severity, kind, effect)| {
        let (was, now) = (arguments(old, flag), arguments(new, flag));
        let from = was.iter().find(|one| !now.contains(one))?;
        let to = now.iter().find(|one| !was.contains(one))?;
        let is_it = image.contains(of) && (value.is_empty() || to == value);
        let text = format!("`{flag}` of `{name}` {from} → {to}: {effect}");
        is_it.then(|| Danger::said(*severity, kind, text, "keep the value, unless that is meant"))
    })
}

/// The values of a flag in the command and the arguments of a container: some may be there several times.
fn arguments(container: &Value, flag: &str) -> Vec<String> {
    let all = ["command", "args"].into_iter().flat_map(|key| items(container, &[key])).filter_map(Value::as_str);
    let words: Vec<&str> = all.flat_map(str::split_whitespace).collect();
    let value = |(at, word): (usize, &&str)| {
        let rest = word.trim_matches('"').strip_prefix(flag)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None if rest.is_empty() => words.get(at + 1).map(|next| next.trim_matches('"').to_owned()),
            None => None,
        }
    };
    words.iter().enumerate().filter_map(value).collect()
}

/// Whether a schedule is for a day of the month alone, and that is in none of its months.
fn has_no_day(object: &Manifest) -> bool {
    let schedule = word(object.object(), &["spec", "schedule"]);
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    let [_, _, day, months, week] = fields[..] else { return false };
    let longest = |month: &str| match month.to_ascii_lowercase().as_str() {
        "2" | "02" | "feb" => 29,
        "4" | "04" | "apr" | "6" | "06" | "jun" | "9" | "09" | "sep" | "11" | "nov" => 30,
        _ => 31,
    };
    let day: Option<u32> = day.parse().ok();
    matches!(week, "*" | "?") && day.is_some_and(|day| months.split(',').all(|month| day > longest(month)))
}

/// Runs that start more often by far, and Jobs that are made again.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/ttlafterfinished: a Job is deleted after that; argo-cd docs/user-guide/auto_sync,
/// "Automatic Self-Healing": what is not there is applied again; cloudnative-pg docs, backup: six fields, seconds first, and
/// internal/webhook/v1/scheduledbackup_webhook.go: five are taken, with a warning, and the last one is for the month then.
pub(super) fn repeated(old: &Manifest, new: &Manifest) -> Option<Danger> {
    match (new.home_group(), new.kind()) {
        ("batch", "CronJob") => {
            let minute = |object: &Manifest| {
                word(object.object(), &["spec", "schedule"]).split_whitespace().next().unwrap_or_default().to_owned()
            };
            let is_each = |text: &str| matches!(text, "*" | "*/1");
            if has_no_day(new) && !has_no_day(old) {
                let text = "`schedule` is for a day that none of its months has: it never runs".to_owned();
                return Some(Danger::said(Severity::Other, "neverRuns", text, "check the day and the month"));
            }
            let (was, now) = (minute(old), minute(new));
            let is_fixed = !was.is_empty() && was.chars().all(|c| c.is_ascii_digit() || c == ',');
            (is_fixed && is_each(&now)).then(|| {
                let text = "`schedule` is for each minute of its hours, and was for one of them".to_owned();
                Danger::said(Severity::Other, "concurrent", text, "keep a number for the minute")
            })
        }
        ("postgresql.cnpg.io", "ScheduledBackup") => {
            let schedule = |object: &Manifest| word(object.object(), &["spec", "schedule"]).to_owned();
            let has_five = |text: &str| text.split_whitespace().count() == 5 && text.ends_with('*');
            let now = schedule(new);
            (has_five(&now) && !has_five(&schedule(old))).then(|| {
                let text = format!("`schedule: {now}` has five fields, of which the first is for seconds and the second for minutes: backups are made much more often");
                Danger::said(Severity::Other, "concurrent", text, "keep six fields: seconds come first")
            })
        }
        ("batch", "Job") => {
            let time = |object: &Manifest| number(object.object(), &["spec", "ttlSecondsAfterFinished"]);
            let seconds = time(new)?;
            time(old).is_none().then(|| {
                let text = format!("`ttlSecondsAfterFinished: {seconds}`: the Job is deleted once it is done, and a sync makes it, and runs it, again");
                Danger::said(Severity::Other, "repeated", text, "keep Jobs that run once as hooks of Argo CD, or without it")
            })
        }
        _ => None,
    }
}
