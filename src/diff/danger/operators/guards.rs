//! Encryption, logins and rights that an operator is no longer asked for.

use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// A field that guards something: group, kind, path, what it is while it guards, and what is so without it.
///
/// Reference: mongodb/mongodb-kubernetes-operator docs/secure.md; elastic/cloud-on-k8s pkg/apis/common/v1/common.go
/// `SelfSignedCertificate`; strimzi/strimzi-kafka-operator documentation/modules/appendix_crds.adoc; cloudnative-pg docs, security;
/// rabbitmq/cluster-operator api/v1beta1/rabbitmqcluster_types.go `TLSSpec`; redis-operator.opstree.dev docs, crd-reference.
const GUARDS: [(&str, &str, &[&str], Guards, &str); 11] = [
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
    (REDIS, "Redis", REDIS_SECRET, Guards::IsThere, LOGIN),
    (REDIS, "RedisCluster", REDIS_SECRET, Guards::IsThere, LOGIN),
    (REDIS, "RedisReplication", REDIS_SECRET, Guards::IsThere, LOGIN),
    (
        "postgresql.cnpg.io",
        "Cluster",
        &["spec", "enableSuperuserAccess"],
        Guards::IsNot("true"),
        "the superuser may log in, by a password in a Secret",
    ),
    ("rabbitmq.com", "RabbitmqCluster", &["spec", "tls", "secretName"], Guards::IsThere, TLS),
    ("rabbitmq.com", "RabbitmqCluster", &["spec", "tls", "disableNonTLSListeners"], Guards::Is("true"), TLS),
];

const REDIS: &str = "redis.redis.opstreelabs.in";
const REDIS_SECRET: &[&str] = &["spec", "kubernetesConfig", "redisSecret"];
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
    found.extend(trusted(old, new));
    found.extend(wider_rights(old, new));
    found
}

/// A line of `pg_hba` that lets connections in without asking who they are.
///
/// Reference: cloudnative-pg docs, postgresql_conf, "The pg_hba section"; postgresql.org docs, auth-pg-hba-conf: the method `trust`.
fn trusted(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let lines = |cluster: &'_ Manifest| items(cluster.object(), &["spec", "postgresql", "pg_hba"]).to_vec();
    let trusts = |line: &Value| {
        let text = line.as_str().unwrap_or_default();
        text.starts_with("host") && text.split_whitespace().any(|word| word == "trust")
    };
    let is_it = (new.home_group(), new.kind()) == ("postgresql.cnpg.io", "Cluster");
    let was = lines(old);
    let line = lines(new).into_iter().find(|line| is_it && trusts(line) && !was.contains(line))?;
    let text = format!("`pg_hba` has `{}`: such connections need no password", line.as_str().unwrap_or_default());
    Some(Danger::said(Severity::Security, "unguarded", text, "keep a method that asks for a password or a certificate"))
}

/// Rights of a user of Kafka that are for more than those that it had.
///
/// Reference: strimzi/strimzi-kafka-operator documentation/modules/configuring/con-securing-client-authorization.adoc: the literal name `*`
/// is for all resources of a type; a name with the pattern type `prefix` for those that begin with it.
fn wider_rights(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("kafka.strimzi.io", "KafkaUser");
    let resources = |user: &'_ Manifest| -> Vec<Value> {
        let rules = items(user.object(), &["spec", "authorization", "acls"]).iter();
        rules.filter(|rule| word(rule, &["type"]) != "deny").filter_map(|rule| rule.get("resource").cloned()).collect()
    };
    let covers = |one: &Value, other: &Value| {
        let (name, of_other) = (word(one, &["name"]), word(other, &["name"]));
        let is_prefix = word(one, &["patternType"]) == "prefix";
        word(one, &["type"]) == word(other, &["type"])
            && (one == other || name == "*" && !is_prefix || is_prefix && of_other.starts_with(name))
    };
    let was = resources(old);
    let is_wider = |one: &Value| !was.iter().any(|was| covers(was, one)) && was.iter().any(|was| covers(one, was));
    let wider = resources(new).into_iter().find(|one| is_it && is_wider(one))?;
    let which = match (word(&wider, &["name"]), word(&wider, &["patternType"])) {
        ("*" | "", _) => "all names".to_owned(),
        (name, "prefix") => format!("names that begin with `{name}`"),
        (name, _) => format!("`{name}`"),
    };
    let text = format!("`acls` of type `{}` are for {which}, and were for fewer", word(&wider, &["type"]));
    Some(Danger::said(Severity::Security, "widened", text, "check that it needs all of them"))
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
        let is_inside = |listener: &Value| matches!(word(listener, &["type"]), "" | "internal" | "cluster-ip");
        if is_inside(&was) && !is_inside(listener) {
            let sort = word(listener, &["type"]);
            let text = format!("listener `{name}` can be reached from outside of the cluster (`type: {sort}`)");
            let advice = "keep it internal, unless it is meant for clients outside";
            found.push(Danger::said(Severity::Security, "exposed", text, advice));
        }
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
