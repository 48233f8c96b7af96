//! Hosts that are served: by their names, by a pattern, or all of them.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::domain::covers;
use super::{Placed, Side, gateways, ingress_class, istio_gateways, items, word};

/// The hosts that some objects serve.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    names: BTreeSet<String>,
    patterns: BTreeSet<Pattern>,
}

/// Many hosts, and who serves them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    /// `.example.com` of `*.example.com`; nothing for all hosts.
    domain: String,
    /// Whether more than one label may be in place of the `*`.
    is_deep: bool,
    through: Through,
}

/// By which class of Ingress controllers, or by which listeners of Gateways, an object is served.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) enum Through {
    Class(String),
    /// Each as namespace, Gateway and listener; this is empty for all listeners.
    Gateways(BTreeSet<[String; 3]>),
}

/// In place of a class, for the routes of Traefik's own kind.
const TRAEFIK: &str = "IngressRoute";

/// In place of a class, for the VirtualServices of Istio that are served by a Gateway.
const ISTIO: &str = "VirtualService";

/// The hosts that a VirtualService serves to the outside: by a Gateway, and none of the cluster's own names.
pub(in crate::diff) fn public_hosts<'m>(of: Placed<'m>) -> Vec<&'m str> {
    let is_it = (of.manifest.home_group(), of.manifest.kind()) == ("networking.istio.io", "VirtualService");
    if !is_it || istio_gateways(of).is_empty() {
        return Vec::new();
    }
    let all = items(of.manifest.object(), &["spec", "hosts"]).iter().filter_map(Value::as_str);
    let is_inside = |host: &&str| host.ends_with(".local") || host.ends_with(".svc");
    all.filter(|host| (host.contains('.') || *host == "*") && !is_inside(host)).collect()
}

impl Through {
    /// That of the VirtualServices of Istio.
    pub(in crate::diff) fn istio() -> Self {
        Self::Class(ISTIO.to_owned())
    }

    /// None for an object that serves no hosts for others.
    pub(in crate::diff) fn of(placed: Placed<'_>) -> Option<Self> {
        let object = placed.manifest.object();
        match (placed.manifest.home_group(), placed.manifest.kind()) {
            ("networking.k8s.io", "Ingress") => Some(Self::Class(ingress_class(object).to_owned())),
            ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute") => {
                let parent = |parent: &Value| {
                    let namespace = match word(parent, &["namespace"]) {
                        "" => placed.namespace,
                        namespace => namespace,
                    };
                    [namespace, word(parent, &["name"]), word(parent, &["sectionName"])].map(str::to_owned)
                };
                Some(Self::Gateways(items(object, &["spec", "parentRefs"]).iter().map(parent).collect()))
            }
            ("traefik.io" | "traefik.containo.us", "IngressRoute") => Some(Self::Class(TRAEFIK.to_owned())),
            _ => None,
        }
    }

    /// Whether some requests to one get to the other.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Class(one), Self::Class(other)) => one == other,
            (Self::Gateways(some), Self::Gateways(others)) => {
                let is_same = |[namespace, name, _]: &[String; 3], other: &[String; 3]| {
                    [namespace, name] == [&other[0], &other[1]]
                };
                some.iter().any(|one| others.iter().any(|other| is_same(one, other)))
            }
            _ => false,
        }
    }
}

impl Hosts {
    /// Adds those of an object.
    ///
    /// Reference: kubernetes docs/concepts/services-networking/ingress, "Hostname wildcards" (one label), "Ingress rules" (no host is
    /// all of them); gateway-api HTTPRoute `hostnames` (one label or more; without any, those of the listener).
    pub(super) fn add(&mut self, placed: Placed<'_>) {
        let hosts = super::hosts(placed.manifest);
        for host in public_hosts(placed) {
            let through = Through::Class(ISTIO.to_owned());
            let domain = host.strip_prefix('*').map(str::to_owned);
            self.patterns.extend(domain.map(|domain| Pattern { domain, is_deep: true, through }));
            self.names.insert(host.to_owned());
        }
        let Some(through) = Through::of(placed) else {
            return self.names.extend(hosts.into_iter().map(str::to_owned));
        };
        let is_deep = matches!(through, Through::Gateways(_));
        let is_for_all = match placed.manifest.kind() {
            "Ingress" => has_rule_for_all(placed),
            "IngressRoute" => {
                let mut routes = items(placed.manifest.object(), &["spec", "routes"]).iter();
                // What an expression is for is not known here.
                routes.any(|route| !word(route, &["match"]).contains("Host(`"))
            }
            _ => hosts.is_empty(),
        };
        let pattern = |domain: &str| Pattern { domain: domain.to_owned(), is_deep, through: through.clone() };
        self.patterns.extend(is_for_all.then(|| pattern("")));
        for host in hosts {
            self.patterns.extend(host.strip_prefix('*').map(pattern));
            self.names.insert(host.to_owned());
        }
    }

    /// Whether a host that was served `through` somewhere is.
    pub(super) fn serve(&self, host: &str, through: Option<&Through>, side: Option<&Side<'_>>) -> bool {
        self.names.contains(host) || self.patterns.iter().any(|pattern| pattern.serves(host, through, side))
    }
}

/// Whether an Ingress serves all hosts.
fn has_rule_for_all(ingress: Placed<'_>) -> bool {
    let object = ingress.manifest.object();
    let mut rules = items(object, &["spec", "rules"]).iter();
    rules.any(|rule| word(rule, &["host"]).is_empty())
        || ["defaultBackend", "backend"].iter().any(|key| object.at(&["spec", key]).is_some())
}

impl Pattern {
    fn serves(&self, host: &str, through: Option<&Through>, side: Option<&Side<'_>>) -> bool {
        let is_one = self.domain.is_empty() && through.is_some_and(|through| through.meets(&self.through));
        (is_one || covers(&self.domain, self.is_deep, host)) && self.is_let_in(host, side)
    }

    /// Whether a listener takes requests to the host, where they are known.
    fn is_let_in(&self, host: &str, side: Option<&Side<'_>>) -> bool {
        match (&self.through, side) {
            (Through::Gateways(all), Some(side)) => {
                all.is_empty() || all.iter().any(|one| gateways::takes(side, one, host) != Some(false))
            }
            _ => true,
        }
    }
}
