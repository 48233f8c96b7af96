//! The setting `destinations`: the other repositories that hydration may write to, each by a name.
//!
//! `syncSource.repoURL` of an Application only chooses among them: a URL that is pushed never leads anywhere by itself.

use std::collections::BTreeMap;

use dry_files::diag::is_unprintable;
use serde::{Deserialize, Serialize};

use super::name::DestinationName;
use super::url::RepoUrl;

/// The URLs of other repositories that hydration may write to, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub(crate) struct Destinations(BTreeMap<DestinationName, String>);

/// How git is led to a repository: what else a URL may say runs a program of this machine.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

impl Destinations {
    /// Whether there are no destinations.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their names and URLs, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&DestinationName, &str)> {
        self.0.iter().map(|(name, url)| (name, url.as_str()))
    }

    /// The one with this URL, in whichever form it is written.
    pub(crate) fn of_url(&self, url: &str) -> Option<&DestinationName> {
        let asked = RepoUrl::new(url);
        self.0.iter().find(|(_, known)| RepoUrl::new(known).is_same(&asked)).map(|(name, _)| name)
    }

    /// The URL of one by its name.
    pub(crate) fn url(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Why these cannot be the other repositories of one with the URLs `repo_urls`; none when they can.
    pub(crate) fn mistake(&self, repo_urls: &[String]) -> Option<String> {
        let mut known: Vec<(&DestinationName, RepoUrl)> = Vec::new();
        for (name, url) in self.iter() {
            let asked = RepoUrl::new(url);
            if repo_urls.iter().any(|own| RepoUrl::new(own).is_same(&asked)) {
                return Some(format!("{name}: `{url}` is this repository (`repoURL`); leave it out"));
            }
            if let Some((other, _)) = known.iter().find(|(_, other)| other.is_same(&asked)) {
                return Some(format!("`{other}` and `{name}` have the same URL"));
            }
            known.push((name, asked));
        }
        None
    }
}

/// Why git must not be given a URL to push to; none when it may.
///
/// An absolute path is taken: an admin may have both repositories on one machine.
pub(crate) fn unsafe_url(url: &str) -> Option<String> {
    if let Some(odd) = url.chars().find(|&c| is_unprintable(c) || c.is_whitespace()) {
        return Some(format!("it contains the character {odd:?}"));
    }
    if url.starts_with('-') {
        return Some("it begins with `-`, which git reads as an option".to_owned());
    }
    // Reference: git 2.47 transport.c `transport_get`.
    let is_of_helper = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if url.split_once("::").is_some_and(|(helper, _)| helper.chars().all(is_of_helper)) {
        return Some("it names a program that git would run".to_owned());
    }
    let is_of_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '[' | ']');
    let host = match url.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme) => rest,
        Some((scheme, _)) => return Some(format!("`{scheme}` is not one of {}", SCHEMES.join(", "))),
        None if url.starts_with('/') => return None,
        None => match url.split_once(':') {
            Some((host, path)) if host.chars().all(is_of_host) && !path.is_empty() => host,
            _ => return Some("it is neither a URL nor an absolute path".to_owned()),
        },
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    host.starts_with('-').then(|| "its host begins with `-`, which ssh reads as an option".to_owned())
}

impl TryFrom<BTreeMap<String, String>> for Destinations {
    type Error = String;

    fn try_from(written: BTreeMap<String, String>) -> Result<Self, String> {
        let mut checked = BTreeMap::new();
        for (name, url) in written {
            let of_name = DestinationName::new(&name);
            let of_name = of_name.map_err(|error| format!("`{name}` is not a valid name of a destination: {error}"))?;
            if let Some(why) = unsafe_url(&url) {
                return Err(format!("{name}: `{}` cannot be a destination: {why}", url.escape_debug()));
            }
            checked.insert(of_name, url);
        }
        Ok(Self(checked))
    }
}

impl From<Destinations> for BTreeMap<String, String> {
    fn from(destinations: Destinations) -> Self {
        destinations.0.into_iter().map(|(name, url)| (name.as_str().to_owned(), url)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_git_may_be_given() {
        let rows = [
            ("https://git.example.com/deploy.git", true),
            ("ssh://git@git.example.com:22/deploy.git", true),
            ("git@git.example.com:team/deploy.git", true),
            ("ssh://git@[::1]:22/deploy.git", true),
            ("/srv/git/deploy.git", true),
            ("file:///srv/git/deploy.git", true),
            ("ext::sh -c 'touch /tmp/x'", false),
            ("ext::sh%20-c", false),
            ("fd::3", false),
            ("\"fd::3\"", false),
            ("hydrate::https://git.example.com/a", false),
            ("ftp://git.example.com/a", false),
            ("HTTPS://git.example.com/a", false),
            ("-oProxyCommand=touch", false),
            ("--upload-pack=touch", false),
            ("ssh://-oProxyCommand=touch/a", false),
            ("ssh://git@-oProxyCommand=touch/a", false),
            ("-oProxyCommand=touch:a", false),
            ("git@-oProxyCommand=touch:a", false),
            ("/srv/git/deploy.git\n", false),
            ("/srv/git/de ploy.git", false),
            ("../deploy.git", false),
            ("deploy.git", false),
            ("C:", false),
            ("", false),
        ];
        for (url, expected) in rows {
            assert_eq!(unsafe_url(url).is_none(), expected, "{url:?}: {:?}", unsafe_url(url));
        }
    }

    #[test]
    fn a_url_names_a_destination_in_whichever_form() {
        let written = [("eu", "https://git.example.com/eu.git"), ("us", "git@git.example.com:us.git")];
        let written: BTreeMap<_, _> = written.map(|(name, url)| (name.to_owned(), url.to_owned())).into();
        let destinations = Destinations::try_from(written).expect("right");
        let of = |url| destinations.of_url(url).map(DestinationName::as_str);
        assert_eq!(of("git@git.example.com:eu"), Some("eu"));
        assert_eq!(of("https://git.example.com/us"), Some("us"));
        assert_eq!(of("https://git.example.com/other"), None);
        assert_eq!(destinations.url("eu"), Some("https://git.example.com/eu.git"));
        assert_eq!(destinations.mistake(&["https://git.example.com/dry".to_owned()]), None);
        assert!(destinations.mistake(&["ssh://git.example.com/us".to_owned()]).is_some(), "it is this repository");
    }
}
