//! What a server may fetch, as git config says: `hydrate.fetch.NAME.…`.

use std::path::PathBuf;
use std::time::Instant;

use crate::argo::{BranchName, Patterns};
use crate::repo::Repository;
use inputs::wire::Rules;
use inputs::{Key, Kind, is_below, is_only_spelling};

use super::fetcher::{Credentials, Terms};

/// What begins the subsections of rules.
const PREFIX: &str = "fetch.";

/// How long one request may take, in seconds.
const REQUEST_SECONDS: u64 = 60;

/// What an administrator lets this server fetch.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Its name.
    pub name: String,
    /// `url`: the addresses of what may be asked for, each with all below it.
    pub urls: Vec<String>,
    /// `also`: where the servers behind these may lead, such as to the host of their archives.
    also: Vec<String>,
    /// `branches`: patterns of the dry branches that it is for.
    branches: Patterns,
    /// `credentials`: a file with names and passwords, as `git credential-store` keeps it.
    credentials: Option<PathBuf>,
    /// `recordLimit`, in bytes: how much may be recorded of what is at or below `url`.
    pub record_limit: Option<u64>,
}

/// The rules, in the order of their names. One that cannot be read allows nothing.
pub(super) fn read(repository: &Repository) -> Vec<Rule> {
    let subsections = repository.config_subsections("hydrate").into_iter();
    let names = subsections.filter_map(|subsection| subsection.strip_prefix(PREFIX).map(str::to_owned));
    names.filter_map(|name| rule(repository, name)).collect()
}

fn rule(repository: &Repository, name: String) -> Option<Rule> {
    let list = |key: &str| repository.config_list(&format!("hydrate.{PREFIX}{name}.{key}"));
    let trimmed = |urls: Vec<String>| urls.into_iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
    let (urls, also): (Vec<String>, Vec<String>) = (trimmed(list("url")), trimmed(list("also")));
    // A rule for no branch at all is unfinished.
    let branches = Patterns::new(list("branches")).ok().filter(|_| !list("branches").is_empty())?;
    let credentials = list("credentials").pop().map(|path| repository.common_dir().join(path));
    let limit = repository.config_number(&format!("hydrate.{PREFIX}{name}.recordLimit"));
    let record_limit = limit.and_then(|limit| u64::try_from(limit).ok());
    (!urls.is_empty()).then_some(Rule { name, urls, also, branches, credentials, record_limit })
}

impl Rule {
    /// Whether an input may be fetched for what is on a dry branch. Never over ssh, with whose keys an account may do more, and never
    /// by another spelling of a URL, which would be another input beside the one that is recorded or withdrawn.
    pub(super) fn allows(&self, key: &Key, dry_branch: &BranchName) -> bool {
        let is_of_web = key.kind == Kind::Oci || !key.host().1;
        is_of_web
            && key.is_pinned()
            && is_only_spelling(&key.url)
            && self.branches.matches(dry_branch.as_str())
            && self.is_for(key)
    }

    /// Whether an input is at or below one of its URLs.
    pub(super) fn is_for(&self, key: &Key) -> bool {
        let address = key.address();
        self.urls.iter().any(|top| is_below(&address, top))
    }

    /// What the fetcher may do.
    pub(super) fn terms(&self, until: Instant, allows_unconfined: bool) -> Terms {
        let only = self.urls.iter().flat_map(|url| of_web(url)).chain(self.also.iter().cloned());
        let rules = Rules {
            allow: self.urls.iter().chain(&self.also).map(|url| host(url)).collect(),
            only: only.collect(),
            accept: Vec::new(),
            timeout_seconds: REQUEST_SECONDS,
        };
        let credentials = Credentials::OfFile(self.credentials.clone());
        Terms { rules, credentials, allows_unconfined, until: Some(until) }
    }
}

/// The addresses of the web that are asked for what is at or below a URL: a registry has its own way to write them, and may keep
/// its tokens beside.
fn of_web(url: &str) -> Vec<String> {
    let Some(rest) = url.strip_prefix("oci://") else { return vec![url.to_owned()] };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let below = format!("https://{host}/v2/{path}");
    vec![
        below.trim_end_matches('/').to_owned(),
        format!("https://{host}/token"),
        format!("https://{host}/service/token"),
    ]
}

/// The host of a URL, as the fetcher wants it: an administrator who names one allows it a private address.
fn host(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let host = rest.split('/').next().unwrap_or_default();
    if scheme == "http" { format!("http://{host}") } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(urls: &[&str]) -> Rule {
        Rule {
            name: "team".to_owned(),
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
            also: vec!["http://127.0.0.1:5000".to_owned()],
            branches: Patterns::new(["main", "release/*"]).expect("patterns"),
            credentials: None,
            record_limit: None,
        }
    }

    #[test]
    fn a_rule_allows_what_is_pinned_and_below_it_for_its_branches() {
        let rule = rule(&[
            "https://charts.example.com/team",
            "oci://registry.example.com/charts",
            "https://git.example.com/team",
        ]);
        let chart = |url: &str, want: &str| Key::chart(url, "web", want).expect("a key");
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let git = |url: &str, want: &str| Key::repository(url, want).expect("a key");
        let rows = [
            (chart("https://charts.example.com/team", "1.2.3"), "main", true),
            (chart("https://charts.example.com/team", "1.2.3"), "release/1", true),
            (chart("https://charts.example.com/team", "1.2.3"), "dev", false),
            (chart("https://charts.example.com/team", "^1.2"), "main", false),
            (chart("https://charts.example.com/other", "1.2.3"), "main", false),
            (chart("https://charts.example.com/team/web", "1.2.3"), "main", true),
            (chart("https://charts.example.com/team//web", "1.2.3"), "main", false),
            (chart("https://charts.example.com/team/w%65b", "1.2.3"), "main", false),
            (chart("https://charts.example.com/team/web?x=1", "1.2.3"), "main", false),
            (git("https://git.example.com/team/repo?x", commit), "main", false),
            (chart("oci://registry.example.com/charts", "1.2.3"), "main", true),
            (chart("oci://registry.example.com/secret", "1.2.3"), "main", false),
            (git("https://git.example.com/team/repo", commit), "main", true),
            (git("https://git.example.com/team/repo", "v1"), "main", false),
            (git("ssh://git@git.example.com/team/repo", commit), "main", false),
            (Key::file("https://git.example.com/team/x.yaml").expect("a key"), "main", false),
        ];
        for (key, branch, expected) in rows {
            let branch = BranchName::new(branch).expect("a name");
            assert_eq!(rule.allows(&key, &branch), expected, "{key} for {branch}");
        }
    }

    #[test]
    fn a_fetcher_goes_where_its_rule_leads_and_nowhere_else() {
        let Terms { rules, .. } = rule(&["oci://127.0.0.1:5000/charts", "https://h/team"]).terms(Instant::now(), false);
        assert_eq!(rules.allow, ["127.0.0.1:5000", "h", "http://127.0.0.1:5000"]);
        assert_eq!(
            rules.only,
            [
                "https://127.0.0.1:5000/v2/charts",
                "https://127.0.0.1:5000/token",
                "https://127.0.0.1:5000/service/token",
                "https://h/team",
                "http://127.0.0.1:5000"
            ]
        );
    }
}
