//! Unknown fields of Applications: who mistypes one hears of it wherever the Application is looked at.

use serde_json::Value;

use crate::push::{application, config_map, dry, healthy, tip};
use crate::support::{Answer, Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "applications/dev/web.yaml";

/// The Application `web` with more lines in its drySource.
fn with(options: &str) -> String {
    application("web", "dev").1.replace("    syncSource:", &format!("{options}    syncSource:"))
}

fn misspelt(name: &str) -> String {
    application(name, "dev").1.replace("sourceHydrator", "sourceHydrater")
}

/// A server that hydrates Applications of these names into one environment.
fn team(lab: &Lab, names: &[&str]) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, names, &["dev"]);
    clone.push().success();
    (server, clone)
}

/// The lines from the first warning or error on.
fn warned(lines: &[&str]) -> Vec<String> {
    let lines = lines.iter().skip_while(|line| !line.starts_with("warning:") && !line.starts_with("error:"));
    lines.take_while(|line| !line.starts_with("To ")).map(|line| (*line).to_owned()).collect()
}

fn stderr(answer: &Answer) -> Vec<&str> {
    answer.stderr.lines().map(str::trim).collect()
}

const TOLD: [&str; 5] = [
    "error: unknown field `valuesFiles` in `spec.sourceHydrator.drySource.helm`",
    "--> applications/dev/web.yaml:14:9",
    "|",
    "14 |         valuesFiles: [prod.yaml]",
    "|         ^^^^^^^^^^^",
];

#[test]
fn a_mistyped_field_is_told_at_push_pre_push_diff_and_check() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &["web", "api"]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit(
        "production values",
        &[
            (WEB, &with("      helm:\n        valuesFiles: [prod.yaml]\n")),
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/templates/a.yaml", &config_map("web", "x")),
            ("apps/web/dev/config.yaml", ""),
        ],
    );
    let check = clone.hydrate(&["check"]).exits(1).stdout;
    let line = "applications/dev/web.yaml:14:9: error: unknown field `valuesFiles` in \
                `spec.sourceHydrator.drySource.helm` [application]";
    assert!(check.contains(line) && check.contains("did you mean `valueFiles`?"), "{check}");
    let found: Value = serde_json::from_str(&clone.hydrate(&["check", "--json"]).exits(1).stdout).expect("JSON");
    let field = serde_json::json!({"name": "valuesFiles", "near": "valueFiles"});
    assert_eq!(found["findings"][0]["unknownField"], field, "{found}");
    let diff = clone.hydrate(&["diff"]);
    let all = format!("{}{}", diff.stdout, diff.stderr);
    assert!(TOLD.iter().all(|line| all.contains(line)), "{all}");
    let hint = "= hint: did you mean `valueFiles`?";
    let blocked = clone.push().exits(1);
    assert_eq!(warned(&stderr(&blocked))[..6], [&TOLD[..], &[hint]].concat());
    clone.git(&["config", "hydrate.prePush", "warn"]);
    let before = tip(&server, DEV);
    let pushed = clone.push().success();
    assert_eq!(warned(&pushed.remote())[..6], [&TOLD[..], &[hint]].concat());
    // As long as it is there, each push tells, and nothing else is deployed in its place.
    for round in ["one", "two"] {
        clone.commit(round, &[("apps/api/dev/config.yaml", &config_map("api", round))]);
        let told = clone.push().success();
        assert_eq!(warned(&told.remote())[..6], [&TOLD[..], &[hint]].concat());
    }
    assert_eq!(tip(&server, DEV), before);
    let corrected = with("      helm:\n        valueFiles: [values.yaml]\n");
    clone.commit("corrected", &[(WEB, &corrected), ("apps/web/dev/values.yaml", "a: b\n")]);
    let told = clone.push().success();
    assert_eq!(warned(&told.remote()), Vec::<String>::new(), "{told:?}");
    healthy(&server);
}

#[test]
fn fields_of_other_programs_are_told_until_they_are_known() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &["web", "api"]);
    clone.commit("a price", &[(WEB, &with("      costCenter: shop\n"))]);
    let told = clone.push().success();
    let remote = warned(&told.remote());
    assert_eq!(remote[0], "warning: unknown field `costCenter` in `spec.sourceHydrator.drySource`");
    let command = remote[5].split_once("reads it: ").expect("a command").1;
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..2], ["git", "hydrate"]);
    server.hydrate(&words[2..]).success();
    clone.commit("next", &[("apps/api/dev/config.yaml", &config_map("api", "next"))]);
    let told = clone.push().success();
    assert!(!told.stderr.contains("costCenter"), "{told:?}");
    // A file with such a field goes the short way as any other.
    clone.commit("a name", &[(WEB, &with("      costCenter: shop2\n      directory: {recurse: true}\n"))]);
    let told = clone.push().success();
    assert!(!told.stderr.contains("warning:") && told.stderr.contains(DEV), "{told:?}");
}

#[test]
fn a_misspelt_source_hydrator_is_told_and_removes_nothing() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &["web", "api", "shop"]);
    let before = tip(&server, DEV);
    clone.commit("slip", &[(WEB, &misspelt("web")), ("apps/api/dev/config.yaml", &config_map("api", "new"))]);
    let told = clone.push().success();
    let remote = told.remote();
    let expected = [
        "error: unknown field `sourceHydrater` in `spec`, so `web-dev` is not hydrated",
        "--> applications/dev/web.yaml:8:3",
        "|",
        "8 |   sourceHydrater:",
        "|   ^^^^^^^^^^^^^^",
        "= hint: did you mean `sourceHydrator`?",
    ];
    assert!(remote[0].starts_with(&format!("{DEV}  stays at {}", &before[..7])), "{told:?}");
    assert_eq!(remote[1..7], expected, "{told:?}");
    assert!(!told.stderr.contains("warning:"), "the same is told once: {told:?}");
    assert_eq!(tip(&server, DEV), before);
    // In another file it is the same Application.
    clone.commit("move it", &[(WEB, ""), ("applications/web.yaml", &misspelt("web"))]);
    clone.push().success();
    assert_eq!(tip(&server, DEV), before);
    // Without the slip, and without the field, it is a removal as any other.
    clone.commit(
        "take it away",
        &[("applications/web.yaml", misspelt("web").split_once("  sourceH").expect("there").0)],
    );
    let told = clone.push().success();
    assert!(told.stderr.contains("1 removed") && warned(&told.remote()).is_empty(), "{told:?}");
    assert_ne!(tip(&server, DEV), before);
}

#[test]
fn a_new_application_with_a_misspelt_source_hydrator_is_told() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &["web", "api"]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    let before = tip(&server, DEV);
    let file = "applications/dev/shop.yaml";
    clone.commit("one more", &[(file, &misspelt("shop")), ("apps/shop/dev/a.yaml", &config_map("shop", "x"))]);
    let told = clone.push().success();
    let line = "warning: unknown field `sourceHydrater` in `spec`, so `shop-dev` is not hydrated";
    assert_eq!((warned(&stderr(&told))[0].as_str(), warned(&told.remote())[0].as_str()), (line, line), "{told:?}");
    assert!(clone.hydrate(&["check"]).success().stdout.contains("unknown field `sourceHydrater`"));
    clone.commit("another", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    let told = clone.push().success();
    assert_eq!(warned(&told.remote())[0], line, "{told:?}");
    assert_ne!(tip(&server, DEV), before);
    server.hydrate(&["config", "add", "knownFields", "sourceHydrater"]).success();
    clone.commit("and another", &[("apps/web/dev/config.yaml", &config_map("web", "newer"))]);
    let told = clone.push().success();
    assert!(warned(&told.remote()).is_empty(), "{told:?}");
    clone.commit("none hydrated", &[(file, "")]);
    clone.push().success();
    healthy(&server);
}

#[test]
fn a_first_push_of_nothing_but_misspelt_applications_is_not_silent() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.commit("all", &[(WEB, &misspelt("web")), ("apps/web/dev/a.yaml", &config_map("web", "x"))]);
    let told = clone.push().success();
    assert!(told.remote()[0].starts_with("warning: unknown field `sourceHydrater`"), "{told:?}");
}
