//! Charts of OCI registries.
//!
//! Reference: the OCI distribution specification 1.1; helm 4.2.3 pkg/registry.

use std::time::Instant;

use data_encoding::HEXLOWER;
use go_std::semver::Version;
use go_std::url::{Part, escape};
use inputs::{Key, index, is_digest, is_exact_version};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::chart::{PACKED_BYTES_MAX, check, unpacked};
use super::web::{Answer, Ask, Site, basic};
use super::{Fetched, Fetcher, Result};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const OLD_CONTENT: &str = "application/tar+gzip";

const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";

const MANIFEST_BYTES_MAX: u64 = 4 << 20;
const LAYERS_MAX: usize = 4;
const TAGS_MAX: usize = 100_000;
const PAGES_MAX: usize = 100;
const TOKEN_BYTES_MAX: u64 = 64 << 10;

#[derive(Deserialize)]
struct Descriptor {
    #[serde(rename = "mediaType", default)]
    media_type: String,
    digest: String,
    #[serde(default)]
    size: u64,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// One repository of a registry, and how it authorizes us.
struct Registry<'f> {
    fetcher: &'f Fetcher,
    /// `https://HOST/v2/NAME`.
    base: String,
    name: String,
    site: Site,
    authorization: Option<String>,
    /// Whether that identifies a user.
    is_named: bool,
}

impl Fetcher {
    /// The chart that a version, range or digest of a registry means.
    pub(crate) fn registry_chart(&self, key: &Key) -> Result<Fetched> {
        let rest = key.url.strip_prefix("oci://").unwrap_or(&key.url);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = asked(host);
        let site = Site::of(&format!("https://{host}"))?;
        let scheme = if self.web.allowed.plain(&site.host, site.port) { "http" } else { "https" };
        let name = if path.is_empty() { key.name.clone() } else { format!("{path}/{}", key.name) };
        let base = format!("{scheme}://{host}/v2/{name}");
        let site = Site::of(&base)?;
        let mut registry = Registry { fetcher: self, base, name, site, authorization: None, is_named: false };
        // What reads as a version is a tag, as it is written: only a range chooses among the tags.
        let (tag, version) = if is_digest(&key.want) {
            (key.want.clone(), None)
        } else if is_exact_version(&key.want) || Version::new(&key.want).is_ok() {
            (index::tag(&key.want), Some(key.want.clone()))
        } else {
            let (tag, version) = index::choose_tag(&registry.tags()?, &key.want)
                .map_err(|error| format!("{}: {error}", registry.base))?;
            (tag, Some(version))
        };
        let (manifest, digest) = registry.manifest(&tag, 0)?;
        let named = if version.is_some() { format!(":{tag}") } else { format!("@{tag}") };
        let layer = content(&manifest).map_err(|error| format!("{}{named}: {}", registry.base, error.reason))?;
        let received = registry.blob(layer)?;
        let url = format!("{}/{}{named}", key.url, key.name);
        let files = unpacked(&received, &url)?;
        let version = check(&files, &key.name, version.as_deref(), &url)?;
        Ok(Fetched { version, origin: digest, warnings: Vec::new(), files })
    }
}

/// The host that is asked for a registry: Docker Hub answers under another name.
///
/// Reference: oras-go registry/reference.go `Reference.Host`, by which Helm asks.
fn asked(registry: &str) -> &str {
    match registry {
        "docker.io" => "registry-1.docker.io",
        registry => registry,
    }
}

/// The one layer that is a chart.
fn content(manifest: &Manifest) -> Result<&Descriptor> {
    let config = manifest.config.as_ref().map(|config| config.media_type.as_str()).unwrap_or_default();
    if config != CONFIG {
        return Err(format!("it is not a chart: its config is `{config}`").into());
    }
    if manifest.layers.len() > LAYERS_MAX {
        return Err(format!("it has more than {LAYERS_MAX} layers").into());
    }
    let is_content = |layer: &&Descriptor| matches!(layer.media_type.as_str(), CONTENT | OLD_CONTENT);
    let mut layers = manifest.layers.iter().filter(is_content);
    match (layers.next(), layers.next()) {
        (Some(layer), None) => Ok(layer),
        (None, _) => Err("it has no layer with a chart".into()),
        (Some(_), Some(_)) => Err("it has several layers with a chart".into()),
    }
}

impl Registry<'_> {
    /// Asks anonymously first, then with the name and password that git knows of the registry.
    fn ask(&mut self, url: &str, ask: Ask) -> Result<Answer> {
        let mut answer = self.fetcher.web.answer(url, ask, self.authorization.as_deref())?;
        for with_name in [false, true] {
            // An anonymous token may permit nothing.
            let is_refused = answer.status == 401 || (answer.status == 403 && with_name);
            let challenge = answer.header("www-authenticate").unwrap_or_default().to_owned();
            if !is_refused || self.is_named || !self.authorize(&challenge, with_name)? {
                continue;
            }
            answer = self.fetcher.web.answer(url, ask, self.authorization.as_deref())?;
            if is_basic(&challenge)
                && let Some(credential) = self.fetcher.web.credential(&self.site)?
            {
                self.fetcher.web.judge(&self.site, credential, answer.status != 401)?;
            }
        }
        Ok(answer)
    }

    /// Gets what the registry wants: a token, or a name and password. False when there is none.
    ///
    /// Whatever place the registry names for tokens gets the name and password of the registry, never its own: a token that
    /// it has for another user would go to the registry.
    fn authorize(&mut self, challenge: &str, with_name: bool) -> Result<bool> {
        if is_basic(challenge) && !with_name {
            return Ok(false);
        }
        let credential = if with_name { self.fetcher.web.credential(&self.site)? } else { None };
        if with_name && credential.is_none() {
            return Ok(false);
        }
        self.is_named = with_name;
        if is_basic(challenge) {
            self.authorization = credential.map(basic);
            return Ok(true);
        }
        let realm =
            parameter(challenge, "realm").ok_or_else(|| format!("{}: 401 without a way to log in", self.base))?;
        let scope = format!("repository:{}:pull", self.name);
        let mut url = format!("{realm}{}scope={}", if realm.contains('?') { '&' } else { '?' }, query(&scope));
        if let Some(service) = parameter(challenge, "service") {
            url += &format!("&service={}", query(&service));
        }
        if with_name && !Site::of(&realm)?.is_tls {
            return Err(format!("{realm} wants a password, which is only sent over TLS").into());
        }
        let ask = Ask { accept: "application/json", bytes_max: TOKEN_BYTES_MAX };
        let answer = self.fetcher.web.answer(&url, ask, credential.clone().map(basic).as_deref())?;
        if let Some(credential) = credential {
            self.fetcher.web.judge(&self.site, credential, answer.status == 200)?;
        } else if matches!(answer.status, 401 | 403) {
            return Ok(false);
        }
        let token: Token =
            serde_json::from_slice(&answer.into_body(&realm)?).map_err(|error| format!("{realm}: {error}"))?;
        let token = token.token.or(token.access_token).filter(|token| token.chars().all(|c| c.is_ascii_graphic()));
        let token = token.ok_or_else(|| format!("{realm}: no token"))?;
        self.authorization = Some(format!("Bearer {token}"));
        Ok(true)
    }

    fn tags(&mut self) -> Result<Vec<String>> {
        let mut url = format!("{}/tags/list", self.base);
        let mut all = Vec::new();
        let started = Instant::now();
        for _ in 0..PAGES_MAX {
            if started.elapsed() > self.fetcher.timeout {
                return Err(format!("{url}: timed out").into());
            }
            let answer = self.ask(&url, Ask { accept: "application/json", bytes_max: MANIFEST_BYTES_MAX })?;
            let next = answer.header("link").and_then(next_page).map(str::to_owned);
            let body = answer.into_body(&url)?;
            let tags: Tags = serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))?;
            all.extend(tags.tags.unwrap_or_default());
            if all.len() > TAGS_MAX {
                return Err(format!("{}: more than {TAGS_MAX} tags", self.base).into());
            }
            match next.filter(|next| next.starts_with('/') && !next.starts_with("//")) {
                Some(next) => url = format!("{}{next}", self.base.split("/v2/").next().unwrap_or_default()),
                None => return Ok(all),
            }
        }
        Err(format!("{}: more than {PAGES_MAX} pages of tags", self.base).into())
    }

    /// The manifest of a tag or digest, with its digest. Of an index, its one manifest.
    fn manifest(&mut self, reference: &str, depth: usize) -> Result<(Manifest, String)> {
        let url = format!("{}/manifests/{reference}", self.base);
        let answer = self.ask(&url, Ask { accept: ACCEPT, bytes_max: MANIFEST_BYTES_MAX })?;
        let kind = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
        let claimed = answer.header("docker-content-digest").map(str::to_owned);
        let body = answer.into_body(&url)?;
        let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&body)));
        let asked = Some(reference.to_owned()).filter(|reference| reference.starts_with("sha256:"));
        if let Some(wrong) = asked.into_iter().chain(claimed).find(|other| *other != digest) {
            return Err(format!("{url}: the registry says {wrong}, the manifest has {digest}").into());
        }
        let manifest: Manifest = serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))?;
        match kind.as_str() {
            MANIFEST => Ok((manifest, digest)),
            INDEX if depth == 0 => match &manifest.manifests[..] {
                [only] if is_digest(&only.digest) => {
                    let (manifest, _) = self.manifest(&only.digest.clone(), depth + 1)?;
                    Ok((manifest, digest))
                }
                _ => Err(format!("{url}: an index of {} manifests", manifest.manifests.len()).into()),
            },
            other => Err(format!("{url}: `{other}` is not the manifest of a chart").into()),
        }
    }

    fn blob(&mut self, layer: &Descriptor) -> Result<Vec<u8>> {
        if !is_digest(&layer.digest) {
            return Err(format!("{}: `{}` is no digest", self.base, layer.digest).into());
        }
        if layer.size > PACKED_BYTES_MAX {
            return Err(format!("{}: more than {PACKED_BYTES_MAX} bytes", self.base).into());
        }
        let url = format!("{}/blobs/{}", self.base, layer.digest);
        let body = self.ask(&url, Ask { accept: "*/*", bytes_max: PACKED_BYTES_MAX })?.into_body(&url)?;
        let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&body)));
        if digest != layer.digest {
            return Err(format!("{url}: the manifest says {}, the layer has {digest}", layer.digest).into());
        }
        Ok(body)
    }
}

fn is_basic(challenge: &str) -> bool {
    challenge.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic"))
}

/// A quoted parameter of a challenge.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let (_, rest) = challenge.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn query(text: &str) -> String {
    String::from_utf8_lossy(&escape(text.as_bytes(), Part::Query)).into_owned()
}

/// The next page that a header `Link` names.
fn next_page(link: &str) -> Option<&str> {
    let (target, rest) = link.strip_prefix('<')?.split_once('>')?;
    rest.contains("rel=\"next\"").then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_hub_is_asked_where_it_answers() {
        let rows = [("docker.io", "registry-1.docker.io"), ("quay.io", "quay.io"), ("docker.io:443", "docker.io:443")];
        for (registry, expected) in rows {
            assert_eq!(asked(registry), expected);
        }
    }

    #[test]
    fn challenges_and_pages() {
        let challenge = "Bearer realm=\"https://auth.example.com/token\",service=\"registry\",scope=\"x\"";
        assert_eq!(parameter(challenge, "realm").as_deref(), Some("https://auth.example.com/token"));
        assert_eq!(parameter(challenge, "none"), None);
        assert!(is_basic("Basic realm=\"x\"") && !is_basic(challenge));
        assert_eq!(next_page("</v2/web/tags/list?last=b&n=2>; rel=\"next\""), Some("/v2/web/tags/list?last=b&n=2"));
        assert_eq!(next_page("</x>; rel=\"prev\""), None);
    }

    #[test]
    fn manifests_of_other_things() {
        let manifest = |config: &str, layers: &[&str]| Manifest {
            config: Some(Descriptor { media_type: config.to_owned(), digest: String::new(), size: 0 }),
            layers: layers
                .iter()
                .map(|kind| Descriptor { media_type: (*kind).to_owned(), digest: String::new(), size: 0 })
                .collect(),
            manifests: Vec::new(),
        };
        let rows = [
            (manifest(CONFIG, &[CONTENT]), ""),
            (manifest(CONFIG, &["application/vnd.cncf.helm.chart.provenance.v1.prov", CONTENT]), ""),
            (
                manifest("application/vnd.oci.image.config.v1+json", &[CONTENT]),
                "it is not a chart: its config is `application/vnd.oci.image.config.v1+json`",
            ),
            (manifest(CONFIG, &["x"]), "it has no layer with a chart"),
            (manifest(CONFIG, &[CONTENT, CONTENT]), "it has several layers with a chart"),
            (manifest(CONFIG, &["x", "x", "x", "x", CONTENT]), "it has more than 4 layers"),
        ];
        for (manifest, expected) in rows {
            let found = content(&manifest).err().map(|failure| failure.reason).unwrap_or_default();
            assert_eq!(found, expected);
        }
    }
}
