//! The `git-hydrate` command.

use std::process::ExitCode;

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name, ".md")))),*]
    };
}

/// The pages of the documentation by their names, in the order in which a chapter is looked for. They are here and not in
/// the library, which a word in them would compile again.
const PAGES: &[(&str, &str)] = pages!(
    "user",
    "admin",
    "hosts",
    "migrate",
    "tour",
    "messages",
    "reference",
    "differences",
    "security",
    "architecture",
);

fn main() -> ExitCode {
    git_hydrate::run(PAGES)
}
