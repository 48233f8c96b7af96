use std::sync::Arc;

use super::*;
use crate::argo::read;

/// One Application of one line: name, URL, revision, dry path, sync branch, sync path, staging branch.
#[derive(Clone, Copy)]
struct App {
    name: &'static str,
    url: &'static str,
    revision: &'static str,
    dry: &'static str,
    sync: (&'static str, &'static str),
    staging: Option<&'static str>,
}

const WEB: App =
    App { name: "web", url: URL, revision: "main", dry: "apps/web", sync: ("env/dev", "web"), staging: None };
const API: App = App { name: "api", sync: ("env/dev", "api"), ..WEB };
const URL: &str = "https://git.example.com/shop/dry";

/// Everything is at its default but what a row changes.
struct Repository {
    dry_branches: &'static [&'static str],
    branches: &'static [&'static str],
    urls: &'static [&'static str],
    allowed: &'static [&'static str],
    directories: &'static [&'static str],
    follows: bool,
}

const REPOSITORY: Repository = Repository {
    dry_branches: &["main"],
    branches: &["main", "release"],
    urls: &[URL],
    allowed: &[],
    directories: &["apps/web", "apps/api"],
    follows: false,
};

/// Each Application in a file of its own, so that the place tells which it is.
fn applications(apps: &[App]) -> Vec<Arc<Application>> {
    let parse = |(index, app): (usize, &App)| {
        let staging = app.staging.map(|branch| format!(", hydrateTo: {{targetBranch: {branch}}}")).unwrap_or_default();
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: {}}}, spec: {{sourceHydrator: {{\n\
             drySource: {{repoURL: '{}', targetRevision: '{}',\npath: {}}},\n\
             syncSource: {{targetBranch: {},\npath: {}}}{staging}}}}}}}",
            app.name, app.url, app.revision, app.dry, app.sync.0, app.sync.1
        );
        let file = read(&RepoPath::new(&format!("{index}.yaml")).expect("plain"), text.as_bytes());
        assert_eq!(file.all_diagnostics().next(), None, "{text}");
        file.documents.into_iter().next().and_then(|document| document.application).expect("one Application")
    };
    apps.iter().enumerate().map(parse).collect()
}

fn judge(apps: &[App], repository: &Repository) -> Verdict {
    with_context(repository, |context| validate(&applications(apps), context))
}

fn with_context<T>(repository: &Repository, judge: impl FnOnce(&Context<'_>) -> T) -> T {
    let branch = |name: &&str| BranchName::new(name).expect("good");
    let main = branch(&"main");
    let context = Context {
        dry_branch: &main,
        head_branch: Some(&main),
        dry_branches: &repository.dry_branches.iter().map(branch).collect(),
        branches: &repository.branches.iter().map(branch).collect(),
        repo_urls: &repository.urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>(),
        allowed: &Patterns::new(repository.allowed).expect("good patterns"),
        copies: None,
        is_directory: &|path| repository.directories.contains(&path.as_str()),
        follows: repository.follows,
        is_tag: &|_| false,
        is_shared: &|_| false,
    };
    judge(&context)
}

/// What is found, a line each: whom it is about, where, and what; without names, which rows have more than once.
fn findings(verdict: &Verdict) -> Vec<String> {
    let is_of_names = |line: &String| line.contains("more than one Application");
    all_findings(verdict).into_iter().filter(|line| !is_of_names(line)).collect()
}

fn all_findings(verdict: &Verdict) -> Vec<String> {
    let line = |finding: &Finding| {
        let span = finding.diagnostic.span.as_ref().expect("every finding has a place");
        let severity = if finding.diagnostic.is_error() { "" } else { "warning: " };
        format!("{:?} {}:{} {severity}{}", finding.applications, span.path, span.line, finding.diagnostic.message)
    };
    verdict.findings.iter().map(line).collect()
}

#[track_caller]
fn check(apps: &[App], repository: &Repository, expected: &[&str]) {
    let verdict = judge(apps, repository);
    assert_eq!(findings(&verdict), expected);
}

#[test]
fn which_applications_are_hydrated() {
    use Standing::*;
    for (revision, expected) in [
        ("main", Hydrated),
        ("refs/heads/main", Hydrated),
        ("HEAD", Hydrated),
        ("", Hydrated),
        ("release", OtherBranch),
        ("refs/heads/release", OtherBranch),
        ("refs/tags/main", Pinned),
        ("v1.2.3", Pinned),
        ("1.*", Pinned),
        (">=1.0 <2", Pinned),
        ("8843d7f9", Pinned),
        ("8843d7f92416211de9ebb963ff4ce28125932878", Pinned),
        ("mian", Pinned),
    ] {
        let verdict = judge(&[App { revision, ..WEB }], &REPOSITORY);
        assert_eq!(verdict.standings, [expected], "{revision}");
        // That an Application is left alone is reported, but not of those that another branch has, too.
        assert_eq!(verdict.findings.len(), usize::from(expected == Pinned), "{revision}");
        assert!(verdict.findings.iter().all(|finding| !finding.diagnostic.is_error()), "{revision}");
    }
}

#[test]
fn what_is_not_hydrated_is_in_nobodys_way() {
    let verdict = judge(
        &[WEB, App { name: "old", revision: "v1", ..WEB }, App { name: "other", revision: "release", ..WEB }],
        &REPOSITORY,
    );
    assert_eq!(findings(&verdict), ["[1] 1.yaml:2 warning: `v1` is a version: pinned, not hydrated on push"]);
}

#[test]
fn repositories_that_are_set() {
    let other = App { url: "https://git.example.com/shop/other", ..API };
    let ssh = App { url: "git@git.example.com:shop/dry.git", ..API };
    let cased = App { url: "git@git.example.com:Shop/dry.git", ..API };
    let is_other =
        "[1] 1.yaml:2 warning: `drySource.repoURL` names another repository: this Application is not hydrated here";
    check(&[WEB, other], &REPOSITORY, &[is_other]);
    check(&[WEB, ssh], &REPOSITORY, &[]);
    check(&[WEB, cased], &REPOSITORY, &[is_other]);
    check(&[WEB, cased], &Repository { urls: &[URL, "ssh://git@git.example.com/Shop/dry"], ..REPOSITORY }, &[]);
    let hint = |app| judge(&[WEB, app], &REPOSITORY).findings[0].diagnostic.hint.clone();
    let line = "this one is https://git.example.com/shop/dry; if both are one, on the server: git hydrate config add \
                repoURL https://git.example.com/shop/other";
    assert_eq!(hint(other).as_deref(), Some(line));
    let line = line.replace("https://git.example.com/shop/other", "git@git.example.com:Shop/dry.git");
    let line = &*line;
    assert_eq!(hint(cased).as_deref(), Some(line));
    let hostile = App { url: "https://git.example.com/shop/dry/?$(reboot)", ..API };
    let repository = Repository { urls: &[], ..REPOSITORY };
    let hint = judge(&[WEB, hostile], &repository).findings[0].diagnostic.hint.clone();
    let line = "set the right one on the server: git hydrate config set repoURL URL";
    assert_eq!(hint.as_deref(), Some(line));
}

#[test]
fn repositories_that_are_inferred() {
    let repository = Repository { urls: &[], ..REPOSITORY };
    check(&[WEB, API], &repository, &[]);
    check(&[WEB, App { url: "https://GIT.example.com/shop/dry.git/", ..API }], &repository, &[]);
    check(&[], &repository, &[]);

    let other = App { url: "https://git.example.com/shop/other", ..API };
    let verdict = judge(&[WEB, other], &repository);
    let unclear = "[0, 1] 1.yaml:2 the URL of this repository is not set, and Applications name several: \
                   `https://git.example.com/shop/other` here, `https://git.example.com/shop/dry` elsewhere";
    assert_eq!(findings(&verdict), [unclear]);
    assert_eq!(verdict.standings, [Standing::OtherRepository; 2]);

    let none = App { dry: "apps/none", sync: ("env/dev", "none"), ..API };
    let verdict = judge(&[WEB, none], &repository);
    let unproven = "[0, 1] 1.yaml:3 `apps/none` does not exist, so it cannot be determined whether \
                    `https://git.example.com/shop/dry` is this repository";
    assert_eq!(findings(&verdict), [unproven]);
    assert_eq!(verdict.standings, [Standing::OtherRepository; 2]);
    // Another branch has other directories.
    check(&[WEB, App { dry: "apps/none", revision: "release", ..API }], &repository, &[]);

    // Two prove it, so a third that is wrong is wrong alone.
    check(&[WEB, API, none], &repository, &[]);
    let is_other =
        "[2] 2.yaml:2 warning: `drySource.repoURL` names another repository: this Application is not hydrated here";
    check(&[WEB, API, other], &repository, &[is_other]);
    // Most of them are elsewhere.
    let elsewhere = App { dry: "apps/none", ..other };
    let most = [WEB, API, elsewhere, elsewhere, elsewhere];
    assert_eq!(judge(&most, &repository).standings, [Standing::OtherRepository; 5]);
}

#[test]
fn urls_that_are_proven_for_good() {
    let repository = Repository { urls: &[], ..REPOSITORY };
    let root = App { dry: ".", ..WEB };
    let other = App { url: "https://git.example.com/shop/other", ..API };
    let rows: &[(&str, &[App], Option<&str>)] = &[
        ("two", &[WEB, API], Some(URL)),
        ("one is too few", &[WEB], None),
        ("the root is everywhere", &[WEB, root, root], None),
        ("half", &[WEB, API, other, other], None),
        ("more than half", &[WEB, API, other], Some(URL)),
        ("by either way", &[WEB, App { url: "git@git.example.com:shop/dry.git", ..API }], Some(URL)),
        ("of another branch", &[WEB, App { revision: "release", ..API }], None),
        ("none", &[], None),
    ];
    for (name, apps, expected) in rows {
        let applications = applications(apps);
        let proven = with_context(&repository, |context| proven_repository(&applications, context).map(str::to_owned));
        assert_eq!(proven.as_deref(), *expected, "{name}");
    }
}

#[test]
fn one_directory_for_each() {
    let at = |path| App { sync: ("env/dev", path), ..API };
    check(&[WEB, API], &REPOSITORY, &[]);
    check(&[WEB, at("web-eu"), at("we"), at("x/web")], &REPOSITORY, &[]);
    check(&[WEB, App { sync: ("env/prod", "web"), ..API }], &REPOSITORY, &[]);
    check(&[WEB, at("web")], &REPOSITORY, &["[0, 1] 1.yaml:5 `web` on `env/dev` is already written by `web`"]);
    check(&[WEB, at("./x/..//web/")], &REPOSITORY, &["[0, 1] 1.yaml:5 `web` on `env/dev` is already written by `web`"]);
    check(
        &[WEB, at("web"), at("web")],
        &REPOSITORY,
        &[
            "[0, 1] 1.yaml:5 `web` on `env/dev` is already written by `web`",
            "[0, 2] 2.yaml:5 `web` on `env/dev` is already written by `web`",
        ],
    );
    let inside = "[0, 1] 1.yaml:5 `web/eu/west` on `env/dev` is inside `web`, which `web` writes";
    check(&[WEB, at("web/eu/west")], &REPOSITORY, &[inside]);
    check(
        &[at("web/eu"), WEB],
        &REPOSITORY,
        &["[0, 1] 1.yaml:5 `web` on `env/dev` contains `web/eu`, which `api` writes"],
    );
    // Where the manifests go is decided by the staging branch, not by the sync branch.
    let staged = |app| App { staging: Some("env/next"), ..app };
    check(
        &[staged(WEB), staged(at("web"))],
        &REPOSITORY,
        &["[0, 1] 1.yaml:5 `web` on `env/next` is already written by `web`"],
    );
}

#[test]
fn branches_that_are_not_for_manifests() {
    let to = |branch| App { sync: (branch, "web"), ..WEB };
    let dry = |branch| format!("[0] 0.yaml:4 `{branch}` is a dry branch: hydration would overwrite its own source");
    check(&[to("main")], &REPOSITORY, &[&dry("main")]);
    check(&[to("release")], &Repository { dry_branches: &["main", "release"], ..REPOSITORY }, &[&dry("release")]);
    check(&[to("release")], &REPOSITORY, &[]);
    let staged = App { staging: Some("main"), ..WEB };
    check(&[staged], &REPOSITORY, &["[0] 0.yaml:5 `main` is a dry branch: hydration would overwrite its own source"]);
    let deployed = App { sync: ("main", "web"), staging: Some("next"), ..WEB };
    check(&[deployed], &REPOSITORY, &[&dry("main")]);

    let only_env = Repository { allowed: &["env/"], ..REPOSITORY };
    check(&[WEB], &only_env, &[]);
    check(&[to("prod")], &only_env, &["[0] 0.yaml:4 the settings do not allow hydration to `prod`"]);
    // A sync branch that is missing is made.
    let staged = App { staging: Some("env/next"), ..to("prod") };
    check(&[staged], &only_env, &["[0] 0.yaml:4 the settings do not allow hydration to `prod`"]);
}

#[test]
fn branches_and_directories() {
    let to = |branch| App { sync: (branch, "api"), ..API };
    let conflict = |who: &str, place: &str, branch: &str, other: &str| {
        format!("{who} {place} `{branch}` and `{other}` cannot both be branches: one would be a directory of the other")
    };
    check(&[WEB, to("env/dev-next")], &REPOSITORY, &[]);
    check(&[WEB, to("env/dev/next")], &REPOSITORY, &[&conflict("[0, 1]", "1.yaml:4", "env/dev/next", "env/dev")]);
    check(&[to("env/dev/next"), WEB], &REPOSITORY, &[&conflict("[0, 1]", "0.yaml:4", "env/dev/next", "env/dev")]);
    let staged = App { staging: Some("env/dev/next"), ..WEB };
    check(&[staged], &REPOSITORY, &[&conflict("[0]", "0.yaml:5", "env/dev/next", "env/dev")]);
    let existing = Repository { branches: &["main", "env", "x/y"], ..REPOSITORY };
    check(&[WEB], &existing, &[&conflict("[0]", "0.yaml:4", "env/dev", "env")]);
    check(&[to("x")], &existing, &[&conflict("[0]", "0.yaml:4", "x", "x/y")]);
    // Of two that Applications name, the one that exists is right.
    let inner = Repository { branches: &["main", "env/dev", "env/prod"], ..REPOSITORY };
    let both = [WEB, App { name: "other", sync: ("env/prod", "other"), ..API }, to("env")];
    check(&both, &inner, &[&conflict("[2]", "2.yaml:4", "env", "env/dev")]);
    check(&[WEB, to("env")], &existing, &[&conflict("[0]", "0.yaml:4", "env/dev", "env")]);
    check(&[WEB], &Repository { branches: &["main", "env/dev"], ..REPOSITORY }, &[]);
    check(&[WEB], &Repository { branches: &["main", "env/de", "env/dev-x/y"], ..REPOSITORY }, &[]);
}

#[test]
fn names_of_one_argo_cd() {
    let named = |name, branch, path| App { name, sync: (branch, path), ..API };
    let warnings = |apps: &[App]| all_findings(&judge(apps, &REPOSITORY));
    let one = ["[0, 1] 1.yaml:1 warning: more than one Application has the name `web`"];
    assert_eq!(warnings(&[WEB, named("web", "env/dev", "x")]), one);
    // Each environment may have an Argo CD of its own.
    assert_eq!(warnings(&[WEB, named("web", "env/prod", "web")]), [""; 0]);
    let two = [WEB, API, named("web", "env/dev", "x"), named("api", "env/dev", "z")];
    let told = "[0, 1, 2, 3] 3.yaml:1 warning: 2 names are those of more than one Application: `api`, `web`";
    assert_eq!(warnings(&two), [told]);
}

#[test]
fn staging_branches() {
    let staged = |app: App, sync, staging| App { sync: (sync, app.name), staging: Some(staging), ..app };
    check(&[staged(WEB, "dev", "dev-next"), staged(API, "dev", "dev-next")], &REPOSITORY, &[]);
    check(&[staged(WEB, "dev", "next"), staged(API, "prod", "prod-next")], &REPOSITORY, &[]);
    check(
        &[staged(WEB, "dev", "next"), staged(API, "prod", "next")],
        &REPOSITORY,
        &["[0, 1] 1.yaml:4 `next` is the staging branch of `prod` here, but of `dev` elsewhere"],
    );
    check(
        &[staged(WEB, "dev", "dev-next"), App { sync: ("dev", "api"), ..API }],
        &REPOSITORY,
        &["[0, 1] 1.yaml:4 `dev` is hydrated directly here, but promoted from `dev-next` elsewhere"],
    );
    // A staging branch of its own name is none.
    check(&[staged(WEB, "dev", "dev"), App { sync: ("dev", "api"), ..API }], &REPOSITORY, &[]);
}

#[test]
fn the_order_of_applications_does_not_matter() {
    let apps = [
        WEB,
        API,
        App { sync: ("env/dev", "web/eu"), ..API },
        App { sync: ("env", "x"), ..API },
        App { url: "x", ..API },
    ];
    let mut applications = applications(&apps);
    let judge = |applications: &[Arc<Application>]| {
        let main = BranchName::new("main").expect("good");
        let branches = BTreeSet::from([main.clone()]);
        let context = Context {
            dry_branch: &main,
            head_branch: None,
            dry_branches: &branches,
            branches: &branches,
            repo_urls: &[URL.to_owned()],
            allowed: &Patterns::default(),
            copies: None,
            is_directory: &|_| true,
            follows: false,
            is_tag: &|_| false,
            is_shared: &|_| false,
        };
        validate(applications, &context).findings.into_iter().map(|finding| finding.diagnostic).collect::<Vec<_>>()
    };
    let expected = judge(&applications);
    assert_eq!(expected.len(), 4);
    applications.reverse();
    assert_eq!(judge(&applications), expected);
}

#[test]
fn what_names_a_tag_a_range_or_a_commit() {
    use Standing::*;
    let id = "0123456789abcdef0123456789abcdef01234567";
    let follows = Repository { follows: true, ..REPOSITORY };
    for (revision, expected) in [
        ("main", Hydrated),
        ("HEAD", Hydrated),
        ("release", OtherBranch),
        ("refs/heads/release", OtherBranch),
        ("v1.4.0", Hydrated),
        ("refs/tags/prod", Hydrated),
        ("~1.4", Hydrated),
        ("prod", Hydrated),
        (id, Hydrated),
    ] {
        let verdict = judge(&[App { revision, ..WEB }], &follows);
        assert_eq!(verdict.standings, [expected], "{revision}");
        assert_eq!(findings(&verdict), [""; 0], "{revision}");
        let is_branch = ["main", "HEAD", "release", "refs/heads/release"].contains(&revision);
        let named: Vec<&str> = verdict.revisions.values().map(String::as_str).collect();
        assert_eq!(named, if is_branch { vec![] } else { vec![revision] }, "{revision}");
    }
    // Without the setting they stay as they are, and the hint names it.
    let pinned = judge(&[App { revision: "v1.4.0", ..WEB }], &REPOSITORY);
    assert_eq!(pinned.standings, [Pinned]);
    let hint = pinned.findings.first().and_then(|finding| finding.diagnostic.hint.clone()).unwrap_or_default();
    assert!(hint.contains("git hydrate config set revisions true"), "{hint}");
    assert!(pinned.revisions.is_empty());
}

#[test]
fn one_revision_a_branch_and_no_promoter() {
    let follows = Repository { follows: true, ..REPOSITORY };
    let tag = App { revision: "v1.4.0", ..WEB };
    check(&[tag, App { revision: "v1.4.0", ..API }], &follows, &[]);
    check(&[tag, App { revision: "v1.3.0", sync: ("env/prod", "api"), ..API }], &follows, &[]);
    let differ = |other: &str| {
        format!("[0, 1] 1.yaml:2 the Applications of `env/dev` name `{other}` here, but `v1.4.0` elsewhere")
    };
    check(&[tag, App { revision: "v1.3.0", ..API }], &follows, &[&differ("v1.3.0")]);
    check(&[tag, API], &follows, &[&differ("main")]);
    let promoted = "[0] 0.yaml:2 `v1.4.0` is not a branch, and `env/dev-next` is promoted: a promoter waits there for each dry commit";
    check(&[App { staging: Some("env/dev-next"), ..tag }], &follows, &[promoted]);
}
