//! The versions of go-jsonnet.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An exact version of go-jsonnet, as which Jsonnet is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Jsonnet {
    /// 0.20.0
    V0_20_0,
    /// 0.21.0
    V0_21_0,
    /// 0.22.0
    #[default]
    V0_22_0,
}

impl Jsonnet {
    /// All versions, in ascending order.
    pub const ALL: [Self; 3] = [Self::V0_20_0, Self::V0_21_0, Self::V0_22_0];

    /// The version as settings have it: `0.22.0`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V0_20_0 => "0.20.0",
            Self::V0_21_0 => "0.21.0",
            Self::V0_22_0 => "0.22.0",
        }
    }
}

/// The functions of `std` that came after 0.20.0, each with the version that has it first.
///
/// Reference: `std.objectFieldsAll(std)` of go-jsonnet 0.21.0 and 0.22.0; for 0.20.0 `builtins.go`, and `std.jsonnet` of the
/// revision of jsonnet that it is built with.
const FUNCTIONS: [(Jsonnet, &[&str]); 2] = [
    (
        Jsonnet::V0_21_0,
        &[
            "atan2",
            "avg",
            "contains",
            "deg2rad",
            "equalsIgnoreCase",
            "flattenDeepArray",
            "hypot",
            "isDecimal",
            "isEven",
            "isInteger",
            "isOdd",
            "log10",
            "log2",
            "maxArray",
            "minArray",
            "objectRemoveKey",
            "pi",
            "rad2deg",
            "remove",
            "removeAt",
            "sha1",
            "sha256",
            "sha3",
            "sha512",
            "trim",
        ],
    ),
    (Jsonnet::V0_22_0, &["isNull"]),
];

impl Jsonnet {
    /// The functions of `std` that it does not have yet.
    pub(crate) fn lacks(self) -> impl Iterator<Item = &'static str> {
        FUNCTIONS.into_iter().filter(move |(since, _)| self < *since).flat_map(|(_, names)| names.iter().copied())
    }
}

impl fmt::Display for Jsonnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Jsonnet> for &'static str {
    fn from(version: Jsonnet) -> Self {
        version.as_str()
    }
}

impl TryFrom<String> for Jsonnet {
    type Error = UnknownJsonnet;

    fn try_from(text: String) -> Result<Self, UnknownJsonnet> {
        text.parse()
    }
}

/// The text is no version of go-jsonnet that Jsonnet can be evaluated as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Jsonnet can't be evaluated as {0}; known are {known}", known = Jsonnet::ALL.map(Jsonnet::as_str).join(", "))]
pub struct UnknownJsonnet(String);

impl FromStr for Jsonnet {
    type Err = UnknownJsonnet;

    fn from_str(text: &str) -> Result<Self, UnknownJsonnet> {
        Self::ALL.into_iter().find(|version| version.as_str() == text).ok_or_else(|| UnknownJsonnet(text.to_owned()))
    }
}
