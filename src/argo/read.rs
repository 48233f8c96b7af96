//! Finds the Applications of one file.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::GROUP;
use super::cost::LIMITS;
use super::document::{Document, document};
use super::field::{Content, Field, Place};
use super::located;
use super::misspelt::{MARK, Misspelt, misspelt, misspelt_head, misspelt_set, near_words};
use super::mistake::Mistake;
use super::rules::{Placement, RuleSet, Ruling, is_plain};
use super::set::{ApplicationSet, SETS_MAX, misspelt_keys_of_application};
use super::{AppName, Application};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::Unreadable;
use go_yaml::{self as yaml, Dialect, Node, Value};

/// How deep lists may be nested, and how many Applications in a file.
const LIST_DEPTH_MAX: u32 = 8;
const APPLICATIONS_MAX: usize = 10_000;

/// What one file of the dry tree says.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// The file.
    pub path: RepoPath,
    /// Its Applications with `spec.sourceHydrator` or under a rule, right or wrong, in their order; those that its sets make
    /// are none of them.
    pub documents: Vec<Document>,
    /// What is wrong with the file as a whole: with an error, it is not known which Applications it has.
    pub diagnostics: Vec<Diagnostic>,
    /// Its ApplicationSets that mention `sourceHydrator` or fall under a rule, in their order.
    pub sets: Vec<Arc<ApplicationSet>>,
    /// The numbers of the rules that match something in it.
    pub rules: BTreeSet<usize>,
    /// The Applications that are not hydrated by mistake. What is said of them is among the `diagnostics`.
    pub misspelt: Vec<Misspelt>,
    /// Whether the word `sourceHydrator` is in it, or one that was meant to be.
    pub holds_source_hydrator: bool,
    /// Whether `holds_source_hydrator`, or the file may have an Application that a rule is for. Without that, nothing
    /// else was looked at.
    pub is_marked: bool,
}

impl File {
    /// Whether it could be read as a whole: only then is what it doesn't contain known to be gone.
    pub fn is_readable(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// A file of which nothing can be used.
    pub(crate) fn barren(path: &RepoPath, diagnostics: Vec<Diagnostic>, holds_source_hydrator: bool) -> Self {
        Self {
            path: path.clone(),
            documents: Vec::new(),
            diagnostics,
            sets: Vec::new(),
            rules: BTreeSet::new(),
            misspelt: Vec::new(),
            holds_source_hydrator,
            is_marked: true,
        }
    }

    /// Whether nothing of it can be used.
    pub(crate) fn is_barren(&self) -> bool {
        let Self { documents, sets, rules, misspelt, is_marked, .. } = self;
        documents.is_empty() && sets.is_empty() && rules.is_empty() && misspelt.is_empty() && *is_marked
    }

    /// Its Applications without mistakes.
    pub fn applications(&self) -> impl Iterator<Item = &Application> {
        self.documents.iter().filter_map(|document| document.application.as_deref())
    }

    /// Whether it has an Application of this name, right or wrong.
    pub fn has(&self, name: &AppName) -> bool {
        self.documents.iter().any(|document| document.name.as_ref() == Some(name))
    }

    /// Everything that is wrong or odd, of the file first, then Application by Application.
    pub fn all_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().chain(self.documents.iter().flat_map(|document| &document.diagnostics))
    }
}

/// A file that is too large to be read as a list of Applications, if it seems to be one: its Applications are unknown then.
pub(crate) fn read_too_large(path: &RepoPath, bytes: &[u8], rules: &RuleSet) -> Option<File> {
    let text = yaml::lossy(bytes);
    // A line of its own: what describes Applications, such as their CustomResourceDefinition, has such words too.
    let kinds = ["kind: Application", "\"kind\": \"Application\"", "\"kind\":\"Application\""];
    let seems = is_marked(bytes, rules)
        && (text.lines().any(|line| line.trim_end() == kinds[0]) || kinds[1..].iter().any(|kind| text.contains(kind)));
    if !seems {
        return None;
    }
    let diagnostic = Diagnostic::error(format!("a file of {} MiB is too large for Applications", bytes.len() >> 20))
        .hint("split it, or exclude it with the setting `applications` if it has none")
        .at(Span::file(path.clone()));
    Some(File::barren(path, vec![diagnostic], text.contains(MARK)))
}

/// A file that cannot be read, since it is none: its Applications are unknown.
pub(crate) fn read_no_file(path: &RepoPath, why: &Unreadable) -> File {
    let diagnostic = Diagnostic::error(format!("{path}: {why}"))
        .hint("commit the file anew: git fsck names the tree that is wrong")
        .at(Span::file(path.clone()));
    File::barren(path, vec![diagnostic], true)
}

/// Whether the word `sourceHydrator` is in a file, or one that was meant to be, or it may contain what a rule is for. One
/// without any of these has no Application of ours.
pub(crate) fn is_marked(bytes: &[u8], rules: &RuleSet) -> bool {
    let text = yaml::lossy(bytes);
    holds_source_hydrator(&text) || (!rules.is_empty() && may_be_plain(text.as_bytes()))
}

fn holds_source_hydrator(text: &str) -> bool {
    text.contains(MARK) || has_near_miss(text)
}

/// Whether a text may contain an Argo CD Application or ApplicationSet of any kind.
pub(super) fn may_be_plain(text: &[u8]) -> bool {
    let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    has(GROUP) && has("Application")
}

/// Whether a text that may contain an Application has a near miss of the word `sourceHydrator`.
///
/// Asked of every file of a dry tree: one that does not name Argo CD's group costs one search.
fn has_near_miss(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), GROUP.as_bytes()).is_some() && near_words(text).next().is_some()
}

/// Reads the Applications with `spec.sourceHydrator` out of a file: [`read_by`] without rules.
pub fn read(path: &RepoPath, bytes: &[u8]) -> File {
    read_by(path, bytes, &RuleSet::default())
}

/// Reads the Applications with `spec.sourceHydrator`, and those that rules hydrate, out of a file, as Kubernetes reads YAML.
/// JSON is read as the YAML that it is.
///
/// Several documents, and items of lists (`kind: List` and any `…List`). All other objects are passed over; with a
/// warning those that may have been meant. A file without the word `sourceHydrator`, or a near miss of it, is not parsed,
/// unless there are rules and it names Argo CD's group.
///
/// Errors: none of its own. A file that has the word and can't be parsed has an error in [`File::diagnostics`]; one that seems
/// to contain an Application without it a warning.
pub(crate) fn read_by(path: &RepoPath, bytes: &[u8], rules: &RuleSet) -> File {
    let nothing = || File::barren(path, Vec::new(), false);
    read_within(path, bytes, rules, &|_| true).unwrap_or_else(nothing)
}

/// Reads a file as [`read_by`] does, if `may_take` takes what the file costs beside its size, which is more than
/// nothing where aliases stand for much. None if it does not.
pub(crate) fn read_within(
    path: &RepoPath,
    bytes: &[u8],
    rules: &RuleSet,
    may_take: &dyn Fn(u64) -> bool,
) -> Option<File> {
    let text = yaml::lossy(bytes);
    let holds_source_hydrator = holds_source_hydrator(&text);
    let mut file = File {
        path: path.clone(),
        documents: Vec::new(),
        diagnostics: Vec::new(),
        sets: Vec::new(),
        rules: BTreeSet::new(),
        misspelt: Vec::new(),
        holds_source_hydrator,
        is_marked: holds_source_hydrator || (!rules.is_empty() && may_be_plain(text.as_bytes())),
    };
    if !file.is_marked {
        return Some(file);
    }
    match located::parse_within(path, bytes, may_take) {
        Ok(None) => return None,
        Ok(Some(documents)) => {
            for document in documents {
                file.visit(&document, None, 0, rules);
            }
        }
        Err(diagnostic) => {
            let hint = match is_indented_by_tab(&diagnostic) {
                true => "YAML is indented with spaces, not with tabs",
                false => "correct it, or exclude it with the setting `applications` if it has no Application",
            };
            // What only mentions Argo CD may be anything.
            let is_application = |line: &str| line.trim_end() == "kind: Application";
            if holds_source_hydrator || text.lines().any(is_application) {
                file.diagnostics.push(diagnostic.hint(hint));
            }
        }
    }
    Some(file)
}

/// How often the word `sourceHydrator` is in a file.
pub(crate) fn count_mentions(bytes: &[u8]) -> usize {
    memchr::memmem::find_iter(bytes, MARK.as_bytes()).count()
}

/// How many objects of a file are certainly Applications with `spec.sourceHydrator`, found without reading them: 0 for a file
/// that cannot be parsed.
pub(crate) fn count_certain(bytes: &[u8]) -> usize {
    let nodes = yaml::parse(bytes, &LIMITS).unwrap_or_default();
    nodes.iter().map(|node| certain(node, 0)).sum()
}

fn certain(node: &Node, depth: u32) -> usize {
    let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
    let is_there = |field: &Node| !field.is_null(Dialect::V2);
    match text("kind") {
        "Application" if text("apiVersion").split('/').next() == Some(GROUP) => {
            usize::from(node.at(&["spec", MARK]).is_some_and(is_there))
        }
        "List" if depth < LIST_DEPTH_MAX => {
            let items = node.get("items").and_then(Node::as_sequence).unwrap_or_default();
            items.iter().map(|item| certain(item, depth + 1)).sum()
        }
        _ => 0,
    }
}

fn is_indented_by_tab(diagnostic: &Diagnostic) -> bool {
    let line = diagnostic.span.as_ref().and_then(|span| span.text.as_deref()).unwrap_or_default();
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).any(|byte| byte == b'\t')
}

/// The Applications of a file as they are written, by the numbers that [`read_by`] gives them; none of a file that cannot be
/// parsed.
pub(crate) fn objects(path: &RepoPath, bytes: &[u8], rules: &RuleSet) -> Vec<Value> {
    let mut found = Vec::new();
    for document in located::parse(path, bytes).unwrap_or_default() {
        gather(&document, None, 0, (rules, path), &mut found);
    }
    found
}

fn gather(object: &Field, item_kind: Option<&str>, depth: u32, of: (&RuleSet, &RepoPath), found: &mut Vec<Value>) {
    match kind(object, item_kind, of) {
        Kind::Application(_) if found.len() < APPLICATIONS_MAX => found.push(object.to_value()),
        Kind::List(items) if depth < LIST_DEPTH_MAX => {
            let list_kind = object.get("kind").and_then(Field::as_str);
            let item_kind = list_kind.and_then(|kind| kind.strip_suffix("List")).filter(|kind| !kind.is_empty());
            items.iter().for_each(|item| gather(item, item_kind, depth + 1, of, found));
        }
        _ => {}
    }
}

/// Reads an override file: one mapping, or nothing.
pub(super) fn single_document(path: &RepoPath, bytes: &[u8]) -> Result<Option<Field>, Vec<Diagnostic>> {
    let mut documents = located::parse(path, bytes).map_err(|diagnostic| vec![diagnostic])?;
    if let Some(second) = documents.get(1) {
        return Err(vec![Mistake::ManyDocuments.at(second.place.span())]);
    }
    Ok(documents.pop())
}

/// What an object is, by its head and by where a `sourceHydrator` is in it.
pub(super) enum Kind<'a> {
    /// One with `spec.sourceHydrator`, or with what a rule says of it.
    Application(Option<Placement>),
    /// One without `spec.sourceHydrator` that the rule of this number leaves alone.
    LeftAlone(usize),
    /// An Application, or a set of them, in which something is misspelt that would make it one of ours.
    Misspelt(Misspelt),
    /// One that mentions `sourceHydrator`, or falls under a rule.
    ApplicationSet(ApplicationSet),
    List(&'a [Field]),
    /// Something with `spec.sourceHydrator` that has no kind, or another one.
    Unclear(Option<(&'a str, &'a Place)>),
    Other,
}

impl File {
    fn too_many(&mut self, object: &Field) {
        if self.is_readable() {
            self.diagnostics.push(Mistake::ManyApplications { max: APPLICATIONS_MAX }.at(object.place.span()));
        }
    }

    fn misspelt(&mut self, object: &Field, misspelt: Misspelt) {
        if self.misspelt.len() == APPLICATIONS_MAX {
            return self.too_many(object);
        }
        self.diagnostics.push(misspelt.diagnostic.clone());
        self.misspelt.push(misspelt);
    }

    /// Takes in one object. `item_kind` is the kind that items of the list around have, if that tells.
    fn visit(&mut self, object: &Field, item_kind: Option<&str>, depth: u32, rules: &RuleSet) {
        match kind(object, item_kind, (rules, &self.path)) {
            Kind::Application(_) if self.documents.len() == APPLICATIONS_MAX => self.too_many(object),
            Kind::Application(placement) => {
                self.rules.extend(placement.as_ref().map(|placement| placement.rule));
                let is_item = item_kind.is_some();
                self.documents.push(document(object, self.documents.len(), is_item, placement.as_ref(), rules));
            }
            Kind::LeftAlone(rule) => drop(self.rules.insert(rule)),
            Kind::Misspelt(misspelt) => self.misspelt(object, misspelt),
            Kind::List(items) if depth < LIST_DEPTH_MAX => {
                let list_kind = object.get("kind").and_then(Field::as_str);
                let item_kind = list_kind.and_then(|kind| kind.strip_suffix("List")).filter(|kind| !kind.is_empty());
                for item in items {
                    self.visit(item, item_kind, depth + 1, rules);
                }
            }
            Kind::List(_) => self.diagnostics.push(Mistake::ListDepth.at(object.place.span())),
            Kind::ApplicationSet(_) if self.sets.len() == SETS_MAX => self.too_many(object),
            Kind::ApplicationSet(set) => {
                self.diagnostics.extend(set.misspelt_fields());
                for misspelt in set.misspelt_keys() {
                    self.misspelt(object, misspelt);
                }
                self.sets.push(Arc::new(set));
            }
            Kind::Unclear(Some((kind, place))) => {
                self.diagnostics
                    .push(Mistake::OtherKind { kind: kind.to_owned(), meant: "Application" }.at(place.span()));
            }
            Kind::Unclear(None) => {
                self.diagnostics
                    .push(Mistake::Missing { field: "kind".to_owned(), meant: None }.at(object.place.span()));
            }
            Kind::Other => {}
        }
    }
}

/// What an object is by these rules; the file is the one that contains it, or its maker.
pub(super) fn kind<'a>(object: &'a Field, item_kind: Option<&str>, (rules, file): (&RuleSet, &RepoPath)) -> Kind<'a> {
    let text = |key| object.get(key).and_then(|field| Some((field.as_str()?, &field.place)));
    let hydrated = |object: &Field| object.get("spec").is_some_and(|spec| spec.get(MARK).is_some());
    let group = text("apiVersion").map(|(version, _)| version.split('/').next().unwrap_or_default());
    let argo = group.is_none_or(|group| group == GROUP);
    let named = text("kind").map(|(kind, _)| kind).or(item_kind);
    let misspelt_head = || misspelt_head(object, named, &|kind| is_meant(kind, object, (rules, file)));
    if named == Some("ApplicationSet") && argo {
        let is_plain = || is_plain(object, item_kind.is_some()) && rules.may_hydrate_of(object, file);
        let set = ApplicationSet::mentioning(MARK, object);
        if let Some(set) = set.or_else(|| is_plain().then(|| ApplicationSet::of(object))) {
            return Kind::ApplicationSet(set);
        }
    }
    if named == Some("ApplicationSet")
        && argo
        && let Some(misspelt) = misspelt_set(object)
    {
        return Kind::Misspelt(misspelt);
    }
    match (named, text("kind")) {
        (Some("Application"), _) if argo && hydrated(object) => Kind::Application(None),
        (Some("Application"), _) if argo => {
            let ruling = Some(object).filter(|object| is_plain(object, item_kind.is_some()));
            match ruling.and_then(|object| rules.ruling(object, file)) {
                Some(Ruling::Hydrated(placement)) => Kind::Application(Some(placement)),
                Some(Ruling::LeftAlone(rule)) => Kind::LeftAlone(rule),
                None => {
                    let keys = || misspelt_keys_of_application(object).into_iter().next();
                    let ruled = || keys().filter(|_| !rules.is_empty()).map(|key| Misspelt::new(object, key));
                    let found = misspelt(object, !rules.is_empty()).or_else(ruled).or_else(misspelt_head);
                    found.map_or(Kind::Other, Kind::Misspelt)
                }
            }
        }
        (Some("ApplicationSet"), _) if argo && !hydrated(object) => {
            let keys = || ApplicationSet::of(object).misspelt_keys().into_iter().next().filter(|_| !rules.is_empty());
            misspelt_head().or_else(keys).map_or(Kind::Other, Kind::Misspelt)
        }
        (Some(kind), _) if kind.ends_with("List") => match object.get("items").map(|items| &items.content) {
            Some(Content::List(items)) => Kind::List(items),
            _ => Kind::Other,
        },
        (_, found) => match misspelt_head() {
            Some(misspelt) => Kind::Misspelt(misspelt),
            None if group == Some(GROUP) && hydrated(object) => Kind::Unclear(found),
            None => Kind::Other,
        },
    }
}

/// Whether an object of this kind would be hydrated, or what a set makes: by its `sourceHydrator`, or by a rule.
fn is_meant(kind: &str, object: &Field, (rules, file): (&RuleSet, &RepoPath)) -> bool {
    let Some(spec) = object.get("spec") else { return false };
    let is_ruled = || matches!(rules.ruling(object, file), Some(Ruling::Hydrated(_)));
    match kind {
        "Application" => spec.get(MARK).is_some() || is_ruled(),
        "ApplicationSet" => ApplicationSet::mentioning(MARK, object).is_some() || rules.may_hydrate_of(object, file),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
