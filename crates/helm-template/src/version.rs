//! The versions of Helm that charts can render as: where an upgrade starts.
//!
//! [`Helm`] is an exact version. What two versions do otherwise is a row of one table, [`differences`]; what a version
//! is built from is a row of another, [`releases`].

pub(crate) mod differences;
pub(crate) mod number;
mod releases;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use differences::Switches;
use number::Number;
use releases::{DEFAULT, RELEASES, Release};

/// An exact version of Helm, whose `helm template` charts render as.
///
/// The default is the one that was there first, not the newest: what is rendered does not change by itself. Ordered by
/// number. [`fmt::Display`], [`FromStr`] and serde have the version without a `v`: `4.2.3`.
#[derive(Clone, Copy)]
pub struct Helm(&'static Release);

impl Helm {
    /// The texts of all versions, in ascending order.
    pub const NAMES: [&str; RELEASES.len()] = releases::names();

    /// All versions, in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        RELEASES.iter().map(Self)
    }

    /// The oldest version.
    pub fn oldest() -> Self {
        Self::all().next().unwrap_or_default()
    }

    /// The newest version.
    pub fn newest() -> Self {
        Self::all().next_back().unwrap_or_default()
    }

    /// All versions as ranges, for people: `3.17.0 to 3.17.4, 3.18.1 to 3.18.6, …`.
    pub fn ranges() -> String {
        let numbers: Vec<Number> = Self::all().map(Self::number).collect();
        let line = |a: &Number, b: &Number| (a.major, a.minor) == (b.major, b.minor) && b.patch == a.patch + 1;
        let ranges = numbers.chunk_by(line).filter_map(|range| match range {
            [first, .., last] => Some(format!("{first} to {last}")),
            [one] => Some(one.to_string()),
            [] => None,
        });
        ranges.collect::<Vec<_>>().join(", ")
    }

    /// The version as settings and recorded commands have it: `4.2.3`.
    pub const fn as_str(self) -> &'static str {
        self.0.version
    }

    /// The commit that it is built from, which templates see.
    pub const fn commit(self) -> &'static str {
        self.0.commit
    }

    /// The Go that it is built with, which templates see: `1.26.5`.
    pub const fn go(self) -> &'static str {
        self.0.go
    }

    /// The minor version of Kubernetes whose client library it is built with: `.Capabilities` without a cluster.
    pub const fn kubernetes_minor(self) -> u8 {
        self.0.kubernetes_minor
    }

    /// What it does where versions differ.
    pub(crate) const fn switches(self) -> Switches {
        self.0.switches
    }

    fn number(self) -> Number {
        self.0.number()
    }

    /// The version of this number with other switches.
    #[cfg(test)]
    pub(crate) fn with(self, switches: Switches) -> Self {
        Self(Box::leak(Box::new(Release { switches, ..*self.0 })))
    }
}

impl Default for Helm {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl PartialEq for Helm {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Helm {}

impl PartialOrd for Helm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Helm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl Hash for Helm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}

impl fmt::Debug for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Helm({self})")
    }
}

impl fmt::Display for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Helm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Helm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The text is no version of Helm that charts can render as. Reads as a sentence that names the nearest one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownHelm {
    /// Not three numbers.
    #[error("`{text}` is not an exact version of Helm such as {}; known are {}", .nearest, Helm::ranges())]
    NotExact {
        /// What was given.
        text: String,
        /// The newest version that it may mean, else the newest of all.
        nearest: Helm,
    },
    /// A version that differs from all others where it should not.
    #[error("charts can't render as Helm {asked}, {why}: take {nearest}")]
    Left {
        /// What was given.
        asked: String,
        /// Why it is left out.
        why: &'static str,
        /// What to take in its place.
        nearest: Helm,
    },
    /// A version that nothing is known of.
    #[error(
        "charts can't render as Helm {asked}: the nearest that they can render as is {nearest}; known are {}",
        Helm::ranges()
    )]
    Unknown {
        /// What was given.
        asked: String,
        /// The known version that is nearest.
        nearest: Helm,
    },
}

impl UnknownHelm {
    /// What to take in its place.
    pub fn nearest(&self) -> Helm {
        match self {
            Self::NotExact { nearest, .. } | Self::Left { nearest, .. } | Self::Unknown { nearest, .. } => *nearest,
        }
    }
}

/// Versions that are left out on purpose, with the reason.
const LEFT_OUT: [(&str, &str); 1] = [("3.18.0", "which reads numbers as no other version does")];

impl FromStr for Helm {
    type Err = UnknownHelm;

    fn from_str(text: &str) -> Result<Self, UnknownHelm> {
        if let Some(helm) = Self::all().find(|helm| helm.as_str() == text) {
            return Ok(helm);
        }
        let bare = text.strip_prefix('v').unwrap_or(text);
        let Some(number) = Number::parse(bare).filter(|_| bare == text) else {
            let exact = |helm: &Helm| helm.as_str() == bare;
            let of_line = |helm: &Helm| helm.as_str().strip_prefix(bare).is_some_and(|rest| rest.starts_with('.'));
            let nearest = Self::all().rfind(|helm| exact(helm) || of_line(helm));
            return Err(UnknownHelm::NotExact { text: text.to_owned(), nearest: nearest.unwrap_or(Self::newest()) });
        };
        let (asked, nearest) = (text.to_owned(), Self::nearest(number));
        Err(match LEFT_OUT.into_iter().find(|(version, _)| *version == text) {
            Some((_, why)) => UnknownHelm::Left { asked, why, nearest },
            None => UnknownHelm::Unknown { asked, nearest },
        })
    }
}

impl Helm {
    /// The known version next to a number: of its minor version if there is one, then the later of two.
    fn nearest(number: Number) -> Self {
        let line = |helm: &Helm| (helm.number().major, helm.number().minor) == (number.major, number.minor);
        let later = |helm: &Helm| helm.number() > number;
        let of_line = Self::all().find(|helm| line(helm) && later(helm)).or_else(|| Self::all().rfind(line));
        of_line.or_else(|| Self::all().find(later)).unwrap_or_else(Self::newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_reads_as_it_is_written() {
        for helm in Helm::all() {
            assert_eq!(helm.to_string().parse(), Ok(helm));
        }
        assert!(Helm::all().is_sorted(), "in ascending order");
        assert_eq!(Helm::default().as_str(), "4.2.3");
    }

    #[test]
    fn what_is_unknown_is_refused_with_the_nearest() {
        let newest = Helm::newest().as_str();
        let rows = [
            ("3.18.0", "3.18.1"),
            ("4.1.2", "4.1.3"),
            ("3.16.4", "3.17.0"),
            ("2.17.0", "3.17.0"),
            ("3.17.9", "3.17.4"),
            ("3.99.0", "4.0.0"),
            ("4.0.3", "4.0.4"),
            ("4.9.0", newest),
            ("5.0.0", newest),
            ("v4.2.4", "4.2.4"),
            ("4.2", "4.2.4"),
            ("3.1", newest),
            ("4", newest),
            ("3", "3.22.0"),
            ("04.2.4", newest),
            ("latest", newest),
            ("", newest),
        ];
        for (text, nearest) in rows {
            let error = text.parse::<Helm>().expect_err(text);
            assert_eq!(error.nearest().as_str(), nearest, "{text}");
            assert!(error.to_string().contains(nearest), "{error}");
        }
    }

    #[test]
    fn all_versions_are_named_as_ranges() {
        assert_eq!(
            Helm::ranges(),
            "3.17.0 to 3.17.4, 3.18.1 to 3.18.6, 3.19.0 to 3.19.5, 3.20.0 to 3.20.2, 3.21.0 to 3.21.4, 3.22.0, \
             4.0.0 to 4.0.2, 4.0.4 to 4.0.5, 4.1.0 to 4.1.1, 4.1.3 to 4.1.4, 4.2.0 to 4.2.4, 4.3.0 to 4.3.1"
        );
    }
}
