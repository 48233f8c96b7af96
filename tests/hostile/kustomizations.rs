//! Kustomizations: circles, growth, indexes, selectors.

use std::fmt::Write as _;

use super::{Case, Dry, RENDERS};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: b\n";

/// A kustomization with one object and more fields.
fn with(dry: &mut Dry, fields: &str) {
    dry.x_file("kustomization.yaml", format!("resources: [a.yaml]\n{fields}\n"));
    dry.file("apps/x/dev/a.yaml", OBJECT);
}

/// A component beside the source of the Application.
fn component(dry: &mut Dry, name: &str, fields: &str) {
    let kind = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    dry.file(&format!("apps/x/{name}/kustomization.yaml"), format!("{kind}{fields}\n"));
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "base of itself",
        expected: "cycle",
        build: |dry| dry.x_file("kustomization.yaml", "resources: [../dev]\n"),
    },
    Case {
        name: "bases in a circle",
        expected: "cycle",
        build: |dry| {
            dry.x_file("kustomization.yaml", "resources: [../b]\n");
            dry.file("apps/x/b/kustomization.yaml", "resources: [../dev]\n");
        },
    },
    Case {
        name: "components in a circle",
        expected: "error:",
        build: |dry| {
            with(dry, "components: [../c]");
            component(dry, "c", "components: [../d]");
            component(dry, "d", "components: [../c]");
        },
    },
    Case {
        name: "a mistake 40 components deep",
        expected: "none.yaml",
        build: |dry| {
            with(dry, "components: [../c0]");
            (0..40).for_each(|n| component(dry, &format!("c{n}"), &format!("components: [../c{}]", n + 1)));
            component(dry, "c40", "resources: [none.yaml]");
        },
    },
    Case {
        name: "bases that double 40 times",
        expected: "error:",
        build: |dry| {
            for n in 0..40 {
                let dir = if n == 0 { "apps/x/dev".to_owned() } else { format!("bases/b{n}") };
                let up = "../".repeat(dir.matches('/').count() + 1);
                dry.file(
                    &format!("{dir}/kustomization.yaml"),
                    format!("resources: [{up}bases/b{m}, {up}bases/l{m}]\nnamePrefix: p-\n", m = n + 1),
                );
                dry.file(
                    &format!("bases/l{}/kustomization.yaml", n + 1),
                    format!("resources: [../b{}]\nnameSuffix: -s\n", n + 1),
                );
            }
            dry.file("bases/b40/kustomization.yaml", "resources: [a.yaml]\n");
            dry.file("bases/b40/a.yaml", OBJECT);
            dry.x();
        },
    },
    Case {
        name: "base out of the tree",
        expected: "error:",
        build: |dry| dry.x_file("kustomization.yaml", "resources: [../../../../../../etc]\n"),
    },
    Case {
        name: "base is a link out",
        expected: "error:",
        build: |dry| {
            dry.x_file("kustomization.yaml", "resources: [b]\n");
            dry.link("apps/x/dev/b", "/etc");
        },
    },
    Case {
        name: "base is a submodule",
        expected: "submodule",
        build: |dry| {
            dry.x_file("kustomization.yaml", "resources: [b]\n");
            dry.submodule("apps/x/dev/b");
        },
    },
    Case {
        name: "generated from the host",
        expected: "error:",
        build: |dry| with(dry, "configMapGenerator: [{name: g, files: [/etc/passwd]}]"),
    },
    Case {
        name: "generated from an env file of the host",
        expected: "error:",
        build: |dry| with(dry, "secretGenerator: [{name: g, envs: [../../../../../etc/passwd]}]"),
    },
    Case {
        name: "env file that takes the environment",
        expected: RENDERS,
        build: |dry| {
            with(dry, "configMapGenerator: [{name: g, envs: [e.env]}]");
            dry.file("apps/x/dev/e.env", "HOME\nPATH\n");
        },
    },
    Case {
        name: "a patch that copies the object into itself",
        expected: "error:",
        build: |dry| {
            let mut patch = String::new();
            for n in 0..40 {
                writeln!(patch, "      - {{op: copy, from: '', path: /c{n}}}").expect("a string");
            }
            with(dry, &format!("patches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n{patch}"));
        },
    },
    Case {
        name: "a patch that doubles a field 60 times",
        expected: "error:",
        build: |dry| {
            let mut patch = "      - {op: add, path: /a, value: [x]}\n".to_owned();
            for _ in 0..60 {
                patch.push_str("      - {op: copy, from: /a, path: /a/-}\n");
            }
            with(dry, &format!("patches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n{patch}"));
        },
    },
    Case {
        name: "a patch at index a billion",
        expected: "error:",
        build: |dry| {
            with(
                dry,
                "patches:\n- target: {kind: ConfigMap}\n  patch: '[{op: add, path: /data/1000000000/2, value: x}]'",
            )
        },
    },
    Case {
        name: "a replacement at index a billion",
        expected: "error:",
        build: |dry| {
            with(
                dry,
                "replacements:\n- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [spec.containers.1000000000.name]\n    options: {create: true}",
            )
        },
    },
    Case {
        name: "a replacement that puts an object into itself",
        expected: RENDERS,
        build: |dry| {
            let replacement = "- source: {kind: ConfigMap, fieldPath: data}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {create: true}\n";
            with(dry, &format!("replacements:\n{}", replacement.repeat(60)));
            dry.file("apps/x/dev/a.yaml", OBJECT.replace("a: b", "a: {}"));
        },
    },
    Case {
        name: "replacements that double an object",
        expected: "error:",
        build: |dry| {
            let double = |from: &str, to: [&str; 2]| {
                format!(
                    "- source: {{kind: ConfigMap, fieldPath: {from}}}\n  targets:\n  - select: {{kind: ConfigMap}}\n    fieldPaths: [{from}2.{}, {from}2.{}]\n    options: {{create: true}}\n",
                    to[0], to[1]
                )
            };
            let names: Vec<String> = (0..60).map(|n| format!("data.a{}", "2".repeat(n))).collect();
            let all: String = names.iter().map(|name| double(name, ["x", "y"])).collect();
            with(dry, &format!("replacements:\n{all}"));
            let fields: String = (0..60).map(|n| format!("  a{}: {{x: {{}}, y: {{}}}}\n", "2".repeat(n))).collect();
            dry.file("apps/x/dev/a.yaml", OBJECT.replace("  a: b\n", &fields));
        },
    },
    Case {
        name: "a replacement that doubles a text",
        expected: "more than 201326592 bytes of text",
        build: |dry| {
            let replacement = "- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {delimiter: '!', index: 1}\n- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {delimiter: '!', index: -1}\n";
            with(dry, &format!("replacements:\n{}", replacement.repeat(60)));
        },
    },
    Case {
        name: "a selector with an evil pattern",
        expected: RENDERS,
        build: |dry| with(dry, "patches:\n- target: {name: '((((x{100}){100}){100}){100})'}\n  patch: '[]'"),
    },
    Case {
        name: "vars that refer to themselves",
        expected: RENDERS,
        build: |dry| {
            with(
                dry,
                "vars:\n- name: A\n  objref: {apiVersion: v1, kind: ConfigMap, name: x}\n  fieldref: {fieldpath: data.a}\nconfigurations: [c.yaml]",
            );
            dry.file("apps/x/dev/a.yaml", OBJECT.replace("a: b", "a: $(A)$(A)"));
            dry.file("apps/x/dev/c.yaml", "varReference: [{path: data/a, kind: ConfigMap}]\n");
        },
    },
    Case {
        name: "a prefix of 9 MB on 1,000 objects",
        expected: "more than 201326592 bytes of text",
        build: |dry| {
            dry.x_file("kustomization.yaml", format!("resources: [a.yaml]\nnamePrefix: {}\n", "p".repeat(9_000_000)));
            let objects: String = (0..1_000)
                .map(|n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n"))
                .collect();
            dry.file("apps/x/dev/a.yaml", objects);
        },
    },
    Case {
        name: "labels of 9 MB on 1,000 objects",
        expected: "more than 201326592 bytes of text",
        build: |dry| {
            dry.x_file(
                "kustomization.yaml",
                format!("resources: [a.yaml]\ncommonAnnotations: {{a: {}}}\n", "p".repeat(9_000_000)),
            );
            let objects: String = (0..1_000)
                .map(|n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n"))
                .collect();
            dry.file("apps/x/dev/a.yaml", objects);
        },
    },
    Case {
        name: "20,000 objects that refer to each other",
        expected: RENDERS,
        build: |dry| {
            dry.x_file("kustomization.yaml", "resources: [a.yaml]\nnamePrefix: p-\n");
            let mut objects = String::new();
            for n in 0..10_000 {
                write!(objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec: {{volumes: [{{name: v, configMap: {{name: c{n}}}}}]}}\n").expect("a string");
            }
            dry.file("apps/x/dev/a.yaml", objects);
        },
    },
    Case {
        name: "a resource with a path of 1 MB",
        expected: "accumulating resources from 'a/a/",
        build: |dry| dry.x_file("kustomization.yaml", format!("resources: [{}]\n", "a/".repeat(500_000))),
    },
    Case {
        name: "a resource named a million times",
        expected: "error:",
        build: |dry| {
            dry.x_file("kustomization.yaml", format!("resources:\n{}", "- a.yaml\n".repeat(300_000)));
            dry.file("apps/x/dev/a.yaml", OBJECT);
        },
    },
    Case {
        name: "an exec function",
        expected: "error:",
        build: |dry| {
            with(dry, "transformers: [t.yaml]");
            dry.file("apps/x/dev/t.yaml", "apiVersion: v1\nkind: T\nmetadata:\n  name: t\n  annotations:\n    config.kubernetes.io/function: 'exec: {path: /bin/sh}'\n");
        },
    },
    Case {
        name: "a container function",
        expected: "error:",
        build: |dry| {
            with(dry, "transformers: [t.yaml]");
            dry.file("apps/x/dev/t.yaml", "apiVersion: v1\nkind: T\nmetadata:\n  name: t\n  annotations:\n    config.kubernetes.io/function: 'container: {image: example.com/x}'\n");
        },
    },
    Case { name: "a schema from the host", expected: "error:", build: |dry| with(dry, "openapi: {path: /etc/passwd}") },
    Case {
        name: "an index in braces of 10^18",
        expected: "error:",
        build: |dry| {
            with(
                dry,
                "patches:\n- target: {kind: ConfigMap}\n  patch: '[{op: add, path: /data/999999999999999999999, value: x}]'",
            )
        },
    },
];
