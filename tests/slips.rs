//! No single-character edit of a deployed file makes an object leave without an error, or another object in its place.
//!
//! `SLIPS="SEED EDITS"` tries other trees and more edits; the default is a short run. Edits of what decides over other files
//! (values, kustomizations) may take objects away: the report names those.

use std::collections::{BTreeMap, BTreeSet};

use git_hydrate::testing::application::{self, Application, BranchName, Profile};
use git_hydrate::testing::hydrate::lost_objects::{Comparison, Side, missing_in};
use git_hydrate::testing::manifest;
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::render::{Context, Failure, Renderers};
use git_hydrate::testing::settings::RendererName;
use git_hydrate::testing::view::MemoryFiles;

use crate::crashes::Random;
use crate::incremental::machine;
use crate::push::{application as application_of, config_map, dry, tip};
use crate::support::Lab;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const BRANCH: &str = "environments/dev";

/// What is inserted, and put in the place of others.
const CHARACTERS: &[char] = &[
    'x', 'K', '1', ' ', '\n', '#', '-', ':', '"', '\'', '{', '}', '[', ']', '|', '>', '&', '*', '!', '%', '\t', '.',
    ',', '~',
];

type Tree = BTreeMap<String, String>;

fn seed_and_count(default: u64) -> (u64, u64) {
    let text = std::env::var("SLIPS").unwrap_or_default();
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    (numbers.next().unwrap_or(1), numbers.next().unwrap_or(default))
}

fn application(path: &str) -> Application {
    let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\nspec:\n  destination: {namespace: web}\n  \
                sourceHydrator:\n    drySource:\n      repoURL: https://git.example.com/dry.git\n      targetRevision: main\n      \
                path: PATH\n    syncSource: {targetBranch: environments/dev, path: web}\n";
    let text = text.replace("PATH", path);
    let file = application::read(&RepoPath::new("applications.yaml").expect("plain"), text.as_bytes());
    file.applications().next().cloned().expect("one")
}

fn one_of<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[usize::try_from(random.below(all.len() as u64)).expect("small")]
}

/// An object, in block style or in flow style, whose fields come in some order.
fn object(random: &mut Random, name: &str) -> String {
    let (version, kind) = [("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("v1", "Service"), ("batch/v1", "Job")]
        [usize::try_from(random.below(4)).expect("small")];
    let body = one_of(
        random,
        &["note: x\n", "data:\n  a: |\n    one\n    two\n", "spec:\n  replicas: 1\n  text: \"a: b\"\n", ""],
    );
    let mut fields = [
        format!("apiVersion: {version}\n"),
        format!("kind: {kind}\n"),
        format!(
            "metadata:\n  name: {name}\n{}",
            one_of(random, &["", "  labels: {a: b}\n", "  labels:\n    app: web\n"])
        ),
        body.to_owned(),
    ];
    let turn = usize::try_from(random.below(4)).expect("small");
    fields.rotate_left(turn);
    fields.concat()
}

/// Plain files, a kustomization, or a chart.
fn tree(random: &mut Random) -> (&'static str, Tree) {
    let mut files = Tree::new();
    let mut number = 0;
    let mut next = |random: &mut Random| {
        number += 1;
        object(random, &format!("object-{number}"))
    };
    let several = |parts: &[String]| parts.join("---\n");
    let sort = one_of(random, &["directory", "directory", "kustomize", "helm"]);
    match sort {
        "directory" => {
            files.insert("app/one.yaml".to_owned(), next(random));
            files.insert("app/several.yaml".to_owned(), several(&[next(random), next(random), next(random)]));
            let item = next(random).trim_end().replace('\n', "\n  ");
            let other = next(random).trim_end().replace('\n', "\n  ");
            files.insert(
                "app/list.yml".to_owned(),
                format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n- {other}\n"),
            );
            let json =
                "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Secret\",\n  \"metadata\": {\"name\": \"json\"}\n}\n";
            files.insert("app/object.json".to_owned(), json.to_owned());
            files
                .insert("app/flow.yaml".to_owned(), "{apiVersion: v1, kind: Pod, metadata: {name: flow}}\n".to_owned());
        }
        "kustomize" => {
            let kustomization =
                "resources:\n- one.yaml\n- several.yaml\nconfigMapGenerator:\n- name: made\n  literals:\n  - a=b\n";
            files.insert("app/kustomization.yaml".to_owned(), kustomization.to_owned());
            files.insert("app/one.yaml".to_owned(), next(random));
            files.insert("app/several.yaml".to_owned(), several(&[next(random), next(random)]));
        }
        _ => {
            files.insert("app/Chart.yaml".to_owned(), "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned());
            files.insert("app/values.yaml".to_owned(), "enabled: true\nname: web\n".to_owned());
            files.insert(
                "app/templates/_helpers.tpl".to_owned(),
                "{{- define \"on\" }}{{ .Values.enabled }}{{ end }}\n".to_owned(),
            );
            let guarded = next(random);
            files.insert(
                "app/templates/one.yaml".to_owned(),
                format!("{{{{- if .Values.enabled }}}}\n{guarded}{{{{- end }}}}\n"),
            );
            let helped = next(random);
            files.insert(
                "app/templates/helped.yaml".to_owned(),
                format!("{{{{- if eq (include \"on\" .) \"true\" }}}}\n{helped}{{{{- end }}}}\n"),
            );
            files.insert("app/templates/several.yaml".to_owned(), several(&[next(random), next(random)]));
            files.insert("app/crds/crd.yaml".to_owned(), config_map("crd", "x"));
        }
    }
    (sort, files)
}

/// One character more, less, or another one.
fn edited(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = usize::try_from(random.below(characters.len() as u64)).expect("small");
    let other = CHARACTERS[usize::try_from(random.below(CHARACTERS.len() as u64)).expect("small")];
    match random.below(3) {
        0 => characters.insert(at, other),
        1 => drop(characters.remove(at)),
        _ => characters[at] = other,
    }
    characters.into_iter().collect()
}

fn memory(tree: &Tree) -> MemoryFiles {
    tree.iter().fold(MemoryFiles::new(), |files, (path, text)| files.file(path, text))
}

fn context(files: &MemoryFiles, profile: Profile) -> Context<'_> {
    Context {
        files,
        profile,
        dry_commit: COMMIT,
        renderer: RendererName::Native,
        build_options: Box::leak(Box::default()),
        nondeterministic: &[],
        // Empty, and for the whole run of the tests.
        seeds: Box::leak(Box::default()),
        identities: Box::leak(Box::default()),
        limits: Default::default(),
        rules: Default::default(),
    }
}

/// What decides over other files.
fn is_input(path: &str) -> bool {
    ["values.yaml", "kustomization.yaml", "Chart.yaml"].iter().any(|name| path.ends_with(name))
}

#[derive(Debug, Default)]
struct Figures {
    failed: u32,
    held: u32,
    renamed: u32,
    left_by_inputs: u32,
    kept: u32,
}

fn try_edits(
    (renderers, profile): (&Renderers, Profile),
    (application, moved): (&Application, &Application),
    random: &mut Random,
    count: u64,
    figures: &mut Figures,
) {
    let (sort, before) = tree(random);
    let (files, branch) = (memory(&before), BranchName::new(BRANCH).expect("a name"));
    let old_context = context(&files, profile);
    let old = renderers.render(&[application], &old_context, &|_| ()).pop().expect("one").expect("renders");
    let old = manifest::encode(&old.manifests);
    let objects = |text: &[u8]| manifest::read(text, manifest::Source::Output("us")).expect("ours").len();
    let paths: Vec<&String> = before.keys().collect();
    for _ in 0..count {
        let path = paths[usize::try_from(random.below(paths.len() as u64)).expect("small")];
        let mut after = before.clone();
        let text = edited(random, &before[path]);
        after.insert(path.clone(), text.clone());
        // Some of the commits move the whole directory, too.
        let moves = random.below(3) == 0;
        if moves {
            after = after.into_iter().map(|(path, text)| (path.replacen("app/", "moved/", 1), text)).collect();
        }
        let after_application = if moves { moved } else { application };
        let now = memory(&after);
        let new_context = context(&now, profile);
        let rendered = match renderers.render(&[after_application], &new_context, &|_| ()).pop().expect("one") {
            Ok(rendered) => rendered,
            Err(Failure::Mistakes(_)) => {
                figures.failed += 1;
                continue;
            }
            Err(Failure::World(error)) => panic!("{error}"),
        };
        let new = manifest::encode(&rendered.manifests);
        let missing = missing_in(&old, &[&new]);
        if missing.is_empty() {
            figures.kept += 1;
            continue;
        }
        let comparison = Comparison {
            renderers,
            before: Side { application, context: &old_context },
            now: Side { application: after_application, context: &new_context },
            branch: &branch,
        };
        let (mistakes, _) = comparison.mistakes(&missing, &rendered.reads).expect("both render");
        if !mistakes.is_empty() {
            assert!(mistakes.iter().all(|mistake| mistake.span.is_some() && mistake.hint.is_some()), "{mistakes:?}");
            figures.held += 1;
        } else if is_input(path) {
            figures.left_by_inputs += 1;
        } else {
            let names: BTreeSet<String> = missing.iter().map(ToString::to_string).collect();
            assert!(
                objects(&new) >= objects(&old),
                "{sort}: {names:?} left by {path}:\n{text}\nbefore:\n{}",
                before[path]
            );
            figures.renamed += 1;
        }
    }
}

#[test]
fn no_slip_of_the_pen_takes_an_object_away() {
    let (seed, count) = seed_and_count(2000);
    for profile in [Profile::Proposal, Profile::Argocd] {
        let mut random = Random(seed);
        let (renderers, application, moved) =
            (Renderers::of_machine(&machine()), application("app"), application("moved"));
        let mut figures = Figures::default();
        for _ in 0..count.div_ceil(200) {
            try_edits((&renderers, profile), (&application, &moved), &mut random, 100, &mut figures);
        }
        println!("{profile:?}: {figures:?}");
        assert!(
            [figures.failed, figures.held, figures.renamed, figures.kept].iter().all(|count| *count > 0),
            "{figures:?}"
        );
    }
}

/// What became of the edits that were pushed.
#[derive(Debug, Default)]
struct PushedFigures {
    kept: u32,
    failed: u32,
    named: u32,
    renamed: u32,
}

#[test]
fn no_slip_of_the_pen_that_is_pushed_takes_an_object_away() {
    let (seed, count) = seed_and_count(2000);
    for profile in ["proposal", "argocd"] {
        let mut random = Random(seed ^ 0xabcd);
        let mut figures = PushedFigures::default();
        for _ in 0..count.div_ceil(500) {
            push_edits(profile, &mut random, 5, &mut figures);
        }
        println!("{profile}: {figures:?}");
    }
}

/// Pushes edits of a random tree, each on top of the tree as it was.
fn push_edits(profile: &str, random: &mut Random, count: u64, figures: &mut PushedFigures) {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "profile", profile]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.git(&["rm", "-q", "-r", "apps/web/dev"]);
    let (sort, tree) = tree(random);
    let (file, of_application) = application_of("web", "dev");
    let texts: Vec<(String, String)> =
        tree.into_iter().map(|(path, text)| (path.replacen("app/", "apps/web/dev/", 1), text)).collect();
    let whole: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("all", &whole);
    clone.push().success();
    let manifest = || server.git(&["show", &format!("{BRANCH}:web/manifest.yaml")]) + "\n";
    for _ in 0..count {
        let (path, text) = &texts[usize::try_from(random.below(texts.len() as u64)).expect("small")];
        let (old, before) = (manifest(), tip(&server, BRANCH));
        let slip = edited(random, text);
        let moves = random.below(2) == 0;
        match moves {
            false => drop(clone.commit("slip", &[(path, &slip)])),
            true => {
                clone.git(&["mv", "apps/web/dev", "apps/web/next"]);
                let document = of_application.replace("path: apps/web/dev", "path: apps/web/next");
                let there = path.replacen("apps/web/dev/", "apps/web/next/", 1);
                clone.commit("slip", &[(&there, &slip), (&file, &document)]);
            }
        }
        let told = clone.push().success().remote().join("\n");
        let new = manifest();
        let missing = missing_in(old.as_bytes(), &[new.as_bytes()]);
        let documents = |text: &str| text.matches("kind: ").count();
        let name = |missing: &str| told.contains(missing.rsplit([' ', '/']).next().unwrap_or(missing));
        let count = match (missing.is_empty(), told.contains("error")) {
            (true, true) => &mut figures.failed,
            (true, false) => &mut figures.kept,
            (false, _) if missing.iter().all(|key| name(&key.to_string())) => &mut figures.named,
            (false, _) => {
                // The edit itself says what the object is called now.
                assert!(
                    documents(&new) >= documents(&old) && !is_input(path),
                    "{profile}, {sort}: {missing:?} left by {path}:\n{slip}\n{told}"
                );
                &mut figures.renamed
            }
        };
        *count += 1;
        assert!(tip(&server, BRANCH) != before || told.contains("error") || missing.is_empty(), "{told}");
        if moves {
            clone.git(&["rm", "-q", "-r", "apps/web/next"]);
        }
        clone.commit("back", &[&whole[..], &[(&file, &of_application)]].concat());
        clone.push().success();
        let missing = missing_in(old.as_bytes(), &[manifest().as_bytes()]);
        assert!(missing.is_empty(), "{missing:?} did not come back");
    }
}
