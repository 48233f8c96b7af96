//! Schemas that apply to the same value: references, logic, and what is left unevaluated.

use go_yaml::Value;

use super::super::compile::SchemaId;
use super::super::report::count;
use super::{Checking, Scope};

impl Checking<'_> {
    /// The references whose target depends on the way here.
    pub(super) fn moving_references(&mut self) {
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

    pub(super) fn logic(&mut self) {
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

    pub(super) fn any_of(&mut self) {
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

    pub(super) fn one_of(&mut self) {
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

    pub(super) fn unevaluated(&mut self) {
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
}
