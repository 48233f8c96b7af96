//! Schema documents: which URLs and anchors name which of their parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use go_yaml::Value;

use super::draft::{Draft, Subschemas};
use super::report::{fragment, push_pointer};
use super::{CompileError, lookup};

/// A document and what was found in it.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub url: String,
    pub value: Arc<Value>,
    /// By their pointers; that of the root is there always.
    resources: BTreeMap<String, Arc<Resource>>,
    /// Their pointers, by their URLs.
    by_url: BTreeMap<String, String>,
    /// Pointers of the schemas that were looked through.
    seen: BTreeSet<String>,
}

/// A part of a document with a URL of its own.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub pointer: String,
    pub url: String,
    pub draft: Draft,
    /// Pointers by name.
    anchors: BTreeMap<String, String>,
    dynamic: BTreeSet<String>,
}

impl Resource {
    /// The anchors that `$dynamicRef` may find, with their pointers.
    pub(super) fn dynamic_anchors(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_dynamic = |(name, _): &(&String, &String)| self.dynamic.contains(*name);
        self.anchors.iter().filter(is_dynamic).map(|(name, pointer)| (&**name, &**pointer))
    }
}

impl Document {
    /// Looks through a document.
    pub(super) fn new(url: &str, value: Value) -> Result<Self, CompileError> {
        let value = Arc::new(value);
        let mut document = Self {
            url: url.to_owned(),
            value: Arc::clone(&value),
            resources: BTreeMap::new(),
            by_url: BTreeMap::new(),
            seen: BTreeSet::new(),
        };
        document.collect(&value, url, "", Draft::LATEST)?;
        if !document.resources.contains_key("") {
            document.add(Resource::new("", url, Draft::LATEST))?;
        }
        Ok(document)
    }

    /// The resource that a part of the document belongs to.
    pub(super) fn resource(&self, pointer: &str) -> &Arc<Resource> {
        let mut pointer = pointer;
        loop {
            if let Some(resource) = self.resources.get(pointer) {
                return resource;
            }
            pointer = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    /// The resource with a URL.
    pub(super) fn resource_at(&self, url: &str) -> Option<&Resource> {
        let pointer = if url == self.url { "" } else { self.by_url.get(url)? };
        self.resources.get(pointer).map(|resource| &**resource)
    }

    /// The pointer that a fragment means in a resource.
    pub(super) fn resolve(&self, resource: &Resource, fragment: &str) -> Result<String, CompileError> {
        if fragment.is_empty() || fragment.starts_with('/') {
            return Ok(format!("{}{fragment}", resource.pointer));
        }
        let Some(pointer) = resource.anchors.get(fragment) else {
            let reference = format!("{}#{fragment}", resource.url);
            return Err(CompileError::NoAnchor { reference, url: self.url.clone() });
        };
        Ok(pointer.clone())
    }

    /// Whether the schema at a pointer was looked through.
    pub(super) fn has_seen(&self, pointer: &str) -> bool {
        self.seen.contains(pointer)
    }

    /// Looks through a part that no keyword leads to.
    pub(super) fn see(&mut self, pointer: &str) -> Result<(), CompileError> {
        let document = Arc::clone(&self.value);
        let value = lookup(&document, pointer)
            .ok_or_else(|| CompileError::NoPointer(format!("{}#{}", self.url, fragment(pointer))))?;
        let Resource { url, draft, .. } = &**self.resource(pointer);
        let (url, draft) = (url.clone(), *draft);
        self.collect(value, &url, pointer, draft)
    }

    fn add(&mut self, resource: Resource) -> Result<(), CompileError> {
        if let Some(other) = self.by_url.get(&resource.url) {
            if *other != resource.pointer {
                return Err(CompileError::DuplicateId {
                    id: resource.url,
                    url: self.url.clone(),
                    first: resource.pointer,
                    second: other.clone(),
                });
            }
            return Ok(());
        }
        self.by_url.insert(resource.url.clone(), resource.pointer.clone());
        self.resources.insert(resource.pointer.clone(), Arc::new(resource));
        Ok(())
    }

    /// `base` is the URL that references here are relative to, `fallback` the draft of what this schema is in.
    fn collect(&mut self, schema: &Value, base: &str, pointer: &str, fallback: Draft) -> Result<(), CompileError> {
        if self.seen.contains(pointer) {
            return Ok(());
        }
        if let Value::Mapping(_) = schema {
            self.collect_object(schema, base, pointer, fallback)?;
        } else if let (Value::Bool(_), "") = (schema, pointer) {
            self.add(Resource::new("", base, fallback))?;
        }
        self.seen.insert(pointer.to_owned());
        Ok(())
    }

    fn collect_object(
        &mut self,
        schema: &Value,
        base: &str,
        pointer: &str,
        fallback: Draft,
    ) -> Result<(), CompileError> {
        let declared = match schema.get("$schema").and_then(Value::as_str) {
            Some(url) => Some(
                Draft::from_url(url)
                    .ok_or_else(|| CompileError::Load(url.split('#').next().unwrap_or(url).to_owned()))?,
            ),
            None => None,
        };
        let mut draft = declared.unwrap_or(fallback);
        let mut id = id_of(schema, draft);
        if id.is_none() && !pointer.is_empty() {
            // `$schema` counts only where a resource starts.
            draft = fallback;
            id = id_of(schema, draft);
        }
        let url = id.map_or_else(|| Ok(base.to_owned()), |id| super::url::join(base, id))?;
        if id.is_some() || pointer.is_empty() {
            self.add(Resource::new(pointer, &url, draft))?;
        }
        self.collect_anchors(schema, &url, pointer)?;
        for (keyword, schemas) in draft.keywords() {
            let Some(value) = schema.get(keyword) else { continue };
            self.collect_keyword(value, schemas, &url, &below(pointer, keyword), draft)?;
        }
        Ok(())
    }

    fn collect_keyword(
        &mut self,
        value: &Value,
        schemas: Subschemas,
        base: &str,
        pointer: &str,
        draft: Draft,
    ) -> Result<(), CompileError> {
        match (value, schemas) {
            (Value::Sequence(items), Subschemas::Items | Subschemas::OneOrItems) => {
                for (item, index) in items.iter().zip(0usize..) {
                    self.collect(item, base, &below(pointer, &index.to_string()), draft)?;
                }
            }
            (Value::Mapping(entries), Subschemas::Values) => {
                for (key, value) in entries {
                    self.collect(value, base, &below(pointer, key), draft)?;
                }
            }
            (value, Subschemas::One | Subschemas::OneOrItems) => self.collect(value, base, pointer, draft)?,
            (_, Subschemas::Items | Subschemas::Values) => {}
        }
        Ok(())
    }

    /// Notes the names that this schema gives itself within the resource at `url`.
    fn collect_anchors(&mut self, schema: &Value, url: &str, pointer: &str) -> Result<(), CompileError> {
        let document_url = self.url.clone();
        let known = self.by_url.get(url).and_then(|pointer| self.resources.get_mut(pointer));
        let Some(resource) = known.map(Arc::make_mut) else { return Ok(()) };
        let mut names: Vec<&str> = Vec::new();
        if resource.draft < Draft::V2019 {
            let id = schema.get(resource.draft.id_keyword()).and_then(Value::as_str);
            let named = id.and_then(|id| id.split_once('#')).map(|(_, name)| name);
            let is_name = |name: &&str| !name.is_empty() && !name.starts_with('/') && schema.get("$ref").is_none();
            names.extend(named.filter(is_name));
        } else {
            names.extend(schema.get("$anchor").and_then(Value::as_str));
        }
        if resource.draft >= Draft::V2020
            && let Some(name) = schema.get("$dynamicAnchor").and_then(Value::as_str)
        {
            resource.dynamic.insert(name.to_owned());
            names.push(name);
        }
        for name in names {
            let first = resource.anchors.entry(name.to_owned()).or_insert_with(|| pointer.to_owned());
            if first != pointer {
                return Err(CompileError::DuplicateAnchor {
                    anchor: name.to_owned(),
                    url: document_url,
                    first: first.clone(),
                    second: pointer.to_owned(),
                });
            }
        }
        Ok(())
    }
}

impl Resource {
    fn new(pointer: &str, url: &str, draft: Draft) -> Self {
        Self {
            pointer: pointer.to_owned(),
            url: url.to_owned(),
            draft,
            anchors: BTreeMap::new(),
            dynamic: BTreeSet::new(),
        }
    }
}

/// The URL that a schema gives itself, without fragment.
fn id_of(schema: &Value, draft: Draft) -> Option<&str> {
    if draft < Draft::V2019 && schema.get("$ref").is_some() {
        return None;
    }
    let id = schema.get(draft.id_keyword())?.as_str()?;
    id.split('#').next().filter(|id| !id.is_empty())
}

fn below(pointer: &str, token: &str) -> String {
    let mut below = pointer.to_owned();
    push_pointer(&mut below, token);
    below
}
