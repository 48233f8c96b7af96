//! Which files go back where environments share some.

use super::{back, changed, made, push};
use crate::push::{application, config_map, tip, verified};
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";

/// `web` on dev and prod, each from `source` of its environment, with further files, pushed.
fn shared(server: &Repo, source: impl Fn(&str) -> String, files: &[(&str, &str)]) -> Repo {
    let clone = server.clone_to("clone");
    let of = |env: &str| {
        let (file, text) = application("web", env);
        (file, text.replace(&format!("      path: apps/web/{env}\n"), &source(env)))
    };
    let applications = ["dev", "prod"].map(of);
    let applications = applications.iter().map(|(file, text)| (file.as_str(), text.as_str()));
    clone.commit("all", &applications.chain(files.iter().copied()).collect::<Vec<_>>());
    clone.push().success();
    clone
}

fn manifest(server: &Repo, commit: &str) -> String {
    server.git(&["show", &format!("{commit}:web/manifest.yaml")])
}

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

const TEMPLATE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  value: {{ .Values.value }}\n  size: \
                        {{ .Values.size }}\n";

/// A chart that has the values of both environments in its directory.
pub(super) fn chart(server: &Repo) -> Repo {
    let source = |env: &str| {
        let helm = format!("      helm:\n        releaseName: web\n        valueFiles: [values-{env}.yaml]\n");
        format!("      path: charts/web\n{helm}")
    };
    let files = [
        ("charts/web/Chart.yaml", CHART),
        ("charts/web/values.yaml", "size: small\n"),
        ("charts/web/templates/web.yaml", TEMPLATE),
        ("charts/web/values-dev.yaml", "value: one\n"),
        ("charts/web/values-prod.yaml", "value: one\n"),
    ];
    shared(server, source, &files)
}

#[test]
fn of_a_chart_the_values_of_one_environment_go_back() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server);
    let first = tip(&server, PROD);
    let files = ["charts/web/values-dev.yaml", "charts/web/values-prod.yaml"];
    clone.commit("two", &files.map(|file| (file, "value: two\n")));
    clone.push().success();
    let said = back(&clone, &[]).success();
    assert_eq!(changed(&clone, &made(&said)), files[1]);
    push(&clone, &said);
    assert_eq!(manifest(&server, PROD), manifest(&server, &first));
    assert!(manifest(&server, "environments/dev").contains("value: two"));
    verified(&server);
}

#[test]
fn what_others_are_rendered_from_too_is_named_and_goes_back_only_with_a_word() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server);
    let firsts = ["environments/dev", PROD].map(|branch| manifest(&server, branch));
    let files = [("charts/web/values-prod.yaml", "value: two\n"), ("charts/web/values.yaml", "size: large\n")];
    clone.commit("two", &files);
    clone.push().success();
    let said = back(&clone, &[]).exits(1);
    assert!(
        said.stdout.contains("this changes as well:\n  environments/dev: web-dev (charts/web/values.yaml)\n"),
        "{said:?}"
    );
    assert!(said.stderr.contains("nothing was made\nhint: --shared takes back what else changes, too"), "{said:?}");
    assert_eq!(clone.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]), "refs/heads/main");
    let said = back(&clone, &["--shared"]).success();
    assert_eq!(changed(&clone, &made(&said)), "charts/web/values-prod.yaml\ncharts/web/values.yaml");
    push(&clone, &said);
    assert_eq!(["environments/dev", PROD].map(|branch| manifest(&server, branch)), firsts);
    verified(&server);
}

#[test]
fn a_resource_that_was_replaced_comes_back() {
    let lab = Lab::new();
    let server = lab.server();
    let kustomization = |names: &str| format!("resources: [{names}]\n");
    let files = [
        ("apps/web/dev/kustomization.yaml", kustomization("config.yaml")),
        ("apps/web/dev/config.yaml", config_map("web", "dev")),
        ("apps/web/prod/kustomization.yaml", kustomization("config.yaml, old.yaml")),
        ("apps/web/prod/config.yaml", config_map("web", "prod")),
        ("apps/web/prod/old.yaml", config_map("old", "one")),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let clone = shared(&server, |env| format!("      path: apps/web/{env}\n"), &files);
    let first = tip(&server, PROD);
    clone.git(&["rm", "-q", "apps/web/prod/old.yaml"]);
    let files = [
        ("apps/web/prod/kustomization.yaml", kustomization("config.yaml, new.yaml")),
        ("apps/web/prod/new.yaml", config_map("new", "one")),
    ];
    clone.commit("new for old", &files.each_ref().map(|(path, text)| (*path, text.as_str())));
    clone.push().success();
    let said = back(&clone, &[]).success();
    // What nothing names any more does no harm where it is.
    assert_eq!(changed(&clone, &made(&said)), "apps/web/prod/kustomization.yaml\napps/web/prod/old.yaml");
    push(&clone, &said);
    assert_eq!(manifest(&server, PROD), manifest(&server, &first));
    verified(&server);
}

/// A directory of plain files shows all that is in it.
#[test]
fn a_file_that_came_to_a_directory_goes() {
    let lab = Lab::new();
    let server = lab.server();
    let files = ["dev", "prod"].map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", env)));
    let files = files.each_ref().map(|(path, text)| (path.as_str(), text.as_str()));
    let clone = shared(&server, |env| format!("      path: apps/web/{env}\n"), &files);
    let first = tip(&server, PROD);
    let more = ["dev", "prod"].map(|env| (format!("apps/web/{env}/more.yaml"), config_map("more", env)));
    clone.commit("more", &more.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    clone.push().success();
    let said = back(&clone, &[]).success();
    assert_eq!(changed(&clone, &made(&said)), "apps/web/prod/more.yaml");
    push(&clone, &said);
    assert_eq!(manifest(&server, PROD), manifest(&server, &first));
    assert!(manifest(&server, "environments/dev").contains("name: more"));
    verified(&server);
}

/// What a set makes for one environment follows from the file of that environment.
#[test]
fn of_a_set_the_file_of_one_environment_goes_back() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: web
spec:
  goTemplate: true
  generators:
    - git:
        repoURL: https://git.example.com/dry.git
        revision: main
        files: [{path: envs/*.yaml}]
  template:
    metadata:
      name: 'web-{{.env}}'
    spec:
      destination:
        namespace: web
      sourceHydrator:
        drySource:
          repoURL: https://git.example.com/dry.git
          targetRevision: main
          path: 'apps/{{.version}}'
        syncSource:
          targetBranch: 'environments/{{.env}}'
          path: web
";
    let clone = server.clone_to("clone");
    let of = |env: &str, version: &str| (format!("envs/{env}.yaml"), format!("env: {env}\nversion: {version}\n"));
    let commit = |subject: &str, files: &[(String, String)]| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit(subject, &files);
        clone.push().success();
    };
    let mut files = vec![("sets/web.yaml".to_owned(), set.to_owned()), of("dev", "one"), of("prod", "one")];
    files.extend(["one", "two"].map(|version| (format!("apps/{version}/config.yaml"), config_map("web", version))));
    commit("all", &files);
    let first = tip(&server, PROD);
    commit("two", &[of("dev", "two"), of("prod", "two")]);
    assert!(manifest(&server, PROD).contains("value: two"));
    let said = back(&clone, &[]).success();
    assert_eq!(changed(&clone, &made(&said)), "envs/prod.yaml");
    push(&clone, &said);
    assert_eq!(manifest(&server, PROD), manifest(&server, &first));
    assert!(manifest(&server, "environments/dev").contains("value: two"));
    verified(&server);
}
