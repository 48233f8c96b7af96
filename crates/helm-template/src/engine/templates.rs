//! The templates of a chart tree, by name and in order.

use std::collections::BTreeMap;

use super::super::chart::File;
use super::super::tree::{ChartId, Tree};

/// One template of the tree.
#[derive(Clone, Copy)]
pub(crate) struct Template<'a> {
    /// The chart that it belongs to.
    pub chart: ChartId,
    /// Its text.
    pub file: &'a File,
}

/// All templates by the paths that Helm gives them. Those with the fewest slashes come last, and at equal depth those
/// that come first in the order of bytes: so their definitions win, and they see what others change.
pub(crate) struct Templates<'a> {
    by_name: BTreeMap<String, Template<'a>>,
    order: Vec<String>,
}

impl<'a> Templates<'a> {
    /// Gathers the templates of a tree. A library chart has only its partials.
    pub(crate) fn new(tree: &Tree<'a>) -> Self {
        let mut by_name = BTreeMap::new();
        gather(tree, Tree::ROOT, &mut by_name);
        let mut order: Vec<String> = by_name.keys().cloned().collect();
        order.sort_by(|a, b| {
            let depth = |name: &str| name.matches('/').count();
            (depth(b), b).cmp(&(depth(a), a))
        });
        Self { by_name, order }
    }

    /// The template of a name.
    pub(crate) fn get(&self, name: &str) -> Option<Template<'a>> {
        self.by_name.get(name).copied()
    }

    /// All templates, in the order in which they are parsed and executed.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (&String, Template<'a>)> {
        self.order.iter().filter_map(|name| Some((name, self.get(name)?)))
    }
}

fn gather<'a>(tree: &Tree<'a>, chart: ChartId, found: &mut BTreeMap<String, Template<'a>>) {
    for &subchart in tree.subcharts(chart) {
        gather(tree, subchart, found);
    }
    let is_library = tree.chart(chart).metadata.is_library();
    for file in &tree.chart(chart).templates {
        if !is_library || is_partial(&file.name) {
            found.insert(tree.path_of(chart, &file.name), Template { chart, file });
        }
    }
}

/// Whether a file only lends its definitions.
pub(super) fn is_partial(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).starts_with('_')
}
