//! What GitOps Promoter does about a branch that was restored, and `verify` after it. The sequences were made by Promoter's own code.
//!
//! Reference: GitOps Promoter 3244df5b internal/git/git.go (RestoreActiveBranch, MergeWithOursStrategy, MergeWithOursStrategyForPath).

use super::{Way, changed, noted, promote, push_commit, server, tip, with_dir};
use crate::push::config_map;
use crate::support::{Lab, Repo};

const ACTIVE: &str = "env/prod";
const NEXT: &str = "env/prod-next";

fn dry(clone: &Repo, value: &str, names: &[&str]) {
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("apps/{name}/prod/config.yaml"), config_map(name, value))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit(value, &files);
    clone.push().success();
}

fn rollback(server: &Repo, args: &[&str]) {
    server.hydrate(&[&["rollback", ACTIVE, "--reason", "outage", "--yes"], args].concat()).success();
}

#[track_caller]
fn verified(server: &Repo, code: i32) {
    let said = server.hydrate(&["verify"]);
    assert_eq!(said.code, Some(code), "{said:?}");
}

#[test]
fn a_restored_branch_that_is_promoted_by_fast_forward_is_verified() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", NEXT)]);
    promote(&server, ACTIVE, NEXT, None, Way::FastForward);
    dry(&clone, "2", &["web"]);
    promote(&server, ACTIVE, NEXT, None, Way::FastForward);
    noted(&server);
    rollback(&server, &[]);
    verified(&server, 0);
    dry(&clone, "3", &["web"]);
    // The conflict is resolved on the staging branch first.
    promote(&server, ACTIVE, NEXT, None, Way::FastForward);
    verified(&server, 0);
    let tree = changed(&server, ACTIVE, "web/manifest.yaml", Some("forged"));
    let restored = format!("Revert\n\nPromoter-restored-from: {}", tip(&server, ACTIVE));
    push_commit(&server, ACTIVE, &tree, &[&tip(&server, ACTIVE)], &restored);
    verified(&server, 1);
}

#[test]
fn a_branch_that_is_restored_to_its_beginning_is_verified() {
    let lab = Lab::new();
    let (server, _) = server(&lab, &[], &[("web", "prod", NEXT)]);
    promote(&server, ACTIVE, NEXT, None, Way::Merge);
    noted(&server);
    let first = server.git(&["rev-list", "--max-parents=0", "--first-parent", ACTIVE]);
    rollback(&server, &["--to", &first, "--allow-removal"]);
    verified(&server, 0);
}

#[test]
fn what_promoter_merges_into_the_staging_branch_of_one_directory_is_verified() {
    let lab = Lab::new();
    let apps = [("web", "prod", "env/prod-next/web"), ("api", "prod", "env/prod-next/api")];
    let (server, clone) = server(&lab, &[&["activePaths.env/prod", "[web, api]"]], &apps);
    for (_, _, next) in &apps {
        promote(&server, ACTIVE, next, next.rsplit('/').next(), Way::Squash);
    }
    dry(&clone, "2", &["web", "api"]);
    let web = "env/prod-next/web";
    let (ours, theirs) = (tip(&server, web), tip(&server, ACTIVE));
    let tree = with_dir(&server, &theirs, "web", &ours);
    push_commit(&server, web, &tree, &[&ours, &theirs], "Resolve conflicts");
    verified(&server, 0);
    let tree = changed(&server, &with_dir(&server, &theirs, "web", &ours), "api/manifest.yaml", Some("forged"));
    push_commit(&server, web, &tree, &[&tip(&server, web), &theirs], "Resolve conflicts");
    verified(&server, 1);
}

#[test]
fn a_merge_that_brings_nothing_to_a_restored_directory_is_verified() {
    let lab = Lab::new();
    let apps = [("web", "prod", "env/prod-next/web"), ("api", "prod", "env/prod-next/api")];
    let (server, clone) = server(&lab, &[&["activePaths.env/prod", "[web, api]"]], &apps);
    for value in ["2", "3"] {
        dry(&clone, value, &["web", "api"]);
        for (dir, _, next) in &apps {
            promote(&server, ACTIVE, next, Some(dir), Way::Merge);
        }
    }
    noted(&server);
    rollback(&server, &["--path", "web"]);
    dry(&clone, "4", &["api"]);
    promote(&server, ACTIVE, "env/prod-next/api", Some("api"), Way::Merge);
    verified(&server, 0);
    let here = tip(&server, ACTIVE);
    push_commit(&server, ACTIVE, &format!("{here}^{{tree}}"), &[&here, &tip(&server, "env/prod-next/web")], "Promote");
    verified(&server, 0);
    let said = server.hydrate(&["resume", ACTIVE]).exits(2).stderr;
    assert!(said.contains("Promoter holds the promotion until you end that there"), "{said}");
}
