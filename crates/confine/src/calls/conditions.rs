//! Calls that are judged by their arguments.

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCondition, SeccompRule};

use super::Rules;
use super::table::TIMES;

/// What an argument must be: its place, its width in the kernel, and the comparison.
type Must = (u8, SeccompCmpArgLen, SeccompCmpOp, u64);

/// `clone` with one of the `CLONE_NEW…` flags is `unshare` by another name; a sibling would be a child of ours.
const CLONE_REFUSED: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_PARENT;

/// What `fcntl` is asked for: not for leases, by which others wait, nor for signals to others.
const FCNTL: &[i32] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETPIPE_SZ,
    libc::F_SETPIPE_SZ,
    libc::F_GET_SEALS,
    libc::F_ADD_SEALS,
];

/// What `ioctl` is asked for: whether a file is a terminal and how wide, what is there to read, not to wait, to close on
/// `exec`, to share the blocks of a copy. All else is answered with `ENOTTY`, attributes of files (`chattr`) too.
const IOCTL: &[u32] = &[
    libc::TCGETS as u32,
    TCGETS2,
    libc::TIOCGWINSZ as u32,
    libc::TIOCGPGRP as u32,
    libc::FIONREAD as u32,
    libc::FIONBIO as u32,
    libc::FIOCLEX as u32,
    libc::FIONCLEX as u32,
    FICLONE,
    FICLONERANGE,
];

/// This number and the two below are the same on every architecture that has a filter.
const TCGETS2: u32 = 0x802c_542a;
const FICLONE: u32 = 0x4004_9409;
const FICLONERANGE: u32 = 0x4020_940d;

/// What `prctl` is asked for: names, capabilities and restrictions of the process itself.
const PRCTL: &[i32] = &[
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_GET_KEEPCAPS,
    libc::PR_SET_KEEPCAPS,
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_SECCOMP,
    libc::PR_SET_SECCOMP,
    libc::PR_CAPBSET_READ,
    libc::PR_CAPBSET_DROP,
    libc::PR_CAP_AMBIENT,
    libc::PR_GET_SECUREBITS,
    libc::PR_SET_TIMERSLACK,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_CHILD_SUBREAPER,
    libc::PR_GET_CHILD_SUBREAPER,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_TID_ADDRESS,
    libc::PR_SET_THP_DISABLE,
    libc::PR_GET_THP_DISABLE,
    PR_GET_SPECULATION_CTRL,
    PR_SET_VMA,
];

/// What `libc` does not have for every architecture; the second gives memory areas names, for debuggers.
const PR_GET_SPECULATION_CTRL: i32 = 52;
const PR_SET_VMA: i32 = 0x5356_4d41;

/// The calls that are allowed with some arguments.
pub(super) fn allowed() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let mut add = |call: i64, must: &[Must]| {
        rules.entry(call).or_default().push(rule(must)?);
        Ok::<(), BackendError>(())
    };
    add(libc::SYS_clone, &[(0, Qword, MaskedEq(mask(CLONE_REFUSED)), 0)])?;
    for (call, flags) in OPENS {
        // Older kernels do not ask Landlock before they truncate, nor for the access mode 3, which is for `ioctl` alone.
        add(*call, &[(*flags, Dword, MaskedEq(ACCESS | mask(libc::O_TRUNC)), mask(libc::O_RDONLY))])?;
        add(*call, &[(*flags, Dword, MaskedEq(ACCESS), mask(libc::O_WRONLY))])?;
        add(*call, &[(*flags, Dword, MaskedEq(ACCESS), mask(libc::O_RDWR))])?;
    }
    for (call, mode) in MAKES_NODE {
        add(*call, &[(*mode, Dword, MaskedEq(u64::from(libc::S_IFMT)), u64::from(libc::S_IFIFO))])?;
    }
    // One that takes datagrams could send them to any address, also after it was connected.
    for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
        let local = (0, Dword, Eq, mask(libc::AF_UNIX));
        add(libc::SYS_socketpair, &[local, (1, Dword, MaskedEq(0xf), mask(kind))])?;
    }
    for request in FCNTL {
        add(libc::SYS_fcntl, &[(1, Dword, Eq, mask(*request))])?;
    }
    for request in IOCTL {
        add(libc::SYS_ioctl, &[(1, Dword, Eq, u64::from(*request))])?;
    }
    for request in PRCTL {
        add(libc::SYS_prctl, &[(0, Dword, Eq, mask(*request))])?;
    }
    // Of oneself only.
    for call in OF_A_PROCESS {
        add(*call, &[(0, Dword, Eq, 0)])?;
    }
    for (call, which) in OF_A_KIND {
        add(*call, &[(0, Dword, Eq, *which), (1, Dword, Eq, 0)])?;
    }
    Ok(rules)
}

/// The bits of the access mode; `O_ACCMODE` has one more in musl.
const ACCESS: u64 = 3;

/// Calls that open a file, with the place of the flags.
const OPENS: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// Calls that make a pipe with a name, with the place of the mode: a device would be a door past Landlock.
const MAKES_NODE: &[(i64, u8)] = &[
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Limits and scheduling of the process with a number: 0 is the caller.
const OF_A_PROCESS: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
];

/// Priorities of a process, a group or a user, with the word for a process.
const OF_A_KIND: &[(i64, u64)] = &[(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// What is answered with success although nothing is done.
///
/// "Now" for a path is what `touch` asks before it makes a file that is missing (Python's `Path.touch`), so that one is
/// refused.
pub(super) fn pretended() -> Result<Rules, BackendError> {
    let rows = TIMES.iter().map(|(call, times, path)| {
        Ok((*call, vec![rule(&[(*times, Qword, Ne, 0)])?, rule(&[(*path, Qword, Eq, 0)])?]))
    });
    rows.collect()
}

/// `ioctl` with a request that is not allowed.
pub(super) fn no_request() -> Result<(i64, Vec<SeccompRule>), BackendError> {
    let others: Vec<Must> = IOCTL.iter().map(|request| (1, Dword, Ne, u64::from(*request))).collect();
    Ok((libc::SYS_ioctl, vec![rule(&others)?]))
}

fn rule(must: &[Must]) -> Result<SeccompRule, BackendError> {
    let conditions =
        must.iter().cloned().map(|(place, length, is, value)| SeccompCondition::new(place, length, is, value));
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

fn mask(flags: i32) -> u64 {
    u64::from(flags.cast_unsigned())
}
