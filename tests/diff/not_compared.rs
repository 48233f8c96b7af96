//! Two dry commits of which one does not hydrate everything: what is not known is neither new nor gone.

use serde_json::Value;

use super::dangers::CLAIM;
use super::{SLIP, json};
use crate::push::{config_map, dry};
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
    assert!(text.contains("; name an earlier commit that does: `--against COMMIT`\n"), "{text}");
    let markdown = clone.hydrate(&["diff", "--against", &parent, "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("**Not compared**"), "{markdown}");
    // What the line says to do.
    let text = clone.hydrate(&["diff", "--against", &format!("{parent}~1")]).exits(1).stdout;
    assert!(text.starts_with("environments/dev  2 objects changed in 2 of 2 Applications\n"), "{text}");
}

#[test]
fn a_branch_that_did_not_hydrate_before_is_not_new() {
    let clone = clone("branch");
    let parent = broken(&clone);
    clone.commit("corrected", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let text = clone.hydrate(&["diff", "--against", &parent]).exits(1).stdout;
    let expected = format!("environments/dev  cannot be compared: {} does not hydrate it: ", &parent[..7]);
    assert!(text.starts_with(&expected) && text.lines().count() == 1, "{text}");
    let shown = json(&clone, &["--against", &parent], 1);
    assert_eq!(first(&shown)["notCompared"][0]["drySha"], parent.as_str(), "{shown:#}");
    assert_eq!((&first(&shown)["summary"]["added"], &first(&shown)["summary"]["dangers"]), (&0.into(), &0.into()));
    let text = clone.hydrate(&["diff", "--against", &format!("{parent}~1")]).exits(1).stdout;
    assert!(text.starts_with("environments/dev  2 objects changed in 2 of 2 Applications\n"), "{text}");
}
