//! Applications rendered as a whole, with the official tools where those are there.
//!
//! `GIT_HYDRATE_TEST_TOOLS` names a directory with `helm` 4.2.3 and `kubectl` 1.36 (Kustomize 5.8.1).
#![cfg(target_os = "linux")]

mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use git_hydrate::testing::application::{self, Application, Profile};
use git_hydrate::testing::manifest::{self, Key, Manifest};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::plugin;
use git_hydrate::testing::render::{Context, Failure, Limits, Rendered, Renderers, Tools, conflicts, objects};
use git_hydrate::testing::settings::RendererName;
use git_hydrate::testing::view::{Files, Kind, MemoryFiles, Seen, View};
use git_hydrate::testing::yaml::{self, Value, sigs};

use crate::plugin::runner;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The directory of the official tools.
fn official_tools() -> PathBuf {
    std::env::var_os("GIT_HYDRATE_TEST_TOOLS").expect("a directory with helm and kubectl").into()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn renderers(tools: Tools, jobs: usize) -> Renderers {
    limited(tools, jobs, plugin::Limits::default())
}

fn limited(tools: Tools, jobs: usize, limits: plugin::Limits) -> Renderers {
    Renderers::new(runner(limits), tools, Limits { jobs, ..Limits::default() })
}

fn official(dir: &Path) -> Tools {
    let dir = dir.display();
    Tools {
        helm: words(&format!("{dir}/helm")),
        kustomize: words(&format!("{dir}/kubectl kustomize")),
        plugins: BTreeMap::new(),
    }
}

/// An Application whose drySource has `options` (YAML, not indented).
fn application(name: &str, dir: &str, options: &str) -> Application {
    let options: String = options.lines().map(|line| format!("      {line}\n")).collect();
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\nspec:\n  \
         destination: {{namespace: web-ns}}\n  sourceHydrator:\n    drySource:\n      \
         repoURL: https://git.example.com/config\n      targetRevision: main\n      path: {dir}\n{options}    \
         syncSource: {{targetBranch: environments/dev, path: {name}}}\n"
    );
    let file = application::read(&RepoPath::new("applications.yaml").expect("plain"), text.as_bytes());
    let mistakes: Vec<String> = file.all_diagnostics().map(ToString::to_string).collect();
    file.applications().next().cloned().unwrap_or_else(|| panic!("{}\n{text}", mistakes.join("\n")))
}

fn render_all(
    renderers: &Renderers,
    files: &MemoryFiles,
    profile: Profile,
    renderer: RendererName,
    applications: &[&Application],
) -> Vec<Result<Rendered, Failure>> {
    let context = Context {
        files,
        profile,
        dry_commit: COMMIT,
        renderer,
        build_options: &Default::default(),
        nondeterministic: &[],
        seeds: &Default::default(),
        identities: &Default::default(),
        limits: Default::default(),
        rules: Default::default(),
    };
    renderers.render(applications, &context, &|_| ())
}

fn text(manifests: &[Manifest]) -> String {
    String::from_utf8(manifest::encode(manifests)).expect("YAML is UTF-8")
}

fn mistake(result: Result<Rendered, Failure>) -> String {
    match result {
        Err(Failure::Mistakes(mistakes)) => mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Err(Failure::World(error)) => panic!("{error}"),
        Ok(rendered) => panic!("rendered:\n{}", text(&rendered.manifests)),
    }
}

/// Writes a tree to disk, for tools and shells that look at it.
fn write(files: &MemoryFiles, view: &View<'_>, dir: &RepoPath, place: &Path) {
    for entry in view.list(dir).expect("readable").iter() {
        let path = dir.child(&entry.name).expect("a name");
        let place = place.join(&entry.name);
        match entry.kind {
            Kind::Directory => {
                std::fs::create_dir(&place).expect("made");
                write(files, view, &path, &place);
            }
            Kind::File => std::fs::write(&place, &view.read(&path).expect("readable").data).expect("written"),
            Kind::Link => {
                let target = files.read(&path, entry.id).expect("readable");
                let target = std::str::from_utf8(&target).expect("UTF-8");
                std::os::unix::fs::symlink(target, &place).expect("linked");
            }
            Kind::Submodule => {}
        }
    }
}

fn on_disk(files: &MemoryFiles) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    write(files, &View::new(files), &RepoPath::root(), dir.path());
    dir
}

fn chart() -> MemoryFiles {
    MemoryFiles::new()
        .file("apps/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n")
        .file("apps/web/values.yaml", "image: {tag: '1', name: nginx}\nreplicas: 1\n")
        .file("apps/web/values-prod.yaml", "replicas: 3\n")
        .file("apps/web/values,odd \"name\".yaml", "odd: true\n")
        .file("shared/all.yaml", "shared: yes\n")
        .file("shared/script.sh", "#!/bin/sh\necho 'a, b'\n")
        .link("apps/web/linked.yaml", "../../shared/all.yaml")
        .file(
            "apps/web/crds/crd.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n",
        )
        .file(
            "apps/web/templates/all.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  \
             namespace: {{ .Release.Namespace }}\ndata:\n  values: {{ toJson .Values | quote }}\n  \
             kube: {{ .Capabilities.KubeVersion.Version }}\n  apis: {{ .Capabilities.APIVersions.Has \"a/v1\" | quote }}\n",
        )
        .file(
            "apps/web/templates/tests/test.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: test\n  annotations: {helm.sh/hook: test}\n",
        )
}

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn a_recorded_helm_command_gives_the_same_manifests_in_a_shell() {
    let dir = official_tools();
    let files = chart();
    let options = [
        "helm: {}",
        "helm: {releaseName: web, namespace: other}",
        "helm:\n  releaseName: web\n  valueFiles: [values-prod.yaml, /shared/all.yaml, 'values,odd \"name\".yaml', 'li*.yaml']",
        "helm:\n  releaseName: web\n  values: |\n    text: |\n      it's $HOME `x`\n      \\ \"two\" lines\n    image: {tag: null}\n    n: 12345678901\n",
        "helm:\n  releaseName: web\n  valuesObject: {list: [1, 'a', {b: 2.5}], image: null}\n  values: 'ignored: true'\n",
        "helm:\n  releaseName: web\n  parameters:\n  - {name: a.b, value: 'x, y'}\n  - {name: image.tag, value: '2', forceString: true}\n  \
         - {name: list, value: '{a,b}'}\n  - {name: dollar, value: \"$$x\\n'y'\"}\n  - {name: rev, value: $ARGOCD_APP_REVISION_SHORT}\n",
        "helm:\n  releaseName: web\n  fileParameters: [{name: script, path: /shared/script.sh}]\n",
        "helm:\n  releaseName: web\n  kubeVersion: v1.30.4+x\n  apiVersions: [a/v1, b/v2]\n  skipCrds: true\n  skipTests: true\n  \
         skipSchemaValidation: true\n",
    ];
    let applications: Vec<Application> = options
        .iter()
        .enumerate()
        .map(|(index, options)| application(&format!("app{index}"), "apps/web", options))
        .collect();
    let applications: Vec<&Application> = applications.iter().collect();
    let renderers = renderers(official(&dir), 2);
    let results = render_all(&renderers, &files, Profile::Proposal, RendererName::Exec, &applications);
    let native = render_all(&renderers, &files, Profile::Proposal, RendererName::Native, &applications);
    for ((exec, native), options) in results.iter().zip(native).zip(options) {
        let native = native.unwrap_or_else(|failure| panic!("{options}: {failure:?}"));
        let exec = exec.as_ref().unwrap_or_else(|failure| panic!("{options}: {failure:?}"));
        assert_eq!(text(&native.manifests), text(&exec.manifests), "{options}");
        assert_eq!(native.commands, exec.commands, "{options}");
    }
    let tree = on_disk(&files);
    let path = format!("{}:/usr/bin:/bin", dir.display());
    for (result, options) in results.into_iter().zip(options) {
        let rendered = result.unwrap_or_else(|failure| panic!("{options}: {failure:?}"));
        let [command] = rendered.commands.as_slice() else { panic!("{options}: {:?}", rendered.commands) };
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(&tree).env_clear().env("PATH", &path).env("HOME", tree.path());
        let output = shell.output().expect("bash");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{stderr}");
        let pasted = manifest::read(&output.stdout, manifest::Source::Output("helm")).expect("objects");
        assert_eq!(text(&rendered.manifests), text(&pasted), "{command}");
    }
}

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn what_was_read_is_told() {
    let dir = official_tools();
    let files = chart();
    let application = application("web", "apps/web", "helm: {releaseName: web, valueFiles: [/shared/all.yaml]}");
    let results =
        render_all(&renderers(official(&dir), 1), &files, Profile::Proposal, RendererName::Exec, &[&application]);
    let rendered = results.into_iter().next().expect("one").expect("renders");
    let read = |path: &str| {
        rendered
            .reads
            .iter()
            .any(|((read, _), seen)| read.as_str() == path && matches!(seen, Seen::Content(_) | Seen::Link(_)))
    };
    for (path, expected) in [
        ("apps/web", true),
        ("apps/web/linked.yaml", true),
        ("shared/all.yaml", true),
        ("shared/script.sh", false),
        ("", false),
    ] {
        assert_eq!(read(path), expected, "{path:?}");
    }
}

fn kustomization() -> MemoryFiles {
    MemoryFiles::new()
        .file(
            "base/kustomization.yaml",
            "resources: [deployment.yaml]\n",
        )
        .file(
            "base/deployment.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {a: '1'}}\nspec:\n  replicas: 1\n  \
             selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
             spec: {containers: [{name: c, image: 'nginx:1'}, {name: d, image: 'reg:5000/side:1'}]}\n",
        )
        .file("components/extra/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: c-\n")
        .file(
            "overlays/dev/kustomization.yaml",
            "# kept by nobody\nresources:\n- ../../base\nnamePrefix: old-\nImages:\n- {name: nginx, newTag: '2'}\n- {name: other, newTag: '9'}\n\
             commonLabels: {team: a}\nlabels:\n- pairs: {x: '1'}\n- pairs: {z: '1'}\n  includeTemplates: true\n",
        )
}

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn edits_of_a_kustomization_are_those_of_kustomize_edit() {
    let dir = official_tools();
    // What kustomize 5.8.1 `edit` makes of the file, by its source.
    let rows = [
        ("{}", ""),
        ("{namePrefix: new-, nameSuffix: -s, namespace: ns}", "namePrefix: new-\nnameSuffix: -s\nnamespace: ns\n"),
        (
            "{images: ['nginx:3', 'reg:5000/side=mirror:5000/side@sha256:abc']}",
            "images:\n- {name: nginx, newTag: '3'}\n- {name: other, newTag: '9'}\n\
             - {name: 'reg:5000/side', newName: 'mirror:5000/side', digest: 'sha256:abc'}\n",
        ),
        (
            "{images: ['nginx=mirror/nginx:*']}",
            "images:\n- {name: nginx, newName: mirror/nginx, newTag: '2'}\n- {name: other, newTag: '9'}\n",
        ),
        ("{replicas: [{name: web, count: 4}]}", "replicas:\n- {name: web, count: 4}\n"),
        ("{commonLabels: {b: '\"2\"'}}", "commonLabels: {team: a, b: '2'}\n"),
        ("{commonLabels: {team: b}, forceCommonLabels: true}", "commonLabels: {team: b}\n"),
        (
            "{commonLabels: {b: '2'}, labelWithoutSelector: true}",
            "labels:\n- pairs: {x: '1', b: '2'}\n- pairs: {z: '1'}\n  includeTemplates: true\n",
        ),
        (
            "{commonLabels: {b: '2'}, labelWithoutSelector: true, labelIncludeTemplates: true}",
            "labels:\n- pairs: {x: '1'}\n- pairs: {z: '1', b: '2'}\n  includeTemplates: true\n",
        ),
        ("{commonAnnotations: {a: '2', b: 'x:y'}}", "commonAnnotations: {a: '2', b: 'x:y'}\n"),
        (
            "{patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 7}]'}]}",
            "patches:\n- target: {kind: Deployment}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 7}]'\n",
        ),
        ("{components: [../../components/extra, ../../components/*]}", "components: [../../components/extra]\n"),
        ("{components: [../../components/none], ignoreMissingComponents: true}", ""),
    ];
    let files = kustomization();
    let applications: Vec<Application> = rows
        .iter()
        .enumerate()
        .map(|(index, (options, _))| {
            application(&format!("app{index}"), "overlays/dev", &format!("kustomize: {options}"))
        })
        .collect();
    let applications: Vec<&Application> = applications.iter().collect();
    let renderers = renderers(official(&dir), 4);
    let native = render_all(&renderers, &files, Profile::Proposal, RendererName::Native, &applications);
    let exec = render_all(&renderers, &files, Profile::Proposal, RendererName::Exec, &applications);
    for ((native, exec), (options, edited)) in native.into_iter().zip(exec).zip(rows) {
        let [native, exec] =
            [native, exec].map(|result| result.unwrap_or_else(|failure| panic!("{options}: {failure:?}")));
        let path = RepoPath::new("overlays/dev/kustomization.yaml").expect("plain");
        let before = View::new(&files).read(&path).expect("there").data;
        let before = String::from_utf8(before.to_vec()).expect("UTF-8").replace("Images", "images");
        let [mut edited_file, edited] = [before.as_str(), edited]
            .map(|text| sigs::yaml_to_json(text.as_bytes(), &yaml::Limits::default()).expect("YAML"));
        if let (Value::Mapping(file), Value::Mapping(edited)) = (&mut edited_file, edited) {
            file.extend(edited);
        }
        let mut by_hand = files.clone();
        by_hand.insert(path, Kind::File, sigs::marshal(&edited_file).expect("YAML").as_bytes());
        let tree = on_disk(&by_hand);
        let built = Command::new(dir.join("kubectl")).args(["kustomize", "overlays/dev"]).current_dir(&tree).output();
        let built = built.expect("kubectl");
        assert!(built.status.success(), "{options}: {}", String::from_utf8_lossy(&built.stderr));
        let expected = manifest::read(&built.stdout, manifest::Source::Output("kustomize")).expect("objects");
        assert_eq!(text(&exec.manifests), text(&expected), "{options} by exec");
        assert_eq!(text(&native.manifests), text(&expected), "{options} natively");
        assert_eq!(native.commands, exec.commands, "{options}");
    }
}

#[test]
fn recorded_kustomize_commands() {
    let options = "kustomize:\n  namePrefix: p-\n  images: ['nginx=a b:1']\n  replicas: [{name: web, count: 2}]\n  \
                   commonLabels: {l: v}\n  labelWithoutSelector: true\n  commonAnnotations: {a: it's}\n  namespace: ns\n  \
                   patches:\n  - target: {kind: Deployment, name: .*web}\n    patch: |-\n      - op: remove\n        path: /metadata/annotations/a\n";
    let application = application("web", "overlays/dev", options);
    let proposal = [
        "(cd ./overlays/dev && kustomize edit set nameprefix -- p-)",
        "(cd ./overlays/dev && kustomize edit set image 'nginx=a b:1')",
        "(cd ./overlays/dev && kustomize edit set replicas web=2)",
        "(cd ./overlays/dev && kustomize edit add label --without-selector l:v)",
        "(cd ./overlays/dev && kustomize edit add annotation 'a:it'\\''s')",
        "(cd ./overlays/dev && kustomize edit set namespace -- ns)",
        "(cd ./overlays/dev && kustomize edit add patch --patch $'- op: remove\\n  path: /metadata/annotations/a' \
         --kind Deployment --name '.*web')",
        "kustomize build ./overlays/dev",
    ];
    let argocd = [
        "kustomize edit set nameprefix -- p-",
        "kustomize edit set image \"nginx=a b:1\"",
        "kustomize edit set replicas web=2",
        "kustomize edit add label --without-selector l:v",
        "kustomize edit add annotation a:it's",
        "kustomize edit set namespace -- ns",
        "# kustomization.yaml updated with patches. There is no `kustomize edit` command for adding patches. In order to \
         generate the manifests in your local environment, you will need to copy the patches into kustomization.yaml \
         manually.",
        "kustomize build ./overlays/dev",
    ];
    let renderers = renderers(Tools::default(), 1);
    for (profile, expected) in [(Profile::Proposal, proposal), (Profile::Argocd, argocd)] {
        let results = render_all(&renderers, &kustomization(), profile, RendererName::Native, &[&application]);
        let rendered = results.into_iter().next().expect("one").expect("renders");
        assert_eq!(rendered.commands, expected, "{profile:?}");
    }
}

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn one_thread_is_as_good_as_many() {
    let dir = official_tools();
    let files = chart();
    let options = |index: usize| format!("helm: {{releaseName: r{index}, valuesObject: {{n: {index}}}}}");
    let applications: Vec<Application> =
        (0..12).map(|index| application(&format!("app{index}"), "apps/web", &options(index))).collect();
    let applications: Vec<&Application> = applications.iter().collect();
    let rendered = |jobs| -> Vec<String> {
        let results =
            render_all(&renderers(official(&dir), jobs), &files, Profile::Proposal, RendererName::Exec, &applications);
        results.into_iter().map(|result| text(&result.expect("renders").manifests)).collect()
    };
    assert_eq!(rendered(1), rendered(8));
}

/// A program of our own that stands in for a tool.
fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    path
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_plugin_prints_manifests() {
    let dir = tempfile::tempdir().expect("a directory");
    let plugin = script(
        dir.path(),
        "plugin",
        "cat in.yaml; echo \"name: $ARGOCD_ENV_NAME\"; echo \"p: '$PARAM_A_B_1 $PARAM_TEXT'\"\n\
         echo \"all: '$ARGOCD_APP_PARAMETERS'\"; echo \"rev: '$ARGOCD_APP_REVISION_SHORT'\"; cat ../other/x.yaml",
    );
    let files = MemoryFiles::new().file("apps/in.yaml", "kind: Made\n").file("other/x.yaml", "other: true\n");
    let tools = Tools {
        plugins: BTreeMap::from([("mine".to_owned(), vec![plugin.display().to_string()])]),
        ..Tools::default()
    };
    let renderers = renderers(tools, 1);
    let options = "plugin:\n  name: mine\n  env: [{name: NAME, value: $ARGOCD_APP_SOURCE_PATH}]\n  \
                   parameters: [{name: a.b, array: [x, z]}, {name: text, string: z}]\n";
    let made = application("web", "apps", options);
    let rendered = render_all(&renderers, &files, Profile::Proposal, RendererName::Native, &[&made]).remove(0);
    let rendered = rendered.expect("renders");
    let all = r#"[{"array":["x","z"],"name":"a.b"},{"name":"text","string":"z"}]"#;
    let expected = format!("all: '{all}'\nkind: Made\nname: apps\nother: true\np: z z\nrev: \"0123456\"\n");
    assert_eq!((text(&rendered.manifests), rendered.commands.len()), (expected, 0));

    let unknown = application("web", "apps", "plugin: {name: other}");
    let result = render_all(&renderers, &files, Profile::Proposal, RendererName::Native, &[&unknown]).remove(0);
    let mistake = mistake(result);
    assert!(
        mistake.contains("no plugin `other` is set up here") && mistake.contains("the plugins are: mine"),
        "{mistake}"
    );
}

#[test]
fn directories_need_no_tool() {
    let files = MemoryFiles::new()
        .file("apps/a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n")
        .file("apps/b.json", "{\"kind\": \"B\"}")
        .file("apps/values.yaml", "x: 1\n");
    let application = application("web", "apps", "");
    let rendered =
        render_all(&renderers(Tools::default(), 1), &files, Profile::Proposal, RendererName::Native, &[&application])
            .remove(0);
    let rendered = rendered.expect("renders");
    assert_eq!(text(&rendered.manifests), "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n---\nkind: B\n");
    assert_eq!(rendered.commands, [] as [&str; 0]);
}

#[test]
fn one_object_from_two_applications_is_an_error() {
    let files = MemoryFiles::new()
        .file("a/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n")
        .file("b/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: web-ns}\n")
        .file("c/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: other}\n");
    let [a, b, c] = ["a", "b", "c"]
        .map(|name| Application { destination_cluster: Some("east".to_owned()), ..application(name, name, "") });
    let applications = [&a, &b, &c];
    let rendered: Vec<Rendered> =
        render_all(&renderers(Tools::default(), 2), &files, Profile::Proposal, RendererName::Native, &applications)
            .into_iter()
            .map(|result| result.expect("renders"))
            .collect();
    let objects = |applications: &[&Application]| -> Vec<Vec<Key>> {
        applications.iter().zip(&rendered).map(|(application, one)| objects(application, &one.manifests)).collect()
    };
    let conflicts = |applications: &[&Application]| {
        let objects = objects(applications);
        let each = applications.iter().copied().zip(objects.iter().map(Vec::as_slice));
        conflicts(&each.collect::<Vec<_>>())
    };
    let found = conflicts(&applications);
    let found: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(found, ["`a` and `b` both render Service web-ns/s"]);
    let elsewhere = Application { destination_cluster: Some("west".to_owned()), ..b.clone() };
    assert_eq!(conflicts(&[&a, &elsewhere, &c]), []);
    // A cluster that is not known is no other one.
    let unknown = Application { destination_cluster: None, ..b.clone() };
    assert_eq!(conflicts(&[&a, &unknown, &c]), []);
}

#[test]
fn jsonnet_sees_the_tree_and_nothing_else() {
    let files = MemoryFiles::new()
        .file(
            "apps/main.jsonnet",
            "local lib = import 'lib.libsonnet';\nfunction(replicas=1) [lib.object('a') + {n: replicas}, null, \
             {kind: std.extVar('kind'), text: importstr 'text.txt', code: std.extVar('code').x}]",
        )
        .file("apps/values.yaml", "a: 1\n")
        .file("vendor/lib.libsonnet", "{object(name):: {kind: 'A', metadata: {name: name}, half: 0.5, big: 1e20}}")
        .file("vendor/text.txt", "plain\n");
    let options = "directory:\n  jsonnet:\n    libs: [vendor]\n    extVars:\n    - {name: kind, value: old}\n    \
                   - {name: kind, value: B}\n    - {name: code, value: '{x: 1 + 1}', code: true}\n    \
                   tlas: [{name: replicas, value: '3', code: true}]\n";
    let application = application("web", "apps", options);
    let rendered =
        render_all(&renderers(Tools::default(), 1), &files, Profile::Proposal, RendererName::Native, &[&application]);
    let rendered = rendered.into_iter().next().expect("one").expect("evaluates");
    let expected =
        "big: 1e+20\nhalf: 0.5\nkind: A\nmetadata:\n  name: a\n\"n\": 3\n---\ncode: 2\nkind: B\ntext: |\n  plain\n";
    assert_eq!(text(&rendered.manifests), expected);
    let read: Vec<&str> = rendered.reads.keys().map(|(path, _)| path.as_str()).collect();
    for path in ["apps/main.jsonnet", "apps/lib.libsonnet", "vendor/lib.libsonnet", "vendor/text.txt"] {
        assert!(read.contains(&path), "{path} is not in {read:?}");
    }
}

#[test]
fn jsonnet_has_limits() {
    let patient = plugin::Limits { memory_bytes_max: 1 << 30, ..plugin::Limits::default() };
    let hasty = plugin::Limits { time: std::time::Duration::from_millis(1500), ..patient };
    let [patient, hasty] = [patient, hasty].map(|limits| limited(Tools::default(), 2, limits));
    let mistakes = [
        ("{a: 1}", "`kind` is missing"),
        ("{", "expected"),
        ("error 'no'", "explicit error: no"),
        ("import '/etc/passwd'", "`/etc/passwd` cannot be imported: the path is absolute"),
        ("importstr '../../secret'", "`../../secret` cannot be imported: the path leads out of the repository"),
        ("import 'none'", "\"none\" not found"),
        ("std.native('exec')('ls')", "native"),
        ("local f(x) = 1 + f(x); f(0)", "stack overflow"),
        ("'text'", "must evaluate to an object or to an array of objects"),
    ];
    let render = |renderers: &Renderers, text: &str| {
        let files = MemoryFiles::new().file("apps/a.jsonnet", text);
        let application = application("web", "apps", "");
        render_all(renderers, &files, Profile::Proposal, RendererName::Native, &[&application]).remove(0)
    };
    for (text, expected) in mistakes {
        let mistake = mistake(render(&patient, text));
        assert!(mistake.contains(expected) && !mistake.contains("/tmp"), "{text}: {mistake}");
    }
    let endless = ["local f(x) = f(x + 1) tailstrict; f(0)", "std.foldl(function(a, b) a + a, std.range(1, 200), 'x')"];
    for text in endless {
        let result = render(&hasty, text);
        assert!(matches!(result, Err(Failure::World(_))), "{text}: {result:?}");
    }
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(render(&hasty, &deep).is_err());
}

#[test]
#[ignore = "needs Helm and kubectl in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn kustomizations_inflate_charts_of_the_repository() {
    let dir = official_tools();
    let files = chart().file(
        "apps/kustomization.yaml",
        "helmGlobals: {chartHome: .}\nhelmCharts:\n- {name: web, releaseName: r, namespace: ns, includeCRDs: true}\n",
    );
    let application =
        application("web", "apps", "kustomize: {kubeVersion: v1.30.1, apiVersions: [a/v1], namePrefix: p-}");
    let renderers = renderers(official(&dir), 1);
    let [rendered, native] = [RendererName::Exec, RendererName::Native].map(|renderer| {
        render_all(&renderers, &files, Profile::Proposal, renderer, &[&application]).remove(0).expect("renders")
    });
    assert_eq!(text(&native.manifests), text(&rendered.manifests));
    assert_eq!(native.commands, rendered.commands);
    let text = text(&rendered.manifests);
    for expected in ["name: p-r\n", "kube: v1.30.1\n", "apis: \"true\"\n", "kind: CustomResourceDefinition\n"] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    let build = "kustomize build ./apps --enable-helm --helm-kube-version 1.30.1 --helm-api-versions a/v1";
    assert_eq!(rendered.commands, ["(cd ./apps && kustomize edit set nameprefix -- p-)", build]);
}
