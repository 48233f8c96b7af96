//! Times as people write them: `an hour ago`, `90m`, `yesterday 08:43`, `2026-11-29`.
//!
//! Git reads any word as now, so only what is understood here is given to it.

/// The forms that are understood.
pub(super) const FORMS: &str = "2 hours ago, 90m, yesterday, 08:43, 2026-11-29 or '2026-11-29 08:43 UTC'";

/// The units, by what people write, in git's words.
const UNITS: [(&[&str], &str); 7] = [
    (&["s", "sec", "secs", "second", "seconds"], "seconds"),
    (&["m", "min", "mins", "minute", "minutes"], "minutes"),
    (&["h", "hr", "hrs", "hour", "hours"], "hours"),
    (&["d", "day", "days"], "days"),
    (&["w", "week", "weeks"], "weeks"),
    (&["month", "months"], "months"),
    (&["y", "year", "years"], "years"),
];

/// The time in words that git reads in one way alone; none where it is not understood.
pub(super) fn for_git(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let zulu = [" utc", " gmt"].into_iter().find_map(|zone| text.strip_suffix(zone)).map(|time| format!("{time}z"));
    let text = zulu.unwrap_or(text);
    ago(&text).or_else(|| at(&text))
}

/// `an hour ago`, `half an hour ago`, `30 mins`, `1h`.
fn ago(text: &str) -> Option<String> {
    let text = text.strip_suffix("ago").map_or(text, str::trim_end);
    if ["half an hour", "half hour"].contains(&text) {
        return Some("30 minutes ago".to_owned());
    }
    let (count, unit) = match text.strip_prefix("an ").or_else(|| text.strip_prefix("a ")) {
        Some(unit) => ("1", unit),
        None => {
            let (count, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
            (count, unit.trim_start())
        }
    };
    let (_, unit) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    count.parse::<u32>().is_ok().then(|| format!("{count} {unit} ago"))
}

/// A day, which is its start, a time of today, or both.
fn at(text: &str) -> Option<String> {
    if text == "yesterday" {
        return Some("1 days ago".to_owned());
    }
    let of_day = || text.split_once('t').filter(|(day, _)| is_day(day));
    let (day, time) = match text.split_once(' ').or_else(of_day) {
        Some((day, time)) => (day, Some(time)),
        None if is_day(text) => (text, None),
        None => return is_clock(text).then(|| text.to_owned()),
    };
    // Without a date git reads no zone.
    match day {
        "today" => time.filter(|time| is_clock(time)).map(str::to_owned),
        "yesterday" => time.filter(|time| is_clock(time)).map(|time| format!("yesterday {time}")),
        day if is_day(day) && time.is_none_or(is_time) => Some(format!("{day} {}", time.unwrap_or("00:00:00"))),
        _ => None,
    }
}

/// `2026-11-29`
fn is_day(text: &str) -> bool {
    let numbers: Option<Vec<u32>> = text.split('-').map(|number| number.parse().ok()).collect();
    matches!(numbers.as_deref(), Some([1970..=9999, 1..=12, 1..=31])) && text.len() == 10
}

/// `08:43` or `08:43:12`, and a zone behind it: `Z`, `+01:00`, `+0100`.
fn is_time(text: &str) -> bool {
    let (time, zone) = text.split_at(text.find(['z', '+', '-']).unwrap_or(text.len()));
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(offset) => is_number(&offset.replacen(':', "", 1), 4),
        None => matches!(zone, "" | "z"),
    };
    is_clock(time.trim_end()) && is_zone
}

/// `08:43` or `08:43:12`.
fn is_clock(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let is_below = |part: &str, end: u32| is_number(part, 2) && part.parse::<u32>().is_ok_and(|number| number < end);
    match parts[..] {
        [hours, minutes] => is_below(hours, 24) && is_below(minutes, 60),
        [hours, minutes, seconds] => is_below(hours, 24) && is_below(minutes, 60) && is_below(seconds, 61),
        _ => false,
    }
}

/// Whether a text is so many digits.
fn is_number(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_understood_or_is_not() {
        for (text, expected) in [
            ("an hour ago", "1 hours ago"),
            ("An hour ago", "1 hours ago"),
            ("half an hour ago", "30 minutes ago"),
            ("30 mins ago", "30 minutes ago"),
            ("30mins", "30 minutes ago"),
            ("a minute ago", "1 minutes ago"),
            ("1h", "1 hours ago"),
            ("2 weeks ago", "2 weeks ago"),
            ("a month ago", "1 months ago"),
            ("yesterday", "1 days ago"),
            ("yesterday 08:43", "yesterday 08:43"),
            ("today 08:43", "08:43"),
            ("08:43", "08:43"),
            ("2026-11-29", "2026-11-29 00:00:00"),
            ("2026-11-29 08:43", "2026-11-29 08:43"),
            ("2026-11-29T08:43:12Z", "2026-11-29 08:43:12z"),
            ("2026-11-29T08:43:12+01:00", "2026-11-29 08:43:12+01:00"),
            ("2026-11-29 08:43:12 +0100", "2026-11-29 08:43:12 +0100"),
            ("2026-11-29 08:43:12 UTC", "2026-11-29 08:43:12z"),
        ] {
            assert_eq!(for_git(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "a few minutes ago",
            "ago",
            "an ago",
            "1x",
            "1h30m",
            "hour ago",
            "one hour ago",
            "now",
            "2026-13-29",
            "2026-1-2",
            "29.11.2026",
            "25:00",
            "8:43",
            "08:43Z",
            "08:43 UTC",
            "yesterday 08:43 +0100",
            "08:43 or so",
            "tomorrow",
            "last friday",
            "99999999999 hours ago",
        ] {
            assert_eq!(for_git(text), None, "{text}");
        }
    }
}
