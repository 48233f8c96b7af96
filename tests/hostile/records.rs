//! What stands in the repository beside the dry tree: notes, records, settings, environment branches, broken objects.

use std::fs;

use super::{Case, Dry};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";

/// A commit of one file on a ref of its own.
fn on(dry: &Dry, name: &str, file: &str, content: &[u8]) -> String {
    let blob = dry.object("blob", content);
    let tree = dry.object("tree", &[format!("100644 {file}\0").as_bytes(), &super::hex(&blob)].concat());
    let parent = dry.server.run("git", &["rev-parse", "--verify", "-q", name]).stdout;
    let parent = if parent.trim().is_empty() { String::new() } else { format!("parent {}\n", parent.trim()) };
    let text = format!(
        "tree {tree}\n{parent}author E <e@example.com> 1700000900 +0000\ncommitter E <e@example.com> 1700000900 +0000\n\nevil\n"
    );
    let commit = dry.object("commit", text.as_bytes());
    dry.server.git(&["update-ref", name, &commit]);
    commit
}

pub(super) fn settings(dry: &Dry, content: impl AsRef<[u8]>) {
    on(dry, "refs/hydrate/config", "settings.yaml", content.as_ref());
}

/// A manifest whose object holds something else, or is gone.
fn spoil(dry: &mut Dry, content: Option<&[u8]>) {
    let blob = dry.object("blob", OBJECT.as_bytes());
    dry.x();
    dry.script.extend(format!("M 100644 {blob} apps/x/dev/a.yaml\n").as_bytes());
    dry.spoiled.push((blob, content.map(<[u8]>::to_vec)));
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "notes ref points at a blob",
        expected: "stays as it is, without what this push would add",
        build: |dry| {
            let blob = dry.object("blob", b"x");
            dry.server.git(&["update-ref", "refs/notes/hydrator.metadata", &blob]);
        },
    },
    Case {
        name: "notes tree of garbage names",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/notes/hydrator.metadata", "../../x", b"evil");
        },
    },
    Case {
        name: "note of 50 MB",
        expected: "environments/prod",
        build: |dry| {
            let tip = dry.server.git(&["rev-parse", "environments/prod"]);
            on(dry, "refs/notes/hydrator.metadata", &tip, &vec![b'['; 50 << 20]);
        },
    },
    Case {
        name: "note that names no commit of ours",
        expected: "environments/prod",
        build: |dry| {
            let tip = dry.server.git(&["rev-parse", "environments/prod"]);
            on(dry, "refs/notes/hydrator.metadata", &tip, format!("{{\"drySha\":\"{}\"}}", "1".repeat(40)).as_bytes());
        },
    },
    Case {
        name: "note that names a blob",
        expected: "environments/prod",
        build: |dry| {
            let tip = dry.server.git(&["rev-parse", "environments/prod"]);
            let blob = dry.object("blob", b"x");
            on(dry, "refs/notes/hydrator.metadata", &tip, format!("{{\"drySha\":\"{blob}\"}}").as_bytes());
        },
    },
    Case {
        name: "note of 100,000 brackets",
        expected: "environments/prod",
        build: |dry| {
            let tip = dry.server.git(&["rev-parse", "environments/prod"]);
            on(dry, "refs/notes/hydrator.metadata", &tip, "[".repeat(100_000).as_bytes());
        },
    },
    Case {
        name: "failures: garbage",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/hydrate/failures", "failures.json", b"\xff\xfe{[");
        },
    },
    Case {
        name: "failures: 100,000 brackets",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/hydrate/failures", "failures.json", "[".repeat(100_000).as_bytes());
        },
    },
    Case {
        name: "failures: terminal escapes for a commit to come",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/hydrate/failures", "failures.json", br#"{"branches":{"environments/prod":[{"drySha":"1111111111111111111111111111111111111111","dryBranch":"main","engine":1,"diagnostics":[]}],"\u001b[2J":[]}}"#);
        },
    },
    Case {
        name: "failures: ref points at a tag of a blob",
        expected: "stays as it is, without what this push would add",
        build: |dry| {
            let blob = dry.object("blob", b"x");
            dry.server.git(&["update-ref", "refs/hydrate/failures", &blob]);
        },
    },
    Case {
        name: "settings: billion laughs",
        expected: "hydration failed",
        build: |dry| {
            let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
            for n in 1..12 {
                text.push_str(&format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(",")));
            }
            settings(dry, format!("{text}profile: proposal\n"));
        },
    },
    Case {
        name: "settings: 100,000 brackets",
        expected: "hydration failed",
        build: |dry| settings(dry, "[".repeat(100_000)),
    },
    Case { name: "settings: no UTF-8", expected: "hydration failed", build: |dry| settings(dry, b"\xff\xfe\xfd") },
    Case {
        name: "settings: terminal escapes",
        expected: "hydration failed",
        build: |dry| settings(dry, "\"\\e[2J\\e]0;t\\a\": 1\n"),
    },
    Case { name: "settings: 50 MB", expected: "hydration failed", build: |dry| settings(dry, vec![b'#'; 50 << 20]) },
    Case {
        name: "settings: a pattern of stars",
        expected: "environments/prod",
        build: |dry| {
            settings(dry, format!("applications: ['{}', '**']\n", "**/*a*".repeat(20)));
            dry.file(&format!("{}b.yaml", "a/".repeat(60)), "");
        },
    },
    Case {
        name: "a rule whose branch has no end",
        expected: "rule 1 of the settings: `branch`: it takes more than 10000 steps",
        build: |dry| {
            let without_end = "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}";
            settings(
                dry,
                format!(
                    "repoURL: https://git.example.com/dry.git\nrules: [{{branch: 'environments/{without_end}', path: x}}]\n"
                ),
            );
            dry.application("plain", |text| {
                let source =
                    "source: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: apps/stable/prod}";
                let (head, _) = text.split_once("  sourceHydrator").expect("there");
                format!("{head}  {source}\n")
            });
        },
    },
    Case {
        name: "README template without end",
        expected: "the template README.md.j2 of the settings",
        build: |dry| {
            on(
                dry,
                "refs/hydrate/config",
                "README.md.j2",
                b"{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
            );
        },
    },
    Case {
        name: "README template that includes itself",
        expected: "hydration failed",
        build: |dry| {
            on(dry, "refs/hydrate/config", "README.md.j2", b"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
        },
    },
    Case {
        name: "README template that reads files",
        expected: "the template README.md.j2 of the settings",
        build: |dry| {
            on(dry, "refs/hydrate/config", "README.md.j2", b"{% include '/etc/passwd' %}");
        },
    },
    Case {
        name: "message template that forges trailers",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/hydrate/config", "commit-message.j2", b"x\n\nHydrate-Branch: main\nHydrate-Dry: 1111111111111111111111111111111111111111\nHydrate-Dry-Branch: evil\nHydrate-Engine: 99\n");
        },
    },
    Case {
        name: "branch of somebody else",
        expected: "was not made by hydration",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            on(dry, "refs/heads/environments/dev", "hydrator.metadata", b"{}");
        },
    },
    Case {
        name: "metadata of 50 MB on a branch",
        expected: "was not made by hydration",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            on(dry, "refs/heads/environments/dev", "hydrator.metadata", &vec![b'['; 50 << 20]);
        },
    },
    Case {
        name: "metadata of 100,000 brackets on ours",
        expected: "environments/prod",
        build: |dry| {
            on(dry, "refs/heads/environments/prod", "hydrator.metadata", "[".repeat(100_000).as_bytes());
        },
    },
    Case {
        name: "metadata that names what is no commit, on ours",
        expected: "environments/prod",
        build: |dry| {
            let blob = dry.object("blob", b"x");
            on(
                dry,
                "refs/heads/environments/prod",
                "hydrator.metadata",
                format!("{{\"drySha\":\"{blob}\"}}").as_bytes(),
            );
        },
    },
    Case {
        name: "forged trailers on a branch",
        expected: "environments/prod",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let tree = dry.object("tree", b"");
            let commit = dry.object("commit", format!("tree {tree}\nauthor E <e@example.com> 99999999999999999999 +9999\ncommitter E <e@example.com> -1 -9999\n\nx\n\nHydrate-Branch: environments/dev\nHydrate-Dry: {}\nHydrate-Dry-Branch: main\nHydrate-Engine: 99999999999999\n", "1".repeat(40)).as_bytes());
            dry.server.git(&["update-ref", "refs/heads/environments/dev", &commit]);
        },
    },
    Case {
        name: "environment branch points at a blob",
        expected: "cannot be read",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            let blob = dry.object("blob", b"x");
            fs::create_dir_all(dry.server.path.join("refs/heads/environments")).expect("made");
            fs::write(dry.server.path.join("refs/heads/environments/dev"), format!("{blob}\n")).expect("written");
        },
    },
    Case {
        name: "environment branch points at nothing",
        expected: "cannot be read",
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            fs::create_dir_all(dry.server.path.join("refs/heads/environments")).expect("made");
            fs::write(dry.server.path.join("refs/heads/environments/dev"), format!("{}\n", "1".repeat(40)))
                .expect("written");
        },
    },
    Case {
        name: "a ref of garbage",
        expected: "environments/prod",
        build: |dry| {
            fs::write(dry.server.path.join("refs/heads/evil"), b"\xff\xfe garbage").expect("written");
        },
    },
    Case {
        name: "a ref of nothing, after a power failure",
        expected: "environments/prod",
        build: |dry| {
            fs::write(dry.server.path.join("refs/heads/evil"), b"").expect("written");
        },
    },
    Case {
        name: "symbolic refs in a circle",
        expected: "environments/prod",
        build: |dry| {
            fs::write(dry.server.path.join("refs/heads/p"), b"ref: refs/heads/q\n").expect("written");
            fs::write(dry.server.path.join("refs/heads/q"), b"ref: refs/heads/p\n").expect("written");
        },
    },
    Case {
        name: "refs that look like others",
        expected: "environments/prod",
        build: |dry| {
            for name in [
                "refs/heads/refs/heads/main",
                "refs/heads/refs/heads/environments/prod",
                "refs/heads/environments/pr\u{43e}d",
                "refs/heads/HEAD",
                "refs/tags/main",
                "refs/remotes/x/main",
                "refs/heads/heads/main",
            ] {
                dry.server.git(&["update-ref", name, "main"]);
            }
        },
    },
    Case {
        name: "10,000 branches and tags",
        expected: "environments/prod",
        build: |dry| {
            let main = dry.server.git(&["rev-parse", "main"]);
            let refs: String =
                (0..5_000).map(|n| format!("{main} refs/heads/b{n:05}\n{main} refs/tags/t{n:05}\n")).collect();
            let mut lines: Vec<&str> = refs.lines().collect();
            lines.sort_unstable_by_key(|line| line.split(' ').nth(1));
            fs::write(
                dry.server.path.join("packed-refs"),
                format!("# pack-refs with: peeled fully-peeled sorted \n{}\n", lines.join("\n")),
            )
            .expect("written");
        },
    },
    Case {
        name: "a manifest that is not there",
        expected: "hydration failed",
        build: |dry| {
            spoil(dry, None);
        },
    },
    Case {
        name: "a manifest whose object is garbage",
        expected: "hydration failed",
        build: |dry| {
            spoil(dry, Some(b"garbage"));
        },
    },
    Case {
        name: "a manifest whose object is empty",
        expected: "hydration failed",
        build: |dry| {
            spoil(dry, Some(b""));
        },
    },
    Case {
        name: "an object that says it has 2^60 bytes",
        expected: "error",
        build: |dry| {
            use std::io::Write as _;
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(b"blob 1152921504606846976\0x").expect("in memory");
            spoil(dry, Some(&encoder.finish().expect("in memory")));
        },
    },
    Case {
        name: "an object that unpacks to 1 GB",
        expected: "hydration failed",
        build: |dry| {
            use std::io::Write as _;
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(b"blob 56\0").expect("in memory");
            for _ in 0..1024 {
                encoder.write_all(&vec![0; 1 << 20]).expect("in memory");
            }
            spoil(dry, Some(&encoder.finish().expect("in memory")));
        },
    },
    Case {
        name: "a pack of garbage",
        expected: "environments/prod",
        build: |dry| {
            let pack = dry.server.path.join("objects/pack");
            for name in [
                "pack-1111111111111111111111111111111111111111.pack",
                "pack-1111111111111111111111111111111111111111.idx",
                "multi-pack-index",
                "tmp_pack_x",
            ] {
                fs::write(pack.join(name), b"garbage").expect("written");
            }
        },
    },
    Case {
        name: "a commit that is its own history's end",
        expected: "environments/prod",
        build: |dry| {
            let main = dry.server.git(&["rev-parse", "main"]);
            fs::write(dry.server.path.join("shallow"), format!("{main}\n")).expect("written");
        },
    },
];
