//! `helm template` in our own process: the output of Helm 4.2.3 or 4.2.4, to the byte, from the files of a [`View`].
//!
//! [`load()`] makes a [`Chart`] of a directory or a `.tgz`; [`render`] executes it with [`Options`] into what Helm prints
//! and the documents in it. A chart has nothing of a render in it: [`Charts`] keeps it as long as its files are the same.
//!
//! Guarantees: the same files and options give the same bytes, or the same error; nothing but the view is read. What
//! Helm leaves to chance (the order of charts that `Chart.yaml` does not list, of schema messages, of files with one
//! base name) has one order here. Hostile charts meet limits: on files, nesting, steps, bytes and schemas.
//!
//! Refused, because results would change from run to run: random and clock functions, unless [`Effects`] allows them;
//! dependencies that are neither vendored nor in the repository; schemas that refer to other hosts. Left to callers:
//! post-renderers, `--output-dir`, plugins.

mod archive;
mod capabilities;
mod chart;
mod chart_struct;
mod charts;
mod coalesce;
mod dependencies;
mod engine;
mod error;
mod fallback;
mod fields;
mod files;
mod functions;
mod ignore;
mod load;
mod metadata;
mod objects;
mod options;
mod output;
mod probe;
mod refusal;
mod report;
mod schema;
mod set;
mod split;
mod template_values;
mod tree;
mod unread;
mod values;
mod values_type;
pub mod version;

use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::stack::on_deep_stack;
use dry_files::view::View;
use go_std::json::is_field;
use go_std::semver::{self, Range};
use go_template::{self as template, RefusedCall};
use go_yaml::{Data, Limits, Mapping, Node, parse_first};

pub use chart::Chart;
pub use charts::Charts;
use coalesce::Nulls;
use engine::Executed;
pub use error::Error;
use error::ErrorKind;
pub use load::hidden;
use load::{Source, load};
pub use options::ValuesSource;
pub use options::{Effects, Options};
pub use output::Document;
use probe::Subject;
use tree::Tree;
pub use unread::{Unread, unread};
pub use version::Helm;

/// The longest name that a release may have.
const RELEASE_NAME_BYTES_MAX: usize = 53;
/// The form of a release's name, in Helm's words.
const RELEASE_NAME_REGEX: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// What a chart renders to.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The standard output of `helm template`, to the byte.
    pub text: String,
    /// The documents in it, in its order.
    pub documents: Vec<Document>,
    /// What Helm would have logged.
    pub warnings: Vec<String>,
}

/// Renders the chart at a path: what `helm template NAME PATH` prints.
pub fn render(view: &View<'_>, path: &RepoPath, options: &Options) -> Result<Rendered, Error> {
    render_kept(&Charts::default(), view, path, options)
}

/// Renders the chart at a path as [`render`] does, with charts that may have been loaded before.
pub fn render_kept(charts: &Charts, view: &View<'_>, path: &RepoPath, options: &Options) -> Result<Rendered, Error> {
    // In Helm's order, for the sake of which error comes first.
    options.cluster()?;
    let values = options.user_values(view)?;
    let chart = charts.load(Source { view, inputs: options.inputs, helm: options.helm }, path)?;
    deep(|| render_here(&chart, &values, options))
}

/// What the templates of a chart print, YAML or not: each behind a line with its name, in the order of names, blank ones left
/// out.
///
/// Reference: `helm template --debug`, whose order differs from run to run.
pub fn unsorted(view: &View<'_>, path: &RepoPath, options: &Options) -> Result<String, Error> {
    let values = options.user_values(view)?;
    let chart = load(Source { view, inputs: options.inputs, helm: options.helm }, path)?;
    let effects = options.effects.for_templates();
    let mut files = deep(|| files(&chart, &values, options, effects, None, &mut Vec::new()))?.rendered;
    files.retain(|file| output::is_printed(&file.name) && !file.text.trim().is_empty());
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let text: String = files.iter().map(|file| format!("---\n# Source: {}\n{}\n", file.name, file.text)).collect();
    Ok(format!("{}\n", text.trim()))
}

/// Every call of a random or clock function that what the chart prints depends on, each as the error that a render ends
/// with when it meets that call first: with its place.
///
/// In the order of execution, each once, and of a chart with very many the first ones. Empty when the chart renders. Fails when it does not render for another reason, refused calls aside.
pub fn refusals(view: &View<'_>, path: &RepoPath, options: &Options) -> Result<Vec<Error>, Error> {
    options.cluster()?;
    let values = options.user_values(view)?;
    let chart = load(Source { view, inputs: options.inputs, helm: options.helm }, path)?;
    options.check_release_name()?;
    deep(|| refusal::survey(Subject { chart: &chart, values: &values, options }))
}

/// Templates may nest as deep as Helm lets them, whatever stack the caller has.
fn deep<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    on_deep_stack("helm", work).map_err(|error| ErrorKind::Thread(error.to_string()))?
}

fn render_here(chart: &Arc<Chart>, values: &Mapping, options: &Options) -> Result<Rendered, Error> {
    let mut warnings = Vec::new();
    if chart.metadata.deprecated {
        warnings.push("this chart is deprecated".to_owned());
    }
    options.check_release_name()?;
    let files = match files(chart, values, options, options.effects.for_templates(), None, &mut warnings) {
        Err(refused) if refused.is_refusal() => {
            refusal::unaffected(Subject { chart, values, options }).ok_or(refused)??
        }
        other => other?,
    };
    let (mut documents, crds) = (output::documents(files.rendered, options, &mut warnings)?, files.crds);
    if options.include_crds {
        documents.splice(0..0, crds);
    }
    let (text, documents) = output::print(documents, options)?;
    Ok(Rendered { text, documents, warnings })
}

/// What the templates made.
struct Files {
    rendered: Vec<output::RenderedFile>,
    crds: Vec<Document>,
    /// The calls that were answered only because this is a probe.
    probed: Vec<RefusedCall>,
    /// What the probe saw of calls.
    trace: template::Trace,
    /// How many steps the templates took.
    steps: u64,
}

/// Prepares the charts and executes their templates, or those up to one.
fn files(
    chart: &Arc<Chart>,
    values: &Mapping,
    options: &Options,
    effects: template::Effects,
    until: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Files, Error> {
    let (tree, roots) = prepared(chart, values, options, warnings)?;
    let Executed { rendered, probed, trace, steps } = engine::render(&tree, &roots, options.limits, effects, until)?;
    let crds = tree.crds(Tree::ROOT).into_iter().map(|(source, file)| Document::crd(source, file));
    let crds = if options.include_crds { crds.collect::<Result<_, _>>()? } else { Vec::new() };
    Ok(Files { rendered, crds, probed, trace, steps })
}

/// The charts, and the objects that their templates start from.
fn prepared<'a>(
    chart: &'a Arc<Chart>,
    values: &Mapping,
    options: &'a Options,
    warnings: &mut Vec<String>,
) -> Result<(Tree<'a>, objects::Roots), Error> {
    let in_chart = |error: ErrorKind| error.at(Span::file(chart.origin.clone()));
    let mut tree = Tree::new(chart, options.helm, &options.stop);
    let values = template_values::map_to_template(values);
    dependencies::process(&mut tree, &values, warnings)
        .map_err(|error| in_chart(ErrorKind::Dependencies(error.to_string())))?;
    let cluster = options.cluster()?;
    let values = coalesce::coalesce(&tree, Tree::ROOT, &values, Nulls::Remove, warnings)
        .map_err(|error| in_chart(ErrorKind::Values(error.to_string())))?;
    if !options.skip_schema_validation {
        validate(&tree, &values, warnings)?;
    }
    let range = &chart.metadata.kube_version;
    if !range.is_empty() && !version_fits(range, &cluster.plain) {
        return Err(in_chart(ErrorKind::IncompatibleCluster { range: range.clone(), version: cluster.full }));
    }
    let capabilities = capabilities::capabilities(options.helm, &cluster, &options.api_versions);
    let roots = objects::Roots::new(&tree, options, &capabilities, &values);
    Ok((tree, roots))
}

/// Checks the values of all charts by their schemas; what all of them say is one error.
fn validate(tree: &Tree<'_>, values: &go_template::Map, warnings: &mut Vec<String>) -> Result<(), Error> {
    let mut problems = String::new();
    let mut span = None;
    check_schemas(tree, Tree::ROOT, values, &mut problems, &mut span, warnings)?;
    if problems.is_empty() {
        return Ok(());
    }
    let error: Error = ErrorKind::Schema(problems).into();
    Err(match span {
        Some(span) => error.at(span),
        None => error,
    })
}

fn check_schemas(
    tree: &Tree<'_>,
    chart: tree::ChartId,
    values: &go_template::Map,
    problems: &mut String,
    span: &mut Option<Span>,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    tree.go_on()?;
    let source = tree.chart(chart);
    if let (Some(schema), Some(file)) = (source.schema(tree.helm(), tree.stop()), &source.schema) {
        let checked = match schema {
            Ok(schema) => {
                let urns = schema.unresolved().iter();
                warnings.extend(
                    urns.map(|urn| format!("unresolved URN reference ignored; using permissive schema: {urn}")),
                );
                schema.validate(&template_values::from_template(&values.clone().into()), tree.stop())
            }
            Err(error) => Err(error.to_string()),
        };
        tree.go_on()?;
        if let Err(problem) = checked {
            span.get_or_insert_with(|| Span::file(file.origin.clone()));
            problems.push_str(&format!("{}:\n{problem}", tree.name(chart)));
        }
    }
    for &subchart in tree.subcharts(chart) {
        if let Some(go_template::Value::Map(below)) = values.get(tree.name(subchart).as_bytes()) {
            check_schemas(tree, subchart, &below, problems, span, warnings)?;
        }
    }
    Ok(())
}

/// Whether a version is in a range; never when one of them can't be read.
fn version_fits(range: &str, version: &str) -> bool {
    match (Range::new(range), semver::Version::new(version)) {
        (Ok(range), Ok(version)) => range.has(&version),
        _ => false,
    }
}

fn is_release_name(name: &str) -> bool {
    name.split('.').all(|part| {
        let is_edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(is_edge) && part.ends_with(is_edge) && part.chars().all(|c| is_edge(c) || c == '-')
    })
}

/// Where the value at `keys` is in a YAML file; the file as a whole when it cannot be determined.
fn place_of(path: &RepoPath, text: &[u8], keys: &[&str]) -> Span {
    match parse_first(text, &Limits::default()).ok().flatten().and_then(|node| node_at(node, keys)) {
        Some(node) => Span::at(path.clone(), node.mark.line, node.mark.column).quoting(&String::from_utf8_lossy(text)),
        None => Span::file(path.clone()),
    }
}

/// The node that keys lead to; of a list, by way of the first item that has the key.
fn node_at(mut node: Node, keys: &[&str]) -> Option<Node> {
    for key in keys {
        node = match node.data {
            Data::Sequence(items) => items.into_iter().find_map(|item| value_of(item, key))?,
            Data::Mapping(_) | Data::Scalar(_) | Data::Alias(_) => value_of(node, key)?,
        };
    }
    Some(node)
}

/// The value of a mapping's key, matched as Go matches the names of fields.
fn value_of(node: Node, key: &str) -> Option<Node> {
    let Data::Mapping(entries) = node.data else { return None };
    let is_key = |node: &Node| matches!(&node.data, Data::Scalar(text) if is_field(key, text));
    entries.into_iter().find(|(name, _)| is_key(name)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
