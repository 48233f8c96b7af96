//! Trees: links, submodules, names, sizes.

use super::{Case, Dry, RENDERS, measure};
use crate::push::{application, config_map};

/// The smallest object there is.
const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";

/// The Application whose hydrated files go to `path`.
fn destination(dry: &mut Dry, path: &str) {
    dry.application("x", |text| text.replace("path: x\n", &format!("path: {path}\n")));
    dry.file("apps/x/dev/a.yaml", OBJECT);
}

/// The Application, and another one whose hydrated files go to `path`.
fn beside_x(dry: &mut Dry, path: &str) {
    dry.x_file("a.yaml", OBJECT);
    dry.application("why", |text| text.replace("      path: why\n", &format!("      path: {path}\n")));
    dry.file("apps/why/dev/a.yaml", OBJECT.replace("name: x\n", "name: z\n"));
}

/// The Application with a source of entries as raw as they can be.
fn raw(dry: &mut Dry, entries: &[(&str, &[u8], &[u8])]) {
    dry.x();
    dry.raw("apps/x/dev", entries);
}

/// A tree with an object, and with a tree in the place of a file.
fn with_a_tree_as_file(dry: &Dry) -> String {
    let (blob, empty) = (dry.object("blob", OBJECT.as_bytes()), dry.object("tree", b""));
    let entry = |name: &str, id: &str| [format!("100644 {name}\0").as_bytes(), &super::hex(id)].concat();
    dry.object("tree", &[entry("a.yaml", &blob), entry("odd.yaml", &empty)].concat())
}

/// The Application, which takes all directories below its own.
fn recursive(dry: &mut Dry) {
    dry.x_with("directory: {recurse: true}");
    dry.file("apps/x/dev/a.yaml", OBJECT);
}

/// A tree of a billion files that takes thirty objects.
fn bomb(dry: &Dry, name: &str, content: &[u8]) -> String {
    bomb_of(dry, ["a", "b"], name, content)
}

/// A tree of a billion files that takes thirty objects, with names of its own for the two directories in each.
fn bomb_of(dry: &Dry, directories: [&str; 2], name: &str, content: &[u8]) -> String {
    let blob = dry.object("blob", content);
    let mut tree = [format!("100644 {name}\0").as_bytes(), &super::hex(&blob)].concat();
    for _ in 0..30 {
        let id = super::hex(&dry.object("tree", &tree));
        tree = directories.iter().flat_map(|name| [format!("40000 {name}\0").as_bytes(), &id].concat()).collect();
    }
    dry.object("tree", &tree)
}

/// Files that are gone, each beside a new one of another text with a name that is not read.
fn renamed(dry: &mut Dry, count: usize, file: impl Fn(usize) -> (String, String)) {
    dry.x_file("a.yaml", OBJECT);
    for n in 0..count {
        let (path, text) = file(n);
        dry.file(&path, text);
    }
    dry.commit();
    let before = measure(&dry.server);
    assert!(before.status.success(), "{}", before.said);
    dry.script.clear();
    for n in 0..count {
        let (path, _) = file(n);
        dry.script.extend(format!("D {path}\n").as_bytes());
        dry.file(&format!("{}/b{n}.yam", path.rsplit_once('/').expect("a folder").0), format!("a: {n}\nb: {n}\n"));
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "1,000 files of Applications beside 1,000 that are not read",
        expected: "too many files there have names that are not read",
        build: |dry| {
            let text = |n| application(&format!("z{n}"), "dev").1.replace(&format!("apps/z{n}/dev"), "apps/shared");
            dry.file("apps/shared/config.yaml", config_map("shared", "one"));
            renamed(dry, 1000, |n| (format!("applications/z/a{n}.yaml"), text(n)));
        },
    },
    Case {
        name: "1,500 manifests beside 1,500 that are not read",
        expected: "too many files there have names that are not read",
        build: |dry| {
            renamed(dry, 1500, |n| (format!("apps/x/dev/m{n}.yaml"), config_map(&format!("m{n}"), &"x".repeat(50))))
        },
    },
    Case {
        name: "link out of the tree",
        expected: "leads out of the repository",
        build: |dry| {
            dry.x();
            dry.link("apps/x/dev/a.yaml", "../../../../etc/passwd");
        },
    },
    Case {
        name: "absolute link",
        expected: "leads out of the repository",
        build: |dry| {
            dry.x();
            dry.link("apps/x/dev/a.yaml", "/etc/passwd");
        },
    },
    Case {
        name: "link into the repository itself",
        expected: "leads out of the repository",
        build: |dry| {
            dry.x();
            dry.link("apps/x/dev/a.yaml", "../../../../config");
        },
    },
    Case {
        name: "links in a loop",
        expected: "too many levels of symbolic links",
        build: |dry| {
            dry.x();
            dry.link("apps/x/dev/a.yaml", "b.yaml");
            dry.link("apps/x/dev/b.yaml", "a.yaml");
        },
    },
    Case {
        name: "link to its own directory",
        expected: RENDERS,
        build: |dry| {
            recursive(dry);
            dry.link("apps/x/dev/d", ".");
            dry.link("apps/x/dev/e", "..");
        },
    },
    Case {
        name: "source is a link out",
        expected: "leads out of the repository",
        build: |dry| {
            dry.x();
            dry.link("apps/x/dev", "/etc");
        },
    },
    Case {
        name: "chain of a hundred links",
        expected: "too many levels of symbolic links",
        build: |dry| {
            dry.x();
            for n in 0..100 {
                dry.link(&format!("apps/x/dev/{n}.yaml"), &format!("{}.yaml", n + 1));
            }
        },
    },
    Case {
        name: "links that double",
        expected: RENDERS,
        build: |dry| {
            recursive(dry);
            for n in 0..40 {
                dry.link(&format!("apps/x/dev/d{n}/l"), &format!("../d{}", n + 1));
                dry.link(&format!("apps/x/dev/d{n}/r"), &format!("../d{}", n + 1));
            }
            dry.file("apps/x/dev/d40/b.yaml", OBJECT.replace("name: x\n", "name: z\n"));
        },
    },
    Case {
        name: "source is a submodule",
        expected: "submodule",
        build: |dry| {
            dry.x();
            dry.submodule("apps/x/dev");
        },
    },
    Case {
        name: "submodule beside manifests",
        expected: "is a git submodule, whose files are not in this repository",
        build: |dry| {
            recursive(dry);
            dry.submodule("apps/x/dev/sub");
        },
    },
    Case {
        name: "source out of the tree",
        expected: "leads out of the repository",
        build: |dry| {
            dry.application("x", |text| text.replace("path: apps/x/dev", "path: ../../etc"));
        },
    },
    Case {
        name: "absolute source",
        expected: "error:",
        build: |dry| {
            dry.application("x", |text| text.replace("path: apps/x/dev", "path: /etc"));
        },
    },
    Case { name: "destination out of the tree", expected: "error:", build: |dry| destination(dry, "../x") },
    Case { name: "destination .git", expected: "error:", build: |dry| destination(dry, ".git/hooks") },
    Case { name: "destination GIT~1", expected: "error:", build: |dry| destination(dry, "GIT~1") },
    Case { name: "destinations that differ in case", expected: RENDERS, build: |dry| beside_x(dry, "X") },
    Case { name: "destination inside another", expected: "error:", build: |dry| beside_x(dry, "x/y") },
    Case {
        name: "files that differ in case",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.file("apps/x/dev/A.yaml", OBJECT.replace("name: x\n", "name: z\n"));
        },
    },
    Case {
        name: "name that is no UTF-8, in the source",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.entry("100644", b"apps/x/dev/\xff.yaml", OBJECT.as_bytes());
        },
    },
    Case {
        name: "name that is no UTF-8, elsewhere",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.entry("100644", b"docs/\xff\xfe.txt", b"");
        },
    },
    Case {
        name: "name with terminal escapes",
        expected: RENDERS,
        build: |dry| {
            dry.x();
            dry.file("apps/x/dev/\u{1b}[2J\u{1b}]0;owned\u{7}.yaml", "a: [");
        },
    },
    Case {
        name: "name with a line break",
        expected: RENDERS,
        build: |dry| {
            dry.x();
            dry.file("apps/x/dev/a\nerror: fake\n.yaml", "kind: [");
        },
    },
    Case {
        name: "raw tree: ..",
        expected: RENDERS,
        build: |dry| {
            dry.x_with("directory: {recurse: true}");
            dry.raw("apps/x/dev", &[("100644", b"..", b"evil"), ("100644", b"a.yaml", OBJECT.as_bytes())]);
        },
    },
    Case {
        name: "raw tree: slash in a name",
        expected: RENDERS,
        build: |dry| {
            raw(dry, &[("100644", b"../../../a.yaml", OBJECT.as_bytes()), ("100644", b"a.yaml", OBJECT.as_bytes())])
        },
    },
    Case {
        name: "raw tree: empty name",
        expected: RENDERS,
        build: |dry| raw(dry, &[("100644", b"", b"evil"), ("100644", b"a.yaml", OBJECT.as_bytes())]),
    },
    Case {
        name: "raw tree: one name twice",
        expected: RENDERS,
        build: |dry| raw(dry, &[("100644", b"a.yaml", b"kind: ["), ("100644", b"a.yaml", OBJECT.as_bytes())]),
    },
    Case {
        name: "raw tree: unsorted",
        expected: RENDERS,
        build: |dry| raw(dry, &[("100644", b"b.yaml", b""), ("100644", b"a.yaml", OBJECT.as_bytes())]),
    },
    Case {
        name: "raw tree: unknown mode",
        expected: RENDERS,
        build: |dry| raw(dry, &[("170000", b"a.yaml", OBJECT.as_bytes())]),
    },
    Case {
        name: "raw tree: a file as directory",
        expected: "hydration failed",
        build: |dry| {
            dry.x_with("directory: {recurse: true}");
            dry.raw("apps/x/dev", &[("40000", b"a", b"no tree at all"), ("100644", b"a.yaml", OBJECT.as_bytes())]);
        },
    },
    Case {
        name: "raw tree: a directory as file",
        expected: "apps/x/dev/odd.yaml: git has a tree there, and the directory says that it is a file",
        build: |dry| {
            dry.x();
            let id = with_a_tree_as_file(dry);
            dry.directory("apps/x/dev", &id);
        },
    },
    Case {
        name: "raw tree: a directory as file, beside all Applications",
        expected: "more/odd.yaml: git has a tree there, and the directory says that it is a file",
        build: |dry| {
            dry.x();
            dry.x_file("a.yaml", OBJECT);
            let id = with_a_tree_as_file(dry);
            dry.directory("more", &id);
        },
    },
    Case {
        name: "raw tree: garbage",
        expected: "hydration failed",
        build: |dry| {
            dry.x();
            let id = dry.object("tree", b"garbage");
            dry.directory("apps/x/dev", &id);
        },
    },
    Case {
        name: "100,000 files in a directory",
        expected: RENDERS,
        build: |dry| {
            recursive(dry);
            let text = dry.object("blob", b"text");
            dry.many("apps/x/dev/many", "100644", &text, (0..100_000).map(|n| format!("{n:06}.txt")));
        },
    },
    Case {
        name: "90,000 directories",
        expected: RENDERS,
        build: |dry| {
            recursive(dry);
            let text = dry.object("blob", b"text");
            let leaf = [b"100644 x\0".as_slice(), &super::hex(&text)].concat();
            let leaf = dry.object("tree", &leaf);
            dry.many("apps/x/dev/many", "40000", &leaf, (0..90_000).map(|n| format!("{n:06}")));
        },
    },
    Case {
        name: "directories 2,000 deep",
        expected: "nested more than 256 deep",
        build: |dry| {
            recursive(dry);
            dry.file(&format!("apps/x/dev/{}a.yaml", "d/".repeat(1_900)), OBJECT);
        },
    },
    Case {
        name: "a tree that holds itself a billion times",
        expected: "more than 200000 files and directories",
        build: |dry| {
            recursive(dry);
            let id = bomb(dry, "a.txt", b"text");
            dry.directory("apps/x/dev/bomb", &id);
        },
    },
    Case {
        name: "the same beside all Applications",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let id = bomb(dry, "a.txt", b"text");
            dry.directory("bomb", &id);
        },
    },
    Case {
        name: "the same with what seem to be Applications",
        expected: "more files than are searched for Applications",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let id = bomb(dry, "a.yaml", b"kind: Application");
            dry.directory("bomb", &id);
        },
    },
    Case {
        name: "the same with names of 250 bytes",
        expected: "more files than are searched for Applications",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let names = ["a", "b"].map(|name| name.repeat(250));
            let id = bomb_of(dry, names.each_ref().map(String::as_str), "a.yaml", b"kind: Application");
            dry.directory("bomb", &id);
        },
    },
    Case {
        name: "one file of Applications in 100,000 places",
        expected: "files with Applications and kustomizations have more than 134217728 bytes",
        build: |dry| {
            let (_, text) = application("x", "dev");
            let file = dry.object("blob", format!("---\n{text}").repeat(100).as_bytes());
            dry.many("applications/many", "100644", &file, (0..100_000).map(|n| format!("{n:06}.yaml")));
        },
    },
    Case {
        name: "one file of 60 MB in 100,000 places",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let file = dry.object("blob", &vec![b'#'; 60 << 20]);
            dry.many("applications/many", "100644", &file, (0..100_000).map(|n| format!("{n:06}.yaml")));
        },
    },
    Case {
        name: "a chart that holds itself a billion times",
        expected: "the chart has more than 50000 files",
        build: |dry| {
            dry.chart(OBJECT);
            let id = bomb(dry, "a.txt", b"text");
            dry.directory("apps/x/dev/files", &id);
        },
    },
    Case {
        name: "value files that hold themselves a billion times",
        expected: "the pattern looks into more than 10000 directories",
        build: |dry| {
            dry.chart(OBJECT);
            dry.x_with("helm: {valueFiles: ['values/**/a.values']}");
            let id = bomb(dry, "a.values", b"a: 1");
            dry.directory("apps/x/dev/values", &id);
        },
    },
    Case {
        name: "a destination that holds itself a billion times",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let id = bomb(dry, "manifest.yaml", b"text");
            let tree = dry.server.git(&["rev-parse", "environments/prod^{tree}"]);
            let commit = dry.server.git(&["cat-file", "commit", "environments/prod"]).replacen(&tree, &id, 1);
            let commit = dry.object("commit", commit.as_bytes());
            dry.server.git(&["update-ref", "refs/heads/environments/prod", &commit]);
        },
    },
    Case {
        name: "a manifest of 100 MB",
        expected: "more than the limit",
        build: |dry| {
            dry.x_file("a.yaml", vec![b'#'; 100 << 20]);
        },
    },
    Case {
        name: "an Application file of 100 MB",
        expected: "environments/prod",
        build: |dry| {
            dry.file("applications/dev/x.yaml", vec![b'#'; 100 << 20]);
        },
    },
    Case {
        name: "LFS pointer as manifest",
        expected: "is a Git LFS pointer",
        build: |dry| {
            dry.x_file("a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
        },
    },
    Case {
        name: "2,000 Applications on as many branches",
        expected: "environments/",
        build: |dry| {
            for n in 0..2_000 {
                let name = format!("m{n}");
                dry.application(&name, |text| text.replace("environments/dev", &format!("environments/m{n}")));
                dry.file(&format!("apps/{name}/dev/a.yaml"), config_map(&name, "x"));
            }
        },
    },
];
