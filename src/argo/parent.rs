//! Applications that other Applications render: "app of apps".
//!
//! A [`Parent`] is an Application that is hydrated itself, or a root that lives in the cluster only. What it renders may
//! contain Applications and ApplicationSets with `sourceHydrator`, or under a rule, which are hydrated as those in files are.
//! Rendered text has no place in the dry tree, so their fields have that of the template or file that they seem to come
//! from ([`super::excerpt::Excerpt`]), else that of the parent.
//!
//! Leaves to others: rendering (the engines), and which Applications are asked (`plan`, with [`reach::Reach`]).

mod origins;
mod reach;
mod root;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_yaml::Value;
use sha2::{Digest, Sha256};

use super::document::document;
use super::field::Field;
use super::made::StoredApplication;
use super::maker::{By, Keeps, MadeFrom, Maker};
use super::misspelt::{Misspelt, may_be_meant};
use super::read::{Kind, kind};
use super::rendered::{RenderedObject, to_json};
use super::rules::RuleSet;
use super::set::ApplicationSet;
use super::{Application, Document};

pub(crate) use super::rendered::Parent;
pub(crate) use origins::Origins;
pub(crate) use reach::Reach;
pub(crate) use root::Root;
pub(crate) use written::Written;

/// How long the excerpts may be together that are kept with what one parent makes; without one, only the file and the line are
/// reported.
const EXCERPTS_BYTES_MAX: usize = 16 << 20;

/// What a parent makes.
#[derive(Debug, Default)]
pub(crate) struct Makes {
    /// Its Applications with `spec.sourceHydrator` or under a rule, right or wrong.
    pub documents: Vec<Document>,
    /// Its ApplicationSets that mention `sourceHydrator` or fall under a rule.
    pub sets: Vec<Arc<ApplicationSet>>,
    /// The numbers of the rules that match something of it.
    pub rules: BTreeSet<usize>,
    /// What is odd, such as a near miss of `sourceHydrator`.
    pub warnings: Vec<Diagnostic>,
    /// The Applications that are not hydrated by mistake; `warnings` has what is said of them.
    pub misspelt: Vec<Misspelt>,
}

impl Makes {
    /// Whether it makes nothing for us.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.sets.is_empty()
    }

    /// What its Applications cost to be kept, by the measure of files.
    pub(crate) fn cost(&self) -> u64 {
        let applications = self.documents.iter().filter_map(|document| document.application.as_ref());
        applications.map(|application| application.cost()).fold(0, u64::saturating_add)
    }

    fn misspell(&mut self, misspelt: Misspelt, object: &RenderedObject) {
        let diagnostic = misspelt.diagnostic.made_by(&object.maker());
        self.warnings.push(diagnostic.clone());
        self.misspelt.push(Misspelt { file: object.parent.file.clone(), diagnostic, ..misspelt });
    }
}

/// Whether a rendered object may be an Application or an ApplicationSet for us.
pub(crate) fn is_made(object: &Value) -> bool {
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    matches!(text("kind"), "Application" | "ApplicationSet")
        && text("apiVersion").split('/').next() == Some("argoproj.io")
}

/// Whether a rendered object may be an Application or an ApplicationSet for us, or was meant to be one.
pub(crate) fn may_be_made(object: &Value) -> bool {
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    may_be_meant(text("apiVersion"), text("kind"))
}

impl Parent {
    /// An Application as a parent.
    pub(crate) fn of(application: &Application) -> Self {
        let by = By::Application {
            namespace: application.namespace.as_ref().map(ToString::to_string),
            name: application.name.to_string(),
        };
        let above = application.maker.iter().flat_map(|maker| [&maker.by].into_iter().chain(&maker.above).cloned());
        let place = application.places.dry_path.clone();
        Self { by, file: application.file.clone(), place, above: above.collect() }
    }

    /// A root of the setting `roots` as a parent.
    pub(crate) fn root(application: &Application) -> Self {
        let by = By::Root { name: application.name.to_string() };
        let file = application.dry.path.clone();
        Self { by, place: Span::file(file.clone()), file, above: Vec::new() }
    }

    /// The Applications and sets among what it rendered that are hydrated by themselves or by `rules`, `objects` in their order. Rules
    /// look at the file that has an object as it is, else at that of the parent.
    pub(crate) fn makes(
        &self,
        objects: Vec<Value>,
        (origins, written): (&Origins, &Written),
        rules: &RuleSet,
    ) -> Makes {
        let mut makes = Makes::default();
        let mut bytes_left = EXCERPTS_BYTES_MAX;
        for (number, object) in (1..).zip(objects) {
            let name = object.at(&["metadata", "name"]).and_then(Value::as_str).unwrap_or_default();
            let excerpt = origins.find(object.get("kind").and_then(Value::as_str).unwrap_or_default(), name);
            let excerpt = excerpt.map(|excerpt| excerpt.within(&mut bytes_left));
            // Where the number says nothing, what comes before may come and go.
            let number = if excerpt.is_some() { 0 } else { number };
            let file = written.file_of(&object).unwrap_or(&self.file);
            let (parent, object) = (self.clone(), to_json(&object));
            let object = RenderedObject { parent, object, number, excerpt, placement: None };
            object.sort_into(&mut makes, (rules, file));
        }
        makes
    }
}

impl RenderedObject {
    fn sort_into(mut self, makes: &mut Makes, (rules, file): (&RuleSet, &RepoPath)) {
        let field = self.field();
        match kind(&field, None, (rules, file)) {
            Kind::Application(placement) => {
                makes.rules.extend(placement.as_ref().map(|placement| placement.rule));
                self.placement = placement;
                makes.documents.push(self.document(&field, rules));
            }
            Kind::LeftAlone(rule) => drop(makes.rules.insert(rule)),
            Kind::ApplicationSet(set) => {
                let maker = self.maker();
                makes.warnings.extend(set.misspelt_fields().map(|mistake| mistake.made_by(&maker)));
                for misspelt in set.misspelt_keys() {
                    makes.misspell(misspelt, &self);
                }
                makes.sets.push(Arc::new(set.rendered(self)));
            }
            Kind::Misspelt(misspelt) => makes.misspell(misspelt, &self),
            Kind::List(_) | Kind::Unclear(_) | Kind::Other => {}
        }
    }

    fn document(self, field: &Field, rules: &RuleSet) -> Document {
        let name = field.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Field::as_str);
        let index = self.index_of(name.unwrap_or_default());
        let mut document = document(field, index, false, self.placement.as_ref(), rules);
        document.made_by(self.maker(), rules);
        document
    }

    fn maker(&self) -> Maker {
        let Parent { by, file, place, above } = self.parent.clone();
        let origin = self.excerpt.as_ref().map(|excerpt| excerpt.place(&["metadata", "name"]));
        let text = origin.as_ref().map_or_else(|| format!("object {}", self.number), Span::to_string);
        let element = MadeFrom { text, place: origin.unwrap_or_else(|| place.clone()) };
        let kept = StoredApplication::Rendered(Box::new(self.clone())).to_text();
        Maker { by, file, place, element, above, kept, keeps: Keeps::Nothing, adds_finalizer: false }
    }

    /// A number for what this parent makes under a name, which does not depend on what else it makes.
    fn index_of(&self, name: &str) -> usize {
        self.parent.index_of(name)
    }

    /// The set that it is.
    pub(super) fn set(&self) -> Option<ApplicationSet> {
        let is_set = self.object.get("kind").and_then(serde_json::Value::as_str) == Some("ApplicationSet");
        is_set.then(|| ApplicationSet::of(&self.field()).rendered(self.clone()))
    }

    /// The Application that it is.
    pub(super) fn application(self, rules: &RuleSet) -> Option<Arc<Application>> {
        let is_application = self.object.get("kind").and_then(serde_json::Value::as_str) == Some("Application");
        let field = self.field();
        is_application.then(|| self.document(&field, rules).application).flatten()
    }
}

impl Parent {
    /// A number for something of this parent that has a name: never that of a document which is in a file.
    pub(crate) fn index_of(&self, name: &str) -> usize {
        number([&self.by].into_iter().chain(&self.above), name)
    }

    /// A number for the parent itself among the makers of its file.
    pub(crate) fn ordinal(&self) -> usize {
        Self::ordinal_of(&self.by, &self.above)
    }

    /// A number for a parent among the makers of its file, by what names the parent and what makes it, from the inside
    /// out.
    pub(crate) fn ordinal_of(by: &By, above: &[By]) -> usize {
        number([by].into_iter().chain(above), "") >> 1
    }
}

fn number<'b>(makers: impl Iterator<Item = &'b By>, name: &str) -> usize {
    let mut hash = Sha256::new();
    for text in makers.map(ToString::to_string).chain([name.to_owned()]) {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    super::made::top_number(&hash.finalize())
}

#[cfg(test)]
mod tests;
