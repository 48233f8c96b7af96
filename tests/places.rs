//! Each finding has its line in the dry file that makes it.

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const KUSTOMIZATION: &str = "apps/web/dev/kustomization.yaml";

fn check(clone: &Repo) -> String {
    clone.hydrate(&["check", "--worktree"]).stdout
}

/// Writes files, and checks with them.
fn with(clone: &Repo, files: &[(&str, &str)]) -> String {
    for (path, text) in files {
        let path = clone.path.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    check(clone)
}

#[test]
fn a_dependency_has_the_line_that_names_it_and_an_open_quote_the_line_that_opens_it() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web", "api"], &["dev"]);
    let chart = |dependency: &str| {
        format!(
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n  - name: here\n    version: 1.x\n    repository: file://../here\n  - {dependency}\n"
        )
    };
    let file = "apps/web/dev/Chart.yaml";
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    let here = ("apps/web/here/Chart.yaml", "apiVersion: v2\nname: here\nversion: 1.0.0\n");
    let rows = [
        ("{name: redis, version: 1.x, repository: 'https://example.com'}", "missing in charts/ directory: redis"),
        (
            "{name: redis, version: 1.x, repository: 'file://../none'}",
            "unable to detect chart at apps/web/none/Chart.yaml",
        ),
        ("{name: other, version: 2.x, repository: 'file://../here'}", "can't get a valid version for dependency other"),
    ];
    for (dependency, expected) in rows {
        let told = with(&clone, &[(file, &chart(dependency)), here]);
        assert!(told.contains(&format!("{file}:8:12: error: ")) && told.contains(expected), "{dependency}: {told}");
    }
    std::fs::remove_file(clone.path.join(file)).expect("removed");
    let open = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"web\ndata: {}\n";
    let told = with(&clone, &[("apps/web/dev/config.yaml", open)]);
    assert!(
        told.contains("apps/web/dev/config.yaml:4:9: error: ") && told.contains("unexpected end of stream"),
        "{told}"
    );
    // Of two that claim an object, both Applications are named.
    let told = with(&clone, &[("apps/web/dev/config.yaml", &config_map("api", "x"))]);
    assert!(!told.contains("both render"), "{told}");
    let here = |name: &str| {
        let (file, text) = application(name, "dev");
        (
            file,
            text.replace(&format!("namespace: {name}"), "{name: here, namespace: api}")
                .replace("destination:\n    {", "destination: {"),
        )
    };
    let [web, api] = ["web", "api"].map(here);
    let told = with(&clone, &[(&web.0, &web.1), (&api.0, &api.1)]);
    assert!(told.contains("applications/dev/web.yaml:4:9: error: `api-dev` and `web-dev` both render"), "{told}");
    assert!(told.contains("`api-dev` is at applications/dev/api.yaml:4:9"), "{told}");
}

#[test]
fn what_a_patch_or_a_generator_of_a_kustomization_says_has_its_line() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
                      template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n";
    let base = ("apps/web/dev/config.yaml", deployment);
    let resources = "resources: [config.yaml]\n";
    let strategic = "patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec:\n      \
                     replica: 3\n";
    let json = "patches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n      path: /spec/template/spec/restartPolicy\n      value: \
                Never mind\n";
    let generator = "configMapGenerator:\n- name: cfg\n  literals:\n  - good=1\n  - bad key=2\n";
    let rows = [
        (strategic, ":8: warning: Kubernetes 1.37 refuses Deployment web: `spec.replica` is not a field"),
        (
            json,
            ":7: warning: Kubernetes 1.37 refuses Deployment web: `spec.template.spec.restartPolicy` is `Never mind`",
        ),
        (generator, ":6: warning: Kubernetes 1.37 refuses ConfigMap cfg-"),
        (
            "commonAnnotations:\n  'bad key!': x\n",
            ":3: warning: Kubernetes 1.37 refuses Deployment web: `spec.template.metadata.annotations` has the key `bad key!`: must",
        ),
    ];
    for (text, expected) in rows {
        let told = with(&clone, &[base, (KUSTOMIZATION, &[resources, text].concat())]);
        assert!(told.contains(&format!("{KUSTOMIZATION}{expected}")), "{expected}: {told}");
    }
    // A number below zero is found where a field of the kustomization sets it.
    let told = with(&clone, &[base, (KUSTOMIZATION, &[resources, "replicas:\n- name: web\n  count: -1\n"].concat())]);
    assert!(
        told.contains(&format!(
            "{KUSTOMIZATION}:4: warning: Kubernetes 1.37 refuses Deployment web: `spec.replicas` is -1"
        )),
        "{told}"
    );
}

/// What a kustomization gives to all objects is one mistake, and a file of variables has its own line.
#[test]
fn what_a_kustomization_gives_to_all_is_said_once_and_a_variable_at_its_file() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
                      template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n";
    let text = "resources: [config.yaml]\nconfigMapGenerator:\n- name: cfg\n  envs: [web.env]\ncommonAnnotations:\n  'bad key!': x\n";
    let files =
        [("apps/web/dev/config.yaml", deployment), (KUSTOMIZATION, text), ("apps/web/dev/web.env", "A=1\nMY KEY=1\n")];
    let said = with(&clone, &files);
    assert_eq!(said.matches("has the key").count(), 1, "{said}");
    assert!(
        said.contains(&format!("{KUSTOMIZATION}:6: warning: ")) && said.contains("(and in 2 other fields)"),
        "{said}"
    );
    let of_file = "apps/web/dev/web.env:2: warning: Kubernetes 1.37 refuses ConfigMap cfg-";
    assert!(said.contains(of_file) && said.contains("`data[MY KEY]`"), "{said}");
}

const CHART: &str = "apps/web/dev/Chart.yaml";

/// A chart whose labels are those of a helper.
fn chart(clone: &Repo) -> [(&'static str, String); 4] {
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    {{- include \"web.labels\" . | nindent 4 \
                   }}\nspec:\n  selector:\n    app: web\n  ports:\n    - name: http\n      port: {{ .Values.port }}\n";
    [
        (CHART, "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("apps/web/dev/values.yaml", "port: 80\nsize: 1\n".to_owned()),
        (
            "apps/web/dev/templates/_helpers.tpl",
            "{{- define \"web.labels\" -}}\napp: web\nstage: dev\n{{- end }}\n".to_owned(),
        ),
        ("apps/web/dev/templates/service.yaml", service.to_owned()),
    ]
}

#[test]
fn what_a_helper_gives_has_its_line_or_that_which_includes_it() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let files = chart(&clone);
    let check = |from: &str, to: &str| {
        let changed: Vec<(&str, String)> = files.iter().map(|(path, text)| (*path, text.replace(from, to))).collect();
        with(&clone, &changed.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>())
    };
    let rows = [
        (
            "nindent 4",
            "nindent 2",
            "templates/service.yaml:6: warning: Kubernetes 1.37 refuses Service web: `metadata.app` is not",
        ),
        (
            "stage: dev",
            "stage: a b",
            "templates/_helpers.tpl:3: warning: Kubernetes 1.37 refuses Service web: `metadata.labels[stage]`",
        ),
        (
            "stage: dev",
            "sta ge: dev",
            "templates/_helpers.tpl:3: warning: Kubernetes 1.37 refuses Service web: `metadata.labels` has the key",
        ),
        (
            "      port: {{",
            "      prt: {{",
            "templates/service.yaml:12: warning: Kubernetes 1.37 refuses Service web: `spec.ports[0].prt`",
        ),
    ];
    for (from, to, expected) in rows {
        let told = check(from, to);
        assert!(told.contains(&format!("apps/web/dev/{expected}")), "{to}: {told}");
    }
    // Of what is misspelt, it is not said too that it is missing.
    let told = check("      port: {{", "      prt: {{");
    assert!(told.contains("did you mean `port`?") && !told.contains("must be set"), "{told}");
}

/// What the Application itself sets is named at its line, and once where several fields are made of it.
#[test]
fn a_value_of_the_application_has_its_line_there() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let mut files = chart(&clone).to_vec();
    files[3].1 += "      targetPort: {{ .Values.port }}\n";
    let (file, text) = application("web", "dev");
    let path = "      path: apps/web/dev\n";
    assert!(text.contains(path), "{text}");
    let line = text.lines().position(|line| path.contains(line)).expect("there") + 2;
    let rows = [
        (
            "      helm:\n        parameters:\n        - {name: port, value: '99999'}\n",
            2,
            "between 1 and 65535 (and in another field)",
        ),
        (
            "      helm:\n        values: |\n          size: 2\n          port: 99999\n",
            3,
            "between 1 and 65535 (and in another field)",
        ),
        (
            "      helm:\n        valuesObject:\n          size: 2\n          port: 99999\n",
            3,
            "between 1 and 65535 (and in another field)",
        ),
        (
            "      helm:\n        parameters:\n        - {name: pport, value: '1'}\n",
            2,
            "nothing in the chart reads the value `pport`",
        ),
        ("      helm:\n        values: |\n          pport: 1\n", 2, "nothing in the chart reads the value `pport`"),
    ];
    for (helm, below, expected) in rows {
        let with_helm = text.replace(path, &[path, helm].concat());
        let mut all: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        all.push((&file, &with_helm));
        let said = with(&clone, &all);
        let at = format!("{file}:{}", line + below);
        let found = said.lines().find(|line| line.contains(expected));
        assert!(found.is_some_and(|found| found.starts_with(&at)), "{at} {helm}: {said}");
        assert_eq!(said.matches(expected).count(), 1, "{said}");
    }
}
