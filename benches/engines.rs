//! What the parts of a hydration cost, each by itself: `cargo bench --bench engines`.

use divan::{Bencher, black_box};
use git_hydrate::testing::application::{self, Patterns, RuleSet};
use git_hydrate::testing::helm::{self, Charts};
use git_hydrate::testing::kustomize::{self, Options};
use git_hydrate::testing::manifest::{self, Manifest, Source};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::plan::{Changes, Discovery};
use git_hydrate::testing::view::{MemoryFiles, View};

fn main() {
    divan::main();
}

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  destination: {namespace: web}
  sourceHydrator:
    drySource: {repoURL: https://git.example.com/dry.git, targetRevision: main, path: apps/web}
    syncSource: {targetBranch: environments/dev, path: web}
";

/// A stream of so many Deployments, as an engine prints it.
fn deployments(count: usize) -> String {
    let one = |n: usize| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{n}\n  labels:\n    app: web-{n}\nspec:\n  \
             replicas: {n}\n  selector:\n    matchLabels:\n      app: web-{n}\n  template:\n    metadata:\n      \
             labels:\n        app: web-{n}\n    spec:\n      containers:\n        - name: web\n          image: \
             registry.example.com/web:1.{n}\n          ports:\n            - containerPort: 8080\n"
        )
    };
    (0..count).map(one).collect()
}

fn manifests(count: usize) -> Vec<Manifest> {
    manifest::read(deployments(count).as_bytes(), Source::Output("bench")).expect("manifests")
}

/// A tree of so many directories, each with a file and an Application.
fn tree(count: usize) -> MemoryFiles {
    (0..count).fold(MemoryFiles::new(), |files, n| {
        files.file(&format!("applications/{n}.yaml"), APPLICATION).file(&format!("apps/{n}/web.yaml"), "kind: A\n")
    })
}

#[divan::bench(args = [1, 10, 100])]
fn read_manifests(bencher: Bencher<'_, '_>, count: usize) {
    let text = deployments(count);
    bencher.bench(|| manifest::read(black_box(text.as_bytes()), Source::Output("bench")).is_ok());
}

#[divan::bench(args = [1, 10, 100])]
fn write_manifests(bencher: Bencher<'_, '_>, count: usize) {
    let manifests = manifests(count);
    bencher.bench(|| manifest::encode(black_box(&manifests)));
}

#[divan::bench]
fn read_application(bencher: Bencher<'_, '_>) {
    let path = RepoPath::new("apps.yaml").expect("plain");
    bencher.bench(|| application::read(&path, black_box(APPLICATION.as_bytes())));
}

#[divan::bench(args = [10, 100])]
fn find_applications(bencher: Bencher<'_, '_>, count: usize) {
    let files = tree(count);
    bencher.bench(|| {
        Discovery::default().discover(black_box(&files), &Patterns::default(), &RuleSet::default(), usize::MAX).is_ok()
    });
}

#[divan::bench(args = [10, 100])]
fn compare_trees(bencher: Bencher<'_, '_>, count: usize) {
    let (old, new) = (tree(count), tree(count).file("apps/1/web.yaml", "kind: B\n"));
    bencher.bench(|| Changes::between(black_box(&old), &new, &RuleSet::default()).is_ok());
}

#[divan::bench(args = [10, 100])]
fn confirm_reads(bencher: Bencher<'_, '_>, count: usize) {
    let files = tree(count);
    let view = View::new(&files);
    view.read(&RepoPath::new("apps/1/web.yaml").expect("plain")).expect("is there");
    let reads = view.reads();
    bencher.bench(|| View::new(&files).confirms(black_box(&reads)) == Ok(true));
}

/// A chart of so many workloads, written as `helm create` writes them.
fn chart(count: usize) -> MemoryFiles {
    let helpers = "{{- define \"web.labels\" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\n\
                   app.kubernetes.io/instance: {{ .Release.Name | quote }}\n{{- end }}\n";
    let template = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ printf \"%s-NUMBER\" .Release.Name | trunc 63 }}\n  \
                    labels: {{- include \"web.labels\" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicas | default 1 }}\n  \
                    template:\n    spec:\n      containers:\n        - name: web\n          image: {{ .Values.image | quote }}\n          \
                    {{- with .Values.resources }}\n          resources: {{- toYaml . | nindent 12 }}\n          {{- end }}\n";
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
        .file(
            "c/values.yaml",
            "replicas: 3\nimage: registry.example.com/web:1.0\nresources: {limits: {cpu: 1, memory: 64Mi}}\n",
        )
        .file("c/templates/_helpers.tpl", helpers);
    (0..count).fold(files, |files, n| {
        files.file(&format!("c/templates/{n}.yaml"), template.replace("NUMBER", &n.to_string()))
    })
}

fn render_chart(files: &MemoryFiles, charts: &Charts) -> bool {
    let path = RepoPath::new("c").expect("plain");
    helm::render_kept(charts, &View::new(files), &path, &helm::Options::default()).is_ok()
}

#[divan::bench(args = [1, 10, 100])]
fn render_new_chart(bencher: Bencher<'_, '_>, count: usize) {
    let files = chart(count);
    bencher.bench(|| render_chart(black_box(&files), &Charts::default()));
}

#[divan::bench(args = [1, 10, 100])]
fn render_kept_chart(bencher: Bencher<'_, '_>, count: usize) {
    let (files, charts) = (chart(count), Charts::default());
    assert!(render_chart(&files, &charts), "the chart renders");
    bencher.bench(|| render_chart(black_box(&files), &charts));
}

/// An overlay of so many resources, a quarter of each kind: names change, Deployments refer to ConfigMaps and
/// ServiceAccounts, one patch is for all Deployments.
fn overlay(count: usize) -> MemoryFiles {
    let one = |n: usize| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{n}}}\nspec:\n  selector:\n    matchLabels: \
             {{app: web-{n}}}\n  template:\n    metadata:\n      labels: {{app: web-{n}}}\n    spec:\n      serviceAccountName: \
             web-{n}\n      containers:\n      - name: web\n        image: registry.example.com/web:1.{n}\n        envFrom:\n        \
             - configMapRef: {{name: config-{n}}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config-{n}}}\ndata:\n  \
             a: value {n}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: web-{n}}}\nspec:\n  selector: {{app: web-{n}}}\n  \
             ports:\n  - port: 80\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: web-{n}}}\n"
        )
    };
    let kustomization = "resources: [all.yaml]\nnamePrefix: dev-\nnamespace: dev\nlabels:\n- pairs: {team: a}\n  \
                         includeSelectors: true\nimages:\n- {name: registry.example.com/web, newTag: '2'}\npatches:\n- \
                         target: {kind: Deployment}\n  patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: \
                         {name: any}\n    spec: {template: {spec: {containers: [{name: web, tty: true}]}}}\n";
    let all: String = (0..count / 4).map(one).collect();
    MemoryFiles::new().file("k/kustomization.yaml", kustomization).file("k/all.yaml", all)
}

#[divan::bench(args = [4, 400, 4000])]
fn build_kustomization(bencher: Bencher<'_, '_>, count: usize) {
    let files = overlay(count);
    let dir = RepoPath::new("k").expect("plain");
    bencher.bench(|| {
        let build = kustomize::build(&View::new(black_box(&files)), &dir, &Options::default(), None);
        build.and_then(|build| build.to_yaml()).is_ok()
    });
}
