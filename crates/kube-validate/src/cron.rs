//! Schedules of cron.
//!
//! Reference: robfig/cron 3.0.1 parser.go `ParseStandard`.

/// A field: its smallest and largest number, and the names that stand for numbers from the smallest on.
type Field = (u32, u32, &'static [&'static str]);

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Field; 5] = [(0, 59, &[]), (0, 23, &[]), (1, 31, &[]), (1, 12, MONTHS), (0, 6, DAYS)];
const DESCRIPTORS: &[&str] = &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// What is wrong with a schedule; `None` if nothing is.
pub(crate) fn wrong(text: &str) -> Option<String> {
    if text.contains("TZ") {
        return Some("must not name a time zone: use `timeZone`".to_owned());
    }
    if text.starts_with('@') {
        let is_known = DESCRIPTORS.contains(&text);
        let every = text.strip_prefix("@every ").map(go_std::time::parse_duration);
        return (!is_known && !matches!(every, Some(Ok(_)))).then(|| "is an unknown descriptor".to_owned());
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!("must have 5 fields, and has {}", fields.len()));
    }
    fields
        .iter()
        .zip(FIELDS)
        .find_map(|(text, field)| text.split(',').filter(|part| !part.is_empty()).find_map(|part| range(part, field)))
}

/// Whether a schedule that is right names no day of any year, such as the 31st of February.
pub(crate) fn never_runs(text: &str) -> bool {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [_, _, day, month, "*"] = fields.as_slice() else { return false };
    let longest = |month: u32| match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let numbers = |text: &str| text.split(',').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    let (Some(days), Some(months)) = (numbers(day), numbers(month)) else { return false };
    days.iter().all(|day| months.iter().all(|month| *day > longest(*month)))
}

fn range(text: &str, field: Field) -> Option<String> {
    let (least, most, names) = field;
    let mut halves = text.split('/');
    let (extent, step, more) = (halves.next().unwrap_or_default(), halves.next(), halves.next());
    let mut bounds = extent.split('-');
    let (from, to, third) = (bounds.next().unwrap_or_default(), bounds.next(), bounds.next());
    if third.is_some() || more.is_some() {
        return Some(format!("has too many hyphens or slashes: {text}"));
    }
    let number = |text: &str| {
        let name = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        name.and_then(|at| u32::try_from(at).ok()).map(|at| at + least).or_else(|| plain(text))
    };
    let (start, end) = if matches!(from, "*" | "?") {
        (least, most)
    } else {
        let Some(start) = number(from) else { return Some(format!("has no number or name where it has `{from}`")) };
        match to {
            None if step.is_some() => (start, most),
            None => (start, start),
            Some(to) => match number(to) {
                Some(end) => (start, end),
                None => return Some(format!("has no number or name where it has `{to}`")),
            },
        }
    };
    if step.is_some_and(|step| plain(step).is_none_or(|step| step == 0)) {
        return Some(format!("has a step that is not a positive number: {text}"));
    }
    (start < least || end > most || start > end).then(|| format!("has {text}, which is outside of {least} to {most}"))
}

/// As Go's `strconv.Atoi` reads it, not negative.
fn plain(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}
