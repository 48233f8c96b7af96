//! TLS with an authority of its own, and passwords: real servers.

use std::sync::{Arc, Mutex};

use super::{
    BASE, LOCK, chart, kustomized, packed, repository, sha256, upstream, vendor, vendor_over_tls, with_password,
};
use crate::servers::{Certificates, Liar, Nginx, git_server, respond};
use crate::support::Lab;

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
    // Without its authority there is nobody to believe.
    let answer = vendor(&dry, &["--allow", "127.0.0.1"]).exits(2);
    assert!(answer.stderr.to_lowercase().contains("certificate"), "{}", answer.stderr);
    vendor_over_tls(&dry, &certificates, &[]).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();

    dry.commit("Secret", &[("web/kustomization.yaml", &kustomization("secret/", "private"))]);
    assert!(vendor_over_tls(&dry, &certificates, &[]).exits(2).stderr.contains("401"));
    with_password(&lab, &dry);
    vendor_over_tls(&dry, &certificates, &[]).success();
    dry.commit("Vendor", &[]);
    dry.hydrate(&["check"]).success();
    let lock = dry.file(LOCK).expect("there");
    assert!(lock.contains("/private/upstream.git") && !lock.contains("word"), "{lock}");
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
    let realm = Arc::new(Mutex::new(String::new()));
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
        vendor_over_tls(&dry, &certificates, &["--allow", "localhost"]).success();
    }
}
