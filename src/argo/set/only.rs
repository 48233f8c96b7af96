//! A part of a dry tree, for sets of which each directory and file makes its own Applications.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::ApplicationSet;
use crate::argo::field::{Content, Field};

/// The paths that `git` generators look at; all others are as if they were not there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Only {
    paths: BTreeSet<RepoPath>,
}

impl Only {
    /// These paths, and the directories that lead to them.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        let mut all = BTreeSet::new();
        for path in paths {
            let mut next = Some(path.clone());
            while let Some(path) = next.filter(|path| !all.contains(path)) {
                next = path.parent();
                all.insert(path);
            }
        }
        Self { paths: all }
    }

    /// These paths and directories.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.paths.iter()
    }

    /// Whether a path is one of the given paths, or a directory above one.
    pub fn has(&self, path: &RepoPath) -> bool {
        self.paths.contains(path)
    }
}

impl ApplicationSet {
    /// Whether the set makes for each directory or file of its `git` generators just what it makes of a tree with that
    /// one alone, beside what it makes of an empty tree.
    ///
    /// So it is where these generators are used alone, or first in a matrix with a list: elements do not see one another.
    /// And all that they make is hydrated, so that no name is taken unseen.
    pub fn is_sum(&self) -> bool {
        let is_hydrated = self.at(&["spec", "template", "spec", "sourceHydrator"]).is_some();
        if !is_hydrated || self.at(&["spec", "templatePatch"]).is_some() {
            return false;
        }
        let generators = self.at(&["spec", "generators"]).map(|generators| &generators.content);
        let Some(Content::List(entries)) = generators else { return false };
        entries.iter().all(|entry| {
            has_only(entry, &["git", "list", "matrix", "selector"]) && entry.get("matrix").is_none_or(is_git_first)
        })
    }
}

fn is_git_first(matrix: &Field) -> bool {
    match matrix.get("generators").map(|children| &children.content) {
        Some(Content::List(children)) => match children.as_slice() {
            [first, second] => has_only(first, &["git", "selector"]) && has_only(second, &["list", "selector"]),
            _ => false,
        },
        _ => false,
    }
}

fn has_only(field: &Field, keys: &[&str]) -> bool {
    match &field.content {
        Content::Mapping(entries) => entries.iter().all(|entry| keys.contains(&entry.key.as_str())),
        Content::Scalar(_) | Content::List(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Home, Limits, Sources, read_sets};
    use super::*;
    use dry_files::view::{MemoryFiles, View};
    use go_yaml::{self as yaml, Value};

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn what_leads_to_a_path_is_part_of_it() {
        let only = Only::new([&path("apps/web/a.yaml"), &path("apps/api")]);
        for (text, expected) in [
            ("apps", true),
            ("apps/web", true),
            ("apps/web/a.yaml", true),
            ("apps/api", true),
            ("apps/api/a.yaml", false),
            ("apps/web/b.yaml", false),
            ("charts", false),
        ] {
            assert_eq!(only.has(&path(text)), expected, "{text}");
        }
        assert!(only.has(&RepoPath::root()));
        assert!(!Only::default().has(&RepoPath::root()));
    }

    #[test]
    fn elements_that_do_not_see_one_another_are_a_sum() {
        let git = "git: {directories: [{path: apps/*}]}";
        let list = "list: {elements: [{a: b}]}";
        let matrix = |first: &str, second: &str| format!("matrix: {{generators: [{{{first}}}, {{{second}}}]}}");
        let selected = format!("{git}, selector: {{matchLabels: {{a: b}}}}");
        let rows = [
            ("git", git.to_owned(), true),
            ("git with a selector", selected, true),
            ("a list", list.to_owned(), true),
            ("git and a list", matrix(git, list), true),
            ("a list and git", matrix(list, git), false),
            ("git twice", matrix(git, git), false),
            ("a matrix in a matrix", matrix(git, &matrix(list, list)), false),
            ("merge", format!("merge: {{generators: [{{{git}}}, {{{list}}}]}}"), false),
            ("clusters", "clusters: {}".to_owned(), false),
            ("plugin", "plugin: {}".to_owned(), false),
        ];
        for (name, generator, expected) in rows {
            let text = format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: a}}\nspec: {{generators: \
                 [{{{generator}}}], template: {{spec: {{sourceHydrator: {{}}}}}}}}\n"
            );
            let sets = read_sets(&path("set.yaml"), text.as_bytes()).expect("YAML");
            assert_eq!(sets[0].is_sum(), expected, "{name}");
            let patched = text.replace("template: {", "templatePatch: 'a: b', template: {");
            for without in [text.replace("sourceHydrator", "source"), patched] {
                let sets = read_sets(&path("set.yaml"), without.as_bytes()).expect("YAML");
                assert!(!sets[0].is_sum(), "{name}: {without}");
            }
        }
    }

    /// What a set makes of a tree, by names.
    fn made(set: &ApplicationSet, files: &MemoryFiles, only: Option<&Only>) -> BTreeMap<String, String> {
        let url = "https://git.example.com/dry.git".to_owned();
        let home = Home { repo_urls: vec![url], revisions: Vec::new(), is_beside_head: false };
        let view = View::new(files);
        let expanded = set.expand(&Sources::new(&view, home).of_part(only), &Limits::default()).expect("right");
        let text = |value: &Value| yaml::sigs::marshal(value).expect("a mapping");
        let name = |value: &Value| value.at(&["metadata", "name"]).and_then(Value::as_str).expect("named").to_owned();
        expanded.applications.iter().map(|made| (name(&made.object), text(&made.object))).collect()
    }

    #[test]
    fn what_differs_makes_all_that_differs() {
        let git = |of: &str| format!("git: {{repoURL: 'https://git.example.com/dry.git', revision: HEAD, {of}}}");
        let list = "list: {elements: [{stage: a}, {stage: b}]}";
        let matrix = |first: &str| format!("matrix: {{generators: [{{{first}}}, {{{list}}}]}}");
        let generators = [
            git("directories: [{path: 'a/*'}, {path: '*/b'}, {path: a/c, exclude: true}]"),
            git("files: [{path: '*/x.yaml'}, {path: 'a/**/y.yaml'}, {path: 'b/*', exclude: true}]"),
            format!("{}, selector: {{matchLabels: {{tier: eu}}}}", git("files: [{path: '**/x.yaml'}]")),
            matrix(&git("directories: [{path: '*'}, {path: b, exclude: true}]")),
        ];
        let mut state = 1_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let names = ["a", "b", "c", ".d"];
        for round in 0..300 {
            let mut sides = [BTreeMap::new(), BTreeMap::new()];
            for _ in 0..12 {
                let [one, two] = [(); 2].map(|()| names[usize::try_from(below(4)).expect("small")]);
                let name = ["x.yaml", "y.yaml", "z"][usize::try_from(below(3)).expect("small")];
                let path = [format!("{one}/{two}/{name}"), format!("{one}/{name}")][usize::from(below(3) == 0)].clone();
                let which = below(4);
                for (side, files) in sides.iter_mut().enumerate() {
                    if which < 2 || which == side as u64 + 2 {
                        files.insert(path.clone(), format!("tier: {}\n", ["eu", "us"][usize::from(below(2) == 0)]));
                    }
                }
            }
            let [old, new] = sides.each_ref().map(|side| {
                side.iter().fold(MemoryFiles::new(), |files, (path, content)| files.file(path, content.as_str()))
            });
            let differ = |path: &&String| sides[0].get(*path) != sides[1].get(*path);
            let differing: Vec<RepoPath> =
                sides.iter().flat_map(BTreeMap::keys).filter(differ).map(|text| path(text)).collect();
            let only = Only::new(&differing);
            for generator in &generators {
                let text = format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  goTemplate: \
                     true\n  generators: [{{{generator}}}]\n  template:\n    metadata: {{name: '{{{{ .path.path | replace \"/\" \
                     \"-\" }}}}{{{{ .path.filename }}}}{{{{ .stage }}}}'}}\n    spec: {{project: '{{{{ .tier }}}}', \
                     sourceHydrator: {{}}}}\n"
                );
                let sets = read_sets(&path("set.yaml"), text.as_bytes()).expect("YAML");
                assert!(sets[0].is_sum(), "{text}");
                let mut expected = made(&sets[0], &old, None);
                made(&sets[0], &old, Some(&only)).keys().for_each(|name| drop(expected.remove(name)));
                expected.extend(made(&sets[0], &new, Some(&only)));
                assert_eq!(made(&sets[0], &new, None), expected, "round {round}: {generator}, {differing:?}");
            }
        }
    }
}
