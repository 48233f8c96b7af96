//! Makes Applications of params.

use go_yaml::{Mapping, Value};

use super::fault::{Fault, Result};
use super::generators::Generated;
use super::language::{Language, Missing};
use super::params::Params;
use super::shape::written;
use super::types::APPLICATION;
use super::{API_VERSION, ApplicationSet, MadeApplication};
use super::{params, patch, render};
use crate::argo::field::{Content, Field};

/// Makes Applications of params.
pub(super) struct Maker<'a> {
    pub(super) set: &'a ApplicationSet,
    pub(super) spec: &'a Value,
    pub(super) applications_max: usize,
}

impl Maker<'_> {
    pub(super) fn make(
        &self,
        language: &mut Language,
        index: usize,
        generated: &Generated,
        applications: &mut Vec<MadeApplication>,
    ) -> Result<()> {
        let size = params::size(&generated.template);
        for element in &generated.elements {
            let params = &element.params;
            if applications.len() >= self.applications_max {
                return Err(Fault::new(format!("the set makes more than {} Applications", self.applications_max))
                    .hint("split it into several sets, or narrow its generators")
                    .below(index)
                    .below("generators")
                    .below("spec"));
            }
            language.charge(size)?;
            let application = self.rendered(language, index, generated, params)?;
            let application = self
                .patched(language, application, params)
                .map_err(|fault| fault.below("templatePatch").below("spec"))?;
            let element = self.set.made_from(index, generated.name, &element.origin);
            applications.push(MadeApplication {
                object: application,
                element,
                generator: (index, generated.name.to_owned()),
            });
        }
        Ok(())
    }

    /// The template with its texts rendered; without any params as it is written.
    fn rendered(&self, language: &mut Language, index: usize, of: &Generated, params: &Params) -> Result<Value> {
        if params.is_empty() {
            return Ok(of.template.clone());
        }
        render::render(language, &of.template, &APPLICATION, params).map_err(|fault| {
            let place = self.template_place(index, of.name, &fault);
            fault.in_path(&place)
        })
    }

    /// The template that a fault is in: the generator's own, when that has the field, else that of the set.
    fn template_place(&self, index: usize, name: &str, fault: &Fault) -> Vec<String> {
        let own = ["spec", "generators", &index.to_string(), name, "template"].map(str::to_owned);
        let steps: Vec<&str> = own.iter().map(String::as_str).chain(fault.steps()).collect();
        match has_path(&self.set.field, &steps) {
            true => own.to_vec(),
            false => ["spec", "template"].map(str::to_owned).to_vec(),
        }
    }

    fn patched(&self, language: &mut Language, application: Value, params: &Params) -> Result<Value> {
        let Some(patch) = self.spec.get("templatePatch").and_then(Value::as_str) else { return Ok(application) };
        let patch = language
            .render(patch, params, Missing::AsSet)
            .map_err(|fault| fault.within("error replacing values in templatePatch"))?;
        let patched = patch::patched(&application, &patch)?;
        // A patch of few bytes makes many entries.
        language.charge(params::size(&patched))?;
        Ok(patched)
    }
}

fn has_path(field: &Field, steps: &[&str]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let next = match &field.content {
        Content::Mapping(_) => field.get(step),
        Content::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
        Content::Scalar(_) => None,
    };
    next.is_some_and(|next| has_path(next, rest))
}

/// The Application as a whole object, in the namespace of the set.
pub(super) fn finished(mut application: Value, namespace: &str) -> Value {
    if let Value::Mapping(entries) = &mut application {
        let metadata = entries.entry("metadata".to_owned()).or_insert_with(|| Value::Mapping(Mapping::new()));
        if let Value::Mapping(metadata) = metadata {
            metadata.insert("namespace".to_owned(), Value::from(namespace));
        }
        entries.insert("apiVersion".to_owned(), Value::from(API_VERSION));
        entries.insert("kind".to_owned(), Value::from("Application"));
    }
    written(&application, &APPLICATION)
}
