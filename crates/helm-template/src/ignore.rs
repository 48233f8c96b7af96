//! `.helmignore`: which files of a chart directory are not part of the chart.

use go_std::path::{BadPattern, Pattern};

/// The name of the file, in the directory of the chart. Archives and subcharts have none that counts.
pub(super) const FILE_NAME: &str = ".helmignore";

/// The longest line that Helm reads.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The rules of one `.helmignore` with the rule that Helm adds: dot files directly in `templates/`.
///
/// Rules count in their order, the first one that decides wins. One that starts with `!` ignores everything that it
/// does *not* match, unlike in `.gitignore`.
///
/// Reference: helm 4.2.3 pkg/ignore/rules.go. Cases `helmignore*`.
#[derive(Debug, Clone)]
pub(super) struct Ignore(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    /// `None` for the rest of a rule that is not a pattern once its `/` is taken off: it matches nothing.
    pattern: Option<Pattern>,
    /// Compare the base name, not the whole path.
    base_name: bool,
    directories_only: bool,
    negated: bool,
}

/// Why a `.helmignore` can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mistake {
    /// A rule has `**`.
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    /// A rule is not a pattern.
    #[error(transparent)]
    BadPattern(#[from] BadPattern),
    /// A line longer than Helm reads.
    #[error("bufio.Scanner: token too long")]
    LongLine,
}

impl Default for Ignore {
    fn default() -> Self {
        Self::parse("").expect("no rule is wrong where there is none")
    }
}

impl Ignore {
    /// No rule at all: how Helm reads an archive.
    pub(super) fn nothing() -> Self {
        Self(Vec::new())
    }

    /// Reads the rules. A mistake comes with its line, 1-based.
    pub(super) fn parse(text: &str) -> Result<Self, (u32, Mistake)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut rules = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            if line.len() >= LINE_BYTES_MAX {
                return Err((number, Mistake::LongLine));
            }
            rules.extend(Rule::parse(line).map_err(|mistake| (number, mistake))?);
        }
        rules.extend(Rule::parse("templates/.?*").expect("a plain pattern"));
        Ok(Self(rules))
    }

    /// Whether the file or directory at `path`, relative to the chart, is left out. A directory takes all below it along.
    pub(super) fn ignores(&self, path: &str, is_directory: bool) -> bool {
        for rule in &self.0 {
            let matches = || {
                let name = if rule.base_name { path.rsplit('/').next().unwrap_or(path) } else { path };
                rule.pattern.as_ref().is_some_and(|pattern| pattern.matches(name))
            };
            let applies = (!rule.directories_only || is_directory) && matches();
            if applies != rule.negated {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, Mistake> {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            return Ok(None);
        }
        if rule.contains("**") {
            return Err(Mistake::DoubleStar);
        }
        Pattern::new(rule)?;
        let (negated, rule) = rule.strip_prefix('!').map_or((false, rule), |rest| (true, rest));
        let (directories_only, rule) = rule.strip_suffix('/').map_or((false, rule), |rest| (true, rest));
        let base_name = !rule.contains('/');
        let pattern = Pattern::new(rule.strip_prefix('/').unwrap_or(rule)).ok();
        Ok(Some(Self { pattern, base_name, directories_only, negated }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        // Rules, path, whether it is a directory, whether it is ignored.
        let rows = [
            ("", "a.yaml", false, false),
            ("", "templates/.a.yaml", false, true),
            ("", "templates/a/.a.yaml", false, false),
            ("*.md", "README.md", false, true),
            ("*.md", "docs/a.md", false, true),
            ("docs/*.md", "docs/a.md", false, true),
            ("docs/*.md", "docs/b/a.md", false, false),
            ("/README.md", "README.md", false, true),
            ("/README.md", "docs/README.md", false, false),
            ("docs/", "docs", true, true),
            ("docs/", "docs", false, false),
            ("docs/", "a/docs", true, true),
            ("a/docs/", "a/docs", true, true),
            ("# *\n\n  *.txt  ", "a.txt", false, true),
            ("!*.yaml", "a.yaml", false, false),
            ("!*.yaml", "a.txt", false, true),
            ("!docs/", "docs", false, true),
            ("!docs/", "docs", true, false),
            ("*.yaml\n!*.yaml", "a.yaml", false, true),
            ("a\\/", "a", true, false),
            ("\u{feff}a", "a", false, true),
        ];
        for (text, path, is_directory, expected) in rows {
            let ignore = Ignore::parse(text).expect(text);
            assert_eq!(ignore.ignores(path, is_directory), expected, "{text:?} on {path}");
        }
    }

    #[test]
    fn mistakes_have_their_line() {
        let rows = [("a\n**/b", 2, "double-star (**) syntax is not supported"), ("[", 1, "syntax error in pattern")];
        for (text, line, expected) in rows {
            let (number, mistake) = Ignore::parse(text).expect_err(text);
            assert_eq!((number, mistake.to_string().as_str()), (line, expected), "{text:?}");
        }
    }
}
