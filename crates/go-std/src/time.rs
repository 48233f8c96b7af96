//! Go's `time`: instants with a zone, layouts and durations.
//!
//! The local zone is UTC, whatever the machine's, as with `TZ=UTC`: another place in memory, which `eq` distinguishes from UTC.

mod duration;
mod format;
mod parse;

use std::fmt;
use std::rc::Rc;
use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::strconv::quote;

pub use duration::{duration_string, parse_duration, round_duration, truncate_duration};
pub use parse::parse;

/// `time.Time`: an instant, and the zone in which it is shown.
#[derive(Debug, Clone)]
pub struct Time {
    /// Since 1970 UTC.
    seconds: i64,
    /// Below a second, always forward.
    nanoseconds: u32,
    zone: Zone,
}

/// The zone of a [`Time`].
#[derive(Debug, Clone)]
pub enum Zone {
    /// `time.UTC`
    Utc,
    /// `time.Local`
    Local,
    /// An offset that was read from text.
    Fixed(Rc<Fixed>),
    /// One of the IANA database.
    Named(TimeZone),
}

/// `time.FixedZone`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// In seconds east.
    pub offset: i32,
    /// Empty when the text had none.
    pub name: String,
}

impl Zone {
    /// By its IANA name; `None` when there is no zone of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "" | "UTC" | "Local" => Some(Zone::Utc),
            name => {
                static BUNDLED: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
                // Names are files to Go, so their case counts.
                BUNDLED.get(name).ok().filter(|zone| zone.iana_name() == Some(name)).map(Zone::Named)
            }
        }
    }

    /// An offset in seconds east, with a name that may be empty.
    pub fn fixed(offset: i32, name: impl Into<String>) -> Self {
        Zone::Fixed(Rc::new(Fixed { offset, name: name.into() }))
    }

    /// Whether both are one `*time.Location`. Go keeps those of whole hours without a name, and TOML its own three.
    pub fn is_same(&self, other: &Zone) -> bool {
        match (self, other) {
            (Zone::Utc, Zone::Utc) | (Zone::Local, Zone::Local) => true,
            (Zone::Fixed(one), Zone::Fixed(two)) => {
                let is_kept = match one.name.as_str() {
                    "" => one.offset % 3600 == 0 && (-12..=14).contains(&(one.offset / 3600)),
                    name => name.ends_with("-local"),
                };
                Rc::ptr_eq(one, two) || is_kept && one == two
            }
            _ => false,
        }
    }

    /// Whether two locations are equal all the way down.
    fn is_alike(&self, other: &Zone) -> bool {
        match (self, other) {
            (Zone::Fixed(one), Zone::Fixed(two)) => one == two,
            _ => self.is_same(other),
        }
    }

    /// As `Location.String` has it.
    pub fn name(&self) -> &str {
        match self {
            Zone::Utc | Zone::Local => "UTC",
            Zone::Fixed(zone) => &zone.name,
            Zone::Named(zone) => zone.iana_name().unwrap_or_default(),
        }
    }
}

/// A time as clocks and calendars show it.
#[derive(Debug, Clone)]
pub struct Civil {
    /// As astronomers count: 0 is 1 BC.
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
    /// From 1.
    pub year_day: u16,
    /// 0 is Sunday.
    pub weekday: u8,
    /// From 0 to 23.
    pub hour: u8,
    /// From 0.
    pub minute: u8,
    /// From 0 to 59.
    pub second: u8,
    /// Below the second.
    pub nanosecond: u32,
    /// Seconds east of UTC.
    pub offset: i32,
    /// Empty when the zone has no name for this offset.
    pub zone: String,
}

/// The seconds of a day.
pub const DAY: i64 = 86_400;
/// The year 1, the first instant of Go's calendar, in seconds since 1970.
pub const YEAR_ONE: i64 = -62_135_596_800;

impl Time {
    /// Seconds since 1970 and nanoseconds on top, in UTC.
    pub fn unix(seconds: i64, nanoseconds: u32) -> Self {
        Time { seconds, nanoseconds, zone: Zone::Utc }
    }

    /// Go's zero time: the year 1.
    pub fn zero() -> Self {
        Self::unix(YEAR_ONE, 0)
    }

    /// This instant, shown in another zone.
    pub fn with_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Seconds since 1970.
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Nanoseconds below the second.
    pub fn nanoseconds(&self) -> u32 {
        self.nanoseconds
    }

    /// The zone in which it is shown.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Whether both are the same instant, whatever their zones.
    pub fn is_same_instant(&self, other: &Time) -> bool {
        (self.seconds, self.nanoseconds) == (other.seconds, other.nanoseconds)
    }

    /// Go's `==`: the same instant, shown in the one zone.
    pub fn is_same(&self, other: &Time) -> bool {
        self.is_same_instant(other) && self.zone.is_same(&other.zone)
    }

    /// `reflect.DeepEqual`: the same instant, shown in zones that are alike.
    pub fn is_alike(&self, other: &Time) -> bool {
        self.is_same_instant(other) && self.zone.is_alike(&other.zone)
    }

    /// Later by a duration; stays at the ends of time.
    pub fn plus(&self, nanoseconds: i64) -> Self {
        let total = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(1_000_000_000);
        let seconds =
            self.seconds.saturating_add(nanoseconds.div_euclid(1_000_000_000)).saturating_add(total / 1_000_000_000);
        Time { seconds, nanoseconds: (total % 1_000_000_000) as u32, zone: self.zone.clone() }
    }

    /// Later by years, months and days on the calendar, days beyond the end of a month running on into the next. `None` for
    /// what is more than a billion of them away.
    pub fn plus_date(self, years: i64, months: i64, days: i64) -> Option<Self> {
        let Civil { year, month, day, hour, minute, second, offset, .. } = self.civil();
        if [years, months, days].iter().any(|count| count.unsigned_abs() > 1_000_000_000) {
            return None;
        }
        let month = i64::from(month) - 1 + months;
        let (year, month) = (year + years + month.div_euclid(12), month.rem_euclid(12) as u8 + 1);
        let second_of_day = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        let local = seconds_of_civil(year, month, 1, second_of_day) + (i64::from(day) - 1 + days) * DAY;
        Some(Time { seconds: local - i64::from(offset), ..self })
    }

    /// Whether the zone shows summer time.
    pub fn is_dst(&self) -> bool {
        match &self.zone {
            Zone::Named(zone) => {
                jiff::Timestamp::from_second(self.seconds).is_ok_and(|at| zone.to_offset_info(at).dst().is_dst())
            }
            Zone::Utc | Zone::Local | Zone::Fixed(_) => false,
        }
    }

    /// To a multiple of a duration since the year 1: the nearest, a half going up, or the one before.
    pub fn rounded(self, multiple: i64, is_down: bool) -> Self {
        if multiple <= 0 {
            return self;
        }
        let since = (i128::from(self.seconds) - i128::from(YEAR_ONE)) * 1_000_000_000 + i128::from(self.nanoseconds);
        let multiple = i128::from(multiple);
        let rest = since.rem_euclid(multiple);
        let shift = if is_down || rest + rest < multiple { -rest } else { multiple - rest };
        self.plus(shift as i64)
    }

    /// How many parts of a second have passed since 1970, `per_second` of them in one.
    pub fn unix_in(&self, per_second: i64) -> i64 {
        let below = i64::from(self.nanoseconds) / (1_000_000_000 / per_second);
        self.seconds.wrapping_mul(per_second).wrapping_add(below)
    }

    /// The duration since another time, at most what 64 bits hold.
    pub fn since(&self, other: &Time) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        let total = seconds * 1_000_000_000 + i128::from(self.nanoseconds) - i128::from(other.nanoseconds);
        total.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// What clocks and calendars of the zone show.
    pub fn civil(&self) -> Civil {
        let (offset, zone) = match &self.zone {
            Zone::Utc | Zone::Local => (0, "UTC".to_owned()),
            Zone::Fixed(zone) => (zone.offset, zone.name.clone()),
            Zone::Named(zone) => {
                let end = if self.seconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
                let info = zone.to_offset_info(jiff::Timestamp::from_second(self.seconds).unwrap_or(end));
                (info.offset().seconds(), info.abbreviation().to_owned())
            }
        };
        let local = i128::from(self.seconds) + i128::from(offset);
        let days = local.div_euclid(DAY.into()) as i64;
        let second = local.rem_euclid(DAY.into()) as i64;
        let (year, month, day) = civil_of_days(days);
        Civil {
            year,
            month,
            day,
            year_day: (days - days_of_civil(year, 1, 1) + 1) as u16,
            weekday: (days + 4).rem_euclid(7) as u8,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            nanosecond: self.nanoseconds,
            offset,
            zone,
        }
    }

    /// As `json.Marshal` writes it, without quotes; `None` when the year has no four digits.
    pub fn to_json(&self) -> Option<String> {
        let civil = self.civil();
        ((0..10_000).contains(&civil.year) && civil.offset.abs() < DAY as i32)
            .then(|| self.format("2006-01-02T15:04:05.999999999Z07:00"))
    }

    /// What `%#v` and `GoString` print.
    pub fn go_string(&self) -> String {
        let civil = self.civil();
        let location = match &self.zone {
            Zone::Utc => "time.UTC".to_owned(),
            Zone::Local => "time.Local".to_owned(),
            zone @ (Zone::Fixed(_) | Zone::Named(_)) => format!("time.Location({})", quote(zone.name())),
        };
        format!(
            "time.Date({}, time.{}, {}, {}, {}, {}, {}, {location})",
            civil.year,
            month_string(civil.month.into()),
            civil.day,
            civil.hour,
            civil.minute,
            civil.second,
            civil.nanosecond
        )
    }
}

/// As `String` has it: `2020-05-06 00:00:00 +0000 UTC`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("2006-01-02 15:04:05.999999999 -0700 MST"))
    }
}

/// The instant that clocks and calendars show so, in seconds since 1970, `offset` taken off.
pub fn seconds_of_civil(year: i64, month: u8, day: u8, second_of_day: i64) -> i64 {
    days_of_civil(year, month, day).saturating_mul(DAY).saturating_add(second_of_day)
}

/// Days since 1970, in the Gregorian calendar carried on in both directions.
pub fn days_of_civil(year: i64, month: u8, day: u8) -> i64 {
    // Years begin in March here, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_of_days(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u8;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u8;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn named(names: &[&'static str], index: Option<usize>, otherwise: String) -> String {
    index.and_then(|index| names.get(index)).map_or(otherwise, |name| (*name).to_owned())
}

/// `time.Month`'s `String`.
pub fn month_string(month: i64) -> String {
    named(&MONTHS, usize::try_from(month - 1).ok(), format!("%!Month({month})"))
}

/// `time.Weekday`'s `String`.
pub fn weekday_string(day: i64) -> String {
    named(&WEEKDAYS, usize::try_from(day).ok(), format!("%!Weekday({day})"))
}
