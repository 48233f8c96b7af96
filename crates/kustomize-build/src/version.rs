//! The versions of Kustomize that kustomizations can build as: where an upgrade starts.
//!
//! [`Kustomize`] is an exact version. What versions do otherwise is one table, [`differences`]: a version becomes a set of
//! switches once, when a build begins, and nothing but the label of `buildMetadata` asks for the version after that.

pub(crate) mod differences;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use differences::{Difference, Switches};

/// An exact version of Kustomize, as whose `kustomize build` kustomizations build.
///
/// Ordered by number; the default is the newest. [`fmt::Display`], [`FromStr`] and serde have the version without a `v`: `5.8.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Kustomize {
    /// 5.4.2
    V5_4_2,
    /// 5.4.3
    V5_4_3,
    /// 5.5.0
    V5_5_0,
    /// 5.6.0
    V5_6_0,
    /// 5.7.0
    V5_7_0,
    /// 5.7.1
    V5_7_1,
    /// 5.8.0
    V5_8_0,
    /// 5.8.1
    #[default]
    V5_8_1,
}

impl Kustomize {
    /// All versions, in ascending order.
    pub const ALL: [Self; 8] = [
        Self::V5_4_2,
        Self::V5_4_3,
        Self::V5_5_0,
        Self::V5_6_0,
        Self::V5_7_0,
        Self::V5_7_1,
        Self::V5_8_0,
        Self::V5_8_1,
    ];

    /// The version as settings and recorded commands have it: `5.8.1`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V5_4_2 => "5.4.2",
            Self::V5_4_3 => "5.4.3",
            Self::V5_5_0 => "5.5.0",
            Self::V5_6_0 => "5.6.0",
            Self::V5_7_0 => "5.7.0",
            Self::V5_7_1 => "5.7.1",
            Self::V5_8_0 => "5.8.0",
            Self::V5_8_1 => "5.8.1",
        }
    }

    /// All versions, for people: `5.4.2, 5.4.3, …`.
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// The version next to a number: the first that is not older, else the newest.
    fn nearest(number: [u32; 3]) -> Self {
        let is_later = |version: &Self| number_of(version.as_str()).is_some_and(|known| known >= number);
        Self::ALL.into_iter().find(is_later).unwrap_or_default()
    }
}

/// The three numbers of an exact version, as they are written without leading zeros.
fn number_of(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('.').map(|part| part.parse().ok().filter(|number: &u32| number.to_string() == part));
    let number = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(number)
}

impl fmt::Display for Kustomize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Kustomize> for &'static str {
    fn from(version: Kustomize) -> Self {
        version.as_str()
    }
}

impl TryFrom<String> for Kustomize {
    type Error = UnknownKustomize;

    fn try_from(text: String) -> Result<Self, UnknownKustomize> {
        text.parse()
    }
}

/// The text is no version of Kustomize that kustomizations can build as. Reads as a sentence that names the nearest one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownKustomize {
    /// Not three numbers.
    #[error(
        "`{text}` is not an exact version of Kustomize such as {}; known are {}",
        Kustomize::default(),
        Kustomize::names()
    )]
    NotExact {
        /// What was given.
        text: String,
    },
    /// A version that nothing is known of.
    #[error(
        "kustomizations can't build as Kustomize {asked}: the nearest that they can build as is {nearest}; known are {}",
        Kustomize::names()
    )]
    Unknown {
        /// What was given.
        asked: String,
        /// The known version that is nearest.
        nearest: Kustomize,
    },
}

impl FromStr for Kustomize {
    type Err = UnknownKustomize;

    fn from_str(text: &str) -> Result<Self, UnknownKustomize> {
        match Self::ALL.into_iter().find(|version| version.as_str() == text) {
            Some(version) => Ok(version),
            None => Err(match number_of(text) {
                Some(number) => UnknownKustomize::Unknown { asked: text.to_owned(), nearest: Self::nearest(number) },
                None => UnknownKustomize::NotExact { text: text.to_owned() },
            }),
        }
    }
}
