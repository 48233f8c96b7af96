//! What a slip of the pen in a file makes of its objects: they stay on the branch until somebody says that they are to go.

mod applications;
mod charts;
mod moves;

use crate::push::{application, both, config_map, dry, healthy, note, note_of, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/web.yaml";
const ALLOWED: &str = "yes\n\nHydrate-Allow-Removal: environments/dev";

/// `Deployment web`
fn deployment(name: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: 1\n")
}

fn manifest(server: &Repo) -> String {
    server.git(&["show", &format!("{DEV}:web/manifest.yaml")])
}

fn has(server: &Repo, name: &str) -> bool {
    manifest(server).lines().any(|line| line == format!("  name: {name}"))
}

/// A server to which an Application with these files beside a ConfigMap was pushed, and the clone.
fn pushed(lab: &Lab, files: &[(&str, &str)]) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.commit("more", files);
    clone.push().success();
    (server, clone)
}

#[test]
fn a_document_that_is_nearly_an_object_is_refused_everywhere() {
    let rows = [
        ("kind: D", "knd: D", "apps/web/dev/web.yaml:2:1", "did you mean `kind`?"),
        ("kind: D", "Kind: D", "apps/web/dev/web.yaml:2:1", "did you mean `kind`?"),
        ("kind: Deployment\n", "", "apps/web/dev/web.yaml:1:1", "every object has `apiVersion`, `kind` and `metadata`"),
        ("apiVersion", "apiVersoin", "apps/web/dev/web.yaml:1:1", "did you mean `apiVersion`?"),
        ("metadata", "metdata", "apps/web/dev/web.yaml:3:1", "did you mean `metadata`?"),
        ("metadata:\n", "metadata:\n  namespce: web\n", "apps/web/dev/web.yaml:4:3", "did you mean `namespace`?"),
    ];
    let lab = Lab::new();
    let text = deployment("one");
    let (server, clone) = pushed(&lab, &[(WEB, &text)]);
    let before = tip(&server, DEV);
    for (from, to, place, hint) in rows {
        clone.commit("a slip", &[(WEB, &text.replacen(from, to, 1))]);
        for command in [&["check"] as &[&str], &["diff"]] {
            let told = clone.hydrate(command);
            let said = [told.stdout.as_str(), &told.stderr].concat();
            assert!(told.code != Some(0) && said.contains(place) && said.contains(hint), "{command:?} {to:?} {said}");
        }
        server.git(&["config", "hydrate.strict", "touched"]);
        let refused = clone.push().exits(1).remote().join("\n");
        assert!(refused.contains(place), "{refused}");
        server.git(&["config", "hydrate.strict", "off"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(place) && told.contains(hint), "{told}");
        assert_eq!(tip(&server, DEV), before, "{to:?}");
    }
    clone.commit("mend", &[(WEB, &text.replace("1\n", "2\n"))]);
    clone.push().success();
    assert!(has(&server, "one") && note(&server, DEV) == note_of(&tip(&server, "main")));
    healthy(&server);
}

/// What becomes of the objects of a file: a mistake with these words at this place, or nothing.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], Result<(), (&'a str, &'a str)>);

#[track_caller]
fn check(rows: &[Row<'_>]) {
    for (name, before, after, expected) in rows {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab, before);
        assert!(has(&server, "one"), "{name}: {}", manifest(&server));
        let old = tip(&server, DEV);
        clone.commit("edit", after);
        let previewed = clone.hydrate(&["diff"]);
        let told = clone.push().success().remote().join("\n");
        match expected {
            Ok(()) => {
                assert!(!has(&server, "one") && tip(&server, DEV) != old, "{name}: it stays\n{told}");
            }
            Err((place, words)) => {
                for said in [&told, &[previewed.stdout.as_str(), &previewed.stderr].concat()] {
                    assert!(said.contains(&format!("--> {place}")) && said.contains(words), "{name}: {said}");
                }
                assert!(has(&server, "one") && tip(&server, DEV) == old, "{name}: it left\n{told}");
                assert!(told.contains("Hydrate-Allow-Removal: environments/dev"), "{name}: {told}");
                assert!(clone.hydrate(&["check"]).code == Some(1), "{name}: `check` says nothing");
                clone.commit(ALLOWED, &[]);
                let told = clone.push().success().remote().join("\n");
                assert!(!has(&server, "one"), "{name}: the trailer is not heard\n{told}");
            }
        }
        assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{name}");
        healthy(&server);
        verified(&server);
    }
}

#[test]
fn an_object_of_a_plain_file_leaves_with_its_file_or_its_text_alone() {
    let (one, two) = (deployment("one"), deployment("two"));
    let both = format!("{one}---\n{two}");
    let merged = both.replace("---\n", " ---\n").replace("spec:\n  replicas: 1\n ---", "spec: x\n ---");
    let scalar = both.replacen("spec:\n  replicas: 1\n", "spec: x\n", 1);
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}", one.trim_end().replace('\n', "\n  "));
    let json = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}"#;
    let other = config_map("other", "x");
    let nothing = "gives no object now";
    let rows: &[Row<'_>] = &[
        ("foo: bar", &[(WEB, &one)], &[(WEB, "foo: bar\n")], Err(("apps/web/dev/web.yaml:1:1", nothing))),
        ("a list", &[(WEB, &one)], &[(WEB, "- a\n")], Err(("apps/web/dev/web.yaml:1:1", nothing))),
        ("a text", &[(WEB, &one)], &[(WEB, "text\n")], Err(("apps/web/dev/web.yaml:1:1", nothing))),
        ("no YAML", &[(WEB, &one)], &[(WEB, "a: [\n")], Err(("apps/web/dev/web.yaml:1", nothing))),
        (
            "an empty list",
            &[(WEB, &list)],
            &[(WEB, "apiVersion: v1\nkind: List\nitems: []\n")],
            Err(("apps/web/dev/web.yaml:3", nothing)),
        ),
        (
            "two documents that are one",
            &[(WEB, &scalar)],
            &[(WEB, &merged)],
            Err(("apps/web/dev/web.yaml:6:1", "although its text is still there")),
        ),
        (
            "no name",
            &[(WEB, &one)],
            &[(WEB, &one.replace("  name: one", "  labels: {}"))],
            Err(("apps/web/dev/web.yaml:4", "has no `apiVersion`, `kind` or name any more")),
        ),
        (
            "another extension",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web.yam", &one)],
            Err(("apps/web/dev/web.yam", "is not read")),
        ),
        (
            "a swapped extension",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web.ymal", &one.replace(": 1", ": 2"))],
            Err(("apps/web/dev/web.ymal", "is not read")),
        ),
        (
            "a copy",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web.yaml.bak", &one)],
            Err(("apps/web/dev/web.yaml.bak", "is not read")),
        ),
        (
            "JSON with another extension",
            &[("apps/web/dev/a.json", json)],
            &[("apps/web/dev/a.json", ""), ("apps/web/dev/a.jsn", json)],
            Err(("apps/web/dev/a.jsn", "is not read")),
        ),
        (
            "a text file",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web.yaml.txt", &one)],
            Err(("apps/web/dev/web.yaml.txt", "is not read")),
        ),
        (
            "no extension",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web", &one)],
            Err(("apps/web/dev/web", "is not read")),
        ),
        (
            "a version of RCS",
            &[(WEB, &one)],
            &[(WEB, ""), ("apps/web/dev/web.yaml,v", &one)],
            Err(("apps/web/dev/web.yaml,v", "is not read")),
        ),
        ("switched off in another way", &[(WEB, &one)], &[(WEB, ""), ("apps/web/dev/web.yaml-off", &one)], Ok(())),
        ("the file is gone", &[(WEB, &one)], &[(WEB, "")], Ok(())),
        ("the file is empty", &[(WEB, &one)], &[(WEB, "# none\n---\n\n")], Ok(())),
        ("a marker", &[(WEB, &one)], &[(WEB, &format!("# +argocd:skip-file-rendering\n{one}"))], Ok(())),
        ("switched off by its name", &[(WEB, &one)], &[(WEB, ""), ("apps/web/dev/web.yaml.disabled", &one)], Ok(())),
        ("the document is gone", &[(WEB, &both)], &[(WEB, &two)], Ok(())),
        (
            "the document is a comment",
            &[(WEB, &both)],
            &[(WEB, &format!("{}---\n{two}", one.replace('\n', "\n# ").replacen("api", "# api", 1)))],
            Ok(()),
        ),
        ("another name", &[(WEB, &one)], &[(WEB, &one.replace("one", "three"))], Ok(())),
        (
            "an item of a list is gone",
            &[(WEB, &format!("{list}\n- {}", two.trim_end().replace('\n', "\n  ")))],
            &[(WEB, &list.replace("one", "two"))],
            Ok(()),
        ),
        ("another file in its place", &[(WEB, &one)], &[(WEB, ""), ("apps/web/dev/other.yaml", &other)], Ok(())),
    ];
    check(rows);
}

#[test]
fn files_that_never_gave_an_object_stay_what_they_are() {
    let lab = Lab::new();
    let values = "apps/web/dev/values.yaml";
    let (server, clone) = pushed(&lab, &[(values, "replicas: 1\n"), ("apps/web/dev/list.yaml", "- a\n")]);
    for text in ["foo: bar\n", "a: [\n", "metadata: {labels: {a: b}}\n", "apiVersion: v2\nname: web\nversion: 1.0.0\n"]
    {
        let id = clone.commit("edit", &[(values, text)]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&id), "{text}");
    }
}

/// A text as Windows tools save it.
fn utf_16(text: &str) -> Vec<u8> {
    [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_manifest_that_is_saved_as_utf_16_is_judged_as_its_text_is() {
    let one = deployment("one");
    let slip = one.replace("apiVersion", "apVersion").replace("kind", "knd").replace("metadata", "mtadata");
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &[(WEB, &one)]);
    std::fs::write(clone.path.join(WEB), utf_16(&one)).expect("written");
    clone.commit("saved by another editor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(has(&server, "one") && !told.contains("error"), "{told}");
    let before = tip(&server, DEV);
    for bytes in [slip.clone().into_bytes(), utf_16(&slip)] {
        std::fs::write(clone.path.join(WEB), bytes).expect("written");
        clone.commit("slip", &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("gave Deployment") && told.contains("gives no object now"), "{told}");
        assert_eq!(tip(&server, DEV), before, "{told}");
    }
}

#[test]
fn a_resource_of_a_kustomization_that_is_saved_as_utf_16_loses_no_object() {
    let both = format!("{}---\n{}", deployment("two"), deployment("one"));
    let files = [(WEB, both.as_str()), ("apps/web/dev/kustomization.yaml", "resources: [web.yaml, config.yaml]\n")];
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &files);
    assert!(has(&server, "one"));
    std::fs::write(clone.path.join(WEB), utf_16(&both)).expect("written");
    clone.commit("saved by another editor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(has(&server, "one") && has(&server, "two"), "{told}");
}

#[test]
fn a_manifest_that_becomes_a_dangling_link_or_a_submodule_keeps_its_objects() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &[(WEB, &deployment("one"))]);
    let before = tip(&server, DEV);
    let link = format!("rm {WEB} && ln -s ../gone/web.yaml {WEB} && git add -A");
    let submodule = format!(
        "rm {WEB} && git rm -q --cached {WEB} && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),{WEB}"
    );
    for (script, what) in [(link, "a symbolic link that leads to no file"), (submodule, "a submodule")] {
        clone.run("sh", &["-ec", &script]).success();
        clone.git(&["commit", "-qm", "slip"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(&format!("and is {what} now, which gives no object")), "{told}");
        assert_eq!(tip(&server, DEV), before, "{told}");
    }
    // What is deleted is gone.
    clone.git(&["rm", "-q", "--cached", WEB]);
    clone.git(&["commit", "-qm", "remove"]);
    clone.push().success();
    assert!(!has(&server, "one"));
}

#[test]
fn a_null_in_a_list_is_a_mistake() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &[]);
    let before = tip(&server, DEV);
    clone.commit("a null", &[(WEB, "apiVersion: v1\nkind: List\nitems:\n- null\n")]);
    let told = clone.push().success().remote().join("\n");
    assert!(
        told.contains("an item of a list is `null`, which is not an object") && told.contains("web.yaml:4:3"),
        "{told}"
    );
    assert_eq!(tip(&server, DEV), before);
}

#[test]
fn what_moves_within_a_branch_is_not_lost() {
    let lab = Lab::new();
    let one = deployment("one");
    let (server, clone) = pushed(&lab, &[(WEB, &one)]);
    for (from, to) in [(WEB, "apps/web/dev/renamed.yml"), ("apps/web/dev/renamed.yml", "apps/api/dev/one.yaml")] {
        let id = clone.commit("move", &[(from, ""), (to, &one)]);
        clone.push().success();
        assert_eq!(note(&server, DEV), note_of(&id));
    }
    let all = server.git(&["show", &format!("{DEV}:api/manifest.yaml")]);
    assert!(all.contains("name: one") && !has(&server, "one"), "{all}");
}

#[test]
fn what_is_held_is_mended_by_whoever_mends_it_and_by_nothing_else() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.commit("more", &[(WEB, &deployment("one"))]);
        clone.push().success();
        let before = tip(server, DEV);
        clone.commit("slip", &[(WEB, "foo: bar\n")]);
        clone.push().success();
        // The branch still shows the commit before the slip.
        for n in 0..2 {
            clone.commit("unrelated", &[("NOTES", &n.to_string())]);
            let told = clone.push().success().remote().join("\n");
            assert!(told.contains("gives no object now"), "{told}");
            clone.commit("another Application", &[("apps/api/dev/config.yaml", &config_map("api", &n.to_string()))]);
            clone.commit("the same one", &[("apps/web/dev/config.yaml", &config_map("web", &n.to_string()))]);
            let told = clone.push().success().remote().join("\n");
            assert!(told.contains("gives no object now"), "{told}");
            assert_eq!(tip(server, DEV), before);
        }
        let id = clone.commit("mend", &[(WEB, &deployment("one"))]);
        clone.push().success();
        assert_eq!((note(server, DEV), has(server, "one")), (note_of(&id), true));
        // Several commits at once, of which one is wrong, and the next one mends it.
        clone.commit("slip", &[(WEB, "foo: bar\n")]);
        let id = clone.commit("mend", &[(WEB, &deployment("one").replace(": 1", ": 2"))]);
        clone.push().success();
        assert_eq!((note(server, DEV), has(server, "one")), (note_of(&id), true));
        // One is wrong and allowed, and what comes after it is hydrated.
        clone.commit("slip", &[(WEB, "foo: bar\n")]);
        clone.commit(ALLOWED, &[]);
        let id = clone.commit("after", &[("NOTES", "after")]);
        clone.push().success();
        assert_eq!((note(server, DEV), has(server, "one")), (note_of(&id), false));
        verified(server);
    });
}

#[test]
fn an_application_that_loses_an_object_stays_behind_alone_where_the_setting_says_so() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.commit("more", &[(WEB, &deployment("one"))]);
    clone.push().success();
    clone.commit("slip", &[(WEB, "foo: bar\n"), ("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("web-dev is behind") && told.contains("gives no object now"), "{told}");
    let api = || server.git(&["show", &format!("{DEV}:api/manifest.yaml")]);
    assert!(has(&server, "one") && api().contains("value: two"), "{told}");
    clone.commit("the other one", &[("apps/api/dev/config.yaml", &config_map("api", "three"))]);
    clone.push().success();
    assert!(has(&server, "one") && api().contains("value: three"));
    clone.commit("mend", &[(WEB, &deployment("one").replace(": 1", ": 2"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(has(&server, "one") && manifest(&server).contains("replicas: 2") && !told.contains("behind"), "{told}");
    verified(&server);
    // What the trailer allows happens with its commit, although that commit changes no file.
    clone.commit("slip", &[(WEB, "foo: bar\n")]);
    assert!(clone.push().success().remote().join("\n").contains("web-dev is behind") && has(&server, "one"));
    clone.commit(ALLOWED, &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!has(&server, "one") && told.contains("1 object removed") && !told.contains("behind"), "{told}");
    verified(&server);
}

#[test]
fn an_application_stays_whose_file_gets_a_name_that_is_not_read() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let before = tip(server, DEV);
        let files = ["web", "api"].map(|name| application(name, "dev").0);
        let renamed = files.clone().map(|file| file.replace(".yaml", ".yam"));
        // One of them, then all, which would empty the branch.
        for (file, renamed) in files.iter().zip(&renamed) {
            clone.git(&["mv", file, renamed]);
            clone.commit("slip", &[]);
            let said = clone.push().success().remote().join("\n");
            let expected = format!("is `{renamed}` now, where Applications are not looked for");
            assert!(said.contains(&expected) && said.contains("name it `"), "{said}");
            assert_eq!(tip(server, DEV), before);
        }
        clone.git(&["mv", &renamed[0], &files[0]]);
        clone.git(&["rm", "-q", &renamed[1]]);
        clone.commit("right again, but for one", &[]);
        let said = clone.push().success().remote().join("\n");
        assert!(said.contains("removed api"), "{said}");
        verified(server);
    });
}

#[test]
fn what_settings_or_an_unreadable_file_take_away_is_judged_as_before() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &[(WEB, &deployment("one"))]);
    clone.commit("broken", &[(WEB, BROKEN)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("not valid YAML") && has(&server, "one"), "{told}");
    // The Application itself leaves a file out.
    let (file, text) = application("web", "dev");
    let excluding =
        text.replace("      path: apps/web/dev\n", "      path: apps/web/dev\n      directory: {exclude: web.yaml}\n");
    clone.commit("exclude", &[(WEB, "foo: bar\n"), (&file, &excluding)]);
    clone.push().success();
    assert!(!has(&server, "one"));
}

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

#[test]
fn an_object_does_not_lose_its_type_by_a_slip_wherever_it_is_written() {
    let in_dir = |name: &str| format!("apps/web/dev/{name}");
    let config = in_dir("config.yaml");
    let [chart, template] = ["Chart.yaml", "templates/one.yaml"].map(in_dir);
    let [kustomization, resource, jsonnet] = ["kustomization.yaml", "one.yaml", "one.jsonnet"].map(in_dir);
    let one = config_map("one", "x");
    let snippet = "{\n  apiVersion: 'v1',\n  kind: 'ConfigMap',\n  metadata: { name: 'one' },\n}\n";
    let rows: &[(&[(&str, &str)], &str)] = &[
        (&[(&config, ""), (&chart, CHART), (&template, &one)], &template),
        (&[(&kustomization, "resources: [config.yaml, one.yaml]\n"), (&resource, &one)], &resource),
        (&[(&jsonnet, snippet)], &jsonnet),
    ];
    for (files, file) in rows {
        let lab = Lab::new();
        let (server, clone) = pushed(&lab, files);
        let before = tip(&server, DEV);
        let text = files.iter().find(|(name, _)| name == file).expect("it is there").1;
        clone.commit("slip", &[(file, &text.replace("apiVersion", "apiVersoin"))]);
        let told = clone.push().success().remote().join("\n");
        let said = format!("`{file}` gave ConfigMap one and has no `apiVersion`, `kind` or name any more");
        assert!(told.contains(&said) && told.contains(&format!("--> {file}:")), "{told}");
        assert_eq!(tip(&server, DEV), before);
        clone.commit(ALLOWED, &[]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("`apiVersion` must be set") && !told.contains(".Capabilities"), "{told}");
        assert!(manifest(&server).contains("apiVersoin"));
        verified(&server);
    }
}

#[test]
fn a_generated_name_with_another_hash_costs_and_says_nothing() {
    let lab = Lab::new();
    let kustomization = "apps/web/dev/kustomization.yaml";
    let text = |value: &str| format!("configMapGenerator:\n- name: made\n  literals: [a={value}]\n");
    let (server, clone) = pushed(&lab, &[(kustomization, &text("1"))]);
    let id = clone.commit("another value", &[(kustomization, &text("2"))]);
    clone.push().success();
    assert_eq!(note(&server, DEV), note_of(&id));
}

#[test]
fn the_hooks_of_a_clone_say_the_same() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, &[(WEB, &deployment("one"))]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q", "origin"]);
    clone.commit("slip", &[(WEB, "foo: bar\n")]);
    let told = clone.push();
    assert!(told.code != Some(0) && told.stderr.contains("gives no object now"), "{told:?}");
    server.git(&["config", "hydrate.strict", "all"]);
    let refused = clone.run("git", &["push", "--no-verify", "origin", "HEAD"]).exits(1).remote().join("\n");
    assert!(refused.contains("gives no object now") && refused.contains("web.yaml:1:1"), "{refused}");
}
