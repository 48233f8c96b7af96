//! A mistake stays where it is: over random dry trees with one random mistake each, every branch that the mistaken
//! Application does not write moves as it does without the mistake, and the pusher is told at each step. Where only the
//! mistaken Application shall stay, it keeps its files, and those of the others are as they are without the mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::{Lab, Repo};

/// Numbers that a seed gives.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Plain,
    Chart,
    Kustomization,
    /// A kustomization with a chart from elsewhere, which is kept where Kustomize looks for it.
    Kept,
}

/// How the dry tree has an Application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// With `sourceHydrator` in a file.
    Written,
    /// Without it: a rule hydrates it.
    Rule,
    /// By an ApplicationSet.
    Set,
    /// By the chart of the setting `roots`.
    Root,
}

/// One Application; the tree holds its document and its source.
#[derive(Debug, Clone)]
struct App {
    name: String,
    file: String,
    branch: String,
    /// The branch that it leaves with the commit, if it moves.
    was: Option<String>,
    maker: Maker,
    source: Source,
    value: usize,
}

type Files = BTreeMap<String, String>;

impl App {
    fn dir(&self) -> String {
        format!("apps/{}", self.name)
    }

    /// The branch that has its files before the commit.
    fn branch_before(&self) -> &str {
        self.was.as_ref().unwrap_or(&self.branch)
    }

    fn document(&self) -> String {
        let (name, branch, dir) = (&self.name, &self.branch, self.dir());
        match self.maker {
            Maker::Written | Maker::Root => self.hydrated(),
            Maker::Rule => format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  labels:\n    by: \
                 rule\nspec:\n  destination:\n    name: {branch}\n    namespace: {name}\n  source:\n    repoURL: \
                 https://git.example.com/dry.git\n    targetRevision: main\n    path: {dir}\n"
            ),
            Maker::Set => {
                let spec = self.hydrated();
                let spec = spec.split_once("\nspec:\n").expect("there").1;
                let spec: String = spec.lines().map(|line| format!("    {line}\n")).collect();
                format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata:\n  name: {name}\nspec:\n  goTemplate: \
                     true\n  goTemplateOptions: [missingkey=error]\n  generators:\n  - list:\n      elements:\n      - one: \
                     {name}\n  template:\n    metadata:\n      name: '{{{{.one}}}}'\n    spec:\n{spec}"
                )
            }
        }
    }

    fn hydrated(&self) -> String {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\nspec:\n  destination:\n    \
             name: {branch}\n    namespace: {name}\n  sourceHydrator:\n    drySource:\n      repoURL: \
             https://git.example.com/dry.git\n      targetRevision: main\n      path: {dir}\n    syncSource:\n      \
             targetBranch: environments/{branch}\n      path: {name}\n",
            name = self.name,
            branch = self.branch,
            dir = self.dir(),
        )
    }

    fn source(&self, files: &mut Files) {
        let object = |value: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  value: {value}\n", self.name)
        };
        let value = format!("v{}", self.value);
        let mut put = |file: &str, text: String| files.insert(format!("{}/{file}", self.dir()), text);
        match self.source {
            Source::Plain => drop(put("config.yaml", object(&value))),
            Source::Chart => {
                put("Chart.yaml", format!("apiVersion: v2\nname: {}\nversion: 1.0.0\n", self.name));
                put("values.yaml", format!("value: {value}\n"));
                put("templates/config.yaml", object("{{ .Values.value }}"));
            }
            Source::Kustomization => {
                put("kustomization.yaml", "resources:\n- config.yaml\n".to_owned());
                put("config.yaml", object(&value));
            }
            Source::Kept => {
                let chart = "helmCharts:\n- name: kept\n  repo: https://charts.example.com\n  version: 1.0.0\n  releaseName: kept\n";
                put("kustomization.yaml", chart.to_owned());
                put("charts/kept-1.0.0/kept/Chart.yaml", "apiVersion: v2\nname: kept\nversion: 1.0.0\n".to_owned());
                put("charts/kept-1.0.0/kept/values.yaml", "a: 1\n".to_owned());
                put("charts/kept-1.0.0/kept/templates/config.yaml", object(&value));
            }
        }
    }
}

/// The whole dry tree.
fn tree(apps: &[App]) -> Files {
    let mut files = Files::new();
    files.insert("boot/Chart.yaml".to_owned(), "apiVersion: v2\nname: boot\nversion: 1.0.0\n".to_owned());
    for app in apps {
        let text = files.entry(app.file.clone()).or_default();
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&app.document());
        app.source(&mut files);
    }
    files
}

fn apps(numbers: &mut Numbers) -> Vec<App> {
    let branches = 2 + numbers.below(3);
    (0..branches + 1 + numbers.below(4))
        .map(|index| {
            let maker = [Maker::Written, Maker::Written, Maker::Rule, Maker::Set, Maker::Root][numbers.below(5)];
            let file = match maker {
                // Some share a file.
                Maker::Written | Maker::Rule if numbers.below(3) == 0 => format!("applications/{}.yaml", index / 2),
                Maker::Written | Maker::Rule | Maker::Set => format!("applications/{}.yaml", 10 + index),
                Maker::Root => format!("boot/templates/{index}.yaml"),
            };
            App {
                name: format!("app{index}"),
                file,
                branch: format!("env{}", if index < branches { index } else { numbers.below(branches) }),
                was: None,
                maker,
                source: [Source::Plain, Source::Chart, Source::Kustomization, Source::Kept][numbers.below(4)],
                value: 0,
            }
        })
        .collect()
}

/// A kind of mistake: what it is called, and what it does to an Application of a tree. Answers whether it can be made, and
/// the Applications that are mistaken then.
type Mistake = (&'static str, fn(&mut Files, &[App], usize) -> Option<Vec<usize>>);

fn in_document(files: &mut Files, app: &App, from: &str, to: &str) -> Option<()> {
    let text = files.get_mut(&app.file)?;
    let start = text.find(&format!("  name: {}\n", app.name))?;
    let end = text[start..].find("---\n").map_or(text.len(), |at| start + at);
    let changed = text[start..end].replacen(from, to, 1);
    let is_other = changed != text[start..end];
    text.replace_range(start..end, &changed);
    is_other.then_some(())
}

const MISTAKES: &[Mistake] = &[
    ("a path that does not exist", |files, apps, one| {
        in_document(files, &apps[one], "path: apps/", "path: app/")?;
        Some(vec![one])
    }),
    ("another repository", |files, apps, one| {
        in_document(files, &apps[one], "/dry.git", "/dri.git")?;
        Some(vec![one])
    }),
    ("a mistyped dry branch", |files, apps, one| {
        in_document(files, &apps[one], "targetRevision: main", "targetRevision: man")?;
        Some(vec![one])
    }),
    ("the root as destination", |files, apps, one| {
        let from = format!("path: {}\n", apps[one].name);
        in_document(files, &apps[one], &from, "path: .\n")?;
        Some(vec![one])
    }),
    ("the dry branch as destination", |files, apps, one| {
        let from = format!("targetBranch: environments/{}", apps[one].branch);
        in_document(files, &apps[one], &from, "targetBranch: main")?;
        Some(vec![one])
    }),
    ("a misspelt sourceHydrator", |files, apps, one| {
        in_document(files, &apps[one], "sourceHydrator:", "sourceHydrater:")?;
        Some(vec![one])
    }),
    ("a misspelt field", |files, apps, one| {
        // What a set makes is written further to the right.
        let indent = if apps[one].maker == Maker::Set { "          " } else { "      " };
        in_document(files, &apps[one], "drySource:\n", &format!("drySource:\n{indent}pth: x\n"))?;
        Some(vec![one])
    }),
    ("no destination path", |files, apps, one| {
        let from = format!("      path: {}\n", apps[one].name);
        in_document(files, &apps[one], &from, "")?;
        Some(vec![one])
    }),
    ("a document that is no YAML", |files, apps, one| {
        files.get_mut(&apps[one].file)?.push_str("a: [\n");
        let same =
            |app: &App| app.file == apps[one].file || (app.maker == Maker::Root && apps[one].maker == Maker::Root);
        Some((0..apps.len()).filter(|index| same(&apps[*index])).collect())
    }),
    ("a parent that fails", |files, apps, one| {
        (apps[one].maker == Maker::Root).then_some(())?;
        files.get_mut(&apps[one].file)?.push_str("{{ fail \"no team\" }}\n");
        Some((0..apps.len()).filter(|index| apps[*index].maker == Maker::Root).collect())
    }),
    ("a set that names what is not there", |files, apps, one| {
        in_document(files, &apps[one], "{{.one}}", "{{.two}}")?;
        Some(vec![one])
    }),
    ("a misspelt generator", |files, apps, one| {
        in_document(files, &apps[one], "- list:", "- lst:")?;
        Some(vec![one])
    }),
    ("a destination that a rule cannot fill in", |files, apps, one| {
        (apps[one].maker == Maker::Rule).then_some(())?;
        let from = format!("    name: {}\n", apps[one].branch);
        in_document(files, &apps[one], &from, "    server: https://example.com\n")?;
        Some(vec![one])
    }),
    ("a version that is not kept", |files, apps, one| {
        (apps[one].source == Source::Kept).then_some(())?;
        let file = format!("{}/kustomization.yaml", apps[one].dir());
        let text = files.get_mut(&file)?;
        *text = text.replace("version: 1.0.0", "version: 1.1.0");
        Some(vec![one])
    }),
    ("a path of another Application", |files, apps, one| {
        let other = apps.iter().position(|app| app.branch == apps[one].branch && app.name != apps[one].name)?;
        let (from, to) = (format!("path: {}\n", apps[one].name), format!("path: {}\n", apps[other].name));
        in_document(files, &apps[one], &from, &to)?;
        Some(vec![one, other])
    }),
    ("a source that is no YAML", |files, apps, one| {
        let file = format!("{}/config.yaml", apps[one].dir());
        files.get_mut(&file)?.push_str("  b: [\n");
        Some(vec![one])
    }),
    ("a template that fails", |files, apps, one| {
        let file = format!("{}/templates/config.yaml", apps[one].dir());
        files.get_mut(&file)?.push_str("  b: {{ .Values.a.b }}\n");
        Some(vec![one])
    }),
    ("a template that is random", |files, apps, one| {
        let file = format!("{}/templates/config.yaml", apps[one].dir());
        files.get_mut(&file)?.push_str("  b: {{ randAlpha 5 }}\n");
        Some(vec![one])
    }),
    ("a dependency that is not there", |files, apps, one| {
        let file = format!("{}/Chart.yaml", apps[one].dir());
        files
            .get_mut(&file)?
            .push_str("dependencies: [{name: a, version: 1.0.0, repository: 'https://example.com'}]\n");
        Some(vec![one])
    }),
    ("a resource that is not there", |files, apps, one| {
        (apps[one].source == Source::Kustomization).then_some(())?;
        let file = format!("{}/kustomization.yaml", apps[one].dir());
        files.get_mut(&file)?.push_str("- none.yaml\n");
        Some(vec![one])
    }),
    ("a kustomization beside a chart", |files, apps, one| {
        // What a rule hydrates is read as Argo CD reads it, which takes the kustomization.
        (apps[one].maker != Maker::Rule).then_some(())?;
        let chart = format!("{}/Chart.yaml", apps[one].dir());
        files.get(&chart)?;
        files.insert(format!("{}/kustomization.yaml", apps[one].dir()), "resources: []\n".to_owned());
        Some(vec![one])
    }),
    ("the only Application of a branch removed", |files, apps, one| {
        (apps[one].maker != Maker::Root && apps[one].was.is_none()).then_some(())?;
        let same = |app: &App| app.branch == apps[one].branch || app.file == apps[one].file;
        if apps.iter().filter(|app| same(app)).count() > 1 {
            return None;
        }
        files.remove(&apps[one].file)?;
        Some(vec![one])
    }),
];

fn commit(repo: &Repo, message: &str, files: &Files) -> String {
    repo.run("sh", &["-c", "rm -rf applications apps boot"]).success();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    repo.commit(message, &files)
}

/// How far a branch is: its commits, and the manifests at its tip.
fn state(repo: &Repo, branch: &str) -> (String, String) {
    let name = format!("refs/heads/environments/{branch}");
    let tree = repo.git(&["ls-tree", "-r", &name]);
    let manifests: Vec<&str> = tree.lines().filter(|line| line.ends_with("/manifest.yaml")).collect();
    (repo.git(&["rev-list", "--count", &name]), manifests.join("\n"))
}

/// The id of the manifest of an Application on a branch; empty when there is none.
fn manifest(repo: &Repo, app: &App, branch: &str) -> String {
    let path = format!("{}/manifest.yaml", app.name);
    repo.git(&["ls-tree", &format!("refs/heads/environments/{branch}"), &path])
}

const COPIES: &str = "refs/heads/copies";

/// The copy of an Application; empty when there is none.
fn copy(repo: &Repo, app: &App) -> String {
    let kind = if app.maker == Maker::Set { "applicationsets" } else { "applications" };
    let found = repo.run("git", &["show", &format!("{COPIES}:{kind}/argocd/{}/manifest.yaml", app.name)]);
    if found.code == Some(0) { found.stdout } else { String::new() }
}

const RULES: &str =
    "[{match: {labels: {by: rule}}, branch: 'environments/{{ destination.name }}', path: '{{ name }}'}]";

/// One tree and one mistake; answers what was tried.
fn round(seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let lab = Lab::new();
    // No power failure is tried here, and to wait for disks takes most of the time.
    lab.configure("[core]\n\tfsync = none\n");
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "dryBranches", "main"]);
    server.hydrate(&["config", "set", "rules", RULES]).success();
    let clone = server.clone_to("clone");
    clone.hydrate(&["install", "--client"]).success();
    let mut apps = apps(&mut numbers);
    if apps.iter().any(|app| app.maker == Maker::Root) {
        server.hydrate(&["config", "set", "roots", "[{name: boot, path: boot}]"]);
    }
    let has_copies = numbers.below(2) == 0;
    if has_copies {
        server.hydrate(&["config", "set", "applicationsTo", "copies"]);
    }
    let base = commit(&clone, "base", &tree(&apps));
    let made = clone.push().success();
    assert!(!made.stderr.contains("error"), "seed {seed}: {made:?}");
    let tip = |branch: &str| server.git(&["rev-parse", &format!("refs/heads/environments/{branch}")]);
    let names: BTreeSet<String> = apps.iter().map(|app| app.branch.clone()).collect();
    let base_tips: BTreeMap<String, String> = names.iter().map(|branch| (branch.clone(), tip(branch))).collect();
    // What the commit is about: some of the Applications change, and one may move to another branch.
    for app in &mut apps {
        app.value = numbers.below(2);
    }
    // The first ones have a branch each, which is to have an Application left.
    let others = (apps.len() - names.len()).max(1);
    let (moving, to) = (apps.len() - 1 - numbers.below(others), format!("env{}", numbers.below(names.len())));
    let app = &mut apps[moving];
    if moving >= names.len() && app.branch != to {
        app.was = Some(std::mem::replace(&mut app.branch, to));
    }
    let good = tree(&apps);
    let (what, files, mistaken) = loop {
        let (kind, mut one) = (numbers.below(MISTAKES.len()), numbers.below(apps.len()));
        // What moves and is wrong besides is on neither branch by itself.
        if apps[moving].was.is_some() && numbers.below(2) == 0 {
            one = moving;
        }
        let (what, make) = MISTAKES[kind];
        let mut files = good.clone();
        if let Some(mistaken) = make(&mut files, &apps, one) {
            break (what, files, mistaken);
        }
    };
    // That one is a warning, and changes nothing.
    let stays = what != "a misspelt field";
    let one = &apps[mistaken[0]];
    let moves = if one.was.is_some() { ", which moves" } else { "" };
    let what = format!("seed {seed}: {what} in {} ({:?}, {:?}){moves}", one.name, one.maker, one.source);
    let [plain, strict] = ["plain.git", "strict.git"].map(|name| server.copy_to(name));
    strict.git(&["config", "hydrate.strict", "touched"]);
    let leaving = server.copy_to("leaving.git");
    leaving.hydrate(&["config", "set", "onFailure", "application"]).success();
    let before: Vec<String> = apps.iter().map(|app| manifest(&server, app, app.branch_before())).collect();
    let there: Vec<String> = apps.iter().map(|app| manifest(&server, app, &app.branch)).collect();
    let copies: Vec<String> = apps.iter().map(|app| copy(&server, app)).collect();
    commit(&clone, "without the mistake", &good);
    clone.run("git", &["push", "-q", "--no-verify", "../plain.git", "HEAD:main"]).success();
    clone.git(&["reset", "-q", "--hard", &base]);
    let dry = commit(&clone, "with the mistake", &files);
    // Whoever reads it finds the Application, its file, its source or its branch.
    let is_told = |told: &str| {
        let is_said = told.contains("error: ") || told.contains("warning: ");
        let is_named =
            |app: &App| [&app.name, &app.file, &app.branch].into_iter().any(|name| told.contains(name.as_str()));
        is_said && mistaken.iter().any(|index| is_named(&apps[*index]))
    };
    let all = |answer: crate::support::Answer| answer.stdout + &answer.stderr;
    let steps = [
        ("diff", all(clone.hydrate(&["diff"]))),
        ("check", all(clone.hydrate(&["check"]))),
        ("pre-push", all(clone.run("git", &["push", "--dry-run", "origin", "HEAD:main"]))),
        ("strict", all(clone.run("git", &["push", "--no-verify", "../strict.git", "HEAD:main"]))),
        ("leaving", all(clone.run("git", &["push", "--no-verify", "../leaving.git", "HEAD:main"]).success())),
        ("push", all(clone.run("git", &["push", "--no-verify", "origin", "HEAD:main"]).success())),
    ];
    for (step, told) in &steps {
        assert!(is_told(told), "{what}: {step} does not tell\n{told}");
    }
    let theirs: BTreeSet<&str> =
        mistaken.iter().flat_map(|index| [apps[*index].branch.as_str(), apps[*index].branch_before()]).collect();
    let branches: BTreeSet<&str> = apps.iter().map(|app| app.branch.as_str()).collect();
    let [.., (_, left), (_, push)] = &steps;
    for (index, app) in apps.iter().enumerate() {
        let branch = format!("refs/heads/environments/{}", app.branch);
        let is_held = leaving.git(&["rev-parse", &branch]) == base_tips[&app.branch];
        let (found, expected) = match stays && mistaken.contains(&index) {
            true => (manifest(&leaving, app, app.branch_before()), before[index].clone()),
            false if is_held => (manifest(&leaving, app, &app.branch), there[index].clone()),
            false => (manifest(&leaving, app, &app.branch), manifest(&plain, app, &app.branch)),
        };
        assert_eq!(found, expected, "{what}: {} on {branch}\n{left}", app.name);
    }
    for index in mistaken.iter().filter(|_| stays) {
        let app = &apps[*index];
        let kept = manifest(&server, app, app.branch_before());
        assert_eq!(kept, before[*index], "{what}: {} is not as it was\n{push}", app.name);
        assert_eq!(copy(&server, app), copies[*index], "{what}: the copy of {}\n{push}", app.name);
    }
    if has_copies {
        server.hydrate(&["catch-up"]);
        plain.hydrate(&["catch-up"]);
        let are_others = |app: &&App| !theirs.contains(&*app.branch) && !theirs.contains(app.branch_before());
        for app in apps.iter().filter(are_others) {
            assert_eq!(copy(&server, app), copy(&plain, app), "{what}: the copy of {}\n{push}", app.name);
        }
        server.hydrate(&["verify", "copies"]).success();
    }
    let verified = leaving.hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{what}: {verified:?}\n{left}");
    for branch in branches.difference(&theirs) {
        assert_eq!(state(&server, branch), state(&plain, branch), "{what}: environments/{branch}\n{push}");
        let tip = server.git(&["rev-parse", &format!("refs/heads/environments/{branch}")]);
        let note = server.git(&["notes", "--ref=hydrator.metadata", "show", &tip]);
        assert!(note.contains(&dry), "{what}: the note of environments/{branch} is {note}\n{push}");
    }
    assert_eq!(server.git(&["fsck", "--strict", "--no-dangling"]), "", "{what}");
    what
}

/// How many seeds are tried at a time.
const AT_A_TIME: u64 = 4;

/// `MISTAKES="SEED COUNT"` tries as many as that.
#[test]
fn a_mistake_stays_where_it_is_and_the_pusher_is_told() {
    let given = std::env::var("MISTAKES").ok();
    let mut words =
        given.as_deref().unwrap_or("1 8").split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
    let (seed, count) = (words.next().unwrap_or(1), words.next().unwrap_or(5));
    let next = AtomicU64::new(seed);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                for seed in seeds.take_while(|one| *one < seed + count) {
                    println!("{}", round(seed));
                }
            });
        }
    });
}
