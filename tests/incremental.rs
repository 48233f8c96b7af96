//! What is hydrated from what changed is what would be hydrated from everything, to the last commit id.
//!
//! Two repositories get the same random edits, with the same seed in each run. One remembers what earlier runs found
//! out, and its cache is damaged now and then; the other looks at everything each time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use git_hydrate::testing::git::{
    Expected, Location, Mode, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, Signature, TreeEdit, update_refs,
};
use git_hydrate::testing::hydrate::{Observer, Outcome, Planned, RefNames, Report, Setup, Wake, hydrate, plan};
use git_hydrate::testing::metadata::Time;
use git_hydrate::testing::render::{Isolation, Machine, Renderers};

use super::support::{BINARY, Lab, Repo};

mod copies;
mod joining;
mod shared;

/// Counts what is rendered.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Observer for Counter {
    fn rendering(&self, _dry_commit: &str, total: usize) {
        self.0.fetch_add(total, Ordering::Relaxed);
    }

    fn rendered(&self, _done: usize) {}
}

/// A repository that is hydrated without a push.
struct Server {
    path: PathBuf,
    rendered: Counter,
    /// The time, in seconds since 1970.
    now: Cell<i64>,
}

impl Server {
    fn new(lab: &Lab, name: &str, config: &str) -> Self {
        let path = lab.path(name);
        let made = lab.command("git", &lab.path("")).args(["init", "-q", "--bare", name]).status().expect("git runs");
        assert!(made.success());
        let mut text = fs::read_to_string(path.join("config")).expect("readable");
        text.push_str(config);
        fs::write(path.join("config"), text).expect("writable");
        Self { path, rendered: Counter::default(), now: Cell::default() }
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
        let machine = Machine {
            program: BINARY.into(),
            search_path: "/usr/bin:/bin".into(),
            temp_dir: std::env::temp_dir(),
            cores: 2,
            memory_bytes: u64::MAX,
            isolation: Isolation::Alone,
            used: std::time::Duration::ZERO,
        };
        let renderers = Renderers::from_config(&repository, &machine).expect("readable");
        let setup = Setup {
            repository: &repository,
            refs: RefNames::server(),
            wake: Wake::Pushed(pushed.iter().map(|name| (*name).to_owned()).collect()),
            renderers: &renderers,
            now: Some(self.now.get()),
            out_of_time: &|| false,
            observer: &self.rendered,
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
    fn stay(&mut self, random: &mut Random) {
        let (n, what) = (random.below(12), random.below(8));
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
                dry.stay(&mut random);
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

const URL: &str = "https://git.example.com/dry.git";

/// An ApplicationSet of these generators, a template of the source's path and one of the branch; `more` goes into `spec`.
fn set(name: &str, generators: &str, [path, branch]: [&str; 2], more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}}}\nspec:\n  goTemplate: \
         true\n{more}  generators:\n{generators}  template:\n    metadata: {{name: '{name}-{{{{ .path.basename }}}}'}}\n    \
         spec:\n      destination: {{name: '{{{{ .cluster }}}}'}}\n      sourceHydrator:\n        drySource: {{repoURL: {URL}, \
         targetRevision: main, path: '{path}'}}\n        syncSource: {{targetBranch: 'environments/{branch}', path: \
         'made/{name}/{{{{ .path.basename }}}}'}}\n"
    )
}

impl Dry {
    fn start_sets(&mut self) {
        for name in ["api", "mail", "pay", "web"] {
            self.service(name, 0);
        }
        self.fleet("1.31.0", "shop");
        self.sets("");
    }

    fn service(&mut self, name: &str, value: usize) {
        let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: '{value}'}}\n");
        self.put(&format!("svc/{name}/map.yaml"), map);
        self.put(&format!("svc/{name}/config.json"), format!("{{\"cluster\": \"{}\"}}", ["eu", "us"][value % 2]));
    }

    fn fleet(&mut self, version: &str, tier: &str) {
        let cluster = |name: &str| {
            format!(
                "- name: {name}\n  server: https://{name}.example.com\n  labels: {{tier: {tier}}}\n  kubeVersion: {version}\n"
            )
        };
        self.put("fleet.yaml", cluster("eu") + &cluster("us"));
    }

    fn sets(&mut self, more: &str) {
        let git = |of: &str| format!("  - git: {{repoURL: {URL}, revision: HEAD, {of}}}\n");
        let environment = "{{ if hasPrefix \"p\" .path.basename }}prod{{ else }}dev{{ end }}";
        let directories = git("directories: [{path: 'svc/*'}, {path: svc/old, exclude: true}]");
        self.put("sets/dirs.yaml", set("dirs", &directories, ["{{ .path.path }}", environment], more));
        let files = git("files: [{path: 'svc/*/config.json'}]");
        self.put("sets/files.yaml", set("files", &files, ["charts/web", "dev"], more));
        let clusters = "  - matrix:\n      generators:\n      - clusters: {selector: {matchLabels: {tier: shop}}}\n      - list: \
                        {elements: [{path: {basename: '{{ .name }}'}, cluster: '{{ .name }}'}]}\n";
        self.put("sets/clusters.yaml", set("clusters", clusters, ["charts/web", "prod"], more));
    }

    /// One edit of a set, or of what one looks at.
    fn edit_sets(&mut self, random: &mut Random) {
        let (n, value) = (random.below(6), random.below(1000));
        let name = ["api", "mail", "pay", "web", "ping", "old"][n];
        let file = ["sets/dirs.yaml", "sets/files.yaml", "sets/clusters.yaml"][value % 3];
        let text = self.0.get(file).cloned().unwrap_or_default();
        match random.below(22) {
            0..=4 => self.service(name, value),
            5 => self.0.retain(|path, _| !path.starts_with(&format!("svc/{name}/"))),
            6 => self.put(&format!("svc/{name}/more.yaml"), format!("kind: Secret\napiVersion: v1\nmetadata: {{name: m{value}}}\n")),
            7 => self.put(&format!("svc/{name}/deep/x.yaml"), value.to_string()),
            8 => self.put(&format!("svc/{name}/config.json"), "{\"cluster\": "),
            9 => self.fleet(["1.31.0", "1.32.0"][value % 2], ["shop", "ops"][value % 5 / 4]),
            10 => self.put("fleet.yaml", "- nome: eu\n"),
            11 => self.put("secrets/eu.yaml", format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: a, labels: {{tier: shop, argocd.argoproj.io/secret-type: \
                 cluster}}}}\nstringData: {{name: in-git-{}, server: 'https://x'}}\n", value % 3
            )),
            12 => drop(self.0.remove("secrets/eu.yaml")),
            13 => self.put(file, format!("# {value}\n{text}")),
            14 => self.put(file, text.replace("      destination", "      project: other\n      destination")),
            15 => self.put(file, text.replace(".path.basename }}'}", ".path.base }}'}")),
            16 => self.put(file, text.replace("goTemplate: true", "goTemplate: 1")),
            17 => drop(self.0.remove(file)),
            18 => self.put("sets/twice.yaml", text),
            19 => self.sets("  syncPolicy: {applicationsSync: create-only}\n"),
            20 => drop(self.0.remove("sets/twice.yaml")),
            _ => {
                self.0.remove("sets/twice.yaml");
                self.start_sets();
            }
        }
    }
}

/// Two servers that get the same: one remembers what earlier runs found out, the other looks at everything each time.
struct Twins {
    lab: Lab,
    warm: Server,
    cold: Server,
    moved: usize,
    failed: usize,
}

impl Twins {
    fn new() -> Self {
        let lab = Lab::new();
        let warm = Server::new(&lab, "warm.git", "");
        let cold = Server::new(&lab, "cold.git", "[hydrate]\n\tcache = false\n");
        Self { lab, warm, cold, moved: 0, failed: 0 }
    }

    fn settings(&self, text: &str, seconds: i64) {
        let files = BTreeMap::from([("settings.yaml".to_owned(), text.to_owned())]);
        for server in [&self.warm, &self.cold] {
            server.commit("refs/hydrate/config", None, &files, seconds);
        }
    }

    fn push(&self, parent: Option<ObjectId>, files: &BTreeMap<String, String>, seconds: i64) -> Option<ObjectId> {
        self.push_to("main", parent, files, seconds)
    }

    fn push_to(
        &self,
        branch: &str,
        parent: Option<ObjectId>,
        files: &BTreeMap<String, String>,
        seconds: i64,
    ) -> Option<ObjectId> {
        let name = format!("refs/heads/{branch}");
        let servers = [&self.warm, &self.cold];
        servers.map(|server| server.commit(&name, parent, files, seconds)).first().copied()
    }

    /// Hydrates both, at times after what is remembered was damaged: the reports and all refs must be the same.
    fn hydrate(&mut self, round: usize, random: &mut Random) -> Report {
        self.hydrate_pushed(&["main"], round, random)
    }

    fn hydrate_pushed(&mut self, pushed: &[&str], round: usize, random: &mut Random) -> Report {
        if random.below(8) == 0 {
            damage(&self.warm.path.join("hydrate/cache"), random);
        }
        self.compare_pushed(pushed, &format!("round {round}"))
    }

    /// Hydrates both: the reports and all refs must be the same.
    fn compare(&mut self, name: &str) -> Report {
        self.compare_pushed(&["main"], name)
    }

    fn compare_pushed(&mut self, pushed: &[&str], name: &str) -> Report {
        let [with, without] = [&self.warm, &self.cold].map(|server| server.hydrate_pushed(pushed));
        assert_eq!(with, without, "{name}");
        assert_eq!(self.warm.refs(), self.cold.refs(), "{name}");
        self.moved += moved(&with);
        self.failed += with.branches.iter().filter(|branch| matches!(branch.outcome, Outcome::Failed { .. })).count();
        with
    }

    /// How much was rendered with what is remembered and without. That little moved or failed would show nothing.
    fn rendered(&self) -> [usize; 2] {
        let Self { warm, cold, moved, failed, .. } = self;
        assert!(*moved > 10 && *failed > 10, "{moved} moved, {failed} failed");
        [warm, cold].map(|server| server.rendered.0.load(Ordering::Relaxed))
    }
}

/// Whether nothing is odd but that charts have no release name.
fn is_quiet(report: &Report) -> bool {
    report.warnings.iter().all(|warning| warning.message.contains("no release name"))
}

fn moved(report: &Report) -> usize {
    report.branches.iter().filter(|branch| branch.outcome == Outcome::Moved).count()
}

/// Sets, what they read and what they make are edited at random: what is remembered of them never shows in a commit, a
/// message or a failure.
#[test]
fn what_sets_make_is_the_same_with_what_is_remembered_and_from_scratch() {
    let mut twins = Twins::new();
    let mut random = Random(19);
    let mut dry = Dry::start();
    dry.start_sets();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let settings = |on: bool| format!("repoURL: {URL}\nclusters: fleet.yaml\nmadeApplications: {on}\n");
    twins.settings(&settings(true), seconds);
    for round in 0..70 {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            match random.below(4) {
                _ if round == 0 => {}
                0 => dry.edit(&mut random),
                _ => dry.edit_sets(&mut random),
            }
            seconds += 60;
            tip = twins.push(tip, &dry.0, seconds);
        }
        if round % 20 == 19 {
            twins.settings(&settings(round % 40 != 19), seconds);
        }
        twins.hydrate(round, &mut random);
    }
    let [with, without] = twins.rendered();
    assert!(with * 5 < without * 4, "{with} renders with what is remembered, {without} without");
}

impl Dry {
    fn start_parents(&mut self) {
        for name in ["api", "mail", "pay", "web"] {
            self.plain_service(name, 0);
        }
        self.parent("root", "boot/chart", "");
        self.parent("kust", "boot/kust", "");
        self.put("boot/chart/Chart.yaml", "apiVersion: v2\nname: boot\nversion: 1.0.0\n");
        self.put("boot/chart/values.yaml", "apps: [api, mail]\nenv: dev\n");
        self.put("boot/chart/templates/apps.yaml", Self::template("{{ . }}", "{{ $.Values.env }}", "chart/{{ . }}"));
        self.put("boot/base/app.yaml", Self::made("pay", "dev", "kust/pay"));
        self.put("boot/base/kustomization.yaml", "resources: [app.yaml]\n");
        self.put("boot/kust/kustomization.yaml", "resources: [../base]\nnameSuffix: -eu\n");
        self.put("boot/only/Chart.yaml", "apiVersion: v2\nname: only\nversion: 1.0.0\n");
        let set = set("dirs", "", ["{{ .path.path }}", "prod"], "").replace(
            "  generators:\n",
            &format!("  generators:\n  - git: {{repoURL: {URL}, revision: HEAD, directories: [{{path: 'svc/*'}}]}}\n"),
        );
        self.put(
            "boot/only/templates/set.yaml",
            set.replace("{{", "{{`{{").replace("}}", "}}`}}").replace("`}}`}}", "}}`}}"),
        );
        self.put(
            "boot/only/templates/nested.yaml",
            Self::made("boot/nested", "prod", "nested").replace("svc/boot", "boot"),
        );
        self.put("boot/nested/more.yaml", Self::made("web", "prod", "nested-web"));
    }

    fn plain_service(&mut self, name: &str, value: usize) {
        self.service(name, value);
        self.0.remove(&format!("svc/{name}/config.json"));
    }

    /// An Application that renders others.
    fn parent(&mut self, name: &str, path: &str, options: &str) {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  sourceHydrator:\n    \
             drySource: {{repoURL: {URL}, targetRevision: main, path: {path}{options}}}\n    syncSource: {{targetBranch: \
             environments/dev, path: parents/{name}}}\n"
        );
        self.put(&format!("boot/{name}.yaml"), text);
    }

    fn made(name: &str, environment: &str, path: &str) -> String {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {}-{environment}\nspec:\n  \
             sourceHydrator:\n    drySource:\n      repoURL: {URL}\n      targetRevision: main\n      path: svc/{name}\n    \
             syncSource:\n      targetBranch: environments/{environment}\n      path: {path}\n",
            name.replace('/', "-")
        )
    }

    fn template(name: &str, environment: &str, path: &str) -> String {
        format!("{{{{- range .Values.apps }}}}\n---\n{}{{{{- end }}}}\n", Self::made(name, environment, path))
    }

    /// One edit of a parent, or of what one makes.
    fn edit_parents(&mut self, random: &mut Random) {
        let (n, value) = (random.below(5), random.below(1000));
        let name = ["api", "mail", "pay", "web", "ping"][n];
        let other = ["api", "mail", "pay", "web", "ping"][value % 5];
        let template = "boot/chart/templates/apps.yaml";
        let text = self.0.get(template).cloned().unwrap_or_default();
        match random.below(26) {
            0..=4 => self.plain_service(name, value),
            5 | 6 => self.put("boot/chart/values.yaml", format!("apps: [{name}, {other}]\nenv: dev\n")),
            7 => self.put("boot/chart/values.yaml", format!("apps: [{name}]\nenv: {}\n", ["dev", "prod"][value % 2])),
            8 => self.put(template, format!("# {value}\n{text}")),
            9 => self.put(template, text.replace("path: chart/", "path: moved/")),
            10 => self.put(template, "{{ fail \"not now\" }}"),
            11 => self.put(template, text.replace("targetRevision", "targetRevisoin")),
            12 => self.put(template, text.replace("{{ . }}", "{{ . | nothing }}")),
            13 => self.put(template, ""),
            14 => self.put("boot/base/app.yaml", Self::made(name, "dev", "kust/pay")),
            15 => self.put("boot/kust/kustomization.yaml", format!("resources: [../base]\nnameSuffix: -{name}\n")),
            16 => self.put("boot/kust/kustomization.yaml", "resources: [../base]\n"),
            17 => self.put("boot/kust/kustomization.yaml", "resources: [../none]\n"),
            18 => self.put("boot/twice.yaml", Self::made(name, "dev", "twice")),
            19 => drop(self.0.remove("boot/twice.yaml")),
            20 => drop(self.0.remove("boot/root.yaml")),
            21 => self.parent(
                "root",
                "boot/chart",
                ", helm: {parameters: [{name: rev, value: $ARGOCD_APP_REVISION_SHORT}]}",
            ),
            22 => self.put("boot/nested/more.yaml", Self::made(name, "prod", "nested-web")),
            23 => self.put("boot/only/values.yaml", format!("a: {value}\n")),
            24 => {
                self.put(template, Self::template("{{ . }}", "{{ $.Values.env }}", "chart/{{ . }}-{{ $.Values.rev }}"))
            }
            _ => {
                self.0.remove("boot/twice.yaml");
                self.start_parents();
            }
        }
    }
}

/// The same with Applications that render others, and sets, and so on.
#[test]
fn what_parents_make_is_the_same_with_what_is_remembered_and_from_scratch() {
    let mut twins = Twins::new();
    let mut random = Random(23);
    let mut dry = Dry::start();
    dry.start_parents();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let text = format!("repoURL: {URL}\nmadeApplications: true\nroots: [{{name: only, path: boot/only}}]\n");
    twins.settings(&text, seconds);
    for round in 0..60 {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            match random.below(5) {
                _ if round == 0 => {}
                0 => dry.edit(&mut random),
                _ => dry.edit_parents(&mut random),
            }
            seconds += 60;
            tip = twins.push(tip, &dry.0, seconds);
        }
        let report = twins.hydrate(round, &mut random);
        if round == 0 {
            assert!(moved(&report) == 2 && report.problems.is_empty() && is_quiet(&report), "{report:?}");
        }
    }
    let [with, without] = twins.rendered();
    assert!(with * 5 < without * 4, "{with} renders with what is remembered, {without} without");
}

/// The rules that [`plain`] writes its Applications for: one that leads each where it was led before, and others.
const RULES: [&str; 3] = [
    "- {branch: '{{ annotations.targetBranch }}', path: '{{ annotations.path }}'}\n",
    "- {match: {name: '*-api*'}, hydrate: false}\n- {match: {namespace: '!*'}, branch: '{{ annotations.targetBranch }}', path: \
     '{{ annotations.path }}'}\n",
    "- {match: {name: 'app-1*'}, branch: environments/dev, path: 'ruled/{{ name }}'}\n- {branch: '{{ annotations.targetBranch \
     }}', path: '{{ annotations.path }}'}\n",
];

/// The same Application, or template of Applications, with a plain source: annotations say where rules lead it.
fn plain(text: &str) -> String {
    let parts = text.split_once("sourceHydrator:\n").and_then(|(head, rest)| {
        let (dry, sync) = rest.split_once("syncSource:")?;
        Some((head, dry.trim_start().strip_prefix("drySource:")?, sync))
    });
    let Some((head, dry, sync)) = parts else { return text.to_owned() };
    let (at, tail) = match sync.strip_prefix(" {") {
        Some(sync) => {
            let (line, tail) = sync.split_once('\n').unwrap_or((sync, ""));
            (line.trim_end_matches('}').to_owned() + if line.ends_with("}}'}") { "}}'" } else { "" }, tail)
        }
        None => {
            let mut lines = sync.splitn(4, '\n').skip(1);
            let [branch, path] = [(); 2].map(|()| lines.next().unwrap_or_default().trim());
            (format!("{branch}, {path}"), lines.next().unwrap_or_default())
        }
    };
    let (before, name) = head.split_at(head.rfind("metadata:").map_or(0, |at| at + "metadata:".len()));
    let name = match name.strip_prefix(" {") {
        Some(name) => format!(" {{annotations: {{{at}}}, {name}"),
        None => format!("\n  annotations: {{{at}}}{name}"),
    };
    format!("{before}{name}source:{}\n{tail}", dry.trim_end())
}

impl Dry {
    /// The same with plain Applications in place of most; `app-3` and its like keep `spec.sourceHydrator`.
    fn ruled(&self) -> BTreeMap<String, String> {
        let is_kept = |path: &str| path.ends_with("3.yaml");
        let one =
            |(path, text): (&String, &String)| (path.clone(), if is_kept(path) { text.clone() } else { plain(text) });
        self.0.iter().map(one).collect()
    }
}

/// The same with Applications that rules hydrate, those of sets and parents included, while the rules change.
#[test]
fn what_rules_hydrate_is_the_same_with_what_is_remembered_and_from_scratch() {
    follow_rules(31, "");
}

/// The same with copies of them.
#[test]
fn copies_are_the_same_with_what_is_remembered_and_from_scratch() {
    follow_rules(31, "applicationsTo: copies\n");
}

fn follow_rules(seed: u64, more: &str) {
    let mut twins = Twins::new();
    let mut random = Random(seed);
    let mut dry = Dry::start();
    dry.start_sets();
    dry.start_parents();
    let whole = dry.clone();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let settings = |rules: &str| {
        let rules = rules.replace("\n- ", "\n  - ");
        format!("repoURL: {URL}\nclusters: fleet.yaml\nmadeApplications: true\n{more}rules:\n  {rules}")
    };
    twins.settings(&settings(RULES[0]), seconds);
    for round in 0..60 {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            match random.below(6) {
                // What is wrong holds branches until it is corrected.
                _ if round % 5 == 0 => dry = whole.clone(),
                0 | 1 => dry.edit(&mut random),
                2 | 3 => dry.edit_sets(&mut random),
                _ => dry.edit_parents(&mut random),
            }
            seconds += 60;
            tip = twins.push(tip, &dry.ruled(), seconds);
        }
        match round % 15 {
            8 => twins.settings(&settings(RULES[1 + random.below(2)]), seconds),
            11 => twins.settings(&settings(RULES[0]), seconds),
            _ => {}
        }
        let report = twins.hydrate(round, &mut random);
        if round == 0 {
            let branches = if more.is_empty() { 2 } else { 3 };
            assert!(moved(&report) == branches && report.problems.is_empty(), "{report:?}");
            assert!(!more.is_empty() || is_quiet(&report), "{report:?}");
        }
    }
    let [with, without] = twins.rendered();
    assert!(with < without, "{with} renders with what is remembered, {without} without");
    let verified = Repo::at(&twins.lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Branches freeze and thaw, by the settings and by the clock.
#[test]
fn what_is_frozen_is_the_same_with_what_is_remembered_and_from_scratch() {
    let lab = Lab::new();
    let warm = Server::new(&lab, "warm.git", "");
    let cold = Server::new(&lab, "cold.git", "[hydrate]\n\tcache = false\n");
    let servers = [&warm, &cold];
    let mut random = Random(30);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut frozen, mut thawed) = (1_700_000_000, None, 0, 0);
    let mut is_frozen = false;
    for round in 0..60 {
        for _ in 0..[1, 1, 2, 3][random.below(4)] {
            match random.below(6) {
                _ if round == 0 => {}
                // What is wrong holds branches until it is corrected.
                _ if round % 6 == 0 => dry = Dry::start(),
                _ => dry.edit(&mut random),
            }
            seconds += 60;
            let parent = tip;
            tip = servers.map(|server| server.commit("refs/heads/main", parent, &dry.0, seconds)).first().copied();
        }
        let settings = match random.below(8) {
            0 => Some("{environments/prod: {reason: release}}".to_owned()),
            1 | 2 => {
                let until = Time::new(seconds + 300, 0).rfc3339();
                Some(format!("{{'environments/*': {{reason: release, until: '{until}'}}}}"))
            }
            3 => Some("{}".to_owned()),
            _ => None,
        };
        if let Some(frozen) = settings {
            let files = BTreeMap::from([("settings.yaml".to_owned(), format!("frozen: {frozen}\n"))]);
            for server in servers {
                let parent = server.refs().get("hydrate/config").copied();
                server.commit("refs/hydrate/config", parent, &files, seconds);
            }
        }
        if random.below(8) == 0 {
            damage(&warm.path.join("hydrate/cache"), &mut random);
        }
        let before = warm.refs().get("heads/environments/prod").copied();
        let [with, without] = servers.map(|server| {
            server.now.set(seconds);
            server.hydrate("main")
        });
        assert_eq!(with, without, "round {round}");
        assert_eq!(warm.refs(), cold.refs(), "round {round}");
        let prod = with.branches.iter().find(|branch| branch.branch == "environments/prod");
        let was_frozen = is_frozen;
        is_frozen = prod.is_some_and(|prod| matches!(prod.outcome, Outcome::Frozen(_)));
        frozen += usize::from(is_frozen);
        if is_frozen {
            assert_eq!(before, warm.refs().get("heads/environments/prod").copied(), "round {round}");
        } else if was_frozen && prod.is_some_and(|prod| prod.outcome == Outcome::Moved) {
            assert_eq!(prod.map(|prod| prod.commits.len()), Some(1), "round {round}");
            thawed += 1;
        }
    }
    assert!(frozen > 10 && thawed > 2, "frozen {frozen} times, thawed {thawed} times");
    let [with, without] = servers.map(|server| server.rendered.0.load(Ordering::Relaxed));
    assert!(with < without, "{with} renders with what is remembered, {without} without");
    let verified = Repo::at(&lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
