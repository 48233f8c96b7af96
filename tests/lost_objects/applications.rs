//! Applications whose files still have them, and that no longer count because of something else.

use super::{ALLOWED, DEV};
use crate::push::{application, both, config_map, dry, healthy, note, note_of, tip, verified};
use crate::support::{Lab, Repo};

const WEB: &str = "applications/dev/web.yaml";
const CHART: &str = "apiVersion: v2\nname: t\nversion: 1.0.0\n";

fn has_web(server: &Repo) -> bool {
    !server.git(&["ls-tree", DEV, "web/manifest.yaml"]).is_empty()
}

/// Two Applications on a server, that of `web` in a file of this name.
fn with_web_in(server: &Repo, file: &str) -> Repo {
    let clone = dry(server, &["web", "api"], &["dev"]);
    if file != WEB {
        clone.commit("elsewhere", &[(WEB, ""), (file, &application("web", "dev").1)]);
    }
    clone.push().success();
    assert!(has_web(server));
    clone
}

/// The name of a rule, where the file of the Application is, what is done, and the words and the place of the mistake.
type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

const PATCH: &str = "printf 'patches: [{path: ../applications/dev/web.yaml}]\\n'";

#[test]
fn an_application_does_not_leave_because_another_file_appeared_or_its_own_is_elsewhere() {
    let stray = "printf 'apiVersion: v2\\nname: t\\nversion: 1.0.0\\n' > t/Chart.yaml";
    let patch = format!("mkdir k; {PATCH} > k/kustomization.yaml");
    let beside =
        "printf 'resources: [api.yaml]\\npatchesStrategicMerge: [web.yaml]\\n' > applications/dev/kustomization.yaml";
    let rename = "mkdir old; git mv applications/dev/web.yaml old/web.yaml.bak";
    let edited = "sed -i 's/namespace: web/namespace: wab/' old/web.yaml.bak";
    let into_chart =
        "mkdir -p c; git mv t c/templates; printf 'apiVersion: v2\\nname: t\\nversion: 1.0.0\\n' > c/Chart.yaml";
    let into_inputs = "mkdir .hydrate; git mv applications/dev/web.yaml .hydrate/web.yaml";
    let submodule = "git rm -rq t; mkdir t; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),t";
    let dangling = "git mv t u; git mv u/web.yaml u/web.json5; ln -s nowhere t";
    let rows: &[Row<'_>] = &[
        (
            "a stray chart above templates",
            "t/templates/web.yaml",
            stray,
            &["`t/Chart.yaml` makes `t/templates/web.yaml` with `web-dev` a file of a chart", "--> t/Chart.yaml"],
        ),
        ("a stray chart above charts", "t/charts/a/web.yaml", stray, &["`t/Chart.yaml` makes `t/charts/a/web.yaml`"]),
        (
            "a kustomization that nothing renders",
            WEB,
            &patch,
            &[
                "`k/kustomization.yaml` names `applications/dev/web.yaml` with `web-dev` as a patch",
                "--> k/kustomization.yaml",
            ],
        ),
        (
            "a kustomization beside it",
            WEB,
            beside,
            &["`applications/dev/kustomization.yaml` names `applications/dev/web.yaml`"],
        ),
        (
            "moved with a name that is not read",
            WEB,
            rename,
            &["`applications/dev/web.yaml` with `web-dev` is `old/web.yaml.bak` now"],
        ),
        (
            "moved and edited",
            WEB,
            &format!("{rename}; {edited}"),
            &["is `old/web.yaml.bak` now", "--> old/web.yaml.bak"],
        ),
        (
            "moved into a chart",
            "t/web.yaml",
            into_chart,
            &["`t/web.yaml` with `web-dev` is `c/templates/web.yaml` now", "since `c/Chart.yaml` is there"],
        ),
        ("moved beside the inputs", WEB, into_inputs, &["is `.hydrate/web.yaml` now"]),
        ("its directory is a submodule", "t/web.yaml", submodule, &["submodule", "`web-dev`"]),
        ("its directory is a dangling link", "t/web.yaml", dangling, &["`web-dev`"]),
    ];
    for (name, file, script, words) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = with_web_in(&server, file);
        let before = tip(&server, DEV);
        clone.run("sh", &["-ec", script]).success();
        clone.git(&["add", "-A"]);
        clone.git(&["commit", "-qm", "slip"]);
        for command in ["check", "diff"] {
            let told = clone.hydrate(&[command]);
            let said = [told.stdout.as_str(), &told.stderr].concat();
            assert!(told.code != Some(0) && said.contains(words[0]), "{name}: {command}: {said}");
        }
        server.git(&["config", "hydrate.strict", "all"]);
        let told = clone.push().exits(1).remote().join("\n");
        assert!(words.iter().all(|words| told.contains(words)), "{name}: {told}");
        server.git(&["config", "hydrate.strict", "off"]);
        let told = clone.push().success().remote().join("\n");
        assert!(words.iter().all(|words| told.contains(words)) && !told.contains("removed web"), "{name}: {told}");
        assert_eq!(tip(&server, DEV), before, "{name}");
        clone.commit("unrelated", &[("NOTES", "x")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ") && tip(&server, DEV) == before, "{name}: {told}");
        clone.commit(ALLOWED, &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("removed web") && !has_web(&server), "{name}: the trailer is not heard: {told}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{name}");
        healthy(&server);
        verified(&server);
    }
}

#[test]
fn what_took_an_application_is_taken_back_or_its_file_is_removed() {
    both(|server| {
        let chart = "t/Chart.yaml";
        let file = "t/templates/web.yaml";
        let clone = with_web_in(server, file);
        let before = tip(server, DEV);
        clone.commit("slip", &[(chart, CHART)]);
        clone.push().success();
        assert_eq!(tip(server, DEV), before);
        let id = clone.commit("taken back", &[(chart, ""), ("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        assert!(has_web(server) && note(server, DEV) == note_of(&id));
        clone.commit("slip", &[(chart, CHART)]);
        clone.push().success();
        clone.commit("on purpose", &[(file, "")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("removed web") && !has_web(server), "{told}");
        // So it is with one that got another name elsewhere.
        let clone = clone;
        clone.commit("again", &[(WEB, &application("web", "dev").1)]);
        clone.push().success();
        clone.git(&["mv", WEB, "web.yaml.bak"]);
        clone.commit("slip", &[]);
        clone.push().success();
        assert!(has_web(server));
        clone.git(&["rm", "-q", "web.yaml.bak"]);
        clone.commit("on purpose", &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("removed web") && !has_web(server), "{told}");
        verified(server);
    });
}

#[test]
fn what_takes_an_application_off_its_branch_on_purpose_does() {
    let (_, text) = application("web", "dev");
    let patch = "kind: Application\nmetadata: {name: other}\nspec: {sourceHydrator: {}}\n";
    let write_patch =
        format!("mkdir k; {PATCH} > k/kustomization.yaml; printf '{}' > {WEB}", patch.replace('\n', "\\n"));
    let rows: &[(&str, &str, bool)] = &[
        ("the file is removed", "git rm -q applications/dev/web.yaml", false),
        ("it says that it is left out", "git mv applications/dev/web.yaml applications/dev/web.yaml.disabled", false),
        ("elsewhere, and it says so", "mkdir archive; git mv applications/dev/web.yaml archive/web.yaml.txt", false),
        ("the file is a patch, of something else", &write_patch, false),
        (
            "moved to another directory",
            "mkdir other; git mv applications/dev/web.yaml other/x.json; git mv other/x.json other/x.yaml",
            true,
        ),
        ("renamed", "sed -i 's/name: web-dev/name: shop-dev/' applications/dev/web.yaml", true),
        (
            "renamed and moved",
            "sed -i 's/name: web-dev/name: shop-dev/' applications/dev/web.yaml; git mv applications/dev/web.yaml shop.yaml",
            true,
        ),
        (
            "a chart that has nothing to do with it",
            "mkdir -p t/templates; printf 'apiVersion: v2\\nname: t\\nversion: 1.0.0\\n' > t/Chart.yaml; cp applications/dev/web.yaml t/templates",
            true,
        ),
    ];
    for (name, script, stays) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = with_web_in(&server, WEB);
        assert!(text.contains("name: web-dev"));
        clone.run("sh", &["-ec", script]).success();
        let id = clone.commit("on purpose", &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("error: "), "{name}: {told}");
        assert_eq!((has_web(&server), note(&server, DEV)), (*stays, note_of(&id)), "{name}: {told}");
        verified(&server);
    }
}

#[test]
fn an_application_that_the_setting_applications_does_not_mean_where_it_is_now_stays() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "applications", "applications/**"]).success();
    let clone = with_web_in(&server, WEB);
    clone.run("sh", &["-ec", "mkdir other; git mv applications/dev/web.yaml other/web.yaml"]).success();
    clone.commit("move", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("is `other/web.yaml` now") && told.contains("by the setting `applications`"), "{told}");
    assert!(has_web(&server));
}

#[test]
fn an_application_stays_though_another_branch_has_one_of_its_name() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    for env in ["dev", "prod"] {
        let (file, text) = application("web", env);
        let text = text
            .replace(&format!("name: web-{env}"), "name: web")
            .replace("  name: web\n", &format!("  name: web\n  namespace: argocd-{env}\n"));
        clone.commit("one name", &[(&file, &text)]);
    }
    clone.push().success();
    let before = tip(&server, DEV);
    clone.run("sh", &["-ec", &format!("mkdir k; {PATCH} > k/kustomization.yaml")]).success();
    clone.commit("slip", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`k/kustomization.yaml` names `applications/dev/web.yaml` with `web` as a patch"), "{told}");
    assert_eq!(tip(&server, DEV), before);
}

const SET: &str = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops}
spec:
  generators: [{list: {elements: [{name: web}, {name: shop}]}}]
  template:
    metadata: {name: '{{name}}-dev'}
    spec:
      destination: {namespace: web}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: apps/web/dev}
        syncSource: {targetBranch: environments/dev, path: '{{name}}'}
";

#[test]
fn what_a_set_makes_stays_while_its_file_has_it() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "madeApplications", "true"]).success();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    let one = SET.replace("{name: web}, ", "");
    clone.commit("a set", &[("sets/templates/set.yaml", &one.replace("namespace: web", "namespace: shop"))]);
    clone.push().success();
    let has_shop = || !server.git(&["ls-tree", DEV, "shop/manifest.yaml"]).is_empty();
    assert!(has_shop());
    let before = tip(&server, DEV);
    let moved = "git mv sets/templates/set.yaml set.yaml.orig";
    for (script, words) in [
        (
            "mkdir k; printf 'patches: [{path: ../sets/templates/set.yaml}]\\n' > k/kustomization.yaml",
            "`k/kustomization.yaml` names `sets/templates/set.yaml` with `shops` as a patch",
        ),
        (
            "printf 'apiVersion: v2\\nname: t\\nversion: 1.0.0\\n' > sets/Chart.yaml",
            "`sets/Chart.yaml` makes `sets/templates/set.yaml` with `shops`",
        ),
        (moved, "`sets/templates/set.yaml` with `shops` is `set.yaml.orig` now"),
    ] {
        clone.run("sh", &["-ec", script]).success();
        clone.commit("slip", &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(words) && has_shop() && tip(&server, DEV) == before, "{script}: {told}");
        clone.git(&["reset", "-q", "--hard", "HEAD~"]);
        clone.git(&["push", "-qf", "origin", "HEAD:main"]);
    }
    clone.git(&["rm", "-q", "sets/templates/set.yaml"]);
    clone.commit("on purpose", &[]);
    clone.push().success();
    assert!(!has_shop());
}
