//! TOML as BurntSushi/toml reads and writes it.

mod decode;
mod encode;

pub(super) use decode::decode;
pub(super) use encode::encode;

/// A version of BurntSushi/toml, older ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TomlVersion {
    /// 1.4: TOML 1.0. An error at the end of the text is in the line before.
    V1_4,
    /// 1.5: TOML 1.0.
    V1_5,
    /// 1.6: TOML 1.1. Large and small numbers are written with an exponent.
    V1_6,
}

/// The names of the zones that mark times without one, as in BurntSushi.
const LOCAL_DATETIME: &str = "datetime-local";
const LOCAL_DATE: &str = "date-local";
const LOCAL_TIME: &str = "time-local";
