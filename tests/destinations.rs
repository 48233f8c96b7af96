//! Other repositories as destinations: real pushes to a server, which pushes on to real repositories.

use std::fs;

use crate::push::{application, both, config_map, dry, healthy, note_of, tip, verified};
use crate::support::{Answer, Lab, Repo};

mod hostile;
mod trouble;

/// The URL of a destination, as Applications have it.
fn url(name: &str) -> String {
    format!("https://git.example.com/{name}.git")
}

/// An empty repository beside a server, which the settings and the git configuration of the server lead to.
pub(crate) fn destination(server: &Repo, name: &str) -> Repo {
    let there = beside(server, name);
    server.git(&["init", "-q", "--bare", there.path.to_str().expect("UTF-8")]);
    lead_to(server, name, &there);
    there
}

fn beside(server: &Repo, name: &str) -> Repo {
    server.beside(&format!("{name}.git"))
}

fn lead_to(server: &Repo, name: &str, there: &Repo) {
    let path = there.path.to_str().expect("UTF-8");
    server.git(&["config", &format!("hydrate.destination.{name}.pushURL"), path]);
    server.hydrate(&["config", "set", &format!("destinations.{name}"), &url(name)]).success();
}

/// An Application that is hydrated to another repository.
fn to(name: &str, env: &str, destination: &str) -> (String, String) {
    let (path, text) = application(name, env);
    let sync = format!("    syncSource:\n      repoURL: {}\n", url(destination));
    (path.replace("applications/", &format!("applications/{destination}/")), text.replace("    syncSource:\n", &sync))
}

/// A clone with Applications, and with what they render.
fn committed(server: &Repo, applications: &[(String, String)]) -> Repo {
    let clone = server.clone_to("clone");
    let mut files = applications.to_vec();
    for name in ["web", "api"] {
        for env in ["dev", "prod"] {
            files.push((format!("apps/{name}/{env}/config.yaml"), config_map(name, env)));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("feat: all applications", &files);
    clone
}

/// The branches and notes of a repository.
fn refs(repo: &Repo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname)"])
}

fn refs_and_ids(repo: &Repo) -> String {
    repo.git(&["for-each-ref"])
}

fn out(server: &Repo, destination: &str, branch: &str) -> String {
    server.git(&["rev-parse", "--verify", &format!("refs/hydrate/out/{destination}/{branch}")])
}

/// What a pusher was told, on one line.
fn told(answer: &Answer) -> String {
    answer.remote().join(" ")
}

#[test]
fn what_is_hydrated_for_another_repository_is_pushed_there() {
    both(|server| {
        let eu = destination(server, "eu");
        let clone = committed(server, &[to("web", "dev", "eu"), application("api", "dev")]);
        let first = clone.git(&["rev-parse", "HEAD"]);
        let said = told(&clone.push().success());
        assert!(said.contains("eu:environments/dev") && said.contains("pushed to `eu`: environments/dev"), "{said}");
        assert_eq!(refs(&eu), "refs/heads/environments/dev\nrefs/notes/hydrator.metadata");
        assert_eq!(tip(&eu, "environments/dev"), out(server, "eu", "environments/dev"));
        let note = |branch: &str| eu.git(&["notes", "--ref=hydrator.metadata", "show", branch]);
        assert_eq!(note("environments/dev"), note_of(&first));
        let message = eu.git(&["log", "-1", "--format=%B", "environments/dev"]);
        assert!(message.contains("Hydrate-Branch: eu:environments/dev\n"), "{message}");
        // The branch of the same name here is another one.
        assert_ne!(tip(server, "environments/dev"), tip(&eu, "environments/dev"));
        let files = |repo: &Repo| repo.git(&["ls-tree", "-r", "--name-only", "environments/dev"]);
        assert!(files(&eu).contains("web/manifest.yaml") && !files(&eu).contains("api/"), "{}", files(&eu));
        assert!(files(server).contains("api/manifest.yaml") && !files(server).contains("web/"), "{}", files(server));

        // Each dry commit has its commit and its note there, in order.
        clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        let third = clone.commit("web: three", &[("apps/web/dev/config.yaml", &config_map("web", "three"))]);
        let before = tip(&eu, "environments/dev");
        clone.push().success();
        assert_eq!(eu.git(&["rev-list", "--count", &format!("{before}..environments/dev")]), "2");
        assert_eq!(note("environments/dev"), note_of(&third));
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 3);

        // A dry commit that changes nothing there moves the note.
        let fourth = clone.commit("docs", &[("README", "text")]);
        let before = tip(&eu, "environments/dev");
        clone.push().success();
        assert_eq!((tip(&eu, "environments/dev"), note("environments/dev")), (before, note_of(&fourth)));
        healthy(&eu);
        verified(server);

        // An Application that leaves goes there too.
        let limit = "Drop web\n\nHydrate-Allow-Removal: eu:environments/dev";
        clone.commit(limit, &[(&to("web", "dev", "eu").0, "")]);
        clone.push().success();
        assert!(!files(&eu).contains("web/manifest.yaml"), "{}", files(&eu));
    });
}

#[test]
fn nothing_changes_for_branches_of_this_repository() {
    let tips = [false, true].map(|with| {
        let lab = Lab::new();
        let server = lab.server();
        server.hydrate(&["config", "set", "profile", "proposal"]).success();
        if with {
            server.git(&["config", "hydrate.destination.eu.pushURL", "/nowhere"]);
        }
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        clone.push().success();
        ["dev", "prod"].map(|env| tip(&server, &format!("environments/{env}")))
    });
    assert_eq!(tips[0], tips[1]);
}

#[test]
fn a_destination_that_moves_gets_everything_and_one_that_is_renamed_begins_anew() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    let moved = beside(&server, "moved");
    server.git(&["init", "-q", "--bare", moved.path.to_str().expect("UTF-8")]);
    server.git(&["config", "hydrate.destination.eu.pushURL", moved.path.to_str().expect("UTF-8")]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&moved, "environments/dev"), out(&server, "eu", "environments/dev"));

    let before = tip(&moved, "environments/dev");
    // While the Application has the old URL, that is an error, and its branch stays.
    server.hydrate(&["config", "unset", "destinations.eu"]).exits(1);
    server.git(&["config", "hydrate.destination.us.pushURL", moved.path.to_str().expect("UTF-8")]);
    server.hydrate(&["config", "set", "destinations.us", &url("us")]).success();
    let (path, text) = to("web", "dev", "us");
    let message = "renamed\n\nHydrate-Allow-Removal: eu:environments/dev";
    clone.commit(message, &[(&to("web", "dev", "eu").0, ""), (&path, &text)]);
    let said = told(&clone.push().success());
    assert!(said.contains("not pushed to `us`") && said.contains("which hydration did not make"), "{said}");
    assert_eq!(tip(&moved, "environments/dev"), before);
}

#[test]
fn doctor_asks_each_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let doctor = || server.hydrate(&["doctor"]).stdout;
    assert!(doctor().contains("good     destination `eu` (https://git.example.com/eu.git) can be read; nothing"));
    committed(&server, &[to("web", "dev", "eu")]).push().success();
    let before = refs(&eu);
    assert!(
        doctor().contains("good     destination `eu` (https://git.example.com/eu.git) can be read and pushed to\n")
    );
    assert_eq!(refs(&eu), before);
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    let said = doctor();
    assert!(
        said.contains("bad      destination `eu` (https://git.example.com/eu.git) cannot be pushed to: "),
        "{said}"
    );
    assert!(said.contains("hydrate.destination.eu.pushURL"), "{said}");
}

#[test]
fn a_clone_says_what_it_cannot_see_and_uninstalling_forgets_what_was_pushed() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    let said = clone.hydrate(&["status"]).success().stdout;
    assert_eq!(said.matches("whether it was pushed there: git hydrate status on the server").count(), 1, "{said}");
    let said = server.hydrate(&["status"]).success().stdout;
    assert!(!said.contains("whether"), "{said}");
    let said = server.hydrate(&["uninstall"]).success().stdout;
    assert!(said.contains("hydrate/out: removed"), "{said}");
    assert!(!server.path.join("hydrate/out").exists());
}

#[test]
fn two_destinations_may_have_a_branch_of_one_name() {
    both(|server| {
        let (eu, us) = (destination(server, "eu"), destination(server, "us"));
        let applications = [to("web", "dev", "eu"), to("web", "dev", "us"), application("web", "dev")];
        let clone = committed(server, &applications);
        let said = told(&clone.push().success());
        assert!(!said.contains("error") && !said.contains("warning"), "{said}");
        let tips = [tip(&eu, "environments/dev"), tip(&us, "environments/dev"), tip(server, "environments/dev")];
        assert!(tips[0] != tips[1] && tips[1] != tips[2] && tips[0] != tips[2], "{tips:?}");
        clone.commit("us goes", &[(&applications[1].0, &applications[1].1.replace("path: web\n", "path: moved\n"))]);
        clone.push().success();
        assert_eq!(tip(&eu, "environments/dev"), tips[0]);
        assert!(us.git(&["ls-tree", "-r", "--name-only", "environments/dev"]).contains("moved/manifest.yaml"));
        // Inside of one they collide as ever.
        let second = to("api", "dev", "eu").1.replace("path: api\n", "path: web\n");
        clone.commit("the same place", &[("applications/second.yaml", &second)]);
        let said = told(&clone.push().success());
        assert!(said.contains("`web` on `eu:environments/dev`"), "{said}");
        verified(server);
    });
}

#[test]
fn a_rule_leads_to_another_repository() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let rule = format!("- {{branch: 'env/{{{{ labels.env }}}}', path: '{{{{ name }}}}', repoURL: '{}'}}", url("eu"));
    server.hydrate(&["config", "set", "rules", "--", &rule]).success();
    let source = "source: {repoURL: https://git.example.com/dry.git, targetRevision: HEAD, path: apps/web/dev}";
    let plain = crate::rules::plain("web", "dev", source);
    let clone = committed(&server, &[("applications/web.yaml".to_owned(), plain)]);
    let said = told(&clone.push().success());
    assert!(said.contains("eu:env/dev"), "{said}");
    assert!(eu.git(&["ls-tree", "-r", "--name-only", "env/dev"]).contains("web/manifest.yaml"));
    // A rule leads to no other repository than those that are named.
    let other = rule.replace("/eu.git", "/us.git");
    let answer = server.hydrate(&["config", "set", "rules", "--", &other]).exits(2);
    assert!(answer.stderr.contains("rules.0.repoURL: `https://git.example.com/us.git` is not one of"), "{answer:?}");
}

#[test]
fn copies_lead_to_the_other_repository() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    server.hydrate(&["config", "set", "applicationsTo", "argocd"]).success();
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    clone.push().success();
    let copies = server.git(&["ls-tree", "-r", "--name-only", "argocd"]);
    let copy = |name: &str| {
        let path = copies.lines().find(|path| path.contains(name) && path.ends_with("manifest.yaml")).expect("a copy");
        server.git(&["show", &format!("argocd:{path}")])
    };
    let web = copy("web");
    assert!(web.contains("repoURL: https://git.example.com/eu.git") && !web.contains("dry.git"), "{web}");
    assert!(web.ends_with("targetRevision: environments/dev"), "{web}");
    assert!(copy("api").contains("repoURL: https://git.example.com/dry.git"));
}

#[test]
fn a_promoter_works_at_the_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let (path, text) = to("web", "dev", "eu");
    let text = format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n");
    let clone = committed(&server, &[(path, text)]);
    clone.push().success();
    assert_eq!(
        refs(&eu),
        "refs/heads/environments/dev\nrefs/heads/environments/dev-next\nrefs/notes/hydrator.metadata"
    );
    let promoter = eu.clone_to("promoter");
    let merge = || {
        promoter.git(&["fetch", "-q"]);
        promoter.git(&["checkout", "-q", "-B", "environments/dev", "origin/environments/dev"]);
        promoter.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/dev-next"]);
        promoter.git(&["push", "-q", "origin", "environments/dev"]);
    };
    merge();
    let second = clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let said = told(&clone.push().success());
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "show", "environments/dev-next"]), note_of(&second));
    // What the promoter did there is known here.
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    merge();
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert!(eu.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: two"));
    server.hydrate(&["status"]).success();
}

#[test]
fn notes_that_others_have_there_stay() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let other = eu.clone_to("other");
    let commit = other.commit("theirs", &[("file", "text")]);
    other.git(&["notes", "--ref=hydrator.metadata", "add", "-m", "theirs", &commit]);
    other.git(&["push", "-q", "origin", "HEAD:main", "refs/notes/hydrator.metadata"]);
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "show", &commit]), "theirs");
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
    assert_eq!(tip(&eu, "main"), commit);
    healthy(&eu);
    healthy(&server);
}

#[test]
fn a_clone_shows_the_commits_that_the_server_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("web", "dev")]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    let fetched = clone.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate"]);
    assert!(
        fetched.contains("refs/hydrate/branches") && fetched.contains("refs/hydrate/out/eu/environments/dev"),
        "{fetched}"
    );
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let plan = clone.hydrate(&["plan"]);
    assert!(plan.stdout.contains("eu:environments/dev"), "{plan:?}");
    let shown = clone.hydrate(&["diff"]);
    assert!(shown.stdout.contains("eu:environments/dev") && shown.stdout.contains("value: two"), "{shown:?}");
    let answer = clone.hydrate(&[]).success();
    assert!(answer.stdout.contains("eu:environments/dev"), "{answer:?}");
    let here = clone.git(&["rev-parse", "refs/remotes/hydrate@eu/environments/dev"]);
    clone.push().success();
    assert_eq!(here, tip(&eu, "environments/dev"));
    // What reads history knows it by its name.
    for repo in [&server, &clone] {
        let log = repo.hydrate(&["log", "eu:environments/dev"]).success().stdout;
        assert!(log.contains("web: two"), "{log}");
        repo.hydrate(&["verify", "eu:environments/dev"]).success();
    }
    let log = clone.hydrate(&["log"]).success().stdout;
    assert!(log.contains("eu:environments/dev"), "{log}");
    for what in [&["ConfigMap/web", "eu:environments/dev"][..], &["eu:environments/dev:web/manifest.yaml:4"]] {
        let why = server.hydrate(&[&["explain"], what].concat()).success();
        assert!(why.stdout.contains("apps/web/dev"), "{why:?}");
    }
    let apps = clone.hydrate(&["apps"]).success().stdout;
    assert!(apps.contains("eu:environments/dev"), "{apps}");
}

#[test]
fn a_frozen_branch_of_a_destination_stays() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("web", "dev")]);
    clone.push().success();
    let before = [tip(&eu, "environments/dev"), tip(&server, "environments/dev")];
    server.hydrate(&["config", "set", "frozen.eu:environments/dev", "{reason: release}"]).success();
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    assert_eq!(tip(&eu, "environments/dev"), before[0]);
    assert_ne!(tip(&server, "environments/dev"), before[1]);
    server.hydrate(&["config", "unset", "frozen"]).success();
    assert_ne!(tip(&eu, "environments/dev"), before[0]);
}

#[test]
fn a_worker_pushes_to_destinations_too() {
    let (hook, worker) = (Lab::new(), Lab::new());
    let server = hook.server();
    let expected = destination(&server, "eu");
    let host = worker.bare(&[]);
    let eu = beside(&host, "eu");
    host.git(&["init", "-q", "--bare", eu.path.to_str().expect("UTF-8")]);
    let settings = worker.path("settings");
    let found = |repo: &Repo| repo.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]);
    let mut clones = Vec::new();
    for server in [&server, &host] {
        clones.push(committed(server, &[to("web", "dev", "eu"), application("web", "dev")]));
    }
    let job = |name: &str| {
        let job = host.clone_to(name);
        job.git(&["config", "hydrate.destination.eu.pushURL", eu.path.to_str().expect("UTF-8")]);
        job
    };
    let push = |job: &Repo| job.hydrate(&["push", "--settings", settings.to_str().expect("UTF-8")]);
    for round in 0..3 {
        for clone in &clones {
            let text = config_map("web", &format!("round{round}"));
            clone.set_clock(10 + round);
            clone.commit("web: next", &[("apps/web/dev/config.yaml", &text)]);
            clone.push().success();
        }
        if round == 0 {
            server.hydrate(&["config", "export", settings.to_str().expect("UTF-8")]).success();
        }
        let before = refs_and_ids(&eu);
        let args = ["push", "--dry-run", "--settings", settings.to_str().expect("UTF-8")];
        let rehearsed = job(&format!("dry{round}")).hydrate(&args).success().stdout;
        assert!(rehearsed.contains("would push to `eu`: environments/dev"), "{rehearsed}");
        assert_eq!(refs_and_ids(&eu), before);
        let answer = push(&job(&format!("job{round}"))).success();
        assert!(answer.stdout.contains("pushed to `eu`: environments/dev"), "{answer:?}");
        let trees = |repo: &Repo| repo.git(&["rev-parse", "environments/dev^{tree}"]);
        assert_eq!(trees(&eu), trees(&expected));
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), usize::from(round as u8) + 1);
        assert_eq!(out(&host, "eu", "environments/dev"), tip(&eu, "environments/dev"));
    }
    assert_eq!(found(&eu).lines().count(), 1);

    // What anyone may have written on the host of the dry repository does not count.
    let forged = host.git(&["rev-parse", "main"]);
    host.git(&["update-ref", "refs/hydrate/out/eu/environments/dev", &forged]);
    clones[1].commit("web: last", &[("apps/web/dev/config.yaml", &config_map("web", "last"))]);
    clones[1].push().success();
    let before = tip(&eu, "environments/dev");
    push(&job("unforged")).success();
    assert_eq!(eu.git(&["rev-parse", "environments/dev^"]), before);

    // Away: all else is pushed, and the job fails.
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    clones[1].commit("web: away", &[("apps/web/dev/config.yaml", &config_map("web", "away"))]);
    clones[1].push().success();
    let here = tip(&host, "environments/dev");
    let answer = push(&job("away")).exits(2);
    assert!(answer.stderr.contains("not pushed to `eu`"), "{answer:?}");
    assert_ne!(tip(&host, "environments/dev"), here);
    fs::rename(eu.path.with_extension("away"), &eu.path).expect("moved");
    push(&job("back")).success();
    assert!(eu.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: away"));
}

const NOTES: &str = "refs/notes/hydrator.metadata";
