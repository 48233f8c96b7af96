//! Branches that are named by a slip, or by half of their name.

use crate::push::{application, config_map, dry, tip};
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";

/// A server and a clone with these Applications on prod, pushed; `web` then names another branch, and that is pushed too.
fn led_to(lab: &Lab, names: &[&str], branch: &str) -> (Repo, Repo, String) {
    let server = lab.server();
    let clone = dry(&server, names, &["dev", "prod"]);
    clone.push().success();
    clone.commit("a change", &[("apps/web/prod/config.yaml", &config_map("web", "second"))]);
    clone.push().success();
    let (file, text) = application("web", "prod");
    clone.commit("another branch", &[(&file, &text.replace(PROD, branch))]);
    let heard = clone.push().success().remote().join("\n");
    clone.git(&["fetch", "-q"]);
    (server, clone, heard)
}

#[test]
fn a_misspelt_branch_is_told_without_a_word_of_how_to_remove_what_is_on_the_right_one() {
    let lab = Lab::new();
    let (server, _, heard) = led_to(&lab, &["web"], "environments/prdo");
    let hint = "did you mean `environments/prod`? What left it is on `environments/prdo` now (paths: web)";
    assert!(heard.contains(hint), "{heard}");
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains(hint), "{status}");
    assert!(status.contains("new, and nearly the name of environments/prod: did you mean that one?"), "{status}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("did you mean `environments/prod`?"), "{doctor}");
    for text in [heard, status, doctor] {
        let removal = text.replace("Hydrate-Allow-Removal: environments/prdo", "");
        assert!(!removal.contains("Hydrate-Allow-Removal") && !text.contains("update-ref"), "{text}");
    }
}

#[test]
fn a_misspelt_branch_that_has_more_commits_than_the_right_one_is_the_misspelt_one_still() {
    let lab = Lab::new();
    let (server, clone, _) = led_to(&lab, &["web"], "environments/prdo");
    for value in ["third", "fourth", "fifth"] {
        clone.commit("a change", &[("apps/web/prod/config.yaml", &config_map("web", value))]);
        clone.push().success();
    }
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains("new, and nearly the name of environments/prod: did you mean that one?"), "{status}");
    assert!(!status.contains("nearly the name of environments/prdo"), "{status}");
}

#[test]
fn who_corrects_a_misspelt_branch_as_the_hint_says_pushes_once() {
    let lab = Lab::new();
    let (server, clone, heard) = led_to(&lab, &["web"], "environments/prdo");
    let line = "Hydrate-Allow-Removal: environments/prdo";
    assert!(heard.contains(&format!("the commit that corrects it ends with the line `{line}`")), "{heard}");
    let (file, text) = application("web", "prod");
    clone.commit(&format!("corrected\n\n{line}"), &[(&file, &text)]);
    let heard = clone.push().success().remote().join("\n");
    assert!(!heard.contains("failed"), "{heard}");
    server.hydrate(&["status"]).success();
}

#[test]
fn who_corrects_a_misspelt_branch_is_not_sent_back_to_it() {
    let lab = Lab::new();
    let (_, clone, _) = led_to(&lab, &["web"], "environments/prdo");
    let (file, text) = application("web", "prod");
    clone.commit("corrected, without the line", &[(&file, &text)]);
    let heard = clone.push().success().remote().join("\n");
    let hint = "what left it is on `environments/prod` now; if this is intended, push a commit whose message ends with the line \
                `Hydrate-Allow-Removal: environments/prdo`";
    assert!(heard.contains(hint) && !heard.contains("did you mean"), "{heard}");
}

#[test]
fn what_left_for_a_branch_of_another_name_is_told_where_it_is() {
    let lab = Lab::new();
    let (server, _, heard) = led_to(&lab, &["web"], "envs/production");
    assert!(heard.contains("hint: what left it is on `envs/production` now; if this is intended, push"), "{heard}");
    let status = server.hydrate(&["status"]).stdout;
    assert!(!status.contains("did you mean"), "{status}");
}

#[test]
fn a_branch_that_all_left_for_another_says_where_they_are_before_it_says_how_to_delete_it() {
    let lab = Lab::new();
    let (server, clone, _) = led_to(&lab, &["web"], "envs/production");
    let back = "what left it is on envs/production now; to put it back: push a commit to main in which its Applications name \
                environments/prod again\n";
    for repo in [&server, &clone] {
        let status = repo.hydrate(&["status"]).exits(1).stdout;
        let (before, after) = status.split_once(back).unwrap_or_else(|| panic!("{status}"));
        assert!(
            !before.contains("Hydrate-Allow-Removal")
                && after.contains("to take all objects off it, if that is intended")
        );
        assert!(after.contains("to delete it, if nothing deploys it"), "{status}");
    }
}

#[test]
fn an_object_that_left_a_branch_is_explained_by_where_it_is() {
    let lab = Lab::new();
    let (server, clone, _) = led_to(&lab, &["web", "api"], "environments/prdo");
    assert!(!server.git(&["ls-tree", "-r", "--name-only", PROD]).contains("web/"), "{}", tip(&server, PROD));
    let heard = clone.hydrate(&["explain", "configmap/web", PROD]).exits(2).stderr;
    assert!(heard.contains("there is no `configmap/web` on environments/prod; elsewhere there are\n"), "{heard}");
    assert!(heard.contains("\n  environments/prdo:web/manifest.yaml:1  ConfigMap"), "{heard}");
}

#[test]
fn log_and_explain_take_the_short_name_of_an_environment() {
    let lab = Lab::new();
    let (_, clone, _) = led_to(&lab, &["web", "api"], "envs/production");
    for (short, full) in
        [(vec!["log", "prod"], vec!["log", PROD]), (vec!["explain", "cm/api", "prod"], vec!["explain", "cm/api", PROD])]
    {
        let [short, full] = [short, full].map(|args| clone.hydrate(&args).success().stdout);
        assert_eq!(short, full);
    }
    let known = "`nowhere` is neither a commit nor an environment branch; the hydrated branches are environments/dev, ";
    for args in [&["log", "nowhere"][..], &["explain", "cm/api", "nowhere"], &["explain", "nowhere:api/manifest.yaml"]]
    {
        let heard = clone.hydrate(args).exits(2).stderr;
        assert!(heard.contains(known), "{args:?}: {heard}");
    }
}

#[test]
fn a_trailer_with_half_a_name_is_told_which_branch_was_meant() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.git(&["rm", "-q", &application("web", "prod").0]);
    clone.commit("no prod\n\nHydrate-Allow-Removal: prod", &[]);
    let heard = clone.push().success().remote().join("\n");
    assert!(
        heard.contains("`Hydrate-Allow-Removal: prod` in the message of this commit allows nothing: it names no"),
        "{heard}"
    );
    assert!(heard.contains("did you mean `Hydrate-Allow-Removal: environments/prod`?"), "{heard}");
}
