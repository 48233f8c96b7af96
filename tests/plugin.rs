//! A program that is run by us cannot do what it likes: each row is one that tries.
#![cfg(target_os = "linux")]

mod calls;
mod limits;

use std::path::Path;
use std::time::{Duration, Instant};

use git_hydrate::testing::plugin::{Call, Error, Limits, Output, Runner, Settings};
use git_hydrate::testing::view::Stop;

/// Runs programs confined by the built binary.
pub(crate) fn runner(limits: Limits) -> Runner {
    Runner::new(Settings {
        confiner: crate::support::BINARY.into(),
        search_path: "/usr/bin:/bin".into(),
        temp_dir: std::env::temp_dir(),
        spare_dir: None,
        allow_unconfined: false,
        readable: Vec::new(),
        limits,
    })
}

fn small() -> Limits {
    Limits {
        time: Duration::from_secs(20),
        output_bytes_max: 1 << 20,
        memory_bytes_max: 256 << 20,
        file_bytes_max: 1 << 20,
        scratch_bytes_max: 8 << 20,
        tasks_max: 64,
    }
}

/// Runs a shell script that may read `given`, which is also where it starts.
fn sh(runner: &Runner, script: &str, given: &Path, stop: &Stop) -> Result<Output, Error> {
    let program = runner.find("sh").expect("a shell");
    runner.run(
        &Call {
            program: &program,
            args: vec!["-c".into(), script.into()],
            dir: given,
            readable: vec![given.to_owned()],
            writable: Vec::new(),
            ours: false,
            environment: vec![("GIVEN".into(), "yes".into())],
        },
        stop,
    )
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_program_gets_what_it_needs_and_no_more() {
    let given = tempfile::tempdir().expect("a directory");
    std::fs::write(given.path().join("in.txt"), "input\n").expect("written");
    let secret = tempfile::NamedTempFile::new().expect("a file");
    let secret = secret.path().display();
    let open = std::fs::File::open("/dev/null").expect("open");
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).expect("inheritable");
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&open);
    let rows = [
        ("reads what it is given", "cat in.txt".to_owned(), "input\n"),
        ("has no input", "cat".to_owned(), ""),
        ("writes its scratch directory", "echo x >$HOME/x && cat $HOME/x".to_owned(), "x\n"),
        ("has a fixed locale and zone", "echo $LC_ALL $TZ $GIVEN".to_owned(), "C UTC yes\n"),
        ("sees no other variable", "env | grep -c CARGO".to_owned(), "0\n"),
        ("uses devices without state", "head -c1 /dev/zero | wc -c; echo >/dev/null".to_owned(), "1\n"),
        ("has no other descriptor", format!("bash -c '(cat <&{descriptor}) || echo refused'"), "refused\n"),
        ("reads no secret of the system", "cat /etc/shadow || echo refused".to_owned(), "refused\n"),
        ("reads no file of ours", format!("cat {secret} || echo refused"), "refused\n"),
        ("writes no file of ours", format!("(echo x >{secret}) || echo refused"), "refused\n"),
        ("writes not what it is given", "(echo x >in.txt) || echo refused".to_owned(), "refused\n"),
        ("makes no file beside it", "(echo x >new.txt) || echo refused".to_owned(), "refused\n"),
        ("lists no directory of ours", "ls / || echo refused".to_owned(), "refused\n"),
        ("sees no processes", "ls /proc || echo refused".to_owned(), "refused\n"),
        ("signals nobody", "kill -0 $PPID || echo refused".to_owned(), "refused\n"),
        ("leaves no process group", "setsid true || echo refused".to_owned(), "refused\n"),
        ("makes no namespace", "unshare -U true || echo refused".to_owned(), "refused\n"),
        ("mounts nothing", "mount -t tmpfs x $HOME || echo refused".to_owned(), "refused\n"),
        ("writes no large file", "head -c 2000000 /dev/zero >$HOME/large; wc -c <$HOME/large".to_owned(), "1048576\n"),
        ("does not keep its memory", "head -c 400000000 /dev/zero | tail -n1 | wc -c".to_owned(), "0\n"),
    ];
    let runner = runner(small());
    for (name, script, expected) in rows {
        let output = sh(&runner, &script, given.path(), &Stop::default()).expect(name);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}: {stderr}");
        let words = ["ermission denied", "not permitted", "ad file descriptor"];
        assert!(expected != "refused\n" || words.iter().any(|word| stderr.contains(word)), "{name}: {stderr}");
    }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn no_socket_can_be_made() {
    let runner = runner(small());
    let program = runner.find("bash").expect("bash, whose /dev/tcp opens a socket");
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    let given = tempfile::tempdir().expect("a directory");
    let script = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>&1 | grep -o 'Operation not permitted' | head -n1");
    let call = Call {
        program: &program,
        args: vec!["-c".into(), script.into()],
        dir: given.path(),
        readable: vec![given.path().to_owned()],
        writable: Vec::new(),
        ours: false,
        environment: Vec::new(),
    };
    let output = runner.run(&call, &Stop::default()).expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Operation not permitted\n");
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_program_that_does_not_end_is_ended() {
    let given = tempfile::tempdir().expect("a directory");
    let time = Duration::from_millis(300);
    let rows = [
        ("sleeps", "sleep 60"),
        ("spins", "while :; do :; done"),
        ("ignores the friendly signal", "trap '' TERM; while :; do sleep 1; done"),
        ("closes its output", "exec >&- 2>&-; sleep 60"),
        ("forks and waits", "sleep 60 & sleep 60 & wait"),
        ("prints slowly", "while :; do echo x; sleep 0.01; done"),
    ];
    for (name, script) in rows {
        let started = Instant::now();
        let result = sh(&runner(Limits { time, ..small() }), script, given.path(), &Stop::default());
        assert!(matches!(result, Err(Error::Time { .. })), "{name}: {result:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "{name}: took {:?}", started.elapsed());
    }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_program_that_fills_the_disk_with_small_files_is_ended() {
    let given = tempfile::tempdir().expect("a directory");
    let rows = [
        ("files", "cd $TMPDIR; n=0; while :; do head -c 900000 /dev/zero >f$n || exit 3; n=$((n + 1)); done"),
        ("empty files", "cd $TMPDIR; n=0; while :; do : >f$n; n=$((n + 1)); done"),
        ("directories", "cd $TMPDIR; n=0; while :; do mkdir d$n || exit 3; n=$((n + 1)); done"),
        ("a hidden directory", "cd $TMPDIR; mkdir -m 300 d; cd d; while :; do head -c 900000 /dev/zero >f; done"),
    ];
    for (name, script) in rows {
        // Nothing is hidden from the superuser, who need not be able to read a directory.
        if name == "a hidden directory" && rustix::process::geteuid().is_root() {
            continue;
        }
        let limits = Limits { scratch_bytes_max: 1 << 20, ..small() };
        let result = sh(&runner(limits), script, given.path(), &Stop::default());
        assert!(matches!(result, Err(Error::Scratch { limit: 1_048_576, .. })), "{name}: {result:?}");
    }
    let script =
        "cd $TMPDIR; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 900000 /dev/zero >f; done; sleep 1; echo done";
    let output = sh(&runner(small()), script, given.path(), &Stop::default()).expect("it ends");
    assert_eq!(output.stdout, b"done\n", "what is written over counts once");
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn what_a_program_leaves_behind_ends_with_it() {
    let given = tempfile::tempdir().expect("a directory");
    let started = Instant::now();
    let script = "(trap '' TERM HUP; sleep 61.5) & echo started";
    let output = sh(&runner(small()), script, given.path(), &Stop::default()).expect("it ends");
    assert_eq!(output.stdout, b"started\n");
    assert!(started.elapsed() < Duration::from_secs(30), "the child's open pipe was waited for");
    let left = std::fs::read_dir("/proc").expect("readable").flatten().filter_map(|entry| {
        std::fs::read_to_string(entry.path().join("cmdline")).ok().filter(|line| line.contains("61.5"))
    });
    assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn what_a_program_made_is_private_and_goes_with_it() {
    let (given, temp) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    // A directory that is too deep to be named counts as too much, if it is looked at.
    let limits = Limits { scratch_bytes_max: 0, ..small() };
    let settings = Settings { temp_dir: temp.path().to_owned(), ..runner(limits).settings().clone() };
    let runner = Runner::new(settings);
    let scripts = [
        "cd $HOME; umask 777; mkdir zero; echo x >big",
        "cd $HOME; perl -e 'for (1..3000) { mkdir \"d\"; chdir \"d\" or die }'",
        "cd $HOME; mkdir -p a/b/c; ln -s \"$PWD\" a/b/up; umask 777; mkdir a/b/c/zero",
    ];
    for script in scripts {
        let script = format!("stat -c %a $HOME; {script}");
        let output = sh(&runner, &script, given.path(), &Stop::default()).expect("it ends");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, b"700\n", "{script}");
        let left = std::fs::read_dir(temp.path()).expect("readable").flatten().map(|entry| entry.path());
        assert_eq!(left.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new(), "{script}");
    }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn output_has_a_limit() {
    let given = tempfile::tempdir().expect("a directory");
    let flood = sh(&runner(small()), "exec yes", given.path(), &Stop::default());
    assert!(matches!(flood, Err(Error::Output { limit, .. }) if limit == 1 << 20), "{flood:?}");
    let script = "head -c 5000000 /dev/zero | tr '\\0' e >&2; echo done";
    let output = sh(&runner(small()), script, given.path(), &Stop::default()).expect("it ends");
    assert_eq!((output.stdout.as_slice(), output.stderr.len()), (b"done\n".as_slice(), 64 << 10));
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_cancelled_program_is_ended() {
    let given = tempfile::tempdir().expect("a directory");
    let stop = Stop::when(|| true);
    let result = sh(&runner(small()), "sleep 60", given.path(), &stop);
    assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn failures_have_words() {
    let given = tempfile::tempdir().expect("a directory");
    let rows = [
        ("true", None),
        ("echo broken >&2; exit 3", Some("broken")),
        ("exit 3", Some("exit status 3")),
        ("kill -9 $$", Some("ended by signal 9")),
    ];
    for (script, expected) in rows {
        let output = sh(&runner(small()), script, given.path(), &Stop::default()).expect("it ends");
        assert_eq!(output.failure().as_deref(), expected, "{script}");
    }
    let runner = runner(small());
    let error = runner.find("no-such-program").expect_err("there is none");
    assert_eq!(error.to_string(), "program `no-such-program` not found on PATH");
    let no_program = given.path().join("text");
    std::fs::write(&no_program, "#!/no/such/interpreter\n").expect("written");
    std::fs::set_permissions(&no_program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let call = Call {
        program: &no_program,
        args: Vec::new(),
        dir: given.path(),
        readable: Vec::new(),
        writable: Vec::new(),
        ours: false,
        environment: Vec::new(),
    };
    let error = runner.run(&call, &Stop::default()).expect_err("no program");
    assert!(matches!(&error, Error::Confine { reason, .. } if reason.contains("No such file")), "{error}");
}
