//! In strict mode a push that does not hydrate does not go in, and one that does is hydrated once.

use std::fs;

use crate::limits::{forever, without_steps};
use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/config.yaml";
const API: &str = "apps/api/dev/config.yaml";
pub(crate) const BROKEN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: web\n";

fn strict(lab: &Lab, args: &[&str]) -> (Repo, Repo) {
    let server = lab.bare(args);
    server.install_without_settings();
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    (server, clone)
}

/// Every file of a repository, with its content.
fn files(repo: &Repo) -> String {
    repo.run("sh", &["-c", "find . -type f | sort | xargs sha256sum; find . -type d | sort"]).success().stdout
}

#[test]
fn what_does_not_hydrate_leaves_no_trace() {
    for args in [&[] as &[&str], &["--object-format=sha256", "--ref-format=reftable"]] {
        let lab = Lab::new();
        let (server, clone) = strict(&lab, args);
        let before = files(&server);
        clone.commit("break it", &[(WEB, BROKEN)]);
        let told = clone.push().exits(1);
        let expected =
            ["error: not valid YAML: found character that cannot start any token", "--> apps/web/dev/config.yaml:4:1"];
        assert_eq!(told.remote()[..2], expected, "{told:?}");
        assert!(told.stderr.contains("! [remote rejected] HEAD -> main (pre-receive hook declined)"), "{told:?}");
        assert_eq!(files(&server), before);
        clone.commit("mend it", &[(WEB, &config_map("web", "mended"))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
        healthy(&server);
    }
}

#[test]
fn what_was_made_for_the_judgement_is_what_is_written() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    let plain = Repo::at(&lab, "plain.git");
    server.git(&["clone", "-q", "--mirror", ".", plain.path.to_str().expect("UTF-8")]);
    plain.git(&["config", "--unset-all", "remote.origin.fetch"]);
    plain.install_without_settings();
    for round in 0..3 {
        let many: Vec<(String, String)> =
            (0..50 * round).map(|n| (format!("apps/api/dev/{n}.yaml"), config_map(&format!("api-{n}"), "x"))).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit("many", &many);
        clone.commit("one", &[(WEB, &config_map("web", &format!("round {round}")))]);
        // Runs before ours, and changes what was handed over: only who uses it says so.
        server.hook(
            "hooks/post-receive.hydrate-orig",
            "#!/bin/sh\nsed -i 's/\"applications\":2/\"applications\":7/' hydrate.foreseen\n",
        );
        let told = clone.push().success();
        assert!(told.remote().join("\n").contains("of 7 manifests changed"), "{told:?}");
        assert!(server.file("hydrate.foreseen").is_none());
        clone.git(&["push", "-q", plain.path.to_str().expect("UTF-8"), "main"]);
        for name in ["heads/environments/dev", "notes/hydrator.metadata"] {
            let id = |repo: &Repo| repo.git(&["rev-parse", &format!("refs/{name}")]);
            assert_eq!(id(&server), id(&plain), "{name}");
        }
        // A ref that somebody moves between the hooks: what was foreseen counts for nothing.
        server.hook("hooks/post-receive.hydrate-orig", &format!(
            "#!/bin/sh\nsed -i 's/\"applications\":2/\"applications\":7/' hydrate.foreseen\ngit update-ref refs/x/{round} main\n"
        ));
        clone.commit("another", &[(WEB, &config_map("web", &format!("another {round}")))]);
        let told = clone.push().success();
        assert!(told.remote().join("\n").contains("1 of 2 manifests changed"), "{told:?}");
        clone.git(&["push", "-q", plain.path.to_str().expect("UTF-8"), "main"]);
    }
    assert!(!server.names("objects/pack").iter().any(|name| name.ends_with(".keep")));
    healthy(&server);
}

#[test]
fn what_others_broke_stops_only_those_who_touch_it() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    server.git(&["config", "hydrate.strict", "off"]);
    clone.commit("break it", &[(WEB, BROKEN)]);
    clone.push().success();
    server.git(&["config", "hydrate.strict", "true"]);
    clone.commit("something else", &[(API, &config_map("api", "new")), ("NOTES", "text")]);
    let told = clone.push().success();
    assert!(told.remote()[0].contains("stays at"), "{told:?}");
    let before = tip(&server, "main");
    clone.commit("touch it", &[(WEB, &format!("{BROKEN}  # still\n"))]);
    clone.push().exits(1);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("beside it", &[("apps/web/dev/more.yaml", &config_map("more", "x"))]);
    clone.push().exits(1);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("break more", &[(API, BROKEN)]);
    clone.push().exits(1);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("something else", &[("NOTES", "more text")]);
    server.git(&["config", "hydrate.strict", "all"]);
    clone.push().exits(1);
    assert_eq!(tip(&server, "main"), before);
    // A branch that nothing is hydrated from may hold anything.
    clone.commit("work in progress", &[("applications/dev/web.yaml", "spec:\n  sourceHydrator: [\n")]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/feature"]);
}

#[test]
fn a_date_far_ahead_does_not_go_in() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    let before = tip(&server, "main");
    let date = |days: u64| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
        format!("@{} +0000", now + days * 86_400)
    };
    clone.commit("one", &[]);
    let amend = |days: u64| {
        let mut command = clone.command("git");
        command.env("GIT_COMMITTER_DATE", date(days)).args(["commit", "-q", "--amend", "--no-edit", "--allow-empty"]);
        assert!(command.status().expect("git runs").success());
    };
    amend(2);
    clone.commit("on top of it", &[]);
    let told = clone.push().exits(1);
    assert!(told.remote()[0].contains("on `main` is dated more than a day ahead"), "{told:?}");
    assert_eq!(tip(&server, "main"), before);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    amend(0);
    clone.push().success();
}

#[test]
fn a_date_far_ahead_is_said_where_it_goes_in_and_as_long_as_it_lasts() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    server.git(&["config", "hydrate.strict", "off"]);
    clone.commit("one", &[(WEB, &config_map("web", "one"))]);
    let mut command = clone.command("git");
    command.env("GIT_COMMITTER_DATE", "@4000000000 +0000").args(["commit", "-q", "--amend", "--no-edit"]);
    assert!(command.status().expect("git runs").success());
    let told = clone.push().success().remote().concat();
    let warning = "shows the date of this dry commit, 2096-10-02T07:06:40Z, which is more than a day ahead";
    assert!(told.contains(&format!("warning: `environments/dev` {warning}")), "{told}");
    clone.commit("two", &[(WEB, &config_map("web", "two"))]);
    let told = clone.push().success().remote().concat();
    let warning = "shows the date of an earlier dry commit, 2096-10-02T07:06:40Z";
    assert!(told.contains(&format!("warning: `environments/dev` {warning}")), "{told}");
}

#[test]
fn when_the_time_is_over_the_admin_has_decided() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    server.git(&["config", "hydrate.strictTimeLimit", "0"]);
    clone.commit("one", &[(WEB, &config_map("web", "one"))]);
    clone.commit("two", &[(WEB, &config_map("web", "two"))]);
    server.git(&["config", "hydrate.strictUndecided", "refuse"]);
    let before = files(&server);
    let told = clone.push().exits(1);
    assert!(told.remote()[0].starts_with("error: could not check this push: "), "{told:?}");
    assert_eq!(files(&server), before);
    server.git(&["config", "hydrate.strictUndecided", "accept"]);
    let told = clone.push().success();
    assert!(told.remote()[0].starts_with("warning: could not check this push: "), "{told:?}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
    server.git(&["config", "hydrate.strict", "perhaps"]);
    clone.commit("three", &[]);
    let told = clone.push().exits(1);
    assert!(told.remote().join(" ").contains("hydrate.strict = perhaps: must be off, touched or all"), "{told:?}");
    fs::remove_file(server.path.join("hooks/pre-receive")).expect("removed");
    clone.push().success();
}

#[test]
fn a_mistyped_field_does_not_go_in() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    let file = "applications/dev/web.yaml";
    let good = application("web", "dev").1;
    let with = |line: &str| good.replace("    syncSource:", &format!("      {line}\n    syncSource:"));
    let before = tip(&server, "main");
    let rows = [
        (with("directory: {recurs: true}"), "recurs` in `spec.sourceHydrator.drySource.directory`", "recurse"),
        (
            good.replace("sourceHydrator", "sourceHydrater"),
            "sourceHydrater` in `spec`, so `web-dev` is",
            "sourceHydrator",
        ),
        (
            good.replace("sourceHydrator", "sourcehydrator"),
            "sourcehydrator` in `spec`, so `web-dev` is",
            "sourceHydrator",
        ),
    ];
    for (text, message, near) in &rows {
        clone.commit("slip", &[(file, text)]);
        let told = clone.push().exits(1);
        let remote = told.remote();
        assert!(remote[0].starts_with(&format!("error: unknown field `{message}")), "{told:?}");
        let hint = format!("= hint: did you mean `{near}`?");
        assert_eq!(remote.iter().filter(|line| **line == hint).count(), 1, "{told:?}");
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
    // A new file that nothing is hydrated from.
    clone.commit("slip", &[("applications/dev/shop.yaml", &rows[1].0.replace("web", "shop"))]);
    clone.push().exits(1);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(tip(&server, "main"), before);
    // What is like no field is only told.
    clone.commit("another program", &[(file, &with("costCenter: shop"))]);
    let told = clone.push().success();
    assert!(told.stderr.contains("warning: unknown field `costCenter`"), "{told:?}");
    // One that is there already stops those who touch its file, or everybody.
    server.git(&["config", "hydrate.strict", "off"]);
    clone.commit("slip", &[(file, &with("helms: {}"))]);
    clone.push().success();
    server.git(&["config", "hydrate.strict", "touched"]);
    clone.commit("something else", &[(API, &config_map("api", "new"))]);
    clone.push().success();
    for touched in [(file, with("helms: {}") + "# touched\n"), (WEB, config_map("web", "touched"))] {
        clone.commit("touch it", &[(touched.0, &touched.1)]);
        clone.push().exits(1);
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
    server.git(&["config", "hydrate.strict", "all"]);
    clone.commit("nothing", &[]);
    clone.push().exits(1);
    // A field that is known is none of its Application's mistakes, which is hydrated as before.
    server.hydrate(&["config", "add", "knownFields", "helms"]).success();
    clone.commit("known", &[(WEB, &config_map("web", "known"))]);
    clone.push().success();
    let shown = server.git(&["show", &format!("{DEV}:web/manifest.yaml")]);
    assert!(shown.contains("known"), "{shown}");
    healthy(&server);
}

/// A chart that takes longer than anybody waits for, for prod.
fn endless(clone: &Repo) -> Vec<(String, String)> {
    let (file, text) = application("slow", "prod");
    assert!(!clone.path.join(&file).exists());
    vec![
        (file, text),
        ("apps/slow/prod/Chart.yaml".to_owned(), "apiVersion: v2\nname: slow\nversion: 1.0.0\n".to_owned()),
        ("apps/slow/prod/templates/a.yaml".to_owned(), forever()),
    ]
}

fn commit(clone: &Repo, message: &str, files: &[(String, String)], more: &[(&str, &str)]) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit(message, &[&files, more].concat());
}

#[test]
fn a_slow_chart_does_not_let_a_syntax_error_in() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    without_steps(&server);
    server.git(&["config", "hydrate.strictTimeLimit", "2"]);
    server.git(&["config", "hydrate.renderTimeLimit", "5"]);
    let before = files(&server);
    let slips = [(WEB, BROKEN), ("applications/dev/web.yaml", "spec:\n  sourceHydrator: [\n")];
    for slip in slips {
        commit(&clone, "a slow chart and a slip", &endless(&clone), &[slip]);
        let told = clone.push().exits(1).remote().join(" ");
        assert!(told.starts_with("error: "), "{told}");
        assert!(told.contains(&format!("--> {}:", slip.0)), "{told}");
        assert!(told.contains("warning: `slow-prod` was not rendered: no time was left"), "{told}");
        assert_eq!(files(&server), before);
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
}

#[test]
fn only_what_could_not_be_judged_in_time_is_left_to_the_admin() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    without_steps(&server);
    server.git(&["config", "hydrate.strictTimeLimit", "2"]);
    server.git(&["config", "hydrate.strictUndecided", "refuse"]);
    commit(&clone, "a slow chart", &endless(&clone), &[(WEB, &config_map("web", "new"))]);
    let told = clone.push().exits(1).remote().join(" ");
    let expected = "error: could not check this push: it takes more than 2 seconds (hydrate.strictTimeLimit)";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains("error: `slow-prod` was not rendered: no time was left"), "{told}");
    assert!(!told.contains("web-dev"), "{told}");
    server.git(&["config", "hydrate.strictUndecided", "accept"]);
    server.git(&["config", "hydrate.renderTimeLimit", "3"]);
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("warning: `slow-prod` was not rendered: no time was left"), "{told}");
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")));
}

#[test]
fn a_limit_stops_who_touches_what_reaches_it_and_warns_others() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    server.git(&["config", "hydrate.objectLimit", "1"]);
    let limit = "`api-dev` renders more than 1 objects; git config hydrate.objectLimit sets the limit";
    let before = tip(&server, "main");
    let two = format!("{}---\n{}", config_map("api", "new"), config_map("api2", "new"));
    clone.commit("too much", &[(API, &two)]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains(&format!("error: {limit}")), "{told}");
    assert!(told.contains("--> applications/dev/api.yaml:4:9"), "{told}");
    assert!(!told.contains("--retry"), "nothing is in that could be tried again: {told}");
    clone.commit("something else on top", &[(WEB, &config_map("web", "on top"))]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains(&format!("error: {limit}")), "{told}");
    assert_eq!(tip(&server, "main"), before);
    server.git(&["config", "hydrate.strict", "off"]);
    clone.push().success();
    server.git(&["config", "hydrate.strict", "touched"]);
    for round in ["look at everything", "look at what changed"] {
        clone.commit("something else", &[(WEB, &config_map("web", round))]);
        let told = clone.push().success().remote().join(" ");
        assert!(told.contains(&format!("warning: {limit}")), "{round}: {told}");
        if round.starts_with("look at everything") {
            std::fs::remove_dir_all(server.path.join("hydrate")).expect("removed");
        }
    }
    let before = tip(&server, "main");
    clone.commit("touch it", &[(API, &format!("{two}# more\n"))]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains(&format!("error: {limit}")), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("something else, broken", &[(WEB, BROKEN)]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains("error: not valid YAML") && told.contains(&format!("warning: {limit}")), "{told}");
    assert_eq!(tip(&server, "main"), before);
    server.git(&["config", "hydrate.strict", "all"]);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("nothing", &[]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains(&format!("error: {limit}")), "{told}");
}

#[test]
fn a_push_that_git_refuses_after_the_judgement_leaves_no_kept_pack() {
    let lab = Lab::new();
    let (server, clone) = strict(&lab, &[]);
    let kept = || server.names("objects/pack").into_iter().filter(|name| name.ends_with(".keep")).collect::<Vec<_>>();
    assert_eq!(kept(), [""; 0]);
    clone.commit("never in", &[(WEB, &config_map("web", "never"))]);
    // git finds that it cannot keep both once the hook has judged them.
    let told = clone.run("git", &["push", "--atomic", "origin", "HEAD:main", "HEAD:refs/heads/main/x"]);
    assert_ne!(told.code, Some(0), "{told:?}");
    assert_eq!(kept().len(), 1, "what this test is about: {told:?}");
    let old = std::fs::File::open(server.path.join("objects/pack").join(&kept()[0])).expect("a file");
    old.set_modified(std::time::UNIX_EPOCH).expect("an old file");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("a `.keep` file of hydration was left"), "{doctor}");
    server.hydrate(&["catch-up"]).success();
    assert_eq!(kept(), [""; 0]);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("good", &[(WEB, &config_map("web", "good"))]);
    clone.push().success();
    assert_eq!(kept(), [""; 0]);
    assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "");
}
