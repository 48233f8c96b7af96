//! Jobs that believe no records: what costs one of them more than it ought to.

use std::time::Duration;

use super::{measure_command, program};
use crate::support::{Lab, Repo};

const URL: &str = "https://git.example.com/dry.git";

/// How many Applications there are.
const COUNT: usize = 40;

/// Applications of one chart that has a password, on one branch.
fn push_applications(clone: &Repo, word: &str) {
    let mut files = vec![
        ("charts/web/Chart.yaml".to_owned(), "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        (
            "charts/web/templates/secret.yaml".to_owned(),
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: \"{{{{ .Release.Name }}}}\", labels: {{word: {word}}}}}\nstringData: \
                 {{password: \"{{{{ randAlphaNum 24 }}}}\"}}\n"
            ),
        ),
    ];
    for n in 0..COUNT {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: x{n}}}\nspec:\n  project: default\n  \
             destination: {{server: https://kubernetes.default.svc, namespace: x}}\n  sourceHydrator:\n    drySource: {{repoURL: \
             {URL}, targetRevision: main, path: charts/web, helm: {{releaseName: x{n}}}}}\n    syncSource: {{targetBranch: \
             environments/prod, path: m/x{n}}}\n"
        );
        files.push((format!("apps/x{n}.yaml"), text));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit(word, &files);
    clone.git(&["push", "-q", "origin", "HEAD"]);
}

/// What the job of the second push takes, which renders all of them again.
fn second_job(active_paths: Option<&str>) -> Duration {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let settings = elsewhere.server();
    for (key, value) in [("repoURL", URL), ("dryBranches", "main"), ("nondeterministic", "randAlphaNum")] {
        settings.hydrate(&["config", "set", key, value]).success();
    }
    settings.hydrate(&["config", "set", "seeds", "new"]).success();
    if let Some(value) = active_paths {
        settings.hydrate(&["config", "set", "activePaths", value]).success();
    }
    let folder = elsewhere.path("folder").display().to_string();
    settings.hydrate(&["config", "export", "--with-seed", &folder]).success();
    let host = lab.bare(&[]);
    let clone = host.clone_to("clone");
    push_applications(&clone, "one");
    host.clone_to("job").hydrate(&["push", "--settings", &folder]).success();
    push_applications(&clone, "two");
    let job = host.clone_to("second");
    let mut command = job.command(&program());
    command.args(["push", "--settings", &folder]);
    let cost = measure_command(command, &job);
    assert!(
        cost.status.success() && cost.said.contains(&format!("{COUNT} of {COUNT} manifests changed")),
        "{}",
        cost.said
    );
    cost.time
}

#[test]
fn a_job_looks_at_a_branch_once_for_all_of_its_applications() {
    let (alone, shared) = (second_job(None), second_job(Some("{environments/prod: [m, o]}")));
    // A look renders all of them once more, and one for each would be that often.
    assert!(shared < alone * 6, "alone {alone:?}, shared {shared:?}");
}
