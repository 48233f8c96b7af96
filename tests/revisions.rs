//! Applications whose sources are those of a tag, a range of versions or a commit: real pushes.

use std::fs;

use crate::push::{application, both, config_map, healthy, note, note_of, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo};

mod beside;
mod held;

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";
const FILE: &str = "apps/web/prod/config.yaml";

const SETTINGS: &str =
    "revisions: true\nrepoURL: https://git.example.com/dry.git\ndryBranches: [main]\nmadeApplications: true\n";

/// An Application that follows a revision.
fn following(name: &str, env: &str, revision: &str) -> (String, String) {
    let (file, text) = application(name, env);
    (file, text.replace("targetRevision: main", &format!("targetRevision: '{revision}'")))
}

/// A clone of a server that hydrates revisions. `web` of `dev` follows `main`, `web` of `prod` a revision. Nothing is pushed yet.
fn dry(server: &Repo, revision: &str) -> Repo {
    server.git(&["hydrate", "config", "set", "revisions", "true"]);
    let clone = server.clone_to("clone");
    let (dev, prod) = (application("web", "dev"), following("web", "prod", revision));
    clone.commit(
        "one",
        &[
            (&dev.0, &dev.1),
            (&prod.0, &prod.1),
            ("apps/web/dev/config.yaml", &config_map("web", "dev")),
            (FILE, &config_map("web", "one")),
        ],
    );
    clone
}

fn head(clone: &Repo) -> String {
    clone.git(&["rev-parse", "HEAD"])
}

fn push(clone: &Repo, args: &[&str]) -> Answer {
    clone.run("git", &[&["push", "origin"], args].concat()).success()
}

/// Puts a tag on a commit, and pushes it.
fn tag(clone: &Repo, name: &str, commit: &str) -> Answer {
    clone.git(&["tag", "-f", name, commit]);
    push(clone, &["-f", &format!("refs/tags/{name}")])
}

fn value(server: &Repo, branch: &str) -> String {
    let manifest = server.git(&["show", &format!("{branch}:web/manifest.yaml")]);
    let line = manifest.lines().find_map(|line| line.strip_prefix("  value: ").map(str::to_owned));
    line.expect("a value")
}

fn exists(server: &Repo, branch: &str) -> bool {
    server.run("git", &["rev-parse", "-q", "--verify", &format!("refs/heads/{branch}")]).code == Some(0)
}

fn trailers(server: &Repo, branch: &str) -> Vec<String> {
    let format = "--format=%(trailers:key=Hydrate-Dry)%(trailers:key=Hydrate-Defined-At)%(trailers:key=Hydrate-Resolved)%(trailers:key=Hydrate-Dry-Branch)";
    let text = server.git(&["log", "-1", format, branch]);
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn resolved(dry: &str, at: &str, name: &str) -> Vec<String> {
    vec![
        format!("Hydrate-Dry: {dry}"),
        format!("Hydrate-Defined-At: {at}"),
        format!("Hydrate-Resolved: {name}"),
        "Hydrate-Dry-Branch: main".to_owned(),
    ]
}

fn noted(dry: &str, at: &str, name: &str) -> String {
    format!("{{\"drySha\":\"{dry}\",\"definedAt\":\"{at}\",\"resolved\":\"{name}\"}}")
}

#[test]
fn a_tag_promotes_and_goes_back_by_commits_on_top() {
    both(|server| {
        let clone = dry(server, "prod");
        let one = head(&clone);
        let said = push(&clone, &["main"]);
        assert!(said.stderr.contains("no branch and no tag is named `prod`"), "{said:?}");
        assert!(exists(server, DEV) && !exists(server, PROD));
        let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        push(&clone, &["main"]);
        assert!(!exists(server, PROD));

        server.git(&["update-ref", "refs/tags/prdo", &one]);
        let said = server.hydrate(&["catch-up"]);
        assert!(said.stdout.contains("did you mean `prdo`?"), "{said:?}");
        server.git(&["update-ref", "-d", "refs/tags/prdo"]);

        let said = tag(&clone, "prod", &one);
        assert_eq!(value(server, PROD), "one");
        assert_eq!(trailers(server, PROD), resolved(&one, &two, "prod"));
        assert_eq!(note(server, PROD), noted(&one, &two, "prod"));
        let metadata = server.git(&["show", &format!("{PROD}:hydrator.metadata")]);
        assert!(metadata.contains(&format!("\"drySha\": \"{one}\"")), "{metadata}");
        let line = said.remote().into_iter().find(|line| line.starts_with(PROD)).unwrap_or_default().to_owned();
        let expected = format!("1 of 1 manifests changed: 1 object added, prod ({})", &one[..7]);
        assert!(line.contains("new -> ") && line.ends_with(&expected), "{said:?}");
        assert!(!said.stderr.contains(DEV), "{said:?}");
        verified(server);

        let before = tip(server, PROD);
        tag(&clone, "prod", &two);
        assert_eq!(value(server, PROD), "two");
        assert_eq!(server.git(&["rev-parse", &format!("{PROD}^")]), before);
        verified(server);

        let before = tip(server, PROD);
        tag(&clone, "prod", &one);
        assert_eq!(value(server, PROD), "one");
        assert_eq!(server.git(&["rev-parse", &format!("{PROD}^")]), before, "back, by a commit on top");
        assert_eq!(trailers(server, PROD), resolved(&one, &two, "prod"));
        verified(server);

        // What the dry branch goes on with moves nothing but the note.
        let before = tip(server, PROD);
        let three = clone.commit("three", &[(FILE, &config_map("web", "three"))]);
        push(&clone, &["main"]);
        assert_eq!((tip(server, PROD), note(server, PROD)), (before.clone(), noted(&one, &three, "prod")));
        // Nor does a tag whose commit renders to the same.
        let other = clone.git(&["commit-tree", "-p", &one, "-m", "beside", &format!("{one}^{{tree}}")]);
        tag(&clone, "prod", &other);
        assert_eq!((tip(server, PROD), note(server, PROD)), (before.clone(), noted(&other, &three, "prod")));
        verified(server);

        let said = push(&clone, &[":refs/tags/prod"]);
        let stays = format!("no branch and no tag is named `prod`; `{PROD}` stays at `prod` ({})", &other[..7]);
        assert!(said.stderr.contains(&stays), "{said:?}");
        assert_eq!(tip(server, PROD), before);
        let status = server.hydrate(&["status"]).exits(1);
        assert!(status.stdout.contains("stays: prod leads to nothing now"), "{status:?}");
        verified(server);
        tag(&clone, "prod", &three);
        assert_eq!(value(server, PROD), "three");
        server.hydrate(&["status"]).success();
        verified(server);
        assert_eq!(note(server, DEV), note_of(&three));
    });
}

#[test]
fn an_annotated_tag_leads_to_its_commit() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "refs/tags/v1");
    let one = head(&clone);
    clone.git(&["tag", "-a", "-m", "one", "v1"]);
    push(&clone, &["main", "v1"]);
    assert_eq!((value(&server, PROD), trailers(&server, PROD)), ("one".to_owned(), resolved(&one, &one, "v1")));
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    clone.git(&["tag", "-f", "-a", "-m", "two", "v1"]);
    push(&clone, &["-f", "main", "v1"]);
    assert_eq!((value(&server, PROD), trailers(&server, PROD)), ("two".to_owned(), resolved(&two, &two, "v1")));
    // One that leads to no commit leads nowhere.
    let blob = clone.git(&["rev-parse", &format!("HEAD:{FILE}")]);
    let said = tag(&clone, "v1", &blob);
    assert!(said.stderr.contains("the tag `v1` leads to no commit"), "{said:?}");
    assert_eq!(value(&server, PROD), "two");
    verified(&server);
    healthy(&server);
}

#[test]
fn a_range_leads_to_its_highest_tag_and_never_back_by_itself() {
    both(|server| {
        let clone = dry(server, "~1.4");
        let one = head(&clone);
        push(&clone, &["main"]);
        assert!(!exists(server, PROD));
        tag(&clone, "v1.4.0", &one);
        assert_eq!(trailers(server, PROD), resolved(&one, &one, "v1.4.0"));
        let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        push(&clone, &["main"]);
        for other in ["v1.5.0", "v1.3.9", "v1.4.1-rc.1", "latest"] {
            tag(&clone, other, &two);
        }
        assert_eq!(value(server, PROD), "one");
        tag(&clone, "v1.4.10", &two);
        tag(&clone, "v1.4.9", &one);
        assert_eq!((value(server, PROD), trailers(server, PROD)), ("two".to_owned(), resolved(&two, &two, "v1.4.10")));
        verified(server);
        // The tag goes: the branch stays until an admin lets it go back.
        let before = tip(server, PROD);
        let said = push(&clone, &[":refs/tags/v1.4.10"]);
        let text = format!("the tag `v1.4.10`, which `{PROD}` shows, is gone, and `v1.4.9` is now the highest");
        assert!(said.stderr.contains(&text), "{said:?}");
        server.hydrate(&["catch-up"]).exits(1);
        assert_eq!(tip(server, PROD), before);
        let shown = server.hydrate(&["resume", PROD, "--dry-run"]).exits(1);
        assert!(shown.stdout.starts_with(&format!("{PROD}: to `v1.4.9`")), "{shown:?}");
        assert_eq!(tip(server, PROD), before);
        server.hydrate(&["resume", PROD, "--yes"]).success();
        assert_eq!((value(server, PROD), trailers(server, PROD)), ("one".to_owned(), resolved(&one, &two, "v1.4.9")));
        server.hydrate(&["resume", PROD, "--yes"]).exits(2);
        verified(server);
        tag(&clone, "v1.4.11", &two);
        assert_eq!(value(server, PROD), "two");
        // Another range is another decision.
        let (file, text) = following("web", "prod", "~1.4.0, < 1.4.10");
        clone.commit("lower", &[(&file, &text)]);
        push(&clone, &["main"]);
        assert_eq!(value(server, PROD), "one");
        verified(server);
    });
}

#[test]
fn a_commit_counts_where_a_branch_or_a_tag_leads_to_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "main");
    let one = head(&clone);
    push(&clone, &["main"]);
    clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    let at = |id: &str| {
        let (file, text) = following("web", "prod", id);
        clone.commit("another commit", &[(&file, &text), (FILE, &config_map("web", "tip"))]);
        push(&clone, &["main"])
    };
    at(&one);
    let now = head(&clone);
    assert_eq!((value(&server, PROD), trailers(&server, PROD)), ("one".to_owned(), resolved(&one, &now, &one)));
    // One that was pushed and taken back is there, and counts for nothing.
    clone.git(&["checkout", "-q", "-b", "side"]);
    let side = clone.commit("side", &[(FILE, &config_map("web", "side"))]);
    push(&clone, &["side"]);
    push(&clone, &[":side"]);
    clone.git(&["checkout", "-q", "main"]);
    assert_eq!(server.git(&["cat-file", "-t", &side]), "commit");
    let said = at(&side);
    assert!(said.stderr.contains(&format!("no branch or tag here leads to the commit {side}")), "{said:?}");
    assert_eq!(value(&server, PROD), "one");
    push(&clone, &["side"]);
    assert_eq!(value(&server, PROD), "side");
    let said = at(&side[..10]);
    assert!(said.stderr.contains("write the full id of a commit"), "{said:?}");
    verified(&server);
    // Back to the branch, whose commits all count again.
    at("main");
    assert_eq!((value(&server, PROD), note(&server, PROD)), ("tip".to_owned(), note_of(&head(&clone))));
    assert!(!server.git(&["log", "-1", PROD]).contains("Hydrate-Resolved"));
    verified(&server);
}

#[test]
fn a_commit_that_a_tag_left_and_git_removed_keeps_no_file_of_it() {
    both(|server| {
        let clone = dry(server, "prod");
        push(&clone, &["main"]);
        clone.git(&["checkout", "-q", "-b", "side"]);
        let side = clone.commit("side", &[(FILE, &config_map("web", "side"))]);
        clone.git(&["checkout", "-q", "main"]);
        tag(&clone, "prod", &side);
        assert_eq!(value(server, PROD), "side");
        // No run sees the tag move before the commit that it was on is gone.
        server.git(&["update-ref", "refs/tags/prod", &head(&clone)]);
        server.git(&["reflog", "expire", "--expire=now", "--all"]);
        server.git(&["gc", "-q", "--prune=now"]);
        assert_ne!(server.run("git", &["cat-file", "-e", &side]).code, Some(0));
        server.hydrate(&["catch-up"]).success();
        assert_eq!(value(server, PROD), "one");
    });
}

#[test]
fn a_branch_wins_over_a_tag_of_its_name() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    tag(&clone, "prod", "HEAD");
    push(&clone, &["main"]);
    assert_eq!(value(&server, PROD), "one");
    // No push takes a followed branch's name for a tag.
    for name in ["main", PROD] {
        let said = clone.run("git", &["push", "origin", &format!("HEAD:refs/tags/{name}")]).exits(1);
        assert!(said.stderr.contains(&format!("would hide the branch `{name}`")), "{said:?}");
    }
    // A branch of the tag's name, made on the server, is not a dry branch: what is there stays.
    let before = tip(&server, PROD);
    server.git(&["branch", "prod", "main"]);
    clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["HEAD:refs/heads/main"]);
    tag(&clone, "prod", "HEAD");
    assert_eq!(tip(&server, PROD), before);
    push(&clone, &[":refs/heads/prod"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(value(&server, PROD), "two");
    verified(&server);
}

#[test]
fn environments_follow_tags_of_their_own() {
    both(|server| {
        let clone = dry(server, "prod");
        let (file, text) = following("web", "stage", "stage");
        let one = clone.commit("stage", &[(&file, &text), ("apps/web/stage/config.yaml", &config_map("stage", "one"))]);
        tag(&clone, "stage", &one);
        tag(&clone, "prod", &one);
        push(&clone, &["main"]);
        let stage = "environments/stage";
        assert_eq!([DEV, stage, PROD].map(|branch| value(server, branch)), ["dev", "one", "one"]);
        let files = [("apps/web/stage/config.yaml", "stage"), (FILE, "web"), ("apps/web/dev/config.yaml", "web")];
        let files = files.map(|(path, name)| (path, config_map(name, "two")));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let two = clone.commit("two", &files);
        push(&clone, &["main"]);
        assert_eq!([DEV, stage, PROD].map(|branch| value(server, branch)), ["two", "one", "one"]);
        let said = tag(&clone, "stage", &two);
        assert!(!said.stderr.contains(PROD), "{said:?}");
        assert_eq!([DEV, stage, PROD].map(|branch| value(server, branch)), ["two", "two", "one"]);
        tag(&clone, "prod", &two);
        assert_eq!([DEV, stage, PROD].map(|branch| value(server, branch)), ["two", "two", "two"]);
        verified(server);
        // An Application that leaves its branch goes once the other one has it.
        let (_, moved) = following("web", "stage", "prod");
        let moved = moved.replace("targetBranch: environments/stage", "targetBranch: environments/prod");
        clone.commit("move", &[(&file, &moved.replace("path: web\n", "path: stage\n"))]);
        clone.git(&["commit", "-q", "--amend", "-m", "move\n\nHydrate-Allow-Removal: environments/stage"]);
        let three = head(&clone);
        tag(&clone, "prod", &three);
        push(&clone, &["main"]);
        let files = |branch| server.git(&["ls-tree", "-r", "--name-only", branch]);
        assert!(files(PROD).contains("stage/manifest.yaml") && files(stage).contains("web/manifest.yaml"));
        server.hydrate(&["catch-up"]).success();
        assert!(!files(stage).contains("web/manifest.yaml"));
        verified(server);
    });
}

#[test]
fn promoters_and_mixed_branches_are_refused() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    let (file, text) = following("web", "prod", "prod");
    clone.commit("staged", &[(&file, &format!("{text}    hydrateTo:\n      targetBranch: {PROD}-next\n"))]);
    tag(&clone, "prod", "HEAD");
    let said = push(&clone, &["main"]);
    assert!(said.stderr.contains(&format!("`prod` is not a branch, and `{PROD}-next` is promoted")), "{said:?}");
    assert!(!exists(&server, PROD));
    let (other, api) = application("api", "prod");
    clone.commit("mixed", &[(&file, &text), (&other, &api), ("apps/api/prod/config.yaml", &config_map("api", "x"))]);
    let said = push(&clone, &["main"]);
    assert!(
        said.stderr.contains(&format!("the Applications of `{PROD}` name `prod` here, but `main` elsewhere")),
        "{said:?}"
    );
    assert!(!exists(&server, PROD));
}

#[test]
fn without_the_setting_they_stay_pinned() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    server.git(&["hydrate", "config", "unset", "revisions"]);
    let (file, text) = following("web", "prod", "v1.4.0");
    clone.commit("pinned", &[(&file, &text)]);
    tag(&clone, "v1.4.0", "HEAD");
    let said = push(&clone, &["main"]);
    assert!(said.stderr.contains("`v1.4.0` is a version: pinned, not hydrated on push"), "{said:?}");
    assert!(said.stderr.contains("git hydrate config set revisions true"), "{said:?}");
    assert!(exists(&server, DEV) && !exists(&server, PROD));
    // As before there was the setting: tags move nothing, and commits say nothing of what led to them.
    let before = tip(&server, DEV);
    let said = tag(&clone, "v1.4.1", "HEAD");
    assert!(said.remote().is_empty(), "{said:?}");
    assert_eq!((tip(&server, DEV), note(&server, DEV)), (before, note_of(&head(&clone))));
    assert!(!server.git(&["log", "--format=%B", DEV]).contains("Hydrate-Defined-At"));
    let doctor = server.hydrate(&["doctor"]).stdout;
    let advice = "advice   1 Application names a tag, a range or a commit, and no push hydrates it\n         to have them follow that: git \
                  hydrate config set revisions true\n";
    assert!(doctor.contains(advice), "{doctor}");
    verified(&server);
    server.hydrate(&["config", "set", "revisions", "true"]).success();
    assert_eq!(value(&server, PROD), "one");
    assert!(!server.hydrate(&["doctor"]).stdout.contains("no push hydrates"));
    verified(&server);
}

#[test]
fn a_clone_makes_the_commit_that_the_server_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    tag(&clone, "prod", "HEAD");
    push(&clone, &["main"]);
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["tag", "-f", "prod", &two]);
    let shown = clone.hydrate(&["diff"]).exits(1);
    assert!(shown.stdout.contains(PROD) && shown.stdout.contains("two"), "{shown:?}");
    let planned = clone.hydrate(&["plan"]).stdout;
    assert!(
        planned.contains(&format!("{} two", &two[..7])) && planned.contains("environments/prod  1 to render"),
        "{planned}"
    );
    clone.hydrate(&[]).success();
    let here = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/prod"]);
    let said = push(&clone, &["-f", "prod"]);
    assert!(said.stderr.contains(&format!("{PROD}  1 object changed in 1 of 1 Applications")), "{said:?}");
    assert_eq!(tip(&server, PROD), here);
    // Every command speaks of the commit of the tag.
    clone.git(&["fetch", "-q"]);
    let status = clone.hydrate(&["status"]).success().stdout;
    assert!(status.contains(&format!("{} of prod  up to date", &two[..7])), "{status}");
    let log = clone.hydrate(&["log", PROD]).success().stdout;
    assert!(log.contains(&format!("{} prod two", &two[..7])), "{log}");
    let why = clone.hydrate(&["explain", &format!("{PROD}:web/manifest.yaml")]).success().stdout;
    assert!(why.contains(FILE) && why.contains(&two[..7]), "{why}");
    let apps = clone.hydrate(&["apps"]).success().stdout;
    assert!(apps.contains("2 of 2 Applications hydrate from main, if they render: git hydrate check"), "{apps}");
    clone.hydrate(&["verify"]).success();
}

#[test]
fn applications_that_change_places_between_a_branch_and_a_tag_do_not_wait_for_each_other_for_ever() {
    both(|server| {
        let clone = dry(server, "prod");
        let (one, two) = (application("one", "dev"), following("two", "prod", "prod"));
        let [main, of_tag] = ["targetRevision: main", "targetRevision: 'prod'"];
        clone.commit(
            "two that will change places",
            &[
                (&one.0, &one.1),
                (&two.0, &two.1),
                ("apps/one/dev/config.yaml", &config_map("one", "one")),
                ("apps/two/prod/config.yaml", &config_map("two", "two")),
            ],
        );
        push(&clone, &["main"]);
        tag(&clone, "prod", "HEAD");
        let names = |branch: &str| server.git(&["ls-tree", "--name-only", "-d", branch]);
        assert_eq!((names(DEV), names(PROD)), ("one\nweb".to_owned(), "two\nweb".to_owned()));

        let to_prod = one.1.replace(DEV, PROD).replace(main, of_tag);
        let to_dev = two.1.replace(PROD, DEV).replace(of_tag, main);
        clone.commit("they change places", &[(&one.0, &to_prod), (&two.0, &to_dev)]);
        clone.git(&["tag", "-f", "prod", "HEAD"]);
        push(&clone, &["-f", "--atomic", "main", "refs/tags/prod"]);
        server.hydrate(&["catch-up"]).success();
        assert_eq!((names(DEV), names(PROD)), ("two\nweb".to_owned(), "one\nweb".to_owned()));
        verified(server);
    });
}

#[test]
fn strict_refuses_a_tag_whose_tree_does_not_render() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    tag(&clone, "prod", "HEAD");
    push(&clone, &["main"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    // The dry branch may have it: nothing follows it there.
    clone.commit("broken", &[(FILE, BROKEN)]);
    push(&clone, &["main"]);
    clone.git(&["tag", "-f", "prod"]);
    let said = clone.run("git", &["push", "-f", "origin", "prod"]).exits(1);
    assert!(said.stderr.contains("not valid YAML"), "{said:?}");
    let said = clone.run("git", &["push", "origin", ":refs/tags/prod"]).exits(1);
    assert!(said.stderr.contains("no branch and no tag is named `prod`"), "{said:?}");
    assert_eq!(value(&server, PROD), "one");
    let better = clone.commit("better", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    tag(&clone, "prod", &better);
    assert_eq!(value(&server, PROD), "two");
    tag(&clone, "other", "HEAD~1");
    verified(&server);
}

#[test]
fn a_worker_follows_the_tags_of_the_host() {
    let lab = Lab::new();
    let by_hook = {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, "prod");
        tag(&clone, "prod", "HEAD");
        push(&clone, &["main"]);
        let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        push(&clone, &["main"]);
        tag(&clone, "prod", &two);
        (value(&server, PROD), note(&server, PROD), server.git(&["rev-parse", &format!("{PROD}^{{tree}}")]))
    };
    let host = lab.bare(&[]);
    let settings = lab.path("settings");
    fs::create_dir(&settings).expect("made");
    fs::write(settings.join("settings.yaml"), SETTINGS).expect("written");
    let work =
        |name: &str| host.clone_to(name).hydrate(&["push", "--settings", settings.to_str().expect("UTF-8")]).success();
    let clone = {
        let clone = host.clone_to("clone");
        let (dev, prod) = (application("web", "dev"), following("web", "prod", "prod"));
        let config = config_map("web", "dev");
        let one = config_map("web", "one");
        clone.commit(
            "one",
            &[(&dev.0, &dev.1), (&prod.0, &prod.1), ("apps/web/dev/config.yaml", &config), (FILE, &one)],
        );
        clone
    };
    tag(&clone, "prod", "HEAD");
    push(&clone, &["main"]);
    work("a");
    assert_eq!(value(&host, PROD), "one");
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    work("b");
    assert_eq!(value(&host, PROD), "one");
    // A job in a clone whose own tag is old goes by that of the host.
    let stale = host.clone_to("stale");
    tag(&clone, "prod", &two);
    stale.hydrate(&["push", "--settings", settings.to_str().expect("UTF-8")]).success();
    assert_eq!((value(&host, PROD), note(&host, PROD)), (by_hook.0, by_hook.1));
    assert_eq!(host.git(&["rev-parse", &format!("{PROD}^{{tree}}")]), by_hook.2);
    assert!(work("c").stdout.ends_with("origin is up to date\n"));
}

#[test]
fn no_branch_takes_the_place_of_a_tag_or_a_range_that_an_environment_follows() {
    for (revision, name, branch) in [("prod", "prod", "prod"), (">=1.0.0", "v1.0.0", ">=1.0.0")] {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, revision);
        push(&clone, &["main"]);
        tag(&clone, name, "HEAD");
        assert_eq!(value(&server, PROD), "one");
        let said = clone.run("git", &["push", "origin", &format!("main:refs/heads/{branch}")]).exits(1).stderr;
        let text = format!("`refs/heads/{branch}` would take the place of the");
        assert!(said.contains(&text) && said.contains(&format!("that Applications of `{PROD}` follow")), "{said}");
        push(&clone, &["main:refs/heads/other"]);
        // The tag moves on.
        clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        tag(&clone, if name == "prod" { "prod" } else { "v1.1.0" }, "HEAD");
        assert_eq!(value(&server, PROD), "two");
    }
}
