//! A real registry behind TLS and a password, filled by the official Helm.

use std::fs;
use std::path::PathBuf;

use super::{application, chart, kustomized, packed, vendor_over_tls, with_password};
use crate::servers::{Certificates, Registry};
use crate::support::{Answer, Lab, Repo};

struct Filled {
    lab: Lab,
    dry: Repo,
    certificates: Certificates,
    registry: Registry,
    helm: PathBuf,
}

impl Filled {
    fn start() -> Self {
        let tools = std::env::var_os("GIT_HYDRATE_TEST_TOOLS").expect("a directory with helm");
        let lab = Lab::new();
        let certificates = Certificates::new(&lab.path("bin"));
        let registry = Registry::start(&lab.path("bin"), &certificates);
        let dry = kustomized(&lab, "resources: []\n");
        with_password(&lab, &dry);
        let filled = Self { lab, dry, certificates, registry, helm: PathBuf::from(tools).join("helm") };
        filled.fill();
        filled
    }

    fn fill(&self) {
        let helm = |args: &[&str]| self.helm("home", args).success();
        helm(&["registry", "login", &self.registry.host, "--username", "user", "--password", "word"]);
        for version in ["1.2.3", "1.3.0+b1", "1.3.0+b2", "2.0.0-rc.1"] {
            let file = self.lab.path(&format!("web-{version}.tgz"));
            fs::write(&file, packed(&chart("web", version))).expect("written");
            helm(&["push", file.to_str().expect("UTF-8"), &self.url()]);
        }
    }

    fn url(&self) -> String {
        format!("oci://{}/charts", self.registry.host)
    }

    /// The official Helm, in a directory of the lab.
    fn helm(&self, dir: &str, args: &[&str]) -> Answer {
        let mut command = self.lab.command(self.helm.to_str().expect("UTF-8"), &self.lab.path(dir));
        command.args(args).env("SSL_CERT_FILE", &self.certificates.authority);
        Answer::new(command.output().expect("runs"))
    }

    fn vendor(&self, args: &[&str]) -> Answer {
        vendor_over_tls(&self.dry, &self.certificates, args)
    }
}

#[test]
#[ignore = "needs docker-registry, openssl, and Helm in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn charts_of_kustomizations_come_from_a_registry() {
    let filled = Filled::start();
    let dry = &filled.dry;
    let rows = [
        ("1.2.3", "1.2.3"),
        ("1.3.0+b1", "1.3.0+b1"),
        // Of versions that are equal but for what they were built with, the one that the registry lists first, by its disk.
        ("", "1.3.0+b"),
        ("1.2.x", "1.2.3"),
        ("1.3.0", "not found (404)"),
        ("v1.2.3", "not found (404)"),
        ("latest", "`latest` is neither a version nor a range of versions"),
    ];
    for (want, expected) in rows {
        let url = filled.url();
        let line = format!("helmCharts: [{{name: web, version: '{want}', repo: '{url}', releaseName: a}}]\n");
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let answer = filled.vendor(&["--prune"]);
        if answer.code == Some(2) {
            assert!(answer.stderr.contains(expected), "{want}: {}", answer.stderr);
            continue;
        }
        answer.success();
        dry.commit("Vendor", &[]);
        let rendered = dry.hydrate(&["render", "web"]).success().stdout;
        assert!(rendered.contains(&format!("version: {expected}")), "{want}: {rendered}");
    }
}

/// The versions of a dependency, and whether Helm finds one: then the same bytes, else refused by both.
const WANTS: &[(&str, bool)] = &[
    ("1.2.3", true),
    ("v1.2.3", false),
    ("1.2.4", false),
    ("v1.2.4", false),
    ("1.3.0", false),
    ("1.3.0+b1", true),
    ("1.3.0+b2", true),
    ("1.3.0+b9", false),
    ("1.3.0_b1", false),
    ("1.2", false),
    ("1.2.x", true),
    ("~1.2.0", true),
    ("^1", true),
    (">=1.2", true),
    ("*", true),
    ("latest", false),
    ("9.9.9", false),
    ("2.0.0-rc.1", true),
];

#[test]
#[ignore = "needs docker-registry, openssl, and Helm in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn dependencies_from_a_registry_are_those_that_helm_takes() {
    let filled = Filled::start();
    let dry = &filled.dry;
    for (want, is_found) in WANTS {
        let url = filled.url();
        let text = format!(
            "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n- {{name: web, version: '{want}', repository: '{url}'}}\n"
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
        drop(fs::remove_dir_all(filled.lab.path("official")));
        dry.copy_to("official");
        let theirs = match filled.helm("official", &["dependency", "update", "charts/app"]) {
            answer if answer.code == Some(0) => filled.helm("official", &["template", "app", "charts/app"]),
            answer => answer,
        };
        let ours = match filled.vendor(&[]) {
            answer if answer.code == Some(0) => dry.hydrate(&["render", "helm", "app", "charts/app"]),
            answer => answer,
        };
        assert_eq!(theirs.code == Some(0), *is_found, "{want}: {}", theirs.stderr);
        assert_eq!(ours.code == Some(0), *is_found, "{want}: {}", ours.stderr);
        if *is_found {
            assert_eq!(ours.stdout, theirs.stdout, "{want}");
        }
    }
}

/// A password that Helm or Docker keeps is as good as one of git's.
#[test]
#[ignore = "needs docker-registry, openssl, and Helm in the directory that GIT_HYDRATE_TEST_TOOLS names"]
fn a_login_of_helm_or_docker_is_enough() {
    let filled = Filled::start();
    let (lab, dry) = (&filled.lab, &filled.dry);
    dry.git(&["config", "--unset", "credential.helper"]);
    let url = filled.url();
    let line = format!("helmCharts: [{{name: web, version: 1.2.3, repo: '{url}', releaseName: a}}]\n");
    dry.commit("Use a chart", &[("web/kustomization.yaml", &line)]);
    // Helm logged in to push.
    filled.vendor(&[]).success();
    dry.commit("Vendor", &[]);
    fs::remove_file(lab.path("home/.config/helm/registry/config.json")).expect("there");
    assert!(filled.vendor(&["--verify"]).exits(1).stdout.contains("401"));
    fs::create_dir(lab.path("home/.docker")).expect("made");
    let auth = data_encoding::BASE64.encode(b"user:word");
    let config = format!("{{\"auths\": {{\"https://{}/v2/\": {{\"auth\": \"{auth}\"}}}}}}", filled.registry.host);
    fs::write(lab.path("home/.docker/config.json"), config).expect("written");
    filled.vendor(&["--verify"]).success();
    assert!(!dry.file(super::LOCK).expect("there").contains("word"));
}
