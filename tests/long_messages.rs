//! A dry commit whose message has no measure costs only what is read of it.

use crate::push::{config_map, dry, note, note_of, tip};
use crate::removal::SKIPPED;
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/config.yaml";

/// Commits with this message as it is.
fn commit(clone: &Repo, message: &str, files: &[(&str, &str)]) -> String {
    clone.commit("x", files);
    std::fs::write(clone.path.join(".git/message"), message).expect("written");
    clone.git(&["commit", "-q", "--amend", "--allow-empty", "--cleanup=verbatim", "-F", ".git/message"]);
    clone.git(&["rev-parse", "HEAD"])
}

fn trailers(count: usize) -> String {
    (0..count).map(|n| format!("Hydrate-Allow-Removal: environments/of-the-team-{n}\n")).collect()
}

#[test]
fn many_names_of_branches_are_read_and_few_of_them_are_shown() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let others = trailers(60_000);
    let files = ["web", "api"].map(|name| (format!("applications/dev/{name}.yaml"), ""));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    commit(&clone, &format!("gone\n\n{others}"), &files);
    let answer = clone.push().success();
    let told = answer.remote().join("\n");
    assert!(told.contains("its trailer allows environments/of-the-team-0, "), "{}", &told[..2000.min(told.len())]);
    assert!(told.contains("of-the-team-1000, …; ") && told.len() < 4000, "{}", told.len());
    let allowed = commit(&clone, &format!("gone\n\n{others}Hydrate-Allow-Removal: {DEV}\n"), &[]);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(note(&server, DEV), note_of(&allowed), "{}", &told[..2000.min(told.len())]);
    server.git(&["fsck", "--strict"]);
}

#[test]
fn trailers_that_go_on_for_longer_than_is_read_allow_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let before = tip(&server, DEV);
    commit(&clone, &format!("gone\n\n{}Hydrate-Allow-Removal: {DEV}\n", trailers(100_000)), &[(WEB, SKIPPED)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("would remove the only object that `web` has"), "{told}");
    assert!(told.contains("in the message of this commit allows nothing there"), "{told}");
    assert_eq!(tip(&server, DEV), before);
}

#[test]
fn a_message_beyond_all_measure_is_hydrated_and_shown_as_far_as_others() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    for (value, message) in [
        ("lines", format!("subject\n\n{}\nHydrate-Allow-Removal: {DEV}\n", "text of a line\n".repeat(1 << 20))),
        ("one line", "s".repeat(8 << 20)),
        ("one key", format!("subject\n\n{}:value\n", "Remove".repeat(1 << 20))),
    ] {
        let dry = commit(&clone, &message, &[(WEB, &config_map("web", value))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&dry), "{value}");
        for file in ["hydrator.metadata", "web/README.md", "web/hydrator.metadata"] {
            let size = server.git(&["cat-file", "-s", &format!("{DEV}:{file}")]);
            assert!(size.parse::<usize>().expect("a number") < 64 << 10, "{value}: {file} has {size}");
        }
        assert!(server.git(&["cat-file", "-s", DEV]).parse::<usize>().expect("a number") < 64 << 10, "{value}");
        // The next push follows it.
        let dry = clone.commit("next", &[(WEB, &config_map("web", "next"))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&dry), "{value}");
    }
    server.git(&["fsck", "--strict"]);
}
