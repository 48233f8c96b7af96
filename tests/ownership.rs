//! Who owns a branch: hydration takes its own records for evidence, and never what pushed commits say of themselves.

mod moved;

use serde_json::Value;

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";
const RECORDS: &str = "refs/hydrate/branches";
const NOTES: &str = "refs/notes/hydrator.metadata";

fn record(server: &Repo, branch: &str) -> Value {
    let text = server.git(&["show", &format!("{RECORDS}:{}.json", branch.replace('/', "%2F"))]);
    serde_json::from_str(&text).expect("JSON")
}

fn has(repo: &Repo, name: &str) -> bool {
    repo.run("git", &["rev-parse", "--quiet", "--verify", name]).code == Some(0)
}

/// Pushes an orphan branch with the files and messages of an attacker, newest last.
fn seed(clone: &Repo, branch: &str, messages: &[&str], files: &[(&str, &str)]) {
    clone.git(&["checkout", "-q", "--orphan", "seed"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    for (index, message) in messages.iter().enumerate() {
        clone.commit(message, if index == 0 { files } else { &[] });
    }
    // Argo CD's own hydrator is no authority either.
    clone.git(&["commit", "-q", "--amend", "--no-edit", "--allow-empty", "--author", "Argo CD <argo-cd@example.com>"]);
    clone.git(&["push", "-q", "origin", &format!("seed:refs/heads/{branch}")]);
    clone.git(&["checkout", "-q", "--force", "main"]);
    clone.git(&["branch", "-q", "-D", "seed"]);
}

/// As it comes out of a move that left records and notes behind.
fn lose_records(server: &Repo) {
    server.git(&["update-ref", "-d", RECORDS]);
    server.git(&["update-ref", "-d", NOTES]);
    std::fs::remove_dir_all(server.path.join("hydrate")).expect("a cache");
}

/// As a version without records left the repository.
fn forget_records(server: &Repo) {
    server.git(&["update-ref", "-d", RECORDS]);
    server.git(&["update-ref", "-d", "refs/hydrate/config"]);
    std::fs::remove_dir_all(server.path.join("hydrate")).expect("a cache");
}

#[test]
fn what_is_hydrated_is_recorded_in_the_same_transaction() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let told = clone.push().success();
    let note =
        "note: dryBranches is now set to main; to change it, on the server: git hydrate config set dryBranches BRANCH";
    assert!(told.remote().join(" ").contains(note), "{told:?}");
    assert_eq!(server.hydrate(&["config", "get", "dryBranches"]).success().stdout, "main\n");
    for branch in [DEV, PROD] {
        let record = record(&server, branch);
        assert_eq!(record["tip"], tip(&server, branch).as_str());
        assert_eq!(record["made"].as_array().expect("a list").len(), 1, "{record}");
        assert_eq!(
            (record["dryBranch"].as_str(), record["drySha"].as_str()),
            (Some("main"), Some(&*tip(&server, "main")))
        );
    }
    let before = server.git(&["rev-parse", RECORDS]);
    let told = clone.push();
    assert!(!told.stderr.contains("dryBranches"), "it is told once: {told:?}");
    clone.commit("docs", &[("NOTES", "text")]);
    clone.push().success();
    assert_eq!(server.git(&["rev-parse", RECORDS]), before, "a push that changes no branch writes no record");
    // A branch that nothing asks for any more and that is gone leaves no record.
    clone.git(&["rm", "-q", "applications/prod/web.yaml"]);
    clone.commit("drop prod\n\nHydrate-Allow-Removal: environments/prod", &[]);
    clone.push().success();
    server.git(&["update-ref", "-d", &format!("refs/heads/{PROD}")]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert!(!server.git(&["ls-tree", "--name-only", RECORDS]).contains("prod"));
}

#[test]
fn a_branch_that_a_pusher_seeded_is_not_taken_over_and_others_hydrate() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let id = clone.git(&["rev-parse", "HEAD"]);
    clone.push().success();
    let metadata = format!("{{\"drySha\":\"{id}\"}}\n");
    let evil = [("evil/manifest.yaml", "kind: Pod\n"), ("hydrator.metadata", metadata.as_str())];
    let forged = |branch: &str| {
        format!("x\n\nHydrate-Branch: {branch}\nHydrate-Dry: {id}\nHydrate-Dry-Branch: main\nHydrate-Engine: 1")
    };
    let forged: [String; 3] = ["environments/t0", "environments/t1", "environments/t2"].map(forged);
    let rows: [(&str, Vec<&str>); 3] = [
        ("environments/t0", vec!["metadata alone"]),
        ("environments/t1", vec![&forged[1]]),
        ("environments/t2", [vec![&*forged[2]], vec!["on top"; 17]].concat()),
    ];
    for (branch, messages) in &rows {
        seed(&clone, branch, messages, &evil);
    }
    let mut files = Vec::new();
    for (index, (branch, _)) in rows.iter().enumerate() {
        let (file, text) = application("web", &format!("t{index}"));
        assert!(text.contains(branch), "{text}");
        files.push((file, text));
        files.push((format!("apps/web/t{index}/config.yaml"), config_map("web", "t")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let before: Vec<String> = rows.iter().map(|(branch, _)| tip(&server, branch)).collect();
    clone.commit("more environments", &[&files[..], &[("apps/web/dev/config.yaml", &config_map("web", "2"))]].concat());
    let told = clone.push().success();
    for ((branch, _), before) in rows.iter().zip(&before) {
        let text = told.remote().join(" ");
        assert!(text.contains(&format!("`{branch}` was not made by hydration, so it is not overwritten")), "{text}");
        assert_eq!(tip(&server, branch), *before, "{branch}");
    }
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "other branches hydrate");
    // The admin sees what is on it, and decides.
    let listed = server.hydrate(&["adopt"]).success().stdout;
    assert!(listed.contains("environments/t1  not made by hydration here: it has a file that no Application makes\n  evil/manifest.yaml\n"), "{listed}");
    let told = server.hydrate(&["adopt", "environments/t1"]).exits(1).stdout;
    assert!(
        told.contains(
            "`environments/t1` has files that no Application makes, which stay as they are: evil/manifest.yaml"
        ),
        "{told}"
    );
    assert_eq!(note(&server, "environments/t1"), note_of(&tip(&server, "main")));
    assert_eq!(server.git(&["show", "environments/t1:evil/manifest.yaml"]), "kind: Pod");
    server.hydrate(&["adopt", "environments/dev"]).exits(2);
    server.hydrate(&["adopt", "--all"]).exits(2);
    server.hydrate(&["adopt", "--all", "--yes"]).success();
    assert_eq!(server.hydrate(&["adopt", "--all"]).success().stdout, "nothing to hand over\n");
    healthy(&server);
}

#[test]
fn a_sync_branch_outside_of_the_allowed_ones_is_not_made() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "branches", "environments/*"]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("api", "dev");
    let staged = text.replace("targetBranch: environments/dev", "targetBranch: colleague/feature");
    let staged = staged.trim_end().to_owned() + "\n    hydrateTo:\n      targetBranch: environments/next\n";
    clone.commit("staged", &[(&file, &staged), ("apps/api/dev/config.yaml", &config_map("api", "1"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("colleague/feature"), "{told}");
    assert!(!has(&server, "refs/heads/colleague/feature") && !has(&server, "refs/heads/environments/next"), "{told}");
    assert!(has(&server, &format!("refs/heads/{DEV}")), "{told}");
}

#[test]
fn a_feature_branch_that_is_pushed_first_or_a_new_head_makes_no_dry_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let dev = tip(&server, DEV);
    clone.git(&["checkout", "-q", "-b", "feature"]);
    let (file, text) = application("web", "prod");
    let text = text.replace("targetRevision: main", "targetRevision: feature");
    clone.commit("mine", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "evil"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`feature` is not a dry branch"), "{told}");
    assert!(told.contains("git hydrate config add dryBranches feature"), "{told}");
    server.git(&["symbolic-ref", "HEAD", "refs/heads/feature"]);
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "evil"))]);
    clone.push().success();
    server.hydrate(&["catch-up"]).success();
    assert!(!has(&server, &format!("refs/heads/{PROD}")));
    assert_eq!(tip(&server, DEV), dev);
    server.hydrate(&["config", "add", "dryBranches", "feature"]).success();
    assert!(has(&server, &format!("refs/heads/{PROD}")));
}

#[test]
fn an_upgrade_keeps_the_branches_that_head_made_dry_beside_the_setting() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    forget_records(&server);
    // What a version without records meant: these besides the one that HEAD names.
    let text = "dryBranches: [release]\n";
    std::fs::write(server.path.join("settings"), text).expect("written");
    let commit = server.run(
        "sh",
        &["-ec", "git commit-tree -m old $(printf '100644 blob %s\\tsettings.yaml\\n' $(git hash-object -w settings) | git mktree)"],
    );
    server.git(&["update-ref", "refs/hydrate/config", commit.success().stdout.trim()]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("dryBranches is now set to main, release"), "{told}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{told}");
}

#[test]
fn a_dry_branch_that_is_renamed_keeps_its_environments() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let dev = tip(&server, DEV);
    server.git(&["branch", "-m", "main", "trunk"]);
    clone.git(&["checkout", "-q", "-b", "trunk"]);
    let (file, text) = application("web", "dev");
    clone.commit("rename", &[(&file, &text.replace("targetRevision: main", "targetRevision: trunk"))]);
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("git hydrate config set dryBranches trunk"), "{told}");
    server.hydrate(&["config", "set", "dryBranches", "trunk"]).success();
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "trunk")));
    assert_eq!(record(&server, DEV)["dryBranch"], "trunk");
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    server.git(&["merge-base", "--is-ancestor", &dev, DEV]);
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "trunk")));
}

#[test]
fn the_dry_branch_is_the_only_one_pushed_where_head_does_not_exist() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["branch", "-q", "other"]);
    let told = clone.run("git", &["push", "origin", "HEAD:main", "other"]).success().remote().join("\n");
    assert!(told.contains("nothing is hydrated: the dry branch cannot be determined"), "{told}");
    assert!(!has(&server, &format!("refs/heads/{DEV}")));
    clone.commit("again", &[]);
    clone.run("git", &["push", "origin", "HEAD:main"]).success();
    assert!(has(&server, &format!("refs/heads/{DEV}")));
    assert_eq!(server.hydrate(&["config", "get", "dryBranches"]).success().stdout, "main\n");
}

#[test]
fn the_audit_finds_a_branch_that_is_not_where_hydration_left_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("next", &[("apps/web/prod/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    let prod = tip(&server, PROD);
    server.hydrate(&["verify"]).success();
    for to in [DEV, &format!("{PROD}~1"), ""] {
        match to {
            "" => server.git(&["update-ref", "-d", &format!("refs/heads/{PROD}")]),
            to => server.git(&["update-ref", &format!("refs/heads/{PROD}"), to]),
        };
        let told = server.hydrate(&["verify"]).exits(1).stdout;
        assert!(told.contains(&format!("the branch is neither at {prod}, where hydration left it")), "{to}: {told}");
        server.git(&["update-ref", &format!("refs/heads/{PROD}"), &prod]);
    }
    server.hydrate(&["verify"]).success();
}

#[test]
fn branches_that_are_named_or_reserved_are_closed_before_they_exist() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["branch", "-q", "mine"]);
    clone.run("git", &["push", "-q", "origin", "mine:refs/heads/live", "main"]).success();
    let (file, text) = application("api", "dev");
    let staged = text.replace("targetBranch: environments/dev", "targetBranch: live");
    let staged = staged.trim_end().to_owned() + "\n    hydrateTo:\n      targetBranch: live-next\n";
    clone.commit("staged", &[(&file, &staged), ("apps/api/dev/config.yaml", &config_map("api", "1"))]);
    // In the push that brings the Application, and ever after; whether the branch is there already or not.
    let refused = |args: &[&str]| {
        let told = clone.run("git", &[&["push", "origin"], args].concat()).exits(1).stderr;
        let is_told = told.contains("is hydrated from `main`") || told.contains("matches the setting `branches`");
        assert!(is_told, "{told}");
    };
    clone.git(&["checkout", "-q", "mine"]);
    clone.commit("by hand", &[("api/manifest.yaml", "kind: Pod\n")]);
    clone.git(&["checkout", "-q", "main"]);
    refused(&["main", "mine:refs/heads/live"]);
    refused(&["main", "mine:refs/heads/live-next"]);
    clone.push().success();
    refused(&["--force", "mine:refs/heads/live"]);
    refused(&["--force", "mine:refs/heads/live-next"]);
    clone.git(&["push", "-q", "origin", "mine:refs/heads/stage/qa"]);
    // Somebody made `live`, so its staging branch waits, as it did before.
    let told = server.hydrate(&["config", "set", "branches", "live*", "stage/*", "environments/*"]).success().stdout;
    assert!(told.contains("live-next was not up to date before either"), "{told}");
    refused(&["--force", "main:refs/heads/stage/qa"]);
    refused(&["main:refs/heads/stage/prod"]);
    clone.git(&["push", "-q", "origin", "mine:refs/heads/topic"]);
}

/// Commits an Application that is staged on `environments/new-next` and promoted to `environments/new`.
fn staged(clone: &Repo) -> String {
    let (file, text) = application("web", "new");
    let text = format!("{text}    hydrateTo:\n      targetBranch: environments/new-next\n");
    clone.commit("stage", &[(&file, &text), ("apps/web/new/config.yaml", &config_map("web", "new"))])
}

#[test]
fn an_active_branch_that_a_pusher_prepared_is_not_built_on_until_it_is_handed_over() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    seed(&clone, "environments/new", &["prepared"], &[("web/manifest.yaml", "kind: Evil\n"), ("web/x.yaml", "x: 1\n")]);
    staged(&clone);
    let told = clone.push().success().remote().join(" ");
    let error = "`environments/new`, which `environments/new-next` is promoted to, was not made by hydration";
    assert!(told.contains(error) && told.contains("git hydrate adopt environments/new"), "{told}");
    assert!(!has(&server, "refs/heads/environments/new-next"), "{told}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "other branches hydrate");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("not made by hydration") && !status.contains("written by a promoter"), "{status}");
    let verified = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(verified.contains("environments/new") && verified.contains("was not made by hydration"), "{verified}");
    let listed = server.hydrate(&["adopt"]).success().stdout;
    assert!(
        listed.contains("environments/new  not made by hydration here") && listed.contains("web/x.yaml"),
        "{listed}"
    );
    let told = server.hydrate(&["adopt", "environments/new"]).success().stdout;
    assert!(told.contains("has files that no Application makes, which stay as they are: web/x.yaml"), "{told}");
    assert_eq!(server.git(&["rev-parse", "environments/new-next~1"]), tip(&server, "environments/new"));
    assert_eq!(record(&server, "environments/new")["initial"], true);
    server.hydrate(&["status"]).success();
    server.hydrate(&["verify"]).success();
    healthy(&server);
}

#[test]
fn what_a_promoter_makes_of_an_active_branch_stays_in_order() {
    for (way, forgets) in
        [("merge", false), ("squash", false), ("ff", false), ("merge", true), ("squash", true), ("ff", true)]
    {
        let lab = Lab::new();
        let server = lab.server();
        server.git(&["config", "hydrate.guard", "false"]);
        let clone = dry(&server, &["web"], &["dev"]);
        staged(&clone);
        clone.push().success();
        for round in ["1", "2"] {
            clone.git(&["fetch", "-q", "-f", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
            clone.git(&["checkout", "-q", "-B", "promote", "origin/environments/new"]);
            match way {
                "merge" => clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/new-next"]),
                "ff" => clone.git(&["merge", "-q", "--ff-only", "origin/environments/new-next"]),
                _ => {
                    clone.git(&["read-tree", "-u", "--reset", "origin/environments/new-next"]);
                    clone.git(&["commit", "-q", "-m", "Promote"])
                }
            };
            clone.git(&["push", "-q", "origin", "HEAD:environments/new"]);
            clone.git(&["checkout", "-q", "main"]);
            if forgets && round == "1" {
                forget_records(&server);
            }
            clone.commit(round, &[("apps/web/new/config.yaml", &config_map("web", round))]);
            let told = clone.push().success();
            assert!(!told.stderr.contains("error"), "{way}, {forgets}: {told:?}");
            assert_eq!(note(&server, "environments/new-next"), note_of(&tip(&server, "main")), "{way}, {forgets}");
            assert_eq!(record(&server, "environments/new")["initial"], true, "{way}, {forgets}");
        }
        server.hydrate(&["status"]).success();
    }
}

#[test]
fn a_dry_branch_that_is_deleted_leaves_its_environments_to_no_other() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "dryBranches", "main", "team"]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["checkout", "-q", "-b", "team"]);
    clone.git(&["push", "-q", "origin", "main", "team"]);
    assert_eq!(record(&server, DEV)["dryBranch"], "main");
    let (dev, main) = (tip(&server, DEV), tip(&server, "main"));
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    let (file, text) = application("web", "dev");
    let other = text.replace("targetRevision: main", "targetRevision: team");
    clone.commit("take it", &[(&file, &other), ("apps/web/dev/config.yaml", &config_map("web", "other"))]);
    let told = clone.run("git", &["push", "origin", ":main", "team"]).success().remote().join(" ");
    assert!(told.contains("`environments/dev` is hydrated from `main`, not from `team`"), "{told}");
    assert!(told.contains("git hydrate config set dryBranches team"), "{told}");
    assert_eq!(tip(&server, DEV), dev);
    // It comes back as it was, and goes on.
    clone.git(&["push", "-q", "origin", &format!("{main}:refs/heads/main")]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
    // An admin decides otherwise.
    clone.git(&["push", "-q", "origin", ":main"]);
    server.hydrate(&["config", "set", "dryBranches", "team"]).success();
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "team")));
    healthy(&server);
}

#[test]
fn a_branch_that_only_claims_to_be_hydrated_is_not_audited_unless_named() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let forged = format!(
        "x\n\nHydrate-Branch: {DEV}\nHydrate-Dry: {}\nHydrate-Dry-Branch: main\nHydrate-Engine: 1",
        "1".repeat(40)
    );
    seed(&clone, "feature", &[&forged], &[("web/manifest.yaml", "kind: Evil\n")]);
    let audit = server.hydrate(&["verify"]).success().stdout;
    assert!(!audit.contains("feature"), "{audit}");
    server.hydrate(&["verify", "feature"]).exits(1);
}

#[test]
fn branches_of_argo_cds_hydrator_are_handed_over_under_its_profile_without_a_change() {
    let lab = Lab::new();
    let argo = lab.server();
    argo.hydrate(&["config", "set", "profile", "argocd"]).success();
    let clone = argo.clone_to("clone");
    let (file, text) = application("web", "prod");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    let template = config_map("{{ .Release.Name }}-a", "one");
    clone.commit(
        "web",
        &[(&file, &text), ("apps/web/prod/Chart.yaml", chart), ("apps/web/prod/templates/a.yaml", &template)],
    );
    clone.push().success();
    // What its hydrator writes has none of our trailers.
    let tree = argo.git(&["rev-parse", "environments/prod^{tree}"]);
    let made = argo.git(&["commit-tree", "-m", "[Argo CD Bot] hydrate", &tree]);
    let server = argo.beside("moved.git");
    argo.git(&["init", "-q", "--bare", server.path.to_str().expect("UTF-8")]);
    server.git(&["fetch", "-q", "../dry.git", "main:main", &format!("{made}:environments/prod")]);
    server.install_without_settings();
    let refused = server.hydrate(&["adopt", "--all"]).exits(2).stderr;
    assert!(refused.contains("git hydrate config set profile argocd"), "{refused}");
    assert_eq!(tip(&server, "environments/prod"), made);
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    server.hydrate(&["adopt", "--all"]).success();
    assert_eq!(tip(&server, "environments/prod"), made, "nothing is to be changed");
    assert_eq!(server.hydrate(&["adopt", "--all"]).success().stdout, "nothing to hand over\n");
}
