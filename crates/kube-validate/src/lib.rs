//! What a Kubernetes API server would refuse of an object, and what it would let pass though people would want to hear of it.
//!
//! [`Judge`] knows the API of the last eight minors ([`MINORS`]) and the CRDs that it is given. It asks what a server asks under
//! strict field validation, in this order: is the kind served; are the fields those of its type; do their values hold what the
//! schema says; and do the rules hold that no schema has. The rules are one table, `rules/table.rs`, by types of the API.
//!
//! Guarantees: no object makes it panic, or take more than an [`Effort`] allows. It opens no file and no connection.
//!
//! Limits: of expressions of CEL those of custom resources are judged that the crate `cel` evaluates; how many were not is said. In
//! CRDs and admission policies as objects, their syntax, names and patterns are judged, neither types nor cost, and each counts as
//! one that was not. What depends on a cluster, such as whether a namespace, a port of a node or a class exists, is not asked.
//!
//! Measured against kube-apiserver 1.36.3; the tests of this crate have cases of its answers.
//!
//! ```
//! use go_yaml::{Limits, sigs};
//! use kube_validate::{Crds, Judge};
//!
//! let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {port: 80}\n";
//! let object = sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML");
//! let judge = Judge::new(36, Crds::new()).expect("a minor that is known");
//! let verdict = judge.judge(&object);
//! assert!(verdict.is_refused());
//! assert_eq!(verdict.findings[0].field, "data[port]");
//! ```
#![forbid(unsafe_code)]

mod cel;
mod crds;
mod cron;
mod custom;
mod effort;
mod excerpt;
mod fields;
mod finding;
mod formats;
mod names;
mod nearest;
mod quantity;
mod rules;
mod schemas;
mod update;
mod walk;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use go_yaml::{Mapping, Value};

pub use crds::Crds;
pub use effort::Effort;
pub use finding::{Finding, Reason, Severity};
pub use schemas::MINORS;
pub use update::stored;

use cel::Expressions;
use crds::{Group, Read};
use custom::Patterns;
use finding::{Findings, shown};
use nearest::nearest;
use rules::Context;
use schemas::Schemas;
use walk::Walk;

/// The names of all warnings, each with its consequence, in the order of names.
pub const WARNINGS: &[(&str, &str)] = rules::WARNINGS;

/// What it takes to say that an object is not judged.
const OBJECT_UNJUDGED: u64 = 1_000;

/// Judges objects for one cluster.
#[derive(Debug)]
pub struct Judge {
    minor: u8,
    schemas: &'static Schemas,
    crds: Crds,
    read: RefCell<Read>,
    patterns: Patterns,
    expressions: Expressions,
    effort: Effort,
}

/// What is to be said of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// In the order of the object's fields.
    pub findings: Vec<Finding>,
    /// Whether no schema of the kind is known, so that nothing but this is said.
    pub is_unknown_kind: bool,
    /// Whether objects of the kind are in namespaces, where a CRD says so; none of Kubernetes' own kinds.
    pub is_namespaced: Option<bool>,
    /// Expressions of CEL that a server would evaluate for the object, or compile, and that were not judged as a whole.
    pub expressions_unjudged: usize,
}

impl Verdict {
    /// Whether a server would refuse the object.
    pub fn is_refused(&self) -> bool {
        self.findings.iter().any(Finding::is_refusal)
    }
}

impl Judge {
    /// For Kubernetes 1.`minor` and its CRDs; `None` for a minor that is not in [`MINORS`].
    pub fn new(minor: u8, crds: Crds) -> Option<Self> {
        let schemas = Schemas::of(minor)?;
        Some(Self {
            minor,
            schemas,
            crds,
            read: RefCell::default(),
            patterns: Patterns::default(),
            expressions: Expressions::default(),
            effort: Effort::default(),
        })
    }

    /// The judge, by what it may take together with others that have the same effort.
    #[must_use]
    pub fn with(self, effort: &Effort) -> Self {
        Self { effort: effort.clone(), ..self }
    }

    /// Judges one object, or each of a `List`.
    pub fn judge(&self, object: &Value) -> Verdict {
        self.judge_over(object, None)
    }

    /// Judges an object that takes the place of another one, which the server has. Of a custom resource, parts that are as they were
    /// hold whatever the schema says, and rules on how a value may change (`oldSelf`) are asked. All else is judged as if it were new.
    ///
    /// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions, "Validation ratcheting",
    /// "Transition rules".
    pub fn judge_update(&self, old: &Value, object: &Value) -> Verdict {
        self.judge_over(object, old.as_mapping())
    }

    fn judge_over(&self, object: &Value, old: Option<&Mapping>) -> Verdict {
        let mut verdict = Verdict::default();
        let most = self.effort.of_object();
        let mut out = Findings::within_steps(most);
        match object.as_mapping() {
            Some(object) => self.object(object, old, &mut verdict, &mut out),
            None => walk::mistyped("a mapping", object, &mut out),
        }
        self.effort.spend(most - out.left());
        // What was not looked at may be what a choice is met by.
        if out.is_spent() {
            verdict = Verdict::default();
            out = Findings::within_steps(OBJECT_UNJUDGED);
            out.warn("", "not-judged", "is not judged: that would take too long");
        }
        verdict.expressions_unjudged += out.unjudged;
        verdict.findings = out.all;
        verdict
    }

    fn object(&self, object: &Mapping, old: Option<&Mapping>, verdict: &mut Verdict, out: &mut Findings) {
        let (api_version, kind) = (fields::text(object, "apiVersion"), fields::text(object, "kind"));
        if api_version.is_empty() || kind.is_empty() {
            let field = if api_version.is_empty() { ".apiVersion" } else { ".kind" };
            return out.refuse(field, "untyped", Reason::NotServed, "must be set");
        }
        if (api_version, kind) == ("v1", "List") {
            let items = fields::items(object, "items");
            return items.for_each(|(index, item)| {
                out.within(format_args!(".items[{index}]"), |out| self.object(item, None, verdict, out))
            });
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let context = Context { minor: self.minor, group, kind, root: object };
        if let Some(definition) = self.schemas.kind(group, version, kind).filter(|_| schemas::is_on(group, version)) {
            let walk = Walk { schemas: self.schemas, context };
            walk.object(definition, object, false, out);
            return rules::metadata(&context, false, out);
        }
        if self.schemas.has_group(group) && !group.contains("gateway") {
            return self.not_served(group, version, kind, None, out);
        }
        let mut read = self.read.borrow_mut();
        let defined = read.group(&self.crds, group, kind);
        if let Some(found) = defined.version(version, kind) {
            verdict.is_namespaced = Some(found.is_namespaced);
            verdict.expressions_unjudged += self.custom(&context, found, (object, old), out);
        } else if let Some(meant) = defined.kind_of_name(kind).filter(|meant| *meant != kind) {
            let text =
                format!("is {}, which {} does not serve; did you mean {}?", shown(kind), shown(group), shown(meant));
            out.refuse(".kind", "not-served", Reason::NotServed, text);
        } else if self.crds.is_all() || defined.has_kind(kind) || self.is_impossible(group, kind, defined) {
            self.not_served(group, version, kind, defined.newest(kind), out);
        } else {
            // A CRD that is not known may serve another kind of the group.
            verdict.is_unknown_kind = true;
        }
    }

    /// Whether no CRD can serve a kind in a group, so that its name is a slip: a group of CRDs has a dot; those of Kubernetes' own
    /// domains are for others to define, and none that is not known has a kind of Kubernetes' own.
    fn is_impossible(&self, group: &str, kind: &str, defined: &Group) -> bool {
        let is_reserved = [".k8s.io", ".kubernetes.io", ".k8s"].iter().any(|domain| group.ends_with(domain));
        !group.contains('.') || is_reserved && defined.is_empty() && self.schemas.served(kind).next().is_some()
    }

    fn custom(
        &self,
        context: &Context<'_>,
        version: &crds::Version,
        (object, old): (&Mapping, Option<&Mapping>),
        out: &mut Findings,
    ) -> usize {
        if let Some(text) = &version.deprecation {
            out.warn("", "api-deprecated", text.clone());
        }
        let walk = Walk { schemas: self.schemas, context: *context };
        let metadata_of = |metadata: &Value, out: &mut Findings| match (
            metadata.as_mapping(),
            self.schemas.named("meta.v1.ObjectMeta"),
        ) {
            (Some(metadata), Some(definition)) => walk.object(definition, metadata, false, out),
            _ => walk::mistyped("a mapping", metadata, out),
        };
        if let Some(metadata) = object.get("metadata").filter(|metadata| !metadata.is_null()) {
            out.within(".metadata", |out| metadata_of(metadata, out));
        }
        rules::metadata(context, true, out);
        let Some(schema) = &version.schema else { return 0 };
        if !out.take(custom::size(object.values())) {
            return 0;
        }
        let mut whole = Value::Mapping(object.clone());
        custom::unknown_fields(schema, &whole, true, &metadata_of, out);
        if version.drops_status
            && let Value::Mapping(object) = &mut whole
        {
            object.remove("status");
        }
        custom::set_defaults(schema, &mut whole, 100, out);
        let mut before = old.map(|old| Value::Mapping(old.clone()));
        if let Some(before) = &mut before {
            if !out.take(custom::size([&*before].into_iter())) {
                return 0;
            }
            custom::set_defaults(schema, before, 100, out);
        }
        custom::value(schema, &whole, before.as_ref(), &self.patterns, out);
        // A server asks for them where all else holds.
        if out.all.iter().any(Finding::is_refusal) {
            return 0;
        }
        self.expressions.judge(schema, &whole, before.as_ref(), out)
    }

    /// `defined` is the newest version that a CRD serves the kind in.
    fn not_served(&self, group: &str, version: &str, kind: &str, defined: Option<&str>, out: &mut Findings) {
        // The group first that is written, and the newest version first.
        let mut served: Vec<(&str, &str)> = self.schemas.served(kind).collect();
        served.extend(defined.map(|version| (group, version)));
        served.sort_by_key(|(of, version)| (*of != group, *of, std::cmp::Reverse(*version)));
        let api_version = joined(group, version);
        let by = format!("Kubernetes 1.{}", self.minor);
        let no_version = format!("is {}, in which {by} serves no kind {}", shown(&api_version), shown(kind));
        let meant = || nearest(self.schemas.kinds_in(group, version), kind);
        let (field, message) = match served.first() {
            Some((group, version)) => {
                (".apiVersion", format!("{no_version}; {kind} is served in {}", shown(&joined(group, version))))
            }
            None => match meant() {
                Some(meant) => {
                    let no_kind = format!("is {}, which {by} does not serve in {}", shown(kind), shown(&api_version));
                    (".kind", format!("{no_kind}; did you mean {}?", shown(meant)))
                }
                None => (".apiVersion", no_version),
            },
        };
        out.refuse(field, "not-served", Reason::NotServed, message);
    }
}

fn joined(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
