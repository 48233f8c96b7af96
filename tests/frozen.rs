//! The setting `frozen`: a branch that gets no commit until it ends, and one for the newest dry commit then.

use crate::push::{application, both, config_map, dry, note, note_of, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";
const FREEZE: &str = "{reason: release week}";

/// `web` on dev and prod, hydrated.
fn hydrated(server: &Repo) -> Repo {
    let clone = dry(server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone
}

fn freeze(server: &Repo) {
    let told = server.hydrate(&["config", "set", "frozen.environments/prod", FREEZE]).success();
    assert!(told.stdout.contains("frozen: release week"), "{told:?}");
    let end =
        "note: the freeze of `environments/prod` lasts until: git hydrate config unset frozen.environments/prod\n";
    assert!(told.stderr.contains(end), "{told:?}");
}

/// A commit that changes both environments.
fn change(clone: &Repo, value: &str) -> String {
    let files = ["dev", "prod"].map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", value)));
    let files = files.each_ref().map(|(path, text)| (path.as_str(), text.as_str()));
    clone.commit(&format!("web: {value}"), &files)
}

/// What must not move: the branch, its note and its record.
fn state(server: &Repo) -> [String; 3] {
    let record = server.git(&["show", "refs/hydrate/branches:environments%2Fprod.json"]);
    [tip(server, PROD), note(server, PROD), record]
}

fn count(server: &Repo) -> usize {
    server.git(&["rev-list", "--count", PROD]).parse().expect("a number")
}

#[test]
fn a_frozen_branch_stays_and_gets_one_commit_when_the_freeze_ends() {
    both(|server| {
        let clone = hydrated(server);
        freeze(server);
        let (before, commits) = (state(server), count(server));
        for value in ["two", "three", "four"] {
            change(&clone, value);
            let told = clone.push().success().remote().join("\n");
            let expected = format!("{PROD}  stays at {}, frozen: release week", &before[0][..7]);
            assert!(told.contains(&expected) && !told.contains("error"), "{told}");
            assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains(value));
            assert_eq!(state(server), before);
        }
        // A push that touches nothing, and one with a broken document, change nothing of that.
        clone.commit("notes", &[("NOTES", "x")]);
        clone.push().success();
        assert_eq!(state(server), before);
        server.hydrate(&["catch-up"]).success();
        assert_eq!(state(server), before);
        verified(server);
        let told = server.hydrate(&["config", "unset", "frozen"]).success().stdout;
        assert!(!told.contains("frozen") && told.contains("1 of 1 manifests changed: 1 object changed\n"), "{told}");
        assert_eq!(count(server), commits + 1);
        assert!(server.git(&["show", "environments/prod:web/manifest.yaml"]).contains("value: four"));
        verified(server);
        // From here on, each dry commit has its own again.
        change(&clone, "five");
        change(&clone, "six");
        clone.push().success();
        assert_eq!(count(server), commits + 3);
        verified(server);
    });
}

#[test]
fn whoever_asks_reads_that_a_branch_is_frozen_and_why() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    server.install_without_settings();
    freeze(&server);
    change(&clone, "two");
    clone.push().success();
    let before = state(&server);
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains("1 dry commit behind, frozen since 20") && status.contains(": release week"), "{status}");
    let end = "\n  an admin ends the freeze on the server: git hydrate config unset frozen.environments/prod\n";
    assert!(status.contains(end), "{status}");
    let status = server.hydrate(&["status", "--json"]).success().stdout;
    assert!(status.contains("\"reason\": \"release week\"") && status.contains("\"since\": \"20"), "{status}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("environments/prod is frozen since 20"), "{doctor}");
    assert!(!doctor.contains("environments/prod is 1 commit behind"), "{doctor}");
    let caught_up = server.hydrate(&["catch-up", "--json"]).success().stdout;
    assert!(caught_up.contains("\"outcome\": \"frozen\""), "{caught_up}");

    // A clone makes of each branch what the server did, and previews say it too.
    change(&clone, "three");
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    let told = clone.hydrate(&[]).success().stdout;
    assert!(told.contains("environments/prod") && told.contains("frozen: release week"), "{told}");
    let made = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
    let planned = clone.hydrate(&["plan"]).success().stdout;
    assert!(planned.contains("environments/prod  frozen: release week"), "{planned}");
    let diff = clone.hydrate(&["diff"]).stdout;
    assert!(diff.contains("environments/prod  frozen: release week"), "{diff}");
    let diff = clone.hydrate(&["diff", "--json"]).stdout;
    assert!(diff.contains("\"frozen\"") && diff.contains("\"reason\": \"release week\""), "{diff}");
    // Between two dry commits, it shows what is different.
    let diff = clone.hydrate(&["diff", "--against", "HEAD~1"]);
    assert!(diff.stdout.contains("environments/prod") && !diff.stdout.contains("frozen"), "{diff:?}");
    clone.push().success();
    assert_eq!((tip(&server, "environments/dev"), state(&server)), (made, before));

    // The remote helper serves the branch as upstream has it.
    let url = format!("hydrate::file://{}", server.path.display());
    server.run("git", &["clone", "-q", &url, "../served"]).success();
    let served = Repo::at(&lab, "served");
    for branch in ["environments/dev", PROD] {
        assert_eq!(served.git(&["rev-parse", &format!("refs/remotes/origin/{branch}")]), tip(&server, branch));
    }
}

/// Without it, what waits passes a review and is deployed when nobody looks.
#[test]
fn each_form_of_a_preview_names_the_freeze_and_shows_what_it_holds_back() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let nothing = clone.hydrate(&["diff"]).success().stdout;
    assert!(!nothing.contains("frozen"), "{nothing}");
    freeze(&server);
    // Held back from an earlier push.
    change(&clone, "two");
    clone.push().success();
    let page = lab.path("page.html");
    let html = format!("--html={}", page.display());
    for form in [&["diff"][..], &["diff", "--stat"], &["diff", "--markdown"], &["diff", "--json"], &["diff", &html]] {
        let told = clone.hydrate(form).exits(1);
        let shown = if form.contains(&&*html) {
            std::fs::read_to_string(&page).expect("written").replace("&#x2f;", "/")
        } else {
            told.stdout
        };
        assert!(shown.contains("release week") && shown.contains(PROD), "{form:?}: {shown}");
        let held = if form.contains(&"--json") { "\"change\": \"changed\"" } else { "held back" };
        assert!(shown.contains(held), "{form:?}: {shown}");
    }
    let fields = clone.hydrate(&["diff"]).stdout;
    assert!(fields.contains("held back, and deployed when that ends:") && fields.contains("value: two"), "{fields}");
    let planned = clone.hydrate(&["plan"]).success().stdout;
    assert!(planned.contains(&format!("{PROD}  frozen: release week; held back until that ends:")), "{planned}");
    // What changes nothing there is held back by nothing.
    server.hydrate(&["config", "unset", "frozen"]).success();
    clone.hydrate(&["diff"]).success();
    freeze(&server);
    let nothing = clone.hydrate(&["diff"]).success().stdout;
    assert!(nothing.contains("frozen: release week; nothing is held back"), "{nothing}");
}

#[test]
fn a_pusher_is_told_what_is_wrong_with_the_documents_of_a_frozen_branch() {
    both(|server| {
        let clone = hydrated(server);
        freeze(server);
        let before = state(server);
        let (file, text) = application("web", "prod");
        clone.commit("slip", &[(&file, &text.replace("path: apps/web/prod", "path: ../x"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("warning: ") && told.contains(&format!("{file}:")) && !told.contains("error"), "{told}");
        assert_eq!(state(server), before);
        // Again, while nothing else changes; and no more once it is right.
        clone.commit("notes", &[("NOTES", "x")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(&format!("{file}:")), "{told}");
        clone.commit("mend it", &[(&file, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains(&format!("{file}:")), "{told}");
        assert_eq!(state(server), before);
    });
}

#[test]
fn a_pusher_reads_before_the_push_that_a_branch_is_frozen() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    clone.hydrate(&["install", "--client"]).success();
    freeze(&server);
    let before = state(&server);
    clone.git(&["fetch", "-q"]);
    change(&clone, "two");
    let told = clone.push().success().stderr;
    let ours: Vec<&str> = told.lines().filter(|line| !line.starts_with("remote:")).collect();
    assert!(
        ours.iter().any(|line| line.contains("environments/prod") && line.contains("frozen: release week")),
        "{told}"
    );
    assert!(ours.iter().any(|line| line.contains("environments/dev") && line.contains("changed")), "{told}");
    assert_eq!(state(&server), before);
    // What would not render there stops no push.
    clone.commit("slip", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push().success();
    assert_eq!(state(&server), before);
}

#[test]
fn catch_up_makes_every_commit_when_it_is_asked_to() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    freeze(&server);
    let commits = count(&server);
    for value in ["two", "three", "four"] {
        change(&clone, value);
    }
    clone.push().success();
    assert_eq!(count(&server), commits);
    // It ended in the meantime, and nothing was pushed since.
    clone
        .hydrate(&["config", "set", "frozen.environments/prod", "{reason: release week, until: 2024-01-01}"])
        .success();
    server.git(&["fetch", "-q", "../clone", "+refs/hydrate/config:refs/hydrate/config"]);
    assert_eq!(count(&server), commits);
    server.hydrate(&["catch-up", "--every"]).success();
    assert_eq!(count(&server), commits + 3);
    verified(&server);
    assert!(server.hydrate(&["status"]).success().stdout.contains("environments/prod"));
}

#[test]
fn strict_mode_judges_a_frozen_branch_as_if_it_were_not() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = hydrated(&server);
    freeze(&server);
    let before = state(&server);
    clone.commit("break prod", &[("apps/web/prod/config.yaml", BROKEN)]);
    let told = clone.push().exits(1);
    assert!(told.remote().join("\n").contains("error: not valid YAML"), "{told:?}");
    let dry = change(&clone, "two");
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("frozen: release week"), "{told}");
    assert_eq!((state(&server), tip(&server, "main")), (before, dry));
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("two"));
    server.hydrate(&["config", "unset", "frozen"]).success();
    assert!(server.git(&["show", "environments/prod:web/manifest.yaml"]).contains("two"));
    verified(&server);
}

#[test]
fn what_is_frozen_from_the_start_is_not_made() {
    both(|server| {
        server.hydrate(&["config", "set", "frozen", "{'environments/prod*': {reason: not yet}}"]).success();
        let clone = dry(server, &["web"], &["dev", "prod"]);
        // A staging branch starts its active branch, which is frozen.
        let (file, text) = application("web", "prod");
        let staged = text + "    hydrateTo:\n      targetBranch: next/prod\n";
        clone.commit("stage prod", &[(&file, &staged)]);
        for _ in 0..2 {
            let told = clone.push().success().remote().join("\n");
            assert!(told.contains("next/prod") && told.contains("not made, frozen: not yet"), "{told}");
            let branches = server.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]);
            assert_eq!(branches, "environments/dev\nmain");
            clone.commit("notes", &[("NOTES", "x")]);
        }
        assert!(server.hydrate(&["status"]).success().stdout.contains("environments/dev"));
        server.hydrate(&["config", "unset", "frozen"]).success();
        assert!(server.git(&["show", "next/prod:web/manifest.yaml"]).contains("prod"));
        verified(server);
    });
}

#[test]
fn a_glob_that_matches_no_branch_is_told() {
    let lab = Lab::new();
    let server = lab.server();
    hydrated(&server);
    let said = server.hydrate(&["config", "set", "frozen.environments/pord", FREEZE]).success();
    let expected = "warning: the setting `frozen` names `environments/pord`, which matches no environment branch";
    assert!(
        said.stdout.contains(expected) && said.stdout.contains("config unset frozen.environments/pord"),
        "{said:?}"
    );
    for (key, word) in [("validate", "refuse"), ("kubernetes", "1.34")] {
        let said = server.hydrate(&["config", "set", key, &format!("{{environments/prd: {word}}}")]).success();
        let expected =
            format!("warning: the setting `{key}` names `environments/prd`, which matches no environment branch");
        assert!(said.stdout.contains(&expected), "{said:?}");
    }
    // A key of git's configuration is not a setting, nor the other way round.
    let said = server.hydrate(&["config", "set", "strict", "touched"]).stderr;
    assert!(
        said.contains("`strict` is not a setting but a key of git's configuration: git config hydrate.strict"),
        "{said}"
    );
    server.git(&["config", "hydrate.validate", "refuse"]);
    let said = server.hydrate(&["doctor"]).stdout;
    assert!(said.contains("hydrate.validate does nothing: `validate` is a setting"), "{said}");
    server.hydrate(&["config", "set", "tools", "argocd=v3.4.1"]).success();
}

#[test]
fn manifests_of_another_renderer_are_refused_too() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    freeze(&server);
    let before = state(&server);
    let dry = clone.git(&["rev-parse", "HEAD"]);
    let date = clone.git(&["log", "-1", "--format=%cI"]);
    let request = format!(
        "{{\"repoURL\": \"https://git.example.com/dry.git\", \"targetBranch\": \"{PROD}\", \"drySHA\": \"{dry}\", \
         \"commitAuthor\": \"Dev Eloper <dev@example.com>\", \"commitMessage\": \"feat: all applications\", \
         \"commitTime\": \"{date}\", \"details\": [{{\"path\": \"web\", \"manifests\": [\"{{\\\"apiVersion\\\": \\\"v1\\\", \
         \\\"kind\\\": \\\"ConfigMap\\\", \\\"metadata\\\": {{\\\"name\\\": \\\"x\\\"}}}}\"], \"commands\": []}}]}}"
    );
    let told = server.hydrate_with(&["commit"], &request).exits(1);
    assert!(told.stdout.contains("error: `environments/prod` is frozen: release week"), "{told:?}");
    assert_eq!(state(&server), before);
}

#[test]
fn a_frozen_branch_that_is_to_be_promoted_keeps_its_record() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    freeze(&server);
    let before = state(&server);
    let (path, text) = application("web", "prod");
    clone.commit("stage prod", &[(&path, &format!("{text}    hydrateTo: {{targetBranch: {PROD}-next}}\n"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(&format!("{PROD}-next")), "{told}");
    assert_eq!(state(&server), before);
    // The freeze is no mistake because no Application writes the branch now.
    clone.commit("no prod", &[(&path, &text.replace(PROD, "environments/Prod"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("matches no environment branch"), "{told}");
    clone.commit("as before", &[(&path, &text)]);
    clone.push().success();
    assert_eq!(state(&server), before);
    // Others would be emptied, as pushes have said.
    assert_eq!(server.hydrate(&["status"]).exits(1).stdout.matches("no Application names it any more").count(), 2);
    server.hydrate(&["config", "unset", "frozen"]).success();
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")));
}
