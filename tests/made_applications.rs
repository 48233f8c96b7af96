//! Applications that ApplicationSets make are hydrated as those that stand in files: real pushes.

mod broken;
mod clusters;

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
    assert!(
        apps.stdout.ends_with("4 of 4 Applications hydrate from main, if they render: git hydrate check\n"),
        "{apps:?}"
    );
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
