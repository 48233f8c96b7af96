//! The line of a dry file that a field of a rendered object comes from.
//!
//! The file is the one that the object is made of: a file of a directory, a resource of a kustomization, a template of a chart. Where
//! it has the field as it is, that is the line. Else that of the patch or the generator which says it ([`kustomized`]). Else a value is
//! looked for in the Application's document and the other files by [`trial`], and of a template the line counts that has the keys of the
//! field one below the other, or that includes them ([`template`]).

mod kustomized;
mod template;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Reads, View};
use go_yaml::{self as yaml, Data, Limits, Node, Value};

use self::kustomized::Field;
use self::template::{in_helper, in_template};
use super::trial::{self, SourceLine, Trial};
use super::{Context, Renderers};
use crate::apiserver::field_path;
use crate::argo::Application;
use crate::diff::{FieldPath, ObjectName, Step};
use crate::manifest::Manifest;
use crate::settings::RendererName;

/// How many Applications are rendered again for the files of their objects.
const APPLICATIONS_MAX: usize = 16;

/// How many values are looked for by rendering again.
const TRIALS_MAX: usize = 8;

/// How much time all of that may take: a pusher waits for it. What is not found then is reported with another place.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The objects of an Application with their files.
type Origins = Vec<(Manifest, Option<RepoPath>)>;

/// Finds places in one dry tree, as many as are worth their time.
pub(crate) struct Places<'p> {
    renderers: &'p Renderers,
    context: &'p Context<'p>,
    /// By Application, with the time that they took.
    origins: BTreeMap<(RepoPath, usize), (Origins, Duration)>,
    trials_left: usize,
    time_left: Duration,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'w> {
    /// The Application that renders the object.
    pub application: &'w Application,
    /// What its render looked at.
    pub reads: &'w Reads,
    /// The object.
    pub object: &'w ObjectName,
    /// The field as a server names it; the object need not have it.
    pub field: &'w str,
    /// Whether it is the value that counts, and not that the field is there.
    pub is_value: bool,
    /// Whether the field does not exist: it may be one that belongs elsewhere.
    pub is_unknown: bool,
}

impl<'p> Places<'p> {
    pub(crate) fn new(renderers: &'p Renderers, context: &'p Context<'p>) -> Self {
        Self { renderers, context, origins: BTreeMap::new(), trials_left: TRIALS_MAX, time_left: TIME_MAX }
    }

    /// The line, or the file where no line is known; none where neither is. Of a Secret the line is not quoted.
    pub(crate) fn find(&mut self, wanted: Wanted<'_>) -> Option<Span> {
        let found = self.found(wanted);
        if wanted.object.kind == "Secret" { found.map(Span::unquoted) } else { found }
    }

    fn found(&mut self, wanted: Wanted<'_>) -> Option<Span> {
        let Wanted { application, reads, object, is_value, is_unknown, .. } = wanted;
        let (renderers, context) = (self.renderers, self.context);
        let key = (application.file.clone(), application.index);
        if !self.origins.contains_key(&key) {
            let is_asked = self.origins.len() < APPLICATIONS_MAX && !self.time_left.is_zero();
            let begun = Instant::now();
            let origins = is_asked.then(|| renderers.origins(application, context).ok()).flatten();
            let took = begun.elapsed();
            self.time_left = self.time_left.saturating_sub(took);
            self.origins.insert(key.clone(), (origins.unwrap_or_default(), took));
        }
        let (origins, took) = self.origins.get(&key)?;
        let (manifest, file) = origins.iter().find(|(manifest, _)| ObjectName::of(manifest) == *object)?;
        let field = field_path(wanted.field, manifest.object());
        let text = file.as_ref().and_then(|file| text_of(context, file));
        let written = text.as_deref().and_then(|text| in_documents(text, manifest, &field));
        let span = |line: u32| Some(Span { line, ..Span::file(file.clone()?) }.quoting(text.as_deref()?));
        if let Some(Line { number, is_field: true, scalar }) = &written
            && (!is_value || *scalar == text_at(manifest.object(), &field))
        {
            return span(*number);
        }
        // A name is wrong where it is written, whatever value it has: a template is not YAML, and has it all the same.
        let template = text.as_deref().filter(|_| written.is_none()).and_then(|text| in_template(text, object, &field));
        let helper = || {
            let included = template.filter(|found| !found.is_key && !is_unknown)?.line;
            let included = text.as_deref()?.lines().nth(included as usize - 1)?;
            in_helper(&View::new(context.files), reads, file.as_ref()?, included, field.keys().last()?)
        };
        if let (false, Some(found)) = (is_value, template) {
            return helper().or_else(|| span(found.line));
        }
        if !self.time_left.is_zero() {
            let begun = Instant::now();
            let name = text.as_deref().and_then(|text| written_name(text, manifest));
            let name = name.as_deref().unwrap_or_default();
            let looked_for = Field { manifest, name, file: file.as_ref(), path: &field, is_value };
            let found = kustomized::place(&View::new(context.files), reads, looked_for);
            self.time_left = self.time_left.saturating_sub(begun.elapsed());
            if found.is_some() {
                return found;
            }
        }
        let is_affordable = self.trials_left > 0 && took.saturating_mul(trial::TRIES_MAX) <= self.time_left;
        if is_affordable && context.renderer == RendererName::Native {
            self.trials_left -= 1;
            let begun = Instant::now();
            let manifests: Vec<Manifest> = origins.iter().map(|(manifest, _)| manifest.clone()).collect();
            let trial = Trial { renderers, application, context, object, field: &field };
            let own = trial::set_in_application(&trial, &manifests);
            let found = if own.is_empty() { trial::set_in(&trial, &manifests, reads) } else { own }.into_iter().next();
            self.time_left = self.time_left.saturating_sub(begun.elapsed());
            if let Some(found) = found {
                let path = RepoPath::new(&found.path).ok()?;
                let text = text_of(context, &path)?;
                return Some(Span { line: found.line, ..Span::file(path) }.quoting(&text));
            }
        }
        if let Some(found) = helper() {
            return Some(found);
        }
        match written.map(|line| line.number).or(template.map(|found| found.line)) {
            Some(line) => span(line),
            None => file.clone().map(Span::file),
        }
    }
}

/// The line of a kustomization, or of a patch, that says a field of an object as it is.
pub(crate) fn said_in(view: &View<'_>, reads: &Reads, manifest: &Manifest, field: &FieldPath) -> Option<SourceLine> {
    let looked_for = Field { manifest, name: "", file: None, path: field, is_value: true };
    let span = kustomized::place(view, reads, looked_for)?;
    Some(SourceLine { path: span.path.to_string(), line: span.line, field: field.to_string() })
}

fn text_of(context: &Context<'_>, file: &RepoPath) -> Option<String> {
    String::from_utf8(View::new(context.files).read(file).ok()?.data.to_vec()).ok()
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// 1-based.
    number: u32,
    /// Whether it is the one of the field, and not of the last one above it that is there.
    is_field: bool,
    /// The value as text, where it is a scalar.
    scalar: Option<String>,
}

/// Where a file of objects has a field of one; none where it is not YAML, or has no such object.
fn in_documents(text: &str, manifest: &Manifest, field: &FieldPath) -> Option<Line> {
    let documents = yaml::parse(text.as_bytes(), &Limits::default()).ok()?;
    let root = document_of(&documents, manifest)?;
    let mut line = Line { number: root.mark.line, is_field: field.steps().is_empty(), scalar: None };
    let mut node = root;
    for step in field.steps() {
        let Some((number, below)) = below(node, step) else { return Some(Line { is_field: false, ..line }) };
        line = Line { number, is_field: true, scalar: below.as_str().map(str::to_owned) };
        node = below;
    }
    Some(line)
}

/// The document that an object is made of: of its kind, and with its name or the longest part of it, since a kustomization adds to names;
/// of these the one of its namespace, else the first.
fn document_of<'n>(documents: &'n [Node], manifest: &Manifest) -> Option<&'n Node> {
    let text = |node: &'n Node, key: &str| node.get("metadata").and_then(|metadata| metadata.get(key)?.as_str());
    let likeness = |node: &&'n Node| {
        let name = text(node, "name").unwrap_or_default();
        (name.len(), text(node, "namespace").unwrap_or_default() == manifest.namespace())
    };
    let is_it = |node: &&'n Node| {
        node.get("kind").and_then(Node::as_str) == Some(manifest.kind())
            && text(node, "name").is_none_or(|name| manifest.name().contains(name))
    };
    documents.iter().rev().filter(is_it).max_by_key(likeness)
}

/// The name that the file of an object has for it, as far as that is YAML: a part of the rendered one, or all of it.
fn written_name(text: &str, manifest: &Manifest) -> Option<String> {
    let documents = yaml::parse(text.as_bytes(), &Limits::default()).ok()?;
    document_of(&documents, manifest)?.get("metadata")?.get("name")?.as_str().map(str::to_owned)
}

/// What is one step below a node, and its line.
fn below<'n>(node: &'n Node, step: &Step) -> Option<(u32, &'n Node)> {
    match (&node.data, step) {
        (Data::Mapping(entries), Step::Key(key)) => {
            let found = entries.iter().find(|(name, _)| name.as_str() == Some(key))?;
            Some((found.0.mark.line, &found.1))
        }
        (Data::Sequence(items), Step::Index(index)) => items.get(*index).map(|item| (item.mark.line, item)),
        _ => None,
    }
}

/// The scalar at a field as it may be written.
fn text_at(object: &Value, field: &FieldPath) -> Option<String> {
    let mut value = object;
    for step in field.steps() {
        value = match step {
            Step::Key(key) => value.get(key)?,
            Step::Index(index) => value.as_sequence()?.get(*index)?,
            Step::Item(_) => return None,
        };
    }
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Uint(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Float(_) | Value::Sequence(_) | Value::Mapping(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use go_yaml::sigs;

    use super::*;

    fn manifest(text: &str) -> Manifest {
        Manifest::new(sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML")).expect("an object")
    }

    fn path(steps: &[&str]) -> FieldPath {
        let step = |step: &&str| step.parse().map_or_else(|_| Step::Key((*step).to_owned()), Step::Index);
        steps.iter().map(step).collect()
    }

    #[test]
    fn a_file_of_objects_has_the_line_of_the_field_or_of_the_last_one_above_it() {
        let text = "kind: Service\nmetadata: {name: web}\n---\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  \
                    replicas: three\n  template:\n    spec:\n      containers:\n        - name: a\n          image: x\n";
        let object = manifest("kind: Deployment\nmetadata: {name: dev-web}\n");
        let rows: &[(&[&str], u32, bool)] = &[
            (&["spec", "replicas"], 8, true),
            (&["spec", "template", "spec", "containers", "0", "image"], 13, true),
            (&["spec", "selector"], 7, false),
            (&["status"], 4, false),
            (&[], 4, true),
        ];
        for (steps, number, is_field) in rows {
            let found = in_documents(text, &object, &path(steps)).expect("the object");
            assert_eq!((found.number, found.is_field), (*number, *is_field), "{steps:?}");
        }
        assert_eq!(in_documents("{{ if x }}", &object, &path(&["spec"])), None);
        assert_eq!(in_documents("kind: Job\n", &object, &path(&["spec"])), None);
    }

    #[test]
    fn of_two_objects_whose_names_begin_alike_each_has_its_own_line() {
        let of = |name: &str| format!("kind: Service\nmetadata:\n  name: {name}\nspec:\n  ports: []\n");
        let object = |name: &str| manifest(&format!("kind: Service\nmetadata: {{name: {name}}}\n"));
        let plain = [of("web"), of("web-metrics")].join("---\n");
        let rows = [("web", 4), ("web-metrics", 10), ("dev-web-v2", 4), ("dev-web-metrics-v2", 10)];
        for (name, expected) in rows {
            let found = in_documents(&plain, &object(name), &path(&["spec"])).expect("the object");
            assert_eq!(found.number, expected, "{name}");
        }
        let [release, metrics] = ["{{ .Release.Name }}", "{{ .Release.Name }}-metrics"].map(of);
        for (text, lines) in [([&release, &metrics], [4, 10]), ([&metrics, &release], [10, 4])] {
            let text = text.map(String::as_str).join("---\n");
            let names = ["web", "web-metrics"].map(|name| ObjectName::of(&object(name)));
            let found = names.map(|name| in_template(&text, &name, &path(&["spec"])).map(|found| found.line));
            assert_eq!(found, lines.map(Some), "{text}");
        }
    }
}
