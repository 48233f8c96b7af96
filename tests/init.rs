//! The first minutes: `git hydrate init`, and what a repository without Applications is told.

use crate::support::{Lab, Repo};

#[test]
fn the_example_hydrates_as_it_is() {
    let rows = [
        (&["init"][..], "hello/base/service.yaml"),
        (&["init", "--kustomize"], "hello/prod/kustomization.yaml"),
        (&["init", "--chart"], "hello/Chart.yaml"),
        (&["init", "--plain"], "hello/dev/deployment.yaml"),
    ];
    for (args, file) in rows {
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
fn what_init_wrote_for_a_promoter_is_deployed_by_a_merge() {
    for style in ["--kustomize", "--chart", "--plain"] {
        let lab = Lab::new();
        let server = lab.server();
        server.allow("hydrate.promoter");
        let clone = server.clone_to("clone");
        let told = clone.hydrate(&["init", style, "--promoter"]).success().stdout;
        assert!(
            told.contains("A push changes environments/ENVIRONMENT-next") && told.contains("--from dev-next --to dev"),
            "{told}"
        );
        let written = clone.file("applications/prod.yaml").expect("written");
        assert!(
            written
                .contains("onto the branch environments/prod-next.\n# A promoter merges that into environments/prod"),
            "{written}"
        );
        clone.hydrate(&["check", "--worktree"]).success();
        clone.commit("Run hello in two environments", &[]);
        let told = clone.push().success().stderr;
        assert!(told.contains("environments/prod-next") && !told.contains("error"), "{told}");
        for env in ["dev", "prod"] {
            let (active, next) = (format!("environments/{env}"), format!("origin/environments/{env}-next"));
            clone.git(&["fetch", "-q"]);
            assert_eq!(server.git(&["ls-tree", "--name-only", &active]), "");
            let shown =
                clone.hydrate(&["diff", "--from", &format!("{env}-next"), "--to", env, "--stat"]).exits(1).stdout;
            assert!(shown.contains("+ Deployment hello"), "{style}: {shown}");
            clone.git(&["checkout", "-q", "--detach", &format!("origin/{active}")]);
            clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", &next]);
            let told = clone.run("git", &["push", "-q", "origin", &format!("HEAD:{active}")]).success().stderr;
            assert!(!told.contains("warning"), "{style}: {told}");
            let replicas = server.git(&["show", &format!("{active}:hello/manifest.yaml")]);
            assert!(replicas.contains(if env == "dev" { "replicas: 1" } else { "replicas: 3" }), "{style}: {replicas}");
        }
        server.hydrate(&["status"]).success();
        server.hydrate(&["verify"]).success();
    }
}

#[test]
fn a_chart_that_is_there_is_what_the_applications_deploy() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let chart = [
        ("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"),
        ("chart/values.yaml", "color: red\n"),
        ("chart/values-prod.yaml", "color: blue\n"),
        ("chart/charts/inner/Chart.yaml", "apiVersion: v2\nname: inner\nversion: 1.0.0\n"),
        (
            "chart/templates/config.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {color: '{{ .Values.color }}'}\n",
        ),
    ];
    for (path, text) in chart {
        let path = clone.path.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let told = clone.hydrate(&["init"]).success().stdout;
    let wrote = "wrote  applications/dev.yaml\nwrote  applications/prod.yaml\nwrote  chart/values-dev.yaml\n\nnext\n";
    assert!(told.starts_with(wrote) && told.contains("git commit -m 'Run shop in 2 environments'"), "{told}");
    let check = clone.hydrate(&["check", "--worktree"]).success().stdout;
    assert_eq!(check, "no errors, no warnings: 2 of 2 Applications of main render\n");
    clone.commit("Run shop", &[]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    for (environment, color) in [("dev", "red"), ("prod", "blue")] {
        let text = clone.git(&["show", &format!("origin/environments/{environment}:shop/manifest.yaml")]);
        assert!(text.contains(&format!("color: {color}")), "{text}");
    }
}

#[test]
fn of_several_charts_one_has_to_be_named_and_any_directory_may_be() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    clone.commit("charts", &[("a/Chart.yaml", chart), ("b/Chart.yaml", chart), ("plain/x.yaml", "a: b\n")]);
    let told = clone.hydrate(&["init"]).exits(2).stderr;
    assert!(told.contains("this repository has charts already: a, b\n"), "{told}");
    assert!(told.contains("git hydrate init --source a\n"), "{told}");
    clone.hydrate(&["init", "--source", "no/such"]).exits(2);
    let told = clone.hydrate(&["init", "--source", "plain", "qa"]).success().stdout;
    assert!(told.starts_with("wrote  applications/qa.yaml\n\nnext"), "{told}");
    let written = clone.file("applications/qa.yaml").expect("written");
    assert!(written.contains("      path: plain\n    syncSource:") && !written.contains("helm:"), "{written}");
}

#[test]
fn environments_and_the_application_have_the_names_that_are_given() {
    for style in ["--kustomize", "--chart", "--plain"] {
        let lab = Lab::new();
        let clone = lab.server().clone_to("clone");
        let answer = clone.hydrate(&["init", style, "--name", "shop", "qa", "staging", "eu-1"]).success();
        assert!(answer.stdout.contains("git commit -m 'Run shop in 3 environments'"), "{}", answer.stdout);
        clone.commit("Run shop in 3 environments", &[]);
        clone.push().success();
        clone.git(&["fetch", "-q"]);
        let manifest = |name: &str| clone.git(&["show", &format!("origin/environments/{name}:shop/manifest.yaml")]);
        for (name, replicas, tag) in [("qa", 1, "1.29.3"), ("staging", 1, "1.29.3"), ("eu-1", 3, "1.29.2")] {
            let text = manifest(name);
            let is_right = text.contains(&format!("replicas: {replicas}")) && text.contains(&format!("nginx:{tag}"));
            assert!(is_right && text.contains("name: shop") && !text.contains("hello"), "{style} {name}: {text}");
        }
    }
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    for (args, expected) in [
        (&["dev", "dev"][..], "two files would be applications/dev.yaml"),
        (&["dev", "base"], "two files would be hello/base/kustomization.yaml"),
        (&["Prod"], "lower case letters, digits and `-` only"),
        (&["--name", "a/b"], "lower case letters, digits and `-` only"),
        (&["--chart", "--plain"], "cannot be used with"),
    ] {
        let answer = clone.hydrate(&[&["init"], args].concat()).exits(2);
        assert!(answer.stderr.contains(expected), "{args:?}: {}", answer.stderr);
        assert!(!clone.path.join("applications").exists(), "{args:?}");
    }
}

#[test]
fn the_first_steps_of_the_server_have_its_path() {
    let lab = Lab::new();
    let server = lab.server();
    for (name, url, expected) in [
        ("one", "/srv/git/it's.git", "  git hydrate install --server '/srv/git/it'\\''s.git'\n"),
        ("two", "file:///srv/git/a.git", "  git hydrate install --server /srv/git/a.git\n"),
        (
            "three",
            "git@example.com:team/a.git",
            "  on git@example.com, as an account that logs in there and owns the repository:\n  git hydrate install --server team/a.git\n",
        ),
        (
            "four",
            "ssh://git@example.com/srv/a.git",
            "there and owns the repository:\n  git hydrate install --server /srv/a.git\n",
        ),
        ("five", "ssh://git@example.com:22/srv/a.git", "  git hydrate install --server REPO.git "),
        ("six", "https://git.example.com/team/a.git", "  git hydrate push "),
        ("seven", "git@github.com:team/a.git", "in a job, since this host runs no hooks\n"),
        ("eight", "https://gitlab.com/team/a.git", "in a job, since this host runs no hooks\n"),
    ] {
        let clone = server.clone_to(name);
        clone.git(&["remote", "set-url", "origin", url]);
        let told = clone.hydrate(&["init"]).success().stdout;
        assert!(told.contains(expected), "{url}: {told}");
    }
    // Where hooks are there already, nothing is left to be installed.
    let told = server.clone_to("installed").hydrate(&["init"]).success().stdout;
    assert!(told.contains("git push") && !told.contains("install --server"), "{told}");
    // A remote elsewhere shows that by its settings.
    let far = server.clone_to("far");
    far.git(&["config", &format!("url.{}.insteadOf", server.path.display()), "ssh://git@example.com/srv/a.git"]);
    far.git(&["remote", "set-url", "origin", "ssh://git@example.com/srv/a.git"]);
    server.hydrate(&["config", "set", "history", "tip"]).success();
    let told = far.hydrate(&["init"]).success().stdout;
    assert!(told.contains("git push") && !told.contains("install --server"), "{told}");
    std::fs::create_dir(lab.path("alone")).expect("made");
    let alone = crate::support::Repo::at(&lab, "alone");
    alone.git(&["init", "-q"]);
    let told = alone.hydrate(&["init"]).success().stdout;
    let path = format!("{}.git", std::fs::canonicalize(&alone.path).expect("there").display());
    assert!(
        told.contains(&format!("  git hydrate install --server {path}\n  git remote add origin {path}\n")),
        "{told}"
    );
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
fn the_pages_are_in_the_program() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    for page in crate::readme::PAGES.iter().filter_map(|page| page.strip_prefix("docs/")?.strip_suffix(".md")) {
        let shown = clone.hydrate(&["help", page]).success().stdout;
        let text = crate::readme::text_of(&format!("docs/{page}.md"));
        assert!(shown.lines().next() == text.lines().next() && shown.lines().last() == text.lines().last(), "{shown}");
        assert!(
            !shown.contains("<!-- setup")
                && !shown.contains("\n$ git init --quiet --bare --initial-branch main config")
        );
    }
    let shown = clone.hydrate(&["help", "strict", "mode"]).success().stdout;
    assert!(shown.starts_with("## Strict mode\n") && shown.contains("hydrate.strictTimeLimit"), "{shown}");
    assert!(!shown.contains("\n## "), "the next chapter: {shown}");
    let shown = clone.hydrate(&["help", "When an"]).success().stdout;
    assert!(shown.starts_with("## When an Application fails\n"), "{shown}");
    let answer = clone.hydrate(&["help", "no", "such", "chapter"]).exits(2);
    assert!(answer.stderr.contains("hint: the pages are user, admin, hosts,"), "{}", answer.stderr);
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

#[test]
fn nothing_is_written_through_a_symbolic_link() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let outside = lab.path("outside");
    std::fs::create_dir_all(&outside).expect("made");
    for (link, leads) in [("applications", &outside), ("hello", &outside)] {
        std::os::unix::fs::symlink(leads, clone.path.join(link)).expect("made");
        let told = clone.hydrate(&["init"]).exits(2).stderr;
        assert!(told.contains(&format!("nothing was written: {link} is a symbolic link")), "{told}");
        assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 0);
        std::fs::remove_file(clone.path.join(link)).expect("removed");
    }
    clone.hydrate(&["init"]).success();
}

#[test]
fn a_remote_whose_path_has_blanks_is_written_as_the_server_takes_it() {
    let lab = Lab::new();
    let server = lab.server();
    let there = server.path.with_file_name("my server.git");
    std::fs::rename(&server.path, &there).expect("moved");
    let server = Repo::at(&lab, "my server.git");
    server.hydrate(&["install", "--server", "."]).success();
    let clone = server.clone_to("clone");
    clone.hydrate(&["init"]).success();
    let written = clone.file("applications/dev.yaml").expect("written");
    assert!(written.contains("/my%20server.git"), "{written}");
    clone.commit("Run hello in two environments", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("1 of 1 manifests changed: 2 objects added"), "{told}");
    // Written by hand, the pusher reads how it is written.
    let text = clone.file("applications/dev.yaml").expect("there").replace("%20", " ");
    clone.commit("blank", &[("applications/dev.yaml", &text)]);
    let told = clone.push().remote().join("\n");
    assert!(told.contains("hint: write each blank as `%20`: ") && told.contains("/my%20server.git"), "{told}");
}
