//! Two dry commits of which one does not hydrate everything: what is not known is neither new nor gone.

use serde_json::Value;

use super::dangers::CLAIM;
use super::{SLIP, json};
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

/// A clone of `web` and `api` whose Applications fail each by itself, or a branch as a whole.
fn clone(on_failure: &str) -> Repo {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "onFailure", on_failure]).success();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.commit("claim", &[("apps/web/dev/claim.yaml", CLAIM)]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone
}

fn broken(clone: &Repo) -> String {
    let files = [("apps/web/dev/config.yaml", SLIP), ("apps/api/dev/config.yaml", &config_map("api", "two"))];
    clone.commit("slip", &files)
}

fn first(shown: &Value) -> &Value {
    &shown["environments"][0]
}

#[test]
fn an_application_that_does_not_render_is_not_removed() {
    let clone = clone("application");
    let before = clone.git(&["rev-parse", "HEAD"]);
    broken(&clone);
    let text = clone.hydrate(&["diff", "--against", &before]).exits(1).stdout;
    assert!(
        text.starts_with("environments/dev  1 object changed in 1 of 2 Applications, 1 Application fails\n"),
        "{text}"
    );
    assert!(text.contains("\n  web-dev cannot be compared: it does not render here: "), "{text}");
    for word in ["removed", "data loss", "is behind"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let shown = json(&clone, &["--against", &before], 1);
    let not_compared = &first(&shown)["notCompared"][0];
    assert_eq!((&not_compared["path"], &not_compared["before"]), (&"web".into(), &false.into()), "{shown:#}");
    assert_eq!(not_compared["drySha"], clone.git(&["rev-parse", "HEAD"]).as_str(), "{shown:#}");
    assert_eq!(first(&shown)["behind"][0]["drySha"], before.as_str(), "{shown:#}");
    assert_eq!(first(&shown)["summary"]["dangers"], 0, "{shown:#}");
}

#[test]
fn an_application_that_did_not_render_before_is_not_new() {
    let clone = clone("application");
    let parent = broken(&clone);
    clone.commit("corrected", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
    let id = &parent[..7];
    let expected = format!(
        "environments/dev  no change, 1 Application cannot be compared
  web-dev cannot be compared: {id} does not render it: "
    );
    assert!(text.starts_with(&expected), "{text}");
    let earlier = &clone.git(&["rev-parse", &format!("{parent}~1")])[..7];
    assert!(text.contains(&format!("; name the last one that did: `--against {earlier}`\n")), "{text}");
    let markdown = clone.hydrate(&["diff", "--against", &parent, "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("**Not compared**"), "{markdown}");
    // What the line says to do.
    let text = clone.hydrate(&["diff", "--against", earlier]).exits(1).stdout;
    assert!(text.starts_with("environments/dev  2 objects changed in 2 of 2 Applications\n"), "{text}");
}

#[test]
fn a_branch_that_did_not_hydrate_before_is_not_new() {
    let clone = clone("branch");
    let parent = broken(&clone);
    clone.commit("corrected", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
    let expected = format!("environments/dev  cannot be compared: {} does not hydrate it: ", &parent[..7]);
    let earlier = clone.git(&["rev-parse", &format!("{parent}~1")]);
    let advice = format!("; name the last one that did: `--against {}`\n", &earlier[..7]);
    assert!(text.starts_with(&expected) && text.ends_with(&advice) && text.lines().count() == 1, "{text}");
    let shown = json(&clone, &["--against", &parent], 1);
    let not_compared = &first(&shown)["notCompared"][0];
    assert_eq!(not_compared["drySha"], parent.as_str(), "{shown:#}");
    assert_eq!(not_compared["earlierDrySha"], earlier.as_str(), "{shown:#}");
    assert_eq!((&first(&shown)["summary"]["added"], &first(&shown)["summary"]["dangers"]), (&0.into(), &0.into()));
    let text = clone.hydrate(&["diff", "--against", &format!("{parent}~1")]).exits(1).stdout;
    assert!(text.starts_with("environments/dev  2 objects changed in 2 of 2 Applications\n"), "{text}");
}

/// What the dry commit before has no Application of is new, whatever becomes of those that it has.
#[test]
fn an_application_that_the_commit_before_lacks_is_new() {
    let balancer = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {type: LoadBalancer, selector: {a: b}, ports: [{port: 80}]}\n";
    for on_failure in ["branch", "application"] {
        let clone = clone(on_failure);
        // What cannot be read at either commit is nothing that it came from.
        let broken = ("applications/test/broken.yaml", "kind: Application\nspec:\n\t- sourceHydrator\n");
        let slip = [("apps/web/dev/config.yaml", SLIP), ("apps/api/dev/config.yaml", SLIP), broken];
        let parent = clone.commit("slip", &slip);
        let (file, text) = application("new", "dev");
        let corrected = config_map("web", "two");
        let files = [
            (&*file, &*text),
            ("apps/new/dev/service.yaml", balancer),
            ("apps/web/dev/config.yaml", &corrected),
            ("apps/api/dev/config.yaml", &corrected.replace("web", "api")),
        ];
        clone.commit("corrected, and a new one", &files);
        let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
        let head = "environments/dev  1 object added in 1 of 3 Applications, 2 Applications cannot be compared\n";
        assert!(text.starts_with(head), "{on_failure}: {text}");
        let id = &parent[..7];
        for name in ["api-dev", "web-dev"] {
            assert!(text.contains(&format!("\n  {name} cannot be compared: {id} does not render it: ")), "{text}");
        }
        assert!(text.contains("\n  security Service s: can be reached by everybody"), "{on_failure}: {text}");
        assert!(text.contains("\n  new-dev  new  new\n"), "{on_failure}: {text}");
        let shown = json(&clone, &["--against", &parent], 1);
        assert_eq!(first(&shown)["notCompared"].as_array().map(Vec::len), Some(2), "{shown:#}");
        assert_eq!(first(&shown)["summary"]["dangers"], 1, "{shown:#}");
    }
}

/// No earlier commit helps where an input was never there.
#[test]
fn an_input_that_is_not_there_is_brought_before_anything_is_compared() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: a, version: 1.0.0, repository: 'https://charts.example.com'}]\n";
    let parent = clone.commit("a chart", &[("apps/web/dev/config.yaml", ""), ("apps/web/dev/Chart.yaml", chart)]);
    clone.commit(
        "without it",
        &[("apps/web/dev/Chart.yaml", ""), ("apps/web/dev/config.yaml", &config_map("web", "two"))],
    );
    let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
    let advice = "; it can be compared with a commit of what `git hydrate vendor` brings, and with those after it\n";
    assert!(text.contains(" cannot be compared: ") && text.ends_with(advice), "{text}");
    assert!(!text.contains("--against"), "{text}");
}

/// What is wrong with two Applications beside one another is the cause of each.
#[test]
fn a_copy_with_the_same_path_is_named() {
    let clone = clone("application");
    let (file, text) = application("web", "dev");
    let first = clone.git(&["rev-parse", "HEAD"]);
    let parent = clone.commit("a copy", &[("applications/dev/copy.yaml", &text)]);
    let shown = clone.hydrate(&["diff", "--against", &first]).exits(1).stdout;
    let cause = "it does not render here: `web` on `environments/dev` is already written by `web-dev` (also set at applications/dev/";
    assert!(shown.contains(cause), "{shown}");
    clone.commit("without it", &[("applications/dev/copy.yaml", ""), (&file, &text)]);
    let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
    let cause = "does not render it: `web` on `environments/dev` is already written by `web-dev` (also set at applications/dev/";
    assert!(text.contains(cause), "{text}");
}
