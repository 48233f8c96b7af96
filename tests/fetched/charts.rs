//! Charts that Applications need without naming them: dependencies of charts, and charts of kustomizations.
//!
//! `tests/cases/fetched/*.yaml` is what Helm 4.2.3 and Kustomize 5.8.1 print with the same server: `FETCHED_RECORD=1 cargo test
//! --test runner -- fetched::charts` writes it anew, with `helm` and `kustomize` on the PATH.

use std::fs;
use std::path::{Path, PathBuf};

use super::{fetches, message};
use crate::made_applications::{URL, dry, manifest};
use crate::rules::{BY_LABEL, plain, rule};
use crate::servers::{Liar, git_server};
use crate::support::{Answer, Lab, Repo};
use crate::vendor::{chart, files_of, packed, repository, sha256, upstream, vendor};

/// Charts `web` in two versions, and `ignoring`, whose own `.helmignore` names one of its templates.
fn charts(lab: &Lab) -> Liar {
    let root = lab.path("charts");
    repository(&root, &[("web", "1.3.0"), ("web", "1.2.3"), ("ignoring", "1.0.0")]);
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-hidden'}\n";
    let mut files = chart("ignoring", "1.0.0");
    files.push(("ignoring/.helmignore".to_owned(), "hidden.yaml\n".to_owned()));
    files.push(("ignoring/templates/hidden.yaml".to_owned(), object.to_owned()));
    files.push(("ignoring/values-prod.yaml".to_owned(), "word: prod\n".to_owned()));
    let (archive, index) = (packed(&files), fs::read_to_string(root.join("index.yaml")).expect("there"));
    let known = sha256(&fs::read(root.join("ignoring-1.0.0.tgz")).expect("there"));
    fs::write(root.join("index.yaml"), index.replace(&known, &sha256(&archive))).expect("written");
    fs::write(root.join("ignoring-1.0.0.tgz"), archive).expect("written");
    files_of(root)
}

/// What is in a chart of the dry tree beside its `Chart.yaml`.
type Files = &'static [(&'static str, &'static str)];

const OWN: (&str, &str) = (
    "templates/own.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {word: '{{ .Values.word }}'}\n",
);

/// A name, the dependencies, the version that a lock file has of the first one, and further files.
const DEPENDENCIES: &[(&str, &str, &str, Files)] = &[
    ("exact", "{name: web, version: 1.2.3, repository: '@'}", "", &[OWN]),
    ("a-v", "{name: web, version: v1.2.3, repository: '@/'}", "", &[]),
    (
        "alias",
        "{name: web, version: 1.2.3, repository: '@', alias: front}",
        "",
        &[("values.yaml", "front: {word: ours}\n")],
    ),
    (
        "two-aliases",
        "{name: web, version: 1.2.3, repository: '@', alias: front}, {name: web, version: 1.2.3, repository: '@', alias: back}",
        "",
        &[],
    ),
    (
        "two-versions",
        "{name: web, version: 1.2.3, repository: '@', alias: front}, {name: web, version: 1.3.0, repository: '@', alias: back}",
        "",
        &[],
    ),
    (
        "condition",
        "{name: web, version: 1.2.3, repository: '@', condition: web.enabled}",
        "",
        &[OWN, ("values.yaml", "web: {enabled: false}\n")],
    ),
    (
        "import-values",
        "{name: web, version: 1.2.3, repository: '@', import-values: [{child: '.', parent: '.'}]}",
        "",
        &[OWN],
    ),
    ("an-ignoring-one", "{name: ignoring, version: 1.0.0, repository: '@'}", "", &[]),
    ("ignored-here", "{name: web, version: 1.2.3, repository: '@'}", "", &[OWN, (".helmignore", "object.yaml\n")]),
    ("locked-range", "{name: web, version: ~1.2.0, repository: '@'}", "1.2.3", &[]),
    ("locked-any", "{name: web, version: '*', repository: '@'}", "1.2.3", &[OWN]),
    (
        "beside-one-of-the-tree",
        "{name: web, version: 1.2.3, repository: '@'}, {name: own, version: 0.2.0, repository: ''}",
        "",
        &[
            ("charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 0.2.0\n"),
            ("charts/own/templates/own.yaml", OWN.1),
        ],
    ),
];

/// The files of the chart of a row.
fn files(url: &str, (name, dependencies, locked, more): (&str, &str, &str, Files)) -> Vec<(String, String)> {
    let dependencies = dependencies.replace('@', url);
    let mut files = vec![(
        "Chart.yaml".to_owned(),
        format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{dependencies}]\n"),
    )];
    if !locked.is_empty() {
        let want = dependencies.split("version: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a version");
        let text = lock(url, want.trim_matches('\''), locked);
        files.push(("Chart.lock".to_owned(), text));
    }
    files.extend(more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    files.iter().map(|(path, text)| (format!("charts/{name}/{path}"), text.clone())).collect()
}

/// A `Chart.lock` of one dependency `web`.
fn lock(url: &str, want: &str, version: &str) -> String {
    let one = |version: &str| format!("[{{\"name\":\"web\",\"version\":\"{version}\",\"repository\":\"{url}\"}}]");
    let digest = sha256(format!("[{},{}]", one(want), one(version)).as_bytes());
    format!(
        "dependencies:\n- name: web\n  repository: {url}\n  version: {version}\ndigest: sha256:{digest}\ngenerated: \"2026-01-01T00:00:00Z\"\n"
    )
}

fn shown(server: &Repo, name: &str) -> String {
    manifest(server, &format!("environments/{name}"), name)
}

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/fetched").join(name).with_extension("yaml")
}

/// Writes what commands print, in a copy of a clone, where it is to be recorded.
fn record(lab: &Lab, clone: &Repo, url: &str, name: &str, commands: &[&str]) {
    if std::env::var_os("FETCHED_RECORD").is_none() {
        return;
    }
    let copy = lab.path("official");
    drop(fs::remove_dir_all(&copy));
    clone.copy_to("official");
    let mut printed = String::new();
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        printed =
            Answer::new(lab.command(words[0], &copy).args(&words[1..]).output().expect("installed")).success().stdout;
    }
    fs::write(case(name), printed.replace(url, "@")).expect("written");
}

/// An Application of a directory of this repository, with a branch of its own: the others render objects of these names too.
fn application(name: &str, path: &str, more: &str) -> (String, String) {
    let source = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: {path}{more}}}");
    (format!("applications/{name}.yaml"), plain(name, name, &source))
}

/// A server that may fetch, and a clone with Applications of these files; beside each, one of what was recorded of it.
fn pushed(
    lab: &Lab,
    url: &str,
    names: &[&str],
    files: &[(String, String)],
    more: &str,
    official: &[&str],
) -> (Repo, Repo) {
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    fetches(&server, url);
    let mut all = files.to_vec();
    let text: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let clone = dry(&server, &text);
    all.clear();
    for name in names {
        let commands: Vec<String> = official.iter().map(|word| word.replace("NAME", name).replace('@', url)).collect();
        record(lab, &clone, url, name, &commands.iter().map(String::as_str).collect::<Vec<_>>());
        all.push(application(name, &format!("charts/{name}"), more));
        all.push(application(&format!("{name}-official"), &format!("official/{name}"), ""));
        let expected = fs::read_to_string(case(name)).unwrap_or_else(|_| panic!("{name} is not recorded"));
        all.push((format!("official/{name}/all.yaml"), expected.replace('@', url)));
    }
    let text: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("Applications", &text);
    (server, clone)
}

#[test]
fn dependencies_are_fetched_and_rendered_as_helm_does() {
    let lab = Lab::new();
    let charts = charts(&lab);
    let url = charts.url();
    let files: Vec<(String, String)> = DEPENDENCIES.iter().flat_map(|row| files(&url, *row)).collect();
    let names: Vec<&str> = DEPENDENCIES.iter().map(|(name, ..)| *name).collect();
    let official = [
        "helm repo add --force-update here @",
        "helm dependency build charts/NAME",
        "helm template app charts/NAME --namespace shop",
    ];
    let (server, clone) = pushed(&lab, &url, &names, &files, ", helm: {releaseName: app}", &official);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("fetching 4 inputs") && !told.contains("error"), "{told}");
    for name in names {
        let [ours, theirs] = ["", "-official"].map(|end| shown(&server, &format!("{name}{end}")));
        assert_eq!(ours, theirs, "{name}");
    }
    assert!(message(&server, "environments/exact").contains("Hydrate-Inputs: "));
    assert!(
        !clone.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains("charts/exact/charts"),
        "nothing comes into the dry tree"
    );

    // The server is not needed any more, neither here nor in a clone.
    drop(charts);
    clone.commit("touch", &[("charts/exact/values.yaml", "word: more\n")]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("fetching") && !told.contains("error"), "{told}");
    assert!(shown(&server, "exact").contains("word: more"));
    let verified = server.hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    server.git(&["fsck", "--strict"]);
}

const KUSTOMIZATIONS: &[(&str, &str, Files)] = &[
    ("k-exact", "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a}]", &[]),
    (
        "k-namespace",
        "namespace: team\nhelmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a, namespace: team}]",
        &[],
    ),
    (
        "k-inline",
        "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a, valuesInline: {word: inline}}]",
        &[],
    ),
    (
        "k-values",
        "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a, valuesFile: own.yaml}]",
        &[("own.yaml", "word: own\n")],
    ),
    (
        "k-values-of-the-chart",
        "helmCharts: [{name: ignoring, repo: '@', version: 1.0.0, releaseName: a, valuesFile: charts/ignoring-1.0.0/ignoring/values-prod.yaml}]",
        &[],
    ),
    (
        "k-more-values",
        "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a, additionalValuesFiles: [own.yaml]}]",
        &[("own.yaml", "word: own\n")],
    ),
    ("k-ignoring", "helmCharts: [{name: ignoring, repo: '@', version: 1.0.0, releaseName: a}]", &[]),
    (
        "k-two",
        "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a}, {name: web, repo: '@', version: 1.3.0, releaseName: b}]",
        &[],
    ),
    (
        "k-home",
        "helmGlobals: {chartHome: elsewhere}\nhelmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a}]\nnamePrefix: p-",
        &[],
    ),
    (
        "k-generator",
        "generators: [generator.yaml]",
        &[(
            "generator.yaml",
            "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: g}\nname: web\nrepo: '@'\nversion: 1.2.3\nreleaseName: a\n",
        )],
    ),
    (
        "k-base",
        "resources: [base]\nnameSuffix: -s",
        &[("base/kustomization.yaml", "helmCharts: [{name: web, repo: '@', version: 1.2.3, releaseName: a}]\n")],
    ),
];

#[test]
fn charts_of_kustomizations_are_fetched_and_rendered_as_kustomize_does() {
    let lab = Lab::new();
    let charts = charts(&lab);
    let url = charts.url();
    let files = kustomizations(&url);
    let names: Vec<&str> = KUSTOMIZATIONS.iter().map(|(name, ..)| *name).collect();
    let official = ["kustomize build --enable-helm charts/NAME"];
    let (server, clone) = pushed(&lab, &url, &names, &files, "", &official);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("fetching 3 inputs") && !told.contains("error"), "{told}");
    for name in names {
        let [ours, theirs] = ["", "-official"].map(|end| shown(&server, &format!("{name}{end}")));
        assert_eq!(ours, theirs, "{name}");
    }
    assert!(message(&server, "environments/k-exact").contains("Hydrate-Inputs: "));
    drop(charts);
    let verified = server.hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// All kustomizations of the rows, as files.
fn kustomizations(url: &str) -> Vec<(String, String)> {
    let files = KUSTOMIZATIONS.iter().flat_map(|(name, text, more)| {
        let own = [("kustomization.yaml", *text)].into_iter().chain(more.iter().copied());
        own.map(move |(path, text)| (format!("charts/{name}/{path}"), text.replace('@', url) + "\n"))
    });
    files.collect()
}

/// The official tools in their confinement, without any server.
#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn the_official_tools_render_what_is_recorded() {
    let tools =
        std::env::var_os("GIT_HYDRATE_TEST_TOOLS").map(PathBuf::from).expect("a directory with helm and kubectl");
    let lab = Lab::new();
    let charts = charts(&lab);
    let url = charts.url();
    let rows = DEPENDENCIES.iter().filter(|(name, ..)| *name != "ignored-here");
    let mut files: Vec<(String, String)> = rows.clone().flat_map(|row| files(&url, *row)).collect();
    files.extend(kustomizations(&url));
    let dependencies: Vec<&str> = rows.map(|(name, ..)| *name).collect();
    let names: Vec<&str> = dependencies.iter().copied().chain(KUSTOMIZATIONS.iter().map(|(name, ..)| *name)).collect();
    for name in &names {
        let more = if dependencies.contains(name) { ", helm: {releaseName: app}" } else { "" };
        files.push(application(name, &format!("charts/{name}"), more));
    }
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    fetches(&server, &url);
    let clone = dry(&server, &files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    drop(charts);
    let fetch = || clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    fetch();
    let render = |name: &&str| clone.hydrate(&["render", name, "--rev", "main"]);
    let native: Vec<Answer> = names.iter().map(render).collect();
    server.hydrate(&["config", "set", "renderer", "exec"]);
    fetch();
    clone.git(&["config", "hydrate.helm", tools.join("helm").to_str().expect("UTF-8")]);
    clone.git(&["config", "hydrate.kustomize", &format!("{} kustomize", tools.join("kubectl").display())]);
    for (name, native) in names.iter().zip(native) {
        let exec = render(name);
        assert_eq!((exec.code, &exec.stdout), (Some(0), &native.stdout), "{name}: {}", exec.stderr);
    }
    // A file of a chart that the one around it would hide is refused: Helm renders it of a packaged one.
    clone.commit("hide", &[("charts/exact/.helmignore", "object.yaml\n")]);
    let exec = clone.hydrate(&["render", "exact", "--rev", "main"]).exits(1);
    assert!(exec.stderr.contains("hides charts/exact/charts/web/templates/object.yaml"), "{exec:?}");
}

#[test]
fn dependencies_of_other_repositories_are_fetched_too() {
    let lab = Lab::new();
    let charts = charts(&lab);
    let chart = format!(
        "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{{name: web, version: 1.2.3, repository: '{}'}}]\n",
        charts.url()
    );
    let kustomization =
        format!("helmCharts: [{{name: web, repo: '{}', version: 1.2.3, releaseName: k}}]\n", charts.url());
    let upstream = upstream(&lab, &[("app/Chart.yaml", &chart), ("k/kustomization.yaml", &kustomization)]);
    let commit = upstream.git(&["rev-parse", "HEAD"]);
    let git = git_server(&lab.path("git"));
    let url = format!("{}/upstream.git", git.url());
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    fetches(&server, &url);
    fetches(&server, &charts.url());
    let from = |name: &str, path: &str| {
        plain(name, "dev", &format!("source: {{repoURL: '{url}', targetRevision: {commit}, path: {path}}}"))
    };
    let clone = dry(
        &server,
        &[
            ("app.yaml", &from("app", "app")),
            ("k.yaml", &from("k", "k")),
            (
                "remote.yaml",
                &plain("remote", "dev", &format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: remote}}")),
            ),
            ("remote/kustomization.yaml", &format!("namePrefix: r-\nresources: ['{url}//k?ref={commit}']\n")),
        ],
    );
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let rendered = |name: &str| manifest(&server, "environments/dev", name);
    assert!(rendered("app").contains("name: app-web") && rendered("k").contains("name: k-web"));
    assert!(rendered("remote").contains("name: r-k-web"));
    // Brought into the tree, they render the same.
    let before = ["app", "k", "remote"].map(rendered);
    vendor(&clone, &[]).success();
    clone.commit("vendor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    assert_eq!(["app", "k", "remote"].map(rendered), before);
    drop((charts, git));
    assert_eq!(server.hydrate(&["verify"]).code, Some(0));
}

/// Pushes dependencies of a chart, and answers what the pusher was told.
fn told_of(lab: &Lab, url: &str, dependency: &str, more: &[(&str, &str)]) -> (String, Repo) {
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    fetches(&server, url);
    let chart =
        format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n- {}\n", dependency.replace('@', url));
    let app = application("app", "app", "");
    let files = [("app/Chart.yaml", chart.as_str()), (&app.0, &app.1)].into_iter().chain(more.iter().copied());
    let clone = dry(&server, &files.collect::<Vec<_>>());
    (clone.push().success().remote().join("\n"), server)
}

#[test]
fn what_helm_would_not_fetch_is_not_fetched() {
    let own = "apiVersion: v2\nname: web\nversion: 9.0.0\n";
    let stale = |url: &str| lock(url, "1.3.0", "1.3.0");
    let rows: [(&str, &str, &str, &str); 6] = [
        ("a range", "{name: web, version: ~1.2.0, repository: '@'}", "", "hint: run `git hydrate vendor`"),
        (
            "a stale lock",
            "{name: web, version: 1.2.3, repository: '@'}",
            "app/Chart.lock",
            "the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml)",
        ),
        (
            "a name of a machine",
            "{name: web, version: 1.2.3, repository: 'alias:here'}",
            "",
            "missing in charts/ directory: web",
        ),
        ("by hand", "{name: web, version: 1.2.3, repository: '@'}", "app/charts/web/Chart.yaml", "1 object"),
        (
            "elsewhere",
            "{name: web, version: 1.2.3, repository: 'https://charts.example.com'}",
            "",
            "missing in charts/ directory: web",
        ),
        ("none", "{name: web, version: 1.2.3, repository: ''}", "", "missing in charts/ directory: web"),
    ];
    for (name, dependency, file, expected) in rows {
        let lab = Lab::new();
        let charts = charts(&lab);
        let (url, stale) = (charts.url(), stale(&charts.url()));
        let text = if file.ends_with("Chart.lock") { stale.as_str() } else { own };
        let mut more = vec![("app/templates/own.yaml", OWN.1)];
        more.extend((!file.is_empty()).then_some((file, text)));
        let (told, server) = told_of(&lab, &url, dependency, &more);
        assert!(told.contains(expected) && !told.contains("fetching"), "{name}: {told}");
        assert_eq!(server.git(&["for-each-ref", "refs/hydrate/inputs"]), "", "{name}");
    }
}

#[test]
fn a_dependency_that_was_withdrawn_is_not_rendered() {
    let lab = Lab::new();
    let charts = charts(&lab);
    let (told, server) = told_of(&lab, &charts.url(), "{name: web, version: 1.2.3, repository: '@'}", &[]);
    assert!(!told.contains("error"), "{told}");
    let name = format!("chart web 1.2.3 of {}", charts.url());
    server.hydrate(&["inputs", "withdraw", &name, "--reason", "it was broken into"]).success();
    let clone = Repo::at(&lab, "clone");
    clone.commit("touch", &[("app/templates/own.yaml", OWN.1)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("was withdrawn from this repository: it was broken into"), "{told}");
    assert!(!told.contains("fetching") && told.contains("--> app/Chart.yaml"), "{told}");
}

#[test]
fn a_dependency_that_is_not_to_be_had_is_waited_for() {
    let lab = Lab::new();
    let charts = charts(&lab);
    let (told, server) = told_of(&lab, &charts.url(), "{name: web, version: 9.9.9, repository: '@'}", &[]);
    assert!(told.contains("`app` waits for chart web 9.9.9"), "{told}");
    assert_eq!(server.git(&["for-each-ref", "refs/hydrate/failures"]), "", "nothing is wrong with the dry commit");

    // One that is another chart than it says is none.
    let index = fs::read_to_string(lab.path("charts/index.yaml")).expect("there");
    fs::write(
        lab.path("charts/index.yaml"),
        index.replace("  web:\n", "  other:\n").replace("name: web,", "name: other,"),
    )
    .expect("written");
    let lab = Lab::new();
    let (told, _) = told_of(&lab, &charts.url(), "{name: other, version: 1.2.3, repository: '@'}", &[]);
    assert!(
        told.contains("waits for chart other 1.2.3") || told.contains("missing in charts/ directory: other"),
        "{told}"
    );
}
