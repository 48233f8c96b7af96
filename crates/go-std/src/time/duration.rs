//! `time.Duration`: nanoseconds.

use super::parse::quoted as shown;

const SECOND: u64 = 1_000_000_000;

/// As `String` has it: `1h2m3.5s`, `1.5µs`, `0s`.
pub fn duration_string(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let total = nanoseconds.unsigned_abs();
    let text = match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{total}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(total, 1_000)),
        1_000_000..SECOND => format!("{}ms", decimal(total, 1_000_000)),
        _ => {
            let (minutes, seconds) = (total / (60 * SECOND), decimal(total % (60 * SECOND), SECOND));
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// `value / unit` with as many places as it takes.
fn decimal(value: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let fraction = format!("{:0width$}", value % unit);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", value / unit)
}

/// `time.ParseDuration`: signed decimal numbers with units, `1h-` no; the error is Go's text.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let quoted = || shown(text.as_bytes());
    let invalid = || format!("time: invalid duration {}", quoted());
    let (is_negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(whole_end);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", quoted()));
        }
        let nanoseconds: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => {
                let unit = shown(unit.as_bytes());
                return Err(format!("time: unknown unit {unit} in duration {}", quoted()));
            }
        };
        let value: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let value = value.checked_mul(nanoseconds).filter(|value| *value <= 1 << 63).ok_or_else(invalid)?;
        total = total
            .checked_add(value + part(fraction, nanoseconds))
            .filter(|total| *total <= 1 << 63)
            .ok_or_else(invalid)?;
        rest = after;
    }
    if is_negative {
        return 0i64.checked_sub_unsigned(total).ok_or_else(invalid);
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// `0.fraction · unit`; digits beyond what fits 63 bits don't count.
fn part(fraction: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for digit in fraction.bytes() {
        let Some(next) = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0'))) else {
            break;
        };
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// `Duration.Truncate`: to the multiple that is next toward zero.
pub fn truncate_duration(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 { duration } else { duration - duration % multiple }
}

/// `Duration.Round`: to the nearest multiple, halves away from zero.
pub fn round_duration(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 {
        return duration;
    }
    let rest = duration % multiple;
    let is_up = rest.unsigned_abs() >= (multiple as u64).div_ceil(2);
    let down = duration - rest;
    match (duration < 0, is_up) {
        (_, false) => down,
        (true, true) => down.checked_sub(multiple).unwrap_or(i64::MIN),
        (false, true) => down.checked_add(multiple).unwrap_or(i64::MAX),
    }
}
