//! The three numbers of a version, readable while the program is compiled.
#![allow(clippy::indexing_slicing, reason = "`part` counts the points, of which there are two at most")]

use std::fmt;

/// The numbers of an exact version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Number {
    /// Reads `4.2.3`: three decimal numbers without leading zeros, up to 9999.
    pub(crate) const fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0; 3];
        let (mut part, mut digits, mut rest) = (0, 0, text.as_bytes());
        while let [byte, tail @ ..] = rest {
            rest = tail;
            match *byte {
                b'.' if digits > 0 && part < 2 => (part, digits) = (part + 1, 0),
                digit @ b'0'..=b'9' if digits < 4 => {
                    if digits > 0 && numbers[part] == 0 {
                        return None;
                    }
                    numbers[part] = numbers[part] * 10 + (digit - b'0') as u16;
                    digits += 1;
                }
                _ => return None,
            }
        }
        let [major, minor, patch] = numbers;
        if part == 2 && digits > 0 { Some(Self { major, minor, patch }) } else { None }
    }

    /// Whether this one comes before another or is that.
    pub(crate) const fn at_most(self, other: Self) -> bool {
        if self.major != other.major {
            return self.major < other.major;
        }
        if self.minor != other.minor {
            return self.minor < other.minor;
        }
        self.patch <= other.patch
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
