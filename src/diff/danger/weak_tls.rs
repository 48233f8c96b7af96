//! The lowest version of TLS that is taken.

use std::collections::BTreeMap;

use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// A version of TLS by its number behind the point: 2 is 1.2.
type Minor = u8;

/// What is taken where nothing is said.
const DEFAULT: Minor = 2;

/// Where kinds say the lowest version: group, kind, path.
///
/// Reference: doc.traefik.io reference/routing-configuration/kubernetes/crd/tls/tlsoption; gateway.envoyproxy.io docs/api/extension_types
/// `TLSSettings`; projectcontour.io docs/main/config/api `TLS`: 1.2 is the default of all.
const LOWEST: [(&str, &str, &[&str]); 4] = [
    ("traefik.io", "TLSOption", &["spec", "minVersion"]),
    ("traefik.containo.us", "TLSOption", &["spec", "minVersion"]),
    ("gateway.envoyproxy.io", "ClientTrafficPolicy", &["spec", "tls", "minVersion"]),
    ("projectcontour.io", "HTTPProxy", &["spec", "virtualhost", "tls", "minimumProtocolVersion"]),
];

/// Annotations with a policy of AWS, which has the lowest version in its name.
///
/// Reference: docs.aws.amazon.com elasticloadbalancing application/describe-ssl-policies.
const POLICIES: [&str; 2] =
    ["alb.ingress.kubernetes.io/ssl-policy", "service.beta.kubernetes.io/aws-load-balancer-ssl-negotiation-policy"];

/// An object that takes an older version of TLS than before.
pub(super) fn lowered(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (was, now) = (lowest(old), lowest(new));
    let (from, to) = was.iter().find_map(|(place, from)| {
        let to = now.get(place)?;
        (to < from).then_some((from, to))
    })?;
    let (severity, why) = match to {
        0 | 1 => (Severity::Security, ", which is no longer taken for safe"),
        _ => (Severity::Other, ""),
    };
    let text = format!("the lowest TLS 1.{from} → 1.{to}: clients may use TLS 1.{to}{why}");
    Some(Danger::said(severity, "weakTls", text, "keep TLS 1.2 or newer, unless old clients need the other"))
}

/// The lowest version by the place that it is for.
fn lowest(object: &Manifest) -> BTreeMap<String, Minor> {
    let value = object.object();
    let mut found = BTreeMap::new();
    match (object.home_group(), object.kind()) {
        // Reference: istio.io docs/reference/config/networking/gateway `ServerTLSSettings`: TLSV1_2 is the default.
        ("networking.istio.io", "Gateway") => {
            for server in items(value, &["spec", "servers"]) {
                let port = number(server, &["port", "number"]).unwrap_or_default();
                if let Some(tls) = server.get("tls").filter(|tls| word(tls, &["mode"]) != "PASSTHROUGH") {
                    let place = format!("{port} {}", word(server, &["port", "name"]));
                    found.insert(place, minor(word(tls, &["minProtocolVersion"])).unwrap_or(DEFAULT));
                }
            }
        }
        // Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/configmap, `ssl-protocols`: "TLSv1.2 TLSv1.3".
        ("", "ConfigMap") => {
            let all = word(value, &["data", "ssl-protocols"]).split_whitespace();
            found.insert(String::new(), all.filter_map(minor).min().unwrap_or(DEFAULT));
        }
        (group, kind) => {
            let is_it = |(of, named, _): &&(&str, &str, &[&str])| (*of, *named) == (group, kind);
            if let Some((.., path)) = LOWEST.iter().find(is_it) {
                found.insert(String::new(), minor(word(value, path)).unwrap_or(DEFAULT));
            }
        }
    }
    for key in POLICIES {
        let policy = word(value, &["metadata", "annotations", key]);
        found.extend(of_policy(policy).map(|minor| (key.to_owned(), minor)));
    }
    found
}

/// `TLSV1_2`, `VersionTLS12`, `TLSv1.2`, `1.2`.
fn minor(version: &str) -> Option<Minor> {
    let digits: String = version.chars().filter(char::is_ascii_digit).collect();
    match digits.as_str() {
        "1" | "10" => Some(0),
        "11" => Some(1),
        "12" => Some(2),
        "13" => Some(3),
        _ => None,
    }
}

/// `ELBSecurityPolicy-TLS13-1-2-2021-06`, `ELBSecurityPolicy-TLS-1-1-2017-01`, `ELBSecurityPolicy-FS-1-2-Res-2020-10`.
fn of_policy(policy: &str) -> Option<Minor> {
    let name = policy.strip_prefix("ELBSecurityPolicy-")?;
    if name == "2016-08" {
        return Some(0);
    }
    let rest = ["TLS13-1-", "TLS-1-", "FS-1-"].iter().find_map(|start| name.strip_prefix(start))?;
    rest.split('-').next()?.parse().ok()
}

/// Whether Traefik takes any certificate of all backends, by an argument of it.
///
/// Reference: doc.traefik.io reference/install-configuration/configuration-options, `serversTransport.insecureSkipVerify`.
pub(super) fn takes_any(arguments: &[Value]) -> bool {
    arguments.iter().filter_map(Value::as_str).any(|argument| {
        let argument = argument.to_ascii_lowercase();
        let (name, is_on) = argument.split_once('=').unwrap_or((&argument, "true"));
        name == "--serverstransport.insecureskipverify" && is_on == "true"
    })
}
