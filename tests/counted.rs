//! Every line that tells of a hydrated commit counts the objects that it adds, changes and removes, and names those that go.

use serde_json::{Value, json};

use crate::copies;
use crate::push::{application, both, config_map, dry};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

const CONFIG: &str = "apps/web/dev/config.yaml";

/// ConfigMaps of these names.
fn maps(names: &[&str]) -> String {
    names.iter().map(|name| config_map(name, "x")).collect::<Vec<_>>().join("---\n")
}

/// `map-0` and those that follow.
fn many(count: usize) -> String {
    (0..count).map(|number| config_map(&format!("map-{number:02}"), "x")).collect::<Vec<_>>().join("---\n")
}

fn told(clone: &Repo) -> String {
    clone.push().success().remote().join("\n")
}

/// The end of the line of `environments/dev`, behind the commits.
#[track_caller]
fn line(told: &str) -> &str {
    let line = told.lines().find(|line| line.starts_with("environments/dev"));
    line.and_then(|line| line.rsplit_once("  ")).unwrap_or_else(|| panic!("{told}")).1
}

#[test]
fn a_push_counts_objects_and_names_what_it_removes() {
    for strict in ["off", "all"] {
        let lab = Lab::new();
        let server = lab.server();
        server.git(&["config", "hydrate.strict", strict]);
        let clone = dry(&server, &["web", "api"], &["dev"]);
        clone.commit("three", &[(CONFIG, &maps(&["a", "b", "c"]))]);
        assert_eq!(line(&told(&clone)), "2 of 2 manifests changed: 4 objects added");
        clone.commit("two", &[(CONFIG, &maps(&["a", "c"]))]);
        let push = told(&clone);
        assert_eq!(line(&push), "1 of 2 manifests changed: 1 object removed", "{strict}");
        assert!(push.contains("\nremoved ConfigMap b\n"), "{push}");
        clone.commit("all", &[(CONFIG, &(config_map("a", "y") + "---\n" + &maps(&["d"])))]);
        let push = told(&clone);
        assert_eq!(line(&push), "1 of 2 manifests changed: 1 object changed, 1 added, 1 removed");
        assert!(push.contains("\nremoved ConfigMap c\n") && !push.contains("removed ConfigMap a"), "{push}");
        // What another Application of the branch has now is not removed.
        clone.commit("move", &[(CONFIG, &config_map("a", "y")), ("apps/api/dev/d.yaml", &maps(&["d"]))]);
        let push = told(&clone);
        assert_eq!(line(&push), "2 of 2 manifests changed");
        assert!(!push.contains("removed"), "{push}");
        clone.commit("go", &[(&application("web", "dev").0, "")]);
        let push = told(&clone);
        assert_eq!(line(&push), "0 of 1 manifests changed, 1 removed: 1 object removed");
        assert!(push.contains("\nremoved web with 1 object\nremoved ConfigMap a\n"), "{push}");
    }
}

#[test]
fn a_namespace_that_the_application_says_anyway_makes_no_other_object() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let map = |namespace: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web{namespace}}}\ndata: {{a: b}}\n")
    };
    clone.commit("in its own", &[(CONFIG, &map(", namespace: web"))]);
    clone.push().success();
    clone.commit("no line", &[(CONFIG, &map(""))]);
    assert_eq!(line(&told(&clone)), "1 of 1 manifests changed: 1 object changed");
    clone.commit("another", &[(CONFIG, &map(", namespace: other"))]);
    assert_eq!(line(&told(&clone)), "1 of 1 manifests changed: 1 object added, 1 removed");
}

#[test]
fn of_many_objects_that_go_ten_are_named_with_the_command_that_names_all() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.commit("many", &[(CONFIG, &many(30))]);
    clone.push().success();
    clone.commit("some", &[(CONFIG, &many(18))]);
    let push = told(&clone);
    assert_eq!(line(&push), "1 of 2 manifests changed: 12 objects removed");
    let names = |text: &str, mark: &str| text.lines().filter(|line| line.trim().starts_with(mark)).count();
    assert_eq!(names(&push, "removed ConfigMap map-"), 10, "{push}");
    let more = "… and 2 more: ";
    let command = push.lines().find_map(|line| line.strip_prefix(more)).expect("the rest is counted");
    assert_eq!(command, "git hydrate log -p environments/dev");
    clone.git(&["fetch", "-q"]);
    let log = clone.run("sh", &["-c", &format!("{command} -n 1")]).success().stdout;
    assert_eq!(names(&log, "- ConfigMap map-"), 12, "{log}");
    assert_eq!(names(&log, "removed ConfigMap map-"), 10, "{log}");
}

#[test]
fn what_came_back_in_one_push_was_never_removed() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "history", "every"]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
    clone.push().success();
    clone.commit("less", &[(CONFIG, &maps(&["a"]))]);
    clone.commit("other", &[(CONFIG, &maps(&["a", "c"]))]);
    clone.commit("back", &[(CONFIG, &(maps(&["a", "b"]) + "---\n" + &config_map("d", "x")))]);
    let push = told(&clone);
    assert_eq!(line(&push), "1 of 1 manifests changed in 3 commits: 1 object added");
    assert!(!push.contains("removed"), "{push}");
    // What went before a commit that fails is named all the same.
    clone.commit("less", &[(CONFIG, &maps(&["a", "b"]))]);
    clone.commit("broken", &[(CONFIG, BROKEN)]);
    let push = told(&clone);
    assert!(push.contains("\nremoved ConfigMap d\n") && line(&push).contains("failed"), "{push}");
}

#[test]
fn a_hash_in_a_name_is_a_change_and_its_old_name_is_told() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let generator = |value: &str| format!("configMapGenerator:\n- name: web\n  literals: [a={value}]\n");
    clone.commit("one", &[("apps/web/dev/kustomization.yaml", &generator("one"))]);
    clone.push().success();
    clone.commit("two", &[("apps/web/dev/kustomization.yaml", &generator("two"))]);
    let push = told(&clone);
    assert_eq!(line(&push), "1 of 1 manifests changed: 1 object changed");
    assert!(push.contains("\nrenamed ConfigMap web-"), "{push}");
}

/// The last line of a file of JSON lines.
fn last(server: &Repo, file: &str) -> Value {
    let text = server.file(file).expect("written");
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn programs_read_the_same_counts_everywhere() {
    both(|server| {
        server.git(&["config", "hydrate.log", "log"]);
        server.git(&["config", "hydrate.notify", "cat >>notices"]);
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
        clone.push().success();
        let first = json!({"added": 3, "changed": 0, "removed": 0, "paths": {
            "api": {"added": 1, "changed": 0, "removed": 0}, "web": {"added": 2, "changed": 0, "removed": 0},
        }});
        assert_eq!(last(server, "log")["branches"][0]["objects"], first);
        clone.commit("one", &[(CONFIG, &maps(&["a", "c"]))]);
        let gone = json!([{"kind": "ConfigMap", "name": "b", "path": "web"}]);
        let counts = json!({"added": 1, "changed": 0, "removed": 1, "gone": gone});
        let with_paths = json!({"added": 1, "changed": 0, "removed": 1, "gone": gone, "paths": {
            "web": {"added": 1, "changed": 0, "removed": 1},
        }});
        let answer = |args: &[&str]| -> Value { serde_json::from_str(&clone.hydrate(args).stdout).expect("JSON") };
        assert_eq!(answer(&["diff", "--json"])["environments"][0]["objects"], with_paths);
        assert_eq!(answer(&["--json"])["branches"][0]["objects"], with_paths);
        clone.push().success();
        for file in ["log", "notices"] {
            assert_eq!(last(server, file)["branches"][0]["objects"], with_paths, "{file}");
        }
        clone.git(&["fetch", "-q"]);
        assert_eq!(answer(&["log", "--json"])["commits"][0]["objects"], counts);
        assert_eq!(answer(&["status", "--json"])["branches"][0]["lastCommit"]["objects"], with_paths);
        clone.commit("nothing", &[("NOTES", "text")]);
        clone.push().success();
        assert_eq!(last(server, "log")["branches"][0].get("objects"), None);
    });
}

#[test]
fn status_and_log_count_objects_in_words() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
    clone.push().success();
    let said = |args: &[&str]| server.hydrate(args).stdout;
    assert!(said(&["status"]).contains("of main  up to date, last commit: 2 objects added\n"), "{}", said(&["status"]));
    clone.commit("one", &[(CONFIG, &maps(&["a"]))]);
    clone.push().success();
    assert!(
        said(&["status"]).contains("of main  up to date, last commit: 1 object removed\n"),
        "{}",
        said(&["status"])
    );
    let log = said(&["log", "-n", "1", "environments/dev"]);
    assert!(log.contains("    web (web-dev): 1 object removed\n    removed ConfigMap b\n"), "{log}");
    assert!(said(&["log", "--oneline", "-n", "1"]).ends_with(" one (1 object removed)\n"));
}

#[test]
fn pre_push_and_git_hydrate_name_what_would_go() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("one", &[(CONFIG, &maps(&["a"]))]);
    let here = clone.hydrate(&[]).success().stdout;
    assert_eq!(line(&here), "1 of 1 manifests changed: 1 object removed");
    assert!(here.contains("\n  removed ConfigMap b\n"), "{here}");
    let push = clone.push().success();
    let of_client: Vec<&str> = push.stderr.lines().filter(|line| !line.starts_with("remote:")).collect();
    assert!(of_client.contains(&"environments/dev  1 object removed in 1 of 1 Applications"), "{push:?}");
    assert!(of_client.contains(&"  removed ConfigMap b"), "{push:?}");
}

#[test]
fn copies_workers_and_catch_up_count_too() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "applicationsTo", copies::TO]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    let push = told(&clone);
    let of_copies = push.lines().find(|line| line.starts_with(copies::TO)).unwrap_or_else(|| panic!("{push}"));
    assert!(of_copies.ends_with("1 of 1 manifests changed: 1 object added"), "{push}");
    server.git(&["config", "core.hooksPath", "nowhere"]);
    clone.commit("two", &[(CONFIG, &maps(&["web", "b"]))]);
    clone.push().success();
    let caught_up = server.hydrate(&["catch-up"]).success().stdout;
    assert_eq!(line(&caught_up), "1 of 1 manifests changed: 1 object changed, 1 added");
    // A host without hooks.
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
    clone.push().success();
    let job = host.clone_to("job");
    let worker = || job.hydrate(&["push"]).success().stdout;
    assert_eq!(line(&worker()), "1 of 1 manifests changed: 2 objects added");
    clone.commit("one", &[(CONFIG, &maps(&["a"]))]);
    clone.push().success();
    let told = worker();
    assert_eq!(line(&told), "1 of 1 manifests changed: 1 object removed");
    assert!(told.contains("\n  removed ConfigMap b\n"), "{told}");
}

#[test]
fn a_push_whose_later_commit_fails_reads_what_the_earlier_one_did() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        clone.commit("two", &[(CONFIG, &maps(&["a", "b"]))]);
        let failed = clone.commit("slip", &[(CONFIG, BROKEN)]);
        let push = told(&clone);
        let expected =
            format!("1 of 2 manifests changed: 2 objects added, 1 removed, and stays there: {} failed", &failed[..7]);
        assert!(push.contains(&expected) && push.contains(" -> ") && push.contains("git fetch"), "{push}");
        // What comes back in a later commit of the push was not removed.
        clone.commit("right again", &[(CONFIG, &maps(&["a", "b"]))]);
        told(&clone);
        let (file, text) = application("api", "dev");
        clone.commit("go", &[(&file, "")]);
        clone.commit("back", &[(&file, &text)]);
        let push = told(&clone);
        assert_eq!(line(&push), "1 of 2 manifests changed in 2 commits", "{push}");
        assert!(!push.contains("removed"), "{push}");
    });
}

#[test]
fn each_object_counts_whose_name_the_api_server_completes() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let jobs = |count: usize, image: &str| {
        let job = format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: job-}}\nspec: {{template: {{spec: {{restartPolicy: Never, \
             containers: [{{name: a, image: 'app:{image}'}}]}}}}}}\n"
        );
        vec![job; count].join("---\n") + "---\n" + &config_map("web", "x")
    };
    clone.commit("seven", &[(CONFIG, &jobs(7, "1"))]);
    assert_eq!(line(&told(&clone)), "1 of 1 manifests changed: 8 objects added");
    for (count, image, expected) in [(7, "2", "7 objects added, 7 removed"), (3, "2", "4 objects removed")] {
        clone.commit("fewer", &[(CONFIG, &jobs(count, image))]);
        clone.git(&["fetch", "-q"]);
        let shown = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
        assert!(shown.contains(expected), "{shown}");
        assert_eq!(line(&told(&clone)), format!("1 of 1 manifests changed: {expected}"));
    }
}
