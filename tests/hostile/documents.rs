//! YAML, JSON and Jsonnet: depth, aliases, duplicates, sizes; Applications with evil values.

use std::fmt::Write as _;

use super::{Case, Dry, RENDERS, measure};
use crate::push::{application, config_map};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";

/// Ten levels of ten aliases each.
fn laughs() -> String {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for n in 1..10 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        writeln!(text, "a{n}: &a{n} [{aliases}]").expect("a string");
    }
    text
}

fn deep(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn deep_block(levels: usize) -> String {
    (0..levels).map(|level| format!("{}a:\n", " ".repeat(level))).collect()
}

fn with(line: &str) -> String {
    format!("{OBJECT}{line}\n")
}

/// An Application of its own with one line replaced.
fn replaced(dry: &mut Dry, from: &str, to: &str) {
    dry.application("x", |text| {
        assert!(text.contains(from), "{text}");
        text.replace(from, to)
    });
    dry.file("apps/x/dev/a.yaml", OBJECT);
}

/// An Application that is gone, beside another one and before `text`.
fn gone_before(dry: &mut Dry, text: &str) {
    let [x, w] = ["x", "w"].map(|name| application(name, "dev"));
    dry.file(&x.0, format!("{}---\n{}", x.1, w.1));
    for name in ["x", "w"] {
        dry.file(&format!("apps/{name}/dev/a.yaml"), config_map(name, "one"));
    }
    dry.commit();
    let before = measure(&dry.server);
    assert!(before.status.success(), "{}", before.said);
    dry.script.clear();
    dry.file(&x.0, format!("{}---\n{text}", w.1));
}

/// A text in which an Application may be, with 370,000 values.
fn dense_text(number: usize) -> String {
    let (values, aliases) = ("1,".repeat(100), "*a,".repeat(3_700));
    format!("|\n  kind: Application\n  n: {number}\n  a: &a [{values}]\n  b: [{aliases}]\n")
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "one text in which a gone Application may be, 300 times",
        expected: "is no longer an Application: this document has no `apiVersion`",
        build: |dry| gone_before(dry, &format!("a: &t {}b: [{}]\n", dense_text(0), "*t,".repeat(300))),
    },
    Case {
        name: "60 texts in which a gone Application may be",
        expected: "cannot be determined: there is too much",
        build: |dry| {
            let texts: String = (0..60).map(|n| format!("t{n}: {}", dense_text(n))).collect();
            gone_before(dry, &texts);
        },
    },
    Case {
        name: "billion laughs in a manifest",
        expected: "error:",
        build: |dry| dry.x_file("a.yaml", with(&laughs())),
    },
    Case {
        name: "billion laughs in an Application",
        expected: "error:",
        build: |dry| {
            dry.application("x", |text| format!("{text}{}", laughs()));
        },
    },
    Case {
        name: "aliases without end in thirty Applications",
        expected: "error: the file has more than 500000 values",
        build: |dry| {
            for n in 0..30 {
                dry.application(&format!("x{n}"), |text| format!("{text}{}", laughs()));
            }
        },
    },
    Case {
        name: "16 kB of aliases in seven Applications",
        expected: "bytes, their aliases written out",
        build: |dry| {
            for n in 0..7 {
                let values = format!("{{a: &a [{}], b: [{}]}}", "1,".repeat(100), "*a,".repeat(3_700));
                let values = format!("      helm: {{valuesObject: {values}}}\n    syncSource:");
                dry.application(&format!("x{n}"), |text| text.replace("    syncSource:", &values));
            }
        },
    },
    Case {
        name: "60,000 patches below a long name",
        expected: "bytes, their aliases written out",
        build: |dry| {
            let names: String = (0..60_000).map(|n| format!("{n:x},")).collect();
            let dir = vec!["d".repeat(200); 15].join("/");
            dry.file(&format!("{dir}/kustomization.yaml"), format!("patches: [{names}]\n"));
        },
    },
    Case {
        name: "billion laughs in values",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/values.yaml", laughs());
        },
    },
    Case {
        name: "billion laughs in Chart.yaml",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/Chart.yaml", format!("apiVersion: v2\nname: x\nversion: 1.0.0\n{}", laughs()));
        },
    },
    Case {
        name: "billion laughs in a kustomization",
        expected: "error:",
        build: |dry| {
            dry.x_file("kustomization.yaml", laughs());
        },
    },
    Case {
        name: "billion laughs of merge keys",
        expected: "error:",
        build: |dry| {
            let mut text = "m0: &m0 {a: 1}\n".to_owned();
            for n in 1..30 {
                writeln!(text, "m{n}: &m{n}\n  <<: [*m{0}, *m{0}, *m{0}, *m{0}]\n  k{n}: 1", n - 1).expect("a string");
            }
            dry.x_file("a.yaml", with(&text));
        },
    },
    Case { name: "alias of itself", expected: "error:", build: |dry| dry.x_file("a.yaml", with("a: &a [*a]")) },
    Case {
        name: "one scalar of 1 MB, 10,000 aliases",
        expected: "error:",
        build: |dry| {
            dry.x_file("a.yaml", with(&format!("a: &a \"{}\"\nb: [{}]", "x".repeat(1 << 20), "*a,".repeat(10_000))));
        },
    },
    Case {
        name: "100,000 brackets in a manifest",
        expected: "error:",
        build: |dry| dry.x_file("a.yaml", with(&format!("a: {}", deep(100_000)))),
    },
    Case {
        name: "100,000 brackets, not closed",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", "[".repeat(100_000)),
    },
    Case {
        name: "3,000 block levels in a manifest",
        expected: "error:",
        build: |dry| dry.x_file("a.yaml", with(&deep_block(3_000))),
    },
    Case {
        name: "500,000 dashes on one line",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", "- ".repeat(50_000)),
    },
    Case { name: "100,000 brackets in JSON", expected: "error:", build: |dry| dry.x_file("a.json", deep(100_000)) },
    Case {
        name: "100,000 brackets in an Application",
        expected: "environments/prod",
        build: |dry| {
            dry.application("x", |text| format!("{text}x: {}", deep(100_000)));
        },
    },
    Case {
        name: "100,000 brackets in values",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/values.yaml", format!("a: {}", deep(100_000)));
        },
    },
    Case {
        name: "100,000 brackets in a kustomization",
        expected: "error:",
        build: |dry| {
            dry.x_file("kustomization.yaml", format!("a: {}", deep(100_000)));
        },
    },
    Case {
        name: "List in List, 5,000 deep",
        expected: "error:",
        build: |dry| {
            let list = r#"{"apiVersion":"v1","kind":"List","items":["#;
            dry.x_file("a.json", format!("{}{}", list.repeat(5_000), "]}".repeat(5_000)));
        },
    },
    Case {
        name: "duplicate keys in a manifest",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", with("data: {a: b, a: c}")),
    },
    Case {
        name: "duplicate keys in an Application",
        expected: "environments/prod",
        build: |dry| {
            replaced(dry, "      path: x\n", "      path: x\n      path: y\n");
        },
    },
    Case {
        name: "complex keys",
        expected: "error:",
        build: |dry| dry.x_file("a.yaml", with("? {a: {b: c}}\n: d\n? [x]\n: y")),
    },
    Case {
        name: "anchors by the million",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", with(&format!("a: [{}]", "&a 1,".repeat(1_000_000))));
        },
    },
    Case {
        name: "150,000 documents",
        expected: "error:",
        build: |dry| dry.x_file("a.yaml", format!("---\n{OBJECT}").repeat(150_000)),
    },
    Case {
        name: "a million empty documents",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", format!("{OBJECT}{}", "---\n".repeat(1_000_000)));
        },
    },
    Case {
        name: "a line of 9 MB",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", with(&format!("data: {{a: {}}}", "x".repeat(9_000_000)))),
    },
    Case { name: "9 MB of tabs", expected: "error:", build: |dry| dry.x_file("a.yaml", with(&"\t".repeat(9_000_000))) },
    Case {
        name: "a number of 1 MB where a text belongs",
        expected: "error: `111",
        build: |dry| replaced(dry, "path: apps/x/dev", &format!("path: {}", "1".repeat(1_000_000))),
    },
    Case {
        name: "a field of 1 MB that nobody knows",
        expected: "could not find expected ':'",
        build: |dry| dry.x_with(&format!("{}: 1", "x".repeat(1_000_000))),
    },
    Case {
        name: "9 MB of comments",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", with(&"#\n".repeat(4_500_000))),
    },
    Case {
        name: "9 MB of question marks",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", "? ".repeat(4_500_000)),
    },
    Case {
        name: "a number of a million digits",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", with(&format!("data: {}", "9".repeat(1_000_000)))),
    },
    Case {
        name: "an exponent of a million digits",
        expected: "cannot unmarshal number",
        build: |dry| {
            dry.x_file(
                "a.json",
                format!(
                    r#"{{"apiVersion":"v1","kind":"X","metadata":{{"name":"x"}},"n":1e{}}}"#,
                    "9".repeat(1_000_000)
                ),
            )
        },
    },
    Case {
        name: "UTF-16, NUL and lone surrogates",
        expected: RENDERS,
        build: |dry| dry.x_file("a.yaml", b"\xff\xfe\x00\xd8\x00\x00a\x00"),
    },
    Case {
        name: "bytes that are no UTF-8",
        expected: "not valid YAML: invalid leading UTF-8 octet",
        build: |dry| dry.x_file("a.yaml", b"kind: \xff\xfe\xfd\napiVersion: v1\n"),
    },
    Case {
        name: "terminal escapes in a manifest",
        expected: "not valid YAML: control characters are not allowed",
        build: |dry| dry.x_file("a.yaml", "apiVersion: v1\nkind: \u{1b}[31mX\u{1b}]0;t\u{7}\n"),
    },
    Case {
        name: "terminal escapes in names",
        expected: RENDERS,
        build: |dry| {
            let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"\\e[2J\\r\\b\\u202e\"}\n";
            dry.x_file("a.yaml", format!("{object}---\n{object}"));
        },
    },
    Case {
        name: "10,001 Applications in a file",
        expected: "error:",
        build: |dry| {
            let (_, text) = crate::push::application("x", "dev");
            dry.file("applications/dev/x.yaml", format!("---\n{text}").repeat(10_001));
        },
    },
    Case {
        name: "20,000 Applications in 20,000 files",
        expected: "error:",
        build: |dry| {
            let (_, text) = crate::push::application("x", "dev");
            for n in 0..20_000 {
                dry.file(&format!("applications/dev/{n}.yaml"), &text);
            }
        },
    },
    Case {
        name: "name with terminal escapes",
        expected: "error:",
        build: |dry| replaced(dry, "name: x-dev", "name: \"x\\e[2J\""),
    },
    Case {
        name: "branch: templated",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: 'environments/{{ .Values.env }}'"),
    },
    Case {
        name: "branch: a shell's variable",
        expected: "environments/",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: 'environments/$(id)'"),
    },
    Case {
        name: "branch: the dry branch",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: main"),
    },
    Case {
        name: "branch: HEAD",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: HEAD"),
    },
    Case {
        name: "branch: refs/heads/x",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: refs/heads/environments/prod"),
    },
    Case {
        name: "branch: refs/notes/…",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: refs/notes/hydrator.metadata"),
    },
    Case {
        name: "branch: up and down",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: environments/../main"),
    },
    Case {
        name: "branch: an option",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: --stdin"),
    },
    Case {
        name: "branch: two lines",
        expected: "error:",
        build: |dry| {
            replaced(
                dry,
                "targetBranch: environments/dev",
                "targetBranch: \"environments/dev\\ndelete refs/heads/main\"",
            )
        },
    },
    Case {
        name: "branch: NUL",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: \"environments/dev\\0\""),
    },
    Case {
        name: "branch: .lock",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: environments/prod.lock"),
    },
    Case {
        name: "branch: 5,000 characters",
        expected: "error:",
        build: |dry| {
            replaced(
                dry,
                "targetBranch: environments/dev",
                &format!("targetBranch: environments/{}", "x".repeat(5_000)),
            )
        },
    },
    Case {
        name: "branch: a directory of another",
        expected: "error:",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: environments/prod/x"),
    },
    Case {
        name: "branch: looks like another",
        expected: "environments/",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: environments/\u{440}rod"),
    },
    Case {
        name: "branch: written from right to left",
        expected: "environments/",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: \"environments/\\u202Edorp\""),
    },
    Case {
        name: "branch: composed and decomposed",
        expected: "environments/",
        build: |dry| {
            dry.application("x", |text| text.replace("environments/dev", "environments/d\u{e9}v"));
            dry.application("why", |text| text.replace("environments/dev", "environments/de\u{301}v"));
            dry.file("apps/x/dev/a.yaml", OBJECT);
            dry.file("apps/why/dev/a.yaml", OBJECT);
        },
    },
    Case {
        name: "branch: another case",
        expected: "environments/",
        build: |dry| replaced(dry, "targetBranch: environments/dev", "targetBranch: environments/PROD"),
    },
    Case {
        name: "glob of braces in braces",
        expected: "environments/",
        build: |dry| {
            dry.x_with(&format!("directory: {{recurse: true, include: '{}'}}", "{a,b}".repeat(60)));
            dry.file("apps/x/dev/a.yaml", OBJECT);
            dry.file(&format!("apps/x/dev/{}.yaml", "ab".repeat(100)), OBJECT);
        },
    },
    Case {
        name: "glob of stars",
        expected: "environments/",
        build: |dry| {
            dry.x_with(&format!("directory: {{recurse: true, exclude: '{}b'}}", "*a".repeat(60)));
            dry.file("apps/x/dev/a.yaml", OBJECT);
            dry.file(&format!("apps/x/dev/{}.yaml", "a".repeat(200)), OBJECT.replace("name: x", "name: y"));
        },
    },
    Case {
        name: "Jsonnet without end",
        expected: "was ended after",
        build: |dry| dry.x_file("a.jsonnet", "local f(x) = f(x + 1) tailstrict; f(0)"),
    },
    Case {
        name: "Jsonnet that recurses",
        expected: "error:",
        build: |dry| dry.x_file("a.jsonnet", "local f(x) = [f(x + 1)]; f(0)"),
    },
    Case {
        name: "Jsonnet that eats memory",
        expected: "Jsonnet needs more memory than git config hydrate.memoryLimit allows",
        build: |dry| dry.x_file("a.jsonnet", "local f(s) = f(s + s) tailstrict; f('x')"),
    },
    Case {
        name: "Jsonnet that prints without end",
        expected: "Jsonnet needs more memory than git config hydrate.memoryLimit allows",
        build: |dry| dry.x_file("a.jsonnet", "[{a: std.repeat('x', 1000000)} for i in std.range(0, 1000000)]"),
    },
    Case {
        name: "Jsonnet that imports in a circle",
        expected: "error:",
        build: |dry| {
            dry.x_file("a.jsonnet", "import 'b.libsonnet'");
            dry.file("apps/x/dev/b.libsonnet", "import 'a.jsonnet'");
        },
    },
    Case {
        name: "Jsonnet that imports the host",
        expected: "cannot be imported",
        build: |dry| dry.x_file("a.jsonnet", "{a: importstr '/etc/passwd'}"),
    },
    Case {
        name: "plugin that nobody named",
        expected: "error:",
        build: |dry| {
            dry.x_with("plugin: {name: 'sh -c id'}");
            dry.file("apps/x/dev/a.yaml", OBJECT);
        },
    },
    Case {
        name: "a lock file of 100,000 lines",
        expected: ".hydrate/inputs.lock",
        build: |dry| {
            dry.x_file("kustomization.yaml", "resources: ['https://example.com/x.yaml']\n");
            dry.file(".hydrate/inputs.lock", format!("format = 1\n{}", "[chart x]\nversion = 1\n".repeat(50_000)));
        },
    },
    Case {
        name: "commit message: 10 MB of escapes",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.message = "\u{1b}[2J\u{1b}]0;t\u{7}\r".repeat(1_000_000).into_bytes();
        },
    },
    Case {
        name: "commit message: templates, HTML, trailers of ours",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.message = b"{{ 7 * 7 }} {% for i in range(100000000) %}x{% endfor %} <script>\n\nbody ${x} \xff\xfe\n\nHydrate-Branch: environments/prod\nHydrate-Dry: 1111111111111111111111111111111111111111\nHydrate-Dry-Branch: main\nHydrate-Engine: 1\nHydrate-Allow-Removal: environments/prod\nArgocd-reference-commit-body: \"\\u0000\"\n".to_vec();
        },
    },
    Case {
        name: "commit message: a million trailers",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("a.yaml", OBJECT);
            dry.message = format!("x\n\n{}", "Argocd-reference-commit-sha: 1\n".repeat(300_000)).into_bytes();
        },
    },
];
