//! The settings of everything that is written beside manifests.

use std::fmt;

use crate::argo::Profile;

/// What an admin may choose of the bytes that this module makes. The default is right without any setting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    /// Whose rules apply.
    pub profile: Profile,
    /// A template for `README.md` in place of the profile's own.
    pub readme_template: Option<TemplateFile>,
    /// A template for the commit message in place of the default.
    pub commit_message_template: Option<TemplateFile>,
    /// Who makes the hydrated commits.
    pub identity: Identity,
}

/// A template of the settings.
///
/// A name that ends with `.tmpl` is a Go template, whose values are Argo CD's; another one is minijinja, with
/// `README_VALUES` or `COMMIT_MESSAGE_VALUES` (`metadata/values.rs`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateFile {
    /// The name of its file in the settings.
    pub name: &'static str,
    /// The content of the file.
    pub text: String,
}

/// The author and committer of hydrated commits: `git-hydrate <git-hydrate@localhost>` unless the settings say another.
///
/// Holds nothing that would break the line of a commit. The dry commit's author is credited by a trailer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    name: String,
    email: String,
}

/// Why a text is no name or email of an [`Identity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdentityError {
    /// Nothing but what git strips from both ends.
    #[error("it is empty")]
    Empty,
    /// A character that ends the name or the line in a commit.
    #[error("it contains the character {0:?}")]
    Character(char),
}

impl Identity {
    /// Takes a name and an email; each has a default for one that is not valid.
    ///
    /// Like git, white space and `.,:;<>"\'` are stripped from both ends.
    pub(crate) fn new(name: Option<&str>, email: Option<&str>) -> Result<Self, IdentityError> {
        let default = Self::default();
        Ok(Self { name: name.map_or(Ok(default.name), clean)?, email: email.map_or(Ok(default.email), clean)? })
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The email, without angle brackets.
    pub(crate) fn email(&self) -> &str {
        &self.email
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "git-hydrate".to_owned(), email: "git-hydrate@localhost".to_owned() }
    }
}

/// `git-hydrate <git-hydrate@localhost>`
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// Reference: git ident.c `strbuf_addstr_without_crud`, which drops what is an error here inside of the text.
fn clean(text: &str) -> Result<String, IdentityError> {
    let text = text.trim_matches(|c: char| c <= ' ' || ".,:;<>\"\\'".contains(c));
    if text.is_empty() {
        return Err(IdentityError::Empty);
    }
    match text.chars().find(|&c| c.is_control() || c == '<' || c == '>') {
        Some(c) => Err(IdentityError::Character(c)),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_stay_in_their_line() {
        let rows = [
            (Some("Argo CD"), Some("argo-cd@example.com"), Ok("Argo CD <argo-cd@example.com>")),
            (None, None, Ok("git-hydrate <git-hydrate@localhost>")),
            (Some(" Hydrator. "), None, Ok("Hydrator <git-hydrate@localhost>")),
            (Some("<Bot>"), None, Ok("Bot <git-hydrate@localhost>")),
            (Some(" "), None, Err(IdentityError::Empty)),
            (Some("a\nb"), None, Err(IdentityError::Character('\n'))),
            (None, Some("a@b> c"), Err(IdentityError::Character('>'))),
        ];
        for (name, email, expected) in rows {
            let identity = Identity::new(name, email).map(|identity| identity.to_string());
            assert_eq!(identity.as_deref(), expected.as_ref().copied(), "{name:?} {email:?}");
        }
    }
}
