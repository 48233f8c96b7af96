//! The charts of one render: each use of a chart is one entry, whose dependencies and values change as Helm prepares
//! them.
#![expect(clippy::indexing_slicing, reason = "ids are made with what they name")]

use std::cell::Cell;
use std::sync::Arc;

use dry_files::view::Stop;
use go_template::{Limit, Map, Text, Value, printed};

use super::chart::{Chart, File};
use super::metadata::{Dependency, Metadata};
use super::template_values::{copy, map_to_template};
use crate::version::Helm;
use crate::version::differences::{Aliases, DotNames};

/// A chart of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ChartId(usize);

/// What `Chart.yaml` says, as far as preparing changes it.
#[derive(Debug, Clone)]
struct Head {
    name: String,
    dependencies: Option<Vec<Dependency>>,
    /// The first one with these dependencies.
    origin: HeadId,
}

/// Identifies a [`Head`]: two uses of a chart can share one, as they do in Helm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeadId(usize);

struct Node<'a> {
    chart: &'a Arc<Chart>,
    head: HeadId,
    parent: Option<ChartId>,
    subcharts: Vec<ChartId>,
    /// None as long as they are those of the chart itself.
    values: Option<Map>,
}

/// Why values cannot be brought together.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum CoalesceError {
    /// Where a subchart's values should be, there is something else.
    #[error("type mismatch on {}: {}", .name.to_str(), printed("%t", .value))]
    TypeMismatch {
        /// The subchart.
        name: Text,
        /// What is there.
        value: Value,
    },
    /// A list of values has a null in it.
    #[error("reflect: call of reflect.Value.Set on zero Value")]
    NullItem,
    /// `import-values` names a table by something else.
    #[error("interface conversion: interface {{}} is {0}, not string")]
    ImportName(&'static str),
    /// Charts in charts in charts.
    #[error("preparing the values of the chart and its subcharts takes more than {VISITS_MAX} steps")]
    TooMany,
    /// The caller's time is up.
    #[error(transparent)]
    Time(#[from] Limit),
}

/// How often charts are looked at to prepare the values of one render. Dependencies under two names share what is below
/// them, so few charts may be met very often.
pub(super) const VISITS_MAX: u32 = 20_000;

/// The charts of one render, the root first. Copies of charts are made, none is ever removed.
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    heads: Vec<Head>,
    visits: Cell<u32>,
    helm: Helm,
    stop: &'a Stop,
}

impl<'a> Tree<'a> {
    /// The root chart.
    pub(super) const ROOT: ChartId = ChartId(0);

    /// A chart with all its subcharts, as they were loaded. They are looked at until `stop` is set.
    pub(super) fn new(chart: &'a Arc<Chart>, helm: Helm, stop: &'a Stop) -> Self {
        let mut tree = Self { nodes: Vec::new(), heads: Vec::new(), visits: Cell::new(0), helm, stop };
        tree.grow(chart, None);
        tree
    }

    fn grow(&mut self, chart: &'a Arc<Chart>, parent: Option<ChartId>) -> ChartId {
        let id = ChartId(self.nodes.len());
        let Metadata { name, dependencies, .. } = &chart.metadata;
        let head = HeadId(self.heads.len());
        self.heads.push(Head { name: name.clone(), dependencies: dependencies.clone(), origin: head });
        self.nodes.push(Node { chart, head, parent, subcharts: Vec::new(), values: None });
        let subcharts = chart.charts.iter().map(|subchart| self.grow(subchart, Some(id))).collect();
        self.nodes[id.0].subcharts = subcharts;
        id
    }

    /// Counts a look at a chart; an error when there were too many, or the time limit was reached.
    pub(super) fn visit(&self) -> Result<(), CoalesceError> {
        self.go_on()?;
        self.visits.set(self.visits.get().saturating_add(1));
        if self.visits.get() > VISITS_MAX { Err(CoalesceError::TooMany) } else { Ok(()) }
    }

    /// An error when the time limit was reached: the one with which templates end then.
    pub(super) fn go_on(&self) -> Result<(), Limit> {
        if self.stop.is_set() { Err(Limit::Time) } else { Ok(()) }
    }

    /// The Helm to prepare the charts as.
    pub(super) fn helm(&self) -> Helm {
        self.helm
    }

    /// When the render gives up.
    pub(super) fn stop(&self) -> &Stop {
        self.stop
    }

    /// The chart itself.
    pub(super) fn chart(&self, id: ChartId) -> &'a Arc<Chart> {
        self.node(id).chart
    }

    /// The name of this use: the alias, when it has one.
    pub(super) fn name(&self, id: ChartId) -> &str {
        &self.head(id).name
    }

    /// The dependencies that are left. `None` when the chart has no list of them.
    pub(super) fn dependencies(&self, id: ChartId) -> Option<&[Dependency]> {
        self.head(id).dependencies.as_deref()
    }

    /// Changes the dependencies.
    pub(super) fn set_dependencies(&mut self, id: ChartId, dependencies: Option<Vec<Dependency>>) {
        let head = self.node(id).head;
        self.heads[head.0].dependencies = dependencies;
    }

    /// Gives the dependencies of a chart the names that they are used under, in all uses of the chart that share them.
    pub(super) fn rename_dependencies(&mut self, id: ChartId) {
        if self.helm.switches().aliases == Aliases::Shared {
            let origin = self.head(id).origin;
            let sharing = self.heads.iter_mut().filter(|head| head.origin == origin);
            for dependency in sharing.flat_map(|head| &mut head.dependencies).flatten() {
                dependency.name = dependency.used_name().to_owned();
            }
        }
    }

    /// The charts directly below.
    pub(super) fn subcharts(&self, id: ChartId) -> &[ChartId] {
        &self.node(id).subcharts
    }

    /// Puts charts below this one.
    pub(super) fn set_subcharts(&mut self, id: ChartId, subcharts: Vec<ChartId>) {
        for &subchart in &subcharts {
            self.nodes[subchart.0].parent = Some(id);
        }
        self.nodes[id.0].subcharts = subcharts;
    }

    /// The default values, in maps of their own.
    pub(super) fn values(&self, id: ChartId) -> Map {
        let node = self.node(id);
        node.values.as_ref().map_or_else(|| map_to_template(&node.chart.values), copy)
    }

    /// Changes the default values.
    pub(super) fn set_values(&mut self, id: ChartId, values: Map) {
        self.nodes[id.0].values = Some(values);
    }

    /// Another use of a chart under the name that a dependency gives it.
    ///
    /// Its own subcharts are copied too, but share their heads and what is below them with those of the original. Helm 3
    /// does not copy them: each of them is below the last use that was prepared.
    pub(super) fn use_as(&mut self, id: ChartId, name: &str) -> ChartId {
        let copy = self.copy(id);
        let head = HeadId(self.heads.len());
        let Head { dependencies, origin, .. } = self.head(id).clone();
        self.heads.push(Head { name: name.to_owned(), dependencies, origin });
        self.nodes[copy.0].head = head;
        if self.helm.switches().aliases == Aliases::Shared {
            return copy;
        }
        let subcharts = self.node(id).subcharts.clone();
        let subcharts = subcharts.into_iter().map(|subchart| self.copy(subchart)).collect();
        self.set_subcharts(copy, subcharts);
        copy
    }

    fn copy(&mut self, id: ChartId) -> ChartId {
        let Node { chart, head, parent, subcharts, values } = self.node(id);
        let node = Node { chart, head: *head, parent: *parent, subcharts: subcharts.clone(), values: values.clone() };
        self.nodes.push(node);
        ChartId(self.nodes.len() - 1)
    }

    /// Whether this is not a subchart.
    pub(super) fn is_root(&self, id: ChartId) -> bool {
        self.node(id).parent.is_none()
    }

    /// The path of the chart in names of charts: `root/charts/sub`.
    pub(super) fn full_path(&self, id: ChartId) -> String {
        match self.node(id).parent {
            Some(parent) => format!("{}/charts/{}", self.full_path(parent), self.name(id)),
            None => self.name(id).to_owned(),
        }
    }

    /// The path that Helm shows for a file of a chart. A chart may have the name of a directory: `.` or `..`.
    pub(super) fn path_of(&self, id: ChartId, file: &str) -> String {
        let path = format!("{}/{file}", self.full_path(id));
        let is_plain = self.helm.switches().dot_names == DotNames::Refused;
        if is_plain { path } else { go_std::path::clean(&path) }
    }

    /// The custom resource definitions in `crds/` of a chart and then of its subcharts, with the paths that Helm shows.
    pub(super) fn crds(&self, id: ChartId) -> Vec<(String, &'a File)> {
        let is_manifest = |file: &&File| {
            let extension = file.name.rsplit_once('.').map_or("", |(_, extension)| extension);
            file.name.starts_with("crds/") && ["yaml", "yml", "json"].iter().any(|e| extension.eq_ignore_ascii_case(e))
        };
        let own = self.chart(id).files.iter().filter(is_manifest).map(|file| (self.path_of(id, &file.name), file));
        own.chain(self.subcharts(id).iter().flat_map(|subchart| self.crds(*subchart))).collect()
    }

    fn node(&self, id: ChartId) -> &Node<'a> {
        &self.nodes[id.0]
    }

    fn head(&self, id: ChartId) -> &Head {
        &self.heads[self.node(id).head.0]
    }
}
