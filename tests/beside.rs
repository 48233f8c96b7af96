//! What a push says beside what became of its branches: releases without a name, dry branches that went back, changes of
//! others that are written over; and what commands say of settings and clones that are not as they should be.

use crate::mistakes::edited;
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

/// A chart, and an Application of it that names no release.
fn chart(name: &str, env: &str) -> Vec<(String, String)> {
    let (file, text) = application(name, env);
    let dir = format!("apps/{name}/{env}");
    vec![
        (file, text),
        (format!("{dir}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n")),
        (format!("{dir}/templates/config.yaml"), config_map("{{ .Release.Name }}", name)),
    ]
}

fn commit(clone: &Repo, files: &[(String, String)]) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("change", &files);
}

#[test]
fn a_chart_that_sets_no_release_name_is_told_when_it_is_new_at_push_pre_push_and_diff() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["api"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    commit(&clone, &chart("web", "dev"));
    let warning = "warning: `web-dev` sets no release name, so Helm uses `release-name`";
    let told = clone.hydrate(&["diff"]);
    assert!(told.stdout.contains(warning), "{told:?}");
    let told = clone.push().success().stderr;
    let (local, remote): (Vec<&str>, Vec<&str>) =
        told.lines().filter(|line| line.contains(warning)).partition(|line| !line.starts_with("remote:"));
    assert_eq!((local.len(), remote.len()), (1, 1), "{told}");
    assert!(told.contains("set `helm.releaseName: web-dev` in the drySource"), "{told}");
    // What runs under that name is not said again.
    clone.hydrate(&["status"]).success();
    clone.commit("more", &[("apps/web/dev/values.yaml", "a: 1\n")]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("release name"), "{told}");
    // Many at once are one warning.
    let many = ["a", "b", "c", "d", "e", "f"].map(|name| chart(name, "dev")).concat();
    let many: Vec<_> = many
        .into_iter()
        .map(|(path, text)| (path, text.replace("{{ .Release.Name }}", "x-{{ .Chart.Name }}")))
        .collect();
    commit(&clone, &many);
    let told = clone.push().success().remote().join("\n");
    let warning = "warning: `a-dev`, `b-dev`, `c-dev`, `d-dev` and 2 more set no release name";
    assert_eq!(told.matches("release name").count(), 1, "{told}");
    assert!(told.contains(warning), "{told}");
    // With a name, nothing is said.
    clone.hydrate(&["status"]).success();
    let (file, text) = application("named", "dev");
    let mut named = chart("named", "dev");
    named[0] = (file, text.replace("      path: apps", "      helm: {releaseName: named}\n      path: apps"));
    commit(&clone, &named);
    let told = clone.push().success().stderr;
    assert!(!told.contains("release name"), "{told}");
}

#[test]
fn a_release_name_that_is_dropped_renames_objects_which_push_pre_push_diff_and_check_tell() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["api"], &["dev"]);
    let (file, text) = application("web", "dev");
    let named = text.replace("      path: apps", "      helm: {releaseName: web}\n      path: apps");
    let mut files = chart("web", "dev");
    files[0] = (file.clone(), named);
    files.push((
        "apps/web/dev/templates/second.yaml".to_owned(),
        config_map("{{ .Release.Name }}-second", "{{ .Release.Name }}"),
    ));
    commit(&clone, &files);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("drop", &[(&file, &text)]);
    let warning =
        "warning: `web-dev` sets no release name any more, so Helm uses `release-name`: its objects get new names";
    let diff = clone.hydrate(&["diff"]).stdout;
    assert!(diff.contains(warning) && diff.contains("\n  renames 2 objects: the cluster makes them anew\n"), "{diff}");
    let stat = clone.hydrate(&["diff", "--stat"]).stdout;
    assert!(stat.contains("2 objects added, 2 removed in 1 of 2 Applications\n  renames 2 objects"), "{stat}");
    let check = clone.hydrate(&["check"]).stdout;
    assert!(check.contains("sets no release name"), "{check}");
    let told = clone.push().success().stderr;
    let (remote, local): (Vec<&str>, Vec<&str>) =
        told.lines().filter(|line| line.contains(warning)).partition(|line| line.starts_with("remote:"));
    assert_eq!((local.len(), remote.len()), (1, 1), "{told}");
    let of_remote = |text: &str| told.lines().any(|line| line.starts_with("remote:") && line.contains(text));
    assert!(of_remote("2 objects added, 2 removed") && of_remote("removed ConfigMap web-second"), "{told}");
    // Later it is what runs.
    clone.git(&["fetch", "-q"]);
    clone.commit("more", &[("apps/web/dev/values.yaml", "a: 1\n")]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("release name"), "{told}");
}

#[test]
fn a_forced_push_says_that_environments_follow_the_dry_branch_back() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let back = clone.git(&["rev-parse", "HEAD"]);
    clone.push().success();
    let gone = clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("no longer has"), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let forced = || clone.run("git", &["push", "--force", "origin", "HEAD"]).success().remote().join("\n");
    let told = forced();
    let note = format!("note: main no longer has {}: {DEV}, environments/prod now show {}", &gone[..7], &back[..7]);
    assert!(told.contains(&note), "{told}");
    // A merge that puts the old line second takes nothing away.
    clone.git(&["switch", "-q", "-c", "side", "HEAD"]);
    clone.commit("side", &[("apps/web/dev/config.yaml", &config_map("web", "side"))]);
    clone.git(&["switch", "-q", "main"]);
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    clone.push().success();
    clone.git(&["switch", "-q", "side"]);
    clone.git(&["merge", "-q", "--no-edit", "main"]);
    let told = clone.run("git", &["push", "origin", "HEAD:main"]).success().stderr;
    assert!(!told.contains("no longer has"), "{told}");
}

#[test]
fn who_overwrites_a_commit_made_by_hand_is_told_by_the_hook_and_by_a_worker() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    // The id of the commit, and what its push said.
    let by_hand = |host: &Repo, name: &str| {
        let hand = host.clone_to(name);
        hand.git(&["switch", "-q", "-c", "hand", "origin/environments/dev"]);
        let id = hand.commit("by hand", &[("web/manifest.yaml", &config_map("web", name)), ("NOTES", "mine\n")]);
        (id[..7].to_owned(), hand.run("git", &["push", "origin", "hand:environments/dev"]).success().stderr)
    };
    let warning = |id: &str| {
        format!(
            "warning: `environments/dev` was at {id}, which hydration did not make: its changes to web/manifest.yaml are \
             overwritten"
        )
    };
    server.git(&["config", "hydrate.guard", "off"]);
    let (id, told) = by_hand(&server, "hand");
    assert!(told.contains(&warning(&id)) && told.contains(&format!("git show {id}")), "{told}");
    // What is not ours stays, and nothing is said twice.
    assert_eq!(server.git(&["show", &format!("{DEV}:NOTES")]), "mine");
    let told = edited(&clone, "two");
    assert!(told.contains("environments/dev") && !told.contains("overwritten"), "{told}");
    let host = Repo::at(&lab, "host.git");
    server.git(&["clone", "-q", "--bare", ".", host.path.to_str().expect("UTF-8")]);
    let job = host.clone_to("job");
    job.hydrate(&["push"]).success();
    let (id, told) = by_hand(&host, "hand2");
    assert!(!told.contains("warning"), "{told}");
    let told = job.hydrate(&["push"]).success();
    assert!(format!("{}{}", told.stdout, told.stderr).contains(&warning(&id)), "{told:?}");
}

#[test]
fn a_skipped_commit_says_which_application_of_the_branch_it_is_about() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let (file, text) = application("web", "dev");
    clone.commit("away", &[(&file, &text.replace("environments/dev", "environments/qa"))]);
    clone.push().success();
    // Back, but its place is taken by then.
    let (_, other) = application("api", "dev");
    let other = other.replace("name: api-dev", "name: other").replace("path: api", "path: web");
    clone.commit("back", &[(&file, &text), ("applications/dev/other.yaml", &other)]);
    clone.push().success();
    clone.commit("more", &[("apps/api/dev/config.yaml", &config_map("api", "more"))]);
    let told = clone.push().success().remote().join("\n");
    let qa = told.split("environments/qa").nth(1).unwrap_or_default();
    assert!(qa.contains("`web-dev` moves to `environments/dev`, which does not take it: `web` on"), "{told}");
}

#[test]
fn a_key_that_git_is_given_with_c_counts_as_in_its_configuration() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["api"], &["dev"]);
    commit(&clone, &chart("web", "dev"));
    clone.push().success();
    let told = server.run("git", &["-c", "hydrate.helm=/nosuch/helm", "hydrate", "verify", "--renderer", "exec"]);
    assert!(told.code != Some(0) && format!("{}{}", told.stdout, told.stderr).contains("/nosuch/helm"), "{told:?}");
    let told = server.run("git", &["-c", "hydrate.strct=all", "hydrate", "doctor"]).exits(1).stdout;
    assert!(told.contains("hydrate.strct is not a key of git-hydrate"), "{told}");
    let told = server.run("git", &["-c", "hydrate.destination.eu.pushUrls=x", "hydrate", "doctor"]).exits(1).stdout;
    assert!(told.contains("did you mean hydrate.destination.eu.pushURL?"), "{told}");
}

#[test]
fn a_branch_that_no_application_names_is_not_called_hydrated_when_it_is_to_be_handed_over() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/environments/qa"]);
    let told = server.hydrate(&["adopt", "environments/qa"]).exits(2).stderr;
    assert_eq!(told, "error: `environments/qa` cannot be handed over: no Application names it as its branch\n");
}

#[test]
fn an_empty_repo_url_is_refused_and_a_wrong_one_is_quoted_as_it_was_set() {
    let lab = Lab::new();
    let server = lab.server();
    dry(&server, &["web"], &["dev"]).push().success();
    let told = server.hydrate(&["config", "set", "repoURL", ""]).exits(2).stderr;
    assert_eq!(told, "error: `repoURL` must be a string or a list of strings, not empty\n");
    let told = server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dri.git"]);
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("this one is https://git.example.com/dri.git"), "{said}");
    assert!(said.contains("to go back: git hydrate config unset repoURL"), "{said}");
}

#[test]
fn a_fetch_that_fails_has_its_hint_on_a_line_of_its_own() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["status"]).success();
    lab.program("ssh", "#!/bin/sh\nprintf 'ssh: connect to host x: refused\\r\\n' >&2; exit 255\n");
    clone.git(&["remote", "set-url", "origin", "ssh://x/dry.git"]);
    let told = clone.hydrate(&["status"]).exits(2).stderr;
    assert!(told.contains("refused\n") && !told.contains('\u{fffd}') && !told.contains('\r'), "{told:?}");
    assert!(told.ends_with("\nhint: to use the last fetched state: --offline\n"), "{told}");
    clone.hydrate(&["status", "--offline"]).success();
}

#[test]
fn a_new_server_without_branches_is_not_told_to_fetch() {
    let lab = Lab::new();
    let told = lab.server().hydrate(&["status"]);
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("there is no environment branch here") && !said.contains("git fetch"), "{said}");
}

#[test]
fn settings_that_are_set_in_a_clone_say_once_how_they_come_to_the_server() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let told = clone.hydrate(&["config", "set", "removalLimit.share", "0.3"]).success();
    let said = format!("{}{}", told.stdout, told.stderr);
    assert_eq!(said.matches("git push origin refs/hydrate/config").count(), 1, "{said}");
}

#[test]
fn who_may_not_push_settings_is_told_which_keys_name_the_pusher() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.hydrate(&["config", "set", "removalLimit.share", "0.3"]).success();
    server.git(&["config", "--replace-all", "receive.hideRefs", "refs/none"]);
    let push = || clone.run("git", &["push", "origin", "refs/hydrate/config"]).exits(1).stderr;
    let told = push();
    assert!(told.contains("only an admin may change the settings in refs/hydrate/config"), "{told}");
    assert!(told.contains("git config hydrate.pusherVariable VARIABLE"), "{told}");
    let flat = told.replace("remote: ", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let drop =
        "git update-ref -d refs/hydrate-unpushed/config && git fetch origin +refs/hydrate/config:refs/hydrate/config";
    assert!(flat.contains(&format!("to drop those of the clone: {drop}")), "{told}");
    // Rights come first: what is wrong with the settings does not matter.
    let told = clone.run("git", &["push", "--force", "origin", "HEAD:refs/hydrate/config"]).exits(1).stderr;
    assert!(
        told.contains("only an admin may change the settings") && !told.contains("is not a settings file"),
        "{told}"
    );
    server.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
    let told = push();
    let told = told.replace("remote: ", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let command = "an admin runs there: git config --add hydrate.settingsPusher NAME && git hydrate install --server";
    assert!(told.contains(command) && !told.contains("pusherVariable"), "{told}");
}

#[test]
fn status_in_a_clone_of_a_restored_server_says_that_branches_were_not_made_by_hydration() {
    let lab = Lab::new();
    let server = lab.server();
    dry(&server, &["web"], &["dev"]).push().success();
    let restored = Repo::at(&lab, "restored.git");
    server.git(&["clone", "-q", "--bare", ".", restored.path.to_str().expect("UTF-8")]);
    restored.hydrate(&["install", "--server"]);
    let clone = restored.clone_to("fresh");
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("`environments/dev` was not made by hydration"), "{told}");
    let told = clone.hydrate(&["status"]).exits(1).stdout;
    assert!(told.contains("not made by hydration") && !told.contains("behind"), "{told}");
    // Once it is handed over, clones know it too.
    restored.hydrate(&["adopt", "environments/dev"]).success();
    let told = clone.hydrate(&["status"]).success().stdout;
    assert!(told.contains("up to date"), "{told}");
}

#[test]
fn an_error_in_a_secret_shows_no_value_to_the_pusher_and_in_records() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["api"], &["dev"]);
    clone.push().success();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: api\nstringData:\n  password: hunter2: x\n";
    clone.commit("secret", &[("apps/api/dev/secret.yaml", secret)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("secret.yaml:6:") && told.contains("6 |   password: …"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
    server.git(&["rev-parse", "refs/hydrate/failures"]);
    assert_eq!(server.run("git", &["grep", "-q", "hunter2", "refs/hydrate/failures"]).code, Some(1));
}

#[test]
fn a_large_file_that_does_not_parse_is_told_at_every_push_and_remembered() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["api"], &["dev"]);
    clone.push().success();
    let broken = "# sourceHydrator\n".repeat(5000) + "kind: Application\na: [\n";
    clone.commit("broken", &[("applications/large.yaml", &broken)]);
    let errors = || {
        let told = clone.push().success();
        told.remote().into_iter().filter(|line| line.contains("large.yaml")).map(str::to_owned).collect::<Vec<_>>()
    };
    let remembered = || std::fs::read(server.path.join("hydrate/cache/barren")).expect("there");
    assert!(!errors().is_empty());
    let first = remembered();
    assert!(String::from_utf8_lossy(&first).contains("applications/large.yaml"));
    clone.commit("more", &[("apps/api/dev/more.yaml", &config_map("more", "1"))]);
    let with = errors();
    clone.commit("yet more", &[("apps/api/dev/more.yaml", &config_map("more", "2"))]);
    server.git(&["config", "hydrate.cache", "false"]);
    assert_eq!(with, errors());
    assert_eq!(remembered(), first);
}
