//! Objects, records and protocol lines as a stranger may write them into a repository or send them to a hook.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use git_hydrate::testing::git::{Location, Notes, ObjectBuffer, Repository};
use git_hydrate::testing::hook::{Patience, post_receive};
use git_hydrate::testing::hydrate::{FAILURES_REF, Failures};
use git_hydrate::testing::metadata::{self, DryCommit, Trailers};
use git_hydrate::testing::render::{Isolation, Machine};
use gix::objs::{Kind, Write as _};

use super::inputs::Target;

/// An empty repository for all inputs: nothing is written to it.
fn repository() -> &'static Repository {
    static REPOSITORY: OnceLock<(tempfile::TempDir, Repository)> = OnceLock::new();
    let make = || {
        let dir = tempfile::tempdir().expect("a directory");
        let git = Command::new("git").args(["init", "-q", "--bare"]).arg(dir.path()).env_remove("GIT_DIR").status();
        assert!(git.expect("runs").success());
        let repository = Repository::open(dir.path(), Location::Hook).expect("is one");
        (dir, repository)
    };
    &REPOSITORY.get_or_init(make).1
}

fn commit(bytes: &[u8]) {
    let buffer = ObjectBuffer::new(repository());
    for kind in [Kind::Commit, Kind::Tag] {
        let id = buffer.write_buf(kind, bytes).expect("in memory");
        let Ok(commit) = buffer.commit(id) else { continue };
        drop((Trailers::read(&commit.message), metadata::allowed_removals(&commit.message)));
        let dry = DryCommit::new(&commit);
        assert_eq!(dry.id, id);
        drop(Failures::read(&buffer, Some(id)));
    }
}

fn tree(bytes: &[u8]) {
    let buffer = ObjectBuffer::new(repository());
    let tree = buffer.write_buf(Kind::Tree, bytes).expect("in memory");
    drop((buffer.tree(tree), buffer.entry(tree, "failures.json"), buffer.entry(tree, "a/b/c")));
    if let Ok(mut notes) = Notes::open(Some(tree), &buffer) {
        drop(notes.get(tree, &buffer));
        if notes.set(tree, b"note", &buffer).is_ok() {
            drop(notes.write(&buffer));
        }
    }
}

fn failures(bytes: &[u8]) {
    let buffer = ObjectBuffer::new(repository());
    let blob = buffer.write_buf(Kind::Blob, bytes).expect("in memory");
    let entry = [b"100644 failures.json\0".as_slice(), blob.as_bytes()].concat();
    let tree = buffer.write_buf(Kind::Tree, &entry).expect("in memory");
    let text = format!(
        "tree {tree}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\n{FAILURES_REF}\n"
    );
    let commit = buffer.write_buf(Kind::Commit, text.as_bytes()).expect("in memory");
    let failures = Failures::read(&buffer, Some(commit)).expect("what is no record is an empty one");
    for (_, failures) in failures.branches() {
        for diagnostic in failures.iter().flat_map(|failure| &failure.diagnostics) {
            drop(diagnostic.to_string());
        }
    }
    drop(failures.write(&buffer));
}

fn hook_lines(bytes: &[u8]) {
    let machine = Machine {
        program: PathBuf::new(),
        search_path: OsString::new(),
        temp_dir: std::env::temp_dir(),
        cores: 1,
        memory_bytes: u64::MAX,
        isolation: Isolation::Alone,
        used: std::time::Duration::ZERO,
    };
    assert!(post_receive(repository().common_dir(), bytes, &machine, Patience::Limited), "there is nothing to hydrate");
}

pub(super) const TARGETS: &[Target] = &[
    Target {
        name: "commit",
        run: commit,
        seeds: &[
            "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 1111111111111111111111111111111111111111\nauthor A <a@example.com> \
             1700000000 +0200\ncommitter C <c@example.com> 1700000001 -0330\nencoding ISO-8859-1\ngpgsig -----BEGIN\n x\n -----END\n\n\
             subject\n\nbody\n\nHydrate-Branch: environments/dev\nHydrate-Dry: 0123456789abcdef0123456789abcdef01234567\n\
             Hydrate-Dry-Branch: main\nHydrate-Engine: 1\n",
            "object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ntype commit\ntag v1\ntagger A <a@example.com> 1 +0000\n\nmessage\n",
        ],
    },
    Target {
        name: "tree",
        run: tree,
        seeds: &[
            "100644 .gitattributes\0AAAAAAAAAAAAAAAAAAAA40000 a\0BBBBBBBBBBBBBBBBBBBB100755 failures.json\0CCCCCCCCCCCCCCCCCCCC120000 \
             link\0DDDDDDDDDDDDDDDDDDDD160000 module\0EEEEEEEEEEEEEEEEEEEE",
            "40000 4b\0AAAAAAAAAAAAAAAAAAAA100644 4b825dc642cb6eb9a060e54bf8d69288fbee4904\0BBBBBBBBBBBBBBBBBBBB100644 note\0CCCCCCCCCCCCCCCCCCCC",
        ],
    },
    Target {
        name: "failures",
        run: failures,
        seeds: &[
            "{\"branches\":{\"environments/dev\":[{\"drySha\":\"0123456789abcdef0123456789abcdef01234567\",\"dryBranch\":\"main\",\
             \"engine\":1,\"settings\":\"0123\",\"diagnostics\":[{\"severity\":\"error\",\"message\":\"m\\u001b[2J\",\"span\":{\"path\":\"a/b.yaml\",\
             \"line\":3,\"column\":2,\"width\":1,\"text\":\"x\"},\"label\":\"l\",\"hint\":\"h\"}]}]}}",
        ],
    },
    Target {
        name: "hook-lines",
        run: hook_lines,
        seeds: &["0000000000000000000000000000000000000000 0123456789abcdef0123456789abcdef01234567 refs/heads/main\n\
             0123456789abcdef0123456789abcdef01234567 0000000000000000000000000000000000000000 refs/notes/hydrator.metadata\n"],
    },
];
