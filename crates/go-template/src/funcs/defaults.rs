//! Defaults, conditions, and what kind of value something is.

use super::super::call::Call;
use super::super::function::{Functions, Rest};
use super::super::text::Text;
use super::super::value::Value;
use super::common::{deep_equal, is_empty};

pub(super) fn add(table: &mut Functions) {
    table
        .add("default", |default: Value, given: Rest<Value>| {
            given.0.into_iter().next().filter(|given| !is_empty(given)).unwrap_or(default)
        })
        .add("empty", |value: Value| is_empty(&value))
        .add("coalesce", |values: Rest<Value>| values.0.into_iter().find(|value| !is_empty(value)).unwrap_or_default())
        .add("all", |values: Rest<Value>| !values.0.iter().any(is_empty))
        .add("any", |values: Rest<Value>| !values.0.iter().all(is_empty))
        .add("ternary", |yes: Value, no: Value, condition: bool| if condition { yes } else { no })
        .add("typeOf", |value: Value| value.type_name())
        .add("typeIs", |name: Text, value: Value| name == *value.type_name())
        .add("typeIsLike", |name: Text, value: Value| {
            let found = value.type_name();
            name == *found || found.strip_prefix('*').is_some_and(|found| name == *found)
        })
        .add("kindOf", |value: Value| value.kind().name())
        .add("kindIs", |name: Text, value: Value| name == *value.kind().name())
        .add("deepEqual", |call: &mut Call<'_>, one: Value, two: Value| deep_equal(call, &one, &two))
        .add("hello", || "Hello!");
}
