//! Records of Kafka that are deleted, or lost when a broker fails, from now on.

use go_yaml::Value;

use super::{Danger, Severity};
use crate::manifest::Manifest;

/// Where a kind has the configuration of topics or brokers; brokers have `log.` before the names of topics.
fn config(object: &Manifest) -> Option<(&[&'static str], &'static str)> {
    match (object.home_group(), object.kind()) {
        ("kafka.strimzi.io", "KafkaTopic") => Some((&["spec", "config"], "")),
        ("kafka.strimzi.io", "Kafka") => Some((&["spec", "kafka", "config"], "log.")),
        _ => None,
    }
}

/// Reference: kafka.apache.org documentation, "Topic configs" `cleanup.policy`, "Broker configs" `unclean.leader.election.enable`,
/// `min.insync.replicas`, `log.retention.ms` before `log.retention.minutes` before `log.retention.hours`.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let Some((path, start)) = config(new) else { return Vec::new() };
    let text = |object: &Manifest, key: &str| match object.object().at(path).and_then(|config| config.get(key)) {
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Int(number)) => number.to_string(),
        value => value.and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    let mut found = Vec::new();
    let policy = format!("{start}cleanup.policy");
    let cleans = |object: &Manifest, how: &str| match text(object, &policy).as_str() {
        "" => how == "delete",
        all => all.split(',').any(|one| one.trim() == how),
    };
    let is_kept = |object: &Manifest| {
        text(object, "retention.ms") == "-1" && matches!(text(object, "retention.bytes").as_str(), "" | "-1")
    };
    let lost = match () {
        () if cleans(new, "delete") && !cleans(old, "delete") && !is_kept(new) => {
            Some("records beyond `retention` are deleted, the last of each key too")
        }
        () if cleans(new, "compact") && !cleans(old, "compact") => Some("of each key, the last record alone is kept"),
        () => None,
    };
    if let Some(lost) = lost {
        let [from, to] = [old, new].map(|object| match text(object, &policy).as_str() {
            "" => "delete".to_owned(),
            policy => policy.to_owned(),
        });
        let text = format!("`{policy}` {from} → {to}: {lost}");
        found.push(Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first"));
    }
    let unclean = "unclean.leader.election.enable";
    if text(new, unclean) == "true" && text(old, unclean) != "true" {
        let text = format!("`{unclean}: true`: a broker that lacks records may lead, and then they are lost");
        found.push(Danger::said(Severity::DataLoss, "retention", text, "keep it false where no record may be lost"));
    }
    let insync = "min.insync.replicas";
    let number = |object: &Manifest| text(object, insync).parse::<i64>().ok();
    if let (Some(from @ 2..), Some(1)) = (number(old), number(new)) {
        let text = format!("`{insync}` {from} → 1: records that one broker alone has count as written");
        found.push(Danger::said(Severity::Other, "fewerCopies", text, "keep 2 where no record may be lost"));
    }
    let largest = if start.is_empty() { "max.message.bytes" } else { "message.max.bytes" };
    let bytes = |object: &Manifest| text(object, largest).parse::<i64>().ok();
    if let (Some(from), Some(to)) = (bytes(old), bytes(new).or(Some(MESSAGE)))
        && to < from
    {
        let text = format!("`{largest}` {from} → {to}: larger records are refused");
        found.push(Danger::said(Severity::Other, "tooLarge", text, "compare with what producers send"));
    }
    if !start.is_empty() {
        found.extend(brokers(old, new, &text));
    }
    found
}

/// How large a batch of records may be by default, in bytes.
const MESSAGE: i64 = 1_048_588;

/// How long brokers keep records of topics that do not say it themselves.
fn brokers(old: &Manifest, new: &Manifest, text: &dyn Fn(&Manifest, &str) -> String) -> Option<Danger> {
    let hours = |object: &Manifest| -> Option<f64> {
        let units = [("log.retention.ms", 3_600_000.0), ("log.retention.minutes", 60.0), ("log.retention.hours", 1.0)];
        let set = units.iter().find_map(|(key, unit)| Some(text(object, key).parse::<f64>().ok()? / unit));
        Some(set.unwrap_or(168.0)).map(|hours| if hours < 0.0 { f64::INFINITY } else { hours })
    };
    let (from, to) = (hours(old)?, hours(new)?);
    let shown = |hours: f64| if hours.is_finite() { format!("{hours} hours") } else { "no limit".to_owned() };
    (to < from).then(|| {
        let text = format!("`log.retention` {} → {}: records that are older are deleted", shown(from), shown(to));
        Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first")
    })
}
