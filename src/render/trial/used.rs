//! Which of the files that a chart's render read can have made what it is: loading a chart reads all of it, also the values of
//! other environments.
//!
//! Found by trying: a file that may be anything, without a change of what is rendered, is not used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::Overlay;

use super::{Context, Renderers};
use crate::argo::Application;
use crate::diff::ObjectName;
use crate::manifest::Manifest;

/// How often it is rendered again; what is not decided then counts as used.
const TRIES_MAX: u32 = 24;

/// The files of every chart.
const OF_EACH_CHART: [&str; 3] = ["Chart.yaml", "values.yaml", "values.schema.json"];

/// An Application that renders to `manifests`, and the object of it that counts; all of them where none is named.
pub(crate) struct Trial<'t> {
    pub renderers: &'t Renderers,
    pub application: &'t Application,
    pub context: &'t Context<'t>,
    pub object: Option<&'t ObjectName>,
    pub manifests: &'t [Manifest],
}

/// The files of `read` that are used.
pub(crate) fn used(trial: &Trial<'_>, read: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
    let mut tries = TRIES_MAX;
    let is_of_each = |path: &RepoPath| path.file_name().is_some_and(|name| OF_EACH_CHART.contains(&name));
    let (mut used, others): (BTreeSet<_>, Vec<_>) = (
        read.iter().filter(|path| is_of_each(path)).cloned().collect(),
        read.iter().filter(|path| !is_of_each(path)).cloned().collect(),
    );
    let mut groups = vec![others];
    while let Some(mut group) = groups.pop() {
        let is_decided = tries > 0 && !group.is_empty();
        tries = tries.saturating_sub(1);
        match group.len() {
            _ if is_decided && trial.is_the_same_without(&group) => {}
            0 => {}
            1 => used.extend(group),
            _ if !is_decided => used.extend(group),
            len => {
                groups.push(group.split_off(len / 2));
                groups.push(group);
            }
        }
    }
    used
}

impl Trial<'_> {
    /// Whether what counts is rendered as before when these files are other ones.
    fn is_the_same_without(&self, files: &[RepoPath]) -> bool {
        let other = |path: &RepoPath| {
            let is_template = path.components().any(|name| name == "templates");
            // A template without a word renders to nothing. All else is read as YAML, or is a part of what is rendered.
            let content: &[u8] = if is_template { b"" } else { b"{ other" };
            (path.clone(), Arc::from(content))
        };
        let overlay = Overlay::new(self.context.files, files.iter().map(other).collect::<BTreeMap<_, _>>());
        let context = Context { files: &overlay, rules: self.context.rules.clone(), ..*self.context };
        let rendered = self.renderers.render_here(&[self.application], &context).and_then(|mut all| all.pop());
        let Some(Ok(rendered)) = rendered else { return false };
        match self.object {
            None => rendered.manifests == self.manifests,
            Some(object) => {
                let of = |manifests: &[Manifest]| {
                    manifests.iter().find(|manifest| ObjectName::of(manifest) == *object).cloned()
                };
                of(&rendered.manifests) == of(self.manifests)
            }
        }
    }
}
