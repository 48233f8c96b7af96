//! `git hydrate rollback`, `hold` and `resume`: what an admin types when an environment has to go back.

use crate::hold::{change, value};
use crate::push::{application, config_map, dry, note, note_of, tip, verified};
use crate::support::{Lab, Repo};

mod dry;
mod outage;
mod promoted;

const PROD: &str = "environments/prod";

/// `web` and `db` on dev and prod, with three values of `web` after the first; the hydrated commits of prod.
fn history(server: &Repo) -> (Repo, Vec<String>) {
    let clone = dry(server, &["web", "db"], &["dev", "prod"]);
    clone.push().success();
    let mut tips = vec![tip(server, PROD)];
    for value in ["two", "three", "four"] {
        change(&clone, "web", value);
        tips.push(tip(server, PROD));
    }
    (clone, tips)
}

#[test]
fn production_is_back_in_one_command_and_goes_on_in_another() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let told = server.hydrate(&["rollback", "prod", "--reason", "payments fail", "--yes"]).success().stdout;
    // What changes is shown before, what came of it after.
    assert!(told.contains("value: four") && told.contains("value: three"), "{told}");
    let expected = format!("1 of 2 manifests changed: 1 object changed, held at {}: payments fail", &tips[2][..7]);
    assert!(told.contains(&expected), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    verified(&server);
    let (_, told) = change(&clone, "web", "five");
    assert!(told.contains(&format!("held at {}: payments fail", &tips[2][..7])), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    // One further back.
    server.hydrate(&["rollback", "prod", "--reason", "still fail", "--yes"]).success();
    assert_eq!(value(&server, "environments/prod:web"), "two");
    verified(&server);
    let status = server.hydrate(&["status"]).stdout;
    assert!(
        status.contains(&format!("held at {} since 20", &tips[1][..7])) && status.contains(": still fail"),
        "{status}"
    );
    for name in ["prod", PROD] {
        let log = server.hydrate(&["log", name, "-n", "1"]).success().stdout;
        assert!(log.contains(&format!("rolled back to {}: still fail", &tips[1][..7])), "{log}");
    }
    let told = server.hydrate(&["resume", "prod", "--dry-run"]).exits(1).stdout;
    assert!(told.contains("value: two") && told.contains("value: five"), "{told}");
    let told = server.hydrate(&["resume", "prod", "--yes"]).success().stdout;
    assert!(told.contains("1 of 2 manifests changed: 1 object changed"), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "five");
    verified(&server);
    let told = server.hydrate(&["resume", "prod", "--yes"]).exits(2).stderr;
    assert!(told.contains("nothing of `environments/prod` is held"), "{told}");
    let who = server.git(&["log", "-3", "--format=%s", "refs/hydrate/config"]);
    assert_eq!(who.lines().next(), Some("resume environments/prod"), "{who}");
    assert!(who.contains(&format!("roll environments/prod back to {}: still fail", &tips[1][..7])), "{who}");
}

#[test]
fn a_rollback_of_many_applications_counts_them_for_who_is_not_asked() {
    let lab = Lab::new();
    let server = lab.server();
    let names: Vec<String> = (0..101).map(|number| format!("app-{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let clone = dry(&server, &names, &["prod"]);
    clone.push().success();
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("apps/{name}/prod/config.yaml"), config_map(name, "two"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("two", &files);
    clone.push().success();
    let shown = server.hydrate(&["rollback", "prod", "--reason", "slow", "--dry-run"]).exits(1).stdout;
    assert!(shown.contains("value: two"), "{shown}");
    let said = server.hydrate(&["rollback", "prod", "--reason", "slow", "--yes"]).success().stdout;
    assert!(said.contains("environments/prod: 101 Applications change; --dry-run shows how\n"), "{said}");
    assert!(said.contains("101 of 101 manifests changed: 101 objects changed, held at "), "{said}");
    assert!(!said.contains("value: two"), "{said}");
    assert_eq!(value(&server, "environments/prod:app-100"), "prod");
    verified(&server);
}

#[test]
fn a_branch_goes_back_to_what_is_named() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let dry = clone.git(&["rev-parse", "HEAD~2"]);
    clone.git(&["tag", "v1", &dry]);
    clone.git(&["push", "-q", "origin", "v1"]);
    for (to, expected) in [
        ("~1", "three"),
        // The ones before it are those that went on and back.
        ("~4", "two"),
        (&tips[1], "two"),
        (&tips[1][..9], "two"),
        (&dry, "two"),
        ("v1", "two"),
    ] {
        let words = ["rollback", PROD, "--to", to, "--reason", "x", "--yes"];
        let told = server.hydrate(&words).success();
        assert_eq!(value(&server, "environments/prod:web"), expected, "{to}: {told:?}");
        server.hydrate(&["resume", PROD, "--yes"]).success();
        assert_eq!(value(&server, "environments/prod:web"), "four", "{to}");
    }
    verified(&server);
    let before = tip(&server, PROD);
    for (to, expected) in [
        ("~90", "has fewer commits than `~90` goes back"),
        ("~x", "is not `~N`"),
        ("nonsense", "not a commit: `nonsense`"),
        ("environments/dev", "showed nothing of `environments/dev`"),
        ("1990-01-01", "had no commit yet at the time of `1990-01-01`"),
    ] {
        let told = server.hydrate(&["rollback", PROD, "--to", to, "--reason", "x", "--yes"]).exits(2);
        assert!(told.stderr.contains(expected), "{to}: {told:?}");
    }
    for (options, expected) in [
        (&["--reason", ""][..], "error: `reason` must be one line"),
        (&["--reason", "x", "--until", "soon"], "error: `until` is `soon`: write a date"),
    ] {
        let told = server.hydrate(&[&["rollback", PROD, "--yes"], options].concat()).exits(2).stderr;
        assert!(told.starts_with(expected), "{options:?}: {told}");
    }
    let told = server.hydrate(&["rollback", "nowhere", "--reason", "x", "--yes"]).exits(2).stderr;
    assert!(
        told.contains("there is no environment branch `nowhere`; there are environments/dev, environments/prod"),
        "{told}"
    );
    let told = server.hydrate(&["rollback", "prod", "--reason", "x"]).exits(2).stderr;
    assert!(told.contains("this asks at a terminal only: --yes"), "{told}");
    server.hydrate(&["rollback", "prod", "--reason", "x", "--dry-run"]).exits(1);
    let shown = server.hydrate(&["rollback", "prod", "--reason", "x", "--dry-run", "--json"]).exits(1).stdout;
    assert!(shown.contains("\"environments/prod\"") && shown.contains("\"format\": 1"), "{shown}");
    assert_eq!(tip(&server, PROD), before);
}

#[test]
fn single_applications_are_rolled_back_held_and_resumed() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    change(&clone, "db", "two");
    let roll = ["rollback", "prod", "--to", &tips[0], "--application", "web-prod", "--reason", "web fails", "--yes"];
    let told = server.hydrate(&roll).success().stdout;
    assert!(told.contains("web-prod is held: web shows") && told.contains(": web fails"), "{told}");
    assert_eq!(
        (value(&server, "environments/prod:web"), value(&server, "environments/prod:db")),
        ("prod".into(), "two".into())
    );
    let (_, told) = change(&clone, "db", "three");
    assert!(told.contains("web-prod is held: web shows"), "{told}");
    assert_eq!(value(&server, "environments/prod:db"), "three");
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains("web-prod is held: web shows") && status.contains(": web fails"), "{status}");
    assert!(
        status.contains("  an admin ends the hold of web-prod on the server: git hydrate resume environments/prod --application web-prod\n"),
        "{status}"
    );
    verified(&server);
    let told = server.hydrate(&["resume", "prod", "--application", "db-prod", "--yes"]).exits(2).stderr;
    assert!(told.contains("`db-prod` is not held alone on `environments/prod`; held: web-prod"), "{told}");
    server.hydrate(&["resume", "prod", "--application", "web-prod", "--yes"]).success();
    assert_eq!(value(&server, "environments/prod:web"), "four");
    verified(&server);
    // As it is, with no commit for it.
    let before = tip(&server, PROD);
    server.hydrate(&["hold", "prod", "--application", "db-prod", "--reason", "migration", "--yes"]).success();
    assert_eq!(tip(&server, PROD), before);
    change(&clone, "db", "four");
    change(&clone, "web", "five");
    assert_eq!(
        (value(&server, "environments/prod:web"), value(&server, "environments/prod:db")),
        ("five".into(), "three".into())
    );
    verified(&server);
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(value(&server, "environments/prod:db"), "four");
    verified(&server);
    // The short name ends a hold by the long one.
    let (file, text) = application("db", "prod");
    clone.commit("namespace", &[(&file, &text.replace("name: db-prod", "name: db-prod\n  namespace: argocd"))]);
    clone.push().success();
    server.hydrate(&["hold", "prod", "--application", "argocd/db-prod", "--reason", "x", "--yes"]).success();
    server.hydrate(&["resume", "prod", "--application", "db-prod", "--yes"]).success();
    let told = server.hydrate(&["resume", "prod", "--yes"]).exits(2).stderr;
    assert_eq!(told, "error: nothing of `environments/prod` is held\n");
}

#[test]
fn a_branch_is_held_as_it_is() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let told = server.hydrate(&["hold", "prod", "--reason", "audit", "--yes"]).success().stdout;
    assert!(
        told.contains("no object changes now") && told.contains(&format!("held at {}: audit", &tips[3][..7])),
        "{told}"
    );
    let held = note(&server, PROD);
    for value in ["five", "six"] {
        change(&clone, "web", value);
        assert_eq!((tip(&server, PROD), note(&server, PROD)), (tips[3].clone(), held.clone()));
    }
    let dry = clone.git(&["rev-parse", "HEAD"]);
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!((value(&server, "environments/prod:web"), note(&server, PROD)), ("six".into(), note_of(&dry)));
    verified(&server);
}

#[test]
fn whoever_may_push_the_settings_rolls_back_from_a_clone() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "--add", "hydrate.settingsPusher", "ann"]);
    server.hydrate(&["install", "--server"]).success();
    let words = ["rollback", "prod", "--reason", "payments fail", "--yes"];
    let told = clone.hydrate(&words).exits(2);
    assert!(
        told.stderr.contains("only an admin may change the settings") && told.stderr.contains("nothing was changed"),
        "{told:?}"
    );
    // Nothing of it is left in the clone, so no later push brings it.
    assert_eq!(tip(&server, PROD), tips[3]);
    let command = told.stderr.split("an admin runs on the server, in the repository: ").nth(1).expect("a command");
    assert!(
        command.contains("rollback environments/prod --to ") && command.contains("--reason 'payments fail'"),
        "{told:?}"
    );
    let refs = clone.git(&["for-each-ref", "--format=%(objectname) %(refname)"]);
    let there = server.git(&["rev-parse", "--verify", "-q", "refs/hydrate/config"]);
    assert!(!refs.contains("unpushed") && refs.contains(&format!("{there} refs/hydrate/config")), "{refs}");
    let mut command = clone.command(crate::support::BINARY);
    let told = command.args(words).env("PUSHER", "ann").output().expect("it runs");
    let told = crate::support::Answer::new(told).success();
    assert!(told.stdout.contains("value: three") && told.stderr.contains("held at"), "{told:?}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    verified(&server);
    let mut command = clone.command(crate::support::BINARY);
    let told = command.args(["resume", "prod", "--yes"]).env("PUSHER", "ann").output().expect("it runs");
    crate::support::Answer::new(told).success();
    assert_eq!(value(&server, "environments/prod:web"), "four");
}

#[test]
fn settings_that_were_changed_in_a_clone_and_forgotten_do_not_go_along_with_a_hold() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = history(&server);
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "--add", "hydrate.settingsPusher", "ann"]);
    server.hydrate(&["install", "--server"]).success();
    let as_ann = |words: &[&str]| {
        let mut command = clone.command(crate::support::BINARY);
        crate::support::Answer::new(command.args(words).env("PUSHER", "ann").output().expect("it runs"))
    };
    let before = server.git(&["rev-parse", "refs/hydrate/config"]);
    as_ann(&["config", "set", "frozen.environments/dev", "{reason: an idea}"]).success();
    let hold = ["hold", "prod", "--reason", "payments fail", "--yes"];
    let refused = as_ann(&hold).exits(2).stderr;
    assert!(refused.contains("are not pushed yet, and would go along"), "{refused}");
    assert_eq!(server.git(&["rev-parse", "refs/hydrate/config"]), before);
    // As the hint has it.
    let hint = refused.split("hint: to take those of the server: ").nth(1).expect("a hint");
    clone.run("sh", &["-ec", hint.lines().next().expect("a line")]).success();
    as_ann(&hold).success();
    let settings = server.hydrate(&["config"]).success().stdout;
    let held = server.hydrate(&["config", "get", "hold.yaml"]).success().stdout;
    assert!(held.contains("payments fail") && !settings.contains("an idea"), "{settings}{held}");
}

const NEXT: &str = "environments/prod-next";
const NOTES: &str = "refs/notes/promoter.history";

/// `web` is hydrated to a staging branch and promoted by merges, with the trailers that Promoter writes: its first value, then
/// another one; both commits of the active branch.
fn promoted(server: &Repo) -> (Repo, [String; 2]) {
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "prod");
    let staged = text + &format!("    hydrateTo:\n      targetBranch: {NEXT}\n");
    clone.commit("web", &[(&file, &staged), ("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let first = promote(server, "1");
    change(&clone, "web", "two");
    (clone, [first, promote(server, "2")])
}

/// A merge of the staging branch, as Promoter makes it.
fn promote(server: &Repo, id: &str) -> String {
    let (active, next) = (tip(server, PROD), tip(server, NEXT));
    let message = format!("Promote {id}\n\nPull-request-id: {id}\nSha-hydrated-proposed: {next}\n");
    let tree = format!("{next}^{{tree}}");
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let words = ["commit-tree", &tree, "-p", &active, "-p", &next, "-m", &message];
    let merge = server.git(&who.iter().chain(&words).copied().collect::<Vec<_>>());
    server.git(&["update-ref", &format!("refs/heads/{PROD}"), &merge]);
    merge
}

#[test]
fn an_active_branch_is_restored_as_promoter_restores_it() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [first, second]) = promoted(&server);
    // An older Promoter would promote the same change again.
    let words = ["rollback", "prod", "--to", &first, "--reason", "payments fail", "--yes"];
    let told = server.hydrate(&words).exits(2).stderr;
    assert!(told.contains("no Promoter has written refs/notes/promoter.history here"), "{told}");
    assert_eq!(tip(&server, PROD), second);
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-m", "{\"Sha-dry-active\":[\"7\"]}", &first];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
    let told = server.hydrate(&words).success().stdout;
    assert!(told.contains("value: two") && told.contains("value: one") && told.contains("blockEnvironment"), "{told}");
    let restored = tip(&server, PROD);
    assert_eq!(server.git(&["rev-parse", &format!("{restored}^")]), second);
    assert_eq!(server.git(&["diff", &first, &restored]), "", "the whole tree is that of the first");
    let message = server.git(&["log", "-1", "--format=%B", &restored]);
    let next = server.git(&["rev-parse", &format!("{first}^2")]);
    let expected = format!(
        "Revert {PROD} to {}\n\npayments fail\n\nPull-request-id: 1\nSha-hydrated-proposed: {next}\n\
         Promoter-restored-from: {first}",
        &first[..7]
    );
    assert_eq!(message.trim_end(), expected);
    let note = server.git(&["notes", "--ref=promoter.history", "show", &restored]);
    assert_eq!(note, format!("{{\"Promoter-restored-from\":[\"{first}\"],\"Sha-dry-active\":[\"7\"]}}"));
    verified(&server);
    // The staging branch goes on: what is promoted of it, Promoter decides.
    change(&clone, "web", "three");
    assert_eq!((value(&server, "environments/prod-next:web"), tip(&server, PROD)), ("three".into(), restored.clone()));
    verified(&server);
    for (to, expected) in [
        (first.as_str(), "the branch has just what"),
        (&restored, "restores another commit itself"),
        (NEXT, "showed nothing of"),
    ] {
        let told = server.hydrate(&["rollback", "prod", "--to", to, "--reason", "x", "--yes"]).exits(2).stderr;
        assert!(told.contains(expected), "{to}: {told}");
    }
    let told = server.hydrate(&["rollback", "prod", "--application", "web", "--reason", "x", "--yes"]).exits(2).stderr;
    assert!(told.contains("an active branch is restored as a whole"), "{told}");
    assert_eq!((tip(&server, PROD), server.git(&["rev-list", "--count", NOTES])), (restored, "2".into()));
}

#[test]
fn a_promoter_who_may_push_restores_from_a_clone() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [first, second]) = promoted(&server);
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-m", "{\"Sha-dry-active\":[\"7\"]}", &first];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
    clone.git(&["fetch", "-q", "origin", &format!("{NOTES}:{NOTES}")]);
    for (key, value) in [("pusherVariable", "PUSHER"), ("promoter", "ann"), ("promoted", "environments/*")] {
        server.git(&["config", "--add", &format!("hydrate.{key}"), value]);
    }
    server.hydrate(&["install", "--server"]).success();
    let words = ["rollback", "prod", "--reason", "payments fail", "--yes"];
    clone.hydrate(&words).exits(2);
    assert_eq!(tip(&server, PROD), second);
    let told = clone.command(crate::support::BINARY).args(words).env("PUSHER", "ann").output();
    crate::support::Answer::new(told.expect("it runs")).success();
    assert_eq!(value(&server, "environments/prod:web"), "one");
    let note = server.git(&["notes", "--ref=promoter.history", "show", PROD]);
    assert!(note.contains("Promoter-restored-from"), "{note}");
}

#[test]
fn a_preview_needs_no_notes_of_promoter_and_a_rollback_fetches_them() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [first, _]) = promoted(&server);
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-m", "{\"Sha-dry-active\":[\"7\"]}", &first];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    let has_notes = || clone.run("git", &["rev-parse", "-q", "--verify", NOTES]).code == Some(0);
    let without = clone.hydrate(&["diff"]);
    assert!(without.stdout.contains("value: three") && !has_notes(), "{without:?}");
    clone.git(&["fetch", "-q", "origin", &format!("{NOTES}:{NOTES}")]);
    assert_eq!(clone.hydrate(&["diff"]).stdout, without.stdout);
    clone.git(&["update-ref", "-d", NOTES]);
    clone.hydrate(&["rollback", "prod", "--to", &first, "--reason", "x", "--dry-run"]).exits(1);
    assert!(has_notes());
}

#[test]
fn a_staging_branch_is_refused_with_the_reason() {
    let lab = Lab::new();
    let server = lab.server();
    promoted(&server);
    let told = server.hydrate(&["rollback", NEXT, "--reason", "x", "--yes"]).exits(2).stderr;
    assert!(told.contains(&format!("`{NEXT}` is promoted: a promoter takes what it shows at its word")), "{told}");
    assert_eq!(value(&server, "environments/prod-next:web"), "two");
}
