//! What the official tools render with a network is what is rendered of inputs that were kept: a row a case.
//!
//! `tests/cases/vendor/GROUP/NAME.yaml` is what Helm 4.2.3 and Kustomize 5.8.1 printed while the same servers were there.
//! `VENDOR_RECORD=1 cargo test --test runner -- vendor::cases` writes it anew, with `helm` and `kustomize` on the PATH. A case
//! with `.refused` is one that is refused here by that text; its first line says what the tools do.

mod world;

use std::path::{Path, PathBuf};

use super::{application, files_of, packed, sha256, vendor};
use crate::support::Repo;
use world::{World, world};

const GIT: &[(&str, &str)] = &[
    ("tag", "resources: ['@GIT@/org/up.git//base?ref=v1']"),
    ("annotated-tag", "resources: ['@GIT@/org/up.git//base?ref=v2']"),
    ("branch", "resources: ['@GIT@/org/up.git//base?ref=main']"),
    ("branch-with-slash", "resources: ['@GIT@/org/up.git//base?ref=feature/x']"),
    ("escaped-ref", "resources: ['@GIT@/org/up.git//base?ref=feature%2Fx']"),
    ("commit", "resources: ['@GIT@/org/up.git//base?ref=@COMMIT@']"),
    ("version", "resources: ['@GIT@/org/up.git//base?version=v1']"),
    ("no-ref", "resources: ['@GIT@/org/up.git//base']"),
    ("first-ref-of-two", "resources: ['@GIT@/org/up.git//base?ref=v1&ref=main']"),
    ("ref-before-version", "resources: ['@GIT@/org/up.git//base?version=main&ref=v1']"),
    ("timeout", "resources: ['@GIT@/org/up.git//base?timeout=60&ref=v1']"),
    ("no-submodules", "resources: ['@GIT@/org/up.git//base?submodules=false&ref=v1']"),
    ("unreadable-query", "resources: ['@GIT@/org/up.git//base?ref=v1;x']"),
    ("git-prefix", "resources: ['git::@GIT@/org/up.git//base?ref=v1']"),
    ("one-slash", "resources: ['@GIT@/org/up.git/base?ref=v1']"),
    ("two-segments", "resources: ['@GIT@/org/up/base?ref=v1']"),
    ("root", "resources: ['@GIT@/org/small.git?ref=v1']"),
    ("deep", "resources: ['@GIT@/org/up.git//deep/a/b?ref=v1']"),
    ("two-refs", "resources: ['@GIT@/org/up.git//shared?ref=v1', '@GIT@/org/up.git//other?ref=main']"),
    ("nested", "resources: ['@GIT@/org/up.git//nested?ref=v1']"),
    ("nested-file", "resources: ['@GIT@/org/up.git//with-file?ref=v1']"),
    ("component", "resources: [map.yaml]\ncomponents: ['@GIT@/org/up.git//component?ref=v1']"),
    (
        "overlay",
        "namePrefix: my-\nnamespace: shop\nresources: ['@GIT@/org/up.git//base?ref=v1']\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: base}, data: {a: b}}'}]",
    ),
    ("through-a-local-base", "resources: [../local]"),
    ("origins", "buildMetadata: [originAnnotations]\nresources: [map.yaml, '@GIT@/org/up.git//deep/a/b?ref=v1']"),
    ("origins-of-a-root", "buildMetadata: [originAnnotations]\nresources: ['@GIT@/org/small.git?ref=v1']"),
    (
        "origins-of-changes",
        "buildMetadata: [originAnnotations, transformerAnnotations]\nnamePrefix: x-\nresources: ['@GIT@/org/up.git//deep/a/b?ref=v1']",
    ),
];

const FILES: &[(&str, &str)] = &[
    ("resource", "resources: ['@FILES@/map.yaml']"),
    ("json", "resources: ['@FILES@/map.json']"),
    ("query", "resources: ['@FILES@/map.yaml?a=1&b=2']"),
    ("several-documents", "resources: ['@FILES@/two.yaml']"),
    ("patch", "resources: [map.yaml]\npatches: [{path: '@FILES@/patch.yaml'}]"),
    ("strategic-merge", "resources: [map.yaml]\npatchesStrategicMerge: ['@FILES@/patch.yaml']"),
    ("json-patch", "resources: [map.yaml]\npatches: [{path: '@FILES@/ops.yaml', target: {kind: ConfigMap}}]"),
    ("generator", "configMapGenerator: [{name: g, files: ['@FILES@/plain.txt']}]"),
    ("generator-key", "configMapGenerator: [{name: g, files: ['key=@FILES@/plain.txt']}]"),
    ("generator-env", "configMapGenerator: [{name: g, envs: ['@FILES@/words.env']}]"),
    ("secret", "secretGenerator: [{name: g, files: ['@FILES@/plain.txt']}]"),
    ("replacements", "resources: [map.yaml, '@FILES@/map.yaml']\nreplacements: [{path: '@FILES@/replacement.yaml'}]"),
    ("configuration", "namePrefix: x-\nresources: [map.yaml]\nconfigurations: ['@FILES@/configuration.yaml']"),
    ("transformer", "resources: [map.yaml]\ntransformers: ['@FILES@/transformer.yaml']"),
    ("component-file", "resources: [map.yaml, '@FILES@/dir/map.yaml']"),
];

const CHARTS: &[(&str, &str)] = &[
    ("exact", "version: 1.2.3"),
    ("v-added", "version: v1.2.3"),
    ("v-missing", "version: 1.2.4"),
    ("v-written", "version: v1.2.4"),
    ("metadata", "version: 1.3.0+b1"),
    ("other-metadata", "version: 1.3.0+b2"),
    ("prerelease", "version: 2.0.0-rc.1"),
    ("minor", "version: '1.2'"),
    ("wildcard", "version: 1.2.x"),
    ("tilde", "version: ~1.2.0"),
    ("caret", "version: ^1.2.0"),
    ("newest", ""),
    ("metadata-missing", "version: 1.3.0"),
    ("metadata-none", "version: 1.3.0+b9"),
    ("underscore", "version: 1.3.0_b1"),
    ("latest", "version: latest"),
    ("absent", "version: 9.9.9"),
    ("values", "version: 1.2.3, valuesInline: {word: inline}"),
    ("crds", "version: 1.2.3, includeCRDs: true"),
    ("byte-order-marks", "name: marked, version: 1.0.0"),
    ("another-directory", "name: moved, version: 1.0.0"),
    ("namespace", "version: 1.2.3, namespace: shop"),
];

const DEPENDENCIES: &[(&str, &str)] = &[
    ("exact", "- {name: web, version: 1.2.3, repository: '@CHARTS@'}"),
    ("range", "- {name: web, version: ~1.2.0, repository: '@CHARTS@'}"),
    ("trailing-slash", "- {name: web, version: 1.2.3, repository: '@CHARTS@/'}"),
    ("alias", "- {name: web, version: 1.2.3, repository: '@CHARTS@', alias: front}"),
    (
        "two-aliases",
        "- {name: web, version: 1.2.3, repository: '@CHARTS@', alias: front}\n- {name: web, version: 1.2.3, repository: '@CHARTS@', alias: back}",
    ),
    (
        "two-versions",
        "- {name: web, version: 1.2.3, repository: '@CHARTS@', alias: front}\n- {name: web, version: 2.0.0-rc.1, repository: '@CHARTS@', alias: back}",
    ),
    ("condition", "- {name: web, version: 1.2.3, repository: '@CHARTS@', condition: web.enabled}"),
    ("tags", "- {name: web, version: 1.2.3, repository: '@CHARTS@', tags: [off]}"),
    ("helmignore-of-the-subchart", "- {name: ignoring, version: 1.0.0, repository: '@CHARTS@'}"),
    (
        "two-charts",
        "- {name: web, version: 1.2.3, repository: '@CHARTS@'}\n- {name: ignoring, version: ^1, repository: '@CHARTS@'}",
    ),
    ("byte-order-marks", "- {name: marked, version: 1.0.0, repository: '@CHARTS@'}"),
    ("another-directory", "- {name: moved, version: 1.0.0, repository: '@CHARTS@'}"),
    ("import-values", "- {name: web, version: 1.2.3, repository: '@CHARTS@', import-values: [data]}"),
];

/// Applications that a rule hydrates: their sources, what the official tools make of them, and what is rendered here. The tools
/// get charts and repositories as Argo CD fetches them: the chart unpacked into `up/`, the repository cloned to `other/`.
const SOURCES: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "chart",
        "source: {repoURL: '@CHARTS@', chart: web, targetRevision: 1.2.3}",
        &["helm", "template", "shop", "up/web"],
        &["helm", "shop", "@KEPT-helm@"],
    ),
    (
        "chart-of-a-range",
        "source: {repoURL: '@CHARTS@', chart: web, targetRevision: ~1.2.0}",
        &["helm", "template", "shop", "up/web"],
        &["helm", "shop", "@KEPT-helm@"],
    ),
    (
        "values-of-a-ref",
        "sources: [{repoURL: '@CHARTS@', chart: web, targetRevision: 1.2.3, helm: {valueFiles: [$values/envs/prod.yaml]}}, \
         {repoURL: '@GIT@/org/up.git', targetRevision: v1, ref: values}]",
        &["helm", "template", "shop", "up/web", "--values", "other/envs/prod.yaml"],
        &["helm", "shop", "@KEPT-helm@", "--values", "@KEPT-git@/envs/prod.yaml"],
    ),
    (
        "values-of-a-url",
        "source: {repoURL: '@CHARTS@', chart: web, targetRevision: 1.2.3, helm: {valueFiles: ['@FILES@/values.yaml']}}",
        &["helm", "template", "shop", "up/web", "--values", "@FILES@/values.yaml"],
        &["helm", "shop", "@KEPT-helm@", "--values", "@KEPT-file@"],
    ),
    (
        "chart-of-a-repository",
        "source: {repoURL: '@GIT@/org/up.git', targetRevision: v1, path: chart}",
        &["helm", "template", "shop", "other/chart"],
        &["helm", "shop", "@KEPT-git@/chart"],
    ),
    (
        "chart-of-a-repository-with-values-of-it",
        "sources: [{repoURL: '@GIT@/org/up.git', targetRevision: v1, path: chart, helm: {valueFiles: [$values/envs/prod.yaml]}}, \
         {repoURL: '@GIT@/org/up.git', targetRevision: v1, ref: values}]",
        &["helm", "template", "shop", "other/chart", "--values", "other/envs/prod.yaml"],
        &["helm", "shop", "@KEPT-git@/chart", "--values", "@KEPT-git@/envs/prod.yaml"],
    ),
    (
        "kustomization-of-a-repository",
        "source: {repoURL: '@GIT@/org/up.git', targetRevision: v1, path: deep/a/b}",
        &["kustomize", "build", "other/deep/a/b"],
        &["kustomize", "@KEPT-git@/deep/a/b"],
    ),
];

/// Dependencies with a lock file: what is asked for, and what was chosen when newer ones were not there yet.
const LOCKS: &[(&str, &str, &str)] = &[
    ("of-a-range", "~1.2.0", "1.2.3"),
    ("of-a-version", "1.2.3", "1.2.3"),
    ("of-a-build", "^1.2.0", "1.3.0+b1"),
    ("of-any", "*", "1.2.3"),
];

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {here: local}\n";

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{word: {name}}}\n")
}

fn cases(group: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/vendor").join(group)
}

/// A kustomization with one chart, `web` where a row names none.
fn helm_charts(row: &str) -> String {
    let name = if row.starts_with("name: ") { "" } else { "name: web, " };
    format!("helmCharts:\n- {{{name}repo: '@CHARTS@', releaseName: a, {row}}}\n")
}

fn kustomizations(group: &str, rows: &[(&str, &str)], text: impl Fn(&str) -> String) {
    let world = world();
    let mut wrong = Vec::new();
    for (name, row) in rows {
        let local = "resources: ['@GIT@/org/up.git//base?ref=v1']\nnamePrefix: local-\n";
        let app = application("web", "web");
        world.prepare(&[
            ("web/kustomization.yaml", &text(row)),
            ("local/kustomization.yaml", local),
            ("applications/web.yaml", &app),
        ]);
        let official: &[&[&str]] = &[&["kustomize", "build", "--enable-helm", "web"]];
        world.judge(&cases(group).join(name), official, &["render", "kustomize", "web", "--enable-helm"], &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn bases_of_other_repositories() {
    kustomizations("git", GIT, |row| format!("{row}\n"));
}

#[test]
fn remote_files() {
    kustomizations("files", FILES, |row| format!("{row}\n"));
}

#[test]
fn charts_of_kustomizations() {
    kustomizations("charts", CHARTS, helm_charts);
}

#[test]
fn dependencies_of_charts() {
    let world = world();
    let mut wrong = Vec::new();
    for (name, row) in DEPENDENCIES {
        let chart = format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n{row}\n");
        world.prepare(&[
            ("charts/app/Chart.yaml", &chart),
            ("applications/app.yaml", &application("app", "charts/app")),
        ]);
        let template = ["helm", "template", "app", "charts/app", "--namespace", "shop"];
        let official: &[&[&str]] = &[&["helm", "dependency", "update", "charts/app"], &template];
        let ours = ["render", "helm", "app", "charts/app", "--namespace", "shop"];
        world.judge(&cases("dependencies").join(name), official, &ours, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn sources_of_applications() {
    let world = world();
    let server = Repo::at(&world.lab, "dry.git");
    server.hydrate(&["config", "set", "repoURL", "https://example.com/dry.git"]).success();
    let rule = "- {match: {name: '*'}, branch: environments/dev, path: '{{ name }}'}\n";
    server.hydrate(&["config", "set", "rules", "--", rule]).success();
    world.dry.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let mut wrong = Vec::new();
    for (name, sources, official, ours) in SOURCES {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  {sources}
"
        );
        world.prepare(&[("applications/shop.yaml", &application)]);
        let version =
            sources.split_once("targetRevision: ").map_or("", |(_, rest)| rest.split(['}', ',']).next().unwrap_or(""));
        let [charts, git] = [world.charts.url(), format!("{}/org/up.git", world.git.url())];
        let official: Vec<String> = official.iter().map(|word| world.filled(word)).collect();
        let mut official: Vec<&str> = official.iter().map(String::as_str).collect();
        let mut ours = [&["render"], *ours].concat();
        if official[0] == "helm" {
            official.extend(["--namespace", "shop"]);
            ours.extend(["--namespace", "shop"]);
        }
        let pull = ["helm", "pull", "web", "--repo", &charts, "--version", version, "--untar", "--untardir", "up"];
        let clone = ["git", "clone", "-q", "-b", "v1", &git, "other"];
        let mut commands: Vec<&[&str]> = Vec::new();
        commands.extend(sources.contains("chart: web").then_some(&pull[..]));
        commands.extend(sources.contains("@GIT@").then_some(&clone[..]));
        commands.push(&official);
        world.judge(&cases("sources").join(name), &commands, &ours, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn dependencies_with_a_lock_file() {
    let world = world();
    let mut wrong = Vec::new();
    let url = world.charts.url();
    for (name, want, locked) in LOCKS {
        let dependency =
            |version: &str| format!("[{{\"name\":\"web\",\"version\":\"{version}\",\"repository\":\"{url}\"}}]");
        let digest = sha256(format!("[{},{}]", dependency(want), dependency(locked)).as_bytes());
        let chart = format!(
            "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n- {{name: web, version: '{want}', repository: '{url}'}}\n"
        );
        let lock = format!(
            "dependencies:\n- name: web\n  repository: {url}\n  version: {locked}\ndigest: sha256:{digest}\ngenerated: \
             \"2026-01-01T00:00:00Z\"\n"
        );
        world.prepare(&[
            ("charts/app/Chart.yaml", &chart),
            ("charts/app/Chart.lock", &lock),
            ("applications/app.yaml", &application("app", "charts/app")),
        ]);
        let template = ["helm", "template", "app", "charts/app", "--namespace", "shop"];
        let official: &[&[&str]] = &[
            &["helm", "repo", "add", "--force-update", "charts", &url],
            &["helm", "dependency", "build", "charts/app"],
            &template,
        ];
        let ours = ["render", "helm", "app", "charts/app", "--namespace", "shop"];
        world.judge(&cases("locks").join(name), official, &ours, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The official tools in their confinement, without any server: the same of what is kept as our own engines make.
#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn the_official_tools_render_what_is_kept() {
    let tools =
        std::env::var_os("GIT_HYDRATE_TEST_TOOLS").map(PathBuf::from).expect("a directory with helm and kubectl");
    let world = world();
    let begin = world.dry.git(&["rev-parse", "HEAD"]);
    let mut all: Vec<(&str, String)> = Vec::new();
    for (name, row) in GIT.iter().chain(FILES) {
        all.push((*name, format!("{row}\n")));
    }
    for (name, row) in CHARTS {
        all.push((*name, helm_charts(row)));
    }
    all.push(("a generator in a file", "generators: [generator.yaml]\n".to_owned()));
    let generator =
        "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: ['@FILES@/plain.txt']\n";
    let mut kept = Vec::new();
    for (name, text) in &all {
        world.dry.git(&["reset", "-q", "--hard", &begin]);
        let local = "resources: ['@GIT@/org/up.git//base?ref=v1']\nnamePrefix: local-\n";
        // An edit of the Application's own, which is made on the file.
        let edited = application("edited", "web").replace("path: web, ", "path: web, kustomize: {namePrefix: e-}");
        world.prepare(&[
            ("web/kustomization.yaml", text),
            ("web/generator.yaml", generator),
            ("local/kustomization.yaml", local),
            ("applications/web.yaml", &application("web", "web")),
            ("applications/edited.yaml", &edited),
        ]);
        // Where something comes from is another place for the official tools here, so they do not tell it.
        if !text.contains("buildMetadata") && vendor(&world.dry, &[]).code == Some(0) {
            world.dry.git(&["add", "--all", "--force"]);
            world.dry.git(&["commit", "-q", "-m", name]);
            let commit = world.dry.git(&["rev-parse", "HEAD"]);
            let native = ["web", "edited"].map(|app| world.dry.hydrate(&["render", app, "--rev", &commit]));
            kept.push((*name, commit, native));
        }
    }
    for (name, row) in DEPENDENCIES {
        world.dry.git(&["reset", "-q", "--hard", &begin]);
        let chart = format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n{row}\n");
        let mut applications = Vec::new();
        for app in ["web", "edited"] {
            let text = application(app, "charts/app");
            applications.push((format!("applications/{app}.yaml"), text));
        }
        let mut files = vec![("charts/app/Chart.yaml", chart.as_str())];
        files.extend(applications.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        world.prepare(&files);
        vendor(&world.dry, &[]).success();
        world.dry.git(&["add", "--all", "--force"]);
        world.dry.git(&["commit", "-q", "-m", name]);
        let commit = world.dry.git(&["rev-parse", "HEAD"]);
        let native = ["web", "edited"].map(|app| world.dry.hydrate(&["render", app, "--rev", &commit]));
        kept.push((*name, commit, native));
    }
    let World { lab, dry, charts, git, .. } = world;
    drop((charts, git));
    Repo::at(&lab, "dry.git").hydrate(&["config", "set", "renderer", "exec"]).success();
    dry.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    dry.git(&["config", "hydrate.helm", tools.join("helm").to_str().expect("UTF-8")]);
    dry.git(&["config", "hydrate.kustomize", &format!("{} kustomize", tools.join("kubectl").display())]);
    for (name, commit, native) in &kept {
        for (app, native) in ["web", "edited"].into_iter().zip(native) {
            let exec = dry.hydrate(&["render", app, "--rev", commit]);
            assert_eq!((exec.code, &exec.stdout), (native.code, &native.stdout), "{name}, {app}: {}", exec.stderr);
            assert_eq!(exec.code, Some(0), "{name}, {app}: {}", exec.stderr);
        }
    }
    // What is not as the lock file says is not rendered by them either.
    let (name, commit, _) = &kept[0];
    dry.git(&["reset", "-q", "--hard", commit]);
    let map = dry.git(&["ls-files", ".hydrate/*base/map.yaml"]);
    dry.commit("Edit", &[(&map, &self::map("edited"))]);
    let exec = dry.hydrate(&["render", "web"]).exits(1);
    assert!(exec.stderr.contains("are not those of"), "{name}: {}", exec.stderr);
}
