//! GitOps Promoter as a client: what it reads after each push, and what it writes itself.
//!
//! Reference: GitOps Promoter 7456cfed internal/git/git.go, internal/controller. It reads the tips of `ENV` (active) and
//! `ENV-next` (proposed), `hydrator.metadata` in them and the note of the proposed one.

use serde_json::Value;

use crate::push::config_map;
use crate::support::{Lab, Repo};

mod many;
mod restored;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Squash,
    FastForward,
    Merge,
}

fn application(name: &str, env: &str, next: &str) -> (String, String) {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}-{env}}}\nspec:\n  destination: \
         {{name: {env}, namespace: {name}}}\n  sourceHydrator:\n    drySource: {{repoURL: https://git.example.com/dry.git, \
         targetRevision: main, path: apps/{name}/{env}}}\n    syncSource: {{targetBranch: env/{env}, path: {name}}}\n    \
         hydrateTo: {{targetBranch: {next}}}\n"
    );
    (format!("applications/{name}-{env}.yaml"), text)
}

/// A server whose promoter may push, and a clone with Applications, each with its environment and its proposed branch.
fn server(lab: &Lab, settings: &[&[&str]], apps: &[(&str, &str, &str)]) -> (Repo, Repo) {
    let server = lab.server();
    server.allow("hydrate.promoter");
    for args in settings {
        server.hydrate(&[&["config", "set"], *args].concat()).success();
    }
    let clone = server.clone_to("clone");
    let mut files = Vec::new();
    for (name, env, next) in apps {
        files.push(application(name, env, next));
        files.push((format!("apps/{name}/{env}/config.yaml"), config_map(name, "1")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("first", &files);
    clone.push().success();
    (server, clone)
}

fn tip(server: &Repo, branch: &str) -> String {
    server.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")])
}

/// What Promoter takes of `hydrator.metadata`; the test fails where its API server would refuse it.
fn metadata(server: &Repo, branch: &str, dir: &str) -> Value {
    let text = server.git(&["show", &format!("refs/heads/{branch}:{dir}hydrator.metadata")]);
    let problems = git_hydrate::testing::metadata::contract::check_metadata(text.as_bytes());
    assert!(problems.is_empty(), "{branch}: {problems:?}");
    serde_json::from_str(&text).expect("JSON")
}

fn dry_sha(server: &Repo, branch: &str, dir: &str) -> String {
    metadata(server, branch, dir)["drySha"].as_str().expect("text").to_owned()
}

/// The dry commit of the note of a proposed tip, which must be there.
fn note(server: &Repo, branch: &str) -> String {
    let text = server.git(&["notes", "--ref=hydrator.metadata", "show", &tip(server, branch)]);
    let note: Value = serde_json::from_str(&text).expect("JSON");
    note["drySha"].as_str().expect("text").to_owned()
}

/// What a promoter's merge of the proposed branch makes of the active one: a tree, or a conflict.
fn merged(server: &Repo, active: &str, next: &str) -> Option<String> {
    let answer = server.run("git", &["merge-tree", "--write-tree", &tip(server, active), &tip(server, next)]);
    assert!(matches!(answer.code, Some(0 | 1)), "related histories: {answer:?}");
    (answer.code == Some(0)).then(|| answer.stdout.trim_end().to_owned())
}

/// A commit of the promoter, pushed as it pushes.
fn push_commit(server: &Repo, branch: &str, tree: &str, parents: &[&str], message: &str) {
    let mut args = vec!["commit-tree", tree, "-m", message];
    for parent in parents {
        args.extend(["-p", parent]);
    }
    let commit = server.git(&args);
    server.git(&["push", "-q", ".", &format!("{commit}:refs/heads/{branch}")]);
}

/// Promotes as a forge merges a pull request, with what Promoter does about a conflict first.
fn promote(server: &Repo, active: &str, next: &str, dir: Option<&str>, way: Way) {
    if merged(server, active, next).is_none() {
        // The tree of the proposed branch; with an active path, that of the active one elsewhere.
        let (ours, theirs) = (tip(server, next), tip(server, active));
        let tree = match dir {
            None => server.git(&["rev-parse", &format!("{ours}^{{tree}}")]),
            Some(dir) => with_dir(server, &theirs, dir, &ours),
        };
        push_commit(server, next, &tree, &[&ours, &theirs], "Resolve conflicts");
    }
    let tree = merged(server, active, next).expect("no conflict");
    let (ours, theirs) = (tip(server, active), tip(server, next));
    let message = "Promote\n\nSha-dry-proposed: 1\nPull-request-id: 1";
    match way {
        Way::Squash => push_commit(server, active, &tree, &[&ours], message),
        Way::Merge => push_commit(server, active, &tree, &[&ours, &theirs], message),
        Way::FastForward => {
            let is_ahead = server.run("git", &["merge-base", "--is-ancestor", &ours, &theirs]).code == Some(0);
            assert!(is_ahead, "{next} is ahead of {active}");
            drop(server.git(&["push", "-q", ".", &format!("{theirs}:refs/heads/{active}")]));
        }
    }
}

/// A note of Promoter's on the tip of `env/prod`: one that reads restores works here.
fn noted(server: &Repo) {
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-f", "-m", "{\"Sha-dry-active\":[\"7\"]}", "env/prod"];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
}

/// The tree of one commit with a directory of another.
fn with_dir(server: &Repo, base: &str, dir: &str, other: &str) -> String {
    let script = format!(
        "{{ git ls-tree {base} | grep -v '\t{dir}$'; printf '040000 tree %s\\t{dir}\\n' $(git rev-parse {other}:{dir}); }} | \
         git mktree"
    );
    server.run("bash", &["-c", &script]).success().stdout.trim_end().to_owned()
}

#[test]
fn promotions_of_every_kind_go_on_from_push_to_push() {
    for profile in ["proposal", "argocd"] {
        for way in [Way::Squash, Way::FastForward, Way::Merge] {
            let lab = Lab::new();
            let apps =
                [("web", "dev", "env/dev-next"), ("api", "dev", "env/dev-next"), ("web", "prod", "env/prod-next")];
            let (server, clone) = server(&lab, &[&["profile", profile]], &apps);
            let what = format!("{profile}, {way:?}");
            for step in 2..5 {
                let dry = clone.git(&["rev-parse", "HEAD"]);
                for env in ["dev", "prod"] {
                    let (active, next) = (format!("env/{env}"), format!("env/{env}-next"));
                    assert_eq!(dry_sha(&server, &next, ""), dry, "{what}: {next}");
                    assert_eq!(note(&server, &next), dry, "{what}: {next}");
                    promote(&server, &active, &next, None, way);
                    assert_eq!(dry_sha(&server, &active, ""), dry, "{what}: {active}");
                    // No two branches share a commit, but for what a forge fast-forwards.
                    assert_eq!(tip(&server, &active) == tip(&server, &next), way == Way::FastForward, "{what}");
                }
                let date = |env: &str| metadata(&server, &format!("env/{env}"), "")["date"].clone();
                assert_eq!(date("dev"), date("prod"), "{what}: the same dry commit has the same date everywhere");
                // What changes nothing moves every note, and no commit.
                let before = ["env/dev-next", "env/prod-next"].map(|branch| tip(&server, branch));
                let no_op = clone.commit("words", &[("README.md", &format!("{step}\n"))]);
                clone.push().success();
                for (branch, before) in ["env/dev-next", "env/prod-next"].into_iter().zip(before) {
                    assert_eq!(note(&server, branch), no_op, "{what}: {branch}");
                    assert_eq!(tip(&server, branch), before, "{what}: {branch} has nothing new");
                    assert_eq!(dry_sha(&server, branch, ""), dry, "{what}: {branch}, a no-op for its environment");
                }
                let value = step.to_string();
                let files = ["apps/web/dev", "apps/api/dev", "apps/web/prod"].map(|dir| format!("{dir}/config.yaml"));
                let texts = ["web", "api", "web"].map(|name| config_map(name, &value));
                let changes: Vec<(&str, &str)> =
                    files.iter().zip(&texts).map(|(file, text)| (file.as_str(), text.as_str())).collect();
                clone.commit("next", &changes);
                let told = clone.push().success().stderr;
                assert!(told.contains("env/dev-next") && !told.contains("error"), "{what}: {told}");
            }
            server.hydrate(&["verify"]).success();
            assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "", "{what}");
        }
    }
}

#[test]
fn a_squashed_promotion_with_other_content_is_found_by_verify() {
    let lab = Lab::new();
    let (server, _) = server(&lab, &[], &[("web", "dev", "env/dev-next")]);
    let blob = server.run("sh", &["-c", "echo 'kind: Evil' | git hash-object -w --stdin"]).success().stdout;
    let next = tip(&server, "env/dev-next");
    let script = format!(
        "web=$(git ls-tree {next}:web | sed 's/blob [0-9a-f]*\tmanifest/blob {}\tmanifest/' | git mktree) && {{ git ls-tree \
         {next} | grep -v web; printf '040000 tree %s\\tweb\\n' $web; }} | git mktree",
        blob.trim_end()
    );
    let tree = server.run("bash", &["-c", &script]).success().stdout.trim_end().to_owned();
    let parent = tip(&server, "env/dev");
    push_commit(&server, "env/dev", &tree, &[&parent], "Promote");
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains("it was not made by hydration, and changes") && told.contains("web/manifest.yaml"), "{told}");
}

/// The tree of a commit with other content for `web/manifest.yaml`.
fn forged(server: &Repo, commit: &str) -> String {
    let blob = server.run("sh", &["-c", "echo 'kind: Evil' | git hash-object -w --stdin"]).success().stdout;
    let script = format!(
        "web=$(git ls-tree {commit}:web | sed 's/blob [0-9a-f]*\tmanifest/blob {}\tmanifest/' | git mktree) && {{ git ls-tree \
         {commit} | grep -v '\tweb$'; printf '040000 tree %s\\tweb\\n' $web; }} | git mktree",
        blob.trim_end()
    );
    server.run("bash", &["-c", &script]).success().stdout.trim_end().to_owned()
}

/// A commit without parents that hydration had no part in.
fn stranger(server: &Repo) -> String {
    let tree = server.run("sh", &["-c", "git mktree </dev/null"]).success().stdout.trim_end().to_owned();
    server.git(&["commit-tree", &tree, "-m", "stranger"])
}

#[test]
fn a_merge_on_top_of_a_strangers_commit_hides_nothing_from_verify() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "dev", "env/dev-next")]);
    promote(&server, "env/dev", "env/dev-next", None, Way::Merge);
    server.hydrate(&["verify"]).success();
    server.hydrate(&["status"]).success();
    let (honest, root) = (tip(&server, "env/dev"), stranger(&server));
    // The same files: nothing is wrong, and the branch stays in the audit.
    let same = server.git(&["rev-parse", &format!("{honest}^{{tree}}")]);
    push_commit(&server, "env/dev", &same, &[&root, &honest], "Merge");
    let told = server.hydrate(&["verify"]).success().stdout;
    assert!(told.contains("env/dev       1 equal, 2 not made by hydration"), "{told}");
    server.hydrate(&["status"]).success();
    // Other files.
    push_commit(&server, "env/dev", &forged(&server, &honest), &[&root, &tip(&server, "env/dev")], "Merge");
    let evil = tip(&server, "env/dev");
    let wrong = format!("error: {}: it was not made by hydration, and changes", &evil[..7]);
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains(&wrong) && told.contains("web/manifest.yaml"), "{told}");
    let told = server.hydrate(&["status"]).exits(1).stdout;
    let tip_is_wrong = format!("its tip {} is not what hydration made: it changes web/manifest.yaml", &evil[..7]);
    assert!(told.contains(&tip_is_wrong), "{told}");
    // What is promoted later hides it no more than a merge that leaves it out of the first-parent line.
    clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    let next = tip(&server, "env/dev-next");
    let tree = server.git(&["rev-parse", &format!("{next}^{{tree}}")]);
    push_commit(&server, "env/dev", &tree, &[&honest, &next, &evil], "Promote");
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains(&wrong), "{told}");
    server.hydrate(&["status"]).success();
}

#[test]
fn a_merge_that_is_repaired_by_hydration_stays_found() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "dev", "env/dev")]);
    let root = stranger(&server);
    push_commit(&server, "env/dev", &forged(&server, "env/dev"), &[&root, &tip(&server, "env/dev")], "Merge");
    let evil = server.git(&["rev-parse", "env/dev~1"]);
    clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    let told = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(told.contains(&format!("error: {}: it was not made by hydration", &evil[..7])), "{told}");
    assert!(told.contains("env/dev  4 equal, 1 with findings"), "{told}");
    server.hydrate(&["status"]).success();
}

/// A tree with `text` at `path`, or nothing there.
fn changed(server: &Repo, base: &str, path: &str, text: Option<&str>) -> String {
    let edit = match text {
        Some(_) => format!("git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin),{path}"),
        None => format!("git rm --quiet --cached {path}"),
    };
    let script = format!(
        "export GIT_INDEX_FILE=$PWD/tmp.index; git read-tree {base} && printf '%s' \"$1\" | {edit} && git write-tree && rm tmp.index"
    );
    server.run("bash", &["-c", &script, "-", text.unwrap_or_default()]).success().stdout.trim_end().to_owned()
}

#[test]
fn our_files_that_a_promoter_changes_are_written_again_at_once() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "dev", "env/dev")]);
    let first = tip(&server, "main");
    clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    let words = clone.commit("words", &[("NOTES", "1")]);
    clone.push().success();
    let show = |path: &str| server.git(&["show", &format!("env/dev:{path}")]);
    let older = |path: &str| show(path).replace(&tip(&server, "main~1"), &first);
    let behind = show("hydrator.metadata").replacen(
        '{',
        &format!("{{\"behind\": [{{\"path\": \"web\", \"drySha\": \"{first}\"}}],"),
        1,
    );
    let rows = [
        (".gitattributes", Some("* working-tree-encoding=UTF-16LE-BOM\n".to_owned())),
        (".gitattributes", None),
        ("hydrator.metadata", Some(older("hydrator.metadata"))),
        ("hydrator.metadata", Some("no JSON".to_owned())),
        ("hydrator.metadata", Some(behind)),
        ("hydrator.metadata", None),
        ("web/hydrator.metadata", Some(older("web/hydrator.metadata"))),
        ("web/README.md", Some("Run me\n".to_owned())),
    ];
    for (path, text) in rows {
        let (before, honest) = (tip(&server, "env/dev"), show(path));
        let tree = changed(&server, "env/dev", path, text.as_deref());
        push_commit(&server, "env/dev", &tree, &[&before], "Promote");
        assert_eq!(
            server.git(&["rev-parse", "env/dev~2"]),
            before,
            "{path} to {text:?}: one commit on top of the promoter's"
        );
        assert_eq!(note(&server, "env/dev"), words, "{path} to {text:?}");
        match path {
            "hydrator.metadata" => assert_eq!(dry_sha(&server, "env/dev", ""), words, "{path} to {text:?}"),
            ".gitattributes" => assert_eq!(show(path), honest, "{path} to {text:?}"),
            _ => assert!(!show(path).contains(&first) && !show(path).contains("Run me"), "{path}: {}", show(path)),
        }
        server.hydrate(&["status"]).success();
        // The commit of the promoter stays found, and ours on top of it is what hydration makes.
        let promoted = server.git(&["rev-parse", "env/dev~1"]);
        let told = server.hydrate(&["verify"]).exits(1).stdout;
        let errors: Vec<&str> = told.lines().filter(|line| line.contains("error:")).collect();
        assert!(
            errors.last().is_some_and(|last| last.contains(&promoted[..7]) && last.contains(path)),
            "{path} to {text:?}: {told}"
        );
        assert!(
            !told.contains(&tip(&server, "env/dev")[..7]) || !errors.concat().contains(&tip(&server, "env/dev")[..7]),
            "{told}"
        );
        let after = tip(&server, "env/dev");
        server.hydrate(&["catch-up"]).success();
        assert_eq!(tip(&server, "env/dev"), after, "{path} to {text:?}: nothing is left to do");
    }
}

#[test]
fn what_a_promoter_leaves_as_it_is_gets_no_commit() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "dev", "env/dev")]);
    let tree = server.git(&["rev-parse", "env/dev^{tree}"]);
    push_commit(&server, "env/dev", &tree, &[&tip(&server, "env/dev")], "Merge");
    let merged = tip(&server, "env/dev");
    let tree = changed(&server, "env/dev", "web/beside.txt", Some("of others\n"));
    push_commit(&server, "env/dev", &tree, &[&merged], "Add a file");
    let beside = tip(&server, "env/dev");
    assert_eq!(server.git(&["rev-parse", "env/dev~1"]), merged);
    let words = clone.commit("words", &[("NOTES", "1")]);
    clone.push().success();
    assert_eq!((tip(&server, "env/dev"), note(&server, "env/dev")), (beside, words));
    server.hydrate(&["verify"]).success();
}

#[test]
fn a_change_of_others_that_an_earlier_version_left_gets_no_commit_by_an_upgrade() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "dev", "env/dev")]);
    let tree = changed(&server, "env/dev", ".gitattributes", Some("# mine\n"));
    let commit = server.git(&["commit-tree", &tree, "-m", "Promote", "-p", "env/dev"]);
    server.git(&["update-ref", "refs/heads/env/dev", &commit]);
    // As a version left it that looked at manifests only.
    let text = server.git(&["notes", "--ref=hydrator.metadata", "show", "env/dev~"]);
    server.git(&["notes", "--ref=hydrator.metadata", "add", "-m", &text, &commit]);
    let words = clone.commit("words", &[("NOTES", "1")]);
    clone.push().success();
    assert_eq!((tip(&server, "env/dev"), note(&server, "env/dev")), (commit, words));
    clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    assert!(server.git(&["show", "env/dev:.gitattributes"]).starts_with("**/README.md"));
}

#[test]
fn a_promoters_malformed_tree_is_refused() {
    let lab = Lab::new();
    let (server, _) = server(&lab, &[], &[("web", "dev", "env/dev")]);
    let honest = tip(&server, "env/dev");
    let raw = |entries: &str| {
        let script = format!(
            "entry() {{ printf '%s %s\\0' \"$1\" \"$2\"; printf \"$(printf '%s' \"$3\" | sed 's/../\\\\x&/g')\"; }}; \
             all() {{ git ls-tree {honest}$1 | while read mode kind id name; do entry ${{mode#0}} \"$name\" $id; done; }}; \
             web=$(git rev-parse {honest}:web); file=$(git rev-parse {honest}:web/manifest.yaml); {{ {entries}; }} | git \
             hash-object -t tree -w --literally --stdin"
        );
        server.run("bash", &["-c", &script]).success().stdout.trim_end().to_owned()
    };
    let rows = [
        ("all; entry 100644 web/manifest.yaml $file", "its root directory has an entry named `web/manifest.yaml`"),
        ("all; entry 40000 web $web", "its root directory has two entries named `web`"),
        ("entry 40000 web $web; all", "its root directory has"),
    ];
    for (entries, expected) in rows {
        let commit = server.git(&["commit-tree", &raw(entries), "-p", &honest, "-m", "Promote"]);
        let told = server.run("git", &["push", "-q", ".", &format!("{commit}:refs/heads/env/dev")]).exits(1).stderr;
        assert!(told.contains("would get a malformed tree") && told.contains("git fsck"), "{entries}: {told}");
        assert!(told.replace("\nremote: ", " ").contains(expected), "{entries}: {told}");
        assert_eq!(tip(&server, "env/dev"), honest, "{entries}");
    }
    // What git writes goes in.
    let tree = forged(&server, &honest);
    push_commit(&server, "env/dev", &tree, &[&honest], "Promote");
    assert_eq!(server.git(&["log", "-1", "--format=%T", "env/dev~1"]), tree);
}

#[test]
fn strategies_that_share_an_active_branch_by_active_paths_never_conflict() {
    for profile in ["proposal", "argocd"] {
        for way in [Way::Squash, Way::Merge] {
            let lab = Lab::new();
            let apps = [("a", "dev", "env/dev-next/a"), ("b", "dev", "env/dev-next/b")];
            let settings: [&[&str]; 2] = [&["profile", profile], &["activePaths.env/dev", "a", "b"]];
            let (server, clone) = server(&lab, &settings, &apps);
            let what = format!("{profile}, {way:?}");
            for step in 2..5 {
                let dry = clone.git(&["rev-parse", "HEAD"]);
                for name in ["a", "b"] {
                    let next = format!("env/dev-next/{name}");
                    assert_eq!(note(&server, &next), dry, "{what}: {next}");
                    assert_eq!(dry_sha(&server, &next, &format!("{name}/")), dry, "{what}: {next}");
                    promote(&server, "env/dev", &next, Some(name), way);
                    assert_eq!(dry_sha(&server, "env/dev", &format!("{name}/")), dry, "{what}");
                }
                let root = server.git(&["ls-tree", "--name-only", "env/dev"]);
                assert_eq!(root, "a\nb", "{what}: nothing at the root");
                let value = step.to_string();
                clone.commit(
                    "next",
                    &[
                        ("apps/a/dev/config.yaml", &config_map("a", &value)),
                        ("apps/b/dev/config.yaml", &config_map("b", &value)),
                    ],
                );
                let told = clone.push().success().stderr;
                assert!(!told.contains("error"), "{what}: {told}");
            }
            // One of them alone: the other's note moves all the same.
            let dry = clone.commit("one", &[("apps/a/dev/config.yaml", &config_map("a", "alone"))]);
            let before = tip(&server, "env/dev-next/b");
            clone.push().success();
            assert_eq!(
                (note(&server, "env/dev-next/a"), note(&server, "env/dev-next/b")),
                (dry.clone(), dry),
                "{what}"
            );
            assert_eq!(tip(&server, "env/dev-next/b"), before, "{what}");
            no_op(&server, &clone, &["env/dev-next/a", "env/dev-next/b"], &what);
            assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "", "{what}");
        }
    }
}

/// Pushes what changes no manifest: every note names it then, and no staging branch has a new commit.
fn no_op(server: &Repo, clone: &Repo, staging: &[&str], what: &str) {
    let before: Vec<String> = staging.iter().map(|branch| tip(server, branch)).collect();
    let dry = clone.commit("words", &[("WORDS.md", &format!("{what} {before:?}\n"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("error"), "{what}: {told}");
    for (branch, before) in staging.iter().zip(before) {
        assert_eq!((note(server, branch), tip(server, branch)), (dry.clone(), before), "{what}: {branch}");
    }
}

#[test]
fn applications_that_share_an_active_branch_without_active_paths_are_promoted_together() {
    for profile in ["proposal", "argocd"] {
        for way in [Way::Squash, Way::FastForward, Way::Merge] {
            let lab = Lab::new();
            let apps = [("a", "dev", "env/dev-next"), ("b", "dev", "env/dev-next"), ("c", "dev", "env/dev-other")];
            let (server, clone) = server(&lab, &[&["profile", profile]], &apps);
            let what = format!("{profile}, {way:?}");
            let dry = clone.git(&["rev-parse", "HEAD"]);
            // One first commit below both staging branches.
            let base = server.git(&["merge-base", "env/dev-next", "env/dev-other"]);
            assert_eq!(base, tip(&server, "env/dev"), "{what}");
            for next in ["env/dev-next", "env/dev-other"] {
                assert_eq!(
                    (note(&server, next), dry_sha(&server, next, "")),
                    (dry.clone(), dry.clone()),
                    "{what}: {next}"
                );
            }
            promote(&server, "env/dev", "env/dev-next", None, way);
            assert_eq!(dry_sha(&server, "env/dev", ""), dry, "{what}");
            // The other one is not ahead any more, whatever way the first went.
            promote(&server, "env/dev", "env/dev-other", None, if way == Way::Squash { way } else { Way::Merge });
            let names = server.git(&["ls-tree", "--name-only", "env/dev"]);
            assert!(["a", "b", "c"].iter().all(|name| names.lines().any(|found| found == *name)), "{what}: {names}");
            no_op(&server, &clone, &["env/dev-next", "env/dev-other"], &what);
            clone.commit("next", &[("apps/c/dev/config.yaml", &config_map("c", "2"))]);
            let told = clone.push().success().stderr;
            assert!(!told.contains("error"), "{what}: {told}");
            let dry = clone.git(&["rev-parse", "HEAD"]);
            assert_eq!((note(&server, "env/dev-next"), note(&server, "env/dev-other")), (dry.clone(), dry), "{what}");
            server.hydrate(&["verify"]).success();
            assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "", "{what}");
        }
    }
}

#[test]
fn what_is_changed_by_hand_where_several_staging_branches_are_promoted_to_shows_in_status() {
    let lab = Lab::new();
    let apps = [("a", "dev", "env/dev-next"), ("c", "dev", "env/dev-other")];
    let (server, clone) = server(&lab, &[], &apps);
    promote(&server, "env/dev", "env/dev-next", None, Way::FastForward);
    promote(&server, "env/dev", "env/dev-other", None, Way::Merge);
    // One of them is promoted again, the other stays at its first commit.
    clone.commit("next", &[("apps/a/dev/config.yaml", &config_map("a", "2"))]);
    clone.push().success();
    promote(&server, "env/dev", "env/dev-next", None, Way::Merge);
    server.hydrate(&["status"]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/env/dev"]);
    clone.commit("by hand", &[("c/manifest.yaml", &config_map("c", "9"))]);
    let told = clone.run("git", &["push", "-q", "origin", "promote:env/dev"]).success().stderr;
    let line = "warning: `env/dev` is not a promotion of `env/dev-next`, `env/dev-other`: c/manifest.yaml differs from what \
                hydration made";
    assert!(told.contains(line), "{told}");
    let status = server.hydrate(&["status", "--json"]).exits(1).stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let branches = status["branches"].as_array().expect("branches");
    let active = branches.iter().find(|branch| branch["branch"] == "env/dev").expect("env/dev");
    assert_eq!(active["changedByOthers"], serde_json::json!(["c/manifest.yaml"]), "{active}");
}

#[test]
fn a_promoter_that_changes_a_manifest_by_hand_is_told_and_one_that_promotes_is_not() {
    let lab = Lab::new();
    let (_server, clone) = server(&lab, &[], &[("web", "prod", "env/prod-next")]);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/env/prod-next"]);
    let push = || clone.run("git", &["push", "-q", "origin", "promote:env/prod"]).success().stderr;
    let told = push();
    assert!(!told.contains("warning"), "{told}");
    clone.commit("by hand", &[("web/manifest.yaml", &config_map("web", "9"))]);
    let told = push();
    let line =
        "warning: `env/prod` is not a promotion of `env/prod-next`: web/manifest.yaml differs from what hydration made";
    assert!(told.contains(line), "{told}");
}

#[test]
fn what_was_reverted_on_the_deployed_branch_stays_so_until_the_revert_is_taken_back_as_the_push_says() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", "env/prod-next"), ("api", "prod", "env/prod-next")]);
    let shown = |file: &str| server.git(&["show", &format!("env/prod:{file}/manifest.yaml")]);
    promote(&server, "env/prod", "env/prod-next", None, Way::FastForward);
    for (name, value) in [("web", "2"), ("api", "2")] {
        clone.commit(name, &[(&format!("apps/{name}/prod/config.yaml"), &config_map(name, value))]);
        clone.push().success();
        promote(&server, "env/prod", "env/prod-next", None, Way::Merge);
    }
    // The first of the two goes back, by the files that it changed.
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/env/prod"]);
    clone.git(&["checkout", "-q", "HEAD~2", "--", "web"]);
    clone.git(&["commit", "-q", "-m", "Revert web"]);
    let told = clone.run("git", &["push", "-q", "origin", "promote:env/prod"]).success().remote().join(" ");
    assert!(told.contains("`env/prod` is not a promotion of `env/prod-next`"), "{told}");
    let by = &tip(&server, "env/prod")[..7];
    let hint = format!(
        "a promotion by merge keeps what differs here until hydration changes the same files, and this on `env/prod` takes it back: \
         git revert --no-edit {by}"
    );
    assert!(told.contains(&hint), "{told}");
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("api", &[("apps/api/prod/config.yaml", &config_map("api", "3"))]);
    clone.push().success();
    promote(&server, "env/prod", "env/prod-next", None, Way::Merge);
    assert!(shown("web").contains("value: 1") && shown("api").contains("value: 3"), "{}", shown("web"));
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/env/prod"]);
    clone.git(&["revert", "--no-edit", ":/Revert web"]);
    let told = clone.run("git", &["push", "-q", "origin", "promote:env/prod"]).success().stderr;
    assert!(!told.contains("warning"), "{told}");
    assert!(shown("web").contains("value: 2") && shown("api").contains("value: 3"), "{}", shown("web"));
}

#[test]
fn a_branch_that_loses_its_staging_branch_is_told_to_be_promoted_no_more() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", "env/prod-next"), ("api", "prod", "env/prod-next")]);
    promote(&server, "env/prod", "env/prod-next", None, Way::FastForward);
    let edits = ["web", "api"].map(|name| {
        let (file, text) = application(name, "prod", "env/prod-next");
        (file, text.replace("    hydrateTo: {targetBranch: env/prod-next}\n", ""))
    });
    clone.commit("directly", &edits.each_ref().map(|(file, text)| (file.as_str(), text.as_str())));
    let told = clone.push().success().stderr;
    assert!(told.contains("warning: `env/prod` is not promoted any more"), "{told}");
    clone.commit("next", &[("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("promoted any more"), "{told}");
}
