//! Settings have a history, are checked before they count, and count at once on a server.

use crate::forged::put;
use crate::push::dry;
use crate::support::{Lab, Repo};

const REF: &str = "refs/hydrate/config";

/// What `settings.yaml` holds.
fn yaml(repo: &Repo) -> String {
    repo.git(&["show", &format!("{REF}:settings.yaml")])
}

/// Has the next `git hydrate config edit` run a script on the file.
fn editor(lab: &Lab, repo: &Repo, script: &str) {
    lab.program("my editor", &format!("#!/bin/sh\n{script}\n"));
    repo.git(&["config", "core.editor", "'my editor' --wait"]);
}

#[test]
fn each_change_is_a_commit_of_whoever_makes_it() {
    let lab = Lab::new();
    let server = lab.server();
    assert!(server.hydrate(&["config"]).success().stdout.starts_with("no settings: the defaults apply"));
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    server.hydrate(&["config", "set", "removalLimit.share", "0.25", "-m", "Teams shrink slowly"]).success();
    server.hydrate(&["config", "add", "applications", "applications/**"]).success();
    server.hydrate(&["config", "add", "applications", "more/*.yaml"]).success();
    server.hydrate(&["config", "set", "activePaths.environments/dev", "team-a", "team-b"]).success();
    let expected = "profile: argocd\nremovalLimit:\n  share: 0.25\napplications:\n- applications/**\n- more/*.yaml\n\
                    activePaths:\n  environments/dev:\n  - team-a\n  - team-b";
    assert_eq!(yaml(&server), expected);
    assert_eq!(server.hydrate(&["config"]).success().stdout.trim_end(), expected);
    let log = server.git(&["log", "--format=%s, by %an <%ae> at %aI", REF]);
    let by = "by Dev Eloper <dev@example.com> at 2023-11-15T00:13:20+02:00";
    let subjects = [
        "settings: set activePaths.environments/dev",
        "settings: add more/*.yaml to applications",
        "settings: add applications/** to applications",
        "Teams shrink slowly",
        "settings: set profile",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), subjects.map(|subject| format!("{subject}, {by}")));
    assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "");
    let rows =
        [("profile", "argocd\n"), ("applications", "applications/**\nmore/*.yaml\n"), ("removalLimit.share", "0.25\n")];
    for (key, value) in rows {
        assert_eq!(server.hydrate(&["config", "get", key]).success().stdout, value);
    }
    server.hydrate(&["config", "unset", "applications", "more/*.yaml"]).success();
    server.hydrate(&["config", "unset", "removalLimit.share"]).success();
    server.hydrate(&["config", "unset", "activePaths"]).success();
    assert_eq!(yaml(&server), "profile: argocd\napplications:\n- applications/**");
    server.hydrate(&["config", "get", "activePaths"]).exits(1);
    let tip = server.git(&["rev-parse", REF]);
    assert_eq!(server.hydrate(&["config", "set", "profile", "argocd"]).success().stdout, "nothing changed\n");
    assert_eq!(server.git(&["rev-parse", REF]), tip);
}

#[test]
fn a_list_as_yaml_is_a_list() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "['https://a.example/b', 'https://c.example/d']"]).success();
    server.hydrate(&["config", "set", "applications", "[a-c]*.yaml"]).success();
    let expected = "repoURL:\n- https://a.example/b\n- https://c.example/d\napplications: '[a-c]*.yaml'";
    assert_eq!(yaml(&server), expected);
}

#[test]
fn what_cannot_be_used_is_not_committed() {
    let lab = Lab::new();
    let server = lab.server();
    let rows: [(&[&str], &str); 10] = [
        (&["set", "profil", "argocd"], "error: unknown key `profil`: did you mean `profile`?\n"),
        (&["get", "dryBranch"], "error: unknown key `dryBranch`: did you mean `dryBranches`?\n"),
        (&["unset", "onfailure"], "error: unknown key `onfailure`: did you mean `onFailure`?\n"),
        (&["set", "profile", "helm"], "error: `profile` must be `proposal` or `argocd`, not `helm`\n"),
        (&["set", "removalLimit.share", "2"], "error: removalLimit.share: must be between 0 and 1\n"),
        (&["set", "removalLimit.share", "lots"], "error: `removalLimit.share` must be a number, not `lots`\n"),
        (&["set", "adopt", "a..b"], "`a..b` is not a valid branch name"),
        (&["unset", "profile"], "`profile` is not set"),
        (&["unset", "adopt", "dev"], "`dev` is not in `adopt`"),
        (&["import", "missing"], "reading missing"),
    ];
    for (args, expected) in rows {
        let answer = server.hydrate(&[&["config"], args].concat()).exits(2);
        assert!(
            answer.stderr.starts_with("error: ") && answer.stderr.contains(expected),
            "{args:?}: {}",
            answer.stderr
        );
    }
    for args in [["set", "README.md.j2", "x"].as_slice(), &["edit", "notes.txt"], &["set", "profile"]] {
        server.hydrate(&[&["config"], args].concat()).exits(2);
    }
    assert_eq!(server.run("git", &["rev-parse", "--verify", "-q", REF]).code, Some(1));
}

#[test]
fn the_editor_of_git_changes_files() {
    let lab = Lab::new();
    let server = lab.server();
    editor(&lab, &server, "[ \"$1\" = --wait ] && sed -i 's/^#history: .*/history: tip/' \"$2\"");
    server.hydrate(&["config", "edit"]).success();
    assert_eq!(yaml(&server), "history: tip");
    // Once something is set, every other key is still shown, and shown once.
    editor(&lab, &server, "grep -c '^#profile: proposal' \"$2\" >\"$HOME/count\"; echo 'profile: argocd' >>\"$2\"");
    server.hydrate(&["config", "edit"]).success();
    assert_eq!(std::fs::read_to_string(lab.path("home/count")).expect("edited"), "1\n");
    assert_eq!(yaml(&server), "history: tip\nprofile: argocd");
    editor(&lab, &server, "grep -c '^#profile: proposal' \"$2\" >\"$HOME/count\"");
    server.hydrate(&["config", "edit"]).success();
    assert_eq!(std::fs::read_to_string(lab.path("home/count")).expect("edited"), "1\n");
    editor(&lab, &server, "echo '{{ nothing' >>\"$2\"");
    let failed = server.hydrate(&["config", "edit", "README.md.j2"]).exits(2).stderr;
    let kept = failed.trim_start_matches("error: not saved; the edited file is ").split(": ").next().expect("a path");
    assert!(std::fs::read_to_string(kept).expect("kept").ends_with("{{ nothing\n"), "{failed}");
    editor(&lab, &server, "echo 'By us.' >>\"$2\"");
    server.hydrate(&["config", "edit", "README.md.j2"]).success();
    assert!(server.hydrate(&["config", "get", "README.md.j2"]).success().stdout.ends_with("By us.\n"));
    assert!(server.hydrate(&["config"]).success().stdout.contains("# README.md.j2 is set too; to show it:"));
    server.hydrate(&["config", "unset", "README.md.j2"]).success();
    assert_eq!(server.git(&["ls-tree", "--name-only", REF]), "settings.yaml");
    editor(&lab, &server, "exit 1");
    let failed = server.hydrate(&["config", "edit"]).exits(2).stderr;
    assert_eq!(failed, "error: the editor failed: 'my editor' --wait\n");
}

#[test]
fn a_folder_goes_out_and_comes_back() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    server.hydrate(&["config", "export", "../folder"]).success();
    let tree = server.git(&["rev-parse", &format!("{REF}^{{tree}}")]);
    let read = |name: &str| std::fs::read_to_string(lab.path("folder").join(name));
    assert_eq!(read("settings.yaml").expect("exported"), "profile: argocd\n");
    server.hydrate(&["config", "unset", "profile"]).success();
    server.hydrate(&["config", "import", "../folder"]).success();
    assert_eq!(server.git(&["rev-parse", &format!("{REF}^{{tree}}")]), tree);
    std::fs::write(lab.path("folder/setings.yaml"), "").expect("written");
    let failed = server.hydrate(&["config", "import", "../folder"]).exits(2).stderr;
    assert!(failed.contains("`setings.yaml` is not a settings file; "), "{failed}");
}

#[test]
fn a_template_that_does_not_compile_or_fails_on_every_commit_is_not_imported_and_later_pushes_hydrate() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    std::fs::create_dir(lab.path("folder")).expect("made");
    let rows = [
        ("README.md.j2", "{% if %}\n", "syntax error"),
        ("commit-message.j2", "{{ nothing", "syntax error"),
        ("commit-message.tmpl", "{{ if }}\n", "commit-message.tmpl:1"),
        ("README.md.j2", "{{ x | nofilter }}\n", "filter nofilter is unknown"),
        ("README.md.j2", "{% include \"a\" %}\n", "non-existing template 'a'"),
        ("commit-message.j2", "{{ f() }}\n", "f is unknown"),
        ("README.md.j2", "# {{ nothing }}\n", "it uses a value that does not exist"),
        ("commit-message.j2", "{{ metadata.nothing }}\n", "it uses a value that does not exist"),
    ];
    for (file, template, expected) in rows {
        std::fs::write(lab.path("folder").join(file), template).expect("written");
        let failed = server.hydrate(&["config", "import", "../folder"]).exits(2).stderr;
        assert!(failed.contains(expected) && failed.contains(file), "{failed}");
        assert_eq!(server.run("git", &["rev-parse", "--verify", "-q", REF]).code, Some(1), "{file}");
        std::fs::remove_file(lab.path("folder").join(file)).expect("removed");
    }
    let told = clone.push().success().stderr;
    assert!(told.contains("environments/dev") && !told.contains("error"), "{told}");
}

#[test]
fn what_is_no_url_is_not_taken_for_one() {
    let lab = Lab::new();
    let server = lab.server();
    for value in ["not a url", "dry", "-x/y"] {
        let told = server.hydrate(&["config", "set", "--", "repoURL", value]).exits(2).stderr;
        assert!(told.contains(&format!("`{value}` is not a URL")), "{told}");
    }
    for value in ["https://git.example.com/dry.git", "git@git.example.com:team/dry.git", "/srv/git/dry.git"] {
        server.hydrate(&["config", "set", "repoURL", value]).success();
    }
}

#[test]
fn a_pusher_is_known_by_the_first_variable_that_says_something() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    // One for ssh and one for http: what is not set is passed over, in whichever place.
    server.git(&["config", "--add", "hydrate.pusherVariable", "NOBODY_SETS_THIS"]);
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    clone.hydrate(&["config", "set", "profile", "argocd"]).success();
    clone.run("git", &["push", "-q", "origin", REF]).success();
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("pushers are named by the first of GIT_AUTHOR_NAME, NOBODY_SETS_THIS that is set"), "{told}");
}

#[test]
fn settings_that_would_stop_every_later_push_are_not_taken_from_an_admin_either() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let before = server.git(&["rev-parse", REF]);
    let rows = [
        ("settings.yaml", "profil: argocd\n", "settings.yaml:1:1: unknown key `profil`"),
        ("README.md.j2", "{{ nothing", "the template README.md.j2 of the settings: syntax error"),
        ("commit-message.j2", "{% if %}", "the template commit-message.j2 of the settings: syntax error"),
        ("README.md.j2", "{{ x | nofilter }}", "the template README.md.j2 of the settings: unknown filter"),
        ("commit-message.j2", "{{ f() }}", "the template commit-message.j2 of the settings: unknown function"),
        (
            "README.md.j2",
            "{{ nothing }}",
            "the template README.md.j2 of the settings: it uses a value that does not exist",
        ),
        ("other.yaml", "x", "`other.yaml` is not a settings file"),
    ];
    for guard in ["true", "false"] {
        server.git(&["config", "hydrate.guard", guard]);
        for (file, content, expected) in rows {
            let script = format!(
                "printf '100644 blob %s\\t{file}\\n' \"$(printf %s '{content}' | git hash-object -w --stdin)\" | git mktree"
            );
            let tree = clone.run("sh", &["-c", &script]).success().stdout;
            let commit = clone.git(&["commit-tree", "-m", "x", tree.trim_end()]);
            let refused = clone.run("git", &["push", "--force", "origin", &format!("{commit}:{REF}")]).exits(1);
            let told = refused.remote().join(" ");
            assert!(told.contains(expected), "{file} {content}: {told}");
            assert_eq!(server.git(&["rev-parse", REF]), before, "{file} {content}");
        }
    }
    clone.commit("later", &[("NOTES", "text")]);
    let told = clone.push().success().stderr;
    assert!(told.contains("unchanged by") && !told.contains("error"), "{told}");
}

#[test]
fn new_settings_count_at_once_on_a_server() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let before = server.git(&["rev-parse", "environments/dev"]);
    let told = server.hydrate(&["config", "set", "profile", "argocd"]).success().stdout;
    assert!(told.contains("environments/dev"), "{told}");
    assert_eq!(server.git(&["rev-parse", "environments/dev~1"]), before);
    let settings = server.git(&["rev-parse", REF]);
    let body = server.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Settings,valueonly)", "environments/dev"]);
    assert_eq!(body.trim_end(), settings);
}

#[test]
fn a_clone_changes_settings_for_a_push() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    clone.commit("first", &[]);
    clone.push().success();
    server.hydrate(&["config", "set", "history", "tip"]).success();
    let told = clone.hydrate(&["config", "set", "profile", "argocd"]).success().stdout;
    assert_eq!(told, format!("to apply them on the server: git push origin {REF}\n"));
    assert_eq!(yaml(&clone), "history: tip\nprofile: argocd");
    assert_eq!(yaml(&server), "history: tip");
    clone.run("git", &["push", "origin", REF]).success();
    assert_eq!(yaml(&server), "history: tip\nprofile: argocd");
    // Both change them: nobody's change is lost without a word.
    server.hydrate(&["config", "set", "history", "every"]).success();
    clone.hydrate(&["config", "--offline", "unset", "history"]).success();
    let failed = clone.hydrate(&["config", "set", "renderer", "native"]).exits(2).stderr;
    assert!(failed.starts_with("error: the settings were changed in this clone and on the server\n"), "{failed}");
    assert_eq!(clone.run("git", &["push", "origin", REF]).code, Some(1));
}

#[test]
fn templates_of_argocd_are_taken_over_from_its_config_map() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  url: https://argocd.example.com\n  \
                      commit.author.email: bot@example.com\n  sourceHydrator.commitMessageTemplate: |\n    \
                      {{ .metadata.subject | upper }}\n  sourceHydrator.readmeMessageTemplate: |\n    # {{ .RepoURL }}\n";
    std::fs::write(lab.path("argocd-cm.yaml"), config_map).expect("written");
    server.hydrate(&["config", "import", "../argocd-cm.yaml"]).success();
    let log = server.git(&["log", "-1", "--format=%an <%ae> %s", "environments/dev"]);
    assert_eq!(log, "Argo CD <bot@example.com> RUN THE SHOP IN TWO REGIONS OF THREE ENVIRONMENTS");
    let readme = server.git(&["show", "environments/dev:west/README.md"]);
    assert_eq!(readme, "# https://git.example.com/shop/config.git");
    let names = server.git(&["ls-tree", "--name-only", REF]);
    assert_eq!(names, "README.tmpl\ncommit-message.tmpl\nsettings.yaml");
    // One text has one template.
    std::fs::create_dir(lab.path("folder")).expect("made");
    for name in ["README.md.j2", "README.tmpl"] {
        std::fs::write(lab.path("folder").join(name), "x").expect("written");
    }
    let failed = server.hydrate(&["config", "import", "../folder"]).exits(2).stderr;
    assert!(failed.contains("README.md.j2 and README.tmpl: only one of them can be used"), "{failed}");
    // A mistake is told with its place, and nothing is stored.
    let before = server.git(&["rev-parse", REF]);
    std::fs::write(lab.path("argocd-cm.yaml"), config_map.replace(".RepoURL", ".RepoUrl")).expect("written");
    let failed = server.hydrate(&["config", "import", "../argocd-cm.yaml"]).exits(2).stderr;
    assert!(failed.contains("can't evaluate field RepoUrl") && failed.contains("README.tmpl:1"), "{failed}");
    assert_eq!(server.git(&["rev-parse", REF]), before);
}

/// Puts settings on top of `good` that nothing can work with, as somebody may commit them past every check.
fn broken(server: &Repo, good: &str, text: &str) {
    server.git(&["update-ref", REF, good]);
    put(server, REF, &[("settings.yaml", text)]);
}

#[test]
fn settings_that_cannot_be_used_are_corrected_by_the_commands_that_messages_name() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let good = server.git(&["rev-parse", REF]);
    for (text, key) in [("onFailure: [\n", None), ("renderr: native\n", Some("renderr")), ("a: 1\n", Some("a"))] {
        broken(&server, &good, text);
        let back = format!("git update-ref {REF} {good}");
        let seen = clone.commit("chore: nothing", &[]);
        let answer = clone.push().success();
        assert!(answer.remote().contains(&back.as_str()), "{seen}: {answer:?}");
        let doctor = server.hydrate(&["doctor"]).exits(1).stdout;
        let mut lines = doctor.lines().skip_while(|line| !line.contains("hydrate config edit"));
        let back = |line: &str| line.starts_with(' ') && line.ends_with(&format!("update-ref {REF} {good}"));
        assert!(lines.any(back), "{doctor}");
        match key {
            Some(key) => drop(server.hydrate(&["config", "unset", key]).success()),
            None => {
                let failed = server.hydrate(&["config", "unset", "onFailure"]).exits(2).stderr;
                assert!(failed.contains("hint: git hydrate config edit, or import, replaces it"), "{failed}");
            }
        }
        broken(&server, &good, text);
        editor(
            &lab,
            &server,
            "grep -c . \"$2\" >/dev/null && cp \"$2\" \"$HOME/shown\"; echo 'history: every' >\"$2\"",
        );
        server.hydrate(&["config", "edit"]).success();
        assert!(std::fs::read_to_string(lab.path("home/shown")).expect("edited").starts_with(text));
        assert!(yaml(&server).starts_with("history: every"), "{}", yaml(&server));
        broken(&server, &good, text);
        std::fs::create_dir_all(server.path.join("good")).expect("made");
        std::fs::write(server.path.join("good/settings.yaml"), "history: every\n").expect("written");
        server.hydrate(&["config", "import", "good"]).success();
        assert!(yaml(&server).starts_with("history: every"), "{}", yaml(&server));
    }
    // A file of another name is left out by the next change.
    put(&server, REF, &[("settings.yaml", "history: every\n"), ("notes.txt", "x")]);
    let told = server.hydrate(&["config", "set", "history", "tip"]).success().stderr;
    assert!(told.contains("`notes.txt` is not a settings file"), "{told}");
    assert!(yaml(&server).starts_with("history: tip"), "{}", yaml(&server));
}
