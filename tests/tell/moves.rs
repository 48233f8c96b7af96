//! Moves that no push makes, or not by its own dry commit: a roll-back by an admin, a branch that is made again.

use super::{ZERO, gitea, heard, line, lines, push, settle};
use crate::push::{application, config_map, tip};
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";
const NEXT: &str = "environments/prod-next";

/// `web`, hydrated to a staging branch.
fn staged(host: &Repo) -> Repo {
    let clone = host.clone_to("clone");
    let (file, text) = application("web", "prod");
    let staged = text + &format!("    hydrateTo:\n      targetBranch: {NEXT}\n");
    clone.commit("web", &[(&file, &staged), ("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    push(&clone);
    clone
}

/// A merge of the staging branch, as Promoter makes it, and its note.
fn promote(host: &Repo, id: &str) -> String {
    let (active, next) = (tip(host, PROD), tip(host, NEXT));
    let message = format!("Promote {id}\n\nPull-request-id: {id}\nSha-hydrated-proposed: {next}\n");
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let words = ["commit-tree", &format!("{next}^{{tree}}"), "-p", &active, "-p", &next, "-m", &message];
    let merge = host.git(&who.iter().chain(&words).copied().collect::<Vec<_>>());
    host.git(&["update-ref", &format!("refs/heads/{PROD}"), &merge]);
    let note = ["notes", "--ref=promoter.history", "add", "-m", "{\"Sha-dry-active\":[\"7\"]}", &merge];
    host.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
    merge
}

/// A branch that was promoted twice.
fn promoted(host: &Repo) -> Repo {
    let clone = staged(host);
    promote(host, "1");
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    push(&clone);
    promote(host, "2");
    clone
}

#[test]
fn the_platform_sees_an_active_branch_that_is_rolled_back_on_the_server() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let clone = promoted(&host);
    let first = host.git(&["rev-parse", &format!("{PROD}~1")]);
    let roll_back = ["rollback", "prod", "--to", &first, "--reason", "payments fail", "--yes"];
    let before = tip(&host, PROD);
    host.git(&["config", "hydrate.forgePusher", "12:hydration"]);
    heard(&host);
    host.hydrate(&roll_back).success();
    let found = heard(&host);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.starts_with("12:hydration "), "{found:?}");
    assert_eq!(found[0].1, line(&before, &tip(&host, PROD), PROD));
    // Where no user is named, the next push says it, in the name of its pusher.
    host.git(&["config", "--unset", "hydrate.forgePusher"]);
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    push(&clone);
    promote(&host, "3");
    let before = tip(&host, PROD);
    heard(&host);
    host.hydrate(&roll_back).success();
    assert_eq!(lines(&host), [] as [[String; 3]; 0]);
    let doctor = host.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains(&format!("the platform was not notified of {PROD}\n")), "{doctor}");
    clone.commit("nothing rendered", &[("NOTES", "text")]);
    push(&clone);
    settle(&host);
    assert_eq!(heard(&host), [("7:dev team/dry".to_owned(), line(&before, &tip(&host, PROD), PROD))]);
}

#[test]
fn the_platform_sees_a_staging_branch_that_is_made_again() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let clone = promoted(&host);
    let left = tip(&host, NEXT);
    // By a push that changes it, by one that does not, and by an admin.
    host.git(&["update-ref", "-d", &format!("refs/heads/{NEXT}")]);
    heard(&host);
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    push(&clone);
    settle(&host);
    let now = tip(&host, NEXT);
    assert_eq!(host.git(&["rev-parse", &format!("{NEXT}~1")]), left);
    assert_eq!(heard(&host), [("7:dev team/dry".to_owned(), line(ZERO, &now, NEXT))]);
    host.git(&["update-ref", "-d", &format!("refs/heads/{NEXT}")]);
    clone.commit("nothing rendered", &[("NOTES", "text")]);
    // It waits for no other pusher, who might come a minute later.
    host.git(&["config", "hydrate.tellTimeLimit", "100000"]);
    push(&clone);
    settle(&host);
    assert_eq!(heard(&host), [("7:dev team/dry".to_owned(), line(ZERO, &now, NEXT))]);
    host.git(&["update-ref", "-d", &format!("refs/heads/{NEXT}")]);
    host.git(&["config", "hydrate.forgePusher", "12:hydration"]);
    host.hydrate(&["catch-up"]).success();
    settle(&host);
    let found = heard(&host);
    assert!(found.len() == 1 && found[0].0.starts_with("12:hydration "), "{found:?}");
    assert_eq!(found[0].1, line(ZERO, &now, NEXT));
}
