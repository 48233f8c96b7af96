//! The branch of the setting `applicationsTo`: copies of Applications that lead to what is hydrated of them. Real pushes.

mod clashes;
mod sets;

use crate::made_applications::{URL, config, dry, files, list, manifest};
use crate::push::{application, both, config_map, healthy, note, note_of, tip, verified};
use crate::rules::{BY_LABEL, directory, plain, rule, two};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

pub(crate) const TO: &str = "applications";

pub(crate) fn copied(server: &Repo, rules: &str) {
    rule(server, rules).success();
    server.hydrate(&["config", "set", "applicationsTo", TO]).success();
}

fn copy(server: &Repo, name: &str) -> String {
    manifest(server, TO, &format!("applications/argocd/{name}"))
}

/// A copy of [`plain`].
pub(crate) fn expected(name: &str, environment: &str, path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  labels:
    env: {environment}
  name: {name}
  namespace: argocd
spec:
  destination:
    namespace: shop
    server: https://kubernetes.default.svc
  project: default
  source:
    directory:
      recurse: false
    path: {path}
    repoURL: {URL}
    targetRevision: environments/{environment}"
    )
}

pub(crate) fn names(server: &Repo) -> Vec<String> {
    let all = server.git(&["ls-tree", "-r", "--name-only", TO]);
    all.lines().filter_map(|path| path.strip_suffix("/manifest.yaml")).map(str::to_owned).collect()
}

/// [`directory`] with one more field that no manifest depends on.
fn changed(name: &str, environment: &str) -> String {
    directory(name, environment).replace("project: default", CHANGED)
}

const CHANGED: &str = "project: default\n  revisionHistoryLimit: 3";

pub(crate) fn push(clone: &Repo) -> String {
    clone.push().success().remote().join("\n")
}

#[test]
fn copies_lead_to_what_is_hydrated_and_follow_the_documents() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        let told = push(&clone);
        assert!(told.contains(TO) && !told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        assert_eq!(copy(server, "web-prod"), expected("web-prod", "prod", "web-prod"));
        let web = |env: &str| {
            format!("applications/argocd/web-{env}/hydrator.metadata applications/argocd/web-{env}/manifest.yaml")
        };
        let all = format!(".gitattributes README.md {} {} hydrator.metadata", web("dev"), web("prod"));
        assert_eq!(files(server, TO), all);
        let readme = server.git(&["show", &format!("{TO}:README.md")]);
        assert!(readme.contains("| applications/argocd/web-dev | environments/dev | web-dev |"), "{readme}");
        assert_eq!(note(server, TO), note_of(&clone.git(&["rev-parse", "HEAD"])));
        verified(server);

        // What is deployed changes: the copies do not.
        let before = tip(server, TO);
        let (path, text) = config("web", "dev", "two");
        let dry = clone.commit("change dev", &[(&path, &text)]);
        push(&clone);
        assert_eq!((tip(server, TO), note(server, TO)), (before, note_of(&clone.git(&["rev-parse", "HEAD"]))), "{dry}");
        // The document changes: no manifest does.
        let dev = tip(server, "environments/dev");
        clone.commit("another project", &[("applications/dev.yaml", &changed("web", "dev"))]);
        push(&clone);
        assert_eq!(tip(server, "environments/dev"), dev);
        let expected = expected("web-dev", "dev", "web-dev").replace("project: default", CHANGED);
        assert_eq!(copy(server, "web-dev"), expected);
        verified(server);
    });
}

#[test]
fn copies_go_in_the_run_after_and_by_the_removal_limit() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        push(&clone);
        clone.git(&["rm", "-q", "applications/prod.yaml"]);
        clone.commit("no prod\n\nHydrate-Allow-Removal: environments/prod", &[]);
        push(&clone);
        assert!(!files(server, "environments/prod").contains("manifest.yaml"));
        assert_eq!(names(server), ["applications/argocd/web-dev", "applications/argocd/web-prod"]);
        clone.commit("notes", &[("NOTES", "x")]);
        push(&clone);
        assert_eq!(names(server), ["applications/argocd/web-dev"]);
        verified(server);

        clone.git(&["rm", "-q", "applications/dev.yaml"]);
        clone.commit("no dev\n\nHydrate-Allow-Removal: environments/dev", &[]);
        push(&clone);
        clone.commit("more notes", &[("NOTES", "y")]);
        let told = push(&clone);
        assert!(told.contains("this commit would empty `applications`, which 1 Application writes"), "{told}");
        assert!(told.contains("Hydrate-Allow-Removal: applications"), "{told}");
        assert_eq!(names(server), ["applications/argocd/web-dev"]);
        clone.commit("allow it\n\nHydrate-Allow-Removal: applications", &[("NOTES", "z")]);
        push(&clone);
        assert!(names(server).is_empty());
        verified(server);
    });
}

#[test]
fn copies_of_what_fails_or_is_frozen_stay_as_they_are() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        push(&clone);
        // With its branch.
        let (path, _) = config("web", "dev", "two");
        clone.commit("break dev", &[(&path, BROKEN), ("applications/dev.yaml", &changed("web", "dev"))]);
        push(&clone);
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        // Alone: another one goes on.
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let api = config("api", "dev", "one");
        clone.commit("more", &[("applications/api.yaml", &directory("api", "dev")), (&api.0, &api.1)]);
        push(&clone);
        assert!(files(server, "environments/dev").contains("api-dev/manifest.yaml"));
        assert_eq!(copy(server, "api-dev"), expected("api-dev", "dev", "api-dev"));
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        clone.commit("mend dev", &[(&path, &config_map("web", "two"))]);
        push(&clone);
        assert!(copy(server, "web-dev").contains("revisionHistoryLimit: 3"));
        verified(server);

        server.hydrate(&["config", "set", "frozen.environments/dev", "{reason: release}"]).success();
        clone.commit(
            "back",
            &[("applications/dev.yaml", &directory("web", "dev")), ("applications/prod.yaml", &changed("web", "prod"))],
        );
        push(&clone);
        assert!(
            copy(server, "web-dev").contains("revisionHistoryLimit: 3")
                && copy(server, "web-prod").contains("revisionHistoryLimit: 3")
        );
        server.hydrate(&["config", "unset", "frozen"]).success();
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        verified(server);
        // Paused, it keeps what it has.
        let paused = changed("web", "dev").replace("labels:", "annotations: {git-hydrate/paused: 'true'}, labels:");
        clone.commit("pause dev", &[("applications/dev.yaml", &paused)]);
        push(&clone);
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        verified(server);
    });
}

#[test]
fn a_copy_of_what_is_staged_follows_its_promotion() {
    both(|server| {
        copied(server, &BY_LABEL.replace("path:", "hydrateTo: 'environments/{{ labels.env }}-next', path:"));
        let clone = two(server);
        push(&clone);
        assert!(!server.git(&["branch", "--list"]).contains(" applications"));
        let promote = || {
            server.git(&["update-ref", "refs/heads/environments/dev", "refs/heads/environments/dev-next"]);
            server.hydrate(&["catch-up"]).success();
        };
        promote();
        assert_eq!(names(server), ["applications/argocd/web-dev"]);
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        // Nothing is to be promoted, so the document counts at once.
        clone.commit("another project", &[("applications/dev.yaml", &changed("web", "dev"))]);
        push(&clone);
        assert!(copy(server, "web-dev").contains("revisionHistoryLimit: 3"));
        // What is not promoted yet does not count.
        let (path, text) = config("web", "dev", "two");
        clone.commit("back", &[("applications/dev.yaml", &directory("web", "dev")), (&path, &text)]);
        push(&clone);
        assert!(copy(server, "web-dev").contains("revisionHistoryLimit: 3"));
        promote();
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        verified(server);
    });
}

/// An Application that renders the directory `applications`, under a rule.
pub(crate) fn root() -> String {
    let source = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: applications}}");
    plain("root", "root", &source)
}

#[test]
fn a_root_under_its_own_rule_holds_the_copies_of_what_it_renders() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        clone.commit("root", &[("bootstrap/root.yaml", &root())]);
        let told = push(&clone);
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(names(server), ["applications/argocd/root"]);
        assert_eq!(copy(server, "root"), expected("root", "root", "root"));
        let rendered = manifest(server, "environments/root", "root");
        assert_eq!(
            rendered,
            [expected("web-dev", "dev", "web-dev"), expected("web-prod", "prod", "web-prod")].join("\n---\n")
        );
        verified(server);
        clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
        assert_eq!(clone.hydrate(&["render", "root"]).success().stdout.trim_end(), rendered);

        // A rule leads elsewhere.
        let to_paths = BY_LABEL.replace("'{{ name }}'", "'all/{{ name }}'");
        server.hydrate(&["config", "set", "rules", "--", &to_paths]);
        assert!(manifest(server, "environments/root", "all/root").contains("path: all/web-dev"));
        assert_eq!(copy(server, "root"), expected("root", "root", "all/root"));
        verified(server);
        // One of them is gone.
        clone.git(&["rm", "-q", "applications/prod.yaml"]);
        clone.commit("no prod\n\nHydrate-Allow-Removal: environments/prod", &[]);
        push(&clone);
        assert_eq!(manifest(server, "environments/root", "all/root"), expected("web-dev", "dev", "all/web-dev"));
        verified(server);
    });
}

#[test]
fn a_root_that_renders_itself_is_its_own_copy() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        clone.commit("root", &[("applications/root.yaml", &root())]);
        let told = push(&clone);
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        let rendered = manifest(server, "environments/root", "root");
        assert!(rendered.contains(&expected("root", "root", "root")), "{rendered}");
        assert!(rendered.contains(&expected("web-dev", "dev", "web-dev")), "{rendered}");
        assert!(!server.git(&["branch", "--list"]).contains(" applications"));
        verified(server);
    });
}

#[test]
fn what_a_root_of_the_cluster_renders_is_copied() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    server.hydrate(&["config", "set", "roots", "[{name: boot, path: boot}]"]).success();
    let (path, text) = config("web", "dev", "one");
    let template = directory("web", "dev");
    let clone = dry(
        &server,
        &[
            (&path, &text),
            ("boot/Chart.yaml", "apiVersion: v2\nname: boot\nversion: 1.0.0\n"),
            ("boot/templates/apps.yaml", &template),
        ],
    );
    let told = push(&clone);
    assert!(!told.contains("warning") && !told.contains("error"), "{told}");
    assert_eq!(copy(&server, "web-dev"), expected("web-dev", "dev", "web-dev"));
    verified(&server);
}

/// A set with an environment as a label, and the path that a rule makes of the name.
pub(crate) fn plain_set(more: &str) -> String {
    let text = list("shop", &["web@dev", "web@prod"], more);
    let (before, _) = text.split_once("      sourceHydrator").expect("one");
    let metadata = "metadata: {name: '{{app}}-{{environment}}', labels: {env: '{{environment}}'}}";
    let before = before.replace("metadata: {name: '{{app}}-{{environment}}'}", metadata);
    before.replace("metadata: {name: shop}", "metadata: {name: shop, namespace: argocd}")
        + &format!(
            "      source: {{repoURL: {URL}, targetRevision: HEAD, path: 'apps/{{{{app}}}}/{{{{environment}}}}'}}\n      \
             destination: {{namespace: '{{{{environment}}}}'}}\n"
        )
}

fn with_set(server: &Repo, set: &str) -> Repo {
    let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
    dry(server, &[("sets/shop.yaml", set), (&dev.0, &dev.1), (&prod.0, &prod.1)])
}

#[test]
fn other_tools_leave_the_branch_of_copies_up_to_date() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    push(&two(&server));
    server.hydrate(&["config", "set", "tools", "{helm: 3.17.3, kustomize: 5.5.0}"]).success();
    server.hydrate(&["catch-up"]);
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains(TO) && !status.contains("hydrated with other tools"), "{status}");
}

#[test]
fn a_copy_goes_at_once_where_another_takes_its_place() {
    both(|server| {
        copied(server, &BY_LABEL.replace("'{{ name }}'", "web"));
        let clone = two(server);
        push(&clone);
        clone.commit("another name", &[("applications/dev.yaml", &directory("web", "dev").replace("web-dev", "shop"))]);
        push(&clone);
        assert_eq!(names(server), ["applications/argocd/shop", "applications/argocd/web-prod"]);
        verified(server);
    });
    both(|server| {
        copied(server, BY_LABEL);
        let clone = with_set(server, &plain_set(""));
        push(&clone);
        rule(server, &BY_LABEL.replace("branch:", "expand: shop, branch:")).success();
        assert_eq!(names(server), ["applications/argocd/web-dev", "applications/argocd/web-prod"]);
        rule(server, BY_LABEL).success();
        assert_eq!(names(server), ["applicationsets/argocd/shop"]);
        verified(server);
        clone.commit("notes", &[("NOTES", "x")]);
        push(&clone);
    });
}

#[test]
fn a_branch_that_cannot_have_copies_is_refused() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    push(&clone);
    let told = server.hydrate(&["config", "set", "applicationsTo", "main"]);
    assert!(told.code != Some(0) && told.stderr.contains("applicationsTo: `main` is one of `dryBranches`"), "{told:?}");
    server.hydrate(&["config", "set", "applicationsTo", "environments/dev"]).exits(1);
    clone.commit("notes", &[("NOTES", "x")]);
    let told = push(&clone);
    let text = "error: the setting `applicationsTo` is `environments/dev`, which Applications are hydrated to";
    assert!(told.contains(text), "{told}");
    // Somebody else made it.
    server.git(&["branch", "taken", "main"]);
    server.hydrate(&["config", "set", "applicationsTo", "taken"]).exits(1);
    clone.commit("notes", &[("NOTES", "y")]);
    let told = push(&clone);
    assert!(told.contains("`taken` was not made by hydration, so it is not overwritten"), "{told}");
    assert_eq!(tip(&server, "taken"), clone.git(&["rev-parse", "HEAD~1"]));
}

#[test]
fn no_application_is_hydrated_to_the_branch_of_copies() {
    for branch in [TO.to_owned(), format!("{TO}/x")] {
        let lab = Lab::new();
        let server = lab.server();
        copied(&server, BY_LABEL);
        let clone = two(&server);
        let (file, text) = application("other", "dev");
        let text = text.replace("https://git.example.com/dry.git", URL).replace("environments/dev", &branch);
        clone.commit("another", &[(&file, &text), ("apps/other/dev/config.yaml", &config_map("other", "x"))]);
        // Neither as the first that writes there, nor later.
        for n in ["first", "second"] {
            let told = push(&clone);
            let text = format!("`{branch}` cannot be hydrated to: copies of Applications go to `{TO}`");
            assert!(told.contains(&text), "{told}");
            assert_eq!(names(&server), ["applications/argocd/web-dev", "applications/argocd/web-prod"]);
            assert!(!told.contains("setting `applicationsTo`"), "{told}");
            clone.commit(n, &[("apps/other/dev/config.yaml", &config_map("other", n))]);
        }
        // Nor does it hold others back.
        clone.commit("another project", &[("applications/dev.yaml", &changed("web", "dev"))]);
        push(&clone);
        assert!(copy(&server, "web-dev").contains(CHANGED));
        verified(&server);
    }
}

#[test]
fn copies_cannot_go_to_a_branch_that_git_cannot_have_beside_those_that_are_there() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    push(&clone);
    let told = server.hydrate(&["config", "set", "applicationsTo", "environments"]).exits(1);
    let error = "error: the setting `applicationsTo` is `environments`, which git cannot have beside the branch `environments/dev`";
    assert!(told.stdout.contains(error) && !told.stderr.contains("cannot lock ref"), "{told:?}");
    let (path, text) = config("web", "dev", "two");
    clone.commit("on", &[(&path, &text)]);
    assert!(push(&clone).contains(error));
    assert!(manifest(&server, "environments/dev", "web-dev").contains("two"));
}

#[test]
fn whoever_asks_reads_of_copies() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    let clone = two(&server);
    push(&clone);
    server.install_without_settings();
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains(TO), "{status}");
    assert!(server.hydrate(&["doctor"]).success().stdout.contains(TO));
    healthy(&server);
    // It is closed to pushes.
    clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    let told = clone.run("git", &["push", "-q", "origin", "HEAD:refs/heads/applications"]);
    assert!(told.code != Some(0), "{told:?}");
    // A clone makes what the server makes, and shows it before.
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    clone.commit("another project", &[("applications/dev.yaml", &changed("web", "dev"))]);
    let diff = clone.hydrate(&["diff"]).stdout;
    assert!(diff.contains(TO) && diff.contains("revisionHistoryLimit: 3"), "{diff}");
    let planned = clone.hydrate(&["plan"]).success().stdout;
    assert!(planned.contains("applications  copies of what the others become\n"), "{planned}");
    assert!(clone.hydrate(&["plan", "--json"]).success().stdout.contains("\"copies\": \"applications\""));
    clone.hydrate(&[]).success();
    let made = clone.git(&["rev-parse", "refs/remotes/hydrate/applications"]);
    push(&clone);
    assert_eq!(tip(&server, TO), made);
    let url = format!("hydrate::file://{}", server.path.display());
    server.run("git", &["clone", "-q", &url, "../served"]).success();
    assert_eq!(Repo::at(&lab, "served").git(&["rev-parse", "refs/remotes/origin/applications"]), made);

    // Somebody changes one on the server.
    let served = Repo::at(&lab, "served");
    served.git(&["checkout", "-q", TO]);
    served.commit("change it", &[("applications/argocd/web-dev/manifest.yaml", "a: 1\n")]);
    server.git(&["fetch", "-q", "../served", "+applications:applications"]);
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains("applications/argocd/web-dev/manifest.yaml"), "{told}");
    server.hydrate(&["status"]).exits(1);
}

#[test]
fn strict_mode_lets_through_what_only_has_no_copy_yet() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, BY_LABEL);
    server.install_without_settings();
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = two(&server);
    push(&clone);
    assert_eq!(names(&server).len(), 2);
    clone.commit("another project", &[("applications/dev.yaml", &changed("web", "dev"))]);
    push(&clone);
    assert!(copy(&server, "web-dev").contains("revisionHistoryLimit: 3"));
    verified(&server);
}

#[test]
fn a_label_that_is_misspelt_and_put_right_leads_the_copy_back() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        push(&clone);
        let right = directory("web", "prod");
        clone.commit("typo", &[("applications/prod.yaml", &right.replace("env: prod", "env: prd"))]);
        push(&clone);
        clone.commit("revert", &[("applications/prod.yaml", &right)]);
        let told = push(&clone);
        assert!(!told.contains("one copy cannot lead to both"), "{told}");
        assert_eq!(copy(server, "web-prod"), expected("web-prod", "prod", "web-prod"));
        // The others go on.
        let api = config("api", "dev", "one");
        clone.commit("more", &[("applications/api.yaml", &directory("api", "dev")), (&api.0, &api.1)]);
        push(&clone);
        assert_eq!(copy(server, "api-dev"), expected("api-dev", "dev", "api-dev"));
        assert_eq!(copy(server, "web-prod"), expected("web-prod", "prod", "web-prod"));
        verified(server);
    });
}

#[test]
fn a_misspelt_repo_url_setting_leaves_the_copies_as_they_are() {
    both(|server| {
        copied(server, BY_LABEL);
        let clone = two(server);
        push(&clone);
        let before = tip(server, TO);
        server.hydrate(&["config", "set", "repoURL", &URL.replace(".git", "s.git")]);
        assert_eq!(tip(server, TO), before);
        clone.commit("on", &[("NOTES", "text")]);
        push(&clone);
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        server.hydrate(&["config", "set", "repoURL", URL]).success();
        assert_eq!(copy(server, "web-dev"), expected("web-dev", "dev", "web-dev"));
        verified(server);
    });
}
