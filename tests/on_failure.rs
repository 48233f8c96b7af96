//! Where the setting `onFailure` is `application`, an Application that fails keeps its files, and the others of its branch
//! go on. One that is paused does the same without being wrong.

use serde_json::{Value, json};

use crate::push::{application, both, config_map, dry, healthy, note, note_of, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/config.yaml";
const API: &str = "apps/api/dev/config.yaml";
const WEB_FILE: &str = "applications/dev/web.yaml";

/// `web` and `api` on dev, on a server that leaves an Application behind when it fails.
fn leaving(server: &Repo) -> Repo {
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let clone = dry(server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone
}

/// The `hydrator.metadata` at the root of the branch.
fn root(server: &Repo) -> Value {
    let text = server.git(&["show", &format!("{DEV}:hydrator.metadata")]);
    serde_json::from_str(&text).expect("JSON")
}

/// What the root lists as behind.
fn behind(server: &Repo) -> Value {
    root(server).get("behind").cloned().unwrap_or_else(|| json!([]))
}

fn entries(server: &Repo, path: &str) -> String {
    server.git(&["ls-tree", "-r", DEV, path])
}

fn value(server: &Repo, path: &str) -> String {
    let manifest = server.git(&["show", &format!("{DEV}:{path}/manifest.yaml")]);
    manifest.lines().find_map(|line| line.strip_prefix("  value: ")).unwrap_or_default().to_owned()
}

#[test]
fn an_application_that_fails_keeps_its_files_and_the_others_go_on() {
    for profile in ["proposal", "argocd"] {
        let lab = Lab::new();
        let server = lab.server();
        server.hydrate(&["config", "set", "profile", profile]).success();
        let clone = leaving(&server);
        let good = clone.git(&["rev-parse", "HEAD"]);
        let kept = entries(&server, "web");
        let bad = clone.commit("break web", &[(WEB, BROKEN), (API, &config_map("api", "two"))]);
        clone.hydrate(&[]);
        let made = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("1 of 2 manifests changed"), "{told}");
        assert!(told.contains(&format!("web-dev is behind: web shows dry commit {}", &good[..7])), "{told}");
        assert!(told.contains("error: not valid YAML"), "{told}");
        assert_eq!(tip(&server, DEV), made, "a clone makes another commit");
        assert_eq!(entries(&server, "web"), kept);
        assert_eq!(value(&server, "api"), "two");
        assert_eq!((note(&server, DEV), &root(&server)["drySha"]), (note_of(&bad), &json!(bad)));
        assert_eq!(behind(&server), json!([{ "path": "web", "drySha": good }]));
        let failures = server.git(&["show", "refs/hydrate/failures:failures.json"]);
        let failures: Value = serde_json::from_str(&failures).expect("JSON");
        assert_eq!(failures["branches"][DEV][0]["behind"], json!(["web"]), "{failures}");
        let status = server.hydrate(&["status"]);
        assert_eq!(status.code, Some(1), "{status:?}");
        assert!(status.stdout.contains("web-dev is behind") && status.stdout.contains("not valid YAML"), "{status:?}");
        assert_eq!(server.hydrate(&["catch-up"]).code, Some(1));
        verified(&server);
        // What others do goes on, and the failure is told each time.
        let next = clone.commit("api", &[(API, &config_map("api", "three"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("web-dev is behind") && told.contains("not valid YAML"), "{told}");
        assert_eq!((value(&server, "api"), note(&server, DEV)), ("three".to_owned(), note_of(&next)));
        assert_eq!((entries(&server, "web"), behind(&server)[0]["drySha"].clone()), (kept, json!(good)));
        // A dry commit that touches nothing moves the note alone.
        let before = tip(&server, DEV);
        let unrelated = clone.commit("notes", &[("NOTES", "x")]);
        clone.push().success();
        assert_eq!((tip(&server, DEV), note(&server, DEV)), (before, note_of(&unrelated)));
        // As it was, it needs nothing but that the list is empty.
        let mended = clone.commit("mend web", &[(WEB, &config_map("web", "dev"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("behind"), "{told}");
        assert_eq!((behind(&server), &root(&server)["drySha"]), (json!([]), &json!(mended)));
        assert_eq!((server.hydrate(&["status"]).code, server.hydrate(&["catch-up"]).code), (Some(0), Some(0)));
        verified(&server);
        healthy(&server);
    }
}

#[test]
#[ignore = "needs Helm in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn the_official_tools_leave_the_same_behind() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = leaving(&server);
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    let template = |text: &str| config_map("web", &format!("'{{{{ {text} }}}}'"));
    let file = "apps/web/dev/templates/a.yaml";
    clone.commit("a chart", &[(WEB, ""), ("apps/web/dev/Chart.yaml", chart), (file, &template(".Chart.Name"))]);
    clone.push().success();
    clone.commit("break web", &[(file, &template("fail \"not now\"")), (API, &config_map("api", "two"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("web-dev is behind"), "{told}");
    verified(&server);
    let tools = std::env::var("GIT_HYDRATE_TEST_TOOLS").expect("a directory with helm");
    server.git(&["config", "hydrate.helm", &format!("{tools}/helm")]);
    let told = server.hydrate(&["verify", "--renderer", "exec"]);
    assert_eq!((told.code, told.stdout.contains("fails to render")), (Some(0), false), "{told:?}");
}

#[test]
fn each_commit_of_a_push_leaves_what_fails_by_it() {
    both(|server| {
        let clone = leaving(server);
        let good = clone.commit("break web", &[(WEB, BROKEN)]);
        let mended = clone.commit("mend web, break api", &[(WEB, &config_map("web", "new")), (API, BROKEN)]);
        clone.commit("break both", &[(WEB, BROKEN)]);
        clone.push().success();
        assert_eq!(behind(server), json!([{ "path": "api", "drySha": good }, { "path": "web", "drySha": mended }]));
        assert_eq!(value(server, "web"), "new");
        // Beside the empty one and that of the first push, one for each.
        assert_eq!(server.git(&["rev-list", "--count", DEV]), "5");
        verified(server);
        clone.commit("mend both", &[(WEB, &config_map("web", "a")), (API, &config_map("api", "b"))]);
        clone.push().success();
        assert_eq!((behind(server), value(server, "web"), value(server, "api")), (json!([]), "a".into(), "b".into()));
        verified(server);
    });
}

#[test]
fn a_new_application_that_fails_has_no_path_yet() {
    both(|server| {
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.commit("web is broken from the start", &[(WEB, BROKEN)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("web-dev is behind: nothing is hydrated yet"), "{told}");
        assert_eq!(behind(server), json!([{ "path": "web" }]));
        assert_eq!((entries(server, "web"), value(server, "api")), (String::new(), "dev".to_owned()));
        verified(server);
        clone.commit("mend web", &[(WEB, &config_map("web", "x"))]);
        clone.push().success();
        assert_eq!((behind(server), value(server, "web")), (json!([]), "x".to_owned()));
        // It may go away as it came.
        let (file, text) = application("new", "dev");
        clone.commit("a new one", &[(&file, &text), ("apps/new/dev/config.yaml", BROKEN)]);
        clone.push().success();
        assert_eq!(behind(server), json!([{ "path": "new" }]));
        clone.git(&["rm", "-q", &file]);
        clone.commit("and none", &[]);
        clone.push().success();
        assert_eq!(behind(server), json!([]));
        verified(server);
    });
}

#[test]
fn a_branch_of_which_everything_fails_is_not_made() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.commit("broken", &[(WEB, BROKEN)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("not made: "), "{told}");
    assert_eq!(server.git(&["for-each-ref", "refs/heads/environments"]), "");
}

#[test]
fn a_new_application_whose_document_is_wrong_holds_up_no_other() {
    both(|server| {
        let clone = leaving(server);
        let (file, text) = application("new", "dev");
        let source = "      path: apps/new/dev\n";
        assert!(text.contains(source), "{text}");
        clone.commit("its sources", &[("apps/new/dev/config.yaml", &config_map("new", "x"))]);
        let rows = [
            (text.replace("targetRevision: main", "targetRevision: [main]"), "must be a text, not a list"),
            (text.replace(source, &format!("{source}      plugin: {{env: []}}\n")), "`plugin.name` is missing"),
        ];
        for (round, (document, said)) in rows.iter().enumerate() {
            let api = format!("round {round}");
            let dry = clone.commit("a new one", &[(&file, document), (API, &config_map("api", &api))]);
            let told = clone.push().success().remote().join("\n");
            assert!(told.contains(said), "{told}");
            assert_eq!((value(server, "api"), note(server, DEV)), (api, note_of(&dry)), "{told}");
            assert_eq!(entries(server, "new"), "");
            verified(server);
        }
        // One that was on the branch, and is wrong in another file, may be it: nothing is taken away.
        clone.git(&["rm", "-q", WEB_FILE]);
        let moved = application("web", "dev").1.replace("targetRevision: main", "targetRevision: [main]");
        let kept = entries(server, "web");
        clone.commit("move it", &[(&file, &moved)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("must be a text, not a list"), "{told}");
        assert_eq!(entries(server, "web"), kept, "{told}");
        clone.commit("mend it", &[(&file, &text), (WEB_FILE, &application("web", "dev").1)]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("error"), "{told}");
        assert_eq!(value(server, "new"), "x");
        verified(server);
    });
}

#[test]
fn an_application_whose_document_is_wrong_keeps_its_files() {
    both(|server| {
        let clone = leaving(server);
        let good = clone.git(&["rev-parse", "HEAD"]);
        let (_, text) = application("web", "dev");
        let kept = entries(server, "web");
        let mut before = good.clone();
        // (its file, what is said of it, whether only `web` stays)
        let rows = [
            (format!("{text}\t- x\n"), "the file cannot be read", true),
            (text.replace("targetRevision: main", "targetRevision: [main]"), "must be a text, not a list", true),
            (text.replace("targetBranch: environments/dev", "targetBranch: a..b"), "is not a valid branch name", true),
            (text.replace("      path: web\n", "      path: api\n"), "is already written by", false),
        ];
        for (round, (document, said, is_alone)) in rows.iter().enumerate() {
            let api = format!("round {round}");
            let dry = clone.commit("break it", &[(WEB_FILE, document), (API, &config_map("api", &api))]);
            let told = clone.push().success().remote().join("\n");
            assert!(told.contains(said) && told.contains("web-dev is behind"), "{document}: {told}");
            assert_eq!(entries(server, "web"), kept, "{told}");
            let web = json!({ "path": "web", "drySha": good });
            match is_alone {
                true => assert_eq!((value(server, "api"), behind(server)), (api, json!([web]))),
                false => assert_eq!(behind(server), json!([{ "path": "api", "drySha": before }, web])),
            }
            assert_eq!(note(server, DEV), note_of(&dry));
            verified(server);
            before = dry;
        }
        clone.commit("mend it", &[(WEB_FILE, &text), (WEB, &config_map("web", "mended"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("behind") && !told.contains("error"), "{told}");
        assert_eq!(
            (value(server, "web"), value(server, "api"), behind(server)),
            ("mended".into(), "round 3".into(), json!([]))
        );
        // What leaves for good is removed, also when it was wrong before.
        clone.commit("break it", &[(WEB_FILE, &format!("{text}\t- x\n"))]);
        clone.push().success();
        clone.git(&["rm", "-q", WEB_FILE]);
        clone.commit("and remove it", &[]);
        clone.push().success();
        assert_eq!((entries(server, "web"), behind(server)), (String::new(), json!([])));
        verified(server);
    });
}

#[test]
fn the_setting_may_change_while_an_application_is_behind() {
    both(|server| {
        let clone = leaving(server);
        let (_, text) = application("web", "dev");
        clone.commit("break it", &[(WEB_FILE, &format!("{text}\t- x\n")), (API, &config_map("api", "two"))]);
        clone.push().success();
        let before = tip(server, DEV);
        let told = server.hydrate(&["config", "set", "onFailure", "branch"]);
        assert!(told.stdout.contains("stays at"), "{told:?}");
        clone.commit("api", &[(API, &config_map("api", "three"))]);
        clone.push().success();
        assert_eq!(tip(server, DEV), before);
        clone.commit("mend it", &[(WEB_FILE, &text)]);
        clone.push().success();
        assert_eq!((value(server, "api"), behind(server)), ("three".to_owned(), json!([])));
        verified(server);
    });
}

#[test]
fn an_application_that_moves_and_fails_stays_where_it_was() {
    both(|server| {
        let clone = leaving(server);
        let good = clone.git(&["rev-parse", "HEAD"]);
        let (_, text) = application("web", "dev");
        let moved = text.replace("      path: web\n", "      path: new\n");
        clone.commit("move web", &[(WEB_FILE, &moved), (WEB, BROKEN)]);
        clone.push().success();
        assert_eq!(behind(server), json!([{ "path": "new" }, { "path": "web", "drySha": good }]));
        assert_eq!(value(server, "web"), "dev");
        verified(server);
        clone.commit("api", &[(API, &config_map("api", "two"))]);
        clone.push().success();
        assert_eq!((behind(server)[1]["drySha"].clone(), value(server, "api")), (json!(good), "two".to_owned()));
        verified(server);
        clone.commit("mend web", &[(WEB, &config_map("web", "there"))]);
        clone.push().success();
        assert_eq!(
            (entries(server, "web"), value(server, "new"), behind(server)),
            ("".into(), "there".into(), json!([]))
        );
        verified(server);
    });
}

#[test]
fn a_branch_stays_when_going_on_would_take_from_the_one_that_fails() {
    both(|server| {
        let clone = leaving(server);
        let on_cluster = |name: &str| {
            let (file, text) = application(name, "dev");
            (file, text.replace("  destination:\n", "  destination:\n    name: eu\n"))
        };
        let ((web_file, web_text), (api_file, api_text)) = (on_cluster("web"), on_cluster("api"));
        clone.commit("name the cluster", &[(&web_file, &web_text), (&api_file, &api_text)]);
        clone.push().success();
        let before = tip(server, DEV);
        let api = config_map("api", "dev");
        let web = config_map("web", "dev").replace("  name: web\n", "  name: web\n  namespace: web\n");
        // Its object is rendered by another one now.
        clone.commit("move the object", &[(WEB, BROKEN), (API, &format!("{api}---\n{web}"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("stays at") && told.contains("web-dev") && told.contains("ConfigMap"), "{told}");
        assert_eq!(tip(server, DEV), before);
        // Its path is written by another one now.
        let swapped = [
            (WEB_FILE, web_text.replace("      path: web\n", "      path: new\n")),
            (api_file.as_str(), api_text.replace("      path: api\n", "      path: web/in\n")),
            (API, api),
        ];
        let swapped: Vec<(&str, &str)> = swapped.iter().map(|(path, text)| (*path, text.as_str())).collect();
        clone.commit("swap", &swapped);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`web-dev` cannot stay as it is at `web`"), "{told}");
        assert_eq!(tip(server, DEV), before);
    });
}

#[test]
fn a_limit_of_the_machine_holds_the_branch() {
    both(|server| {
        let clone = leaving(server);
        let before = tip(server, DEV);
        server.git(&["config", "hydrate.objectLimit", "2"]);
        let many: String = (0..3).map(|n| config_map(&format!("web-{n}"), "x")).collect::<Vec<_>>().join("---\n");
        clone.commit("too much", &[(WEB, &many), (API, &config_map("api", "two"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("stays at") && told.contains("hydrate.objectLimit"), "{told}");
        assert_eq!(tip(server, DEV), before);
    });
}

#[test]
fn a_branch_that_is_promoted_leaves_nobody_behind() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    let staged = |name: &str| {
        let (file, text) = application(name, "prod");
        (file, text + "    hydrateTo:\n      targetBranch: environments/prod-next\n")
    };
    let staged = [staged("web"), staged("api")];
    let staged: Vec<(&str, &str)> = staged.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("stage prod", &staged);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("the setting `onFailure` is `application` for `environments/prod-next`"), "{told}");
    assert_eq!(
        server.git(&["for-each-ref", "--format=%(refname)", "refs/heads/environments"]),
        format!("refs/heads/{DEV}")
    );
    let told = server.hydrate(&["config", "set", "onFailure", "{application: [environments/dev]}"]).success();
    assert!(told.stdout.contains("environments/prod-next  new"), "{told:?}");
    server.hydrate(&["config", "add", "onFailure.application", "environments/test"]).success();
    assert_eq!(server.hydrate(&["config", "set", "onFailure", "nonsense"]).code, Some(2));
    let (file, text) = application("web", "prod");
    let paused =
        text.replace("  name: web-prod\n", "  name: web-prod\n  annotations: {git-hydrate/paused: \"true\"}\n");
    clone.commit("pause", &[(&file, &(paused + "    hydrateTo:\n      targetBranch: environments/prod-next\n"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`web-prod` is paused, and `environments/prod-next` is promoted"), "{told}");
}

/// A set of Applications on dev.
fn set(elements: &str) -> String {
    let (_, text) = application("web", "dev");
    let made: String = text
        .lines()
        .filter(|line| !line.starts_with("apiVersion") && !line.starts_with("kind"))
        .map(|line| {
            line.replace(": web-", ": '{{name}}'-").replace(": web", ": '{{name}}'").replace("/web/", "/{{name}}/")
        })
        .map(|line| format!("    {}\n", line.replace("'-dev", "-dev'")))
        .collect();
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata:\n  name: all\nspec:\n  generators:\n  \
         - list:\n      elements: {elements}\n  template:\n{made}"
    )
}

#[test]
fn an_application_of_a_set_that_never_rendered_and_may_make_others_holds_up_no_other() {
    both(|server| {
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let clone = dry(server, &["api"], &["dev"]);
        let files = [
            ("sets/all.yaml", set("[{name: web}, {name: shop}]")),
            (WEB, config_map("web", "dev")),
            ("apps/shop/dev/kustomization.yaml", "resources: [config.yaml, missing.yaml]\n".to_owned()),
            ("apps/shop/dev/config.yaml", config_map("shop", "sourceHydrator")),
        ];
        clone.commit("a set", &files.each_ref().map(|(path, text)| (*path, text.as_str())));
        clone.push().success();
        assert_eq!(behind(server), json!([{ "path": "shop" }]));

        clone.commit("what another of the set renders", &[(WEB, &config_map("web", "two"))]);
        let told = clone.push().success().remote().join("\n");
        assert_eq!(value(server, "web"), "two", "{told}");
        assert!(told.contains("shop-dev is behind: nothing is hydrated yet"), "{told}");
        verified(server);
    });
}

#[test]
fn what_a_set_or_a_parent_made_stays_while_it_fails() {
    both(|server| {
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let clone = dry(server, &["api"], &["dev"]);
        let good = clone.commit(
            "a set",
            &[
                ("sets/all.yaml", &set("[{name: web}, {name: shop}]")),
                (WEB, &config_map("web", "dev")),
                ("apps/shop/dev/config.yaml", &config_map("shop", "dev")),
            ],
        );
        clone.push().success();
        assert_eq!((value(server, "web"), value(server, "shop")), ("dev".to_owned(), "dev".to_owned()));
        let broken = set("[]").replace("list:\n      elements: []", "pullRequest: {}");
        clone.commit("break the set", &[("sets/all.yaml", &broken), (API, &config_map("api", "two"))]);
        let told = clone.push().success().remote().join("\n");
        assert_eq!(value(server, "api"), "two", "{told}");
        let expected = json!([{ "path": "shop", "drySha": good }, { "path": "web", "drySha": good }]);
        assert_eq!(behind(server), expected, "{told}");
        verified(server);
        clone.commit("mend the set", &[("sets/all.yaml", &set("[{name: web}]"))]);
        clone.push().success();
        assert_eq!(
            (behind(server), entries(server, "shop"), value(server, "web")),
            (json!([]), "".into(), "dev".into())
        );
        verified(server);
    });
}

#[test]
fn strict_mode_refuses_what_a_push_breaks_and_not_what_was_behind() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = leaving(&server);
    clone.commit("break web", &[(WEB, BROKEN)]);
    clone.push().success();
    server.git(&["config", "hydrate.strict", "touched"]);
    clone.commit("api", &[(API, &config_map("api", "two"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("web-dev is behind"), "{told}");
    assert_eq!(value(&server, "api"), "two");
    clone.commit("break api", &[(API, BROKEN)]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("not valid YAML") && told.contains(API) && !told.contains(WEB), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("break web otherwise", &[(WEB, &format!("{BROKEN}\n\n"))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains(WEB), "{told}");
}

#[test]
fn a_paused_application_stays_as_it_is_until_it_is_not_paused() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let good = clone.git(&["rev-parse", "HEAD"]);
        let (_, text) = application("web", "dev");
        let with = |value: &str| {
            text.replace(
                "  name: web-dev\n",
                &format!("  name: web-dev\n  annotations: {{git-hydrate/paused: {value}}}\n"),
            )
        };
        let kept = entries(server, "web");
        clone.commit("pause web", &[(WEB_FILE, &with("\"true\"")), (WEB, &config_map("web", "two"))]);
        let told = clone.push().success().remote().join("\n");
        let place = format!("git-hydrate/paused at {WEB_FILE}:5:17");
        assert!(told.contains(&format!("web-dev is paused: web shows dry commit {} ({place})", &good[..7])), "{told}");
        assert!(!told.contains("error"), "{told}");
        assert_eq!(
            (entries(server, "web"), behind(server)),
            (kept.clone(), json!([{ "path": "web", "drySha": good }]))
        );
        // Whatever is wrong with it.
        clone.commit("break it too", &[(WEB, BROKEN), (API, &config_map("api", "two"))]);
        clone.push().success();
        assert_eq!((entries(server, "web"), value(server, "api")), (kept, "two".to_owned()));
        let status = server.hydrate(&["status"]).success();
        assert!(status.stdout.contains("web-dev is paused: web shows") && status.stdout.contains(&place), "{status:?}");
        server.hydrate(&["catch-up"]).success();
        let apps = clone.hydrate(&["apps"]);
        assert!(apps.stdout.contains("not hydrated: paused by the annotation `git-hydrate/paused` at "), "{apps:?}");
        verified(server);
        clone.commit("mend it", &[(WEB, &config_map("web", "three"))]);
        clone.push().success();
        clone.commit("go on", &[(WEB_FILE, &with("\"false\""))]);
        clone.push().success();
        assert_eq!((value(server, "web"), behind(server)), ("three".to_owned(), json!([])));
        verified(server);
        clone.commit("not a word", &[(WEB_FILE, &with("\"yes\""))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`metadata.annotations.git-hydrate/paused` is `yes`"), "{told}");
    });
}

#[test]
fn what_fails_beside_a_paused_application_that_is_behind_holds_the_branch() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let (_, text) = application("web", "dev");
        let web = value(server, "web");
        let paused = "  name: web-dev\n  annotations: {git-hydrate/paused: \"true\"}\n";
        clone.commit("pause web", &[(WEB_FILE, &text.replace("  name: web-dev\n", paused))]);
        clone.push().success();
        clone.commit("web is behind", &[(WEB, &config_map("web", "two"))]);
        clone.push().success();
        let good = tip(server, "environments/dev");
        clone.commit("break api", &[(API, BROKEN)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("failed") && told.contains(API), "{told}");
        assert_eq!(tip(server, "environments/dev"), good);
        let status = server.hydrate(&["status"]).exits(1);
        assert!(status.stdout.contains(API), "{status:?}");
        server.hydrate(&["catch-up"]).exits(1);
        clone.commit("docs", &[("NOTES", "text")]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("failed"), "{told}");
        assert_eq!(tip(server, "environments/dev"), good);
        clone.commit("mend api", &[(API, &config_map("api", "three"))]);
        clone.push().success();
        assert_eq!((value(server, "api"), value(server, "web")), ("three".to_owned(), web));
        verified(server);
    });
}

#[test]
fn plan_and_diff_tell_what_stays() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = leaving(&server);
    clone.hydrate(&[]);
    clone.commit("break web", &[(WEB, BROKEN), (API, &config_map("api", "two"))]);
    let diff = clone.hydrate(&["diff"]).exits(1);
    assert!(
        diff.stdout.contains("1 Application fails") && diff.stdout.contains("web-dev is behind: web shows"),
        "{diff:?}"
    );
    assert!(diff.stdout.contains("two") && diff.stdout.contains("not valid YAML"), "{diff:?}");
    clone.hydrate(&[]);
    let plan = clone.hydrate(&["plan", "--offline"]).exits(1);
    assert!(plan.stdout.contains("stays as it is: web-dev (fails)"), "{plan:?}");
}

#[test]
fn a_glob_of_on_failure_that_matches_no_branch_is_told() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let told = server
        .hydrate(&["config", "set", "onFailure", "{application: [environments/dve, 'environments/*']}"])
        .success();
    let warning = "warning: the setting `onFailure` names `environments/dve`, which matches no environment branch";
    assert!(told.stdout.contains(warning) && !told.stdout.contains("`environments/*`, which"), "{told:?}");
    // The hint.
    assert!(told.stdout.contains("git hydrate config unset onFailure.application environments/dve"), "{told:?}");
    let told = server.hydrate(&["config", "unset", "onFailure.application", "environments/dve"]).success();
    assert!(!told.stdout.contains("warning"), "{told:?}");
}
