//! Encryption, logins and rights that an operator is no longer asked for.

use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// A field that guards something: group, kind, path, what it is while it guards, and what is so without it.
///
/// Reference: mongodb/mongodb-kubernetes-operator docs/secure.md; elastic/cloud-on-k8s pkg/apis/common/v1/common.go
/// `SelfSignedCertificate`; strimzi/strimzi-kafka-operator documentation/modules/appendix_crds.adoc; cloudnative-pg docs, security;
/// rabbitmq/cluster-operator api/v1beta1/rabbitmqcluster_types.go `TLSSpec`.
const GUARDS: [(&str, &str, &[&str], Guards, &str); 7] = [
    (
        "mongodbcommunity.mongodb.com",
        "MongoDBCommunity",
        &["spec", "security", "tls", "enabled"],
        Guards::Is("true"),
        TLS,
    ),
    (
        "mongodbcommunity.mongodb.com",
        "MongoDBCommunity",
        &["spec", "security", "authentication", "modes"],
        Guards::IsThere,
        LOGIN,
    ),
    (
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        &["spec", "http", "tls", "selfSignedCertificate", "disabled"],
        Guards::IsNot("true"),
        TLS,
    ),
    (
        "kibana.k8s.elastic.co",
        "Kibana",
        &["spec", "http", "tls", "selfSignedCertificate", "disabled"],
        Guards::IsNot("true"),
        TLS,
    ),
    (
        "kafka.strimzi.io",
        "Kafka",
        &["spec", "kafka", "authorization"],
        Guards::IsThere,
        "everyone who connects may do everything",
    ),
    ("rabbitmq.com", "RabbitmqCluster", &["spec", "tls", "secretName"], Guards::IsThere, TLS),
    ("rabbitmq.com", "RabbitmqCluster", &["spec", "tls", "disableNonTLSListeners"], Guards::Is("true"), TLS),
];

const TLS: &str = "connections are in plain text, or may be";
const LOGIN: &str = "no login is asked for any more";

/// When a field guards.
enum Guards {
    Is(&'static str),
    IsNot(&'static str),
    IsThere,
}

impl Guards {
    fn guards(&self, value: Option<&Value>) -> bool {
        let text = |value: &Value| match value {
            Value::Bool(flag) => flag.to_string(),
            value => value.as_str().unwrap_or_default().to_owned(),
        };
        match (self, value) {
            (Guards::Is(wanted), value) => value.is_some_and(|value| text(value) == *wanted),
            (Guards::IsNot(open), value) => value.is_none_or(|value| text(value) != *open),
            (Guards::IsThere, Some(Value::Sequence(items))) => !items.is_empty(),
            (Guards::IsThere, value) => value.is_some_and(|value| !value.is_null()),
        }
    }
}

/// What guarded something and no longer does.
pub(super) fn dropped(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let of_kind = GUARDS.iter().filter(|(group, kind, ..)| (new.home_group(), new.kind()) == (*group, *kind));
    let dropped = of_kind
        .filter(|(_, _, path, when, _)| when.guards(old.object().at(path)) && !when.guards(new.object().at(path)));
    let unguarded = |field: &str, effect: &str| {
        Danger::said(Severity::Security, "unguarded", format!("`{field}`: {effect}"), "keep what guards it")
    };
    let mut found: Vec<Danger> = dropped.map(|(_, _, path, _, effect)| unguarded(&path.join("."), effect)).collect();
    if (new.home_group(), new.kind()) == ("kafka.strimzi.io", "Kafka") {
        found.extend(listeners(old, new));
    }
    found
}

/// Listeners of a Kafka that lose TLS or their login, or go.
fn listeners(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let all = |kafka: &'_ Manifest| items(kafka.object(), &["spec", "kafka", "listeners"]).to_vec();
    let now = all(new);
    let has_tls = |listener: &Value| listener.get("tls").and_then(Value::as_bool) == Some(true);
    let has_login = |listener: &Value| listener.get("authentication").is_some_and(|login| !login.is_null());
    let mut found = Vec::new();
    for was in all(old) {
        let name = word(&was, &["name"]).to_owned();
        let Some(listener) = now.iter().find(|one| word(one, &["name"]) == name) else {
            let text = format!("listener `{name}` removed: who connects to it is refused");
            let advice = "keep the listener beside the new one until nothing uses it";
            found.push(Danger::said(Severity::Outage, "portGone", text, advice));
            continue;
        };
        let lost: Vec<&str> = [
            (has_tls(&was) && !has_tls(listener), "in plain text"),
            (has_login(&was) && !has_login(listener), "without a login"),
        ]
        .into_iter()
        .filter_map(|(is_lost, what)| is_lost.then_some(what))
        .collect();
        if !lost.is_empty() {
            let text = format!("listener `{name}` takes connections {}", lost.join(" and "));
            found.push(Danger::said(Severity::Security, "unguarded", text, "keep what guards it"));
        }
    }
    found
}
