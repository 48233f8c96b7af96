//! Objects whose controllers own data: databases, topics, buckets, pools of storage.

mod backups;
mod cloud;
mod copies;
mod guards;
mod kafka;
mod storage;
mod table;
#[cfg(test)]
mod tests;
mod versions;

use go_yaml::Value;

use super::quantity::quantity;
use super::{Around, Danger, Severity, custom, items};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;
pub(super) use cloud::opened as firewall_opened;
pub(super) use storage::span;
use table::{CLOUD, Ends, OWNERS, Owner};

/// The row of an object; none where nothing is known to own data.
fn owner(object: &Manifest) -> Option<&'static Owner> {
    let (group, kind) = (object.home_group(), object.kind());
    let is_group = |known: &str| group == known || known.starts_with('.') && group.ends_with(known);
    let is_kind = |owner: &Owner| match owner.group.strip_prefix('.') {
        Some(_) => CLOUD.iter().any(|(start, known)| group.starts_with(start) && kind == *known),
        None => owner.kind.is_empty() || owner.kind == kind,
    };
    OWNERS.iter().find(|owner| is_group(owner.group) && is_kind(owner))
}

impl Owner {
    /// Whether the data go with an object.
    fn deletes(&self, of: &Manifest) -> bool {
        let object = of.object();
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            _ => String::new(),
        };
        match &self.ends {
            Ends::Always => true,
            Ends::Never | Ends::WhenEmpty => false,
            Ends::Unless(path, keeping) => {
                !object.at(path).is_some_and(|value| keeping.contains(&text(value).as_str()))
            }
            Ends::UnlessAnnotated(key, keeping) => !keeping.contains(&word(object, &["metadata", "annotations", key])),
            Ends::UnlessAny(keys, keeping) => {
                !keys.iter().any(|key| has(object, key, &|value| text(value) == *keeping))
            }
            Ends::If(key, deleting) => has(object, key, &|value| text(value) == *deleting),
            Ends::IfAt(path, deleting) => object.at(path).is_some_and(|value| deleting.contains(&text(value).as_str())),
            Ends::Finalizer(name) => {
                let finalizers = items(object, &["metadata", "finalizers"]).iter().filter_map(Value::as_str);
                finalizers.into_iter().any(|one| one.rsplit('/').next() == Some(name))
            }
            Ends::Crossplane => {
                let policies = items(object, &["spec", "managementPolicies"]);
                let is_managed = policies.iter().any(|policy| matches!(policy.as_str(), Some("*" | "Delete")));
                word(object, &["spec", "deletionPolicy"]) != "Orphan" && (policies.is_empty() || is_managed)
            }
        }
    }
}

/// Whether some field of this name, however deep, is as asked for.
fn has(value: &Value, key: &str, is: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Mapping(fields) => fields.iter().any(|(name, value)| (name == key && is(value)) || has(value, key, is)),
        Value::Sequence(items) => items.iter().any(|item| has(item, key, is)),
        _ => false,
    }
}

/// What goes with an object whose controller owns data; none for a kind that is not known, or that leaves all where it is.
pub(super) fn loss(old: &Manifest) -> Option<(Severity, String)> {
    let Some(owner) = owner(old) else {
        return custom::external(old).map(|what| {
            let is_definition = old.kind() == "CompositeResourceDefinition";
            let severity = if is_definition { Severity::DataLoss } else { Severity::Outage };
            (severity, format!("with {what}: its controller deletes them"))
        });
    };
    match (&owner.ends, owner.deletes(old)) {
        (_, true) => {
            Some((Severity::DataLoss, format!("with {}: its controller deletes what is behind it", owner.data)))
        }
        (Ends::Crossplane | Ends::UnlessAnnotated(..), false) => None,
        (Ends::WhenEmpty, false) => {
            Some((Severity::Other, format!("once nothing is in {}: as long its controller keeps it", owner.data)))
        }
        (_, false) => Some((Severity::Outage, "with what it runs; its data stay".to_owned())),
    }
}

/// An object whose data would go with it from now on.
fn armed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let owner = owner(new)?;
    (!owner.deletes(old) && owner.deletes(new)).then(|| {
        let text = format!("from now on {} would go with it", owner.data);
        Danger::said(Severity::Other, "deletesData", text, "keep the policy where the data shall outlive the object")
    })
}

/// What becomes of what an operator runs when the object that asks for it changes.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = shrunk(old, new);
    found.extend(armed(old, new));
    found.extend(versions::changed(old, new));
    found.extend(guards::dropped(old, new));
    found.extend(storage::changed(old, new));
    found.extend(backups::dropped(old, new));
    found.extend(backups::left_out(old, new, around));
    found.extend(backups::unbudgeted(old, new));
    found.extend(backups::unwritable(old, new));
    found.extend(backups::volumeless(old, new));
    found.extend(kafka::changed(old, new));
    found.extend(cloud::changed(old, new));
    found.extend(copies::changed(old, new));
    found
}

/// Data that get less room, fewer copies or less time.
///
/// Reference: cloudnative-pg docs, storage; strimzi docs, topics (partitions cannot be decreased); Kafka docs, topic configs.
fn shrunk(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if owner(new).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let refused = |text| {
        Danger::said(Severity::Refused, "shrinks", text, "keep the size, or make a smaller one and copy the data")
    };
    let refuses = match is_whole_refused(new) {
        true => format!("storage cannot shrink, so its operator refuses the object: {NOTHING_APPLIED}"),
        false => "storage cannot shrink, so its controller refuses it".to_owned(),
    };
    let is_rabbit = new.home_group() == "rabbitmq.com";
    let mut path = Vec::new();
    visit((old.object(), new.object()), &mut path, &mut |path, old, new| match path.last().map(String::as_str) {
        // The copies of a pool of Ceph.
        Some("size") if matches!((old, new), (Value::Int(_), Value::Int(_))) => found.extend(fewer(path, old, new)),
        Some("size" | "storage") => found.extend(
            smaller(old, new).map(|(from, to)| refused(format!("`{}` {from} → {to}: {refuses}", path.join(".")))),
        ),
        Some("instances" | "replicas" | "members" | "count" | "numberOfInstances" | "numberOfReplicas") => {
            found.extend(fewer(path, old, new).filter(|_| !is_rabbit || *new == Value::Int(0)));
        }
        _ => {}
    });
    found.extend(kept_size(old, new));
    if new.kind() == "KafkaTopic" {
        let partitions = |topic: &Manifest| number(topic.object(), &["spec", "partitions"]);
        if let (Some(from), Some(to)) = (partitions(old), partitions(new))
            && to < from
        {
            found.push(refused(format!("`partitions` {from} → {to}: the partitions of a topic cannot get fewer")));
        }
        found.extend(retention(old, new));
    }
    found
}

/// A RabbitMQ whose operator does not let it have fewer nodes.
///
/// Reference: rabbitmq/cluster-operator controllers/reconcile_scale_down.go: but for 0, it leaves all as it was.
fn kept_size(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let replicas = |object: &Manifest| number(object.object(), &["spec", "replicas"]).unwrap_or(1);
    let (from, to) = (replicas(old), replicas(new));
    let is_it = (new.home_group(), new.kind()) == ("rabbitmq.com", "RabbitmqCluster");
    (is_it && to < from && to > 0).then(|| {
        let text = format!("`spec.replicas` {from} → {to}: its operator does not take nodes away, and changes nothing");
        Danger::said(
            Severity::Refused,
            "shrinks",
            text,
            "keep the number of nodes, or make a smaller one and move to it",
        )
    })
}

/// Fewer copies than before.
fn fewer(path: &[String], old: &Value, new: &Value) -> Option<Danger> {
    let (Value::Int(from), Value::Int(to)) = (old, new) else { return None };
    (to < from).then(|| {
        let severity = if *to == 0 { Severity::Outage } else { Severity::Other };
        let effect = match (*from, *to) {
            (_, 0) => "it is stopped, and nothing answers",
            (3.., 1 | 2) => "fewer copies of the data: once one fails, those that stay are no majority of three",
            _ => "fewer copies of the data",
        };
        let text = format!("`{}` {from} → {to}: {effect}", path.join("."));
        Danger::said(severity, "fewerCopies", text, "check that those that stay have all the data")
    })
}

/// Calls back for each scalar that both have at one place, with the keys that lead there.
fn visit((old, new): (&Value, &Value), path: &mut Vec<String>, each: &mut dyn FnMut(&[String], &Value, &Value)) {
    match (old, new) {
        (Value::Mapping(old), Value::Mapping(new)) => {
            for (key, old) in old {
                let Some(new) = new.get(key) else { continue };
                path.push(key.clone());
                match old {
                    Value::Mapping(_) | Value::Sequence(_) => visit((old, new), path, each),
                    old => each(path, old, new),
                }
                path.pop();
            }
        }
        (Value::Sequence(old), Value::Sequence(new)) if old.len() == new.len() => {
            let list = path.pop().unwrap_or_default();
            for (index, pair) in old.iter().zip(new).enumerate() {
                path.push(format!("{list}[{index}]"));
                visit(pair, path, each);
                path.pop();
            }
            path.push(list);
        }
        _ => {}
    }
}

/// What becomes of a change that is refused as a whole.
const NOTHING_APPLIED: &str = "nothing of this change is applied";

/// Kinds whose operators refuse an object as a whole by a webhook of their own: group and kind; an empty kind is all of the group, and
/// a group that begins with a dot the end of several.
///
/// Reference: cloudnative-pg/cloudnative-pg internal/webhook/v1/cluster_webhook.go `validateStorageChange`, `validateImageChange`;
/// elastic/cloud-on-k8s pkg/controller/elasticsearch/validation/webhook.go `ValidateUpdate`.
const REFUSING: [(&str, &str); 2] = [("postgresql.cnpg.io", "Cluster"), (".k8s.elastic.co", "")];

/// Whether nothing of a change is applied that the operator of an object refuses.
pub(super) fn is_whole_refused(object: &Manifest) -> bool {
    REFUSING.iter().any(|(group, kind)| {
        let is_group = object.home_group() == *group || group.starts_with('.') && object.home_group().ends_with(group);
        is_group && (kind.is_empty() || object.kind() == *kind)
    })
}

/// A size of storage before and after, where it falls.
fn smaller(old: &Value, new: &Value) -> Option<(String, String)> {
    let (from, to) = (old.as_str()?, new.as_str()?);
    let is_size = |text: &str| text.ends_with(|c: char| c.is_ascii_alphabetic());
    (is_size(from) && is_size(to) && quantity(new)? < quantity(old)?).then(|| (from.to_owned(), to.to_owned()))
}

/// Records that are deleted since they are kept for less.
fn retention(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found = Vec::new();
    for key in ["retention.ms", "retention.bytes"] {
        let value = |topic: &Manifest| match topic.object().at(&["spec", "config", key])? {
            Value::Int(value) => Some(*value),
            value => value.as_str()?.parse().ok(),
        };
        // Without it, those of the brokers hold: 7 days where they say nothing.
        let goes = || (key == "retention.ms" && new.object().at(&["spec", "config", key]).is_none()).then_some(WEEK);
        let Some(to) = value(new).or_else(goes).filter(|to| *to >= 0) else { continue };
        // The default of the cluster is not known, but for the size, which has none.
        let Some(from) = value(old).or((key == "retention.bytes").then_some(-1)) else { continue };
        if from < 0 || to < from {
            let from = if from < 0 { "no limit".to_owned() } else { from.to_string() };
            let to = if goes().is_some() { format!("{to}, the default of brokers") } else { to.to_string() };
            let text = format!("`{key}` {from} → {to}: records beyond it are deleted");
            found.push(Danger::said(Severity::DataLoss, "retention", text, "copy what shall be kept first"));
        }
    }
    found
}

/// A week in milliseconds.
const WEEK: i64 = 604_800_000;

/// Whether Argo CD removes an object that would take data with it.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if let Some(danger) = backups::removed(old, around).or_else(|| backups::placeless(old, around)) {
        return Some(danger);
    }
    let pruning = around.pruning.of(old);
    let (severity, loss) = loss(old)?;
    pruning.removes().then(|| {
        Danger::said(severity, "removed", format!("removed, {loss}"), "check that it is meant to go").pruned(pruning)
    })
}
