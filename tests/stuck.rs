//! A branch of which an Application does not render stays where it is. It costs others nothing, and nothing is rendered
//! again in vain.

use std::sync::atomic::{AtomicUsize, Ordering};

use git_hydrate::testing::git::{Location, Repository};
use git_hydrate::testing::hydrate::{self, Observer, Outcome, Place, Report, Setup, Wake};
use git_hydrate::testing::render::Renderers;

use crate::incremental::machine;
use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

const CHART: &str = "apiVersion: v2\nname: slow\nversion: 1.0.0\n";
const LIMIT: &str = "hydrate.objectLimit";

/// A template of several objects: more than the limit that the tests set.
const MANY: &str = "{{ range until 3 }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: many-{{ . }}
{{ end }}
";

/// One that fails.
const BROKEN: &str = "{{ .Values.nothing.at.all }}\n";

#[derive(Default)]
struct Counter(AtomicUsize);

impl Observer for Counter {
    fn rendering(&self, _dry_commit: &str, total: usize) {
        self.0.fetch_add(total, Ordering::Relaxed);
    }

    fn rendered(&self, _done: usize) {}
}

/// Hydrates what was pushed to `main` while no hook ran; answers how many Applications were rendered for it.
fn hydrated(server: &Repo) -> (Report, usize) {
    let repository = Repository::open(&server.path, Location::Hook).expect("opens");
    let machine = machine();
    let renderers = Renderers::from_config(&repository, &machine).expect("readable");
    let counter = Counter::default();
    let setup = Setup {
        repository: &repository,
        place: Place::server(),
        wake: Wake::Pushed(vec!["main".to_owned()]),
        renderers: &renderers,
        now: None,
        thawed_at: None,
        out_of_time: &|| false,
        observer: &counter,
        pusher: None,
        only: None,
        fetching: None,
        resumed: None,
        discovery: None,
    };
    let report = hydrate::hydrate(&setup).expect("the world is fine");
    (report, counter.0.into_inner())
}

/// What is said of a branch that stays where it is.
fn failure(report: &Report, branch: &str) -> String {
    let found = report.branches.iter().find(|found| found.branch == branch).expect("looked at");
    match &found.outcome {
        Outcome::Failed { diagnostics, .. } => diagnostics.iter().map(ToString::to_string).collect(),
        Outcome::Moved | Outcome::Unchanged | Outcome::Frozen(_) => panic!("{branch} is not stuck: {found:?}"),
    }
}

/// A server without hooks that has hydrated `web` for dev, and `web` and a chart for prod; none renders more than two
/// objects there.
fn lab_with_chart(lab: &Lab) -> (Repo, Repo) {
    let server = lab.bare(&[]);
    server.git(&["config", LIMIT, "2"]);
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let (file, text) = application("slow", "prod");
    let template = config_map("slow", "few");
    clone.commit(
        "a chart",
        &[(&file, &text), ("apps/slow/prod/Chart.yaml", CHART), ("apps/slow/prod/templates/a.yaml", &template)],
    );
    clone.push().success();
    let (report, _) = hydrated(&server);
    assert!(report.is_success(), "{report:?}");
    (server, clone)
}

const TEMPLATE: &str = "apps/slow/prod/templates/a.yaml";
const WEB: &str = "apps/web/dev/config.yaml";
const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

#[test]
fn pushes_of_other_files_do_not_render_again_what_failed() {
    let rows = [
        (MANY, "`slow-prod` renders more than 2 objects; git config hydrate.objectLimit sets the limit"),
        (BROKEN, "nil pointer evaluating"),
    ];
    for (template, expected) in rows {
        let lab = Lab::new();
        let (server, clone) = lab_with_chart(&lab);
        let before = tip(&server, PROD);
        clone.commit("too much", &[(TEMPLATE, template)]);
        clone.push().success();
        let (report, _) = hydrated(&server);
        assert!(failure(&report, PROD).contains(expected), "{report:?}");
        for round in 0..3 {
            let last = clone.commit("unrelated", &[(WEB, &config_map("web", &format!("round {round}")))]);
            clone.push().success();
            let (report, rendered) = hydrated(&server);
            assert_eq!(rendered, 1, "round {round}: {report:?}");
            assert!(failure(&report, PROD).contains(expected), "{report:?}");
            assert_eq!(note(&server, DEV), note_of(&last));
            assert_eq!(tip(&server, PROD), before);
        }
        // A new Application makes it look at everything, and it still knows.
        let (file, text) = application("new", "dev");
        let config = config_map("new", "x");
        clone.commit("a new application", &[(&file, &text), ("apps/new/dev/config.yaml", &config)]);
        clone.push().success();
        let (report, rendered) = hydrated(&server);
        assert_eq!(rendered, 1, "{report:?}");
        assert!(failure(&report, PROD).contains(expected), "{report:?}");
        // Something that it reads.
        let last = clone.commit("less", &[(TEMPLATE, &config_map("slow", "less"))]);
        clone.push().success();
        let (report, _) = hydrated(&server);
        assert!(report.is_success(), "{report:?}");
        assert_eq!(note(&server, PROD), note_of(&last));
    }
}

#[test]
fn several_commits_at_once_try_a_limit_once() {
    let lab = Lab::new();
    let (server, clone) = lab_with_chart(&lab);
    clone.commit("too much", &[(TEMPLATE, MANY)]);
    for round in 0..4 {
        clone.commit("unrelated", &[(WEB, &config_map("web", &format!("round {round}")))]);
    }
    clone.push().success();
    let (report, rendered) = hydrated(&server);
    assert!(failure(&report, PROD).contains("more than 2 objects"), "{report:?}");
    assert_eq!(rendered, 5, "the chart once, and what changed: {report:?}");
}

#[test]
fn a_limit_is_tried_again_when_something_changes_or_somebody_asks() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", LIMIT, "2"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("slow", "prod");
    let chart = [(file.as_str(), text.as_str()), ("apps/slow/prod/Chart.yaml", CHART), (TEMPLATE, MANY)];
    clone.commit("a chart", &chart);
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("`git hydrate catch-up --retry` on the server tries it again"), "{told}");
    let refs = || server.git(&["for-each-ref"]);
    let before = refs();
    let tries = |args: &[&str]| {
        let told = server.hydrate(args).exits(1).stdout;
        assert!(told.contains("renders more than 2 objects; git config hydrate.objectLimit sets the limit"), "{told}");
        !told.contains("failed, as before")
    };
    assert!(!tries(&["catch-up"]), "a push would not try it");
    assert!(tries(&["catch-up", "--retry"]));
    assert!(!tries(&["catch-up"]));
    // What is remembered may be lost.
    std::fs::remove_dir_all(server.path.join("hydrate")).expect("removed");
    assert!(tries(&["catch-up"]));
    assert!(!tries(&["catch-up"]));
    server.git(&["config", "hydrate.renderTimeLimit", "60"]);
    assert!(tries(&["catch-up"]), "other limits");
    assert_eq!(refs(), before);
    server.git(&["config", LIMIT, "3"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")));
}

#[test]
fn a_backlog_of_more_failures_than_are_recorded_is_not_rendered_again() {
    let lab = Lab::new();
    let (server, clone) = lab_with_chart(&lab);
    clone.commit("broken", &[(TEMPLATE, BROKEN)]);
    clone.push().success();
    hydrated(&server);
    let commits = "for n in $(seq 120); do echo $n >NOTES && git add NOTES && git commit -q -m $n; done; git push -q";
    clone.run("sh", &["-c", commits]).success();
    let (_, rendered) = hydrated(&server);
    assert_eq!(rendered, 0);
    // Looks at everything.
    std::fs::remove_dir_all(server.path.join("hydrate/cache")).expect("removed");
    clone.commit("unrelated", &[(WEB, &config_map("web", "new"))]);
    clone.push().success();
    let (report, rendered) = hydrated(&server);
    assert_eq!(rendered, 3, "all of the tip, and none before it: {report:?}");
    assert!(failure(&report, PROD).contains("nil pointer evaluating"), "{report:?}");
}
