//! Kinds as people type them.

use super::object::Object;

/// A kind as kubectl takes it: in any case, singular or plural, short, with or without its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KindName {
    kind: String,
    group: Option<String>,
}

/// What kubectl calls kinds for short, as far as manifests are likely to contain them.
const SHORT: [(&str, &str); 24] = [
    ("cj", "cronjob"),
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("ep", "endpoints"),
    ("hpa", "horizontalpodautoscaler"),
    ("ing", "ingress"),
    ("limits", "limitrange"),
    ("netpol", "networkpolicy"),
    ("ns", "namespace"),
    ("pc", "priorityclass"),
    ("pdb", "poddisruptionbudget"),
    ("po", "pod"),
    ("pv", "persistentvolume"),
    ("pvc", "persistentvolumeclaim"),
    ("quota", "resourcequota"),
    ("rc", "replicationcontroller"),
    ("rs", "replicaset"),
    ("sa", "serviceaccount"),
    ("sc", "storageclass"),
    ("sts", "statefulset"),
    ("svc", "service"),
    ("vs", "virtualservice"),
];

impl KindName {
    /// Reads `deployment`, `Deployments.apps` or `deploy`.
    pub(crate) fn new(text: &str) -> Self {
        let (kind, group) = text.split_once('.').map_or((text, None), |(kind, group)| (kind, Some(group)));
        let kind = kind.to_ascii_lowercase();
        let long = SHORT.iter().find(|(short, _)| *short == kind).map(|(_, long)| (*long).to_owned());
        Self { kind: long.unwrap_or(kind), group: group.map(str::to_ascii_lowercase) }
    }

    /// Whether an object is of this kind.
    pub(crate) fn matches(&self, object: &Object) -> bool {
        let kind = object.kind.to_ascii_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
            _ if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => format!("{kind}es"),
            _ => format!("{kind}s"),
        };
        let group = object.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let is_kind = self.kind == kind || self.kind == plural;
        is_kind && self.group.as_deref().is_none_or(|wanted| wanted == group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_as_kubectl_takes_them() {
        let rows = [
            ("Deployment", "apps/v1", "Deployment", true),
            ("deployments", "apps/v1", "Deployment", true),
            ("deploy", "apps/v1", "Deployment", true),
            ("deployment.apps", "apps/v1", "Deployment", true),
            ("deployment.extensions", "apps/v1", "Deployment", false),
            ("ingresses", "networking.k8s.io/v1", "Ingress", true),
            ("networkpolicies.networking.k8s.io", "networking.k8s.io/v1", "NetworkPolicy", true),
            ("gateways", "gateway.networking.k8s.io/v1", "Gateway", true),
            ("svc", "v1", "Service", true),
            ("svc", "serving.knative.dev/v1", "Service", true),
            ("secret", "v1", "ConfigMap", false),
        ];
        for (text, api_version, kind, expected) in rows {
            let object = Object {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                namespace: String::new(),
                name: "web".to_owned(),
            };
            assert_eq!(KindName::new(text).matches(&object), expected, "{text} {api_version} {kind}");
        }
    }
}
