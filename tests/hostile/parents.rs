//! Applications that render Applications: without end, in a circle, by the thousand.

use super::costs::limited;
use super::records::settings;
use super::{Case, Dry, RENDERS};

const URL: &str = "https://git.example.com/dry.git";

/// An Application in a chart, whose name, source and destination are templates; `options` belong to its source.
fn made(name: &str, path: &str, options: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: '{name}'}}\nspec:\n  sourceHydrator:\n    \
         drySource: {{repoURL: {URL}, targetRevision: main, path: {path}{options}}}\n    syncSource: {{targetBranch: \
         environments/dev, path: '{name}'}}\n"
    )
}

/// Hands a number that grows to the next chart.
const NEXT: &str = ", helm: {parameters: [{name: count, value: '{{ add1 (int .Values.count) }}'}]}";

fn chart(dry: &mut Dry, template: impl AsRef<[u8]>) {
    dry.chart(template);
    dry.file("apps/x/dev/values.yaml", "count: 0\n");
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "an Application that makes itself",
        expected: "`x-dev` is made by Application `x-dev`, and there is another Application of that name",
        build: |dry| chart(dry, made("x-dev", "apps/x/dev", NEXT)),
    },
    Case {
        name: "Applications that make one another in a circle",
        expected: "and there is another Application of that name",
        build: |dry| {
            chart(dry, made("y", "apps/y", ""));
            dry.file("apps/y/Chart.yaml", "apiVersion: v2\nname: y\nversion: 1.0.0\n");
            dry.file("apps/y/templates/x.yaml", made("x-dev", "apps/x/dev", ", helm: {releaseName: other}"));
        },
    },
    Case {
        name: "a row of Applications without end",
        expected: "Applications that make each other are nested 8 deep; the setting limits.madeDepth sets the limit",
        build: |dry| chart(dry, made("x-{{ add1 (int .Values.count) }}", "apps/x/dev", NEXT)),
    },
    Case {
        name: "Applications that make four more each, without end",
        expected: "a dry tree has more than 1000 Applications that may make others; the setting limits.makers sets the limit",
        build: |dry| {
            let next = ", helm: {parameters: [{name: count, value: '{{ $.Values.count }}{{ . }}', forceString: true}]}";
            let template = made("x-{{ $.Values.count }}{{ . }}", "apps/x/dev", next);
            chart(dry, format!("{{{{- range until 4 }}}}\n---\n{template}{{{{ end }}}}"));
        },
    },
    Case {
        name: "a set that makes Applications which render the set",
        expected: "Applications that make each other are nested 8 deep; the setting limits.madeDepth sets the limit",
        build: |dry| {
            let name = "x-{{ add1 (int .Values.count) }}-{{ `{{who}}` }}";
            let of_set = made(name, "apps/x/dev", NEXT);
            let template = of_set.lines().skip(2).map(|line| format!("    {line}\n")).collect::<String>();
            chart(
                dry,
                format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: 's-{{{{ .Values.count }}}}'}}\nspec:\n  \
                     generators: [{{list: {{elements: [{{who: a}}]}}}}]\n  template:\n{template}"
                ),
            );
        },
    },
    Case {
        name: "a set that is rendered and cannot be answered",
        expected: "ApplicationSet `s` makes no Applications: ",
        build: |dry| {
            let template = made("{{ `{{name}}` }}", "apps/x/dev", "");
            let template = template.lines().skip(2).map(|line| format!("    {line}\n")).collect::<String>();
            chart(
                dry,
                format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  generators: \
                     [{{clusters: {{}}}}]\n  template:\n{template}"
                ),
            );
        },
    },
    Case {
        // By the limit of time on a slow machine, by that of bytes on a fast one.
        name: "a parent that renders without end",
        expected: "not made: ",
        build: |dry| {
            limited(dry);
            let template = made("never", "apps/x/dev", "");
            let again = "{{- range until 10000 }}{{ range until 10000 }}{{ $_ := sha256sum (repeat 100000 \"a\") }}{{ end }}{{ end }}\n";
            chart(dry, format!("{again}{template}"));
        },
    },
    Case {
        name: "a set whose template has no end",
        expected: "ApplicationSet `s` makes no Applications: ",
        build: |dry| {
            let name =
                "{{ range until 10000 }}{{ range until 10000 }}{{ $_ := repeat 100000 \"a\" }}{{ end }}{{ end }}";
            let template = made(name, "apps/x/dev", "");
            let template = template.lines().skip(2).map(|line| format!("    {line}\n")).collect::<String>();
            dry.file(
                "set.yaml",
                format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  goTemplate: true\n  \
                     generators: [{{list: {{elements: [{{who: a}}]}}}}]\n  template:\n{template}"
                ),
            );
        },
    },
    Case {
        name: "a root that renders without end",
        expected: "root `r` makes no Applications: ",
        build: |dry| {
            settings(dry, format!("repoURL: {URL}\nmadeApplications: true\nroots: [{{name: r, path: root}}]\n"));
            dry.file("root/Chart.yaml", "apiVersion: v2\nname: r\nversion: 1.0.0\n");
            dry.file(
                "root/templates/t.yaml",
                "{{ range until 10000 }}{{ range until 10000 }}{{ $_ := repeat 100000 \"a\" }}{{ end }}{{ end }}",
            );
        },
    },
    Case {
        name: "an Application of wrong fields",
        expected: "`spec.sourceHydrator` must be a mapping",
        build: |dry| {
            chart(
                dry,
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {sourceHydrator: [1]}\n",
            )
        },
    },
    Case {
        name: "a template of one line of 1 MB",
        expected: RENDERS,
        build: |dry| {
            let long = "a".repeat(1_000_000);
            let text = format!(
                "{{\"apiVersion\": \"argoproj.io/v1alpha1\", \"kind\": \"Application\", \"metadata\": {{\"name\": \"y\", \"labels\": {{\"x\": \"{long}\"}}}}, \
                 \"spec\": {{\"sourceHydrator\": {{\"drySource\": {{\"repoURL\": \"{URL}\", \"targetRevision\": \"main\", \"path\": \"apps/stable/prod\"}}, \
                 \"syncSource\": {{\"targetBranch\": \"environments/dev\", \"path\": \"y\"}}}}}}}}\n"
            );
            chart(dry, text);
        },
    },
    Case {
        name: "5,000 Applications from a template of 8 KB",
        expected: RENDERS,
        build: |dry| {
            let template = made("x-{{ . }}", "apps/stable/prod", "");
            let long = format!("# {}\n", "long ".repeat(1_500));
            chart(dry, format!("{{{{- range until 5000 }}}}\n---\n{template}{long}{{{{ end }}}}"));
        },
    },
    Case { name: "1,000 Applications from one parent", expected: RENDERS, build: |dry| many(dry, 1_000) },
    Case { name: "10,000 Applications from one parent", expected: RENDERS, build: |dry| many(dry, 10_000) },
];

fn many(dry: &mut Dry, count: usize) {
    let template = made("x-{{ . }}", "apps/stable/prod", "");
    chart(dry, format!("{{{{- range until {count} }}}}\n---\n{template}{{{{ end }}}}"));
}
