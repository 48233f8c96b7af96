//! What a person sees at a terminal: colours and a pager, as git decides on both.

use crate::support::{Answer, Lab, Repo};

/// A clone of a dry repository that is hydrated, and a pager that shows what it is.
fn clone() -> Repo {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    clone.example();
    clone.push().success();
    lab.program("pager", "#!/bin/sh\necho \"LESS=$LESS\"\ncat\n");
    clone.git(&["config", "core.pager", "pager"]);
    clone
}

/// What a terminal gets from `git hydrate status`, with these variables set.
fn at_terminal(clone: &Repo, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = clone.command("script");
    command.args(["--quiet", "--return", "--command", "git hydrate status", "/dev/null"]);
    command.env("TERM", "xterm").envs(variables.iter().copied()).stdin(std::process::Stdio::null());
    let answer = Answer::new(command.output().expect("script is part of util-linux")).success();
    answer.stdout.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

#[test]
fn a_terminal_gets_colours_and_the_pager_of_git() {
    let clone = clone();
    let dry = clone.git(&["rev-parse", "--short", "HEAD"]);
    let last = ", last commit: 6 objects added";
    let plain = format!("environments/dev   {dry} of main  up to date{last}");
    let coloured = format!(
        "\u{1b}[36menvironments/dev \u{1b}[m  \u{1b}[33m{dry}\u{1b}[m of main  \u{1b}[32mup to date\u{1b}[m{last}"
    );
    let header = at_terminal(&clone, &[]).swap_remove(1);
    assert_eq!(header, "\u{1b}[2mbranch             dry commit       state\u{1b}[m");
    assert_eq!(at_terminal(&clone, &[])[..3], ["LESS=FRX".to_owned(), header, coloured.clone()]);
    assert_eq!(at_terminal(&clone, &[("LESS", "S")])[0], "LESS=S");
    assert_eq!(at_terminal(&clone, &[("GIT_PAGER", "cat")])[1], coloured);
    assert_eq!(at_terminal(&clone, &[("GIT_PAGER", "pager | head -1")]), ["LESS=FRX"]);
    assert_eq!(at_terminal(&clone, &[("GIT_PAGER", "no-such-program")])[1], coloured);
    for variables in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(at_terminal(&clone, &[("GIT_PAGER", "cat"), variables])[1], plain, "{variables:?}");
    }
    assert_eq!(clone.hydrate(&["status"]).success().stdout.lines().nth(1), Some(&*plain));
    clone.git(&["config", "color.ui", "always"]);
    assert_eq!(clone.hydrate(&["status"]).success().stdout.lines().nth(1), Some(&*coloured));
}
