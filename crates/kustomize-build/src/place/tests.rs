use dry_files::path::RepoPath;
use dry_files::view::{MemoryFiles, View};

use crate::{Options, build};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n";

/// The place and the word below it that the error has when `file` of the directory `k` holds `text`.
fn told(file: &str, text: &str, edited: Option<&str>) -> String {
    let files = MemoryFiles::new()
        .file("k/kustomization.yaml", "resources: [a.yaml, base]\n")
        .file("k/a.yaml", CONFIG_MAP)
        .file("k/base/kustomization.yaml", "resources: [b.yaml]\n")
        .file("k/base/b.yaml", CONFIG_MAP.replace("name: a", "name: b"))
        .file("k/patch.yaml", "- op: add\n  path: /data\n value: x\n")
        .file("k/replacement.yaml", "source: {kind: ConfigMap}\ntargets: x\n")
        .file("k/configuration.yaml", "namePrefix:\n- path: metadata/name\n  kinds: A\n")
        .link("k/link.yaml", "gone/b.yaml")
        .file(&format!("k/{file}"), text);
    let options = Options { kustomization: edited.map(|text| text.as_bytes().to_vec()), ..Options::default() };
    let dir = RepoPath::new("k").expect("plain");
    let error = build(&View::new(&files), &dir, &options, None).expect_err(text);
    let diagnostic = error.diagnostic();
    let Some(span) = diagnostic.span else { return format!("nowhere: {}", diagnostic.message) };
    let quoted: String = span.text.iter().flat_map(|text| text.chars()).skip(span.column.max(1) as usize - 1).collect();
    let quoted: String = quoted.chars().take(span.width as usize).collect();
    format!("{span} `{quoted}` {}", diagnostic.label).trim_end().to_owned()
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let rows = [
        (
            "a field that is none",
            "resources: [a.yaml]\nlabells:\n- pairs: {a: b}\n",
            "2:1 `labells` did you mean `labels`?",
        ),
        ("far from any", "resources: [a.yaml]\nzzzzzzzzz: 1\n", "2:1 `zzzzzzzzz` there is no such field"),
        ("below", "resources: [a.yaml]\nimages:\n- nam: a\n", "3:3 `nam` did you mean `name`?"),
        ("a wrong type", "resources: a.yaml\n", "1:12 `a.yaml` expected a list"),
        ("of an item", "resources:\n- a.yaml\n- 5\n", "3:3 `5` expected a string"),
        ("of a value in a map", "resources: [a.yaml]\ncommonLabels:\n  a: true\n", "3:6 `true` expected a string"),
        ("no YAML", "resources:\n- a.yaml\n  b: c\n", "3:4 `:`"),
        ("an API version", "apiVersion: v1\nresources: [a.yaml]\n", "1:13 `v1`"),
        ("a missing file", "resources:\n- a.yaml\n- \"nope.yaml\"\n", "3:3 `\"nope.yaml\"` no such file or directory"),
        ("a missing directory", "resources: [a.yaml, x/b.yaml]\n", "1:21 `x/b.yaml` there is no `k/x`"),
        (
            "a link to nothing",
            "resources: [link.yaml]\n",
            "1:13 `link.yaml` `k/link.yaml` is a symbolic link to `gone/b.yaml`, which is not there",
        ),
        ("a deprecated field", "resources: [a.yaml]\nbases: [base, nope]\n", "2:15 `nope` no such file or directory"),
        ("one object twice", "resources: [a.yaml, base, base]\n", "1:27 `base`"),
        ("a component", "components: [base]\n", "1:14 `base`"),
        ("a patch of nothing", "resources: [a.yaml]\npatches:\n- {}\n", "3:3 `{`"),
        (
            "a patch file",
            "resources: [a.yaml]\npatches:\n- path: nope.yaml\n",
            "3:9 `nope.yaml` no such file or directory",
        ),
        (
            "a JSON patch without a target",
            "resources: [a.yaml]\npatches:\n- patch: '[{\"op\": \"remove\", \"path\": \"/data\"}]'\n",
            "3:3 `p` a JSON patch does not name what it changes",
        ),
        (
            "inside of an inline patch",
            "resources: [a.yaml]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a\n",
            "6:23 `` did not find expected ',' or '}'",
        ),
        (
            "inside of a JSON patch",
            "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - op: add\n      path: /data\n     value: x\n",
            "7:6 `v` did not find expected '-' indicator",
        ),
        (
            "an operation that does not apply",
            "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: '[{\"op\": \"remove\", \"path\": \"/x\"}]'\n",
            "3:3 `t`",
        ),
        (
            "a selector",
            "resources: [a.yaml]\npatches:\n- target: {kind: '('}\n  patch: '[{\"op\": \"remove\", \"path\": \"/x\"}]'\n",
            "3:11 `{`",
        ),
        ("a literal", "configMapGenerator:\n- name: g\n  literals:\n  - a=b\n  - c\n", "5:5 `c`"),
        (
            "a file of a generator",
            "secretGenerator:\n- {name: g, files: [x=nope]}\n",
            "2:21 `x=nope` no such file or directory",
        ),
        (
            "an env of a generator",
            "configMapGenerator:\n- {name: g, env: nope}\n",
            "2:18 `nope` no such file or directory",
        ),
        ("a generator", "configMapGenerator:\n- literals: [a=b]\n", "2:3 `l`"),
        (
            "a replacement",
            "resources: [a.yaml]\nreplacements:\n- source: {kind: Nope}\n  targets: [{select: {kind: ConfigMap}}]\n",
            "3:11 `{`",
        ),
        (
            "a field of a replacement",
            "resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [a.b]\n",
            "6:18 `a.b`",
        ),
        (
            "a replacement's file",
            "resources: [a.yaml]\nreplacements: [{path: nope}]\n",
            "2:23 `nope` no such file or directory",
        ),
        ("a variable", "resources: [a.yaml]\nvars:\n- name: V\n  objref: {kind: A, name: b}\n", "4:11 `{`"),
        ("a transformer", "resources: [a.yaml]\ntransformers: [nope]\n", "2:16 `nope` no such file or directory"),
        (
            "inside of an inline transformer",
            "resources: [a.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: [\n",
            "5:10 `` did not find expected node content",
        ),
        ("a configuration", "resources: [a.yaml]\nconfigurations: [nope]\n", "2:18 `nope` no such file or directory"),
        ("an image", "resources: [a.yaml]\nimages:\n- {name: '(', newTag: b}\n", "3:3 `{`"),
        ("a remote base", "resources:\n- github.com/a/b\n", "2:3 `github.com/a/b`"),
    ];
    let wrong: Vec<String> = rows
        .into_iter()
        .map(|(name, text, expected)| {
            (name, told("kustomization.yaml", text, None), format!("k/kustomization.yaml:{expected}"))
        })
        .filter(|(_, found, expected)| found != expected)
        .map(|(name, found, expected)| format!("{name}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_mistake_of_a_file_that_is_named_is_told_there() {
    let rows = [
        (
            "resources: [a.yaml]\npatches: [{path: patch.yaml, target: {kind: ConfigMap}}]\n",
            "k/patch.yaml:3:2 `v` did not find expected '-' indicator",
        ),
        (
            "resources: [a.yaml]\nreplacements: [{path: replacement.yaml}]\n",
            "k/replacement.yaml:2:10 `x` expected a list",
        ),
        (
            "resources: [a.yaml]\nconfigurations: [configuration.yaml]\n",
            "k/configuration.yaml:3:3 `kinds` did you mean `kind`?",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(told("kustomization.yaml", text, None), expected);
    }
    let base = told("base/kustomization.yaml", "resources:\n- b.yaml\n- c.yaml\n", None);
    assert_eq!(base, "k/base/kustomization.yaml:3:3 `c.yaml` no such file or directory");
}

/// What an Application adds has no place in the file.
#[test]
fn an_edited_file_is_told_where_it_is_as_written() {
    let written = "resources:\n- a.yaml\n- nope.yaml\n";
    let edited = r#"{"resources":["a.yaml","nope.yaml"],"namePrefix":"x-"}"#;
    assert_eq!(
        told("kustomization.yaml", written, Some(edited)),
        "k/kustomization.yaml:3:3 `nope.yaml` no such file or directory"
    );
    let edited = r#"{"resources":["a.yaml"],"components":["nope"]}"#;
    let told = told("kustomization.yaml", written, Some(edited));
    assert!(told.starts_with("nowhere: accumulating components"), "{told}");
}
