//! What controllers of clouds open, keep for less, or no longer protect: Crossplane, ACK, Config Connector, Azure Service Operator.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::{Danger, Severity};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// The ends of groups of kinds of clouds.
const GROUPS: [&str; 5] =
    [".upbound.io", ".crossplane.io", ".services.k8s.aws", ".cnrm.cloud.google.com", ".azure.com"];

fn is_of_cloud(object: &Manifest) -> bool {
    GROUPS.iter().any(|end| object.home_group().ends_with(end))
}

/// A flag that opens something, or that leaves data without what protects them: its name, what it is then, how bad that is, the word for
/// programs, what happens, and what to do.
struct Flag {
    name: &'static str,
    is: &'static str,
    /// Whether it is so without the field as well.
    is_default: bool,
    severity: Severity,
    kind: &'static str,
    text: &'static str,
    advice: &'static str,
}

const fn open(name: &'static str, is: &'static str) -> Flag {
    let text = "can be reached from the internet";
    let advice = "keep it inside of the network, unless it is meant for clients outside";
    Flag { name, is, is_default: false, severity: Severity::Security, kind: "exposed", text, advice }
}

const fn unprotected(name: &'static str) -> Flag {
    let text = "nothing keeps it from being deleted any more, with its data";
    let advice = "keep the protection where the data shall stay";
    let (severity, kind) = (Severity::Other, "deletesData");
    Flag { name, is: "false", is_default: true, severity, kind, text, advice }
}

const fn public(name: &'static str) -> Flag {
    let text = "its objects may be made public from now on";
    let (severity, kind, advice) = (Severity::Security, "exposed", "keep it true where nothing is meant to be public");
    Flag { name, is: "false", is_default: true, severity, kind, text, advice }
}

const fn plain(name: &'static str, is: &'static str) -> Flag {
    let text = "connections in plain text are taken";
    let (severity, kind, advice) = (Severity::Security, "unguarded", "keep what encrypts it");
    Flag { name, is, is_default: false, severity, kind, text, advice }
}

const fn single(name: &'static str, is: &'static str, is_default: bool) -> Flag {
    let text = "no other zone takes over when its own fails";
    let (severity, kind, advice) =
        (Severity::Other, "fewerCopies", "keep a copy in another zone where it has to go on");
    Flag { name, is, is_default, severity, kind, text, advice }
}

/// Reference: docs.aws.amazon.com AmazonRDS, USER_VPC.WorkingWithRDSInstanceinaVPC (`PubliclyAccessible`), USER_DeleteInstance
/// (`DeletionProtection`, `SkipFinalSnapshot`); AmazonS3, access-control-block-public-access; cloud.google.com sql/docs, configure-ip;
/// learn.microsoft.com azure, `publicNetworkAccess`.
const FLAGS: [Flag; 24] = [
    open("publiclyAccessible", "true"),
    open("publicNetworkAccessEnabled", "true"),
    open("publicNetworkAccess", "Enabled"),
    open("endpointPublicAccess", "true"),
    open("ipv4Enabled", "true"),
    open("acl", "public-read"),
    open("acl", "public-read-write"),
    public("blockPublicAcls"),
    public("blockPublicPolicy"),
    public("ignorePublicAcls"),
    public("restrictPublicBuckets"),
    open("allowBlobPublicAccess", "true"),
    open("allowNestedItemsToBePublic", "true"),
    plain("requireSsl", "false"),
    plain("enableHttpsTrafficOnly", "false"),
    plain("httpsTrafficOnlyEnabled", "false"),
    single("multiAz", "false", true),
    single("multiAZ", "false", true),
    single("availabilityType", "ZONAL", false),
    single("zoneRedundant", "false", true),
    unprotected("deletionProtection"),
    unprotected("deletionProtectionEnabled"),
    unprotected("enableDeletionProtection"),
    Flag {
        name: "skipFinalSnapshot",
        is: "true",
        is_default: false,
        severity: Severity::Other,
        kind: "deletesData",
        text: "no last snapshot of the data is made when it is deleted",
        advice: "keep a last snapshot where the data shall outlive it",
    },
];

/// What an object of a cloud does from now on that it did not do before.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if !is_of_cloud(new) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for flag in &FLAGS {
        let values = |object: &Manifest| values(object.object().get("spec"), flag.name);
        let (was, now) = (values(old), values(new));
        let is_it = |all: &BTreeSet<String>| all.contains(flag.is) || all.is_empty() && flag.is_default;
        // A field that neither has says nothing.
        if is_it(&now) && !is_it(&was) {
            let shown = if now.is_empty() { "removed".to_owned() } else { flag.is.to_owned() };
            let text = format!("`{}` {shown}: {}", flag.name, flag.text);
            found.push(Danger::said(flag.severity, flag.kind, text, flag.advice));
        }
    }
    found.extend(kept(old, new));
    found.extend(unversioned(old, new));
    found.extend(upgraded(old, new));
    found.extend(opened(Some(old), new));
    found
}

/// The texts of all fields of a name, however deep.
fn values(value: Option<&Value>, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match value {
        Some(Value::Mapping(fields)) => {
            for (key, value) in fields {
                let text = match value {
                    Value::Bool(flag) => flag.to_string(),
                    Value::Int(number) => number.to_string(),
                    value => value.as_str().unwrap_or_default().to_owned(),
                };
                if key == name && !text.is_empty() {
                    found.insert(text);
                } else {
                    found.extend(values(Some(value), name));
                }
            }
        }
        Some(Value::Sequence(items)) => items.iter().for_each(|item| found.extend(values(Some(item), name))),
        _ => {}
    }
    found
}

/// Reference: docs.aws.amazon.com AmazonRDS, USER_WorkingWithAutomatedBackups: 0 disables and deletes them.
fn kept(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let names = ["backupRetentionPeriod", "backupRetentionDays", "snapshotRetentionLimit"];
    let days = |object: &Manifest, name: &str| -> Option<i64> {
        let all = values(object.object().get("spec"), name);
        all.into_iter().next().filter(|one| !one.is_empty())?.parse().ok()
    };
    names.iter().find_map(|name| {
        let (from, to) = (days(old, name)?, days(new, name)?);
        let what = if to == 0 {
            "no backups are made, and those that there are are deleted"
        } else {
            "backups that are older are deleted"
        };
        let text = format!("`{name}` {from} → {to}: {what}");
        (to < from).then(|| Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first"))
    })
}

/// What a bucket or a table keeps of what is written over, and what is so without it.
///
/// Reference: docs.aws.amazon.com AmazonS3, Versioning; amazondynamodb, PointInTimeRecovery; cloud.google.com storage docs,
/// object-versioning.
const KEPT: [(&str, &str); 4] = [
    ("versioningConfiguration", "what is written over or deleted is no longer kept"),
    ("versioning", "what is written over or deleted is no longer kept"),
    ("pointInTimeRecovery", "it cannot be restored to a time before"),
    ("pointInTimeRecoverySpecification", "it cannot be restored to a time before"),
];

fn unversioned(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_on = |object: &Manifest, name: &str| {
        let is_it = |part: &Value| {
            let texts = ["enabled", "status", "pointInTimeRecoveryEnabled"];
            let mut all = texts.iter().flat_map(|key| values(Some(part), key));
            all.any(|text| matches!(text.as_str(), "true" | "Enabled"))
        };
        parts(object.object().get("spec"), name).iter().any(is_it)
    };
    let (name, effect) = KEPT.iter().find(|(name, _)| is_on(old, name) && !is_on(new, name))?;
    let text = format!("`{name}` is off: {effect}");
    Some(Danger::said(Severity::Other, "unsaved", text, "keep it on for data that may have to come back"))
}

/// What all fields of a name have.
fn parts(value: Option<&Value>, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Some(Value::Mapping(fields)) => {
            for (key, value) in fields {
                found.extend((key == name).then(|| value.clone()));
                found.extend(parts(Some(value), name));
            }
        }
        Some(Value::Sequence(items)) => items.iter().for_each(|item| found.extend(parts(Some(item), name))),
        _ => {}
    }
    found
}

/// Another major version of a database, for which it is stopped.
///
/// Reference: docs.aws.amazon.com AmazonRDS, USER_UpgradeDBInstance.PostgreSQL, USER_UpgradeDBInstance.MySQL: it is not there while it is
/// upgraded, and cannot go back.
fn upgraded(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let text = |object: &Manifest, name: &str| {
        values(object.object().get("spec"), name).into_iter().next().unwrap_or_default()
    };
    // Of MySQL, the first two numbers are its major version.
    let count = if text(new, "engine").contains("postgres") { 1 } else { 2 };
    let major = |object: &Manifest| -> Option<Vec<u64>> {
        let version = text(object, "engineVersion");
        let numbers: Option<Vec<u64>> = version.split('.').take(count).map(|part| part.parse().ok()).collect();
        numbers.filter(|all| all.len() == count)
    };
    let (from, to) = (major(old)?, major(new)?);
    let shown = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let is_database = new.home_group().starts_with("rds.") || new.home_group().starts_with("database.");
    (is_database && to > from).then(|| {
        let text = format!(
            "version {} → {}: it is stopped while its data are upgraded, and cannot go back",
            shown(&from),
            shown(&to)
        );
        Danger::said(Severity::Outage, "upgrade", text, "check that there is a backup, and time for it")
    })
}

/// Fields of firewalls with those who may connect.
const RANGES: [&str; 9] = [
    "cidrBlocks",
    "ipv6CidrBlocks",
    "cidrIpv4",
    "cidrIpv6",
    "cidrIP",
    "cidrIPv6",
    "sourceRanges",
    "sourceAddressPrefix",
    "sourceAddressPrefixes",
];

/// A rule of a firewall that lets everybody in.
///
/// Reference: docs.aws.amazon.com vpc, security-group-rules; cloud.google.com firewall docs, `sourceRanges`; learn.microsoft.com azure
/// virtual-network, "Service tags" `Internet`.
pub(in crate::diff::danger) fn opened(old: Option<&Manifest>, new: &Manifest) -> Option<Danger> {
    if !is_of_cloud(new) || !lets_all_in(new) || old.is_some_and(lets_all_in) {
        return None;
    }
    let text = "lets connections in from every address".to_owned();
    let advice = "name those who may connect";
    Some(Danger::said(Severity::Security, "exposed", text, advice))
}

fn lets_all_in(object: &Manifest) -> bool {
    let kind = object.kind();
    if !["SecurityGroup", "Firewall", "SecurityRule"].iter().any(|part| kind.contains(part)) || kind.contains("Egress")
    {
        return false;
    }
    let spec = object.object().get("spec").cloned().unwrap_or_default();
    let of_type = ["type", "direction", "access"].map(|key| {
        let inner = word(&spec, &["forProvider", key]);
        (if inner.is_empty() { word(&spec, &[key]) } else { inner }).to_lowercase()
    });
    if of_type.iter().any(|one| matches!(one.as_str(), "egress" | "outbound" | "deny")) {
        return false;
    }
    let spec = without_egress(&spec);
    let ranges = RANGES.iter().flat_map(|name| listed(&spec, name));
    ranges.into_iter().any(|range| matches!(range.as_str(), "0.0.0.0/0" | "::/0" | "*" | "Internet"))
}

/// But for rules of what goes out.
fn without_egress(value: &Value) -> Value {
    match value {
        Value::Mapping(fields) => {
            let is_out = |key: &str| key.to_lowercase().contains("egress");
            let kept = fields.iter().filter(|(key, _)| !is_out(key));
            Value::Mapping(kept.map(|(key, value)| (key.clone(), without_egress(value))).collect())
        }
        Value::Sequence(items) => Value::Sequence(items.iter().map(without_egress).collect()),
        value => value.clone(),
    }
}

/// Texts of a field, or of the list that it is.
fn listed(value: &Value, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match value {
        Value::Mapping(fields) => {
            for (key, value) in fields {
                if key == name {
                    found.extend(value.as_str().map(str::to_owned));
                    let all = value.as_sequence().unwrap_or_default().iter();
                    found.extend(all.filter_map(Value::as_str).map(str::to_owned));
                }
                found.extend(listed(value, name));
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| found.extend(listed(item, name))),
        _ => {}
    }
    found
}
