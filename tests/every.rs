//! Many repositories on one host: installed and tested at once, and new ones by a template.

use std::fs;

use crate::push::dry;
use crate::support::{Lab, Repo};

/// Empty repositories below the directory `host`.
fn host(lab: &Lab, names: &[&str]) -> Vec<Repo> {
    let repos = names.iter().map(|name| {
        let repo = Repo::at(lab, &format!("host/{name}"));
        fs::create_dir_all(&repo.path).expect("made");
        repo.git(&["init", "-q", "--bare"]);
        repo
    });
    repos.collect()
}

#[test]
fn every_repository_of_a_host_is_installed_and_tested() {
    let lab = Lab::new();
    let repos = host(&lab, &["team/dry.git", "team/deep/er/other.git", "zoo.git"]);
    let admin = lab.bare(&[]);
    let dir = lab.path("host");
    let dir = dir.to_str().expect("UTF-8");
    // What is no repository, or is inside of one, is none.
    fs::create_dir_all(lab.path("host/empty/HEAD")).expect("made");
    host(&lab, &["zoo.git/modules/inner.git"]);
    let told = admin.hydrate(&["install", "--server", "--all", dir]).success().stdout;
    let paths: Vec<&str> = told.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(paths, ["team/deep/er/other.git", "team/dry.git", "zoo.git"].map(|name| format!("{dir}/{name}")));
    assert!(told.contains("\n  done     hooks/post-receive runs "), "{told}");
    assert!(!lab.path("host/zoo.git/modules/inner.git/hooks/post-receive").exists());
    let clone = dry(&repos[0], &["web"], &["dev"]);
    assert!(clone.push().success().stderr.contains("environments/dev  new -> "));
    // Again, for one that is new.
    let new = host(&lab, &["new.git"]);
    assert!(new[0].file("hooks/post-receive").is_none());
    let told = admin.hydrate(&["install", "--server", "--all", dir]).success().stdout;
    assert!(told.contains("\n  already  hooks/post-receive runs "), "{told}");
    assert!(new[0].file("hooks/post-receive").is_some());
    // One that cannot be installed stops no other.
    let broken = host(&lab, &["broken.git"]);
    fs::write(broken[0].path.join("config"), "[core\n").expect("written");
    new[0].hydrate(&["uninstall"]).success();
    let answer = admin.hydrate(&["install", "--server", "--all", dir]).exits(2);
    assert!(answer.stdout.starts_with(&format!("{dir}/broken.git\n  error    ")), "{}", answer.stdout);
    assert_eq!(answer.stderr, "error: 1 of 5 repositories failed\n");
    assert!(new[0].file("hooks/post-receive").is_some());
    fs::remove_dir_all(&broken[0].path).expect("removed");
    // The doctor looks at those that hydrate.
    host(&lab, &["plain.git"]);
    for repo in repos.iter().chain(&new) {
        repo.git(&["config", "core.fsync", "committed"]);
    }
    let told = admin.hydrate(&["doctor", "--all", dir]).success().stdout;
    assert!(told.starts_with(&format!("{dir}/new.git\n  good\n")), "{told}");
    assert!(!told.contains("plain.git"), "{told}");
    repos[2].git(&["config", "hydrate.jobs", "many"]);
    let told = admin.hydrate(&["doctor", "--all", dir]).exits(1).stdout;
    assert!(told.contains(&format!("{dir}/zoo.git\n  bad      hydrate.jobs is `many`")), "{told}");
    let json = admin.hydrate(&["--json", "doctor", "--all", dir]).exits(1).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["repositories"].as_array().map(Vec::len), Some(4), "{json}");
    assert_eq!(json["repositories"][0]["repository"], format!("{dir}/new.git"));
    assert_eq!(json["repositories"][0]["findings"][0]["health"], "good");
}

#[test]
fn what_all_cannot_be_asked_for_is_refused() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    for args in [
        &["install", "--all", "."] as &[&str],
        &["install", "--client", "--all", "."],
        &["install", "--server", "dry.git", "--all", "."],
        &["install", "--server", "--all", "no-such-directory"],
        &["doctor", "--all", "no-such-directory"],
    ] {
        let answer = server.hydrate(args).exits(2);
        assert!(answer.stderr.starts_with("error: "), "{args:?}: {}", answer.stderr);
    }
}

#[test]
fn a_template_and_keys_of_the_machine_serve_new_repositories() {
    let lab = Lab::new();
    let admin = lab.bare(&[]);
    let hooks = lab.path("template/hooks");
    fs::create_dir_all(&hooks).expect("made");
    for name in ["post-receive", "pre-receive"] {
        let script = admin.hydrate(&["install", "--print", name]).success().stdout;
        admin.hook(hooks.join(name).to_str().expect("UTF-8"), &script);
    }
    let config = lab.path("home/.gitconfig");
    let text = fs::read_to_string(&config).expect("there");
    let template = format!("[init]\n\ttemplateDir = {}\n[hydrate]\n\tguard = true\n", lab.path("template").display());
    fs::write(config, text + &template).expect("written");
    let server = &host(&lab, &["new.git"])[0];
    let clone = dry(server, &["web"], &["dev"]);
    assert!(clone.push().success().stderr.contains("environments/dev  new -> "));
    let refused = clone.run("git", &["push", "-f", "origin", "HEAD:environments/dev"]).exits(1).stderr;
    assert!(refused.contains("`environments/dev` is hydrated from `main`"), "{refused}");
}

#[test]
fn all_without_server_is_told_the_whole_command() {
    let lab = Lab::new();
    let told = lab.bare(&[]).hydrate(&["install", "--all", ".."]).exits(2).stderr;
    assert!(told.contains("hint: every repository of a server: git hydrate install --server --all DIR"), "{told}");
}
