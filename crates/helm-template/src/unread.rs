//! Values that nothing reads: no template of the chart or of its subcharts, whatever is switched on.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::View;
use go_template::{Functions, Reads, Set, Spot};
use go_yaml::{Data, Limits, Mapping, Node, Value};

use super::charts::Charts;
use super::engine::templates::{Template, Templates};
use super::error::Error;
use super::functions::{SET_NAME, functions};
use super::load::Source;
use super::metadata::Dependency;
use super::options::{Options, ValuesSource};
use super::tree::{ChartId, Tree};
use super::{chart::Chart, deep};

/// A value that nothing reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Unread {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The keys beside it that are read, or that the chart has a default for.
    pub known: Vec<String>,
    /// Its line, where it is in a file.
    pub span: Option<Span>,
    /// Whether it is in the `values.yaml` of the chart itself, and not for a subchart.
    pub is_default: bool,
}

/// The values that nothing reads and that no chart has a default for: those of the options, and those in the chart's own
/// `values.yaml`. Where that is unknown, none.
pub fn unread(charts: &Charts, view: &View<'_>, path: &RepoPath, options: &Options) -> Result<Vec<Unread>, Error> {
    let values = options.user_values(view)?;
    let chart = charts.load(Source { view, inputs: options.inputs, helm: options.helm }, path)?;
    deep(|| {
        let tree = Tree::new(&chart, options.helm, &options.stop);
        let mut survey = Survey::new(&tree, functions(options.helm));
        survey.set_up(Tree::ROOT, Reads::TOP, &[]);
        survey.walk(&values);
        let Survey { reads, uses, .. } = survey;
        let mut search = Search { tree: &tree, uses: &uses, reads: &reads, is_own: false, found: Vec::new() };
        search.look(&values, &[Reads::TOP], &[&chart.values], &mut Vec::new());
        let mut given = std::mem::take(&mut search.found);
        given.iter_mut().for_each(|unread| unread.span = options.place(view, &unread.path));
        search.is_own = true;
        search.look(&chart.values, &[Reads::TOP], &[], &mut Vec::new());
        let mut own = search.found;
        own.retain(|unread| !given.iter().any(|given| given.path == unread.path));
        let file = chart.origin.parent().unwrap_or_else(RepoPath::root).child("values.yaml").ok();
        own.iter_mut().for_each(|unread| unread.span = file.as_ref().and_then(|file| place(view, file, &unread.path)));
        given.extend(own);
        Ok(given)
    })
}

/// A use of a chart, with the place of its values.
type Use = (ChartId, Spot, Vec<String>);

/// Finds what is read.
struct Survey<'s, 't> {
    tree: &'s Tree<'t>,
    functions: &'static Functions,
    reads: Reads,
    uses: Vec<Use>,
}

impl<'s, 't> Survey<'s, 't> {
    fn new(tree: &'s Tree<'t>, functions: &'static Functions) -> Self {
        Self { tree, functions, reads: Reads::default(), uses: Vec::new() }
    }

    /// Notes the places of the values of a chart and its subcharts, and what decides which of these are used.
    fn set_up(&mut self, chart: ChartId, spot: Spot, path: &[String]) {
        self.uses.push((chart, spot, path.to_vec()));
        if self.uses.len() > USES_MAX {
            self.reads.read_whole(spot);
            return;
        }
        let dependencies = self.tree.dependencies(chart).unwrap_or_default().to_vec();
        for dependency in &dependencies {
            self.note_conditions(dependency, spot);
        }
        for subchart in self.tree.subcharts(chart).to_vec() {
            for (name, dependency) in names(self.tree, subchart, &dependencies) {
                let below = self.reads.field(spot, &name);
                let global = self.reads.field(spot, "global");
                self.reads.set_field(below, "global", global);
                if self.tree.chart(subchart).metadata.is_library() {
                    self.reads.read_whole(below);
                }
                if let Some(dependency) = dependency {
                    self.note_imports(dependency, below);
                }
                let path: Vec<String> = path.iter().cloned().chain([name]).collect();
                self.set_up(subchart, below, &path);
            }
        }
    }

    fn note_conditions(&mut self, dependency: &Dependency, spot: Spot) {
        for condition in dependency.condition.trim().split(',') {
            self.note(condition, spot);
        }
        let tags = self.reads.field(Reads::TOP, "tags");
        self.reads.read_whole(tags);
    }

    /// What a parent takes over of a subchart is read there.
    fn note_imports(&mut self, dependency: &Dependency, below: Spot) {
        for entry in dependency.import_values.iter().flatten() {
            let child = match entry {
                Value::String(name) => format!("exports.{name}"),
                entry => entry.get("child").and_then(Value::as_str).unwrap_or_default().to_owned(),
            };
            let spot = self.note(&child, below);
            self.reads.read_whole(spot);
        }
    }

    fn note(&mut self, path: &str, spot: Spot) -> Spot {
        path.split('.').filter(|key| !key.is_empty()).fold(spot, |spot, key| self.reads.field(spot, key))
    }

    /// Walks all templates, and all texts that may be some.
    fn walk(&mut self, values: &Mapping) {
        let templates = Templates::new(self.tree);
        let mut set = Set::new(SET_NAME);
        for (name, Template { chart, file }) in templates.in_order() {
            match self.tree.chart(chart).parse(file, name, self.functions) {
                Ok(parsed) => set.add(&parsed),
                // A chart that does not render has other mistakes.
                Err(_) => return self.reads.read_whole(Reads::TOP),
            }
        }
        let data: Vec<_> = self.uses.clone().into_iter().map(|(chart, spot, _)| (chart, self.data(spot))).collect();
        for (name, Template { chart, .. }) in templates.in_order() {
            for (_, data) in data.iter().filter(|(of, _)| *of == chart) {
                self.reads.walk(&set, name, data);
            }
        }
        for (chart, data) in &data {
            let chart = self.tree.chart(*chart);
            let mut texts = Vec::new();
            find_texts(&Value::Mapping(chart.values.clone()), &mut texts);
            find_texts(&Value::Mapping(values.clone()), &mut texts);
            texts.extend(chart.files.iter().filter_map(|file| text_of_file(&file.data)));
            for text in texts {
                self.reads.walk_text(&set, &text, self.functions, data);
            }
        }
    }

    /// What the templates of a chart are given: its values, and those of its subcharts.
    fn data(&mut self, spot: Spot) -> Vec<(&'static str, Spot)> {
        let subcharts = self.reads.place();
        let path = self.uses.iter().find(|(_, of, _)| *of == spot).map(|(_, _, path)| path.clone()).unwrap_or_default();
        let is_below = |other: &&Use| other.2.len() == path.len() + 1 && other.2.starts_with(&path);
        for (_, values, path) in self.uses.clone().iter().filter(is_below) {
            let one = self.reads.place();
            self.reads.set_field(one, "Values", *values);
            self.reads.set_field(subcharts, path.last().map(String::as_str).unwrap_or_default(), one);
        }
        vec![("Values", spot), ("Subcharts", subcharts)]
    }
}

/// How many uses of charts are looked at.
const USES_MAX: usize = 500;

/// How long a text may be that could be a template.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// The names under which a chart has a subchart, with what it says of each.
fn names<'d>(tree: &Tree<'_>, subchart: ChartId, all: &'d [Dependency]) -> Vec<(String, Option<&'d Dependency>)> {
    let name = tree.name(subchart);
    let named: Vec<_> = all.iter().filter(|dependency| dependency.name == name).collect();
    match named.is_empty() {
        true => vec![(name.to_owned(), None)],
        false => named.into_iter().map(|one| (one.used_name().to_owned(), Some(one))).collect(),
    }
}

fn find_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("{{") && text.len() <= TEXT_BYTES_MAX => found.push(text.clone()),
        Value::Sequence(items) => items.iter().for_each(|item| find_texts(item, found)),
        Value::Mapping(entries) => entries.values().for_each(|value| find_texts(value, found)),
        _ => {}
    }
}

/// The text of a file that may be given to `tpl`.
fn text_of_file(data: &[u8]) -> Option<String> {
    let has = |word: &str| memchr::memmem::find(data, word.as_bytes()).is_some();
    (data.len() <= TEXT_BYTES_MAX && has("{{") && has(".Values")).then(|| String::from_utf8_lossy(data).into_owned())
}

/// Finds what is not read.
struct Search<'s, 't> {
    tree: &'s Tree<'t>,
    uses: &'s [Use],
    reads: &'s Reads,
    /// Whether the values are those of the chart itself.
    is_own: bool,
    found: Vec<Unread>,
}

impl<'t> Search<'_, 't> {
    /// Looks at values that are read at these places, for which charts have these defaults.
    fn look(&mut self, given: &Mapping, at: &[Spot], defaults: &[&Mapping], path: &mut Vec<String>) {
        for (key, value) in given {
            // Globals are for any chart that asks.
            if key == "global" || matches!(value, Value::Null) {
                continue;
            }
            let Some(read) = self.reads.below_all(at, Some(key)) else { return };
            let defaults: Vec<&Value> = defaults.iter().filter_map(|values| values.get(key)).collect();
            path.push(key.clone());
            let chart = self.chart(path);
            if read.is_empty() && defaults.is_empty() && chart.is_none() {
                self.note(path, at);
            } else if !read.is_empty() {
                let tables = defaults.into_iter().filter_map(Value::as_mapping);
                let tables: Vec<&Mapping> = tables.chain(chart.map(|chart| &chart.values)).collect();
                self.look_below(value, &read, &tables, path);
            }
            path.pop();
        }
    }

    fn look_below(&mut self, value: &Value, at: &[Spot], defaults: &[&Mapping], path: &mut Vec<String>) {
        match value {
            Value::Mapping(given) => self.look(given, at, defaults, path),
            Value::Sequence(items) => {
                let Some(read) = self.reads.below_all(at, None).filter(|read| !read.is_empty()) else { return };
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    self.look_below(item, &read, &[], path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, path: &[String], at: &[Spot]) {
        let is_below_chart = (1..path.len()).any(|len| path.get(..len).is_some_and(|path| self.chart(path).is_some()));
        let is_default = self.is_own && !is_below_chart;
        self.found.push(Unread {
            path: path.to_vec(),
            known: self.reads.names(at).map(str::to_owned).collect(),
            span: None,
            is_default,
        });
    }

    /// The chart whose values are there.
    fn chart(&self, path: &[String]) -> Option<&'t Chart> {
        let found = self.uses.iter().find(|(_, _, of)| of == path)?;
        Some(self.tree.chart(found.0))
    }
}

impl Options {
    /// Where the last values file has a value.
    fn place(&self, view: &View<'_>, path: &[String]) -> Option<Span> {
        self.values.iter().rev().find_map(|source| match source {
            ValuesSource::File(file) => place(view, file, path),
            ValuesSource::Text { .. } | ValuesSource::Data(_) => None,
        })
    }
}

/// Where a file has a value.
fn place(view: &View<'_>, file: &RepoPath, path: &[String]) -> Option<Span> {
    let blob = view.read(file).ok()?;
    let documents = go_yaml::parse(&blob.data, &Limits::default()).ok()?;
    let mut node = documents.first()?;
    let mut mark = None;
    for key in path {
        match &node.data {
            Data::Mapping(entries) => {
                let (name, value) = entries.iter().find(|(name, _)| is_key(name, key))?;
                (mark, node) = (Some(name.mark), value);
            }
            Data::Sequence(items) => node = items.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        }
    }
    let mark = mark?;
    Some(Span::at(file.clone(), mark.line, mark.column).quoting(&String::from_utf8_lossy(&blob.data)))
}

fn is_key(node: &Node, key: &str) -> bool {
    node.as_str() == Some(key)
}
