//! Applications that come, go and move are judged beside all others, and of these only what is remembered is looked at.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::made::{Twins, URL, is_quiet, moved, set};
use super::rules::RULES;
use super::{Dry, Random, Server, rounds};

impl Dry {
    /// A directory of which two sets make Applications.
    fn serve(&mut self, name: &str, value: usize) {
        let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: '{value}'}}\n");
        self.put(&format!("svc/{name}/map.yaml"), map);
        self.put(&format!("svc/{name}/params.txt"), format!("tier: {}\n", ["eu", "us"][value % 2]));
    }

    fn joining_sets(&mut self, more: &str) {
        let git = |of: &str| format!("git: {{repoURL: {URL}, revision: HEAD, {of}}}");
        let list = "list: {elements: [{stage: one}, {stage: two}]}";
        let directories = git("directories: [{path: 'svc/*'}, {path: svc/old, exclude: true}]");
        let rows = [
            ("dirs", format!("  - {directories}\n"), "{{ .path.path }}", "{{ .path.basename }}"),
            (
                "files",
                format!("  - {}\n", git("files: [{path: 'svc/*/params.txt'}]")),
                "charts/web",
                "{{ .path.basename }}-{{ .tier }}",
            ),
            (
                "matrix",
                format!("  - matrix:\n      generators:\n      - {directories}\n      - {list}\n"),
                "charts/web",
                "{{ .path.basename }}-{{ .stage }}",
            ),
        ];
        for (name, generators, path, of) in rows {
            let text = set(
                name,
                &generators,
                [path, "{{ if hasPrefix \"p\" .path.basename }}prod{{ else }}dev{{ end }}"],
                more,
            );
            let text = text.replace("{name: '{{ .cluster }}'}", &format!("{{name: here, namespace: '{name}-{of}'}}"));
            let text = text.replace("-{{ .path.basename }}'}\n    spec", &format!("-{of}'}}\n    spec"));
            let text = text.replace(&format!("made/{name}/{{{{ .path.basename }}}}"), &format!("made/{name}/{of}"));
            self.put(&format!("sets/{name}.yaml"), text);
        }
    }

    fn start_joining(&mut self) {
        *self = Self::start();
        ["api", "mail", "pay", "web"].into_iter().for_each(|name| self.serve(name, 0));
        self.joining_sets("");
        self.parent("root", "boot/chart", "");
        self.put("boot/chart/Chart.yaml", "apiVersion: v2\nname: boot\nversion: 1.0.0\n");
        self.put("boot/chart/values.yaml", "apps: [api, mail]\nenv: dev\n");
        let template = Self::template("{{ . }}", "{{ $.Values.env }}", "chart/{{ . }}").replace("name: ", "name: c-");
        self.put("boot/chart/templates/apps.yaml", template);
        self.parent("dir", "boot/dir", "");
        self.put("boot/dir/one.yaml", Self::made("api", "prod", "dir/one").replace("name: ", "name: d-"));
        self.parent("built", "boot/built", "");
        self.put("boot/built/two.yaml", Self::made("api", "prod", "built/two").replace("name: ", "name: b-"));
        self.put("boot/built/kustomization.yaml", "resources: [two.yaml]\n");
    }

    /// One edit by which Applications come, go or move.
    fn join(&mut self, random: &mut Random) {
        let (n, value) = (12 + random.below(6), random.below(1000));
        let environment = ["dev", "prod"][value % 2];
        let name = ["api", "mail", "pay", "web", "ping", "pong"][n - 12];
        let other = ["api", "mail", "pay", "web", "ping"][value % 5];
        let options = Self::options(n, value % 3);
        let file = format!("applications/app-{n}.yaml");
        match random.below(30) {
            0..=3 => {
                self.sources(n);
                self.application(n, environment, &format!("app-{n}"), &options);
            }
            4 | 5 => drop(self.0.remove(&file)),
            6 => self.application(n, environment, &format!("moved/{n}"), &options),
            // Beside, inside, around and almost the path of another one.
            7 => self.application(n, environment, ["app-0", "app-0/in", "made", "App-1", "chart"][value % 5], &options),
            8 => {
                let text = self.0.remove(&file);
                self.0.extend(text.map(|text| (format!("renamed/{n}.yaml"), text)));
            }
            9 => drop(self.0.remove(&format!("renamed/{n}.yaml"))),
            10 | 11 => {
                let of = |n: usize| {
                    Self::made(other, environment, &format!("many/{n}")).replace("name: ", &format!("name: m{n}-"))
                };
                let texts: Vec<String> = (value % 4..4).map(of).collect();
                self.put("applications/many.yaml", texts.join("---\n"));
            }
            12 => drop(self.0.remove("applications/many.yaml")),
            13..=16 => self.serve(name, value),
            17 | 18 => self.0.retain(|path, _| !path.starts_with(&format!("svc/{name}/"))),
            19 => drop(self.0.remove(&format!("svc/{name}/params.txt"))),
            20 | 21 => self.put("boot/chart/values.yaml", format!("apps: [{name}, {other}, mail]\nenv: dev\n")),
            22 => self.put("boot/chart/values.yaml", format!("apps: [{name}]\nenv: {environment}\n")),
            23 => self.put(&format!("boot/dir/{name}.yaml"), Self::made(name, environment, &format!("dir/{name}"))),
            24 => drop(self.0.remove(&format!("boot/dir/{name}.yaml"))),
            25 => {
                let text = Self::made(name, environment, &format!("built/{name}")).replace("name: ", "name: k-");
                self.put(&format!("boot/built/{name}.yaml"), text);
                self.put("boot/built/kustomization.yaml", format!("resources: [two.yaml, {name}.yaml]\n"));
            }
            26 => self.put("boot/built/kustomization.yaml", format!("resources: [two.yaml]\nnameSuffix: -{name}\n")),
            27 => {
                self.parent("root", "boot/chart", ", helm: {parameters: [{name: some, value: thing}]}");
                let text = self.0["boot/root.yaml"].clone();
                self.put("boot/root.yaml", format!("# {value}\n{text}"));
            }
            28 => drop(self.0.remove(["boot/root.yaml", "boot/dir.yaml", "sets/files.yaml"][value % 3])),
            _ => self.joining_sets(["", "  syncPolicy: {applicationsSync: create-update}\n"][value % 2]),
        }
    }
}

/// The tables of a cache: a look at everything writes another one.
pub(super) fn tables(server: &Server) -> Vec<PathBuf> {
    let entries = fs::read_dir(server.path.join("hydrate/cache")).into_iter().flatten().flatten();
    let mut tables: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    tables.retain(|path| path.to_string_lossy().contains("table-"));
    tables.sort();
    tables
}

const JOINING: &str = "madeApplications: true\nrepoURL: https://git.example.com/dry.git\n";

/// Random edits of Applications in files, of sets and of parents, often such as must not be, pushed as `written`; how often
/// Applications moved a branch without a look at everything.
fn joining(seed: u64, rounds: usize, settings: &str, written: fn(&Dry) -> BTreeMap<String, String>) -> usize {
    let mut twins = Twins::new();
    twins.settings(settings, 1_700_000_000);
    let mut random = Random(seed);
    let mut dry = Dry::default();
    dry.start_joining();
    let (mut seconds, mut tip, mut quick) = (1_700_000_000, None, 0);
    for round in 0..rounds {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            let good = dry.clone();
            match random.below(10) {
                _ if round == 0 => {}
                0 => dry.edit(&mut random),
                1 => dry.start_joining(),
                2 | 3 => (0..3).for_each(|_| dry.join(&mut random)),
                _ => dry.join(&mut random),
            }
            seconds += 60;
            tip = twins.push(tip, &written(&dry), seconds);
            if twins.failed > 0 && random.below(3) == 0 {
                dry = good;
            }
        }
        let before = tables(&twins.warm);
        let report = twins.hydrate(round, &mut random);
        quick += usize::from(moved(&report) > 0 && !before.is_empty() && before == tables(&twins.warm));
        if round == 0 {
            assert!(moved(&report) == 2 && report.problems.is_empty() && is_quiet(&report), "{report:?}");
        }
    }
    twins.rendered();
    quick
}

/// Applications in files, those that sets make and those that others render come, go and move at random.
#[test]
fn applications_that_come_go_and_move_are_the_same_with_what_is_remembered_and_from_scratch() {
    let seed = std::env::var("JOINING").ok().and_then(|seed| seed.parse().ok()).unwrap_or(27);
    let quick = joining(seed, rounds(70), JOINING, |dry| dry.0.clone());
    assert!(quick > rounds(10), "{quick} pushes were planned by what changed");
}

/// Plain Applications, which a rule hydrates, come, go and move at random.
#[test]
fn ruled_applications_that_come_go_and_move_are_the_same_with_what_is_remembered_and_from_scratch() {
    let rules = format!("{JOINING}rules:\n  {}", RULES[0]);
    let quick = joining(28, rounds(50), &rules, Dry::ruled);
    assert!(quick > rounds(5), "{quick} pushes were planned by what changed");
}

/// What a new, a moved or a removed Application costs does not depend on how many others there are: a table of everything is
/// written only by a look at everything.
#[test]
fn one_application_more_or_less_is_planned_by_what_changed() {
    type Edit = fn(&mut Dry);
    let rows: &[(&str, Edit)] = &[
        ("a file", |dry| dry.application(20, "dev", "app-20", "")),
        ("a source of it", |dry| dry.sources(20)),
        ("another path", |dry| dry.application(20, "dev", "more/20", "")),
        ("another branch", |dry| dry.application(20, "prod", "app-20", "")),
        ("no file", |dry| drop(dry.0.remove("applications/app-20.yaml"))),
        ("a directory of a set", |dry| dry.serve("new", 0)),
        ("a file of one", |dry| dry.put("svc/new/params.txt", "tier: us\n")),
        ("a file beside them", |dry| dry.put("svc/README.md", "services")),
        ("none", |dry| dry.0.retain(|path, _| !path.starts_with("svc/new/"))),
        ("a value of a chart", |dry| dry.put("boot/chart/values.yaml", "apps: [api, web, mail]\nenv: dev\n")),
        ("another value", |dry| dry.put("boot/chart/values.yaml", "apps: [api, mail]\nenv: dev\n")),
        ("a file of a parent", |dry| dry.put("boot/dir/new.yaml", Dry::made("web", "prod", "dir/new"))),
        ("no such file", |dry| drop(dry.0.remove("boot/dir/new.yaml"))),
        ("a resource", |dry| {
            dry.put("boot/built/kustomization.yaml", "resources: [two.yaml, new.yaml]\n");
            dry.put("boot/built/new.yaml", Dry::made("web", "prod", "built/new"));
        }),
        ("a comment in a parent", |dry| {
            let text = format!("# first\n{}", dry.0["boot/root.yaml"]);
            dry.put("boot/root.yaml", text);
        }),
    ];
    let mut twins = Twins::new();
    twins.settings(JOINING, 1_700_000_000);
    let mut dry = Dry::default();
    dry.start_joining();
    dry.sources(20);
    let (mut seconds, mut tip, mut before) = (1_700_000_000, None, Vec::new());
    for (name, edit) in [&("all", (|_| {}) as Edit)].into_iter().chain(rows) {
        edit(&mut dry);
        seconds += 60;
        tip = twins.push(tip, &dry.0, seconds);
        let report = twins.compare(name);
        assert!(report.is_success(), "{name}: {report:?}");
        let now = tables(&twins.warm);
        assert!(before.is_empty() || before == now, "{name}: everything was looked at");
        before = now;
    }
}

/// What comes must fit beside what is there, also where only what changed is looked at.
#[test]
fn what_comes_is_judged_beside_what_is_there() {
    type Edit = fn(&mut Dry);
    let rows: &[(&str, Edit, &str)] = &[
        ("a path that is taken", |dry| dry.application(20, "dev", "app-0", ""), "is already written by `app-0`"),
        (
            "one inside another",
            |dry| dry.application(20, "dev", "app-0/in", ""),
            "is inside `app-0`, which `app-0` writes",
        ),
        ("one around others", |dry| dry.application(20, "dev", "made", ""), "is inside `made`, which `app-20` writes"),
        (
            "another case",
            |dry| dry.application(20, "dev", "App-0", ""),
            "differs from the `app-0` of `app-0` only in case",
        ),
        (
            "two at one path",
            |dry| {
                dry.application(20, "dev", "new", "");
                dry.application(23, "dev", "new", "");
            },
            "is already written by `app-20`",
        ),
        ("a name that is taken by what is made", |dry| dry.serve("0", 0), "is made by ApplicationSet `dirs`"),
        (
            "a name of another branch, for another cluster",
            |dry| {
                dry.application(20, "prod", "app-20", "");
                let text = dry.0["applications/app-20.yaml"].replace("name: app-20", "name: app-0");
                let text = text.replace("    namespace: ns-20\n", "    namespace: ns-20\n    name: remote\n");
                dry.put("applications/app-20.yaml", text);
            },
            "more than one Application has the name `app-0`",
        ),
        (
            "another repository",
            |dry| {
                dry.application(20, "dev", "app-20", "");
                dry.0.values_mut().for_each(|text| {
                    if text.contains("app-20") {
                        *text = text.replace("dry.git", "other.git");
                    }
                });
            },
            "`drySource.repoURL` names another repository",
        ),
        (
            "a branch that is a directory of another",
            |dry| dry.application(20, "dev/inner", "app-20", ""),
            "cannot both be branches",
        ),
        (
            "a source that is not there",
            |dry| {
                dry.application(20, "dev", "app-20", "");
                dry.0.retain(|path, _| !path.starts_with("plain/20/"));
            },
            "`plain/20` does not exist",
        ),
        (
            "objects of another",
            |dry| {
                dry.application(20, "dev", "app-20", "");
                let text = dry.0["applications/app-20.yaml"].replace("plain/20", "plain/2").replace("ns-20", "ns-2");
                let other = dry.0["applications/app-2.yaml"].clone();
                dry.put(
                    "applications/app-20.yaml",
                    text.replace("    namespace:", "    server: https://one\n    namespace:"),
                );
                dry.put(
                    "applications/app-2.yaml",
                    other.replace("    namespace:", "    server: https://one\n    namespace:"),
                );
            },
            "both render ConfigMap",
        ),
        (
            "too many that go",
            |dry| {
                for n in [3, 4, 5, 9, 10, 11] {
                    dry.0.remove(&format!("applications/app-{n}.yaml"));
                }
                dry.0.retain(|path, _| !path.starts_with("svc/p"));
            },
            "this commit would remove",
        ),
    ];
    let mut wrong = Vec::new();
    for (name, edit, expected) in rows {
        let mut twins = Twins::new();
        twins.settings(JOINING, 1_700_000_000);
        let mut dry = Dry::default();
        dry.start_joining();
        dry.sources(20);
        dry.sources(23);
        // One that the set `dirs` makes of `svc/0` would have this name.
        let text = dry.0["applications/app-0.yaml"].replace("name: app-0\n", "name: dirs-0\n  namespace: argocd\n");
        dry.put("applications/zero.yaml", text.replace("path: app-0", "path: zero").replace("ns-0", "ns-zero"));
        let first = twins.push(None, &dry.0, 1_700_000_060);
        let report = twins.compare(name);
        assert!(report.is_success(), "{name}: {report:?}");
        edit(&mut dry);
        twins.push(first, &dry.0, 1_700_000_120);
        let told = format!("{:?}", twins.compare(name));
        if !told.contains(expected) {
            wrong.push(format!("{name}: {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
