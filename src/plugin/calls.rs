//! The system calls that a confined program is refused.
//!
//! A list of what is refused, since programs of any language must run. All of `socket` is on it, local ones too: the
//! sockets of a container engine or of an agent are doors out, and Landlock does not close them.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// On x86-64 every call has a second number, of the x32 interface, where the kernel was built with it.
const X32: i64 = 0x4000_0000;

/// The network, answered with `EPERM`.
const NETWORK: &[i64] = &[libc::SYS_socket];

/// Answered with `EPERM`.
const REFUSED: &[i64] = &[
    // Ways to make a socket around `socket`.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_pidfd_getfd,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmget,
    libc::SYS_mq_open,
    // Leaving the process group, by which it is ended.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    // Files by ways that Landlock does not see, on some kernels or on all.
    libc::SYS_truncate,
    libc::SYS_open_by_handle_at,
    libc::SYS_mknodat,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fanotify_init,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_personality,
    libc::SYS_vhangup,
];

/// The same by the older names that only this architecture has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_mknod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
    // `ptrace`, `kexec_load`, `process_vm_readv` and `process_vm_writev` of the x32 interface.
    X32 | 521,
    X32 | 528,
    X32 | 539,
    X32 | 540,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// `clone` with one of the `CLONE_NEW…` flags is `unshare` by another name.
const NAMESPACE_FLAGS: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Refuses them to this process and to all that it starts, those of the network only with `network`. False when the kernel or
/// the architecture has no seccomp.
pub(super) fn refuse(network: bool) -> Result<bool, BackendError> {
    let Some((refused, absent)) = filters(network)? else { return Ok(false) };
    Ok([absent, refused].iter().all(|filter| seccompiler::apply_filter(filter).is_ok()))
}

/// The filter that answers `EPERM`, and the one that answers `ENOSYS`.
///
/// `clone3` keeps its flags in memory, where no filter sees them; when it does not exist, the C library uses `clone`.
fn filters(network: bool) -> Result<Option<(BpfProgram, BpfProgram)>, BackendError> {
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return Ok(None) };
    let filter = |rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32| {
        let answer = SeccompAction::Errno(errno.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture).and_then(BpfProgram::try_from)
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED.iter().chain(REFUSED_HERE).chain(if network { NETWORK } else { &[] }) {
        rules.insert(*call, Vec::new());
        rules.insert(*call | X32, Vec::new());
    }
    for flag in NAMESPACE_FLAGS {
        let flag = u64::from(flag.unsigned_abs());
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        let rule = SeccompRule::new(vec![set])?;
        rules.entry(libc::SYS_clone).or_default().push(rule.clone());
        rules.entry(libc::SYS_clone | X32).or_default().push(rule);
    }
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new()), (libc::SYS_clone3 | X32, Vec::new())]);
    Ok(Some((filter(rules, libc::EPERM)?, filter(absent, libc::ENOSYS)?)))
}
