//! The log: a line of JSON for each event.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use serde::Serialize;

use super::screened_json;
use crate::repo::Shared;

/// Appends one line of JSON to a log: when, and what. Lines of processes that write at once never mix. A new log is for
/// those who may use the repository as `shared` says.
pub(crate) fn log(path: &Path, shared: Shared, what: &impl Serialize) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        time: u64,
        #[serde(flatten)]
        what: &'a T,
    }
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut line = screened_json(&serde_json::to_string(&Line { time, what })?).into_bytes();
    line.push(b'\n');
    // Any sort of file will do, but one that no one reads must not keep us waiting.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = OpenOptions::new().create(true).append(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    shared.give(&file)?;
    file.write_all(&line)
}
