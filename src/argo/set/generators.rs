//! Generators: from an entry of `spec.generators`, or of a matrix or merge, to params.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/generator_spec_processor.go.

mod clusters;
mod git;
mod list;
mod matrix;
mod merge;

use std::sync::Arc;

use dry_files::diag::Refusal;
use go_yaml::{Mapping, Value};

use super::Sources;
use super::fault::{Fault, Result};
use super::language::Language;
use super::origin::{Element, Origin, Source};
use super::params::{self, Params};
use super::recorded::Recorded;
use super::render::render;
use super::selector::{Kind, Selector};
use super::shape::{Keys, Shape, fill, read};
use super::types::{GENERATOR, NESTED_MATRIX, NESTED_MERGE, TEMPLATE};

/// What generators work with.
pub(super) struct Engine<'a> {
    pub sources: &'a Sources<'a>,
    /// What was recorded of generators that git cannot answer.
    pub recorded: Arc<Recorded>,
    pub language: Language,
}

/// What one generator gives.
pub(super) struct Generated {
    /// Its name in the entry.
    pub name: &'static str,
    pub elements: Vec<Element>,
    /// Its own template over that of the set.
    pub template: Value,
}

/// The generators of an entry, in the order in which they run.
const NAMES: [&str; 9] =
    ["list", "clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "matrix", "merge", "plugin"];

impl Engine<'_> {
    /// Runs all generators of an entry.
    ///
    /// `entry` was read as [`GENERATOR`]. With params, those of the first child of a matrix, its texts are rendered
    /// before; but what its selector says counts as it is written.
    pub(super) fn generate(
        &mut self,
        entry: &Value,
        template: &Value,
        outer: Option<&Params>,
    ) -> Result<Vec<Generated>> {
        let selector = entry.get("selector");
        let selector = selector.map(|selector| Selector::new(selector, Kind::Params)).transpose();
        let selector = selector.map_err(|fault| fault.within("error parsing label selector").below("selector"))?;
        let mut all = Vec::new();
        for name in NAMES {
            let Some(generator) = entry.get(name) else { continue };
            let mut own = generator.get("template").cloned().unwrap_or_else(|| Value::Mapping(Mapping::new()));
            fill(&mut own, template, &TEMPLATE);
            let rendered = match outer.filter(|params| !params.is_empty()) {
                Some(params) => Some(
                    render(&mut self.language, entry, &GENERATOR, params)
                        .map_err(|fault| fault.within("failed to replace parameters in generator"))?,
                ),
                None => None,
            };
            let generator = rendered.as_ref().and_then(|entry| entry.get(name)).unwrap_or(generator);
            let made = self.run(name, generator).map_err(|fault| fault.below(name))?;
            self.language.charge_sets(made.len())?;
            let mut elements = Vec::with_capacity(made.len());
            for mut element in made {
                if self.is_selected(selector.as_ref(), &element.params)? {
                    element.origin.below(name);
                    elements.push(element);
                }
            }
            all.push(Generated { name, elements, template: own });
        }
        Ok(all)
    }

    fn is_selected(&mut self, selector: Option<&Selector>, params: &Params) -> Result<bool> {
        let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return Ok(true) };
        let labels = params::labels(&mut self.language, params)?;
        let label = |key: &str| labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        Ok(selector.matches(label))
    }

    fn run(&mut self, name: &'static str, generator: &Value) -> Result<Vec<Element>> {
        match name {
            "list" => list::params(&mut self.language, generator),
            "clusters" => clusters::params(&mut self.language, self.sources, generator),
            "git" => git::params(&mut self.language, self.sources, generator),
            "matrix" => matrix::params(self, generator),
            "merge" => merge::params(self, generator),
            name => self.recorded(name, generator),
        }
    }

    /// What was recorded of a generator that git cannot answer.
    fn recorded(&mut self, name: &str, generator: &Value) -> Result<Vec<Element>> {
        let recorded = self.recorded.clone();
        let Some(recorded) = recorded.get(name) else {
            return Err(Fault::refused(
                format!("the generator `{name}` gets its params from outside of git"),
                Refusal::Elsewhere,
                "record its params in a file of the dry tree and name the file in the setting \
                `applicationSets.<name>.parameters`, or list them in a file that a `git` generator reads",
            ));
        };
        let mut all = Vec::with_capacity(recorded.len());
        for (index, object) in recorded.iter().enumerate() {
            self.language.charge(object.values().map(params::size).sum())?;
            let params = params::of_object(object);
            params::append_values(&mut self.language, &params, generator.get("values"))?;
            all.push(Element { params, origin: Origin::of(Source::Recorded(name.to_owned(), index)) });
        }
        Ok(all)
    }

    /// The params of a child of a matrix or merge: exactly one generator.
    pub(super) fn child(&mut self, child: &Value, parent: Parent, outer: Option<&Params>) -> Result<Vec<Element>> {
        let entry = unnested(child, parent)?;
        let generated = self
            .generate(&entry, &Value::Mapping(Mapping::new()), outer)
            .map_err(|fault| fault.within("child generator returned an error on parameter generation"))?;
        let mut generated = generated.into_iter();
        match (generated.next(), generated.next()) {
            (Some(only), None) => Ok(only.elements),
            (None, _) => Err(Fault::new("child generator generated no parameters").hint(
                "a child must name one generator; matrix and merge nest two levels deep, \
                 and Argo CD ignores a third",
            )),
            (Some(_), Some(_)) => Err(Fault::new("found more than one generator in matrix.Generators")),
        }
    }
}

/// What a child belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    Matrix,
    Merge,
}

/// A nested generator as one of the top: its own matrix or merge is read now, with terminal generators only.
fn unnested(child: &Value, parent: Parent) -> Result<Value> {
    let mut entry = child.as_mapping().cloned().unwrap_or_default();
    for (name, shape) in [("matrix", &NESTED_MATRIX), ("merge", &NESTED_MERGE)] {
        let Some(json) = entry.get_mut(name) else { continue };
        *json = nested(json, shape).map_err(|fault| not_nested(fault, name, parent))?;
    }
    Ok(Value::Mapping(entry))
}

/// In upstream's words, which depend on the generator of this name and on what it is nested in.
fn not_nested(fault: Fault, name: &str, parent: Parent) -> Fault {
    match (name, parent) {
        ("matrix", _) => fault,
        (_, Parent::Merge) => fault.within("error converting to nested merge generator"),
        (_, Parent::Matrix) => {
            fault.within("error converting to nested merge generator").within("error retrieving merge generator")
        }
    }
}

fn nested(json: &Value, shape: &Shape) -> Result<Value> {
    read(json, shape, Keys::Folded).map_err(|mismatch| Fault::new(mismatch.text).in_path(&mismatch.steps))
}
