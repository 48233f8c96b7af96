//! The tables are whole, and nothing is in two of them.

use std::collections::BTreeSet;

use super::*;

/// The calls of x86-64 up to Linux 7.1 that a program is refused with `EPERM`, by number.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const REFUSED: &[(&str, &[i64])] = &[
    ("sockets", &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept,
        libc::SYS_accept4]),
    ("files without a descriptor that Landlock saw", &[libc::SYS_truncate, libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at, libc::SYS_io_setup, libc::SYS_io_destroy, libc::SYS_io_getevents,
        libc::SYS_io_submit, libc::SYS_io_cancel, 333, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register, libc::SYS_sync, 451]),
    ("watching files", &[libc::SYS_inotify_init, libc::SYS_inotify_init1, libc::SYS_inotify_add_watch,
        libc::SYS_inotify_rm_watch, libc::SYS_fanotify_init, libc::SYS_fanotify_mark]),
    ("other processes", &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
        libc::SYS_process_madvise, 448, libc::SYS_kcmp, libc::SYS_pidfd_getfd, libc::SYS_migrate_pages,
        libc::SYS_move_pages, libc::SYS_get_robust_list, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_setsid, libc::SYS_setpgid]),
    ("what others share", &[libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_shmdt, libc::SYS_semget,
        libc::SYS_semop, libc::SYS_semctl, libc::SYS_semtimedop, libc::SYS_msgget, libc::SYS_msgsnd,
        libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_mq_open, libc::SYS_mq_unlink, libc::SYS_mq_timedsend,
        libc::SYS_mq_timedreceive, libc::SYS_mq_notify, libc::SYS_mq_getsetattr, libc::SYS_add_key,
        libc::SYS_request_key, libc::SYS_keyctl]),
    ("namespaces and mounts", &[libc::SYS_unshare, libc::SYS_setns, libc::SYS_mount, libc::SYS_umount2,
        libc::SYS_move_mount, libc::SYS_open_tree, 467, libc::SYS_fsopen, libc::SYS_fspick, libc::SYS_fsconfig,
        libc::SYS_fsmount, libc::SYS_mount_setattr, 457, 458, libc::SYS_pivot_root, libc::SYS_chroot, 470]),
    ("the kernel", &[libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, 447, libc::SYS_init_module,
        libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load, libc::SYS_kexec_file_load,
        libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_acct, libc::SYS_syslog,
        libc::SYS_quotactl, 443, libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_settimeofday,
        libc::SYS_clock_settime, libc::SYS_clock_adjtime, libc::SYS_adjtimex, libc::SYS_personality,
        libc::SYS_vhangup, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_lookup_dcookie,
        libc::SYS_ustat, libc::SYS_sysfs, libc::SYS_uselib, libc::SYS__sysctl, 459, 460, 461, 335, 336]),
    ("more rights, memory of other nodes, what is obsolete", &[libc::SYS_setgroups, libc::SYS_setfsuid,
        libc::SYS_setfsgid, libc::SYS_mbind, libc::SYS_set_mempolicy, libc::SYS_get_mempolicy, 450,
        libc::SYS_remap_file_pages]),
    ("numbers that never had a call here", &[174, 177, 178, 180, 181, 182, 183, 184, 185, 205, 211, 214, 215, 236]),
];

#[cfg(target_arch = "x86_64")]
#[test]
fn every_call_of_the_table_has_one_answer() {
    let times: Vec<i64> = table::TIMES.iter().map(|(call, ..)| *call).collect();
    let conditional: Vec<i64> = conditions::allowed().expect("rules").into_keys().collect();
    // Of the network's, one is allowed with some arguments.
    let network: Vec<i64> = NETWORK.iter().copied().filter(|call| conditional.contains(call)).collect();
    assert_eq!(network, [libc::SYS_socketpair]);
    let lists: Vec<(&str, &[i64])> = [
        ("allowed", ALLOWED),
        ("allowed here", ALLOWED_HERE),
        ("allowed with some arguments", &conditional),
        ("pretended", PRETENDED),
        ("pretended here", PRETENDED_HERE),
        ("times", &times),
        ("unsupported", UNSUPPORTED),
        ("absent", ABSENT),
    ]
    .into_iter()
    .chain(REFUSED.iter().copied())
    .collect();
    let known: BTreeSet<i64> = (0..=336).chain(424..UNKNOWN_FROM).collect();
    for call in &known {
        let of: Vec<&str> = lists.iter().filter(|(_, list)| list.contains(call)).map(|(name, _)| *name).collect();
        assert_eq!(of.len(), 1, "call {call} is in {of:?}");
    }
    let listed: BTreeSet<i64> = lists.iter().flat_map(|(_, list)| list.iter().copied()).collect();
    assert_eq!(listed.difference(&known).collect::<Vec<_>>(), Vec::<&i64>::new());
}

/// A program of the kernel's virtual machine may have 4,096 instructions; one without rules would refuse everything.
#[test]
fn filters_are_made_for_this_architecture() {
    for network in [false, true] {
        let filters = filters(network).expect("rules").expect("an architecture with seccomp");
        assert_eq!(filters.len(), 5);
        let lengths: Vec<usize> = filters.iter().map(Vec::len).collect();
        assert!(lengths.iter().all(|length| (10..4_096).contains(length)), "{lengths:?}");
    }
}
