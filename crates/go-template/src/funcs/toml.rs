//! TOML as BurntSushi/toml 1.6.0 reads and writes it.

mod decode;
mod encode;

pub(super) use decode::decode;
pub(super) use encode::encode;

/// The names of the zones that mark times without one, as in BurntSushi.
const LOCAL_DATETIME: &str = "datetime-local";
const LOCAL_DATE: &str = "date-local";
const LOCAL_TIME: &str = "time-local";
