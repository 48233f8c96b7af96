//! All templates of a chart tree, parsed and executed in Helm's order.
//!
//! Reference: helm 4.2.3 pkg/engine/engine.go. Cases `define-precedence`, `render-order-mutation`, `error-first-file`,
//! `nested-error-format`.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::chart::File;
use super::error::{Error, ErrorKind};
use super::files::Unreadable;
use super::functions::{SET_NAME, functions, without_no_value};
use super::objects::{Roots, template_object};
use super::output::RenderedFile;
use super::report;
use super::tree::{ChartId, Tree};
use super::values_type::VALUES;
use crate::template::{self, Parsed, RefusedCall, Runtime, Set, Text};
use crate::view::ViewError;

/// What functions keep during a render.
#[derive(Default)]
pub struct Host {
    /// How many calls of a template by `include` are open.
    pub open: HashMap<Text, u32>,
    /// What `tpl` parsed.
    pub parsed: HashMap<Text, Parsed>,
    /// How long these texts are together.
    pub parsed_bytes: usize,
    /// Files that can't be read, of the chart whose template is executed.
    pub unreadable: Unreadable,
}

/// One template of the tree.
#[derive(Clone, Copy)]
pub struct Template<'a> {
    /// The chart that it belongs to.
    pub chart: ChartId,
    /// Its text.
    pub file: &'a File,
}

/// All templates by the paths that Helm gives them. Those with the fewest slashes come last, and at equal depth those
/// that come first in the order of bytes: so their definitions win, and they see what others change.
pub struct Templates<'a> {
    by_name: BTreeMap<String, Template<'a>>,
    order: Vec<String>,
}

impl<'a> Templates<'a> {
    /// Gathers the templates of a tree. A library chart has only its partials.
    pub fn new(tree: &Tree<'a>) -> Self {
        let mut by_name = BTreeMap::new();
        gather(tree, Tree::ROOT, &mut by_name);
        let mut order: Vec<String> = by_name.keys().cloned().collect();
        order.sort_by(|a, b| {
            let depth = |name: &str| name.matches('/').count();
            (depth(b), b).cmp(&(depth(a), a))
        });
        Self { by_name, order }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = Template<'a>> {
        self.by_name.values().copied()
    }

    /// The template of a name.
    pub fn get(&self, name: &str) -> Option<Template<'a>> {
        self.by_name.get(name).copied()
    }

    fn in_order(&self) -> impl Iterator<Item = (&String, Template<'a>)> {
        self.order.iter().filter_map(|name| Some((name, self.get(name)?)))
    }
}

fn gather<'a>(tree: &Tree<'a>, chart: ChartId, found: &mut BTreeMap<String, Template<'a>>) {
    for &subchart in tree.subcharts(chart) {
        gather(tree, subchart, found);
    }
    let path = tree.full_path(chart);
    let is_library = tree.chart(chart).metadata.is_library();
    for file in &tree.chart(chart).templates {
        if !is_library || is_partial(&file.name) {
            found.insert(format!("{path}/{}", file.name), Template { chart, file });
        }
    }
}

/// Whether a file only lends its definitions.
fn is_partial(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).starts_with('_')
}

/// What the templates made.
pub struct Executed {
    /// In Helm's order.
    pub rendered: Vec<RenderedFile>,
    /// The calls that were answered only because this is a probe.
    pub probed: Vec<RefusedCall>,
    /// How many steps that took.
    pub steps: u64,
}

/// Executes all templates that are no partials, or those up to one.
pub fn render(
    tree: &Tree<'_>,
    roots: &Roots,
    limits: template::Limits,
    effects: template::Effects,
    until: Option<&str>,
) -> Result<Executed, Error> {
    let templates = Templates::new(tree);
    let mut set = Set::new(SET_NAME);
    for (name, Template { chart, file }) in templates.in_order() {
        tree.go_on()?;
        let parsed = tree.chart(chart).parse(file, name, functions());
        set.add(&parsed.map_err(|error| report::parse_error(&error, &templates))?);
    }
    let stop = tree.stop().clone();
    let runtime = Runtime::new(limits, effects).with_host(Host::default());
    let mut runtime = runtime.with_deadline(move || stop.is_set());
    let mut rendered = Vec::new();
    for (name, Template { chart, file }) in templates.in_order() {
        if is_partial(name) {
            continue;
        }
        let root = roots.get(chart);
        root.set("Template", template_object(name, &format!("{}/templates", tree.full_path(chart))));
        if let Some(host) = runtime.host::<Host>() {
            host.unreadable = unreadable(tree, chart);
        }
        let text = runtime
            .execute(&set, name, root.cast(&VALUES).into())
            .map_err(|failure| report::execution_error(&failure, &templates))?;
        let text = without_no_value(text.into());
        let text = String::from_utf8(text.to_vec()).map_err(|_| {
            let reason = "error converting YAML to JSON: yaml: invalid leading UTF-8 octet".to_owned();
            ErrorKind::Manifest { template: name.clone(), reason }.at(crate::diag::Span::file(file.origin.clone()))
        })?;
        rendered.push(RenderedFile { name: name.clone(), text, origin: file.origin.clone() });
        if until == Some(name) {
            break;
        }
    }
    Ok(Executed { rendered, probed: runtime.probed().to_vec(), steps: runtime.steps() })
}

fn unreadable(tree: &Tree<'_>, chart: ChartId) -> Unreadable {
    let reason = |error: &ViewError| match error {
        ViewError::LfsPointer(_) => format!("{error}; commit the file itself instead of storing it with Git LFS"),
        _ => error.to_string(),
    };
    let files = tree.chart(chart).files.iter();
    let all = files.filter_map(|file| Some((Text::from(&file.name), reason(file.unreadable.as_ref()?))));
    Unreadable(Rc::new(all.collect()))
}
