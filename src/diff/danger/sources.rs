//! Addresses that may connect, by the ranges that Services, Ingresses and middlewares name.
//!
//! Reference: kubernetes docs/concepts/services-networking/service, `loadBalancerSourceRanges`; kubernetes.github.io/ingress-nginx
//! user-guide/nginx-configuration/annotations; doc.traefik.io reference/routing-configuration/http/middlewares/ipallowlist.

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::service_type;
use super::{Danger, Severity, items, ranges};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many ranges are named.
const NAMED_MAX: usize = 4;

/// Annotations of Ingresses that have ranges with commas between them.
const ANNOTATIONS: [&str; 3] = [
    "nginx.ingress.kubernetes.io/whitelist-source-range",
    "nginx.ingress.kubernetes.io/allowlist-source-range",
    "alb.ingress.kubernetes.io/inbound-cidrs",
];

fn texts<'m>(object: &'m Manifest, path: &[&str]) -> impl Iterator<Item = &'m str> + use<'m> {
    items(object.object(), path).iter().filter_map(Value::as_str)
}

/// The ranges that an object names.
fn named(object: &Manifest) -> Vec<&str> {
    match (object.home_group(), object.kind()) {
        ("", "Service") if service_type(object) == "LoadBalancer" => {
            texts(object, &["spec", "loadBalancerSourceRanges"]).collect()
        }
        ("networking.k8s.io", "Ingress") => {
            let annotations = ANNOTATIONS.iter().map(|key| word(object.object(), &["metadata", "annotations", key]));
            annotations.flat_map(|text| text.split(',')).map(str::trim).filter(|range| !range.is_empty()).collect()
        }
        ("traefik.io" | "traefik.containo.us", "Middleware" | "MiddlewareTCP") => {
            let lists = ["ipAllowList", "ipWhiteList"];
            lists.iter().flat_map(|list| texts(object, &["spec", list, "sourceRange"])).collect()
        }
        _ => Vec::new(),
    }
}

/// More addresses that may connect than before: those outside of private ranges, and those of a range that is wider now.
pub(super) fn widened(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (was, now) = (named(old), named(new));
    let is_all = ranges::are_all(now.iter().copied());
    // Of a Service that everybody reaches it is said elsewhere.
    if was.is_empty() || is_all && new.kind() == "Service" {
        return None;
    }
    let more = ranges::widened(&was, &now);
    (!more.is_empty()).then(|| {
        let from = if is_all { "every address".to_owned() } else { format!("{} as well", listed(more, NAMED_MAX)) };
        let text = format!("lets connections in from {from}");
        Danger::said(Severity::Security, "exposed", text, "check that those who may connect are in the ranges alone")
    })
}
