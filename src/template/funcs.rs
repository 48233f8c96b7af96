//! The functions that templates can call, by subject.

mod builtins;
mod dates;
mod url;

use super::function::Functions;

impl Functions {
    /// Go's own functions and Sprig's, without those that need a chart or the world: `include`, `tpl`, `required`,
    /// `fail`, `lookup`, `env`, `expandenv`.
    pub fn standard() -> Self {
        let mut table = Self::new();
        builtins::add(&mut table);
        dates::add(&mut table);
        table
    }
}
