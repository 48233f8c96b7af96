use std::sync::Arc;

use dry_files::view::MemoryFiles;

use super::*;
use crate::argo::{Environment, Variable};

const DRY_COMMIT: &str = "8843d7f92416211de9ebb963ff4ce28125932878";

fn application(dry: &str) -> Arc<Application> {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: team}}\nspec:\n  project: shop\n  \
         destination: {{namespace: prod}}\n  sourceHydrator:\n    \
         drySource: {{repoURL: https://x, targetRevision: HEAD, {dry}}}\n    syncSource: {{targetBranch: dev, path: web}}\n"
    );
    let file = read::read(&RepoPath::new("apps.yaml").expect("plain"), text.as_bytes());
    assert_eq!(file.all_diagnostics().next(), None, "{text}");
    file.documents.into_iter().next().and_then(|document| document.application).expect("one")
}

fn sourced(files: &MemoryFiles, dry: &str, profile: Profile) -> Result<Source, Vec<String>> {
    match source(&View::new(files), &application(dry), profile) {
        Ok(source) => Ok(source),
        Err(SourceError::Mistakes(diagnostics)) => Err(lines(&diagnostics)),
        Err(SourceError::View(error)) => panic!("{error}"),
    }
}

fn lines(diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |diagnostic: &Diagnostic| {
        let place = diagnostic.span.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{place} {}", diagnostic.message)
    };
    diagnostics.iter().map(line).collect()
}

/// The helm options with these override files beside a chart.
fn helm(dry: &str, overrides: &[(&str, &str)]) -> Result<Helm, Vec<String>> {
    let files = overrides.iter().fold(MemoryFiles::new().file("a/Chart.yaml", "name: a"), |files, (name, text)| {
        files.file(&format!("a/{name}"), text)
    });
    match sourced(&files, dry, Profile::Proposal)?.tool {
        Tool::Helm(helm) => Ok(helm),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tools_by_their_files() {
    let rows: &[(&[&str], SourceType)] = &[
        (&["Chart.yaml"], SourceType::Helm),
        (&["kustomization.yaml"], SourceType::Kustomize),
        (&["kustomization.yml"], SourceType::Kustomize),
        (&["Kustomization"], SourceType::Kustomize),
        (&["chart.yaml", "kustomization.yaml.bak", "my-Chart.yaml"], SourceType::Directory),
        (&["x/Chart.yaml", "Chart.yaml/x"], SourceType::Directory),
        (&["app.jsonnet"], SourceType::Directory),
    ];
    for (names, expected) in rows {
        let files = names.iter().fold(MemoryFiles::new(), |files, name| files.file(&format!("a/{name}"), ""));
        let tool = sourced(&files, "path: a", Profile::Proposal).expect("no mistake").tool;
        assert_eq!(tool.source_type(), *expected, "{names:?}");
    }
    let files = MemoryFiles::new().file("real/Chart.yaml", "").link("a", "real");
    let tool = sourced(&files, "path: a", Profile::Proposal).expect("no mistake").tool;
    assert_eq!(tool.source_type(), SourceType::Helm);
}

#[test]
fn a_chart_and_a_kustomization() {
    let files = MemoryFiles::new().file("a/Chart.yaml", "").file("a/Kustomization", "");
    let error = sourced(&files, "path: a", Profile::Proposal).expect_err("both");
    assert_eq!(error, ["apps.yaml:8:65 `a` has both a `Chart.yaml` and a `Kustomization`"]);
    let tool = |dry, profile| sourced(&files, dry, profile).expect("no mistake").tool.source_type();
    assert_eq!(tool("path: a", Profile::Argocd), SourceType::Kustomize);
    assert_eq!(tool("path: a, helm: {}", Profile::Proposal), SourceType::Helm);
    assert_eq!(tool("path: a, directory: {}", Profile::Argocd), SourceType::Directory);
    assert_eq!(tool("path: a, plugin: {}", Profile::Argocd), SourceType::Plugin);
}

#[test]
fn directories_that_are_no_sources() {
    let files = MemoryFiles::new().file("file", "").link("out", "../x").link("loop", "loop").link("none", "nowhere");
    for (dry, expected) in [
        ("path: gone", "`gone` does not exist"),
        ("path: none", "`none` does not exist"),
        ("path: file", "`file` is a file, not a directory"),
        ("path: file/x", "`file/x` does not exist"),
        ("path: out", "out: the symbolic link to `../x` leads out of the repository"),
        ("path: loop", "loop: too many levels of symbolic links"),
    ] {
        let error = sourced(&files, dry, Profile::Proposal).expect_err(dry);
        assert_eq!(error, [format!("apps.yaml:8:65 {expected}")], "{dry}");
    }
}

#[test]
fn override_files_are_merged() {
    // Add, change, take away, replace a list as a whole; first the common file, then the Application's own.
    let dry = "path: a, helm: {releaseName: r, namespace: ns, valueFiles: [a, b], valuesObject: {x: {v: 1, z: 2}}}";
    let common =
        "helm: {releaseName: common, namespace: ~, skipCrds: true, valueFiles: [c], valuesObject: {x: {v: ~, w: 3}}}";
    let own = "helm:\n  releaseName: own\n";
    let merged = helm(dry, &[(".argocd-source.yaml", common), (".argocd-source-web.yaml", own)]).expect("no mistake");
    assert_eq!((merged.release_name.as_deref(), &merged.namespace), (Some("own"), &None));
    assert_eq!((merged.value_files, merged.skip_crds), (vec!["c".to_owned()], true));
    let object = merged.values_object.expect("a mapping");
    let x = object.get("x").and_then(go_yaml::Value::as_mapping).expect("a mapping");
    assert_eq!(x.keys().collect::<Vec<_>>(), ["w", "z"]);
    // Elements of lists are never mixed: `forceString` does not stay.
    let dry = "path: a, helm: {parameters: [{name: a, value: b, forceString: true}]}";
    let merged = helm(dry, &[(".argocd-source.yaml", "helm: {parameters: [{name: c}]}")]).expect("no mistake");
    assert!(!merged.parameters[0].force_string && merged.parameters[0].value.is_empty());
    // Nothing in a file is nothing to do.
    for empty in ["", "# a comment", "---\n", "~", "{}"] {
        assert!(helm("path: a", &[(".argocd-source.yaml", empty)]).is_ok(), "{empty:?}");
    }
}

#[test]
fn override_files_of_one_application() {
    let release = |overrides: &[(&str, &str)]| helm("path: a", overrides).expect("no mistake").release_name;
    let some = |text: &str| Some(text.to_owned());
    let web = (".argocd-source-web.yaml", "helm: {releaseName: web}");
    let team = (".argocd-source-team_web.yaml", "helm: {releaseName: team}");
    let other = (".argocd-source-other_web.yaml", "helm: {releaseName: other}");
    assert_eq!(release(&[web]), some("web"));
    assert_eq!(release(&[web, team]), some("team"));
    assert_eq!(release(&[web, other]), some("web"));
    assert_eq!(release(&[other]), None);
    assert_eq!(release(&[(".argocd-source-web.yaml/x", "helm: {releaseName: x}")]), None);
}

#[test]
fn override_files_choose_the_tool() {
    let files =
        MemoryFiles::new().file("a/Chart.yaml", "").file("a/.argocd-source.yaml", "kustomize: {namePrefix: p-}");
    let source = sourced(&files, "path: a", Profile::Proposal).expect("no mistake");
    assert!(matches!(&source.tool, Tool::Kustomize(kustomize) if kustomize.name_prefix.as_deref() == Some("p-")));
    assert_eq!(source.overrides.iter().map(RepoPath::as_str).collect::<Vec<_>>(), ["a/.argocd-source.yaml"]);
    assert_eq!(source.span(&["kustomize", "namePrefix"]).to_string(), "a/.argocd-source.yaml:1:25");
    assert_eq!(source.span(&["kustomize", "images", "3"]).to_string(), "a/.argocd-source.yaml:1:12");
    assert_eq!(source.span(&["path"]).to_string(), "apps.yaml:8:65");
    let error = sourced(&files, "path: a, helm: {}", Profile::Proposal).expect_err("two tools");
    assert_eq!(error, ["a/.argocd-source.yaml:1:1 multiple application sources defined: Kustomize,Helm"]);
    let files = MemoryFiles::new().file("a/Chart.yaml", "").file("a/.argocd-source.yaml", "kustomize: ~");
    let source = sourced(&files, "path: a, kustomize: {}", Profile::Proposal).expect("no mistake");
    assert_eq!(source.tool.source_type(), SourceType::Helm);
}

#[test]
fn mistakes_of_override_files() {
    let rows: &[(&str, &[&str])] = &[
        ("helm: [", &["a/.argocd-source.yaml:2:1 the file cannot be read: did not find expected node content"]),
        ("- helm", &["a/.argocd-source.yaml:1:1 `a/.argocd-source.yaml` must be a mapping, not a list"]),
        ("text", &["a/.argocd-source.yaml:1:1 `a/.argocd-source.yaml` must be a mapping, not a text"]),
        (
            "helm: {}\n---\nhelm: {}",
            &["a/.argocd-source.yaml:3:1 an override file has one document, but this one has more"],
        ),
        (
            "helm: {releaseName: 7, skipCrds: 'no'}",
            &[
                "a/.argocd-source.yaml:1:21 `helm.releaseName` must be a text, not a number",
                "a/.argocd-source.yaml:1:34 `helm.skipCrds` must be true or false, not a text",
            ],
        ),
        ("helm: {valueFile: [b.yaml]}", &["a/.argocd-source.yaml:1:8 unknown field `valueFile` in `helm`"]),
        (
            "helm: {skipCrds: 'no', x: z}\npath: b",
            &[
                "a/.argocd-source.yaml:1:18 `helm.skipCrds` must be true or false, not a text",
                "a/.argocd-source.yaml:1:24 unknown field `x` in `helm`",
                "a/.argocd-source.yaml:2:1 `path` cannot be changed by an override file",
            ],
        ),
    ];
    for (text, expected) in rows {
        let error = helm("path: a", &[(".argocd-source.yaml", text)]).expect_err(text);
        assert_eq!(
            error.iter().map(|line| line.lines().next().expect("a line")).collect::<Vec<_>>(),
            *expected,
            "{text}"
        );
    }
}

#[test]
fn warnings_of_override_files() {
    let text = "repoURL: x\ntargetRevision: y\npath: z\nchart: c\nhelm: {costCenter: x}\n";
    let files = MemoryFiles::new().file("a/Chart.yaml", "").file("a/.argocd-source.yaml", text);
    let source = sourced(&files, "path: a", Profile::Proposal).expect("warnings only");
    assert_eq!(source.path.as_str(), "a");
    assert_eq!(
        lines(&source.warnings),
        [
            "a/.argocd-source.yaml:1:1 `repoURL` cannot be changed by an override file",
            "a/.argocd-source.yaml:2:1 `targetRevision` cannot be changed by an override file",
            "a/.argocd-source.yaml:3:1 `path` cannot be changed by an override file",
            "a/.argocd-source.yaml:4:1 unknown field `chart`",
            "a/.argocd-source.yaml:5:8 unknown field `costCenter` in `helm`",
        ]
    );
}

#[test]
fn everything_that_was_looked_at_is_noted() {
    let files = MemoryFiles::new().file("a/Chart.yaml", "").file("a/.argocd-source.yaml", "{}");
    let view = View::new(&files);
    source(&view, &application("path: a"), Profile::Proposal).expect("no mistake");
    let seen: Vec<String> = view.reads().keys().map(|(path, _)| path.to_string()).collect();
    assert_eq!(
        seen,
        [
            "a",
            "a/.argocd-source-team_web.yaml",
            "a/.argocd-source-web.yaml",
            "a/.argocd-source.yaml",
            "a/.argocd-source.yaml",
            "a/Chart.yaml",
            "a/Kustomization",
            "a/kustomization.yaml",
            "a/kustomization.yml",
        ]
    );
}

/// A tool with its variables replaced, the names of those that were used, and warnings.
type Done = (Tool, Vec<&'static str>, Vec<String>);

fn substituted(dry: &str, profile: Profile) -> Result<Done, Vec<String>> {
    let files = MemoryFiles::new().file("a/x", "");
    let application = application(dry);
    let source = source(&View::new(&files), &application, profile).expect("no mistake");
    let environment = Environment::new(profile, &application, DRY_COMMIT);
    let result = environment.substitute(&source).map_err(|diagnostics| lines(&diagnostics))?;
    let used = result.used.into_iter().map(Variable::name).collect();
    Ok((result.source.tool, used, lines(&result.diagnostics)))
}

#[test]
fn the_environment_of_both_profiles() {
    let proposal: Vec<_> = [
        ("ARGOCD_APP_REVISION", DRY_COMMIT),
        ("ARGOCD_APP_REVISION_SHORT", "8843d7f"),
        ("ARGOCD_APP_SOURCE_PATH", "./a/"),
        ("ARGOCD_APP_SOURCE_REPO_URL", "https://x"),
        ("ARGOCD_APP_SOURCE_TARGET_REVISION", "HEAD"),
    ]
    .into();
    let mut argocd = proposal.clone();
    argocd.extend([
        ("ARGOCD_APP_NAME", "web"),
        ("ARGOCD_APP_NAMESPACE", "prod"),
        ("ARGOCD_APP_PROJECT_NAME", "shop"),
        ("ARGOCD_APP_REVISION_SHORT_8", "8843d7f9"),
    ]);
    let application = application("path: ./a/");
    for (profile, mut expected) in [(Profile::Proposal, proposal), (Profile::Argocd, argocd)] {
        let environment = Environment::new(profile, &application, DRY_COMMIT);
        let mut found: Vec<_> = environment.variables().map(|(variable, value)| (variable.name(), value)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn options_with_variables() {
    let values = "helm: {valueFiles: ['${ARGOCD_APP_REVISION}.yaml'], parameters: [{name: $ARGOCD_APP_REVISION, value: '$$x $ARGOCD_APP_SOURCE_PATH'}],
        fileParameters: [{name: f, path: $ARGOCD_APP_REVISION_SHORT}], values: $ARGOCD_APP_NAME, releaseName: $ARGOCD_APP_NAME}";
    let (tool, used, warnings) = substituted(&format!("path: a, {values}"), Profile::Proposal).expect("no mistake");
    let Tool::Helm(helm) = tool else { panic!("{tool:?}") };
    assert_eq!(helm.value_files, [format!("{DRY_COMMIT}.yaml")]);
    assert_eq!((helm.parameters[0].name.as_str(), helm.parameters[0].value.as_str()), ("$ARGOCD_APP_REVISION", "$x a"));
    assert_eq!(helm.file_parameters[0].path, "8843d7f");
    assert_eq!(
        (helm.values.as_deref(), helm.release_name.as_deref()),
        (Some("$ARGOCD_APP_NAME"), Some("$ARGOCD_APP_NAME"))
    );
    assert_eq!(used, ["ARGOCD_APP_REVISION", "ARGOCD_APP_REVISION_SHORT", "ARGOCD_APP_SOURCE_PATH"]);
    assert_eq!(warnings, Vec::<String>::new());

    let kustomize = |envsubst| {
        let text = format!(
            "path: a, kustomize: {{images: ['x:$ARGOCD_APP_REVISION_SHORT'], commonLabels: {{a: $ARGOCD_APP_SOURCE_PATH}}, \
             commonAnnotations: {{b: $ARGOCD_APP_SOURCE_PATH}}, commonAnnotationsEnvsubst: {envsubst}, namePrefix: $ARGOCD_APP_NAME}}"
        );
        match substituted(&text, Profile::Proposal).expect("no mistake") {
            (Tool::Kustomize(kustomize), ..) => kustomize,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (kustomize(true).images, kustomize(true).common_labels["a"].as_str()),
        (vec!["x:8843d7f".to_owned()], "a")
    );
    assert_eq!(kustomize(true).common_annotations["b"], "a");
    assert_eq!(kustomize(false).common_annotations["b"], "$ARGOCD_APP_SOURCE_PATH");

    let text = "path: a, directory: {include: $x, jsonnet: {extVars: [{name: a, value: $ARGOCD_APP_SOURCE_PATH}], tlas: [{name: b, value: $$}], libs: [$l]}}";
    let (tool, used, _) = substituted(text, Profile::Proposal).expect("no mistake");
    let Tool::Directory(directory) = tool else { panic!("{tool:?}") };
    assert_eq!((directory.jsonnet.ext_vars[0].value.as_str(), directory.jsonnet.tlas[0].value.as_str()), ("a", "$"));
    assert_eq!((directory.include.as_deref(), directory.jsonnet.libs[0].as_str()), (Some("$x"), "$l"));
    assert_eq!(used, ["ARGOCD_APP_SOURCE_PATH"]);

    let text = "path: a, plugin: {env: [{name: A, value: $ARGOCD_APP_NAME}]}";
    let (tool, used, _) = substituted(text, Profile::Argocd).expect("no mistake");
    assert!(matches!(tool, Tool::Plugin(plugin) if plugin.env[0].value == "web"));
    assert_eq!(used, ["ARGOCD_APP_NAME"]);
    assert!(
        [Variable::Revision, Variable::RevisionShort, Variable::RevisionShort8].iter().all(|v| v.names_the_commit())
    );
}

#[test]
fn variables_that_are_not_there() {
    let text = "path: a, helm: {valueFiles: [$KUBE_VERSION.yaml], parameters: [{name: a, value: '$ARGOCD_APP_NAME ${ARGOCD_ENV_X} $HOME'}]}";
    assert_eq!(
        substituted(text, Profile::Proposal).expect_err("three that are not set"),
        [
            "apps.yaml:8:88 `KUBE_VERSION` is not set when an Application is hydrated",
            "apps.yaml:8:139 `ARGOCD_APP_NAME` is not set when an Application is hydrated",
            "apps.yaml:8:139 `ARGOCD_ENV_X` is not set when an Application is hydrated",
            "apps.yaml:8:139 `$HOME` is not defined",
        ]
    );
    let text = "path: a, helm: {parameters: [{name: hash, value: '$2y$10$abc'}]}";
    let (tool, used, warnings) = substituted(text, Profile::Argocd).expect("warnings only");
    assert!(matches!(tool, Tool::Helm(helm) if helm.parameters[0].value == "y0"));
    assert_eq!(used, Vec::<&str>::new());
    let place = "apps.yaml:8:108";
    assert_eq!(warnings, ["$2", "$1", "$abc"].map(|name| format!("{place} `{name}` is not defined")));
}

#[test]
fn variables_do_not_grow_without_end() {
    let text = format!(
        "path: {}a, helm: {{valueFiles: ['{}']}}",
        "./".repeat(10_000),
        "$ARGOCD_APP_SOURCE_PATH".repeat(10_000)
    );
    let error = substituted(&text, Profile::Proposal).expect_err("200 MB");
    assert_eq!(error.len(), 50);
    assert!(error[0].contains("too long"), "{}", error[0]);
}
