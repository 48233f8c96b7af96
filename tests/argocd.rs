//! `profile: argocd` writes what Argo CD's own hydrator writes, and the reference names every difference.
//!
//! What Argo CD writes is taken from its own tests and from runs of its code at `37ee0097` (3.6); times there are the
//! server's, in UTC.

use std::collections::BTreeSet;

use crate::support::{Lab, Repo};

/// A row of the table of differences in docs/differences.md, by its first cell.
type Difference = &'static str;

/// What a push gives, beside what Argo CD gives: the same, or with the difference that the reference names.
struct Vector {
    what: &'static str,
    argocd: String,
    ours: String,
    differs: Option<Difference>,
}

fn same(what: &'static str, argocd: impl Into<String>) -> Vector {
    let argocd = argocd.into();
    Vector { what, ours: argocd.clone(), argocd, differs: None }
}

fn other(what: &'static str, argocd: impl Into<String>, ours: impl Into<String>, differs: Difference) -> Vector {
    Vector { what, argocd: argocd.into(), ours: ours.into(), differs: Some(differs) }
}

/// A repository with the profile, and a clone with one directory that is hydrated.
struct Hydrated {
    server: Repo,
    clone: Repo,
    pushes: usize,
}

const APPLICATION: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  destination: {namespace: shop}
  sourceHydrator:
    drySource: {repoURL: https://github.com/example/repo, targetRevision: main, path: apps/web}
    syncSource: {targetBranch: env/dev, path: web}
";

impl Hydrated {
    fn new(lab: &Lab) -> Self {
        let server = lab.server();
        server.hydrate(&["config", "set", "profile", "argocd"]).success();
        server.hydrate(&["config", "set", "repoURL", "https://github.com/example/repo"]).success();
        let clone = server.clone_to("clone");
        clone.commit("start", &[("web.yaml", APPLICATION), ("apps/web/a.yaml", &object(0))]);
        clone.push().success();
        Self { server, clone, pushes: 0 }
    }

    /// Pushes a change of the manifest with a message that git leaves as it is; answers the dry commit.
    fn push(&mut self, message: &str) -> String {
        self.pushes += 1;
        self.clone.commit("x", &[("apps/web/a.yaml", &object(self.pushes))]);
        let tree = self.clone.git(&["rev-parse", "HEAD^{tree}"]);
        std::fs::write(self.clone.path.join(".git/message"), message).expect("written");
        let dry = self.clone.git(&["commit-tree", &tree, "-p", "HEAD~", "-F", ".git/message"]);
        self.clone.git(&["reset", "-q", "--hard", &dry]);
        self.clone.push().success();
        dry
    }

    fn show(&self, file: &str) -> String {
        let answer = self.server.run("git", &["show", &format!("env/dev:{file}")]);
        answer.success().stdout
    }

    /// The message of the newest hydrated commit without our trailers.
    fn message(&self) -> String {
        let message = self.server.git(&["log", "-1", "--format=%B", "env/dev"]);
        let ours = message.find("Hydrate-Branch: ").expect("our trailers");
        let end = if message[..ours].ends_with("\n\n") { ours - 1 } else { ours };
        message[..end].to_owned()
    }
}

fn object(count: usize) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata: {{count: '{count}'}}\n")
}

/// The names in the first column of the table in docs/differences.md.
fn listed() -> BTreeSet<String> {
    // Read when the test runs, so that it can be seen to fail by an edit.
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/differences.md"));
    let readme = readme.expect("the reference");
    let table = readme.split("| what | Argo CD | `profile: argocd` |\n|---|---|---|\n").nth(1).expect("the table");
    let rows = table.lines().take_while(|line| line.starts_with("| "));
    rows.map(|row| row.trim_start_matches("| ").split(" | ").next().unwrap_or_default().to_owned()).collect()
}

const LONG: usize = 20_000;

/// Each: a message, and what follows from it in the root `hydrator.metadata` behind the date, and as a commit message.
#[rustfmt::skip]
fn messages() -> Vec<(String, Vector, Vector)> {
    const AUTHOR: &str = "\nCo-authored-by: Dev Eloper <dev@example.com>\n";
    let reference = |fields: &str| format!("  \"references\": [\n    {{\n      \"commit\": {{\n{fields}\n      }}\n    }}\n  ]\n}}\n");
    let subject = |text: &str| format!("  \"subject\": \"{text}\"\n}}\n");
    let with_body = |body: &str| format!("  \"subject\": \"s\",\n  \"body\": \"{body}\"\n}}\n");
    let id = "3ff41cc5247197a6caf50216c4c76cc29d78a97c";
    let id_of_256 = "3ff41cc5247197a6caf50216c4c76cc29d78a97c3ff41cc5247197a6caf50216";
    let field = |key: &str, value: &str| format!("        \"{key}\": \"{value}\"");
    vec![
        ("This is a commit message without trailers.".into(),
            same("a subject", subject("This is a commit message without trailers.")),
            same("a subject", format!("DRY: This is a commit message without trailers.\n{AUTHOR}"))),
        ("s\n\nThis is a commit message without trailers.".into(),
            same("a body", with_body("This is a commit message without trailers.\\n")),
            same("a body", format!("DRY: s\n\nThis is a commit message without trailers.\n{AUTHOR}"))),
        ("one\ntwo\n\nb\n".into(),
            same("a subject of two lines", "  \"subject\": \"one\\ntwo\",\n  \"body\": \"b\\n\"\n}\n"),
            same("a subject of two lines", format!("DRY: one\ntwo\n\nb\n{AUTHOR}"))),
        ("s \t\n\n\nb\n".into(),
            same("blanks behind the subject", "  \"subject\": \"s \\t\",\n  \"body\": \"\\nb\\n\"\n}\n"),
            same("blanks behind the subject", format!("DRY: s\n\nb\n{AUTHOR}"))),
        ("<&> \"\\ é 😀 \u{2028}\u{7f}".into(),
            same("escapes", subject("<&> \\\"\\\\ é 😀 \\u2028\u{7f}")),
            other("escapes", format!("DRY: <&> \"\\ é 😀 \u{2028}\u{7f}\n{AUTHOR}"),
                format!("DRY: <&> \"\\ é 😀 \u{fffd}\u{fffd}\n{AUTHOR}"), "control characters")),
        ("".into(),
            same("no message", "DATE-IS-LAST"),
            other("no message", format!("DRY: <no value>\n{AUTHOR}"), format!("DRY:\n{AUTHOR}"), "empty subject")),
        (format!("s\n\nArgocd-reference-commit-author: John Doe <j@x>\nArgocd-reference-commit-sha: {id}\n\
                  Argocd-reference-commit-subject: of the code\nArgocd-reference-commit-body: \"a\\nb\"\n\
                  Argocd-reference-commit-date: 2025-01-02T03:04:05.5+00:00\n\
                  Argocd-reference-commit-repourl: https://example.com/code\n"),
            same("a reference", format!("  \"subject\": \"s\",\n{}", reference(&[
                field("author", "\\\"John Doe\\\" <j@x>"), field("date", "2025-01-02T03:04:05Z"),
                field("subject", "of the code"), field("body", "a\\nb"), field("sha", id),
                field("repoUrl", "https://example.com/code")].join(",\n")))),
            other("a reference", format!("DRY: s\n\nCo-authored-by: \"John Doe\" <j@x>{AUTHOR}"),
                format!("DRY: s\n\nCo-authored-by: John Doe <j@x>{AUTHOR}"), "addresses in `Co-authored-by`")),
        ("s\n\nArgocd-reference-commit-repourl: https://a\nArgocd-reference-commit-repourl: https://b\n".into(),
            other("two repositories", format!("  \"subject\": \"s\",\n{}",
                    reference(&[field("author", "<@>"), field("repoUrl", "https://b")].join(",\n"))),
                format!("  \"subject\": \"s\",\n{}", reference(&field("repoUrl", "https://b"))), "reference without author"),
            other("two repositories", format!("DRY: s\n\nCo-authored-by: <@>{AUTHOR}"), format!("DRY: s\n{AUTHOR}"),
                "reference without author")),
        ("s\n\nArgocd-reference-commit-author: j@x\nArgocd-reference-commit-sha: abc123\n\
          Argocd-reference-commit-repourl: ssh://git@x/a\n".into(),
            other("a short id", format!("  \"subject\": \"s\",\n{}", reference(&[field("author", "<j@x>"),
                    field("sha", "abc123"), field("repoUrl", "ssh://git@x/a")].join(",\n"))),
                format!("  \"subject\": \"s\",\n{}", reference(&field("author", "<j@x>"))),
                "references that GitOps Promoter refuses"),
            other("a short id", format!("DRY: s\n\nCo-authored-by: <j@x>{AUTHOR}"),
                format!("DRY: s\n\nCo-authored-by: j@x{AUTHOR}"), "addresses in `Co-authored-by`")),
        ("s\n\nArgocd-reference-commit-repourl: % invalid %\nArgocd-reference-commit-date: invalid\n\
          argocd-reference-commit-sha: abcdef\nArgocd-reference-commit-sha:abcdef\n".into(),
            same("invalid fields", with_body("Argocd-reference-commit-repourl: % invalid %\\n\
                Argocd-reference-commit-date: invalid\\nargocd-reference-commit-sha: abcdef\\n\
                Argocd-reference-commit-sha:abcdef\\n")),
            same("invalid fields", format!("DRY: s\n\nArgocd-reference-commit-repourl: % invalid %\n\
                Argocd-reference-commit-date: invalid\nargocd-reference-commit-sha: abcdef\n\
                Argocd-reference-commit-sha:abcdef\n{AUTHOR}"))),
        (format!("s\n\nArgocd-reference-commit-author: <j@x>\nArgocd-reference-commit-sha: {id_of_256}\n"),
            other("an id of SHA-256", format!("  \"subject\": \"s\",\n  \"body\": \"Argocd-reference-commit-sha: {id_of_256}\\n\",\n{}",
                    reference(&field("author", "<j@x>"))),
                format!("  \"subject\": \"s\",\n{}", reference(&[field("author", "<j@x>"), field("sha", id_of_256)].join(",\n"))),
                "ids of SHA-256 in references"),
            other("an id of SHA-256",
                format!("DRY: s\n\nArgocd-reference-commit-sha: {id_of_256}\n\nCo-authored-by: <j@x>{AUTHOR}"),
                format!("DRY: s\n\nCo-authored-by: j@x{AUTHOR}"), "ids of SHA-256 in references")),
        ("s\n\nArgocd-reference-commit-author: Jörg <j@x>\n".into(),
            same("a name that is not ASCII", format!("  \"subject\": \"s\",\n{}",
                reference(&field("author", "=?utf-8?q?J=C3=B6rg?= <j@x>")))),
            other("a name that is not ASCII", format!("DRY: s\n\nCo-authored-by: =?utf-8?q?J=C3=B6rg?= <j@x>{AUTHOR}"),
                format!("DRY: s\n\nCo-authored-by: Jörg <j@x>{AUTHOR}"), "addresses in `Co-authored-by`")),
        ("s\n\nArgocd-reference-commit-author: a <j@x>\nArgocd-reference-commit-subject: one\n two\n".into(),
            same("a trailer of two lines", format!("  \"subject\": \"s\",\n  \"body\": \" two\\n\",\n{}", reference(&[
                field("author", "\\\"a\\\" <j@x>"), field("subject", "one two")].join(",\n")))),
            other("a trailer of two lines", format!("DRY: s\n\n two\n\nCo-authored-by: \"a\" <j@x>{AUTHOR}"),
                format!("DRY: s\n\n two\n\nCo-authored-by: a <j@x>{AUTHOR}"), "addresses in `Co-authored-by`")),
        ("s\n\nArgocd-reference-commit-author: a <j@x>\nArgocd-reference-commit-subject: one\nArgocd-reference-commit-subject: two\n".into(),
            same("a key that is given twice", format!("  \"subject\": \"s\",\n{}", reference(&[
                field("author", "\\\"a\\\" <j@x>"), field("subject", "two")].join(",\n")))),
            other("a key that is given twice", format!("DRY: s\n\nCo-authored-by: \"a\" <j@x>{AUTHOR}"),
                format!("DRY: s\n\nCo-authored-by: a <j@x>{AUTHOR}"), "addresses in `Co-authored-by`")),
        ("s\n\nb\r\nc\r\n".into(),
            same("line ends of Windows", with_body("b\\nc\\n")),
            same("line ends of Windows", format!("DRY: s\n\nb\nc\n{AUTHOR}"))),
        ("s\n\nHydrate-Dry: 1\n---\nb\n".into(),
            same("our trailers", with_body("Hydrate-Dry: 1\\n---\\nb\\n")),
            other("our trailers", format!("DRY: s\n\nHydrate-Dry: 1\n---\nb\n{AUTHOR}"),
                format!("DRY: s\n\n> Hydrate-Dry: 1\n> ---\nb\n{AUTHOR}"),
                "lines that read as our trailers or a promoter's, or as the end of a message")),
        (format!("s\n\n{}", "a".repeat(LONG)),
            other("a long line", with_body(&format!("{}\\n", "a".repeat(LONG))),
                with_body(&format!("{}\\n[...]\\n", "a".repeat(16 << 10))), "long texts"),
            other("a long line", format!("DRY: s\n\n{}\n{AUTHOR}", "a".repeat(LONG)),
                format!("DRY: s\n\n{}\n[...]\n{AUTHOR}", "a".repeat(16 << 10)), "long texts")),
    ]
}

#[test]
fn of_what_argocd_writes_nothing_differs_but_what_the_readme_lists() {
    let lab = Lab::new();
    let mut hydrated = Hydrated::new(&lab);
    let mut seen = BTreeSet::new();
    let mut judge = |vector: &Vector, found: &str| {
        assert_eq!(found, vector.ours, "{}", vector.what);
        assert_eq!(vector.argocd == vector.ours, vector.differs.is_none(), "{}", vector.what);
        seen.extend(vector.differs.map(str::to_owned));
    };
    for (message, metadata, text) in messages() {
        let dry = hydrated.push(&message);
        let found = hydrated.show("hydrator.metadata");
        let date = hydrated.clone.git(&["log", "-1", "--format=%cI"]);
        let head = format!(
            "{{\n  \"repoURL\": \"https://github.com/example/repo\",\n  \"drySha\": \"{dry}\",\n  \"author\": \"Dev \
             Eloper <dev@example.com>\",\n  \"date\": \"{date}\""
        );
        let rest = found.strip_prefix(&head).unwrap_or_else(|| panic!("{}: {found}", metadata.what));
        let rest = rest.strip_prefix(",\n").unwrap_or(if rest == "\n}\n" { "DATE-IS-LAST" } else { rest });
        judge(&metadata, rest);
        judge(&text, &hydrated.message().replacen(&dry[..7], "DRY", 1));
    }
    let dry = hydrated.push("last");
    for vector in files(&dry) {
        judge(&vector, &hydrated.show(vector.what));
    }
    let log = |format: &str| hydrated.server.git(&["log", "-1", &format!("--format={format}"), "env/dev"]);
    let modes = hydrated.server.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "env/dev"]);
    let first = hydrated.server.git(&["log", "--reverse", "--format=%B", "env/dev"]);
    let tip = hydrated.server.git(&["rev-parse", "env/dev"]);
    let note = hydrated.server.run("git", &["cat-file", "blob", &format!("refs/notes/hydrator.metadata:{tip}")]).stdout;
    let rows = [
        (
            other("date of the metadata", "2023-11-14T22:32:20Z", "2023-11-15T00:32:20+02:00", "dates"),
            hydrated
                .show("hydrator.metadata")
                .split("\"date\": \"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_default()
                .to_owned(),
        ),
        (
            other(
                "author",
                "Argo CD <argo-cd@example.com>",
                "git-hydrate <git-hydrate@localhost>",
                "author of commits",
            ),
            log("%an <%ae>"),
        ),
        (
            other(
                "modes",
                "100644 .gitattributes\n100644 hydrator.metadata\n100644 web/README.md\n100644 web/hydrator.metadata\n\
                 100755 web/manifest.yaml",
                "100644 .gitattributes\n100644 hydrator.metadata\n100644 web/README.md\n100644 web/hydrator.metadata\n\
                 100644 web/manifest.yaml",
                "mode of `manifest.yaml`",
            ),
            modes,
        ),
        (
            other("first commit", "Initial commit for env/dev\n", "Initial commit for env/dev\n\nHydrate-", "trailers"),
            first.split("Branch: ").next().unwrap_or_default().to_owned(),
        ),
        (same("note", format!("{{\"drySha\":\"{dry}\"}}\n")), note),
    ];
    for (vector, found) in rows {
        judge(&vector, &found);
    }
    for (vector, found) in commands(&lab) {
        judge(&vector, &found);
    }
    for (vector, files, application) in rendered() {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, *text)).collect();
        hydrated.clone.run("rm", &["-r", "apps"]).success();
        hydrated.clone.commit(vector.what, &[&files[..], &[("web.yaml", &application)]].concat());
        let answer = hydrated.clone.push().success();
        let failed = answer.stderr.contains("error: ");
        let manifest = hydrated.show("web/manifest.yaml");
        let found = manifest.lines().filter(|line| line.starts_with("kind: ") || line.starts_with("  key: "));
        let found: Vec<&str> = found.map(|line| line.trim_start().split(": ").nth(1).unwrap_or_default()).collect();
        let found = if failed { "error".to_owned() } else { found.join(" ") };
        judge(&vector, &found);
    }
    for (vector, file) in objects() {
        hydrated.clone.run("rm", &["-r", "apps"]).success();
        let message = format!("{}\n\nHydrate-Allow-Removal: env/dev", vector.what);
        hydrated.clone.commit(&message, &[("web.yaml", APPLICATION), ("apps/web/a.yaml", &file)]);
        hydrated.clone.push().success();
        judge(&vector, &hydrated.show("web/manifest.yaml"));
    }
    let listed = listed();
    assert_eq!(seen, listed, "docs/differences.md lists these and no others");
}

/// Objects, and the whole manifest that Argo CD makes of each.
#[rustfmt::skip]
fn objects() -> Vec<(Vector, String)> {
    let object = |rest: &str| format!("apiVersion: v1\nkind: Foo\n{rest}");
    let named = |rest: &str| format!("apiVersion: v1\nkind: Foo\nmetadata:\n  name: a\n{rest}");
    vec![
        (same("annotations that are empty", named("")), object("metadata: {name: a, annotations: {}}\n")),
        (same("annotations that are null", named("")), object("metadata: {name: a, annotations: null}\n")),
        (same("an object without metadata", object("metadata: {}\n")), object("")),
        (same("marks of Argo CD", named("")), object(
            "metadata: {name: a, annotations: {argocd.argoproj.io/tracking-id: x, argocd.argoproj.io/installation-id: y}}\n")),
        (same("a label of Argo CD", "apiVersion: v1\nkind: Foo\nmetadata:\n  creationTimestamp: null\n  labels:\n    \
            app.kubernetes.io/instance: z\n  name: a\nstatus: {}\n"), object(
            "metadata: {name: a, labels: {app.kubernetes.io/instance: z}, creationTimestamp: null}\nstatus: {}\n")),
        (same("numbers", named("v: 1.8446744073709552e+19\nw: 1000\nx: 1\n")), object(
            "metadata: {name: a}\nv: 18446744073709551615\nw: 1e3\nx: 1.0\n")),
        (same("an emoji", named("v: \"\\U0001F600\"\n")), object("metadata: {name: a}\nv: \u{1f600}\n")),
    ]
}

/// Files of the branch by name, as hydrated from the dry commit.
fn files(dry: &str) -> Vec<Vector> {
    let metadata = format!("{{\n  \"repoURL\": \"https://github.com/example/repo\",\n  \"drySha\": \"{dry}\"\n}}\n");
    let readme = format!(
        "# Manifest Hydration\n\nTo hydrate the manifests in this repository, run the following commands:\n\n```shell\n\
         git clone https://github.com/example/repo\n# cd into the cloned directory\ngit checkout {dry}\n```\n"
    );
    vec![
        same(".gitattributes", "**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true"),
        same("web/hydrator.metadata", metadata),
        same("web/README.md", readme),
    ]
}

/// What else a second repository shows: commands, READMEs, files that are written again.
fn commands(lab: &Lab) -> Vec<(Vector, String)> {
    let server = Repo::at(lab, "second.git");
    std::fs::create_dir(&server.path).expect("made");
    server.git(&["init", "-q", "--bare"]);
    server.install_without_settings();
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    server.hydrate(&["config", "set", "repoURL", "https://github.com/a;b/c"]).success();
    let clone = server.clone_to("second");
    let helm = "helm: {releaseName: \"a\\u001bb\", skipCrds: true, parameters: [{name: b, value: '2'}, {name: a, value: 1 2}], valueFiles: [v.yaml], valuesObject: {x: 1}}, ";
    let application = APPLICATION
        .replace("https://github.com/example/repo", "https://github.com/a;b/c")
        .replace("path: apps/web", &format!("{helm}path: apps/web"));
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
    clone.commit(
        "start",
        &[
            ("web.yaml", &application.replace("a\\u001bb", "web")),
            ("apps/web/Chart.yaml", chart),
            ("apps/web/v.yaml", "a: 0\n"),
            ("apps/web/templates/a.yaml", template),
        ],
    );
    clone.push().success();
    let show = |file: &str| server.run("git", &["show", &format!("env/dev:web/{file}")]).success().stdout;
    let command = |name: &str, sets: &str| {
        format!(
            "helm template . --name-template {name} --namespace shop {sets} --values ./apps/web/v.yaml --values <temp \
             file with values from source.helm.values/valuesObject>"
        )
    };
    let line = |text: String, start: &str| {
        text.lines().find(|line| line.contains(start)).unwrap_or_default().trim().to_owned()
    };
    let recorded =
        |text: String| line(text, "helm template").trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
    let before = show("hydrator.metadata");
    let mut rows = vec![
        (
            other(
                "order of flags",
                command("web", "--set \"a=1 2\" --set b=2"),
                command("web", "--set b=2 --set \"a=1 2\""),
                "order of recorded flags",
            ),
            recorded(before.clone()),
        ),
        (
            other(
                "a URL with a semicolon",
                "git clone https://github.com/a;b/c",
                "git clone 'https://github.com/a;b/c'",
                "`repoURL` in README.md",
            ),
            line(show("README.md"), "git clone"),
        ),
    ];
    clone.commit("another name", &[("web.yaml", &application.replace("a\\u001bb", "shop"))]);
    clone.push().success();
    rows.push((
        same("metadata of an unchanged manifest", command("web", "--set b=2 --set \"a=1 2\"")),
        recorded(show("hydrator.metadata")),
    ));
    rows
}

type FilesOf = Vec<(&'static str, &'static str)>;

/// What is rendered otherwise: kinds, and the values of `key`, in the order of `manifest.yaml`.
#[rustfmt::skip]
fn rendered() -> Vec<(Vector, FilesOf, String)> {
    const CHART: (&str, &str) = ("apps/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    const TEMPLATE: (&str, &str) =
        ("apps/web/templates/a.yaml", "apiVersion: v1\nkind: A\ndata:\n  key: {{ .Values.key }}\nmetadata: {name: a}\n");
    const JSONNET: &str = "{apiVersion: 'v1', kind: 'A', metadata: {name: std.thisFile}, data: {key: std.extVar('x')}}";
    let plain = || APPLICATION.to_owned();
    let with = |options: &str| APPLICATION.replace("path: apps/web}", &format!("path: apps/web, {options}}}"));
    let in_argocd = APPLICATION.replace("{name: web}", "{name: web, namespace: argocd}");
    vec![
        (same("an object without a kind", "error"), vec![("apps/web/a.yaml", "apiVersion: v1\nmetadata: {name: a}\n")], plain()),
        (same("an item without a kind", "error"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, metadata: {name: a}}]\n")], plain()),
        (same("text behind a separator", "error"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n--- x: y\nkind: Pod\n")], plain()),
        (other("an annotation that is a number", "error", "Pod", "annotations that are no strings"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {a: 1}}\n")], plain()),
        (other("an object without a version", "Pod", "error", "objects of a directory without `apiVersion`"),
            vec![("apps/web/a.yaml", "kind: Pod\nmetadata: {name: a}\n")], plain()),
        (same("the order of a directory", "Pod Service"),
            vec![("apps/web/b.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: b}\n"),
                ("apps/web/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")], plain()),
        (other("a file of something else", "Service", "error", "a file that gave objects and gives none now"),
            vec![("apps/web/b.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: b}\n"), ("apps/web/a.yaml", "foo: bar\n")], plain()),
        (other("a menu", "Pod", "Menu", "objects with a list `items`"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: Menu\nmetadata: {name: a}\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n")], plain()),
        (other("a list in a list", "PodList", "Pod", "lists in lists"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: PodList, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]}]\n")], plain()),
        (other("the end of a document", "Pod", "error", "text behind the end of a YAML document (`...`)"),
            vec![("apps/web/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n...\nx: y\n")], plain()),
        (other("values named twice", "b A", "a A", "a values file that is named twice"),
            vec![CHART, TEMPLATE, ("apps/web/a.values", "key: a\n"), ("apps/web/b.values", "key: b\n")],
            with("helm: {valueFiles: [a.values, b.values, a.values]}")),
        (other("null in an override", "b A", "a A", "`null` in `.argocd-source.yaml`"),
            vec![CHART, TEMPLATE, ("apps/web/values.yaml", "key: a\n"), ("apps/web/.argocd-source.yaml", "helm: {values: null}\n")],
            with("helm: {values: 'key: b'}")),
        (other("two override files", "web A", "argocd_web A", "`.argocd-source-NAME.yaml` and `.argocd-source-NAMESPACE_NAME.yaml`"),
            vec![CHART, TEMPLATE, ("apps/web/.argocd-source-web.yaml", "helm: {values: 'key: web'}\n"),
                ("apps/web/.argocd-source-argocd_web.yaml", "helm: {values: 'key: argocd_web'}\n")], in_argocd),
        (other("another Chart.yaml", "error", "Pod", "a file whose name only ends in `Chart.yaml`"),
            vec![("apps/web/myChart.yaml", "# nothing\n"), ("apps/web/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")], plain()),
        (other("variables of two Jsonnet files", "$ARGOCD_APP_NAME A web A", "$ARGOCD_APP_NAME A $ARGOCD_APP_NAME A",
                "`$$` in `extVars` and `tlas` of several Jsonnet files"),
            vec![("apps/web/a.jsonnet", JSONNET), ("apps/web/b.jsonnet", JSONNET)],
            with("directory: {jsonnet: {extVars: [{name: x, value: $$ARGOCD_APP_NAME}]}}")),
        (other("the path of a Jsonnet file", "/tmp/_argocd-repo/9b1f4b6e-6d1c-4c5e-9c3e-0d1f9c1d2b3a/apps/web/a.jsonnet A",
                "apps/web/a.jsonnet A", "`std.thisFile` in Jsonnet"),
            vec![("apps/web/a.jsonnet", "{apiVersion: 'v1', kind: 'A', metadata: {name: 'a'}, data: {key: std.thisFile}}")], plain()),
        (other("a file of the server", "\"\" A", "error", "Jsonnet imports of absolute paths, or of paths out of the repository"),
            vec![("apps/web/a.jsonnet", "{apiVersion: 'v1', kind: 'A', metadata: {name: 'a'}, data: {key: importstr '/dev/null'}}")], plain()),
    ]
}

/// In double quotes a shell runs what is in `$(…)`: that is Argo CD's text, so the reference has to warn.
#[test]
fn commands_are_quoted_as_argocd_quotes_them() {
    let lab = Lab::new();
    let hydrated = Hydrated::new(&lab);
    let helm = "helm: {parameters: [{name: a, value: $(touch x)}, {name: b, value: $(id)}]}, path: apps/web";
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    let files = [
        ("web.yaml", APPLICATION.replace("path: apps/web", helm)),
        ("apps/web/Chart.yaml", chart.to_owned()),
        ("apps/web/templates/a.yaml", object(1)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    hydrated.clone.run("rm", &["-r", "apps"]).success();
    hydrated.clone.commit("a chart", &files);
    hydrated.clone.push().success();
    let written = hydrated.show("web/README.md");
    assert!(written.contains(" --set \"a=$(touch x)\" --set b=$(id)"), "{written}");
    let readme = include_str!("../docs/differences.md");
    let (_, section) = readme.split_once("With the setting `profile: argocd`, files").expect("the section");
    let (before_table, _) = section.split_once("| what | Argo CD |").expect("its table");
    assert!(before_table.contains("**Do not paste"), "{before_table}");
}

#[test]
fn manifests_are_written_as_argocd_writes_them() {
    let lab = Lab::new();
    let hydrated = Hydrated::new(&lab);
    for (what, source, expected) in MANIFESTS {
        hydrated.clone.commit(what, &[("apps/web/a.yaml", source)]);
        let answer = hydrated.clone.push().success();
        assert_eq!(hydrated.show("web/manifest.yaml"), *expected, "{what}: {answer:?}");
    }
}

#[test]
fn an_application_without_objects_has_an_empty_manifest_as_in_argocd() {
    let lab = Lab::new();
    let hydrated = Hydrated::new(&lab);
    let other = APPLICATION
        .replace("name: web", "name: none")
        .replace("apps/web", "apps/none")
        .replace("path: web}", "path: none}");
    hydrated.clone.commit("nothing", &[("none.yaml", &other), ("apps/none/a.yaml", "# nothing\n---\nnull\n")]);
    hydrated.clone.push().success();
    assert_eq!(
        hydrated.server.git(&["ls-tree", "--name-only", "env/dev:none"]),
        "README.md\nhydrator.metadata\nmanifest.yaml"
    );
    assert_eq!(hydrated.show("none/manifest.yaml"), "");
}

/// Each: a rule, the source, and what Argo CD's repo server and commit server make of it.
const MANIFESTS: &[(&str, &str, &str)] = &[
    (
        "two objects in their order",
        "apiVersion: v1\nkind: Service\nmetadata: {name: guestbook-ui}\n---\n# a comment\n---\nkind: Deployment\napiVersion: apps/v1\nmetadata:\n  name: guestbook-ui\n",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: guestbook-ui\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: guestbook-ui\n",
    ),
    (
        "order of keys",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {é: '', b: '', ab: '', a10: '', a9: '', a01: '', a1b: '', a/b: '', a.b: '', a-b: '', Zed: '', A: '', '10': '', '9': '', '1': '', _x: '', '': ''}\n",
        "apiVersion: v1\ndata:\n  \"\": \"\"\n  _x: \"\"\n  \"1\": \"\"\n  \"9\": \"\"\n  \"10\": \"\"\n  A: \"\"\n  Zed: \"\"\n  a-b: \"\"\n  a.b: \"\"\n  a/b: \"\"\n  a1b: \"\"\n  a01: \"\"\n  a9: \"\"\n  a10: \"\"\n  ab: \"\"\n  b: \"\"\n  é: \"\"\nkind: ConfigMap\nmetadata:\n  name: web\n",
    ),
    (
        "plain and quoted strings",
        "apiVersion: v1\nkind: A\nmetadata: {name: web}\nx: ['y', 'no', '12:30', '0o7', '0b1', '1_000', '+1', '08', '.5', '.inf', '~', '', 'a: b', 'a:', '*a', '{a}', '- a', '---', '{{ x }}', ' a', ':', '=', '<<', 'a,b', 'a:b', 'a# b', '-a', '?a', 'http://a:80/x', '1.2.3', 'nUll', 'a #b']\n",
        "apiVersion: v1\nkind: A\nmetadata:\n  name: web\nx:\n  - \"y\"\n  - \"no\"\n  - \"12:30\"\n  - \"0o7\"\n  - \"0b1\"\n  - \"1_000\"\n  - \"+1\"\n  - \"08\"\n  - \".5\"\n  - \".inf\"\n  - \"~\"\n  - \"\"\n  - 'a: b'\n  - 'a:'\n  - '*a'\n  - '{a}'\n  - '- a'\n  - '---'\n  - '{{ x }}'\n  - ' a'\n  - ':'\n  - =\n  - <<\n  - a,b\n  - a:b\n  - a# b\n  - -a\n  - ?a\n  - http://a:80/x\n  - 1.2.3\n  - nUll\n  - 'a #b'\n",
    ),
    (
        "strings of several lines",
        "apiVersion: v1\nkind: A\nmetadata: {name: web}\nx: [\"a\\nb\\n\", \"a\\nb\", \"a\\n\\n\", \" a\\nb\\n\", \"\\ta\\nb\", \"a \\nb\\n\", \"a\\t\\nb\\n\", \"\\U0001F600\\n\", \"\\u00A0\\u0085\\uFEFF\\e\\x7F\"]\n",
        "apiVersion: v1\nkind: A\nmetadata:\n  name: web\nx:\n  - |\n    a\n    b\n  - |-\n    a\n    b\n  - |+\n    a\n\n  - |2\n     a\n    b\n  - |-\n    \ta\n    b\n  - \"a \\nb\\n\"\n  - |\n    a\t\n    b\n  - \"\\U0001F600\\n\"\n  - \"\u{a0}\\N\\uFEFF\\e\\x7F\"\n",
    ),
    (
        "numbers, booleans and empty values",
        "apiVersion: v1\nkind: A\nmetadata: {name: web}\nx: [1e3, 1.0, 0777, 0x1F, 0b11, 1_000, 1e20, 18446744073709551616, 1234567.5, 1e-5, 0.5, -0.0, yes, off, 12:30:45, 2001-01-01, {}, [], null, ~, [[a]]]\non: b\nlist: [[a, b]]\n",
        "apiVersion: v1\nkind: A\nlist:\n  - - a\n    - b\nmetadata:\n  name: web\n\"true\": b\nx:\n  - 1000\n  - 1\n  - 511\n  - 31\n  - 3\n  - 1000\n  - 1e+20\n  - 1.8446744073709552e+19\n  - 1.2345675e+06\n  - 1e-05\n  - 0.5\n  - 0\n  - true\n  - false\n  - \"12:30:45\"\n  - \"2001-01-01\"\n  - {}\n  - []\n  - null\n  - null\n  - - - a\n",
    ),
    (
        "annotations of Argo CD, and no metadata",
        "apiVersion: v1\nkind: A\nmetadata: {name: a, annotations: {argocd.argoproj.io/installation-id: x, b: c}}\n---\napiVersion: v1\nkind: B\n",
        "apiVersion: v1\nkind: A\nmetadata:\n  annotations:\n    b: c\n  name: a\n---\napiVersion: v1\nkind: B\nmetadata: {}\n",
    ),
    (
        "lists and tracking",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a, annotations: {argocd.argoproj.io/tracking-id: x}}}\n- {apiVersion: v1, kind: B, metadata: {name: b, annotations: {}, creationTimestamp: null}}\n---\napiVersion: v1\nkind: C\nitems: null\nspec: {}\nmetadata: {name: c}\n---\napiVersion: v1\nkind: PodList\nitems: []\n",
        "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: B\nmetadata:\n  creationTimestamp: null\n  name: b\n---\napiVersion: v1\nitems: null\nkind: C\nmetadata:\n  name: c\nspec: {}\n",
    ),
];
