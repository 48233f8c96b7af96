//! JSON Schema as Helm before 3.18.5 checks it: drafts 4, 6 and 7, or what they have in common and each has alone, when
//! `$schema` names none of them. Keywords of later drafts count for nothing, formats are asserted.
//!
//! Reference: helm 3.18.4 pkg/chartutil/jsonschema.go over xeipuuv/gojsonschema 1.2.0. Its messages are not followed: they
//! name the places and keywords here. Case `schema-keywords`.

mod check;
mod format;
mod references;

use std::collections::BTreeMap;

use dry_files::view::Stop;
use go_std::regexp::Regex;
use go_yaml::{Limits, Mapping, Value, json};

use super::{CompileError, DEPTH_MAX, STEPS_MAX, decimal, lookup, report::push_pointer};

/// A schema that is ready to be applied.
#[derive(Debug)]
pub(super) struct Older {
    /// With the references in it made absolute.
    document: Value,
    /// Where in the document the schema of a URL is.
    places: BTreeMap<String, String>,
    draft: Draft,
    /// All expressions of the schema, by their texts.
    patterns: BTreeMap<String, Regex>,
}

/// A draft, older ones first. All together come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Draft {
    V4,
    V6,
    V7,
    Hybrid,
}

impl Older {
    /// Reads a schema; what follows the JSON is not looked at.
    pub(super) fn new(text: &str) -> Result<Self, CompileError> {
        let wrong = |error: go_yaml::Error| CompileError::Json(error.to_string());
        let (mut document, _) = json::decode_first(text.as_bytes(), &Limits::default()).map_err(wrong)?;
        let draft = Draft::of(&document)?;
        let places = references::resolve(&mut document);
        let mut older = Self { document, places, draft, patterns: BTreeMap::new() };
        older.patterns = check::check(&older)?;
        Ok(older)
    }

    /// What the schema says against the values, a line for each problem.
    pub(super) fn validate(&self, values: &Value, stop: &Stop) -> Result<(), String> {
        let mut run = Run { older: self, stop, steps: 0, problems: Vec::new() };
        run.apply(&self.document, self.draft, values, &Place::Root, 0);
        if run.problems.is_empty() { Ok(()) } else { Err(run.problems.concat()) }
    }

    /// The schema that an absolute reference means.
    fn find(&self, reference: &str) -> Option<&Value> {
        if let Some(pointer) = self.places.get(reference) {
            return lookup(&self.document, pointer);
        }
        let (url, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = match self.places.get(url) {
            Some(pointer) => lookup(&self.document, pointer)?,
            None => super::draft::metaschema(url).filter(|_| Draft::named(url).is_some())?,
        };
        lookup(document, &super::url::fragment(&format!("#{fragment}")).ok()?)
    }
}

impl Draft {
    /// The draft of a document. A `$schema` that names none of them means all.
    fn of(document: &Value) -> Result<Self, CompileError> {
        match document {
            Value::Bool(_) => Ok(Self::Hybrid),
            Value::Mapping(entries) => match entries.get("$schema") {
                None => Ok(Self::Hybrid),
                Some(Value::String(url)) => {
                    Ok(Self::named(url.split('#').next().unwrap_or(url)).unwrap_or(Self::Hybrid))
                }
                Some(_) => Err(CompileError::Older("$schema must be of type string".to_owned())),
            },
            _ => Err(CompileError::Older("schema is invalid".to_owned())),
        }
    }

    fn named(url: &str) -> Option<Self> {
        Some(match url {
            "http://json-schema.org/draft-04/schema" => Self::V4,
            "http://json-schema.org/draft-06/schema" => Self::V6,
            "http://json-schema.org/draft-07/schema" => Self::V7,
            _ => return None,
        })
    }
}

/// Where a value is in the values.
enum Place<'p> {
    Root,
    Below(&'p Place<'p>, &'p str),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Below(outer, name) => {
                let mut pointer = outer.pointer();
                push_pointer(&mut pointer, name);
                pointer
            }
        }
    }
}

/// One validation.
struct Run<'a> {
    older: &'a Older,
    stop: &'a Stop,
    steps: u64,
    problems: Vec<String>,
}

impl Run<'_> {
    fn problem(&mut self, place: &Place<'_>, keyword: &str) {
        self.problems.push(format!("- at {}: {keyword} is not met\n", go_std::strconv::quote(&place.pointer())));
    }

    /// Whether a value fits, without a word on why not.
    fn fits(&mut self, schema: &Value, draft: Draft, value: &Value, depth: u32) -> bool {
        let before = self.problems.len();
        self.apply(schema, draft, value, &Place::Root, depth);
        let fits = self.problems.len() == before;
        self.problems.truncate(before);
        fits
    }

    fn apply(&mut self, schema: &Value, draft: Draft, value: &Value, place: &Place<'_>, depth: u32) {
        self.steps += 1;
        if self.steps > STEPS_MAX || depth > DEPTH_MAX || self.stop.is_set() {
            return self.problem(place, "the limit of the validation");
        }
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return self.problem(place, "false"),
            Value::Mapping(keywords) => keywords,
            _ => return,
        };
        let depth = depth + 1;
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            match self.older.find(reference) {
                Some(target) => self.apply(target, draft, value, place, depth),
                None => self.problem(place, "$ref"),
            }
            return;
        }
        if let Some(types) = keywords.get("type")
            && !is_of(types, value)
        {
            return self.problem(place, "type");
        }
        self.logic(keywords, draft, value, place, depth);
        match value {
            Value::Sequence(items) => self.list(keywords, draft, items, place, depth),
            Value::Mapping(entries) => self.object(keywords, draft, entries, place, depth),
            Value::String(text) => self.text(keywords, text, place),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => self.number(keywords, value, place),
            Value::Null | Value::Bool(_) => {}
        }
        let is_one_of = |all: &[Value]| all.iter().any(|one| is_same(one, value));
        if draft >= Draft::V6 && keywords.get("const").is_some_and(|constant| !is_same(constant, value)) {
            self.problem(place, "const");
        }
        if let Some(Value::Sequence(all)) = keywords.get("enum")
            && !all.is_empty()
            && !is_one_of(all)
        {
            self.problem(place, "enum");
        }
    }

    fn logic(&mut self, keywords: &Mapping, draft: Draft, value: &Value, place: &Place<'_>, depth: u32) {
        if let Some(Value::Sequence(any)) = keywords.get("anyOf")
            && !any.is_empty()
            && !any.iter().any(|schema| self.fits(schema, draft, value, depth))
        {
            self.problem(place, "anyOf");
        }
        if let Some(Value::Sequence(all)) = keywords.get("oneOf")
            && !all.is_empty()
            && all.iter().filter(|schema| self.fits(schema, draft, value, depth)).count() != 1
        {
            self.problem(place, "oneOf");
        }
        if let Some(Value::Sequence(all)) = keywords.get("allOf") {
            all.iter().for_each(|schema| self.apply(schema, draft, value, place, depth));
        }
        if let Some(not) = keywords.get("not")
            && self.fits(not, draft, value, depth)
        {
            self.problem(place, "not");
        }
        if draft >= Draft::V7
            && let Some(condition) = keywords.get("if")
        {
            let branch = if self.fits(condition, draft, value, depth) { "then" } else { "else" };
            if let Some(schema) = keywords.get(branch) {
                self.apply(schema, draft, value, place, depth);
            }
        }
    }

    fn list(&mut self, keywords: &Mapping, draft: Draft, items: &[Value], place: &Place<'_>, depth: u32) {
        let first: &[Value] = match keywords.get("items") {
            Some(Value::Sequence(first)) => first,
            _ => &[],
        };
        let other = match keywords.get("items") {
            Some(Value::Sequence(first)) if !first.is_empty() => keywords.get("additionalItems"),
            Some(Value::Sequence(_)) | None => None,
            single => single,
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(other) {
                self.apply(schema, draft, item, &Place::Below(place, &index.to_string()), depth);
            }
        }
        self.bounds(keywords, ("minItems", "maxItems"), items.len(), place);
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = std::collections::BTreeSet::new();
            if !items.iter().all(|item| seen.insert(plain(item))) {
                self.problem(place, "uniqueItems");
            }
        }
        if draft >= Draft::V6
            && let Some(contains) = keywords.get("contains")
            && !items.iter().any(|item| self.fits(contains, draft, item, depth))
        {
            self.problem(place, "contains");
        }
    }

    fn object(&mut self, keywords: &Mapping, draft: Draft, entries: &Mapping, place: &Place<'_>, depth: u32) {
        self.bounds(keywords, ("minProperties", "maxProperties"), entries.len(), place);
        if let Some(Value::Sequence(names)) = keywords.get("required") {
            for name in names.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
                self.problem(place, &format!("required {name}"));
            }
        }
        if let Some(Value::Mapping(dependencies)) = keywords.get("dependencies") {
            for (_, dependency) in dependencies.iter().filter(|(name, _)| entries.contains_key(name.as_str())) {
                match dependency {
                    Value::Sequence(names) => {
                        let is_missing = |name: &Value| name.as_str().is_some_and(|name| !entries.contains_key(name));
                        if names.iter().any(is_missing) {
                            self.problem(place, "dependencies");
                        }
                    }
                    schema => {
                        let whole = Value::Mapping(entries.clone());
                        self.apply(schema, draft, &whole, place, depth);
                    }
                }
            }
        }
        let empty = Mapping::new();
        let map = |keyword: &str| keywords.get(keyword).and_then(Value::as_mapping).unwrap_or(&empty);
        let (properties, patterns) = (map("properties"), map("patternProperties"));
        for (name, value) in entries {
            let below = Place::Below(place, name);
            let mut is_known = false;
            if let Some(schema) = properties.get(name) {
                is_known = true;
                self.apply(schema, draft, value, &below, depth);
            }
            for (pattern, schema) in patterns {
                if self.matches(pattern, name) {
                    is_known = true;
                    self.apply(schema, draft, value, &below, depth);
                }
            }
            if let (false, Some(schema)) = (is_known, keywords.get("additionalProperties")) {
                self.apply(schema, draft, value, &below, depth);
            }
            if draft >= Draft::V6
                && let Some(schema) = keywords.get("propertyNames")
                && !self.fits(schema, draft, &Value::String(name.clone()), depth)
            {
                self.problem(place, "propertyNames");
            }
        }
    }

    fn text(&mut self, keywords: &Mapping, text: &str, place: &Place<'_>) {
        self.bounds(keywords, ("minLength", "maxLength"), text.chars().count(), place);
        if let Some(Value::String(pattern)) = keywords.get("pattern")
            && !self.matches(pattern, text)
        {
            self.problem(place, "pattern");
        }
        if let Some(Value::String(format)) = keywords.get("format")
            && format::check(format, text) == Some(false)
        {
            self.problem(place, "format");
        }
    }

    fn number(&mut self, keywords: &Mapping, value: &Value, place: &Place<'_>) {
        let Some(number) = decimal(value) else { return };
        if keywords.get("multipleOf").and_then(decimal).is_some_and(|unit| !number.is_multiple_of(&unit)) {
            self.problem(place, "multipleOf");
        }
        use std::cmp::Ordering::{Equal, Greater, Less};
        for (keyword, exclusive, wrong) in
            [("minimum", "exclusiveMinimum", Less), ("maximum", "exclusiveMaximum", Greater)]
        {
            let limit = |keyword: &str| keywords.get(keyword).and_then(|limit| order(value, limit));
            let is_flag = keywords.get(exclusive) == Some(&Value::Bool(true));
            if limit(keyword).is_some_and(|found| found == wrong || is_flag && found == Equal) {
                self.problem(place, keyword);
            }
            if limit(exclusive).is_some_and(|found| found == wrong || found == Equal) {
                self.problem(place, exclusive);
            }
        }
        // A format that the library knows is that of a text.
        if let Some(Value::String(format)) = keywords.get("format")
            && format::check(format, "").is_some()
        {
            self.problem(place, "format");
        }
    }

    fn bounds(&mut self, keywords: &Mapping, (min, max): (&str, &str), count: usize, place: &Place<'_>) {
        let limit = |keyword: &str| keywords.get(keyword).and_then(decimal).and_then(|limit| limit.to_usize());
        if limit(min).is_some_and(|min| count < min) {
            self.problem(place, min);
        }
        if limit(max).is_some_and(|max| count > max) {
            self.problem(place, max);
        }
    }

    fn matches(&mut self, pattern: &str, text: &str) -> bool {
        let Some(regex) = self.older.patterns.get(pattern) else { return false };
        let steps = &mut self.steps;
        let count = |bytes: usize| -> Result<(), ()> {
            *steps += bytes as u64 / 64;
            if *steps > STEPS_MAX { Err(()) } else { Ok(()) }
        };
        regex.is_match(text.as_bytes(), count).unwrap_or(false)
    }
}

/// How two numbers compare.
fn order(one: &Value, two: &Value) -> Option<std::cmp::Ordering> {
    super::number(one)?.partial_cmp(&super::number(two)?)
}

/// Whether a value is of a type, or of one of some.
fn is_of(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Sequence(_) => name == "array",
        Value::Mapping(_) => name == "object",
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
            name == "number" || name == "integer" && decimal(value).is_some_and(|number| number.is_integer())
        }
    };
    match types {
        Value::Sequence(names) => names.is_empty() || names.iter().filter_map(Value::as_str).any(is),
        name => name.as_str().is_some_and(is),
    }
}

/// JSON with all numbers as floats: what values are compared by.
fn plain(value: &Value) -> String {
    let mut value = value.clone();
    crate::values::floats(&mut value);
    json::encode(&value, json::Options::default())
}

fn is_same(one: &Value, two: &Value) -> bool {
    plain(one) == plain(two)
}
