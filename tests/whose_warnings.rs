//! What a push is warned of reaches its pusher, also when the process of another push hydrates it, and no other pusher.

use crate::push::{application, config_map, healthy};
use crate::support::{Lab, Repo};
use crate::whose_reports::{BACKENDS, Held, other_dry_branch, push, server};

const SECRET: &str = "in plain text";
const FIELD: &str = "`spec.ports[0].prot` is not a field";
const UNREAD: &str = "hydrate/unread";

/// A Secret in plain text.
fn secret() -> (&'static str, String) {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: sec\nstringData:\n  a: b\n";
    ("apps/web/dev/secret.yaml", text.to_owned())
}

/// A Service that an API server refuses.
fn service() -> (&'static str, String) {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: svc\nspec:\n  ports:\n  - prot: 80\n";
    ("apps/web/dev/service.yaml", text.to_owned())
}

fn commit(clone: &Repo, (path, text): &(&str, String)) {
    clone.commit(path, &[(path, text)]);
}

/// That a pusher reads of all of `his` and of nothing of `others`.
#[track_caller]
fn reads(told: &str, his: &[&str], others: &[&str]) {
    assert!(his.iter().all(|text| told.matches(text).count() == 1), "lacks one of {his:?}, or repeats it: {told}");
    assert!(!others.iter().any(|text| told.contains(text)), "has one of {others:?}: {told}");
}

#[test]
fn a_pusher_reads_his_warnings_though_the_process_of_a_topic_push_hydrated_his_commit() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        clone.commit("both", &[(secret().0, &secret().1), (service().0, &service().1)]);
        let held = Held::begin(&clone, "main");
        assert_eq!(push(&clone, "main:refs/heads/topic"), "", "{args:?}");
        let told = held.release();
        assert!(told.contains("by another push"), "{told}");
        reads(&told, &[SECRET, FIELD], &[]);
        assert_eq!(server.file(UNREAD), None, "{args:?}");
        commit(&clone, &("apps/web/dev/more.yaml", config_map("more", "x")));
        reads(&push(&clone, "main"), &["1 object added"], &["warning", "by another push"]);
        healthy(&server);
    }
}

#[test]
fn a_push_that_is_hydrated_by_itself_leaves_no_warnings_behind() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    commit(&clone, &secret());
    reads(&push(&clone, "main"), &[SECRET], &[FIELD]);
    assert_eq!(server.file(UNREAD), None);
}

#[test]
fn two_dry_branches_at_once_read_their_own_warnings() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    let other = other_dry_branch(&server, &clone);
    commit(&clone, &secret());
    let held = Held::begin(&clone, "main");
    commit(&other, &("apps/other/lab/service.yaml", service().1));
    reads(&push(&other, "other"), &[FIELD], &[SECRET, "apps/web"]);
    reads(&held.release(), &[SECRET], &[FIELD, "apps/other"]);
}

#[test]
fn of_two_commits_in_a_row_each_pusher_reads_the_warnings_of_his() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    commit(&clone, &secret());
    let first = Held::begin(&clone, "main");
    commit(&clone, &service());
    reads(&push(&clone, "main"), &[FIELD], &[SECRET]);
    reads(&first.release(), &[SECRET], &[FIELD]);
    // What the first brought is judged as the second left it.
    let gone = [secret().0, service().0].map(|path| (path, ""));
    clone.commit("gone", &gone);
    push(&clone, "main");
    commit(&clone, &service());
    let first = Held::begin(&clone, "main");
    commit(&clone, &secret());
    reads(&push(&clone, "main"), &[SECRET], &[]);
    reads(&first.release(), &[FIELD], &[SECRET]);
    healthy(&server);
}

#[test]
fn a_pusher_reads_his_warnings_though_an_admin_caught_up_before_his_turn() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    commit(&clone, &secret());
    let held = Held::begin(&clone, "main");
    server.hydrate(&["catch-up"]).success();
    reads(&held.release(), &[SECRET], &[FIELD]);
    assert_eq!(server.file(UNREAD), None);
}

#[test]
fn who_changes_settings_reads_what_they_made_though_another_process_hydrated_by_them() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.allow("hydrate.settingsPusher");
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    let settings = server.git(&["show", "refs/hydrate/config:settings.yaml"]);
    server.hydrate(&["config", "set", "dryBranches", "main"]).success();
    let other = server.clone_to("other");
    other.git(&["switch", "-q", "--orphan", "other"]);
    let (file, text) = application("other", "lab");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    other.commit("other", &[(&file, &text), ("apps/other/lab/secret.yaml", &secret().1)]);
    assert!(push(&other, "other").contains("`other` is not a dry branch"));
    let admin = server.clone_to("admin");
    admin.git(&["fetch", "-q", "origin", "refs/hydrate/config"]);
    admin.git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
    admin.commit("another dry branch", &[("settings.yaml", &format!("{settings}\n"))]);
    let held = Held::begin(&admin, "HEAD:refs/hydrate/config");
    assert_eq!(push(&clone, "main:refs/heads/topic"), "");
    assert!(!server.git(&["show", "environments/lab:other/manifest.yaml"]).is_empty());
    reads(&held.release(), &[SECRET], &[]);
}
