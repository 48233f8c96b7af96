//! Charts and several sources under rules.

use std::fs;

use super::{BY_LABEL, plain, rule};
use crate::made_applications::{URL, dry, manifest};
use crate::support::Lab;
use crate::vendor::{files_of, packed, vendor};

/// The files of a chart, packed.
fn chart(name: &str, version: &str) -> Vec<u8> {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\ndata:\n  \
                    version: {{ .Chart.Version | quote }}\n  word: {{ .Values.word | quote }}\n";
    let files = [
        ("Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: {version}\n")),
        ("values.yaml", "word: plain\n".to_owned()),
        ("templates/object.yaml", template.to_owned()),
    ];
    packed(&files.map(|(path, text)| (format!("{name}/{path}"), text)))
}

/// A repository of charts below the directory `charts` of the lab.
fn charts(lab: &Lab) {
    let root = lab.path("charts");
    fs::create_dir_all(&root).expect("made");
    fs::write(root.join("web-1.2.3.tgz"), chart("web", "1.2.3")).expect("written");
    let index = "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n";
    fs::write(root.join("index.yaml"), index).expect("written");
}

#[test]
fn a_chart_is_taken_from_where_vendor_keeps_it() {
    let lab = Lab::new();
    charts(&lab);
    let upstream = files_of(lab.path("charts"));
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let source = format!(
        "source: {{repoURL: '{}', chart: web, targetRevision: 1.2.3, helm: {{valuesObject: {{word: ours}}}}}}",
        upstream.url()
    );
    let clone = dry(&server, &[("web.yaml", &plain("shop", "dev", &source))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error: chart web 1.2.3 of") && told.contains("is not in this repository"), "{told}");
    assert!(told.contains("git hydrate vendor") && told.contains("web.yaml:7"), "{told}");

    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    vendor(&clone, &[]).success();
    assert!(clone.git(&["diff", "--cached", "--name-only"]).contains("web@1.2.3"));
    clone.commit("vendor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    // helm 4.2.3 template shop web-1.2.3.tgz --namespace shop --set word=ours.
    let expected =
        "apiVersion: v1\ndata:\n  version: 1.2.3\n  word: ours\nkind: ConfigMap\nmetadata:\n  name: shop-web";
    assert_eq!(manifest(&server, "environments/dev", "shop"), expected);
    let readme = server.git(&["show", "environments/dev:shop/README.md"]);
    assert!(
        readme.contains("helm template ./.hydrate/inputs/helm/") && readme.contains("--name-template shop"),
        "{readme}"
    );
    assert_eq!(vendor(&clone, &["--check"]).code, Some(0));

    // What is kept is nobody's to change.
    let kept = clone.git(&["ls-files", ".hydrate/inputs/helm/*/values.yaml"]);
    clone.commit("edit it", &[(kept.lines().next().expect("one"), "word: edited\n")]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("are not those of chart web 1.2.3"), "{told}");
}

#[test]
fn several_sources_with_values_of_another_one() {
    let lab = Lab::new();
    charts(&lab);
    let upstream = files_of(lab.path("charts"));
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let sources = format!(
        "sources:
  - {{repoURL: '{}', chart: web, targetRevision: 1.2.3, helm: {{valueFiles: [$values/envs/$ARGOCD_APP_NAME.yaml]}}}}
  - {{repoURL: {URL}, targetRevision: HEAD, ref: values}}
  - {{repoURL: {URL}, targetRevision: HEAD, path: extra}}",
        upstream.url()
    );
    let extra = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \
                 shop-web, namespace: shop}\ndata: {word: last}\n";
    let clone = dry(
        &server,
        &[("web.yaml", &plain("shop", "dev", &sources)), ("envs/shop.yaml", "word: ours\n"), ("extra/map.yaml", extra)],
    );
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    vendor(&clone, &[]).success();
    clone.commit("vendor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let told = server.hydrate(&["check", "main"]).success().stdout;
    assert!(told.contains("warning: two sources of `shop` render ConfigMap"), "{told}");
    assert!(told.contains("web.yaml:8") && told.contains("web.yaml:10"), "both places: {told}");
    let found = manifest(&server, "environments/dev", "shop");
    assert!(found.contains("word: last") && !found.contains("word: ours") && found.contains("name: extra"), "{found}");

    // Without the other object, the values of the ref count, and follow their file.
    clone.commit("only one", &[("extra/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n")]);
    clone.push().success();
    assert!(manifest(&server, "environments/dev", "shop").contains("word: ours"));
    clone.commit("other values", &[("envs/shop.yaml", "word: theirs\n")]);
    clone.push().success();
    assert!(manifest(&server, "environments/dev", "shop").contains("word: theirs"));
    let verified = server.hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn sources_that_argo_cd_refuses_are_refused() {
    let here = |more: &str| format!("{{repoURL: {URL}, targetRevision: HEAD{more}}}");
    let rows = [
        (format!("source: {}", here("")), "`spec.source.path` is missing"),
        (format!("sources: [{}]", here("")), "`spec.sources[0].path` is missing"),
        (format!("sources: [{}, {}]", here(", ref: a"), here(", ref: a, path: x")), "`ref: a` is given twice"),
        (format!("sources: [{}]", here(", ref: 'a b', path: x")), "`a b` cannot be a `ref`"),
        (
            format!("sources: [{}, {{repoURL: {URL}, targetRevision: other, path: x}}]", here(", ref: a")),
            "the sources name the repository of `ref: a` at several revisions",
        ),
        (
            "source: {repoURL: 'https://charts.example.com', chart: web}".to_owned(),
            "`spec.source.targetRevision` is missing",
        ),
        (
            "sources: [{repoURL: 'https://charts.example.com', chart: web, targetRevision: 1.0.0, ref: c}]".to_owned(),
            "`ref: c` names a chart",
        ),
        (
            "source: {repoURL: 'ftp://git.example.com/other', path: x}".to_owned(),
            "the source is in another repository: `ftp://git.example.com/other` is not an `https://` URL",
        ),
        (format!("source: {}", here(", path: ../x")), "`../x` is not a valid path for dry sources"),
        (
            format!("sources: [{}]", here(", path: chart, helm: {valueFiles: [$none/x.yaml]}")),
            "`$none/x.yaml` names no source: none has a `ref`",
        ),
        (
            format!("sources: [{}, {}]", here(", path: chart, helm: {valueFiles: [$v/../../x]}"), here(", ref: v")),
            "`$v/../../x` cannot be a values file: the path leads out of the repository",
        ),
    ];
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, "- {branch: environments/dev, path: '{{ name }}'}\n").success();
    let clone = dry(&server, &[("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")]);
    for (source, expected) in rows {
        fs::write(clone.path.join("web.yaml"), plain("web", "dev", &source)).expect("written");
        clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
        let told = clone.hydrate(&["check", "--worktree"]).stdout;
        assert!(told.contains(expected) && told.contains("web.yaml:"), "{source}: {told}");
    }
}
