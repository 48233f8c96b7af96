//! A clone as it is made, before anybody fetched more into it: what it checks and says, and what it says once its remote is gone.

use std::fs;

use crate::push::{config_map, dry};
use crate::support::{Lab, Repo};

const WEB: &str = "apps/web/prod/config.yaml";

/// A server whose production is frozen, by settings that a plain clone does not have.
fn frozen_server(lab: &Lab) -> Repo {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    server.hydrate(&["config", "set", "frozen.environments/prod", "{reason: end of the year}"]).success();
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
    clone.push().success();
    server
}

#[test]
fn a_clone_that_is_set_up_checks_the_first_push_as_the_server_will_hydrate_it() {
    let lab = Lab::new();
    let server = frozen_server(&lab);
    let fresh = server.clone_to("fresh");
    let told = fresh.hydrate(&["install", "--client"]).success().stdout;
    assert!(told.ends_with("done     fetched the branches, settings and notes of origin\n"), "{told}");
    fresh.commit("change", &[(WEB, &config_map("web", "new"))]);
    let said = fresh.run("git", &["push", "origin", "main"]).success().stderr;
    assert!(said.contains("environments/prod  frozen: end of the year; held back until that ends"), "{said}");
    assert!(!said.contains("not checked"), "{said}");
}

#[test]
fn a_clone_that_cannot_fetch_is_set_up_and_told_what_to_run() {
    let lab = Lab::new();
    let server = frozen_server(&lab);
    let fresh = server.clone_to("fresh");
    fs::rename(&server.path, server.path.with_extension("away")).expect("moved");
    let told = fresh.hydrate(&["install", "--client"]).success().stdout;
    assert!(told.contains("note     nothing was fetched from origin, so pushes are not checked"), "{told}");
    assert!(told.ends_with("         before the next push: git fetch origin\n"), "{told}");
    fs::rename(server.path.with_extension("away"), &server.path).expect("moved");
    fresh.git(&["fetch", "-q", "origin"]);
    assert_eq!(fresh.git(&["rev-parse", "refs/hydrate/config"]), server.git(&["rev-parse", "refs/hydrate/config"]));
}

#[test]
fn settings_that_are_not_pushed_are_none_of_the_servers() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.hydrate(&["config", "set", "frozen.environments/prod", "{reason: mine}"]).success();
    let told = clone.hydrate(&["status"]).stdout;
    let end = "git hydrate config unset frozen.environments/prod; git push origin refs/hydrate/config";
    let says = format!("  the settings of this clone say so, which are not pushed; to end it: {end}\n");
    assert!(told.contains(&says) && !told.contains("on the server"), "{told}");
    clone.commit("change", &[(WEB, &config_map("web", "new"))]);
    let said = clone.run("git", &["push", "origin", "main"]).success().stderr;
    let warning = "warning: the settings of this clone are not pushed: the server does not hydrate this push by them\n\
                   hint: to have the server use them: git push origin refs/hydrate/config\n";
    assert!(said.starts_with(warning), "{said}");
    // The server hydrates it, as it said.
    assert!(
        said.contains("remote: environments/prod")
            && server.git(&["show", "environments/prod:web/manifest.yaml"]).contains("new")
    );
    clone.run("sh", &["-ec", end]).exits(1);
    assert!(!clone.hydrate(&["status"]).stdout.contains("frozen"));
}

#[test]
fn a_clone_without_its_remote_says_so_and_restores_nothing_on_a_server() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["remote", "remove", "origin"]);
    let told = clone.hydrate(&["status"]);
    assert!(
        told.stderr.contains("this clone has no remote, so it does not know the branches of the server"),
        "{told:?}"
    );
    assert!(told.stdout.contains("not in this clone") && !told.stdout.contains("update-ref"), "{told:?}");
    // As the hint says.
    let url = server.path.to_str().expect("a path");
    clone.run("sh", &["-ec", &format!("git remote add origin {url}; git fetch -q origin")]).success();
    let told = clone.hydrate(&["status"]).success();
    assert!(told.stdout.contains("up to date") && !told.stderr.contains("no remote"), "{told:?}");
}

#[test]
fn a_clone_of_a_mirror_previews_by_the_server_that_it_names() {
    let lab = Lab::new();
    let server = frozen_server(&lab);
    let mirror = lab.path("mirror.git");
    server
        .run("sh", &["-ec", &format!("git init -q --bare {0}; git push -q {0} main 'refs/heads/*'", mirror.display())])
        .success();
    let clone = Repo::at(&lab, "mirror.git").clone_to("of-mirror");
    let page = crate::readme::text_of("docs/user.md");
    let (_, block) = page.split_once("git remote add server ").expect("a recipe");
    let (_, rest) = block.split_once('\n').expect("lines");
    let rest = rest.split("```").next().expect("a block");
    clone.run("sh", &["-ec", &format!("git remote add server {}\n{rest}", server.path.display())]).success();
    clone.git(&["checkout", "-q", "-B", "main", "server/main"]);
    clone.commit("change", &[(WEB, &config_map("web", "new"))]);
    let told = clone.hydrate(&["diff"]).exits(1);
    assert!(told.stdout.contains("environments/prod  frozen: end of the year; held back until that ends"), "{told:?}");
    fs::rename(&server.path, server.path.with_extension("away")).expect("moved");
    let told = clone.hydrate(&["diff", "--offline"]).exits(1);
    assert!(told.stdout.contains("environments/prod  frozen: end of the year"), "{told:?}");
}
