//! An Application of a file that another one renders too goes while that one stays as it is: in the cluster it is there still.

use crate::push::{config_map, dry, tip, verified};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const CHILD: &str = "apps/web/dev/db.yaml";
const KUSTOMIZATION: &str = "apps/web/dev/kustomization.yaml";
const BROKEN: &str = "resources: [missing.yaml]\n";
const CLAIM: &str = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], \
                     resources: {requests: {storage: 1Gi}}}\n";

fn child(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, finalizers: [resources-finalizer.argocd.argoproj.io]}}
spec:
  destination: {{namespace: db}}
  sourceHydrator:
    drySource: {{repoURL: https://git.example.com/dry.git, targetRevision: main, path: apps/db}}
    syncSource: {{targetBranch: {DEV}, path: {name}}}
"
    )
}

/// `web-dev`, which has the Application `db` of a claim, and `api-dev`; the first is pushed.
fn clone(server: &Repo) -> Repo {
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let clone = dry(server, &["web", "api"], &["dev"]);
    let kustomization = "resources: [config.yaml, db.yaml]\n";
    clone.commit("db", &[(CHILD, &child("db")), ("apps/db/claim.yaml", CLAIM), (KUSTOMIZATION, kustomization)]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone
}

fn entries(server: &Repo, path: &str) -> String {
    server.git(&["ls-tree", "-r", DEV, path])
}

/// What `diff` shows against the branch, and against the commit before.
fn shown(clone: &Repo) -> [String; 2] {
    [&["diff"][..], &["diff", "--against", "HEAD~1"]].map(|args| clone.hydrate(args).exits(1).stdout)
}

#[test]
fn an_application_stays_as_long_as_its_parent_has_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = clone(&server);
    let kept = entries(&server, "db");
    clone.commit("without db, broken", &[(CHILD, ""), (KUSTOMIZATION, BROKEN)]);
    let stays = "db stays as it is: web-dev, which has it, is behind";
    for text in shown(&clone) {
        assert!(text.starts_with("environments/dev  no change, 1 Application fails\n"), "{text}");
        assert!(text.contains(&format!("\n  {stays}\n")), "{text}");
        for word in ["removed", "data loss", "outage"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
    clone.hydrate(&[]);
    let made = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains(stays) && !answer.contains("removed"), "{answer}");
    assert_eq!((tip(&server, DEV), entries(&server, "db")), (made, kept.clone()));
    verified(&server);
    // What others do goes on.
    clone.commit("api", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains(stays), "{answer}");
    assert_eq!(entries(&server, "db"), kept);
    // Once its parent renders without it, it goes.
    clone.git(&["fetch", "-q"]);
    clone.commit("corrected", &[(KUSTOMIZATION, "resources: [config.yaml]\n")]);
    let [text, _] = shown(&clone);
    assert!(text.contains("\n  data loss PersistentVolumeClaim data: removed"), "{text}");
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains("removed db") && !answer.contains("stays"), "{answer}");
    assert_eq!(entries(&server, "db"), "");
    verified(&server);
}

#[test]
fn an_application_of_another_name_comes_beside_the_one_that_stays() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = clone(&server);
    let kept = entries(&server, "db");
    clone.commit("db2, broken", &[(CHILD, &child("db2")), (KUSTOMIZATION, BROKEN)]);
    for text in shown(&clone) {
        assert!(text.contains("\n  db stays as it is: web-dev, which has it, is behind\n"), "{text}");
        assert!(text.contains("\n  db2  db2  new\n"), "{text}");
        for word in ["removed", "data loss", "moved"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
    clone.push().success();
    assert_eq!(entries(&server, "db"), kept);
    assert!(!entries(&server, "db2").is_empty());
    verified(&server);
    clone.commit("corrected", &[(KUSTOMIZATION, "resources: [config.yaml, db.yaml]\n")]);
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains("removed db"), "{answer}");
    assert_eq!(entries(&server, "db"), "");
    verified(&server);
}

#[test]
fn an_application_stays_with_a_parent_that_is_paused() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = clone(&server);
    let kept = entries(&server, "db");
    let file = "applications/dev/web.yaml";
    let web = clone.file(file).expect("there");
    let paused = web.replace("metadata:\n", "metadata:\n  annotations: {git-hydrate/paused: \"true\"}\n");
    clone.commit("without db, paused", &[(CHILD, ""), (KUSTOMIZATION, "resources: [config.yaml]\n"), (file, &paused)]);
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains("db stays as it is: web-dev, which has it, is paused"), "{answer}");
    assert_eq!(entries(&server, "db"), kept);
    clone.commit("goes on", &[(file, &web)]);
    clone.push().success();
    assert_eq!(entries(&server, "db"), "");
    verified(&server);
}

#[test]
fn a_plan_says_what_stays_with_what_is_known_to_fail() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = clone(&server);
    clone.commit("broken", &[(KUSTOMIZATION, BROKEN)]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.hydrate(&[]);
    clone.commit("without db", &[(CHILD, "")]);
    let text = clone.hydrate(&["plan"]).stdout;
    assert!(text.contains("\n    stays as it is: db (web-dev, which has it, stays)\n"), "{text}");
    assert!(!text.contains("removes"), "{text}");
    let answer = clone.push().success().remote().join("\n");
    assert!(answer.contains("db stays as it is: web-dev, which has it, is behind"), "{answer}");
}
