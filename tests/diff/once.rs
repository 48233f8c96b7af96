//! What is equal in many places is shown once.

use super::{clone, commit_web, json};
use crate::push::{application, config_map, dry};
use crate::support::Lab;

#[test]
fn one_fact_in_many_objects_is_told_once_and_production_comes_last() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev", "prod", "qa"]);
    let alerts = |time: &str| {
        let rule = |n: usize| format!("    - {{alert: Alert{n}, expr: up, for: {time}}}\n");
        let rules: String = (0..8).map(rule).collect();
        let of = |name: &str| {
            format!(
                "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: {name}}}\nspec:\n  groups:\n  \
                 - name: all\n    rules:\n{rules}---\n"
            )
        };
        [of("api"), of("web")].concat()
    };
    let commit = |time: &str| {
        for env in ["dev", "prod", "qa"] {
            clone.commit(time, &[(&format!("apps/web/{env}/config.yaml"), &alerts(time))]);
        }
    };
    commit("10m");
    clone.push().success();
    commit("15m");
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "6 objects changed in 3 of 3 environments
  for: 10m → 15m in 6 objects in 3 environments

environments/dev   2 objects changed in 1 of 1 Applications

  web-dev  web
    ~ 2 PrometheusRules api, web
        spec.groups[name=all].rules[alert=Alert0]
      -   for: 10m
      +   for: 15m
      …   the same in 7 more places: spec.groups[name=all].rules[alert=Alert1], \
             spec.groups[name=all].rules[alert=Alert2], spec.groups[name=all].rules[alert=Alert3], \
             spec.groups[name=all].rules[alert=Alert4], spec.groups[name=all].rules[alert=Alert5], …

environments/qa    as environments/dev: 2 objects changed in 1 of 1 Applications
environments/prod  as environments/dev: 2 objects changed in 1 of 1 Applications
"
    );
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert_eq!(markdown.matches("for: 10m").count(), 2, "{markdown}");
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["commonChanges"][0]["objects"], 6);
    assert_eq!(shown["environments"][2]["applications"][0]["objects"][1]["differences"][7]["new"], "15m");
    assert_eq!(clone.hydrate(&["diff", "--noise"]).exits(1).stdout.matches("for: 15m").count(), 8);
}

#[test]
fn a_custom_resource_definition_is_told_by_version_and_field() {
    let clone = clone();
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: shops.example.com}}\n\
             spec:\n  group: example.com\n  names: {{kind: Shop, plural: shops}}\n  scope: Namespaced\n  versions:\n{versions}"
        )
    };
    let version = |name: &str, fields: &str| {
        format!(
            "  - name: {name}\n    served: true\n    storage: {}\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties: {{spec: {{type: object, properties: {{{fields}}}}}}}\n",
            name == "v1"
        )
    };
    commit_web(&clone, &[definition(&version("v1", "size: {type: integer}, old: {type: string}"))]);
    clone.push().success();
    let ports = "ports: {type: array, items: {type: object, properties: {name: {type: string}}}}";
    let fields = format!("size: {{type: string}}, {ports}");
    commit_web(&clone, &[definition(&(version("v1", &fields) + &version("v2", &fields)))]);
    let answer = clone.hydrate(&["diff"]).exits(1).stdout;
    let (_, fields) = answer.split_once("~ CustomResourceDefinition shops.example.com\n").expect("the definition");
    assert_eq!(
        fields.split("\n\n").next(),
        Some(
            "        v1: spec
      -   old: string
      +   ports: array with 1 field
        v1: spec.size
      -   type: integer
      +   type: string
        spec.versions
      +   v2: served, 4 fields"
        )
    );
}

#[test]
fn a_new_environment_is_shown_by_what_differs_from_the_one_that_it_is_like() {
    let clone = dry(&Lab::new().server(), &["web", "api"], &["dev", "staging"]);
    for env in ["dev", "staging"] {
        let host = config_map("web", &format!("web.{env}.example.com"));
        clone.commit("hosts", &[(&format!("apps/web/{env}/config.yaml"), &host)]);
    }
    clone.push().success();
    let of = |name: &str| application(name, "qa");
    let (web, api) = (of("web"), of("api"));
    clone.commit(
        "qa",
        &[
            (&web.0, &web.1),
            (&api.0, &api.1),
            ("apps/web/qa/config.yaml", &config_map("web", "web.qa.example.com")),
            ("apps/api/qa/config.yaml", &config_map("api", "other")),
        ],
    );
    let expected =
        "environments/qa       new, like environments/dev with qa for dev: 2 objects added in 2 of 2 Applications
  1 Application differs from environments/dev:

  api-qa  api
    ~ ConfigMap api
        data
      -   value: qa
      +   value: other

no change in environments/dev, environments/staging
";
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert_eq!(shown, expected);
    let shown = json(&clone, &[], 1);
    let like = &shown["environments"][1]["like"];
    assert_eq!((&like["branch"], like["applications"].as_array().map(Vec::len)), (&"environments/dev".into(), Some(1)));
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("Like `environments/dev` with qa for dev, except for what follows."), "{markdown}");
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written").replace("&#x2f;", "/");
    let differs = "What differs from <a href=\"#branch:environments/dev\">environments/dev</a></p>\n<details class=\"application\" \
                   id=\"like:environments/qa:api\" open>";
    assert!(page.contains(differs), "{page}");
    let all = page.split_once("<details class=\"alike\"><summary>All that is new</summary>").expect("closed").1;
    assert_eq!(all.matches("<details class=\"application\" id=\"branch:environments/qa:").count(), 2);
}

#[test]
fn environments_that_change_alike_but_for_their_name_are_shown_once() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev", "prod", "qa"]);
    let commit = |replicas: u32| {
        for env in ["dev", "prod", "qa"] {
            let deployment = format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{env}}}\nspec:\n  replicas: {replicas}\n  selector: \
                 {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: \
                 [{{name: web, image: 'web:1'}}]}}\n"
            );
            clone.commit("replicas", &[(&format!("apps/web/{env}/config.yaml"), &deployment)]);
        }
    };
    commit(3);
    clone.push().success();
    commit(0);
    assert_eq!(
        clone.hydrate(&["diff"]).exits(1).stdout,
        "3 objects changed in 3 of 3 environments; 3 outages
  replicas: 3 → 0 in 3 objects in 3 environments
dangers
  outage environments/prod: Deployment web-prod: replicas 3 → 0: nothing runs
  outage environments/dev: Deployment web-dev: replicas 3 → 0: nothing runs
  outage environments/qa: Deployment web-qa: replicas 3 → 0: nothing runs
    keep at least one replica of what shall serve

environments/dev   1 object changed in 1 of 1 Applications
  1 outage (above)

  web-dev  web
    ~ Deployment web-dev
        spec
      -   replicas: 3
      +   replicas: 0

environments/qa    as environments/dev with qa for dev: 1 object changed in 1 of 1 Applications; 1 outage
environments/prod  as environments/dev with prod for dev: 1 object changed in 1 of 1 Applications; 1 outage
"
    );
    clone.hydrate(&["diff", "--html", "page.html"]).exits(1);
    let page = clone.file("page.html").expect("written").replace("&#x2f;", "/");
    for env in ["qa", "prod"] {
        let alike = format!(
            "<p class=\"facts\">Changes as <a href=\"#branch:environments/dev\">environments/dev</a> with {env} for dev <span \
             class=\"tag danger\">1 outage</span></p>\n<details class=\"alike\"><summary>All of its changes</summary>\n"
        );
        assert!(page.contains(&alike), "{alike}\n{page}");
    }
    clone.commit("less", &[("apps/web/prod/config.yaml", &config_map("web", "1"))]);
    let shown = clone.hydrate(&["diff"]).exits(1).stdout;
    assert!(shown.contains("environments/prod  1 object added, 1 removed in 1 of 1 Applications\n"), "{shown}");
}
