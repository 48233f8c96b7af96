//! What must hold on Gitea and under GitOps Promoter, where it is no matter of notifying: set-up, rights, dates.

use std::fs;

use serde_json::Value;

use crate::push::{application, config_map, dry};
use crate::support::{Answer, Lab, Repo};
use crate::tell::gitea;

/// A clone with an Application in two environments, each with a staging branch below which `dir` is; nothing is pushed.
fn staged(host: &Repo, dir: &str) -> Repo {
    let clone = host.clone_to("clone");
    for env in ["dev", "prod"] {
        let (path, text) = application("web", env);
        let text = format!("{text}    hydrateTo: {{targetBranch: environments/{env}-next{dir}}}\n");
        let config = format!("apps/web/{env}/config.yaml");
        clone.commit(env, &[(&path, &text), (&config, &config_map("web", "1"))]);
    }
    clone
}

fn push_by(clone: &Repo, pusher: &str, refspec: &str, variables: &[(&str, &str)]) -> Answer {
    let mut command = clone.command("git");
    command.args(["push", "origin", refspec]).env("GITEA_PUSHER_NAME", pusher).envs(variables.iter().copied());
    Answer::new(command.output().expect("runs"))
}

fn flat(text: &str) -> String {
    text.replace("remote: ", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn doctor_sees_keys_as_the_platforms_git_does() {
    let lab = Lab::new();
    let host = gitea(&lab);
    host.git(&["config", "--unset", "hydrate.guard"]);
    fs::write(lab.path("system"), "[hydrate]\n\tguard = true\n").expect("written");
    let mut doctor = host.command("git-hydrate");
    doctor.args(["doctor", "."]).env_remove("GIT_CONFIG_NOSYSTEM").env("GIT_CONFIG_SYSTEM", lab.path("system"));
    let found = Answer::new(doctor.output().expect("runs")).exits(1).stdout;
    assert!(found.contains("hydrated branches are not guarded"), "{found}");
    assert!(found.contains("hydrate.guard is set for the whole machine") && found.contains("app.ini"), "{found}");
}

#[test]
#[ignore = "only root can give files to another user; as root: cargo test -- --ignored"]
fn files_of_another_user_do_not_configure_the_doctor() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let config = lab.path("data/home/.gitconfig");
    fs::create_dir_all(config.parent().expect("a directory")).expect("made");
    fs::write(&config, "[receive]\n\tprocReceiveRefs = refs/for\n[hydrate]\n\tstrict = tuched\n").expect("written");
    let reads_it = || {
        let mut doctor = host.command("git-hydrate");
        doctor.args(["doctor", "--all", ".."]).env_remove("GIT_CONFIG_NOSYSTEM");
        Answer::new(doctor.output().expect("runs")).stdout.contains("hydrate.strict is `tuched`")
    };
    assert!(reads_it(), "the platform's own file is not read");
    std::os::unix::fs::chown(&config, Some(12345), None).expect("given away");
    assert!(!reads_it(), "anybody who may write above a repository says what runs");
}

#[test]
fn a_deploy_key_has_not_the_rights_of_the_owner() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.push().success();
    host.git(&["config", "--add", "hydrate.promoter", "dana"]);
    host.hydrate(&["install", "--server"]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promotion", "origin/environments/dev"]);
    clone.commit("by hand", &[("NOTES", "text")]);
    let to = "HEAD:environments/dev";
    push_by(&clone, "dana", to, &[("GITEA_DEPLOY_KEY_ID", "7")]).exits(1);
    push_by(&clone, "dana", to, &[("GITEA_DEPLOY_KEY_ID", "0")]).success();
    clone.commit("again", &[("NOTES", "more")]);
    clone.git(&["pull", "-q", "--no-rebase", "origin", "environments/dev"]);
    host.git(&["config", "--add", "hydrate.promoter", "deploy-key:7"]);
    push_by(&clone, "dana", to, &[("GITEA_DEPLOY_KEY_ID", "7")]).success();
}

#[test]
fn wikis_forks_and_mirrors_are_left_out_of_all() {
    let lab = Lab::new();
    for name in ["config", "config.wiki", "copy", "copy-of-renamed", "mirror", "moved"] {
        let repo = Repo::at(&lab, &format!("all/{name}.git"));
        fs::create_dir_all(&repo.path).expect("made");
        repo.git(&["init", "-q", "--bare"]);
    }
    let all = lab.path("all");
    let remote = |name: &str, url: &str| {
        Repo::at(&lab, &format!("all/{name}.git")).git(&["config", "remote.origin.url", url]);
    };
    remote("copy", all.join("config.git").to_str().expect("UTF-8"));
    remote("copy-of-renamed", all.join("gone.git").to_str().expect("UTF-8"));
    remote("moved", "https://git.example.com/shop/other.git");
    remote("mirror", "https://git.example.com/shop/original.git");
    Repo::at(&lab, "all/mirror.git").git(&["config", "remote.origin.fetch", "+refs/*:refs/*"]);
    let told = lab.bare(&[]).hydrate(&["install", "--server", "--all", all.to_str().expect("UTF-8")]).success().stdout;
    assert!(told.contains("a wiki is left out") && told.contains("config.git is left out"), "{told}");
    assert!(
        told.contains("gone.git is left out")
            && told.contains("a mirror of https://git.example.com/shop/original.git is left out"),
        "{told}"
    );
    // The command that installs in it would be refused.
    let mirror = Repo::at(&lab, "all/mirror.git").hydrate(&["doctor"]).stdout;
    assert!(mirror.contains("nothing is hydrated here") && !mirror.contains("install --server"), "{mirror}");
    let rows =
        [("config", true), ("config.wiki", false), ("copy", false), ("copy-of-renamed", false), ("mirror", false)];
    for (name, expected) in rows.into_iter().chain([("moved", true)]) {
        assert_eq!(all.join(format!("{name}.git/hooks/post-receive")).exists(), expected, "{name}");
    }
}

#[test]
fn doctor_says_of_reflogs_what_they_record_on_a_platform() {
    let lab = Lab::new();
    let host = gitea(&lab);
    host.git(&["config", "--unset", "core.logAllRefUpdates"]);
    let told = host.hydrate(&["doctor"]).stdout;
    assert!(told.contains("there are no reflogs, which record when a branch moved\n"), "{told}");
    let told = Lab::new().bare(&[]).hydrate(&["doctor"]).stdout;
    assert!(told.contains("there are no reflogs, which record who moved a branch\n"), "{told}");
}

#[test]
fn who_may_not_promote_reads_all_that_must_be_set() {
    let lab = Lab::new();
    let host = gitea(&lab);
    assert_eq!(host.git(&["config", "hydrate.pusherVariable"]), "GITEA_PUSHER_NAME");
    let clone = staged(&host, "");
    // The variable is set already, and whom to name is not for who pushes to say.
    let commands = "git config --add hydrate.promoter NAME && git config --add hydrate.promoted environments/dev";
    let told = push_by(&clone, "dana", "HEAD:main", &[]).success();
    // The commands are on a line of their own, to be copied.
    let lines = told.remote();
    let hint = lines.iter().position(|line| line.starts_with("hint: no account may promote yet; an admin names one"));
    assert!(hint.is_some_and(|at| lines[at + 1].starts_with(commands)), "{lines:?}");
    let installed = host.hydrate(&["install", "--server"]).success().stdout;
    let doctor = host.hydrate(&["doctor"]).stdout;
    let all = |git: &str| {
        let each = format!("{commands} && git config --add hydrate.promoted environments/prod");
        format!("{} && git hydrate install --server ", each.replace("git config", &format!("{git} config")))
    };
    let git = format!("git -C {}", host.path.display());
    // Who promotes by hand writes to no staging branch.
    let staging = ["dev", "prod"].map(|env| format!("{git} config --add hydrate.promoted environments/{env}-next"));
    let staging = format!("{} && git hydrate install --server ", staging.join(" && "));
    for said in [&installed, &doctor] {
        assert!(said.contains("(hydrateTo), and no account may promote\n") && said.contains(&all(&git)), "{said}");
        assert!(said.contains("GitOps Promoter merges into staging branches too") && said.contains(&staging), "{said}");
        assert!(said.contains("a rule for `environments/**` with pushes disabled"), "{said}");
    }
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promotion", "origin/environments/dev"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/dev-next"]);
    for to in ["HEAD:environments/dev", "HEAD:environments/dev-next"] {
        let refused = flat(&push_by(&clone, "bot", to, &[]).exits(1).stderr);
        assert!(refused.contains("no account may promote yet") && refused.contains(commands), "{refused}");
        assert!(!refused.contains("bot") && !refused.contains("pusherVariable"), "{refused}");
    }
    // One who may elsewhere.
    host.git(&["config", "--add", "hydrate.promoter", "bot"]);
    host.git(&["config", "--add", "hydrate.promoted", "staging/*"]);
    let refused = flat(&push_by(&clone, "bot", "HEAD:environments/dev", &[]).exits(1).stderr);
    let command = "git config --add hydrate.promoted environments/dev";
    assert!(
        refused.contains(&format!(
            "bot may to other branches); to have them do so, an admin runs on the server: {command}"
        )),
        "{refused}"
    );
    assert!(
        host.hydrate(&["doctor"]).stdout.contains("no account may promote to environments/dev, environments/prod\n")
    );
    host.git(&["config", "--add", "hydrate.promoted", "environments/*"]);
    host.hydrate(&["install", "--server"]).success();
    push_by(&clone, "bot", "HEAD:environments/dev", &[]).success();
    clone.git(&["checkout", "-q", "-b", "production", "origin/environments/prod"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/prod-next"]);
    let refused = flat(&push_by(&clone, "dana", "HEAD:environments/prod", &[]).exits(1).stderr);
    let expected =
        "bot may; to name another account, an admin runs on the server: git config --add hydrate.promoter NAME";
    assert!(refused.contains(expected) && !refused.contains("dana"), "{refused}");
    let settings = flat(&push_by(&clone, "dana", "HEAD:refs/hydrate/config", &[]).exits(1).stderr);
    assert!(!settings.contains("dana") && !settings.contains("pusherVariable"), "{settings}");
    // One that a button deletes comes back by two commands: the platform hears of no ref that an admin writes.
    let dev = host.git(&["rev-parse", "environments/dev"]);
    host.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("words", &[("NOTES", "text")]);
    let told = flat(&push_by(&clone, "dana", "HEAD:main", &[]).success().stderr);
    let cure = format!("git update-ref refs/heads/environments/dev {dev} && git hydrate tell --again environments/dev");
    assert!(told.contains(&cure) && host.hydrate(&["status"]).stdout.contains(&cure), "{told}");
}

#[test]
fn a_date_never_goes_back_on_a_branch() {
    let lab = Lab::new();
    let host = lab.server();
    let clone = staged(&host, "");
    let dated = |value: &str, date: &str| {
        fs::write(clone.path.join("apps/web/dev/config.yaml"), config_map("web", value)).expect("written");
        let mut commit = clone.command("git");
        commit.args(["commit", "-q", "-a", "-m", value]).env("GIT_COMMITTER_DATE", date).env("GIT_AUTHOR_DATE", date);
        Answer::new(commit.output().expect("runs")).success();
        clone.push().success();
        let text = host.git(&["show", "environments/dev-next:hydrator.metadata"]);
        let metadata: Value = serde_json::from_str(&text).expect("JSON");
        let committed = host.git(&["log", "-1", "--format=%ct", "environments/dev-next"]);
        (metadata["date"].as_str().expect("a date").to_owned(), committed.parse::<i64>().expect("a number"))
    };
    let (first, first_at) = dated("2", "2026-03-02T10:00:00Z");
    assert_eq!(first, "2026-03-02T10:00:00Z");
    let (older, older_at) = dated("3", "2026-03-01T10:00:00Z");
    assert_eq!((older, older_at), (first.clone(), first_at + 1));
    // A rewind to where the date was older.
    clone.git(&["reset", "-q", "--hard", "HEAD~2"]);
    clone.git(&["push", "-q", "--force", "origin", "HEAD"]);
    let (rewound, _) = dated("4", "2026-02-01T10:00:00Z");
    assert_eq!(rewound, first);
    assert_eq!(host.hydrate(&["verify"]).success().stderr, "");
    // Argo CD's own files say the date of the commit, and a push warns.
    host.hydrate(&["config", "set", "profile", "argocd"]).success();
    fs::write(clone.path.join("apps/web/dev/config.yaml"), config_map("web", "5")).expect("written");
    clone.git(&["commit", "-q", "-a", "-m", "five", "--date", "2026-01-01T10:00:00Z"]);
    let mut amend = clone.command("git");
    amend.args(["commit", "-q", "--amend", "--no-edit"]).env("GIT_COMMITTER_DATE", "2026-01-01T10:00:00Z");
    Answer::new(amend.output().expect("runs")).success();
    let told = flat(&clone.push().success().stderr);
    assert!(told.contains("a promoter holds later environments back"), "{told}");
}

#[test]
fn what_is_promoted_by_directory_has_to_be_set_once() {
    let lab = Lab::new();
    let host = lab.server();
    let clone = staged(&host, "/web");
    let warning = "and the setting `activePaths` does not say so";
    let told = flat(&clone.push().success().stderr);
    assert!(told.contains(warning) && told.contains("config set activePaths.environments/dev '[web]'"), "{told}");
    let doctor = host.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains(warning), "{doctor}");
    let check = flat(&clone.hydrate(&["check"]).stdout);
    assert!(check.contains(warning), "{check}");
    for env in ["dev", "prod"] {
        host.hydrate(&["config", "set", &format!("activePaths.environments/{env}"), "[web]"]).success();
    }
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "2"))]);
    let told = flat(&clone.push().success().stderr);
    assert!(!told.contains("activePaths"), "{told}");
    let files = host.git(&["ls-tree", "--name-only", "environments/dev-next/web"]);
    assert_eq!(files, "web", "nothing is at the root, where two directories would meet");
    assert!(host.git(&["show", "environments/dev-next/web:web/hydrator.metadata"]).contains("\"subject\""));
    host.hydrate(&["verify"]).success();
}

#[test]
fn a_copy_of_a_hydrated_commit_is_a_promotion_and_a_forged_one_is_not() {
    let lab = Lab::new();
    let host = gitea(&lab);
    let clone = staged(&host, "");
    for (key, value) in [("promoter", "bot"), ("promoted", "environments/*")] {
        host.git(&["config", "--add", &format!("hydrate.{key}"), value]);
    }
    push_by(&clone, "dana", "HEAD:main", &[]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promotion", "origin/environments/dev"]);
    clone.git(&["cherry-pick", "origin/environments/dev-next"]);
    push_by(&clone, "bot", "HEAD:environments/dev", &[]).success();
    host.hydrate(&["verify"]).success();
    let message = host.git(&["log", "-1", "--format=%B", "environments/prod-next"]);
    let parent = host.git(&["rev-parse", "environments/prod-next~1"]);
    let forged = host.git(&["commit-tree", &format!("{parent}^{{tree}}"), "-p", &parent, "-m", &message]);
    host.git(&["update-ref", "refs/heads/environments/prod-next", &forged]);
    host.hydrate(&["verify"]).exits(1);
}
