//! Applications that ApplicationSets make are hydrated as those that stand in files: real pushes.

use std::collections::BTreeMap;

use crate::push::{both, config_map, note, note_of, tip};
use crate::support::{Lab, Repo};

pub(crate) const URL: &str = "https://git.example.com/dry.git";

/// A set as Argo CD users write it, nothing of it made for us: an Application for each directory `apps/NAME/ENVIRONMENT`.
fn directories(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: {name}
  namespace: argocd
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
  - git:
      repoURL: {URL}
      revision: HEAD
      directories:
      - path: apps/*/*
  template:
    metadata:
      name: '{{{{ index .path.segments 1 }}}}-{{{{ .path.basename }}}}'
    spec:
      project: default
      destination: {{server: https://kubernetes.default.svc, namespace: shop}}
      sourceHydrator:
        drySource:
          repoURL: {URL}
          targetRevision: main
          path: '{{{{ .path.path }}}}'
        syncSource:
          targetBranch: environments/{{{{ .path.basename }}}}
          path: '{{{{ index .path.segments 1 }}}}'
"
    )
}

/// What makes the Applications of a list, `NAME@ENVIRONMENT` each; further lines go into `spec`.
pub(crate) fn list(name: &str, elements: &[&str], spec: &str) -> String {
    let mut entries = String::new();
    for element in elements {
        let (app, environment) = element.split_once('@').expect("two words");
        entries.push_str(&format!("      - {{app: {app}, environment: {environment}}}\n"));
    }
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: {name}}}
spec:
{spec}  generators:
  - list:
      elements:
{entries}  template:
    metadata: {{name: '{{{{app}}}}-{{{{environment}}}}'}}
    spec:
      sourceHydrator:
        drySource: {{repoURL: {URL}, targetRevision: main, path: 'apps/{{{{app}}}}/{{{{environment}}}}'}}
        syncSource: {{targetBranch: 'environments/{{{{environment}}}}', path: '{{{{app}}}}'}}
"
    )
}

pub(crate) fn config(app: &str, environment: &str, value: &str) -> (String, String) {
    (format!("apps/{app}/{environment}/config.yaml"), config_map(app, value))
}

/// A clone with these files, committed.
pub(crate) fn dry(server: &Repo, files: &[(&str, &str)]) -> Repo {
    let clone = server.clone_to("clone");
    clone.commit("begin", files);
    clone
}

/// A clone with these files and `apps/NAME/ENVIRONMENT` for each of `apps`, committed.
fn with_apps(server: &Repo, files: &[(&str, &str)], apps: &[(&str, &str)]) -> Repo {
    let configs: Vec<(String, String)> =
        apps.iter().map(|(app, environment)| config(app, environment, "one")).collect();
    let configs = configs.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    dry(server, &files.iter().copied().chain(configs).collect::<Vec<_>>())
}

const FOUR: [(&str, &str); 4] = [("web", "dev"), ("web", "prod"), ("api", "dev"), ("api", "prod")];

pub(crate) fn files(server: &Repo, branch: &str) -> String {
    server.git(&["ls-tree", "-r", "--name-only", branch]).lines().collect::<Vec<_>>().join(" ")
}

pub(crate) fn manifest(server: &Repo, branch: &str, path: &str) -> String {
    server.git(&["show", &format!("{branch}:{path}/manifest.yaml")])
}

#[test]
fn a_directory_set_hydrates_as_it_is_and_follows_its_directories() {
    both(|server| {
        let clone = with_apps(server, &[("sets/shop.yaml", &directories("shop"))], &FOUR);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(server.git(&["hydrate", "config", "get", "madeApplications"]), "true");
        let web = "web/README.md web/hydrator.metadata web/manifest.yaml";
        let both =
            format!(".gitattributes api/README.md api/hydrator.metadata api/manifest.yaml hydrator.metadata {web}");
        assert_eq!(
            [files(server, "environments/dev"), files(server, "environments/prod")],
            [both.clone(), both.clone()]
        );
        let before = ["environments/dev", "environments/prod"].map(|branch| tip(server, branch));

        let (path, text) = config("web", "dev", "two");
        let changed = clone.commit("change one", &[(&path, &text)]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));
        assert_eq!(tip(server, "environments/prod"), before[1]);
        assert_eq!(note(server, "environments/prod"), note_of(&changed));

        // A file that no generator looks at.
        clone.commit("unrelated", &[("apps/web/dev/NOTES", "text"), ("docs/a", "text")]);
        clone.push().success();

        let (path, text) = config("mail", "dev", "one");
        clone.commit("add one", &[(&path, &text)]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains("mail/manifest.yaml"));
        assert!(!files(server, "environments/prod").contains("mail"));

        clone.commit("take one away", &[("apps/web/prod/config.yaml", "")]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains(web));
        assert!(!files(server, "environments/prod").contains("web"), "{}", files(server, "environments/prod"));
    });
}

#[test]
fn a_set_that_fails_holds_the_branches_that_it_fed_and_no_other() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let other = list("tools", &["api@tools"], "");
        let apps = [("web", "dev"), ("web", "prod"), ("api", "tools")];
        let clone = with_apps(server, &[("sets/shop.yaml", &set), ("sets/tools.yaml", &other)], &apps);
        clone.push().success();
        let before = ["environments/dev", "environments/prod", "environments/tools"].map(|branch| tip(server, branch));

        let broken = set.replace("environment: prod}", "environment: 3}");
        let configs = apps.map(|(app, environment)| config(app, environment, "two"));
        let mut edits: Vec<(&str, &str)> = configs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        edits.push(("sets/shop.yaml", &broken));
        clone.commit("break", &edits);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
        assert!(told.contains("sets/shop.yaml:9:33"), "{told}");
        let after = ["environments/dev", "environments/prod", "environments/tools"].map(|branch| tip(server, branch));
        assert_eq!((&after[..2], after[2] == before[2]), (&before[..2], false));

        // Also when something else is pushed, and when the file of the set moves away.
        clone.commit("elsewhere", &[("sets/shop.yaml", ""), ("sets/new.yaml", &broken)]);
        clone.push().success();
        assert_eq!(tip(server, "environments/dev"), before[0]);

        let mended = clone.commit("mend", &[("sets/new.yaml", &set)]);
        clone.push().success();
        assert!(manifest(server, "environments/prod", "web").contains("value: two"));
        assert_eq!(note(server, "environments/dev"), note_of(&mended));
    });
}

#[test]
fn a_misspelt_generator_removes_nothing_and_is_an_error() {
    both(|server| {
        let [web, api] = ["web", "api"].map(|app| config(app, "dev", "one"));
        let (a, b) = (list("a", &["web@dev"], ""), list("b", &["api@dev"], ""));
        let clone = dry(server, &[("sets/a.yaml", &a), ("sets/b.yaml", &b), (&web.0, &web.1), (&api.0, &api.1)]);
        clone.push().success();
        let before = tip(server, "environments/dev");
        let api = config("api", "dev", "two");
        clone.commit("typo", &[("sets/a.yaml", &a.replace("- list:", "- lst:")), (&api.0, &api.1)]);
        let told = clone.push().success().remote().join("\n");
        let error =
            "error: ApplicationSet `a` makes no Applications: ApplicationSet a contains unrecognized generators";
        assert!(told.contains(error) && told.contains("sets/a.yaml:6:5"), "{told}");
        assert_eq!(tip(server, "environments/dev"), before);
        clone.commit("right", &[("sets/a.yaml", &a)]);
        clone.push().success();
        assert!(server.git(&["show", "environments/dev:api/manifest.yaml"]).contains("two"));
        assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("one"));
        let dry = clone.git(&["rev-parse", "HEAD"]);
        assert_eq!(note(server, "environments/dev"), note_of(&dry));
    });
}

#[test]
fn a_set_that_breaks_as_it_is_renamed_holds_what_its_file_fed() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let clone = with_apps(server, &[("sets/shop.yaml", &set)], &[("web", "dev"), ("web", "prod")]);
        clone.push().success();
        let before = ["environments/dev", "environments/prod"].map(|branch| tip(server, branch));
        let renamed = set.replace("name: shop}", "name: store}");
        let (path, text) = config("web", "dev", "two");
        let broken = renamed.replace("environment: prod}", "environment: 3}");
        clone.commit("rename and break", &[("sets/shop.yaml", &broken), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `store` makes no Applications: "), "{told}");
        assert_eq!(["environments/dev", "environments/prod"].map(|branch| tip(server, branch)), before);
        let mended = clone.commit("mend", &[("sets/shop.yaml", &renamed)]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));
        assert_eq!(note(server, "environments/prod"), note_of(&mended));
        assert_eq!(tip(server, "environments/prod"), before[1], "the same Applications, made by another name");
    });
}

#[test]
fn a_set_that_fails_holds_what_it_made_where_it_had_moved_to() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let clone = with_apps(server, &[("sets/shop.yaml", &set)], &[("web", "dev"), ("web", "prod")]);
        clone.push().success();
        let moved = set.replace("path: '{{app}}'}", "path: 'shop/{{app}}'}");
        clone.commit("move", &[("sets/shop.yaml", &moved)]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains(" web/"), "{}", files(server, "environments/dev"));
        // A commit that changes nothing of it moves notes only.
        clone.commit("words", &[("NOTES", "text")]);
        clone.push().success();
        let before =
            ["environments/dev", "environments/prod"].map(|branch| (tip(server, branch), note(server, branch)));
        let broken = moved.replace("environment: prod}", "environment: 3}");
        let (path, text) = config("web", "dev", "two");
        clone.commit("break", &[("sets/shop.yaml", &broken), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
        let after = ["environments/dev", "environments/prod"].map(|branch| (tip(server, branch), note(server, branch)));
        assert_eq!(after, before);
        // One is taken away as the set is mended: where it was last is what goes.
        clone.commit("mend", &[("sets/shop.yaml", &moved.replace("      - {app: web, environment: prod}\n", ""))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("this commit would empty `environments/prod`"), "{told}");
        clone.commit("mend\n\nHydrate-Allow-Removal: environments/prod", &[]);
        clone.push().success();
        assert_eq!(files(server, "environments/prod"), ".gitattributes hydrator.metadata");
        assert!(manifest(server, "environments/dev", "shop/web").contains("value: two"));
    });
}

#[test]
fn a_set_that_fails_holds_what_nothing_else_explains_when_the_dry_commit_is_gone() {
    let lab = Lab::new();
    let server = lab.server();
    let set = list("shop", &["web@dev"], "");
    let (path, api) = crate::push::application("api", "dev");
    let (path_of_plain, plain) = crate::push::application("api", "prod");
    let apps = [("web", "dev"), ("api", "dev"), ("api", "prod")];
    let clone = with_apps(&server, &[("sets/shop.yaml", &set), (&path, &api), (&path_of_plain, &plain)], &apps);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let old = tip(&server, "main");
    // Somebody rewrites the dry branch from its root, and what it had is cleared away.
    clone.git(&["checkout", "-q", "--orphan", "anew"]);
    let (config_path, two) = config("api", "dev", "two");
    let broken = set.replace("environment: dev}", "environment: 3}");
    clone.commit("anew", &[("sets/shop.yaml", &broken), (&config_path, &two)]);
    server.git(&["update-ref", "-d", "refs/heads/main"]);
    server.git(&["reflog", "expire", "--expire=now", "--all"]);
    server.git(&["gc", "-q", "--prune=now"]);
    assert!(server.run("git", &["cat-file", "-e", &old]).code != Some(0), "the dry commit is gone");
    let told = clone.run("git", &["push", "-q", "origin", "anew:main"]).success().remote().join("\n");
    assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    assert_eq!(
        note(&server, "environments/prod"),
        note_of(&tip(&server, "main")),
        "it has no path that nothing writes"
    );
    clone.commit("mend", &[("sets/shop.yaml", &set)]);
    clone.run("git", &["push", "-q", "origin", "anew:main"]).success();
    assert!(manifest(&server, "environments/dev", "api").contains("value: two"));
    assert!(manifest(&server, "environments/dev", "web").contains("value: one"));
}

#[test]
fn a_set_that_never_made_anything_is_a_warning_also_in_strict_mode() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.strict", "true"]);
    let unknown = list("fleet", &[], "").replace("  - list:\n      elements:\n", "  - clusters: {}\n");
    let clone = with_apps(&server, &[("a.yaml", &list("shop", &["web@dev"], "")), ("b.yaml", &unknown)], &FOUR);
    let told = clone.push().success().remote().join("\n");
    assert!(
        told.contains("warning: ApplicationSet `fleet` makes no Applications: only Argo CD knows the clusters"),
        "{told}"
    );
    assert!(told.contains("b.yaml:6:15") && told.contains("git hydrate clusters import"), "{told}");
    assert!(files(&server, "environments/dev").contains("web/manifest.yaml"));
    // What it says is said each time, and holds nobody.
    let (path, text) = config("web", "dev", "two");
    clone.commit("change", &[(&path, &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("warning: ApplicationSet `fleet`"), "{told}");
    assert!(manifest(&server, "environments/dev", "web").contains("value: two"));
    // One that fed branches is an error, though.
    clone.commit("break", &[("a.yaml", &list("shop", &["web@dev"], "").replace("app: web", "app: 1"))]);
    let told = clone.push();
    assert!(told.code != Some(0) && told.stderr.contains("ApplicationSet `shop` makes no Applications"), "{told:?}");
}

const CHART: &str = "{{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has \"example.com/v1\" }}";

#[test]
fn a_cluster_set_with_overlays_makes_an_application_for_each_cluster_of_the_list() {
    both(|server| {
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: shop}}
spec:
  generators:
  - clusters: {{selector: {{matchLabels: {{tier: shop}}}}}}
  template:
    metadata: {{name: 'shop-{{{{name}}}}'}}
    spec:
      destination: {{server: '{{{{server}}}}'}}
      sourceHydrator:
        drySource:
          repoURL: {URL}
          targetRevision: main
          path: '{{{{metadata.annotations.source}}}}'
        syncSource: {{targetBranch: 'clusters/{{{{name}}}}', path: shop}}
"
        );
        let cluster = |name: &str, source: &str, more: &str| {
            format!(
                "- name: {name}\n  server: https://{name}.example.com\n  labels: {{tier: shop}}\n  annotations: \
                 {{source: {source}}}\n{more}"
            )
        };
        let clusters = [
            cluster("blue", "overlays/blue", ""),
            cluster("green", "chart", "  kubeVersion: v1.31.7+x\n  apiVersions: [example.com/v1]\n"),
            "- {name: ops, server: 'https://ops.example.com'}\n".to_owned(),
        ]
        .concat();
        let chart = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: shop}}\ndata: {{seen: '{CHART}'}}\n");
        let clone = dry(
            server,
            &[
                ("set.yaml", &set),
                ("fleet/clusters.yaml", &clusters),
                ("base/kustomization.yaml", "resources: [config.yaml]\n"),
                ("base/config.yaml", &config_map("shop", "base")),
                ("overlays/blue/kustomization.yaml", "resources: [../../base]\nnamePrefix: blue-\n"),
                ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"),
                ("chart/templates/shop.yaml", &chart),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("only Argo CD knows the clusters"), "{told}");
        clone.commit("again", &[]);
        server.git(&["hydrate", "config", "set", "clusters", "fleet/clusters.yaml"]);
        server.git(&["hydrate", "config", "set", "madeApplications", "true"]);
        clone.push().success();
        assert!(manifest(server, "clusters/blue", "shop").contains("name: blue-shop"));
        assert!(manifest(server, "clusters/green", "shop").contains("seen: v1.31.7 true"));
        let metadata = server.git(&["show", "clusters/green:shop/hydrator.metadata"]);
        assert!(metadata.contains("--kube-version 1.31.7"), "{metadata}");
        assert!(server.git(&["branch", "--list", "clusters/ops", "clusters/in-cluster"]).is_empty());

        // A version that changes, and nothing else.
        clone.commit("upgrade", &[("fleet/clusters.yaml", &clusters.replace("1.31.7", "1.32.1"))]);
        clone.push().success();
        assert!(manifest(server, "clusters/green", "shop").contains("seen: v1.32.1 true"));

        // A list that nobody can read holds all, also what stands in files.
        let before = tip(server, "clusters/blue");
        clone.commit("slip", &[("fleet/clusters.yaml", &clusters.replace("- name: blue", "- nome: blue"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(
            told.contains("unknown field `nome` of a cluster") && told.contains("fleet/clusters.yaml:1:3"),
            "{told}"
        );
        assert_eq!(tip(server, "clusters/blue"), before);
    });
}

#[test]
fn a_matrix_of_files_and_a_list_tells_from_which_element_each_mistake_is() {
    both(|server| {
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: regions}}
spec:
  goTemplate: true
  generators:
  - matrix:
      generators:
      - git:
          repoURL: {URL}
          revision: main
          files: [{{path: 'regions/*.json'}}]
      - list:
          elements:
          - app: web
          - app: api
  template:
    metadata: {{name: '{{{{.region}}}}-{{{{.app}}}}'}}
    spec:
      sourceHydrator:
        drySource: {{repoURL: {URL}, targetRevision: main, path: 'apps/{{{{.app}}}}/dev'}}
        syncSource: {{targetBranch: 'regions/{{{{.region}}}}', path: '{{{{.app}}}}'}}
"
        );
        let files = [
            ("set.yaml", set.as_str()),
            ("regions/eu.json", "{\"region\": \"eu\"}"),
            ("regions/us.json", "{\"region\": \"us\"}"),
        ];
        let clone = with_apps(server, &files, &FOUR);
        clone.push().success();
        let tips = ["regions/eu", "regions/us"].map(|branch| tip(server, branch));
        // A new region, with a name that cannot be a branch.
        clone.commit("slip", &[("regions/xx.json", "{\"region\": \"x.lock\"}")]);
        let told = clone.push().success().remote().join("\n");
        let place = "made by ApplicationSet `regions` from element regions/xx.json and set.yaml:15:13";
        assert!(
            told.contains("`regions/x.lock` is not a valid branch name") && told.contains("set.yaml:22:36"),
            "{told}"
        );
        assert!(told.contains(place), "{told}");
        assert_eq!(["regions/eu", "regions/us"].map(|branch| tip(server, branch)), tips);
        // What does not render leads back, too.
        clone.commit(
            "break",
            &[
                ("regions/xx.json", ""),
                ("apps/api/dev/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n"),
            ],
        );
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("application: eu-api, us-api"), "{told}");
        assert!(
            told.contains("made by ApplicationSet `regions` from element regions/eu.json and set.yaml:16:13"),
            "{told}"
        );
    });
}

#[test]
fn what_clusters_keep_of_a_set_is_removed_only_when_the_commit_says_so() {
    both(|server| {
        let set = |elements: &[&str]| list("shop", elements, "  syncPolicy: {applicationsSync: create-only}\n");
        let all = ["web@dev", "api@dev", "mail@dev"];
        let apps = [("web", "dev"), ("api", "dev"), ("mail", "dev")];
        let clone = with_apps(server, &[("set.yaml", &set(&all))], &apps);
        clone.push().success();
        let before = tip(server, "environments/dev");
        clone.commit("take one away", &[("set.yaml", &set(&all[..2]))]);
        let told = clone.push().success().remote().join("\n");
        assert!(
            told.contains("clusters keep `mail-dev`: ApplicationSet `shop` has `applicationsSync: create-only`"),
            "{told}"
        );
        assert_eq!(tip(server, "environments/dev"), before);
        clone.commit("yes\n\nHydrate-Allow-Removal: environments/dev", &[]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains("mail"));
    });
}

#[test]
fn a_repository_from_before_is_told_in_one_line_until_the_setting_decides() {
    both(|server| {
        let plain = crate::push::application("web", "dev");
        let clone = with_apps(server, &[(&plain.0, &plain.1)], &FOUR);
        clone.push().success();
        server.git(&["hydrate", "config", "unset", "madeApplications"]);
        let sets = [("a.yaml", list("a", &["api@dev"], "")), ("b.yaml", list("b", &["api@prod"], ""))];
        clone.commit("sets", &sets.each_ref().map(|(path, text)| (*path, text.as_str())));
        let told = clone.push().success().remote().join("\n");
        let line = "warning: the Applications of 2 ApplicationSets are not hydrated: this repository was hydrated before that was possible";
        assert_eq!(told.matches("ApplicationSet").count(), 1, "{told}");
        assert!(told.contains(line) && told.contains("git hydrate config set madeApplications true"), "{told}");
        assert!(!files(server, "environments/dev").contains("api"));
        let told = server.hydrate(&["config", "set", "madeApplications", "true"]).success();
        assert!(files(server, "environments/dev").contains("api/manifest.yaml"), "{told:?}");
        assert!(files(server, "environments/prod").contains("api/manifest.yaml"));
    });
}

#[test]
fn to_be_told_no_more_of_sets_that_were_never_hydrated_the_setting_says_false() {
    both(|server| {
        let plain = crate::push::application("web", "dev");
        let clone = with_apps(server, &[(&plain.0, &plain.1)], &FOUR);
        clone.push().success();
        server.git(&["hydrate", "config", "set", "madeApplications", "false"]);
        clone.commit("a set", &[("a.yaml", &list("a", &["api@dev"], ""))]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("ApplicationSet") && !files(server, "environments/dev").contains("api"), "{told}");
    });
}

#[test]
fn what_sets_made_stays_with_an_error_while_made_applications_is_off() {
    both(|server| {
        let plain = crate::push::application("web", "dev");
        let set = list("a", &["api@dev"], "");
        let clone = with_apps(server, &[(&plain.0, &plain.1), ("a.yaml", &set)], &FOUR);
        clone.push().success();
        let before = tip(server, "environments/dev");
        server.hydrate(&["config", "set", "madeApplications", "false"]);
        let (path, text) = config("api", "dev", "edited");
        clone.commit("edit", &[(&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        let line = "error: `api-dev` is made by ApplicationSet `a`, and `madeApplications` is not true: it is not hydrated here";
        assert!(told.contains(line) && told.contains("environments/dev  stays at"), "{told}");
        assert!(told.contains("--> a.yaml:3"), "{told}");
        assert_eq!(tip(server, "environments/dev"), before);
        server.hydrate(&["config", "set", "madeApplications", "true"]).success();
        assert!(manifest(server, "environments/dev", "api").contains("edited"));
        // Without the set, what it made goes.
        server.hydrate(&["config", "set", "madeApplications", "false"]);
        clone.commit("no set", &[("a.yaml", "")]);
        let told = clone.push().success().remote().join("\n");
        assert!(!files(server, "environments/dev").contains("api"), "{told}");
    });
}

#[test]
fn a_new_repository_whose_settings_were_made_first_hydrates_sets_that_come_later() {
    both(|server| {
        server.git(&["hydrate", "config", "set", "dryBranches", "main"]);
        server.git(&["hydrate", "config", "set", "repoURL", URL]);
        let plain = crate::push::application("web", "dev");
        let clone = with_apps(server, &[(&plain.0, &plain.1)], &FOUR);
        clone.push().success();
        assert_eq!(server.git(&["hydrate", "config", "get", "madeApplications"]), "true");
        clone.commit("a set", &[("set.yaml", &list("a", &["api@prod"], ""))]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("madeApplications") && !told.contains("error"), "{told}");
        assert!(files(server, "environments/prod").contains("api/manifest.yaml"), "{told}");
    });
}

#[test]
fn two_makers_of_one_name_are_told_with_both_places() {
    both(|server| {
        let sets = [("a.yaml", list("a", &["web@dev"], "")), ("b.yaml", list("b", &["web@dev", "api@prod"], ""))];
        let clone = with_apps(server, &sets.each_ref().map(|(path, text)| (*path, text.as_str())), &FOUR);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`web-dev` is made by ApplicationSet `b`, and there is another"), "{told}");
        assert!(told.contains("b.yaml:11:22") && told.contains("the other one is at a.yaml:10"), "{told}");
        assert!(server.git(&["branch", "--list", "environments/dev"]).is_empty());
        assert!(files(server, "environments/prod").contains("api/manifest.yaml"));
    });
}

#[test]
fn what_git_cannot_answer_is_answered_by_what_was_recorded() {
    both(|server| {
        let set = list("reviews", &[], "").replace(
            "  - list:\n      elements:\n",
            "  - pullRequest: {github: {owner: shop, repo: web}, requeueAfterSeconds: 60}\n",
        );
        let set = set.replace("{{app}}", "{{branch_slug}}").replace("{{environment}}", "dev");
        let recorded = "pullRequest:\n- {branch_slug: web}\n- {branch_slug: api}\n";
        let clone = with_apps(server, &[("set.yaml", &set), ("recorded/reviews.yaml", recorded)], &FOUR);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`pullRequest` gets its params from outside of git"), "{told}");
        assert!(told.contains("`applicationSets.<name>.parameters`"), "{told}");
        server.git(&["hydrate", "config", "set", "madeApplications", "true"]);
        server.git(&["hydrate", "config", "set", "applicationSets.reviews.parameters", "recorded/reviews.yaml"]);
        assert_eq!(
            server.git(&["hydrate", "config", "get", "applicationSets.reviews.parameters"]),
            "recorded/reviews.yaml"
        );
        clone.commit("again", &[]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains("web/manifest.yaml"));
        clone.commit("close one", &[("recorded/reviews.yaml", "pullRequest: [{branch_slug: api}]\n")]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains("web/manifest.yaml"));
        clone.commit("slip", &[("recorded/reviews.yaml", "pullRequests: []\n")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`pullRequests` is not one of") && told.contains("recorded/reviews.yaml"), "{told}");
    });
}

#[test]
fn every_command_speaks_of_made_applications_as_of_others() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = with_apps(&server, &[("sets/shop.yaml", &directories("shop"))], &FOUR);
    let checked = clone.hydrate(&["check", "--json"]).success();
    assert!(checked.stdout.contains("\"applications\": 4,\n  \"hydrated\": 4,\n  \"rendered\": 4"), "{checked:?}");
    clone.push().success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    let apps = clone.hydrate(&["apps"]).success();
    assert!(apps.stdout.contains("web-dev  apps/web/dev -> web\n    sets/shop.yaml:17, made by ApplicationSet `shop` from element apps/web/dev"), "{apps:?}");
    assert!(apps.stdout.ends_with("4 of 4 Applications hydrated from main\n"), "{apps:?}");
    let apps = clone.hydrate(&["apps", "--json", "--made-by", "shop"]).success();
    let apps: serde_json::Value = serde_json::from_str(&apps.stdout).expect("JSON");
    assert_eq!((&apps["format"], apps["applications"].as_array().map(Vec::len)), (&serde_json::json!(1), Some(4)));
    let first = serde_json::json!({
        "name": "api-dev", "namespace": "argocd", "file": "sets/shop.yaml", "line": 17,
        "madeBy": {"kind": "ApplicationSet", "name": "shop", "element": "apps/api/dev"},
        "source": "apps/api/dev", "branch": "environments/dev", "path": "api", "hydrated": true,
    });
    assert_eq!(apps["applications"][0], first);
    let rendered = clone.hydrate(&["render", "web-dev"]).success();
    assert!(rendered.stdout.contains("name: web"), "{rendered:?}");
    let explained = server.hydrate(&["explain", "environments/dev:web/manifest.yaml:6"]);
    assert!(explained.stdout.contains("sets/shop.yaml"), "{explained:?}");
    assert!(explained.stdout.contains("ApplicationSet `shop` from element apps/web/dev"), "{explained:?}");
    let status = server.hydrate(&["status"]).success();
    assert!(status.stdout.contains("environments/dev") && status.stdout.contains("environments/prod"), "{status:?}");
    let (path, text) = config("mail", "dev", "one");
    clone.commit("add", &[(&path, &text), ("apps/web/prod/config.yaml", "")]);
    let diff = clone.hydrate(&["diff"]);
    assert!(diff.stdout.contains("mail") && diff.stdout.contains("web"), "{diff:?}");
    // What a set makes wrong is refused before it is pushed, wherever it is judged.
    server.git(&["config", "hydrate.strict", "true"]);
    clone.hydrate(&["install", "--client"]);
    clone.commit(
        "break",
        &[("sets/shop.yaml", &directories("shop").replace(".path.basename }}'\n    spec", ".path.none }}'\n    spec"))],
    );
    let message = "ApplicationSet `shop` makes no Applications: ";
    for answer in [clone.hydrate(&["diff"]), clone.hydrate(&["check"]), clone.push()] {
        assert!(format!("{}{}", answer.stdout, answer.stderr).contains(message), "{answer:?}");
        assert!(format!("{}{}", answer.stdout, answer.stderr).contains("sets/shop.yaml:17:13"), "{answer:?}");
    }
    let refused = clone.run("git", &["push", "--no-verify", "origin", "HEAD"]);
    assert!(refused.code != Some(0) && refused.stderr.contains(message), "{refused:?}");
}

#[test]
fn the_list_of_clusters_holds_what_a_set_needs_and_nothing_of_the_credentials() {
    let lab = Lab::new();
    let server = lab.server();
    let set = list("shop", &[], "").replace("  - list:\n      elements:\n", "  - clusters: {}\n");
    let set = set.replace("{{environment}}", "{{metadata.annotations.environment}}").replace("{{app}}", "{{name}}");
    let clone = with_apps(&server, &[("set.yaml", &set)], &[("eu", "dev"), ("us", "dev"), ("in-cluster", "dev")]);
    let secret = |name: &str| {
        // The marker is in every field but those that a list is to have, also as base64.
        format!(
            "- apiVersion: v1\n  kind: Secret\n  type: MARKER\n  MARKER: MARKER # MARKER\n  metadata:\n    name: \
             c-{name}\n    generateName: MARKER\n    uid: MARKER\n    resourceVersion: MARKER\n    selfLink: MARKER\n    \
             finalizers: [MARKER]\n    ownerReferences: [{{kind: MARKER, name: MARKER}}]\n    managedFields: [{{manager: \
             MARKER}}]\n    labels: {{argocd.argoproj.io/secret-type: cluster}}\n    annotations: {{environment: dev, token: \
             MARKER, MARKER: MARKER, kubectl.kubernetes.io/last-applied-configuration: '{{\"MARKER\": \"TUFSS0VS\"}}'}}\n  \
             data: {{config: TUFSS0VS, shard: TUFSS0VS, namespaces: TUFSS0VS, MARKER: TUFSS0VS}}\n  stringData: {{name: \
             {name}, server: 'https://{name}.example.com', config: '{{\"bearerToken\": \"MARKER\"}}', shard: MARKER, \
             namespaces: MARKER, clusterResources: MARKER, MARKER: MARKER}}\n  status: MARKER\n"
        )
    };
    let secrets = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", secret("us"), secret("eu"));
    std::fs::write(clone.path.join("eu.txt"), "Server Version: v1.33.4\nv1\napps/v1\n").expect("written");
    let list = clone.hydrate_with(&["clusters", "import", "--versions", "eu=eu.txt"], &secrets).success().stdout;
    let is_clean = |text: &str| !text.contains("MARKER") && !text.contains("TUFSS0VS");
    assert!(is_clean(&list) && list.contains("kubeVersion: v1.33.4"), "{list}");
    std::fs::remove_file(clone.path.join("eu.txt")).expect("removed");
    server.git(&["hydrate", "config", "set", "clusters", "clusters.yaml"]);
    clone.commit("clusters", &[("clusters.yaml", &format!("{list}- {{name: in-cluster, server: 'https://kubernetes.default.svc', annotations: {{environment: dev}}}}\n"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(files(&server, "environments/dev").contains("eu/manifest.yaml"), "{told}");
    let user = secrets.replace("https://eu", "https://admin:MARKER@eu");
    let refused = clone.hydrate_with(&["clusters", "import"], &user).exits(2);
    assert!(refused.stderr.contains("`c-eu` contains a user name") && is_clean(&refused.stderr), "{refused:?}");
}

/// What a set reads is all that it is made again for.
#[test]
fn a_set_is_expanded_again_only_when_what_it_looked_at_changes() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = with_apps(&server, &[("sets/shop.yaml", &directories("shop"))], &FOUR);
    clone.push().success();
    let tips = || -> BTreeMap<&str, String> {
        ["environments/dev", "environments/prod"].map(|branch| (branch, tip(&server, branch))).into()
    };
    let before = tips();
    // A directory that is one by another name: the set makes the same, and moves nothing.
    clone.commit("deep", &[("apps/web/dev/sub/x.yaml", "a: 1\n"), ("docs/apps/web/x/y.yaml", "a: 1\n")]);
    clone.push().success();
    assert_eq!(tips()["environments/prod"], before["environments/prod"]);
}

#[test]
fn a_set_that_runs_long_ends_by_a_limit_that_is_named_and_holds_what_it_fed() {
    let lab = Lab::new();
    let server = lab.server();
    let other = list("a", &["web@qa"], "").replace("apps/{{app}}/{{environment}}", "other");
    let clone = with_apps(&server, &[("sets/shop.yaml", &directories("shop")), ("a.yaml", &other)], &FOUR);
    clone.commit("qa", &[("other/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    server.git(&["config", "hydrate.renderTimeLimit", "1"]);
    let long =
        "{{ range until 10000 }}{{ range until 10000 }}{{ $_ := print . }}{{ end }}{{ end }}{{ .path.basename }}";
    let set = directories("shop").replace("environments/{{ .path.basename }}", &format!("'environments/{long}'"));
    clone.commit("slow", &[("sets/shop.yaml", &set), ("other/config.yaml", &config_map("web", "two"))]);
    let told = clone.push().success().remote().join("\n");
    // A fast machine gets as far as the limit of steps, or of bytes.
    let limits =
        ["takes more than 1 seconds to expand; git config hydrate.renderTimeLimit sets the limit", "steps", "bytes"];
    assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
    assert!(limits.iter().any(|limit| told.contains(limit)) && told.contains("sets/shop.yaml"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    assert!(manifest(&server, "environments/qa", "web").contains("value: two"), "{told}");
    if told.contains(limits[0]) {
        let failures = server.run("git", &["show", "refs/hydrate/failures:failures.json"]);
        assert!(!failures.stdout.contains("shop"), "a limit is no failure of the commit: {failures:?}");
    }
    clone.commit("correct", &[("sets/shop.yaml", &directories("shop"))]);
    clone.push().success();
    assert_ne!(note(&server, "environments/dev"), "");
}
