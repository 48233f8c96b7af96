//! An Application that renders no object: a new one is told so, and one that had objects keeps them, with the reason.

use crate::push::{both, config_map, dry};
use crate::removal::SKIPPED;
use crate::support::Lab;

/// A name, what becomes of the only source file, `apps/web/dev/config.yaml`, the reason that is told, and the cure.
type Way = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const WAYS: [Way; 6] = [
    (
        "subdirectories",
        &[("apps/web/dev/sub/config.yaml", "kind: ConfigMap\nmetadata: {name: a}\napiVersion: v1\n")],
        "it has manifests in subdirectories only, such as `apps/web/dev/sub`",
        "set `directory.recurse: true` in the drySource",
    ),
    (
        "a stray chart",
        &[("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")],
        "it is a chart, since `Chart.yaml` is there, which has no templates",
        "if it is not a chart, remove `Chart.yaml`",
    ),
    (
        "a chart without objects",
        &[
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/templates/a.yaml", "{{- if false }}\nkind: Pod\n{{- end }}\n"),
        ],
        "it is a chart, since `Chart.yaml` is there, whose templates give no object",
        "if it is not a chart, remove `Chart.yaml`",
    ),
    (
        "an empty kustomization",
        &[
            ("apps/web/dev/kustomization.yaml", "namePrefix: a-\nresources: [empty.yaml]\n"),
            ("apps/web/dev/empty.yaml", "# nothing\n"),
        ],
        "its kustomization gives no object",
        "",
    ),
    (
        "another ending",
        &[("apps/web/dev/config.yam", "kind: ConfigMap\n")],
        "no file here ends in .yaml, .yml, .json or .jsonnet; it has `apps/web/dev/config.yam`",
        "",
    ),
    (
        "skipped",
        &[("apps/web/dev/other.yaml", SKIPPED)],
        "each file here has the comment `+argocd:skip-file-rendering`",
        "",
    ),
];

#[test]
fn what_would_lose_all_objects_is_told_where_and_why_and_the_trailer_last() {
    for (name, files, reason, cure) in WAYS {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web", "api"], &["dev"]);
        clone.push().success();
        clone.commit(name, &[files, &[("apps/web/dev/config.yaml", "")]].concat());
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("would remove the only object that `web` has on `environments/dev`"), "{name}: {told}");
        assert!(told.contains("--> applications/dev/web.yaml:12:13"), "{name}: {told}");
        assert!(told.contains(reason) && told.contains(cure), "{name}: {told}");
        let hint = told.lines().find(|line| line.contains("hint: ") && line.contains("Hydrate-Allow-Removal"));
        let (before, _) = hint.and_then(|hint| hint.split_once("Hydrate-Allow-Removal")).expect("a way out");
        assert!(cure.is_empty() || before.contains(cure), "{name}: {told}");
    }
}

#[test]
fn a_new_application_without_objects_is_told_and_strict_refuses_it() {
    for (name, files, reason, _) in WAYS {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web"], &["dev"]);
        clone.commit(name, &[files, &[("apps/web/dev/config.yaml", "")]].concat());
        server.git(&["config", "hydrate.strict", "touched"]);
        let refused = clone.push().exits(1).remote().join("\n");
        assert!(
            refused.contains("error: `web-dev` renders no object") && refused.contains(reason),
            "{name}: {refused}"
        );
        server.git(&["config", "hydrate.strict", "off"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("warning: `web-dev` renders no object") && told.contains(reason), "{name}: {told}");
        assert!(told.contains("--> applications/dev/web.yaml:12:13"), "{name}: {told}");
        // Once.
        clone.commit("other", &[("apps/web/dev/NOTES", "text")]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("renders no object"), "{name}: {told}");
    }
}

#[test]
fn the_root_of_the_repository_has_its_manifests_in_subdirectories() {
    both(|server| {
        let clone = dry(server, &["web"], &["dev"]);
        clone.push().success();
        let (file, text) = crate::push::application("web", "dev");
        clone.commit("root", &[(&file, &text.replace("path: apps/web/dev", "path: ."))]);
        let told = clone.push().success().remote().join("\n");
        let reason = "it has manifests in subdirectories only, such as `";
        assert!(told.contains("would remove the only object") && told.contains(reason), "{told}");
        // What is followed as it is told brings the objects back.
        let recursive = text.replace("path: apps/web/dev", "path: apps\n      directory: {recurse: true}");
        clone.commit("below", &[(&file, &recursive), ("apps/web/dev/config.yaml", &config_map("web", "x"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("1 of 1 manifests changed: 1 object changed"), "{told}");
    });
}
