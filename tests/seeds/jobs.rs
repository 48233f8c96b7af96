//! Seeds of those who hydrate elsewhere: a worker, a job, a clone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{DEV, SETTINGS, URL, application, chart, commit, password, server, tip, two_applications};
use crate::support::{Lab, Repo};

#[test]
fn a_worker_makes_the_commits_that_the_server_makes() {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    let host = elsewhere.bare(&[]);
    let url = host.path.to_str().expect("UTF-8").to_owned();
    server.git(&["push", "-q", &url, &format!("{SETTINGS}:refs/heads/settings")]);
    let (file, text) = application("web", DEV);
    let steps = [
        ("one", None),
        ("moved", Some((file.clone(), text.replace(DEV, "environments/stage")))),
        (
            "moved again\n\nHydrate-Allow-Removal: environments/stage",
            Some((file, text.replace(DEV, "environments/prod"))),
        ),
        ("edited", chart("web", "new").into_iter().nth(2)),
    ];
    for (name, file) in steps {
        commit(&clone, name, file);
        clone.push().success();
        server.git(&["push", "-q", &url, "main"]);
        let job = host.beside("job");
        drop(fs::remove_dir_all(&job.path));
        let job = host.clone_to("job");
        job.hydrate(&["push", "--settings-ref", "settings"]).success();
        let branches =
            |repo: &Repo| repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/environments"]);
        assert_eq!(branches(&host), branches(&server), "{name}");
    }
    assert_eq!(password(&host, "environments/prod", "web"), password(&server, "environments/prod", "web"));
    let folder = elsewhere.path("folder");
    server.hydrate(&["config", "export", "--with-seed", folder.to_str().expect("UTF-8")]).success();
    // A folder of the same settings gives the same values.
    let third = Lab::new();
    let host = third.bare(&[]);
    server.git(&["push", "-q", host.path.to_str().expect("UTF-8"), "main"]);
    host.clone_to("job").hydrate(&["push", "--settings", folder.to_str().expect("UTF-8")]).success();
    let prod = "environments/prod";
    assert_ne!(password(&host, prod, "web"), password(&server, prod, "web"), "where it never moved, it is another one");
    assert_eq!(password(&host, prod, "web").len(), 24);
}

#[test]
fn a_job_that_lacks_a_seed_says_how_its_settings_get_one() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = host.clone_to("clone");
    commit(&clone, "one", two_applications());
    clone.push().success();
    clone.git(&["worktree", "add", "-q", "--detach", "../settings"]);
    let settings = Repo::at(&lab, "settings");
    settings.git(&["switch", "-q", "--orphan", "settings"]);
    settings.commit(
        "settings",
        &[("settings.yaml", &format!("repoURL: {URL}\ndryBranches: [main]\nnondeterministic: [randAlphaNum]\n"))],
    );
    settings.git(&["push", "-q", "origin", "settings"]);
    let job = host.clone_to("job");
    let push = || job.hydrate(&["push", "--settings-ref", "settings"]);
    let refused = push().exits(1).stdout;
    let hint = "in a work tree of the branch with the job's settings, or in their directory: git hydrate config set seeds new --settings .";
    let said = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(hint) && !said.contains("on the server"), "{refused}");
    // What it says is done.
    settings.hydrate(&["config", "set", "seeds", "new", "--settings", "."]).success();
    settings.git(&["add", "-A"]);
    settings.git(&["commit", "-q", "-m", "a seed"]);
    settings.git(&["push", "-q", "origin", "settings"]);
    push().success();
    assert_eq!(password(&host, DEV, "web").len(), 24);
}

#[test]
fn a_job_whose_settings_lack_the_seed_of_a_branch_replaces_no_password() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    clone.push().success();
    let web = password(&server, DEV, "web");
    let elsewhere = Lab::new();
    let host = elsewhere.bare(&[]);
    server.git(&["push", "-q", host.path.to_str().expect("UTF-8"), "refs/*:refs/*"]);
    let settings = elsewhere.path("settings");
    for with_seed in [false, true] {
        let folder = settings.to_str().expect("UTF-8");
        drop(fs::remove_dir_all(&settings));
        let seed: &[&str] = if with_seed { &["--with-seed"] } else { &[] };
        server.hydrate(&[&["config", "export"], seed, &[folder]].concat()).success();
        let job = host.beside("job");
        drop(fs::remove_dir_all(&job.path));
        let job = host.clone_to("job");
        commit(&job, "edited", chart("web", if with_seed { "newer" } else { "new" }).into_iter().nth(2));
        job.git(&["push", "-q", "origin", "HEAD:main"]);
        let pushed = job.hydrate(&["push", "--settings", folder]);
        if with_seed {
            pushed.success();
        } else {
            let said = pushed.exits(1).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("drew its random values from a seed") && said.contains("--with-seed DIR"), "{said}");
        }
        assert_eq!(password(&host, DEV, "web"), web);
    }
}

#[test]
fn status_says_that_a_branch_failed_by_the_settings_of_the_server_and_not_by_those_of_the_clone() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    clone.push();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    let by = "by the settings of the server; those of this clone are not pushed";
    let shown = clone.hydrate(&["status"]).exits(1).stdout;
    assert!(shown.contains("there is no seed") && !shown.contains(by), "{shown}");
    clone.hydrate(&["config", "set", "seeds", "new"]).success();
    let shown = clone.hydrate(&["status"]).exits(1).stdout;
    assert!(shown.contains("there is no seed") && shown.contains(by), "{shown}");
    // Here they are used.
    clone.hydrate(&["check"]).success();
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    let shown = clone.hydrate(&["status"]).stdout;
    assert!(!shown.contains("there is no seed"), "{shown}");
}

#[test]
fn settings_of_a_clone_that_bring_another_seed_name_whose_values_change() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.hydrate(&["config", "set", "seeds", "rotate"]).success();
    server.hydrate(&["config", "set", "seeds", "rotate"]).success();
    let refused = clone.hydrate(&["config", "rebase"]).exits(2).stderr;
    assert!(refused.contains("rebase --mine, which names the Secrets that get new random values"), "{refused}");
    let as_json = Repo::at(&lab, "json");
    clone.run("cp", &["-R", ".", as_json.path.to_str().expect("UTF-8")]).success();
    let told = clone.hydrate(&["config", "rebase", "--mine"]).success().stdout;
    for object in ["Secret data/web of argocd/web on environments/dev", "Secret data/db of argocd/db"] {
        assert!(told.contains("new random values in:\n") && told.contains(object), "{told}");
    }
    let told = as_json.hydrate(&["config", "rebase", "--mine", "--json"]).success().stdout;
    assert!(told.contains("\"randomValues\"") && told.contains("Secret data/web"), "{told}");
    // What has nothing to do with the seed names nothing.
    let clone = server.clone_to("plain");
    clone.hydrate(&["config", "set", "history", "tip"]).success();
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    let told = clone.hydrate(&["config", "rebase"]).success().stdout;
    assert!(!told.contains("random"), "{told}");
}

#[test]
fn settings_leave_without_their_seed_unless_somebody_says_so() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    clone.push().success();
    let web = password(&server, DEV, "web");
    let folder = |name: &str| lab.path(name).to_str().expect("UTF-8").to_owned();
    let said = server.hydrate(&["config", "export", &folder("plain")]).success().stdout;
    assert!(said.contains("the seed stays here"), "{said}");
    assert!(!lab.path("plain/seed").exists());
    fs::create_dir(lab.path("whole")).expect("made");
    fs::write(lab.path("whole/seed"), "readable by all").expect("written");
    server.hydrate(&["config", "export", "--with-seed", &folder("whole")]).success();
    let mode = fs::metadata(lab.path("whole/seed")).expect("there").permissions().mode();
    assert_eq!((mode & 0o777, fs::read(lab.path("whole/seed")).expect("there").len()), (0o600, 32));
    // Back into the same repository: the seed that is there stays.
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    let said = server.hydrate(&["config", "import", &folder("plain")]).success();
    assert!(!format!("{said:?}").contains("random values"), "{said:?}");
    assert_eq!(password(&server, DEV, "web"), web);
    // With another one, what changes is named.
    fs::write(lab.path("plain/seed"), [9; 32]).expect("written");
    let said = server.hydrate(&["config", "import", &folder("plain")]).success().stdout;
    assert!(said.contains("new random values in:\n  Secret data/db of argocd/db on environments/dev\n"), "{said}");
    assert_ne!(password(&server, DEV, "web"), web);
    server.hydrate(&["config", "import", &folder("whole")]).success();
    assert_eq!(password(&server, DEV, "web"), web, "the seed makes the same again");
    // Into another repository.
    let elsewhere = Lab::new();
    let other = elsewhere.server();
    fs::remove_file(lab.path("plain/seed")).expect("removed");
    let warned = other.hydrate(&["config", "import", &folder("plain")]).success().stderr;
    assert!(warned.contains("the settings come without a seed: no new Application may have random values"), "{warned}");
    other.hydrate(&["config", "import", &folder("whole")]).success();
    let clone = other.clone_to("clone");
    commit(&clone, "one", two_applications());
    clone.push().success();
    assert_eq!(password(&other, DEV, "web"), web, "the same seed, the same passwords");
    for bad in ["short", ""] {
        fs::write(lab.path("whole/seed"), bad).expect("written");
        let refused = other.hydrate(&["config", "import", &folder("whole")]).exits(2).stderr;
        assert!(refused.contains("seed: it must have 32 bytes"), "{refused}");
    }
}

#[test]
fn a_folder_of_settings_gets_a_seed_of_its_own() {
    let lab = Lab::new();
    let (server, _) = server(&lab);
    let folder = lab.path("folder").to_str().expect("UTF-8").to_owned();
    server.hydrate(&["config", "export", &folder]).success();
    let settings = tip(&server, SETTINGS);
    server.hydrate(&["config", "set", "seeds", "new", "--settings", &folder]).success();
    let first = fs::read(lab.path("folder/seed")).expect("there");
    assert_eq!(first.len(), 32);
    assert_eq!(tip(&server, SETTINGS), settings, "the settings of the repository stay");
    server.hydrate(&["config", "set", "seeds", "rotate", "--settings", &folder]).success();
    assert_ne!(fs::read(lab.path("folder/seed")).expect("there"), first);
}
