//! What `vendor` writes, updates, checks, verifies and prunes.

use std::fs;

use super::{
    BASE, LOCK, application, chart, charted, files_of, kustomized, packed, repository, sha256, upstream, vendor, web,
    with_charts,
};
use crate::servers::git_server;
use crate::support::{Lab, Repo};

#[test]
fn what_is_missing_is_brought_here_and_hydrates() {
    let (lab, charts) = with_charts(&[("web", "1.2.4"), ("web", "1.2.3"), ("db", "0.1.0")]);
    fs::write(lab.path("charts/file.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: file}\n")
        .expect("written");
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let (charts_url, git_url) = (charts.url(), git.url());
    let dependency =
        |name: &str, version: &str| format!("- {{name: {name}, version: {version}, repository: '{charts_url}'}}\n");
    let dry = charted(&lab, &(dependency("web", "~1.2.0") + &dependency("db", "0.1.0")));
    let kustomization = format!(
        "resources: ['{git_url}/upstream.git//base?ref=v1', '{charts_url}/file.yaml']
helmCharts: [{{name: web, version: 1.2.3, repo: '{charts_url}', releaseName: front}}]\n"
    );
    dry.commit(
        "Use more",
        &[("web/kustomization.yaml", &kustomization), ("applications/web.yaml", &application("web", "web"))],
    );

    dry.hydrate(&["vendor", "--check"]).exits(1);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.contains("(1.2.4)\n    charts/app/charts/web\n"), "{}", answer.stdout);
    assert!(answer.stderr.contains("`~1.2.0` is a range of versions: the lock file pins 1.2.4"), "{}", answer.stderr);
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    assert_eq!(dry.git(&["status", "--short"]), "");
    assert_eq!(dry.git(&["ls-files", "*other*"]), "", "only directories that are named are kept");
    dry.hydrate(&["vendor", "--check"]).success();
    assert!(vendor(&dry, &[]).success().stdout.ends_with("5 inputs are here already\n"));
    vendor(&dry, &["--verify"]).success();

    drop((charts, git));
    dry.push().success();
    let bare = Repo::at(&lab, "dry.git");
    let manifest = bare.git(&["show", "environments/dev:web/manifest.yaml"]);
    let names: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    assert_eq!(names, ["base", "file", "front-web", "shared"]);
    assert!(manifest.contains("version: 1.2.3"));
    let manifest = bare.git(&["show", "environments/dev:app/manifest.yaml"]);
    assert!(manifest.contains("version: 1.2.4") && manifest.contains("name: app-db"), "{manifest}");
}

#[test]
fn a_chart_that_is_gone_keeps_the_others_out_only_until_keep_going_is_asked_for() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let gone = format!(
        "apiVersion: v2\nname: other\nversion: 0.1.0\ndependencies:\n- {{name: gone, version: 1.0.0, repository: '{}'}}\n",
        charts.url()
    );
    dry.commit(
        "A chart that is gone",
        &[("charts/other/Chart.yaml", &gone), ("applications/other.yaml", &application("other", "charts/other"))],
    );
    let told = vendor(&dry, &[]).exits(2).stderr;
    assert!(told.contains("nothing was changed\n  chart gone 1.0.0 of "), "{told}");
    assert!(told.contains("\nhint: to bring the others: git hydrate vendor --keep-going\n"), "{told}");
    assert_eq!(dry.git(&["status", "--short"]), "");
    let alone = dry.run("git", &["rm", "-qr", "applications", "--ignore-unmatch"]).success();
    drop(alone);
    dry.commit("alone", &[("applications/other.yaml", &application("other", "charts/other"))]);
    let told = vendor(&dry, &[]).exits(2).stderr;
    assert!(
        told.contains("hint: until they can be fetched: on the server `git hydrate config set onFailure"),
        "{told}"
    );
    dry.git(&["reset", "-q", "--hard", "HEAD~1"]);

    let answer = vendor(&dry, &["--keep-going"]).exits(1);
    assert!(answer.stderr.contains("error: chart gone 1.0.0 of "), "{}", answer.stderr);
    assert!(answer.stdout.contains("charts/app/charts/web\n"), "{}", answer.stdout);
    assert!(
        answer.stdout.ends_with("1 input is in .hydrate/inputs.lock; staged for the next commit\n"),
        "{}",
        answer.stdout
    );
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    let answer = vendor(&dry, &["--keep-going", "--json"]).exits(1);
    let report: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(report["faults"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report["written"], false);
}

#[test]
fn a_bump_takes_the_place_of_what_was_there() {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let chart = fs::read_to_string(dry.path.join("charts/app/Chart.yaml")).expect("there").replace("1.2.3", "1.3.0");
    dry.commit("Bump", &[("charts/app/Chart.yaml", &chart)]);
    let answer = dry.hydrate(&["check"]).exits(1);
    assert!(answer.stdout.contains("`charts/app/charts/web` has chart web 1.2.3 of"), "{}", answer.stdout);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.starts_with("+ chart web 1.3.0"), "{}", answer.stdout);
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("want = \"1.3.0\"") && !lock.contains("1.2.3"), "{lock}");
}

#[test]
fn ranges_and_branches_stay_where_they_are_until_an_update() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let upstream = upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let kustomization = format!(
        "resources: ['{}/upstream.git//base?ref=main']\nhelmCharts: [{{name: web, version: ~1.2.0, repo: '{}', releaseName: a}}]\n",
        git.url(),
        charts.url()
    );
    let dry = kustomized(&lab, &kustomization);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stderr.contains("`main` is a branch of"), "{}", answer.stderr);
    dry.commit("Vendor", &[]);
    let first = dry.file(LOCK).expect("there");

    repository(&lab.path("charts"), &[("web", "1.2.4"), ("web", "1.2.3")]);
    upstream.commit("Go on", &[("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: newer}\n")]);
    upstream.git(&["push", "-q", "origin", "main"]);
    vendor(&dry, &[]).success();
    assert_eq!(dry.file(LOCK).as_deref(), Some(first.as_str()));
    vendor(&dry, &["--verify"]).success();

    let answer = vendor(&dry, &["--update", "web"]).success();
    assert!(answer.stdout.starts_with("~ chart web ~1.2.0"), "{}", answer.stdout);
    let answer = vendor(&dry, &["--update"]).success();
    assert!(answer.stdout.contains("upstream.git at main"), "{}", answer.stdout);
    dry.commit("Update", &[]);
    let rendered = dry.hydrate(&["render", "web"]).success().stdout;
    assert!(rendered.contains("name: newer") && rendered.contains("version: 1.2.4"), "{rendered}");
    vendor(&dry, &["--update", "none"]).exits(2);
}

#[test]
fn an_edit_of_what_is_kept_is_a_mistake_and_is_never_lost() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let dry = kustomized(&lab, &format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url()));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let map = dry.git(&["ls-files", "*base/map.yaml"]);
    let edited = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: edited}\n";
    dry.commit("Edit", &[(&map, edited)]);
    let answer = dry.hydrate(&["check"]).exits(1);
    assert!(answer.stdout.contains("are not those of"), "{}", answer.stdout);
    assert!(dry.push().stderr.contains("are not those of"));
    for args in [&[][..], &["--update"]] {
        assert!(vendor(&dry, args).exits(2).stderr.contains("are not those of"));
    }
    assert_eq!(dry.file(&map).as_deref(), Some(edited));
    dry.hydrate(&["vendor", "--check"]).exits(1);
}

#[test]
fn what_nothing_needs_is_told_and_pruned() {
    let (lab, charts) = with_charts(&[("web", "1.2.4"), ("web", "1.2.3")]);
    let kustomization = |version: &str| {
        format!("helmCharts: [{{name: web, version: {version}, repo: '{}', releaseName: a}}]\n", charts.url())
    };
    let dry = kustomized(&lab, &kustomization("1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[("web/kustomization.yaml", &kustomization("1.2.4"))]);
    assert!(vendor(&dry, &[]).success().stdout.contains("not needed"));
    assert!(dry.hydrate(&["vendor", "--check"]).exits(1).stdout.contains("web 1.2.3"));
    vendor(&dry, &["--prune", "--dry-run"]).success();
    assert!(dry.path.join("web/charts/web-1.2.3").exists());
    vendor(&dry, &["--prune"]).success();
    assert_eq!(dry.names("web/charts"), ["web-1.2.4"]);
    dry.hydrate(&["vendor", "--check"]).success();
}

#[test]
fn a_chart_that_somebody_put_there_stays() {
    let lab = Lab::new();
    let dry = charted(&lab, "- {name: web, version: ~1, repository: 'https://charts.invalid'}\n");
    let files = chart("web", "1.0.0");
    let files: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (format!("charts/app/charts/{path}"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    dry.commit("By hand", &files);
    assert_eq!(dry.hydrate(&["vendor"]).success().stdout, "nothing is needed from elsewhere\n");
    dry.hydrate(&["check"]).success();
}

/// What `.gitignore` leaves out would be missing on the server.
#[test]
fn ignored_directories_are_staged_all_the_same() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Ignore", &[(".gitignore", "charts/app/charts/\n")]);
    vendor(&dry, &[]).success();
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    dry.hydrate(&["check"]).success();
    dry.hydrate(&["vendor", "--check"]).success();
}

/// Files of a chart that git itself reads would have others staged with other bytes, or not at all.
#[test]
fn what_git_would_read_of_a_chart_is_left_out() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let mut files = chart("web", "1.2.3");
    let more = [
        (".gitattributes", "* text eol=crlf ident\n"),
        ("templates/.gitattributes", "*.txt text eol=lf\n"),
        (".gitignore", "values.yaml\n"),
        (".gitmodules", "[submodule \"a\"]\n\tpath = a\n\turl = https://example.com\n"),
        ("templates/NOTES.txt", "$Id$\r\n"),
    ];
    files.extend(more.map(|(path, text)| (format!("web/{path}"), text.to_owned())));
    let archive = packed(&files);
    let index = fs::read_to_string(lab.path("charts/index.yaml")).expect("there");
    let index = index.replace(&sha256(&packed(&chart("web", "1.2.3"))), &sha256(&archive));
    fs::write(lab.path("charts/index.yaml"), index).expect("written");
    fs::write(lab.path("charts/web-1.2.3.tgz"), archive).expect("written");
    let charts = files_of(lab.path("charts"));
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let told = vendor(&dry, &[]).success().stderr;
    for name in [".gitattributes", "templates/.gitattributes", ".gitignore", ".gitmodules"] {
        assert!(told.contains(&format!("\"{name}\" is left out: git would read it in this repository")), "{told}");
    }
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    vendor(&dry, &["--verify"]).success();
    // Staged anew and checked out anew, by git alone.
    dry.git(&["rm", "-rq", "--cached", "charts"]);
    dry.git(&["add", "charts"]);
    assert_eq!(dry.git(&["status", "--short"]), "");
    fs::remove_dir_all(dry.path.join("charts")).expect("removed");
    dry.git(&["checkout", "-q", "--", "charts"]);
    assert_eq!(dry.git(&["status", "--short"]), "");
    dry.hydrate(&["vendor", "--check"]).success();
    drop(charts);
    dry.push().success();
    let manifest = Repo::at(&lab, "dry.git").git(&["show", "environments/dev:app/manifest.yaml"]);
    assert!(manifest.contains("version: 1.2.3"), "{manifest}");
}

#[test]
fn a_helmignore_that_hides_a_dependency_is_named() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Ignore", &[("charts/app/.helmignore", "object.yaml\n")]);
    let answer = vendor(&dry, &[]).exits(2);
    let expected = "hides charts/app/charts/web/templates/object.yaml";
    assert!(answer.stderr.contains(expected), "{}", answer.stderr);
}

#[test]
fn a_stale_chart_lock_is_a_mistake() {
    let lab = Lab::new();
    let dry = charted(&lab, "- {name: web, version: ~1.2.0, repository: 'https://charts.invalid'}\n");
    let lock =
        "dependencies:\n- name: web\n  repository: https://charts.invalid\n  version: 1.2.3\ndigest: sha256:00\n";
    dry.commit("Lock", &[("charts/app/Chart.lock", lock)]);
    let answer = dry.hydrate(&["vendor"]).exits(2);
    assert!(answer.stderr.contains("the lock file (Chart.lock) is out of sync"), "{}", answer.stderr);
}

#[test]
fn json_tells_what_was_done() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&vendor(&dry, args).stdout).expect("JSON") };
    let planned = json(&["--dry-run", "--json"]);
    assert_eq!((&planned["format"], &planned["written"]), (&1.into(), &false.into()));
    let done = json(&["--json"]);
    assert_eq!(done["added"][0]["paths"][0], "charts/app/charts/web");
    assert_eq!((&done["added"][0]["usedBy"][0], &done["written"]), (&"app".into(), &true.into()));
    fs::write(dry.path.join("charts/app/charts/web/values.yaml"), "word: edited\n").expect("written");
    let checked: serde_json::Value =
        serde_json::from_str(&dry.hydrate(&["vendor", "--check", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(checked["faults"].as_array().map(Vec::len), Some(1));
}

/// A publisher who replaces what was published: found by `--verify`, and never taken without a word.
#[test]
fn a_replaced_version_is_found_and_never_taken_by_itself() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    vendor(&dry, &["--verify"]).success();
    let mut other = chart("web", "1.2.3");
    other.push(("web/NOTES.md".to_owned(), "more\n".to_owned()));
    let archive = packed(&other);
    fs::write(lab.path("charts/web-1.2.3.tgz"), &archive).expect("written");
    let index = fs::read_to_string(lab.path("charts/index.yaml")).expect("there");
    let (head, _) = index.split_once("digest: ").expect("a digest");
    fs::write(lab.path("charts/index.yaml"), format!("{head}digest: {}}}\n", sha256(&archive))).expect("written");

    let answer = vendor(&dry, &["--verify"]).exits(1);
    assert!(answer.stdout.contains("it was replaced by its publisher, or on the way"), "{}", answer.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&vendor(&dry, &["--verify", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(json["faults"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(dry.git(&["status", "--short"]), "");
    // A clone that lost the files gets no others.
    dry.git(&["rm", "-rq", "charts/app/charts/web"]);
    let answer = vendor(&dry, &[]).exits(2);
    assert!(answer.stderr.contains("it was replaced by its publisher, or on the way"), "{}", answer.stderr);
    dry.git(&["reset", "-q", "--hard"]);
    // As the hint says.
    vendor(&dry, &["--update", "web"]).success();
    assert!(dry.path.join("charts/app/charts/web/NOTES.md").exists());
    vendor(&dry, &["--verify"]).success();
}

/// Nothing is written by what only looks: neither files nor the index.
#[test]
fn what_only_looks_writes_nothing() {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "^1"));
    let clean = |args: &[&str], code: i32| {
        let answer = vendor(&dry, args).exits(code);
        assert_eq!(dry.git(&["status", "--short", "--ignored"]), "", "{args:?}");
        answer.stdout
    };
    assert!(clean(&["--dry-run"], 0).ends_with("nothing written (--dry-run)\n"));
    assert!(clean(&["--check"], 1).contains("is not in this repository"));
    assert!(clean(&["--verify"], 1).contains("is not in this repository"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    for args in
        [&["--dry-run", "--update"][..], &["--dry-run", "--update", "web"], &["--dry-run", "--prune"], &["--check"]]
    {
        clean(args, 0);
    }
    clean(&["--verify"], 0);
    // Of a commit, whatever the working tree has.
    clean(&["--check", "HEAD"], 0);
    assert!(clean(&["--check", "HEAD~1"], 1).contains("is not in this repository"));
    assert!(clean(&["--dry-run", "HEAD~1"], 0).starts_with("+ chart web ^1 of "));
    assert!(vendor(&dry, &["HEAD"]).exits(2).stderr.contains("--check, --verify and --dry-run"));
    for args in
        [&["--check", "--verify"][..], &["--check", "--prune"], &["--verify", "--update"], &["--check", "--dry-run"]]
    {
        assert_eq!(vendor(&dry, args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_merge_conflict_in_the_lock_file_is_resolved_and_ranges_stay_where_they_are() {
    let (lab, charts) = with_charts(&[("web", "1.2.3"), ("db", "0.1.0"), ("cache", "0.1.0")]);
    let url = charts.url();
    let line = |name: &str, version: &str| format!("- {{name: {name}, version: {version}, repository: '{url}'}}\n");
    let dry = charted(&lab, &line("web", "~1.2.0"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let with = |name: &str| {
        let other = format!("charts/{name}");
        let chart = format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\ndependencies:\n{}", line(name, "0.1.0"));
        dry.commit(
            name,
            &[
                (&format!("{other}-app/Chart.yaml"), &chart),
                (&format!("applications/{name}.yaml"), &application(&format!("{name}-app"), &format!("{other}-app"))),
            ],
        );
        vendor(&dry, &[]).success();
        dry.commit("Vendor", &[]);
    };
    dry.git(&["switch", "-q", "-c", "other"]);
    with("db");
    dry.git(&["switch", "-q", "main"]);
    with("cache");
    assert!(dry.run("git", &["merge", "-q", "other"]).code != Some(0), "a conflict");
    assert!(dry.file(LOCK).expect("there").contains("<<<<<<<"));
    repository(&lab.path("charts"), &[("web", "1.2.4"), ("web", "1.2.3"), ("db", "0.1.0"), ("cache", "0.1.0")]);
    let told = dry.hydrate(&["check", "--worktree"]).exits(1).stdout;
    assert!(told.contains("hint: run `git hydrate vendor`, which resolves it"), "{told}");
    vendor(&dry, &[]).success();
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("version = \"1.2.3\"") && !lock.contains("1.2.4") && !lock.contains("<<<<<<<"), "{lock}");
    assert!(lock.contains("name = \"db\"") && lock.contains("name = \"cache\""), "{lock}");
    dry.git(&["add", "-A"]);
    dry.git(&["commit", "-q", "-m", "Merge"]);
    dry.hydrate(&["vendor", "--check"]).success();
}
