//! Kept files that are others than those that came, and look the same.

use std::fs;
use std::os::unix::fs::symlink;

use super::{BASE, LOCK, application, charted, files_of, kustomized, sha256, upstream, vendor, web, with_charts};
use crate::servers::git_server;
use crate::support::{Lab, Repo};

/// An error at a push, and of `--check`, that says this; the lock file is as it was.
fn is_refused(lab: &Lab, dry: &Repo, expected: &str) {
    let server = Repo::at(lab, "dry.git");
    let tip = server.git(&["rev-parse", "environments/dev"]);
    dry.commit("Forge", &[]);
    assert_eq!(dry.git(&["diff", "--name-only", "HEAD~1", "--", LOCK]), "");
    let told = dry.push().remote().join("\n");
    assert!(told.contains("error: ") && told.contains(expected), "{told}");
    assert_eq!(server.git(&["rev-parse", "environments/dev"]), tip);
    let told = vendor(dry, &["--check"]).exits(1).stdout;
    assert!(told.contains(expected), "{told}");
    let told = vendor(dry, &[]).exits(2).stderr;
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_file_name_is_no_line_of_the_digest() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    dry.push().success();
    let chart = dry.path.join("charts/app/charts/web");
    let values = fs::read(chart.join("values.yaml")).expect("there");
    let forged = format!("templates/object.yaml\n{}  values.yaml", sha256(&values));
    fs::rename(chart.join("templates/object.yaml"), chart.join(forged)).expect("renamed");
    fs::remove_file(chart.join("values.yaml")).expect("removed");
    is_refused(&lab, &dry, "values.yaml\", whose name no input has");
}

#[test]
fn a_link_is_not_a_file_whatever_is_in_it() {
    let lab = Lab::new();
    let generator = "configMapGenerator: [{name: note, files: [note.txt]}]\nresources: [map.yaml]\n";
    upstream(&lab, &[BASE, &[("base/kustomization.yaml", generator), ("base/note.txt", "no file")]].concat());
    let git = git_server(&lab.path("git"));
    let dry = kustomized(&lab, &format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url()));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    dry.push().success();
    let note = dry.path.join(dry.git(&["ls-files", ".hydrate/*note.txt"]));
    fs::remove_file(&note).expect("removed");
    symlink("map.yaml", &note).expect("linked");
    is_refused(&lab, &dry, "with the symbolic link \".hydrate/inputs/git/");
}

#[test]
fn two_files_may_have_the_same_bytes() {
    let lab = Lab::new();
    fs::create_dir(lab.path("files")).expect("made");
    for name in ["a.txt", "b.txt"] {
        fs::write(lab.path("files").join(name), "same").expect("written");
    }
    let server = files_of(lab.path("files"));
    let url = server.url();
    let dry =
        kustomized(&lab, &format!("configMapGenerator: [{{name: both, files: ['{url}/a.txt', '{url}/b.txt']}}]\n"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    vendor(&dry, &["--check"]).success();
    let told = dry.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let manifest = Repo::at(&lab, "dry.git").git(&["show", "environments/dev:web/manifest.yaml"]);
    assert!(manifest.contains("a.txt: same") && manifest.contains("b.txt: same"), "{manifest}");
}

/// Helm takes the first chart of that name and version, by the order of directories.
#[test]
fn a_chart_beside_a_kept_one_does_not_take_its_place() {
    for dir in ["aaa", "WEB"] {
        let (lab, charts) = with_charts(&[("web", "1.2.3")]);
        let dry = charted(&lab, &web(&charts, "1.2.3"));
        vendor(&dry, &[]).success();
        dry.commit("Vendor", &[]);
        dry.push().success();
        let chart = "apiVersion: v2\nname: web\nversion: 1.2.3\n";
        let server = Repo::at(&lab, "dry.git");
        let tip = server.git(&["rev-parse", "environments/dev"]);
        let path = format!("charts/app/charts/{dir}");
        let evil = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n";
        dry.commit("Shadow", &[(&format!("{path}/Chart.yaml"), chart), (&format!("{path}/templates/x.yaml"), evil)]);
        let told = dry.push().remote().join("\n");
        let expected = format!("`{path}` has a chart `web` that Helm may take for chart web 1.2.3 of ");
        assert!(told.contains(&expected) && told.contains("in `charts/app/charts/web`"), "{told}");
        assert_eq!(server.git(&["rev-parse", "environments/dev"]), tip);
        let told = vendor(&dry, &["--check"]).exits(1).stdout;
        assert!(told.contains(&expected), "{told}");
        // One of another version is never taken for it.
        dry.commit("Another", &[(&format!("{path}/Chart.yaml"), &chart.replace("1.2.3", "7.0.0"))]);
        let told = dry.push().success().remote().join("\n");
        assert!(!told.contains("error"), "{told}");
    }
}

/// Whatever the way to them, kept files are those that came.
#[test]
fn kept_files_are_compared_where_a_path_names_them() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    upstream(&lab, BASE);
    let git = git_server(&lab.path("git"));
    let dry = kustomized(&lab, &format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url()));
    let chart = format!("apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n{}", web(&charts, "1.2.3"));
    dry.commit(
        "Chart",
        &[("charts/app/Chart.yaml", &chart), ("applications/app.yaml", &application("app", "charts/app"))],
    );
    vendor(&dry, &[]).success();
    let map = dry.git(&["ls-files", ".hydrate/*shared/map.yaml"]);
    fs::create_dir_all(dry.path.join("charts/via")).expect("made");
    symlink("../app/charts", dry.path.join("charts/via/charts")).expect("linked");
    let directory = map.trim_end_matches("/map.yaml");
    let named = format!("resources: ['../{directory}']\n");
    dry.commit(
        "Vendor",
        &[
            ("charts/via/Chart.yaml", &chart.replace("name: app", "name: via")),
            ("named/kustomization.yaml", &named),
            ("applications/via.yaml", &application("via", "charts/via")),
            ("applications/named.yaml", &application("named", "named").replace("namespace: shop", "namespace: other")),
            ("applications/app.yaml", ""),
            ("applications/web.yaml", ""),
        ],
    );
    let told = dry.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let server = Repo::at(&lab, "dry.git");
    for path in [map.as_str(), "charts/app/charts/web/values.yaml"] {
        let tip = server.git(&["rev-parse", "environments/dev"]);
        let before = dry.file(path).expect("there");
        dry.commit("Tamper", &[(path, &format!("{before}# evil\n"))]);
        let told = dry.push().remote().join("\n");
        assert!(told.contains("error: ") && told.contains("are not those of"), "{path}: {told}");
        assert_eq!(server.git(&["rev-parse", "environments/dev"]), tip, "{path}");
        dry.commit("As it came", &[(path, &before)]);
        dry.push().success();
    }
}
