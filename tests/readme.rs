//! What README.md and the pages of `docs/` show is what happens: the console blocks of a page are run one after the other, in
//! a shell of its own; and their links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::{BINARY, Lab};
use crate::vendor::{application, chart, files_of, packed, sha256};

/// Stands between the outputs of two commands.
const MARK: &str = "---- next ----";

/// The pages; each has its own repositories.
pub(crate) const PAGES: [&str; 11] = [
    "README.md",
    "docs/admin.md",
    "docs/architecture.md",
    "docs/differences.md",
    "docs/hosts.md",
    "docs/messages.md",
    "docs/migrate.md",
    "docs/reference.md",
    "docs/security.md",
    "docs/tour.md",
    "docs/user.md",
];

/// A piece of a text.
#[derive(Debug)]
enum Piece {
    Text(String),
    /// Its output is shown below it.
    Command(String),
    /// A command of a comment `<!-- setup`, of which a reader sees nothing.
    Setup(String),
}

/// Takes the commands of the console blocks apart from the text, in README.md those after `## In five minutes`; their outputs
/// are dropped.
fn pieces(file: &str, page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let (mut shown, mut inside, mut setup) = (file != "README.md", false, false);
    for line in page.split_inclusive('\n') {
        shown |= line.starts_with("## In five minutes");
        setup = (setup || line == "<!-- setup\n") && line != "-->\n";
        if let (true, Some(command)) = (setup, line.strip_prefix("$ ")) {
            text.push_str(line);
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Setup(command.trim_end().to_owned()));
            continue;
        }
        if shown && line == "```console\n" {
            inside = true;
        } else if inside && line == "```\n" {
            inside = false;
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Command(command.trim_end().to_owned()));
            }
            continue;
        }
        text.push_str(line);
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// What the server of the section on inputs is called there.
const CHARTS: &str = "https://charts.example.com";

/// A repository of charts on disk: the chart `web` in two versions.
pub(crate) fn charts(lab: &Lab) -> std::path::PathBuf {
    let root = lab.path("charts");
    fs::create_dir(&root).expect("made");
    let mut index = "apiVersion: v1\nentries:\n  web:\n".to_owned();
    for (version, port) in [("1.3.0", 8443), ("1.2.3", 8080)] {
        let mut files = chart("web", version);
        let values = format!("port: {port}\nreplicas: 1\n");
        let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  replicas: {{ \
                          .Values.replicas }}\n  selector:\n    matchLabels: {app: {{ .Release.Name }}}\n  template:\n    \
                          metadata:\n      labels: {app: {{ .Release.Name }}}\n    spec:\n      containers:\n      - name: \
                          web\n        image: registry.example.com/web:{{ .Chart.Version }}\n        ports: [{containerPort: {{ \
                          .Values.port }}}]\n";
        files.retain(|(path, _)| path.ends_with("Chart.yaml"));
        files.extend([
            ("web/values.yaml".to_owned(), values),
            ("web/templates/web.yaml".to_owned(), deployment.to_owned()),
        ]);
        let (file, archive) = (format!("web-{version}.tgz"), packed(&files));
        index += &format!("  - {{name: web, version: {version}, urls: [{file}], digest: {}}}\n", sha256(&archive));
        fs::write(root.join(file), archive).expect("written");
    }
    fs::write(root.join("index.yaml"), index).expect("written");
    root
}

/// A dry tree whose Applications name nothing but charts of a server.
pub(crate) fn only_charts(lab: &Lab, url: &str) -> std::path::PathBuf {
    let root = lab.path("only-charts");
    for environment in ["dev", "prod"] {
        let text = application(&format!("web-{environment}"), &format!("web/{environment}"));
        let text = text.replace("environments/dev", &format!("environments/{environment}"));
        let text = text.replace(&format!("path: web-{environment}}}"), "path: web}").replace(", }", "}");
        let kustomization =
            format!("namespace: shop\nhelmCharts:\n- name: web\n  repo: {url}\n  version: 1.2.3\n  releaseName: web\n");
        for (path, text) in [
            (format!("applications/{environment}.yaml"), text),
            (format!("web/{environment}/kustomization.yaml"), kustomization),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, text).expect("written");
        }
    }
    root
}

/// A server has another port in each run, and a repository another path, so commits that name them have other ids: shown is one
/// for each of them.
fn with_steady_ids(text: &str) -> String {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let mut known: Vec<String> = Vec::new();
    let mut steady = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if word.len() == 7 && word.chars().all(is_digit) {
            let index = known.iter().position(|id| id == word).unwrap_or_else(|| {
                known.push(word.to_owned());
                known.len() - 1
            });
            steady += &part.replace(word, &sha256(index.to_string().as_bytes())[..7]);
        } else {
            steady += part;
        }
    }
    steady
}

/// The output of each command.
fn run(commands: &[&str]) -> Vec<String> {
    let lab = Lab::new();
    let server = files_of(charts(&lab));
    let config = fs::read_to_string(lab.path("home/.gitconfig")).expect("there");
    fs::write(lab.path("home/.gitconfig"), config + "\tvendorAllow = http://127.0.0.1\n").expect("written");
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/applications/two-regions-of-three-environments/in");
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        script.push_str(&format!("{command}\necho '{MARK}'\n"));
    }
    let mut shell = lab.command("bash", &lab.path(""));
    shell
        .env("EXAMPLE", example)
        .env("ONLY_CHARTS", only_charts(&lab, &server.url()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut shell = shell.spawn().expect("bash runs");
    shell.stdin.take().expect("piped").write_all(script.as_bytes()).expect("read");
    let output = shell.wait_with_output().expect("it ends");
    let here = fs::canonicalize(lab.path("")).expect("there");
    let text = String::from_utf8(output.stdout).expect("UTF-8").replace(BINARY, "/usr/local/bin/git-hydrate");
    let text = text.replace(here.to_str().expect("UTF-8"), "/srv/git");
    // These differ from machine to machine.
    let user = format!("belongs to user {}\n", rustix::process::geteuid().as_raw());
    let git = lab.command("git", &here).arg("version").output().expect("git runs").stdout;
    let git = String::from_utf8(git).expect("UTF-8").replace("git version ", "");
    let git = git.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let text =
        text.replace(&user, "belongs to user 1000\n").replace(&format!("good     git {git}\n"), "good     git 2.47\n");
    // What `git hydrate init` writes has the path of the repository.
    let steady_from = if commands.contains(&"git hydrate init") { Some(0) } else { text.find(&server.url()) };
    let (before, after) = text.split_at(steady_from.unwrap_or(text.len()));
    let text = before.to_owned() + &with_steady_ids(after).replace(&server.url(), CHARTS);
    // The server of this test has no certificate.
    let lines = text.lines().filter(|line| !line.contains(" was fetched without TLS, "));
    let text = lines.map(|line| line.trim_end().to_owned() + "\n").collect::<String>();
    text.split(&format!("{MARK}\n")).map(str::to_owned).collect()
}

pub(crate) fn text_of(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("readable")
}

fn command(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Command(text) | Piece::Setup(text) => Some(text),
        Piece::Text(_) => None,
    }
}

/// A page with what its commands print now.
fn shown(pieces: &[Piece]) -> String {
    let commands: Vec<&str> = pieces.iter().filter_map(command).collect();
    let mut outputs = if commands.is_empty() { Vec::new() } else { run(&commands) }.into_iter();
    let mut shown = String::new();
    for piece in pieces {
        let output = command(piece).map(|_| outputs.next().expect("an output for each command"));
        match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Command(command) => shown.push_str(&format!("$ {command}\n{}", output.unwrap_or_default())),
            Piece::Setup(_) => {}
        }
    }
    shown
}

#[test]
fn their_commands_print_what_they_show() {
    for file in PAGES {
        let text = text_of(file);
        let shown = shown(&pieces(file, &text));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), &shown).expect("written");
            continue;
        }
        for (number, (found, expected)) in shown.lines().zip(text.lines()).enumerate() {
            assert_eq!(found, expected, "{file}:{}; to take it over: UPDATE_EXPECTED=1 cargo test readme", number + 1);
        }
        assert_eq!(shown.lines().count(), text.lines().count(), "{file}");
    }
}

#[test]
fn every_page_is_read() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let names = fs::read_dir(dir).expect("readable").map(|entry| entry.expect("readable").file_name());
    let pages = names.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".md"));
    let pages: BTreeSet<String> = pages.map(|name| format!("docs/{name}")).chain(["README.md".to_owned()]).collect();
    assert_eq!(pages, PAGES.map(str::to_owned).into());
}

#[test]
fn the_table_of_commands_names_commands_and_options_that_there_are() {
    let clone = Lab::new().bare(&[]).clone_to("clone");
    let page = text_of("docs/reference.md");
    let (_, chapter) = page.split_once("\n## Commands\n").expect("a chapter");
    let rows = chapter
        .lines()
        .take_while(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("| `git hydrate "));
    let mut count = 0;
    for row in rows {
        let name = row.split([' ', '`']).next().filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        let help = clone.run(BINARY, &[name.as_slice(), &["--help"]].concat()).success().stdout;
        for option in row.split('`').filter(|code| code.starts_with("--")) {
            let option = option.split([' ', '=']).next().unwrap_or_default();
            assert!(help.contains(option), "git hydrate {name:?} has no {option}");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

/// The headings of a text as GitHub names them in links.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        inside ^= line.starts_with("```");
        if let (false, true) = (inside, line.starts_with('#')) {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
            anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    anchors
}

#[test]
fn their_links_lead_to_headings_and_files() {
    let mut count = 0;
    for file in PAGES {
        let text = text_of(file);
        let dir = Path::new(file).parent().expect("a name");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((path, anchor)) = link.split_once('#').or(Some((link, ""))).filter(|_| !link.contains("://"))
            else {
                continue;
            };
            if link.starts_with('$') {
                continue;
            }
            let target = if path.is_empty() { file.to_owned() } else { dir.join(path).display().to_string() };
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists(), "{file}: {link}");
            assert!(anchor.is_empty() || anchors(&text_of(&target)).contains(anchor), "{file}: {link}");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}
