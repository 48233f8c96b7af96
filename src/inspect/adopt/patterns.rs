//! What the branches of plain Applications could be named after.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::Value;
use serde::Serialize;

use super::super::apps::object;
use super::super::check::{Judged, Tree};
use super::units::{Attempt, findings};
use crate::argo::{Application, Rule};
use crate::manifest::Key;
use crate::render;

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
    /// How many Applications hydrate by it, of those that render now, and share their branch with no other environment of theirs.
    #[serde(skip)]
    apart: usize,
    /// How many Applications hydrate by it, of those that render now.
    #[serde(skip)]
    hydrate: usize,
    /// Whether ApplicationSets have copies by it: it only inserts values.
    #[serde(skip)]
    copies_sets: bool,
}

/// A plain Application.
struct Plain<'a> {
    application: &'a Application,
    object: Value,
    file: &'a RepoPath,
    /// What it renders; none where it fails: then it counts for no pattern.
    objects: Option<Vec<Key>>,
    /// What it is called without the words for environments; none where no word of it is one.
    kin: Option<String>,
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

/// Patterns that fit these Applications, a name for all among them: first those by which the most Applications hydrate
/// apart from other environments of theirs; of these, the best first.
pub(super) fn all(judged: &Judged, tree: &Tree<'_>, attempts: &[Attempt<'_>]) -> Vec<BranchPattern> {
    let view = View::new(tree.files);
    let findings = findings(judged);
    let results: BTreeMap<usize, &Attempt<'_>> = attempts.iter().map(|attempt| (attempt.index, attempt)).collect();
    let applications = judged.discovered.applications.iter().map(|application| &**application).enumerate();
    let plain = applications.filter(|(_, application)| application.rule.is_some());
    let objects = plain.filter_map(|(index, application)| {
        let result = results.get(&index).map(|attempt| &attempt.result);
        let result = result.filter(|_| !findings.get(&index).is_some_and(|finding| finding.is_error()));
        let objects = result.and_then(|result| result.as_ref().ok());
        Some(Plain {
            application,
            object: object(application, &view)?.into_object(),
            file: &application.file,
            objects: objects.map(|rendered| render::objects(application, &rendered.manifests)),
            kin: kin(application.name.as_str()).or_else(|| kin(application.dry.path.as_str())),
        })
    });
    let objects: Vec<Plain<'_>> = objects.collect();
    if objects.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, BranchPattern)> = candidates(&objects)
        .into_iter()
        .filter_map(|text| pattern(&text, &objects))
        .map(|pattern| (worth(&pattern, objects.len()), pattern))
        .filter(|(worth, _)| *worth > 0)
        .collect();
    let has_sets = !judged.discovered.sets.is_empty();
    let copied = |pattern: &BranchPattern| has_sets && pattern.copies_sets;
    found.sort_by_key(|(worth, pattern)| std::cmp::Reverse((pattern.apart, pattern.hydrate, copied(pattern), *worth)));
    let mut seen = BTreeSet::new();
    let mut patterns: Vec<BranchPattern> = found.into_iter().map(|(_, pattern)| pattern).collect();
    patterns.retain(|pattern| seen.insert((pattern.branches.clone(), pattern.without, pattern.alike)));
    patterns.truncate(SHOWN_MAX);
    patterns.extend(pattern("environments/main", &objects));
    patterns.sort_by_key(|pattern| std::cmp::Reverse((pattern.apart, pattern.hydrate, copied(pattern))));
    patterns
}

fn candidates(objects: &[Plain<'_>]) -> Vec<String> {
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for Plain { object, .. } in objects {
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
fn pattern(text: &str, objects: &[Plain<'_>]) -> Option<BranchPattern> {
    let rule = Rule::of_all(text, "{{ name }}").ok()?;
    let mut found: BTreeMap<String, Vec<&Plain<'_>>> = BTreeMap::new();
    let mut without = 0;
    for plain in objects {
        match rule.branch_of(&plain.object, plain.file) {
            Some(branch) => found.entry(branch.to_string()).or_default().push(plain),
            None => without += 1,
        }
    }
    let (mut alike, mut hydrate, mut apart) = (0, 0, 0);
    for applications in found.values() {
        let named = of_one_name(applications);
        alike += applications.len() - named.len();
        let count = hydrating(&named);
        hydrate += count;
        apart += count.saturating_sub(mixed(&named));
    }
    let branches: BTreeSet<String> = found.into_keys().collect();
    // What a root makes has the root's directory as its file.
    let is_file = |branch: &String| [".yaml", ".yml", ".json"].iter().any(|end| branch.ends_with(end));
    let is_some = !branches.is_empty() && branches.len() <= BRANCHES_MAX && !branches.iter().any(is_file);
    let branches = branches.into_iter().collect();
    let copies_sets = rule.only_inserts();
    is_some.then(|| BranchPattern { pattern: text.to_owned(), branches, without, alike, apart, hydrate, copies_sets })
}

/// The Applications of a branch whose name no other one there has.
fn of_one_name<'a>(applications: &[&'a Plain<'a>]) -> Vec<&'a Plain<'a>> {
    let name = |plain: &'a Plain<'a>| plain.object.at(&["metadata", "name"]).and_then(Value::as_str);
    let mut names: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    applications.iter().for_each(|plain| *names.entry(name(plain)).or_default() += 1);
    applications.iter().copied().filter(|plain| names.get(&name(plain)) == Some(&1)).collect()
}

/// A name without its words for environments; none where it has none.
fn kin(name: &str) -> Option<String> {
    let is_environment = |word: &&str| ENVIRONMENTS.contains(&word.to_ascii_lowercase().as_str());
    let (words, others): (Vec<&str>, Vec<&str>) = name.split(['-', '_', '.', '/']).partition(is_environment);
    (!words.is_empty() && !others.is_empty()).then(|| others.join("-"))
}

/// How many of the Applications of a branch are there beside another environment of theirs.
fn mixed(applications: &[&Plain<'_>]) -> usize {
    let mut kins: BTreeMap<&str, usize> = BTreeMap::new();
    let rendered = applications.iter().filter(|plain| plain.objects.is_some());
    rendered.filter_map(|plain| plain.kin.as_deref()).for_each(|kin| *kins.entry(kin).or_default() += 1);
    kins.into_values().filter(|count| *count > 1).sum()
}

/// How many of the Applications of a branch hydrate: none where two of them render one object. What fails does so by every pattern.
fn hydrating(applications: &[&Plain<'_>]) -> usize {
    let objects = applications.iter().filter_map(|plain| Some((plain.application, plain.objects.as_deref()?)));
    let objects: Vec<(&Application, &[Key])> = objects.collect();
    if render::conflicts(&objects).is_empty() { objects.len() } else { 0 }
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
