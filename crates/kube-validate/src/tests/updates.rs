//! What a server says of a custom resource that takes the place of another one.

use go_yaml::{Limits, Value, sigs};

use crate::{Crds, Judge};

/// A definition whose `spec` has this schema.
fn judge(spec: &str) -> Judge {
    let text = format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: tests.example.com}}, spec: {{group: \
         example.com, scope: Namespaced, names: {{plural: tests, kind: Test}}, versions: [{{name: v1, served: true, storage: true, \
         schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}}}]}}}}"
    );
    let mut crds = Crds::new();
    crds.add(text.into_bytes());
    Judge::new(36, crds).expect("a minor that is known")
}

fn object(spec: &str) -> Value {
    let text = format!("{{apiVersion: example.com/v1, kind: Test, metadata: {{name: a}}, spec: {spec}}}");
    sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML")
}

/// Schema, the values of `spec` before and after, and the fields for which the change is refused.
const UPDATES: &[(&str, &str, &str, &str)] = &[
    (OWNED, "{owner: me, size: 3}", "{owner: me, size: 4}", ""),
    (OWNED, "{owner: me, size: 3}", "{owner: you, size: 3}", "spec.owner"),
    (REGION, "{size: 3}", "{size: 4}", "spec.region"),
    (REGION, "{size: 3}", "{size: 3}", ""),
    (LISTS, "{keyed: [{name: a, owner: me}]}", "{keyed: [{name: b, owner: us}, {name: a, owner: me}]}", ""),
    (
        LISTS,
        "{plain: [{name: a, owner: me}]}",
        "{plain: [{name: b, owner: us}, {name: a, owner: me}]}",
        "spec.plain[1].owner",
    ),
    (LISTS, "{plain: [{name: a, owner: me}], size: 1}", "{plain: [{name: a, owner: me}], size: 2}", ""),
    (FIXED, "{size: 3}", "{size: 4}", "spec.size"),
    (FIXED, "{size: 3, other: 1}", "{size: 3, other: 2}", ""),
    (FIXED, "{}", "{size: 4}", ""),
    (GROWS, "{size: 3}", "{size: 4}", ""),
    (GROWS, "{size: 3}", "{size: 2}", "spec"),
];

const OWNED: &str = "{type: object, properties: {size: {type: integer}, owner: {type: string, enum: [us, them]}}}";
const REGION: &str = "{type: object, required: [region], properties: {size: {type: integer}, region: {type: string}}}";
const LISTS: &str = "{type: object, properties: {size: {type: integer}, keyed: {type: array, x-kubernetes-list-type: map, \
     x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}, owner: {type: string, enum: [us]}}}}, \
     plain: {type: array, items: {type: object, properties: {name: {type: string}, owner: {type: string, enum: [us]}}}}}}";
const FIXED: &str = "{type: object, properties: {other: {type: integer}, size: {type: integer, x-kubernetes-validations: [{rule: self \
     == oldSelf, message: is fixed}]}}}";
const GROWS: &str = "{type: object, properties: {size: {type: integer}}, x-kubernetes-validations: [{rule: self.size >= \
     oldSelf.size}]}";

#[test]
fn parts_that_are_as_they_were_hold_and_rules_of_change_are_asked() {
    for (schema, old, new, expected) in UPDATES {
        let verdict = judge(schema).judge_update(&object(old), &object(new));
        let fields: Vec<&str> = verdict.findings.iter().map(|finding| finding.field.as_str()).collect();
        assert_eq!(fields.join(" "), *expected, "{schema} {old} {new}");
    }
}
