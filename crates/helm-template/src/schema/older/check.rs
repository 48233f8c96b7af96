//! What makes a schema unusable: keywords of a wrong type, references and expressions that are none.

use std::collections::{BTreeMap, BTreeSet};

use go_std::regexp::Regex;
use go_std::url::Url;
use go_yaml::{Mapping, Value};

use super::super::{CompileError, DEPTH_MAX, PATTERNS_BYTES_MAX, SCHEMAS_MAX, decimal};
use super::{Draft, Older, plain};

/// Checks all schemas that can be reached. Gives the expressions in them by their texts.
///
/// Reference: gojsonschema 1.2.0 schema.go `parseSchema`.
pub(super) fn check(older: &Older) -> Result<BTreeMap<String, Regex>, CompileError> {
    let mut check =
        Check { older, patterns: BTreeMap::new(), pattern_bytes: 0, references: BTreeSet::new(), schemas: 0 };
    check.schema(&older.document, older.draft, 0)?;
    Ok(check.patterns)
}

struct Check<'a> {
    older: &'a Older,
    patterns: BTreeMap<String, Regex>,
    pattern_bytes: usize,
    /// Those that were followed.
    references: BTreeSet<&'a str>,
    schemas: usize,
}

type Checked = Result<(), CompileError>;

fn wrong<T>(message: impl Into<String>) -> Result<T, CompileError> {
    Err(CompileError::Older(message.into()))
}

fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Mapping(_) | Value::Bool(_))
}

impl<'a> Check<'a> {
    fn schema(&mut self, schema: &'a Value, draft: Draft, depth: u32) -> Checked {
        self.schemas += 1;
        if self.schemas > SCHEMAS_MAX || depth > DEPTH_MAX {
            return Err(CompileError::TooLarge);
        }
        let keywords = match schema {
            Value::Bool(_) if draft >= Draft::V6 => return Ok(()),
            Value::Mapping(keywords) => keywords,
            _ => return wrong("a schema must be an object"),
        };
        let depth = depth + 1;
        let id = match draft {
            Draft::V4 => "id",
            Draft::Hybrid if keywords.contains_key("id") => "id",
            _ => "$id",
        };
        for keyword in [id, "title", "description", "$ref"] {
            if keywords.get(keyword).is_some_and(|value| value.as_str().is_none()) {
                return wrong(format!("{keyword} must be a string"));
            }
        }
        for keyword in [id, "$ref"] {
            let url = keywords.get(keyword).and_then(Value::as_str).unwrap_or_default();
            if let Err(reason) = Url::parse(url.as_bytes()) {
                return wrong(format!("{keyword}: {reason}"));
            }
        }
        match keywords.get("definitions") {
            None => {}
            Some(Value::Mapping(schemas)) if schemas.values().all(is_schema) => {
                self.all(schemas.values(), draft, depth)?
            }
            Some(_) => return wrong("definitions must be an object of schemas"),
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            return self.reference(reference, draft, depth);
        }
        types(keywords)?;
        self.objects(keywords, draft, depth)?;
        self.lists(keywords, draft, depth)?;
        self.scalars(keywords, draft)?;
        self.logic(keywords, draft, depth)
    }

    fn all(&mut self, schemas: impl IntoIterator<Item = &'a Value>, draft: Draft, depth: u32) -> Checked {
        schemas.into_iter().try_for_each(|schema| self.schema(schema, draft, depth))
    }

    fn reference(&mut self, reference: &'a str, draft: Draft, depth: u32) -> Checked {
        if !self.references.insert(reference) {
            return Ok(());
        }
        match self.older.find(reference) {
            Some(target) if is_schema(target) => self.schema(target, draft, depth),
            Some(_) => wrong("a schema must be an object"),
            None => Err(CompileError::NoPointer(reference.to_owned())),
        }
    }

    /// A keyword whose value is a schema; a boolean may be one in all drafts.
    fn one(&mut self, keywords: &'a Mapping, keyword: &str, draft: Draft, depth: u32) -> Checked {
        match keywords.get(keyword) {
            None | Some(Value::Bool(_)) => Ok(()),
            Some(schema @ Value::Mapping(_)) => self.schema(schema, draft, depth),
            Some(_) => wrong(format!("{keyword} must be a schema")),
        }
    }

    fn objects(&mut self, keywords: &'a Mapping, draft: Draft, depth: u32) -> Checked {
        match keywords.get("properties") {
            None => {}
            Some(Value::Mapping(schemas)) => self.all(schemas.values(), draft, depth)?,
            Some(_) => return wrong("properties must be an object"),
        }
        self.one(keywords, "additionalProperties", draft, depth)?;
        match keywords.get("patternProperties") {
            None => {}
            Some(Value::Mapping(schemas)) => {
                schemas.keys().try_for_each(|pattern| self.pattern(pattern))?;
                self.all(schemas.values(), draft, depth)?;
            }
            Some(_) => return wrong("patternProperties must be an object"),
        }
        if draft >= Draft::V6 {
            self.one(keywords, "propertyNames", draft, depth)?;
        }
        match keywords.get("dependencies") {
            None => Ok(()),
            Some(Value::Mapping(dependencies)) => dependencies.values().try_for_each(|dependency| match dependency {
                Value::Sequence(names) if names.iter().all(|name| name.as_str().is_some()) => Ok(()),
                schema if is_schema(schema) => self.schema(schema, draft, depth),
                _ => wrong("dependencies must be schemas or lists of strings"),
            }),
            Some(_) => wrong("dependencies must be an object"),
        }
    }

    fn lists(&mut self, keywords: &'a Mapping, draft: Draft, depth: u32) -> Checked {
        match keywords.get("items") {
            None => {}
            Some(Value::Sequence(schemas)) => self.all(schemas, draft, depth)?,
            Some(schema) if is_schema(schema) => self.schema(schema, draft, depth)?,
            Some(_) => return wrong("items must be a schema or a list of schemas"),
        }
        self.one(keywords, "additionalItems", draft, depth)?;
        if let (Some(schema), true) = (keywords.get("contains"), draft >= Draft::V6) {
            self.schema(schema, draft, depth)?;
        }
        Ok(())
    }

    fn logic(&mut self, keywords: &'a Mapping, draft: Draft, depth: u32) -> Checked {
        for keyword in ["oneOf", "anyOf", "allOf"] {
            match keywords.get(keyword) {
                None => {}
                Some(Value::Sequence(schemas)) => self.all(schemas, draft, depth)?,
                Some(_) => return wrong(format!("{keyword} must be an array")),
            }
        }
        let conditional: &[&str] = if draft >= Draft::V7 { &["not", "if", "then", "else"] } else { &["not"] };
        for &keyword in conditional {
            match keywords.get(keyword) {
                None => {}
                Some(schema) if is_schema(schema) => self.schema(schema, draft, depth)?,
                Some(_) => return wrong(format!("{keyword} must be an object")),
            }
        }
        Ok(())
    }

    fn scalars(&mut self, keywords: &'a Mapping, draft: Draft) -> Checked {
        for keyword in ["multipleOf", "minimum", "maximum"] {
            if keywords.get(keyword).is_some_and(|value| decimal(value).is_none()) {
                return wrong(format!("{keyword} must be a number"));
            }
        }
        if keywords.get("multipleOf").and_then(super::super::number).is_some_and(|number| number <= 0.0) {
            return wrong("multipleOf must be greater than 0");
        }
        exclusive(keywords, draft, "exclusiveMinimum", "minimum")?;
        exclusive(keywords, draft, "exclusiveMaximum", "maximum")?;
        for (min, max) in [("minLength", "maxLength"), ("minProperties", "maxProperties"), ("minItems", "maxItems")] {
            let (least, most) = (size(keywords, min)?, size(keywords, max)?);
            if min != "minItems" && least.zip(most).is_some_and(|(least, most)| least > most) {
                return wrong(format!("{min} cannot be greater than {max}"));
            }
        }
        match keywords.get("pattern") {
            None => {}
            Some(Value::String(pattern)) => self.pattern(pattern)?,
            Some(_) => return wrong("pattern must be a string"),
        }
        if keywords.get("format").is_some_and(|format| format.as_str().is_none()) {
            return wrong("format must be a string");
        }
        if keywords.get("uniqueItems").is_some_and(|flag| flag.as_bool().is_none()) {
            return wrong("uniqueItems must be a boolean");
        }
        match keywords.get("required") {
            None => {}
            Some(Value::Sequence(names)) if names.iter().all(|name| name.as_str().is_some()) => {
                distinct("required", names)?;
            }
            Some(_) => return wrong("required must be an array of strings"),
        }
        match keywords.get("enum") {
            None => Ok(()),
            Some(Value::Sequence(all)) => distinct("enum", all),
            Some(_) => wrong("enum must be an array"),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Checked {
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        let Ok(regex) = Regex::new(pattern.as_bytes()) else {
            return wrong(format!("{} is not a regular expression", go_std::strconv::quote(pattern)));
        };
        self.pattern_bytes += regex.size();
        if self.pattern_bytes > PATTERNS_BYTES_MAX {
            return Err(CompileError::Patterns);
        }
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }
}

fn types(keywords: &Mapping) -> Checked {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "number", "null", "object", "string"];
    let Some(types) = keywords.get("type") else { return Ok(()) };
    let names = types.as_sequence().unwrap_or(std::slice::from_ref(types));
    if !names.iter().all(|name| name.as_str().is_some_and(|name| TYPES.contains(&name))) {
        return wrong("type must be a valid type, or a list of them");
    }
    distinct("type", names)
}

fn distinct(keyword: &str, items: &[Value]) -> Checked {
    let mut seen = BTreeSet::new();
    if items.iter().all(|item| seen.insert(plain(item))) {
        Ok(())
    } else {
        wrong(format!("{keyword} items must be unique"))
    }
}

/// A flag for another limit in draft 4, a limit of its own since; either in all drafts together.
fn exclusive(keywords: &Mapping, draft: Draft, keyword: &str, limit: &str) -> Checked {
    let is_limit = |value: &Value| decimal(value).is_some();
    match keywords.get(keyword) {
        None => Ok(()),
        Some(Value::Bool(_)) if matches!(draft, Draft::V4 | Draft::Hybrid) => match keywords.get(limit) {
            Some(_) => Ok(()),
            None => wrong(format!("{keyword} cannot be used without {limit}")),
        },
        Some(value) if draft != Draft::V4 && is_limit(value) => Ok(()),
        Some(_) => wrong(format!("{keyword} has a wrong type")),
    }
}

fn size(keywords: &Mapping, keyword: &str) -> Result<Option<usize>, CompileError> {
    match keywords.get(keyword) {
        None => Ok(None),
        Some(Value::Int(number)) => match usize::try_from(*number) {
            Ok(number) => Ok(Some(number)),
            Err(_) => wrong(format!("{keyword} must be greater than or equal to 0")),
        },
        Some(_) => wrong(format!("{keyword} must be an integer")),
    }
}
