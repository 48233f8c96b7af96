//! The confining process: restricts itself, then becomes the program.
//!
//! Started by a [`Runner`](super::Runner) only, as `git-hydrate __confine POLICY -- PROGRAM ARGS`, or with no program to
//! tell what the kernel can enforce. Single-threaded from start to `exec`.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::{Resource, Rlimit, getppid, getrlimit, setrlimit};

use super::policy::{Policy, Restriction};

/// The first argument that `main` looks for before it reads any other.
pub const ARGUMENT: &str = "__confine";

/// How the last line on standard error starts when it comes from us and not from the program.
pub(super) const COMPLAINT: &str = "git-hydrate __confine: ";

/// The exit status that comes with a [`COMPLAINT`].
pub(super) const COMPLAINT_STATUS: i32 = 125;

/// Takes the arguments after `__confine`. Returns only when no program is given or it did not start.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let complaint = match confine(&mut args) {
        Ok(done) => return done,
        Err(complaint) => complaint,
    };
    // No one is left to tell when this fails.
    let _ = writeln!(std::io::stderr(), "{COMPLAINT}{complaint}");
    ExitCode::from(COMPLAINT_STATUS as u8)
}

fn confine(args: &mut dyn Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let policy = Policy::from_args(args)?;
    system::close_descriptors();
    system::end_with_parent(&policy)?;
    limit(&policy)?;
    let enforced = system::enforce(&policy)?;
    let Some(program) = args.next() else {
        let words: Vec<&str> = enforced.iter().map(|restriction| restriction.word()).collect();
        writeln!(std::io::stdout(), "{}", words.join(" ")).map_err(|error| error.to_string())?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(missing) = policy.required.iter().find(|required| !enforced.contains(required)) {
        return Err(format!("this system cannot restrict {missing}"));
    }
    let error = Command::new(&program).args(args).exec();
    Err(format!("{}: {error}", program.to_string_lossy()))
}

/// Sets the limits that the kernel keeps. None is ever raised above what we got ourselves.
fn limit(policy: &Policy) -> Result<(), String> {
    let limits = &policy.limits;
    let tasks = match limits.tasks_max {
        0 => 0,
        more => system::tasks_of_user().saturating_add(more),
    };
    let rows = [
        (Resource::As, limits.memory_bytes_max),
        // The parent process may be limited to less.
        (Resource::Data, limits.memory_bytes_max),
        (Resource::Fsize, limits.file_bytes_max),
        #[cfg(target_os = "linux")]
        (Resource::Nproc, tasks),
        (Resource::Nofile, 1024),
    ];
    for (resource, value) in rows.into_iter().filter(|(_, value)| *value > 0) {
        set(resource, value)?;
    }
    set(Resource::Core, 0)
}

fn set(resource: Resource, value: u64) -> Result<(), String> {
    let value = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
    let limit = Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(resource, limit).map_err(|error| format!("limit {resource:?} to {value}: {error}"))
}

/// How large a file of the fetcher may be, in bytes: all that a git server sends is one.
pub const FETCHED_FILE_BYTES_MAX: u64 = 512 << 20;

/// Restricts this process and all that it starts to reading what programs, certificates and names of hosts need, and to
/// writing below one directory; the network stays open. No file may have more than [`FETCHED_FILE_BYTES_MAX`], no process
/// more than 4 GiB of memory. Called before any thread is started. Tells what cannot be restricted here.
pub fn fetcher(scratch: &Path, readable: &[PathBuf]) -> Result<Vec<Restriction>, String> {
    for (resource, value) in [(Resource::As, 4 << 30), (Resource::Fsize, FETCHED_FILE_BYTES_MAX), (Resource::Core, 0)] {
        set(resource, value)?;
    }
    let enforced = system::enforce_fetcher(scratch, readable)?;
    Ok([Restriction::Files, Restriction::Calls].into_iter().filter(|part| !enforced.contains(part)).collect())
}

/// Does `work` after restricting this process to reading what is below its current directory: nothing of the system either,
/// which was needed until the program ran. Called before any thread is started; where the kernel has no Landlock, nothing is
/// restricted.
pub fn to_current_directory(work: impl FnOnce() -> ExitCode) -> ExitCode {
    match system::enforce_current_directory() {
        Ok(()) => work(),
        Err(reason) => {
            // No one is left to tell when this fails.
            let _ = writeln!(std::io::stderr(), "{COMPLAINT}{reason}");
            ExitCode::from(COMPLAINT_STATUS as u8)
        }
    }
}

fn parent_is_alive(policy: &Policy) -> bool {
    getppid().is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() == policy.parent)
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
        path_beneath_rules,
    };
    use rustix::process::{Signal, geteuid, set_parent_process_death_signal};
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    use super::super::calls;
    use super::{Policy, Restriction, parent_is_alive};

    /// What programs are made of, and nothing that belongs to somebody.
    const SYSTEM_DIRS: &[&str] =
        &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache"];

    const DEVICES_READ: &[&str] = &["/dev/zero", "/dev/random", "/dev/urandom"];

    /// The newest version of Landlock whose rights we have tested; an older kernel gets what it knows.
    const LANDLOCK: ABI = ABI::V6;

    /// Closes what the parent process left open above standard error: a descriptor passes every later check.
    pub(super) fn close_descriptors() {
        let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let open: Vec<i32> = names.filter(|descriptor| *descriptor > 2).collect();
        for descriptor in open {
            // The listing's own one is closed already.
            let _ = nix::unistd::close(descriptor);
        }
    }

    pub(super) fn end_with_parent(policy: &Policy) -> Result<(), String> {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| format!("PR_SET_PDEATHSIG: {error}"))?;
        if parent_is_alive(policy) { Ok(()) } else { Err("its parent process has ended".to_owned()) }
    }

    /// Processes and threads of our user, which is what the kernel counts against the limit.
    pub(super) fn tasks_of_user() -> u64 {
        let uid = geteuid().as_raw();
        let Ok(entries) = fs::read_dir("/proc") else { return 0 };
        let ours = entries.flatten().filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == uid));
        let tasks = ours.filter_map(|entry| fs::metadata(entry.path().join("task")).ok());
        tasks.map(|metadata| metadata.nlink().saturating_sub(2)).sum()
    }

    /// What the superuser keeps, for files of others that an admin made readable. With the others it could raise its limits.
    const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

    /// Gives up what this process and all that it starts could get or have by who they are.
    fn give_up_privileges() -> Result<(), String> {
        rustix::thread::set_no_new_privs(true).map_err(|error| format!("PR_SET_NO_NEW_PRIVS: {error}"))?;
        let mut sets = capabilities(None).map_err(|error| format!("capget: {error}"))?;
        sets.effective &= KEPT_CAPABILITIES;
        sets.permitted &= KEPT_CAPABILITIES;
        sets.inheritable = CapabilitySet::empty();
        set_capabilities(None, sets).map_err(|error| format!("capset: {error}"))
    }

    /// Restricts this process and all that it starts; answers what the kernel does enforce.
    pub(super) fn enforce(policy: &Policy) -> Result<Vec<Restriction>, String> {
        give_up_privileges()?;
        let mut enforced = Vec::new();
        if restrict_files(policy).map_err(|error| format!("Landlock: {error}"))? {
            enforced.push(Restriction::Files);
        }
        if calls::restrict(false).map_err(|error| format!("seccomp: {error}"))? {
            enforced.extend([Restriction::Network, Restriction::Calls]);
        }
        Ok(enforced)
    }

    /// What the lookup of a host and the check of a certificate read.
    const NETWORK_FILES: &[&str] =
        &["/etc", "/run/systemd/resolve", "/run/resolvconf", "/run/nscd", "/var/lib/ca-certificates", "/private/etc"];

    pub(super) fn enforce_fetcher(scratch: &Path, readable: &[PathBuf]) -> Result<Vec<Restriction>, String> {
        give_up_privileges()?;
        let mut enforced = Vec::new();
        if restrict_fetcher(scratch, readable).map_err(|error| format!("Landlock: {error}"))? {
            enforced.push(Restriction::Files);
        }
        if calls::restrict(true).map_err(|error| format!("seccomp: {error}"))? {
            enforced.push(Restriction::Calls);
        }
        Ok(enforced)
    }

    fn restrict_fetcher(scratch: &Path, readable: &[PathBuf]) -> Result<bool, RulesetError> {
        let read = AccessFs::from_read(LANDLOCK);
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::BindTcp)?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM_DIRS, read))?
            .add_rules(path_beneath_rules(NETWORK_FILES, read))?
            .add_rules(path_beneath_rules(DEVICES_READ, AccessFs::ReadFile))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::ReadFile | AccessFs::WriteFile))?
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules([scratch], AccessFs::from_all(LANDLOCK)))?
            .restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    pub(super) fn enforce_current_directory() -> Result<(), String> {
        rustix::thread::set_no_new_privs(true).map_err(|error| format!("PR_SET_NO_NEW_PRIVS: {error}"))?;
        restrict_to_current_directory().map_err(|error| format!("Landlock: {error}"))
    }

    fn restrict_to_current_directory() -> Result<(), RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(["."], AccessFs::ReadFile | AccessFs::ReadDir))?
            .restrict_self()?;
        Ok(())
    }

    fn restrict_files(policy: &Policy) -> Result<bool, RulesetError> {
        let read = AccessFs::from_read(LANDLOCK);
        let device_read = AccessFs::ReadFile;
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM_DIRS, read))?
            .add_rules(path_beneath_rules(DEVICES_READ, device_read))?
            .add_rules(path_beneath_rules(["/dev/null"], device_read | AccessFs::WriteFile))?
            .add_rules(path_beneath_rules(&policy.readable, read))?
            .add_rules(path_beneath_rules(&policy.writable, AccessFs::from_all(LANDLOCK)))?
            .restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::{Path, PathBuf};

    use super::{Policy, Restriction, parent_is_alive};

    pub fn close_descriptors() {}

    pub fn end_with_parent(policy: &Policy) -> Result<(), String> {
        if parent_is_alive(policy) { Ok(()) } else { Err("its parent process has ended".to_owned()) }
    }

    pub fn tasks_of_user() -> u64 {
        0
    }

    pub fn enforce(_policy: &Policy) -> Result<Vec<Restriction>, String> {
        Ok(Vec::new())
    }

    pub fn enforce_current_directory() -> Result<(), String> {
        Ok(())
    }

    pub fn enforce_fetcher(_scratch: &Path, _readable: &[PathBuf]) -> Result<Vec<Restriction>, String> {
        Ok(Vec::new())
    }
}
