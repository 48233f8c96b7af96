//! All templates of a chart tree, parsed and executed in Helm's order.
//!
//! Reference: helm 4.2.3 pkg/engine/engine.go. Cases `define-precedence`, `render-order-mutation`, `error-first-file`,
//! `nested-error-format`.

pub(super) mod host;
pub(super) mod templates;

use std::rc::Rc;

use dry_files::view::ViewError;
use go_template::{self as template, RefusedCall, Runtime, Set, Text, Trace};

use super::error::{Error, ErrorKind};
use super::functions::{SET_NAME, functions, without_no_value};
use super::objects::{Roots, template_object};
use super::output::RenderedFile;
use super::report;
use super::tree::{ChartId, Tree};
use super::values_type::values_type;
use crate::version::differences::Ranges;
use host::{Host, Unreadable};
use templates::{Template, Templates, is_partial};

/// What the templates made.
pub(super) struct Executed {
    /// In Helm's order.
    pub rendered: Vec<RenderedFile>,
    /// The calls that were answered only because this is a probe.
    pub probed: Vec<RefusedCall>,
    /// What a probe saw of calls.
    pub trace: Trace,
    /// How many steps that took.
    pub steps: u64,
}

/// Executes all templates that are not partials, or those up to one.
pub(super) fn render(
    tree: &Tree<'_>,
    roots: &Roots,
    limits: template::Limits,
    effects: template::Effects,
    until: Option<&str>,
) -> Result<Executed, Error> {
    let templates = Templates::new(tree);
    let mut set = Set::new(SET_NAME);
    let functions = functions(tree.helm());
    for (name, Template { chart, file }) in templates.in_order() {
        tree.go_on()?;
        let parsed = tree.chart(chart).parse(file, name, functions);
        set.add(&parsed.map_err(|error| report::parse_error(&error, &templates))?);
    }
    let stop = tree.stop().clone();
    let counts = tree.helm().switches().ranges == Ranges::Count;
    let runtime =
        Runtime::new(limits, effects).with_counting(counts).with_host(Host { helm: tree.helm(), ..Host::default() });
    let mut runtime = runtime.with_deadline(move || stop.is_set());
    let mut rendered = Vec::new();
    for (name, Template { chart, file }) in templates.in_order() {
        if is_partial(name) {
            continue;
        }
        let root = roots.get(chart);
        root.set("Template", template_object(tree.helm(), name, &tree.path_of(chart, "templates")));
        if let Some(host) = runtime.host::<Host>() {
            host.unreadable = unreadable(tree, chart);
        }
        let text = runtime
            .execute(&set, name, root.cast(values_type(tree.helm())).into())
            .map_err(|failure| report::execution_error(&failure, &templates))?;
        let text = without_no_value(text.into());
        let text = String::from_utf8(text.to_vec()).map_err(|_| {
            let reason = "error converting YAML to JSON: yaml: invalid leading UTF-8 octet".to_owned();
            ErrorKind::Manifest { template: name.clone(), reason }.at(dry_files::diag::Span::file(file.origin.clone()))
        })?;
        let (origin, source) = (file.origin.clone(), file.data.clone());
        rendered.push(RenderedFile { name: name.clone(), text, origin, source });
        if until == Some(name) {
            break;
        }
    }
    let trace = runtime.take_trace();
    Ok(Executed { rendered, probed: runtime.probed().to_vec(), trace, steps: runtime.steps() })
}

fn unreadable(tree: &Tree<'_>, chart: ChartId) -> Unreadable {
    let files = tree.chart(chart).files.iter();
    let all = files.filter_map(|file| Some((Text::from(&file.name), reason(file.unreadable.as_ref()?))));
    Unreadable(Rc::new(all.collect()))
}

fn reason(error: &ViewError) -> String {
    match error {
        ViewError::LfsPointer(_) => format!("{error}; commit the file itself instead of storing it with Git LFS"),
        _ => error.to_string(),
    }
}
