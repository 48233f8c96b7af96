//! Whatever a set, a parent or a root does to time or memory, the push ends, names it, and hydrates everything else.

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Answer, Lab, Repo};
use crate::wall::{global, leftovers};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

/// Something that makes `shop-prod` on prod.
struct Culprit {
    /// What it is called.
    by: &'static str,
    /// What makes one, as a file whose last line is a comment, and what stands beside it.
    files: fn(&str) -> Vec<(&'static str, String)>,
    /// Settings that it needs.
    settings: &'static [&'static str],
    /// What is said of it when its process dies.
    died: &'static str,
}

const CHART: &str = "apiVersion: v2\nname: made\nversion: 1.0.0\n";

const SET: Culprit = Culprit {
    by: "ApplicationSet `culprit`",
    files: |value| {
        let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: culprit}
spec:
  generators:
  - list: {elements: [{name: shop, env: prod}]}
  template:
    metadata: {name: '{{name}}-{{env}}'}
    spec:
      destination: {namespace: '{{name}}'}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: 'apps/{{name}}/{{env}}'}
        syncSource: {targetBranch: 'environments/{{env}}', path: '{{name}}'}
";
        vec![("sets/culprit.yaml", format!("{set}# {value}\n"))]
    },
    settings: &[],
    died: "the process that expanded ApplicationSet `culprit` ended by signal 6",
};

/// What is said of the set when it takes too long.
const SET_LATE: &str =
    "ApplicationSet `culprit` takes more than 2 seconds to expand; git config hydrate.renderTimeLimit sets the limit";

const PARENT: Culprit = Culprit {
    by: "Application `culprit`",
    files: |value| {
        let parent = application("parent", "parents").1.replace("name: parent-parents", "name: culprit");
        vec![
            ("applications/parents/parent.yaml", parent),
            ("apps/parent/parents/Chart.yaml", CHART.to_owned()),
            ("apps/parent/parents/templates/shop.yaml", format!("{}# {value}\n", application("shop", "prod").1)),
        ]
    },
    settings: &[],
    died: "the process that rendered `culprit` ended by signal 6",
};

const ROOT: Culprit = Culprit {
    by: "root `culprit`",
    files: |value| {
        let template = format!("{}# {value}\n", application("shop", "prod").1);
        vec![("root/Chart.yaml", CHART.to_owned()), ("root/templates/shop.yaml", template)]
    },
    settings: &["config", "set", "roots", "[{name: culprit, path: root}]"],
    died: "the process that rendered `culprit` ended by signal 6",
};

/// All of them; a set ends in two ways.
fn each(work: impl Fn(&Culprit, &str, &str)) {
    for culprit in [SET, PARENT, ROOT] {
        work(&culprit, "abort", culprit.died);
    }
    work(&SET, "spin", SET_LATE);
}

/// A server, and a clone with `web-dev` on dev and what the culprit makes on prod, pushed; then what the culprit does, and a
/// commit that changes both.
fn turned(culprit: &Culprit, does: &str) -> (Lab, Repo, Repo) {
    let (lab, server, clone) = first(culprit);
    clone.push().success();
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")), "{}", culprit.by);
    misbehave(&lab, does);
    both(&clone, culprit, does);
    (lab, server, clone)
}

fn first(culprit: &Culprit) -> (Lab, Repo, Repo) {
    let lab = Lab::new();
    for (key, value) in [("hydrate.applicationMemory", "64m"), ("hydrate.runMemory", "200m")] {
        global(&lab, key, value);
    }
    let server = lab.server();
    if !culprit.settings.is_empty() {
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        server.hydrate(culprit.settings).success();
    }
    let clone = dry(&server, &["web"], &["dev"]);
    both(&clone, culprit, "first");
    (lab, server, clone)
}

fn misbehave(lab: &Lab, does: &str) {
    global(lab, "hydrate.renderTimeLimit", if does == "spin" { "2" } else { "60" });
    global(lab, "hydrate-test.culprit.does", does);
}

fn both(clone: &Repo, culprit: &Culprit, value: &str) -> String {
    let mut files = (culprit.files)(value);
    files.push(("apps/web/dev/config.yaml", config_map("web", value)));
    files.push(("apps/shop/prod/config.yaml", config_map("shop", value)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.commit(value, &files)
}

#[test]
fn a_push_hydrates_all_others_whatever_a_maker_does() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        let before = tip(&server, PROD);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected), "{does}: {told}");
        assert!(told.contains(&format!("{} makes no Applications: ", culprit.by)), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{does}: {told}");
        assert_eq!(tip(&server, PROD), before, "{does}: {told}");
        healthy(&server);
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
        misbehave(&lab, "render");
        server.hydrate(&["catch-up", "--retry"]).success();
        assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")), "{does}");
    });
}

#[test]
fn the_first_push_of_all_hydrates_all_but_what_a_maker_would_make() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = first(culprit);
        misbehave(&lab, does);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{does}: {told}");
    });
}

#[test]
fn strict_refuses_who_touches_a_maker_that_cannot_be_answered() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        server.git(&["config", "hydrate.strict", "touched"]);
        let before = tip(&server, "main");
        let told = clone.push().exits(1).remote().join(" ");
        assert!(told.contains(expected), "{does}: {told}");
        assert_eq!(tip(&server, "main"), before, "{does}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    });
}

#[test]
fn a_catch_up_hydrates_all_others_whatever_a_maker_does() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        clone.git(&["push", "-q", "--no-verify", "origin", "HEAD:refs/heads/aside"]);
        server.git(&["update-ref", "refs/heads/main", "refs/heads/aside"]);
        let told = server.hydrate(&["catch-up"]).exits(1);
        assert!(told.stdout.contains(expected), "{does}: {told:?}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{does}");
        assert_eq!(leftovers(&lab, &[&server]), [""; 0], "{does}");
    });
}

#[test]
fn pre_push_and_a_clone_name_the_maker_and_show_all_others() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        clone.hydrate(&["install", "--client"]).success();
        clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/hydrate/*:refs/hydrate/*"]);
        let told = clone.push().stderr;
        assert!(told.contains(expected) && told.contains(DEV), "{does}: {told}");
        let diff = clone.hydrate(&["diff", "--offline"]);
        assert!(diff.stdout.contains(&format!("+   value: {does}")), "{does}: {diff:?}");
        assert!(format!("{}{}", diff.stdout, diff.stderr).contains(expected), "{does}: {diff:?}");
        let check = clone.hydrate(&["check"]);
        assert!(check.stdout.contains(expected), "{does}: {check:?}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    });
}

#[test]
fn a_clone_through_the_helper_gets_all_others_whatever_a_maker_does() {
    for (does, expected) in [("abort", SET.died), ("spin", SET_LATE)] {
        let (lab, server, clone) = first(&SET);
        server.git(&["config", "--unset-all", "hydrate.guard"]);
        std::fs::remove_file(server.path.join("hooks/post-receive")).expect("removed");
        misbehave(&lab, does);
        clone.push().success();
        let url = format!("hydrate::file://{}", server.path.display());
        let args = ["clone", "-q", "--branch", DEV, &url, "hydrated"];
        let cloned = lab.command("git", &lab.path("")).args(args).output().expect("git runs");
        let cloned = Answer::new(cloned).success();
        assert!(cloned.stderr.contains("trying again"), "{does}, {expected}: {cloned:?}");
        assert!(lab.path("hydrated/web/manifest.yaml").exists(), "{does}");
        assert_eq!(leftovers(&lab, &[&server]), [""; 0], "{does}");
    }
}
