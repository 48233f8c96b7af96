//! Which system call is answered how: the tables of x86-64 and of the architectures that share the generic one, up to
//! Linux 7.1. What is in none of these lists is refused.
//!
//! Calls that are allowed by their arguments only are in [`super::conditions`].

/// Numbers that `libc` does not have for every architecture yet; from 403 on, all architectures have the same.
mod newer {
    pub(super) const FUTEX_WAITV: i64 = 449;
    pub(super) const FCHMODAT2: i64 = 452;
    pub(super) const MAP_SHADOW_STACK: i64 = 453;
    pub(super) const FUTEX_WAKE: i64 = 454;
    pub(super) const FUTEX_WAIT: i64 = 455;
    pub(super) const FUTEX_REQUEUE: i64 = 456;
    pub(super) const MSEAL: i64 = 462;
    pub(super) const SETXATTRAT: i64 = 463;
    pub(super) const GETXATTRAT: i64 = 464;
    pub(super) const LISTXATTRAT: i64 = 465;
    pub(super) const REMOVEXATTRAT: i64 = 466;
    pub(super) const FILE_GETATTR: i64 = 468;
    pub(super) const FILE_SETATTR: i64 = 469;
    pub(super) const RSEQ_SLICE_YIELD: i64 = 471;
}

/// The first number that Linux 7.1 has no call for.
pub(super) const UNKNOWN_FROM: i64 = 472;

/// The number above which the C library asks for nothing.
pub(super) const UNKNOWN_BELOW: i64 = 512;

/// What a program needs, and what can only change itself, its children, or a file that Landlock let it open.
#[rustfmt::skip]
pub(super) const ALLOWED: &[i64] = &[
    // Files by name: Landlock judges each. `openat2` keeps its flags in memory, where no filter sees them.
    libc::SYS_mkdirat, libc::SYS_unlinkat, libc::SYS_symlinkat, libc::SYS_linkat, libc::SYS_renameat2,
    libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlinkat,
    libc::SYS_statfs, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_getcwd, libc::SYS_umask,
    // Open files.
    libc::SYS_close, libc::SYS_close_range, libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_flock,
    libc::SYS_read, libc::SYS_pread64, libc::SYS_readv, libc::SYS_preadv, libc::SYS_preadv2, libc::SYS_getdents64,
    libc::SYS_write, libc::SYS_pwrite64, libc::SYS_writev, libc::SYS_pwritev, libc::SYS_pwritev2, libc::SYS_lseek,
    libc::SYS_fstat, libc::SYS_fstatfs, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fadvise64,
    libc::SYS_readahead, libc::SYS_sendfile, libc::SYS_copy_file_range, libc::SYS_splice, libc::SYS_tee,
    libc::SYS_vmsplice, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs,
    // Waiting for them.
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2, libc::SYS_eventfd2, libc::SYS_signalfd4, libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime,
    // The two ends of a `socketpair`.
    libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_recvfrom, libc::SYS_recvmsg,
    libc::SYS_recvmmsg, libc::SYS_shutdown, libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_setsockopt,
    libc::SYS_getsockopt,
    // Memory.
    libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise, libc::SYS_brk,
    libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock, libc::SYS_mlockall,
    libc::SYS_munlockall, libc::SYS_memfd_create, libc::SYS_pkey_alloc, libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect, libc::SYS_membarrier, newer::MAP_SHADOW_STACK, newer::MSEAL,
    // Processes and threads. Signals stay among those of the program: Landlock's scope.
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4, libc::SYS_waitid,
    libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_getsid,
    libc::SYS_set_tid_address, libc::SYS_set_robust_list, libc::SYS_rseq, newer::RSEQ_SLICE_YIELD,
    libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill,
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigpending, libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend, libc::SYS_rt_sigtimedwait, libc::SYS_sigaltstack, libc::SYS_restart_syscall,
    libc::SYS_futex, newer::FUTEX_WAITV, newer::FUTEX_WAKE, newer::FUTEX_WAIT, newer::FUTEX_REQUEUE,
    // Who it is, of which no more can come than it was.
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getresuid, libc::SYS_getgid, libc::SYS_getegid,
    libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_setuid, libc::SYS_setreuid, libc::SYS_setresuid,
    libc::SYS_setgid, libc::SYS_setregid, libc::SYS_setresgid, libc::SYS_capget, libc::SYS_capset,
    libc::SYS_seccomp, libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
    // The machine and its clocks.
    libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrusage, libc::SYS_times, libc::SYS_getcpu, libc::SYS_getrandom,
    libc::SYS_gettimeofday, libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep, libc::SYS_getitimer, libc::SYS_setitimer, libc::SYS_timer_create,
    libc::SYS_timer_settime, libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete,
    libc::SYS_sched_yield, libc::SYS_sched_getparam, libc::SYS_sched_getscheduler, libc::SYS_sched_getattr,
    libc::SYS_sched_getaffinity, libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval, libc::SYS_getpriority, libc::SYS_ioprio_get,
];

/// Older names of calls in [`ALLOWED`], and calls that this architecture alone has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(super) const ALLOWED_HERE: &[i64] = &[
    libc::SYS_creat, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_symlink, libc::SYS_link,
    libc::SYS_rename, libc::SYS_renameat, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink,
    libc::SYS_dup2, libc::SYS_pipe, libc::SYS_getdents, libc::SYS_sync_file_range, libc::SYS_poll, libc::SYS_select,
    libc::SYS_epoll_create, libc::SYS_epoll_wait, libc::SYS_eventfd, libc::SYS_signalfd, libc::SYS_fork,
    libc::SYS_vfork, libc::SYS_getpgrp, libc::SYS_pause, libc::SYS_alarm, libc::SYS_time, libc::SYS_arch_prctl,
    libc::SYS_getrlimit, libc::SYS_setrlimit,
];

/// What `libc` leaves out of the generic table: `renameat`, `sync_file_range`, `getrlimit`, `setrlimit`, and for RISC-V
/// `riscv_hwprobe` and `riscv_flush_icache`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALLOWED_HERE: &[i64] = &[38, 84, 163, 164, 258, 259];

/// What only the fetcher may do beside [`ALLOWED`].
pub(super) const NETWORK: &[i64] = &[libc::SYS_socket, libc::SYS_socketpair, libc::SYS_connect, libc::SYS_bind];

/// Modes, owners and times: nothing is done, and success is said.
///
/// A filter does not see which file is meant, so the scratch directory is no exception. The truth (`EPERM`) would end
/// `cp -p`, `tar x`, `install`, `git config` and Python's `shutil.copy2`, which change what they made themselves.
#[rustfmt::skip]
pub(super) const PRETENDED: &[i64] = &[
    libc::SYS_fchmod, libc::SYS_fchmodat, newer::FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat,
];

/// Older names of calls in [`PRETENDED`].
#[cfg(target_arch = "x86_64")]
pub(super) const PRETENDED_HERE: &[i64] = &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PRETENDED_HERE: &[i64] = &[];

/// Calls that set times, with the place of the argument that is null for "now", and of the path.
pub(super) const TIMES: &[(i64, u8, u8)] = &[
    (libc::SYS_utimensat, 2, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_futimesat, 2, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utimes, 1, 0),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utime, 1, 0),
];

/// Further attributes: answered as by a file system that has none, with `EOPNOTSUPP`.
#[rustfmt::skip]
pub(super) const UNSUPPORTED: &[i64] = &[
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, newer::SETXATTRAT,
    libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, newer::GETXATTRAT,
    libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr, newer::LISTXATTRAT,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr, newer::REMOVEXATTRAT,
    newer::FILE_GETATTR, newer::FILE_SETATTR,
];

/// Answered with `ENOSYS`, so that the C library takes the older call, whose flags a filter sees.
pub(super) const ABSENT: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2];
