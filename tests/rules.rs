//! Applications without `spec.sourceHydrator` that the setting `rules` hydrates: real pushes.

mod charts;

use crate::made_applications::{URL, config, dry, files, manifest};
use crate::push::{application, both, config_map, tip};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo};

/// An Application as Argo CD users write it, with the environment as a label.
pub(crate) fn plain(name: &str, environment: &str, source: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd, labels: {{env: {environment}}}}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  {source}
"
    )
}

pub(crate) fn directory(name: &str, environment: &str) -> String {
    let source = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: apps/{name}/{environment}}}");
    plain(&format!("{name}-{environment}"), environment, &source)
}

pub(crate) const BY_LABEL: &str =
    "- {match: {labels: {env: '*'}}, branch: 'environments/{{ labels.env }}', path: '{{ name }}'}\n";

/// The manifest of a [`config`].
fn rendered(name: &str, value: &str) -> String {
    format!("apiVersion: v1\ndata:\n  value: {value}\nkind: ConfigMap\nmetadata:\n  name: {name}")
}

/// Sets the rules of a server, and `repoURL`.
pub(crate) fn rule(server: &Repo, rules: &str) -> Answer {
    server.hydrate(&["config", "set", "repoURL", URL]).success();
    server.hydrate(&["config", "set", "rules", "--", rules])
}

pub(crate) fn two(server: &Repo) -> Repo {
    let [dev, prod] =
        ["dev", "prod"].map(|environment| (directory("web", environment), config("web", environment, "one")));
    let files = [
        ("applications/dev.yaml", dev.0.as_str()),
        ("applications/prod.yaml", prod.0.as_str()),
        (dev.1.0.as_str(), dev.1.1.as_str()),
        (prod.1.0.as_str(), prod.1.1.as_str()),
    ];
    dry(server, &files)
}

#[test]
fn plain_applications_are_hydrated_where_a_rule_leads_them() {
    both(|server| {
        rule(server, BY_LABEL).success();
        let clone = two(server);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("environments/dev") && told.contains("environments/prod"), "{told}");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert!(files(server, "environments/dev").contains("web-dev/manifest.yaml"));
        assert_eq!(manifest(server, "environments/prod", "web-prod"), rendered("web", "one"));

        // One environment changes; the other keeps its commit.
        let prod = tip(server, "environments/prod");
        let (path, text) = config("web", "dev", "two");
        clone.commit("change dev", &[(&path, &text)]);
        clone.push().success();
        assert_eq!(manifest(server, "environments/dev", "web-dev"), rendered("web", "two"));
        assert_eq!(tip(server, "environments/prod"), prod);

        // Its document changes.
        let text = directory("web", "dev").replace("apps/web/dev", "apps/web/prod");
        clone.commit("take the other directory", &[("applications/dev.yaml", &text)]);
        clone.push().success();
        assert_eq!(manifest(server, "environments/dev", "web-dev"), rendered("web", "one"));

        // It goes: the branch would be empty.
        clone.commit("remove dev\n\nHydrate-Allow-Removal: environments/dev", &[("applications/dev.yaml", "")]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains("web-dev"));
    });
}

#[test]
fn a_changed_rule_moves_what_it_hydrates_at_once() {
    both(|server| {
        rule(server, BY_LABEL).success();
        two(server).push().success();
        let answer = rule(server, &BY_LABEL.replace("'{{ name }}'", "'shop/{{ name }}'")).success();
        assert!(answer.stdout.contains("environments/dev"), "{}", answer.stdout);
        let found = files(server, "environments/dev");
        assert!(found.contains("shop/web-dev/manifest.yaml") && !found.contains(" web-dev/"), "{found}");
        let trailers =
            server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Settings,valueonly)", "environments/dev"]);
        assert_eq!(trailers.trim(), server.git(&["rev-parse", "refs/hydrate/config"]));
        let verified = server.hydrate(&["verify"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    });
}

#[test]
fn the_document_wins_over_rules_and_the_first_rule_over_later_ones() {
    let lab = Lab::new();
    let server = lab.server();
    let rules = "- {match: {name: 'old-*'}, hydrate: false}\n- {match: {name: web}, branch: first, path: '{{ name }}'}\n- \
                 {branch: later, path: '{{ name }}'}\n- {match: {name: nobody}, branch: later, path: x}\n";
    rule(&server, rules).success();
    let source = format!("source: {{repoURL: {URL}, targetRevision: main, path: apps/web/dev}}");
    let hydrator = format!(
        "sourceHydrator:\n    drySource: {{repoURL: {URL}, targetRevision: main, path: apps/web/dev}}\n    syncSource: \
         {{targetBranch: own, path: own}}"
    );
    let all = ["web", "old-one", "other"].map(|name| plain(name, "dev", &source)).join("---\n");
    let all = format!("{all}---\n{}", plain("own", "dev", &hydrator));
    let (path, text) = config("web", "dev", "one");
    let clone = dry(&server, &[("applications.yaml", &all), (&path, &text)]);
    clone.push().success();
    let branches = server.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(branches.lines().collect::<Vec<_>>(), ["first", "later", "main", "own"]);
    assert!(files(&server, "first").contains("web/manifest.yaml"));
    assert!(files(&server, "later").contains("other/manifest.yaml") && !files(&server, "later").contains("old-one"));

    // Who asks reads which rule it is.
    let apps = server.hydrate(&["apps", "main"]).success().stdout;
    assert!(apps.contains("applications.yaml:3, by rule 2") && apps.contains("by rule 3"), "{apps}");
    assert!(!apps.contains("old-one") && apps.contains("3 of 3 Applications"), "{apps}");
    let apps = server.hydrate(&["apps", "main", "--json"]).success().stdout;
    assert!(apps.contains("\"rule\": 2"), "{apps}");
    let explained = server.hydrate(&["explain", "first:web/manifest.yaml"]).success().stdout;
    assert!(explained.contains("hydrated by  rule 2"), "{explained}");
    let check = server.hydrate(&["check", "main"]);
    assert!(check.stdout.contains("rule 4 of the settings matches no Application"), "{}", check.stdout);
    assert!(!check.stdout.contains("rule 1 of") && !check.stdout.contains("rule 3 of"), "{}", check.stdout);
}

#[test]
fn rules_that_cannot_be_right_are_refused_before_they_count() {
    let lab = Lab::new();
    let server = lab.server();
    let rows = [
        ("- {branch: a, path: ../x}", "rules[0]: `path`: `../x` is not a valid path for hydrated manifests"),
        ("- {branch: a..b, path: a}", "rules[0]: `branch`: `a..b` is not a valid branch name"),
        ("- {branch: '{{ nme }}', path: a}", "there is no value `nme`; there are name, namespace"),
        ("- {branch: a, path: a, mach: {}}", "unknown key `rules[0].mach`: did you mean `rules[0].match`?"),
        ("- {branch: a}", "`path` is missing: write where Applications go"),
    ];
    for (text, expected) in rows {
        let answer = server.hydrate(&["config", "set", "rules", "--", text]);
        assert_eq!(answer.code, Some(2), "{text}");
        assert!(answer.stderr.contains(expected) && !answer.stderr.contains("line "), "{}", answer.stderr);
    }
    assert_eq!(server.hydrate(&["config", "get", "rules"]).code, Some(1));
}

#[test]
fn what_a_rule_makes_of_a_hostile_application_is_an_error_of_that_application() {
    let rows = [
        (
            "path: '{{ labels.env }}'",
            "..",
            "rule 1 of the settings: `path`: `..` is not a valid path for hydrated manifests",
        ),
        ("path: '{{ annotations.x }}/../../y'", "dev", "it uses a value that does not exist"),
        ("path: '.git/{{ name }}'", "dev", "git reserves `.git`"),
        (
            "path: x, hydrateTo: '{{ labels.env }}'",
            "a..b",
            "rule 1 of the settings: `hydrateTo`: `a..b` is not a valid branch name",
        ),
        (
            "path: '{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}'",
            "dev",
            "rule 1 of the settings: `path`: it takes more than 10000 steps",
        ),
    ];
    for (path, environment, expected) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let source = format!("source: {{repoURL: {URL}, targetRevision: main, path: apps/web/dev}}");
        let (file, text) = config("web", "dev", "one");
        let application = plain("web", environment, &source)
            .replace(&format!("env: {environment}"), &format!("env: '{environment}'"));
        let rules = format!("- {{branch: environments/dev, {path}}}\n");
        let set = rule(&server, &rules);
        if set.code != Some(0) {
            assert!(set.stderr.contains(expected), "{path}: {}", set.stderr);
            continue;
        }
        let clone = dry(&server, &[("web.yaml", &application), (&file, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error") && told.contains(expected) && told.contains("web.yaml:3"), "{path}: {told}");
        let branches = server.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        assert_eq!(branches, "main", "{path}");
    }
}

#[test]
fn two_rules_that_lead_to_one_path_are_told_with_both_places() {
    let lab = Lab::new();
    let server = lab.server();
    let rules = "- {match: {name: a}, branch: dev, path: same}\n- {match: {name: b}, branch: dev, path: ./same/}\n";
    rule(&server, rules).success();
    let source = format!("source: {{repoURL: {URL}, targetRevision: main, path: apps/web/dev}}");
    let (file, text) = config("web", "dev", "one");
    let [a, b] = ["a", "b"].map(|name| plain(name, "dev", &source));
    let clone = dry(&server, &[("a.yaml", &a), ("b.yaml", &b), (&file, &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error: `same` on `dev` is already written by `a`"), "{told}");
    assert!(told.contains("b.yaml:3") && told.contains("a.yaml:3"), "{told}");
    assert!(told.contains("rule 2 of the settings hydrates it"), "{told}");
}

#[test]
fn a_release_has_the_name_that_argo_cd_gives_it() {
    both(|server| {
        rule(server, BY_LABEL).success();
        let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\n\
                        data:\n  word: {{ .Values.word }}\n";
        let source = format!(
            "source: {{repoURL: {URL}, targetRevision: main, path: chart, helm: {{valueFiles: [$ARGOCD_APP_NAME.yaml], \
             parameters: [{{name: other, value: $ARGOCD_APP_PROJECT_NAME}}]}}}}"
        );
        let files = [
            ("web.yaml", plain("web", "dev", &source)),
            ("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n".to_owned()),
            ("chart/web.yaml", "word: ours\n".to_owned()),
            ("chart/templates/map.yaml", template.to_owned()),
        ];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        let told = dry(server, &files).push().success().remote().join("\n");
        assert!(!told.contains("release"), "{told}");
        // helm 4.2.3 template web --namespace shop --values web.yaml.
        let expected =
            "apiVersion: v1\ndata:\n  word: ours\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop";
        assert_eq!(manifest(server, "environments/dev", "web"), expected);
    });
}

#[test]
fn pinned_revisions_and_other_branches_are_not_hydrated_on_push() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let source = |revision: &str| format!("source: {{repoURL: {URL}, targetRevision: {revision}, path: apps/web/dev}}");
    let all = [("a", "v1.0.0"), ("b", "release"), ("c", "main")]
        .map(|(name, revision)| plain(name, "dev", &source(revision)));
    let (file, text) = config("web", "dev", "one");
    let clone = dry(&server, &[("all.yaml", &all.join("---\n")), (&file, &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`v1.0.0` is a version: pinned, not hydrated on push"), "{told}");
    let found = files(&server, "environments/dev");
    assert!(found.contains("c/manifest.yaml") && !found.contains("a/") && !found.contains("b/manifest"), "{found}");
}

#[test]
fn what_sets_and_parents_make_falls_under_rules() {
    both(|server| {
        let rules = "- {match: {name: root, file: root.yaml}, branch: clusters/apps, path: root}\n- {match: {labels: {env: '*'}}, branch: \
                     'environments/{{ labels.env }}', path: '{{ name }}'}\n";
        rule(server, rules).success();
        let set = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: fleet, namespace: argocd}}
spec:
  generators:
  - list: {{elements: [{{env: dev}}, {{env: prod}}]}}
  template:
    metadata: {{name: 'api-{{{{env}}}}', labels: {{env: '{{{{env}}}}'}}}}
    spec:
      project: default
      destination: {{server: https://kubernetes.default.svc, namespace: shop}}
      source: {{repoURL: {URL}, targetRevision: HEAD, path: 'apps/api/{{{{env}}}}'}}
"
        );
        let unused = set.replace("name: fleet", "name: idle").replace("labels: {env: '{{env}}'}", "labels: {team: x}");
        let unused = unused.replace("list: {elements: [{env: dev}, {env: prod}]}", "pullRequest: {}");
        let chart = "apiVersion: v2\nname: apps\nversion: 1.0.0\n";
        let child = directory("web", "dev").replace("web-dev", "{{ .Values.name }}");
        let root = plain("root", "", &format!("source: {{repoURL: {URL}, targetRevision: main, path: charts/apps}}"));
        let configs = [("web", "dev"), ("api", "dev"), ("api", "prod")].map(|(app, env)| config(app, env, "one"));
        let mut all = vec![
            ("set.yaml", set.as_str()),
            ("idle.yaml", &unused),
            ("root.yaml", &root),
            ("charts/apps/Chart.yaml", chart),
            ("charts/apps/values.yaml", "name: web\n"),
            ("charts/apps/templates/web.yaml", &child),
        ];
        all.extend(configs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let clone = dry(server, &all);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("error") && !told.contains("warning"), "{told}");
        assert_eq!(manifest(server, "environments/prod", "api-prod"), rendered("api", "one"));
        assert_eq!(manifest(server, "environments/dev", "web"), rendered("web", "one"));
        assert!(manifest(server, "clusters/apps", "root").contains("kind: Application"));
        let apps = server.hydrate(&["apps", "main"]).success().stdout;
        assert!(
            apps.contains("made by ApplicationSet `fleet`") && apps.contains("made by Application `root`"),
            "{apps}"
        );
        assert!(apps.contains(", by rule 2") && apps.contains("root.yaml:3, by rule 1"), "{apps}");

        // What they make follows its sources, without and with the set itself changing.
        let (path, text) = config("api", "dev", "two");
        clone.commit("change", &[(&path, &text)]);
        clone.push().success();
        assert_eq!(manifest(server, "environments/dev", "api-dev"), rendered("api", "two"));
        clone.commit("rename", &[("charts/apps/values.yaml", "name: shop\n")]);
        clone.push().success();
        assert!(files(server, "environments/dev").contains("shop/manifest.yaml"));
        assert!(!files(server, "environments/dev").contains("web/manifest.yaml"));
    });
}

#[test]
fn a_file_that_cannot_be_read_keeps_what_it_fed() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    clone.push().success();
    let dev = tip(&server, "environments/dev");
    clone.commit(
        "break it",
        &[("applications/dev.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: [\n")],
    );
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error") && told.contains("applications/dev.yaml"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), dev);
    // One that fed nothing is a warning.
    clone.commit("mend it", &[("applications/dev.yaml", &directory("web", "dev"))]);
    clone.commit("another", &[("other.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: [\n")]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("warning") && told.contains("other.yaml") && !told.contains("error"), "{told}");
}

#[test]
fn questions_of_a_server_with_rules_are_answered() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    clone.push().success();
    let (path, text) = config("web", "dev", "two");
    clone.commit("change dev", &[(&path, &text)]);
    clone.push().success();
    let verified = server.hydrate(&["verify"]).success().stdout;
    assert!(!verified.contains("differ"), "{verified}");
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains("environments/dev") && status.contains("environments/prod"), "{status}");
    let doctor = server.hydrate(&["doctor"]);
    assert!(doctor.stdout.contains("Applications hydrate to environments/dev, environments/prod"), "{doctor:?}");
    assert!(server.hydrate(&["check", "main"]).success().stdout.contains("2 Applications"));
    // A clone makes what the server made, and the helper serves it.
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    clone.hydrate(&[]).success();
    assert_eq!(clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]), tip(&server, "environments/dev"));
    // What breaks is told everywhere.
    clone.commit("break dev", &[(&path, BROKEN)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/dev") && told.contains("stays at"), "{told}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("not valid YAML"), "{status}");
    assert!(server.hydrate(&["doctor"]).stdout.contains("environments/dev stays behind main"));
    assert_eq!(server.hydrate(&["verify"]).code, Some(0));
}

/// Plain Applications without rules are nothing to us, whatever version hydrated the branch last.
#[test]
fn a_repository_without_rules_keeps_its_ids() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let plain = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: plain}}\nspec:\n  source: {{repoURL: {URL}, \
         targetRevision: main, path: apps/web/dev}}\n"
    );
    let config = |value: &str| config_map("web", value);
    let (path, dev, two) = ("apps/web/dev/config.yaml", config("dev"), config("two"));
    // Recorded with engine revision 5, which is in the metadata of each path and in a trailer.
    let rows = [
        (&dev, "2a2849c33f42c75382e1dadf77d93a8e8becf864", "d3bda70864c8a3807edbd293365002f183df6367"),
        (&two, "b93551e11ef9706ee0aa027af5421ac72e3604a8", "dbff4d37875e7b9c0e9c9d0c0757dadf0ba2a726"),
    ];
    for ((content, branch, notes), message) in rows.into_iter().zip(["begin", "change"]) {
        clone.commit(message, &[(&file, &text), ("applications/dev/plain.yaml", &plain), (path, content)]);
        clone.push().success();
        assert_eq!(tip(&server, "environments/dev"), branch);
        assert_eq!(server.git(&["rev-parse", "refs/notes/hydrator.metadata"]), notes);
    }
}

#[test]
fn a_refused_push_to_a_hydrated_branch_names_no_empty_path() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    let source = format!(
        "sources: [{{repoURL: {URL}, targetRevision: main, ref: values}}, \
         {{repoURL: {URL}, targetRevision: main, path: apps/more/dev}}]"
    );
    let (path, text) = config("more", "dev", "one");
    clone.commit("more", &[("applications/more.yaml", &plain("more-dev", "dev", &source)), (&path, &text)]);
    clone.push().success();
    assert!(files(&server, "environments/dev").contains("more-dev/manifest.yaml"));
    let told = clone.run("git", &["push", "-f", "origin", "HEAD:environments/dev"]).exits(1).stderr;
    assert!(told.contains("hint: change apps/web/dev on `main` instead"), "{told}");
}

#[test]
fn a_file_that_grows_too_large_takes_nothing_off_its_branch() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let large = format!("{}{}", directory("web", "dev"), "# a comment\n".repeat(400_000));
    clone.commit(
        "grow",
        &[("applications/dev.yaml", &large), (&config("web", "prod", "two").0, &config("web", "prod", "two").1)],
    );
    let told = clone.push().success().stderr;
    assert!(told.contains("error: a file of 4 MiB is too large for Applications"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before, "{told}");
    assert!(manifest(&server, "environments/prod", "web-prod").contains("two"), "{told}");
}

#[test]
fn adopt_names_what_keeps_a_whole_branch_as_it_is() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two(&server);
    let source = format!("source: {{repoURL: {URL}, path: apps/web/dev, plugin: {{name: nowhere}}}}");
    clone.commit("a plugin", &[("applications/plugged.yaml", &plain("plugged", "dev", &source))]);
    let said = clone.hydrate(&["adopt", "--repo-url", URL, "--branch-pattern", "environments/{{ labels.env }}"]);
    let rules = "  - match:\n      plugin: nowhere\n    hydrate: false\n  - branch: environments/{{ labels.env }}\n";
    assert!(said.stdout.contains(rules), "{said:?}");
    let line = "the plugin `nowhere` does not run here, and the proposed rule leaves it alone\n      plugged\n";
    assert!(said.stdout.contains(line) && said.stdout.contains("2 of 3 Applications hydrate\n"), "{said:?}");
    // Rules that there are get it too, and the server does as it is foretold.
    rule(&server, BY_LABEL).success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let said = clone.hydrate(&["adopt"]).stdout;
    assert!(said.contains("      plugin: nowhere\n") && said.contains("2 of 3 Applications hydrate\n"), "{said}");
    server.hydrate(&[
        "config",
        "set",
        "rules",
        "--",
        &format!("- {{match: {{plugin: nowhere}}, hydrate: false}}\n{BY_LABEL}"),
    ]);
    let said = clone.push().success().stderr;
    assert!(said.contains("environments/dev   new -> ") && !said.contains("error"), "{said}");
}
