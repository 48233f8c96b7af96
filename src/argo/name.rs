//! Checked names: of Applications and of branches.

use std::borrow::Borrow;
use std::fmt;

use dry_files::diag::is_unprintable;

/// The name of an Application or of its namespace, as Kubernetes allows it: a DNS subdomain (RFC 1123).
///
/// Lower-case letters, digits, `-` and `.`; begins and ends with a letter or digit; at most 253 bytes. So it is safe
/// in file names, commit messages and ref names. Ordered by bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppName(String);

/// The name of a branch, without `refs/heads/`. Ordered by bytes.
///
/// What `git check-ref-format --branch` takes, without what other tools would read as something else: see
/// [`NameError`]. At most [`BranchName::BYTES_MAX`] bytes.
///
/// A branch of another repository that hydration writes is `DESTINATION:BRANCH`: no branch of git has a `:` in its name, so
/// the same branch of two repositories is two names, and neither is one of this repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

/// The name of another repository that hydration writes to, as the setting `destinations` has it.
///
/// Lower-case letters, digits and `-`; begins and ends with a letter or digit; at most [`DestinationName::BYTES_MAX`] bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DestinationName(String);

/// Below it are the branches of other repositories, each below the name of its repository.
pub(crate) const OUT: &str = "refs/hydrate/out/";

/// Why a text is no [`AppName`] or [`BranchName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
    /// Longer than the limit.
    #[error("it has {len} bytes; the limit is {max}")]
    TooLong {
        /// How long it is, in bytes.
        len: usize,
        /// How long it may be, in bytes.
        max: usize,
    },
    /// A character that such a name never has.
    #[error("it contains the character {0:?}")]
    Character(char),
    /// A character that is not seen: one that turns the direction of text, or takes no room.
    #[error("it contains the invisible character U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// A character that can't be at one of the ends.
    #[error("it begins or ends with {0:?}")]
    End(char),
    /// A sequence that means something else to git.
    #[error("it contains `{0}`")]
    Sequence(&'static str),
    /// A component of a branch name that is empty: two slashes, or one at an end.
    #[error("the part before or after a `/` is empty")]
    EmptyComponent,
    /// A component of a branch name that starts with a dot.
    #[error("`{0}` starts with a dot")]
    DotComponent(String),
    /// A component of a branch name that ends like git's lock files.
    #[error("`{0}` ends with `.lock`")]
    LockComponent(String),
    /// The whole ref instead of the branch.
    #[error("it is the full name of a ref")]
    FullRef,
    /// The name of a directory of copies, for an instance.
    #[error("it is the name of a directory of copies")]
    OfCopies,
    /// A name that git reads as something other than a branch.
    #[error("git reads it as {0}")]
    Taken(&'static str),
}

impl AppName {
    /// How long a name may be, in bytes.
    pub const BYTES_MAX: usize = 253;

    /// Takes a name that Kubernetes takes for an object.
    pub fn new(text: &str) -> Result<Self, NameError> {
        check_length(text, Self::BYTES_MAX)?;
        let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if let Some(c) = text.chars().find(|&c| !alphanumeric(c) && c != '-' && c != '.') {
            return Err(NameError::Character(c));
        }
        for label in text.split('.') {
            for end in [label.chars().next(), label.chars().next_back()] {
                match end {
                    None => return Err(NameError::End('.')),
                    Some(c) if !alphanumeric(c) => return Err(NameError::End(c)),
                    Some(_) => {}
                }
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Takes the name of an instance: one that differs from the directories of copies.
    pub(crate) fn of_instance(text: &str) -> Result<Self, NameError> {
        match text {
            "applications" | "applicationsets" => Err(NameError::OfCopies),
            _ => Self::new(text),
        }
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The full name of the ref of a branch that hydration wrote, by the text of its name.
pub(crate) fn ref_of(branch: &str) -> String {
    BranchName::read(branch).map_or_else(|_| format!("refs/heads/{branch}"), |branch| branch.ref_name())
}

impl DestinationName {
    /// How long a name may be, in bytes.
    pub(crate) const BYTES_MAX: usize = 63;

    /// Takes a name that can be a directory of refs and a part of a key in git's configuration everywhere.
    pub(crate) fn new(text: &str) -> Result<Self, NameError> {
        check_length(text, Self::BYTES_MAX)?;
        let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if let Some(c) = text.chars().find(|&c| !alphanumeric(c) && c != '-') {
            return Err(NameError::Character(c));
        }
        if text.starts_with('-') || text.ends_with('-') {
            return Err(NameError::End('-'));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text of the name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref that leads to its notes. No branch has it: no name of a destination has a dot.
    pub(crate) fn notes(&self) -> String {
        format!("{OUT}{self}.notes")
    }

    /// What the refs of its branches are below.
    pub(crate) fn refs(&self) -> String {
        format!("{OUT}{self}/")
    }
}

impl BranchName {
    /// How long a name may be, in bytes: with `.lock` behind it, it still is a file name everywhere.
    pub const BYTES_MAX: usize = 250;

    /// Takes the name of a branch.
    ///
    /// Reference: git 2.47 refs.c `check_refname_format`, object-name.c `check_branch_ref`. Stricter on purpose: no
    /// `refs/…` (it would make `refs/heads/refs/…`), no `@`, no pseudo ref such as `FETCH_HEAD`, no full commit id,
    /// no invisible character, so that two branches never look like one.
    pub fn new(text: &str) -> Result<Self, NameError> {
        check_length(text, Self::BYTES_MAX)?;
        if text == "refs" || text.starts_with("refs/") {
            return Err(NameError::FullRef);
        }
        if text == "@" || text == "HEAD" {
            return Err(NameError::Taken("the current commit"));
        }
        if text.ends_with("_HEAD") && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') {
            return Err(NameError::Taken("a ref of its own"));
        }
        if matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(NameError::Taken("the id of a commit"));
        }
        if text.starts_with('-') {
            return Err(NameError::End('-'));
        }
        let unwanted = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
        if let Some(c) = text.chars().find(|&c| unwanted(c)) {
            return Err(NameError::Character(c));
        }
        if let Some(c) = text.chars().find(|&c| is_unprintable(c) || is_ignorable(c)) {
            return Err(NameError::Invisible(c));
        }
        if let Some(sequence) = ["..", "@{"].into_iter().find(|sequence| text.contains(sequence)) {
            return Err(NameError::Sequence(sequence));
        }
        if text.ends_with('.') {
            return Err(NameError::End('.'));
        }
        for component in text.split('/') {
            if component.is_empty() {
                return Err(NameError::EmptyComponent);
            }
            if component.starts_with('.') {
                return Err(NameError::DotComponent(component.to_owned()));
            }
            if component.ends_with(".lock") {
                return Err(NameError::LockComponent(component.to_owned()));
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Takes a name that hydration gave: of a branch of this repository, or `DESTINATION:BRANCH`.
    pub(crate) fn read(text: &str) -> Result<Self, NameError> {
        match text.split_once(':') {
            None => Self::new(text),
            Some((destination, branch)) => Ok(Self::new(branch)?.at(&DestinationName::new(destination)?)),
        }
    }

    /// The branch of this name in another repository.
    pub(crate) fn at(&self, destination: &DestinationName) -> Self {
        Self(format!("{destination}:{}", self.name_there()))
    }

    /// The name of the other repository that has it, or is to have it; none for a branch of this one.
    pub(crate) fn destination(&self) -> Option<&str> {
        self.0.split_once(':').map(|(destination, _)| destination)
    }

    /// Its name in the repository that it is of.
    pub(crate) fn name_there(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(_, branch)| branch)
    }

    /// The text of the name, without `refs/heads/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full name of its ref in this repository.
    pub fn ref_name(&self) -> String {
        match self.0.split_once(':') {
            None => format!("refs/heads/{}", self.0),
            Some((destination, branch)) => format!("{OUT}{destination}/{branch}"),
        }
    }

    /// Whether one of the two names is a directory of the other: git can't have both as refs.
    pub fn conflicts_with(&self, other: &BranchName) -> bool {
        let below = |name: &str, dir: &str| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        below(&self.0, &other.0) || below(&other.0, &self.0)
    }
}

/// Whether a character shows as nothing where a font knows no better, such as a variation selector, a tag or a filler of
/// Hangul: two names may differ in it alone.
///
/// Reference: Unicode 16, DerivedCoreProperties.txt, `Default_Ignorable_Code_Point`.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

fn check_length(text: &str, max: usize) -> Result<(), NameError> {
    match text.len() {
        0 => Err(NameError::Empty),
        len if len > max => Err(NameError::TooLong { len, max }),
        _ => Ok(()),
    }
}

/// What every checked name can do.
macro_rules! checked_name {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

checked_name!(AppName);
checked_name!(BranchName);
checked_name!(DestinationName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_names() {
        use NameError::*;
        let long = "a".repeat(253);
        let rows: &[(&str, Result<(), NameError>)] = &[
            ("web", Ok(())),
            ("web-eu.v2", Ok(())),
            ("0", Ok(())),
            (&long, Ok(())),
            ("", Err(Empty)),
            (&format!("{long}a"), Err(TooLong { len: 254, max: 253 })),
            ("Web", Err(Character('W'))),
            ("web_eu", Err(Character('_'))),
            ("a/b", Err(Character('/'))),
            ("wéb", Err(Character('é'))),
            ("web\n", Err(Character('\n'))),
            ("-web", Err(End('-'))),
            ("web-", Err(End('-'))),
            (".", Err(End('.'))),
            ("..", Err(End('.'))),
            ("a..b", Err(End('.'))),
            ("a.-b", Err(End('-'))),
        ];
        for (text, expected) in rows {
            assert_eq!(&AppName::new(text).map(|_| ()), expected, "{text:?}");
        }
    }

    #[test]
    fn branch_names() {
        use NameError::*;
        let long = "a".repeat(250);
        let rows: &[(&str, Result<(), NameError>)] = &[
            ("main", Ok(())),
            ("environments/dev-next", Ok(())),
            ("umgebung/größe", Ok(())),
            ("a]{@", Ok(())),
            ("heads/x", Ok(())),
            (&long, Ok(())),
            ("", Err(Empty)),
            (&format!("{long}a"), Err(TooLong { len: 251, max: 250 })),
            ("refs/heads/main", Err(FullRef)),
            ("HEAD", Err(Taken("the current commit"))),
            ("@", Err(Taken("the current commit"))),
            ("FETCH_HEAD", Err(Taken("a ref of its own"))),
            ("0123456789012345678901234567890123456789", Err(Taken("the id of a commit"))),
            ("-x", Err(End('-'))),
            ("a b", Err(Character(' '))),
            ("a\\b", Err(Character('\\'))),
            ("a\u{7f}", Err(Character('\u{7f}'))),
            ("a\u{9b}", Err(Character('\u{9b}'))),
            ("a\u{202e}b", Err(Invisible('\u{202e}'))),
            ("prod\u{200b}", Err(Invisible('\u{200b}'))),
            ("pr\u{200d}od", Err(Invisible('\u{200d}'))),
            ("prod\u{34f}", Err(Invisible('\u{34f}'))),
            ("prod\u{180b}", Err(Invisible('\u{180b}'))),
            ("prod\u{206a}", Err(Invisible('\u{206a}'))),
            ("prod\u{3164}", Err(Invisible('\u{3164}'))),
            ("prod\u{fe0f}", Err(Invisible('\u{fe0f}'))),
            ("prod\u{1d173}", Err(Invisible('\u{1d173}'))),
            ("prod\u{e0041}", Err(Invisible('\u{e0041}'))),
            ("größe/日本語/🚀", Ok(())),
            ("a..b", Err(Sequence(".."))),
            ("@{-1}", Err(Sequence("@{"))),
            ("a.", Err(End('.'))),
            ("a//b", Err(EmptyComponent)),
            ("/a", Err(EmptyComponent)),
            ("a/", Err(EmptyComponent)),
            ("a/.b", Err(DotComponent(".b".to_owned()))),
            ("a.lock/b", Err(LockComponent("a.lock".to_owned()))),
        ];
        for (text, expected) in rows {
            assert_eq!(&BranchName::new(text).map(|_| ()), expected, "{text:?}");
        }
    }

    #[test]
    fn branches_of_destinations() {
        use NameError::*;
        type Parts<'a> = (Option<&'a str>, &'a str, &'a str);
        let rows: &[(&str, Result<Parts<'_>, NameError>)] = &[
            ("environments/dev", Ok((None, "environments/dev", "refs/heads/environments/dev"))),
            ("eu:environments/dev", Ok((Some("eu"), "environments/dev", "refs/hydrate/out/eu/environments/dev"))),
            ("eu-1:main", Ok((Some("eu-1"), "main", "refs/hydrate/out/eu-1/main"))),
            (":main", Err(Empty)),
            ("eu:", Err(Empty)),
            ("eu:a:b", Err(Character(':'))),
            ("EU:main", Err(Character('E'))),
            ("a/b:main", Err(Character('/'))),
            ("-eu:main", Err(End('-'))),
            ("..:main", Err(Character('.'))),
            ("eu:refs/heads/main", Err(FullRef)),
            (&format!("{}:main", "a".repeat(64)), Err(TooLong { len: 64, max: 63 })),
        ];
        for (text, expected) in rows {
            let name = BranchName::read(text);
            let name = name.as_ref().map(|name| (name.destination(), name.name_there(), name.ref_name()));
            let name = name.map_err(Clone::clone);
            let expected = expected.clone().map(|(destination, branch, full)| (destination, branch, full.to_owned()));
            assert_eq!(name, expected, "{text:?}");
        }
        assert!(BranchName::new("eu:environments/dev").is_err(), "a pushed file names no destination so");
    }

    /// What we take, git takes; what git takes and we don't is one of the reasons named in `BranchName::new`.
    #[test]
    fn branch_names_agree_with_git() {
        let pieces = ["a", "B", "/", ".", "-", "@", "{", "~", " ", ".lock", "HEAD", "refs", "é", "\\", "\u{1}", "["];
        let mut names: Vec<String> = Vec::new();
        for first in pieces {
            for second in pieces {
                names.push(format!("{first}{second}"));
                names.extend(pieces.map(|third| format!("{first}{second}{third}")));
            }
        }
        for name in names.iter().step_by(17) {
            let status = std::process::Command::new("git")
                .args(["check-ref-format", "--branch", name])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .status()
                .expect("git runs");
            match BranchName::new(name) {
                Ok(_) => assert!(status.success(), "git refuses {name:?}"),
                Err(NameError::FullRef | NameError::Taken(_) | NameError::Invisible(_) | NameError::OfCopies) => {}
                Err(error) => assert!(!status.success(), "git takes {name:?}, we: {error}"),
            }
        }
    }

    #[test]
    fn directories_and_branches_conflict() {
        let rows = [("a", "a/b", true), ("a/b", "a", true), ("a", "ab", false), ("a", "a", false), ("a-b", "a", false)];
        let rows = rows.into_iter().chain([
            ("eu:a", "eu:a/b", true),
            ("eu:a", "a/b", false),
            ("eu:a", "us:a/b", false),
            ("eu", "eu:a", false),
        ]);
        for (one, other, expected) in rows {
            let (one, other) = (BranchName::read(one).expect("good"), BranchName::read(other).expect("good"));
            assert_eq!(one.conflicts_with(&other), expected, "{one} {other}");
        }
    }
}
