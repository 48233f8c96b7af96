//! A schema document made ready to be applied.
#![expect(clippy::indexing_slicing, reason = "ids are made with what they name")]

mod object;

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::view::Stop;
use go_std::regexp::Regex;
use go_yaml::Value;

use super::document::Document;
use super::draft::{Draft, metaschema};
use super::report::fragment;
use super::{CompileError, SCHEMAS_MAX, lookup, url};
use crate::version::differences::Urns;
use object::Object;

/// One schema of a [`Compiled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SchemaId(usize);

/// All schemas that can be reached from a root.
#[derive(Debug)]
pub(super) struct Compiled {
    schemas: Vec<Keywords>,
    pub root: SchemaId,
    /// URNs that accept anything, because nothing defines them.
    pub unresolved: Vec<String>,
}

impl Compiled {
    pub(super) fn get(&self, id: SchemaId) -> &Keywords {
        &self.schemas[id.0]
    }
}

/// What one schema asks for.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    pub draft: Option<Draft>,
    pub location: String,
    /// How many names of properties it looks for in each object.
    pub names: usize,
    /// The schema whose URL this one is part of.
    pub resource: Option<SchemaId>,
    /// For the root of a resource: what `$dynamicRef` may find there.
    pub dynamic_anchors: BTreeMap<String, SchemaId>,
    /// `true` or `false` in place of an object.
    pub always: Option<bool>,
    pub reference: Option<SchemaId>,
    pub recursive_reference: Option<SchemaId>,
    pub recursive_anchor: bool,
    pub dynamic_reference: Option<(SchemaId, String)>,
    pub dynamic_anchor: Option<String>,
    pub types: Vec<&'static str>,
    pub constant: Option<Value>,
    pub one_of_values: Option<Vec<Value>>,
    pub format: Option<String>,
    pub not: Option<SchemaId>,
    pub all_of: Vec<SchemaId>,
    pub any_of: Vec<SchemaId>,
    pub one_of: Vec<SchemaId>,
    pub condition: Option<SchemaId>,
    pub then: Option<SchemaId>,
    pub otherwise: Option<SchemaId>,
    // Objects.
    pub min_properties: Option<usize>,
    pub max_properties: Option<usize>,
    pub required: Vec<String>,
    pub property_names: Option<SchemaId>,
    pub properties: BTreeMap<String, SchemaId>,
    pub pattern_properties: Vec<(Regex, SchemaId)>,
    pub additional_properties: Option<Additional>,
    pub dependencies: BTreeMap<String, Dependency>,
    pub dependent_required: BTreeMap<String, Vec<String>>,
    pub dependent_schemas: BTreeMap<String, SchemaId>,
    pub unevaluated_properties: Option<SchemaId>,
    // Lists.
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub unique_items: bool,
    /// The schemas of the first items.
    pub first_items: Vec<SchemaId>,
    /// What applies to all other items.
    pub other_items: Option<Additional>,
    pub contains: Option<SchemaId>,
    pub min_contains: Option<usize>,
    pub max_contains: Option<usize>,
    pub unevaluated_items: Option<SchemaId>,
    // Strings.
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub pattern: Option<(Regex, String)>,
    // Numbers.
    pub minimum: Option<f64>,
    pub exclusive_minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_maximum: Option<f64>,
    pub multiple_of: Option<f64>,
}

/// What applies to everything that no other keyword names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Additional {
    /// Whether there may be any.
    Allowed(bool),
    /// Each must meet a schema.
    Schema(SchemaId),
}

/// What one property asks of its object.
#[derive(Debug)]
pub(super) enum Dependency {
    /// Other properties.
    Properties(Vec<String>),
    /// To meet a schema.
    Schema(SchemaId),
}

impl Keywords {
    fn count_names(&self) -> usize {
        let all_of = |names: &BTreeMap<String, Vec<String>>| names.values().map(|names| 1 + names.len()).sum::<usize>();
        self.required.len()
            + self.dependencies.values().map(Dependency::count_names).sum::<usize>()
            + all_of(&self.dependent_required)
            + self.dependent_schemas.len()
    }
}

impl Dependency {
    /// The property's own name, and those of the others.
    fn count_names(&self) -> usize {
        match self {
            Dependency::Properties(names) => 1 + names.len(),
            Dependency::Schema(_) => 1,
        }
    }
}

/// Why a document is always there.
const LOADED: &str = "whoever names a document has loaded it";

/// After how many schemas the time is looked at.
const SCHEMAS_PER_LOOK: usize = 64;

/// Compiles the schema `value`, which has the URL `url`, and all that it refers to.
pub(super) fn compile(url: &str, value: Value, asked: Asked, stop: &Stop) -> Result<Compiled, CompileError> {
    let mut compiler = Compiler {
        documents: BTreeMap::new(),
        ids: BTreeMap::new(),
        schemas: Vec::new(),
        queue: Vec::new(),
        asked,
        unresolved: Vec::new(),
        pattern_bytes: 0,
        stop: stop.clone(),
    };
    compiler.add_document(url, value)?;
    let root = compiler.enqueue(url, "")?;
    let mut count = 0_usize;
    while let Some((id, url, pointer)) = compiler.queue.pop() {
        count += 1;
        if count.is_multiple_of(SCHEMAS_PER_LOOK) {
            compiler.go_on()?;
        }
        let keywords = compiler.compile(&url, &pointer)?;
        compiler.schemas[id.0] = Keywords { names: keywords.count_names(), ..keywords };
    }
    Ok(Compiled { schemas: compiler.schemas, root, unresolved: compiler.unresolved })
}

/// How a schema is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Whether formats are asserted in all drafts.
    pub checks_formats: bool,
    /// What unknown URNs are.
    pub urns: Urns,
}

struct Compiler {
    documents: BTreeMap<String, Document>,
    ids: BTreeMap<(String, String), SchemaId>,
    schemas: Vec<Keywords>,
    queue: Vec<(SchemaId, String, String)>,
    asked: Asked,
    unresolved: Vec<String>,
    /// How much the expressions take that were compiled.
    pattern_bytes: usize,
    stop: Stop,
}

impl Compiler {
    /// Errors: there is no time left.
    fn go_on(&self) -> Result<(), CompileError> {
        if self.stop.is_set() { Err(CompileError::Stopped) } else { Ok(()) }
    }

    fn add_document(&mut self, url: &str, value: Value) -> Result<(), CompileError> {
        let document = Document::new(url, value)?;
        if metaschema(url).is_none() {
            let url = format!("{url}#");
            super::check_against_metaschema(document.resource("").draft, &document.value, &url, &self.stop)?;
        }
        self.documents.insert(url.to_owned(), document);
        Ok(())
    }

    /// Makes sure that a document is there. Nothing is fetched.
    fn load(&mut self, url: &str) -> Result<(), CompileError> {
        if self.documents.contains_key(url) {
            return Ok(());
        }
        if let Some(value) = metaschema(url) {
            return self.add_document(url, value.clone());
        }
        if url.starts_with("urn:") && self.asked.urns == Urns::AcceptAll {
            self.unresolved.push(url.to_owned());
            return self.add_document(url, Value::Bool(true));
        }
        Err(CompileError::Load(url.to_owned()))
    }

    /// The id of a schema, which is compiled later unless it is already.
    fn enqueue(&mut self, url: &str, pointer: &str) -> Result<SchemaId, CompileError> {
        let key = (url.to_owned(), pointer.to_owned());
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        if self.schemas.len() >= SCHEMAS_MAX {
            return Err(CompileError::TooLarge);
        }
        let id = SchemaId(self.schemas.len());
        self.schemas.push(Keywords::default());
        self.queue.push((id, key.0.clone(), key.1.clone()));
        self.ids.insert(key, id);
        Ok(id)
    }

    fn document(&self, url: &str) -> &Document {
        self.documents.get(url).expect(LOADED)
    }

    fn compile(&mut self, url: &str, pointer: &str) -> Result<Keywords, CompileError> {
        if !self.document(url).has_seen(pointer) {
            self.go_on()?;
            let stop = self.stop.clone();
            let document = self.documents.get_mut(url).expect(LOADED);
            document.see(pointer)?;
            let draft = document.resource(pointer).draft;
            if let Some(value) = lookup(&document.value, pointer) {
                super::check_against_metaschema(draft, value, &format!("{url}#{}", fragment(pointer)), &stop)?;
            }
        }
        let document = self.document(url);
        let source = Arc::clone(&document.value);
        let resource = Arc::clone(document.resource(pointer));
        let value =
            lookup(&source, pointer).ok_or_else(|| CompileError::NoPointer(format!("{url}#{}", fragment(pointer))))?;
        let mut keywords = Keywords {
            draft: Some(resource.draft),
            location: format!("{url}#{}", fragment(pointer)),
            resource: Some(self.enqueue(url, &resource.pointer)?),
            ..Keywords::default()
        };
        if resource.draft >= Draft::V2020 && resource.pointer == pointer {
            for (name, pointer) in resource.dynamic_anchors() {
                let id = self.enqueue(url, pointer)?;
                keywords.dynamic_anchors.insert(name.to_owned(), id);
            }
        }
        match value {
            Value::Bool(always) => keywords.always = Some(*always),
            Value::Mapping(entries) if entries.is_empty() => keywords.always = Some(true),
            Value::Mapping(_) => {
                let base = resource.url.clone();
                let mut object = Object { compiler: self, url, base: &base, pointer, value };
                object.keywords(resource.draft, &mut keywords)?;
            }
            _ => {}
        }
        Ok(keywords)
    }

    /// The schema that a reference means, in the document `url` under the base `base`.
    fn resolve(&mut self, url: &str, base: &str, reference: &str) -> Result<SchemaId, CompileError> {
        let fragment = url::fragment(reference)?;
        let target = url::join(base, reference.split('#').next().unwrap_or_default())?;
        let here = self.document(url);
        if let Some(resource) = here.resource_at(&target) {
            let pointer = here.resolve(resource, &fragment)?;
            return self.enqueue(url, &pointer);
        }
        self.load(&target)?;
        let document = self.document(&target);
        let pointer = document.resolve(document.resource(""), &fragment)?;
        self.enqueue(&target, &pointer)
    }
}
