//! Keywords about objects.

use go_yaml::Value;

use super::super::compile::{Additional, Dependency};
use super::super::draft::Draft;
use super::super::report::{Problem, count, quote, quote_all};
use super::{Checking, Scope, Target, Unseen};

impl Checking<'_> {
    pub(super) fn object(&mut self, draft: Draft) {
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

    pub(super) fn properties(&mut self, object: &go_yaml::Mapping) {
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
                if self.run.matches(regex, name).unwrap_or_default() {
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

    pub(super) fn property_names(&mut self, object: &go_yaml::Mapping) {
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
}
