//! Ports on which a load balancer takes requests, as the annotations of an Ingress list them.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Limits, Value, json};

use super::{Danger, Severity};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many ports are named.
const NAMED_MAX: usize = 4;

const PORTS: &str = "alb.ingress.kubernetes.io/listen-ports";
const CERTIFICATE: &str = "alb.ingress.kubernetes.io/certificate-arn";

fn annotation<'m>(ingress: &'m Manifest, key: &str) -> &'m str {
    word(ingress.object(), &["metadata", "annotations", key])
}

/// Each port with its protocol; none where the annotation cannot be read.
///
/// Reference: kubernetes-sigs.github.io aws-load-balancer-controller guide/ingress/annotations, `listen-ports`: HTTPS on 443 with a
/// certificate, else HTTP on 80.
fn ports(ingress: &Manifest) -> Option<BTreeSet<(String, i64)>> {
    let text = annotation(ingress, PORTS);
    if text.is_empty() {
        let is_encrypted = !annotation(ingress, CERTIFICATE).is_empty();
        let default = if is_encrypted { ("HTTPS", 443) } else { ("HTTP", 80) };
        return Some(BTreeSet::from([(default.0.to_owned(), default.1)]));
    }
    let value = json::decode(text.as_bytes(), &Limits::default()).ok()?;
    let mut found = BTreeSet::new();
    for (protocol, port) in value.as_sequence()?.iter().filter_map(Value::as_mapping).flatten() {
        let Value::Int(port) = port else { return None };
        found.insert((protocol.clone(), *port));
    }
    Some(found)
}

/// Ports that are closed, and requests that are answered in plain text on a port where they were encrypted.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let is_ingress = (new.home_group(), new.kind()) == ("networking.k8s.io", "Ingress");
    let is_alb = [old, new].iter().any(|one| !annotation(one, PORTS).is_empty());
    let Some((was, now)) = ports(old).zip(ports(new)).filter(|_| is_ingress && is_alb) else { return Vec::new() };
    let is_open = |port: i64| now.iter().any(|(_, one)| *one == port);
    let shown = |(protocol, port): &(String, i64)| format!("{protocol} {port}");
    let mut found = Vec::new();
    let closed: BTreeSet<String> = was.iter().filter(|(_, port)| !is_open(*port)).map(shown).collect();
    if !closed.is_empty() {
        let text =
            format!("its load balancer no longer listens on {}: who connects is refused", listed(closed, NAMED_MAX));
        let advice = "keep the port until nothing connects to it";
        found.push(Danger::said(Severity::Outage, "portGone", text, advice));
    }
    let is_plain = |port: i64| now.contains(&("HTTP".to_owned(), port));
    let open: BTreeSet<String> =
        was.iter().filter(|(sort, port)| sort == "HTTPS" && is_plain(*port)).map(shown).collect();
    if !open.is_empty() {
        let text = format!("requests that came by {} are taken in plain text", listed(open, NAMED_MAX));
        found.push(Danger::said(Severity::Security, "plainText", text, "keep HTTPS on the port"));
    }
    found
}
