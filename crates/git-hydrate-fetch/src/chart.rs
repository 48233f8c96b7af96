//! Charts of HTTP repositories.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use data_encoding::HEXLOWER;
use go_yaml::{Limits, Value};
use inputs::index::{self, Index};
use inputs::{InputFile, Key, archive};
use sha2::{Digest, Sha256};

use super::web::Ask;
use super::{Failure, Fetched, Fetcher, Result};

/// The index of each repository, fetched once.
#[derive(Default)]
pub(crate) struct Indexes {
    known: Mutex<HashMap<String, Arc<OnceLock<Result<Index>>>>>,
    /// One is read at a time: a large one takes much memory until it is.
    reading: Mutex<()>,
}

impl Fetcher {
    /// The chart that a version or range of a repository means.
    pub(crate) fn chart(&self, key: &Key) -> Result<Fetched> {
        let cell = self
            .indexes
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(key.url.clone())
            .or_default()
            .clone();
        let index = cell.get_or_init(|| self.index(&key.url)).as_ref().map_err(Failure::clone)?;
        let releases = index::releases(index, &key.name).map_err(|error| format!("{}: {error}", key.url))?;
        let release = index::choose(&releases, &key.want).map_err(|error| format!("{}: {error}", key.url))?;
        let url = index::archive_url(&key.url, &release.url).ok_or_else(|| format!("`{}` is no URL", release.url))?;
        let ask = Ask { accept: "application/gzip,application/octet-stream", bytes_max: PACKED_BYTES_MAX };
        let received = self.web.get(&url, ask)?;
        let digest = HEXLOWER.encode(&Sha256::digest(&received));
        let is_accepted = self.accept.iter().any(|accepted| accepted.trim_start_matches("sha256:") == digest);
        if let Some(claimed) = index::claimed(release)?
            && claimed != digest
            && !is_accepted
        {
            return Err(format!(
                "the index of {} says sha256:{claimed} for {url}, the file has sha256:{digest}: refused (to take the \
                 file: --accept sha256:{digest})",
                key.url
            )
            .into());
        }
        let files = unpacked(&received, &url)?;
        check(&files, &key.name, Some(&release.version), &url)?;
        let warnings = plain_warning(&url).into_iter().collect();
        Ok(Fetched { version: release.version.clone(), origin: format!("sha256:{digest}"), warnings, files })
    }

    fn index(&self, repository: &str) -> Result<Index> {
        let ask = Ask { accept: "*/*", bytes_max: index::BYTES_MAX as u64 };
        let received = self.web.get(&index::index_url(repository), ask)?;
        let _turn = self.indexes.reading.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(index::parse(&received).map_err(|error| format!("{repository}: {error}"))?)
    }
}

/// How large an archive may be.
pub(crate) const PACKED_BYTES_MAX: u64 = 32 << 20;

fn plain_warning(url: &str) -> Option<String> {
    url.starts_with("http://").then(|| format!("{url} was fetched without TLS, so its origin is unverified"))
}

/// The files of an archive.
pub(crate) fn unpacked(received: &[u8], url: &str) -> Result<Vec<InputFile>> {
    let files = archive::unpack(received, archive::Limits::default());
    Ok(files.map_err(|error| format!("{url}: {error}"))?)
}

/// The version of a chart. An error unless it is the one that was asked for, by a version or by nothing but its name.
pub(crate) fn check(files: &[InputFile], name: &str, version: Option<&str>, url: &str) -> Result<String> {
    let head = files.iter().find(|file| file.path.as_str() == "Chart.yaml");
    let head = head.ok_or_else(|| format!("{url}: it has no Chart.yaml"))?;
    let head = go_yaml::sigs::unmarshal(&head.data, &Limits::default())
        .map_err(|error| format!("{url}: Chart.yaml: {error}"))?;
    let text = |key: &str| head.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (found_name, found_version) = (text("name"), text("version"));
    let bare = |version: &str| version.trim_start_matches('v').to_owned();
    let version = version.unwrap_or(&found_version);
    if found_name != name || bare(&found_version) != bare(version) {
        return Err(format!("{url}: it is the chart {found_name} {found_version}, not {name} {version}").into());
    }
    Ok(version.to_owned())
}
