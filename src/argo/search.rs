//! Which files of a dry tree may contain Applications.
//!
//! By name and place alone; [`super::read()`] looks into them.

use std::collections::BTreeSet;

use super::cost::LIMITS;
use dry_files::path::RepoPath;
use go_std::glob::{BadGlob, Glob};
use go_yaml::{self as yaml, Node};
use kustomize_build::FILE_NAMES;

/// Whether a file of this name can contain Applications: `*.yaml`, `*.yml` and `*.json`, in lower case as the tools read
/// them.
pub(crate) fn may_hold_applications(path: &RepoPath) -> bool {
    let extension = path.file_name().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// Whether the file is part of a chart and no manifest of its own: below the `templates/` or `charts/` of a directory
/// with a `Chart.yaml`, which `is_chart` knows.
pub(super) fn is_inside_chart(path: &RepoPath, is_chart: impl Fn(&RepoPath) -> bool) -> bool {
    let mut here = path.parent();
    while let Some(dir) = here {
        here = dir.parent();
        if let (Some("templates" | "charts"), Some(chart)) = (dir.file_name(), &here)
            && is_chart(chart)
        {
            return true;
        }
    }
    false
}

/// Whether this is the file of a kustomization.
pub(crate) fn is_kustomization(path: &RepoPath) -> bool {
    path.file_name().is_some_and(|name| FILE_NAMES.contains(&name))
}

/// The files that a kustomization names as patches; none of one that can't be read, of which Kustomize tells more. `may_take`
/// is asked of what each costs, for the directory of many may have a long name; without an answer when it does not take one.
///
/// `patches[].path`, `patchesStrategicMerge[]` and `patchesJson6902[].path`, and the old form of `patches` with names
/// alone.
pub(crate) fn patches(
    kustomization: &RepoPath,
    bytes: &[u8],
    may_take: &dyn Fn(u64) -> bool,
) -> Option<BTreeSet<RepoPath>> {
    let dir = kustomization.parent().unwrap_or_default();
    let nodes = yaml::parse(bytes, &LIMITS).unwrap_or_default();
    let fields = ["patches", "patchesStrategicMerge", "patchesJson6902"];
    let lists = nodes.iter().flat_map(|node| fields.map(|field| node.get(field)));
    let items = lists.flatten().filter_map(Node::as_sequence).flatten();
    // A scalar that is a mapping inside is a patch itself, not the name of one.
    let is_name = |name: &&str| !name.contains(['\n', ':']);
    let names = items.filter_map(|item| item.as_str().or_else(|| item.get("path")?.as_str())).filter(is_name);
    let mut found = BTreeSet::new();
    for path in names.filter_map(|name| dir.resolve(name).ok()) {
        if !may_take((path.as_str().len() + NAME_BYTES) as u64) {
            return None;
        }
        found.insert(path);
    }
    Some(found)
}

/// What the name of a patch costs beside its length.
const NAME_BYTES: usize = 64;

/// The setting `applications`, and any other list of path or branch patterns: which are meant.
///
/// Each pattern is read much as a line of `.gitignore`, but says what is meant instead of what is ignored: `*` and `?`
/// stay inside of one component, `**` crosses them, `[a-z]`, `[!a]` and `{a,b}` are choices. With a `/` at the
/// beginning or inside it is relative to the root, else it matches at any depth. One that names a directory matches
/// everything below it; with a `/` at its end nothing else. After `!` it takes away what earlier ones gave. The last pattern that
/// matches decides. A list without any that gives starts from everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patterns(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    takes_away: bool,
    /// For what it names itself; none when it is for directories only.
    itself: Option<Glob>,
    below: Glob,
    /// What it means of names without `/`.
    of_names: OfNames,
}

/// What a pattern means of names without `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OfNames {
    /// None of them, as far as something is known: it is for what is below a directory.
    Nothing,
    /// This one.
    Only(String),
    /// At most those that begin and end so.
    Between(String, String),
}

/// A pattern that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a valid pattern: {reason}")]
pub struct PatternError {
    /// The pattern as written.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: BadGlob,
}

impl Patterns {
    /// Reads patterns; empty ones are left out.
    pub fn new<T: AsRef<str>>(patterns: impl IntoIterator<Item = T>) -> Result<Self, PatternError> {
        let patterns = patterns.into_iter().filter(|text| !text.as_ref().is_empty());
        patterns.map(|text| Pattern::new(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is no pattern.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is no pattern but those that take away.
    pub(super) fn only_take_away(&self) -> bool {
        self.0.iter().all(|pattern| pattern.takes_away)
    }

    /// Whether any name is meant.
    pub(super) fn take_anything(&self) -> bool {
        let unlikely = "\u{e000}\u{e001}";
        !self.0.iter().any(|pattern| pattern.takes_away) && self.matches(unlikely)
    }

    /// Whether all names are meant that begin with `before` and end with `after`, and have the texts of `within` between, or none of them;
    /// none where what else is between decides. They have no `/`.
    pub(super) fn take_between(&self, (before, after): (&str, &str), within: &[&str]) -> Option<bool> {
        let mut may = self.0.iter().filter(|pattern| pattern.of_names.may_be((before, after), within));
        if self.only_take_away() {
            return may.next().is_none().then_some(true);
        }
        may.all(|pattern| pattern.takes_away).then_some(false)
    }

    /// Whether `name`, a path or a branch, is meant.
    pub fn matches(&self, name: &str) -> bool {
        match self.0.iter().rev().find(|pattern| pattern.matches(name)) {
            Some(last) => !last.takes_away,
            None => self.0.iter().all(|pattern| pattern.takes_away),
        }
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Self, PatternError> {
        let (takes_away, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (directory, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let whole = if rest.contains('/') { rest.trim_start_matches('/').to_owned() } else { format!("**/{rest}") };
        // In `.gitignore`, `**/` also matches no directory at all.
        let whole = whole.split("**/").collect::<Vec<_>>().join("{,**/}");
        let glob = |glob: &str| Glob::new(glob).map_err(|reason| PatternError { pattern: text.to_owned(), reason });
        let itself = if directory { None } else { Some(glob(&whole)?) };
        let below = glob(&format!("{whole}/**"))?;
        let of_names = if directory { OfNames::Nothing } else { OfNames::of(rest) };
        Ok(Self { takes_away, itself, below, of_names })
    }

    fn matches(&self, name: &str) -> bool {
        self.below.describes(name) || self.itself.as_ref().is_some_and(|glob| glob.describes(name))
    }
}

impl OfNames {
    /// What a pattern means that names no directory.
    fn of(pattern: &str) -> Self {
        let name = pattern.trim_start_matches('/');
        let name = name.strip_prefix("**/").unwrap_or(name);
        let is_special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\' | '/' | '!');
        match (name.split_once(is_special), name.rsplit_once(is_special)) {
            _ if name.contains(['\\', '/']) => Self::Between(String::new(), String::new()),
            (Some((first, _)), Some((_, last))) => Self::Between(first.to_owned(), last.to_owned()),
            _ => Self::Only(name.to_owned()),
        }
    }

    /// Whether a name may be one that begins with `before` and ends with `after`, and has the texts of `within` between.
    fn may_be(&self, (before, after): (&str, &str), within: &[&str]) -> bool {
        let begin = |one: &str, other: &str| one.starts_with(other) || other.starts_with(one);
        let end = |one: &str, other: &str| one.ends_with(other) || other.ends_with(one);
        match self {
            Self::Nothing => before.is_empty() && after.is_empty(),
            Self::Only(name) => {
                let between = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                let mut rest = between;
                for text in within {
                    rest = rest.and_then(|rest| rest.split_once(text)).map(|(_, rest)| rest);
                }
                rest.is_some()
            }
            Self::Between(first, last) => begin(first, before) && end(last, after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn names_of_files() {
        for (name, expected) in [
            ("a.yaml", true),
            ("x/a.yml", true),
            (".argocd/a.json", true),
            (".yaml", true),
            ("a.YAML", false),
            ("a.yaml.tmpl", false),
            ("yaml", false),
            ("a.yaml/b", false),
        ] {
            assert_eq!(may_hold_applications(&path(name)), expected, "{name}");
        }
    }

    #[test]
    fn files_of_charts() {
        let is_chart = |dir: &RepoPath| matches!(dir.as_str(), "apps/web" | "");
        for (name, expected) in [
            ("apps/web/templates/app.yaml", true),
            ("apps/web/templates/deep/app.yaml", true),
            ("apps/web/charts/redis/values.yaml", true),
            ("templates/app.yaml", true),
            ("apps/web/app.yaml", false),
            ("apps/web/templates.yaml", false),
            ("apps/other/templates/app.yaml", false),
            ("apps/web/crds/app.yaml", false),
        ] {
            assert_eq!(is_inside_chart(&path(name), is_chart), expected, "{name}");
        }
    }

    #[test]
    fn patches_of_kustomizations() {
        let text = "
patches:
- path: web.yaml
- patch: |-
    - op: remove
- ../shared/./app.yaml
patchesStrategicMerge:
- merge.yaml
- |-
  kind: Application
patchesJson6902:
- path: json.yaml
  target: {kind: Application}
resources:
- app.yaml
";
        let found = patches(&path("apps/overlay/kustomization.yaml"), text.as_bytes(), &|_| true).expect("few");
        let names: Vec<_> = found.iter().map(RepoPath::as_str).collect();
        assert_eq!(
            names,
            ["apps/overlay/json.yaml", "apps/overlay/merge.yaml", "apps/overlay/web.yaml", "apps/shared/app.yaml"]
        );
        for text in ["patches: [", "patches: x", "- patches", "patches: [[a]]", "patches: [../../../../x]"] {
            let found = patches(&path("a/kustomization.yml"), text.as_bytes(), &|_| true);
            assert_eq!(found, Some(BTreeSet::new()), "{text}");
        }
    }

    #[test]
    fn patterns() {
        let rows: &[(&[&str], &str, bool)] = &[
            (&[], "a/b.yaml", true),
            (&[""], "a/b.yaml", true),
            (&["apps"], "apps/web.yaml", true),
            (&["apps"], "x/apps/web.yaml", true),
            (&["/apps"], "x/apps/web.yaml", false),
            (&["apps/web"], "x/apps/web", false),
            (&["apps/"], "apps/web.yaml", true),
            (&["apps/"], "apps", false),
            (&["*.app.yaml"], "x/web.app.yaml", true),
            (&["/*.yaml"], "x/web.yaml", false),
            (&["apps/*.yaml"], "apps/x/web.yaml", false),
            (&["apps/**/*.yaml"], "apps/web.yaml", true),
            (&["apps/**/*.yaml"], "apps/x/y/web.yaml", true),
            (&["**/prod/**"], "a/prod/web.yaml", true),
            (&["apps", "!apps/old"], "apps/old/web.yaml", false),
            (&["apps", "!apps/old", "apps/old/keep.yaml"], "apps/old/keep.yaml", true),
            (&["!old"], "apps/web.yaml", true),
            (&["!old"], "apps/old/web.yaml", false),
            (&["environments/[dp]*"], "environments/dev", true),
            (&["environments/[dp]*"], "environments/test", false),
            (&["APPS"], "apps/web.yaml", false),
        ];
        for (list, name, expected) in rows {
            let patterns = Patterns::new(*list).expect("good patterns");
            assert_eq!(patterns.matches(name), *expected, "{list:?} {name}");
        }
    }

    #[test]
    fn what_is_between_the_values_of_a_template_is_in_each_name() {
        let rows: &[(&str, &[&str], Option<bool>)] = &[
            ("infrastructure", &["-"], Some(false)),
            ("shop-dev", &["-"], None),
            ("shop-dev", &["-", "-"], Some(false)),
            ("infra*", &["-"], None),
        ];
        for (pattern, within, expected) in rows {
            let patterns = Patterns::new([*pattern]).expect("good patterns");
            assert_eq!(patterns.take_between(("", ""), within), *expected, "{pattern} {within:?}");
        }
    }

    #[test]
    fn what_is_between_decides_only_where_the_ends_fit() {
        let rows: &[(&[&str], &str, &str, Option<bool>)] = &[
            (&["root"], "shop-", "", Some(false)),
            (&["root-*"], "shop-", "", Some(false)),
            (&["root-*"], "root-", "", None),
            (&["root-*"], "", "-addon", None),
            (&["root"], "", "-addon", Some(false)),
            (&["root"], "r", "t", None),
            (&["aba"], "ab", "ba", Some(false)),
            (&["*-prod"], "shop-", "-dev", Some(false)),
            (&["*-prod", "shop-*"], "shop-", "-dev", None),
            (&["{root,shop}-*"], "web-", "", None),
            (&["shop/"], "shop-", "", Some(false)),
            (&["/root"], "shop-", "", Some(false)),
            (&["**/root"], "shop-", "", Some(false)),
            (&["!root"], "shop-", "", Some(true)),
            (&["!shop-*"], "shop-", "", None),
            (&["root", "!shop-*"], "shop-", "", Some(false)),
            (&["*", "!root"], "shop-", "", None),
        ];
        for (list, before, after, expected) in rows {
            let patterns = Patterns::new(*list).expect("good patterns");
            assert_eq!(patterns.take_between((before, after), &[]), *expected, "{list:?} {before} {after}");
        }
    }

    #[test]
    fn bad_patterns_are_named() {
        let error = Patterns::new(["apps/[", "x"]).expect_err("a class without its end");
        assert_eq!(error.pattern, "apps/[");
    }
}
