//! Where containers keep their data, and data that they no longer find there.

use go_yaml::Value;

use super::{Around, Danger, Severity, before, items};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{Thing, word};
use crate::manifest::Manifest;

/// What is behind a volume that outlives its Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'m> {
    /// A claim.
    Claim(&'m str),
    /// A claim that a StatefulSet makes for each Pod.
    Template(&'m str),
    /// A server of NFS, and a path of it.
    Nfs(&'m str, &'m str),
    /// A path of the node.
    Host(&'m str),
}

/// `claim data`; `/a of nfs.example.com`.
impl std::fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Claim(name) | Source::Template(name) => write!(f, "claim {name}"),
            Source::Nfs(server, path) => write!(f, "{path} of {server}"),
            Source::Host(path) => write!(f, "{path} of the node"),
        }
    }
}

/// A place in a container where it may keep data.
#[derive(Debug)]
pub(super) struct Mount<'m> {
    pub container: &'m str,
    pub volume: &'m str,
    pub source: Source<'m>,
    /// The part of the volume; empty for all of it.
    pub part: &'m str,
    pub path: &'m str,
    pub is_read_only: bool,
}

impl Mount<'_> {
    /// What of another one is below what is here: nothing more, or a path that begins with `/`; none where it is elsewhere.
    fn below(&self, other: &Mount<'_>) -> Option<String> {
        let rest = match self.part {
            "" if !other.part.is_empty() => format!("/{}", other.part),
            part => other.part.strip_prefix(part)?.to_owned(),
        };
        (self.source == other.source && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
    }

    /// Whether what another one had is here at the path that it had.
    pub(super) fn is_found(&self, other: &Mount<'_>) -> bool {
        let path = |rest: String| format!("{}{rest}", self.path.trim_end_matches('/'));
        self.below(other).is_some_and(|rest| path(rest) == other.path.trim_end_matches('/'))
    }

    /// Whether what another one had is here: as it is at some path, or as a part of more at its own.
    pub(super) fn has(&self, other: &Mount<'_>) -> bool {
        self.below(other).is_some_and(|rest| rest.is_empty()) || self.is_found(other)
    }
}

/// The places of all containers of the Pods that an object makes.
pub(super) fn mounts(object: &Manifest) -> Vec<Mount<'_>> {
    let Some(pods) = spec(object) else { return Vec::new() };
    let templates = items(object.object(), &["spec", "volumeClaimTemplates"]).iter();
    let templates =
        templates.map(|claim| word(claim, &["metadata", "name"])).map(|name| (name, Source::Template(name)));
    let volumes =
        items(pods, &["volumes"]).iter().filter_map(|volume| Some((word(volume, &["name"]), source(volume)?)));
    let is_set = |value: &Value, path: &[&str]| value.at(path).and_then(Value::as_bool) == Some(true);
    let is_for_reading = |name: &str| {
        let mut all = items(pods, &["volumes"]).iter().filter(|volume| word(volume, &["name"]) == name);
        all.any(|volume| is_set(volume, &["persistentVolumeClaim", "readOnly"]))
    };
    // A template goes before a volume of its name.
    let sources: Vec<(&str, Source<'_>)> = templates.chain(volumes).collect();
    let mut all = Vec::new();
    for (container, value) in containers(pods) {
        for mount in items(value, &["volumeMounts"]) {
            let volume = word(mount, &["name"]);
            let Some((_, source)) = sources.iter().find(|(name, _)| *name == volume) else { continue };
            let part = match word(mount, &["subPath"]) {
                "" => word(mount, &["subPathExpr"]),
                part => part,
            };
            let is_read_only = is_set(mount, &["readOnly"]) || is_for_reading(volume);
            let path = word(mount, &["mountPath"]);
            all.push(Mount { container, volume, source: *source, part: part.trim_matches('/'), path, is_read_only });
        }
    }
    all
}

fn source(volume: &Value) -> Option<Source<'_>> {
    let text = |path: &[&str]| volume.at(path).and_then(Value::as_str);
    let claim = text(&["persistentVolumeClaim", "claimName"]).map(Source::Claim);
    let nfs = || Some(Source::Nfs(text(&["nfs", "server"])?, text(&["nfs", "path"])?));
    claim.or_else(nfs).or_else(|| text(&["hostPath", "path"]).map(Source::Host))
}

/// Data that a container kept and that nothing of its workload mounts any more. A volume that is on another claim, or on none, is said
/// by [`super::volumes`]; a claim that goes is said of the claim.
///
/// Reference: kubernetes docs/concepts/storage/volumes, "Using subPath"; persistent-volumes, "Claims As Volumes".
///
/// `is_in_place` is whether what a mount had is known to be where the container looks for it.
pub(super) fn gone<'a>(
    (old, new): (&'a Manifest, &'a Manifest),
    around: &Around<'a>,
    is_in_place: &dyn Fn(&Mount<'_>) -> bool,
) -> Vec<Danger> {
    let (was, now) = (mounts(old), mounts(new));
    let mut found: Vec<Danger> = Vec::new();
    for one in was.iter().filter(|one| !one.is_read_only && !matches!(one.source, Source::Host(_))) {
        let stays = before(Some(new), one.container).is_some();
        if !stays
            || is_in_place(one)
            || now.iter().any(|other| other.has(one))
            || is_said(one, new)
            || claim_goes(one, old, around)
        {
            continue;
        }
        let part = match one.part {
            "" => String::new(),
            part => format!("`{part}` of "),
        };
        let there = now.iter().find(|other| (other.container, other.path) == (one.container, one.path));
        let (name, path) = (one.container, one.path);
        let text = match there {
            Some(there) => {
                let of_there = if there.part.is_empty() { String::new() } else { format!("`{}` of ", there.part) };
                format!(
                    "`{name}` has {of_there}{} at {path} in place of {part}{}: what that holds is not there",
                    there.source, one.source
                )
            }
            None => format!(
                "nothing mounts {part}{} any more: what `{name}` keeps at {path} is not found there, and goes with each Pod",
                one.source
            ),
        };
        let advice = "keep the mount of data that shall stay, or copy them first";
        found.push(Danger::said(Severity::Outage, "volumeReplaced", text, advice));
    }
    found
}

/// Whether the volume is there under its name, on something else.
fn is_said(mount: &Mount<'_>, new: &Manifest) -> bool {
    let volumes = spec(new).map(|pods| items(pods, &["volumes"])).unwrap_or_default();
    let Some(volume) = volumes.iter().find(|one| word(one, &["name"]) == mount.volume) else { return false };
    let claim = volume.at(&["persistentVolumeClaim", "claimName"]).and_then(Value::as_str);
    match (mount.source, claim) {
        (Source::Claim(was), Some(now)) => was != now,
        (Source::Claim(_), None) => volume.get("emptyDir").is_some(),
        _ => false,
    }
}

/// Whether the claim was known, and goes too.
fn claim_goes<'a>(mount: &Mount<'_>, old: &'a Manifest, around: &Around<'a>) -> bool {
    let Source::Claim(name) = mount.source else { return false };
    let namespace = around.before(old).namespace.to_owned();
    let claim = Thing { kind: "PersistentVolumeClaim", namespace, name: name.to_owned() };
    around.model.before.provides(&claim) && !around.model.after.provides(&claim)
}
