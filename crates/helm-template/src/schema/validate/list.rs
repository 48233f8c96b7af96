//! Keywords about arrays.

use go_yaml::Value;

use super::super::compile::Additional;
use super::super::draft::Draft;
use super::super::report::count;
use super::Checking;
use super::equality::duplicates;

impl Checking<'_> {
    pub(super) fn list(&mut self, items: &[Value], draft: Draft) {
        let keywords = self.keywords;
        let size = items.len();
        if let Some(min) = keywords.min_items.filter(|min| size < *min) {
            self.add(|| format!("minItems: got {}, want {}", count(size), count(min)));
        }
        if let Some(max) = keywords.max_items.filter(|max| size > *max) {
            self.add(|| format!("maxItems: got {}, want {}", count(size), count(max)));
        }
        if keywords.unique_items
            && let Some((first, second)) = duplicates(items, self.run)
        {
            self.add(|| format!("items at {} and {} are equal", count(first), count(second)));
        }
        for ((item, schema), index) in items.iter().zip(&keywords.first_items).zip(0usize..) {
            let outcome = self.below(*schema, item, &index.to_string());
            self.note(outcome);
        }
        let others = items.get(keywords.first_items.len()..).unwrap_or_default();
        match keywords.other_items {
            Some(Additional::Allowed(false)) if !others.is_empty() => {
                self.add(|| format!("last {} additionalItem(s) not allowed", count(others.len())));
            }
            Some(Additional::Schema(schema)) => {
                // Numbered from the first of them, not from the start of the list, as the reference does.
                for (item, index) in others.iter().zip(0usize..) {
                    let outcome = self.below(schema, item, &index.to_string());
                    self.note(outcome);
                }
            }
            _ => {}
        }
        self.contains(items, draft);
    }

    pub(super) fn contains(&mut self, items: &[Value], draft: Draft) {
        let keywords = self.keywords;
        let Some(schema) = keywords.contains else { return };
        let (mut causes, mut matched) = (Vec::new(), Vec::new());
        for (item, index) in items.iter().zip(0usize..) {
            match self.below(schema, item, &index.to_string()) {
                Err(problem) => causes.push(problem),
                Ok(()) => {
                    matched.push(index);
                    if draft >= Draft::V2020 {
                        self.unseen.items.remove(&index);
                    }
                }
            }
        }
        match keywords.min_contains {
            Some(min) if matched.is_empty() && min > 0 => {
                let message = format!("min {} items required to match contains schema, but none matched", count(min));
                self.add_with(&message, causes);
            }
            Some(min) if matched.len() < min => {
                let (min, found) = (count(min), count(matched.len()));
                let message = format!(
                    "min {min} items required to match contains schema, but matched {found} items at {}",
                    places(&matched)
                );
                self.add_with(&message, causes);
            }
            None if matched.is_empty() => self.add_with("no items match contains schema", causes),
            _ => {}
        }
        if let Some(max) = keywords.max_contains.filter(|max| matched.len() > *max) {
            self.add(|| too_many(max, &matched));
        }
    }
}

/// `matched` are the indexes of the items that match.
fn too_many(max: usize, matched: &[usize]) -> String {
    let found = count(matched.len());
    format!(
        "max {} items required to match contains schema, but matched {found} items at {}",
        count(max),
        places(matched)
    )
}

fn places(indexes: &[usize]) -> String {
    indexes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
