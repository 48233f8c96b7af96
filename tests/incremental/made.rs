//! What ApplicationSets and parents make: the same with what is remembered and from scratch.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use git_hydrate::testing::diag::Diagnostic;
use git_hydrate::testing::git::ObjectId;
use git_hydrate::testing::hydrate::{Outcome, Report};

use super::{Dry, Random, Server, damage, rounds};
use crate::support::Lab;

pub(super) const URL: &str = "https://git.example.com/dry.git";

/// An ApplicationSet of these generators, a template of the source's path and one of the branch; `more` goes into `spec`.
pub(super) fn set(name: &str, generators: &str, [path, branch]: [&str; 2], more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}}}\nspec:\n  goTemplate: \
         true\n{more}  generators:\n{generators}  template:\n    metadata: {{name: '{name}-{{{{ .path.basename }}}}'}}\n    \
         spec:\n      destination: {{name: '{{{{ .cluster }}}}'}}\n      sourceHydrator:\n        drySource: {{repoURL: {URL}, \
         targetRevision: main, path: '{path}'}}\n        syncSource: {{targetBranch: 'environments/{branch}', path: \
         'made/{name}/{{{{ .path.basename }}}}'}}\n"
    )
}

impl Dry {
    pub(super) fn start_sets(&mut self) {
        for name in ["api", "mail", "pay", "web"] {
            self.service(name, 0);
        }
        self.fleet("1.31.0", "shop");
        self.sets("");
    }

    pub(super) fn service(&mut self, name: &str, value: usize) {
        let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: '{value}'}}\n");
        self.put(&format!("svc/{name}/map.yaml"), map);
        self.put(&format!("svc/{name}/config.json"), format!("{{\"cluster\": \"{}\"}}", ["eu", "us"][value % 2]));
    }

    pub(super) fn fleet(&mut self, version: &str, tier: &str) {
        let cluster = |name: &str| {
            format!(
                "- name: {name}\n  server: https://{name}.example.com\n  labels: {{tier: {tier}}}\n  kubeVersion: {version}\n"
            )
        };
        self.put("fleet.yaml", cluster("eu") + &cluster("us"));
    }

    pub(super) fn sets(&mut self, more: &str) {
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
    pub(super) fn edit_sets(&mut self, random: &mut Random) {
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
pub(super) struct Twins {
    pub(super) lab: Lab,
    pub(super) warm: Server,
    pub(super) cold: Server,
    pub(super) moved: usize,
    pub(super) failed: usize,
}

impl Twins {
    pub(super) fn new() -> Self {
        let lab = Lab::new();
        let warm = Server::new(&lab, "warm.git", "");
        let cold = Server::new(&lab, "cold.git", "[hydrate]\n\tcache = false\n");
        Self { lab, warm, cold, moved: 0, failed: 0 }
    }

    pub(super) fn settings(&self, text: &str, seconds: i64) {
        let files = BTreeMap::from([("settings.yaml".to_owned(), text.to_owned())]);
        for server in [&self.warm, &self.cold] {
            server.commit("refs/hydrate/config", None, &files, seconds);
        }
    }

    pub(super) fn push(
        &self,
        parent: Option<ObjectId>,
        files: &BTreeMap<String, String>,
        seconds: i64,
    ) -> Option<ObjectId> {
        self.push_to("main", parent, files, seconds)
    }

    pub(super) fn push_to(
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
    pub(super) fn hydrate(&mut self, round: usize, random: &mut Random) -> Report {
        self.hydrate_pushed(&["main"], round, random)
    }

    pub(super) fn hydrate_pushed(&mut self, pushed: &[&str], round: usize, random: &mut Random) -> Report {
        if random.below(8) == 0 {
            damage(&self.warm.path.join("hydrate/cache"), random);
        }
        self.compare_pushed(pushed, &format!("round {round}"))
    }

    /// Hydrates both: the reports and all refs must be the same.
    pub(super) fn compare(&mut self, name: &str) -> Report {
        self.compare_pushed(&["main"], name)
    }

    pub(super) fn compare_pushed(&mut self, pushed: &[&str], name: &str) -> Report {
        let [with, without] = [&self.warm, &self.cold].map(|server| server.hydrate_pushed(pushed));
        assert_eq!(self.warm.refs(), self.cold.refs(), "{name}");
        // What a hold keeps is said once, which takes a memory: without one it may be said again.
        match [&with, &without].map(|report| report.warnings.iter().filter(|one| is_of_hold(one)).count()) {
            [remembered, again] if remembered < again => {
                assert_eq!(without_holds(&with), without_holds(&without), "{name}")
            }
            _ => assert_eq!(with, without, "{name}"),
        }
        self.moved += moved(&with);
        self.failed += with.branches.iter().filter(|branch| matches!(branch.outcome, Outcome::Failed { .. })).count();
        with
    }

    /// How much was rendered with what is remembered and without. That little moved or failed would show nothing.
    pub(super) fn rendered(&self) -> [usize; 2] {
        let Self { warm, cold, moved, failed, .. } = self;
        assert!(*moved > rounds(10) && *failed > rounds(10), "{moved} moved, {failed} failed");
        [warm, cold].map(|server| server.rendered.0.load(Ordering::Relaxed))
    }
}

fn is_of_hold(warning: &Diagnostic) -> bool {
    warning.message.contains("` is held on `") || warning.message.contains("` is held, and would not hydrate: ")
}

/// A report without what is said of holds.
fn without_holds(report: &Report) -> [String; 4] {
    let warnings: Vec<&Diagnostic> = report.warnings.iter().filter(|one| !is_of_hold(one)).collect();
    [
        format!("{:?}", report.branches),
        format!("{:?}", report.problems),
        format!("{warnings:?}"),
        format!("{:?}", report.notes),
    ]
}

/// Whether nothing is odd but that charts have no release name, and Applications no namespace.
pub(super) fn is_quiet(report: &Report) -> bool {
    let is_known =
        |message: &str| message.contains("no release name") || message.contains("`metadata.namespace` is not set");
    report.warnings.iter().all(|warning| is_known(&warning.message))
}

pub(super) fn moved(report: &Report) -> usize {
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
    pub(super) fn start_parents(&mut self) {
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

    pub(super) fn plain_service(&mut self, name: &str, value: usize) {
        self.service(name, value);
        self.0.remove(&format!("svc/{name}/config.json"));
    }

    /// An Application that renders others.
    pub(super) fn parent(&mut self, name: &str, path: &str, options: &str) {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  sourceHydrator:\n    \
             drySource: {{repoURL: {URL}, targetRevision: main, path: {path}{options}}}\n    syncSource: {{targetBranch: \
             environments/dev, path: parents/{name}}}\n"
        );
        self.put(&format!("boot/{name}.yaml"), text);
    }

    pub(super) fn made(name: &str, environment: &str, path: &str) -> String {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {}-{environment}\nspec:\n  \
             sourceHydrator:\n    drySource:\n      repoURL: {URL}\n      targetRevision: main\n      path: svc/{name}\n    \
             syncSource:\n      targetBranch: environments/{environment}\n      path: {path}\n",
            name.replace('/', "-")
        )
    }

    pub(super) fn template(name: &str, environment: &str, path: &str) -> String {
        format!("{{{{- range .Values.apps }}}}\n---\n{}{{{{- end }}}}\n", Self::made(name, environment, path))
    }

    /// One edit of a parent, or of what one makes.
    pub(super) fn edit_parents(&mut self, random: &mut Random) {
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

/// Applications that render others, and sets, and so on, change at random.
#[test]
fn what_parents_make_is_the_same_with_what_is_remembered_and_from_scratch() {
    let mut twins = Twins::new();
    let mut random = Random(23);
    let mut dry = Dry::start();
    dry.start_parents();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let text = format!("repoURL: {URL}\nmadeApplications: true\nroots: [{{name: only, path: boot/only}}]\n");
    twins.settings(&text, seconds);
    for round in 0..rounds(60) {
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
