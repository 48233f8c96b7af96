//! How reviewers see what was vendored.

use std::fs;

use super::{chart, charted, packed, sha256, vendor, web, with_charts};
use crate::servers::Liar;
use crate::support::{Answer, Lab, Repo};

/// A clone whose chart depends on web 1.2.3, hydrated, and 1.3.0 vendored on top of it: a template and three values more.
fn bumped() -> (Lab, Liar, Repo) {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let told = dry.push().success().stderr;
    assert!(told.contains("environments/dev  new -> "), "{told}");
    let mut newer = chart("web", "1.3.0");
    let more = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n";
    newer.push(("web/templates/more.yaml".to_owned(), more.to_owned()));
    newer.iter_mut().filter(|(path, _)| path.ends_with("values.yaml")).for_each(|(_, text)| {
        *text = "word: other\nport: {http: 80, https: 443}\n".to_owned();
    });
    let archive = packed(&newer);
    fs::write(lab.path("charts/web-1.3.0.tgz"), &archive).expect("written");
    let (digest, urls) = (sha256(&archive), "urls: [web-1.3.0.tgz]");
    let index = format!("apiVersion: v1\nentries:\n  web:\n  - {{version: 1.3.0, {urls}, digest: {digest}}}\n");
    fs::write(lab.path("charts/index.yaml"), index).expect("written");
    let chart = fs::read_to_string(dry.path.join("charts/app/Chart.yaml")).expect("there").replace("1.2.3", "1.3.0");
    fs::write(dry.path.join("charts/app/Chart.yaml"), chart).expect("written");
    vendor(&dry, &[]).success();
    let lock = dry.file(super::LOCK).expect("there");
    assert!(lock.contains("want = \"1.3.0\""), "{lock}");
    dry.commit("Bump", &[]);
    (lab, charts, dry)
}

fn expected(charts: &Liar) -> String {
    format!("web 1.2.3 → 1.3.0 of {}: 1 template, 3 defaults changed; used by app", charts.url())
}

/// The lines about inputs, as one.
fn inputs(text: &str) -> String {
    let lines = text.lines().skip_while(|line| *line != "inputs from elsewhere").skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn reviewers_see_a_line_for_each_input() {
    let (lab, charts, dry) = bumped();
    let expected = expected(&charts);
    for form in [&["diff"][..], &["diff", "--stat"], &["diff", "--against", "HEAD~1"]] {
        let text = dry.hydrate(form).exits(1).stdout;
        assert!(text.starts_with("inputs from elsewhere\n"), "{form:?}: {text}");
        assert!(inputs(&text).starts_with(&expected), "{form:?}: {text}");
        assert!(!text.contains("charts/web/templates"), "{form:?}: {text}");
    }
    assert!(dry.hydrate(&["diff", "--markdown"]).exits(1).stdout.contains(&format!("- `{expected}`")));
    let json: serde_json::Value = serde_json::from_str(&dry.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    let input = &json["inputs"][0];
    assert_eq!((&input["old"], &input["new"]), (&"1.2.3".into(), &"1.3.0".into()));
    assert_eq!((&input["files"]["templates"], &input["defaults"]), (&1.into(), &3.into()));
    let page = lab.path("page.html");
    dry.hydrate(&["diff", "--html", page.to_str().expect("UTF-8")]).exits(1);
    let page = fs::read_to_string(page).expect("written");
    let line = "1 template, 3 defaults changed; used by app";
    assert!(page.contains("Inputs from elsewhere") && page.contains(line), "{page}");
}

#[test]
fn whoever_pushes_sees_them_before_the_push() {
    let (_lab, charts, dry) = bumped();
    dry.hydrate(&["install", "--client"]).success();
    dry.git(&["fetch", "-q"]);
    // What the push is compared with.
    let fetched = dry.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Dry,valueonly)", "origin/environments/dev"]);
    assert_eq!(fetched.trim(), dry.git(&["rev-parse", "HEAD~1"]));
    let Answer { stderr, .. } = dry.push().success();
    assert!(!stderr.contains("this push is not checked"), "{stderr}");
    assert!(inputs(&stderr).starts_with(&expected(&charts)), "{stderr}");
    let (above, below) = (stderr.find("inputs from elsewhere"), stderr.find("environments/dev "));
    assert!(above < below, "{stderr}");
}

/// Forges fold generated files, and no filter of a checkout may change what the lock file counts.
#[test]
fn vendored_files_are_marked_as_generated() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    fs::write(lab.path("charts/file.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: file}\n")
        .expect("written");
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let base = format!("resources: ['{}/file.yaml']\n", charts.url());
    dry.commit(
        "Use a file",
        &[("web/kustomization.yaml", &base), ("applications/web.yaml", &super::application("web", "web"))],
    );
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let attributes = |path: &str| dry.git(&["check-attr", "linguist-generated", "text", "filter", "--", path]);
    let file = dry.git(&["ls-files", ".hydrate/inputs/file/*"]);
    for path in ["charts/app/charts/web/templates/object.yaml", &file] {
        let expected = format!("{path}: linguist-generated: set\n{path}: text: unset\n{path}: filter: unset");
        assert_eq!(attributes(path), expected);
    }
    assert!(attributes(".hydrate/inputs.lock").starts_with(".hydrate/inputs.lock: linguist-generated: set\n"));
    assert!(attributes("charts/app/templates/own.yaml").contains("linguist-generated: unspecified"));
    // A checkout that writes every file its own way changes nothing that is counted.
    dry.git(&["config", "core.autocrlf", "true"]);
    dry.git(&["rm", "-rq", "--cached", "."]);
    dry.git(&["reset", "-q", "--hard"]);
    dry.hydrate(&["vendor", "--check"]).success();
}
