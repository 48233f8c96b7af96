//! Applications that several makers make alike are one: real pushes.

use crate::app_of_apps::{CHART, parent, template, values};
use crate::made_applications::{config, dry, files, list};
use crate::push::{both, tip, verified};
use crate::support::Repo;

type Apps<'a> = &'a [(&'a str, &'a str)];

fn values_of(name: &str) -> String {
    format!("charts/{name}/values.yaml")
}

/// A repository with parents `one` and `two`, charts of these Applications.
fn parents(server: &Repo, one: Apps<'_>, two: Apps<'_>) -> Repo {
    let mut all = Vec::new();
    for (name, apps) in [("one", one), ("two", two)] {
        let options = format!(", helm: {{releaseName: {name}}}");
        // Two Applications of one branch cannot render one object.
        let root =
            parent(name, &format!("charts/{name}"), &options).replace("clusters/apps", &format!("clusters/{name}"));
        all.push((format!("{name}.yaml"), root));
        all.push((format!("charts/{name}/Chart.yaml"), CHART.to_owned()));
        all.push((format!("charts/{name}/templates/apps.yaml"), template()));
        all.push((values_of(name), values(apps)));
        all.extend(apps.iter().map(|(app, environment)| config(app, environment, "one")));
    }
    all.sort();
    all.dedup();
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    dry(server, &all)
}

fn push(clone: &Repo) -> String {
    clone.push().success().remote().join("\n")
}

fn has(server: &Repo, name: &str) -> bool {
    files(server, "environments/dev").contains(&format!("{name}/manifest.yaml"))
}

const WEB: (&str, &str) = ("web", "dev");
const API: (&str, &str) = ("api", "dev");
const JOB: (&str, &str) = ("job", "dev");

#[test]
fn one_document_of_two_parents_is_one_application_until_both_make_it_no_more() {
    both(|server| {
        let clone = parents(server, &[WEB, API], &[WEB, JOB]);
        let told = push(&clone);
        assert!(!told.contains("error") && !told.contains("warning"), "{told}");
        assert!(has(server, "web") && has(server, "api") && has(server, "job"), "{told}");
        let apps = clone.hydrate(&["apps"]).success().stdout;
        assert_eq!(apps.matches("web-dev").count(), 1, "{apps}");

        // The one that it is told of makes it no more: the other one still does.
        let before = tip(server, "environments/dev");
        clone.commit("not one", &[(&values_of("one"), &values(&[API]))]);
        let told = push(&clone);
        assert!(
            !told.contains("removed web") && !told.contains("removed ConfigMap") && !told.contains("error"),
            "{told}"
        );
        assert!(has(server, "web"), "{told}");
        assert_eq!(server.git(&["diff", "--name-only", &before, "environments/dev", "--", "*manifest.yaml"]), "");
        verified(server);

        // And back, and the other one.
        clone.commit("both", &[(&values_of("one"), &values(&[WEB, API]))]);
        push(&clone);
        clone.commit("not two", &[(&values_of("two"), &values(&[JOB]))]);
        let told = push(&clone);
        assert!(has(server, "web") && !told.contains("removed web") && !told.contains("removed ConfigMap"), "{told}");

        clone.commit("none", &[(&values_of("one"), &values(&[API]))]);
        let told = push(&clone);
        assert!(!has(server, "web") && has(server, "api") && has(server, "job"), "{told}");
        verified(server);
    });
}

#[test]
fn documents_that_become_unequal_are_an_error_with_both_places() {
    both(|server| {
        let clone = parents(server, &[WEB, API], &[WEB, JOB]);
        push(&clone);
        let before = tip(server, "environments/dev");
        let other = template().replace("spec:\n  sourceHydrator", "spec:\n  project: other\n  sourceHydrator");
        assert_ne!(other, template());
        clone.commit("another project", &[("charts/two/templates/apps.yaml", &other)]);
        let told = push(&clone);
        assert!(told.contains("`web-dev` is made by Application `two`, and there is another"), "{told}");
        assert!(
            told.contains("charts/two/templates/apps.yaml:") && told.contains("charts/one/templates/apps.yaml:"),
            "{told}"
        );
        assert_eq!(tip(server, "environments/dev"), before);
        // Alike again, in one more field that no manifest depends on.
        let policy = "spec:\n  syncPolicy: {automated: {}}\n  sourceHydrator";
        let both = template().replace("spec:\n  sourceHydrator", policy);
        let both = [("charts/one/templates/apps.yaml", both.as_str()), ("charts/two/templates/apps.yaml", &both)];
        clone.commit("alike", &both);
        let told = push(&clone);
        assert!(!told.contains("error"), "{told}");
        verified(server);
    });
}

#[test]
fn what_another_maker_may_still_make_stays_while_that_fails() {
    both(|server| {
        let clone = parents(server, &[WEB, API], &[WEB, JOB]);
        push(&clone);
        let broken = [
            (values_of("one"), values(&[API])),
            ("charts/two/templates/bad.yaml".to_owned(), "{{ fail \"bad\" }}\n".to_owned()),
        ];
        let broken: Vec<(&str, &str)> = broken.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit("break two", &broken);
        let told = push(&clone);
        assert!(told.contains("Application `two` makes no Applications"), "{told}");
        assert!(has(server, "web"), "{told}");
    });
}

#[test]
fn two_sets_do_not_make_one_application() {
    both(|server| {
        let (path, text) = config("web", "dev", "one");
        let [one, two] = ["one", "two"].map(|name| list(name, &["web@dev"], ""));
        let clone = dry(server, &[("one.yaml", &one), ("two.yaml", &two), (&path, &text)]);
        let told = push(&clone);
        assert!(told.contains("there is another Application of that name"), "{told}");
    });
}
