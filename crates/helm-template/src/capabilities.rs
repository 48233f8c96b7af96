//! `.Capabilities`: what the cluster is assumed to be able to do.
#![expect(clippy::indexing_slicing, reason = "a version has at least one number")]

use std::rc::Rc;
use std::sync::LazyLock;

use go_template::{Element, Field, Functions, List, ListType, Methods, Stringer, Struct, StructType, Text, Value};
use go_yaml::quote;

use super::error::ErrorKind;
use crate::version::Helm;
use crate::version::differences::{GoTypes, KubeVersions, Switches};
use go_std::semver::{Version, VersionError};

mod api_versions;

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

    /// Reads the text of `--kube-version`: at least two numbers, the first without leading zeros, then anything; before
    /// 3.19 a semantic version.
    ///
    /// Reference: helm 3.18.4, 3.19.4, 4.2.3 `ParseKubeVersion`, k8s.io/apimachinery `ParseGeneric`.
    pub(crate) fn parse(text: &str, how: KubeVersions) -> Result<Self, ErrorKind> {
        match how {
            KubeVersions::PreRelease => Self::semantic(text),
            KubeVersions::Numbers => Self::generic(text).map(|version| Self { full: version.plain.clone(), ..version }),
            KubeVersions::Suffix => Self::generic(text),
        }
    }

    /// A semantic version, of which parts may be missing.
    fn semantic(text: &str) -> Result<Self, ErrorKind> {
        let wrong = |error: VersionError| ErrorKind::KubeVersion { text: text.to_owned(), reason: error.to_string() };
        let version = Version::new(text).map_err(wrong)?;
        let full = format!("v{version}");
        Ok(Self { full: full.clone(), plain: full, major: version.major.to_string(), minor: version.minor.to_string() })
    }

    /// Numbers with points between them, then anything.
    fn generic(text: &str) -> Result<Self, ErrorKind> {
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

    fn value(&self, helm: Helm) -> Value {
        let Self { full, plain, major, minor } = self;
        let Switches { go_types, kube_versions, .. } = helm.switches();
        let (ty, fields): (_, &[&String]) = match (go_types, kube_versions) {
            (GoTypes::Structs, _) => (&KUBE_VERSION_3, &[full, major, minor]),
            (GoTypes::Maps, KubeVersions::Suffix) => (&KUBE_VERSION, &[full, plain, major, minor]),
            (GoTypes::Maps, _) => (&KUBE_VERSION_4_0, &[full, major, minor]),
        };
        Struct::new(ty, fields.iter().map(|text| text.as_str().into()).collect()).into()
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

static CAPABILITIES: StructType = capabilities_type("common.Capabilities", "*common.Capabilities");
static CAPABILITIES_3: StructType = capabilities_type("chartutil.Capabilities", "*chartutil.Capabilities");

const CAPABILITIES_FIELDS: [Field; 3] =
    [Field::plain("KubeVersion"), Field::plain("APIVersions"), Field::plain("HelmVersion")];

const fn capabilities_type(name: &'static str, pointer: &'static str) -> StructType {
    StructType {
        name,
        pointer: Some(pointer),
        fields: &CAPABILITIES_FIELDS,
        methods: Methods::of(|| &CAPABILITIES_METHODS),
        ..StructType::PLAIN
    }
}

static CAPABILITIES_METHODS: LazyLock<Functions> = LazyLock::new(capabilities_methods);

fn capabilities_methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("Copy", copy);
    methods
}

/// Another pointer, which `eq` distinguishes from the first.
fn copy(capabilities: Value) -> Value {
    match capabilities {
        Value::Struct(fields) => Struct::new(fields.ty(), fields.fields().map(|(_, value)| value).collect()).into(),
        other => other,
    }
}

static KUBE_VERSION: StructType = kube_version_type(
    "common.KubeVersion",
    &[Field::plain("Version"), Field::hidden("normalizedVersion"), Field::plain("Major"), Field::plain("Minor")],
);
static KUBE_VERSION_4_0: StructType = kube_version_type("common.KubeVersion", &KUBE_VERSION_FIELDS);
static KUBE_VERSION_3: StructType = kube_version_type("chartutil.KubeVersion", &KUBE_VERSION_FIELDS);

const KUBE_VERSION_FIELDS: [Field; 3] = [Field::plain("Version"), Field::plain("Major"), Field::plain("Minor")];

const fn kube_version_type(name: &'static str, fields: &'static [Field]) -> StructType {
    StructType {
        name,
        fields,
        methods: Methods::of(|| &KUBE_VERSION_METHODS),
        has_pointer_methods: true,
        string: Some(Stringer { run: kube_version_text, on_pointer: true }),
        ..StructType::PLAIN
    }
}

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

static VERSION_SET: ListType = version_set_type("common.VersionSet");
static VERSION_SET_3: ListType = version_set_type("chartutil.VersionSet");

const fn version_set_type(name: &'static str) -> ListType {
    ListType { name, element: Element::String, methods: Methods::of(|| &VERSION_SET_METHODS) }
}

static VERSION_SET_METHODS: LazyLock<Functions> = LazyLock::new(version_set_methods);

fn version_set_methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("Has", |versions: Value, version: Text| {
        versions.as_list().is_some_and(|list| list.iter().any(|known| known.as_text() == Some(&version)))
    });
    methods
}

static BUILD_INFO: StructType = StructType { name: "version.BuildInfo", fields: &BUILD_FIELDS, ..StructType::PLAIN };
static BUILD_INFO_3: StructType = StructType { fields: BUILD_FIELDS.split_at(BUILD_FIELDS.len() - 1).0, ..BUILD_INFO };

/// Helm 3 lacks the last one.
const BUILD_FIELDS: [Field; 5] = [
    Field { name: "Version", json: "version", omit_empty: true, held: None },
    Field { name: "GitCommit", json: "git_commit", omit_empty: true, held: None },
    Field { name: "GitTreeState", json: "git_tree_state", omit_empty: true, held: None },
    Field { name: "GoVersion", json: "go_version", omit_empty: true, held: None },
    Field { name: "KubeClientVersion", json: "kube_client_version", omit_empty: false, held: None },
];

fn field(version: &Struct, name: &str) -> Text {
    version.field(name).and_then(|(_, value)| value.as_text().cloned()).unwrap_or_default()
}

/// The object of a Helm and a cluster; `more` are the versions of `--api-versions`.
pub(super) fn capabilities(helm: Helm, version: &KubeVersion, more: &[String]) -> Value {
    let known = api_versions::known(helm.kubernetes_minor()).map(Value::from);
    let versions = known.chain(more.iter().map(|version| Value::from(version.as_str()))).collect();
    let (release, go) = (format!("v{helm}"), format!("go{}", helm.go()));
    let kubernetes = format!("v1.{}", helm.kubernetes_minor());
    let build = [&release, helm.commit(), "clean", &go, &kubernetes].map(Value::from);
    let (capabilities, set, info, build) = match helm.switches().go_types {
        GoTypes::Structs => (&CAPABILITIES_3, &VERSION_SET_3, &BUILD_INFO_3, build.into_iter().take(4).collect()),
        GoTypes::Maps => (&CAPABILITIES, &VERSION_SET, &BUILD_INFO, build.into()),
    };
    let fields = vec![version.value(helm), List::of(set, versions).into(), Struct::new(info, build).into()];
    Value::Struct(Rc::new(Struct::new(capabilities, fields)))
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
            match (KubeVersion::parse(text, KubeVersions::Suffix), expected) {
                (Ok(version), Ok(expected)) => assert_eq!((&*version.full, &*version.plain), expected, "{text}"),
                (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
