//! Applications that other Applications render are hydrated as those that stand in files: real pushes.

use crate::made_applications::{URL, config, dry, files, list, manifest};
use crate::push::{both, tip};
use crate::support::{Lab, Repo};

/// An Application that renders others, and is hydrated itself.
fn root(path: &str, options: &str) -> String {
    parent("root", path, options)
}

pub(crate) fn parent(name: &str, path: &str, options: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  destination: {{server: https://kubernetes.default.svc, namespace: argocd}}
  sourceHydrator:
    drySource: {{repoURL: {URL}, targetRevision: main, path: {path}{options}}}
    syncSource: {{targetBranch: clusters/apps, path: {name}}}
"
    )
}

fn application(name: &str, environment: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}-{environment}
  namespace: argocd
spec:
  sourceHydrator:
    drySource:
      repoURL: {URL}
      targetRevision: main
      path: apps/{name}/{environment}
    syncSource:
      targetBranch: environments/{environment}
      path: {name}
  destination:
    namespace: {name}-{environment}
"
    )
}

pub(crate) const CHART: &str = "apiVersion: v2\nname: apps\nversion: 1.0.0\n";

/// A template of Applications, one for each element of the value `apps`.
pub(crate) fn template() -> String {
    let text = application("NAME", "ENVIRONMENT").replace("NAME", "{{ .name }}").replace("ENVIRONMENT", "{{ .env }}");
    format!("{{{{- range .Values.apps }}}}\n---\n{text}{{{{- end }}}}\n")
}

pub(crate) fn values(apps: &[(&str, &str)]) -> String {
    let entries = apps.iter().map(|(name, env)| format!("- {{name: {name}, env: {env}}}\n"));
    format!("apps:\n{}", entries.collect::<String>())
}

/// A repository whose root is a chart of these Applications.
fn chart(server: &Repo, apps: &[(&str, &str)]) -> Repo {
    let configs: Vec<(String, String)> =
        apps.iter().map(|(app, environment)| config(app, environment, "one")).collect();
    let named = ", helm: {releaseName: root}";
    let (root, template, values) = (root("charts/apps", named), template(), values(apps));
    let mut all = vec![
        ("root.yaml", root.as_str()),
        ("charts/apps/Chart.yaml", CHART),
        ("charts/apps/values.yaml", &values),
        ("charts/apps/templates/apps.yaml", &template),
    ];
    all.extend(configs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    dry(server, &all)
}

const THREE: [(&str, &str); 3] = [("web", "dev"), ("web", "prod"), ("api", "dev")];

#[test]
fn a_chart_of_applications_hydrates_them_and_follows_its_values() {
    both(|server| {
        let clone = chart(server, &THREE);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(server.git(&["hydrate", "config", "get", "madeApplications"]), "true");
        assert!(manifest(server, "environments/dev", "web").contains("value: one"));
        assert!(manifest(server, "environments/dev", "api").contains("value: one"));
        assert!(manifest(server, "clusters/apps", "root").contains("name: web-prod"));
        let prod = tip(server, "environments/prod");

        // What one of them renders.
        let (path, text) = config("web", "dev", "two");
        clone.commit("change one", &[(&path, &text)]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));
        assert_eq!(tip(server, "environments/prod"), prod);

        // Which there are.
        let (path, text) = config("mail", "dev", "one");
        let four = [("web", "dev"), ("web", "prod"), ("mail", "dev")];
        clone.commit("one more, one less", &[(&path, &text), ("charts/apps/values.yaml", &values(&four))]);
        clone.push().success();
        let dev = files(server, "environments/dev");
        assert!(dev.contains("mail/manifest.yaml") && !dev.contains("api/"), "{dev}");

        // Where one of them goes.
        let moved = template().replace("path: {{ .name }}\n  dest", "path: moved/{{ .name }}\n  dest");
        assert_ne!(moved, template());
        clone.commit("move", &[("charts/apps/templates/apps.yaml", &moved)]);
        clone.push().success();
        let dev = files(server, "environments/dev");
        assert!(dev.contains(" moved/mail/manifest.yaml") && !dev.contains(" mail/"), "{dev}");
    });
}

#[test]
fn a_parent_that_fails_holds_what_it_fed_and_no_other() {
    both(|server| {
        let clone = chart(server, &THREE);
        let other = list("tools", &["api@tools"], "");
        let (path, text) = config("api", "tools", "one");
        clone.commit("a set beside it", &[("sets/tools.yaml", &other), (&path, &text)]);
        clone.push().success();
        let tips = || ["environments/dev", "environments/prod", "clusters/apps"].map(|branch| tip(server, branch));
        let before = tips();

        let broken = template().replace("{{ .env }}", "{{ .env | nothing }}");
        let configs = [config("web", "dev", "two"), config("api", "tools", "two")];
        let mut edits: Vec<(&str, &str)> = configs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        edits.push(("charts/apps/templates/apps.yaml", &broken));
        clone.commit("break", &edits);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: Application `root` makes no Applications: "), "{told}");
        assert!(told.contains("function \"nothing\" not defined"), "{told}");
        assert!(told.contains("charts/apps/templates/apps.yaml:6"), "{told}");
        assert_eq!(tips(), before);
        assert!(manifest(server, "environments/tools", "api").contains("value: two"));

        // Also when something else is pushed.
        clone.commit("elsewhere", &[("docs/a.txt", "a")]);
        clone.push().success();
        assert_eq!(tips(), before);

        clone.commit("correct", &[("charts/apps/templates/apps.yaml", &template())]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));
    });
}

#[test]
fn a_parent_that_goes_takes_what_it_made_with_it() {
    both(|server| {
        let clone = chart(server, &THREE);
        let written = application("mail", "dev");
        let (path, text) = config("mail", "dev", "one");
        clone.commit("one that stands in a file", &[("mail.yaml", &written), (&path, &text)]);
        clone.push().success();
        clone.commit(
            "go\n\nHydrate-Allow-Removal: environments/dev\nHydrate-Allow-Removal: clusters/apps",
            &[("root.yaml", "")],
        );
        let told = clone.push().success().remote().join("\n");
        let dev = files(server, "environments/dev");
        assert!(dev.contains("mail/manifest.yaml") && !dev.contains("web/") && !dev.contains("api/"), "{dev}\n{told}");
    });
}

#[test]
fn a_mistake_in_what_is_rendered_leads_to_the_template() {
    both(|server| {
        let clone = chart(server, &THREE);
        let wrong = template().replace("environments/{{ .env }}", "environments/{{ .env }}.lock");
        clone.commit("slip", &[("charts/apps/templates/apps.yaml", &wrong)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`environments/dev.lock` is not a valid branch name"), "{told}");
        assert!(told.contains("charts/apps/templates/apps.yaml:15:21"), "{told}");
        assert!(told.contains("made by Application `root` from charts/apps/templates/apps.yaml:6:9"), "{told}");
        // What does not render leads back, too.
        let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n";
        clone
            .commit("break", &[("charts/apps/templates/apps.yaml", &template()), ("apps/web/dev/config.yaml", broken)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("apps/web/dev/config.yaml:4") && told.contains("made by Application `root`"), "{told}");
    });
}

#[test]
fn files_that_a_parent_applies_as_they_are_count_once() {
    both(|server| {
        let all = [("web", "dev"), ("api", "dev")];
        let texts = all.map(|(name, environment)| (format!("bootstrap/{name}.yaml"), application(name, environment)));
        let configs = all.map(|(name, environment)| config(name, environment, "one"));
        let root = root("bootstrap", "");
        let mut edits: Vec<(&str, &str)> =
            texts.iter().chain(&configs).map(|(p, t)| (p.as_str(), t.as_str())).collect();
        // It applies itself, too.
        edits.push(("bootstrap/root.yaml", &root));
        let clone = dry(server, &edits);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert!(files(server, "environments/dev").contains("web/manifest.yaml"));
        let applied = manifest(server, "clusters/apps", "root");
        assert!(applied.contains("name: root") && applied.contains("name: web-dev"), "{applied}");
        let moved = application("web", "dev").replace("path: web\n", "path: site\n");
        clone.commit("move", &[("bootstrap/web.yaml", &moved)]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains(" site/manifest.yaml"));
        assert!(manifest(server, "clusters/apps", "root").contains("path: site"));
    });
}

#[test]
fn what_a_kustomization_makes_of_files_is_hydrated_in_their_place() {
    both(|server| {
        let base = application("web", "dev");
        let patch = "patches:\n- target: {kind: Application}\n  patch: |-\n    - {op: replace, path: \
                     /spec/sourceHydrator/syncSource/targetBranch, value: regions/eu}\n";
        let overlay = format!("resources: [../base]\nnameSuffix: -eu\n{patch}");
        let (path, text) = config("web", "dev", "one");
        let clone = dry(
            server,
            &[
                ("root.yaml", &root("bootstrap/eu", "")),
                ("bootstrap/base/web.yaml", &base),
                ("bootstrap/base/kustomization.yaml", "resources: [web.yaml]\n"),
                ("bootstrap/eu/kustomization.yaml", &overlay),
                (&path, &text),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert!(files(server, "regions/eu").contains("web/manifest.yaml"));
        assert!(server.git(&["branch", "--list", "environments/dev"]).is_empty());
        let listed = server.hydrate(&["apps"]).success().stdout;
        assert!(listed.contains("web-dev-eu") && !listed.contains("  web-dev  "), "{listed}");
        assert!(listed.contains("made by Application `root` from bootstrap/base/web.yaml:4:9"), "{listed}");
    });
}

#[test]
fn a_name_that_a_file_a_set_and_a_parent_have_is_told_with_both_places() {
    both(|server| {
        let clone = chart(server, &THREE);
        let set = list("sets", &["web@prod"], "").replace("{name: sets}", "{name: sets, namespace: argocd}");
        clone.commit("twice", &[("a.yaml", &application("web", "dev")), ("z.yaml", &set)]);
        let told = clone.push().success().remote().join("\n");
        let template = "charts/apps/templates/apps.yaml:6";
        assert!(told.contains("`web-dev` is made by Application `root`, and there is another"), "{told}");
        assert!(told.contains("the other one is at a.yaml:4"), "{told}");
        assert!(told.contains("`web-prod` is made by") && told.contains("z.yaml:10"), "{told}");
        assert!(told.contains(template), "{told}");
        assert!(server.git(&["branch", "--list", "environments/*"]).is_empty());
    });
}

#[test]
fn parents_make_parents_and_sets_that_make_parents() {
    both(|server| {
        // A root that renders a set, which makes a parent for each directory, each of which renders an Application.
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: teams, namespace: argocd}}
spec:
  generators:
  - git: {{repoURL: {URL}, revision: HEAD, directories: [{{path: teams/*}}]}}
  template:
    metadata: {{name: 'team-{{{{path.basename}}}}'}}
    spec:
      sourceHydrator:
        drySource: {{repoURL: {URL}, targetRevision: main, path: '{{{{path}}}}'}}
        syncSource: {{targetBranch: clusters/teams, path: '{{{{path.basename}}}}'}}
"
        );
        let quoted = ["{{path}}", "{{path.basename}}"]
            .iter()
            .fold(set, |text, word| text.replace(word, &format!("{{{{ `{word}` }}}}")));
        let team = |name: &str| (format!("teams/{name}/templates/app.yaml"), application(name, "dev"));
        let (red, blue) = (team("red"), team("blue"));
        let configs = [config("red", "dev", "one"), config("blue", "dev", "one")];
        let mut edits = vec![
            ("root.yaml".to_owned(), root("bootstrap", "")),
            ("bootstrap/Chart.yaml".to_owned(), CHART.to_owned()),
            ("bootstrap/templates/teams.yaml".to_owned(), quoted),
            ("teams/red/Chart.yaml".to_owned(), CHART.to_owned()),
            ("teams/blue/Chart.yaml".to_owned(), CHART.to_owned()),
            red,
        ];
        edits.extend(configs);
        let edits: Vec<(&str, &str)> = edits.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let clone = dry(server, &edits);
        let told = clone.push().success().remote().join("\n");
        assert!(files(server, "environments/dev").contains("red/manifest.yaml"), "{told}");
        let listed = server.hydrate(&["apps", "--json"]).success().stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        let of = |name: &str| {
            let all = listed["applications"].as_array().expect("a list");
            all.iter().find(|one| one["name"] == name).expect("listed")["madeBy"].clone()
        };
        assert_eq!(of("team-red")["kind"], "ApplicationSet");
        assert_eq!(of("team-red")["above"], serde_json::json!([{"kind": "Application", "name": "root"}]));
        let above =
            serde_json::json!([{"kind": "ApplicationSet", "name": "teams"}, {"kind": "Application", "name": "root"}]);
        assert_eq!((&of("red-dev")["kind"], &of("red-dev")["above"]), (&"Application".into(), &above));

        clone.commit("one more", &[(&blue.0, &blue.1)]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains("blue/manifest.yaml"));
        // What the first of them cannot say holds what the last of them made.
        let before = tip(server, "environments/dev");
        clone.commit(
            "break",
            &[
                ("bootstrap/templates/teams.yaml", "{{ fail \"not today\" }}"),
                (&config("red", "dev", "two").0, &config("red", "dev", "two").1),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("Application `root` makes no Applications") && told.contains("not today"), "{told}");
        assert_eq!(tip(server, "environments/dev"), before);
    });
}

#[test]
fn what_makes_itself_ends() {
    both(|server| {
        // By its own name with something else in it, and by ever new names.
        let itself = root("self", ", helm: {parameters: [{name: count, value: '{{ .Values.count }}x'}]}");
        let next = "{{ printf \"chain-%d\" (add1 (int .Values.count)) }}";
        let options =
            ", helm: {parameters: [{name: count, value: '{{ add1 (int .Values.count) }}', forceString: true}]}";
        let chain = parent("chain-0", "chain", ", helm: {parameters: [{name: count, value: '0', forceString: true}]}");
        let link = parent(next, "chain", options).replace(&format!("path: {next}}}"), &format!("path: '{next}'}}"));
        let (path, text) = config("web", "dev", "one");
        let clone = dry(
            server,
            &[
                ("root.yaml", &root("self", "")),
                ("self/Chart.yaml", CHART),
                ("self/values.yaml", "count: a\n"),
                ("self/templates/self.yaml", &itself),
                ("chain.yaml", &chain),
                ("chain/Chart.yaml", CHART),
                ("chain/templates/link.yaml", &link),
                ("web.yaml", &application("web", "dev")),
                (&path, &text),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`root` is made by Application `root`, and there is another"), "{told}");
        assert!(told.contains("nested 8 deep; the setting limits.madeDepth"), "{told}");
        assert!(files(server, "environments/dev").contains("web/manifest.yaml"), "{told}");
    });
}

#[test]
fn roots_that_live_in_the_cluster_only_are_a_setting() {
    both(|server| {
        let template = template().replace("{{- range", "{{- if .Release.IsInstall }}{{ end }}{{- range");
        let values = values(&THREE);
        let configs = THREE.map(|(app, environment)| config(app, environment, "one"));
        let mut edits = vec![
            ("bootstrap/Chart.yaml", CHART),
            ("bootstrap/values.yaml", "apps: []\n"),
            ("bootstrap/prod.yaml", &values),
            ("bootstrap/templates/apps.yaml", &template),
        ];
        edits.extend(configs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let clone = dry(server, &edits);
        let setting = "[{name: root, path: bootstrap, namespace: argocd, helm: {valueFiles: [prod.yaml]}}]";
        for (wrong, said) in [
            ("[{name: root}]", "the root `root`: `path` is missing"),
            ("[{path: bootstrap}]", "a root has no `name`"),
            ("[{name: root, path: ../x}]", "the root `root`: "),
            ("[{name: root, path: a, helm: {valueFile: x}}]", "the root `root`: unknown field"),
            ("[{name: a, path: a}, {name: a, path: b}]", "roots: two have the name `a`"),
        ] {
            let refused = server.hydrate(&["config", "set", "roots", wrong]).exits(2);
            assert!(refused.stderr.contains(said), "{wrong}: {}", refused.stderr);
        }
        server.git(&["hydrate", "config", "set", "repoURL", URL]);
        server.git(&["hydrate", "config", "set", "madeApplications", "true"]);
        server.git(&["hydrate", "config", "set", "roots", setting]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains("web/manifest.yaml"));
        assert!(files(server, "environments/prod").contains("web/manifest.yaml"));
        let listed = server.hydrate(&["apps"]).success().stdout;
        assert!(listed.contains("made by root `root` from bootstrap/templates/apps.yaml:6:9"), "{listed}");

        let (path, text) = config("web", "dev", "two");
        clone.commit("change one", &[(&path, &text)]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));

        // One that cannot be answered and fed nothing is a warning.
        server.git(&[
            "hydrate",
            "config",
            "set",
            "roots",
            &setting.replace("}}]", "}}, {name: other, path: no/such}]"),
        ]);
        let (path, text) = config("web", "dev", "three");
        clone.commit("again", &[(&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("warning: root `other` makes no Applications: "), "{told}");
        assert!(manifest(server, "environments/dev", "web").contains("value: three"));
        let before = tip(server, "environments/dev");
        clone.commit("break", &[("bootstrap/prod.yaml", "apps: {web: \n")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: root `root` makes no Applications: "), "{told}");
        assert_eq!(tip(server, "environments/dev"), before);
    });
}

#[test]
fn what_names_the_commit_is_made_again_for_each() {
    both(|server| {
        let clone = chart(server, &[("web", "dev")]);
        let parameters = ", helm: {parameters: [{name: commit, value: $ARGOCD_APP_REVISION_SHORT}]}";
        let template =
            template().replace("path: {{ .name }}\n  dest", "path: {{ .name }}-{{ $.Values.commit }}\n  dest");
        let first = clone.commit(
            "name the commit",
            &[("root.yaml", &root("charts/apps", parameters)), ("charts/apps/templates/apps.yaml", &template)],
        );
        clone.push().success();
        let dev = files(server, "environments/dev");
        assert!(dev.contains(&format!("web-{}/manifest.yaml", &first[..7])), "{dev}");
        let second = clone.commit("elsewhere", &[("docs/a.txt", "a")]);
        clone.push().success();
        let dev = files(server, "environments/dev");
        assert!(dev.contains(&format!("web-{}/manifest.yaml", &second[..7])), "{dev}");
    });
}

#[test]
fn a_parent_beyond_a_limit_of_the_machine_is_no_mistake_of_the_commit() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server, &THREE);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    server.git(&["config", "hydrate.objectLimit", "2"]);
    let (path, text) = config("web", "dev", "two");
    clone.commit("change", &[(&path, &text), ("charts/apps/templates/_more.tpl", "{{/* nothing */}}")]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("git config hydrate.objectLimit sets the limit"), "{told}");
    assert!(told.contains("environments/dev   stays at") && !told.contains("unchanged by"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    server.git(&["config", "hydrate.objectLimit", "1000"]);
    let told = server.hydrate(&["catch-up"]).success();
    assert!(manifest(&server, "environments/dev", "web").contains("value: two"), "{told:?}");
}

#[test]
fn every_command_names_the_parent() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server, &THREE);
    clone.push().success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    let made_by = "made by Application `root` from charts/apps/templates/apps.yaml:6:9";
    let apps = clone.hydrate(&["apps"]).success().stdout;
    assert!(
        apps.contains(&format!("web-dev  apps/web/dev -> web\n    charts/apps/templates/apps.yaml:6, {made_by}")),
        "{apps}"
    );
    assert!(apps.ends_with("4 of 4 Applications hydrate from main, if they render: git hydrate check\n"), "{apps}");
    let apps = clone.hydrate(&["apps", "--json", "--made-by", "root"]).success().stdout;
    let apps: serde_json::Value = serde_json::from_str(&apps).expect("JSON");
    let first = serde_json::json!({
        "name": "api-dev", "namespace": "argocd", "file": "charts/apps/templates/apps.yaml", "line": 6,
        "madeBy": {"kind": "Application", "name": "root", "element": "charts/apps/templates/apps.yaml:6:9"},
        "source": "apps/api/dev", "branch": "environments/dev", "path": "api", "hydrated": true,
    });
    assert_eq!((apps["applications"].as_array().map(Vec::len), &apps["applications"][0]), (Some(3), &first));
    let shown = clone.hydrate(&["apps", "--show", "web-prod"]).success().stdout;
    assert!(shown.contains("kind: Application") && shown.contains("targetBranch: environments/prod"), "{shown}");
    let shown = clone.hydrate(&["apps", "--show", "root", "--json"]).success().stdout;
    assert!(shown.contains("\"path\": \"charts/apps\""), "{shown}");
    let none = clone.hydrate(&["apps", "--show", "none"]).exits(2);
    assert!(none.stderr.contains("there is no Application `none`"), "{none:?}");
    let checked = clone.hydrate(&["check", "--json"]).success().stdout;
    assert!(checked.contains("\"applications\": 4,\n  \"hydrated\": 4,\n  \"rendered\": 4"), "{checked}");
    let explained = server.hydrate(&["explain", "environments/dev:web/manifest.yaml:6"]).success().stdout;
    assert!(explained.contains(made_by.trim_start_matches("made by ")), "{explained}");
    let rendered = clone.hydrate(&["render", "web-dev"]).success().stdout;
    assert!(rendered.contains("name: web"), "{rendered}");

    // What comes and goes because a value of the parent changes.
    let (path, text) = config("mail", "dev", "one");
    clone.commit(
        "one more",
        &[(&path, &text), ("charts/apps/values.yaml", &values(&[("web", "dev"), ("mail", "dev"), ("web", "prod")]))],
    );
    let diff = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(diff.contains(&format!("mail-dev  mail  new\n    {made_by}")), "{diff}");
    assert!(diff.contains(&format!("api-dev  api  removed\n    {made_by}")), "{diff}");
    let diff = clone.hydrate(&["diff", "--json"]).exits(1).stdout;
    assert!(diff.contains(&format!("\"madeBy\": \"{}\"", made_by.trim_start_matches("made by "))), "{diff}");
    let page = lab.path("page.html");
    clone.hydrate(&["diff", "--html", &page.display().to_string()]).exits(1);
    let page = std::fs::read_to_string(page).expect("written");
    assert!(page.contains("made by Application `root` from"), "{page}");

    // A parent that does not render is refused before it is pushed, wherever it is judged.
    server.git(&["config", "hydrate.strict", "true"]);
    clone.hydrate(&["install", "--client"]);
    clone.commit("break", &[("charts/apps/templates/apps.yaml", "{{ fail \"not today\" }}")]);
    for answer in [clone.hydrate(&["diff"]), clone.hydrate(&["check"]), clone.push()] {
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(answer.code != Some(0) && said.contains("not today"), "{answer:?}");
    }
    let refused = clone.run("git", &["push", "--no-verify", "origin", "HEAD"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("not today"), "{refused:?}");
}

#[test]
fn a_slip_in_what_a_chart_renders_for_one_application_removes_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = chart(&server, &THREE);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let slips = [
        (
            "kind: Application\n",
            "kind: {{ if eq .name \"api\" }}Aplication{{ else }}Application{{ end }}\n",
            "Aplication",
        ),
        ("argoproj.io/", "{{ if eq .name \"api\" }}argoprj.io{{ else }}argoproj.io{{ end }}/", "argoprj.io"),
    ];
    for (right, slip, shown) in slips {
        let slip = template().replace(right, slip);
        assert_ne!(slip, template());
        clone.commit("slip", &[("charts/apps/templates/apps.yaml", &slip)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ") && told.contains(shown) && told.contains("stays at"), "{told}");
        assert_eq!(tip(&server, "environments/dev"), before);
        clone.commit("right again", &[("charts/apps/templates/apps.yaml", &template())]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("error"), "{told}");
    }
}
