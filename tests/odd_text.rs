//! What was pushed never controls the terminal, the pager or the page of who reads about it.

use crate::push::{application, config_map, dry};
use crate::support::Lab;

/// Turns the direction of what follows: `gpj.exe` reads as `exe.jpg`.
const OVERRIDE: char = '\u{202e}';

fn is_odd(c: char) -> bool {
    (c.is_control() && c != '\n') || c == OVERRIDE || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[track_caller]
fn harmless(text: &str) {
    assert!(!text.contains(is_odd), "{text:?}");
}

#[test]
fn a_branch_whose_name_turns_around_is_a_mistake_at_its_place() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("web", "dev");
    let odd = text.replace("environments/dev", "environments/\"").replace('"', "x\u{202e}ved");
    clone.commit("odd", &[(&file, &odd)]);
    let answer = clone.push().success();
    let told = answer.remote().join("\n");
    assert!(told.contains("it contains the invisible character U+202E"), "{told}");
    assert!(told.contains("applications/dev/web.yaml:14:"), "{told}");
    harmless(&told);
    assert!(!server.git(&["for-each-ref", "--format=%(refname)"]).contains("environments/x"));
    clone.commit("as long as it seems", &[(&file, &text.replace("environments/dev", "environments/dev\u{200b}"))]);
    assert!(clone.push().success().remote().join(" ").contains("U+200B"));
}

#[test]
fn a_subject_does_nothing_but_say_what_it_says() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["config", "i18n.commitEncoding", "UTF-8"]);
    let message =
        "a <script>alert(1)</script> [x](javascript:alert) \u{1b}[2J\u{202e}b\u{7}\n\nbody \u{1b}]0;owned\u{7}\n";
    let mut commit = clone.command("git");
    commit
        .args(["commit", "-q", "--amend", "--reset-author", "-m", message])
        .env("GIT_AUTHOR_NAME", "Eve \u{202e}[y](z)");
    assert!(commit.status().expect("starts").success());
    clone.push().success();
    let readme = server.git(&["show", "environments/dev:web/README.md"]);
    harmless(&readme);
    assert!(readme.contains("* Author: Eve \u{fffd}\\[y](z) <dev@example.com>\n"), "{readme}");
    let shown = "* Message: a &lt;script>alert(1)&lt;/script> \\[x](javascript:alert) \u{fffd}\\[2J\u{fffd}b\u{fffd}\n";
    assert!(readme.contains(shown), "{readme}");
    let written = server.git(&["log", "-1", "--format=%B", "environments/dev"]);
    harmless(&written);
    assert!(
        written.contains("[x](javascript:alert) \u{fffd}[2J\u{fffd}b\u{fffd}\n\nbody \u{fffd}]0;owned\u{fffd}\n"),
        "{written}"
    );
    server.git(&["fsck", "--strict"]);
}

#[test]
fn what_is_printed_of_a_repository_cannot_turn_around() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("a \u{202e}b", &[("apps/web/dev/config.yaml", &config_map("web", "\"x\u{202e}y\u{2066}z\""))]);
    for arguments in [&["diff"][..], &["diff", "--json"], &["diff", "--markdown"], &["diff", "--html", "page.html"]] {
        harmless(&clone.hydrate(arguments).exits(1).stdout);
    }
    harmless(&std::fs::read_to_string(clone.path.join("page.html")).expect("written"));
    std::fs::remove_file(clone.path.join("page.html")).expect("there");
    // The bytes that are deployed are what the sources say.
    assert!(clone.hydrate(&["render", "web-dev"]).success().stdout.contains(OVERRIDE));
    clone.push().success();
    let (file, text) = application("web", "dev");
    let odd = format!("{text}    colo\u{202e}ur: \u{2067}x\n").replace("apps/web/dev", "apps/\u{202e}/dev");
    clone.commit("c \u{202e}d", &[(&file, &odd)]);
    harmless(&clone.push().success().stderr);
    clone.git(&["fetch", "-q"]);
    for arguments in
        [&["status"][..], &["log", "--all"], &["log", "--json"], &["check"], &["check", "--json"], &["verify"]]
    {
        let answer = clone.hydrate(arguments);
        harmless(&answer.stdout);
        harmless(&answer.stderr);
    }
}

#[test]
fn a_text_that_argo_cd_writes_and_cannot_read_again_is_told_with_its_field() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("a tab", &[("apps/web/dev/config.yaml", &config_map("web", "\"\\t x\\n\""))]);
    let told = clone.push().success().remote().join("\n");
    let warning = "`web-dev` renders ConfigMap web with `data.value` beginning with a tab: Argo CD and kubectl cannot read its manifest";
    assert!(told.contains(&format!("warning: {warning}")), "{told}");
}
