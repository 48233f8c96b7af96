//! What a shell offers after `git hydrate`, and what `git hydrate --help` shows.

use std::fs;

use crate::support::{BINARY, Lab};

/// Asks bash for what fits a command line, as git's completion asks and as bash itself asks.
fn offered(lab: &Lab, line: &str) -> String {
    let script = format!(
        r#"eval "$('{BINARY}' completions bash)"
        words=({line}) cword=$((${{#words[@]}} - 1)) cur=${{words[cword]}} prev=${{words[cword-1]}}
        if [[ ${{words[0]}} = git ]]; then
            _git_hydrate
        else
            COMP_WORDS=("${{words[@]}}") COMP_CWORD=$cword
            fn=$(complete -p git-hydrate | sed 's/.*-F \([^ ]*\).*/\1/')
            $fn git-hydrate "$cur" "$prev"
        fi
        echo "${{COMPREPLY[*]}}""#
    );
    let output = lab.command("bash", &lab.path("")).args(["-c", &script]).output().expect("bash runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
}

#[test]
fn bash_completes_commands_and_options() {
    let lab = Lab::new();
    let rows = [
        ("git hydrate inst", "install"),
        ("git hydrate install --cl", "--client"),
        ("git-hydrate doc", "doctor"),
        ("git-hydrate install --cl", "--client"),
        ("git hydrate completions z", "zsh"),
    ];
    for (line, expected) in rows {
        assert_eq!(offered(&lab, line), expected, "{line}");
    }
}

#[test]
fn an_alias_is_completed_like_the_command() {
    let lab = Lab::new();
    let script = format!(
        r#"eval "$('{BINARY}' completions bash)"
        words=(git -C dir h doc) cword=4 cur=doc prev=h __git_cmd_idx=3
        _git_hydrate
        echo "${{COMPREPLY[*]}}""#
    );
    let output = lab.command("bash", &lab.path("")).args(["-c", &script]).output().expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "doctor\n");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let lab = Lab::new();
    let written = lab.command(BINARY, &lab.path("")).args(["man", "man1"]).output().expect("runs");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let page = |name: &str| fs::read_to_string(lab.path("man1").join(name)).expect("written");
    assert!(page("git-hydrate.1").contains("git\\-hydrate\\-install(1)"), "{}", page("git-hydrate.1"));
    assert!(page("git-hydrate-install.1").contains("git\\-hydrate\\-install \\- Install the hooks"));
}

/// Runs a script in a clone with the Applications web and api, after the completions of a shell; none where that is missing.
fn names_offered(shell: &str, script: &str) -> Option<String> {
    let lab = Lab::new();
    let clone = crate::push::dry(&lab.server(), &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["tag", "v1.0"]);
    let path = format!("PATH={}:$PATH", std::path::Path::new(BINARY).parent().expect("a directory").display());
    let set = if shell == "fish" { format!("set -x {}", path.replacen('=', " ", 1).replace(':', " ")) } else { path };
    let set = if shell == "zsh" { format!("{set}\nautoload -U compinit; compinit -D -u") } else { set };
    let script = format!("{set}\n'{BINARY}' completions {shell} > comp.{shell}; source ./comp.{shell}\n{script}\n");
    let output = lab.command(shell, &clone.path).args(["-c", &script]).output().ok()?;
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn branches_revisions_and_applications_are_completed() {
    let bash = |line: &str| {
        let script = format!(
            r#"COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            __git_hydrate_alone git-hydrate "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
            echo "${{COMPREPLY[*]}}""#
        );
        names_offered("bash", &script).expect("bash runs")
    };
    assert_eq!(bash("git-hydrate diff v1"), "v1.0");
    assert_eq!(bash("git-hydrate log environments/p"), "environments/prod");
    assert_eq!(bash("git-hydrate log --application web"), "web-dev web-prod");
    assert_eq!(bash("git-hydrate render api-d"), "api-dev");
    let fish = |line: &str| names_offered("fish", &format!("complete -C '{line}'"));
    for (line, expected) in [("git-hydrate diff v1", "v1.0"), ("git-hydrate log --application api-d", "api-dev")] {
        assert!(fish(line).is_none_or(|offered| offered == expected), "{line}: {:?}", fish(line));
    }
    let zsh = "compadd() { local -a shown=(\"${(@P)@[-1]}\"); print -r -- $shown; }\n__git_hydrate_applications";
    let zsh = names_offered("zsh", zsh);
    assert!(zsh.as_ref().is_none_or(|offered| offered == "api-dev api-prod web-dev web-prod"), "{zsh:?}");
}
