//! `renderer: exec` through a push: what is pushed never reaches an official tool as an option.

use crate::push::application;
use crate::support::{Lab, Repo};

/// Kustomizations by environment: all but the first have a word that a tool would take for an option.
const PUSHED: [(&str, &str, &str); 5] = [
    ("plain", "resources: []\n", ""),
    (
        "ref",
        "resources: ['https://example.com/a/b?ref=--upload-pack=touch']\n",
        "`--upload-pack=touch` is not a valid name of a branch, tag or commit",
    ),
    ("ssh", "resources: ['git@example.com:a/b.git?ref=-x']\n", "`-x` is not a valid name of a branch, tag or commit"),
    ("release", "helmCharts: [{name: c, releaseName: --post-renderer=x}]\n", "`--post-renderer=x` begins with `-`"),
    ("repo", "helmCharts: [{name: c, releaseName: c, repo: '-x', version: '1'}]\n", "`-x` begins with `-`"),
];

/// A server with programs that stand in for the official tools and make a ConfigMap of whatever they get.
fn server(lab: &Lab) -> Repo {
    let server = lab.server();
    let made = "apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: ran\\n";
    for (tool, version) in [("helm", "v4.2.3"), ("kustomize", "v5.8.1")] {
        let script = format!("#!/bin/sh\ncase $1 in version) echo {version};; *) printf '{made}';; esac\n");
        lab.program(tool, &script);
        let path = lab.path("bin").join(tool).display().to_string();
        server.git(&["config", &format!("hydrate.{tool}"), &path]);
    }
    // What is shown does not depend on what the kernel can confine.
    server.git(&["config", "hydrate.allowUnconfined", "true"]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "renderer", "exec"]).success();
    server
}

#[test]
fn a_pushed_word_never_reaches_a_tool_as_an_option() {
    let lab = Lab::new();
    let server = server(&lab);
    let clone = server.clone_to("clone");
    for (name, kustomization, _) in PUSHED {
        let (file, text) = application("web", name);
        clone.commit(name, &[(&file, &text), (&format!("apps/web/{name}/kustomization.yaml"), kustomization)]);
    }
    let told = clone.push().success().remote().join("\n");
    assert!(server.git(&["show", "environments/plain:web/manifest.yaml"]).contains("name: ran"), "{told}");
    for (name, _, expected) in &PUSHED[1..] {
        let made = server.run("git", &["rev-parse", "--verify", "-q", &format!("environments/{name}")]);
        assert_ne!(made.code, Some(0), "{name}: a tool ran: {told}");
        let place = format!("--> apps/web/{name}/kustomization.yaml:1:");
        assert!(told.contains(expected) && told.contains(&place), "{name}: {told}");
    }
}

#[test]
fn the_tool_must_be_of_the_version_that_the_settings_name() {
    let lab = Lab::new();
    let server = server(&lab);
    server.hydrate(&["config", "set", "tools.helm", "4.2.4"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    clone.commit("a chart", &[(&file, &text), ("apps/web/dev/Chart.yaml", chart)]);
    let said = clone.push().success().remote().join(" ");
    assert!(said.contains("is version v4.2.3, but Helm 4.2.4 is required"), "{said}");
}
