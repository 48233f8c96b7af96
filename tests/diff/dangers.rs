//! Dangers, pruning and restarts in previews.

use super::{clone, commit_web, json};
use crate::push::{application, config_map, dry};
use crate::support::Lab;

fn job(name: &str, annotations: &str, version: u32) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\nspec:\n  template:\n    \
         spec:\n      restartPolicy: Never\n      containers: [{{name: a, image: 'app:{version}'}}]\n"
    )
}

pub(super) const CLAIM: &str = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: fast, accessModes: \
     [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";

/// One that an API server takes, with annotations of its Pods.
fn deployment(name: &str, replicas: u32, annotations: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  selector: \
         {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}, annotations: \
         {{{annotations}}}}}\n    spec: {{containers: [{{name: web, image: 'web:1'}}]}}\n"
    )
}

#[test]
fn dangers_are_sorted_and_say_what_argo_cd_prunes() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let with_policy = |policy: &str| text.replace("spec:\n", &format!("spec:\n  syncPolicy: {policy}\n"));
    let jobs = |version| {
        let plain = (0..7).map(move |n| job(&format!("job{n}"), "", version));
        plain.chain([job("hook", "helm.sh/hook: pre-upgrade", version)]).collect::<Vec<_>>()
    };
    clone.commit("policy", &[(&file, &with_policy("{automated: {prune: true}}"))]);
    commit_web(&clone, &[vec![deployment("web", 3, ""), CLAIM.to_owned()], jobs(1)].concat());
    clone.push().success();
    commit_web(&clone, &[vec![deployment("web", 0, "")], jobs(2)].concat());
    let stat = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
    let head = "environments/dev   9 objects changed, 1 removed in 1 of 2 Applications
  image app 1 → 2 (8 times)
  data loss PersistentVolumeClaim data: removed, with its volume and data, unless the volume is retained
    Argo CD prunes it with the next sync; to keep it, set the sync option `Prune=false` on it in a commit before this one
  outage Deployment web: replicas 3 → 0: nothing runs
    keep at least one replica of what shall serve
  refused 7 Jobs, each: `spec.template` cannot be changed: the sync fails unless the object is deleted first
    job0, job1, job2, job3, job4 and 2 more
    set the sync options `Force=true,Replace=true` on it, so that it runs anew, or make it a hook

";
    assert!(stat.starts_with(head), "{stat}");
    let shown = json(&clone, &[], 1);
    let dangers = &shown["environments"][0]["dangers"];
    assert_eq!((&dangers[0]["severity"], &dangers[0]["pruning"]), (&"data-loss".into(), &"automatic".into()));
    assert_eq!(dangers[2]["objects"].as_array().map(Vec::len), Some(7), "{dangers:#}");
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    let line = "- \u{1f534} **data loss** `environments/dev`: `PersistentVolumeClaim data`: removed";
    assert!(markdown.contains(line), "{markdown}");
    clone.commit("keep", &[(&file, &with_policy("{syncOptions: [Prune=false]}"))]);
    let kept = json(&clone, &[], 1);
    assert_eq!(kept["environments"][0]["dangers"][0]["kind"], "scaledToZero", "{kept:#}");
    clone.commit("by hand", &[(&file, &text)]);
    // What stays until somebody syncs with pruning is the least of them.
    let shown = json(&clone, &[], 1);
    let dangers = shown["environments"][0]["dangers"].as_array().expect("an array");
    let removed = dangers.iter().find(|danger| danger["kind"] == "removed").expect("the claim");
    assert_eq!((&removed["pruning"], &removed["severity"]), (&"manual".into(), &"other".into()), "{shown:#}");
}

#[test]
fn an_application_that_goes_takes_its_objects_by_its_finalizer() {
    for (finalizers, expected) in [("[resources-finalizer.argocd.argoproj.io]", Some("cascade")), ("[]", None)] {
        let clone = clone();
        let (file, text) = application("web", "dev");
        let text = text.replace("metadata:\n", &format!("metadata:\n  finalizers: {finalizers}\n"));
        clone.commit("finalizer", &[(&file, &text)]);
        commit_web(&clone, &[CLAIM.to_owned()]);
        clone.push().success();
        clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
        let shown = json(&clone, &[], 1);
        assert_eq!(shown["environments"][0]["dangers"][0]["pruning"].as_str(), expected, "{shown:#}");
    }
}

#[test]
fn an_application_that_goes_with_its_objects_is_a_danger_in_every_form() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let finalizer = "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n";
    clone.commit("finalizer", &[(&file, &text.replace("metadata:\n", finalizer))]);
    clone.push().success();
    clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
    let shown = clone.hydrate(&["diff", "--stat"]).exits(1).stdout;
    let danger = "Application web-dev: removed, and its object with it";
    assert!(shown.contains(&format!("  outage {danger}\n")) && shown.contains("`Delete=false`"), "{shown}");
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("**outage** `environments/dev`: `Application web-dev`: removed"), "{markdown}");
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["environments"][0]["dangers"][0]["kind"], "applicationRemoved", "{shown:#}");
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written");
    assert!(page.contains("<li class=\"outage\">") && page.contains("Application web-dev</a>"), "{page}");
}

#[test]
fn dangers_of_production_come_first() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev", "prod"]);
    let commit = |dev: String, prod: u32| {
        let prod = deployment("web", prod, "");
        let files = [("apps/web/dev/config.yaml", dev.as_str()), ("apps/web/prod/config.yaml", prod.as_str())];
        clone.commit("both", &files);
    };
    commit(CLAIM.to_owned() + "---\n" + &deployment("web", 3, ""), 3);
    clone.push().success();
    commit(deployment("web", 2, ""), 0);
    for args in [&["diff"][..], &["diff", "--markdown"]] {
        let shown = clone.hydrate(args).exits(1).stdout;
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at("nothing runs") < at("PersistentVolumeClaim data"), "{shown}");
    }
}

#[test]
fn no_severe_danger_is_cut() {
    let clone = clone();
    let ingress = |hosts: std::ops::Range<u32>| {
        let rules: Vec<String> = hosts.map(|n| format!("{{host: host{n}.example.com}}")).collect();
        let rules = rules.join(", ");
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web}}\nspec: {{rules: [{rules}]}}\n"
        )
    };
    commit_web(&clone, &[ingress(0..100)]);
    clone.push().success();
    commit_web(&clone, &[ingress(0..40)]);
    let count = |args: &[&str], what: &str| clone.hydrate(args).exits(1).stdout.matches(what).count();
    assert_eq!(count(&["diff"], "  outage Ingress web: host"), 60);
    assert_eq!(count(&["diff", "--markdown"], "- \u{1f7e0} **outage** "), 60);
    let cut = clone.hydrate(&["diff", "--markdown", "--limit", "3000"]).exits(1).stdout;
    assert!(cut.len() <= 3000 && cut.contains("- \u{1f7e0} **outage**: `hostGone` 60 times\n"), "{cut}");
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written");
    assert_eq!(page.matches("<li class=\"outage\">").count(), 60);
}

#[test]
fn workloads_that_restart_are_counted_though_only_a_checksum_changed() {
    let clone = clone();
    let deployment = |name: &str, checksum: &str| deployment(name, 1, &format!("checksum/config: {checksum}"));
    commit_web(&clone, &[deployment("one", "d41d8cd98f00"), deployment("two", "d41d8cd98f00"), config_map("web", "1")]);
    clone.push().success();
    commit_web(&clone, &[deployment("one", "0cc175b9c0f1"), deployment("two", "0cc175b9c0f1"), config_map("web", "1")]);
    let answer = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected = "environments/dev   only generated fields in 1 of 2 Applications
  restarts 2 workloads
  2 objects differ only in generated fields: checksums (2)

  web-dev  web
    ~ 2 Deployments one, two  restart their Pods
      … also checksums (1)
";
    assert!(answer.starts_with(expected), "{answer}");
    assert_eq!(json(&clone, &[], 1)["environments"][0]["summary"]["restarts"], 2);
    assert!(
        clone
            .hydrate(&["diff", "--markdown"])
            .exits(1)
            .stdout
            .contains("@@ 2 Deployments one, two @@ restart their Pods")
    );
}

/// Gives an Application the finalizer by which its objects are deleted with it.
pub(super) fn with_finalizer(text: &str) -> String {
    text.replace("metadata:\n", "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n")
}

#[test]
fn an_application_that_goes_says_what_becomes_of_its_objects() {
    let rows = [
        (false, "its 2 objects stay and are no longer managed: it has no resources finalizer"),
        (true, "its 2 objects are deleted with it, by its resources finalizer"),
    ];
    for (cascades, expected) in rows {
        let clone = clone();
        let (file, text) = application("web", "dev");
        clone.commit("finalizer", &[(&file, &if cascades { with_finalizer(&text) } else { text })]);
        commit_web(&clone, &[CLAIM.to_owned(), config_map("web", "1")]);
        clone.push().success();
        clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        let note = format!("  web-dev  web  removed\n    once web-dev is deleted in the cluster, {expected}\n");
        assert!(shown.contains(&note), "{shown}");
        assert_eq!(shown.contains("data loss PersistentVolumeClaim data: removed"), cascades, "{shown}");
        let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
        assert!(markdown.contains("once web-dev is deleted in the cluster"), "{markdown}");
        let effect = &json(&clone, &[], 1)["environments"][0]["applications"][0]["effect"];
        assert!(effect.as_str().is_some_and(|text| text.ends_with(expected)), "{effect}");
    }
}

#[test]
fn what_to_do_about_several_dangers_is_said_once() {
    let clone = clone();
    let objects = |namespace: &str| {
        [("v1", "ConfigMap"), ("v1", "ServiceAccount"), ("policy/v1", "PodDisruptionBudget")].map(|(version, kind)| {
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: web, namespace: {namespace}}}\n")
        })
    };
    commit_web(&clone, &objects("old"));
    clone.push().success();
    commit_web(&clone, &objects("new"));
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected = "  danger ConfigMap new/web, PodDisruptionBudget new/web, ServiceAccount new/web: namespace old → new: a new one is created, the old one goes
    the old ones stay until somebody syncs with pruning: the Application does not prune by itself; check that what refers to it is in the new namespace too

  web-dev  web
    ~ 3 objects: ConfigMap new/web, PodDisruptionBudget new/web, ServiceAccount new/web
        metadata
      -   namespace: old
      +   namespace: new
";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn what_to_do_about_several_dangers_is_said_once_in_markdown_and_on_the_page_too() {
    let clone = clone();
    let budget = |name: &str, allowed: &str| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\nspec: {{{allowed}, selector: {{matchLabels: {{app: {name}}}}}}}\n"
        )
    };
    commit_web(&clone, &[budget("a", "maxUnavailable: 1"), budget("b", "maxUnavailable: 1")]);
    clone.push().success();
    commit_web(&clone, &[budget("a", "maxUnavailable: 0"), budget("b", "minAvailable: 100%")]);
    let advice = "allow at least one disruption, or run more replicas";
    for args in [&["diff"][..], &["diff", "--markdown"]] {
        let shown = clone.hydrate(args).exits(1).stdout;
        assert_eq!(shown.matches(advice).count(), 1, "{args:?}: {shown}");
    }
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written");
    assert_eq!(page.matches(advice).count(), 1, "{page}");
}

#[test]
fn what_outlives_its_application_is_not_counted_with_it() {
    let kept = CLAIM.replace("name: data", "name: data, annotations: {argocd.argoproj.io/sync-options: Delete=false}");
    let map = config_map("web", "one");
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\n\
                      spec: {group: example.com, scope: Namespaced, names: {plural: as, singular: a, kind: A}, versions: [{name: v1, \
                      served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n";
    // What is removed, what is said of the Application, and the dangers.
    let rows: [(&[&str], &str, &[&str]); 3] = [
        (&[&kept], "its object stays and is no longer managed (a definition, `Delete=false` or Helm's `keep`)", &[]),
        (
            &[&map, &kept, definition],
            "its object is deleted with it, by its resources finalizer; 2 others stay (a definition, `Delete=false` or Helm's `keep`)",
            &["applicationRemoved"],
        ),
        (&[CLAIM], "its object is deleted with it, by its resources finalizer", &["removed", "applicationRemoved"]),
    ];
    for (objects, said, dangers) in rows {
        let clone = clone();
        let (file, text) = application("web", "dev");
        let finalizer = "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n";
        clone.commit("finalizer", &[(&file, &text.replace("metadata:\n", finalizer))]);
        commit_web(&clone, &objects.iter().map(|object| (*object).to_owned()).collect::<Vec<_>>());
        clone.push().success();
        clone.commit("remove\n\nHydrate-Allow-Removal: environments/dev", &[(&file, "")]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        assert!(shown.contains(said), "{said}: {shown}");
        let shown = json(&clone, &[], 1);
        let found = shown["environments"][0]["dangers"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<_> = found.iter().filter_map(|danger| danger["kind"].as_str()).collect();
        assert_eq!(kinds, dangers, "{shown:#}");
    }
}
