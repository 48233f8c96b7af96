//! HTTP: one request at a time, redirects by hand.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use go_std::url::Url;
use inputs::is_below;
use inputs::wire::{FromFetcher, Rules};
use ureq::http::{HeaderMap, Response};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

use super::address::{Allowed, Guarded};
use super::talk::{Credential, Talk};
use super::{Failure, Result};

/// How many redirects may follow each other.
const REDIRECTS_MAX: usize = 5;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    /// The header `Accept`.
    pub accept: &'static str,
    /// How many bytes the answer may have.
    pub bytes_max: u64,
}

/// Asks servers.
pub(crate) struct Web {
    agent: Agent,
    pub allowed: Allowed,
    /// What may be asked, where that is not all.
    only: Vec<String>,
    talk: Arc<Talk>,
    timeout: Duration,
    /// The credential of each host, once a server wanted one.
    known: Mutex<HashMap<String, Option<Credential>>>,
}

/// What a server says, whatever its status is.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Scheme, host and port of a URL, by which credentials go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub is_tls: bool,
    pub host: String,
    pub port: u16,
}

impl Site {
    /// Of a URL; an error for any that is not of the web.
    pub(crate) fn of(url: &str) -> Result<Self> {
        let parsed = Url::parse(url.as_bytes()).map_err(|error| format!("`{url}`: {error}"))?;
        let is_tls = match &parsed.scheme[..] {
            b"https" => true,
            b"http" => false,
            scheme => return Err(format!("scheme `{}` is not supported", String::from_utf8_lossy(scheme)).into()),
        };
        let host = String::from_utf8_lossy(parsed.hostname()).to_ascii_lowercase();
        let written =
            url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
        if host.is_empty() || written.contains('@') {
            return Err(format!("`{url}` has a user, or no host").into());
        }
        let port = written.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Ok(Self { is_tls, host, port: port.unwrap_or(if is_tls { 443 } else { 80 }) })
    }

    /// As git names it.
    pub(crate) fn name(&self) -> String {
        if self.port == 443 { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }
}

impl Web {
    pub(crate) fn new(rules: &Rules, talk: Arc<Talk>) -> Self {
        let timeout = Duration::from_secs(rules.timeout_seconds.max(1));
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("git-hydrate/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(timeout.min(Duration::from_secs(20))))
            .timeout_resolve(Some(timeout.min(Duration::from_secs(20))))
            .timeout_global(Some(timeout))
            .max_response_header_size(64 << 10)
            .build();
        let allowed = Allowed::new(&rules.allow);
        let resolver = Guarded { inner: DefaultResolver::default(), allowed: allowed.clone() };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self { agent, allowed, only: rules.only.clone(), talk, timeout, known: Mutex::default() }
    }

    /// An error for a URL that no rule leads to.
    pub(crate) fn permit(&self, url: &str) -> Result<()> {
        match self.only.is_empty() || self.only.iter().any(|top| is_below(url, top)) {
            true => Ok(()),
            false => Err(format!("{url} is not asked: no `url` or `also` of the rule leads there").into()),
        }
    }

    /// The body of what a URL leads to. A server that requires credentials gets them from git, if git has any.
    pub(crate) fn get(&self, url: &str, ask: Ask) -> Result<Vec<u8>> {
        let site = Site::of(url)?;
        let first = self.answer(url, ask, self.known(&site).map(basic).as_deref())?;
        let answer = match first.status {
            401 => self.again(&site, url, ask, first)?,
            _ => first,
        };
        answer.into_body(url)
    }

    /// Repeats a request with the credential of its host.
    fn again(&self, site: &Site, url: &str, ask: Ask, first: Answer) -> Result<Answer> {
        let Some(credential) = self.credential(site)? else { return Ok(first) };
        let answer = self.answer(url, ask, Some(&basic(credential.clone())))?;
        self.judge(site, credential, answer.status != 401)?;
        Ok(answer)
    }

    /// The credential of a host, asked for once. None over a connection that others can read.
    pub(crate) fn credential(&self, site: &Site) -> Result<Option<Credential>> {
        if !site.is_tls {
            return Err(format!("{} requires a password, which is only sent over TLS", site.name()).into());
        }
        // One question at a time: a person may be asked.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = site.name();
        if let Some(credential) = known.get(&name) {
            return Ok(credential.clone());
        }
        let credential = self.talk.ask(&name);
        known.insert(name, credential.clone());
        Ok(credential)
    }

    fn known(&self, site: &Site) -> Option<Credential> {
        if !site.is_tls {
            return None;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&site.name()).cloned().flatten()
    }

    /// Says whether a credential was right.
    pub(crate) fn judge(&self, site: &Site, credential: Credential, good: bool) -> Result<()> {
        if !good {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(site.name(), None);
        }
        Ok(self.talk.say(&FromFetcher::Judged { host: site.name(), good, credential }, &[])?)
    }

    /// What a server says, and where it leads. `authorization` goes to the site of `url` and to no other.
    pub(crate) fn answer(&self, url: &str, ask: Ask, authorization: Option<&str>) -> Result<Answer> {
        let started = Instant::now();
        let origin = Site::of(url)?;
        let mut url = url.to_owned();
        for hop in 0..=REDIRECTS_MAX {
            let site = Site::of(&url)?;
            self.permit(&url)?;
            if !site.is_tls && !self.allowed.plain(&site.host, site.port) {
                let allow = format!("http://{}:{}", site.host, site.port);
                return Err(format!(
                    "{url} is not fetched without TLS (to allow it: git hydrate vendor --allow {allow})"
                )
                .into());
            }
            let left = self.timeout.checked_sub(started.elapsed()).ok_or_else(|| format!("{url}: timed out"))?;
            let mut request = self.agent.get(&url).header("Accept", ask.accept);
            if let Some(authorization) = authorization.filter(|_| site == origin) {
                request = request.header("Authorization", authorization);
            }
            let response = request.config().timeout_global(Some(left)).build().call();
            let response = response.map_err(|error| failure(&url, &error))?;
            let status = response.status().as_u16();
            let target = response.headers().get("location").and_then(|target| target.to_str().ok());
            match target {
                Some(target) if matches!(status, 301 | 302 | 303 | 307 | 308) && hop < REDIRECTS_MAX => {
                    url = resolve(&url, target)?;
                }
                Some(_) if matches!(status, 301 | 302 | 303 | 307 | 308) => break,
                _ => return body(&url, response, ask.bytes_max),
            }
        }
        Err(format!("{url}: more than {REDIRECTS_MAX} redirects").into())
    }
}

impl Answer {
    /// The body, if the server gave what was asked for.
    pub(crate) fn into_body(self, url: &str) -> Result<Vec<u8>> {
        let reason = match self.status {
            200 => return Ok(self.body),
            404 | 410 => format!("{url}: not found ({})", self.status),
            status @ (401 | 403) => format!("{url}: {status} (credentials come from git: `git credential fill`)"),
            status => format!("{url}: the server answered {status}"),
        };
        Err(Failure { reason, refused: true })
    }

    /// The text of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

fn resolve(base: &str, target: &str) -> Result<String> {
    let parse = |text: &str| Url::parse(text.as_bytes()).map_err(|error| format!("redirect to `{text}`: {error}"));
    Ok(String::from_utf8(parse(base)?.resolve(&parse(target)?).text())?)
}

fn body(url: &str, mut response: Response<Body>, bytes_max: u64) -> Result<Answer> {
    let encoding =
        response.headers().get("content-encoding").and_then(|value| value.to_str().ok()).unwrap_or("identity");
    if !matches!(encoding, "identity" | "") {
        return Err(format!("{url}: the server sent `{encoding}`, which was not requested").into());
    }
    let mut body = Vec::new();
    let reader = response.body_mut().as_reader();
    reader.take(bytes_max + 1).read_to_end(&mut body).map_err(|error| cut_off(url, &error))?;
    if body.len() as u64 > bytes_max {
        return Err(format!("{url}: more than {bytes_max} bytes").into());
    }
    let status = response.status().as_u16();
    Ok(Answer { status, headers: response.headers().clone(), body })
}

/// A body that did not come to its end.
fn cut_off(url: &str, error: &std::io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
        Some(inner) => failure(url, inner),
        None => format!("{url}: {error}").into(),
    }
}

fn failure(url: &str, error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Io(error) => format!("{url}: {error}").into(),
        ureq::Error::HostNotFound => format!("{url}: no such host").into(),
        ureq::Error::Timeout(_) => format!("{url}: timed out").into(),
        error => format!("{url}: {error}").into(),
    }
}

/// The header that names a user.
pub(crate) fn basic((name, password): Credential) -> String {
    format!("Basic {}", BASE64.encode(format!("{name}:{password}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites() {
        let site = |url: &str| Site::of(url).map(|site| (site.is_tls, site.name()));
        assert_eq!(site("https://Charts.example.com/x"), Ok((true, "charts.example.com".to_owned())));
        assert_eq!(site("https://h:8443?x"), Ok((true, "h:8443".to_owned())));
        assert_eq!(site("http://h"), Ok((false, "h:80".to_owned())));
        for url in ["file:///etc/passwd", "gopher://h/x", "https:///x", "https://user@h/x", "h/x"] {
            assert!(site(url).is_err(), "{url}");
        }
    }

    #[test]
    fn redirects_are_read_as_browsers_do() {
        assert_eq!(resolve("https://h/a/b?x", "/c"), Ok("https://h/c".to_owned()));
        assert_eq!(resolve("https://h/a/b", "c?y"), Ok("https://h/a/c?y".to_owned()));
        assert_eq!(resolve("https://h/a", "//g/d"), Ok("https://g/d".to_owned()));
    }
}
