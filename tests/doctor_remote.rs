//! `git hydrate doctor REMOTE`: what a remote leaves unprotected, and that what it says helps.

use std::fs;

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

/// What is said of the remote of a clone, with exit code 1 where something is bad.
fn doctor(clone: &Repo) -> String {
    let answer = clone.run(crate::support::BINARY, &["doctor", "origin"]);
    let is_bad = answer.stdout.lines().any(|line| line.starts_with("bad"));
    answer.exits(i32::from(is_bad)).stdout
}

/// A host without hooks, a clone whose commits are pushed there, and the clone of a job.
fn host(lab: &Lab) -> (Repo, Repo, Repo) {
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    let job = host.clone_to("job");
    (host, clone, job)
}

#[test]
fn a_host_without_hooks_leaves_branches_to_whoever_may_push() {
    let lab = Lab::new();
    let (host, clone, job) = host(&lab);
    let told = doctor(&job);
    let new = "advice   environments/dev, environments/prod (2 not made yet): git does not keep anybody who can push to origin \
               from moving them, and a rule of the platform cannot be seen from here\n";
    assert!(told.contains(new), "{told}");
    assert!(
        told.contains(
            "         let the job's account alone push to environments/*: where hooks can run, on the server: "
        ),
        "{told}"
    );
    assert!(told.contains("advice   main: who may push to it decides what is deployed\n"), "{told}");
    assert!(told.contains("         git hydrate push origin\n"), "{told}");
    job.hydrate(&["push"]).success();
    let told = doctor(&job);
    assert!(!told.contains("not made yet") && !told.contains("not up to date"), "{told}");
    assert!(told.contains("good     this account can push to origin, several refs at once\n"), "{told}");
    assert!(told.contains("good     anyone who can push may write records and notes; "), "{told}");
    // Settings that anyone may have written.
    host.hydrate(&["config", "set", "history", "tip"]).success();
    let told = doctor(&job);
    assert!(
        told.contains("bad      origin has settings in refs/hydrate/config, where anyone who can push may have"),
        "{told}"
    );
    clone.git(&["checkout", "-q", "--orphan", "settings"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    host.hydrate(&["config", "export", &clone.path.display().to_string()]).success();
    clone.commit("Settings", &[]);
    clone.git(&["push", "-q", "origin", "settings"]);
    job.git(&["config", "hydrate.settingsRef", "settings"]);
    let told = doctor(&job);
    assert!(
        told.contains("advice   the settings are those of settings: anyone who may push to it can change what is"),
        "{told}"
    );
    assert!(!told.contains("bad "), "{told}");
    job.git(&["config", "hydrate.settingsRef", "nowhere"]);
    assert!(
        doctor(&job).contains("bad      hydrate.settingsRef names refs/heads/nowhere, which origin does not have\n")
    );
}

#[test]
fn what_others_did_is_found() {
    let lab = Lab::new();
    let (host, clone, job) = host(&lab);
    job.hydrate(&["push"]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "dev", "origin/environments/dev"]);
    clone.commit("By hand", &[("web/manifest.yaml", &config_map("web", "hand"))]);
    clone.git(&["push", "-q", "origin", "dev:environments/dev"]);
    let told = doctor(&job);
    assert!(told.contains("bad      environments/dev of origin is at "), "{told}");
    assert!(told.contains(", which hydration did not make\n         git hydrate verify environments/dev\n"), "{told}");
    // A ref beside which git cannot make one of hydration's.
    for name in host.git(&["for-each-ref", "--format=%(refname)", "refs/heads/environments"]).lines() {
        host.git(&["update-ref", "-d", name]);
    }
    clone.git(&["push", "-q", "origin", "main:environments"]);
    let told = doctor(&host.clone_to("another"));
    assert!(told.contains("bad      environments/dev does not hydrate: "), "{told}");
}

#[test]
fn records_are_hidden_although_the_settings_are_open_to_who_may_push_them() {
    let lab = Lab::new();
    let server = lab.server();
    dry(&server, &["web"], &["dev"]).push().success();
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "hydrate.settingsPusher", "ann"]);
    server.hydrate(&["config", "set", "history", "tip"]).success();
    server.install_without_settings();
    assert!(server.git(&["for-each-ref", "refs/hydrate"]).contains("refs/hydrate/config"));
    let told = doctor(&server.clone_to("job"));
    assert!(told.contains("good     origin hides records and notes from pushes\n"), "{told}");
    // With hooks there, nothing is left for this program to do.
    assert!(told.contains("good     main: who may push to it decides what is deployed\n"), "{told}");
    assert!(!told.contains("install --server"), "{told}");
}

#[test]
fn a_server_whose_hooks_were_deleted_is_told_from_one_with_hooks() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let job = server.clone_to("job");
    let told = doctor(&job);
    assert!(
        told.contains(
            "good     git-hydrate is installed in origin: its hook guards environments/dev, environments/prod ("
        ),
        "{told}"
    );
    server.install_without_settings();
    let told = doctor(&job);
    assert!(
        told.contains("good     origin hides environments/dev, environments/prod from pushes (receive.hideRefs)\n"),
        "{told}"
    );
    assert!(told.contains("good     origin hides records and notes from pushes\n"), "{told}");
    for hook in ["hooks/post-receive", "hooks/pre-receive"] {
        fs::remove_file(server.path.join(hook)).expect("there");
    }
    clone.commit("Change", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
    clone.git(&["push", "-q", "origin", "main"]);
    let told = doctor(&job);
    assert!(
        told.contains("not up to date, and origin hides refs from pushes: its hooks did not run, or failed\n"),
        "{told}"
    );
    // The job says so too, and what it says helps.
    let answer = job.hydrate(&["push"]).exits(2);
    assert!(answer.stderr.contains("(stale info)"), "{answer:?}");
    let hint = "hint: origin hides these refs from pushes (receive.hideRefs), as `git hydrate install --server` has it";
    assert!(answer.stderr.contains(hint) && answer.stderr.contains("run there: git hydrate uninstall"), "{answer:?}");
    server.hydrate(&["uninstall"]).success();
    let answer = job.hydrate(&["push"]).success();
    assert!(answer.stdout.contains("environments/dev"), "{answer:?}");
    assert!(doctor(&job).contains("git does not keep anybody who can push to origin"));
}

#[test]
fn a_server_that_does_not_know_its_url_is_not_said_to_lack_hooks() {
    let lab = Lab::new();
    let server = lab.server();
    // As `install --server` leaves settings in a new repository, all but its URL.
    server.hydrate(&["config", "set", "tools", "argocd=3.4"]).success();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let (path, text) = application("web", "prod");
    clone.commit("Of another", &[(&path, &text.replace("dry.git", "other.git"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("the URL of this repository is not set"), "{told}");
    let url = "https://git.example.com/dry.git";
    for url in [url, &server.path.display().to_string()] {
        let job = server.clone_to(if url.starts_with("https") { "job" } else { "other-job" });
        job.git(&["config", &format!("url.{}.insteadOf", server.path.display()), url]);
        job.git(&["config", "remote.origin.url", url]);
        let told = doctor(&job);
        let expected = "bad      the settings of origin do not name its URL, so its hooks do not know which Applications \
                        are its own\n         in that repository: git hydrate config set repoURL URL, then git hydrate \
                        catch-up\n";
        assert!(told.contains(expected), "{url}: {told}");
        assert_eq!(told.matches("bad ").count(), 1, "{url}: {told}");
    }
    server.hydrate(&["config", "set", "repoURL", url]).success();
    server.hydrate(&["catch-up"]).success();
    assert!(!doctor(&server.clone_to("later")).contains("bad "), "{}", doctor(&server.clone_to("last")));
}

#[test]
fn who_may_not_push_is_told_and_a_platform_is_named() {
    let lab = Lab::new();
    let (host, _, job) = host(&lab);
    job.git(&["config", "remote.origin.pushurl", "/no/such/repository"]);
    let told = doctor(&job);
    assert!(told.contains("advice   this account cannot push to origin: fatal: '/no/such/repository'"), "{told}");
    job.git(&["config", "--unset", "remote.origin.pushurl"]);
    job.git(&["config", &format!("url.{}.insteadOf", host.path.display()), "https://github.com/shop/config.git"]);
    job.git(&["config", "remote.origin.url", "https://github.com/shop/config.git"]);
    let told = doctor(&job);
    assert!(told.contains("push to environments/*: on GitHub: Settings, Rules, Rulesets"), "{told}");
}

#[test]
fn a_tag_with_the_full_name_of_a_branch_is_found_and_the_remedy_removes_it() {
    let lab = Lab::new();
    let (host, _clone, job) = host(&lab);
    job.hydrate(&["push"]).success();
    let tag = "refs/tags/refs/heads/environments/prod";
    host.git(&["update-ref", tag, "main"]);
    host.git(&["update-ref", "refs/heads/refs/heads/environments/prod", "main"]);
    let told = doctor(&job);
    let what = format!(
        "bad      origin has `refs/heads/refs/heads/environments/prod`, `{tag}`, which git takes for \
         `refs/heads/environments/prod` when somebody pushes that by name\n"
    );
    assert!(told.contains(&what), "{told}");
    // What else is said of the remote is as true as without them.
    assert!(told.contains("good     this account can push to origin, several refs at once\n"), "{told}");
    let remedy = format!("git push origin --delete refs/heads/refs/heads/environments/prod {tag}");
    assert!(told.contains(&format!("         {remedy}\n")), "{told}");
    job.run("sh", &["-c", &remedy]).success();
    assert!(!doctor(&job).contains("git takes"), "{}", doctor(&job));
}
