//! What a developer sees before a push leaves, and when it does not leave.

use crate::push::{application, config_map, dry, tip};
use crate::support::{Answer, BINARY, Lab, Repo};

const SLIP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n";

/// A server, and a clone with the hook installed, whose Applications `web` and `api` are hydrated to two environments.
fn team() -> (Lab, Repo, Repo) {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    (lab, server, clone)
}

/// What the clone itself says in a push, not the server and not git.
fn said(answer: &Answer) -> Vec<&str> {
    let ours = ["environments/", "  ", "no change", "error:", "hint:", "note:", "warning:", "the hook"];
    let lines = answer.stderr.lines().filter(|line| !line.contains(" -> ") && !line.contains("failed to push"));
    lines.filter(|line| ours.iter().any(|start| line.starts_with(start))).collect()
}

fn push(clone: &Repo, args: &[&str], variables: &[(&str, &str)]) -> Answer {
    let mut command = clone.command("git");
    command.arg("push").args(args).envs(variables.iter().copied());
    Answer::new(command.output().expect("git runs"))
}

#[test]
fn a_push_shows_what_it_changes() {
    let (_lab, _server, clone) = team();
    clone.commit("change", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    assert_eq!(
        said(&push(&clone, &["origin", "main"], &[]).success()),
        ["environments/prod  1 object changed in 1 of 2 Applications", "no change in environments/dev"]
    );
    clone.git(&["fetch", "-q"]);
    clone.commit("nothing", &[]);
    assert_eq!(
        said(&push(&clone, &["--force", "origin", "main"], &[]).success()),
        ["no change in environments/dev, environments/prod"]
    );
    clone.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "nothing else"]);
    let rewound = push(&clone, &["--force", "origin", "main"], &[]).success();
    let removed = "warning: this push removes 1 commit of main from the remote";
    assert_eq!(said(&rewound), [removed, "no change in environments/dev, environments/prod"]);
}

#[test]
fn the_first_push_to_a_staging_branch_is_compared_with_the_branch_that_is_deployed() {
    let (_lab, _server, clone) = team();
    let staged = |name: &str| {
        let (file, text) = application(name, "prod");
        (file, text + "    hydrateTo: {targetBranch: environments/prod-next}\n")
    };
    let [web, api] = ["web", "api"].map(staged);
    let changed = config_map("web", "new");
    let files = [(web.0.as_str(), web.1.as_str()), (&api.0, &api.1), ("apps/web/prod/config.yaml", &changed)];
    clone.commit("stage prod", &files);
    let shown = "environments/prod-next  1 object changed in 1 of 2 Applications";
    let diff = clone.hydrate(&["diff", "--stat"]).stdout;
    assert!(diff.contains(shown), "{diff}");
    let told = push(&clone, &["origin", "main"], &[]).success();
    assert!(said(&told).contains(&shown), "{}", told.stderr);
}

#[test]
fn what_a_paused_application_holds_back_is_not_only_no_change() {
    let (_lab, _server, clone) = team();
    let (file, text) = application("web", "prod");
    let paused = text.replace("metadata:\n", "metadata:\n  annotations: {git-hydrate/paused: 'true'}\n");
    clone.commit("pause", &[(&file, &paused)]);
    push(&clone, &["origin", "main"], &[]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("change", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    let told = push(&clone, &["origin", "main"], &[]).success();
    let lines = said(&told);
    assert_eq!(lines[0], "no change in environments/dev, environments/prod", "{}", told.stderr);
    assert!(
        lines[1].starts_with("  of environments/prod, web-prod is paused: web shows dry commit "),
        "{}",
        told.stderr
    );
}

/// As after `git push` twice: the environment branches are those that were fetched before.
#[test]
fn a_push_without_a_fetch_does_not_repeat_what_is_pushed_already() {
    let (_lab, _server, clone) = team();
    for (name, value) in [("web", "one"), ("api", "two"), ("web", "three")] {
        clone.commit(value, &[(&format!("apps/{name}/prod/config.yaml"), &config_map(name, value))]);
        assert_eq!(
            said(&push(&clone, &["origin", "main"], &[]).success()),
            ["environments/prod  1 object changed in 1 of 2 Applications", "no change in environments/dev"],
            "{value}"
        );
    }
    // Back at what is on the branch that was pushed last.
    clone.commit("four", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    assert_eq!(
        said(&push(&clone, &["origin", "main"], &[]).success()),
        ["no change in environments/dev, environments/prod"]
    );
}

/// The error of the last commit is the only one: a push as one commit would not help.
#[test]
fn of_two_commits_of_which_the_last_fails_only_its_error_is_one() {
    let (_lab, _server, clone) = team();
    clone.commit("one", &[("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    clone.commit("slip", &[("apps/web/prod/config.yaml", SLIP)]);
    let said = push(&clone, &["origin", "main"], &[]).exits(1).stderr;
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    let blocked = "error: push blocked: this commit does not hydrate everywhere";
    let expected = ["error: not valid YAML: did not find expected node content", blocked];
    assert_eq!(errors[..2], expected, "{said}");
    let before = "the last of these 2 commits fails on `environments/prod`, but those before it are hydrated there: it has another";
    assert!(said.replace("\n  ", " ").contains(before) && !said.contains("as one commit"), "{said}");
}

/// What was pushed without a fetch is counted from what the remote has: these commits do not do it.
#[test]
fn commits_that_the_remote_has_already_are_not_said_to_leave_a_branch_otherwise() {
    let (_lab, _server, clone) = team();
    let (file, text) = application("web", "prod");
    let paused = text.replace("metadata:\n", "metadata:\n  annotations: {git-hydrate/paused: 'true'}\n");
    clone.commit("one", &[("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    push(&clone, &["origin", "main"], &[]).success();
    // Alone, this leaves what was there before the first.
    clone.commit("pause", &[(&file, &paused)]);
    let said = push(&clone, &["origin", "main"], &[]).success();
    assert!(!said.stderr.contains("one by one"), "{}", said.stderr);
    for value in ["two", "three"] {
        clone.commit(value, &[("apps/api/prod/config.yaml", &config_map("api", value))]);
    }
    let said = push(&clone, &["origin", "main"], &[]).success();
    assert!(!said.stderr.contains("one by one"), "{}", said.stderr);
    // These do.
    clone.commit("resume and change", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "four"))]);
    clone.commit("pause", &[(&file, &paused)]);
    let said = push(&clone, &["origin", "main"], &[]).exits(1).stderr;
    let otherwise = "these 2 commits leave `environments/prod` otherwise than the last one alone";
    assert!(said.replace("\n  ", " ").contains(otherwise), "{said}");
}

/// The branch does not show the remote's commit, since an object would leave by it.
#[test]
fn a_push_after_one_that_was_held_is_compared_with_the_branch() {
    let (_lab, server, clone) = team();
    clone.commit("more", &[("apps/web/dev/more.yaml", &config_map("more", "one"))]);
    push(&clone, &["origin", "main"], &[]).success();
    clone.git(&["fetch", "-q"]);
    let before = tip(&server, "environments/dev");
    clone.git(&["mv", "apps/web/dev/more.yaml", "apps/web/dev/more.yam"]);
    clone.commit("slip", &[]);
    push(&clone, &["origin", "main"], &[("GIT_HYDRATE_SKIP", "1")]).success();
    assert_eq!(tip(&server, "environments/dev"), before);
    clone.git(&["mv", "apps/web/dev/more.yam", "apps/web/dev/more.yaml"]);
    clone.git(&["rm", "-q", "apps/web/dev/config.yaml"]);
    clone.commit("right again, and one goes", &[]);
    let told = push(&clone, &["origin", "main"], &[]).success();
    assert_eq!(said(&told)[0], "environments/dev   1 object removed in 1 of 2 Applications", "{told:?}");
}

#[test]
fn what_does_not_render_stops_the_push() {
    let (_lab, server, clone) = team();
    let before = tip(&server, "main");
    clone.commit("slip", &[("apps/web/dev/config.yaml", SLIP)]);
    // The working tree is in order; what is pushed is not.
    std::fs::write(clone.path.join("apps/web/dev/config.yaml"), config_map("web", "mended")).expect("written");
    let stopped = push(&clone, &["origin", "main"], &[]).exits(1);
    assert_eq!(
        said(&stopped)[..9],
        [
            "environments/dev   fails, so it stays as it is",
            "no change in environments/prod",
            "error: not valid YAML: did not find expected node content",
            "  --> apps/web/dev/config.yaml:4:1",
            "  = application: web-dev",
            "  = hint: correct the YAML; a file without manifests is left out by a comment `+argocd:skip-file-rendering`",
            "error: push blocked: this commit does not hydrate everywhere",
            "hint: to push anyway: GIT_HYDRATE_SKIP=1 git push",
            "hint: to warn instead of blocking: git config hydrate.prePush warn",
        ]
    );
    assert_eq!(tip(&server, "main"), before);
    clone.git(&["config", "hydrate.prePush", "sometimes"]);
    let doubtful = push(&clone, &["origin", "main"], &[]).exits(1);
    assert!(doubtful.stderr.starts_with("warning: hydrate.prePush = sometimes: must be block, warn or off\n"));
    clone.git(&["config", "hydrate.prePush", "warn"]);
    let warned = push(&clone, &["--dry-run", "origin", "main"], &[]).success();
    assert_eq!(said(&warned)[0], "environments/dev   fails, so it stays as it is");
    clone.git(&["config", "hydrate.prePush", "off"]);
    assert_eq!(said(&push(&clone, &["--dry-run", "origin", "main"], &[]).success()), [""; 0]);
    clone.git(&["config", "--unset", "hydrate.prePush"]);
    let skipped = push(&clone, &["origin", "main"], &[("GIT_HYDRATE_SKIP", "1")]).success();
    assert_eq!(said(&skipped), [""; 0]);

    // What is broken on the server already does not stop the next push, which mends something else.
    clone.git(&["checkout", "-q", "."]);
    clone.git(&["fetch", "-q"]);
    clone.commit("other", &[("apps/api/prod/config.yaml", &config_map("api", "new"))]);
    let known = push(&clone, &["origin", "main"], &[]).success();
    assert_eq!(said(&known).last(), Some(&"note: 1 of them did not hydrate before, for the same reasons"));
}

#[test]
fn what_is_not_hydrated_is_pushed_without_a_word() {
    let (lab, server, clone) = team();
    let fork = lab.path("fork.git");
    clone.git(&["init", "-q", "--bare", fork.to_str().expect("UTF-8")]);
    clone.git(&["remote", "add", "fork", fork.to_str().expect("UTF-8")]);
    clone.git(&["tag", "v1"]);
    clone.git(&["branch", "topic"]);
    clone.commit("slip", &[("apps/web/dev/config.yaml", SLIP)]);
    for args in [
        &["fork", "main"][..],
        &["origin", "v1"],
        &["origin", "HEAD:refs/heads/wip", "topic"],
        &["origin", ":topic", "HEAD:refs/tags/odd"],
    ] {
        assert_eq!(said(&push(&clone, args, &[]).success()), [""; 0], "{args:?}");
    }
    // The dry remote by its address, and several branches of which one does not render.
    let url = clone.git(&["remote", "get-url", "origin"]);
    push(&clone, &[&url, "main"], &[]).exits(1);
    push(&clone, &["origin", "topic", "main"], &[]).exits(1);
    assert_eq!(server.git(&["branch", "--list", "topic"]), "", "a push that is stopped pushes nothing");
    clone.git(&["config", "hydrate.remote", "fork"]);
    assert_eq!(said(&push(&clone, &["--dry-run", "origin", "main"], &[]).success()), [""; 0]);
}

#[test]
fn a_hook_that_was_there_runs_first_with_the_same_input() {
    let (_lab, _server, clone) = team();
    clone.hydrate(&["uninstall"]).success();
    assert_eq!(clone.names(".git/hooks").iter().filter(|name| name.starts_with("pre-push")).count(), 1, "the sample");
    let theirs = "#!/bin/sh\necho \"the hook: $* $(cat | wc -l)\" >&2\ntest ! -e stop\n";
    clone.hook(".git/hooks/pre-push", theirs);
    let told = clone.hydrate(&["install", "--client"]).success().stdout;
    assert!(told.contains("hooks/pre-push is kept as hooks/pre-push.hydrate-orig, which runs first"), "{told}");
    clone.commit("change", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    clone.git(&["tag", "v1"]);
    let url = clone.git(&["remote", "get-url", "origin"]);
    let answer = push(&clone, &["origin", "main", "v1"], &[]).success();
    assert_eq!(
        said(&answer)[..2],
        [&*format!("the hook: origin {url} 2"), "environments/prod  1 object changed in 1 of 2 Applications"]
    );
    assert_eq!(said(&push(&clone, &["origin", "main"], &[]).success()), [format!("the hook: origin {url} 0")]);
    clone.commit("more", &[("stop", "x"), ("apps/web/prod/config.yaml", &config_map("web", "more"))]);
    assert_eq!(said(&push(&clone, &["origin", "main"], &[]).exits(1))[0], format!("the hook: origin {url} 1"));
    clone.hydrate(&["uninstall"]).success();
    assert_eq!(clone.file(".git/hooks/pre-push").as_deref(), Some(theirs));
}

#[test]
fn a_hook_without_its_program_lets_pushes_through() {
    let (_lab, _server, clone) = team();
    let hook = clone.file(".git/hooks/pre-push").expect("installed");
    clone.hook(".git/hooks/pre-push", &hook.replace(BINARY, "/gone/git-hydrate"));
    clone.commit("slip", &[("apps/web/dev/config.yaml", SLIP)]);
    assert_eq!(
        said(&push(&clone, &["origin", "main"], &[]).success()),
        [
            "warning: /gone/git-hydrate cannot be run: this push is not checked",
            "hint: to fix it: git hydrate install --client"
        ]
    );
}

#[test]
fn hooks_of_others_are_left_alone() {
    let (_lab, _server, clone) = team();
    let told = |answer: Answer| answer.stdout;
    let good = told(clone.hydrate(&["doctor"]).success());
    assert!(good.contains("/hooks/pre-push runs "), "{good}");
    clone.hydrate(&["uninstall"]).success();
    assert!(told(clone.hydrate(&["doctor"])).contains("advice   pushes are not checked\n"));
    clone.git(&["config", "core.hooksPath", ".githooks"]);
    let refused = told(clone.hydrate(&["install", "--client"]).exits(1));
    let dir = clone.path.canonicalize().expect("there").join(".githooks");
    assert!(refused.contains(&format!("refused  hooks are taken from {}, which", dir.display())), "{refused}");
    // As the advice says: what is printed goes into the team's own hook.
    let script = told(clone.hydrate(&["install", "--print", "pre-push"]).success());
    clone.hook(".githooks/pre-push", &script);
    assert!(told(clone.hydrate(&["doctor"]).success()).contains("/.githooks/pre-push runs "));
    clone.commit("slip", &[("apps/web/dev/config.yaml", SLIP)]);
    push(&clone, &["origin", "main"], &[]).exits(1);
}

#[test]
fn a_new_branch_beside_the_dry_branches_is_previewed_as_the_one_it_will_be_merged_into() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let text = text.replace("targetRevision: main", "targetRevision: HEAD");
    clone.commit("web", &[(&file, &text), ("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["switch", "-qc", "feature"]);
    clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let told = clone.hydrate(&["diff"]);
    assert!(told.stdout.contains("environments/dev") && !told.stdout.contains("fails"), "{told:?}");
    let told = clone.run("git", &["push", "-q", "origin", "feature"]).success();
    assert_eq!(told.stderr, "");
}
