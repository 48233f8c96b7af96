//! Charts: templates that never end or grow, archives that are no charts, values and schemas.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Case, Dry, RENDERS};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";

/// A template that evaluates an expression.
fn evaluates(dry: &mut Dry, template: &str) {
    dry.chart(format!("{OBJECT}data:\n  a: {{{{ {template} | toString | trunc 10 | quote }}}}\n"));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

/// An entry of a tar archive as it is, whatever its name.
fn entry(name: &str, kind: tar::EntryType, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_mut_bytes()[..name.len().min(100)].copy_from_slice(&name.as_bytes()[..name.len().min(100)]);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_link_name_literal("/etc/passwd").expect("short");
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = entry(name, tar::EntryType::Regular, content.len() as u64);
    bytes.extend(content);
    bytes.resize(bytes.len().div_ceil(512) * 512, 0);
    bytes
}

fn chart() -> Vec<u8> {
    file("b/Chart.yaml", b"apiVersion: v2\nname: b\nversion: 1.0.0\n")
}

/// The chart with a subchart in an archive of these entries, each packed on its own.
fn packed(dry: &mut Dry, members: impl IntoIterator<Item = Vec<u8>>) {
    dry.chart(OBJECT);
    let members = members.into_iter().chain([vec![0; 1024]]);
    let archive: Vec<u8> = members.flat_map(|member| gzip(&member)).collect();
    dry.file("apps/x/dev/charts/b-1.0.0.tgz", archive);
}

/// A chart without templates, and one more field of the dry source.
fn bare_chart(dry: &mut Dry, field: &str) {
    dry.x_with(field);
    dry.file("apps/x/dev/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n");
}

/// A chart whose values have a schema.
fn schema(dry: &mut Dry, schema: impl AsRef<[u8]>) {
    dry.chart(OBJECT);
    dry.file("apps/x/dev/values.schema.json", schema);
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "template that includes itself",
        expected: "error:",
        build: |dry| dry.chart("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}"),
    },
    Case {
        name: "templates that include each other",
        expected: "error:",
        build: |dry| {
            dry.chart("{{ define \"a\" }}{{ include \"b\" . }}{{ end }}{{ define \"b\" }}{{ template \"a\" . }}{{ end }}{{ include \"a\" . }}")
        },
    },
    Case {
        name: "tpl of itself",
        expected: "error:",
        build: |dry| {
            dry.chart("a: {{ tpl .Values.t . }}");
            dry.file("apps/x/dev/values.yaml", "t: '{{ tpl .Values.t . }}{{ tpl .Values.t . }}'\n");
        },
    },
    Case {
        name: "range over 2^60",
        expected: "error:",
        build: |dry| dry.chart("{{ range $i := until 1152921504606846976 }}{{ end }}"),
    },
    Case {
        name: "range in range in range",
        expected: "error:",
        build: |dry| {
            dry.chart("{{ $l := until 10000 }}{{ range $l }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}{{ end }}")
        },
    },
    Case {
        name: "range over an integer",
        expected: "error:",
        build: |dry| dry.chart("{{ range 9223372036854775807 }}{{ end }}"),
    },
    Case { name: "untilStep by zero", expected: RENDERS, build: |dry| evaluates(dry, "untilStep 0 10 0") },
    Case { name: "seq of a billion", expected: "error:", build: |dry| evaluates(dry, "seq 1 1000000000") },
    Case {
        name: "repeat a billion times",
        expected: "error:",
        build: |dry| evaluates(dry, "repeat 1000000000 \"xxxxxxxxxx\""),
    },
    Case { name: "indent by a billion", expected: "error:", build: |dry| evaluates(dry, "indent 1000000000 \"x\"") },
    Case {
        name: "printf of a billion columns",
        expected: RENDERS,
        build: |dry| evaluates(dry, "printf \"%1000000000d\" 1"),
    },
    Case {
        name: "string that doubles 60 times",
        expected: "error:",
        build: |dry| dry.chart("{{ $s := \"x\" }}{{ range until 60 }}{{ $s = printf \"%s%s\" $s $s }}{{ end }}"),
    },
    Case {
        name: "list that doubles 60 times",
        expected: "error:",
        build: |dry| dry.chart("{{ $l := list 1 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}"),
    },
    Case {
        name: "nested lists that double 60 times",
        expected: "error:",
        build: |dry| dry.chart("{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}{{ toJson $l }}"),
    },
    Case {
        name: "deepCopy of what doubles",
        expected: "error:",
        build: |dry| {
            dry.chart("{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}{{ $x := deepCopy $l }}")
        },
    },
    Case {
        name: "comparing what doubles",
        expected: "`kind` is missing",
        build: |dry| {
            dry.chart("{{ $l := list 1 }}{{ $m := list 2 }}{{ range until 40 }}{{ $l = list $l $l }}{{ $m = list $m $m }}{{ end }}a: {{ deepEqual $l $l }}{{ deepEqual $l $m }}")
        },
    },
    Case {
        name: "a map that holds itself, printed",
        expected: "error:",
        build: |dry| evaluates(dry, "$d := dict }}{{ $_ := set $d \"a\" $d }}{{ $d"),
    },
    Case {
        name: "a map that holds itself, as YAML",
        expected: "error:",
        build: |dry| evaluates(dry, "$d := dict }}{{ $_ := set $d \"a\" $d }}{{ toYaml $d"),
    },
    Case {
        name: "a map that holds itself, merged",
        expected: "error:",
        build: |dry| {
            evaluates(
                dry,
                "$d := dict }}{{ $_ := set $d \"a\" $d }}{{ $e := dict }}{{ $_ := set $e \"a\" $e }}{{ merge $d $e",
            )
        },
    },
    Case {
        name: "maps that hold each other, compared",
        expected: "error:",
        build: |dry| {
            evaluates(
                dry,
                "$d := dict }}{{ $_ := set $d \"a\" $d }}{{ $e := dict }}{{ $_ := set $e \"a\" $e }}{{ deepEqual $d $e",
            )
        },
    },
    Case {
        name: "regex that backtracks elsewhere",
        expected: RENDERS,
        build: |dry| evaluates(dry, "regexMatch \"^(a+)+$\" (printf \"%sb\" (repeat 100000 \"a\"))"),
    },
    Case {
        name: "regex of a billion states",
        expected: RENDERS,
        build: |dry| evaluates(dry, "regexMatch \"((((x{100}){100}){100}){100})\" \"x\""),
    },
    Case {
        name: "regex that grows its text",
        expected: "error:",
        build: |dry| {
            dry.chart("{{ $s := \"x\" }}{{ range until 60 }}{{ $s = regexReplaceAll \"x\" $s \"xxxx\" }}{{ end }}")
        },
    },
    Case {
        name: "replace that grows its text",
        expected: "error:",
        build: |dry| dry.chart("{{ $s := \"x\" }}{{ range until 60 }}{{ $s = replace \"x\" \"xxxx\" $s }}{{ end }}"),
    },
    Case {
        name: "join of a long separator",
        expected: "error:",
        build: |dry| evaluates(dry, "join (repeat 1000000 \"x\") (until 100000)"),
    },
    Case {
        name: "fromYaml of a bomb",
        expected: "error:",
        build: |dry| {
            dry.chart("a: {{ .Values.bomb | fromYaml | toJson | len }}");
            let bomb: String =
                (1..12).map(|n| format!("  a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "))).collect();
            dry.file("apps/x/dev/values.yaml", format!("bomb: |\n  a0: &a0 [x]\n{bomb}"));
        },
    },
    Case {
        name: "fromJson of 100,000 brackets",
        expected: RENDERS,
        build: |dry| evaluates(dry, "repeat 100000 \"[\" | fromJsonArray"),
    },
    Case {
        name: "10,000 parentheses",
        expected: "error:",
        build: |dry| evaluates(dry, &format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000))),
    },
    Case {
        name: "10,000 blocks inside each other",
        expected: "error:",
        build: |dry| dry.chart(format!("{}{}", "{{ if 1 }}".repeat(10_000), "{{ end }}".repeat(10_000))),
    },
    Case {
        name: "a pipe of 100,000 commands",
        expected: RENDERS,
        build: |dry| evaluates(dry, &format!("1{}", " | int".repeat(100_000))),
    },
    Case { name: "division by zero", expected: "error:", build: |dry| evaluates(dry, "div 1 0") },
    Case {
        name: "smallest number by minus one",
        expected: RENDERS,
        build: |dry| evaluates(dry, "div (int64 \"-9223372036854775808\") -1"),
    },
    Case {
        name: "numbers at their ends",
        expected: "error:",
        build: |dry| {
            evaluates(dry, "add1 9223372036854775807 | mul 9223372036854775807 | sub -9223372036854775808 | mod -1")
        },
    },
    Case {
        name: "slices out of range",
        expected: "error:",
        build: |dry| {
            evaluates(
                dry,
                "substr -5 999999999999 \"abc\"}}{{ trunc -9223372036854775808 \"abc\" }}{{ slice (list 1 2) 5 9",
            )
        },
    },
    Case {
        name: "round to two billion places",
        expected: RENDERS,
        build: |dry| evaluates(dry, "round 1.5 2147483647"),
    },
    Case {
        name: "dates without end",
        expected: RENDERS,
        build: |dry| evaluates(dry, "dateModify \"9999999999h\" (toDate \"2006\" \"9999\")"),
    },
    Case { name: "lookup of a name", expected: RENDERS, build: |dry| evaluates(dry, "getHostByName \"example.com\"") },
    Case { name: "env", expected: "error:", build: |dry| evaluates(dry, "env \"HOME\"") },
    Case {
        name: "Files.Get out of the chart",
        expected: RENDERS,
        build: |dry| evaluates(dry, ".Files.Get \"../../../../../etc/passwd\""),
    },
    Case {
        name: "Files.Glob of stars",
        expected: RENDERS,
        build: |dry| evaluates(dry, &format!(".Files.Glob \"{}\"", "{a,*}*".repeat(40))),
    },
    Case {
        name: "file:// charts in a circle",
        expected: "error:",
        build: |dry| {
            for (name, other) in [("x", "y"), ("y", "x")] {
                dry.file(&format!("apps/{name}/dev/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\ndependencies:\n- {{name: {other}, version: 1.0.0, repository: 'file://../../{other}/dev'}}\n"));
                dry.file(&format!("apps/{name}/dev/templates/t.yaml"), OBJECT);
            }
            dry.x();
        },
    },
    Case {
        name: "file:// chart out of the tree",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n- {name: etc, version: 1.0.0, repository: 'file://../../../../../etc'}\n");
        },
    },
    Case {
        name: "file:// charts that double",
        expected: "error:",
        build: |dry| {
            for n in 0..40 {
                let dir = if n == 0 { "apps/x/dev".to_owned() } else { format!("charts/c{n}") };
                let next = format!("file://{}charts/c{}", "../".repeat(dir.matches('/').count() + 1), n + 1);
                dry.file(&format!("{dir}/Chart.yaml"), format!("apiVersion: v2\nname: c{n}\nversion: 1.0.0\ndependencies:\n- {{name: c{m}, version: 1.0.0, repository: '{next}'}}\n- {{name: c{m}, alias: d{m}, version: 1.0.0, repository: '{next}'}}\n", m = n + 1));
                dry.file(&format!("{dir}/templates/t.yaml"), OBJECT);
            }
            dry.file("charts/c40/Chart.yaml", "apiVersion: v2\nname: c40\nversion: 1.0.0\n");
            dry.x();
        },
    },
    Case {
        name: "subchart is a link to its parent",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.link("apps/x/dev/charts/x", "../../dev");
        },
    },
    Case {
        name: "template is a link out",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.link("apps/x/dev/templates/p.yaml", "/etc/passwd");
        },
    },
    Case {
        name: "values file out of the tree",
        expected: "error:",
        build: |dry| bare_chart(dry, "helm: {valueFiles: [../../../../../../etc/passwd]}"),
    },
    Case {
        name: "values file by http",
        expected: "error:",
        build: |dry| bare_chart(dry, "helm: {valueFiles: ['https://example.com/values.yaml']}"),
    },
    Case {
        name: "index of a billion in a parameter",
        expected: "error:",
        build: |dry| bare_chart(dry, "helm: {parameters: [{name: 'a[1000000000]', value: b}]}"),
    },
    Case {
        name: "indexes in indexes in a parameter",
        expected: RENDERS,
        build: |dry| {
            bare_chart(dry, &format!("helm: {{parameters: [{{name: 'a{}', value: b}}]}}", "[60000]".repeat(100)))
        },
    },
    Case {
        name: "a parameter of 100,000 keys",
        expected: "error:",
        build: |dry| {
            bare_chart(dry, &format!("helm: {{parameters: [{{name: 'a{}', value: b}}]}}", ".a".repeat(100_000)))
        },
    },
    Case {
        name: "schema that refers to itself",
        expected: "error:",
        build: |dry| {
            schema(
                dry,
                r##"{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}"##,
            )
        },
    },
    Case {
        name: "schema that doubles",
        expected: "takes too long to check",
        build: |dry| {
            dry.chart(OBJECT);
            let defs: Vec<String> = (0..40)
                .map(|n| {
                    format!(
                        r##""a{n}": {{"anyOf": [{{"$ref": "#/$defs/a{m}"}}, {{"$ref": "#/$defs/a{m}"}}]}}"##,
                        m = n + 1
                    )
                })
                .collect();
            dry.file(
                "apps/x/dev/values.schema.json",
                format!(r##"{{"$ref": "#/$defs/a0", "$defs": {{{}, "a40": {{"type": "string"}}}}}}"##, defs.join(",")),
            );
        },
    },
    Case {
        name: "schema from elsewhere",
        expected: "error:",
        build: |dry| schema(dry, r#"{"$ref": "https://example.com/schema.json"}"#),
    },
    Case {
        name: "schema from the host",
        expected: "error:",
        build: |dry| schema(dry, r#"{"$ref": "file:///etc/passwd"}"#),
    },
    Case {
        name: "schema with an evil pattern",
        expected: "don't meet the specifications",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/values.yaml", format!("a: {}b\n", "a".repeat(100_000)));
            dry.file(
                "apps/x/dev/values.schema.json",
                r#"{"properties": {"a": {"pattern": "^((((a{50}){50}){50}){50})+$"}}}"#,
            );
        },
    },
    Case {
        name: ".helmignore of stars",
        expected: RENDERS,
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/.helmignore", format!("{}b\n", "*a".repeat(100)).repeat(100));
            dry.file(&format!("apps/x/dev/{}.txt", "a".repeat(240)), "");
        },
    },
    Case {
        name: "archive: 1 GB of zeros in one file",
        expected: "larger than the maximum",
        build: |dry| {
            let mut members = vec![chart(), entry("b/bomb", tar::EntryType::Regular, 1 << 30)];
            members.extend(vec![vec![0; 16 << 20]; 64]);
            packed(dry, members);
        },
    },
    Case {
        name: "archive: 1 GB in many files",
        expected: "larger than the maximum",
        build: |dry| {
            let files = (0..256).map(|n| file(&format!("b/{n}"), &vec![0; 4 << 20]));
            packed(dry, [chart()].into_iter().chain(files));
        },
    },
    Case {
        name: "archive: zeros behind the end",
        expected: "larger than the maximum file size",
        build: |dry| {
            packed(dry, [chart(), vec![0; 1024]].into_iter().chain((0..64).map(|_| vec![0; 16 << 20])));
        },
    },
    Case {
        name: "archive: 100,000 empty files",
        expected: "more than",
        build: |dry| {
            let files: Vec<u8> = (0..100_000).flat_map(|n| file(&format!("b/{n}"), b"")).collect();
            packed(dry, [chart(), files]);
        },
    },
    Case {
        name: "archive: ..",
        expected: "parent directory",
        build: |dry| packed(dry, [chart(), file("b/../../../x", b"x")]),
    },
    Case {
        name: "archive: absolute",
        expected: "absolute paths",
        build: |dry| packed(dry, [chart(), file("b//etc/x", b"x")]),
    },
    Case {
        name: "archive: a link to the host",
        expected: RENDERS,
        build: |dry| packed(dry, [chart(), entry("b/templates/p.yaml", tar::EntryType::Symlink, 0)]),
    },
    Case {
        name: "archive: a device",
        expected: RENDERS,
        build: |dry| packed(dry, [chart(), entry("b/templates/p.yaml", tar::EntryType::Char, 0)]),
    },
    Case {
        name: "archive: a size of 2^63",
        expected: "error:",
        build: |dry| packed(dry, [chart(), entry("b/x", tar::EntryType::Regular, u64::MAX / 2)]),
    },
    Case {
        name: "archive: cut off",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            let archive = gzip(&[chart(), file("b/x", &[1; 4096])].concat());
            dry.file("apps/x/dev/charts/b-1.0.0.tgz", &archive[..archive.len() / 2]);
        },
    },
    Case {
        name: "archive: no archive at all",
        expected: "error:",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/charts/b-1.0.0.tgz", "PK\u{3}\u{4}");
        },
    },
    Case {
        name: "archive: a long name of 100 MB",
        expected: "error:",
        build: |dry| {
            let mut members = vec![chart(), entry("././@LongLink", tar::EntryType::GNULongName, 100 << 20)];
            members.extend(vec![vec![b'a'; 10 << 20]; 10]);
            packed(dry, members);
        },
    },
    Case {
        name: "archives in archives",
        expected: "larger than the maximum file size",
        build: |dry| {
            let mut archive = gzip(&[chart(), vec![0; 1024]].concat());
            for n in 0..60 {
                let files = [
                    file(
                        &format!("c{n}/Chart.yaml"),
                        format!("apiVersion: v2\nname: c{n}\nversion: 1.0.0\n").as_bytes(),
                    ),
                    file(&format!("c{n}/charts/d.tgz"), &archive),
                    file(&format!("c{n}/charts/e.tgz"), &archive),
                ];
                archive = gzip(&[files.concat(), vec![0; 1024]].concat());
                if archive.len() > 4 << 20 {
                    break;
                }
            }
            dry.chart(OBJECT);
            dry.file("apps/x/dev/charts/c.tgz", archive);
        },
    },
    Case {
        name: "LFS pointer as archive",
        expected: "LFS pointer",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file(
                "apps/x/dev/charts/b-1.0.0.tgz",
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            );
        },
    },
    Case {
        name: "a failure of 1 MB",
        expected: "execution error at (x/templates/t.yaml:1:3): xxx",
        build: |dry| dry.chart("{{ fail (repeat 1000000 \"x\") }}"),
    },
    Case {
        name: "a failure of 100,000 lines",
        expected: "execution error at (x/templates/t.yaml:1:3): x",
        build: |dry| dry.chart("{{ fail (repeat 100000 \"x\\n\") }}"),
    },
    Case {
        name: "a template that fails in a line of 1 MB",
        expected: "execution error at (x/templates/t.yaml:1:1000003): no",
        build: |dry| dry.chart(format!("{}{{{{ fail \"no\" }}}}", "x".repeat(1_000_000))),
    },
    Case {
        name: "values that are a number of 1 MB",
        expected: "cannot load values.yaml: cannot unmarshal yaml document",
        build: |dry| {
            dry.chart(OBJECT);
            dry.file("apps/x/dev/values.yaml", "1".repeat(1_000_000));
        },
    },
    Case {
        name: "a name of 1 MB in Chart.yaml",
        expected: "execution error at (xxx",
        build: |dry| {
            dry.chart("{{ fail .Chart.Name }}");
            let name = "x".repeat(1_000_000);
            dry.file("apps/x/dev/Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"));
        },
    },
    Case {
        name: "terminal escapes in a failure",
        expected: "error:",
        build: |dry| dry.chart("{{ fail \"\\u001b[2J\\u001b]0;t\\u0007\\r\" }}"),
    },
    Case {
        name: "a failure of 100 MB",
        expected: "error:",
        build: |dry| dry.chart("{{ fail (repeat 100000000 \"x\") }}"),
    },
    Case {
        name: "output of 200 MB",
        expected: "error:",
        build: |dry| dry.chart("{{ range until 200 }}{{ repeat 1000000 \"#\" }}\n{{ end }}"),
    },
    Case {
        name: "output of 300,000 objects",
        expected: "error:",
        build: |dry| {
            dry.chart("{{ range until 300000 }}---\napiVersion: v1\nkind: C\nmetadata: {name: c{{ . }}}\n{{ end }}")
        },
    },
];
