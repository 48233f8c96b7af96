//! What templates see of Go's `time`: values, their methods, their locations.

mod location;
mod methods;

use go_std::time::YEAR_ONE;

use super::value::{IntType, UintType, Value};

pub(crate) use go_std::time::Time;
pub(super) use go_std::time::{
    Zone, duration_string, month_string, parse, parse_duration, round_duration, weekday_string,
};
pub(super) use methods::{DURATION_METHODS, NAME_METHODS, TIME_METHODS};

/// The struct's own fields, which only a wrong verb shows.
pub(super) fn fields(time: &Time) -> [(&'static str, Value); 3] {
    [
        ("wall", Value::Uint(UintType::Uint64, time.nanoseconds().into())),
        ("ext", Value::Int(IntType::Int64, time.seconds().saturating_sub(YEAR_ONE))),
        ("loc", Value::Nil),
    ]
}
