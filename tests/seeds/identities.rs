//! Whose random values are whose: no two Applications ever have the same password.

use super::{DEV, RECORDS, allow, application, chart, commit, of_engine_3, password, record, server, told};
use crate::destinations::destination;
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";
const PUB: &str = "environments/pub";
const STAGE: &str = "environments/stage";

/// A server with two dry branches and a seed, and a clone.
fn two_dry_branches(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    allow(&server);
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    let clone = server.clone_to("clone");
    (server, clone)
}

/// The Application `web` on a branch, of a dry branch, into a path.
fn web(dry_branch: &str, branch: &str, path: &str) -> (String, String) {
    let (file, text) = application("web", branch);
    let text = text.replace("targetRevision: main", &format!("targetRevision: {dry_branch}"));
    (file, text.replace("path: web}\n", &format!("path: {path}}}\n")))
}

/// Its chart, with objects that are named for `dry_branch`.
fn charts(dry_branch: &str) -> impl Iterator<Item = (String, String)> + use<'_> {
    let named = move |text: String| text.replace("{name: web", &format!("{{name: web-{dry_branch}"));
    chart("web", "a").into_iter().map(move |(path, text)| (path, named(text)))
}

/// Begins the dry branch `other` with files of its own.
fn begin_other(clone: &Repo, files: impl IntoIterator<Item = (String, String)>) {
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    commit(clone, "other", files);
}

fn push(clone: &Repo) -> String {
    clone.run("git", &["push", "-q", "origin", "HEAD"]).success().remote().join("\n")
}

/// Commits files with leave to empty a branch, and pushes.
fn push_moved(clone: &Repo, left: &str, files: impl IntoIterator<Item = (String, String)>) -> String {
    commit(clone, &format!("move\n\nHydrate-Allow-Removal: {left}"), files);
    push(clone)
}

/// Moves the file of `web` elsewhere, so that it is the Application of a colleague.
fn hand_over(clone: &Repo, to: &str, files: (String, String)) {
    clone.git(&["rm", "-q", "--ignore-unmatch", "apps/web.yaml"]);
    commit(clone, "handed over", [(format!("apps/{to}.yaml"), files.1)]);
}

/// What has random values is the same when it is made again: from commits alone, in a fresh clone, and without the records.
fn is_the_same_everywhere(server: &Repo, name: &str) {
    server.hydrate(&["verify"]).success();
    let fresh = server.clone_to(name);
    fresh.hydrate(&["verify"]).success();
    let shown = fresh.hydrate(&["diff"]).success().stdout;
    assert!(!shown.contains("password"), "{shown}");
}

#[test]
fn a_private_password_is_not_had_by_an_application_of_that_name_on_another_dry_branch() {
    let lab = Lab::new();
    let (server, clone) = two_dry_branches(&lab);
    let deploy = destination(&server, "deploy");
    server.hydrate(&["config", "set", "activePaths", "{\"deploy:environments/prod\": [m, o]}"]).success();
    let there = |dry_branch: &str, path: &str| {
        let (file, text) = web(dry_branch, PROD, path);
        (file, text.replace("syncSource: {", "syncSource: {repoURL: https://git.example.com/deploy.git, "))
    };
    commit(&clone, "main", charts("main").chain([there("main", "m/web")]));
    push(&clone);
    let secret = password(&deploy, PROD, "m/web");
    begin_other(&clone, charts("other").chain([there("other", "o/web")]));
    push(&clone);
    let others = password(&deploy, PROD, "o/web");
    assert_ne!(others, secret);
    push_moved(&clone, "deploy:environments/prod", [web("other", PUB, "web")]);
    assert_eq!(password(&server, PUB, "web"), others, "it takes its own along");
    // The other way round: without random values on the shared branch, and with some once it is elsewhere.
    let plain = charts("other").filter(|(path, _)| !path.contains("secret"));
    let plain: Vec<_> = plain.chain([there("other", "o/web")]).collect();
    clone.git(&["rm", "-q", "charts/web/templates/secret.yaml"]);
    push_moved(&clone, PUB, plain);
    push_moved(&clone, "deploy:environments/prod", charts("other").chain([web("other", STAGE, "web")]));
    assert_ne!(password(&server, STAGE, "web"), secret);
    // And where the first dry branch goes on, edits and moves.
    clone.git(&["checkout", "-q", "main"]);
    commit(&clone, "edit", [("charts/web/templates/plain.yaml".to_owned(), "".to_owned())]);
    push_moved(&clone, "deploy:environments/prod", None);
    assert_eq!(password(&deploy, PROD, "m/web"), secret);
    is_the_same_everywhere(&server, "fresh");
    push_moved(&clone, "deploy:environments/prod", [web("main", "environments/secret", "web")]);
    assert_eq!(password(&server, "environments/secret", "web"), secret, "its own, whoever wrote the branch last");
    is_the_same_everywhere(&server, "fresh-again");
}

#[test]
fn dry_branches_that_share_a_branch_keep_their_passwords_without_records_too() {
    let lab = Lab::new();
    let (server, clone) = two_dry_branches(&lab);
    server.hydrate(&["config", "set", "activePaths", "{environments/prod: [m, o]}"]).success();
    commit(&clone, "main", charts("main").chain([web("main", PROD, "m/web")]));
    push(&clone);
    begin_other(&clone, charts("other").chain([web("other", PROD, "o/web")]));
    push(&clone);
    let passwords = || [password(&server, PROD, "m/web"), password(&server, PROD, "o/web")];
    let before = passwords();
    assert_ne!(before[0], before[1]);
    for round in 0..2 {
        for branch in ["main", "other"] {
            clone.git(&["checkout", "-q", branch]);
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {branch}-{round}}}\n");
            let file = format!("charts/web/templates/more-{round}.yaml");
            commit(&clone, "edit", [(file, text)]);
            push(&clone);
            assert_eq!(passwords(), before, "{branch}, round {round}");
        }
        let trailers = server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Identity,valueonly)", PROD]);
        assert_eq!(trailers.trim(), "argocd/web/environments/prod~other");
        is_the_same_everywhere(&server, &format!("fresh-{round}"));
        server.git(&["update-ref", "-d", RECORDS]);
    }
}

#[test]
fn a_password_that_moved_away_is_not_had_by_who_comes_to_the_deleted_branch() {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let (server, clone) = two_dry_branches(&lab);
    let host = elsewhere.bare(&[]);
    let url = host.path.to_str().expect("UTF-8").to_owned();
    server.git(&["push", "-q", &url, "refs/hydrate/config:refs/heads/settings"]);
    let environments = |repo: &Repo| {
        let all = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/environments"]);
        all.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let worker = |name: &str| {
        for branch in ["main", "other"] {
            server.run("git", &["push", "-q", &url, branch]);
        }
        let job = host.clone_to(name);
        job.hydrate(&["push", "--settings-ref", "settings"]).success();
        assert_eq!(environments(&host), environments(&server), "a worker makes the same, {name}");
    };
    commit(&clone, "main", charts("main").chain([web("main", DEV, "web")]));
    push(&clone);
    let secret = password(&server, DEV, "web");
    worker("one");
    push_moved(&clone, DEV, [web("main", PROD, "web")]);
    worker("two");
    for repo in [&server, &host] {
        repo.git(&["update-ref", "-d", &format!("refs/heads/{DEV}")]);
    }
    begin_other(&clone, charts("other").chain([web("other", DEV, "web")]));
    push(&clone);
    let others = password(&server, DEV, "web");
    assert_eq!(password(&server, PROD, "web"), secret);
    assert_ne!(others, secret);
    worker("three");
    // The same where the records are gone, and the branch once more.
    server.git(&["update-ref", "-d", &format!("refs/heads/{DEV}")]);
    server.git(&["update-ref", "-d", RECORDS]);
    commit(&clone, "again", [("NOTES".to_owned(), "x".to_owned())]);
    push(&clone);
    assert_eq!(password(&server, DEV, "web"), others);
    is_the_same_everywhere(&server, "fresh");
}

#[test]
fn an_application_that_comes_where_another_one_left_has_a_password_of_its_own() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    // Beside others, which keep the branches.
    let keep = [DEV, STAGE, PROD].map(|branch| {
        let (_, text) = application("db", branch);
        (format!("apps/keep-{}.yaml", branch.replace('/', "-")), text)
    });
    clone.git(&["rm", "-q", "apps/db.yaml"]);
    commit(&clone, "keep", keep.into_iter().chain([web("main", PROD, "web")]));
    push(&clone);
    let mut all = vec![password(&server, PROD, "web")];
    let steps = [("first", DEV, PROD), ("second", STAGE, PROD), ("third", DEV, PROD)];
    for (name, to, _) in &steps[..2] {
        hand_over(&clone, name, web("main", to, "web"));
        push(&clone);
        assert_eq!(password(&server, to, "web"), *all.last().expect("one"), "it takes its own along");
        commit(&clone, "a new one", [web("main", PROD, "web")]);
        push(&clone);
        all.push(password(&server, PROD, "web"));
        is_the_same_everywhere(&server, name);
    }
    assert_eq!(all.len(), 3);
    // One that left goes on, and one comes where it was in between.
    clone.git(&["rm", "-q", "apps/first.yaml"]);
    commit(&clone, "on", [("apps/on.yaml".to_owned(), web("main", "environments/on", "web").1)]);
    push(&clone);
    assert_eq!(password(&server, "environments/on", "web"), all[0]);
    commit(&clone, "in between", [("apps/between.yaml".to_owned(), web("main", DEV, "web").1)]);
    push(&clone);
    all.push(password(&server, DEV, "web"));
    // What stays has its own, also when everything is rendered again.
    commit(&clone, "edit", chart("web", "new"));
    push(&clone);
    let now = ["environments/on", STAGE, PROD, DEV].map(|branch| password(&server, branch, "web"));
    assert_eq!(now.to_vec(), all);
    is_the_same_everywhere(&server, "fresh");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn of_two_that_an_application_becomes_one_has_its_password() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    push(&clone);
    let before = password(&server, DEV, "web");
    let (file, text) = web("main", STAGE, "web");
    commit(&clone, "split", [web("main", PROD, "web"), (file.replace("web", "more"), text)]);
    push(&clone);
    assert_eq!(password(&server, PROD, "web"), before);
    assert_ne!(password(&server, STAGE, "web"), before);
    is_the_same_everywhere(&server, "fresh");
}

#[test]
fn random_values_that_come_later_are_an_applications_own_too() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    push(&clone);
    let before = password(&server, DEV, "web");
    hand_over(&clone, "moved", web("main", PROD, "web"));
    push(&clone);
    let late = chart("late", "a").into_iter().filter(|(path, _)| !path.contains("secret"));
    let (file, text) = web("main", DEV, "web");
    let late: Vec<_> = late.chain([(file, text.replace("charts/web", "charts/late"))]).collect();
    commit(&clone, "without any", late);
    push(&clone);
    commit(&clone, "with some", chart("late", "b"));
    push(&clone);
    assert_eq!(password(&server, PROD, "web"), before);
    assert_ne!(password(&server, DEV, "web"), before);
    assert_eq!(
        record(&server, "environments%2Fdev.json")["drawn"]["web"]["identity"],
        "argocd/web/environments/dev~main"
    );
    is_the_same_everywhere(&server, "fresh");
}

#[test]
fn two_applications_of_one_name_on_one_branch_do_not_get_one_password() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    push(&clone);
    let before = password(&server, DEV, "web");
    let (_, text) = web("main", DEV, "more");
    commit(&clone, "one more", [("apps/more.yaml".to_owned(), text.replace("releaseName: web", "releaseName: more"))]);
    let said = push(&clone);
    let expected = "`web` would have the random values of another Application of that name on `environments/dev`";
    assert!(said.contains(expected) && said.contains("apps/more.yaml:8:"), "{said}");
    assert!(said.contains("hint: give it a name or a branch of its own: random values follow from both"), "{said}");
    server.run("git", &["rev-parse", "-q", "--verify", &format!("{DEV}:more")]).exits(1);
    commit(&clone, "its own", [("apps/more.yaml".to_owned(), text.replace("name: web,", "name: more,"))]);
    let files =
        chart("web", "b").map(|(path, text)| (path, text.replace("{name: web", "{name: \"{{ .Release.Name }}\"")));
    commit(&clone, "objects of their own", files);
    let (_, text) = web("main", DEV, "more");
    let text = text.replace("name: web,", "name: more,").replace("releaseName: web", "releaseName: more");
    commit(&clone, "and a release", [("apps/more.yaml".to_owned(), text)]);
    let said = push(&clone);
    assert_eq!(password(&server, DEV, "web"), before, "{said}");
    assert_ne!(password(&server, DEV, "more"), before);
    is_the_same_everywhere(&server, "fresh");
}

#[test]
fn what_drew_before_there_was_another_dry_branch_keeps_its_password() {
    let lab = Lab::new();
    let (server, clone) = of_engine_3(&lab);
    let before = password(&server, DEV, "web");
    server.hydrate(&["config", "set", "dryBranches", "other", "main"]).success();
    commit(&clone, "edit", chart("web", "b"));
    let said = told(clone.push());
    assert_eq!(password(&server, DEV, "web"), before, "{said}");
    commit(&clone, "moved", [web("main", PROD, "web")]);
    let said = told(clone.push());
    assert_eq!(password(&server, PROD, "web"), before, "{said}");
    server.hydrate(&["verify"]).success();
}

#[test]
fn dry_branches_that_share_a_branch_no_more_keep_their_passwords() {
    let lab = Lab::new();
    let (server, clone) = two_dry_branches(&lab);
    server.hydrate(&["config", "set", "activePaths", "{environments/prod: [m, o]}"]).success();
    commit(&clone, "main", charts("main").chain([web("main", PROD, "m/web")]));
    push(&clone);
    begin_other(&clone, charts("other").chain([web("other", PROD, "o/web")]));
    push(&clone);
    let before = [password(&server, PROD, "m/web"), password(&server, PROD, "o/web")];
    let edit = |text: &str| {
        clone.git(&["checkout", "-q", "main"]);
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {text}}}\n");
        commit(&clone, "edit", [("charts/web/templates/more.yaml".to_owned(), text)]);
        push(&clone)
    };
    edit("one");
    // The other one has no branch by then, which is said.
    server.hydrate(&["config", "unset", "activePaths"]).exits(1);
    assert_eq!(password(&server, PROD, "m/web"), before[0], "as soon as the setting is gone");
    let said = edit("two");
    assert_eq!(password(&server, PROD, "m/web"), before[0], "{said}");
    let named = server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Identity,valueonly)", PROD]);
    assert_eq!(named.trim(), "argocd/web/environments/prod~other other", "that of the other one stays its own");
    server.hydrate(&["verify"]).success();
    server.clone_to("fresh").hydrate(&["verify"]).success();
    // Once more with paths of their own, both go on.
    server.hydrate(&["config", "set", "activePaths", "{environments/prod: [m, o]}"]).success();
    clone.git(&["checkout", "-q", "other"]);
    commit(&clone, "again", [("NOTES".to_owned(), "x".to_owned())]);
    push(&clone);
    assert_eq!([password(&server, PROD, "m/web"), password(&server, PROD, "o/web")], before);
}

#[test]
fn an_application_that_moved_keeps_its_password_when_its_dry_branch_is_renamed() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    push(&clone);
    let before = password(&server, DEV, "web");
    commit(&clone, "moved", [web("main", PROD, "web")]);
    push(&clone);
    clone.git(&["checkout", "-q", "-b", "trunk"]);
    let files = [web("trunk", PROD, "web"), application("db", DEV)]
        .map(|(file, text)| (file, text.replace("targetRevision: main", "targetRevision: trunk")));
    commit(&clone, "trunk", files);
    server.hydrate(&["config", "set", "dryBranches", "trunk"]).success();
    push(&clone);
    server.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    clone.git(&["push", "-q", "origin", ":main"]);
    commit(&clone, "edit", chart("web", "b"));
    let said = push(&clone);
    assert_eq!(password(&server, PROD, "web"), before, "{said}");
    let named = server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Identity,valueonly)", PROD]);
    assert_eq!(named.trim(), "argocd/web/environments/dev", "it is that of the new name");
    server.hydrate(&["verify"]).success();
}

#[test]
fn a_new_application_is_not_shown_the_password_of_another_one_on_its_branch() {
    let lab = Lab::new();
    let (server, clone) = two_dry_branches(&lab);
    server.hydrate(&["config", "set", "activePaths", "{environments/prod: [m, o, o2]}"]).success();
    commit(&clone, "main", charts("main").chain([web("main", PROD, "m/web")]));
    push(&clone);
    begin_other(&clone, [("NOTES".to_owned(), "x".to_owned())]);
    push(&clone);
    let shown = |revision: &str| {
        let shown = server.hydrate(&["render", "web", "--rev", revision]).success().stdout;
        let line = shown.lines().find_map(|line| line.trim().strip_prefix("password: ").map(str::to_owned));
        line.unwrap_or_else(|| panic!("no password: {shown}"))
    };
    let of_main = password(&server, PROD, "m/web");
    assert_eq!(shown("main"), of_main);
    commit(&clone, "its own", charts("other").chain([web("other", PROD, "o/web")]));
    clone.git(&["push", "-q", "origin", "HEAD:topic"]);
    let own = shown("topic");
    assert_ne!(own, of_main);
    push(&clone);
    assert_eq!(password(&server, PROD, "o/web"), own, "it is shown what it gets");
    // It keeps that elsewhere on the branch.
    commit(&clone, "moved", [web("other", PROD, "o2/web")]);
    clone.git(&["push", "-q", "-f", "origin", "HEAD:topic"]);
    assert_eq!(shown("topic"), own);
    push(&clone);
    assert_eq!(password(&server, PROD, "o2/web"), own);
}
