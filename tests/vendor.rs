//! `git hydrate vendor`, against real servers and lying ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::servers::{Certificates, Liar, Nginx, Registry, Request, Shell, Sshd, git_server, respond};
use super::support::{Answer, Lab, Repo};

const LOCK: &str = ".hydrate/inputs.lock";

/// An Application of a directory.
pub fn application(name: &str, path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  sourceHydrator:
    drySource: {{repoURL: https://example.com/dry.git, targetRevision: main, path: {path}, {}}}
    syncSource: {{targetBranch: environments/dev, path: {name}}}
",
        if path.starts_with("charts/") { format!("helm: {{releaseName: {name}}}") } else { String::new() }
    )
}

/// A kustomization of these lines as the Application `web`.
fn dry(lab: &Lab, files: &[(&str, &str)]) -> Repo {
    lab.server().clone_to("dry");
    let dry = Repo::at(lab, "dry");
    dry.git(&["checkout", "-q", "-b", "main"]);
    dry.commit("Begin", files);
    dry
}

fn kustomized(lab: &Lab, kustomization: &str) -> Repo {
    dry(lab, &[("web/kustomization.yaml", kustomization), ("applications/web.yaml", &application("web", "web"))])
}

fn charted(lab: &Lab, dependencies: &str) -> Repo {
    let chart = format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n{dependencies}");
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n";
    dry(
        lab,
        &[
            ("charts/app/Chart.yaml", &chart),
            ("charts/app/templates/own.yaml", own),
            ("applications/app.yaml", &application("app", "charts/app")),
        ],
    )
}

/// The files of a packaged chart.
pub fn chart(name: &str, version: &str) -> Vec<(String, String)> {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\ndata:\n  \
                  version: {{ .Chart.Version | quote }}\n  word: {{ .Values.word }}\n";
    [
        ("Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: {version}\n")),
        ("values.yaml", "word: plain\n".to_owned()),
        ("templates/object.yaml", object.to_owned()),
    ]
    .map(|(path, text)| (format!("{name}/{path}"), text))
    .to_vec()
}

pub fn packed(files: &[(String, String)]) -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut tar = tar::Builder::new(gzip);
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).expect("memory");
    }
    tar.into_inner().and_then(|gzip| gzip.finish()).expect("memory")
}

pub fn sha256(data: &[u8]) -> String {
    use sha2::Digest as _;
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(data))
}

/// Charts of these versions as a repository on disk.
fn repository(root: &Path, charts: &[(&str, &str)]) {
    fs::create_dir_all(root).expect("made");
    let mut index = "apiVersion: v1\nentries:\n".to_owned();
    let mut names: Vec<&str> = charts.iter().map(|(name, _)| *name).collect();
    names.dedup();
    for name in names {
        index += &format!("  {name}:\n");
        for (_, version) in charts.iter().filter(|(other, _)| *other == name) {
            let (file, archive) = (format!("{name}-{version}.tgz"), packed(&chart(name, version)));
            index +=
                &format!("  - {{name: {name}, version: {version}, urls: [{file}], digest: {}}}\n", sha256(&archive));
            fs::write(root.join(file), archive).expect("written");
        }
    }
    fs::write(root.join("index.yaml"), index).expect("written");
}

/// The Git repository `upstream.git` below a directory, with the tag `v1`; what it is cloned to, to go on.
fn upstream(lab: &Lab, files: &[(&str, &str)]) -> Repo {
    fs::create_dir_all(lab.path("git")).expect("made");
    let bare = Repo::at(lab, "git/upstream.git");
    fs::create_dir(&bare.path).expect("made");
    bare.git(&["init", "-q", "--bare"]);
    let clone = bare.clone_to("upstream");
    clone.git(&["checkout", "-q", "-b", "main"]);
    clone.commit("Begin", files);
    clone.git(&["tag", "v1"]);
    clone.git(&["push", "-q", "origin", "main", "v1"]);
    clone
}

const BASE: &[(&str, &str)] = &[
    ("base/kustomization.yaml", "resources: [map.yaml, ../shared]\n"),
    ("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\n"),
    ("shared/kustomization.yaml", "resources: [map.yaml]\n"),
    ("shared/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n"),
    ("other/big.txt", "not needed\n"),
];

pub fn vendor(dry: &Repo, args: &[&str]) -> Answer {
    dry.hydrate(&[&["vendor", "--allow", "http://127.0.0.1", "--timeout", "20"], args].concat())
}

/// A server of the files of a directory.
pub fn files_of(root: std::path::PathBuf) -> Liar {
    Liar::start(move |request, stream| {
        let path = request.path.split('?').next().unwrap_or_default().trim_start_matches('/');
        match fs::read(root.join(path)) {
            Ok(body) => respond(stream, "200 OK", "", &body),
            Err(_) => respond(stream, "404 Not Found", "", b""),
        }
    })
}

/// A place for repositories, with a server of charts of these versions.
fn with_charts(charts: &[(&str, &str)]) -> (Lab, Liar) {
    let lab = Lab::new();
    repository(&lab.path("charts"), charts);
    let server = files_of(lab.path("charts"));
    (lab, server)
}

/// The chart `web` of a server as a dependency.
fn web(charts: &Liar, version: &str) -> String {
    format!("- {{name: web, version: {version}, repository: '{}'}}\n", charts.url())
}

#[test]
fn what_is_missing_is_brought_here_and_hydrates() {
    let (lab, charts) = with_charts(&[("web", "1.2.4"), ("web", "1.2.3"), ("db", "0.1.0")]);
    fs::write(lab.path("charts/file.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: file}\n")
        .expect("written");
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let (charts_url, git_url) = (charts.url(), git.url());
    let dependency =
        |name: &str, version: &str| format!("- {{name: {name}, version: {version}, repository: '{charts_url}'}}\n");
    let dry = charted(&lab, &(dependency("web", "~1.2.0") + &dependency("db", "0.1.0")));
    let kustomization = format!(
        "resources: ['{git_url}/upstream.git//base?ref=v1', '{charts_url}/file.yaml']
helmCharts: [{{name: web, version: 1.2.3, repo: '{charts_url}', releaseName: front}}]\n"
    );
    dry.commit(
        "Use more",
        &[("web/kustomization.yaml", &kustomization), ("applications/web.yaml", &application("web", "web"))],
    );

    dry.hydrate(&["vendor", "--check"]).exits(1);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.contains("(1.2.4)\n    charts/app/charts/web\n"), "{}", answer.stdout);
    assert!(answer.stderr.contains("`~1.2.0` is a range of versions: the lock file pins 1.2.4"), "{}", answer.stderr);
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    assert_eq!(dry.git(&["status", "--short"]), "");
    assert_eq!(dry.git(&["ls-files", "*other*"]), "", "only directories that are named are kept");
    dry.hydrate(&["vendor", "--check"]).success();
    assert!(vendor(&dry, &[]).success().stdout.ends_with("5 inputs are here already\n"));
    vendor(&dry, &["--verify"]).success();

    drop((charts, git));
    dry.push().success();
    let bare = Repo::at(&lab, "dry.git");
    let manifest = bare.git(&["show", "environments/dev:web/manifest.yaml"]);
    let names: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    assert_eq!(names, ["base", "file", "front-web", "shared"]);
    assert!(manifest.contains("version: 1.2.3"));
    let manifest = bare.git(&["show", "environments/dev:app/manifest.yaml"]);
    assert!(manifest.contains("version: 1.2.4") && manifest.contains("name: app-db"), "{manifest}");
}

#[test]
fn a_bump_takes_the_place_of_what_was_there() {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let chart = fs::read_to_string(dry.path.join("charts/app/Chart.yaml")).expect("there").replace("1.2.3", "1.3.0");
    dry.commit("Bump", &[("charts/app/Chart.yaml", &chart)]);
    let answer = dry.hydrate(&["check"]).exits(1);
    assert!(answer.stdout.contains("`charts/app/charts/web` has chart web 1.2.3 of"), "{}", answer.stdout);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.starts_with("+ chart web 1.3.0"), "{}", answer.stdout);
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("want = \"1.3.0\"") && !lock.contains("1.2.3"), "{lock}");
}

#[test]
fn ranges_and_branches_stay_where_they_are_until_an_update() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let upstream = upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let kustomization = format!(
        "resources: ['{}/upstream.git//base?ref=main']\nhelmCharts: [{{name: web, version: ~1.2.0, repo: '{}', releaseName: a}}]\n",
        git.url(),
        charts.url()
    );
    let dry = kustomized(&lab, &kustomization);
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stderr.contains("`main` is a branch of"), "{}", answer.stderr);
    dry.commit("Vendor", &[]);
    let first = dry.file(LOCK).expect("there");

    repository(&lab.path("charts"), &[("web", "1.2.4"), ("web", "1.2.3")]);
    upstream.commit("Go on", &[("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: newer}\n")]);
    upstream.git(&["push", "-q", "origin", "main"]);
    vendor(&dry, &[]).success();
    assert_eq!(dry.file(LOCK).as_deref(), Some(first.as_str()));
    vendor(&dry, &["--verify"]).success();

    let answer = vendor(&dry, &["--update", "web"]).success();
    assert!(answer.stdout.starts_with("~ chart web ~1.2.0"), "{}", answer.stdout);
    let answer = vendor(&dry, &["--update"]).success();
    assert!(answer.stdout.contains("upstream.git at main"), "{}", answer.stdout);
    dry.commit("Update", &[]);
    let rendered = dry.hydrate(&["render", "web"]).success().stdout;
    assert!(rendered.contains("name: newer") && rendered.contains("version: 1.2.4"), "{rendered}");
    vendor(&dry, &["--update", "none"]).exits(2);
}

#[test]
fn an_edit_of_what_is_kept_is_a_mistake_and_is_never_lost() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let dry = kustomized(&lab, &format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url()));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let map = dry.git(&["ls-files", "*base/map.yaml"]);
    let edited = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: edited}\n";
    dry.commit("Edit", &[(&map, edited)]);
    let answer = dry.hydrate(&["check"]).exits(1);
    assert!(answer.stdout.contains("are not those of"), "{}", answer.stdout);
    assert!(dry.push().stderr.contains("are not those of"));
    for args in [&[][..], &["--update"]] {
        assert!(vendor(&dry, args).exits(2).stderr.contains("are not those of"));
    }
    assert_eq!(dry.file(&map).as_deref(), Some(edited));
    dry.hydrate(&["vendor", "--check"]).exits(1);
}

#[test]
fn what_nothing_needs_is_told_and_pruned() {
    let (lab, charts) = with_charts(&[("web", "1.2.4"), ("web", "1.2.3")]);
    let kustomization = |version: &str| {
        format!("helmCharts: [{{name: web, version: {version}, repo: '{}', releaseName: a}}]\n", charts.url())
    };
    let dry = kustomized(&lab, &kustomization("1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[("web/kustomization.yaml", &kustomization("1.2.4"))]);
    assert!(vendor(&dry, &[]).success().stdout.contains("not needed"));
    assert!(dry.hydrate(&["vendor", "--check"]).exits(1).stdout.contains("web 1.2.3"));
    vendor(&dry, &["--prune", "--dry-run"]).success();
    assert!(dry.path.join("web/charts/web-1.2.3").exists());
    vendor(&dry, &["--prune"]).success();
    assert_eq!(dry.names("web/charts"), ["web-1.2.4"]);
    dry.hydrate(&["vendor", "--check"]).success();
}

#[test]
fn a_chart_that_somebody_put_there_stays() {
    let lab = Lab::new();
    let dry = charted(&lab, "- {name: web, version: ~1, repository: 'https://charts.invalid'}\n");
    let files = chart("web", "1.0.0");
    let files: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (format!("charts/app/charts/{path}"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    dry.commit("By hand", &files);
    assert_eq!(dry.hydrate(&["vendor"]).success().stdout, "nothing is needed from elsewhere\n");
    dry.hydrate(&["check"]).success();
}

/// What `.gitignore` leaves out would be missing on the server.
#[test]
fn ignored_directories_are_staged_all_the_same() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Ignore", &[(".gitignore", "charts/app/charts/\n")]);
    vendor(&dry, &[]).success();
    dry.git(&["commit", "-q", "-m", "Vendor"]);
    dry.hydrate(&["check"]).success();
    dry.hydrate(&["vendor", "--check"]).success();
}

#[test]
fn a_helmignore_that_hides_a_dependency_is_named() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Ignore", &[("charts/app/.helmignore", "object.yaml\n")]);
    let answer = vendor(&dry, &[]).exits(2);
    let expected = "hides charts/app/charts/web/templates/object.yaml";
    assert!(answer.stderr.contains(expected), "{}", answer.stderr);
}

#[test]
fn a_stale_chart_lock_is_a_mistake() {
    let lab = Lab::new();
    let dry = charted(&lab, "- {name: web, version: ~1.2.0, repository: 'https://charts.invalid'}\n");
    let lock =
        "dependencies:\n- name: web\n  repository: https://charts.invalid\n  version: 1.2.3\ndigest: sha256:00\n";
    dry.commit("Lock", &[("charts/app/Chart.lock", lock)]);
    let answer = dry.hydrate(&["vendor"]).exits(2);
    assert!(answer.stderr.contains("the lock file (Chart.lock) is out of sync"), "{}", answer.stderr);
}

#[test]
fn json_tells_what_was_done() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&vendor(&dry, args).stdout).expect("JSON") };
    let planned = json(&["--dry-run", "--json"]);
    assert_eq!((&planned["format"], &planned["written"]), (&1.into(), &false.into()));
    let done = json(&["--json"]);
    assert_eq!(done["added"][0]["paths"][0], "charts/app/charts/web");
    assert_eq!((&done["added"][0]["usedBy"][0], &done["written"]), (&"app".into(), &true.into()));
    fs::write(dry.path.join("charts/app/charts/web/values.yaml"), "word: edited\n").expect("written");
    let checked: serde_json::Value =
        serde_json::from_str(&dry.hydrate(&["vendor", "--check", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(checked["faults"].as_array().map(Vec::len), Some(1));
}

/// Servers that do what no server should.
#[test]
fn lying_servers_get_nothing_in() {
    let lab = Lab::new();
    let archive = packed(&chart("web", "1.2.3"));
    let other = packed(&chart("lib", "1.2.3"));
    let bomb = {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut gzip, &vec![0; 60 << 20]).expect("memory");
        gzip.finish().expect("memory")
    };
    let index = |url: &str, digest: &str| {
        format!(
            "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.2.3, urls: ['{url}'], digest: '{digest}'}}\n"
        )
    };
    let good = index("web.tgz", "");
    let rows: Vec<(&str, String, &str)> = vec![
        ("/metadata", index("http://169.254.169.254/latest", ""), "is not fetched without TLS"),
        (
            "/tls-metadata",
            index("https://169.254.169.254/latest", ""),
            "has the link-local address 169.254.169.254: refused",
        ),
        ("/private", index("https://10.0.0.1/x", ""), "has the private address 10.0.0.1: refused"),
        ("/v6", index("https://[::ffff:169.254.1.1]/x", ""), "has the link-local address"),
        ("/file", index("file:///etc/passwd", ""), "scheme `file` is not supported"),
        ("/user", index("https://a:b@example.invalid/x", ""), "has a user, or no host"),
        ("/redirect-out", index("redirect-out.tgz", ""), "has the link-local address"),
        ("/redirect-file", index("redirect-file.tgz", ""), "scheme `file` is not supported"),
        ("/redirects", index("redirects.tgz", ""), "more than 5 redirects"),
        ("/digest", index("web.tgz", &"0".repeat(64)), "refused (to take the file: --accept sha256:"),
        ("/bad-digest", index("web.tgz", "sha256:xyz"), "in its index is not valid"),
        ("/other", index("other.tgz", ""), "it is the chart lib 1.2.3, not web 1.2.3"),
        ("/bomb", index("bomb.tgz", ""), "its files are more than 200 times"),
        ("/html", index("page", ""), "it is not a gzip archive"),
        ("/cut", index("cut.tgz", ""), "it is damaged"),
        ("/gzip", index("gzip.tgz", ""), "the server sent `gzip`, which was not requested"),
        ("/long", index("long.tgz", ""), "more than 33554432 bytes"),
        ("/slow", index("slow.tgz", ""), "timed out"),
        ("/huge", "HUGE".to_owned(), "more than 67108864 bytes"),
        ("/no-index", "<html>".to_owned(), "its index cannot be read"),
        ("/none", String::new(), "not found (404)"),
        ("/drip", index("drip.tgz", ""), "timed out"),
        ("/many", index("many.tgz", ""), "it has more than 20000 entries"),
        ("/link", index("link.tgz", ""), "symbolic link \"web/evil\" is not allowed"),
        ("/redirect-plain", index("redirect-plain.tgz", ""), "is not fetched without TLS"),
        (
            "/twice",
            good.replace("entries:\n  web:\n", "entries:\n  web:\n  - {version: 1.2.3, urls: [other.tgz]}\n"),
            "it lists 1.2.3 twice, with different archives",
        ),
        // Helm's cache would give this archive to whoever asks for the other one.
        ("/claims-another", index("other.tgz", &sha256(&archive)), "refused (to take the file: --accept sha256:"),
        ("/good", good, ""),
    ];
    let answers: Vec<(String, String)> =
        rows.iter().map(|(path, text, _)| ((*path).to_owned(), text.clone())).collect();
    let many: Vec<(String, String)> = (0..20_001).map(|number| (format!("web/{number}"), String::new())).collect();
    let (many, link) = (packed(&many), linked());
    let liar = Liar::start(move |request: &Request, stream| {
        let path = request.path.as_str();
        let found = answers.iter().find(|(base, _)| path.strip_prefix(base.as_str()) == Some("/index.yaml"));
        let endless = |stream: &mut std::net::TcpStream, bytes: usize| {
            use std::io::Write as _;
            let block = vec![b'#'; 1 << 20];
            let mut alive = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").is_ok();
            for _ in 0..bytes >> 20 {
                alive = alive && stream.write_all(&block).is_ok();
            }
        };
        match (found.map(|(_, text)| text.as_str()), path.rsplit('/').next().unwrap_or_default()) {
            (Some(""), _) => respond(stream, "404 Not Found", "", b""),
            (Some("HUGE"), _) => endless(stream, 100 << 20),
            (Some(text), _) => respond(stream, "200 OK", "", text.as_bytes()),
            (None, "web.tgz") => respond(stream, "200 OK", "", &archive),
            (None, "other.tgz") => respond(stream, "200 OK", "", &other),
            (None, "bomb.tgz") => respond(stream, "200 OK", "", &bomb),
            (None, "page") => respond(stream, "200 OK", "Content-Type: text/html\r\n", b"<html>"),
            (None, "cut.tgz") => respond(stream, "200 OK", "", &archive[..archive.len() / 2]),
            (None, "gzip.tgz") => respond(stream, "200 OK", "Content-Encoding: gzip\r\n", &archive),
            (None, "long.tgz") => endless(stream, 40 << 20),
            (None, "slow.tgz") => {
                // Until whoever asks gives up.
                use std::io::{Read as _, Write as _};
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx"));
                drop(stream.read(&mut [0]));
            }
            (None, "many.tgz") => respond(stream, "200 OK", "", &many),
            (None, "link.tgz") => respond(stream, "200 OK", "", &link),
            (None, "drip.tgz") => {
                // A header without an end, as slowly as whoever asks puts up with.
                use std::io::Write as _;
                drop(stream.set_read_timeout(Some(std::time::Duration::from_millis(100))));
                let mut alive = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").is_ok();
                while alive {
                    use std::io::Read as _;
                    let ended = matches!(stream.read(&mut [0]), Ok(0));
                    alive = !ended && stream.write_all(b"x").is_ok();
                }
            }
            (None, "redirect-plain.tgz") => {
                respond(stream, "302 Found", "Location: http://localhost:1/latest\r\n", b"");
            }
            (None, "redirect-out.tgz") => {
                respond(stream, "302 Found", "Location: https://169.254.169.254/latest\r\n", b"");
            }
            (None, "redirect-file.tgz") => respond(stream, "302 Found", "Location: file:///etc/passwd\r\n", b""),
            (None, _) => respond(stream, "302 Found", "Location: redirects.tgz\r\n", b""),
        }
    });
    let dry = kustomized(&lab, "resources: []\n");
    for (path, _, expected) in rows {
        let line =
            format!("helmCharts: [{{name: web, version: 1.2.3, repo: '{}{path}', releaseName: a}}]\n", liar.url());
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let timeout = if matches!(path, "/slow" | "/drip") { "2" } else { "60" };
        let answer = dry.hydrate(&["vendor", "--allow", "http://127.0.0.1", "--timeout", timeout]);
        if expected.is_empty() {
            answer.success();
            continue;
        }
        assert_eq!(answer.code, Some(2), "{path}: {}", answer.stdout);
        assert!(answer.stderr.contains(expected), "{path}: {}", answer.stderr);
        assert_eq!(dry.git(&["status", "--short"]), "", "{path}");
    }
}

/// A chart with a link that leads out.
fn linked() -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "web/evil", "/etc/passwd").expect("memory");
    tar.into_inner().and_then(|gzip| gzip.finish()).expect("memory")
}

/// A registry whose answers do not fit each other.
#[test]
fn lying_registries_get_nothing_in() {
    let lab = Lab::new();
    let archive = packed(&chart("web", "1.2.3"));
    let digest = format!("sha256:{}", sha256(&archive));
    let manifest = |config: &str, digest: &str, media: &str| {
        format!(
            "{{\"config\":{{\"mediaType\":\"{config}\",\"digest\":\"{digest}\"}},\"layers\":[{{\"mediaType\":\"{media}\",\
             \"digest\":\"{digest}\",\"size\":1}}]}}"
        )
    };
    let (config, content) =
        ("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
    let good = manifest(config, &digest, content);
    let bomb = {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut gzip, &vec![0; 60 << 20]).expect("memory");
        gzip.finish().expect("memory")
    };
    let bomb_digest = format!("sha256:{}", sha256(&bomb));
    let index_of = |digest: &str| format!("{{\"manifests\":[{{\"digest\":\"{digest}\"}}]}}");
    let wrong = format!("sha256:{}", "0".repeat(64));
    let rows = [
        (
            "image",
            manifest("application/vnd.oci.image.config.v1+json", &digest, content),
            "it is not a chart: its config is",
        ),
        ("layer", manifest(config, &digest, "text/plain"), "it has no layer with a chart"),
        ("path", manifest(config, "../../x", content), "`../../x` is no digest"),
        ("blob", manifest(config, &wrong, content), "the layer has sha256:"),
        ("claim", good.clone(), "the registry says sha256:"),
        ("docker", good.clone(), "is not the manifest of a chart"),
        ("login", good.clone(), "is only sent over TLS"),
        ("realm", good.clone(), "link-local address"),
        ("realm-file", good.clone(), "is not supported"),
        ("bearer", good.clone(), "no token"),
        ("bomb", manifest(config, &bomb_digest, content), "its files are more than 200 times"),
        ("nested", index_of(&digest), "the registry says sha256:"),
        ("blob-out", good.clone(), "has the link-local address"),
        ("good", good, ""),
    ];
    let answers: Vec<(String, String)> =
        rows.iter().map(|(name, text, _)| ((*name).to_owned(), text.clone())).collect();
    let liar = Liar::start(move |request, stream| {
        let name = request.path.split('/').nth(2).unwrap_or_default();
        if request.path.contains("/blobs/") {
            return match name {
                "bomb" => respond(stream, "200 OK", "", &bomb),
                "blob-out" => {
                    respond(stream, "307 Temporary Redirect", "Location: https://169.254.169.254/x\r\n", b"");
                }
                _ => respond(stream, "200 OK", "", &archive),
            };
        }
        if request.path.contains("/token") {
            return respond(stream, "200 OK", "", b"{\"token\": \"a\\r\\nX-Evil: b\"}");
        }
        let own = format!("http://{}", request.header("host").unwrap_or_default());
        let kind = match name {
            "docker" => "application/vnd.docker.distribution.manifest.v2+json",
            // An index that names an index, and so on.
            "nested" => "application/vnd.oci.image.index.v1+json",
            _ => "application/vnd.oci.image.manifest.v1+json",
        };
        let claim = if name == "claim" {
            format!("Docker-Content-Digest: sha256:{}\r\n", "0".repeat(64))
        } else {
            String::new()
        };
        let text = answers.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str()).unwrap_or_default();
        match name {
            "login" => respond(stream, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", b""),
            "realm" => {
                let header = "WWW-Authenticate: Bearer realm=\"https://169.254.169.254/token\",service=\"x\"\r\n";
                respond(stream, "401 Unauthorized", header, b"");
            }
            "realm-file" => {
                respond(stream, "401 Unauthorized", "WWW-Authenticate: Bearer realm=\"file:///etc/passwd\"\r\n", b"");
            }
            "bearer" => {
                let header = format!("WWW-Authenticate: Bearer realm=\"{own}/token\"\r\n");
                respond(stream, "401 Unauthorized", &header, b"");
            }
            _ => respond(stream, "200 OK", &format!("Content-Type: {kind}\r\n{claim}"), text.as_bytes()),
        }
    });
    let dry = kustomized(&lab, "resources: []\n");
    for (name, _, expected) in rows {
        let line = format!(
            "helmCharts: [{{name: web, version: 1.2.3, repo: 'oci://127.0.0.1:{}/{name}', releaseName: a}}]\n",
            liar.port
        );
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let answer = vendor(&dry, &[]);
        assert_eq!(answer.code, Some(if expected.is_empty() { 0 } else { 2 }), "{name}: {}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{name}: {}", answer.stderr);
    }
}

/// What git would take for an option, and what would be no file of ours.
#[test]
fn hostile_repositories_get_nothing_in() {
    let lab = Lab::new();
    let clone = upstream(&lab, BASE);
    std::os::unix::fs::symlink("/etc/passwd", clone.path.join("base/link.yaml")).expect("made");
    clone.commit("Link", &[]);
    clone.git(&["tag", "linked"]);
    clone.git(&["push", "-q", "origin", "linked"]);
    let git = git_server(&lab.path("git"));
    let liar = Liar::start(|request, stream| match request.path.split('/').nth(1).unwrap_or_default() {
        "elsewhere" if request.path.contains("/info/refs") => {
            respond(stream, "302 Found", "Location: http://169.254.169.254/latest\r\n", b"");
        }
        // Until whoever asks gives up.
        "slow" if request.path.contains("/info/refs") => drop(std::io::Read::read(stream, &mut [0])),
        "lies" if request.path.contains("/info/refs") => {
            let kind = "Content-Type: application/x-git-upload-pack-advertisement\r\n";
            respond(stream, "200 OK", kind, b"001e# service=git-upload-pack\n0000ffff");
        }
        _ => respond(stream, "404 Not Found", "", b""),
    });
    let dry = kustomized(&lab, "resources: []\n");
    let (url, liar_url) = (git.url(), liar.url());
    let rows = [
        (format!("{url}/upstream.git//base?ref=--upload-pack=x"), "is not a valid name of a branch, tag or commit"),
        (format!("{url}/upstream.git//base?ref=a..b"), "is not a valid name of a branch, tag or commit"),
        (format!("{url}/upstream.git//base?ref=none"), "couldn't find remote ref none"),
        (format!("{url}/upstream.git//none?ref=v1"), "there is no directory `none` at v1"),
        (format!("{url}/upstream.git//base?ref=linked"), "symbolic link `base/link.yaml` is not allowed"),
        (format!("{url}/none.git//base?ref=v1"), "not found"),
        ("git@127.0.0.1:org/repo.git//base?ref=v1".to_owned(), "to allow it: --allow ssh://127.0.0.1"),
        ("ssh://127.0.0.1/org/repo.git//base?ref=v1".to_owned(), "to allow it: --allow ssh://127.0.0.1"),
        ("ssh://-oProxyCommand=x/org/repo.git//base?ref=v1".to_owned(), "has no valid host"),
        ("git@-oProxyCommand=x:org/repo.git//base?ref=v1".to_owned(), "has no valid host"),
        (format!("{liar_url}/elsewhere/upstream.git//base?ref=v1"), "302"),
        (format!("{liar_url}/slow/upstream.git//base?ref=v1"), "timed out"),
        (format!("{liar_url}/lies/upstream.git//base?ref=v1"), "upstream.git"),
        ("file:///etc//base?ref=v1".to_owned(), "is not an `https://` URL"),
        ("https://user:word@127.0.0.1/org/repo.git//base?ref=v1".to_owned(), "contains a user name or password"),
    ];
    for (base, expected) in rows {
        dry.commit("Try", &[("web/kustomization.yaml", &format!("resources: ['{base}']\n"))]);
        let timeout = if base.contains("/slow/") { "2" } else { "20" };
        let answer = dry.hydrate(&["vendor", "--allow", "http://127.0.0.1", "--timeout", timeout]).exits(2);
        assert!(answer.stderr.contains(expected), "{base}: {}", answer.stderr);
    }
    dry.commit("Try", &[("web/kustomization.yaml", &format!("resources: ['{url}/upstream.git//base?ref=v1']\n"))]);
    let answer = dry.hydrate(&["vendor"]).exits(2);
    assert!(answer.stderr.contains("is not fetched without TLS"), "{}", answer.stderr);
}

/// A vendored file that another Application would take for its own.
#[test]
fn what_changes_other_applications_is_not_written() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let all = application("all", "charts")
        .replace("path: charts, ", "path: charts, directory: {recurse: true, include: '*object.yaml'}");
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    dry.commit("Read all", &[("charts/object.yaml", object), ("applications/all.yaml", &all)]);
    let answer = vendor(&dry, &[]).exits(2);
    assert!(answer.stderr.contains("these Applications would render differently"), "{}", answer.stderr);
    assert!(answer.stderr.contains("all (applications/all.yaml:3:"), "{}", answer.stderr);
    assert_eq!(dry.git(&["status", "--short"]), "");
}

/// nginx behind TLS with an authority of its own, and git behind it.
#[test]
#[ignore = "needs nginx and openssl"]
fn tls_and_passwords() {
    let lab = Lab::new();
    let certificates = Certificates::new(&lab.path("bin"));
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let nginx = Nginx::start(&lab.path("bin"), &lab.path("charts"), &certificates, git.port);
    let kustomization = |charts: &str, git: &str| {
        let url = &nginx.url;
        format!(
            "resources: ['{url}/{git}/upstream.git//base?ref=v1']\nhelmCharts: [{{name: web, version: 1.2.3, repo: '{url}/{charts}', releaseName: a}}]\n"
        )
    };
    let dry = kustomized(&lab, &kustomization("", "git"));
    let vendor = |trusts: bool| {
        let mut command = dry.command("git");
        command.args(["hydrate", "vendor", "--allow", "127.0.0.1"]);
        if trusts {
            command.env("SSL_CERT_FILE", &certificates.authority);
        }
        Answer::new(command.output().expect("runs"))
    };
    let answer = vendor(false).exits(2);
    assert!(answer.stderr.to_lowercase().contains("certificate"), "{}", answer.stderr);
    vendor(true).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();

    dry.commit("Secret", &[("web/kustomization.yaml", &kustomization("secret/", "private"))]);
    assert!(vendor(true).exits(2).stderr.contains("401"));
    lab.program(
        "git-credential-test",
        "#!/bin/sh\n[ \"$1\" = get ] || exit 0\nprintf 'username=user\\npassword=word\\n'\n",
    );
    dry.git(&["config", "credential.helper", "test"]);
    vendor(true).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("/private/upstream.git") && !lock.contains("word"), "{lock}");
}

/// Debian's registry behind TLS and a password, filled by the official Helm.
#[test]
#[ignore = "needs docker-registry, openssl, and Helm in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn a_registry_that_helm_filled() {
    let tools = std::env::var_os("GIT_HYDRATE_TEST_TOOLS").expect("a directory with helm");
    let lab = Lab::new();
    let certificates = Certificates::new(&lab.path("bin"));
    let registry = Registry::start(&lab.path("bin"), &certificates);
    let helm = |args: &[&str]| {
        let helm = std::path::Path::new(&tools).join("helm");
        let mut command = lab.command(helm.to_str().expect("UTF-8"), &lab.path("home"));
        command.args(args).arg("--ca-file").arg(&certificates.authority);
        Answer::new(command.output().expect("runs")).success()
    };
    helm(&["registry", "login", &registry.host, "--username", "user", "--password", "word"]);
    for version in ["1.2.3", "1.3.0+b1", "1.3.0+b2", "2.0.0-rc.1"] {
        let file = lab.path(&format!("web-{version}.tgz"));
        fs::write(&file, packed(&chart("web", version))).expect("written");
        helm(&["push", file.to_str().expect("UTF-8"), &format!("oci://{}/charts", registry.host)]);
    }
    let dry = kustomized(&lab, "resources: []\n");
    lab.program(
        "git-credential-test",
        "#!/bin/sh\n[ \"$1\" = get ] || exit 0\nprintf 'username=user\\npassword=word\\n'\n",
    );
    dry.git(&["config", "credential.helper", "test"]);
    let rows = [
        ("1.2.3", "1.2.3"),
        ("1.3.0+b1", "1.3.0+b1"),
        ("", "1.3.0+b1"),
        ("1.2.x", "1.2.3"),
        ("1.3.0", "not found (404)"),
        ("v1.2.3", "not found (404)"),
        ("latest", "`latest` is neither a version nor a range of versions"),
    ];
    for (want, expected) in rows {
        let line = format!(
            "helmCharts: [{{name: web, version: '{want}', repo: 'oci://{}/charts', releaseName: a}}]\n",
            registry.host
        );
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let mut command: Command = dry.command("git");
        command
            .args(["hydrate", "vendor", "--prune", "--allow", "127.0.0.1"])
            .env("SSL_CERT_FILE", &certificates.authority);
        let answer = Answer::new(command.output().expect("runs"));
        if answer.code == Some(2) {
            assert!(answer.stderr.contains(expected), "{want}: {}", answer.stderr);
            continue;
        }
        answer.success();
        dry.commit("Vendor", &[]);
        let rendered = dry.hydrate(&["render", "web"]).success().stdout;
        assert!(rendered.contains(&format!("version: {expected}\n")), "{want}: {rendered}");
    }

    // Dependencies, beside what Helm makes of them: the same bytes, or refused by both. Two are refused here alone, since
    // Helm would take another version, and one is what the tag of a range would be.
    let wants = [
        "1.2.3",
        "v1.2.3",
        "1.2.4",
        "v1.2.4",
        "1.3.0",
        "1.3.0+b1",
        "1.3.0+b2",
        "1.3.0+b9",
        "1.3.0_b1",
        "1.2.x",
        "~1.2.0",
        "^1",
        ">=1.2",
        "*",
        "latest",
        "9.9.9",
        "2.0.0-rc.1",
    ];
    for want in wants {
        let text = format!(
            "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n- {{name: web, version: '{want}', repository: \
             'oci://{}/charts'}}\n",
            registry.host
        );
        let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n";
        dry.git(&["reset", "-q", "--hard"]);
        dry.git(&["clean", "-q", "-fdx"]);
        dry.git(&["rm", "-rq", "--ignore-unmatch", ".hydrate", "web", "applications", "charts"]);
        dry.commit(
            "Depend",
            &[
                ("charts/app/Chart.yaml", &text),
                ("charts/app/templates/own.yaml", own),
                ("applications/app.yaml", &application("app", "charts/app")),
            ],
        );
        drop(fs::remove_dir_all(lab.path("official")));
        dry.copy_to("official");
        let official = |args: &[&str]| {
            let helm = std::path::Path::new(&tools).join("helm");
            let mut command = lab.command(helm.to_str().expect("UTF-8"), &lab.path("official"));
            Answer::new(command.args(args).env("SSL_CERT_FILE", &certificates.authority).output().expect("runs"))
        };
        let theirs = match official(&["dependency", "update", "charts/app"]) {
            answer if answer.code == Some(0) => official(&["template", "app", "charts/app"]),
            answer => answer,
        };
        let mut command: Command = dry.command("git");
        command.args(["hydrate", "vendor", "--allow", "127.0.0.1"]).env("SSL_CERT_FILE", &certificates.authority);
        let ours = match Answer::new(command.output().expect("runs")) {
            answer if answer.code == Some(0) => dry.hydrate(&["render", "helm", "app", "charts/app"]),
            answer => answer,
        };
        assert_eq!(ours.code == Some(0), theirs.code == Some(0), "{want}: {}\n{}", ours.stderr, theirs.stderr);
        if theirs.code == Some(0) {
            assert_eq!(ours.stdout, theirs.stdout, "{want}");
        }
    }
}

/// A registry that gives tokens to nobody, which are good for nothing, and to whoever has a password: that of the registry,
/// wherever it says that tokens are.
#[test]
#[ignore = "needs nginx and openssl"]
fn tokens_cost_the_password_of_the_registry_and_no_other() {
    let lab = Lab::new();
    let certificates = Certificates::new(&lab.path("bin"));
    let archive = packed(&chart("web", "1.2.3"));
    let digest = format!("sha256:{}", sha256(&archive));
    let (config, content) =
        ("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
    let manifest = format!(
        "{{\"config\":{{\"mediaType\":\"{config}\",\"digest\":\"{digest}\"}},\"layers\":[{{\"mediaType\":\"{content}\",\
         \"digest\":\"{digest}\",\"size\":1}}]}}"
    );
    let realm = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let place = realm.clone();
    let liar = Liar::start(move |request, stream| {
        let authorization = request.header("authorization").unwrap_or_default();
        if request.path.starts_with("/token") {
            let token = if authorization == "Basic dXNlcjp3b3Jk" { "named" } else { "nobody" };
            return respond(stream, "200 OK", "", format!("{{\"token\":\"{token}\"}}").as_bytes());
        }
        if authorization != "Bearer named" {
            let realm = place.lock().expect("one at a time").clone();
            return respond(
                stream,
                "401 Unauthorized",
                &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"),
                b"",
            );
        }
        match request.path.contains("/blobs/") {
            true => respond(stream, "200 OK", "", &archive),
            false => {
                let kind = "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n";
                respond(stream, "200 OK", kind, manifest.as_bytes());
            }
        }
    });
    let nginx = Nginx::start(&lab.path("bin"), &lab.path("home"), &certificates, liar.port);
    let host = nginx.url.trim_start_matches("https://").to_owned();
    // Each host has its own password, and only that of the registry is asked for.
    let helper = "#!/bin/sh\n[ \"$1\" = get ] || exit 0\nhost=$(sed -n 's/^host=//p')\ncase $host in 127.0.0.1:*) printf \
                  'username=user\\npassword=word\\n' ;; *) printf 'username=other\\npassword=secret\\n' ;; esac\n";
    lab.program("git-credential-test", helper);
    let dry = kustomized(&lab, "resources: []\n");
    dry.git(&["config", "credential.helper", "test"]);
    for (number, realm_host) in [host.clone(), host.replace("127.0.0.1", "localhost")].into_iter().enumerate() {
        *realm.lock().expect("one at a time") = format!("https://{realm_host}/token");
        let line = format!(
            "helmCharts: [{{name: web, version: 1.2.3, repo: 'oci://{host}/charts-{number}', releaseName: a}}]\n"
        );
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let mut command = dry.command("git");
        command.args(["hydrate", "vendor", "--allow", "127.0.0.1", "--allow", "localhost"]);
        Answer::new(command.env("SSL_CERT_FILE", &certificates.authority).output().expect("runs")).success();
    }
}

#[test]
fn reviewers_see_a_line_for_each_input() {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    dry.push().success();
    let mut newer = chart("web", "1.3.0");
    newer.push((
        "web/templates/more.yaml".to_owned(),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n".to_owned(),
    ));
    let archive = packed(&newer);
    fs::write(lab.path("charts/web-1.3.0.tgz"), &archive).expect("written");
    let index = format!(
        "apiVersion: v1\nentries:\n  web:\n  - {{version: 1.3.0, urls: [web-1.3.0.tgz], digest: {}}}\n",
        sha256(&archive)
    );
    fs::write(lab.path("charts/index.yaml"), index).expect("written");
    let chart = fs::read_to_string(dry.path.join("charts/app/Chart.yaml")).expect("there").replace("1.2.3", "1.3.0");
    fs::write(dry.path.join("charts/app/Chart.yaml"), chart).expect("written");
    vendor(&dry, &[]).success();
    dry.commit("Bump", &[]);
    let expected = format!("web 1.2.3 → 1.3.0 of {}: 1 template changed; used by app", charts.url());
    let text = dry.hydrate(&["diff"]).exits(1).stdout;
    let line =
        text.lines().skip(1).take_while(|line| line.starts_with("  ")).map(str::trim).collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("inputs from elsewhere\n") && line.starts_with(&expected), "{text}");
    for form in [&["diff", "--stat"][..], &["diff", "--against", "HEAD~1"]] {
        assert!(
            dry.hydrate(form).exits(1).stdout.starts_with("inputs from elsewhere\n  web 1.2.3 → 1.3.0"),
            "{form:?}"
        );
    }
    assert!(dry.hydrate(&["diff", "--markdown"]).exits(1).stdout.contains(&format!("- `{expected}`")));
    let json: serde_json::Value = serde_json::from_str(&dry.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["inputs"][0]["new"], &json["inputs"][0]["files"]["templates"]), (&"1.3.0".into(), &1.into()));
    let page = lab.path("page.html");
    dry.hydrate(&["diff", "--html", page.to_str().expect("UTF-8")]).exits(1);
    assert!(fs::read_to_string(page).expect("written").contains("Inputs from elsewhere"));
}

/// Repositories behind ssh, in both ways to write one: by the user's own ssh, where the user allows the host by name.
#[test]
fn repositories_behind_ssh_are_fetched_by_the_users_own_ssh() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    let shell = Shell::start(&lab.path("git"));
    lab.program("ssh", &shell.client());
    let bases = "resources:
- ssh://git@git.example.com/upstream.git//base?ref=v1
- git@git.example.com:upstream.git//shared?ref=v1
namePrefix: x-\n";
    let dry = kustomized(&lab, "resources: ['ssh://git@git.example.com/upstream.git//base?ref=v1']\n");
    let vendor = |args: &[&str]| {
        let mut command = dry.command("git");
        command.args(["hydrate", "vendor"]).args(args).env("GIT_SSH_COMMAND", lab.path("bin/ssh"));
        Answer::new(command.output().expect("runs"))
    };
    let answer = vendor(&[]).exits(2);
    let expected = "is not asked over ssh (to allow it: --allow ssh://git.example.com)";
    assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    assert_eq!(shell.said(), Vec::<String>::new());
    vendor(&["--allow", "ssh://git.example.com"]).success();
    dry.commit("Vendor", &[("web/kustomization.yaml", bases)]);
    dry.hydrate(&["check"]).exits(1);
    // Both name one object, which is no matter here.
    dry.commit("Both", &[("web/kustomization.yaml", &bases.replace("//base", "//other-base"))]);
    let answer = vendor(&["--allow", "ssh://git.example.com"]).exits(2);
    assert!(answer.stderr.contains("there is no directory `other-base` at "), "{}", answer.stderr);
    dry.commit("Both", &[("web/kustomization.yaml", &bases.replace("//base", "//other"))]);
    let said = shell.said();
    assert!(
        said.iter().any(|words| words.ends_with("git@git.example.com git-upload-pack '/upstream.git'")),
        "{said:?}"
    );
    assert!(said.iter().any(|words| words.ends_with("git@git.example.com git-upload-pack 'upstream.git'")), "{said:?}");
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("url = \"ssh://git@git.example.com/upstream.git\""), "{lock}");
    dry.git(&["reset", "-q", "--hard", "HEAD~3"]);
    vendor(&["--allow", "ssh://git.example.com"]).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    assert!(dry.hydrate(&["render", "web"]).success().stdout.contains("name: base"));
}

/// The same with the real programs: the user's configuration says where a host is, and who it must be.
#[test]
#[ignore = "needs sshd and ssh-keygen"]
fn a_real_ssh_goes_where_the_users_configuration_says() {
    let lab = Lab::new();
    upstream(&lab, BASE);
    fs::create_dir(lab.path("sshd")).expect("made");
    let _sshd = Sshd::start(&lab.path("sshd"), &lab.path("home"));
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    let user = String::from_utf8(user).expect("UTF-8").trim().to_owned();
    let path = lab.path("git/upstream.git").display().to_string();
    let dry = kustomized(&lab, &format!("resources: ['ssh://{user}@git.example.com{path}//base?ref=v1']\n"));
    let vendor = || {
        let mut command = dry.command("git");
        let ssh = format!("ssh -o BatchMode=yes -F {}", lab.path("home/.ssh/config").display());
        command.args(["hydrate", "vendor", "--allow", "ssh://git.example.com"]).env("GIT_SSH_COMMAND", ssh);
        Answer::new(command.output().expect("runs"))
    };
    let known = lab.path("home/.ssh/known");
    let right = fs::read_to_string(&known).expect("there");
    fs::write(&known, "").expect("written");
    let answer = vendor().exits(2);
    assert!(answer.stderr.contains("Host key verification failed"), "{}", answer.stderr);
    fs::write(&known, right).expect("written");
    vendor().success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
}

/// Value files and parameters behind a URL, as Argo CD hands them to Helm.
#[test]
fn value_files_by_url_are_kept_and_rendered() {
    let lab = Lab::new();
    fs::create_dir(lab.path("files")).expect("made");
    fs::write(lab.path("files/prod.yaml"), "word: prod\n").expect("written");
    fs::write(lab.path("files/script.sh"), "#!/bin/sh\n").expect("written");
    let files = files_of(lab.path("files"));
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata:\n  word: {{ .Values.word }}\n  script: {{ \
                  .Values.script | quote }}\n";
    let url = files.url();
    let helm = format!(
        "helm: {{releaseName: app, valueFiles: [values.yaml, '{url}/prod.yaml?env=$ARGOCD_APP_SOURCE_TARGET_REVISION'], fileParameters: [{{name: \
         script, path: '{url}/script.sh'}}]}}"
    );
    let application = application("app", "charts/app").replace("helm: {releaseName: app}", &helm);
    let dry = dry(
        &lab,
        &[
            ("charts/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n"),
            ("charts/app/values.yaml", "word: plain\n"),
            ("charts/app/templates/own.yaml", object),
            ("applications/app.yaml", &application),
        ],
    );
    let answer = dry.hydrate(&["check"]).exits(1);
    let expected = format!("{url}/script.sh is not in this repository");
    assert!(answer.stdout.contains(&expected) && answer.stdout.contains("git hydrate vendor"), "{}", answer.stdout);
    vendor(&dry, &[]).success();
    assert!(dry.file(LOCK).expect("there").contains("prod.yaml?env=main\""));
    dry.commit("Vendor", &[]);
    drop(files);
    let rendered = dry.hydrate(&["render", "app"]).success().stdout;
    assert!(rendered.contains("word: prod") && rendered.contains("#!/bin/sh"), "{rendered}");
    dry.hydrate(&["vendor", "--check"]).success();
}

/// What makes Applications may need something from elsewhere itself: what it makes then is no disturbance.
#[test]
fn roots_and_parents_get_their_inputs() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let made = application("made", "made");
    let chart = |version: &str| {
        format!(
            "apiVersion: v2\nname: root\nversion: 0.1.0\ndependencies:\n- {{name: web, version: {version}, repository: '{}'}}\n",
            charts.url()
        )
    };
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let dry = dry(
        &lab,
        &[
            ("boot/Chart.yaml", &chart("1.2.3")),
            ("boot/templates/made.yaml", &made),
            ("made/map.yaml", object),
            ("other/map.yaml", object),
            ("applications/other.yaml", &application("other", "other")),
        ],
    );
    let set = |key: &str, value: &str| {
        Repo::at(&lab, "dry.git").hydrate(&["config", "set", key, value]).success();
        dry.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    };
    set("repoURL", "https://example.com/dry.git");
    set("madeApplications", "true");
    assert_eq!(dry.hydrate(&["vendor"]).success().stdout, "nothing is needed from elsewhere\n");
    set("roots", "[{name: root, path: boot, namespace: argocd, helm: {releaseName: root}}]");
    let answer = vendor(&dry, &[]).success();
    assert!(answer.stdout.contains("boot/charts/web"), "{}", answer.stdout);
    dry.commit("Vendor", &[]);
    let listed = dry.hydrate(&["apps"]).success().stdout;
    assert!(listed.contains("made by root `root`"), "{listed}");
    dry.commit("Bump", &[("boot/Chart.yaml", &chart("1.3.0"))]);
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    assert!(dry.hydrate(&["apps"]).success().stdout.contains("made by root `root`"));
    dry.hydrate(&["vendor", "--check"]).success();
}

#[test]
fn applications_in_a_base_of_another_repository_are_found() {
    let lab = Lab::new();
    let made = application("made", "made");
    upstream(&lab, &[("apps/kustomization.yaml", "resources: [made.yaml]\n"), ("apps/made.yaml", &made)]);
    let git = git_server(&lab.path("git"));
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let base = format!("resources: ['{}/upstream.git//apps?ref=v1']\n", git.url());
    let dry = dry(
        &lab,
        &[
            ("boot/kustomization.yaml", &base),
            ("made/map.yaml", object),
            ("applications/boot.yaml", &application("boot", "boot")),
        ],
    );
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    dry.push().success();
    let server = Repo::at(&lab, "dry.git");
    assert!(server.git(&["show", "environments/dev:made/manifest.yaml"]).contains("name: plain"));
}
