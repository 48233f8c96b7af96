use super::*;

fn read(text: &str) -> Result<Settings, SettingsError> {
    Settings::read(&BTreeMap::from([("settings.yaml".to_owned(), text.as_bytes().to_vec())]))
}

#[test]
fn every_key_that_is_read_has_its_shape() {
    let unknown = reader::read("x: 1").and_then(|value| value.decode::<Settings>());
    let unknown = unknown.expect_err("no such key").to_string();
    let read: Vec<&str> = unknown.split('`').skip(3).step_by(2).collect();
    assert_eq!(keys().collect::<Vec<_>>(), read);
}

#[test]
fn no_settings_are_the_defaults() {
    for text in ["", "# nothing yet\n", "{}\n"] {
        assert_eq!(read(text), Ok(Settings::default()), "{text:?}");
    }
}

#[test]
fn a_password_is_not_set_and_does_not_stop_those_that_have_one() {
    for (text, key) in [
        ("repoURL: ['https://c/d', 'https://me:word@a/b']", "repoURL"),
        ("destinations: {eu: 'https://me:word@a/b'}", "destinations"),
    ] {
        let error = read(text).expect("read").check_passwords().expect_err(text).to_string();
        assert!(error.contains(&format!("{key}: a URL must not contain a password: write `https://a/b`")), "{error}");
    }
    read("repoURL: 'ssh://git@a/b'").expect("read").check_passwords().expect("no password");
}

/// Every key with a value, and what a change of it changes.
///
/// | word | what differs | by |
/// |---|---|---|
/// | `results` | what is known of earlier renders counts no more | [`Settings::basis`] |
/// | `hydrated` | a dry commit is hydrated again | [`Settings::hydrates_as`] |
/// | `bytes` | the files of each branch | [`Settings::makes_the_same_as`] |
/// | `made` | which Applications something makes | [`Settings::finds_as`] |
const KEYS: [(&str, &str); 32] = [
    ("repoURL: https://git.example.com/dry.git", "results hydrated made"),
    ("applications: [applications/**]", "results hydrated"),
    ("dryBranches: [main, release]", "results hydrated"),
    ("madeApplications: true", "results hydrated"),
    ("revisions: true", "results hydrated"),
    ("clusters: [clusters.yaml]", "results hydrated bytes made"),
    ("roots: [{name: root, path: apps}]", "results hydrated made"),
    ("rules: [{match: {name: web-*}, branch: environments/dev, path: web}]", "results hydrated"),
    ("destinations: {eu: https://git.example.com/eu.git}", "results hydrated"),
    ("applicationsTo: deployed", "results hydrated bytes"),
    ("argocdNamespace: gitops", "results hydrated made"),
    ("applicationSets: {web: {parameters: web.yaml}}", "results hydrated made"),
    ("vendorDirectory: third-party", "results hydrated bytes"),
    ("branches: [environments/*]", "results hydrated"),
    ("knownFields: [costCenter]", "results"),
    ("adopt: [environments/old]", "results"),
    ("activePaths: {environments/dev: [team-a, team-b/x]}", "results hydrated bytes"),
    ("onFailure: {application: [environments/dev]}", "results hydrated"),
    ("frozen: {environments/prod: {reason: release, until: 2024-12-24}}", "results"),
    ("profile: argocd", "results hydrated bytes"),
    ("history: tip", "results"),
    ("renderer: exec", "results hydrated bytes"),
    ("kustomize: {buildOptions: --load-restrictor LoadRestrictionsNone, plugins: [k]}", "results hydrated bytes"),
    ("author: {name: Robot, email: robot@example.com}", "results hydrated bytes"),
    ("nondeterministic: [randAlphaNum]", "results hydrated bytes"),
    ("removalLimit: {share: 0.25, atLeast: 5, objectShare: 0.75, objectsAtLeast: 20}", "results"),
    ("limits: {branches: 7}", "results"),
    ("tools: {helm: 4.2.4, kustomize: 5.8.1, environments/*: {argocd: 3.4}}", "hydrated bytes"),
    ("validate: refuse", ""),
    ("kubernetes: 1.34", ""),
    ("crds: [crds]", ""),
    ("silentWarnings: [secret-type]", ""),
];

#[test]
fn a_key_changes_what_it_counts_for_and_nothing_else() {
    let unset = Settings::default();
    let branch = BranchName::new("environments/dev").expect("a branch");
    for (text, expected) in KEYS {
        let set = read(text).expect(text);
        let differs = [
            ("results", unset.basis() != set.basis()),
            ("hydrated", !unset.hydrates_as(&set)),
            ("bytes", !unset.makes_the_same_as(&set, (&branch, &branch))),
            ("made", !unset.finds_as(&set)),
        ];
        let found: Vec<&str> = differs.iter().filter(|(_, differs)| *differs).map(|(word, _)| *word).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
}

#[test]
fn rules_and_destinations_decide_about_copies() {
    let copies = read("applicationsTo: deployed").expect("good settings");
    let branch = BranchName::new("environments/dev").expect("a branch");
    for key in [
        "rules: [{match: {name: web-*}, branch: environments/dev, path: web}]",
        "destinations: {eu: https://git.example.com/eu.git}",
    ] {
        let set = read(&format!("applicationsTo: deployed\n{key}")).expect(key);
        assert!(!copies.makes_the_same_as(&set, (&branch, &branch)), "{key}");
    }
}

#[test]
fn every_key_is_read_back_as_it_was_written() {
    let written = KEYS.map(|(text, _)| text.split(':').next().unwrap_or_default());
    assert_eq!(written.to_vec(), keys().collect::<Vec<_>>());
    let all = KEYS.map(|(text, _)| text).join("\n");
    for text in KEYS.map(|(text, _)| text).into_iter().chain([&*all]) {
        let settings = read(text).expect(text);
        assert_ne!(settings, Settings::default(), "{text}");
        let again = Value::of(&settings).expect("YAML").to_yaml();
        assert_eq!(read(&again), Ok(settings), "{again}");
    }
}

#[test]
fn active_paths_hold_for_the_proposed_branches_of_an_active_branch() {
    let settings = read("activePaths: {env/dev: [a, b/c], env/dev-next-door: [d]}").expect("good settings");
    let rows: &[(&str, &[&str])] = &[
        ("env/dev", &["a", "b/c"]),
        ("env/dev-next", &["a", "b/c"]),
        ("env/dev-next/a", &["a"]),
        ("env/dev-next/b/c", &["b/c"]),
        ("env/dev-next/b", &[]),
        ("env/dev-next-door", &["d"]),
        ("env/devel", &[]),
        ("env", &[]),
    ];
    for (name, expected) in rows {
        let found = settings.active_paths(&BranchName::new(name).expect("a branch"));
        assert_eq!(found.iter().map(RepoPath::as_str).collect::<Vec<_>>(), *expected, "{name}");
    }
}

#[test]
fn mistakes_say_where_they_are() {
    let rows = [
        ("profil: argocd", "yaml:1:1: unknown key `profil`: did you mean `profile`?"),
        ("history: tip\nprofile: helm", "yaml:2:1: `profile` must be `proposal` or `argocd`, not `helm`"),
        ("removalLimit:\n  share: abc", "yaml:2:3: `removalLimit.share` must be a number, not `abc`"),
        ("limits: {makers: -1}", "`limits.makers` must be a whole number, 0 or more, not `-1`"),
        ("author: Robot", "`author` must be a mapping with `name`, `email`, not `Robot`"),
        ("author: {name: Robot}", "`author.email` is missing"),
        (
            "rules:\n- branch: a\n  path: a\n  mach: {}",
            "yaml:4:3: unknown key `rules[0].mach`: did you mean `rules[0].match`?",
        ),
        ("tools: {helmm: 4.2.3}", "unknown key `tools.helmm`: did you mean `tools.helm`?"),
        ("dryBranches: [main, [a]]", "`dryBranches[1]` must be a string, not a list"),
        ("- a", "the settings must be a mapping of keys"),
        ("adopt: [a..b]", "`a..b` is not a valid branch name"),
        ("removalLimit: {share: 2}", "removalLimit.share: must be between 0 and 1"),
        ("removalLimit: {objectShare: -1}", "removalLimit.objectShare: must be between 0 and 1"),
        (
            "tools: {helm: 3.18.0}",
            "`tools.helm`: charts can't render as Helm 3.18.0, which reads numbers as no other version does: take 3.18.1",
        ),
        (
            "tools: {argocd: 2.14}",
            "`tools.argocd`: the tools of Argo CD 2.14 are not known: the nearest that is known is 3.0",
        ),
        (
            "tools: {env/*: {jsonnet: 1}}",
            "`tools.env/*.jsonnet`: Jsonnet can't be evaluated as 1; known are 0.20.0, 0.21.0, 0.22.0",
        ),
        ("tools: {env/*: {helmm: 4.2.3}}", "unknown key `tools.env/*.helmm`: did you mean `tools.env/*.helm`?"),
        (
            "tools: {env/*: 3.4}",
            "unknown key `tools.env/*`; `tools` has `argocd`, `helm`, `kustomize`, `jsonnet`, and mappings by globs of branches",
        ),
        ("activePaths: {dev: [a, a/b]}", "`a/b` is inside `a`"),
        ("activePaths: {dev: [.]}", "`.` is the root"),
        ("{dryBranches: [main], applicationsTo: main}", "applicationsTo: `main` is one of `dryBranches`"),
        ("applicationsTo: a..b", "`a..b` is not a valid branch name"),
        ("repoURL: {a: b}", "`repoURL` must be a string or a list of strings, not a mapping"),
    ];
    for (text, expected) in rows {
        let error = read(text).expect_err(text).to_string();
        assert!(error.starts_with("settings.yaml:") && error.contains(expected), "{text}: {error}");
        assert!(!error.contains("expected") && !error.contains(" at line "), "{text}: {error}");
    }
    let files = BTreeMap::from([("setings.yaml".to_owned(), vec![])]);
    assert!(matches!(Settings::read(&files), Err(SettingsError::UnknownFile(_))));
    let files = [COMMIT_MESSAGE_TEMPLATE, COMMIT_MESSAGE_GO_TEMPLATE].map(|name| (name.to_owned(), b"x".to_vec()));
    assert!(matches!(Settings::read(&BTreeMap::from(files)), Err(SettingsError::TwoTemplates(..))));
}
