//! Which Applications inputs are found for, and what vendored files must not change.

use std::fs;

use super::{LOCK, application, charted, dry, files_of, repository, upstream, vendor, web, with_charts};
use crate::servers::git_server;
use crate::support::{Lab, Repo};

/// A vendored file that another Application would take for its own.
#[test]
fn what_changes_other_applications_is_not_written() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let all = application("all", "charts")
        .replace("path: charts, ", "path: charts, directory: {recurse: true, include: '*object.yaml'}");
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Read all", &[("charts/object.yaml", object), ("applications/all.yaml", &all)]);
    let answer = vendor(&dry, &[]).exits(2);
    assert!(answer.stderr.contains("these Applications would render differently"), "{}", answer.stderr);
    assert!(answer.stderr.contains("all (applications/all.yaml:3:"), "{}", answer.stderr);
    assert_eq!(dry.git(&["status", "--short"]), "");
}

/// Value files and parameters behind a URL, as Argo CD hands them to Helm.
#[test]
fn value_files_by_url_are_kept_and_rendered() {
    let lab = Lab::new();
    fs::create_dir(lab.path("files")).expect("made");
    fs::write(lab.path("files/prod.yaml"), "word: prod\n").expect("written");
    fs::write(lab.path("files/script.sh"), "#!/bin/sh\n").expect("written");
    let files = files_of(lab.path("files"));
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata:\n  word: {{ .Values.word }}\n  script: {{ \
                  .Values.script | quote }}\n";
    let url = files.url();
    let helm = format!(
        "helm: {{releaseName: app, valueFiles: [values.yaml, '{url}/prod.yaml?env=$ARGOCD_APP_SOURCE_TARGET_REVISION'], fileParameters: [{{name: \
         script, path: '{url}/script.sh'}}]}}"
    );
    let application = application("app", "charts/app").replace("helm: {releaseName: app}", &helm);
    let dry = dry(
        &lab,
        &[
            ("charts/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n"),
            ("charts/app/values.yaml", "word: plain\n"),
            ("charts/app/templates/own.yaml", object),
            ("applications/app.yaml", &application),
        ],
    );
    let answer = dry.hydrate(&["check"]).exits(1);
    let expected = format!("{url}/script.sh is not in this repository");
    assert!(answer.stdout.contains(&expected) && answer.stdout.contains("git hydrate vendor"), "{}", answer.stdout);
    vendor(&dry, &[]).success();
    assert!(dry.file(LOCK).expect("there").contains("prod.yaml?env=main\""));
    dry.commit("Vendor", &[]);
    drop(files);
    let rendered = dry.hydrate(&["render", "app"]).success().stdout;
    assert!(rendered.contains("word: prod") && rendered.contains("#!/bin/sh"), "{rendered}");
    dry.hydrate(&["vendor", "--check"]).success();
}

/// What makes Applications may need something from elsewhere itself: what it makes then is no disturbance.
#[test]
fn roots_and_parents_get_their_inputs() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let made = application("made", "made");
    let chart = |version: &str| {
        format!(
            "apiVersion: v2\nname: root\nversion: 0.1.0\ndependencies:\n- {{name: web, version: {version}, repository: '{}'}}\n",
            charts.url()
        )
    };
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let dry = dry(
        &lab,
        &[
            ("boot/Chart.yaml", &chart("1.2.3")),
            ("boot/templates/made.yaml", &made),
            ("made/map.yaml", object),
            ("other/map.yaml", object),
            ("applications/other.yaml", &application("other", "other")),
        ],
    );
    let set = |key: &str, value: &str| {
        Repo::at(&lab, "dry.git").hydrate(&["config", "set", key, value]).success();
        dry.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    };
    set("repoURL", "https://example.com/dry.git");
    set("madeApplications", "true");
    assert_eq!(dry.hydrate(&["vendor"]).success().stdout, "nothing is needed from elsewhere\n");
    set("roots", "[{name: root, path: boot, namespace: argocd, helm: {releaseName: root}}]");
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.contains("boot/charts/web"), "{}", answer.stdout);
    dry.commit("Vendor", &[]);
    let listed = dry.hydrate(&["apps"]).success().stdout;
    assert!(listed.contains("made by root `root`"), "{listed}");
    dry.commit("Bump", &[("boot/Chart.yaml", &chart("1.3.0"))]);
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    assert!(dry.hydrate(&["apps"]).success().stdout.contains("made by root `root`"));
    dry.hydrate(&["vendor", "--check"]).success();
}

#[test]
fn applications_in_a_base_of_another_repository_are_found() {
    let lab = Lab::new();
    let made = application("made", "made");
    upstream(&lab, &[("apps/kustomization.yaml", "resources: [made.yaml]\n"), ("apps/made.yaml", &made)]);
    let git = git_server(&lab.path("git"));
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let base = format!("resources: ['{}/upstream.git//apps?ref=v1']\n", git.url());
    let dry = dry(
        &lab,
        &[
            ("boot/kustomization.yaml", &base),
            ("made/map.yaml", object),
            ("applications/boot.yaml", &application("boot", "boot")),
        ],
    );
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    dry.push().success();
    let server = Repo::at(&lab, "dry.git");
    assert!(server.git(&["show", "environments/dev:made/manifest.yaml"]).contains("name: plain"));
}

/// Argo CD has no exclusion for vendored files: whoever lets it look everywhere reads so.
#[test]
fn what_argo_cd_itself_would_find_is_said() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let plain = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: all, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: argocd}
  source: {repoURL: https://example.com/dry.git, targetRevision: HEAD, path: ., directory: {recurse: true}}
";
    let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: set, namespace: argocd}
spec:
  generators: [{git: {repoURL: https://example.com/dry.git, revision: HEAD, files: [{path: '**/config.json'}]}}]
  template: {metadata: {name: '{{app}}'}, spec: {project: default, source: {repoURL: https://example.com/dry.git, path: .}}}
";
    dry.commit("Look everywhere", &[("root/all.yaml", plain), ("root/set.yaml", set)]);
    let answer = vendor(&dry, &[]).success();
    for expected in [
        "`all` reads all directories of the repository: where Argo CD renders it itself, that includes vendored files",
        "root/all.yaml:7:",
        "Argo CD's own ApplicationSet controller finds vendored files with this pattern too",
        "root/set.yaml:5:",
    ] {
        assert!(answer.stderr.contains(expected), "{expected}: {}", answer.stderr);
    }
    dry.commit("Vendor", &[]);
    let json: serde_json::Value = serde_json::from_str(&vendor(&dry, &["--json"]).success().stdout).expect("JSON");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(2), "{json}");
}
