//! Version ranges.

use super::{Parts, Version, scan};

/// Why a text is not a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Not a list of comparisons; with the text, hyphen ranges written out.
    #[error("improper constraint: {}", crate::strconv::quote(.0))]
    Improper(String),
    /// Longer than a range is read: finding ranges with hyphens takes time by the square of it.
    #[error("a version constraint of more than {BYTES_MAX} bytes")]
    TooLong,
    /// A comparison with something that is not a version.
    #[error("constraint parser error")]
    Version,
}

/// How long a range may be.
const BYTES_MAX: usize = 4096;

/// A range of versions: groups of comparisons, of which all in one group have to match.
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
        if text.len() > BYTES_MAX {
            return Err(RangeError::TooLong);
        }
        let text = without_hyphens(text);
        let groups = text.split("||").map(group).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Whether a version is in the range. One with a pre-release is only in groups that name a pre-release somewhere.
    pub fn has(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let takes_pre = group.iter().any(|comparison| !comparison.version.pre.is_empty());
            (version.pre.is_empty() || takes_pre) && group.iter().all(|comparison| comparison.matches(version))
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
            let number = |index: usize| {
                let number = parts.numbers.get(index).filter(|_| index < given);
                number.copied().flatten().unwrap_or("0")
            };
            let pre = parts.pre.map(|pre| format!("-{pre}")).unwrap_or_default();
            format!("{}.{}.{}{pre}", number(0), number(1), number(2))
        };
        let version = Version::new(&text).map_err(|_| RangeError::Version)?;
        Ok(Self { operator, version, given })
    }

    fn matches(&self, version: &Version) -> bool {
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
