//! `git hydrate log`: hydrated history with the dry commits behind it.

use serde_json::Value;

use crate::push::{config_map, dry};
use crate::support::{Answer, Lab, Repo};

/// A server with the Applications web and api in dev and prod, and four more dry commits: web in dev, nothing that is
/// hydrated, a mistake for dev, and api everywhere.
fn history(lab: &Lab) -> (Repo, Repo, Vec<String>) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    let mut commits = vec![clone.git(&["rev-parse", "HEAD"])];
    clone.push().success();
    let good = config_map("api", "both");
    let steps: [(&str, Vec<(&str, String)>); 4] = [
        ("web in dev", vec![("apps/web/dev/config.yaml", config_map("web", "v2"))]),
        ("docs", vec![("README.md", "docs".to_owned())]),
        ("slip", vec![("apps/api/dev/config.yaml", config_map("api", "["))]),
        (
            "api",
            vec![
                ("apps/api/dev/config.yaml", good.clone()),
                ("apps/api/prod/config.yaml", good + "---\n" + &config_map("more", "x")),
            ],
        ),
    ];
    for (message, files) in steps {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        commits.push(clone.commit(message, &files));
        clone.push().success();
    }
    (server, clone, commits)
}

fn log(repo: &Repo, args: &[&str]) -> Vec<Value> {
    let answer = repo.hydrate(&[&["log", "--json"], args].concat()).success();
    let mut log: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    serde_json::from_value(log["commits"].take()).expect("a list")
}

/// The subjects of dry commits, or of commits without one.
fn subjects(entries: &[Value]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry["dry"]["subject"].as_str().or(entry["subject"].as_str()).expect("a text"))
        .collect()
}

#[test]
fn each_commit_shows_its_dry_commit_and_what_it_changed() {
    let lab = Lab::new();
    let (server, clone, commits) = history(&lab);
    for repo in [&server, &clone] {
        let dev = log(repo, &["environments/dev"]);
        let first = "feat: all applications";
        assert_eq!(subjects(&dev), ["api", "web in dev", first, "Initial commit for environments/dev"]);
        assert_eq!(dev[0]["dry"]["sha"], commits[4].as_str());
        assert_eq!(dev[0]["id"], server.git(&["rev-parse", "environments/dev"]).as_str());
        assert_eq!(dev[0]["changed"][0]["path"], "api");
        assert_eq!(dev[0]["changed"][0]["applications"], serde_json::json!(["api-dev"]));
        assert_eq!(dev[0]["changed"][0]["objects"]["changed"], 1);
        // The slip has a record; the docs changed nothing, and their note says so.
        assert_eq!(dev[0]["skipped"].as_array().map(Vec::len), Some(1), "{}", dev[0]);
        assert_eq!(dev[0]["skipped"][0]["sha"], commits[3].as_str());
        assert!(dev[0]["skipped"][0]["message"].as_str().expect("recorded").contains("YAML"));
        assert_eq!(dev[1].get("skipped"), None);
        assert_eq!(dev[2]["changed"].as_array().map(Vec::len), Some(2));
        let prod = log(repo, &["environments/prod"]);
        assert_eq!(prod[0]["changed"][0]["objects"], serde_json::json!({"added": 1, "changed": 1, "removed": 0}));
        let all = log(repo, &[]);
        assert_eq!(all.len(), dev.len() + prod.len());
        assert_eq!(log(repo, &["-n", "2"]), all[..2]);
    }
}

#[test]
fn applications_paths_and_ranges_select() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    let rows: [(&[&str], &[&str]); 6] = [
        (&["--application", "web-dev"], &["web in dev", "feat: all applications"]),
        (&["environments/dev", "--", "api"], &["api", "feat: all applications"]),
        (&["environments/dev", "--", "api/manifest.yaml"], &["api", "feat: all applications"]),
        (&["environments/dev", "--application", "api-prod"], &[]),
        (&["environments/dev~2..environments/dev"], &["api", "web in dev"]),
        (&["environments/dev", "-n1"], &["api"]),
    ];
    for (args, expected) in rows {
        assert_eq!(subjects(&log(&server, args)), expected, "{args:?}");
    }
    clone.commit("ahead", &[("apps/web/prod/config.yaml", &config_map("web", "ahead"))]);
    clone.hydrate(&[]).success();
    assert_eq!(subjects(&log(&clone, &["hydrate/environments/prod", "-n1"])), ["ahead"]);
    assert_eq!(subjects(&log(&clone, &["environments/prod", "-n1"])), ["api"]);
    let answer = clone.hydrate(&["log", "main"]).exits(2);
    assert!(
        answer.stderr.contains("the hydrated branches are environments/dev, environments/prod"),
        "{}",
        answer.stderr
    );
    clone.hydrate(&["log", "no-such-branch"]).exits(2);
}

#[test]
fn what_failed_stands_on_top() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    clone.commit("broken", &[("apps/web/dev/config.yaml", &config_map("web", "["))]);
    clone.push().success();
    let entries = log(&server, &["environments/dev", "-n", "1"]);
    assert_eq!((subjects(&entries), entries[0].get("id")), (vec!["broken"], None));
    let text = server.hydrate(&["log", "environments/dev", "-n", "2"]).success().stdout;
    let place = "apps/web/dev/config.yaml:";
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "failed");
    assert!(lines[1].ends_with(" broken") && lines.iter().any(|line| line.contains(place)), "{text}");
    let tip = server.git(&["rev-parse", "environments/dev"]);
    assert!(lines.contains(&&tip[..7]), "{text}");
    let lines = server.hydrate(&["log", "--oneline", "environments/prod"]).success().stdout;
    assert!(lines.lines().next().is_some_and(|line| line.ends_with(" api (1 object changed, 1 added)")), "{lines}");
}

#[test]
fn promotions_lead_to_the_dry_commit_too() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = crate::push::application("web", "dev");
    let staged = format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n");
    let dry_commit = clone.commit("staged", &[(&file, &staged)]);
    clone.push().success();
    server.git(&["config", "hydrate.guard", "false"]);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promote", "origin/environments/dev"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/dev-next"]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/dev"]);
    let entries = log(&server, &["environments/dev"]);
    assert_eq!((&entries[0]["subject"], &entries[0]["dry"]["sha"]), (&"Promote".into(), &dry_commit.into()));
    assert_eq!(entries[0]["changed"][0]["objects"]["added"], 1);
}

#[test]
fn time_author_and_environment_select() {
    let lab = Lab::new();
    let (_, clone, _) = history(&lab);
    let all = log(&clone, &[]);
    let prod: Vec<&Value> = all.iter().filter(|entry| entry["branch"] == "environments/prod").collect();
    assert_eq!(log(&clone, &["--environment", "prod"]).iter().collect::<Vec<_>>(), prod);
    assert_eq!(log(&clone, &["--environment", "environments/prod"]).iter().collect::<Vec<_>>(), prod);
    let unknown = clone.hydrate(&["log", "--environment", "qa"]).exits(2).stderr;
    assert!(
        unknown.contains("there is no environment branch `qa`; there are environments/dev, environments/prod"),
        "{unknown}"
    );
    let newest = all[0]["date"].as_str().expect("a date");
    assert!(log(&clone, &["--since", newest]).iter().all(|entry| entry["date"] == newest));
    assert_eq!(log(&clone, &["--until", newest]), all);
    assert_eq!(log(&clone, &["--until", "1990-01-01"]), Vec::<Value>::new());
    let author = all.iter().find_map(|entry| entry["dry"]["author"].as_str()).expect("an author");
    let by = log(&clone, &["--author", &author.to_uppercase()]);
    assert!(!by.is_empty() && by.iter().all(|entry| entry["dry"]["author"] == author));
    assert_eq!(log(&clone, &["--author", "nobody else"]), Vec::<Value>::new());
}

#[test]
fn a_patch_shows_objects_and_fields() {
    let lab = Lab::new();
    let (_, clone, _) = history(&lab);
    let shown = clone.hydrate(&["log", "environments/prod", "-n", "1", "-p"]).success().stdout;
    let expected = "
    api
      ~ ConfigMap api
          data
        -   value: prod
        +   value: both
      + ConfigMap more
        + apiVersion: v1
";
    assert!(shown.contains(expected), "{shown}");
    clone.hydrate(&["log", "-p", "--json"]).exits(2);
}

#[test]
fn what_was_deployed_lately_is_listed_whatever_date_its_dry_commit_has() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "core.logAllRefUpdates", "true"]);
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "hydrate.log", "hydrate/log"]);
    let clone = dry(&server, &["web"], &["dev"]);
    for n in 1..4 {
        clone.commit(&format!("of 2023, {n}"), &[("apps/web/dev/config.yaml", &config_map("web", &n.to_string()))]);
    }
    let mut push = clone.command("git");
    push.args(["push", "-q", "origin", "main"]).env("PUSHER", "alice");
    Answer::new(push.output().expect("runs")).success();
    clone.commit("of 2023, too", &[("apps/web/dev/config.yaml", &config_map("web", "4"))]);
    clone.push().success();
    // The dates of the commits are of 2023.
    let lately = server.hydrate(&["log", "environments/dev", "--since", "2 hours ago", "--json"]).success().stdout;
    let found: Value = serde_json::from_str(&lately).expect("JSON");
    let moved = |index: usize| found["commits"][index]["moved"].clone();
    assert_eq!(found["commits"].as_array().map(Vec::len), Some(2), "{found}");
    assert_eq!(moved(0)["by"], Value::Null, "{found}");
    assert_eq!(moved(1)["by"], "alice", "{found}");
    let before = server.hydrate(&["log", "environments/dev", "--until", "2 hours ago"]).success().stdout;
    assert!(!before.contains("of 2023"), "{before}");
    let told = server.hydrate(&["log", "environments/dev", "-n", "2"]).success().stdout;
    assert!(told.contains("  deployed 20") && told.contains(" by a push of alice\n"), "{told}");
    let reflog = server.git(&["log", "-g", "--format=%gs", "environments/dev"]);
    assert!(reflog.lines().eq(["hydrate", "hydrate: push of alice"]), "{reflog}");
    let log = std::fs::read_to_string(server.path.join("hydrate/log")).expect("written");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines[0]["pusher"].as_str(), lines[1].get("pusher")), (Some("alice"), None), "{log}");
    assert!(lines.iter().all(|line| line["milliseconds"].is_u64()), "{log}");
    assert!(lines[0]["repository"].as_str().is_some_and(|path| path.ends_with("dry.git")), "{log}");
    // A clone knows the dates of the commits alone.
    clone.git(&["fetch", "-q"]);
    let told = clone.hydrate(&["log", "environments/dev", "--since", "2 hours ago"]).success().stdout;
    assert_eq!(told, "");
    assert!(!clone.hydrate(&["log", "environments/dev"]).success().stdout.contains("deployed"));
}

#[test]
fn a_commit_by_hand_is_shown_with_its_author_as_none_of_hydration() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "byhand", "origin/environments/dev"]);
    clone.commit("hot fix", &[("web/manifest.yaml", &config_map("web", "byhand"))]);
    let path = clone.path.to_str().expect("UTF-8");
    server.git(&["fetch", "-q", path, "byhand:environments/dev"]);
    let entries = log(&server, &["environments/dev"]);
    assert_eq!(entries[0]["madeByOthers"]["author"], "Dev Eloper <dev@example.com>");
    assert_eq!((entries[0].get("dry"), entries[1].get("madeByOthers")), (None, None));
    let text = server.hydrate(&["log", "environments/dev", "-n", "1"]).success().stdout;
    assert!(
        text.contains("\n  not made by hydration\n") && text.contains("\n  Dev Eloper <dev@example.com>, "),
        "{text}"
    );
    let text = server.hydrate(&["log", "--oneline", "environments/dev"]).success().stdout;
    assert_eq!(text.matches(", not made by hydration").count(), 1, "{text}");
}

#[test]
fn the_last_part_of_a_branch_is_the_branch_beside_a_tag_of_that_name() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    clone.git(&["fetch", "-q"]);
    clone.git(&["tag", "prod", "main~2"]);
    server.git(&["tag", "prod", "main~2"]);
    for repo in [&server, &clone] {
        assert_eq!(subjects(&log(repo, &["-n", "1", "prod"])), ["api"]);
        repo.hydrate(&["explain", "configmap/web", "prod"]).success();
    }
}

#[test]
fn an_application_with_another_name_is_told_of_and_found_by_both() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    let (file, text) = crate::push::application("web", "prod");
    clone.commit("rename", &[(&file, &text.replace("name: web-prod", "name: shop-prod"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("\nweb-prod has another name now: shop-prod\n"), "{told}");
    for name in ["web-prod", "shop-prod", "argocd/shop-prod"] {
        let entries = log(&server, &["--application", name, "-n", "1"]);
        assert_eq!(subjects(&entries), ["rename"], "{name}");
        let renamed = &entries[0]["objects"]["renamedApplications"];
        assert_eq!(*renamed, serde_json::json!([{"path": "web", "from": ["web-prod"], "to": ["shop-prod"]}]));
    }
    let text = server.hydrate(&["log", "prod", "-n1"]).success().stdout;
    assert!(text.ends_with("    web-prod has another name now: shop-prod\n"), "{text}");
    // Of others nothing is said of it.
    assert!(!server.hydrate(&["log", "dev"]).success().stdout.contains("another name"));
}

#[test]
fn an_application_that_was_never_there_is_an_error() {
    let lab = Lab::new();
    let (server, clone, _) = history(&lab);
    for repo in [&server, &clone] {
        let told = repo.hydrate(&["log", "--application", "web-prd"]).exits(2).stderr;
        assert!(
            told.contains("no commit here changes an Application `web-prd`\nhint: did you mean `web-prod`?"),
            "{told}"
        );
        let told = repo.hydrate(&["log", "--application", "nosuch", "--json"]).exits(2).stderr;
        assert!(told.contains("hint: there are api-dev, api-prod, web-dev, web-prod"), "{told}");
    }
    // One that is gone was there.
    clone.commit("go", &[(&crate::push::application("web", "dev").0, "")]);
    clone.push().success();
    assert!(!log(&server, &["--application", "web-dev"]).is_empty());
}
