//! Storage that an operator no longer gives to what it runs, and data that it keeps for less time.

use go_yaml::Value;

use super::{Danger, Severity, items, quantity};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// Where kinds ask for claims, without which what they keep is in an `emptyDir`.
///
/// Reference: prometheus-operator/prometheus-operator Documentation/platform/storage.md.
const CLAIMED: [(&str, &str, &[&str]); 4] = [
    ("monitoring.coreos.com", "Prometheus", &["spec", "storage"]),
    ("monitoring.coreos.com", "Alertmanager", &["spec", "storage"]),
    ("monitoring.coreos.com", "ThanosRuler", &["spec", "storage"]),
    ("monitoring.coreos.com", "PrometheusAgent", &["spec", "storage"]),
];

/// How long kinds keep data, or how many: group, kind, path of a value or of several by their keys, and what it is by default; nothing
/// where all is kept then, or where the default is not known.
///
/// Reference: prometheus-operator/prometheus-operator Documentation/api-reference/api.md `retention`; longhorn.io
/// docs/snapshots-and-backups/scheduling-backups-and-snapshots `retain`; velero.io docs/main/how-velero-works, "Set a backup to
/// expire" (30 days); cloudnative-pg docs/src/backup.md `retentionPolicy`; cloudnative-pg.io plugin-barman-cloud, retention;
/// access.crunchydata.com postgres-operator, "Managing Backup Retention"; docs.victoriametrics.com, "Retention" (months without a unit);
/// loki-operator.dev docs, api, `RetentionLimitSpec`; grafana.com docs, tempo operator, `retention`; volsync.readthedocs.io usage/restic; k8up.io docs, schedules.
const KEPT: [(&str, &str, &[&str], &str); 13] = [
    ("monitoring.coreos.com", "Prometheus", &["spec", "retention"], "24h"),
    (VICTORIA, "VMSingle", &["spec", "retentionPeriod"], "1"),
    (VICTORIA, "VMCluster", &["spec", "retentionPeriod"], "1"),
    (VICTORIA, "VLSingle", &["spec", "retentionPeriod"], ""),
    ("loki.grafana.com", "LokiStack", &["spec", "limits", "global", "retention", "days"], ""),
    ("tempo.grafana.com", "TempoStack", &["spec", "retention", "global", "traces"], "48h"),
    ("longhorn.io", "RecurringJob", &["spec", "retain"], ""),
    ("velero.io", "Schedule", &["spec", "template", "ttl"], "720h0m0s"),
    ("postgresql.cnpg.io", "Cluster", &["spec", "backup", "retentionPolicy"], ""),
    ("barmancloud.cnpg.io", "ObjectStore", &["spec", "retentionPolicy"], ""),
    ("postgres-operator.crunchydata.com", "PostgresCluster", &["spec", "backups", "pgbackrest", "global"], ""),
    ("volsync.backube", "ReplicationSource", &["spec", "restic", "retain"], ""),
    ("k8up.io", "Schedule", &["spec", "prune", "retention"], ""),
];

const VICTORIA: &str = "operator.victoriametrics.com";

/// Claims that are given up, and data that go earlier.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found: Vec<Danger> = unclaimed(old, new).into_iter().collect();
    found.extend(kept_less(old, new));
    found.extend(sized(old, new));
    found.extend(volumes(old, new));
    found
}

fn row<'r, T>(rows: &'r [(&str, &str, T)], of: &Manifest) -> Option<&'r T> {
    rows.iter().find(|(group, kind, _)| (of.home_group(), of.kind()) == (*group, *kind)).map(|(.., value)| value)
}

fn unclaimed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let path = row(&CLAIMED, new)?;
    let claims =
        |object: &Manifest| object.object().at(path).and_then(|storage| storage.get("volumeClaimTemplate")).is_some();
    (claims(old) && !claims(new)).then(|| {
        let text = format!("`{}` removed: it starts empty, and what it keeps goes with each Pod", path.join("."));
        Danger::said(Severity::DataLoss, "volumeReplaced", text, "keep the claim for data that shall stay")
    })
}

fn kept_less(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let is_it = |(group, kind, ..): &&(&str, &str, &[&str], &str)| (new.home_group(), new.kind()) == (*group, *kind);
    let Some((.., path, default)) = KEPT.iter().find(is_it) else { return Vec::new() };
    // A Prometheus that is limited by size alone has no default for the time.
    let is_sized = new.object().at(&["spec", "retentionSize"]).is_some();
    let default = if is_sized { "" } else { default };
    let value = |object: &Manifest| object.object().at(path).cloned().unwrap_or_else(|| Value::from(default));
    let (was, now) = (value(old), value(new));
    let field = path.last().unwrap_or(&"");
    let changes: Vec<(&str, &Value, &Value)> = match (&was, &now) {
        (Value::Mapping(was), Value::Mapping(now)) => {
            // What else pgBackRest has is not a count.
            let is_count = |key: &str| *field != "global" || key.contains("-retention-") && !key.ends_with("-type");
            let both = was.iter().filter_map(|(key, was)| Some((key.as_str(), was, now.get(key)?)));
            both.filter(|(key, ..)| is_count(key)).collect()
        }
        (was, now) => vec![(field, was, now)],
    };
    let shown = |value: &Value| match value {
        Value::Int(number) => number.to_string(),
        value => value.as_str().unwrap_or_default().to_owned(),
    };
    let is_month =
        |value: &Value| new.home_group() == VICTORIA && value.as_str().is_some_and(|text| text.parse::<f64>().is_ok());
    let amount = |value: &Value| amount(value).map(|amount| if is_month(value) { amount * MONTH } else { amount });
    let is_less = |from: &Value, to: &Value| amount(to).zip(amount(from)).is_some_and(|(to, from)| to < from);
    let danger = |(field, from, to): (&str, &Value, &Value)| {
        let text = format!("`{field}` {} → {}: what is older is deleted", shown(from), shown(to));
        Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first")
    };
    changes.into_iter().filter(|(_, from, to)| is_less(from, to)).map(danger).collect()
}

/// Metrics that are deleted since all of them may have less room.
///
/// Reference: prometheus-operator/prometheus-operator Documentation/api-reference/api.md `retentionSize`; prometheus.io docs, storage:
/// units to the power of 2.
fn sized(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let bytes = |object: &Manifest| -> Option<f64> {
        let text = word(object.object(), &["spec", "retentionSize"]);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (count, unit) = text.split_at_checked(end)?;
        let power = ["B", "KB", "MB", "GB", "TB", "PB", "EB"].iter().position(|one| *one == unit)?;
        Some(count.parse::<f64>().ok()? * 1024_f64.powi(i32::try_from(power).ok()?))
    };
    let room = |object: &Manifest| {
        let claim = ["spec", "storage", "volumeClaimTemplate", "spec", "resources", "requests", "storage"];
        object.object().at(&claim).and_then(quantity)
    };
    if (new.home_group(), new.kind()) != ("monitoring.coreos.com", "Prometheus") {
        return None;
    }
    // A limit that leaves most of the claim to it only keeps it from being full.
    let is_less = |to: f64| bytes(old).map_or_else(|| room(new).is_some_and(|room| to < room / 2.0), |from| to < from);
    bytes(new).filter(|to| is_less(*to))?;
    let shown = |object: &Manifest| match word(object.object(), &["spec", "retentionSize"]) {
        "" => "no limit".to_owned(),
        size => size.to_owned(),
    };
    let text = format!("`retentionSize` {} → {}: the oldest that is beyond it is deleted", shown(old), shown(new));
    Some(Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first"))
}

/// A month of 31 days, in seconds.
const MONTH: f64 = 2_678_400.0;

/// A span, or a count that is written as a text.
fn amount(value: &Value) -> Option<f64> {
    value.as_str().and_then(|text| text.parse().ok()).or_else(|| span(value))
}

/// A count, or a time in seconds: `30d`, `720h0m0s`, `1w`.
pub(in crate::diff::danger) fn span(value: &Value) -> Option<f64> {
    if let Value::Int(number) = value {
        return Some(*number as f64);
    }
    let mut rest = value.as_str().filter(|text| !text.is_empty())?;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (count, after) = rest.split_at_checked(end)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            "y" => 31_536_000.0,
            _ => return None,
        };
        seconds += count.parse::<f64>().ok()? * unit;
        rest = after;
    }
    Some(seconds)
}

/// Volumes of brokers that go, or that are no claims any more.
///
/// Reference: strimzi/strimzi-kafka-operator documentation/modules/configuring/con-config-storage-kraft.adoc: data are to be moved from
/// a volume before it is removed; the type of storage cannot change.
fn volumes(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let path: &[&str] = match (new.home_group(), new.kind()) {
        ("kafka.strimzi.io", "KafkaNodePool") => &["spec", "storage", "volumes"],
        ("kafka.strimzi.io", "Kafka") => &["spec", "kafka", "storage", "volumes"],
        _ => return Vec::new(),
    };
    let claimed = items(old.object(), path).iter().filter(|volume| word(volume, &["type"]) == "persistent-claim");
    let mut found = Vec::new();
    for was in claimed {
        let id = number(was, &["id"]);
        let now = items(new.object(), path).iter().find(|volume| number(volume, &["id"]) == id);
        let shown = id.map_or_else(String::new, |id| format!(" {id}"));
        match now {
            None => {
                let text = format!("volume{shown} removed: the records on it go from their brokers");
                let advice = "check with `kafka-reassign-partitions` that nothing is on it before it goes";
                found.push(Danger::said(Severity::DataLoss, "volumeReplaced", text, advice));
            }
            Some(now) if word(now, &["type"]) != "persistent-claim" => {
                let text = format!("volume{shown} is not a claim any more: its operator keeps the storage as it was");
                found.push(Danger::said(Severity::Refused, "shrinks", text, "keep the type of storage"));
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use go_yaml::Value;

    use super::span;

    #[test]
    fn times_are_compared_in_seconds() {
        let rows = [
            (Value::from("30d"), Some(2_592_000.0)),
            (Value::from("720h0m0s"), Some(2_592_000.0)),
            (Value::from("1w"), Some(604_800.0)),
            (Value::Int(14), Some(14.0)),
            (Value::from("30"), None),
            (Value::from(""), None),
            (Value::from("1 day"), None),
        ];
        for (value, expected) in rows {
            assert_eq!(span(&value), expected, "{value:?}");
        }
    }
}
