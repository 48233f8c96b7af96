//! `git hydrate verify`: honest history passes, and whatever is tampered with is found and named.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::push::{application, config_map, dry, tip};
use crate::support::{Answer, Lab, Repo};

const BRANCH: &str = "environments/dev";

/// A server with some dry commits, of which every fifth changes nothing, and one the settings.
fn history(lab: &Lab, commits: usize) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    for n in 1..commits {
        let name = ["web", "api"][n % 2];
        let value = format!("v{}", n - usize::from(n % 5 == 0) * 2);
        let (file, text) = (format!("apps/{name}/dev/config.yaml"), config_map(name, &value));
        clone.commit(&format!("change {n}\n\nBecause of {n}."), &[(&file, &text)]);
    }
    clone.push().success();
    (server, clone)
}

fn verify(repo: &Repo, args: &[&str], code: i32) -> Value {
    let answer = repo.hydrate(&[&["verify", "--json"], args].concat()).exits(code);
    let mut found: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    found["branches"].take()
}

fn with_input(repo: &Repo, args: &[&str], input: &str) -> String {
    let mut command = repo.command("git");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("read");
    Answer::new(child.wait_with_output().expect("ends")).success().stdout.trim().to_owned()
}

/// The id of the directory of `commit` with its listing edited.
fn edit_dir(repo: &Repo, commit: &str, dir: &str, edit: impl Fn(String) -> String) -> String {
    let inner = with_input(repo, &["mktree"], &(edit(repo.git(&["ls-tree", &format!("{commit}:{dir}")])) + "\n"));
    let old = repo.git(&["rev-parse", &format!("{commit}:{dir}")]);
    with_input(repo, &["mktree"], &(repo.git(&["ls-tree", commit]).replace(&old, &inner) + "\n"))
}

/// Edits commits of the branch, by how many stand on top of them, and makes those on top anew with their notes.
fn rewrite(repo: &Repo, from: usize, edit: impl Fn(usize, &str, String) -> String) -> String {
    let old = repo.git(&["rev-list", "--first-parent", "--reverse", &format!("{BRANCH}~{}..{BRANCH}", from + 1)]);
    let (mut new, mut notes): (Vec<(String, String)>, String) = (Vec::new(), String::new());
    for (index, id) in old.lines().enumerate() {
        let mut text = edit(from - index, id, repo.git(&["cat-file", "commit", id])) + "\n";
        if let Some((old, new)) = new.last() {
            text = text.replace(&format!("parent {old}"), &format!("parent {new}"));
        }
        let made = with_input(repo, &["hash-object", "-t", "commit", "-w", "--stdin"], &text);
        notes += &format!("{id} {made}\n");
        new.push((id.to_owned(), made));
    }
    with_input(repo, &["notes", "--ref=hydrator.metadata", "copy", "--force", "--stdin"], &notes);
    repo.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &new.last().expect("some").1]);
    new.remove(0).1
}

fn tree(text: String, tree: &str) -> String {
    let rest = text.split_once('\n').expect("a header").1.to_owned();
    format!("tree {tree}\n{rest}")
}

#[test]
fn fifty_commits_are_what_hydration_makes() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 50);
    let found = verify(&server, &[], 0);
    let hydrated: u64 = server.git(&["rev-list", "--count", BRANCH]).parse().expect("a number");
    assert!(hydrated > 40, "{hydrated}");
    assert_eq!(found[0]["equal"], hydrated);
    assert_eq!(verify(&clone, &[], 0)[0]["equal"], hydrated, "in a clone too");
    assert_eq!(verify(&clone, &[BRANCH], 0)[0]["equal"], hydrated);
    let range = format!("{}..{}", tip(&server, &format!("{BRANCH}~5")), tip(&server, &format!("{BRANCH}~2")));
    assert_eq!(verify(&clone, &[&range], 0)[0]["equal"], 3);
    let text = server.hydrate(&["verify"]).success().stdout;
    assert_eq!(text, format!("{BRANCH}  {hydrated} equal\n"));
    clone.hydrate(&["verify", "main"]).exits(2);
    clone.hydrate(&["verify", "no-such-branch"]).exits(2);
}

#[test]
fn every_settings_commit_and_staging_branch_is_taken_into_account() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 4);
    server.allow("hydrate.settingsPusher");
    server.allow("hydrate.promoter");
    let settings = server.clone_to("settings");
    settings.git(&["checkout", "-q", "--orphan", "settings"]);
    settings.git(&["rm", "-rqf", "."]);
    let text = "dryBranches: [main]\nauthor: {name: Robot, email: robot@example.com}\n";
    settings.commit("robot", &[("settings.yaml", text)]);
    settings.git(&["push", "-q", "--force", "origin", "HEAD:refs/hydrate/config"]);
    server.hydrate(&["catch-up"]).success();
    let (file, text) = application("web", "stage");
    let staged = format!("{text}    hydrateTo:\n      targetBranch: environments/stage-next\n");
    clone.commit("stage", &[(&file, &staged), ("apps/web/stage/config.yaml", &config_map("web", "stage"))]);
    clone.push().success();
    // A promoter merges the staging branch.
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promote", "origin/environments/stage"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/stage-next"]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/stage"]);
    let found = verify(&server, &[], 0);
    let of = |branch: &str| {
        let lines = found.as_array().expect("a list");
        lines.iter().find(|line| line["branch"] == branch).unwrap_or_else(|| panic!("{branch}: {found}")).clone()
    };
    assert_eq!((&of("environments/stage")["equal"], &of("environments/stage")["others"]), (&1.into(), &1.into()));
    // Somebody changes what hydration wrote.
    let forged = clone.commit("forge", &[("web/manifest.yaml", "kind: ConfigMap\n"), ("OWNERS", "us\n")]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/stage"]);
    let found = verify(&server, &["environments/stage"], 1);
    assert_eq!(found[0]["findings"][0]["commit"], forged.as_str());
    assert_eq!(found[0]["findings"][0]["paths"], serde_json::json!(["web/manifest.yaml"]));
}

#[test]
fn whatever_is_tampered_with_is_found_and_named() {
    let lab = Lab::new();
    let (server, _) = history(&lab, 14);
    let refs = [format!("refs/heads/{BRANCH}"), "refs/notes/hydrator.metadata".to_owned()];
    let honest = refs.each_ref().map(|name| server.git(&["rev-parse", name]));
    let blob = with_input(&server, &["hash-object", "-w", "--stdin"], "kind: Secret\n");
    let all = server.git(&["rev-list", "--first-parent", BRANCH]);
    let all: Vec<&str> = all.lines().collect();
    let at = 5;
    let old_manifest = server.git(&["rev-parse", &format!("{}:api/manifest.yaml", all[at])]);
    let edit =
        |id: &str, text: String, change: &dyn Fn(String) -> String| tree(text, &edit_dir(&server, id, "api", change));
    let only =
        |here: usize, text: String, change: &dyn Fn(String) -> String| if here == at { change(text) } else { text };
    type Edit<'a> = Box<dyn Fn(usize, &str, String) -> String + 'a>;
    let rows: Vec<(&str, &str, Edit)> = vec![
        (
            "blob",
            "content api/manifest.yaml",
            Box::new(|here, id, text| {
                only(here, text, &|text| edit(id, text, &|dir| dir.replace(&old_manifest, &blob)))
            }),
        ),
        (
            "blob, here and in all commits on top that had the same",
            "content api/manifest.yaml",
            Box::new(|_, id, text| edit(id, text, &|dir| dir.replace(&old_manifest, &blob))),
        ),
        (
            "mode",
            "mode api/manifest.yaml",
            Box::new(|here, id, text| {
                only(here, text, &|text| {
                    edit(id, text, &|dir| {
                        dir.lines()
                            .map(|line| {
                                if line.ends_with("manifest.yaml") {
                                    line.replace("100644", "100755")
                                } else {
                                    line.to_owned()
                                }
                            })
                            .collect::<Vec<_>>()
                            .join("\n")
                    })
                })
            }),
        ),
        (
            "an extra file",
            "extra api/extra.yaml",
            Box::new(|here, id, text| {
                only(here, text, &|text| edit(id, text, &|dir| format!("{dir}\n100644 blob {blob}\textra.yaml")))
            }),
        ),
        (
            "an extra file that stays",
            "extra api/extra.yaml",
            Box::new(|_, id, text| edit(id, text, &|dir| format!("{dir}\n100644 blob {blob}\textra.yaml"))),
        ),
        (
            "a file less",
            "missing api/README.md",
            Box::new(|here, id, text| {
                only(here, text, &|text| {
                    edit(id, text, &|dir| {
                        dir.lines().filter(|line| !line.ends_with("README.md")).collect::<Vec<_>>().join("\n")
                    })
                })
            }),
        ),
        (
            "message",
            "message ",
            Box::new(|here, _, text| {
                only(here, text, &|text| text.replace("Hydrate-Branch", "Reviewed-by: Boss\nHydrate-Branch"))
            }),
        ),
        ("date", "date ", Box::new(|here, _, text| only(here, text, &|text| text.replace(" +0200\n\n", " +0300\n\n")))),
        (
            "author",
            "identity ",
            Box::new(|here, _, text| only(here, text, &|text| text.replacen("author ", "author x", 1))),
        ),
        (
            "a second parent",
            "parents ",
            Box::new(|here, _, text| {
                only(here, text, &|text| text.replace("\nauthor", &format!("\nparent {}\nauthor", all[9])))
            }),
        ),
        (
            "a commit left out",
            "skipped ",
            Box::new(|here, _, text| only(here, text, &|text| text.replace(all[at + 1], all[at + 2]))),
        ),
        (
            "a signature",
            "headers ",
            Box::new(|here, _, text| only(here, text, &|text| text.replacen("\n\n", "\ngpgsig x\n\n", 1))),
        ),
    ];
    for (name, expected, change) in rows {
        let tampered = rewrite(&server, at, change);
        let found = verify(&server, &[BRANCH], 1);
        let findings = found[0]["findings"].as_array().expect("a list");
        let told: Vec<String> = findings
            .iter()
            .map(|one| format!("{} {}", one["fault"].as_str().expect("text"), one["path"].as_str().unwrap_or_default()))
            .collect();
        assert_eq!(told, [expected], "{name}: {found}");
        assert_eq!(findings[0]["commit"], tampered.as_str(), "{name}");
        for (name, id) in refs.iter().zip(&honest) {
            server.git(&["update-ref", name, id]);
        }
    }
    verify(&server, &[BRANCH], 0);
}

#[test]
fn notes_and_revisions_are_judged() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 6);
    let last = clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.push().success();
    verify(&server, &[], 0);
    let notes = server.git(&["rev-parse", "refs/notes/hydrator.metadata"]);
    let at = |back: usize| tip(&server, &format!("{BRANCH}~{back}"));
    let dry_of =
        |commit: &str| server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Dry,valueonly,separator=)", commit]);
    let rows: [(&str, usize, String, &str); 5] = [
        ("of a later hydrated commit", 2, format!("{{\"drySha\":\"{}\"}}", dry_of(&at(1))), "noteOfAnother"),
        ("of an earlier one", 0, format!("{{\"drySha\":\"{}\"}}", dry_of(&at(2))), "noteOfAnother"),
        ("of nothing", 0, format!("{{\"drySha\":\"{}\"}}", "1".repeat(40)), "noteOfAnother"),
        ("with more in it", 1, format!("{{\"drySha\":\"{}\",\"ok\":true}}", dry_of(&at(1))), "note"),
        ("none", 1, String::new(), "noNote"),
    ];
    for (name, back, text, expected) in rows {
        let commit = at(back);
        if text.is_empty() {
            server.git(&["notes", "--ref=hydrator.metadata", "remove", &commit]);
        } else {
            server.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &text, &commit]);
        }
        let found = verify(&server, &[], 1);
        let findings = found[0]["findings"].as_array().expect("a list");
        assert_eq!(findings.len(), 1, "{name}: {found}");
        assert_eq!(
            (&findings[0]["fault"], &findings[0]["commit"]),
            (&expected.into(), &commit.as_str().into()),
            "{name}"
        );
        server.git(&["update-ref", "refs/notes/hydrator.metadata", &notes]);
    }
    assert!(server.git(&["notes", "--ref=hydrator.metadata", "show", &at(0)]).contains(&last));
    // Another revision that makes the same bytes can be told; one that makes others cannot, and is no tampering.
    rewrite(
        &server,
        2,
        |here, _, text| if here == 2 { text.replace("Hydrate-Engine: 5", "Hydrate-Engine: 7") } else { text },
    );
    verify(&server, &[BRANCH], 0);
    rewrite(&server, 0, |_, id, text| {
        let dir = edit_dir(&server, id, "web", |dir| dir.replace("100644", "100755"));
        tree(text, &dir).replace("Hydrate-Engine: 5", "Hydrate-Engine: 7")
    });
    // What a commit says of its engine proves nothing: hydration must have recorded it.
    let answer = server.hydrate(&["verify"]).exits(1);
    assert!(answer.stdout.contains("error:") && !answer.stdout.contains("revision 7"), "{}", answer.stdout);
    let name = "environments%2Fdev.json";
    let record = server.git(&["show", &format!("refs/hydrate/branches:{name}")]);
    let mut record: Value = serde_json::from_str(&record).expect("JSON");
    record["made"] = serde_json::json!([at(0)]);
    record["tip"] = serde_json::json!(at(0));
    record["engine"] = serde_json::json!(7);
    let blob = with_input(&server, &["hash-object", "-w", "--stdin"], &record.to_string());
    let tree = with_input(&server, &["mktree"], &format!("100644 blob {blob}\t{name}\n"));
    let commit = server.git(&["commit-tree", "-m", "by an engine of revision 7", &tree]);
    server.git(&["update-ref", "refs/hydrate/branches", &commit]);
    let answer = server.hydrate(&["verify"]).exits(1);
    assert!(answer.stdout.contains("made by engine revision 7, but this is"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("error:"), "{}", answer.stdout);
}

#[test]
fn an_honest_rewind_of_the_dry_branch_is_no_finding() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.push().success();
    // The note of the other branch moves to it.
    clone.commit("dev only", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    // In its place come two that both change that branch, of which the tip is hydrated.
    clone.git(&["reset", "-q", "--hard", &base]);
    for value in ["a", "b"] {
        clone.commit(value, &[("apps/web/prod/config.yaml", &config_map("web", value))]);
    }
    clone.git(&["push", "-q", "--force", "origin", "main"]);
    verify(&server, &[], 0);
    // Again, to one that is what the branch shows already, and on from there.
    for value in ["c", "b"] {
        clone.commit(value, &[("apps/web/prod/config.yaml", &config_map("web", value))]);
    }
    clone.git(&["push", "-q", "--force", "origin", "main"]);
    clone.commit("next", &[("apps/web/prod/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    let found = verify(&server, &[], 0);
    assert_eq!(found[1]["equal"], 6, "{found}");
}

#[test]
fn a_tag_does_not_take_the_place_of_a_branch() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 3);
    let honest = tip(&server, BRANCH);
    clone.git(&["fetch", "-q"]);
    clone.git(&["tag", &format!("origin/{BRANCH}"), &honest]);
    clone.git(&["tag", "main"]);
    // One that was there before the guard, which refuses it.
    server.git(&["tag", "main", "refs/heads/main"]);
    // The branches go on, the tags do not.
    clone.commit("broken", &[("apps/web/dev/config.yaml", "a: [\n")]);
    clone.git(&["push", "-q", "origin", "refs/heads/main"]);
    let tree = with_input(&server, &["mktree"], "");
    let evil = server.git(&["commit-tree", &tree, "-p", &honest, "-m", "evil"]);
    let evil_tree = edit_dir(&server, &honest, "web", |dir| dir.replace("100644", "100755"));
    let evil = server.git(&["commit-tree", &evil_tree, "-p", &evil, "-p", &honest, "-m", "evil"]);
    server.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &evil]);
    let told = server.hydrate(&["check", "main"]).exits(1);
    let warning = "warning: `main` is a branch and a tag; the branch is used: for the tag, write refs/tags/main";
    assert!(told.stderr.contains(warning), "{told:?}");
    server.hydrate(&["check", "refs/tags/main"]).success();
    server.hydrate(&["check", "main~1"]).success();
    let told = clone.hydrate(&["verify", &format!("origin/{BRANCH}")]).exits(1);
    assert!(told.stderr.contains("is a branch and a tag"), "{told:?}");
    clone.hydrate(&["verify", &format!("refs/tags/origin/{BRANCH}")]).success();
}

#[test]
fn verify_finds_nothing_after_a_push_that_changed_nothing_and_a_change_of_settings() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.push().success();
    verify(&server, &[], 0);
    for (key, value) in [("repoURL", "https://git.example.com/dry.git"), ("profile", "argocd"), ("profile", "proposal")]
    {
        server.hydrate(&["config", "set", key, value]).success();
        verify(&server, &[], 0);
        clone.commit("docs", &[("NOTES", value)]);
        clone.push().success();
        verify(&server, &[], 0);
    }
}

#[test]
fn a_dry_commit_that_is_gone_after_a_rewind_is_a_finding_and_the_others_are_verified() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("docs", &[("NOTES", "text")]);
    clone.push().success();
    let gone = clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.git(&["push", "-q", "--force", "origin", "main"]);
    clone.commit("on", &[("apps/web/dev/config.yaml", &config_map("web", "3"))]);
    clone.push().success();
    verify(&server, &[], 0);
    server.git(&["reflog", "expire", "--expire=now", "--all"]);
    server.git(&["gc", "-q", "--prune=now"]);
    server.run("git", &["cat-file", "-e", &gone]).exits(1);
    let found = verify(&server, &[], 1);
    let faults: Vec<&Value> =
        found.as_array().expect("a list").iter().flat_map(|line| line["findings"].as_array()).flatten().collect();
    assert_eq!(faults.len(), 1, "{found}");
    assert_eq!((&faults[0]["fault"], &faults[0]["id"]), (&"gone".into(), &gone.as_str().into()), "{found}");
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains(&format!("its dry commit {gone} is not in this repository")), "{told}");
}

#[test]
fn a_commit_that_was_made_with_settings_of_somebody_else_is_a_finding() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 2);
    server.hydrate(&["config", "set", "author", "{name: Us, email: us@example.com}"]).success();
    let theirs = server.copy_to("theirs.git");
    theirs.hydrate(&["config", "set", "author", "{name: Them, email: them@example.com}"]).success();
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
    let there = theirs.path.to_str().expect("UTF-8");
    clone.git(&["push", "-q", there, "HEAD:refs/heads/main"]);
    server.git(&["fetch", "-q", there, "+refs/heads/*:refs/heads/*", "+refs/hydrate/config:refs/of/theirs"]);
    let settings = server.git(&["rev-parse", "refs/of/theirs"]);
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    let finding = format!("it names settings that this repository never had, {settings}");
    assert_eq!(told.matches(&finding).count(), 1, "{told}");
    // It is what those settings make: where they are the settings, nothing is wrong.
    theirs.hydrate(&["verify"]).success();
    server.git(&["update-ref", "refs/heads/environments/dev", "environments/dev~1"]);
    server.hydrate(&["verify", "environments/dev"]).success();
}

#[test]
fn a_commit_that_an_admin_knows_is_listed_and_does_not_count() {
    let lab = Lab::new();
    let (server, clone) = history(&lab, 2);
    let tip = server.git(&["rev-parse", "environments/dev"]);
    let blob = with_input(&server, &["hash-object", "-w", "--stdin"], "kind: ConfigMap\n");
    let tree = edit_dir(&server, &tip, "web", |text| {
        let line = |line: &str| match line.ends_with("\tmanifest.yaml") {
            true => format!("100644 blob {blob}\tmanifest.yaml"),
            false => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    });
    let hot_fix = server.git(&["commit-tree", &tree, "-p", &tip, "-m", "hot fix"]);
    server.git(&["update-ref", "refs/heads/environments/dev", &hot_fix]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    verify(&server, &[], 1);
    // What is wrong is asked for first, and why.
    let first = server.git(&["rev-parse", "environments/dev"]);
    let told = server.hydrate(&["verify", "--acknowledge", &first, "--reason", "x"]).exits(2).stderr;
    assert!(told.contains("there is nothing to acknowledge"), "{told}");
    server.hydrate(&["verify", "--acknowledge", &hot_fix]).exits(2);
    let told =
        clone.hydrate(&["verify", "--acknowledge", "origin/environments/dev~1", "--reason", "x"]).exits(2).stderr;
    assert!(told.contains("`--acknowledge` is for the server"), "{told}");
    let reason = "the outage of Monday, by hand";
    let told = server.hydrate(&["verify", "--acknowledge", &hot_fix[..10], "--reason", reason]).success().stdout;
    assert!(told.starts_with(&format!("acknowledged: {}: ", &hot_fix[..7])), "{told}");
    let told = server.hydrate(&["verify"]).success().stdout;
    assert!(told.contains("1 acknowledged") && told.contains(&format!("note: {}", &hot_fix[..7])), "{told}");
    assert!(told.contains(&format!("    acknowledged by Dev Eloper <dev@example.com>: {reason}\n")), "{told}");
    let found = verify(&server, &["environments/dev"], 0);
    assert_eq!(found[0]["findings"][0]["acknowledged"]["reason"], reason, "{found}");
    // Another one counts, and no push acknowledges anything.
    let again = server.git(&["commit-tree", &tree, "-p", &first, "-m", "again"]);
    server.git(&["update-ref", "refs/heads/environments/dev", &again]);
    verify(&server, &[], 1);
    clone.run("git", &["push", "origin", "main:refs/hydrate/acknowledged"]).exits(1);
}

#[test]
fn the_commit_that_puts_a_change_by_hand_right_is_no_finding_after_dry_commits_that_changed_nothing() {
    for (before, after) in [(0, 1), (1, 1), (2, 1), (2, 0), (3, 2)] {
        let lab = Lab::new();
        let (server, clone) = history(&lab, 2);
        let empty = |count| {
            for n in 0..count {
                clone.git(&["commit", "-q", "--allow-empty", "-m", &format!("empty {n}")]);
                clone.push().success();
            }
        };
        empty(before);
        let tip = tip(&server, BRANCH);
        let tree = edit_dir(&server, &tip, "web", |listing| listing.replace("README.md", "NOTES.md"));
        let by_hand = server.git(&["commit-tree", &tree, "-p", &tip, "-m", "by hand"]);
        server.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &by_hand]);
        empty(after);
        clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
        clone.push().success();
        let found = verify(&server, &[], 1);
        let findings = found[0]["findings"].as_array().expect("a list");
        let wrong: Vec<&str> = findings.iter().filter_map(|finding| finding["commit"].as_str()).collect();
        assert_eq!(wrong, [by_hand.as_str()], "{before} {after}: {found}");
    }
}
