//! The setting `kustomize.buildOptions`: options of `kustomize build` for all kustomizations, as Argo CD's `argocd-cm` has them.

use kustomize_build::{LoadRestrictor, Options, Reorder};
use serde::{Deserialize, Serialize};

use super::field::one_or_many;

/// What is said of Kustomize.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct KustomizeSettings {
    /// Options of `kustomize build`.
    #[serde(skip_serializing_if = "BuildOptions::is_empty")]
    pub build_options: BuildOptions,
    /// The names of plugins that are `kustomize build` and nothing else.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<String>,
}

/// Options of `kustomize build`, as they are written. They are known to be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub struct BuildOptions(String);

/// The options that have a value.
const WITH_VALUE: [&str; 2] = ["--load-restrictor", "--reorder"];

/// The options without one. All but the last change nothing here: charts are rendered without being asked for, and no plugin
/// and no function runs.
const WITHOUT_VALUE: [&str; 8] = [
    "--enable-helm",
    "--enable-alpha-plugins",
    "--enable-exec",
    "--enable-star",
    "--network",
    "--as-current-user",
    "--helm-debug",
    "--enable-managedby-label",
];

impl BuildOptions {
    /// Whether none are written.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a build may differ by them.
    pub(crate) fn has_effect(&self) -> bool {
        !self.words().is_empty()
    }

    /// Whether a kustomization may name files of the whole repository.
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.parsed().load_restrictor == LoadRestrictor::None
    }

    /// Whether that is all by which a build may differ: whatever builds without them builds the same with them.
    pub(crate) fn is_only_unrestricted(&self) -> bool {
        self.is_unrestricted() && self.words().len() == 2
    }

    /// The options, as the engine takes them.
    pub(crate) fn parsed(&self) -> Options {
        Options::parse(self.0.split_whitespace()).map(|(options, _)| options).unwrap_or_default()
    }

    /// Those by which a build may differ, as words of a command.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let options = self.parsed();
        let mut words = Vec::new();
        if options.load_restrictor == LoadRestrictor::None {
            words.extend(["--load-restrictor", "LoadRestrictionsNone"]);
        }
        if options.reorder == Reorder::None {
            words.extend(["--reorder", "none"]);
        }
        if options.managed_by_label {
            words.push("--enable-managedby-label");
        }
        words
    }
}

impl TryFrom<String> for BuildOptions {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            if WITH_VALUE.contains(&flag) {
                if value.is_none() && words.next().is_none() {
                    return Err(format!("kustomize.buildOptions: `{flag}` needs a value"));
                }
            } else if !WITHOUT_VALUE.contains(&flag) {
                let known = [&WITH_VALUE[..], &WITHOUT_VALUE[..]].concat().join(", ");
                return Err(format!("kustomize.buildOptions: `{flag}` is not supported; supported are {known}"));
            }
        }
        match Options::parse(text.split_whitespace()) {
            Ok(_) => Ok(Self(text.split_whitespace().collect::<Vec<_>>().join(" "))),
            Err(error) => Err(format!("kustomize.buildOptions: {error}")),
        }
    }
}

impl From<BuildOptions> for String {
    fn from(options: BuildOptions) -> Self {
        options.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_may_differ_by() {
        let none = "--load-restrictor LoadRestrictionsNone";
        let rows = [
            ("", ""),
            ("--enable-helm --enable-alpha-plugins --enable-exec", ""),
            ("--load-restrictor=LoadRestrictionsRootOnly", ""),
            ("--load-restrictor LoadRestrictionsNone", none),
            ("--enable-helm  --load-restrictor=LoadRestrictionsNone", none),
            ("--reorder none --enable-managedby-label", "--reorder none --enable-managedby-label"),
        ];
        for (text, expected) in rows {
            let options = BuildOptions::try_from(text.to_owned()).expect(text);
            assert_eq!(options.words().join(" "), expected, "{text}");
            assert_eq!(options.is_unrestricted(), expected == none, "{text}");
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let rows = [
            (
                "--helm-command /tmp/x",
                "`--helm-command` is not supported; supported are --load-restrictor, --reorder, ",
            ),
            ("apps", "`apps` is not supported"),
            ("--load-restrictor", "`--load-restrictor` needs a value"),
            ("--load-restrictor all", "illegal flag value --load-restrictor all"),
        ];
        for (text, expected) in rows {
            let error = BuildOptions::try_from(text.to_owned()).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
