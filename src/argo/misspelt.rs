//! Applications, and sets of them, that are not hydrated because a key, a kind or a version is misspelt.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;

use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;

use super::field::{Content, Entry, Field};
use super::located;
use super::mistake::{Mistake, one_line};
use super::near::near;
use super::{AppName, GROUP};

/// The field that makes an Application ours; a file without the word has none.
pub(super) const MARK: &str = "sourceHydrator";

/// How many characters a near miss of [`MARK`] may have more or less, or others, and how many bytes it takes then.
const EDITS_MAX: usize = 2;
const WORD_BYTES: RangeInclusive<usize> = MARK.len() - EDITS_MAX..=MARK.len() + EDITS_MAX * 4;

/// An Application, or a set with all that it makes, that is not hydrated because of a misspelt key or kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Misspelt {
    /// Its namespace and name, when they can be read; none of a set, which is about all that the file made.
    pub application: Option<(Option<AppName>, AppName)>,
    /// The file that it is in, or what would make it.
    pub file: RepoPath,
    /// A warning at the key.
    pub diagnostic: Diagnostic,
}

impl Misspelt {
    pub(super) fn new(object: &Field, diagnostic: Diagnostic) -> Self {
        let application = name(object, "name").map(|of| (name(object, "namespace"), of));
        Self { application, file: object.place.span().path, diagnostic }
    }

    /// A mistake of an object that was meant to be an Application or a set.
    fn of_kind(kind: &str, object: &Field, diagnostic: Diagnostic) -> Self {
        match kind {
            "Application" => Self::new(object, diagnostic),
            _ => Self::of_set(object, diagnostic),
        }
    }

    /// A mistake of a set. Which Applications it is about is known by what the file made before.
    pub(super) fn of_set(set: &Field, diagnostic: Diagnostic) -> Self {
        Self { application: None, ..Self::new(set, diagnostic) }
    }
}

/// `metadata.name` or `metadata.namespace`, when it can be read.
fn name(object: &Field, key: &str) -> Option<AppName> {
    AppName::new(object.get("metadata")?.get(key)?.as_str()?).ok()
}

/// An object that is not an Application or set because of its `apiVersion` or `kind`, and was meant to be one that is hydrated.
/// `named` is its kind, or that of the items of the list around; `is_meant` tells whether it would be hydrated as one of a kind.
pub(super) fn misspelt_head(object: &Field, named: Option<&str>, is_meant: &dyn Fn(&str) -> bool) -> Option<Misspelt> {
    let text = |key| object.get(key).and_then(|field| Some((field.as_str()?, &field.place)));
    let misspelt = |kind: &str, mistake: Diagnostic| Some(Misspelt::of_kind(kind, object, mistake));
    let Some((version, version_place)) = text("apiVersion") else {
        let kind = named.filter(|kind| KINDS.contains(kind) && is_meant(kind))?;
        let entry = near_entry(object, "apiVersion")?;
        return misspelt(kind, not_known(entry, "apiVersion"));
    };
    if version.split('/').next() != Some(GROUP) {
        let kind = named.filter(|kind| is_near_version(version) && is_meant(kind))?;
        return misspelt(kind, Mistake::ApiVersion(version.to_owned()).at(version_place.span()));
    }
    match text("kind") {
        Some((kind, place)) => {
            let meant = near(kind, &KINDS).filter(|meant| is_meant(meant))?;
            misspelt(meant, Mistake::OtherKind { kind: kind.to_owned(), meant }.at(place.span()))
        }
        None => {
            let entry = near_entry(object, "kind").filter(|_| named.is_none())?;
            let kind = entry.field.as_str().filter(|kind| is_meant(kind))?;
            misspelt(kind, not_known(entry, "kind"))
        }
    }
}

/// What makes Applications, or is one.
const KINDS: [&str; 2] = ["Application", "ApplicationSet"];

/// Whether an object with this head is an Application or a set of them, or may have been meant to be one.
pub(super) fn may_be_meant(version: &str, kind: &str) -> bool {
    let is_group = version.split('/').next() == Some(GROUP);
    (KINDS.contains(&kind) && (is_group || is_near_version(version))) || (is_group && near(kind, &KINDS).is_some())
}

/// Whether an `apiVersion` of another group may have been meant to be Argo CD's: its group is much like it, or missing. Kubernetes
/// itself has no kind of these names.
fn is_near_version(version: &str) -> bool {
    let group = version.split_once('/').map(|(group, _)| group);
    group.is_none_or(|group| group.contains("argo") || near(group, &[GROUP]).is_some())
}

/// An Application that is not hydrated because of a near miss of `spec` or `spec.sourceHydrator`. Where there are
/// rules, one of them might hydrate it without the near miss. A key without a value is not a near miss.
pub(super) fn misspelt(object: &Field, has_rules: bool) -> Option<Misspelt> {
    let what = name(object, "name").map_or_else(|| "this Application is".to_owned(), |name| format!("`{name}` is"));
    let has_mark = |entry: &&Entry| entry.field.get(MARK).is_some();
    let mistake = match object.get("spec") {
        Some(spec) => near_entry(spec, MARK).map(|entry| not_hydrated(entry, MARK, " in `spec`", what)),
        None => {
            let entry = near_entry(object, "spec").filter(|entry| has_rules || has_mark(entry));
            entry.map(|entry| not_hydrated(entry, "spec", "", what))
        }
    };
    mistake.map(|mistake| Misspelt::new(object, mistake))
}

/// A set that does not mention `sourceHydrator`, and has a near miss of it where it makes Applications.
pub(super) fn misspelt_set(object: &Field) -> Option<Misspelt> {
    let what = "what this ApplicationSet makes is".to_owned();
    let spec = object.get("spec")?;
    let mut templates = templates(spec);
    let entry = templates.find_map(|template| near_entry(template.get("spec")?, MARK));
    let diagnostic = match entry {
        Some(entry) => not_hydrated(entry, MARK, " in `spec`", what),
        None => {
            let patch = spec.get("templatePatch")?;
            let key = near_words(patch.as_str()?).next()?.to_owned();
            let mistake = Mistake::NotHydrated { key, near: MARK, place: " in the patch", what };
            mistake.at(patch.place.span())
        }
    };
    Some(Misspelt::of_set(object, diagnostic))
}

/// The templates of a set: its own, and those of its generators.
pub(super) fn templates(spec: &Field) -> impl Iterator<Item = &Field> {
    let mut found: Vec<&Field> = spec.get("template").into_iter().collect();
    let mut open: Vec<&Field> = spec.get("generators").into_iter().collect();
    while let Some(generators) = open.pop() {
        let Content::List(entries) = &generators.content else { continue };
        for entry in entries {
            let Content::Mapping(generators) = &entry.content else { continue };
            found.extend(generators.iter().filter_map(|generator| generator.field.get("template")));
            open.extend(generators.iter().filter_map(|generator| generator.field.get("generators")));
        }
    }
    found.into_iter()
}

/// The words of a text that are near misses of [`MARK`].
pub(super) fn near_words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_');
    text.split(is_between).filter(|word| is_like(word) && near(word, &[MARK]).is_some())
}

/// Whether a word has the length and the letters that a near miss of [`MARK`] may have: what this leaves is rare.
fn is_like(word: &str) -> bool {
    let is_other = |c: &char| !MARK.chars().any(|known| known.eq_ignore_ascii_case(c));
    WORD_BYTES.contains(&word.len()) && word.chars().filter(is_other).nth(EDITS_MAX).is_none()
}

fn not_hydrated(entry: &Entry, near: &'static str, place: &'static str, what: String) -> Diagnostic {
    Mistake::NotHydrated { key: entry.key.clone(), near, place, what }.at(entry.key_place.span())
}

fn not_known(entry: &Entry, near: &'static str) -> Diagnostic {
    Mistake::Unknown { key: entry.key.clone(), parent: String::new(), near: Some(near), is_required: false }
        .at(entry.key_place.span())
}

/// The first key of a mapping that is a near miss of `name` and has a value.
pub(super) fn near_entry<'f>(mapping: &'f Field, name: &str) -> Option<&'f Entry> {
    let Content::Mapping(entries) = &mapping.content else { return None };
    entries.iter().find(|entry| !entry.field.is_null() && near(&entry.key, &[name]).is_some())
}

/// How deep lists may be nested in lists.
const LIST_DEPTH_MAX: u32 = 8;

/// How much is looked at for Applications that are gone, as files with Applications [cost](super::cost): the texts in their files
/// that may be documents, and what the aliases of both stand for.
const LOOKED_AT_BYTES_MAX: u64 = 64 << 20;

/// What was looked at of files whose Applications are gone.
#[derive(Default)]
pub(crate) struct Looks {
    bytes: Cell<u64>,
}

impl Looks {
    /// Why Applications and sets of these names are neither in a file any more, while it has a document of that name which it did
    /// not have `before`: a version or kind that is Argo CD's for neither, whatever it is near to, or another one of Argo CD's that it
    /// cannot be; one without a source; one that is a part of a document now; or because it cannot be told, where that would be too
    /// much to look at. None for names that no such document has.
    /// Nor is a document gone that has lost what makes it an object.
    ///
    /// Errors: none of its own. A file that cannot be read now is one such reason.
    pub(crate) fn unrecognized(
        &self,
        path: &RepoPath,
        before: &[u8],
        now: &[u8],
        names: &BTreeSet<&str>,
    ) -> Vec<Diagnostic> {
        let documents = match self.parse(path, now) {
            Some(Ok(documents)) => documents,
            Some(Err(diagnostic)) => return vec![diagnostic],
            None => return vec![is_too_much(path, names)],
        };
        let before = self.parse(path, before).unwrap_or_else(|| Ok(Vec::new())).unwrap_or_default();
        let former: BTreeSet<Head<'_>> = heads(&before).map(|(head, _)| head).collect();
        let lacked_source = heads(&before).filter_map(|(head, object)| lacks_source(&head, object));
        let was_without: BTreeSet<&str> = lacked_source.collect();
        let mut found = Vec::new();
        let former_parts = self.parts_named(path, &before, names).unwrap_or_default();
        let mut there: BTreeSet<String> = former_parts.into_iter().map(|(name, _)| name).collect();
        for (head, object) in heads(&documents).filter(|(head, _)| names.contains(head.name)) {
            there.insert(head.name.to_owned());
            let is_new = !former.contains(&head);
            match head.known() {
                None if is_new => found.push(head.mistake(object)),
                Some("Application") if was_without.contains(head.name) => {}
                Some("Application") => {
                    found.extend(lacks_source(&head, object).map(|name| without_source(name, object)))
                }
                Some(_) if is_new && is_no_such(&head, object) => found.push(head.mistake(object)),
                Some(_) if was_without.contains(head.name) => {}
                Some(_) if lacks_source(&head, object).is_some() => found.push(without_template(head.name, object)),
                None | Some(_) => {}
            }
        }
        let names: BTreeSet<&str> = names.iter().copied().filter(|name| !there.contains(*name)).collect();
        match self.parts_named(path, &documents, &names) {
            Some(parts) => found.extend(parts.iter().map(|(name, part)| is_part(name, part))),
            None if names.is_empty() => {}
            None => found.push(is_too_much(path, &names)),
        }
        if found.is_empty()
            && let (Some(name), Some(damaged)) = (names.first(), newly_damaged(&before, &documents))
        {
            found.push(is_damaged(name, damaged));
        }
        found
    }

    /// Which of these names a file still has Applications and sets of; all of them where that cannot be determined.
    pub(crate) fn there<'n>(&self, path: &RepoPath, now: &[u8], names: &BTreeSet<&'n str>) -> BTreeSet<&'n str> {
        let Some(Ok(documents)) = self.parse(path, now) else { return names.clone() };
        let there: BTreeSet<&str> =
            heads(&documents).filter(|(head, _)| head.known().is_some()).map(|(head, _)| head.name).collect();
        names.iter().copied().filter(|name| there.contains(name)).collect()
    }

    /// The documents of a file or a text; none when that would be too much.
    fn parse(&self, path: &RepoPath, bytes: &[u8]) -> Option<Result<Vec<Field>, Diagnostic>> {
        located::parse_within(path, bytes, &|extra| self.may_take(extra)).transpose()
    }

    fn may_take(&self, bytes: u64) -> bool {
        let all = self.bytes.get().saturating_add(bytes);
        if all <= LOOKED_AT_BYTES_MAX {
            self.bytes.set(all);
        }
        all <= LOOKED_AT_BYTES_MAX
    }

    /// The names of Applications and sets, of these, that are parts of documents which are no objects, each with that part. A text
    /// that occurs many times, such as through aliases, is looked into once. None when all of them would be too much.
    fn parts_named<'f>(
        &self,
        path: &RepoPath,
        documents: &'f [Field],
        names: &BTreeSet<&str>,
    ) -> Option<Vec<(String, &'f Field)>> {
        let named = |(head, _): (Head<'_>, &Field)| head.is_one_of(names).then(|| head.name.to_owned());
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open: Vec<(&Field, u32)> = documents.iter().filter(|it| !is_object(it)).map(|it| (it, 0)).collect();
        while let Some((part, depth)) = open.pop() {
            match &part.content {
                _ if is_object(part) => found.extend(heads([part]).filter_map(named).map(|name| (name, part))),
                Content::List(items) if depth < LIST_DEPTH_MAX => {
                    open.extend(items.iter().map(|item| (item, depth + 1)));
                }
                Content::Mapping(entries) if depth < LIST_DEPTH_MAX => {
                    open.extend(entries.iter().map(|entry| (&entry.field, depth + 1)));
                }
                _ => {
                    let Some(text) = part.as_str().filter(|text| text.contains(KINDS[0])) else { continue };
                    if seen.insert(text) {
                        self.may_take(text.len() as u64).then_some(())?;
                        let inner = self.parse(path, text.as_bytes())?.unwrap_or_default();
                        found.extend(heads(&inner).filter_map(named).map(|name| (name, part)));
                    }
                }
            }
        }
        Some(found)
    }
}

/// That a file has too much to tell whether Applications that are gone are still there.
fn is_too_much(path: &RepoPath, names: &BTreeSet<&str>) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let text =
        format!("whether {} is a part of another document cannot be determined: there is too much", names.join(", "));
    let hint = "keep Applications in a file of their own; to take them off their branches, remove that file";
    Diagnostic::error(clipped(one_line(&text))).at(Span::file(path.clone())).hint(hint)
}

/// Whether the `spec` of an object of another kind of Argo CD is that of an Application.
fn is_no_such(head: &Head<'_>, object: &Field) -> bool {
    let Some(spec) = object.get("spec") else { return true };
    let is_set = head.kind == Some("ApplicationSet") && spec.get("generators").is_some();
    !is_set && SOURCES.iter().any(|key| spec.get(key).is_some())
}

/// What makes an Application one that something can be deployed from.
const SOURCES: [&str; 3] = [MARK, "source", "sources"];

/// The name of an Application without a source, or of a set that gives none to the Applications that it makes.
fn lacks_source<'f>(head: &Head<'f>, object: &Field) -> Option<&'f str> {
    let has = |spec: &Field| SOURCES.iter().any(|key| spec.get(key).is_some_and(|value| !value.is_null()));
    let spec = object.get("spec");
    let lacks = match head.known() {
        Some("Application") => !spec.is_some_and(has),
        Some("ApplicationSet") => !spec.is_some_and(|spec| {
            let patch = spec.get("templatePatch").and_then(Field::as_str).unwrap_or_default();
            let is_patched = SOURCES.iter().any(|key| patch.contains(key));
            is_patched || templates(spec).any(|template| template.get("spec").is_some_and(has))
        }),
        _ => false,
    };
    lacks.then_some(head.name)
}

/// That a set gives no source to what it makes: at the key that comes nearest to the one that is missing.
fn without_template(name: &str, set: &Field) -> Diagnostic {
    let missing = |within: &Field, key: &'static str, parent: &'static str| match near_entry(within, key) {
        Some(entry) => not_hydrated(entry, key, parent, format!("what `{name}` makes is")).as_error(),
        None => {
            let text = format!("what `{name}` makes is no longer hydrated: it has no `{key}`{parent}");
            let hint = format!("write `{key}` again; to take its Applications off their branches, remove the document");
            Diagnostic::error(one_line(&text)).at(within.place.span()).hint(hint)
        }
    };
    let Some(spec) = set.get("spec") else { return missing(set, "spec", "") };
    let Some(template) = spec.get("template") else { return missing(spec, "template", " in `spec`") };
    match template.get("spec") {
        Some(spec) => missing(spec, MARK, " in `spec` of its template"),
        None => missing(template, "spec", " in its template"),
    }
}

/// The first document that is not an object, where there are more of these than before: one that was an object may have become it.
fn newly_damaged<'f>(before: &[Field], now: &'f [Field]) -> Option<&'f Field> {
    let mut damaged = now.iter().filter(|document| !is_whole(document));
    let first = damaged.next()?;
    let count = before.iter().filter(|document| !is_whole(document)).count();
    (1 + damaged.count() > count).then_some(first)
}

/// Whether a document has all that makes it an object, or a list of objects.
fn is_whole(document: &Field) -> bool {
    let has_name = |metadata: &Field| ["name", "generateName"].iter().any(|key| text(metadata, key).is_some());
    let is_named = document.get("metadata").is_some_and(has_name) || document.get("items").is_some();
    text(document, "apiVersion").is_some() && text(document, "kind").is_some_and(|kind| is_named || is_nameless(kind))
}

/// Whether objects of a kind need no name: they are read by tools, and no cluster has them.
fn is_nameless(kind: &str) -> bool {
    matches!(kind, "Kustomization" | "Component")
}

fn is_damaged(name: &str, document: &Field) -> Diagnostic {
    let lacks = ["apiVersion", "kind"].into_iter().find(|key| text(document, key).is_none()).unwrap_or("metadata.name");
    let text = format!("`{name}` is no longer an Application: this document has no `{lacks}`");
    let hint = "write the document as it was; to take it off its branch, remove the document";
    Diagnostic::error(one_line(&text)).at(document.place.span()).hint(hint)
}

fn without_source(name: &str, object: &Field) -> Diagnostic {
    let spec = object.get("spec");
    let entries = match spec.map(|spec| &spec.content) {
        Some(Content::Mapping(entries)) => &entries[..],
        _ => &[],
    };
    let is_mark = |entry: &&Entry| ["drySource", "syncSource"].iter().any(|key| entry.field.get(key).is_some());
    if let Some(entry) = entries.iter().find(is_mark) {
        return not_hydrated(entry, MARK, " in `spec`", format!("`{name}` is")).as_error();
    }
    let text = format!("`{name}` is no longer hydrated: it has no `{MARK}`");
    let hint = format!("write `{MARK}` in its `spec` again; to take it off its branch, remove the document");
    Diagnostic::error(one_line(&text)).at(spec.unwrap_or(object).place.span()).hint(hint)
}

/// Whether a document says of which kind it is.
fn is_object(document: &Field) -> bool {
    text(document, "kind").is_some() || document.get("apiVersion").is_some()
}

fn is_part(name: &str, part: &Field) -> Diagnostic {
    let text = format!("`{name}` is no longer an Application: it is a part of another document");
    let hint = "write it as a document of its own; to take it off its branch, remove it";
    Diagnostic::error(one_line(&text)).at(part.place.span()).hint(hint)
}

/// What an object says that it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head<'f> {
    name: &'f str,
    version: Option<&'f str>,
    kind: Option<&'f str>,
}

/// The heads of all objects with a name, those of lists among them.
fn heads<'f>(documents: impl IntoIterator<Item = &'f Field>) -> impl Iterator<Item = (Head<'f>, &'f Field)> {
    let mut objects = Vec::new();
    let mut open: Vec<(&Field, u32)> = documents.into_iter().map(|document| (document, 0)).collect();
    open.reverse();
    while let Some((object, depth)) = open.pop() {
        objects.push(object);
        if let Some(Content::List(items)) = object.get("items").map(|items| &items.content)
            && depth < LIST_DEPTH_MAX
        {
            open.extend(items.iter().rev().map(|item| (item, depth + 1)));
        }
    }
    objects.into_iter().filter_map(move |object| {
        let name = lenient(lenient(object, "metadata")?, "name")?.as_str()?;
        Some((Head { name, version: text(object, "apiVersion"), kind: text(object, "kind") }, object))
    })
}

fn text<'f>(object: &'f Field, key: &str) -> Option<&'f str> {
    object.get(key).and_then(Field::as_str)
}

/// The value of a key, or of one that is a near miss of it.
fn lenient<'f>(mapping: &'f Field, key: &str) -> Option<&'f Field> {
    mapping.get(key).or_else(|| near_entry(mapping, key).map(|entry| &entry.field))
}

impl<'f> Head<'f> {
    /// Its kind, if it is one of Argo CD's.
    fn known(&self) -> Option<&'f str> {
        let is_group = self.version.is_some_and(|version| version.split('/').next() == Some(GROUP));
        self.kind.filter(|kind| is_group && (KINDS.contains(kind) || *kind == "AppProject"))
    }

    /// Whether it is an Application or a set of one of these names.
    fn is_one_of(&self, names: &BTreeSet<&str>) -> bool {
        names.contains(self.name) && self.kind.is_some_and(|kind| KINDS.contains(&kind))
    }

    fn mistake(&self, object: &Field) -> Diagnostic {
        let is_kind = self.known().is_none() && self.kind.is_some_and(|kind| KINDS.contains(&kind));
        let (key, value) = if is_kind { ("apiVersion", self.version) } else { ("kind", self.kind) };
        let place = object.get(key).map(|field| &field.place);
        let near_miss = near_entry(object, key);
        let place = place.or_else(|| near_miss.map(|entry| &entry.key_place)).unwrap_or(&object.place);
        let found = match (value, near_miss) {
            (Some(value), _) => format!("`{key}: {value}`"),
            (None, Some(entry)) => format!("`{}` in place of `{key}`", entry.key),
            (None, None) => format!("no `{key}`"),
        };
        let text = format!("`{}` is no longer an Application: its document has {found}", self.name);
        let right = match (key, self.kind.and_then(|kind| near(kind, &KINDS))) {
            ("kind", Some(kind)) => format!("write `kind: {kind}`"),
            ("kind", None) => "write the kind that it had".to_owned(),
            _ => format!("write `apiVersion: {GROUP}/v1alpha1`"),
        };
        let hint = format!("{right}; to take it off its branch, remove the document");
        Diagnostic::error(one_line(&text)).at(place.span()).hint(hint)
    }
}
