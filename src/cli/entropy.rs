//! Bytes that no one can guess.

use std::fs::File;
use std::io::Read as _;

use anyhow::Context as _;

/// 32 of them, from the random device of this machine.
pub(super) fn entropy() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes)).context("reading /dev/urandom")?;
    Ok(bytes)
}
