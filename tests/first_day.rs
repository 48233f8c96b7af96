//! What an admin and a team run into on their first day, and what they are told then.

use std::fs;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::push::dry;
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo};
use crate::truth::pushed;

const CONFIG: &str = "refs/hydrate/config";

/// Has the next `git hydrate config edit` run a script on the file.
fn editor(lab: &Lab, repo: &Repo, script: &str) {
    lab.program("my editor", &format!("#!/bin/sh\n{script}\n"));
    repo.git(&["config", "core.editor", "'my editor'"]);
}

/// Plain Applications with a label, and what they render.
fn plain(clone: &Repo) {
    let application = |env: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web-{env}, labels: {{env: {env}}}}}\n\
             spec:\n  project: default\n  destination: {{server: https://kubernetes.default.svc, namespace: web}}\n  \
             source: {{repoURL: 'https://git.example.com/team/dry.git', targetRevision: main, path: web/{env}}}\n"
        )
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
    let (dev, prod) = (application("dev"), application("prod"));
    clone.commit(
        "Deploy web",
        &[("apps/dev.yaml", &dev), ("apps/prod.yaml", &prod), ("web/dev/a.yaml", map), ("web/prod/a.yaml", map)],
    );
}

const ADOPT: [&str; 4] = ["adopt", "--branch-pattern", "environments/{{ labels.env }}", "--write"];

#[test]
fn a_repository_is_adopted_in_both_orders_of_clone_and_server() {
    for server_first in [true, false] {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        let clone = server.clone_to("clone");
        plain(&clone);
        clone.push().success();
        let install = || {
            server.hydrate(&["install", "--server"]).success();
            server.allow("hydrate.settingsPusher");
        };
        if server_first {
            install();
        }
        let told = clone.hydrate(&ADOPT).success().stdout;
        assert!(told.contains("  git push origin HEAD:main refs/hydrate/config"), "{told}");
        assert_eq!(told.contains("  git hydrate config rebase"), !server_first, "{told}");
        if !server_first {
            install();
            clone.run("git", &["push", "origin", CONFIG]).exits(1);
            let told = clone.hydrate(&["status"]).stderr;
            assert!(
                told.contains("hint: to put those of this clone on top of the server's: git hydrate config rebase"),
                "{told}"
            );
            let told = clone.hydrate(&["config", "set", "history", "tip"]).exits(2).stderr;
            assert!(told.contains("hint: to put those of this clone on top: git hydrate config rebase"), "{told}");
            let told = clone.hydrate(&["config", "rebase"]).success().stdout;
            assert!(told.ends_with("to apply them on the server: git push origin refs/hydrate/config\n"), "{told}");
        }
        clone.run("git", &["push", "origin", CONFIG]).success();
        assert_eq!(server.git(&["rev-parse", CONFIG]), clone.git(&["rev-parse", CONFIG]));
        clone.commit("Go on", &[("notes.txt", "x\n")]);
        let told = clone.push().success();
        server.git(&["rev-parse", "environments/dev", "environments/prod"]);
        assert!(!told.stderr.contains("nothing to hydrate"), "{told:?}");
        let told = clone.hydrate(&["config", "rebase"]).success().stdout;
        assert!(!told.contains("now") && !told.contains("git push"), "{told}");
    }
}

#[test]
fn settings_that_both_sides_changed_are_not_overwritten_without_a_word() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone.hydrate(&["config", "set", "history", "tip", "-m", "Fewer commits"]).success();
    clone.hydrate(&["config", "set", "profile", "argocd"]).success();
    server.hydrate(&["config", "set", "removalLimit.share", "0.25"]).success();
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    clone.hydrate(&["config", "rebase"]).success();
    let get = |key| clone.hydrate(&["config", "get", key, "--offline"]).success().stdout;
    assert_eq!((get("history").as_str(), get("removalLimit.share").as_str()), ("tip\n", "0.25\n"));
    let log = clone.git(&["log", "--format=%s", "-3", CONFIG]);
    assert_eq!(log, "Fewer commits\nsettings: set profile\nsettings: set removalLimit.share");
    server.hydrate(&["config", "set", "history", "every", "-m", "All commits"]).success();
    server.hydrate(&["config", "set", "history", "tip"]).success();
    server.hydrate(&["config", "set", "renderer", "native"]).success();
    clone.hydrate(&["config", "rebase"]).success();
    server.hydrate(&["config", "set", "author", "{name: A, email: a@example.com}"]).success();
    clone.hydrate(&["config", "set", "author", "{name: B, email: a@example.com}", "--offline"]).success();
    let tip = clone.git(&["rev-parse", CONFIG]);
    let told = clone.hydrate(&["config", "rebase"]).exits(2).stderr;
    assert!(told.starts_with("error: `author.name` was changed here and on the server\n"), "{told}");
    assert_eq!(clone.git(&["rev-parse", CONFIG]), tip);
    clone.hydrate(&["config", "rebase", "--mine"]).success();
    assert_eq!(get("author.name"), "B\n");
    let told = server.hydrate(&["config", "rebase"]).exits(2).stderr;
    assert!(told.contains("no remote"), "{told}");
}

/// Where everybody may write them, somebody else's settings may be anything.
#[test]
fn settings_of_a_server_that_cannot_be_read_leave_those_of_the_clone() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone.hydrate(&["config", "set", "profile", "argocd"]).success();
    let ours = clone.git(&["rev-parse", CONFIG]);
    let rows = [
        ("a: [", "have to be corrected there: settings.yaml"),
        (&format!("a: {}", "[".repeat(300_000)), "have to be corrected there: settings.yaml"),
        ("\"a\u{1b}[31m\": 1\n", "have to be corrected there: settings.yaml"),
    ];
    for (text, expected) in rows {
        std::fs::write(lab.path("settings.yaml"), text).expect("written");
        let file = lab.path("settings.yaml").display().to_string();
        let blob = server.git(&["hash-object", "-w", &file]);
        let script = format!("printf '100644 blob {blob}\\tsettings.yaml\\n' | git mktree");
        let tree = server.run("sh", &["-ec", &script]).success().stdout.trim().to_owned();
        let commit = server.git(&["commit-tree", "-p", CONFIG, "-m", "odd", &tree]);
        server.git(&["update-ref", CONFIG, &commit]);
        let told = clone.hydrate(&["config", "rebase"]).exits(2).stderr;
        assert!(told.contains(expected), "{told}");
        assert_eq!(clone.git(&["rev-parse", CONFIG]), ours, "{told}");
    }
}

#[test]
fn check_fails_where_the_push_would_fail() {
    let rows = [
        ("a misspelt sourceHydrator", "s/sourceHydrator:/sourceHydrater:/", "sourceHydrater"),
        ("another repository", "s/git.example.com/gti.example.com/", "names another repository"),
    ];
    for (name, edit, expected) in rows {
        let lab = Lab::new();
        let (_, clone) = pushed(&lab);
        clone.run("sed", &["-i", edit, "applications/dev.yaml"]).success();
        clone.commit("a slip", &[]);
        let told = clone.hydrate(&["check"]).exits(1).stdout;
        assert!(told.contains(": error: ") && told.contains(expected), "{name}: {told}");
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("environments/dev  stays at") && told.contains(expected), "{name}: {told}");
    }
}

#[test]
fn a_set_that_reads_the_dry_branch_by_its_name_is_adopted_without_an_edit() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let clone = server.clone_to("clone");
    plain(&clone);
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: addons}\nspec:\n  generators:\n  \
               - git: {repoURL: 'https://git.example.com/team/dry.git', revision: main, directories: [{path: addons/*}]}\n  \
               template:\n    metadata: {name: 'addon-{{path.basename}}', labels: {env: dev}}\n    spec:\n      project: default\n      \
               destination: {server: https://kubernetes.default.svc, namespace: web}\n      \
               source: {repoURL: 'https://git.example.com/team/dry.git', targetRevision: main, path: '{{path}}'}\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: addon}\n";
    clone.commit("Add a set", &[("sets/addons.yaml", set), ("addons/a/a.yaml", map)]);
    clone.push().success();
    let told = clone.hydrate(&ADOPT).success().stdout;
    assert!(told.contains("3 of 3 Applications hydrate (of the 3, 1 is made by"), "{told}");
    assert!(!told.contains("makes no Applications"), "{told}");
}

#[test]
fn settings_that_stop_branches_say_that_they_are_saved_and_how_to_go_back() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    let told = server.hydrate(&["config", "set", "branches", "enviroments/*"]).exits(1).stdout;
    assert_eq!(told.matches("error: the settings do not allow hydration to").count(), 3, "{told}");
    assert!(told.contains("allow it on the server: git hydrate config add branches environments/dev\n"), "{told}");
    let expected = "the settings are saved, and with them 3 branches stay as they are: environments/dev, environments/prod, \
                    environments/test\nhint: to go back: git hydrate config unset branches\n";
    assert!(told.ends_with(expected), "{told}");
    server.hydrate(&["config", "unset", "branches"]).success();
    server.hydrate(&["config", "set", "branches", "environments/*"]).success();
    let told = server.hydrate(&["config", "set", "branches", "env/*", "x"]).exits(1).stdout;
    assert!(told.ends_with("hint: to go back: git hydrate config set branches 'environments/*'\n"), "{told}");
    server.run("sh", &["-c", "git hydrate config set branches 'environments/*'"]).success();
}

#[test]
fn a_dry_branch_that_does_not_exist_is_told_at_once() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let told = server.hydrate(&["config", "set", "dryBranches", "mian"]).stdout;
    assert!(told.contains("warning: the setting `dryBranches` names `mian`, which does not exist\n"), "{told}");
    assert!(told.contains("did you mean `main`? on the server: git hydrate config add dryBranches main && git hydrate config unset dryBranches mian\n"), "{told}");
    assert!(!server.hydrate(&["config", "set", "dryBranches", "main"]).success().stdout.contains("warning"));
    let told = server.hydrate(&["config", "add", "dryBranches", "nosuch"]).stdout;
    assert!(told.contains("take it away on the server: git hydrate config unset dryBranches nosuch\n"), "{told}");
    let told = clone.hydrate(&["config", "add", "dryBranches", "mian"]).success().stderr;
    assert!(told.contains("warning: `mian` of the setting `dryBranches` does not exist at `origin`\n"), "{told}");
}

#[test]
fn a_freeze_that_is_over_is_told_when_it_is_set() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    let set = |until: &str| {
        let freeze = format!("{{reason: release, until: {until}}}");
        server.hydrate(&["config", "set", "frozen.environments/prod", &freeze]).success().stderr
    };
    let expected = "warning: the freeze of `environments/prod` ended at 2024-12-24T18:00:00+01:00, so nothing is frozen by it\n\
                    hint: set a later `until`, or none\n";
    assert_eq!(set("2024-12-24T18:00:00+01:00"), expected);
    let ends = "note: the freeze of `environments/prod` ends by itself at 2999-12-24; to end it before: git hydrate config unset \
                frozen.environments/prod\n";
    assert_eq!(set("2999-12-24"), ends);
}

#[test]
fn settings_of_the_server_are_shown_in_a_fresh_clone() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    let fresh = server.clone_to("fresh");
    let told = fresh.hydrate(&["config", "--offline"]).success().stdout;
    assert_eq!(told, "no settings were fetched: those of the server are not known here, if it has any\n");
    assert_eq!(fresh.hydrate(&["config", "get", "dryBranches"]).success().stdout, "main\n");
    assert!(fresh.hydrate(&["config"]).success().stdout.contains("dryBranches:\n- main\n"));
    fs::rename(&server.path, lab.path("away.git")).expect("moved");
    let answer = fresh.hydrate(&["config", "get", "dryBranches"]).success();
    assert!(answer.stderr.starts_with("warning: fetching the settings from `origin`"), "{answer:?}");
    assert_eq!(answer.stdout, "main\n");
}

#[test]
fn a_mistake_in_a_settings_file_has_the_line_of_the_file_that_was_edited() {
    let lab = Lab::new();
    let server = lab.server();
    editor(&lab, &server, "echo 'dryBranch: main' >>\"$1\"");
    let told = server.hydrate(&["config", "edit"]).exits(2).stderr;
    let kept = told.trim_start_matches("error: not saved; the edited file is ").split(": ").next().expect("a path");
    let lines = fs::read_to_string(kept).expect("kept").lines().count();
    let expected = format!("{kept}: settings.yaml:{lines}:1: unknown key `dryBranch`: did you mean `dryBranches`?\n");
    assert!(told.ends_with(&expected), "{told}");
    fs::create_dir(lab.path("folder")).expect("made");
    fs::write(lab.path("folder/settings.yaml"), "profile: argocd\nremovalLimit: {shares: 1}\n").expect("written");
    let told = server.hydrate(&["config", "import", "../folder"]).exits(2).stderr;
    let expected =
        "error: ../folder/settings.yaml:2:16: unknown key `removalLimit.shares`: did you mean `removalLimit.share`?\n";
    assert_eq!(told, expected);
    fs::remove_file(lab.path("folder/settings.yaml")).expect("removed");
    fs::write(lab.path("folder/commit-message.tmpl"), "{{ trunk 3 }}").expect("written");
    let told = server.hydrate(&["config", "import", "../folder"]).exits(2).stderr;
    assert!(told.starts_with("error: the template commit-message.tmpl of the settings: "), "{told}");
}

#[test]
fn an_installation_without_hooks_does_not_claim_to_guard() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.git(&["config", "core.hooksPath", lab.path("shared").to_str().expect("UTF-8")]);
    let told = server.hydrate(&["install", "--server"]).exits(1).stdout;
    assert!(!told.contains("true: pushes to hydrated branches are refused\n"), "{told}");
    assert!(told.contains("refused once a pre-receive hook runs git-hydrate\n"), "{told}");
    assert!(told.contains(": pushes are not hydrated\n") && told.contains(": pushes are not guarded\n"), "{told}");
}

#[test]
fn the_way_back_from_rules_is_not_that_of_source_hydrators() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let rule = "- {branch: 'environments/{{ labels.env }}', path: '{{ name }}'}";
    server.hydrate(&["config", "set", "rules", "--", rule]).success();
    plain(&clone);
    clone.push().success();
    server.git(&["update-ref", "-d", "refs/heads/environments/prod"]);
    let told = server.hydrate(&["uninstall", "--repoint"]).success().stdout;
    assert!(told.contains("# apps/dev.yaml: web-dev of environments/dev, by rule 1, is made from\n"), "{told}");
    assert!(
        told.contains("# apps/prod.yaml: environments/prod was never made; it would be, by rule 1 from\n"),
        "{told}"
    );
    assert!(!told.contains("sourceHydrator"), "{told}");
    assert!(told.ends_with("or give that the source above.\n"), "{told}");
}

#[test]
fn previews_without_a_remote_are_not_told_as_branches_that_a_push_made() {
    let lab = Lab::new();
    fs::create_dir(lab.path("alone")).expect("made");
    let alone = Repo::at(&lab, "alone");
    alone.git(&["init", "-q"]);
    alone.hydrate(&["init"]).success();
    alone.commit("Begin", &[]);
    let told = alone.hydrate(&[]).success().stdout;
    assert!(told.contains("environments/dev   new -> ") && !told.contains("now set to"), "{told}");
    assert!(
        told.contains("note: this repository has no remote, so these are previews, below refs/remotes/hydrate/"),
        "{told}"
    );
    let told = alone.hydrate(&["doctor"]).success().stdout;
    assert!(!told.contains("advice") && told.contains("good     there is no remote"), "{told}");
    alone.git(&["remote", "add", "upstream", "../nowhere.git"]);
    let told = alone.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains("bad      there is no remote `origin`\n         git hydrate doctor --remote NAME"), "{told}");
    alone.git(&["remote", "remove", "upstream"]);
    alone.hydrate(&["install", "--server"]).success();
    let told = alone.hydrate(&["doctor"]).stdout;
    assert!(told.contains("hooks/post-receive runs ") && !told.contains("remote"), "{told}");
}

#[test]
fn paths_of_this_machine_are_named_with_their_first_slash() {
    let lab = Lab::new();
    let server = lab.server();
    let dir = fs::canonicalize(lab.path("")).expect("there").display().to_string();
    let dir = dir.trim_end_matches('/');
    fs::create_dir(lab.path("web")).expect("made");
    fs::create_dir(lab.path("plain")).expect("made");
    let told = server.hydrate(&["render", "helm", "../nothing"]).exits(1).stderr;
    assert!(told.contains(&format!("\"{dir}/nothing\" not found")), "{told}");
    let broken = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  generators: [{lits: {}}]\n  \
                  template: {}\n";
    fs::write(lab.path("web/set.yaml"), broken).expect("written");
    let told = server.hydrate(&["render", "applicationset", &format!("{dir}/web/set.yaml")]).stderr;
    assert!(told.contains(&format!("--> {dir}/web/set.yaml:")), "{told}");
    fs::write(lab.path("plain/a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n").expect("written");
    let told = server.hydrate(&["render", "directory", "../plain"]).exits(1).stderr;
    assert!(told.contains(&format!("--> {dir}/plain/a.yaml:")), "{told}");
    assert!(told.contains("= hint: correct the YAML; "), "{told}");
}

#[test]
fn a_word_that_is_no_command_is_called_so_inside_and_outside_of_a_repository() {
    let lab = Lab::new();
    fs::create_dir(lab.path("nothing")).expect("made");
    let outside = Repo::at(&lab, "nothing");
    let told = outside.hydrate(&["frobnicate"]).exits(2).stderr;
    assert_eq!(told, "error: not a command: `frobnicate`\nhint: all commands: git hydrate help\n");
    let told = outside.hydrate(&["statsu"]).exits(2).stderr;
    assert_eq!(told, "error: not a command: `statsu`\nhint: did you mean `git hydrate status`?\n");
    let (_, clone) = pushed(&lab);
    let told = clone.hydrate(&["frobnicate"]).exits(2).stderr;
    assert_eq!(told, "error: neither a command nor a commit: `frobnicate`\nhint: all commands: git hydrate help\n");
}

#[test]
fn a_new_installation_says_which_branches_are_behind_and_the_command_it_prints_hydrates_them() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    let expected = "note     environments/dev, environments/prod, environments/test are behind; the next push hydrates them, or now:\n";
    assert!(told.contains(expected), "{told}");
    let cure = told.lines().find(|line| line.ends_with("hydrate catch-up")).expect("a command");
    server.run("sh", &["-c", cure]).success();
    assert!(!server.hydrate(&["install", "--server"]).success().stdout.contains("behind"));
}

#[test]
fn a_misspelt_pause_is_told_and_refused_in_strict_mode() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    let annotated = "s#^  namespace: argocd#  namespace: argocd\\n  annotations: {git-hydrate/pausd: \"true\"}#";
    clone.run("sed", &["-i", annotated, "applications/prod.yaml"]).success();
    clone.commit("Hold prod", &[]);
    let told = clone.hydrate(&["check"]).success().stdout;
    let expected = "warning: unknown field `git-hydrate/pausd` in `metadata.annotations` [application]\n";
    assert!(told.contains(expected) && told.contains("hint: did you mean `git-hydrate/paused`?"), "{told}");
    server.git(&["config", "hydrate.strict", "all"]);
    let told = clone.push().exits(1);
    assert!(told.stderr.contains("git-hydrate/pausd"), "{told:?}");
    server.git(&["config", "hydrate.strict", "off"]);
    let told = clone.push().success();
    assert!(told.stderr.contains("warning: unknown field `git-hydrate/pausd`"), "{told:?}");
}

#[test]
fn applications_that_cannot_go_anywhere_are_not_counted_as_hydrated() {
    let lab = Lab::new();
    let (_, clone) = pushed(&lab);
    clone
        .run("sed", &["-i", "s#targetBranch: environments/dev#targetBranch: main#", "applications/dev.yaml"])
        .success();
    clone.commit("a slip", &[]);
    let told = clone.hydrate(&["apps"]).stdout;
    assert!(told.ends_with("4 of 6 Applications hydrate from main, if they render: git hydrate check\n"), "{told}");
    let told = clone.hydrate(&["diff", "--worktree"]).exits(1).stdout;
    assert!(!told.contains("fails to render"), "{told}");
}

/// JSON in which no object has a key twice.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Strict>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
            entries.next_value::<Strict>()?;
            keys.push(key);
        }
        Ok(self)
    }
}

#[track_caller]
fn strictly(name: &str, answer: &Answer) {
    assert!(answer.stdout.starts_with('{'), "{name}: {answer:?}");
    if let Err(error) = serde_json::from_str::<Strict>(&answer.stdout) {
        panic!("{name}: {error}\n{}", answer.stdout);
    }
}

#[test]
fn no_json_has_a_key_twice() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone
        .run("sed", &["-i", "s#path: environments/dev/west#path: environments/dev/wset#", "applications/dev.yaml"])
        .success();
    clone.commit("a slip", &[]);
    for args in
        [&["check", "--json"] as &[&str], &["diff", "--json"], &["plan", "--json"], &["apps", "--json"], &["--json"]]
    {
        strictly(args[0], &clone.hydrate(args));
    }
    strictly("apps --show", &clone.hydrate(&["apps", "--show", "dev-west", "--json"]));
    clone.push().success();
    for args in
        [&["catch-up", "--json"] as &[&str], &["status", "--json"], &["verify", "--json"], &["doctor", "--json"]]
    {
        strictly(args[0], &server.hydrate(args));
    }
    let found: serde_json::Value =
        serde_json::from_str(&server.hydrate(&["catch-up", "--json"]).exits(1).stdout).expect("JSON");
    let tip = clone.git(&["rev-parse", "HEAD"]);
    let dev = &found["branches"][0];
    assert_eq!((dev["drySha"].as_str(), dev["failedDrySha"].as_str()), (Some(tip.as_str()), Some(tip.as_str())));
}

#[test]
fn a_correction_of_the_settings_is_not_blamed_for_what_was_wrong_before() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    server.hydrate(&["config", "set", "dryBranches", "mian"]);
    clone.commit("a slip", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push().success();
    // Each step of the proposed chain goes on to the next one.
    let chain = "git hydrate config add dryBranches main && git hydrate config unset dryBranches mian";
    let told = server.run("sh", &["-c", chain]).success().stdout;
    let expected = "the settings are saved; environments/prod was not up to date before either\n";
    assert_eq!((told.matches(expected).count(), told.contains("to go back")), (2, false), "{told}");
    assert_eq!(server.hydrate(&["config", "get", "dryBranches"]).stdout, "main\n");
}

#[test]
fn a_server_that_hydrated_nothing_yet_is_not_told_to_go_back_to_the_wrong_dry_branch() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "dryBranches", "mian"]);
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.commit("a slip", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push().success();
    let told = server.hydrate(&["config", "set", "dryBranches", "main"]).success().stdout;
    assert!(told.contains("environments/dev   new -> ") && !told.contains("to go back"), "{told}");
}

#[test]
fn the_end_of_a_freeze_is_not_blamed_for_a_commit_that_fails() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "frozen", "{environments/dev: {reason: release}}"]).success();
    clone.commit("a slip", &[("apps/web/dev/config.yaml", BROKEN)]);
    clone.push().success();
    let told = server.hydrate(&["config", "unset", "frozen"]).success().stdout;
    assert!(told.contains("environments/dev  stays at") && !told.contains("to go back"), "{told}");
}
