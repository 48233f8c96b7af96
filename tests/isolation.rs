//! What native rendering asks of the kernel: system calls of a real hook, told by strace.
//!
//! A render thread is known by its name, so what rendering does is told apart from reading refs and writing objects. The
//! push holds charts, kustomizations and plain files that render, and others that would reach out if there were a way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::push::{application, config_map};
use crate::support::{BINARY, Lab, Repo};

/// What a render thread may ask for: memory, other threads, and files that it reads.
const OF_RENDERING: &[&str] = &[
    "brk",
    "clone",
    "clone3",
    "close",
    "exit",
    "fcntl",
    "fstat",
    "futex",
    "getrandom",
    "gettid",
    "lseek",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "newfstatat",
    "openat",
    "prctl",
    "pread64",
    "read",
    "restart_syscall",
    "rseq",
    "rt_sigprocmask",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "sigaltstack",
    "statx",
];

/// Where the C library looks before it gives memory back: the one file outside of the repository.
const OF_THE_ALLOCATOR: &str = "/proc/sys/vm/overcommit_memory";

/// Where the loader, the standard library and git look before anything is hydrated.
const OF_THE_SYSTEM: &[&str] = &[
    "/dev/null",
    "/etc/ld.so.cache",
    // By which a lock of ours is told from those of others.
    "/etc/machine-id",
    "/lib",
    "/proc/",
    "/sys/fs/cgroup/",
    "/usr/lib",
    "/usr/share/zoneinfo/",
];

/// What no process of the hook may ask for.
const NEVER: &[&str] = &["accept", "bind", "connect", "sendto", "socket"];

/// The system calls of one thread, in order, each as strace writes it.
struct Thread {
    calls: Vec<String>,
}

impl Thread {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.split('(').next().unwrap_or_default())
    }

    fn is_render(&self) -> bool {
        self.calls.iter().any(|call| call.starts_with("prctl(PR_SET_NAME, \"render-"))
    }

    /// The ids of what it started.
    fn started(&self) -> impl Iterator<Item = u32> {
        let clones = self.calls.iter().filter(|call| call.starts_with("clone") || call.starts_with("vfork"));
        clones.filter_map(|call| call.rsplit(" = ").next()?.trim().parse().ok())
    }

    fn opened(&self) -> impl Iterator<Item = (&str, &str)> {
        let opens = self.calls.iter().filter(|call| call.starts_with("open"));
        opens.filter_map(|call| {
            let path = call.split('"').nth(1)?;
            Some((path, call.split("\", ").nth(1)?))
        })
    }
}

fn threads(dir: &Path) -> BTreeMap<u32, Thread> {
    let mut threads = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        let id = path.extension().and_then(|id| id.to_str()?.parse().ok()).expect("strace names files by thread");
        let text = String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned();
        threads.insert(id, Thread { calls: text.lines().map(str::to_owned).collect() });
    }
    threads
}

/// A dry tree with every native engine, and with attempts to get out of each.
fn dry(server: &Repo) -> Repo {
    let clone = server.clone_to("clone");
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    let needs = |repository: &str| {
        format!("{chart}dependencies:\n- name: d\n  version: 1.0.0\n  repository: {repository}://example.com/charts\n")
    };
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: {{ tpl .Values.a . | sha256sum }}\n  \
                    b: {{ .Files.Get \"b.txt\" | b64enc }}\n  c: {{ lookup \"v1\" \"Secret\" \"a\" \"b\" | toJson | quote }}\n  \
                    d: {{ toDate \"2006-01-02\" \"2024-02-03\" | date \"02.01.2006\" }}\n";
    let kustomization = "resources: [config.yaml]\nnamePrefix: p-\nconfigMapGenerator:\n- name: g\n  files: [b.txt]\n\
                         helmCharts:\n- name: c\n  releaseName: r\n";
    let function = "apiVersion: v1\nkind: G\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      \
                    exec: {path: /bin/true}\n";
    let resources = |from: &str| format!("resources: ['{from}']\n");
    let files = [
        ("helm/dev/Chart.yaml", chart.to_owned()),
        ("helm/dev/values.yaml", "a: '{{ .Release.Name }}'\n".to_owned()),
        ("helm/dev/b.txt", "b\n".to_owned()),
        ("helm/dev/templates/c.yaml", template.to_owned()),
        ("kustomize/dev/kustomization.yaml", kustomization.to_owned()),
        ("kustomize/dev/config.yaml", config_map("x", "y")),
        ("kustomize/dev/b.txt", "b\n".to_owned()),
        ("kustomize/dev/charts/c/Chart.yaml", chart.to_owned()),
        ("kustomize/dev/charts/c/values.yaml", "a: b\n".to_owned()),
        ("kustomize/dev/charts/c/templates/c.yaml", config_map("chart", "z")),
        ("plain/dev/config.yaml", config_map("x", "y")),
        // What would leave the tree, each in an environment of its own. A name is looked up as Helm does: not at all.
        ("helm/host/Chart.yaml", chart.to_owned()),
        ("helm/host/templates/t.yaml", config_map("h", "'{{ getHostByName \"example.com\" }}'")),
        ("helm/https/Chart.yaml", needs("https")),
        ("helm/oci/Chart.yaml", needs("oci")),
        ("kustomize/remote/kustomization.yaml", resources("https://example.com/x.yaml")),
        ("kustomize/git/kustomization.yaml", resources("git::ssh://git@example.com/x.git//y?ref=z")),
        ("kustomize/exec/kustomization.yaml", "generators: [g.yaml]\n".to_owned()),
        ("kustomize/exec/g.yaml", function.to_owned()),
        ("kustomize/out/kustomization.yaml", resources("/etc/hostname")),
    ];
    let mut all: Vec<(String, String)> = files.map(|(path, text)| (format!("apps/{path}"), text)).into();
    all.extend([application("helm", "dev"), application("kustomize", "dev"), application("plain", "dev")]);
    all.push(application("helm", "host"));
    all.extend(REFUSED.iter().map(|(engine, environment)| application(engine, environment)));
    let files: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("all engines", &files);
    clone
}

/// The Applications that ask for something outside of the tree, by engine and environment.
const REFUSED: &[(&str, &str)] = &[
    ("helm", "https"),
    ("helm", "oci"),
    ("kustomize", "remote"),
    ("kustomize", "git"),
    ("kustomize", "exec"),
    ("kustomize", "out"),
];

#[test]
#[ignore = "needs strace"]
fn rendering_reads_objects_and_nothing_else() {
    let lab = Lab::new();
    let server = lab.server();
    let trace = lab.path("trace");
    fs::create_dir(&trace).expect("made");
    let strace = format!("strace -ff -qq -s 4096 -o {}", trace.join("t").display());
    server.hook("hooks/post-receive", &format!("#!/bin/sh\nexec {strace} {BINARY} hook post-receive\n"));
    let answer = dry(&server).push().success();
    for (_, environment) in REFUSED {
        let failed = |line: &&str| line.starts_with(&format!("environments/{environment} ")) && line.contains("failed");
        assert!(answer.remote().iter().any(failed), "{environment}: {answer:?}");
    }
    assert!(server.git(&["show", "environments/dev:helm/manifest.yaml"]).contains("03.02.2024"), "{answer:?}");
    assert!(server.git(&["show", "environments/host:helm/manifest.yaml"]).contains("value: \"\""), "{answer:?}");

    let threads = threads(&trace);
    let mut rendering: BTreeSet<u32> =
        threads.iter().filter(|(_, thread)| thread.is_render()).map(|(id, _)| *id).collect();
    assert!(!rendering.is_empty(), "no thread is known by its name");
    while let Some(child) = rendering.iter().flat_map(|id| threads[id].started()).find(|id| !rendering.contains(id)) {
        rendering.insert(child);
    }
    let repository = server.path.canonicalize().expect("is there");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for thread in rendering.iter().map(|id| &threads[id]) {
        for name in thread.names() {
            *counts.entry(name).or_default() += 1;
            assert!(OF_RENDERING.contains(&name), "a render thread asks for {name}");
        }
        for (path, flags) in thread.opened() {
            let known = Path::new(path).starts_with(repository.join("objects")) || path == OF_THE_ALLOCATOR;
            assert!(known && flags.starts_with("O_RDONLY"), "a render thread opens {path}: {flags}");
        }
    }
    println!("{} render threads: {counts:?}", rendering.len());

    let home = lab.path("home").display().to_string();
    for thread in threads.values() {
        assert!(thread.names().all(|name| !NEVER.contains(&name)), "the hook reaches out: {:?}", thread.calls);
        for call in thread.calls.iter().filter(|call| call.starts_with("execve(") && call.ends_with(" = 0")) {
            let known = call.contains("\"hook\", \"post-receive\"]") || call.contains("\"update-ref\", ");
            assert!(known, "the hook runs a program: {call}");
        }
        for (path, flags) in thread.opened() {
            let of_the_system = OF_THE_SYSTEM.iter().any(|prefix| path.starts_with(prefix)) || path == OF_THE_ALLOCATOR;
            let read = (of_the_system || path.starts_with(&home)) && flags.starts_with("O_RD");
            assert!(read || Path::new(path).starts_with(&repository), "the hook opens {path}: {flags}");
        }
    }
}
