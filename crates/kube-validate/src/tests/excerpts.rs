//! An object is judged by the excerpt of a CRD as by the CRD.

use go_yaml::{Limits, Value, sigs};

use crate::{Crds, Judge};

const TEXT: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: of example.com, annotations: {kind: Test}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tests.example.com}
spec:
  group: example.com
  names: {kind: Test, plural: tests, shortNames: [te]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        description: A test.
        required: [spec]
        properties:
          status: {type: object, properties: {a: {type: string}}}
          spec:
            type: object
            description: What is wanted.
            required: [description]
            properties:
              description: {type: string, description: In words., maxLength: 5}
              size: {type: integer, default: 1, description: In metres., maximum: 3}
              any: {anyOf: [{type: integer, description: A number.}, {type: string}], x-kubernetes-int-or-string: true}
              list: {type: array, items: {type: object, description: One., properties: {a: {type: string, enum: [x]}}}}
              map: {type: object, additionalProperties: {type: object, description: One., properties: {a: {type: boolean}}}}
            x-kubernetes-validations: [{rule: self.size != 2, message: may not be two}]
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    deprecationWarning: old
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: number, default: 1.0}}}}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec:
  group: example.com
  names: {kind: Other, plural: others}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
";

const SPECS: &[&str] = &[
    "{description: a}",
    "{}",
    "{description: in words, size: 4}",
    "{description: a, size: 2}",
    "{description: a, sise: 1}",
    "{description: a, any: true}",
    "{description: a, list: [{a: x}, {a: y, b: z}]}",
    "{description: a, map: {k: {a: 1, b: 2}}}",
    "[]",
];

fn crds(text: &str) -> Crds {
    let mut crds = Crds::new();
    crds.add(text.as_bytes().to_vec());
    crds
}

fn object(version: &str, spec: &str) -> Value {
    let text = format!(
        "{{apiVersion: example.com/{version}, kind: Test, metadata: {{name: a}}, spec: {spec}, status: {{a: b}}}}"
    );
    sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML")
}

#[test]
fn an_object_is_judged_by_an_excerpt_as_by_all_crds() {
    for version in ["v1", "v1beta1"] {
        let excerpt = crds(TEXT).excerpt("example.com", version, "Test").expect("served");
        assert!(excerpt.len() * 2 < TEXT.len(), "{}", String::from_utf8_lossy(&excerpt));
        let mut excerpts = Crds::new();
        excerpts.add(excerpt);
        let [whole, short] = [crds(TEXT), excerpts].map(|crds| Judge::new(36, crds).expect("a minor that is known"));
        for spec in SPECS {
            let object = object(version, spec);
            assert_eq!(whole.judge(&object), short.judge(&object), "{version} {spec}");
            assert_eq!(whole.judge_update(&object, &object), short.judge_update(&object, &object), "{version} {spec}");
        }
    }
}

#[test]
fn there_is_no_excerpt_of_what_is_not_served_or_cannot_be_written_as_it_is() {
    let rows = [
        ("example.com", "v1", "Other", true),
        ("example.com", "v1", "Nothing", false),
        ("example.com", "v1", "ConfigMap", false),
        ("example.com", "v1alpha1", "Test", false),
        ("example.com", "v3", "Test", false),
        ("example.org", "v1", "Test", false),
        // JSON has no 1.0.
        ("example.com", "v2", "Test", false),
    ];
    for (group, version, kind, expected) in rows {
        assert_eq!(crds(TEXT).excerpt(group, version, kind).is_some(), expected, "{group}/{version} {kind}");
    }
}

#[test]
fn of_several_crds_of_a_kind_the_last_one_counts() {
    let text = format!("{TEXT}---\n{}", TEXT.replace("maximum: 3", "maximum: 30"));
    let mut excerpts = Crds::new();
    excerpts.add(crds(&text).excerpt("example.com", "v1", "Test").expect("served"));
    let judge = Judge::new(36, excerpts).expect("a minor that is known");
    assert_eq!(judge.judge(&object("v1", "{description: a, size: 30}")).findings, []);
}
