//! What builds cost as they grow: time in proportion to what they are made of, and never long without a look at the clock.

use std::fmt::Write as _;

use dry_files::view::{MemoryFiles, Stop};

use super::*;
use dry_files::growth::{Looks, Row, Work, check};

/// A kustomization of some size.
type Case = (Row, fn(usize) -> MemoryFiles);

const fn row(name: &'static str, size: usize, files: fn(usize) -> MemoryFiles) -> Case {
    (Row { name, size, is_product: false }, files)
}

const fn product(name: &'static str, size: usize, files: fn(usize) -> MemoryFiles) -> Case {
    (Row { name, size, is_product: true }, files)
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", line(n)).expect("a string");
        text
    })
}

fn config_maps(count: usize) -> String {
    lines(count, |n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}"))
}

fn deployment(containers: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  template:\n    spec:\n      containers:\n{containers}"
    )
}

fn service(ports: &str) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec:\n  ports:\n{ports}")
}

fn data(entries: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n{entries}")
}

fn files(kustomization: String, resources: String, patch: String) -> MemoryFiles {
    let files = MemoryFiles::new().file("k/kustomization.yaml", format!("resources: [a.yaml]\n{kustomization}"));
    files.file("k/a.yaml", resources).file("k/p.yaml", patch)
}

const ROWS: &[Case] = &[
    row("config maps that are generated", 300, |n| {
        let all = lines(n, |n| format!("- {{name: g{n}, literals: [a=b]}}"));
        files(format!("configMapGenerator:\n{all}"), config_maps(1), String::new())
    }),
    row("literals of one config map", 1000, |n| {
        let all = lines(n, |n| format!("  - k{n}=v"));
        files(format!("configMapGenerator:\n- name: g\n  literals:\n{all}"), config_maps(1), String::new())
    }),
    row("a patch of many containers", 500, |n| {
        let all = |name: &str| lines(n, |n| format!("      - {{name: {name}{n}, image: a}}"));
        files("patches: [{path: p.yaml}]".to_owned(), deployment(&all("a")), deployment(&all("b")))
    }),
    row("a patch that deletes many containers", 500, |n| {
        let all = |more: &str| lines(n, |n| format!("      - {{name: a{n}, {more}}}"));
        let (old, gone) = (all("image: a"), all("$patch: delete"));
        files("patches: [{path: p.yaml}]".to_owned(), deployment(&old), deployment(&gone))
    }),
    row("a patch of many ports", 500, |n| {
        let all = |first: usize| lines(n, |n| format!("  - {{port: {}, protocol: TCP}}", first + n));
        files("patches: [{path: p.yaml}]".to_owned(), service(&all(1)), service(&all(20_000)))
    }),
    row("a patch of many fields", 1000, |n| {
        let all = |first: usize| lines(n, |n| format!("  k{}: v", first + n));
        files("patches: [{path: p.yaml}]".to_owned(), data(&all(0)), data(&all(n / 2)))
    }),
    row("a patch for each object", 300, |n| {
        let patches =
            lines(n, |n| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{n}}}\ndata: {{a: b}}"));
        files("patchesStrategicMerge: [p.yaml]".to_owned(), config_maps(n), patches)
    }),
    row("labels of one object", 1000, |n| {
        let all = lines(n, |n| format!("    l{n}: v"));
        files(format!("labels:\n- pairs:\n{all}"), config_maps(1), String::new())
    }),
    row("annotations of one object", 1000, |n| {
        let all = lines(n, |n| format!("  l{n}: v"));
        files(format!("commonAnnotations:\n{all}"), config_maps(1), String::new())
    }),
    row("operations of one patch", 1000, |n| {
        let all = lines(n, |n| format!("    - {{op: add, path: /data/k{n}, value: b}}"));
        let patch = format!("patches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n{all}");
        files(patch, data("  a: b\n"), String::new())
    }),
    row("variables", 300, |n| {
        let vars = lines(n, |n| format!("- {{name: V{n}, objref: {{apiVersion: v1, kind: ConfigMap, name: c{n}}}}}"));
        files(format!("vars:\n{vars}"), config_maps(n), String::new())
    }),
    row("names that refer to each other", 300, |n| {
        let pods = lines(n, |n| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec: {{volumes: [{{name: v, configMap: {{name: c{n}}}}}]}}"
            )
        });
        files("namePrefix: p-\nnamespace: ns".to_owned(), config_maps(n) + &pods, String::new())
    }),
    product("labels of many entries", 60, |n| {
        let all = lines(n, |n| format!("- pairs: {{l{n}: v}}"));
        files(format!("labels:\n{all}"), config_maps(n), String::new())
    }),
    product("config maps that are merged into one", 100, |n| {
        let all = lines(n, |n| format!("- {{name: x, behavior: merge, literals: [a{n}=b]}}"));
        files(format!("configMapGenerator:\n{all}"), data(&lines(n, |n| format!("  k{n}: a"))), String::new())
    }),
    product("images that nothing uses", 200, |n| {
        let pods = lines(n, |n| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec: {{containers: [{{name: a, image: i{n}}}]}}"
            )
        });
        let all = lines(n, |n| format!("- {{name: none{n}, newTag: b}}"));
        files(format!("images:\n{all}"), pods, String::new())
    }),
    product("patches by names", 60, |n| {
        let all = lines(n, |n| {
            format!(
                "- target: {{kind: ConfigMap, name: none{n}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}}]'"
            )
        });
        files(format!("patches:\n{all}"), config_maps(n), String::new())
    }),
    product("patches by patterns", 30, |n| {
        let all = lines(n, |n| {
            format!(
                "- target: {{name: \"(c[0-9]{{1,50}}){{1,9}}x{n}\"}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}}]'"
            )
        });
        files(format!("patches:\n{all}"), config_maps(n), String::new())
    }),
    product("replacements", 60, |n| {
        let all = lines(n, |_| {
            "- source: {kind: ConfigMap, name: c0, fieldPath: metadata.name}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {create: true}".to_owned()
        });
        files(format!("replacements:\n{all}"), config_maps(n), String::new())
    }),
    product("replicas", 60, |n| {
        let all = lines(n, |n| format!("- {{name: d{n}, count: 3}}"));
        let deployments =
            lines(n, |n| format!("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{n}}}\nspec: {{}}"));
        files(format!("replicas:\n{all}"), deployments, String::new())
    }),
    product("one name in many namespaces", 60, |n| {
        let all = lines(n, |n| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: n{n}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: n{n}}}\nspec: {{volumes: [{{name: v, configMap: {{name: x}}}}]}}"
            )
        });
        files("namePrefix: p-".to_owned(), all, String::new())
    }),
];

/// Builds it, and answers how long it goes on at most without a look at the clock. What is too much is an error.
fn built(files: &MemoryFiles) -> f64 {
    let looks = Looks::begin();
    let seen = looks.clone();
    let view = View::new(files).until(Stop::when(move || seen.goes_on()));
    let built = build(&view, &RepoPath::new("k").expect("plain"), &Options::default(), None);
    let built = built.and_then(|build| build.to_yaml());
    assert!(std::env::var_os("COST_BYTES").is_some() || built.is_ok(), "{:?}", built.map(|_| ()));
    looks.longest()
}

#[test]
fn the_cost_of_builds_is_in_proportion_to_what_they_are_made_of() {
    let work = |files: fn(usize) -> MemoryFiles| {
        move |size: usize| -> Work {
            let files = files(size);
            Box::new(move || built(&files))
        }
    };
    check(ROWS.iter().map(|(row, files)| (*row, work(*files))));
}

#[test]
fn what_a_kustomization_asks_for_in_vain_is_noted() {
    let kustomization = r#"resources: [a.yaml, base]
images:
- {name: nginx, newTag: '2'}
- {name: ngnix, newTag: '2'}
patches:
- {target: {kind: Deployment, name: web}, patch: '[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]'}
- {target: {kind: Deployment, name: wbe}, patch: '[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]'}
- {target: {kind: Service}, patch: '{kind: Service, metadata: {name: x}}'}
replacements:
- source: {kind: Deployment, name: web}
  targets:
  - {select: {kind: ConfigMap}, fieldPaths: [metadata.name], options: {create: true}}
"#;
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: a, image: 'nginx:1'}]}}}\n";
    let files = MemoryFiles::new()
        .file("k/kustomization.yaml", kustomization)
        .file("k/a.yaml", web)
        .file("k/base/kustomization.yaml", "images: [{name: of-another-overlay, newTag: '2'}]\nresources: [b.yaml]\n")
        .file("k/base/b.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
    let built =
        build(&View::new(&files), &RepoPath::new("k").expect("plain"), &Options::default(), None).expect("builds");
    let told: Vec<String> = built.unmatched.iter().map(|error| error.diagnostic().to_string()).collect();
    let expected = [
        ("k/kustomization.yaml:7:", "target of this patch"),
        ("k/kustomization.yaml:8:", "target of this patch"),
        ("k/kustomization.yaml:4:", "no object has an image `ngnix`"),
        ("k/kustomization.yaml:12:", "this target selects no object"),
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, (place, text)) in told.iter().zip(expected) {
        assert!(told.contains(place) && told.contains(text), "{told} {place}");
    }
    assert!(told.iter().any(|told| told.contains("write one that is there: `nginx`")), "{told:#?}");
}
