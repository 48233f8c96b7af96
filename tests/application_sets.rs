//! ApplicationSets as Argo CD expands them: a folder a rule, see `tests/cases/applicationset`.
//!
//! A case has `applicationset.yaml`, the files of its tree in `tree` (`links.txt` names the symbolic links among them),
//! and what Argo CD `37ee0097` made of them with its own generators, renderer and patches: the Applications in
//! `expected.yaml`, or its message in `expected-error.txt`; `record` beside the cases writes them anew. `note.txt` says
//! what the case is about. Its flags: `order-free` where upstream's order is random, `free-message` where the message is
//! that of git, of the API server or of a panic, `quirk` for what is likely a mistake, but what a cluster gets.

use std::fs;
use std::path::{Path, PathBuf};

use git_hydrate::testing::application::set::{Expanded, Home, Limits, Sources, read_sets};
use git_hydrate::testing::diag::Diagnostic;
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::template;
use git_hydrate::testing::view::{Kind, MemoryFiles, View};
use git_hydrate::testing::yaml::{self, Value, json};

use crate::support::{Lab, Repo};

const URL: &str = "https://git.example.com/acme/dry.git";

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a plain path")
}

fn home() -> Home {
    Home { repo_urls: vec![URL.to_owned()], revisions: vec!["main".to_owned()], is_beside_head: false }
}

fn add_files(files: &mut MemoryFiles, dir: &Path, below: &RepoPath) {
    for entry in fs::read_dir(dir).expect("readable") {
        let entry = entry.expect("readable");
        let path = below.child(entry.file_name().to_str().expect("UTF-8")).expect("plain");
        match entry.path().is_dir() {
            true => add_files(files, &entry.path(), &path),
            false => files.insert(path, Kind::File, &fs::read(entry.path()).expect("readable")),
        }
    }
}

fn tree(case: &Path) -> MemoryFiles {
    let mut files = MemoryFiles::new();
    add_files(&mut files, &case.join("tree"), &RepoPath::root());
    for line in fs::read_to_string(case.join("links.txt")).unwrap_or_default().lines() {
        let (link, target) = line.split_once(" -> ").expect("a link");
        files.insert(path(link), Kind::Link, target.as_bytes());
    }
    files
}

/// What the first set of a text makes of some files.
fn expand(set: &str, files: &MemoryFiles, limits: &Limits) -> Result<Expanded, Diagnostic> {
    let sets = read_sets(&path("applicationset.yaml"), set.as_bytes())?;
    let view = View::new(files);
    sets.first().expect("a set").expand(&Sources::new(&view, home()), limits)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a case fails, if it does.
fn fault(case: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(case.join(name)).ok();
    let note = read("note.txt").unwrap_or_default();
    let flags = note.split_once("flags: ").and_then(|(_, rest)| rest.split_once(';')).map_or("", |(flags, _)| flags);
    let made = expand(&read("applicationset.yaml").expect("a set"), &tree(case), &Limits::default());
    match (read("expected.yaml"), made) {
        (Some(expected), Ok(made)) => {
            let expected = yaml::decode(expected.as_bytes(), yaml::Dialect::V2, &yaml::Limits::default());
            let shown = |applications: Vec<Value>| {
                let indent = json::Options { escape_html: false, indent: Some("  ") };
                let mut all: Vec<_> = applications.iter().map(|one| json::encode(one, indent)).collect();
                if flags.contains("order-free") {
                    all.sort();
                }
                all.join("\n")
            };
            let expected = expected.expect("YAML").into_iter().flat_map(|document| match document {
                Value::Sequence(items) => items,
                _ => Vec::new(),
            });
            let expected = expected.collect();
            let (expected, made) =
                (shown(expected), shown(made.applications.into_iter().map(|made| made.object).collect()));
            (expected != made).then(|| format!("--- expected\n{expected}\n--- made\n{made}"))
        }
        (Some(_), Err(diagnostic)) => Some(diagnostic.to_string()),
        (None, Ok(_)) => Some("it should fail".to_owned()),
        (None, Err(diagnostic)) => {
            let expected = squeezed(&read("expected-error.txt").expect("an error"));
            let is_free = flags.contains("free-message");
            (!is_free && squeezed(&diagnostic.message) != expected)
                .then(|| format!("--- expected\n{expected}\n--- told\n{}", diagnostic.message))
        }
    }
}

#[test]
fn sets_make_the_applications_that_argo_cd_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/applicationset");
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() >= 270, "the cases are gone");
    let faults = cases.iter().filter_map(|case| {
        let name = case.file_name().unwrap_or_default().display().to_string();
        fault(case).map(|fault| format!("{name}\n{fault}"))
    });
    let faults: Vec<_> = faults.collect();
    assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
}

/// A set with these generators, and a template with the name `{{name}}`.
fn set(options: &str, generators: &str, name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: fleet, namespace: argocd}}\nspec:\n{options}  \
         generators:\n{generators}\n  template:\n    metadata: {{name: '{name}'}}\n    spec: {{project: default}}\n"
    )
}

#[test]
fn a_set_that_would_make_too_much_ends_before_it_is_made() {
    let elements = |count: usize| (0..count).map(|index| format!("{{n: 'x{index}'}},")).collect::<String>();
    let list = |count: usize, key: &str| format!("list: {{elements: [{}]}}", elements(count).replace("n:", key));
    let matrix = format!("  - matrix: {{generators: [{{{}}}, {{{}}}]}}", list(2000, "a:"), list(2000, "b:"));
    let long = format!("  - list: {{elements: [{{a: '{}'}}]}}", "x".repeat(10_000));
    let go = "  goTemplate: true\n";
    let entries = (0..20_000).map(|index| format!("        k{index}: v\n")).collect::<String>();
    let patch = format!("  templatePatch: |\n    metadata:\n      annotations:\n{entries}");
    let eight = format!("  - {}", list(8, "a:"));
    let rows = [
        (patch.as_str(), eight.as_str(), "{{a}}", "the set makes more bytes than the limit"),
        ("", matrix.as_str(), "{{a}}-{{b}}", "the set makes more params sets than the limit"),
        ("", &format!("  - {}", list(20, "a:")), "{{a}}", "the set makes more than 10 Applications"),
        ("", &long, &"{{a}}".repeat(10_000), "the output of the templates is larger than the limit"),
        (go, &long, "{{ repeat 1000000 .a }}", "template execution makes more than"),
        (
            go,
            &long,
            "{{ $l := until 10000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}",
            "template execution takes more than",
        ),
        (go, &long, &"{{ if .a }}".repeat(50_000), "failed to parse template"),
        (
            go,
            "  - list: {elementsYaml: '[&a [x,x,x,x,x,x,x,x], &b [*a,*a,*a,*a,*a,*a], &c [*b,*b,*b,*b,*b,*b], &d [*c,*c,*c,*c,*c,*c], &e [*d,*d,*d,*d,*d,*d], &f [*e,*e,*e,*e,*e,*e], &g [*f,*f,*f,*f,*f,*f], &h [*g,*g,*g,*g,*g,*g]]'}",
            "x",
            "excessive aliasing",
        ),
        (
            "",
            "  - git: {repoURL: 'https://git.example.com/acme/dry.git', files: [{path: '*a*a*a*a*a*a*a*a*b'}]}",
            "x",
            "",
        ),
    ];
    let limits = Limits { applications: 10, params: 10_000, bytes: 8 << 20, ..Limits::default() };
    let limits = Limits { template: template::Limits { steps: 1_000_000, ..limits.template }, ..limits };
    let files = MemoryFiles::new().file(&"a".repeat(5000), "a: b");
    for (options, generators, name, expected) in rows {
        let started = std::time::Instant::now();
        let told = match expand(&set(options, generators, name), &files, &limits) {
            Ok(_) => String::new(),
            Err(diagnostic) => diagnostic.to_string(),
        };
        let shown = told.chars().take(300).collect::<String>();
        assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{expected}: {shown}");
        assert!(started.elapsed().as_secs() < 20, "{expected} takes {:?}", started.elapsed());
    }
}

#[test]
fn what_is_wrong_with_a_long_patch_is_told_behind_its_beginning() {
    let generators = "  - list: {elements: [{name: a}]}";
    let patch = format!("  templatePatch: |\n    {{{{ fail \"no\" }}}}\n{}", "    # and so on\n".repeat(5000));
    let document = set(&format!("  goTemplate: true\n{patch}"), generators, "{{ .name }}");
    let told = expand(&document, &MemoryFiles::new(), &Limits::default()).expect_err("fails").message;
    assert!(told.ends_with("error calling fail: no"), "{told}");
}

#[test]
fn a_set_reads_what_its_generators_look_at_and_no_more() {
    let generators = "  - git: {repoURL: 'https://git.example.com/acme/dry.git', directories: [{path: 'apps/*'}]}\n  \
                      - git: {repoURL: 'https://git.example.com/acme/dry.git', files: [{path: 'envs/*.yaml'}]}";
    let document = set("", generators, "{{path.basename}}{{n}}");
    let before = MemoryFiles::new().file("apps/web/deep/a.yaml", "a").file("envs/dev.yaml", "n: '1'").file("x/y", "");
    let view = View::new(&before);
    let sets = read_sets(&path("set.yaml"), document.as_bytes()).expect("YAML");
    sets[0].expand(&Sources::new(&view, home()), &Limits::default()).expect("is expanded");
    let reads = view.reads();
    let rows = [
        ("apps/web/deep/b.yaml", "b", true),
        ("apps/web/top.yaml", "b", true),
        ("x/y", "other", true),
        ("apps/api/a.yaml", "a", false),
        ("envs/dev.yaml", "n: '2'", false),
        ("envs/prod.yaml", "n: '2'", false),
    ];
    for (file, content, expected) in rows {
        let after = before.clone().file(file, content);
        assert_eq!(View::new(&after).confirms(&reads), Ok(expected), "{file}");
    }
}

/// A clone with two sets, one of which fails.
fn clone(lab: &Lab) -> Repo {
    let repo = Repo::at(lab, "dry");
    fs::create_dir(&repo.path).expect("made");
    repo.git(&["init", "-q"]);
    repo.git(&["remote", "add", "origin", URL]);
    let git =
        |pattern: &str| format!("  - git: {{repoURL: '{URL}', revision: main, directories: [{{path: '{pattern}'}}]}}");
    let good = set("  goTemplate: true\n", &git("apps/*"), "{{ .path.basename }}");
    let options = "  goTemplate: true\n  goTemplateOptions: ['missingkey=error']\n";
    let bad = set(options, &git("apps/*"), "{{ .path.name }}");
    repo.commit(
        "Two sets",
        &[("apps/web/a.yaml", "a: b"), ("apps/api/a.yaml", "a: b"), ("sets.yaml", &format!("{bad}---\n{good}"))],
    );
    repo
}

#[test]
fn the_command_prints_what_a_set_makes_and_points_at_what_fails() {
    let lab = Lab::new();
    let repo = clone(&lab);
    fs::create_dir(repo.path.join("apps/empty")).expect("made");
    let told = repo.hydrate(&["render", "applicationset", "sets.yaml"]).exits(1);
    let names: Vec<_> = told.stdout.lines().filter(|line| line.starts_with("  name: ")).collect();
    assert_eq!(names, ["  name: api", "  name: web"], "{}", told.stdout);
    assert!(told.stdout.starts_with("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: api\n"));
    let message = "error: failed to execute go template {{ .path.name }}: template: base:1:8: executing \"base\" at \
                   <.path.name>: map has no entry for key \"name\"\n   --> sets.yaml:10:22\n";
    assert!(told.stderr.contains(message), "{}", told.stderr);
}

#[test]
fn the_command_says_what_it_needs() {
    let lab = Lab::new();
    let repo = clone(&lab);
    let sets = fs::read_to_string(repo.path.join("sets.yaml")).expect("readable");
    let plugin = set("", "  - plugin: {configMapRef: {name: p}}", "{{app}}");
    repo.commit("More", &[("plugin.yaml", &plugin), ("params.yaml", "plugin: [{app: one}, {app: two}]")]);
    let clusters = set("", "  - clusters: {}", "{{name}}");
    let rows: &[(&[&str], &str, i32, &str)] = &[
        (&["plugin.yaml"], "", 1, "the generator `plugin` gets its params from outside of git"),
        (&["plugin.yaml", "--recorded", "params.yaml"], "", 0, "name: two"),
        (&["plugin.yaml", "--recorded", "plugin.yaml"], "", 2, "`apiVersion` is not one of `scmProvider`"),
        (&["-"], &clusters, 1, "only Argo CD knows the clusters: the dry tree has no cluster Secret"),
        (&["-", "--repo-url", "https://other.example.com/x.git"], &sets, 1, "which is not this repository"),
        (&["-"], &sets.replace("revision: main", "revision: v1"), 1, "use `HEAD` or `main`"),
        (&["-", "--revision", "v1"], &sets.replace("revision: main", "revision: v1"), 1, "name: web"),
        (&["params.yaml"], "", 2, "params.yaml has no ApplicationSet"),
        (&["gone.yaml"], "", 2, "reading gone.yaml: No such file"),
        (&["-", "--tree", "sets.yaml"], &sets, 2, "is not a directory"),
        (&["--tee"], "", 2, "unexpected argument '--tee'"),
        (&["-", "--help"], "", 0, "--recorded <FILE>"),
    ];
    for (flags, input, code, expected) in rows {
        let told = repo.hydrate_with(&[&["render", "applicationset"], *flags].concat(), input).exits(*code);
        assert!((told.stdout.clone() + &told.stderr).contains(expected), "{flags:?}: {}{}", told.stdout, told.stderr);
    }
}

/// Without a setting that names dry branches, the branch that is checked out is the one that generators may name.
/// As a push expands them: by the settings of the repository that the tree is of.
#[test]
fn the_command_goes_by_the_settings_of_the_tree() {
    let lab = Lab::new();
    let repo = clone(&lab);
    let cluster = |name: &str| format!("- {{name: {name}, server: 'https://{name}.example.com'}}\n");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: gitops\n  labels: \
                  {argocd.argoproj.io/secret-type: cluster}\nstringData: {name: secret, server: 'https://secret.example.com'}\n";
    repo.commit(
        "More",
        &[
            ("clusters.yaml", &cluster("listed")),
            ("secret.yaml", secret),
            ("params.yaml", "plugin: [{app: one}, {app: two}]"),
            ("broken.yaml", "nothing: []"),
            ("plugin.yaml", &set("", "  - plugin: {configMapRef: {name: p}}", "{{app}}")),
            ("all.yaml", &set("", "  - clusters: {}", "{{name}}")),
        ],
    );
    let name = |file: &str, flags: &[&str]| {
        let told = repo.hydrate(&[&["render", "applicationset", file], flags].concat()).success().stdout;
        let names = told.lines().filter_map(|line| line.strip_prefix("  name: "));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let set = |key: &str, value: &str| repo.hydrate(&["config", "set", "--offline", key, "--", value]).success();
    repo.hydrate(&["render", "applicationset", "all.yaml"]).exits(1);
    set("clusters", "clusters.yaml");
    assert_eq!(name("all.yaml", &[]), ["listed", "in-cluster"]);
    set("argocdNamespace", "gitops");
    assert_eq!(name("all.yaml", &[]), ["listed", "secret", "in-cluster"]);
    assert_eq!(name("all.yaml", &["--argocd-namespace", "argocd"]), ["listed", "in-cluster"]);
    set("applicationSets", "{fleet: {parameters: params.yaml}}");
    assert_eq!(name("plugin.yaml", &[]), ["one", "two"]);
    // What is given beats the settings.
    fs::write(lab.path("other.yaml"), "plugin: [{app: three}]").expect("written");
    assert_eq!(name("plugin.yaml", &["--recorded", "../other.yaml"]), ["three"]);
    set("applicationSets", "{fleet: {parameters: broken.yaml}}");
    let told = repo.hydrate(&["render", "applicationset", "plugin.yaml"]).exits(1).stderr;
    assert!(told.contains("--> broken.yaml") && told.contains("applicationSets.fleet.parameters"), "{told}");
    set("applicationSets", "{fleet: {parameters: params.yaml}}");
    set("clusters", "gone.yaml");
    let told = repo.hydrate(&["render", "applicationset", "all.yaml"]).exits(1).stderr;
    assert!(told.contains("gone.yaml"), "{told}");
}

#[test]
fn a_clone_lists_what_sets_make_of_its_own_branch() {
    let lab = Lab::new();
    let repo = Repo::at(&lab, "dry");
    fs::create_dir(&repo.path).expect("made");
    repo.git(&["init", "-q"]);
    let spec = format!(
        "{{project: default, sourceHydrator: {{drySource: {{repoURL: '{URL}', targetRevision: main, path: '{{{{ .path.path \
         }}}}'}}, syncSource: {{targetBranch: environments/dev, path: '{{{{ .path.basename }}}}'}}}}}}"
    );
    let git = format!("  - git: {{repoURL: '{URL}', revision: main, directories: [{{path: 'apps/*'}}]}}");
    let text = set("  goTemplate: true\n", &git, "{{ .path.basename }}").replace("{project: default}", &spec);
    repo.commit("A set", &[("apps/web/a.yaml", "a: b"), ("apps/api/a.yaml", "a: b"), ("set.yaml", &text)]);
    let told = repo.hydrate(&["apps"]).success();
    assert!(
        told.stdout.ends_with("2 of 2 Applications hydrate from main, if they render: git hydrate check\n"),
        "{told:?}"
    );
}

#[test]
fn a_number_among_the_values_of_a_generator_is_to_be_put_in_quotes() {
    let set = |value: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: a}}\nspec:\n  generators:\n  - git: \
             {{repoURL: {URL}, revision: main, directories: [{{path: k}}], values: {{n: {value}}}}}\n  template: {{metadata: \
             {{name: a}}, spec: {{project: default}}}}\n"
        )
    };
    for value in ["3", "true", "1.5"] {
        let refused = expand(&set(value), &MemoryFiles::new(), &Limits::default()).expect_err(value);
        assert_eq!(refused.hint.as_deref(), Some("put the value in quotes: a text belongs here"), "{refused:?}");
    }
    let refused = expand(&set("[a]"), &MemoryFiles::new(), &Limits::default()).expect_err("a list");
    assert!(refused.hint.is_some_and(|hint| hint.contains("templatePatch")));
}
