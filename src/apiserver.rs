//! What the API server of a cluster would say of objects, asked before they get there.
//!
//! A [`Server`] is that of the cluster of an Application, by the settings. It judges manifests, and [`Server::since`] tells what is
//! new from what was there before.
//!
//! Leaves to others: which objects are judged, where CRDs are, and who reads it.
//!
//! Never: a byte of a branch depends on it.

mod field;
mod sentences;
mod since;

use std::collections::{BTreeSet, HashSet};

use kube_validate::{Crds, Finding, Judge, Reason, Severity, Verdict};

use crate::argo::Application;
use crate::diff::{HIDDEN, ObjectName, is_secret};
use crate::manifest::{self, Key, Manifest};
use crate::settings::{Settings, Validate};
use crate::versions::Kubernetes;

use field::SaidWhere;
pub(crate) use field::field_path;
pub(crate) use sentences::{Answers, One, Sentence};

/// The API server of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server<'s> {
    /// The minor of Kubernetes that it judges as: 36 of 1.36.
    minor: u8,
    /// What becomes of what it would refuse.
    pub validate: Validate,
    /// Names of warnings that are not reported.
    silent: &'s [String],
    /// Whether objects that name no namespace get none: the Application says none for them.
    gives_no_namespace: bool,
}

/// The rule that an object of a namespace says which, where its Application does not.
pub(crate) const NO_NAMESPACE: &str = "no-namespace";

/// What a server says of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The object.
    pub object: ObjectName,
    /// What it is refused for, and warnings. Empty where no schema of the kind is known, and nothing else is said.
    pub findings: Vec<Said>,
    /// Whether no schema of the kind is known.
    pub is_unknown_kind: bool,
}

/// One thing that a server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// What it says.
    pub finding: Finding,
    /// Whether it would have said the same of the object before a change.
    pub was_before: bool,
}

impl Answer {
    /// The API group of the object; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.object.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }
}

impl<'s> Server<'s> {
    /// That of the cluster which an Application is deployed to, as far as that is known, else the newest. None where the setting
    /// `validate` says that nothing is judged, and for a version that is too old to be known.
    pub(crate) fn of(application: &Application, settings: &'s Settings) -> Option<Self> {
        let (branch, sync) = (application.environment_branch(), &application.sync_branch);
        let validate = settings.validate.of(branch, sync).copied().unwrap_or_default();
        let known = application.kube_version().and_then(|version| version.parse().ok());
        let kubernetes = known.or_else(|| settings.kubernetes.of(branch, sync).copied());
        let server = Self::running(kubernetes.unwrap_or(Kubernetes::NEWEST), settings)?;
        (validate != Validate::Off).then_some(Self { validate, ..server }.for_objects_of(application))
    }

    /// The server for objects that are deployed as an Application says.
    pub(crate) fn for_objects_of(self, application: &Application) -> Self {
        let namespace = application.destination_namespace.as_deref().unwrap_or_default();
        Self { gives_no_namespace: namespace.is_empty(), ..self }
    }

    /// One of a version, of whose refusals all count.
    pub(crate) fn running(kubernetes: Kubernetes, settings: &'s Settings) -> Option<Self> {
        let minor = kubernetes.judged_as()?;
        let silent = &settings.silent_warnings;
        Some(Self { minor, validate: Validate::Refuse, silent, gives_no_namespace: false })
    }

    /// `Kubernetes 1.36`
    pub(crate) fn name(&self) -> String {
        format!("Kubernetes 1.{}", self.minor)
    }

    /// What judges objects whose kinds these CRDs define, beside those of Kubernetes itself.
    pub(crate) fn judge(&self, crds: Crds) -> Judge {
        Judge::new(self.minor, crds).expect("a server is of a minor that is known")
    }

    /// What is said of objects, in their order; those of which nothing is to be said are left out.
    pub(crate) fn answers<'m>(&self, judge: &Judge, manifests: impl IntoIterator<Item = &'m Manifest>) -> Vec<Answer> {
        manifests.into_iter().filter_map(|manifest| self.answer(judge, manifest)).collect()
    }

    /// What is said of objects, in their order, those included of which nothing is to be said: their change may be another matter.
    pub(crate) fn all_answers<'m>(
        &self,
        judge: &Judge,
        manifests: impl IntoIterator<Item = &'m Manifest>,
    ) -> Vec<Answer> {
        let nothing =
            |manifest| Answer { object: ObjectName::of(manifest), findings: Vec::new(), is_unknown_kind: false };
        let all = manifests.into_iter();
        all.map(|manifest| self.answer(judge, manifest).unwrap_or_else(|| nothing(manifest))).collect()
    }

    fn answer(&self, judge: &Judge, manifest: &Manifest) -> Option<Answer> {
        self.answer_over(judge, None, manifest)
    }

    /// What is said of an object that takes the place of another one.
    fn answer_over(&self, judge: &Judge, old: Option<&Manifest>, manifest: &Manifest) -> Option<Answer> {
        let verdict = match old {
            Some(old) => judge.judge_update(old.object(), manifest.object()),
            None => judge.judge(manifest.object()),
        };
        let is_told = |finding: &Finding| !self.silent.iter().any(|name| name == finding.rule);
        let without = self.lacks_namespace(manifest, &verdict).then(no_namespace);
        let findings = without_meant(verdict.findings).into_iter().chain(without).filter(is_told);
        let findings = findings.map(|finding| if is_secret(manifest) { without_value(finding) } else { finding });
        let findings: Vec<Said> = findings.map(|finding| Said { finding, was_before: false }).collect();
        let is_unknown_kind = verdict.is_unknown_kind;
        let object = || ObjectName::of(manifest);
        (is_unknown_kind || !findings.is_empty()).then(|| Answer { object: object(), findings, is_unknown_kind })
    }
}

impl Server<'_> {
    /// Whether an object is in a namespace, and nothing says which. Of a kind that is not known, or not served, it is not.
    fn lacks_namespace(&self, manifest: &Manifest, verdict: &Verdict) -> bool {
        let is_known = !verdict.is_unknown_kind && manifest.kind() != "List";
        let is_served = || verdict.findings.iter().all(|finding| finding.reason != Reason::NotServed);
        let is_namespaced = || match verdict.is_namespaced {
            Some(is_namespaced) => is_namespaced,
            None => is_served() && !manifest::is_cluster_kind(manifest.group(), manifest.kind()),
        };
        self.gives_no_namespace && manifest.namespace().is_empty() && is_known && is_namespaced()
    }
}

/// Reference: argo-cd 3.4 controller/state.go `CompareAppState` ("Namespace for … is missing", a condition `InvalidSpecError`) and
/// sync.go `SyncAppState`: with such a condition nothing of the Application is synced.
fn no_namespace() -> Finding {
    Finding {
        field: "metadata.namespace".to_owned(),
        rule: NO_NAMESPACE,
        reason: Reason::Required,
        message: "is not set, and neither is `spec.destination.namespace` of the Application".to_owned(),
        severity: Severity::Refused,
        meant: None,
        key: None,
    }
}

/// What is said, but for fields that must be set where one was probably meant to be them: that is one mistake.
fn without_meant(mut findings: Vec<Finding>) -> Vec<Finding> {
    let meant = findings.iter().filter_map(|finding| {
        let (parent, _) = finding.field.rsplit_once('.').unwrap_or_default();
        let name = finding.meant.as_ref()?;
        Some(if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") })
    });
    let meant: HashSet<String> = meant.collect();
    findings.retain(|finding| finding.reason != Reason::Required || !meant.contains(&finding.field));
    findings
}

/// The CRDs among manifests whose group others of them have.
pub(crate) fn own_crds(manifests: &[Manifest]) -> Crds {
    let groups: BTreeSet<&str> = manifests.iter().map(Manifest::group).collect();
    let mut crds = Crds::new();
    for manifest in manifests.iter().filter(|manifest| manifest.kind() == "CustomResourceDefinition") {
        let key = manifest.key();
        if key.as_ref().and_then(Key::defined_group).is_some_and(|group| groups.contains(group)) {
            crds.add(manifest::encode(std::slice::from_ref(manifest)));
        }
    }
    crds
}

/// What is said of a Secret, without the value that it is said of.
fn without_value(finding: Finding) -> Finding {
    // What Kubernetes names objects by is not a value.
    if matches!(finding.field.as_str(), "apiVersion" | "kind" | "metadata.name" | "metadata.namespace") {
        return finding;
    }
    let is_data = ["data", "stringData"].iter().any(|field| finding.field.starts_with(field));
    let message = match finding.message.split_once(", not ") {
        Some((message, _)) if is_data => message,
        _ => finding.message.as_str(),
    };
    let message = match message.strip_prefix("is `") {
        // A value may have such quotes in it.
        Some(quoted) => match quoted.rfind('`').filter(|_| !quoted.contains("` or `")) {
            Some(end) if is_sentence_end(quoted.get(end + 1..)) => {
                format!("is {HIDDEN}{}", quoted.get(end + 1..).unwrap_or_default())
            }
            _ => format!("is {HIDDEN}, and not valid"),
        },
        None => message.to_owned(),
    };
    Finding { message, ..finding }
}

fn is_sentence_end(rest: Option<&str>) -> bool {
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ',']))
}

#[cfg(test)]
mod tests;
