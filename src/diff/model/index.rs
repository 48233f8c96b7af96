//! Which workloads a label selector chooses, without a look at each of them; and which objects choose a workload.

use std::collections::HashMap;

use go_yaml::{Mapping, Value};

use super::selector::{self, selects};
use super::{Placed, items, pods, word};

/// How many pairs of an object and a workload that it chooses are kept, and how many are looked at for them.
const PAIRS_MAX: usize = 4_000_000;
const LOOKED_AT_MAX: usize = 20_000_000;

/// The workloads of one namespace.
#[derive(Debug, Default)]
pub(super) struct Workloads<'a> {
    pub(super) all: Vec<Placed<'a>>,
    /// Where those are that have a label; its place among the labels.
    labels: HashMap<[&'a str; 2], usize>,
    labeled: Vec<Vec<usize>>,
}

/// Workloads among which all are that a selector chooses.
pub(super) enum Among<'w> {
    All,
    Some(&'w [usize]),
    Several(Vec<usize>),
}

impl<'a> Workloads<'a> {
    pub(super) fn add(&mut self, workload: Placed<'a>) {
        for (key, value) in pods::template_labels(workload.manifest).into_iter().flatten() {
            let Some(value) = value.as_str() else { continue };
            let place = *self.labels.entry([key, value]).or_insert(self.labeled.len());
            self.labeled.resize_with(self.labeled.len().max(place + 1), Vec::new);
            self.labeled.get_mut(place).into_iter().for_each(|of| of.push(self.all.len()));
        }
        self.all.push(workload);
    }

    /// By the label that the fewest have.
    pub(super) fn among(&self, selector: &Value) -> Among<'_> {
        let none = Mapping::new();
        let wanted = selector.get("matchLabels").and_then(Value::as_mapping).unwrap_or(&none).iter();
        let fewest = wanted
            .filter_map(|(key, value)| Some(self.labeled(key, value.as_str()?)))
            .min_by_key(|places| places.len());
        if let Some(places) = fewest {
            return Among::Some(places);
        }
        let is_listed = |one: &&Value| {
            word(one, &["operator"]) == "In" && items(one, &["values"]).iter().all(|value| value.as_str().is_some())
        };
        let Some(expression) = items(selector, &["matchExpressions"]).iter().find(is_listed) else { return Among::All };
        let values = items(expression, &["values"]).iter().filter_map(Value::as_str);
        let mut places: Vec<usize> =
            values.flat_map(|value| self.labeled(word(expression, &["key"]), value)).copied().collect();
        places.sort_unstable();
        places.dedup();
        Among::Several(places)
    }

    fn labeled(&self, key: &str, value: &str) -> &[usize] {
        let place = self.labels.get(&[key, value]).copied();
        place.and_then(|place| self.labeled.get(place)).map_or(&[], Vec::as_slice)
    }

    /// Those that a selector chooses, in their order.
    pub(super) fn chosen<'s>(&'s self, selector: &'s Value) -> Box<dyn Iterator<Item = Placed<'a>> + 's> {
        let chosen = move |one: &Placed<'a>| super::steps::take(8) && selects(selector, one.manifest);
        let at = |place: usize| self.all.get(place).copied();
        match self.among(selector) {
            Among::All => Box::new(self.all.iter().copied().filter(chosen)),
            Among::Some(places) => Box::new(places.iter().filter_map(move |place| at(*place)).filter(chosen)),
            Among::Several(places) => Box::new(places.into_iter().filter_map(at).filter(chosen)),
        }
    }
}

/// The objects of one kind that choose each workload, by its name.
#[derive(Debug)]
pub(super) struct Choosers<'a> {
    /// The place of each workload in the list.
    places: HashMap<[&'a str; 4], usize>,
    of: Vec<Vec<Placed<'a>>>,
}

impl<'a> Choosers<'a> {
    /// None where they are too many to keep.
    pub(super) fn new(all: &[Placed<'a>], workloads: &HashMap<&'a str, Workloads<'a>>) -> Option<Self> {
        let mut found = Self { places: HashMap::new(), of: Vec::new() };
        let (mut pairs, mut looked_at) = (0, 0);
        for chooser in all {
            let (Some(workloads), Some(selector)) = (workloads.get(chooser.namespace), selector::of(chooser.manifest))
            else {
                continue;
            };
            let places: Vec<usize> = match workloads.among(&selector) {
                Among::All => (0..workloads.all.len()).collect(),
                Among::Some(places) => places.to_vec(),
                Among::Several(places) => places,
            };
            looked_at += places.len();
            let chosen = places.into_iter().filter_map(|place| workloads.all.get(place));
            for workload in chosen.filter(|one| selects(&selector, one.manifest)) {
                let place = *found.places.entry(workload.name()).or_insert(found.of.len());
                found.of.resize_with(found.of.len().max(place + 1), Vec::new);
                found.of.get_mut(place).into_iter().for_each(|of| of.push(*chooser));
                pairs += 1;
            }
            if pairs > PAIRS_MAX || looked_at > LOOKED_AT_MAX {
                return None;
            }
        }
        Some(found)
    }

    pub(super) fn of(&self, workload: Placed<'_>) -> &[Placed<'a>] {
        let place = self.places.get(&workload.name()).copied();
        place.and_then(|place| self.of.get(place)).map_or(&[], Vec::as_slice)
    }
}
