//! `replacements`.

use go_yaml::{self as yaml, Dialect, Value};

use crate::decode;
use crate::error::{Error, Result};
use crate::id::{Gvk, OwnedResId, ResId};
use crate::kustomization::{FieldOptions, Replacement, SourceSelector, TargetSelector};
use crate::loader::Loader;
use crate::path;
use crate::place;
use crate::resource;
use crate::resources::Resources;
use crate::selector::{CompiledSelector, Selector};
use crate::session::Session;
use crate::text;
use crate::tree::{Kind, Node, NodeId, Tree};
use crate::version::Difference;

/// The field that is meant when none is named.
const DEFAULT_PATH: &str = "metadata.name";

/// Copies fields of one resource into others.
#[derive(Debug)]
pub(crate) struct Replacements(Vec<Entry>);

/// A replacement with the number of the entry that contains it, or names its file.
#[derive(Debug)]
struct Entry {
    index: usize,
    replacement: Replacement,
}

impl Replacements {
    /// Takes the replacements; those in files are read.
    pub(crate) fn configure(session: &Session<'_>, loader: &Loader, list: &[Replacement]) -> Result<Self> {
        let switches = session.tree.switches;
        let mut replacements: Vec<Entry> = Vec::with_capacity(list.len());
        for (index, entry) in list.iter().enumerate() {
            let place = |error: Error| error.inside("path").inside(index);
            if entry.path.is_empty() {
                replacements.push(Entry { index, replacement: entry.clone() });
                continue;
            }
            if entry.source.is_some() || entry.targets.as_ref().is_some_and(|targets| !targets.is_empty()) {
                return Err(place(Error::new("cannot specify both path and inline replacement")));
            }
            let (file, blob) = loader.open(session.view, &entry.path).map_err(place)?;
            let in_file = |error: Error| place::locate(error, &file, &blob.data);
            let in_json = |error: Error| in_file(error.prefix("error unmarshaling JSON: while decoding JSON"));
            match text::unmarshal(&blob.data).map_err(in_file)? {
                value @ Value::Sequence(_) => {
                    let list: Option<Vec<Replacement>> =
                        decode::decode_alone(&value, "Replacement", switches).map_err(in_json)?;
                    let list = list.unwrap_or_default().into_iter();
                    replacements.extend(list.map(|replacement| Entry { index, replacement }));
                }
                value @ Value::Mapping(_) => {
                    let replacement = decode::decode_alone(&value, "Replacement", switches).map_err(in_json)?;
                    replacements.push(Entry { index, replacement });
                }
                other => {
                    let kind = match other {
                        Value::Null => "invalid",
                        Value::Bool(_) => "bool",
                        Value::String(_) => "string",
                        _ => "float64",
                    };
                    return Err(in_file(Error::new(format!(
                        "unsupported replacement type encountered within replacement path: {kind}"
                    ))));
                }
            }
        }
        Ok(Self(replacements))
    }

    pub(super) fn run(&self, session: &mut Session<'_>, resources: &Resources) -> Result<()> {
        let tree = &mut session.tree;
        let roots = resources.roots();
        for Entry { index, replacement } in &self.0 {
            let unselected = run(tree, &roots, replacement).map_err(|error| error.inside(*index))?;
            session.missed.extend(unselected.into_iter().map(|error| error.inside(*index)));
        }
        Ok(())
    }
}

/// Answers the targets that select nothing.
fn run(tree: &mut Tree, roots: &[NodeId], replacement: &Replacement) -> Result<Vec<Error>> {
    let no_source = replacement.source.is_none() && replacement.source_value.is_none();
    let Some(targets) = replacement.targets.as_ref().filter(|_| !no_source) else {
        return Err(Error::new("replacements must specify a source and at least one target"));
    };
    let value = source_value(tree, roots, replacement).map_err(|error| error.inside("source"))?;
    let mut unselected = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let at = |error: Error| error.inside(index).inside("targets");
        if !replace(tree, roots, value, target).map_err(at)? {
            let error = Error::new("this target selects no object, so nothing is changed");
            unselected.push(at(error.hint("correct its `select`, or take it away")));
        }
        tree.check()?;
    }
    Ok(unselected)
}

/// The node that is copied.
fn source_value(tree: &mut Tree, roots: &[NodeId], replacement: &Replacement) -> Result<NodeId> {
    let source = match (&replacement.source, &replacement.source_value) {
        (Some(_), Some(_)) => {
            return Err(Error::new("value and resource selectors are mutually exclusive"));
        }
        (None, value) => {
            let value = value.as_deref().cloned().unwrap_or_default();
            return Ok(tree.add(Node::scalar(value)));
        }
        (Some(source), None) => source,
    };
    tree.work(roots.len())?;
    let root = find_source(tree, roots, source)?;
    let path = if source.field_path.is_empty() { DEFAULT_PATH } else { &source.field_path };
    let found = tree
        .lookup(root, &path::split_dots(path))
        .map_err(|error| error.prefix("error looking up replacement source"))?
        .filter(|node| !tree.node(*node).is_nil_or_empty());
    let Some(node) = found else {
        return Err(Error::new(format!(
            "fieldPath `{path}` is missing for replacement source {}",
            selector_id(source)
        )));
    };
    refine(tree, node, source.options.as_deref())
}

fn selector_id(source: &SourceSelector) -> ResId<'_> {
    let gvk = Gvk { group: &source.group, version: &source.version, kind: &source.kind };
    ResId::unscoped(gvk, &source.name, &source.namespace)
}

fn find_source(tree: &Tree, roots: &[NodeId], source: &SourceSelector) -> Result<NodeId> {
    let wanted = selector_id(source);
    let mut matches = roots.iter().filter(|root| is_meant(tree, **root, &wanted));
    match (matches.next(), matches.next()) {
        (Some(root), None) => Ok(*root),
        (Some(_), Some(_)) => Err(Error::new(format!("multiple matches for selector {}", describe(source)))),
        (None, _) => Err(Error::new(format!("nothing selected by {}", describe(source)))),
    }
}

/// Whether an object is or was the wanted one: its name is looked at first, which rules out most.
fn is_meant(tree: &Tree, root: NodeId, wanted: &ResId<'_>) -> bool {
    let is_named = wanted.name.is_empty()
        || resource::name(tree, root) == wanted.name
        || resource::had_name(tree, root, wanted.name);
    is_named && resource::all_ids(tree, root).iter().any(|id| is_id_meant(id, wanted))
}

fn is_id_meant(id: &ResId<'_>, wanted: &ResId<'_>) -> bool {
    (wanted.name.is_empty() || wanted.name == id.name)
        && (wanted.namespace.is_empty() || wanted.same_namespace(id))
        && id.gvk.is_selected(wanted.gvk)
}

fn describe(source: &SourceSelector) -> String {
    let mut text = selector_id(source).to_string();
    if !source.field_path.is_empty() {
        text = format!("{text}:{}", source.field_path);
    }
    match source.options.as_deref() {
        Some(options) if !options.delimiter.is_empty() || options.create => {
            format!("{text}:{}({}), create={}", options.delimiter, options.index, options.create)
        }
        _ => text,
    }
}

/// A part of the value, when the options ask for one.
fn refine(tree: &mut Tree, node: NodeId, options: Option<&FieldOptions>) -> Result<NodeId> {
    let Some(options) = options.filter(|options| !options.delimiter.is_empty()) else { return Ok(node) };
    if tree.kind(node) != Kind::Scalar {
        return Err(Error::new("delimiter option can only be used with scalar nodes"));
    }
    let text = tree.text(node).to_owned();
    let part = usize::try_from(options.index).ok().and_then(|index| text.split(&options.delimiter).nth(index));
    let Some(part) = part else {
        return Err(Error::new(format!("options.index {} is out of bounds for value {text}", options.index)));
    };
    let part = part.to_owned();
    let copy = tree.copy(node)?;
    tree.set_text(copy, part);
    Ok(copy)
}

/// What `select` or `reject` of a target chooses.
struct Chosen {
    selector: CompiledSelector,
    /// The id word by word, where its parts are no patterns.
    words: Option<OwnedResId>,
}

impl Chosen {
    fn new(selector: Selector, patterns: bool) -> Result<Self> {
        let words = (!patterns).then(|| selector.id.clone());
        let selector = if patterns { selector } else { Selector { id: OwnedResId::default(), ..selector } };
        let selector = selector.compile().map_err(|error: Error| error.prefix("error creating target selector"))?;
        Ok(Self { selector, words })
    }

    fn has_id(&self) -> bool {
        self.words.as_ref().map_or(self.selector.has_id, |words| *words != OwnedResId::default())
    }

    fn cost(&self) -> usize {
        self.selector.cost()
    }

    /// Whether it means one of some ids.
    fn matches_any(&self, tree: &Tree, ids: &[ResId<'_>]) -> Result<bool> {
        let Some(words) = &self.words else { return self.selector.matches_any(tree, ids) };
        let wanted = ResId::unscoped(words.gvk.borrow(), &words.name, &words.namespace);
        Ok(ids.iter().any(|id| is_id_meant(id, &wanted)))
    }
}

/// Answers whether the target selects anything.
fn replace(tree: &mut Tree, roots: &[NodeId], value: NodeId, target: &TargetSelector) -> Result<bool> {
    let Some(select) = target.select.as_deref() else {
        return Err(Error::new("target must specify resources to select"));
    };
    let patterns = tree.switches.has(Difference::SelectorPatterns);
    let compile = |selector| Chosen::new(Selector::from(selector), patterns);
    let select = compile(select).map_err(|error| error.inside("select"))?;
    let reject: Vec<Chosen> = target.reject.iter().flatten().map(compile).collect::<Result<_>>()?;
    let default = [DEFAULT_PATH.to_owned()];
    let paths = match target.field_paths.as_deref() {
        None | Some([]) => default.as_slice(),
        Some(paths) => paths,
    };
    let mut is_selected = false;
    for root in roots {
        tree.work(select.cost() + reject.iter().map(Chosen::cost).sum::<usize>())?;
        if !select.selector.matches_metadata(tree, *root)? {
            continue;
        }
        let mut rejected = false;
        for selector in reject.iter().filter(|reject| reject.selector.has_metadata) {
            rejected |= selector.selector.matches_metadata(tree, *root)?;
        }
        let ids = resource::all_ids(tree, *root);
        for selector in reject.iter().filter(|reject| reject.has_id()) {
            rejected = rejected || selector.matches_any(tree, &ids)?;
        }
        if !rejected && select.matches_any(tree, &ids)? {
            is_selected = true;
            for (index, path) in paths.iter().enumerate() {
                set(tree, *root, value, path, target.options.as_deref())
                    .map_err(|error| error.inside(index).inside("fieldPaths"))?;
            }
        }
    }
    Ok(is_selected)
}

/// Sets all fields that a path leads to.
fn set(tree: &mut Tree, root: NodeId, value: NodeId, path: &str, options: Option<&FieldOptions>) -> Result<()> {
    let create = options.filter(|options| options.create).map(|_| tree.kind(value));
    let parts = path::split_dots(path);
    let reaches_in = tree.switches.has(Difference::StructuredText);
    if reaches_in && set_in_document(tree, root, value, &parts, create).is_ok() {
        return Ok(());
    }
    let or_create = if create.is_some() { " or create" } else { "" };
    let missing = || format!("unable to find{or_create} field {} in replacement target", yaml::quote(path));
    let fields = tree.matching(root, &parts, create).map_err(|error| error.prefix(missing()))?;
    if fields.is_empty() {
        return Err(Error::new(missing()));
    }
    fields.into_iter().try_for_each(|field| set_field(tree, field, value, options))
}

fn set_field(tree: &mut Tree, field: NodeId, value: NodeId, options: Option<&FieldOptions>) -> Result<()> {
    let value = tree.copy(value)?;
    if let Some(options) = options.filter(|options| !options.delimiter.is_empty()) {
        if tree.kind(field) != Kind::Scalar {
            return Err(Error::new("delimiter option can only be used with scalar nodes"));
        }
        let own = if tree.node(value).is_null() { String::new() } else { tree.text(value).to_owned() };
        let mut parts: Vec<&str> = tree.text(field).split(options.delimiter.as_str()).collect();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, &own),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = &own,
                None => parts.push(&own),
            },
        }
        let joined = parts.join(&options.delimiter);
        tree.set_text(value, joined);
    }
    if tree.kind(field) == Kind::Scalar {
        // Its tag stays: a number takes a text of digits and stays a number.
        tree.set_text(field, tree.text(value).to_owned());
    } else {
        tree.assign(field, value);
    }
    Ok(())
}

/// Sets a field of the JSON or YAML that is in a string of the resource. An error when the path leads to none.
fn set_in_document(tree: &mut Tree, root: NodeId, value: NodeId, parts: &[String], create: Option<Kind>) -> Result<()> {
    for count in 1..parts.len() {
        let (to_scalar, inside) = parts.split_at(count);
        let Ok(Some(scalar)) = tree.lookup(root, to_scalar) else { continue };
        if tree.kind(scalar) != Kind::Scalar {
            continue;
        }
        let source = tree.text(scalar).to_owned();
        let Ok(document) = text::parse_into(tree, &source) else { continue };
        let fields = tree.matching(document, inside, create)?;
        if fields.is_empty() {
            return Err(Error::new("unable to find field in structured data"));
        }
        for field in fields {
            if tree.kind(field) == Kind::Scalar {
                tree.set_text(field, tree.text(value).to_owned());
            } else {
                tree.assign(field, value);
            }
        }
        let text = serialize(tree, document, &source)?;
        tree.set_text(scalar, text);
        return Ok(());
    }
    Err(Error::new("no structured data found in path"))
}

/// The changed document in the format that it had.
fn serialize(tree: &Tree, document: NodeId, original: &str) -> Result<String> {
    let written = text::of(tree, document)?;
    if !original.trim().starts_with(['{', '[']) {
        return Ok(written.trim().to_owned());
    }
    let values = yaml::decode(written.as_bytes(), Dialect::V3, &text::limits());
    let value = values.map_err(|fault| text::error(&fault))?.into_iter().next().unwrap_or_default();
    let pretty = original.contains('\n') && original.contains("  ");
    let indent = pretty.then_some("  ");
    Ok(yaml::json::encode(&value, yaml::json::Options { escape_html: true, indent }))
}
