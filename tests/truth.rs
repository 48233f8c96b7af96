//! What users are told is so, also where there is little to tell.

use crate::push::{application, config_map, dry, tip};
use crate::support::{Lab, Repo};

mod hints;
mod lost;

/// A server, and a clone that has pushed the example.
pub(crate) fn pushed(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    (server, clone)
}

/// Runs the command that the doctor prints below the finding which names `what`. Answers the finding.
#[track_caller]
fn cured(server: &Repo, what: &str) -> String {
    let told = server.hydrate(&["doctor"]).stdout;
    let is_it = |line: &&str| !line.starts_with("good") && line.contains(what);
    let mut lines = told.lines().skip_while(|line| !is_it(line));
    let (Some(finding), Some(cure)) = (lines.next(), lines.next()) else { panic!("{what} is not told: {told}") };
    let cure = &cure[cure.find("git -C").expect("a command")..];
    server.run("sh", &["-c", cure]).success();
    finding.to_owned()
}

/// A clone with an Application that stages on `environments/dev-next`, not pushed.
fn staged(server: &Repo) -> Repo {
    let clone = dry(server, &["web"], &["dev"]);
    let (file, text) = application("web", "dev");
    clone.commit("stage", &[(&file, &format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n"))]);
    clone
}

#[test]
fn status_tells_which_dry_commit_is_deployed_and_how_far_its_staging_branch_is_ahead() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    let dry = clone.git(&["rev-parse", "--short=7", "HEAD"]);
    server.git(&["update-ref", "refs/heads/environments/dev", "refs/heads/environments/dev-next"]);
    let told = server.hydrate(&["status"]).success().stdout;
    assert!(
        told.contains(&format!("{dry} of main, promoted from environments/dev-next, last commit: 1 object added\n")),
        "{told}"
    );
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    let told = server.hydrate(&["status"]).success().stdout;
    let expected = format!(
        "{dry} of main, promoted from environments/dev-next, which is 1 dry commit ahead, last commit: 1 object added\n"
    );
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn after_a_rename_of_the_dry_branch_the_doctor_says_which_setting_to_change() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    clone.git(&["push", "-q", "origin", ":main"]);
    clone.git(&["branch", "-q", "-m", "trunk"]);
    clone.run("sh", &["-c", "sed -i 's/targetRevision: main/targetRevision: trunk/' applications/*.yaml"]).success();
    clone.commit("rename", &[]);
    clone.git(&["push", "-q", "origin", "trunk"]);
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(!told.contains("update-ref -d"), "{told}");
    assert!(told.contains("if trunk takes its place: git -C"), "{told}");
    cured(&server, "main, which environments/dev, environments/prod, environments/test are hydrated from");
    assert_eq!(server.hydrate(&["config", "get", "dryBranches"]).success().stdout, "trunk\n");
    server.hydrate(&["status"]).success();
}

#[test]
fn a_commit_that_hydration_did_not_make_is_found_by_verify_status_and_doctor_whatever_it_holds() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let before = server.git(&["rev-parse", "environments/prod"]);
    let copied = ["commit-tree", "-p", "environments/prod", "-m", "x", "environments/dev^{tree}"];
    let merged =
        ["commit-tree", "-p", "environments/prod", "-p", "environments/dev", "-m", "x", "environments/dev^{tree}"];
    for forged in [&copied[..], &merged] {
        let commit = server.git(forged);
        server.git(&["update-ref", "refs/heads/environments/prod", &commit]);
        let told = server.hydrate(&["verify"]).exits(1).stdout;
        let error = format!("  error: {}: it was not made by hydration, and changes", &commit[..7]);
        assert!(told.contains(&error), "{told}");
        let told = server.hydrate(&["doctor"]).exits(1).stdout;
        assert!(!told.contains("0 dry commits behind"), "{told}");
        cured(&server, &format!("environments/prod is at {}, which hydration did not make", &commit[..7]));
        assert_eq!(server.git(&["rev-parse", "environments/prod"]), before);
        server.hydrate(&["verify"]).success();
    }
    drop(clone);
}

#[test]
fn a_branch_that_applications_name_and_nobody_made_a_dry_branch_is_told_when_it_is_pushed() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["symbolic-ref", "HEAD", "refs/heads/master"]);
    let clone = server.clone_to("clone");
    clone.git(&["checkout", "-q", "-B", "master"]);
    clone.example();
    clone.git(&["branch", "-q", "-M", "master"]);
    let told = clone.run("git", &["push", "origin", "master"]).success().stderr;
    assert!(told.contains("`main` is named by"), "{told}");
    clone.git(&["branch", "-q", "-m", "main"]);
    let told = clone.run("git", &["push", "origin", "main"]).success().stderr;
    let warning = "`main` is not a dry branch, so its Applications are not hydrated";
    assert!(told.contains(warning) && told.contains("git hydrate config add dryBranches main"), "{told}");
    cured(&server, "on master name main, which is not a dry branch");
    server.hydrate(&["status"]).success();
    assert!(server.git(&["branch", "--list", "environments/*"]).contains("environments/prod"));
}

#[test]
fn a_new_branch_with_nearly_the_name_of_another_is_told_and_refused_in_strict_mode() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let (file, text) = application("web", "dev");
    let before = tip(&clone, "main");
    clone.commit("typo", &[(&file, &text.replace("environments/dev", "enviroments/dev"))]);
    let meant = "did you mean `environments/dev`?";
    let checked = clone.hydrate(&["check"]).success();
    assert!((checked.stdout + &checked.stderr).contains(meant));
    server.git(&["config", "hydrate.strict", "touched"]);
    let told = clone.run("git", &["push", "origin", "HEAD"]);
    assert!(told.code != Some(0) && told.stderr.contains(meant), "{told:?}");
    server.git(&["config", "hydrate.strict", "off"]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`enviroments/dev` does not exist yet") && told.contains(meant), "{told}");
    // It exists now, and is as good as any.
    clone.commit("next", &[("NOTES", "text")]);
    assert!(!clone.push().success().remote().join("\n").contains(meant));
    // The mistake is taken back: the branch that nothing names is told in few words, and goes as the hint says.
    clone.git(&["revert", "--no-edit", "HEAD~1"]);
    for n in 0..5 {
        clone.commit("next", &[("NOTES", &n.to_string())]);
    }
    let told = clone.push().success().remote().join("\n");
    assert!(
        told.contains("5 commits from ") && told.contains("git update-ref -d refs/heads/enviroments/dev"),
        "{told}"
    );
    assert_eq!(server.hydrate(&["status"]).exits(1).stdout.matches("no Application names it any more").count(), 1);
    clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/hydrate/*:refs/hydrate/*"]);
    server.git(&["update-ref", "-d", "refs/heads/enviroments/dev"]);
    clone.commit("last", &[("NOTES", "last")]);
    assert!(!clone.push().success().remote().join("\n").contains("enviroments"));
    // A clone that fetched the branch judges what its remote has.
    assert!(clone.git(&["branch", "-r"]).contains("origin/enviroments/dev"));
    for args in [&["status"] as &[&str], &["diff"]] {
        let told = clone.hydrate(args).success();
        assert!(!told.stdout.contains("enviroments") && !told.stderr.contains("enviroments"), "{args:?}: {told:?}");
    }
    clone.hydrate(&["install", "--client"]).success();
    clone.commit("still", &[("NOTES", "still")]);
    assert!(!clone.push().success().stderr.contains("enviroments"));
    server.hydrate(&["status"]).success();
    server.hydrate(&["verify"]).success();
    drop(before);
}

#[test]
fn two_applications_of_one_name_in_an_environment_are_told() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    let (file, text) = application("api", "dev");
    clone.commit("typo", &[(&file, &text.replace("name: api-dev", "name: web-dev"))]);
    let expected = "more than one Application has the name `web-dev`";
    let checked = clone.hydrate(&["check"]).success();
    assert!((checked.stdout + &checked.stderr).contains(expected));
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(&format!("warning: {expected}")) && told.contains("its own Argo CD"), "{told}");
}

#[test]
fn a_freeze_of_a_promoted_branch_is_told_to_be_one_of_its_staging_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    let told = server.hydrate(&["config", "set", "frozen.environments/dev", "{reason: x}"]);
    let told = told.stdout + &told.stderr;
    let expected = "`environments/dev`, which is promoted from `environments/dev-next` and goes on with it";
    assert!(told.contains(expected) && told.contains("frozen.environments/dev-next"), "{told}");
}

#[test]
fn a_push_of_a_tag_or_topic_branch_prints_no_list_of_unchanged_branches() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.git(&["tag", "v1"]);
    assert_eq!(clone.run("git", &["push", "origin", "v1"]).success().remote(), [""; 0]);
    clone.git(&["checkout", "-q", "-b", "topic"]);
    clone.commit("work", &[("notes.txt", "to do\n")]);
    assert_eq!(clone.push().success().remote(), [""; 0]);
    assert_eq!(clone.run("git", &["push", "origin", ":topic"]).success().remote(), [""; 0]);
    // It is told of the dry branch all the same, in one line.
    clone.git(&["checkout", "-q", "main"]);
    let commit = clone.commit("notes", &[("notes.txt", "done\n")]);
    let expected = format!("unchanged by {}: environments/dev, environments/prod, environments/test", &commit[..7]);
    assert_eq!(clone.push().success().remote(), [expected.as_str()]);
}

#[test]
fn a_push_of_a_tag_does_not_repeat_the_failure_of_another_push() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.commit(
        "break it",
        &[("environments/dev/east/broken.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: web\n")],
    );
    assert!(clone.push().success().remote().join("\n").contains("failed"));
    clone.git(&["tag", "v1"]);
    assert_eq!(clone.run("git", &["push", "origin", "v1"]).success().remote(), [""; 0]);
}

#[test]
fn hydrating_a_feature_branch_takes_it_for_the_tip_of_the_dry_branch() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.git(&["checkout", "-q", "-b", "feature"]);
    clone.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/dev/east/web.yaml"]).success();
    clone.commit("try it", &[]);
    let told = clone.hydrate(&[]).success().stdout;
    assert!(told.contains("environments/dev ") && told.contains("1 of 2 manifests changed"), "{told}");
    assert!(told.contains("hydrated as the tip of main") && told.contains("--branch"), "{told}");
    // What is hydrated from nowhere says how to name a branch.
    let told = clone.hydrate(&["--branch", "other"]).success().stdout;
    assert!(told.contains("--branch NAME"), "{told}");
}

#[test]
fn an_application_that_goes_is_counted_among_those_that_were_there() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.run("sed", &["-i", "/^---$/,$d", "applications/dev.yaml"]).success();
    clone.commit("close the east", &[]);
    let told = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
    let line = told.lines().find(|line| line.starts_with("environments/dev ")).expect("told");
    assert!(line.ends_with(" in 1 of 2 Applications"), "{told}");
}

#[test]
fn the_doctor_tells_what_hydration_takes_on_the_disk() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    let told = server.hydrate(&["doctor"]).success().stdout;
    let line = told.lines().find(|line| line.contains("hydrated history takes ")).expect("told");
    assert!(line.contains(" bytes") || line.contains(" KiB"), "{line}");
    assert!(line.contains(", notes ") && line.contains(", records "), "{line}");
    assert!(told.contains(" since the last gc\n"), "{told}");
    server.git(&["config", "gc.autoPackLimit", "1"]);
    let told = server.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains(" gc\n"), "{told}");
}

#[test]
fn a_variable_that_pushers_set_is_no_name_to_the_doctor() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    server.git(&["config", "hydrate.pusherVariable", "GIT_PUSH_OPTION_0"]);
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(
        told.contains("bad      hydrate.pusherVariable is GIT_PUSH_OPTION_0, which pushers can set to any name"),
        "{told}"
    );
}

#[test]
fn a_push_to_a_promoted_branch_is_sent_to_its_staging_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone
        .run(
            "cp",
            &[
                "-R",
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/applications/two-regions-of-three-environments/in/."),
                ".",
            ],
        )
        .success();
    let staged = "s/^    syncSource:/    hydrateTo: {targetBranch: environments\\/dev-next}\\n    syncSource:/";
    clone.run("sed", &["-i", staged, "applications/dev.yaml"]).success();
    clone.commit("stage", &[]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "edit", "origin/environments/dev"]);
    clone.commit("by hand", &[("west/manifest.yaml", "a: 1\n")]);
    server.git(&["config", "--unset-all", "receive.hideRefs"]);
    let told = clone.run("git", &["push", "origin", "edit:environments/dev"]).exits(1).remote().join(" ");
    assert!(told.contains("when a promoter merges `environments/dev-next` into it"), "{told}");
    assert!(!told.contains("on `main` instead"), "{told}");
}

#[test]
fn uninstall_tells_which_sources_argo_cd_goes_back_to() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let told = server.hydrate(&["uninstall", "--server", ".", "--repoint"]).success().stdout;
    let expected = "dev-west:\n  source:\n    path: environments/dev/west\n    \
                    repoURL: https://git.example.com/shop/config.git\n    targetRevision: main\n";
    assert!(told.contains(expected), "{told}");
    assert!(server.file("hooks/post-receive").is_some());
    // A clone has the branches of its remote.
    clone.git(&["fetch", "-q"]);
    let of_clone = clone.hydrate(&["uninstall", "--repoint"]).success().stdout;
    assert!(of_clone.contains(expected) && !of_clone.contains("was never made"), "{of_clone}");
    server.hydrate(&["uninstall", "--server"]).success();
    assert!(server.file("hooks/post-receive").is_none());
}

#[test]
fn in_a_partial_clone_what_is_missing_is_fetched_and_nothing_is_called_damaged() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    server.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", server.path.display());
    server.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "../partial"]);
    let clone = Repo::at(&lab, "partial");
    clone.hydrate(&["check"]).success();
    let told = clone.hydrate(&["diff"]).success().stdout;
    assert!(told.contains("no change"), "{told}");
    clone.hydrate(&["verify"]).success();
    // Where the remote is gone it is said plainly.
    let again = Repo::at(&lab, "again");
    server.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "../again"]);
    again.git(&["remote", "set-url", "origin", "file:///no/such/repository"]);
    let told = again.hydrate(&["check", "--offline"]).exits(2).stderr;
    assert!(told.contains("which this partial clone left at its remote"), "{told}");
}

#[test]
fn on_an_environment_branch_commands_name_the_dry_commit_and_no_removal() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.git(&["fetch", "-q"]);
    let dry = clone.git(&["rev-parse", "--short=7", "main"]);
    clone.git(&["switch", "-q", "environments/test"]);
    let rows: [(&[&str], &str); 6] = [
        (&["diff"], "git hydrate diff"),
        (&["diff", "--worktree"], "git hydrate diff"),
        (&["check"], "git hydrate check"),
        (&["HEAD"], "git hydrate"),
        (&[], "git hydrate"),
        (&["diff", "origin/environments/prod"], "git hydrate diff"),
    ];
    for (args, command) in rows {
        let told = clone.hydrate(args).exits(2).stderr;
        let (rev, branch) = match args.last() {
            Some(&"origin/environments/prod") => ("origin/environments/prod", "environments/prod"),
            _ => ("HEAD", "environments/test"),
        };
        let expected = format!(
            "error: `{rev}` is a hydrated commit of `{branch}`, not a dry commit\n\
             hint: it was made from {dry} of `main`: {command} {dry}\n"
        );
        assert_eq!(told, expected, "{args:?}");
    }
    // A commit on top of it, as a promoter or a person makes one, is none either.
    clone.commit("by hand", &[("notes.txt", "x")]);
    assert!(clone.hydrate(&["diff"]).exits(2).stderr.contains("not a dry commit"));
    clone.hydrate(&["diff", &dry]).success();
}

#[test]
fn check_finds_what_the_removal_limit_would_refuse() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.commit("test goes", &[("applications/test.yaml", "")]);
    let told = clone.hydrate(&["check"]).exits(1).stdout;
    assert!(told.contains("error: this commit would empty `environments/test`, which 2 Applications write"), "{told}");
    assert!(
        told.contains("[environment-branch]") && told.contains("Hydrate-Allow-Removal: environments/test"),
        "{told}"
    );
    clone.commit("test goes\n\nHydrate-Allow-Removal: environments/test", &[]);
    clone.hydrate(&["check"]).success();
}

#[test]
fn an_object_that_sops_encrypted_is_written_with_a_warning() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 'ENC[AES256_GCM,data:x]'}\n\
                  sops: {mac: 'ENC[AES256_GCM,data:y]'}\n";
    clone.commit("a secret", &[("apps/web/dev/secret.yaml", secret)]);
    let told = clone.hydrate(&["check"]).success().stdout;
    assert!(told.contains("warning: Secret s: encrypted with SOPS, and written as it is"), "{told}");
    clone.push().success();
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("mac: ENC[AES256_GCM,data:y]"));
}

#[test]
fn a_set_whose_pattern_matches_nothing_any_more_is_told_with_the_pattern() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: addons
spec:
  generators:
  - git:
      repoURL: https://git.example.com/dry.git
      revision: HEAD
      directories:
      - path: addons/*
  template:
    metadata:
      name: '{{path.basename}}'
    spec:
      sourceHydrator:
        drySource:
          repoURL: https://git.example.com/dry.git
          targetRevision: main
          path: '{{path}}'
        syncSource:
          targetBranch: environments/dev
          path: '{{path.basename}}'
";
    clone.commit("addons", &[("sets/addons.yaml", set), ("addons/dns/config.yaml", &config_map("dns", "x"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("3 of 3 manifests changed"), "{told}");
    clone.commit("typo", &[("sets/addons.yaml", &set.replace("addons/*", "addon/*"))]);
    let told = clone.push().success().remote().join("\n");
    let expected =
        "warning: ApplicationSet `addons` makes no Applications any more; it made 1 Application of `environments/dev`";
    assert!(told.contains(expected) && told.contains("sets/addons.yaml:11:15"), "{told}");
    assert!(told.contains("`addon/*` matches nothing"), "{told}");
}

#[test]
fn uninstall_prints_the_whole_of_each_source_and_the_release_name_that_was_rendered() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = crate::push::application("web", "dev");
    let helm =
        "      helm:\n        valueFiles: [prod.yaml]\n        parameters: [{name: a, value: b}]\n    syncSource:";
    let (plain_file, plain) = crate::push::application("api", "dev");
    let directory = "      directory: {recurse: true}\n    syncSource:";
    clone.commit(
        "charts",
        &[
            (&file, &text.replace("    syncSource:", helm)),
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/prod.yaml", "a: c\n"),
            ("apps/web/dev/templates/a.yaml", &crate::push::config_map("{{ .Release.Name }}", "x")),
            (&plain_file, &plain.replace("    syncSource:", directory)),
            ("apps/api/dev/config.yaml", &crate::push::config_map("api", "dev")),
        ],
    );
    clone.push().success();
    let told = server.hydrate(&["uninstall", "--repoint"]).success().stdout;
    let web = "web-dev:\n  source:\n    helm:\n      parameters:\n      - name: a\n        value: b\n      \
               releaseName: release-name\n      valueFiles:\n      - prod.yaml\n    path: apps/web/dev\n";
    assert!(told.contains(web), "{told}");
    assert!(
        told.contains("api-dev:\n  source:\n    directory:\n      recurse: true\n    path: apps/api/dev\n"),
        "{told}"
    );
    let json = server.hydrate(&["uninstall", "--repoint", "--json"]).success().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["sources"][1]["spec"]["source"]["helm"]["valueFiles"][0], "prod.yaml", "{json}");
}

#[test]
fn a_dry_branch_that_was_taken_out_of_the_settings_is_named_by_status_and_doctor() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone.git(&["push", "-q", "origin", "HEAD:release"]);
    server.hydrate(&["config", "set", "dryBranches", "release"]);
    clone.commit("on", &[("NOTES", "text")]);
    clone.push().success();
    let told = server.hydrate(&["status"]).exits(1).stdout;
    assert!(told.contains("main is not a dry branch any more") && !told.contains("1 dry commit behind"), "{told}");
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("is hydrated from main, which is not a dry branch any more"), "{told}");
}

#[test]
fn a_promoted_branch_that_somebody_changed_was_promoted_to_all_the_same() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = crate::push::application("web", "dev");
    let text = text.replace("targetBranch: environments/dev", "targetBranch: env/prod");
    let text = format!("{text}    hydrateTo:\n      targetBranch: env/prod-next\n");
    clone.commit("add", &[(&file, &text), ("apps/web/dev/config.yaml", &crate::push::config_map("web", "dev"))]);
    clone.push().success();
    let told = server.hydrate(&["status"]).success().stdout;
    assert!(told.contains("nothing is promoted from env/prod-next yet"), "{told}");
    let promoter = server.clone_to("promoter");
    server.git(&["config", "hydrate.guard", "off"]);
    promoter.git(&["switch", "-q", "-c", "prod", "origin/env/prod-next"]);
    promoter.git(&["push", "-q", "origin", "prod:env/prod"]);
    promoter.git(&["rm", "-q", "hydrator.metadata"]);
    promoter.git(&["commit", "-q", "-m", "odd"]);
    promoter.git(&["push", "-q", "origin", "prod:env/prod"]);
    let told = server.hydrate(&["status"]).exits(1).stdout;
    assert!(
        told.contains("not as it was promoted from env/prod-next") && !told.contains("nothing is promoted"),
        "{told}"
    );
}

#[test]
fn offline_status_after_a_plain_fetch_calls_no_branch_changed() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone.hydrate(&["status"]).success();
    clone.commit("edit", &[("environments/dev/west/more.yaml", &crate::push::config_map("more", "x"))]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let told = clone.hydrate(&["status", "--offline"]).stdout;
    assert!(!told.contains("is not what hydration made"), "{told}");
    assert!(told.contains("newer than what was fetched of the records; to fetch them: git hydrate status"), "{told}");
    clone.hydrate(&["status"]).success();
}
