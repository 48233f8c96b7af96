//! What only a hand-written push contains: modes that git never writes, refs that are named twice, links that become files
//! of the same bytes. Hydration sees what git shows, and goes on.

use crate::push::{config_map, dry, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

fn manifest(server: &Repo, branch: &str) -> String {
    server.git(&["show", &format!("{branch}:web/manifest.yaml")])
}

/// Writes a tree as it is, entries of mode, name and id.
fn tree(repo: &Repo, entries: &[(&str, &str, &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("an id");
        bytes.extend(id.as_bytes().chunks(2).map(byte));
    }
    let file = repo.path.join("tree.bytes");
    std::fs::write(&file, bytes).expect("written");
    repo.git(&["hash-object", "-w", "-t", "tree", "--literally", file.to_str().expect("UTF-8")])
}

/// Puts a commit with this tree on top of `main` of the server, as a push without checks of objects would.
fn force_tree(server: &Repo, tree: &str) -> String {
    let main = tip(server, "main");
    let odd = server.git(&["commit-tree", tree, "-p", &main, "-m", "odd"]);
    server.receive_pack(&[format!("{main} {odd} refs/heads/main")], "");
    assert_eq!(tip(server, "main"), odd, "git takes it");
    odd
}

#[test]
fn a_ref_that_is_updated_twice_in_one_push_is_refused() {
    let lab = Lab::new();
    for name in ["refs/heads/main", "refs/heads/zz\nOLD NEW refs/heads/main"] {
        let server = lab.bare(&["--bare", "-b", "main"]);
        server.install_without_settings();
        server.git(&["config", "hydrate.strict", "touched"]);
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        clone.push().success();
        let before = tip(&server, "main");
        let good = clone.commit("good", &[("apps/web/dev/config.yaml", &config_map("web", "good"))]);
        clone.git(&["push", "-q", "origin", "HEAD:refs/heads/good"]);
        clone.git(&["reset", "-q", "--hard", &before]);
        let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n";
        let bad = clone.commit("bad", &[("apps/web/dev/config.yaml", broken)]);
        clone.git(&["push", "-q", "origin", "HEAD:refs/heads/bad"]);
        let second = name.replace("OLD", &before).replace("NEW", &good);
        let old = if name == "refs/heads/main" { before.clone() } else { "0".repeat(before.len()) };
        let told =
            server.receive_pack(&[format!("{before} {bad} refs/heads/main"), format!("{old} {good} {second}")], "");
        assert_eq!(tip(&server, "main"), before, "{told:?}");
        let all = told.stdout + &told.stderr;
        assert!(all.contains("`refs/heads/main` is updated more than once"), "{all}");
        std::fs::remove_dir_all(&clone.path).expect("removed");
        std::fs::remove_dir_all(&server.path).expect("removed");
    }
}

#[test]
fn a_mode_that_git_never_writes_stops_nothing() {
    for (mode, is_directory) in
        [("00100644", false), ("0000100644", false), ("140000", false), ("1140000", false), ("00040000", true)]
    {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        clone.push().success();
        let entry = |path: &str| server.git(&["rev-parse", &format!("main:{path}")]);
        let (applications, apps) = (entry("applications"), entry("apps"));
        let odd = if is_directory { apps.clone() } else { entry("apps/web/dev/config.yaml") };
        let odd =
            tree(&server, &[("40000", "applications", &applications), ("40000", "apps", &apps), (mode, "odd", &odd)]);
        force_tree(&server, &odd);
        clone.git(&["fetch", "-q"]);
        clone.git(&["reset", "-q", "--hard", "HEAD"]);
        // The next honest push, on top of it.
        let blob = clone.path.join("blob");
        std::fs::write(&blob, config_map("web", &format!("on top of {mode}"))).expect("written");
        let blob = clone.git(&["hash-object", "-w", blob.to_str().expect("UTF-8")]);
        clone.git(&["update-ref", "refs/heads/main", "refs/remotes/origin/main"]);
        clone.git(&["read-tree", "main"]);
        clone.git(&["update-index", "--cacheinfo", &format!("100644,{blob},apps/web/dev/config.yaml")]);
        clone.git(&["commit", "-q", "-m", "honest"]);
        let told = clone.push().success();
        assert!(manifest(&server, DEV).contains(&format!("on top of {mode}")), "{mode}: {told:?}");
        server.hydrate(&["verify"]).success();
    }
}

#[test]
fn a_directory_that_git_takes_for_a_submodule_is_not_rendered() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let hidden = clone.commit("hidden", &[("apps/web/dev/config.yaml", &config_map("web", "hidden"))]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/side"]);
    let entry = |path: &str| server.git(&["rev-parse", &format!("{hidden}:{path}")]);
    let odd = tree(&server, &[("40000", "applications", &entry("applications")), ("140000", "apps", &entry("apps"))]);
    force_tree(&server, &odd);
    assert!(!manifest(&server, DEV).contains("hidden"), "what no one sees in git is not deployed");
    assert!(server.hydrate(&["status"]).stdout.contains("submodule"), "and it is reported");
}

#[test]
fn a_branch_with_an_odd_mode_is_hydrated_all_the_same() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    // As one who may write the branch would leave it.
    let entry = |path: &str| server.git(&["rev-parse", &format!("{DEV}:{path}")]);
    let inner = tree(&server, &[("00100644", "odd", &entry("web/manifest.yaml"))]);
    let odd = tree(
        &server,
        &[
            ("100644", ".gitattributes", &entry(".gitattributes")),
            ("40000", "api", &entry("api")),
            ("100644", "hydrator.metadata", &entry("hydrator.metadata")),
            ("0040000", "odd", &inner),
            ("40000", "web", &entry("web")),
        ],
    );
    let dev = tip(&server, DEV);
    let commit = server.git(&["commit-tree", &odd, "-p", &dev, "-m", "odd"]);
    server.git(&["update-ref", &format!("refs/heads/{DEV}"), &commit]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    clone.push().success();
    assert!(manifest(&server, DEV).contains("edited"));
    let modes = server.git(&["ls-tree", DEV, "odd"]);
    assert!(modes.starts_with("040000 tree"), "{modes}");
}

#[test]
fn a_link_that_becomes_a_file_of_the_same_bytes_is_rendered_again() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let kustomization =
        "configMapGenerator:\n- name: g\n  files: [x.txt]\ngeneratorOptions: {disableNameSuffixHash: true}\n";
    std::os::unix::fs::symlink("t.txt", clone.path.join("apps/web/dev/x.txt")).expect("linked");
    clone.commit("link", &[("apps/web/dev/kustomization.yaml", kustomization), ("apps/web/dev/t.txt", "target")]);
    clone.push().success();
    assert!(manifest(&server, DEV).contains("x.txt: target"));
    let link = clone.git(&["rev-parse", "HEAD:apps/web/dev/x.txt"]);
    clone.git(&["update-index", "--cacheinfo", &format!("100644,{link},apps/web/dev/x.txt")]);
    clone.git(&["commit", "-q", "-m", "flip"]);
    clone.push().success();
    assert!(manifest(&server, DEV).contains("x.txt: t.txt"), "{}", manifest(&server, DEV));
}

#[test]
fn verify_takes_the_note_of_an_amended_dry_commit() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    clone.push().success();
    clone.git(&["commit", "-q", "--amend", "-m", "better words"]);
    clone.git(&["push", "-q", "--force", "origin", "HEAD"]);
    server.hydrate(&["verify"]).success();
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    server.hydrate(&["verify"]).success();
    // A note of a commit that renders to something else is still found.
    let first = clone.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let before = server.git(&["rev-parse", &format!("{DEV}~1")]);
    let note = format!("{{\"drySha\":\"{first}\"}}");
    server.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &note, &before]);
    server.hydrate(&["verify"]).exits(1);
}

#[test]
fn a_directory_with_two_entries_of_one_name_is_not_built_on() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.guard", "false"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let dev = tip(&server, DEV);
    let blob = server.run("sh", &["-c", "echo 'kind: Evil' | git hash-object -w --stdin"]).stdout.trim().to_owned();
    let web = tree(&server, &[("100644", "manifest.yaml", &blob), ("100644", "manifest.yaml", &blob)]);
    let root = tree(&server, &[("40000", "web", &web)]);
    // On a branch that is ours, and on one that is handed over.
    let odd = server.git(&["commit-tree", &root, "-p", &dev, "-m", "odd"]);
    server.git(&["update-ref", "refs/heads/environments/dev", &odd]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    let told = clone.push().success().remote().join(" ");
    let error = "`environments/dev` cannot be continued: `web` has two entries named `manifest.yaml`";
    assert!(told.contains(error), "{told}");
    assert_eq!(tip(&server, DEV), odd);
    server.git(&["update-ref", "refs/heads/environments/dev", &dev]);
    assert!(server.hydrate(&["catch-up"]).success().stdout.contains("environments/dev"));
    let deep = tree(&server, &[("40000", ".git", &web)]);
    let root = tree(&server, &[("40000", "other", &deep)]);
    let odd = server.git(&["commit-tree", &root, "-m", "odd"]);
    server.git(&["update-ref", "refs/heads/environments/prod", &odd]);
    let (file, text) = crate::push::application("web", "prod");
    clone.commit("prod", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "prod"))]);
    clone.push().success();
    let told = server.hydrate(&["adopt", "environments/prod"]).exits(1).stdout;
    assert!(told.contains("cannot be continued: `other` has an entry named `.git`"), "{told}");
    assert_eq!(tip(&server, "environments/prod"), odd);
}

#[test]
fn a_commit_without_author_has_ancestors_all_the_same() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let blob = server.run("sh", &["-c", "echo 'a: 1' | git hash-object -w --stdin"]).stdout.trim().to_owned();
    let root = tree(&server, &[("100644", "a.yaml", &blob)]);
    let script = format!("printf 'tree {root}\\n\\nseed\\n' | git hash-object -t commit -w --literally --stdin");
    let odd = server.run("sh", &["-c", &script]).success().stdout.trim().to_owned();
    server.git(&["update-ref", "refs/heads/environments/new", &odd]);
    let (file, text) = crate::push::application("web", "new");
    let text = format!("{text}    hydrateTo:\n      targetBranch: environments/new-next\n");
    clone.commit("stage", &[(&file, &text), ("apps/web/new/config.yaml", &config_map("web", "new"))]);
    clone.push().success();
    server.hydrate(&["adopt", "environments/new"]).success();
    for round in ["1", "2"] {
        clone.commit(round, &[("apps/web/new/config.yaml", &config_map("web", round))]);
        let told = clone.push().success();
        assert!(!told.stderr.contains("no common history"), "{told:?}");
        assert!(
            server.git(&["show", "environments/new-next:web/manifest.yaml"]).contains(&format!("value: {round}\n"))
        );
    }
}

#[test]
fn a_submodule_below_a_recursing_directory_is_an_error_and_not_left_out_in_silence() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let head = clone.git(&["rev-parse", "HEAD"]);
    let submodule = format!("160000,{head},apps/web/dev/more");
    clone.git(&["update-index", "--add", "--cacheinfo", &submodule]);
    std::fs::create_dir(clone.path.join("apps/web/dev/more")).expect("made");
    clone.git(&["commit", "-q", "-m", "a submodule"]);
    clone.push().success();
    let (file, text) = crate::push::application("web", "dev");
    let options =
        |options: &str| text.replace("    syncSource:", &format!("      directory: {options}\n    syncSource:"));
    let put = |text: &str| {
        std::fs::write(clone.path.join(&file), text).expect("written");
        clone.git(&["commit", "-q", "-a", "-m", "options"]);
        clone.push().success().stderr
    };
    let told = put(&options("{recurse: true}"));
    assert!(told.contains("apps/web/dev/more: is a git submodule, whose files are not in this repository"), "{told}");
    assert!(told.contains("or leave them out: directory.exclude: 'more/*'"), "{told}");
    assert!(told.contains("environments/dev  stays at"), "{told}");
    // The hint, and another way to name what takes part.
    for told in
        [put(&options("{recurse: true, exclude: 'more/*'}")), put(&options("{recurse: true, include: 'config.yaml'}"))]
    {
        assert!(!told.contains("error"), "{told}");
    }
}

#[test]
fn a_git_lfs_pointer_among_manifests_is_told_with_the_cure() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    clone.commit("lfs", &[("apps/web/dev/big.yaml", pointer)]);
    let told = clone.push().success().stderr;
    assert!(told.contains("hint: commit the file itself instead of storing it with Git LFS"), "{told}");
}
