//! A preview in a clone that starts from what an earlier one found out says what one says that looks at everything.

use serde_json::Value;

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
const TEMPLATE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chart}\ndata: {word: '{{ .Values.word }}'}\n";
const KUSTOMIZATION: &str = "resources: [../../base]\nnamePrefix: dev-\n";
const SET: &str = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: sites}
spec:
  goTemplate: true
  generators:
  - git:
      repoURL: https://git.example.com/dry.git
      revision: main
      directories: [{path: sites/*}]
  template:
    metadata: {name: 'site-{{ .path.basename }}'}
    spec:
      destination: {namespace: sites}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: '{{ .path.path }}'}
        syncSource: {targetBranch: environments/prod, path: 'sites/{{ .path.basename }}'}
";

/// A clone of a hydrated repository with a directory, a chart, a kustomization and what a set makes.
fn clone() -> (Lab, Repo) {
    clone_with(&[])
}

/// A clone of a hydrated repository as [`clone`] makes it, with more files.
pub(crate) fn clone_with(more: &[(&str, &str)]) -> (Lab, Repo) {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web", "api"], &["dev", "prod"]);
    let [chart, base] = ["chart", "kust"].map(|name| application(name, "dev"));
    clone.commit("More", more);
    clone.commit(
        "All kinds",
        &[
            (&chart.0, &chart.1),
            ("apps/chart/dev/Chart.yaml", CHART),
            ("apps/chart/dev/values.yaml", "word: one\n"),
            ("apps/chart/dev/templates/map.yaml", TEMPLATE),
            (&base.0, &base.1),
            ("apps/kust/dev/kustomization.yaml", KUSTOMIZATION),
            ("apps/base/kustomization.yaml", "resources: [map.yaml]\n"),
            ("apps/base/map.yaml", &config_map("base", "one")),
            ("sites/one/map.yaml", &config_map("one", "one")),
            ("applications/sites.yaml", SET),
        ],
    );
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    (lab, clone)
}

pub(crate) fn write(clone: &Repo, path: &str, text: &str) {
    let path = clone.path.join(path);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    std::fs::write(path, text).expect("written");
}

pub(crate) fn diff(clone: &Repo) -> Value {
    serde_json::from_str(&clone.hydrate(&["diff", "--worktree", "--json"]).stdout).expect("JSON")
}

/// Whether a preview says the same with what is remembered and without.
fn compare(clone: &Repo, what: &str) -> Value {
    let warm = diff(clone);
    clone.git(&["config", "hydrate.cache", "false"]);
    let cold = diff(clone);
    clone.git(&["config", "--unset", "hydrate.cache"]);
    assert_eq!(warm, cold, "{what}");
    warm
}

pub(crate) fn changed(shown: &Value) -> usize {
    let environments = shown["environments"].as_array().expect("a list");
    environments.iter().map(|environment| environment["applications"].as_array().expect("a list").len()).sum()
}

/// One edit: what it is, what it writes where, and how many Applications it changes.
type Edit<'e> = (&'e str, &'e [(&'e str, &'e str)], usize);

#[test]
fn what_a_preview_says_does_not_depend_on_what_an_earlier_one_found_out() {
    let (_lab, clone) = clone();
    compare(&clone, "nothing");
    let names = clone.names(".git/hydrate/cache");
    assert!(names.iter().any(|name| name.ends_with("-base")), "{names:?}");
    edit(&clone, &|what| compare(&clone, what));
    std::fs::remove_file(clone.path.join("applications/dev/web.yaml")).expect("there");
    compare(&clone, "an Application less");
    clone.git(&["reset", "-q", "--hard"]);
    // Commits before the push, then what is known is of an older commit.
    clone.commit("One", &[("apps/web/dev/config.yaml", &config_map("web", "three"))]);
    clone.commit("Two", &[("apps/api/dev/config.yaml", &config_map("api", "three"))]);
    assert_eq!(changed(&compare(&clone, "two commits")), 2);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    assert_eq!(changed(&compare(&clone, "pushed")), 0);
    write(&clone, "apps/web/dev/config.yaml", &config_map("web", "four"));
    assert_eq!(changed(&compare(&clone, "another edit")), 1);
}

/// Makes one edit of each kind after the other, and has `compare` answer what a preview says of it.
pub(crate) fn edit(clone: &Repo, compare: &dyn Fn(&str) -> Value) {
    let other = application("web", "dev").1.replace("namespace: web", "namespace: other");
    let moved = application("web", "dev").1.replace("path: web\n", "path: moved\n");
    let synced = application("web", "dev").1 + "  syncPolicy: {automated: {prune: true}}\n";
    let commented = format!("# web\n{}", application("web", "dev").1);
    let broken = format!("{}bad: [\n", application("web", "dev").1);
    let more = application("more", "dev");
    let named = config_map("web", "$ARGOCD_APP_REVISION");
    let (two, one) = (config_map("two", "two"), config_map("one", "two"));
    let (map, base) = (config_map("web", "two"), config_map("base", "two"));
    let set = SET.replace("namespace: sites", "namespace: others");
    let edits: &[Edit<'_>] = &[
        ("a manifest", &[("apps/web/dev/config.yaml", &map)], 1),
        ("a value", &[("apps/chart/dev/values.yaml", "word: two\n")], 1),
        ("a template that does not parse", &[("apps/chart/dev/templates/map.yaml", "{{ if }}")], 0),
        ("a base", &[("apps/base/map.yaml", &base)], 1),
        ("what a set makes", &[("sites/one/map.yaml", &one)], 1),
        ("one more that a set makes", &[("sites/two/map.yaml", &two)], 1),
        ("the set", &[("applications/sites.yaml", &set)], 1),
        ("an Application's namespace", &[("applications/dev/web.yaml", &other)], 1),
        ("an Application's sync policy", &[("applications/dev/web.yaml", &synced)], 1),
        ("a comment in an Application", &[("applications/dev/web.yaml", &commented)], 0),
        ("an Application's path", &[("applications/dev/web.yaml", &moved)], 1),
        ("a new Application", &[(&more.0, &more.1), ("apps/more/dev/map.yaml", &two)], 1),
        ("a mistake in an Application", &[("applications/dev/web.yaml", &broken)], 0),
        ("a file beside", &[("notes.txt", "nothing")], 0),
        ("an object twice", &[("apps/web/dev/other.yaml", &config_map("web", "again"))], 1),
        ("many at once", &[("apps/web/dev/config.yaml", &named), ("apps/api/prod/config.yaml", &map)], 2),
    ];
    for (what, files, count) in edits {
        for (path, text) in *files {
            write(clone, path, text);
        }
        let shown = compare(what);
        let mistakes = |environment: &Value| !environment["mistakes"].as_array().expect("a list").is_empty();
        if !shown["environments"].as_array().expect("a list").iter().any(mistakes) {
            assert_eq!(changed(&shown), *count, "{what}: {shown:#}");
        }
        clone.git(&["add", "-A"]);
        clone.git(&["reset", "-q", "--hard"]);
    }
}

/// Puts a branch of the server where a push would not put it.
fn put(clone: &Repo, branch: &str, commit: &str) {
    let server = clone.git(&["remote", "get-url", "origin"]);
    let (from, refspec) = (clone.path.display().to_string(), format!("+{}:refs/heads/{branch}", commit.trim()));
    clone.git(&["-C", server.trim(), "fetch", "-q", &from, &refspec]);
}

/// What somebody else put on a branch is shown by every preview, as the push will undo it.
#[test]
fn a_branch_that_is_not_what_its_dry_commit_gives_is_no_start() {
    let (_lab, clone) = clone();
    clone.git(&["checkout", "-q", "-b", "tampered", "origin/environments/dev"]);
    clone.commit("By hand", &[("web/manifest.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hand}\n")]);
    clone.git(&["checkout", "-q", "main"]);
    put(&clone, "environments/dev", "refs/heads/tampered");
    // The files are what counts, whatever the note says: the next commit overwrites them.
    assert_eq!(changed(&compare(&clone, "tampered")), 1);
    write(&clone, "apps/api/dev/config.yaml", &config_map("api", "edited"));
    assert_eq!(changed(&compare(&clone, "tampered, and an edit")), 2);
}

/// Which file holds that there is nothing to start from: another one each time that it is written.
fn note(clone: &Repo) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let cache = clone.path.join(".git/hydrate/cache");
    let name = clone.names(".git/hydrate/cache").into_iter().find(|name| name.ends_with("-no-start"))?;
    Some(std::fs::metadata(cache.join(name)).expect("there").ino())
}

#[test]
fn that_there_is_no_start_is_found_out_once_until_the_branches_move() {
    let (_lab, clone) = clone();
    clone.commit("One more", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    for (name, commit) in [("tip", "origin/environments/dev"), ("below", "origin/environments/dev~1")] {
        clone.git(&["update-ref", &format!("refs/kept/{name}"), commit]);
    }
    put(&clone, "environments/dev", "refs/kept/below");
    let shown = diff(&clone);
    assert_eq!(changed(&shown), 1, "{shown:#}");
    let first = note(&clone).expect("noted");
    write(&clone, "apps/api/prod/config.yaml", &config_map("api", "edited"));
    assert_eq!(changed(&compare(&clone, "an edit")), 2);
    write(&clone, "apps/api/dev/config.yaml", &config_map("api", "edited"));
    assert_eq!(changed(&compare(&clone, "another edit")), 3);
    assert_eq!(note(&clone), Some(first), "it was looked for again");
    put(&clone, "environments/dev", "refs/kept/tip");
    assert_eq!(changed(&compare(&clone, "as pushed")), 2);
    assert!(clone.names(".git/hydrate/cache").iter().any(|name| name.ends_with("-base")));
    // The push of what does not render leaves a branch behind.
    clone.git(&["checkout", "-q", "."]);
    clone.commit("Broken", &[("apps/web/dev/config.yaml", "kind: [")]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    compare(&clone, "behind");
    let behind = note(&clone).expect("noted");
    assert_ne!(behind, first);
    write(&clone, "apps/web/dev/config.yaml", &config_map("web", "mended"));
    assert_eq!(changed(&compare(&clone, "behind, and the fix")), 1);
    assert_eq!(note(&clone), Some(behind), "it was looked for again");
}
