//! What makes an Application that is in no file.

use std::fmt;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

/// What makes an Application.
#[derive(Debug, Clone, PartialEq)]
pub struct Maker {
    /// What it is.
    pub by: By,
    /// The file of the maker; for a maker that is made itself, the file of its outermost maker.
    pub file: RepoPath,
    /// Where its name is.
    pub place: Span,
    /// What it made the Application from.
    pub element: MadeFrom,
    /// What makes the maker, from the inside out.
    pub above: Vec<By>,
    /// What the maker made, as [`super::Application::remade`] reads it.
    pub(super) kept: String,
    /// What a cluster keeps of it when it is made no more.
    pub keeps: Keeps,
    /// Whether it gives the resources finalizer to what it makes without any finalizer.
    pub adds_finalizer: bool,
}

/// The kinds of makers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum By {
    /// An ApplicationSet of this name.
    ApplicationSet {
        /// `metadata.namespace`.
        namespace: Option<String>,
        /// `metadata.name`.
        name: String,
    },
    /// An Application of this name, which renders others.
    Application {
        /// `metadata.namespace`.
        namespace: Option<String>,
        /// `metadata.name`.
        name: String,
    },
    /// A root of the setting `roots`, an Application that lives in the cluster only.
    Root {
        /// Its name.
        name: String,
    },
}

/// What a cluster does about an Application that its maker makes no more, or makes otherwise.
///
/// Reference: argo-cd `37ee0097` pkg/apis/application/v1alpha1/applicationset_types.go `ApplicationsSyncPolicy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Keeps {
    /// It deletes and updates it.
    #[default]
    Nothing,
    /// It keeps it: `create-update`.
    Gone,
    /// It keeps it as it was first made: `create-only`.
    All,
}

impl Keeps {
    /// The policy as the set writes it; none for that which keeps nothing.
    pub fn policy(self) -> Option<&'static str> {
        match self {
            Keeps::Nothing => None,
            Keeps::Gone => Some("create-update"),
            Keeps::All => Some("create-only"),
        }
    }
}

impl By {
    /// The kind of object that it is.
    pub fn kind(&self) -> &'static str {
        match self {
            By::ApplicationSet { .. } => "ApplicationSet",
            By::Application { .. } => "Application",
            By::Root { .. } => "root",
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            By::ApplicationSet { name, .. } | By::Application { name, .. } | By::Root { name } => name,
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            "" => write!(f, "{} without a name", self.kind()),
            name => write!(f, "{} `{name}`", self.kind()),
        }
    }
}

/// As a diagnostic says it behind "made by".
impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            By::ApplicationSet { .. } => write!(f, "{} from element {}", self.by, self.element.text)?,
            By::Application { .. } | By::Root { .. } => write!(f, "{} from {}", self.by, self.element.text)?,
        }
        self.above.iter().try_for_each(|above| write!(f, ", which is made by {above}"))
    }
}

impl Maker {
    /// The Applications and roots in the row of makers.
    pub fn parents(&self) -> impl Iterator<Item = &By> {
        [&self.by].into_iter().chain(&self.above).filter(|by| !matches!(by, By::ApplicationSet { .. }))
    }

    /// Whether it is this one, or made by it.
    pub fn is_below(&self, by: &By) -> bool {
        self.by == *by || self.above.contains(by)
    }
}

/// What an Application was made from, for who reads about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFrom {
    /// In words: `sets/shop.yaml:12:9`, `apps/web`, `clusters/prod.yaml`, the name of a cluster; joined by ` and ` where more
    /// than one generator takes part.
    pub text: String,
    /// The first place of it: an entry of the set, a file or a directory of the dry tree; for anything else,
    /// the generator.
    pub place: Span,
}
