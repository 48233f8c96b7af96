//! Which settings a job believes.

use std::fs;

use super::{refs, tip_of};
use crate::push::{application, config_map, dry, tip};
use crate::support::Lab;

#[test]
fn settings_that_nobody_named_are_not_used() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["push"]).success();
    let writer = host.clone_to("writer");
    writer.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    writer.hydrate(&["config", "set", "profile", "argocd"]).success();
    writer.git(&["push", "-q", "origin", "refs/hydrate/config"]);
    let before = refs(&host);
    let answer = clone.hydrate(&["push"]).exits(2);
    assert!(answer.stderr.starts_with("error: origin has settings in refs/hydrate/config"), "{}", answer.stderr);
    assert!(answer.stderr.contains("--settings-ref BRANCH"), "{}", answer.stderr);
    assert_eq!(refs(&host), before);
    // Named, they count.
    let config = tip_of(&host, "refs/hydrate/config");
    clone.git(&["config", "hydrate.settingsRef", "refs/hydrate/config"]);
    clone.hydrate(&["push"]).success();
    assert_eq!(tip_of(&host, "refs/hydrate/config"), config);
    let message = host.git(&["log", "-1", "--format=%B", "environments/dev"]);
    assert!(message.contains(&format!("Hydrate-Settings: {config}")), "{message}");
}

#[test]
fn settings_come_from_a_protected_branch() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.git(&["switch", "-q", "--orphan", "settings"]);
    clone.commit("settings", &[("settings.yaml", "profile: argocd\n")]);
    clone.git(&["push", "-q", "origin", "settings"]);
    clone.git(&["switch", "-q", "main"]);
    let push = || clone.hydrate(&["push", "--settings-ref", "settings"]);
    push().success();
    // What the first hydration finds out is on top of it, the same each time.
    let config = tip_of(&host, "refs/hydrate/config");
    assert_eq!(host.git(&["rev-parse", "refs/hydrate/config~1"]), tip(&host, "settings"));
    assert!(push().success().stdout.ends_with("origin is up to date\n"));
    // Whatever a writer makes of it.
    for forged in ["main", "main:applications"] {
        host.git(&["update-ref", "refs/hydrate/config", &host.git(&["rev-parse", forged])]);
        let dev = tip(&host, "environments/dev");
        push().success();
        assert_eq!((tip_of(&host, "refs/hydrate/config"), tip(&host, "environments/dev")), (config.clone(), dev));
    }
}

#[test]
fn settings_of_a_branch_change_and_a_new_clone_goes_on() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.git(&["switch", "-q", "--orphan", "settings"]);
    let set = |text: &str, how: &[&str]| {
        clone.commit("settings", &[("settings.yaml", text)]);
        clone.git(&[&["push", "-q", "origin"], how].concat());
    };
    let push = |name: &str| {
        let job = host.clone_to(name);
        job.hydrate(&["push", "--settings-ref", "settings"]).success();
        assert!(
            job.hydrate(&["push", "--settings-ref", "settings"]).success().stdout.ends_with("origin is up to date\n")
        );
    };
    set("profile: argocd\n", &["settings"]);
    push("one");
    let (first, config) = (tip(&host, "environments/dev"), tip_of(&host, "refs/hydrate/config"));
    // The branch moves on, then it is written anew: what the job found out was on top of what it had, and goes with it.
    set("profile: proposal\n", &["settings"]);
    push("two");
    assert_ne!(tip_of(&host, "refs/hydrate/config"), config);
    assert_eq!(tip_of(&host, &format!("refs/hydrate/settings/{config}")), config);
    let second = tip_of(&host, "refs/hydrate/config");
    host.git(&["merge-base", "--is-ancestor", &first, "environments/dev"]);
    clone.git(&["switch", "-q", "--orphan", "again"]);
    set("profile: proposal\nauthor: {name: Fleet, email: fleet@example.com}\n", &["+HEAD:settings"]);
    push("three");
    assert_eq!(tip_of(&host, &format!("refs/hydrate/settings/{second}")), second);
    let files = host.git(&["show", "environments/dev:web/hydrator.metadata"]);
    assert!(files.contains("\"drySha\""), "{files}");
    // So each commit can be made again, after the host has thrown away what no ref leads to.
    host.git(&["gc", "-q", "--prune=now"]);
    let auditor = host.clone_to("auditor");
    let verified = auditor.hydrate(&["verify"]).success();
    assert!(verified.stdout.contains("3 "), "{verified:?}");
}

#[test]
fn settings_come_from_a_directory() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    clone.push().success();
    let settings = lab.path("settings");
    fs::create_dir(&settings).expect("made");
    fs::write(settings.join("settings.yaml"), "profile: argocd\n").expect("written");
    let push = |name: &str| host.clone_to(name).hydrate(&["push", "--settings", settings.to_str().expect("UTF-8")]);
    push("one").success();
    let config = tip_of(&host, "refs/hydrate/config");
    assert!(push("two").success().stdout.ends_with("origin is up to date\n"));
    fs::write(settings.join("settings.yaml"), "profile: proposal\n").expect("written");
    push("three").success();
    assert_ne!(tip_of(&host, "refs/hydrate/config"), config);
    host.git(&["merge-base", "--is-ancestor", &config, "refs/hydrate/config"]);
    let files = host.git(&["show", "environments/dev:web/hydrator.metadata"]);
    assert!(files.contains("\"drySha\""), "{files}");
    assert!(push("four").success().stdout.ends_with("origin is up to date\n"));
    fs::write(settings.join("settings.yaml"), "profil: proposal\n").expect("written");
    let answer = push("five").exits(2);
    assert!(answer.stderr.contains("profil"), "{}", answer.stderr);
}

#[test]
fn an_application_cannot_write_the_settings_of_a_job() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    let (file, text) = application("job", "dev");
    let text = text.replace("environments/dev", "settings");
    clone.commit("take the settings", &[(&file, &text), ("apps/job/dev/config.yaml", &config_map("job", "x"))]);
    clone.push().success();
    // An empty branch is nobody's.
    clone.git(&["switch", "-q", "--orphan", "settings"]);
    clone.git(&["commit", "-q", "--allow-empty", "-m", "no settings yet"]);
    clone.git(&["push", "-q", "origin", "settings"]);
    let settings = tip(&host, "settings");
    for _ in 0..2 {
        let told = clone.hydrate(&["push", "--settings-ref", "settings"]).exits(2).stderr;
        assert!(told.contains("an Application is hydrated to `refs/heads/settings`"), "{told}");
        assert_eq!(tip(&host, "settings"), settings);
        assert!(host.git(&["show", "environments/dev:web/manifest.yaml"]).contains("name: web"), "{told}");
    }
}
