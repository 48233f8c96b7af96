//! The recipes of `docs/hosts.md` for sshd and for nginx: their files are those of the page, but for paths and ports, and two users
//! push by each way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::readme::text_of;
use crate::servers::{Running, free_port};
use crate::support::{Answer, Lab, Repo};

/// The block of the page that begins with this line, without that line.
fn block(first: &str) -> String {
    let page = text_of("docs/hosts.md");
    let (_, rest) = page.split_once(&format!("{first}\n")).unwrap_or_else(|| panic!("no block {first}"));
    rest.split("```").next().unwrap_or_default().to_owned()
}

/// A push to an address, by a program for ssh.
fn push(clone: &Repo, url: &str, ssh: &str, refs: &str) -> Answer {
    let mut command = clone.command("git");
    command.args(["push", url, refs]).env("GIT_SSH_COMMAND", ssh);
    Answer::new(command.output().expect("runs"))
}

/// `alice` may push settings, `bob` configuration only; each by the address and the program for ssh that `way` answers.
fn judged(lab: &Lab, server: &Repo, variables: &[&str], way: impl Fn(&str) -> (String, String)) {
    for variable in variables {
        server.git(&["config", "--add", "hydrate.pusherVariable", variable]);
    }
    server.git(&["config", "--add", "hydrate.settingsPusher", "alice"]);
    server.install_without_settings();
    let clone = server.clone_to("clone");
    clone.example();
    let (url, ssh) = way("bob");
    let answer = push(&clone, &url, &ssh, "HEAD:main").success();
    assert!(answer.stderr.contains("environments/prod  new -> "), "{}", answer.stderr);
    clone.git(&["fetch", "-q", "origin", "refs/hydrate/config:refs/hydrate/config"]);
    clone.hydrate(&["config", "set", "history", "tip"]).success();
    let answer = push(&clone, &url, &ssh, "refs/hydrate/config").exits(1);
    assert!(answer.stderr.contains("only an admin may change the settings"), "{}", answer.stderr);
    let (url, ssh) = way("alice");
    push(&clone, &url, &ssh, "refs/hydrate/config").success();
    assert_eq!(server.hydrate(&["config", "get", "history"]).success().stdout, "tip\n", "{}", lab.path("").display());
}

/// sshd with the page's `authorized_keys`, and what runs ssh for a user.
fn sshd(lab: &Lab) -> (Running, u16) {
    let (dir, port) = (lab.path("sshd"), free_port());
    fs::create_dir(&dir).expect("made");
    let mut keys = block("# /srv/git/.ssh/authorized_keys");
    for name in ["alice", "bob", "host"] {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(dir.join(name));
        assert!(keygen.status().expect("ssh-keygen").success());
        let public = fs::read_to_string(dir.join(format!("{name}.pub"))).expect("there");
        keys = keys.replace(&format!("ssh-ed25519 AAAA… {name}"), public.trim_end());
    }
    fs::write(dir.join("keys"), keys).expect("written");
    let here = dir.display();
    let config = format!(
        "ListenAddress 127.0.0.1:{port}\nHostKey {here}/host\nAuthorizedKeysFile {here}/keys\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    );
    fs::write(dir.join("config"), config).expect("written");
    if rustix::process::geteuid().is_root() {
        drop(fs::create_dir_all("/run/sshd"));
    }
    let mut command = Command::new("/usr/sbin/sshd");
    command.arg("-D").arg("-f").arg(dir.join("config"));
    (Running::start(&mut command, port), port)
}

/// What runs ssh for a user.
fn ssh(lab: &Lab, port: u16, user: &str) -> String {
    let key = lab.path("sshd").join(user);
    let options = "-F /dev/null -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes";
    format!("ssh -p {port} -i {} {options}", key.display())
}

fn login() -> String {
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    String::from_utf8(user).expect("UTF-8").trim().to_owned()
}

#[test]
#[ignore = "needs sshd and ssh-keygen"]
fn by_ssh_the_forced_command_says_who_pushes() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let (_sshd, port) = sshd(&lab);
    let url = format!("{}@127.0.0.1:{}", login(), server.path.display());
    judged(&lab, &server, &["HYDRATE_USER"], |user| (url.clone(), ssh(&lab, port, user)));
    let shell = format!("{} {}@127.0.0.1 id", ssh(&lab, port, "bob"), login());
    let answer = server.run("sh", &["-c", &shell]);
    assert!(answer.code != Some(0) && answer.stderr.contains("unrecognized command 'id'"), "{answer:?}");
}

/// nginx with the page's configuration, and `fcgiwrap` behind it.
fn nginx(lab: &Lab, root: &str) -> (Running, Running, u16) {
    let (dir, port, cgi) = (lab.path("nginx"), free_port(), free_port());
    fs::create_dir(&dir).expect("made");
    fs::write(dir.join("passwords"), "alice:{PLAIN}word\nbob:{PLAIN}word\n").expect("written");
    let (here, is_root) = (dir.display(), rustix::process::geteuid().is_root());
    let mut server = block("# /etc/nginx/sites-enabled/git");
    for (from, to) in [
        ("listen 443 ssl;", format!("listen 127.0.0.1:{port};")),
        ("ssl_certificate /etc/ssl/git.crt;", String::new()),
        ("ssl_certificate_key /etc/ssl/git.key;", String::new()),
        ("/etc/nginx/git.passwords", format!("{here}/passwords")),
        ("unix:/run/git-http.sock", format!("127.0.0.1:{cgi}")),
        ("/srv/git", root.to_owned()),
    ] {
        assert!(server.contains(from), "the page has no {from}");
        server = server.replace(from, &to);
    }
    let config = format!(
        "daemon off; master_process off; {} pid {here}/pid; error_log {here}/error.log; events {{}} http {{ access_log off; client_body_temp_path \
         {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi; uwsgi_temp_path {here}/uwsgi; \
         scgi_temp_path {here}/scgi;\n{server}}}\n",
        if is_root { "user root;" } else { "" }
    );
    fs::write(dir.join("nginx.conf"), config).expect("written");
    let mut wrap = lab.command("fcgiwrap", &dir);
    wrap.arg("-s").arg(format!("tcp:127.0.0.1:{cgi}"));
    let wrap = Running::start(&mut wrap, cgi);
    let mut command = lab.command("/usr/sbin/nginx", &dir);
    command.arg("-c").arg(dir.join("nginx.conf")).arg("-e").arg(dir.join("error.log")).arg("-p").arg(&dir);
    (Running::start(&mut command, port), wrap, port)
}

#[test]
#[ignore = "needs nginx and fcgiwrap"]
fn by_http_the_web_server_says_who_pushes() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let (_nginx, _wrap, port) = nginx(&lab, lab.path("").to_str().expect("UTF-8").trim_end_matches('/'));
    let address = |user: &str| (format!("http://{user}:word@127.0.0.1:{port}/dry.git"), String::new());
    judged(&lab, &server, &["REMOTE_USER"], address);
}

#[test]
#[ignore = "needs sshd, ssh-keygen, nginx and fcgiwrap"]
fn by_both_ways_one_repository_knows_who_pushes() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let (_sshd, ssh_port) = sshd(&lab);
    let (_nginx, _wrap, port) = nginx(&lab, lab.path("").to_str().expect("UTF-8").trim_end_matches('/'));
    judged(&lab, &server, &["HYDRATE_USER", "REMOTE_USER"], |user| match user {
        "bob" => (format!("http://bob:word@127.0.0.1:{port}/dry.git"), String::new()),
        _ => (format!("{}@127.0.0.1:{}", login(), server.path.display()), ssh(&lab, ssh_port, user)),
    });
    let told = server.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains("pushers are named by the first of HYDRATE_USER, REMOTE_USER that is set"), "{told}");
}

#[test]
fn a_script_of_the_page_says_who_may_push_which_branch() {
    let lab = Lab::new();
    let server = lab.server();
    server.hook("hooks/update", &format!("#!/bin/sh\n# hooks/update\n{}", block("# hooks/update")));
    let clone = server.clone_to("clone");
    clone.example();
    let push = |user: &str, refs: &str| {
        let mut command = clone.command("git");
        command.args(["push", "-q", "origin", refs]).env("HYDRATE_USER", user);
        Answer::new(command.output().expect("runs"))
    };
    let told = push("bob", "HEAD:main").exits(1).stderr;
    assert!(told.contains("bob may push feature/* only, not refs/heads/main"), "{told}");
    push("bob", "HEAD:feature/web").success();
    // Hydration writes its branches all the same.
    let told = push("alice", "HEAD:main").success().stderr;
    assert!(told.contains("environments/prod  new -> "), "{told}");
    push("bob", "HEAD:refs/heads/environments/prod").exits(1);
}

/// A command as another account of the group, with a home and a `umask` of its own.
fn account(lab: &Lab, id: &str, script: &str) -> Answer {
    let home = lab.path(&format!("home-{id}"));
    let identity = ["--reuid", id, "--regid", "5000", "--clear-groups"];
    let mut command = lab.command("setpriv", &lab.path(""));
    command.args(identity).args(["sh", "-ec", &format!("umask 077; {script}")]).env("HOME", home);
    Answer::new(command.output().expect("setpriv runs"))
}

#[test]
#[ignore = "only root can be several accounts"]
fn several_accounts_of_a_group_hydrate_one_repository() {
    let lab = Lab::new();
    let root = lab.path("");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&root, open).expect("set");
    for (dir, owner) in [("srv", 5001), ("home-5001", 5001), ("home-5002", 5002)] {
        fs::create_dir(root.join(dir)).expect("made");
        std::os::unix::fs::chown(root.join(dir), Some(owner), Some(5000)).expect("root");
    }
    let server = root.join("srv/config.git").display().to_string();
    account(
        &lab,
        "5001",
        &format!(
            "git init -q --bare --shared=group --initial-branch main {server}; git hydrate install --server {server}"
        ),
    )
    .success();
    account(&lab, "5002", &format!("git clone -q {server} other")).exits(128);
    account(&lab, "5002", &format!("git config --global --add safe.directory {server}")).success();
    let first = "git hydrate init >/dev/null; git add .; git commit -qm one; git push -q 2>&1";
    let told =
        account(&lab, "5001", &format!("git clone -q {server} \"$HOME/clone\"; cd \"$HOME/clone\"; {first}")).success();
    assert!(told.stdout.contains("environments/prod  new -> "), "{told:?}");
    let next = "sed -i s/1.29.2/1.29.4/ hello/prod/kustomization.yaml; git commit -qam two; git push -q 2>&1";
    let told =
        account(&lab, "5002", &format!("git clone -q {server} \"$HOME/clone\"; cd \"$HOME/clone\"; {next}")).success();
    assert!(told.stdout.contains("1 of 1 manifests changed: 1 object changed"), "{told:?}");
    let told = account(&lab, "5001", &format!("git hydrate doctor {server}"));
    assert!(told.stdout.contains("good     the group of this shared repository can write it"), "{told:?}");
}
