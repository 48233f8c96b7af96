//! The setting `tools`: as which Helm, Kustomize and Jsonnet an Application is rendered, by its branch.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BranchName, PatternError, Patterns};
use crate::versions::{ArgoCd, Helm, Jsonnet, Kustomize, Tools};

/// The keys of a choice; every other key of the setting is a glob of branches.
const TOOL_KEYS: [&str; 4] = ["argocd", "helm", "kustomize", "jsonnet"];

/// Which versions there shall be, for all branches and by globs of them.
///
/// An exact version wins over those of `argocd`, and both of a glob over those for all. Of several globs the first one that
/// matches counts, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ToolSettings {
    all: Choice,
    branches: Vec<(String, Patterns, Choice)>,
}

/// What is said of the versions in one place.
#[derive(Debug, Clone, PartialEq, Default)]
struct Choice {
    argocd: Option<ArgoCd>,
    helm: Option<Helm>,
    kustomize: Option<Kustomize>,
    jsonnet: Option<Jsonnet>,
}

impl ToolSettings {
    /// Exact versions, for all branches.
    pub(crate) fn exact(tools: Tools) -> Self {
        Self { all: Choice::default().resolved_to(tools), branches: Vec::new() }
    }

    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The exact versions of an environment branch, whose deployed branch is `sync`: a glob may name either.
    pub(crate) fn of(&self, branch: &BranchName, sync: &BranchName) -> Tools {
        let is_named = |patterns: &Patterns| [branch, sync].iter().any(|name| patterns.matches(name.as_str()));
        let own = self.branches.iter().find(|(_, patterns, _)| is_named(patterns));
        let tools = self.all.over(Tools::default());
        own.map_or(tools, |(_, _, choice)| choice.over(tools))
    }

    /// Every version that some branch may have.
    pub(crate) fn all(&self) -> impl Iterator<Item = Tools> + '_ {
        let tools = self.all.over(Tools::default());
        std::iter::once(tools).chain(self.branches.iter().map(move |(_, _, choice)| choice.over(tools)))
    }

    /// With the exact versions beside each `argocd` that has none: they stay when a later git-hydrate knows another patch version.
    pub(crate) fn resolved(&self) -> Self {
        let resolved = |choice: &Choice| match &choice.argocd {
            Some(argocd) => choice.clone().resolved_to(argocd.tools()),
            None => choice.clone(),
        };
        let of_branch =
            |(glob, patterns, choice): &(String, Patterns, Choice)| (glob.clone(), patterns.clone(), resolved(choice));
        Self { all: resolved(&self.all), branches: self.branches.iter().map(of_branch).collect() }
    }

    /// With what a word says of one tool: `helm=4.3.1`, or `GLOB:argocd=3.4` for the branches of a glob. Another Argo CD takes the
    /// exact versions along.
    ///
    /// Errors: what is wrong with the word.
    pub(crate) fn with(&self, word: &str) -> Result<Self, String> {
        let wrong = || format!("`{word}` is not TOOL=VERSION, such as helm={} or argocd=3.4", Helm::newest());
        let (place, version) = word.split_once('=').ok_or_else(wrong)?;
        let mut new = self.clone();
        let (choice, key) = match place.rsplit_once(':') {
            None => (&mut new.all, place),
            Some((glob, key)) => (new.of_glob(glob)?, key),
        };
        if key == "argocd" {
            *choice = Choice::default();
        }
        choice.set(key, version)?;
        Ok(new)
    }

    /// What is said of the branches of a glob, which is added at the end where it is new.
    fn of_glob(&mut self, glob: &str) -> Result<&mut Choice, String> {
        let known = self.branches.iter().position(|(known, _, _)| known == glob);
        let at = known.unwrap_or(self.branches.len());
        if known.is_none() {
            let patterns = Patterns::new([glob]).map_err(|error| error.to_string())?;
            self.branches.push((glob.to_owned(), patterns, Choice::default()));
        }
        self.branches.get_mut(at).map(|(_, _, choice)| choice).ok_or_else(|| glob.to_owned())
    }

    /// Without the exact versions beside each `argocd` that is not the one of `before`, unless they are others too: they were
    /// those of another Argo CD.
    pub(crate) fn without_those_of(&self, before: &Self) -> Self {
        let of_glob =
            |glob: &str| before.branches.iter().find(|(known, _, _)| known == glob).map(|(_, _, choice)| choice);
        let branches = self.branches.iter().map(|(glob, patterns, choice)| {
            let choice = of_glob(glob).map_or_else(|| choice.clone(), |known| choice.without_those_of(known));
            (glob.clone(), patterns.clone(), choice)
        });
        Self { all: self.all.without_those_of(&before.all), branches: branches.collect() }
    }
}

impl Choice {
    /// The versions that it makes of those that hold where it says nothing.
    fn over(&self, tools: Tools) -> Tools {
        let tools = self.argocd.as_ref().map_or(tools, ArgoCd::tools);
        Tools {
            helm: self.helm.unwrap_or(tools.helm),
            kustomize: self.kustomize.unwrap_or(tools.kustomize),
            jsonnet: self.jsonnet.unwrap_or(tools.jsonnet),
        }
    }

    fn resolved_to(self, tools: Tools) -> Self {
        Self {
            argocd: self.argocd,
            helm: self.helm.or(Some(tools.helm)),
            kustomize: self.kustomize.or(Some(tools.kustomize)),
            jsonnet: self.jsonnet.or(Some(tools.jsonnet)),
        }
    }

    fn without_those_of(&self, before: &Self) -> Self {
        let exact = |choice: &Self| (choice.helm, choice.kustomize, choice.jsonnet);
        if self.argocd == before.argocd || exact(self) != exact(before) {
            return self.clone();
        }
        Self { argocd: self.argocd.clone(), ..Self::default() }
    }

    /// Sets one of [`TOOL_KEYS`].
    ///
    /// Errors: why it is not a known version.
    fn set(&mut self, key: &str, version: &str) -> Result<(), String> {
        match key {
            "argocd" => self.argocd = Some(parsed(version)?),
            "helm" => self.helm = Some(parsed(version)?),
            "kustomize" => self.kustomize = Some(parsed(version)?),
            "jsonnet" => self.jsonnet = Some(parsed(version)?),
            other => return Err(format!("unknown tool `{other}`: use one of {}", TOOL_KEYS.join(", "))),
        }
        Ok(())
    }

    /// Its keys, each with its version.
    fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        let texts = [
            self.argocd.as_ref().map(ToString::to_string),
            self.helm.map(|version| version.to_string()),
            self.kustomize.map(|version| version.to_string()),
            self.jsonnet.map(|version| version.to_string()),
        ];
        TOOL_KEYS.into_iter().zip(texts).filter_map(|(key, text)| Some((key, text?)))
    }
}

/// Whether a version of the tool of a key is known.
///
/// Errors: why it is not.
pub(crate) fn check_tool(key: &str, version: &str) -> Result<(), String> {
    Choice::default().set(key, version)
}

fn parsed<T: std::str::FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries())
    }
}

impl Serialize for ToolSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.all.entries().try_for_each(|(key, version)| map.serialize_entry(key, &version))?;
        self.branches.iter().try_for_each(|(glob, _, choice)| map.serialize_entry(glob, choice))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Versions;

        impl<'de> Visitor<'de> for Versions {
            type Value = Choice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a mapping with {}", TOOL_KEYS.join(", "))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choice, A::Error> {
                let mut choice = Choice::default();
                while let Some(key) = map.next_key::<String>()? {
                    let version: String = map.next_value()?;
                    choice.set(&key, &version).map_err(de::Error::custom)?;
                }
                Ok(choice)
            }
        }

        deserializer.deserialize_map(Versions)
    }
}

impl<'de> Deserialize<'de> for ToolSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByBranch;

        impl<'de> Visitor<'de> for ByBranch {
            type Value = ToolSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a mapping with {}, and globs of branches", TOOL_KEYS.join(", "))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolSettings, A::Error> {
                let mut settings = ToolSettings::default();
                while let Some(key) = map.next_key::<String>()? {
                    if TOOL_KEYS.contains(&key.as_str()) {
                        let version: String = map.next_value()?;
                        settings.all.set(&key, &version).map_err(de::Error::custom)?;
                        continue;
                    }
                    let choice = map.next_value()?;
                    let patterns = Patterns::new([&key]).map_err(|error: PatternError| de::Error::custom(error))?;
                    settings.branches.push((key, patterns, choice));
                }
                Ok(settings)
            }
        }

        deserializer.deserialize_map(ByBranch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ToolSettings, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn tools_of(json: &str, branch: &str) -> String {
        let branch = BranchName::new(branch).expect("a branch");
        read(json).expect(json).of(&branch, &branch).to_string()
    }

    #[test]
    fn the_most_special_word_counts() {
        let rows = [
            ("{}", "Helm 4.2.3, Kustomize 5.8.1, Jsonnet 0.22.0"),
            (r#"{"argocd": "3.4"}"#, "Helm 3.19.4, Kustomize 5.8.1, Jsonnet 0.21.0"),
            (r#"{"argocd": "3.1", "helm": "3.18.6"}"#, "Helm 3.18.6, Kustomize 5.7.0, Jsonnet 0.21.0"),
            (r#"{"helm": "4.3.1"}"#, "Helm 4.3.1, Kustomize 5.8.1, Jsonnet 0.22.0"),
            (r#"{"argocd": "3.4", "env/*": {"argocd": "3.0"}}"#, "Helm 3.17.1, Kustomize 5.6.0, Jsonnet 0.20.0"),
            (r#"{"argocd": "3.4", "env/*": {"helm": "4.2.1"}}"#, "Helm 4.2.1, Kustomize 5.8.1, Jsonnet 0.21.0"),
            (
                r#"{"env/prod": {"helm": "4.2.1"}, "env/*": {"helm": "4.3.1"}}"#,
                "Helm 4.2.1, Kustomize 5.8.1, Jsonnet 0.22.0",
            ),
            (r#"{"env/dev": {"helm": "4.2.1"}}"#, "Helm 4.2.3, Kustomize 5.8.1, Jsonnet 0.22.0"),
        ];
        for (json, expected) in rows {
            assert_eq!(tools_of(json, "env/prod"), expected, "{json}");
        }
    }

    #[test]
    fn a_glob_of_the_deployed_branch_is_one_of_its_staging_branch() {
        let settings = read(r#"{"env/prod": {"argocd": "3.0"}}"#).expect("settings");
        let [staging, sync] = ["env/prod-next", "env/prod"].map(|name| BranchName::new(name).expect("a branch"));
        assert_eq!(settings.of(&staging, &sync).helm.as_str(), "3.17.1");
    }

    #[test]
    fn exact_versions_are_written_beside_the_argo_cd() {
        let resolved =
            read(r#"{"argocd": "3.4", "env/*": {"argocd": "3.3.0"}, "x": {"helm": "4.2.1"}}"#).expect("settings");
        let written = serde_json::to_string(&resolved.resolved()).expect("JSON");
        let expected = r#"{"argocd":"3.4","helm":"3.19.4","kustomize":"5.8.1","jsonnet":"0.21.0","env/*":{"argocd":"3.3.0","helm":"3.19.4","kustomize":"5.8.0","jsonnet":"0.21.0"},"x":{"helm":"4.2.1"}}"#;
        assert_eq!(written, expected);
        assert_eq!(read(&written), Ok(resolved.resolved()));
    }

    #[test]
    fn another_argo_cd_brings_its_own_tools() {
        let before = read(r#"{"argocd": "3.4"}"#).expect("settings").resolved();
        let text = serde_json::to_string(&before).expect("JSON").replace("3.4", "3.5");
        let after = read(&text).expect("settings").without_those_of(&before).resolved();
        assert_eq!(after, read(r#"{"argocd": "3.5"}"#).expect("settings").resolved());
        let by_hand = read(r#"{"argocd": "3.5", "helm": "4.2.3"}"#).expect("settings");
        assert_eq!(by_hand.without_those_of(&before), by_hand);
    }

    #[test]
    fn words_change_one_place() {
        let rows = [
            ("helm=4.3.1", r#"{"argocd":"3.4","helm":"4.3.1"}"#),
            ("argocd=3.5", r#"{"argocd":"3.5"}"#),
            ("env/prod:argocd=3.5", r#"{"argocd":"3.4","helm":"3.19.2","env/prod":{"argocd":"3.5"}}"#),
        ];
        for (word, expected) in rows {
            let settings = read(r#"{"argocd": "3.4", "helm": "3.19.2"}"#).expect("settings");
            assert_eq!(settings.with(word), read(expected), "{word}");
        }
        let wrong = ToolSettings::default().with("4.3.1").expect_err("no word");
        assert!(wrong.starts_with("`4.3.1` is not TOOL=VERSION, such as helm="), "{wrong}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let rows = [
            (
                r#"{"helm": "3.18.0"}"#,
                "charts can't render as Helm 3.18.0, which reads numbers as no other version does: take 3.18.1",
            ),
            (r#"{"argocd": "2.14"}"#, "the tools of Argo CD 2.14 are not known: the nearest that is known is 3.0"),
            (r#"{"jsonnet": "0.19.1"}"#, "Jsonnet can't be evaluated as 0.19.1; known are 0.20.0, 0.21.0, 0.22.0"),
            (r#"{"env/*": {"helmm": "4.2.3"}}"#, "unknown tool `helmm`: use one of argocd, helm, kustomize, jsonnet"),
            (r#"{"env/[": {}}"#, "`env/[` is not a valid pattern"),
        ];
        for (json, expected) in rows {
            let error = read(json).expect_err(json);
            assert!(error.starts_with(expected), "{json}: {error}");
        }
    }
}
