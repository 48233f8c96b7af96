//! The first minutes: `git hydrate init`, and what a repository without Applications is told.

use crate::support::Lab;

#[test]
fn the_example_hydrates_as_it_is() {
    for (args, file) in [(&["init"][..], "hello/base/service.yaml"), (&["init", "--chart"], "hello/Chart.yaml")] {
        let lab = Lab::new();
        let clone = lab.server().clone_to("clone");
        let answer = clone.hydrate(args).success();
        assert!(answer.stdout.contains(&format!("wrote  {file}\n")), "{}", answer.stdout);
        assert_eq!(
            clone.hydrate(&["check", "--worktree"]).success().stdout,
            "no errors, no warnings: 2 of 2 Applications of main render\n"
        );
        clone.commit("Run hello in two environments", &[]);
        let answer = clone.push().success();
        assert!(
            answer.remote().iter().any(|line| line.ends_with("1 of 1 manifests changed: 2 objects added")),
            "{answer:?}"
        );
        clone.git(&["fetch", "-q"]);
        let replicas = |env: &str| clone.git(&["show", &format!("origin/environments/{env}:hello/manifest.yaml")]);
        assert!(replicas("dev").contains("replicas: 1") && replicas("prod").contains("replicas: 3"));
        let answer = clone.hydrate(args).exits(2);
        assert!(answer.stderr.contains("nothing was written") && answer.stderr.contains(file), "{}", answer.stderr);
    }
}

#[test]
fn the_example_does_not_have_the_password_that_the_clone_logs_in_with() {
    let lab = Lab::new();
    let server = lab.server();
    for (name, url, expected) in [
        ("one", "https://ann:secret@git.example.com/team/dry.git", "https://git.example.com/team/dry.git"),
        ("two", "ssh://git:secret@git.example.com/team/dry.git", "ssh://git@git.example.com/team/dry.git"),
        ("three", "ssh://git@git.example.com/team/dry.git", "ssh://git@git.example.com/team/dry.git"),
    ] {
        let clone = server.clone_to(name);
        clone.git(&["remote", "set-url", "origin", url]);
        clone.hydrate(&["init"]).success();
        let written = clone.file("applications/dev.yaml").expect("written");
        assert!(written.contains(&format!("repoURL: {expected}\n")) && !written.contains("secret"), "{written}");
    }
}

#[test]
fn who_has_no_application_is_told_how_to_begin() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    for args in [&[][..], &["check"], &["diff"]] {
        let answer = clone.hydrate(args).exits(2);
        assert!(
            answer.stderr.starts_with("error: there is no commit on `main` yet\nhint: `git hydrate init`"),
            "{answer:?}"
        );
    }
    clone.commit("nothing", &[("a.txt", "a")]);
    for args in [&[][..], &["check"], &["diff"], &["status"], &["log"]] {
        let answer = clone.hydrate(args).success();
        assert!(answer.stdout.contains("git hydrate init"), "{args:?}: {}", answer.stdout);
    }
    let outside = lab.path("outside");
    std::fs::create_dir(&outside).expect("made");
    let output = lab.command("git", &outside).args(["hydrate", "init"]).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("to create a repository here: git init"), "{output:?}");
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn help_is_what_the_option_prints() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let help = clone.hydrate(&["help", "explain"]).success().stdout;
    assert!(help.contains("git hydrate explain environments/prod:web/manifest.yaml:28"), "{help}");
    assert!(help.contains("Usage: git hydrate explain"), "{help}");
    assert!(clone.hydrate(&["help"]).success().stdout.contains("  explain "));
    let answer = clone.hydrate(&["help", "statsu"]).exits(2);
    assert!(answer.stderr.contains("did you mean `status`?"), "{}", answer.stderr);
}

#[test]
fn init_writes_no_example_beside_applications_that_are_there() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let (_, text) = crate::push::application("web", "dev");
    clone.commit("one", &[("argocd/web.yaml", &text)]);
    let answer = clone.hydrate(&["init"]).exits(2);
    assert!(answer.stderr.contains("nothing was written: this repository has an Application already"), "{answer:?}");
    assert!(answer.stderr.contains("`git hydrate adopt`") && !clone.path.join("applications").exists(), "{answer:?}");
}
