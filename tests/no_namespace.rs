//! Objects of namespaces that nothing says: Argo CD refuses the Application that has one.

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const WEB: &str = "applications/dev/web.yaml";
const REFUSED: &str = "Argo CD refuses ConfigMap web and 1 more: `metadata.namespace` is not set, and neither is \
                       `spec.destination.namespace` of the Application";

/// `web` without a namespace: two objects that need one, and others that do not.
fn without(clone: &Repo) -> String {
    let text = application("web", "dev").1.replace("    namespace: web\n", "    name: dev\n");
    let others = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n---\n\
                  apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: elsewhere, namespace: other}\n---\n\
                  apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web}\nrules: []\n---\n\
                  apiVersion: example.com/v1\nkind: Unknown\nmetadata: {name: web}\n";
    clone.commit("no namespace", &[(WEB, &text), ("apps/web/dev/others.yaml", others)]);
    text
}

#[test]
fn who_brings_objects_without_a_namespace_reads_that_argo_cd_refuses_them() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    let text = without(&clone);
    let check = clone.hydrate(&["check"]).success().stdout;
    assert!(check.contains(&format!("{WEB}:6:3: warning: {REFUSED} [refused]\n")), "{check}");
    assert!(check.contains("no errors, 1 warning"), "{check}");
    assert!(check.contains("not judged, since no schema is known: 1 object of Unknown\n"), "{check}");
    let diff = clone.hydrate(&["diff"]).stdout;
    assert!(diff.contains("Argo CD refuses it, so the sync fails: `metadata.namespace` is not set"), "{diff}");
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains(&format!("warning: {REFUSED}\n")) && heard.contains(&format!("--> {WEB}:6:3\n")), "{heard}");
    assert!(heard.contains("hint: set `namespace` there, or in each object"), "{heard}");
    // What was refused before is not refused anew, and no other Application is.
    clone.commit("another", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    assert!(!clone.push().success().remote().join("\n").contains("refuses"));
    let corrected = text.replace("    name: dev\n", "    name: dev\n    namespace: web\n");
    clone.commit("corrected", &[(WEB, &corrected)]);
    assert!(!clone.push().success().remote().join("\n").contains("refuses"));
    assert!(!clone.hydrate(&["check"]).success().stdout.contains("refuses"));
    // No manifest changes by that.
    clone.commit("away again", &[(WEB, &text)]);
    let heard = clone.push().success().remote().join("\n");
    assert!(heard.contains("environments/dev  unchanged") && heard.contains(REFUSED), "{heard}");
    clone.commit("said once", &[(WEB, &format!("{text}# edited\n"))]);
    assert!(!clone.push().success().remote().join("\n").contains("refuses"));
}

#[test]
fn a_branch_that_refuses_takes_no_objects_without_a_namespace_and_crds_say_which_kinds_need_one() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "validate", "refuse"]).success();
    server.git(&["config", "hydrate.strict", "true"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let text = application("web", "dev").1.replace("    namespace: web\n", "    name: dev\n");
    for (scope, is_refused) in [("Namespaced", true), ("Cluster", false)] {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: rooms.example.com}}\n\
             spec:\n  group: example.com\n  scope: {scope}\n  names: {{kind: Room, plural: rooms, singular: room, listKind: RoomList}}\n  \
             versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n"
        );
        let objects = "apiVersion: example.com/v1\nkind: Room\nmetadata: {name: blue}\n";
        std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).ok();
        clone.commit(
            "rooms\n\nHydrate-Allow-Removal: environments/dev",
            &[(WEB, &text), ("apps/web/dev/crd.yaml", &crd), ("apps/web/dev/room.yaml", objects)],
        );
        let answer = clone.push();
        let heard = answer.remote().join("\n");
        assert_eq!(answer.code == Some(0), !is_refused, "{scope}: {heard}");
        assert_eq!(heard.contains("Argo CD refuses Room blue"), is_refused, "{scope}: {heard}");
    }
}
