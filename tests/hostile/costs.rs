//! What takes long or much, and says nothing that is wrong: each ends by a limit, soon after it.

use std::fmt::Write as _;

use super::{Case, Dry, RENDERS, is_table, measure};
use crate::push::{application, config_map};

/// What is answered when a limit of the machine ends a render, or one of the settings.
const LIMIT: &str = "error: ";

/// On a slow machine the limit of time ends it, on a fast one it renders: then only what stands beside it counts.
const EITHER: &str = "environments/prod";

/// How long a render may take that is to reach its limit, in seconds; the table gives it time to take memory.
fn seconds() -> &'static str {
    if is_table() { "3" } else { "1" }
}

/// Not so soon that a busy machine would be the limit.
fn unlimited(dry: &Dry) {
    dry.server.git(&["config", "--unset", "hydrate.renderTimeLimit"]);
}

pub(super) fn limited(dry: &Dry) {
    dry.server.git(&["config", "hydrate.renderTimeLimit", seconds()]);
}

/// A chart with variables that calls a function very often.
fn often(dry: &mut Dry, variables: &str, call: &str) {
    limited(dry);
    dry.chart(format!("{variables}{{{{ range 1000000 }}}}{{{{ $_ := {call} }}}}{{{{ end }}}}"));
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", line(n)).expect("a string");
        text
    })
}

fn kustomize(dry: &mut Dry, fields: impl AsRef<str>, resources: impl AsRef<[u8]>) {
    limited(dry);
    dry.x_file("kustomization.yaml", format!("resources: [a.yaml]\n{}\n", fields.as_ref()));
    dry.file("apps/x/dev/a.yaml", resources);
}

fn config_maps(count: usize) -> String {
    lines(count, |n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}"))
}

const STRING: &str = "{{ $s := repeat 30000000 \"1\" }}";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "1,000 Applications in a file, of a directory that changes",
        expected: "1000 of 1000 manifests changed",
        build: |dry| {
            let text = |n| application(&format!("x{n}"), "dev").1.replace(&format!("apps/x{n}/dev"), "apps/shared");
            let texts: Vec<String> = (0..1000).map(text).collect();
            dry.file("applications/dev/x.yaml", texts.join("---\n"));
            dry.file("apps/shared/config.yaml", config_map("shared", "one"));
            dry.commit();
            assert!(measure(&dry.server).status.success());
            dry.script.clear();
            dry.file("apps/shared/config.yaml", config_map("shared", "two"));
        },
    },
    Case {
        name: "a regular expression of 60 MB",
        expected: "template execution makes more than",
        build: |dry| dry.chart("{{ $s := repeat 60000000 \"a\" }}x: {{ regexMatch $s \"a\" }}"),
    },
    Case {
        name: "a regular expression of 1 MB",
        expected: "a regular expression takes too long",
        build: |dry| dry.chart("{{ $s := repeat 1000000 \"a\" }}x: {{ regexMatch $s \"a\" }}"),
    },
    Case {
        name: "a glob of 1 MB",
        expected: "a pattern of more than",
        build: |dry| dry.chart("{{ $s := repeat 1000000 \"a\" }}x: {{ len (.Files.Glob $s) }}"),
    },
    Case {
        name: "a glob of 60 MB",
        expected: "template execution makes more than",
        build: |dry| dry.chart("{{ $s := repeat 60000000 \"a\" }}x: {{ len (.Files.Glob $s) }}"),
    },
    Case {
        name: "a regular expression that knows 46 ways",
        expected: LIMIT,
        build: |dry| {
            limited(dry);
            let ways: Vec<String> = (0..46).map(|n| format!("a[ab]{{{}}}[c-z]{{9}}", 990 - n)).collect();
            dry.chart(format!("x: {{{{ regexMatch \"{}\" (repeat 100000 \"abbabaaab\") }}}}", ways.join("|")));
        },
    },
    Case {
        name: "a regular expression on a million texts",
        expected: LIMIT,
        build: |dry| {
            limited(dry);
            let pattern = "[0-9a-f]*8[0-9a-f]{700}[g-z]";
            let text = "(sha256sum (toString $n) | repeat 20)";
            dry.chart(format!(
                "{{{{ range $n := until 1000000 }}}}{{{{ $_ := regexMatch \"{pattern}\" {text} }}}}{{{{ end }}}}"
            ));
        },
    },
    Case {
        name: "a regular expression on one long match",
        expected: "a regular expression takes too long",
        build: |dry| {
            dry.chart("x: {{ regexReplaceAll \"(a|b|(c))*([ab]{900})?\" (repeat 300000 \"abbabaaab\") \"$1\" | len }}");
        },
    },
    Case {
        name: "a regular expression with 20,000 groups",
        expected: "a regular expression takes too long",
        build: |dry| {
            dry.chart("x: {{ regexReplaceAll (print (repeat 20000 \"(a?)\") \".+\") (repeat 30 \"b\") \"$1\" }}");
        },
    },
    Case {
        name: "a regular expression with 40,000 classes",
        expected: "a regular expression takes too long",
        build: |dry| {
            dry.chart("x: {{ regexMatch (print \"(?i)\" (repeat 40000 \"\\\\pL\")) \"x\" }}");
        },
    },
    Case {
        name: "a regular expression with 8,000 ranges without case",
        expected: "a regular expression takes too long",
        build: |dry| {
            dry.chart("x: {{ regexMatch (print \"(?i)[\" (repeat 8000 \"\\\\x{0}-\\\\x{10ffff}\") \"]\") \"x\" }}");
        },
    },
    Case {
        name: "a mistake 900 calls of tpl deep, each of 1 MB",
        expected: "error: ",
        build: |dry| {
            let text = "{{ $_ := set . \\\"n\\\" (add .n 1) }}{{ if lt (int .n) 900 }}{{ tpl .t . }}{{ else }}{{ index 1 2 }}{{ end }}";
            dry.chart(format!(
                "{{{{ $t := print \"{{{{/* \" (repeat 1000000 \"'\") \" */}}}}{text}\" }}}}{{{{ $d := dict \"Template\" .Template \"n\" 0 \"t\" $t }}}}{{{{ tpl $t $d }}}}"
            ));
        },
    },
    Case {
        name: "Jsonnet that goes on and on",
        expected: "seconds to render",
        build: |dry| {
            limited(dry);
            // The limit of programs is not what ends it.
            dry.server.git(&["config", "--unset", "hydrate.timeLimit"]);
            dry.x_with("directory: {jsonnet: {}}");
            dry.file("apps/x/dev/a.jsonnet", "local f(n) = if n == 0 then 0 else f(n - 1) + f(n - 1); f(60)");
        },
    },
    Case {
        name: "a schema of 40,000 anchors",
        expected: RENDERS,
        build: |dry| {
            dry.chart(config_map("x", "y"));
            let all = lines(40_000, |n| format!("\"d{n}\": {{\"$anchor\": \"a{n}\"}},"));
            let draft = "https://json-schema.org/draft/2020-12/schema";
            dry.file(
                "apps/x/dev/values.schema.json",
                format!("{{\"$schema\": \"{draft}\", \"$defs\": {{{all}\"x\": {{}}}}}}"),
            );
        },
    },
    Case {
        name: "a schema of 20,000 values for 20,000 items",
        expected: LIMIT,
        build: |dry| {
            limited(dry);
            dry.chart("a: b\n");
            let values = lines(20_000, |n| format!("{{\"k\": [{n}]}},"));
            let text = format!("{{\"properties\": {{\"a\": {{\"items\": {{\"enum\": [{values}1]}}}}}}}}");
            dry.file("apps/x/dev/values.schema.json", text);
            dry.file("apps/x/dev/values.yaml", format!("a:\n{}", lines(20_000, |n| format!("- {{k: [-{n}]}}"))));
        },
    },
    Case {
        name: "a schema of 2,000 large patterns",
        expected: "expression too large",
        build: |dry| {
            dry.chart("a: b\n");
            let all = lines(2_000, |n| format!("\"p{n}\": {{\"pattern\": \"\\\\pL{{{}}}\"}},", 560 + n % 40));
            dry.file("apps/x/dev/values.schema.json", format!("{{\"properties\": {{{all}\"x\": {{}}}}}}"));
        },
    },
    Case { name: "contains, often", expected: LIMIT, build: |dry| often(dry, STRING, "contains \"2\" $s") },
    Case { name: "int, often", expected: EITHER, build: |dry| often(dry, STRING, "int $s") },
    Case { name: "float64, often", expected: EITHER, build: |dry| often(dry, STRING, "float64 $s") },
    Case {
        name: "eq, often",
        expected: LIMIT,
        build: |dry| often(dry, &format!("{STRING}{{{{ $t := repeat 30000000 \"1\" }}}}"), "eq $s $t"),
    },
    Case { name: "toDate, often", expected: LIMIT, build: |dry| often(dry, STRING, "toDate $s $s") },
    Case { name: "adler32sum, often", expected: LIMIT, build: |dry| often(dry, STRING, "adler32sum $s") },
    Case {
        name: "trimAll of many characters",
        expected: EITHER,
        build: |dry| often(dry, "{{ $s := repeat 3000000 \"1\" }}", "trimAll $s $s"),
    },
    Case {
        name: "splitList into 60 million parts",
        expected: "template execution makes more than",
        build: |dry| dry.chart("{{ $s := repeat 60000000 \"a\" }}x: {{ len (splitList \"a\" $s) }}"),
    },
    Case {
        name: "one group put in many times",
        expected: "template execution makes more than",
        build: |dry| {
            dry.chart("{{ $s := repeat 1000000 \"a\" }}{{ $r := repeat 100000 \"${0}\" }}x: {{ regexReplaceAll \"a+\" $s $r | len }}");
        },
    },
    Case {
        name: "a long text in YAML a million times",
        expected: "template execution makes more than",
        build: |dry| {
            dry.chart("{{ $l := list (repeat 1000000 \"a\") }}{{ range 20 }}{{ $l = concat $l $l }}{{ end }}x: {{ toYaml $l | len }}");
        },
    },
    Case {
        name: "deepCopy of 60 levels",
        expected: "template execution makes more than",
        build: |dry| {
            dry.chart("{{ $d := dict \"a\" \"b\" }}{{ range 60 }}{{ $d = dict \"a\" $d \"b\" $d }}{{ end }}x: {{ len (deepCopy $d) }}");
        },
    },
    Case {
        name: "one file in 20,000 keys",
        expected: "more than 201326592 bytes of text",
        build: |dry| {
            let keys = lines(20_000, |n| format!("  - k{n}=f"));
            kustomize(dry, format!("configMapGenerator:\n- name: g\n  files:\n{keys}"), config_maps(1));
            dry.file("apps/x/dev/f", "v".repeat(500_000));
            unlimited(dry);
        },
    },
    Case {
        name: "variables of variables",
        expected: "more than 201326592 bytes of text",
        build: |dry| {
            let long = format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c0}}\ndata: {{a: {}}}\n",
                "v".repeat(1_000_000)
            );
            let all = "$(A)".repeat(200_000);
            let uses = format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: a, args: ['{all}']}}]}}\n"
            );
            let vars = "vars:\n- name: A\n  objref: {apiVersion: v1, kind: ConfigMap, name: c0}\n  fieldref: {fieldpath: data.a}";
            kustomize(dry, vars, long + &uses);
            unlimited(dry);
        },
    },
    Case {
        name: "12,000 config maps that are generated",
        expected: RENDERS,
        build: |dry| {
            let all = lines(12_000, |n| format!("- {{name: g{n}, literals: [a=b]}}"));
            kustomize(dry, format!("configMapGenerator:\n{all}"), config_maps(1));
            unlimited(dry);
        },
    },
    Case {
        name: "20,000 containers into 20,000",
        expected: RENDERS,
        build: |dry| {
            let deployment = |name: &str| {
                let all = lines(20_000, |n| format!("      - {{name: {name}{n}, image: a}}"));
                format!(
                    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  template:\n    spec:\n      containers:\n{all}"
                )
            };
            kustomize(dry, "patches: [{path: p.yaml}]", deployment("a"));
            dry.file("apps/x/dev/p.yaml", deployment("b"));
            unlimited(dry);
        },
    },
    Case {
        name: "3,000 labels on 3,000 objects",
        expected: LIMIT,
        build: |dry| {
            let all = lines(3_000, |n| format!("    l{n}: v"));
            kustomize(dry, format!("labels:\n- pairs:\n{all}"), config_maps(3_000));
        },
    },
    Case {
        name: "8,000 images on 12,000 containers",
        expected: EITHER,
        build: |dry| {
            let pods = lines(12_000, |n| {
                format!(
                    "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec: {{containers: [{{name: a, image: i{n}}}]}}"
                )
            });
            let all = lines(8_000, |n| format!("- {{name: none{n}, newTag: b}}"));
            kustomize(dry, format!("images:\n{all}"), pods);
        },
    },
    Case {
        name: "5,000 variables of 30,000 objects",
        expected: EITHER,
        build: |dry| {
            let vars =
                lines(5_000, |n| format!("- {{name: V{n}, objref: {{apiVersion: v1, kind: ConfigMap, name: c{n}}}}}"));
            kustomize(dry, format!("vars:\n{vars}"), config_maps(30_000));
        },
    },
    Case {
        name: "3,000 config maps merged into one of 3,000 keys",
        expected: RENDERS,
        build: |dry| {
            let all = lines(3_000, |n| format!("- {{name: x, behavior: merge, literals: [a{n}=b]}}"));
            let keys = lines(3_000, |n| format!("  k{n}: a"));
            kustomize(
                dry,
                format!("configMapGenerator:\n{all}"),
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n{keys}"),
            );
            unlimited(dry);
        },
    },
    Case {
        name: "one name in 5,000 namespaces",
        expected: EITHER,
        build: |dry| {
            let all = lines(5_000, |n| {
                format!(
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: n{n}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: n{n}}}\nspec: {{volumes: [{{name: v, configMap: {{name: x}}}}]}}"
                )
            });
            kustomize(dry, "namePrefix: p-", all);
        },
    },
];
