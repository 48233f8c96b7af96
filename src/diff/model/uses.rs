//! What an object needs of others, and how.

mod named;
mod references;

use go_yaml::Value;

use super::pods::{containers, running, spec};
use super::thing::{DEFINITION, Thing};
use super::{Placed, ingress_service, items, word};

/// One thing that an object names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::diff) struct Use {
    /// What it names.
    pub thing: Thing,
    /// What for.
    pub how: How,
    /// The key of a ConfigMap or Secret, where it names one.
    pub key: Option<String>,
    /// Whether it does without where the thing is not there.
    pub is_optional: bool,
}

/// What a thing is named for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) enum How {
    /// Environment variables, which have the value of when the container started.
    Environment,
    /// A file that is mounted by itself, which is not updated.
    SubPath,
    /// Files that are updated.
    Files,
    /// A volume of a claim.
    Claim,
    /// What Pods need before they are made: an account, a class.
    Pods,
    /// Storage for claims that are made.
    Storage,
    /// Where requests go.
    Backend,
    /// A certificate that is served.
    Certificate,
    /// Whom the API server asks.
    Webhook,
    /// Rights.
    Rights,
    /// The controller that does what the object asks for.
    Controller,
    /// What decides whether a rollout goes on.
    Analysis,
    /// A login to a registry.
    Pull,
    /// What a controller reads for the object, now or later.
    Named,
}

/// All that an object names of what others provide.
pub(in crate::diff) fn uses(of: Placed<'_>) -> Vec<Use> {
    let mut found = Found { uses: Vec::new(), namespace: of.namespace };
    if let Some(pods) = spec(of.manifest) {
        found.pods(pods);
    }
    let object = of.manifest.object();
    match (of.manifest.home_group(), of.manifest.kind()) {
        ("apps", "StatefulSet") => {
            for claim in items(object, &["spec", "volumeClaimTemplates"]) {
                found.cluster(How::Storage, "StorageClass", word(claim, &["spec", "storageClassName"]));
            }
        }
        ("networking.k8s.io", "Ingress") => found.ingress(object),
        ("gateway.networking.k8s.io", kind) if kind.ends_with("Route") => found.route(object),
        ("gateway.networking.k8s.io", "Gateway") => {
            for listener in items(object, &["spec", "listeners"]) {
                for one in items(listener, &["tls", "certificateRefs"]) {
                    found.in_namespace(How::Certificate, "Secret", one);
                }
            }
        }
        ("networking.istio.io", "VirtualService") => {
            found.virtual_service(object);
            found.gateways(of);
        }
        ("", "ServiceAccount") => found.pull_secrets(object),
        ("traefik.io" | "traefik.containo.us", "IngressRoute") => {
            for route in items(object, &["spec", "routes"]) {
                for service in items(route, &["services"]).iter().filter(|one| is_service(one)) {
                    found.in_namespace(How::Backend, "Service", service);
                }
                for middleware in items(route, &["middlewares"]) {
                    found.in_namespace(How::Controller, "Middleware", middleware);
                }
            }
            found.add(How::Certificate, "Secret", word(object, &["spec", "tls", "secretName"]));
        }
        ("keda.sh", "ScaledObject" | "ScaledJob") => {
            for trigger in items(object, &["spec", "triggers"]) {
                let name = word(trigger, &["authenticationRef", "name"]);
                match word(trigger, &["authenticationRef", "kind"]) {
                    "ClusterTriggerAuthentication" => {
                        found.cluster(How::Controller, "ClusterTriggerAuthentication", name)
                    }
                    _ => found.add(How::Controller, "TriggerAuthentication", name),
                }
            }
        }
        ("admissionregistration.k8s.io", _) => {
            for webhook in items(object, &["webhooks"]) {
                let is_optional = word(webhook, &["failurePolicy"]) == "Ignore";
                found.service(webhook.at(&["clientConfig", "service"]), is_optional);
            }
        }
        ("apiregistration.k8s.io", "APIService") => found.service(object.at(&["spec", "service"]), false),
        ("apiextensions.k8s.io", DEFINITION) => {
            found.service(object.at(&["spec", "conversion", "webhook", "clientConfig", "service"]), false);
        }
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            let role = word(object, &["roleRef", "name"]);
            match word(object, &["roleRef", "kind"]) {
                "ClusterRole" => found.cluster(How::Rights, "ClusterRole", role),
                _ => found.add(How::Rights, "Role", role),
            }
        }
        ("cert-manager.io", "Certificate") => {
            let issuer = word(object, &["spec", "issuerRef", "name"]);
            match word(object, &["spec", "issuerRef", "kind"]) {
                "ClusterIssuer" => found.cluster(How::Controller, "ClusterIssuer", issuer),
                "" | "Issuer" => found.add(How::Controller, "Issuer", issuer),
                _ => {}
            }
        }
        ("argoproj.io", "Rollout") => found.rollout(object),
        ("argoproj.io", "AnalysisTemplate" | "ClusterAnalysisTemplate") => {
            found.templates(items(object, &["spec", "templates"]));
        }
        ("external-secrets.io", "ExternalSecret") => {
            let store = word(object, &["spec", "secretStoreRef", "name"]);
            match word(object, &["spec", "secretStoreRef", "kind"]) {
                "ClusterSecretStore" => found.cluster(How::Controller, "ClusterSecretStore", store),
                _ => found.add(How::Controller, "SecretStore", store),
            }
        }
        _ => {}
    }
    if of.manifest.home_group().contains('.') && !of.manifest.home_group().ends_with(".k8s.io") {
        found.cluster(How::Controller, DEFINITION, &format!("{}.{}", of.manifest.kind(), of.manifest.home_group()));
        let named = object.get("spec").map(|spec| named::named(spec, of.namespace)).unwrap_or_default();
        found.uses.extend(named.into_iter().map(|thing| Use { thing, how: How::Named, key: None, is_optional: false }));
        let referred = references::named(of).into_iter();
        found.uses.extend(referred.map(|thing| Use { thing, how: How::Controller, key: None, is_optional: false }));
    }
    found.uses
}

/// In place of a Gateway, for all proxies of the mesh.
const MESH: &str = "mesh";

/// The Gateways that a VirtualService names, each with its namespace.
///
/// Reference: istio.io docs/reference/config/networking/virtual-service, `gateways`: `NAMESPACE/NAME`, or a name of its own namespace.
pub(in crate::diff) fn istio_gateways(of: Placed<'_>) -> Vec<[String; 2]> {
    let all = items(of.manifest.object(), &["spec", "gateways"]).iter().filter_map(Value::as_str);
    let named = all.filter(|name| *name != MESH);
    named
        .map(|name| name.split_once('/').unwrap_or((of.namespace, name)))
        .map(|(home, name)| [home, name].map(str::to_owned))
        .collect()
}

fn is_service(reference: &Value) -> bool {
    matches!(word(reference, &["kind"]), "" | "Service")
}

struct Found<'n> {
    uses: Vec<Use>,
    namespace: &'n str,
}

impl Found<'_> {
    fn push(&mut self, how: How, (kind, namespace, name): (&'static str, &str, &str)) -> Option<&mut Use> {
        if name.is_empty() {
            return None;
        }
        let thing = Thing { kind, namespace: namespace.to_owned(), name: name.to_owned() };
        self.uses.push(Use { thing, how, key: None, is_optional: false });
        self.uses.last_mut()
    }

    fn add(&mut self, how: How, kind: &'static str, name: &str) {
        self.push(how, (kind, self.namespace, name));
    }

    fn cluster(&mut self, how: How, kind: &'static str, name: &str) {
        self.push(how, (kind, "", name));
    }

    /// A reference of its own shape: `name`, `key` and `optional` in one mapping.
    fn reference(&mut self, how: How, kind: &'static str, reference: Option<&Value>) {
        let Some(reference) = reference else { return };
        let is_optional = reference.get("optional").and_then(Value::as_bool) == Some(true);
        let key = reference.get("key").and_then(Value::as_str).map(str::to_owned);
        if let Some(one) = self.push(how, (kind, self.namespace, word(reference, &["name"]))) {
            (one.key, one.is_optional) = (key, is_optional);
        }
    }

    fn service(&mut self, service: Option<&Value>, is_optional: bool) {
        let Some(service) = service else { return };
        let place = ("Service", word(service, &["namespace"]), word(service, &["name"]));
        if let Some(one) = self.push(How::Webhook, place) {
            one.is_optional = is_optional;
        }
    }

    fn pods(&mut self, pods: &Value) {
        for (_, container) in containers(pods) {
            for variable in items(container, &["env"]) {
                let from = |key| variable.at(&["valueFrom", key]);
                self.reference(How::Environment, "ConfigMap", from("configMapKeyRef"));
                self.reference(How::Environment, "Secret", from("secretKeyRef"));
            }
            for source in items(container, &["envFrom"]) {
                self.reference(How::Environment, "ConfigMap", source.get("configMapRef"));
                self.reference(How::Environment, "Secret", source.get("secretRef"));
            }
        }
        for volume in items(pods, &["volumes"]) {
            self.volume(pods, volume);
        }
        self.pull_secrets(pods);
        self.add(How::Pods, "ServiceAccount", word(pods, &["serviceAccountName"]));
        self.cluster(How::Pods, "PriorityClass", word(pods, &["priorityClassName"]));
        self.cluster(How::Pods, "RuntimeClass", word(pods, &["runtimeClassName"]));
    }

    /// Of Pods, or of an account that gives them to its Pods.
    ///
    /// Reference: kubernetes docs/tasks/configure-pod-container/configure-service-account, "Add ImagePullSecrets to a service account".
    fn pull_secrets(&mut self, of: &Value) {
        for secret in items(of, &["imagePullSecrets"]) {
            self.add(How::Pull, "Secret", word(secret, &["name"]));
        }
    }

    fn volume(&mut self, pods: &Value, volume: &Value) {
        let single = sub_paths(pods, word(volume, &["name"]));
        let mut sources = vec![volume];
        sources.extend(items(volume, &["projected", "sources"]));
        for source in sources {
            self.files(&single, "ConfigMap", (source.get("configMap"), "name"));
            let key = if source.at(&["secret", "secretName"]).is_some() { "secretName" } else { "name" };
            self.files(&single, "Secret", (source.get("secret"), key));
        }
        self.add(How::Claim, "PersistentVolumeClaim", word(volume, &["persistentVolumeClaim", "claimName"]));
        let class = ["csi", "volumeAttributes", "secretProviderClass"];
        self.add(How::Files, "SecretProviderClass", word(volume, &class));
    }

    /// A ConfigMap or Secret that is mounted: each key that is named, else all of it. `single` are the files of it that are
    /// mounted by themselves, where it is not mounted otherwise.
    fn files(&mut self, single: &[&str], kind: &'static str, (source, name): (Option<&Value>, &str)) {
        let Some(source) = source else { return };
        let is_optional = source.get("optional").and_then(Value::as_bool) == Some(true);
        let how = if single.is_empty() { How::Files } else { How::SubPath };
        // A folder of containers that end is read once, and all of it.
        let single: &[&str] = if single.contains(&"") { &[] } else { single };
        let named = items(source, &["items"]).iter();
        let named = named.filter(|item| single.is_empty() || single.contains(&word(item, &["path"])));
        let mut keys: Vec<Option<String>> = named.map(|item| Some(word(item, &["key"]).to_owned())).collect();
        if keys.is_empty() && !items(source, &["items"]).is_empty() {
            return;
        }
        if keys.is_empty() {
            keys = single.iter().map(|key| Some((*key).to_owned())).collect();
        }
        if keys.is_empty() {
            keys.push(None);
        }
        for key in keys {
            if let Some(one) = self.push(how, (kind, self.namespace, word(source, &[name]))) {
                (one.key, one.is_optional) = (key, is_optional);
            }
        }
    }

    /// Reference: argoproj/argo-rollouts docs/features/analysis, experiment; pkg/apis/rollouts/v1alpha1 `AnalysisTemplateRef`.
    fn rollout(&mut self, object: &Value) {
        let strategy = |path: &[&str]| object.at(&[&["spec", "strategy"], path].concat());
        let analyses = [
            strategy(&["canary", "analysis"]),
            strategy(&["blueGreen", "prePromotionAnalysis"]),
            strategy(&["blueGreen", "postPromotionAnalysis"]),
        ];
        for analysis in analyses.into_iter().flatten() {
            self.templates(items(analysis, &["templates"]));
        }
        let services = [
            ("canary", "canaryService"),
            ("canary", "stableService"),
            ("blueGreen", "activeService"),
            ("blueGreen", "previewService"),
        ];
        for (way, field) in services {
            self.add(How::Analysis, "Service", word(object, &["spec", "strategy", way, field]));
        }
        for step in items(object, &["spec", "strategy", "canary", "steps"]) {
            self.templates(items(step, &["analysis", "templates"]));
            self.templates(items(step, &["experiment", "analyses"]));
        }
    }

    fn templates(&mut self, references: &[Value]) {
        for one in references {
            let name = word(one, &["templateName"]);
            match one.get("clusterScope").and_then(Value::as_bool) {
                Some(true) => self.cluster(How::Analysis, "ClusterAnalysisTemplate", name),
                _ => self.add(How::Analysis, "AnalysisTemplate", name),
            }
        }
    }

    fn ingress(&mut self, object: &Value) {
        for default in ["defaultBackend", "backend"] {
            self.add(How::Backend, "Service", ingress_service(object.at(&["spec", default])));
        }
        for rule in items(object, &["spec", "rules"]) {
            for path in items(rule, &["http", "paths"]) {
                self.add(How::Backend, "Service", ingress_service(path.get("backend")));
            }
        }
        for tls in items(object, &["spec", "tls"]) {
            self.add(How::Certificate, "Secret", word(tls, &["secretName"]));
        }
        self.cluster(How::Controller, "IngressClass", word(object, &["spec", "ingressClassName"]));
        let annotation = |key| word(object, &["metadata", "annotations", key]);
        self.cluster(How::Controller, "ClusterIssuer", annotation("cert-manager.io/cluster-issuer"));
        self.add(How::Controller, "Issuer", annotation("cert-manager.io/issuer"));
        for key in ["nginx.ingress.kubernetes.io/auth-secret", "nginx.ingress.kubernetes.io/auth-tls-secret"] {
            match annotation(key).split_once('/') {
                Some((namespace, name)) => drop(self.push(How::Named, ("Secret", namespace, name))),
                None => self.add(How::Named, "Secret", annotation(key)),
            }
        }
        // Reference: doc.traefik.io reference/routing-configuration/kubernetes/ingress: namespace and name with a dash between them.
        for name in annotation("traefik.ingress.kubernetes.io/router.middlewares").split(',') {
            let name = name.trim().strip_suffix("@kubernetescrd").unwrap_or_default();
            let own = name.strip_prefix(self.namespace).and_then(|rest| rest.strip_prefix('-'));
            self.add(How::Controller, "Middleware", own.unwrap_or_default());
        }
    }

    fn route(&mut self, object: &Value) {
        for rule in items(object, &["spec", "rules"]) {
            for backend in items(rule, &["backendRefs"]) {
                if matches!(word(backend, &["kind"]), "" | "Service") {
                    self.in_namespace(How::Backend, "Service", backend);
                }
            }
        }
        for parent in items(object, &["spec", "parentRefs"]) {
            if matches!(word(parent, &["kind"]), "" | "Gateway") {
                self.in_namespace(How::Controller, "Gateway", parent);
            }
        }
    }

    fn in_namespace(&mut self, how: How, kind: &'static str, reference: &Value) {
        let namespace = match word(reference, &["namespace"]) {
            "" => self.namespace,
            namespace => namespace,
        };
        self.push(how, (kind, namespace, word(reference, &["name"])));
    }

    /// A host of Istio is a Service where it is its name, or its name in the cluster's DNS.
    fn virtual_service(&mut self, object: &Value) {
        for sort in ["http", "tcp", "tls"] {
            for rule in items(object, &["spec", sort]) {
                for route in items(rule, &["route"]) {
                    self.host(word(route, &["destination", "host"]));
                }
            }
        }
    }

    /// The Gateways by which requests get in; without them, those of the mesh still do where it is one of them.
    fn gateways(&mut self, of: Placed<'_>) {
        let is_optional =
            items(of.manifest.object(), &["spec", "gateways"]).iter().any(|one| one.as_str() == Some(MESH));
        for [namespace, name] in istio_gateways(of) {
            if let Some(one) = self.push(How::Controller, ("Gateway", &namespace, &name)) {
                one.is_optional = is_optional;
            }
        }
    }

    fn host(&mut self, host: &str) {
        let mut parts = host.split('.');
        let (name, namespace, rest) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        match (namespace, rest) {
            (None, _) => self.add(How::Backend, "Service", name),
            (Some(namespace), Some("svc")) => drop(self.push(How::Backend, ("Service", namespace, name))),
            _ => {}
        }
    }
}

/// The single files by which a volume is mounted; none where a container that runs on has it as a folder, whose files are updated. For
/// one that only containers have which end before the others start, this is all of it.
fn sub_paths<'p>(pods: &'p Value, volume: &str) -> Vec<&'p str> {
    let paths = |containers: Vec<&'p Value>| -> Vec<&'p str> {
        let all = containers.into_iter().flat_map(|container| items(container, &["volumeMounts"]));
        all.filter(|mount| word(mount, &["name"]) == volume).map(|mount| word(mount, &["subPath"])).collect()
    };
    let of_running = paths(running(pods).map(|(_, container)| container).collect());
    match of_running.is_empty() {
        true => paths(containers(pods).map(|(_, container)| container).collect()),
        false if of_running.contains(&"") => Vec::new(),
        false => of_running,
    }
}
