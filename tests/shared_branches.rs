//! Several dry branches that share an environment branch by the setting `activePaths`: each keeps its directories.

use crate::push::{application, both, config_map, dry, tip, verified};
use crate::support::{Lab, Repo};

/// A server on which `main` writes `a` and `other` writes `b` on `environments/dev`, and a clone.
fn shared(server: &Repo, profile: &str) -> Repo {
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    server.hydrate(&["config", "set", "profile", profile]).success();
    server.hydrate(&["config", "set", "activePaths", "{environments/dev: [a, b, c]}"]).success();
    let clone = dry(server, &["a"], &["dev"]);
    clone.push().success();
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    clone.commit("other", &[(&of_other("b").0, &of_other("b").1), ("apps/b/dev/config.yaml", &config_map("b", "b"))]);
    clone.push().success();
    clone
}

/// The Application of `other`, which writes to `path`.
fn of_other(path: &str) -> (String, String) {
    let (file, text) = application("b", "dev");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    (file, text.replace("      path: b\n", &format!("      path: {path}\n")))
}

fn push(clone: &Repo) -> String {
    clone.run("git", &["push", "-q", "origin", "main", "other"]).success().remote().join("\n")
}

/// What each hydrated commit has at `a`, oldest first.
fn history_of_a(server: &Repo) -> Vec<String> {
    let commits = server.git(&["rev-list", "--reverse", "environments/dev"]);
    let shown = |commit: &str| server.run("git", &["show", &format!("{commit}:a/manifest.yaml")]).stdout;
    let named = |text: String| {
        let name = text.lines().find_map(|line| line.trim().strip_prefix("name: ").map(str::to_owned));
        name.unwrap_or_default()
    };
    commits.lines().map(|commit| named(shown(commit))).filter(|name| !name.is_empty()).collect()
}

fn take_and_give_back(server: &Repo, profile: &str) {
    let clone = shared(server, profile);
    let (file, at_b) = of_other("b");
    clone.commit("take it", &[(&file, &of_other("a").1)]);
    let taken = clone.git(&["rev-parse", "HEAD"]);
    clone.commit("give it back", &[(&file, &at_b), ("apps/b/dev/config.yaml", &config_map("b", "again"))]);
    let told = push(&clone);
    assert!(told.contains("`a` on `environments/dev` is hydrated from `main`, not from `other`"), "{told}");
    assert!(history_of_a(server).iter().all(|name| name == "a"), "{:?}", history_of_a(server));
    assert!(server.git(&["show", "environments/dev:b/manifest.yaml"]).contains("value: again"));
    server.hydrate(&["status"]).success();
    verified(server);
    // A push that changes nothing there is hydrated as well.
    clone.commit("nothing", &[("README", "x")]);
    push(&clone);
    server.hydrate(&["status"]).success();
    // What hydration would not have made is found, made of the very dry commit that asks for it.
    let message = server.git(&["log", "-1", "--format=%B", "environments/dev"]);
    let lines = message.lines().map(|line| match line.strip_prefix("Hydrate-Dry: ") {
        Some(_) => format!("Hydrate-Dry: {taken}"),
        None => line.to_owned(),
    });
    let message = lines.collect::<Vec<_>>().join("\n");
    let (base, old) = (server.git(&["rev-parse", "environments/dev~1"]), tip(server, "environments/dev"));
    let forged = server.git(&["rev-parse", "environments/dev~1:b"]);
    let tree = format!("40000 tree {forged}\ta\n40000 tree {forged}\tb\n");
    let script = format!("printf '%b' '{}' | git mktree", tree.replace('\n', "\\n").replace('\t', "\\t"));
    let tree = server.run("sh", &["-ec", &script]).success().stdout.trim().to_owned();
    let commit = server.git(&["commit-tree", &tree, "-p", &base, "-m", &message]);
    server.git(&["update-ref", "refs/heads/environments/dev", &commit]);
    let told = server.hydrate(&["verify"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    server.git(&["update-ref", "refs/heads/environments/dev", &old]);
    verified(server);
}

#[test]
fn a_commit_in_between_does_not_write_where_another_dry_branch_does() {
    both(|server| take_and_give_back(server, "proposal"));
    both(|server| take_and_give_back(server, "argocd"));
}

/// What a note names may be gone from a dry branch when other dry branches have put commits on top since.
#[test]
fn a_dry_branch_that_is_rewound_beside_others_is_no_finding() {
    both(|server| {
        let clone = shared(server, "proposal");
        clone.git(&["checkout", "-q", "main"]);
        clone.commit("change", &[("apps/a/dev/config.yaml", &config_map("a", "two"))]);
        push(&clone);
        clone.commit("nothing", &[("README", "x")]);
        push(&clone);
        clone.git(&["checkout", "-q", "other"]);
        clone.commit("change", &[("apps/b/dev/config.yaml", &config_map("b", "two"))]);
        push(&clone);
        clone.git(&["checkout", "-q", "main"]);
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        clone.commit("nothing again", &[("README", "y")]);
        clone.git(&["push", "-q", "--force", "origin", "main"]);
        server.hydrate(&["status"]).success();
        verified(server);
    });
}

#[test]
fn a_directory_changes_hands_in_one_push() {
    both(|server| {
        let clone = shared(server, "proposal");
        // `main`, which is hydrated first, gets what `other` gives up; and the other way round.
        clone.commit("give b up", &[(&of_other("b").0, &of_other("c").1)]);
        clone.git(&["checkout", "-q", "main"]);
        let (file, text) = application("a", "dev");
        clone.commit("take b", &[(&file, &text.replace("      path: a\n", "      path: b\n"))]);
        let told = push(&clone);
        assert!(!told.contains("error"), "{told}");
        let shows = |dir: &str, name: &str| {
            let text = server.git(&["show", &format!("environments/dev:{dir}/manifest.yaml")]);
            assert!(text.contains(&format!("name: {name}")), "{dir}: {text}");
        };
        shows("b", "a");
        shows("c", "b");
        clone.git(&["checkout", "-q", "other"]);
        clone.commit("take a", &[(&of_other("b").0, &of_other("a").1)]);
        let told = push(&clone);
        assert!(!told.contains("error"), "{told}");
        shows("a", "b");
        server.hydrate(&["status"]).success();
        verified(server);
    });
}

#[test]
fn a_deleted_dry_branch_leaves_its_directories_to_nobody() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = shared(&server, "proposal");
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    clone.commit("take it", &[(&of_other("b").0, &of_other("a").1)]);
    let told = clone.run("git", &["push", "-q", "origin", ":main", "other"]).success().remote().join("\n");
    assert!(history_of_a(&server).iter().all(|name| name == "a"), "{told}");
    // The settings say whose it is, and an admin changes them.
    server.hydrate(&["config", "set", "dryBranches", "other"]).success();
    clone.commit("again", &[("apps/b/dev/config.yaml", &config_map("b", "again"))]);
    clone.run("git", &["push", "-q", "origin", "other"]).success();
    assert_eq!(history_of_a(&server).last().map(String::as_str), Some("b"), "{told}");
    verified(&server);
}

/// Each dry branch that shares a branch is told of what came of its own commits.
#[test]
fn a_dry_branch_that_asks_for_a_path_of_another_fails_by_itself_and_the_other_reads_that_it_moved() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = shared(&server, "proposal");
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("two", &[("apps/a/dev/config.yaml", &config_map("a", "two"))]);
    clone.git(&["checkout", "-q", "other"]);
    let asked = clone.commit("take it", &[(&of_other("b").0, &of_other("a").1)]);
    let dev = "environments/dev";
    let old = tip(&server, dev);
    let told = push(&clone);
    let new = tip(&server, dev);
    let line = format!("{dev}  {} -> {}  1 of ", &old[..7], &new[..7]);
    assert!(told.contains(&line) && told.contains(&format!("{} failed", &asked[..7])), "{told}");
    // Each of them alone.
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("three", &[("apps/a/dev/config.yaml", &config_map("a", "three"))]);
    let told = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
    let line = format!("{dev}  {} -> {}  1 of ", &new[..7], &tip(&server, dev)[..7]);
    assert!(told.contains(&line) && !told.contains("failed") && !told.contains("error"), "{told}");
    // The state is told of each dry branch, too.
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(
        status.contains(" of main  up to date, last ") && status.contains(" of other  1 dry commit behind\n"),
        "{status}"
    );
    assert!(!status.contains("rewound"), "{status}");
}

#[test]
fn a_dry_branch_of_which_nothing_is_on_a_shared_branch_is_not_called_rewound() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    server.hydrate(&["config", "set", "activePaths", "{environments/dev: [a, b]}"]).success();
    let clone = dry(&server, &["a"], &["dev"]);
    clone.push().success();
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    let taken = of_other("a");
    clone.commit("other", &[(&taken.0, &taken.1), ("apps/b/dev/config.yaml", &config_map("b", "b"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`a` on `environments/dev` is hydrated from `main`, not from `other`"), "{told}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains(" of main  up to date, last "), "{status}");
    assert!(status.contains("nothing yet of other  nothing is hydrated from it yet\n"), "{status}");
    assert_eq!(status.matches("is hydrated from `main`").count(), 1, "{status}");
}

/// The last Application of a dry branch leaves a shared branch, on which another dry branch was hydrated last; others of the dry
/// branch go on elsewhere or do not.
fn leaves_a_shared_branch(has_another: bool) {
    let lab = Lab::new();
    let server = lab.server();
    let clone = shared(&server, "proposal");
    clone.git(&["checkout", "-q", "main"]);
    let (another, text) = application("z", "lab");
    if has_another {
        clone.commit("another", &[(&another, &text), ("apps/z/lab/config.yaml", &config_map("z", "lab"))]);
        push(&clone);
    }
    clone.commit("gone", &[(&application("a", "dev").0, ""), ("apps/a/dev/config.yaml", "")]);
    let heard = push(&clone);
    assert!(heard.contains("this commit would empty `environments/dev`, which 1 Application writes"), "{heard}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("this commit would empty"), "{status}");
    let allowed = "gone for good\n\nHydrate-Allow-Removal: environments/dev";
    clone.commit(allowed, &[("README", "x")]);
    let heard = push(&clone);
    assert!(heard.contains("removed a with 1 object"), "{heard}");
    assert!(server.run("git", &["rev-parse", "-q", "--verify", "environments/dev:a/manifest.yaml"]).code != Some(0));
    server.git(&["rev-parse", "--verify", "environments/dev:b"]);
    server.hydrate(&["status"]).success();
    clone.commit("later", &[("README", "y")]);
    push(&clone);
    server.hydrate(&["status"]).success();
    verified(&server);
}

#[test]
fn what_a_dry_branch_has_on_a_shared_branch_leaves_with_its_last_application() {
    leaves_a_shared_branch(false);
    leaves_a_shared_branch(true);
}

/// A server where the Applications of both dry branches deploy to one cluster.
fn to_one_cluster(server: &Repo) -> Repo {
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    server.hydrate(&["config", "set", "activePaths", "{environments/dev: [a, b]}"]).success();
    let clone = server.clone_to("clone");
    let there = |(file, text): (String, String)| {
        (
            file,
            text.replace("  destination:\n", "  destination:\n    name: c\n").replace("namespace: b", "namespace: a"),
        )
    };
    let (ours, theirs) = (there(application("a", "dev")), there(of_other("b")));
    let config = format!("{}---\n{}", config_map("a", "one"), config_map("kept", "one"));
    clone.commit("main", &[(&ours.0, &ours.1), ("apps/a/dev/config.yaml", &config)]);
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    clone.commit("other", &[(&theirs.0, &theirs.1), ("apps/b/dev/config.yaml", &config_map("b", "b"))]);
    clone
}

/// `other` renders a ConfigMap of each name.
fn render_in_other(clone: &Repo, names: &[&str]) -> String {
    let text: Vec<String> = names.iter().map(|name| config_map(name, "theirs")).collect();
    clone.git(&["checkout", "-q", "other"]);
    clone.commit(&names.join(" "), &[("apps/b/dev/config.yaml", &text.join("---\n"))])
}

const BOTH_RENDER: &str = "error: `a-dev` of `main` and `b-dev` both render ConfigMap a/a";

#[test]
fn an_object_that_another_dry_branch_has_on_a_shared_branch_is_held_back_and_told_its_pusher_alone() {
    both(|server| {
        let clone = to_one_cluster(server);
        push(&clone);
        let dev = "environments/dev";
        let before = tip(server, dev);
        render_in_other(&clone, &["b", "a"]);
        let told = clone.push().success().remote().join("\n");
        assert!(
            told.contains(BOTH_RENDER) && told.contains("`a-dev` is at applications/dev/a.yaml:4:9 of `main`"),
            "{told}"
        );
        assert!(told.contains("--> applications/dev/b.yaml:4:9") && !told.contains("and 1 more"), "{told}");
        assert_eq!(tip(server, dev), before);
        // The one that has it goes on with it, and reads nothing of that.
        clone.git(&["checkout", "-q", "main"]);
        let two = format!("{}---\n{}", config_map("a", "two"), config_map("kept", "one"));
        clone.commit("two", &[("apps/a/dev/config.yaml", &two)]);
        let told = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
        assert!(told.contains("1 object changed") && !told.contains("error") && !told.contains("b-dev"), "{told}");
        // So it is whatever is known of earlier renders.
        server.git(&["config", "hydrate.cache", "false"]);
        let last = render_in_other(&clone, &["b", "a", "more"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(BOTH_RENDER), "{told}");
        server.hydrate(&["status"]).exits(1);
        // Once it is given up, the other gets it.
        clone.git(&["checkout", "-q", "main"]);
        clone.commit("give it up", &[("apps/a/dev/config.yaml", &config_map("kept", "one"))]);
        let told = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
        assert!(told.contains("1 object removed") && !told.contains("error"), "{told}");
        server.hydrate(&["catch-up"]).success();
        let shown = server.git(&["show", "environments/dev:b/manifest.yaml"]);
        assert!(shown.contains("name: a\n") && shown.contains("value: theirs"), "{shown}");
        assert!(server.git(&["log", "-1", "--format=%B", dev]).contains(&last));
        server.hydrate(&["status"]).success();
        verified(server);
    });
}

#[test]
fn an_object_that_two_dry_branches_bring_in_one_push_goes_to_the_one_that_is_hydrated_first() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = to_one_cluster(&server);
    render_in_other(&clone, &["a", "kept"]);
    let told = push(&clone);
    assert!(told.contains(&format!("{BOTH_RENDER} (and 1 more)")), "{told}");
    assert!(server.git(&["show", "environments/dev:a/manifest.yaml"]).contains("value: one"));
    assert_eq!(server.git(&["ls-tree", "environments/dev", "b"]), "");
    // Objects of one name in another namespace are others.
    clone.git(&["checkout", "-q", "other"]);
    let elsewhere = config_map("a", "theirs").replace("  name: a\n", "  name: a\n  namespace: elsewhere\n");
    clone.commit("elsewhere", &[("apps/b/dev/config.yaml", &elsewhere)]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    assert!(server.git(&["show", "environments/dev:b/manifest.yaml"]).contains("namespace: elsewhere"));
    verified(&server);
}

/// `main`, which is hydrated first, asks for what `other` has.
fn take_from_main(clone: &Repo, names: &[&str]) -> Vec<String> {
    let text: Vec<String> = names.iter().map(|name| config_map(name, "ours")).collect();
    clone.git(&["checkout", "-q", "main"]);
    clone.commit(&names.join(" "), &[("apps/a/dev/config.yaml", &text.join("---\n"))]);
    let told = clone.run("git", &["push", "-q", "origin", "main"]);
    [told.remote().join("\n"), told.stderr].into()
}

const TAKES_B: &str = "error: `b-dev` of `other` and `a-dev` both render ConfigMap a/b";

#[test]
fn an_object_is_not_taken_from_a_dry_branch_that_is_hydrated_later() {
    both(|server| {
        let clone = to_one_cluster(server);
        push(&clone);
        let dev = "environments/dev";
        for cache in ["true", "false"] {
            server.git(&["config", "hydrate.cache", cache]);
            let before = tip(server, dev);
            let told = take_from_main(&clone, &["a", "kept", "b"]).concat();
            assert!(told.contains(TAKES_B), "{cache}: {told}");
            assert_eq!(tip(server, dev), before);
            take_from_main(&clone, &["a", "kept"]);
        }
        server.git(&["config", "hydrate.strict", "touched"]);
        let before = tip(server, dev);
        let told = take_from_main(&clone, &["a", "kept", "b"]).concat();
        assert!(told.contains(TAKES_B), "{told}");
        assert_eq!(tip(server, dev), before);
    });
}

#[test]
fn an_object_is_not_taken_by_an_application_that_deploys_elsewhere_first() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = to_one_cluster(&server);
    push(&clone);
    let dev = "environments/dev";
    clone.git(&["checkout", "-q", "main"]);
    let (file, text) = application("a", "dev");
    let to = |cluster: &str| text.replace("  destination:\n", &format!("  destination:\n    name: {cluster}\n"));
    clone.commit("elsewhere", &[(&file, &to("d"))]);
    take_from_main(&clone, &["a", "kept", "b"]);
    let before = tip(&server, dev);
    assert!(server.git(&["show", "environments/dev:a/manifest.yaml"]).contains("name: b\n"), "another cluster");
    clone.commit("here", &[(&file, &to("c"))]);
    let told = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
    assert!(told.contains(TAKES_B), "{told}");
    assert_eq!(tip(&server, dev), before);
}

#[test]
fn an_object_is_not_taken_under_another_name_of_the_cluster_or_with_a_namespace_that_its_kind_does_not_have() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = to_one_cluster(&server);
    let known = "- {name: c, server: 'https://c.example.com'}\n";
    clone.git(&["checkout", "-q", "main"]);
    let role = |namespace: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r{namespace}}}\nrules: []\n"
        )
    };
    clone.commit("known", &[("known.yaml", known)]);
    clone.git(&["checkout", "-q", "other"]);
    clone.commit("r", &[("apps/b/dev/role.yaml", &role("")), ("known.yaml", known)]);
    push(&clone);
    server.hydrate(&["config", "set", "clusters", "known.yaml"]).success();
    let before = tip(&server, "environments/dev");
    assert_eq!(taken_by(&clone, &[("apps/a/dev/role.yaml", &role(", namespace: x"))]), 1);
    let (file, text) = application("a", "dev");
    let to = |destination: &str| text.replace("  destination:\n", &format!("  destination:\n    {destination}\n"));
    for server in ["https://c.example.com", "https://c.example.com/"] {
        let files =
            [(&*file, &*to(&format!("server: {server}"))), ("apps/a/dev/config.yaml", &config_map("b", "ours"))];
        assert_eq!(taken_by(&clone, &files), 1, "{server}");
    }
    assert_eq!(tip(&server, "environments/dev"), before);
}

/// How many mistakes a push of `main` with these files has of objects that `other` has; it is taken back afterwards.
fn taken_by(clone: &Repo, files: &[(&str, &str)]) -> usize {
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("take", files);
    let heard = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.run("git", &["push", "-q", "-f", "origin", "main"]).success();
    heard.matches("error: `b-dev` of `other` and `a-dev` both render").count()
}

#[test]
fn two_applications_of_one_dry_branch_are_of_one_cluster_by_its_name_and_by_its_server_in_each_push() {
    both(|server| {
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        server.hydrate(&["config", "set", "clusters", "known.yaml"]).success();
        let clone = server.clone_to("clone");
        let to = |name: &str, destination: &str| {
            let (file, text) = application(name, "dev");
            (file, text.replace("namespace: b", "namespace: a").replace("  destination:\n", destination))
        };
        let (a, b) =
            (to("a", "  destination:\n    name: c\n"), to("b", "  destination:\n    server: https://c.example.com\n"));
        let known = "- {name: c, server: 'https://c.example.com'}\n";
        let [one, two] = ["a", "b"].map(|name| config_map(name, "one"));
        let files = [("known.yaml", known), (&a.0, &*a.1), (&b.0, &b.1)];
        clone.commit("apps", &files);
        clone.commit("objects", &[("apps/a/dev/config.yaml", &one), ("apps/b/dev/config.yaml", &two)]);
        clone.push().success();
        let before = tip(server, "environments/dev");
        // Each of them alone, as a change of its files only and of its document only.
        for (file, text) in [("apps/b/dev/config.yaml", &one), ("apps/a/dev/config.yaml", &two)] {
            clone.commit("takes", &[(file, text), (&a.0, &format!("{}# edited\n", a.1))]);
            let heard = clone.run("git", &["push", "-q", "origin", "main"]).success().remote().join("\n");
            assert!(heard.contains("both render ConfigMap a/"), "{file}: {heard}");
            assert_eq!(tip(server, "environments/dev"), before);
            clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
            clone.run("git", &["push", "-q", "-f", "origin", "main"]).success();
        }
    });
}
