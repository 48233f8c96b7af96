//! Runs a command over many repositories, one after the other; a failure in one stops no other.

use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;
use serde_json::json;

use super::{Outcome, output};

/// What was done or found in each repository, or why nothing was.
pub(super) struct Every<T> {
    results: Vec<(PathBuf, anyhow::Result<Vec<T>>)>,
    /// What the list is called in JSON.
    name: &'static str,
}

impl<T: Serialize> Every<T> {
    pub(super) fn new(results: Vec<(PathBuf, anyhow::Result<Vec<T>>)>, name: &'static str) -> Self {
        Self { results, name }
    }

    /// The lists of those where nothing failed.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Vec<T>> {
        self.results.iter().filter_map(|(_, list)| list.as_ref().ok())
    }

    /// Prints them, each repository below its path.
    pub(super) fn print(&self, json: bool, text: impl Fn(&[T]) -> String) -> anyhow::Result<()> {
        if json {
            let mut all = Vec::new();
            for (path, list) in &self.results {
                let path = path.display().to_string();
                all.push(match list {
                    Ok(list) => json!({ "repository": path, self.name: list }),
                    Err(error) => json!({ "repository": path, "error": format!("{error:#}") }),
                });
            }
            return output::print_json_list("repositories", &all);
        }
        let mut all = String::new();
        for (path, list) in &self.results {
            let text = match list {
                Ok(list) => text(list),
                Err(error) => format!("error    {error:#}\n"),
            };
            all += &format!("{}\n", path.display());
            all.extend(text.lines().map(|line| format!("  {line}\n")));
        }
        output::print(all)
    }

    /// What the exit code says; `found` is whether there was anything to complain of.
    ///
    /// Errors: nothing could be done in some of them.
    pub(super) fn outcome(&self, found: bool) -> anyhow::Result<Outcome> {
        let failed = self.results.iter().filter(|(_, list)| list.is_err()).count();
        if failed > 0 {
            bail!("{failed} of {} repositories failed", self.results.len());
        }
        Ok(if found { Outcome::Found } else { Outcome::Done })
    }
}
