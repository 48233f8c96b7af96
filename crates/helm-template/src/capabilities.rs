//! `.Capabilities`: what the cluster is assumed to be able to do.
#![expect(clippy::indexing_slicing, reason = "a version has at least one number")]

use std::rc::Rc;
use std::sync::LazyLock;

use go_template::{Element, Field, Functions, List, ListType, Methods, Stringer, Struct, StructType, Text, Value};
use go_yaml::quote;

use super::error::ErrorKind;
use crate::version::Helm;

/// The group versions that Helm's Kubernetes client knows, in its order.
///
/// Reference: helm 4.2.3 with client-go 0.36. Case `capabilities-default`.
const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

/// The version of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    /// With all suffixes: `v1.29.3-gke.1`.
    pub full: String,
    /// The numbers alone: `v1.29.3`. What ranges are compared with.
    pub plain: String,
    major: String,
    minor: String,
}

impl KubeVersion {
    /// The version of a Helm without a cluster.
    pub(crate) fn of(helm: Helm) -> Self {
        let minor = helm.kubernetes_minor();
        let full = format!("v1.{minor}.0");
        Self { full: full.clone(), plain: full, major: "1".into(), minor: minor.to_string() }
    }

    /// Reads the text of `--kube-version`: at least two numbers, the first without leading zeros, then anything.
    ///
    /// Reference: helm 4.2.3 `ParseKubeVersion`, k8s.io/apimachinery `ParseGeneric`.
    pub(crate) fn parse(text: &str) -> Result<Self, ErrorKind> {
        let wrong = |reason: String| ErrorKind::KubeVersion { text: text.to_owned(), reason };
        let trimmed = text.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        let numbers = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let mut end = 0;
        loop {
            let part = numbers.get(end..).unwrap_or_default();
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                // A point that no number follows belongs to the suffix.
                end = end.saturating_sub(1);
                break;
            }
            end += digits;
            if !numbers.get(end..).is_some_and(|rest| rest.starts_with('.')) {
                break;
            }
            end += 1;
        }
        let numbers = numbers.get(..end).unwrap_or_default();
        if numbers.is_empty() {
            return Err(wrong(format!("could not parse {} as version", quote(text))));
        }
        let components: Vec<&str> = numbers.split('.').collect();
        let [major, minor, ..] = components.as_slice() else {
            return Err(wrong(format!("illegal version string {}", quote(text))));
        };
        if major.len() > 1 && major.starts_with('0') {
            let reason = format!("illegal zero-prefixed version component {} in {}", quote(major), quote(text));
            return Err(wrong(reason));
        }
        let mut plain = Vec::new();
        for component in &components {
            let number: u64 = component.parse().map_err(|_| wrong(out_of_range(component, text)))?;
            plain.push(number.to_string());
        }
        let (major, minor) = (plain[0].clone(), plain.get(1).cloned().unwrap_or_else(|| (*minor).to_owned()));
        let full = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        Ok(Self { full, plain: format!("v{}", plain.join(".")), major, minor })
    }

    fn value(&self) -> Value {
        let fields = [&self.full, &self.plain, &self.major, &self.minor].map(|text| text.as_str().into());
        Struct::new(&KUBE_VERSION, fields.into()).into()
    }
}

/// What `strconv.ParseUint` says of a component of digits, as apimachinery's version package reports it.
fn out_of_range(component: &str, version: &str) -> String {
    format!(
        "illegal non-numeric version component {} in {}: strconv.ParseUint: parsing {}: value out of range",
        quote(component),
        quote(version),
        quote(component)
    )
}

static CAPABILITIES: StructType = StructType {
    name: "common.Capabilities",
    pointer: Some("*common.Capabilities"),
    fields: &[Field::plain("KubeVersion"), Field::plain("APIVersions"), Field::plain("HelmVersion")],
    methods: Methods::of(|| &CAPABILITIES_METHODS),
    has_pointer_methods: false,
    string: None,
    json: None,
    is_same: None,
};

static CAPABILITIES_METHODS: LazyLock<Functions> = LazyLock::new(capabilities_methods);

fn capabilities_methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("Copy", copy);
    methods
}

/// Another pointer, which `eq` distinguishes from the first.
fn copy(capabilities: Value) -> Value {
    match capabilities {
        Value::Struct(fields) => Struct::new(&CAPABILITIES, fields.fields().map(|(_, value)| value).collect()).into(),
        other => other,
    }
}

static KUBE_VERSION: StructType = StructType {
    name: "common.KubeVersion",
    pointer: None,
    fields: &[
        Field::plain("Version"),
        Field::hidden("normalizedVersion"),
        Field::plain("Major"),
        Field::plain("Minor"),
    ],
    methods: Methods::of(|| &KUBE_VERSION_METHODS),
    has_pointer_methods: true,
    string: Some(Stringer { run: kube_version_text, on_pointer: true }),
    json: None,
    is_same: None,
};

static KUBE_VERSION_METHODS: LazyLock<Functions> = LazyLock::new(kube_version_methods);

fn kube_version_methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("GitVersion", |version: Value| text_by(&version, |version| field(version, "Version")));
    methods.add("String", |version: Value| text_by(&version, kube_version_text));
    methods
}

fn text_by(value: &Value, text: impl Fn(&Struct) -> Text) -> Text {
    match value {
        Value::Struct(value) => text(value),
        _ => Text::default(),
    }
}

/// The numbers alone; a copy that `deepCopy` made has only the version as a whole.
fn kube_version_text(version: &Struct) -> Text {
    let normalized = field(version, "normalizedVersion");
    if normalized.is_empty() { field(version, "Version") } else { normalized }
}

static VERSION_SET: ListType =
    ListType { name: "common.VersionSet", element: Element::String, methods: Methods::of(|| &VERSION_SET_METHODS) };

static VERSION_SET_METHODS: LazyLock<Functions> = LazyLock::new(version_set_methods);

fn version_set_methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("Has", |versions: Value, version: Text| {
        versions.as_list().is_some_and(|list| list.iter().any(|known| known.as_text() == Some(&version)))
    });
    methods
}

static BUILD_INFO: StructType = StructType {
    name: "version.BuildInfo",
    pointer: None,
    fields: &[
        Field { name: "Version", json: "version", omit_empty: true, held: None },
        Field { name: "GitCommit", json: "git_commit", omit_empty: true, held: None },
        Field { name: "GitTreeState", json: "git_tree_state", omit_empty: true, held: None },
        Field { name: "GoVersion", json: "go_version", omit_empty: true, held: None },
        Field { name: "KubeClientVersion", json: "kube_client_version", omit_empty: false, held: None },
    ],
    methods: Methods::NONE,
    has_pointer_methods: false,
    string: None,
    json: None,
    is_same: None,
};

fn field(version: &Struct, name: &str) -> Text {
    version.field(name).and_then(|(_, value)| value.as_text().cloned()).unwrap_or_default()
}

/// The object of a Helm and a cluster; `more` are the versions of `--api-versions`.
pub(super) fn capabilities(helm: Helm, version: &KubeVersion, more: &[String]) -> Value {
    let known = API_VERSIONS.iter().copied().chain(more.iter().map(String::as_str));
    let versions = List::of(&VERSION_SET, known.map(Value::from).collect());
    let (release, go) = (format!("v{helm}"), format!("go{}", helm.go()));
    let kubernetes = format!("v1.{}", helm.kubernetes_minor());
    let build = [&release, helm.commit(), "clean", &go, &kubernetes].map(Value::from);
    let fields = vec![version.value(), versions.into(), Struct::new(&BUILD_INFO, build.into()).into()];
    Value::Struct(Rc::new(Struct::new(&CAPABILITIES, fields)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kube_versions() {
        let rows = [
            ("1.29", Ok(("v1.29", "v1.29"))),
            ("v1.29.3-gke.1", Ok(("v1.29.3-gke.1", "v1.29.3"))),
            ("1.29.", Ok(("v1.29.", "v1.29"))),
            ("1.029.3+x", Ok(("v1.029.3+x", "v1.29.3"))),
            ("1", Err("invalid kube version '1': illegal version string \"1\"")),
            ("x", Err("invalid kube version 'x': could not parse \"x\" as version")),
            ("01.2", Err("invalid kube version '01.2': illegal zero-prefixed version component \"01\" in \"01.2\"")),
        ];
        for (text, expected) in rows {
            match (KubeVersion::parse(text), expected) {
                (Ok(version), Ok(expected)) => assert_eq!((&*version.full, &*version.plain), expected, "{text}"),
                (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
