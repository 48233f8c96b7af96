//! Refs that a power failure or somebody's hand made garbage of hold back what needs them, and nothing else.

use std::fs;

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

/// What may stand where a ref should: no ref at all, or an id of what is no commit or not there.
const GARBAGE: [&str; 4] = ["", "\u{1} garbage\n", "1111111111111111111111111111111111111111\n", "BLOB\n"];

/// Has a commit go in unhydrated, puts garbage in place of a ref, and catches up: a git that meets a ref to what is not
/// there refuses every push. Answers the commit, and what was told.
fn spoil(server: &Repo, clone: &Repo, name: &str, garbage: &str) -> (String, String) {
    server.git(&["config", "core.hooksPath", "/nonexistent"]);
    let files = ["dev", "prod"].map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", name)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let changed = clone.commit("change", &files);
    clone.push().success();
    server.git(&["config", "--unset", "core.hooksPath"]);
    let blob = server.git(&["rev-parse", "main:applications/dev/web.yaml"]);
    fs::write(server.path.join(name), garbage.replace("BLOB", &blob)).expect("written");
    let answer = server.hydrate(&["catch-up"]);
    (changed, answer.stdout + &answer.stderr)
}

/// Does what doctor says, and the repository is as good as before.
fn mend(server: &Repo, name: &str) {
    let report = server.hydrate(&["doctor"]).exits(1).stdout;
    let mut lines = report.lines().skip_while(|line| !line.starts_with(&format!("bad      {name} ")));
    let remedy = lines.nth(1).unwrap_or_else(|| panic!("{name}: {report}")).trim();
    server.run("sh", &["-c", remedy]);
    let report = server.hydrate(&["doctor"]);
    assert_eq!(report.code, Some(0), "{name}: {remedy}\n{}", report.stdout);
    assert_eq!(server.git(&["fsck", "--strict", "--full", "--no-dangling", "--no-reflogs"]), "");
}

fn pushed(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    (server, clone)
}

#[test]
fn an_environment_branch_of_garbage_holds_back_itself_only() {
    for garbage in GARBAGE {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab);
        let (changed, told) = spoil(&server, &clone, &format!("refs/heads/{DEV}"), garbage);
        assert!(told.contains("`git hydrate doctor` on the server"), "{garbage:?} {told}");
        assert_eq!(note(&server, PROD), note_of(&changed), "{garbage:?} {told}");
        mend(&server, &format!("refs/heads/{DEV}"));
        assert_eq!(note(&server, DEV), note_of(&changed), "{garbage:?}");
    }
}

#[test]
fn a_lock_that_a_killed_git_left_on_an_environment_branch_holds_back_that_branch_only() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let lock = server.path.join(format!("refs/heads/{DEV}.lock"));
    server.run("touch", &["-d", "2 days ago", lock.to_str().expect("UTF-8")]).success();
    let before = tip(&server, DEV);
    let files = ["dev", "prod"].map(|env| format!("apps/web/{env}/config.yaml"));
    let text = config_map("web", "changed");
    let changed = clone.commit("change", &[(&files[0], &text), (&files[1], &text)]);
    let told = clone.push().success().remote().concat();
    let what = format!("refs/heads/{DEV}.lock`, so the branch cannot move");
    assert!(told.contains("error: a git process left the lock `") && told.contains(&what), "{told}");
    assert_eq!((tip(&server, DEV), note(&server, PROD)), (before, note_of(&changed)), "{told}");
    let report = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(report.contains(&format!("then: rm {}", lock.display())), "{report}");
    fs::remove_file(&lock).expect("the lock is there");
    server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, DEV), note_of(&changed));
    server.hydrate(&["status"]).success();
}

#[test]
fn records_of_garbage_are_left_alone() {
    for name in ["refs/notes/hydrator.metadata", "refs/hydrate/failures", "refs/hydrate/branches"] {
        for garbage in GARBAGE {
            let lab = Lab::new();
            let (server, clone) = pushed(&lab);
            // A failure, so that there is a record of it.
            let (path, text) = application("api", "test");
            clone.commit("break it", &[(&path, &text), ("apps/api/test/a.yaml", crate::strict::BROKEN)]);
            clone.push().success();
            let before = tip(&server, DEV);
            let (_, told) = spoil(&server, &clone, name, garbage);
            assert!(told.contains(&format!("`{name}`")), "{name} {garbage:?} {told}");
            assert_eq!(server.git(&["rev-parse", &format!("{DEV}~1")]), before, "{name} {garbage:?} {told}");
            if name == "refs/hydrate/failures" {
                let status = server.hydrate(&["status"]).exits(1).stdout;
                assert!(status.contains("warning: `refs/hydrate/failures` cannot be used: "), "{garbage:?} {status}");
                assert!(!status.contains("nothing says why"), "{garbage:?} {status}");
            }
            mend(&server, name);
            assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{name} {garbage:?}");
        }
    }
}

#[test]
fn a_branch_of_garbage_that_is_nothing_to_us_holds_back_nothing() {
    for garbage in GARBAGE {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab);
        let (changed, told) = spoil(&server, &clone, "refs/heads/topic", garbage);
        assert_eq!([note(&server, DEV), note(&server, PROD)], [&changed, &changed].map(|it| note_of(it)), "{told}");
        let report = server.hydrate(&["doctor"]).exits(1).stdout;
        assert!(report.contains("bad      refs/heads/topic "), "{report}");
    }
}

#[test]
fn a_commit_that_git_takes_and_no_library_reads_holds_back_nothing() {
    let edits = [
        "s/^author .*$/author foo/m",
        "s/^author .*\\n//m",
        "s/^committer .*\\n//m",
        "s/^(author .*\\n)/$1$1/m",
        "s/^author/foo\\nauthor/m",
        "s/\\n\\n.*//s",
    ];
    for edit in edits {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab);
        clone.commit("odd", &[("apps/web/dev/config.yaml", &config_map("web", "odd"))]);
        let script = format!(
            "git reset -q --soft $(git cat-file commit HEAD | perl -0pe '{edit}' | git hash-object -t commit -w --stdin --literally)"
        );
        clone.run("sh", &["-ec", &script]).success();
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{edit}");
        server.git(&["config", "hydrate.strict", "touched"]);
        clone.commit("broken", &[("apps/web/dev/config.yaml", crate::strict::BROKEN)]);
        let told = clone.push().exits(1);
        assert!(told.stderr.contains("not valid YAML"), "{edit}: {told:?}");
        clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        clone.commit("good", &[("apps/web/dev/config.yaml", &config_map("web", "good"))]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{edit}");
        server.hydrate(&["verify"]).success();
    }
}

#[test]
fn a_dry_branch_of_garbage_holds_back_no_other() {
    for garbage in GARBAGE {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab);
        server.hydrate(&["config", "add", "dryBranches", "next"]).success();
        clone.git(&["switch", "-q", "-c", "next"]);
        let (path, text) = application("web", "test");
        let text = text.replace("targetRevision: main", "targetRevision: next");
        clone.git(&["rm", "-q", "-r", "apps", "applications"]);
        clone.commit("next", &[(&path, &text), ("apps/web/test/config.yaml", &config_map("web", "next"))]);
        clone.push().success();
        clone.git(&["switch", "-q", "main"]);
        let (changed, told) = spoil(&server, &clone, "refs/heads/next", garbage);
        assert!(told.contains("`refs/heads/next` cannot be read"), "{garbage:?} {told}");
        assert_eq!(note(&server, DEV), note_of(&changed), "{garbage:?} {told}");
        mend(&server, "refs/heads/next");
    }
}

#[test]
fn settings_of_garbage_are_never_taken_for_none() {
    for garbage in GARBAGE {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab);
        server.hydrate(&["config", "set", "profile", "argocd"]).success();
        let before = tip(&server, DEV);
        let (_, told) = spoil(&server, &clone, "refs/hydrate/config", garbage);
        assert!(told.contains("refs/hydrate/config"), "{garbage:?} {told}");
        assert_eq!(tip(&server, DEV), before, "{garbage:?} {told}");
        mend(&server, "refs/hydrate/config");
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{garbage:?}");
    }
}

#[test]
fn a_note_that_names_a_blob_is_none() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let blob = server.git(&["rev-parse", "main:applications/dev/web.yaml"]);
    server.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &note_of(&blob), &tip(&server, DEV)]);
    let changed = clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
    clone.push().success();
    assert_eq!([note(&server, DEV), note(&server, PROD)], [&changed, &changed].map(|it| note_of(it)));
}

#[test]
fn a_pack_that_a_killed_run_kept_is_let_go_by_a_later_one_and_nobody_elses() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let keep = |name: &str, text: &str, is_old: bool| {
        let path = server.path.join(format!("objects/pack/pack-{}.keep", name.repeat(40)));
        fs::write(&path, text).expect("written");
        if is_old {
            fs::File::open(&path).and_then(|file| file.set_modified(std::time::UNIX_EPOCH)).expect("an old file");
        }
    };
    keep("a", "hydrate\n", true);
    keep("b", "hydrate\n", false);
    keep("c", "somebody's\n", true);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    let kept = server.names("objects/pack").into_iter().filter(|name| name.ends_with(".keep"));
    let left: Vec<String> = kept.map(|name| name["pack-".len()..="pack-".len()].to_owned()).collect();
    assert_eq!(left, ["b", "c"], "what goes on, and what is not ours, stays");
}
