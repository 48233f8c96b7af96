//! Versions and version ranges as Masterminds/semver 3.5.0 has them, for templates and for charts.
//!
//! Looser than the standard: `v1.2` is a version, and a range is a list of comparisons, of which one group has to hold.

use std::cmp::Ordering;
use std::fmt;

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Not of the form `v1.2.3-pre+meta`.
    #[error("invalid semantic version")]
    Invalid,
    /// A numeric part of the pre-release starts with 0.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A number that 64 bits don't hold.
    #[error("error parsing version segment: strconv.ParseUint: parsing {}: value out of range", crate::yaml::quote(.0))]
    TooLarge(String),
}

/// Why a text is no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Not a list of comparisons; holds the text, hyphen ranges written out.
    #[error("improper constraint: {}", crate::yaml::quote(.0))]
    Improper(String),
    /// A comparison with what is no version.
    #[error("constraint parser error")]
    Version,
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

/// The parts of a version text, as they stand there.
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
    let is_identifier = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let run =
        |from: usize, is_part: &dyn Fn(u8) -> bool| text.bytes().skip(from).take_while(|byte| is_part(*byte)).count();
    let stands = |mark: u8, at: usize| text.as_bytes().get(at) == Some(&mark);
    let mut at = usize::from(stands(b'v', 0));
    let mut numbers = [None; 3];
    for (index, number) in numbers.iter_mut().enumerate() {
        let from = at + usize::from(index > 0);
        let length = run(from, &is_number);
        if length == 0 || index > 0 && !stands(b'.', at) {
            break;
        }
        at = from + length;
        *number = text.get(from..at);
    }
    numbers[0]?;
    let mut identifiers = |mark: u8| {
        let from = at + 1;
        let mut end = from + run(from, &is_identifier);
        if !stands(mark, at) || end == from {
            return None;
        }
        while stands(b'.', end) && run(end + 1, &is_identifier) > 0 {
            end += 1 + run(end + 1, &is_identifier);
        }
        at = end;
        text.get(from..end)
    };
    let pre = identifiers(b'-');
    let metadata = identifiers(b'+');
    Some(Parts { text: text.get(..at)?, numbers, pre, metadata })
}

impl Version {
    /// Reads a version.
    ///
    /// Reference: semver 3.5.0 `NewVersion`, which Helm leaves as it is: a `v` before, missing parts and leading zeros are fine.
    pub fn new(text: &str) -> Result<Self, VersionError> {
        let parts = scan(text, false).filter(|parts| parts.text.len() == text.len()).ok_or(VersionError::Invalid)?;
        let number = |index: usize| match parts.numbers.get(index).copied().flatten() {
            None => Ok(0),
            Some(digits) => digits.parse().map_err(|_| VersionError::TooLarge(digits.to_owned())),
        };
        let pre = parts.pre.unwrap_or_default();
        let starts_with_zero =
            |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        let version = Version {
            major: number(0)?,
            minor: number(1)?,
            patch: number(2)?,
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
        self.numbers().cmp(&other.numbers()).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_pre(&self.pre, &other.pre),
        })
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

/// A range of versions: groups of comparisons, of which all in one group have to hold.
#[derive(Debug, Clone)]
pub struct Range {
    groups: Vec<Vec<Comparison>>,
}

#[derive(Debug, Clone)]
struct Comparison {
    operator: Operator,
    version: Version,
    /// How many numbers the text gives; those behind are wildcards.
    given: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

impl Range {
    /// Reads a range: comparisons with blanks or commas between, groups with `||`, `1.2 - 3.4` for both ends.
    ///
    /// Reference: semver 3.5.0 `NewConstraint`.
    pub fn new(text: &str) -> Result<Self, RangeError> {
        let text = without_hyphens(text);
        let groups = text.split("||").map(group).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Whether a version is in the range. One with a pre-release is only in groups that name a pre-release somewhere.
    pub fn has(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let takes_pre = group.iter().any(|comparison| !comparison.version.pre.is_empty());
            (version.pre.is_empty() || takes_pre) && group.iter().all(|comparison| comparison.holds(version))
        })
    }
}

/// Writes each `a - b` as `>= a, <= b `.
fn without_hyphens(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    'search: while !rest.is_empty() {
        for (at, _) in rest.char_indices() {
            if let Some((low, high, length)) = rest.get(at..).and_then(hyphen_range) {
                out.push_str(rest.get(..at).unwrap_or_default());
                out.push_str(&format!(">= {low}, <= {high} "));
                rest = rest.get(at + length..).unwrap_or_default();
                continue 'search;
            }
        }
        break;
    }
    out + rest
}

/// Both ends of the hyphen range that a text starts with, and its length with the blanks around.
fn hyphen_range(text: &str) -> Option<(&str, &str, usize)> {
    let blanks = |text: &'_ str| text.len() - text.trim_start_matches(is_blank).len();
    let start = blanks(text);
    let low = scan(text.get(start..)?, true)?.text;
    let rest = text.get(start + low.len()..)?;
    let rest = rest.get(blanks(rest)..).filter(|after| after.len() < rest.len())?.strip_prefix('-')?;
    let rest = rest.get(blanks(rest)..).filter(|after| after.len() < rest.len())?;
    let high = scan(rest, true)?.text;
    let rest = rest.get(high.len()..)?;
    Some((low, high, text.len() - rest.len() + blanks(rest)))
}

fn group(text: &str) -> Result<Vec<Comparison>, RangeError> {
    let improper = || RangeError::Improper(text.to_owned());
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(is_blank);
    loop {
        let operator_end = rest.find(|c| !"=!<>~^".contains(c)).unwrap_or(rest.len());
        let (operator, after) = rest.split_at(operator_end);
        let operator = Operator::new(operator).ok_or_else(improper)?;
        let parts = scan(after.trim_start_matches(is_blank), true).ok_or_else(improper)?;
        let after = after.trim_start_matches(is_blank).get(parts.text.len()..).unwrap_or_default();
        found.push((operator, parts));
        let next = after.trim_start_matches(is_blank);
        if next.is_empty() {
            break;
        }
        rest = match next.strip_prefix(',') {
            Some(next) => next.trim_start_matches(is_blank),
            None if next.len() < after.len() => next,
            None => return Err(improper()),
        };
    }
    found.into_iter().map(|(operator, parts)| Comparison::new(operator, &parts)).collect()
}

impl Operator {
    fn new(text: &str) -> Option<Self> {
        Some(match text {
            "" | "=" => Operator::Equal,
            "!=" => Operator::NotEqual,
            ">" => Operator::Greater,
            ">=" | "=>" => Operator::GreaterOrEqual,
            "<" => Operator::Less,
            "<=" | "=<" => Operator::LessOrEqual,
            "~" | "~>" => Operator::Tilde,
            "^" => Operator::Caret,
            _ => return None,
        })
    }
}

impl Comparison {
    fn new(operator: Operator, parts: &Parts<'_>) -> Result<Self, RangeError> {
        let is_given = |number: &Option<&str>| number.is_some_and(|number| !matches!(number, "x" | "X" | "*"));
        let given = parts.numbers.iter().take_while(|number| is_given(number)).count();
        let text = if given == 3 {
            parts.text.to_owned()
        } else {
            let number = |index: usize| if index < given { parts.numbers[index].unwrap_or("0") } else { "0" };
            let pre = parts.pre.map(|pre| format!("-{pre}")).unwrap_or_default();
            format!("{}.{}.{}{pre}", number(0), number(1), number(2))
        };
        let version = Version::new(&text).map_err(|_| RangeError::Version)?;
        Ok(Self { operator, version, given })
    }

    fn holds(&self, version: &Version) -> bool {
        let wanted = &self.version;
        let is_partial = self.given < 3;
        match self.operator {
            Operator::Equal if is_partial => self.tilde(version),
            Operator::Equal => version == wanted,
            Operator::NotEqual => self.differs(version),
            Operator::Greater => match self.given {
                1 => version.major > wanted.major,
                2 => (version.major, version.minor) > (wanted.major, wanted.minor),
                _ => version > wanted,
            },
            Operator::GreaterOrEqual => version >= wanted,
            Operator::Less => version < wanted,
            Operator::LessOrEqual => match self.given {
                3 => version <= wanted,
                1 => version.major <= wanted.major,
                _ => (version.major, version.minor) <= (wanted.major, wanted.minor),
            },
            Operator::Tilde => self.tilde(version),
            Operator::Caret => self.caret(version),
        }
    }

    /// At least that, and the same as far as the numbers are given, but for the third.
    fn tilde(&self, version: &Version) -> bool {
        let wanted = &self.version;
        let is_any = wanted.numbers() == [0; 3] && matches!(self.given, 0 | 3);
        version >= wanted
            && (is_any || version.major == wanted.major && (version.minor == wanted.minor || self.given == 1))
    }

    fn differs(&self, version: &Version) -> bool {
        let wanted = &self.version;
        match self.given {
            3 => version != wanted,
            1 => version.major != wanted.major,
            2 => {
                (version.major, version.minor) != (wanted.major, wanted.minor)
                    || (!version.pre.is_empty() || !wanted.pre.is_empty()) && version.pre != wanted.pre
            }
            _ => {
                (version.major, version.minor) != (wanted.major, wanted.minor)
                    || version.patch != wanted.patch
                    || version != wanted
            }
        }
    }

    /// At least that, and the same in the first number that is not 0.
    fn caret(&self, version: &Version) -> bool {
        let wanted = &self.version;
        if version < wanted {
            return false;
        }
        if wanted.major > 0 || self.given == 1 {
            return version.major == wanted.major;
        }
        if version.major > 0 {
            return false;
        }
        if wanted.minor > 0 || self.given == 2 {
            return version.minor == wanted.minor;
        }
        version.minor == 0 && version.patch == wanted.patch
    }
}
