//! `git hydrate push`: the worker for hosts that run no hooks, against real remotes.

mod forged;
mod settings;

use std::fs;

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Lab, Repo, delete_at};

/// All refs of a repository but the dry ones.
pub(crate) fn refs(repo: &Repo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
}

/// What happens to a dry repository, each push after the other; `after` follows each of them.
fn history(server: &Repo, mut after: impl FnMut(&Repo)) -> Repo {
    let clone = dry(server, &["web", "api"], &["dev", "prod"]);
    let push = |clone: &Repo| drop(clone.push().success());
    push(&clone);
    after(server);
    clone.commit("fix: web", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
    push(&clone);
    after(server);
    clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.commit("fix: api", &[("apps/api/prod/config.yaml", &config_map("api", "one"))]);
    clone.commit("fix: api again", &[("apps/api/prod/config.yaml", &config_map("api", "two"))]);
    push(&clone);
    after(server);
    clone.commit("oops", &[("apps/api/dev/config.yaml", "kind: [")]);
    push(&clone);
    after(server);
    clone.commit("fix it", &[("apps/api/dev/config.yaml", &config_map("api", "right"))]);
    push(&clone);
    after(server);
    clone.commit("feat: one more", &[(&application("job", "dev").0, &application("job", "dev").1)]);
    clone.commit("with its files", &[("apps/job/dev/config.yaml", &config_map("job", "x"))]);
    push(&clone);
    after(server);
    clone.commit("drop web", &[(&application("web", "dev").0, "")]);
    push(&clone);
    after(server);
    clone
}

/// The refs that a hook makes of the same history, after each push.
fn by_hook() -> Vec<String> {
    let (lab, mut found) = (Lab::new(), Vec::new());
    history(&lab.server(), |server| found.push(refs(server)));
    found
}

#[test]
fn a_worker_leaves_what_a_hook_leaves() {
    let (lab, mut found) = (Lab::new(), Vec::new());
    let host = lab.bare(&[]);
    history(&host, |host| {
        // A new clone each time, as a job has it.
        let job = host.clone_to(&format!("job{}", found.len()));
        let failed = found.len() == 3;
        job.hydrate(&["push"]).exits(if failed { 1 } else { 0 });
        found.push(refs(host));
        let again = job.hydrate(&["push"]).exits(if failed { 1 } else { 0 });
        assert!(again.stdout.ends_with("origin is up to date\n"), "{again:?}");
        assert_eq!(refs(host), found[found.len() - 1], "nothing is left to do");
    });
    healthy(&host);
    let expected = by_hook();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn one_clone_does_as_well_as_a_new_one_for_each_push() {
    let (lab, mut job, mut found) = (Lab::new(), None, Vec::new());
    let host = lab.bare(&[]);
    history(&host, |host| {
        let job: &Repo = job.get_or_insert_with(|| host.clone_to("job"));
        drop(job.hydrate(&["push", "origin"]));
        found.push(refs(host));
    });
    assert_eq!(found, by_hook());
}

#[test]
fn what_several_pushes_left_is_hydrated_commit_by_commit() {
    let (lab, expected) = (Lab::new(), by_hook());
    let host = lab.bare(&[]);
    let mut pushes = 0;
    history(&host, |host| {
        pushes += 1;
        if pushes == 1 || pushes == 7 {
            host.clone_to(&format!("job{pushes}")).hydrate(&["push"]).success();
        }
    });
    let heads =
        |refs: &str| refs.lines().filter(|line| line.starts_with("refs/heads/")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(heads(&refs(&host)), heads(&expected[6]));
}

/// The history, of which a job hydrated the first push only.
fn hydrated_once(host: &Repo) {
    let mut pushes = 0;
    history(host, |host| {
        pushes += 1;
        if pushes == 1 {
            host.clone_to("first").hydrate(&["push"]).success();
        }
    });
}

#[test]
fn a_shallow_clone_is_deepened() {
    let (lab, expected) = (Lab::new(), by_hook());
    let host = lab.bare(&[]);
    hydrated_once(&host);
    let url = format!("file://{}", host.path.display());
    host.git(&["clone", "-q", "--depth=1", "--branch=main", &url, "../job"]);
    let job = Repo::at(&lab, "job");
    assert_eq!(job.git(&["rev-list", "--count", "HEAD"]), "1");
    job.hydrate(&["push"]).success();
    for env in ["dev", "prod"] {
        let line = format!("refs/heads/environments/{env} {}", tip(&host, &format!("environments/{env}")));
        assert!(expected[6].contains(&line), "{line}");
    }
    assert_eq!(job.git(&["rev-parse", "--is-shallow-repository"]), "false");
}

#[test]
fn a_clone_of_a_shallow_repository_is_refused() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = history(&host, |_| {});
    let url = format!("file://{}", host.path.display());
    clone.git(&["clone", "-q", "--bare", "--depth=2", "--branch=main", &url, "../shallow.git"]);
    let job = Repo::at(&lab, "shallow.git").clone_to("job");
    let answer = job.hydrate(&["push"]).exits(2);
    assert_eq!(
        answer.stderr,
        "error: origin is a shallow clone itself, so its hydrated branches cannot be determined\n"
    );
}

#[test]
fn a_partial_clone_fetches_what_it_lacks_at_once() {
    let (lab, expected) = (Lab::new(), by_hook());
    let host = lab.bare(&[]);
    for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        host.git(&["config", key, "true"]);
    }
    hydrated_once(&host);
    let url = format!("file://{}", host.path.display());
    host.git(&["clone", "-q", "--filter=blob:none", "--no-checkout", &url, "../job"]);
    let job = Repo::at(&lab, "job");
    let missing = |job: &Repo| job.git(&["rev-list", "--objects", "--all", "--missing=print"]).matches('?').count();
    assert!(missing(&job) > 10);
    let mut command = job.command("git");
    let output = command.args(["hydrate", "push"]).env("GIT_TRACE", lab.path("trace")).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    for env in ["dev", "prod"] {
        let line = format!("refs/heads/environments/{env} {}", tip(&host, &format!("environments/{env}")));
        assert!(expected[6].contains(&line), "{line}");
    }
    let trace = fs::read_to_string(lab.path("trace")).expect("written");
    let fetches =
        trace.lines().filter(|line| line.contains("built-in: git fetch") || line.contains("exec: git-fetch")).count();
    assert!(fetches <= 8, "{fetches} fetches for {} files", missing(&job));
    healthy(&host);
}

#[test]
fn a_dry_run_tells_what_it_would_push() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.push().success();
    let before = refs(&host);
    let answer = clone.hydrate(&["push", "--dry-run"]).success();
    let expected = "would push to origin: environments/dev, refs/hydrate/branches, refs/hydrate/config, refs/notes/hydrator.metadata\n";
    assert!(answer.stdout.ends_with(expected), "{}", answer.stdout);
    assert_eq!(refs(&host), before);
    let json = clone.hydrate(&["push", "--dry-run", "--json"]).success().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["format"], &json["remote"], &json["pushed"]), (&1.into(), &"origin".into(), &false.into()));
    let would = json["refs"][0].clone();
    assert_eq!((&would["ref"], would.get("old")), (&"refs/heads/environments/dev".into(), None));
    assert_eq!(json["branches"][0]["outcome"], "moved");
    clone.hydrate(&["push"]).success();
    assert_eq!(would["new"], tip(&host, "environments/dev"));
}

#[test]
fn what_does_not_hydrate_holds_its_branch_only() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.hydrate(&["push"]).success();
    let files = [
        ("apps/web/dev/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: ["),
        ("apps/web/prod/config.yaml", &config_map("web", "new")),
    ];
    let dry_commit = clone.commit("half of it", &files);
    clone.push().success();
    let answer = clone.hydrate(&["push"]).exits(1);
    assert!(answer.stdout.contains("apps/web/dev/config.yaml:4:1"), "{}", answer.stdout);
    assert_eq!(note(&host, "environments/prod"), note_of(&dry_commit));
    assert_ne!(note(&host, "environments/dev"), note_of(&dry_commit));
}

#[test]
fn who_asks_for_what_cannot_be_is_told() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.push().success();
    let rows: [(&[&str], &str); 2] = [
        (&["push", "upstream"], "error: there is no remote named `upstream`\nhint: git remote add NAME URL\n"),
        (
            &["push", "--settings-ref", "settings"],
            "error: origin has no ref `refs/heads/settings` to take settings from; only branches and refs below \
             refs/hydrate/ can be named\n",
        ),
    ];
    for (args, expected) in rows {
        let answer = clone.hydrate(args).exits(2);
        assert!(answer.stderr.starts_with(expected), "{}", answer.stderr);
    }
    let answer = host.hydrate(&["push"]).exits(2);
    let expected = "error: this repository has no remote to push to\nhint: this command runs in a clone; on the server \
                    itself: git hydrate catch-up\n";
    assert_eq!(answer.stderr, expected);
}

#[test]
fn a_remote_that_refuses_says_why_and_nothing_moves() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    host.hook(
        "hooks/pre-receive",
        "#!/bin/sh\ngrep -q environments/prod && echo 'environments/prod is protected' && exit 1\nexit 0\n",
    );
    let before = refs(&host);
    let answer = clone.hydrate(&["push"]).exits(2);
    for words in [
        "error: origin refused the push, so no hydrated branch was completed there:",
        "refs/heads/environments/prod [remote rejected] (pre-receive hook declined)",
        "remote: environments/prod is protected",
    ] {
        assert!(answer.stderr.contains(words), "{}", answer.stderr);
    }
    assert_eq!(refs(&host), before);
}

/// Has a host write down what each push moved, a line a push.
fn log_pushes(host: &Repo) {
    host.hook(
        "hooks/post-receive",
        "#!/bin/sh\ncut -d' ' -f3 | sed 's,refs/heads/,,' | sort | tr '\\n' ' ' >>pushes\necho >>pushes\n",
    );
}

#[test]
fn a_remote_that_cannot_move_refs_at_once_gets_branches_first() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["a", "b"]);
    clone.push().success();
    host.git(&["config", "receive.advertiseAtomic", "false"]);
    log_pushes(&host);
    clone.hydrate(&["push"]).success();
    let kept = "refs/hydrate/branches refs/hydrate/config refs/notes/hydrator.metadata";
    assert_eq!(host.file("pushes").expect("written"), format!("environments/a environments/b \n{kept} \n"));
}

#[test]
fn a_hold_that_anyone_may_push_takes_no_branch_back() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["push"]).success();
    clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    clone.hydrate(&["push"]).success();
    let before = tip(&host, "environments/dev");
    let other = host.clone_to("other");
    other.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let said = other.hydrate(&["rollback", "dev", "--reason", "x", "--yes"]).exits(1);
    assert!(said.stderr.contains("`environments/dev` has not moved yet: no hook of `origin` hydrated it"), "{said:?}");
    let said = clone.hydrate(&["push"]).exits(2).stderr;
    assert!(said.starts_with("error: origin has settings in refs/hydrate/config"), "{said}");
    assert_eq!(tip(&host, "environments/dev"), before);
    // An admin who names them may.
    clone.hydrate(&["push", "--settings-ref", "refs/hydrate/config"]).success();
    assert_eq!(host.git(&["rev-parse", "environments/dev^"]), before);
}

fn tip_of(repo: &Repo, name: &str) -> String {
    repo.git(&["rev-parse", "--verify", name])
}

/// A hydrated host with a dry commit that is not hydrated yet, whose settings are in the branch `settings`.
fn host_with_settings(lab: &Lab) -> (Repo, Repo) {
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api", "job"], &["dev", "prod"]);
    clone.push().success();
    clone.git(&["switch", "-q", "--orphan", "settings"]);
    clone.commit("settings", &[("settings.yaml", "dryBranches: [main]\nrepoURL: https://git.example.com/dry.git\n")]);
    clone.git(&["push", "-q", "origin", "settings"]);
    clone.git(&["switch", "-q", "main"]);
    clone.hydrate(&["push", "--settings-ref", "settings"]).success();
    let removed = application("job", "prod").0;
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "new")), (&removed, "")]);
    clone.push().success();
    (host, clone)
}

/// Refs that a writer may push who may not push to dry branches and environment branches, and with which git cannot have one
/// that hydration writes: those to delete first, and the one to make.
pub(crate) const IN_THE_WAY: [(&[&str], &str, &str); 5] = [
    (&["refs/hydrate/branches"], "refs/hydrate/branches/x", "refs/hydrate/branches"),
    (&["refs/hydrate/config"], "refs/hydrate/config/x", "refs/hydrate/config"),
    (&["refs/notes/hydrator.metadata"], "refs/notes/hydrator.metadata/x", "refs/notes/hydrator.metadata"),
    (&["refs/notes/hydrator.metadata"], "refs/notes", "refs/notes/hydrator.metadata"),
    (&["refs/hydrate/branches", "refs/hydrate/config"], "refs/hydrate", "refs/hydrate/branches"),
];

#[test]
fn a_ref_in_the_way_of_records_holds_back_no_branch() {
    let lab = Lab::new();
    // Settings that say less than what is found out, so that these are to be pushed too.
    let (host, settings) = host_with_settings(&lab);
    settings.git(&["switch", "-q", "settings"]);
    settings.commit("less", &[("settings.yaml", "dryBranches: [main]\n")]);
    settings.git(&["push", "-q", "origin", "settings"]);
    for (number, (gone, made, named)) in IN_THE_WAY.iter().enumerate() {
        let host = host.copy_to(&format!("way{number}.git"));
        for name in *gone {
            host.git(&["update-ref", "-d", name]);
        }
        host.git(&["update-ref", made, "main"]);
        let job = host.clone_to(&format!("job-of-way{number}"));
        for _ in 0..2 {
            let told = job.hydrate(&["push", "--settings-ref", "settings"]).exits(2).stderr;
            assert!(told.contains(&format!("origin has `{made}`, beside which git cannot make `{named}`")), "{told}");
            assert!(told.contains(&format!("hint: git push origin --delete {made}\n")), "{told}");
            let files = host.git(&["show", "environments/dev:web/manifest.yaml"]);
            assert!(files.contains("value: new"), "{made}: {told}");
        }
        delete_at(&host, &job, made);
        job.hydrate(&["push", "--settings-ref", "settings"]).success();
        assert!(
            job.hydrate(&["push", "--settings-ref", "settings"]).success().stdout.ends_with("origin is up to date\n")
        );
    }
}

/// Refs that git takes for another one, which is there or not, when somebody pushes that by its full name.
const TAKEN_FOR: &[(&str, &str)] = &[
    ("refs/tags/refs/heads/environments/prod", "refs/heads/environments/prod"),
    ("refs/heads/refs/heads/environments/prod", "refs/heads/environments/prod"),
    ("refs/refs/heads/environments/prod", "refs/heads/environments/prod"),
    ("refs/remotes/refs/heads/environments/prod", "refs/heads/environments/prod"),
    ("refs/tags/refs/heads/environments/dev", "refs/heads/environments/dev"),
    ("refs/tags/refs/notes/hydrator.metadata", "refs/notes/hydrator.metadata"),
    ("refs/heads/refs/hydrate/branches", "refs/hydrate/branches"),
];

#[test]
fn a_tag_with_the_full_name_of_a_branch_stops_no_push_and_is_named_with_its_deletion() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    for (number, (taken, name)) in TAKEN_FOR.iter().enumerate() {
        let host = host.copy_to(&format!("taken{number}.git"));
        host.git(&["update-ref", taken, "main"]);
        let before = host.git(&["rev-parse", taken]);
        let clone = host.clone_to(&format!("clone-of-taken{number}"));
        let job = host.clone_to(&format!("job-of-taken{number}"));
        // The first push makes the branches, the second one moves them.
        for value in ["made", "moved"] {
            let config = config_map("web", value);
            clone.commit(value, &[("apps/web/prod/config.yaml", &config), ("apps/web/dev/config.yaml", &config)]);
            clone.git(&["push", "-q", "origin", "HEAD:refs/heads/main"]);
            let answer = job.hydrate(&["push"]).success();
            let said = format!("{}{}", answer.stdout, answer.stderr);
            for branch in ["dev", "prod"] {
                let manifest = host.git(&["show", &format!("refs/heads/environments/{branch}:web/manifest.yaml")]);
                assert!(manifest.contains(&format!("value: {value}")), "{taken}: {said}");
            }
            assert_eq!(host.git(&["rev-parse", taken]), before, "{taken}: {said}");
            let named = format!("origin has `{taken}`, which git takes for `{name}` when somebody pushes that by name");
            assert!(said.contains(&named), "{taken}: {said}");
            assert!(said.contains(&format!("hint: git push origin --delete {taken}\n")), "{taken}: {said}");
        }
        healthy(&host);
        assert_eq!(job.git(&["for-each-ref", "refs/hydrate-pushing"]), "");
        job.git(&["push", "-q", "origin", "--delete", taken]);
        let answer = job.hydrate(&["push"]).success();
        assert!(
            answer.stdout.ends_with("origin is up to date\n") && !answer.stdout.contains("git takes"),
            "{answer:?}"
        );
    }
}

#[test]
fn records_that_cannot_be_read_are_named_with_their_deletion_and_answered_with_2() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.push().success();
    host.clone_to("job").hydrate(&["push"]).success();
    for (number, name) in ["refs/hydrate/branches", "refs/notes/hydrator.metadata"].iter().enumerate() {
        let host = host.copy_to(&format!("garbage{number}.git"));
        let blob = host.git(&["hash-object", "-w", "HEAD"]);
        host.git(&["update-ref", name, &blob]);
        let clone = host.clone_to(&format!("clone-of-garbage{number}"));
        let job = host.clone_to(&format!("job-of-garbage{number}"));
        job.git(&["config", "hydrate.settingsRef", "refs/hydrate/config"]);
        clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
        clone.push().success();
        for _ in 0..2 {
            let told = job.hydrate(&["push"]).exits(2);
            let expected = format!("what origin has in `{name}` cannot be read: that was not pushed, all else was");
            assert!(told.stderr.contains(&expected), "{told:?}");
            assert!(told.stderr.contains(&format!("hint: git push origin --delete {name}\n")), "{told:?}");
            assert!(!format!("{told:?}").contains("git hydrate doctor` on the server"), "{told:?}");
            assert!(host.git(&["show", "environments/dev:web/manifest.yaml"]).contains("more"), "{told:?}");
        }
        let told = job.hydrate(&["doctor", "origin"]).exits(1).stdout;
        assert!(told.contains(&format!("what origin has in `{name}` cannot be read")), "{told}");
        job.git(&["push", "-q", "origin", "--delete", name]);
        job.hydrate(&["push"]).success();
        assert!(refs(&host).contains(name), "{}", refs(&host));
        healthy(&host);
    }
}

#[test]
fn a_branch_beside_which_git_cannot_make_another_is_named_and_holds_back_no_other() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    host.git(&["update-ref", "refs/heads/environments/prod/old", "main"]);
    let job = host.clone_to("job");
    let said = job.hydrate(&["push"]).exits(1).stdout;
    assert!(said.contains("`environments/prod` and `environments/prod/old` cannot both be branches"), "{said}");
    assert!(host.git(&["show", "environments/dev:web/manifest.yaml"]).contains("name: web"), "{said}");
    job.git(&["push", "-q", "origin", "--delete", "environments/prod/old"]);
    job.hydrate(&["push"]).success();
    assert!(host.git(&["show", "environments/prod:web/manifest.yaml"]).contains("name: web"));
}

/// A run that was killed in the middle of a push.
#[test]
fn what_a_killed_push_left_in_the_clone_is_never_pushed() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.push().success();
    let job = host.clone_to("job");
    for name in ["refs/hydrate-pushing/heads/environments", "refs/hydrate-pushing/tags/left"] {
        job.git(&["update-ref", name, "HEAD"]);
    }
    job.hydrate(&["push"]).success();
    assert!(!refs(&host).contains("refs/tags/left"), "{}", refs(&host));
    assert!(host.git(&["show", "environments/dev:web/manifest.yaml"]).contains("name: web"));
    assert_eq!(job.git(&["for-each-ref", "refs/hydrate-pushing"]), "");
}

/// What is said of each branch, and by what a branch is ours, without the order in which it came to be.
fn said(host: &Repo) -> String {
    let branches = host.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]);
    let notes = host.git(&["for-each-ref", "--format=%(refname) %(tree)", "refs/notes"]);
    let records = host.git(&["for-each-ref", "--format=%(refname) %(tree)", "refs/hydrate"]);
    [branches, notes, records].concat()
}

#[test]
fn jobs_that_share_the_branches_leave_what_one_leaves() {
    let (lab, mut one) = (Lab::new(), Vec::new());
    let host = lab.bare(&[]);
    history(&host, |host| {
        drop(host.clone_to(&format!("job{}", one.len())).hydrate(&["push"]));
        one.push(said(host));
    });
    let (lab, mut shared) = (Lab::new(), Vec::new());
    let host = lab.bare(&[]);
    history(&host, |host| {
        let job = |part: &str, only: &str| {
            let job = host.clone_to(&format!("{part}{}", shared.len()));
            job.hydrate(&["push", "--only", only])
        };
        let prod = job("prod", "environments/prod");
        assert!(!prod.stdout.contains("environments/dev"), "{prod:?}");
        let others = job("others", "!environments/prod");
        assert!(!others.stdout.contains("environments/prod"), "{others:?}");
        assert_eq!(others.code, Some(i32::from(shared.len() == 3)), "{others:?}");
        assert_eq!(prod.code, Some(0), "what fails in other branches is a matter of other jobs: {prod:?}");
        shared.push(said(host));
    });
    healthy(&host);
    for (shared, one) in shared.iter().zip(&one) {
        assert_eq!(shared, one);
    }
    assert_eq!(shared.len(), one.len());
}

#[test]
fn a_job_for_no_branch_says_so() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    dry(&host, &["web"], &["dev"]).push().success();
    let job = host.clone_to("job");
    let pushed = job.hydrate(&["push", "--only", "environment/*"]).exits(0);
    assert!(pushed.stdout.contains("`--only` matches no environment branch"), "{pushed:?}");
    let refused = job.hydrate(&["push", "--only", ""]).exits(2);
    assert!(refused.stderr.contains("--only is empty"), "{refused:?}");
    let refused = job.hydrate(&["push", "--only", "a["]).exits(2);
    assert!(refused.stderr.contains("--only: `a[` is not a valid pattern"), "{refused:?}");
}
