//! Objects of charts and kustomizations that a change of text would take away.

use super::{CHART, DEV, Row, check, deployment, has, manifest, pushed};
use crate::push::{config_map, tip, verified};
use crate::support::Lab;

const TEMPLATE: &str =
    "{{- if .Values.enabled }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n{{- end }}\n";

const HELPED: &str =
    "{{- if include \"on\" . }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n{{- end }}\n";

const VALUES: &str = "enabled: true\n";

#[test]
fn an_object_of_a_chart_does_not_leave_by_the_text_of_a_template() {
    let chart = |name: &str| format!("apps/web/dev/{name}");
    let [yaml, values, one, two, helpers] =
        ["Chart.yaml", "values.yaml", "templates/one.yaml", "templates/two.yaml", "templates/_helpers.tpl"].map(chart);
    let config = chart("config.yaml");
    let (two_text, slip) = (config_map("two", "x"), TEMPLATE.replace("enabled", "enabld"));
    let define = "{{- define \"on\" }}{{ if .Values.enabled }}yes{{ end }}{{ end }}\n";
    let three = config_map("three", "x");
    let several = format!("{two_text}---\n{TEMPLATE}");
    let base: Vec<(&str, &str)> = vec![(&config, ""), (&yaml, CHART), (&values, VALUES), (&two, &two_text)];
    let plain: Vec<(&str, &str)> = [&base[..], &[(&one, TEMPLATE)]].concat();
    let helped: Vec<(&str, &str)> = [&base[..], &[(&one, HELPED), (&helpers, define)]].concat();
    let in_one: Vec<(&str, &str)> = [&base[..], &[(&one, &several)], &[(&two, &three)]].concat();
    let nothing = "gives no object now";
    let (several_slip, define_slip) = (several.replace("enabled", "enabld"), define.replace("enabled", "enabld"));
    let rows: &[Row<'_>] = &[
        ("a misspelt value", &plain, &[(&one, &slip)], Err(("apps/web/dev/templates/one.yaml:1", nothing))),
        (
            "in one of several documents",
            &in_one,
            &[(&one, &several_slip)],
            Err(("apps/web/dev/templates/one.yaml:8", "although its text is still there")),
        ),
        (
            "in a helper",
            &helped,
            &[(&helpers, &define_slip)],
            Err(("apps/web/dev/templates/_helpers.tpl:1", "is not rendered since")),
        ),
        ("the template is gone", &plain, &[(&one, "")], Ok(())),
        ("the template is empty", &plain, &[(&one, "{{/* nothing */}}\n")], Ok(())),
        ("the document is gone", &in_one, &[(&one, &two_text)], Ok(())),
        ("values", &plain, &[(&values, "enabled: false\n")], Ok(())),
        (
            "values, and the template is edited too",
            &plain,
            &[(&values, "enabled: false\n"), (&one, &TEMPLATE.replace("name", "name "))],
            Ok(()),
        ),
        (
            "another version of the chart",
            &plain,
            &[(&one, &slip), (&yaml, &CHART.replace("1.0.0", "1.1.0"))],
            Err(("apps/web/dev/templates/one.yaml:1", nothing)),
        ),
    ];
    check(rows);
}

#[test]
fn an_object_of_a_kustomization_leaves_when_something_says_so() {
    let in_dir = |name: &str| format!("apps/web/dev/{name}");
    let [kustomization, base, resource] =
        ["kustomization.yaml", "base/kustomization.yaml", "base/one.yaml"].map(in_dir);
    let (one, both) = (deployment("one"), format!("{}---\n{}", deployment("one"), deployment("two")));
    let top = "resources: [base, config.yaml]\n";
    let before: Vec<(&str, &str)> = vec![(&kustomization, top), (&base, "resources: [one.yaml]\n"), (&resource, &both)];
    let deletes = format!(
        "{top}patches:\n- patch: |\n    $patch: delete\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: one}}\n"
    );
    let prefix = format!("{top}namePrefix: new-\n");
    let rows: &[Row<'_>] = &[
        ("no longer named", &before, &[(&kustomization, "resources: [config.yaml]\n")], Ok(())),
        ("the resource is empty", &before, &[(&resource, "# nothing\n")], Ok(())),
        ("the document is gone", &before, &[(&resource, &deployment("two"))], Ok(())),
        ("deleted by a patch", &before, &[(&kustomization, &deletes)], Ok(())),
        (
            "deleted by a patch, and edited",
            &before,
            &[(&kustomization, &deletes), (&resource, &both.replace(": 1", ": 2"))],
            Ok(()),
        ),
        ("another prefix", &before, &[(&kustomization, &prefix)], Ok(())),
        ("renamed", &before, &[(&resource, &both.replace("one", "three"))], Ok(())),
    ];
    check(rows);
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &before);
    let old = tip(&server, DEV);
    for text in [one.replace("kind", "knd"), "foo: bar\n".to_owned(), "- a\n".to_owned()] {
        clone.commit("slip", &[(&resource, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("error:") && tip(&server, DEV) == old, "{text}: {told}");
    }
}

#[test]
fn a_kustomization_or_values_with_a_slip_in_the_name_of_the_file_take_nothing_away() {
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: x-\nresources: [one.yaml, config.yaml]\n";
    let resource = deployment("one");
    let kustomized: [(&str, &str); 2] =
        [("apps/web/dev/kustomization.yaml", kustomization), ("apps/web/dev/one.yaml", &resource)];
    let template = format!("{{{{ if .Values.enabled }}}}\n{}{{{{ end }}}}\n", deployment("x-one"));
    let always = deployment("web");
    let chart: [(&str, &str); 4] = [
        ("apps/web/dev/templates/web.yaml", &always),
        ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n"),
        ("apps/web/dev/values.yaml", "enabled: true\n"),
        ("apps/web/dev/templates/one.yaml", &template),
    ];
    for (files, names, left_out) in [
        (
            &kustomized[..],
            &["kustomizaton.yaml", "Kustomization.yaml", "kustomization.yaml.bak", "web.yaml"][..],
            "kustomization.yaml.disabled",
        ),
        (&chart, &["value.yaml", "values.yml", "values.yaml~"], "values.yaml.off"),
    ] {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab, files);
        let file = files
            .iter()
            .map(|(file, _)| *file)
            .find(|file| file.ends_with("kustomization.yaml") || file.ends_with("values.yaml"));
        let (file, dir) = (file.expect("one of them"), "apps/web/dev/");
        assert!(has(&server, "x-one"), "{}", manifest(&server));
        let old = tip(&server, DEV);
        for name in names {
            let now = format!("{dir}{name}");
            clone.git(&["mv", file, &now]);
            clone.commit("slip", &[]);
            let said = clone.push().success().remote().join("\n");
            assert!(said.contains(&format!("which is `{now}` now")) && said.contains(&format!("--> {now}")), "{said}");
            assert_eq!(tip(&server, DEV), old, "{now}");
            clone.git(&["mv", &now, file]);
            clone.commit("right again", &[]);
            clone.push().success();
        }
        // What is left out on purpose is, as is what is deleted.
        clone.git(&["mv", file, &format!("{dir}{}", left_out)]);
        clone.commit("left out", &[]);
        let said = clone.push().success().remote().join("\n");
        assert!(!has(&server, "x-one"), "{said}");
        verified(&server);
    }
}
