//! Rows of the table name what the API has.

use crate::rules;
use crate::schemas::{MINORS, Schemas};

#[test]
fn each_rule_is_of_a_type_and_a_field_that_some_minor_has() {
    let all: Vec<_> = MINORS.filter_map(Schemas::of).collect();
    for (name, field) in rules::types() {
        let has = |schemas: &&Schemas| {
            schemas.named(name).is_some_and(|definition| field.is_empty() || definition.field(field).is_some())
        };
        assert!(all.iter().any(has), "{name} has no `{field}`");
    }
}

mod answers;
mod effort;
mod excerpts;
mod minors;
mod updates;
