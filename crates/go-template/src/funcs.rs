//! The functions that templates can call, by subject.

mod builtins;
mod cases;
mod certs;
mod common;
mod crypto;
mod dates;
mod defaults;
mod dicts;
mod durations;
mod encode;
mod formats;
mod lists;
mod math;
mod paths;
mod pretty;
mod random;
mod regex;
mod semver;
mod strict;
mod strings;
mod toml;
mod url;

pub use formats::marshal_yaml;
pub use toml::TomlVersion;

use super::function::Functions;
use super::json::WrongBytes;

impl Functions {
    /// Go's own functions and Sprig's, without those that need a chart or the world: `include`, `tpl`, `required`,
    /// `fail`, `lookup`, `env`, `expandenv`.
    pub fn standard() -> Self {
        let mut table = Self::new();
        builtins::add(&mut table);
        cases::add(&mut table);
        certs::add(&mut table);
        crypto::add(&mut table);
        dates::add(&mut table);
        defaults::add(&mut table);
        dicts::add(&mut table);
        encode::add(&mut table);
        formats::add(&mut table);
        lists::add(&mut table);
        math::add(&mut table);
        paths::add(&mut table);
        random::add(&mut table);
        regex::add(&mut table);
        semver::add(&mut table);
        strings::add(&mut table);
        url::add(&mut table);
        table
    }

    /// Lets the functions for TOML be those of a version of their library, the newest else.
    pub fn with_toml(mut self, version: TomlVersion) -> Self {
        formats::add_toml(&mut self, version);
        self
    }

    /// Lets the functions that write JSON make something else of bytes that are no UTF-8; they escape them else.
    pub fn with_json(mut self, wrong_bytes: WrongBytes) -> Self {
        formats::add_json(&mut self, wrong_bytes);
        self
    }

    /// Adds the functions for durations that Helm has beside Sprig's.
    pub fn with_durations(mut self) -> Self {
        durations::add(&mut self);
        self
    }
}
