//! What a slip of the pen takes away from an environment is asked about first, object by object too.

use crate::push::{application, both, config_map, dry, note, note_of, tip};
use crate::support::Repo;

pub(crate) const SKIPPED: &str = "# +argocd:skip-file-rendering\n";

fn maps(count: usize) -> String {
    (0..count).map(|n| config_map(&format!("map-{n}"), "x")).collect::<Vec<_>>().join("---\n")
}

fn objects(server: &Repo, path: &str) -> usize {
    let manifest = server.git(&["show", &format!("environments/dev:{path}/manifest.yaml")]);
    manifest.lines().filter(|line| line.starts_with("kind:")).count()
}

#[track_caller]
fn refused(server: &Repo, clone: &Repo, message: &str) {
    let before = tip(server, "environments/dev");
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(message) && told.contains("Hydrate-Allow-Removal: environments/dev"), "{told}");
    assert_eq!(tip(server, "environments/dev"), before);
}

#[test]
fn an_application_that_renders_to_nothing_keeps_its_objects() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        clone.commit("skip", &[("apps/web/dev/config.yaml", SKIPPED)]);
        let checked = clone.hydrate(&["diff"]);
        assert!(checked.stdout.contains("would remove the only object that `web` has"), "{checked:?}");
        refused(server, &clone, "this commit would remove the only object that `web` has on `environments/dev`");
        assert_eq!(objects(server, "web"), 1);
        // The Application stays what was asked about, whatever else is pushed.
        clone.commit("unrelated", &[("NOTES", "text")]);
        refused(server, &clone, "the only object that `web` has");
        let allowed = clone.commit("yes\n\nHydrate-Allow-Removal: environments/dev", &[]);
        clone.push().success();
        assert_eq!((objects(server, "web"), note(server, "environments/dev")), (0, note_of(&allowed)));
        server.git(&["fsck", "--strict"]);
        clone.hydrate(&["verify", "--offline"]);
    });
}

#[test]
fn an_application_that_moves_takes_its_objects_with_it() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let (file, text) = application("web", "dev");
        let moved = text.replace("      path: web\n", "      path: new\n");
        clone.commit("move and empty", &[(&file, &moved), ("apps/web/dev/config.yaml", SKIPPED)]);
        refused(server, &clone, "the only object that `new` has on `environments/dev`");
        clone.commit("move", &[("apps/web/dev/config.yaml", &config_map("web", "dev"))]);
        clone.push().success();
        assert_eq!(objects(server, "new"), 1);
    });
}

#[test]
fn half_of_the_objects_of_a_branch_go_only_when_the_commit_says_so() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.commit("many", &[("apps/web/dev/config.yaml", &maps(25))]);
        clone.push().success();
        clone.commit("some", &[("apps/web/dev/config.yaml", &maps(16))]);
        clone.push().success();
        assert_eq!(objects(server, "web"), 16);
        clone.commit("too many", &[("apps/web/dev/config.yaml", &maps(6))]);
        refused(server, &clone, "this commit would remove 10 of the 17 objects on `environments/dev`");
        // What another Application renders instead is not lost.
        clone.commit("moved", &[("apps/api/dev/config.yaml", &maps(16)[maps(6).len() + 4..])]);
        clone.push().success();
        assert_eq!((objects(server, "web"), objects(server, "api")), (6, 10));
        server.git(&["hydrate", "config", "set", "removalLimit.objectShare", "1"]);
        clone.commit("nothing", &[("apps/web/dev/config.yaml", SKIPPED), ("apps/api/dev/config.yaml", SKIPPED)]);
        clone.push().success();
        assert_eq!((objects(server, "web"), objects(server, "api")), (0, 0));
    });
}

#[test]
fn an_application_with_another_name_and_path_is_no_way_around_the_question() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let renamed = |name: &str| {
            let (file, text) = application(name, "dev");
            let text = text.replace(&format!("name: {name}-dev"), &format!("name: n-{name}"));
            (file, text.replace(&format!("path: {name}\n"), &format!("path: n{name}\n")))
        };
        let (web, api) = (renamed("web"), renamed("api"));
        let moved = [(web.0.as_str(), web.1.as_str()), (api.0.as_str(), api.1.as_str())];
        let emptied = [("apps/web/dev/config.yaml", SKIPPED), ("apps/api/dev/config.yaml", SKIPPED)];
        clone.commit("rename, move and empty", &[&moved[..], &emptied].concat());
        refused(server, &clone, "object that `api` has on `environments/dev`");
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        clone.commit("rename and move", &moved);
        clone.git(&["push", "-q", "--force", "origin", "HEAD"]);
        assert_eq!((objects(server, "nweb"), objects(server, "napi")), (1, 1));
    });
}
