//! The versions of Helm, and what it is built with: where an upgrade starts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Helm, whose `helm template` charts render as: the first one unless the settings name another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Helm {
    /// 4.2.3
    #[default]
    #[serde(rename = "4.2.3")]
    V4_2_3,
    /// 4.2.4, which cuts the output of a template into documents otherwise.
    #[serde(rename = "4.2.4")]
    V4_2_4,
}

impl Helm {
    /// All versions that charts can render as, the default first.
    pub const NAMES: [&str; 2] = [Self::V4_2_3.as_str(), Self::V4_2_4.as_str()];

    /// The version, as the settings and recorded commands have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V4_2_3 => "4.2.3",
            Self::V4_2_4 => "4.2.4",
        }
    }

    /// The commit that it is built from, which templates see.
    pub const fn commit(self) -> &'static str {
        match self {
            Self::V4_2_3 => "43e8b7feece8beb0fcba47059ec9b522fd929a64",
            Self::V4_2_4 => "3900f434fd3ef2b84065dc04508df48f288dba00",
        }
    }
}

impl fmt::Display for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not a version of Helm that charts can render as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("charts render as Helm {}", Helm::NAMES.join(" or "))]
pub struct UnknownHelm;

impl FromStr for Helm {
    type Err = UnknownHelm;

    fn from_str(text: &str) -> Result<Self, UnknownHelm> {
        [Self::V4_2_3, Self::V4_2_4].into_iter().find(|helm| helm.as_str() == text).ok_or(UnknownHelm)
    }
}

/// The Go that every [`Helm`] is built with, which templates see, and whose library [`go_std`] follows.
pub const GO: &str = "1.26.5";

/// The minor version of Kubernetes whose client library Helm is built with: `.Capabilities` without a cluster.
pub const KUBERNETES_MINOR: &str = "36";
