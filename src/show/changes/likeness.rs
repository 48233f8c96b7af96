//! Environments that change alike.

use super::overview::state;
use super::{ApplicationDiff, EnvironmentDiff, Overview, rows};
use crate::diff::{ObjectDiff, Words};

/// What changes in an environment, but for names of Applications and namespaces: equal for environments that change alike.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    /// What becomes of each Application and of its objects, in an order that does not depend on its name.
    applications: Vec<(String, Vec<String>)>,
    /// What is said of all of them: counts and dangers.
    facts: Vec<String>,
}

/// All that is said of an object but for its namespace.
fn object_text(object: &ObjectDiff, with_noise: bool) -> String {
    let rows: Vec<String> =
        rows(object, with_noise).iter().map(|row| format!("{} {} {}", row.mark.sign(), row.indent, row.text)).collect();
    let name = &object.object;
    format!("{} {} {:?} {}\n{}", name.kind, name.name, object.change, object.restarts, rows.join("\n"))
}

impl Likeness {
    /// That of an environment; none for one where more must be said than what becomes of its objects.
    pub(super) fn of(environment: &EnvironmentDiff, with_noise: bool) -> Option<Self> {
        let is_plain =
            |application: &ApplicationDiff| application.unreadable.is_none() && application.origin().is_none();
        let is_told = environment.applications.is_empty() || environment.like.is_some();
        if is_told || !environment.is_whole() || !environment.applications.iter().all(is_plain) {
            return None;
        }
        let of_application = |application: &ApplicationDiff| {
            let head = format!("{:?} {} {:?}", application.change, application.what(), application.notes());
            (head, application.objects.iter().map(|object| object_text(object, with_noise)).collect())
        };
        let overview = Overview::of(environment);
        let mut facts = vec![state(environment, &overview), overview.restarts_text(), overview.noise.to_string()];
        for group in &overview.dangers {
            let names: Vec<String> =
                group.objects.iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
            facts.push(format!("{} {} {} {}", group.danger.severity, names.join(", "), group.danger, group.advice()));
        }
        let applications = environment.applications.iter().map(of_application).collect();
        Some(Self { applications, facts }.sorted())
    }

    fn sorted(mut self) -> Self {
        self.applications.iter_mut().for_each(|(_, objects)| objects.sort());
        self.applications.sort();
        self.facts.sort();
        self
    }

    /// The likeness as an environment of another name would have it.
    pub(super) fn renamed(&self, words: &Words) -> Self {
        let of_application = |(head, objects): &(String, Vec<String>)| {
            (words.replaced(head), objects.iter().map(|object| words.replaced(object)).collect())
        };
        let applications = self.applications.iter().map(of_application).collect();
        let facts = self.facts.iter().map(|fact| words.replaced(fact)).collect();
        Self { applications, facts }.sorted()
    }

    /// Whether as many Applications and objects change.
    pub(super) fn is_as_long_as(&self, other: &Self) -> bool {
        let lengths = |one: &Self| {
            let objects: usize = one.applications.iter().map(|(_, objects)| objects.len()).sum();
            (one.applications.len(), objects)
        };
        lengths(self) == lengths(other)
    }

    /// Whether the same objects change in the same way.
    pub(super) fn changes_as(&self, other: &Self) -> bool {
        self.applications == other.applications
    }
}
