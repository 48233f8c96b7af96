//! Application files as they are pushed: what is read out of them and what is said of mistakes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git_hydrate::testing::application::{
    self, Application, BranchName, Context, Environment, Patterns, Profile, Standing,
};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::view::{MemoryFiles, View};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/applications")
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).expect("a good name")
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

/// Everything that a push of these files prints about Applications, and the Applications that are hydrated.
fn push(files: &[(String, Vec<u8>)]) -> (String, Vec<Arc<Application>>) {
    let mut diagnostics = Vec::new();
    let mut applications = Vec::new();
    for (name, bytes) in files {
        let file = application::read(&path(name), bytes);
        diagnostics.extend(file.all_diagnostics().cloned());
        applications.extend(file.applications().cloned().map(Arc::new));
    }
    let main = branch("main");
    let branches = BTreeSet::from([main.clone()]);
    let context = Context {
        dry_branch: &main,
        head_branch: Some(&main),
        dry_branches: &branches,
        branches: &branches,
        repo_urls: &["https://git.example.com/shop/config".to_owned()],
        allowed: &Patterns::default(),
        copies: None,
        is_directory: &|_| true,
        follows: false,
        is_tag: &|_| false,
        is_shared: &|_| false,
    };
    let verdict = application::validate(&applications, &context);
    diagnostics.extend(verdict.findings.into_iter().map(|finding| finding.diagnostic));
    let hydrated = applications.into_iter().zip(verdict.standings);
    let hydrated = hydrated.filter(|(_, standing)| *standing == Standing::Hydrated).map(|(application, _)| application);
    (diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect(), hydrated.collect())
}

fn case(name: &str) -> Vec<(String, Vec<u8>)> {
    let root = cases().join(name).join("in");
    let mut files = Vec::new();
    let mut dirs = vec![root.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("below").to_str().expect("UTF-8").to_owned();
                files.push((name, fs::read(&path).expect("readable")));
            }
        }
    }
    files.sort();
    files
}

/// Compares with a file of expected text. With `UPDATE_EXPECTED` set, writes it.
fn expect_text(file: &Path, text: &str) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(file, text).expect("writable");
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    assert!(expected == text, "{} differs, expected:\n{expected}\nfound:\n{text}", file.display());
}

/// The example of the Manifest Hydrator proposal as it is meant.
#[test]
fn two_regions_of_three_environments() {
    let (printed, hydrated) = push(&case("two-regions-of-three-environments"));
    assert_eq!(printed, "");
    let destinations: Vec<_> =
        hydrated.iter().map(|app| format!("{} {} {}", app.name, app.environment_branch(), app.sync_path)).collect();
    assert_eq!(
        destinations,
        [
            "dev-west environments/dev west",
            "dev-east environments/dev east",
            "prod-west environments/prod west",
            "prod-east environments/prod east",
            "test-west environments/test west",
            "test-east environments/test east",
        ]
    );
}

/// The repository of the proposal: `test-east` writes where `prod-east` writes.
#[test]
fn test_writes_to_prod() {
    let (printed, _) = push(&case("test-writes-to-prod"));
    expect_text(&cases().join("test-writes-to-prod/expected_error.txt"), &printed);
}

/// An Application without a mistake, to be spoilt.
const GOOD: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
spec:
  project: shop
  destination:
    namespace: shop
  sourceHydrator:
    drySource:
      repoURL: https://git.example.com/shop/config
      targetRevision: main
      path: apps/web
    syncSource:
      targetBranch: environments/dev
      path: web
";

/// What is replaced in the good Application, by what. Each row is a mistake that people make.
const SPOILT: &[(&str, &str)] = &[
    // The document.
    ("  sourceHydrator:", "\tsourceHydrator:"),
    ("  name: web", "  name: 'web"),
    ("  name: web", "  name: {{ .name }}"),
    ("  name: web", "  name: *web"),
    ("apiVersion: argoproj.io/v1alpha1\n", ""),
    ("v1alpha1", "v1beta1"),
    ("kind: Application\n", ""),
    ("kind: Application", "kind: Aplication"),
    ("kind: Application", "kind: ApplicationSet"),
    // Names.
    ("  name: web\n", "  generateName: web-\n"),
    ("metadata:\n  name: web\n", ""),
    ("  name: web", "  name: Web"),
    ("  name: web", "  name: web_eu"),
    ("  name: web", "  name: 12"),
    ("  name: web", "  name: ''"),
    ("  name: web", "  name: web\n  namespace: Team A"),
    ("  name: web", "  name: web\n  name: web-eu"),
    // Beside the hydrator.
    ("  project: shop", "  source: {repoURL: https://git.example.com/shop/config, path: apps/web}"),
    ("  project: shop", "  sources: []"),
    ("  sourceHydrator:", "  sourceHydrater:"),
    ("  sourceHydrator:", "  sourcehydrator:"),
    ("  sourceHydrator:", "  sourceHydrater: {}\n  sourceHydrator:"),
    // drySource.
    (
        "    drySource:\n      repoURL: https://git.example.com/shop/config\n      targetRevision: main\n      path: apps/web\n",
        "",
    ),
    ("      repoURL: https://git.example.com/shop/config\n", ""),
    ("      repoURL: https", "      repoUrl: https"),
    ("repoURL: https://git.example.com/shop/config", "repoURL: ''"),
    ("repoURL: https://git.example.com/shop/config", "repoURL: git@git.example.com:Shop/config.git"),
    ("repoURL: https://git.example.com/shop/config", "repoURL: https://git.example.com/shop/other"),
    ("      targetRevision: main\n", ""),
    ("targetRevision: main", "targetRevision: 1.2"),
    ("targetRevision: main", "targetRevision: v1.2.*"),
    ("targetRevision: main", "targetRevision: refs/tags/v1"),
    ("targetRevision: main", "targetRevision: 8843d7f92416211de9ebb963ff4ce28125932878"),
    ("      path: apps/web\n", ""),
    ("path: apps/web", "path: /apps/web"),
    ("path: apps/web", "path: ../other/web"),
    ("path: apps/web", "path: [apps, web]"),
    ("      path: apps/web", "      path: apps/web\n      chart: nginx"),
    ("      path: apps/web", "      path: apps/web\n      ref: values"),
    ("      path: apps/web", "      path: apps/web\n      costCenter: 7"),
    ("      path: apps/web", "      path: apps/web\n      'cost $(center)': 7"),
    ("    drySource:\n", "    drySource: main\n    dry:\n"),
    // Options.
    ("      path: apps/web", "      path: apps/web\n      helm: {}\n      kustomize: {}"),
    ("      path: apps/web", "      path: apps/web\n      helm: [values.yaml]"),
    ("      path: apps/web", "      path: apps/web\n      helm: {valueFiles: values.yaml}"),
    ("      path: apps/web", "      path: apps/web\n      helm: {valueFiles: [values.yaml, 7, ~]}"),
    ("      path: apps/web", "      path: apps/web\n      helm: {valuesFiles: [values.yaml]}"),
    ("      path: apps/web", "      path: apps/web\n      helm: {skipCRDs: true, releasename: web}"),
    ("      path: apps/web", "      path: apps/web\n      helm: {skipCrds: yes please}"),
    ("      path: apps/web", "      path: apps/web\n      helm: {releaseName: on}"),
    (
        "      path: apps/web",
        "      path: apps/web\n      helm: {parameters: [{value: x}, {name: replicas, value: 3}]}",
    ),
    ("      path: apps/web", "      path: apps/web\n      helm: {valuesObject: [a, b]}"),
    ("      path: apps/web", "      path: apps/web\n      kustomize: {replicas: [{name: web, count: many}]}"),
    ("      path: apps/web", "      path: apps/web\n      kustomize: {commonLabels: {team: 7}}"),
    (
        "      path: apps/web",
        "      path: apps/web\n      kustomize: {patches: [{target: {kinds: Deployment}, options: {allowNameChange: sure}}]}",
    ),
    ("      path: apps/web", "      path: apps/web\n      directory: {jsonnet: {extVars: [{name: env}]}}"),
    (
        "      path: apps/web",
        "      path: apps/web\n      plugin: {env: [{name: A, value: 1}], parameters: [{string: x}]}",
    ),
    // syncSource.
    ("    syncSource:\n      targetBranch: environments/dev\n      path: web\n", ""),
    ("      targetBranch: environments/dev\n", ""),
    ("environments/dev", "refs/heads/environments/dev"),
    ("environments/dev", "environments dev"),
    ("environments/dev", "environments//dev"),
    ("environments/dev", "-dev"),
    ("environments/dev", "HEAD"),
    ("environments/dev", "main"),
    ("environments/dev", "main/dev"),
    ("      path: web\n", ""),
    ("path: web", "path: ."),
    ("path: web", "path: ''"),
    ("path: web", "path: /web"),
    ("path: web", "path: ../web"),
    ("path: web", "path: .git/hooks"),
    ("path: web", "path: web\\eu"),
    ("path: web", "path: \"we\\nb\""),
    ("path: web", "path: hydrator.metadata"),
    ("path: web", "path: web\n      repoURL: https://git.example.com/shop/hydrated"),
    ("    syncSource:", "    syncSources:"),
    // hydrateTo.
    ("path: web\n", "path: web\n    hydrateTo: {}\n"),
    ("path: web\n", "path: web\n    hydrateTo: environments/dev-next\n"),
    ("path: web\n", "path: web\n    hydrateTo:\n      targetBranch: environments/dev/next\n"),
    ("path: web\n", "path: web\n    hydrateTo:\n      branch: environments/dev-next\n"),
];

/// Other files that hold the word `sourceHydrator`.
const FILES: &[(&str, &str)] = &[
    (
        "an item of a list",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: argoproj.io/v1alpha1\n  kind: Application\n  spec:\n    sourceHydrator: {}\n",
    ),
    (
        "a template of a chart, outside of a chart",
        "# sourceHydrator\n{{- range .Values.apps }}\nkind: Application\n{{- end }}\n",
    ),
    ("JSON without its end", "{\n\t\"kind\": \"Application\",\n\t\"spec\": {\"sourceHydrator\": {}\n"),
    ("not UTF-8", "# sourceHydrator\nname: caf\u{fffd}\n"),
    ("a value without its type", "kind: Application\nspec:\n  sourceHydrator: !!int x\n"),
    (
        "aliases that grow",
        "# sourceHydrator\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
         c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
         e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n",
    ),
];

/// A second Application that gets in the way of the good one.
const CONFLICTS: &[(&str, &[(&str, &str)])] = &[
    ("the same folder", &[("name: web", "name: web-eu")]),
    ("the same folder, written in another way", &[("name: web", "name: web-eu"), ("path: web", "path: ./x/../web/")]),
    ("a folder inside", &[("name: web", "name: web-eu"), ("path: web", "path: web/eu")]),
    ("a branch inside a branch", &[("name: web", "name: web-eu"), ("environments/dev", "environments/dev/eu")]),
    (
        "staged and written at once",
        &[
            ("name: web", "name: api"),
            ("path: web\n", "path: api\n    hydrateTo:\n      targetBranch: environments/dev-next\n"),
        ],
    ),
];

/// Lines that differ, each with `-` or `+` in front.
fn changes(from: &str, to: &str) -> String {
    let (mut old, mut new) = (from.lines().collect::<Vec<_>>(), to.lines().collect::<Vec<_>>());
    let mut text = String::new();
    while !old.is_empty() || !new.is_empty() {
        // The nearest line that both have: what stands before it differs.
        let next = (0..old.len()).find_map(|at| Some((at, new.iter().position(|line| *line == old[at])?)));
        let (removed, added) = next.unwrap_or((old.len(), new.len()));
        for (sign, line) in
            old.drain(..removed).map(|line| ('-', line)).chain(new.drain(..added).map(|line| ('+', line)))
        {
            writeln!(text, "{sign}{}", line.replace('\t', "→")).expect("to memory");
        }
        old = old.split_off(old.len().min(1));
        new = new.split_off(new.len().min(1));
    }
    text
}

/// Every bad input that was tried, and all that it prints.
#[test]
fn bad_inputs() {
    let mut text = format!(
        "Mistakes in Applications and what each prints. The good one, of which only the changed lines are shown:\n\n{GOOD}"
    );
    let rule = "=".repeat(80);
    for (from, to) in SPOILT {
        assert!(GOOD.contains(from), "{from:?}");
        let bad = GOOD.replacen(from, to, 1);
        let (printed, _) = push(&[("apps/web.yaml".to_owned(), bad.clone().into_bytes())]);
        assert!(!printed.is_empty(), "nothing is said of {to:?}");
        write!(text, "\n{rule}\n{}\n{printed}", changes(GOOD, &bad)).expect("to memory");
    }
    for (what, file) in FILES {
        let mut bytes = file.as_bytes().to_vec();
        if let Some(at) = file.find('\u{fffd}') {
            bytes.splice(at..at + 3, [0xe9]);
        }
        let (printed, _) = push(&[("apps/web.yaml".to_owned(), bytes)]);
        assert!(!printed.is_empty(), "nothing is said of {what}");
        write!(text, "\n{rule}\nA file with {what}:\n{}\n{printed}", changes("", file)).expect("to memory");
    }
    for (what, edits) in CONFLICTS {
        let bad = edits.iter().fold(GOOD.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
        let files =
            [("apps/web.yaml".to_owned(), GOOD.into()), ("apps/web-eu.yaml".to_owned(), bad.clone().into_bytes())];
        let (printed, _) = push(&files);
        assert!(!printed.is_empty(), "nothing is said of {what}");
        write!(text, "\n{rule}\nThe good one, and {what}:\n{}\n{printed}", changes(GOOD, &bad)).expect("to memory");
    }
    expect_text(&cases().join("bad-inputs.txt"), &text);
}

/// One with every option, merges and aliases among them, to be mutated.
const RICH: &str = r#"apiVersion: v1
kind: List
items:
- &web
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: "argocd"}
  spec: &spec
    project: 'shop'
    sourceHydrator: &hydrator
      drySource: &dry
        repoURL: https://git.example.com/shop/config
        targetRevision: main
        path: ./apps/web/
        helm:
          valueFiles: [values.yaml, "/shared/${ARGOCD_APP_REVISION}.yaml"]
          parameters: [{name: a, value: "$ARGOCD_APP_SOURCE_PATH", forceString: true}]
          valuesObject: {a: [1, 2.5, true, ~], b: {c: "te\u0078t",
            d: 'it''s'}}
          apiVersions: [v1]
      syncSource: {targetBranch: environments/dev, path: web}
      hydrateTo: {targetBranch: environments/dev-next}
- <<: *web
  metadata: {name: api}
  spec:
    <<: *spec
    sourceHydrator:
      <<: *hydrator
      drySource: {<<: *dry, path: apps/api, helm: ~, kustomize: {images: ["a=b:$$c"], commonLabels: {a: b},
        replicas: [{name: a, count: "3"}], patches: [{patch: x, target: {kind: Deployment}, options: {allowNameChange: true}}]}}
      syncSource: {targetBranch: environments/dev, path: api}
"#;

const OVERRIDE: &str =
    "kustomize: ~\nhelm:\n  valueFiles:\n  - dev.yaml\n  values: ~\n  parameters: [{name: b, value: x}]\n";

/// xorshift64*: the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }
}

/// Cuts, doubles and swaps pieces, and puts in what YAML gives a meaning to.
fn mutate(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "\n",
        " ",
        "\t",
        ":",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "&web ",
        "*web",
        "*spec",
        "<<: ",
        "'",
        "\"",
        "|",
        ">",
        "#",
        "~",
        "\0",
        "\u{85}",
        "\u{2028}",
        "é",
        "\u{feff}",
        "---\n",
        "...\n",
        "!!binary ",
        "!!str ",
        "? ",
        "%YAML 1.1\n",
        "$",
        "${",
        "\\",
        "/",
        "..",
        ".git",
        "0x1F",
        "1e999",
        "99999999999999999999",
        "yes",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(bytes.len() + 1);
        let end = (at + numbers.below(12)).min(bytes.len());
        match numbers.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, PIECES[numbers.below(PIECES.len())].bytes())),
            2 => drop(bytes.splice(at..end, PIECES[numbers.below(PIECES.len())].bytes())),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
        }
    }
    bytes
}

#[test]
fn the_good_and_the_rich_have_no_mistakes() {
    for text in [GOOD, RICH] {
        let (printed, hydrated) = push(&[("apps.yaml".to_owned(), text.into())]);
        assert_eq!(printed, "");
        assert!(!hydrated.is_empty());
    }
}

/// Whatever is pushed: no panic, the same answer twice, and no Application beside an error of its own.
#[test]
fn mutated_files_are_read_or_refused() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused, mut sourced) = (0, 0, 0);
    for round in 0..1500 {
        let text = if round % 3 == 0 { GOOD } else { RICH };
        let bytes = mutate(text.as_bytes(), &mut numbers);
        let file = application::read(&path("apps.yaml"), &bytes);
        assert_eq!(file, application::read(&path("apps.yaml"), &bytes), "round {round}");
        for document in &file.documents {
            let is_error = document.diagnostics.iter().any(|diagnostic| diagnostic.is_error());
            assert_eq!(document.application.is_none(), is_error, "round {round}: {document:?}");
        }
        let printed: String = file.all_diagnostics().map(|diagnostic| format!("{diagnostic}\n")).collect();
        assert!(!printed.contains(|c: char| c.is_control() && c != '\n'), "round {round}: {printed:?}");
        refused += usize::from(!printed.is_empty());
        let applications: Vec<_> = file.applications().cloned().collect();
        read += applications.len();
        push(&[("apps.yaml".to_owned(), bytes)]);
        let files = MemoryFiles::new()
            .file("apps/web/.argocd-source.yaml", mutate(OVERRIDE.as_bytes(), &mut numbers))
            .file("apps/api/Chart.yaml", "name: api");
        let view = View::new(&files);
        for app in &applications {
            if let Ok(source) = application::source(&view, app, Profile::Proposal) {
                sourced += 1;
                let environment = Environment::new(Profile::Proposal, app, "8843d7f92416211de9ebb963ff4ce28125932878");
                let _ = environment.substitute(&source);
            }
        }
    }
    assert!(read > 300 && refused > 500 && sourced > 200, "{read} read, {refused} refused, {sourced} sourced");
}
