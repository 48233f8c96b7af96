//! Dangers as they are shown: the worst first, equal ones together.

use std::collections::BTreeMap;

use dry_files::diag::more::listed;

use crate::diff::{Danger, ObjectName};

/// A danger, and the objects that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DangerGroup<'a> {
    /// The danger.
    pub danger: &'a Danger,
    /// The objects, in their order: at least one.
    pub objects: Vec<&'a ObjectName>,
}

/// How many objects of a group are named; the rest is counted.
const NAMED_MAX: usize = 5;

/// How many objects of several kinds are named together.
const FEW_MAX: usize = 4;

impl<'a> DangerGroup<'a> {
    /// The groups of what was found, in the order of [`Danger`]; those with objects of many kinds by kind.
    pub(super) fn of(found: impl IntoIterator<Item = (&'a Danger, &'a ObjectName)>) -> Vec<Self> {
        let mut groups: BTreeMap<&Danger, Vec<&ObjectName>> = BTreeMap::new();
        for (danger, object) in found {
            groups.entry(danger).or_default().push(object);
        }
        let mut found = Vec::new();
        for (danger, objects) in groups {
            if objects.len() <= FEW_MAX {
                found.push(Self { danger, objects });
                continue;
            }
            let mut kinds: BTreeMap<&str, Vec<&ObjectName>> = BTreeMap::new();
            for object in objects {
                kinds.entry(&object.kind).or_default().push(object);
            }
            found.extend(kinds.into_values().map(|objects| Self { danger, objects }));
        }
        found
    }

    fn is_of_one_kind(&self) -> bool {
        let first = self.objects.first().map(|object| &object.kind);
        self.objects.iter().all(|object| Some(&object.kind) == first)
    }

    /// `Deployment shop/web`; `48 Jobs`; `ConfigMap shop/web, Service shop/web`.
    pub(crate) fn subject(&self) -> String {
        match &self.objects[..] {
            [object] => object.to_string(),
            objects if self.is_of_one_kind() => {
                format!("{} {}", objects.len(), plural(objects.first().map_or("", |object| &object.kind)))
            }
            objects => objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        }
    }

    /// What follows a subject that is a count, since what is said is said of one: `, each`.
    pub(crate) fn each(&self) -> &'static str {
        if self.objects.len() > 1 && self.is_of_one_kind() { ", each" } else { "" }
    }

    /// The objects of a group that has more than one; empty where the subject names them.
    pub(crate) fn members(&self) -> String {
        if self.objects.len() < 2 || !self.is_of_one_kind() {
            return String::new();
        }
        listed(self.objects.iter().map(|object| object.place()), NAMED_MAX)
    }

    /// What Argo CD removes, and what to do, as one sentence.
    pub(crate) fn advice(&self) -> String {
        let advice = self.danger.advice();
        let advice = match self.objects.len() {
            1 => advice.to_owned(),
            _ => advice.replace("to keep it, ", "to keep them, ").replace("` on it in", "` on them in"),
        };
        match self.danger.pruning_text(self.objects.len()) {
            Some(pruning) => format!("{pruning}; {advice}"),
            None => advice,
        }
    }
}

/// A kind as kubectl writes more than one of it.
pub(super) fn plural(kind: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| kind.ends_with(ending));
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ends(&["Endpoints", "Metrics"]) => kind.to_owned(),
        _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_several_is_said_of_each() {
        let object = |kind: &str, name: &str| ObjectName {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        let danger =
            crate::diff::application_removed(2, crate::diff::Pruning::Automatic).expect("it takes objects along");
        let (one, other, third) = (object("Job", "a"), object("Job", "b"), object("Pod", "c"));
        let rows = [(vec![&one], "Job a"), (vec![&one, &other], "2 Jobs, each"), (vec![&one, &third], "Job a, Pod c")];
        for (objects, expected) in rows {
            let group = DangerGroup { danger: &danger, objects };
            assert_eq!(format!("{}{}", group.subject(), group.each()), expected);
        }
    }

    #[test]
    fn more_than_one_of_a_kind() {
        let rows = [
            ("Job", "Jobs"),
            ("Ingress", "Ingresses"),
            ("NetworkPolicy", "NetworkPolicies"),
            ("Gateway", "Gateways"),
            ("StorageClass", "StorageClasses"),
            ("Endpoints", "Endpoints"),
        ];
        for (kind, expected) in rows {
            assert_eq!(plural(kind), expected);
        }
    }
}
