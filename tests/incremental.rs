//! What is hydrated from what changed is what would be hydrated from everything, to the last commit id.
//!
//! Two repositories get the same random edits, with the same seed in each run. One remembers what earlier runs found
//! out, and its cache is damaged now and then; the other looks at everything each time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use git_hydrate::testing::application::BranchName;
use git_hydrate::testing::git::{
    Expected, Location, Mode, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, Signature, TreeEdit, update_refs,
};
use git_hydrate::testing::hydrate::{Observer, Outcome, Place, Planned, Report, Setup, Wake, hydrate, plan};
use git_hydrate::testing::render::{Isolation, Machine, Renderers};

use super::support::{BINARY, Lab, Repo};

mod broken;
mod copies;
mod hold;
mod joining;
mod made;
mod rules;
mod shared;
mod tags;

/// Counts what is rendered.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Observer for Counter {
    fn rendering(&self, _dry_commit: &str, total: usize) {
        self.0.fetch_add(total, Ordering::Relaxed);
    }

    fn rendered(&self, _done: usize) {}
}

/// A machine of two cores that renders in the process.
pub(crate) fn machine() -> Machine {
    Machine {
        program: BINARY.into(),
        search_path: "/usr/bin:/bin".into(),
        temp_dir: std::env::temp_dir(),
        cores: 2,
        memory_bytes: u64::MAX,
        isolation: Isolation::Alone,
        used: std::time::Duration::ZERO,
    }
}

/// A repository that is hydrated without a push.
struct Server {
    path: PathBuf,
    rendered: Counter,
    /// The time, in seconds since 1970.
    now: Cell<i64>,
    /// The branch that may go back to a lower tag of its range.
    resumed: RefCell<Option<BranchName>>,
}

impl Server {
    fn new(lab: &Lab, name: &str, config: &str) -> Self {
        let path = lab.path(name);
        let made = lab.command("git", &lab.path("")).args(["init", "-q", "--bare", name]).status().expect("git runs");
        assert!(made.success());
        let mut text = fs::read_to_string(path.join("config")).expect("readable");
        text.push_str(config);
        fs::write(path.join("config"), text).expect("writable");
        Self { path, rendered: Counter::default(), now: Cell::new(1_700_000_000), resumed: RefCell::default() }
    }

    fn open(&self) -> Repository {
        Repository::open(&self.path, Location::Hook).expect("opens")
    }

    /// Makes a commit of these files and points a ref at it.
    fn commit(&self, name: &str, parent: Option<ObjectId>, files: &BTreeMap<String, String>, seconds: i64) -> ObjectId {
        let repository = self.open();
        let buffer = ObjectBuffer::new(&repository);
        let put = |content: &String| TreeEdit::Put(Mode::File, buffer.write_blob(content.as_bytes()).expect("hashed"));
        let edits: BTreeMap<String, TreeEdit> =
            files.iter().map(|(path, content)| (path.clone(), put(content))).collect();
        let tree = buffer.edit_tree(buffer.empty_tree_id(), &edits).expect("edited");
        let somebody = Signature { name: "Dev".to_owned(), email: "dev@example.com".to_owned(), seconds, offset: 0 };
        let commit = NewCommit {
            tree,
            parents: parent.into_iter().collect(),
            author: somebody.clone(),
            committer: somebody,
            message: format!("Edit {seconds}\n\nHydrate-Allow-Removal: environments/dev\n"),
        };
        let id = buffer.write_commit(&commit).expect("hashed");
        let kept = buffer.flush().expect("written");
        let expected = Expected::from(repository.refs().expect("readable").get(name));
        let edit = RefEdit { name: name.to_owned(), new: Some(id), expected };
        update_refs(&repository, &[edit], "test").expect("moved");
        drop(kept);
        id
    }

    fn hydrate(&self, pushed: &str) -> Report {
        self.hydrate_pushed(&[pushed])
    }

    fn hydrate_pushed(&self, pushed: &[&str]) -> Report {
        self.with_setup(pushed, |setup| hydrate(setup).expect("the world is fine"))
    }

    fn plan(&self, pushed: &str) -> Planned {
        self.with_setup(&[pushed], |setup| plan(setup).expect("the world is fine"))
    }

    fn with_setup<T>(&self, pushed: &[&str], work: impl FnOnce(&Setup<'_>) -> T) -> T {
        let repository = self.open();
        let machine = machine();
        let renderers = Renderers::from_config(&repository, &machine).expect("readable");
        let resumed = self.resumed.borrow();
        let setup = Setup {
            repository: &repository,
            place: Place::server(),
            wake: Wake::Pushed(pushed.iter().map(|name| (*name).to_owned()).collect()),
            renderers: &renderers,
            now: Some(self.now.get()),
            thawed_at: None,
            out_of_time: &|| false,
            observer: &self.rendered,
            pusher: None,
            only: None,
            fetching: None,
            resumed: resumed.as_ref(),
            discovery: None,
        };
        work(&setup)
    }

    fn refs(&self) -> BTreeMap<String, ObjectId> {
        self.open().refs().expect("readable").below("refs/").map(|(name, id)| (name.to_owned(), id)).collect()
    }
}

/// Numbers that are the same in each run: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// The files of a dry branch, and what may be done to them.
#[derive(Clone, Default)]
struct Dry(BTreeMap<String, String>);

const KINDS: [&str; 3] = ["helm", "kustomize", "directory"];

impl Dry {
    fn put(&mut self, path: &str, content: impl Into<String>) {
        self.0.insert(path.to_owned(), content.into());
    }

    /// Application `n`, which writes `path` of `environment`.
    fn application(&mut self, n: usize, environment: &str, path: &str, options: &str) {
        let source = match KINDS[n % 3] {
            "helm" => "charts/web".to_owned(),
            "kustomize" => format!("overlays/{n}"),
            _ => format!("plain/{n}"),
        };
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app-{n}\nspec:\n  destination:\n    \
             namespace: ns-{n}\n  sourceHydrator:\n    drySource:\n      repoURL: https://git.example.com/dry.git\n      \
             targetRevision: main\n      path: {source}\n{options}    syncSource:\n      targetBranch: \
             environments/{environment}\n      path: {path}\n"
        );
        self.put(&format!("applications/app-{n}.yaml"), text);
    }

    fn start() -> Self {
        let mut dry = Self::default();
        dry.put("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
        dry.put("charts/web/values.yaml", "replicas: 1\n");
        dry.put(
            "charts/web/templates/web.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  replicas: {{ \
             .Values.replicas | quote }}\n  extra: {{ .Values.extra | default \"none\" | quote }}\n",
        );
        dry.put("base/kustomization.yaml", "resources: [map.yaml]\n");
        dry.put("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {a: '1'}\n");
        for n in 0..12 {
            dry.sources(n);
            dry.application(n, ["dev", "prod"][n / 3 % 2], &format!("app-{n}"), &Self::options(n, 0));
        }
        dry
    }

    fn sources(&mut self, n: usize) {
        match KINDS[n % 3] {
            "kustomize" => {
                self.put(
                    &format!("overlays/{n}/kustomization.yaml"),
                    format!("namePrefix: app-{n}-\nresources: [../../base]\npatches: [{{path: patch.yaml}}]\n"),
                );
                self.put(
                    &format!("overlays/{n}/patch.yaml"),
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {b: '2'}\n",
                );
            }
            "directory" => self.put(
                &format!("plain/{n}/map.yaml"),
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plain-{n}}}\n"),
            ),
            _ => {}
        }
    }

    fn options(n: usize, value: usize) -> String {
        match KINDS[n % 3] {
            "helm" if value % 5 == 4 => {
                "      helm:\n        parameters:\n        - {name: extra, value: $ARGOCD_APP_REVISION}\n".to_owned()
            }
            "helm" => format!(
                "      helm:\n        ignoreMissingValueFiles: true\n        valueFiles: [values-{n}.yaml]\n        \
                 parameters: [{{name: extra, value: x{value}}}]\n"
            ),
            "kustomize" => format!("      kustomize:\n        commonAnnotations: {{value: x{value}}}\n"),
            _ => String::new(),
        }
    }

    /// One edit. Most are the everyday ones, that touch a single Application.
    fn edit(&mut self, random: &mut Random) {
        let (n, value) = (random.below(14), random.below(1000));
        let text = value.to_string();
        match random.below(24) {
            0..=3 => self.put(&format!("plain/{}/map.yaml", n / 3 * 3 + 2), format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plain-{}}}\ndata: {{v: '{text}'}}\n", n / 3 * 3 + 2
            )),
            4 | 5 => self.put(&format!("charts/web/values-{}.yaml", n / 3 * 3), format!("replicas: {text}\n")),
            6 => drop(self.0.remove(&format!("charts/web/values-{}.yaml", n / 3 * 3))),
            7 => self.put("charts/web/values.yaml", format!("replicas: {text}\n")),
            8 => self.put("base/map.yaml", format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: base}}\ndata: {{a: '{text}'}}\n"
            )),
            9 | 10 => self.application(n, ["dev", "prod"][n / 3 % 2], &format!("app-{n}"), &Self::options(n, value)),
            11 => {
                self.sources(n);
                self.application(n, ["dev", "prod"][value % 2], &format!("app-{n}"), &Self::options(n, value));
            }
            12 => drop(self.0.remove(&format!("applications/app-{n}.yaml"))),
            13 => self.application(n, ["dev", "prod"][n / 3 % 2], &format!("moved/{value}"), &Self::options(n, 0)),
            14 => self.put(&format!("docs/{text}.md"), text),
            15 => self.put(&format!("plain/{}/more-{}.yaml", n / 3 * 3 + 2, value % 3), format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: more-{}-{}}}\n", n, value % 3
            )),
            16 => self.0.retain(|path, _| !path.contains("/more-")),
            17 => self.put(&format!("overlays/{}/patch.yaml", n / 3 * 3 + 1), "apiVersion: [broken\n"),
            18 | 19 => (0..14).for_each(|n| self.sources(n)),
            20 => self.put("charts/web/templates/more.yaml", format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Release.Name }}}}-more\ndata: {{v: '{text}'}}\n"
            )),
            21 => drop(self.0.remove("charts/web/templates/more.yaml")),
            // A copy elsewhere, a name taken twice.
            22 => self.put("plain/2/twice.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain-8, namespace: ns-8}\n"),
            _ => drop(self.0.remove("plain/2/twice.yaml")),
        }
    }
}

impl Dry {
    /// A slip in an Application, or the correction of all of them.
    fn slip(&mut self, random: &mut Random) {
        let (n, what) = (random.below(12), random.below(8));
        let file = format!("applications/app-{n}.yaml");
        let correct = |text: &str| {
            let text = text.replace("sourceHydrater", "sourceHydrator");
            text.lines().filter(|line| !line.contains("slip")).map(|line| format!("{line}\n")).collect::<String>()
        };
        let with = |text: &str, line: &str| text.replace("    syncSource:", &format!("{line}\n    syncSource:"));
        match self.0.get(&file).map(|text| (what, text.clone())) {
            Some((0, text)) => self.put(&file, text.replace("sourceHydrator", "sourceHydrater")),
            Some((1 | 2, text)) => self.put(&file, with(&text, "    syncSorce: slip")),
            Some((3, text)) => self.put(&file, with(&text, "    costCenter: slip")),
            Some((4, text)) => self.put(&format!("notes/{n}.yaml"), text.replace("sourceHydrator", "sourceHydrater")),
            Some((5, text)) => self.put(&file, correct(&text)),
            _ => {
                self.0.retain(|path, _| !path.starts_with("notes/"));
                self.0.values_mut().for_each(|text| *text = correct(text));
            }
        }
    }
}

impl Dry {
    /// Something by which an Application stays as it is, or the correction of all of them.
    fn stay(&mut self, random: &mut Random, settings: &str) {
        let (n, what) = (random.below(12), random.below(8));
        let what = if settings == PAUSES_ALONE && matches!(what, 1 | 2) { 3 } else { what };
        if settings == PAUSES_ALONE && random.below(5) == 0 {
            self.put(&format!("plain/{}/map.yaml", n / 3 * 3 + 2), "kind: [\n");
        }
        let file = format!("applications/app-{n}.yaml");
        let name = format!("  name: app-{n}\n");
        let paused = format!("{name}  annotations: {{git-hydrate/paused: \"true\"}}\n");
        let correct = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("git-hydrate/paused") && !line.contains("slip"));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        match self.0.get(&file).map(|text| (what, correct(text))) {
            Some((0, text)) => self.put(&file, text.replace(&name, &paused)),
            Some((1, text)) => self.put(&file, text + "\t- slip\n"),
            Some((2, text)) => self.put(&file, text.replace("spec:\n", "spec:\n  source: slip\n")),
            Some((3 | 4, text)) => self.put(&file, text),
            _ => {}
        }
    }
}

/// Settings with which Applications are paused, and no document is mistaken.
const PAUSES_ALONE: &str = "onFailure: branch\n# pauses alone\n";

/// Does to a cache what disks, crashes and people do.
fn damage(dir: &Path, random: &mut Random) {
    let how = random.below(4);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let mut bytes = fs::read(entry.path()).expect("readable");
        match how {
            0 => fs::remove_file(entry.path()).expect("removed"),
            1 => fs::write(entry.path(), &bytes[..random.below(bytes.len().max(1))]).expect("written"),
            2 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
                fs::write(entry.path(), &bytes).expect("written");
            }
            _ => {}
        }
    }
}

#[test]
fn incremental_is_from_scratch() {
    let [with, without] = compare(20, "", "", |report| report);
    assert!(with * 2 < without, "{with} renders with what is remembered, {without} without");
}

/// What reached a limit is remembered by one of the repositories only, which says so, and nothing else of it shows.
#[test]
fn limits_that_are_remembered_change_no_commit() {
    let [with, without] = compare(21, "[hydrate]\n\tobjectLimit = 2\n", "", |mut report| {
        for branch in &mut report.branches {
            branch.skipped.clear();
            if let Outcome::Failed { recorded, .. } = &mut branch.outcome {
                *recorded = false;
            }
        }
        report
    });
    assert!(with < without, "{with} renders with what is remembered, {without} without");
}

/// Applications that fail or are paused stay behind; whoever makes the commits again makes the same ones.
#[test]
fn what_stays_behind_is_the_same_with_a_cache_and_without() {
    let behind = Cell::new(0);
    let [with, without] = compare(22, "", "onFailure: application\n", |report| {
        behind.set(behind.get() + report.branches.iter().filter(|branch| !branch.behind.is_empty()).count());
        report
    });
    assert!(behind.get() > 20, "{} times something stayed behind", behind.get());
    assert!(with < without, "{with} renders with what is remembered, {without} without");
}

/// Applications that are invalid or paused hold back their branch; each push says so, with a cache and without.
#[test]
fn what_holds_a_branch_back_is_the_same_with_a_cache_and_without() {
    let held = Cell::new(0);
    let [with, without] = compare(23, "", "onFailure: branch\n", |report| {
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        held.set(held.get() + report.branches.iter().filter(|branch| failed(&branch.outcome)).count());
        report
    });
    assert!(held.get() > 20, "{} times a branch was held back", held.get());
    assert!(with < without, "{with} renders with what is remembered, {without} without");
}

/// What does not render beside Applications that are paused holds back their branch; each push is told so, with a cache and without.
#[test]
fn what_fails_beside_what_is_paused_is_the_same_with_a_cache_and_without() {
    let held = Cell::new(0);
    let behind = Cell::new(0);
    compare(24, "", PAUSES_ALONE, |report| {
        behind.set(behind.get() + report.branches.iter().filter(|branch| !branch.behind.is_empty()).count());
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        held.set(held.get() + report.branches.iter().filter(|branch| failed(&branch.outcome)).count());
        report
    });
    let (held, behind) = (held.get(), behind.get());
    assert!(held > 5 && behind > 5, "{held} times a branch was held back, {behind} times something stayed behind");
}

/// Whether histories are as long as they can be, and every cause meets every setting: `LONG=1`, as `tests/long/all` has it.
fn is_long() -> bool {
    std::env::var_os("LONG").is_some()
}

/// The rounds of a random history of so many: half of them, but for long ones.
fn rounds(whole: usize) -> usize {
    if is_long() { whole } else { whole / 2 }
}

/// `SEEDS="FIRST COUNT"` compares over more random trees; `tests/long/seeds` runs it.
#[test]
#[ignore = "takes long: tests/long/seeds"]
fn from_many_seeds() {
    let seeds = std::env::var("SEEDS").unwrap_or_else(|_| "1000 1".to_owned());
    let (first, count) = seeds.split_once(' ').expect("two numbers");
    let (first, count): (u64, u64) = (first.parse().expect("a number"), count.parse().expect("a number"));
    for seed in first..first + count {
        let settings = ["", "onFailure: application\n", "onFailure: branch\n", PAUSES_ALONE][seed as usize % 4];
        println!("seed {seed} {settings:?}");
        compare(seed, "", settings, |report| report);
    }
}

/// Edits two repositories in the same way; answers how much each rendered. With settings, Applications are also mistaken or
/// paused, and all that was made is verified at the end.
fn compare(seed: u64, config: &str, settings: &str, told: impl Fn(Report) -> Report) -> [usize; 2] {
    let lab = Lab::new();
    let warm = Server::new(&lab, "warm.git", config);
    let cold = Server::new(&lab, "cold.git", &format!("{config}[hydrate]\n\tcache = false\n"));
    let servers = [&warm, &cold];
    let mut random = Random(seed);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut older) = (1_700_000_000, None, Vec::new());
    for server in servers.iter().filter(|_| !settings.is_empty()) {
        let files = BTreeMap::from([("settings.yaml".to_owned(), settings.to_owned())]);
        server.commit("refs/hydrate/config", None, &files, seconds);
    }
    for round in 0..40 {
        for _ in 0..[1, 1, 1, 3][random.below(4)] {
            if round > 0 {
                dry.edit(&mut random);
            }
            if round > 0 && !settings.is_empty() {
                dry.stay(&mut random, settings);
            }
            seconds += 60;
            let parent = tip;
            tip = servers.map(|server| server.commit("refs/heads/main", parent, &dry.0, seconds)).first().copied();
            older.push((tip, dry.clone()));
        }
        match random.below(12) {
            0 => {
                let text = format!("# {}\n{{{{ drySha }}}}\n", random.below(3));
                let mut files = BTreeMap::from([("README.md.j2".to_owned(), text)]);
                if !settings.is_empty() {
                    files.insert("settings.yaml".to_owned(), settings.to_owned());
                }
                for server in servers {
                    server.commit("refs/hydrate/config", None, &files, seconds);
                }
            }
            1 => {
                for server in servers {
                    server.commit("refs/heads/feature/x", tip, &dry.0, seconds);
                }
            }
            2 if older.len() > 3 => {
                let (back, files) = older[older.len() - 3].clone();
                (tip, dry) = (back, files);
                seconds += 60;
                let parent = tip;
                tip = servers.map(|server| server.commit("refs/heads/main", parent, &dry.0, seconds)).first().copied();
            }
            _ => {}
        }
        if random.below(6) == 0 {
            damage(&warm.path.join("hydrate/cache"), &mut random);
        }
        let [with, without] = servers.map(|server| told(server.hydrate("main")));
        assert_eq!(with, without, "round {round}");
        assert_eq!(warm.refs(), cold.refs(), "round {round}");
    }
    assert!(warm.refs().contains_key("heads/environments/dev"), "nothing was hydrated");
    if !settings.is_empty() {
        let verified = Repo::at(&lab, "cold.git").hydrate(&["verify"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }
    servers.map(|server| server.rendered.0.load(Ordering::Relaxed))
}

#[test]
fn slips_are_told_alike_with_a_cache_and_without() {
    let lab = Lab::new();
    let warm = Server::new(&lab, "warm.git", "");
    let cold = Server::new(&lab, "cold.git", "[hydrate]\n\tcache = false\n");
    let mut random = Random(38);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut near, mut other) = (1_700_000_000, None, 0, 0);
    for round in 0..40 {
        if round > 0 && random.below(2) == 0 {
            dry.slip(&mut random);
        } else if round > 0 {
            dry.edit(&mut random);
        }
        if round == 25 {
            let files = BTreeMap::from([("settings.yaml".to_owned(), "knownFields: [costCenter]\n".to_owned())]);
            for server in [&warm, &cold] {
                server.commit("refs/hydrate/config", None, &files, seconds);
            }
        }
        seconds += 60;
        let parent = tip;
        tip = [&warm, &cold].map(|server| server.commit("refs/heads/main", parent, &dry.0, seconds)).first().copied();
        let [with, without] = [&warm, &cold].map(|server| server.hydrate("main"));
        assert_eq!(with, without, "round {round}");
        assert_eq!(warm.refs(), cold.refs(), "round {round}");
        let unknown = with.warnings.iter().filter(|warning| warning.unknown_field.is_some());
        let (slips, fields): (Vec<_>, Vec<_>) = unknown.partition(|warning| warning.is_near_miss());
        (near, other) = (near + slips.len(), other + fields.len());
        assert!(round < 25 || fields.is_empty(), "round {round}: {fields:?}");
    }
    assert!(near > 10 && other > 3, "{near} slips and {other} other fields were told");
}

/// What a plan names is what is rendered then. A run that finds objects in two Applications, or too many gone, renders
/// again to judge all of them; no plan can know that.
#[test]
fn a_plan_names_what_is_rendered() {
    let lab = Lab::new();
    let server = Server::new(&lab, "warm.git", "");
    let mut random = Random(54);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut same) = (1_700_000_000, None, 0);
    let rounds = 60;
    for round in 0..rounds {
        if round > 0 {
            dry.edit(&mut random);
        }
        seconds += 60;
        tip = Some(server.commit("refs/heads/main", tip, &dry.0, seconds));
        if random.below(10) == 0 {
            damage(&server.path.join("hydrate/cache"), &mut random);
        }
        let refs = server.refs();
        let planned = server.plan("main");
        assert_eq!(server.refs(), refs, "round {round}: a plan moved a ref");
        let planned: usize =
            planned.commits.iter().flat_map(|commit| &commit.branches).map(|branch| branch.render.len()).sum();
        let before = server.rendered.0.load(Ordering::Relaxed);
        let report = server.hydrate("main");
        let rendered = server.rendered.0.load(Ordering::Relaxed) - before;
        assert!(planned <= rendered, "round {round}: {planned} planned, {rendered} rendered: {report:?}");
        assert_eq!(planned == 0, rendered == 0, "round {round}: {report:?}");
        same += usize::from(planned == rendered);
    }
    assert!(same * 10 > rounds * 8, "{same} plans of {rounds} named just what was rendered");
}
