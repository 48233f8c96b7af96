//! Commit messages: what templates make of them, and the trailers that none hides or forges.

use super::*;

#[test]
fn the_commit_message_of_argocd_with_our_trailers() {
    for writer in [argocd(), proposal()] {
        assert_eq!(
            message(&writer, &argocd_dry()),
            Ok(format!(
                "3ff41cc: test-message

Signed-off-by: Test User <test@example.com>

Co-authored-by: test-code-author <test-email-author@example.com>
Co-authored-by: test-author <author@example.com>
{OURS}"
            ))
        );
    }
    let mut nobody = dry("");
    nobody.author = String::new();
    assert_eq!(message(&proposal(), &nobody), Ok(format!("3ff41cc:\n\n{OURS}")));
}

#[test]
fn of_a_reference_with_a_short_id_the_rest_is_kept_and_its_author_credited() {
    let dry = dry("s\n\nArgocd-reference-commit-author: \"J. Doe\" <j@x>\nArgocd-reference-commit-sha: abcdef\n");
    let (_, root) = write(&argocd(), &dry, &[], false);
    // What promoters take of it is kept.
    let root = text(&root, "hydrator.metadata");
    assert!(root.contains("j@x") && !root.contains("abcdef"), "{root}");
    let message = message(&argocd(), &dry).expect("renders");
    assert!(message.contains("\nCo-authored-by: J. Doe <j@x>\nCo-authored-by: test-author"), "{message}");
}

#[test]
fn no_template_forges_a_trailer() {
    // (template, message up to our trailers)
    let rows = [
        ("text", "text\n\n"),
        ("t: x", "t: x\n\n"),
        ("t\n\nReviewed-by: a", "t\n\nReviewed-by: a\n"),
        ("t\n\nReviewed-by: a\n\n", "t\n\nReviewed-by: a\n"),
        ("t\n\nReviewed-by: a\nHydrate-Dry: b", "t\n\nReviewed-by: a\n> Hydrate-Dry: b\n\n"),
        ("t\n\nReviewed-by: a\n\nHYDRATE-dry : b", "t\n\nReviewed-by: a\n\n> HYDRATE-dry : b\n\n"),
        ("t\n\nSha-dry-active: b", "t\n\n> Sha-dry-active: b\n\n"),
        ("t\n\nPull-request-id: 1", "t\n\n> Pull-request-id: 1\n\n"),
        ("t\n\nCommit-status-active-x: 1", "t\n\n> Commit-status-active-x: 1\n\n"),
        ("t\n\n---\n\nb", "t\n\n> ---\n\nb\n\n"),
        (
            "t\n\n# ------------------------ >8 ------------------------",
            "t\n\n> # ------------------------ >8 ------------------------\n\n",
        ),
        ("t\n\nReviewed-by: a\n# comment", "t\n\nReviewed-by: a\n# comment\n\n"),
        ("t\0", "t\u{fffd}\n\n"),
    ];
    for (template, expected) in rows {
        let writer = writer(Settings {
            commit_message_template: Some(file(COMMIT_MESSAGE_TEMPLATE, template)),
            ..Settings::default()
        });
        let message = message(&writer, &dry("s")).expect("renders");
        assert_eq!(message, format!("{expected}{OURS}"), "{template:?}");
        let trailers = Trailers::read(&message).expect("our trailers");
        assert_eq!((trailers.dry_commit.to_string().as_str(), trailers.branch.as_str()), (ID, "env/dev"));
    }
}

#[test]
fn the_message_of_an_initial_commit() {
    let (main, dry) = (branch("main"), dry("s"));
    let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: &dry };
    let settings = object_id(&"1".repeat(40));
    let message = proposal().initial_message(&origin, &branch("env/dev"), settings);
    assert_eq!(
        message,
        format!(
            "Initial commit for env/dev\n\n{}",
            OURS.replace("Hydrate-Engine", &format!("Hydrate-Settings: {}\nHydrate-Engine", "1".repeat(40)))
        )
    );
    assert_eq!(Trailers::read(&message).and_then(|trailers| trailers.settings_commit), settings);
}

#[test]
fn trailers_are_read_from_the_last_paragraph() {
    assert!(Trailers::read(&format!("s\n\n{OURS}")).is_some());
    assert!(Trailers::read(&format!("s\n\n{OURS}Signed-off-by: A <a@b>\n")).is_some());
    assert_eq!(Trailers::read(OURS), None);
    assert_eq!(Trailers::read(&format!("s\n\n{OURS}\nmore\n")), None);
    for line in OURS.lines() {
        assert_eq!(Trailers::read(&format!("s\n\n{}", OURS.replace(&format!("{line}\n"), ""))), None, "{line}");
    }
    let wrong = [("env/dev", "-"), (ID, "abc"), ("main", "a..b"), ("Engine: 5", "Engine: one")];
    for (right, wrong) in wrong {
        assert_eq!(Trailers::read(&format!("s\n\n{}", OURS.replace(right, wrong))), None, "{wrong}");
    }
}

#[test]
fn the_profile_argocd_divides_a_message_as_argocd_does() {
    // (message, subject and body of Argo CD, subject and body of git)
    let rows = [
        ("s\n\nb\n", ("s", "b\n"), ("s", "b\n")),
        ("s\n\n\nb\n", ("s", "\nb\n"), ("s", "b\n")),
        ("s \t\n\nb\n", ("s \t", "b\n"), ("s", "b\n")),
        ("one\ntwo\n\nb\n", ("one\ntwo", "b\n"), ("one two", "b\n")),
        ("s\n \nb\n", ("s\n \nb", ""), ("s", "b\n")),
        ("s\r\n\r\nb\r\n", ("s\r\n\r\nb", ""), ("s", "b\n")),
        ("s\n\na\r\nb", ("s", "a\nb\n"), ("s", "a\nb\n")),
    ];
    for (message_text, (subject, body), of_git) in rows {
        let dry = dry(message_text);
        assert_eq!((dry.subject.as_str(), dry.body.as_str()), of_git, "{message_text:?}");
        let (_, root) = write(&argocd(), &dry, &[], false);
        let found: serde_json::Value = serde_json::from_slice(&root["hydrator.metadata"]).expect("JSON");
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        assert_eq!((text("subject").as_str(), text("body").as_str()), (subject, body), "{message_text:?}");
    }
    assert!(message(&argocd(), &dry("one\ntwo\n\nb")).expect("renders").starts_with("3ff41cc: one\ntwo\n\nb\n"));
    assert!(message(&proposal(), &dry("one\ntwo\n\nb")).expect("renders").starts_with("3ff41cc: one two\n\nb\n"));
}

#[test]
fn dates_never_go_backwards() {
    let time = |seconds, offset| Time::new(seconds, offset);
    let rows = [
        (time(100, 60), None, time(100, 60)),
        (time(100, 60), Some(time(50, 0)), time(100, 60)),
        (time(100, 60), Some(time(100, 0)), time(100, 60)),
        (time(100, 60), Some(time(200, 0)), time(200, 60)),
    ];
    for (dry, parent, expected) in rows {
        assert_eq!(commit_date(dry, parent, 0), expected);
        // Since revision 5 no two commits of a branch have one date.
        let later = parent.map_or(dry.seconds(), |parent| dry.seconds().max(parent.seconds() + 1));
        assert_eq!(commit_date(dry, parent, 1), Time::new(later, dry.offset_minutes()));
    }
    let identity = Identity::new(Some("Bot"), Some("bot@example.com")).expect("an identity");
    let writer = writer(Settings { identity, ..Settings::default() });
    assert_eq!(writer.signature(time(1711535524, -90), None).to_string(), "Bot <bot@example.com> 1711535524 -0130");
}

#[test]
fn arbitrary_text_never_panics_and_never_hides_our_trailers() {
    let pieces = [
        "\n",
        "\n",
        "\n\n",
        " ",
        "\t",
        "\r\n",
        "\0",
        "text",
        ": ",
        "---\n",
        "--- x",
        "# ",
        "Conflicts:\n",
        "\tpath\n",
        "# ------------------------ >8 ------------------------\n",
        "Signed-off-by: A <a@b>\n",
        "Key: value\n",
        "Hydrate-Dry: ",
        ID,
        "hydrate-engine : 2\n",
        "Argocd-reference-commit-",
        "author: ",
        "=?utf-8?q?=0A?= <a@b>\n",
        "\"a\\",
        "(",
        "<",
        "@[",
        "::1",
        "date: 2025-01-02T03:04:05",
        ".5",
        "+99:99\n",
        "sha: abcdef\n",
        "body: \"\\ud800\"\n",
        "repourl: http://[%25",
        "%zz",
        "é",
        "\u{2028}",
        "{\"drySha\":",
        "null",
        "[",
        "{",
        "}",
        "\"",
    ];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let template = Settings {
        commit_message_template: Some(file(COMMIT_MESSAGE_TEMPLATE, "{{ metadata.body }}")),
        ..Settings::default()
    };
    let (plain, template, path) = (proposal(), writer(template), dry_files::path::RepoPath::root());
    for _ in 0..3000 {
        let text: String = (0..next(14)).map(|_| pieces[next(pieces.len())]).collect();
        let dry = dry(&format!("{}{text}", ["", "s\n\n"][next(2)]));
        for writer in [&plain, &template] {
            if let Ok(message) = message(writer, &dry) {
                let trailers = Trailers::read(&message).unwrap_or_else(|| panic!("hidden in {message:?}"));
                assert_eq!((trailers.to_string().as_str(), message.ends_with(OURS)), (OURS, true), "{message:?}");
            }
        }
        let (_, root) = write(&plain, &dry, &[], false);
        assert_eq!(contract::check_metadata(&root["hydrator.metadata"]), [], "{text:?}");
        contract::check_note(text.as_bytes());
        crate::metadata::read_note(text.as_bytes());
        drop(crate::metadata::Provenance::read(&path, text.as_bytes()));
        Trailers::read(&text);
    }
}
