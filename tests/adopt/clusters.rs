//! What only Argo CD knows of clusters.

use std::fs;

use super::{BY_LABEL, URL, adopt, application, here};
use crate::made_applications::config;
use crate::support::Lab;

#[test]
fn charts_that_ask_for_an_unknown_cluster_are_told_with_their_lines() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n";
    let apis = "{{- if .Capabilities.APIVersions.Has \"monitoring.coreos.com/v1\" }}\n";
    let template =
        format!("{map}data:\n  kube: '{{{{ .Capabilities.KubeVersion.Version }}}}'\n---\n{apis}{map}{{{{- end }}}}\n");
    let versions = "path: chart, helm: {kubeVersion: '1.30', apiVersions: [monitoring.coreos.com/v1]}";
    let kube = "path: chart, helm: {kubeVersion: '1.30'}";
    let one = |name: &str, source: &str| application(name, "env: dev", &here("chart").replace("path: chart", source));
    let files = [
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("chart/templates/map.yaml", template),
        ("apps/web.yaml", one("web", "path: chart")),
        ("apps/kube.yaml", one("kube", kube)),
        ("apps/known.yaml", one("known", versions)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.commit("charts", &files);
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", BY_LABEL]).stdout;
    let line = |at: &str, names: &str| {
        format!(
            "  chart/templates/map.yaml:{at}: the chart asks for `.Capabilities` of a cluster that is not known, so what runs may differ: {names}\n"
        )
    };
    assert!(told.contains(&line("5:13", "web")) && told.contains(&line("7:8", "kube, web")), "{told}");
    assert!(
        told.contains("hint: name the versions that the cluster serves")
            && !told.contains("differ: known")
            && !told.contains(", known"),
        "{told}"
    );

    // A list of clusters tells them.
    let clusters =
        "- {name: in-cluster, server: https://kubernetes.default.svc, kubeVersion: '1.30', apiVersions: [v1]}\n";
    clone.commit("clusters", &[("clusters.yaml", clusters)]);
    clone.hydrate(&["config", "set", "clusters", "clusters.yaml"]);
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", BY_LABEL]).stdout;
    assert!(!told.contains(".Capabilities"), "{told}");
}

#[test]
fn what_only_argo_cd_knows_of_clusters_is_named_with_the_line_that_asks_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: everywhere, namespace: argocd}}\nspec:\n  generators: [{{matrix: {{generators: \
         [{{list: {{elements: [{{app: web}}]}}}}, {{clusters: {{selector: {{matchLabels: {{env: dev}}}}}}}}]}}}}]\n  template:\n    metadata: {{name: \
         '{{{{app}}}}-{{{{name}}}}', labels: {{team: '{{{{metadata.annotations.team}}}}'}}}}\n    spec: {{destination: {{server: '{{{{server}}}}', namespace: \
         shop}}, source: {{repoURL: '{URL}', targetRevision: HEAD, path: apps/web/dev}}}}\n"
    );
    let there = application("there", "env: dev", &here("apps/web/dev"))
        .replace("https://kubernetes.default.svc", "https://prod.example.com");
    let (path, text) = config("web", "dev", "one");
    clone.commit("sets", &[("set.yaml", &set), ("there.yaml", &there), (&path, &text)]);
    let args = ["--repo-url", URL, "--branch-pattern", "environments/dev"];
    let told = adopt(&clone, &args).exits(1).stdout;
    for expected in [
        "only Argo CD knows the clusters that these ApplicationSets ask for\n      everywhere\n",
        "clusters that Applications deploy to, and of which nothing is known\n      https://prod.example.com (1)\n",
        "  kubectl get secret -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml | git hydrate clusters import > clusters.yaml",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    // What the line writes is found by its content.
    let encoded = [("name", "ZGV2"), ("server", "aHR0cHM6Ly9kZXYuZXhhbXBsZS5jb20=")];
    let data: String = encoded.iter().map(|(key, value)| format!("  {key}: {value}\n")).collect();
    let secret = |namespace: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: dev\n  namespace: {namespace}\n  labels: {{argocd.argoproj.io/secret-type: cluster, env: dev}}\n  annotations: {{team: blue, token: x}}\ndata:\n{data}"
        )
    };
    // Before there are rules, too, it has the annotations that a set asks for.
    let list = clone.hydrate_with(&["clusters", "import"], &secret("argocd")).success().stdout;
    assert!(list.starts_with("- annotations:\n    team: blue\n  labels:\n"), "{list}");
    fs::create_dir(clone.path.join("ops")).expect("made");
    fs::write(clone.path.join("ops/clusters.yaml"), list).expect("written");
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains("  clusters:  # lists of clusters\n  - ops/clusters.yaml\n"), "{told}");
    assert!(
        told.contains("2 of 2 Applications hydrate (of the 2, 1 is made") && !told.contains("kubectl get"),
        "{told}"
    );
    // Secrets in the tree, in the namespace that Argo CD has.
    fs::write(clone.path.join("ops/clusters.yaml"), secret("gitops")).expect("written");
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains("  argocdNamespace: gitops  # the Secret of a cluster is in it\n"), "{told}");
    assert!(told.contains("2 of 2 Applications hydrate (of the 2, 1 is made"), "{told}");
}

#[test]
fn many_sets_of_unknown_clusters_are_one_hint_and_those_of_a_root_are_asked_for_too() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let set = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  generators: [{{clusters: {{}}}}]\n  \
             template:\n    metadata: {{name: '{name}-{{{{name}}}}'}}\n    spec: {{destination: {{server: '{{{{server}}}}', namespace: shop}}, source: {{repoURL: '{URL}', \
             targetRevision: HEAD, path: apps/web/dev}}}}\n"
        )
    };
    let kustomization = "resources: [set.yaml]\nnamePrefix: all-\n";
    clone.commit("a root", &[("root/set.yaml", &set("rooted")), ("root/kustomization.yaml", kustomization)]);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(told.contains("  - name: root\n    path: root\n"), "{told}");
    assert!(told.contains("these ApplicationSets ask for\n      all-rooted\n"), "{told}");
    assert!(told.contains("  kubectl get secret -n argocd"), "{told}");

    let sets: Vec<(String, String)> =
        (10..30).map(|number| (format!("sets/{number}.yaml"), set(&format!("set-{number}")))).collect();
    let sets: Vec<(&str, &str)> = sets.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("many sets", &sets);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert_eq!(told.matches("hint: list them in a file of the dry tree").count(), 1, "{told}");
    assert!(told.contains("  … and 9 more; --json lists all\n"), "{told}");
}
