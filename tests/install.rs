//! Installing leaves what was there running, can be done twice, and can be undone.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::push::dry;
use crate::support::{BINARY, Lab, Repo};

const HOOK: &str = "hooks/post-receive";
const KEPT: &str = "hooks/post-receive.hydrate-orig";

/// A hook that tells what it got, and fails.
const SOMEBODYS: &str = "#!/bin/sh\necho \"somebody's $(basename \"$0\") $#\"\nsed 's/^/got /'\nexit 7\n";

/// A program in place of ours that tells what it got.
fn stand_in(lab: &Lab) -> String {
    lab.program("stand-in", "#!/bin/sh\necho \"hydrate $*\"\nsed 's/^/got /'\n");
    lab.path("bin/stand-in").to_str().expect("UTF-8").to_owned()
}

/// Has the installed hook run another program.
fn replace_binary(repo: &Repo, hook: &str, binary: &str) {
    let script = repo.file(hook).expect("installed");
    assert!(script.contains(&format!("hydrate='{BINARY}'")), "{script}");
    repo.hook(hook, &script.replace(BINARY, binary));
}

#[test]
fn the_hook_hands_over_what_was_pushed() {
    let lab = Lab::new();
    let server = lab.server();
    replace_binary(&server, HOOK, &stand_in(&lab));
    let clone = server.clone_to("clone");
    let id = clone.commit("first", &[]);
    let zeros = "0".repeat(40);
    assert_eq!(
        clone.push().success().remote(),
        ["hydrate hook post-receive", &format!("got {zeros} {id} refs/heads/main")]
    );
}

#[test]
fn a_hook_that_was_there_runs_first_with_the_same_input() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook(HOOK, SOMEBODYS);
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(told.starts_with(&format!("done     {HOOK} is kept as {KEPT}, which runs first\n")), "{told}");
    replace_binary(&server, HOOK, &stand_in(&lab));
    let clone = server.clone_to("clone");
    let id = clone.commit("first", &[]);
    clone.git(&["tag", "v1"]);
    let zeros = "0".repeat(40);
    let got = [format!("got {zeros} {id} refs/heads/main"), format!("got {zeros} {id} refs/tags/v1")];
    let expected =
        ["somebody's post-receive.hydrate-orig 0", &got[0], &got[1], "hydrate hook post-receive", &got[0], &got[1]];
    assert_eq!(clone.run("git", &["push", "origin", "main", "v1"]).success().remote(), expected);
    assert_eq!(server.run("sh", &["-c", "echo a b c | hooks/post-receive"]).code, Some(7));
}

#[test]
fn a_push_goes_through_when_the_program_is_gone() {
    let lab = Lab::new();
    let server = lab.server();
    replace_binary(&server, HOOK, "/no/such/git-hydrate");
    let clone = server.clone_to("clone");
    clone.commit("first", &[]);
    let expected = [
        "warning: /no/such/git-hydrate cannot be run: nothing was hydrated",
        "hint: to fix it, on the server: git hydrate install --server",
    ];
    assert_eq!(clone.push().success().remote(), expected);
    assert_eq!(server.git(&["rev-parse", "main"]), clone.git(&["rev-parse", "main"]));
}

#[test]
fn no_push_goes_in_without_its_judge_where_an_admin_says_so() {
    for before in [None, Some("#!/bin/sh\ncat >/dev/null\n")] {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        before.into_iter().for_each(|script| server.hook("hooks/pre-receive", script));
        server.install_without_settings();
        replace_binary(&server, "hooks/pre-receive", "/no/such/git-hydrate");
        let clone = server.clone_to("clone");
        clone.commit("first", &[]);
        // What is not `warn` is meant to refuse.
        for value in ["refuse", "Refuse", "true"] {
            server.git(&["config", "hydrate.withoutProgram", value]);
            let answer = clone.push().exits(1);
            assert!(
                answer.remote()[0].starts_with("error: /no/such/git-hydrate cannot be run, and "),
                "{value}: {answer:?}"
            );
            assert_eq!(server.git(&["for-each-ref", "refs/heads"]), "");
            let doctor = server.hydrate(&["doctor"]).exits(1).stdout;
            assert!(doctor.contains("which does not exist: pushes are refused (hydrate.withoutProgram)\n"), "{doctor}");
        }
        // As a full disk leaves it: a shell would run it, and do nothing.
        lab.program("empty-hydrate", "");
        let (empty, gone) = (lab.path("bin/empty-hydrate").display().to_string(), "/no/such/git-hydrate");
        let script = server.file("hooks/pre-receive").expect("installed");
        server.hook("hooks/pre-receive", &script.replace(gone, &empty));
        let answer = clone.push().exits(1);
        assert!(answer.remote()[0].starts_with(&format!("error: {empty} cannot be run, and ")), "{answer:?}");
        assert_eq!(server.git(&["for-each-ref", "refs/heads"]), "");
        server.hook("hooks/pre-receive", &script);
        server.git(&["config", "hydrate.withoutProgram", "warn"]);
        let answer = clone.push().success();
        assert_eq!(
            answer.remote()[0],
            "warning: /no/such/git-hydrate cannot be run: nothing guards the hydrated branches"
        );
    }
}

#[test]
fn twice_is_as_once() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook(HOOK, SOMEBODYS);
    server.hydrate(&["install", "--server"]).success();
    let state = |repo: &Repo| (repo.names("hooks"), repo.file(HOOK), repo.file(KEPT), repo.file("config"));
    let once = state(&server);
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    let hooks = [HOOK, "hooks/pre-receive"].map(|hook| format!("already  {hook} runs {BINARY}\n")).concat();
    assert!(told.starts_with(&format!("{hooks}note     repoURL is not set")), "{told}");
    assert!(state(&server) == once);
}

#[test]
fn uninstalling_brings_back_what_was_there() {
    type Prepare = fn(&Repo);
    let rows: [(&str, Prepare); 5] = [
        ("nothing", |_| {}),
        ("a hook", |repo| repo.hook(HOOK, SOMEBODYS)),
        ("a hook that is switched off", |repo| {
            repo.hook(HOOK, SOMEBODYS);
            fs::set_permissions(repo.path.join(HOOK), fs::Permissions::from_mode(0o644)).expect("set");
        }),
        ("a link", |repo| {
            repo.hook("hooks/shared", SOMEBODYS);
            symlink("shared", repo.path.join(HOOK)).expect("made");
        }),
        ("a link that leads nowhere", |repo| symlink("gone", repo.path.join(HOOK)).expect("made")),
    ];
    for (name, prepare) in rows {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        prepare(&server);
        let state = |repo: &Repo| {
            let link = fs::read_link(repo.path.join(HOOK)).ok();
            let mode = fs::metadata(repo.path.join(HOOK)).map(|metadata| metadata.permissions().mode()).ok();
            (repo.names("hooks"), repo.file(HOOK), link, mode, repo.file("config"))
        };
        let before = state(&server);
        server.hydrate(&["install", "--server"]).success();
        assert!(server.file(HOOK).is_some_and(|script| script.contains(BINARY)), "{name}");
        server.hydrate(&["uninstall"]).success();
        assert_eq!(state(&server), before, "{name}");
        assert_eq!(server.hydrate(&["uninstall"]).success().stdout, "already  nothing is installed\n");
    }
}

#[test]
fn an_older_version_is_replaced_and_an_edited_one_is_kept() {
    let lab = Lab::new();
    let server = lab.server();
    let script = server.file(HOOK).expect("installed");
    server.hook(HOOK, &script.replace("hook post-receive", "hook post-receive --quiet"));
    for command in [["install", "--server"].as_slice(), &["uninstall"]] {
        let told = server.hydrate(command).exits(1).stdout;
        assert!(
            told.contains(&format!("refused  {HOOK} was written by git-hydrate and edited since; it is kept\n")),
            "{told}"
        );
        assert!(server.file(HOOK).expect("kept").contains("--quiet"));
    }
    // As a program at another path would have written it.
    server.run("cp", &[BINARY, lab.path("bin/git-hydrate").to_str().expect("UTF-8")]).success();
    fs::remove_file(server.path.join(HOOK)).expect("removed");
    server.hydrate(&["install", "--server"]).success();
    let other = server.file(HOOK).expect("installed");
    assert!(other.contains(lab.path("bin/git-hydrate").to_str().expect("UTF-8")), "{other}");
    let told = server.run(BINARY, &["install", "--server"]).success().stdout;
    assert!(told.starts_with(&format!("done     {HOOK} runs {BINARY}\n")), "{told}");
    assert_eq!(server.file(HOOK).expect("installed"), script);
}

#[test]
fn leftovers_of_two_installations_are_never_overwritten() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook(HOOK, SOMEBODYS);
    server.hook(KEPT, "#!/bin/sh\n");
    let told = server.hydrate(&["install", "--server"]).exits(1).stdout;
    assert!(told.starts_with(&format!("refused  {HOOK} was not written by git-hydrate; it is kept\n")), "{told}");
    assert_eq!(server.file(HOOK).as_deref(), Some(SOMEBODYS));
    assert_eq!(server.file(KEPT).as_deref(), Some("#!/bin/sh\n"));
}

#[test]
fn hooks_go_where_git_and_platforms_look_for_them() {
    type Prepare = fn(&Repo);
    let gitea = "#!/usr/bin/env bash\n# AUTO GENERATED BY GITEA, DO NOT MODIFY\nfor hook in hooks/post-receive.d/*; do :; done\n";
    let rows: [(&str, Prepare, &str); 4] = [
        (
            "core.hooksPath, relative",
            |repo| drop(repo.git(&["config", "core.hooksPath", "my/hooks"])),
            "my/hooks/post-receive",
        ),
        (
            "Gitea, Forgejo",
            |repo| repo.hook("hooks/post-receive.d/gitea", "#!/bin/sh\n"),
            "hooks/post-receive.d/hydrate",
        ),
        (
            "GitLab",
            |repo| fs::create_dir(repo.path.join("custom_hooks")).expect("made"),
            "custom_hooks/post-receive.d/hydrate",
        ),
        (
            "GitLab, without hooks yet",
            |repo| drop(repo.git(&["config", "gitlab.fullpath", "team/dry"])),
            "custom_hooks/post-receive.d/hydrate",
        ),
    ];
    for (name, prepare, expected) in rows {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        prepare(&server);
        if name.starts_with("Gitea") {
            server.hook(HOOK, gitea);
        }
        let theirs = server.file(HOOK);
        let told = server.hydrate(&["install", "--server"]).success().stdout;
        assert_eq!(told.contains("a job hydrate: git hydrate push"), name.starts_with("GitLab"), "{name}: {told}");
        assert!(server.file(expected).is_some_and(|script| script.contains(BINARY)), "{name}");
        assert_eq!(server.file(HOOK), theirs, "{name}");
        server.hydrate(&["uninstall"]).success();
        assert_eq!(server.file(expected), None, "{name}");
    }
}

#[test]
fn hooks_of_managers_and_of_other_repositories_are_left_alone() {
    type Prepare = fn(&Lab, &Repo);
    let rows: [(&str, Prepare, &str); 5] = [
        ("gitolite", |_, repo| fs::write(repo.path.join("gl-conf"), "").expect("written"), "gitolite keeps the hooks"),
        (
            "shared hooks",
            |lab, repo| drop(repo.git(&["config", "core.hooksPath", lab.path("shared").to_str().expect("UTF-8")])),
            "hooks are taken from",
        ),
        (
            "a linked directory",
            |lab, repo| {
                fs::rename(repo.path.join("hooks"), lab.path("shared")).expect("moved");
                symlink(lab.path("shared"), repo.path.join("hooks")).expect("made");
            },
            "hooks are taken from",
        ),
        (
            "lefthook",
            |_, repo| repo.hook(HOOK, "#!/bin/sh\ncall_lefthook run post-receive\n"),
            "was written by lefthook",
        ),
        (
            "pre-commit",
            |_, repo| repo.hook(HOOK, "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"),
            "was written by pre-commit",
        ),
    ];
    for (name, prepare, expected) in rows {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        prepare(&lab, &server);
        let before = server.file(HOOK);
        let told = server.hydrate(&["install", "--server"]).exits(1).stdout;
        assert!(told.starts_with("refused  ") && told.contains(expected), "{name}: {told}");
        assert_eq!(server.file(HOOK), before, "{name}");
    }
}

/// As gitolite 3.6.12 lays it out: `triggers/repo-specific-hooks` links a driver, which runs all `post-receive.*`.
#[test]
fn under_gitolite_each_hook_has_a_file_and_a_working_setup_is_no_failure() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    fs::write(server.path.join("gl-conf"), "").expect("written");
    let told = server.hydrate(&["install", "--server"]).exits(1).stdout;
    for hook in ["post-receive", "pre-receive"] {
        for expected in [
            format!(">LOCAL_CODE/hooks/repo-specific/hydrate-{hook},"),
            format!("`option hook.{hook} = hydrate-{hook}`"),
        ] {
            assert!(told.contains(&expected), "{expected}: {told}");
        }
        let driver = "#!/bin/sh\nstdin=`cat`\nfor h in $0.*; do\n    [ -x $h ] || continue\n    \
                      echo \"$stdin\" | $h || { [ $0 = hooks/pre-receive ] && exit 1; }\ndone\n";
        lab.program("../local/hooks/multi-hook-driver", driver);
        let script = server.hydrate(&["install", "--print", hook]).success().stdout;
        lab.program(&format!("../local/hooks/repo-specific/hydrate-{hook}"), &script);
        symlink(lab.path("local/hooks/multi-hook-driver"), server.path.join("hooks").join(hook)).expect("made");
        let code = lab.path(&format!("local/hooks/repo-specific/hydrate-{hook}"));
        symlink(code, server.path.join(format!("hooks/{hook}.h00-hydrate-{hook}"))).expect("made");
    }
    assert!(told.contains("~/.gitolite.rc") && told.contains("'repo-specific-hooks'"), "{told}");
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(told.contains("already  hooks/post-receive.h00-hydrate-post-receive calls git-hydrate\n"), "{told}");
    let told = server.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains("hooks/pre-receive.h00-hydrate-pre-receive runs "), "{told}");
    let clone = server.clone_to("clone");
    clone.example();
    assert!(clone.push().success().stderr.contains("environments/prod"));
}

#[test]
fn a_git_that_reads_hooks_from_its_configuration_gets_them_there() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook(HOOK, SOMEBODYS);
    server.hydrate(&["install", "--server"]).success();
    server.git(&["config", "hydrate.configHooks", "true"]);
    let git = server.run("sh", &["-c", "command -v git"]).stdout;
    // Not by `git hydrate`: that puts its own directory before ours on PATH.
    let newer = "#!/bin/sh\n[ \"$3\" != version ] || { echo git version 2.55.0; exit; }\nexec ";
    lab.program("git", &format!("{newer}{} \"$@\"\n", git.trim_end()));
    let told = server.run(BINARY, &["install", "--server"]).success().stdout;
    assert!(told.contains(&format!("done     hook.hydrate.command runs {BINARY}\n")), "{told}");
    assert_eq!(server.file(HOOK).as_deref(), Some(SOMEBODYS));
    assert_eq!(server.git(&["config", "hook.hydrate.event"]), "post-receive");
    let command = server.git(&["config", "hook.hydrate.command"]);
    let stand_in = stand_in(&lab);
    let ran = server.run("sh", &["-c", &format!("echo a b c | ({})", command.replace(BINARY, &stand_in))]).success();
    assert_eq!(ran.stdout, "hydrate hook post-receive\ngot a b c\n");
    let gone = server.run("sh", &["-c", &command.replace(BINARY, "/no/such/program")]).success();
    assert_eq!(gone.stderr, "warning: /no/such/program cannot be run\n");
    let told = server.run(BINARY, &["install", "--server"]).success().stdout;
    assert!(told.starts_with(&format!("already  hook.hydrate.command runs {BINARY}\n")), "{told}");
    server.run(BINARY, &["uninstall"]).success();
    assert_eq!(
        server.run("git", &["config", "--local", "--get-regexp", "hydrate"]).stdout,
        "hydrate.confighooks true\n"
    );
}

#[test]
fn what_others_may_write_in_a_shared_repository_they_may_replace() {
    let lab = Lab::new();
    let server = lab.bare(&["--shared=group"]);
    server.git(&["config", "core.hooksPath", "our/hooks"]);
    server.hydrate(&["install", "--server"]).success();
    let mode = |path: &str| fs::metadata(server.path.join(path)).expect("there").permissions().mode() & 0o7777;
    assert_eq!((mode("our/hooks"), mode("our/hooks/post-receive") & 0o775), (0o2775, 0o775));
}

#[test]
fn a_clone_fetches_settings_and_notes() {
    let lab = Lab::new();
    let server = lab.server();
    let first = server.clone_to("first");
    first.commit("first", &[]);
    first.push().success();
    server.git(&["update-ref", "refs/hydrate/config", "main"]);
    server.git(&["notes", "--ref", "hydrator.metadata", "add", "-m", "{}", "main"]);
    let before = first.file(".git/config");
    let told = first.hydrate(&["install", "--client"]).success().stdout;
    assert_eq!(told.lines().filter(|line| line.starts_with("done ")).count(), 5, "{told}");
    let refs = first.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate", "refs/notes"]);
    assert_eq!(refs, "refs/hydrate/config\nrefs/notes/hydrator.metadata");
    assert!(first.git(&["log", "-1"]).ends_with("Notes (hydrator.metadata):\n    {}"));
    let told = first.hydrate(&["install", "--client"]).success().stdout;
    assert_eq!(told.lines().filter(|line| line.starts_with("already ")).count(), 4, "{told}");
    first.hydrate(&["uninstall"]).success();
    assert_eq!(first.file(".git/config"), before);
}

#[test]
fn a_fetch_goes_through_while_the_server_has_neither() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
}

#[test]
fn wrong_use_is_told_from_failure() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    fs::create_dir(clone.path.join("below")).expect("made");
    let rows: [(&[&str], &str); 5] = [
        (&["install"], "error: the following required arguments were not provided"),
        (
            &["install", "--server", "--client"],
            "error: the argument '--server [<REPOSITORY>]' cannot be used with '--client'",
        ),
        (
            &["install", "--client", "--remote", "upstream"],
            "error: there is no remote `upstream`: name another with --remote",
        ),
        (&["install", "--server", "below"], "error: no repository at below"),
        (
            &["install", "--print", "update"],
            "error: `update` is not a hook of git-hydrate; the hooks are: post-receive, pre-receive, pre-push",
        ),
    ];
    for (args, expected) in rows {
        let answer = clone.hydrate(args).exits(2);
        assert!(answer.stderr.starts_with(expected), "{}", answer.stderr);
    }
    let failed = clone.hydrate(&["install", "--server", "missing"]).exits(2).stderr;
    assert!(failed.starts_with("error: no repository at missing: No such file"), "{failed}");
}

#[test]
fn a_printed_hook_is_the_one_that_is_installed() {
    let lab = Lab::new();
    let server = lab.server();
    let printed = server.hydrate(&["install", "--print", "post-receive"]).success().stdout;
    assert_eq!(Some(printed), server.file(HOOK));
}

#[test]
fn urls_of_the_repository_become_settings() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let url = "https://git.example.com/team/dry.git";
    let told = server.hydrate(&["install", "--server", "--repo-url", url]).success().stdout;
    assert!(told.contains(&format!("done     repoURL = {url}")) && !told.contains("is not set"), "{told}");
    assert_eq!(server.hydrate(&["config", "get", "repoURL"]).success().stdout, format!("{url}\n"));
    let told = server.hydrate(&["install", "--server", "--repo-url", url]).success().stdout;
    assert!(told.contains(&format!("already  repoURL = {url}")), "{told}");
}

#[test]
fn a_new_repository_renders_with_the_newest_tools_and_one_that_was_hydrated_stays_as_it_is() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let said = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(
        said.contains("done     tools = the newest; those of your Argo CD: git -C ")
            && said.contains("dry.git hydrate config set tools argocd="),
        "{said}"
    );
    let tools = server.hydrate(&["config", "get", "tools"]).success().stdout;
    assert!(tools.contains("helm") && tools.contains("kustomize"), "{tools}");
    let again = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(!again.contains("tools ="), "{again}");
    // What was pushed before is nothing that was hydrated.
    let pushed = Repo::at(&lab, "pushed.git");
    server.git(&["init", "-q", "--bare", pushed.path.to_str().expect("UTF-8")]);
    let clone = dry(&pushed, &["web"], &["dev"]);
    clone.push().success();
    let said = pushed.hydrate(&["install", "--server"]).success().stdout;
    assert!(said.contains("tools = the newest"), "{said}");
    pushed.hydrate(&["catch-up"]).success();
    assert!(pushed.hydrate(&["config"]).success().stdout.contains("tools"));
    // One without settings that hydrates keeps the tools that it has, and so does a copy of its branches.
    pushed.git(&["update-ref", "-d", "refs/hydrate/config"]);
    let copy = Repo::at(&lab, "copy.git");
    pushed.git(&["clone", "-q", "--bare", ".", copy.path.to_str().expect("UTF-8")]);
    for hydrated in [&pushed, &copy] {
        let said = hydrated.hydrate(&["install", "--server"]).stdout;
        assert!(!said.contains("tools ="), "{said}");
    }
}
