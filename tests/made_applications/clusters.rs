//! ApplicationSets that ask for clusters, and what they give where none is known.

use super::{FOUR, URL, dry, files, list, manifest, with_apps};
use crate::push::{both, config_map, tip};
use crate::support::Lab;

const CHART: &str = "{{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has \"example.com/v1\" }}";

#[test]
fn a_cluster_set_with_overlays_makes_an_application_for_each_cluster_of_the_list() {
    both(|server| {
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: shop}}
spec:
  generators:
  - clusters: {{selector: {{matchLabels: {{tier: shop}}}}}}
  template:
    metadata: {{name: 'shop-{{{{name}}}}'}}
    spec:
      destination: {{server: '{{{{server}}}}'}}
      sourceHydrator:
        drySource:
          repoURL: {URL}
          targetRevision: main
          path: '{{{{metadata.annotations.source}}}}'
        syncSource: {{targetBranch: 'clusters/{{{{name}}}}', path: shop}}
"
        );
        let cluster = |name: &str, source: &str, more: &str| {
            format!(
                "- name: {name}\n  server: https://{name}.example.com\n  labels: {{tier: shop}}\n  annotations: \
                 {{source: {source}}}\n{more}"
            )
        };
        let clusters = [
            cluster("blue", "overlays/blue", ""),
            cluster("green", "chart", "  kubeVersion: v1.31.7+x\n  apiVersions: [example.com/v1]\n"),
            "- {name: ops, server: 'https://ops.example.com'}\n".to_owned(),
        ]
        .concat();
        let chart = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: shop}}\ndata: {{seen: '{CHART}'}}\n");
        let clone = dry(
            server,
            &[
                ("set.yaml", &set),
                ("fleet/clusters.yaml", &clusters),
                ("base/kustomization.yaml", "resources: [config.yaml]\n"),
                ("base/config.yaml", &config_map("shop", "base")),
                ("overlays/blue/kustomization.yaml", "resources: [../../base]\nnamePrefix: blue-\n"),
                ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"),
                ("chart/templates/shop.yaml", &chart),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("only Argo CD knows the clusters"), "{told}");
        clone.commit("again", &[]);
        server.git(&["hydrate", "config", "set", "clusters", "fleet/clusters.yaml"]);
        server.git(&["hydrate", "config", "set", "madeApplications", "true"]);
        clone.push().success();
        assert!(manifest(server, "clusters/blue", "shop").contains("name: blue-shop"));
        assert!(manifest(server, "clusters/green", "shop").contains("seen: v1.31.7 true"));
        let metadata = server.git(&["show", "clusters/green:shop/hydrator.metadata"]);
        assert!(metadata.contains("--kube-version 1.31.7"), "{metadata}");
        assert!(server.git(&["branch", "--list", "clusters/ops", "clusters/in-cluster"]).is_empty());

        // A version that changes, and nothing else.
        clone.commit("upgrade", &[("fleet/clusters.yaml", &clusters.replace("1.31.7", "1.32.1"))]);
        clone.push().success();
        assert!(manifest(server, "clusters/green", "shop").contains("seen: v1.32.1 true"));

        // A list that nobody can read holds all, also what stands in files.
        let before = tip(server, "clusters/blue");
        clone.commit("slip", &[("fleet/clusters.yaml", &clusters.replace("- name: blue", "- nome: blue"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(
            told.contains("unknown field `nome` of a cluster") && told.contains("fleet/clusters.yaml:1:3"),
            "{told}"
        );
        assert_eq!(tip(server, "clusters/blue"), before);
    });
}

#[test]
fn a_matrix_of_files_and_a_list_tells_from_which_element_each_mistake_is() {
    both(|server| {
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: regions}}
spec:
  goTemplate: true
  generators:
  - matrix:
      generators:
      - git:
          repoURL: {URL}
          revision: main
          files: [{{path: 'regions/*.json'}}]
      - list:
          elements:
          - app: web
          - app: api
  template:
    metadata: {{name: '{{{{.region}}}}-{{{{.app}}}}'}}
    spec:
      sourceHydrator:
        drySource: {{repoURL: {URL}, targetRevision: main, path: 'apps/{{{{.app}}}}/dev'}}
        syncSource: {{targetBranch: 'regions/{{{{.region}}}}', path: '{{{{.app}}}}'}}
"
        );
        let files = [
            ("set.yaml", set.as_str()),
            ("regions/eu.json", "{\"region\": \"eu\"}"),
            ("regions/us.json", "{\"region\": \"us\"}"),
        ];
        let clone = with_apps(server, &files, &FOUR);
        clone.push().success();
        let tips = ["regions/eu", "regions/us"].map(|branch| tip(server, branch));
        // A new region, with a name that cannot be a branch.
        clone.commit("slip", &[("regions/xx.json", "{\"region\": \"x.lock\"}")]);
        let told = clone.push().success().remote().join("\n");
        let place = "made by ApplicationSet `regions` from element regions/xx.json and set.yaml:15:13";
        assert!(
            told.contains("`regions/x.lock` is not a valid branch name") && told.contains("set.yaml:22:36"),
            "{told}"
        );
        assert!(told.contains(place), "{told}");
        assert_eq!(["regions/eu", "regions/us"].map(|branch| tip(server, branch)), tips);
        // What does not render leads back, too.
        clone.commit(
            "break",
            &[
                ("regions/xx.json", ""),
                ("apps/api/dev/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n"),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("application: eu-api, us-api"), "{told}");
        assert!(
            told.contains("made by ApplicationSet `regions` from element regions/eu.json and set.yaml:16:13"),
            "{told}"
        );
    });
}

#[test]
fn what_clusters_keep_of_a_set_is_removed_only_when_the_commit_says_so() {
    both(|server| {
        let set = |elements: &[&str]| list("shop", elements, "  syncPolicy: {applicationsSync: create-only}\n");
        let all = ["web@dev", "api@dev", "mail@dev"];
        let apps = [("web", "dev"), ("api", "dev"), ("mail", "dev")];
        let clone = with_apps(server, &[("set.yaml", &set(&all))], &apps);
        clone.push().success();
        let before = tip(server, "environments/dev");
        clone.commit("take one away", &[("set.yaml", &set(&all[..2]))]);
        let told = clone.push().success().remote().join("\n");
        assert!(
            told.contains("clusters keep `mail-dev`: ApplicationSet `shop` has `applicationsSync: create-only`"),
            "{told}"
        );
        assert_eq!(tip(server, "environments/dev"), before);
        clone.commit("yes\n\nHydrate-Allow-Removal: environments/dev", &[]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains("mail"));
    });
}

#[test]
fn the_list_of_clusters_holds_what_a_set_needs_and_nothing_of_the_credentials() {
    let lab = Lab::new();
    let server = lab.server();
    let set = list("shop", &[], "").replace("  - list:\n      elements:\n", "  - clusters: {}\n");
    let set = set.replace("{{environment}}", "{{metadata.annotations.environment}}").replace("{{app}}", "{{name}}");
    let clone = with_apps(&server, &[("set.yaml", &set)], &[("eu", "dev"), ("us", "dev"), ("in-cluster", "dev")]);
    let secret = |name: &str| {
        // The marker is in every field but those that a list is to have, also as base64.
        format!(
            "- apiVersion: v1\n  kind: Secret\n  type: MARKER\n  MARKER: MARKER # MARKER\n  metadata:\n    name: \
             c-{name}\n    generateName: MARKER\n    uid: MARKER\n    resourceVersion: MARKER\n    selfLink: MARKER\n    \
             finalizers: [MARKER]\n    ownerReferences: [{{kind: MARKER, name: MARKER}}]\n    managedFields: [{{manager: \
             MARKER}}]\n    labels: {{argocd.argoproj.io/secret-type: cluster}}\n    annotations: {{environment: dev, token: \
             MARKER, MARKER: MARKER, kubectl.kubernetes.io/last-applied-configuration: '{{\"MARKER\": \"TUFSS0VS\"}}'}}\n  \
             data: {{config: TUFSS0VS, shard: TUFSS0VS, namespaces: TUFSS0VS, MARKER: TUFSS0VS}}\n  stringData: {{name: \
             {name}, server: 'https://{name}.example.com', config: '{{\"bearerToken\": \"MARKER\"}}', shard: MARKER, \
             namespaces: MARKER, clusterResources: MARKER, MARKER: MARKER}}\n  status: MARKER\n"
        )
    };
    let secrets = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", secret("us"), secret("eu"));
    std::fs::write(clone.path.join("eu.txt"), "Server Version: v1.33.4\nv1\napps/v1\n").expect("written");
    let list = clone.hydrate_with(&["clusters", "import", "--versions", "eu=eu.txt"], &secrets).success().stdout;
    let is_clean = |text: &str| !text.contains("MARKER") && !text.contains("TUFSS0VS");
    assert!(is_clean(&list) && list.contains("kubeVersion: v1.33.4"), "{list}");
    std::fs::remove_file(clone.path.join("eu.txt")).expect("removed");
    server.git(&["hydrate", "config", "set", "clusters", "clusters.yaml"]);
    clone.commit("clusters", &[("clusters.yaml", &format!("{list}- {{name: in-cluster, server: 'https://kubernetes.default.svc', annotations: {{environment: dev}}}}\n"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(files(&server, "environments/dev").contains("eu/manifest.yaml"), "{told}");
    let user = secrets.replace("https://eu", "https://admin:MARKER@eu");
    let refused = clone.hydrate_with(&["clusters", "import"], &user).exits(2);
    assert!(refused.stderr.contains("`c-eu` contains a user name") && is_clean(&refused.stderr), "{refused:?}");
}
