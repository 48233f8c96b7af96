//! The jobs that `docs/hosts.md` shows for hosts without hooks: the shell of each of their steps is run, against a remote on disk.

use std::fs;

use serde_json::Value;

use crate::push::{config_map, dry, note, note_of, tip};
use crate::readme::{charts, only_charts};
use crate::readme_yaml::{blocks, documents};
use crate::support::{Lab, Repo};
use crate::vendor::files_of;

/// The block below the heading `Recipes` that has `key` at its top.
fn recipe(key: &str) -> Value {
    let blocks = blocks().into_iter().filter(|(heading, _)| heading == "Recipes");
    let mut parsed = blocks.flat_map(|(_, text)| documents(&text));
    parsed.find(|value| value.get(key).is_some()).unwrap_or_else(|| panic!("no recipe with {key}"))
}

/// The shell of the steps of a job of GitHub Actions, in order.
fn steps(job: &str) -> Vec<String> {
    let recipe = recipe("jobs");
    let steps = recipe["jobs"][job]["steps"].as_array().expect("steps");
    let runs: Vec<String> = steps.iter().filter_map(|step| step["run"].as_str().map(str::to_owned)).collect();
    assert!(!runs.is_empty(), "{job}");
    runs
}

/// The shell of a job of GitLab.
fn script(job: &str) -> Vec<String> {
    let recipe = recipe(job);
    let lines = recipe[job]["script"].as_array().expect("a script");
    lines.iter().map(|line| line.as_str().expect("text").to_owned()).collect()
}

/// Runs each text as runners do: with `-e`.
fn run(repo: &Repo, texts: &[String], variables: &[(&str, &str)]) {
    for text in texts {
        let mut command = repo.command("sh");
        command.args(["-ec", text]).envs(variables.iter().copied());
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A host with a dry branch that nobody hydrated.
fn host(lab: &Lab) -> (Repo, Repo) {
    let host = lab.bare(&[]);
    for key in ["receive.advertisePushOptions", "uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        host.git(&["config", key, "true"]);
    }
    let clone = dry(&host, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    (host, clone)
}

fn url(host: &Repo) -> String {
    format!("file://{}", host.path.display())
}

/// What `actions/checkout` makes of a commit: without `depth` all branches, else it alone.
///
/// Reference: actions/checkout v4 src/ref-helper.ts, src/git-source-provider.ts.
fn checkout(lab: &Lab, host: &Repo, (name, commit): (&str, &str), depth: Option<&str>) -> Repo {
    let job = Repo::at(lab, name);
    host.git(&["init", "-q", job.path.to_str().expect("UTF-8")]);
    job.git(&["remote", "add", "origin", &url(host)]);
    match depth {
        Some(depth) => job.git(&["fetch", "-q", "--no-tags", depth, "origin", commit]),
        None => job.git(&["fetch", "-q", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*", commit]),
    };
    job.git(&["checkout", "-q", "--force", "FETCH_HEAD"]);
    job.git(&["checkout", "-q", "--force", commit]);
    job
}

fn is_hydrated(host: &Repo) {
    for branch in ["environments/dev", "environments/prod"] {
        assert_eq!(note(host, branch), note_of(&tip(host, "main")), "{branch}");
    }
}

/// A commit on a branch of its own that changes what is deployed, and the merge that a host makes of it.
fn pull_request(host: &Repo, clone: &Repo) -> String {
    clone.git(&["switch", "-q", "-c", "topic"]);
    let commit = clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "previewed"))]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/pull/3/head"]);
    host.git(&["update-ref", "refs/pull/3/merge", &commit]);
    commit
}

#[test]
fn github_actions_hydrate_a_push() {
    let lab = Lab::new();
    let (host, clone) = host(&lab);
    let job = checkout(&lab, &host, ("job1", &tip(&host, "main")), Some("--depth=1"));
    run(&job, &steps("push"), &[]);
    is_hydrated(&host);
    for value in ["one", "two"] {
        clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    }
    clone.push().success();
    let job = checkout(&lab, &host, ("job2", &tip(&host, "main")), Some("--depth=1"));
    run(&job, &steps("push"), &[]);
    is_hydrated(&host);
    // One for each of the three dry commits, after the empty one that the branch starts with.
    assert_eq!(host.git(&["rev-list", "--count", "environments/dev"]), "4");
}

#[test]
fn github_actions_preview_a_pull_request() {
    let lab = Lab::new();
    let (host, clone) = host(&lab);
    clone.hydrate(&["push"]).success();
    let commit = pull_request(&host, &clone);
    lab.program("gh", "#!/bin/sh\n[ \"$1\" = api ] && [ ! -e ../known ] && exit\n[ \"$2\" = --paginate ] && exec echo 7\necho \"$@\" >>../gh\ncat preview.md >>../gh\n");
    let job = checkout(&lab, &host, ("job", &commit), None);
    run(&job, &steps("preview"), &[("PAGE", "https://git.example.com/page"), ("NUMBER", "3")]);
    let told = fs::read_to_string(lab.path("gh")).expect("written");
    let start = "pr comment 3 --body-file preview.md\n<!-- git-hydrate diff -->\n[The whole preview](https://git.example.com/page)\n";
    assert!(told.starts_with(start), "{told}");
    assert!(told.contains("environments/dev") && told.contains("previewed"), "{told}");
    fs::write(lab.path("known"), "").expect("written");
    let issues = ("ISSUES", "repos/shop/dry/issues");
    run(&job, &steps("preview"), &[("PAGE", "https://git.example.com/page"), ("NUMBER", "3"), issues]);
    let told = fs::read_to_string(lab.path("gh")).expect("written");
    let replaced = "api --silent --method PATCH repos/shop/dry/issues/comments/7 --field body=@preview.md\n";
    assert!(told.contains(replaced), "{told}");
    assert!(job.file("preview.html").expect("written").contains("previewed"));
    let sarif: Value = serde_json::from_str(&job.file("check.sarif").expect("written")).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let before = host.git(&["for-each-ref"]);
    // Without a change it goes through too.
    let job = checkout(&lab, &host, ("same", &tip(&host, "main")), None);
    run(&job, &steps("preview"), &[("PAGE", ""), ("NUMBER", "4")]);
    assert_eq!(host.git(&["for-each-ref"]), before);
}

#[test]
fn github_actions_propose_newer_charts() {
    let lab = Lab::new();
    let server = files_of(charts(&lab));
    let config = fs::read_to_string(lab.path("home/.gitconfig")).expect("there");
    fs::write(lab.path("home/.gitconfig"), config + "\tvendorAllow = http://127.0.0.1\n").expect("written");
    lab.program("gh", "#!/bin/sh\necho \"$@\" >>../gh\n");
    let host = lab.bare(&[]);
    let clone = host.clone_to("clone");
    let files = only_charts(&lab, &server.url());
    clone.run("cp", &["-R", &format!("{}/.", files.display()), "."]).success();
    clone.commit("charts", &[]);
    clone.push().success();
    let job = checkout(&lab, &host, ("job", &tip(&host, "main")), Some("--depth=1"));
    run(&job, &steps("vendor"), &[]);
    let gh = fs::read_to_string(lab.path("gh")).expect("written");
    assert_eq!(gh, "pr create --head vendor --fill\n");
    let names = host.git(&["diff", "--name-only", "main", "vendor"]);
    assert!(names.contains("Chart.yaml"), "{names}");
    // Nothing is proposed where nothing is newer.
    host.git(&["update-ref", "refs/heads/main", "vendor"]);
    let job = checkout(&lab, &host, ("again", &tip(&host, "main")), Some("--depth=1"));
    run(&job, &steps("vendor"), &[]);
    assert_eq!(fs::read_to_string(lab.path("gh")).expect("written"), gh);
}

#[test]
fn gitlab_hydrates_and_previews() {
    let lab = Lab::new();
    let (host, clone) = host(&lab);
    let job = checkout(&lab, &host, ("job1", &tip(&host, "main")), Some("--depth=20"));
    run(&job, &[script("hydrate").join("\n")], &[("HYDRATE_URL", &url(&host))]);
    is_hydrated(&host);
    let commit = pull_request(&host, &clone);
    let job = checkout(&lab, &host, ("job2", &commit), None);
    run(&job, &[script("preview").join("\n")], &[]);
    assert!(job.file("preview.html").expect("written").contains("previewed"));
}

#[test]
fn a_job_of_kubernetes_hydrates() {
    let lab = Lab::new();
    let (host, _) = host(&lab);
    let recipe = recipe("apiVersion");
    let container = &recipe["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["command"], serde_json::json!(["sh", "-ec"]));
    let text = container["args"][0].as_str().expect("text").to_owned();
    run(&host, &[text], &[("REPO", &url(&host))]);
    is_hydrated(&host);
}
