//! `install.sh` puts everything in place, twice without harm, and takes it away again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Answer, BINARY, Lab};

const FILES: [&str; 9] = [
    "bin/git-hydrate",
    "bin/git-hydrate-fetch",
    "bin/git-remote-hydrate",
    "share/bash-completion/completions/git-hydrate",
    "share/fish/vendor_completions.d/git-hydrate.fish",
    "share/fish/vendor_conf.d/git-hydrate.fish",
    "share/man/man1/git-hydrate.1",
    "share/zsh/site-functions/_git-hydrate",
    "share/git-hydrate/directories",
];

fn install(lab: &Lab, args: &[&str]) -> Answer {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
    let mut command = lab.command("sh", &lab.path(""));
    Answer::new(command.arg(script).args(["--prefix", "prefix"]).args(args).output().expect("sh runs"))
}

/// All files below a directory, with their modes and sizes.
fn files(dir: &Path) -> BTreeMap<String, (u32, u64)> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).expect("readable").map(|entry| entry.expect("readable").path()) {
            let metadata = fs::symlink_metadata(&entry).expect("there");
            if metadata.is_dir() {
                dirs.push(entry);
            } else {
                let name = entry.strip_prefix(dir).expect("below").display().to_string();
                found.insert(name, (metadata.permissions().mode() & 0o777, metadata.len()));
            }
        }
    }
    found
}

#[test]
fn twice_is_as_once_and_nothing_is_left() {
    let lab = Lab::new();
    let answer = install(&lab, &["--binary", BINARY]).success();
    let program = fs::canonicalize(lab.path("prefix/bin/git-hydrate")).expect("installed");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("installed git-hydrate {version} as {}\n", program.display());
    assert!(answer.stdout.starts_with(&expected), "{}", answer.stdout);
    assert!(answer.stdout.contains("to have git find it: export PATH="), "{}", answer.stdout);
    let once = files(&lab.path("prefix"));
    for file in FILES {
        let mode = if file.starts_with("bin/") { 0o755 } else { 0o644 };
        assert_eq!(once.get(file).map(|(mode, _)| *mode), Some(mode), "{file}: {once:?}");
    }
    assert!(once.keys().all(|name| FILES.contains(&name.as_str()) || name.starts_with("share/man/man1/git-hydrate-")));
    install(&lab, &["--binary", BINARY]).success();
    assert_eq!(files(&lab.path("prefix")), once);
    fs::write(lab.path("prefix/bin/somebody-elses"), "").expect("written");
    install(&lab, &["--uninstall"]).success();
    assert_eq!(files(&lab.path("prefix")).into_keys().collect::<Vec<_>>(), ["bin/somebody-elses"]);
    assert_eq!(fs::read_dir(lab.path("")).expect("readable").count(), 3, "home, bin and prefix");
}

#[test]
fn a_build_says_how_long_it_takes_and_how_far_it_is() {
    let lab = Lab::new();
    let cargo = format!(
        "#!/bin/sh\ncase \" $* \" in *' --quiet '*) ;; *) echo '   Compiling git-hydrate' >&2 ;; esac\n\
         while [ \"$1\" != --root ]; do shift; done\nmkdir -p \"$2/bin\"\n\
         cp '{BINARY}' \"$(dirname '{BINARY}')/git-remote-hydrate\" \"$(dirname '{BINARY}')/git-hydrate-fetch\" \"$2/bin\"\n"
    );
    lab.program("cargo", &cargo);
    lab.program("cc", "#!/bin/sh\n");
    let told = install(&lab, &[]).success().stderr;
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("building git-hydrate") && lines[0].contains("minutes"), "{told}");
    assert_eq!(lines[1], "   Compiling git-hydrate");
}

#[test]
fn servers_are_installed_in_one_go() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    install(&lab, &["--binary", BINARY, "--server", "dry.git"]).success();
    let hook = server.file("hooks/post-receive").expect("installed");
    assert!(hook.contains("/prefix/bin/git-hydrate'"), "{hook}");
    let failed = install(&lab, &["--binary", BINARY, "--server", "missing.git"]).exits(2);
    assert!(failed.stderr.starts_with("error: no repository at missing.git"), "{}", failed.stderr);
}

#[test]
fn wrong_use_installs_nothing() {
    let lab = Lab::new();
    for args in [["--bogus"].as_slice(), &["--server"], &["--prefix"]] {
        install(&lab, args).exits(2);
    }
    fs::write(lab.path("file"), "").expect("written");
    let failed = install(&lab, &["--prefix", "file/below"]).exits(1);
    assert!(failed.stderr.starts_with("error: file/below cannot be written"), "{}", failed.stderr);
    assert!(!lab.path("prefix").exists());
}

#[test]
fn shells_can_read_what_is_installed() {
    let lab = Lab::new();
    install(&lab, &["--binary", BINARY]).success();
    let read = |shell: &str, file: &str| {
        let output = lab.command(shell, &lab.path("prefix")).args(["-n", file]).output();
        // Only bash is on every machine.
        output.map_or(shell != "bash", |output| output.status.success())
    };
    assert!(read("bash", FILES[3]) && read("fish", FILES[4]) && read("fish", FILES[5]) && read("zsh", FILES[7]));
}

#[test]
fn the_demonstration_shows_a_push_and_leaves_nothing() {
    let lab = Lab::new();
    let answer = install(&lab, &["--binary", BINARY, "--demo"]).success();
    for expected in ["remote: environments/prod  new -> ", "\n-  replicas: 4\n+  replicas: 6\n"] {
        assert!(answer.stdout.contains(expected), "{}", answer.stdout);
    }
    assert_eq!(fs::read_dir(lab.path("")).expect("readable").count(), 3, "home, bin and prefix");
}

#[test]
fn a_program_that_is_not_there_is_named_and_an_empty_prefix_stays_empty() {
    let lab = Lab::new();
    let told = install(&lab, &["--binary", "/nosuch"]).exits(2).stderr;
    assert_eq!(told, "error: --binary /nosuch: there is no program of that name\n");
    assert_eq!(install(&lab, &["--uninstall"]).success().stdout.lines().count(), 1);
    let told = install(&lab, &["--uninstall"]).success().stdout;
    assert!(told.starts_with("git-hydrate is not installed in "), "{told}");
    install(&lab, &["--binary", BINARY]).success();
    install(&lab, &["--uninstall"]).success();
    assert_eq!(fs::read_dir(lab.path("prefix")).expect("there").count(), 0);
}

#[test]
fn directories_that_were_there_stay_and_those_that_others_use_too() {
    let lab = Lab::new();
    for dir in ["bin", "share/zsh/site-functions", "share/man"] {
        fs::create_dir_all(lab.path(&format!("prefix/{dir}"))).expect("made");
    }
    install(&lab, &["--binary", BINARY]).success();
    install(&lab, &["--binary", BINARY]).success();
    fs::write(lab.path("prefix/share/bash-completion/completions/other"), "").expect("written");
    install(&lab, &["--uninstall"]).success();
    let is_there = |dir: &str| lab.path(&format!("prefix/{dir}")).is_dir();
    for dir in ["bin", "share/zsh/site-functions", "share/man", "share/bash-completion/completions"] {
        assert!(is_there(dir), "{dir}");
    }
    for dir in ["share/man/man1", "share/fish", "share/git-hydrate"] {
        assert!(!is_there(dir), "{dir}");
    }
}

/// Writes packages of programs that are small, so that packing them is quick.
fn package(lab: &Lab, dir: &str, mask: &str) -> Answer {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
    let programs = lab.path("programs");
    fs::create_dir_all(&programs).expect("made");
    for name in ["git-hydrate", "git-hydrate-fetch", "git-remote-hydrate"] {
        fs::write(programs.join(name), format!("#!/bin/sh\nexec '{BINARY}' \"$@\"\n")).expect("written");
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    }
    let line = format!("umask {mask}; exec sh '{script}' --binary programs/git-hydrate --package {dir}");
    let mut command = lab.command("sh", &lab.path(""));
    Answer::new(command.env("SOURCE_DATE_EPOCH", "1700000000").args(["-c", &line]).output().expect("sh runs"))
}

/// What a tar archive on standard input lists: mode, owner and name of each entry.
fn entries(lab: &Lab, archive: &str) -> Vec<String> {
    let line = format!("{archive} | tar -tvzf - --numeric-owner | awk '{{ print $1, $2, $6 }}'");
    let output = lab.command("sh", &lab.path("")).args(["-c", &line]).output().expect("sh runs");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn packages_are_the_same_bytes_each_time() {
    let lab = Lab::new();
    let said = package(&lab, "one", "022").success();
    package(&lab, "two", "077").success();
    let version = env!("CARGO_PKG_VERSION");
    let names: Vec<String> = files(&lab.path("one")).into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in &names {
        assert!(name.contains(version) && said.stderr.contains(&format!("/{name}\n")), "{name}: {}", said.stderr);
        let read = |dir: &str| fs::read(lab.path(dir).join(name)).expect("written");
        assert!(read("one") == read("two"), "{name} differs");
    }
    let archive = names.iter().find(|name| name.ends_with("-linux.tar.gz")).expect("an archive");
    let top = archive.trim_end_matches(".tar.gz");
    let listed = entries(&lab, &format!("cat one/{archive}"));
    for (mode, file) in [
        ("-rwxr-xr-x", "bin/git-hydrate"),
        ("-rwxr-xr-x", "bin/git-hydrate-fetch"),
        ("-rwxr-xr-x", "bin/git-remote-hydrate"),
        ("-rwxr-xr-x", "hooks/post-receive"),
        ("-rw-r--r--", "LICENSE"),
        ("-rw-r--r--", "README.md"),
        ("-rw-r--r--", "docs/admin.md"),
        ("-rw-r--r--", "docs/push.svg"),
        ("-rw-r--r--", "share/man/man1/git-hydrate.1"),
        ("-rw-r--r--", "share/zsh/site-functions/_git-hydrate"),
    ] {
        assert!(listed.contains(&format!("{mode} 0/0 {top}/{file}")), "{file}: {listed:?}");
    }
    let deb = names.iter().find(|name| name.ends_with(".deb")).expect("a Debian package");
    let bytes = fs::read(lab.path("one").join(deb)).expect("written");
    assert!(bytes.starts_with(b"!<arch>\ndebian-binary "), "no ar archive");
    // Only Debian has the program that reads it.
    if lab.command("dpkg-deb", &lab.path("one")).arg("--version").output().is_err() {
        return;
    }
    let output = lab.command("dpkg-deb", &lab.path("one")).args(["--field", deb, "Package", "Version"]).output();
    let fields = String::from_utf8(output.expect("dpkg-deb runs").stdout).expect("UTF-8");
    assert_eq!(fields, format!("Package: git-hydrate\nVersion: {version}\n"));
    let listed = entries(&lab, &format!("dpkg-deb --fsys-tarfile one/{deb} | gzip"));
    for file in [
        "bin/git-hydrate",
        "bin/git-remote-hydrate",
        "share/bash-completion/completions/git-hydrate",
        "share/doc/git-hydrate/copyright",
        "share/doc/git-hydrate/docs/user.md",
        "share/fish/vendor_completions.d/git-hydrate.fish",
        "share/git-hydrate/hooks/post-receive",
        "share/man/man1/git-hydrate.1.gz",
        "share/zsh/vendor-completions/_git-hydrate",
    ] {
        assert!(listed.iter().any(|entry| entry.ends_with(&format!(" 0/0 ./usr/{file}"))), "{file}: {listed:?}");
    }
}

#[test]
fn packages_are_made_of_what_is_there_and_of_nothing_else() {
    let lab = Lab::new();
    for args in [["--package", "out", "--demo"].as_slice(), &["--package", "out", "--server", "x.git"], &["--package"]]
    {
        install(&lab, args).exits(2);
    }
    fs::write(lab.path("git-hydrate"), "#!/bin/sh\n").expect("written");
    fs::set_permissions(lab.path("git-hydrate"), fs::Permissions::from_mode(0o755)).expect("set");
    let failed = install(&lab, &["--binary", "git-hydrate", "--package", "out"]).exits(2).stderr;
    assert!(failed.contains("git-remote-hydrate is missing"), "{failed}");
    let failed = install(&lab, &["--binary", "nosuch", "--package", "out"]).exits(2).stderr;
    assert!(failed.contains("--binary nosuch: there is no program of that name"), "{failed}");
    // Nothing tells a machine that gets the package what the program needs there.
    let is_dynamic = lab.command("ldd", &lab.path("")).arg(BINARY).output();
    if is_dynamic.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains("=>")) {
        let failed = install(&lab, &["--binary", BINARY, "--package", "out"]).exits(2).stderr;
        assert!(failed.contains("is linked dynamically") && failed.contains("leave --binary out"), "{failed}");
        assert!(!lab.path("out").join("git-hydrate").exists(), "{failed}");
    }
}
