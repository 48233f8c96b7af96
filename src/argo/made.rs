//! Applications that are in no file: something in the dry tree makes them.
//!
//! Such an Application is one as any other; its [`Maker`] tells where it comes from. Its fields have the places of what they
//! were rendered from: the template of the set where it has the field, else the patch, so that a reader of a mistake
//! finds the line to change.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped};
use dry_files::path::RepoPath;
use go_yaml::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Application;
use super::document::{Document, document};
use super::field::{Content, Entry, Field, Place};
use super::maker::{By, Keeps, MadeFrom, Maker};
use super::read::File;
use super::rendered::{RenderedObject, of_json, to_json};
use super::rules::{Placement, RuleSet, Ruling};
use super::set::{ApplicationSet, Expanded, MadeApplication};

impl Application {
    /// That a setting keeps what made it from making any; none for one that is in a file itself.
    pub fn not_made(&self) -> Option<Diagnostic> {
        let maker = self.maker.as_ref()?;
        let outermost = maker.above.last().unwrap_or(&maker.by);
        let text = format!(
            "`{}` is made by {outermost}, and `madeApplications` is not true: it is not hydrated here",
            self.name
        );
        let hint = format!("on the server: git hydrate config set madeApplications true; or remove {outermost}");
        Some(Diagnostic::error(clipped(text)).at(maker.place.clone()).hint(clipped(hint)))
    }
}

impl ApplicationSet {
    /// What names it.
    pub fn by(&self) -> By {
        By::ApplicationSet {
            namespace: self.namespace().map(str::to_owned),
            name: self.name().unwrap_or_default().to_owned(),
        }
    }

    /// What `syncPolicy.applicationsSync` says.
    pub fn keeps(&self) -> Keeps {
        let policy = self.at(&["spec", "syncPolicy", "applicationsSync"]).and_then(Field::as_str);
        match policy {
            Some("create-only") => Keeps::All,
            Some("create-update") => Keeps::Gone,
            _ => Keeps::Nothing,
        }
    }

    /// Whether Applications that are made without a finalizer get the finalizer that deletes their objects with them.
    ///
    /// Reference: argo-cd 3.4 applicationset/utils/utils.go `RenderTemplateParams`.
    pub fn adds_finalizer(&self) -> bool {
        let preserves = self.at(&["spec", "syncPolicy", "preserveResourcesOnDeletion"]).map(Field::to_value);
        preserves.as_ref().and_then(Value::as_bool) != Some(true)
    }

    /// The Applications that were made, those with `spec.sourceHydrator` and those that a rule hydrates, as documents of the
    /// set's file; and the numbers of the rules that match one.
    pub fn documents(&self, expanded: &Expanded, rules: &RuleSet) -> (Vec<Document>, BTreeSet<usize>) {
        let (mut documents, mut matched) = (Vec::new(), BTreeSet::new());
        let file = self.file();
        for made in &expanded.applications {
            if made.object.at(&["spec", "sourceHydrator"]).is_some() {
                documents.push(self.document(made, None, rules));
            } else if !rules.is_empty() {
                match rules.ruling(&self.placed(made), &file) {
                    Some(Ruling::Hydrated(placement)) => {
                        matched.insert(placement.rule);
                        documents.push(self.document(made, Some(placement), rules));
                    }
                    Some(Ruling::LeftAlone(rule)) => drop(matched.insert(rule)),
                    None => {}
                }
            }
        }
        (documents, matched)
    }

    /// The object with the places that it comes from.
    fn placed(&self, made: &MadeApplication) -> Field {
        let (own, template) = self.templates(made);
        let around = self.at(&["spec", "templatePatch"]).unwrap_or(template.unwrap_or(self.root())).place.clone();
        placed(&made.object, &[own, template], &around, &around)
    }

    fn document(&self, made: &MadeApplication, placement: Option<Placement>, rules: &RuleSet) -> Document {
        let field = self.placed(made);
        let name = made.object.at(&["metadata", "name"]).and_then(Value::as_str).unwrap_or_default();
        let mut document = document(&field, self.index_of(name), false, placement.as_ref(), rules);
        let maker = Maker {
            by: self.by(),
            file: self.file(),
            place: self.span(),
            element: made.element.clone(),
            above: self.above(),
            kept: self.kept(made, placement),
            keeps: self.keeps(),
            adds_finalizer: self.adds_finalizer(),
        };
        document.made_by(maker, rules);
        document
    }

    /// The file of the set; for a rendered set, the file of its parent.
    pub fn file(&self) -> RepoPath {
        self.of_parent().map_or_else(|| self.span().path, |rendered| rendered.parent.file.clone())
    }

    /// What makes it, from the inside out.
    pub fn above(&self) -> Vec<By> {
        let parent = self.of_parent().map(|rendered| &rendered.parent);
        parent.into_iter().flat_map(|parent| [&parent.by].into_iter().chain(&parent.above).cloned()).collect()
    }

    fn kept(&self, made: &MadeApplication, placement: Option<Placement>) -> String {
        let MadeApplication { object, element, generator } = made;
        let of_set = StoredOfSet {
            by: self.by(),
            object: to_json(object),
            element: element.clone(),
            generator: generator.clone(),
            set: self.of_parent().cloned(),
            placement,
        };
        StoredApplication::OfSet(Box::new(of_set)).to_text()
    }

    /// A number for an Application of this set, which other Applications of the set do not change.
    fn index_of(&self, name: &str) -> usize {
        let mut hash = Sha256::new();
        let above: Vec<String> = self.above().iter().map(By::to_string).collect();
        let own = [self.namespace().unwrap_or_default(), self.name().unwrap_or_default(), name];
        for text in own.into_iter().chain(above.iter().map(String::as_str)) {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        top_number(&hash.finalize())
    }
}

/// A number from the first bytes of a hash: never that of a document which is in a file.
pub(super) fn top_number(hash: &[u8]) -> usize {
    hash.iter().take(size_of::<usize>()).fold(0, |index, byte| index << 8 | usize::from(*byte)) | TOP_BIT
}

/// A made Application as it is kept.
#[derive(Serialize, Deserialize)]
pub(super) enum StoredApplication {
    /// One of a set, which is in a file or is kept as well.
    OfSet(Box<StoredOfSet>),
    /// One that was rendered.
    Rendered(Box<RenderedObject>),
}

/// What a set made.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredOfSet {
    by: By,
    object: serde_json::Value,
    element: MadeFrom,
    generator: (usize, String),
    /// The set, when it was rendered itself.
    set: Option<RenderedObject>,
    /// What a rule says of what was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    placement: Option<Placement>,
}

impl StoredApplication {
    pub(super) fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("texts and numbers are JSON");
        text.shrink_to_fit();
        text
    }
}

impl Application {
    /// What made it and what was made, as a text that [`Application::remade`] reads; none for one that is in its file.
    pub fn made(&self) -> Option<&str> {
        self.maker.as_ref().map(|maker| maker.kept.as_str())
    }

    /// Whether two makers make one Application: a cluster has one of its name, and both say the same of it.
    ///
    /// Two sets of different names are none: Argo CD has the second one fail, since an Application belongs to one set. Nor are
    /// those that clusters keep otherwise when they are made no more.
    pub fn is_made_alike(&self, other: &Self) -> bool {
        let (Some(maker), Some(its)) = (&self.maker, &other.maker) else { return false };
        let is_set = |maker: &Maker| matches!(maker.by, By::ApplicationSet { .. });
        let may_be_one = (maker.by == its.by || !is_set(maker) || !is_set(its)) && maker.keeps == its.keeps;
        let is_named_alike = (&self.namespace, &self.name) == (&other.namespace, &other.name);
        let (Some(object), Some(its)) = (self.made_object(), other.made_object()) else { return false };
        let has_same_spec = || object.get("spec") == its.get("spec") && self.placement() == other.placement();
        is_named_alike && may_be_one && (object == its || has_same_spec())
    }

    /// The whole object that was made; none for one that is in its file.
    pub fn made_object(&self) -> Option<Value> {
        Some(match serde_json::from_str(self.made()?).ok()? {
            StoredApplication::OfSet(of_set) => of_json(of_set.object),
            StoredApplication::Rendered(rendered) => rendered.value(),
        })
    }

    /// The set that made it, as it was rendered; none for one that is in a file.
    pub(super) fn kept_set(&self) -> Option<RenderedObject> {
        match serde_json::from_str(self.made()?).ok()? {
            StoredApplication::OfSet(of_set) => of_set.set,
            StoredApplication::Rendered(_) => None,
        }
    }

    /// The Application that a maker of `file` made, when what it was made from is still the same. What was rendered needs
    /// no file.
    ///
    /// None when the text is not one that was kept, or the file has no such maker.
    pub fn remade(file: Option<&File>, text: &str, rules: &RuleSet) -> Option<Arc<Application>> {
        let StoredOfSet { by, object, element, generator, set, placement } = match serde_json::from_str(text).ok()? {
            StoredApplication::OfSet(of_set) => *of_set,
            StoredApplication::Rendered(rendered) => return rendered.application(rules),
        };
        let made = MadeApplication { object: of_json(object), element, generator };
        match set {
            Some(rendered) => rendered.set()?.document(&made, placement, rules).application,
            None => file?.sets.iter().find(|set| set.by() == by)?.document(&made, placement, rules).application,
        }
    }
}

/// What made that of which [`Application::made`] is the text, and what makes that, from the inside out; none for another
/// text.
pub(crate) fn makers_of(text: &str) -> Option<Vec<By>> {
    let (by, parent) = match serde_json::from_str(text).ok()? {
        StoredApplication::OfSet(of_set) => (Some(of_set.by), of_set.set.map(|set| set.parent)),
        StoredApplication::Rendered(rendered) => (None, Some(rendered.parent)),
    };
    let of_parent = parent.into_iter().flat_map(|parent| [parent.by].into_iter().chain(parent.above));
    Some(by.into_iter().chain(of_parent).collect())
}

const TOP_BIT: usize = 1 << (usize::BITS - 1);

/// A value with the places of the first of `sources` that have its fields.
fn placed(value: &Value, sources: &[Option<&Field>], around: &Place, patch: &Place) -> Field {
    let found = sources.iter().flatten().next();
    let place = found.map_or_else(|| around.clone(), |field| field.place.clone());
    let content = match value {
        Value::Mapping(entries) => {
            Content::Mapping(entries.iter().map(|(key, value)| placed_entry(key, value, sources, patch)).collect())
        }
        Value::Sequence(items) => {
            let mut fields = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let below: Vec<Option<&Field>> = sources.iter().map(|source| item_of(*source, index)).collect();
                fields.push(placed(item, &below, &place, patch));
            }
            Content::List(fields)
        }
        scalar => Content::Scalar(scalar.clone()),
    };
    Field { place, content }
}

fn placed_entry(key: &str, value: &Value, sources: &[Option<&Field>], patch: &Place) -> Entry {
    let below: Vec<Option<(&Field, &Place)>> = sources.iter().map(|source| entry(*source, key)).collect();
    let key_place = below.iter().flatten().next().map_or(patch, |(_, key_place)| key_place);
    let below: Vec<Option<&Field>> = below.iter().map(|below| below.map(|(field, _)| field)).collect();
    let field = placed(value, &below, key_place, patch);
    Entry { key: key.to_owned(), key_place: key_place.clone(), field, twice: false }
}

fn entry<'f>(field: Option<&'f Field>, key: &str) -> Option<(&'f Field, &'f Place)> {
    let Content::Mapping(entries) = &field?.content else { return None };
    let entry = entries.iter().find(|entry| entry.key == key && !entry.field.is_null())?;
    Some((&entry.field, &entry.key_place))
}

fn item_of(field: Option<&Field>, index: usize) -> Option<&Field> {
    let Content::List(items) = &field?.content else { return None };
    items.get(index)
}
