use super::*;
use crate::argo::{FileParameter, HelmParameter, Kustomize, Options, Patch, PatchTarget, Replicas};

const GOOD: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  sourceHydrator:
    drySource: {repoURL: r, targetRevision: main, path: a}
    syncSource: {targetBranch: dev, path: web}
";

fn file(text: impl AsRef<[u8]>) -> File {
    read(&RepoPath::new("apps.yaml").expect("plain"), text.as_ref())
}

fn names(file: &File) -> Vec<&str> {
    file.applications().map(|application| application.name.as_str()).collect()
}

fn messages(file: &File) -> Vec<String> {
    let line = |diagnostic: &Diagnostic| {
        let span = diagnostic.span.as_ref().expect("a place");
        format!("{}:{} {}", span.line, span.column, diagnostic.message)
    };
    file.all_diagnostics().map(line).collect()
}

fn application(options: &str) -> Application {
    let text = GOOD.replace("path: a}", &format!("path: a, {options}}}"));
    let file = file(&text);
    assert_eq!(messages(&file), Vec::<String>::new(), "{text}");
    file.applications().next().expect("one").clone()
}

#[test]
fn files_without_the_word_are_not_parsed() {
    let other = file("kind: [");
    assert!(!other.holds_source_hydrator && other.is_readable() && other.documents.is_empty());
    let broken = file("kind: [ # sourceHydrator");
    assert!(broken.holds_source_hydrator && !broken.is_readable() && broken.documents.is_empty());
}

#[test]
fn objects_that_are_applications() {
    let hydrated = "spec: {sourceHydrator: {}}";
    let rows: &[(&str, usize, &[&str])] = &[
        ("{apiVersion: argoproj.io/v1alpha1, kind: Application, SPEC}", 1, &[]),
        ("{apiVersion: argoproj.io/v2, kind: Application, SPEC}", 1, &[]),
        ("{kind: Application, SPEC}", 1, &[]),
        ("{apiVersion: app.k8s.io/v1beta1, kind: Application, SPEC}", 0, &[]),
        ("{apiVersion: argoproj.io/v1alpha1, kind: Application, spec: {source: {}}} # sourceHydrator", 0, &[]),
        ("{apiVersion: argoproj.io/v1alpha1, kind: Application, spec: {sourceHydrator: }}", 0, &[]),
        ("{apiVersion: argoproj.io/v1alpha1, kind: AppProject, spec: {x: sourceHydrator}}", 0, &[]),
        ("{apiVersion: example.com/v1, kind: Thing, SPEC}", 0, &[]),
        ("{apiVersion: v1, kind: ConfigMap, data: {x: 'sourceHydrator:'}}", 0, &[]),
        ("SPEC", 0, &[]),
        ("[SPEC]", 0, &[]),
        ("sourceHydrator", 0, &[]),
        ("# sourceHydrator", 0, &[]),
        ("{apiVersion: argoproj.io/v1alpha1, SPEC}", 0, &["1:1 `kind` is missing"]),
        (
            "{apiVersion: argoproj.io/v1alpha1, kind: App, SPEC}",
            0,
            &["1:42 an object of kind `App` is not hydrated, though its `spec` is that of an Application"],
        ),
        ("{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, spec: {template: {SPEC}}}", 0, &[]),
    ];
    for (text, documents, diagnostics) in rows {
        let text = text.replace("SPEC", hydrated);
        let file = file(&text);
        assert_eq!(file.documents.len(), *documents, "{text}");
        let found: Vec<_> = file.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), diagnostics.len(), "{text} {found:?}");
        if *documents == 0 {
            assert_eq!(messages(&file), *diagnostics, "{text}");
        }
    }
}

#[test]
fn streams_and_lists() {
    let api = GOOD.replace("name: web", "name: api");
    assert_eq!(names(&file(GOOD)), ["web"]);
    let stream = file(format!("---\n{GOOD}---\nkind: ConfigMap\n---\n# nothing\n---\n{api}...\n"));
    assert_eq!(names(&stream), ["web", "api"]);
    assert_eq!(stream.documents.iter().map(|document| document.index).collect::<Vec<_>>(), [0, 1]);
    let item = |text: &str| format!("- {}", text.trim_end().replace('\n', "\n  "));
    let list = |kind: &str, items: &[String]| format!("apiVersion: v1\nkind: {kind}\nitems:\n{}\n", items.join("\n"));
    assert_eq!(names(&file(list("List", &[item(GOOD), item("kind: Secret"), item(&api)]))), ["web", "api"]);
    assert_eq!(names(&file(list("ApplicationList", &[item(GOOD)]))), ["web"]);
    // Items of such a list need no kind of their own.
    let bare = GOOD.replace("apiVersion: argoproj.io/v1alpha1\nkind: Application\n", "");
    assert_eq!(names(&file(list("ApplicationList", &[item(&bare)]))), ["web"]);
    assert_eq!(names(&file(list("List", &[item(&bare)]))), Vec::<&str>::new());
    let nested = |depth| (0..depth).fold(GOOD.to_owned(), |text, _| list("List", &[item(&text)]));
    assert_eq!(names(&file(nested(8))), ["web"]);
    assert_eq!(messages(&file(nested(9))), ["25:17 lists are nested deeper than the limit"]);
}

#[test]
fn json_and_other_encodings() {
    let json = "{\n\t\"apiVersion\": \"argoproj.io/v1alpha1\", \"kind\": \"Application\",\n\t\"metadata\": {\"name\": \"web\"},\n\
                \t\"spec\": {\"sourceHydrator\": {\n\t\t\"drySource\": {\"repoURL\": \"https://x\", \"targetRevision\": \"\", \"path\": \"\"},\n\
                \t\t\"syncSource\": {\"targetBranch\": \"d\\u00e9v\", \"path\": \"a\"}}}}\n";
    let read = file(json);
    assert_eq!(messages(&read), Vec::<String>::new());
    let app = read.applications().next().expect("one");
    assert_eq!(
        (app.dry.repo_url.as_str(), app.sync_branch.as_str(), app.dry.path.is_root()),
        ("https://x", "dév", true)
    );

    let bad = GOOD.replace("path: web", "path: é/..").replace('\n', "\r\n");
    let expected = "7:43 the hydrated manifests cannot be at the root of the branch";
    let with_mark = [b"\xEF\xBB\xBF", bad.as_bytes()].concat();
    let utf16: Vec<u8> = [0xFFFE].into_iter().chain(bad.encode_utf16()).flat_map(|unit| unit.to_be_bytes()).collect();
    let utf16: Vec<u8> = [0xFE, 0xFF].into_iter().chain(utf16.into_iter().skip(2)).collect();
    for bytes in [bad.as_bytes(), &with_mark, &utf16] {
        let read = file(bytes);
        assert_eq!(messages(&read), [expected]);
        let text = read.documents[0].diagnostics[0].span.as_ref().and_then(|span| span.text.as_deref());
        assert_eq!(text, Some("    syncSource: {targetBranch: dev, path: é/..}"));
    }
}

#[test]
fn kubernetes_rules_of_yaml() {
    // Of two keys the last one wins there; here it is a mistake, in what is read.
    let twice = GOOD.replace("path: web}", "path: web, path: web}");
    assert_eq!(messages(&file(twice)), ["7:48 `syncSource.path` is given twice"]);
    let elsewhere = GOOD.replace("spec:\n", "spec:\n  syncPolicy: {a: 1, a: 2}\n");
    assert_eq!(names(&file(elsewhere)), ["web"]);
    // Merges and aliases.
    let merged = "x: &d {repoURL: r, targetRevision: main, path: a}\n".to_owned()
        + &GOOD.replace("{repoURL: r, targetRevision: main, path: a}", "{<<: *d, path: b}");
    let read = file(&merged);
    assert_eq!(messages(&read), Vec::<String>::new());
    let app = read.applications().next().expect("one");
    assert_eq!((app.dry.repo_url.as_str(), app.dry.path.as_str()), ("r", "b"));
    assert_eq!((app.places.repo_url.line, app.places.repo_url.column), (1, 17));
    assert_eq!((app.places.dry_path.line, app.places.dry_path.column), (7, 31));
}

#[test]
fn places_cover_what_was_written() {
    for (path, column, width) in [
        ("web", 47, 3),
        ("'web'", 47, 5),
        ("\"w\\x65b\"", 47, 8),
        ("'it''s'", 47, 7),
        ("\"a'b\"", 47, 5),
        ("!!str web", 47, 1),
        ("&x web", 47, 1),
    ] {
        let read = file(GOOD.replace("path: web", &format!("path:     {path}")));
        let span = &read.applications().next().expect(path).places.sync_path;
        assert_eq!((span.line, span.column, span.width), (7, column, width), "{path}");
    }
}

#[test]
fn what_a_broken_application_would_write_is_known() {
    let broken = |edit: (&str, &str)| {
        let file = file(GOOD.replace(edit.0, edit.1));
        let document = file.documents.first().expect("one");
        assert_eq!(document.application, None);
        let branch = document.environment_branch.as_ref().map(ToString::to_string);
        (document.name.as_ref().map(ToString::to_string), branch)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(broken(("repoURL: r", "x: y")), (some("web"), some("dev")));
    assert_eq!(broken(("name: web", "name: Web")), (None, some("dev")));
    assert_eq!(broken(("targetBranch: dev", "targetBranch: -")), (some("web"), None));
    assert_eq!(
        broken(("path: web}\n", "path: .}\n    hydrateTo: {targetBranch: next}\n")),
        (some("web"), some("next"))
    );
    // Not the sync branch: that one is not written.
    assert_eq!(broken(("path: web}\n", "path: web}\n    hydrateTo: {}\n")), (some("web"), None));
}

#[test]
fn the_rest_of_the_document() {
    let app = application("kustomize: {}");
    assert_eq!((app.project.as_str(), &app.destination_namespace, &app.namespace), ("default", &None, &None));
    let text = GOOD.replace("spec:\n", "spec:\n  project: shop\n  destination: {namespace: prod, server: x}\n");
    let text = text.replace("name: web}", "name: web, namespace: argocd, labels: {a: b}}");
    let read = file(&text);
    let app = read.applications().next().expect("one");
    assert_eq!((app.project.as_str(), app.destination_namespace.as_deref()), ("shop", Some("prod")));
    assert_eq!(app.namespace.as_ref().map(AppName::as_str), Some("argocd"));
    assert_eq!(app.environment_branch().as_str(), "dev");
}

#[test]
fn options_of_helm() {
    let helm = application(
        "helm: {valueFiles: [a.yaml, /b.yaml], parameters: [{name: a.b, value: x, forceString: true}, {name: c}],
         fileParameters: [{name: d, path: e}], releaseName: r, values: 'x: 1', valuesObject: {x: [1, 2.5, true, ~, y]},
         version: v3, passCredentials: true, ignoreMissingValueFiles: true, skipCrds: true, skipTests: true,
         skipSchemaValidation: true, namespace: ns, kubeVersion: '1.30', apiVersions: [v1]}",
    );
    let Options { helm: Some(helm), kustomize: None, directory: None, plugin: None } = helm.dry.options else {
        panic!("only Helm")
    };
    assert_eq!(helm.value_files, ["a.yaml", "/b.yaml"]);
    let parameter =
        |name: &str, value: &str, force_string| HelmParameter { name: name.into(), value: value.into(), force_string };
    assert_eq!(helm.parameters, [parameter("a.b", "x", true), parameter("c", "", false)]);
    assert_eq!(helm.file_parameters, [FileParameter { name: "d".into(), path: "e".into() }]);
    let texts = [&helm.release_name, &helm.values, &helm.version, &helm.namespace, &helm.kube_version];
    assert_eq!(texts.map(|text| text.as_deref()), [Some("r"), Some("x: 1"), Some("v3"), Some("ns"), Some("1.30")]);
    assert!(helm.pass_credentials && helm.ignore_missing_value_files);
    assert!(helm.skip_crds && helm.skip_tests && helm.skip_schema_validation);
    assert_eq!(helm.api_versions, ["v1"]);
    let object = helm.values_object.expect("a mapping");
    assert_eq!(object.get("x").and_then(go_yaml::Value::as_sequence).map(<[_]>::len), Some(5));
    // What is empty is not there; what is empty as a whole chooses its tool all the same.
    let empty = application("helm: {releaseName: '', values: '', parameters: [], valuesObject: ~}").dry.options.helm;
    assert_eq!(empty, Some(crate::argo::Helm::default()));
    assert_eq!(application("helm: ~").dry.options.helm, None);
    let object = application("helm: {valuesObject: {}}").dry.options.helm.expect("Helm").values_object;
    assert_eq!(object, Some(go_yaml::Value::Mapping(Default::default())));
}

#[test]
fn options_of_kustomize() {
    let kustomize = application(
        "kustomize: {namePrefix: p-, nameSuffix: -s, images: ['a=b:1'], replicas: [{name: x, count: 3}, {name: z, count: '4'}],
         commonLabels: {a: b}, commonAnnotations: {c: d}, forceCommonLabels: true, forceCommonAnnotations: true,
         labelWithoutSelector: true, labelIncludeTemplates: true, commonAnnotationsEnvsubst: true, namespace: ns,
         patches: [{path: f, target: {group: g, version: v, kind: k, name: nn, namespace: m, annotationSelector: a, labelSelector: l},
           options: {allowNameChange: true}}, {patch: 'x: y'}],
         components: [c], ignoreMissingComponents: true, version: v5, kubeVersion: '1.30', apiVersions: [v1]}",
    );
    let some = |text: &str| Some(text.to_owned());
    let target = PatchTarget {
        group: some("g"),
        version: some("v"),
        kind: some("k"),
        name: some("nn"),
        namespace: some("m"),
        annotation_selector: some("a"),
        label_selector: some("l"),
    };
    let expected = Kustomize {
        name_prefix: some("p-"),
        name_suffix: some("-s"),
        images: vec!["a=b:1".into()],
        replicas: vec![Replicas { name: "x".into(), count: 3 }, Replicas { name: "z".into(), count: 4 }],
        common_labels: [("a".to_owned(), "b".to_owned())].into(),
        common_annotations: [("c".to_owned(), "d".to_owned())].into(),
        force_common_labels: true,
        force_common_annotations: true,
        label_without_selector: true,
        label_include_templates: true,
        common_annotations_envsubst: true,
        namespace: some("ns"),
        patches: vec![
            Patch {
                path: some("f"),
                patch: None,
                target: Some(target),
                options: [("allowNameChange".to_owned(), true)].into(),
            },
            Patch { patch: some("x: y"), ..Patch::default() },
        ],
        components: vec!["c".into()],
        ignore_missing_components: true,
        version: some("v5"),
        kube_version: some("1.30"),
        api_versions: vec!["v1".into()],
    };
    assert_eq!(kustomize.dry.options.kustomize, Some(expected));
}

#[test]
fn options_of_directories_and_plugins() {
    let directory = application(
        "directory: {recurse: true, include: '*.yaml', exclude: x, disableExtensionFilter: true,
         jsonnet: {extVars: [{name: a, value: b, code: true}], tlas: [{name: c, value: ''}], libs: [vendor]}}",
    );
    let directory = directory.dry.options.directory.expect("a directory");
    assert!(directory.recurse && directory.disable_extension_filter);
    assert_eq!((directory.include.as_deref(), directory.exclude.as_deref()), (Some("*.yaml"), Some("x")));
    assert!(directory.jsonnet.ext_vars[0].code && directory.jsonnet.tlas[0].value.is_empty());
    assert_eq!(directory.jsonnet.libs, ["vendor"]);

    let plugin = application(
        "plugin: {name: p, env: [{name: A, value: b}], parameters: [{name: s, string: ''}, {name: m, map: {a: b}, array: []}]}",
    );
    let plugin = plugin.dry.options.plugin.expect("a plugin");
    assert_eq!((plugin.name.as_deref(), plugin.env[0].value.as_str()), (Some("p"), "b"));
    assert_eq!((plugin.parameters[0].string.as_deref(), plugin.parameters[0].map.is_none()), (Some(""), true));
    assert_eq!(plugin.parameters[1].array, Some(Vec::new()));
    assert_eq!(plugin.parameters[1].map.as_ref().map(std::collections::BTreeMap::len), Some(1));
}

#[test]
fn fingerprints_tell_sources_apart() {
    let plain = application("helm: {}").fingerprint();
    assert_eq!(plain, application("helm: {}").fingerprint());
    assert_eq!(plain, application("'helm': { }").fingerprint());
    for options in
        ["kustomize: {}", "helm: {valueFiles: [a]}", "helm: {valuesObject: {a: '1'}}", "helm: {valuesObject: {a: 1}}"]
    {
        assert_ne!(plain, application(options).fingerprint(), "{options}");
    }
    let text = application("helm: {valuesObject: {a: '1'}}").fingerprint();
    assert_ne!(text, application("helm: {valuesObject: {a: 1}}").fingerprint());
    // Where manifests go does not change them.
    let moved = file(GOOD.replace("path: a}", "path: a, helm: {}}").replace("path: web", "path: other"));
    assert_eq!(plain, moved.applications().next().expect("one").fingerprint());
}

#[test]
fn large_and_deep_files_are_refused() {
    let deep = format!("# sourceHydrator\na: {}{}\n", "[".repeat(200), "]".repeat(200));
    assert!(!file(deep).is_readable());
    let wide = format!("# sourceHydrator\na: [{}]\n", "1,".repeat(600_000));
    assert!(!file(wide).is_readable());
    // A mapping merged into a mapping, again and again.
    let mut merges = "# sourceHydrator\nm0: &m0 {a: 1}\n".to_owned();
    for n in 1..200 {
        merges.push_str(&format!("m{n}: &m{n} {{<<: [*m{0}, *m{0}, *m{0}], k{n}: 1}}\n", n - 1));
    }
    file(merges);
}

/// Each takes minutes or gigabytes as soon as a step of it is not bounded.
#[test]
fn hostile_files_are_answered_soon() {
    // One line, each of many values wrong.
    let wrong = GOOD.replace("path: a}", &format!("path: a, helm: {{valueFiles: [{}]}}}}", "1,".repeat(50_000)));
    assert_eq!(file(wrong).documents[0].diagnostics.len(), 50);
    let unknown: String = (0..20_000).map(|n| format!("valueFilez{n}: 1,")).collect();
    let unknown = GOOD.replace("path: a}", &format!("path: a, helm: {{{unknown}}}}}"));
    assert_eq!(file(unknown).documents[0].diagnostics.len(), 20);
    let broken = "{kind: Application, spec: {sourceHydrator: {}}},".repeat(10_001);
    let many = file(format!("{{kind: List, items: [{broken}]}}"));
    assert_eq!((many.documents.len(), many.is_readable()), (10_000, false));
    // A mapping of one key given many times, named many times.
    let twice = format!("# sourceHydrator\na: &a {{{}}}\nb: [{}]\n", "k: 1,".repeat(20_000), "*a,".repeat(20_000));
    assert_eq!(file(twice).documents.len(), 0);
    // Long names.
    let long = GOOD.replace("targetBranch: dev", &format!("targetBranch: {}", "a ".repeat(500_000)));
    assert!(file(long).documents[0].diagnostics[0].message.len() < 1000);
}

/// Every field that the CustomResourceDefinition of Argo CD 3.6 has below `spec.sourceHydrator`
/// (manifests/crds/application-crd.yaml), by the tool that may be given with it.
const CRD: [(&str, &str); 4] = [
    (
        "helm",
        "{apiVersions: [v1], fileParameters: [{name: a, path: b}], ignoreMissingValueFiles: true, kubeVersion: '1.33', \
         namespace: a, parameters: [{forceString: true, name: a, value: b}], passCredentials: true, releaseName: a, \
         skipCrds: true, skipSchemaValidation: true, skipTests: true, valueFiles: [a], values: a, \
         valuesObject: {valueFile: a}, version: v3}",
    ),
    (
        "kustomize",
        "{apiVersions: [v1], commonAnnotations: {image: a}, commonAnnotationsEnvsubst: true, commonLabels: {image: a}, \
         components: [a], forceCommonAnnotations: true, forceCommonLabels: true, ignoreMissingComponents: true, images: [a], \
         kubeVersion: '1.33', labelIncludeTemplates: true, labelWithoutSelector: true, namePrefix: a, nameSuffix: a, \
         namespace: a, patches: [{options: {allowNameChanges: true}, patch: a, path: a, target: {annotationSelector: a, \
         group: a, kind: a, labelSelector: a, name: a, namespace: a, version: a}}], replicas: [{count: 1, name: a}], version: v5}",
    ),
    (
        "directory",
        "{disableExtensionFilter: true, exclude: a, include: a, jsonnet: {extVars: [{code: true, name: a, value: b}], \
         libs: [a], tlas: [{code: true, name: a, value: b}]}, recurse: true}",
    ),
    (
        "plugin",
        "{env: [{name: a, value: b}], name: a, parameters: [{array: [a], map: {names: a}, name: a, string: a}]}",
    ),
];

#[test]
fn no_field_of_argo_cd_is_unknown() {
    for (tool, options) in CRD {
        let text = GOOD
            .replace("path: a}", &format!("path: a, {tool}: {options}}}"))
            .replace("path: web}\n", "path: web, repoURL: r}\n    hydrateTo: {targetBranch: next}\n");
        assert_eq!(messages(&file(&text)), Vec::<String>::new(), "{text}");
    }
    // Outside of the hydrator nothing is looked at, whatever it is.
    let beside = GOOD.replace("spec:\n", "sepc: {}\nspec:\n  destnation: {}\n  info: [{nmae: a}]\n");
    assert_eq!(messages(&file(&beside)), Vec::<String>::new());
}

#[test]
fn unknown_fields_and_what_was_meant() {
    let rows: &[(&str, &str, &str, Option<&str>)] = &[
        (
            "path: a}",
            "path: a, helm: {valuesFiles: [x]}}",
            "valuesFiles` in `spec.sourceHydrator.drySource.helm`",
            Some("valueFiles"),
        ),
        ("path: a}", "path: a, Helm: {}}", "Helm` in `spec.sourceHydrator.drySource`", Some("helm")),
        ("path: a}", "path: a, chart: x}", "chart` in `spec.sourceHydrator.drySource`", None),
        ("path: a}", "path: a, team: x}", "team` in `spec.sourceHydrator.drySource`", None),
        (
            "path: a}",
            "path: a, helm: {parameters: [{name: a}, {name: a, valeu: b}]}}",
            "valeu` in `spec.sourceHydrator.drySource.helm.parameters[1]`",
            Some("value"),
        ),
        (
            "path: a}",
            "path: a, kustomize: {patches: [{target: {kinds: A}}]}}",
            "kinds` in `spec.sourceHydrator.drySource.kustomize.patches[0].target`",
            Some("kind"),
        ),
        (
            "path: a}",
            "path: a, directory: {jsonnet: {extVar: []}}}",
            "extVar` in `spec.sourceHydrator.drySource.directory.jsonnet`",
            Some("extVars"),
        ),
        ("path: a}", "path: a, plugin: {envs: []}}", "envs` in `spec.sourceHydrator.drySource.plugin`", Some("env")),
        ("path: web}", "path: web, repoUrl: r}", "repoUrl` in `spec.sourceHydrator.syncSource`", Some("repoURL")),
        ("path: web}", "path: web}\n    hydrateto: {}", "hydrateto` in `spec.sourceHydrator`", Some("hydrateTo")),
        (
            "path: web}",
            "path: web}\n    hydrateTo: {targetBranch: next, path: web}",
            "path` in `spec.sourceHydrator.hydrateTo`",
            None,
        ),
        ("spec:\n", "spec:\n  sourceHydratro: {}\n", "sourceHydratro` in `spec`", Some("sourceHydrator")),
    ];
    for (from, to, message, near) in rows {
        let file = file(GOOD.replace(from, to));
        let found: Vec<&Diagnostic> = file.all_diagnostics().collect();
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert_eq!(found[0].message, format!("unknown field `{message}"));
        // Manifests would be others, or go elsewhere.
        let leads = near.is_some_and(|near| near != "sourceHydrator");
        assert_eq!((found[0].is_error(), found[0].is_near_miss()), (leads, near.is_some()), "{to}: {found:?}");
        let field = found[0].unknown_field.as_ref().expect("an unknown field");
        assert!(message.starts_with(&format!("{}`", field.name)), "{field:?}");
        assert_eq!(field.near.as_deref(), *near, "{to}");
        if let Some(near) = near {
            assert_eq!(found[0].hint, Some(format!("did you mean `{near}`?")));
        }
        assert_eq!(names(&file), if leads { vec![] } else { vec!["web"] }, "{to}");
        let is_lost = ["repoURL", "hydrateTo"].map(Some).contains(near);
        assert!(!is_lost || file.documents.iter().all(|document| document.environment_branch.is_none()), "{to}");
    }
    // However many there are, the near misses are reported.
    let many: String = (0..100).map(|n| format!("x{n}: x, ")).collect();
    let file = file(GOOD.replace("path: a}", &format!("path: a, {many} targetRevison: x}}")));
    assert!(file.all_diagnostics().any(Diagnostic::is_near_miss), "{:?}", messages(&file));
}

#[test]
fn applications_that_are_not_hydrated_by_a_slip() {
    let misspelt = |text: &str| {
        let file = file(text);
        let of = |misspelt: &Misspelt| misspelt.application.as_ref().map(|(_, name)| name.to_string());
        (file.misspelt.iter().map(of).collect::<Vec<_>>(), file.documents.len(), messages(&file))
    };
    let told = |key: &str| format!("5:3 unknown field `{key}` in `spec`, so `web` is not hydrated");
    for key in [
        "sourceHydrater",
        "sourcehydrator",
        "SourceHydrator",
        "sourceHydrato",
        "sourceHidrater",
        "source-hydrator",
        "s\u{43e}urceHydrat\u{43e}r",
        "sourceHydratorXY",
    ] {
        let found = misspelt(&GOOD.replace("sourceHydrator", key));
        assert_eq!(found, (vec![Some("web".to_owned())], 0, vec![told(key)]), "{key}");
    }
    for text in [
        GOOD.replace("sourceHydrator", "hydrator"),
        GOOD.replace("sourceHydrator", "source"),
        GOOD.replace("sourceHydrator", "sourceHidrat"),
        GOOD.replace("sourceHydrator:\n", "sourceHydrater:\n").replace("    ", "  "),
        GOOD.replace("argoproj.io", "example.com").replace("sourceHydrator", "sourceHydrater"),
        GOOD.replace("kind: Application", "kind: AppProject").replace("sourceHydrator", "sourceHydrater"),
        GOOD.replace("sourceHydrator", "source").replace("name: web", "name: source-hydrator"),
    ] {
        assert_eq!(misspelt(&text), (vec![], 0, vec![]), "{text}");
    }
    let nameless = GOOD.replace("sourceHydrator", "sourceHydrater").replace("{name: web}", "{}");
    assert_eq!(misspelt(&nameless).0, [None]);
    let stream = format!("{}---\n{GOOD}", GOOD.replace("sourceHydrator", "sourceHydrater"));
    let (found, documents, _) = misspelt(&stream);
    assert_eq!((found.len(), documents), (1, 1));
    let utf16: Vec<u8> = [0xFF, 0xFE].into_iter().chain(nameless.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert!(is_marked(&utf16, &RuleSet::default()) && file(&utf16).misspelt.len() == 1);
}
