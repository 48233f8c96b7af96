//! Reads cores, memory, `PATH` and the temporary directory of the process.

use std::fs;
use std::num::NonZero;

use anyhow::Context as _;

use crate::render::Machine;
use crate::render::process::wall;

/// This machine, for what renders on it.
pub(super) fn machine() -> anyhow::Result<Machine> {
    Ok(Machine {
        program: std::env::current_exe().context("finding this program")?,
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        temp_dir: std::env::temp_dir(),
        cores: std::thread::available_parallelism().map_or(1, NonZero::get),
        memory_bytes: memory_bytes(),
        isolation: wall::isolation(std::env::var_os(wall::VARIABLE).as_deref()),
        used: wall::used(std::env::var_os(wall::USED).as_deref()),
    })
}

/// How much memory there is for us: that of the machine, or the limit of our control group. Where neither can be read, more
/// than any machine has.
fn memory_bytes() -> u64 {
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    // In a container its own group is the root of what it sees.
    let path = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let files = [format!("/sys/fs/cgroup{path}/memory.max"), "/sys/fs/cgroup/memory/memory.limit_in_bytes".to_owned()];
    let limits = files.iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    limits.chain(all_memory_bytes()).min().unwrap_or(u64::MAX)
}

#[cfg(target_os = "linux")]
fn all_memory_bytes() -> Option<u64> {
    let info = rustix::system::sysinfo();
    Some((info.totalram as u64).saturating_mul(u64::from(info.mem_unit)))
}

#[cfg(not(target_os = "linux"))]
fn all_memory_bytes() -> Option<u64> {
    None
}
