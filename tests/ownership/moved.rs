//! Branches whose records are missing: of an earlier version, another engine, a repository that was moved.

use super::{DEV, PROD, RECORDS, forget_records, has, lose_records, record};
use crate::push::{config_map, dry, tip};
use crate::support::{Lab, Repo};

#[test]
fn a_repository_from_before_records_goes_on_and_nobody_adopts() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("dev only", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    let (dev, prod) = (tip(&server, DEV), tip(&server, PROD));
    let id = tip(&server, "main");
    forget_records(&server);
    // Neither trailers without a note nor a note's commit under another name make a branch ours.
    server.git(&["branch", "environments/test", &prod]);
    clone.commit("dev again", &[("apps/api/dev/config.yaml", &config_map("api", "2"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(
        told.contains("note: 2 branches hydrated by an earlier version: now recorded in refs/hydrate/branches"),
        "{told}"
    );
    assert_eq!(server.git(&["rev-parse", &format!("{DEV}~1")]), dev);
    assert_eq!(tip(&server, PROD), prod, "an untouched branch keeps its commit");
    assert_eq!(record(&server, PROD)["tip"], prod.as_str());
    assert!(!has(&server, &format!("{RECORDS}:environments%2Ftest.json")));
    assert_ne!(tip(&server, "main"), id);
    server.hydrate(&["verify"]).success();
    // An install does the same before the first push.
    forget_records(&server);
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(told.contains("2 branches hydrated by an earlier version"), "{told}");
    assert!(told.contains("dryBranches is now set to main"), "{told}");
    assert_eq!(record(&server, PROD)["tip"], prod.as_str());
}

/// Makes the tip of a branch the work of an engine of revision 1 that rendered `api` in its own way.
fn by_another_engine(server: &Repo) {
    let shell = |script: &str| server.run("sh", &["-ec", script]).success().stdout.trim().to_owned();
    let made = shell(&format!(
        "blob=$(git show {DEV}:api/manifest.yaml | sed 's/value: .*/value: as revision 1 rendered it/' | git hash-object -w --stdin)
         GIT_INDEX_FILE=index-of-test; export GIT_INDEX_FILE
         git read-tree {DEV}
         git update-index --cacheinfo 100644,$blob,api/manifest.yaml
         tree=$(git write-tree)
         rm index-of-test
         git cat-file commit {DEV} | sed \"s/^tree .*/tree $tree/; s/^Hydrate-Engine: .*/Hydrate-Engine: 1/\" |
             git hash-object -t commit -w --stdin"
    ));
    let old = tip(server, DEV);
    server.git(&["notes", "--ref=hydrator.metadata", "copy", &old, &made]);
    server.git(&["update-ref", &format!("refs/heads/{DEV}"), &made]);
    let mut of_dev = record(server, DEV);
    of_dev["tip"] = made.as_str().into();
    of_dev["made"] = serde_json::json!([made]);
    of_dev["engine"] = 1.into();
    std::fs::write(server.path.join("record"), of_dev.to_string()).expect("written");
    let commit = shell(
        "blob=$(git hash-object -w record)
         tree=$(git ls-tree refs/hydrate/branches | sed \"/environments%2Fdev/s/blob [0-9a-f]*/blob $blob/\" | git mktree)
         git commit-tree -m 'as revision 1 recorded it' $tree",
    );
    server.git(&["update-ref", RECORDS, &commit]);
}

#[test]
fn a_new_engine_does_not_rewrite_what_no_commit_touched() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    let prod = tip(&server, PROD);
    by_another_engine(&server);
    let api = |commit: &str| server.git(&["show", &format!("{commit}:api/manifest.yaml")]);
    let mut told = String::new();
    for (round, cache) in [("2", "kept"), ("3", "gone"), ("4", "kept"), ("5", "off")] {
        match cache {
            "gone" => std::fs::remove_dir_all(server.path.join("hydrate/cache")).expect("removed"),
            "off" => drop(server.git(&["config", "hydrate.cache", "false"])),
            _ => {}
        }
        clone.commit(round, &[("apps/web/dev/config.yaml", &config_map("web", round))]);
        told += &clone.push().success().remote().join("\n");
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains(round), "{told}");
        assert!(api(DEV).contains("as revision 1 rendered it"), "cache {cache}: {told}");
    }
    let notes: Vec<&str> = told.lines().filter(|line| line.contains("engine revision")).collect();
    assert_eq!(notes.len(), 1, "it is said once: {told}");
    assert!(notes[0].ends_with("in place of 1: environments/dev"), "{told}");
    assert_eq!(tip(&server, PROD), prod);
    // The audit says of the old commit that it cannot tell, and makes the new ones again.
    let audit = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(audit.contains("made by engine revision 1, but this is"), "{audit}");
    assert!(!audit.contains("error:"), "{audit}");
    // A commit that touches the Application brings the new bytes.
    clone.commit("touch it", &[("apps/api/dev/config.yaml", &config_map("api", "new"))]);
    clone.push().success();
    assert!(api(DEV).contains("value: new"));
}

#[test]
fn branches_of_a_repository_that_was_moved_without_its_records_are_recognized_by_their_ids() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.commit(
        "both",
        &[
            ("apps/web/dev/config.yaml", &config_map("web", "2")),
            ("apps/web/prod/config.yaml", &config_map("web", "2")),
        ],
    );
    clone.push().success();
    lose_records(&server);
    let at = (tip(&server, DEV), tip(&server, PROD));
    // What a person put on a branch is no work of hydration.
    let other = server.clone_to("other");
    other.git(&["checkout", "-q", PROD]);
    other.commit("by hand", &[("web/manifest.yaml", "kind: Pod\n")]);
    server.git(&["fetch", "-q", other.path.to_str().expect("a path"), &format!("+{PROD}:refs/heads/{PROD}")]);
    let told = server.hydrate(&["adopt"]).success().stdout;
    assert!(
        told.contains("environments/dev  made by hydration: its 3 commits have the same ids when made again"),
        "{told}"
    );
    let by_hand = tip(&server, PROD);
    assert!(
        told.contains(&format!(
            "environments/prod  not made by hydration here: commit {by_hand} was not made by hydration"
        )),
        "{told}"
    );
    // Only what differs needs the admin's word in the settings.
    server.git(&["update-ref", "refs/heads/environments/prod", &at.1]);
    let told = server.hydrate(&["adopt", "--all"]).success().stdout;
    assert_eq!(told.matches("made by hydration: its 3 commits").count(), 2, "{told}");
    server.hydrate(&["config", "get", "adopt"]).exits(1);
    assert_eq!((tip(&server, DEV), tip(&server, PROD)), at, "nothing that is deployed changes");
    assert_eq!(record(&server, DEV)["tip"], at.0.as_str());
    clone.commit("third", &[("apps/web/dev/config.yaml", &config_map("web", "3"))]);
    clone.push().success();
    assert_eq!(server.git(&["rev-parse", "environments/dev^"]), at.0);
    assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn a_branch_hydrated_from_a_commit_that_no_dry_branch_has_is_not_recognized() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "topic"]);
    clone.commit("never merged", &[("apps/web/dev/config.yaml", &config_map("web", "evil"))]);
    clone.hydrate(&["--branch", "main"]).success();
    let forged = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
    clone.git(&["push", "-q", "origin", "topic"]);
    lose_records(&server);
    let path = clone.path.to_str().expect("a path").to_owned();
    server.git(&["fetch", "-q", &path, "+refs/remotes/hydrate/environments/dev:refs/heads/environments/dev"]);
    let told = server.hydrate(&["adopt"]).success().stdout;
    let why = format!(
        "environments/dev  not made by hydration here: commit {forged} names a dry commit that is on no dry branch"
    );
    assert!(told.contains(&why), "{told}");
}
