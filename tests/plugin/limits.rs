//! A plugin that reached a limit of the machine, and what becomes of its Application then.

use crate::push::{application, note, note_of};
use crate::support::{Lab, Repo};

/// A script of a pusher that prints a ConfigMap, after `first`.
fn script(first: &str) -> String {
    let map = r#"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n"#;
    format!("{first}\nprintf '{map}'\n")
}

/// A server whose plugin runs the script beside the sources, and a clone of it.
fn server(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    server.git(&["config", "hydrate-plugin.script.command", "sh script.sh"]);
    server.git(&["config", "hydrate.scratchLimit", "20m"]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let text = text.replace("      path: apps/web/dev\n", "      path: apps/web/dev\n      plugin: {name: script}\n");
    clone.commit("feat: a plugin", &[(&file, &text), ("apps/web/dev/script.sh", &script(""))]);
    clone.push().success();
    (server, clone)
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_plugin_that_wrote_too_much_runs_again_once_its_script_is_corrected() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("name: made"));
    let much = script("head -c 100000000 /dev/zero >$TMPDIR/much; sleep 1");
    clone.commit("too much", &[("apps/web/dev/script.sh", &much)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("bytes of temporary files"), "{told}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("held on this server") && status.contains("application: web-dev"), "{status}");
    // Beside it, too: a plugin may read all of the tree.
    for text in [script("# corrected"), script("# corrected again")] {
        let last = clone.commit("corrected", &[("apps/web/dev/script.sh", &text)]);
        let told = clone.push().success().remote().join("\n");
        assert_eq!(note(&server, "environments/dev"), note_of(&last), "{told}");
    }
    server.hydrate(&["status"]).success();
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn what_failed_without_its_plugin_is_tried_again_once_the_plugin_is_set_up() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let key = "hydrate-plugin.script.command";
    let command = server.git(&["config", key]);
    server.git(&["config", "--unset", key]);
    let last = clone.commit("changed", &[("apps/web/dev/script.sh", &script("# changed"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("no plugin `script` is set up here"), "{told}");
    let told = server.hydrate(&["catch-up"]).exits(1);
    assert!(format!("{told:?}").contains("failed, as before"), "{told:?}");
    server.git(&["config", key, command.trim()]);
    let told = server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, "environments/dev"), note_of(&last), "{told:?}");
}
