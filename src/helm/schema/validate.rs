//! Values against a compiled schema.
//!
//! Reference: santhosh-tekuri/jsonschema 6.0.2 validator.go, the order of checks and what they say included. Where Go
//! walks maps in random order, names go by their bytes.

use std::collections::BTreeSet;

use super::compile::{Additional, Compiled, Dependency, Keywords, SchemaId};
use super::decimal::Decimal;
use super::draft::Draft;
use super::report::{Problem, Role, count, display, number as show_number, push_pointer, quote, quote_all};
use super::{DEPTH_MAX, STEPS_MAX, decimal, format, number};
use crate::yaml::Value;

/// The problems of `value`; `Ok` when there are none.
pub fn validate(compiled: &Compiled, value: &Value) -> Result<(), Vec<Problem>> {
    let run = Run { compiled, steps: std::cell::Cell::new(0) };
    let scope = Scope { schema: compiled.root, keyword: "", value_number: 0, depth: 0, parent: None };
    let unseen = Unseen::new(value, compiled.get(compiled.root), false);
    let target = Target { value, at: "", quiet: false };
    run.check(target, &scope, unseen).map(drop).map_err(|problem| problem.ungrouped())
}

struct Run<'a> {
    compiled: &'a Compiled,
    steps: std::cell::Cell<u64>,
}

/// The value being looked at.
#[derive(Clone, Copy)]
struct Target<'a> {
    value: &'a Value,
    /// Its JSON pointer.
    at: &'a str,
    /// Whether only the outcome counts, not what is wrong.
    quiet: bool,
}

/// The schemas on the way here, innermost first.
struct Scope<'a> {
    schema: SchemaId,
    /// The keyword of the reference that led here; empty for none.
    keyword: &'static str,
    /// Counts values on the way: equal for schemas of one value.
    value_number: u32,
    depth: u32,
    parent: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    fn chain(&'a self) -> impl Iterator<Item = &'a Scope<'a>> {
        std::iter::successors(Some(self), |scope| scope.parent)
    }
}

/// What no keyword has looked at yet, for `unevaluated…`.
#[derive(Debug, Default)]
struct Unseen {
    properties: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Unseen {
    fn new(value: &Value, keywords: &Keywords, wanted: bool) -> Self {
        let mut unseen = Self::default();
        match value {
            Value::Mapping(entries)
                if keywords.additional_properties.is_none()
                    && (wanted || keywords.unevaluated_properties.is_some()) =>
            {
                unseen.properties = entries.keys().cloned().collect();
            }
            Value::Sequence(items)
                if keywords.other_items.is_none() && (wanted || keywords.unevaluated_items.is_some()) =>
            {
                unseen.items = (keywords.first_items.len()..items.len()).collect();
            }
            _ => {}
        }
        unseen
    }

    fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    /// Keeps what the other has not seen either.
    fn keep(&mut self, other: &Unseen) {
        self.properties.retain(|name| other.properties.contains(name));
        self.items.retain(|index| other.items.contains(index));
    }
}

/// The problems of one schema with one value while it is being checked.
struct Checking<'a> {
    run: &'a Run<'a>,
    target: Target<'a>,
    scope: &'a Scope<'a>,
    keywords: &'a Keywords,
    unseen: Unseen,
    problems: Vec<Problem>,
}

type Checked = Result<Unseen, Problem>;

impl<'a> Run<'a> {
    fn check(&self, target: Target<'_>, scope: &Scope<'_>, unseen: Unseen) -> Checked {
        let keywords = self.compiled.get(scope.schema);
        let mut checking = Checking { run: self, target, scope, keywords, unseen, problems: Vec::new() };
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > STEPS_MAX || scope.depth > DEPTH_MAX {
            return Err(checking.problem("the schema is too deep or takes too long to check".to_owned()));
        }
        checking.run_keywords()?;
        match checking.problems.len() {
            0 => Ok(checking.unseen),
            1 => Err(checking.problems.remove(0)),
            _ => {
                let causes = std::mem::take(&mut checking.problems);
                Err(Problem { causes, role: Role::Group, ..checking.problem("validation failed".to_owned()) })
            }
        }
    }
}

impl Checking<'_> {
    fn problem(&self, message: String) -> Problem {
        if self.target.quiet {
            return Problem::default();
        }
        Problem { at: self.target.at.to_owned(), message, ..Problem::default() }
    }

    fn add(&mut self, message: impl FnOnce() -> String) {
        let message = if self.target.quiet { String::new() } else { message() };
        self.problems.push(self.problem(message));
    }

    fn add_with(&mut self, message: &str, causes: Vec<Problem>) {
        let problem = Problem { causes, ..self.problem(message.to_owned()) };
        self.problems.push(problem);
    }

    fn note(&mut self, outcome: Result<(), Problem>) {
        self.problems.extend(outcome.err());
    }

    /// Whether nothing further can change the outcome.
    fn is_decided(&self) -> bool {
        self.target.quiet && !self.problems.is_empty()
    }

    /// Problems that end the check at once are returned, others are collected.
    fn run_keywords(&mut self) -> Result<(), Problem> {
        let keywords = self.keywords;
        if let Some(always) = keywords.always {
            return if always { Ok(()) } else { Err(self.problem("false schema".to_owned())) };
        }
        if let Some(message) = self.cycle() {
            return Err(self.problem(message));
        }
        self.identity()?;
        let draft = keywords.draft.unwrap_or(Draft::LATEST);
        if let Some(target) = keywords.reference {
            let outcome = self.follow(target, "$ref");
            if draft < Draft::V2019 {
                return outcome;
            }
            self.note(outcome);
        }
        match self.target.value {
            Value::Mapping(_) => self.object(draft),
            Value::Sequence(items) => self.list(items, draft),
            Value::String(text) => self.string(text),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => self.number(),
            Value::Null | Value::Bool(_) => {}
        }
        if self.is_decided() {
            return Ok(());
        }
        self.moving_references();
        self.logic();
        self.unevaluated();
        Ok(())
    }

    /// What is wrong when this schema is being applied to this value already.
    fn cycle(&self) -> Option<String> {
        let same_value = |scope: &&Scope<'_>| scope.value_number == self.scope.value_number;
        let first =
            self.scope.chain().skip(1).take_while(same_value).find(|scope| scope.schema == self.scope.schema)?;
        let way = |scope: &Scope<'_>| {
            let mut steps: Vec<String> = Vec::new();
            for step in scope.chain() {
                let Some(parent) = step.parent else { break };
                let location = |scope: &Scope<'_>| self.run.compiled.get(scope.schema).location.clone();
                let below = location(step).get(location(parent).len()..).unwrap_or_default().to_owned();
                steps.push(if step.keyword.is_empty() { below } else { format!("/{}", step.keyword) });
            }
            steps.reverse();
            steps.concat()
        };
        let location = crate::yaml::quote(&self.keywords.location);
        Some(format!("both {} and {} resolve to {location} causing reference cycle", way(self.scope), way(first)))
    }

    /// `type`, `const`, `enum` and `format`: the first that fails is all there is to say.
    fn identity(&self) -> Result<(), Problem> {
        let Keywords { types, constant, one_of_values, format, .. } = self.keywords;
        let value = self.target.value;
        let kind = kind(value);
        let is_integer = || decimal(value).is_some_and(|number| number.is_integer());
        let fits = types.is_empty() || types.contains(&kind) || (types.contains(&"integer") && is_integer());
        if !fits {
            return Err(self.problem(format!("got {kind}, want {}", types.join(" or "))));
        }
        if let Some(wanted) = constant
            && !equals(value, wanted)
        {
            let is_scalar = !matches!(wanted, Value::Sequence(_) | Value::Mapping(_));
            let message =
                if is_scalar { format!("value must be {}", display(wanted)) } else { "'const' failed".to_owned() };
            return Err(self.problem(message));
        }
        if let Some(wanted) = one_of_values
            && !wanted.iter().any(|wanted| equals(value, wanted))
        {
            let all_scalar = wanted.iter().all(|value| !matches!(value, Value::Sequence(_) | Value::Mapping(_)));
            let all = || wanted.iter().map(display).collect::<Vec<_>>().join(", ");
            return Err(self.problem(match wanted.len() {
                _ if !all_scalar => "'enum' failed".to_owned(),
                1 => format!("value must be {}", all()),
                _ => format!("value must be one of {}", all()),
            }));
        }
        if let (Some(format), Value::String(text)) = (format, value)
            && let Err(reason) = format::check(format, text)
        {
            return Err(self.problem(format!("{} is not valid {format}: {reason}", quote(text))));
        }
        Ok(())
    }

    fn object(&mut self, draft: Draft) {
        let keywords = self.keywords;
        let Value::Mapping(object) = self.target.value else { return };
        let size = object.len();
        if let Some(min) = keywords.min_properties.filter(|min| size < *min) {
            self.add(|| format!("minProperties: got {}, want {}", count(size), count(min)));
        }
        if let Some(max) = keywords.max_properties.filter(|max| size > *max) {
            self.add(|| format!("maxProperties: got {}, want {}", count(size), count(max)));
        }
        let missing = |names: &[String]| -> Vec<String> {
            names.iter().filter(|name| !object.contains_key(*name)).cloned().collect()
        };
        let names = missing(&keywords.required);
        if !names.is_empty() {
            let word = if names.len() == 1 { "property" } else { "properties" };
            self.add(|| format!("missing {word} {}", quote_all(names.iter().map(String::as_str))));
        }
        if self.is_decided() {
            return;
        }
        let required_with = |names: &[String], name: &str| {
            format!("properties {} required, if {} exists", quote_all(names.iter().map(String::as_str)), quote(name))
        };
        for (name, dependency) in keywords.dependencies.iter().filter(|(name, _)| object.contains_key(*name)) {
            match dependency {
                Dependency::Properties(names) => {
                    let names = missing(names);
                    if !names.is_empty() {
                        self.add(|| required_with(&names, name));
                    }
                }
                Dependency::Schema(schema) => self.here(*schema, false),
            }
        }
        self.properties(object);
        if draft >= Draft::V6 && keywords.property_names.is_some() {
            self.property_names(object);
        }
        if draft >= Draft::V7 {
            for (_, schema) in keywords.dependent_schemas.iter().filter(|(name, _)| object.contains_key(*name)) {
                self.here(*schema, false);
            }
            for (name, names) in keywords.dependent_required.iter().filter(|(name, _)| object.contains_key(*name)) {
                let names = missing(names);
                if !names.is_empty() {
                    self.add(|| required_with(&names, name));
                }
            }
        }
    }

    fn properties(&mut self, object: &crate::yaml::Mapping) {
        let keywords = self.keywords;
        let mut additional = Vec::new();
        for (name, value) in object {
            if self.is_decided() {
                return;
            }
            let mut seen = false;
            if let Some(schema) = keywords.properties.get(name) {
                seen = true;
                let outcome = self.below(*schema, value, name);
                self.note(outcome);
            }
            for (regex, schema) in &keywords.pattern_properties {
                if regex.is_match(name.as_bytes()) {
                    seen = true;
                    let outcome = self.below(*schema, value, name);
                    self.note(outcome);
                }
            }
            match keywords.additional_properties {
                Some(Additional::Allowed(false)) if !seen => additional.push(name.as_str()),
                Some(Additional::Schema(schema)) if !seen => {
                    let outcome = self.below(schema, value, name);
                    self.note(outcome);
                }
                _ => {}
            }
            if seen || keywords.additional_properties.is_some() {
                self.unseen.properties.remove(name);
            }
        }
        if !additional.is_empty() {
            self.add(|| format!("additional properties {} not allowed", quote_all(additional)));
        }
    }

    fn property_names(&mut self, object: &crate::yaml::Mapping) {
        let Some(schema) = self.keywords.property_names else { return };
        for name in object.keys() {
            let value = Value::String(name.clone());
            let scope = Scope { schema, keyword: "", value_number: 0, depth: self.scope.depth + 1, parent: None };
            let unseen = Unseen::new(&value, self.run.compiled.get(schema), false);
            let target = Target { value: &value, at: "", quiet: self.target.quiet };
            if let Err(problem) = self.run.check(target, &scope, unseen) {
                let message = format!("invalid propertyName {}", quote(name));
                self.problems.push(Problem { message, causes: problem.ungrouped(), ..Problem::default() });
            }
        }
    }

    fn list(&mut self, items: &[Value], draft: Draft) {
        let keywords = self.keywords;
        let size = items.len();
        if let Some(min) = keywords.min_items.filter(|min| size < *min) {
            self.add(|| format!("minItems: got {}, want {}", count(size), count(min)));
        }
        if let Some(max) = keywords.max_items.filter(|max| size > *max) {
            self.add(|| format!("maxItems: got {}, want {}", count(size), count(max)));
        }
        if keywords.unique_items
            && let Some((first, second)) = duplicates(items)
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

    fn contains(&mut self, items: &[Value], draft: Draft) {
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
        let places = || matched.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let found = count(matched.len());
        match keywords.min_contains {
            Some(min) if matched.is_empty() && min > 0 => {
                let message = format!("min {} items required to match contains schema, but none matched", count(min));
                self.add_with(&message, causes);
            }
            Some(min) if matched.len() < min => {
                let min = count(min);
                let message = format!(
                    "min {min} items required to match contains schema, but matched {found} items at {}",
                    places()
                );
                self.add_with(&message, causes);
            }
            None if matched.is_empty() => self.add_with("no items match contains schema", causes),
            _ => {}
        }
        if let Some(max) = keywords.max_contains.filter(|max| matched.len() > *max) {
            self.add(|| {
                format!(
                    "max {} items required to match contains schema, but matched {found} items at {}",
                    count(max),
                    places()
                )
            });
        }
    }

    fn string(&mut self, text: &str) {
        let keywords = self.keywords;
        if keywords.min_length.is_some() || keywords.max_length.is_some() {
            let length = text.chars().count();
            if let Some(min) = keywords.min_length.filter(|min| length < *min) {
                self.add(|| format!("minLength: got {}, want {}", count(length), count(min)));
            }
            if let Some(max) = keywords.max_length.filter(|max| length > *max) {
                self.add(|| format!("maxLength: got {}, want {}", count(length), count(max)));
            }
        }
        if let Some((regex, pattern)) = &keywords.pattern
            && !regex.is_match(text.as_bytes())
        {
            self.add(|| format!("{} does not match pattern {}", quote(text), quote(pattern)));
        }
    }

    fn number(&mut self) {
        let keywords = self.keywords;
        let (Some(exact), Some(got)) = (decimal(self.target.value), number(self.target.value)) else { return };
        type Holds = fn(&Decimal, &Decimal) -> bool;
        let limits: [(&str, Option<f64>, Holds); 5] = [
            ("minimum", keywords.minimum, |number, limit| number >= limit),
            ("maximum", keywords.maximum, |number, limit| number <= limit),
            ("exclusiveMinimum", keywords.exclusive_minimum, |number, limit| number > limit),
            ("exclusiveMaximum", keywords.exclusive_maximum, |number, limit| number < limit),
            ("multipleOf", keywords.multiple_of, Decimal::is_multiple_of),
        ];
        for (keyword, limit, holds) in limits {
            if let Some(limit) = limit
                && !holds(&exact, &Decimal::float(limit))
            {
                self.add(|| format!("{keyword}: got {}, want {}", show_number(got), show_number(limit)));
            }
        }
    }

    /// The references whose target depends on the way here.
    fn moving_references(&mut self) {
        let keywords = self.keywords;
        let get = |schema: SchemaId| self.run.compiled.get(schema);
        let resource = |scope: &Scope<'_>| get(scope.schema).resource.map(get);
        if let Some(target) = keywords.recursive_reference {
            let outermost =
                self.scope.chain().filter(|scope| resource(scope).is_some_and(|r| r.recursive_anchor)).last();
            let moves = get(target).recursive_anchor;
            let target = outermost.filter(|_| moves).map_or(target, |scope| scope.schema);
            let outcome = self.follow(target, "$recursiveRef");
            self.note(outcome);
        }
        if let Some((target, anchor)) = &keywords.dynamic_reference {
            let named = |scope: &Scope<'_>| resource(scope).and_then(|r| r.dynamic_anchors.get(anchor)).copied();
            let moves = !anchor.is_empty() && get(*target).dynamic_anchor.as_ref() == Some(anchor);
            let outermost = if moves { self.scope.chain().filter_map(named).last() } else { None };
            let outcome = self.follow(outermost.unwrap_or(*target), "$dynamicRef");
            self.note(outcome);
        }
    }

    fn logic(&mut self) {
        let keywords = self.keywords;
        if let Some(schema) = keywords.not
            && self.outcome_here(schema, "", true).is_ok()
        {
            self.add(|| "'not' failed".to_owned());
        }
        if !keywords.all_of.is_empty() {
            let mut causes = Vec::new();
            for schema in &keywords.all_of {
                causes.extend(self.outcome_here(*schema, "", false).err());
                if self.target.quiet && !causes.is_empty() {
                    break;
                }
            }
            if !causes.is_empty() {
                self.add_with("'allOf' failed", causes);
            }
        }
        if !keywords.any_of.is_empty() {
            self.any_of();
        }
        if !keywords.one_of.is_empty() {
            self.one_of();
        }
        if let Some(condition) = keywords.condition {
            let met = self.outcome_here(condition, "", true).is_ok();
            if let Some(schema) = if met { keywords.then } else { keywords.otherwise } {
                self.here(schema, false);
            }
        }
    }

    fn any_of(&mut self) {
        let (mut causes, mut matched) = (Vec::new(), false);
        for schema in &self.keywords.any_of {
            match self.outcome_here(*schema, "", false) {
                Err(problem) => causes.push(problem),
                Ok(()) => {
                    matched = true;
                    // All of them may see more, if that counts.
                    if self.unseen.is_empty() {
                        break;
                    }
                }
            }
        }
        if !matched {
            self.add_with("'anyOf' failed", causes);
        }
    }

    fn one_of(&mut self) {
        let (mut causes, mut matched) = (Vec::new(), None);
        for (schema, index) in self.keywords.one_of.iter().zip(0usize..) {
            match (self.outcome_here(*schema, "", matched.is_some()), matched) {
                (Err(problem), None) => causes.push(problem),
                (Err(_), Some(_)) => {}
                (Ok(()), None) => matched = Some(index),
                (Ok(()), Some(first)) => {
                    self.add(|| format!("'oneOf' failed, subschemas {}, {} matched", count(first), count(index)));
                    break;
                }
            }
        }
        if matched.is_none() {
            self.add_with("'oneOf' failed, none matched", causes);
        }
    }

    fn unevaluated(&mut self) {
        let keywords = self.keywords;
        let unseen = match (self.target.value, keywords.unevaluated_properties, keywords.unevaluated_items) {
            (Value::Mapping(_), Some(_), _) | (Value::Sequence(_), _, Some(_)) => std::mem::take(&mut self.unseen),
            _ => return,
        };
        if let (Value::Mapping(object), Some(schema)) = (self.target.value, keywords.unevaluated_properties) {
            for name in &unseen.properties {
                let Some(value) = object.get(name) else { continue };
                let outcome = self.below(schema, value, name);
                self.note(outcome);
            }
        }
        if let (Value::Sequence(items), Some(schema)) = (self.target.value, keywords.unevaluated_items) {
            for index in &unseen.items {
                let Some(value) = items.get(*index) else { continue };
                let outcome = self.below(schema, value, &index.to_string());
                self.note(outcome);
            }
        }
    }

    /// Applies a schema to this value; its problems are problems of this one.
    fn here(&mut self, schema: SchemaId, quiet: bool) {
        let outcome = self.outcome_here(schema, "", quiet);
        self.note(outcome);
    }

    fn outcome_here(&mut self, schema: SchemaId, keyword: &'static str, quiet: bool) -> Result<(), Problem> {
        let scope = Scope {
            schema,
            keyword,
            value_number: self.scope.value_number,
            depth: self.scope.depth + 1,
            parent: Some(self.scope),
        };
        let wanted = !self.unseen.is_empty();
        let unseen = Unseen::new(self.target.value, self.run.compiled.get(schema), wanted);
        let target = Target { quiet: quiet || self.target.quiet, ..self.target };
        let unseen = self.run.check(target, &scope, unseen)?;
        self.unseen.keep(&unseen);
        Ok(())
    }

    fn follow(&mut self, schema: SchemaId, keyword: &'static str) -> Result<(), Problem> {
        let outcome = self.outcome_here(schema, keyword, false);
        outcome.map_err(|problem| {
            let causes = problem.ungrouped();
            Problem { causes, role: Role::Reference, ..self.problem("validation failed".to_owned()) }
        })
    }

    fn below(&self, schema: SchemaId, value: &Value, token: &str) -> Result<(), Problem> {
        let mut at = self.target.at.to_owned();
        push_pointer(&mut at, token);
        let scope = Scope {
            schema,
            keyword: "",
            value_number: self.scope.value_number + 1,
            depth: self.scope.depth + 1,
            parent: Some(self.scope),
        };
        let unseen = Unseen::new(value, self.run.compiled.get(schema), false);
        self.run.check(Target { value, at: &at, quiet: self.target.quiet }, &scope, unseen).map(drop)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Sequence(_) => "array",
        Value::Mapping(_) => "object",
    }
}

fn equals(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Mapping(one), Value::Mapping(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|((a, x), (b, y))| a == b && equals(x, y))
        }
        (Value::Sequence(one), Value::Sequence(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(x, y)| equals(x, y))
        }
        (one, two) => match (decimal(one), decimal(two)) {
            (Some(one), Some(two)) => one == two,
            _ => one == two,
        },
    }
}

/// The first item that equals an earlier one, with that one before it.
fn duplicates(items: &[Value]) -> Option<(usize, usize)> {
    let mut by_hash: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    for (item, index) in items.iter().zip(0usize..) {
        let same = by_hash.entry(hash(item)).or_default();
        if let Some(first) = same.iter().find(|first| items.get(**first).is_some_and(|other| equals(other, item))) {
            return Some((*first, index));
        }
        same.push(index);
    }
    None
}

/// Equal for equal values.
fn hash(value: &Value) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    fn write(value: &Value, hasher: &mut DefaultHasher) {
        kind(value).hash(hasher);
        match value {
            Value::Null => {}
            Value::Bool(value) => value.hash(hasher),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => decimal(value).hash(hasher),
            Value::String(text) => text.hash(hasher),
            Value::Sequence(items) => items.iter().for_each(|item| write(item, hasher)),
            Value::Mapping(entries) => entries.iter().for_each(|(key, value)| {
                key.hash(hasher);
                write(value, hasher);
            }),
        }
    }
    let mut hasher = DefaultHasher::new();
    write(value, &mut hasher);
    hasher.finish()
}
