//! A key that a mapping has twice loses a value, which no tool says: `check` and the push do.

use crate::push::{application, config_map, dry};
use crate::support::Lab;

#[test]
fn the_second_env_of_a_values_file_is_told_with_both_lines_by_check_and_the_push() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web", "api", "plain"], &["dev"]);
    let text = application("web", "dev").1;
    let helm = "      helm: {releaseName: web, valueFiles: [prod.yaml], values: \"x: 1\\nx: 2\\n\"}\n    syncSource:";
    let template = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: web}\ndata: {v: '{{ toJson .Values }}'}\n";
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata:\n  on: a\n  'true': b\n";
    clone.commit(
        "Keys that are there twice",
        &[
            ("applications/dev/web.yaml", &text.replace("    syncSource:", helm)),
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/values.yaml", "image: {tag: a}\nreplicas: 1\nimage: {pull: b}\n"),
            ("apps/web/dev/prod.yaml", "env: {A: secret}\n\nenv: {B: other}\n"),
            ("apps/web/dev/templates/web.yaml", template),
            // Data of an object, not values.
            ("apps/web/dev/files/app.yaml", "a: 1\na: 2\n"),
            ("apps/api/dev/kustomization.yaml", "resources: [config.yaml]\nnamePrefix: a-\nnamePrefix: b-\n"),
            ("apps/plain/dev/config.yaml", plain),
        ],
    );
    let told = [
        ("apps/web/dev/prod.yaml:3:1", "`env` is set twice: what apps/web/dev/prod.yaml:1 says is lost"),
        ("apps/web/dev/values.yaml:3:1", "`image` is set twice: what apps/web/dev/values.yaml:1 says is lost"),
        ("applications/dev/web.yaml:", "`x` is set twice: what line 1 of the text says is lost"),
        (
            "apps/api/dev/kustomization.yaml:3:1",
            "`namePrefix` is set twice: what apps/api/dev/kustomization.yaml:2 says is lost",
        ),
        (
            "apps/plain/dev/config.yaml:6:3",
            "`on` and `true` are one key: what apps/plain/dev/config.yaml:5 says is lost",
        ),
    ];
    let check = clone.hydrate(&["check"]).success().stdout;
    let push = clone.push().success();
    let push = format!("{}{}", push.stdout, push.stderr);
    for (place, text) in told {
        let is_told = |line: &str| line.starts_with(place) && line.contains(&format!("warning: {text}"));
        assert!(check.lines().any(is_told), "{text}: {check}");
        assert!(push.contains(text) && push.contains(place), "{text}: {push}");
    }
    assert!(!check.contains("files/app.yaml") && !check.contains("secret"), "{check}");
    assert!(!push.contains("secret"), "{push}");
}

#[test]
fn what_patches_and_values_of_a_kustomization_lose_is_named_and_data_of_its_files_is_not() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["api"], &["dev"]);
    let kustomization = "resources: [config.yaml]\npatches:\n- path: patch.yaml\n- target: {kind: ConfigMap}\n  patch: |-\n    \
                         - {op: add, op: replace, path: /metadata/labels, value: {a: b}}\nconfigMapGenerator:\n- name: data\n  \
                         files: [data.yaml]\n";
    clone.commit(
        "Patches",
        &[
            ("apps/api/dev/kustomization.yaml", kustomization),
            ("apps/api/dev/config.yaml", &config_map("api", "one").replace("name: api", "name: api\n  labels: {}")),
            ("apps/api/dev/patch.yaml", &(config_map("api", "two") + "data: {second: lost}\n")),
            ("apps/api/dev/data.yaml", "a: 1\na: 2\n"),
        ],
    );
    let check = clone.hydrate(&["check"]).success().stdout;
    let lines: Vec<&str> = check.lines().filter(|line| line.contains("is set twice")).collect();
    assert_eq!(lines.len(), 2, "{check}");
    assert!(
        lines[0].starts_with("apps/api/dev/kustomization.yaml:5:") && lines[0].contains("`op` is set twice"),
        "{check}"
    );
    assert!(lines[1].starts_with("apps/api/dev/patch.yaml:") && lines[1].contains("`data` is set twice"), "{check}");
}

#[test]
fn a_key_that_is_twice_below_values_object_is_told_with_its_line_and_the_last_one_counts() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let text = application("web", "dev").1;
    let helm = "      helm: {releaseName: web, valuesObject: {a: 1, b: [{c: 1, c: 2}], a: 3}}\n    syncSource:";
    let template = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: web}\ndata: {v: '{{ toJson .Values }}'}\n";
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    clone.commit(
        "Keys that are there twice",
        &[
            ("applications/dev/web.yaml", &text.replace("    syncSource:", helm)),
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/templates/web.yaml", template),
        ],
    );
    let check = clone.hydrate(&["check"]).success().stdout;
    let push = clone.push().success().remote().join("\n");
    for told in [check, push] {
        for key in ["a", "c"] {
            assert!(
                told.contains(&format!("`{key}` is set twice in `valuesObject`: what the first says is lost")),
                "{told}"
            );
        }
        assert!(told.contains("applications/dev/web.yaml:"), "{told}");
    }
    let made = server.git(&["show", "environments/dev:web/manifest.yaml"]);
    assert!(made.contains(r#"{"a":3,"b":[{"c":2}]}"#), "{made}");
}
