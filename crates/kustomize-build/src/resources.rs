//! The list of resources that a kustomization gathers (kustomize `ResMap`).
//!
//! In the order in which they were read or generated; no two with the same id when one is added.

mod merge_data;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::error::{Error, Result};
use super::id::ResId;
use super::resource::{self, annotation};
use super::schema::Schema;
use super::selector::Selector;
use super::tree::{NodeId, Tree};
use merge_data::merge_data;

/// One object of the list.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub root: NodeId,
    /// The variables whose value is in this object.
    pub variables: Vec<String>,
}

impl Resource {
    pub(crate) fn new(root: NodeId) -> Self {
        Self { root, variables: Vec::new() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Resources {
    list: Vec<Resource>,
    /// How many objects have an id, while nothing was changed since it was counted.
    ids: Option<HashMap<String, usize>>,
    /// Which objects have or had a name, in their order, while nothing was changed since it was noted.
    names: RefCell<Option<HashMap<String, Vec<usize>>>>,
    /// Whether no two objects have one id, as far as that was looked at since something was changed.
    single: bool,
    /// The objects that a merge made here, while nothing was changed since.
    merged: HashSet<NodeId>,
}

/// What a generator does when the object exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Behavior {
    pub(crate) fn from_text(text: &str) -> Self {
        match text {
            "replace" => Behavior::Replace,
            "merge" => Behavior::Merge,
            "create" => Behavior::Create,
            _ => Behavior::Unspecified,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Behavior::Unspecified => "unspecified",
            Behavior::Create => "create",
            Behavior::Replace => "replace",
            Behavior::Merge => "merge",
        }
    }

    fn of(tree: &Tree, root: NodeId) -> Self {
        Self::from_text(resource::annotation_of(tree, root, annotation::BEHAVIOR).unwrap_or(""))
    }
}

impl Resources {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.list.iter()
    }

    /// The roots of all objects, which stay valid while the objects are changed.
    pub(crate) fn roots(&self) -> Vec<NodeId> {
        self.list.iter().map(|resource| resource.root).collect()
    }

    pub(crate) fn variables_mut(&mut self, index: usize) -> Option<&mut Vec<String>> {
        self.list.get_mut(index).map(|resource| &mut resource.variables)
    }

    /// Must be called after objects were changed: their ids may be others now.
    pub(crate) fn changed(&mut self) {
        self.ids = None;
        *self.names.get_mut() = None;
        self.single = false;
        self.merged.clear();
    }

    /// Whether it is known that no two objects have one id.
    pub(crate) fn are_single(&self) -> bool {
        self.single
    }

    /// Notes it, right after it was found out by [`Resources::rebuild`].
    pub(crate) fn note_single(&mut self) {
        self.single = true;
    }

    /// The objects that have or had a name, in their order.
    fn named(&self, tree: &Tree, name: &str) -> Vec<usize> {
        let mut names = self.names.borrow_mut();
        let names = names.get_or_insert_with(|| names_of(&self.list, tree));
        let found = names.get(name).cloned().unwrap_or_default();
        tree.spend(1 + found.len());
        found
    }

    /// Adds an object, or says that there is one of that id already.
    pub(crate) fn append(&mut self, tree: &Tree, schema: &Schema, resource: Resource) -> Result<()> {
        let ids = self.ids.get_or_insert_with(|| count_ids(&self.list, tree, schema));
        let id = resource::current_id(tree, schema, resource.root);
        let count = ids.entry(id.key()).or_insert(0);
        if *count > 0 {
            return Err(registered_already(&id));
        }
        *count += 1;
        if let Some(names) = self.names.get_mut() {
            note_names(names, tree, resource.root, self.list.len());
        }
        self.list.push(resource);
        tree.work(1)
    }

    pub(crate) fn append_all(&mut self, tree: &Tree, schema: &Schema, other: Resources) -> Result<()> {
        other.list.into_iter().try_for_each(|resource| self.append(tree, schema, resource))
    }

    /// Leaves out what was deleted.
    pub(crate) fn drop_empty(&mut self, tree: &Tree) {
        let before = self.list.len();
        tree.spend(before);
        self.list.retain(|resource| !tree.node(resource.root).is_nil_or_empty());
        if self.list.len() != before {
            self.changed();
        }
    }

    /// Takes the objects in another order, or fewer of them; ids must be single.
    pub(crate) fn rebuild(&mut self, tree: &Tree, schema: &Schema, list: Vec<Resource>) -> Result<()> {
        self.list = list;
        self.changed();
        let mut seen = HashSet::with_capacity(self.list.len());
        tree.work(self.list.len())?;
        for resource in &self.list {
            let id = resource::current_id(tree, schema, resource.root);
            if !seen.insert((id.effective_namespace(), id.gvk, id.name)) {
                return Err(registered_already(&id));
            }
        }
        Ok(())
    }

    pub(crate) fn take(&mut self) -> Vec<Resource> {
        self.changed();
        std::mem::take(&mut self.list)
    }

    /// The objects that have or had an id of this name that `matches` accepts.
    pub(crate) fn by_any_id<'t>(
        &self,
        tree: &'t Tree,
        schema: &Schema,
        name: &str,
        matches: impl Fn(&ResId<'t>) -> bool,
    ) -> Vec<usize> {
        let matches = |id: &ResId<'t>| id.name == name && matches(id);
        let mut found = Vec::new();
        for (index, root) in self.roots_named(tree, name) {
            let has_or_had = matches(&resource::current_id(tree, schema, root))
                || resource::previous_ids(tree, root).iter().any(&matches);
            if has_or_had {
                found.push(index);
            }
        }
        found
    }

    /// The objects that have or had this id. Most are ruled out by their names, without making up their ids.
    fn with_id(&self, tree: &Tree, schema: &Schema, id: &ResId<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, root) in self.roots_named(tree, id.name) {
            let had = || resource::previous_ids(tree, root).iter().any(|other| id.is(other));
            if has_id(tree, schema, root, id) || (resource::had_name(tree, root, id.name) && had()) {
                found.push(index);
            }
        }
        found
    }

    /// The objects that have or had a name and are not deleted, with their indexes, in their order.
    fn roots_named(&self, tree: &Tree, name: &str) -> impl Iterator<Item = (usize, NodeId)> {
        let named = self.named(tree, name).into_iter();
        let roots = named.filter_map(|index| Some((index, self.list.get(index)?.root)));
        roots.filter(|(_, root)| !tree.node(*root).is_nil_or_empty())
    }

    /// The one object that has or had this id (kustomize `GetById`).
    pub(crate) fn by_id(&self, tree: &Tree, schema: &Schema, id: &ResId<'_>) -> Result<usize> {
        match self.with_id(tree, schema, id)[..] {
            [index] => Ok(index),
            [] => Err(Error::new(format!("no matches for Id {id}; failed to find unique target for patch {id}"))),
            _ => Err(Error::new(format!("multiple matches for Id {id}; failed to find unique target for patch {id}"))),
        }
    }

    /// The objects that a selector means, by their names now or as they were read.
    pub(crate) fn select(&self, tree: &Tree, schema: &Schema, selector: &Selector) -> Result<Vec<NodeId>> {
        let selector = selector.compile()?;
        let mut selected = Vec::new();
        for root in self.list.iter().map(|resource| resource.root) {
            tree.work(selector.cost())?;
            if !selector.matches_gvk(tree, resource::gvk(tree, root))? {
                continue;
            }
            let current = resource::current_id(tree, schema, root);
            let original = resource::original_id(tree, schema, root);
            let namespace = selector.matches_namespace(tree, original.effective_namespace())?
                || selector.matches_namespace(tree, current.effective_namespace())?;
            let name = selector.matches_name(tree, original.name)? || selector.matches_name(tree, current.name)?;
            if namespace && name && selector.matches_metadata(tree, root)? {
                selected.push(root);
            }
        }
        Ok(selected)
    }

    /// Adds what a generator made: as new objects, or in the place of those that exist (kustomize `AbsorbAll`).
    pub(crate) fn absorb_all(&mut self, tree: &mut Tree, schema: &Schema, generated: Resources) -> Result<()> {
        generated.list.into_iter().try_for_each(|resource| self.absorb(tree, schema, resource))
    }

    fn absorb(&mut self, tree: &mut Tree, schema: &Schema, new: Resource) -> Result<()> {
        let behavior = Behavior::of(tree, new.root);
        let id = resource::current_id(tree, schema, new.root);
        let found = self.with_id(tree, schema, &id);
        let [index] = found[..] else {
            if !found.is_empty() {
                return Err(Error::new(format!("found multiple objects that could accept merge of {id}")));
            }
            if matches!(behavior, Behavior::Merge | Behavior::Replace) {
                return Err(Error::new(format!("id {} does not exist; cannot merge or replace", go_syntax(&id))));
            }
            return self.append(tree, schema, new);
        };
        let Some(old) = self.list.get(index).cloned() else { return Ok(()) };
        match behavior {
            Behavior::Replace => copy_what_is_valid(tree, new.root, old.root),
            Behavior::Merge => {
                let origin = resource::annotation_of(tree, old.root, annotation::ORIGIN).map(str::to_owned);
                copy_what_is_valid(tree, new.root, old.root);
                merge_data(tree, new.root, old.root, self.merged.remove(&old.root))?;
                self.merged.insert(new.root);
                if let Some(origin) = origin {
                    let mut annotations = resource::annotations(tree, new.root);
                    annotations.insert(annotation::ORIGIN.to_owned(), origin);
                    resource::set_annotations(tree, new.root, &annotations)?;
                }
            }
            Behavior::Unspecified | Behavior::Create => {
                return Err(Error::new(format!(
                    "id {} exists; can not use behavior: '{}', behavior must be merge or replace",
                    go_syntax(&id),
                    behavior.text()
                )));
            }
        }
        let id = resource::current_id(tree, schema, new.root);
        let mut same = self.named(tree, id.name);
        same.retain(|index| self.list.get(*index).is_some_and(|other| has_id(tree, schema, other.root, &id)));
        match same[..] {
            [at] if at == index => {}
            [_] => return Err(Error::new("unexpected target index in replacement")),
            [] => return Err(Error::new(format!("cannot find resource with id {id} to replace"))),
            _ => return Err(Error::new(format!("in Replace: id matched {} resources", same.len()))),
        }
        // It has the names of the old one, the earlier ones too.
        if let Some(place) = self.list.get_mut(index) {
            *place = Resource { root: new.root, variables: old.variables };
        }
        tree.check()
    }
}

/// Whether an object has this id.
fn has_id(tree: &Tree, schema: &Schema, root: NodeId, id: &ResId<'_>) -> bool {
    resource::name(tree, root) == id.name && id.is(&resource::current_id(tree, schema, root))
}

fn count_ids(list: &[Resource], tree: &Tree, schema: &Schema) -> HashMap<String, usize> {
    let mut ids = HashMap::with_capacity(list.len() + 1);
    for resource in list {
        *ids.entry(resource::current_id(tree, schema, resource.root).key()).or_insert(0) += 1;
    }
    ids
}

fn names_of(list: &[Resource], tree: &Tree) -> HashMap<String, Vec<usize>> {
    tree.spend(list.len());
    let mut names = HashMap::with_capacity(list.len());
    for (index, resource) in list.iter().enumerate() {
        note_names(&mut names, tree, resource.root, index);
    }
    names
}

fn note_names(names: &mut HashMap<String, Vec<usize>>, tree: &Tree, root: NodeId, index: usize) {
    let earlier = resource::csv(tree, root, annotation::PREVIOUS_NAMES);
    for name in [resource::name(tree, root)].into_iter().chain(earlier) {
        let list = match names.get_mut(name) {
            Some(list) => list,
            None => names.entry(name.to_owned()).or_default(),
        };
        if list.last() != Some(&index) {
            list.push(index);
        }
    }
}

fn registered_already(id: &ResId<'_>) -> Error {
    Error::new(format!("may not add resource with an already registered id: {id}"))
}

fn go_syntax(id: &ResId<'_>) -> String {
    format!(
        "resid.ResId{{Gvk:resid.Gvk{{Group:{:?}, Version:{:?}, Kind:{:?}, isClusterScoped:{}}}, Name:{:?}, Namespace:{:?}}}",
        id.gvk.group, id.gvk.version, id.gvk.kind, id.cluster_scoped, id.name, id.namespace
    )
}

/// Gives a new object the name, the namespace and what is missing of the metadata of the one that it replaces or
/// patches (kustomize `CopyMergeMetaDataFieldsFrom`).
pub(crate) fn copy_metadata(tree: &mut Tree, new: NodeId, old: NodeId) -> Result<()> {
    let mut labels = resource::labels(tree, old);
    labels.extend(resource::labels(tree, new));
    resource::set_labels(tree, new, &labels)?;

    let (theirs, own) = (resource::annotations(tree, old), resource::annotations(tree, new));
    let keeps_hash = own.contains_key(annotation::NEEDS_HASH);
    let mut merged = theirs.clone();
    merged.extend(own);
    for key in annotation::BUILD {
        match theirs.get(key) {
            Some(value) => merged.insert(key.to_owned(), value.clone()),
            None => merged.remove(key),
        };
    }
    if !keeps_hash {
        merged.remove(annotation::NEEDS_HASH);
    }
    resource::set_annotations(tree, new, &merged)?;

    let (name, namespace) = (resource::name(tree, old).to_owned(), resource::namespace(tree, old).to_owned());
    resource::set_name(tree, new, &name)?;
    resource::set_namespace(tree, new, &namespace)
}

/// Does so for what a generator made, up to the first error. Kustomize looks at none here, so an empty key in labels or
/// annotations ends it in silence. It is a fault, but what Argo CD deploys.
fn copy_what_is_valid(tree: &mut Tree, new: NodeId, old: NodeId) {
    let _ = copy_metadata(tree, new, old);
}
