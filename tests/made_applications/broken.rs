//! ApplicationSets that fail, and what they fed.

use super::{FOUR, config, dry, files, list, manifest, with_apps};
use crate::push::{both, note, note_of, tip};
use crate::support::Lab;

#[test]
fn a_set_that_fails_holds_the_branches_that_it_fed_and_no_other() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let other = list("tools", &["api@tools"], "");
        let apps = [("web", "dev"), ("web", "prod"), ("api", "tools")];
        let clone = with_apps(server, &[("sets/shop.yaml", &set), ("sets/tools.yaml", &other)], &apps);
        clone.push().success();
        let before = ["environments/dev", "environments/prod", "environments/tools"].map(|branch| tip(server, branch));

        let broken = set.replace("environment: prod}", "environment: 3}");
        let configs = apps.map(|(app, environment)| config(app, environment, "two"));
        let mut edits: Vec<(&str, &str)> = configs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        edits.push(("sets/shop.yaml", &broken));
        clone.commit("break", &edits);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
        assert!(told.contains("sets/shop.yaml:9:33"), "{told}");
        let after = ["environments/dev", "environments/prod", "environments/tools"].map(|branch| tip(server, branch));
        assert_eq!((&after[..2], after[2] == before[2]), (&before[..2], false));

        // Also when something else is pushed, and when the file of the set moves away.
        clone.commit("elsewhere", &[("sets/shop.yaml", ""), ("sets/new.yaml", &broken)]);
        clone.push().success();
        assert_eq!(tip(server, "environments/dev"), before[0]);

        let mended = clone.commit("mend", &[("sets/new.yaml", &set)]);
        clone.push().success();
        assert!(manifest(server, "environments/prod", "web").contains("value: two"));
        assert_eq!(note(server, "environments/dev"), note_of(&mended));
    });
}

#[test]
fn a_misspelt_generator_removes_nothing_and_is_an_error() {
    both(|server| {
        let [web, api] = ["web", "api"].map(|app| config(app, "dev", "one"));
        let (a, b) = (list("a", &["web@dev"], ""), list("b", &["api@dev"], ""));
        let clone = dry(server, &[("sets/a.yaml", &a), ("sets/b.yaml", &b), (&web.0, &web.1), (&api.0, &api.1)]);
        clone.push().success();
        let before = tip(server, "environments/dev");
        let api = config("api", "dev", "two");
        clone.commit("typo", &[("sets/a.yaml", &a.replace("- list:", "- lst:")), (&api.0, &api.1)]);
        let told = clone.push().success().remote().join("\n");
        let error =
            "error: ApplicationSet `a` makes no Applications: ApplicationSet a contains unrecognized generators";
        assert!(told.contains(error) && told.contains("sets/a.yaml:6:5"), "{told}");
        assert_eq!(tip(server, "environments/dev"), before);
        clone.commit("right", &[("sets/a.yaml", &a)]);
        clone.push().success();
        assert!(server.git(&["show", "environments/dev:api/manifest.yaml"]).contains("two"));
        assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("one"));
        let dry = clone.git(&["rev-parse", "HEAD"]);
        assert_eq!(note(server, "environments/dev"), note_of(&dry));
    });
}

#[test]
fn a_set_that_breaks_as_it_is_renamed_holds_what_its_file_fed() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let clone = with_apps(server, &[("sets/shop.yaml", &set)], &[("web", "dev"), ("web", "prod")]);
        clone.push().success();
        let before = ["environments/dev", "environments/prod"].map(|branch| tip(server, branch));
        let renamed = set.replace("name: shop}", "name: store}");
        let (path, text) = config("web", "dev", "two");
        let broken = renamed.replace("environment: prod}", "environment: 3}");
        clone.commit("rename and break", &[("sets/shop.yaml", &broken), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `store` makes no Applications: "), "{told}");
        assert_eq!(["environments/dev", "environments/prod"].map(|branch| tip(server, branch)), before);
        let mended = clone.commit("mend", &[("sets/shop.yaml", &renamed)]);
        clone.push().success();
        assert!(manifest(server, "environments/dev", "web").contains("value: two"));
        assert_eq!(note(server, "environments/prod"), note_of(&mended));
        assert_eq!(tip(server, "environments/prod"), before[1], "the same Applications, made by another name");
    });
}

#[test]
fn a_set_that_fails_holds_what_it_made_where_it_had_moved_to() {
    both(|server| {
        let set = list("shop", &["web@dev", "web@prod"], "");
        let clone = with_apps(server, &[("sets/shop.yaml", &set)], &[("web", "dev"), ("web", "prod")]);
        clone.push().success();
        let moved = set.replace("path: '{{app}}'}", "path: 'shop/{{app}}'}");
        clone.commit("move", &[("sets/shop.yaml", &moved)]);
        clone.push().success();
        assert!(!files(server, "environments/dev").contains(" web/"), "{}", files(server, "environments/dev"));
        // A commit that changes nothing of it moves notes only.
        clone.commit("words", &[("NOTES", "text")]);
        clone.push().success();
        let before =
            ["environments/dev", "environments/prod"].map(|branch| (tip(server, branch), note(server, branch)));
        let broken = moved.replace("environment: prod}", "environment: 3}");
        let (path, text) = config("web", "dev", "two");
        clone.commit("break", &[("sets/shop.yaml", &broken), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
        let after = ["environments/dev", "environments/prod"].map(|branch| (tip(server, branch), note(server, branch)));
        assert_eq!(after, before);
        // One is taken away as the set is mended: where it was last is what goes.
        clone.commit("mend", &[("sets/shop.yaml", &moved.replace("      - {app: web, environment: prod}\n", ""))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("this commit would empty `environments/prod`"), "{told}");
        clone.commit("mend\n\nHydrate-Allow-Removal: environments/prod", &[]);
        clone.push().success();
        assert_eq!(files(server, "environments/prod"), ".gitattributes hydrator.metadata");
        assert!(manifest(server, "environments/dev", "shop/web").contains("value: two"));
    });
}

#[test]
fn a_set_that_fails_holds_what_nothing_else_explains_when_the_dry_commit_is_gone() {
    let lab = Lab::new();
    let server = lab.server();
    let set = list("shop", &["web@dev"], "");
    let (path, api) = crate::push::application("api", "dev");
    let (path_of_plain, plain) = crate::push::application("api", "prod");
    let apps = [("web", "dev"), ("api", "dev"), ("api", "prod")];
    let clone = with_apps(&server, &[("sets/shop.yaml", &set), (&path, &api), (&path_of_plain, &plain)], &apps);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let old = tip(&server, "main");
    // Somebody rewrites the dry branch from its root, and what it had is cleared away.
    clone.git(&["checkout", "-q", "--orphan", "anew"]);
    let (config_path, two) = config("api", "dev", "two");
    let broken = set.replace("environment: dev}", "environment: 3}");
    clone.commit("anew", &[("sets/shop.yaml", &broken), (&config_path, &two)]);
    server.git(&["update-ref", "-d", "refs/heads/main"]);
    server.git(&["reflog", "expire", "--expire=now", "--all"]);
    server.git(&["gc", "-q", "--prune=now"]);
    assert!(server.run("git", &["cat-file", "-e", &old]).code != Some(0), "the dry commit is gone");
    let told = clone.run("git", &["push", "-q", "origin", "anew:main"]).success().remote().join("\n");
    assert!(told.contains("error: ApplicationSet `shop` makes no Applications: "), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    assert_eq!(
        note(&server, "environments/prod"),
        note_of(&tip(&server, "main")),
        "it has no path that nothing writes"
    );
    clone.commit("mend", &[("sets/shop.yaml", &set)]);
    clone.run("git", &["push", "-q", "origin", "anew:main"]).success();
    assert!(manifest(&server, "environments/dev", "api").contains("value: two"));
    assert!(manifest(&server, "environments/dev", "web").contains("value: one"));
}

#[test]
fn a_set_that_never_made_anything_is_a_warning_also_in_strict_mode() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.strict", "true"]);
    let unknown = list("fleet", &[], "").replace("  - list:\n      elements:\n", "  - clusters: {}\n");
    let clone = with_apps(&server, &[("a.yaml", &list("shop", &["web@dev"], "")), ("b.yaml", &unknown)], &FOUR);
    let told = clone.push().success().remote().join("\n");
    assert!(
        told.contains("warning: ApplicationSet `fleet` makes no Applications: only Argo CD knows the clusters"),
        "{told}"
    );
    assert!(told.contains("b.yaml:6:15") && told.contains("git hydrate clusters import"), "{told}");
    assert!(files(&server, "environments/dev").contains("web/manifest.yaml"));
    // What it says is said each time, and holds nobody.
    let (path, text) = config("web", "dev", "two");
    clone.commit("change", &[(&path, &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("warning: ApplicationSet `fleet`"), "{told}");
    assert!(manifest(&server, "environments/dev", "web").contains("value: two"));
    // One that fed branches is an error, though.
    clone.commit("break", &[("a.yaml", &list("shop", &["web@dev"], "").replace("app: web", "app: 1"))]);
    let told = clone.push();
    assert!(told.code != Some(0) && told.stderr.contains("ApplicationSet `shop` makes no Applications"), "{told:?}");
}
