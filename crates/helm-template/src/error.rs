//! Why a chart does not render.

use std::fmt;

use dry_files::diag::{Diagnostic, Refusal, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::ViewError;
use go_template::{Limit, RefusedCall};
use go_yaml::quote;

use super::archive::ArchiveError;
use super::metadata::Invalid;
use super::set::SetError;
use super::{RELEASE_NAME_BYTES_MAX, RELEASE_NAME_REGEX, ignore};

/// Why a chart does not render: the kind, the place in the repository, and what to do about it.
///
/// Displays as the text that Helm itself prints behind `Error: `, as far as Helm has the error.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    span: Option<Span>,
    label: String,
    hint: Option<String>,
}

/// What is wrong. The messages are Helm's, those of limits and refusals excepted.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ErrorKind {
    #[error(transparent)]
    View(#[from] ViewError),

    #[error("starting a thread to render in: {0}")]
    Thread(String),

    // Options.
    #[error(
        "release name check failed: release name {}: invalid release name, must match regex {RELEASE_NAME_REGEX} and \
         the length must not be longer than {RELEASE_NAME_BYTES_MAX}", quote(.0)
    )]
    ReleaseName(String),
    #[error("invalid kube version '{text}': {reason}")]
    KubeVersion { text: String, reason: String },

    // Loading.
    #[error("path {} not found", quote(.0.as_str()))]
    PathNotFound(RepoPath),
    #[error("unable to detect chart at {0}/Chart.yaml: open {0}/Chart.yaml: no such file or directory")]
    NoChart(RepoPath),
    #[error("Chart.yaml file is missing")]
    NoChartFile,
    #[error("unsupported chart version")]
    UnsupportedVersion,
    #[error("invalid chart apiVersion")]
    InvalidApiVersion,
    #[error("cannot load {name}: {reason}")]
    File { name: String, reason: String },
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Ignore(#[from] ignore::Mistake),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("chart file {} is larger than the maximum file size {limit}", quote(.name))]
    FileTooLarge { name: String, limit: u64 },
    #[error("the chart has more than {0} files")]
    TooManyFiles(usize),
    #[error("the files of the chart take more than {0} bytes")]
    TooLarge(u64),
    #[error("directories and charts are nested more than {0} deep")]
    TooDeep(usize),
    #[error("error unpacking subchart tar in {chart}: expected {entry}, got {found}")]
    ArchiveDirectory { chart: String, entry: String, found: String },
    #[error("error unpacking subchart {entry} in {chart}: {kind}")]
    Subchart { entry: String, chart: String, kind: Box<ErrorKind> },
    #[error("{0} charts are not installable")]
    NotInstallable(String),
    #[error(
        "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch \
         missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}", .0.join(", ")
    )]
    MissingDependencies(Vec<String>),
    #[error("can't get a valid version for dependency {name}: {found} at {path} is not in the range {}", quote(.range))]
    DependencyVersion { name: String, path: RepoPath, found: String, range: String },
    #[error("{0}")]
    Input(String),
    #[error("the dependency {name} at {path} depends on {outer} again")]
    DependencyCycle { name: String, path: RepoPath, outer: String },

    // Values.
    #[error("failed to parse {path}: {reason}")]
    ValuesFile { path: String, reason: String },
    #[error("failed parsing --{flag} data: {error}")]
    Set { flag: &'static str, error: SetError },
    #[error("failed parsing --set-json data {0}")]
    SetJson(String),
    #[error("failed parsing --set-json data JSON: {0}")]
    SetJsonObject(String),
    #[error("chart dependencies processing failed: {0}")]
    Dependencies(String),
    #[error("{0}")]
    Values(String),
    #[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
    Schema(String),

    // Rendering.
    #[error("chart requires kubeVersion: {range} which is incompatible with Kubernetes {version}")]
    IncompatibleCluster { range: String, version: String },
    #[error("{0}")]
    Template(String),
    #[error("{0}")]
    Refused(Box<RefusedCall>),
    #[error("YAML parse error on {template}: {reason}")]
    Manifest { template: String, reason: String },
    #[error("could not find template {0} in chart")]
    NoSuchTemplate(String),
}

impl ErrorKind {
    /// An error without a place.
    pub(crate) fn error(self) -> Error {
        Error(Box::new(Inner { kind: self, span: None, label: String::new(), hint: None }))
    }

    /// The error at a place.
    pub(crate) fn at(self, span: Span) -> Error {
        self.error().at(span)
    }
}

impl<T: Into<ErrorKind>> From<T> for Error {
    fn from(kind: T) -> Self {
        kind.into().error()
    }
}

impl From<Limit> for ErrorKind {
    fn from(limit: Limit) -> Self {
        Self::Template(limit.to_string())
    }
}

impl Error {
    /// Sets the place, unless the error has one already.
    pub fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Sets the place to that of a dependency on the chart at `dir`: where it has none, or names a directory without a chart.
    pub(crate) fn at_dependency(mut self, dir: &RepoPath, span: Span) -> Self {
        if matches!(&self.0.kind, ErrorKind::NoChart(missing) if missing == dir) {
            self.0.span = None;
        }
        self.at(span)
    }

    /// Puts a word on the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = label.into();
        self
    }

    /// Says how to fix the error.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Turns the error into one of a chart in `charts/`.
    pub fn in_subchart(mut self, entry: &str, chart: &str) -> Self {
        let kind = Box::new(std::mem::replace(&mut self.0.kind, ErrorKind::NoChartFile));
        self.0.kind = ErrorKind::Subchart { entry: entry.to_owned(), chart: chart.to_owned(), kind };
        self
    }

    /// Where.
    pub fn span(&self) -> Option<&Span> {
        self.0.span.as_ref()
    }

    /// Whether the repository could not be read, so that this says nothing about the chart.
    pub fn is_backend(&self) -> bool {
        let mut kind = &self.0.kind;
        while let ErrorKind::Subchart { kind: inner, .. } = kind {
            kind = inner;
        }
        matches!(kind, ErrorKind::View(ViewError::Backend { .. }) | ErrorKind::Thread(_))
    }

    /// Whether the chart needs a function whose results change from run to run.
    pub fn is_refusal(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Refused(_))
    }

    /// The call that was refused.
    pub(super) fn refused(&self) -> Option<&RefusedCall> {
        match &self.0.kind {
            ErrorKind::Refused(call) => Some(call),
            _ => None,
        }
    }

    /// Whether this says the same of the same place as another error.
    pub(super) fn is_alike(&self, other: &Error) -> bool {
        self.0.hint == other.0.hint && self.helm_text() == other.helm_text()
    }

    /// The text of `helm template` behind `Error: `: with the advice that it gives when rendering itself failed.
    pub fn helm_text(&self) -> String {
        let advice = match &self.0.kind {
            ErrorKind::IncompatibleCluster { .. } | ErrorKind::Template(_) | ErrorKind::Manifest { .. } => {
                "\n\nUse --debug flag to render out invalid YAML"
            }
            _ => "",
        };
        // Helm names the places of templates in its messages, columns being 0-based.
        let place =
            self.refused().and_then(|call| call.places.last()).map(|place| format!("{place}: ")).unwrap_or_default();
        format!("{place}{self}{advice}")
    }

    fn refusal(&self) -> Option<Refusal> {
        let kind = match &self.0.kind {
            ErrorKind::Subchart { kind, .. } => kind,
            kind => kind,
        };
        match kind {
            ErrorKind::Refused(_) => Some(Refusal::Nondeterministic),
            ErrorKind::MissingDependencies(_) => Some(Refusal::MissingDependency),
            ErrorKind::Input(_) => Some(Refusal::Elsewhere),
            ErrorKind::View(error) => error.refusal(),
            _ => None,
        }
    }

    /// As a mistake of the dry commit.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.to_string()).label(&self.0.label).refused(self.refusal());
        diagnostic.span.clone_from(&self.0.span);
        diagnostic.hint = self.0.hint.clone().map(clipped);
        diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)
    }
}

impl std::error::Error for Error {}
