//! What programs may rely on: the exit code and the JSON of every command.

use std::fs;

use serde_json::Value;

use crate::support::{Lab, Repo};

/// A command line, where it runs, and its exit code.
type Row = (&'static [&'static str], Place, i32);

#[derive(Clone, Copy)]
enum Place {
    Here,
    Server,
}
use Place::{Here, Server};

/// Every command, done or the same (0), with findings (1), and after an error (2).
const ROWS: [Row; 88] = [
    (&["HEAD"], Here, 0),
    (&["no-such-commit"], Here, 2),
    (&["--no-such-option"], Here, 2),
    (&["init"], Server, 2),
    (&["check"], Here, 0),
    (&["check", "../broken"], Here, 1),
    (&["check", "no-such-commit"], Here, 2),
    (&["diff"], Here, 0),
    (&["diff", "--against", "HEAD~"], Here, 1),
    (&["diff", "no-such-commit"], Here, 2),
    (&["plan"], Here, 0),
    (&["plan", "no-such-commit"], Here, 2),
    (&["plan", "--worktree"], Here, 0),
    (&["vendor", "--check"], Here, 0),
    (&["vendor", "--verify"], Here, 0),
    (&["vendor", "--prune"], Here, 0),
    (&["vendor", "--dry-run"], Here, 0),
    (&["vendor", "--update", "no-such-input"], Here, 2),
    (&["render", "web-dev"], Here, 0),
    (&["render", "no-such-application"], Here, 2),
    (&["render", "--all", "../rendered"], Here, 0),
    (&["render", "--all", "../rendered", "no-such-commit"], Here, 2),
    (&["apps"], Here, 0),
    (&["apps", "no-such-commit"], Here, 2),
    (&["apps", "--show", "web-dev"], Here, 0),
    (&["apps", "--made-by", "web-dev"], Here, 0),
    (&["apps", "--made-by", "no-such-set"], Here, 2),
    (&["status"], Here, 0),
    (&["status", "--remote", "no-such-remote"], Here, 2),
    (&["log"], Here, 0),
    (&["log", "no-such-branch"], Here, 2),
    (&["explain", "Deployment/web", "environments/dev"], Here, 0),
    (&["explain", "Deployment/no-such-object"], Here, 2),
    (&["verify"], Here, 0),
    (&["verify", "no-such-branch"], Here, 2),
    (&["push", "--dry-run"], Here, 0),
    (&["push", "no-such-remote"], Here, 2),
    (&["catch-up"], Server, 0),
    (&["inputs"], Server, 0),
    (&["inputs", "withdraw", "no-such-input", "--reason", "x"], Server, 2),
    (&["rollback", "no-such-branch", "--reason", "x", "--yes"], Server, 2),
    (&["hold", "no-such-branch", "--reason", "x", "--yes"], Server, 2),
    (&["resume", "no-such-branch", "--yes"], Server, 2),
    (&["adopt"], Server, 0),
    (&["adopt", "no-such-branch"], Server, 2),
    (&["adopt", "--all"], Server, 0),
    (&["adopt"], Here, 0),
    (&["config"], Server, 0),
    (&["config", "get", "history"], Server, 1),
    (&["config", "set", "history", "every"], Server, 0),
    (&["config", "set", "history", "every"], Server, 0),
    (&["config", "get", "history"], Server, 0),
    (&["config", "set", "history", "never"], Server, 2),
    (&["config", "add", "knownFields", "owner"], Server, 0),
    (&["config", "unset", "knownFields", "owner"], Server, 0),
    (&["config", "unset", "knownFields"], Server, 2),
    (&["config", "export", "../settings"], Server, 0),
    (&["config", "import", "../settings"], Server, 0),
    (&["config", "import", "../no-such-folder"], Server, 2),
    (&["config", "rebase"], Server, 2),
    (&["config", "rebase"], Here, 0),
    (&["config", "set", "--offline", "profile", "proposal"], Here, 0),
    (&["install", "--server"], Server, 0),
    (&["install", "--server", "../no-such.git"], Server, 2),
    (&["install", "--print", "post-receive"], Server, 0),
    (&["install", "--print", "no-such-hook"], Server, 2),
    (&["install", "--client"], Here, 0),
    (&["doctor"], Server, 0),
    (&["doctor"], Here, 0),
    (&["doctor", "../no-such.git"], Server, 2),
    (&["install", "--server", "--all", "."], Server, 0),
    (&["doctor", "--all", "."], Server, 0),
    (&["doctor", "--all", "../no-such"], Server, 2),
    (&["commit"], Server, 2),
    (&["tell"], Server, 0),
    (&["tell", "--again", "no-such-branch"], Server, 2),
    (&["uninstall", "--repoint"], Here, 0),
    (&["uninstall"], Here, 0),
    (&["uninstall"], Server, 0),
    (&["doctor"], Server, 1),
    // Text only.
    (&["help"], Here, 0),
    (&["help", "no-such-command"], Here, 2),
    (&["completions", "bash"], Here, 0),
    (&["man"], Here, 0),
    (&["render", "directory", "."], Here, 0),
    (&["clusters", "import"], Here, 2),
    // As Helm.
    (&["render", "helm", "no-such-chart"], Here, 1),
    (&["hook", "post-receive"], Server, 0),
];

const TEXT_ONLY: [&str; 5] = ["help", "completions", "man", "hook", "clusters"];

fn lab() -> (Lab, Repo, Repo) {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let application = |env: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web-{env}}}\nspec:\n  \
             destination: {{server: https://example.com, namespace: web}}\n  sourceHydrator:\n    drySource: \
             {{repoURL: https://example.com/dry.git, targetRevision: main, path: apps/{env}}}\n    \
             syncSource: {{targetBranch: environments/{env}, path: web}}\n"
        )
    };
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n";
    let (dev, prod) = (application("dev"), application("prod"));
    let files = [
        ("applications/dev.yaml", dev.as_str()),
        ("applications/prod.yaml", &prod),
        ("apps/dev/web.yaml", deployment),
        ("apps/prod/web.yaml", deployment),
    ];
    clone.commit("first", &files);
    clone.commit("second", &[("apps/dev/web.yaml", &deployment.replace("replicas: 1", "replicas: 2"))]);
    clone.push().success();
    let broken = lab.path("broken");
    fs::create_dir(&broken).expect("made");
    fs::write(broken.join("dev.yaml"), application("dev")).expect("written");
    (lab, server, clone)
}

#[test]
fn exit_codes_are_0_for_done_1_for_findings_and_2_for_errors() {
    let (_lab, server, clone) = lab();
    for (args, place, expected) in ROWS {
        let repo = if matches!(place, Here) { &clone } else { &server };
        let answer = repo.hydrate_with(args, "");
        assert_eq!(answer.code, Some(expected), "{args:?}: {}{}", answer.stdout, answer.stderr);
        if expected == 2 {
            assert!(answer.stderr.starts_with("error: "), "{args:?}: {}", answer.stderr);
        }
    }
}

#[test]
fn json_is_one_object_with_its_format_or_is_refused() {
    let (_lab, server, clone) = lab();
    for (args, place, expected) in ROWS {
        let repo = if matches!(place, Here) { &clone } else { &server };
        let answer = repo.hydrate_with(&[&["--json"], args].concat(), "");
        let prints_text = TEXT_ONLY.contains(&args[0]) || args[0] == "render" && args.len() > 2;
        let expected = match prints_text {
            // As git expects of any hook.
            true if args[0] == "hook" => 1,
            true => 2,
            false => expected,
        };
        assert_eq!(answer.code, Some(expected), "{args:?}: {}{}", answer.stdout, answer.stderr);
        if prints_text || expected == 2 {
            assert_eq!(answer.stdout, "", "{args:?}");
            continue;
        }
        let json: Value = serde_json::from_str(&answer.stdout).unwrap_or_else(|why| panic!("{args:?}: {why}"));
        assert_eq!(json["format"], 1, "{args:?}: {}", answer.stdout);
        assert!(answer.stdout.starts_with("{\n  \"format\": 1"), "{args:?}: {}", answer.stdout);
        assert_eq!(answer.stdout.matches("\n  \"format\":").count(), 1, "{args:?}: {}", answer.stdout);
    }
}

#[test]
fn every_command_of_the_help_is_in_the_contract() {
    let (_lab, _, clone) = lab();
    let help = clone.hydrate(&["help"]).success().stdout;
    let commands = help.split("\nCommands:\n").nth(1).expect("a list").split("\n\n").next().expect("an end");
    for line in commands.lines().filter(|line| !line.starts_with("    ")) {
        let name = line.split_whitespace().next().expect("a name");
        assert!(ROWS.iter().any(|(args, ..)| args[0] == name), "{name}");
    }
}

#[test]
fn every_command_of_config_and_clusters_is_in_the_contract() {
    let (_lab, _, clone) = lab();
    for command in ["config", "clusters"] {
        let help = clone.hydrate(&["help", command]).success().stdout;
        let commands = help.split("\nCommands:\n").nth(1).expect("a list").split("\n\n").next().expect("an end");
        for line in commands.lines().filter(|line| !line.starts_with("    ")) {
            let name = line.split_whitespace().next().expect("a name");
            // An editor is a program: tests/config.rs.
            let is_there = name == "edit" || ROWS.iter().any(|(args, ..)| args.starts_with(&[command, name]));
            assert!(is_there, "{command} {name}");
        }
    }
}
