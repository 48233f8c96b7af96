//! The setting `hold`: a branch, or single Applications of it, that go back to an earlier commit and stay there.

use std::fs;

use crate::push::{both, config_map, dry, healthy, note, note_of, tip, verified};
use crate::support::{Answer, Lab, Repo};

mod beside;
mod paths;

const PROD: &str = "environments/prod";

/// `web` and `db` on dev and prod, hydrated.
fn hydrated(server: &Repo) -> Repo {
    let clone = dry(server, &["web", "db"], &["dev", "prod"]);
    clone.push().success();
    clone
}

/// Sets what `hold.yaml` says, beside the settings that there are.
fn hold(server: &Repo, text: &str) -> Answer {
    let directory = server.path.join("settings");
    let name = directory.display().to_string();
    server.hydrate(&["config", "export", &name]).success();
    fs::write(directory.join("hold.yaml"), text).expect("written");
    let told = server.hydrate(&["config", "import", &name]);
    fs::remove_dir_all(&directory).expect("removed");
    told
}

fn at(branch: &str, commit: &str, more: &str) -> String {
    format!("{branch}: {{at: {commit}, reason: outage{more}}}")
}

/// A commit that gives `name` another value on dev and prod, pushed.
pub(crate) fn change(clone: &Repo, name: &str, value: &str) -> (String, String) {
    let files = ["dev", "prod"].map(|env| (format!("apps/{name}/{env}/config.yaml"), config_map(name, value)));
    let files = files.each_ref().map(|(path, text)| (path.as_str(), text.as_str()));
    let dry = clone.commit(&format!("{name}: {value}"), &files);
    (dry, clone.push().success().remote().join("\n"))
}

pub(crate) fn value(server: &Repo, what: &str) -> String {
    let manifest = server.git(&["show", &format!("{what}/manifest.yaml")]);
    manifest.lines().find_map(|line| line.strip_prefix("  value: ")).expect("a value").to_owned()
}

fn count(server: &Repo) -> usize {
    server.git(&["rev-list", "--count", PROD]).parse().expect("a number")
}

#[test]
fn a_branch_goes_back_by_one_commit_on_top_and_stays_there() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        let first_dry = clone.git(&["rev-parse", "HEAD"]);
        let (second_dry, _) = change(&clone, "web", "two");
        let before = tip(server, PROD);
        let told = hold(server, &at(PROD, &first, "")).success().stdout;
        assert!(told.contains("held at") && told.contains(": outage"), "{told}");
        let held = tip(server, PROD);
        assert_eq!(server.git(&["rev-parse", &format!("{held}^")]), before);
        // The date that metadata says never goes back on a branch.
        assert_eq!(server.git(&["diff", "--name-only", &first, &held]), "hydrator.metadata");
        assert_eq!(note(server, PROD), note_of(&first_dry));
        let message = server.git(&["log", "-1", "--format=%B", &held]);
        for line in [
            format!("Roll back to {}", &first[..7]),
            "outage".to_owned(),
            format!("Hydrate-Dry: {first_dry}"),
            format!("Hydrate-Rollback-To: {first}"),
            format!("Hydrate-Held-By: {second_dry}"),
        ] {
            assert!(message.lines().any(|own| own == line), "{line}: {message}");
        }
        verified(server);
        // Later pushes leave it alone, and say so.
        let (_, told) = change(&clone, "web", "three");
        let expected = format!("{PROD}  stays at {}, held at {}: outage", &held[..7], &first[..7]);
        assert!(told.contains(&expected) && !told.contains("error"), "{told}");
        assert_eq!(tip(server, PROD), held);
        assert_eq!(value(server, "environments/dev:web"), "three");
        clone.commit("notes", &[("NOTES", "x")]);
        clone.push().success();
        server.hydrate(&["catch-up"]).success();
        assert_eq!((tip(server, PROD), note(server, PROD)), (held.clone(), note_of(&first_dry)));
        verified(server);
        // Nothing is held any more: one commit brings what came since.
        hold(server, "").success();
        assert_eq!(value(server, "environments/prod:web"), "three");
        assert_eq!(server.git(&["rev-parse", &format!("{PROD}^")]), held);
        verified(server);
        // From here on each dry commit has its own.
        let commits = count(server);
        for value in ["four", "five"] {
            let file = ("apps/web/prod/config.yaml", config_map("web", value));
            clone.commit(value, &[(file.0, &file.1)]);
        }
        clone.push().success();
        assert_eq!(count(server), commits + 2);
        verified(server);
    });
}

/// What a hold is set for must not be in any other commit: their ids are those that there would be without it.
#[test]
fn no_commit_of_another_branch_differs_by_a_hold() {
    let ids = [true, false].map(|holds| {
        let lab = Lab::new();
        let server = lab.server();
        let clone = hydrated(&server);
        let first = tip(&server, PROD);
        change(&clone, "web", "two");
        if holds {
            hold(&server, &at(PROD, &first, "")).success();
        }
        change(&clone, "web", "three");
        if holds {
            hold(&server, "").success();
        }
        change(&clone, "web", "four");
        verified(&server);
        healthy(&server);
        let tree = server.git(&["rev-parse", "environments/prod:web"]);
        (tip(&server, "environments/dev"), tree)
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn single_applications_go_back_and_the_others_go_on() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        let first_dry = clone.git(&["rev-parse", "HEAD"]);
        change(&clone, "web", "two");
        change(&clone, "db", "two");
        hold(server, &at(PROD, &first, ", applications: [web-prod]")).success();
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "two".into())
        );
        let listed = format!("\"behind\": [\n    {{\n      \"path\": \"web\",\n      \"drySha\": \"{first_dry}\"");
        let metadata = |what: &str| server.git(&["show", &format!("{what}:hydrator.metadata")]);
        assert!(metadata(PROD).contains(&listed), "{}", metadata(PROD));
        verified(server);
        change(&clone, "web", "three");
        let (_, told) = change(&clone, "db", "three");
        assert!(told.contains("environments/prod") && told.contains("web-prod is"), "{told}");
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "three".into())
        );
        assert!(metadata(PROD).contains(&listed), "{}", metadata(PROD));
        verified(server);
        clone.commit("db: four", &[("apps/db/prod/config.yaml", &config_map("db", "four"))]);
        let planned = clone.hydrate(&["plan"]).success().stdout;
        assert!(planned.contains("stays as it is: web-prod (held: outage)\n"), "{planned}");
        let planned = clone.hydrate(&["plan", "--json"]).success().stdout;
        assert!(planned.contains("\"held\": \"outage\""), "{planned}");
        let listed = clone.hydrate(&["apps"]).success().stdout;
        assert!(listed.contains(&format!("    not hydrated: held at {}: outage\n", &first[..7])), "{listed}");
        assert!(
            listed.contains("3 of 4 Applications hydrate from main, if they render: git hydrate check\n"),
            "{listed}"
        );
        hold(server, "").success();
        assert_eq!(value(server, "environments/prod:web"), "three");
        assert!(!metadata(PROD).contains("behind"));
        verified(server);
    });
}

#[test]
fn what_comes_when_a_hold_ends_is_judged_as_a_push_is() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    server.allow("hydrate.settingsPusher");
    server.hydrate(&["hold", "prod", "--reason", "a fair", "--yes"]).success();
    let service = |port: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec:\n  ports:\n    - {{port: 80, {port}: 80}}\n"
        )
    };
    let file = "apps/web/prod/service.yaml";
    clone.commit("a slip", &[(file, &service("prot"))]);
    clone.push().success();
    // No push is refused for it any more.
    server.hydrate(&["config", "set", "validate", "{environments/prod: refuse}"]).success();
    server.git(&["config", "hydrate.strict", "touched"]);
    let before = tip(&server, PROD);
    let refused = "error: Kubernetes 1.37 refuses Service web: `spec.ports[0].prot` is not a field";
    for words in [&["resume", "prod", "--yes"] as &[&str], &["resume", "prod", "--dry-run"]] {
        let answer = server.hydrate(words).exits(1);
        assert!(answer.stderr.contains(refused), "{answer:?}");
    }
    // From a clone the server judges it.
    clone.git(&["fetch", "-q"]);
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let answer = clone.hydrate(&["resume", "prod", "--yes"]).exits(2);
    assert!(answer.stderr.contains(refused), "{answer:?}");
    assert_eq!(tip(&server, PROD), before);
    assert!(server.hydrate(&["status"]).stdout.contains("a fair"));
    clone.commit("right", &[(file, &service("targetPort"))]);
    clone.push().success();
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("targetPort: 80"));
}
