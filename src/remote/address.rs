//! The address of a dry repository: what follows `hydrate::`.

use sha2::{Digest, Sha256};

/// Where a dry repository is: what follows `hydrate::`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// Why an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// `hydrate://…`.
    #[error("write hydrate::<url>, such as hydrate::https://{0}")]
    Scheme(String),
    /// `hydrate::hydrate::…`.
    #[error("write `hydrate::` once, in front of the address of the dry repository")]
    Nested,
    /// A path that means another place in another directory.
    #[error("`{0}` is a relative path, which another fetch may resolve differently; write hydrate::/path/to/it")]
    Relative(String),
    /// `fd::…` and `ext::…`: what git was started with, or a program, and not a repository that another fetch finds again.
    #[error("`{0}` is not the address of a repository: another fetch would find nothing there")]
    Passing(String),
    /// Nothing, or what git would take for an option.
    #[error("`{0}` is not the address of a repository")]
    NotAnAddress(String),
}

impl Address {
    /// Takes what git hands to a remote helper.
    pub fn new(text: &str) -> Result<Self, AddressError> {
        if let Some(rest) = text.strip_prefix("hydrate://") {
            return Err(AddressError::Scheme(rest.to_owned()));
        }
        if text.starts_with("hydrate::") {
            return Err(AddressError::Nested);
        }
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) {
            return Err(AddressError::NotAnAddress(text.to_owned()));
        }
        if ["fd::", "ext::"].iter().any(|helper| text.starts_with(helper)) {
            return Err(AddressError::Passing(text.to_owned()));
        }
        if is_path(text) && !text.starts_with('/') {
            return Err(AddressError::Relative(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// As git takes it.
    pub fn url(&self) -> &str {
        &self.0
    }

    /// As people may see it: without a user's name and password.
    pub fn shown(&self) -> String {
        let Some((scheme, rest)) = self.0.split_once("://") else { return self.0.clone() };
        let host_end = rest.find('/').unwrap_or(rest.len());
        let host = rest.get(..host_end).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
        format!("{scheme}://{}", rest.get(host..).unwrap_or(rest))
    }

    /// The name of its cache, the same for the same address and the same ref of settings that count: what others made of
    /// the branches is not continued with other settings.
    pub(super) fn cache_name(&self, settings_ref: Option<&str>) -> String {
        let mut digest = Sha256::new_with_prefix(&self.0);
        if let Some(name) = settings_ref {
            digest.update("\n");
            digest.update(name);
        }
        data_encoding::HEXLOWER.encode(digest.finalize().get(..16).unwrap_or_default())
    }
}

/// Whether git takes it for a path.
///
/// Reference: git 2.47 connect.c `url_is_local_not_ssh`, transport.c `external_specification_len`.
fn is_path(text: &str) -> bool {
    match (text.find(':'), text.find('/')) {
        (None, _) => true,
        (Some(colon), Some(slash)) => slash < colon,
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let rows = [
            ("https://me:secret@example.com/a@b.git", Ok("https://example.com/a@b.git")),
            ("ssh://git@example.com/dry.git", Ok("ssh://example.com/dry.git")),
            ("git@example.com:dry.git", Ok("git@example.com:dry.git")),
            ("file:///srv/dry.git", Ok("file:///srv/dry.git")),
            ("/srv/dry.git", Ok("/srv/dry.git")),
            ("/srv/a:b", Ok("/srv/a:b")),
            ("../dry.git", Err(AddressError::Relative("../dry.git".to_owned()))),
            ("dry", Err(AddressError::Relative("dry".to_owned()))),
            ("hydrate://example.com/a", Err(AddressError::Scheme("example.com/a".to_owned()))),
            ("hydrate::/srv/dry.git", Err(AddressError::Nested)),
            ("fd::7", Err(AddressError::Passing("fd::7".to_owned()))),
            ("ext::sh -c x", Err(AddressError::Passing("ext::sh -c x".to_owned()))),
            ("codecommit::eu-west-1://dry", Ok("codecommit::eu-west-1://dry")),
            ("--upload-pack=x", Err(AddressError::NotAnAddress("--upload-pack=x".to_owned()))),
            ("", Err(AddressError::NotAnAddress(String::new()))),
        ];
        for (text, expected) in rows {
            let address = Address::new(text);
            assert_eq!(address.map(|address| address.shown()), expected.map(str::to_owned), "{text}");
        }
        let name = |text, settings| Address::new(text).expect("an address").cache_name(settings);
        assert_ne!(name("/srv/a", None), name("/srv/b", None));
        assert_ne!(name("/srv/a", None), name("/srv/a", Some("settings")));
        assert_eq!(name("/srv/a", None).len(), 32);
    }
}
