//! What an Application hands to Helm: its options, resolved and checked.
//!
//! The native engine, the official tool and the recorded command all start from one [`Release`], so they cannot differ
//! in what they render.

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{self as yaml, Value};

use super::failure::Failure;
use super::value_files::{Place, ValueFiles};
use crate::argo::{Application, Helm, Profile};

/// Everything that is passed to `helm template`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Release {
    /// The directory of the chart.
    pub chart: RepoPath,
    /// `--name-template`; without it Helm calls the release `release-name`.
    pub name: Option<String>,
    /// `--namespace`
    pub namespace: Option<String>,
    /// `--kube-version`, numbers and dots only.
    pub kube_version: Option<String>,
    /// `--set`, each `name=value`, escaped as Argo CD escapes it.
    pub set: Vec<String>,
    /// `--set-string`, likewise.
    pub set_string: Vec<String>,
    /// `--set-file`
    pub set_file: Vec<FileSetting>,
    /// `--values`, in order.
    pub value_files: Vec<RepoPath>,
    /// The last values file, which is in the Application itself.
    pub values: Option<Values>,
    /// `--api-versions`, in order.
    pub api_versions: Vec<String>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--skip-schema-validation`
    pub skip_schema_validation: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
}

/// One value that is the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileSetting {
    /// The path of the value, in the syntax of `--set`.
    pub name: String,
    /// The file.
    pub file: RepoPath,
}

impl FileSetting {
    /// The argument of `--set-file` when the file is found at `path`.
    pub(super) fn argument(&self, path: &str) -> String {
        format!("{}={}", self.name, escape_commas(path))
    }
}

/// Values that are in the Application.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    /// As the text of a values file.
    pub text: String,
    /// The values as an object; always a mapping.
    pub object: Value,
}

impl Values {
    fn from_object(object: &Value) -> Self {
        Self { text: yaml::json::encode(object, yaml::json::Options::default()), object: object.clone() }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let object = match yaml::sigs::unmarshal(text.as_bytes(), &yaml::Limits::default()) {
            Ok(Value::Null) => Value::Mapping(yaml::Mapping::new()),
            Ok(object @ Value::Mapping(_)) => object,
            Ok(_) => return Err("it is not a mapping".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self { text: text.to_owned(), object })
    }
}

impl Release {
    /// Resolves the options of a source; `at` tells where each of them is. With it come warnings.
    ///
    /// The release is called `releaseName`; without it `argocd`, and what a rule hydrates, takes the Application's name, and
    /// `proposal` none, with a warning. Its namespace is `helm.namespace`, else the destination's. Of parameters with one name the last
    /// counts.
    pub(super) fn new(
        view: &View<'_>,
        profile: Profile,
        application: &Application,
        chart: &RepoPath,
        helm: &Helm,
        at: Place<'_>,
    ) -> Result<(Self, Vec<Diagnostic>), Failure> {
        let mut warnings = Vec::new();
        let name = match (&helm.release_name, application.profile(profile)) {
            (Some(name), _) => Some(name.clone()),
            (None, Profile::Argocd) => Some(application.name.to_string()),
            (None, Profile::Proposal) => {
                warnings.push(application.unnamed_release(at(&["helm"])));
                None
            }
        };
        let of_cluster = || cluster_version(application);
        let kube_version = match helm.kube_version.as_deref().map(kube_version) {
            None => of_cluster()?,
            Some(Some(version)) => Some(version),
            Some(None) => {
                let text = "`helm.kubeVersion` is not a valid version of Kubernetes";
                return Err(Failure::mistake(Diagnostic::error(text).at(at(&["helm", "kubeVersion"]))));
            }
        };
        if let Some(version) = helm.version.as_deref().filter(|version| !["", "v3", "v4"].contains(version)) {
            let text = format!("helm version `{version}` is not supported");
            let mistake = Diagnostic::error(text).at(at(&["helm", "version"]));
            return Err(Failure::mistake(
                mistake.hint("remove `version`: the setting `tools` says which Helm charts are rendered as"),
            ));
        }
        let files = ValueFiles { view, application, chart };
        let mut set_file = Vec::new();
        for (index, parameter) in helm.file_parameters.iter().enumerate() {
            let span = at(&["helm", "fileParameters", &index.to_string(), "path"]);
            if !is_one_key(&parameter.name) {
                // What is behind it would be the path of another file, on the machine that renders.
                let text =
                    format!("`{}` cannot be the name of a file parameter: it contains `=` or `,`", parameter.name);
                let mistake = Diagnostic::error(text).at(at(&["helm", "fileParameters", &index.to_string(), "name"]));
                return Err(Failure::mistake(mistake.hint("write `\\,` for a comma that belongs to the name")));
            }
            let file = files.parameter(&parameter.path, span)?;
            set_file.push(FileSetting { name: parameter.name.clone(), file });
        }
        let last = |file: &FileSetting, rest: &[FileSetting]| rest.iter().all(|other| other.name != file.name);
        let set_file = keep_last(set_file, last);
        let values = match (&helm.values_object, &helm.values) {
            (Some(object), _) => Some(Values::from_object(object)),
            (None, Some(text)) if !text.is_empty() => Some(Values::from_text(text).map_err(|reason| {
                let text = format!("`helm.values` cannot be read: {reason}");
                Failure::mistake(Diagnostic::error(text).at(at(&["helm", "values"])))
            })?),
            (None, _) => None,
        };
        let release = Self {
            chart: chart.clone(),
            name,
            namespace: helm.namespace.clone().or_else(|| application.destination_namespace.clone()),
            kube_version,
            set: settings(helm, false),
            set_string: settings(helm, true),
            set_file,
            value_files: files.all(helm, at)?,
            values,
            api_versions: if helm.api_versions.is_empty() {
                application.api_versions().to_vec()
            } else {
                helm.api_versions.clone()
            },
            include_crds: !helm.skip_crds,
            skip_schema_validation: helm.skip_schema_validation,
            skip_tests: helm.skip_tests,
        };
        Ok((release, warnings))
    }
}

/// The version of the cluster that an Application deploys to, where a list says it.
pub(super) fn cluster_version(application: &Application) -> Result<Option<String>, Failure> {
    let Some(text) = application.kube_version() else { return Ok(None) };
    match kube_version(text) {
        Some(version) => Ok(Some(version)),
        None => {
            let text =
                format!("`{text}`, the `kubeVersion` of the cluster in its list, is not a version of Kubernetes");
            let hint = "correct the file that the setting `clusters` names";
            Err(Failure::mistake(Diagnostic::error(text).at(application.places.name.clone()).hint(hint)))
        }
    }
}

/// The parameters that keep (`force_string`) or do not keep their type, as arguments, in the order of the list.
///
/// Argo CD keeps them in maps by name, so of two with one name the last is used, and their order is random there.
fn settings(helm: &Helm, force_string: bool) -> Vec<String> {
    let parameters = helm.parameters.iter().filter(|parameter| parameter.force_string == force_string);
    let parameters = keep_last(parameters.collect(), |one, rest| rest.iter().all(|other| other.name != one.name));
    parameters.iter().map(|parameter| format!("{}={}", parameter.name, escape_commas(&parameter.value))).collect()
}

/// The items that `is_last` says have no later one of their name.
fn keep_last<T>(items: Vec<T>, is_last: impl Fn(&T, &[T]) -> bool) -> Vec<T> {
    let keep: Vec<bool> = items
        .iter()
        .enumerate()
        .map(|(index, item)| is_last(item, items.get(index + 1..).unwrap_or_default()))
        .collect();
    items.into_iter().zip(keep).filter_map(|(item, keep)| keep.then_some(item)).collect()
}

/// Whether `--set-file` reads the name of a parameter as one key.
fn is_one_key(name: &str) -> bool {
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '=' | ',' => return false,
            _ => {}
        }
    }
    true
}

/// Escapes each comma that has no backslash before it, unless the whole is in braces: a list for Helm.
///
/// Reference: Argo CD 3 util/helm `cleanSetParameters`.
fn escape_commas(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    let mut escaped = String::with_capacity(value.len());
    let mut before = None;
    for c in value.chars() {
        if c == ',' && before != Some('\\') {
            escaped.push('\\');
        }
        escaped.push(c);
        before = Some(c);
    }
    escaped
}

/// The numbers of a version: `v1.30.11+IKS` is `1.30.11`. None for what has not two numbers at least.
///
/// Reference: k8s.io/apimachinery 0.36 util/version `ParseGeneric`, as Argo CD 3 `parseKubeVersion` uses it.
pub(super) fn kube_version(text: &str) -> Option<String> {
    let text = text.trim_start();
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let mut numbers: Vec<&str> = text.get(..end)?.split('.').collect();
    // What follows the last number may start with a dot.
    while numbers.last().is_some_and(|number| number.is_empty()) {
        numbers.pop();
    }
    let well_formed = numbers.iter().all(|number| !number.is_empty() && (*number == "0" || !number.starts_with('0')));
    (numbers.len() >= 2 && well_formed).then(|| numbers.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four: argo-cd util/helm/helm_test.go `TestSetFileParameterEscaping` and neighbours.
    #[test]
    fn escaping() {
        let rows = [
            ("not, clean", "not\\, clean"),
            ("a\\,b,c", "a\\,b\\,c"),
            (",,,,,\\,", "\\,\\,\\,\\,\\,\\,"),
            ("\\,,\\\\,,", "\\,\\,\\\\,\\,"),
            ("{a,b}", "{a,b}"),
            ("{a},b", "{a}\\,b"),
            ("", ""),
        ];
        for (value, expected) in rows {
            assert_eq!(escape_commas(value), expected, "{value:?}");
        }
    }

    #[test]
    fn kube_versions() {
        let rows = [
            ("v1.30.11+IKS", Some("1.30.11")),
            ("1.2.3", Some("1.2.3")),
            ("1.30", Some("1.30")),
            (" v1.30", Some("1.30")),
            ("1.30.x", Some("1.30")),
            ("1", None),
            ("v1", None),
            ("1.030", None),
            ("latest", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(kube_version(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_parameter_of_a_name_holds() {
        let parameter = |name: &str, value: &str, force_string| crate::argo::HelmParameter {
            name: name.to_owned(),
            value: value.to_owned(),
            force_string,
        };
        let helm = Helm {
            parameters: vec![
                parameter("b", "1", false),
                parameter("a", "x,y", false),
                parameter("b", "2", false),
                parameter("b", "3", true),
            ],
            ..Helm::default()
        };
        assert_eq!(settings(&helm, false), ["a=x\\,y", "b=2"]);
        assert_eq!(settings(&helm, true), ["b=3"]);
    }
}
