//! `git hydrate vendor`, against real servers and lying ones: what the tests share.

mod applications;
mod cases;
mod changes;
mod confined;
mod directory;
mod forged;
mod liars;
mod lying_registries;
mod lying_repositories;
mod lying_servers;
mod passwords;
mod registry;
mod reviews;
mod ssh;

use std::fs;
use std::path::Path;

use super::servers::{Certificates, Liar, respond};
use super::support::{Answer, Lab, Repo};

pub(crate) const LOCK: &str = ".hydrate/inputs.lock";

/// An Application of a directory.
pub(crate) fn application(name: &str, path: &str) -> String {
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
pub(crate) fn dry(lab: &Lab, files: &[(&str, &str)]) -> Repo {
    lab.server().clone_to("dry");
    let dry = Repo::at(lab, "dry");
    dry.git(&["checkout", "-q", "-b", "main"]);
    dry.commit("Begin", files);
    dry
}

pub(crate) fn kustomized(lab: &Lab, kustomization: &str) -> Repo {
    dry(lab, &[("web/kustomization.yaml", kustomization), ("applications/web.yaml", &application("web", "web"))])
}

pub(crate) fn charted(lab: &Lab, dependencies: &str) -> Repo {
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
pub(crate) fn chart(name: &str, version: &str) -> Vec<(String, String)> {
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

pub(crate) fn packed(files: &[(String, String)]) -> Vec<u8> {
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

pub(crate) fn sha256(data: &[u8]) -> String {
    use sha2::Digest as _;
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(data))
}

/// Charts of these versions as a repository on disk.
pub(crate) fn repository(root: &Path, charts: &[(&str, &str)]) {
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
pub(crate) fn upstream(lab: &Lab, files: &[(&str, &str)]) -> Repo {
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

pub(crate) const BASE: &[(&str, &str)] = &[
    ("base/kustomization.yaml", "resources: [map.yaml, ../shared]\n"),
    ("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\n"),
    ("shared/kustomization.yaml", "resources: [map.yaml]\n"),
    ("shared/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n"),
    ("other/big.txt", "not needed\n"),
];

pub(crate) fn vendor(dry: &Repo, args: &[&str]) -> Answer {
    dry.hydrate(&[&["vendor", "--allow", "http://127.0.0.1"], args].concat())
}

/// A server of the files of a directory.
pub(crate) fn files_of(root: std::path::PathBuf) -> Liar {
    Liar::start(move |request, stream| {
        let path = request.path.split('?').next().unwrap_or_default().trim_start_matches('/');
        match fs::read(root.join(path)) {
            Ok(body) => respond(stream, "200 OK", "", &body),
            Err(_) => respond(stream, "404 Not Found", "", b""),
        }
    })
}

/// A place for repositories, with a server of charts of these versions.
pub(crate) fn with_charts(charts: &[(&str, &str)]) -> (Lab, Liar) {
    let lab = Lab::new();
    repository(&lab.path("charts"), charts);
    let server = files_of(lab.path("charts"));
    (lab, server)
}

/// The chart `web` of a server as a dependency.
pub(crate) fn web(charts: &Liar, version: &str) -> String {
    format!("- {{name: web, version: {version}, repository: '{}'}}\n", charts.url())
}

/// `vendor` with hosts on loopback that are asked over TLS, with an authority of the test.
pub(crate) fn vendor_over_tls(dry: &Repo, certificates: &Certificates, args: &[&str]) -> Answer {
    let mut command = dry.command("git");
    command.args(["hydrate", "vendor", "--allow", "127.0.0.1"]).args(args);
    Answer::new(command.env("SSL_CERT_FILE", &certificates.authority).output().expect("runs"))
}

/// Lets git know the password of each host.
pub(crate) fn with_password(lab: &Lab, dry: &Repo) {
    let helper = "#!/bin/sh\n[ \"$1\" = get ] || exit 0\nprintf 'username=user\\npassword=word\\n'\n";
    lab.program("git-credential-test", helper);
    dry.git(&["config", "credential.helper", "test"]);
}
