//! What a reviewer reads of changes that commits of public repositories made, by the whole way of a preview.

use super::{clone, commit_web, json};
use crate::push::{application, config_map};
use crate::support::Repo;

/// What is said of a commit that puts `new` in place of `old`, of an Application that prunes: severity and kind, in order.
fn said(old: &[String], new: &[String]) -> Vec<String> {
    let clone = clone();
    let (file, text) = application("web", "dev");
    clone.commit("prune", &[(&file, &text.replace("spec:\n", "spec:\n  syncPolicy: {automated: {prune: true}}\n"))]);
    commit_web(&clone, old);
    clone.push().success();
    commit_web(&clone, new);
    dangers(&clone)
}

fn dangers(clone: &Repo) -> Vec<String> {
    let shown = json(clone, &[], 1);
    let dangers = shown["environments"][0]["dangers"].as_array().cloned().unwrap_or_default();
    dangers
        .iter()
        .map(|danger| {
            let text = |key: &str| danger[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("severity"), text("kind"))
        })
        .collect()
}

fn objects(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| format!("{text}\n")).collect()
}

/// A workload of a version, with a selector or without.
fn workload(version: &str, selector: &str, labels: &str) -> String {
    format!(
        "apiVersion: {version}\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n{selector}  template:\n    metadata: {{labels: \
         {labels}}}\n    spec: {{containers: [{{name: web, image: 'web:1'}}]}}\n"
    )
}

#[test]
fn a_deployment_without_a_selector_that_goes_to_apps_v1_is_one_object_and_not_refused() {
    let selector = "  selector: {matchLabels: {app: web}}\n";
    for version in ["apps/v1beta1", "extensions/v1beta1"] {
        let clone = clone();
        commit_web(&clone, &[workload(version, "", "{app: web}")]);
        clone.push().success();
        commit_web(&clone, &[workload("apps/v1", selector, "{app: web}")]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        assert!(shown.contains("    ~ Deployment web\n") && !shown.contains("refused"), "{shown}");
        commit_web(&clone, &[workload("apps/v1", "  selector: {matchLabels: {app: shop}}\n", "{app: shop}")]);
        assert_eq!(dangers(&clone), ["refused immutable"], "{version}");
    }
}

#[test]
fn a_deployment_or_an_ingress_of_extensions_that_goes_is_an_outage() {
    let ingress = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: web}\nspec: {rules: [{host: shop.example.com, \
                   http: {paths: [{path: /, backend: {serviceName: web, servicePort: 80}}]}}]}";
    let old = [workload("extensions/v1beta1", "", "{app: web}"), format!("{ingress}\n")];
    assert_eq!(said(&old, &[config_map("web", "one")]), ["outage removed", "outage hostGone"]);
}

#[test]
fn a_replication_controller_that_goes_is_an_outage() {
    let controller = "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: web}\nspec: {replicas: 2, selector: {app: web}, \
                      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'web:1'}]}}}";
    assert_eq!(said(&objects(&[controller]), &[config_map("web", "one")]), ["outage removed"]);
}

#[test]
fn a_headless_service_that_loses_a_port_is_still_found_by_its_name() {
    let service = |address: &str, ports: &str| {
        vec![format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: etcd}}\nspec: {{{address}selector: {{app: etcd}}, ports: [{ports}]}}\n"
        )]
    };
    let (both, one) = ("{name: a, port: 2379}, {name: b, port: 80}", "{name: b, port: 80}");
    assert_eq!(said(&service("clusterIP: None, ", both), &service("clusterIP: None, ", one)), [""; 0]);
    assert_eq!(said(&service("", both), &service("", one)), ["outage portGone"]);
}

#[test]
fn routes_of_two_gateways_that_swap_their_names_send_requests_where_they_went() {
    let route = |name: &str, gateway: &str, backend: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}}}\nspec:\n  parentRefs: [{{name: \
             {gateway}, namespace: gateway}}]\n  hostnames: [cam.example.com]\n  rules: [{{backendRefs: [{{name: {backend}, port: \
             80}}]}}]\n"
        )
    };
    let old = [route("one", "outside", "proxy"), route("two", "inside", "cam")];
    assert_eq!(said(&old, &[route("one", "inside", "cam"), route("two", "outside", "proxy")]), [""; 0]);
    let swapped = said(&old, &[route("one", "outside", "cam"), route("two", "inside", "proxy")]);
    assert_eq!(swapped, ["other traffic", "other traffic"]);
    let clone = clone();
    commit_web(&clone, &old);
    clone.push().success();
    commit_web(&clone, &[route("one", "inside", "cam"), route("two", "outside", "login")]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.contains("go elsewhere: login 0% → 100%, proxy 100% → 0%") && !shown.contains("cam 0%"), "{shown}");
}

#[test]
fn nothing_is_said_of_growing_claims_where_only_a_label_of_their_template_changes() {
    let set = |labels: &str, size: &str| {
        format!(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db}}\nspec:\n  serviceName: db\n  selector: {{matchLabels: \
             {{app: db}}}}\n  template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: db, image: 'db:1'}}]}}}}\n  \
             volumeClaimTemplates:\n  - metadata: {{name: data, labels: {{{labels}}}}}\n    spec: {{accessModes: [ReadWriteOnce], \
             resources: {{requests: {{storage: {size}}}}}}}\n"
        )
    };
    let clone = clone();
    commit_web(&clone, &[set("", "1Gi")]);
    clone.push().success();
    for (labels, size, is_grown) in [("app: db", "1Gi", false), ("", "2Gi", true)] {
        commit_web(&clone, &[set(labels, size)]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        assert!(shown.contains("`--cascade=orphan`"), "{shown}");
        assert_eq!(shown.contains("kubectl patch pvc"), is_grown, "{shown}");
    }
}

#[test]
fn an_application_among_the_objects_of_another_one_that_goes_takes_what_it_deploys() {
    let child = |finalizers: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: child, namespace: argocd, finalizers: \
             [{finalizers}]}}\nspec: {{project: default, destination: {{name: a, namespace: b}}, source: {{repoURL: \
             'https://charts.example.com', chart: web, targetRevision: 1.0.0}}}}\n"
        )
    };
    let rest = [config_map("web", "one")];
    assert_eq!(said(&[child("resources-finalizer.argocd.argoproj.io"), rest[0].clone()], &rest), ["outage removed"]);
    assert_eq!(said(&[child(""), rest[0].clone()], &rest), ["other applicationOrphaned"]);
}

/// A Deployment that has its data on a claim.
fn on_claim(claim: &str) -> String {
    workload("apps/v1", "  selector: {matchLabels: {app: web}}\n", "{app: web}").replace(
        "    spec: {",
        &format!("    spec: {{volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim}}}}}], "),
    )
}

fn claim(name: &str) -> String {
    super::dangers::CLAIM.replace("name: data", &format!("name: {name}"))
}

#[test]
fn a_claim_of_an_application_that_does_not_change_is_there() {
    let clone = clone();
    let in_shop = |name: &str| {
        let (file, text) = application(name, "dev");
        (file, text.replace(&format!("namespace: {name}\n"), "namespace: shop\n"))
    };
    let files = ["web", "api"].map(in_shop);
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("a namespace for both", &files);
    clone.commit("a claim", &[("apps/api/dev/claim.yaml", &claim("media"))]);
    commit_web(&clone, &[on_claim("data"), claim("data")]);
    clone.push().success();
    commit_web(&clone, &[on_claim("media"), claim("data")]);
    let kinds = dangers(&clone);
    assert!(!kinds.iter().any(|kind| kind.ends_with("missing")), "{kinds:?}");
    commit_web(&clone, &[on_claim("nowhere"), claim("data")]);
    let kinds = dangers(&clone);
    assert!(kinds.iter().any(|kind| kind == "outage missing"), "{kinds:?}");
}

#[test]
fn a_host_that_an_application_which_does_not_change_serves_too_is_not_gone() {
    let clone = clone();
    let ingress = |name: &str, hosts: &[&str]| {
        let rules: Vec<String> = hosts.iter().map(|host| format!("{{host: {host}}}")).collect();
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {name}}}\nspec: {{rules: [{}]}}\n",
            rules.join(", ")
        )
    };
    clone.commit("another", &[("apps/api/dev/ingress.yaml", &ingress("api", &["shop.example.com"]))]);
    commit_web(&clone, &[ingress("web", &["shop.example.com", "www.example.com", "old.example.com"])]);
    clone.push().success();
    commit_web(&clone, &[ingress("web", &["www.example.com"])]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.contains("old.example.com is no longer served") && !shown.contains("shop.example.com is"), "{shown}");
}

#[test]
fn a_filesystem_of_ceph_is_not_said_to_be_lost_while_something_is_in_it() {
    let filesystem = "apiVersion: ceph.rook.io/v1\nkind: CephFilesystem\nmetadata: {name: files}\nspec: {metadataPool: {replicated: \
                      {size: 3}}}";
    assert_eq!(said(&objects(&[filesystem]), &[config_map("web", "one")]), ["other removed"]);
}

/// A definition with this schema of `spec`, and an object of it.
fn shop(schema: &str, spec: &str, label: &str) -> Vec<String> {
    vec![
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: shops.example.com}}\nspec: {{group: \
             example.com, scope: Namespaced, names: {{plural: shops, singular: shop, kind: Shop, listKind: ShopList}}, versions: [{{name: \
             v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {schema}}}}}}}}}]}}\n"
        ),
        format!(
            "apiVersion: example.com/v1\nkind: Shop\nmetadata: {{name: main, labels: {{a: {label}}}}}\nspec: {spec}\n"
        ),
    ]
}

#[test]
fn a_custom_resource_that_changes_with_its_definition_is_refused_for_what_changes() {
    let plain = "{type: object, properties: {size: {type: integer}, owner: {type: string}}}";
    let required = plain.replace("{type: object,", "{type: object, required: [region],");
    let required = required.replace("size:", "region: {type: string}, size:");
    let limited = plain.replace("owner: {type: string}", "owner: {type: string, enum: [us]}");
    let fixed =
        plain.replace("{type: integer}", "{type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}");
    let none: [&str; 0] = [];
    // (schema before and after, object before and after, what is said)
    let rows = [
        (plain, required.as_str(), ("{size: 3}", "x"), ("{size: 4}", "x"), &["refused invalid"][..]),
        (plain, required.as_str(), ("{size: 3}", "x"), ("{size: 3}", "z"), &none),
        (plain, limited.as_str(), ("{size: 3, owner: me}", "x"), ("{size: 4, owner: me}", "x"), &none),
        (plain, limited.as_str(), ("{size: 3, owner: us}", "x"), ("{size: 3, owner: me}", "x"), &["refused invalid"]),
        (fixed.as_str(), fixed.as_str(), ("{size: 3}", "x"), ("{size: 4}", "x"), &["refused invalid"]),
        (fixed.as_str(), fixed.as_str(), ("{size: 3}", "x"), ("{size: 3}", "z"), &none),
    ];
    for (before, after, old, new, expected) in rows {
        let found = said(&shop(before, old.0, old.1), &shop(after, new.0, new.1));
        assert_eq!(found, expected, "{before} {after} {old:?} {new:?}");
    }
}

#[test]
fn an_object_that_is_refused_for_several_reasons_is_one_danger() {
    let service =
        |ports: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{ports: {ports}}}\n");
    let found = said(&[service("[{port: 80}]")], &[service("[{port: 80, prot: 1, targetPrt: 2}]")]);
    assert_eq!(found, ["refused invalid"]);
}

#[test]
fn a_grant_of_an_application_that_does_not_change_may_let_a_route_in() {
    let clone = clone();
    let grant = "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: a, namespace: other}\nspec: {from: \
                 [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}], to: [{group: '', kind: Service}]}\n";
    clone.commit("grant", &[("apps/api/dev/config.yaml", grant)]);
    clone.push().success();
    for (namespace, expected) in [("other", &[][..]), ("third", &["other ungranted"])] {
        let route = format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: web, namespace: shop}}\nspec: {{rules: \
             [{{backendRefs: [{{name: api, namespace: {namespace}, port: 80}}]}}]}}\n"
        );
        commit_web(&clone, &[config_map("web", "dev"), route]);
        assert_eq!(dangers(&clone), expected, "{namespace}");
    }
}

#[test]
fn what_is_beside_an_object_that_an_api_server_refuses_is_judged_by_what_stays() {
    let port = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{app: web}}}}\n  \
             template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: web, image: 'web:1', ports: [{{name: \
             {name}, containerPort: 80}}]}}]}}\n"
        )
    };
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}\n";
    let found = said(&[port("http"), service.to_owned()], &[port("HTTP_PORT_THAT_IS_TOO_LONG"), service.to_owned()]);
    assert_eq!(found, ["refused invalid"]);
}
