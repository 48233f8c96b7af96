//! Dangers as they are shown: the worst first, equal ones together.

use std::collections::BTreeMap;

use crate::diff::{Danger, ObjectName};

/// A danger, and the objects of one kind that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DangerGroup<'a> {
    /// The danger.
    pub danger: &'a Danger,
    /// The objects, in their order: at least one.
    pub objects: Vec<&'a ObjectName>,
}

/// How many objects of a group are named; the rest is counted.
const NAMED_MAX: usize = 5;

impl<'a> DangerGroup<'a> {
    /// The groups of what was found, in the order of [`Danger`], then of kinds.
    pub(super) fn of(found: impl IntoIterator<Item = (&'a Danger, &'a ObjectName)>) -> Vec<Self> {
        let mut groups: BTreeMap<(&Danger, &str), Vec<&ObjectName>> = BTreeMap::new();
        for (danger, object) in found {
            groups.entry((danger, &object.kind)).or_default().push(object);
        }
        groups.into_iter().map(|((danger, _), objects)| Self { danger, objects }).collect()
    }

    /// `Deployment shop/web`; `48 Jobs`.
    pub fn subject(&self) -> String {
        match &self.objects[..] {
            [object] => object.to_string(),
            objects => format!("{} {}", objects.len(), plural(objects.first().map_or("", |object| &object.kind))),
        }
    }

    /// The objects of a group that has more than one; empty for one, which the subject names.
    pub fn members(&self) -> String {
        if self.objects.len() < 2 {
            return String::new();
        }
        let name = |object: &&ObjectName| object.place();
        let named: Vec<String> = self.objects.iter().take(NAMED_MAX).map(name).collect();
        match self.objects.len().saturating_sub(NAMED_MAX) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }

    /// What Argo CD removes, and what to do, as one sentence.
    pub fn advice(&self) -> String {
        let advice = self.danger.advice();
        match self.danger.pruning {
            Some(pruning) => format!("{pruning}; {advice}"),
            None => advice.to_owned(),
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
