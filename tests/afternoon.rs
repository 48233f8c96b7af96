//! An afternoon's worth of mistakes of somebody who sets up a server for the first time: what is said leads out of each.

use crate::push::{application, config_map, dry, tip};
use crate::rules::two;
use crate::support::Lab;

#[test]
fn a_branch_named_as_the_directory_of_environments_that_exist_holds_none_of_them_back() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let (file, text) = application("web", "prod");
    let wrong = text.replace("targetBranch: environments/prod", "targetBranch: environments");
    let before = tip(&server, "environments/dev");
    clone.commit("wrong", &[(&file, &wrong), ("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(told.matches("cannot both be branches").count(), 1, "{told}");
    assert!(told.contains("`environments` and `environments/dev` cannot both be branches"), "{told}");
    assert!(told.contains("environments/prod  stays at "), "{told}");
    assert_ne!(tip(&server, "environments/dev"), before, "{told}");
    server.hydrate(&["verify"]).success();
}

#[test]
fn check_says_that_the_branch_which_applications_name_does_not_exist() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["symbolic-ref", "HEAD", "refs/heads/master"]);
    let clone = server.clone_to("clone");
    clone.git(&["checkout", "-q", "-B", "master"]);
    clone.example();
    clone.git(&["branch", "-q", "-M", "master"]);
    clone.run("git", &["push", "origin", "master"]).success();
    for args in [&["check"] as &[&str], &["check", "--worktree"]] {
        let told = clone.hydrate(args);
        let told = told.stdout + &told.stderr;
        let expected = "`main` is named by 6 Applications and does not exist here, so nothing is hydrated for them";
        assert!(told.contains(expected) && told.contains("use `targetRevision: master`"), "{args:?}: {told}");
    }
}

#[test]
fn the_doctor_finds_programs_directories_and_variables_that_keys_name_in_vain() {
    let lab = Lab::new();
    let server = lab.server();
    std::fs::write(lab.path("notify"), "#!/bin/sh\n").expect("written");
    let notify = lab.path("notify").display().to_string();
    for (key, value, expected) in [
        ("hydrate.log", "/nosuch/log", "hydrate.log is in /nosuch, which is not a directory"),
        ("hydrate.notify", "/nosuch --flag", "hydrate.notify runs /nosuch, which does not exist"),
        ("hydrate.notify", &notify, "which is not executable"),
        ("hydrate.helm", "/nosuch/helm", "hydrate.helm runs /nosuch/helm, which does not exist"),
        ("hydrate.pusherVariable", "GL-USER", "it must be the name of a variable, such as GL_USER"),
    ] {
        server.git(&["config", key, value]);
        let told = server.hydrate(&["doctor"]).exits(1).stdout;
        assert!(told.contains(expected), "{key}: {told}");
        server.git(&["config", "--unset", key]);
    }
    for (key, value) in
        [("hydrate.log", "log"), ("hydrate.notify", "cat >/dev/null"), ("hydrate.pusherVariable", "GL_USER")]
    {
        server.git(&["config", key, value]);
        let told = server.hydrate(&["doctor"]).stdout;
        assert!(!told.contains(&format!("bad      {key}")), "{key}: {told}");
    }
}

#[test]
fn a_push_while_the_settings_cannot_be_read_is_sent_to_the_admin_and_not_to_the_next_push() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let broken = server.beside("broken");
    std::fs::create_dir(&broken.path).expect("made");
    std::fs::write(broken.path.join("settings.yaml"), "profile: [\n").expect("written");
    let blob = server.git(&["hash-object", "-w", "../broken/settings.yaml"]);
    let tree = format!("printf '100644 blob {blob}\\tsettings.yaml\\n' | git mktree");
    let tree = server.run("sh", &["-c", &tree]).success().stdout.trim().to_owned();
    let commit = server.git(&["commit-tree", &tree, "-m", "broken"]);
    server.git(&["update-ref", "refs/hydrate/config", &commit]);
    clone.commit("next", &[("NOTES", "text")]);
    let told = clone.push().success().remote().join("\n");
    let hint = "nothing is hydrated until an admin corrects the settings on the\nserver: git hydrate config edit";
    assert!(told.contains("settings.yaml:2:1") && told.contains(hint), "{told}");
    assert!(!told.contains("the next push"), "{told}");
}

#[test]
fn a_tab_that_indents_an_application_is_called_a_tab() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("web", "dev");
    clone.commit("tab", &[(&file, &text.replace("  destination:", "\tdestination:"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("YAML is indented with spaces, not with tabs"), "{told}");
}

#[test]
fn a_pattern_that_is_only_proposed_is_not_called_a_rule_of_the_settings() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two(&server);
    let text = clone.file("applications/prod.yaml").expect("there");
    clone.commit("no label", &[("applications/prod.yaml", &text.replace("env: prod", "environment: prod"))]);
    let told = clone.hydrate(&["adopt", "--branch-pattern", "environments/{{ labels.env }}"]);
    let told = told.stdout + &told.stderr;
    let expected = "the proposed rule: `branch`: it uses a value that does not exist: `labels.env`";
    assert!(told.contains(expected) && !told.contains("rule 1 of the settings"), "{told}");
    assert!(told.contains("choose another --branch-pattern"), "{told}");
}
