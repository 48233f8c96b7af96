//! What can be wrong with an Application: each mistake a value, its text in one place.

use dry_files::diag::{Diagnostic, Span, UnknownField, is_unprintable, shell_word};
use dry_files::path::{PathError, RepoPath};

use super::field::Place;
use super::{AppName, NameError, PAUSED};
use inputs::KeyError;

/// Why an Application or its source can't be used, or what is odd about it. Each is a mistake of the dry commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mistake {
    // The document.
    #[error("{0}")]
    Syntax(String),
    #[error("{0}")]
    Unreadable(String),
    #[error("the file has more than {max} Applications")]
    ManyApplications { max: usize },
    #[error("lists are nested deeper than the limit")]
    ListDepth,
    #[error("an override file has one document, but this one has more")]
    ManyDocuments,
    #[error("`apiVersion` is `{0}`, but Applications are `argoproj.io/v1alpha1`")]
    ApiVersion(String),
    #[error("an object of kind `{kind}` is not hydrated, though its `spec` is that of an {meant}")]
    OtherKind { kind: String, meant: &'static str },
    #[error("`{field}` is missing")]
    Missing { field: String, meant: Option<(String, &'static str)> },
    #[error("`{field}` is empty")]
    Empty { field: String },
    #[error("`{field}` must be {expected}, not {found}")]
    Type { field: String, expected: &'static str, found: &'static str },
    #[error("`{field}` is given twice")]
    Twice { field: String },
    #[error("`{key}` is set twice in `valuesObject`: what the first says is lost")]
    LostValue { key: String },
    #[error("unknown field `{key}`{}", inside(parent))]
    Unknown { key: String, parent: String, near: Option<&'static str>, is_required: bool },
    #[error("unknown field `{key}`{place}, so {what} not hydrated")]
    NotHydrated { key: String, near: &'static str, place: &'static str, what: String },
    #[error("`{field}` is beside `sourceHydrator`, where Argo CD does not look at it")]
    Misplaced { field: &'static str },
    #[error("`{field}` is set beside `spec.sourceHydrator`")]
    SourceToo { field: &'static str },
    #[error("`{text}` is not a valid name of {of}: {reason}")]
    Name { text: String, of: &'static str, reason: NameError },
    #[error("`{text}` is not a valid branch name: {reason}")]
    Branch { text: String, reason: NameError },
    #[error("`{text}` is not a valid repository URL: {}", match character {
        '-' => "it begins with `-`, which git reads as an option".to_owned(),
        character => format!("it contains the character {character:?}"),
    })]
    RepoUrl { text: String, character: char },
    #[error("`metadata.annotations.{PAUSED}` is `{text}`")]
    Paused { text: String },
    #[error("`syncSource.repoURL` (`{url}`) is neither this repository nor one of the setting `destinations`")]
    SyncRepository { url: String },

    // Paths.
    #[error("`{text}` is not a valid path for hydrated manifests: {reason}")]
    SyncPath { text: String, reason: PathError },
    #[error("the hydrated manifests cannot be at the root of the branch")]
    SyncRoot { name: Option<AppName> },
    #[error("`{text}` is not a valid path for hydrated manifests: git reserves `{component}`")]
    SyncPathGit { text: String, component: String },
    #[error("`{text}` is not a valid path for hydrated manifests: it contains the character {character:?}")]
    SyncPathCharacter { text: String, character: char },
    #[error("`{text}` is not a valid path for hydrated manifests: hydration writes a file `{file}`")]
    SyncPathFile { text: String, file: &'static str },
    #[error(
        "`{text}` is not a valid path for hydrated manifests: a host runs what it finds in `{directory}/workflows`"
    )]
    SyncPathWorkflows { text: String, directory: &'static str },
    #[error("{what} has {len} bytes; the limit is {max}")]
    SyncPathLong { what: &'static str, len: usize, max: usize },
    #[error("`{text}` is not a valid path for dry sources: {reason}")]
    DryPath { text: String, reason: PathError },

    // What a rule hydrates.
    #[error("{}: `{field}`: {reason}", match is_proposed {
        true => "the proposed rule".to_owned(),
        false => format!("rule {rule} of the settings"),
    })]
    OfRule { rule: usize, is_proposed: bool, field: &'static str, reason: String },
    #[error("the source is in another repository: {reason}")]
    Input { reason: KeyError },
    #[error("`{name}` cannot be a `ref`: it has letters, digits, `_` and `-` only")]
    RefName { name: String },
    #[error("`ref: {name}` names a chart, and only a git repository can be named so")]
    RefChart { name: String },
    #[error("`ref: {name}` is given twice")]
    RefTwice { name: String },
    #[error("the sources name the repository of `ref: {name}` at several revisions")]
    RefRevisions { name: String },
    #[error("`{text}` names no source: {}", match known.as_slice() {
        [] => "none has a `ref`".to_owned(),
        known => format!("there are {}", known.join(", ")),
    })]
    RefUnknown { text: String, known: Vec<String> },

    // The source.
    #[error("multiple application sources defined: {0}")]
    ManyTools(String),
    #[error("`{path}` has both a `Chart.yaml` and a `{kustomization}`")]
    ChartAndKustomization { path: RepoPath, kustomization: String },
    #[error("`{path}` does not exist")]
    PathMissing { path: RepoPath },
    #[error("`{path}` is a file, not a directory")]
    PathIsFile { path: RepoPath },
    #[error("`{field}` cannot be changed by an override file")]
    Fixed { field: String },
    #[error("`{name}` is not set when an Application is hydrated")]
    VariableNotSet { name: String, known: Vec<&'static str>, is_of_argo_cd: bool },
    #[error("with its variables replaced, the source's options are too long")]
    VariablesGrow,
    #[error("`${name}` is not defined")]
    VariableUnknown { name: String },
}

impl Mistake {
    /// The whole report of it.
    pub(super) fn at(self, span: Span) -> Diagnostic {
        let message = one_line(&self.to_string());
        let mut diagnostic = if self.is_error() { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        diagnostic.hint = self.hint().map(|hint| one_line(&hint));
        diagnostic.unknown_field = self.unknown_field();
        diagnostic.at(span)
    }

    /// Whether it stops the environment branch.
    pub(super) fn is_error(&self) -> bool {
        if let Mistake::Unknown { parent, near: Some(near), is_required, .. } = self {
            return *is_required || decides(parent, near);
        }
        !matches!(
            self,
            Mistake::OtherKind { .. }
                | Mistake::LostValue { .. }
                | Mistake::Unknown { .. }
                | Mistake::NotHydrated { .. }
                | Mistake::Fixed { .. }
                | Mistake::VariableUnknown { .. }
        )
    }

    fn unknown_field(&self) -> Option<Box<UnknownField>> {
        let (key, near) = match self {
            Mistake::Unknown { key, near, .. } => (key, *near),
            Mistake::NotHydrated { key, near, .. } => (key, Some(*near)),
            Mistake::Misplaced { field } => {
                let near = Some(format!("sourceHydrator.{field}"));
                return Some(Box::new(UnknownField { name: (*field).to_owned(), near }));
            }
            _ => return None,
        };
        Some(Box::new(UnknownField { name: one_line(key), near: near.map(str::to_owned) }))
    }

    /// How to mend it.
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Mistake::Unreadable(_)
            | Mistake::Syntax(_)
            | Mistake::ManyDocuments
            | Mistake::ListDepth
            | Mistake::ManyApplications { .. }
            | Mistake::VariablesGrow
            | Mistake::Name { .. }
            | Mistake::SyncPathCharacter { .. }
            | Mistake::SyncPathFile { .. }
            | Mistake::SyncPathLong { .. }
            | Mistake::RefName { .. }
            | Mistake::PathIsFile { .. } => return None,
            Mistake::OfRule { is_proposed: true, .. } => {
                "choose another --branch-pattern, give a further one for what it has no branch for, or add a rule before it for this \
                 Application: git hydrate config edit"
                    .to_owned()
            }
            Mistake::OfRule { .. } => {
                "correct the rule: git hydrate config edit; or add one before it for this Application".to_owned()
            }
            Mistake::Input { .. } => {
                "if it is this repository, on the server: git hydrate config add repoURL URL; else commit a copy of the \
                 source and name that"
                    .to_owned()
            }
            Mistake::RefChart { .. } => "take `ref` away, or name a git repository with the files".to_owned(),
            Mistake::RefTwice { .. } => "give each source a `ref` of its own".to_owned(),
            Mistake::RefRevisions { .. } => "use one `targetRevision` for all sources of a repository".to_owned(),
            Mistake::RefUnknown { .. } => {
                "with `sources`, a file that begins with `$` is one of a source with that `ref`".to_owned()
            }
            Mistake::ApiVersion(_) => "write `apiVersion: argoproj.io/v1alpha1`".to_owned(),
            Mistake::OtherKind { meant, .. } => format!("write `kind: {meant}`"),
            Mistake::Missing { meant: Some((key, name)), .. } => format!("write `{name}` for `{key}`"),
            Mistake::Missing { field, .. } | Mistake::Empty { field } => return expected(field).map(str::to_owned),
            Mistake::Type { expected: "a text", found: "a number" | "a boolean", .. } => "quote it".to_owned(),
            Mistake::Type { .. } => return None,
            Mistake::Twice { .. } | Mistake::LostValue { .. } => "keep one of them: Kubernetes uses the last and ignores the others".to_owned(),
            Mistake::Unknown { near: Some(near), .. } | Mistake::NotHydrated { near, .. } => {
                format!("did you mean `{near}`?")
            }
            Mistake::Misplaced { field } => format!("indent `{field}` below `sourceHydrator`"),
            Mistake::Unknown { key, parent, near: None, .. } => return unknown(key, parent),
            Mistake::SourceToo { field } => format!("remove `{field}`: Argo CD ignores it"),
            Mistake::Branch { text, reason: NameError::FullRef } => match text.strip_prefix("refs/heads/") {
                Some(name) if !name.is_empty() => format!("write `{name}`"),
                _ => "write the name of a branch".to_owned(),
            },
            Mistake::RepoUrl { text, character: ' ' } => {
                format!("write each blank as `%20`: {}", text.trim().replace(' ', "%20"))
            }
            Mistake::RepoUrl { .. } => "write the URL of this repository".to_owned(),
            Mistake::Branch { reason: NameError::Invisible(_), .. } => {
                "type the name again: with invisible characters, it looks like another".to_owned()
            }
            Mistake::Branch { .. } => "write a name that `git check-ref-format --branch` accepts".to_owned(),
            Mistake::Paused { .. } => "write `\"true\"` or `\"false\"`".to_owned(),
            Mistake::SyncRepository { url } => format!(
                "remove it to write to this repository, or have an admin allow the other one on the server: \
                 git hydrate config set destinations.NAME {}",
                shell_word(url)
            ),
            Mistake::SyncPath { reason: PathError::Absolute, text } => match text.trim_matches('/') {
                "" => "give the Application a folder of its own".to_owned(),
                path => format!("write `{path}`: paths start at the root of the branch"),
            },
            Mistake::SyncPath { .. } | Mistake::SyncPathGit { .. } | Mistake::SyncPathWorkflows { .. } => {
                "write a path below the root of the branch".to_owned()
            }
            Mistake::SyncRoot { name: Some(name) } => format!("give the Application a folder, such as `path: {name}`"),
            Mistake::SyncRoot { name: None } => "give the Application a folder of its own".to_owned(),
            Mistake::DryPath { reason: PathError::Absolute, text } => match text.trim_matches('/') {
                "" => "write `.` for the root of the repository".to_owned(),
                path => format!("write `{path}`: paths start at the root of the repository"),
            },
            Mistake::DryPath { .. } => "write a path below the root of the repository".to_owned(),
            Mistake::ManyTools(_) => "keep one of the objects".to_owned(),
            Mistake::ChartAndKustomization { .. } => {
                "choose one: write `helm: {}` or `kustomize: {}` in drySource or `.argocd-source.yaml`".to_owned()
            }
            Mistake::PathMissing { .. } => "commit the directory, or correct the `path` of the source".to_owned(),
            Mistake::Fixed { .. } => "set it in the Application".to_owned(),
            Mistake::VariableNotSet { name, known, is_of_argo_cd } => {
                let more = if *is_of_argo_cd { ", with the setting `profile: argocd` this one too" } else { "" };
                format!("the variables are {}{more}; write `$${name}` for the text itself", known.join(", "))
            }
            Mistake::VariableUnknown { .. } => "write `$$` for a dollar sign".to_owned(),
        };
        Some(hint)
    }
}

/// How much of a message is shown, in characters.
const MESSAGE_CHARS_MAX: usize = 600;

/// The text with control characters written as Rust does, cut when it is very long: what was pushed can't add lines of
/// its own to a message, nor fill the screen.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == MESSAGE_CHARS_MAX {
            line.push('…');
            break;
        }
        if is_unprintable(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether a field decides what manifests are or where they go, and may be left out: misspelt, others would be deployed, or
/// elsewhere.
fn decides(parent: &str, field: &str) -> bool {
    let keys = [("spec.sourceHydrator", "hydrateTo"), ("spec.sourceHydrator.syncSource", "repoURL")];
    keys.contains(&(parent, field)) || parent.starts_with("spec.sourceHydrator.drySource")
}

/// Where an unknown field is.
fn inside(parent: &str) -> String {
    if parent.is_empty() { String::new() } else { format!(" in `{parent}`") }
}

/// What to do about a field that is like no other: what to use in place of one that other sources have, or how to silence
/// the warning, which is not possible in an override file.
fn unknown(key: &str, parent: &str) -> Option<String> {
    Some(match (parent, key) {
        ("spec.sourceHydrator.drySource", "chart") => {
            "a chart is hydrated from `drySource.path`: commit a chart that depends on it".to_owned()
        }
        ("spec.sourceHydrator.drySource", "ref" | "name") => {
            "an Application has one source: its values files are in the same repository".to_owned()
        }
        _ if !parent.starts_with("spec.") => return None,
        // What is put into a command must be a word to any shell.
        _ if key.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            format!("it has no effect; if another program reads it: git hydrate config add knownFields {key}")
        }
        _ => "it has no effect; if another program reads it, add it to the setting `knownFields`".to_owned(),
    })
}

/// What belongs into a field that is not there.
fn expected(field: &str) -> Option<&'static str> {
    Some(match field {
        "drySource.repoURL" => "write the URL of this repository",
        "drySource.targetRevision" => "write the dry branch, such as `main`, or `HEAD`",
        "drySource.path" => "write the directory of the sources, such as `apps/web`",
        "syncSource.targetBranch" => "write the branch that is deployed, such as `environments/dev`",
        "syncSource.path" => "write the folder of the hydrated manifests, such as `web`",
        "hydrateTo.targetBranch" => "write the staging branch, such as `environments/dev-next`, or remove `hydrateTo`",
        _ => return None,
    })
}

/// How many mistakes of a document are reported, and how many oddities: enough to fix it, few enough to be read.
const SHOWN_MAX: usize = 50;

/// The mistakes found so far, with their places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mistakes {
    found: Vec<(Mistake, Span)>,
    errors: usize,
    warnings: usize,
    /// The fields that other programs read.
    known_fields: Vec<String>,
}

impl Mistakes {
    /// None yet. Fields of these names are none.
    pub(super) fn knowing(known_fields: &[String]) -> Self {
        Self { known_fields: known_fields.to_vec(), ..Self::default() }
    }

    /// Whether another program reads a field of this name.
    pub(super) fn is_known(&self, field: &str) -> bool {
        self.known_fields.iter().any(|known| known == field)
    }

    /// Notes a mistake; of very many, those after the first ones are counted only.
    pub(super) fn add(&mut self, mistake: Mistake, place: &Place) {
        if matches!(&mistake, Mistake::Unknown { key, .. } if self.is_known(key)) {
            return;
        }
        let count = if mistake.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count <= SHOWN_MAX {
            self.found.push((mistake, place.span()));
        }
    }

    pub(super) fn is_error(&self) -> bool {
        self.errors > 0
    }

    /// In the order of their places.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.found.sort_by(|(_, a), (_, b)| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
        self.found.into_iter().map(|(mistake, span)| mistake.at(span)).collect()
    }
}
