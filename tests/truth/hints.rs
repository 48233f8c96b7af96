//! Hints lead to the fix when they are followed.

use super::pushed;
use crate::push::dry;
use crate::support::{Lab, Repo};

#[test]
fn a_mistyped_command_is_not_taken_for_a_revision_without_a_hint() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    let rows: [(&[&str], Option<&str>); 5] = [
        (&["statu"], Some("status")),
        (&["difff"], Some("diff")),
        (&["difff", "--stat"], Some("diff")),
        (&["verfy"], Some("verify")),
        (&["no-such-commit"], None),
    ];
    for (args, expected) in rows {
        let told = clone.hydrate(args).exits(2).stderr;
        let hint = expected.map(|command| format!("hint: did you mean `git hydrate {command}`?\n"));
        match hint {
            Some(hint) => assert!(told.ends_with(&hint), "{args:?}: {told}"),
            None => assert!(told.starts_with("error: neither a command nor a commit: `no-such-commit`\n"), "{told}"),
        }
    }
}

#[test]
fn what_a_kustomization_takes_from_elsewhere_has_a_hint_that_works() {
    let lab = Lab::new();
    let repo = lab.bare(&[]).clone_to("clone");
    let chart =
        "helmCharts:\n- {name: web, repo: 'https://charts.example.com/a b', version: 1.2.3, releaseName: web}\n";
    let app = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  project: default\n  \
             destination: {{server: https://kubernetes.default.svc}}\n  sourceHydrator:\n    drySource: {{repoURL: \
             https://git.example.com/dry.git, targetRevision: main, path: apps/{name}}}\n    syncSource: {{targetBranch: \
             environments/dev, path: {name}}}\n"
        )
    };
    repo.commit(
        "from elsewhere",
        &[
            ("git.yaml", &app("git")),
            ("file.yaml", &app("file")),
            ("chart.yaml", &app("chart")),
            ("apps/git/kustomization.yaml", "resources:\n- https://git.example.com/org/repo//dir?ref=v1\n"),
            ("apps/file/kustomization.yaml", "resources:\n- https://git.example.com/org/crds.yaml\n"),
            ("apps/chart/kustomization.yaml", chart),
        ],
    );
    let told = repo.hydrate(&["check"]).exits(1).stdout;
    for missing in ["https://git.example.com/org/repo//dir?ref=v1", "https://git.example.com/org/crds.yaml"] {
        let text = format!("{missing} is not in this repository");
        let told = &told[told.find(&text).unwrap_or_else(|| panic!("{told}"))..];
        let hint = told.split("  hint: ").nth(1).expect("a hint");
        assert!(hint.starts_with("run `git hydrate vendor` and commit what it writes\n"), "{told}");
    }
    let pull = "run `git hydrate vendor`, or at the top of the repository `helm pull --untar --untardir \
                apps/chart/charts/web-1.2.3 web --repo 'https://charts.example.com/a b' --version 1.2.3`";
    assert!(told.contains(pull), "{told}");
}

#[test]
fn an_application_that_writes_to_its_own_dry_branch_is_told_to_write_to_another() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    let file = "applications/test.yaml";
    let text = std::fs::read_to_string(clone.path.join(file)).expect("there");
    clone.commit("a slip", &[(file, &text.replace("targetBranch: environments/test", "targetBranch: main"))]);
    for told in [clone.hydrate(&["diff"]).stdout, clone.hydrate(&["check"]).stdout, clone.push().success().stderr] {
        assert!(told.contains("`main` is a dry branch: hydration would overwrite its own source"), "{told}");
        assert!(told.contains("hint: write to a branch of its own"), "{told}");
        assert!(!told.contains("adopt"), "{told}");
    }
}

#[test]
fn a_random_function_in_a_comment_of_a_chart_does_not_stop_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "kustomized"], &["dev"]);
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    let template = "# made at {{ now }}\napiVersion: v1\nkind: ConfigMap # {{ randAlphaNum 8 }}\nmetadata: {name: c}\n";
    let kustomization = "helmGlobals: {chartHome: charts}\nhelmCharts: [{name: c, releaseName: c}]\n";
    clone.commit(
        "charts",
        &[
            ("apps/web/dev/config.yaml", ""),
            ("apps/web/dev/Chart.yaml", chart),
            ("apps/web/dev/templates/a.yaml", template),
            ("apps/kustomized/dev/config.yaml", ""),
            ("apps/kustomized/dev/kustomization.yaml", kustomization),
            ("apps/kustomized/dev/charts/c/Chart.yaml", chart),
            ("apps/kustomized/dev/charts/c/values.yaml", "a: b\n"),
            ("apps/kustomized/dev/charts/c/templates/a.yaml", &template.replace("name: c", "name: d")),
        ],
    );
    let told = clone.push().success().stderr;
    assert!(told.contains("environments/dev  new -> "), "{told}");
    let expected = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c";
    assert_eq!(server.git(&["show", "environments/dev:web/manifest.yaml"]), expected);
    // One beside it that does reach the manifest is told alone.
    let template = template.to_owned() + "data: {password: {{ randAlphaNum 9 }}}\n";
    clone.commit("a password", &[("apps/web/dev/templates/a.yaml", &template)]);
    let told = clone.push().success().stderr;
    assert!(told.contains("templates/a.yaml:5:") && !told.contains("templates/a.yaml:1:"), "{told}");
    assert!(!told.contains("templates/a.yaml:3:"), "{told}");
    // What is printed has its comments.
    clone.hydrate(&["render", "helm", "web", "apps/web/dev"]).exits(1);
}

/// A common error of a render, what its hint says, and the change that the hint asks for.
type Hinted =
    (&'static str, Vec<(&'static str, &'static str)>, &'static str, &'static str, Vec<(&'static str, &'static str)>);

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";

#[rustfmt::skip]
fn hinted() -> Vec<Hinted> {
    const SOPS: &str = "a: ENC[AES256_GCM,data:x,type:str]\nsops:\n  mac: ENC[AES256_GCM,data:y,type:str]\n";
    const KSOPS: &str = "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: k, annotations: {config.kubernetes.io/function: 'exec: {path: ksops}'}}\nfiles: [secret.enc.yaml]\n";
    const EXTERNAL_SECRET: &str = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: c}\n";
    vec![
        ("a file beside the kustomization", vec![("base.yaml", OBJECT), ("dev/kustomization.yaml", "resources: [../base.yaml]\n")],
            "is not in or below", "into a directory of its own with a kustomization.yaml that names it",
            vec![("base.yaml", ""), ("base/base.yaml", OBJECT), ("base/kustomization.yaml", "resources: [base.yaml]\n"), ("dev/kustomization.yaml", "resources: [../base]\n")]),
        ("ksops", vec![("dev/kustomization.yaml", "generators: [k.yaml]\n"), ("dev/k.yaml", KSOPS)],
            "unable to load external plugin 'ksops'", "External Secrets",
            vec![("dev/kustomization.yaml", "resources: [k.yaml]\n"), ("dev/k.yaml", EXTERNAL_SECRET)]),
        ("a program", vec![("dev/kustomization.yaml", "generators: [k.yaml]\n"), ("dev/k.yaml", "apiVersion: example.com/v1\nkind: Maker\nmetadata: {name: k}\n")],
            "unable to load external plugin 'Maker'", "use what is built into Kustomize",
            vec![("dev/kustomization.yaml", "configMapGenerator: [{name: k, literals: [a=b]}]\n"), ("dev/k.yaml", "")]),
        ("helm-secrets", vec![("dev/Chart.yaml", CHART), ("dev/templates/a.yaml", OBJECT), ("app.yaml", "helm: {valueFiles: ['secrets://s.yaml']}, ")],
            "asks helm-secrets to decrypt a file", "External Secrets",
            vec![("app.yaml", "helm: {valueFiles: []}, "), ("dev/templates/a.yaml", EXTERNAL_SECRET)]),
        ("values that SOPS encrypted", vec![("dev/Chart.yaml", CHART), ("dev/templates/a.yaml", OBJECT), ("dev/s.yaml", SOPS), ("app.yaml", "helm: {valueFiles: [s.yaml]}, ")],
            "`s.yaml` is encrypted with SOPS", "Sealed Secrets", vec![("app.yaml", "helm: {valueFiles: []}, ")]),
        ("a chart beside a kustomization", vec![("dev/Chart.yaml", CHART), ("dev/templates/a.yaml", OBJECT), ("dev/kustomization.yaml", "resources: [a.yaml]\n"), ("dev/a.yaml", OBJECT)],
            "`dev` has both a `Chart.yaml` and a `kustomization.yaml`", "`helm: {}`", vec![("app.yaml", "helm: {}, ")]),
        ("a values file that is not there", vec![("dev/Chart.yaml", CHART), ("dev/templates/a.yaml", OBJECT), ("app.yaml", "helm: {valueFiles: [v.yaml]}, ")],
            "`v.yaml` does not exist", "`ignoreMissingValueFiles: true`", vec![("app.yaml", "helm: {valueFiles: [v.yaml], ignoreMissingValueFiles: true}, ")]),
        ("a values file with a longer name", vec![("dev/Chart.yaml", CHART), ("dev/templates/a.yaml", OBJECT), ("dev/values-prod.yaml", "a: b\n"), ("app.yaml", "helm: {valueFiles: [values-production.yaml]}, ")],
            "`values-production.yaml` does not exist", "did you mean `values-prod.yaml`?", vec![("app.yaml", "helm: {valueFiles: [values-prod.yaml]}, ")]),
        ("two objects in one JSON file", vec![("dev/a.json", "{\"kind\":\"A\",\"apiVersion\":\"v1\"}{\"kind\":\"B\",\"apiVersion\":\"v1\"}")],
            "", "write several as the `items` of a `List`",
            vec![("dev/a.json", "{\"kind\":\"List\",\"items\":[{\"kind\":\"A\",\"apiVersion\":\"v1\"},{\"kind\":\"B\",\"apiVersion\":\"v1\"}]}")]),
        ("a file that is no manifest", vec![("dev/a.yaml", OBJECT), ("dev/b.yaml", "apiVersion: x\nkind: y\nmetadata: [\n")],
            "not valid YAML", "`+argocd:skip-file-rendering`", vec![("dev/b.yaml", "# +argocd:skip-file-rendering\napiVersion: x\nkind: y\nmetadata: [\n")]),
        ("a label that is there", vec![("dev/kustomization.yaml", "commonLabels: {a: b}\n"), ("app.yaml", "kustomize: {commonLabels: {a: c}}, ")],
            "", "`forceCommonLabels: true`", vec![("app.yaml", "kustomize: {commonLabels: {a: c}, forceCommonLabels: true}, ")]),
        ("a component among the resources", vec![("dev/kustomization.yaml", "resources: [../part]\n"), ("part/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -x\n")],
            "", "name it under `components`", vec![("dev/kustomization.yaml", "components: [../part]\n")]),
        ("a chart of the future", vec![("dev/Chart.yaml", "apiVersion: v9\nname: c\nversion: 1.0.0\n"), ("dev/templates/a.yaml", OBJECT)],
            "", "write `apiVersion: v2`", vec![("dev/Chart.yaml", CHART)]),
        ("a random function", vec![("dev/Chart.yaml", CHART), ("dev/values.yaml", "p: ''\n"), ("dev/templates/a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\np: {{ .Values.p | default (randAlpha 5) }}\n")],
            "`randAlpha` is random", "set the value `p`, which it is the default of", vec![("dev/values.yaml", "p: x\n")]),
    ]
}

#[test]
fn hints_of_common_render_errors_work_when_they_are_followed() {
    let lab = Lab::new();
    for (number, (what, files, error, hint, fix)) in hinted().into_iter().enumerate() {
        let repo = Repo::at(&lab, &format!("repository-{number}"));
        std::fs::create_dir(&repo.path).expect("made");
        repo.git(&["init", "-q"]);
        let application = |options: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  \
                 sourceHydrator:\n    drySource: {{{options}repoURL: https://git.example.com/x.git, targetRevision: main, \
                 path: dev}}\n    syncSource: {{targetBranch: environments/dev, path: web}}\n"
            )
        };
        let commit = |files: &[(&str, &str)]| {
            let options = files.iter().find(|(path, _)| *path == "app.yaml").map(|(_, text)| *text);
            let rest: Vec<(&str, &str)> = files.iter().copied().filter(|(path, _)| *path != "app.yaml").collect();
            repo.commit(what, &rest);
            if let Some(options) = options {
                repo.commit(what, &[("app.yaml", &application(options))]);
            }
        };
        commit(&[("app.yaml", "")]);
        commit(&files);
        let told = repo.hydrate(&["check"]).exits(1).stdout;
        let is_told = told.lines().any(|line| line.contains("error: ") && line.contains(error));
        let is_hinted = told.lines().any(|line| line.starts_with("  hint: ") && line.contains(hint));
        assert!(is_told && is_hinted, "{what}: {told}");
        commit(&fix);
        repo.hydrate(&["check"]).success();
    }
}
