//! The keywords of one schema.

use std::collections::BTreeMap;

use go_std::regexp::Regex;
use go_yaml::Value;

use super::super::decimal::Decimal;
use super::super::draft::Draft;
use super::super::report::{fragment, push_pointer};
use super::super::{CompileError, PATTERNS_BYTES_MAX};
use super::{Additional, Compiler, Dependency, Keywords, SchemaId};

impl<'a> Object<'a> {
    pub(super) fn keywords(&mut self, draft: Draft, out: &mut Keywords) -> Result<(), CompileError> {
        out.reference = self.reference("$ref")?;
        if draft < Draft::V2019 && out.reference.is_some() {
            return Ok(());
        }
        self.logic(draft, out)?;
        self.objects(draft, out)?;
        self.lists(draft, out)?;
        self.scalars(out)?;
        if draft < Draft::V2019 || self.compiler.asked.checks_formats {
            out.format = self.text("format").map(str::to_owned);
        }
        if draft >= Draft::V2019 {
            out.recursive_reference = self.reference("$recursiveRef")?;
            out.recursive_anchor = self.flag("$recursiveAnchor");
        }
        if draft >= Draft::V2020 {
            let anchor =
                self.text("$dynamicRef").and_then(|text| text.split_once('#')).map(|(_, name)| name.to_owned());
            let anchor = anchor.filter(|name| !name.starts_with('/')).unwrap_or_default();
            out.dynamic_reference = self.reference("$dynamicRef")?.map(|target| (target, anchor));
            out.dynamic_anchor = self.text("$dynamicAnchor").map(str::to_owned);
        }
        Ok(())
    }

    pub(super) fn logic(&mut self, draft: Draft, out: &mut Keywords) -> Result<(), CompileError> {
        out.all_of = self.schemas("allOf")?;
        out.any_of = self.schemas("anyOf")?;
        out.one_of = self.schemas("oneOf")?;
        out.not = self.schema("not")?;
        if let Some(names) = self.value.get("type") {
            let names = names.as_sequence().unwrap_or(std::slice::from_ref(names));
            let all = ["null", "boolean", "number", "integer", "string", "array", "object"];
            out.types = all.into_iter().filter(|name| names.iter().any(|given| given.as_str() == Some(name))).collect();
        }
        out.one_of_values = self.value.get("enum").and_then(Value::as_sequence).map(<[_]>::to_vec);
        if draft >= Draft::V6 {
            out.constant = self.value.get("const").cloned();
        }
        if draft >= Draft::V7 {
            out.condition = self.schema("if")?;
            if out.condition.is_some() {
                out.then = self.schema("then")?;
                out.otherwise = self.schema("else")?;
            }
        }
        Ok(())
    }

    pub(super) fn objects(&mut self, draft: Draft, out: &mut Keywords) -> Result<(), CompileError> {
        out.min_properties = self.size("minProperties");
        out.max_properties = self.size("maxProperties");
        out.required = self.texts("required");
        out.properties = self.schema_map("properties")?;
        for (pattern, schema) in self.schema_map("patternProperties")? {
            out.pattern_properties.push((self.regex("patternProperties", &pattern)?, schema));
        }
        out.additional_properties = self.additional("additionalProperties")?;
        if let Some(Value::Mapping(entries)) = self.value.get("dependencies") {
            for (name, value) in entries {
                let dependency = match value {
                    Value::Sequence(items) => Dependency::Properties(texts(items)),
                    _ => Dependency::Schema(self.below(&["dependencies", name])?),
                };
                out.dependencies.insert(name.clone(), dependency);
            }
        }
        if draft >= Draft::V6 {
            out.property_names = self.schema("propertyNames")?;
        }
        if draft >= Draft::V2019 {
            if let Some(Value::Mapping(entries)) = self.value.get("dependentRequired") {
                let lists =
                    entries.iter().filter_map(|(name, value)| Some((name.clone(), texts(value.as_sequence()?))));
                out.dependent_required = lists.collect();
            }
            out.dependent_schemas = self.schema_map("dependentSchemas")?;
            out.unevaluated_properties = self.schema("unevaluatedProperties")?;
        }
        Ok(())
    }

    pub(super) fn lists(&mut self, draft: Draft, out: &mut Keywords) -> Result<(), CompileError> {
        out.min_items = self.size("minItems");
        out.max_items = self.size("maxItems");
        out.unique_items = self.flag("uniqueItems");
        if draft >= Draft::V2020 {
            out.first_items = self.schemas("prefixItems")?;
            out.other_items = self.schema("items")?.map(Additional::Schema);
        } else if self.value.get("items").is_some_and(|items| items.as_sequence().is_some()) {
            out.first_items = self.schemas("items")?;
            out.other_items = self.additional("additionalItems")?;
        } else {
            out.other_items = self.schema("items")?.map(Additional::Schema);
        }
        if draft >= Draft::V6 {
            out.contains = self.schema("contains")?;
        }
        if draft >= Draft::V2019 {
            out.min_contains = self.size("minContains");
            out.max_contains = self.size("maxContains");
            out.unevaluated_items = self.schema("unevaluatedItems")?;
        }
        Ok(())
    }

    pub(super) fn scalars(&mut self, out: &mut Keywords) -> Result<(), CompileError> {
        out.min_length = self.size("minLength");
        out.max_length = self.size("maxLength");
        if let Some(pattern) = self.text("pattern") {
            out.pattern = Some((self.regex("pattern", pattern)?, pattern.to_owned()));
        }
        out.multiple_of = self.number("multipleOf");
        out.minimum = self.number("minimum");
        out.maximum = self.number("maximum");
        // A flag in draft 4, a limit of its own since.
        out.exclusive_minimum =
            if self.flag("exclusiveMinimum") { out.minimum.take() } else { self.number("exclusiveMinimum") };
        out.exclusive_maximum =
            if self.flag("exclusiveMaximum") { out.maximum.take() } else { self.number("exclusiveMaximum") };
        Ok(())
    }

    pub(super) fn below(&mut self, tokens: &[&str]) -> Result<SchemaId, CompileError> {
        let mut pointer = self.pointer.to_owned();
        tokens.iter().for_each(|token| push_pointer(&mut pointer, token));
        self.compiler.enqueue(self.url, &pointer)
    }

    pub(super) fn reference(&mut self, keyword: &str) -> Result<Option<SchemaId>, CompileError> {
        let Some(reference) = self.text(keyword) else { return Ok(None) };
        self.compiler.resolve(self.url, self.base, reference).map(Some)
    }

    pub(super) fn schema(&mut self, keyword: &str) -> Result<Option<SchemaId>, CompileError> {
        self.value.get(keyword).is_some().then(|| self.below(&[keyword])).transpose()
    }

    pub(super) fn schemas(&mut self, keyword: &str) -> Result<Vec<SchemaId>, CompileError> {
        let count = self.value.get(keyword).and_then(Value::as_sequence).map_or(0, <[_]>::len);
        (0..count).map(|index| self.below(&[keyword, &index.to_string()])).collect()
    }

    pub(super) fn schema_map(&mut self, keyword: &str) -> Result<BTreeMap<String, SchemaId>, CompileError> {
        let Some(Value::Mapping(entries)) = self.value.get(keyword) else { return Ok(BTreeMap::new()) };
        entries.keys().map(|key| Ok((key.clone(), self.below(&[keyword, key])?))).collect()
    }

    pub(super) fn additional(&mut self, keyword: &str) -> Result<Option<Additional>, CompileError> {
        match self.value.get(keyword).and_then(Value::as_bool) {
            Some(allowed) => Ok(Some(Additional::Allowed(allowed))),
            None => Ok(self.schema(keyword)?.map(Additional::Schema)),
        }
    }

    pub(super) fn regex(&mut self, keyword: &str, pattern: &str) -> Result<Regex, CompileError> {
        self.compiler.go_on()?;
        let regex = match Regex::new(pattern.as_bytes()) {
            Ok(regex) => regex,
            Err(reason) => {
                let at = format!("{}#{}/{keyword}", self.url, fragment(self.pointer));
                return Err(CompileError::Regex { regex: pattern.to_owned(), at, reason: reason.to_string() });
            }
        };
        self.compiler.pattern_bytes += regex.size();
        if self.compiler.pattern_bytes > PATTERNS_BYTES_MAX { Err(CompileError::Patterns) } else { Ok(regex) }
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&'a str> {
        self.value.get(keyword).and_then(Value::as_str)
    }

    pub(super) fn texts(&self, keyword: &str) -> Vec<String> {
        self.value.get(keyword).and_then(Value::as_sequence).map(texts).unwrap_or_default()
    }

    pub(super) fn flag(&self, keyword: &str) -> bool {
        self.value.get(keyword).and_then(Value::as_bool) == Some(true)
    }

    pub(super) fn number(&self, keyword: &str) -> Option<f64> {
        self.value.get(keyword).and_then(super::super::number)
    }

    pub(super) fn size(&self, keyword: &str) -> Option<usize> {
        self.number(keyword).and_then(|number| Decimal::float(number).to_usize())
    }
}

/// One object of a schema document.
pub(super) struct Object<'a> {
    pub(super) compiler: &'a mut Compiler,
    pub(super) url: &'a str,
    pub(super) base: &'a str,
    pub(super) pointer: &'a str,
    pub(super) value: &'a Value,
}

pub(super) fn texts(items: &[Value]) -> Vec<String> {
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
