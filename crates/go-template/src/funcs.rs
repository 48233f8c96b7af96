//! The functions that templates can call, by subject.

mod builtins;
mod cases;
mod certs;
mod common;
mod crypto;
mod dates;
mod defaults;
mod dicts;
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

use super::function::Functions;

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
}
