//! Applications and objects that move, or have another name.

use super::dangers::{CLAIM, with_finalizer};
use super::{clone, commit_web, json};
use crate::push::{application, config_map};

#[test]
fn applications_come_go_and_move() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let (new_file, new_text) = application("extra", "dev");
    let api = application("api", "dev").0;
    clone.commit(
        "move web, remove api, add extra\n\nHydrate-Allow-Removal: environments/dev",
        &[
            (&file, &text.replace("path: web", "path: elsewhere")),
            (&new_file, &new_text),
            ("apps/extra/dev/config.yaml", &config_map("extra", "x")),
            (&api, ""),
        ],
    );
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "environments/dev   1 object added, 1 removed in 3 of 3 Applications

  api-dev  api  removed
    once api-dev is deleted in the cluster, its object stays and is no longer managed: it has no resources finalizer
    - ConfigMap api  6 lines

  web-dev  elsewhere  moved from web

  extra-dev  extra  new
    + ConfigMap extra
      + apiVersion: v1
      + data:
      +   value: x
      + kind: ConfigMap
      + metadata:
      +   name: extra

no change in environments/prod
"
    );
}

#[test]
fn objects_that_another_application_takes_over_are_not_removed() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let (new_file, new_text) = application("shop", "dev");
    let finalizer = "metadata:\n  finalizers: [resources-finalizer.argocd.argoproj.io]\n";
    clone.commit("finalizer", &[(&file, &text.replace("metadata:\n", finalizer))]);
    let objects = |namespace: &str| CLAIM.replace("name: data", &format!("name: data{namespace}"));
    let config = config_map("web", "one").replace("name: web", "name: web\n  namespace: web");
    commit_web(&clone, &[objects(", namespace: web"), config.clone()]);
    clone.push().success();
    let moved = [objects(", namespace: web"), config.replace("value: one", "value: two")].join("---\n");
    clone.commit(
        "rename\n\nHydrate-Allow-Removal: environments/dev",
        &[(&file, ""), (&new_file, &new_text), ("apps/shop/dev/config.yaml", &moved)],
    );
    let expected = "environments/dev   1 object changed, 1 moved in 2 of 3 Applications
  data loss PersistentVolumeClaim web/data: moves to another Application: if the old one removes it first, it goes with its volume and data, unless the volume is retained
    Argo CD deletes it together with its Application; set the sync options `Prune=false,Delete=false` on it in a commit before this one, and sync the new Application first

  shop-dev  shop  new
    ~ PersistentVolumeClaim web/data  moved from web-dev
    ~ ConfigMap web/web  moved from web-dev
        data
      -   value: one
      +   value: two

  web-dev  web  removed
    objects move to shop-dev: Argo CD deletes what shop-dev has not applied by the time that web-dev is deleted
";
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.starts_with(expected), "{shown}");
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["environments"][0]["applications"][0]["objects"][0]["movedFrom"], "web-dev", "{shown:#}");
}

#[test]
fn an_application_with_another_name_on_its_path_is_renamed() {
    let rows = [
        (
            false,
            "its object stays, since it has no resources finalizer, and shop-dev takes it over with its first sync",
            0,
        ),
        (true, "what shop-dev has not applied by then of its object is deleted by its resources finalizer", 1),
    ];
    for (cascades, expected, dangers) in rows {
        let clone = clone();
        let (file, text) = application("web", "dev");
        let text = if cascades { with_finalizer(&text) } else { text };
        clone.commit("finalizer", &[(&file, &text)]);
        commit_web(&clone, &[CLAIM.to_owned()]);
        clone.push().success();
        clone.commit("rename", &[(&file, &text.replace("web-dev", "shop-dev"))]);
        let shown = clone.hydrate(&["diff"]).exits(1).stdout;
        let head = "environments/dev   1 of 2 Applications renamed, no object differs in git\n";
        assert!(shown.starts_with(head), "{shown}");
        let note = format!("  shop-dev  web  was web-dev\n    once web-dev is deleted in the cluster, {expected}");
        assert!(shown.contains(&note), "{shown}");
        assert_eq!(
            shown.matches("data loss PersistentVolumeClaim data: moves to another Application").count(),
            dangers
        );
        let shown = json(&clone, &[], 1);
        assert_eq!(shown["environments"][0]["applications"][0]["renamedFrom"], "web-dev", "{shown:#}");
    }
}

#[test]
fn an_application_that_moves_says_where_from() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    clone.commit("path", &[(&file, &text.replace("path: web\n", "path: front/web\n"))]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    let expected = "environments/dev   1 of 2 Applications moved, no object differs in git\n\n  web-dev  front/web  moved from web\n";
    assert!(shown.starts_with(expected), "{shown}");
    let moved = text.replace("environments/dev", "environments/prod").replace("path: web\n", "path: front/web\n");
    clone.commit("branch\n\nHydrate-Allow-Removal: environments/dev", &[(&file, &moved)]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(
        shown.contains("  web-dev  web  removed\n    web-dev is hydrated to front/web on environments/prod now\n"),
        "{shown}"
    );
    assert!(shown.contains("  web-dev  front/web  moved from web on environments/dev\n"), "{shown}");
}

#[test]
fn an_object_goes_to_another_application_and_namespace_at_once() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    clone.commit("finalizer", &[(&file, &with_finalizer(&text))]);
    let (new_file, new_text) = application("shop", "dev");
    let deployment = |namespace: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {namespace}}}\nspec:\n  replicas: 2\n  \
             selector: {{matchLabels: {{app: web}}}}\n  template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: 'web:{image}', ports: [{{containerPort: 80}}]}}]}}}}\n"
        )
    };
    commit_web(&clone, &[deployment("web", "1")]);
    clone.push().success();
    clone.commit(
        "both\n\nHydrate-Allow-Removal: environments/dev",
        &[(&file, ""), (&new_file, &new_text), ("apps/shop/dev/config.yaml", &deployment("shop", "2"))],
    );
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    for expected in [
        "environments/dev   1 object changed in 2 of 3 Applications\n  image web 1 → 2\n",
        "  outage Deployment shop/web: namespace web → shop: new Pods start there, the old ones go\n",
        "    ~ Deployment shop/web  moved from web-dev  restarts its Pods\n",
        "      -   namespace: web\n      +   namespace: shop\n",
        "    objects come in another namespace with shop-dev\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let other = deployment("shop", "2").replace("kind: Deployment", "kind: StatefulSet");
    clone.commit("another kind", &[("apps/shop/dev/config.yaml", &other)]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.starts_with("environments/dev   1 object added, 1 removed in 2 of 3 Applications\n"), "{shown}");
}
