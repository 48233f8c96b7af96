use std::io::Write as _;

use dry_files::path::RepoPath;
use dry_files::view::MemoryFiles;

use super::*;
use crate::argo::{File, read};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

fn application(dry_path: &str, options: &str) -> Application {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: root}}\nspec:\n  sourceHydrator:\n    \
         drySource: {{repoURL: u, targetRevision: main, path: {dry_path}{options}}}\n    syncSource: {{targetBranch: b, path: \
         p}}\n"
    );
    let File { documents, .. } = read(&path("root.yaml"), text.as_bytes());
    (**documents[0].application.as_ref().expect("right")).clone()
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("in memory");
    encoder.finish().expect("in memory")
}

#[test]
fn which_applications_may_render_others() {
    let files = || MemoryFiles::new().file("plain/a.yaml", "a: 1\n");
    let marked = "spec: {sourceHydrator: {}}";
    let rows: &[(&str, MemoryFiles, &str, &str, bool)] = &[
        ("nothing of it", files(), "plain", "", false),
        ("a file of the directory", files().file("plain/b.yaml", marked), "plain", "", true),
        ("a file deep below", files().file("plain/x/y/b.txt", marked), "plain", "", true),
        ("a file elsewhere", files().file("other/b.yaml", marked), "plain", "", false),
        (
            "a base",
            files().file("k/kustomization.yaml", "resources:\n- ../other\n").file("other/b.yaml", marked),
            "k",
            "",
            true,
        ),
        (
            "a base of a base",
            files()
                .file("k/kustomization.yaml", "resources: ['../b']")
                .file("b/kustomization.yaml", "bases: [\"../other/b.yaml\"]")
                .file("other/b.yaml", marked),
            "k",
            "",
            true,
        ),
        (
            "a value file",
            files().file("values/v.yaml", marked),
            "plain",
            ", helm: {valueFiles: [../values/v.yaml]}",
            true,
        ),
        (
            "one from the root",
            files().file("values/v.yaml", marked),
            "plain",
            ", helm: {valueFiles: [/values/v.yaml]}",
            true,
        ),
        (
            "a chart that it depends on",
            files()
                .file("c/Chart.yaml", "dependencies:\n- repository: file://../lib\n")
                .file("lib/templates/a.yaml", marked),
            "c",
            "",
            true,
        ),
        ("a packaged chart", files().file("c/charts/apps-1.0.0.tgz", gzipped(marked)), "c", "", true),
        (
            "a packaged chart of something else",
            files().file("c/charts/apps-1.0.0.tgz", gzipped("other")),
            "c",
            "",
            false,
        ),
        (
            "an import of Jsonnet",
            files().file("j/a.jsonnet", "(import '../lib/a.libsonnet').web").file("lib/a.libsonnet", marked),
            "j",
            "",
            true,
        ),
        (
            "a library of Jsonnet",
            files().file("j/a.jsonnet", "(import 'a.libsonnet').web").file("vendor/lib/a.libsonnet", marked),
            "j",
            ", directory: {jsonnet: {libs: [vendor/lib]}}",
            true,
        ),
        ("a link", files().link("plain/l", "../other").file("other/b.yaml", marked), "plain", "", true),
        (
            "a file that its kustomization does not name",
            files().file("k/kustomization.yaml", "resources: [a.yaml]").file("k/app.yaml", marked),
            "k",
            "",
            false,
        ),
        (
            "one that it names",
            files().file("k/kustomization.yaml", "resources: [app.yaml]").file("k/app.yaml", marked),
            "k",
            "",
            true,
        ),
        (
            "one that the directory above takes",
            files().file("d/k/kustomization.yaml", "resources: [a.yaml]").file("d/k/app.yaml", marked),
            "d",
            "",
            true,
        ),
        ("directories that name one another", files().file("a/kustomization.yaml", "- ../a/../a"), "a", "", false),
        ("no directory", files(), "none", "", false),
    ];
    for (name, files, dry_path, options, expected) in rows {
        let found = Reach::default().may_make(&application(dry_path, options), files);
        assert_eq!(found, *expected, "{name}");
    }
}

const TEMPLATE: &str = "{{- range .Values.apps }}
---
# one for each
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  {{- with .labels }}
  labels: {{ toYaml . | nindent 4 }}
  {{- end }}
  name: shop-{{ .name }}
spec:
  sourceHydrator:
    drySource: {repoURL: https://git.example.com/dry.git, path: 'apps/{{ .name }}', targetRevision: main}
    syncSource:
      path: {{ .name }}
      targetBranch: \"x\"
{{- end }}
---
kind: Application
metadata: {name: other}
spec: {sourceHydrator: {}}
";

#[test]
fn fields_have_the_places_of_the_template() {
    let mut origins = Origins::default();
    origins.add(&path("t/apps.yaml"), TEMPLATE.as_bytes());
    let excerpt = origins.find("Application", "shop-web").expect("found");
    let rows: &[(&[&str], &str)] = &[
        (&[], "t/apps.yaml:3:1"),
        (&["metadata"], "t/apps.yaml:6:1"),
        (&["metadata", "name"], "t/apps.yaml:10:9"),
        (&["metadata", "labels", "team"], "t/apps.yaml:8:11"),
        (&["spec", "sourceHydrator", "drySource", "path"], "t/apps.yaml:13:65"),
        (&["spec", "sourceHydrator", "drySource", "targetRevision"], "t/apps.yaml:13:101"),
        (&["spec", "sourceHydrator", "syncSource", "path"], "t/apps.yaml:15:13"),
        (&["spec", "sourceHydrator", "syncSource", "targetBranch"], "t/apps.yaml:16:21"),
        (&["spec", "none"], "t/apps.yaml:11:1"),
    ];
    for (steps, expected) in rows {
        assert_eq!(excerpt.place(steps).to_string(), *expected, "{steps:?}");
    }
    let place = excerpt.place(&["spec", "sourceHydrator", "syncSource", "targetBranch"]);
    assert_eq!((place.text.as_deref(), place.width), (Some("      targetBranch: \"x\""), 3));
}

#[test]
fn documents_are_found_by_their_names() {
    let mut origins = Origins::default();
    origins.add(&path("t/apps.yaml"), TEMPLATE.as_bytes());
    let set = "kind: ApplicationSet\nmetadata: {name: web}\nspec: {template: {sourceHydrator: {}}}\n";
    origins.add(&path("b/app.yaml"), TEMPLATE.replace("shop-{{ .name }}", "web").as_bytes());
    origins.add(&path("b/set.yaml"), set.as_bytes());
    let rows = [
        ("Application", "web", Some("b/app.yaml:3")),
        ("Application", "shop-web", Some("t/apps.yaml:3")),
        ("Application", "web-eu", Some("b/app.yaml:3")),
        ("Application", "other", None),
        ("Application", "none", None),
        ("ApplicationSet", "any", Some("b/set.yaml:1")),
    ];
    for (kind, name, expected) in rows {
        let found = origins.find(kind, name).map(|excerpt| format!("{}:{}", excerpt.path(), excerpt.line));
        assert_eq!(found.as_deref(), expected, "{kind} {name}");
    }
}

#[test]
fn what_was_rendered_is_made_again_from_what_was_kept() {
    let object = |text: &str| crate::manifest::read(text.as_bytes(), crate::manifest::Source::Output("a test"));
    let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop-web}\nspec:\n  sourceHydrator:\n    \
                drySource: {repoURL: u, targetRevision: main, path: a, helm: {parameters: [{name: x, value: '1'}]}}\n    \
                syncSource: {targetBranch: b, path: p}\n";
    let objects: Vec<Value> = object(text).expect("one").into_iter().map(|manifest| manifest.into_object()).collect();
    let mut origins = Origins::default();
    origins.add(&path("t/apps.yaml"), TEMPLATE.as_bytes());
    let parent = Parent::of(&application("boot", ""));
    let makes = parent.makes(objects, (&origins, &Written::default()), &RuleSet::default());
    let made = makes.documents[0].application.as_ref().expect("right");
    assert_eq!(made.file, path("root.yaml"));
    let again = Application::remade(None, made.made().expect("made"), &RuleSet::default()).expect("kept");
    assert_eq!(&again, made);
    assert_eq!(again.fingerprint(), made.fingerprint());
    let told = made.tells(Diagnostic::error("x")).to_string();
    assert_eq!(told, "error: x\n  = made by Application `root` from t/apps.yaml:10:9");
}
