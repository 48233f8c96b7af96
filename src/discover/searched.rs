//! Why a file is not searched for Applications, whatever it says.

use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use inputs::InputsDir;

use super::discovery::{is_chart, is_of_chart};
use crate::argo::{Patterns, may_hold_applications};

/// Why Applications are not looked for in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsearched {
    /// By its name.
    Named,
    /// Its directory is none: a symbolic link, or a submodule.
    Below(RepoPath, Kind),
    /// It is part of a chart, by this `Chart.yaml`.
    Chart(RepoPath),
    /// This kustomization names it as a patch.
    Patch(RepoPath),
    /// It is beside the inputs.
    Input,
    /// The setting `applications` leaves it out.
    Setting,
}

/// Where Applications of a dry tree are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'s> {
    /// The files that kustomizations name as patches, each with the kustomization that does.
    pub patches: &'s BTreeMap<RepoPath, RepoPath>,
    /// The setting `applications`.
    pub patterns: &'s Patterns,
    /// Where inputs are.
    pub inputs: &'s InputsDir,
}

impl Searched<'_> {
    /// Why a file of the tree is not searched; none when it is.
    pub(crate) fn leaves_out(&self, file: &RepoPath, tree: &View<'_>) -> Option<Unsearched> {
        if !may_hold_applications(file) {
            return Some(Unsearched::Named);
        }
        if self.inputs.has(file) {
            return Some(Unsearched::Input);
        }
        let mut dir = RepoPath::root();
        for name in file.parent().unwrap_or_default().components() {
            let entries = tree.list(&dir).ok()?;
            let child = dir.child(name).ok()?;
            let there = entries.iter().find(|entry| entry.name == name)?;
            if there.kind != Kind::Directory {
                return Some(Unsearched::Below(child, there.kind));
            }
            if is_of_chart(name) && is_chart(&entries) {
                return Some(Unsearched::Chart(dir.child("Chart.yaml").ok()?));
            }
            dir = child;
        }
        match self.patches.get(file) {
            Some(kustomization) => Some(Unsearched::Patch(kustomization.clone())),
            None => (!self.patterns.matches(file.as_str())).then_some(Unsearched::Setting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn what_is_not_searched() {
        let files = MemoryFiles::new()
            .file("t/Chart.yaml", "")
            .file("t/templates/a/b.yaml", "")
            .file("t/other/b.yaml", "")
            .file("u/templates/b.yaml", "")
            .file(".hydrate/b.yaml", "")
            .link("v", "u");
        let patterns = Patterns::new(["/u/", "/t/", "/v/", ".hydrate/"]).expect("patterns");
        let patches = BTreeMap::from([(path("u/patch.yaml"), path("k/kustomization.yaml"))]);
        let inputs = InputsDir::default();
        let searched = Searched { patches: &patches, patterns: &patterns, inputs: &inputs };
        let rows = [
            ("t/templates/a/b.yaml", Some(Unsearched::Chart(path("t/Chart.yaml")))),
            ("t/other/b.yaml", None),
            ("t/other/b.yaml.bak", Some(Unsearched::Named)),
            ("u/templates/b.yaml", None),
            ("u/patch.yaml", Some(Unsearched::Patch(path("k/kustomization.yaml")))),
            ("v/templates/b.yaml", Some(Unsearched::Below(path("v"), Kind::Link))),
            (".hydrate/b.yaml", Some(Unsearched::Input)),
            ("b.yaml", Some(Unsearched::Setting)),
        ];
        for (file, expected) in rows {
            assert_eq!(searched.leaves_out(&path(file), &View::new(&files)), expected, "{file}");
        }
    }
}
