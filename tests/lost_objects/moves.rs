//! Objects of files that move, or whose Application does, in the commit that has the slip.

use super::{ALLOWED, CHART, DEV, deployment, pushed};
use crate::push::{healthy, note, note_of, tip, verified};
use crate::support::{Lab, Repo};

const ONE: &str = "apps/web/dev/one.yaml";

/// The whole of `one` in any file of any environment branch.
fn is_deployed(server: &Repo, name: &str) -> bool {
    let branches = server.git(&["for-each-ref", "--format=%(refname)", "refs/heads/environments"]);
    branches.lines().any(|branch| {
        let files = server.git(&["ls-tree", "-r", "--name-only", branch]);
        let mut manifests = files.lines().filter(|file| file.ends_with("manifest.yaml"));
        manifests.any(|file| {
            let text = server.git(&["show", &format!("{branch}:{file}")]);
            text.lines().any(|line| line == format!("  name: {name}"))
        })
    })
}

/// Pushes files, then what a script makes of them: with mistakes of these words the object stays, and leaves with a word; with
/// `Ok(true)` it stays without a mistake, with `Ok(false)` it leaves so.
#[track_caller]
fn check(name: &str, files: &[(&str, &str)], script: &str, expected: Result<bool, &[&str]>) {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab, files);
    assert!(is_deployed(&server, "one"), "{name}");
    let before = tip(&server, DEV);
    clone.run("sh", &["-ec", script]).success();
    clone.commit("edit", &[]);
    let previewed = clone.hydrate(&["diff"]);
    let previewed = [previewed.stdout, previewed.stderr].concat();
    let told = clone.push().success().remote().join("\n");
    match expected {
        Err(words) => {
            for said in [&told, &previewed] {
                assert!(words.iter().all(|words| said.contains(words)), "{name}: {said}");
            }
            assert!(is_deployed(&server, "one") && tip(&server, DEV) == before, "{name}: it left\n{told}");
            clone.commit("unrelated", &[("NOTES", "x")]);
            let told = clone.push().success().remote().join("\n");
            assert!(words.iter().all(|words| told.contains(words)) && tip(&server, DEV) == before, "{name}: {told}");
            clone.commit(ALLOWED, &[]);
            let told = clone.push().success().remote().join("\n");
            assert!(!is_deployed(&server, "one"), "{name}: the trailer is not heard\n{told}");
        }
        Ok(stays) => {
            assert!(!told.contains("error: "), "{name}: {told}");
            assert_eq!(is_deployed(&server, "one"), stays, "{name}: {told}");
        }
    }
    assert_eq!(note(&server, DEV), note_of(&tip(&server, "main")), "{name}");
    healthy(&server);
    verified(&server);
}

const APPLICATION: &str = "applications/dev/web.yaml";
const MOVE: &str =
    "git mv apps/web/dev apps/web/next; sed -i 's#path: apps/web/dev#path: apps/web/next#' applications/dev/web.yaml";
const RENAME: &str = "sed -i 's/name: web-dev/name: shop-dev/; s/path: web$/path: shop/' applications/dev/web.yaml";
const TO_PROD: &str =
    "sed -i 's#targetBranch: environments/dev#targetBranch: environments/prod#' applications/dev/web.yaml";

#[test]
fn an_object_does_not_leave_by_a_slip_in_a_commit_that_moves_something_too() {
    let typo = "git mv apps/web/dev/one.yaml apps/web/dev/one.yam";
    let typo_there = "git mv apps/web/next/one.yaml apps/web/next/one.yam";
    let there = ["gave Deployment", "`apps/web/dev/one.yaml`", "is `apps/web/next/one.yam` now, which is not read"];
    let here = ["gave Deployment", "is `apps/web/dev/one.yam` now, which is not read"];
    let rows: &[(&str, String, &[&str])] = &[
        ("the directory, and the name of a file", format!("{MOVE}; {typo_there}"), &there),
        (
            "the directory, and the text",
            format!("{MOVE}; echo 'foo: bar' > apps/web/next/one.yaml"),
            &[
                "`apps/web/next/one.yaml`, which was `apps/web/dev/one.yaml`, gave Deployment",
                "gives no object now",
                "--> apps/web/next/one.yaml:1",
            ],
        ),
        (
            "to another branch",
            format!("{typo}; {TO_PROD}"),
            &[
                "is `apps/web/dev/one.yam` now",
                "moves from `environments/dev` to `environments/prod`, where it fails to render",
            ],
        ),
        ("another name and path on the branch", format!("{typo}; {RENAME}"), &here),
        ("all of them", format!("{MOVE}; {typo_there}; {RENAME}; {TO_PROD}"), &[]),
        ("the directory, the name and the path", format!("{MOVE}; {typo_there}; {RENAME}"), &there),
    ];
    for (name, script, words) in rows {
        // An Application that has another name on another branch is another one: its leaving is reported.
        match words.is_empty() {
            true => check(name, &[(ONE, &deployment("one"))], script, Ok(false)),
            false => check(name, &[(ONE, &deployment("one"))], script, Err(words)),
        }
    }
}

#[test]
fn a_file_that_goes_where_it_is_not_read_or_gives_nothing_takes_no_object_away() {
    let chart = "apps/web/dev/Chart.yaml";
    let template = "apps/web/dev/templates/one.yaml";
    let always = deployment("web");
    let one = deployment("one");
    let plain = [(ONE, one.as_str())];
    let charted = [
        (chart, CHART),
        (template, &one),
        ("apps/web/dev/templates/web.yaml", &always),
        ("apps/web/dev/config.yaml", ""),
    ];
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);
    let rows: &[Row<'_>] = &[
        (
            "into a subdirectory",
            &plain,
            "cd apps/web/dev; mkdir sub; git mv one.yaml sub/one.yaml",
            "is `apps/web/dev/sub/one.yaml` now, which is not read",
        ),
        (
            "into a subdirectory, and edited",
            &plain,
            "cd apps/web/dev; mkdir sub; git mv one.yaml sub/one.yaml; sed -i 's/: 1/: 2/' sub/one.yaml",
            "is `apps/web/dev/sub/one.yaml` now, which is not read",
        ),
        (
            "a directory of its name",
            &plain,
            "cd apps/web/dev; git mv one.yaml x; mkdir one.yaml; git mv x one.yaml/one.yaml",
            "and is a directory now",
        ),
        (
            "Jsonnet that gives nothing",
            &plain,
            "cd apps/web/dev; git rm -q one.yaml; echo '[]' > one.jsonnet",
            "is `apps/web/dev/one.jsonnet` now, which gives no object",
        ),
        (
            "another extension and text",
            &plain,
            "cd apps/web/dev; git mv one.yaml one.yml; echo 'foo: bar' > one.yml",
            "is `apps/web/dev/one.yml` now, which gives no object",
        ),
        (
            "a template beside the templates",
            &charted,
            "cd apps/web/dev; mkdir tmpl; git mv templates/one.yaml tmpl/one.yaml",
            "is `apps/web/dev/tmpl/one.yaml` now, which",
        ),
        (
            "a template that is notes",
            &charted,
            "cd apps/web/dev; git mv templates/one.yaml templates/NOTES.txt",
            "is `apps/web/dev/templates/NOTES.txt` now, which gives no object",
        ),
    ];
    for (name, files, script, words) in rows {
        check(name, files, script, Err(&[words, "gave Deployment"]));
    }
}

#[test]
fn what_moves_on_purpose_is_not_held() {
    let one = deployment("one");
    let plain = [(ONE, one.as_str())];
    let v2 = [(ONE, one.as_str()), ("apps/web/v2/other.yaml", &deployment("other"))];
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], String, bool);
    let rows: &[Row<'_>] = &[
        ("the directory with all its files", &plain, MOVE.to_owned(), true),
        ("the directory, and a file is removed", &plain, format!("{MOVE}; git rm -qf apps/web/next/one.yaml"), false),
        ("the directory, and a file is edited", &plain, format!("{MOVE}; sed -i 's/: 1/: 2/' apps/web/next/one.yaml"), true),
        ("the directory, and another name for a file", &plain, format!("{MOVE}; git mv apps/web/next/one.yaml apps/web/next/two.yml"), true),
        ("the directory, and an object gets another name", &plain, format!("{MOVE}; sed -i 's/: one/: three/' apps/web/next/one.yaml"), false),
        ("another name and path", &plain, RENAME.to_owned(), true),
        ("another name and path, and a file is removed", &plain, format!("{RENAME}; git rm -qf {ONE}"), false),
        ("to another branch", &plain, TO_PROD.to_owned(), true),
        ("to another branch, and a file is removed", &plain, format!("{TO_PROD}; git rm -qf {ONE}"), false),
        ("everything", &plain, format!("{MOVE}; {RENAME}; {TO_PROD}"), true),
        ("to a directory that was there", &v2, format!("sed -i 's#path: apps/web/dev#path: apps/web/v2#' {APPLICATION}"), false),
        ("to a directory that was there, and the former one is removed", &v2, format!("git rm -qr apps/web/dev; sed -i 's#path: apps/web/dev#path: apps/web/v2#' {APPLICATION}"), false),
        ("a file to where no Application looks", &plain, format!("mkdir old; git mv {ONE} old/one.yaml"), false),
        ("a file to a directory that says it", &plain, "cd apps/web/dev; mkdir archive; git mv one.yaml archive/one.yaml".to_owned(), false),
        ("a file to another Application of the branch", &plain, format!("git mv {ONE} apps/api/dev/one.yaml"), true),
        ("its contents are Jsonnet now", &plain, "cd apps/web/dev; git rm -q one.yaml; echo \"{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'one'}}\" > one.jsonnet".to_owned(), true),
    ];
    for (name, files, script, stays) in rows {
        check(name, files, script, Ok(*stays));
    }
}

#[test]
fn another_version_of_a_chart_of_the_repository_itself_excuses_no_slip() {
    let in_dir = |name: &str| format!("apps/web/dev/{name}");
    let [chart, values, one, web, helpers, config] =
        ["Chart.yaml", "values.yaml", "templates/one.yaml", "templates/web.yaml", "templates/_h.tpl", "config.yaml"]
            .map(in_dir);
    let helped = format!("{{{{- if include \"on\" . }}}}\n{}{{{{- end }}}}\n", deployment("one"));
    let plain = format!("{{{{- if .Values.enabled }}}}\n{}{{{{- end }}}}\n", deployment("one"));
    let define = "{{ define \"on\" }}{{ if .Values.enabled }}y{{ end }}{{ end }}\n";
    let (always, text) = (deployment("web"), "enabled: true\nlist: [1]\n");
    let common = [(chart.as_str(), CHART), (&values, text), (&web, &always), (&config, "")];
    let helped: Vec<_> = common.into_iter().chain([(one.as_str(), helped.as_str()), (&helpers, define)]).collect();
    let plain: Vec<_> = common.into_iter().chain([(one.as_str(), plain.as_str())]).collect();
    let unconditional = deployment("one");
    let unconditional: Vec<_> = common.into_iter().chain([(one.as_str(), unconditional.as_str())]).collect();
    let library =
        format!("{CHART}dependencies:\n- name: db\n  version: 1.x.x\n  repository: https://charts.example.com\n");
    let [db, db_one] = ["charts/db/Chart.yaml", "charts/db/templates/one.yaml"].map(in_dir);
    let db_chart = CHART.replace("name: web", "name: db");
    let own = CHART.to_owned();
    let within = |owner: &str| -> Vec<(String, String)> {
        let files = [
            (&chart, owner),
            (&web, &always),
            (&config, ""),
            (&db, &db_chart),
            (&db_one, plain.last().expect("one").1),
        ];
        let values = ("apps/web/dev/values.yaml", "db: {enabled: true}\n");
        files
            .into_iter()
            .map(|(file, text)| (file.clone(), text.to_owned()))
            .chain([(values.0.to_owned(), values.1.to_owned())])
            .collect()
    };
    let bump = "sed -i 's/version: 1.0.0/version: 1.0.1/' Chart.yaml";
    let slip = "sed -i 's/enabled/enabld/' templates/one.yaml";
    let helper_slip = "sed -i 's/enabled/enabld/' templates/_h.tpl";
    let in_define =
        "(echo '{{ define \"q\" }}'; cat templates/one.yaml; echo '{{ end }}') > x; mv x templates/one.yaml";
    let gated =
        "(echo '{{ if .Values.extra.active }}'; cat templates/one.yaml; echo '{{ end }}') > x; mv x templates/one.yaml";
    let vendored = "cd charts/db; sed -i 's/version: 1.0.0/version: 1.0.1/' Chart.yaml; sed -i 's/enabled/newly/' templates/one.yaml";
    type Row<'a> = (&'a str, Vec<(String, String)>, String, Result<bool, &'a str>);
    let owned = |files: &[(&str, &str)]| {
        files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect::<Vec<_>>()
    };
    let rows: Vec<Row<'_>> = vec![
        (
            "a slip in a template",
            owned(&plain),
            format!("{slip}; {bump}"),
            Err("`apps/web/dev/templates/one.yaml` gave Deployment"),
        ),
        (
            "a slip in a helper",
            owned(&helped),
            format!("{helper_slip}; {bump}"),
            Err("is not rendered since `apps/web/dev/templates/_h.tpl` changed"),
        ),
        (
            "a template inside of a define",
            owned(&unconditional),
            format!("{in_define}; {bump}"),
            Err("gives no object now"),
        ),
        ("a chart of its own within", within(&own), vendored.to_owned(), Err("gives no object now")),
        ("a chart from elsewhere within", within(&library), vendored.to_owned(), Ok(false)),
        (
            "a condition on a value that is nowhere",
            owned(&unconditional),
            format!("{gated}; {bump}; echo 'extra: {{actve: false}}' >> values.yaml"),
            Err("gives no object now"),
        ),
        (
            "a condition and its value",
            owned(&unconditional),
            format!("{gated}; echo 'extra: {{active: false}}' >> values.yaml"),
            Ok(false),
        ),
        (
            "a value that says no",
            owned(&plain),
            format!("sed -i 's/enabled: true/enabled: false/' values.yaml; {bump}"),
            Ok(false),
        ),
        ("a value that is gone", owned(&plain), "sed -i '/enabled/d' values.yaml".to_owned(), Ok(false)),
        ("a template is deleted", owned(&plain), format!("git rm -q templates/one.yaml; {bump}"), Ok(false)),
        (
            "a key with nearly the name",
            owned(&plain),
            "sed -i 's/enabled/enabledd/' values.yaml".to_owned(),
            Err("has `enabledd` in place of `enabled`"),
        ),
        (
            "a key at another place",
            owned(&helped),
            "printf 'list:\\n- 1\\n- enabled: true\\n' > values.yaml".to_owned(),
            Err("has `enabled` at another place"),
        ),
    ];
    for (name, files, script, expected) in rows {
        let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
        let words = expected.err().unwrap_or_default();
        let words = [words];
        check(name, &files, &format!("cd apps/web/dev; {script}"), expected.map_err(|_| &words[..]));
    }
}
