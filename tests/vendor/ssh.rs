//! Repositories behind ssh.

use std::fs;
use std::process::Command;

use super::{BASE, LOCK, kustomized, upstream};
use crate::servers::{Shell, Sshd};
use crate::support::{Answer, Lab};

/// Repositories behind ssh, in both ways to write one: by the user's own ssh, where the user allows the host by name.
#[test]
fn repositories_behind_ssh_are_fetched_by_the_users_own_ssh() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    let shell = Shell::start(&lab.path("git"));
    lab.program("ssh", &shell.client());
    let bases = "resources:
- ssh://git@git.example.com/upstream.git//base?ref=v1
- git@git.example.com:upstream.git//shared?ref=v1
namePrefix: x-\n";
    let dry = kustomized(&lab, "resources: ['ssh://git@git.example.com/upstream.git//base?ref=v1']\n");
    let vendor = |args: &[&str]| {
        let mut command = dry.command("git");
        command.args(["hydrate", "vendor"]).args(args).env("GIT_SSH_COMMAND", lab.path("bin/ssh"));
        Answer::new(command.output().expect("runs"))
    };
    let answer = vendor(&[]).exits(2);
    let expected = "is not asked over ssh (to allow it: git hydrate vendor --allow ssh://git.example.com)";
    assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    assert_eq!(shell.said(), Vec::<String>::new());
    vendor(&["--allow", "ssh://git.example.com"]).success();
    dry.commit("Vendor", &[("web/kustomization.yaml", bases)]);
    dry.hydrate(&["check"]).exits(1);
    // Both name one object, which is no matter here.
    dry.commit("Both", &[("web/kustomization.yaml", &bases.replace("//base", "//other-base"))]);
    let answer = vendor(&["--allow", "ssh://git.example.com"]).exits(2);
    assert!(answer.stderr.contains("there is no directory `other-base` at "), "{}", answer.stderr);
    dry.commit("Both", &[("web/kustomization.yaml", &bases.replace("//base", "//other"))]);
    let said = shell.said();
    assert!(
        said.iter().any(|words| words.ends_with("git@git.example.com git-upload-pack '/upstream.git'")),
        "{said:?}"
    );
    assert!(said.iter().any(|words| words.ends_with("git@git.example.com git-upload-pack 'upstream.git'")), "{said:?}");
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("url = \"ssh://git@git.example.com/upstream.git\""), "{lock}");
    dry.git(&["reset", "-q", "--hard", "HEAD~3"]);
    vendor(&["--allow", "ssh://git.example.com"]).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    assert!(dry.hydrate(&["render", "web"]).success().stdout.contains("name: base"));
}

/// Vendors with the real programs: the user's configuration says where a host is, and who it must be.
#[test]
#[ignore = "needs sshd and ssh-keygen"]
fn a_real_ssh_goes_where_the_users_configuration_says() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    fs::create_dir(lab.path("sshd")).expect("made");
    let _sshd = Sshd::start(&lab.path("sshd"), &lab.path("home"));
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    let user = String::from_utf8(user).expect("UTF-8").trim().to_owned();
    let path = lab.path("git/upstream.git").display().to_string();
    let dry = kustomized(&lab, &format!("resources: ['ssh://{user}@git.example.com{path}//base?ref=v1']\n"));
    let vendor = || {
        let mut command = dry.command("git");
        let ssh = format!("ssh -o BatchMode=yes -F {}", lab.path("home/.ssh/config").display());
        command.args(["hydrate", "vendor", "--allow", "ssh://git.example.com"]).env("GIT_SSH_COMMAND", ssh);
        Answer::new(command.output().expect("runs"))
    };
    let known = lab.path("home/.ssh/known");
    let right = fs::read_to_string(&known).expect("there");
    fs::write(&known, "").expect("written");
    let answer = vendor().exits(2);
    assert!(answer.stderr.contains("Host key verification failed"), "{}", answer.stderr);
    fs::write(&known, right).expect("written");
    vendor().success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
}
