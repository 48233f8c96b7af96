mod message;

use dry_files::path::RepoPath;

use super::*;
use crate::argo::AppName;
use crate::metadata::{DryCommit, Identity, Provenance, TemplateFile, contract};
use crate::repo::{Commit, object_id};
use crate::versions::Tools;

const ID: &str = "3ff41cc5247197a6caf50216c4c76cc29d78a97c";
const REPOSITORY: &str = "https://github.com/example/repo";

fn dry(message: &str) -> DryCommit {
    let signature = Signature {
        name: "test-author".to_owned(),
        email: "author@example.com".to_owned(),
        seconds: 1735787045,
        offset: 0,
    };
    let id = object_id(ID).expect("an id");
    let (author, committer) = (signature.clone(), signature);
    DryCommit::new(&Commit { id, tree: id, parents: Vec::new(), author, committer, message: message.to_owned() })
}

/// What the tests of Argo CD's commit server commit, but for the ids, which are full here.
fn argocd_dry() -> DryCommit {
    dry(&format!(
        "test-message\n\nSigned-off-by: Test User <test@example.com>\n\
         Argocd-reference-commit-author: test-code-author <test-email-author@example.com>\n\
         Argocd-reference-commit-date: 2025-01-02T03:04:05Z\n\
         Argocd-reference-commit-subject: test-code-subject\n\
         Argocd-reference-commit-sha: {ID}\n\
         Argocd-reference-commit-repourl: https://example.com/test/repo.git\n"
    ))
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).expect("a branch")
}

fn writer(settings: Settings) -> Writer {
    Writer::new(settings).expect("templates that compile")
}

fn argocd() -> Writer {
    writer(Settings { profile: Profile::Argocd, ..Settings::default() })
}

fn proposal() -> Writer {
    writer(Settings::default())
}

fn file(name: &'static str, text: &str) -> TemplateFile {
    TemplateFile { name, text: text.to_owned() }
}

fn text(files: &Files, name: &str) -> String {
    String::from_utf8(files[name].clone()).expect("UTF-8")
}

/// The files of a path with one Application, and those of the root.
fn write(writer: &Writer, dry: &DryCommit, commands: &[&str], is_active_path: bool) -> (Files, Files) {
    let main = branch("main");
    let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: dry };
    let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
    let name = AppName::new("dev-west").expect("a name");
    let applications = [(&name, None)];
    let content = PathContent {
        applications: &applications,
        commands: &commands,
        tools: Tools::default(),
        is_ours: true,
        is_active_path,
    };
    (writer.files_for_path(&content, &origin).expect("templates that render"), writer.files_for_root(&origin, &[]))
}

fn message(writer: &Writer, dry: &DryCommit) -> Result<String, Diagnostic> {
    let main = branch("main");
    let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: dry };
    writer.commit_message(&origin, &branch("env/dev"), None, Stated::default())
}

const OURS: &str = "Hydrate-Branch: env/dev
Hydrate-Dry: 3ff41cc5247197a6caf50216c4c76cc29d78a97c
Hydrate-Dry-Branch: main
Hydrate-Engine: 5
";

#[test]
fn paths_that_are_behind_are_listed_at_the_root_and_read_back() {
    let main = branch("main");
    let dry = argocd_dry();
    let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: &dry };
    let path = |text: &str| RepoPath::new(text).expect("a path");
    let behind =
        [Behind { path: path("new"), dry_commit: None }, Behind { path: path("team/web"), dry_commit: object_id(ID) }];
    for writer in [argocd(), proposal()] {
        let files = writer.files_for_root(&origin, &behind);
        let root = text(&files, "hydrator.metadata");
        let expected = format!(
            ",\n  \"behind\": [\n    {{\n      \"path\": \"new\"\n    }},\n    {{\n      \"path\": \"team/web\",\n      \
             \"drySha\": \"{ID}\"\n    }}\n  ]\n}}\n"
        );
        assert!(root.ends_with(&expected), "{root}");
        assert_eq!(contract::check_metadata(root.as_bytes()), []);
        let read = Provenance::read(&path("hydrator.metadata"), root.as_bytes()).expect("readable");
        assert_eq!((read.dry_commit, read.behind), (Some(dry.id), behind.to_vec()));
        assert_eq!(root.replace(&expected, "\n}\n"), text(&writer.files_for_root(&origin, &[]), "hydrator.metadata"));
    }
    let odd = r#"{"behind":[{"path":"/"},{"path":"b","drySha":"x"},{"path":"a"},{"path":"a"},1,{"path":1}]}"#;
    let read = Provenance::read(&path("hydrator.metadata"), odd.as_bytes()).expect("readable");
    assert_eq!(read.behind.iter().map(|behind| behind.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(read.behind.iter().all(|behind| behind.dry_commit.is_none()));
}

#[test]
fn argocd_metadata() {
    // commitserver/commit/hydratorhelper_test.go, TestWriteForPaths and TestWriteMetadata.
    let (path, root) = write(&argocd(), &argocd_dry(), &["command1", "command2"], false);
    assert_eq!(path.keys().collect::<Vec<_>>(), ["README.md", "hydrator.metadata"]);
    assert_eq!(
        text(&path, "hydrator.metadata"),
        r#"{
  "repoURL": "https://github.com/example/repo",
  "drySha": "3ff41cc5247197a6caf50216c4c76cc29d78a97c",
  "commands": [
    "command1",
    "command2"
  ]
}
"#
    );
    assert_eq!(root.keys().collect::<Vec<_>>(), [".gitattributes", "hydrator.metadata"]);
    assert_eq!(
        text(&root, "hydrator.metadata"),
        r#"{
  "repoURL": "https://github.com/example/repo",
  "drySha": "3ff41cc5247197a6caf50216c4c76cc29d78a97c",
  "author": "test-author <author@example.com>",
  "date": "2025-01-02T03:04:05Z",
  "subject": "test-message",
  "body": "Signed-off-by: Test User <test@example.com>\n",
  "references": [
    {
      "commit": {
        "author": "\"test-code-author\" <test-email-author@example.com>",
        "date": "2025-01-02T03:04:05Z",
        "subject": "test-code-subject",
        "sha": "3ff41cc5247197a6caf50216c4c76cc29d78a97c",
        "repoUrl": "https://example.com/test/repo.git"
      }
    }
  ]
}
"#
    );
    let (path, _) = write(&argocd(), &dry("test-message"), &[], false);
    assert_eq!(
        text(&path, "hydrator.metadata"),
        r#"{
  "repoURL": "https://github.com/example/repo",
  "drySha": "3ff41cc5247197a6caf50216c4c76cc29d78a97c"
}
"#
    );
}

#[test]
fn argocd_readme() {
    let (path, _) = write(&argocd(), &argocd_dry(), &["command3"], false);
    assert_eq!(
        text(&path, "README.md"),
        "# Manifest Hydration

To hydrate the manifests in this repository, run the following commands:

```shell
git clone https://github.com/example/repo
# cd into the cloned directory
git checkout 3ff41cc5247197a6caf50216c4c76cc29d78a97c
command3
```
"
    );
}

#[test]
fn gitattributes() {
    let (_, root) = write(&argocd(), &argocd_dry(), &[], false);
    // `git hash-object` of Argo CD's file.
    let blob = [b"blob 81\0".as_slice(), &root[".gitattributes"]].concat();
    let id = <sha1::Sha1 as sha1::Digest>::digest(&blob);
    assert_eq!(data_encoding::HEXLOWER.encode(&id), "95ee074979cb9f66a4b646dcaad73f54a2d1f0e2");
}

#[test]
fn the_readme_of_the_proposal() {
    let mut dry = dry("chore: bumped image tag to v0.0.2");
    dry.author = "Michael Crenshaw <michael@example.com>".to_owned();
    dry.date = Time::new(1711535524, 0);
    dry.id = object_id("ab2382f000000000000000000000000000000000").expect("an id");
    let (name, main) = (AppName::new("dev-west").expect("a name"), branch("main"));
    let origin = Origin { repo_url: "https://github.com/argoproj/argocd-example-apps", branch: &main, commit: &dry };
    let commands =
        ["kustomize edit set image my-app:v0.0.2", "kustomize build environments/dev/west"].map(str::to_owned);
    let content = PathContent {
        applications: &[(&name, None)],
        commands: &commands,
        tools: Tools::default(),
        is_ours: true,
        is_active_path: false,
    };
    let files = proposal().files_for_path(&content, &origin).expect("renders");
    // docs/proposals/manifest-hydrator.md, "Example output".
    assert_eq!(
        text(&files, "README.md"),
        "# dev-west Manifests

[manifest.yaml](./manifest.yaml) contains the hydrated manifests for the dev-west application.

These are the details of the most recent change;
* Author: Michael Crenshaw <michael@example.com>
* Message: chore: bumped image tag to v0.0.2
* Time: 2024-03-27 10:32:04 UTC

To reproduce the manifest hydration, do the following:

```
git clone https://github.com/argoproj/argocd-example-apps
cd argocd-example-apps
git checkout ab2382f
kustomize edit set image my-app:v0.0.2
kustomize build environments/dev/west
```
"
    );
    assert_eq!(
        text(&files, "hydrator.metadata"),
        r#"{
  "repoURL": "https://github.com/argoproj/argocd-example-apps",
  "drySha": "ab2382f000000000000000000000000000000000",
  "commands": [
    "kustomize edit set image my-app:v0.0.2",
    "kustomize build environments/dev/west"
  ],
  "repoName": "argocd-example-apps",
  "dryShortSHA": "ab2382f",
  "dryBranch": "main",
  "applications": [
    {
      "metadata": {
        "name": "dev-west"
      }
    }
  ],
  "commitAuthor": "Michael Crenshaw <michael@example.com>",
  "commitMessage": "chore: bumped image tag to v0.0.2",
  "commitTime": "2024-03-27 10:32:04 UTC",
  "tools": {
    "kustomize": "5.8.1",
    "engine": "5"
  }
}
"#
    );
    let second = AppName::new("dev-east").expect("a name");
    let content = PathContent { applications: &[(&second, Some(&name)), (&name, None)], ..content };
    let readme = text(&proposal().files_for_path(&content, &origin).expect("renders"), "README.md");
    let start = "# Manifests for 2 Applications

[manifest.yaml](./manifest.yaml) contains the hydrated manifests for these applications:

- dev-east
- dev-west

These are the details";
    assert!(readme.starts_with(start), "{readme}");
}

#[test]
fn an_active_path_holds_everything_and_the_root_nothing() {
    let dry = argocd_dry();
    let (path, root) = write(&argocd(), &dry, &["command1"], true);
    let expected = text(&root, "hydrator.metadata");
    let found = text(&path, "hydrator.metadata");
    assert_eq!(found.replace(",\n  \"commands\": [\n    \"command1\"\n  ]", ""), expected);
    let (path, _) = write(&proposal(), &dry, &[], true);
    let found = text(&path, "hydrator.metadata");
    for key in ["\"author\"", "\"date\"", "\"references\"", "\"commitTime\"", "\"applications\""] {
        assert_eq!(found.matches(key).count(), if key == "\"author\"" || key == "\"date\"" { 2 } else { 1 }, "{key}");
    }
    let main = branch("main");
    let files = proposal().files_for_active_path(&Origin { repo_url: REPOSITORY, branch: &main, commit: &dry });
    assert_eq!(files.keys().collect::<Vec<_>>(), ["hydrator.metadata"]);
}

#[test]
fn what_is_written_keeps_the_contract() {
    let long = "a".repeat(200_000);
    let (long_body, long_subject) = (format!("body: \"{long}\""), format!("subject: {long}"));
    let references = [
        long_body.as_str(),
        &long_subject,
        "sha: abcdef",
        "repourl: ssh://git@example.com/a",
        "author: J <j@x>",
        "date: 2025-10-01T08:23:45Z",
        "body: \"\\u2028\"",
    ];
    let bodies = ["", "body", "\u{1}\u{2028}\"\\", &"long line\n".repeat(100_000), "Hydrate-Dry: x\n---\n"];
    for body in bodies {
        for reference in references {
            let dry = dry(&format!("subject\n\n{body}\n\nArgocd-reference-commit-{reference}\n"));
            for writer in [argocd(), proposal()] {
                for is_active_path in [false, true] {
                    let (path, root) = write(&writer, &dry, &["helm template ."], is_active_path);
                    for files in [path, root] {
                        assert_eq!(contract::check_metadata(&files["hydrator.metadata"]), [], "{reference}");
                    }
                }
            }
        }
    }
}

#[test]
fn templates_of_the_settings() {
    let readme = |text: &str| {
        let settings = Settings { readme_template: Some(file(README_TEMPLATE, text)), ..Settings::default() };
        let (main, dry) = (branch("main"), dry("s"));
        let name = AppName::new("web").expect("a name");
        let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: &dry };
        let content = PathContent {
            applications: &[(&name, None)],
            commands: &[],
            tools: Tools::default(),
            is_ours: true,
            is_active_path: false,
        };
        let files = Writer::new(settings).and_then(|writer| writer.files_for_path(&content, &origin));
        files.map(|files| text_of(&files)).map_err(|diagnostic| diagnostic.to_string())
    };
    fn text_of(files: &Files) -> String {
        text(files, "README.md")
    }
    let all: Vec<String> = README_VALUES.iter().map(|(name, _)| format!("{{{{ {name} }}}}\n")).collect();
    assert_eq!(readme(&all.concat()).map(|text| text.lines().count()), Ok(README_VALUES.len()));
    assert_eq!(readme("{{ applications[0].metadata.namespace }}"), Ok(String::new()));
    assert_eq!(
        readme("a\n{{ drySHA }}\n"),
        Err("error: the template README.md.j2 of the settings: it uses a value that does not exist: `drySHA`
  --> README.md.j2:2
   |
 2 | {{ drySHA }}
  = hint: it can use repoURL, drySha, commands, repoName, dryShortSHA, dryBranch, applications, commitAuthor, \
             commitMessage, commitTime, tools"
            .to_owned())
    );
    let message_of = |text: &str| {
        let settings =
            Settings { commit_message_template: Some(file(COMMIT_MESSAGE_TEMPLATE, text)), ..Settings::default() };
        Writer::new(settings).and_then(|writer| message(&writer, &dry("s"))).map_err(|diagnostic| diagnostic.message)
    };
    let all = "{{ branch }} {{ dryBranch }} {{ dryShortSHA }} {{ metadata.repoURL }} {{ metadata.drySha }} \
               {{ metadata.author }} {{ metadata.date }} {{ metadata.subject }} {{ metadata.body }} \
               {{ metadata.references | length }}";
    let expected = format!(
        "env/dev main 3ff41cc {REPOSITORY} {ID} test-author <author@example.com> 2025-01-02T03:04:05Z s  0\n\n{OURS}"
    );
    assert_eq!(message_of(all), Ok(expected));
    assert_eq!(
        message_of("{# nothing #}\n"),
        Err("the template commit-message.j2 of the settings: its message is empty".to_owned())
    );
    assert!(message_of("{{ metadata.drySHA }}").is_err());
    assert!(message_of("{% if %}").is_err());
}

#[test]
fn metadata_and_templates_tell_the_versions_of_the_tools() {
    let template = "{{ tools.helm }}|{{ tools.kustomize }}|{{ tools.engine }}";
    let settings = Settings { readme_template: Some(file(README_TEMPLATE, template)), ..Settings::default() };
    let (writer, dry) = (writer(settings), dry("s"));
    let rows: [(&[&str], &str); 5] = [
        (&["helm template ./web --name-template web"], "4.2.3||5"),
        (&["(cd ./web && kustomize edit set image a=b)", "kustomize build ./web"], "|5.8.1|5"),
        (&["kustomize build ./web --enable-helm"], "4.2.3|5.8.1|5"),
        (&["# kustomization.yaml updated with patches.", "kustomize build ./helm"], "|5.8.1|5"),
        (&[], "||5"),
    ];
    for (commands, expected) in rows {
        let (path, _) = write(&writer, &dry, commands, false);
        assert_eq!(text(&path, "README.md"), expected, "{commands:?}");
        for (version, tool) in expected.split('|').zip(["helm", "kustomize", "engine"]) {
            let entry = format!("\"{tool}\": \"{version}\"");
            assert_eq!(text(&path, "hydrator.metadata").contains(&entry), !version.is_empty(), "{commands:?} {tool}");
        }
    }
    // Argo CD's own metadata has no such key, and of another renderer's tools nothing is known.
    let (path, _) = write(&argocd(), &dry, rows[0].0, false);
    assert!(!text(&path, "hydrator.metadata").contains("tools"));
    let main = branch("main");
    let origin = Origin { repo_url: REPOSITORY, branch: &main, commit: &dry };
    let commands = ["helm template x".to_owned()];
    let content = PathContent {
        applications: &[],
        commands: &commands,
        tools: Tools::default(),
        is_ours: false,
        is_active_path: false,
    };
    let files = proposal().files_for_path(&content, &origin).expect("renders");
    assert!(!text(&files, "hydrator.metadata").contains("tools"));
}

#[test]
fn templates_of_argocd_make_what_argocd_makes() {
    let go = |readme: &str, message: &str| Settings {
        profile: Profile::Argocd,
        readme_template: Some(file(README_GO_TEMPLATE, readme)),
        commit_message_template: Some(file(COMMIT_MESSAGE_GO_TEMPLATE, message)),
        ..Settings::default()
    };
    // Its defaults as templates of the settings: the bytes of the built-in ones.
    let own = writer(go(GO_README, DEFAULT_GO_COMMIT_MESSAGE));
    for commands in [&["command1", "command2"][..], &[]] {
        let (expected, found) =
            (write(&argocd(), &argocd_dry(), commands, false), write(&own, &argocd_dry(), commands, false));
        assert_eq!(text(&found.0, "README.md"), text(&expected.0, "README.md"));
    }
    for message_text in ["s", "s\n\nb", "s\n\nb\n\nArgocd-reference-commit-author: <j@x>\n"] {
        let expected = message(&argocd(), &dry(message_text)).map(|text| text.replace("-by: j@x", "-by: <j@x>"));
        assert_eq!(message(&own, &dry(message_text)), expected, "{message_text:?}");
    }
    let rows = [
        ("{{ .metadata.subject }} {{ .metadata.body }}", "s <no value>"),
        ("{{ .metadata.repoURL }} {{ len .metadata.references }}", "https://github.com/example/repo 1"),
        ("{{ range .metadata.references }}{{ .commit.author }}{{ end }}", "\"J. Doe\" <j@x>"),
        ("{{ .metadata.author | splitList \" \" | first | upper }}", "TEST-AUTHOR"),
    ];
    let of_a_reference =
        dry("s\n\nArgocd-reference-commit-author: J. Doe <j@x>\n".replace("J. Doe", "\"J. Doe\"").as_str());
    for (template, expected) in rows {
        let found = message(&writer(go(GO_README, template)), &of_a_reference);
        assert_eq!(found, Ok(format!("{expected}\n\n{OURS}")), "{template}");
    }
    let (path, _) = write(&writer(go("{{ .DrySHA }} {{ .Subject }}{{ len .References }}", "x")), &dry("s"), &[], false);
    assert_eq!(text(&path, "README.md"), format!("{ID} 0"));
    let error = writer(go("\n{{ .Drysha }}", "x")).check().map_err(|error| error.to_string());
    assert_eq!(
        error,
        Err(
            "error: the template README.tmpl of the settings: template: README.tmpl:2:3: executing \"README.tmpl\" at \
             <.Drysha>: can't evaluate field Drysha in type hydrator.HydratorCommitMetadata
  --> README.tmpl:2
   |
 2 | {{ .Drysha }}
  = hint: it can use .RepoURL, .DrySHA and .Commands"
                .to_owned()
        )
    );
}

#[test]
fn manifests_of_both_profiles() {
    // TestWriteForPaths_NoOpScenario, its Service with an annotation that only tracking removes.
    let text = "
apiVersion: v1
kind: Service
metadata: {name: guestbook-ui, annotations: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: guestbook-ui}
---
apiVersion: v1
kind: Pod
";
    let source = manifest::Source::Output("test");
    let manifests = manifest::read(text.as_bytes(), source).expect("objects");
    let written = |writer: Writer| String::from_utf8(writer.manifest(manifests.clone())).expect("UTF-8");
    assert_eq!(
        written(argocd()),
        "apiVersion: v1
kind: Service
metadata:
  name: guestbook-ui
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: guestbook-ui
---
apiVersion: v1
kind: Pod
metadata: {}
"
    );
    assert_eq!(
        written(proposal()),
        "apiVersion: v1
kind: Pod
---
apiVersion: v1
kind: Service
metadata:
  annotations: {}
  name: guestbook-ui
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: guestbook-ui
"
    );
    assert_eq!(proposal().manifest(Vec::new()), b"");
}
