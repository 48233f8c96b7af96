//! Why settings cannot be used.

use go_yaml::Mark;

use super::{FILE_BYTES_MAX, FILES};

/// Why a folder of settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A file of another name.
    #[error("`{0}` is not a settings file; the settings files are: {list}", list = FILES.join(", "))]
    UnknownFile(String),
    /// Two templates for one text.
    #[error("{0} and {1}: only one of them can be used; remove the other: git hydrate config unset {0}")]
    TwoTemplates(&'static str, &'static str),
    /// A file that was not written by hand.
    #[error("{0}: has more than {FILE_BYTES_MAX} bytes")]
    TooLarge(String),
    /// A file that is no UTF-8.
    #[error("{0}: not UTF-8")]
    NotUtf8(String),
    /// A `settings.yaml` whose lines cannot be changed one key at a time.
    #[error("settings.yaml is written in a way that cannot be changed key by key; use: git hydrate config edit")]
    NotEditable,
    /// A ConfigMap of Argo CD that nothing can be taken from.
    #[error("argocd-cm: {0}")]
    NotArgocdCm(String),
    /// A file of seeds that nothing of ours wrote; the message has nothing of it.
    #[error("{file}: {what}")]
    Seeds {
        /// The name of the file.
        file: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A wrong key, type or value in `hold.yaml`, after its place.
    #[error("hold.yaml:{0}")]
    Hold(String),
    /// A wrong key, type or value in `settings.yaml`.
    #[error("settings.yaml: {0}")]
    Wrong(String),
    /// A wrong key, type or value in `settings.yaml`, with its place.
    #[error("settings.yaml:{line}:{column}: {what}")]
    At {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong, with the path of the key.
        what: String,
    },
}

impl SettingsError {
    /// What is wrong, for somebody who does not see the file.
    pub fn without_place(&self) -> String {
        match self {
            Self::Wrong(what) | Self::At { what, .. } => what.clone(),
            Self::UnknownFile(_)
            | Self::TwoTemplates(..)
            | Self::TooLarge(_)
            | Self::NotUtf8(_)
            | Self::NotEditable
            | Self::Hold(_)
            | Self::Seeds { .. }
            | Self::NotArgocdCm(_) => self.to_string(),
        }
    }

    pub(super) fn at(mark: Mark, what: String) -> Self {
        Self::At { line: mark.line as usize, column: mark.column as usize, what }
    }
}
