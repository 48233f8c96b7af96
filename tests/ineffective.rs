//! What is written and changes nothing is reported, by `check` and by `diff`.

use crate::push::{application, config_map, dry};
use crate::support::Lab;

const WEB: &str = "applications/dev/web.yaml";

#[test]
fn a_value_that_nothing_reads_and_an_image_that_nothing_uses_are_told_before_a_push() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web", "api"], &["dev"]);
    let template =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {replicas: '{{ .Values.replicaCount }}'}\n";
    let text = application("web", "dev").1;
    let with = |values: &str| {
        text.replace("    syncSource:", &format!("      helm: {{releaseName: web, valueFiles: [values.yaml, prod.yaml],\n        valuesObject: {values}}}\n    syncSource:"))
    };
    let kustomization = "resources: [config.yaml]\n";
    clone.commit(
        "Sources",
        &[
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/values.yaml", "replicaCount: 1\nunused: 1\n"),
            ("apps/web/dev/prod.yaml", "replicaCount: 2\n"),
            ("apps/web/dev/templates/web.yaml", template),
            ("apps/api/dev/kustomization.yaml", kustomization),
            ("apps/api/dev/config.yaml", &config_map("api", "x")),
            (WEB, &with("{}")),
        ],
    );
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    clone.commit("No longer", &[]);
    clone.push().success();
    // What a chart has by default, and nothing reads, is its own affair.
    assert!(!clone.hydrate(&["check"]).success().stdout.contains("nothing in the chart"));
    clone.commit(
        "Edits without effect",
        &[
            ("apps/web/dev/prod.yaml", "replicaCout: 8\n"),
            ("apps/web/dev/values.yaml", "replicaCount: 1\nunused: 1\nreplikaCount: 3\n"),
            ("apps/api/dev/kustomization.yaml", "resources: [config.yaml]\nimages: [{name: nginx, newTag: '2'}]\n"),
            (WEB, &with("{\n          owner: me}")),
        ],
    );
    let told = [
        "apps/web/dev/prod.yaml:1:1: warning: nothing in the chart reads the value `replicaCout` [ineffective]",
        "applications/dev/web.yaml:15:18: warning: nothing in the chart reads the value `owner` [ineffective]",
        "warning: no object has an image `nginx`, so nothing is changed [ineffective]",
    ];
    let check = clone.hydrate(&["check"]).success().stdout;
    assert!(told.iter().all(|line| check.contains(line)), "{check}");
    assert!(check.contains("did you mean `replicaCount`?") && !check.contains("replikaCount"), "{check}");
    for _ in 0..2 {
        let diff = clone.hydrate(&["diff"]);
        let diff = format!("{}{}", diff.stdout, diff.stderr);
        for text in ["`replicaCout`", "`owner`", "`replikaCount`", "an image `nginx`"] {
            assert!(diff.contains(text), "{text}: {diff}");
        }
        assert!(!diff.contains("`unused`"), "{diff}");
    }
    // So does the push that brings them, but for what a chart has by default, and not again.
    let heard = clone.push().success().remote().join("\n");
    assert!(["`replicaCout`", "`owner`", "an image `nginx`"].iter().all(|text| heard.contains(text)), "{heard}");
    assert!(heard.contains("--> apps/web/dev/prod.yaml:1:1\n") && !heard.contains("`unused`"), "{heard}");
    clone.commit("A value beside it", &[("apps/web/dev/prod.yaml", "replicaCout: 8\nreplicaCount: 4\n")]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains("1 object changed") && !heard.contains("nothing in the chart"), "{heard}");
    // A push that does not touch them says nothing of them.
    clone.commit("Something else", &[("NOTES", "text")]);
    let diff = clone.hydrate(&["diff"]).success();
    assert!(!format!("{}{}", diff.stdout, diff.stderr).contains("nothing in the chart"), "{diff:?}");
}

#[test]
fn a_value_that_a_changed_template_reads_no_more_is_said_at_the_line_of_the_template() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let template = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata:\n  level: {{{{ .Values.{name} | quote }}}}\n"
        )
    };
    let file = "apps/web/dev/templates/web.yaml";
    clone.commit(
        "A chart",
        &[
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/values.yaml", "logLevel: info\n"),
            (file, &template("logLevel")),
        ],
    );
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    clone.commit("No longer", &[]);
    clone.push().success();
    clone.commit("A slip", &[(file, &template("loglevel"))]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains("nothing in the chart reads the value `logLevel` any more"), "{heard}");
    assert!(heard.contains(&format!("--> {file}:5\n")) && heard.contains("`.Values.loglevel` is read here"), "{heard}");
    // Not again.
    clone.commit("Something else", &[("NOTES", "text")]);
    assert!(!clone.push().success().remote().join("\n").contains("any more"));
}
