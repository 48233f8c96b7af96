//! Whoever can push could put another object in place of any (`git replace`): hydration reads each by its own id.

use crate::push::{config_map, dry, healthy, note, note_of, tip};
use crate::support::{Lab, Repo};

const FILE: &str = "apps/web/dev/config.yaml";

fn branches_and_notes(repo: &Repo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/notes"])
}

/// The ids of a commit, of a directory and of a file in it.
fn ids(repo: &Repo, commit: &str) -> [String; 3] {
    [String::new(), ":apps/web/dev".to_owned(), format!(":{FILE}")]
        .map(|path| repo.git(&["rev-parse", &format!("{commit}{path}")]))
}

#[test]
fn an_environment_gets_what_was_committed_and_not_what_replaces_it() {
    for (args, strict) in [(&[][..], "off"), (&["--ref-format=reftable"], "off"), (&[], "all")] {
        let lab = Lab::new();
        let server = lab.bare(args);
        server.install_without_settings();
        server.git(&["config", "hydrate.strict", strict]);
        let clone = dry(&server, &["web"], &["dev"]);
        clone.push().success();
        clone.git(&["checkout", "-q", "-b", "forged"]);
        clone.commit("other content", &[(FILE, &config_map("web", "forged"))]);
        clone.git(&["push", "-q", "origin", "forged"]);
        clone.git(&["checkout", "-q", "main"]);
        for (index, object) in ["commit", "tree", "blob"].into_iter().enumerate() {
            clone.commit("honest", &[(FILE, &config_map("web", object))]);
            let [by, of] = ["forged", "main"].map(|commit| ids(&clone, commit)[index].clone());
            let honest = server.copy_to("honest.git");
            clone.git(&["push", "-q", honest.path.to_str().expect("UTF-8"), "main"]);
            // From before the guard, or by somebody on the server.
            server.git(&["update-ref", &format!("refs/replace/{of}"), &by]);
            clone.push().success();
            assert_eq!(branches_and_notes(&server), branches_and_notes(&honest), "{args:?} {strict} {object}");
            assert_eq!(note(&server, "environments/dev"), note_of(&tip(&clone, "main")));
            server.hydrate(&["verify"]).success();
        }
        let manifest = server.git(&["--no-replace-objects", "show", "environments/dev:web/manifest.yaml"]);
        assert!(manifest.contains("value: blob"), "{manifest}");
        server.git(&["for-each-ref", "--format=delete %(refname)", "refs/replace"]).lines().for_each(|line| {
            server.git(&["update-ref", "-d", line.trim_start_matches("delete ")]);
        });
        healthy(&server);
    }
}

#[test]
fn a_clone_shows_what_the_server_will_make() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["fetch", "-q", "origin"]);
    clone.commit("other content", &[(FILE, &config_map("web", "forged"))]);
    let by = ids(&clone, "HEAD");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("honest", &[(FILE, &config_map("web", "honest"))]);
    for (of, by) in ids(&clone, "HEAD").iter().zip(&by) {
        clone.git(&["replace", of, by]);
    }
    let shown = clone.hydrate(&["diff"]);
    assert!(shown.stdout.contains("honest") && !shown.stdout.contains("forged"), "{shown:?}");
    clone.hydrate(&[]).success();
    let manifest =
        clone.git(&["--no-replace-objects", "show", "refs/remotes/hydrate/environments/dev:web/manifest.yaml"]);
    assert!(manifest.contains("value: honest"), "{manifest}");
}
