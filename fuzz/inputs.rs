//! What strangers can hand to us, each with a function that takes any bytes and some bytes to start from. Nothing panics, and
//! what holds for every input is asserted.
//!
//! `fuzz_targets/inputs.rs` hands them what libFuzzer makes, `tests/mutations.rs` what a seeded mutator makes.

use git_hydrate::application::{self, Jsonnet, Patterns};
use git_hydrate::glob::Glob;
use git_hydrate::helm;
use git_hydrate::hydrate::{CommitRequest, check_settings};
use git_hydrate::jsonnet;
use git_hydrate::kustomize;
use git_hydrate::manifest;
use git_hydrate::metadata::{self, Provenance, Trailers, contract, read_note};
use git_hydrate::path::RepoPath;
use git_hydrate::plan::Discovery;
use git_hydrate::remote;
use git_hydrate::settings::SettingsFiles;
use git_hydrate::view::{MemoryFiles, View};

/// One sort of input.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Inputs that mean something.
    pub seeds: &'static [&'static str],
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

fn application(bytes: &[u8]) {
    for diagnostic in application::read(&path("applications/a.yaml"), bytes).all_diagnostics() {
        assert!(!diagnostic.to_string().is_empty());
    }
    let files = MemoryFiles::new().file("a/b.yaml", bytes).file("kustomization.yaml", bytes);
    let all = Patterns::new::<&str>([]).expect("no pattern is bad");
    Discovery::default().discover(&files, &all).expect("memory is readable");
}

fn records(bytes: &[u8]) {
    drop(Provenance::read(&path("hydrator.metadata"), bytes));
    drop((contract::check_metadata(bytes), contract::check_note(bytes)));
    if let Some(dry) = read_note(bytes) {
        assert_eq!(read_note(&metadata::note(dry)), Some(dry));
    }
}

fn message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop((Trailers::read(&text), metadata::allowed_removals(&text)));
    if let Some(address) = metadata::Address::parse(&text) {
        drop((address.plain(), address.rfc5322()));
    }
}

fn ignored(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/.helmignore", bytes)
        .file("c/aaaa/b/abab.txt", "")
        .file("c/templates/t.yaml", "a: b\n");
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
}

fn glob(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, name) = text.split_once('\n').unwrap_or((&text, "aaaa/b/abab.yaml"));
    for glob in [Glob::new(pattern), Glob::without_separator(pattern)].into_iter().flatten() {
        glob.matches(name);
        glob.matches("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    }
    drop(Patterns::new([pattern]));
}

fn jsonnet(bytes: &[u8]) {
    let files = MemoryFiles::new().file("a/a.jsonnet", bytes).file("a/b.libsonnet", bytes);
    let libraries = jsonnet::libraries(&path("a"), &Jsonnet::default()).expect("none is named");
    drop(jsonnet::closure(&View::new(&files), &path("a/a.jsonnet"), &libraries));
    drop(jsonnet::objects(&path("a/a.jsonnet"), bytes));
}

fn settings(bytes: &[u8]) {
    for name in ["settings.yaml", "README.md.j2", "commit-message.j2"] {
        drop(check_settings(&SettingsFiles::from([(name.to_owned(), bytes.to_vec())])));
    }
}

fn request(bytes: &[u8]) {
    drop(serde_json::from_slice::<CommitRequest>(bytes));
    drop(remote::Address::new(&String::from_utf8_lossy(bytes)));
}

fn manifests(bytes: &[u8]) {
    if let Ok(manifests) = manifest::read(bytes, manifest::Source::Output("a fuzzer")) {
        let text = manifest::encode(&manifests);
        let again = manifest::read(&text, manifest::Source::Output("us")).expect("our own text");
        assert_eq!(manifest::encode(&again), text, "{}", String::from_utf8_lossy(&text));
    }
}

fn chart(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "a: [1, {b: c}]\n")
        .file("c/templates/t.yaml", bytes);
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", bytes)
        .file("c/values.yaml", bytes)
        .file("c/values.schema.json", bytes)
        .file("c/charts/s.tgz", bytes)
        .file("c/templates/t.yaml", "a: {{ .Values | toYaml | len }}\n");
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
}

fn kustomization(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("k/kustomization.yaml", bytes)
        .file("k/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
        .file("k/p.yaml", bytes);
    if let Ok(build) = kustomize::build(&View::new(&files), &path("k"), &kustomize::Options::default(), None) {
        drop(build.to_yaml());
    }
}

pub const TARGETS: &[Target] = &[
    Target {
        name: "application",
        run: application,
        seeds: &[
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec:\n  destination: {namespace: n}\n  \
             sourceHydrator:\n    drySource:\n      repoURL: https://git.example.com/dry.git\n      targetRevision: main\n      \
             path: apps/web\n      helm: {parameters: [{name: a, value: b}], valueFiles: [v.yaml], valuesObject: {a: [b]}}\n      \
             kustomize: {images: [a=b:c], patches: [{target: {kind: D}, patch: '[]'}]}\n      directory: {recurse: true, \
             include: '*.yaml', jsonnet: {tlas: [{name: a, value: b, code: true}]}}\n    syncSource: {targetBranch: \
             environments/dev, path: web}\n    hydrateTo: {targetBranch: environments/dev-next}\n",
            "kind: List\nitems:\n- {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {sourceHydrator: {}}}\n",
            "patches:\n- path: p.yaml\n- patch: '[{op: add}]'\npatchesStrategicMerge: [a.yaml]\npatchesJson6902: [{path: b.yaml}]\n",
        ],
    },
    Target {
        name: "records",
        run: records,
        seeds: &[
            "{\"drySha\":\"0123456789abcdef0123456789abcdef01234567\"}",
            "{\n  \"repoURL\": \"https://git.example.com/dry.git\",\n  \"drySha\": \"0123456789abcdef0123456789abcdef01234567\",\n  \
             \"commands\": [\"helm template .\"],\n  \"author\": \"A <a@example.com>\",\n  \"date\": \"2024-03-27T10:32:04Z\",\n  \
             \"references\": [{\"commit\": {\"sha\": \"0123\", \"author\": \"a\"}}]\n}\n",
        ],
    },
    Target {
        name: "message",
        run: message,
        seeds: &[
            "change\n\nbody\n\nHydrate-Branch: environments/dev\nHydrate-Dry: 0123456789abcdef0123456789abcdef01234567\n\
             Hydrate-Dry-Branch: main\nHydrate-Engine: 1\nHydrate-Settings: 0123456789abcdef0123456789abcdef01234567\n",
            "remove\n\nHydrate-Allow-Removal: environments/dev\nSigned-off-by: A <a@example.com>\n",
            "=?utf-8?q?=C3=84?= \"A \\\" B\" <a.b+c@[IPv6:::1]>",
        ],
    },
    Target {
        name: "helmignore",
        run: ignored,
        seeds: &["# c\n*.txt\n/aaaa/\n!b\n[a-z]?\\*\n**/x\n", "a*a*a*a*b\n{a,b}\n"],
    },
    Target {
        name: "glob",
        run: glob,
        seeds: &["**/{a,b}*/[!a-c]?.yaml\naaaa/b/abab.yaml", "{a,{b,c}*}*\\*\nabab", "*a*a*a*b"],
    },
    Target {
        name: "jsonnet",
        run: jsonnet,
        seeds: &[
            "local b = import 'b.libsonnet'; [importstr \"a.jsonnet\", |||\n  text\n|||, { a:: 1, 'b'+: [x for x in std.range(0, 3)] }]",
            "[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}},null]",
        ],
    },
    Target {
        name: "settings",
        run: settings,
        seeds: &[
            "repoURL: [https://git.example.com/dry.git]\napplications: ['apps/**']\nprofile: argocd\nauthor: {name: A, email: \
             a@example.com}\nhistory: tip\nremovalLimit: {share: 0.5, atLeast: 3}\nactivePaths: {environments/dev: [a, b]}\n",
            "{% for application in applications %}\n{{ application.metadata.name | upper }}\n{% endfor %}{{ metadata.subject ~ 'x' * 3 }}\n",
        ],
    },
    Target {
        name: "request",
        run: request,
        seeds: &[
            "{\"repoURL\":\"https://git.example.com/dry.git\",\"targetBranch\":\"environments/dev\",\"drySHA\":\
             \"0123456789abcdef0123456789abcdef01234567\",\"commitAuthor\":\"A <a@example.com>\",\"commitMessage\":\"m\",\
             \"commitTime\":\"2024-03-27T10:32:04Z\",\"details\":[{\"path\":\"web\",\"manifests\":[\"{}\"],\"readme\":\"#\"}]}",
            "hydrate::ssh://git@example.com:22/~a/dry.git?x#y",
        ],
    },
    Target {
        name: "manifests",
        run: manifests,
        seeds: &[
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {b: &c 'd'}\ndata:\n  e: |-\n    f\n  g: *c\n---\n\
             {\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"B\",\"metadata\":{\"name\":\"c\"}}]}\n",
            "apiVersion: v1\nkind: N\nmetadata: {name: n}\nn: [1e3, 0x1f, -0, .5, 1_000, 12345678901234567890, ~, yes, 2001-01-01]\n",
        ],
    },
    Target {
        name: "chart",
        run: chart,
        seeds: &[
            "{{- define \"a\" -}}{{ range $i, $x := .Values.a }}{{ $i }}: {{ $x | toYaml | nindent 2 }}{{ end }}{{- end }}\n\
             a: {{ include \"a\" . | quote }}\nb: {{ tpl \"{{ .Release.Name }}\" . | trunc 3 | default \"x\" }}\n",
            "{{ with $d := dict \"a\" (list 1 2.5 \"c\") }}{{ set $d \"b\" $d.a | toJson }}{{ printf \"%5.2f|%-8s|%x|%v\" 1.5 \"s\" 255 $d }}{{ end }}\n\
             {{ regexReplaceAll \"(a)(b*)\" \"abab\" \"${2}\" }}{{ substr 0 2 \"abc\" }}{{ index (slice (list 1 2 3) 1) 0 | add1 | int64 }}",
            "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: '>=1', repository: 'file://../s', condition: a.b, \
             import-values: [{child: a, parent: b}]}]\n",
            "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{\"a\":{\"items\":{\"$ref\":\"#\"},\"pattern\":\"^a+$\"}}}",
        ],
    },
    Target {
        name: "kustomization",
        run: kustomization,
        seeds: &[
            "resources: [a.yaml]\nnamePrefix: p-\nnamespace: n\nlabels: [{pairs: {a: b}, includeSelectors: true}]\nimages: [{name: a, \
             newTag: b}]\nconfigMapGenerator: [{name: g, literals: [a=b]}]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: \
             data.a}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b], options: {create: true, delimiter: '.', index: 1}}]\n",
            "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap, name: a.*}\n  patch: '[{op: copy, from: /data/a, path: /data/~1b}, \
             {op: test, path: /kind, value: ConfigMap}]'\n- path: p.yaml\nvars: [{name: A, objref: {kind: ConfigMap, name: a, apiVersion: v1}, \
             fieldref: {fieldpath: data.a}}]\n",
        ],
    },
];
