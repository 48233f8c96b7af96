//! What differs from Argo CD's hydrator by input, as the second table of docs/differences.md lists it: the side of git-hydrate.
//!
//! Reference: Argo CD 3.5.1, repo-server and commit-server, of which each was run with the inputs of the table.

use crate::push::{application, config_map, note, note_of, tip};
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";

/// A clone of a server with this profile, and an Application of these files below `apps/web/prod`, pushed.
fn pushed(lab: &Lab, profile: &str, edit: (&str, &str), files: &[(&str, &str)]) -> (Repo, Repo) {
    let server = lab.server();
    server.hydrate(&["config", "set", "profile", profile]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "prod");
    let (file, text) = (file.as_str(), text.replacen(edit.0, edit.1, 1));
    let paths: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (format!("apps/web/prod/{path}"), *text)).collect();
    let files = paths.iter().map(|(path, text)| (path.as_str(), *text));
    clone.commit("web", &[(file, text.as_str())].into_iter().chain(files).collect::<Vec<_>>());
    let said = clone.push().success();
    assert!(said.stderr.contains(&format!("{PROD}  new")), "{said:?}");
    (server, clone)
}

#[test]
fn a_kustomization_with_charts_needs_no_build_option() {
    for profile in ["proposal", "argocd"] {
        let lab = Lab::new();
        let template = config_map("a", "one");
        let files = [
            ("kustomization.yaml", "helmCharts: [{name: web, releaseName: web}]\n"),
            ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("charts/web/values.yaml", "a: 1\n"),
            ("charts/web/templates/a.yaml", &template),
        ];
        let (server, _) = pushed(&lab, profile, ("", ""), &files);
        assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("value: one"), "{profile}");
    }
}

#[test]
fn the_note_moves_to_each_dry_commit_whatever_paths_generate_manifests() {
    for profile in ["proposal", "argocd"] {
        let lab = Lab::new();
        let annotation = "metadata:\n  annotations: {argocd.argoproj.io/manifest-generate-paths: .}\n";
        let (server, clone) =
            pushed(&lab, profile, ("metadata:\n", annotation), &[("a.yaml", &config_map("a", "one"))]);
        let before = tip(&server, PROD);
        let dry = clone.commit("outside", &[("README.md", "text\n")]);
        clone.push().success();
        assert_eq!((tip(&server, PROD), note(&server, PROD)), (before, note_of(&dry)), "{profile}");
    }
}

#[test]
fn parameters_that_change_no_manifest_make_a_commit_unless_the_profile_is_argo_cds() {
    for (profile, commits) in [("proposal", "1"), ("argocd", "0")] {
        let lab = Lab::new();
        let template = config_map("a", "one");
        let files = [("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), ("templates/a.yaml", &template)];
        let (server, clone) = pushed(&lab, profile, ("", ""), &files);
        let before = tip(&server, PROD);
        let (file, text) = application("web", "prod");
        let path = "      path: apps/web/prod\n";
        let parameters = format!("{path}      helm: {{parameters: [{{name: unread, value: '1'}}]}}\n");
        let dry = clone.commit("parameters", &[(&file, &text.replacen(path, &parameters, 1))]);
        clone.push().success();
        let range = format!("{before}..{PROD}");
        assert_eq!(server.git(&["rev-list", "--count", &range]), commits, "{profile}");
        assert_eq!(server.git(&["diff", "--stat", &before, PROD, "--", "web/manifest.yaml"]), "", "{profile}");
        assert_eq!(note(&server, PROD), note_of(&dry), "{profile}");
    }
}
