//! What `helm registry login` and `docker login` keep: names and passwords of registries. Read here, never written, and no
//! helper program of theirs is started.
//!
//! Reference: oras-go 2 registry/remote/credentials `FileStore`, with which Helm reads both files.

use std::env::var_os;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

/// How large such a file may be, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// The name and password of a registry, given as `HOST` or `HOST:PORT`: those that Helm keeps, else those of Docker.
pub(super) fn of_registry(host: &str) -> Option<(String, String)> {
    files().filter_map(read).find_map(|content| found(&content, host))
}

fn read(path: PathBuf) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path).ok()?.take(BYTES_MAX).read_to_end(&mut content).ok()?;
    Some(content)
}

fn files() -> impl Iterator<Item = PathBuf> {
    let dir = |name: &str| var_os(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    let home = |below: &str| dir("HOME").map(|home| home.join(below));
    let helm = dir("HELM_REGISTRY_CONFIG").or_else(|| {
        let config = dir("HELM_CONFIG_HOME").or_else(|| dir("XDG_CONFIG_HOME").map(|dir| dir.join("helm")));
        Some(config.or_else(|| home(".config/helm"))?.join("registry/config.json"))
    });
    let docker = dir("DOCKER_CONFIG").or_else(|| home(".docker")).map(|dir| dir.join("config.json"));
    helm.into_iter().chain(docker)
}

fn found(content: &[u8], host: &str) -> Option<(String, String)> {
    let config: Value = serde_json::from_slice(content).ok()?;
    let auths = config.get("auths")?.as_object()?;
    let entry = auths.iter().find(|(key, _)| is_of(key, host)).map(|(_, entry)| entry)?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let decoded = text("auth").and_then(|auth| String::from_utf8(BASE64.decode(auth.as_bytes()).ok()?).ok());
    let (name, password) = match &decoded {
        Some(pair) => pair.split_once(':')?,
        None => (text("username")?, text("password")?),
    };
    let is_usable = |text: &str| !text.is_empty() && !text.contains(char::is_control);
    (is_usable(name) && is_usable(password)).then(|| (name.to_owned(), password.to_owned()))
}

/// Whether an entry is for a host: it may have a scheme and a path. Docker Hub has a name of its own there.
fn is_of(key: &str, host: &str) -> bool {
    let site = key.split_once("://").map_or(key, |(_, rest)| rest);
    let site = site.split('/').next().unwrap_or_default().trim_end_matches(":443");
    let is_hub = matches!(host, "docker.io" | "registry-1.docker.io") && site == "index.docker.io";
    site.eq_ignore_ascii_case(host) || is_hub
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_a_host_is_found_however_it_is_written() {
        let pair = "\"auth\": \"dXNlcjp3b3JkOnM=\"";
        let rows = [
            ("r.example.com", pair, "r.example.com", "user word:s"),
            ("https://R.example.com/v1/", pair, "r.example.com", "user word:s"),
            ("r.example.com:443", pair, "r.example.com", "user word:s"),
            ("r.example.com:5000", pair, "r.example.com:5000", "user word:s"),
            ("r.example.com:5000", pair, "r.example.com", ""),
            ("r.example.com", pair, "example.com", ""),
            ("https://index.docker.io/v1/", pair, "registry-1.docker.io", "user word:s"),
            ("h", "\"username\": \"a\", \"password\": \"b\"", "h", "a b"),
            ("h", "", "h", ""),
            ("h", "\"identitytoken\": \"x\"", "h", ""),
            ("h", "\"auth\": \"!\"", "h", ""),
            ("h", "\"auth\": \"dXNlcg==\"", "h", ""),
            ("h", "\"auth\": \"dXNlcjp3CnI=\"", "h", ""),
        ];
        for (key, entry, host, expected) in rows {
            let content = format!("{{\"auths\": {{\"{key}\": {{{entry}}}}}, \"credsStore\": \"none\"}}");
            let found = found(content.as_bytes(), host).map(|(name, password)| format!("{name} {password}"));
            assert_eq!(found.unwrap_or_default(), expected, "{key} {entry} {host}");
        }
        assert_eq!(found(b"no JSON", "h"), None);
    }
}
