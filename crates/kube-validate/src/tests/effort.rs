//! Objects and CRDs that are made to take all time and memory there is.

use std::fmt::Write as _;

use go_yaml::{Limits, sigs};

use crate::{Crds, Effort, Judge, Verdict};

fn judge(schema: &str) -> Judge {
    let mut crds = Crds::new();
    crds.add(
        format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: tests.example.com}}, \
             spec: {{group: example.com, names: {{kind: Test, plural: tests}}, scope: Namespaced, versions: [{{name: v1, \
             served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {schema}}}}}}}}}]}}}}"
        )
        .into_bytes(),
    );
    Judge::new(36, crds).expect("a minor that is known")
}

fn judged(judge: &Judge, spec: &str) -> Verdict {
    let text = format!("{{apiVersion: example.com/v1, kind: Test, metadata: {{name: a}}, spec: {spec}}}");
    judge.judge(&sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML"))
}

fn is_given_up(verdict: &Verdict) -> bool {
    verdict.findings.iter().any(|finding| finding.rule == "not-judged")
}

/// A schema of a list of texts and a text, with a rule.
fn with_rule(rule: &str) -> String {
    format!(
        "{{type: object, properties: {{l: {{type: array, items: {{type: string}}}}, s: {{type: string}}}}, \
         x-kubernetes-validations: [{{rule: {rule:?}}}]}}"
    )
}

/// So many texts of so many bytes, as a list in YAML.
fn texts(count: usize, bytes: usize) -> String {
    let mut list = String::from("[");
    for index in 0..count {
        let _ = write!(list, "'{index:0bytes$}', ");
    }
    list + "]"
}

#[test]
fn an_expression_that_would_take_all_memory_is_counted_and_not_evaluated() {
    let doubled = |times: usize| format!("[self.s]{}.size() > 1", ".map(x, x + x)".repeat(times));
    let pairs = |times: usize| format!("self.l{}.size() > 1", ".map(x, [x, x])".repeat(times));
    let sum = format!("self.l.map(x, {}).size() > 1", ["self.s"; 18].join(" + "));
    let pattern = "self.l.all(x, x.matches('(a{1,500}){1,500}'))".to_owned();
    let nested = "self.l.all(x, self.l.all(y, self.l.all(z, x + y != z)))".to_owned();
    let unknown = "self.l.all(x, x.matches(self.s))".to_owned();
    let spec = format!("{{l: {}, s: '{:020000}'}}", texts(2_000, 20), 0);
    for rule in [doubled(40), pairs(20), sum, pattern, nested, unknown] {
        let verdict = judged(&judge(&with_rule(&rule)), &spec);
        assert_eq!((verdict.expressions_unjudged, verdict.findings.len()), (1, 0), "{rule}");
    }
}

#[test]
fn expressions_as_people_write_them_are_evaluated_over_large_objects() {
    let spec = format!("{{l: {}, s: abc}}", texts(2_000, 20));
    for (rule, is_met) in [
        ("self.l.all(x, x.size() == 20)", true),
        ("self.l.exists(x, x.startsWith('9'))", false),
        ("self.l.filter(x, x.endsWith('7')).size() == 200", true),
        ("self.l.map(x, x + '-' + self.s).all(x, x.size() == 24)", true),
        ("self.s.matches('^[a-z]{1,63}$') && (self.s + 'x').size() == 4", true),
        ("has(self.s) && self.s in ['abc', 'def'] ? self.l.size() > 1000 : false", true),
        ("self.l.exists_one(x, x.endsWith('0001999'))", true),
    ] {
        let verdict = judged(&judge(&with_rule(rule)), &spec);
        assert_eq!((verdict.expressions_unjudged, verdict.is_refused()), (0, !is_met), "{rule}: {verdict:?}");
    }
}

#[test]
fn an_object_that_takes_too_long_is_not_judged_and_not_refused() {
    let patterns: Vec<String> =
        (0..400).map(|index| format!("{{pattern: '^([a-z]|[x0-9]){{0,300}}q{index}$'}}")).collect();
    let many_patterns = format!("{{type: array, items: {{type: string, anyOf: [{}]}}}}", patterns.join(", "));
    let large_default = format!(
        "{{type: array, items: {{type: object, properties: {{a: {{type: array, items: {{type: string}}, default: {}}}}}}}}}",
        texts(2_000, 20)
    );
    let fields: Vec<String> = (0..2_000).map(|index| format!("field{index}: {{type: string}}")).collect();
    let many_fields = format!("{{type: array, items: {{type: object, properties: {{{}}}}}}}", fields.join(", "));
    let many_rules = format!(
        "{{type: array, items: {{type: string}}, x-kubernetes-validations: [{}]}}",
        (0..5_000).map(|index| format!("{{rule: 'self.size() > {index}'}}")).collect::<Vec<_>>().join(", ")
    );
    let none_of = format!("{{type: array, items: {{type: string, not: {{anyOf: [{}]}}}}}}", patterns.join(", "));
    for (schema, spec) in [
        (many_patterns, texts(4_000, 200)),
        (none_of, texts(4_000, 200)),
        (large_default, format!("[{}]", "{}, ".repeat(20_000))),
        (many_fields, format!("[{}]", "{fild: a}, ".repeat(20_000))),
        (many_rules, texts(20_000, 20)),
    ] {
        let verdict = judged(&judge(&schema), &spec);
        assert!(is_given_up(&verdict) && !verdict.is_refused(), "{verdict:?}");
    }
}

#[test]
fn judges_share_what_they_may_take() {
    let effort = Effort::steps(3_000);
    let schema = with_rule("self.l.size() > 1");
    let [one, other] = [judge(&schema).with(&effort), judge(&schema).with(&effort)];
    let spec = format!("{{l: {}, s: abc}}", texts(100, 20));
    let accepted = Verdict { is_namespaced: Some(true), ..Verdict::default() };
    assert_eq!(judged(&one, &spec), accepted);
    assert!(is_given_up(&judged(&other, &spec)));
    // Whatever came before it, an object that is small enough is not in the way of another judge.
    assert_eq!(judged(&judge(&schema), &spec), accepted);
}
