//! Whatever one Application, or something that makes Applications, does to time or memory, the push ends, names it, and
//! hydrates everything else.

mod culprits;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Answer, Lab, Repo};
use culprits::{APPLICATION, SET_OF_FILES, each, team, turned};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

/// What is said of the Application that aborts.
const ABORTED: &str = APPLICATION.ways[1].1;

pub(crate) fn global(lab: &Lab, key: &str, value: &str) {
    let set = lab.command("git", &lab.path("")).args(["config", "--global", key, value]).status();
    assert!(set.expect("git runs").success());
}

fn lab_unset(lab: &Lab, key: &str) {
    let unset = lab.command("git", &lab.path("")).args(["config", "--global", "--unset", key]).status();
    assert!(unset.expect("git runs").success());
}

/// Everything that a process of ours could leave behind: scratch directories, locks, processes.
pub(crate) fn leftovers(lab: &Lab, repos: &[&Repo]) -> Vec<String> {
    let mut found = Vec::new();
    for dir in [lab.path("")].iter().chain(repos.iter().map(|repo| &repo.path)) {
        let names = std::fs::read_dir(dir).expect("readable").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        found.extend(names.filter(|name| name.starts_with("git-hydrate-") || name.starts_with("core")));
    }
    for repo in repos {
        let locks = repo.run("find", &[".", "-name", "*.lock", "-not", "-name", "hydrate.lock"]).success().stdout;
        found.extend(locks.lines().map(str::to_owned));
    }
    found.extend(processes(&lab.path("")));
    found
}

/// The processes of git-hydrate that know a directory by name or work in it.
fn processes(dir: &Path) -> Vec<String> {
    let dir = dir.to_string_lossy().into_owned();
    let ids = std::fs::read_dir("/proc").expect("readable").flatten().map(|entry| entry.path());
    let about = |path: &Path| {
        let variables = std::fs::read(path.join("environ")).unwrap_or_default();
        let state = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let is_over = state.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'));
        (!is_over && String::from_utf8_lossy(&variables).contains(&dir)).then(|| {
            let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).replace('\0', " ")
        })
    };
    ids.filter_map(|path| about(&path)).filter(|words| words.contains("hydrate")).collect()
}

#[test]
fn a_push_hydrates_all_others_whatever_one_does() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        let before = tip(&server, PROD);
        let started = Instant::now();
        let told = clone.push().success().remote().join(" ");
        assert!(started.elapsed() < Duration::from_secs(180), "{does}: {told}");
        assert!(told.contains(&format!("{}{expected}", culprit.says)), "{does}: {told}");
        assert!(!told.contains("was ended by signal"), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{does}: {told}");
        assert_eq!(tip(&server, PROD), before, "{does}");
        healthy(&server);
        // It is remembered: what has nothing to do with it costs nothing and says so.
        let last = clone.commit("web only", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected) && !told.contains("trying again"), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&last), "{does}");
        // An Application that comes makes it look at everything, and it still knows.
        let (file, text) = application("new", "dev");
        let files = [(&*file, &*text), ("apps/new/dev/config.yaml", &*config_map("new", "x"))];
        let last = clone.commit("one more", &files);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected), "{does}: {told}");
        assert!(!told.contains("trying again"), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&last), "{does}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
        // Once it behaves, an admin has it tried again.
        culprit.does(&lab, "render");
        server.hydrate(&["catch-up", "--retry"]).success();
        assert_eq!(note(&server, PROD), note_of(&last), "{does}");
        // And that is known as well.
        culprit.does(&lab, does);
        let last = clone.commit("web again", &[("apps/web/dev/config.yaml", &config_map("web", "again"))]);
        let told = clone.push().success().remote().join(" ");
        assert!(!told.contains(expected), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&last), "{does}");
    });
}

#[test]
fn both_tries_of_a_push_share_the_time_of_a_run() {
    // Without a limit of its own, an Application may take a part of it only, and the others have the rest.
    let (lab, server, clone) = turned(&APPLICATION, "hang");
    global(&lab, "hydrate.runTimeLimit", "20");
    lab_unset(&lab, "hydrate.renderTimeLimit");
    let told = clone.push().success().remote().join(" ");
    assert!(
        told.contains("`bad-prod` takes more than 5 seconds to render; git config hydrate.renderTimeLimit"),
        "{told}"
    );
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{told}");
    // With one that leaves no time, the second try ends when the run does.
    let (lab, _, clone) = turned(&APPLICATION, "hang");
    global(&lab, "hydrate.runTimeLimit", "6");
    global(&lab, "hydrate.renderTimeLimit", "60");
    let started = Instant::now();
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("one run take more than 6 seconds to render; git config hydrate.runTimeLimit"), "{told}");
    assert!(started.elapsed() < Duration::from_secs(60), "{told}");
}

#[test]
fn the_first_push_of_all_hydrates_all_others() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = team(culprit);
        culprit.does(&lab, does);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected), "{does}: {told}");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{does}: {told}");
    });
    // With many lines for the hook.
    let (lab, server, clone) = team(&APPLICATION);
    APPLICATION.does(&lab, "abort");
    let lines: Vec<String> = (0..30).map(|n| format!("HEAD:refs/heads/other-{n}")).collect();
    let mut push = clone.command("git");
    push.args(["push", "origin", "main"]).args(lines);
    let told = Answer::new(push.output().expect("git runs")).success().remote().join(" ");
    assert!(told.contains(ABORTED), "{told}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
}

#[test]
fn an_application_that_a_set_makes_ends_alone_too() {
    let (lab, server, clone) = team(&APPLICATION);
    let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: both}
spec:
  generators:
  - list: {elements: [{name: web, env: dev}, {name: bad, env: prod}]}
  template:
    metadata: {name: '{{name}}-{{env}}'}
    spec:
      destination: {namespace: '{{name}}'}
      sourceHydrator:
        drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: 'apps/{{name}}/{{env}}'}
        syncSource: {targetBranch: 'environments/{{env}}', path: '{{name}}'}
";
    clone.git(&["rm", "-q", "-r", "applications"]);
    clone.commit("one set", &[("set.yaml", set)]);
    APPLICATION.does(&lab, "abort");
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains(ABORTED), "{told}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{told}");
}

#[test]
fn a_set_that_reached_a_limit_is_not_expanded_again_where_a_push_changes_something_else() {
    for (does, expected) in SET_OF_FILES.ways {
        let (lab, server, clone) = team(&SET_OF_FILES);
        clone.push().success();
        let last = clone.commit("web", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&last));
        // Nothing but what the set reads differs, so that this push renders nothing.
        SET_OF_FILES.does(&lab, does);
        clone.commit("shop only", &[("elements/shop.yaml", "name: shop\nenv: prod\n# more\n")]);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(expected) && told.contains("trying again"), "{does}: {told}");
        for value in ["again", "and again"] {
            let last = clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
            let told = clone.push().success().remote().join(" ");
            assert!(told.contains(expected) && !told.contains("trying again"), "{does}: {told}");
            assert_eq!(note(&server, DEV), note_of(&last), "{does}");
        }
    }
}

#[test]
fn strict_refuses_who_touches_what_kills_the_render_and_lets_others_in() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        server.git(&["config", "hydrate.strict", "touched"]);
        let before = tip(&server, "main");
        let told = clone.push().exits(1).remote().join(" ");
        assert!(told.contains(&format!("error: {}{expected}", culprit.says)), "{does}: {told}");
        assert_eq!(tip(&server, "main"), before, "{does}");
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        // What makes Applications is expanded for each push that is judged; before the commit it did no harm.
        if !culprit.says.is_empty() {
            culprit.does(&lab, "render");
        }
        let last = clone.commit("web only", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&last), "{does}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    });
}

#[test]
fn a_catch_up_hydrates_all_others() {
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
fn a_clone_shows_all_others() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/hydrate/*:refs/hydrate/*"]);
        let hydrated = clone.hydrate(&["--offline"]).exits(1);
        assert!(hydrated.stdout.contains(expected), "{does}: {hydrated:?}");
        let config = clone.git(&["show", "refs/remotes/hydrate/environments/dev:web/manifest.yaml"]);
        assert!(config.contains(does), "{config}");
        let diff = clone.hydrate(&["diff", "--offline"]);
        assert!(diff.stdout.contains(&format!("+   value: {does}")), "{does}: {diff:?}");
        assert!(format!("{}{}", diff.stdout, diff.stderr).contains(expected), "{does}: {diff:?}");
        let check = clone.hydrate(&["check"]);
        assert!(check.stdout.contains(expected), "{does}: {check:?}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    });
}

#[test]
fn verify_goes_on_with_all_others() {
    for (does, expected) in [APPLICATION.ways[0], APPLICATION.ways[3]] {
        let (lab, server, clone) = turned(&APPLICATION, does);
        APPLICATION.does(&lab, "render");
        clone.push().success();
        APPLICATION.does(&lab, does);
        let told = server.hydrate(&["verify"]).exits(1);
        let told = format!("{}{}", told.stdout, told.stderr);
        assert!(told.contains(expected) && told.contains(DEV), "{does}: {told}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    }
}

#[test]
fn pre_push_stops_what_kills_the_render() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = turned(culprit, does);
        clone.hydrate(&["install", "--client"]).success();
        clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/hydrate/*:refs/hydrate/*"]);
        let before = tip(&server, "main");
        let told = clone.push().exits(1).stderr;
        assert!(told.contains(expected) && told.contains(DEV), "{does}: {told}");
        assert_eq!(tip(&server, "main"), before, "{does}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{does}");
    });
}

#[test]
fn a_clone_through_the_helper_gets_all_others() {
    each(|culprit, does, expected| {
        let (lab, server, clone) = team(culprit);
        server.git(&["config", "--unset-all", "hydrate.guard"]);
        std::fs::remove_file(server.path.join("hooks/post-receive")).expect("removed");
        culprit.does(&lab, does);
        clone.push().success();
        let url = format!("hydrate::file://{}", server.path.display());
        let args = ["clone", "-q", "--branch", DEV, &url, "hydrated"];
        let cloned = lab.command("git", &lab.path("")).args(args).output().expect("git runs");
        let cloned = Answer::new(cloned).success();
        let said = if culprit.says.is_empty() { expected } else { "trying again" };
        assert!(cloned.stderr.contains(said), "{does}: {cloned:?}");
        assert!(lab.path("hydrated/web/manifest.yaml").exists(), "{does}");
        assert_eq!(leftovers(&lab, &[&server]), [""; 0], "{does}");
    });
}

#[test]
fn a_hook_that_was_there_before_gets_its_lines_and_has_the_last_word() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook("hooks/post-receive", "#!/bin/sh\ncat >lines; exit 7\n");
    server.install_without_settings();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let line = format!("{} {} refs/heads/main\n", "0".repeat(40), tip(&server, "main"));
    assert_eq!(server.file("lines").expect("written"), line);
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
}

#[test]
fn doctor_tells_what_a_push_may_take_and_which_limits_are_none() {
    let lab = Lab::new();
    let server = lab.server();
    let rows = [
        (
            &[("runMemory", "2g")] as &[(&str, &str)],
            "good     a push may take 2048 MiB and 3600 s, one Application 1024 MiB",
        ),
        (&[("runMemory", "256m")], "good     a push may take 256 MiB and 3600 s, one Application 256 MiB"),
        (&[("runMemory", "0")], "good     a push may take unlimited memory and 3600 s, one Application 1024 MiB"),
        (&[("runMemory", "much")], "bad      hydrate.runMemory is `much`, which is not a number: the default is used"),
        (&[("runTimeLimit", "-1")], "bad      hydrate.runTimeLimit is `-1`, which is not a number"),
        (
            &[("runTimeLimit", "60"), ("renderTimeLimit", "40")],
            "advice   hydrate.renderTimeLimit (40 s) is more than half of hydrate.runTimeLimit (60 s)",
        ),
        (
            &[("runTimeLimit", "600"), ("commitTimeLimit", "600")],
            "advice   hydrate.commitTimeLimit (600 s) is not less than hydrate.runTimeLimit (600 s): one dry commit may take",
        ),
        (
            &[("runTimeLimit", "3"), ("renderTimeLimit", "2")],
            "advice   hydrate.renderTimeLimit (2 s) is more than half of hydrate.runTimeLimit (3 s)",
        ),
        (&[("applicationMemory", "1m")], "bad      hydrate.applicationMemory is 1048576 bytes, too little to render"),
        (
            &[("runMemory", "1g"), ("applicationMemory", "2g")],
            "advice   hydrate.applicationMemory (2147483648 bytes) is more than hydrate.runMemory (1073741824 bytes)",
        ),
    ];
    for (values, expected) in rows {
        for (key, value) in values {
            server.git(&["config", &format!("hydrate.{key}"), value]);
        }
        let told = server.hydrate(&["doctor"]).stdout;
        assert!(told.contains(expected), "{values:?}: {told}");
        for (key, _) in values {
            server.git(&["config", "--unset", &format!("hydrate.{key}")]);
        }
    }
}

#[test]
fn what_is_left_of_many_deaths_is_nothing() {
    let deaths = if std::env::var_os("HYDRATE_LONG").is_some() { 500 } else { 5 };
    let (lab, server, clone) = turned(&APPLICATION, "abort");
    // git's own housekeeping takes locks of its own, after the push.
    global(&lab, "gc.auto", "0");
    for death in 0..deaths {
        let kind = ["abort", "kill"][death % 2];
        APPLICATION.does(&lab, kind);
        let last = APPLICATION.changes(&clone, &format!("{kind} {death}"));
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&last), "{death}");
        assert_eq!(leftovers(&lab, &[&server, &clone]), [""; 0], "{death}");
    }
    healthy(&server);
}
