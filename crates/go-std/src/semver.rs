//! Versions and version ranges as Masterminds/semver 3.5.0 has them, for templates and for charts.
//!
//! Looser than the standard: `v1.2` is a version, and a range is a list of comparisons, of which one group has to match.

mod range;

use std::cmp::Ordering;
use std::fmt;

pub use range::Range;

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Not of the form `v1.2.3-pre+meta`.
    #[error("invalid semantic version")]
    Invalid,
    /// A numeric part of the pre-release starts with 0.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A number that doesn't fit 64 bits.
    #[error("error parsing version segment: strconv.ParseUint: parsing {}: value out of range", super::strconv::quote(.0))]
    TooLarge(String),
}

/// A version. Missing parts are 0; the order is that of precedence, in which metadata has no part.
#[derive(Debug, Clone)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    /// Behind `-`; empty for a release.
    pub pre: String,
    /// Behind `+`.
    pub metadata: String,
    /// The text that was read.
    pub original: String,
}

/// The parts of a version text, as they are there.
struct Parts<'t> {
    /// Everything, with a leading `v`.
    text: &'t str,
    numbers: [Option<&'t str>; 3],
    pre: Option<&'t str>,
    metadata: Option<&'t str>,
}

/// Reads the parts of a version at the start of a text; with `has_wildcards` numbers may be `x` or `*`.
fn scan(text: &str, has_wildcards: bool) -> Option<Parts<'_>> {
    let is_number = |byte: u8| byte.is_ascii_digit() || has_wildcards && b"xX*|".contains(&byte);
    let mut rest = text.strip_prefix('v').unwrap_or(text);
    let mut numbers = [None; 3];
    for (index, number) in numbers.iter_mut().enumerate() {
        let digits = if index == 0 { Some(rest) } else { rest.strip_prefix('.') };
        let Some((run, after)) = digits.and_then(|digits| split_run(digits, is_number)) else { break };
        *number = Some(run);
        rest = after;
    }
    numbers[0]?;
    let pre = identifiers(&mut rest, '-');
    let metadata = identifiers(&mut rest, '+');
    Some(Parts { text: text.get(..text.len() - rest.len())?, numbers, pre, metadata })
}

/// Takes a mark and the identifiers behind it, which have dots between them; without any it takes nothing.
fn identifiers<'t>(rest: &mut &'t str, mark: char) -> Option<&'t str> {
    let is_identifier = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let text = rest.strip_prefix(mark)?;
    let (_, mut after) = split_run(text, is_identifier)?;
    while let Some((_, next)) = after.strip_prefix('.').and_then(|text| split_run(text, is_identifier)) {
        after = next;
    }
    *rest = after;
    text.get(..text.len() - after.len())
}

/// Splits off the bytes at the start that are a part of something, all ASCII; `None` when there are none.
fn split_run(text: &str, is_part: impl Fn(u8) -> bool) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(|byte| is_part(*byte)).count();
    text.split_at_checked(length).filter(|_| length > 0)
}

impl Parts<'_> {
    /// A number, which is 0 when it is missing.
    fn number(&self, index: usize) -> Result<u64, VersionError> {
        let Some(digits) = self.numbers.get(index).copied().flatten() else { return Ok(0) };
        digits.parse().map_err(|_| VersionError::TooLarge(digits.to_owned()))
    }
}

impl Version {
    /// Reads a version.
    ///
    /// Reference: semver 3.5.0 `NewVersion`, which Helm leaves as it is: a `v` before, missing parts and leading zeros are fine.
    pub fn new(text: &str) -> Result<Self, VersionError> {
        let parts = scan(text, false).filter(|parts| parts.text.len() == text.len()).ok_or(VersionError::Invalid)?;
        let pre = parts.pre.unwrap_or_default();
        let starts_with_zero =
            |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        let version = Version {
            major: parts.number(0)?,
            minor: parts.number(1)?,
            patch: parts.number(2)?,
            pre: pre.to_owned(),
            metadata: parts.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        if pre.split('.').any(starts_with_zero) {
            return Err(VersionError::LeadingZero);
        }
        Ok(version)
    }

    fn numbers(&self) -> [u64; 3] {
        [self.major, self.minor, self.patch]
    }
}

/// With all three numbers, without a `v`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = self.numbers().cmp(&other.numbers());
        // A release follows its pre-releases.
        let releases = || self.pre.is_empty().cmp(&other.pre.is_empty());
        numbers.then_with(releases).then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

/// Part by part; numbers come before words, fewer parts before more.
fn compare_pre(one: &str, two: &str) -> Ordering {
    let (mut ones, mut twos) = (one.split('.'), two.split('.'));
    loop {
        let order = match (ones.next(), twos.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(two)) => match (one.parse::<u64>(), two.parse::<u64>()) {
                (Ok(one), Ok(two)) => one.cmp(&two),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(two),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}
