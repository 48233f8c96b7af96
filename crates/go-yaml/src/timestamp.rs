//! Timestamps: which plain scalars are one.

use go_std::time::{self, Time};

/// `2006-1-2`, `2006-1-2 15:4:5.9` (any number of blanks) or `2006-1-2T15:4:5.9Z` (`t`; `+07:00`).
const LAYOUTS: [&str; 4] =
    ["2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"];

/// Reads a timestamp.
///
/// Reference: go-yaml v3.0.4 resolve.go, `parseTimestamp`.
pub(super) fn parse(text: &str) -> Option<Time> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits != 4 || text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    LAYOUTS.iter().find_map(|layout| time::parse(layout, text.as_bytes()).ok())
}
