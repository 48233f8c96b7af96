//! Pathspecs as `git ls-files -- PATTERN` reads one at the top of a work tree.
//!
//! Reference: git 2.47 pathspec.c and dir.c `match_pathspec_item`.
#![expect(clippy::indexing_slicing, reason = "the path begins with the text and is longer")]

use dry_files::path::{PathError, RepoPath};

use super::wildmatch::{Options, Wildmatch};

/// A parsed pathspec.
#[derive(Debug)]
pub(super) struct Pathspec {
    /// Without magic, in its plain form; a `/` at its end stays.
    text: String,
    /// What has wildcards.
    wildcards: Option<Wildmatch>,
    is_exclude: bool,
    ignores_case: bool,
    directory: RepoPath,
}

/// Why git would not take a pathspec, in its words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    #[error("Invalid pathspec magic '{0}' in '{1}'")]
    Magic(String, String),
    #[error("Unimplemented pathspec magic '{0}' in '{1}'")]
    ShortMagic(char, String),
    #[error("Missing ')' at the end of pathspec magic in '{0}'")]
    Unclosed(String),
    #[error("{0}: 'literal' and 'glob' are incompatible")]
    LiteralAndGlob(String),
    #[error("{0}: '{0}' is outside repository")]
    Outside(String),
    #[error("pathspec magic not supported here: '{0}' in '{1}'")]
    Unsupported(String, String),
}

#[derive(Debug, Default)]
struct Magic {
    glob: bool,
    literal: bool,
    ignores_case: bool,
    is_exclude: bool,
}

impl Pathspec {
    pub(super) fn new(text: &str) -> Result<Self, Error> {
        let (magic, rest) = match text.strip_prefix(':') {
            None => (Magic::default(), text),
            Some("") => (Magic::default(), ""),
            Some(rest) => match rest.strip_prefix('(') {
                Some(rest) => long_magic(text, rest)?,
                None => short_magic(text, rest)?,
            },
        };
        let is_special = |c: char| matches!(c, '*' | '?' | '[' | '\\');
        let plain = normalized(rest).ok_or_else(|| Error::Outside(rest.to_owned()))?;
        let first_special = if magic.literal { None } else { plain.find(is_special) };
        let wildcards = first_special
            .map(|_| Wildmatch::new(&plain, Options { stops_at_slash: magic.glob, ignores_case: magic.ignores_case }));
        // A file whose name is the pattern itself is meant, too: nothing behind the first wildcard is sure.
        let literal = plain.get(..first_special.unwrap_or(plain.len())).unwrap_or_default();
        let directory = match literal.rsplit_once('/') {
            Some((directory, _)) if !magic.ignores_case && !magic.is_exclude => RepoPath::clean(directory),
            _ => Ok(RepoPath::root()),
        };
        Ok(Self {
            text: plain,
            wildcards,
            is_exclude: magic.is_exclude,
            ignores_case: magic.ignores_case,
            directory: directory.unwrap_or_default(),
        })
    }

    /// The directory in which everything lies that matches.
    pub(super) fn literal_directory(&self) -> &RepoPath {
        &self.directory
    }

    /// How much work [`Pathspec::matches`] is.
    pub(super) fn steps(&self, path: &str) -> usize {
        path.len().saturating_mul(self.wildcards.as_ref().map_or(1, Wildmatch::len))
    }

    /// Whether the path of a file matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.matches_item(path) != self.is_exclude
    }

    fn matches_item(&self, path: &str) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let text = self.text.as_bytes();
        let is_prefix = path.as_bytes().get(..text.len()).is_some_and(|start| self.is_same(start, text));
        if is_prefix && (path.len() == text.len() || text.ends_with(b"/") || path.as_bytes()[text.len()] == b'/') {
            return true;
        }
        self.wildcards.as_ref().is_some_and(|wildcards| wildcards.matches(path.as_bytes()))
    }

    fn is_same(&self, one: &[u8], two: &[u8]) -> bool {
        match self.ignores_case {
            true => one.eq_ignore_ascii_case(two),
            false => one == two,
        }
    }
}

fn long_magic<'a>(text: &str, rest: &'a str) -> Result<(Magic, &'a str), Error> {
    let Some((words, path)) = rest.split_once(')') else { return Err(Error::Unclosed(text.to_owned())) };
    let mut magic = Magic::default();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        match word {
            "top" => {}
            "glob" => magic.glob = true,
            "literal" => magic.literal = true,
            "icase" => magic.ignores_case = true,
            "exclude" => magic.is_exclude = true,
            _ if word.starts_with("attr:") || word.starts_with("prefix:") => {
                return Err(Error::Unsupported(word.to_owned(), text.to_owned()));
            }
            _ => return Err(Error::Magic(word.to_owned(), text.to_owned())),
        }
    }
    if magic.glob && magic.literal {
        return Err(Error::LiteralAndGlob(text.to_owned()));
    }
    Ok((magic, path))
}

fn short_magic<'a>(text: &str, rest: &'a str) -> Result<(Magic, &'a str), Error> {
    let mut magic = Magic::default();
    let mut rest = rest;
    while let Some(c) = rest.chars().next() {
        match c {
            ':' => return Ok((magic, &rest[1..])),
            '!' | '^' => magic.is_exclude = true,
            '/' => {}
            '"' | '#' | '%' | '&' | '\'' | ',' | '-' | ';' | '<' | '=' | '>' | '@' | '_' | '`' | '~' => {
                return Err(Error::ShortMagic(c, text.to_owned()));
            }
            _ => break,
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok((magic, rest))
}

/// The path as git puts it: without `.` and `..`, a `/` at its end kept. None when it leads out of the tree.
fn normalized(text: &str) -> Option<String> {
    let path = match RepoPath::clean(text) {
        Ok(path) => path,
        Err(PathError::Absolute | PathError::Escapes | PathError::NotPlain | PathError::Nul) => return None,
    };
    let ends_with_slash = text.ends_with('/') && !path.is_root();
    Some(format!("{}{}", path.as_str(), if ends_with_slash { "/" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 6] = ["a/[x].json", "a/b/config.json", "a/config.json", "c/.h.json", "c/x.yaml", "config.json"];

    /// What `git ls-files -- PATTERN` of git 2.47 lists.
    #[test]
    fn listed() {
        let rows: &[(&str, &[&str])] = &[
            ("**/config.json", &["a/b/config.json", "a/config.json"]),
            ("*/config.json", &["a/b/config.json", "a/config.json"]),
            ("*.json", &["a/[x].json", "a/b/config.json", "a/config.json", "c/.h.json", "config.json"]),
            ("a/*.json", &["a/[x].json", "a/b/config.json", "a/config.json"]),
            ("a", &["a/[x].json", "a/b/config.json", "a/config.json"]),
            ("a/", &["a/[x].json", "a/b/config.json", "a/config.json"]),
            ("./a//b/", &["a/b/config.json"]),
            ("config.json/", &[]),
            ("a/**/config.json", &["a/b/config.json"]),
            ("a/[x].json", &["a/[x].json"]),
            ("a/[[]x].json", &["a/[x].json"]),
            ("a/\\[x].json", &["a/[x].json"]),
            (":(glob)**/config.json", &["a/b/config.json", "a/config.json", "config.json"]),
            (":(glob)a/*.json", &["a/[x].json", "a/config.json"]),
            (":(glob)a/**", &["a/[x].json", "a/b/config.json", "a/config.json"]),
            (":(literal)a/[x].json", &["a/[x].json"]),
            (":(icase)CONFIG.json", &["config.json"]),
            (":(icase)A/CON*", &["a/config.json"]),
            (":!a", &["c/.h.json", "c/x.yaml", "config.json"]),
            (":^a", &["c/.h.json", "c/x.yaml", "config.json"]),
            (":/c", &["c/.h.json", "c/x.yaml"]),
            (":(top,glob)*.json", &["config.json"]),
            ("{a,c}/*", &[]),
            ("?/x.yaml", &["c/x.yaml"]),
            ("c?x.yaml", &["c/x.yaml"]),
            ("a/../c", &["c/.h.json", "c/x.yaml"]),
            (".", &FILES),
            (":", &FILES),
        ];
        for (pattern, expected) in rows {
            let pathspec = Pathspec::new(pattern).expect(pattern);
            let found: Vec<&str> = FILES.into_iter().filter(|file| pathspec.matches(file)).collect();
            assert_eq!(found, *expected, "{pattern}");
            let outside = found
                .iter()
                .find(|file| !RepoPath::new(file).expect("plain").starts_with(pathspec.literal_directory()));
            assert_eq!(outside, None, "{pattern} is looked for in {}", pathspec.literal_directory());
        }
    }

    #[test]
    fn what_git_does_not_take() {
        let rows = [
            (":(nosuch)a", "Invalid pathspec magic 'nosuch' in ':(nosuch)a'"),
            (":(glob", "Missing ')' at the end of pathspec magic in ':(glob'"),
            (":(glob,literal)a", ":(glob,literal)a: 'literal' and 'glob' are incompatible"),
            (":#a", "Unimplemented pathspec magic '#' in ':#a'"),
            ("../a", "../a: '../a' is outside repository"),
            ("/a/x", "/a/x: '/a/x' is outside repository"),
        ];
        for (pattern, expected) in rows {
            let error = Pathspec::new(pattern).expect_err(pattern);
            assert_eq!(error.to_string(), expected);
        }
    }
}
