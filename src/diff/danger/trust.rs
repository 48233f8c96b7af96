//! Certificates that clients do not trust, and who is asked before a request gets through.

use go_yaml::Value;

use super::{Around, Danger, Severity, items, weak_tls};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// A certificate, or the issuer of some, that is no longer signed by whom clients trust.
///
/// Reference: cert-manager.io docs/configuration/selfsigned, letsencrypt.org/docs/staging-environment.
pub(super) fn distrusted<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let why = distrust(around.after(new), &around.model.after)?;
    distrust(around.before(old), &around.model.before).is_none().then(|| {
        let text = format!("{why}: clients do not trust its certificates");
        Danger::said(Severity::Security, "distrust", text, "keep an issuer that clients trust")
    })
}

/// Why clients do not trust what an object signs or asks for.
fn distrust(of: Placed<'_>, side: &Side<'_>) -> Option<String> {
    let object = of.manifest.object();
    match (of.manifest.home_group(), of.manifest.kind()) {
        ("cert-manager.io", "Issuer" | "ClusterIssuer") => issuer(of.manifest),
        ("cert-manager.io", "Certificate") => {
            let reference = |key| word(object, &["spec", "issuerRef", key]);
            let is_cluster = reference("kind") == "ClusterIssuer";
            named(reference("name"), if is_cluster { "ClusterIssuer" } else { "Issuer" }, of, side)
        }
        ("networking.k8s.io", "Ingress") => {
            let annotation = |key| word(object, &["metadata", "annotations", key]);
            let of_cluster = named(annotation("cert-manager.io/cluster-issuer"), "ClusterIssuer", of, side);
            of_cluster.or_else(|| named(annotation("cert-manager.io/issuer"), "Issuer", of, side))
        }
        _ => None,
    }
}

/// An issuer by its name: what it is where it is known, else what its name says.
fn named(name: &str, kind: &str, of: Placed<'_>, side: &Side<'_>) -> Option<String> {
    // One of the cluster is in no namespace, whatever its Application has for objects that name none.
    let is_here = |one: &Placed<'_>| kind == "ClusterIssuer" || one.namespace == of.namespace;
    let mut known = side.listed(kind).filter(is_here).map(|one| one.manifest).filter(|one| one.name() == name);
    if let Some(known) = known.next() {
        return issuer(known).map(|why| format!("{kind} {name}: {why}"));
    }
    let plain = name.to_lowercase().replace(['-', '_'], "");
    if plain.contains("selfsigned") {
        return Some(format!("{kind} {name} signs itself, as its name says"));
    }
    let is_staging = plain.contains("staging") && (plain.contains("letsencrypt") || plain.contains("acme"));
    is_staging.then(|| format!("{kind} {name} is one of Let's Encrypt's staging, as its name says"))
}

fn issuer(issuer: &Manifest) -> Option<String> {
    let object = issuer.object();
    if object.at(&["spec", "selfSigned"]).is_some() {
        return Some("certificates sign themselves".to_owned());
    }
    let server = word(object, &["spec", "acme", "server"]);
    server.contains("acme-staging").then(|| "certificates are those of Let's Encrypt's staging".to_owned())
}

/// Annotations of controllers that ask who connects, or from where.
///
/// Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/annotations; doc.traefik.io
/// reference/routing-configuration/kubernetes/ingress; docs of the AWS load balancer controller, guide/ingress/annotations.
const GUARDS: [(&str, &str); 11] = [
    ("nginx.ingress.kubernetes.io/auth-url", "nothing asks any more who connects"),
    ("nginx.ingress.kubernetes.io/auth-type", "no password is asked for any more"),
    ("nginx.ingress.kubernetes.io/auth-tls-secret", "no certificate of clients is asked for any more"),
    ("nginx.ingress.kubernetes.io/whitelist-source-range", "every address may connect"),
    ("nginx.ingress.kubernetes.io/allowlist-source-range", "every address may connect"),
    ("nginx.ingress.kubernetes.io/enable-modsecurity", "no firewall looks at requests any more"),
    ("nginx.ingress.kubernetes.io/proxy-ssl-verify", "certificates of its backends are not checked any more"),
    ("traefik.ingress.kubernetes.io/router.middlewares", "its middlewares no longer see requests"),
    ("alb.ingress.kubernetes.io/auth-type", "nothing asks any more who connects"),
    ("alb.ingress.kubernetes.io/inbound-cidrs", "every address may connect"),
    ("alb.ingress.kubernetes.io/wafv2-acl-arn", "no firewall looks at requests any more"),
];

const VERIFY: &str = "nginx.ingress.kubernetes.io/auth-tls-verify-client";

/// What stood in front of an Ingress and goes.
pub(super) fn unguarded(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if new.kind() != "Ingress" {
        return Vec::new();
    }
    let annotation = |manifest: &Manifest, key: &str| {
        let value = manifest.object().at(&["metadata", "annotations", key]).and_then(Value::as_str);
        value.is_some_and(|value| !value.is_empty() && !matches!(value, "none" | "false" | "off"))
    };
    let is_replaced = |key: &str| {
        let other = match key.split_once("whitelist") {
            Some((start, end)) => format!("{start}allowlist{end}"),
            None => key.replace("allowlist", "whitelist"),
        };
        annotation(new, &other)
    };
    let gone = GUARDS.iter().filter(|(key, _)| annotation(old, key) && !annotation(new, key) && !is_replaced(key));
    let said = |text| {
        Danger::said(Severity::Security, "unprotected", text, "keep the annotation, or what does its work elsewhere")
    };
    let mut found: Vec<Danger> = gone.map(|(key, what)| said(format!("`{key}` removed: {what}"))).collect();
    // Without it, a certificate is asked for.
    let asks = |ingress: &Manifest| {
        let value = |key| word(ingress.object(), &["metadata", "annotations", key]);
        let is_on = matches!(value(VERIFY), "" | "on");
        !value("nginx.ingress.kubernetes.io/auth-tls-secret").is_empty() && is_on
    };
    let has_secret = annotation(new, "nginx.ingress.kubernetes.io/auth-tls-secret");
    if asks(old) && !asks(new) && has_secret {
        let value = word(new.object(), &["metadata", "annotations", VERIFY]);
        found.push(said(format!("`auth-tls-verify-client: {value}`: clients without a certificate are let in")));
    }
    found
}

/// Where a field says that certificates of those whom requests are sent to are not checked: group, kind, path.
///
/// Reference: doc.traefik.io reference/routing-configuration/kubernetes/crd/http/serverstransport, tcp/serverstransporttcp; istio.io
/// docs/reference/config/networking/destination-rule, `ClientTLSSettings`; kubernetes API APIServiceSpec.
const UNCHECKED: [(&str, &str, &[&str]); 6] = [
    ("traefik.io", "ServersTransport", &["spec", "insecureSkipVerify"]),
    ("traefik.containo.us", "ServersTransport", &["spec", "insecureSkipVerify"]),
    ("traefik.io", "ServersTransportTCP", &["spec", "tls", "insecureSkipVerify"]),
    ("traefik.containo.us", "ServersTransportTCP", &["spec", "tls", "insecureSkipVerify"]),
    ("networking.istio.io", "DestinationRule", &["spec", "trafficPolicy", "tls", "insecureSkipVerify"]),
    (API_SERVICE.0, API_SERVICE.1, &["spec", "insecureSkipTLSVerify"]),
];

/// One that comes so is as its makers ship it: nothing was checked before.
const API_SERVICE: (&str, &str) = ("apiregistration.k8s.io", "APIService");

/// What takes any certificate from backends from now on.
pub(super) fn unchecked(old: Option<&Manifest>, new: &Manifest) -> Option<Danger> {
    const ADVICE: &str = "name the authority that signs them in place of this field";
    let takes_any = |object: &Manifest| {
        let mut containers = spec(object).into_iter().flat_map(containers);
        containers.any(|(_, one)| ["args", "command"].iter().any(|list| weak_tls::takes_any(items(one, &[list]))))
    };
    if takes_any(new) && !old.is_some_and(takes_any) {
        let text = "`serversTransport.insecureSkipVerify`: any certificate of all backends is taken, so what answers in their place reads the requests";
        return Some(Danger::said(Severity::Security, "unchecked", text.to_owned(), ADVICE));
    }
    let is_it = |(group, kind, _): &&(&str, &str, &[&str])| (new.home_group(), new.kind()) == (*group, *kind);
    let (.., path) = UNCHECKED.iter().find(is_it)?;
    let is_set = |object: &Manifest| object.object().at(path).and_then(Value::as_bool) == Some(true);
    let is_meant = old.is_none() && (new.home_group(), new.kind()) == API_SERVICE;
    (is_set(new) && !is_meant && !old.is_some_and(is_set)).then(|| {
        let text = format!(
            "`{}`: any certificate of its backends is taken, so what answers in their place reads the requests",
            path.join(".")
        );
        Danger::said(Severity::Security, "unchecked", text, ADVICE)
    })
}
