//! Applications of one name, each in an environment that has an Argo CD of its own.

use super::json;
use crate::push::config_map;
use crate::support::{Lab, Repo};

/// The Application `web` of an environment, in a file of that.
fn web(env: &str, more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd, finalizers: \
         [resources-finalizer.argocd.argoproj.io]}}\nspec:\n  project: default\n  destination: {{server: 'https://{env}', \
         namespace: {env}}}\n  syncPolicy: {{automated: {{prune: true{more}}}}}\n  sourceHydrator:\n    drySource: {{repoURL: \
         https://git.example.com/dry.git, path: apps, targetRevision: main}}\n    syncSource: {{targetBranch: \
         environments/{env}, path: web}}\n"
    )
}

fn clone() -> Repo {
    let clone = Lab::new().server().clone_to("clone");
    let config = config_map("web", "one");
    let files = ["dev", "prod"].map(|env| (format!("{env}/web.yaml"), web(env, "")));
    let files = files.iter().map(|(file, text)| (file.as_str(), text.as_str()));
    clone.commit("both", &files.chain([("apps/config.yaml", config.as_str())]).collect::<Vec<_>>());
    clone.push().success();
    clone
}

#[test]
fn what_one_environment_changes_of_an_application_is_no_move_of_that_of_another() {
    let clone = clone();
    clone.commit("heal", &[("dev/web.yaml", &web("dev", ", selfHeal: true"))]);
    let expected = "environments/dev   1 object changed in 1 of 1 Applications

  web  web
    ~ Application argocd/web
        spec.syncPolicy.automated
      +   selfHeal: true

no change in environments/prod
";
    for against in [&["diff"][..], &["diff", "--against", "HEAD~1"]] {
        let text = clone.hydrate(against).exits(1).stdout;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn an_application_that_goes_in_one_environment_is_not_moved_to_another_cluster() {
    for (gone, stays) in [("prod", "dev"), ("dev", "prod")] {
        let clone = clone();
        let message = format!("remove\n\nHydrate-Allow-Removal: environments/{gone}");
        clone.commit(&message, &[(&format!("{gone}/web.yaml"), "")]);
        let text = clone.hydrate(&["diff", "--against", "HEAD~1"]).exits(1).stdout;
        assert!(text.contains("outage Application web: removed, and its object with it"), "{text}");
        assert!(!text.contains("https://") && text.contains(&format!("no change in environments/{stays}\n")), "{text}");
    }
}

#[test]
fn an_application_of_another_cluster_in_another_file_is_another_one() {
    let clone = clone();
    let message = "stop dev, start test\n\nHydrate-Allow-Removal: environments/dev";
    clone.commit(message, &[("dev/web.yaml", ""), ("test/web.yaml", &web("test", ""))]);
    let shown = json(&clone, &["--against", "HEAD~1"], 1);
    let of = |index: usize| &shown["environments"][index];
    assert_eq!(of(0)["dangers"][0]["kind"], "applicationRemoved", "{shown:#}");
    assert_eq!((&of(1)["branch"], &of(1)["applications"][0]["change"]), (&"environments/test".into(), &"added".into()));
    assert_eq!(of(1)["summary"]["dangers"], 0, "{shown:#}");
}

#[test]
fn a_move_in_one_environment_is_paired_with_its_own_path() {
    let clone = clone();
    let moved = web("dev", "").replace("path: web}", "path: shop}");
    clone.commit("move", &[("dev/web.yaml", &moved)]);
    let text = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
    assert!(text.contains("  web  shop  moved from web\n") && !text.contains("outage"), "{text}");
}
