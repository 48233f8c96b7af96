//! What the branches of plain Applications could be named after.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::Value;
use serde::Serialize;

use super::super::apps::object;
use super::super::check::{Judged, Tree};
use crate::argo::Rule;

/// A template of branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchPattern {
    /// The template.
    pub pattern: String,
    /// The branches that it makes, by name.
    pub branches: Vec<String>,
    /// How many Applications it makes no branch of.
    pub without: usize,
    /// How many Applications have their name and their branch in common with another one: none of them would hydrate.
    pub alike: usize,
}

/// How many patterns are shown, and how many branches one may make.
const SHOWN_MAX: usize = 6;
const BRANCHES_MAX: usize = 60;

/// How many components of a path are tried.
const COMPONENTS_MAX: usize = 4;

/// Labels and names of directories that distinguish environments.
const ENVIRONMENTS: [&str; 24] = [
    "env",
    "environment",
    "stage",
    "tier",
    "cluster",
    "region",
    "dev",
    "development",
    "test",
    "testing",
    "qa",
    "uat",
    "int",
    "integration",
    "stage",
    "staging",
    "preprod",
    "sandbox",
    "prod",
    "production",
    "live",
    "hub",
    "spoke",
    "local",
];

/// Patterns that fit these Applications, best first; the last one is a name for all.
pub(super) fn all(judged: &Judged, tree: &Tree<'_>) -> Vec<BranchPattern> {
    let view = View::new(tree.files);
    let plain = judged.discovered.applications.iter().filter(|application| application.rule.is_some());
    let objects: Vec<(Value, RepoPath)> = plain
        .filter_map(|application| Some((object(application, &view)?.into_object(), application.file.clone())))
        .collect();
    if objects.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, BranchPattern)> = candidates(&objects)
        .into_iter()
        .filter_map(|text| pattern(&text, &objects))
        .map(|pattern| (worth(&pattern, objects.len()), pattern))
        .filter(|(worth, _)| *worth > 0)
        .collect();
    found.sort_by_key(|(worth, _)| std::cmp::Reverse(*worth));
    let mut seen = BTreeSet::new();
    let mut patterns: Vec<BranchPattern> = found.into_iter().map(|(_, pattern)| pattern).collect();
    patterns.retain(|pattern| seen.insert((pattern.branches.clone(), pattern.without, pattern.alike)));
    patterns.truncate(SHOWN_MAX);
    patterns.extend(pattern("environments/main", &objects));
    patterns
}

fn candidates(objects: &[(Value, RepoPath)]) -> Vec<String> {
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for (object, _) in objects {
        let labels = object.at(&["metadata", "labels"]).and_then(Value::as_mapping);
        for (key, _) in labels.into_iter().flat_map(|labels| labels.iter()) {
            *keys.entry(key).or_default() += 1;
        }
    }
    let common = keys.into_iter().filter(|(key, count)| count * 2 >= objects.len() && !key.contains(['\'', '\\']));
    let labels = common.map(|(key, _)| label(key));
    let fields = ["destination.name", "project", "destination.namespace"].map(str::to_owned);
    let components = (0..COMPONENTS_MAX)
        .flat_map(|index| ["directory", "source.path"].map(|path| format!("({path} | split('/'))[{index}]")));
    let files = (1..COMPONENTS_MAX).map(|index| format!("(file | split('/'))[{index}]"));
    labels.chain(fields).chain(components).chain(files).map(|value| format!("environments/{{{{ {value} }}}}")).collect()
}

/// A label, as a template names it.
fn label(key: &str) -> String {
    match key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => format!("labels.{key}"),
        false => format!("labels['{key}']"),
    }
}

/// What a template makes of the Applications; none when it does not compile or makes nothing.
fn pattern(text: &str, objects: &[(Value, RepoPath)]) -> Option<BranchPattern> {
    let rule = Rule::of_all(text, "{{ name }}").ok()?;
    let mut branches = BTreeSet::new();
    let mut names: BTreeMap<(String, Option<&str>), usize> = BTreeMap::new();
    let mut without = 0;
    for (object, file) in objects {
        let Some(branch) = rule.branch_of(object, file) else {
            without += 1;
            continue;
        };
        let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
        *names.entry((branch.to_string(), name)).or_default() += 1;
        branches.insert(branch.to_string());
    }
    let alike = names.into_values().filter(|count| *count > 1).sum();
    // What a root makes has the root's directory as its file.
    let is_file = |branch: &String| [".yaml", ".yml", ".json"].iter().any(|end| branch.ends_with(end));
    let is_some = !branches.is_empty() && branches.len() <= BRANCHES_MAX && !branches.iter().any(is_file);
    let branches = branches.into_iter().collect();
    is_some.then(|| BranchPattern { pattern: text.to_owned(), branches, without, alike })
}

/// How likely it is that a pattern distinguishes environments: 0 for one that does not.
fn worth(pattern: &BranchPattern, all: usize) -> usize {
    let count = pattern.branches.len();
    let is_too_fine = count > 3 && count * 2 > all;
    if count < 2 || is_too_fine || pattern.without * 2 > all {
        return 0;
    }
    let name = |branch: &String| branch.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_environment =
        |name: &String| ENVIRONMENTS.iter().any(|known| name.split(['-', '_']).any(|part| part == *known));
    let environments = pattern.branches.iter().map(name).filter(is_environment).count();
    let of_label = ENVIRONMENTS.iter().take(6).any(|known| pattern.pattern.contains(&format!("labels.{known}")));
    let of_cluster = pattern.pattern.contains("destination.name }}");
    // What a pattern loses counts for more than what its branches are called.
    let kept = 300 * (all - pattern.without - pattern.alike) / all;
    let few = BRANCHES_MAX - count.min(BRANCHES_MAX);
    1 + kept + few + 100 * environments / count + 150 * usize::from(of_label) + 40 * usize::from(of_cluster)
}
