//! The setting `vendorDirectory`: inputs below a directory that an admin names.

use std::fs;

use super::{BASE, LOCK, application, dry, repository, upstream, vendor};
use crate::servers::{Liar, git_server};
use crate::support::{Lab, Repo};

/// A dry repository that needs a remote base and, under a rule, a chart, and what is looked for Applications in.
struct World {
    _lab: Lab,
    dry: Repo,
    server: Repo,
    _servers: [Liar; 2],
}

fn world() -> World {
    let lab = Lab::new();
    // An Application among the inputs is none of this repository.
    let odd = application("odd", "odd");
    upstream(&lab, &[BASE, &[("base/application.yaml", &odd)]].concat());
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let (git, charts) = (git_server(&lab.path("git")), super::files_of(lab.path("charts")));
    let kustomization = format!("resources: ['{}/upstream.git//base?ref=v1']\n", git.url());
    let chart = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  source: {{repoURL: '{}', chart: web, targetRevision: 1.2.3}}
",
        charts.url()
    );
    let all = application("all", "third_party")
        .replace("path: third_party, ", "path: third_party, directory: {recurse: true}");
    let set = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: set, namespace: argocd}
spec:
  goTemplate: true
  generators: [{git: {repoURL: https://example.com/dry.git, revision: HEAD, files: [{path: 'third_party/*.yaml'}]}}]
  template:
    metadata: {name: 'file-{{ .path.filenameNormalized }}'}
    spec:
      project: default
      destination: {server: https://kubernetes.default.svc, namespace: shop}
      sourceHydrator:
        drySource: {repoURL: https://example.com/dry.git, targetRevision: main, path: plain}
        syncSource: {targetBranch: environments/dev, path: 'file-{{ .path.filenameNormalized }}'}
";
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n";
    let dry = dry(
        &lab,
        &[
            ("web/kustomization.yaml", &kustomization),
            ("third_party/own.yaml", own),
            ("plain/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"),
            ("applications/web.yaml", &application("web", "web")),
            ("applications/shop.yaml", &chart),
            ("applications/all.yaml", &all),
            ("applications/set.yaml", set),
        ],
    );
    let server = Repo::at(&lab, "dry.git");
    let world = World { _lab: lab, dry, server, _servers: [git, charts] };
    world.set("repoURL", "https://example.com/dry.git");
    world.set("madeApplications", "true");
    world.set("rules", "- {match: {name: shop}, branch: environments/dev, path: shop}\n");
    world
}

impl World {
    fn set(&self, key: &str, value: &str) {
        // Inputs that are elsewhere stop branches, as it says.
        let answer = self.server.hydrate(&["config", "set", key, "--", value]);
        assert_eq!(answer.code, Some(i32::from(answer.stdout.contains("the settings are saved"))), "{answer:?}");
        self.dry.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    }

    fn push(&self) -> String {
        self.dry.push().success().remote().join("\n")
    }

    /// The manifests of a path of the branch.
    fn manifest(&self, path: &str) -> String {
        self.server.git(&["show", &format!("environments/dev:{path}/manifest.yaml")])
    }

    /// What is vendored.
    fn vendored(&self, dir: &str) -> String {
        self.dry.git(&["ls-files", dir])
    }

    fn paths(&self) -> Vec<String> {
        let tree = self.server.git(&["ls-tree", "-d", "--name-only", "environments/dev"]);
        tree.lines().map(str::to_owned).collect()
    }
}

#[test]
fn inputs_are_below_the_directory_that_the_admin_names_and_nothing_else_reads_them() {
    let world = world();
    world.set("vendorDirectory", "third_party");
    let told = vendor(&world.dry, &[]).success();
    assert!(told.stdout.contains("    third_party/helm/") && told.stdout.contains("    third_party/git/"), "{told:?}");
    assert!(!world.vendored("third_party").is_empty() && world.vendored(".hydrate/inputs").is_empty());
    let lock = world.dry.file(LOCK).expect("there");
    assert!(lock.contains("\nformat = 1\ndirectory = \"third_party\"\n\n[[input]]\n"), "{lock}");
    world.dry.commit("Vendor", &[]);
    let told = world.push();
    assert!(!told.contains("error"), "{told}");
    // Neither the Application in the base, nor the base in the directory source, nor a file of either in the set.
    assert_eq!(world.paths(), ["all", "file-own.yaml", "shop", "web"], "{told}");
    assert_eq!(world.manifest("all").matches("kind:").count(), 1);
    assert!(world.manifest("web").contains("name: base") && world.manifest("shop").contains("name: shop-web"));
    let readme = world.server.git(&["show", "environments/dev:shop/README.md"]);
    assert!(readme.contains("helm template ./third_party/helm/"), "{readme}");
    vendor(&world.dry, &["--check"]).success();
    let attribute = |path: &str| world.dry.git(&["check-attr", "linguist-generated", "--", path]);
    let base = world.vendored("third_party/git/*map.yaml");
    let base = base.lines().next().expect("there");
    assert_eq!(attribute(base), format!("{base}: linguist-generated: set"));
    assert!(attribute("third_party/own.yaml").ends_with("unspecified"));
    // The same commits without what is remembered.
    world.dry.hydrate(&["verify"]).success();
}

#[test]
fn vendor_moves_what_is_elsewhere_after_a_change() {
    let world = world();
    vendor(&world.dry, &[]).success();
    world.dry.commit("Vendor", &[]);
    world.push();
    let before = ["web", "shop"].map(|path| world.manifest(path));
    let mut old = ".hydrate/inputs";
    for new in ["third_party", "vendor/inputs", ".hydrate/inputs"] {
        let tip = world.server.git(&["rev-parse", "environments/dev"]);
        world.set("vendorDirectory", new);
        world.dry.commit("Not moved yet", &[("other.txt", new)]);
        let told = world.push();
        let expected =
            format!(".hydrate/inputs.lock has its inputs in `{old}`, but the setting `vendorDirectory` leads to");
        // A set over all files reads what is in the old place now, and fails first.
        let fails_first = told.contains(&format!("--> {old}/"));
        assert!(fails_first || told.contains(&expected) && told.contains("git hydrate vendor"), "{told}");
        assert_eq!(world.server.git(&["rev-parse", "environments/dev"]), tip);
        let told = vendor(&world.dry, &["--check"]).exits(1).stdout;
        assert!(told.contains(&expected), "{told}");
        // Nothing is fetched for it.
        let told = world.dry.hydrate(&["vendor"]).success().stdout;
        assert!(told.contains(&format!("\n    {new}/")) && told.starts_with('~'), "{told}");
        assert_eq!(world.vendored(&format!("{old}/git")) + &world.vendored(&format!("{old}/helm")), "");
        assert!(!world.dry.path.join(old).join("git").exists());
        world.dry.commit("Move", &[]);
        let told = world.push();
        assert!(!told.contains("error: "), "{told}");
        assert_eq!(["web", "shop"].map(|path| world.manifest(path)), before);
        vendor(&world.dry, &["--check"]).success();
        old = new;
    }
}

#[test]
fn kept_files_that_were_deleted_come_back_by_the_hint() {
    let world = world();
    vendor(&world.dry, &[]).success();
    world.dry.commit("Vendor", &[]);
    vendor(&world.dry, &["--check"]).success();
    world.dry.git(&["rm", "-q", "-r", ".hydrate/inputs/helm"]);
    world.dry.git(&["commit", "-q", "-m", "Delete"]);
    let told = world.dry.hydrate(&["check"]).exits(1).stdout;
    let hint = "run `git hydrate vendor`, which brings it, and commit all of it: git add --force .hydrate/inputs/helm/";
    assert!(told.contains(hint), "{told}");
    vendor(&world.dry, &[]).success();
    world.dry.git(&["add", "--force", ".hydrate/inputs/helm"]);
    world.dry.git(&["commit", "-q", "-m", "Back"]);
    vendor(&world.dry, &["--check"]).success();
}

/// The lock file comes with a push: where it says that inputs are is not where anything is taken from.
#[test]
fn a_pushed_lock_file_leads_nowhere_else() {
    let world = world();
    world.set("vendorDirectory", "third_party");
    vendor(&world.dry, &[]).success();
    world.dry.commit("Vendor", &[]);
    world.push();
    let before = world.server.git(&["rev-parse", "environments/dev:web"]);
    let lock = world.dry.file(LOCK).expect("there");
    let base = world.vendored("third_party/git/*base/map.yaml");
    let base = base.lines().next().expect("there").to_owned();
    let theirs = base.replace("third_party", "team-b");
    let rows = [
        ("\"team-b\"", "has its inputs in `team-b`, but the setting `vendorDirectory` leads to"),
        ("\".\"", "the root of the repository cannot hold inputs"),
        ("\"../x\"", "cannot hold inputs: the path leads out of the repository"),
        ("\".hydrate\"", "cannot hold inputs: below `.hydrate`, only `.hydrate/inputs` can"),
        ("\"third_party/../team-b\"", "the file is not as `git hydrate vendor` writes it"),
    ];
    // Its files are all where it says, where the Application among them would count.
    world.set("applications", "applications/**");
    world.dry.run("cp", &["-R", "third_party", "team-b"]).success();
    assert!(world.dry.path.join(&theirs).exists());
    for (dir, expected) in rows {
        let changed = lock.replace("directory = \"third_party\"", &format!("directory = {dir}"));
        world.dry.commit("Lead elsewhere", &[(LOCK, &changed)]);
        let told = world.push();
        assert!(told.contains("error") && told.contains(expected), "{dir}: {told}");
        assert_eq!(world.server.git(&["rev-parse", "environments/dev:web"]), before, "{dir}");
    }
    // A link in place of the directory.
    world.dry.commit("As it was", &[(LOCK, &lock)]);
    fs::rename(world.dry.path.join("third_party/git"), world.dry.path.join("moved")).expect("renamed");
    std::os::unix::fs::symlink("../moved", world.dry.path.join("third_party/git")).expect("linked");
    world.dry.commit("Link", &[]);
    let told = world.push();
    assert!(told.contains("is, or is behind, a symbolic link"), "{told}");
    assert_eq!(world.server.git(&["rev-parse", "environments/dev:web"]), before);
}

#[test]
fn a_directory_that_cannot_hold_inputs_is_not_taken() {
    let lab = Lab::new();
    let server = lab.server();
    for (value, expected) in [
        (".", "the root of the repository cannot hold inputs: name a directory"),
        ("../x", "`../x` cannot hold inputs: the path leads out of the repository"),
        (".hydrate", "below `.hydrate`, only `.hydrate/inputs` can"),
        (".git/x", "has a name that a directory of inputs cannot have"),
    ] {
        let told = server.hydrate(&["config", "set", "vendorDirectory", value]).exits(2).stderr;
        assert!(told.contains("vendorDirectory") && told.contains(expected), "{value}: {told}");
    }
}

/// What is in the new directory already would be read no longer.
#[test]
fn a_directory_with_files_of_another_sort_is_not_taken() {
    let lab = Lab::new();
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    let dry = dry(
        &lab,
        &[
            ("apps/helm/web.yaml", &application("web", "plain")),
            ("apps/db.yaml", &application("db", "other")),
            ("plain/map.yaml", &map("plain")),
            ("other/map.yaml", &map("other")),
            ("source/git/map.yaml", &map("a")),
            ("source/map.yaml", &map("b")),
            (
                "apps/all.yaml",
                &application("all", "source").replace("path: source, ", "path: source, directory: {recurse: true}"),
            ),
        ],
    );
    let server = Repo::at(&lab, "dry.git");
    dry.push().success();
    let tip = server.git(&["rev-parse", "environments/dev"]);
    for (dir, file) in
        [("apps", "apps/helm/web.yaml"), ("source", "source/git/map.yaml"), ("plain/map.yaml", "plain/map.yaml")]
    {
        for repository in [&server, &dry] {
            let told = repository.hydrate(&["config", "set", "vendorDirectory", dir]).exits(2).stderr;
            let expected = format!("`{file}` of `main` is not an input, and would not be read any more in `{dir}`");
            assert!(told.contains(&expected) && told.contains("hint: "), "{told}");
        }
    }
    // The same by a push of settings that nothing checked.
    for (dir, file) in [("apps", "apps/helm/web.yaml"), ("source", "source/git/map.yaml")] {
        with_settings(&lab, &server, &format!("vendorDirectory: {dir}\n"));
        let told = server.hydrate(&["catch-up"]).exits(1);
        let told = told.stdout + &told.stderr;
        assert!(told.contains(&format!("--> {file}")) && told.contains("`vendorDirectory` has"), "{told}");
        dry.commit("Other", &[("other.txt", dir)]);
        let told = dry.push().remote().join("\n");
        assert!(told.contains(&format!("--> {file}")), "{told}");
        assert_eq!(server.git(&["rev-parse", "environments/dev"]), tip, "{told}");
    }
    // Gone is what is gone.
    dry.git(&["rm", "-q", "apps/helm/web.yaml", "source/git/map.yaml"]);
    dry.git(&["commit", "-q", "-m", "Remove"]);
    let told = dry.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let paths = server.git(&["ls-tree", "-d", "--name-only", "environments/dev"]);
    assert_eq!(paths.lines().collect::<Vec<_>>(), ["all", "db"]);
}

/// Makes a commit of settings that nothing looks at.
fn with_settings(lab: &Lab, server: &Repo, text: &str) {
    fs::write(lab.path("settings.yaml"), text).expect("written");
    let script =
        "blob=$(git hash-object -w ../settings.yaml); printf '100644 blob %s\\tsettings.yaml\\n' $blob | git mktree";
    let tree = server.run("sh", &["-c", script]).success().stdout;
    let commit = server.git(&["commit-tree", "-m", "Settings", tree.trim()]);
    server.git(&["update-ref", "refs/hydrate/config", &commit]);
}

/// Files of a user's own at the new place of an input are never lost, and nothing is written before that is known.
#[test]
fn what_is_at_the_new_place_already_stays() {
    let world = world();
    vendor(&world.dry, &[]).success();
    world.dry.commit("Vendor", &[]);
    world.push();
    world.set("vendorDirectory", "third_party");
    let old = world.vendored(".hydrate/inputs/git/*base/map.yaml");
    let own = world.dry.path.join(old.replace(".hydrate/inputs", "third_party"));
    let before = world.dry.git(&["status", "--short"]);
    let refused = |shown: &str| {
        let told = world.dry.hydrate(&["vendor"]).exits(2).stderr;
        assert!(told.contains("nothing was written: ") && told.contains(shown) && told.contains("move it"), "{told}");
        assert!(world.dry.path.join(&old).exists(), "{told}");
        world.dry.git(&["diff", "--exit-code", "HEAD", "--", ".hydrate"]);
    };
    for ignored in ["", "third_party/git\n"] {
        fs::write(world.dry.path.join(".git/info/exclude"), ignored).expect("written");
        fs::create_dir_all(own.parent().expect("a directory")).expect("made");
        fs::write(&own, "MINE").expect("written");
        refused(&old.replace(".hydrate/inputs", "third_party"));
        assert_eq!(fs::read_to_string(&own).expect("there"), "MINE");
        fs::remove_dir_all(world.dry.path.join("third_party/git")).expect("removed");
    }
    fs::write(world.dry.path.join(".git/info/exclude"), "").expect("written");
    // A file, and a link, where a directory is to be.
    fs::write(world.dry.path.join("third_party/git"), "MINE").expect("written");
    refused("third_party/git");
    assert_eq!(fs::read_to_string(world.dry.path.join("third_party/git")).expect("there"), "MINE");
    fs::remove_file(world.dry.path.join("third_party/git")).expect("removed");
    std::os::unix::fs::symlink("../applications", world.dry.path.join("third_party/git")).expect("linked");
    refused("third_party/git");
    fs::remove_file(world.dry.path.join("third_party/git")).expect("removed");
    assert_eq!(world.dry.git(&["status", "--short"]), before);
    world.dry.hydrate(&["vendor"]).success();
    assert!(own.exists() && !world.dry.path.join(&old).exists());
}
