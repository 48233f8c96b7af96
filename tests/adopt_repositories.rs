//! `git hydrate adopt` on what public repositories have: options of Kustomize in `argocd-cm`, Applications that a pattern has no
//! branch for, Applications that render objects of one another.

use serde_json::Value;

use crate::servers::Liar;
use crate::support::{Answer, Lab, Repo};
use crate::vendor::{files_of, packed};

const URL: &str = "https://git.example.com/team/dry.git";

fn application(name: &str, labels: &str, path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd, labels: {{{labels}}}}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  source: {{repoURL: '{URL}', targetRevision: HEAD, path: {path}}}
"
    )
}

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

fn committed(clone: &Repo, files: &[(&str, String)]) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.commit("a repository", &files);
}

fn adopt(clone: &Repo, patterns: &[&str], args: &[&str]) -> Answer {
    let patterns = patterns.iter().flat_map(|pattern| ["--branch-pattern", pattern]);
    let all: Vec<&str> = ["adopt", "--repo-url", URL].into_iter().chain(patterns).chain(args.iter().copied()).collect();
    clone.hydrate(&all)
}

/// The Applications that hydrate, each with its branch, and the others, each with its cause.
fn found(clone: &Repo, patterns: &[&str]) -> Vec<String> {
    let json: Value = serde_json::from_str(&adopt(clone, patterns, &["--json"]).stdout).expect("JSON");
    let all = json["adoption"]["applications"].as_array().expect("a list").iter();
    let shown = all.map(|one| {
        let what = if one["hydrates"] == true { &one["branch"] } else { &one["cause"] };
        format!("{} {}", one["name"].as_str().unwrap_or_default(), what.as_str().unwrap_or_default())
    });
    shown.collect()
}

#[test]
fn options_of_kustomize_come_from_the_argocd_cm_of_the_repository() {
    let kustomization = "resources: [../../shared/map.yaml]\n".to_owned();
    let files = |options: &str| {
        [
            ("applications/web.yaml", application("web", "env: dev", "apps/web")),
            ("apps/web/kustomization.yaml", kustomization.clone()),
            ("shared/map.yaml", map("shared")),
            ("argocd/values.yaml", format!("configs:\n  cm:\n    kustomize.buildOptions: \"{options}\"\n")),
        ]
    };
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    committed(&clone, &files("--enable-helm"));
    assert_eq!(found(&clone, &["environments/dev"]), ["web render"]);
    let said = adopt(&clone, &["environments/dev"], &[]).stdout;
    assert!(
        said.contains("the setting `kustomize.buildOptions` does here") && !said.contains("kustomize:\n"),
        "{said}"
    );

    committed(&clone, &files("--enable-helm --load-restrictor=LoadRestrictionsNone"));
    assert_eq!(found(&clone, &["environments/dev"]), ["web environments/dev"]);
    let said = adopt(&clone, &["environments/dev"], &["--write"]).exits(0).stdout;
    let line = "  kustomize.buildOptions: --enable-helm --load-restrictor=LoadRestrictionsNone  # of Argo CD, by argocd/values.yaml\n";
    assert!(said.contains(line), "{said}");
    clone.git(&["push", "--quiet", "origin", "HEAD:main", "refs/hydrate/config"]);
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("name: shared"));
    let metadata = server.git(&["show", "environments/dev:web/hydrator.metadata"]);
    assert!(metadata.contains("kustomize build ./apps/web --load-restrictor LoadRestrictionsNone"), "{metadata}");
    server.hydrate(&["verify"]).exits(0);

    // What leads out of the repository is refused as before, and so is the official tool, which would read it.
    server.hydrate(&["config", "set", "renderer", "exec"]).exits(1);
    let told = server.hydrate(&["status"]).stdout;
    assert!(told.contains("`--load-restrictor LoadRestrictionsNone` is not supported with `renderer: exec`"), "{told}");
}

#[test]
fn a_plugin_that_is_kustomize_build_is_rendered_as_a_kustomization() {
    let plugin = |command: &str| {
        format!(
            "cmp:\n  plugins:\n    build-with-helm:\n      generate:\n        command: [sh, -c]\n        args: [{command}]\n"
        )
    };
    let by_plugin = |name: &str| {
        application(name, "env: dev", "apps/web")
            .replace("path: apps/web}", "path: apps/web, plugin: {name: build-with-helm}}")
    };
    let files = |command: &str| {
        [
            ("applications/web.yaml", by_plugin("web")),
            ("apps/web/kustomization.yaml", "namePrefix: a-\nresources: [map.yaml]\n".to_owned()),
            ("apps/web/map.yaml", map("web")),
            ("argocd/values.yaml", plugin(command)),
        ]
    };
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    committed(&clone, &files("kustomize build . | envsubst"));
    assert_eq!(found(&clone, &["environments/dev"]), ["web render"]);

    committed(&clone, &files("kustomize build --enable-helm"));
    assert_eq!(found(&clone, &["environments/dev"]), ["web environments/dev"]);
    let said = adopt(&clone, &["environments/dev"], &["--write"]).exits(0).stdout;
    let line = "  kustomize.plugins:  # they run `kustomize build` alone, by argocd/values.yaml\n  - build-with-helm\n";
    assert!(said.contains(line), "{said}");
    clone.git(&["push", "--quiet", "origin", "HEAD:main", "refs/hydrate/config"]);
    let hydrated = |name: &str| server.git(&["show", &format!("environments/dev:web/{name}")]);
    let manifest = hydrated("manifest.yaml");
    assert!(manifest.ends_with("name: a-web"), "{manifest}");
    assert!(hydrated("hydrator.metadata").contains("kustomize build ./apps/web"));
    server.hydrate(&["verify"]).exits(0);

    // An override file changes what it says, and not what the plugin is.
    let image = ("apps/web/.argocd-source.yaml", "plugin: {env: [{name: A, value: b}]}\n".to_owned());
    committed(&clone, &[image, ("apps/web/map.yaml", map("web-2"))]);
    clone.push().success();
    assert!(hydrated("manifest.yaml").ends_with("name: a-web-2"));
    let another = ("apps/web/.argocd-source.yaml", "plugin: {name: another}\n".to_owned());
    committed(&clone, &[another]);
    let told = clone.push().success().stderr;
    assert!(told.contains("no plugin `another` is set up here"), "{told}");

    // Without the setting it is a plugin like others, whatever is remembered.
    committed(&clone, &[("apps/web/.argocd-source.yaml", String::new())]);
    clone.push().success();
    let told = server.hydrate(&["config", "unset", "kustomize.plugins"]).stdout;
    assert!(told.contains("no plugin `build-with-helm` is set up here"), "{told}");
}

#[test]
fn a_further_pattern_is_for_what_the_first_has_no_branch_for() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    committed(
        &clone,
        &[
            ("dev/web.yaml", application("web", "env: dev", "apps/web")),
            ("prod/web.yaml", application("web-prod", "env: prod", "apps/prod")),
            ("root.yaml", application("root", "", "prod")),
            ("other/web.yaml", application("web", "", "apps/other")),
            ("apps/web/map.yaml", map("web")),
            ("apps/prod/map.yaml", map("web-prod")),
            ("apps/other/map.yaml", map("other")),
        ],
    );
    let by_label = "environments/{{ labels.env }}";
    let said = adopt(&clone, &[], &[]).stdout;
    assert!(said.contains("[0] }}' --branch-pattern environments/main --repo-url"), "{said}");
    let alone = found(&clone, &[by_label]);
    assert_eq!(alone, ["web environments/dev", "web document", "web-prod environments/prod", "root document"]);
    let both =
        ["web environments/dev", "web environments/main", "web-prod environments/prod", "root environments/main"];
    assert_eq!(found(&clone, &[by_label, "environments/main"]), both);
    let said = adopt(&clone, &[by_label, "environments/main"], &["--write"]).stdout;
    let rules = "  rules:  # where plain Applications go
  - match:
      name:
      - web
      file: other/web.yaml
    branch: environments/main
    path: '{{ name }}'
  - match:
      name:
      - root
    branch: environments/main
    path: '{{ name }}'
  - branch: environments/{{ labels.env }}
    path: '{{ name }}'
";
    assert!(said.contains(rules), "{said}");
    assert_eq!(found(&clone, &[]), both);
    let refused = adopt(&clone, &[by_label], &[]).exits(2).stderr;
    assert!(refused.contains("to begin anew: git hydrate config unset rules"), "{refused}");
}

#[test]
fn an_application_that_renders_objects_of_others_gets_a_branch_of_its_own() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    committed(
        &clone,
        &[
            (
                "applications/all.yaml",
                application("all", "", "apps").replace("path: apps", "path: apps, directory: {recurse: true}"),
            ),
            ("applications/a.yaml", application("a", "", "apps/a")),
            ("applications/b.yaml", application("b", "", "apps/b")),
            ("apps/a/map.yaml", map("a")),
            ("apps/b/map.yaml", map("b")),
        ],
    );
    let expected = ["a environments/main", "all environments/main-all", "b environments/main"];
    assert_eq!(found(&clone, &["environments/main"]), expected);
    let said = adopt(&clone, &["environments/main"], &["--write"]).exits(0).stdout;
    let why =
        "  rules:  # where plain Applications go; apart from others that render the same objects, as now: `all`\n";
    assert!(said.contains(why), "{said}");
    clone.git(&["push", "--quiet", "origin", "HEAD:main", "refs/hydrate/config"]);
    for (branch, path) in [("environments/main", "a"), ("environments/main", "b"), ("environments/main-all", "all")] {
        assert!(server.git(&["show", &format!("{branch}:{path}/manifest.yaml")]).contains("kind: ConfigMap"), "{path}");
    }
}

#[test]
fn what_a_set_makes_that_render_the_same_objects_gets_branches_of_their_own() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all}}\nspec:\n  goTemplate: true\n  \
         generators: [{{list: {{elements: [{{name: a}}, {{name: b}}, {{name: c}}]}}}}]\n  template:\n    metadata: \
         {{name: '{{{{.name}}}}'}}\n    spec:\n      project: default\n      destination: {{server: \
         https://kubernetes.default.svc, namespace: shop}}\n      source: {{repoURL: '{URL}', targetRevision: HEAD, \
         path: apps/a}}\n"
    );
    let web = application("web", "", "apps/b");
    committed(
        &clone,
        &[("all.yaml", set), ("web.yaml", web), ("apps/a/map.yaml", map("a")), ("apps/b/map.yaml", map("b"))],
    );
    let expected = ["a environments/main", "b environments/main-b", "c environments/main-c", "web environments/main"];
    assert_eq!(found(&clone, &["environments/main"]), expected);
    let said = adopt(&clone, &["environments/main"], &["--write"]).exits(0).stdout;
    assert!(said.contains("apart from others that render the same objects, as now: `c`, `b`"), "{said}");
    assert!(said.contains("    path: '{{ name }}'\n    expand: all\n") && !said.contains("has no copy"), "{said}");
}

/// A chart of a repository that a test serves.
fn chart(lab: &Lab) -> Liar {
    let root = lab.path("charts");
    std::fs::create_dir_all(&root).expect("made");
    let files = [
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n"),
        ("web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    std::fs::write(root.join("web-1.2.3.tgz"), packed(&files)).expect("written");
    let index = "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n";
    std::fs::write(root.join("index.yaml"), index).expect("written");
    files_of(root)
}

#[test]
fn three_commands_lead_from_a_clone_to_hydrated_branches() {
    let lab = Lab::new();
    let upstream = chart(&lab);
    let server = lab.bare(&[]);
    let pushers = ["--settings-pusher", "alice", "--pusher-variable", "HYDRATE_USER"];
    let told = server.hydrate(&[&["install", "--server"], &pushers[..]].concat()).exits(0).stdout;
    assert!(told.contains("done     hydrate.settingsPusher = alice: may push settings\n"), "{told}");
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("good     who may push the settings: alice\n") && !told.contains("it is hidden"), "{told}");

    let clone = server.clone_to("clone");
    clone.git(&["config", "hydrate.vendorAllow", "http://127.0.0.1"]);
    let source = format!("repoURL: '{}', chart: web, targetRevision: 1.2.3", upstream.url());
    let from_elsewhere = application("web", "env: prod", "x")
        .replace(&format!("repoURL: '{URL}', targetRevision: HEAD, path: x"), &source);
    committed(
        &clone,
        &[
            ("apps/web.yaml", from_elsewhere),
            ("apps/random.yaml", application("random", "env: dev", "random")),
            ("random/Chart.yaml", "apiVersion: v2\nname: random\nversion: 1.0.0\n".to_owned()),
            ("random/templates/a.yaml", map("'{{ randAlphaNum 5 | lower }}'")),
        ],
    );
    std::fs::write(clone.path.join("staged.txt"), "x").expect("written");
    clone.git(&["add", "staged.txt"]);
    let told = adopt(&clone, &["environments/{{ labels.env }}"], &["--write", "--vendor"]).exits(0).stdout;
    assert!(told.contains("2 of 2 Applications hydrate\n"), "{told}");
    assert!(
        told.contains("settings, written\n") && told.contains("1 input is in .hydrate/inputs.lock; committed\n"),
        "{told}"
    );
    assert!(!told.contains("git hydrate vendor") && !told.contains("seeds new"), "{told}");
    assert_eq!(clone.git(&["log", "-1", "--format=%s"]), "Keep inputs");
    assert_eq!(clone.git(&["status", "--short"]), "A  staged.txt");
    let push = ["push", "--quiet", "origin", "HEAD:main", "refs/hydrate/config"];
    clone.run("env", &[&["HYDRATE_USER=alice", "git"], &push[..]].concat()).success();
    assert!(server.git(&["show", "environments/prod:web/manifest.yaml"]).contains("name: web"));
    assert!(server.git(&["show", "environments/dev:random/manifest.yaml"]).contains("kind: ConfigMap"));

    let told = server.hydrate(&[&["install", "--server"], &pushers[..]].concat()).exits(0).stdout;
    assert!(told.contains("already  hydrate.settingsPusher = alice"), "{told}");
    assert_eq!(server.git(&["config", "--get-all", "hydrate.settingsPusher"]), "alice");
}

#[test]
fn a_chart_whose_dependency_is_a_pointer_of_lfs_needs_what_is_elsewhere() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", "4d7a".repeat(16));
    committed(
        &clone,
        &[
            ("web.yaml", application("web", "", "chart")),
            ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
            ("chart/charts/lib-1.0.0.tgz", pointer),
        ],
    );
    assert_eq!(found(&clone, &["environments/main"]), ["web elsewhere"]);
}

#[test]
fn a_plugin_that_is_plain_kustomize_is_built_without_it() {
    let plugin =
        |name: &str, path: &str| application(name, "env: dev", &format!("{path}, plugin: {{name: {name}-built}}"));
    let values = |args: &str| {
        format!(
            "configs:\n  cmp:\n    plugins:\n      web-built:\n        generate: {{command: [sh, -c], args: ['{args}']}}\n      other-built:\n        generate: {{command: [sh, -c], args: [kustomize build | sed s/a/b/]}}\n"
        )
    };
    let files = |args: &str| {
        [
            ("applications/web.yaml", plugin("web", "apps/web")),
            ("applications/other.yaml", plugin("other", "apps/web")),
            ("apps/web/kustomization.yaml", "resources: [map.yaml]\n".to_owned()),
            ("apps/web/map.yaml", map("web")),
            ("argocd/values.yaml", values(args)),
        ]
    };
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    committed(&clone, &files("envsubst"));
    assert_eq!(found(&clone, &["environments/dev"]), ["other render", "web render"]);
    committed(&clone, &files("kustomize build --enable-helm ."));
    assert_eq!(found(&clone, &["environments/dev"]), ["other no-rule", "web environments/dev"]);
    let said = adopt(&clone, &["environments/dev"], &["--write"]).stdout;
    let lines = "  kustomize.plugins:  # they run `kustomize build` alone, by argocd/values.yaml\n  - web-built\n";
    assert!(said.contains(lines), "{said}");
    clone.git(&["push", "--quiet", "origin", "HEAD:main", "refs/hydrate/config"]);
    let metadata = server.git(&["show", "environments/dev:web/hydrator.metadata"]);
    assert!(metadata.contains("kustomize build ./apps/web"), "{metadata}");
    server.hydrate(&["verify"]).exits(0);
    // Without the setting it is a plugin again, which has no command here.
    server.hydrate(&["config", "unset", "kustomize.plugins"]).exits(1);
    assert!(server.hydrate(&["status"]).stdout.contains("no plugin `web-built` is set up here"));
    // One that has a command here stays with it.
    clone.git(&["config", "hydrate-plugin.web-built.command", "cat"]);
    assert!(!adopt(&clone, &[], &[]).stdout.contains("kustomize.plugins"));
}

/// What is left out, and what hydrates then, of a repository with an app of apps.
fn left_out(files: &[(&str, String)]) -> (Vec<String>, String) {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let root = application("root", "env: dev", "applications");
    let known = [
        ("root.yaml", root),
        ("applications/web.yaml", application("web", "env: dev", "apps/web")),
        ("apps/web/map.yaml", map("web")),
        ("apps/other/map.yaml", map("other")),
    ];
    let known: Vec<(&str, String)> = known.into_iter().chain(files.iter().cloned()).collect();
    committed(&clone, &known);
    let found = found(&clone, &["environments/dev"]);
    let said = adopt(&clone, &["environments/dev"], &[]).stdout;
    let setting = said.split("  applications:").nth(1).unwrap_or_default();
    let globs = setting.lines().skip(1).take_while(|line| line.starts_with("  - ")).map(|line| line[4..].to_owned());
    (found, globs.collect::<Vec<_>>().join(" "))
}

#[test]
fn files_that_no_argo_cd_sees_are_left_out_where_they_are_in_the_way() {
    let right = ["web environments/dev", "root environments/dev"];
    let web = || application("web", "env: dev", "apps/other");
    let export = web().replace("labels:", "uid: 1b7c, resourceVersion: '7', labels:") + "status: {}\n";

    let (found, globs) = left_out(&[("evidence/a/web.yaml", export.clone()), ("evidence/b/web.yaml", export.clone())]);
    assert_eq!((&found[..], &*globs), (&right.map(str::to_owned)[..], "'!/evidence/a' '!/evidence/b'"));

    let broken = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: odd}\nspec: {source: {}}\n";
    let twice =
        format!("{}---\n{}", application("odd", "env: dev", "apps/web"), application("odd", "env: dev", "apps/web"));
    let fixtures = [("lint/tests/data/broken.yaml", broken.to_owned()), ("lint/tests/twice.yaml", twice.clone())];
    let (found, globs) = left_out(&fixtures);
    assert_eq!((&found[..], &*globs), (&right.map(str::to_owned)[..], "'!/lint/tests'"));

    let kustomization = || "resources: [twice.yaml]\n".to_owned();
    let (found, globs) =
        left_out(&[("lint/tests/twice.yaml", twice.clone()), ("lint/tests/kustomization.yaml", kustomization())]);
    assert_eq!((&found[..], &*globs), (&right.map(str::to_owned)[..], "'!/lint/tests'"));

    let (found, globs) = left_out(&[("drafts/[1].yaml", web())]);
    assert_eq!((&found[..], &*globs), (&right.map(str::to_owned)[..], r"'!/drafts/\[1\].yaml'"));

    // Of two that nothing renders, neither is known to be the right one; what a kustomization names is no fixture; and an app of
    // apps of another cluster stays.
    let other = |path| (path, application("odd", "env: dev", "apps/web"));
    let (found, globs) = left_out(&[other("a.yaml"), other("b.yaml")]);
    assert_eq!((found.len(), &*globs), (4, ""));
    let named = ("lint/kustomization.yaml", "resources: [tests/twice.yaml]\n".to_owned());
    let (found, globs) = left_out(&[("lint/tests/twice.yaml", twice), named]);
    assert_eq!((found.len(), &*globs), (4, ""));
    let (found, globs) = left_out(&[("eu/root.yaml", application("root", "env: dev", "applications"))]);
    assert_eq!((found.len(), &*globs), (3, ""));
}
