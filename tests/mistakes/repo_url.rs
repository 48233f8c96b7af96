//! A wrong address of the repository, in settings or in an Application.

use super::{DEV, PROD, edited};
use crate::push::{application, both, config_map, dry, note, note_of, tip, verified};
use crate::support::Lab;

#[test]
fn an_application_that_names_another_repository_by_mistake_keeps_its_manifests() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api", "db"], &["dev", "prod"]);
    clone.push().success();
    let before = tip(&server, PROD);
    let (file, text) = application("web", "prod");
    clone.commit("typo", &[(&file, &text.replace("example.com/dry.git", "example.com/drry.git"))]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
    assert_eq!(tip(&server, PROD), before, "nothing is removed for a URL");
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    // ssh and https lead to one repository.
    clone.commit("ssh", &[(&file, &text.replace("https://git.example.com/dry.git", "git@git.example.com:dry.git"))]);
    clone.push().success();
    assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("web"));
}

#[test]
fn the_first_push_says_when_it_cannot_tell_which_repository_this_is() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    clone.commit("add", &[(&file, &text)]);
    let told = clone.push().success().stderr;
    assert!(told.contains("`apps/web/dev` does not exist, so it cannot be determined whether"), "{told}");
    assert!(told.contains("git hydrate config set repoURL https://git.example.com/dry.git"), "{told}");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]);
    clone.commit("fix", &[("apps/web/dev/config.yaml", &config_map("web", "dev"))]);
    clone.push().success();
    tip(&server, DEV);
}

#[test]
fn a_wrong_repo_url_setting_keeps_branches_with_an_error_and_the_right_one_renders_what_they_lack() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev", "prod"]);
        clone.push().success();
        let before = (tip(server, DEV), note(server, DEV));
        let told = server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
        assert!(told.stdout.contains("environments/dev   stays at"), "{told:?}");
        assert!(told.stdout.contains("error: `drySource.repoURL` names another repository"), "{told:?}");
        for value in ["one", "two"] {
            let told = edited(&clone, value);
            assert!(told.contains("environments/dev   stays at") && !told.contains("unchanged"), "{told}");
            assert_eq!((tip(server, DEV), note(server, DEV)), before);
        }
        let status = server.hydrate(&["status"]).exits(1).stdout;
        assert!(status.contains("2 dry commits behind"), "{status}");
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("value: two"));
        server.hydrate(&["status"]).success();
        verified(server);
    });
}

#[test]
fn strict_mode_refuses_a_push_while_the_repo_url_setting_is_wrong() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    server.git(&["config", "hydrate.strict", "all"]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().exits(1).stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
}

#[test]
fn touched_refuses_a_push_of_what_a_wrong_setting_keeps_from_being_hydrated_and_lets_others_in() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    clone.commit("beside it", &[("NOTES", "text")]);
    clone.push().success();
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().exits(1).stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    clone.push().success();
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("value: edited"));
}

#[test]
fn an_application_whose_url_is_taken_out_of_the_settings_keeps_its_manifests_with_an_error() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        let (file, text) = application("web", "dev");
        let mirror = "https://mirror.example.com/dry.git";
        clone.commit("mirror", &[(&file, &text.replace("https://git.example.com/dry.git", mirror))]);
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git", mirror]).success();
        clone.push().success();
        let before = tip(server, DEV);
        server.hydrate(&["config", "unset", "repoURL", mirror]);
        let told = edited(&clone, "edited");
        assert!(told.contains("stays at") && told.contains("names another repository"), "{told}");
        assert_eq!(tip(server, DEV), before);
        server.hydrate(&["config", "add", "repoURL", mirror]).success();
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    });
}

#[test]
fn a_repository_that_an_earlier_version_took_for_hydrated_is_rendered_when_the_url_is_set_right() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let right = server.git(&["rev-parse", "refs/hydrate/config"]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    let wrong = server.git(&["rev-parse", "refs/hydrate/config"]);
    edited(&clone, "edited");
    // What it wrote: the note and the record say that the branch shows the commit, by the wrong settings.
    let dry = tip(&server, "main");
    server.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &note_of(&dry), DEV]);
    let record = server.git(&["show", "refs/hydrate/branches:environments%2Fdev.json"]);
    let before = record.lines().find_map(|line| line.split_once("\"drySha\": \"")).expect("a dry commit").1;
    let record = record.replace(before.trim_end_matches("\","), &dry).replace(&right, &wrong);
    let path = server.path.join("record.json");
    std::fs::write(&path, record).expect("written");
    let blob = server.git(&["hash-object", "-w", path.to_str().expect("UTF-8")]);
    let script = format!(
        "export GIT_INDEX_FILE=index.new; git read-tree refs/hydrate/branches && \
         git update-index --cacheinfo 100644,{blob},environments%2Fdev.json && \
         git update-ref refs/hydrate/branches $(git commit-tree -p refs/hydrate/branches -m x $(git write-tree))"
    );
    server.run("sh", &["-c", &script]).success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
}
