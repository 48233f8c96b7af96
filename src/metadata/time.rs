//! A date as git has it.

use go_std as go;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::repo::Signature;

/// A moment with the offset of the clock that it was read from: git's notion of a date.
///
/// Always within the years 0 to 9999 on that clock but for the last two days, so that every form below is well defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Time {
    seconds: i64,
    offset_minutes: i16,
}

impl Time {
    /// Seconds since 1970-01-01T00:00:00Z, and minutes that the clock is ahead of UTC.
    ///
    /// As git does it, what can't be a date is the start of 1970: here, what RFC 3339 can't express. An offset of a day or
    /// more is taken for UTC.
    pub fn new(seconds: i64, offset_minutes: i16) -> Self {
        let offset_minutes = if offset_minutes.unsigned_abs() < 24 * 60 { offset_minutes } else { 0 };
        let time = Self { seconds, offset_minutes };
        if time.civil().is_some() { time } else { Self::default() }
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Minutes that the clock was ahead of UTC; negative to the west.
    pub fn offset_minutes(self) -> i16 {
        self.offset_minutes
    }

    /// The date of a commit.
    pub fn of(signature: &Signature) -> Self {
        Self::new(signature.seconds, i16::try_from(signature.offset / 60).unwrap_or(i16::MAX))
    }

    /// Reads an RFC 3339 date as Go's `time.Parse(time.RFC3339, …)` does; a fraction of a second is dropped.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let time = go::time::parse("2006-01-02T15:04:05Z07:00", text.as_bytes()).ok()?;
        let offset_minutes = i16::try_from(time.civil().offset / 60).ok()?;
        Some(Self { seconds: time.seconds(), offset_minutes })
    }

    /// `2024-03-27T10:32:04Z`, with the offset (`+01:00`) unless it is zero: as Go writes RFC 3339, and as Argo CD and
    /// GitOps Promoter read it.
    pub fn rfc3339(self) -> String {
        format!("{}{}", self.local("%Y-%m-%dT%H:%M:%S"), self.zone("Z"))
    }

    /// `2024-03-27 10:32:04 UTC`, with the offset (`+01:00`) in place of `UTC` unless it is zero.
    ///
    /// Reference: the sample README of the Manifest Hydrator proposal.
    pub fn readable(self) -> String {
        format!("{} {}", self.local("%Y-%m-%d %H:%M:%S"), self.zone("UTC"))
    }

    fn zone(self, utc: &str) -> String {
        if self.offset_minutes == 0 {
            return utc.to_owned();
        }
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.abs();
        format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }

    fn local(self, format: &str) -> String {
        self.civil().unwrap_or_default().strftime(format).to_string()
    }

    /// The date on the clock that was read; none outside of the years 0 to 9999.
    fn civil(self) -> Option<DateTime> {
        let local = self.seconds.checked_add(i64::from(self.offset_minutes) * 60)?;
        let civil = Offset::UTC.to_datetime(jiff::Timestamp::from_second(local).ok()?);
        (0..=9999).contains(&civil.year()).then_some(civil)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_no_date_is_the_start_of_1970() {
        let rows = [
            ((1711535524, 0), "2024-03-27T10:32:04Z"),
            ((1711535524, 90), "2024-03-27T12:02:04+01:30"),
            ((1711535524, -420), "2024-03-27T03:32:04-07:00"),
            ((60, -60), "1969-12-31T23:01:00-01:00"),
            ((1711535524, 24 * 60), "2024-03-27T10:32:04Z"),
            ((1711535524, i16::MIN), "2024-03-27T10:32:04Z"),
            ((253402207200, 0), "9999-12-30T22:00:00Z"),
            ((253402207200, 1), "1970-01-01T00:00:00Z"),
            ((i64::MAX, 0), "1970-01-01T00:00:00Z"),
            ((i64::MIN, 0), "1970-01-01T00:00:00Z"),
        ];
        for ((seconds, offset_minutes), expected) in rows {
            assert_eq!(Time::new(seconds, offset_minutes).rfc3339(), expected, "{seconds} {offset_minutes}");
        }
    }

    #[test]
    fn rfc_3339_as_go_reads_it() {
        let rows = [
            ("2025-10-01T08:23:45-04:00", Some("2025-10-01T08:23:45-04:00")),
            ("2025-10-01T08:23:45Z", Some("2025-10-01T08:23:45Z")),
            ("2025-10-01T08:23:45+00:00", Some("2025-10-01T08:23:45Z")),
            ("2025-10-01T08:23:45-00:00", Some("2025-10-01T08:23:45Z")),
            ("2025-10-01T08:23:45.999Z", Some("2025-10-01T08:23:45Z")),
            ("2025-10-01T08:23:45,5+02:00", Some("2025-10-01T08:23:45+02:00")),
            ("2025-10-01T8:23:45Z", Some("2025-10-01T08:23:45Z")),
            ("2024-02-29T00:00:00Z", Some("2024-02-29T00:00:00Z")),
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z")),
            ("2025-02-29T00:00:00Z", None),
            ("2025-10-01t08:23:45z", None),
            ("2025-10-01 08:23:45Z", None),
            ("2025-10-01T08:23:45", None),
            ("2025-10-01T08:23:45.Z", None),
            ("2025-10-01T08:23:45Z ", None),
            ("2025-10-01T08:23:60Z", None),
            ("2025-10-01T24:00:00Z", None),
            ("2025-10-01T08:23:45+2:00", None),
            ("2025-10-01T08:23:45+0200", None),
            ("2025-10-01T08:23:45+25:00", None),
            ("2025-13-01T08:23:45Z", None),
            ("25-10-01T08:23:45Z", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Time::from_rfc3339(text).map(Time::rfc3339).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn readable_dates() {
        assert_eq!(Time::new(1711535524, 0).readable(), "2024-03-27 10:32:04 UTC");
        assert_eq!(Time::new(1711535524, -90).readable(), "2024-03-27 09:02:04 -01:30");
    }
}
