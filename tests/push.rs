//! A push is a push: what a real `git push` makes of environment branches, judged by plain git.

mod shared_branches;

use crate::support::{Lab, Repo};

/// An Application that renders the plain files of `apps/<name>/<env>` onto `environments/<env>`.
pub(crate) fn application(name: &str, env: &str) -> (String, String) {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}-{env}
spec:
  destination:
    namespace: {name}
  sourceHydrator:
    drySource:
      repoURL: https://git.example.com/dry.git
      targetRevision: main
      path: apps/{name}/{env}
    syncSource:
      targetBranch: environments/{env}
      path: {name}
"
    );
    (format!("applications/{env}/{name}.yaml"), text)
}

pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  value: {value}\n")
}

/// A clone with the Applications committed, not pushed.
pub(crate) fn dry(server: &Repo, names: &[&str], envs: &[&str]) -> Repo {
    let clone = server.clone_to("clone");
    let mut files = Vec::new();
    for name in names {
        for env in envs {
            files.push(application(name, env));
            files.push((format!("apps/{name}/{env}/config.yaml"), config_map(name, env)));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("feat: all applications", &files);
    clone
}

pub(crate) fn tip(repo: &Repo, branch: &str) -> String {
    repo.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")])
}

fn show(repo: &Repo, what: &str) -> String {
    repo.git(&["show", what])
}

fn names(repo: &Repo, branch: &str) -> Vec<String> {
    repo.git(&["ls-tree", "-r", "--name-only", branch]).lines().map(str::to_owned).collect()
}

pub(crate) fn note(repo: &Repo, branch: &str) -> String {
    repo.git(&["notes", "--ref=hydrator.metadata", "show", &tip(repo, branch)])
}

/// The dry commit that the note of a branch must name.
pub(crate) fn note_of(dry: &str) -> String {
    format!("{{\"drySha\":\"{dry}\"}}")
}

pub(crate) fn healthy(repo: &Repo) {
    assert_eq!(repo.git(&["fsck", "--strict", "--full", "--no-dangling"]), "");
}

/// Runs a test with what the cache knows and without: both end with the same refs, to the last id, in a sound repository.
pub(crate) fn both(test: fn(&Repo)) {
    let [with, without] = ["true", "false"].map(|cache| {
        let lab = Lab::new();
        let server = lab.server();
        server.git(&["config", "hydrate.cache", cache]);
        test(&server);
        healthy(&server);
        server.git(&["for-each-ref", "--format=%(objectname) %(refname)"])
    });
    assert_eq!(with, without);
}

/// That the commits are the same when they are made again, and the notes right.
#[track_caller]
pub(crate) fn verified(server: &Repo) {
    let told = server.hydrate(&["verify"]);
    assert_eq!((told.code, told.stdout.contains("differ")), (Some(0), false), "{told:?}");
}

#[test]
fn a_push_hydrates_every_environment() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    let dry_commit = clone.git(&["rev-parse", "HEAD"]);
    let answer = clone.push().success();
    for env in ["dev", "prod"] {
        let branch = format!("environments/{env}");
        assert_eq!(
            names(&server, &branch),
            [
                ".gitattributes",
                "api/README.md",
                "api/hydrator.metadata",
                "api/manifest.yaml",
                "hydrator.metadata",
                "web/README.md",
                "web/hydrator.metadata",
                "web/manifest.yaml"
            ]
        );
        let manifest = show(&server, &format!("{branch}:web/manifest.yaml"));
        assert_eq!(manifest, format!("apiVersion: v1\ndata:\n  value: {env}\nkind: ConfigMap\nmetadata:\n  name: web"));
        assert_eq!(note(&server, &branch), note_of(&dry_commit));
        let log = server.git(&["log", "--format=%s", &branch]);
        let subject = format!("{}: feat: all applications", &dry_commit[..7]);
        assert_eq!(log.lines().collect::<Vec<_>>(), [subject.as_str(), &format!("Initial commit for {branch}")]);
        assert!(answer.remote().iter().any(|line| line.starts_with(&branch)), "{answer:?}");
    }
    healthy(&server);
}

#[test]
fn only_what_changed_moves() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    let before = [tip(&server, "environments/dev"), tip(&server, "environments/prod")];
    let second = clone.commit("fix: web", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
    clone.push().success();
    assert_eq!(server.git(&["rev-parse", "environments/dev~1"]), before[0]);
    let changed = server.git(&["diff", "--name-only", "environments/dev~1", "environments/dev"]);
    let expected = ["hydrator.metadata", "web/README.md", "web/hydrator.metadata", "web/manifest.yaml"];
    assert_eq!(changed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(tip(&server, "environments/prod"), before[1]);
    for env in ["dev", "prod"] {
        assert_eq!(note(&server, &format!("environments/{env}")), note_of(&second));
    }
    let third = clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.push().success();
    assert_eq!(tip(&server, "environments/prod"), before[1]);
    assert_eq!(note(&server, "environments/dev"), note_of(&third));
    healthy(&server);
}

#[test]
fn every_dry_commit_has_its_hydrated_commit() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let commits: Vec<String> = (1..=4)
        .map(|n| {
            let text = config_map("web", &format!("v{}", n / 2));
            clone.commit(&format!("change {n}"), &[("apps/web/dev/config.yaml", &text)])
        })
        .collect();
    clone.push().success();
    let log = server.git(&[
        "log",
        "--reverse",
        "--format=%(trailers:key=Hydrate-Dry,valueonly,separator=)",
        "environments/dev",
    ]);
    let hydrated: Vec<&str> = log.lines().skip(2).collect();
    assert_eq!(hydrated, [commits[0].as_str(), &commits[1], &commits[3]], "the third changes no manifest");
    assert_eq!(note(&server, "environments/dev"), note_of(&commits[3]));
}

#[test]
fn a_mistake_holds_back_its_branch_only_and_the_next_push_heals() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    let prod = tip(&server, "environments/prod");
    let (api_dev, api_prod) = ("apps/api/dev/config.yaml", "apps/api/prod/config.yaml");
    clone.commit(
        "break prod",
        &[
            (api_prod, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: api\n"),
            (api_dev, &config_map("api", "new")),
        ],
    );
    let answer = clone.push().success();
    let said = answer.remote().join("\n");
    assert!(said.contains("apps/api/prod/config.yaml:4:1"), "{said}");
    assert_eq!(tip(&server, "environments/prod"), prod);
    assert!(show(&server, "environments/dev:api/manifest.yaml").contains("value: new"));
    let status = server.hydrate(&["status"]).exits(1);
    assert!(status.stdout.contains("apps/api/prod/config.yaml:4:1"), "{status:?}");
    let healed = clone.commit("mend prod", &[(api_prod, &config_map("api", "mended"))]);
    clone.push().success();
    assert!(show(&server, "environments/prod:api/manifest.yaml").contains("value: mended"));
    assert_eq!(note(&server, "environments/prod"), note_of(&healed));
    server.hydrate(&["status"]).success();
    healthy(&server);
}

#[test]
fn an_application_file_that_does_not_parse_removes_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let (file, text) = application("web", "dev");
    clone.commit("a stray tab", &[(&file, &text.replace("      path:", "\tpath:"))]);
    let answer = clone.push().success();
    assert!(answer.remote().join("\n").contains("applications/dev/web.yaml:"), "{answer:?}");
    assert_eq!(tip(&server, "environments/dev"), before);
}

#[test]
fn what_leaves_the_dry_tree_leaves_its_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["a", "b", "c", "d", "e", "f"], &["dev"]);
    clone.push().success();
    let file = |name: &str| application(name, "dev").0;
    clone.commit("remove a", &[(&file("a"), "")]);
    let answer = clone.push().success();
    assert!(answer.remote().contains(&"removed a with 1 object"), "{answer:?}");
    assert!(!names(&server, "environments/dev").iter().any(|name| name.starts_with("a/")));
    let before = tip(&server, "environments/dev");
    clone.commit("remove too many", &[(&file("b"), ""), (&file("c"), ""), (&file("d"), "")]);
    let answer = clone.push().success();
    assert!(answer.remote().join(" ").contains("Hydrate-Allow-Removal: environments/dev"), "{answer:?}");
    assert_eq!(tip(&server, "environments/dev"), before);
    clone.commit("yes\n\nHydrate-Allow-Removal: environments/dev", &[]);
    clone.push().success();
    let directories: Vec<String> =
        server.git(&["ls-tree", "-d", "--name-only", "environments/dev"]).lines().map(str::to_owned).collect();
    assert_eq!(directories, ["e", "f"]);
    healthy(&server);
}

#[test]
fn a_push_that_was_missed_is_made_up_for_by_the_next_of_anything() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    server.git(&["config", "core.hooksPath", "/nonexistent"]);
    clone.push().success();
    assert_eq!(server.git(&["for-each-ref", "refs/heads/environments"]), "");
    server.git(&["config", "--unset", "core.hooksPath"]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/unrelated"]);
    assert!(show(&server, "environments/dev:web/manifest.yaml").contains("value: dev"));
}

#[test]
fn a_laptop_makes_the_commits_that_the_server_made() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.hydrate(&["--offline"]).success();
    let local = |branch: &str| clone.git(&["rev-parse", &format!("refs/remotes/hydrate/environments/{branch}")]);
    let first = [local("dev"), local("prod")];
    clone.push().success();
    assert_eq!([tip(&server, "environments/dev"), tip(&server, "environments/prod")], first);
    clone.git(&["fetch", "-q"]);
    clone.commit("one", &[("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    clone.hydrate(&[]).success();
    let second = [local("dev"), local("prod")];
    assert_ne!(first, second);
    clone.push().success();
    assert_eq!([tip(&server, "environments/dev"), tip(&server, "environments/prod")], second);
}

#[test]
fn a_staging_branch_starts_at_its_sync_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("web", "dev");
    clone.commit("stage", &[(&file, &format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n"))]);
    clone.push().success();
    assert_eq!(server.git(&["rev-parse", "environments/dev-next~1"]), tip(&server, "environments/dev"));
    assert_eq!(names(&server, "environments/dev"), [""; 0]);
    assert!(names(&server, "environments/dev-next").contains(&"web/manifest.yaml".to_owned()));
    clone.commit("docs: nothing rendered", &[("NOTES", "text")]);
    clone.push().success();
    let notes = server.git(&["notes", "--ref=hydrator.metadata", "list"]);
    assert!(!notes.contains(&tip(&server, "environments/dev")), "a sync branch has no note of ours");
    healthy(&server);
}

#[test]
fn a_branch_of_somebody_else_is_never_overwritten() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/environments/dev"]);
    let before = tip(&server, "environments/dev");
    let answer = clone.push().success();
    assert!(answer.remote().join(" ").contains("was not made by hydration"), "{answer:?}");
    assert_eq!(tip(&server, "environments/dev"), before);
}

#[test]
fn manifests_of_another_renderer_are_committed_like_ours() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let dry = clone.commit("feat: something", &[("README", "dry")]);
    clone.push().success();
    let date = clone.git(&["show", "-s", "--format=%cI", "HEAD"]);
    let request = |manifest: &str| {
        format!(
            r##"{{"repoURL": "https://git.example.com/dry.git", "targetBranch": "environments/dev", "drySHA": "{dry}",
            "commitAuthor": "Dev Eloper <dev@example.com>", "commitMessage": "feat: something",
            "commitTime": "{date}",
            "details": [{{"path": "web", "manifests": [{manifest:?}], "readme": "# web\n"}}]}}"##
        )
    };
    let manifest = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}"#;
    server.hydrate_with(&["commit"], &request(manifest)).success();
    let first = tip(&server, "environments/dev");
    assert!(show(&server, "environments/dev:web/manifest.yaml").starts_with("apiVersion: v1\nkind: ConfigMap"));
    assert_eq!(show(&server, "environments/dev:web/README.md"), "# web");
    assert_eq!(note(&server, "environments/dev"), note_of(&dry));
    server.hydrate_with(&["commit"], &request(manifest)).success();
    assert_eq!(tip(&server, "environments/dev"), first, "nothing changed");
    let answer = server.hydrate_with(&["commit"], &request("{}")).exits(1);
    assert!(answer.stdout.contains("`details`: `web`"), "{answer:?}");
    server.hydrate_with(&["commit"], "{}").exits(2);
    // What says something else than the dry commit is refused, not passed over.
    for (field, from, to) in [
        ("commitAuthor", "Dev Eloper <", "Other <"),
        ("commitMessage", "\"feat: something\"", "\"fix: something\""),
        ("commitTime", &date, "2024-03-27T10:32:04Z"),
    ] {
        let answer = server.hydrate_with(&["commit"], &request(manifest).replace(from, to)).exits(1);
        assert!(answer.stdout.contains(&format!("`{field}`: the dry commit has ")), "{answer:?}");
    }
    // The form of our own files is taken.
    let readable = clone.git(&["show", "-s", "--date=format:%Y-%m-%d %H:%M:%S +02:00", "--format=%cd", "HEAD"]);
    server.hydrate_with(&["commit"], &request(manifest).replace(&date, &readable)).success();
    healthy(&server);
}

#[test]
fn files_beside_ours_stay() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.promoter");
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "env", "origin/environments/dev"]);
    clone.commit("an owner file", &[("OWNERS", "us\n"), ("web/notes.txt", "mine\n")]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/dev"]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    clone.push().success();
    assert_eq!(show(&server, "environments/dev:OWNERS"), "us");
    assert_eq!(show(&server, "environments/dev:web/notes.txt"), "mine");
    assert!(show(&server, "environments/dev:web/manifest.yaml").contains("value: new"));
}

#[test]
fn every_kind_of_repository_is_hydrated() {
    let rows: [&[&str]; 4] = [
        &["--object-format=sha256"],
        &["--ref-format=reftable"],
        &["--object-format=sha256", "--ref-format=reftable"],
        &["--shared=group"],
    ];
    for args in rows {
        let lab = Lab::new();
        let server = lab.bare(args);
        server.install_without_settings();
        let clone = dry(&server, &["web"], &["dev"]);
        clone.push().success();
        let second = clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
        clone.push().success();
        assert!(show(&server, "environments/dev:web/manifest.yaml").contains("value: new"), "{args:?}");
        assert_eq!(note(&server, "environments/dev"), note_of(&second), "{args:?}");
        clone.hydrate(&[]).success();
        let local = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
        assert_eq!(local, tip(&server, "environments/dev"), "{args:?}");
        healthy(&server);
    }
}

#[test]
fn a_push_through_a_symbolic_ref_counts_for_its_branch() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["symbolic-ref", "HEAD", "refs/heads/elsewhere"]);
    server.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/alias"]);
    assert!(names(&server, "environments/dev").contains(&"web/manifest.yaml".to_owned()));
}

#[test]
fn a_rewound_dry_branch_is_hydrated_at_its_new_tip() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("one", &[("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let other = clone.commit("other", &[("apps/web/dev/config.yaml", &config_map("web", "other"))]);
    clone.git(&["push", "-q", "--force", "origin", "HEAD"]);
    assert_eq!(server.git(&["rev-parse", "environments/dev~1"]), before, "history is never rewritten");
    assert!(show(&server, "environments/dev:web/manifest.yaml").contains("value: other"));
    assert_eq!(note(&server, "environments/dev"), note_of(&other));
}

#[test]
fn settings_shape_what_is_written() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = dry(&server, &["web"], &["dev"]);
    let settings = server.clone_to("settings");
    settings.git(&["checkout", "-q", "--orphan", "settings"]);
    let commit = |message: &str, files: &[(&str, &str)]| {
        settings.commit(message, files);
        settings.git(&["push", "-q", "--force", "origin", "HEAD:refs/hydrate/config"]);
    };
    commit(
        "robot",
        &[
            ("settings.yaml", "author: {name: Robot, email: robot@example.com}\n"),
            ("README.md.j2", "Application {{ applications[0].metadata.name }}\n"),
            ("commit-message.j2", "{{ metadata.subject }} on {{ branch }}\n"),
        ],
    );
    clone.push().success();
    assert_eq!(show(&server, "environments/dev:web/README.md"), "Application web-dev");
    let log = server.git(&["log", "-1", "--format=%an <%ae>|%s", "environments/dev"]);
    assert_eq!(log, "Robot <robot@example.com>|feat: all applications on environments/dev");
    let before = tip(&server, "environments/dev");
    commit("other words", &[("README.md.j2", "It is {{ applications[0].metadata.name }}\n")]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(show(&server, "environments/dev:web/README.md"), "It is web-dev");
    assert_eq!(server.git(&["rev-parse", "environments/dev~1"]), before);
    clone.hydrate(&[]).success();
    let local = clone.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
    assert_eq!(local, tip(&server, "environments/dev"));
    // By hand on the server, where nothing looks at them.
    settings.commit("a slip", &[("settings.yaml", "profil: argocd\n")]);
    server.git(&["fetch", "-q", "../settings", "+HEAD:refs/hydrate/config"]);
    let answer = clone.run("git", &["push", "origin", "HEAD:refs/heads/other"]).success();
    assert!(answer.remote().join(" ").contains("unknown key `profil`"), "{answer:?}");
}

#[test]
fn each_run_leaves_a_line_in_the_log() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.log", "hydrate.log"]);
    dry(&server, &["web"], &["dev"]).push().success();
    let log = server.file("hydrate.log").expect("written");
    let line: serde_json::Value = serde_json::from_str(log.trim_end()).expect("one line of JSON");
    assert_eq!(line["branches"][0]["outcome"], "moved");
}

#[test]
fn paths_that_differ_in_case_only_are_told() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (path, text) = application("api", "dev");
    let text = text.replace("\n      path: api\n", "\n      path: Web\n");
    clone.commit("another", &[(&path, &text), ("apps/api/dev/config.yaml", &config_map("api", "x"))]);
    let answer = clone.push().success();
    let told = answer.remote().join("\n");
    assert!(told.contains("differs from the `Web` of `api-dev` only in case"), "{told}");
    assert!(names(&server, "environments/dev").contains(&"web/manifest.yaml".to_owned()), "{told}");
}

#[test]
fn a_file_that_is_too_large_for_applications_removes_none() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let (path, text) = application("web", "dev");
    let comment = "# nothing that matters\n".repeat(300_000);
    clone.commit("explain everything", &[(&path, &format!("{text}{comment}"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("a file of 6 MiB is too large for Applications"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before, "{told}");
    // What only describes Applications is none.
    let schema =
        format!("kind: CustomResourceDefinition\nspec: {{names: {{kind: Application}}}}\n# sourceHydrator\n{comment}");
    clone.commit("explain elsewhere", &[(&path, &text), ("crds.yaml", &schema)]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error:"), "{told}");
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")), "{told}");
}
