//! Versions of Kubernetes, as far as objects are judged by them.

use std::fmt;
use std::str::FromStr;

use kube_validate::MINORS;

/// A minor version of Kubernetes: 36 of 1.36.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kubernetes(u8);

impl Kubernetes {
    /// The newest whose API is known.
    pub(crate) const NEWEST: Self = Self(*MINORS.end());

    /// The minor that objects for a cluster of this version are judged by: a newer one than is known counts as the newest. None
    /// for one that is too old.
    pub(crate) fn judged_as(self) -> Option<u8> {
        (self.0 >= *MINORS.start()).then(|| self.0.min(*MINORS.end()))
    }

    /// What is wrong with a text that is none of the versions whose API is known.
    pub(crate) fn unknown(text: &str) -> String {
        format!("`{text}` is not a version of Kubernetes; known are 1.{} to 1.{}", MINORS.start(), MINORS.end())
    }
}

/// `1.36`, `v1.36.3`, `1.36.3-gke.1`, `1.36+`
impl FromStr for Kubernetes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minor = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.");
        let minor = minor.and_then(|rest| rest.split(['.', '+', '-']).next()?.parse().ok());
        minor.map(Self).ok_or_else(|| Self::unknown(text))
    }
}

impl fmt::Display for Kubernetes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_clusters_are_read_as_they_are_written() {
        let rows = [
            ("1.36", Some(36)),
            ("v1.36.3", Some(36)),
            ("1.33.4-gke.1", Some(33)),
            ("1.32+", Some(32)),
            ("1.99", Some(*MINORS.end())),
            ("1.12", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<Kubernetes>().expect(text).judged_as(), expected, "{text}");
        }
        for text in ["", "1", "2.0", "latest", "1.x", "1.300"] {
            assert_eq!(text.parse::<Kubernetes>(), Err(Kubernetes::unknown(text)));
        }
    }
}
