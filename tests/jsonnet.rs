//! Jsonnet reads what the dry commit has, and what it writes names nothing of the server.

use crate::push::{application, dry, tip};
use crate::support::{Lab, Repo};

const BRANCH: &str = "environments/dev";

/// A file of the server that every program may read, and one that no one has.
const OF_THE_SYSTEM: &str = "/usr/bin/env";
const OF_NO_ONE: &str = "/usr/bin/no-such-program";

/// The Application `x` with these options of its directory.
fn with(options: &str) -> (String, String) {
    let (path, text) = application("x", "dev");
    (
        path,
        text.replace("path: apps/x/dev\n", &format!("path: apps/x/dev\n      directory: {{jsonnet: {{{options}}}}}\n")),
    )
}

fn object(value: &str) -> String {
    format!("{{apiVersion: 'v1', kind: 'ConfigMap', metadata: {{name: 'x'}}, data: {{value: {value}}}}}")
}

/// Pushes the files with the Application `x`, and answers what the pusher saw.
fn push(clone: &Repo, options: &str, files: &[(&str, &str)]) -> String {
    let (path, text) = with(options);
    clone.commit("feat: change", &[&[(path.as_str(), text.as_str())], files].concat());
    clone.push().success().stderr
}

fn manifest(server: &Repo) -> String {
    server.git(&["show", &format!("{BRANCH}:x/manifest.yaml")])
}

#[test]
fn code_of_a_variable_imports_nothing_of_the_server() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.push().success();
    let before = tip(&server, BRANCH);
    let (main, entry) = ("apps/x/dev/a.jsonnet", object("'' + std.extVar('v')"));
    let code = |code: &str| format!("extVars: [{{name: v, code: true, value: {code:?}}}]");
    let tla = |code: &str| format!("tlas: [{{name: v, code: true, value: {code:?}}}]");
    let taking = format!("function(v) {}", object("'' + v"));
    let ways = [
        ("importstr", "importstr '{}'"),
        ("importbin", "std.base64(importbin '{}')"),
        ("import", "import '{}'"),
        ("a text that goes up", "importstr 'apps/../../../../../../../../../../../../../..{}'"),
    ];
    for (what, way) in ways {
        for file in [OF_THE_SYSTEM, OF_NO_ONE, "/dev/fd/1", "/etc/ld.so.cache"] {
            let way = way.replace("{}", file);
            for (options, entry) in [(code(&way), &entry), (tla(&way), &taking)] {
                let answer = push(&clone, &options, &[(main, entry)]);
                assert!(answer.contains("` cannot be imported: the path "), "{what} {file}: {answer}");
                assert!(answer.contains("the code of the variable `v`: "), "{what} {file}: {answer}");
                assert!(answer.contains("applications/dev/x.yaml:"), "{what} {file}: {answer}");
                assert_eq!(tip(&server, BRANCH), before, "{what} {file}: {answer}");
            }
        }
    }
}

#[test]
fn a_file_imported_as_text_and_as_code_imports_nothing_of_the_server() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.push().success();
    let before = tip(&server, BRANCH);
    let evil = format!("importstr '{OF_THE_SYSTEM}'");
    for both in ["[importstr 'b.libsonnet', import 'b.libsonnet']", "[import 'b.libsonnet', importstr 'b.libsonnet']"] {
        let entry = object(&format!("std.join('', {both})"));
        let files = [("apps/x/dev/a.jsonnet", entry.as_str()), ("apps/x/dev/b.libsonnet", evil.as_str())];
        let answer = push(&clone, "libs: []", &files);
        assert!(answer.contains("apps/x/dev/b.libsonnet"), "{answer}");
        assert!(answer.contains(&format!("`{OF_THE_SYSTEM}` cannot be imported: the path is absolute")), "{answer}");
        assert_eq!(tip(&server, BRANCH), before);
    }
}

#[test]
fn code_of_a_variable_imports_from_the_libraries() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    let files = [
        ("apps/x/dev/a.jsonnet", object("std.extVar('v')")),
        ("apps/x/dev/here.txt", "here ".to_owned()),
        ("lib/b.libsonnet", "(importstr '../lib/c.txt') + (importstr 'c.txt')".to_owned()),
        ("lib/c.txt", "there ".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.run("rm", &["apps/x/dev/config.yaml"]).success();
    let code = "extVars: [{name: v, code: true, value: \"(importstr 'here.txt') + (import 'none/../b.libsonnet')\"}]";
    let answer = push(&clone, &format!("libs: [lib], {code}"), &files);
    assert!(manifest(&server).contains("value: 'here there there '"), "{answer}");
    // What it reads counts: a change there renders the Application again.
    clone.commit("fix: change the text", &[("lib/c.txt", "elsewhere ")]);
    clone.push().success();
    assert!(manifest(&server).contains("value: 'here elsewhere elsewhere '"), "{}", manifest(&server));
}

/// What go-jsonnet 0.22 gives, its current directory taken off: paths without `..`, and names for the code of variables.
#[test]
fn the_path_of_a_file_is_its_path_in_the_repository() {
    let files = [
        (
            "apps/x/dev/a.jsonnet",
            "function(t) {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {value: \
          std.join(' ', [std.thisFile, import 'b.libsonnet', import '../../../lib/c.libsonnet', import 'none/.././d.libsonnet', \
          import 'e.libsonnet', std.extVar('v'), t])}}",
        ),
        ("apps/x/dev/b.libsonnet", "std.thisFile"),
        ("apps/x/dev/d.libsonnet", "std.thisFile"),
        ("lib/c.libsonnet", "std.thisFile"),
        ("lib/e.libsonnet", "std.thisFile"),
    ];
    let options = "libs: [lib], extVars: [{name: v, code: true, value: std.thisFile}], \
                   tlas: [{name: t, code: true, value: std.thisFile}]";
    let tips = [0, 1].map(|_| {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["x"], &["dev"]);
        clone.run("rm", &["apps/x/dev/config.yaml"]).success();
        let answer = push(&clone, options, &files);
        let expected = "value: apps/x/dev/a.jsonnet apps/x/dev/b.libsonnet lib/c.libsonnet apps/x/dev/d.libsonnet \
                        lib/e.libsonnet <extvar:v> <top-level-arg:t>\n";
        assert!(manifest(&server).contains(expected), "{answer}{}", manifest(&server));
        server.hydrate(&["verify"]).success();
        tip(&server, BRANCH)
    });
    assert_eq!(tips[0], tips[1], "two servers write the same");
}

#[test]
fn mistakes_name_paths_in_the_repository() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.push().success();
    let rows = [
        (object("error std.thisFile"), "explicit error: apps/x/dev/a.jsonnet"),
        (object("import '../../../lib/c.libsonnet'"), "lib/c.libsonnet:1:"),
        (object("import 'none'"), "import \"none\" not found"),
        (object("importstr '.'"), "`.` cannot be imported: it is a directory"),
        ("{".to_owned(), "apps/x/dev/a.jsonnet:1:"),
    ];
    for (entry, expected) in rows {
        let files = [("apps/x/dev/a.jsonnet", entry.as_str()), ("lib/c.libsonnet", "{a: error 'no'}")];
        let answer = push(&clone, "libs: [lib]", &files);
        assert!(answer.contains(expected), "{expected}: {answer}");
        let answer: String = answer.lines().filter(|line| line.starts_with("remote: ")).collect();
        for of_the_server in ["only-", "parts/", "git-hydrate-", "/tmp/", server.path.to_str().expect("UTF-8")] {
            assert!(!answer.contains(of_the_server), "{of_the_server}: {answer}");
        }
    }
}

/// What go-jsonnet 0.22 gives: base64 of UTF-8, YAML 1.1 with merge keys, numbers with 17 digits.
#[test]
fn passwords_modes_and_numbers_are_those_of_argo_cd_in_both_profiles() {
    let entry = "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {\
          password: std.base64('Grüße'), \
          mode: std.parseYaml('mode: 0640').mode, \
          answer: std.parseYaml('y'), \
          merged: std.parseYaml('a: &x {k: v}\\nb:\\n  <<: *x').b.k, \
          ratio: '' + 0.3, \
          million: '%g' % 1e6}}";
    for profile in ["proposal", "argocd"] {
        let lab = Lab::new();
        let server = lab.server();
        server.hydrate(&["config", "set", "profile", profile]).success();
        let clone = dry(&server, &["x"], &["dev"]);
        clone.run("rm", &["apps/x/dev/config.yaml"]).success();
        let answer = push(&clone, "libs: []", &[("apps/x/dev/a.jsonnet", entry)]);
        let expected = "data:\n  answer: true\n  merged: v\n  million: \"1000000\"\n  mode: 416\n  password: R3LDvMOfZQ==\n  \
                        ratio: \"0.29999999999999999\"\n";
        assert!(manifest(&server).contains(expected), "{profile}: {answer}{}", manifest(&server));
    }
}

#[test]
fn code_of_a_variable_that_cannot_be_read_is_a_mistake_where_it_is_used() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.run("rm", &["apps/x/dev/config.yaml"]).success();
    let options = "extVars: [{name: v, code: true, value: '{a:'}]";
    let answer = push(&clone, options, &[("apps/x/dev/a.jsonnet", &object("'unused'"))]);
    assert!(manifest(&server).contains("value: unused"), "{answer}");
    let answer = push(&clone, options, &[("apps/x/dev/a.jsonnet", &object("std.extVar('v').a"))]);
    assert!(answer.contains("the code of <extvar:v> cannot be read"), "{answer}");
    assert!(answer.contains("<extvar:v>:1:"), "{answer}");
    assert!(manifest(&server).contains("value: unused"), "{answer}");
}

#[test]
fn an_object_that_contains_itself_costs_a_push_an_error_and_not_its_time() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.push().success();
    for endless in ["std.prune(o)", "std.mergePatch({}, o)"] {
        let answer = push(
            &clone,
            "libs: []",
            &[("apps/x/dev/a.jsonnet", &format!("local o = {{a: {{b: o.a}}}}; {}", object(endless)))],
        );
        assert!(answer.contains("stack overflow"), "{endless}: {answer}");
        assert!(answer.contains("--> apps/x/dev/a.jsonnet"), "{endless}: {answer}");
    }
}

#[test]
fn a_directory_on_disk_is_printed_as_an_application_would_render_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["x"], &["dev"]);
    clone.run("rm", &["apps/x/dev/config.yaml"]).success();
    let entry = "function(env) ".to_owned() + &object("env + std.extVar('v') + import 'b.libsonnet'");
    let deep = object("'deep'");
    let files =
        [("apps/x/dev/a.jsonnet", entry.as_str()), ("lib/b.libsonnet", "'3'"), ("apps/x/dev/deep/c.jsonnet", &deep)];
    let options = "libs: [lib], extVars: [{name: v, value: '2'}], tlas: [{name: env, value: '1', code: true}]";
    let answer = push(&clone, options, &files);
    assert!(manifest(&server).contains("value: \"123\""), "{answer}");
    let flags = ["--jsonnet-libs", "lib", "--jsonnet-ext-var-str", "v=2", "--jsonnet-tla-code", "env=1"];
    let printed = clone.hydrate(&[&["render", "directory", "apps/x/dev"], &flags[..]].concat()).success().stdout;
    assert_eq!(printed.trim_end(), manifest(&server).trim_end());
    let flags = [&flags[..], &["--recurse", "--exclude", "a.jsonnet"]].concat();
    let printed = clone.hydrate(&[&["render", "directory", "apps/x/dev"], &flags[..]].concat()).success().stdout;
    assert!(printed.contains("value: deep") && !printed.contains("123"), "{printed}");
    let told = clone.hydrate(&["render", "directory", "apps/x/dev"]).exits(1).stderr;
    assert!(told.contains("apps/x/dev/a.jsonnet"), "{told}");
}

/// The evaluator alone, on a disk that has more than it should.
#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn the_evaluator_reads_its_directory_only() {
    let lab = Lab::new();
    let server = lab.server();
    let here = server.clone_to("clone");
    here.commit("a file", &[("a.txt", "yes"), ("inside.jsonnet", "importstr 'a.txt'")]);
    here.run(crate::support::BINARY, &["__jsonnet", "inside.jsonnet"]).success();
    for path in [OF_THE_SYSTEM, "/etc/passwd", "/etc/ld.so.cache", "../dry.git/config"] {
        here.commit("a way out", &[("outside.jsonnet", &format!("importstr '{path}'"))]);
        let answer = here.run(crate::support::BINARY, &["__jsonnet", "outside.jsonnet"]).exits(1);
        assert!(answer.stderr.contains("Permission denied"), "{path}: {answer:?}");
    }
}
